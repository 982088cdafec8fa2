/* The base of a run of an emitted program: objects with reference counts, memory, and failures.
 *
 * Objects are nodes (data, closures) and arrays. An object is freed at once when its last reference is released,
 * without recursion. A failure jumps to the caller that started the run; ct_run_clear then frees all memory of the run.
 * One thread at a time may use a run. */
#ifndef CT_RT_RUN_H
#define CT_RT_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "rt/scalar.h"

/* Marks of functions. Inlining would not pay for those that are rarely called (cold) or run long (called); when Cotan
 * itself runs a program, it links these to its own copies instead of compiling them again. Near functions are compiled
 * with every program, for the processor at hand. */
#if defined(__GNUC__)
#define CT_LIKELY(c)           __builtin_expect((c) != 0, 1)
#define CT_UNLIKELY(c)         __builtin_expect((c) != 0, 0)
#define CT_COLD                __attribute__((noinline, cold, unused))
#define CT_CALLED              __attribute__((noinline, unused))
#define CT_NEAR                __attribute__((noinline, unused))
#define CT_INSIDE              __attribute__((always_inline))
#define CT_FAILS               __attribute__((noreturn))
#define CT_PRINTS(text, first) __attribute__((format(printf, text, first)))
#else
#define CT_LIKELY(c)   (c)
#define CT_UNLIKELY(c) (c)
#define CT_COLD
#define CT_CALLED
#define CT_NEAR
#define CT_INSIDE
#define CT_FAILS
#define CT_PRINTS(text, first)
#endif

#if defined(__GNUC__)
#define CT_FRAME() ((char *)__builtin_frame_address(0))
#else
#define CT_FRAME() ((char *)0)
#endif

/* Placed before a loop with independent iterations. */
#if defined(__GNUC__) && !defined(__clang__)
#define CT_SIDE_BY_SIDE _Pragma("GCC ivdep")
#else
#define CT_SIDE_BY_SIDE
#endif

/* Under AddressSanitizer every object comes from malloc, so that errors of memory use are detected. */
#if defined(__SANITIZE_ADDRESS__)
#define CT_PLAIN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CT_PLAIN 1
#endif
#endif
#ifndef CT_PLAIN
#define CT_PLAIN 0
#endif

enum {
    CT_LINE = 64, /* bytes of a cache line */
    CT_PAGE = 4096,
    CT_LARGE_PAGE = 1 << 21,
    CT_SHIFTED = 1 << 17, /* bytes of the smallest block that begins at another offset in its page than the last */
    CT_SMALL = 32,        /* words of the largest object whose exact size has a free list */
    /* Words of the largest object of a size class with a free list. There are four classes between powers of two. */
    CT_MIDDLE = 1024,
    CT_MIDDLES = 20,    /* number of these size classes */
    CT_SPARES = 128,    /* size classes of larger blocks; the last has all beyond */
    CT_NULLARIES = 256, /* tags of constructors without fields that share one node */
    CT_IS_ARRAY = 1 << 30,
};

/* Where native code is debugged, rt/debug.h says what these do. */
#ifdef CT_DEBUG_MEMORY
#define CT_IS_DEBUGGED 1
#else
#define CT_IS_DEBUGGED               0
#define CT_FRESH(memory, words)      (memory)
#define CT_FREED(memory, words)      ((void)0)
#define CT_REUSED(memory, words)     ((void)0)
#define CT_ALIVE(object)             ((void)0)
#define CT_SPAN(from, count, length) ((void)0)
#endif

/* Blocks of memory are counted where native code is debugged, and by Cotan, which makes its arguments and frees its
 * results: so that a block that nobody gives back is noticed. */
#if CT_IS_DEBUGGED || defined(CT_COUNTS_BLOCKS)
#define CT_BLOCKS(rt, more) ((void)((rt)->blocks += (more)))
#else
#define CT_BLOCKS(rt, more) ((void)0)
#endif

