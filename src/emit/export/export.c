/* The functions that a compiled program exports. */
#include "emit/export/internal.h"

/* For each mode, the suffix of the exported function's name, and the prefix of its internal names. */
static const struct {
    const char *suffix, *prefix, *what;
} modes[EXPORT_MODE_COUNT] = {
    {"", "value_", "The value."},
    {"_grad", "grad_", "The value, and the derivatives by the arguments."},
    {"_vjp", "vjp_", "The value, and the cotangents of the arguments that a cotangent of the value gives."},
    {"_jvp", "jvp_", "The value, and its tangent along those of the arguments."},
};

/* A C expression for a value, as source or destination; or the expressions of a tuple's parts. */
typedef struct Place {
    const ExportType *type;
    const CtType *core;
    const char *text;
    struct Place *parts;
    uint32_t count;
    bool items; /* the destination of an array's elements */
} Place;

typedef struct Part { /* one C function while it is written */
    CtExport *export;
    CtFlow *flow;
    CtExportMode mode;
    ExportTypes types;
    ExportType **arguments, *result;
    ExportNames names;     /* of parameters */
    CtText params, passed; /* such as "const double *xs, size_t xs_size" and "xs, xs_size" */
    CtText in, out;        /* statements */
    bool needs_run;        /* results may point to memory of the run */
    uint32_t temporaries;
} Part;

const char *ct_emit_export_name(CtArena *arena, const char *prefix, const char *function) {
    return ct_format(arena, "%s%s", prefix, ct_emit_plain(arena, function));
}

CtExport *ct_emit_export_new(CtArena *arena, const char *stem, const char *prefix, const char *function,
                             const char *const *params, uint32_t arity, uint32_t mode_bits, bool exact) {
    CtExport *export = CT_NEW(arena, CtExport);
    const char *name = ct_emit_export_name(arena, prefix, function);
    *export =
        (CtExport){.arena = arena, .stem = stem, .params = params, .arity = arity, .modes = mode_bits, .exact = exact};
    export->function = ct_emit_export_is_taken(name) ? ct_format(arena, "cotan_%s", name) : name;
    CtText *texts[] = {&export->types, &export->prototypes, &export->conversions, &export->programs,
                       &export->functions};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = ct_text(arena);
        ct_text_puts(texts[i], "");
    }
    return export;
}

/* ---- parameters ---- */

static const char *add_param(Part *part, const char *type, const char *name) {
    const char *plain = ct_emit_plain(part->export->arena, name);
    /* Names of ours are called in the body. */
    if (ct_emit_export_is_own(plain)) plain = ct_format(part->export->arena, "its_%s", plain);
    const char *own = ct_emit_export_unique(&part->names, plain);
    ct_text_printf(&part->params, ", %s%s", type, own);
    ct_text_printf(&part->passed, ", %s", own);
    return own;
}

static bool is_sequence(const ExportType *type) { return type->kind == EXPORT_ARRAY || type->kind == EXPORT_LIST; }

/* Adds an array parameter as a pointer and its sizes. `like`: existing size parameters that it shares; set to its own
 * otherwise. */
static const char *add_sequence(Part *part, const ExportType *type, const char *name, const char **like) {
    CtArena *arena = part->export->arena;
    CtText value = ct_text(arena);
    uint32_t rank = type->kind == EXPORT_LIST ? 1 : type->rank;
    const char *data = add_param(part, ct_format(arena, "const %s*", type->element->cell), name);
    ct_text_printf(&value, "(%s_%s){(%s*)%s", part->types.prefix, type->name, type->element->cell, data);
    bool given = like[0] != NULL;
    for (uint32_t i = 0; i < rank; i++) {
        const char *size = ct_format(arena, "%s_%s", name, ct_emit_export_size_name(arena, rank, i));
        if (!given) like[i] = add_param(part, "size_t ", size);
        ct_text_printf(&value, ", %s", like[i]);
    }
    ct_text_puts(&value, "}");
    return value.data;
}

enum { MOST_DIMENSIONS = 64 };

