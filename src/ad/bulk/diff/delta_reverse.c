/* Stage 3 of BULK 2025: the passes over symbolic Delta terms. The reverse pass with global sharing (Figs. 17 and 19),
 * the conversion of sharing to bindings (Fig. 20), and the forward evaluation of the same terms, which has let bindings
 * from the start.
 *
 * Names: for a Delta term that belongs to the variable x, the cotangent is x_adj and the tangent dx. Those that belong
 * to no variable of the program are `shared` and `dt`. */
#include "ad/bulk/diff/delta.h"

/* ---- the reverse pass ---- */

/* Bound of the depth of a cotangent. A deeper one is shared as in §7.3 (1), even if it is used once, because traversals
 * of terms are recursive. */
enum { DEPTH_LIMIT = 24 };

typedef struct Cotangent {
    CtBulk *c; /* NULL: zero */
    uint32_t depth;
} Cotangent;

/* ES of Fig. 19. The maps are arrays, because their keys are consecutive numbers. */
typedef struct State {
    CtBulkBuilder *r;
    Cotangent *grad;     /* by input */
    CtDelta **dfrag;     /* by id: the Share node */
    Cotangent *accum;    /* by id */
    Cotangent **results; /* of loops, by id and result */
    CtBulkReverse out;
    const char *name; /* of the node being evaluated */
    CtMap *names;     /* see ct_bulk_fresh_name */
} State;

static bool is_atom(const CtBulk *t) { return t->kind == BULK_VAR || t->kind == BULK_CONST; }

/* id ← genID_AST; share id c */
static Cotangent share(State *s, Cotangent c) {
    if (is_atom(c.c) || c.c->kind == BULK_SHARE) return c;
    const char *base = s->name ? ct_format(s->r->arena, "%s_adj", s->name) : "shared";
    const char *name = ct_bulk_fresh_name(s->r->arena, s->names, base, !s->name);
    ct_push(s->r->arena, &s->out.shared, (CtBulkShared){name, NULL, c.c});
    return (Cotangent){ct_bulk_share(s->r, ++s->r->shares, c.c), 1};
}

/* insertWith (+). A sum of many contributions is as deep as it has terms. */
static void contribute(State *s, Cotangent *place, Cotangent c) {
    if (place->c) {
        c.c = ct_bulk_op2(s->r, PRIM_ADD, c.c, place->c);
        c.depth = (c.depth > place->depth ? c.depth : place->depth) + 1;
    }
    *place = c.depth > DEPTH_LIMIT ? share(s, c) : c;
}

static Cotangent over(Cotangent c, CtBulk *made) { return (Cotangent){made, c.depth + 1}; }

static CtBulk *zero(CtBulkBuilder *r, CtShape shape) { return ct_bulk_real(r, -0.0, shape); }

static CtBulk *transpose_back(CtBulkBuilder *r, const CtDelta *d, CtBulk *c) {
    uint32_t count = d->as.transpose.count;
    uint32_t *inverse = CT_NEW_ARRAY(r->arena, uint32_t, count);
    for (uint32_t k = 0; k < count; k++) inverse[d->as.transpose.permutation[k]] = k;
    return ct_bulk_transpose(r, inverse, count, c);
}

static void eval(State *s, Cotangent c, CtDelta *d);

static void eval_literal(State *s, Cotangent c, CtDelta *d) {
    c = share(s, c);
    for (uint32_t k = 0; k < d->as.literal.count; k++) {
        CtBulk *ix = ct_bulk_int(s->r, k, (CtShape){0});
        if (d->as.literal.items[k])
            eval(s, over(c, ct_bulk_index(s->r, c.c, &ix, 1, NULL, d->range)), d->as.literal.items[k]);
    }
}

/* The cotangent goes to the selected side; the other one gets the structural zero. */
static void eval_select(State *s, Cotangent c, CtDelta *d) {
    c = share(s, c);
    CtBulk *none = zero(s->r, d->shape);
    eval(s, over(c, ct_bulk_cond(s->r, d->as.primal, c.c, none)), d->parts[0]);
    eval(s, over(c, ct_bulk_cond(s->r, d->as.primal, none, c.c)), d->parts[1]);
}

/* A loop is evaluated when the cotangents of all its results are known. */
static void eval_result(State *s, Cotangent c, const CtDelta *d) {
    CtDelta *node = d->parts[0];
    const CtDeltaLoop *loop = node->as.loop;
    s->dfrag[loop->id] = node;
    if (!s->results[loop->id])
        s->results[loop->id] = CT_NEW_ARRAY(s->r->arena, Cotangent, ct_bulk_loop_results(loop->source));
    contribute(s, &s->results[loop->id][d->as.result], c);
}