typedef struct ct_object {
    union {
        struct {
            uint32_t refs, tag; /* tag: number of the constructor */
        };
        struct ct_object *next; /* link in the list of objects to be freed */
    };
    uint32_t words; /* of a node: number of fields; of an array: CT_IS_ARRAY and the rank */
    /* Of a node: number of fields that are objects, which come first. Of an array: whether its elements are objects. */
    uint32_t pointers;
} ct_object;

typedef union ct_word {
    double f;
    int64_t i;
    ct_object *p;
} ct_word;

typedef struct ct_node {
    ct_object head;
    ct_word at[];
} ct_node;

/* An array, row-major. The data of a row are inside its owner's. */
typedef struct ct_array {
    ct_object head;
    ct_word *data;
    int64_t capacity; /* words allocated for data */
    struct ct_array *owner;
    int64_t dims[]; /* as many as the rank; after a 0 all are 0 */
} ct_array;

typedef struct ct_large { /* header of memory that comes from malloc */
    struct ct_large *next, **link;
    size_t bytes;
    void *block; /* what malloc returned */
} ct_large;

/* What a run may ask of the world: input, output, files. A request is made of characters, one at a time, and of the
 * command behind them, a negative number (minus a cotan_effect of cotan.h, minus 1). The answer is UTF-8, and stays
 * until the next command. */
typedef struct ct_effects {
    /* Does what is asked. If it fails it returns false; the answer is then the message, and `code` the error, such as
     * 513. */
    bool (*perform)(struct ct_effects *effects, int64_t command);
    /* Takes a character of a message; -1: tells the message; -2: it is the fraction of the work that is done. False
     * without memory. */
    bool (*trace)(struct ct_effects *effects, int64_t what);
    char *request; /* UTF-8; from malloc */
    size_t length, capacity;
    const char *answer;
    size_t answer_length;
    int code;
} ct_effects;

typedef struct ct_run {
    void *free[CT_SMALL + 1 + CT_MIDDLES]; /* free lists: by number of words, then by size class */
    char *bump, *bump_end;
    ct_large *large, *chunks;
    ct_large *empty; /* chunks that hold nothing, since the last run ended */
    /* Large blocks that were freed, by size class: kept, because the system would have to clear new pages. Together
     * with what is in use they are never more than the most that was in use, nor than the limit. */
    ct_large *spare[CT_SPARES];
    size_t bytes, spare_bytes, most_bytes, limit; /* limit in bytes; 0: none */
    size_t shift;                                 /* offset within a page for the next large block */
    /* The stack may not grow below this address. It is set above all frames to interrupt the run. */
    char *volatile stack_end;
    volatile int interrupt;
    jmp_buf out;
    int here;       /* site of an allocation whose size comes from the program */
    int code, site; /* of the failure: 501 means E0501; sites are numbered by the compiler, 0 is none */
    char *message;  /* of the failure, in `text` or `long_text` */
    char text[400];
    char *long_text; /* message of a failure that the program itself words; from malloc */
    ct_object nullary[CT_NULLARIES];
    ct_object lender;                   /* owner of the views in a part of a loop: threads.h */
    ct_word *constants, *all_constants; /* the constants of the current entry; those of all entries */
    int64_t constant_words;             /* number of words of all_constants */
    ct_effects *effects;                /* NULL: there are none, and asking for one fails */
    struct ct_crew *crew;               /* threads that share loops; NULL: none */
    bool alone;                         /* no loops are shared for the rest of this run */
    bool is_member;                     /* this run is a thread's own, in a crew */
    int64_t may_copy;                   /* words that may still be copied for a part: threads.h */
    int64_t blocks;                     /* of memory, taken and not given back, where this is counted */
} ct_run;

/* The threads that share the loops of a run. Each has a run of its own. */
typedef struct ct_crew {
    int count;
    /* Calls work(data, who) for as many who in 0 … count − 1 as are available, and 0 on this thread. NULL: OpenMP is
     * used. */
    void (*call)(void *pool, void (*work)(void *data, uint32_t who), void *data);
    void *pool;
    ct_run members[];
} ct_crew;

