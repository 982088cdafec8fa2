/* Elements and rows that change. BULK has no update: what a program updates is `cond (is = i) v xs` for each index, and
 * what an index gives back is a `oneHot` or a scatter, added. Each is a whole array; written by `update`, which is done
 * in place where nobody else holds the array, it takes time in proportion to what changes. In a loop that is the
 * difference between linear and quadratic. */
#include "ad/bulk/lower/internal.h"

static const CtShape scalar = {0, NULL};

/* Operations on the whole array take fewer steps for rows if the array has at most so many times the elements of what
 * changes. */
enum { DENSE = 4 };

/* The i of [0, …, n − 1] == replicate n i, as a term of rank 0; NULL when t is no such test. */
static CtBulk *marked(CtLower *l, CtBulk *t) {
    if (t->kind != BULK_OP || t->as.op.prim != PRIM_INT_EQ || t->shape.rank != 1) return NULL;
    for (int k = 0; k < 2; k++) {
        CtBulk *numbers = t->as.op.args[k];
        if (numbers->kind != BULK_CONST || !ct_bulk_is_iota(numbers, t->shape.sizes[0])) continue;
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

/* ---- rows ---- */

/* A change of an array: xs is an atom, and so is each place. */
typedef struct Change {
    CtLower *l;
    CtSourceRange range;
    CtPrim add; /* how the new value is added to the old one … */
    bool adds;  /* … or else the old one is replaced */
} Change;

static CtCore *change_element(const Change *c, CtCore *xs, CtCore *at, CtCore *x) {
    CtLower *l = c->l;
    if (c->adds)
        x = ct_bulk_lower_op(l, c->range, c->add, ct_bulk_lower_array(l, c->range, ARRAY_INDEX, xs, at, NULL), x);
    return ct_bulk_lower_array(l, c->range, ARRAY_UPDATE, xs, at, x);
}

/* m elements from `number · m` on: foldl (λys j. change ys (start + j) (row ! j)) xs (iota m). `row` is an array, or
 * the value of all elements. */
static CtCore *change_row(const Change *c, CtCore *xs, CtCore *number_of_row, int64_t m, CtCore *row) {
    CtLower *l = c->l;
    CtSourceRange range = c->range;
    bool is_array = row->type->kind == TYPE_ARRAY;
    CtSeq seq = ct_ad_seq(l->p, NULL), inner = ct_ad_seq(l->p, NULL);
    CtCore *start = ct_bulk_lower_op(l, range, PRIM_INT_MUL, number_of_row, number(l, range, m));
    start = ct_ad_seq_name(&seq, "start", start);
    CtVar *params[2] = {ct_core_var_new(l->p, "ys", xs->type), ct_core_var_new(l->p, "j", l->p->int_type)};
    CtCore *ys = ct_core_var(l->p, range, params[0]), *j = ct_core_var(l->p, range, params[1]);
    CtCore *at = ct_bulk_lower_op(l, range, PRIM_INT_ADD, start, j);
    if (c->adds) at = ct_ad_seq_name(&inner, "at", at);
    CtCore *x = is_array ? ct_bulk_lower_array(l, range, ARRAY_INDEX, row, j, NULL) : row;
    CtCore *body = ct_ad_seq_close(&inner, change_element(c, ys, at, x));
    CtCore *fun = ct_core_lam(l->p, range, NULL, params, 2, body);
    CtCore *columns = ct_bulk_lower_array(l, range, ARRAY_IOTA, number(l, range, m), NULL, NULL);
    return ct_ad_seq_close(&seq, ct_bulk_lower_array(l, range, ARRAY_FOLDL, fun, xs, columns));
}

/* ---- updates ---- */

/* The same value for every index, as a term of the rows' shape; NULL if there is none. */
static CtBulk *same_row(CtLower *l, CtBulk *t) {
    CtBulk *same = ct_bulk_lower_uniform(l, t);
    return same == NULL && t->kind == BULK_REPLICATE ? t->as.t : same;
}

/* cond (replicate k ([0, …, n − 1] == replicate n i)) (tr (replicate n rows)) xs, the same update of k arrays at once:
 * foldl (λys p. change ys (p n + i) (row p of rows)) xs (iota k) */
static CtCore *update_each(CtLower *l, CtBulk *t) {
    CtSourceRange range = t->range;
    CtBulk *test = t->as.cond.test, *yes = t->as.cond.yes;
    CtBulk *i = t->shape.rank > 1 && test->kind == BULK_REPLICATE ? marked(l, test->as.t) : NULL;
    if (i == NULL || t->shape.sizes[1] <= DENSE) return NULL;
    bool swaps = yes->kind == BULK_TRANSPOSE && yes->as.transpose.count == 2 && yes->as.transpose.permutation[0] == 1;
    CtBulk *same = ct_bulk_lower_uniform(l, yes);
    CtBulk *rows =
        same == NULL && swaps && yes->as.transpose.t->kind == BULK_REPLICATE ? yes->as.transpose.t->as.t : same;
    if (rows == NULL) return NULL;
    int64_t k = t->shape.sizes[0], n = t->shape.sizes[1], m = ct_bulk_shape_count(ct_bulk_shape_tail(t->shape, 2));
    CtSeq seq = ct_ad_seq(l->p, NULL), inner = ct_ad_seq(l->p, NULL);
    CtCore *at = ct_ad_seq_name(&seq, "at", ct_bulk_lower_term(l, i));
    CtCore *all = ct_bulk_lower_term(l, rows);
    all = ct_ad_seq_name(&seq, "all", same != NULL ? ct_bulk_lower_item(l, t->element, all) : all);
    CtCore *xs = ct_ad_seq_name(&seq, "xs", ct_bulk_lower_term(l, t->as.cond.no));
    CtVar *params[2] = {ct_core_var_new(l->p, "ys", xs->type), ct_core_var_new(l->p, "p", l->p->int_type)};
    CtCore *ys = ct_core_var(l->p, range, params[0]), *p = ct_core_var(l->p, range, params[1]);
    CtCore *first = ct_bulk_lower_op(l, range, PRIM_INT_MUL, p, number(l, range, n));
    CtCore *place = ct_ad_seq_name(&inner, "row", ct_bulk_lower_op(l, range, PRIM_INT_ADD, first, at)), *row = all;
    Change c = {.l = l, .range = range};
    if (same == NULL && t->shape.rank == 2) {
        row = ct_bulk_lower_array(l, range, ARRAY_INDEX, all, p, NULL);
    } else if (same == NULL) {
        CtCore *start = ct_bulk_lower_op(l, range, PRIM_INT_MUL, p, number(l, range, m));
        row = ct_ad_seq_name(&inner, "x", ct_bulk_lower_array(l, range, ARRAY_SLICE, start, number(l, range, m), all));
    }
    CtCore *body = t->shape.rank == 2 ? change_element(&c, ys, place, row) : change_row(&c, ys, place, m, row);
    CtCore *fun = ct_core_lam(l->p, range, NULL, params, 2, ct_ad_seq_close(&inner, body));
    CtCore *numbers = ct_bulk_lower_array(l, range, ARRAY_IOTA, number(l, range, k), NULL, NULL);
    CtCore *changed = ct_bulk_lower_array(l, range, ARRAY_FOLDL, fun, xs, numbers);
    bool inside = ct_bulk_is_inside(&l->facts, i, n);
    return ct_ad_seq_close(&seq, inside ? changed : where_inside(l, range, at, n, false, changed, xs));
}

CtCore *ct_bulk_lower_update(CtLower *l, CtBulk *t) {
    CtSourceRange range = t->range;
    if (t->as.cond.test->shape.rank == 2) return update_each(l, t);
    bool is_row = t->shape.rank > 1;
    CtBulk *i = t->shape.rank > 0 ? marked(l, t->as.cond.test) : NULL;
    if (i == NULL || (is_row && t->shape.sizes[0] <= DENSE)) return NULL;
    int64_t n = t->shape.sizes[0], m = ct_bulk_shape_count(ct_bulk_shape_tail(t->shape, 1));
    CtSeq seq = ct_ad_seq(l->p, NULL), inner = ct_ad_seq(l->p, NULL);
    CtCore *at = ct_ad_seq_name(&seq, "at", ct_bulk_lower_term(l, i));
    CtBulk *same = same_row(l, t->as.cond.yes);
    CtCore *value = ct_bulk_lower_term(l, same != NULL ? same : t->as.cond.yes);
    if (same != NULL && same->shape.rank == 0) value = ct_bulk_lower_item(l, t->element, value);
    value = ct_ad_seq_name(&seq, same != NULL ? "x" : "xs", value);
    CtCore *xs = ct_ad_seq_name(&seq, "xs", ct_bulk_lower_term(l, t->as.cond.no));
    if (same == NULL && !is_row) value = ct_bulk_lower_array(l, range, ARRAY_INDEX, value, at, NULL);
    if (same == NULL && is_row) {
        CtCore *start = ct_bulk_lower_op(l, range, PRIM_INT_MUL, at, number(l, range, m));
        value = ct_bulk_lower_array(l, range, ARRAY_SLICE, start, number(l, range, m), value);
        value = ct_ad_seq_name(&inner, "x", value);
    }
    Change c = {.l = l, .range = range};
    CtCore *changed = is_row ? change_row(&c, xs, at, m, value) : change_element(&c, xs, at, value);
    changed = ct_ad_seq_close(&inner, changed);
    bool inside = ct_bulk_is_inside(&l->facts, i, n);
    return ct_ad_seq_close(&seq, inside ? changed : where_inside(l, range, at, n, false, changed, xs));
}

/* ---- sums ---- */

/* Whether a term is zero except for few elements. */
static bool is_sparse(const CtBulk *t) {
    if (t->kind == BULK_ONE_HOT && t->as.move.f.count > 0 && t->as.move.f.count == t->shape.rank) return true;
    if (t->kind != BULK_ONE_HOT && t->kind != BULK_SCATTER) return false;
    return ct_bulk_shape_count(t->shape) > DENSE * ct_bulk_shape_count(t->as.move.t->shape);
}

/* The sum of the first terms, from the last to the first, and the rest; the terms are evaluated before it. */
static CtCore *add_all(const Change *c, CtBulk *const *terms, uint32_t count, CtBulk *rest);

/* xs + oneHot sh ix x */
static CtCore *add_one(const Change *c, CtBulk *const *terms, uint32_t count, CtBulk *rest) {
    CtBulk *hot = terms[0];
    CtLower *l = c->l;
    CtIndexing f = hot->as.move.f;
    f.live = ct_bulk_bool(l->r, false, scalar);
    CtBulk *part = hot->as.move.t;
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtCore *x = ct_ad_seq_name(&seq, "x", ct_bulk_lower_term(l, part));
    CtCore *at = ct_ad_seq_name(&seq, "at", ct_bulk_lower_position(l, &f, hot->shape, c->range));
    CtCore *xs = ct_ad_seq_name(&seq, "xs", add_all(c, terms + 1, count - 1, rest));
    CtCore *changed = part->shape.rank == 0 ? change_element(c, xs, at, x)
                                            : change_row(c, xs, at, ct_bulk_shape_count(part->shape), x);
    if (!ct_bulk_never_misses(&l->facts, &f, hot->shape)) changed = where_inside(l, c->range, at, 0, true, changed, xs);
    return ct_ad_seq_close(&seq, changed);
}

/* xs + scatter sh t (λis. ix), row by row: foldl (λys p. change ys (rows ! p) (row p of t)) xs (iota points) */
static CtCore *add_scatter(const Change *c, CtBulk *const *terms, uint32_t count, CtBulk *rest) {
    CtLower *l = c->l;
    CtBulk *t = terms[0];
    CtSourceRange range = c->range;
    CtBulk *source = t->as.move.t;
    const CtIndexing *f = &t->as.move.f;
    int64_t m = ct_bulk_shape_count(ct_bulk_shape_tail(t->shape, f->count)), points = 1;
    for (uint32_t k = 0; k < f->var_count; k++) {
        points *= source->shape.sizes[k];
        ct_bulk_lower_own(l, f->vars[k], source->shape.sizes[k]);
    }
    CtSeq seq = ct_ad_seq(l->p, NULL), inner = ct_ad_seq(l->p, NULL);
    CtCore *all = ct_ad_seq_name(&seq, "all", ct_bulk_lower_flat(l, source));
    CtCore *rows = ct_ad_seq_name(&seq, "rows", ct_bulk_lower_positions(l, f, t->shape, source->shape, range));
    CtCore *xs = ct_ad_seq_name(&seq, "xs", add_all(c, terms + 1, count - 1, rest));
    CtVar *params[2] = {ct_core_var_new(l->p, "ys", xs->type), ct_core_var_new(l->p, "p", l->p->int_type)};
    CtCore *ys = ct_core_var(l->p, range, params[0]), *p = ct_core_var(l->p, range, params[1]);
    CtCore *at = ct_ad_seq_name(&inner, "at", ct_bulk_lower_array(l, range, ARRAY_INDEX, rows, p, NULL)), *changed;
    if (m == 1) {
        changed = change_element(c, ys, at, ct_bulk_lower_array(l, range, ARRAY_INDEX, all, p, NULL));
    } else {
        CtCore *start = ct_bulk_lower_op(l, range, PRIM_INT_MUL, p, number(l, range, m));
        CtCore *row = ct_bulk_lower_array(l, range, ARRAY_SLICE, start, number(l, range, m), all);
        changed = change_row(c, ys, at, m, ct_ad_seq_name(&inner, "row", row));
    }
    if (!ct_bulk_never_misses(&l->facts, f, t->shape)) changed = where_inside(l, range, at, 0, true, changed, ys);
    CtCore *fun = ct_core_lam(l->p, range, NULL, params, 2, ct_ad_seq_close(&inner, changed));
    CtCore *numbers = ct_bulk_lower_array(l, range, ARRAY_IOTA, number(l, range, points), NULL, NULL);
    return ct_ad_seq_close(&seq, ct_bulk_lower_array(l, range, ARRAY_FOLDL, fun, xs, numbers));
}

static CtCore *add_all(const Change *c, CtBulk *const *terms, uint32_t count, CtBulk *rest) {
    if (count == 0) return ct_bulk_lower_term(c->l, rest);
    return terms[0]->kind == BULK_ONE_HOT ? add_one(c, terms, count, rest) : add_scatter(c, terms, count, rest);
}

/* The terms of a sum. */
typedef struct Terms {
    CT_VEC(CtBulk *) sparse, dense;
    CtPrim add;
} Terms;

static void take_terms(CtLower *l, CtBulk *t, Terms *out) {
    if (t->kind == BULK_OP && t->as.op.prim == out->add) {
        take_terms(l, t->as.op.args[0], out);
        take_terms(l, t->as.op.args[1], out);
    } else if (is_sparse(t)) {
        ct_push(l->r->arena, &out->sparse, t);
    } else {
        ct_push(l->r->arena, &out->dense, t);
    }
}

/* What is added is evaluated first, so that it may still read the array; errors must keep their order. */
static bool may_exchange(CtLower *l, CtBulk *t) {
    if (t->kind != BULK_OP || t->as.op.count != 2) return true;
    CtBulk *a = t->as.op.args[0], *b = t->as.op.args[1];
    return (ct_bulk_is_safe(&l->facts, a) || ct_bulk_is_safe(&l->facts, b)) && may_exchange(l, a) && may_exchange(l, b);
}

CtCore *ct_bulk_lower_add_sparse(CtLower *l, CtBulk *t) {
    Terms terms = {.add = t->as.op.prim};
    if ((terms.add != PRIM_ADD && terms.add != PRIM_INT_ADD) || t->shape.rank == 0) return NULL;
    take_terms(l, t, &terms);
    if (terms.sparse.count == 0) return NULL;
    CtBulk *rest = terms.dense.count > 0 ? terms.dense.items[terms.dense.count - 1] : NULL;
    bool in_order = is_sparse(t->as.op.args[0]) && terms.sparse.count + terms.dense.count == 2;
    if (!in_order && !may_exchange(l, t)) return NULL;
    for (uint32_t k = terms.dense.count - (rest != NULL); k-- > 0;)
        rest = ct_bulk_op2(l->r, terms.add, terms.dense.items[k], rest);
    uint32_t k = terms.sparse.count;
    if (rest == NULL) rest = terms.sparse.items[--k];
    Change c = {.l = l, .range = t->range, .add = terms.add, .adds = true};
    return add_all(&c, terms.sparse.items, k, rest);
}
