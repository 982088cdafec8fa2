/* Steps and blocks over again, with variables of their own. */
#include "flow/reverse.h"

CtFlowVar *ct_reverse_copy_var(CtReverseCopy *c, CtFlowVar *var) {
    CtFlowVar *copy = ct_map_get(&c->vars, var->id);
    if (copy != NULL) return copy;
    if (c->keeps_numbers) {
        copy = CT_NEW(c->l->arena, CtFlowVar);
        *copy = *var;
    } else {
        copy = ct_flow_var(c->l, var->name, var->type);
    }
    ct_map_set(c->l->arena, &c->vars, var->id, copy);
    return copy;
}

static CtFlowArg copy_arg(CtReverseCopy *c, CtFlowArg arg) {
    if (arg.var == NULL) return arg;
    CtFlowVar *var = ct_map_get(&c->vars, arg.var->id);
    return var != NULL ? flow_of(var) : c->outer(c->data, arg.var);
}

static CtFlowArgs copy_args(CtReverseCopy *c, const CtFlowArgs *args) {
    CtFlowArgs copies = {0};
    for (uint32_t i = 0; i < args->count; i++) ct_push(c->l->arena, &copies, copy_arg(c, args->items[i]));
    return copies;
}

static CtFlowVars copy_vars(CtReverseCopy *c, const CtFlowVars *vars) {
    CtFlowVars copies = {0};
    for (uint32_t i = 0; i < vars->count; i++)
        ct_push(c->l->arena, &copies, vars->items[i] == NULL ? NULL : ct_reverse_copy_var(c, vars->items[i]));
    return copies;
}

static bool is_check(const CtFlowStep *step) {
    return step->kind == FLOW_CHECK || step->kind == FLOW_CHECK_SIZE || step->kind == FLOW_CHECK_ZIP ||
           step->kind == FLOW_CHECK_SHAPE || step->kind == FLOW_CHECK_SLICE;
}

CtFlowStep *ct_reverse_copy_step(CtReverseCopy *c, const CtFlowStep *step) {
    CtFlowStep *copy = CT_NEW(c->l->arena, CtFlowStep);
    *copy = *step;
    copy->args = copy_args(c, &step->args);
    if (step->kind == FLOW_LOOP) copy->as.loop.block = ct_reverse_copy_block(c, step->as.loop.block);
    if (step->kind == FLOW_SWITCH) {
        copy->as.cases.branches = CT_NEW_ARRAY(c->l->arena, CtFlowBranch, step->as.cases.count + 1);
        for (uint32_t i = 0; i < step->as.cases.count; i++)
            copy->as.cases.branches[i] = (CtFlowBranch){step->as.cases.branches[i].tag,
                                                        ct_reverse_copy_block(c, step->as.cases.branches[i].block)};
    }
    copy->results = copy_vars(c, &step->results);
    return copy;
}

CtFlowBlock *ct_reverse_copy_block(CtReverseCopy *c, const CtFlowBlock *block) {
    CtFlowBlock *copy = ct_flow_block(c->l);
    copy->params = copy_vars(c, &block->params);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        if (c->drops_checks && is_check(block->steps.items[i])) continue;
        ct_push(c->l->arena, &copy->steps, ct_reverse_copy_step(c, block->steps.items[i]));
    }
    copy->exit = block->exit;
    copy->tail = block->tail;
    copy->span = block->span;
    copy->values = copy_args(c, &block->values);
    return copy;
}

static void substitute_args(CtFlowArgs *args, const CtFlowVar *var, CtFlowArg arg) {
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].var == var) args->items[i] = arg;
}

void ct_reverse_substitute(CtFlowBlock *block, const CtFlowVar *var, CtFlowArg arg) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        substitute_args(&step->args, var, arg);
        if (step->kind == FLOW_LOOP) ct_reverse_substitute(step->as.loop.block, var, arg);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            ct_reverse_substitute(step->as.cases.branches[j].block, var, arg);
    }
    substitute_args(&block->values, var, arg);
}