/* A function of the runtime that Cotan provides: its name, and the pointer to be set. */
typedef struct ct_outside {
    const char *name;
    void *pointer;
} ct_outside;

/* Hides a number from constant folding in the C compiler. */
static inline double ct_late(double x) {
    volatile double late = x;
    return late;
}

/* ---- failing ---- */

static CT_COLD CT_FAILS CT_PRINTS(4, 5) void ct_fail(ct_run *rt, int site, int code, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(rt->text, sizeof rt->text, format, list);
    va_end(list);
    rt->code = code;
    rt->site = site;
    rt->message = rt->text;
    longjmp(rt->out, 1);
}

static CT_COLD CT_FAILS void ct_fail_memory(ct_run *rt) {
    ct_fail(rt, rt->here, 801, "the run needs more memory than it may use");
}

/* Stops a run that is interrupted or has no stack left: called when a recursive function is entered, and in iterations
 * of loops made from recursion. */
static CT_COLD CT_FAILS void ct_pause(ct_run *rt) {
    if (rt->interrupt) ct_fail(rt, 0, 804, "interrupted");
    ct_fail_memory(rt);
}
/* The address of the frame would do for all processors, but a function that is asked for it keeps it in a register. */
static inline void ct_enter(ct_run *rt) {
#if defined(__x86_64__) && defined(__GCC_ASM_FLAG_OUTPUTS__)
    bool beyond;
    __asm__ volatile("cmpq %1, %%rsp" : "=@ccb"(beyond) : "m"(rt->stack_end));
    if (CT_UNLIKELY(beyond)) ct_pause(rt);
#else
    if (CT_UNLIKELY(CT_FRAME() < rt->stack_end)) ct_pause(rt);
#endif
}
static inline void ct_iteration(ct_run *rt) {
    if (CT_UNLIKELY(rt->interrupt)) ct_pause(rt);
}

/* ---- memory ---- */

/* Frees spare blocks until they have at most this number of bytes. */
static CT_COLD void ct_free_spares(ct_run *rt, size_t bytes) {
    for (int i = 0; i < CT_SPARES && rt->spare_bytes > bytes;) {
        ct_large *spare = rt->spare[i];
        if (spare == NULL) {
            i++;
            continue;
        }
        rt->spare[i] = spare->next;
        rt->spare_bytes -= spare->bytes;
        free(spare->block);
    }
}

/* Memory from the system. A page is made when it is first written to, which takes longer than to write to a small one:
 * for much memory large pages are asked for, where there are any. This is advice only. */
static inline char *ct_pages(size_t bytes) {
#if defined(__linux__) && !CT_PLAIN
    enum { LARGE_PAGES = 14 }; /* MADV_HUGEPAGE */
    extern int madvise(void *, size_t, int);
    if (bytes < CT_LARGE_PAGE) return malloc(bytes);
    char *block = aligned_alloc(CT_LARGE_PAGE, bytes);
    if (block != NULL) madvise(block, bytes, LARGE_PAGES);
    return block;
#else
    return malloc(bytes);
#endif
}

/* Checks that more memory is within the limit, and frees spare blocks for it: with them, too, a run is within its
 * limit, so that it may take them without a question. */
static CT_COLD void ct_make_room(ct_run *rt, size_t bytes) {
    if (rt->limit != 0 && (rt->bytes > rt->limit || bytes > rt->limit - rt->bytes)) ct_fail_memory(rt);
    if (rt->most_bytes < rt->bytes + bytes) rt->most_bytes = rt->bytes + bytes;
    size_t most = rt->limit != 0 && rt->limit < rt->most_bytes ? rt->limit : rt->most_bytes;
    ct_free_spares(rt, most - rt->bytes - bytes);
}

