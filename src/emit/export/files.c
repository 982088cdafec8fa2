/* The two files of a compiled program: what stands around its functions. */
#include "emit/export/internal.h"

/* Writes a text in which NAME stands for the function's name. */
static void put_named(CtText *out, const char *text, const char *name) {
    for (const char *next; (next = strstr(text, "NAME")) != NULL; text = next + 4) {
        ct_text_add(out, text, (size_t)(next - text));
        ct_text_puts(out, name);
    }
    ct_text_puts(out, text);
}

static const char header_begin[] =
    "/* Written by Cotan. Compile the file beside it as C11, and link with -lm.\n"
    " *\n"
    " * Arguments are borrowed for the call. Arrays are row-major. Results are written to where the pointers say, and "
    "not\n"
    " * where these are NULL. A derivative by an array or list has as many elements as that; the caller gives memory "
    "for "
    "them.\n"
    " * All else that results point to belongs to the run, and lives until the next call with it, or NAME_close. */\n"
    "#ifndef COTAN_NAME_H\n"
    "#define COTAN_NAME_H\n\n"
    "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n\n"
    "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
    "typedef struct NAME_error {\n"
    "    int code;         /* 0: none; 501: E0501 of `cotan explain E0501` */\n"
    "    int line, column; /* in the program, from 1; 0: nowhere, or in another module */\n"
    "    char message[240];\n"
    "} NAME_error;\n\n"
    "/* What calls share: memory, and what the program's constants are. Begin with {0}. One thread uses it at a time;\n"
    " * threads may have one each. Where it is NULL, a call has one of its own. */\n"
    "typedef struct NAME_run {\n"
    "    size_t memory; /* bytes that a call may use at most; 0: no limit */\n"
    "    size_t stack;  /* bytes of the thread's stack that a call may use; 0: 4 MiB. Deeper recursion is error 801 "
    "*/\n"
    "    struct NAME_state *state;\n";

static const char header_trace[] =
    "    /* Gets the program's messages (Debug.Trace) in their order; NULL, as at first: nobody does. `message` is "
    "UTF-8 "
    "and\n"
    "     * NUL-terminated, and lives for the call only. Where it is NULL, `fraction` of the work is done, from 0 to "
    "1.\n"
    "     * The function may not use the run. */\n"
    "    void (*trace)(void *trace_data, const char *message, size_t length, double fraction);\n"
    "    void *trace_data;\n";

static const char header_run_end[] = "} NAME_run;\n\n";

static const char header_end[] = "/* Frees what the run holds; it can be used again. */\n"
                                 "void NAME_close(NAME_run *run);\n\n"
                                 "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";

/* What a state holds to make messages, and how they get to the caller. */
static const char source_told[] =
    "typedef struct ct_export_told {\n"
    "    ct_effects effects; /* first: ct_export_tell gets its address */\n"
    "    const NAME_run *run;\n"
    "} ct_export_told;\n\n"
    "static bool ct_export_tell(ct_effects *effects, int64_t what) {\n"
    "    const NAME_run *run = ((ct_export_told *)(void *)effects)->run;\n"
    "    if (!ct_request(effects, what >= 0 ? what : 0)) return false; /* behind the text, a NUL */\n"
    "    if (what >= 0) return true;\n"
    "    const bool is_fraction = what == -2;\n"
    "    run->trace(run->trace_data, is_fraction ? NULL : effects->request, is_fraction ? 0 : effects->length - 1,\n"
    "        is_fraction ? strtod(effects->request, NULL) : 0);\n"
    "    effects->length = 0;\n"
    "    return true;\n"
    "}\n\n";

static const char source_state[] = "struct NAME_state {\n"
                                   "    ct_export outer;\n"
                                   "    ct_word constants[CONSTANT_WORDS + 1];\n";

static const char source_begin[] =
    "};\n\n"
    "struct place {\n"
    "    int line, column;\n"
    "};\n\n"
    "/* The state of a run, made when it is needed first; or a new one, in `own`. */\n"
    "static CT_APART struct NAME_state *begin(NAME_run *run, struct NAME_state *own, int first_constant) {\n"
    "    struct NAME_state *state = run == NULL ? own : run->state;\n"
    "    if (state == NULL) state = malloc(sizeof *state);\n"
    "    if (state == NULL) return NULL;\n"
    "    if (run == NULL || run->state == NULL) {\n"
    "        memset(state, 0, sizeof *state);\n"
    "        ct_run_clear(&state->outer.run);\n"
    "    }\n"
    "    if (run != NULL) run->state = state;\n"
    "    state->outer.run.constants = state->constants + first_constant;\n"
    "    state->outer.run.all_constants = state->constants;\n"
    "    state->outer.run.constant_words = CONSTANT_WORDS;\n"
    "    ct_export_begin(&state->outer, run == NULL ? 0 : run->memory, run == NULL ? 0 : run->stack);\n";

