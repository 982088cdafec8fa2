/* Arenas, and the vectors, maps, symbols and texts that live in them. */
#include "base/arena.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- arenas ---- */

/* Under AddressSanitizer, memory that is not allocated cannot be accessed, and each small allocation is followed by a
 * gap. */
#if defined(__SANITIZE_ADDRESS__) && !defined(CT_ARENA_WITHOUT_GAPS)
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
static void forbid(void *memory, size_t bytes) { ASAN_POISON_MEMORY_REGION(memory, bytes); }
static void allow(void *memory, size_t bytes) { ASAN_UNPOISON_MEMORY_REGION(memory, bytes); }
#else
enum { GAP = 0 };
static void forbid(void *memory, size_t bytes) { (void)memory, (void)bytes; }
static void allow(void *memory, size_t bytes) { (void)memory, (void)bytes; }
#endif

typedef struct CtChunk {
    struct CtChunk *next;
    size_t size; /* of the bytes behind this header */
} CtChunk;

/* A block of memory that was given back. Its own first bytes hold the link of the free list. */
typedef struct CtSpare {
    struct CtSpare *next;
    size_t size;
} CtSpare;

struct CtArena {
    CtChunk *chunks;
    CtSpare *spare;
    char *free, *end; /* what is left of the newest small chunk */
    size_t bytes, limit;
    size_t exempt_bytes; /* part of bytes */
    bool exempt;
    jmp_buf *handler;
};

enum { CHUNK_MIN = 64 * 1024, CHUNK_MAX = 1024 * 1024, ALIGNMENT = 16 };

CtArena *ct_arena_new(size_t limit) {
    CtArena *arena = calloc(1, sizeof *arena);
    if (arena != NULL) arena->limit = limit == 0 ? SIZE_MAX : limit;
    return arena;
}

size_t ct_arena_limit(CtArena *arena, size_t limit) {
    size_t before = arena->limit;
    arena->limit = limit == 0 ? SIZE_MAX : limit;
    return before == SIZE_MAX ? 0 : before;
}