/* Sets the limit, in bytes (0: none), of what follows. Memory in use already is within it. */
static inline void ct_set_limit(ct_run *rt, size_t limit) {
    rt->limit = limit != 0 && limit < rt->bytes ? rt->bytes : limit;
    if (limit != 0) ct_free_spares(rt, rt->limit - rt->bytes);
}

/* Gets new memory from the system, within the limit. Memory is aligned to cache lines, for vectors. Large blocks begin
 * at different offsets in their pages; otherwise arrays that a loop walks over together would compete for the same sets
 * of the cache. */
static CT_COLD ct_large *ct_take_new(ct_run *rt, size_t bytes) {
    ct_make_room(rt, bytes);
    size_t before = sizeof(ct_large) + CT_LINE - 1;
    if (bytes >= CT_SHIFTED) {
        before += rt->shift;
        rt->shift = (rt->shift + 4 * CT_LINE) % CT_PAGE;
    }
    char *block = CT_PLAIN ? malloc(sizeof(ct_large) + bytes) : ct_pages(before + bytes);
    if (block == NULL) ct_fail_memory(rt);
    size_t at = sizeof(ct_large);
    if (!CT_PLAIN) at = before - (size_t)((uintptr_t)block + before) % CT_LINE;
    ct_large *large = (ct_large *)(block + at) - 1;
    *large = (ct_large){NULL, NULL, bytes, block};
    return large;
}

/* The size class of a large block: there are four between powers of two. */
static inline int ct_spare_class(size_t bytes) {
    unsigned power = 63 - (unsigned)__builtin_clzll(bytes | 1 << 13), quarter = (unsigned)(bytes >> (power - 2)) & 3;
    unsigned class = (power - 13) * 4 + quarter;
    return class < CT_SPARES ? (int)class : CT_SPARES - 1;
}

/* A spare block that is at most a quarter larger than needed; NULL when none is found near the head of its list. */
static ct_large *ct_take_spare(ct_run *rt, size_t bytes) {
    int class = ct_spare_class(bytes);
    for (int i = class; i <= class + 1 && i < CT_SPARES; i++) {
        ct_large **at = &rt->spare[i];
        for (int tries = 4; *at != NULL && tries > 0; tries--, at = &(*at)->next) {
            ct_large *spare = *at;
            if (spare->bytes < bytes || spare->bytes - bytes > bytes / 4) continue;
            *at = spare->next;
            rt->spare_bytes -= spare->bytes;
            return spare;
        }
    }
    return NULL;
}

static CT_COLD void *ct_take_large(ct_run *rt, size_t bytes) {
    ct_large *large = ct_take_spare(rt, bytes);
    if (large == NULL) large = ct_take_new(rt, bytes);
    bytes = large->bytes;
    *large = (ct_large){rt->large, &rt->large, bytes, large->block};
    if (large->next != NULL) large->next->link = &large->next;
    rt->large = large;
    rt->bytes += bytes;
    return large + 1;
}

static CT_COLD void ct_give_large(ct_run *rt, void *memory) {
    ct_large *large = (ct_large *)memory - 1;
    *large->link = large->next;
    if (large->next != NULL) large->next->link = large->link;
    rt->bytes -= large->bytes;
    if (CT_PLAIN) {
        free(large->block);
        return;
    }
    ct_large **list = &rt->spare[ct_spare_class(large->bytes)];
    large->next = *list;
    *list = large;
    rt->spare_bytes += large->bytes;
}

/* Gives a large block more bytes, of which the first `used` keep their contents. The system moves whole pages, where a
 * copy would need new ones. */
