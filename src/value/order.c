/* The order of values, where the language or `deriving Ord` defines it. */
#include "value/internal.h"

enum { DEEPEST = 10 }; /* types within types that are looked at: recursive types end there */

static bool has_own_order(const CtType *type, int depth) {
    if (depth > DEEPEST || ct_core_type_is_integer(type)) return false;
    if (type->kind == TYPE_TUPLE || type->kind == TYPE_ARRAY) {
        for (uint32_t i = 0; i < type->count; i++)
            if (has_own_order(type->parts[i], depth)) return true;
        return false;
    }
    if (type->kind != TYPE_DATA) return type->kind == TYPE_FUN;
    for (uint32_t i = 0; i < type->data->con_count; i++)
        for (uint32_t j = 0; j < type->data->cons[i].count; j++)
            if (has_own_order(type->data->cons[i].fields[j], depth + 1)) return true;
    return type->data->own_order || type->data->is_universal;
}

bool ct_value_has_own_order(const CtType *type) { return has_own_order(type, 0); }

static int order_of_integers(int64_t a, int64_t b) { return (a > b) - (a < b); }

/* NaN, of which the language says nothing, is above all numbers. */
static int order_of_reals(double a, double b) {
    if (a != a || b != b) return (a != a) - (b != b);
    return (a > b) - (a < b);
}

static int order_of_words(CtType *const *types, const CtWord *a, const CtWord *b, uint32_t count) {
    int order = 0;
    for (uint32_t i = 0; i < count && order == 0; i++) order = ct_value_order(types[i], a[i], b[i]);
    return order;
}

static int order_of_arrays(const CtType *element, const CtArray *a, const CtArray *b) {
    for (int64_t i = 0; i < a->length && i < b->length; i++) {
        int order = ct_value_order(element, a->items[i], b->items[i]);
        if (order != 0) return order;
    }
    return order_of_integers(a->length, b->length);
}

/* Lists, of any length, along their cells. */
static int order_of_data(const CtType *type, CtWord a, CtWord b) {
    const CtData *data = type->data;
    if (data->is_enum) return order_of_integers(a.integer, b.integer);
    for (;;) {
        const CtFields *x = (const CtFields *)a.object, *y = (const CtFields *)b.object;
        if (x->head.tag != y->head.tag) return x->head.tag < y->head.tag ? -1 : 1;
        const CtCon *con = &data->cons[x->head.tag];
        bool goes_on = con->count > 0 && con->fields[con->count - 1] == type;
        int order = order_of_words(con->fields, x->words, y->words, goes_on ? con->count - 1 : con->count);
        if (order != 0 || !goes_on) return order;
        a = x->words[con->count - 1];
        b = y->words[con->count - 1];
    }
}

int ct_value_order(const CtType *type, CtWord a, CtWord b) {
    switch (type->kind) {
    case TYPE_DOUBLE:
    case TYPE_FLOAT: return order_of_reals(a.real, b.real);
    case TYPE_INT:
    case TYPE_CHAR: return order_of_integers(a.integer, b.integer);
    case TYPE_TUPLE:
        if (type->count == 0) return 0;
        return order_of_words(type->parts, ((const CtFields *)a.object)->words, ((const CtFields *)b.object)->words,
                              type->count);
    case TYPE_ARRAY: return order_of_arrays(type->parts[0], (const CtArray *)a.object, (const CtArray *)b.object);
    case TYPE_DATA: return ct_core_type_is_integer(type) ? ct_value_integer_order(a, b) : order_of_data(type, a, b);
    case TYPE_FUN: return 0;
    }
    return 0;
}
