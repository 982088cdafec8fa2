/* Copying of steps and blocks, with fresh variables. */
#include "flow/copy.h"

void ct_flow_copy_stands(CtFlowCopy *c, const CtFlowVar *var, CtFlowArg value) {
    CtFlowArg *kept = CT_NEW(c->flow->arena, CtFlowArg);
    *kept = value;
    ct_map_set(c->flow->arena, &c->values, var->id, kept);
}

void ct_flow_copy_results_stand(CtFlowCopy *c, const CtFlowStep *step, const CtFlowArgs *values) {
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] != NULL) ct_flow_copy_stands(c, step->results.items[i], values->items[i]);
}

CtFlowVar *ct_flow_copy_var(CtFlowCopy *c, const CtFlowVar *var) {
    const CtFlowArg *known = ct_map_get(&c->values, var->id);
    if (known != NULL) return known->var;
    CtFlowVar *copy;
    if (c->keeps_numbers) {
        copy = CT_NEW(c->flow->arena, CtFlowVar);
        *copy = *var;
    } else {
        copy = ct_flow_fresh(c->flow, c->into, var->name, var->type);
    }
    ct_flow_copy_stands(c, var, flow_of(copy));
    return copy;
}

/* A replacement is not itself replaced: only variables of the original are looked up. */
static CtFlowArg copy_arg(const CtFlowCopy *c, CtFlowArg arg) {
    if (arg.var == NULL) return arg;
    const CtFlowArg *value = ct_map_get(&c->values, arg.var->id);
    if (value != NULL) return *value;
    return c->outer != NULL ? c->outer(c->data, arg.var) : arg;
}

CtFlowArgs ct_flow_copy_args(const CtFlowCopy *c, const CtFlowArgs *args) {
    CtFlowArgs copies = {0};
    for (uint32_t i = 0; i < args->count; i++) ct_push(c->flow->arena, &copies, copy_arg(c, args->items[i]));
    return copies;
}

static CtFlowVars copy_vars(CtFlowCopy *c, const CtFlowVars *vars) {
    CtFlowVars copies = {0};
    for (uint32_t i = 0; i < vars->count; i++) {
        const CtFlowVar *var = vars->items[i];
        ct_push(c->flow->arena, &copies, var != NULL ? ct_flow_copy_var(c, var) : NULL);
    }
    return copies;
}

/* The place of what is copied: that of the call where its own is in the library. */
static CtSourceRange place_of(const CtFlowCopy *c, CtSourceRange range) {
    return ct_flow_is_user(c->flow, c->place) && !ct_flow_is_user(c->flow, range) ? c->place : range;
}

CtFlowStep *ct_flow_copy_step(CtFlowCopy *c, const CtFlowStep *step) {
    CtFlowStep *copy = CT_NEW(c->flow->arena, CtFlowStep);
    *copy = *step;
    copy->range = place_of(c, step->range);
    copy->args = ct_flow_copy_args(c, &step->args);
    if (step->kind == FLOW_LOOP) copy->as.loop.block = ct_flow_copy_block(c, step->as.loop.block);
    if (step->kind == FLOW_SWITCH) {
        copy->as.cases.branches = CT_NEW_ARRAY(c->flow->arena, CtFlowBranch, step->as.cases.count + 1);
        for (uint32_t i = 0; i < step->as.cases.count; i++)
            copy->as.cases.branches[i] =
                (CtFlowBranch){step->as.cases.branches[i].tag, ct_flow_copy_block(c, step->as.cases.branches[i].block)};
    }
    copy->results = copy_vars(c, &step->results);
    return copy;
}

CtFlowBlock *ct_flow_copy_block(CtFlowCopy *c, const CtFlowBlock *block) {
    CtFlowBlock *copy = CT_NEW(c->flow->arena, CtFlowBlock);
    copy->exit = block->exit;
    copy->tail = block->tail;
    copy->range = place_of(c, block->range);
    copy->params = copy_vars(c, &block->params);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        if (c->drops_checks && ct_flow_is_check(block->steps.items[i])) continue;
        ct_push(c->flow->arena, &copy->steps, ct_flow_copy_step(c, block->steps.items[i]));
    }
    copy->values = ct_flow_copy_args(c, &block->values);
    return copy;
}

static void substitute_args(CtFlowArgs *args, const CtFlowVar *var, CtFlowArg arg) {
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].var == var) args->items[i] = arg;
}

void ct_flow_substitute(CtFlowBlock *block, const CtFlowVar *var, CtFlowArg arg) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        substitute_args(&step->args, var, arg);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) ct_flow_substitute(ct_flow_inner(step, j), var, arg);
    }
    substitute_args(&block->values, var, arg);
}
