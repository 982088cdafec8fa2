/* Values of the host program: what a cotan_value is, and its conversion to and from values of a heap, by Core type.
 *
 * A node is made by malloc, with its parts, or for results in an arena. Numbers of an array are borrowed. */
#ifndef CT_IO_HOST_VALUE_H
#define CT_IO_HOST_VALUE_H

#include "cotan.h"
#include "value/value.h"

struct cotan_value {
    cotan_kind kind;
    uint32_t depth; /* levels of nesting; 0 in results */
    bool owns;      /* the numbers */
    union {
        double real;
        int64_t integer;
    } number;
    char *text; /* STRING, DATA */
    size_t text_length;
    size_t count;
    cotan_value **parts;
    /* ARRAY of numbers: rank > 0 */
    const void *numbers;
    cotan_element element;
    unsigned rank;
    size_t size[COTAN_MOST_DIMENSIONS];
};

/* The value of a type in a heap; its owner is the caller. `what` names it in messages. False with an error in the
 * context (E0601, E0801), whose message names the path of the place; then nothing is left in the heap. */
bool ct_io_host_read(CtContext *context, CtHeap *heap, const char *what, const cotan_value *given, const CtType *type,
                     CtWord *value);
/* A value of a type (borrowed) as the host's, in the arena; NULL if it holds a function. Depth is bounded by memory
 * only. */
const cotan_value *ct_io_host_write(CtArena *arena, const CtType *type, CtWord value);

/* The number of numbers in an array of them. */
static inline size_t ct_io_host_numbers(const cotan_value *value) {
    size_t count = 1;
    for (unsigned i = 0; i < value->rank; i++) count *= value->size[i];
    return count;
}

#endif
