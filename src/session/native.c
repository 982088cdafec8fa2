/* Sessions on native code: lowering, compiling, calling, and why not. */
#include "session/session.h"

#include "emit/emit.h"

#include <stdlib.h>

/* NULL: functions neither go in nor out. */
static const char *not_plain(const CtBuild *build) {
    CtType *type = build->entry->type;
    const CtType *input = type->kind == TYPE_FUN && type->count > 1 ? type->parts[0] : type;
    const CtType *result = type->kind == TYPE_FUN ? ct_core_type_fun_result(type) : type;
    return ct_flow_is_plain(input) && ct_flow_is_plain(result) ? NULL : "functions go in or out";
}

CtFlow *ct_native_lower_by(CtBuild *build, bool exact, uint32_t passes) {
    CtFlow *flow = ct_flow_make(build->program, build->ad, build->entry);
    flow->exact = exact;
    ct_flow_pass_all(flow, passes, build->options.lint);
    return flow;
}

/* The program in Flow, ready to be written as C, or `raw`, as lowering left it; NULL with a reason. */
static CtFlow *lower(cotan_context *context, CtBuild *build, bool raw, const char **why) {
    *why = not_plain(build);
    if (*why != NULL) return NULL;
    CtFlow *flow = raw ? ct_flow_make(build->program, build->ad, build->entry)
                       : ct_native_lower_by(build, context->exact_math, UINT32_MAX);
    *why = flow->wrong != NULL ? flow->wrong : flow->refused;
    if (flow->wrong != NULL) ct_session_fault(context, "%s", flow->wrong);
    return *why == NULL ? flow : NULL;
}

CtFlow *ct_session_native_lower(cotan_context *context, CtBuild *build, const char **why) {
    return lower(context, build, false, why);
}

static void make(CtSession *session, cotan_context *context) {
    CtBuild *build = session->build;
    const char *why = NULL;
    if (context->limits.steps != 0)
        why = "steps are counted by the evaluator";
    else if (context->has_depth)
        why = "waiting calls are counted by the evaluator";
    CtFlow *flow = why == NULL ? ct_session_native_lower(context, build, &why) : NULL;
    if (flow != NULL) {
        CtText c = ct_text(build->arena);
        char reason[200];
        if (context->checks >= CHECK_RUNS) session->lowered = ct_session_text(build->arena, flow);
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
    if (context->checks >= CHECK_RUNS) ct_session_check(session, context, input, done ? result : NULL, &error);
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

bool ct_session_native_dump(cotan_context *context, CtBuild *build, const char *pass, CtText *out, const char **why) {
    CtFlow *flow = lower(context, build, strcmp(pass, "lower") == 0, why);
    if (flow == NULL) return false;
    if (strcmp(pass, "c") == 0)
        ct_emit_emit(out, flow, context->exact_math, false);
    else
        ct_flow_print(out, flow);
    return true;
}
