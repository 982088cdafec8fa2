/* Prints types and paths for error messages. */
#include "io/internal.h"

/* Appends to a C string in a buffer of `size` bytes, cutting off what does not fit. */
static void type_add(char *out, size_t size, const char *text) {
    size_t n = strlen(out);
    if (n + 1 < size) snprintf(out + n, size - n, "%s", text);
}

static void type_name(char *out, size_t size, const CtType *type, bool atomic) {
    if (strlen(out) + 8 > size) return;
    switch (type->kind) {
    case TYPE_DOUBLE: type_add(out, size, "Double"); return;
    case TYPE_FLOAT: type_add(out, size, "Float"); return;
    case TYPE_INT: type_add(out, size, "Int"); return;
    case TYPE_CHAR: type_add(out, size, "Char"); return;
    case TYPE_FUN: type_add(out, size, "a function"); return;
    case TYPE_TUPLE:
        type_add(out, size, "(");
        for (uint32_t i = 0; i < type->count; i++) {
            if (i > 0) type_add(out, size, ", ");
            type_name(out, size, type->parts[i], false);
        }
        type_add(out, size, ")");
        return;
    case TYPE_ARRAY:
    case TYPE_DATA: {
        if (ct_io_json_is_string(type)) {
            type_add(out, size, "String");
            return;
        }
        if (ct_io_json_is_list(type)) {
            type_add(out, size, "[");
            type_name(out, size, type->data->args[0], false);
            type_add(out, size, "]");
            return;
        }
        bool is_array = type->kind == TYPE_ARRAY;
        uint32_t count = is_array ? 1 : type->data->arg_count;
        if (count > 0 && atomic) type_add(out, size, "(");
        type_add(out, size, is_array ? "Array" : type->data->name->text);
        for (uint32_t i = 0; i < count; i++) {
            type_add(out, size, " ");
            type_name(out, size, is_array ? type->parts[0] : type->data->args[i], true);
        }
        if (count > 0 && atomic) type_add(out, size, ")");
        return;
    }
    }
}

const char *ct_io_type_name(const CtType *type, char *out, size_t size) {
    out[0] = '\0';
    type_name(out, size, type, false);
    return out;
}

static size_t path_text(const CtPath *path, char *out, size_t size) {
    if (path == NULL || size < 2) return 0;
    size_t n = path_text(path->outer, out, size);
    if (n + 1 >= size) return n;
    int more = path->field != NULL ? snprintf(out + n, size - n, ".%s", path->field)
                                   : snprintf(out + n, size - n, "[%zu]", path->index);
    return more > 0 && n + (size_t)more < size ? n + (size_t)more : size - 1;
}

void ct_io_path_message(char *message, size_t size, const char *what, const CtPath *path, const char *format,
                        va_list list) {
    char place[200] = "", text[400];
    path_text(path, place, sizeof place);
    vsnprintf(text, sizeof text, format, list);
    bool root = place[0] == '\0';
    snprintf(message, size, "%s: %s%s%s%s", what, root ? "" : "at ", place, root ? "" : ": ", text);
}