static CtBulk *share_for_loop(void *data, const char *name, CtBulk *t) {
    State *s = data;
    s->name = name;
    CtBulk *shared = share(s, (Cotangent){t, 1}).c;
    s->name = NULL;
    return shared;
}

static void send_from_loop(void *data, CtBulk *c, CtDelta *d) { eval(data, (Cotangent){c, 1}, d); }

static void eval_loop(State *s, CtDeltaLoop *loop) {
    uint32_t count = ct_bulk_loop_results(loop->source);
    CtBulk **c = CT_NEW_ARRAY(s->r->arena, CtBulk *, count);
    for (uint32_t k = 0; k < count; k++) {
        s->name = loop->names[k];
        if (s->results[loop->id][k].c) c[k] = share(s, s->results[loop->id][k]).c;
    }
    s->name = NULL;
    CtLoopSink sink = {s, share_for_loop, send_from_loop};
    if (loop->by_rule)
        ct_bulk_rule_reverse(s->r, loop, c, &sink);
    else
        ct_bulk_loop_reverse(s->r, loop, c, &sink);
}

static void eval(State *s, Cotangent c, CtDelta *d) {
    if (!d) return;
    CtBulkBuilder *r = s->r;
    CtDelta *e = d->parts[0];
    switch (d->kind) {
    case DELTA_INPUT: contribute(s, &s->grad[d->as.input], c); return;
    case DELTA_ADD:
        c = share(s, c);
        eval(s, c, e);
        eval(s, c, d->parts[1]);
        return;
    case DELTA_SCALE: eval(s, over(c, ct_bulk_op2(r, PRIM_SCALE, d->as.primal, c.c)), e); return;
    case DELTA_SELECT: eval_select(s, c, d); return;
    case DELTA_SHARE:
        s->dfrag[d->as.share.id] = d;
        contribute(s, &s->accum[d->as.share.id], c);
        return;
    case DELTA_INDEX: eval(s, over(c, ct_bulk_one_hot(r, e->shape, d->as.f.ix, d->as.f.count, c.c)), e); return;
    case DELTA_SUM_OUTER: eval(s, over(c, ct_bulk_replicate(r, e->shape.sizes[0], c.c)), e); return;
    case DELTA_GATHER: eval(s, over(c, ct_bulk_scatter(r, e->shape, c.c, d->as.f, d->range)), e); return;
    case DELTA_SCATTER: eval(s, over(c, ct_bulk_gather(r, e->shape, c.c, d->as.f, d->range)), e); return;
    case DELTA_LIT_ARRAY: eval_literal(s, c, d); return;
    case DELTA_REPLICATE: eval(s, over(c, ct_bulk_reduce(r, REDUCE_SUM, c.c, d->range)), e); return;
    case DELTA_TRANSPOSE: eval(s, over(c, transpose_back(r, d, c.c)), e); return;
    case DELTA_RESHAPE: eval(s, over(c, ct_bulk_reshape(r, e->shape, c.c)), e); return;
    case DELTA_ONE_HOT: {
        CtBulk *never = ct_bulk_bool(r, false, (CtShape){0}); /* contributions out of range have been dropped */
        eval(s, over(c, ct_bulk_index(r, c.c, d->as.f.ix, d->as.f.count, never, d->range)), e);
        return;
    }
    case DELTA_RESULT: eval_result(s, c, d); return;
    case DELTA_LOOP: return; /* through its results */
    }
}

/* Goes from the largest id down: nothing can contribute to the largest remaining one any more. */
static void backprop(State *s, uint32_t count) {
    for (uint32_t id = count; id > 0; id--) {
        CtDelta *d = s->dfrag[id];
        if (!d) continue;
        if (d->kind == DELTA_LOOP) {
            eval_loop(s, d->as.loop);
            continue;
        }
        s->name = d->as.share.name;
        eval(s, s->accum[id], d->parts[0]);
    }
}

CtBulkReverse ct_bulk_reverse_pass(CtBulkBuilder *r, CtBulkDual *dual, uint32_t inputs, CtBulk *const *c,
                                   uint32_t results) {
    State s = {.r = r, .names = &dual->names, .out = {.first = r->shares + 1}};
    s.grad = CT_NEW_ARRAY(r->arena, Cotangent, inputs);
    s.dfrag = CT_NEW_ARRAY(r->arena, CtDelta *, dual->shares + 1);
    s.accum = CT_NEW_ARRAY(r->arena, Cotangent, dual->shares + 1);
    s.results = CT_NEW_ARRAY(r->arena, Cotangent *, dual->shares + 1);
    s.out.grad = CT_NEW_ARRAY(r->arena, CtBulk *, inputs);
    for (uint32_t k = 0; k < results; k++)
        if (c[k]) eval(&s, (Cotangent){c[k], 1}, dual->deltas[k]);
    backprop(&s, dual->shares);
    for (uint32_t k = 0; k < inputs; k++) s.out.grad[k] = s.grad[k].c;
    return s.out;
}

