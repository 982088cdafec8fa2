/* Estimates the work of a loop before it begins: iterations times steps, including inner loops with known lengths. */
#include "emit/shared_loops.h"

#include <math.h>

enum {
    WORK_UNKNOWN = 8, /* iterations of a loop of unknown length */
    WORK_SIDE = 32,   /* rows of a matrix of unknown size */
    WORK_RECURSION = 1000,
    WORK_CALL = 100, /* of a call that is not looked into, at depth WORK_DEEPEST */
    WORK_DEEPEST = 4,
};

typedef struct Work {
    double steps;
    CtText *terms; /* of a sum in C: " + n * (…)" */
    int depth;     /* of calls that have been looked into */
} Work;

static void add_block(Emit *e, const CtFlowBlock *block, Work *work);

static bool is_known(const Emit *e, const CtFlowArg *arg) {
    return arg->var == NULL || e->uses[arg->var->id].text != NULL;
}

static const char *text_of(Emit *e, const Work *work) {
    return work->terms->length == 0 ? ct_format(e->arena, "%.1f", work->steps)
                                    : ct_format(e->arena, "(%.1f%s)", work->steps, work->terms->data);
}

static void add_loop(Emit *e, const CtFlowStep *loop, Work *work) {
    const CtFlowArg *count = &loop->args.items[0];
    CtText terms = ct_text(e->arena);
    Work iteration = {1, &terms, work->depth};
    ct_text_puts(&terms, "");
    add_block(e, loop->as.loop.block, &iteration);
    work->steps += 2;
    if (count->var != NULL && is_known(e, count)) {
        ct_text_printf(work->terms, " + (double)%s * %s", ct_emit_operand(e, count), text_of(e, &iteration));
        return;
    }
    double iterations = count->var == NULL ? (double)count->lit.integer : WORK_UNKNOWN;
    work->steps += iterations * iteration.steps;
    if (terms.length > 0) ct_text_printf(work->terms, " + %.1f * (0.0%s)", iterations, terms.data);
}

static bool iterations(const CtFlowFunction *function, const CtFlowBlock *block) {
    if (block->exit == EXIT_TAIL && block->tail == function) return true;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            if (iterations(function, step->as.cases.branches[j].block)) return true;
    }
    return false;
}

/* The work of a function's body at a depth of calls. It is the same for all of its calls, in which no length is known,
 * and is found once: as many calls as there are in each function would be looked into at every depth. */
static double body_work(Emit *e, const CtFlowFunction *function, int depth) {
    if (e->work == NULL) e->work = CT_NEW_ARRAY(e->arena, double, (size_t)e->flow->functions.count *(WORK_DEEPEST + 1));
    double *known = &e->work[(size_t)function->id * (WORK_DEEPEST + 1) + (size_t)depth];
    if (*known > 0) return *known - 1;
    CtText terms = ct_text(e->arena);
    Work work = {0, &terms, depth};
    Use *uses = e->uses;
    e->uses = CT_NEW_ARRAY(e->arena, Use, function->vars + 1);
    add_block(e, function->body, &work);
    e->uses = uses;
    *known = work.steps + 1;
    return work.steps;
}

static void add_call(Emit *e, const CtFlowFunction *callee, Work *work) {
    if (callee->recurses || callee->group != 0 || iterations(callee, callee->body)) {
        work->steps += WORK_RECURSION;
    } else if (work->depth == WORK_DEEPEST) {
        work->steps += WORK_CALL;
    } else {
        work->steps += body_work(e, callee, work->depth + 1);
    }
}

/* A matrix product: the number of all terms of its sums, some of which run in one step. */
static void add_product(Emit *e, const CtFlowStep *step, Work *work) {
    CtText sides = ct_text(e->arena);
    double known = 1.0 / 8;
    ct_text_puts(&sides, "");
    for (uint32_t i = 0; i < 3; i++) {
        const CtFlowArg *arg = &step->args.items[i]; /* two lengths; then a matrix, one of whose lengths is the third */
        if (arg->var == NULL)
            known *= (double)arg->lit.integer;
        else if (!is_known(e, arg))
            known *= WORK_SIDE;
        else if (i < 2)
            ct_text_printf(&sides, " * (double)%s", ct_emit_operand(e, arg));
        else
            ct_text_printf(&sides, " * (double)ct_length(%s, %d)", ct_emit_arg(e, arg),
                           1 - step->as.product.transposed[0]);
    }
    if (sides.length > 0)
        ct_text_printf(work->terms, " + %g%s", known, sides.data);
    else
        work->steps += known;
}

static void add_step(Emit *e, const CtFlowStep *step, Work *work) {
    work->steps += ct_flow_step_info(step->kind)->work;
    if (step->kind == FLOW_LOOP) add_loop(e, step, work);
    if (step->kind == FLOW_PRIM) work->steps += ct_prim_info(step->as.prim)->work;
    if (step->kind == FLOW_PRODUCT) add_product(e, step, work);
    if (step->kind == FLOW_CALL) add_call(e, step->as.function, work);
    for (uint32_t i = 0; step->kind == FLOW_SWITCH && i < step->as.cases.count; i++)
        add_block(e, step->as.cases.branches[i].block, work);
}

static void add_block(Emit *e, const CtFlowBlock *block, Work *work) {
    for (uint32_t i = 0; i < block->steps.count; i++) add_step(e, block->steps.items[i], work);
    if (block->exit == EXIT_TAIL) add_call(e, block->tail, work);
}

const char *ct_emit_share_work(Emit *e, const CtFlowStep *loop, double *most) {
    CtText terms = ct_text(e->arena);
    Work iteration = {1, &terms, 0};
    ct_text_puts(&terms, "");
    add_block(e, loop->as.loop.block, &iteration);
    const CtFlowArg *count = &loop->args.items[0];
    bool counted = count->var == NULL && terms.length == 0;
    *most = counted ? (double)count->lit.integer * iteration.steps : INFINITY;
    return text_of(e, &iteration);
}
