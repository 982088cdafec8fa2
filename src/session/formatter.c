/* The public API of the formatter. */
#include "session/session.h"

typedef struct Format {
    const char *name, *text;
    size_t length;
    const char **out;
    size_t *out_length;
} Format;

/* In Cotan's own library `primitive` is a keyword; it is formatted too. */
static bool attempt(CtContext *diags, CtArena *arena, const Format *f, const char *text, bool is_library) {
    ct_context_init(diags, arena);
    uint32_t source = ct_source_add(diags, f->name, text, f->length, is_library);
    if (diags->sources.items[source].text != text) { /* without the lines that are no program, which would be lost */
        ct_error(diags, CT_E0701, CT_NO_RANGE, "%s is a literate program, which is not formatted", f->name);
        return false;
    }
    CtText out = ct_text(arena);
    if (!ct_syntax_format_source(diags, source, &out)) return false;
    *f->out = out.data;
    *f->out_length = out.length;
    return true;
}

static bool format(cotan_context *context, void *data) {
    Format *f = data;
    ct_arena_free(context->formatted);
    CtArena *arena = context->formatted = ct_arena_new(context->limits.memory);
    if (arena == NULL) {
        ct_session_report_out_of_memory(context);
        return false;
    }
    ct_arena_on_failure(arena, context->handler);
    const char *text = ct_copy_text(arena, f->text, f->length); /* with a NUL at the end */
    CtContext *program = CT_NEW(arena, CtContext), *library = CT_NEW(arena, CtContext);
    if (attempt(program, arena, f, text, false) || attempt(library, arena, f, text, true)) return true;
    return ct_session_report(context, program);
}

cotan_error *cotan_format(cotan_context *context, const char *name, const char *text, size_t length, const char **out,
                          size_t *out_length) {
    Format f = {name, text, length, out, out_length};
    *out = NULL;
    *out_length = 0;
    return ct_session_guarded(context, format, &f);
}
