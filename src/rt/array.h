/* Array operations of emitted programs. They borrow their arguments unless the comment says that they take them, and
 * return results that the caller owns. */
#ifndef CT_RT_ARRAY_H
#define CT_RT_ARRAY_H

#include "rt/run.h"

static inline uint32_t ct_rank(const ct_array *x) { return x->head.words & ~(uint32_t)CT_IS_ARRAY; }
static inline int64_t ct_words(const ct_array *x) { return x->dims[0] * ct_row_words(x); }

/* Pointer to the elements; NULL for an array that is never read. */
static inline ct_word *ct_data(const ct_array *x) { return x != NULL ? x->data : NULL; }

static inline int64_t ct_length(const ct_array *x, int dimension) { return x != NULL ? x->dims[dimension] : 0; }

/* A new array with memory for `capacity` words. The caller sets its lengths. */
static CT_CALLED ct_array *ct_array_make(ct_run *rt, uint32_t rank, bool pointers, int64_t capacity) {
    ct_array *x = ct_take(rt, CT_ARRAY_WORDS + (size_t)rank);
    x->head.refs = 1;
    x->head.tag = 0;
    x->head.words = CT_IS_ARRAY | rank;
    x->head.pointers = pointers;
    x->owner = NULL;
    x->capacity = capacity;
    x->data = NULL;
    if (CT_UNLIKELY(capacity > (int64_t)1 << 58)) ct_fail_memory(rt);
    if (capacity > 0) x->data = ct_take(rt, (size_t)capacity);
    return x;
}

static inline ct_array *ct_vector(ct_run *rt, bool pointers, int64_t length) {
    ct_array *x = ct_array_make(rt, 1, pointers, length);
    x->dims[0] = length;
    return x;
}
/* A new vector of `length` words; a failure is attributed to `site`. */
static CT_CALLED ct_array *ct_vector_at(ct_run *rt, int site, bool pointers, int64_t length) {
    rt->here = site;
    ct_array *x = ct_vector(rt, pointers, length);
    rt->here = 0;
    return x;
}

/* The same, but reuses the vector `ending` if it is large enough and nobody else holds it. The caller releases `ending`
 * as usual. */
static inline ct_array *ct_vector_over(ct_run *rt, int site, ct_array *ending, int64_t length) {
    if (ending->head.refs != 1 || ending->owner != NULL || ending->dims[0] != length)
        return ct_vector_at(rt, site, false, length);
    ct_hold(ending);
    return ending;
}

/* A new array for `length` elements in the shape of the rows of `like`, an array of the same rank. */
static CT_CALLED ct_array *ct_array_like(ct_run *rt, const ct_array *like, int64_t length) {
    uint32_t rank = ct_rank(like);
    int64_t words;
    if (__builtin_mul_overflow(length, ct_row_words(like), &words)) ct_fail_memory(rt);
    ct_array *x = ct_array_make(rt, rank, like->head.pointers != 0, words);
    x->dims[0] = length;
    for (uint32_t i = 1; i < rank; i++) x->dims[i] = length == 0 ? 0 : like->dims[i];
    return x;
}

static CT_CALLED void ct_copy_words(ct_array *to, int64_t at, const ct_array *from, int64_t start, int64_t count) {
    if (count <= 0) return;
    CT_SPAN(at, count, to->capacity);
    CT_SPAN(start, count, ct_words(from));
    memcpy(to->data + at, from->data + start, (size_t)count * sizeof(ct_word));
    if (!to->head.pointers) return;
    for (int64_t i = 0; i < count; i++) to->data[at + i].p->refs++;
}

/* ---- failures ---- */

