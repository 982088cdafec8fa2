/* Derivatives of loops with unbounded trip count. A recursion that never meets its bound is a loop of 2⁶³ − 1
 * iterations (recursion_to_loop.c). Its derivative would store residuals for all of them, which no memory can hold. But
 * in practice the function fails in some iteration, and its derivative must fail likewise. So the derivative's loop
 * gets a number of iterations that is likely to reach the failure, and reports lack of memory only behind it.
 *
 *     n = switch b                                n, bounded = switch b
 *       yes: yield 2⁶³ − 1                          yes: yield 2⁶³ − 1, 2²⁰
 *       no:  yield m                                no:  yield m, m
 *     y, ys = scan n, … do …              →       y, ys = scan bounded, … do …
 *                                                 switch b { yes: fail  no: yield }
 *
 * Other uses of the number, which may be the program's own, stay. The reverse sweep stands behind the failure. */
#include "flow/opt/passes.h"

enum { ENOUGH = 1 << 20 };

typedef struct Unbounded {
    CtFlow *flow;
    CtFlowFunction *function;
    CtMap arrays;  /* ids of the trip counts of loops that make arrays */
    CtMap choices; /* id of a trip count -> Choice * */
} Unbounded;

typedef struct Choice {
    const CtFlowStep *step;
    uint32_t unbounded; /* the branch with the unbounded trip count */
    CtFlowVar *bounded; /* the trip count of loops that make arrays */
} Choice;

static bool makes_arrays(const CtFlowStep *step) {
    return step->kind == FLOW_LOOP && step->as.loop.counted && step->results.count > step->as.loop.carried;
}

static bool is_unbounded(const CtFlowBlock *block, uint32_t result) {
    if (block->exit != EXIT_YIELD) return false;
    const CtFlowArg *value = &block->values.items[result];
    return value->var == NULL && value->type->kind == FLOW_I64 && value->lit.integer == INT64_MAX;
}

static void find_arrays(Unbounded *e, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        CtFlowVar *iterations = makes_arrays(step) ? step->args.items[0].var : NULL;
        if (iterations != NULL) ct_map_set(e->flow->arena, &e->arrays, iterations->id, iterations);
        for (uint32_t k = 0; k < ct_flow_inner_count(step); k++) find_arrays(e, ct_flow_inner(step, k));
    }
}

/* A trip count that is chosen by a switch with an unbounded branch: the switch gives the bounded one, too. */
static void bound_iterations(Unbounded *e, CtFlowStep *step) {
    for (uint32_t i = 0, count = step->results.count; i < count && step->as.cases.count == 2; i++) {
        const CtFlowVar *iterations = step->results.items[i];
        if (iterations == NULL || !ct_map_has(&e->arrays, iterations->id)) continue;
        for (uint32_t k = 0; k < 2; k++) {
            CtFlowBlock *branch = step->as.cases.branches[k].block;
            if (!is_unbounded(branch, i)) continue;
            Choice *choice = CT_NEW(e->flow->arena, Choice);
            CT_FIRED("unbounded_loops.loop");
            *choice = (Choice){step, k, ct_flow_fresh(e->flow, e->function, "bounded", iterations->type)};
            ct_push(e->flow->arena, &step->results, choice->bounded);
            for (uint32_t j = 0; j < 2; j++) {
                CtFlowBlock *block = step->as.cases.branches[j].block;
                if (block->exit != EXIT_YIELD) continue;
                CtFlowArg value = block->values.items[i];
                if (j == k) value.lit.integer = ENOUGH;
                ct_flow_insert_arg(e->flow->arena, &block->values, block->values.count, value);
            }
            ct_map_set(e->flow->arena, &e->choices, iterations->id, choice);
            break;
        }
    }
}

/* The failure behind a loop, in one branch of a switch. */
static CtFlowStep *guard(const Unbounded *e, CtSourceRange range, CtFlowArg on, const uint32_t *tags,
                         uint32_t unbounded) {
    CtArena *arena = e->flow->arena;
    CtFlowStep *made = CT_NEW(arena, CtFlowStep), *fail = CT_NEW(arena, CtFlowStep);
    *fail = (CtFlowStep){.kind = FLOW_FAIL, .range = range};
    fail->as.fail.code = CT_E0801;
    fail->as.fail.text = "the run needs more memory than it may use";
    *made = (CtFlowStep){.kind = FLOW_SWITCH, .range = range};
    ct_push(arena, &made->args, on);
    made->as.cases.count = 2;
    made->as.cases.branches = CT_NEW_ARRAY(arena, CtFlowBranch, 2);
    for (uint32_t k = 0; k < 2; k++) {
        CtFlowBlock *block = CT_NEW(arena, CtFlowBlock);
        block->range = range;
        block->exit = k == unbounded ? EXIT_NEVER : EXIT_YIELD;
        if (k == unbounded) ct_push(arena, &block->steps, fail);
        made->as.cases.branches[k] = (CtFlowBranch){tags[k], block};
    }
    return made;
}

/* Bounds a loop that makes arrays: what stands behind it; NULL if it is bounded. */
static CtFlowStep *bound_loop(const Unbounded *e, CtFlowStep *loop) {
    CtFlowArg *count = &loop->args.items[0];
    if (count->var == NULL) {
        if (count->lit.integer < INT64_MAX) return NULL;
        CT_FIRED("unbounded_loops.literal");
        CtFlowArg always = *count;
        always.lit.integer = 1;
        count->lit.integer = ENOUGH;
        return guard(e, loop->range, always, (const uint32_t[]){0, 1}, 1);
    }
    const Choice *choice = ct_map_get(&e->choices, count->var->id);
    if (choice == NULL) return NULL;
    const CtFlowBranch *branches = choice->step->as.cases.branches;
    *count = flow_of(choice->bounded);
    return guard(e, loop->range, choice->step->args.items[0], (const uint32_t[]){branches[0].tag, branches[1].tag},
                 choice->unbounded);
}

static void visit(Unbounded *e, CtFlowBlock *block) {
    CtFlowBlock old = *block;
    memset(&block->steps, 0, sizeof block->steps);
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        for (uint32_t k = 0; k < ct_flow_inner_count(step); k++) visit(e, ct_flow_inner(step, k));
        if (step->kind == FLOW_SWITCH) bound_iterations(e, step);
        ct_push(e->flow->arena, &block->steps, step);
        CtFlowStep *behind = makes_arrays(step) ? bound_loop(e, step) : NULL;
        if (behind != NULL) ct_push(e->flow->arena, &block->steps, behind);
    }
}

void ct_flow_unbounded_loops(CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        Unbounded e = {.flow = flow, .function = function};
        if (function->body == NULL) continue;
        find_arrays(&e, function->body);
        visit(&e, function->body);
    }
}
