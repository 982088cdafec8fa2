/* Values that a loop carries and folds, ((carried ∘ a) ∘ b) …: sums, products, extremes. So each lane of a vector, and
 * each part of a loop that threads share, may fold into a value of its own. */
#include "emit/internal.h"

/* Which of the variables that a loop carries ends as a result: its number. None: UINT32_MAX. */
static uint32_t carried_index(const CtFlowStep *loop, const CtFlowVar *result) {
    for (uint32_t i = 0; i < loop->as.loop.carried && loop->as.loop.block->exit == EXIT_YIELD; i++)
        if (loop->results.items[i] == result) return i;
    return UINT32_MAX;
}

const CtFlowStep *ct_emit_last_fold(const CtFlowBlock *block, const CtFlowVar *value) {
    const CtFlowStep *step = ct_flow_binder(block, value);
    if (step == NULL || step->kind != FLOW_LOOP) return step;
    uint32_t i = carried_index(step, value);
    return i != UINT32_MAX ? ct_emit_last_fold(step->as.loop.block, step->as.loop.block->values.items[i].var) : NULL;
}

bool ct_emit_is_folded(const Emit *e, const CtFlowBlock *block, const CtFlowVar *param, const CtFlowVar *value,
                       CtPrim prim, bool commutes) {
    if (value == NULL || e->uses[value->id].count != 1) return false;
    if (value == param) return true;
    const CtFlowStep *step = ct_flow_binder(block, value);
    if (step != NULL && step->kind == FLOW_LOOP) {
        uint32_t i = carried_index(step, value);
        const CtFlowBlock *inner = step->as.loop.block;
        return i != UINT32_MAX && CT_FIRED("folds.in_loop") &&
               ct_emit_is_folded(e, inner, inner->params.items[1 + i], inner->values.items[i].var, prim, commutes) &&
               ct_emit_is_folded(e, block, param, step->args.items[1 + i].var, prim, commutes);
    }
    if (!ct_flow_is_prim(step, prim)) return false;
    return ct_emit_is_folded(e, block, param, step->args.items[0].var, prim, commutes) ||
           (commutes && ct_emit_is_folded(e, block, param, step->args.items[1].var, prim, commutes));
}