static CT_COLD CT_FAILS void ct_index_fails(ct_run *rt, int site, int64_t index, int64_t length) {
    if (length == 0) ct_fail(rt, site, 501, "index %lld of an array without elements", (long long)index);
    ct_fail(rt, site, 501, "index %lld is outside of an array of %lld element%s", (long long)index, (long long)length,
            length == 1 ? "" : "s");
}
static inline void ct_check_index(ct_run *rt, int site, int64_t index, int64_t length) {
    if (CT_UNLIKELY((uint64_t)index >= (uint64_t)length)) ct_index_fails(rt, site, index, length);
}
static CT_COLD CT_FAILS void ct_size_fails(ct_run *rt, int site, const char *what, int64_t count) {
    ct_fail(rt, site, 508, "%s was asked for %lld elements", what, (long long)count);
}
static inline void ct_check_size(ct_run *rt, int site, const char *what, int64_t count) {
    if (CT_UNLIKELY(count < 0)) ct_size_fails(rt, site, what, count);
}
static CT_COLD CT_FAILS void ct_zip_fails(ct_run *rt, int site, int64_t a, int64_t b) {
    ct_fail(rt, site, 504, "zipWith takes arrays of one length; these have %lld and %lld elements", (long long)a,
            (long long)b);
}
static inline void ct_check_zip(ct_run *rt, int site, int64_t a, int64_t b) {
    if (CT_UNLIKELY(a != b)) ct_zip_fails(rt, site, a, b);
}
static CT_COLD CT_FAILS void ct_shape_fails(ct_run *rt, int site, int64_t index, int64_t other, int64_t first,
                                            bool deeper) {
    ct_fail(rt, site, 507, "element %lld of an array has %lld element%s%s, but element 0 has %lld", (long long)index,
            (long long)other, other == 1 ? "" : "s", deeper ? " in a deeper dimension" : "", (long long)first);
}
/* Checks that two elements of an array, which are arrays, have the same shape; `dims` are the lengths of the element at
 * index 0. */
static inline void ct_check_shape(ct_run *rt, int site, const int64_t *dims, const ct_array *other, int64_t index) {
    for (uint32_t i = 0; i < ct_rank(other); i++)
        if (CT_UNLIKELY(dims[i] != other->dims[i])) ct_shape_fails(rt, site, index, other->dims[i], dims[i], i > 0);
}

/* ---- rows ---- */

/* Row i as a view, unchecked: it holds a reference to the whole array. */
static CT_CALLED ct_array *ct_row(ct_run *rt, ct_array *x, int64_t i) {
    uint32_t rank = ct_rank(x) - 1;
    CT_SPAN(i, 1, x->dims[0]);
    ct_array *owner = x->owner != NULL && x->owner != (ct_array *)&rt->lender ? x->owner : x;
    ct_array *row = ct_take(rt, CT_ARRAY_WORDS + (size_t)rank);
    row->head.refs = 1;
    row->head.tag = 0;
    row->head.words = CT_IS_ARRAY | rank;
    row->head.pointers = x->head.pointers;
    row->data = x->data + i * ct_row_words(x);
    row->capacity = 0;
    row->owner = owner;
    owner->head.refs++;
    for (uint32_t j = 0; j < rank; j++) row->dims[j] = x->dims[j + 1];
    return row;
}

/* Begins an array of `length` rows whose first row is known. Several threads may begin it at the same time; all get the
 * same array. */
