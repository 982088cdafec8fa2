/* The evaluator's interface: construction, calls, limits, errors. */
#include <stdlib.h>

#include "eval/internal.h"

CtEval *ct_eval_new(CtProgram *program, CtAd *ad, CtEvalLimits limits) {
    Machine *m = calloc(1, sizeof *m);
    if (m == NULL) return NULL;
    m->heap = ct_value_heap_new(limits.memory);
    m->stack = malloc(STACK_WORDS * sizeof(CtWord));
    if (m->heap == NULL || m->stack == NULL || !ct_value_heap_charge(m->heap, STACK_WORDS * sizeof(CtWord))) {
        ct_value_heap_free(m->heap);
        free(m->stack);
        free(m);
        return NULL;
    }
    m->program = program;
    m->ad = ad;
    m->limits = limits;
    m->depth_limit = limits.depth == 0 ? UINT64_MAX : limits.depth;
    m->stack_end = m->stack + STACK_WORDS;
    return m;
}

void ct_eval_free(CtEval *eval) {
    if (eval == NULL) return;
    ct_eval_codes_free(eval);
    ct_eval_team_free(eval);
    ct_value_heap_free(eval->heap);
    free(eval->stack);
    free(eval->form_key.data);
    free(eval->caught);
    free(eval);
}

CtHeap *ct_eval_heap(CtEval *eval) { return eval->heap; }

/* ---- errors ---- */

static bool is_user(const Machine *m, CtSourceRange range) {
    return range.source != 0 && !m->program->context->sources.items[range.source].is_library;
}

/* The source range of the running instruction or, for a frame being entered, of its call. Inside the library it is that
 * of the innermost call from the user's source; a frame knows its tail calls, of which the last one counts. */
static CtSourceRange failing_place(const Machine *m) {
    const CtWord *fp = m->fp;
    if (fp == NULL) return CT_NO_RANGE;
    const uint32_t *at = m->pc;
    CtSourceRange first = CT_NO_RANGE;
    for (int calls = 0; calls < 1000000; calls++) {
        if (at != NULL) {
            CtSourceRange range = ct_eval_code_place(frame_code(fp), (uint32_t)(at - frame_code(fp)->words));
            if (first.source == 0) first = range;
            if (is_user(m, range)) return range;
        }
        const CtSourceRange *site = (const CtSourceRange *)(uintptr_t)fp[FRAME_SITE].integer;
        if (site != NULL) return *site;
        const uint32_t *back = frame_return(fp);
        if (back == &ct_eval_machine_halt[2]) break;
        at = back - 1;
        fp -= back[-2];
    }
    return first;
}

static void add_help(Machine *m, CtDiag *diag) {
    CtContext *context = m->program->context;
    if (diag->code == CT_E0801) ct_help(context, diag, "--max-memory sets the limit");
    if (diag->code == CT_E0802) ct_help(context, diag, "--max-steps sets the limit");
    if (diag->code == CT_E0803) ct_help(context, diag, "--max-depth sets the limit");
}

/* Releases everything that the run holds, then reports the error. */
static bool failed(Machine *m) {
    CtSourceRange range = ct_core_failing_place(m->program, failing_place(m));
    ct_eval_unwind(m);
    ct_eval_stack_trim(m);
    CtArena *arena = m->program->context->arena;
    if (m->arena_failed) {
        m->arena_failed = false;
        jmp_buf *outer = ct_arena_on_failure(arena, NULL);
        ct_arena_on_failure(arena, outer);
        if (outer != NULL) longjmp(*outer, 1);
    }
    if (m->error != CT_E0000) add_help(m, ct_error(m->program->context, m->error, range, "%s", m->error_text));
    m->error = CT_E0000;
    return false;
}

/* ---- calls ---- */

bool ct_eval_call(CtEval *eval, CtGlobal *global, const CtWord *args, uint32_t count, CtWord *result) {
    CtCode *code = ct_eval_code_of_global(eval, global);
    bool is_constant = code->lam == NULL;
    if (is_constant || (count == 0 && code->lam->count > 0)) {
        if (!is_constant) { /* a function as a value */
            CtClosure *closure = ct_eval_code_closure(eval, code);
            eval->fp = NULL;
            if (closure == NULL) return ct_eval_raise_memory(eval), failed(eval);
            result->object = ct_value_retain_object(&closure->head);
            return true;
        }
        if (code->state == CONSTANT_KNOWN) {
            ct_value_retain(global->type, code->value);
            *result = code->value;
            return true;
        }
        code->state = CONSTANT_RUNNING;
    }
    return ct_eval_machine_call(eval, code, NULL, args, count, result) || failed(eval);
}

bool ct_eval_apply(CtEval *eval, CtType *type, CtWord function, const CtWord *args, uint32_t count, CtWord *result) {
    (void)type;
    CtClosure *closure = (CtClosure *)function.object;
    CtClosure *env = closure->head.layout->count == 0 ? NULL : closure;
    if (env != NULL) ct_value_retain_object(&env->head);
    return ct_eval_machine_call(eval, closure->code, env, args, count, result) || failed(eval);
}

bool ct_eval_share(CtEval *eval, CtPool *pool) { return ct_eval_team_new(eval, pool); }

void ct_eval_alone(CtEval *eval) { ct_eval_team_end(eval); }

void ct_eval_measure(CtEval *eval) { eval->measures = true; }

void ct_eval_watch(CtEval *eval, CtWatch watch) { eval->watch = watch; }

void ct_eval_trap(CtEval *eval, CtTrap trap, bool in_derivative) {
    eval->trap = trap;
    eval->trap_in_derivative = in_derivative;
}

const CtLam *ct_eval_lam(CtWord function) {
    const CtCode *code = ((const CtClosure *)function.object)->code;
    return code->lam;
}

CtEvalStats ct_eval_stats(const CtEval *eval) {
    return (CtEvalStats){.steps = steps_done(eval, eval->fuel),
                         .span = span_done(eval, eval->fuel) + eval->aside,
                         .peak_memory = ct_value_heap_peak(eval->heap),
                         .max_depth = eval->max_depth};
}

void ct_eval_reset_stats(CtEval *eval) {
    eval->slice_end = eval->slack = eval->aside = 0;
    eval->fuel = 0;
    eval->max_depth = 0;
    ct_value_heap_reset_peak(eval->heap);
}

void ct_eval_limit_steps(CtEval *eval, uint64_t steps) { eval->limits.steps = steps; }

void ct_eval_ask(CtEval *eval, CtQuestion question) { eval->question = question; }

void ct_eval_clock(CtEval *eval, _Atomic uint64_t *clock) { eval->clock = clock; }

void ct_eval_effects(CtEval *eval, struct ct_effects *effects) { eval->effects = effects; }

void ct_eval_interrupt(CtEval *eval) { atomic_store_explicit(&eval->interrupt, true, memory_order_relaxed); }

void ct_eval_clear_interrupt(CtEval *eval) { atomic_store_explicit(&eval->interrupt, false, memory_order_relaxed); }
