/* Folds and scans on abstract values become a loop whose body is traced once. Parts of the state that are known before
 * the loop but change in it are found by repeated tracing: a part counts as known until it is seen to change. If the
 * state changes its structure, the fold is unrolled. */
#include "ad/bulk/trace/internal.h"

enum { MAX_UNROLLED = 1000, MAX_ROUNDS = 1000 };

typedef struct Fold {
    CtFoldKind kind;
    CtAbstract *f, *xs;
    int64_t size;
    CtSourceRange range;
    /* For a tail-recursive function: there is no array, and the number of steps is known when the body is. */
    CtTail *tail;
    CtCounting *counting; /* of the lengths of growing arrays */
} Fold;

/* The result of a step: the state, and for scans the element. */
typedef struct Step {
    CtAbstract *next, *output;
} Step;

static Step apply(Tracer *tr, const Fold *fold, CtAbstract *state, CtAbstract *x) {
    CtAbstract *args[2] = {state, x};
    CtAbstract *made = ct_bulk_trace_apply(tr, fold->f, args, 2, fold->range);
    switch (fold->kind) {
    case FOLD_LAST: return (Step){made, NULL};
    case FOLD_BEFORE: return (Step){made, state};
    case FOLD_AFTER: return (Step){made, made};
    case FOLD_PAIR: break;
    }
    if (made->kind != ABSTRACT_TUPLE) return (Step){made, made}; /* a failure */
    return (Step){made->as.of.parts[0], made->as.of.parts[1]};
}

/* ---- step by step ---- */

static CtAbstract *finished(Tracer *tr, const Fold *fold, CtAbstract *last, CtAbstract *outputs) {
    if (fold->kind == FOLD_LAST) return last;
    if (fold->kind == FOLD_AFTER) return outputs;
    if (fold->kind == FOLD_BEFORE)
        return ct_bulk_trace_append(tr, outputs, ct_bulk_trace_array_from(tr, &last, 1), fold->range);
    CtAbstract *both[2] = {last, outputs};
    return ct_bulk_abstract_parts(tr->builder, ABSTRACT_TUPLE, both, 2, NULL);
}

static CtAbstract *unrolled(Tracer *tr, const Fold *fold, CtAbstract *state) {
    CtAbstract **all = CT_NEW_ARRAY(tr->arena, CtAbstract *, (uint32_t)fold->size + 1);
    for (int64_t i = 0; i < fold->size && !ct_bulk_trace_refused(tr); i++) {
        CtAbstract *x = ct_bulk_trace_element(tr, fold->xs, ct_bulk_abstract_known(tr->builder, i), fold->range);
        Step step = apply(tr, fold, state, x);
        if (step.next->kind == ABSTRACT_FAILURE) return step.next;
        state = step.next;
        all[i] = step.output;
    }
    if (ct_bulk_trace_refused(tr))
        return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE); /* some of `all` is missing */
    if (fold->kind == FOLD_LAST) return state;
    uint32_t count = (uint32_t)fold->size + (fold->kind == FOLD_BEFORE);
    if (fold->kind == FOLD_BEFORE) all[fold->size] = state;
    if (ct_bulk_trace_irregular_item(all, count) > 0) return ct_bulk_trace_irregular(tr, fold->range);
    CtAbstract *outputs = ct_bulk_trace_array_from(tr, all, count);
    return fold->kind == FOLD_BEFORE ? outputs : finished(tr, fold, state, outputs);
}

/* ---- what of the state is known at every step ---- */

static CtAbstract *placeholder(Tracer *tr, CtElement element) {
    CtShape scalar = ct_bulk_trace_scalar();
    return ct_bulk_abstract_term(tr->builder, element == ELEMENT_BOOL ? ct_bulk_bool(tr->builder, false, scalar)
                                                                      : ct_bulk_int(tr->builder, 0, scalar));
}

enum { MANY_STEPS = 1 << 20 }; /* where their number is not known yet */