static const char source_listen[] = "    const bool listens = run != NULL && run->trace != NULL;\n"
                                    "    state->told.effects.trace = ct_export_tell;\n"
                                    "    state->told.effects.length = 0;\n"
                                    "    state->told.run = run;\n"
                                    "    state->outer.run.effects = listens ? &state->told.effects : NULL;\n";

static const char source_calls[] =
    "    return state;\n"
    "}\n\n"
    "static NAME_error error_of(int code, struct place at, const char *message) {\n"
    "    NAME_error error;\n"
    "    error.code = code;\n"
    "    error.line = at.line;\n"
    "    error.column = at.column;\n"
    "    snprintf(error.message, sizeof error.message, \"%s\", message);\n"
    "    return error;\n"
    "}\n\n"
    "static NAME_error ended(const NAME_run *run, struct NAME_state *state) {\n"
    "    if (run == NULL) ct_export_clear(&state->outer);\n"
    "    NAME_error none;\n"
    "    none.code = none.line = none.column = 0;\n"
    "    none.message[0] = '\\0';\n"
    "    return none;\n"
    "}\n\n"
    "static NAME_error failed(const NAME_run *run, struct NAME_state *state, const struct place *places, size_t count) "
    "{\n"
    "    const ct_run *rt = &state->outer.run;\n"
    "    const size_t site = (size_t)rt->site;\n"
    "    const struct place nowhere = {0, 0};\n"
    "    NAME_error error = error_of(rt->code, site < count ? places[site] : nowhere, rt->message);\n"
    "    ct_export_clear(&state->outer);\n"
    "    if (run != NULL) memset(state->constants, 0, sizeof state->constants);\n"
    "    return error;\n"
    "}\n\n"
    "static NAME_error no_memory(void) {\n"
    "    const struct place nowhere = {0, 0};\n"
    "    return error_of(801, nowhere, \"there is no memory\");\n"
    "}\n\n";

static const char source_no_run[] =
    "static NAME_error no_run(void) {\n"
    "    const struct place nowhere = {0, 0};\n"
    "    return error_of(601, nowhere, \"the run is NULL, but results point to what it owns\");\n"
    "}\n\n";

static const char source_close[] = "void NAME_close(NAME_run *run) {\n"
                                   "    if (run == NULL || run->state == NULL) return;\n"
                                   "    ct_export_clear(&run->state->outer);\n";

static const char source_free_told[] = "    free(run->state->told.effects.request);\n";

static const char source_end[] = "    free(run->state);\n"
                                 "    run->state = NULL;\n"
                                 "}\n";

void ct_emit_export_write(CtExport *export, CtText *source, CtText *header) {
    const char *name = export->function;
    put_named(header, header_begin, name);
    if (export->tells) ct_text_puts(header, header_trace);
    put_named(header, header_run_end, name);
    ct_text_puts(header, export->types.data);
    ct_text_puts(header, export->prototypes.data);
    put_named(header, header_end, name);
    CtText stem = ct_text(export->arena);
    for (const char *c = export->stem; *c != '\0'; c++)
        ct_text_putc(&stem, *c == '"' || *c == '\\' || *c == '\n' ? '_' : *c);
    CtText rest = ct_text(export->arena);
    ct_text_puts(&rest, export->programs.data);
    ct_text_puts(&rest, export->conversions.data);
    ct_text_printf(&rest, "enum { CONSTANT_WORDS = %u };\n\n", export->constants);
    if (export->tells) put_named(&rest, source_told, name);
    put_named(&rest, source_state, name);
    if (export->tells) ct_text_puts(&rest, "    ct_export_told told;\n");
    put_named(&rest, source_begin, name);
    if (export->tells) ct_text_puts(&rest, source_listen);
    put_named(&rest, source_calls, name);
    if (strstr(export->functions.data, "no_run()") != NULL) put_named(&rest, source_no_run, name);
    ct_text_puts(&rest, export->functions.data);
    put_named(&rest, source_close, name);
    if (export->tells) ct_text_puts(&rest, source_free_told);
    put_named(&rest, source_end, name);
    ct_emit_begin(source, stem.data, export->exact, rest.data);
    ct_text_add(source, rest.data, rest.length);
}
