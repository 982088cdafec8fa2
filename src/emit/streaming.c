/* Arrays that are results of the program and are not used otherwise. Long ones are written with non-temporal stores
 * (rt/simd.h): a loop with little work for each element is bound by memory traffic, and ordinary stores read the memory
 * first. */
#include "emit/internal.h"

bool ct_emit_is_given(const Emit *e, const CtFlowVar *array) {
    const CtFlowBlock *body = e->function->body;
    if (e->function != e->flow->entry || body->exit != EXIT_RETURN || e->uses[array->id].count != 1) return false;
    for (uint32_t i = 0; i < body->values.count; i++)
        if (body->values.items[i].var == array) return true;
    return false;
}

bool ct_emit_is_streamed(const Emit *e, const CtFlowStep *loop, const CtFlowVar *array) {
    const RowPlace *place = e->uses[array->id].place;
    if (array->type->rank != 1 || array->type->element->kind != FLOW_F64) return false;
    if (place != NULL) return place->is_given && CT_FIRED("streaming.row");
    return loop->args.items[0].var != NULL && ct_emit_is_given(e, array);
}

bool ct_emit_streams(const Emit *e, const CtFlowStep *loop) {
    for (uint32_t i = loop->as.loop.carried; i < loop->results.count; i++)
        if (ct_emit_is_streamed(e, loop, loop->results.items[i])) return CT_FIRED("streaming.loop");
    return false;
}

uint32_t ct_emit_walked(const CtFlowStep *loop, bool is_row) {
    const CtFlowBlock *block = loop->as.loop.block;
    uint32_t count = loop->results.count - loop->as.loop.carried;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowArgs *args = &block->steps.items[i]->args;
        bool reads = block->steps.items[i]->kind == FLOW_READ && is_row == (args->items[0].type->rank > 1) &&
                     args->items[args->count - 1].var == block->params.items[0];
        for (uint32_t j = 0; reads && j < i; j++) {
            const CtFlowStep *before = block->steps.items[j];
            reads = before->kind != FLOW_READ || before->args.items[0].var != args->items[0].var;
        }
        count += reads;
    }
    return count;
}
