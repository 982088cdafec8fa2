/* The C counterparts of types, and their definitions in the header. */
#include "emit/export/internal.h"

/* ---- making ---- */

static const char *type_text(ExportTypes *types, const CtType *type) {
    CtText out = ct_text(types->arena);
    ct_core_type_print(&out, type);
    return out.data;
}

static ExportType *refuse(ExportTypes *types, const CtType *type, const char *why) {
    if (types->refused == NULL) types->refused = ct_format(types->arena, "`%s` %s", type_text(types, type), why);
    return NULL;
}

/* Gives a type its name in C. Its tags are called NAME_CON, their type NAME_tag. */
static void name_it(ExportTypes *types, ExportType *made, const char *name, const char *star) {
    const char **endings = CT_NEW_ARRAY(types->arena, const char *, made->con_count + 1);
    uint32_t count = 0;
    if (made->kind == EXPORT_ENUM || made->kind == EXPORT_VARIANT)
        for (uint32_t i = 0; i < made->con_count; i++) endings[count++] = made->cons[i].name;
    if (made->kind == EXPORT_VARIANT) endings[count++] = "tag";
    made->name = ct_emit_export_unique_with(&types->names, name, endings, count);
    made->cell = ct_format(types->arena, "%s_%s %s", types->prefix, made->name, star);
}

/* The constructors of data, so far without fields. */
static void name_cons(ExportTypes *types, ExportType *made, const CtData *data) {
    ExportNames names = {.arena = types->arena};
    made->con_count = data->con_count;
    made->cons = CT_NEW_ARRAY(types->arena, ExportCon, data->con_count + 1);
    for (uint32_t i = 0; i < data->con_count; i++)
        made->cons[i] = (ExportCon){.name = ct_emit_export_unique(&names, data->cons[i].name->text)};
}

/* Adds the fields of the constructors, whose types may contain the type itself. */
static bool add_fields(ExportTypes *types, ExportType *type, const CtCon *cons) {
    for (uint32_t i = 0; i < type->con_count; i++) {
        ExportCon *made = &type->cons[i];
        ExportNames names = {.arena = types->arena};
        made->types = CT_NEW_ARRAY(types->arena, ExportType *, cons[i].count + 1);
        made->names = CT_NEW_ARRAY(types->arena, const char *, cons[i].count + 1);
        for (uint32_t j = 0; j < cons[i].count; j++) {
            made->types[j] = ct_emit_export_type(types, cons[i].fields[j]);
            if (made->types[j] == NULL) return false;
            const char *name = cons[i].field_names != NULL ? cons[i].field_names[j]->text : NULL;
            made->names[j] = ct_emit_export_unique(&names, name != NULL ? name : ct_format(types->arena, "v%u", j + 1));
        }
        made->count = cons[i].count;
    }
    return true;
}

static bool make_scalar(ExportType *made, const char *name, const char *cell) {
    made->kind = EXPORT_SCALAR;
    made->name = name;
    made->cell = cell;
    return true;
}

static bool make_sequence(ExportTypes *types, ExportType *made, const CtType *element, const char *what) {
    made->element = ct_emit_export_type(types, element);
    if (made->element == NULL) return false;
    const char *rank = made->rank > 1 ? ct_format(types->arena, "%u", made->rank) : "";
    name_it(types, made, ct_format(types->arena, "%s%s_%s", what, rank, made->element->name), "");
    return true;
}

static bool make_array(ExportTypes *types, ExportType *made, const CtType *type) {
    made->kind = EXPORT_ARRAY;
    for (; type->kind == TYPE_ARRAY; type = type->parts[0]) made->rank++;
    return make_sequence(types, made, type, "array");
}

static bool make_tuple(ExportTypes *types, ExportType *made, const CtType *type) {
    if (type->count == 0) return make_scalar(made, "unit", "int64_t ");
    made->kind = EXPORT_STRUCT;
    CtText name = ct_text(types->arena);
    ct_text_puts(&name, "tuple");
    for (uint32_t i = 0; i < type->count; i++) {
        const ExportType *part = ct_emit_export_type(types, type->parts[i]);
        if (part == NULL) return false;
        ct_text_printf(&name, "_%s", part->name);
    }
    name_it(types, made, name.data, "");
    made->con_count = 1;
    made->cons = CT_NEW(types->arena, ExportCon);
    *made->cons = (ExportCon){.name = "tuple"};
    CtCon con = {.count = type->count, .fields = type->parts};
    return add_fields(types, made, &con);
}

static bool make_data(ExportTypes *types, ExportType *made, const CtType *type) {
    const CtData *data = type->data;
    if (type == types->core->bool_type) return make_scalar(made, "bool", "bool ");
    if (strcmp(data->name->text, "[]") == 0) {
        made->kind = data->args[0]->kind == TYPE_CHAR ? EXPORT_TEXT : EXPORT_LIST;
        if (made->kind == EXPORT_LIST) return make_sequence(types, made, data->args[0], "list");
        made->name = "text";
        made->cell = "char *";
        return true;
    }
    made->kind = data->is_enum ? EXPORT_ENUM : data->con_count == 1 ? EXPORT_STRUCT : EXPORT_VARIANT;
    name_cons(types, made, data);
    name_it(types, made, type_text(types, type), made->kind == EXPORT_VARIANT ? "*" : "");
    return add_fields(types, made, data->cons);
}

