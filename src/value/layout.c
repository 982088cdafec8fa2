/* Layouts: which words of an object are pointers. They are hash-consed: equal layouts are one pointer. */
#include "value/internal.h"

#include <stdlib.h>

typedef struct CtLayoutEntry {
    CtLayout layout;
    uint32_t hash;
    struct CtLayoutEntry *next;
    uint64_t bits[];
} CtLayoutEntry;

/* The layout and shared object for a type or constructor (the key). */
typedef struct CtTypeLayout {
    const void *key;
    const CtLayout *layout;
    CtObject *nullary;
} CtTypeLayout;

bool ct_value_type_is_pointer(const CtType *type) {
    switch (type->kind) {
    case TYPE_DOUBLE:
    case TYPE_FLOAT:
    case TYPE_INT:
    case TYPE_CHAR: return false;
    case TYPE_TUPLE: return type->count > 0;
    case TYPE_ARRAY:
    case TYPE_FUN: return true;
    case TYPE_DATA: return !type->data->is_enum;
    }
    return false;
}

/* ---- interning ---- */

static bool grow_layouts(CtHeap *heap) {
    uint32_t slots = heap->layout_slots == 0 ? 64 : heap->layout_slots * 2;
    CtLayoutEntry **table = calloc(slots, sizeof(CtLayoutEntry *));
    if (table == NULL) return false;
    for (uint32_t i = 0; i < heap->layout_slots; i++) {
        for (CtLayoutEntry *entry = heap->layouts[i]; entry != NULL;) {
            CtLayoutEntry *next = entry->next;
            entry->next = table[entry->hash % slots];
            table[entry->hash % slots] = entry;
            entry = next;
        }
    }
    free(heap->layouts);
    heap->layouts = table;
    heap->layout_slots = slots;
    return true;
}

static const CtLayout *intern_here(CtHeap *heap, CtLayout layout, uint32_t words) {
    uint64_t hash = (uint64_t)layout.kind * 31 + layout.count * 2u + layout.pointer_elements;
    for (uint32_t i = 0; i < words; i++) hash = (hash ^ layout.pointers[i]) * 0x9E3779B97F4A7C15u;
    uint32_t h = (uint32_t)(hash >> 32) ^ (uint32_t)hash;
    if (heap->layout_count >= heap->layout_slots && !grow_layouts(heap)) return NULL;
    CtLayoutEntry **slot = &heap->layouts[h % heap->layout_slots];
    for (CtLayoutEntry *entry = *slot; entry != NULL; entry = entry->next) {
        if (entry->hash == h && entry->layout.kind == layout.kind && entry->layout.count == layout.count &&
            entry->layout.pointer_elements == layout.pointer_elements &&
            memcmp(entry->bits, layout.pointers, words * sizeof(uint64_t)) == 0)
            return &entry->layout;
    }
    CtLayoutEntry *entry = calloc(1, sizeof *entry + words * sizeof(uint64_t));
    if (entry == NULL) return NULL;
    entry->layout = layout;
    memcpy(entry->bits, layout.pointers, words * sizeof(uint64_t));
    entry->layout.pointers = entry->bits;
    entry->hash = h;
    entry->next = *slot;
    *slot = entry;
    heap->layout_count++;
    return &entry->layout;
}

/* A branch uses the layouts of its home. */
static CtHeap *enter_home(CtHeap *heap) {
    if (heap->home == NULL) return heap;
    pthread_mutex_lock(&heap->share->lock);
    return heap->home;
}
static void leave_home(const CtHeap *heap) {
    if (heap->home != NULL) pthread_mutex_unlock(&heap->share->lock);
}

static const CtLayout *intern(CtHeap *heap, CtLayout layout, uint32_t words) {
    const CtLayout *interned = intern_here(enter_home(heap), layout, words);
    leave_home(heap);
    return interned;
}

const CtLayout *ct_value_layout_fields(CtHeap *heap, CtObjectKind kind, const bool *pointers, uint32_t count) {
    uint64_t few[4] = {0};
    uint32_t words = count / 64 + 1;
    uint64_t *bits = words <= 4 ? few : calloc(words, sizeof(uint64_t));
    if (bits == NULL) return NULL;
    for (uint32_t i = 0; i < count; i++)
        if (pointers[i]) bits[i / 64] |= (uint64_t)1 << (i % 64);
    const CtLayout *layout = intern(heap, (CtLayout){kind, false, count, bits}, words);
    if (bits != few) free(bits);
    return layout;
}

/* ---- by type ---- */

