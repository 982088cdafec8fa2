/* Construction of functions, blocks and steps of Flow. */
#include "flow/build.h"

CtFlowVar *ct_flow_fresh(CtFlow *flow, CtFlowFunction *function, const char *name, const CtFlowType *type) {
    CtFlowVar *var = CT_NEW(flow->arena, CtFlowVar);
    *var = (CtFlowVar){name, function->vars++, type};
    return var;
}

CtFlowVar *ct_flow_var(CtFlowBuilder *l, const char *name, const CtFlowType *type) {
    return ct_flow_fresh(l->flow, l->function, name, type);
}

CtFlowFunction *ct_flow_function(CtFlow *flow, const char *name, CtSourceRange range) {
    CtFlowFunction *function = CT_NEW(flow->arena, CtFlowFunction);
    function->name = name;
    function->range = range;
    function->id = flow->functions.count;
    ct_push(flow->arena, &flow->functions, function);
    return function;
}

CtFlowBlock *ct_flow_block(CtFlowBuilder *l) { return CT_NEW(l->arena, CtFlowBlock); }

CtFlowBlock ct_flow_reopen(CtFlowBlock *block) {
    CtFlowBlock old = *block;
    memset(&block->steps, 0, sizeof block->steps);
    block->exit = EXIT_OPEN;
    return old;
}

/* A step behind one that control does not leave is built, but not added to the block. */
CtFlowStep *ct_flow_step(CtFlowBuilder *l, CtFlowStepKind kind, CtSourceRange range) {
    CtFlowStep *step = CT_NEW(l->arena, CtFlowStep);
    step->kind = kind;
    step->range = range;
    if (l->block->exit == EXIT_OPEN) ct_push(l->arena, &l->block->steps, step);
    return step;
}

void ct_flow_arg(CtFlowBuilder *l, CtFlowStep *step, CtFlowArg arg) { ct_push(l->arena, &step->args, arg); }

CtFlowArg ct_flow_result(CtFlowBuilder *l, CtFlowStep *step, const char *name, const CtFlowType *type) {
    CtFlowVar *var = ct_flow_var(l, name, type);
    ct_push(l->arena, &step->results, var);
    return flow_of(var);
}

void ct_flow_leave(CtFlowBuilder *l, CtFlowExit exit, CtSourceRange range, const CtFlowArgs *values,
                   CtFlowFunction *tail) {
    if (l->block->exit != EXIT_OPEN) return;
    l->block->exit = exit;
    l->block->range = range;
    l->block->tail = tail;
    if (values != NULL) l->block->values = *values;
}

CtFlowArg ct_flow_int(CtFlowBuilder *l, int64_t value) {
    return (CtFlowArg){.type = ct_flow_scalar(l->flow, FLOW_I64), .lit.integer = value};
}

CtFlowArgs ct_flow_nothing(CtFlowBuilder *l, const CtFlowTypes *types) {
    CtFlowArgs args = {0};
    for (uint32_t i = 0; i < types->count; i++) ct_push(l->arena, &args, (CtFlowArg){.type = types->items[i]});
    return args;
}

void ct_flow_args_add(CtFlowBuilder *l, CtFlowArgs *to, const CtFlowArgs *more) {
    for (uint32_t i = 0; i < more->count; i++) ct_push(l->arena, to, more->items[i]);
}

CtFlowArgs ct_flow_slice(const CtFlowArgs *args, uint32_t start, uint32_t count) {
    return (CtFlowArgs){.items = args->items + start, .count = count, .capacity = count};
}

CtFlowArgs ct_flow_params(CtFlowBuilder *l, CtFlowVars *to, const char *name, const CtFlowTypes *types) {
    CtFlowArgs args = {0};
    for (uint32_t i = 0; i < types->count; i++) {
        CtFlowVar *var = ct_flow_var(l, name, types->items[i]);
        ct_push(l->arena, to, var);
        ct_push(l->arena, &args, flow_of(var));
    }
    return args;
}

void ct_flow_insert_arg(CtArena *arena, CtFlowArgs *to, uint32_t index, CtFlowArg value) {
    CtFlowArgs all = {0};
    for (uint32_t i = 0; i <= to->count; i++) {
        if (i == index) ct_push(arena, &all, value);
        if (i < to->count) ct_push(arena, &all, to->items[i]);
    }
    *to = all;
}

void ct_flow_insert_var(CtArena *arena, CtFlowVars *to, uint32_t index, CtFlowVar *value) {
    CtFlowVars all = {0};
    for (uint32_t i = 0; i <= to->count; i++) {
        if (i == index) ct_push(arena, &all, value);
        if (i < to->count) ct_push(arena, &all, to->items[i]);
    }
    *to = all;
}

void ct_flow_remove_arg(CtArena *arena, CtFlowArgs *from, uint32_t index) {
    CtFlowArgs rest = {0};
    for (uint32_t i = 0; i < from->count; i++)
        if (i != index) ct_push(arena, &rest, from->items[i]);
    *from = rest;
}

void ct_flow_remove_var(CtArena *arena, CtFlowVars *from, uint32_t index) {
    CtFlowVars rest = {0};
    for (uint32_t i = 0; i < from->count; i++)
        if (i != index) ct_push(arena, &rest, from->items[i]);
    *from = rest;
}

void ct_flow_remove_step(CtFlowBlock *block, const CtFlowStep *step) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (block->steps.items[i] != step) block->steps.items[kept++] = block->steps.items[i];
    block->steps.count = kept;
}
