/* Derivatives of loops, beyond the paper. A loop is one node of the Delta term, for any number of steps. Its derivative
 * is a loop whose body is the derivative of its body, by the same passes.
 *
 *   mapAccumL n f (s₀) (xs), where f also uses w
 *
 * is extended to collect the state before each step. The reverse is a mapAccumR over these states, the elements, and
 * the cotangents of the outputs. Its state is the cotangent of the state; the cotangents of elements are outputs; the
 * cotangent of w is another state, to which each step adds. But where a step reads w by an index, its contribution is a
 * scatter, and adding that to an array in each step would cost the size of the array. So scattered values are outputs,
 * with their indices, and are scattered once behind the loop. */
#include "ad/bulk/diff/delta.h"
#include "ad/bulk/rewrite/simplify.h"

static CtBulk *zero(CtBulkBuilder *r, CtShape shape) { return ct_bulk_real(r, -0.0, shape); }

/* ---- making a loop of parts ---- */

typedef struct Param {
    CtBulkVar *var;
    CtBulk *arg;
} Param;

/* A loop under construction, with the arguments of its parameters. */
typedef struct Maker {
    CtBulkBuilder *r;
    const CtDeltaLoop *l;
    CT_VEC(Param) states, elements, fixed;
    CT_VEC(CtBulk *) next, outputs;
    CtBulkGradient body; /* bindings of the body */
    CtBulk **args;
    CtBulkLoop *loop;
} Maker;

static uint32_t add_output(Maker *m, CtBulk *t) {
    ct_push(m->r->arena, &m->outputs, t);
    return m->outputs.count - 1;
}

/* Adds the inputs of the primal body: the states before each step, the elements, and the values that all steps get. */
static void add_primal(Maker *m) {
    const CtDeltaLoop *l = m->l;
    const CtBulkLoopParams *count = &l->source->count;
    for (uint32_t p = 0; p < ct_bulk_loop_params(l->source); p++) {
        Param param = {l->source->params[p], p < count->states ? l->before[p] : l->args[p]};
        if (p < count->states + count->elements)
            ct_push(m->r->arena, &m->elements, param);
        else
            ct_push(m->r->arena, &m->fixed, param);
    }
}

typedef struct RuleSearch {
    CtBulkBuilder *r;
    bool found;
} RuleSearch;

static bool calls_rule(CtBulkBuilder *r, const CtBulkLoop *loop);

static CtBulk *find_rule(void *data, CtBulk *t) {
    RuleSearch *s = data;
    if (t->kind == BULK_LOOP) s->found |= t->as.loop.loop->rule != NULL || calls_rule(s->r, t->as.loop.loop);
    return s->found ? t : ct_bulk_map(s->r, t, find_rule, s);
}

/* Whether a loop's body calls a function with a rule. */
static bool calls_rule(CtBulkBuilder *r, const CtBulkLoop *loop) {
    RuleSearch s = {.r = r};
    for (uint32_t i = 0; i < loop->terms.count; i++) find_rule(&s, loop->terms.items[i]);
    for (uint32_t i = 0; i < ct_bulk_loop_results(loop); i++) find_rule(&s, loop->results[i]);
    return s.found;
}

/* What fails in the body has failed before; but a rule's code, which nothing has run yet, may. */
static bool is_total(const Maker *m) { return !m->l->is_rule && !calls_rule(m->r, m->l->source); }

static void finish(Maker *m, bool from_back) {
    CtArena *arena = m->r->arena;
    const CtBulkLoop *source = m->l->source;
    CtBulkLoopParams count = {m->states.count, m->elements.count, m->fixed.count};
    CtBulkLoop *loop = m->loop = ct_bulk_new_loop(m->r, source->steps, count, m->outputs.count);
    uint32_t p = 0, k = 0;
    m->args = CT_NEW_ARRAY(arena, CtBulk *, ct_bulk_loop_params(loop) + 1);
    for (uint32_t i = 0; i < m->states.count; i++, p++) {
        loop->params[p] = m->states.items[i].var;
        m->args[p] = m->states.items[i].arg;
    }
    for (uint32_t i = 0; i < m->elements.count; i++, p++) {
        loop->params[p] = m->elements.items[i].var;
        m->args[p] = m->elements.items[i].arg;
    }
    for (uint32_t i = 0; i < m->fixed.count; i++, p++) {
        loop->params[p] = m->fixed.items[i].var;
        m->args[p] = m->fixed.items[i].arg;
    }
    for (uint32_t i = 0; i < m->next.count; i++) loop->results[k++] = m->next.items[i];
    for (uint32_t i = 0; i < m->outputs.count; i++) loop->results[k++] = m->outputs.items[i];
    for (uint32_t i = 0; i < m->body.vars.count; i++) {
        ct_push(arena, &loop->vars, m->body.vars.items[i]);
        ct_push(arena, &loop->terms, m->body.terms.items[i]);
    }
    loop->index = source->index;
    loop->from_back = from_back;
    loop->total = is_total(m);
    loop->normal = loop;
}

