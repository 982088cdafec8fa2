/* One array in NumPy's .npy format, versions 1.0 to 3.0: a header that is a Python dictionary, then the elements. What
 * is read is checked before it is believed: the shape's product, the bytes that it needs, the type that is wanted. */
#include <math.h>

#include "io/internal.h"

/* ---- the header ---- */

typedef struct Header {
    const char *at, *end;
} Header;

static void skip_blanks(Header *h) {
    while (h->at < h->end && (*h->at == ' ' || *h->at == '\t' || *h->at == '\n' || *h->at == '\r')) h->at++;
}

static bool accept(Header *h, char c) {
    skip_blanks(h);
    if (h->at == h->end || *h->at != c) return false;
    h->at++;
    return true;
}

static bool accept_word(Header *h, const char *word) {
    size_t length = strlen(word);
    skip_blanks(h);
    if ((size_t)(h->end - h->at) < length || memcmp(h->at, word, length) != 0) return false;
    h->at += length;
    return true;
}

/* Reads a Python string without escapes into `out`. */
static bool quoted(Header *h, char *out, size_t size) {
    skip_blanks(h);
    if (h->at == h->end || (*h->at != '\'' && *h->at != '"')) return false;
    char quote = *h->at++;
    size_t n = 0;
    while (h->at < h->end && *h->at != quote) {
        if (n + 1 == size) return false;
        out[n++] = *h->at++;
    }
    out[n] = '\0';
    return accept(h, quote);
}

static bool natural(Header *h, uint64_t *out) {
    skip_blanks(h);
    const char *start = h->at;
    uint64_t value = 0;
    for (; h->at < h->end && *h->at >= '0' && *h->at <= '9'; h->at++)
        if (__builtin_mul_overflow(value, 10u, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*h->at - '0'), &value))
            return false;
    *out = value;
    return h->at > start;
}

/* Reads a shape: (), (3,), (3, 4). */
static bool shape(Header *h, CtNpy *npy) {
    if (!accept(h, '(')) return false;
    while (!accept(h, ')')) {
        if (npy->rank == CT_NPY_RANK || !natural(h, &npy->shape[npy->rank])) return false;
        npy->rank++;
        if (!accept(h, ',')) return accept(h, ')');
    }
    return true;
}

/* Reads {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } with the keys in any order, each once. */
static bool dictionary(Header *h, CtNpy *npy) {
    bool has_type = false, has_order = false, has_shape = false;
    if (!accept(h, '{')) return false;
    while (!accept(h, '}')) {
        char key[16];
        if (!quoted(h, key, sizeof key) || !accept(h, ':')) return false;
        if (strcmp(key, "descr") == 0 && !has_type) {
            has_type = quoted(h, npy->descr, sizeof npy->descr);
            if (!has_type) return false;
        } else if (strcmp(key, "fortran_order") == 0 && !has_order) {
            npy->fortran = accept_word(h, "True");
            has_order = npy->fortran || accept_word(h, "False");
            if (!has_order) return false;
        } else if (strcmp(key, "shape") == 0 && !has_shape) {
            has_shape = shape(h, npy);
            if (!has_shape) return false;
        } else {
            return false;
        }
        if (!accept(h, ',')) {
            if (!accept(h, '}')) return false;
            break;
        }
    }
    skip_blanks(h);
    return has_type && has_order && has_shape && h->at == h->end;
}

static uint32_t little(const unsigned char *bytes, int count) {
    uint32_t value = 0;
    for (int i = count; i > 0; i--) value = value << 8 | bytes[i - 1];
    return value;
}

/* ---- types of elements ---- */

static const struct {
    const char *descr;
    CtNpyKind kind;
    uint32_t size;
} element_types[] = {
    {"<f8", NPY_FLOAT, 8},    {"<f4", NPY_FLOAT, 4}, {"<i8", NPY_INT, 8},      {"<i4", NPY_INT, 4},
    {"<i2", NPY_INT, 2},      {"|i1", NPY_INT, 1},   {"<u4", NPY_UNSIGNED, 4}, {"<u2", NPY_UNSIGNED, 2},
    {"|u1", NPY_UNSIGNED, 1}, {"|b1", NPY_BOOL, 1},
};

static bool element_type(CtNpy *npy) {
    for (size_t i = 0; i < sizeof element_types / sizeof *element_types; i++) {
        const char *descr = element_types[i].descr;
        if (strcmp(descr + 1, npy->descr + (npy->descr[0] != '\0')) != 0) continue;
        if (npy->descr[0] != descr[0] && !(element_types[i].size == 1 && npy->descr[0] != '\0')) continue;
        npy->kind = element_types[i].kind;
        npy->size = element_types[i].size;
        return true;
    }
    return false;
}

