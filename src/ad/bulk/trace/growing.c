/* Arrays in the state of a loop to which each step appends a fixed number of elements, such as
 *
 *   foldl (\xs y -> snoc xs (f xs y)) xs ys
 *
 * Shapes are known in this language, and equal in all steps. So the loop gets an array with room for all elements, of
 * which those up to the current length exist: snoc is an update at this length. The length is a counter
 * (trace_recursion.c), so comparisons with it are decided for all steps, or end the loop. Operations on the whole array
 * other than sums are refused, since their results have no fixed shape; then the loop is unrolled. */
#include "ad/bulk/trace/internal.h"

enum { LARGEST = 1 << 28 }; /* number of elements with room for them */

static int64_t room(const CtAbstract *xs) { return ct_bulk_trace_size(xs->as.growing.all); }

static CtAbstract *growing(Tracer *tr, const CtAbstract *like, CtAbstract *all, int64_t added) {
    CtAbstract *made = ct_bulk_abstract_new(tr->builder, ABSTRACT_GROWING);
    made->as.growing = like->as.growing;
    made->as.growing.all = all;
    made->as.growing.added = added;
    return made;
}

static CtAbstract *length_of(Tracer *tr, const CtAbstract *xs) {
    CtAbstract *made = ct_bulk_abstract_new(tr->builder, ABSTRACT_COUNTER);
    made->as.counter.base = xs->as.growing.base + xs->as.growing.added;
    made->as.counter.slope = xs->as.growing.slope;
    made->as.counter.of = xs->as.growing.of;
    return made;
}

bool ct_bulk_trace_has_growing(const CtAbstract *s) {
    if (s->kind == ABSTRACT_GROWING) return true;
    if (s->kind != ABSTRACT_TUPLE && s->kind != ABSTRACT_DATA && s->kind != ABSTRACT_LIST) return false;
    for (uint32_t i = 0; i < s->as.of.count; i++)
        if (ct_bulk_trace_has_growing(s->as.of.parts[i])) return true;
    return false;
}

CtAbstract *ct_bulk_trace_refuse_growing(Tracer *tr, CtSourceRange range) {
    return ct_bulk_trace_refuse(tr, range, "an operation on all of an array that grows in a loop");
}

/* ---- elements ---- */

/* Whether an index is inside at every step. */
static bool is_inside(Tracer *tr, const CtAbstract *xs, const CtAbstract *i) {
    int64_t least = xs->as.growing.base + xs->as.growing.added;
    if (i->kind == ABSTRACT_COUNTER && i->as.counter.of == xs->as.growing.of)
        return i->as.counter.base >= 0 && i->as.counter.base < least && i->as.counter.slope >= 0 &&
               i->as.counter.slope <= xs->as.growing.slope;
    return ct_bulk_is_inside(&tr->ranges, ct_bulk_trace_term(tr, i), least);
}

static bool check_inside(Tracer *tr, const CtAbstract *xs, const CtAbstract *i, CtSourceRange range) {
    CtBulkBuilder *r = tr->builder;
    CtBulk *at = ct_bulk_trace_term(tr, i);
    if (at == NULL) return false;
    if (is_inside(tr, xs, i)) return true;
    CtBulk *size = ct_bulk_trace_term(tr, length_of(tr, xs));
    CtBulk *zero = ct_bulk_int(r, 0, ct_bulk_trace_scalar());
    CtBulk *below = ct_bulk_trace_name(tr, "b", ct_bulk_op2(r, PRIM_INT_LT, at, zero));
    CtBulk *above = ct_bulk_trace_name(tr, "b", ct_bulk_op2(r, PRIM_INT_LE, size, at));
    CtBulk *bad = ct_bulk_trace_name(tr, "b", ct_bulk_logic(r, LOGIC_OR, below, above));
    ct_bulk_trace_check(tr, bad, CT_E0501, ct_error_title(CT_E0501), range);
    return true;
}

static CtAbstract *element(Tracer *tr, CtAbstract *xs, CtAbstract *i, CtSourceRange range) {
    if (!check_inside(tr, xs, i, range)) return ct_bulk_trace_refuse_growing(tr, range);
    return ct_bulk_trace_element(tr, xs->as.growing.all, i, range);
}

static CtAbstract *changed(Tracer *tr, CtAbstract *xs, CtAbstract *i, CtAbstract *x, CtSourceRange range) {
    CtAbstract *all = xs->as.growing.all;
    if (!check_inside(tr, xs, i, range) || !ct_bulk_trace_regular(all, 1, x, 0))
        return ct_bulk_trace_refuse_growing(tr, range);
    return growing(tr, xs, ct_bulk_trace_put(tr, all, i, x, range), xs->as.growing.added);
}

static CtAbstract *longer(Tracer *tr, CtAbstract *xs, CtAbstract *x, CtSourceRange range) {
    CtAbstract *all = xs->as.growing.all;
    int64_t added = xs->as.growing.added;
    if (added >= xs->as.growing.slope || !ct_bulk_trace_regular(all, 1, x, 0))
        return ct_bulk_trace_refuse(tr, range, "an array in a loop that grows by different amounts");
    CtAbstract *end = length_of(tr, xs);
    return growing(tr, xs, ct_bulk_trace_put(tr, all, end, x, range), added + 1);
}