static CT_CALLED ct_array *ct_rows_begin(ct_run *rt, ct_array **x, int64_t length, int64_t words, uint32_t rank,
                                         bool pointers, const int64_t *dims) {
    int64_t all;
    ct_array *none = NULL;
    if (__builtin_mul_overflow(words, length, &all)) ct_fail_memory(rt);
    ct_array *rows = ct_array_make(rt, rank + 1, pointers, all);
    rows->dims[0] = length;
    for (uint32_t j = 0; j < rank; j++) rows->dims[j + 1] = dims[j];
    if (!rt->is_member) { /* no other thread is at work: no atomic operation, which would take most of the time */
        *x = rows;
        return rows;
    }
    if (__atomic_compare_exchange_n(x, &none, rows, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return rows;
    if (rows->data != NULL) ct_give(rt, rows->data, (size_t)rows->capacity); /* elements follow later */
    ct_give(rt, rows, CT_ARRAY_WORDS + (size_t)rank + 1);
    return none;
}

/* Writes row i of an array that will have `length` rows; takes the row. The first call makes *x. */
static CT_CALLED void ct_put_row(ct_run *rt, int site, ct_array **x, int64_t length, int64_t i, ct_array *row) {
    int64_t words = ct_words(row);
    ct_array *rows = __atomic_load_n(x, __ATOMIC_ACQUIRE);
    if (rows == NULL) rows = ct_rows_begin(rt, x, length, words, ct_rank(row), row->head.pointers != 0, row->dims);
    ct_check_shape(rt, site, rows->dims + 1, row, i);
    ct_copy_words(rows, i * words, row, 0, words);
    ct_drop(rt, row);
}

static CT_CALLED ct_array *ct_empty(ct_run *rt, uint32_t rank, bool pointers) {
    ct_array *x = ct_array_make(rt, rank, pointers, 0);
    for (uint32_t i = 0; i < rank; i++) x->dims[i] = 0;
    return x;
}

/* The array that a loop has made; an empty one when the loop had no iterations. */
static inline ct_array *ct_no_rows(ct_run *rt, ct_array *x, uint32_t rank, bool pointers) {
    return x != NULL ? x : ct_empty(rt, rank, pointers);
}

/* The same for rows of numbers, of one length that is known; a failure is attributed to `site`. */
static CT_CALLED ct_array *ct_rows_at(ct_run *rt, int site, ct_array **x, int64_t count, int64_t words, uint32_t rank,
                                      const int64_t *dims) {
    rt->here = site;
    ct_array *rows = ct_rows_begin(rt, x, count, words, rank, false, dims);
    rt->here = 0;
    return rows;
}

/* The place inside the array of rows where a row of numbers is to be written. A row of another length than the first
 * one's goes to memory of its own; the mismatch is reported when the row is complete. */
static inline ct_word *ct_row_place(ct_run *rt, int site, ct_array **x, int64_t count, int64_t i, int64_t length) {
    ct_array *rows = __atomic_load_n(x, __ATOMIC_ACQUIRE);
    if (CT_UNLIKELY(rows == NULL)) rows = ct_rows_at(rt, site, x, count, length, 1, &length);
    if (CT_UNLIKELY(rows->dims[1] != length)) return ct_vector_at(rt, site, false, length)->data;
    CT_SPAN(i, 1, rows->dims[0]);
    return rows->data + i * length;
}
/* The same for elements that are `rows` rows of one length. */
static inline ct_word *ct_rows_place(ct_run *rt, int site, ct_array **x, int64_t count, int64_t i, int64_t rows,
                                     int64_t length) {
    ct_array *all = __atomic_load_n(x, __ATOMIC_ACQUIRE);
    if (CT_UNLIKELY(all == NULL))
        all = ct_rows_at(rt, site, x, count, rows * length, 2, (const int64_t[]){rows, length});
    CT_SPAN(i * rows * length, rows * length, ct_words(all));
    return all->data + i * rows * length;
}
/* Whether rows of this length fit into the array; with `rows`, elements of that many rows. */
static inline bool ct_rows_fit(ct_run *rt, int site, ct_array **x, int64_t count, int64_t rows, int64_t length) {
    ct_array *all = __atomic_load_n(x, __ATOMIC_ACQUIRE);
    const int64_t dims[] = {rows, length};
    if (CT_UNLIKELY(all == NULL))
        all = rows > 0 ? ct_rows_at(rt, site, x, count, rows * length, 2, dims)
                       : ct_rows_at(rt, site, x, count, length, 1, &length);
    return all->dims[rows > 0 ? 2 : 1] == length;
}
/* Writes row i, of `length` numbers, to where a row is put together; returns where the next part of it belongs. */
static inline ct_word *ct_join(const ct_array *x, int64_t i, int64_t length, ct_word *to) {
    CT_SPAN(i * length, length, ct_words(x));
    if (length > 0) memcpy(to, x->data + i * length, (size_t)length * sizeof *to);
    return to + length;
}
static inline void ct_row_made(ct_run *rt, int site, ct_array **x, int64_t i, int64_t length) {
    const ct_array *rows = __atomic_load_n(x, __ATOMIC_ACQUIRE);
    if (CT_UNLIKELY(rows->dims[1] != length)) ct_shape_fails(rt, site, i, length, rows->dims[1], false);
}

/* ---- changing ---- */

static CT_CALLED ct_array *ct_copy(ct_run *rt, ct_array *x, int64_t more) {
    int64_t words = ct_words(x);
    uint32_t rank = ct_rank(x);
    ct_array *copy = ct_array_make(rt, rank, x->head.pointers != 0, words + more);
    for (uint32_t i = 0; i < rank; i++) copy->dims[i] = x->dims[i];
    ct_copy_words(copy, 0, x, 0, words);
    ct_drop(rt, x);
    return copy;
}

/* Takes an array; returns one with the same contents that nobody else holds, and with capacity for `more` words behind
 * them. */
static inline ct_array *ct_own(ct_run *rt, ct_array *x, int64_t more) {
    return CT_LIKELY(x->head.refs == 1 && x->owner == NULL) ? x : ct_copy(rt, x, more);
}

/* Moves the elements to larger memory: half as much again, or as much as is needed. */
static CT_COLD void ct_grow(ct_run *rt, ct_array *x, int64_t words, int64_t needed) {
    int64_t capacity = x->capacity + x->capacity / 2 + 4;
    if (capacity < needed) capacity = needed;
    if (!CT_PLAIN && !CT_IS_DEBUGGED && x->data != NULL && x->capacity > CT_MIDDLE) {
        size_t used = (size_t)words * sizeof(ct_word), bytes = (size_t)capacity * sizeof(ct_word);
        if (bytes > ((ct_large *)(void *)x->data - 1)->bytes) x->data = ct_widen_large(rt, x->data, used, bytes);
        x->capacity = capacity;
        return;
    }
    ct_word *data = ct_take(rt, (size_t)capacity);
    if (words > 0) memcpy(data, x->data, (size_t)words * sizeof(ct_word));
    if (x->data != NULL) ct_give(rt, x->data, (size_t)x->capacity);
    x->data = data;
    x->capacity = capacity;
}

/* Appends an element to an array of rank 1; takes the array. The caller writes the element. */
static inline ct_array *ct_snoc(ct_run *rt, ct_array *x) {
    x = ct_own(rt, x, 1);
    int64_t length = x->dims[0];
    if (CT_UNLIKELY(length >= x->capacity)) ct_grow(rt, x, length, length + 1);
    x->dims[0] = length + 1;
    return x;
}

/* Appends a row; takes both arguments. */
static CT_CALLED ct_array *ct_snoc_row(ct_run *rt, int site, ct_array *x, ct_array *row) {
    int64_t length = x->dims[0], words = ct_words(row);
    if (length == 0) {
        ct_array *fresh = NULL;
        ct_drop(rt, x);
        ct_put_row(rt, site, &fresh, 1, 0, row);
        return fresh;
    }
    ct_check_shape(rt, site, x->dims + 1, row, length);
    x = ct_own(rt, x, words);
    if ((length + 1) * words > x->capacity) ct_grow(rt, x, length * words, (length + 1) * words);
    ct_copy_words(x, length * words, row, 0, words);
    x->dims[0]++;
    ct_drop(rt, row);
    return x;
}

/* Replaces row i, whose index has been checked; takes both arguments. */
static CT_CALLED ct_array *ct_update_row(ct_run *rt, int site, ct_array *x, int64_t i, ct_array *row) {
    int64_t words = ct_words(row);
    if (x->dims[0] == 1) { /* a single row may be replaced by one of any shape */
        ct_array *fresh = NULL;
        ct_drop(rt, x);
        ct_put_row(rt, site, &fresh, 1, 0, row);
        return fresh;
    }
    ct_check_shape(rt, site, x->dims + 1, row, i);
    CT_SPAN(i, 1, x->dims[0]);
    x = ct_own(rt, x, 0);
    if (x->head.pointers)
        for (int64_t j = 0; j < words; j++) ct_drop(rt, x->data[i * words + j].p);
    ct_copy_words(x, i * words, row, 0, words);
    ct_drop(rt, row);
    return x;
}

/* ---- making ---- */

static CT_CALLED ct_array *ct_replicate(ct_run *rt, bool pointers, int64_t count, ct_word item) {
    ct_array *x = ct_vector(rt, pointers, count);
    for (int64_t i = 0; i < count; i++) x->data[i] = item;
    if (pointers) item.p->refs += (uint32_t)count;
    return x;
}
static CT_CALLED ct_array *ct_replicate_row(ct_run *rt, int64_t count, ct_array *row) {
    int64_t words = ct_words(row), all;
    uint32_t rank = ct_rank(row);
    if (__builtin_mul_overflow(words, count, &all)) ct_fail_memory(rt);
    ct_array *x = ct_array_make(rt, rank + 1, row->head.pointers != 0, all);
    x->dims[0] = count;
    for (uint32_t j = 0; j < rank; j++) x->dims[j + 1] = count == 0 ? 0 : row->dims[j];
    for (int64_t i = 0; i < count; i++) ct_copy_words(x, i * words, row, 0, words);
    return x;
}
static CT_CALLED ct_array *ct_replicate_matrix(ct_run *rt, int64_t rows, int64_t length, ct_word item) {
    int64_t all;
    if (__builtin_mul_overflow(rows, length, &all)) ct_fail_memory(rt);
    ct_array *x = ct_array_make(rt, 2, false, all);
    x->dims[0] = rows;
    x->dims[1] = rows == 0 ? 0 : length;
    for (int64_t i = 0; i < all; i++) x->data[i] = item;
    return x;
}
static CT_CALLED ct_array *ct_iota(ct_run *rt, int64_t count) {
    ct_array *x = ct_vector(rt, false, count);
    for (int64_t i = 0; i < count; i++) x->data[i].i = i;
    return x;
}
static CT_CALLED ct_array *ct_shape(ct_run *rt, const ct_array *from, uint32_t rank) {
    ct_array *x = ct_vector(rt, false, rank);
    for (uint32_t i = 0; i < rank; i++) x->data[i].i = i < ct_rank(from) ? from->dims[i] : 0;
    return x;
}
static CT_CALLED ct_array *ct_array_of(ct_run *rt, const ct_word *items, int64_t count) {
    ct_array *x = ct_vector(rt, false, count);
    if (count > 0) memcpy(x->data, items, (size_t)count * sizeof(ct_word));
    return x;
}

static CT_CALLED ct_array *ct_matrix_of(ct_run *rt, const ct_word *items, int64_t rows, int64_t columns) {
    ct_array *x = ct_array_make(rt, 2, false, rows * columns);
    x->dims[0] = rows;
    x->dims[1] = columns;
    if (rows * columns > 0) memcpy(x->data, items, (size_t)(rows * columns) * sizeof(ct_word));
    return x;
}

/* Arrays of these lengths, one behind the other in `items`. */
static CT_CALLED ct_array *ct_vectors_of(ct_run *rt, const ct_word *items, const uint32_t *lengths, int64_t count) {
    ct_array *x = ct_vector(rt, true, count);
    for (int64_t i = 0; i < count; items += lengths[i++]) x->data[i].p = &ct_array_of(rt, items, lengths[i])->head;
    return x;
}

/* ---- rearranging ---- */

static CT_CALLED ct_array *ct_gather(ct_run *rt, int site, const ct_array *from, const ct_array *indices) {
    int64_t count = indices->dims[0], row = ct_row_words(from);
    for (int64_t i = 0; i < count; i++) ct_check_index(rt, site, indices->data[i].i, from->dims[0]);
    ct_array *x = ct_array_like(rt, from, count);
    if (row == 1 && !x->head.pointers)
        for (int64_t i = 0; i < count; i++) x->data[i] = from->data[indices->data[i].i];
    else
        for (int64_t i = 0; i < count; i++) ct_copy_words(x, i * row, from, indices->data[i].i * row, row);
    return x;
}

static CT_CALLED ct_array *ct_reverse(ct_run *rt, const ct_array *from) {
    int64_t count = from->dims[0], row = ct_row_words(from);
    ct_array *x = ct_array_like(rt, from, count);
    for (int64_t i = 0; i < count; i++) ct_copy_words(x, i * row, from, (count - 1 - i) * row, row);
    return x;
}

static CT_CALLED ct_array *ct_append(ct_run *rt, int site, ct_array *a, ct_array *b) {
    uint32_t rank = ct_rank(a);
    for (uint32_t i = 1; a->dims[0] > 0 && b->dims[0] > 0 && i < rank; i++)
        if (a->dims[i] != b->dims[i]) ct_shape_fails(rt, site, a->dims[0], b->dims[i], a->dims[i], i > 1);
    ct_array *x = ct_array_like(rt, a->dims[0] > 0 ? a : b, a->dims[0] + b->dims[0]);
    ct_copy_words(x, 0, a, 0, ct_words(a));
    ct_copy_words(x, ct_words(a), b, 0, ct_words(b));
    return x;
}

static CT_COLD CT_FAILS void ct_slice_fails(ct_run *rt, int site, int64_t start, int64_t count, int64_t length) {
    ct_fail(rt, site, 501, "a slice of %lld from %lld is outside of an array of %lld elements", (long long)count,
            (long long)start, (long long)length);
}
static inline void ct_check_slice(ct_run *rt, int site, int64_t start, int64_t count, int64_t length) {
    ct_check_size(rt, site, "slice", count);
    if (CT_UNLIKELY(start < 0 || start > length || count > length - start))
        ct_slice_fails(rt, site, start, count, length);
}
/* `count` elements from `start` on, unchecked; none when `count` is negative. */
static CT_CALLED ct_array *ct_slice(ct_run *rt, int64_t start, int64_t count, const ct_array *from) {
    int64_t row = ct_row_words(from);
    if (count < 0) count = 0;
    ct_array *x = ct_array_like(rt, from, count);
    ct_copy_words(x, 0, from, start * row, count * row);
    return x;
}

/* The first elements; takes the array. It is shortened in place if nobody else holds it and little memory would be
 * wasted. */
static CT_CALLED ct_array *ct_front(ct_run *rt, int64_t count, ct_array *x) {
    int64_t length = x->dims[0], row = ct_row_words(x);
    if (x->head.refs > 1 || x->owner != NULL || count > length || count < length - length / 2) {
        ct_array *front = ct_slice(rt, 0, count, x);
        ct_drop(rt, x);
        return front;
    }
    for (int64_t i = count * row; x->head.pointers && i < length * row; i++) ct_drop(rt, x->data[i].p);
    x->dims[0] = count;
    for (uint32_t i = 1; count == 0 && i < ct_rank(x); i++) x->dims[i] = 0;
    return x;
}

/* Joins the rows: the result has one dimension less. */
static CT_CALLED ct_array *ct_concat(ct_run *rt, const ct_array *from) {
    uint32_t rank = ct_rank(from) - 1;
    int64_t words = ct_words(from);
    ct_array *x = ct_array_make(rt, rank, from->head.pointers != 0, words);
    x->dims[0] = from->dims[0] * from->dims[1];
    for (uint32_t i = 1; i < rank; i++) x->dims[i] = x->dims[0] == 0 ? 0 : from->dims[i + 1];
    ct_copy_words(x, 0, from, 0, words);
    return x;
}

static CT_CALLED ct_array *ct_reshape(ct_run *rt, int site, int64_t rows, int64_t columns, const ct_array *from) {
    int64_t product;
    if (rows < 0 || columns < 0)
        ct_fail(rt, site, 508, "reshape was asked for %lld rows of %lld", (long long)rows, (long long)columns);
    if (__builtin_mul_overflow(rows, columns, &product) || product != from->dims[0])
        ct_fail(rt, site, 504, "%lld rows of %lld cannot be made of %lld elements", (long long)rows, (long long)columns,
                (long long)from->dims[0]);
    uint32_t rank = ct_rank(from);
    int64_t words = ct_words(from);
    ct_array *x = ct_array_make(rt, rank + 1, from->head.pointers != 0, words);
    x->dims[0] = rows;
    x->dims[1] = rows == 0 ? 0 : columns;
    for (uint32_t i = 1; i < rank; i++) x->dims[i + 1] = from->dims[i];
    ct_copy_words(x, 0, from, 0, words);
    return x;
}

static CT_CALLED ct_array *ct_transpose(ct_run *rt, const ct_array *from) {
    uint32_t rank = ct_rank(from);
    int64_t rows = from->dims[0], columns = from->dims[1], cell = columns > 0 ? ct_row_words(from) / columns : 0;
    ct_array *x = ct_array_make(rt, rank, from->head.pointers != 0, ct_words(from));
    x->dims[0] = columns;
    x->dims[1] = columns == 0 ? 0 : rows;
    for (uint32_t i = 2; i < rank; i++) x->dims[i] = columns == 0 ? 0 : from->dims[i];
    if (cell == 1 && !x->head.pointers)
        for (int64_t i = 0; i < columns; i++)
            for (int64_t j = 0; j < rows; j++) x->data[i * rows + j] = from->data[j * columns + i];
    else
        for (int64_t i = 0; i < columns; i++)
            for (int64_t j = 0; j < rows; j++)
                ct_copy_words(x, (i * rows + j) * cell, from, (j * columns + i) * cell, cell);
    return x;
}

/* ---- reductions, from the left ---- */

static CT_CALLED double ct_sum(const ct_array *x) {
    double sum = 0;
    for (int64_t i = 0; i < x->dims[0]; i++) sum += x->data[i].f;
    return sum;
}
static CT_CALLED double ct_sum_f32(const ct_array *x) {
    double sum = 0;
    for (int64_t i = 0; i < x->dims[0]; i++) sum = ct_to_float(sum + x->data[i].f);
    return sum;
}
static CT_CALLED int64_t ct_sum_i64(const ct_array *x) {
    int64_t sum = 0;
    for (int64_t i = 0; i < x->dims[0]; i++) sum = ct_wrap_add(sum, x->data[i].i);
    return sum;
}
static CT_CALLED double ct_product(const ct_array *x) {
    double product = 1;
    for (int64_t i = 0; i < x->dims[0]; i++) product *= x->data[i].f;
    return product;
}
static CT_CALLED double ct_product_f32(const ct_array *x) {
    double product = 1;
    for (int64_t i = 0; i < x->dims[0]; i++) product = ct_to_float(product * x->data[i].f);
    return product;
}
static CT_CALLED int64_t ct_product_i64(const ct_array *x) {
    int64_t product = 1;
    for (int64_t i = 0; i < x->dims[0]; i++) product = ct_wrap_mul(product, x->data[i].i);
    return product;
}

#if defined(__clang__)
#define CT_UNROLLED _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define CT_UNROLLED _Pragma("GCC unroll 8")
#else
#define CT_UNROLLED
#endif

/* The largest of `sign` times the numbers, where `sign` is 1 or −1; NaN if one is NaN. Eight partial results break the
 * dependency from each comparison to the next; unrolled, they stay in registers. */
static CT_NEAR double ct_extreme_of(const double *x, int64_t length, double sign) {
    double best[8], none[8] = {0};
    CT_UNROLLED
    for (int j = 0; j < 8; j++) best[j] = sign * x[0];
    int64_t i = 0;
    for (; i + 8 <= length; i += 8) {
        CT_UNROLLED
        for (int j = 0; j < 8; j++) {
            double a = sign * x[i + j];
            best[j] = a > best[j] ? a : best[j];
            none[j] += a - a; /* not 0 for infinities either */
        }
    }
    for (; i < length; i++) {
        best[0] = sign * x[i] > best[0] ? sign * x[i] : best[0];
        none[0] += x[i] - x[i];
    }
    CT_UNROLLED
    for (int j = 1; j < 8; j++) {
        best[0] = best[j] > best[0] ? best[j] : best[0];
        none[0] += none[j];
    }
    for (i = 0; none[0] != 0 && i < length; i++)
        if (x[i] != x[i]) return x[i];
    return best[0];
}

/* The index of the first largest or smallest element; of the first NaN if there is one. */
static CT_NEAR int64_t ct_extreme(ct_run *rt, int site, const char *what, const ct_array *x, bool largest) {
    enum { PART = 512 };
    const double *data = (const double *)x->data, sign = largest ? 1 : -1;
    int64_t length = x->dims[0], start = 0;
    if (length == 0) ct_fail(rt, site, 505, "%s of an array without elements", what);
    double best = -INFINITY;
    for (int64_t i = 0; i < length && best == best; i += PART) {
        double here = ct_extreme_of(data + i, length - i < PART ? length - i : PART, sign);
        if (here != here || here > best) best = here, start = i;
    }
    while (sign * data[start] != best && data[start] == data[start]) start++;
    return start;
}
static CT_CALLED int64_t ct_extreme_i64(ct_run *rt, int site, const char *what, const ct_array *x, bool largest) {
    if (x->dims[0] == 0) ct_fail(rt, site, 505, "%s of an array without elements", what);
    int64_t best = 0;
    for (int64_t i = 0; i < x->dims[0]; i++) {
        int64_t a = x->data[i].i, b = x->data[best].i;
        if (largest ? a > b : a < b) best = i;
    }
    return best;
}

#endif
