/* Whether the rows that a loop makes are certainly of one shape, so that it cannot fail for them: each is made by a
 * loop of as many turns as something says that stays the same, or is a row of an array from outside, or that from
 * outside. */
#include "flow/internal.h"

typedef struct Around { /* the blocks that a variable may be bound in, from the inside out */
    const CtFlowBlock *block;
    const struct Around *outer;
} Around;

static const CtFlowStep *binder(const CtFlowBlock *block, const CtFlowVar *var) {
    for (uint32_t i = block->steps.count; i-- > 0;)
        for (uint32_t j = 0; j < block->steps.items[i]->results.count; j++)
            if (block->steps.items[i]->results.items[j] == var) return block->steps.items[i];
    return NULL;
}

static bool is_outside(const Around *around, const CtFlowArg *arg) {
    if (arg->var == NULL) return true;
    for (const Around *a = around; a != NULL; a = a->outer) {
        if (binder(a->block, arg->var) != NULL) return false;
        for (uint32_t i = 0; i < a->block->params.count; i++)
            if (a->block->params.items[i] == arg->var) return false;
    }
    return true;
}

static bool is_fixed(const Around *around, const CtFlowArg *row) {
    const CtFlowStep *step = row->var == NULL ? NULL : binder(around->block, row->var);
    if (step == NULL) return is_outside(around, row);
    if (step->kind == FLOW_READ) /* not one that is held by reference */
        return step->args.count <= step->args.items[0].type->rank && is_outside(around, &step->args.items[0]);
    if (step->kind == FLOW_BULK && step->as.bulk == ARRAY_REPLICATE)
        return row->type->rank == 1 && is_outside(around, &step->args.items[0]);
    if (step->kind == FLOW_UPDATE)
        return step->args.count - 2 == row->type->rank && is_fixed(around, &step->args.items[0]);
    if (step->kind != FLOW_LOOP || step->as.loop.initial || !is_outside(around, &step->args.items[0])) return false;
    const CtFlowBlock *block = step->as.loop.block;
    Around inner = {block, around};
    for (uint32_t i = step->as.loop.carried; i < step->results.count; i++)
        if (step->results.items[i] == row->var)
            return row->type->rank == 1 || (block->exit == EXIT_YIELD && is_fixed(&inner, &block->values.items[i]));
    return false;
}

bool ct_flow_rows_are_alike(const CtFlowStep *loop, uint32_t result) {
    const CtFlowBlock *block = loop->as.loop.block;
    Around around = {block, NULL};
    return !loop->as.loop.initial && block->exit == EXIT_YIELD && is_fixed(&around, &block->values.items[result]);
}
