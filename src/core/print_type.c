/* Printing of the types of Core. */
#include "core/internal.h"

static void put_type(CtText *out, const CtType *type, bool tight, uint32_t *fuel);

static void put_types(CtText *out, CtType *const *types, uint32_t count, uint32_t *fuel) {
    ct_text_puts(out, "(");
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0) ct_text_puts(out, ", ");
        put_type(out, types[i], false, fuel);
    }
    ct_text_puts(out, ")");
}

static void put_fun_type(CtText *out, const CtType *type, bool tight, uint32_t *fuel) {
    uint32_t params = type->count - 1;
    if (tight) ct_text_puts(out, "(");
    if (params == 1 && type->parts[0]->kind != TYPE_FUN && type->parts[0]->kind != TYPE_TUPLE)
        put_type(out, type->parts[0], false, fuel);
    else
        put_types(out, type->parts, params, fuel);
    ct_text_puts(out, " → ");
    put_type(out, type->parts[params], false, fuel);
    if (tight) ct_text_puts(out, ")");
}

static void put_data_type(CtText *out, const CtData *data, bool tight, uint32_t *fuel) {
    if (strcmp(data->name->text, "[]") == 0 && data->arg_count == 1) {
        ct_text_puts(out, "[");
        put_type(out, data->args[0], false, fuel);
        ct_text_puts(out, "]");
        return;
    }
    bool parenthesis = tight && data->arg_count > 0;
    if (parenthesis) ct_text_puts(out, "(");
    ct_text_puts(out, data->name->text);
    if (data->method != NULL && data->arg_count == 0)
        ct_text_printf(out, ".%s", data->method); /* the arguments do not distinguish them */
    for (uint32_t i = 0; i < data->arg_count; i++) {
        ct_text_puts(out, " ");
        put_type(out, data->args[i], true, fuel);
    }
    if (parenthesis) ct_text_puts(out, ")");
}

/* `fuel` bounds the length, and so the depth: the types of nested pairs can be long. */
static void put_type(CtText *out, const CtType *type, bool tight, uint32_t *fuel) {
    if (*fuel == 0) {
        ct_text_puts(out, "…");
        return;
    }
    --*fuel;
    switch (type->kind) {
    case TYPE_DOUBLE: ct_text_puts(out, "Double"); break;
    case TYPE_FLOAT: ct_text_puts(out, "Float"); break;
    case TYPE_INT: ct_text_puts(out, "Int"); break;
    case TYPE_CHAR: ct_text_puts(out, "Char"); break;
    case TYPE_TUPLE: put_types(out, type->parts, type->count, fuel); break;
    case TYPE_ARRAY:
        ct_text_puts(out, tight ? "(Array " : "Array ");
        put_type(out, type->parts[0], true, fuel);
        if (tight) ct_text_puts(out, ")");
        break;
    case TYPE_FUN: put_fun_type(out, type, tight, fuel); break;
    case TYPE_DATA: put_data_type(out, type->data, tight, fuel); break;
    }
}

void ct_core_type_print(CtText *out, const CtType *type) {
    uint32_t fuel = 300;
    put_type(out, type, false, &fuel);
}
