/* The interface between an emitted program and its callers in C: arrays that are lent to the program, results that
 * outlive the call, failures as plain data.
 *
 * An array of the caller is read where it is. It has one more reference than the program knows of, so that no operation
 * changes it in place. Memory that a result points to lives until the next call with the same state. */
#ifndef CT_RT_EXPORT_H
#define CT_RT_EXPORT_H

#include "rt/array.h"
#include "rt/text.h"

#if defined(__GNUC__)
#define CT_APART __attribute__((noinline)) /* setjmp may clobber locals of its caller: so it has its own function */
#else
#define CT_APART
#endif

enum {
    CT_LENT = 1,        /* tag of an array whose elements belong to the caller */
    CT_STACK = 4 << 20, /* default limit of stack use, in bytes */
};

/* The state of a caller. One thread may use it at a time. */
typedef struct ct_export {
    ct_run run;
    ct_node *kept; /* list of objects and memory that results point to */
} ct_export;

/* ---- what is kept ---- */

static inline void ct_keep(ct_export *o, ct_object *object) {
    ct_node *link = ct_node_new(&o->run, 0, 2, o->kept != NULL ? 2 : 1);
    link->at[0].p = object;
    link->at[1].p = o->kept != NULL ? &o->kept->head : NULL;
    o->kept = link;
}

/* Memory owned by the state, for results to point to. */
static inline void *ct_export_memory(ct_export *o, size_t count, size_t size) {
    if (count > SIZE_MAX / 2 / size) ct_fail_memory(&o->run);
    ct_array *x = ct_vector(&o->run, false, (int64_t)((count * size + sizeof(ct_word) - 1) / sizeof(ct_word)));
    ct_keep(o, &x->head);
    return x->data;
}

/* Frees the results of the last call. */
static inline void ct_export_forget(ct_export *o) {
    for (ct_node *link = o->kept; link != NULL; link = link->head.pointers > 1 ? (ct_node *)link->at[1].p : NULL) {
        ct_object *object = link->at[0].p;
        if (object->words & CT_IS_ARRAY && object->tag == CT_LENT) ((ct_array *)object)->data = NULL;
    }
    if (o->kept != NULL) ct_drop(&o->run, o->kept);
    o->kept = NULL;
}

/* ---- arguments ---- */

static CT_COLD CT_FAILS void ct_export_wrong(ct_export *o, const char *what) {
    ct_fail(&o->run, 0, 601, "an argument holds %s", what);
}

/* Copies the lengths of an array; after a length of 0 all are 0. Returns the number of elements. */
static inline int64_t ct_export_sizes(ct_export *o, uint32_t rank, const size_t *sizes, int64_t *dims) {
    int64_t count = 1;
    for (uint32_t i = 0; i < rank; i++) {
        dims[i] = count == 0 ? 0 : (int64_t)sizes[i];
        if (sizes[i] > (size_t)1 << 58 || __builtin_mul_overflow(count, dims[i], &count)) ct_fail_memory(&o->run);
    }
    return count;
}

/* A new array with the caller's sizes. */
static inline ct_array *ct_export_array(ct_export *o, bool pointers, uint32_t rank, const size_t *sizes) {
    ct_array *x = ct_array_make(&o->run, rank, false, 0);
    int64_t count = ct_export_sizes(o, rank, sizes, x->dims);
    if (count > (int64_t)1 << 58) ct_fail_memory(&o->run);
    x->data = count > 0 ? ct_take(&o->run, (size_t)count) : NULL;
    x->capacity = count;
    x->head.pointers = pointers;
    return x;
}

/* An array of doubles or 64-bit integers that are the caller's. */
static inline ct_array *ct_lend(ct_export *o, const void *data, uint32_t rank, const size_t *sizes) {
    ct_array *x = ct_array_make(&o->run, rank, false, 0);
    if (ct_export_sizes(o, rank, sizes, x->dims) > 0 && data == NULL) ct_export_wrong(o, "NULL for an array");
    memcpy(&x->data, &data, sizeof data);
    x->head.tag = CT_LENT;
    x->head.refs = 2;
    ct_keep(o, &x->head);
    return x;
}

static inline int64_t ct_export_tag(ct_export *o, int64_t tag, int64_t count) {
    if (tag < 0 || tag >= count) ct_export_wrong(o, "a tag that its type does not have");
    return tag;
}

