/* Lists: the types and the functions that passes over them know by their form, whatever the program calls them. */
#include "flow/analysis/analysis.h"

#include "rt/run.h"

uint32_t ct_flow_own_field(const CtFlowData *data, uint32_t tag) {
    const CtFlowTypes *fields = &data->cons[tag].fields;
    for (uint32_t i = 0; i < fields->count; i++)
        if (fields->items[i]->data == data) return i;
    return UINT32_MAX;
}

uint32_t ct_flow_list_end(const CtFlowType *type) {
    const CtFlowData *data = type->kind == FLOW_NODE ? type->data : NULL;
    uint32_t end = UINT32_MAX, cells = 0;
    for (uint32_t tag = 0; data != NULL && tag < data->count; tag++) {
        const CtFlowTypes *fields = &data->cons[tag].fields;
        uint32_t own = 0;
        for (uint32_t i = 0; i < fields->count; i++) own += fields->items[i]->data == data;
        if (own > 1) return UINT32_MAX;
        cells += own;
        if (fields->count == 0 && tag < CT_NULLARIES) end = tag;
    }
    return cells > 0 ? end : UINT32_MAX;
}

/* x ⟨fields⟩ = open C p0; y = make C ⟨fields, with p1 for the tail⟩; tail f tail, y */
static bool turns_cell(const CtFlowFunction *function, const CtFlowBranch *branch, uint32_t own) {
    const CtFlowBlock *block = branch->block;
    if (block->exit != EXIT_TAIL || block->tail != function || block->steps.count != 2) return false;
    const CtFlowStep *open = block->steps.items[0], *make = block->steps.items[1];
    if (open->kind != FLOW_OPEN || open->args.items[0].var != function->params.items[0] || make->kind != FLOW_MAKE ||
        make->as.con.data != open->as.con.data || make->as.con.tag != branch->tag)
        return false;
    for (uint32_t i = 0; i < open->results.count; i++) {
        const CtFlowVar *kept = i == own ? function->params.items[1] : open->results.items[i];
        if (kept == NULL || make->args.items[i].var != kept) return false;
    }
    return block->values.items[0].var == open->results.items[own] &&
           block->values.items[1].var == make->results.items[0];
}

static bool gives_rest(const CtFlowFunction *function, const CtFlowBlock *block) {
    return block->exit == EXIT_RETURN && block->steps.count == 0 &&
           block->values.items[0].var == function->params.items[1];
}

bool ct_flow_is_reversal(const CtFlowFunction *function) {
    if (function->params.count != 2 || function->results.count != 1 || function->body->params.count > 0) return false;
    const CtFlowType *type = function->results.items[0];
    const CtFlowStep *choice = ct_flow_last_switch(function->body);
    if (choice == NULL || function->body->steps.count != 1 || ct_flow_list_end(type) == UINT32_MAX ||
        function->params.items[0]->type != type || function->params.items[1]->type != type ||
        choice->args.items[0].var != function->params.items[0])
        return false;
    uint32_t cells = 0, turned = 0;
    for (uint32_t tag = 0; tag < type->data->count; tag++) cells += ct_flow_own_field(type->data, tag) != UINT32_MAX;
    for (uint32_t i = 0; i < choice->as.cases.count; i++) {
        const CtFlowBranch *branch = &choice->as.cases.branches[i];
        uint32_t own = branch->tag == FLOW_OTHERS ? UINT32_MAX : ct_flow_own_field(type->data, branch->tag);
        if (own == UINT32_MAX ? !gives_rest(function, branch->block) : !turns_cell(function, branch, own)) return false;
        turned += own != UINT32_MAX;
    }
    return turned == cells;
}
