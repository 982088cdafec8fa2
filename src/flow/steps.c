/* Builders of single steps, loops and branches of Flow. */
#include "flow/build.h"

CtFlowArg ct_flow_real(const CtFlowType *type, double value) { return (CtFlowArg){.type = type, .lit.real = value}; }

CtFlowArg ct_flow_prim(CtFlowBuilder *l, CtSourceRange range, CtPrim prim, const CtFlowType *type, CtFlowArg a,
                       CtFlowArg b) {
    CtFlowStep *step = ct_flow_step(l, FLOW_PRIM, range);
    step->as.prim = prim;
    ct_flow_arg(l, step, a);
    if (!ct_flow_is_none(b)) ct_flow_arg(l, step, b);
    return ct_flow_result(l, step, NULL, type);
}

CtFlowArg ct_flow_prim_int(CtFlowBuilder *l, CtSourceRange range, CtPrim prim, CtFlowArg a, CtFlowArg b) {
    return ct_flow_prim(l, range, prim, ct_flow_scalar(l->flow, FLOW_I64), a, b);
}

const CtFlowType *ct_flow_row_type(CtFlow *flow, const CtFlowType *array, uint32_t indices) {
    return array->rank == indices ? array->element : ct_flow_array(flow, array->rank - indices, array->element);
}

CtFlowArg ct_flow_read(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, const CtFlowArg *indices,
                       uint32_t count) {
    CtFlowStep *step = ct_flow_step(l, FLOW_READ, range);
    ct_flow_arg(l, step, array);
    for (uint32_t i = 0; i < count; i++) ct_flow_arg(l, step, indices[i]);
    return ct_flow_result(l, step, NULL, ct_flow_row_type(l->flow, array.type, count));
}

CtFlowArg ct_flow_update(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, const CtFlowArg *indices,
                         uint32_t count, CtFlowArg value) {
    CtFlowStep *step = ct_flow_step(l, FLOW_UPDATE, range);
    ct_flow_arg(l, step, array);
    for (uint32_t i = 0; i < count; i++) ct_flow_arg(l, step, indices[i]);
    ct_flow_arg(l, step, value);
    return ct_flow_result(l, step, NULL, array.type);
}

CtFlowArg ct_flow_bulk(CtFlowBuilder *l, CtSourceRange range, CtArrayOp op, const CtFlowType *type,
                       const CtFlowArg *args, uint32_t count) {
    CtFlowStep *step = ct_flow_step(l, FLOW_BULK, range);
    step->as.bulk = op;
    for (uint32_t i = 0; i < count; i++) ct_flow_arg(l, step, args[i]);
    return ct_flow_result(l, step, NULL, type);
}

CtFlowArg ct_flow_dim(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, uint32_t index) {
    CtFlowStep *step = ct_flow_step(l, FLOW_DIM, range);
    step->as.index = index;
    ct_flow_arg(l, step, array);
    return ct_flow_result(l, step, "n", ct_flow_scalar(l->flow, FLOW_I64));
}

CtFlowArg ct_flow_product(CtFlowBuilder *l, CtSourceRange range, const CtFlowArg *lengths, CtFlowFactors factors,
                          CtFlowArg a, CtFlowArg b) {
    CtFlowStep *step = ct_flow_step(l, FLOW_PRODUCT, range);
    step->as.product = factors;
    ct_flow_arg(l, step, lengths[0]);
    ct_flow_arg(l, step, lengths[1]);
    ct_flow_arg(l, step, a);
    ct_flow_arg(l, step, b);
    return ct_flow_result(l, step, NULL, a.type);
}

CtFlowArg ct_flow_node_make(CtFlowBuilder *l, CtSourceRange range, const CtFlowType *node, uint32_t tag,
                            const CtFlowArgs *fields) {
    CtFlowStep *step = ct_flow_step(l, FLOW_MAKE, range);
    step->as.con.data = node->data;
    step->as.con.tag = tag;
    if (fields != NULL) ct_flow_args_add(l, &step->args, fields);
    return ct_flow_result(l, step, NULL, node);
}

CtFlowArgs ct_flow_node_open(CtFlowBuilder *l, CtSourceRange range, CtFlowArg node, uint32_t tag, const char *name) {
    CtFlowStep *step = ct_flow_step(l, FLOW_OPEN, range);
    CtFlowArgs fields = {0};
    step->as.con.data = node.type->data;
    step->as.con.tag = tag;
    ct_flow_arg(l, step, node);
    const CtFlowTypes *types = &node.type->data->cons[tag].fields;
    for (uint32_t i = 0; i < types->count; i++)
        ct_push(l->arena, &fields, ct_flow_result(l, step, name, types->items[i]));
    return fields;
}

CtFlowArgs ct_flow_call(CtFlowBuilder *l, CtSourceRange range, CtFlowFunction *function, const CtFlowArgs *args) {
    CtFlowStep *step = ct_flow_step(l, FLOW_CALL, range);
    CtFlowArgs results = {0};
    step->as.function = function;
    ct_flow_args_add(l, &step->args, args);
    for (uint32_t i = 0; i < function->results.count; i++)
        ct_push(l->arena, &results, ct_flow_result(l, step, NULL, function->results.items[i]));
    return results;
}

/* ---- loops ---- */

