/* Arena memory and the containers that live in it.
 *
 * A compilation lives in one arena and dies with it: passes never free. When memory runs out, or the arena's limit is
 * reached, allocation does not return: it jumps to the handler that the API installed. So no caller tests for NULL.
 * Code that holds something that the arena does not own (a FILE, a foreign library's object) must not allocate while it
 * holds it. */
#ifndef CT_BASE_ARENA_H
#define CT_BASE_ARENA_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct CtArena CtArena;

/* A new empty arena that will hold at most `limit` bytes (0: no limit). NULL when there is no memory at all. */
CtArena *ct_arena_new(size_t limit);
void ct_arena_free(CtArena *arena);
/* Sets the limit and returns the previous one. */
size_t ct_arena_limit(CtArena *arena, size_t limit);

/* Whether what is allocated from now on is exempt: it counts neither against the limit nor in ct_arena_bytes. (Of whole
 * chunks: a part of one may count as what its beginning does.) Returns what was set before. */
bool ct_arena_exempt(CtArena *arena, bool exempt);

/* Sets the handler that allocation jumps to when memory runs out. Returns the previous handler, so that handlers
 * nest. */
jmp_buf *ct_arena_on_failure(CtArena *arena, jmp_buf *handler);

/* Zeroed memory, aligned for any type. Never NULL. */
void *ct_alloc(CtArena *arena, size_t bytes);
/* Zeroed memory for `count` items; a product that overflows counts as out of memory. */
void *ct_alloc_array(CtArena *arena, size_t count, size_t size);
/* Hands back memory from ct_alloc so that later allocations reuse it. Worth it for large blocks with a short life. */
void ct_give_back(CtArena *arena, void *memory, size_t bytes);
/* A copy of `length` bytes, followed by a NUL. */
char *ct_copy_text(CtArena *arena, const char *text, size_t length);
/* printf into the arena. */
char *ct_format(CtArena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
char *ct_format_list(CtArena *arena, const char *format, va_list list);
/* Without what is exempt. */
size_t ct_arena_bytes(const CtArena *arena);

#define CT_NEW(arena, T)              ((T *)ct_alloc((arena), sizeof(T)))
#define CT_NEW_ARRAY(arena, T, count) ((T *)ct_alloc_array((arena), (size_t)(count), sizeof(T)))

/* ---- vectors: CT_VEC(CtCore *) args = {0}; ct_push(arena, &args, e); args.items[i], args.count ---- */

#define CT_VEC(T)                                                                                                      \
    struct {                                                                                                           \
        T *items;                                                                                                      \
        uint32_t count, capacity;                                                                                      \
    }

#define ct_push(arena, vec, ...)                                                                                       \
    do {                                                                                                               \
        if ((vec)->count == (vec)->capacity)                                                                           \
            (vec)->items = ct_vec_grow((arena), (vec)->items, &(vec)->capacity, sizeof *(vec)->items);                 \
        (vec)->items[(vec)->count++] = (__VA_ARGS__);                                                                  \
    } while (0)

/* Doubles the capacity and returns the items at their new address. Used by ct_push. */
void *ct_vec_grow(CtArena *arena, void *items, uint32_t *capacity, size_t size);

/* ---- maps: from a word or a pointer to a pointer; iteration is in insertion order ---- */

typedef struct CtMapEntry {
    uint64_t key;
    void *value;
} CtMapEntry;

typedef struct CtMap {
    CtMapEntry *entries; /* in insertion order */
    uint32_t count, capacity;
    uint32_t *slots; /* 1 + index into entries, 0 for free */
    uint32_t slot_count;
} CtMap;

/* The value at `key`, or NULL. An empty map is all zeroes: CtMap m = {0}. */
void *ct_map_get(const CtMap *map, uint64_t key);
/* True when `key` is present (its value may be NULL). */
bool ct_map_has(const CtMap *map, uint64_t key);
/* Adds the key, or replaces its value. */
void ct_map_set(CtArena *arena, CtMap *map, uint64_t key, void *value);

static inline uint64_t ct_key(const void *pointer) { return (uint64_t)(uintptr_t)pointer; }

/* ---- symbols: interned strings; equal text is the same pointer ---- */

typedef struct CtSymbol {
    uint32_t length;
    uint32_t hash;
    char text[]; /* NUL-terminated */
} CtSymbol;
typedef const CtSymbol *CtSym;

typedef struct CtSymbols {
    CtArena *arena;
    CtSym *slots;
    uint32_t count, slot_count;
} CtSymbols;

CtSym ct_intern(CtSymbols *symbols, const char *text, size_t length);
CtSym ct_intern_text(CtSymbols *symbols, const char *text);

/* ---- text being built; lives in an arena ---- */

typedef struct CtText {
    CtArena *arena;
    char *data; /* always NUL-terminated once anything was added */
    size_t length, capacity;
} CtText;

CtText ct_text(CtArena *arena);
void ct_text_add(CtText *text, const char *data, size_t length);
void ct_text_puts(CtText *text, const char *string);
void ct_text_putc(CtText *text, char c);
void ct_text_printf(CtText *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The shortest decimal that reads back to the same bits, as JSON writes it: 1, 0.1, 1e+300; "inf", "-inf", "nan". */
void ct_text_double(CtText *text, double value);
/* Decodes the UTF-8 character at `at` and sets `bytes` to its length. A byte that starts no valid sequence is returned
 * as it is. */
uint32_t ct_text_point(const char *text, size_t length, size_t at, size_t *bytes);

#endif