/* ---- global sharing to bindings (Fig. 20) ---- */

typedef struct Unsharing {
    CtBulkBuilder *r;
    const CtBulkReverse *reverse;
} Unsharing;

/* Only cotangents contain shares; terms of the primal are returned as they are. */
static CtBulk *unshare(void *data, CtBulk *t) {
    const Unsharing *u = data;
    if (is_atom(t)) return t;
    if (t->kind != BULK_SHARE || t->as.share.id < u->reverse->first) return ct_bulk_map(u->r, t, unshare, data);
    return ct_bulk_var(u->r, u->reverse->shared.items[t->as.share.id - u->reverse->first].var);
}

/* stackLets: from the lowest id to the highest, because a shared term only uses terms shared before it; so each of
 * these has its variable when unshare reaches the use. */
void ct_bulk_stack_lets(CtBulkBuilder *r, CtBulkReverse *reverse, CtBulkGradient *out) {
    Unsharing u = {r, reverse};
    for (uint32_t k = 0; k < reverse->shared.count; k++) {
        CtBulkShared *shared = &reverse->shared.items[k];
        shared->var = ct_bulk_new_var(r, shared->name, shared->term->element, shared->term->shape);
        shared->term = unshare(&u, shared->term);
        ct_push(r->arena, &out->vars, shared->var);
        ct_push(r->arena, &out->terms, shared->term);
    }
}

CtBulk *ct_bulk_unshare(CtBulkBuilder *r, const CtBulkReverse *reverse, CtBulk *t) {
    Unsharing u = {r, reverse};
    return unshare(&u, t);
}

/* ---- forward ---- */

typedef struct Forward {
    CtBulkBuilder *r;
    CtBulkVar *const *tangents;
    CtBulk **known;    /* by id: an atom; NULL: zero */
    CtBulk ***results; /* of loops, by id: the same for each result */
    CtMap *names;
    CtBulkGradient *out;
} Forward;

static CtBulk *forward(Forward *f, CtDelta *d);

static CtBulk *forward_literal(Forward *f, CtDelta *d) {
    uint32_t count = d->as.literal.count;
    CtBulk **items = CT_NEW_ARRAY(f->r->arena, CtBulk *, count);
    CtBulk *none = zero(f->r, ct_bulk_shape_tail(d->shape, 1));
    bool varies = false;
    for (uint32_t k = 0; k < count; k++) {
        CtBulk *item = forward(f, d->as.literal.items[k]);
        items[k] = item ? item : none;
        if (item) varies = true;
    }
    return varies ? ct_bulk_literal(f->r, items, count) : NULL;
}

static CtBulk *forward_select(Forward *f, CtDelta *d) {
    CtBulk *yes = forward(f, d->parts[0]), *no = forward(f, d->parts[1]);
    if (!yes && !no) return NULL;
    CtBulk *none = zero(f->r, d->shape);
    return ct_bulk_cond(f->r, d->as.primal, yes ? yes : none, no ? no : none);
}

/* The tangent that a Delta term denotes: each constructor is interpreted as the operation it is named after. NULL:
 * zero. */
