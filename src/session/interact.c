/* The public functions for interactive work on a program: added definitions, types of expressions, names in scope. A
 * program's inputs are kept as text, and every build reads them behind the program. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "driver/embedded.h"
#include "session/session.h"

/* ---- inputs ---- */

static void input_free(CtInput *input) {
    if (!input) return;
    free((char *)input->text);
    free((char *)input->name);
    free(input);
}

static CtInput *input_new(const char *text, size_t length, const char *name) {
    CtInput *input = calloc(1, sizeof *input);
    if (!input) return NULL;
    char *copy = malloc(length + 1);
    input->text = copy;
    input->name = name ? strdup(name) : NULL;
    input->length = length;
    if (!copy || (name && !input->name)) {
        input_free(input);
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    return input;
}

static void unlink_input(cotan_program *program, CtInput *input) {
    CtInput **link = &program->inputs;
    while (*link && *link != input) link = &(*link)->next;
    if (*link) *link = input->next;
    input_free(input);
}

void ct_session_program_free_inputs(cotan_program *program) {
    while (program->inputs) unlink_input(program, program->inputs);
}

bool ct_session_program_copy_inputs(const cotan_program *program, CtInput **copies) {
    for (const CtInput *input = program->inputs; input; input = input->next) {
        *copies = input_new(input->text, input->length, input->name);
        if (!*copies) return false;
        copies = &(*copies)->next;
    }
    return true;
}

void ct_session_inputs_free(CtInput *inputs) {
    while (inputs) {
        CtInput *input = inputs;
        inputs = input->next;
        input_free(input);
    }
}

void ct_session_program_end_trial(cotan_program *program) {
    CtInput *trial = program->trial;
    program->trial = NULL;
    if (trial) unlink_input(program, trial);
}

/* Frees what was built without the newest input; the active session stays until its call ends, and those of functions
 * that the host has made stay. */
static void forget_builds(cotan_program *program) {
    CtBuild *base = program->base;
    program->base = NULL;
    ct_driver_build_free(base);
    for (CtSession *session = program->sessions, *next; session; session = next) {
        next = session->next;
        if (session != program->context->active && !session->apart) ct_session_program_forget(program, session);
    }
}

/* ---- older values of a name that nothing mentions any more ---- */

static bool is_part(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '\'';
}

static bool mentions(const char *text, const char *name) {
    size_t length = strlen(name);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at += length)
        if (!is_part(at[length]) && (at == text || !is_part(at[-1]))) return true;
    return false;
}

static bool is_needed(const CtInput *input) {
    for (const CtInput *later = input->next; later; later = later->next) {
        if (mentions(later->text, input->name)) return true;
        if (later->name && strcmp(later->name, input->name) == 0) return false;
    }
    return true;
}

static void drop_unneeded(cotan_program *program) {
    for (CtInput *input = program->inputs, *next; input; input = next) {
        next = input->next;
        if (input->name && !is_needed(input)) unlink_input(program, input);
    }
}

/* ---- adding an input ---- */

/* Adds an input (taken) to the program if the two are correct together. */
static bool try_input(cotan_program *program, CtInput *input) {
    cotan_context *context = program->context;
    if (!input) {
        ct_session_report_out_of_memory(context);
        return false;
    }
    CtInput **last = &program->inputs;
    while (*last) last = &(*last)->next;
    *last = program->trial = input;
    CtBuild *base = program->base;
    program->base = NULL;
    CtBuild *build = ct_session_program_build(program, NULL);
    program->base = base;
    if (!build) {
        ct_session_program_end_trial(program);
        return false;
    }
    program->trial = NULL;
    program->definitions++;
    forget_builds(program);
    program->base = build;
    drop_unneeded(program);
    return true;
}

typedef struct Define {
    cotan_program *program;
    const char *text;
    bool *is_expression;
    const char **types;
} Define;

static bool define(cotan_context *context, void *data) {
    Define *d = data;
    CtArena *results = ct_session_fresh_results(d->program);
    if (!results) return false;
    size_t length = strlen(d->text);
    CtContext *wrong = NULL;
    CtInputKind kind = ct_driver_input_kind(results, d->text, length, &wrong);
    if (kind == INPUT_WRONG) return ct_session_report(context, wrong);
    *d->is_expression = kind == INPUT_EXPRESSION;
    if (kind == INPUT_EXPRESSION) return true;
    if (!try_input(d->program, input_new(d->text, length, NULL))) return false;
    CtBuild *build = ct_session_program_build(d->program, NULL);
    if (!build) return false;
    context->making = build;
    CtText out = ct_text(results);
    ct_text_puts(&out, "");
    ct_driver_build_types_of_last(build, &out);
    *d->types = out.data;
    context->making = NULL;
    d->program->base = build;
    return true;
}

