/* Errors for the public API: copies of diagnostics, so that they outlive the compilation. */
#include <stdio.h>
#include <stdlib.h>

#include "session/session.h"

static int status_of(CtErrorCode code) {
    const char *name = ct_error_name(code);
    switch (name[2]) {
    case '6':
    case '7': return 2;
    case '9': return 4;
    default: return 1;
    }
}

void ct_session_report_init(cotan_context *context) {
    static CtErrorItem item = {"E0801", "out of memory", NULL, 0, 0};
    static const char plain[] = "error[E0801]: out of memory\n";
    static const char colour[] = "\033[1;31merror[E0801]\033[0m: out of memory\n";
    static const char json[] =
        "{\"code\":\"E0801\",\"file\":null,\"line\":null,\"column\":null,\"message\":\"out of memory\"}\n";
    context->out_of_memory = (cotan_error){&item, 1, {{plain, json}, {colour, json}}, 1};
}

void ct_session_report_clear(cotan_context *context) {
    context->error = NULL;
    ct_arena_free(context->error_arena);
    context->error_arena = NULL;
}

void ct_session_report_out_of_memory(cotan_context *context) { context->error = &context->out_of_memory; }

/* Empties the list, so that the compilation can be used again. */
static void forget(CtContext *diags) {
    diags->diags = NULL;
    diags->last_diag = &diags->diags;
    diags->error_count = diags->warning_count = 0;
    ct_arena_free(diags->passing);
    diags->passing = NULL;
}

/* Copies errors with the warnings among them, or warnings only. */
static void fill(cotan_error *error, CtArena *arena, CtContext *diags, bool warnings) {
    ct_diags_in_order(diags);
    size_t count = 0;
    for (const CtDiag *diag = diags->diags; diag; diag = diag->next) count += diag->is_warning == warnings;
    error->items = CT_NEW_ARRAY(arena, CtErrorItem, count);
    CtText texts[2][2];
    for (int i = 0; i < 4; i++) texts[i / 2][i % 2] = ct_text(arena);
    for (const CtDiag *diag = diags->diags; diag; diag = diag->next) {
        bool first = diag == diags->diags;
        for (int colour = 0; colour < 2; colour++) {
            if (!first) ct_text_putc(&texts[colour][0], '\n');
            ct_diag_render(diags, diag, colour, &texts[colour][0]);
            ct_diag_render_json(diags, diag, &texts[colour][1]);
            ct_text_putc(&texts[colour][1], '\n');
        }
        if (diag->is_warning != warnings) continue;
        CtErrorItem *item = &error->items[error->count++];
        item->code = ct_error_name(diag->code);
        item->message = ct_copy_text(arena, diag->message, strlen(diag->message));
        if (!warnings && status_of(diag->code) > error->status) error->status = status_of(diag->code);
        if (diag->range.source == 0) continue;
        const char *file = diags->sources.items[diag->range.source].name;
        uint32_t line, column;
        ct_source_position(diags, diag->range.source, diag->range.start, &line, &column);
        item->file = ct_copy_text(arena, file, strlen(file));
        item->line = (int)line;
        item->column = (int)column;
    }
    uint32_t found = warnings ? diags->warning_count : diags->error_count;
    uint32_t kept = warnings ? diags->max_warnings : diags->max_errors;
    for (int colour = 0; colour < 2 && found > kept; colour++)
        ct_text_printf(&texts[colour][0], "\nand %u more %s%s\n", found - kept, warnings ? "warning" : "error",
                       found - kept == 1 ? "" : "s");
    for (int i = 0; i < 4; i++) error->texts[i / 2][i % 2] = texts[i / 2][i % 2].data;
}

void ct_session_begin_messages(cotan_context *context, CtContext *diags) {
    if (diags->diags != NULL) return;
    if (diags->passing == NULL || ct_arena_bytes(diags->passing) > 0) {
        ct_arena_free(diags->passing); /* of a run that has caught what failed */
        diags->passing = ct_arena_new(context->limits.memory);
    }
    if (diags->passing != NULL) ct_arena_on_failure(diags->passing, context->handler);
}

