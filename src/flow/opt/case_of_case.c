/* Case of case. A switch on the Int that another switch gives moves into the branches of that one, where it is often a
 * literal: so `a || b` and `a && b`, on which a program branches, become branches on a and on b. What is then known in
 * each branch of indices and lengths decides the checks there, and such tests of a loop's index part its iterations
 * (analysis/pieces.c).
 *
 *     t = switch a                            z = switch a
 *         1: yield 1                              1: …x; yield x
 *         0: …; yield b                 →         0: …; z' = switch b
 *     z = switch t                                            1: …x; yield x
 *         1: …x; yield x                                      0: …y; yield y
 *         0: …y; yield y                              yield z'
 *
 * The branch that several literals lead to is copied, and must be small. The tests are comparisons of Ints: others are
 * computed for all lanes of a vector, which chooses by them once. */
#include "flow/opt/passes.h"

enum { LARGEST = 8 }; /* steps of a branch that is copied */

typedef struct Cases {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowFacts facts;
    CtFlowEffects effects;
    uint32_t *uses; /* by variable number; of those that the pass makes it is not asked */
    uint32_t vars;
} Cases;

/* ---- which switches ---- */

/* Whether each branch of a switch yields or fails, without leaving the function, and one yields. */
static bool yields_or_fails(const CtFlowStep *choice) {
    bool yields = false;
    for (uint32_t i = 0; i < choice->as.cases.count; i++) {
        const CtFlowBlock *block = choice->as.cases.branches[i].block;
        if ((block->exit != EXIT_YIELD && block->exit != EXIT_NEVER) || ct_flow_leaves(block)) return false;
        yields = yields || block->exit == EXIT_YIELD;
    }
    return yields;
}

/* Whether a test compares Ints. */
static bool compares_ints(const Cases *c, const CtFlowArg *on) {
    const CtFlowStep *test = ct_flow_maker(&c->facts, on, FLOW_PRIM);
    return ct_flow_is_prim(test, PRIM_INT_EQ) || ct_flow_is_prim(test, PRIM_INT_LT) ||
           ct_flow_is_prim(test, PRIM_INT_LE);
}

/* Whether a step gives one Int, which a later switch is on and nothing else uses. */
static bool gives_test(const Cases *c, const CtFlowStep *step) {
    if (step->kind != FLOW_SWITCH || step->results.count != 1 || step->results.items[0] == NULL) return false;
    const CtFlowVar *given = step->results.items[0];
    return given->type->kind == FLOW_I64 && given->id < c->vars && c->uses[given->id] == 1 && yields_or_fails(step) &&
           compares_ints(c, &step->args.items[0]);
}

static bool uses(const CtFlowStep *step, const CtFlowVar *var) {
    for (uint32_t i = 0; i < step->args.count; i++)
        if (step->args.items[i].var == var) return true;
    return false;
}

/* The index of the switch on what step `first` gives, behind steps that cannot fail; 0: there is none. */
static uint32_t find_second(const Cases *c, const CtFlowBlock *block, uint32_t first) {
    const CtFlowVar *given = block->steps.items[first]->results.items[0];
    for (uint32_t i = first + 1; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_SWITCH && step->args.items[0].var == given) return yields_or_fails(step) ? i : 0;
        if (!ct_flow_is_total(&c->effects, step) || uses(step, given) || ct_flow_inner_count(step) > 0) return 0;
    }
    return 0;
}

/* Whether a branch costs as little as the test that it is copied for, or fails. */
static bool is_small(const CtFlowBlock *block) {
    if (block->exit == EXIT_NEVER) return ct_flow_size(block) <= LARGEST;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool light = step->kind == FLOW_PRIM && ct_prim_is_light(step->as.prim);
        if (!light && step->kind != FLOW_READ && step->kind != FLOW_CHECK && step->kind != FLOW_DIM) return false;
    }
    return block->steps.count <= LARGEST;
}

/* Whether the second switch may move into the first: one branch at least decides it, and what has to be copied is
 * small. */
static bool may_move(Cases *c, const CtFlowStep *first, const CtFlowStep *second) {
    uint32_t others = 0, count = second->as.cases.count;
    uint32_t *copies = CT_NEW_ARRAY(c->arena, uint32_t, count);
    bool decides = false;
    for (uint32_t i = 0; i < second->results.count; i++)
        if (second->results.items[i] == NULL) return false;
    for (uint32_t i = 0; i < first->as.cases.count; i++) {
        const CtFlowBlock *branch = first->as.cases.branches[i].block;
        if (branch->exit == EXIT_NEVER) continue;
        const CtFlowArg *value = &branch->values.items[0];
        if (value->var != NULL) {
            others++;
        } else {
            copies[ct_flow_branch_for(second, value->lit.integer)]++;
            decides = true;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (copies[i] + others > 1 && copies[i] > 0 && !is_small(second->as.cases.branches[i].block)) return false;
    return decides && others <= 1;
}

/* ---- moving ---- */

/* Puts the second switch, or the branch of it that a literal decides, at the end of a branch of the first. */
static void join(Cases *c, CtFlowBlock *branch, const CtFlowStep *second) {
    CtFlowArg value = branch->values.items[0];
    CtFlowCopy copy = {.flow = c->flow, .into = c->function, .place = CT_NO_RANGE};
    branch->values = (CtFlowArgs){0};
    if (value.var != NULL) {
        ct_flow_copy_stands(&copy, second->args.items[0].var, value);
        CtFlowStep *again = ct_flow_copy_step(&copy, second);
        ct_push(c->arena, &branch->steps, again);
        for (uint32_t i = 0; i < again->results.count; i++)
            ct_push(c->arena, &branch->values, flow_of(again->results.items[i]));
        return;
    }
    CtFlowBlock *taken =
        ct_flow_copy_block(&copy, second->as.cases.branches[ct_flow_branch_for(second, value.lit.integer)].block);
    for (uint32_t i = 0; i < taken->steps.count; i++) ct_push(c->arena, &branch->steps, taken->steps.items[i]);
    branch->values = taken->values;
    branch->exit = taken->exit;
}

static void visit(Cases *c, CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *first = block->steps.items[i];
        uint32_t at = gives_test(c, first) ? find_second(c, block, i) : 0;
        if (at > 0 && may_move(c, first, block->steps.items[at]) && CT_FIRED("case_of_case.switch")) {
            CtFlowStep *second = block->steps.items[at];
            for (uint32_t j = 0; j < first->as.cases.count; j++)
                if (first->as.cases.branches[j].block->exit == EXIT_YIELD)
                    join(c, first->as.cases.branches[j].block, second);
            first->results = second->results;
            for (uint32_t j = i; j + 1 < at; j++) block->steps.items[j] = block->steps.items[j + 1];
            block->steps.items[at - 1] = first;
            for (uint32_t j = at; j + 1 < block->steps.count; j++) block->steps.items[j] = block->steps.items[j + 1];
            block->steps.count--;
            i--; /* what is there now has not been looked at */
            continue;
        }
        for (uint32_t j = 0; j < ct_flow_inner_count(first); j++) visit(c, ct_flow_inner(first, j));
    }
}

void ct_flow_case_of_case(CtFlow *flow) {
    Cases c = {.flow = flow, .arena = flow->arena, .effects = ct_flow_effects(flow)};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        c.function = flow->functions.items[i];
        c.vars = c.function->vars;
        c.uses = ct_flow_count_uses(flow, c.function);
        ct_flow_facts_begin(&c.facts, flow, c.function);
        visit(&c, c.function->body);
    }
}