static CT_COLD void *ct_widen_large(ct_run *rt, void *memory, size_t used, size_t bytes) {
    ct_large *large = (ct_large *)memory - 1;
    size_t more = bytes - large->bytes, at = (size_t)((char *)memory - (char *)large->block);
    ct_make_room(rt, more);
    char *block = realloc(large->block, at + CT_LINE - 1 + bytes);
    if (block == NULL) ct_fail_memory(rt);
    size_t beyond = (size_t)(uintptr_t)(block + at) % CT_LINE, from = at;
    if (beyond != 0) at += CT_LINE - beyond;
    large = (ct_large *)(block + at) - 1;
    if (at != from) memmove(large, block + from - sizeof(ct_large), sizeof(ct_large) + used);
    large->block = block;
    large->bytes = bytes;
    *large->link = large;
    if (large->next != NULL) large->next->link = &large->next;
    rt->bytes += more;
    return large + 1;
}

static void *ct_use_chunk(ct_run *rt, ct_large *chunk, size_t words) {
    chunk->next = rt->chunks;
    rt->chunks = chunk;
    rt->bump = (char *)(chunk + 1) + words * sizeof(ct_word);
    rt->bump_end = (char *)(chunk + 1) + chunk->bytes;
    return chunk + 1;
}

/* Begins a new chunk for small objects; the rest of the previous one stays unused. */
static CT_COLD void *ct_take_chunk(ct_run *rt, size_t words) {
    if (rt->empty != NULL) { /* its bytes are counted already */
        ct_large *chunk = rt->empty;
        rt->empty = chunk->next;
        return ct_use_chunk(rt, chunk, words);
    }
    size_t bytes = 64 * 1024;
    while (bytes < rt->bytes / 4 && bytes < 1 << 24) bytes *= 2;
    while (rt->limit != 0 && bytes > 64 * 1024 && rt->bytes + bytes > rt->limit) bytes /= 2;
    bytes -= sizeof(ct_large) + 2 * CT_LINE + CT_PAGE; /* what ct_take_new adds: the block ends where a page does */
    ct_large *chunk = ct_take_new(rt, bytes);
    rt->bytes += bytes;
    return ct_use_chunk(rt, chunk, words);
}

/* An object from a free list, or from new memory. */
static inline void *ct_take_from(ct_run *rt, void **list, size_t words) {
    void **cell = *list;
    if (CT_LIKELY(cell != NULL)) {
        *list = *cell;
        CT_REUSED(cell, words);
        return cell;
    }
    char *at = rt->bump;
    if (CT_UNLIKELY((size_t)(rt->bump_end - at) < words * sizeof(ct_word))) return ct_take_chunk(rt, words);
    rt->bump = at + words * sizeof(ct_word);
    return at;
}

/* The free list of the size class for more than CT_SMALL words; *words becomes the size of its objects. */
static inline void **ct_middle(ct_run *rt, size_t *words) {
    size_t last = *words - 1;
    unsigned power = 63 - (unsigned)__builtin_clzll(last), quarter = (unsigned)(last >> (power - 2)); /* 4 to 7 */
    *words = (size_t)(quarter + 1) << (power - 2);
    return &rt->free[CT_SMALL + 1 + (power - 5) * 4 + quarter - 4];
}
/* Memory of these sizes is aligned to cache lines, for vectors: a full vector that crosses lines takes as long as two.
 * The sizes are multiples of a line, so that only small objects in between leave a gap. */
static CT_CALLED void *ct_take_middle(ct_run *rt, size_t words) {
    if (CT_PLAIN || words > CT_MIDDLE) return ct_take_large(rt, words * sizeof(ct_word));
    void **list = ct_middle(rt, &words);
    if (*list == NULL) {
        size_t gap = (CT_LINE - (uintptr_t)rt->bump % CT_LINE) % CT_LINE;
        if (gap < (size_t)(rt->bump_end - rt->bump)) rt->bump += gap; /* else a new chunk begins, which is aligned */
    }
    return ct_take_from(rt, list, words);
}
static CT_CALLED void ct_give_middle(ct_run *rt, void *memory, size_t words) {
    if (CT_PLAIN || words > CT_MIDDLE) {
        ct_give_large(rt, memory);
        return;
    }
    void **list = ct_middle(rt, &words);
    *(void **)memory = *list;
    *list = memory;
}