/* Adds an argument; returns its value as an expression. */
static const char *add_in(Part *part, const ExportType *type, const char *name, const char **sizes) {
    CtArena *arena = part->export->arena;
    if (is_sequence(type)) return add_sequence(part, type, name, sizes);
    switch (type->kind) {
    case EXPORT_STRUCT:
        return ct_format(arena, "*%s", add_param(part, ct_format(arena, "const %s*", type->cell), name));
    case EXPORT_VARIANT:
    case EXPORT_TEXT: return add_param(part, ct_format(arena, "const %s", type->cell), name);
    case EXPORT_SCALAR:
    case EXPORT_ENUM:
    case EXPORT_ARRAY:
    case EXPORT_LIST: break;
    }
    return add_param(part, type->cell, name);
}

/* The destination of a result. */
static Place out_place(Part *part, const ExportType *type, const char *name) {
    CtArena *arena = part->export->arena;
    const char *param = add_param(part, ct_format(arena, "%s*", type->cell), name);
    part->needs_run |= ct_emit_export_points(type);
    return (Place){.type = type, .core = type->type, .text = param};
}

/* The destination of a derivative by an argument. For an array it is memory of the caller, of the argument's size. */
static Place derivative_place(Part *part, const ExportType *type, const char *name) {
    if (!ct_emit_export_has_real(type)) return (Place){.type = type, .core = type->type};
    if (!is_sequence(type)) return out_place(part, type, name);
    CtArena *arena = part->export->arena;
    const char *param = add_param(part, ct_format(arena, "%s*", type->element->cell), name);
    part->needs_run |= ct_emit_export_points(type->element);
    return (Place){.type = type, .core = type->type, .text = param, .items = true};
}

/* ---- values in and out ---- */

