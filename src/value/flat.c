/* Values as sequences of buffers. */
#include "value/flat.h"
#include "value/internal.h"

#include <stdio.h>

/* ---- the form of a type ---- */

static bool is_number(const CtType *type) {
    return type->kind == TYPE_DOUBLE || type->kind == TYPE_FLOAT || type->kind == TYPE_INT || type->kind == TYPE_CHAR ||
           (type->kind == TYPE_DATA && type->data->is_enum);
}

static cotan_element element_of(const CtType *type) {
    switch (type->kind) {
    case TYPE_DOUBLE: return COTAN_DOUBLE;
    case TYPE_FLOAT: return COTAN_FLOAT;
    case TYPE_CHAR: return COTAN_CHAR;
    case TYPE_DATA: return strcmp(type->data->name->text, "Bool") == 0 ? COTAN_BOOL : COTAN_TAG;
    case TYPE_INT:
    case TYPE_TUPLE:
    case TYPE_ARRAY:
    case TYPE_FUN: break;
    }
    return COTAN_INT;
}

typedef struct Making {
    CtArena *arena;
    CtSlots *slots;
    uint32_t rank, depth; /* of the enclosing arrays */
} Making;

static const CtFlat *make(Making *m, const CtType *type, const char *path);

static const CtFlat *make_parts(Making *m, CtFlat *flat, CtType *const *parts, uint32_t count, const CtSym *names,
                                const char *path) {
    flat->kind = FLAT_TUPLE;
    flat->count = count;
    flat->parts = CT_NEW_ARRAY(m->arena, CtFlat *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        const char *part =
            names != NULL ? ct_format(m->arena, "%s.%s", path, names[i]->text) : ct_format(m->arena, "%s[%u]", path, i);
        flat->parts[i] = (CtFlat *)make(m, parts[i], part);
        if (flat->parts[i] == NULL) return NULL;
        flat->slots += flat->parts[i]->slots;
    }
    return flat;
}

static const CtFlat *make_array(Making *m, CtFlat *flat, const CtType *type, const char *path) {
    if (m->rank > 0) return NULL;
    flat->kind = FLAT_ARRAY;
    for (; type->kind == TYPE_ARRAY; type = type->parts[0]) flat->rank++;
    if (flat->rank > COTAN_MOST_DIMENSIONS) return NULL;
    m->rank = flat->rank;
    flat->count = 1;
    flat->parts = CT_NEW_ARRAY(m->arena, CtFlat *, 1);
    flat->parts[0] = (CtFlat *)make(m, type, path);
    m->rank = 0;
    if (flat->parts[0] == NULL) return NULL;
    flat->slots = flat->parts[0]->slots;
    return flat;
}

enum { DEEPEST = 100 }; /* recursive data have no such representation */

static const CtFlat *make(Making *m, const CtType *type, const char *path) {
    CtFlat *flat = CT_NEW(m->arena, CtFlat);
    flat->type = type;
    flat->slot = m->slots->count;
    if (is_number(type)) {
        flat->kind = FLAT_NUMBER;
        flat->slots = 1;
        cotan_slot slot = {.path = path, .element = element_of(type), .rank = m->rank};
        ct_push(m->arena, m->slots, slot);
        return flat;
    }
    if (type->kind == TYPE_ARRAY) return make_array(m, flat, type, path);
    bool record = type->kind == TYPE_DATA && type->data->con_count == 1;
    if ((!record && type->kind != TYPE_TUPLE) || m->depth == DEEPEST) return NULL;
    uint32_t count = record ? type->data->cons[0].count : type->count;
    if (count == 0) return NULL;
    m->depth++;
    const CtFlat *made = make_parts(m, flat, record ? type->data->cons[0].fields : type->parts, count,
                                    record ? type->data->cons[0].field_names : NULL, path);
    m->depth--;
    return made;
}

const CtFlat *ct_value_flat(CtArena *arena, const CtType *type, const char *path, CtSlots *slots) {
    Making m = {arena, slots, 0, 0};
    return make(&m, type, path);
}

/* ---- sizes ---- */

