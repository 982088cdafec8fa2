/* Array operations on stand-ins: what changes elements is a build1 over their index, what moves arrays as a whole stays
 * whole. */
#include "ad/bulk/trace/internal.h"

/* ---- build1 ---- */

/* The element at an index. */
typedef CtStand *Element(Tracer *tr, void *data, CtStand *index);

typedef struct Build {
    Scope *scope;
    CtBulkVar *i;
    int64_t size;
} Build;

static CtBulk *build_leaf(Tracer *tr, void *data, CtBulk *t) {
    const Build *b = data;
    CtBulk *body = ct_bulk_trace_bulk_closed(tr->room, &b->scope->bindings, t, false);
    return ct_bulk_trace_name(tr, "xs", ct_bulk_build(tr->room, b->size, b->i, body));
}

bool ct_bulk_trace_has_terms_only(const CtStand *s) {
    if (s->kind == STAND_TERM || s->kind == STAND_FAILURE) return true;
    if (s->kind == STAND_ROWS) return ct_bulk_trace_has_terms_only(s->as.rows.element);
    if (s->kind != STAND_TUPLE && s->kind != STAND_DATA && s->kind != STAND_LIST) return false;
    for (uint32_t i = 0; i < s->as.of.count; i++)
        if (!ct_bulk_trace_has_terms_only(s->as.of.parts[i])) return false;
    return true;
}

/* build1 size (λi. element i), leaf by leaf. */
static CtStand *build(Tracer *tr, int64_t size, Element *element, void *data, CtSpan span) {
    if (size == 0) return ct_bulk_abstract_parts(tr->room, STAND_LIST, NULL, 0, NULL);
    Scope inner = {.outer = tr->scope, .level = tr->scope->level + 1};
    Build b = {&inner, ct_bulk_new_var(tr->room, "i", ELEMENT_INT, ct_bulk_trace_scalar()), size};
    ct_bulk_trace_set_level(tr, b.i, inner.level);
    ct_bulk_note_var(&tr->ranges, b.i, (CtRange){0, size - 1});
    tr->scope = &inner;
    CtStand *made = element(tr, data, ct_bulk_abstract_term(tr->room, ct_bulk_var(tr->room, b.i)));
    made = ct_bulk_trace_unknown(tr, made);
    ct_bulk_trace_keep_failures(tr, &inner, made);
    tr->scope = inner.outer;
    if (ct_bulk_trace_refused(tr)) return made;
    for (uint32_t i = 0; i < inner.bindings.checks.count; i++) {
        const CtBulk *check = inner.bindings.checks.items[i];
        ct_bulk_trace_push_check(tr, build_leaf(tr, &b, check->as.check.test), check);
    }
    if (made->kind == STAND_FAILURE) return made;
    if (!ct_bulk_trace_has_terms_only(made))
        return ct_bulk_trace_refuse(tr, span, "an array whose elements differ in form, or are lists or functions");
    return ct_bulk_trace_array_of(tr, size, ct_bulk_trace_leaves(tr, made, build_leaf, &b));
}

/* ---- operations ---- */

/* What the elements of a result are made of. */
typedef struct From {
    CtStand *f, *xs, *ys, *at;
    CtSpan span;
} From;

static CtStand *int_op(Tracer *tr, CtPrim prim, CtStand *a, CtStand *b) {
    if (a->kind == STAND_KNOWN && b->kind == STAND_KNOWN && prim == PRIM_INT_ADD)
        return ct_bulk_abstract_known(tr->room, a->as.known + b->as.known);
    if (a->kind == STAND_KNOWN && b->kind == STAND_KNOWN && prim == PRIM_INT_SUB)
        return ct_bulk_abstract_known(tr->room, a->as.known - b->as.known);
    CtBulk *left = ct_bulk_trace_term(tr, a), *right = ct_bulk_trace_term(tr, b);
    return ct_bulk_trace_named(tr, ct_bulk_op2(tr->room, prim, left, right));
}

static CtStand *built(Tracer *tr, void *data, CtStand *i) {
    const From *from = data;
    return ct_bulk_trace_apply(tr, from->f, &i, 1, from->span);
}

static CtStand *mapped(Tracer *tr, void *data, CtStand *i) {
    const From *from = data;
    CtStand *x = ct_bulk_trace_element(tr, from->xs, i, from->span);
    return ct_bulk_trace_apply(tr, from->f, &x, 1, from->span);
}

static CtStand *zipped(Tracer *tr, void *data, CtStand *i) {
    const From *from = data;
    CtStand *both[2];
    both[0] = ct_bulk_trace_element(tr, from->xs, i, from->span);
    both[1] = ct_bulk_trace_element(tr, from->ys, i, from->span);
    return ct_bulk_trace_apply(tr, from->f, both, 2, from->span);
}

