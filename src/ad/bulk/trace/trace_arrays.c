/* Array operations on abstract values. Operations that compute elements become a build1 over their index; operations
 * that move whole arrays stay whole. */
#include "ad/bulk/trace/internal.h"

/* ---- build1 ---- */

/* The element at an index. */
typedef CtAbstract *Element(Tracer *tr, void *data, CtAbstract *index);

typedef struct Build {
    Scope *scope;
    CtBulkVar *i;
    int64_t size;
} Build;

static CtBulk *build_leaf(Tracer *tr, void *data, CtBulk *t) {
    const Build *b = data;
    CtBulk *body = ct_bulk_trace_closed(tr->builder, &b->scope->bindings, t, false);
    return ct_bulk_trace_name(tr, "xs", ct_bulk_build(tr->builder, b->size, b->i, body));
}

bool ct_bulk_trace_has_terms_only(const CtAbstract *s) {
    if (s->kind == ABSTRACT_TERM || s->kind == ABSTRACT_FAILURE) return true;
    if (s->kind == ABSTRACT_ROWS) return ct_bulk_trace_has_terms_only(s->as.rows.element);
    if (s->kind != ABSTRACT_TUPLE && s->kind != ABSTRACT_DATA && s->kind != ABSTRACT_LIST) return false;
    for (uint32_t i = 0; i < s->as.of.count; i++)
        if (!ct_bulk_trace_has_terms_only(s->as.of.parts[i])) return false;
    return true;
}

/* build1 size (λi. element i), leaf by leaf. */
static CtAbstract *build(Tracer *tr, int64_t size, Element *element, void *data, CtSourceRange range) {
    if (size == 0) return ct_bulk_abstract_parts(tr->builder, ABSTRACT_LIST, NULL, 0, NULL);
    Scope inner = {.outer = tr->scope, .level = tr->scope->level + 1};
    Build b = {&inner, ct_bulk_new_var(tr->builder, "i", ELEMENT_INT, ct_bulk_trace_scalar()), size};
    ct_bulk_trace_set_level(tr, b.i, inner.level);
    ct_bulk_note_var(&tr->ranges, b.i, (CtRange){0, size - 1});
    tr->scope = &inner;
    CtAbstract *made = element(tr, data, ct_bulk_abstract_term(tr->builder, ct_bulk_var(tr->builder, b.i)));
    made = ct_bulk_trace_unknown(tr, made);
    ct_bulk_trace_keep_failures(tr, &inner, made);
    tr->scope = inner.outer;
    if (ct_bulk_trace_refused(tr)) return made;
    for (uint32_t i = 0; i < inner.bindings.checks.count; i++) {
        const CtBulk *check = inner.bindings.checks.items[i];
        ct_bulk_trace_push_check(tr, build_leaf(tr, &b, check->as.check.test), check);
    }
    if (made->kind == ABSTRACT_FAILURE) return made;
    if (!ct_bulk_trace_has_terms_only(made))
        return ct_bulk_trace_refuse(tr, range, "an array whose elements differ in form, or are lists or functions");
    return ct_bulk_trace_array_of(tr, size, ct_bulk_trace_leaves(tr, made, build_leaf, &b));
}

/* ---- operations ---- */

/* What the elements of a result are computed from. */
typedef struct From {
    CtAbstract *f, *xs, *ys, *at;
    CtSourceRange range;
} From;

static CtAbstract *int_op(Tracer *tr, CtPrim prim, CtAbstract *a, CtAbstract *b) {
    if (a->kind == ABSTRACT_KNOWN && b->kind == ABSTRACT_KNOWN && prim == PRIM_INT_ADD)
        return ct_bulk_abstract_known(tr->builder, a->as.known + b->as.known);
    if (a->kind == ABSTRACT_KNOWN && b->kind == ABSTRACT_KNOWN && prim == PRIM_INT_SUB)
        return ct_bulk_abstract_known(tr->builder, a->as.known - b->as.known);
    CtBulk *left = ct_bulk_trace_term(tr, a), *right = ct_bulk_trace_term(tr, b);
    return ct_bulk_trace_named(tr, ct_bulk_op2(tr->builder, prim, left, right));
}

static CtAbstract *built(Tracer *tr, void *data, CtAbstract *i) {
    const From *from = data;
    return ct_bulk_trace_apply(tr, from->f, &i, 1, from->range);
}