static const char *sizes_text(CtArena *arena, uint32_t rank, const size_t *sizes) {
    CtText out = ct_text(arena);
    for (uint32_t i = 0; i < rank; i++) ct_text_printf(&out, "%s%zu", i > 0 ? " × " : "", sizes[i]);
    return out.data;
}

static const char *check_range(CtArena *arena, const CtFlat *number, const cotan_slot *slots, const cotan_buffer *in,
                               size_t count, int64_t least, int64_t most) {
    const int64_t *numbers = in[number->slot].data;
    for (size_t i = 0; i < count; i++)
        if (numbers[i] < least || numbers[i] > most)
            return ct_format(arena, "the buffer for `%s` holds %lld, which is none of its type",
                             slots[number->slot].path, (long long)numbers[i]);
    return NULL;
}

static const char *check_floats(CtArena *arena, const CtFlat *number, const cotan_slot *slots, const cotan_buffer *in,
                                size_t count) {
    const double *numbers = in[number->slot].data;
    for (size_t i = 0; i < count; i++)
        if ((double)(float)numbers[i] != numbers[i] && numbers[i] == numbers[i])
            return ct_format(arena, "the buffer for `%s` holds %.17g, which is no Float", slots[number->slot].path,
                             numbers[i]);
    return NULL;
}

/* Checks that numbers are valid constructors, characters, Floats, or of few bits where these are expected. */
static const char *check_numbers(CtArena *arena, const CtFlat *flat, const cotan_slot *slots, const cotan_buffer *in,
                                 size_t count) {
    const char *wrong = NULL;
    int64_t least, most;
    for (uint32_t i = 0; i < flat->count && wrong == NULL; i++)
        wrong = check_numbers(arena, flat->parts[i], slots, in, count);
    if (wrong == NULL && flat->kind == FLAT_TUPLE && ct_value_is_narrow(flat->type, &least, &most))
        wrong = check_range(arena, flat->parts[0], slots, in, count, least, most);
    if (wrong == NULL && flat->kind == FLAT_NUMBER && flat->type->kind == TYPE_FLOAT)
        wrong = check_floats(arena, flat, slots, in, count);
    if (flat->kind != FLAT_NUMBER || (flat->type->kind != TYPE_DATA && flat->type->kind != TYPE_CHAR)) return wrong;
    most = flat->type->kind == TYPE_DATA ? (int64_t)flat->type->data->con_count - 1 : 0x10FFFF;
    return check_range(arena, flat, slots, in, count, 0, most);
}

const char *ct_value_flat_check(CtArena *arena, const CtFlat *flat, const cotan_slot *slots, const cotan_buffer *in) {
    const char *wrong = NULL;
    for (uint32_t i = 0; flat->kind == FLAT_TUPLE && i < flat->count && wrong == NULL; i++)
        wrong = ct_value_flat_check(arena, flat->parts[i], slots, in);
    if (flat->kind == FLAT_TUPLE && wrong == NULL && flat->count == 1 && flat->parts[0]->kind == FLAT_NUMBER)
        return check_numbers(arena, flat, slots, in, 1);
    if (flat->kind == FLAT_NUMBER && in[flat->slot].data == NULL)
        return ct_format(arena, "the buffer for `%s` is NULL", slots[flat->slot].path);
    if (flat->kind == FLAT_NUMBER) return check_numbers(arena, flat, slots, in, 1);
    size_t numbers = 0;
    for (uint32_t i = 0; flat->kind == FLAT_ARRAY && i < flat->slots; i++) {
        const cotan_buffer *first = &in[flat->slot], *other = &in[flat->slot + i];
        size_t count = 1;
        for (uint32_t j = 0; j < flat->rank; j++) {
            if (first->size[j] != other->size[j])
                return ct_format(arena, "the buffers for `%s` and `%s` differ in size: %s and %s",
                                 slots[flat->slot].path, slots[flat->slot + i].path,
                                 sizes_text(arena, flat->rank, first->size),
                                 sizes_text(arena, flat->rank, other->size));
            if (__builtin_mul_overflow(count, other->size[j], &count) || count > (size_t)1 << 48)
                return ct_format(arena, "the buffer for `%s` is too large: %s", slots[flat->slot + i].path,
                                 sizes_text(arena, flat->rank, other->size));
        }
        if (count > 0 && other->data == NULL)
            return ct_format(arena, "the buffer for `%s` is NULL", slots[flat->slot + i].path);
        numbers = count;
    }
    if (flat->kind == FLAT_ARRAY) return check_numbers(arena, flat->parts[0], slots, in, numbers);
    return wrong;
}

