/* Calls of programs whose code is not compiled: the reference interpreter runs them (COTAN_NATIVE=interpret). It is
 * slow, but needs no C compiler, so that many small programs can be tested in a short time. */
#include "run/interpreter_values.h"

#include "run/internal.h"

/* Limits of a run of the interpreter. */
static const CtInterpretLimits limits = {
    .steps = 10000000, .bytes = (size_t)1 << 30, .stack = (size_t)1 << (sizeof(void *) == 8 ? 29 : 25)};

static void report(CtNative *native, CtErrorCode code, CtSourceRange range, const char *message) {
    native->failure = (CtNativeError){code, range, message};
}

static void take_result(CtNative *native) {
    ct_word out[CT_FLOW_WIDE];
    ct_run *rt = &native->outer.run;
    const CtType *as = ct_flow_output(native->flow, native->type);
    if (!ct_run_export(rt, &native->flow->entry->results, native->interpreter->results, out) ||
        !ct_run_from_native(native->heap, native->flow, native->type, as, out, native->result))
        ct_fail_memory(rt);
    native->done = true;
}

static void run(CtNative *native) {
    CtInterpreter *i = native->interpreter;
    CtFlowCell input[CT_FLOW_WIDE] = {{.integer = 0}};
    const CtType *as = ct_flow_input(native->flow, native->input);
    if (native->input != NULL && !ct_run_import(i, native->flow, native->input, as, native->value, input))
        ct_fail_memory(&native->outer.run);
    switch (ct_flow_interpret(i, native->flow->entry, input)) {
    case FLOW_END_DONE: take_result(native); break;
    case FLOW_END_FAILED: report(native, i->code, i->range, i->message); break;
    case FLOW_END_STOPPED: report(native, CT_E0802, CT_NO_RANGE, i->message); break;
    case FLOW_END_WRONG:
        report(native, CT_E0901, CT_NO_RANGE,
               ct_format(native->flow->arena, "in %s, %s", i->function != NULL ? i->function->name : "the entry",
                         i->message));
        break;
    }
}

void ct_run_interpret(CtNative *native) {
    CtInterpretOptions options = {.limits = limits, .counts = native->flow->is_counted};
    ct_flow_interpreter_free(native->interpreter);
    native->failure.message = NULL;
    native->interpreter = ct_flow_interpreter_new(native->flow, options);
    if (native->interpreter != NULL && setjmp(native->outer.run.out) == 0) run(native);
    if (native->done) ct_run_clear(&native->outer.run);
}
