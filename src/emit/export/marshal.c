/* Conversion functions: in_X converts values of the caller to words of a run, out_X converts back; a pair for each
 * type. */
#include "emit/export/internal.h"

static void line(CtText *out, int depth, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void line(CtText *out, int depth, const char *format, ...) {
    va_list list;
    va_start(list, format);
    for (int i = 0; i < depth; i++) ct_text_puts(out, "    ");
    ct_text_puts(out, ct_format_list(out->arena, format, list));
    ct_text_putc(out, '\n');
    va_end(list);
}

/* ---- words ---- */

static uint32_t width_of(CtFlow *flow, const ExportType *type) { return ct_flow_types(flow, type->type)->count; }

/* The address of an lvalue. */
static const char *address(CtArena *arena, const char *value) {
    return value[0] == '*' ? value + 1 : ct_format(arena, "&%s", value);
}

static const char *words_at(CtArena *arena, const char *words, uint32_t at) {
    return at == 0 ? words : ct_format(arena, "%s + %u", words, at);
}

static bool is_real(const ExportType *type) {
    return type->type->kind == TYPE_DOUBLE || type->type->kind == TYPE_FLOAT;
}

static bool is_char(const ExportType *type) { return type->kind == EXPORT_SCALAR && type->type->kind == TYPE_CHAR; }

void ct_emit_export_put_in(CtText *out, CtFlow *flow, int depth, const ExportType *type, const char *value,
                           const char *to, uint32_t at) {
    (void)flow;
    switch (type->kind) {
    case EXPORT_SCALAR:
        if (is_char(type))
            line(out, depth, "%s[%u].i = ct_export_char(o, %s);", to, at, value);
        else
            line(out, depth, "%s[%u].%c = %s%s;", to, at, is_real(type) ? 'f' : 'i',
                 type->type->kind == TYPE_FLOAT ? "(double)" : "", value);
        return;
    case EXPORT_ENUM:
        line(out, depth, "%s[%u].i = ct_export_tag(o, (int64_t)%s, %u);", to, at, value, type->con_count);
        return;
    case EXPORT_TEXT: line(out, depth, "%s[%u].p = &ct_export_string(o, %s)->head;", to, at, value); return;
    case EXPORT_VARIANT: line(out, depth, "in_%s(o, %s, %s);", type->name, value, words_at(out->arena, to, at)); return;
    case EXPORT_ARRAY:
    case EXPORT_LIST:
    case EXPORT_STRUCT:
        line(out, depth, "in_%s(o, %s, %s);", type->name, address(out->arena, value), words_at(out->arena, to, at));
        return;
    }
}

void ct_emit_export_put_out(CtText *out, CtFlow *flow, int depth, const ExportType *type, const char *from, uint32_t at,
                            const char *place) {
    (void)flow;
    switch (type->kind) {
    case EXPORT_SCALAR:
        switch (type->type->kind) {
        case TYPE_DOUBLE: line(out, depth, "%s = %s[%u].f;", place, from, at); return;
        case TYPE_FLOAT: line(out, depth, "%s = (float)%s[%u].f;", place, from, at); return;
        case TYPE_CHAR: line(out, depth, "%s = (uint32_t)%s[%u].i;", place, from, at); return;
        case TYPE_DATA: line(out, depth, "%s = %s[%u].i != 0;", place, from, at); return;
        case TYPE_INT:
        case TYPE_TUPLE:
        case TYPE_ARRAY:
        case TYPE_FUN: line(out, depth, "%s = %s[%u].i;", place, from, at); return;
        }
        return;
    case EXPORT_ENUM: line(out, depth, "%s = (%s)%s[%u].i;", place, type->cell, from, at); return;
    case EXPORT_TEXT: line(out, depth, "%s = ct_export_text(o, %s[%u].p);", place, from, at); return;
    case EXPORT_VARIANT:
    case EXPORT_ARRAY:
    case EXPORT_LIST:
    case EXPORT_STRUCT:
        line(out, depth, "out_%s(o, %s, %s);", type->name, words_at(out->arena, from, at), address(out->arena, place));
        return;
    }
}

void ct_emit_export_put_node(CtText *out, int depth, const CtFlowCon *con, uint32_t tag, const char *words,
                             const char *to) {
    line(out, depth, "ct_node *node = ct_node_new(&o->run, %u, %u, %u);", tag, con->fields.count, con->pointers);
    for (uint32_t i = 0; i < con->fields.count; i++)
        line(out, depth, "node->at[%u] = %s[%u];", con->slots[i], words, i);
    line(out, depth, "%s = &node->head;", to);
}

void ct_emit_export_put_fields(CtText *out, int depth, const CtFlowCon *con, const char *node, const char *words) {
    line(out, depth, "ct_word %s[%u];", words, con->fields.count);
    for (uint32_t i = 0; i < con->fields.count; i++)
        line(out, depth, "%s[%u] = ((const ct_node *)%s)->at[%u];", words, i, node, con->slots[i]);
}

/* ---- structs and variants ---- */

static void put_fields_in(CtText *out, CtFlow *flow, int depth, const ExportCon *con, const char *where,
                          const char *to) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < con->count; i++) {
        ct_emit_export_put_in(out, flow, depth, con->types[i], ct_format(out->arena, "%s%s", where, con->names[i]), to,
                              at);
        at += width_of(flow, con->types[i]);
    }
}

