/* Private to the machine: inline parts of its instructions. */
#ifndef CT_EVAL_MACHINE_H
#define CT_EVAL_MACHINE_H

#include "eval/internal.h"
#include "rt/scalar.h"

/* The captured values of an object that serves as environment. */
static inline CtWord *captures_of(CtObject *env) { return ((CtClosure *)env)->captures; }

/* Retains the objects in words of an object. */
static inline void retain_words(const CtObject *whole, const CtLayout *layout, const CtWord *words) {
    for (uint32_t base = 0; base < layout->count; base += 64) {
        uint64_t bits = layout->pointers[base / 64];
        while (bits != 0) {
            ct_value_retain_part(whole, words[base + (uint32_t)__builtin_ctzll(bits)].object);
            bits &= bits - 1;
        }
    }
}

/* Element i for a loop: moved out of an array that the loop owns and nobody else holds, otherwise retained. */
static inline CtWord loop_element(CtArray *array, int64_t i, bool own) {
    CtWord item = array->items[i];
    if (array->head.layout->pointer_elements) {
        if (own && ct_value_is_exclusive(&array->head)) {
            array->items[i].object = NULL;
        } else {
            ct_value_retain_part(&array->head, item.object);
        }
    }
    return item;
}

#endif
