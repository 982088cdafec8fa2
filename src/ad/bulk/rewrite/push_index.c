/* BULK Fig. 10: the rules that push `index` into a term.
 *
 * Beyond the figure: an index out of range is an error, and the rules preserve that. Pushing an index into a term skips
 * elements that the program would have computed, and their errors with them. What is skipped is checked as a whole by a
 * CHECK, unless its indices are certainly in range (ranges.c), as they nearly always are.
 *
 * The value of an index out of range where it is not needed (`live` is false) is not preserved. Nor are errors of
 * `live` itself, a condition that the program has evaluated before. */
#include "ad/bulk/rewrite/rules.h"

static const CtShape scalar = {0, NULL};

/* ---- conditions; NULL is True ---- */

static bool same_all(CtBulk *const *a, CtBulk *const *b, uint32_t count);

/* Whether two conditions are syntactically equal. */
static bool same(const CtBulk *a, const CtBulk *b) {
    if (a == b) return true;
    if (a == NULL || b == NULL || a->kind != b->kind) return false;
    switch (a->kind) {
    case BULK_VAR: return a->as.var == b->as.var;
    case BULK_CONST:
        return a->element == b->element && a->shape.rank == 0 && b->shape.rank == 0 && a->element != ELEMENT_REAL &&
               a->as.constant.integers == NULL && b->as.constant.integers == NULL &&
               a->as.constant.integer == b->as.constant.integer;
    case BULK_OP: return a->as.op.prim == b->as.op.prim && same_all(a->as.op.args, b->as.op.args, a->as.op.count);
    case BULK_LOGIC: return a->as.logic.logic == b->as.logic.logic && same_all(a->as.logic.args, b->as.logic.args, 2);
    case BULK_INDEX:
        return a->as.move.f.count == b->as.move.f.count && same(a->as.move.t, b->as.move.t) &&
               same(a->as.move.f.live, b->as.move.f.live) &&
               same_all(a->as.move.f.ix, b->as.move.f.ix, a->as.move.f.count);
    default: return false;
    }
}

static bool same_all(CtBulk *const *a, CtBulk *const *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!same(a[i], b[i])) return false;
    return true;
}

static bool is_bool(const CtBulk *t, bool value) {
    return t->kind == BULK_CONST && t->element == ELEMENT_BOOL && t->shape.rank == 0 &&
           t->as.constant.integers == NULL && t->as.constant.integer == value;
}

static CtBulk *both(CtBulkRewriter *w, CtBulk *a, CtBulk *b) {
    if (a == NULL || same(a, b)) return b;
    return b == NULL ? a : ct_bulk_logic(w->r, LOGIC_AND, a, b);
}

static CtBulk *either(CtBulkRewriter *w, CtBulk *a, CtBulk *b) {
    if (a == NULL) return b;
    return b == NULL ? a : ct_bulk_logic(w->r, LOGIC_OR, a, b);
}

/* ---- names for what is used several times ---- */

/* A few operations on variables are repeated rather than bound to a name: named indices become arrays under a
 * `build1`. */
static bool is_cheap(const CtBulk *t, int *fuel) {
    if (--*fuel < 0) return false;
    if (t->kind == BULK_CONST || t->kind == BULK_VAR) return true;
    if (t->kind != BULK_OP) return false;
    for (uint32_t i = 0; i < t->as.op.count; i++)
        if (!is_cheap(t->as.op.args[i], fuel)) return false;
    return true;
}

static bool may_repeat(const CtBulk *t) {
    int fuel = 5;
    return is_cheap(t, &fuel);
}

typedef struct Names {
    CtBulkRewriter *w;
    CT_VEC(CtBulkVar *) vars;
    CT_VEC(CtBulk *) terms;
} Names;

/* The term, or a variable that will be bound to it. */
static CtBulk *name_it(Names *names, const char *name, CtBulk *t) {
    CtBulkRewriter *w = names->w;
    if (t == NULL || may_repeat(t)) return t;
    CtBulkVar *var = ct_bulk_new_var(w->r, name, t->element, t->shape);
    if (t->element == ELEMENT_INT) ct_bulk_note_var(w, var, ct_bulk_range(w, t));
    ct_push(w->r->arena, &names->vars, var);
    ct_push(w->r->arena, &names->terms, t);
    return ct_bulk_var(w->r, var);
}

