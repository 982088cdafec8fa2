/* What types are in C, and their definitions in the header. */
#include "emit/export/internal.h"

/* ---- making ---- */

static const char *type_text(OuterTypes *types, const CtType *type) {
    CtText out = ct_text(types->arena);
    ct_core_type_print(&out, type);
    return out.data;
}

static OuterType *refuse(OuterTypes *types, const CtType *type, const char *why) {
    if (types->refused == NULL) types->refused = ct_format(types->arena, "`%s` %s", type_text(types, type), why);
    return NULL;
}

/* A type with a name of its own in C. */
static void name_it(OuterTypes *types, OuterType *made, const char *name, const char *star) {
    made->name = ct_emit_export_unique(&types->names, name);
    made->cell = ct_format(types->arena, "%s_%s %s", types->prefix, made->name, star);
}

static OuterCon *cons_of(OuterTypes *types, const CtType *type, uint32_t *count) {
    CtCon tuple = {.count = type->count, .fields = type->parts};
    const CtCon *cons = type->kind == TYPE_TUPLE ? &tuple : type->data->cons;
    *count = type->kind == TYPE_TUPLE ? 1 : type->data->con_count;
    OuterCon *made = CT_NEW_ARRAY(types->arena, OuterCon, *count + 1);
    OuterNames con_names = {.arena = types->arena};
    for (uint32_t i = 0; i < *count; i++) {
        OuterNames names = {.arena = types->arena};
        made[i] = (OuterCon){.count = cons[i].count};
        made[i].name = type->kind == TYPE_TUPLE ? "tuple" : ct_emit_export_unique(&con_names, cons[i].name->text);
        made[i].types = CT_NEW_ARRAY(types->arena, OuterType *, cons[i].count + 1);
        made[i].names = CT_NEW_ARRAY(types->arena, const char *, cons[i].count + 1);
        for (uint32_t j = 0; j < cons[i].count; j++) {
            made[i].types[j] = ct_emit_export_type(types, cons[i].fields[j]);
            if (made[i].types[j] == NULL) return NULL;
            const char *name = cons[i].field_names != NULL ? cons[i].field_names[j]->text : NULL;
            made[i].names[j] = ct_emit_export_unique(&names, name != NULL ? name : ct_format(types->arena, "v%u", j + 1));
        }
    }
    return made;
}

static bool make_scalar(OuterType *made, const char *name, const char *cell) {
    made->kind = OUTER_SCALAR;
    made->name = name;
    made->cell = cell;
    return true;
}

static bool make_sequence(OuterTypes *types, OuterType *made, const CtType *element, const char *what) {
    made->element = ct_emit_export_type(types, element);
    if (made->element == NULL) return false;
    const char *rank = made->rank > 1 ? ct_format(types->arena, "%u", made->rank) : "";
    name_it(types, made, ct_format(types->arena, "%s%s_%s", what, rank, made->element->name), "");
    return true;
}

static bool make_array(OuterTypes *types, OuterType *made, const CtType *type) {
    made->kind = OUTER_ARRAY;
    for (; type->kind == TYPE_ARRAY; type = type->parts[0]) made->rank++;
    return make_sequence(types, made, type, "array");
}

static bool make_tuple(OuterTypes *types, OuterType *made, const CtType *type) {
    if (type->count == 0) return make_scalar(made, "unit", "int64_t ");
    made->kind = OUTER_STRUCT;
    CtText name = ct_text(types->arena);
    ct_text_puts(&name, "tuple");
    for (uint32_t i = 0; i < type->count; i++) {
        const OuterType *part = ct_emit_export_type(types, type->parts[i]);
        if (part == NULL) return false;
        ct_text_printf(&name, "_%s", part->name);
    }
    name_it(types, made, name.data, "");
    made->cons = cons_of(types, type, &made->con_count);
    return made->cons != NULL;
}

static bool make_data(OuterTypes *types, OuterType *made, const CtType *type) {
    const CtData *data = type->data;
    if (type == types->core->bool_type) return make_scalar(made, "bool", "bool ");
    if (strcmp(data->name->text, "[]") == 0) {
        made->kind = data->args[0]->kind == TYPE_CHAR ? OUTER_TEXT : OUTER_LIST;
        if (made->kind == OUTER_LIST) return make_sequence(types, made, data->args[0], "list");
        made->name = "text";
        made->cell = "char *";
        return true;
    }
    made->kind = data->is_enum ? OUTER_ENUM : data->con_count == 1 ? OUTER_STRUCT : OUTER_VARIANT;
    name_it(types, made, type_text(types, type), made->kind == OUTER_VARIANT ? "*" : "");
    made->cons = cons_of(types, type, &made->con_count);
    return made->cons != NULL;
}

static bool make(OuterTypes *types, OuterType *made, const CtType *type) {
    switch (type->kind) {
    case TYPE_DOUBLE: return make_scalar(made, "double", "double ");
    case TYPE_FLOAT: return make_scalar(made, "float", "float ");
    case TYPE_INT: return make_scalar(made, "int", "int64_t ");
    case TYPE_CHAR: return make_scalar(made, "char", "uint32_t ");
    case TYPE_TUPLE: return make_tuple(types, made, type);
    case TYPE_ARRAY: return make_array(types, made, type);
    case TYPE_DATA: return make_data(types, made, type);
    case TYPE_FUN: return refuse(types, type, "is a function: it has no form in C") != NULL;
    }
    return false;
}

OuterType *ct_emit_export_type(OuterTypes *types, const CtType *type) {
    OuterType *made = ct_map_get(&types->known, ct_key(type));
    if (made != NULL || types->refused != NULL) return made;
    made = CT_NEW(types->arena, OuterType);
    made->type = type;
    ct_map_set(types->arena, &types->known, ct_key(type), made);
    return make(types, made, type) ? made : NULL;
}