void ct_arena_free(CtArena *arena) {
    if (arena == NULL) return;
    for (CtChunk *chunk = arena->chunks; chunk != NULL;) {
        CtChunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
    free(arena);
}

jmp_buf *ct_arena_on_failure(CtArena *arena, jmp_buf *handler) {
    jmp_buf *before = arena->handler;
    arena->handler = handler;
    return before;
}

bool ct_arena_exempt(CtArena *arena, bool exempt) {
    bool before = arena->exempt;
    arena->exempt = exempt;
    return before;
}

size_t ct_arena_bytes(const CtArena *arena) {
    return arena->bytes > arena->exempt_bytes ? arena->bytes - arena->exempt_bytes : 0;
}

/* Every entry point of the API installs a handler, so a missing one is a bug of Cotan. */
static _Noreturn void out_of_memory(CtArena *arena) { longjmp(*arena->handler, 1); }

static void *chunk_new(CtArena *arena, size_t size) {
    if (size > SIZE_MAX - sizeof(CtChunk) - ALIGNMENT) out_of_memory(arena);
    size_t whole = size + sizeof(CtChunk) + ALIGNMENT;
    if (!arena->exempt && (whole > arena->limit || ct_arena_bytes(arena) > arena->limit - whole)) out_of_memory(arena);
    CtChunk *chunk = calloc(1, whole);
    if (chunk == NULL) out_of_memory(arena);
    chunk->size = size;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->bytes += whole;
    if (arena->exempt) arena->exempt_bytes += whole;
    uintptr_t start = (uintptr_t)(chunk + 1);
    return (void *)((start + ALIGNMENT - 1) & ~(uintptr_t)(ALIGNMENT - 1));
}

/* Makes memory available for a small allocation: in memory that was given back, or in a new chunk. */
static char *next_region(CtArena *arena, size_t *size) {
    CtSpare *spare = arena->spare;
    if (spare != NULL) {
        arena->spare = spare->next;
        *size = spare->size;
        allow(spare, *size);
        return memset(spare, 0, *size);
    }
    *size = (arena->exempt ? arena->bytes : ct_arena_bytes(arena)) / 4;
    if (*size < CHUNK_MIN) *size = CHUNK_MIN;
    if (*size > CHUNK_MAX) *size = CHUNK_MAX;
    return chunk_new(arena, *size);
}

void ct_give_back(CtArena *arena, void *memory, size_t bytes) {
    bytes &= ~(size_t)(ALIGNMENT - 1);
    if (bytes < CHUNK_MIN) return;
    CtSpare *spare = memory;
    *spare = (CtSpare){arena->spare, bytes};
    arena->spare = spare;
    forbid(spare + 1, bytes - sizeof *spare);
}

void *ct_alloc(CtArena *arena, size_t bytes) {
    if (bytes > SIZE_MAX - ALIGNMENT - GAP) out_of_memory(arena);
    size_t whole = ((bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1)) + GAP;
    if (whole > (size_t)(arena->end - arena->free)) {
        if (whole > CHUNK_MIN / 4) return chunk_new(arena, whole - GAP);
        size_t size;
        arena->free = next_region(arena, &size);
        arena->end = arena->free + size;
        forbid(arena->free, size);
    }
    void *result = arena->free;
    arena->free += whole;
    arena->bytes -= GAP; /* gaps do not count */
    if (arena->exempt) arena->exempt_bytes -= GAP;
    allow(result, bytes);
    return result;
}

void *ct_alloc_array(CtArena *arena, size_t count, size_t size) {
    if (size != 0 && count > SIZE_MAX / size) out_of_memory(arena);
    return ct_alloc(arena, count * size);
}

char *ct_copy_text(CtArena *arena, const char *text, size_t length) {
    char *copy = ct_alloc(arena, length + 1);
    if (length > 0) memcpy(copy, text, length);
    return copy;
}

char *ct_format_list(CtArena *arena, const char *format, va_list list) {
    va_list again;
    va_copy(again, list);
    int length = vsnprintf(NULL, 0, format, list);
    if (length < 0) length = 0;
    char *text = ct_alloc(arena, (size_t)length + 1);
    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *ct_format(CtArena *arena, const char *format, ...) {
    va_list list;
    va_start(list, format);
    char *text = ct_format_list(arena, format, list);
    va_end(list);
    return text;
}

/* ---- vectors ---- */

void *ct_vec_grow(CtArena *arena, void *items, uint32_t *capacity, size_t size) {
    if (*capacity > UINT32_MAX / 2) out_of_memory(arena);
    uint32_t larger = *capacity == 0 ? 8 : *capacity * 2;
    void *moved = ct_alloc_array(arena, larger, size);
    if (*capacity > 0) memcpy(moved, items, *capacity * size);
    *capacity = larger;
    return moved;
}

/* ---- maps: open addressing over an ordered list of entries ---- */

static uint32_t hash_word(uint64_t key) {
    key ^= key >> 33;
    key *= 0xff51afd7ed558ccdULL;
    key ^= key >> 33;
    return (uint32_t)key;
}

static CtMapEntry *map_find(const CtMap *map, uint64_t key) {
    if (map->slot_count == 0) return NULL;
    uint32_t mask = map->slot_count - 1;
    for (uint32_t i = hash_word(key) & mask; map->slots[i] != 0; i = (i + 1) & mask) {
        CtMapEntry *entry = &map->entries[map->slots[i] - 1];
        if (entry->key == key) return entry;
    }
    return NULL;
}

void *ct_map_get(const CtMap *map, uint64_t key) {
    const CtMapEntry *entry = map_find(map, key);
    return entry == NULL ? NULL : entry->value;
}

bool ct_map_has(const CtMap *map, uint64_t key) { return map_find(map, key) != NULL; }

static void map_place(CtMap *map, uint32_t index) {
    uint32_t mask = map->slot_count - 1;
    uint32_t i = hash_word(map->entries[index].key) & mask;
    while (map->slots[i] != 0) i = (i + 1) & mask;
    map->slots[i] = index + 1;
}

void ct_map_set(CtArena *arena, CtMap *map, uint64_t key, void *value) {
    CtMapEntry *entry = map_find(map, key);
    if (entry != NULL) {
        entry->value = value;
        return;
    }
    if (map->count == map->capacity)
        map->entries = ct_vec_grow(arena, map->entries, &map->capacity, sizeof *map->entries);
    map->entries[map->count++] = (CtMapEntry){key, value};
    if (map->count * 2 > map->slot_count) {
        map->slot_count = map->slot_count == 0 ? 16 : map->slot_count * 2;
        map->slots = CT_NEW_ARRAY(arena, uint32_t, map->slot_count);
        for (uint32_t i = 0; i < map->count; i++) map_place(map, i);
    } else {
        map_place(map, map->count - 1);
    }
}

/* ---- symbols ---- */

static uint32_t hash_text(const char *text, size_t length) { /* FNV-1a */
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
    return hash;
}

static CtSym *symbol_slot(CtSymbols *symbols, const char *text, size_t length, uint32_t hash) {
    uint32_t mask = symbols->slot_count - 1, i = hash & mask;
    while (symbols->slots[i] != NULL) {
        CtSym symbol = symbols->slots[i];
        if (symbol->hash == hash && symbol->length == length && memcmp(symbol->text, text, length) == 0) break;
        i = (i + 1) & mask;
    }
    return &symbols->slots[i];
}

static void symbols_grow(CtSymbols *symbols) {
    CtSym *old = symbols->slots;
    uint32_t old_count = symbols->slot_count;
    uint32_t larger = old_count == 0 ? 256 : old_count * 2;
    CtSym *slots = CT_NEW_ARRAY(symbols->arena, CtSym, larger);
    symbols->slots = slots;
    symbols->slot_count = larger;
    for (uint32_t i = 0; i < old_count; i++)
        if (old[i] != NULL) *symbol_slot(symbols, old[i]->text, old[i]->length, old[i]->hash) = old[i];
}

CtSym ct_intern(CtSymbols *symbols, const char *text, size_t length) {
    if (symbols->count * 2 >= symbols->slot_count) symbols_grow(symbols);
    uint32_t hash = hash_text(text, length);
    CtSym *slot = symbol_slot(symbols, text, length, hash);
    if (*slot != NULL) return *slot;
    if (length > UINT32_MAX - 1) out_of_memory(symbols->arena);
    CtSymbol *symbol = ct_alloc(symbols->arena, sizeof *symbol + length + 1);
    symbol->length = (uint32_t)length;
    symbol->hash = hash;
    memcpy(symbol->text, text, length);
    *slot = symbol;
    symbols->count++;
    return symbol;
}

CtSym ct_intern_text(CtSymbols *symbols, const char *text) { return ct_intern(symbols, text, strlen(text)); }

/* ---- texts ---- */

CtText ct_text(CtArena *arena) { return (CtText){.arena = arena}; }

static void text_reserve(CtText *text, size_t more) {
    if (more > SIZE_MAX / 4 - text->length) out_of_memory(text->arena);
    size_t needed = text->length + more + 1;
    if (needed <= text->capacity) return;
    size_t capacity = text->capacity * 2 > needed ? text->capacity * 2 : needed;
    if (capacity < 64) capacity = 64;
    char *data = ct_alloc(text->arena, capacity);
    if (text->length > 0) memcpy(data, text->data, text->length);
    text->data = data;
    text->capacity = capacity;
}

void ct_text_add(CtText *text, const char *data, size_t length) {
    text_reserve(text, length);
    if (length > 0) memcpy(text->data + text->length, data, length);
    text->length += length;
    text->data[text->length] = '\0';
}

void ct_text_puts(CtText *text, const char *string) { ct_text_add(text, string, strlen(string)); }

void ct_text_putc(CtText *text, char c) { ct_text_add(text, &c, 1); }

void ct_text_printf(CtText *text, const char *format, ...) {
    char small[256];
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int length = vsnprintf(small, sizeof small, format, list);
    va_end(list);
    if (length >= 0 && (size_t)length < sizeof small) {
        ct_text_add(text, small, (size_t)length);
    } else if (length > 0) {
        text_reserve(text, (size_t)length);
        vsnprintf(text->data + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void ct_text_double(CtText *text, double value) {
    if (isnan(value)) {
        ct_text_puts(text, "\"nan\"");
    } else if (isinf(value)) {
        ct_text_puts(text, value > 0 ? "\"inf\"" : "\"-inf\"");
    } else {
        char digits[40];
        int precision = fabs(value) < 2.3e-308 ? 1 : 15; /* subnormal numbers have fewer digits */
        for (; precision <= 17; precision++) {
            snprintf(digits, sizeof digits, "%.*g", precision, value);
            if (strtod(digits, NULL) == value) break;
        }
        ct_text_puts(text, digits);
    }
}

uint32_t ct_text_point(const char *text, size_t length, size_t at, size_t *bytes) {
    const unsigned char *s = (const unsigned char *)text + at;
    size_t left = length - at;
    *bytes = 1;
    size_t more = s[0] >= 0xF0 && s[0] < 0xF8   ? 3
                  : s[0] >= 0xE0 && s[0] < 0xF0 ? 2
                  : s[0] >= 0xC2 && s[0] < 0xE0 ? 1
                                                : 0;
    if (more == 0 || more >= left) return s[0];
    uint32_t point = s[0] & (0x3Fu >> more);
    for (size_t i = 1; i <= more; i++) {
        if ((s[i] & 0xC0) != 0x80) return s[0];
        point = point << 6 | (s[i] & 0x3Fu);
    }
    *bytes = more + 1;
    return point;
}
