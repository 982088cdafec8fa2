/* Writes a program as one C file. */
#include "base/rules.h"
#include "flow/analysis/analysis.h"
#include "emit/runtime.h"

extern const char ct_vector_h[], ct_scalar_h[], ct_debug_h[], ct_run_h[], ct_array_h[], ct_simd_h[], ct_product_h[],
    ct_threads_h[], ct_text_h[], ct_export_h[]; /* the files of src/rt, as strings */

static void put_results(Emit *e, CtText *out) {
    for (uint32_t i = 0; i < e->results.count; i++) {
        const CtFlowTypes *types = e->results.items[i];
        ct_text_puts(out, "typedef struct {\n");
        for (uint32_t j = 0; j < types->count; j++)
            ct_text_printf(out, "    %sv%u;\n", ct_emit_type(types->items[j]), j);
        ct_text_printf(out, "} %sresults_%u;\n", e->prefix, i + 1);
    }
    ct_text_putc(out, '\n');
}

/* Writes the results of a call to words from `to` on. */
static void put_words(Emit *e, const CtFlowFunction *function, const char *call, const char *to, uint32_t first) {
    uint32_t count = function->results.count;
    const char *type = ct_emit_result_type(e, &function->results);
    bool star = type[strlen(type) - 1] == '*' || type[strlen(type) - 1] == ' ';
    ct_text_printf(e->out, "    %s%sr = %s;\n", type, star ? "" : " ", call);
    for (uint32_t i = 0; i < count; i++) {
        const char *value = count == 1 ? "r" : ct_format(e->arena, "r.v%u", i);
        bool object = ct_flow_is_object(function->results.items[i]);
        ct_text_printf(e->out, object ? "    %s[%u].%c = &%s->head;\n" : "    %s[%u].%c = %s;\n", to, first + i,
                       ct_emit_letter(function->results.items[i]), value);
    }
}

static void put_constant(Emit *e, const CtFlowConstant *constant) {
    const CtFlowFunction *function = constant->function;
    const char *message = ct_format(e->arena, "the value of `%s` depends on itself", constant->name);
    ct_text_printf(e->out, "static const ct_word *%sconstant_%u(ct_run *rt, int place) {\n", e->prefix, constant->id);
    ct_text_printf(e->out, "    ct_word *at = rt->constants + %u; /* state: 0 new, 1 being evaluated, 2 known */\n",
                   constant->word);
    ct_text_puts(e->out, "    if (at[0].i == 2) return at + 1;\n");
    ct_text_printf(e->out, "    if (at[0].i == 1) ct_fail(rt, place, 509, \"%%s\", %s);\n",
                   ct_emit_string_literal(e->arena, message));
    ct_text_puts(e->out, "    at[0].i = 1;\n");
    const char *call =
        ct_format(e->arena, "%s(rt%s)", e->function_names[function->id], function->takes_call_site ? ", place" : "");
    put_words(e, function, call, "at", 1);
    ct_text_puts(e->out, "    at[0].i = 2;\n    return at + 1;\n}\n\n");
}

static void put_entry(Emit *e, const char *name, const char *linkage) {
    const CtFlowFunction *entry = e->flow->entry;
    CtText call = ct_text(e->arena);
    ct_text_printf(&call, "%s(rt%s", e->function_names[entry->id], entry->takes_call_site ? ", 0" : "");
    for (uint32_t i = 0; i < entry->params.count; i++) {
        const CtFlowType *type = entry->params.items[i]->type;
        const char *cast = ct_flow_is_object(type) ? ct_format(e->arena, "(%s)", ct_emit_type(type)) : "";
        ct_text_printf(&call, ", %sin[%u].%c", cast, i, ct_emit_letter(type));
    }
    ct_text_putc(&call, ')');
    ct_text_printf(e->out, "%svoid %s(ct_run *rt, const ct_word *in, ct_word *out) {\n", linkage, name);
    if (entry->params.count == 0) ct_text_puts(e->out, "    (void)in;\n");
    put_words(e, entry, call.data, "out", 0);
    ct_text_puts(e->out, "}\n");
}

/* Of functions, counted with the rules (base/rules.h): C that does more than it has to is longer. */
static CtRule lines = {.name = "c.lines"};