static int64_t steps_of(const Fold *fold) {
    if (fold->tail == NULL) return fold->size;
    return fold->tail->counting.turn == INT64_MAX ? MANY_STEPS : fold->tail->counting.turn;
}

static CtAbstract *join(Tracer *tr, const Fold *fold, CtAbstract *a, CtAbstract *b, bool *changed);

static CtAbstract *join_growing(Tracer *tr, const Fold *fold, CtAbstract *a, CtAbstract *b, bool *changed) {
    bool own = a->as.growing.of == fold->counting;
    if (!ct_bulk_trace_same_growth(a, b)) return NULL;
    if (b->as.growing.added != a->as.growing.added + (own ? a->as.growing.slope : 0)) return NULL;
    if (join(tr, fold, a->as.growing.all, b->as.growing.all, changed) == NULL) return NULL;
    CtAbstract *other = own ? ct_bulk_trace_grow_to(tr, a, steps_of(fold)) : NULL;
    if (other != NULL) *changed = true;
    return other != NULL ? other : a;
}

/* The join of two states; leaves stand for their common shapes. NULL when they differ in structure. */
static CtAbstract *join(Tracer *tr, const Fold *fold, CtAbstract *a, CtAbstract *b, bool *changed) {
    if (a->kind == ABSTRACT_GROWING) return join_growing(tr, fold, a, b, changed);
    CtAbstract *grown = ct_bulk_trace_grow(tr, a, b, steps_of(fold), fold->counting);
    if (grown != NULL) *changed = true;
    if (grown != NULL) return grown;
    CtBulk *left = ct_bulk_trace_term(tr, a), *right = ct_bulk_trace_term(tr, b);
    if (left != NULL && right != NULL) {
        if (left->element != right->element || !ct_bulk_shape_equal(left->shape, right->shape)) return NULL;
        if (a->kind == ABSTRACT_TERM || ct_bulk_trace_same_shape(a, b)) return a;
        *changed = true;
        return placeholder(tr, left->element);
    }
    if (a->kind == ABSTRACT_CLOSURE || a->kind == ABSTRACT_STRING) return ct_bulk_trace_same_shape(a, b) ? a : NULL;
    if (a->kind != b->kind) return NULL;
    if (a->kind == ABSTRACT_ROWS) {
        if (a->as.rows.size != b->as.rows.size) return NULL;
        CtAbstract *element = join(tr, fold, a->as.rows.element, b->as.rows.element, changed);
        return element != NULL ? ct_bulk_abstract_rows(tr->builder, a->as.rows.size, element) : NULL;
    }
    bool structured = a->kind == ABSTRACT_TUPLE || a->kind == ABSTRACT_DATA || a->kind == ABSTRACT_LIST;
    if (!structured || a->as.of.con != b->as.of.con || a->as.of.count != b->as.of.count) return NULL;
    CtAbstract *made = ct_bulk_abstract_parts(tr->builder, a->kind, a->as.of.parts, a->as.of.count, a->as.of.con);
    for (uint32_t i = 0; i < a->as.of.count; i++) {
        made->as.of.parts[i] = join(tr, fold, a->as.of.parts[i], b->as.of.parts[i], changed);
        if (made->as.of.parts[i] == NULL) return NULL;
    }
    return made;
}

/* ---- tracing the body ---- */

typedef struct Terms {
    CT_VEC(CtBulk *) items;
} Terms;

typedef struct Body {
    Scope scope;
    CtBulkVar *index;
    CT_VEC(CtBulkVar *) states; /* for the leaves; the last one is that of `guarded` */
    bool guarded;               /* the last state says that nothing has failed so far */
    CtAbstract *state;
    Step step;
    CtBulk *still; /* its next value */
} Body;

static CtBulkVar *new_var(Tracer *tr, Body *b, const char *name, CtElement element, CtShape shape) {
    CtBulkVar *var = ct_bulk_new_var(tr->builder, name, element, shape);
    ct_bulk_trace_set_level(tr, var, b->scope.level);
    return var;
}