static CtBulk *state_of(Maker *m, uint32_t k) { return ct_bulk_loop(m->r, m->loop, m->args, k); }

static CtBulk *output_of(Maker *m, uint32_t k) {
    return ct_bulk_loop(m->r, m->loop, m->args, m->loop->count.states + k);
}

static void take_primal_bindings(Maker *m, const CtBulkDual *dual) {
    for (uint32_t k = 0; k < dual->vars.count; k++) {
        ct_push(m->r->arena, &m->body.vars, dual->vars.items[k]);
        ct_push(m->r->arena, &m->body.terms, dual->terms.items[k]);
    }
}

/* ---- what a step adds to what is the same for all ---- */

/* A value that is scattered once, behind the loop. */
typedef struct Scattered {
    uint32_t param;  /* index of the parameter whose cotangent it contributes to */
    uint32_t output; /* the output with the scattered values */
    CtShape shape;   /* of the parameter */
    CtIndexing f;
    CtSourceRange range;
} Scattered;

typedef struct Sums {
    Maker *m;
    CtMap bound;     /* CtBulkVar * -> CtBulk *: bindings of the body */
    CtMap collected; /* CtBulkVar * -> 1 + its output: variables used by indices of scatters */
    CT_VEC(Scattered) scattered;
    CtBulk *general; /* for the current parameter: the contributions that are no scatters */
    uint32_t param;
} Sums;

static CtBulk *what_is(const Sums *s, CtBulk *t) {
    CtBulk *bound = t->kind == BULK_VAR ? ct_map_get(&s->bound, ct_key(t->as.var)) : NULL;
    return bound ? bound : t;
}

/* Splits the cotangent of a value that all steps get into its terms. */
static void take_apart(Sums *s, CtBulk *t) {
    CtBulkBuilder *r = s->m->r;
    CtBulk *known = what_is(s, t);
    if (known->kind == BULK_OP && known->as.op.prim == PRIM_ADD) {
        take_apart(s, known->as.op.args[0]);
        take_apart(s, known->as.op.args[1]);
    } else if (known->kind == BULK_SCATTER || known->kind == BULK_ONE_HOT) {
        Scattered made = {s->param, add_output(s->m, known->as.move.t), t->shape, known->as.move.f, known->range};
        if (known->kind == BULK_ONE_HOT) made.f.live = ct_bulk_bool(r, false, (CtShape){0, NULL});
        ct_push(r->arena, &s->scattered, made);
    } else if (!ct_bulk_is_splat_real(t, -0.0)) {
        s->general = s->general ? ct_bulk_op2(r, PRIM_ADD, s->general, t) : t;
    }
}

/* The indices of a scatter belong to the body, so variables that they use are collected too. */
static CtBulk *collect(void *data, CtBulk *t) {
    Sums *s = data;
    Maker *m = s->m;
    if (t->kind != BULK_VAR) return ct_bulk_map(m->r, t, collect, s);
    if (!ct_map_has(&s->bound, ct_key(t->as.var)) || ct_map_has(&s->collected, ct_key(t->as.var))) return t;
    uintptr_t output = add_output(m, t);
    ct_map_set(m->r->arena, &s->collected, ct_key(t->as.var), (void *)(output + 1));
    return t;
}

/* Moves λis. ix from the body to behind the loop, for the given step. */
static CtMap behind_loop(Sums *s, CtBulk *step, const CtLoopSink *sink) {
    Maker *m = s->m;
    CtBulkBuilder *r = m->r;
    CtMap replace = {0};
    ct_map_set(r->arena, &replace, ct_key(m->l->source->index), step);
    for (uint32_t i = 0; i < m->fixed.count; i++)
        ct_map_set(r->arena, &replace, ct_key(m->fixed.items[i].var), m->fixed.items[i].arg);
    for (uint32_t i = 0; i < m->elements.count; i++) {
        CtBulk *row = ct_bulk_index(r, m->elements.items[i].arg, &step, 1, NULL, CT_NO_RANGE);
        ct_map_set(r->arena, &replace, ct_key(m->elements.items[i].var), row);
    }
    for (uint32_t i = 0; i < s->collected.count; i++) {
        const CtMapEntry *entry = &s->collected.entries[i];
        CtBulk *all = sink->share(sink->data, NULL, output_of(m, (uint32_t)((uintptr_t)entry->value - 1)));
        ct_map_set(r->arena, &replace, entry->key, ct_bulk_index(r, all, &step, 1, NULL, CT_NO_RANGE));
    }
    return replace;
}

