/* Loops become foldl or mapAccumL over the numbers of the steps, so that tracing the result gives a loop again.
 *
 * Terms with the same loop and the same arguments are results of one computation. So where a variable is bound to one
 * result, all results are bound, and known while they are in scope. */
#include "ad/bulk/lower/internal.h"

/* A loop that has been lowered; the list is innermost first. */
typedef struct CtLoweredLoop {
    CtBulk *t;
    CtVar **results;
    struct CtLoweredLoop *outer;
} CtLoweredLoop;

static CtVar *bind_core(CtLower *l, CtSeq *seq, const char *name, CtCore *rhs) {
    CtVar *var = ct_core_var_new(l->p, name, rhs->type);
    ct_ad_seq_let(seq, rhs->range, var, rhs);
    return var;
}

static CtCore *var_of(CtLower *l, CtSourceRange range, CtVar *var) { return ct_core_var(l->p, range, var); }

/* Several values as one: a tuple, the value itself, or () for none. */
static CtCore *packed(CtLower *l, CtSourceRange range, CtCore *const *parts, uint32_t count) {
    return count == 1 ? parts[0] : ct_core_tuple(l->p, range, parts, count);
}

static void unpack(CtLower *l, CtSeq *seq, CtSourceRange range, CtVar *const *vars, uint32_t count, CtCore *whole) {
    if (count == 1)
        ct_ad_seq_let(seq, range, vars[0], whole);
    else if (count > 1)
        ct_ad_seq_unpack(seq, range, vars, count, whole);
    (void)l;
}

/* ---- the body ---- */

typedef struct Loop {
    CtLower *l;
    CtBulk *t;
    const CtBulkLoop *loop;
    CtSourceRange range;
    CtVar **args;   /* for elements and fixed parameters: the variables outside */
    CtVar **before; /* for each parameter: its meaning outside */
} Loop;

static CtCore *row(const Loop *b, const CtBulkVar *var, CtVar *array, CtVar *index) {
    CtLower *l = b->l;
    CtCore *at = var_of(l, b->range, index), *xs = var_of(l, b->range, array);
    if (var->shape.rank == 0)
        return ct_bulk_lower_value(l, var->element, ct_bulk_lower_array(l, b->range, ARRAY_INDEX, xs, at, NULL));
    int64_t m = ct_bulk_shape_count(var->shape);
    CtCore *start = ct_bulk_lower_op(l, b->range, PRIM_INT_MUL, at, ct_bulk_lower_int(l, b->range, m));
    return ct_bulk_lower_array(l, b->range, ARRAY_SLICE, start, ct_bulk_lower_int(l, b->range, m), xs);
}

static void bind_params(Loop *b, CtSeq *seq, CtVar *const *states, CtVar *index) {
    const CtBulkLoop *loop = b->loop;
    uint32_t elements = loop->count.states, fixed = elements + loop->count.elements;
    for (uint32_t p = 0; p < fixed; p++) {
        CtBulkVar *param = loop->params[p];
        CtVar *var = p < elements ? states[p] : bind_core(b->l, seq, param->name, row(b, param, b->args[p], index));
        b->before[p] = ct_bulk_lower_bind(b->l, param, var);
    }
}

/* The states after the step and the outputs, in their representation in arrays. */
static CtCore *step(Loop *b, CtSeq *seq) {
    CtLower *l = b->l;
    const CtBulkLoop *loop = b->loop;
    CtArena *arena = l->r->arena;
    CtLoweredLoop *outer = l->r->loops;
    CtBulkBody body = ct_bulk_lower_reads_first(l->r, &l->facts, loop);
    CtVar **before = CT_NEW_ARRAY(arena, CtVar *, body.bound + 1);
    for (uint32_t k = 0; k < body.bound; k++) {
        CtVar *var = ct_bulk_lower_bound(l, seq, body.vars[k], body.terms[k]);
        before[k] = ct_bulk_lower_bind(l, body.vars[k], var);
    }
    CtCore **results = CT_NEW_ARRAY(arena, CtCore *, ct_bulk_loop_results(loop) + 1);
    for (uint32_t k = 0; k < ct_bulk_loop_results(loop); k++) {
        CtBulk *t = body.terms[body.bound + k];
        results[k] = ct_bulk_lower_term(l, t);
        if (k >= loop->count.states && t->shape.rank == 0) results[k] = ct_bulk_lower_item(l, t->element, results[k]);
    }
    for (uint32_t k = body.bound; k-- > 0;) ct_bulk_lower_unbind(l, body.vars[k], before[k]);
    l->r->loops = outer;
    CtCore *next = packed(l, b->range, results, loop->count.states);
    if (loop->outputs == 0) return next;
    CtCore *outputs = packed(l, b->range, results + loop->count.states, loop->outputs);
    return loop->count.states == 0 ? outputs : ct_core_pair(l->p, b->range, next, outputs);
}