static CtAbstract *appended(Tracer *tr, CtAbstract *xs, CtAbstract *ys, CtSourceRange range) {
    int64_t count = ct_bulk_trace_length_at(ys, 0);
    if (count < 0 || count > xs->as.growing.slope) return ct_bulk_trace_refuse_growing(tr, range);
    for (int64_t k = 0; k < count && !ct_bulk_trace_refused(tr); k++)
        xs = longer(tr, xs, ct_bulk_trace_element(tr, ys, ct_bulk_abstract_known(tr->builder, k), range), range);
    return xs;
}

/* The elements that do not exist yet are 0. */
static CtAbstract *sum(Tracer *tr, const CtAbstract *xs, CtSourceRange range) {
    CtBulk *all = ct_bulk_trace_term(tr, xs->as.growing.all);
    return ct_bulk_trace_named(tr, ct_bulk_reduce(tr->builder, REDUCE_PLAIN_SUM, all, range));
}

CtAbstract *ct_bulk_trace_growing(Tracer *tr, CtArrayOp op, CtAbstract *const *args, uint32_t count,
                                  CtSourceRange range) {
    CtAbstract *xs = args[0];
    for (uint32_t k = 1; k < count; k++)
        if (args[k]->kind == ABSTRACT_GROWING) return ct_bulk_trace_refuse_growing(tr, range);
    switch ((int)op) {
    case ARRAY_INDEX: return element(tr, xs, args[1], range);
    case ARRAY_LENGTH: return length_of(tr, xs);
    case ARRAY_UPDATE: return changed(tr, xs, args[1], ct_bulk_trace_unknown(tr, args[2]), range);
    case ARRAY_SNOC: return longer(tr, xs, ct_bulk_trace_unknown(tr, args[1]), range);
    case ARRAY_APPEND: return appended(tr, xs, args[1], range);
    case ARRAY_SUM: return sum(tr, xs, range);
    default: return ct_bulk_trace_refuse_growing(tr, range);
    }
}

/* ---- into a loop, and out of it ---- */

/* Zeros in place of an array's elements, of which there are `count`. */
static CtBulk *zero_leaf(Tracer *tr, void *data, CtBulk *t) {
    const int64_t *count = data;
    CtShape shape = ct_bulk_shape_cons(tr->arena, *count, ct_bulk_shape_tail(t->shape, 1));
    if (t->element == ELEMENT_REAL) return ct_bulk_real(tr->builder, 0.0, shape);
    return t->element == ELEMENT_INT ? ct_bulk_int(tr->builder, 0, shape) : ct_bulk_bool(tr->builder, false, shape);
}

static CtAbstract *zeros_like(Tracer *tr, CtAbstract *xs, int64_t count) {
    bool is_rows = xs->kind == ABSTRACT_ROWS;
    CtAbstract *element = ct_bulk_trace_leaves(tr, is_rows ? xs->as.rows.element : xs, zero_leaf, &count);
    return ct_bulk_trace_array_of(tr, count, element);
}

CtAbstract *ct_bulk_trace_grow(Tracer *tr, const CtAbstract *before, CtAbstract *after, int64_t steps, CtCounting *of) {
    int64_t base = ct_bulk_trace_length_at(before, 0), size = ct_bulk_trace_length_at(after, 0), all;
    bool has_form = after->kind == ABSTRACT_TERM || after->kind == ABSTRACT_ROWS;
    if (base < 0 || size <= base || !has_form || !ct_bulk_trace_has_terms_only(after)) return NULL;
    if (base > 0 && (before->kind != after->kind || !ct_bulk_trace_regular(before, 1, after, 1))) return NULL;
    if (__builtin_mul_overflow(size - base, steps, &all) || all > LARGEST - base) return NULL;
    CtAbstract *made = ct_bulk_abstract_new(tr->builder, ABSTRACT_GROWING);
    made->as.growing.base = base;
    made->as.growing.slope = size - base;
    made->as.growing.added = 0;
    made->as.growing.of = of;
    made->as.growing.all = zeros_like(tr, after, base + all);
    return made;
}

CtAbstract *ct_bulk_trace_grow_to(Tracer *tr, const CtAbstract *xs, int64_t steps) {
    int64_t size = xs->as.growing.base + xs->as.growing.slope * steps;
    if (size == room(xs) || steps > LARGEST / xs->as.growing.slope) return NULL;
    return growing(tr, xs, zeros_like(tr, xs->as.growing.all, size), 0);
}

CtAbstract *ct_bulk_trace_make_room(Tracer *tr, const CtAbstract *xs, CtAbstract *start, CtSourceRange range) {
    CtAbstract *rest = zeros_like(tr, xs->as.growing.all, room(xs) - xs->as.growing.base);
    return growing(tr, xs, ct_bulk_trace_append(tr, start, rest, range), 0);
}
