/* Run-time values with reference counts, shared by the evaluator, native code and files.
 *
 * Core is typed, so a value carries no type: it is one word, which is a double, an integer or a pointer to an object.
 * Its Core type says which:
 *
 *   Double, Float   `real` (a Float is stored as the double of its value)
 *   Int, Char       `integer`
 *   enumerations    `integer`, the constructor's tag (Bool: False 0, True 1); also () : 0
 *   all others      `object`: tuples, data, arrays, functions; constructors without fields are one shared object for
 *   each type and tag
 *
 * An object says how many words it has and which are pointers, so that releasing needs no type. Releasing is not
 * recursive: a list of any length can be released.
 *
 * Threads. An object belongs to one thread, which counts its references as plain numbers, until it is marked as shared;
 * then they are counted atomically. Only roots are marked when threads begin to work on them: code that takes a
 * reference out of a shared object marks what it finds there (ct_value_retain_part), so nothing is traversed. A thread
 * that finds that it holds the only reference to a shared object owns it alone again (ct_value_is_exclusive). Objects
 * that live as long as the heap (constructors without fields, constants in code) are not counted. */
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
CtHeap *ct_value_heap_new(size_t limit);
void ct_value_heap_free(CtHeap *heap);

/* A heap from which another thread allocates while `home` rests: of the same layouts, for objects that become home's
 * when the work is done. Each of them frees what any of them has made. It is freed before home. NULL without memory. */
CtHeap *ct_value_heap_branch(CtHeap *home);
/* Work begins: the branches share what home's limit leaves. It ends: what they hold is home's. `number` is different
 * each time: one branch after the other gets the cells that home has free. */
void ct_value_heap_lend(CtHeap *home, CtHeap *const *branches, uint32_t count, uint32_t number);
void ct_value_heap_take_back(CtHeap *home, CtHeap *const *branches, uint32_t count);
size_t ct_value_heap_bytes(const CtHeap *heap);
size_t ct_value_heap_peak(const CtHeap *heap);
void ct_value_heap_reset_peak(CtHeap *heap);

/* Whether values of a type are objects. */
bool ct_value_type_is_pointer(const CtType *type);
/* Layouts for a tuple type, a constructor, an array type. */
const CtLayout *ct_value_layout_tuple(CtHeap *heap, const CtType *tuple);
const CtLayout *ct_value_layout_con(CtHeap *heap, const CtCon *con);
const CtLayout *ct_value_layout_array(CtHeap *heap, const CtType *array);
const CtLayout *ct_value_layout_fields(CtHeap *heap, CtObjectKind kind, const bool *pointers, uint32_t count);

/* New objects with one reference and uninitialised fields. NULL when the heap is full. */
CtFields *ct_value_fields_new(CtHeap *heap, const CtLayout *layout, uint32_t tag);
CtArray *ct_value_array_new(CtHeap *heap, const CtLayout *layout, int64_t length, int64_t capacity);
CtClosure *ct_value_closure_new(CtHeap *heap, const CtLayout *layout, void *code);
/* The shared object of a constructor without fields (of a type that is not an enumeration). It is never freed. */
CtObject *ct_value_nullary(CtHeap *heap, const CtCon *con);

/* A list that is made from its first element to its last, so that its cells lie in memory in this order. `nil` is the
 * constructor of the empty list; that of cells stands behind it. False: the heap is full. Adding takes the element also
 * then. `list` is the caller's, complete or not. */
typedef struct CtListEnd {
    CtHeap *heap;
    const CtCon *cons;
    const CtLayout *layout;
    CtWord list;
    CtObject *nil;
    CtFields *last; /* NULL: the list is empty */
} CtListEnd;
bool ct_value_list_begin(CtListEnd *end, CtHeap *heap, const CtCon *nil);
bool ct_value_list_add(CtListEnd *end, CtWord element);
/* The first element of a list of this type, and the rest; NULL of the empty list. */
const CtWord *ct_value_list_cell(const CtType *list, CtWord value);
int64_t ct_value_list_length(const CtType *list, CtWord value);

/* The types of the parts of a tuple, or of the fields of a constructor (`tag`), and their number. */
CtType *const *ct_value_parts(const CtType *type, uint32_t tag, uint32_t *count);

/* The following functions are used in the hot loops of the machine; only their common case may be fast. */
#define CT_RARELY __attribute__((cold, noinline))

/* refs: a count; with REFS_SHARED, an atomic count; or REFS_FOREVER, no count. */
#define REFS_SHARED  0x80000000u
#define REFS_FOREVER 0xFFFFFFFFu
static inline uint32_t ct_value_refs(const CtObject *object) {
    return __atomic_load_n(&object->refs, __ATOMIC_RELAXED);
}
static inline void ct_value_set_refs(CtObject *object, uint32_t refs) {
    __atomic_store_n(&object->refs, refs, __ATOMIC_RELAXED);
}
static inline bool ct_is_marked(const CtObject *object) { return (int32_t)ct_value_refs(object) < 0; }