static CtStand *itself(Tracer *tr, void *data, CtStand *i) {
    (void)tr, (void)data;
    return i;
}

static CtStand *gathered(Tracer *tr, void *data, CtStand *i) {
    const From *from = data;
    return ct_bulk_trace_element(tr, from->xs, ct_bulk_trace_element(tr, from->ys, i, from->span), from->span);
}

static CtStand *reversed(Tracer *tr, void *data, CtStand *i) {
    const From *from = data;
    CtStand *last = ct_bulk_abstract_known(tr->room, ct_bulk_trace_size(from->xs) - 1);
    return ct_bulk_trace_element(tr, from->xs, int_op(tr, PRIM_INT_SUB, last, i), from->span);
}

static CtStand *sliced(Tracer *tr, void *data, CtStand *i) {
    const From *from = data;
    return ct_bulk_trace_element(tr, from->xs, int_op(tr, PRIM_INT_ADD, from->at, i), from->span);
}

/* if test then a else b, each meant only there. */
static CtStand *either(Tracer *tr, CtBulk *test, CtStand *xs, CtStand *i, CtStand *ys, CtStand *j, CtSpan span) {
    CtBulk *live = tr->live;
    tr->live = ct_bulk_trace_both(tr, live, test);
    CtStand *yes = i != NULL ? ct_bulk_trace_element(tr, xs, i, span) : xs;
    tr->live = ct_bulk_trace_both(tr, live, ct_bulk_trace_not(tr, test));
    CtStand *no = ct_bulk_trace_element(tr, ys, j, span);
    tr->live = live;
    return ct_bulk_trace_merge(tr, test, yes, no, span);
}

static CtStand *appended(Tracer *tr, void *data, CtStand *i) {
    const From *from = data;
    CtStand *size = ct_bulk_abstract_known(tr->room, ct_bulk_trace_size(from->xs));
    CtStand *test = int_op(tr, PRIM_INT_LT, i, size);
    return either(tr, test->as.term, from->xs, i, from->ys, int_op(tr, PRIM_INT_SUB, i, size), from->span);
}

static CtStand *updated(Tracer *tr, void *data, CtStand *i) {
    const From *from = data;
    CtStand *test = int_op(tr, PRIM_INT_EQ, i, from->at);
    return either(tr, test->as.term, from->ys, NULL, from->xs, i, from->span);
}

static CtBulk *replicated(Tracer *tr, void *data, CtBulk *t) {
    const int64_t *count = data;
    return ct_bulk_trace_name(tr, "t", ct_bulk_replicate(tr->room, *count, t));
}

static CtBulk *transposed(Tracer *tr, void *data, CtBulk *t) {
    static const uint32_t swapped[] = {1, 0};
    (void)data;
    return ct_bulk_trace_name(tr, "t", ct_bulk_transpose(tr->room, swapped, 2, t));
}

/* The outermost dimensions that become others. */
typedef struct Dimensions {
    uint32_t from, count;
    int64_t sizes[2];
} Dimensions;

static CtBulk *reshaped(Tracer *tr, void *data, CtBulk *t) {
    const Dimensions *d = data;
    CtShape shape = ct_bulk_shape_tail(t->shape, d->from);
    for (uint32_t i = d->count; i-- > 0;) shape = ct_bulk_shape_cons(tr->arena, d->sizes[i], shape);
    return ct_bulk_trace_name(tr, "t", ct_bulk_reshape(tr->room, shape, t));
}

static void always(Tracer *tr, CtErrorCode code, const char *text, CtSpan span) {
    ct_bulk_trace_check(tr, ct_bulk_bool(tr->room, true, ct_bulk_trace_scalar()), code, text, span);
}

static CtStand *failed(Tracer *tr, CtErrorCode code, const char *text, CtSpan span) {
    always(tr, code, text, span);
    return ct_bulk_abstract_new(tr->room, STAND_FAILURE);
}