static CtBulk *const *name_all(Names *names, CtBulk *const *ix, uint32_t count) {
    CtBulk **named = CT_NEW_ARRAY(names->w->r->arena, CtBulk *, count);
    for (uint32_t i = 0; i < count; i++) named[i] = name_it(names, "i", ix[i]);
    return named;
}

/* let i₁ = t₁ in … let iₙ = tₙ in body */
static CtBulk *bind_names(Names *names, CtBulk *body) {
    for (uint32_t i = names->vars.count; i-- > 0;)
        body = ct_bulk_let(names->w->r, names->vars.items[i], names->terms.items[i], body);
    return body;
}

/* t with the variable replaced: let var = by in t, or substituted where that repeats little. */
static CtBulk *let_in_place(CtBulkRewriter *w, CtBulkVar *var, CtBulk *by, CtBulk *t) {
    if (t == NULL || !ct_bulk_mentions(t, var)) return t;
    CtMap replace = {0};
    Names names = {.w = w};
    ct_map_set(w->r->arena, &replace, ct_key(var), name_it(&names, "i", by));
    CtBulk *body = ct_bulk_substitute(w->r, t, &replace);
    ct_bulk_note(w, body);
    return bind_names(&names, body);
}

/* ---- what is outside ---- */

/* The condition that `ix` is outside [0, size); NULL if it is neither outside nor can fail itself. */
static CtBulk *outside(CtBulkRewriter *w, CtBulk *ix, int64_t size) {
    bool inside = ct_bulk_is_inside(w, ix, size);
    if (inside && ct_bulk_is_safe(w, ix)) return NULL;
    Names names = {.w = w};
    CtBulk *i = name_it(&names, "i", ix), *zero = ct_bulk_int(w->r, 0, scalar);
    CtBulk *test = ct_bulk_op2(w->r, PRIM_INT_LT, i, zero);
    if (!inside) {
        CtBulk *above = ct_bulk_op2(w->r, PRIM_INT_LE, ct_bulk_int(w->r, size, scalar), i);
        test = either(w, test, above);
    }
    return bind_names(&names, test);
}

static CtBulk *outside_any(CtBulkRewriter *w, CtBulk *const *ix, const int64_t *sizes, uint32_t count) {
    CtBulk *test = NULL;
    for (uint32_t i = 0; i < count; i++) test = either(w, test, outside(w, ix[i], sizes[i]));
    return test;
}

static CtBulk *check_inside(CtBulkRewriter *w, CtBulk *live, CtBulk *test, CtSourceRange range, CtBulk *t) {
    if (test == NULL) return t;
    CtBulk *error = both(w, live, test);
    ct_bulk_note(w, error);
    return ct_bulk_check(w->r, error, CT_E0501, ct_error_title(CT_E0501), range, t);
}

/* A check that a whole gather is in range where it is needed. */
static CtBulk *check_gather(CtBulkRewriter *w, CtBulk *gather, CtBulk *t) {
    const CtIndexing *f = &gather->as.move.f;
    CtBulk *test = outside_any(w, f->ix, gather->as.move.t->shape.sizes, f->count);
    if (test == NULL) return t;
    test = both(w, f->live, test);
    for (uint32_t i = f->var_count; i-- > 0;) test = ct_bulk_build(w->r, gather->shape.sizes[i], f->vars[i], test);
    return check_inside(w, NULL, test, gather->range, t);
}

/* ---- the rules ---- */

typedef struct Index {
    CtBulk *source;
    CtBulk *const *ix;
    uint32_t count;
    CtBulk *live;
    CtSourceRange range;
} Index;

static CtBulk *index_of(CtBulkRewriter *w, const Index *x, CtBulk *t) {
    return ct_bulk_index(w->r, t, x->ix, x->count, x->live, x->range);
}

static Index with_names(Names *names, const Index *x) {
    Index named = *x;
    named.ix = name_all(names, x->ix, x->count);
    named.live = name_it(names, "live", x->live);
    return named;
}

