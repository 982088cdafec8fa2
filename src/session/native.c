/* Sessions with native code: lowering, compiling, calling, and the reasons for refusal. */
#include "session/session.h"

#include <stdlib.h>

bool ct_session_native_build(cotan_context *context, CtBuild *build, CtNativeOptions options, CtKnown known) {
    bool done = ct_driver_build_native(build, options, known);
    if (build->wrong != NULL) ct_session_fault(context, "%s", build->wrong);
    return done;
}

CtFlow *ct_session_native_lower(cotan_context *context, CtBuild *build, const char **why) {
    CtNativeOptions options = {.exact = context->exact_math, .alone = true, .passes = UINT32_MAX};
    bool done = ct_session_native_build(context, build, options, KNOWN_FLOW);
    *why = build->not_native;
    return done ? build->flow : NULL;
}

static const char *named_compiler(void) {
    const char *name = getenv("CC");
    return name != NULL ? name : "";
}

bool ct_session_native_differs(const CtSession *session, const cotan_context *context) {
    if (session->compiler == NULL) return false; /* nothing has been made */
    return session->exact_math != context->exact_math || strcmp(session->compiler, named_compiler()) != 0;
}

/* Starts the compiler, or takes its work from the cache. */
static void make(CtSession *session, cotan_context *context, bool background) {
    CtBuild *build = session->build;
    const char *compiler = named_compiler();
    session->compiler = ct_copy_text(build->arena, compiler, strlen(compiler));
    session->exact_math = context->exact_math;
    const char *why = NULL;
    if (context->limits.steps != 0)
        why = "steps are counted by the evaluator";
    else if (context->has_depth)
        why = "waiting calls are counted by the evaluator";
    CtNativeOptions options = {.exact = context->exact_math, .background = background, .passes = UINT32_MAX};
    if (why == NULL && ct_session_native_build(context, build, options, KNOWN_FLOW)) {
        if (context->checks >= CHECK_RUNS) session->lowered = ct_session_text(build->arena, build->flow);
        ct_driver_build_native(build, options, KNOWN_NATIVE);
    }
    session->not_native = why != NULL ? why : build->not_native;
}

/* Takes over what the compiler has made. */
static CtNativeState take(CtSession *session, cotan_context *context, bool wait) {
    CtBuild *build = session->build;
    if (session->native != NULL) return NATIVE_READY;
    if (build->native == NULL) return NATIVE_REFUSED;
    char reason[200];
    CtNativeState state = ct_run_native_state(build->native, wait, reason);
    if (state == NATIVE_READY) {
        session->native = build->native;
        ct_run_native_effects(session->native, ct_session_world(context));
        if (context->pool != NULL) ct_run_native_share(session->native, context->pool);
    }
    if (state == NATIVE_REFUSED) {
        ct_run_native_free(build->native);
        build->native = NULL;
        session->not_native = ct_copy_text(build->arena, reason, strlen(reason));
    }
    return state;
}

CtNativeState ct_session_native_begin(CtSession *session, cotan_context *context) {
    if (session->compiler == NULL) make(session, context, true);
    return take(session, context, false);
}

bool ct_session_native(CtSession *session, cotan_context *context) {
    if (session->compiler == NULL) make(session, context, false);
    bool ready = take(session, context, true) == NATIVE_READY;
    /* Reported in each call. */
    if (session->build->wrong != NULL) ct_session_fault(context, "%s", session->build->wrong);
    return ready;
}

bool ct_session_may_fall_back(cotan_context *context, const char *what, const char *why) {
    return !ct_run_native_required() ||
           ct_session_report_one(context, CT_E0707, "COTAN_NATIVE=require makes this an error", "there is no %s: %s",
                                 what, why);
}

/* The memory limit of a run: the context's, less what the compilation holds. */
static size_t limit_of(const CtSession *session, const cotan_context *context) {
    size_t used = ct_arena_bytes(session->build->arena) - session->check_bytes, limit = context->limits.memory;
    return limit > used ? limit - used : 1;
}

static bool failed(CtSession *session, cotan_context *context, const CtNativeError *error) {
    CtContext *diags = &session->build->context;
    ct_session_begin_messages(context, diags);
    CtDiag *diag = ct_error(diags, error->code, error->range, "%s", error->message);
    if (error->code == CT_E0801) ct_help(diags, diag, "--max-memory sets the limit");
    return ct_session_report(context, diags);
}

/* The session that takes an input: the given one, or one for lists of several lengths. NULL after an error. */
static CtSession *taker_of(CtSession *session, cotan_context *context, CtWord input) {
    const CtBuild *build = session->build;
    if (!build->given.equal_rows || ct_session_has_equal_rows(session, build->entry->type->parts[0], input))
        return session;
    cotan_program *program = context->active_program;
    CtSession *taker = ct_session_for_any_rows(program, session);
    if (taker == NULL || ct_session_native(taker, context)) return taker;
    ct_session_report_one(context, CT_E0707, "with `--engine eval` it is evaluated",
                          "there is no native code for lists of several lengths in a list: %s", taker->not_native);
    return NULL;
}

bool ct_session_run_native(CtSession *session, cotan_context *context, CtWord input, CtWord *result) {
    const CtType *type = session->build->entry->type, *parameter = session->point ? type->parts[0] : NULL;
    CtNativeError error;
    session->ran = session->native;
    CtSession *taker = session->native != NULL ? taker_of(session, context, input) : NULL;
    if (session->native == NULL)
        ct_session_report_one(context, CT_E0707, NULL, "there is no native code: %s", session->not_native);
    if (taker == NULL) {
        ct_session_release(session, parameter, input);
        return false;
    }
    session->ran = taker->native;
    ct_session_begin_native(context, session->ran);
    bool done = ct_run_native_call(session->ran, ct_eval_heap(session->eval), limit_of(session, context), parameter,
                                   input, ct_session_result(session), result, &error);
    ct_session_end_run(context);
    if (context->checks >= CHECK_RUNS) ct_session_check(taker, context, input, done ? result : NULL, &error);
    if (parameter != NULL) ct_session_release(session, parameter, input);
    return done || failed(session, context, &error);
}

bool ct_session_apply_native(CtSession *session, cotan_context *context, const CtFlat *input, const cotan_buffer *in,
                             const CtFlat *result, const cotan_slot *slots, const cotan_buffer *out,
                             cotan_buffer *filled) {
    CtNativeError error;
    ct_session_begin_native(context, session->native);
    bool done =
        ct_run_native_apply(session->native, limit_of(session, context), input, in, result, slots, out, filled, &error);
    ct_session_end_run(context);
    return done || failed(session, context, &error);
}

char *cotan_cache(uint64_t *files, uint64_t *bytes) {
    CtCacheState state = ct_run_cache_state();
    *files = state.files;
    *bytes = state.bytes;
    return state.folder;
}

uint64_t cotan_cache_clear(void) { return ct_run_cache_clear(); }
