/* Simplification rules for arithmetic, conditionals, reductions and shapes. A rule returns an atom with the same value,
 * to the last bit, except that sums of equal terms may differ in the last bit. −0.0, the structural zero, is neutral in
 * additions and absorbing in `scale`. */
#include "ad/bulk/rewrite/simplify.h"

#include "rt/scalar.h"

/* ---- constants ---- */

bool ct_bulk_is_splat(const CtBulk *t) {
    return t->kind == BULK_CONST && !t->as.constant.reals && !t->as.constant.integers;
}

bool ct_bulk_is_splat_real(const CtBulk *t, double value) {
    return ct_bulk_is_splat(t) && t->element == ELEMENT_REAL && memcmp(&t->as.constant.real, &value, sizeof value) == 0;
}

bool ct_bulk_is_known_int(const CtBulk *t, int64_t *value) {
    *value = t->as.constant.integer;
    return ct_bulk_is_splat(t) && t->element == ELEMENT_INT;
}

bool ct_bulk_is_known_bool(const CtBulk *t, bool *value) {
    *value = t->as.constant.integer != 0;
    return ct_bulk_is_splat(t) && t->element == ELEMENT_BOOL;
}

CtBulk *ct_bulk_zero(CtBulkBuilder *r, CtElement element, CtShape shape) {
    if (element == ELEMENT_REAL) return ct_bulk_real(r, -0.0, shape);
    return element == ELEMENT_INT ? ct_bulk_int(r, 0, shape) : ct_bulk_bool(r, false, shape);
}

CtBulk *ct_bulk_splat_as(CtBulkBuilder *r, const CtBulk *t, CtShape shape) {
    if (t->element == ELEMENT_REAL) return ct_bulk_real(r, t->as.constant.real, shape);
    if (t->element == ELEMENT_INT) return ct_bulk_int(r, t->as.constant.integer, shape);
    return ct_bulk_bool(r, t->as.constant.integer != 0, shape);
}

static CtBulk *rule_constant(CtSimplifier *s, const CtBulk *t) {
    int64_t count = ct_bulk_shape_count(t->shape);
    const double *reals = t->as.constant.reals;
    const int64_t *integers = t->as.constant.integers;
    if (count == 0) return ct_bulk_zero(s->r, t->element, t->shape);
    for (int64_t i = 1; i < count; i++)
        if (reals ? memcmp(&reals[i], &reals[0], sizeof *reals) != 0 : integers[i] != integers[0]) return NULL;
    if (t->element == ELEMENT_REAL) return ct_bulk_real(s->r, reals[0], t->shape);
    if (t->element == ELEMENT_INT) return ct_bulk_int(s->r, integers[0], t->shape);
    return ct_bulk_bool(s->r, integers[0] != 0, t->shape);
}

/* ---- arithmetic ---- */

static CtBulk *fold_ints(CtSimplifier *s, const CtBulk *t, int64_t a, int64_t b) {
    CtShape shape = t->shape;
    switch (t->as.op.prim) {
    case PRIM_INT_ADD: return ct_bulk_int(s->r, ct_wrap_add(a, b), shape);
    case PRIM_INT_SUB: return ct_bulk_int(s->r, ct_wrap_sub(a, b), shape);
    case PRIM_INT_MUL: return ct_bulk_int(s->r, ct_wrap_mul(a, b), shape);
    case PRIM_INT_NEGATE: return ct_bulk_int(s->r, ct_wrap_sub(0, a), shape);
    case PRIM_INT_MIN: return ct_bulk_int(s->r, ct_int_min(a, b), shape);
    case PRIM_INT_MAX: return ct_bulk_int(s->r, ct_int_max(a, b), shape);
    case PRIM_INT_DIV: return b ? ct_bulk_int(s->r, ct_int_div(a, b), shape) : NULL;
    case PRIM_INT_MOD: return b ? ct_bulk_int(s->r, ct_int_mod(a, b), shape) : NULL;
    case PRIM_INT_QUOT: return b ? ct_bulk_int(s->r, ct_int_quot(a, b), shape) : NULL;
    case PRIM_INT_REM: return b ? ct_bulk_int(s->r, ct_int_rem(a, b), shape) : NULL;
    case PRIM_INT_EQ: return ct_bulk_bool(s->r, a == b, shape);
    case PRIM_INT_LT: return ct_bulk_bool(s->r, a < b, shape);
    case PRIM_INT_LE: return ct_bulk_bool(s->r, a <= b, shape);
    case PRIM_TO_DOUBLE: return ct_bulk_real(s->r, (double)a, shape);
    default: return NULL;
    }
}