CtFlowLooping ct_flow_loop_begin(CtFlowBuilder *l, CtSourceRange range, CtFlowArg count, const CtFlowArgs *start) {
    CtFlowLooping loop = {.step = ct_flow_step(l, FLOW_LOOP, range), .outer = l->block};
    CtFlowBlock *block = loop.step->as.loop.block = ct_flow_block(l);
    ct_flow_arg(l, loop.step, count);
    ct_flow_args_add(l, &loop.step->args, start);
    loop.step->as.loop.carried = start->count;
    CtFlowVar *index = ct_flow_var(l, "i", ct_flow_scalar(l->flow, FLOW_I64));
    ct_push(l->arena, &block->params, index);
    loop.index = flow_of(index);
    for (uint32_t i = 0; i < start->count; i++) {
        CtFlowVar *var = ct_flow_var(l, NULL, start->items[i].type);
        ct_push(l->arena, &block->params, var);
        ct_push(l->arena, &loop.carried, flow_of(var));
    }
    l->block = block;
    return loop;
}

CtFlowArgs ct_flow_loop_end(CtFlowBuilder *l, CtFlowLooping *loop, const CtFlowArgs *carried, const CtFlowArgs *items,
                            const CtFlowTypes *types) {
    CtFlowArgs values = {0}, results = {0};
    ct_flow_args_add(l, &values, carried);
    if (items != NULL) ct_flow_args_add(l, &values, items);
    ct_flow_leave(l, EXIT_YIELD, loop->step->range, &values, NULL);
    l->block = loop->outer;
    for (uint32_t i = 0; i < carried->count; i++)
        ct_push(l->arena, &results, ct_flow_result(l, loop->step, NULL, carried->items[i].type));
    for (uint32_t i = 0; items != NULL && i < items->count; i++)
        ct_push(l->arena, &results, ct_flow_result(l, loop->step, NULL, types->items[i]));
    return results;
}

/* ---- branches ---- */

CtFlowChoosing ct_flow_switch_begin(CtFlowBuilder *l, CtSourceRange range, CtFlowArg on) {
    CtFlowChoosing choice = {.step = ct_flow_step(l, FLOW_SWITCH, range), .outer = l->block};
    ct_flow_arg(l, choice.step, on);
    return choice;
}

void ct_flow_case_begin(CtFlowBuilder *l, CtFlowChoosing *choice, uint32_t tag) {
    CtFlowStep *step = choice->step;
    CtFlowBranch *branches = CT_NEW_ARRAY(l->arena, CtFlowBranch, step->as.cases.count + 1);
    if (step->as.cases.count > 0) memcpy(branches, step->as.cases.branches, step->as.cases.count * sizeof *branches);
    l->block = ct_flow_block(l);
    branches[step->as.cases.count++] = (CtFlowBranch){tag, l->block};
    step->as.cases.branches = branches;
}

void ct_flow_case_end(CtFlowBuilder *l, CtFlowChoosing *choice, const CtFlowArgs *values) {
    CtFlowArgs all = {0};
    ct_flow_args_add(l, &all, values);
    ct_flow_leave(l, EXIT_YIELD, choice->step->range, &all, NULL);
    l->block = choice->outer;
}

CtFlowArgs ct_flow_switch_end(CtFlowBuilder *l, CtFlowChoosing *choice) {
    CtFlowArgs results = {0};
    const CtFlowBlock *last = NULL;
    for (uint32_t i = 0; i < choice->step->as.cases.count; i++)
        if (choice->step->as.cases.branches[i].block->exit == EXIT_YIELD)
            last = choice->step->as.cases.branches[i].block;
    for (uint32_t i = 0; last != NULL && i < last->values.count; i++)
        ct_push(l->arena, &results, ct_flow_result(l, choice->step, NULL, last->values.items[i].type));
    return results;
}

/* ---- extremes ---- */

CtFlowArg ct_flow_choose(CtFlowBuilder *l, CtSourceRange range, CtFlowArg test, CtFlowArg yes, CtFlowArg no) {
    CtFlowChoosing choice = ct_flow_switch_begin(l, range, test);
    ct_flow_case_begin(l, &choice, 1);
    ct_flow_case_end(l, &choice, &(CtFlowArgs){.items = &yes, .count = 1});
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    ct_flow_case_end(l, &choice, &(CtFlowArgs){.items = &no, .count = 1});
    return ct_flow_switch_end(l, &choice).items[0];
}

/* Searches from the last element to the first. */
CtFlowArg ct_flow_place_of(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, CtFlowArg extreme) {
    CtFlowArg length = ct_flow_dim(l, range, array, 0);
    CtFlowArgs start = {0}, next = {0}, here = {0};
    CtFlowArg last = ct_flow_prim_int(l, range, PRIM_INT_SUB, length, ct_flow_int(l, 1));
    ct_push(l->arena, &start, ct_flow_int(l, 0));
    CtFlowLooping loop = ct_flow_loop_begin(l, range, length, &start);
    CtFlowArg index = ct_flow_prim_int(l, range, PRIM_INT_SUB, last, loop.index);
    CtFlowArg item = ct_flow_read(l, range, array, &index, 1);
    CtFlowArg is_it = ct_flow_prim_int(l, range, PRIM_EQ, item, extreme);
    CtFlowArg is_nan = ct_flow_prim_int(l, range, PRIM_IS_NAN, item, ct_flow_none());
    CtFlowChoosing choice = ct_flow_switch_begin(l, range, ct_flow_prim_int(l, range, PRIM_INT_OR, is_it, is_nan));
    ct_push(l->arena, &here, index);
    ct_flow_case_begin(l, &choice, 0);
    ct_flow_case_end(l, &choice, &loop.carried);
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    ct_flow_case_end(l, &choice, &here);
    next = ct_flow_switch_end(l, &choice);
    return ct_flow_loop_end(l, &loop, &next, NULL, NULL).items[0];
}