bool ct_value_flat_fits(const cotan_slot *slot, cotan_buffer *buffer, const size_t *sizes, char wrong[300]) {
    for (uint32_t i = 0; i < slot->rank; i++) {
        if (buffer->data != NULL && buffer->size[i] != sizes[i]) {
            snprintf(wrong, 300, "the buffer for `%.100s` has the size %zu in dimension %u, and the result has %zu",
                     slot->path, buffer->size[i], i, sizes[i]);
            return false;
        }
        buffer->size[i] = sizes[i];
    }
    return true;
}

/* ---- values of the evaluator's ---- */

typedef struct Reading {
    CtHeap *heap;
    const cotan_buffer *in;
} Reading;

static bool read_at(const Reading *r, const CtFlat *flat, size_t at, CtWord *value);

static bool read_tuple(const Reading *r, const CtFlat *flat, size_t at, CtWord *value) {
    const CtType *type = flat->type;
    const CtLayout *layout = type->kind == TYPE_DATA ? ct_value_layout_con(r->heap, &type->data->cons[0])
                                                     : ct_value_layout_tuple(r->heap, type);
    CtFields *fields = layout != NULL ? ct_value_fields_new(r->heap, layout, 0) : NULL;
    if (fields == NULL) return false;
    memset(fields->words, 0, flat->count * sizeof *fields->words);
    for (uint32_t i = 0; i < flat->count; i++) {
        if (read_at(r, flat->parts[i], at, &fields->words[i])) continue;
        ct_value_release_object(r->heap, &fields->head);
        return false;
    }
    value->object = &fields->head;
    return true;
}

static bool read_rows(const Reading *r, const CtFlat *flat, const CtType *type, uint32_t level, size_t *at,
                      CtWord *value) {
    size_t length = r->in[flat->slot].size[level];
    for (uint32_t i = 0; i < level; i++) /* after a 0 all are 0 */
        if (r->in[flat->slot].size[i] == 0) length = 0;
    const CtLayout *layout = ct_value_layout_array(r->heap, type);
    CtArray *array = layout != NULL ? ct_value_array_new(r->heap, layout, 0, (int64_t)length) : NULL;
    if (array == NULL) return false;
    for (size_t i = 0; i < length; i++) {
        bool done = level + 1 < flat->rank ? read_rows(r, flat, type->parts[0], level + 1, at, &array->items[i])
                                           : read_at(r, flat->parts[0], (*at)++, &array->items[i]);
        if (!done) {
            ct_value_release_object(r->heap, &array->head);
            return false;
        }
        array->length++;
    }
    value->object = &array->head;
    return true;
}

static bool read_at(const Reading *r, const CtFlat *flat, size_t at, CtWord *value) {
    if (flat->kind == FLAT_TUPLE) return read_tuple(r, flat, at, value);
    if (flat->kind == FLAT_ARRAY) {
        size_t from = 0;
        return read_rows(r, flat, flat->type, 0, &from, value);
    }
    *value = ((const CtWord *)r->in[flat->slot].data)[at];
    return true;
}

bool ct_value_flat_read(CtHeap *heap, const CtFlat *flat, const cotan_buffer *in, CtWord *value) {
    Reading r = {heap, in};
    return read_at(&r, flat, 0, value);
}

/* ---- parts that must fit together ---- */

bool ct_value_flat_has_related_parts(const CtFlat *flat) {
    bool has = flat->kind == FLAT_TUPLE && ct_value_has_related_parts(flat->type);
    for (uint32_t i = 0; i < flat->count && !has; i++) has = ct_value_flat_has_related_parts(flat->parts[i]);
    return has;
}

static const char *unmade_rows(const CtFlat *element, uint32_t levels, CtWord value) {
    if (levels == 0) return ct_value_flat_unmade(element, value);
    const CtArray *array = (const CtArray *)value.object;
    const char *unmade = NULL;
    for (int64_t i = 0; i < array->length && unmade == NULL; i++)
        unmade = unmade_rows(element, levels - 1, array->items[i]);
    return unmade;
}

