/* Text and [Char]. */
#include "value/internal.h"

static void put_utf8(CtText *out, uint32_t point) {
    char bytes[4];
    size_t n = 0;
    if (point < 0x80) {
        bytes[n++] = (char)point;
    } else if (point < 0x800) {
        bytes[n++] = (char)(0xC0 | point >> 6);
        bytes[n++] = (char)(0x80 | (point & 0x3F));
    } else if (point < 0x10000) {
        bytes[n++] = (char)(0xE0 | point >> 12);
        bytes[n++] = (char)(0x80 | (point >> 6 & 0x3F));
        bytes[n++] = (char)(0x80 | (point & 0x3F));
    } else {
        bytes[n++] = (char)(0xF0 | (point >> 18 & 7));
        bytes[n++] = (char)(0x80 | (point >> 12 & 0x3F));
        bytes[n++] = (char)(0x80 | (point >> 6 & 0x3F));
        bytes[n++] = (char)(0x80 | (point & 0x3F));
    }
    ct_text_add(out, bytes, n);
}

CtObject *ct_value_string_new(CtHeap *heap, const CtType *string, const char *text, size_t length) {
    CtListEnd end;
    if (!ct_value_list_begin(&end, heap, &string->data->cons[0])) return NULL;
    for (size_t at = 0; at < length;) {
        size_t bytes;
        uint32_t point = ct_text_point(text, length, at, &bytes);
        at += bytes;
        if (!ct_value_list_add(&end, (CtWord){.integer = (int64_t)point})) {
            ct_value_release_object(heap, end.list.object);
            return NULL;
        }
    }
    return end.list.object;
}

void ct_value_string_text(CtText *out, CtWord string, size_t max) {
    const CtObject *object = string.object;
    for (size_t i = 0; i < max && object->tag != 0; i++) {
        const CtFields *cell = (const CtFields *)object;
        int64_t point = cell->words[0].integer;
        put_utf8(out, point < 0 || point > 0x10FFFF ? 0xFFFD : (uint32_t)point);
        object = cell->words[1].object;
    }
}
