/* What a step may do beside giving its results: fail, or not end. Only what does neither may be dropped or done
 * later. Want of memory is no failure here: nobody may rely on it. */
#include "flow/opt/passes.h"

uint32_t ct_flow_size(const CtFlowBlock *block) {
    uint32_t size = block->steps.count;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) size += ct_flow_size(ct_flow_inner(step, j));
    }
    return size;
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

static bool total_block(const CtFlowEffects *effects, const CtFlowBlock *block, bool is_body);

static bool total_branches(const CtFlowEffects *effects, const CtFlowStep *step, bool is_body) {
    for (uint32_t i = 0; i < step->as.cases.count; i++)
        if (!total_block(effects, step->as.cases.branches[i].block, is_body)) return false;
    return step->as.cases.count > 0;
}

/* A body may end in a switch whose branches leave the function; other blocks must come to their own end. */
static bool total_block(const CtFlowEffects *effects, const CtFlowBlock *block, bool is_body) {
    uint32_t count = block->steps.count;
    const CtFlowStep *last = count > 0 ? block->steps.items[count - 1] : NULL;
    bool switches = is_body && block->exit == EXIT_NEVER && last != NULL && last->kind == FLOW_SWITCH;
    for (uint32_t i = 0; i < count - switches; i++)
        if (!ct_flow_is_total(effects, block->steps.items[i])) return false;
    if (switches) return total_branches(effects, last, true);
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

/* Functions that reach each other are total where all of them are if the others are, and their recursion ends. */
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
    /* the functions of each component, by their numbers from 1: the first of them, and the next behind each */
    uint32_t *first = CT_NEW_ARRAY(flow->arena, uint32_t, cycles.count + 1),
             *next = CT_NEW_ARRAY(flow->arena, uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        next[i + 1] = first[cycles.component[i]];
        first[cycles.component[i]] = i + 1;
    }
    for (uint32_t c = 1; c <= cycles.count; c++) find_total(flow, &effects, next, first[c], cycles.iterations[c]);
    return effects;
}