static void put_fields_out(CtText *out, CtFlow *flow, int depth, const ExportCon *con, const char *from,
                           const char *where) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < con->count; i++) {
        ct_emit_export_put_out(out, flow, depth, con->types[i], from, at,
                               ct_format(out->arena, "%s%s", where, con->names[i]));
        at += width_of(flow, con->types[i]);
    }
}

/* Whether a conversion needs the state: not for plain numbers; on the way in, for nodes and for tags and
 * characters that are checked. */
static bool uses_state(CtFlow *flow, const ExportType *type, bool in) {
    CtType *const *parts;
    uint32_t count;
    bool uses = in && !ct_flow_parts(flow, type->type, &parts, &count);
    for (uint32_t i = 0; i < type->cons[0].count; i++) {
        const ExportType *field = type->cons[0].types[i];
        uses |= field->kind != EXPORT_SCALAR && (in || field->kind != EXPORT_ENUM);
        uses |= in && is_char(field);
    }
    return uses;
}

static void put_struct_in(CtText *out, CtFlow *flow, const ExportType *type) {
    CtType *const *parts;
    uint32_t count;
    if (!uses_state(flow, type, true)) line(out, 1, "(void)o;");
    if (ct_flow_parts(flow, type->type, &parts, &count)) {
        put_fields_in(out, flow, 1, &type->cons[0], "from->", "to");
        return;
    }
    const CtFlowCon *con = &ct_flow_node(flow, type->type)->data->cons[0];
    line(out, 1, "ct_word fields[%u];", con->fields.count);
    put_fields_in(out, flow, 1, &type->cons[0], "from->", "fields");
    ct_emit_export_put_node(out, 1, con, 0, "fields", "to[0].p");
}

static void put_struct_out(CtText *out, CtFlow *flow, const ExportType *type) {
    CtType *const *parts;
    uint32_t count;
    if (!uses_state(flow, type, false)) line(out, 1, "(void)o;");
    bool flat = ct_flow_parts(flow, type->type, &parts, &count);
    if (!flat) ct_emit_export_put_fields(out, 1, &ct_flow_node(flow, type->type)->data->cons[0], "from[0].p", "fields");
    put_fields_out(out, flow, 1, &type->cons[0], flat ? "from" : "fields", "to->");
}

static void put_variant_in(CtText *out, CtFlow *flow, const ExportType *type) {
    const CtFlowData *data = ct_flow_node(flow, type->type)->data;
    line(out, 1, "ct_enter(&o->run);");
    line(out, 1, "if (from == NULL) ct_export_wrong(o, \"NULL for data\");");
    line(out, 1, "switch (ct_export_tag(o, (int64_t)from->tag, %u)) {", type->con_count);
    for (uint32_t i = 0; i < type->con_count; i++) {
        const CtFlowCon *con = &data->cons[i];
        if (con->fields.count == 0) {
            line(out, 1, "case %u: to[0].p = &ct_bare(&o->run, %u)->head; return;", i, i);
            continue;
        }
        line(out, 1, "case %u: {", i);
        line(out, 2, "ct_word fields[%u];", con->fields.count);
        put_fields_in(out, flow, 2, &type->cons[i], ct_format(out->arena, "from->as.%s.", type->cons[i].name),
                      "fields");
        ct_emit_export_put_node(out, 2, con, i, "fields", "to[0].p");
        line(out, 2, "return;");
        line(out, 1, "}");
    }
    line(out, 1, "}");
}

static void put_variant_out(CtText *out, CtFlow *flow, const ExportType *type, const char *prefix) {
    const CtFlowData *data = ct_flow_node(flow, type->type)->data;
    line(out, 1, "ct_enter(&o->run);");
    line(out, 1, "%s_%s *made = ct_export_memory(o, 1, sizeof *made);", prefix, type->name);
    line(out, 1, "made->tag = (%s_%s_tag)from[0].p->tag;", prefix, type->name);
    line(out, 1, "*to = made;");
    line(out, 1, "switch (from[0].p->tag) {");
    for (uint32_t i = 0; i < type->con_count; i++) {
        if (type->cons[i].count == 0) continue;
        line(out, 1, "case %u: {", i);
        ct_emit_export_put_fields(out, 2, &data->cons[i], "from[0].p", "fields");
        put_fields_out(out, flow, 2, &type->cons[i], "fields",
                       ct_format(out->arena, "made->as.%s.", type->cons[i].name));
        line(out, 2, "return;");
        line(out, 1, "}");
    }
    line(out, 1, "default: return;");
    line(out, 1, "}");
}