cotan_error *cotan_define(cotan_program *program, const char *text, bool *is_expression, const char **types) {
    Define d = {program, text, is_expression, types};
    *types = NULL;
    *is_expression = false;
    return ct_session_guarded(program->context, define, &d);
}

/* ---- values ---- */

/* Whether every value of a type can be written as an expression and read again, whatever names the program defines. */
static bool is_plain(const CtProgram *program, const CtType *type) {
    switch (type->kind) {
    case TYPE_DOUBLE:
    case TYPE_FLOAT:
    case TYPE_INT:
    case TYPE_CHAR: return true;
    case TYPE_FUN: return false;
    case TYPE_ARRAY: return is_plain(program, type->parts[0]);
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < type->count; i++)
            if (!is_plain(program, type->parts[i])) return false;
        return true;
    case TYPE_DATA:
        if (ct_core_type_is_integer(type)) return true;
        if (strcmp(type->data->name->text, "[]") != 0 || type->data->arg_count != 1) return false;
        return is_plain(program, type->data->args[0]);
    }
    return false;
}

/* A longer value is computed again from its expression where it is used; not so that of an action. */
enum { LONGEST_VALUE = 1 << 16, LONGEST_OF_ACTION = 1 << 20 };

/* The value as an expression, `value :: type`; NULL when it cannot be written so. */
static CtInput *value_input(const CtSession *session, CtArena *arena, CtWord value, const char *name) {
    if (!is_plain(session->build->program, session->value)) return NULL;
    CtText shown = ct_text(arena), text = ct_text(arena);
    ct_value_show(&shown, session->value, value);
    if (shown.length > (session->build->performs ? LONGEST_OF_ACTION : LONGEST_VALUE)) return NULL;
    if (strstr(shown.data, "NaN") || strstr(shown.data, "Infinity")) return NULL;
    ct_text_printf(&text, "%s :: ", shown.data);
    ct_core_type_print(&text, session->value);
    return input_new(text.data, text.length, name);
}

bool ct_session_may_bind(cotan_context *context, CtArena *arena, const char *name) {
    CtContext *wrong;
    bool fits = (*name >= 'a' && *name <= 'z') || *name == '_';
    for (const char *c = name; *c && fits; c++) fits = is_part(*c);
    const char *definition = ct_format(arena, "%s = 0", name);
    if (fits && ct_driver_input_kind(arena, definition, strlen(definition), &wrong) == INPUT_DECLARATIONS) return true;
    return ct_session_report_one(context, CT_E0701, NULL, "`%s` is no name for a value", name);
}

bool ct_session_program_bind(const CtCall *c, const CtSession *session, CtWord value) {
    cotan_program *program = c->program;
    const char *expression = session->entry.expression, *name = c->call->bind;
    bool performs = session->build->performs; /* the session may be gone afterwards */
    CtInput *input = value_input(session, program->results, value, name);
    if (input && try_input(program, input)) return true;
    ct_session_report_clear(program->context);
    if (performs) return c->out->is_unbound = true;
    return try_input(program, input_new(expression, strlen(expression), name));
}

/* ---- types and names ---- */

typedef struct Question {
    cotan_program *program;
    const char *text;
    const char **out;
} Question;

static bool describe_type(cotan_context *context, CtBuild *build, const void *expression, CtText *out) {
    return ct_driver_build_type_of(build, expression, out) || ct_session_report(context, &build->context);
}

static bool type_of(cotan_context *context, void *data) {
    Question *q = data;
    return ct_session_describe(context, q->program, describe_type, q->text, q->out);
}

cotan_error *cotan_type_of(cotan_program *program, const char *expression, const char **out) {
    Question q = {program, expression, out};
    *out = NULL;
    return ct_session_guarded(program->context, type_of, &q);
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* Sorted, without duplicates, one per line. */
static void put_lines(CtText *out, const char **names, size_t count) {
    if (count > 0) qsort(names, count, sizeof *names, by_text);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(names[i], names[i - 1]) != 0) ct_text_printf(out, "%s\n", names[i]);
}

static bool describe_names(cotan_context *context, CtBuild *build, const void *prefix, CtText *out) {
    (void)context;
    const char **list;
    uint32_t count = ct_types_names_in_scope(build->types, prefix, &list);
    put_lines(out, list, count);
    return true;
}

static bool names(cotan_context *context, void *data) {
    Question *q = data;
    return ct_session_describe(context, q->program, describe_names, q->text, q->out);
}

cotan_error *cotan_names(cotan_program *program, const char *prefix, const char **out) {
    Question q = {program, prefix, out};
    *out = NULL;
    return ct_session_guarded(program->context, names, &q);
}