static CtBulk *forward(Forward *f, CtDelta *d) {
    if (!d) return NULL;
    CtBulkBuilder *r = f->r;
    if (d->kind == DELTA_INPUT) return f->tangents[d->as.input] ? ct_bulk_var(r, f->tangents[d->as.input]) : NULL;
    if (d->kind == DELTA_SHARE) return f->known[d->as.share.id];
    if (d->kind == DELTA_RESULT) return f->results[d->parts[0]->as.loop->id][d->as.result];
    if (d->kind == DELTA_LIT_ARRAY) return forward_literal(f, d);
    if (d->kind == DELTA_SELECT) return forward_select(f, d);
    CtBulk *t = forward(f, d->parts[0]);
    if (d->kind == DELTA_ADD) {
        CtBulk *u = forward(f, d->parts[1]);
        return !t ? u : !u ? t : ct_bulk_op2(r, PRIM_ADD, t, u);
    }
    if (!t) return NULL;
    switch (d->kind) {
    case DELTA_SCALE: return ct_bulk_op2(r, PRIM_SCALE, d->as.primal, t);
    case DELTA_INDEX: return ct_bulk_index(r, t, d->as.f.ix, d->as.f.count, d->as.f.live, d->range);
    case DELTA_SUM_OUTER: return ct_bulk_reduce(r, REDUCE_SUM, t, d->range);
    case DELTA_GATHER: return ct_bulk_gather(r, d->shape, t, d->as.f, d->range);
    case DELTA_SCATTER: return ct_bulk_scatter(r, d->shape, t, d->as.f, d->range);
    case DELTA_REPLICATE: return ct_bulk_replicate(r, d->shape.sizes[0], t);
    case DELTA_TRANSPOSE: return ct_bulk_transpose(r, d->as.transpose.permutation, d->as.transpose.count, t);
    case DELTA_RESHAPE: return ct_bulk_reshape(r, d->shape, t);
    case DELTA_ONE_HOT: return ct_bulk_one_hot(r, d->shape, d->as.f.ix, d->as.f.count, t);
    case DELTA_INPUT:
    case DELTA_ADD:
    case DELTA_SELECT:
    case DELTA_SHARE:
    case DELTA_LOOP:
    case DELTA_RESULT:
    case DELTA_LIT_ARRAY: break;
    }
    return NULL;
}

/* Binds the tangent of the variable `name` (NULL: of none) to a name. */
static CtBulk *name_tangent(Forward *f, const char *name, CtBulk *t) {
    if (!t || is_atom(t)) return t;
    const char *base = name ? ct_format(f->r->arena, "d%s", name) : "dt";
    CtBulkVar *var =
        ct_bulk_new_var(f->r, ct_bulk_fresh_name(f->r->arena, f->names, base, !name), t->element, t->shape);
    ct_push(f->r->arena, &f->out->vars, var);
    ct_push(f->r->arena, &f->out->terms, t);
    return ct_bulk_var(f->r, var);
}

static CtBulk *name_for_loop(void *data, const char *name, CtBulk *t) { return name_tangent(data, name, t); }

static void forward_loop(Forward *f, CtDeltaLoop *l) {
    uint32_t params = ct_bulk_loop_params(l->source), results = ct_bulk_loop_results(l->source);
    CtBulk **tangents = CT_NEW_ARRAY(f->r->arena, CtBulk *, params + 1);
    for (uint32_t p = 0; p < params; p++) tangents[p] = name_tangent(f, NULL, forward(f, l->deltas[p]));
    CtLoopSink names = {f, name_for_loop, NULL};
    f->results[l->id] =
        l->by_rule ? ct_bulk_rule_forward(f->r, l, tangents, &names) : ct_bulk_loop_forward(f->r, l, tangents);
    for (uint32_t k = 0; k < results; k++) f->results[l->id][k] = name_tangent(f, l->names[k], f->results[l->id][k]);
}

/* ---- the nodes of a Delta term, parts before what they are parts of ---- */

/* Visits the nodes down to the next shares, which are visited later, because a Delta term may be very deep. */
static void walk(CtDeltaNodes *n, CtDelta *d) {
    if (!d) return;
    if (d->kind == DELTA_SHARE) {
        n->shares[d->as.share.id] = d;
        return;
    }
    if (d->kind == DELTA_LOOP) {
        n->shares[d->as.loop->id] = d;
        return;
    }
    n->count++;
    walk(n, d->parts[0]);
    walk(n, d->parts[1]);
    for (uint32_t k = 0; d->kind == DELTA_LIT_ARRAY && k < d->as.literal.count; k++) walk(n, d->as.literal.items[k]);
}

static CtDeltaNodes nodes_of(CtBulkBuilder *r, const CtBulkDual *dual, uint32_t results) {
    CtDeltaNodes n = {.shares = CT_NEW_ARRAY(r->arena, CtDelta *, dual->shares + 1)};
    for (uint32_t k = 0; k < results; k++) walk(&n, dual->deltas[k]);
    for (uint32_t id = dual->shares; id > 0; id--) {
        const CtDelta *d = n.shares[id];
        if (!d) continue;
        n.count++;
        walk(&n, d->parts[0]);
        for (uint32_t p = 0; d->kind == DELTA_LOOP && p < ct_bulk_loop_params(d->as.loop->source); p++)
            walk(&n, d->as.loop->deltas[p]);
    }
    return n;
}