/* ---- lists ---- */

/* The constructor of list cells, and the index of the word that is the rest. */
static const CtFlowCon *cell_of(CtFlow *flow, const ExportType *list, uint32_t *tag, uint32_t *tail) {
    const CtFlowData *data = ct_flow_node(flow, list->type)->data;
    *tag = data->cons[0].fields.count > 0 ? 0 : 1;
    *tail = data->cons[*tag].slots[data->cons[*tag].fields.count - 1];
    return &data->cons[*tag];
}

static void put_list_in(CtText *out, CtFlow *flow, const ExportType *type) {
    uint32_t tag, tail;
    const CtFlowCon *cell = cell_of(flow, type, &tag, &tail);
    line(out, 1, "ct_enter(&o->run);");
    line(out, 1, "if (from->size > 0 && from->data == NULL) ct_export_wrong(o, \"NULL for a list\");");
    line(out, 1, "to[0].p = &ct_bare(&o->run, %u)->head;", 1 - tag);
    line(out, 1, "for (size_t i = from->size; i-- > 0;) {");
    line(out, 2, "ct_word fields[%u];", cell->fields.count);
    ct_emit_export_put_in(out, flow, 2, type->element, "from->data[i]", "fields", 0);
    line(out, 2, "fields[%u] = to[0];", cell->fields.count - 1);
    ct_emit_export_put_node(out, 2, cell, tag, "fields", "to[0].p");
    line(out, 1, "}");
}

static void put_list_items(CtText *out, CtFlow *flow, const ExportType *type) {
    uint32_t tag, tail;
    const CtFlowCon *cell = cell_of(flow, type, &tag, &tail);
    line(out, 1, "ct_enter(&o->run);");
    line(out, 1, "const ct_object *list = from[0].p;");
    line(out, 1, "for (size_t i = 0; list->tag == %u; i++) {", tag);
    ct_emit_export_put_fields(out, 2, cell, "list", "fields");
    ct_emit_export_put_out(out, flow, 2, type->element, "fields", 0, "items[i]");
    line(out, 2, "list = fields[%u].p;", cell->fields.count - 1);
    line(out, 1, "}");
}

/* ---- arrays ---- */

static void put_array_in(CtText *out, CtFlow *flow, const ExportType *type) {
    const CtFlowTypes *arrays = ct_flow_types(flow, type->type);
    CtText sizes = ct_text(out->arena);
    for (uint32_t i = 0; i < type->rank; i++)
        ct_text_printf(&sizes, "%sfrom->%s", i > 0 ? ", " : "", ct_emit_export_size_name(out->arena, type->rank, i));
    line(out, 1, "const size_t sizes[] = {%s};", sizes.data);
    if (ct_emit_export_is_lent(type)) {
        line(out, 1, "to[0].p = &ct_lend(o, from->data, %u, sizes)->head;", type->rank);
        return;
    }
    line(out, 1, "ct_enter(&o->run);");
    for (uint32_t i = 0; i < arrays->count; i++) {
        const char *pointers = ct_flow_is_object(arrays->items[i]->element) ? "true" : "false";
        line(out, 1, "ct_array *part%u = ct_export_array(o, %s, %u, sizes);", i, pointers, type->rank);
        line(out, 1, "to[%u].p = &part%u->head;", i, i);
    }
    line(out, 1, "const int64_t count = ct_words(part0);");
    line(out, 1, "if (count > 0 && from->data == NULL) ct_export_wrong(o, \"NULL for an array\");");
    line(out, 1, "for (int64_t i = 0; i < count; i++) {");
    line(out, 2, "ct_word fields[%u];", arrays->count);
    ct_emit_export_put_in(out, flow, 2, type->element, "from->data[i]", "fields", 0);
    for (uint32_t i = 0; i < arrays->count; i++) line(out, 2, "part%u->data[i] = fields[%u];", i, i);
    line(out, 1, "}");
}