static CtBulk *state_leaf(Tracer *tr, void *data, CtBulk *t) {
    Body *b = data;
    CtBulkVar *var = new_var(tr, b, "s", t->element, t->shape);
    ct_push(tr->arena, &b->states, var);
    return ct_bulk_var(tr->builder, var);
}

static CtAbstract *element_of(Tracer *tr, const Body *b, const Fold *fold) {
    CtAbstract *i = ct_bulk_abstract_term(tr->builder, ct_bulk_var(tr->builder, b->index));
    return ct_bulk_trace_element(tr, fold->xs, i, fold->range);
}

/* Whether some element of a Bool of any shape holds. */
static CtBulk *any(Tracer *tr, CtBulk *t) {
    CtBulkBuilder *r = tr->builder;
    int64_t count = ct_bulk_shape_count(t->shape);
    if (t->shape.rank == 0) return t;
    if (count == 0) return ct_bulk_bool(r, false, ct_bulk_trace_scalar());
    CtBulk *flat = ct_bulk_reshape(r, ct_bulk_shape_of(tr->arena, &count, 1), t);
    CtBulk *ones = ct_bulk_int(r, 1, flat->shape), *zeros = ct_bulk_int(r, 0, flat->shape);
    CtBulk *most = ct_bulk_reduce(r, REDUCE_MAXIMUM, ct_bulk_cond(r, flat, ones, zeros), t->range);
    return ct_bulk_op2(r, PRIM_INT_EQ, most, ct_bulk_int(r, 1, ct_bulk_trace_scalar()));
}

static Step without_counters(Tracer *tr, Step step) {
    CtAbstract *next = ct_bulk_trace_without_counters(tr, step.next);
    return (Step){next, step.output != NULL ? ct_bulk_trace_without_counters(tr, step.output) : NULL};
}

/* Traces the body on variables for the state's leaves. With `guarded`, nothing is needed behind the first failure. */
static void trace_body(Tracer *tr, const Fold *fold, CtAbstract *state, Body *b) {
    CtBulk *live = tr->live;
    b->scope = (Scope){.outer = tr->scope, .level = tr->scope->level + 1};
    b->index = new_var(tr, b, "i", ELEMENT_INT, ct_bulk_trace_scalar());
    bool is_unknown = fold->tail != NULL && fold->size == 0;
    ct_bulk_note_var(&tr->ranges, b->index, (CtRange){0, is_unknown ? INT64_MAX / 2 : fold->size - 1});
    b->states.count = 0;
    b->state = ct_bulk_trace_leaves(tr, state, state_leaf, b);
    tr->scope = &b->scope;
    if (fold->tail == NULL) *fold->counting = (CtCounting){b->index, INT64_MAX};
    CtBulk *still = NULL;
    if (b->guarded) {
        CtBulkVar *ok = new_var(tr, b, "ok", ELEMENT_BOOL, ct_bulk_trace_scalar());
        ct_push(tr->arena, &b->states, ok);
        still = ct_bulk_var(tr->builder, ok);
        tr->live = ct_bulk_trace_both(tr, live, still);
    }
    if (fold->tail != NULL)
        b->step = (Step){ct_bulk_trace_tail_body(tr, fold->tail, b->state, b->index), NULL};
    else
        b->step = without_counters(tr, apply(tr, fold, b->state, element_of(tr, b, fold)));
    CtAbstract *made[2] = {b->step.next, b->step.output};
    uint32_t count = b->step.output != NULL ? 2 : 1;
    if (b->step.next != NULL)
        ct_bulk_trace_keep_failures(tr, &b->scope,
                                    ct_bulk_abstract_parts(tr->builder, ABSTRACT_TUPLE, made, count, NULL));
    for (uint32_t i = 0; b->guarded && i < b->scope.bindings.checks.count; i++) {
        CtBulk *failed = ct_bulk_trace_name(tr, "b", any(tr, b->scope.bindings.checks.items[i]->as.check.test));
        still = ct_bulk_trace_both(tr, still, ct_bulk_trace_not(tr, failed));
    }
    b->still = still;
    tr->scope = b->scope.outer;
    tr->live = live;
}

