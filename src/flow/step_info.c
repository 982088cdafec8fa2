/* The columns of flow.def, and the questions about steps that they answer. */
#include "flow/flow.h"

static const CtFlowStepInfo infos[] = {
#define OWN 0 /* in the `work` column; in others OWN is part of a name */
#define FLOW_STEP(kind, name, fails, takes, makes, looks, again, moves, repeats, work, what)                           \
    {name,          FAILS_##fails, TAKES_##takes,     MAKES_##makes, LOOKS_##looks,                                    \
     AGAIN_##again, MOVES_##moves, REPEATS_##repeats, work},
#include "flow/flow.def"
#undef FLOW_STEP
#undef OWN
};

const CtFlowStepInfo *ct_flow_step_info(CtFlowStepKind kind) { return &infos[kind]; }

bool ct_flow_is_check(const CtFlowStep *step) { return ct_flow_step_info(step->kind)->fails == FAILS_CHECK; }

CtFlowStep *ct_flow_binder(const CtFlowBlock *block, const CtFlowVar *var) {
    for (uint32_t i = 0; var != NULL && i < block->steps.count; i++)
        for (uint32_t j = 0; j < block->steps.items[i]->results.count; j++)
            if (block->steps.items[i]->results.items[j] == var) return block->steps.items[i];
    return NULL;
}

uint32_t ct_flow_result_index(const CtFlowStep *step, const CtFlowVar *var) {
    uint32_t i = 0;
    while (step->results.items[i] != var) i++;
    return i;
}

bool ct_flow_binds(const CtFlowBlock *block, const CtFlowVar *var) {
    if (ct_flow_binder(block, var) != NULL) return true;
    for (uint32_t i = 0; i < block->params.count; i++)
        if (block->params.items[i] == var) return true;
    for (uint32_t i = 0; i < block->steps.count; i++)
        for (uint32_t j = 0; j < ct_flow_inner_count(block->steps.items[i]); j++)
            if (ct_flow_binds(ct_flow_inner(block->steps.items[i], j), var)) return true;
    return false;
}

uint32_t ct_flow_branch_for(const CtFlowStep *choice, int64_t tag) {
    uint32_t i = 0;
    while (i + 1 < choice->as.cases.count && (int64_t)choice->as.cases.branches[i].tag != tag) i++;
    return i;
}

bool ct_flow_is_front(const CtFlowStep *step) {
    return ct_flow_is_bulk(step, ARRAY_SLICE) && ct_flow_is_int(&step->args.items[0], 0);
}

bool ct_flow_takes(const CtFlowStep *step, uint32_t index) {
    if (step->kind == FLOW_CALL && index < 64 && step->as.function->borrows >> index & 1) return false;
    switch (ct_flow_step_info(step->kind)->takes) {
    case TAKES_NONE: return false;
    case TAKES_ALL: return true;
    case TAKES_REST: return index > 0;
    case TAKES_ENDS: return index == 0 || index + 1 == step->args.count;
    case TAKES_NODE: return false; /* handled by count_open */
    case TAKES_OWN: return index == 2 && ct_flow_is_front(step);
    }
    return false;
}