static CtBulk *fold(CtSimplifier *s, const CtBulk *t) {
    const CtPrimInfo *info = ct_prim_info(t->as.op.prim);
    const CtBulk *a = t->as.op.args[0], *b = t->as.op.count > 1 ? t->as.op.args[1] : a;
    if (!ct_bulk_is_splat(a) || !ct_bulk_is_splat(b)) return NULL;
    if (a->element == ELEMENT_INT) return fold_ints(s, t, a->as.constant.integer, b->as.constant.integer);
    if (info->result == 'I') return NULL;
    double value = ct_prim_value(t->as.op.prim, a->as.constant.real, b->as.constant.real);
    return t->element == ELEMENT_REAL ? ct_bulk_real(s->r, value, t->shape) : ct_bulk_bool(s->r, value != 0, t->shape);
}

/* Comparisons that ranges decide. */
static CtBulk *compare(CtSimplifier *s, const CtBulk *t, CtBulk *a, CtBulk *b) {
    CtRange x = ct_bulk_range(&s->ranges, a), y = ct_bulk_range(&s->ranges, b);
    if (x.low > x.high || y.low > y.high) return NULL;
    if (t->as.op.prim == PRIM_INT_LT && x.high < y.low) return ct_bulk_bool(s->r, true, t->shape);
    if (t->as.op.prim == PRIM_INT_LT && x.low >= y.high) return ct_bulk_bool(s->r, false, t->shape);
    if (t->as.op.prim == PRIM_INT_LE && x.high <= y.low) return ct_bulk_bool(s->r, true, t->shape);
    if (t->as.op.prim == PRIM_INT_LE && x.low > y.high) return ct_bulk_bool(s->r, false, t->shape);
    if (t->as.op.prim == PRIM_INT_EQ && (x.high < y.low || x.low > y.high)) return ct_bulk_bool(s->r, false, t->shape);
    return NULL;
}

/* Sums such as a + (b + c) with b and c, or a and b, known are folded for Ints only, because sums of reals round. */
static CtBulk *sum_of_ints(CtSimplifier *s, CtBulk *t, CtBulk *a, CtBulk *b) {
    int64_t m, n;
    const CtBulk *known = ct_bulk_simplify_known(s, a);
    if (!ct_bulk_is_known_int(b, &n) || known->kind != BULK_OP || known->as.op.count != 2) return NULL;
    CtPrim outer = t->as.op.prim, inner = known->as.op.prim;
    if (outer == PRIM_INT_SUB) n = ct_wrap_sub(0, n);
    CtBulk *x = known->as.op.args[0], *y = known->as.op.args[1];
    if ((inner == PRIM_INT_ADD || inner == PRIM_INT_SUB) && ct_bulk_is_known_int(y, &m)) {
        if (inner == PRIM_INT_SUB) m = ct_wrap_sub(0, m);
    } else if ((inner == PRIM_INT_ADD || inner == PRIM_INT_SUB) && ct_bulk_is_known_int(x, &m)) {
        CtBulk *sum = ct_bulk_int(s->r, ct_wrap_add(m, n), t->shape);
        return ct_bulk_simplify_emit(s, ct_bulk_op2(s->r, inner, sum, y));
    } else {
        return NULL;
    }
    int64_t sum = ct_wrap_add(m, n);
    bool minus = sum < 0 && sum != INT64_MIN;
    CtBulk *by = ct_bulk_int(s->r, minus ? -sum : sum, t->shape);
    return ct_bulk_simplify_emit(s, ct_bulk_op2(s->r, minus ? PRIM_INT_SUB : PRIM_INT_ADD, x, by));
}