/* ---- what a trace leaves outside ---- */

CtTraceMark ct_bulk_trace_mark(Tracer *tr) {
    CtTraceMark made = {.terms = tr->terms};
    for (Scope *s = tr->scope; s != NULL; s = s->outer) {
        ct_push(tr->arena, &made.checks, s->bindings.checks.count);
        ct_push(tr->arena, &made.bindings, s->bindings.vars.count);
    }
    return made;
}

/* Abandons a trace: drops its checks and bindings. */
void ct_bulk_trace_go_back(Tracer *tr, const CtTraceMark *to) {
    uint32_t i = 0;
    for (Scope *s = tr->scope; s != NULL; s = s->outer, i++) {
        s->bindings.checks.count = to->checks.items[i];
        for (uint32_t k = to->bindings.items[i]; k < s->bindings.vars.count; k++)
            ct_map_set(tr->arena, &tr->vain, s->bindings.vars.items[k]->id, s);
    }
    tr->terms = to->terms;
    tr->refusal->what = NULL;
}

/* ---- from a traced body to a closed loop ---- */

typedef struct Closing {
    Tracer *tr;
    Body *b;
    int64_t size;
    CtMap inside;            /* variables that the body binds */
    CtMap captured;          /* variables that it uses from outside */
    CT_VEC(CtBulk *) arrays; /* arrays whose elements it reads at its index … */
    CT_VEC(CtBulkVar *) elements;
    CT_VEC(CtBulkVar *) fixed;
} Closing;

static bool is_index_var(const Closing *c, const CtBulk *t) { return t->kind == BULK_VAR && t->as.var == c->b->index; }

static bool is_outside(Closing *c, const CtBulk *t) {
    if (t->kind == BULK_CONST) return true;
    if (t->kind != BULK_VAR || ct_map_has(&c->inside, ct_key(t->as.var))) return false;
    uintptr_t level = (uintptr_t)ct_map_get(&c->tr->levels, t->as.var->id);
    return level <= c->b->scope.level; /* levels in the map are one higher */
}

static CtBulk *element_param(Closing *c, CtBulk *array) {
    CtBulkBuilder *r = c->tr->builder;
    for (uint32_t k = 0; k < c->arrays.count; k++) {
        CtBulk *known = c->arrays.items[k];
        bool same =
            known == array || (known->kind == BULK_VAR && array->kind == BULK_VAR && known->as.var == array->as.var);
        if (same) return ct_bulk_var(r, c->elements.items[k]);
    }
    CtBulkVar *var = ct_bulk_new_var(r, "x", array->element, ct_bulk_shape_tail(array->shape, 1));
    ct_push(c->tr->arena, &c->arrays, array);
    ct_push(c->tr->arena, &c->elements, var);
    ct_map_set(c->tr->arena, &c->inside, ct_key(var), var);
    return ct_bulk_var(r, var);
}

/* Replaces index xs (i ::: ix), where i is the loop's index, by index x ix of the element x. */
static CtBulk *close_elements(void *data, CtBulk *t) {
    Closing *c = data;
    CtBulkBuilder *r = c->tr->builder;
    t = ct_bulk_map(r, t, close_elements, c);
    const CtIndexing *f = &t->as.move.f;
    if (t->kind != BULK_INDEX || f->count == 0 || !is_index_var(c, f->ix[0]) || !is_outside(c, t->as.move.t)) return t;
    if (t->as.move.t->shape.sizes[0] < c->size) return t;
    CtBulk *x = element_param(c, t->as.move.t);
    return f->count == 1 ? x : ct_bulk_index(r, x, f->ix + 1, f->count - 1, f->live, t->range);
}

