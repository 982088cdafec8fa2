/* Reuse of dying vectors. If a loop reads a vector only at its own index, and the vector dies with the loop and is
 * unshared, the loop's result is written over it. That memory is in the cache, and need not be allocated. */
#include "emit/internal.h"

/* Whether an array is a vector of numbers from outside that the loop reads at its own index only. */
static bool is_read_through(const Emit *e, const CtFlowStep *loop, const CtFlowVar *array) {
    const CtFlowBlock *block = loop->as.loop.block;
    bool reads = false;
    if (array->type->rank != 1 || array->type->element->kind != FLOW_F64) return false;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind != FLOW_READ || step->args.items[0].var != array) continue;
        if (step->args.items[1].var != block->params.items[0]) return false;
        reads = true;
    }
    for (uint32_t i = 0; i < block->values.count; i++) reads &= block->values.items[i].var != array;
    return reads && e->uses[array->id].text != NULL;
}

/* Only straight-line bodies: a loop that fails after it has overwritten its input could not be repeated. */
CtFlowVar *ct_emit_ending(const Emit *e, const CtFlowStep *loop, uint32_t index) {
    const CtFlowBlock *around = e->block;
    uint32_t at = 0;
    while (around->steps.items[at] != loop) at++;
    if (e->in_loop || e->part != NULL || !ct_flow_is_straight(loop->as.loop.block)) return NULL;
    for (at++; at < around->steps.count && around->steps.items[at]->kind == FLOW_RELEASE; at++) {
        CtFlowVar *array = around->steps.items[at]->args.items[0].var;
        if (is_read_through(e, loop, array) && index-- == 0) return CT_FIRED("reuse_dying.array"), array;
    }
    return NULL;
}