static CtStand *reduction(Tracer *tr, CtReduction reduction, CtStand *xs, CtCore *core, const char *what) {
    CtSpan span = core->span;
    if (xs->kind == STAND_LIST) xs = ct_bulk_trace_array_from(tr, xs->as.of.parts, xs->as.of.count);
    if (xs->kind == STAND_FAILURE) return xs;
    CtBulk *t = xs->kind == STAND_TERM ? xs->as.term : NULL;
    bool needs_some = reduction > REDUCE_PRODUCT;
    if (ct_bulk_trace_size(xs) == 0 && needs_some)
        return failed(tr, CT_E0505, ct_format(tr->arena, "%s of an array without elements", what), span);
    if (ct_bulk_trace_size(xs) == 0 && core->type->kind == TYPE_INT)
        return ct_bulk_abstract_known(tr->room, reduction == REDUCE_PRODUCT ? 1 : 0);
    if (ct_bulk_trace_size(xs) == 0)
        return ct_bulk_abstract_term(tr->room,
                             ct_bulk_real(tr->room, reduction == REDUCE_PRODUCT ? 1.0 : 0.0, ct_bulk_trace_scalar()));
    if (t == NULL) return ct_bulk_trace_refuse(tr, span, "a reduction of an array whose elements differ in form");
    return ct_bulk_trace_named(tr, ct_bulk_reduce(tr->room, reduction, t, span));
}

/* map and zipWith of arrays of which one is a list of elements that are not alike. */
static CtStand *one_by_one(Tracer *tr, const From *from, bool both_, CtSpan span) {
    int64_t size = ct_bulk_trace_size(from->xs);
    CtStand **all = CT_NEW_ARRAY(tr->arena, CtStand *, (uint32_t)size);
    for (int64_t i = 0; i < size && !ct_bulk_trace_refused(tr); i++) {
        CtStand *at = ct_bulk_abstract_known(tr->room, i);
        all[i] = both_ ? zipped(tr, (void *)(uintptr_t)from, at) : mapped(tr, (void *)(uintptr_t)from, at);
    }
    (void)span;
    return ct_bulk_trace_array_from(tr, all, (uint32_t)size);
}

/* The length that `what` was asked for; NULL when there is one. */
static CtStand *sized(Tracer *tr, CtStand *n, const char *what, CtSpan span, int64_t *size) {
    if (n->kind != STAND_KNOWN) return ct_bulk_trace_refuse(tr, span, "an array whose length depends on numbers");
    *size = n->as.known;
    if (*size >= 0) return NULL;
    return failed(tr, CT_E0508, ct_format(tr->arena, "%s was asked for %lld elements", what, (long long)*size), span);
}

/* Where a slice begins has to be inside, also when it is empty, or when nobody looks at it. */
static CtStand *slice(Tracer *tr, CtStand *start, CtStand *count, CtStand *xs, CtSpan span) {
    int64_t size = 0, length = ct_bulk_trace_size(xs);
    CtStand *bad = sized(tr, count, "slice", span, &size);
    if (bad != NULL) return bad;
    const char *text = ct_format(tr->arena, "a slice of %lld is outside of an array of %lld elements", (long long)size,
                                 (long long)length);
    if (start->kind == STAND_KNOWN &&
        (start->as.known < 0 || start->as.known > length || size > length - start->as.known))
        return failed(tr, CT_E0501, text, span);
    if (size > length) return failed(tr, CT_E0501, text, span);
    ct_bulk_trace_check_inside(tr, ct_bulk_trace_term(tr, start), length - size + 1, text, span);
    return build(tr, size, sliced, &(From){.xs = xs, .at = start, .span = span}, span);
}

static CtStand *update(Tracer *tr, CtStand *xs, CtStand *at, CtStand *x, CtSpan span) {
    int64_t length = ct_bulk_trace_size(xs);
    const char *text = ct_format(tr->arena, "an index outside of an array of %lld elements", (long long)length);
    if (at->kind == STAND_KNOWN && (at->as.known < 0 || at->as.known >= length))
        return failed(tr, CT_E0501, text, span);
    if (!ct_bulk_trace_regular(xs, 1, x, 0) && length > 1) return ct_bulk_trace_irregular(tr, span);
    ct_bulk_trace_check_inside(tr, ct_bulk_trace_term(tr, at), length, text, span);
    return build(tr, length, updated, &(From){.xs = xs, .at = at, .ys = ct_bulk_trace_unknown(tr, x), .span = span}, span);
}

static CtStand *rows_reshaped(Tracer *tr, CtStand *xs, Dimensions d) {
    CtStand *inner = xs->kind == STAND_ROWS ? xs->as.rows.element : xs;
    for (uint32_t i = 1; i < d.from && inner->kind == STAND_ROWS; i++) inner = inner->as.rows.element;
    inner = ct_bulk_trace_leaves(tr, inner, reshaped, &d);
    for (uint32_t i = d.count; i-- > 0;) inner = ct_bulk_trace_array_of(tr, d.sizes[i], inner);
    return inner;
}

