/* Terms and how to run them: for the tests of the evaluator and of what makes programs for it. */
#ifndef CT_TESTS_EVAL_FIXTURE_H
#define CT_TESTS_EVAL_FIXTURE_H

#include "core_fixture.h"

#include "eval/eval.h"

#define FUN(result, ...) ct_core_type_fun(f->p, (CtType *[]){__VA_ARGS__}, COUNT(((CtType *[]){__VA_ARGS__})), result)
#define LAM(body, ...)   ct_core_lam(f->p, AT, NULL, (CtVar *[]){__VA_ARGS__}, COUNT(((CtVar *[]){__VA_ARGS__})), body)
#define ARRAY(op, ...)                                                                                                 \
    ct_core_array(f->p, AT, ARRAY_##op, (CtCore *[]){__VA_ARGS__}, COUNT(((CtCore *[]){__VA_ARGS__})))

static const CtEvalLimits no_limits;

/* Evaluates a constant with limits; its text, or the code of the error. Everything must be released again. */
static inline const char *run_with(Fixture *f, CtCore *core, CtEvalLimits limits, CtEvalStats *stats) {
    CtGlobal *wrapper = global(f, "run", ct_core_lam(f->p, AT, NULL, NULL, 0, core));
    const char *fault = ct_core_lint(f->p);
    if (fault != NULL) return fault;
    f->context.max_errors = UINT32_MAX; /* all are kept: the last one is looked at */
    CtEval *eval = ct_eval_new(f->p, NULL, limits);
    CtWord value;
    size_t before = 0;
    CtText text = ct_text(f->arena);
    ct_text_puts(&text, "");
    for (int i = 0; i < 2; i++) { /* the first run compiles and makes what is kept */
        text.length = 0;
        ct_eval_reset_stats(eval);
        if (ct_eval_call(eval, wrapper, NULL, 0, &value)) {
            ct_value_show(&text, core->type, value);
            ct_value_release(ct_eval_heap(eval), core->type, value);
        } else {
            CtDiag *diag = f->context.diags;
            while (diag->next != NULL) diag = diag->next;
            ct_text_printf(&text, "%s %s", ct_error_name(diag->code), diag->message);
        }
        if (stats != NULL) *stats = ct_eval_stats(eval);
        if (limits.memory != 0) break; /* the stack's growth counts as memory too */
        if (i == 0) before = ct_value_heap_bytes(ct_eval_heap(eval));
    }
    if (limits.memory == 0) assert_int_equal(ct_value_heap_bytes(ct_eval_heap(eval)), before);
    ct_eval_free(eval);
    return text.data;
}

static inline const char *run(Fixture *f, CtCore *core) { return run_with(f, core, no_limits, NULL); }

#endif
