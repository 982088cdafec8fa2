/* Whether the rows that a loop makes certainly have one shape by the loop's own code, so that it cannot fail for them.
 * What the context of the loop implies is not considered. */
#include "flow/analysis/analysis.h"

typedef struct Inside { /* the block of the loop in question, and the blocks of loops inside it */
    const CtFlowBlock *block;
    const struct Inside *outer;
} Inside;

static bool is_param(const Inside *in, const CtFlowVar *var) {
    for (; in != NULL; in = in->outer)
        for (uint32_t i = 0; i < in->block->params.count; i++)
            if (in->block->params.items[i] == var) return true;
    return false;
}

/* The step inside the loop that binds a variable, and the index of the result; NULL for parameters, and for variables
 * from outside. */
static const CtFlowStep *maker_of(const Inside *in, const CtFlowVar *var, uint32_t *result) {
    for (; in != NULL; in = in->outer)
        for (uint32_t i = 0; i < in->block->steps.count; i++) {
            const CtFlowStep *step = in->block->steps.items[i];
            for (uint32_t j = 0; j < step->results.count; j++) {
                *result = j;
                if (step->results.items[j] == var) return step;
            }
        }
    return NULL;
}

static bool is_outside(const Inside *in, const CtFlowVar *var) {
    uint32_t result;
    return !is_param(in, var) && maker_of(in, var, &result) == NULL;
}

static bool shape_stays(const Inside *in, const CtFlowArg *array);

/* Whether a number is loop-invariant, as what is computed from such numbers is, and a length of an array whose shape
 * stays. */
static bool number_stays(const Inside *in, const CtFlowArg *number) {
    uint32_t result;
    if (number->var == NULL || is_outside(in, number->var)) return true;
    const CtFlowStep *step = maker_of(in, number->var, &result);
    if (step == NULL) return false;
    if (step->kind == FLOW_DIM) return shape_stays(in, &step->args.items[0]);
    bool stays = step->kind == FLOW_PRIM && step->as.prim != PRIM_EFFECT;
    for (uint32_t i = 0; stays && i < step->args.count; i++) stays = number_stays(in, &step->args.items[i]);
    return stays;
}

static bool is_changed_only(const Inside *in, const CtFlowVar *array, const CtFlowVar *first);

/* The same of what a switch yields. */
static bool branches_change_only(const Inside *in, const CtFlowStep *step, uint32_t result, const CtFlowVar *first) {
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        const Inside branch = {block, in};
        if (block->exit == EXIT_NEVER) continue;
        if (block->exit != EXIT_YIELD || !is_changed_only(&branch, block->values.items[result].var, first))
            return false;
    }
    return true;
}

/* Whether a carried array has in the end the shape that it started with, because only elements of it are updated. */
static bool is_changed_only(const Inside *in, const CtFlowVar *array, const CtFlowVar *first) {
    uint32_t result = 0;
    if (array == first) return true;
    const CtFlowStep *step = maker_of(in, array, &result);
    if (step == NULL) return false;
    if (step->kind == FLOW_UPDATE)
        return step->args.count - 2 == array->type->rank && is_changed_only(in, step->args.items[0].var, first);
    if (step->kind == FLOW_SWITCH) return branches_change_only(in, step, result, first);
    if (step->kind != FLOW_LOOP || result >= step->as.loop.carried || step->as.loop.block->exit != EXIT_YIELD)
        return false;
    const Inside inner = {step->as.loop.block, NULL};
    return is_changed_only(&inner, inner.block->values.items[result].var, inner.block->params.items[1 + result]) &&
           is_changed_only(in, step->args.items[1 + result].var, first);
}

static bool carried_shape_stays(const Inside *in, const CtFlowStep *loop, uint32_t carried) {
    const Inside here = {loop->as.loop.block, NULL};
    return here.block->exit == EXIT_YIELD && !loop->as.loop.initial &&
           is_changed_only(&here, here.block->values.items[carried].var, here.block->params.items[1 + carried]) &&
           shape_stays(in, &loop->args.items[1 + carried]);
}

static bool shape_stays(const Inside *in, const CtFlowArg *array) {
    uint32_t result;
    const CtFlowStep *step = maker_of(in, array->var, &result);
    if (step == NULL) return !is_param(in, array->var);
    const CtFlowArg *args = step->args.items;
    if (step->kind == FLOW_LOOP) {
        const Inside within = {step->as.loop.block, in};
        if (result < step->as.loop.carried) return carried_shape_stays(in, step, result);
        return !step->as.loop.initial && number_stays(in, &args[0]) &&
               (array->type->rank == 1 || shape_stays(&within, &within.block->values.items[result]));
    }
    if (step->kind == FLOW_READ) return array->type->element == args[0].type->element && shape_stays(in, args);
    if (step->kind == FLOW_UPDATE) return step->args.count - 2 == array->type->rank && shape_stays(in, args);
    if (ct_flow_is_items(step)) return array->type->rank == 1 || step->args.count == 0 || shape_stays(in, &args[0]);
    if (ct_flow_is_bulk(step, ARRAY_TRANSPOSE) || ct_flow_is_bulk(step, ARRAY_REVERSE)) return shape_stays(in, args);
    if (ct_flow_is_bulk(step, ARRAY_SLICE))
        return number_stays(in, &args[1]) && (array->type->rank == 1 || shape_stays(in, &args[2]));
    return ct_flow_is_bulk(step, ARRAY_REPLICATE) && number_stays(in, &args[0]) &&
           (array->type->rank == 1 || shape_stays(in, &args[1]));
}

bool ct_flow_has_regular_rows(const CtFlowStep *loop, uint32_t array) {
    const Inside in = {loop->as.loop.block, NULL};
    bool yields = in.block->exit == EXIT_YIELD && !loop->as.loop.initial;
    return yields && shape_stays(&in, &in.block->values.items[array]);
}

bool ct_flow_is_regular(const CtFlowStep *loop, uint32_t array) {
    return loop->results.items[array]->type->rank == 1 || ct_flow_has_regular_rows(loop, array);
}