typedef struct Definition {
    cotan_program *program;
    const char *name;
    bool all;
    const char **out;
} Definition;

static bool describe_definition(cotan_context *context, CtBuild *build, const void *of, CtText *out) {
    const Definition *d = of;
    return ct_driver_build_describe(build, d->name, d->all, out) ||
           ct_session_report_one(context, CT_E0302, NULL, "the name `%s` is not defined", d->name);
}

static bool definition(cotan_context *context, void *data) {
    Definition *d = data;
    return ct_session_describe(context, d->program, describe_definition, d, d->out);
}

cotan_error *cotan_describe(cotan_program *program, const char *name, bool all, const char **out) {
    Definition d = {program, name, all, out};
    *out = NULL;
    return ct_session_guarded(program->context, definition, &d);
}

/* ---- archives ---- */

typedef struct Members {
    cotan_program *program;
    const char *what, *bytes;
    size_t length;
    const char **out;
} Members;

static bool members(cotan_context *context, void *data) {
    Members *q = data;
    CtArena *results = ct_session_fresh_results(q->program);
    if (!results) return false;
    CtContext *diags = CT_NEW(results, CtContext);
    ct_context_init(diags, results);
    CtText out = ct_text(results);
    ct_text_puts(&out, "");
    if (!ct_io_input_parse(diags, q->what, q->bytes, q->length, context->limits.memory, &context->inputs[0]) ||
        !ct_io_input_members(diags, context->inputs[0], &out))
        return ct_session_report(context, diags);
    *q->out = out.data;
    return true;
}

cotan_error *cotan_members(cotan_program *program, const char *what, const char *bytes, size_t length,
                           const char **out) {
    Members q = {program, what, bytes, length, out};
    *out = NULL;
    return ct_session_guarded(program->context, members, &q);
}

/* ---- modules ---- */

typedef CT_VEC(const char *) Names;

static void want_module(CtArena *arena, Names *names, const char *prefix, const char *module) {
    if (strncmp(module, prefix, strlen(prefix)) == 0)
        ct_push(arena, names, ct_copy_text(arena, module, strlen(module)));
}

/* The entries of a folder, one per line, as many as fit: nothing may be allocated while the folder is open. */
static void read_folder(const char *path, char *lines, size_t size) {
    size_t length = 0;
    DIR *folder = opendir(path);
    for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        int written = snprintf(lines + length, size - length, "%s\n", entry->d_name);
        if (written < 0 || (size_t)written >= size - length) break;
        length += (size_t)written;
    }
    lines[length] = '\0';
    if (folder) closedir(folder);
}

/* Adds the modules in a folder that match a prefix: B.cot and C/ in FOLDER/A are A.B and A.C. */
static void want_files(CtArena *arena, Names *names, const char *folder, const char *prefix) {
    char lines[16384];
    const char *dot = strrchr(prefix, '.');
    int parents = dot ? (int)(dot + 1 - prefix) : 0;
    char *inside = ct_format(arena, "%.*s", parents, prefix);
    for (char *c = inside; *c; c++)
        if (*c == '.') *c = '/';
    read_folder(ct_format(arena, "%s%s%s", folder[0] ? folder : ".", "/", inside), lines, sizeof lines);
    for (char *line = lines, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        char *extension = strrchr(line, '.');
        if (*line < 'A' || *line > 'Z') continue;
        if (!extension)
            want_module(arena, names, prefix, ct_format(arena, "%.*s%s.", parents, prefix, line));
        else if (strcmp(extension, ".cot") == 0)
            want_module(arena, names, prefix,
                        ct_format(arena, "%.*s%.*s", parents, prefix, (int)(extension - line), line));
    }
}

static bool modules(cotan_context *context, void *data) {
    Question *q = data;
    CtArena *results = ct_session_fresh_results(q->program);
    if (!results) return false;
    Names names = {0};
    for (uint32_t i = 0; ct_types_standard_module_at(i); i++)
        want_module(results, &names, q->text, ct_types_standard_module_at(i));
    for (unsigned i = 0; i < ct_embedded_count; i++)
        if (ct_embedded[i].module) want_module(results, &names, q->text, ct_embedded[i].module);
    for (size_t i = 0; i < context->folder_count; i++) want_files(results, &names, context->folders[i], q->text);
    CtText out = ct_text(results);
    ct_text_puts(&out, "");
    put_lines(&out, names.items, names.count);
    *q->out = out.data;
    return true;
}

cotan_error *cotan_modules(cotan_program *program, const char *prefix, const char **out) {
    Question q = {program, prefix, out};
    *out = NULL;
    return ct_session_guarded(program->context, modules, &q);
}