static CtAbstract *mapped(Tracer *tr, void *data, CtAbstract *i) {
    const From *from = data;
    CtAbstract *x = ct_bulk_trace_element(tr, from->xs, i, from->range);
    return ct_bulk_trace_apply(tr, from->f, &x, 1, from->range);
}

static CtAbstract *zipped(Tracer *tr, void *data, CtAbstract *i) {
    const From *from = data;
    CtAbstract *both[2];
    both[0] = ct_bulk_trace_element(tr, from->xs, i, from->range);
    both[1] = ct_bulk_trace_element(tr, from->ys, i, from->range);
    return ct_bulk_trace_apply(tr, from->f, both, 2, from->range);
}

static CtAbstract *itself(Tracer *tr, void *data, CtAbstract *i) {
    (void)tr, (void)data;
    return i;
}

static CtAbstract *gathered(Tracer *tr, void *data, CtAbstract *i) {
    const From *from = data;
    return ct_bulk_trace_element(tr, from->xs, ct_bulk_trace_element(tr, from->ys, i, from->range), from->range);
}

static CtAbstract *reversed(Tracer *tr, void *data, CtAbstract *i) {
    const From *from = data;
    CtAbstract *last = ct_bulk_abstract_known(tr->builder, ct_bulk_trace_size(from->xs) - 1);
    return ct_bulk_trace_element(tr, from->xs, int_op(tr, PRIM_INT_SUB, last, i), from->range);
}

static CtAbstract *sliced(Tracer *tr, void *data, CtAbstract *i) {
    const From *from = data;
    return ct_bulk_trace_element(tr, from->xs, int_op(tr, PRIM_INT_ADD, from->at, i), from->range);
}

/* if test then a else b, each needed only under its condition. */
static CtAbstract *either(Tracer *tr, CtBulk *test, CtAbstract *xs, CtAbstract *i, CtAbstract *ys, CtAbstract *j,
                          CtSourceRange range) {
    CtBulk *live = tr->live;
    tr->live = ct_bulk_trace_both(tr, live, test);
    CtAbstract *yes = i != NULL ? ct_bulk_trace_element(tr, xs, i, range) : xs;
    tr->live = ct_bulk_trace_both(tr, live, ct_bulk_trace_not(tr, test));
    CtAbstract *no = ct_bulk_trace_element(tr, ys, j, range);
    tr->live = live;
    return ct_bulk_trace_merge(tr, test, yes, no, range);
}

static CtAbstract *appended(Tracer *tr, void *data, CtAbstract *i) {
    const From *from = data;
    CtAbstract *size = ct_bulk_abstract_known(tr->builder, ct_bulk_trace_size(from->xs));
    CtAbstract *test = int_op(tr, PRIM_INT_LT, i, size);
    return either(tr, test->as.term, from->xs, i, from->ys, int_op(tr, PRIM_INT_SUB, i, size), from->range);
}

static CtAbstract *updated(Tracer *tr, void *data, CtAbstract *i) {
    const From *from = data;
    CtAbstract *test = int_op(tr, PRIM_INT_EQ, i, from->at);
    return either(tr, test->as.term, from->ys, NULL, from->xs, i, from->range);
}

static CtBulk *replicated(Tracer *tr, void *data, CtBulk *t) {
    const int64_t *count = data;
    return ct_bulk_trace_name(tr, "t", ct_bulk_replicate(tr->builder, *count, t));
}

static CtBulk *transposed(Tracer *tr, void *data, CtBulk *t) {
    static const uint32_t swapped[] = {1, 0};
    (void)data;
    return ct_bulk_trace_name(tr, "t", ct_bulk_transpose(tr->builder, swapped, 2, t));
}

/* The outermost dimensions that are replaced. */
typedef struct Dimensions {
    uint32_t from, count;
    int64_t sizes[2];
} Dimensions;

static CtBulk *reshaped(Tracer *tr, void *data, CtBulk *t) {
    const Dimensions *d = data;
    CtShape shape = ct_bulk_shape_tail(t->shape, d->from);
    for (uint32_t i = d->count; i-- > 0;) shape = ct_bulk_shape_cons(tr->arena, d->sizes[i], shape);
    return ct_bulk_trace_name(tr, "t", ct_bulk_reshape(tr->builder, shape, t));
}