static CtBulk *rule_ints(CtSimplifier *s, CtBulk *t, CtBulk *a, CtBulk *b) {
    int64_t n;
    bool zero_a = ct_bulk_is_known_int(a, &n) && n == 0, one_a = ct_bulk_is_known_int(a, &n) && n == 1;
    bool zero_b = ct_bulk_is_known_int(b, &n) && n == 0, one_b = ct_bulk_is_known_int(b, &n) && n == 1;
    switch (t->as.op.prim) {
    case PRIM_INT_ADD:
        if (zero_a) return b;
        if (zero_b) return a;
        return ct_bulk_is_splat(a) ? ct_bulk_simplify_emit(s, ct_bulk_op2(s->r, PRIM_INT_ADD, b, a))
                                   : sum_of_ints(s, t, a, b);
    case PRIM_INT_SUB: return zero_b ? a : sum_of_ints(s, t, a, b);
    case PRIM_INT_MUL:
        if (zero_a || one_b) return a;
        if (zero_b || one_a) return b;
        return NULL;
    case PRIM_INT_DIV:
    case PRIM_INT_QUOT: return one_b ? a : NULL;
    case PRIM_INT_MOD:
    case PRIM_INT_REM: {
        CtRange x = ct_bulk_range(&s->ranges, a);
        return ct_bulk_is_known_int(b, &n) && x.low >= 0 && x.high < n ? a : NULL;
    }
    case PRIM_INT_MIN:
    case PRIM_INT_MAX: {
        CtRange x = ct_bulk_range(&s->ranges, a), y = ct_bulk_range(&s->ranges, b);
        bool is_min = t->as.op.prim == PRIM_INT_MIN;
        if (x.high <= y.low) return is_min ? a : b;
        return y.high <= x.low ? (is_min ? b : a) : NULL;
    }
    default: return compare(s, t, a, b);
    }
}

/* scale p (cond b c 0) = cond b (scale p c) 0 */
static CtBulk *scale_of_side(CtSimplifier *s, CtBulk *p, CtBulk *c) {
    const CtBulk *known = ct_bulk_simplify_known(s, c);
    if (known->kind != BULK_COND) return NULL;
    CtBulk *yes = known->as.cond.yes, *no = known->as.cond.no;
    if (!ct_bulk_is_splat_real(yes, -0.0) && !ct_bulk_is_splat_real(no, -0.0)) return NULL;
    yes = ct_bulk_simplify_emit(s, ct_bulk_op2(s->r, PRIM_SCALE, p, yes));
    no = ct_bulk_simplify_emit(s, ct_bulk_op2(s->r, PRIM_SCALE, p, no));
    return ct_bulk_simplify_emit(s, ct_bulk_cond(s->r, known->as.cond.test, yes, no));
}

/* ---- sums of oneHots: one at a time they would cost a whole array each ---- */

/* The rows of an array most of which are 0: a literal, or a sum of oneHots at known indices. */
typedef struct Rows {
    CtBulk **items; /* by index; NULL: 0 */
    uint32_t size;
} Rows;

enum { ROWS_LIMIT = 1024, FEW_ROWS = 8 };

static CtBulk *sum(CtSimplifier *s, CtBulk *a, CtBulk *b) {
    if (!a || !b) return a ? a : b;
    return ct_bulk_simplify_emit(s, ct_bulk_op2(s->r, PRIM_ADD, a, b));
}

/* Whether t is a oneHot at a known index of the outermost dimension. */
static bool is_known_row(const CtBulk *t, int64_t *place) {
    return t->kind == BULK_ONE_HOT && ct_bulk_is_known_int(t->as.move.f.ix[0], place) && *place >= 0 &&
           *place < t->shape.sizes[0];
}

static CtBulk *row_of(CtSimplifier *s, const CtBulk *t) {
    const CtIndexing *f = &t->as.move.f;
    CtShape shape = ct_bulk_shape_tail(t->shape, 1);
    return ct_bulk_simplify_emit(s, ct_bulk_one_hot(s->r, shape, f->ix + 1, f->count - 1, t->as.move.t));
}

static bool take_rows(CtSimplifier *s, Rows *rows, CtBulk *t) {
    const CtBulk *known = ct_bulk_simplify_known(s, t);
    int64_t place;
    if (known->kind == BULK_LITERAL) {
        for (uint32_t k = 0; k < rows->size; k++) rows->items[k] = sum(s, rows->items[k], known->as.literal.items[k]);
    } else if (is_known_row(known, &place)) {
        rows->items[place] = sum(s, rows->items[place], row_of(s, known));
    } else {
        return false;
    }
    return true;
}

