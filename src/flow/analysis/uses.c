/* Counts of uses; marks on variables, and searches for uses of marked variables. Whoever sets marks removes them. */
#include "flow/analysis/analysis.h"

/* ---- counts ---- */

static void count_args(uint32_t *uses, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].var != NULL) uses[args->items[i].var->id]++;
}

static void count_block(uint32_t *uses, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        count_args(uses, &step->args);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) count_block(uses, ct_flow_inner(step, j));
    }
    count_args(uses, &block->values);
}

uint32_t *ct_flow_count_uses(const CtFlow *flow, const CtFlowFunction *function) {
    uint32_t *uses = CT_NEW_ARRAY(flow->arena, uint32_t, function->vars + 1);
    count_block(uses, function->body);
    return uses;
}

static uint32_t uses_in_args(const CtFlowArgs *args, const CtFlowVar *var) {
    uint32_t uses = 0;
    for (uint32_t i = 0; i < args->count; i++) uses += args->items[i].var == var;
    return uses;
}

uint32_t ct_flow_uses_of(const CtFlowStep *step, const CtFlowVar *var) {
    uint32_t uses = uses_in_args(&step->args, var);
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) uses += ct_flow_uses_in(ct_flow_inner(step, i), var);
    return uses;
}

uint32_t ct_flow_uses_in(const CtFlowBlock *block, const CtFlowVar *var) {
    uint32_t uses = uses_in_args(&block->values, var);
    for (uint32_t i = 0; i < block->steps.count; i++) uses += ct_flow_uses_of(block->steps.items[i], var);
    return uses;
}

/* ---- marks ---- */

void ct_flow_mark(CtFlowMarks *marks, const CtFlowVar *var, bool mark) {
    if (var->id >= marks->count) {
        uint32_t count = 2 * var->id + 64;
        bool *items = CT_NEW_ARRAY(marks->arena, bool, count);
        if (marks->count > 0) memcpy(items, marks->items, marks->count * sizeof *items);
        marks->items = items;
        marks->count = count;
    }
    marks->items[var->id] = mark;
}

void ct_flow_mark_results(CtFlowMarks *marks, const CtFlowStep *step, bool mark) {
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] != NULL) ct_flow_mark(marks, step->results.items[i], mark);
}

static void mark_args(CtFlowMarks *marks, const CtFlowArgs *args, bool mark) {
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].var != NULL && ct_flow_is_object(args->items[i].type))
            ct_flow_mark(marks, args->items[i].var, mark);
}

static void mark_in_block(CtFlowMarks *marks, const CtFlowBlock *block, bool mark) {
    for (uint32_t i = 0; i < block->steps.count; i++) ct_flow_mark_objects(marks, block->steps.items[i], mark);
    mark_args(marks, &block->values, mark);
}

void ct_flow_mark_objects(CtFlowMarks *marks, const CtFlowStep *step, bool mark) {
    mark_args(marks, &step->args, mark);
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) mark_in_block(marks, ct_flow_inner(step, i), mark);
}

/* ---- uses ---- */

static bool is_marked(const CtFlowMarks *marks, const CtFlowArg *arg) {
    return arg->var != NULL && arg->var->id < marks->count && marks->items[arg->var->id];
}

static bool any_marked(const CtFlowMarks *marks, const CtFlowArgs *args, uint32_t from) {
    for (uint32_t i = from; i < args->count; i++)
        if (is_marked(marks, &args->items[i])) return true;
    return false;
}

static bool block_uses(const CtFlowMarks *marks, const CtFlowBlock *block, const CtFlowVar *index) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (ct_flow_uses_marked(marks, block->steps.items[i], index)) return true;
    return any_marked(marks, &block->values, 0);
}

bool ct_flow_uses_marked(const CtFlowMarks *marks, const CtFlowStep *step, const CtFlowVar *index) {
    bool allowed = index != NULL && step->kind == FLOW_READ && step->args.items[1].var == index;
    if (any_marked(marks, &step->args, allowed ? 1 : 0)) return true;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++)
        if (block_uses(marks, ct_flow_inner(step, i), index)) return true;
    return false;
}

/* ---- taking ---- */

static bool block_takes(const CtFlowMarks *marks, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (ct_flow_takes_marked(marks, block->steps.items[i])) return true;
    return any_marked(marks, &block->values, 0);
}

bool ct_flow_takes_marked(const CtFlowMarks *marks, const CtFlowStep *step) {
    bool node = ct_flow_step_info(step->kind)->takes == TAKES_NODE;
    for (uint32_t i = 0; i < step->args.count; i++)
        if (is_marked(marks, &step->args.items[i]) && (node || ct_flow_may_change(marks->changed, step, i)))
            return true;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++)
        if (block_takes(marks, ct_flow_inner(step, i))) return true;
    return false;
}

bool ct_flow_may_run_later(CtFlowMarks *marks, const CtFlowBlock *block, uint32_t from, uint32_t to) {
    bool may = true;
    ct_flow_mark_objects(marks, block->steps.items[from], true);
    for (uint32_t i = from + 1; i < to && may; i++)
        may = block->steps.items[i] == NULL || !ct_flow_takes_marked(marks, block->steps.items[i]);
    ct_flow_mark_objects(marks, block->steps.items[from], false);
    return may;
}
