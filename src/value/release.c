/* Releasing: an object whose count has reached 0 is freed and releases what it held. There is no recursion: dead
 * objects wait in a list, linked through the memory of their counts. */
#include "value/internal.h"

/* The list of dead objects overlays refs and tag. */
typedef union Dead {
    CtObject object;
    struct {
        const CtLayout *layout;
        union Dead *next;
    } link;
} Dead;

static inline Dead *let_go(CtObject *child, Dead *dead) {
    if (child == NULL || !ct_value_let_go(child)) return dead;
    Dead *self = (Dead *)child;
    self->link.next = dead;
    return self;
}

static Dead *release_words(const CtLayout *layout, const CtWord *words, Dead *dead) {
    for (uint32_t base = 0; base < layout->count; base += 64) {
        uint64_t bits = layout->pointers[base / 64];
        while (bits != 0) {
            uint32_t index = base + (uint32_t)__builtin_ctzll(bits);
            bits &= bits - 1;
            dead = let_go(words[index].object, dead);
        }
    }
    return dead;
}

static Dead *destroy_one(CtHeap *heap, CtObject *object, Dead *dead) {
    const CtLayout *layout = object->layout;
    switch (layout->kind) {
    case OBJECT_FIELDS:
        dead = release_words(layout, ((CtFields *)object)->words, dead);
        ct_value_heap_give(heap, object, CT_OBJECT_WORDS + (size_t)layout->count);
        return dead;
    case OBJECT_CLOSURE:
        dead = release_words(layout, ((CtClosure *)object)->captures, dead);
        ct_value_heap_give(heap, object, CT_CLOSURE_WORDS + (size_t)layout->count);
        return dead;
    case OBJECT_ARRAY: {
        CtArray *array = (CtArray *)object;
        if (layout->pointer_elements)
            for (int64_t i = 0; i < array->length; i++) dead = let_go(array->items[i].object, dead);
        if (array->items != NULL) ct_value_heap_give(heap, array->items, (size_t)array->capacity);
        ct_value_heap_give(heap, array, CT_ARRAY_WORDS);
        return dead;
    }
    }
    return dead;
}

void ct_value_object_destroy(CtHeap *heap, CtObject *object) {
    Dead *dead = (Dead *)object;
    dead->link.next = NULL;
    while (dead != NULL) {
        Dead *self = dead;
        dead = self->link.next;
        dead = destroy_one(heap, &self->object, dead);
    }
}

/* ---- what several threads hold ---- */

void ct_value_retain_shared(CtObject *object, uint32_t count) {
    __atomic_fetch_add(&object->refs, count, __ATOMIC_RELAXED);
}

bool ct_value_let_go_shared(CtObject *object) {
    return __atomic_fetch_sub(&object->refs, 1, __ATOMIC_ACQ_REL) == (REFS_SHARED | 1);
}

void ct_value_share(CtObject *object) {
    if (!ct_is_marked(object)) __atomic_fetch_or(&object->refs, REFS_SHARED, __ATOMIC_RELAXED);
}

void ct_value_mark_part(const CtObject *whole, CtObject *part) {
    if (ct_is_marked(part)) return;
    if (ct_value_refs(whole) == REFS_FOREVER) {
        ct_value_set_refs(part, REFS_FOREVER);
    } else {
        ct_value_share(part);
    }
}

bool ct_value_is_exclusive_shared(CtObject *object) {
    if (__atomic_load_n(&object->refs, __ATOMIC_ACQUIRE) != (REFS_SHARED | 1)) return false;
    ct_value_set_refs(object, 1);
    return true;
}

void ct_value_retain(const CtType *type, CtWord value) {
    if (ct_value_type_is_pointer(type)) ct_value_retain_object(value.object);
}

void ct_value_release(CtHeap *heap, const CtType *type, CtWord value) {
    if (ct_value_type_is_pointer(type)) ct_value_release_object(heap, value.object);
}