/* Adds `newer` to `older`, a sum whose latest term comes first, if that gives enough rows for a literal. */
static CtBulk *sum_of_rows(CtSimplifier *s, CtBulk *newer, CtBulk *older) {
    const CtBulk *known = ct_bulk_simplify_known(s, newer);
    int64_t place, size = newer->shape.rank ? newer->shape.sizes[0] : 0;
    bool literal = known->kind == BULK_LITERAL;
    if (size == 0 || size > ROWS_LIMIT || (!literal && !is_known_row(known, &place))) return NULL;
    uint32_t count = 1;
    for (CtBulk *t = older; t; count++) {
        const CtBulk *u = ct_bulk_simplify_known(s, t), *first = u;
        if (u->kind == BULK_OP && u->as.op.prim == PRIM_ADD) first = ct_bulk_simplify_known(s, u->as.op.args[0]);
        if (first->kind == BULK_LITERAL) literal = true;
        if (first->kind != BULK_LITERAL && !is_known_row(first, &place)) break;
        t = first == u ? NULL : u->as.op.args[1];
    }
    if (count < 2 || (!literal && size > FEW_ROWS && 2 * count < size)) return NULL;
    Rows rows = {CT_NEW_ARRAY(s->r->arena, CtBulk *, size), (uint32_t)size};
    CtBulk *others = NULL;
    take_rows(s, &rows, newer);
    for (CtBulk *t = older; t;) {
        const CtBulk *u = ct_bulk_simplify_known(s, t);
        bool more = u->kind == BULK_OP && u->as.op.prim == PRIM_ADD;
        if (!take_rows(s, &rows, more ? u->as.op.args[0] : t)) {
            others = t;
            break;
        }
        t = more ? u->as.op.args[1] : NULL;
    }
    CtBulk *zero = ct_bulk_zero(s->r, ELEMENT_REAL, ct_bulk_shape_tail(newer->shape, 1));
    for (uint32_t k = 0; k < rows.size; k++)
        if (!rows.items[k]) rows.items[k] = zero;
    CtBulk *made = ct_bulk_simplify_emit(s, ct_bulk_literal(s->r, rows.items, rows.size));
    return others ? ct_bulk_simplify_emit(s, ct_bulk_op2(s->r, PRIM_ADD, made, others)) : made;
}

static CtBulk *rule_sum(CtSimplifier *s, CtBulk *a, CtBulk *b) {
    if (ct_bulk_is_splat_real(a, -0.0)) return b;
    if (ct_bulk_is_splat_real(b, -0.0)) return a;
    CtBulk *made = ct_bulk_simplify_sides_sum(s, a, b);
    return made ? made : sum_of_rows(s, a, b);
}

static CtBulk *rule_reals(CtSimplifier *s, CtBulk *t, CtBulk *a, CtBulk *b) {
    switch (t->as.op.prim) {
    case PRIM_ADD: return rule_sum(s, a, b);
    case PRIM_SUB: return ct_bulk_is_splat_real(b, 0.0) ? a : NULL;
    case PRIM_MUL:
        if (ct_bulk_is_splat_real(a, 1)) return b;
        return ct_bulk_is_splat_real(b, 1) ? a : NULL;
    case PRIM_DIV: return ct_bulk_is_splat_real(b, 1) ? a : NULL;
    case PRIM_SCALE: /* not an ordinary product, which could be −0.0 and has a derivative where this has none */
        if (ct_bulk_is_splat_real(b, -0.0) || ct_bulk_is_splat_real(a, 1)) return b;
        return scale_of_side(s, a, b);
    default: return NULL;
    }
}

/* ---- replicate comes to the outside ---- */

/* t as a row: for replicate k u it is u. */
static CtBulk *row(CtSimplifier *s, CtBulk *t, bool *replicated) {
    const CtBulk *known = ct_bulk_simplify_known(s, t);
    if (ct_bulk_is_splat(t)) return ct_bulk_splat_as(s->r, t, ct_bulk_shape_tail(t->shape, 1));
    if (known->kind != BULK_REPLICATE) return NULL;
    *replicated = true;
    return known->as.t;
}

