/* Shapes of values, to which `bulk` specialises functions. A shape is first written as text, by which a cached
 * derivative is found; the shape itself is built only for a new one. */
#include "eval/internal.h"

#include <stdio.h>
#include <stdlib.h>

static bool put(FormKey *key, const char *format, long long value) {
    char piece[40];
    int length = snprintf(piece, sizeof piece, format, value);
    if (key->length + (size_t)length + 1 > key->capacity) {
        size_t capacity = key->capacity ? 2 * key->capacity : 256;
        char *data = realloc(key->data, capacity);
        if (data == NULL) return false;
        key->data = data;
        key->capacity = capacity;
    }
    memcpy(key->data + key->length, piece, (size_t)length + 1);
    key->length += (size_t)length;
    return true;
}

/* a deeper structure is no array of numbers in any case */
enum { DEEPEST = 1000 };

static CtForm *form_new(Machine *m, bool build, uint32_t count) {
    static CtForm nothing;
    if (!build) return &nothing;
    CtForm *form = CT_NEW(m->program->context->arena, CtForm);
    form->parts = count > 0 ? CT_NEW_ARRAY(m->program->context->arena, CtForm *, count) : NULL;
    form->count = count;
    return form;
}

static CtForm *form_at(Machine *m, FormKey *key, const CtType *type, CtWord value, bool many, bool build);

static CtForm *form_fields(Machine *m, FormKey *key, const CtType *type, CtWord value, bool many, bool build) {
    bool is_data = type->kind == TYPE_DATA;
    bool is_object = ct_value_type_is_pointer(type);
    uint32_t tag = !is_data ? 0 : is_object ? value.object->tag : (uint32_t)value.integer;
    const CtCon *con = is_data ? &type->data->cons[tag] : NULL;
    uint32_t count = con ? con->count : type->count;
    CtForm *form = form_new(m, build, count);
    if (form == NULL || !put(key, many && count == 0 ? "(" : "(%lld ", tag)) return NULL;
    if (build) form->known = tag;
    for (uint32_t i = 0; i < count; i++) {
        const CtWord *words = ((const CtFields *)(const void *)value.object)->words;
        CtForm *part = form_at(m, key, con ? con->fields[i] : type->parts[i], words[i], many, build);
        if (part == NULL) return NULL;
        if (build) form->parts[i] = part;
    }
    return put(key, ")", 0) ? form : NULL;
}

static CtForm *form_array(Machine *m, FormKey *key, const CtType *type, CtWord value, bool build) {
    const CtArray *array = (const CtArray *)(const void *)value.object;
    const CtType *element = type->parts[0];
    CtForm *form = form_new(m, build, 1);
    if (form == NULL || !put(key, "[%lld ", array->length)) return NULL;
    if (build) form->known = array->length;
    bool alike = element->kind == TYPE_DOUBLE || element->kind == TYPE_INT || element == m->program->bool_type;
    if (build && array->length == 0 && !alike) form->parts = NULL;
    size_t start = key->length, first = 0;
    int64_t looked_at = alike ? 1 : array->length;
    CtWord none = {.integer = 0};
    for (int64_t i = 0; i < looked_at && (array->length > 0 || alike); i++) {
        size_t here = key->length;
        CtForm *part = form_at(m, key, element, array->length > 0 ? array->items[i] : none, true, build && i == 0);
        if (part == NULL) return NULL;
        if (i == 0) {
            first = key->length - start;
            if (build) form->parts[0] = part;
        } else {
            bool same = key->length - here == first && memcmp(key->data + start, key->data + here, first) == 0;
            key->length = here;
            if (same) continue;
            if (build) form->ragged = true;
            if (!put(key, "!", 0)) return NULL;
            break;
        }
    }
    return put(key, "]", 0) ? form : NULL;
}

/* A function: the λ of the source, and the captured values. */
static CtForm *form_closure(Machine *m, FormKey *key, const CtClosure *closure, bool many, bool build) {
    const CtCode *code = closure->code;
    CtLam *lam = code->lam;
    for (uint32_t i = 0; i < key->transformed && lam != NULL; i++) lam = lam->origin;
    if (lam != NULL && !lam->captures_known) lam = NULL;
    uint32_t count = lam != NULL ? lam->capture_count : 0;
    CtForm *form = form_new(m, build, count);
    if (form == NULL || !put(key, "f%llx(", (long long)(uintptr_t)code)) return NULL;
    if (build) form->lam = lam;
    for (uint32_t i = 0; i < count; i++) {
        CtForm *part = form_at(m, key, lam->captures[i]->type, closure->captures[i], many, build);
        if (part == NULL) return NULL;
        if (build) form->parts[i] = part;
    }
    return put(key, ")", 0) ? form : NULL;
}

static CtForm *form_of(Machine *m, FormKey *key, const CtType *type, CtWord value, bool many, bool build) {
    CtForm *form;
    switch (type->kind) {
    case TYPE_DOUBLE:
    case TYPE_FLOAT: return put(key, "d", 0) ? form_new(m, build, 0) : NULL;
    case TYPE_INT:
    case TYPE_CHAR:
        form = form_new(m, build, 0);
        if (build) form->known = value.integer;
        return put(key, many ? "i" : "i%lld ", value.integer) ? form : NULL;
    case TYPE_ARRAY: return form_array(m, key, type, value, build);
    case TYPE_FUN: return form_closure(m, key, (const CtClosure *)(const void *)value.object, many, build);
    case TYPE_TUPLE:
    case TYPE_DATA: return form_fields(m, key, type, value, many, build);
    }
    return NULL;
}

/* `many`: inside an array, where integers do not count as known. NULL when memory runs out. */
static CtForm *form_at(Machine *m, FormKey *key, const CtType *type, CtWord value, bool many, bool build) {
    if (key->depth >= DEEPEST) {
        CtForm *form = form_new(m, build, 0);
        if (build) form->ragged = true;
        return put(key, "^", 0) ? form : NULL;
    }
    key->depth++;
    CtForm *form = form_of(m, key, type, value, many, build);
    key->depth--;
    return form;
}

bool ct_eval_shape(CtEval *eval, const CtType *type, CtWord value, CtForm **form, const char **key) {
    if (!ct_eval_form_start(eval, 0)) return false;
    *form = ct_eval_form(eval, type, value, true);
    *key = eval->form_key.data;
    return *form != NULL;
}

bool ct_eval_form_start(Machine *m, uint32_t transformed) {
    m->form_key.length = m->form_key.depth = 0;
    m->form_key.transformed = transformed;
    return put(&m->form_key, "", 0);
}

CtForm *ct_eval_form(Machine *m, const CtType *type, CtWord value, bool build) {
    return form_at(m, &m->form_key, type, value, false, build);
}
