/* Loops over rows in which each element is computed by itself: what is made of element j of some arrays goes to element
 * j of others. The compiler makes vectors of the elements of a row, which lie side by side; lanes would turn the rows
 * first. */
#include "emit/lanes.h"

/* The index of the loop comes last, or not at all. */
static bool is_beside(const CtFlowStep *step, uint32_t indices, const CtFlowVar *index) {
    for (uint32_t i = 1; i < indices; i++)
        if (step->args.items[i].var == index) return false;
    return step->args.items[0].type->rank == indices;
}

static bool is_plain(const CtFlowBlock *block) {
    const CtFlowVar *index = block->params.items[0];
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        uint32_t count = step->args.count;
        bool fits = step->kind == FLOW_DIM || step->kind == FLOW_RELEASE;
        if (step->kind == FLOW_PRIM) fits = ct_prim_is_light(step->as.prim);
        if (step->kind == FLOW_READ) fits = is_beside(step, count - 1, index);
        if (step->kind == FLOW_UPDATE) fits = is_beside(step, count - 2, index);
        if (step->kind == FLOW_LOOP) fits = ct_lanes_is_elementwise(step);
        if (!fits) return false;
    }
    return block->exit == EXIT_YIELD;
}

bool ct_lanes_is_elementwise(const CtFlowStep *loop) {
    for (uint32_t i = 0; i < loop->as.loop.carried; i++)
        if (loop->results.items[i]->type->kind != FLOW_ARRAY) return false;
    return !loop->as.loop.initial && is_plain(loop->as.loop.block);
}