static void send_scattered(Sums *s, const CtLoopSink *sink) {
    CtBulkBuilder *r = s->m->r;
    CtArena *arena = r->arena;
    CtBulkVar *step = ct_bulk_new_var(r, "i", ELEMENT_INT, (CtShape){0, NULL});
    CtMap replace = {0};
    if (s->scattered.count > 0) replace = behind_loop(s, ct_bulk_var(r, step), sink);
    for (uint32_t i = 0; i < s->scattered.count; i++) {
        const Scattered *sc = &s->scattered.items[i];
        CtIndexing f = {.var_count = sc->f.var_count + 1, .count = sc->f.count};
        CtBulkVar **vars = CT_NEW_ARRAY(arena, CtBulkVar *, f.var_count);
        CtBulk **ix = CT_NEW_ARRAY(arena, CtBulk *, f.count + 1);
        vars[0] = step;
        for (uint32_t k = 0; k < sc->f.var_count; k++) vars[k + 1] = sc->f.vars[k];
        for (uint32_t k = 0; k < f.count; k++) ix[k] = ct_bulk_substitute(r, sc->f.ix[k], &replace);
        if (sc->f.live) f.live = ct_bulk_substitute(r, sc->f.live, &replace);
        f.vars = vars;
        f.ix = ix;
        CtBulk *each = sink->share(sink->data, NULL, output_of(s->m, sc->output));
        CtBulk *all = ct_bulk_scatter(r, sc->shape, each, f, sc->range);
        sink->send(sink->data, all, s->m->l->deltas[sc->param]);
    }
}

/* ---- reverse ---- */

/* The gradient of the body: the contribution of the cotangents of the results to each parameter; NULL: zero. Behind
 * these, the results of the primal. */
static CtBulk **body_gradient(Maker *m, CtBulk *const *cotangents) {
    CtBulkBuilder *r = m->r;
    const CtBulkLoop *source = m->l->source;
    uint32_t params = ct_bulk_loop_params(source), results = ct_bulk_loop_results(source), shares = r->shares;
    CtBulkDual dual = ct_bulk_dual_body(r, source, m->l->varies);
    CtBulkReverse reverse = ct_bulk_reverse_pass(r, &dual, params, cotangents, results);
    take_primal_bindings(m, &dual);
    ct_bulk_stack_lets(r, &reverse, &m->body);
    CtBulk **gradient = CT_NEW_ARRAY(r->arena, CtBulk *, params + results + 1);
    for (uint32_t p = 0; p < params; p++)
        gradient[p] = reverse.grad[p] ? ct_bulk_unshare(r, &reverse, reverse.grad[p]) : NULL;
    for (uint32_t k = 0; k < results; k++) gradient[params + k] = dual.primals[k];
    r->shares = shares; /* none is left; the ids of the enclosing pass continue */
    m->body.value = ct_bulk_real(r, 0, (CtShape){0, NULL});
    m->body.gradient = gradient;
    ct_bulk_simplify_gradient(r, &m->body, params + results, NULL);
    return gradient;
}

/* Adds parameters for the nonzero cotangents; returns the cotangents in the body, by result. */
static CtBulk **add_cotangents(Maker *m, CtBulk *const *c) {
    CtBulkBuilder *r = m->r;
    const CtDeltaLoop *l = m->l;
    uint32_t states = l->source->count.states, results = ct_bulk_loop_results(l->source);
    CtBulk **inside = CT_NEW_ARRAY(r->arena, CtBulk *, results + 1);
    for (uint32_t k = 0; k < results; k++) {
        if (!l->result_varies[k] || (k >= states && !c[k])) continue;
        CtShape shape = l->source->results[k]->shape;
        const char *name = k < states ? ct_format(r->arena, "%s_adj", l->source->params[k]->name) : "y_adj";
        Param param = {ct_bulk_new_var(r, name, ELEMENT_REAL, shape), c[k]};
        if (k < states && !c[k]) param.arg = zero(r, shape);
        inside[k] = ct_bulk_var(r, param.var);
        if (k < states)
            ct_push(r->arena, &m->states, param);
        else
            ct_push(r->arena, &m->elements, param);
    }
    return inside;
}

