/* Which functions tell messages (Debug.Trace). No value depends on a message, but each is told once, in its place. */
#include "flow/analysis/analysis.h"

bool ct_flow_is_message(const CtFlowStep *step) { return ct_flow_is_prim(step, PRIM_TRACE); }

bool ct_flow_tells(const bool *telling, const CtFlowStep *step) {
    if (telling == NULL) return false;
    if (step->kind == FLOW_CALL) return telling[step->as.function->id];
    if (step->kind == FLOW_CONSTANT) return telling[step->as.constant->function->id];
    if (ct_flow_is_derivative(step) || ct_flow_is_message(step)) return true;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) {
        const CtFlowBlock *block = ct_flow_inner(step, i);
        for (uint32_t j = 0; j < block->steps.count; j++)
            if (ct_flow_tells(telling, block->steps.items[j])) return true;
        if (block->exit == EXIT_TAIL && telling[block->tail->id]) return true;
    }
    return false;
}

static bool tells(const bool *telling, const CtFlowBlock *body) {
    for (uint32_t i = 0; i < body->steps.count; i++)
        if (ct_flow_tells(telling, body->steps.items[i])) return true;
    return body->exit == EXIT_TAIL && telling[body->tail->id];
}

const bool *ct_flow_telling(CtFlow *flow) {
    if (!flow->tells_messages) return NULL;
    bool *telling = CT_NEW_ARRAY(flow->arena, bool, flow->functions.count + 1);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < flow->functions.count; i++) {
            const CtFlowFunction *function = flow->functions.items[i];
            if (telling[function->id] || !tells(telling, function->body)) continue;
            telling[function->id] = changed = true;
        }
    }
    return telling;
}
