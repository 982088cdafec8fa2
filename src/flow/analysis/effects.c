/* Effect analysis: whether a step may fail or not terminate. Only a total step may be dropped or postponed. Lack of
 * memory does not count as a failure, since no program can rely on it. */
#include "flow/analysis/analysis.h"

/* ---- single steps ---- */

/* Whether the rows of a loop's array may differ in length. */
static bool makes_odd_rows(const CtFlowStep *loop) {
    for (uint32_t i = loop->as.loop.carried; i < loop->results.count; i++)
        if (!ct_flow_is_regular(loop, i)) return true;
    return false;
}

/* A division by a literal other than 0 cannot fail. */
static bool prim_fails(const CtFlowStep *step) {
    if (ct_core_prim_is_total(step->as.prim)) return false;
    bool divides = step->args.count == 2 && step->as.prim != PRIM_EFFECT && step->args.items[1].type->kind == FLOW_I64;
    return !divides || step->args.items[1].var != NULL || step->args.items[1].lit.integer == 0;
}

/* Failures of whole-array operations that the checks before them do not cover. */
static bool bulk_fails(const CtFlowStep *step) {
    CtArrayFails fails = ct_core_array_info(step->as.bulk)->fails;
    return fails == ARRAY_FAILS_ITSELF || (fails == ARRAY_FAILS_ROWS && step->results.items[0]->type->rank > 1);
}

bool ct_flow_step_fails(const CtFlowStep *step) {
    CtFlowFails fails = ct_flow_step_info(step->kind)->fails;
    if (fails != FAILS_OWN) return fails != FAILS_NEVER;
    if (step->kind == FLOW_PRIM) return prim_fails(step);
    if (step->kind == FLOW_UPDATE) return step->results.items[0]->type->rank > step->args.count - 2;
    if (step->kind == FLOW_SNOC) return step->results.items[0]->type->rank > 1 && !step->as.follows;
    if (step->kind == FLOW_LOOP) return makes_odd_rows(step);
    return step->kind != FLOW_BULK || bulk_fails(step);
}

bool ct_flow_allocates(const CtFlowStep *step) {
    switch (ct_flow_step_info(step->kind)->makes) {
    case MAKES_NOTHING: return false;
    case MAKES_MEMORY: return true;
    case MAKES_OBJECT: return ct_flow_is_object(step->results.items[0]->type);
    case MAKES_ARRAYS: return step->results.count > step->as.loop.carried;
    }
    return true;
}

bool ct_flow_is_straight(const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool reads = step->kind == FLOW_READ && !ct_flow_is_object(step->results.items[0]->type);
        if (!reads && (step->kind != FLOW_PRIM || ct_flow_step_fails(step))) return false;
    }
    return block->exit == EXIT_YIELD;
}

/* ---- blocks ---- */

uint32_t ct_flow_size(const CtFlowBlock *block) {
    uint32_t size = block->steps.count;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) size += ct_flow_size(ct_flow_inner(step, j));
    }
    return size;
}

uint32_t ct_flow_depth(const CtFlowBlock *block) {
    uint32_t depth = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) {
            uint32_t inner = 1 + ct_flow_depth(ct_flow_inner(step, j));
            if (inner > depth) depth = inner;
        }
    }
    return depth;
}

uint32_t ct_flow_program_size(const CtFlow *flow) {
    uint32_t size = 0;
    for (uint32_t i = 0; i < flow->functions.count; i++) size += ct_flow_size(flow->functions.items[i]->body);
    return size;
}

bool ct_flow_leaves(const CtFlowBlock *block) {
    if (block->exit == EXIT_RETURN || block->exit == EXIT_TAIL) return true;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (ct_flow_leaves(ct_flow_inner(step, j))) return true;
    }
    return false;
}

const CtFlowStep *ct_flow_last_switch(const CtFlowBlock *block) {
    if (block->exit != EXIT_NEVER || block->steps.count == 0) return NULL;
    const CtFlowStep *last = block->steps.items[block->steps.count - 1];
    return last->kind == FLOW_SWITCH ? last : NULL;
}

static bool total_block(const CtFlowEffects *effects, const CtFlowBlock *block, bool is_body);

static bool total_branches(const CtFlowEffects *effects, const CtFlowStep *step, bool is_body) {
    for (uint32_t i = 0; i < step->as.cases.count; i++)
        if (!total_block(effects, step->as.cases.branches[i].block, is_body)) return false;
    return step->as.cases.count > 0;
}

/* A function's body may end in a switch whose branches leave the function; any other block must reach its own end. */
static bool total_block(const CtFlowEffects *effects, const CtFlowBlock *block, bool is_body) {
    const CtFlowStep *last = is_body ? ct_flow_last_switch(block) : NULL;
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (block->steps.items[i] != last && !ct_flow_is_total(effects, block->steps.items[i])) return false;
    if (last != NULL) return total_branches(effects, last, true);
    if (!is_body) return block->exit == EXIT_YIELD;
    return block->exit == EXIT_RETURN || (block->exit == EXIT_TAIL && effects->total[block->tail->id]);
}

bool ct_flow_block_is_total(const CtFlowEffects *effects, const CtFlowBlock *block) {
    return total_block(effects, block, false);
}

bool ct_flow_is_total(const CtFlowEffects *effects, const CtFlowStep *step) {
    if (ct_flow_step_fails(step)) return false;
    if (ct_flow_is_derivative(step)) return false;
    if (step->kind == FLOW_CALL) return effects->total[step->as.function->id];
    if (step->kind == FLOW_CONSTANT) return effects->total[step->as.constant->function->id];
    if (step->kind == FLOW_LOOP) return total_block(effects, step->as.loop.block, false);
    if (step->kind == FLOW_SWITCH) return total_branches(effects, step, false);
    return true;
}

/* The functions of a component are total if all of them are under the assumption that the others are, and the recursion
 * terminates. */
static void find_total(const CtFlow *flow, CtFlowEffects *effects, const uint32_t *next, uint32_t first,
                       bool iterations) {
    bool total = true;
    for (uint32_t i = first; i > 0; i = next[i]) effects->total[i - 1] = true;
    for (uint32_t i = first; i > 0 && total; i = next[i]) {
        const CtFlowFunction *function = flow->functions.items[i - 1];
        total = (function->ends || !iterations) && total_block(effects, function->body, true);
    }
    for (uint32_t i = first; i > 0; i = next[i]) effects->total[i - 1] = total;
}

CtFlowEffects ct_flow_effects(CtFlow *flow) {
    uint32_t count = flow->functions.count;
    CtFlowEffects effects = {CT_NEW_ARRAY(flow->arena, bool, count + 1)};
    CtFlowCycles cycles = ct_flow_cycles(flow, false);
    /* linked lists of the functions in each component: its first function, and the next one behind each */
    uint32_t *first = CT_NEW_ARRAY(flow->arena, uint32_t, cycles.count + 1),
             *next = CT_NEW_ARRAY(flow->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        next[i + 1] = first[cycles.component[i]];
        first[cycles.component[i]] = i + 1;
    }
    for (uint32_t c = 1; c <= cycles.count; c++) find_total(flow, &effects, next, first[c], cycles.iterations[c]);
    return effects;
}