static void bind_inside(Closing *c, const CtBulk *t) {
    CtArena *arena = c->tr->arena;
    if (t->kind == BULK_LET) ct_map_set(arena, &c->inside, ct_key(t->as.let.var), c);
    if (t->kind == BULK_BUILD) ct_map_set(arena, &c->inside, ct_key(t->as.build.var), c);
    if (t->kind != BULK_GATHER && t->kind != BULK_SCATTER) return;
    for (uint32_t i = 0; i < t->as.move.f.var_count; i++)
        ct_map_set(arena, &c->inside, ct_key(t->as.move.f.vars[i]), c);
}

static CtBulk *find_captured(void *data, CtBulk *t) {
    Closing *c = data;
    bind_inside(c, t);
    if (t->kind != BULK_VAR) return ct_bulk_map(c->tr->builder, t, find_captured, c);
    if (is_index_var(c, t) || !is_outside(c, t) || ct_map_has(&c->captured, ct_key(t->as.var))) return t;
    ct_map_set(c->tr->arena, &c->captured, ct_key(t->as.var), t);
    ct_push(c->tr->arena, &c->fixed, t->as.var);
    return t;
}

/* The first elements of an array, one for each step. */
static CtBulk *first_rows(Tracer *tr, CtBulk *array, int64_t size) {
    if (array->shape.sizes[0] == size) return array;
    CtBulkVar *i = ct_bulk_new_var(tr->builder, "i", ELEMENT_INT, ct_bulk_trace_scalar());
    CtBulk *at = ct_bulk_var(tr->builder, i);
    CtShape shape = ct_bulk_shape_cons(tr->arena, size, ct_bulk_shape_tail(array->shape, 1));
    CtIndexing f = {.vars = &i, .var_count = 1, .ix = &at, .count = 1};
    return ct_bulk_trace_name(tr, "xs", ct_bulk_gather(tr->builder, shape, array, f, array->range));
}

static void add_terms(Tracer *tr, const CtAbstract *s, Terms *out) {
    CtBulk *t = ct_bulk_trace_term(tr, s);
    if (t != NULL) ct_push(tr->arena, &out->items, t);
    if (s->kind == ABSTRACT_ROWS) add_terms(tr, s->as.rows.element, out);
    if (s->kind == ABSTRACT_GROWING) add_terms(tr, s->as.growing.all, out);
    if (t != NULL || (s->kind != ABSTRACT_TUPLE && s->kind != ABSTRACT_DATA && s->kind != ABSTRACT_LIST)) return;
    for (uint32_t i = 0; i < s->as.of.count; i++) add_terms(tr, s->as.of.parts[i], out);
}

/* The terms of `s` at the places of the terms of `state`, in the order of the state's leaves. */
static void add_leaves(Tracer *tr, const CtAbstract *state, const CtAbstract *s, Terms *out) {
    if (state->kind == ABSTRACT_TERM) ct_push(tr->arena, &out->items, ct_bulk_trace_term(tr, s));
    if (state->kind == ABSTRACT_ROWS) add_leaves(tr, state->as.rows.element, s->as.rows.element, out);
    if (state->kind == ABSTRACT_GROWING) add_leaves(tr, state->as.growing.all, s->as.growing.all, out);
    if (state->kind != ABSTRACT_TUPLE && state->kind != ABSTRACT_DATA && state->kind != ABSTRACT_LIST) return;
    for (uint32_t i = 0; i < state->as.of.count; i++) add_leaves(tr, state->as.of.parts[i], s->as.of.parts[i], out);
}

typedef struct Needs {
    Tracer *tr;
    CtMap vars;
} Needs;

static CtBulk *need(void *data, CtBulk *t) {
    Needs *n = data;
    if (t->kind != BULK_VAR) return ct_bulk_map(n->tr->builder, t, need, n);
    ct_map_set(n->tr->arena, &n->vars, ct_key(t->as.var), t);
    return t;
}

