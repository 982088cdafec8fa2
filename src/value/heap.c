/* The heap: memory by size, its limit, and construction of objects. Layouts are in layout.c, releasing in release.c. */
#include "value/internal.h"

#include <stdlib.h>

typedef struct CtHeapChunk {
    struct CtHeapChunk *next;
} CtHeapChunk;

/* Memory from malloc for a single object, linked so that freeing a heap frees it. */
typedef struct CtHeapLarge {
    struct CtHeapLarge *next, **link;
} CtHeapLarge;

enum { CHUNK_FIRST = 32 * 1024, CHUNK_LAST = 1024 * 1024, CLAIM = 64 * 1024 };

static void set_mark(CtHeap *heap) {
    size_t mark = heap->peak;
    heap->mark = mark < heap->limit ? mark : heap->limit;
}

static void set_limit(CtHeap *heap, size_t limit) {
    heap->limit = limit == 0 ? SIZE_MAX : limit;
    set_mark(heap);
}

CtHeap *ct_value_heap_new(size_t limit) {
    CtHeap *heap = calloc(1, sizeof *heap);
    if (heap == NULL) return NULL;
    heap->next_chunk = CHUNK_FIRST;
    set_limit(heap, limit);
    return heap;
}

static void share_free(CtHeapShare *share) {
    if (share == NULL) return;
    pthread_mutex_destroy(&share->lock);
    free(share);
}

void ct_value_heap_free(CtHeap *heap) {
    if (heap == NULL) return;
    while (heap->large != NULL) {
        CtHeapLarge *next = heap->large->next;
        free(heap->large);
        heap->large = next;
    }
    while (heap->chunks != NULL) {
        CtHeapChunk *next = heap->chunks->next;
        free(heap->chunks);
        heap->chunks = next;
    }
    ct_value_layouts_free(heap);
    if (heap->home == NULL) share_free(heap->share);
    free(heap);
}

size_t ct_value_heap_bytes(const CtHeap *heap) { return heap->bytes; }

size_t ct_value_heap_peak(const CtHeap *heap) { return heap->peak > heap->bytes ? heap->peak : heap->bytes; }

void ct_value_heap_reset_peak(CtHeap *heap) {
    heap->peak = heap->bytes;
    set_mark(heap);
}