/* ---- asking ---- */

void ct_emit_export_goes(OuterType *type, bool in, bool out) {
    if ((type->goes_in || !in) && (type->comes_out || !out)) return;
    type->goes_in |= in;
    type->comes_out |= out;
    if (type->element != NULL) ct_emit_export_goes(type->element, in, out);
    for (uint32_t i = 0; i < type->con_count; i++)
        for (uint32_t j = 0; j < type->cons[i].count; j++) ct_emit_export_goes(type->cons[i].types[j], in, out);
}

bool ct_emit_export_is_lent(const OuterType *array) {
    CtTypeKind kind = array->element->type->kind;
    return array->kind == OUTER_ARRAY && (kind == TYPE_DOUBLE || kind == TYPE_INT);
}

bool ct_emit_export_points(const OuterType *type) {
    if (type->kind == OUTER_SCALAR || type->kind == OUTER_ENUM) return false;
    if (type->kind != OUTER_STRUCT) return true;
    for (uint32_t i = 0; i < type->cons[0].count; i++)
        if (ct_emit_export_points(type->cons[0].types[i])) return true;
    return false;
}

bool ct_emit_export_has_real(const OuterType *type) { return ct_core_type_has_real((CtType *)type->type); }

const char *ct_emit_export_size_name(CtArena *arena, uint32_t rank, uint32_t index) {
    if (rank <= 1) return "size";
    if (rank == 2) return index == 0 ? "rows" : "columns";
    return ct_format(arena, "size%u", index + 1);
}

/* ---- definitions ---- */

typedef struct Ordering {
    OuterTypes *types;
    CT_VEC(OuterType *) later; /* what is only pointed to */
} Ordering;

/* A struct comes behind the structs that it holds. */
static void order(Ordering *o, OuterType *type) {
    if (type->state == OUTER_WRITTEN) return;
    if (type->state == OUTER_UNDER_WAY) {
        refuse(o->types, type->type, "holds itself: it has no finite values");
        return;
    }
    type->state = OUTER_UNDER_WAY;
    if (type->element != NULL) ct_push(o->types->arena, &o->later, type->element);
    for (uint32_t i = 0; i < type->con_count; i++)
        for (uint32_t j = 0; j < type->cons[i].count; j++) {
            OuterType *field = type->cons[i].types[j];
            if (field->kind == OUTER_VARIANT)
                ct_push(o->types->arena, &o->later, field);
            else
                order(o, field);
        }
    type->state = OUTER_WRITTEN;
    if (type->kind != OUTER_SCALAR && type->kind != OUTER_TEXT) ct_push(o->types->arena, &o->types->ordered, type);
}

void ct_emit_export_order(OuterTypes *types, OuterType *type) {
    Ordering o = {types, {0}};
    order(&o, type);
    for (uint32_t i = 0; i < o.later.count; i++) order(&o, o.later.items[i]);
}

static void put_enum(const OuterTypes *types, const OuterType *type, const char *suffix, CtText *out) {
    ct_text_puts(out, "typedef enum {\n");
    for (uint32_t i = 0; i < type->con_count; i++)
        ct_text_printf(out, "    %s_%s_%s,\n", types->prefix, type->name, type->cons[i].name);
    ct_text_printf(out, "} %s_%s%s;\n\n", types->prefix, type->name, suffix);
}

static void put_members(const OuterCon *con, const char *indent, CtText *out) {
    for (uint32_t i = 0; i < con->count; i++)
        ct_text_printf(out, "%s%s%s;\n", indent, con->types[i]->cell, con->names[i]);
}

static void put_struct(const OuterTypes *types, const OuterType *type, CtText *out) {
    ct_text_printf(out, "struct %s_%s {\n", types->prefix, type->name);
    if (type->kind == OUTER_STRUCT) {
        put_members(&type->cons[0], "    ", out);
    } else if (type->kind == OUTER_VARIANT) {
        ct_text_printf(out, "    %s_%s_tag tag;\n    union {\n", types->prefix, type->name);
        for (uint32_t i = 0; i < type->con_count; i++) {
            if (type->cons[i].count == 0) continue;
            ct_text_puts(out, "        struct {\n");
            put_members(&type->cons[i], "            ", out);
            ct_text_printf(out, "        } %s;\n", type->cons[i].name);
        }
        ct_text_puts(out, "    } as;\n");
    } else {
        uint32_t sizes = type->kind == OUTER_LIST ? 1 : type->rank;
        ct_text_printf(out, "    %s*data;\n    size_t ", type->element->cell);
        for (uint32_t i = 0; i < sizes; i++)
            ct_text_printf(out, "%s%s", i > 0 ? ", " : "", ct_emit_export_size_name(types->arena, sizes, i));
        ct_text_puts(out, ";\n");
    }
    ct_text_puts(out, "};\n\n");
}

void ct_emit_export_put_types(OuterTypes *types, CtText *out) {
    for (uint32_t i = 0; i < types->ordered.count; i++) {
        const OuterType *type = types->ordered.items[i];
        if (type->kind == OUTER_ENUM)
            put_enum(types, type, "", out);
        else
            ct_text_printf(out, "typedef struct %s_%s %s_%s;\n", types->prefix, type->name, types->prefix, type->name);
    }
    if (types->ordered.count > 0) ct_text_putc(out, '\n');
    for (uint32_t i = 0; i < types->ordered.count; i++) {
        const OuterType *type = types->ordered.items[i];
        if (type->kind == OUTER_VARIANT) put_enum(types, type, "_tag", out);
        if (type->kind != OUTER_ENUM) put_struct(types, type, out);
    }
}
