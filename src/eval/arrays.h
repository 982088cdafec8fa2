/* Shared by the array operations. They borrow their arguments. */
#ifndef CT_EVAL_ARRAYS_H
#define CT_EVAL_ARRAYS_H

#include "eval/internal.h"

static inline CtArray *array_of(CtWord word) { return (CtArray *)word.object; }

static inline CtArray *new_array(Machine *m, CtType *type, int64_t length) {
    const CtLayout *layout = ct_value_layout_array(m->heap, type);
    CtArray *array = layout == NULL ? NULL : ct_value_array_new(m->heap, layout, length, length);
    if (array == NULL) ct_eval_raise_memory(m);
    return array;
}

static inline void copy_items(CtArray *to, int64_t at, const CtArray *from, int64_t start, int64_t count) {
    if (count == 0) return;
    memcpy(to->items + at, from->items + start, (size_t)count * sizeof(CtWord));
    if (!to->head.layout->pointer_elements) return;
    for (int64_t i = 0; i < count; i++) ct_value_retain_part(&from->head, to->items[at + i].object);
}

/* Sets the result, and the number of elements for the count of steps. They do not depend on each other. */
static inline bool give(ArrayCall *call, CtArray *array, int64_t touched) {
    call->result.object = &array->head;
    call->touched = (uint64_t)touched;
    call->slack = call->touched - ct_eval_span_of_sharing(call->touched);
    return true;
}

/* The same where `chain` of them are added up one after the other. */
static inline bool give_sums(ArrayCall *call, CtArray *array, int64_t touched, uint64_t chain) {
    give(call, array, touched);
    call->slack -= chain < call->slack ? chain : call->slack;
    return true;
}

static inline bool size_fails(Machine *m, const char *what, int64_t count) {
    return ct_eval_raise(m, CT_E0508, "%s was asked for %lld elements", what, (long long)count);
}

#endif