void ct_bulk_loop_reverse(CtBulkBuilder *r, CtDeltaLoop *l, CtBulk *const *c, const CtLoopSink *sink) {
    Maker m = {.r = r, .l = l};
    CtArena *arena = r->arena;
    const CtBulkLoopParams *count = &l->source->count;
    uint32_t params = ct_bulk_loop_params(l->source), fixed = count->states + count->elements;
    CtBulk **inside = add_cotangents(&m, c);
    CtBulk **gradient = body_gradient(&m, inside);
    CtKeptValues kept = ct_bulk_keep_values(r, l, &m.body, gradient, gradient + params, is_total(&m), sink);
    for (uint32_t k = 0; k < kept.count; k++)
        ct_push(arena, &m.elements, ((Param){kept.items[k].var, kept.items[k].all}));
    add_primal(&m);
    Sums sums = {.m = &m};
    for (uint32_t k = 0; k < m.body.vars.count; k++)
        ct_map_set(arena, &sums.bound, ct_key(m.body.vars.items[k]), m.body.terms.items[k]);
    uint32_t *place = CT_NEW_ARRAY(arena, uint32_t, params + 1); /* 1 + the index of its state or output */
    for (uint32_t p = 0; p < count->states; p++)
        if (inside[p]) ct_push(arena, &m.next, gradient[p] ? gradient[p] : zero(r, l->source->params[p]->shape));
    for (uint32_t p = count->states; p < params; p++) {
        CtBulkVar *param = l->source->params[p];
        if (!gradient[p] || !l->deltas[p]) continue;
        if (p < fixed) {
            place[p] = add_output(&m, gradient[p]) + 1;
            continue;
        }
        sums.param = p;
        sums.general = NULL;
        take_apart(&sums, gradient[p]);
        if (!sums.general) continue;
        const char *name = ct_format(arena, "%s_adj", param->name);
        Param sum = {ct_bulk_new_var(r, name, ELEMENT_REAL, param->shape), zero(r, param->shape)};
        ct_push(arena, &m.states, sum);
        ct_push(arena, &m.next, ct_bulk_op2(r, PRIM_ADD, ct_bulk_var(r, sum.var), sums.general));
        place[p] = m.states.count;
    }
    for (uint32_t i = 0; i < sums.scattered.count; i++) {
        const CtIndexing *f = &sums.scattered.items[i].f;
        for (uint32_t k = 0; k < f->count; k++) collect(&sums, f->ix[k]);
        if (f->live) collect(&sums, f->live);
    }
    finish(&m, !l->source->from_back);
    for (uint32_t p = 0, k = 0; p < count->states; p++) {
        if (!inside[p]) continue;
        CtBulk *sent = state_of(&m, k++);
        if (l->deltas[p])
            sink->send(sink->data, sink->share(sink->data, l->source->params[p]->name, sent), l->deltas[p]);
    }
    for (uint32_t p = count->states; p < params; p++) {
        if (!place[p]) continue;
        CtBulk *sent = p < fixed ? output_of(&m, place[p] - 1) : state_of(&m, place[p] - 1);
        sink->send(sink->data, sink->share(sink->data, l->source->params[p]->name, sent), l->deltas[p]);
    }
    send_scattered(&sums, sink);
}

/* ---- rules that give pullbacks ---- */

CtBulkLoop *ct_bulk_rule_loop(CtBulkBuilder *r, const CtBulkLoop *call) {
    return ct_bulk_loop_simple(r, ct_bulk_loop_normal(r, call->rule->loop));
}

CtBulk **ct_bulk_rule_args(CtBulkBuilder *r, const CtBulkLoop *call, CtBulk *const *args) {
    const CtBulkLoop *rule = call->rule->loop;
    uint32_t count = ct_bulk_loop_params(rule), states = rule->count.states, shared = states + call->count.fixed;
    CtBulk **made = CT_NEW_ARRAY(r->arena, CtBulk *, count + 1);
    for (uint32_t p = 0; p < count; p++) {
        const CtBulkVar *param = rule->params[p];
        if (p >= shared)
            made[p] = ct_bulk_real(r, 1, param->shape);
        else
            made[p] =
                p < states ? ct_bulk_zero(r, param->element, param->shape) : args[call->count.states + p - states];
    }
    return made;
}