static void always(Tracer *tr, CtErrorCode code, const char *text, CtSourceRange range) {
    ct_bulk_trace_check(tr, ct_bulk_bool(tr->builder, true, ct_bulk_trace_scalar()), code, text, range);
}

static CtAbstract *failed(Tracer *tr, CtErrorCode code, const char *text, CtSourceRange range) {
    always(tr, code, text, range);
    return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE);
}

static CtAbstract *reduction(Tracer *tr, CtReduction reduction, CtAbstract *xs, CtCore *core, const char *what) {
    CtSourceRange range = core->range;
    if (xs->kind == ABSTRACT_LIST) xs = ct_bulk_trace_array_from(tr, xs->as.of.parts, xs->as.of.count);
    if (xs->kind == ABSTRACT_FAILURE) return xs;
    CtBulk *t = xs->kind == ABSTRACT_TERM ? xs->as.term : NULL;
    bool needs_some = reduction > REDUCE_PRODUCT;
    if (ct_bulk_trace_size(xs) == 0 && needs_some)
        return failed(tr, CT_E0505, ct_format(tr->arena, "%s of an array without elements", what), range);
    if (ct_bulk_trace_size(xs) == 0 && core->type->kind == TYPE_INT)
        return ct_bulk_abstract_known(tr->builder, reduction == REDUCE_PRODUCT ? 1 : 0);
    if (ct_bulk_trace_size(xs) == 0)
        return ct_bulk_abstract_term(
            tr->builder, ct_bulk_real(tr->builder, reduction == REDUCE_PRODUCT ? 1.0 : 0.0, ct_bulk_trace_scalar()));
    if (t == NULL) return ct_bulk_trace_refuse(tr, range, "a reduction of an array whose elements differ in form");
    return ct_bulk_trace_named(tr, ct_bulk_reduce(tr->builder, reduction, t, range));
}

/* map and zipWith over a list of elements that differ in structure, element by element. */
static CtAbstract *one_by_one(Tracer *tr, const From *from, bool both_, CtSourceRange range) {
    int64_t size = ct_bulk_trace_size(from->xs);
    CtAbstract **all = CT_NEW_ARRAY(tr->arena, CtAbstract *, (uint32_t)size);
    for (int64_t i = 0; i < size && !ct_bulk_trace_refused(tr); i++) {
        CtAbstract *at = ct_bulk_abstract_known(tr->builder, i);
        all[i] = both_ ? zipped(tr, (void *)(uintptr_t)from, at) : mapped(tr, (void *)(uintptr_t)from, at);
    }
    if (ct_bulk_trace_refused(tr))
        return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE); /* some of `all` is missing */
    if (ct_bulk_trace_irregular_item(all, (uint32_t)size) > 0) return ct_bulk_trace_irregular(tr, range);
    return ct_bulk_trace_array_from(tr, all, (uint32_t)size);
}

/* The length that the operation `what` is given must be known; sets `size`. NULL when it is, otherwise the refusal. */
static CtAbstract *sized(Tracer *tr, CtAbstract *n, const char *what, CtSourceRange range, int64_t *size) {
    if (n->kind != ABSTRACT_KNOWN) return ct_bulk_trace_refuse(tr, range, "an array whose length depends on numbers");
    *size = n->as.known;
    if (*size >= 0) return NULL;
    return failed(tr, CT_E0508, ct_format(tr->arena, "%s was asked for %lld elements", what, (long long)*size), range);
}

CtAbstract *ct_bulk_trace_slice(Tracer *tr, CtAbstract *xs, int64_t start, int64_t size, CtSourceRange range) {
    CtAbstract *at = ct_bulk_abstract_known(tr->builder, start);
    return build(tr, size, sliced, &(From){.xs = xs, .at = at, .range = range}, range);
}

/* The start of a slice must be in range even if the slice is empty or unused. */
static CtAbstract *slice(Tracer *tr, CtAbstract *start, CtAbstract *count, CtAbstract *xs, CtSourceRange range) {
    int64_t size = 0, length = ct_bulk_trace_size(xs);
    CtAbstract *bad = sized(tr, count, "slice", range, &size);
    if (bad != NULL) return bad;
    const char *text = ct_format(tr->arena, "a slice of %lld is outside of an array of %lld elements", (long long)size,
                                 (long long)length);
    if (start->kind == ABSTRACT_KNOWN &&
        (start->as.known < 0 || start->as.known > length || size > length - start->as.known))
        return failed(tr, CT_E0501, text, range);
    if (size > length) return failed(tr, CT_E0501, text, range);
    ct_bulk_trace_check_inside(tr, ct_bulk_trace_term(tr, start), length - size + 1, text, range);
    return build(tr, size, sliced, &(From){.xs = xs, .at = start, .range = range}, range);
}