static CtStand *transpose(Tracer *tr, CtStand *xs, CtSpan span) {
    if (ct_bulk_trace_size(xs) == 0 || ct_bulk_trace_length_at(xs, 1) == 0) /* how long its rows would be is not told */
        return ct_bulk_abstract_parts(tr->room, STAND_LIST, NULL, 0, NULL);
    if (xs->kind == STAND_TERM && xs->as.term->shape.rank >= 2) return ct_bulk_trace_leaves(tr, xs, transposed, NULL);
    CtStand *row = xs->kind == STAND_ROWS ? xs->as.rows.element : NULL;
    if (row == NULL || row->kind != STAND_ROWS)
        return ct_bulk_trace_refuse(tr, span, "a transposition of an irregular array");
    CtStand *leaves = ct_bulk_trace_leaves(tr, row->as.rows.element, transposed, NULL);
    CtStand *inner = ct_bulk_trace_array_of(tr, xs->as.rows.size, leaves);
    return ct_bulk_trace_array_of(tr, row->as.rows.size, inner);
}

static CtStand *concat(Tracer *tr, CtStand *xs, CtSpan span) {
    if (ct_bulk_trace_length_at(xs, 1) == 0) return ct_bulk_abstract_parts(tr->room, STAND_LIST, NULL, 0, NULL);
    CtStand *row = xs->kind == STAND_ROWS ? xs->as.rows.element : xs;
    bool flat = xs->kind == STAND_TERM && xs->as.term->shape.rank >= 2;
    if (!flat && (xs->kind != STAND_ROWS || row->kind != STAND_ROWS))
        return ct_bulk_trace_size(xs) == 0 ? xs : ct_bulk_trace_refuse(tr, span, "a concatenation of an irregular array");
    int64_t inner = flat ? xs->as.term->shape.sizes[1] : row->as.rows.size;
    return rows_reshaped(tr, xs, (Dimensions){2, 1, {ct_bulk_trace_size(xs) * inner, 0}});
}

/* Below an empty dimension all are empty. */
static CtStand *shape(Tracer *tr, CtStand *xs, const CtType *type) {
    uint32_t rank = 0;
    for (; type->kind == TYPE_ARRAY; type = type->parts[0]) rank++;
    CtStand **sizes = CT_NEW_ARRAY(tr->arena, CtStand *, rank);
    int64_t size = 1;
    for (uint32_t i = 0; i < rank; i++) {
        size = size == 0 ? 0 : ct_bulk_trace_length_at(xs, i);
        sizes[i] = ct_bulk_abstract_known(tr->room, size);
    }
    return ct_bulk_abstract_parts(tr->room, STAND_LIST, sizes, rank, NULL);
}

CtStand *ct_bulk_trace_append(Tracer *tr, CtStand *xs, CtStand *ys, CtSpan span) {
    if (ct_bulk_trace_size(xs) == 0) return ys;
    if (ct_bulk_trace_size(ys) == 0) return xs;
    if (!ct_bulk_trace_regular(xs, 1, ys, 1)) return ct_bulk_trace_irregular(tr, span);
    int64_t size = ct_bulk_trace_size(xs) + ct_bulk_trace_size(ys);
    return build(tr, size, appended, &(From){.xs = xs, .ys = ys, .span = span}, span);
}

