/* Sessions on native code: lowering, compiling, calling, and why not. */
#include "session/session.h"

#include "emit/emit.h"

#include <stdlib.h>

static void lint(CtFlow *flow, const CtBuild *build) {
    if (flow->refused == NULL && build->options.lint) flow->refused = ct_flow_lint(flow);
}

/* The program in Flow, ready to be written as C, or `raw`, as lowering left it; NULL with a reason. */
static CtFlow *lower(CtBuild *build, bool exact, bool raw, const char **why) {
    if (!ct_flow_is_plain(build->entry->type->kind == TYPE_FUN && build->entry->type->count > 1
                              ? build->entry->type->parts[0]
                              : build->entry->type) ||
        !ct_flow_is_plain(build->entry->type->kind == TYPE_FUN ? ct_core_type_fun_result(build->entry->type)
                                                               : build->entry->type)) {
        *why = "functions go in or out";
        return NULL;
    }
    CtFlow *flow = ct_flow_make(build->program, build->ad, build->entry);
    flow->exact = exact;
    lint(flow, build);
    if (!raw && flow->refused == NULL) {
        ct_flow_prepare(flow, build->options.lint);
        if (flow->refused == NULL) ct_flow_derive(flow);
        lint(flow, build);
        ct_flow_optimise(flow, build->options.lint);
    }
    if (!raw && flow->refused == NULL) {
        ct_flow_call_sites(flow);
        ct_flow_reference_counts(flow);
        ct_flow_reuse_memory(flow);
        lint(flow, build);
    }
    *why = flow->refused;
    return flow->refused == NULL ? flow : NULL;
}

CtFlow *ct_session_native_lower(CtBuild *build, bool exact, const char **why) {
    return lower(build, exact, false, why);
}

static void make(CtSession *session, cotan_context *context) {
    CtBuild *build = session->build;
    const char *why = NULL;
    if (context->limits.steps != 0)
        why = "steps are counted by the evaluator";
    else if (context->has_depth)
        why = "waiting calls are counted by the evaluator";
    CtFlow *flow = why == NULL ? ct_session_native_lower(build, context->exact_math, &why) : NULL;
    if (flow != NULL) {
        CtText c = ct_text(build->arena);
        char reason[200];
        ct_emit_emit(&c, flow, context->exact_math, true);
        session->native = ct_run_native_new(flow, c.data, c.length, context->exact_math, reason);
        if (session->native == NULL) why = ct_copy_text(build->arena, reason, strlen(reason));
        if (session->native != NULL && context->pool != NULL) ct_run_native_share(session->native, context->pool);
    }
    session->not_native = why;
}

bool ct_session_native(CtSession *session, cotan_context *context) {
    if (session->native == NULL && session->not_native == NULL) make(session, context);
    return session->native != NULL;
}

/* What a run may use: the limit, less what the compilation holds. */
static size_t limit_of(const CtSession *session, const cotan_context *context) {
    size_t used = ct_arena_bytes(session->build->arena), limit = context->limits.memory;
    return limit > used ? limit - used : 1;
}

static bool failed(CtSession *session, cotan_context *context, const CtNativeError *error) {
    CtContext *diags = &session->build->context;
    CtDiag *diag = ct_error(diags, error->code, error->range, "%s", error->message);
    if (error->code == CT_E0801) ct_help(diags, diag, "--max-memory sets the limit");
    return ct_session_report(context, diags);
}

bool ct_session_run_native(CtSession *session, cotan_context *context, CtWord input, CtWord *result) {
    const CtType *type = session->build->entry->type, *parameter = session->point ? type->parts[0] : NULL;
    CtNativeError error;
    atomic_store(&context->running_native, session->native);
    bool done = ct_run_native_call(session->native, ct_eval_heap(session->eval), limit_of(session, context), parameter,
                                   input, ct_session_result(session), result, &error);
    atomic_store(&context->running_native, NULL);
    if (parameter != NULL) ct_session_release(session, parameter, input);
    return done || failed(session, context, &error);
}

bool ct_session_apply_native(CtSession *session, cotan_context *context, const CtFlat *input, const cotan_buffer *in,
                             const CtFlat *result, const cotan_slot *slots, cotan_buffer *out) {
    CtNativeError error;
    atomic_store(&context->running_native, session->native);
    bool done = ct_run_native_apply(session->native, limit_of(session, context), input, in, result, slots, out, &error);
    atomic_store(&context->running_native, NULL);
    return done || failed(session, context, &error);
}

char *cotan_cache(uint64_t *files, uint64_t *bytes) {
    CtCacheState state = ct_run_cache_state();
    *files = state.files;
    *bytes = state.bytes;
    return state.folder;
}

uint64_t cotan_cache_clear(void) { return ct_run_cache_clear(); }

bool ct_session_native_dump(CtBuild *build, const char *pass, bool exact, CtText *out, const char **why) {
    CtFlow *flow = lower(build, exact, strcmp(pass, "lower") == 0, why);
    if (flow == NULL) return false;
    if (strcmp(pass, "c") == 0)
        ct_emit_emit(out, flow, exact, false);
    else
        ct_flow_print(out, flow);
    return true;
}