CtAbstract *ct_bulk_trace_put(Tracer *tr, CtAbstract *xs, CtAbstract *at, CtAbstract *x, CtSourceRange range) {
    return build(tr, ct_bulk_trace_size(xs), updated, &(From){.xs = xs, .at = at, .ys = x, .range = range}, range);
}

static CtAbstract *update(Tracer *tr, CtAbstract *xs, CtAbstract *at, CtAbstract *x, CtSourceRange range) {
    int64_t length = ct_bulk_trace_size(xs);
    const char *text = ct_format(tr->arena, "an index outside of an array of %lld elements", (long long)length);
    if (at->kind == ABSTRACT_KNOWN && (at->as.known < 0 || at->as.known >= length))
        return failed(tr, CT_E0501, text, range);
    if (!ct_bulk_trace_regular(xs, 1, x, 0) && length > 1) return ct_bulk_trace_irregular(tr, range);
    ct_bulk_trace_check_inside(tr, ct_bulk_trace_term(tr, at), length, text, range);
    return ct_bulk_trace_put(tr, xs, at, ct_bulk_trace_unknown(tr, x), range);
}

static CtAbstract *rows_reshaped(Tracer *tr, CtAbstract *xs, Dimensions d) {
    CtAbstract *inner = xs->kind == ABSTRACT_ROWS ? xs->as.rows.element : xs;
    for (uint32_t i = 1; i < d.from && inner->kind == ABSTRACT_ROWS; i++) inner = inner->as.rows.element;
    inner = ct_bulk_trace_leaves(tr, inner, reshaped, &d);
    for (uint32_t i = d.count; i-- > 0;) inner = ct_bulk_trace_array_of(tr, d.sizes[i], inner);
    return inner;
}

/* A list is empty, or its elements are not alike: so the rows are lists, too. */
static CtAbstract *list_reshaped(Tracer *tr, const CtAbstract *xs, int64_t rows, int64_t columns) {
    if (rows == 0) return ct_bulk_trace_array_from(tr, NULL, 0);
    if (columns == 0) return ct_bulk_trace_array_of(tr, rows, ct_bulk_trace_array_from(tr, NULL, 0));
    CtAbstract **all = CT_NEW_ARRAY(tr->arena, CtAbstract *, (uint32_t)rows);
    for (int64_t i = 0; i < rows; i++)
        all[i] = ct_bulk_trace_array_from(tr, xs->as.of.parts + i * columns, (uint32_t)columns);
    return ct_bulk_trace_array_from(tr, all, (uint32_t)rows);
}

static CtAbstract *transpose(Tracer *tr, CtAbstract *xs, CtSourceRange range) {
    if (ct_bulk_trace_size(xs) == 0 || ct_bulk_trace_length_at(xs, 1) == 0) /* the length of its rows is not known */
        return ct_bulk_abstract_parts(tr->builder, ABSTRACT_LIST, NULL, 0, NULL);
    if (xs->kind == ABSTRACT_TERM && xs->as.term->shape.rank >= 2)
        return ct_bulk_trace_leaves(tr, xs, transposed, NULL);
    CtAbstract *row = xs->kind == ABSTRACT_ROWS ? xs->as.rows.element : NULL;
    if (row == NULL || row->kind != ABSTRACT_ROWS)
        return ct_bulk_trace_refuse(tr, range, "a transposition of an irregular array");
    CtAbstract *leaves = ct_bulk_trace_leaves(tr, row->as.rows.element, transposed, NULL);
    CtAbstract *inner = ct_bulk_trace_array_of(tr, xs->as.rows.size, leaves);
    return ct_bulk_trace_array_of(tr, row->as.rows.size, inner);
}

