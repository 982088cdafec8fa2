/* The definitions of a program, in the words of the public API. */
#include "session/session.h"

typedef struct Describe {
    cotan_program *program;
    const cotan_definition **out;
    size_t *count;
} Describe;

static const char *copied(CtArena *arena, const char *text) {
    return text != NULL ? ct_copy_text(arena, text, strlen(text)) : NULL;
}

static cotan_definition copy(CtArena *arena, CtMap *known, const CtDefinition *from) {
    const cotan_type **types = CT_NEW_ARRAY(arena, const cotan_type *, from->count + 1);
    const char **names = CT_NEW_ARRAY(arena, const char *, from->count + 1);
    for (uint32_t i = 0; i < from->count; i++) {
        types[i] = from->types != NULL ? ct_session_type(arena, known, from->types[i]) : NULL;
        names[i] = copied(arena, from->names[i]);
    }
    return (cotan_definition){.name = copied(arena, from->name),
                              .type = copied(arena, from->type),
                              .comment = copied(arena, from->comment),
                              .line = (int)from->line,
                              .count = from->count,
                              .types = from->types != NULL ? types : NULL,
                              .parameters = names,
                              .result = ct_session_type(arena, known, from->result)};
}

static bool describe(cotan_context *context, void *data) {
    Describe *d = data;
    CtArena *results = ct_session_fresh_results(d->program);
    CtBuild *build = results != NULL ? ct_session_program_build(d->program, NULL) : NULL;
    if (build == NULL) return false;
    context->making = build;
    CtDefinitions made = {0};
    CtMap known = {0};
    ct_driver_build_definitions(build, &made);
    cotan_definition *out = CT_NEW_ARRAY(results, cotan_definition, made.count + 1);
    for (uint32_t i = 0; i < made.count; i++) out[i] = copy(results, &known, &made.items[i]);
    *d->out = out;
    *d->count = made.count;
    context->making = NULL;
    ct_driver_build_free(build);
    return true;
}

cotan_error *cotan_definitions(cotan_program *program, const cotan_definition **out, size_t *count) {
    Describe d = {program, out, count};
    *out = NULL;
    *count = 0;
    return ct_session_guarded(program->context, describe, &d);
}