CtStand *ct_bulk_trace_array(Tracer *tr, const Env *env, CtCore *core) {
    CtStand *a[3] = {NULL, NULL, NULL}, *bad;
    CtSpan span = core->span;
    for (uint32_t i = 0; i < core->as.call.count; i++) {
        a[i] = ct_bulk_trace_eval(tr, env, core->as.call.args[i]);
        if (ct_bulk_trace_refused(tr)) return ct_bulk_abstract_new(tr->room, STAND_FAILURE); /* a[i] means nothing */
        if (a[i]->kind == STAND_FAILURE) return a[i];
    }
    int64_t size = 0;
    switch (core->as.call.of.array) {
    case ARRAY_INDEX: return ct_bulk_trace_element(tr, a[0], a[1], span);
    case ARRAY_LENGTH: return ct_bulk_abstract_known(tr->room, ct_bulk_trace_size(a[0]));
    case ARRAY_SHAPE: return shape(tr, a[0], core->as.call.args[0]->type);
    case ARRAY_BUILD:
        bad = sized(tr, a[0], "build", span, &size);
        return bad != NULL ? bad : build(tr, size, built, &(From){.f = a[1], .span = span}, span);
    case ARRAY_MAP: {
        From from = {.f = a[0], .xs = a[1], .span = span};
        if (a[1]->kind == STAND_LIST) return one_by_one(tr, &from, false, span);
        return build(tr, ct_bulk_trace_size(a[1]), mapped, &from, span);
    }
    case ARRAY_ZIP_WITH: {
        From from = {.f = a[0], .xs = a[1], .ys = a[2], .span = span};
        if (ct_bulk_trace_size(a[1]) != ct_bulk_trace_size(a[2]))
            return failed(tr, CT_E0504,
                          ct_format(tr->arena, "zipWith takes arrays of one length; these have %lld and %lld elements",
                                    (long long)ct_bulk_trace_size(a[1]), (long long)ct_bulk_trace_size(a[2])),
                          span);
        if (a[1]->kind == STAND_LIST || a[2]->kind == STAND_LIST) return one_by_one(tr, &from, true, span);
        return build(tr, ct_bulk_trace_size(a[1]), zipped, &from, span);
    }
    case ARRAY_FOLDL:
    case ARRAY_REDUCE: return ct_bulk_trace_fold(tr, FOLD_LAST, a[0], a[1], a[2], span);
    case ARRAY_SCANL: return ct_bulk_trace_fold(tr, FOLD_BEFORE, a[0], a[1], a[2], span);
    case ARRAY_SCAN: return ct_bulk_trace_fold(tr, FOLD_AFTER, a[0], a[1], a[2], span);
    case ARRAY_MAP_ACCUM: return ct_bulk_trace_fold(tr, FOLD_PAIR, a[0], a[1], a[2], span);
    case ARRAY_SUM: return reduction(tr, REDUCE_PLAIN_SUM, a[0], core, "sum");
    case ARRAY_PRODUCT: return reduction(tr, REDUCE_PRODUCT, a[0], core, "product");
    case ARRAY_MAXIMUM: return reduction(tr, REDUCE_MAXIMUM, a[0], core, "maximum");
    case ARRAY_MINIMUM: return reduction(tr, REDUCE_MINIMUM, a[0], core, "minimum");
    case ARRAY_ARGMAX: return reduction(tr, REDUCE_ARGMAX, a[0], core, "argmax");
    case ARRAY_ARGMIN: return reduction(tr, REDUCE_ARGMIN, a[0], core, "argmin");
    case ARRAY_REPLICATE:
        bad = sized(tr, a[0], "replicate", span, &size);
        if (bad != NULL) return bad;
        return ct_bulk_trace_array_of(tr, size, ct_bulk_trace_leaves(tr, ct_bulk_trace_unknown(tr, a[1]), replicated, &size));
    case ARRAY_IOTA:
        bad = sized(tr, a[0], "iota", span, &size);
        return bad != NULL ? bad : build(tr, size, itself, NULL, span);
    case ARRAY_GATHER:
        return build(tr, ct_bulk_trace_size(a[1]), gathered, &(From){.xs = a[0], .ys = a[1], .span = span}, span);
    case ARRAY_TRANSPOSE: return transpose(tr, a[0], span);
    case ARRAY_RESHAPE: {
        int64_t columns = 0, product;
        bad = sized(tr, a[0], "reshape", span, &size);
        if (bad == NULL) bad = sized(tr, a[1], "reshape", span, &columns);
        if (bad != NULL) return bad;
        if (__builtin_mul_overflow(size, columns, &product) || product != ct_bulk_trace_size(a[2]))
            return failed(tr, CT_E0504,
                          ct_format(tr->arena, "%lld rows of %lld cannot be made of %lld elements", (long long)size,
                                    (long long)columns, (long long)ct_bulk_trace_size(a[2])),
                          span);
        return rows_reshaped(tr, a[2], (Dimensions){1, 2, {size, columns}});
    }
    case ARRAY_REVERSE: return build(tr, ct_bulk_trace_size(a[0]), reversed, &(From){.xs = a[0], .span = span}, span);
    case ARRAY_APPEND: return ct_bulk_trace_append(tr, a[0], a[1], span);
    case ARRAY_SLICE: return slice(tr, a[0], a[1], a[2], span);
    case ARRAY_CONCAT: return concat(tr, a[0], span);
    case ARRAY_UPDATE: return update(tr, a[0], a[1], a[2], span);
    case ARRAY_SNOC: return ct_bulk_trace_append(tr, a[0], ct_bulk_trace_array_from(tr, &a[1], 1), span);
    case ARRAY_STRIDED: /* what bulk itself makes */
    case ARRAY_GATHER_OR:
    case ARRAY_SCATTER_ADD:
    case ARRAY_SUM_ROWS:
    case ARRAY_SELECT:
    case CT_ARRAY_OP_COUNT: break;
    }
    return ct_bulk_trace_refuse(tr, span, "this operation on arrays");
}