CT_RARELY void ct_value_retain_shared(CtObject *object, uint32_t count);
/* Adds `count` references. */
static inline void ct_value_retain_times(CtObject *object, uint32_t count) {
    uint32_t refs = ct_value_refs(object);
    if (__builtin_expect((int32_t)refs >= 0, 1)) {
        ct_value_set_refs(object, refs + count);
    } else if (refs != REFS_FOREVER) {
        ct_value_retain_shared(object, count);
    }
}
static inline CtObject *ct_value_retain_object(CtObject *object) {
    ct_value_retain_times(object, 1);
    return object;
}

/* Marks an object as shared: from now on several threads may hold it. */
void ct_value_share(CtObject *object);
/* Marks a part that is read from a shared object as shared, or from a permanent object as permanent. */
CT_RARELY void ct_value_mark_part(const CtObject *whole, CtObject *part);
/* Adds a reference to a part of an object. */
static inline CtObject *ct_value_retain_part(const CtObject *whole, CtObject *part) {
    if (__builtin_expect(ct_is_marked(whole), 0)) ct_value_mark_part(whole, part);
    return ct_value_retain_object(part);
}

CT_RARELY bool ct_value_is_exclusive_shared(CtObject *object);
/* Whether the given reference is the only one. */
static inline bool ct_value_is_exclusive(CtObject *object) {
    uint32_t refs = ct_value_refs(object);
    return refs == 1 || (__builtin_expect((int32_t)refs < 0, 0) && ct_value_is_exclusive_shared(object));
}

void ct_value_object_destroy(CtHeap *heap, CtObject *object); /* to be called at the last release */
CT_RARELY bool ct_value_let_go_shared(CtObject *object);
/* Removes a reference: whether it was the last. The count of a dead object is undefined. */
static inline bool ct_value_let_go(CtObject *object) {
    uint32_t refs = ct_value_refs(object);
    if (refs == 1) return true;
    if (__builtin_expect((int32_t)refs >= 0, 1)) {
        ct_value_set_refs(object, refs - 1);
        return false;
    }
    return refs != REFS_FOREVER && ct_value_let_go_shared(object);
}
static inline void ct_value_release_object(CtHeap *heap, CtObject *object) {
    if (ct_value_let_go(object)) ct_value_object_destroy(heap, object);
}
/* Retains a value by its type. */
void ct_value_retain(const CtType *type, CtWord value);
void ct_value_release(CtHeap *heap, const CtType *type, CtWord value);

/* The value in the format of Haskell's show: Node Leaf 1.0 Leaf, [1.0,2.0], [|1.0,2.0|]; functions as <function>. Depth
 * is bounded by memory only. */
void ct_value_show(CtText *out, const CtType *type, CtWord value);
/* Whether a constructor of a universal type is that of tuples, or one of the two of lists, [] before (:). */
bool ct_value_is_tuple_layer(const CtCon *con);
bool ct_value_is_list_layer(const CtCon *con);
/* The shortest decimal that reads back to the same Double, in the format of Haskell's show: 0.1, 1.0e-2, 1.0e7,
 * Infinity, NaN. The buffer has at least 32 bytes. Returns the length. */
size_t ct_value_show_double(char *buffer, double value);
/* The same for a Float: the shortest decimal that reads back to the same Float. */
size_t ct_value_show_float(char *buffer, double value);

/* A character of a request (what >= 0), or the command that ends it, to `effects` (rt/run.h; NULL: there are none);
 * then the answer, in UTF-8, until the next command. Returns 0, or the number of an error, such as 513; the answer is
 * then its message. */
struct ct_effects;
int ct_value_effect(struct ct_effects *effects, int64_t what, const char **answer, size_t *length);
/* A character of a message that the run tells, or its end. False without memory. */
bool ct_value_trace(struct ct_effects *effects, int64_t what);
/* An Integer in decimal digits. */
void ct_value_integer_print(CtText *out, CtWord value);
/* The order of values that `deriving Ord` or the language gives: below 0, 0 or above. A type may have an order of its
 * own instead, by an instance in the program, or none. */
bool ct_value_has_own_order(const CtType *type);
int ct_value_order(const CtType *type, CtWord a, CtWord b);
int ct_value_integer_order(CtWord a, CtWord b);
/* Why no program can make a value of a data type of the library, though its constructor and parts have the right types;
 * NULL where one can, or that is not known. */
const char *ct_value_unmade(const CtType *type, CtWord value);
/* Whether that depends on how several parts fit together, as those of a Ratio, or of an Array with bounds. */
bool ct_value_has_related_parts(const CtType *type);

/* A new Integer of decimal digits, perhaps behind a minus sign; false when the heap is full. It takes the square of
 * their number. */
bool ct_value_integer_new(CtHeap *heap, const CtType *type, const char *text, CtWord *value);

/* A new [Char] from UTF-8 (an invalid byte counts as a character); NULL when the heap is full. `string` is the type
 * [Char]. */
CtObject *ct_value_string_new(CtHeap *heap, const CtType *string, const char *text, size_t length);
/* The text of a [Char], at most `max` characters. */
void ct_value_string_text(CtText *out, CtWord string, size_t max);

#endif
