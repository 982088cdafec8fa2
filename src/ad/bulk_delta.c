/* Stage 3 of BULK 2025: the passes over symbolic Delta terms. The reverse pass with global sharing (Figs. 17 and 19), and sharing
 * turned into bindings (Fig. 20); the forward evaluation of the same terms, which has let bindings from the start.
 *
 * Names: of a Delta term that belongs to the variable x, the cotangent is x_adj and the tangent dx. What belongs to no
 * variable of the program is called `shared` and `dt`.
 */
#include "ad/bulk_delta.h"

/* ---- the reverse pass ---- */

/* A cotangent. Where one has grown this deep it is shared, as in §7.3 (1), though used once: whoever walks terms recurses. */
enum { DEPTH_LIMIT = 24 };

typedef struct Cotangent {
    CtBulk *c; /* NULL: none has arrived */
    uint32_t depth;
} Cotangent;

/* What unshare has found: IDAST ↦ (var, t'). */
typedef struct Shared {
    CtBulkVar *var;
    CtBulk *term;
} Shared;

/* ES of Fig. 19. The maps are arrays, since their keys are numbers that were given out in order. */
typedef struct State {
    CtBulkRoom *r;
    Cotangent *grad;        /* by input */
    CtDelta **dfrag;        /* by id: the Share node */
    Cotangent *accum;       /* by id */
    uint32_t first;         /* r->shares at the start */
    CT_VEC(const char *) names; /* of what is shared, by IDAST − first */
    CT_VEC(Shared) shared;  /* by IDAST − first: for unshare */
    const char *name;       /* of the node that is being evaluated */
} State;

static bool is_atom(const CtBulk *t) { return t->kind == BULK_VAR || t->kind == BULK_CONST; }

/* insertWith (+) */
static void contribute(State *s, Cotangent *place, Cotangent c) {
    if (place->c) {
        c.c = ct_bulk_op2(s->r, PRIM_ADD, c.c, place->c);
        c.depth = (c.depth > place->depth ? c.depth : place->depth) + 1;
    }
    *place = c;
}

/* id ← genID_AST; share id c */
static Cotangent share(State *s, Cotangent c) {
    if (is_atom(c.c) || c.c->kind == BULK_SHARE) return c;
    ct_push(s->r->arena, &s->names, s->name ? ct_format(s->r->arena, "%s_adj", s->name) : "shared");
    return (Cotangent){ct_bulk_share(s->r, s->r->shares++, c.c), 1};
}

static Cotangent over(Cotangent c, CtBulk *made) { return (Cotangent){made, c.depth + 1}; }

static CtBulk *zero(CtBulkRoom *r, CtShape shape) { return ct_bulk_real(r, -0.0, shape); }

static CtBulk *transpose_back(CtBulkRoom *r, const CtDelta *d, CtBulk *c) {
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
            eval(s, over(c, ct_bulk_index(s->r, c.c, &ix, 1, NULL, d->span)), d->as.literal.items[k]);
    }
}

/* The cotangent goes to the side that was taken; the other gets the structural zero. */
static void eval_select(State *s, Cotangent c, CtDelta *d) {
    c = share(s, c);
    CtBulk *none = zero(s->r, d->shape);
    eval(s, over(c, ct_bulk_cond(s->r, d->as.primal, c.c, none)), d->parts[0]);
    eval(s, over(c, ct_bulk_cond(s->r, d->as.primal, none, c.c)), d->parts[1]);
}

static void eval(State *s, Cotangent c, CtDelta *d) {
    if (!d) return;
    CtBulkRoom *r = s->r;
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
    case DELTA_GATHER: eval(s, over(c, ct_bulk_scatter(r, e->shape, c.c, d->as.f, d->span)), e); return;
    case DELTA_SCATTER: eval(s, over(c, ct_bulk_gather(r, e->shape, c.c, d->as.f, d->span)), e); return;
    case DELTA_LIT_ARRAY: eval_literal(s, c, d); return;
    case DELTA_REPLICATE: eval(s, over(c, ct_bulk_reduce(r, REDUCE_SUM, c.c, d->span)), e); return;
    case DELTA_TRANSPOSE: eval(s, over(c, transpose_back(r, d, c.c)), e); return;
    case DELTA_RESHAPE: eval(s, over(c, ct_bulk_reshape(r, e->shape, c.c)), e); return;
    case DELTA_ONE_HOT:
        eval(s, over(c, ct_bulk_index(r, c.c, d->as.f.ix, d->as.f.count, d->as.f.live, d->span)), e);
        return;
    }
}

/* The largest id that is left goes first: nothing can contribute to it any more. */
static void backprop(State *s, uint32_t count) {
    for (uint32_t id = count; id > 0; id--) {
        CtDelta *d = s->dfrag[id];
        if (!d) continue;
        s->name = d->as.share.name;
        Cotangent c = s->accum[id];
        if (c.depth > DEPTH_LIMIT) c = share(s, c);
        eval(s, c, d->parts[0]);
    }
}

/* ---- global sharing to bindings (Fig. 20) ---- */

/* Shares stand on cotangents alone, so the terms of the primal, which hold none, come back as they are. */
static CtBulk *unshare(void *data, CtBulk *t) {
    State *s = data;
    if (is_atom(t)) return t;
    if (t->kind != BULK_SHARE || t->as.share.id < s->first) return ct_bulk_map(s->r, t, unshare, s);
    Shared *known = &s->shared.items[t->as.share.id - s->first];
    if (!known->var) {
        known->var = ct_bulk_new_var(s->r, s->names.items[t->as.share.id - s->first], t->element, t->shape);
        CtBulk *term = unshare(s, t->as.share.t);
        s->shared.items[t->as.share.id - s->first].term = term;
    }
    return ct_bulk_var(s->r, s->shared.items[t->as.share.id - s->first].var);
}

/* stackLets: from the lowest to the highest, since what a shared term mentions was shared before it. Those first, then: walking
 * them in order keeps unshare from recursing through all of them. */
static void unshare_all(State *s, const CtDelta *root, uint32_t inputs) {
    (void)root;
    for (uint32_t k = 0; k < s->names.count; k++) ct_push(s->r->arena, &s->shared, (Shared){NULL, NULL});
    for (uint32_t k = 0; k < inputs; k++)
        if (s->grad[k].c) s->grad[k].c = unshare(s, s->grad[k].c);
}

/* ---- the Delta term as text ---- */

typedef struct Printer {
    CtText *out;
    CtBulkRoom *r;
    CtBulkVar *const *inputs;
    bool *met; /* by id */
    uint32_t nodes;
} Printer;