/* index (index t [u₁, …, uₘ]) [t₁, …, tₙ] ~> index t [u₁, …, uₘ, t₁, …, tₙ] */
static CtBulk *index_index(CtBulkRewriter *w, const Index *x) {
    CtBulk *inner = x->source, *t = inner->as.move.t;
    const CtIndexing *f = &inner->as.move.f;
    uint32_t count = f->count + x->count;
    CtBulk **ix = CT_NEW_ARRAY(w->r->arena, CtBulk *, count);
    for (uint32_t i = 0; i < count; i++) ix[i] = i < f->count ? f->ix[i] : x->ix[i - f->count];
    if (same(x->live, f->live)) return ct_bulk_index(w->r, t, ix, count, x->live, x->range);
    if (ct_bulk_never_misses(w, f, t->shape)) return ct_bulk_index(w->r, t, ix, count, x->live, x->range);
    CtIndexing rest = {.ix = x->ix, .count = x->count};
    if (ct_bulk_never_misses(w, &rest, inner->shape)) return ct_bulk_index(w->r, t, ix, count, f->live, inner->range);
    /* Each index keeps its place: errors are found beforehand. */
    Names names = {.w = w};
    CtBulk *const *named = name_all(&names, ix, count);
    CtBulk *first = name_it(&names, "live", f->live), *second = name_it(&names, "live", x->live);
    CtBulk *outer_test = both(w, second, outside_any(w, named + f->count, inner->shape.sizes, x->count));
    CtBulk *inner_test = both(w, first, outside_any(w, named, t->shape.sizes, f->count));
    CtBulk *body = ct_bulk_index(w->r, t, named, count, both(w, first, second), x->range);
    return bind_names(&names, check_inside(w, NULL, either(w, inner_test, outer_test), x->range, body));
}

/* index (let x = v in t) ix ~> let x = v in index t ix */
static CtBulk *index_let(CtBulkRewriter *w, const Index *x) {
    CtBulk *let = x->source;
    bool captures = x->live != NULL && ct_bulk_mentions(x->live, let->as.let.var);
    for (uint32_t i = 0; i < x->count; i++) captures |= ct_bulk_mentions(x->ix[i], let->as.let.var);
    if (captures) {
        CtMap none = {0};
        let = ct_bulk_substitute(w->r, let, &none);
        ct_bulk_note(w, let);
    }
    return ct_bulk_let(w->r, let->as.let.var, let->as.let.rhs, index_of(w, x, let->as.let.body));
}

/* index (cond b u v) [t₁, …, tₙ] ~> let i₁ = t₁ in … in cond b (index u [i₁, …, iₙ]) (index v [i₁, …, iₙ]); a test with
 * dimensions is indexed as far as it has them */
static CtBulk *index_cond(CtBulkRewriter *w, const Index *x) {
    Names names = {.w = w};
    Index named = with_names(&names, x);
    CtBulk *yes = index_of(w, &named, x->source->as.cond.yes);
    CtBulk *no = index_of(w, &named, x->source->as.cond.no);
    CtBulk *test = x->source->as.cond.test;
    Index outer = named;
    if (outer.count > test->shape.rank) outer.count = test->shape.rank;
    if (outer.count > 0) test = index_of(w, &outer, test);
    return bind_names(&names, ct_bulk_cond(w->r, test, yes, no));
}

/* index (op t u) [t₁, …, tₙ] ~> let i₁ = t₁ in … in op (index t [i₁, …, iₙ]) (index u [i₁, …, iₙ]); index (op t) ix ~>
 * op (index t ix) */
static CtBulk *index_op(CtBulkRewriter *w, const Index *x) {
    CtBulk *op = x->source;
    if (op->as.op.count == 1) return ct_bulk_op1(w->r, op->as.op.prim, index_of(w, x, op->as.op.args[0]));
    Names names = {.w = w};
    Index named = with_names(&names, x);
    CtBulk *first = index_of(w, &named, op->as.op.args[0]);
    CtBulk *second = index_of(w, &named, op->as.op.args[1]);
    return bind_names(&names, ct_bulk_op2(w->r, op->as.op.prim, first, second));
}

