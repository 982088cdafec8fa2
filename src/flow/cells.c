/* Nodes in the cells of others: a node that is taken apart, which often nobody else holds, leaves its memory to the
 * next of its size that is made in the same block, or in each branch of a switch there. So a walk over a list or a tree
 * that makes another allocates nothing. Behind reference counts, which say what is taken apart. */
#include "flow/passes.h"

static uint32_t size_of(const CtFlowStep *step) { return step->as.con.data->cons[step->as.con.tag].fields.count; }

/* All that is in it moves out. */
static bool is_emptied(const CtFlowStep *step) {
    if (step->kind != FLOW_OPEN || !step->as.con.takes || size_of(step) == 0) return false;
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] == NULL &&
            ct_flow_is_object(step->as.con.data->cons[step->as.con.tag].fields.items[i]))
            return false;
    return true;
}

typedef enum Use { KEEPS, FAILS, MAKES } Use;

static Use use_in(CtFlowBlock *block, uint32_t from, uint32_t size, CtFlowVar *cell);

/* What the branches of a switch do with a cell: all make a node in it, but for those that fail. */
static Use use_in_branches(const CtFlowStep *step, uint32_t size, CtFlowVar *cell) {
    Use use = FAILS;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        Use one = use_in(step->as.cases.branches[i].block, 0, size, cell);
        if (one == KEEPS) return KEEPS;
        if (one == MAKES) use = MAKES;
    }
    return step->as.cases.count > 0 ? use : KEEPS;
}

/* What a block does from a step on; where a cell is given, the first node of the size that each way makes takes it. */
static Use use_in(CtFlowBlock *block, uint32_t from, uint32_t size, CtFlowVar *cell) {
    for (uint32_t i = from; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_FAIL) return FAILS;
        if (step->kind == FLOW_MAKE && step->as.con.cell == NULL && size_of(step) == size) {
            step->as.con.cell = cell;
            return MAKES;
        }
        Use use = step->kind == FLOW_SWITCH ? use_in_branches(step, size, NULL) : KEEPS;
        if (use == MAKES && cell != NULL) use_in_branches(step, size, cell);
        if (use != KEEPS) return use;
    }
    return KEEPS;
}

static void look_at(CtFlow *flow, CtFlowFunction *function, CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (is_emptied(step) && use_in(block, i + 1, size_of(step), NULL) == MAKES) {
            step->as.con.cell = ct_flow_fresh(flow, function, "cell", step->args.items[0].type);
            use_in(block, i + 1, size_of(step), step->as.con.cell);
        }
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) look_at(flow, function, ct_flow_inner(step, j));
    }
}

void ct_flow_reuse_cells(CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count; i++)
        look_at(flow, flow->functions.items[i], flow->functions.items[i]->body);
}
