/* The part of the public C API that explains: errors, the stages of a method, derivatives against differences, methods
 * against each other. */
#include "explain/explain.h"

/* ---- errors ---- */

const char *cotan_explain(const char *code, const char **title) {
    for (int i = 1; i < CT_ERROR_COUNT; i++) {
        if (strcmp(ct_error_name((CtErrorCode)i), code) != 0) continue;
        if (title) *title = ct_error_title((CtErrorCode)i);
        return ct_error_explanation((CtErrorCode)i);
    }
    return NULL;
}

/* ---- the stages of a method ---- */

typedef struct Stages {
    cotan_program *program;
    const cotan_call *call;
    cotan_page form;
    const char **out;
} Stages;

static bool stages(cotan_context *context, void *data) {
    Stages *s = data;
    CtEntry entry = {.mode = COTAN_VJP};
    if (!ct_session_check_call(context, s->call, CALLS_FUNCTION)) return false;
    if (!ct_session_choose_method(context, s->call->method, &entry)) return false;
    CtArena *results = ct_session_fresh_results(s->program);
    return results && ct_explain_explain(s->program, results, s->call, entry.method, s->form, s->out);
}

cotan_error *cotan_stages(cotan_program *program, const cotan_call *call, cotan_page form, const char **out) {
    Stages s = {program, call, form, out};
    *out = NULL;
    return ct_session_guarded(program->context, stages, &s);
}

/* ---- rounding ---- */

typedef struct SensitivityCall {
    cotan_program *program;
    const cotan_call *call;
    cotan_sensitivity_result *out;
} SensitivityCall;

static bool sensitivity(cotan_context *context, void *data) {
    SensitivityCall *c = data;
    if (!ct_session_check_call(context, c->call, CALLS_FUNCTION)) return false;
    CtArena *results = ct_session_fresh_results(c->program);
    return results && ct_explain_sensitivity(c->program, results, c->call, c->out);
}

cotan_error *cotan_sensitivity(cotan_program *program, const cotan_call *call, cotan_sensitivity_result *out) {
    *out = (cotan_sensitivity_result){0};
    SensitivityCall c = {program, call, out};
    return ct_session_guarded(program->context, sensitivity, &c);
}

/* ---- checking ---- */

typedef struct CheckCall {
    cotan_program *program;
    const cotan_call *call;
    cotan_check_result *out;
} CheckCall;

static bool check(cotan_context *context, void *data) {
    CheckCall *c = data;
    CtEntry entry = {.mode = COTAN_VJP};
    const char *name = c->call->method;
    if (!ct_session_check_call(context, c->call, CALLS_FUNCTION)) return false;
    if (!name && c->call->native) name = ct_core_method_name(METHOD_NATIVE);
    if (!ct_session_choose_method(context, name, &entry)) return false;
    CtArena *results = ct_session_fresh_results(c->program);
    CtMethod jvp = name ? entry.method : METHOD_FORWARD;
    return results && ct_explain_check(c->program, results, c->call, jvp, entry.method, c->out);
}

cotan_error *cotan_check(cotan_program *program, const cotan_call *call, cotan_check_result *out) {
    *out = (cotan_check_result){0};
    CheckCall c = {program, call, out};
    return ct_session_guarded(program->context, check, &c);
}

/* ---- comparing ---- */

typedef struct CompareCall {
    cotan_program *program;
    const cotan_call *call;
    const char *const *names;
    size_t count;
    cotan_compare_result *out;
} CompareCall;

static bool compare(cotan_context *context, void *data) {
    CompareCall *c = data;
    if (!ct_session_check_call(context, c->call, CALLS_FUNCTION)) return false;
    CtArena *results = ct_session_fresh_results(c->program);
    if (!results) return false;
    size_t count = c->names ? c->count : CT_METHOD_COUNT;
    if (count == 0) return ct_session_report_one(context, CT_E0701, NULL, "there is no method to compare");
    CtMethod *methods = CT_NEW_ARRAY(results, CtMethod, count);
    if (!c->names) count--; /* steps come last, and native code has none to compare */
    for (size_t i = 0; i < count; i++) {
        CtEntry entry = {.method = (CtMethod)i};
        if (c->names && !ct_session_choose_method(context, c->names[i], &entry)) return false;
        methods[i] = entry.method;
    }
    return ct_explain_compare(c->program, results, c->call, methods, count, c->out);
}

cotan_error *cotan_compare(cotan_program *program, const cotan_call *call, const char *const *methods, size_t count,
                           cotan_compare_result *out) {
    *out = (cotan_compare_result){0};
    CompareCall c = {program, call, methods, count, out};
    return ct_session_guarded(program->context, compare, &c);
}