/* The same, on Bool. */
static CtBulk *index_logic(CtBulkRewriter *w, const Index *x) {
    CtBulk *op = x->source;
    if (op->as.logic.logic == LOGIC_NOT)
        return ct_bulk_logic(w->r, LOGIC_NOT, index_of(w, x, op->as.logic.args[0]), NULL);
    Names names = {.w = w};
    Index named = with_names(&names, x);
    CtBulk *first = index_of(w, &named, op->as.logic.args[0]);
    CtBulk *second = index_of(w, &named, op->as.logic.args[1]);
    return bind_names(&names, ct_bulk_logic(w->r, op->as.logic.logic, first, second));
}

/* index (sumOuter t) ix ~> sumOuter (index (tr_{1,…,n,0} t) ix), and its likes */
static CtBulk *index_reduce(CtBulkRewriter *w, const Index *x) {
    uint32_t *permutation = CT_NEW_ARRAY(w->r->arena, uint32_t, x->count + 1);
    for (uint32_t i = 0; i < x->count; i++) permutation[i] = i + 1;
    CtBulk *moved = ct_bulk_transpose(w->r, permutation, x->count + 1, x->source->as.reduce.t);
    return ct_bulk_reduce(w->r, x->source->as.reduce.reduction, index_of(w, x, moved), x->source->range);
}

/* index [t₁, …, tₖ] [u₁, …, uₙ] ~> let i₂ = u₂ in … in index [index t₁ [i₂, …, iₙ], …, index tₖ [i₂, …, iₙ]] [u₁]   (n
 * > 1) */
static CtBulk *index_literal(CtBulkRewriter *w, const Index *x) {
    Names names = {.w = w};
    Index rest = {.ix = x->ix + 1, .count = x->count - 1, .live = x->live, .range = x->range};
    rest = with_names(&names, &rest);
    uint32_t count = x->source->as.literal.count;
    CtBulk **items = CT_NEW_ARRAY(w->r->arena, CtBulk *, count);
    for (uint32_t i = 0; i < count; i++) items[i] = index_of(w, &rest, x->source->as.literal.items[i]);
    CtBulk *literal = ct_bulk_literal(w->r, items, count);
    return bind_names(&names, ct_bulk_index(w->r, literal, x->ix, 1, rest.live, x->range));
}

/* index (replicate k t) [u₁, …, uₙ] ~> index t [u₂, …, uₙ] */
static CtBulk *index_replicate(CtBulkRewriter *w, const Index *x) {
    CtBulk *test = outside(w, x->ix[0], x->source->shape.sizes[0]);
    CtBulk *rest = ct_bulk_index(w->r, x->source->as.t, x->ix + 1, x->count - 1, x->live, x->range);
    return check_inside(w, x->live, test, x->range, rest);
}

static CtBulkVar *const *fresh_indices(CtBulkRewriter *w, CtShape shape, uint32_t count) {
    CtBulkVar **vars = CT_NEW_ARRAY(w->r->arena, CtBulkVar *, count);
    for (uint32_t i = 0; i < count; i++) {
        vars[i] = ct_bulk_new_var(w->r, "i", ELEMENT_INT, scalar);
        ct_bulk_note_var(w, vars[i], (CtRange){0, shape.sizes[i] - 1});
    }
    return vars;
}

/* index (tr_{b₀,…,bₖ} t) ix ~> index (gather sh t (λ[i_{b₀}, …, i_{bₖ}]. [i₀, …, iₖ])) ix */
static CtBulk *index_transpose(CtBulkRewriter *w, const Index *x) {
    CtBulk *tr = x->source;
    uint32_t count = tr->as.transpose.count;
    CtBulkVar *const *vars = fresh_indices(w, tr->shape, count);
    CtBulk **ix = CT_NEW_ARRAY(w->r->arena, CtBulk *, count);
    for (uint32_t i = 0; i < count; i++) ix[tr->as.transpose.permutation[i]] = ct_bulk_var(w->r, vars[i]);
    CtIndexing f = {.vars = vars, .var_count = count, .ix = ix, .count = count};
    return index_of(w, x, ct_bulk_gather(w->r, tr->shape, tr->as.transpose.t, f, x->range));
}

