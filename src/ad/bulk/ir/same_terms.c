/* Whether two terms are the same, but for the names of what is bound inside. */
#include "ad/bulk/ir/bulk.h"

/* Corresponding binders of the two terms, innermost last. */
typedef struct Pairs {
    const CtBulkVar *a, *b;
    const struct Pairs *outer;
} Pairs;

static bool same_var(const CtBulkVar *a, const CtBulkVar *b, const Pairs *pairs) {
    for (; pairs; pairs = pairs->outer)
        if (pairs->a == a || pairs->b == b) return pairs->a == a && pairs->b == b;
    return a == b;
}

static bool same(CtBulk *a, CtBulk *b, const Pairs *pairs);

static bool same_constant(const CtBulk *a, const CtBulk *b) {
    int64_t count = ct_bulk_shape_count(a->shape);
    bool splat = !a->as.constant.reals && !a->as.constant.integers && !b->as.constant.reals && !b->as.constant.integers;
    for (int64_t i = 0; i < (splat ? 1 : count); i++) {
        double x = a->as.constant.reals ? a->as.constant.reals[i] : a->as.constant.real;
        double y = b->as.constant.reals ? b->as.constant.reals[i] : b->as.constant.real;
        int64_t m = a->as.constant.integers ? a->as.constant.integers[i] : a->as.constant.integer;
        int64_t n = b->as.constant.integers ? b->as.constant.integers[i] : b->as.constant.integer;
        if (a->element == ELEMENT_REAL ? memcmp(&x, &y, sizeof x) != 0 : m != n) return false;
    }
    return true;
}

static bool same_function(const CtIndexing *f, const CtIndexing *g, uint32_t k, const Pairs *pairs) {
    if (k < f->var_count) {
        Pairs inner = {f->vars[k], g->vars[k], pairs};
        return same_function(f, g, k + 1, &inner);
    }
    for (uint32_t i = 0; i < f->count; i++)
        if (!same(f->ix[i], g->ix[i], pairs)) return false;
    if (!f->live || !g->live) return f->live == g->live;
    return same(f->live, g->live, pairs);
}

static bool same_parts(CtBulk *const *a, CtBulk *const *b, uint32_t count, const Pairs *pairs) {
    for (uint32_t k = 0; k < count; k++)
        if (!same(a[k], b[k], pairs)) return false;
    return true;
}

static bool same(CtBulk *a, CtBulk *b, const Pairs *pairs) {
    if (a->kind != b->kind || a->element != b->element || !ct_bulk_shape_equal(a->shape, b->shape)) return false;
    switch (a->kind) {
    case BULK_CONST: return same_constant(a, b);
    case BULK_VAR: return same_var(a->as.var, b->as.var, pairs);
    case BULK_LET: {
        Pairs inner = {a->as.let.var, b->as.let.var, pairs};
        return same(a->as.let.rhs, b->as.let.rhs, pairs) && same(a->as.let.body, b->as.let.body, &inner);
    }
    case BULK_COND:
        return same(a->as.cond.test, b->as.cond.test, pairs) && same(a->as.cond.yes, b->as.cond.yes, pairs) &&
               same(a->as.cond.no, b->as.cond.no, pairs);
    case BULK_OP:
        return a->as.op.prim == b->as.op.prim && same_parts(a->as.op.args, b->as.op.args, a->as.op.count, pairs);
    case BULK_LOGIC:
        return a->as.logic.logic == b->as.logic.logic &&
               same_parts(a->as.logic.args, b->as.logic.args, a->as.logic.logic == LOGIC_NOT ? 1 : 2, pairs);
    case BULK_REDUCE:
        return a->as.reduce.reduction == b->as.reduce.reduction && same(a->as.reduce.t, b->as.reduce.t, pairs);
    case BULK_INDEX:
    case BULK_GATHER:
    case BULK_SCATTER:
    case BULK_ONE_HOT:
        return a->as.move.f.var_count == b->as.move.f.var_count && a->as.move.f.count == b->as.move.f.count &&
               same(a->as.move.t, b->as.move.t, pairs) && same_function(&a->as.move.f, &b->as.move.f, 0, pairs);
    case BULK_LITERAL: return same_parts(a->as.literal.items, b->as.literal.items, a->as.literal.count, pairs);
    case BULK_REPLICATE:
    case BULK_STOP:
    case BULK_RESHAPE: return same(a->as.t, b->as.t, pairs);
    case BULK_TRANSPOSE:
        if (a->as.transpose.count != b->as.transpose.count || !same(a->as.transpose.t, b->as.transpose.t, pairs))
            return false;
        for (uint32_t k = 0; k < a->as.transpose.count; k++)
            if (a->as.transpose.permutation[k] != b->as.transpose.permutation[k]) return false;
        return true;
    case BULK_BUILD: {
        Pairs inner = {a->as.build.var, b->as.build.var, pairs};
        return same(a->as.build.body, b->as.build.body, &inner);
    }
    case BULK_SHARE: return a->as.share.id == b->as.share.id;
    case BULK_CHECK:
        return a->as.check.code == b->as.check.code && a->as.check.text == b->as.check.text &&
               same(a->as.check.test, b->as.check.test, pairs) && same(a->as.check.t, b->as.check.t, pairs);
    case BULK_LOOP:
        return a->as.loop.loop == b->as.loop.loop && a->as.loop.result == b->as.loop.result &&
               same_parts(a->as.loop.args, b->as.loop.args, ct_bulk_loop_params(a->as.loop.loop), pairs);
    }
    return false;
}

bool ct_bulk_same(CtBulk *a, CtBulk *b) { return same(a, b, NULL); }

typedef struct Exchange {
    CtBulkBuilder *r;
    CtBulk *from, *to;
} Exchange;

static CtBulk *exchange(void *data, CtBulk *t) {
    Exchange *e = data;
    return t == e->from || ct_bulk_same(t, e->from) ? e->to : ct_bulk_map(e->r, t, exchange, e);
}

CtBulk *ct_bulk_exchange(CtBulkBuilder *r, CtBulk *t, CtBulk *from, CtBulk *to) {
    return exchange(&(Exchange){r, from, to}, t);
}

bool ct_bulk_same_loop(const CtBulk *t, const CtBulk *u) {
    if (u->kind != BULK_LOOP || t->as.loop.loop != u->as.loop.loop) return false;
    return same_parts(t->as.loop.args, u->as.loop.args, ct_bulk_loop_params(t->as.loop.loop), NULL);
}
