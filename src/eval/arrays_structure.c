/* Array operations that build, take apart and rearrange. They borrow their arguments. */
#include "eval/arrays.h"

uint32_t ct_eval_array_rank(const CtType *type) {
    uint32_t rank = 0;
    for (; type->kind == TYPE_ARRAY; type = type->parts[0]) rank++;
    return rank;
}

bool ct_eval_array_index_fails(Machine *m, int64_t index, int64_t length) {
    if (length == 0) return ct_eval_raise(m, CT_E0501, "index %lld of an array without elements", (long long)index);
    return ct_eval_raise(m, CT_E0501, "index %lld is outside of an array of %lld element%s", (long long)index,
                         (long long)length, length == 1 ? "" : "s");
}

bool ct_eval_array_regular(Machine *m, uint32_t rank, const CtArray *first, const CtArray *other, int64_t index) {
    for (uint32_t i = 0; i < rank; i++) {
        if (first->length != other->length)
            return ct_eval_raise(m, CT_E0507, "element %lld of an array has %lld element%s%s, but element 0 has %lld",
                                 (long long)index, (long long)other->length, other->length == 1 ? "" : "s",
                                 i == 0 ? "" : " in a deeper dimension", (long long)first->length);
        if (first->length == 0 || i + 1 == rank) break;
        first = (const CtArray *)first->items[0].object;
        other = (const CtArray *)other->items[0].object;
    }
    return true;
}

/* ---- making ---- */

bool ct_eval_array_replicate(Machine *m, ArrayCall *call) {
    int64_t count = call->args[0].integer;
    if (count < 0) return size_fails(m, "replicate", count);
    CtArray *out = new_array(m, call->type, count);
    if (out == NULL) return false;
    for (int64_t i = 0; i < count; i++) out->items[i] = call->args[1];
    if (out->head.layout->pointer_elements)
        ct_value_retain_times(call->args[1].object, (uint32_t)count); /* the count is bounded by memory */
    return give(call, out, count);
}

bool ct_eval_array_iota(Machine *m, ArrayCall *call) {
    int64_t count = call->args[0].integer;
    if (count < 0) return size_fails(m, "iota", count);
    CtArray *out = new_array(m, call->type, count);
    if (out == NULL) return false;
    for (int64_t i = 0; i < count; i++) out->items[i].integer = i;
    return give(call, out, count);
}

bool ct_eval_array_shape(Machine *m, ArrayCall *call) {
    uint32_t rank = ct_eval_array_rank(call->operand);
    CtArray *out = new_array(m, call->type, rank);
    if (out == NULL) return false;
    const CtArray *level = array_of(call->args[0]);
    for (uint32_t i = 0; i < rank; i++) {
        out->items[i].integer = level == NULL ? 0 : level->length;
        if (i + 1 < rank && level != NULL) level = level->length == 0 ? NULL : array_of(level->items[0]);
    }
    return give(call, out, 0);
}

/* ---- rearranging ---- */

/* Row i of an array, whose elements will be retained: rows of a shared array are shared. */
static const CtArray *row_of(const CtArray *rows, int64_t i) {
    CtObject *row = rows->items[i].object;
    if (ct_is_marked(&rows->head)) ct_value_mark_part(&rows->head, row);
    return (const CtArray *)row;
}

bool ct_eval_array_gather(Machine *m, ArrayCall *call) {
    const CtArray *from = array_of(call->args[0]), *indices = array_of(call->args[1]);
    for (int64_t i = 0; i < indices->length; i++) {
        int64_t index = indices->items[i].integer;
        if ((uint64_t)index >= (uint64_t)from->length) return ct_eval_array_index_fails(m, index, from->length);
    }
    CtArray *out = new_array(m, call->type, indices->length);
    if (out == NULL) return false;
    for (int64_t i = 0; i < indices->length; i++) copy_items(out, i, from, indices->items[i].integer, 1);
    return give(call, out, indices->length);
}

bool ct_eval_array_reverse(Machine *m, ArrayCall *call) {
    const CtArray *from = array_of(call->args[0]);
    CtArray *out = new_array(m, call->type, from->length);
    if (out == NULL) return false;
    for (int64_t i = 0; i < from->length; i++) copy_items(out, i, from, from->length - 1 - i, 1);
    return give(call, out, from->length);
}

bool ct_eval_array_append(Machine *m, ArrayCall *call) {
    const CtArray *a = array_of(call->args[0]), *b = array_of(call->args[1]);
    uint32_t rank = ct_eval_array_rank(call->type->parts[0]);
    if (rank > 0 && a->length > 0 && b->length > 0 &&
        !ct_eval_array_regular(m, rank, array_of(a->items[0]), array_of(b->items[0]), a->length))
        return false;
    CtArray *out = new_array(m, call->type, a->length + b->length);
    if (out == NULL) return false;
    copy_items(out, 0, a, 0, a->length);
    copy_items(out, a->length, b, 0, b->length);
    return give(call, out, out->length);
}

