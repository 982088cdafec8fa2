/* Simplification rules for updates. The program's update is cond ([0, …, n − 1] == replicate n i) v xs; its adjoint is
 * the cotangent at i, for v, and the cotangent with a zero there, for xs. Under a branch of the program each of these
 * is zero on one side. These rules give them a form that is done in place (lower_updates.c). */
#include "ad/bulk/rewrite/simplify.h"

/* ---- branches around updates ---- */

/* cond b u 0 + cond b 0 v = cond b u v */
static CtBulk *two_sides(CtSimplifier *s, CtBulk *a, CtBulk *b) {
    const CtBulk *x = ct_bulk_simplify_known(s, a), *y = ct_bulk_simplify_known(s, b);
    if (x->kind != BULK_COND || y->kind != BULK_COND || !ct_bulk_same(x->as.cond.test, y->as.cond.test)) return NULL;
    if (ct_bulk_is_splat_real(x->as.cond.yes, -0.0) && ct_bulk_is_splat_real(y->as.cond.no, -0.0)) {
        const CtBulk *swap = x;
        x = y;
        y = swap;
    }
    if (!ct_bulk_is_splat_real(x->as.cond.no, -0.0) || !ct_bulk_is_splat_real(y->as.cond.yes, -0.0)) return NULL;
    return ct_bulk_simplify_emit(s, ct_bulk_cond(s->r, x->as.cond.test, x->as.cond.yes, y->as.cond.no));
}

enum { TERMS_LIMIT = 16 };

/* The same in sums of several terms: a + (c + (d + …)). */
CtBulk *ct_bulk_simplify_sides_sum(CtSimplifier *s, CtBulk *a, CtBulk *b) {
    CtBulk *skipped[TERMS_LIMIT], *made = two_sides(s, a, b);
    if (ct_bulk_simplify_known(s, a)->kind != BULK_COND) return made;
    for (uint32_t k = 0; !made && k < TERMS_LIMIT; k++) {
        const CtBulk *known = ct_bulk_simplify_known(s, b);
        if (known->kind != BULK_OP || known->as.op.prim != PRIM_ADD) return NULL;
        CtBulk *first = known->as.op.args[0], *rest = known->as.op.args[1];
        CtBulk *both = two_sides(s, a, first);
        made = both ? ct_bulk_simplify_emit(s, ct_bulk_op2(s->r, PRIM_ADD, both, rest)) : two_sides(s, a, rest);
        if (!both) skipped[k] = first;
        for (uint32_t j = both ? k : k + 1; made && j-- > 0;)
            made = ct_bulk_simplify_emit(s, ct_bulk_op2(s->r, PRIM_ADD, skipped[j], made));
        b = rest;
    }
    return made;
}

/* The parts of a branch that is 0, or is 0 on one side of a test of rank 0. */
typedef struct Side {
    CtBulk *test; /* NULL: it is 0 */
    bool zero_no; /* on which side */
    CtBulk *other;
} Side;

static bool take_side(const CtSimplifier *s, CtBulk *t, Side *out) {
    const CtBulk *known = ct_bulk_simplify_known(s, t);
    *out = (Side){.other = t};
    if (ct_bulk_is_splat_real(t, -0.0)) return true;
    if (known->kind != BULK_COND || known->as.cond.test->shape.rank) return false;
    out->test = known->as.cond.test;
    out->zero_no = ct_bulk_is_splat_real(known->as.cond.no, -0.0);
    out->other = out->zero_no ? known->as.cond.yes : known->as.cond.no;
    return out->zero_no || ct_bulk_is_splat_real(known->as.cond.yes, -0.0);
}

/* cond c (cond b u 0) (cond b v 0) = cond b (cond c u v) 0, where b is of rank 0. If c is an array, a branch may be 0.
 * So a branch around an update comes to the outside, where two_sides finds it. */
CtBulk *ct_bulk_simplify_sides(CtSimplifier *s, CtBulk *t) {
    Side yes, no;
    if (t->element != ELEMENT_REAL || !take_side(s, t->as.cond.yes, &yes) || !take_side(s, t->as.cond.no, &no))
        return NULL;
    if (!yes.test && !no.test) return NULL;
    if ((!yes.test || !no.test) && !t->as.cond.test->shape.rank) return NULL;
    const Side *side = yes.test ? &yes : &no;
    if (yes.test && no.test && (yes.zero_no != no.zero_no || !ct_bulk_same(yes.test, no.test))) return NULL;
    CtBulk *zero = ct_bulk_zero(s->r, t->element, t->shape);
    CtBulk *made = ct_bulk_simplify_emit(s, ct_bulk_cond(s->r, t->as.cond.test, yes.other, no.other));
    return ct_bulk_simplify_emit(s, side->zero_no ? ct_bulk_cond(s->r, side->test, made, zero)
                                                  : ct_bulk_cond(s->r, side->test, zero, made));
}

/* ---- the cotangent of what is updated ---- */