static inline void *ct_take(ct_run *rt, size_t words) {
    CT_BLOCKS(rt, 1);
    if (CT_UNLIKELY(CT_PLAIN || words > CT_SMALL)) return CT_FRESH(ct_take_middle(rt, words), words);
    return CT_FRESH(ct_take_from(rt, &rt->free[words], words), words);
}

static inline void ct_give(ct_run *rt, void *memory, size_t words) {
    CT_BLOCKS(rt, -1);
    CT_FREED(memory, words);
    if (CT_UNLIKELY(CT_PLAIN || words > CT_SMALL)) {
        ct_give_middle(rt, memory, words);
        return;
    }
    *(void **)memory = rt->free[words];
    rt->free[words] = memory;
}

/* ---- objects ---- */

enum {
    CT_NODE_WORDS = sizeof(ct_node) / sizeof(ct_word),
    CT_ARRAY_WORDS = sizeof(ct_array) / sizeof(ct_word),
};

/* A node in the memory `cell` of an opened node of the same size; in new memory if that is NULL. */
static inline ct_node *ct_node_in(ct_run *rt, ct_node *cell, uint32_t tag, uint32_t words, uint32_t pointers) {
    ct_node *node = cell != NULL ? cell : ct_take(rt, CT_NODE_WORDS + (size_t)words);
    node->head.refs = 1;
    node->head.tag = tag;
    node->head.words = words;
    node->head.pointers = pointers;
    return node;
}
/* The same if the old node had the same constructor: its head stays. */
static inline ct_node *ct_node_again(ct_run *rt, ct_node *cell, uint32_t tag, uint32_t words, uint32_t pointers) {
    return cell != NULL ? cell : ct_node_in(rt, NULL, tag, words, pointers);
}
static inline ct_node *ct_node_new(ct_run *rt, uint32_t tag, uint32_t words, uint32_t pointers) {
    return ct_node_in(rt, NULL, tag, words, pointers);
}

/* A node without fields. Such nodes are shared and never freed. Code that does not know that it has one still counts
 * references, which has no effect. */
static inline ct_node *ct_bare(ct_run *rt, uint32_t tag) {
    return tag < CT_NULLARIES ? (ct_node *)&rt->nullary[tag] : ct_node_new(rt, tag, 0, 0);
}
static inline bool ct_is_bare(const ct_object *object) { return object->words == 0 && object->tag < CT_NULLARIES; }

/* Frees a node whose fields have been moved out. */
static inline void ct_node_free(ct_run *rt, ct_node *node) {
    ct_give(rt, node, CT_NODE_WORDS + (size_t)node->head.words);
}

static inline void ct_destroy_later(ct_object **todo, ct_object *object) {
    CT_ALIVE(object);
    if (--object->refs > 0 || ct_is_bare(object)) return;
    object->next = *todo;
    *todo = object;
}

static CT_CALLED int64_t ct_words_of(const int64_t *dims, uint32_t rank) {
    int64_t words = 1;
    for (uint32_t i = 0; i < rank; i++) words *= dims[i];
    return words;
}

static inline int64_t ct_row_words(const ct_array *array) {
    CT_ALIVE(array);
    uint32_t rank = array->head.words & ~(uint32_t)CT_IS_ARRAY;
    return rank == 1 ? 1 : rank == 2 ? array->dims[1] : ct_words_of(array->dims + 1, rank - 1);
}

static CT_CALLED void ct_destroy_array(ct_run *rt, ct_array *array, ct_object **todo) {
    uint32_t rank = array->head.words & ~(uint32_t)CT_IS_ARRAY;
    int64_t count = array->owner == NULL && array->head.pointers ? array->dims[0] * ct_row_words(array) : 0;
    for (int64_t i = 0; i < count; i++) ct_destroy_later(todo, array->data[i].p);
    if (array->owner != NULL)
        ct_destroy_later(todo, &array->owner->head);
    else if (array->data != NULL)
        ct_give(rt, array->data, (size_t)array->capacity);
    ct_give(rt, array, CT_ARRAY_WORDS + (size_t)rank);
}

