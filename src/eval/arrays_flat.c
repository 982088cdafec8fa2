/* Operations on multidimensional arrays stored flat, row-major: the target of lowering whole-array programs. */
#include <stdlib.h>

#include "eval/arrays.h"
#include "rt/scalar.h"

/* ---- views ---- */

enum { MAX_VIEW = 64 }; /* dimensions */

enum { TILE = 16 }; /* columns */

static void copy_row(CtWord *out, const CtWord *from, int64_t size, int64_t stride) {
    if (stride == 1) {
        memcpy(out, from, (size_t)size * sizeof(CtWord));
        return;
    }
    for (int64_t i = 0; i < size; i++) out[i] = from[i * stride];
}

/* Copies the last two dimensions. A transposition goes in tiles, for locality. */
static void copy_rows(CtWord *out, const CtWord *from, const CtWord *dims) {
    int64_t rows = dims[0].integer, down = dims[1].integer, columns = dims[2].integer, across = dims[3].integer;
    int64_t width = down == 1 && across != 1 ? TILE : columns;
    for (int64_t at = 0; at < columns; at += width) {
        int64_t some = columns - at < width ? columns - at : width;
        for (int64_t i = 0; i < rows; i++)
            copy_row(out + i * columns + at, from + i * down + at * across, some, across);
    }
}

/* Copies a view, dimension by dimension; returns the position of the next element. */
static CtWord *copy_view(CtWord *out, const CtWord *from, const CtWord *dims, int64_t rank) {
    if (rank == 0) {
        *out = *from;
        return out + 1;
    }
    if (rank == 1) {
        copy_row(out, from, dims[0].integer, dims[1].integer);
        return out + dims[0].integer;
    }
    if (rank == 2) {
        copy_rows(out, from, dims);
        return out + dims[0].integer * dims[2].integer;
    }
    for (int64_t i = 0; i < dims[0].integer; i++) out = copy_view(out, from + i * dims[1].integer, dims + 2, rank - 1);
    return out;
}

/* The number of elements of a view, and the range of positions that it covers; false when a number overflows. */
static bool measure(const CtArray *view, int64_t *count, int64_t *low, int64_t *high) {
    *count = 1;
    *low = *high = view->items[0].integer;
    for (int64_t i = 1; i < view->length; i += 2) {
        int64_t size = view->items[i].integer, reach;
        if (__builtin_mul_overflow(*count, size, count)) return false;
        if (__builtin_mul_overflow(size - 1, view->items[i + 1].integer, &reach)) return false;
        int64_t *end = reach < 0 ? low : high;
        if (__builtin_add_overflow(*end, reach, end)) return false;
    }
    return true;
}

static bool is_view(const CtArray *view) {
    if (view->length % 2 == 0 || view->length > 1 + 2 * MAX_VIEW) return false;
    for (int64_t i = 1; i < view->length; i += 2)
        if (view->items[i].integer < 0) return false;
    return true;
}

static bool is_empty(const CtArray *view) {
    for (int64_t i = 1; i < view->length; i += 2)
        if (view->items[i].integer == 0) return true;
    return false;
}

bool ct_eval_array_strided(Machine *m, ArrayCall *call) {
    const CtArray *view = array_of(call->args[0]), *from = array_of(call->args[1]);
    int64_t count = 0, low = 0, high = 0;
    bool sound = is_view(view), filled = sound && !is_empty(view);
    if (!sound || (filled && !measure(view, &count, &low, &high)))
        return ct_eval_raise(m, CT_E0508, "strided was asked for what is no view");
    if (filled) {
        if (low < 0 || low >= from->length) return ct_eval_array_index_fails(m, low, from->length);
        if (high >= from->length) return ct_eval_array_index_fails(m, high, from->length);
    }
    CtArray *out = new_array(m, call->type, count);
    if (out == NULL) return false;
    if (count > 0) copy_view(out->items, from->items + view->items[0].integer, view->items + 1, view->length / 2);
    for (int64_t i = 0; out->head.layout->pointer_elements && i < count; i++)
        ct_value_retain_part(&from->head, out->items[i].object);
    return give(call, out, count);
}

/* ---- lengths ---- */

bool ct_eval_array_zips(Machine *m, int64_t a, int64_t b) {
    if (a == b) return true;
    return ct_eval_raise(m, CT_E0504, "zipWith takes arrays of one length; these have %lld and %lld elements",
                         (long long)a, (long long)b);
}

/* ---- rows ---- */

bool ct_eval_array_gather_or(Machine *m, ArrayCall *call) {
    const CtArray *none = array_of(call->args[0]), *rows = array_of(call->args[1]), *from = array_of(call->args[2]);
    int64_t size = none->length, count, there = size == 0 ? INT64_MAX : from->length / size;
    if (__builtin_mul_overflow(size, rows->length, &count)) return ct_eval_raise_memory(m);
    for (int64_t i = 0; i < rows->length; i++)
        if (rows->items[i].integer >= there) return ct_eval_array_index_fails(m, rows->items[i].integer, there);
    CtArray *out = new_array(m, call->type, count);
    if (out == NULL) return false;
    bool plain = size == 1 && !out->head.layout->pointer_elements;
    for (int64_t i = 0; i < rows->length; i++) {
        int64_t row = rows->items[i].integer;
        if (plain)
            out->items[i] = row < 0 ? none->items[0] : from->items[row];
        else
            copy_items(out, i * size, row < 0 ? none : from, row < 0 ? 0 : row * size, size);
    }
    return give(call, out, count);
}