static CtAbstract *concat(Tracer *tr, CtAbstract *xs, CtSourceRange range) {
    if (ct_bulk_trace_length_at(xs, 1) == 0) return ct_bulk_abstract_parts(tr->builder, ABSTRACT_LIST, NULL, 0, NULL);
    CtAbstract *row = xs->kind == ABSTRACT_ROWS ? xs->as.rows.element : xs;
    bool flat = xs->kind == ABSTRACT_TERM && xs->as.term->shape.rank >= 2;
    if (!flat && (xs->kind != ABSTRACT_ROWS || row->kind != ABSTRACT_ROWS))
        return ct_bulk_trace_size(xs) == 0 ? xs
                                           : ct_bulk_trace_refuse(tr, range, "a concatenation of an irregular array");
    int64_t inner = flat ? xs->as.term->shape.sizes[1] : row->as.rows.size;
    return rows_reshaped(tr, xs, (Dimensions){2, 1, {ct_bulk_trace_size(xs) * inner, 0}});
}

/* Below an empty dimension all are empty. */
static CtAbstract *shape(Tracer *tr, CtAbstract *xs, const CtType *type) {
    uint32_t rank = 0;
    for (; type->kind == TYPE_ARRAY; type = type->parts[0]) rank++;
    CtAbstract **sizes = CT_NEW_ARRAY(tr->arena, CtAbstract *, rank);
    int64_t size = 1;
    for (uint32_t i = 0; i < rank; i++) {
        size = size == 0 ? 0 : ct_bulk_trace_length_at(xs, i);
        sizes[i] = ct_bulk_abstract_known(tr->builder, size);
    }
    return ct_bulk_abstract_parts(tr->builder, ABSTRACT_LIST, sizes, rank, NULL);
}

CtAbstract *ct_bulk_trace_append(Tracer *tr, CtAbstract *xs, CtAbstract *ys, CtSourceRange range) {
    if (ct_bulk_trace_size(xs) == 0) return ys;
    if (ct_bulk_trace_size(ys) == 0) return xs;
    if (!ct_bulk_trace_regular(xs, 1, ys, 1)) return ct_bulk_trace_irregular(tr, range);
    int64_t size = ct_bulk_trace_size(xs) + ct_bulk_trace_size(ys);
    return build(tr, size, appended, &(From){.xs = xs, .ys = ys, .range = range}, range);
}