/* Releases the last reference of an object. The first field of a node is freed next, which is a list's tail; the others
 * go to a list. */
static CT_CALLED void ct_destroy(ct_run *rt, ct_object *object) {
    ct_object *todo = NULL;
    if (ct_is_bare(object)) return;
    while (object != NULL) {
        ct_object *next = NULL;
        if (object->words & CT_IS_ARRAY) {
            ct_destroy_array(rt, (ct_array *)object, &todo);
        } else {
            ct_node *node = (ct_node *)object;
            uint32_t pointers = object->pointers;
            for (uint32_t i = 1; i < pointers; i++) ct_destroy_later(&todo, node->at[i].p);
            if (pointers > 0 && --node->at[0].p->refs == 0 && !ct_is_bare(node->at[0].p)) next = node->at[0].p;
            ct_node_free(rt, node);
        }
        if (next == NULL && todo != NULL) {
            next = todo;
            todo = next->next;
        }
        object = next;
    }
}

static inline void ct_hold(void *object) {
    CT_ALIVE(object);
    ((ct_object *)object)->refs++;
}
static inline void ct_drop(ct_run *rt, void *object) {
    CT_ALIVE(object);
    if (--((ct_object *)object)->refs == 0) ct_destroy(rt, object);
}
/* Ends a node whose fields have been read into variables: they are moved if this was the last reference, else retained.
 * Returns the memory of the node, or NULL when others hold it. */
static inline ct_node *ct_node_cell(ct_node *node) {
    CT_ALIVE(node);
    if (node->head.refs == 1) {
        CT_FREED(node->at, node->head.words);
        return node;
    }
    node->head.refs--;
    for (uint32_t i = 0; i < node->head.pointers; i++) node->at[i].p->refs++;
    return NULL;
}
static inline void ct_cell_free(ct_run *rt, ct_node *cell) {
    if (cell != NULL) ct_node_free(rt, cell);
}
static inline void ct_node_leave(ct_run *rt, ct_node *node) { ct_cell_free(rt, ct_node_cell(node)); }

/* Cells that a loop has emptied and not used yet, from the earliest on. Their heads stay, but for the link. */
typedef struct ct_cells {
    ct_object *first, *last;
} ct_cells;

static inline void ct_cell_later(ct_cells *cells, ct_node *cell) {
    if (cell == NULL) return;
    if (cells->first == NULL)
        cells->first = &cell->head;
    else
        cells->last->next = &cell->head;
    cells->last = &cell->head;
    cell->head.next = NULL;
}
/* A node in the earliest of the cells, behind which `cell` is queued, unless this is NULL. Without cells, in `cell`. */
static inline ct_node *ct_node_next(ct_run *rt, ct_cells *cells, ct_node *cell, uint32_t tag, uint32_t words,
                                    uint32_t pointers) {
    ct_object *earliest = cells->first;
    if (earliest == NULL) return ct_node_in(rt, cell, tag, words, pointers);
    cells->first = earliest->next;
    ct_cell_later(cells, cell);
    return ct_node_in(rt, (ct_node *)earliest, tag, words, pointers);
}
/* To the free list, all at once where nothing is to be done with each. */
static inline void ct_cells_free(ct_run *rt, const ct_cells *cells) {
    ct_object *first = cells->first;
    size_t words = first != NULL ? CT_NODE_WORDS + (size_t)first->words : 0;
    while (first != NULL && (CT_PLAIN || CT_IS_DEBUGGED || words > CT_SMALL)) {
        ct_node *node = (ct_node *)first;
        first = first->next;
        ct_node_free(rt, node);
    }
    if (first == NULL) return;
    cells->last->next = rt->free[words];
    rt->free[words] = first;
}