/* λ(states, i). …; without states λi. … */
static CtCore *function(Loop *b) {
    CtLower *l = b->l;
    const CtBulkLoop *loop = b->loop;
    uint32_t states = loop->count.states, fixed = states + loop->count.elements;
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtVar **vars = CT_NEW_ARRAY(l->r->arena, CtVar *, states + 1);
    CtType **types = CT_NEW_ARRAY(l->r->arena, CtType *, states + 1);
    for (uint32_t s = 0; s < states; s++) {
        types[s] = ct_bulk_lower_type(l->p, loop->params[s]->element, loop->params[s]->shape);
        vars[s] = ct_core_var_new(l->p, loop->params[s]->name, types[s]);
    }
    CtVar *params[2] = {vars[0], ct_core_var_new(l->p, "i", l->p->int_type)};
    if (states > 1) {
        params[0] = ct_core_var_new(l->p, "s", ct_core_type_tuple(l->p, types, states));
        unpack(l, &seq, b->range, vars, states, var_of(l, b->range, params[0]));
    }
    CtVar *index = params[1];
    if (loop->from_back && states > 0) {
        CtCore *last = ct_bulk_lower_int(l, b->range, loop->steps - 1);
        index = bind_core(l, &seq, "i", ct_bulk_lower_op(l, b->range, PRIM_INT_SUB, last, var_of(l, b->range, index)));
    }
    CtVar *before = ct_bulk_lower_bind(l, loop->index, index);
    ct_bulk_lower_own(l, loop->index, loop->steps);
    bind_params(b, &seq, vars, index);
    bool total = l->facts.total;
    l->facts.total = total || loop->total;
    CtCore *body = ct_ad_seq_close(&seq, step(b, &seq));
    l->facts.total = total;
    for (uint32_t p = fixed; p-- > 0;) ct_bulk_lower_unbind(l, loop->params[p], b->before[p]);
    ct_bulk_lower_unbind(l, loop->index, before);
    return states > 0 ? ct_core_lam(l->p, b->range, NULL, params, 2, body)
                      : ct_core_lam(l->p, b->range, NULL, &params[1], 1, body);
}

/* ---- results ---- */

/* One output of all steps, as a flat array. */
static CtCore *output(Loop *b, CtVar *all, uint32_t k) {
    CtLower *l = b->l;
    const CtBulk *t = b->loop->results[b->loop->count.states + k];
    CtCore *array = var_of(l, b->range, all);
    if (b->loop->outputs > 1) {
        CtVar *x = ct_core_var_new(l->p, "x", all->type->parts[0]);
        CtCore *part = ct_core_proj(l->p, b->range, var_of(l, b->range, x), k);
        CtCore *fun = ct_core_lam(l->p, b->range, NULL, &x, 1, part);
        array = ct_bulk_lower_array(l, b->range, ARRAY_MAP, fun, array, NULL);
    }
    return t->shape.rank > 0 ? ct_bulk_lower_array(l, b->range, ARRAY_CONCAT, array, NULL, NULL) : array;
}