bool ct_session_report(cotan_context *context, CtContext *diags) {
    CtArena *arena = ct_arena_new(0);
    jmp_buf failed;
    if (!arena || setjmp(failed) != 0) {
        ct_arena_free(arena);
        ct_session_report_out_of_memory(context);
    } else {
        ct_arena_on_failure(arena, &failed);
        cotan_error *error = CT_NEW(arena, cotan_error);
        if (diags->error_count == 0) ct_error(diags, CT_E0901, CT_NO_RANGE, "something failed and did not say why");
        fill(error, arena, diags, false);
        ct_arena_on_failure(arena, NULL);
        ct_arena_free(context->error_arena);
        context->error_arena = arena;
        context->error = error;
    }
    forget(diags);
    return false;
}

/* When memory runs out there are no warnings. */
void ct_session_report_warnings(cotan_program *program, CtContext *diags) {
    ct_arena_free(program->warning_arena);
    program->warnings = NULL;
    program->warning_arena = NULL;
    if (!diags->diags) return;
    CtArena *arena = ct_arena_new(0);
    jmp_buf failed;
    if (!arena || setjmp(failed) != 0) {
        ct_arena_free(arena);
    } else {
        ct_arena_on_failure(arena, &failed);
        cotan_error *warnings = CT_NEW(arena, cotan_error);
        fill(warnings, arena, diags, true);
        ct_arena_on_failure(arena, NULL);
        program->warnings = warnings;
        program->warning_arena = arena;
    }
    forget(diags);
}

const cotan_error *cotan_warnings(const cotan_program *program) { return program->warnings; }

bool ct_session_report_one(cotan_context *context, CtErrorCode code, const char *help, const char *format, ...) {
    CtArena *arena = ct_arena_new(0);
    jmp_buf failed;
    if (!arena || setjmp(failed) != 0) {
        ct_arena_free(arena);
        ct_session_report_out_of_memory(context);
        return false;
    }
    ct_arena_on_failure(arena, &failed);
    CtContext diags;
    ct_context_init(&diags, arena);
    va_list list;
    va_start(list, format);
    CtDiag *diag = ct_error(&diags, code, CT_NO_RANGE, "%s", ct_format_list(arena, format, list));
    va_end(list);
    if (help) ct_help(&diags, diag, "%s", help);
    ct_session_report(context, &diags);
    ct_arena_free(arena);
    return false;
}

void ct_session_fault(cotan_context *context, const char *format, ...) {
    va_list list;
    if (context->fault != NULL) return;
    enum { LONGEST = 1000 };
    context->fault = malloc(LONGEST);
    if (context->fault == NULL) return;
    va_start(list, format);
    vsnprintf(context->fault, LONGEST, format, list);
    va_end(list);
}

void ct_session_report_fault(cotan_context *context) {
    if (context->fault == NULL) return;
    ct_session_report_one(context, CT_E0901, "this is a fault in Cotan; --engine eval runs without these passes", "%s",
                          context->fault);
    free(context->fault);
    context->fault = NULL;
}

/* ---- the public functions on errors ---- */

size_t cotan_error_count(const cotan_error *error) { return error ? error->count : 0; }

static const CtErrorItem *item_at(const cotan_error *error, size_t index) {
    static const CtErrorItem none = {"", "", NULL, 0, 0};
    return error && index < error->count ? &error->items[index] : &none;
}

const char *cotan_error_code(const cotan_error *error, size_t index) { return item_at(error, index)->code; }
const char *cotan_error_message(const cotan_error *error, size_t index) { return item_at(error, index)->message; }
const char *cotan_error_file(const cotan_error *error, size_t index) { return item_at(error, index)->file; }
int cotan_error_line(const cotan_error *error, size_t index) { return item_at(error, index)->line; }
int cotan_error_column(const cotan_error *error, size_t index) { return item_at(error, index)->column; }

const char *cotan_error_text(const cotan_error *error, bool colour, bool as_json) {
    return error ? error->texts[colour][as_json] : "";
}

int cotan_error_status(const cotan_error *error) { return error ? error->status : 0; }