static bool bad(CtContext *context, const char *what, const char *why) {
    ct_error(context, CT_E0610, CT_NO_RANGE, "%s: %s", what, why);
    return false;
}

/* "(3, 4)" */
static void shape_text(const CtNpy *npy, char *out, size_t size) {
    size_t n = (size_t)snprintf(out, size, "(");
    for (uint32_t i = 0; i < npy->rank && n < size; i++)
        n += (size_t)snprintf(out + n, size - n, "%s%llu", i > 0 ? ", " : "", (unsigned long long)npy->shape[i]);
    if (n < size) snprintf(out + n, size - n, npy->rank == 1 ? ",)" : ")");
}

bool ct_io_npy_parse(CtContext *context, const char *what, const void *data, size_t length, CtNpy *npy) {
    const unsigned char *bytes = data;
    *npy = (CtNpy){.what = what};
    if (length < 10 || memcmp(bytes, CT_NPY_MAGIC, 6) != 0) return bad(context, what, "this is not a .npy file");
    uint32_t version = bytes[6], wide = version > 1 ? 4 : 2;
    if (version < 1 || version > 3) return bad(context, what, "its .npy version is not 1, 2 or 3");
    if (length < 8 + wide) return bad(context, what, "the file ends inside its header");
    size_t header = little(bytes + 8, (int)wide);
    if (length - 8 - wide < header) return bad(context, what, "the file ends inside its header");
    Header h = {(const char *)bytes + 8 + wide, (const char *)bytes + 8 + wide + header};
    if (!dictionary(&h, npy)) return bad(context, what, "its header is not that of a .npy file");
    if (!element_type(npy)) {
        CtDiag *diag = ct_error(context, CT_E0611, CT_NO_RANGE, "%s: elements of the type `%.20s` cannot be read", what,
                                npy->descr);
        ct_help(context, diag,
                "save the array as float64, float32, an integer type or bool, little-endian: "
                "a.astype('<f8')");
        return false;
    }
    uint64_t count = 1, needed;
    for (uint32_t i = 0; i < npy->rank; i++)
        if (__builtin_mul_overflow(count, npy->shape[i], &count)) count = UINT64_MAX;
    for (uint32_t i = 0; i < npy->rank; i++) {
        if (npy->shape[i] == 0) count = 0; /* whatever the other axes are */
        if (npy->shape[i] > INT64_MAX / 16) return bad(context, what, "its shape is too large");
    }
    npy->data = bytes + 8 + wide + header;
    uint64_t there = length - 8 - wide - header;
    if (__builtin_mul_overflow(count, npy->size, &needed) || needed != there) {
        char text[200];
        shape_text(npy, text, sizeof text);
        ct_error(context, CT_E0610, CT_NO_RANGE, "%s: its header says shape %s of %s, but %llu bytes follow", what,
                 text, npy->descr, (unsigned long long)there);
        return false;
    }
    return true;
}

/* ---- elements ---- */

static uint64_t bits_at(const CtNpy *npy, uint64_t index) {
    const unsigned char *bytes = npy->data + index * npy->size;
    uint64_t bits = 0;
    for (uint32_t i = npy->size; i > 0; i--) bits = bits << 8 | bytes[i - 1];
    return bits;
}

static int64_t integer_at(const CtNpy *npy, uint64_t index) {
    uint64_t bits = bits_at(npy, index);
    uint32_t unused = 64 - 8 * npy->size;
    return npy->kind == NPY_INT ? (int64_t)(bits << unused) >> unused : (int64_t)bits;
}

