/* Run-time values, reference counted; shared by the evaluator, native code and files.
 *
 * Core is typed, so a value carries no type: it is one word, a double, an integer or a pointer to an object, and
 * whoever holds it knows which from its Core type: Double, Float   `real` (a Float is kept as the double of its value)
 *   Int, Char       `integer`
 *   enumerations    `integer`, the constructor's tag (Bool: False 0, True 1); also () : 0
 *   all others      `object`: tuples, data (constructors without fields are one shared object per type and tag),
 * arrays, functions Objects say how many words they hold and which are pointers, so that releasing needs no type.
 * Counts are not atomic: a heap belongs to one thread at a time. Releasing never recurses: a list of any length can be
 * released.
 */
#ifndef CT_VALUE_VALUE_H
#define CT_VALUE_VALUE_H

#include "core/core.h"

typedef union CtWord {
    double real;
    int64_t integer;
    struct CtObject *object;
} CtWord;

/* What kind of object, and which of its words are pointers. Interned per heap; fixed once made. */
typedef enum CtObjectKind { OBJECT_FIELDS, OBJECT_ARRAY, OBJECT_CLOSURE } CtObjectKind;
typedef struct CtLayout {
    CtObjectKind kind;
    bool pointer_elements;    /* ARRAY */
    uint32_t count;           /* FIELDS, CLOSURE: words */
    const uint64_t *pointers; /* bit i: word i is a pointer */
} CtLayout;                   /* two of equal contents are the same pointer */

typedef struct CtObject {
    const CtLayout *layout;
    uint32_t refs;
    uint32_t tag; /* FIELDS: the constructor's */
} CtObject;

typedef struct CtFields { /* tuples and constructions */
    CtObject head;
    CtWord words[];
} CtFields;

typedef struct CtArray {
    CtObject head;
    int64_t length, capacity;
    CtWord *items; /* owned by the array; length of them are values */
} CtArray;

typedef struct CtClosure {
    CtObject head;
    void *code; /* the evaluator's */
    CtWord captures[];
} CtClosure;

typedef struct CtHeap CtHeap;

/* A heap that will hold at most `limit` bytes (0: none). NULL when there is no memory. Freeing it frees every object.
 */
CtHeap *ct_heap_new(size_t limit);
void ct_heap_free(CtHeap *heap);
size_t ct_heap_bytes(const CtHeap *heap);
size_t ct_heap_peak(const CtHeap *heap);
void ct_heap_reset_peak(CtHeap *heap);
void ct_heap_set_limit(CtHeap *heap, size_t limit);

/* Whether values of a type are objects. */
bool ct_type_is_pointer(const CtType *type);
/* Layouts for a tuple type, a constructor, an array type. */
const CtLayout *ct_layout_tuple(CtHeap *heap, const CtType *tuple);
const CtLayout *ct_layout_con(CtHeap *heap, const CtCon *con);
const CtLayout *ct_layout_array(CtHeap *heap, const CtType *array);
const CtLayout *ct_layout_fields(CtHeap *heap, CtObjectKind kind, const bool *pointers, uint32_t count);

/* New objects with one reference, fields unset. NULL when the heap is full. */
CtFields *ct_fields_new(CtHeap *heap, const CtLayout *layout, uint32_t tag);
CtArray *ct_array_new(CtHeap *heap, const CtLayout *layout, int64_t length, int64_t capacity);
CtClosure *ct_closure_new(CtHeap *heap, const CtLayout *layout, void *code);
/* The one object of a constructor without fields (of a type that is not an enumeration); gives a new reference. */
CtObject *ct_nullary(CtHeap *heap, const CtCon *con);

static inline CtObject *ct_retain(CtObject *object) {
    object->refs++;
    return object;
}
void ct_object_destroy(CtHeap *heap, CtObject *object); /* count has reached 0 */
static inline void ct_release(CtHeap *heap, CtObject *object) {
    if (--object->refs == 0) ct_object_destroy(heap, object);
}
/* Of a value by its type. */
void ct_value_retain(const CtType *type, CtWord value);
void ct_value_release(CtHeap *heap, const CtType *type, CtWord value);

/* As a person reads it, the way Haskell's show writes: Node Leaf 1.0 Leaf, [1.0,2.0], [|1.0,2.0|]; functions as
 * <function>. Depth is bounded by memory alone. */
void ct_value_show(CtText *out, const CtType *type, CtWord value);
/* The shortest digits that read back, as Haskell's show writes a Double: 0.1, 1.0e-2, 1.0e7, Infinity, NaN. Into a
 * buffer of at least 32 bytes; returns the length. */
size_t ct_show_double(char *buffer, double value);
/* The same for a Float: the digits that read back to the same Float. */
size_t ct_show_float(char *buffer, double value);

/* A new [Char] of UTF-8 text (a byte that is none counts as a character); NULL when the heap is full. `string` is the
 * type [Char]. */
CtObject *ct_string_new(CtHeap *heap, const CtType *string, const char *text, size_t length);
/* The text of a [Char], at most `max` characters of it. */
void ct_string_text(CtText *out, CtWord string, size_t max);

#endif
