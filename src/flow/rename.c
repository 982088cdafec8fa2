/* Renaming of the variables in steps. */
#include "flow/rename.h"

CtFlowArg ct_flow_now(const CtFlowValues *values, CtFlowArg arg) {
    while (arg.var != NULL && arg.var->id < values->count && values->items[arg.var->id].type != NULL)
        arg = values->items[arg.var->id];
    return arg;
}

void ct_flow_stands(CtFlowValues *values, const CtFlowVar *var, CtFlowArg value) {
    if (var->id >= values->count) {
        uint32_t count = var->id + var->id / 4 + 16;
        CtFlowArg *items = CT_NEW_ARRAY(values->arena, CtFlowArg, count);
        if (values->count > 0) memcpy(items, values->items, values->count * sizeof *items);
        values->items = items;
        values->count = count;
    }
    values->items[var->id] = value;
    values->changes++;
}

void ct_flow_values_clear(CtFlowValues *values, CtArena *arena) {
    values->arena = arena;
    if (values->count > 0) memset(values->items, 0, values->count * sizeof *values->items);
}

bool ct_flow_same(const CtFlowArg *a, const CtFlowArg *b) {
    if (a->var != NULL || b->var != NULL) return a->var == b->var;
    return a->type == b->type && a->lit.integer == b->lit.integer; /* reals are compared bit for bit */
}

void ct_flow_rename(const CtFlowValues *values, CtFlowArgs *args) {
    CtFlowArgs fresh = {0};
    bool changed = false;
    for (uint32_t i = 0; i < args->count && !changed; i++) {
        CtFlowArg now = ct_flow_now(values, args->items[i]);
        changed = !ct_flow_same(&now, &args->items[i]);
    }
    if (!changed) return;
    for (uint32_t i = 0; i < args->count; i++) ct_push(values->arena, &fresh, ct_flow_now(values, args->items[i]));
    *args = fresh;
}

void ct_flow_rename_block(const CtFlowValues *values, CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        ct_flow_rename(values, &step->args);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) ct_flow_rename_block(values, ct_flow_inner(step, j));
    }
    ct_flow_rename(values, &block->values);
}