/* A branch claims part of the remaining budget, at least what it needs. */
static bool claim(CtHeap *branch) {
    size_t *budget = &branch->share->budget;
    size_t need = branch->bytes - branch->mark, left = __atomic_load_n(budget, __ATOMIC_RELAXED), more;
    do {
        more = need > CLAIM || left < CLAIM ? need : CLAIM;
        if (more > left) return false;
    } while (!__atomic_compare_exchange_n(budget, &left, left - more, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    branch->mark += more;
    return true;
}

bool ct_value_heap_charge_slow(CtHeap *heap, size_t bytes) {
    if (heap->home != NULL) {
        if (heap->bytes >= bytes && claim(heap)) return true;
        heap->bytes -= bytes;
        return false;
    }
    if (heap->bytes < bytes || heap->bytes > heap->limit) {
        heap->bytes -= bytes;
        return false;
    }
    heap->peak = heap->bytes > SIZE_MAX - HEAP_QUANTUM ? SIZE_MAX : (heap->bytes / HEAP_QUANTUM + 1) * HEAP_QUANTUM;
    if (heap->peak > heap->limit) heap->peak = heap->limit;
    set_mark(heap);
    return true;
}

/* ---- memory ---- */

/* Home is idle while its branches work, but objects of home may be freed there; so the lists need a lock. */
static void lock(CtHeap *heap) {
    if (heap->share != NULL) pthread_mutex_lock(&heap->share->lock);
}
static void unlock(CtHeap *heap) {
    if (heap->share != NULL) pthread_mutex_unlock(&heap->share->lock);
}

static void link_large(CtHeap *heap, CtHeapLarge *large) {
    lock(heap);
    large->next = heap->large;
    large->link = &heap->large;
    if (large->next != NULL) large->next->link = &large->next;
    heap->large = large;
    unlock(heap);
}

static void unlink_large(CtHeap *heap, CtHeapLarge *large) {
    lock(heap);
    *large->link = large->next;
    if (large->next != NULL) large->next->link = large->link;
    unlock(heap);
}

/* Where tests look at Cotan's own work, fresh memory begins with signalling NaNs, which are pointers to nowhere: so
 * that what is read before it is written shows. Of very large memory not all is touched. */
static void poison(CtHeapLarge *large, size_t from, size_t to) {
#ifdef CT_LINT
    enum { MOST = 1 << 16 };
    for (size_t i = from; i < to && i - from < MOST; i++)
        ((CtWord *)(large + 1))[i].integer = INT64_C(0x7FF4F4E5F4E5F4E5);
#else
    (void)large, (void)from, (void)to;
#endif
}

static void *large_new(CtHeap *heap, size_t words) {
    if (words > (SIZE_MAX - sizeof(CtHeapLarge)) / sizeof(CtWord)) return NULL;
    if (!ct_value_heap_charge(heap, words * sizeof(CtWord))) return NULL;
    CtHeapLarge *large = malloc(sizeof(CtHeapLarge) + words * sizeof(CtWord));
    if (large == NULL) {
        ct_value_heap_refund(heap, words * sizeof(CtWord));
        return NULL;
    }
    poison(large, 0, words);
    link_large(heap, large);
    return large + 1;
}

static void large_give(CtHeap *heap, void *memory, size_t words) {
    CtHeapLarge *large = (CtHeapLarge *)memory - 1;
    unlink_large(heap, large);
    free(large);
    ct_value_heap_refund(heap, words * sizeof(CtWord));
}

static void *large_resize(CtHeap *heap, void *memory, size_t before, size_t words) {
    if (words > (SIZE_MAX - sizeof(CtHeapLarge)) / sizeof(CtWord)) return NULL;
    if (!ct_value_heap_charge(heap, words * sizeof(CtWord))) return NULL;
    CtHeapLarge *old = (CtHeapLarge *)memory - 1;
    unlink_large(heap, old);
    CtHeapLarge *large = realloc(old, sizeof(CtHeapLarge) + words * sizeof(CtWord));
    if (large == NULL) {
        link_large(heap, old);
        ct_value_heap_refund(heap, words * sizeof(CtWord));
        return NULL;
    }
    ct_value_heap_refund(heap, before * sizeof(CtWord));
    poison(large, before, words);
    link_large(heap, large);
    return large + 1;
}

#ifndef CT_HEAP_PLAIN
/* The rest of a chunk that is too small for the next request becomes a free cell. */
static bool new_chunk(CtHeap *heap) {
    size_t left = (size_t)(heap->bump_end - heap->bump) / sizeof(CtWord);
    if (left > 0) {
        CtFree *cell = (CtFree *)(void *)heap->bump;
        cell->next = heap->free[left];
        heap->free[left] = cell;
    }
    CtHeapChunk *chunk = malloc(heap->next_chunk);
    heap->bump = heap->bump_end = NULL;
    if (chunk == NULL) return false;
    chunk->next = heap->chunks;
    heap->chunks = chunk;
    heap->bump = (char *)chunk + sizeof(CtWord) * 2;
    heap->bump_end = (char *)chunk + heap->next_chunk;
    if (heap->next_chunk < CHUNK_LAST) heap->next_chunk *= 2;
    return true;
}

void *ct_value_heap_take_slow(CtHeap *heap, size_t words) {
    if (words > HEAP_SMALL) return large_new(heap, words);
    size_t bytes = words * sizeof(CtWord);
    if (!ct_value_heap_charge(heap, bytes)) return NULL;
    if ((size_t)(heap->bump_end - heap->bump) < bytes && !new_chunk(heap)) {
        ct_value_heap_refund(heap, bytes);
        return NULL;
    }
    void *memory = heap->bump;
    heap->bump += bytes;
    return memory;
}
#else
void *ct_value_heap_take_slow(CtHeap *heap, size_t words) { return large_new(heap, words); }
#endif

void ct_value_heap_give_slow(CtHeap *heap, void *memory, size_t words) { large_give(heap, memory, words); }

/* ---- branches ---- */

static CtHeapShare *share_new(void) {
    CtHeapShare *share = calloc(1, sizeof *share);
    if (share != NULL && pthread_mutex_init(&share->lock, NULL) != 0) {
        free(share);
        share = NULL;
    }
    return share;
}

CtHeap *ct_value_heap_branch(CtHeap *home) {
    if (home->share == NULL) home->share = share_new();
    CtHeap *branch = home->share == NULL ? NULL : calloc(1, sizeof *branch);
    if (branch == NULL) return NULL;
    branch->next_chunk = CHUNK_FIRST;
    branch->home = home;
    branch->share = home->share;
    return branch;
}

void ct_value_heap_lend(CtHeap *home, CtHeap *const *branches, uint32_t count, uint32_t turn) {
    home->share->budget = home->limit - home->bytes;
    for (uint32_t i = 0; i < count; i++) branches[i]->bytes = branches[i]->mark = branches[i]->lent = home->bytes;
    CtHeap *branch = branches[turn % count];
    for (uint32_t words = 0; words <= HEAP_SMALL; words++) {
        CtFree *cells = home->free[words];
        home->free[words] = branch->free[words];
        branch->free[words] = cells;
    }
}

void ct_value_heap_take_back(CtHeap *home, CtHeap *const *branches, uint32_t count) {
    size_t most = home->limit - home->share->budget;
    for (uint32_t i = 0; i < count; i++) home->bytes += branches[i]->bytes - branches[i]->lent;
    if (most > home->peak) home->peak = most;
    set_mark(home);
}

/* ---- objects ---- */

CtFields *ct_value_fields_new(CtHeap *heap, const CtLayout *layout, uint32_t tag) {
    return ct_value_fields_take(heap, layout, tag);
}

CtClosure *ct_value_closure_new(CtHeap *heap, const CtLayout *layout, void *code) {
    CtClosure *closure = ct_value_heap_take(heap, CT_CLOSURE_WORDS + (size_t)layout->count);
    if (closure == NULL) return NULL;
    closure->head = (CtObject){layout, 1, 0};
    closure->code = code;
    return closure;
}

static bool reserve(CtHeap *heap, CtArray *array, int64_t capacity);

CtArray *ct_value_array_new(CtHeap *heap, const CtLayout *layout, int64_t length, int64_t capacity) {
    if (capacity < length) capacity = length;
    CtArray *array = ct_value_heap_take(heap, CT_ARRAY_WORDS);
    if (array == NULL) return NULL;
    *array = (CtArray){.head = {layout, 1, 0}};
    if (!reserve(heap, array, capacity)) {
        ct_value_heap_give(heap, array, CT_ARRAY_WORDS);
        return NULL;
    }
    array->length = length;
    return array;
}

static bool is_small(int64_t words) {
#ifdef CT_HEAP_PLAIN
    (void)words;
    return false;
#else
    return words <= HEAP_SMALL;
#endif
}

/* Ensures a capacity of at least `capacity` items (never fewer than there are); false when the heap is full. */
static bool reserve(CtHeap *heap, CtArray *array, int64_t capacity) {
    if (capacity <= array->capacity) return true;
    CtWord *items;
    if (array->items != NULL && !is_small(array->capacity)) {
        items = large_resize(heap, array->items, (size_t)array->capacity, (size_t)capacity);
        if (items == NULL) return false;
    } else {
        items = ct_value_heap_take(heap, (size_t)capacity);
        if (items == NULL) return false;
        if (array->length > 0) memcpy(items, array->items, (size_t)array->length * sizeof(CtWord));
        if (array->items != NULL) ct_value_heap_give(heap, array->items, (size_t)array->capacity);
    }
    array->items = items;
    array->capacity = capacity;
    return true;
}

bool ct_value_array_grow(CtHeap *heap, CtArray *array) {
    for (int part = 2; part <= 128; part *= 8) { /* less near the limit; each growth may copy all */
        int64_t more = array->capacity / part + 4;
        if (reserve(heap, array, array->capacity + more)) return true;
    }
    return false;
}
