/* Values of Integer, which lib/prelude.cot defines: an Int, or a sign and digits of base 2^24, the lowest first. */
#include <stdlib.h>

#include "value/internal.h"

enum { SMALL = 0, LARGE = 1 }; /* the constructors */
enum { DIGIT_BITS = 24, DIGIT = (1 << DIGIT_BITS) - 1, CHUNK = 10000000, CHUNK_DIGITS = 7 };

void ct_value_integer_print(CtText *out, CtWord value) {
    const CtFields *fields = (const CtFields *)value.object;
    if (fields->head.tag == SMALL) {
        ct_text_printf(out, "%lld", (long long)fields->words[0].integer);
        return;
    }
    const CtArray *digits = (const CtArray *)fields->words[1].object;
    size_t count = (size_t)digits->length, left = count, chunk_count = 0;
    int64_t *rest = CT_NEW_ARRAY(out->arena, int64_t, count);
    int64_t *chunks = CT_NEW_ARRAY(out->arena, int64_t, count * 2); /* 24 bits are at most 7.3 decimal digits */
    for (size_t i = 0; i < count; i++) rest[i] = digits->items[i].integer;
    while (left > 0) {
        int64_t carry = 0;
        for (size_t i = left; i-- > 0;) {
            carry = carry << DIGIT_BITS | rest[i];
            rest[i] = carry / CHUNK;
            carry %= CHUNK;
        }
        chunks[chunk_count++] = carry;
        while (left > 0 && rest[left - 1] == 0) left--;
    }
    if (fields->words[0].integer) ct_text_putc(out, '-');
    for (size_t i = chunk_count; i-- > 0;)
        ct_text_printf(out, i + 1 == chunk_count ? "%lld" : "%07lld", (long long)chunks[i]);
}

static int sign_of(const CtFields *integer) {
    if (integer->head.tag == LARGE) return integer->words[0].integer ? -1 : 1;
    return integer->words[0].integer < 0 ? -1 : 1;
}

/* A large one is farther from 0 than each small one. */
int ct_value_integer_order(CtWord a, CtWord b) {
    const CtFields *x = (const CtFields *)a.object, *y = (const CtFields *)b.object;
    int sign = sign_of(x);
    if (sign != sign_of(y)) return sign;
    if (x->head.tag != y->head.tag) return x->head.tag == LARGE ? sign : -sign;
    if (x->head.tag == SMALL)
        return (x->words[0].integer > y->words[0].integer) - (x->words[0].integer < y->words[0].integer);
    const CtArray *ours = (const CtArray *)x->words[1].object, *theirs = (const CtArray *)y->words[1].object;
    if (ours->length != theirs->length) return ours->length > theirs->length ? sign : -sign;
    for (int64_t i = ours->length; i-- > 0;) {
        int64_t more = ours->items[i].integer - theirs->items[i].integer;
        if (more != 0) return more > 0 ? sign : -sign;
    }
    return 0;
}

static bool small(CtHeap *heap, const CtType *type, int64_t integer, CtWord *value) {
    const CtCon *con = &type->data->cons[SMALL];
    const CtLayout *layout = ct_value_layout_con(heap, con);
    CtFields *fields = layout ? ct_value_fields_new(heap, layout, con->tag) : NULL;
    if (!fields) return false;
    fields->words[0].integer = integer;
    value->object = &fields->head;
    return true;
}

static bool large(CtHeap *heap, const CtType *type, bool negative, const int64_t *digits, size_t count, CtWord *value) {
    const CtCon *con = &type->data->cons[LARGE];
    const CtLayout *layout = ct_value_layout_con(heap, con), *array = ct_value_layout_array(heap, con->fields[1]);
    CtArray *items = layout && array ? ct_value_array_new(heap, array, (int64_t)count, (int64_t)count) : NULL;
    if (!items) return false;
    for (size_t i = 0; i < count; i++) items->items[i].integer = digits[i];
    CtFields *fields = ct_value_fields_new(heap, layout, con->tag);
    if (!fields) {
        ct_value_release_object(heap, &items->head);
        return false;
    }
    fields->words[0].integer = negative;
    fields->words[1].object = &items->head;
    value->object = &fields->head;
    return true;
}

bool ct_value_integer_new(CtHeap *heap, const CtType *type, const char *text, CtWord *value) {
    bool negative = text[0] == '-';
    const char *at = negative ? text + 1 : text;
    size_t room = strlen(at) / CHUNK_DIGITS + 2, count = 0; /* 7 decimal digits are at most 24 bits */
    int64_t *digits = calloc(room, sizeof *digits);
    if (!digits) return false;
    while (*at != '\0') {
        int64_t carry = 0, scale = 1;
        for (; *at != '\0' && scale < CHUNK; at++, scale *= 10) carry = carry * 10 + (*at - '0');
        for (size_t i = 0; i < count; i++) {
            carry += digits[i] * scale;
            digits[i] = carry & DIGIT;
            carry >>= DIGIT_BITS;
        }
        if (carry > 0) digits[count++] = carry;
    }
    uint64_t magnitude = 0;
    for (size_t i = count < 3 ? count : 3; i-- > 0;) magnitude = magnitude << DIGIT_BITS | (uint64_t)digits[i];
    bool fits = count < 3 || (count == 3 && digits[2] <= 1 << 15 && magnitude <= (uint64_t)INT64_MAX + negative);
    bool made = fits ? small(heap, type, (int64_t)(negative ? 0 - magnitude : magnitude), value)
                     : large(heap, type, negative, digits, count, value);
    free(digits);
    return made;
}
