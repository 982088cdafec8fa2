/* Compares native code with the evaluator: the same call again, with another method where it takes derivatives. */
#include "session/check_passes.h"

#include <math.h>

/* The limit of the evaluator's run. */
static const uint64_t most_steps = 20000000;

/* Relative tolerances of reals: between derivatives of two methods, and in fast mode. */
static const double other_method = 1e-8, fast_math = 1e-6;

static double tolerance_of(const CtSession *session, const cotan_context *context) {
    if (!context->exact_math) return fast_math;
    bool derives = session->checked == NULL || session->checked[0]->takes_derivatives;
    return derives ? other_method : 0;
}

static bool same_reals(double a, double b, double tolerance, bool fast) {
    if (isnan(a) || isnan(b)) return fast || (isnan(a) && isnan(b));
    if (a == b) return tolerance > 0 || signbit(a) == signbit(b);
    return fabs(a - b) <= tolerance * fmax(1, fmax(fabs(a), fabs(b)));
}

static void compare(cotan_context *context, const CtSession *session, const CtApart *native, const CtApart *eval) {
    const char *who = ct_session_check_name(session);
    if (native->shape.length != eval->shape.length || native->reals.reals.count != eval->reals.reals.count ||
        memcmp(native->shape.data, eval->shape.data, native->shape.length) != 0) {
        ct_session_fault(context, "native code gives another value of `%s` than the evaluator", who);
        return;
    }
    double tolerance = tolerance_of(session, context);
    for (uint32_t k = 0; k < eval->reals.reals.count; k++) {
        double a = eval->reals.reals.items[k], b = native->reals.reals.items[k];
        if (same_reals(a, b, tolerance, !context->exact_math)) continue;
        ct_session_fault(context,
                         "native code gives another value of `%s` than the evaluator: number %u is %.17g, not %.17g",
                         who, k, b, a);
        return;
    }
    ct_session_check_tell(context, session, "the evaluator gives the same");
}

static bool about_resources(const cotan_error *error) {
    return error->count > 0 && error->items[0].code[1] == '0' && error->items[0].code[2] == '8';
}

static void compare_errors(cotan_context *context, const CtSession *session, const cotan_error *native,
                           const cotan_error *eval) {
    const char *who = ct_session_check_name(session);
    const CtErrorItem *a = eval != NULL ? &eval->items[0] : NULL, *b = native != NULL ? &native->items[0] : NULL;
    if (a == NULL || b == NULL) {
        ct_session_fault(context, "native code %s, the evaluator %s: `%s`: %s", b != NULL ? "fails" : "gives a result",
                         a != NULL ? "fails" : "gives a result", who, a != NULL ? a->message : b->message);
    } else if (strcmp(a->code, b->code) != 0 || a->line != b->line || a->column != b->column ||
               strcmp(a->message, b->message) != 0) {
        ct_session_fault(context,
                         "native code fails otherwise than the evaluator in `%s`: %s at %d:%d, %s; not %s at %d:%d, %s",
                         who, b->code, b->line, b->column, b->message, a->code, a->line, a->column, a->message);
    }
}

/* Splits the value off a result, which may have a derivative beside it. */
static bool apart(CtArena *arena, const CtSession *session, CtWord result, CtApart *out) {
    CtWord value = session->derivative != NULL ? ((const CtFields *)result.object)->words[0] : result;
    out->shape = ct_text(arena);
    out->reals = (CtLeaves){.arena = arena, .apart = true};
    return ct_io_json_write(&out->shape, session->value, value, &out->reals);
}

void ct_session_check_evaluator(cotan_context *context, const CtCall *c, const CtSession *session,
                                const CtWord *result) {
    CtArena *arena = c->program->results, *error_arena = context->error_arena;
    cotan_error *error = context->error;
    cotan_call call = *c->call;
    cotan_result out = {0};
    CtApart native, eval;
    if (context->fault != NULL || call.bind != NULL || (error != NULL && about_resources(error))) return;
    if (result != NULL && !apart(arena, session, *result, &native)) return;
    call.native = call.count = false;
    call.no_text = call.no_json = true;
    call.form = COTAN_NO_FILE;
    if (ct_session_names_native(call.method)) call.method = NULL;
    CtCall again = {.program = c->program,
                    .call = &call,
                    .out = &out,
                    .steps = most_steps,
                    .at_point = c->at_point,
                    .value = &eval};
    context->error = NULL;
    context->error_arena = NULL;
    ct_session_world_silence(context, true);
    bool done = ct_session_run_call(context, &again);
    ct_session_world_silence(context, false);
    if (!done && about_resources(context->error))
        ct_session_check_tell(context, session, "not checked by the evaluator: %s", context->error->items[0].message);
    else if (!done || error != NULL)
        compare_errors(context, session, error, context->error);
    else
        compare(context, session, &native, &eval);
    ct_session_report_clear(context);
    context->error = error;
    context->error_arena = error_arena;
}
