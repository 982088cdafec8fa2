/* Core types as the public API describes them. */
#include "io/host_value.h"
#include "session/session.h"

static const cotan_type *type_of(CtArena *arena, CtMap *known, const CtType *type);

static const cotan_type *const *types_of(CtArena *arena, CtMap *known, CtType *const *types, uint32_t count) {
    const cotan_type **out = CT_NEW_ARRAY(arena, const cotan_type *, count + 1);
    for (uint32_t i = 0; i < count; i++) out[i] = type_of(arena, known, types[i]);
    return out;
}

static const cotan_constructor *constructors_of(CtArena *arena, CtMap *known, const CtData *data) {
    cotan_constructor *out = CT_NEW_ARRAY(arena, cotan_constructor, data->con_count + 1);
    for (uint32_t i = 0; i < data->con_count; i++) {
        const CtCon *con = &data->cons[i];
        const char **names = con->field_names != NULL ? CT_NEW_ARRAY(arena, const char *, con->count + 1) : NULL;
        for (uint32_t j = 0; names != NULL && j < con->count; j++)
            names[j] = ct_copy_text(arena, con->field_names[j]->text, con->field_names[j]->length);
        out[i] = (cotan_constructor){ct_copy_text(arena, con->name->text, con->name->length), con->count,
                                     types_of(arena, known, con->fields, con->count), names};
    }
    return out;
}

static bool is_named(const CtType *type, const char *name) {
    return type->kind == TYPE_DATA && strcmp(type->data->name->text, name) == 0;
}

/* Of data: what the language has notation for, or else its constructors. */
static void describe_data(CtArena *arena, CtMap *known, const CtType *type, cotan_type *out) {
    const CtType *parts[2];
    if (ct_core_type_is_integer(type)) {
        out->kind = COTAN_KIND_INTEGER;
    } else if (is_named(type, "Bool") && type->data->is_enum) {
        out->kind = COTAN_KIND_BOOL;
    } else if (is_named(type, "[]")) {
        out->kind = type->data->args[0]->kind == TYPE_CHAR ? COTAN_KIND_STRING : COTAN_KIND_LIST;
        out->count = out->kind == COTAN_KIND_LIST ? 1 : 0;
        out->parts = types_of(arena, known, type->data->args, (uint32_t)out->count);
    } else if (ct_io_is_map(type, &parts[0], &parts[1])) {
        out->kind = COTAN_KIND_MAP;
        out->count = 2;
        out->parts = types_of(arena, known, (CtType *const *)parts, 2);
    } else if (ct_io_is_set(type, &parts[0])) {
        out->kind = COTAN_KIND_SET;
        out->count = 1;
        out->parts = types_of(arena, known, (CtType *const *)parts, 1);
    } else {
        out->kind = COTAN_KIND_DATA;
        out->own_order = type->data->own_order;
        out->constructor_count = type->data->con_count;
        out->constructors = constructors_of(arena, known, type->data);
    }
}

static const cotan_type *type_of(CtArena *arena, CtMap *known, const CtType *type) {
    cotan_type *out = ct_map_get(known, ct_key(type));
    if (out != NULL) return out;
    out = CT_NEW(arena, cotan_type);
    ct_map_set(arena, known, ct_key(type), out); /* in front of its parts, among which it may be */
    CtText name = ct_text(arena);
    ct_core_type_print(&name, type);
    out->name = name.data;
    switch (type->kind) {
    case TYPE_DOUBLE: out->kind = COTAN_KIND_DOUBLE; break;
    case TYPE_FLOAT: out->kind = COTAN_KIND_FLOAT; break;
    case TYPE_INT: out->kind = COTAN_KIND_INT; break;
    case TYPE_CHAR: out->kind = COTAN_KIND_CHAR; break;
    case TYPE_FUN: out->kind = COTAN_KIND_FUNCTION; break;
    case TYPE_TUPLE:
    case TYPE_ARRAY:
        out->kind = type->kind == TYPE_TUPLE ? COTAN_KIND_TUPLE : COTAN_KIND_ARRAY;
        out->count = type->count;
        out->parts = types_of(arena, known, type->parts, type->count);
        break;
    case TYPE_DATA: describe_data(arena, known, type, out); break;
    }
    return out;
}

const cotan_type *ct_session_type(CtArena *arena, CtMap *known, const CtType *type) {
    return type != NULL ? type_of(arena, known, type) : NULL;
}