static void line(CtText *out, int depth, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void line(CtText *out, int depth, const char *format, ...) {
    va_list list;
    va_start(list, format);
    for (int i = 0; i < depth; i++) ct_text_puts(out, "    ");
    ct_text_puts(out, ct_format_list(out->arena, format, list));
    ct_text_putc(out, '\n');
    va_end(list);
}

/* The constructor of a tuple that is a node; NULL if its parts are separate words. */
static const CtFlowCon *wide_tuple(Part *part, const CtType *type) {
    CtType *const *parts;
    uint32_t count;
    return ct_flow_parts(part->flow, type, &parts, &count) ? NULL : &ct_flow_node(part->flow, type)->data->cons[0];
}

static void put_in(Part *part, const Place *place, const char *to, uint32_t at) {
    if (place->parts == NULL) {
        ct_emit_export_put_in(&part->in, part->flow, 1, place->type, place->text, to, at);
        return;
    }
    CtArena *arena = part->export->arena;
    const CtFlowCon *wide = wide_tuple(part, place->core);
    const char *words = wide != NULL ? ct_format(arena, "ct_wide%u", ++part->temporaries) : to;
    uint32_t from = wide != NULL ? 0 : at;
    if (wide != NULL) line(&part->in, 1, "ct_word %s[%u];", words, wide->fields.count);
    for (uint32_t i = 0; i < place->count; i++) {
        put_in(part, &place->parts[i], words, from);
        from += ct_flow_types(part->flow, place->parts[i].core)->count;
    }
    if (wide == NULL) return;
    line(&part->in, 1, "{");
    ct_emit_export_put_node(&part->in, 2, wide, 0, words, ct_format(arena, "%s[%u].p", to, at));
    line(&part->in, 1, "}");
}

static void put_out(Part *part, const Place *place, const char *from, uint32_t at) {
    CtArena *arena = part->export->arena;
    if (place->parts == NULL) {
        if (place->text == NULL) return;
        if (place->items) {
            const char *words = at == 0 ? from : ct_format(arena, "%s + %u", from, at);
            line(&part->out, 1, "if (%s != NULL) items_%s(o, %s, %s);", place->text, place->type->name, words,
                 place->text);
            return;
        }
        ct_text_printf(&part->out, "    if (%s != NULL) ", place->text);
        ct_emit_export_put_out(&part->out, part->flow, 0, place->type, from, at, ct_format(arena, "*%s", place->text));
        return;
    }
    const CtFlowCon *wide = wide_tuple(part, place->core);
    const char *words = from;
    uint32_t next = at;
    if (wide != NULL) {
        words = ct_format(arena, "ct_wide%u", ++part->temporaries);
        next = 0;
        ct_emit_export_put_fields(&part->out, 1, wide, ct_format(arena, "%s[%u].p", from, at), words);
    }
    for (uint32_t i = 0; i < place->count; i++) {
        put_out(part, &place->parts[i], words, next);
        next += ct_flow_types(part->flow, place->parts[i].core)->count;
    }
}

/* The arguments as one value: none, one, or a tuple. */
static Place group(Part *part, Place *places, const CtType *core) {
    if (part->export->arity == 1) return places[0];
    return (Place){.core = core, .parts = places, .count = part->export->arity};
}

static Place pair(Part *part, const CtType *core, Place first, Place second) {
    Place *both = CT_NEW_ARRAY(part->export->arena, Place, 2);
    both[0] = first;
    both[1] = second;
    return (Place){.core = core, .parts = both, .count = 2};
}

typedef const char *Sizes[MOST_DIMENSIONS];

/* Adds the arguments; `sizes` records their size parameters. */
static Place take_point(Part *part, const CtType *core, Sizes *sizes) {
    uint32_t arity = part->export->arity;
    Place *places = CT_NEW_ARRAY(part->export->arena, Place, arity + 1);
    for (uint32_t i = 0; i < arity; i++) {
        const ExportType *type = part->arguments[i];
        places[i] = (Place){.type = type, .core = type->type};
        places[i].text = add_in(part, type, part->export->params[i], sizes[i]);
    }
    return group(part, places, core);
}

/* Adds the tangents of the arguments, with the same sizes. For an argument without reals, it is the argument itself. */
static Place take_tangents(Part *part, const CtType *core, const Place *point, Sizes *sizes) {
    uint32_t arity = part->export->arity;
    Place *places = CT_NEW_ARRAY(part->export->arena, Place, arity + 1);
    for (uint32_t i = 0; i < arity; i++) {
        places[i] = arity == 1 ? *point : point->parts[i];
        if (!ct_emit_export_has_real(places[i].type)) continue;
        const char *name = ct_format(part->export->arena, "%s_tangent", part->export->params[i]);
        places[i].text = add_in(part, places[i].type, name, sizes[i]);
    }
    return group(part, places, core);
}

static Place give_derivatives(Part *part, const CtType *core, const char *suffix) {
    uint32_t arity = part->export->arity;
    Place *places = CT_NEW_ARRAY(part->export->arena, Place, arity + 1);
    for (uint32_t i = 0; i < arity; i++)
        places[i] = derivative_place(part, part->arguments[i],
                                     ct_format(part->export->arena, "%s%s", part->export->params[i], suffix));
    return group(part, places, core);
}

/* Adds the parameters of a mode: its inputs, then its outputs. */
static void put_signature(Part *part, const CtType *input, const CtType *result) {
    Sizes *sizes = CT_NEW_ARRAY(part->export->arena, Sizes, part->export->arity + 1);
    Sizes cotangent_sizes = {NULL};
    bool derivative = part->mode != EXPORT_VALUE, two = part->mode == EXPORT_VJP || part->mode == EXPORT_JVP;
    const CtType *point_type = two ? input->parts[0] : input;
    if (part->export->arity > 0) {
        Place in = take_point(part, point_type, sizes), with = {0};
        if (part->mode == EXPORT_JVP) with = take_tangents(part, point_type, &in, sizes);
        if (part->mode == EXPORT_VJP) {
            with = (Place){.type = part->result, .core = part->result->type};
            with.text = add_in(part, part->result, "cotangent", cotangent_sizes);
        }
        if (two) in = pair(part, input, in, with);
        put_in(part, &in, "in", 0);
    }
    Place out = out_place(part, part->result, derivative ? "value" : "result");
    if (part->mode == EXPORT_GRAD) out = pair(part, result, out, give_derivatives(part, point_type, "_grad"));
    if (part->mode == EXPORT_VJP) out = pair(part, result, out, give_derivatives(part, point_type, "_cotangent"));
    if (part->mode == EXPORT_JVP) out = pair(part, result, out, out_place(part, part->result, "tangent"));
    put_out(part, &out, "out", 0);
}

/* ---- functions ---- */

/* The lines and columns of sites; 0 for those in other modules. */
static void put_places(Part *part, CtText *out) {
    CtFlow *flow = part->flow;
    ct_text_printf(out, "static const struct place places%s[] = {", modes[part->mode].suffix);
    for (uint32_t i = 0; i < flow->sites.count; i++) {
        CtSourceRange range = flow->sites.items[i];
        uint32_t at_line = 0, column = 0;
        if (range.source == 1) ct_source_position(flow->core->context, range.source, range.start, &at_line, &column);
        ct_text_printf(out, "%s{%u, %u}", i == 0 ? "" : i % 10 == 0 ? ",\n    " : ", ", at_line, column);
    }
    if (flow->sites.count == 0) ct_text_puts(out, "{0, 0}");
    ct_text_puts(out, "};\n\n");
}

enum { COLUMNS = 110 };

/* Writes parameters or arguments, with line breaks. */
static void put_list(CtText *out, uint32_t column, const char *text) {
    while (*text != '\0') {
        const char *comma = strstr(text + 1, ", ");
        uint32_t length = comma != NULL ? (uint32_t)(comma - text) : (uint32_t)strlen(text);
        if (column + length > COLUMNS) {
            ct_text_puts(out, ",\n        ");
            column = 8;
            text += 2;
            length -= 2;
        }
        ct_text_add(out, text, length);
        column += length;
        text += length;
    }
}

/* Writes TYPE NAME(FIRST, …, a function's head without its end. */
static void put_head(Part *part, CtText *out, const char *type, const char *begin, const char *first) {
    const char *head = ct_format(part->export->arena, "%s%s%s%s(%s", type, begin, part->export->function,
                                 modes[part->mode].suffix, first);
    ct_text_puts(out, head);
    put_list(out, (uint32_t)strlen(head), part->params.data);
    ct_text_puts(out, ")");
}

/* Writes the inner function: converts the arguments, calls the program, converts the results. */
static void put_work(Part *part, CtText *out) {
    const CtFlowFunction *entry = part->flow->entry;
    put_head(part, out, "static CT_APART void ", "work_", "ct_export *o");
    ct_text_puts(out, " {\n");
    bool takes = entry->params.count > 0;
    if (takes) ct_text_printf(out, "    ct_word in[%u];\n", entry->params.count);
    ct_text_printf(out, "    ct_word out[%u];\n", entry->results.count);
    ct_text_puts(out, part->in.data);
    ct_text_printf(out, "    %sentry(&o->run, %s, out);\n", modes[part->mode].prefix, takes ? "in" : "NULL");
    for (uint32_t i = 0; i < entry->results.count; i++)
        if (ct_flow_is_object(entry->results.items[i])) ct_text_printf(out, "    ct_keep(o, out[%u].p);\n", i);
    ct_text_puts(out, part->out.data);
    ct_text_puts(out, "}\n\n");
}

static void put_function(Part *part) {
    CtExport *export = part->export;
    CtText *out = &export->functions;
    const char *name = export->function, *suffix = modes[part->mode].suffix;
    const char *error = ct_format(export->arena, "%s_error ", name),
               *run = ct_format(export->arena, "%s_run *run", name);
    put_places(part, out);
    put_work(part, out);
    put_head(part, out, error, "", run);
    ct_text_puts(out, " {\n");
    if (part->needs_run)
        ct_text_puts(out, "    if (run == NULL) return no_run();\n");
    else
        ct_text_printf(out, "    struct %s_state own;\n", name);
    ct_text_printf(out, "    struct %s_state *state = begin(run, %s, %u);\n", name, part->needs_run ? "NULL" : "&own",
                   export->constants);
    ct_text_puts(out, "    if (state == NULL) return no_memory();\n");
    ct_text_puts(out, "    if (setjmp(state->outer.run.out) != 0)\n");
    ct_text_printf(out, "        return failed(run, state, places%s, sizeof places%s / sizeof *places%s);\n", suffix,
                   suffix, suffix);
    const char *call = ct_format(export->arena, "    work_%s%s(&state->outer", name, suffix);
    ct_text_puts(out, call);
    put_list(out, (uint32_t)strlen(call), part->passed.data);
    ct_text_puts(out, ");\n    return ended(run, state);\n}\n\n");
    ct_text_printf(&export->prototypes, "/* %s%s */\n", modes[part->mode].what,
                   part->needs_run ? "\n * It needs a run, which owns what the results point to." : "");
    put_head(part, &export->prototypes, error, "", run);
    ct_text_puts(&export->prototypes, ";\n\n");
}

static bool find_types(Part *part, const CtType *point, const CtType *result) {
    CtExport *export = part->export;
    bool in = (export->modes & 1u << EXPORT_VJP) != 0,
         out = (export->modes & (1u << EXPORT_VJP | 1u << EXPORT_GRAD)) != 0;
    part->arguments = CT_NEW_ARRAY(export->arena, ExportType *, export->arity + 1);
    for (uint32_t i = 0; i < export->arity; i++) {
        part->arguments[i] = ct_emit_export_type(&part->types, export->arity == 1 ? point : point->parts[i]);
        if (part->arguments[i] == NULL) return false;
        ct_emit_export_goes(part->arguments[i], true, out);
    }
    part->result = ct_emit_export_type(&part->types, result);
    if (part->result == NULL) return false;
    ct_emit_export_goes(part->result, in, true);
    for (uint32_t i = 0; i < export->arity; i++) ct_emit_export_order(&part->types, part->arguments[i]);
    ct_emit_export_order(&part->types, part->result);
    return part->types.refused == NULL;
}

/* Parameters must not hide the names of types and of their tags, nor what the body declares. */
static void take_type_names(Part *part) {
    const ExportTypes *types = &part->types;
    part->names.arena = part->export->arena;
    static const char *const known[] = {"run", "o", "in", "out", "own", "state", "node"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) ct_emit_export_unique(&part->names, known[i]);
    for (uint32_t i = 0; i < types->ordered.count; i++) {
        const ExportType *type = types->ordered.items[i];
        const char *name = ct_format(types->arena, "%s_%s", types->prefix, type->name);
        ct_emit_export_unique(&part->names, name);
        if (type->kind != EXPORT_ENUM && type->kind != EXPORT_VARIANT) continue;
        for (uint32_t j = 0; j < type->con_count; j++)
            ct_emit_export_unique(&part->names, ct_format(types->arena, "%s_%s", name, type->cons[j].name));
        ct_emit_export_unique(&part->names, ct_format(types->arena, "%s_tag", name));
    }
}

const char *ct_emit_export_add(CtExport *export, CtExportMode mode, CtFlow *flow, const CtType *input,
                               const CtType *result) {
    CtArena *arena = export->arena;
    Part *part = CT_NEW(arena, Part);
    *part = (Part){.export = export, .flow = flow, .mode = mode};
    part->types =
        (ExportTypes){.arena = arena, .core = flow->core, .prefix = export->function, .names = {.arena = arena}};
    CtText *texts[] = {&part->params, &part->passed, &part->in, &part->out};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        *texts[i] = ct_text(arena);
        ct_text_puts(texts[i], "");
    }
    const CtType *point = mode == EXPORT_VJP || mode == EXPORT_JVP ? input->parts[0] : input;
    export->tells |= flow->tells_messages;
    if (!find_types(part, point, mode == EXPORT_VALUE ? result : result->parts[0])) return part->types.refused;
    take_type_names(part);
    put_signature(part, input, result);
    if (mode == EXPORT_VALUE) {
        ct_emit_export_put_types(&part->types, &export->types);
        ct_emit_export_put_conversions(&part->types, flow, &export->conversions);
    }
    ct_emit_part(&export->programs, flow, modes[mode].prefix, export->exact);
    ct_text_putc(&export->programs, '\n');
    put_function(part);
    export->constants += flow->constant_words;
    return NULL;
}