static double real_at(const CtNpy *npy, uint64_t index) {
    if (npy->kind != NPY_FLOAT) return (double)integer_at(npy, index);
    uint64_t bits = bits_at(npy, index);
    if (npy->size == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    uint32_t low = (uint32_t)bits;
    float value;
    memcpy(&value, &low, sizeof value);
    return (double)value;
}

/* ---- conversion to values ---- */

typedef struct Builder {
    CtHeap *heap;
    const CtNpy *npy;
    uint64_t strides[CT_NPY_RANK]; /* in elements */
    const CtLeaves *replace;
    uint32_t *next_leaf;
    bool *too_large; /* a number that is no infinity would be one as a Float */
} Builder;

static const CtType *element_of(const CtType *type) {
    if (type->kind == TYPE_ARRAY) return type->parts[0];
    return ct_io_json_is_list(type) ? type->data->args[0] : NULL;
}

static CtWord leaf(const Builder *b, const CtType *type, uint64_t index) {
    CtWord word = {.integer = 0};
    if (type->kind == TYPE_DOUBLE || type->kind == TYPE_FLOAT) {
        bool replaced = b->replace && *b->next_leaf < b->replace->reals.count;
        word.real = replaced ? b->replace->reals.items[(*b->next_leaf)++] : real_at(b->npy, index);
        if (type->kind == TYPE_DOUBLE) return word;
        double given = word.real;
        bool is_integer = !replaced && b->npy->kind != NPY_FLOAT; /* which is rounded once */
        word.real = is_integer ? (double)(float)integer_at(b->npy, index) : (double)(float)given;
        *b->too_large |= !replaced && isinf(word.real) && !isinf(given);
    } else {
        word.integer = b->npy->kind == NPY_BOOL ? bits_at(b->npy, index) != 0 : integer_at(b->npy, index);
    }
    return word;
}

static bool build(const Builder *b, const CtType *type, uint32_t axis, uint64_t index, CtWord *value);

static bool build_array(const Builder *b, const CtType *type, uint32_t axis, uint64_t index, CtWord *value) {
    int64_t count = (int64_t)b->npy->shape[axis];
    const CtLayout *layout = ct_value_layout_array(b->heap, type);
    CtArray *array = layout ? ct_value_array_new(b->heap, layout, 0, count) : NULL;
    if (!array) return false;
    for (int64_t i = 0; i < count; i++) {
        if (!build(b, type->parts[0], axis + 1, index + (uint64_t)i * b->strides[axis], &array->items[i])) {
            ct_value_release_object(b->heap, &array->head);
            return false;
        }
        array->length = i + 1;
    }
    value->object = &array->head;
    return true;
}

/* From the first element to the last, so that the reals of `replace` are used in order. */
static bool build_list(const Builder *b, const CtType *type, uint32_t axis, uint64_t index, CtWord *value) {
    CtListEnd end;
    if (!ct_value_list_begin(&end, b->heap, &type->data->cons[0])) return false;
    for (uint64_t i = 0; i < b->npy->shape[axis]; i++) {
        CtWord element;
        if (!build(b, type->data->args[0], axis + 1, index + i * b->strides[axis], &element) ||
            !ct_value_list_add(&end, element)) {
            ct_value_release_object(b->heap, end.list.object);
            return false;
        }
    }
    *value = end.list;
    return true;
}

static bool build(const Builder *b, const CtType *type, uint32_t axis, uint64_t index, CtWord *value) {
    if (type->kind == TYPE_ARRAY) return build_array(b, type, axis, index, value);
    if (ct_io_json_is_list(type)) return build_list(b, type, axis, index, value);
    *value = leaf(b, type, index);
    return true;
}

/* Whether a scalar type accepts the file's elements: Double and Float accept all numbers, Int accepts integers, Bool
 * accepts truth values. */
static bool fits(const CtNpy *npy, const CtType *scalar) {
    switch (scalar->kind) {
    case TYPE_DOUBLE:
    case TYPE_FLOAT: return npy->kind != NPY_BOOL;
    case TYPE_INT: return npy->kind == NPY_INT || npy->kind == NPY_UNSIGNED;
    case TYPE_DATA: return ct_io_json_is_bool(scalar) && npy->kind == NPY_BOOL;
    case TYPE_CHAR:
    case TYPE_TUPLE:
    case TYPE_ARRAY:
    case TYPE_FUN: return false;
    }
    return false;
}

bool ct_io_npy_value(CtContext *context, CtHeap *heap, const CtNpy *npy, const CtType *type, const CtLeaves *replace,
                     uint32_t *next_leaf, CtWord *value) {
    uint32_t rank = 0;
    const CtType *scalar = type;
    for (const CtType *inner; rank <= CT_NPY_RANK && (inner = element_of(scalar)) != NULL; rank++) scalar = inner;
    if (rank != npy->rank || !fits(npy, scalar)) {
        char wanted[200], text[200];
        shape_text(npy, text, sizeof text);
        ct_error(context, CT_E0601, CT_NO_RANGE, "%s: expected %s, found an array of shape %s of %s", npy->what,
                 ct_io_type_name(type, wanted, sizeof wanted), text, npy->descr);
        return false;
    }
    bool too_large = false;
    Builder b = {.heap = heap, .npy = npy, .replace = replace, .next_leaf = next_leaf, .too_large = &too_large};
    uint64_t stride = 1;
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t axis = npy->fortran ? i : rank - 1 - i;
        b.strides[axis] = stride;
        stride *= npy->shape[axis] > 0 ? npy->shape[axis] : 1; /* overflows only if the array is empty */
    }
    bool built = build(&b, type, 0, 0, value);
    if (built && !too_large) return true;
    if (built) {
        ct_value_release(heap, type, *value);
        ct_error(context, CT_E0601, CT_NO_RANGE, "%s: a number is too large for a Float", npy->what);
        return false;
    }
    ct_error(context, CT_E0801, CT_NO_RANGE, "%s: the value does not fit into the memory limit", npy->what);
    return false;
}

