/* `cotan compile`: a function and its derivatives as C for callers. Each mode is a program of its own, lowered from a
 * session in which nothing has run. */
#include "session/session.h"

#include "emit/export/export.h"

static const cotan_mode asked[EXPORT_MODE_COUNT] = {COTAN_RUN, COTAN_GRAD, COTAN_VJP, COTAN_JVP};

typedef struct Compile {
    cotan_program *program;
    const cotan_call *call;
    unsigned modes; /* bits 1 << CtExportMode */
    const char *stem;
    const char **source, **header;
    CtExport *export;
} Compile;

/* The parameters' names in the first clause, or their numbers. */
static const char *const *params_of(CtBuild *build, CtArena *arena, const char *function, uint32_t arity) {
    const CtEntity *entity = ct_types_lookup(build->types, ct_intern_text(&build->context.symbols, function));
    const CtBinding *binding = entity != NULL ? entity->binding : NULL;
    const char **names = CT_NEW_ARRAY(arena, const char *, arity + 1);
    for (uint32_t i = 0; i < arity; i++) {
        const CtPat *pat = binding != NULL && i < binding->clauses[0].pat_count ? binding->clauses[0].pats[i] : NULL;
        bool named = pat != NULL && (pat->kind == PAT_VAR || pat->kind == PAT_AS) && pat->name.text != NULL;
        names[i] = named ? ct_copy_text(arena, pat->name.text->text, pat->name.text->length)
                         : ct_format(arena, arity > 1 ? "x%u" : "x", i + 1);
    }
    return names;
}

/* Derivatives by bulk are made for the shape of the point in the call, if there is one. */
static bool for_shape(cotan_context *context, const Compile *c, CtSession *session) {
    CtForm *form = NULL;
    const char *key;
    CtWord point;
    if (c->call->at != NULL) {
        CtInput *given = ct_session_parse(context, 0, "--at", c->call->at, c->call->at_length);
        if (given == NULL || !ct_session_read(session, context, given, session->point, NULL, &point)) return false;
        bool done = ct_eval_shape(session->eval, session->point, point, &form, &key);
        ct_session_release(session, session->point, point);
        if (!done) {
            ct_session_report_out_of_memory(context);
            return false;
        }
    }
    ct_driver_build_for_shape(session->build, &session->entry, form);
    return true;
}

/* Adds what a mode makes of the function by a method. NULL in *why, or the reason why it cannot be compiled. False
 * after an error. */
static bool add_by(cotan_context *context, Compile *c, CtExportMode mode, const char *method, const char **why) {
    CtArena *results = c->program->results;
    CtEntry entry = {.mode = asked[mode], .function = c->call->function, .any_rows = true, .prefer_double = true};
    if (!ct_session_choose_method(context, method, &entry)) return false;
    CtSession *session = ct_session_program_fresh_session(c->program, &entry);
    if (session == NULL) return false;
    CtBuild *build = session->build;
    uint32_t arity = (uint32_t)session->arity;
    if (mode == EXPORT_VALUE)
        c->export = ct_emit_export_new(results, c->stem, c->call->prefix != NULL ? c->call->prefix : "",
                                       c->call->function, params_of(build, results, c->call->function, arity), arity,
                                       c->modes, context->exact_math);
    if (ct_session_needs_shape(session) && !for_shape(context, c, session)) return false;
    const CtType *input = session->point != NULL ? build->entry->type->parts[0] : NULL;
    if (build->performs) *why = "it is an action, and compiled code has no input and output";
    CtFlow *flow = build->performs ? NULL : ct_session_native_lower(context, build, why);
    if (flow != NULL) *why = ct_emit_export_add(c->export, mode, flow, input, ct_session_result(session));
    if (*why != NULL) *why = ct_copy_text(results, *why, strlen(*why));
    ct_session_program_forget(c->program, session);
    context->active = NULL;
    return true;
}

/* Without a named method, the production engine; for what it does not support, the best of the other methods. The value
 * of a function may contain derivatives that the named method cannot compile; the production engine takes them then. */
static bool add(cotan_context *context, Compile *c, CtExportMode mode) {
    const char *method = c->call->method, *why = NULL;
    if (!add_by(context, c, mode, method != NULL ? method : ct_core_method_name(METHOD_NATIVE), &why)) return false;
    const char *second = method != NULL ? ct_core_method_name(METHOD_NATIVE) : NULL;
    bool again = why != NULL && (method == NULL || mode == EXPORT_VALUE);
    if (again && !add_by(context, c, mode, second, &why)) return false;
    bool by_bulk = method != NULL && strcmp(method, ct_core_method_name(METHOD_BULK)) == 0;
    const char *help = by_bulk && c->call->at == NULL ? "--at gives a point of the shape to compile for" : NULL;
    return why == NULL ||
           ct_session_report_one(context, CT_E0408, help, "`%s` cannot be compiled: %s", c->call->function, why);
}

static bool is_identifier(const char *text) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
    return *text != '\0' && (*text < '0' || *text > '9') && text[strspn(text, letters)] == '\0';
}

static bool has_good_prefix(cotan_context *context, const Compile *c) {
    const char *prefix = c->call->prefix;
    if (prefix == NULL) return true;
    if (!is_identifier(prefix))
        return ct_session_report_one(context, CT_E0701, NULL, "--prefix takes the beginning of a name in C, not `%s`",
                                     prefix);
    const char *name = ct_emit_export_name(c->program->results, prefix, c->call->function);
    return !ct_emit_export_is_taken(name) ||
           ct_session_report_one(context, CT_E0701, NULL,
                                 "--prefix %s: the name `%s` is taken, by C or by the C that Cotan writes", prefix,
                                 name);
}

static bool compile(cotan_context *context, void *data) {
    Compile *c = data;
    if (!ct_session_check_call(context, c->call, CALLS_FUNCTION)) return false;
    CtArena *results = ct_session_fresh_results(c->program);
    if (results == NULL) return false;
    if (!has_good_prefix(context, c)) return false;
    for (int mode = 0; mode < EXPORT_MODE_COUNT; mode++)
        if (c->modes & 1u << mode && !add(context, c, (CtExportMode)mode)) return false;
    CtText source = ct_text(results), header = ct_text(results);
    ct_emit_export_write(c->export, &source, &header);
    *c->source = source.data;
    *c->header = header.data;
    return true;
}

cotan_error *cotan_compile(cotan_program *program, const cotan_call *call, unsigned derivatives, const char *stem,
                           const char **source, const char **header) {
    unsigned modes = 1u << EXPORT_VALUE;
    if (derivatives & COTAN_WITH_GRAD) modes |= 1u << EXPORT_GRAD;
    if (derivatives & COTAN_WITH_VJP) modes |= 1u << EXPORT_VJP;
    if (derivatives & COTAN_WITH_JVP) modes |= 1u << EXPORT_JVP;
    Compile c = {program, call, modes, stem, source, header, NULL};
    *source = *header = NULL;
    return ct_session_guarded(program->context, compile, &c);
}