static bool make(ExportTypes *types, ExportType *made, const CtType *type) {
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

ExportType *ct_emit_export_type(ExportTypes *types, const CtType *type) {
    ExportType *made = ct_map_get(&types->known, ct_key(type));
    if (made != NULL || types->refused != NULL) return made;
    made = CT_NEW(types->arena, ExportType);
    made->type = type;
    ct_map_set(types->arena, &types->known, ct_key(type), made);
    return make(types, made, type) ? made : NULL;
}

/* ---- asking ---- */

void ct_emit_export_goes(ExportType *type, bool in, bool out) {
    if ((type->goes_in || !in) && (type->comes_out || !out)) return;
    type->goes_in |= in;
    type->comes_out |= out;
    if (type->element != NULL) ct_emit_export_goes(type->element, in, out);
    for (uint32_t i = 0; i < type->con_count; i++)
        for (uint32_t j = 0; j < type->cons[i].count; j++) ct_emit_export_goes(type->cons[i].types[j], in, out);
}

bool ct_emit_export_is_lent(const ExportType *array) {
    CtTypeKind kind = array->element->type->kind;
    return array->kind == EXPORT_ARRAY && (kind == TYPE_DOUBLE || kind == TYPE_INT);
}

bool ct_emit_export_points(const ExportType *type) {
    if (type->kind == EXPORT_SCALAR || type->kind == EXPORT_ENUM) return false;
    if (type->kind != EXPORT_STRUCT) return true;
    for (uint32_t i = 0; i < type->cons[0].count; i++)
        if (ct_emit_export_points(type->cons[0].types[i])) return true;
    return false;
}

bool ct_emit_export_has_real(const ExportType *type) { return ct_core_type_has_real((CtType *)type->type); }

const char *ct_emit_export_size_name(CtArena *arena, uint32_t rank, uint32_t index) {
    if (rank <= 1) return "size";
    if (rank == 2) return index == 0 ? "rows" : "columns";
    return ct_format(arena, "size%u", index + 1);
}

/* ---- definitions ---- */

typedef struct Ordering {
    ExportTypes *types;
    CT_VEC(ExportType *) later; /* types that are only pointed to */
} Ordering;

/* A struct is defined behind the structs that it contains. */
static void order(Ordering *o, ExportType *type) {
    if (type->state == EXPORT_WRITTEN) return;
    if (type->state == EXPORT_UNDER_WAY) {
        refuse(o->types, type->type, "holds itself: it has no finite values");
        return;
    }
    type->state = EXPORT_UNDER_WAY;
    if (type->element != NULL) ct_push(o->types->arena, &o->later, type->element);
    for (uint32_t i = 0; i < type->con_count; i++)
        for (uint32_t j = 0; j < type->cons[i].count; j++) {
            ExportType *field = type->cons[i].types[j];
            if (field->kind == EXPORT_VARIANT)
                ct_push(o->types->arena, &o->later, field);
            else
                order(o, field);
        }
    type->state = EXPORT_WRITTEN;
    if (type->kind != EXPORT_SCALAR && type->kind != EXPORT_TEXT) ct_push(o->types->arena, &o->types->ordered, type);
}

void ct_emit_export_order(ExportTypes *types, ExportType *type) {
    Ordering o = {types, {0}};
    order(&o, type);
    for (uint32_t i = 0; i < o.later.count; i++) order(&o, o.later.items[i]);
}

static void put_enum(const ExportTypes *types, const ExportType *type, const char *suffix, CtText *out) {
    ct_text_puts(out, "typedef enum {\n");
    for (uint32_t i = 0; i < type->con_count; i++)
        ct_text_printf(out, "    %s_%s_%s,\n", types->prefix, type->name, type->cons[i].name);
    ct_text_printf(out, "} %s_%s%s;\n\n", types->prefix, type->name, suffix);
}

static void put_members(const ExportCon *con, const char *indent, CtText *out) {
    for (uint32_t i = 0; i < con->count; i++)
        ct_text_printf(out, "%s%s%s;\n", indent, con->types[i]->cell, con->names[i]);
}

static void put_struct(const ExportTypes *types, const ExportType *type, CtText *out) {
    ct_text_printf(out, "struct %s_%s {\n", types->prefix, type->name);
    if (type->kind == EXPORT_STRUCT) {
        put_members(&type->cons[0], "    ", out);
    } else if (type->kind == EXPORT_VARIANT) {
        ct_text_printf(out, "    %s_%s_tag tag;\n    union {\n", types->prefix, type->name);
        for (uint32_t i = 0; i < type->con_count; i++) {
            if (type->cons[i].count == 0) continue;
            ct_text_puts(out, "        struct {\n");
            put_members(&type->cons[i], "            ", out);
            ct_text_printf(out, "        } %s;\n", type->cons[i].name);
        }
        ct_text_puts(out, "    } as;\n");
    } else {
        uint32_t sizes = type->kind == EXPORT_LIST ? 1 : type->rank;
        ct_text_printf(out, "    %s*data;\n    size_t ", type->element->cell);
        for (uint32_t i = 0; i < sizes; i++)
            ct_text_printf(out, "%s%s", i > 0 ? ", " : "", ct_emit_export_size_name(types->arena, sizes, i));
        ct_text_puts(out, ";\n");
    }
    ct_text_puts(out, "};\n\n");
}

void ct_emit_export_put_types(ExportTypes *types, CtText *out) {
    for (uint32_t i = 0; i < types->ordered.count; i++) {
        const ExportType *type = types->ordered.items[i];
        if (type->kind == EXPORT_ENUM)
            put_enum(types, type, "", out);
        else
            ct_text_printf(out, "typedef struct %s_%s %s_%s;\n", types->prefix, type->name, types->prefix, type->name);
    }
    if (types->ordered.count > 0) ct_text_putc(out, '\n');
    for (uint32_t i = 0; i < types->ordered.count; i++) {
        const ExportType *type = types->ordered.items[i];
        if (type->kind == EXPORT_VARIANT) put_enum(types, type, "_tag", out);
        if (type->kind != EXPORT_ENUM) put_struct(types, type, out);
    }
}
