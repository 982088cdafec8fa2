/* Memory reuse for nodes. A node that is taken apart, often with its last reference, leaves its memory to the next node
 * of the same size made in the same block or in a branch of a switch there; branches that make none free it. So a
 * traversal of a list or tree that builds another one allocates nothing. This pass runs after reference_counts, which
 * determines where nodes are taken apart. */
#include "flow/opt/passes.h"

static uint32_t size_of(const CtFlowStep *step) { return step->as.con.data->cons[step->as.con.tag].fields.count; }

static bool is_alike(const CtFlowStep *a, const CtFlowStep *b) {
    return a->as.con.data == b->as.con.data && a->as.con.tag == b->as.con.tag;
}

/* Whether all fields are moved out of the node. */
static bool is_emptied(const CtFlowStep *step) {
    if (step->kind != FLOW_OPEN || !step->as.con.takes || size_of(step) == 0) return false;
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] == NULL &&
            ct_flow_is_object(step->as.con.data->cons[step->as.con.tag].fields.items[i]))
            return false;
    return true;
}

typedef enum Use { KEEPS, FAILS, MAKES } Use;

typedef struct Cell {
    CtArena *arena;
    const CtFlowStep *open;
    CtFlowVar *var; /* NULL during the analysis, before the code is changed */
} Cell;

static Use use_in(const Cell *cell, CtFlowBlock *block, uint32_t from);

static void give_back(const Cell *cell, CtFlowBlock *block) {
    CtFlowStep *step = CT_NEW(cell->arena, CtFlowStep);
    CtFlowBlock old = *block;
    step->kind = FLOW_RELEASE;
    step->as.con.cell = cell->var;
    ct_push(cell->arena, &step->args, flow_of(cell->var));
    memset(&block->steps, 0, sizeof block->steps);
    ct_push(cell->arena, &block->steps, step);
    for (uint32_t i = 0; i < old.steps.count; i++) ct_push(cell->arena, &block->steps, old.steps.items[i]);
}

/* If some branches reuse the memory, the others free it. */
static Use use_in_branches(const Cell *cell, const CtFlowStep *step) {
    Use use = KEEPS;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        CtFlowBlock *block = step->as.cases.branches[i].block;
        Use one = use_in(cell, block, 0);
        if (one == MAKES) use = MAKES;
        if (one == KEEPS && cell->var != NULL && CT_FIRED("memory_reuse.given_back")) give_back(cell, block);
    }
    return use;
}

/* The use of the memory in a block, from a step on: on each path the first new node of its size. */
static Use use_in(const Cell *cell, CtFlowBlock *block, uint32_t from) {
    const Cell asked = {cell->arena, cell->open, NULL};
    for (uint32_t i = from; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_FAIL) return FAILS;
        if (step->kind == FLOW_MAKE && step->as.con.cell == NULL && size_of(step) == size_of(cell->open)) {
            step->as.con.cell = cell->var;
            step->as.con.again = is_alike(step, cell->open) && CT_FIRED("memory_reuse.again");
            return MAKES;
        }
        if (step->kind != FLOW_SWITCH || use_in_branches(&asked, step) != MAKES) continue;
        if (cell->var != NULL) use_in_branches(cell, step);
        return MAKES;
    }
    return KEEPS;
}

static void look_at(CtFlow *flow, CtFlowFunction *function, CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        Cell cell = {flow->arena, step, NULL};
        if (is_emptied(step) && use_in(&cell, block, i + 1) == MAKES && CT_FIRED("memory_reuse.cell")) {
            cell.var = step->as.con.cell = ct_flow_fresh(flow, function, "cell", step->args.items[0].type);
            use_in(&cell, block, i + 1);
        }
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) look_at(flow, function, ct_flow_inner(step, j));
    }
}

void ct_flow_memory_reuse(CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count; i++)
        look_at(flow, flow->functions.items[i], flow->functions.items[i]->body);
}