CtBulk **ct_bulk_forward_pass(CtBulkBuilder *r, CtBulkDual *dual, CtBulkVar *const *tangents, CtBulkGradient *out,
                              uint32_t results) {
    CtDeltaNodes nodes = nodes_of(r, dual, results);
    Forward f = {.r = r, .tangents = tangents, .names = &dual->names, .out = out};
    f.known = CT_NEW_ARRAY(r->arena, CtBulk *, dual->shares + 1);
    f.results = CT_NEW_ARRAY(r->arena, CtBulk **, dual->shares + 1);
    for (uint32_t id = 1; id <= dual->shares; id++) {
        CtDelta *d = nodes.shares[id];
        if (!d) continue;
        if (d->kind == DELTA_LOOP)
            forward_loop(&f, d->as.loop);
        else
            f.known[id] = name_tangent(&f, d->as.share.name, forward(&f, d->parts[0]));
    }
    CtBulk **made = CT_NEW_ARRAY(r->arena, CtBulk *, results + 1);
    for (uint32_t k = 0; k < results; k++) made[k] = forward(&f, dual->deltas[k]);
    return made;
}

/* ---- what depends on the cotangent ---- */

typedef struct Late {
    CtBulkBuilder *r;
    CtMap vars;
    bool found;
} Late;

static CtBulk *find_late(void *data, CtBulk *t) {
    Late *late = data;
    if (t->kind != BULK_VAR) return late->found ? t : ct_bulk_map(late->r, t, find_late, late);
    late->found = late->found || ct_map_has(&late->vars, ct_key(t->as.var));
    return t;
}

CtMap ct_bulk_late(CtBulkBuilder *r, const CtBulkGradient *g, CtBulkVar *cotangent) {
    Late late = {.r = r};
    ct_map_set(r->arena, &late.vars, ct_key(cotangent), cotangent);
    for (uint32_t k = 0; k < g->vars.count; k++) {
        late.found = false;
        find_late(&late, g->terms.items[k]);
        if (late.found) ct_map_set(r->arena, &late.vars, ct_key(g->vars.items[k]), g->vars.items[k]);
    }
    return late.vars;
}

/* ---- both directions ---- */

static CtBulkGradient start(CtBulkBuilder *r, const CtBulkDual *dual, const CtDeltaNodes *n, CtBulkVar *const *inputs,
                            uint32_t count) {
    CtBulkGradient g = {
        .value = dual->primal, .delta = ct_text(r->arena), .graph = ct_text(r->arena), .nodes = n->count};
    for (uint32_t k = 0; k < dual->vars.count; k++) {
        ct_push(r->arena, &g.vars, dual->vars.items[k]);
        ct_push(r->arena, &g.terms, dual->terms.items[k]);
    }
    g.primals = dual->vars.count;
    g.gradient = CT_NEW_ARRAY(r->arena, CtBulk *, count ? count : 1);
    g.shared = CT_NEW_ARRAY(r->arena, CtBulk *, count ? count : 1);
    ct_bulk_delta_print(&g.delta, r, dual, n, inputs);
    ct_bulk_delta_draw(&g.graph, r, dual, n, inputs);
    return g;
}

CtBulkGradient ct_bulk_gradient(CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *inputs, uint32_t count,
                                CtBulkVar *cotangent) {
    CtBulkDual dual = ct_bulk_dual(r, t, inputs, count);
    CtDeltaNodes nodes = nodes_of(r, &dual, 1);
    CtBulkGradient g = start(r, &dual, &nodes, inputs, count);
    ct_bulk_fresh_name(r->arena, &dual.names, cotangent->name, false);
    CtBulk *c = ct_bulk_var(r, cotangent);
    CtBulkReverse reverse = ct_bulk_reverse_pass(r, &dual, count, &c, 1);
    ct_bulk_stack_lets(r, &reverse, &g);
    for (uint32_t k = 0; k < count; k++) {
        if (inputs[k]->element != ELEMENT_REAL) continue;
        g.shared[k] = reverse.grad[k] ? reverse.grad[k] : zero(r, inputs[k]->shape);
        g.gradient[k] = ct_bulk_unshare(r, &reverse, g.shared[k]);
    }
    return g;
}

CtBulkGradient ct_bulk_tangent(CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *inputs, CtBulkVar *const *tangents,
                               uint32_t count) {
    CtBulkDual dual = ct_bulk_dual(r, t, inputs, count);
    CtDeltaNodes nodes = nodes_of(r, &dual, 1);
    CtBulkGradient g = start(r, &dual, &nodes, inputs, 1);
    CtBulk *tangent = ct_bulk_forward_pass(r, &dual, tangents, &g, 1)[0];
    g.gradient[0] = tangent ? tangent : zero(r, t->shape);
    return g;
}