/* Lists that are made from the front: the last cell gets its tail. Whoever makes a list holds its first and its last
 * cell; the last is held by the cell in front of it, too, so that its count does not come to 0. */
static inline void ct_end(ct_node *last, ct_node *rest) {
    CT_ALIVE(&last->head);
    last->at[0].p = &rest->head;
    last->head.refs--;
}
static inline ct_node *ct_link(ct_node *last, ct_node *cell) {
    ct_end(last, cell);
    cell->head.refs++;
    return cell;
}

/* ---- the run ---- */

/* All objects in chunks are gone: the chunks are used from their beginnings again, in their order. */
static CT_COLD void ct_empty_chunks(ct_run *rt) {
    while (rt->chunks != NULL) { /* the last one is first in the list */
        ct_large *chunk = rt->chunks;
        rt->chunks = chunk->next;
        chunk->next = rt->empty;
        rt->empty = chunk;
    }
    for (int i = 0; i <= CT_SMALL + CT_MIDDLES; i++) rt->free[i] = NULL;
    rt->bump = rt->bump_end = NULL;
}

/* Where nothing is left of a run. Free lists have their objects in the order in which these were released; run after
 * run that becomes an order by chance, in which each object is somewhere else in memory than the one before. */
static inline void ct_rewind(ct_run *rt) {
    if (rt->chunks != NULL && rt->chunks->next != NULL && rt->crew == NULL) ct_empty_chunks(rt);
}

/* Frees all memory of the run. */
static inline void ct_free_all(ct_run *rt) {
    while (rt->large != NULL) {
        ct_large *next = rt->large->next;
        free(rt->large->block);
        rt->large = next;
    }
    ct_free_spares(rt, 0);
    ct_empty_chunks(rt);
    while (rt->empty != NULL) {
        ct_large *next = rt->empty->next;
        free(rt->empty->block);
        rt->empty = next;
    }
    rt->bytes = rt->most_bytes = 0;
    rt->blocks = 0;
}

static inline void ct_begin(ct_run *rt) {
    for (uint32_t i = 0; i < CT_NULLARIES; i++) rt->nullary[i] = (ct_object){.refs = 1, .tag = i};
    rt->lender = (ct_object){.refs = 1};
}

/* Frees what a member of a crew has allocated, and forgets its constants. */
static CT_COLD void ct_member_clear(ct_run *member) {
    ct_free_all(member);
    for (int64_t i = 0; i < member->constant_words; i++) member->all_constants[i].i = 0;
}

/* Frees all that was allocated, and the record of a failure. */
static inline void ct_run_clear(ct_run *rt) {
    ct_free_all(rt);
    ct_begin(rt);
    for (int i = 0; rt->crew != NULL && i < rt->crew->count; i++) {
        ct_member_clear(&rt->crew->members[i]);
        ct_begin(&rt->crew->members[i]);
    }
}

/* ---- the crew ---- */

static CT_COLD void ct_crew_free(ct_run *rt) {
    for (int i = 0; rt->crew != NULL && i < rt->crew->count; i++) {
        ct_run *member = &rt->crew->members[i];
        ct_free_all(member);
        free(member->long_text);
        free(member->all_constants);
    }
    free(rt->crew);
    rt->crew = NULL;
}

/* Makes a crew of `count` threads; none when memory runs out. */
static CT_COLD void ct_crew_new(ct_run *rt, int count) {
    ct_crew *crew = calloc(1, sizeof *crew + (size_t)count * sizeof(ct_run));
    rt->crew = crew;
    for (int i = 0; crew != NULL && i < count; i++) {
        ct_run *member = &crew->members[crew->count++];
        member->alone = member->is_member = true;
        member->constant_words = rt->constant_words;
        member->all_constants = calloc((size_t)rt->constant_words + 1, sizeof(ct_word));
        ct_begin(member);
        if (member->all_constants == NULL) {
            ct_crew_free(rt);
            return;
        }
    }
}

#endif