static void put_program(CtText *out, CtFlow *flow, const char *prefix, const char *entry, const char *linkage,
                        CtEmitOptions options) {
    Emit *e = CT_NEW(flow->arena, Emit);
    CtText prototypes = ct_text(flow->arena), functions = ct_text(flow->arena);
    *e = (Emit){.flow = flow, .arena = flow->arena, .out = &functions, .prefix = prefix, .exact = options.exact};
    e->one_by_one = options.scalar;
    e->debug = options.debug;
    e->telling = ct_flow_telling(flow);
    ct_emit_find_pauses(e);
    e->parts = ct_text(flow->arena);
    ct_emit_function_names(e);
    for (uint32_t i = 0; i < flow->functions.count; i++) ct_emit_function(e, flow->functions.items[i]);
    for (uint32_t i = 0; i < flow->constants.count; i++) put_constant(e, flow->constants.items[i]);
    put_entry(e, entry, linkage);
    e->out = &prototypes;
    ct_emit_prototypes(e);
    put_results(e, out);
    ct_text_add(out, prototypes.data, prototypes.length);
    ct_text_putc(out, '\n');
    ct_text_add(out, functions.data, functions.length);
    uint64_t ends = 0;
    for (size_t i = 0; i < functions.length; i++) ends += functions.data[i] == '\n';
    ct_rule_counted(&lines, ends);
}

static void put_head(CtText *out, const char *header, CtEmitOptions options, const char *programs) {
    ct_text_puts(out, "/* Written by Cotan. */\n#ifndef _DEFAULT_SOURCE\n#define _DEFAULT_SOURCE 1\n#endif\n\n");
    if (header != NULL) ct_text_printf(out, "#include \"%s.h\"\n\n", header);
    ct_text_puts(out,
                 "/* What the program needs of what all programs share. */\n"
                 "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wunused-function\"\n"
                 "#ifdef __clang__\n#pragma GCC diagnostic ignored \"-Wunneeded-internal-declaration\"\n#endif\n\n");
    if (options.exact) ct_text_puts(out, "#define CT_MATH_EXACT 1\n");
    if (options.debug) ct_text_puts(out, "#define CT_DEBUG_MEMORY 1\n");
    const char *const behind[] = {
        ct_run_h, ct_array_h, ct_simd_h, ct_threads_h, ct_product_h, ct_text_h, header != NULL ? ct_export_h : NULL};
    const char *files[12] = {ct_vector_h, ct_scalar_h, ct_debug_h};
    uint32_t before = options.debug ? 3 : 2;
    memcpy(files + before, behind, sizeof behind);
    files[before + sizeof behind / sizeof *behind] = NULL;
    ct_emit_carried(out, out->arena, files, before + 1, programs, options.outside && !options.debug);
    if (options.outside && options.debug)
        ct_text_puts(out, "extern const ct_outside cotan_outside[];\n"
                          "const ct_outside cotan_outside[] = {{NULL, NULL}};\n"
                          "extern const bool cotan_counts_blocks;\nconst bool cotan_counts_blocks = true;\n\n");
    ct_text_puts(out, "#pragma GCC diagnostic pop\n\n");
    if (strstr(programs, "CT_LANES") != NULL)
        ct_text_puts(out, "#pragma GCC diagnostic ignored \"-Wpsabi\" /* no vector is seen from outside */\n\n");
}

void ct_emit_part(CtText *out, CtFlow *flow, const char *prefix, bool exact) {
    put_program(out, flow, prefix, ct_format(flow->arena, "%sentry", prefix), "static ",
                (CtEmitOptions){.exact = exact});
}

void ct_emit_begin(CtText *out, const char *header, bool exact, const char *rest) {
    put_head(out, header, (CtEmitOptions){.exact = exact}, rest);
}

void ct_emit_program(CtText *out, CtFlow *flow, CtEmitOptions options) {
    CtText program = ct_text(flow->arena);
    ct_text_printf(&program, "extern const int64_t cotan_constant_words;\nconst int64_t cotan_constant_words = %u;\n",
                   flow->constant_words);
    if (!options.outside) ct_text_puts(&program, "/* A run begins and ends with ct_run_clear. */\n");
    ct_text_puts(&program, "void cotan_entry(ct_run *rt, const ct_word *in, ct_word *out);\n\n");
    put_program(&program, flow, "", "cotan_entry", "", options);
    put_head(out, NULL, options, program.data);
    ct_text_add(out, program.data, program.length);
}