bool ct_eval_array_slice(Machine *m, ArrayCall *call) {
    int64_t start = call->args[0].integer, count = call->args[1].integer;
    const CtArray *from = array_of(call->args[2]);
    if (count < 0) return size_fails(m, "slice", count);
    if (start < 0 || start > from->length || count > from->length - start)
        return ct_eval_raise(m, CT_E0501, "a slice of %lld from %lld is outside of an array of %lld elements",
                             (long long)count, (long long)start, (long long)from->length);
    CtArray *out = new_array(m, call->type, count);
    if (out == NULL) return false;
    copy_items(out, 0, from, start, count);
    return give(call, out, count);
}

bool ct_eval_array_concat(Machine *m, ArrayCall *call) {
    const CtArray *rows = array_of(call->args[0]);
    int64_t total = 0;
    for (int64_t i = 0; i < rows->length; i++) {
        int64_t length = array_of(rows->items[i])->length;
        if (length > INT64_MAX / 16 - total) return ct_eval_raise_memory(m); /* all rows may be one object */
        total += length;
    }
    CtArray *out = new_array(m, call->type, total);
    if (out == NULL) return false;
    int64_t at = 0;
    for (int64_t i = 0; i < rows->length; i++) {
        const CtArray *row = row_of(rows, i);
        copy_items(out, at, row, 0, row->length);
        at += row->length;
    }
    /* Rows of an empty outer array have one shape, but their elements are compared here for the first time. */
    return give(call, out, total + rows->length);
}

/* Makes rows of `columns` items; item (i, j) is copied from the position `at`, row-major or transposed. */
static bool make_rows(Machine *m, ArrayCall *call, int64_t rows, int64_t columns, const CtArray *from,
                      bool transposed) {
    CtArray *out = new_array(m, call->type, rows);
    if (out == NULL) return false;
    out->length = 0;
    for (int64_t i = 0; i < rows; i++) {
        CtArray *row = new_array(m, call->type->parts[0], columns);
        if (row == NULL) {
            ct_value_release_object(m->heap, &out->head);
            return false;
        }
        if (transposed) {
            for (int64_t j = 0; j < columns; j++) copy_items(row, j, row_of(from, j), i, 1);
        } else {
            copy_items(row, 0, from, i * columns, columns);
        }
        out->items[out->length++].object = &row->head;
    }
    return give(call, out, rows * columns + rows);
}

bool ct_eval_array_transpose(Machine *m, ArrayCall *call) {
    const CtArray *from = array_of(call->args[0]);
    int64_t rows = from->length == 0 ? 0 : array_of(from->items[0])->length;
    return make_rows(m, call, rows, from->length, from, true);
}

bool ct_eval_array_reshape(Machine *m, ArrayCall *call) {
    int64_t rows = call->args[0].integer, columns = call->args[1].integer, product;
    const CtArray *from = array_of(call->args[2]);
    if (rows < 0 || columns < 0)
        return ct_eval_raise(m, CT_E0508, "reshape was asked for %lld rows of %lld", (long long)rows,
                             (long long)columns);
    if (__builtin_mul_overflow(rows, columns, &product) || product != from->length)
        return ct_eval_raise(m, CT_E0504, "%lld rows of %lld cannot be made of %lld elements", (long long)rows,
                             (long long)columns, (long long)from->length);
    return make_rows(m, call, rows, columns, from, false);
}

/* ---- changing one element ---- */

CtArray *ct_eval_array_own(Machine *m, CtArray *xs, int64_t capacity, uint64_t *touched) {
    if (ct_value_is_exclusive(&xs->head)) return xs;
    CtArray *copy = ct_value_array_new(m->heap, xs->head.layout, xs->length, capacity);
    if (copy == NULL) {
        ct_eval_raise_memory(m);
        return NULL;
    }
    copy_items(copy, 0, xs, 0, xs->length);
    *touched = (uint64_t)xs->length;
    return copy;
}

CtArray *ct_eval_array_update(Machine *m, CtArray *xs, int64_t index, CtWord item, uint32_t rank, uint64_t *touched) {
    int64_t other = index == 0 ? 1 : 0;
    if (rank > 0 && xs->length > 1 &&
        !ct_eval_array_regular(m, rank, array_of(xs->items[other]), array_of(item), index))
        return NULL;
    CtArray *out = ct_eval_array_own(m, xs, xs->length, touched);
    if (out == NULL) return NULL;
    if (out->head.layout->pointer_elements) ct_value_release_object(m->heap, out->items[index].object);
    out->items[index] = item;
    if (out != xs) ct_value_release_object(m->heap, &xs->head);
    return out;
}

CtArray *ct_eval_array_snoc(Machine *m, CtArray *xs, CtWord item, uint32_t rank, uint64_t *touched) {
    if (rank > 0 && xs->length > 0 &&
        !ct_eval_array_regular(m, rank, array_of(xs->items[0]), array_of(item), xs->length))
        return NULL;
    CtArray *out = ct_eval_array_own(m, xs, xs->length + 1, touched);
    if (out == NULL) return NULL;
    if (out->length == out->capacity && !ct_value_array_grow(m->heap, out)) {
        if (out != xs) ct_value_release_object(m->heap, &out->head);
        ct_eval_raise_memory(m);
        return NULL;
    }
    out->items[out->length++] = item;
    if (out != xs) ct_value_release_object(m->heap, &xs->head);
    return out;
}