/* The row-major number of a point among `count` dimensions. */
static CtBulk *to_linear(CtBulkRewriter *w, CtShape shape, CtBulkVar *const *vars, uint32_t count) {
    CtBulk *linear = NULL;
    for (uint32_t i = 0; i < count; i++) {
        CtBulk *var = ct_bulk_var(w->r, vars[i]);
        if (linear != NULL) {
            CtBulk *row = ct_bulk_op2(w->r, PRIM_INT_MUL, linear, ct_bulk_int(w->r, shape.sizes[i], scalar));
            linear = ct_bulk_op2(w->r, PRIM_INT_ADD, row, var);
        } else {
            linear = var;
        }
    }
    return linear != NULL ? linear : ct_bulk_int(w->r, 0, scalar);
}

static CtBulk *const *from_linear(CtBulkRewriter *w, CtShape shape, CtBulk *linear, uint32_t count) {
    CtBulk **ix = CT_NEW_ARRAY(w->r->arena, CtBulk *, count);
    int64_t stride = 1;
    for (uint32_t i = count; i-- > 0;) {
        int64_t size = shape.sizes[i];
        ix[i] = linear;
        if (stride != 1) ix[i] = ct_bulk_op2(w->r, PRIM_INT_DIV, ix[i], ct_bulk_int(w->r, stride, scalar));
        if (i > 0) ix[i] = ct_bulk_op2(w->r, PRIM_INT_MOD, ix[i], ct_bulk_int(w->r, size, scalar));
        stride *= size > 0 ? size : 1;
    }
    return ix;
}

/* index (reshape sh t) ix ~> index (gather sh t (λis. fromLinearIdx (shape t) (toLinearIdx sh is))) ix; common
 * innermost dimensions are left alone. */
static CtBulk *index_reshape(CtBulkRewriter *w, const Index *x) {
    CtBulk *t = x->source->as.t;
    CtShape to = x->source->shape, from = t->shape;
    uint32_t outer = to.rank, inner = from.rank;
    while (outer > 0 && inner > 0 && to.sizes[outer - 1] == from.sizes[inner - 1] && ct_bulk_shape_count(to) > 0)
        outer--, inner--;
    CtBulkVar *const *vars = fresh_indices(w, to, outer);
    CtBulk *const *ix = from_linear(w, from, to_linear(w, to, vars, outer), inner);
    CtIndexing f = {.vars = vars, .var_count = outer, .ix = ix, .count = inner};
    return index_of(w, x, ct_bulk_gather(w->r, to, t, f, x->range));
}

static bool is_var(const CtBulk *t, const CtBulkVar *var) { return t->kind == BULK_VAR && t->as.var == var; }

/* Whether the gather passes its outermost `count` indices to dimensions of the same sizes, so that an index out of
 * range stays out of range. */
static bool carries(const CtBulk *gather, uint32_t count) {
    const CtIndexing *f = &gather->as.move.f;
    for (uint32_t i = 0; i < count; i++) {
        bool found = false;
        for (uint32_t j = 0; j < f->count; j++)
            found |= is_var(f->ix[j], f->vars[i]) && gather->as.move.t->shape.sizes[j] == gather->shape.sizes[i];
        if (!found) return false;
    }
    return true;
}

/* Whether a term has a value for all values of its variables: it contains no index that could be out of range. */
static bool is_total(CtBulk *t) {
    switch (t->kind) {
    case BULK_CONST:
    case BULK_VAR: return true;
    case BULK_OP: return is_total(t->as.op.args[0]) && (t->as.op.count == 1 || is_total(t->as.op.args[1]));
    case BULK_LOGIC:
        return is_total(t->as.logic.args[0]) && (t->as.logic.logic == LOGIC_NOT || is_total(t->as.logic.args[1]));
    case BULK_COND: return is_total(t->as.cond.test) && is_total(t->as.cond.yes) && is_total(t->as.cond.no);
    case BULK_LET: return is_total(t->as.let.rhs) && is_total(t->as.let.body);
    default: return false;
    }
}