/* op (replicate k t) (replicate k u) = replicate k (op t u) */
static CtBulk *rule_rows(CtSimplifier *s, CtBulk *t) {
    CtBulk *rows[2] = {NULL, NULL}, *const *args = t->kind == BULK_OP ? t->as.op.args : t->as.logic.args;
    uint32_t count = t->kind == BULK_OP ? t->as.op.count : t->as.logic.logic == LOGIC_NOT ? 1 : 2;
    bool replicated = false;
    if (t->shape.rank == 0) return NULL;
    for (uint32_t k = 0; k < count; k++) {
        rows[k] = row(s, args[k], &replicated);
        if (!rows[k]) return NULL;
    }
    if (!replicated) return NULL;
    CtBulk *made;
    if (t->kind == BULK_LOGIC)
        made = ct_bulk_logic(s->r, t->as.logic.logic, rows[0], rows[1]);
    else
        made =
            count == 1 ? ct_bulk_op1(s->r, t->as.op.prim, rows[0]) : ct_bulk_op2(s->r, t->as.op.prim, rows[0], rows[1]);
    return ct_bulk_simplify_emit(s, ct_bulk_replicate(s->r, t->shape.sizes[0], ct_bulk_simplify_emit(s, made)));
}

static CtBulk *rule_op(CtSimplifier *s, CtBulk *t) {
    CtBulk *made = fold(s, t);
    if (!made && t->as.op.count == 2)
        made = (ct_prim_info(t->as.op.prim)->args[0] == 'I' ? rule_ints : rule_reals)(s, t, t->as.op.args[0],
                                                                                      t->as.op.args[1]);
    return made ? made : rule_rows(s, t);
}

static CtBulk *rule_logic(CtSimplifier *s, CtBulk *t) {
    CtBulk *a = t->as.logic.args[0], *b = t->as.logic.args[1];
    bool value;
    if (t->as.logic.logic == LOGIC_NOT) {
        const CtBulk *known = ct_bulk_simplify_known(s, a);
        if (ct_bulk_is_known_bool(a, &value)) return ct_bulk_bool(s->r, !value, t->shape);
        if (known->kind == BULK_LOGIC && known->as.logic.logic == LOGIC_NOT) return known->as.logic.args[0];
        return rule_rows(s, t);
    }
    bool neutral = t->as.logic.logic == LOGIC_AND;
    if (ct_bulk_is_known_bool(a, &value)) return value == neutral ? b : a;
    if (ct_bulk_is_known_bool(b, &value)) return value == neutral ? a : b;
    return ct_bulk_same(a, b) ? a : rule_rows(s, t);
}

/* ---- conditionals ---- */

static CtBulk *rule_cond(CtSimplifier *s, CtBulk *t) {
    CtBulk *test = t->as.cond.test, *yes = t->as.cond.yes, *no = t->as.cond.no;
    const CtBulk *known = ct_bulk_simplify_known(s, test), *u = ct_bulk_simplify_known(s, yes),
                 *v = ct_bulk_simplify_known(s, no);
    bool value;
    if (ct_bulk_is_known_bool(test, &value)) return value ? yes : no;
    if (ct_bulk_same(yes, no)) return yes;
    if (ct_bulk_shape_count(t->shape) == 0) return ct_bulk_zero(s->r, t->element, t->shape);
    if (known->kind == BULK_LOGIC && known->as.logic.logic == LOGIC_NOT)
        return ct_bulk_simplify_emit(s, ct_bulk_cond(s->r, known->as.logic.args[0], no, yes));
    if (u->kind == BULK_COND && ct_bulk_same(u->as.cond.test, test))
        return ct_bulk_simplify_emit(s, ct_bulk_cond(s->r, test, u->as.cond.yes, no));
    if (v->kind == BULK_COND && ct_bulk_same(v->as.cond.test, test))
        return ct_bulk_simplify_emit(s, ct_bulk_cond(s->r, test, yes, v->as.cond.no));
    CtBulk *side = ct_bulk_simplify_sides(s, t);
    if (side) return side;
    bool replicated = false;
    CtBulk *row_yes = t->shape.rank ? row(s, yes, &replicated) : NULL;
    CtBulk *row_no = t->shape.rank ? row(s, no, &replicated) : NULL;
    if (known->kind == BULK_REPLICATE && row_yes && row_no) {
        CtBulk *made = ct_bulk_simplify_emit(s, ct_bulk_cond(s->r, known->as.t, row_yes, row_no));
        return ct_bulk_simplify_emit(s, ct_bulk_replicate(s->r, t->shape.sizes[0], made));
    }
    if (known->kind == BULK_REPLICATE && known->as.t->shape.rank == 0)
        return ct_bulk_simplify_emit(s, ct_bulk_cond(s->r, known->as.t, yes, no));
    if (test->shape.rank || !row_yes || !row_no || !replicated) return NULL;
    CtBulk *made = ct_bulk_simplify_emit(s, ct_bulk_cond(s->r, test, row_yes, row_no));
    return ct_bulk_simplify_emit(s, ct_bulk_replicate(s->r, t->shape.sizes[0], made));
}

