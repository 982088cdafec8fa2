/* Derivatives of loops with unbounded trip count. A recursion that never meets its bound is a loop of 2⁶³ − 1
 * iterations (recursion_to_loop.c). Its derivative would store residuals for all of them, which no memory can hold. But
 * in practice the function fails in some iteration, and its derivative must fail likewise. So the derivative's loop
 * gets a number of iterations that is likely to reach the failure, and reports lack of memory only behind it.
 *
 *     iterations = switch b                 iterations = switch b
 *       yes: yield 2⁶³ − 1               yes: yield 2²⁰
 *       no:  yield n                     no:  yield n
 *     y, ys = scan iterations, … do …       y, ys = scan iterations, … do …
 *                                      switch b
 *                                        yes: fail
 *                                        no:  yield */
#include "flow/opt/passes.h"

enum { ENOUGH = 1 << 20 };

typedef struct Unbounded {
    CtFlow *flow;
    CtMap arrays;  /* ids of the trip counts of loops that make arrays */
    CtMap choices; /* id of a trip count -> Choice * */
} Unbounded;

typedef struct Choice {
    const CtFlowStep *step;
    uint32_t unbounded; /* the branch with the unbounded trip count */
} Choice;

static bool is_unbounded(const CtFlowBlock *block, uint32_t result) {
    if (block->exit != EXIT_YIELD) return false;
    const CtFlowArg *value = &block->values.items[result];
    return value->var == NULL && value->type->kind == FLOW_I64 && value->lit.integer == INT64_MAX;
}

static void find_arrays(Unbounded *e, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        CtFlowVar *iterations = step->kind == FLOW_LOOP ? step->args.items[0].var : NULL;
        if (iterations != NULL && step->as.loop.counted && step->results.count > step->as.loop.carried)
            ct_map_set(e->flow->arena, &e->arrays, iterations->id, iterations);
        for (uint32_t k = 0; k < ct_flow_inner_count(step); k++) find_arrays(e, ct_flow_inner(step, k));
    }
}

/* A trip count that is chosen by a switch with an unbounded branch. */
static void bound_iterations(Unbounded *e, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->results.count && step->as.cases.count == 2; i++) {
        const CtFlowVar *iterations = step->results.items[i];
        if (iterations == NULL || !ct_map_has(&e->arrays, iterations->id)) continue;
        for (uint32_t k = 0; k < 2; k++) {
            CtFlowBlock *branch = step->as.cases.branches[k].block;
            if (!is_unbounded(branch, i)) continue;
            Choice *choice = CT_NEW(e->flow->arena, Choice);
            CT_FIRED("unbounded_loops.loop");
            *choice = (Choice){step, k};
            branch->values.items[i].lit.integer = ENOUGH;
            ct_map_set(e->flow->arena, &e->choices, iterations->id, choice);
        }
    }
}

/* The failure behind the loop, in the unbounded case. */
static CtFlowStep *guard(const Unbounded *e, CtSourceRange range, const Choice *choice) {
    CtArena *arena = e->flow->arena;
    CtFlowStep *made = CT_NEW(arena, CtFlowStep), *fail = CT_NEW(arena, CtFlowStep);
    *fail = (CtFlowStep){.kind = FLOW_FAIL, .range = range};
    fail->as.fail.code = CT_E0801;
    fail->as.fail.text = "the run needs more memory than it may use";
    *made = (CtFlowStep){.kind = FLOW_SWITCH, .range = range};
    ct_push(arena, &made->args, choice->step->args.items[0]);
    made->as.cases.count = 2;
    made->as.cases.branches = CT_NEW_ARRAY(arena, CtFlowBranch, 2);
    for (uint32_t k = 0; k < 2; k++) {
        CtFlowBlock *block = CT_NEW(arena, CtFlowBlock);
        block->range = range;
        block->exit = k == choice->unbounded ? EXIT_NEVER : EXIT_YIELD;
        if (k == choice->unbounded) ct_push(arena, &block->steps, fail);
        made->as.cases.branches[k] = (CtFlowBranch){choice->step->as.cases.branches[k].tag, block};
    }
    return made;
}

static void visit(Unbounded *e, CtFlowBlock *block) {
    CtFlowBlock old = *block;
    memset(&block->steps, 0, sizeof block->steps);
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        for (uint32_t k = 0; k < ct_flow_inner_count(step); k++) visit(e, ct_flow_inner(step, k));
        if (step->kind == FLOW_SWITCH) bound_iterations(e, step);
        ct_push(e->flow->arena, &block->steps, step);
        const CtFlowVar *iterations = step->kind == FLOW_LOOP && step->as.loop.counted ? step->args.items[0].var : NULL;
        const Choice *choice = iterations != NULL ? ct_map_get(&e->choices, iterations->id) : NULL;
        if (choice != NULL) ct_push(e->flow->arena, &block->steps, guard(e, step->range, choice));
    }
}

void ct_flow_unbounded_loops(CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        Unbounded e = {.flow = flow};
        if (function->body == NULL) continue;
        find_arrays(&e, function->body);
        visit(&e, function->body);
    }
}