static bool all_total(const CtIndexing *f) {
    for (uint32_t i = 0; i < f->count; i++)
        if (!is_total(f->ix[i])) return false;
    return f->live == NULL || is_total(f->live);
}

/* The index in range that is nearest to `ix`. */
static CtBulk *clamp(CtBulkRewriter *w, CtBulk *ix, int64_t size) {
    CtBulk *least = ct_bulk_op2(w->r, PRIM_INT_MIN, ix, ct_bulk_int(w->r, size - 1, scalar));
    return ct_bulk_op2(w->r, PRIM_INT_MAX, ct_bulk_int(w->r, 0, scalar), least);
}

/* f with its first `count` variables replaced: λis. let i = u in ix */
static CtIndexing apply(CtBulkRewriter *w, const CtIndexing *f, CtBulk *const *us, uint32_t count) {
    CtIndexing left = {f->vars + count, f->var_count - count, NULL, f->count, f->live};
    CtBulk **ix = CT_NEW_ARRAY(w->r->arena, CtBulk *, f->count);
    for (uint32_t j = 0; j < f->count; j++) {
        ix[j] = f->ix[j];
        for (uint32_t i = 0; i < count; i++) ix[j] = let_in_place(w, f->vars[i], us[i], ix[j]);
    }
    for (uint32_t i = 0; i < count; i++) left.live = let_in_place(w, f->vars[i], us[i], left.live);
    left.ix = ix;
    return left;
}

/* An index function for the case that no element exists; the array is computed all the same. */
static CtIndexing nowhere(CtBulkRewriter *w, const CtIndexing *f, uint32_t count) {
    CtBulk **ix = CT_NEW_ARRAY(w->r->arena, CtBulk *, f->count);
    for (uint32_t j = 0; j < f->count; j++) ix[j] = ct_bulk_int(w->r, 0, scalar);
    return (CtIndexing){f->vars + count, f->var_count - count, ix, f->count, ct_bulk_bool(w->r, false, scalar)};
}

static CtBulk *apart_from(CtBulkRewriter *w, CtBulk *gather, CtBulk *const *ix, uint32_t count) {
    bool captures = false;
    for (uint32_t i = 0; i < gather->as.move.f.var_count; i++)
        for (uint32_t j = 0; j < count; j++) captures |= ct_bulk_mentions(ix[j], gather->as.move.f.vars[i]);
    if (!captures) return gather;
    CtMap none = {0};
    gather = ct_bulk_substitute(w->r, gather, &none);
    ct_bulk_note(w, gather);
    return gather;
}

/* index (gather (k ::: sh) t (λ(i ::: is). ix)) (u ::: ix') ~> index (gather sh t (λis. let i = u in ix)) ix', for as
 * many as there are; index (gather [] t (λ[]. ix)) ix' ~> index (index t ix) ix' */
static CtBulk *index_gather(CtBulkRewriter *w, const Index *x) {
    CtBulk *gather = apart_from(w, x->source, x->ix, x->count), *t = gather->as.move.t;
    const CtIndexing *f = &gather->as.move.f;
    uint32_t taken = x->count < f->var_count ? x->count : f->var_count;
    bool some_left = true, none = false; /* points at which f is evaluated */
    for (uint32_t i = 0; i < f->var_count; i++) {
        some_left &= i < taken || gather->shape.sizes[i] > 0;
        none |= i < taken && gather->shape.sizes[i] == 0;
    }
    Names names = {.w = w};
    CtBulk *const *us = x->ix;
    CtBulk *live = NULL, *test = outside_any(w, us, gather->shape.sizes, taken);
    bool carried = f->live == NULL && some_left && !none && all_total(f) && carries(gather, taken);
    if (test != NULL && carried) {
        test = NULL;
        live = x->live;
    } else if (test != NULL) {
        us = name_all(&names, us, taken);
        live = name_it(&names, "live", x->live);
        /* NULL: in range, and what could fail is bound to names. */
        test = outside_any(w, us, gather->shape.sizes, taken);
        if (test != NULL) test = both(w, live, test);
    }
    if (test != NULL && !none && !all_total(f)) {
        CtBulk **inside = CT_NEW_ARRAY(w->r->arena, CtBulk *, taken);
        for (uint32_t i = 0; i < taken; i++) inside[i] = clamp(w, us[i], gather->shape.sizes[i]);
        us = inside;
    }
    CtIndexing left = none ? nowhere(w, f, taken) : apply(w, f, us, taken);
    if (!none) left.live = both(w, live, left.live);
    CtBulk *rest = left.var_count == 0
                       ? ct_bulk_index(w->r, t, left.ix, left.count, left.live, x->range)
                       : ct_bulk_gather(w->r, ct_bulk_shape_tail(gather->shape, taken), t, left, gather->range);
    ct_bulk_note(w, rest);
    if (x->count > taken) rest = ct_bulk_index(w->r, rest, x->ix + taken, x->count - taken, x->live, x->range);
    return check_gather(w, gather, bind_names(&names, check_inside(w, NULL, test, x->range, rest)));
}