/* ---- reductions ---- */

static CtBulk *rule_reduce(CtSimplifier *s, CtBulk *t) {
    CtBulkBuilder *r = s->r;
    CtBulk *u = t->as.reduce.t;
    CtReduction reduction = t->as.reduce.reduction;
    bool replicated = false, is_index = reduction == REDUCE_ARGMAX || reduction == REDUCE_ARGMIN;
    int64_t k = u->shape.sizes[0];
    if (ct_bulk_shape_count(t->shape) == 0) return ct_bulk_zero(r, t->element, t->shape);
    if (k == 0 && reduction == REDUCE_PLAIN_SUM) return ct_bulk_real(r, 0, t->shape);
    if (k == 0 && reduction == REDUCE_PRODUCT)
        return t->element == ELEMENT_INT ? ct_bulk_int(r, 1, t->shape) : ct_bulk_real(r, 1, t->shape);
    if (k == 0) return ct_bulk_zero(r, t->element, t->shape);
    CtBulk *one = reduction == REDUCE_SUM ? ct_bulk_simplify_sum_of_update(s, t) : NULL;
    if (one) return one;
    CtBulk *each = row(s, u, &replicated);
    /* Up to three equal terms add up to the product, in every bit; more need not. */
    if (reduction == REDUCE_PLAIN_SUM && (k == 1 || (each && k <= 3))) {
        CtBulk *sum = ct_bulk_simplify_emit(s, ct_bulk_reduce(r, REDUCE_SUM, u, t->range));
        return ct_bulk_simplify_emit(s, ct_bulk_op2(r, PRIM_ADD, sum, ct_bulk_real(r, 0, t->shape)));
    }
    if (k == 1 && !is_index) return ct_bulk_simplify_emit(s, ct_bulk_reshape(r, t->shape, u));
    if (is_index) return k == 1 || each ? ct_bulk_int(r, 0, t->shape) : NULL;
    if (!each || reduction == REDUCE_PRODUCT || reduction == REDUCE_PLAIN_SUM) return NULL;
    if (reduction != REDUCE_SUM) return each;
    if (t->element == ELEMENT_INT)
        return ct_bulk_simplify_emit(s, ct_bulk_op2(r, PRIM_INT_MUL, ct_bulk_int(r, k, t->shape), each));
    return ct_bulk_simplify_emit(s, ct_bulk_op2(r, PRIM_MUL, ct_bulk_real(r, (double)k, t->shape), each));
}

/* ---- shapes ---- */

static CtBulk *rule_transpose(CtSimplifier *s, CtBulk *t) {
    CtBulk *u = t->as.transpose.t;
    const CtBulk *known = ct_bulk_simplify_known(s, u);
    const uint32_t *permutation = t->as.transpose.permutation;
    uint32_t count = t->as.transpose.count, used = count;
    while (used && permutation[used - 1] == used - 1) used--;
    if (used == 0) return u;
    if (ct_bulk_is_splat(u)) return ct_bulk_splat_as(s->r, u, t->shape);
    if (used < count) return ct_bulk_simplify_emit(s, ct_bulk_transpose(s->r, permutation, used, u));
    if (known->kind != BULK_TRANSPOSE) return NULL;
    uint32_t inner = known->as.transpose.count, whole = inner > count ? inner : count;
    uint32_t *both = CT_NEW_ARRAY(s->r->arena, uint32_t, whole);
    for (uint32_t k = 0; k < whole; k++) {
        uint32_t from = k < count ? permutation[k] : k;
        both[k] = from < inner ? known->as.transpose.permutation[from] : from;
    }
    return ct_bulk_simplify_emit(s, ct_bulk_transpose(s->r, both, whole, known->as.transpose.t));
}

