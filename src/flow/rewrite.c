/* Renaming the variables of steps, and copying blocks. */
#include "flow/passes.h"

/* ---- what stands for a variable ---- */

CtFlowArg ct_flow_now(const CtFlowValues *values, CtFlowArg arg) {
    while (arg.var != NULL && arg.var->id < values->count && values->items[arg.var->id].type != NULL)
        arg = values->items[arg.var->id];
    return arg;
}

void ct_flow_stands(CtFlowValues *values, const CtFlowVar *var, CtFlowArg value) {
    if (var->id >= values->count) {
        uint32_t count = 2 * var->id + 16;
        CtFlowArg *items = CT_NEW_ARRAY(values->arena, CtFlowArg, count);
        if (values->count > 0) memcpy(items, values->items, values->count * sizeof *items);
        values->items = items;
        values->count = count;
    }
    values->items[var->id] = value;
}

bool ct_flow_same(const CtFlowArg *a, const CtFlowArg *b) {
    if (a->var != NULL || b->var != NULL) return a->var == b->var;
    return a->type == b->type && a->lit.integer == b->lit.integer; /* reals by their bits */
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
        if (step->kind == FLOW_LOOP) ct_flow_rename_block(values, step->as.loop.block);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            ct_flow_rename_block(values, step->as.cases.branches[j].block);
    }
    ct_flow_rename(values, &block->values);
}

/* ---- copies ---- */

CtFlowVar *ct_flow_fresh(CtFlow *flow, CtFlowFunction *function, const char *name, const CtFlowType *type) {
    CtFlowVar *var = CT_NEW(flow->arena, CtFlowVar);
    *var = (CtFlowVar){name, function->vars++, type};
    return var;
}

/* Only variables of the original are looked up: chains are not followed. */
static CtFlowArgs copy_args(const CtFlowClone *c, const CtFlowArgs *args) {
    CtFlowArgs fresh = {0};
    for (uint32_t i = 0; i < args->count; i++) {
        CtFlowArg arg = args->items[i];
        bool renamed = arg.var != NULL && arg.var->id < c->values.count && c->values.items[arg.var->id].type != NULL;
        ct_push(c->flow->arena, &fresh, renamed ? c->values.items[arg.var->id] : arg);
    }
    return fresh;
}

static CtFlowVars copy_vars(CtFlowClone *c, const CtFlowVars *vars) {
    CtFlowVars fresh = {0};
    for (uint32_t i = 0; i < vars->count; i++) {
        const CtFlowVar *var = vars->items[i];
        CtFlowVar *now = var != NULL ? ct_flow_fresh(c->flow, c->into, var->name, var->type) : NULL;
        ct_push(c->flow->arena, &fresh, now);
        if (var != NULL) ct_flow_stands(&c->values, var, flow_of(now));
    }
    return fresh;
}

static CtFlowStep *copy_step(CtFlowClone *c, const CtFlowStep *step) {
    CtFlowStep *fresh = CT_NEW(c->flow->arena, CtFlowStep);
    *fresh = *step;
    if (ct_flow_is_user(c->flow, c->place) && !ct_flow_is_user(c->flow, step->span)) fresh->span = c->place;
    fresh->args = copy_args(c, &step->args);
    if (step->kind == FLOW_LOOP) fresh->as.loop.block = ct_flow_clone(c, step->as.loop.block);
    if (step->kind == FLOW_SWITCH) {
        uint32_t count = step->as.cases.count;
        fresh->as.cases.branches = CT_NEW_ARRAY(c->flow->arena, CtFlowBranch, count + 1);
        for (uint32_t i = 0; i < count; i++) {
            const CtFlowBranch *branch = &step->as.cases.branches[i];
            fresh->as.cases.branches[i] = (CtFlowBranch){branch->tag, ct_flow_clone(c, branch->block)};
        }
    }
    fresh->results = copy_vars(c, &step->results);
    return fresh;
}

CtFlowBlock *ct_flow_clone(CtFlowClone *c, const CtFlowBlock *block) {
    CtFlowBlock *fresh = CT_NEW(c->flow->arena, CtFlowBlock);
    fresh->exit = block->exit;
    fresh->tail = block->tail;
    fresh->span = block->span;
    fresh->params = copy_vars(c, &block->params);
    for (uint32_t i = 0; i < block->steps.count; i++)
        ct_push(c->flow->arena, &fresh->steps, copy_step(c, block->steps.items[i]));
    fresh->values = copy_args(c, &block->values);
    return fresh;
}