/* Whether all cotangents of the results of a call are structural zeros, for each of the calls. */
static CtBulk *is_nothing(CtBulkBuilder *r, const CtBulkLoop *call, CtBulk *const *c, CtShape calls) {
    CtBulk *numbers = ct_bulk_int(r, 0, calls);
    for (uint32_t k = 0; k < call->count.states; k++) {
        if (call->results[k]->element != ELEMENT_REAL || !c[k]) continue;
        CtShape shape = c[k]->shape;
        int64_t sizes[] = {ct_bulk_shape_count(calls), ct_bulk_shape_count(ct_bulk_shape_tail(shape, calls.rank))};
        CtBulk *is_zero = ct_bulk_op1(r, PRIM_IS_NEGATIVE_ZERO, c[k]);
        CtBulk *one = ct_bulk_cond(r, is_zero, ct_bulk_int(r, 0, shape), ct_bulk_int(r, 1, shape));
        one = ct_bulk_reshape(r, ct_bulk_shape_of(r->arena, sizes, 2), one);
        one = ct_bulk_transpose(r, (const uint32_t[]){1, 0}, 2, one);
        one = ct_bulk_reshape(r, calls, ct_bulk_reduce(r, REDUCE_SUM, one, CT_NO_RANGE));
        numbers = ct_bulk_op2(r, PRIM_INT_ADD, numbers, one);
    }
    return ct_bulk_op2(r, PRIM_INT_EQ, numbers, ct_bulk_int(r, 0, calls));
}

/* What is known of each call, for each element of a value that the calls give. */
static CtBulk *for_elements(CtBulkBuilder *r, CtBulk *of_calls, CtShape shape) {
    int64_t calls = ct_bulk_shape_count(of_calls->shape);
    CtShape rest = ct_bulk_shape_tail(shape, of_calls->shape.rank);
    CtBulk *t = ct_bulk_reshape(r, ct_bulk_shape_of(r->arena, &calls, 1), of_calls);
    t = ct_bulk_replicate(r, ct_bulk_shape_count(rest), t);
    return ct_bulk_reshape(r, shape, ct_bulk_transpose(r, (const uint32_t[]){1, 0}, 2, t));
}

void ct_bulk_rule_reverse(CtBulkBuilder *r, const CtDeltaLoop *l, CtBulk *const *c, const CtLoopSink *sink) {
    const CtBulkLoop *call = l->source;
    CtBulkLoop *rule = ct_bulk_rule_loop(r, call);
    CtBulk **args = ct_bulk_rule_args(r, call, l->args);
    uint32_t states = call->count.states, next = rule->count.states + call->count.fixed;
    for (uint32_t k = 0; k < states; k++)
        if (call->results[k]->element == ELEMENT_REAL) args[next++] = c[k] ? c[k] : zero(r, call->results[k]->shape);
    CtShape calls = {call->rule->calls, rule->results[states]->shape.sizes};
    /* Terms are evaluated in any case, so a pullback that fails does so for structural zeros too; what it gives for
     * them is left out. */
    CtBulk *nothing = sink->share(sink->data, "nothing", is_nothing(r, call, c, calls));
    for (uint32_t k = 0; k < call->rule->reals; k++) {
        CtDelta *d = l->deltas[states + k];
        if (!d) continue;
        CtBulk *sent = ct_bulk_loop(r, rule, args, states + k);
        sent = ct_bulk_cond(r, for_elements(r, nothing, sent->shape), zero(r, sent->shape), sent);
        sink->send(sink->data, sink->share(sink->data, call->params[states + k]->name, sent), d);
    }
}

/* What arrives at the cotangents of a pullback when tangents are propagated back through it: the tangents of the
 * results. */
typedef struct Transposed {
    CtBulkBuilder *r;
    const CtLoopSink *names;
    CtBulk **made; /* by the index of the cotangent */
} Transposed;

static CtBulk *share_transposed(void *data, const char *name, CtBulk *t) {
    const Transposed *of = data;
    return of->names->share(of->names->data, name, t);
}

static void send_transposed(void *data, CtBulk *c, CtDelta *d) {
    const Transposed *of = data;
    CtBulk **place = &of->made[d->as.input];
    *place = *place ? ct_bulk_op2(of->r, PRIM_ADD, *place, c) : c;
}