/* As in ct_bulk_trace_closed: bindings of abandoned traces are left out. Checks among the bindings stay. */
void ct_bulk_trace_add_bindings(Tracer *tr, const CtBulkTrace *body, CtBulkLoop *loop) {
    Needs needs = {.tr = tr};
    bool *kept = CT_NEW_ARRAY(tr->arena, bool, body->vars.count + 1);
    for (uint32_t i = 0; i < ct_bulk_loop_results(loop); i++) need(&needs, loop->results[i]);
    for (uint32_t i = body->vars.count; i-- > 0;) {
        kept[i] = body->terms.items[i]->kind == BULK_CHECK || ct_map_has(&needs.vars, ct_key(body->vars.items[i]));
        if (kept[i]) need(&needs, body->terms.items[i]);
    }
    for (uint32_t i = 0; i < body->vars.count; i++) {
        if (!kept[i]) continue;
        ct_push(tr->arena, &loop->vars, body->vars.items[i]);
        ct_push(tr->arena, &loop->terms, body->terms.items[i]);
    }
}

/* The loop with its arguments. */
typedef struct Closed {
    CtBulkLoop *loop;
    CtBulk **args;
} Closed;

static Closed close_loop(Tracer *tr, Body *b, int64_t size, const Terms *start, const Terms *next,
                         const Terms *outputs) {
    Closing c = {.tr = tr, .b = b, .size = size};
    CtBulkTrace *body = &b->scope.bindings;
    uint32_t states = b->states.count, k = 0;
    for (uint32_t i = 0; i < states; i++) ct_map_set(tr->arena, &c.inside, ct_key(b->states.items[i]), b);
    for (uint32_t i = 0; i < body->vars.count; i++) ct_map_set(tr->arena, &c.inside, ct_key(body->vars.items[i]), b);
    Terms results = {{0}};
    for (uint32_t i = 0; i < body->terms.count; i++) body->terms.items[i] = close_elements(&c, body->terms.items[i]);
    for (uint32_t i = 0; i < next->items.count; i++) ct_push(tr->arena, &results.items, next->items.items[i]);
    for (uint32_t i = 0; i < outputs->items.count; i++) ct_push(tr->arena, &results.items, outputs->items.items[i]);
    for (uint32_t i = 0; i < body->terms.count; i++) find_captured(&c, body->terms.items[i]);
    for (uint32_t i = 0; i < results.items.count; i++) find_captured(&c, results.items.items[i]);
    CtBulkLoopParams count = {states, c.elements.count, c.fixed.count};
    CtBulkLoop *loop = ct_bulk_new_loop(tr->builder, size, count, outputs->items.count);
    CtBulk **args = CT_NEW_ARRAY(tr->arena, CtBulk *, ct_bulk_loop_params(loop) + 1);
    loop->index = b->index;
    for (uint32_t i = 0; i < states; i++, k++) {
        loop->params[k] = b->states.items[i];
        args[k] = start->items.items[i];
    }
    for (uint32_t i = 0; i < c.elements.count; i++, k++) {
        loop->params[k] = c.elements.items[i];
        args[k] = first_rows(tr, c.arrays.items[i], size);
    }
    for (uint32_t i = 0; i < c.fixed.count; i++, k++) {
        loop->params[k] = c.fixed.items[i];
        args[k] = ct_bulk_var(tr->builder, c.fixed.items[i]);
    }
    for (uint32_t i = 0; i < results.items.count; i++) loop->results[i] = results.items.items[i];
    ct_bulk_trace_add_bindings(tr, body, loop);
    return (Closed){loop, args};
}

/* ---- the whole ---- */

typedef struct Results {
    const Closed *made;
    uint32_t next;
} Results;