static void put_array_items(CtText *out, CtFlow *flow, const ExportType *type) {
    const CtFlowTypes *arrays = ct_flow_types(flow, type->type);
    line(out, 1, "const int64_t count = ct_words((const ct_array *)from[0].p);");
    if (ct_emit_export_is_lent(type)) {
        line(out, 1, "(void)o;");
        line(out, 1,
             "if (count > 0) memcpy(items, ((const ct_array *)from[0].p)->data, (size_t)count * sizeof *items);");
        return;
    }
    line(out, 1, "ct_enter(&o->run);");
    line(out, 1, "for (int64_t i = 0; i < count; i++) {");
    line(out, 2, "ct_word fields[%u];", arrays->count);
    for (uint32_t i = 0; i < arrays->count; i++)
        line(out, 2, "fields[%u] = ((const ct_array *)from[%u].p)->data[i];", i, i);
    ct_emit_export_put_out(out, flow, 2, type->element, "fields", 0, "items[i]");
    line(out, 1, "}");
}

/* ---- sequences that the state owns ---- */

static void put_sequence_out(CtText *out, CtFlow *flow, const ExportType *type) {
    if (type->kind == EXPORT_LIST) {
        uint32_t tag, tail;
        cell_of(flow, type, &tag, &tail);
        line(out, 1, "to->size = ct_export_length(from[0].p, %u, %u);", tag, tail);
        line(out, 1, "to->data = ct_export_memory(o, to->size, sizeof *to->data);");
        line(out, 1, "items_%s(o, from, to->data);", type->name);
        return;
    }
    for (uint32_t i = 0; i < type->rank; i++)
        line(out, 1, "to->%s = ct_export_size(from[0].p, %u);", ct_emit_export_size_name(out->arena, type->rank, i), i);
    if (ct_emit_export_is_lent(type)) {
        line(out, 1, "to->data = ct_export_data(o, from[0].p);");
        return;
    }
    line(out, 1, "to->data = ct_export_memory(o, (size_t)ct_words((const ct_array *)from[0].p), sizeof *to->data);");
    line(out, 1, "items_%s(o, from, to->data);", type->name);
}

/* ---- all of them ---- */

static bool is_sequence(const ExportType *type) { return type->kind == EXPORT_ARRAY || type->kind == EXPORT_LIST; }

static void put_in(const char *prefix, CtText *out, CtFlow *flow, const ExportType *type, bool body) {
    line(out, 0, "static void in_%s(ct_export *o, const %s_%s *from, ct_word *to)%s", type->name, prefix, type->name,
         body ? " {" : ";");
    if (!body) return;
    if (type->kind == EXPORT_ARRAY) put_array_in(out, flow, type);
    if (type->kind == EXPORT_LIST) put_list_in(out, flow, type);
    if (type->kind == EXPORT_STRUCT) put_struct_in(out, flow, type);
    if (type->kind == EXPORT_VARIANT) put_variant_in(out, flow, type);
    line(out, 0, "}\n");
}

static void put_items(CtText *out, CtFlow *flow, const ExportType *type, bool body) {
    line(out, 0, "static void items_%s(ct_export *o, const ct_word *from, %s*items)%s", type->name, type->element->cell,
         body ? " {" : ";");
    if (!body) return;
    if (type->kind == EXPORT_LIST)
        put_list_items(out, flow, type);
    else
        put_array_items(out, flow, type);
    line(out, 0, "}\n");
}

static void put_out(const char *prefix, CtText *out, CtFlow *flow, const ExportType *type, bool body) {
    line(out, 0, "static void out_%s(ct_export *o, const ct_word *from, %s*to)%s", type->name, type->cell,
         body ? " {" : ";");
    if (!body) return;
    if (is_sequence(type)) put_sequence_out(out, flow, type);
    if (type->kind == EXPORT_STRUCT) put_struct_out(out, flow, type);
    if (type->kind == EXPORT_VARIANT) put_variant_out(out, flow, type, prefix);
    line(out, 0, "}\n");
}

static void put_all(ExportTypes *types, CtFlow *flow, CtText *out, bool bodies) {
    for (uint32_t i = 0; i < types->ordered.count; i++) {
        const ExportType *type = types->ordered.items[i];
        if (type->kind == EXPORT_ENUM) continue;
        if (type->goes_in) put_in(types->prefix, out, flow, type, bodies);
        if (type->comes_out && is_sequence(type)) put_items(out, flow, type, bodies);
        if (type->comes_out) put_out(types->prefix, out, flow, type, bodies);
    }
    if (!bodies) ct_text_putc(out, '\n');
}

void ct_emit_export_put_conversions(ExportTypes *types, CtFlow *flow, CtText *out) {
    ct_text_puts(out, "/* Values of the caller's, and words of a run. */\n"
                      "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wunused-function\"\n\n");
    put_all(types, flow, out, false);
    put_all(types, flow, out, true);
    ct_text_puts(out, "#pragma GCC diagnostic pop\n\n");
}