static CtVar **bind_results(Loop *b, CtSeq *seq, CtCore *made) {
    CtLower *l = b->l;
    const CtBulkLoop *loop = b->loop;
    uint32_t states = loop->count.states;
    CtVar **vars = CT_NEW_ARRAY(l->r->arena, CtVar *, ct_bulk_loop_results(loop) + 1);
    for (uint32_t s = 0; s < states; s++) {
        CtType *type = ct_bulk_lower_type(l->p, loop->params[s]->element, loop->params[s]->shape);
        vars[s] = ct_core_var_new(l->p, loop->params[s]->name, type);
    }
    if (loop->outputs == 0) {
        unpack(l, seq, b->range, vars, states, made);
        return vars;
    }
    CtVar *parts[2] = {NULL, NULL};
    if (states > 0) {
        parts[0] = ct_core_var_new(l->p, "s", made->type->parts[0]);
        parts[1] = ct_core_var_new(l->p, "ys", made->type->parts[1]);
        ct_ad_seq_unpack(seq, b->range, parts, 2, made);
        unpack(l, seq, b->range, vars, states, var_of(l, b->range, parts[0]));
        if (loop->from_back)
            parts[1] =
                bind_core(l, seq, "ys",
                          ct_bulk_lower_array(l, b->range, ARRAY_REVERSE, var_of(l, b->range, parts[1]), NULL, NULL));
    } else {
        parts[1] = bind_core(l, seq, "ys", made);
    }
    for (uint32_t k = 0; k < loop->outputs; k++) vars[states + k] = bind_core(l, seq, "ys", output(b, parts[1], k));
    return vars;
}

static CtVar **lower_loop(CtLower *l, CtSeq *seq, CtBulk *t) {
    const CtBulkLoop *loop = t->as.loop.loop;
    CtArena *arena = l->r->arena;
    uint32_t params = ct_bulk_loop_params(loop), states = loop->count.states, fixed = states + loop->count.elements;
    Loop b = {.l = l, .t = t, .loop = loop, .range = t->range};
    b.args = CT_NEW_ARRAY(arena, CtVar *, params + 1);
    b.before = CT_NEW_ARRAY(arena, CtVar *, params + 1);
    CtCore **start = CT_NEW_ARRAY(arena, CtCore *, states + 1);
    for (uint32_t p = 0; p < params; p++) {
        CtCore *arg = ct_bulk_lower_term(l, t->as.loop.args[p]);
        if (p < states)
            start[p] = ct_ad_seq_name(seq, loop->params[p]->name, arg);
        else
            b.args[p] = bind_core(l, seq, loop->params[p]->name, arg);
    }
    for (uint32_t p = fixed; p < params; p++) b.before[p] = ct_bulk_lower_bind(l, loop->params[p], b.args[p]);
    CtLowerLoop around;
    ct_bulk_lower_enter(l, &around);
    CtCore *fun = function(&b), *steps = ct_bulk_lower_int(l, b.range, loop->steps), *made;
    if (states == 0) {
        made = ct_bulk_lower_array(l, b.range, ARRAY_BUILD, steps, fun, NULL);
    } else {
        CtCore *numbers = ct_bulk_lower_array(l, b.range, ARRAY_IOTA, steps, NULL, NULL);
        CtCore *first = packed(l, b.range, start, states);
        made = ct_bulk_lower_array(l, b.range, loop->outputs > 0 ? ARRAY_MAP_ACCUM : ARRAY_FOLDL, fun, first, numbers);
    }
    made = ct_bulk_lower_leave(l, &around, made);
    for (uint32_t p = params; p-- > fixed;) ct_bulk_lower_unbind(l, loop->params[p], b.before[p]);
    return bind_results(&b, seq, made);
}

/* ---- the public functions ---- */

static CtVar **known_results(CtLower *l, const CtBulk *t) {
    for (CtLoweredLoop *known = l->r->loops; known != NULL; known = known->outer)
        if (ct_bulk_same_loop(known->t, t)) return known->results;
    return NULL;
}

CtCore *ct_bulk_lower_loop(CtLower *l, CtBulk *t) {
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtVar **results = known_results(l, t);
    if (results == NULL) results = lower_loop(l, &seq, t);
    return ct_ad_seq_close(&seq, var_of(l, t->range, results[t->as.loop.result]));
}

CtVar *ct_bulk_lower_bound(CtLower *l, CtSeq *seq, CtBulkVar *var, CtBulk *t) {
    if (t->kind != BULK_LOOP) return bind_core(l, seq, var->name, ct_bulk_lower_term(l, t));
    CtVar **results = known_results(l, t);
    if (results == NULL) {
        results = lower_loop(l, seq, t);
        CtLoweredLoop *made = CT_NEW(l->r->arena, CtLoweredLoop);
        *made = (CtLoweredLoop){t, results, l->r->loops};
        l->r->loops = made;
    }
    return results[t->as.loop.result];
}