static CtBulk *result_leaf(Tracer *tr, void *data, CtBulk *t) {
    Results *results = data;
    (void)t;
    CtBulk *made = ct_bulk_loop(tr->builder, results->made->loop, results->made->args, results->next++);
    return ct_bulk_trace_name(tr, "s", made);
}

static void push_checks(Tracer *tr, const Body *b, Results *results) {
    for (uint32_t i = 0; i < b->scope.bindings.checks.count; i++) {
        const CtBulk *check = b->scope.bindings.checks.items[i];
        CtBulk *test = result_leaf(tr, results, NULL),
               *nothing = ct_bulk_real(tr->builder, 0.0, ct_bulk_trace_scalar());
        ct_push(tr->arena, &ct_bulk_trace_scope(tr, test)->bindings.checks,
                ct_bulk_check(tr->builder, test, check->as.check.code, check->as.check.text, check->range, nothing));
    }
}

/* The initial state, with room where the state grows; and the last one, in which this is used up. */
static CtAbstract *with_room(Tracer *tr, const Fold *fold, const CtAbstract *state, CtAbstract *start) {
    if (state->kind == ABSTRACT_GROWING)
        return state->as.growing.of == fold->counting ? ct_bulk_trace_make_room(tr, state, start, fold->range) : start;
    if (state->kind != ABSTRACT_TUPLE && state->kind != ABSTRACT_DATA && state->kind != ABSTRACT_LIST) return start;
    CtAbstract *made =
        ct_bulk_abstract_parts(tr->builder, start->kind, start->as.of.parts, start->as.of.count, start->as.of.con);
    for (uint32_t i = 0; i < state->as.of.count; i++)
        made->as.of.parts[i] = with_room(tr, fold, state->as.of.parts[i], start->as.of.parts[i]);
    return made;
}

static CtAbstract *without_room(Tracer *tr, const Fold *fold, CtAbstract *s) {
    if (s->kind == ABSTRACT_GROWING) return s->as.growing.of == fold->counting ? s->as.growing.all : s;
    if (s->kind != ABSTRACT_TUPLE && s->kind != ABSTRACT_DATA && s->kind != ABSTRACT_LIST) return s;
    CtAbstract *made = ct_bulk_abstract_parts(tr->builder, s->kind, s->as.of.parts, s->as.of.count, s->as.of.con);
    for (uint32_t i = 0; i < s->as.of.count; i++) made->as.of.parts[i] = without_room(tr, fold, s->as.of.parts[i]);
    return made;
}

/* Makes the loop from a traced body. */
static CtAbstract *looped(Tracer *tr, const Fold *fold, CtAbstract *start, Body *b) {
    Terms first = {{0}}, next = {{0}}, outputs = {{0}};
    CtAbstract *output = b->step.output != NULL ? ct_bulk_trace_unknown(tr, b->step.output) : NULL;
    if (output != NULL && !ct_bulk_trace_has_terms_only(output)) return NULL;
    add_leaves(tr, b->state, with_room(tr, fold, b->state, start), &first);
    add_leaves(tr, b->state, b->step.next, &next);
    if (b->guarded) {
        ct_push(tr->arena, &first.items, ct_bulk_bool(tr->builder, true, ct_bulk_trace_scalar()));
        ct_push(tr->arena, &next.items, b->still);
    }
    if (output != NULL) add_terms(tr, output, &outputs);
    for (uint32_t i = 0; i < b->scope.bindings.checks.count; i++)
        ct_push(tr->arena, &outputs.items, b->scope.bindings.checks.items[i]->as.check.test);
    Closed made = close_loop(tr, b, fold->size, &first, &next, &outputs);
    Results results = {&made, 0};
    CtAbstract *last = without_room(tr, fold, ct_bulk_trace_leaves(tr, b->state, result_leaf, &results));
    if (b->guarded) results.next++;
    CtAbstract *all = NULL;
    if (output != NULL)
        all = ct_bulk_trace_array_of(tr, fold->size, ct_bulk_trace_leaves(tr, output, result_leaf, &results));
    push_checks(tr, b, &results);
    return finished(tr, fold, last, all);
}