static CtTypeLayout *find_slot(CtTypeLayout *table, uint32_t slots, const void *key) {
    uint64_t hash = (uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15u;
    for (uint32_t i = (uint32_t)(hash >> 32);; i++) {
        CtTypeLayout *slot = &table[i & (slots - 1)];
        if (slot->key == key || slot->key == NULL) return slot;
    }
}

/* The entry of a key in a home, new ones without a layout; NULL when memory runs out. */
static CtTypeLayout *type_entry(CtHeap *heap, const void *key) {
    if (heap->type_layout_count * 2 >= heap->type_layout_slots) {
        uint32_t slots = heap->type_layout_slots == 0 ? 64 : heap->type_layout_slots * 2;
        CtTypeLayout *table = calloc(slots, sizeof *table);
        if (table == NULL) return NULL;
        for (uint32_t i = 0; i < heap->type_layout_slots; i++) {
            CtTypeLayout *old = &heap->type_layouts[i];
            if (old->key != NULL) *find_slot(table, slots, old->key) = *old;
        }
        free(heap->type_layouts);
        heap->type_layouts = table;
        heap->type_layout_slots = slots;
    }
    CtTypeLayout *entry = find_slot(heap->type_layouts, heap->type_layout_slots, key);
    if (entry->key == NULL) {
        entry->key = key;
        heap->type_layout_count++;
    }
    return entry;
}

/* Reads the entry of a key; false when memory runs out. */
static bool look_up(CtHeap *heap, const void *key, CtTypeLayout *out) {
    const CtTypeLayout *entry = type_entry(enter_home(heap), key);
    if (entry != NULL) *out = *entry;
    leave_home(heap);
    return entry != NULL;
}

/* Stores an entry; what another thread has stored first stays. */
static void note(CtHeap *heap, CtTypeLayout *known) {
    CtTypeLayout *entry = type_entry(enter_home(heap), known->key);
    if (entry != NULL) {
        if (entry->layout == NULL) entry->layout = known->layout;
        if (entry->nullary == NULL) entry->nullary = known->nullary;
        *known = *entry;
    }
    leave_home(heap);
}

static const CtLayout *layout_of_types(CtHeap *heap, const void *key, CtType *const *types, uint32_t count) {
    CtTypeLayout known;
    if (!look_up(heap, key, &known)) return NULL;
    if (known.layout != NULL) return known.layout;
    bool few[64] = {false};
    bool *pointers = count <= 64 ? few : calloc(count, sizeof(bool));
    if (pointers == NULL) return NULL;
    for (uint32_t i = 0; i < count; i++) pointers[i] = ct_value_type_is_pointer(types[i]);
    known.layout = ct_value_layout_fields(heap, OBJECT_FIELDS, pointers, count);
    if (pointers != few) free(pointers);
    if (known.layout != NULL) note(heap, &known);
    return known.layout;
}

CtType *const *ct_value_parts(const CtType *type, uint32_t tag, uint32_t *count) {
    bool is_data = type->kind == TYPE_DATA;
    *count = is_data ? type->data->cons[tag].count : type->count;
    return is_data ? type->data->cons[tag].fields : type->parts;
}

const CtLayout *ct_value_layout_tuple(CtHeap *heap, const CtType *tuple) {
    return layout_of_types(heap, tuple, tuple->parts, tuple->count);
}

const CtLayout *ct_value_layout_con(CtHeap *heap, const CtCon *con) {
    return layout_of_types(heap, con, con->fields, con->count);
}

const CtLayout *ct_value_layout_array(CtHeap *heap, const CtType *array) {
    uint64_t none = 0;
    bool pointers = ct_value_type_is_pointer(array->parts[0]);
    if (heap->of_arrays[pointers] == NULL)
        heap->of_arrays[pointers] = intern(heap, (CtLayout){OBJECT_ARRAY, pointers, 0, &none}, 1);
    return heap->of_arrays[pointers];
}

CtObject *ct_value_nullary(CtHeap *heap, const CtCon *con) {
    const CtLayout *layout = ct_value_layout_con(heap, con);
    CtTypeLayout known;
    if (layout == NULL || !look_up(heap, con, &known)) return NULL;
    if (known.nullary != NULL) return known.nullary;
    CtFields *fields = ct_value_fields_new(heap, layout, con->tag);
    if (fields == NULL) return NULL;
    ct_value_set_refs(&fields->head, REFS_FOREVER);
    known.nullary = &fields->head;
    note(heap, &known);
    if (known.nullary != &fields->head) ct_value_fields_give(heap, fields);
    return known.nullary;
}

void ct_value_layouts_free(CtHeap *heap) {
    for (uint32_t i = 0; i < heap->layout_slots; i++) {
        for (CtLayoutEntry *entry = heap->layouts[i]; entry != NULL;) {
            CtLayoutEntry *next = entry->next;
            free(entry);
            entry = next;
        }
    }
    free(heap->layouts);
    free(heap->type_layouts);
}
