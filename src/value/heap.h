/* The heap's internals, for code that allocates in hot loops: free lists by size over large chunks.
 *
 * Objects of up to HEAP_SMALL words come from the free list of their size; larger ones come from malloc. Every byte of
 * a live object is counted, so that limits and peaks are the same on every machine (the peak to within HEAP_QUANTUM).
 * Under AddressSanitizer every object comes from malloc, so that errors of memory use are detected. */
#ifndef CT_VALUE_HEAP_H
#define CT_VALUE_HEAP_H

#include <pthread.h>

#include "value/value.h"

#if defined(__SANITIZE_ADDRESS__)
#define CT_HEAP_PLAIN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CT_HEAP_PLAIN 1
#endif
#endif

enum { HEAP_SMALL = 32, HEAP_QUANTUM = 4096 };

typedef struct CtFree {
    struct CtFree *next;
} CtFree;

/* Shared by heaps that exchange objects. */
typedef struct CtHeapShare {
    pthread_mutex_t lock; /* protects layouts and the lists of memory from malloc */
    size_t budget;        /* bytes not claimed by any heap yet; atomic */
} CtHeapShare;

struct CtHeap {
    CtFree *free[HEAP_SMALL + 1]; /* free lists, by words */
    char *bump, *bump_end;        /* the unused part of the newest chunk */
    size_t bytes;                 /* of live objects */
    size_t mark;                  /* `bytes` is examined when it reaches this: the next peak step, or the limit */
    size_t peak, limit;
    struct CtHeapChunk *chunks;
    struct CtHeapLarge *large;
    struct CtLayoutEntry **layouts; /* hash table of interned layouts */
    uint32_t layout_count, layout_slots;
    struct CtTypeLayout *type_layouts; /* hash table: type or constructor -> layout, nullary object */
    uint32_t type_layout_count, type_layout_slots;
    size_t next_chunk;
    struct CtHeap *home;          /* of a branch: its home heap; NULL otherwise */
    CtHeapShare *share;           /* NULL: there are no branches */
    const CtLayout *of_arrays[2]; /* of scalars, of objects */
    size_t lent;                  /* of a branch: home's bytes when its work began */
};

/* Counts `bytes` more; false, without any change, when that exceeds the limit. */
bool ct_value_heap_charge_slow(CtHeap *heap, size_t bytes);
static inline bool ct_value_heap_charge(CtHeap *heap, size_t bytes) {
    heap->bytes += bytes;
    if (__builtin_expect(heap->bytes <= heap->mark, 1)) return true;
    return ct_value_heap_charge_slow(heap, bytes);
}
static inline void ct_value_heap_refund(CtHeap *heap, size_t bytes) { heap->bytes -= bytes; }

/* Uninitialised memory for `words` words; NULL when the heap is full. */
void *ct_value_heap_take_slow(CtHeap *heap, size_t words);
void ct_value_heap_give_slow(CtHeap *heap, void *memory, size_t words);

static inline void *ct_value_heap_take(CtHeap *heap, size_t words) {
#ifndef CT_HEAP_PLAIN
    if (__builtin_expect(words <= HEAP_SMALL, 1)) {
        CtFree *cell = heap->free[words];
        if (__builtin_expect(cell != NULL, 1)) {
            if (!ct_value_heap_charge(heap, words * sizeof(CtWord))) return NULL;
            heap->free[words] = cell->next;
            return cell;
        }
    }
#endif
    return ct_value_heap_take_slow(heap, words);
}

static inline void ct_value_heap_give(CtHeap *heap, void *memory, size_t words) {
#ifndef CT_HEAP_PLAIN
    if (__builtin_expect(words <= HEAP_SMALL, 1)) {
        CtFree *cell = memory;
        cell->next = heap->free[words];
        heap->free[words] = cell;
        ct_value_heap_refund(heap, words * sizeof(CtWord));
        return;
    }
#endif
    ct_value_heap_give_slow(heap, memory, words);
}

enum {
    CT_OBJECT_WORDS = sizeof(CtObject) / sizeof(CtWord),
    CT_ARRAY_WORDS = sizeof(CtArray) / sizeof(CtWord),
    CT_CLOSURE_WORDS = sizeof(CtClosure) / sizeof(CtWord),
};

/* An inline version of ct_value_fields_new. */
static inline CtFields *ct_value_fields_take(CtHeap *heap, const CtLayout *layout, uint32_t tag) {
    CtFields *fields = ct_value_heap_take(heap, CT_OBJECT_WORDS + (size_t)layout->count);
    if (__builtin_expect(fields == NULL, 0)) return NULL;
    fields->head.layout = layout;
    fields->head.refs = 1;
    fields->head.tag = tag;
    return fields;
}
/* Frees the memory of a FIELDS object whose fields have been moved out. */
static inline void ct_value_fields_give(CtHeap *heap, CtFields *fields) {
    ct_value_heap_give(heap, fields, CT_OBJECT_WORDS + (size_t)fields->head.layout->count);
}

static inline bool ct_value_layout_pointer(const CtLayout *layout, uint32_t index) {
    return (layout->pointers[index / 64] >> (index % 64)) & 1;
}

/* Ensures capacity for one more item: grows by half, or less near the limit; false when the heap is full. */
bool ct_value_array_grow(CtHeap *heap, CtArray *array);

#endif