static CtBulk *rule_reshape(CtSimplifier *s, CtBulk *t) {
    CtBulk *u = t->as.t;
    const CtBulk *known = ct_bulk_simplify_known(s, u);
    if (ct_bulk_shape_equal(t->shape, u->shape)) return u;
    if (ct_bulk_is_splat(u)) return ct_bulk_splat_as(s->r, u, t->shape);
    if (known->kind == BULK_RESHAPE) return ct_bulk_simplify_emit(s, ct_bulk_reshape(s->r, t->shape, known->as.t));
    if (known->kind == BULK_REPLICATE && known->shape.sizes[0] == 1)
        return ct_bulk_simplify_emit(s, ct_bulk_reshape(s->r, t->shape, known->as.t));
    if (known->kind == BULK_LITERAL && known->as.literal.count == 1)
        return ct_bulk_simplify_emit(s, ct_bulk_reshape(s->r, t->shape, known->as.literal.items[0]));
    return NULL;
}

/* [index x [0], …, index x [n − 1]] */
static CtBulk *all_rows(const CtSimplifier *s, const CtBulk *t) {
    CtBulk *whole = NULL;
    for (uint32_t k = 0; k < t->as.literal.count; k++) {
        const CtBulk *item = ct_bulk_simplify_known(s, t->as.literal.items[k]);
        int64_t position;
        if (item->kind != BULK_INDEX || item->as.move.f.count != 1) return NULL;
        if (!ct_bulk_is_known_int(item->as.move.f.ix[0], &position) || position != k) return NULL;
        if (whole && !ct_bulk_same(whole, item->as.move.t)) return NULL;
        whole = item->as.move.t;
    }
    return whole && ct_bulk_shape_equal(whole->shape, t->shape) ? whole : NULL;
}

static CtBulk *rule_literal(CtSimplifier *s, CtBulk *t) {
    CtBulk *const *items = t->as.literal.items;
    uint32_t count = t->as.literal.count, same = 0, scalars = 0;
    for (uint32_t k = 0; k < count; k++) {
        if (ct_bulk_same(items[0], items[k])) same++;
        if (ct_bulk_is_splat(items[k]) && items[k]->shape.rank == 0) scalars++;
    }
    if (same == count) return ct_bulk_simplify_emit(s, ct_bulk_replicate(s->r, count, items[0]));
    if (scalars < count) return all_rows(s, t);
    double *reals = CT_NEW_ARRAY(s->r->arena, double, count);
    int64_t *integers = CT_NEW_ARRAY(s->r->arena, int64_t, count);
    for (uint32_t k = 0; k < count; k++) {
        reals[k] = items[k]->as.constant.real;
        integers[k] = items[k]->as.constant.integer;
    }
    if (t->element == ELEMENT_REAL) return ct_bulk_simplify_emit(s, ct_bulk_reals(s->r, reals, t->shape));
    return ct_bulk_simplify_emit(s, ct_bulk_integers(s->r, integers, t->shape, t->element));
}

CtBulk *ct_bulk_simplify_rule(CtSimplifier *s, CtBulk *t) {
    bool value;
    switch (t->kind) {
    case BULK_CONST: return rule_constant(s, t);
    case BULK_COND: return rule_cond(s, t);
    case BULK_OP: return rule_op(s, t);
    case BULK_LOGIC: return rule_logic(s, t);
    case BULK_REDUCE: return rule_reduce(s, t);
    case BULK_INDEX:
    case BULK_GATHER:
    case BULK_SCATTER:
    case BULK_ONE_HOT: return ct_bulk_simplify_move(s, t);
    case BULK_LITERAL: return rule_literal(s, t);
    case BULK_REPLICATE: return ct_bulk_is_splat(t->as.t) ? ct_bulk_splat_as(s->r, t->as.t, t->shape) : NULL;
    case BULK_TRANSPOSE: return rule_transpose(s, t);
    case BULK_RESHAPE: return rule_reshape(s, t);
    case BULK_STOP: return t->as.t->kind == BULK_CONST ? t->as.t : NULL;
    case BULK_CHECK: return ct_bulk_is_known_bool(t->as.check.test, &value) && !value ? t->as.check.t : NULL;
    case BULK_VAR:
    case BULK_LET:
    case BULK_BUILD:
    case BULK_SHARE:
    case BULK_LOOP: break;
    }
    return NULL;
}
