/* Values as sequences of buffers: a record or tuple of numbers and arrays of numbers is one buffer for each of these,
 * in order.
 *
 *   number                           one word
 *   tuple, data of one constructor   the buffers of its parts
 *   Array … of numbers               one buffer, with a dimension for each level of arrays
 *   Array of tuples of numbers       one buffer for each part, all with the same sizes
 *
 * Other types have no such representation: lists, data of several constructors, arrays inside tuples inside arrays. */
#ifndef CT_VALUE_FLAT_H
#define CT_VALUE_FLAT_H

#include "cotan.h"
#include "value/value.h"

typedef enum CtFlatKind { FLAT_NUMBER, FLAT_TUPLE, FLAT_ARRAY } CtFlatKind;

typedef struct CtFlat {
    CtFlatKind kind;
    const CtType *type;
    uint32_t slot, slots; /* index of the first of its buffers, and their number */
    uint32_t rank;        /* ARRAY: parts[0] is the element, which is no array */
    uint32_t count;
    struct CtFlat **parts; /* TUPLE, ARRAY */
} CtFlat;

typedef CT_VEC(cotan_slot) CtSlots;

/* The representation of a type; its buffers are appended to `slots`. NULL when it has none. */
const CtFlat *ct_value_flat(CtArena *arena, const CtType *type, const char *path, CtSlots *slots);

/* Checks that buffers represent a value: data are present, the sizes of an array's parts are equal, constructors exist.
 * NULL, or a description of the fault, in the arena. */
const char *ct_value_flat_check(CtArena *arena, const CtFlat *flat, const cotan_slot *slots, const cotan_buffer *in);

/* The value of the buffers; false when the heap is full. */
bool ct_value_flat_read(CtHeap *heap, const CtFlat *flat, const cotan_buffer *in, CtWord *value);
/* Whether such values have parts that must fit together; and why no program can make one, NULL if one can. */
bool ct_value_flat_has_related_parts(const CtFlat *flat);
const char *ct_value_flat_unmade(const CtFlat *flat, CtWord value);
/* Writes a value to buffers. Their data are NULL, and then allocated in the arena; or they have memory for a value of
 * exactly these sizes. NULL, or a description of the fault. */
const char *ct_value_flat_write(CtArena *arena, const CtFlat *flat, const cotan_slot *slots, CtWord value,
                                cotan_buffer *out);

/* Sets the sizes of a result buffer. False, with a message, if it has data and different sizes. */
bool ct_value_flat_fits(const cotan_slot *slot, cotan_buffer *buffer, const size_t *sizes, char wrong[300]);

#endif
