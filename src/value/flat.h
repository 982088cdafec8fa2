/* Values as sequences of buffers: a record or tuple of numbers and arrays of numbers is one buffer for each of these,
 * in order.
 *
 *   number                        one word
 *   tuple, data of one constructor   those of its parts
 *   Array … of numbers            one buffer of as many dimensions as there are arrays in arrays
 *   Array of tuples of numbers    one buffer for each part, all of the same sizes
 *
 * Other types have no such form: lists, data of several constructors, arrays inside tuples inside arrays. */
#ifndef CT_VALUE_FLAT_H
#define CT_VALUE_FLAT_H

#include "cotan.h"
#include "value/value.h"

typedef enum CtFlatKind { FLAT_NUMBER, FLAT_TUPLE, FLAT_ARRAY } CtFlatKind;

typedef struct CtFlat {
    CtFlatKind kind;
    const CtType *type;
    uint32_t slot, slots; /* the first of its buffers, how many there are */
    uint32_t rank;        /* ARRAY: its parts[0] is the element, which is no array */
    uint32_t count;
    struct CtFlat **parts; /* TUPLE, ARRAY */
} CtFlat;

typedef CT_VEC(cotan_slot) CtSlots;

/* The form of a type, its buffers added to the others; NULL when it has none. */
const CtFlat *ct_value_flat(CtArena *arena, const CtType *type, const char *path, CtSlots *slots);

/* Whether buffers can be a value: data are there, the sizes of an array's parts are equal, constructors exist. NULL, or
 * what is wrong, in the arena. */
const char *ct_value_flat_check(CtArena *arena, const CtFlat *flat, const cotan_slot *slots, const cotan_buffer *in);

/* The value of buffers; false when the heap is full. */
bool ct_value_flat_read(CtHeap *heap, const CtFlat *flat, const cotan_buffer *in, CtWord *value);
/* A value to buffers whose data are NULL, or have room for a value of just these sizes; memory for the former is the
 * arena's. NULL, or what is wrong. */
const char *ct_value_flat_write(CtArena *arena, const CtFlat *flat, const cotan_slot *slots, CtWord value,
                                cotan_buffer *out);

/* Gives a buffer for a result its sizes. False, with a message, when it has data and other sizes. */
bool ct_value_flat_fits(const cotan_slot *slot, cotan_buffer *buffer, const size_t *sizes, char wrong[300]);

#endif