/* ---- writing ---- */

static void put_bits(CtText *out, uint64_t bits, int size) {
    char bytes[8];
    for (int i = 0; i < size; i++) bytes[i] = (char)(bits >> (8 * i) & 0xFF);
    ct_text_add(out, bytes, (size_t)size);
}

static void put_leaf(CtText *out, const CtType *type, CtWord value) {
    uint64_t bits = (uint64_t)value.integer;
    if (type->kind == TYPE_FLOAT) {
        float real = (float)value.real;
        uint32_t low;
        memcpy(&low, &real, sizeof low);
        put_bits(out, low, 4);
    } else {
        if (type->kind == TYPE_DOUBLE) memcpy(&bits, &value.real, sizeof bits);
        put_bits(out, bits, type->kind == TYPE_DATA ? 1 : 8);
    }
}

/* Returns the length of a list or array; sets `first` to its first element unless it is empty. */
static uint64_t length_of(const CtType *type, CtWord value, CtWord *first) {
    uint64_t count = 0;
    if (type->kind == TYPE_ARRAY) {
        const CtArray *array = (const CtArray *)value.object;
        if (array->length > 0) *first = array->items[0];
        return (uint64_t)array->length;
    }
    for (const CtObject *cell = value.object; cell->tag != 0; cell = ((const CtFields *)cell)->words[1].object) {
        if (count == 0) *first = ((const CtFields *)cell)->words[0];
        count++;
    }
    return count;
}

typedef struct Shape {
    uint32_t rank;
    uint64_t sizes[CT_NPY_RANK];
} Shape;

/* Appends the elements below `axis` in row-major order; false when a length differs from the shape's. */
static bool put_elements(CtText *out, const CtType *type, CtWord value, const Shape *s, uint32_t axis) {
    if (axis == s->rank) {
        put_leaf(out, type, value);
        return true;
    }
    CtWord none;
    if (length_of(type, value, &none) != s->sizes[axis]) return false;
    const CtType *element = element_of(type);
    if (type->kind == TYPE_ARRAY) {
        const CtArray *array = (const CtArray *)value.object;
        for (int64_t i = 0; i < array->length; i++)
            if (!put_elements(out, element, array->items[i], s, axis + 1)) return false;
        return true;
    }
    for (const CtObject *cell = value.object; cell->tag != 0; cell = ((const CtFields *)cell)->words[1].object)
        if (!put_elements(out, element, ((const CtFields *)cell)->words[0], s, axis + 1)) return false;
    return true;
}

static const char *descr_of(const CtType *scalar) {
    switch (scalar->kind) {
    case TYPE_DOUBLE: return "<f8";
    case TYPE_FLOAT: return "<f4";
    case TYPE_INT: return "<i8";
    case TYPE_DATA: return ct_io_json_is_bool(scalar) ? "|b1" : NULL;
    case TYPE_CHAR:
    case TYPE_TUPLE:
    case TYPE_ARRAY:
    case TYPE_FUN: return NULL;
    }
    return NULL;
}

/* Writes the header, padded so that the elements begin at a multiple of 64 bytes. */
static void put_header(CtText *out, const char *descr, const Shape *s) {
    CtText text = ct_text(out->arena);
    ct_text_printf(&text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (uint32_t i = 0; i < s->rank; i++)
        ct_text_printf(&text, "%s%llu", i > 0 ? ", " : "", (unsigned long long)s->sizes[i]);
    ct_text_puts(&text, s->rank == 1 ? ",), }" : "), }");
    while ((10 + text.length + 1) % 64 != 0) ct_text_putc(&text, ' ');
    ct_text_putc(&text, '\n');
    ct_text_add(out, CT_NPY_MAGIC "\1\0", 8);
    put_bits(out, text.length, 2);
    ct_text_add(out, text.data, text.length);
}

bool ct_io_npy_has(const CtType *type) {
    for (uint32_t rank = 0; rank <= CT_NPY_RANK; rank++) {
        const CtType *element = element_of(type);
        if (!element) return descr_of(type) != NULL;
        type = element;
    }
    return false;
}

bool ct_io_npy_write(CtText *out, const CtType *type, CtWord value) {
    Shape s = {0};
    const CtType *scalar = type;
    CtWord inner = value;
    bool empty = false;
    for (const CtType *element; (element = element_of(scalar)) != NULL; scalar = element) {
        uint64_t count = empty ? 0 : length_of(scalar, inner, &inner);
        s.sizes[s.rank++] = count;
        empty |= count == 0;
    }
    put_header(out, descr_of(scalar), &s);
    return empty && s.sizes[0] == 0 ? true : put_elements(out, type, value, &s, 0);
}