CtBulk *ct_bulk_simplify_marked(CtSimplifier *s, CtBulk *t) {
    const CtBulk *test = ct_bulk_simplify_known(s, t);
    if (test->kind != BULK_OP || test->as.op.prim != PRIM_INT_EQ || test->shape.rank != 1) return NULL;
    for (int k = 0; k < 2; k++) {
        CtBulk *other = test->as.op.args[1 - k];
        const CtBulk *numbers = ct_bulk_simplify_known(s, test->as.op.args[k]);
        const CtBulk *known = ct_bulk_simplify_known(s, other);
        if (numbers->kind != BULK_CONST || !ct_bulk_is_iota(numbers, test->shape.sizes[0])) continue;
        if (ct_bulk_is_splat(other)) return ct_bulk_splat_as(s->r, other, (CtShape){0, NULL});
        return known->kind == BULK_REPLICATE ? known->as.t : NULL;
    }
    return NULL;
}

/* sumOuter (cond ([0, …, k − 1] == replicate k i) c 0) = index c [i], or 0 if that is outside: the adjoint of an
 * updated element. */
static CtBulk *sum_of_one(CtSimplifier *s, const CtBulk *t) {
    const CtBulk *u = ct_bulk_simplify_known(s, t->as.reduce.t);
    if (u->kind != BULK_COND || !ct_bulk_is_splat_real(u->as.cond.no, -0.0)) return NULL;
    CtBulk *i = ct_bulk_simplify_marked(s, u->as.cond.test);
    if (!i) return NULL;
    bool inside = ct_bulk_is_inside(&s->ranges, i, u->shape.sizes[0]);
    CtBulk *live = inside ? NULL : ct_bulk_bool(s->r, false, (CtShape){0, NULL});
    return ct_bulk_simplify_emit(s, ct_bulk_index(s->r, u->as.cond.yes, &i, 1, live, t->range));
}

/* sumOuter (tr (cond (replicate k ([0, …, n − 1] == replicate n i)) c 0)) = gather c (λ[j]. [j, i]): the same for k
 * arrays at once. */
static CtBulk *sum_of_ones(CtSimplifier *s, const CtBulk *t) {
    const CtBulk *whole = ct_bulk_simplify_known(s, t->as.reduce.t);
    bool swaps =
        whole->kind == BULK_TRANSPOSE && whole->as.transpose.count == 2 && whole->as.transpose.permutation[0] == 1;
    const CtBulk *u = swaps ? ct_bulk_simplify_known(s, whole->as.transpose.t) : whole;
    if (!swaps || u->kind != BULK_COND || !ct_bulk_is_splat_real(u->as.cond.no, -0.0)) return NULL;
    const CtBulk *test = ct_bulk_simplify_known(s, u->as.cond.test);
    CtBulk *i = test->kind == BULK_REPLICATE ? ct_bulk_simplify_marked(s, test->as.t) : NULL;
    if (!i) return NULL;
    bool inside = ct_bulk_is_inside(&s->ranges, i, u->shape.sizes[1]);
    CtBulkVar **var = CT_NEW(s->r->arena, CtBulkVar *);
    CtBulk **ix = CT_NEW_ARRAY(s->r->arena, CtBulk *, 2);
    *var = ct_bulk_new_var(s->r, "j", ELEMENT_INT, (CtShape){0, NULL});
    ct_bulk_note_var(&s->ranges, *var, (CtRange){0, u->shape.sizes[0] - 1});
    ix[0] = ct_bulk_var(s->r, *var);
    ix[1] = i;
    CtIndexing f = {.vars = var, .var_count = 1, .ix = ix, .count = 2};
    if (!inside) f.live = ct_bulk_bool(s->r, false, (CtShape){0, NULL});
    return ct_bulk_simplify_emit(s, ct_bulk_gather(s->r, t->shape, u->as.cond.yes, f, t->range));
}

/* sumOuter (cond b t 0) = cond b (sumOuter t) 0, where b is of rank 0 */
static CtBulk *sum_of_side(CtSimplifier *s, const CtBulk *t) {
    const CtBulk *u = ct_bulk_simplify_known(s, t->as.reduce.t);
    if (u->kind != BULK_COND || u->as.cond.test->shape.rank || t->element != ELEMENT_REAL) return NULL;
    CtBulk *sides[2] = {u->as.cond.yes, u->as.cond.no};
    if (!ct_bulk_is_splat_real(sides[0], -0.0) && !ct_bulk_is_splat_real(sides[1], -0.0)) return NULL;
    for (int k = 0; k < 2; k++)
        sides[k] = ct_bulk_is_splat_real(sides[k], -0.0)
                       ? ct_bulk_zero(s->r, t->element, t->shape)
                       : ct_bulk_simplify_emit(s, ct_bulk_reduce(s->r, REDUCE_SUM, sides[k], t->range));
    return ct_bulk_simplify_emit(s, ct_bulk_cond(s->r, u->as.cond.test, sides[0], sides[1]));
}

CtBulk *ct_bulk_simplify_sum_of_update(CtSimplifier *s, const CtBulk *t) {
    bool some = t->as.reduce.t->shape.sizes[0] > 1;
    CtBulk *made = some ? sum_of_one(s, t) : NULL;
    if (!made && some) made = sum_of_ones(s, t);
    return made ? made : sum_of_side(s, t);
}
