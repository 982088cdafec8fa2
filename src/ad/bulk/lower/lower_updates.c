/* One element that changes. BULK has no update: what a program updates is `cond (is = i) v xs` for each index, and what
 * an index gives back is `oneHot ix x`, added. Both are a whole array each time; as `update`, which is done in place
 * where nobody else holds the array, they take a step. In a loop that is the difference between linear and quadratic.
 */
#include "ad/bulk/lower/internal.h"

static const CtShape scalar = {0, NULL};

/* The i of [0, …, n − 1] == replicate n i, as a term of rank 0; NULL when t is no such test. */
static CtBulk *marked(CtLower *l, CtBulk *t) {
    if (t->kind != BULK_OP || t->as.op.prim != PRIM_INT_EQ || t->shape.rank != 1) return NULL;
    for (int k = 0; k < 2; k++) {
        CtBulk *numbers = t->as.op.args[k];
        if (numbers->kind != BULK_CONST || !ct_bulk_lower_is_iota(numbers, t->shape.sizes[0])) continue;
        return ct_bulk_lower_uniform(l, t->as.op.args[1 - k]);
    }
    return NULL;
}

static CtCore *number(CtLower *l, CtSourceRange range, int64_t value) { return ct_bulk_lower_int(l, range, value); }

/* if 0 ≤ at < n then changed else xs; the first test alone where `below` is known to hold. */
static CtCore *where_inside(CtLower *l, CtSourceRange range, CtCore *at, int64_t n, bool below, CtCore *changed,
                            CtCore *xs) {
    CtCore *from_zero = ct_bulk_lower_op(l, range, PRIM_INT_LE, number(l, range, 0), at);
    if (!below) {
        CtCore *test = ct_bulk_lower_op(l, range, PRIM_INT_LT, at, number(l, range, n));
        changed = ct_core_if(l->p, range, test, changed, xs);
    }
    return ct_core_if(l->p, range, from_zero, changed, xs);
}

CtCore *ct_bulk_lower_update(CtLower *l, CtBulk *t) {
    CtSourceRange range = t->range;
    CtBulk *i = t->shape.rank == 1 ? marked(l, t->as.cond.test) : NULL;
    if (i == NULL) return NULL;
    int64_t n = t->shape.sizes[0];
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtCore *at = ct_ad_seq_name(&seq, "at", ct_bulk_lower_term(l, i));
    CtBulk *same = ct_bulk_lower_uniform(l, t->as.cond.yes);
    CtCore *value = same != NULL ? ct_bulk_lower_item(l, t->element, ct_bulk_lower_term(l, same))
                                 : ct_bulk_lower_term(l, t->as.cond.yes);
    value = ct_ad_seq_name(&seq, same != NULL ? "x" : "xs", value);
    CtCore *xs = ct_ad_seq_name(&seq, "xs", ct_bulk_lower_term(l, t->as.cond.no));
    if (same == NULL) value = ct_bulk_lower_array(l, range, ARRAY_INDEX, value, at, NULL);
    CtCore *changed = ct_bulk_lower_array(l, range, ARRAY_UPDATE, xs, at, value);
    bool inside = ct_bulk_is_inside(&l->facts, i, n);
    return ct_ad_seq_close(&seq, inside ? changed : where_inside(l, range, at, n, false, changed, xs));
}

static bool is_hot(const CtBulk *t) {
    return t->kind == BULK_ONE_HOT && t->shape.rank > 0 && t->as.move.f.count == t->shape.rank;
}

CtCore *ct_bulk_lower_add_one(CtLower *l, CtBulk *t) {
    CtBulk *hot = t->as.op.args[0], *rest = t->as.op.args[1];
    if (t->as.op.prim != PRIM_ADD && t->as.op.prim != PRIM_INT_ADD) return NULL;
    if (!is_hot(hot)) {
        hot = t->as.op.args[1];
        rest = t->as.op.args[0];
        /* What is added is evaluated first, so that it may still read the array; errors must keep their order. */
        if (!is_hot(hot) || (!ct_bulk_is_safe(&l->facts, hot) && !ct_bulk_is_safe(&l->facts, rest))) return NULL;
    }
    CtSourceRange range = t->range;
    CtIndexing f = hot->as.move.f;
    f.live = ct_bulk_bool(l->r, false, scalar);
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtCore *x = ct_ad_seq_name(&seq, "x", ct_bulk_lower_term(l, hot->as.move.t));
    CtCore *at = ct_ad_seq_name(&seq, "at", ct_bulk_lower_position(l, &f, hot->shape, range));
    CtCore *xs = ct_ad_seq_name(&seq, "xs", ct_bulk_lower_term(l, rest));
    CtCore *old = ct_bulk_lower_array(l, range, ARRAY_INDEX, xs, at, NULL);
    CtCore *changed =
        ct_bulk_lower_array(l, range, ARRAY_UPDATE, xs, at, ct_bulk_lower_op(l, range, t->as.op.prim, old, x));
    if (!ct_bulk_never_misses(&l->facts, &f, hot->shape)) changed = where_inside(l, range, at, 0, true, changed, xs);
    return ct_ad_seq_close(&seq, changed);
}