/* A pullback is linear in the cotangents, so its own reverse by them is the tangent. */
CtBulk **ct_bulk_rule_forward(CtBulkBuilder *r, const CtDeltaLoop *l, CtBulk *const *tangents,
                              const CtLoopSink *names) {
    const CtBulkLoop *call = l->source;
    CtBulkLoop *rule = ct_bulk_rule_loop(r, call);
    CtArena *arena = r->arena;
    uint32_t states = call->count.states, results = rule->count.states, params = ct_bulk_loop_params(rule);
    uint32_t shared = results + call->count.fixed;
    CtDeltaLoop of = {.source = rule, .primal = rule, .is_rule = true, .args = ct_bulk_rule_args(r, call, l->args)};
    of.deltas = CT_NEW_ARRAY(arena, CtDelta *, params + 1);
    of.varies = CT_NEW_ARRAY(arena, bool, params + 1);
    of.result_varies = CT_NEW_ARRAY(arena, bool, results + 1);
    of.before = CT_NEW_ARRAY(arena, CtBulk *, results + 1);
    CtBulk **c = CT_NEW_ARRAY(arena, CtBulk *, results + 1);
    for (uint32_t p = shared; p < params; p++) {
        CtDelta *input = CT_NEW(arena, CtDelta);
        *input = (CtDelta){.kind = DELTA_INPUT, .shape = rule->params[p]->shape, .as.input = p - shared};
        of.deltas[p] = input;
        of.varies[p] = true;
    }
    for (uint32_t k = 0; k < results; k++) of.before[k] = ct_bulk_replicate(r, 1, of.args[k]);
    for (uint32_t k = 0; k < call->rule->reals; k++) {
        of.result_varies[states + k] = of.varies[states + k] = tangents[states + k] != NULL;
        c[states + k] = tangents[states + k];
    }
    Transposed back = {r, names, CT_NEW_ARRAY(arena, CtBulk *, params - shared + 1)};
    CtLoopSink sink = {&back, share_transposed, send_transposed};
    ct_bulk_loop_reverse(r, &of, c, &sink);
    CtBulk **made = CT_NEW_ARRAY(arena, CtBulk *, states + 1);
    for (uint32_t k = 0, next = 0; k < states; k++)
        if (call->results[k]->element == ELEMENT_REAL) made[k] = back.made[next++];
    return made;
}

/* ---- forward ---- */

CtBulk **ct_bulk_loop_forward(CtBulkBuilder *r, CtDeltaLoop *l, CtBulk *const *tangents) {
    Maker m = {.r = r, .l = l};
    CtArena *arena = r->arena;
    const CtBulkLoop *source = l->source;
    const CtBulkLoopParams *count = &source->count;
    uint32_t params = ct_bulk_loop_params(source), results = ct_bulk_loop_results(source);
    CtBulkVar **inside = CT_NEW_ARRAY(arena, CtBulkVar *, params + 1);
    for (uint32_t p = 0; p < params; p++) {
        bool is_state = p < count->states;
        if (!l->varies[p] || (!is_state && !tangents[p])) continue;
        const CtBulkVar *param = source->params[p];
        inside[p] = ct_bulk_new_var(r, ct_format(arena, "d%s", param->name), ELEMENT_REAL, param->shape);
        Param made = {inside[p], tangents[p] ? tangents[p] : zero(r, param->shape)};
        if (is_state)
            ct_push(arena, &m.states, made);
        else if (p < count->states + count->elements)
            ct_push(arena, &m.elements, made);
        else
            ct_push(arena, &m.fixed, made);
    }
    add_primal(&m);
    CtBulkDual dual = ct_bulk_dual_body(r, source, l->varies);
    take_primal_bindings(&m, &dual);
    CtBulk **out = ct_bulk_forward_pass(r, &dual, inside, &m.body, results);
    CtBulk **made = CT_NEW_ARRAY(arena, CtBulk *, results + 1);
    for (uint32_t k = 0; k < count->states; k++)
        if (inside[k]) ct_push(arena, &m.next, out[k] ? out[k] : zero(r, source->params[k]->shape));
    for (uint32_t k = count->states; k < results; k++)
        if (out[k]) add_output(&m, out[k]);
    finish(&m, source->from_back);
    for (uint32_t k = 0, state = 0, output = 0; k < results; k++) {
        if (k < count->states)
            made[k] = inside[k] ? state_of(&m, state++) : NULL;
        else
            made[k] = out[k] ? output_of(&m, output++) : NULL;
    }
    return made;
}