const char *ct_value_flat_unmade(const CtFlat *flat, CtWord value) {
    if (flat->kind == FLAT_NUMBER || !ct_value_flat_has_related_parts(flat)) return NULL;
    if (flat->kind == FLAT_ARRAY) return unmade_rows(flat->parts[0], flat->rank, value);
    const char *unmade = NULL;
    for (uint32_t i = 0; i < flat->count && unmade == NULL; i++)
        unmade = ct_value_flat_unmade(flat->parts[i], ((const CtFields *)value.object)->words[i]);
    return unmade != NULL ? unmade : ct_value_unmade(flat->type, value);
}

/* ---- and back ---- */

typedef struct Writing {
    CtArena *arena;
    const cotan_slot *slots;
    cotan_buffer *out;
    const char *wrong;
    bool prepares; /* all buffers are prepared before any of them is written to */
} Writing;

static void write_at(Writing *w, const CtFlat *flat, CtWord value, size_t at) {
    if (flat->kind == FLAT_NUMBER) {
        ((CtWord *)w->out[flat->slot].data)[at] = value;
        return;
    }
    for (uint32_t i = 0; i < flat->count; i++)
        write_at(w, flat->parts[i], ((const CtFields *)value.object)->words[i], at);
}

static void write_rows(Writing *w, const CtFlat *flat, uint32_t level, CtWord value, size_t *at) {
    const CtArray *array = (const CtArray *)value.object;
    for (int64_t i = 0; i < array->length; i++) {
        if (level + 1 < flat->rank)
            write_rows(w, flat, level + 1, array->items[i], at);
        else
            write_at(w, flat->parts[0], array->items[i], (*at)++);
    }
}

/* Memory for the numbers of a buffer for which the caller gives none. */
static bool prepare(Writing *w, uint32_t slot, const size_t *sizes) {
    cotan_buffer *buffer = &w->out[slot];
    size_t count = 1;
    char message[300];
    if (!ct_value_flat_fits(&w->slots[slot], buffer, sizes, message)) {
        w->wrong = ct_copy_text(w->arena, message, strlen(message));
        return false;
    }
    for (uint32_t i = 0; i < w->slots[slot].rank; i++) count *= sizes[i];
    if (buffer->data == NULL) buffer->data = ct_alloc_array(w->arena, count + 1, sizeof(CtWord));
    return true;
}

static void write_array(Writing *w, const CtFlat *flat, CtWord value) {
    size_t sizes[COTAN_MOST_DIMENSIONS], at = 0;
    const CtArray *level = (const CtArray *)value.object;
    for (uint32_t i = 0; i < flat->rank; i++) {
        sizes[i] = level != NULL ? (size_t)level->length : 0;
        level = i + 1 < flat->rank && sizes[i] > 0 ? (const CtArray *)level->items[0].object : NULL;
    }
    for (uint32_t i = 0; w->prepares && i < flat->slots; i++)
        if (!prepare(w, flat->slot + i, sizes)) return;
    if (!w->prepares) write_rows(w, flat, 0, value, &at);
}

static void write_whole(Writing *w, const CtFlat *flat, CtWord value) {
    if (flat->kind == FLAT_ARRAY) {
        write_array(w, flat, value);
    } else if (flat->kind == FLAT_NUMBER) {
        if (w->prepares)
            prepare(w, flat->slot, NULL);
        else
            write_at(w, flat, value, 0);
    } else {
        for (uint32_t i = 0; i < flat->count && w->wrong == NULL; i++)
            write_whole(w, flat->parts[i], ((const CtFields *)value.object)->words[i]);
    }
}

const char *ct_value_flat_write(CtArena *arena, const CtFlat *flat, const cotan_slot *slots, CtWord value,
                                cotan_buffer *out) {
    Writing w = {arena, slots, out, NULL, true};
    write_whole(&w, flat, value);
    w.prepares = false;
    if (w.wrong == NULL) write_whole(&w, flat, value);
    return w.wrong;
}