static void add_row(CtTypeKind kind, CtWord *to, const CtWord *from, int64_t count) {
    if (kind == TYPE_INT) {
        for (int64_t i = 0; i < count; i++)
            to[i].integer = (int64_t)((uint64_t)to[i].integer + (uint64_t)from[i].integer);
    } else if (kind == TYPE_FLOAT) {
        for (int64_t i = 0; i < count; i++) to[i].real = ct_to_float(to[i].real + from[i].real);
    } else {
        for (int64_t i = 0; i < count; i++) to[i].real += from[i].real;
    }
}

/* An array of the neutral element of addition. */
static CtArray *zeros(Machine *m, const ArrayCall *call, int64_t count) {
    CtArray *out = new_array(m, call->type, count);
    CtWord zero = {.integer = 0};
    if (call->type->parts[0]->kind != TYPE_INT) zero.real = -0.0;
    for (int64_t i = 0; out != NULL && i < count; i++) out->items[i] = zero;
    return out;
}

bool ct_eval_array_is_rows(Machine *m, int64_t count, int64_t size) {
    if (size == 0 ? count == 0 : count % size == 0) return true;
    return ct_eval_raise(m, CT_E0504, "%lld elements are not whole rows of %lld", (long long)count, (long long)size);
}

bool ct_eval_array_places(Machine *m, int64_t from, const CtArray *rows, int64_t count) {
    if (!ct_eval_array_is_rows(m, from, rows->length)) return false;
    int64_t size = rows->length == 0 ? 0 : from / rows->length, there = size == 0 ? INT64_MAX : count / size;
    for (int64_t i = 0; i < rows->length; i++)
        if (rows->items[i].integer >= there) return ct_eval_array_index_fails(m, rows->items[i].integer, there);
    return true;
}

uint64_t ct_eval_array_chain(Machine *m, const CtArray *rows) {
    uint64_t most = 0;
    int64_t end = 0;
    for (int64_t i = 0; i < rows->length; i++)
        if (rows->items[i].integer >= end) end = rows->items[i].integer + 1;
    uint32_t *counts = home_of(m)->measures && end > 0 ? calloc((size_t)end, sizeof *counts) : NULL;
    if (counts == NULL) return end == 0 ? 0 : (uint64_t)rows->length;
    for (int64_t i = 0; i < rows->length; i++) {
        int64_t row = rows->items[i].integer;
        if (row >= 0 && ++counts[row] > most) most = counts[row];
    }
    free(counts);
    return most;
}

bool ct_eval_array_scatter_add(Machine *m, ArrayCall *call) {
    int64_t count = call->args[0].integer;
    const CtArray *rows = array_of(call->args[1]), *from = array_of(call->args[2]);
    CtTypeKind kind = call->type->parts[0]->kind;
    if (count < 0) return size_fails(m, "scatterAdd", count);
    if (!ct_eval_array_places(m, from->length, rows, count)) return false;
    int64_t size = rows->length == 0 ? 0 : from->length / rows->length;
    CtArray *out = zeros(m, call, count);
    if (out == NULL) return false;
    for (int64_t i = 0; i < rows->length; i++) {
        int64_t row = rows->items[i].integer;
        if (row >= 0) add_row(kind, out->items + row * size, from->items + i * size, size);
    }
    return give_sums(call, out, count + from->length, ct_eval_array_chain(m, rows));
}

/* For one column the sum stays in a register. */
static CtWord sum_of(CtTypeKind kind, CtWord sum, const CtArray *xs) {
    if (kind == TYPE_INT) {
        for (int64_t i = 0; i < xs->length; i++)
            sum.integer = (int64_t)((uint64_t)sum.integer + (uint64_t)xs->items[i].integer);
    } else if (kind == TYPE_FLOAT) {
        for (int64_t i = 0; i < xs->length; i++) sum.real = ct_to_float(sum.real + xs->items[i].real);
    } else {
        for (int64_t i = 0; i < xs->length; i++) sum.real += xs->items[i].real;
    }
    return sum;
}

bool ct_eval_array_sum_rows(Machine *m, ArrayCall *call) {
    int64_t size = call->args[0].integer;
    const CtArray *from = array_of(call->args[1]);
    CtTypeKind kind = call->type->parts[0]->kind;
    if (size < 0) return size_fails(m, "sumRows", size);
    if (!ct_eval_array_is_rows(m, from->length, size)) return false;
    CtArray *out = zeros(m, call, size);
    if (out == NULL) return false;
    if (size == 1) out->items[0] = sum_of(kind, out->items[0], from);
    for (int64_t at = 0; size > 1 && at < from->length; at += size) add_row(kind, out->items, from->items + at, size);
    return give_sums(call, out, from->length + size, size == 0 ? 0 : (uint64_t)(from->length / size));
}

/* ---- choice ---- */

bool ct_eval_array_selects(Machine *m, int64_t test, int64_t yes, int64_t no) {
    if (yes == test && no == test) return true;
    return ct_eval_raise(m, CT_E0504, "select takes arrays of one length; these have %lld, %lld and %lld elements",
                         (long long)test, (long long)yes, (long long)no);
}

bool ct_eval_array_select(Machine *m, ArrayCall *call) {
    const CtArray *test = array_of(call->args[0]), *yes = array_of(call->args[1]), *no = array_of(call->args[2]);
    if (!ct_eval_array_selects(m, test->length, yes->length, no->length)) return false;
    CtArray *out = new_array(m, call->type, test->length);
    if (out == NULL) return false;
    for (int64_t i = 0; i < test->length; i++) copy_items(out, i, test->items[i].integer != 0 ? yes : no, i, 1);
    return give(call, out, test->length);
}