/* index (oneHot sh ix₁ t) ix₂ ~> index (scatter sh t (λ[]. ix₁)) ix₂ */
static CtBulk *index_one_hot(CtBulkRewriter *w, const Index *x) {
    CtIndexing f = x->source->as.move.f;
    f.live = ct_bulk_bool(w->r, false, scalar);
    return index_of(w, x, ct_bulk_scatter(w->r, x->source->shape, x->source->as.move.t, f, x->source->range));
}

/* index (stop t) ix ~> stop (index t ix) */
static CtBulk *index_stop(CtBulkRewriter *w, const Index *x) {
    return ct_bulk_stop(w->r, index_of(w, x, x->source->as.t));
}

/* index (check b t) ix ~> check b (index t ix) */
static CtBulk *index_check(CtBulkRewriter *w, const Index *x) {
    CtBulk *check = x->source;
    return ct_bulk_check(w->r, check->as.check.test, check->as.check.code, check->as.check.text, check->range,
                         index_of(w, x, check->as.check.t));
}

/* index (loop …) ix ~> let x = loop … in index x ix */
static CtBulk *index_loop(CtBulkRewriter *w, const Index *x) {
    CtBulkVar *var = ct_bulk_new_var(w->r, "s", x->source->element, x->source->shape);
    return ct_bulk_let(w->r, var, x->source, index_of(w, x, ct_bulk_var(w->r, var)));
}

CtBulk *ct_bulk_contract_index(CtBulkRewriter *w, CtBulk *t) {
    const CtIndexing *f = &t->as.move.f;
    Index x = {t->as.move.t, f->ix, f->count, f->live, t->range};
    if (x.count == 0) return x.source; /* index t [] ~> t */
    if (x.live != NULL && is_bool(x.live, true)) return ct_bulk_index(w->r, x.source, x.ix, x.count, NULL, x.range);
    switch (x.source->kind) {
    case BULK_INDEX: return index_index(w, &x);
    case BULK_LET: return index_let(w, &x);
    case BULK_COND: return index_cond(w, &x);
    case BULK_OP: return index_op(w, &x);
    case BULK_LOGIC: return index_logic(w, &x);
    case BULK_REDUCE: return index_reduce(w, &x);
    case BULK_LITERAL: return x.count > 1 ? index_literal(w, &x) : NULL;
    case BULK_REPLICATE: return index_replicate(w, &x);
    case BULK_TRANSPOSE: return index_transpose(w, &x);
    case BULK_RESHAPE: return index_reshape(w, &x);
    case BULK_GATHER: return index_gather(w, &x);
    case BULK_ONE_HOT: return index_one_hot(w, &x);
    case BULK_STOP: return index_stop(w, &x);
    case BULK_CHECK: return index_check(w, &x);
    case BULK_LOOP: return index_loop(w, &x);
    case BULK_CONST:
    case BULK_VAR:
    case BULK_SCATTER:
    case BULK_BUILD: /* has been eliminated before */
    case BULK_SHARE: return NULL;
    }
    return NULL;
}
