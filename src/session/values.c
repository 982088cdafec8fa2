/* Values of the host program, made and read: cotan_value of the public API. */
#include <stdlib.h>

#include "io/host_value.h"
#include "session/session.h"

/* ---- made ---- */

static cotan_value *node(cotan_kind kind) {
    cotan_value *value = calloc(1, sizeof *value);
    if (value == NULL) return NULL;
    value->kind = kind;
    value->depth = 1;
    return value;
}

cotan_value *cotan_value_double(double number) {
    cotan_value *value = node(COTAN_KIND_DOUBLE);
    if (value != NULL) value->number.real = number;
    return value;
}

static cotan_value *integer(cotan_kind kind, int64_t number) {
    cotan_value *value = node(kind);
    if (value != NULL) value->number.integer = number;
    return value;
}

cotan_value *cotan_value_int(int64_t number) { return integer(COTAN_KIND_INT, number); }
cotan_value *cotan_value_bool(bool truth) { return integer(COTAN_KIND_BOOL, truth); }
cotan_value *cotan_value_char(uint32_t code_point) { return integer(COTAN_KIND_CHAR, code_point); }

static cotan_value *with_text(cotan_value *value, const char *text, size_t length) {
    if (value == NULL) return NULL;
    value->text = malloc(length + 1);
    if (value->text == NULL) {
        cotan_value_free(value);
        return NULL;
    }
    if (length > 0) memcpy(value->text, text, length);
    value->text[length] = '\0';
    value->text_length = length;
    return value;
}

cotan_value *cotan_value_string(const char *text, size_t length) {
    return with_text(node(COTAN_KIND_STRING), text, length);
}

cotan_value *cotan_value_integer(const char *digits, size_t length) {
    return with_text(node(COTAN_KIND_INTEGER), digits, length);
}

/* Gives a node its parts, which are freed when that is impossible. */
static cotan_value *with_parts(cotan_value *value, cotan_value *const *parts, size_t count) {
    bool whole = value != NULL;
    uint32_t depth = 1;
    for (size_t i = 0; i < count; i++) {
        whole &= parts[i] != NULL && parts[i]->depth < COTAN_DEEPEST;
        if (parts[i] != NULL && parts[i]->depth >= depth) depth = parts[i]->depth + 1;
    }
    if (whole && count > 0) {
        value->parts = calloc(count, sizeof *parts);
        whole = value->parts != NULL;
    }
    if (whole) {
        value->count = count;
        value->depth = depth;
        if (count > 0) memcpy(value->parts, parts, count * sizeof *parts);
        return value;
    }
    for (size_t i = 0; i < count; i++) cotan_value_free(parts[i]);
    cotan_value_free(value);
    return NULL;
}

cotan_value *cotan_value_of(cotan_kind kind, cotan_value *const *parts, size_t count) {
    bool known = kind == COTAN_KIND_TUPLE || kind == COTAN_KIND_LIST || kind == COTAN_KIND_ARRAY ||
                 kind == COTAN_KIND_SET || (kind == COTAN_KIND_MAP && count % 2 == 0);
    return with_parts(known ? node(kind) : NULL, parts, count);
}

cotan_value *cotan_value_data(const char *constructor, cotan_value *const *fields, size_t count) {
    return with_parts(with_text(node(COTAN_KIND_DATA), constructor, strlen(constructor)), fields, count);
}

cotan_value *cotan_value_numbers(cotan_element element, const void *data, unsigned rank, const size_t *size) {
    size_t bytes = sizeof(CtWord);
    for (unsigned i = 0; i < rank && i < COTAN_MOST_DIMENSIONS; i++)
        if (size[i] > 0 && __builtin_mul_overflow(bytes, size[i], &bytes)) return NULL;
    cotan_value *value = rank > 0 && rank <= COTAN_MOST_DIMENSIONS ? node(COTAN_KIND_ARRAY) : NULL;
    if (value == NULL) return NULL;
    value->element = element;
    value->rank = rank;
    value->numbers = data;
    memcpy(value->size, size, rank * sizeof *size);
    return value;
}

static cotan_value *copy_numbers(const cotan_value *value) {
    size_t bytes = ct_io_host_numbers(value) * sizeof(CtWord);
    void *numbers = calloc(1, bytes + 1);
    cotan_value *copy = numbers != NULL ? cotan_value_numbers(value->element, numbers, value->rank, value->size) : NULL;
    if (copy == NULL) {
        free(numbers);
        return NULL;
    }
    if (bytes > 0) memcpy(numbers, value->numbers, bytes);
    copy->owns = true;
    return copy;
}

static cotan_value *copy_at(const cotan_value *value, int depth) {
    if (depth > COTAN_DEEPEST) return NULL;
    if (value->rank > 0) return copy_numbers(value);
    cotan_value *copy = node(value->kind);
    if (copy == NULL) return NULL;
    copy->number = value->number;
    if (value->text != NULL) copy = with_text(copy, value->text, value->text_length);
    if (value->count == 0 || copy == NULL) return copy;
    cotan_value **parts = calloc(value->count, sizeof *parts);
    if (parts == NULL) {
        cotan_value_free(copy);
        return NULL;
    }
    for (size_t i = 0; i < value->count; i++) parts[i] = copy_at(value->parts[i], depth + 1);
    copy = with_parts(copy, parts, value->count);
    free(parts);
    return copy;
}

cotan_value *cotan_value_copy(const cotan_value *value) { return copy_at(value, 1); }

void cotan_value_free(cotan_value *value) {
    if (value == NULL) return;
    for (size_t i = 0; i < value->count; i++) cotan_value_free(value->parts[i]);
    if (value->owns) free((void *)value->numbers);
    free(value->parts);
    free(value->text);
    free(value);
}

/* ---- read ---- */

cotan_kind cotan_value_kind(const cotan_value *value) { return value->kind; }

double cotan_value_as_double(const cotan_value *value) {
    if (value->kind == COTAN_KIND_INT) return (double)value->number.integer;
    return value->kind == COTAN_KIND_DOUBLE ? value->number.real : 0;
}

int64_t cotan_value_as_int(const cotan_value *value) {
    bool integer = value->kind == COTAN_KIND_INT || value->kind == COTAN_KIND_CHAR || value->kind == COTAN_KIND_BOOL;
    return integer ? value->number.integer : 0;
}

const char *cotan_value_text(const cotan_value *value) { return value->text; }
size_t cotan_value_text_length(const cotan_value *value) { return value->text_length; }
size_t cotan_value_count(const cotan_value *value) { return value->count; }

const cotan_value *cotan_value_part(const cotan_value *value, size_t index) {
    return index < value->count ? value->parts[index] : NULL;
}

const void *cotan_value_as_numbers(const cotan_value *value, cotan_element *element, unsigned *rank,
                                   const size_t **size) {
    static const CtWord none;
    if (value->rank == 0) return NULL;
    *element = value->element;
    *rank = value->rank;
    *size = value->size;
    return value->numbers != NULL ? value->numbers : &none;
}