CtAbstract *ct_bulk_trace_array(Tracer *tr, const Env *env, CtCore *core) {
    CtAbstract *a[3] = {NULL, NULL, NULL}, *bad;
    CtSourceRange range = core->range;
    for (uint32_t i = 0; i < core->as.call.count; i++) {
        a[i] = ct_bulk_trace_eval(tr, env, core->as.call.args[i]);
        if (ct_bulk_trace_refused(tr))
            return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE); /* no element exists */
        if (a[i]->kind == ABSTRACT_FAILURE) return a[i];
    }
    int64_t size = 0;
    for (uint32_t i = 0; i < core->as.call.count; i++)
        if (a[i]->kind == ABSTRACT_GROWING)
            return i == 0 ? ct_bulk_trace_growing(tr, core->as.call.of.array, a, core->as.call.count, range)
                          : ct_bulk_trace_refuse(tr, range, "an operation on all of an array that grows in a loop");
    switch (core->as.call.of.array) {
    case ARRAY_INDEX: return ct_bulk_trace_element(tr, a[0], a[1], range);
    case ARRAY_LENGTH: return ct_bulk_abstract_known(tr->builder, ct_bulk_trace_size(a[0]));
    case ARRAY_SHAPE: return shape(tr, a[0], core->as.call.args[0]->type);
    case ARRAY_BUILD:
        bad = sized(tr, a[0], "build", range, &size);
        return bad != NULL ? bad : build(tr, size, built, &(From){.f = a[1], .range = range}, range);
    case ARRAY_MAP: {
        From from = {.f = a[0], .xs = a[1], .range = range};
        if (a[1]->kind == ABSTRACT_LIST) return one_by_one(tr, &from, false, range);
        return build(tr, ct_bulk_trace_size(a[1]), mapped, &from, range);
    }
    case ARRAY_ZIP_WITH: {
        From from = {.f = a[0], .xs = a[1], .ys = a[2], .range = range};
        if (ct_bulk_trace_size(a[1]) != ct_bulk_trace_size(a[2]))
            return failed(tr, CT_E0504,
                          ct_format(tr->arena, "zipWith takes arrays of one length; these have %lld and %lld elements",
                                    (long long)ct_bulk_trace_size(a[1]), (long long)ct_bulk_trace_size(a[2])),
                          range);
        if (a[1]->kind == ABSTRACT_LIST || a[2]->kind == ABSTRACT_LIST) return one_by_one(tr, &from, true, range);
        return build(tr, ct_bulk_trace_size(a[1]), zipped, &from, range);
    }
    case ARRAY_FOLDL:
    case ARRAY_REDUCE: return ct_bulk_trace_fold(tr, FOLD_LAST, a[0], a[1], a[2], range);
    case ARRAY_SCANL: return ct_bulk_trace_fold(tr, FOLD_BEFORE, a[0], a[1], a[2], range);
    case ARRAY_SCAN: return ct_bulk_trace_fold(tr, FOLD_AFTER, a[0], a[1], a[2], range);
    case ARRAY_MAP_ACCUM: return ct_bulk_trace_fold(tr, FOLD_PAIR, a[0], a[1], a[2], range);
    case ARRAY_SUM: return reduction(tr, REDUCE_PLAIN_SUM, a[0], core, "sum");
    case ARRAY_PRODUCT: return reduction(tr, REDUCE_PRODUCT, a[0], core, "product");
    case ARRAY_MAXIMUM: return reduction(tr, REDUCE_MAXIMUM, a[0], core, "maximum");
    case ARRAY_MINIMUM: return reduction(tr, REDUCE_MINIMUM, a[0], core, "minimum");
    case ARRAY_ARGMAX: return reduction(tr, REDUCE_ARGMAX, a[0], core, "argmax");
    case ARRAY_ARGMIN: return reduction(tr, REDUCE_ARGMIN, a[0], core, "argmin");
    case ARRAY_REPLICATE:
        bad = sized(tr, a[0], "replicate", range, &size);
        if (bad != NULL) return bad;
        return ct_bulk_trace_array_of(tr, size,
                                      ct_bulk_trace_leaves(tr, ct_bulk_trace_unknown(tr, a[1]), replicated, &size));
    case ARRAY_IOTA:
        bad = sized(tr, a[0], "iota", range, &size);
        return bad != NULL ? bad : build(tr, size, itself, NULL, range);
    case ARRAY_GATHER:
        return build(tr, ct_bulk_trace_size(a[1]), gathered, &(From){.xs = a[0], .ys = a[1], .range = range}, range);
    case ARRAY_TRANSPOSE: return transpose(tr, a[0], range);
    case ARRAY_RESHAPE: {
        int64_t columns = 0, product;
        bad = sized(tr, a[0], "reshape", range, &size);
        if (bad == NULL) bad = sized(tr, a[1], "reshape", range, &columns);
        if (bad != NULL) return bad;
        if (__builtin_mul_overflow(size, columns, &product) || product != ct_bulk_trace_size(a[2]))
            return failed(tr, CT_E0504,
                          ct_format(tr->arena, "%lld rows of %lld cannot be made of %lld elements", (long long)size,
                                    (long long)columns, (long long)ct_bulk_trace_size(a[2])),
                          range);
        if (a[2]->kind == ABSTRACT_LIST) return list_reshaped(tr, a[2], size, columns);
        return rows_reshaped(tr, a[2], (Dimensions){1, 2, {size, columns}});
    }
    case ARRAY_REVERSE:
        return build(tr, ct_bulk_trace_size(a[0]), reversed, &(From){.xs = a[0], .range = range}, range);
    case ARRAY_APPEND: return ct_bulk_trace_append(tr, a[0], a[1], range);
    case ARRAY_SLICE: return slice(tr, a[0], a[1], a[2], range);
    case ARRAY_CONCAT: return concat(tr, a[0], range);
    case ARRAY_UPDATE: return update(tr, a[0], a[1], a[2], range);
    case ARRAY_SNOC: return ct_bulk_trace_append(tr, a[0], ct_bulk_trace_array_from(tr, &a[1], 1), range);
    case ARRAY_STRIDED: /* generated by bulk itself */
    case ARRAY_GATHER_OR:
    case ARRAY_SCATTER_ADD:
    case ARRAY_ADD_AT:
    case ARRAY_SUM_ROWS:
    case ARRAY_SELECT:
    case CT_ARRAY_OP_COUNT: break;
    }
    return ct_bulk_trace_refuse(tr, range, "this operation on arrays");
}