static inline int64_t ct_export_char(ct_export *o, uint32_t point) {
    if (!ct_is_code_point(point)) ct_export_wrong(o, "a number that is no Char");
    return point;
}

/* A string from NUL-terminated UTF-8; invalid sequences become U+FFFD. */
static inline ct_node *ct_export_string(ct_export *o, const char *text) {
    ct_node *list = ct_bare(&o->run, 0);
    if (text == NULL) ct_export_wrong(o, "NULL for a text");
    for (size_t end = strlen(text); end > 0;) {
        size_t start = end - 1;
        while (start > 0 && end - start < 4 && ((unsigned char)text[start] & 0xC0) == 0x80) start--;
        unsigned char first = (unsigned char)text[start];
        size_t length = first < 0x80   ? 1
                        : first < 0xC0 ? 0
                        : first < 0xE0 ? 2
                        : first < 0xF0 ? 3
                        : first < 0xF8 ? 4
                                       : 0;
        uint32_t point = length < 2 ? first : first & (0xFFu >> (length + 1));
        for (size_t i = start + 1; i < end; i++) point = point << 6 | ((unsigned char)text[i] & 0x3F);
        char shortest[4];
        bool is_surrogate = point >> 11 == 0xD800 >> 11;
        if (length != end - start || is_surrogate || ct_put_utf8(shortest, point) != length) {
            start = end - 1;
            point = 0xFFFD;
        }
        list = ct_string_cell(&o->run, (int64_t)point, list);
        end = start;
    }
    return list;
}

/* ---- results ---- */

/* A copy of the words of an array. */
static inline void *ct_export_copy(ct_export *o, const ct_array *x) {
    int64_t count = ct_words(x);
    void *copy = ct_export_memory(o, (size_t)count, sizeof(ct_word));
    if (count > 0) memcpy(copy, x->data, (size_t)count * sizeof(ct_word));
    return copy;
}

/* The words of a result array, which the state holds from now on. The caller may write to them: so an array that the
 * caller lent is copied, and one that something else holds, such as a constant or another result. */
static inline void *ct_export_data(ct_export *o, ct_object *object) {
    ct_array *x = (ct_array *)object;
    for (const ct_array *each = x; each != NULL; each = each->owner)
        if (each->head.tag == CT_LENT || each->head.refs > 1) return ct_export_copy(o, x);
    ct_hold(x);
    ct_keep(o, &x->head);
    return x->data;
}

static inline size_t ct_export_size(const ct_object *object, uint32_t i) {
    return (size_t)((const ct_array *)object)->dims[i];
}

/* The length of a list. Cells have the tag `cell`; their word `tail` is the rest of the list. */
static inline size_t ct_export_length(const ct_object *list, uint32_t cell, uint32_t tail) {
    size_t count = 0;
    for (; list->tag == cell; list = ((const ct_node *)list)->at[tail].p) count++;
    return count;
}

static inline char *ct_export_text(ct_export *o, const ct_object *list) {
    char *text = ct_export_memory(o, 4 * ct_export_length(list, 1, 0) + 1, 1);
    size_t length = 0;
    for (; list->tag != 0; list = ((const ct_node *)list)->at[0].p)
        length += ct_put_utf8(text + length, ((const ct_node *)list)->at[1].i);
    text[length] = '\0';
    return text;
}

/* ---- calls ---- */

/* Begins a call. `limit` (0: none) and `stack` (0: CT_STACK) are in bytes. */
static inline void ct_export_begin(ct_export *o, size_t limit, size_t stack) {
    ct_export_forget(o);
    ct_set_limit(&o->run, limit);
    o->run.here = 0;
    o->run.alone = false;
    o->run.stack_end = CT_FRAME();
    if (o->run.stack_end != NULL) o->run.stack_end -= stack != 0 ? stack : CT_STACK;
}

/* Frees all memory of the run, and forgets the values of constants, which are `words` words. */
static inline void ct_export_drop(ct_export *o, int64_t words) {
    ct_run_clear(&o->run);
    o->kept = NULL;
    for (int64_t i = 0; i < words; i++) o->run.constants[i].i = 0;
}

/* Frees everything that the state owns. */
static inline void ct_export_clear(ct_export *o) {
    ct_crew_free(&o->run);
    ct_run_clear(&o->run);
    free(o->run.long_text);
    o->run.long_text = NULL;
    o->kept = NULL;
}

#endif