/* NULL when it cannot be a loop; a refusal may say why. */
static CtAbstract *as_loop(Tracer *tr, Fold *fold, CtAbstract *start) {
    CtTraceMark before = ct_bulk_trace_mark(tr);
    CtAbstract *state = start, *made = NULL;
    Body b = {.guarded = false};
    uint32_t rounds = 0;
    fold->counting = fold->tail != NULL ? &fold->tail->counting : CT_NEW(tr->arena, CtCounting);
    for (bool again = true; again;) {
        if (rounds++ == MAX_ROUNDS) return NULL;
        ct_bulk_trace_go_back(tr, &before);
        trace_body(tr, fold, state, &b);
        if (ct_bulk_trace_refused(tr) || b.step.next == NULL || b.step.next->kind == ABSTRACT_FAILURE) return NULL;
        again = false;
        if (fold->tail == NULL && fold->counting->turn < fold->size) return NULL; /* it compares lengths */
        state = join(tr, fold, state, b.step.next, &again);
        if (state == NULL) return NULL;
        if (!again && fold->tail != NULL && fold->size != fold->counting->turn) {
            fold->size = fold->tail->steps = fold->counting->turn;
            if (fold->size <= CT_FEW_ITERATIONS || fold->size == INT64_MAX) return NULL;
            again = true; /* what is inside of an array depends on the number of steps */
        }
        if (!again && !b.guarded && b.scope.bindings.checks.count > 0) b.guarded = again = true;
    }
    made = looped(tr, fold, start, &b);
    return made;
}

CtAbstract *ct_bulk_trace_tail_loop(Tracer *tr, CtTail *tail, CtAbstract *start) {
    Fold fold = {.kind = FOLD_LAST, .range = tail->range, .tail = tail};
    return as_loop(tr, &fold, start);
}

/* Where a comparison of lengths comes out differently behind the first steps, these are unrolled, and the others may be
 * a loop. NULL: there is no such comparison. */
static CtAbstract *behind_first(Tracer *tr, const Fold *fold, CtAbstract *start) {
    Fold first = *fold;
    first.size = fold->counting->turn;
    if (fold->kind != FOLD_LAST || first.size > CT_FEW_ITERATIONS || first.size >= fold->size) return NULL;
    CtAbstract *state = unrolled(tr, &first, start);
    if (ct_bulk_trace_refused(tr) || state->kind == ABSTRACT_FAILURE) return state;
    CtAbstract *rest = ct_bulk_trace_slice(tr, fold->xs, first.size, fold->size - first.size, fold->range);
    return ct_bulk_trace_fold(tr, fold->kind, fold->f, state, rest, fold->range);
}

CtAbstract *ct_bulk_trace_fold(Tracer *tr, CtFoldKind kind, CtAbstract *f, CtAbstract *start, CtAbstract *xs,
                               CtSourceRange range) {
    Fold fold = {kind, f, xs, ct_bulk_trace_size(xs), range, NULL, NULL};
    CtBulkRefusal why = {range, NULL};
    if (ct_bulk_trace_refused(tr)) return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE);
    if (fold.size > 1 && xs->kind != ABSTRACT_LIST) {
        CtTraceMark before = ct_bulk_trace_mark(tr);
        CtAbstract *made = as_loop(tr, &fold, start);
        if (made != NULL) return made;
        why = *tr->refusal;
        ct_bulk_trace_go_back(tr, &before);
        made = behind_first(tr, &fold, start);
        if (made != NULL) return made;
    }
    if (fold.size <= MAX_UNROLLED) return unrolled(tr, &fold, start);
    if (why.what != NULL) return ct_bulk_trace_refuse(tr, why.range, why.what);
    return ct_bulk_trace_refuse(tr, range, "a fold or scan over more than 1000 elements whose state changes its form");
}
