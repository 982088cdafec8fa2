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

/* Whether a number is loop-invariant; a length of an array from outside is. */
static bool number_stays(const Inside *in, const CtFlowArg *number) {
    uint32_t result;
    if (number->var == NULL || is_outside(in, number->var)) return true;
    const CtFlowStep *step = maker_of(in, number->var, &result);
    return step != NULL && step->kind == FLOW_DIM && is_outside(in, step->args.items[0].var);
}

/* Whether a carried array has in the end the shape that it started with, because only elements of it are updated. */
static bool is_changed_only(const CtFlowBlock *block, const CtFlowVar *array, const CtFlowVar *first) {
    const Inside here = {block, NULL};
    uint32_t result = 0;
    if (array == first) return true;
    const CtFlowStep *step = maker_of(&here, array, &result);
    if (step == NULL) return false;
    if (step->kind == FLOW_UPDATE)
        return step->args.count - 2 == array->type->rank && is_changed_only(block, step->args.items[0].var, first);
    if (step->kind != FLOW_LOOP || result >= step->as.loop.carried || step->as.loop.block->exit != EXIT_YIELD)
        return false;
    const CtFlowBlock *inner = step->as.loop.block;
    return is_changed_only(inner, inner->values.items[result].var, inner->params.items[1 + result]) &&
           is_changed_only(block, step->args.items[1 + result].var, first);
}

static bool shape_stays(const Inside *in, const CtFlowArg *array);

static bool carried_shape_stays(const Inside *in, const CtFlowStep *loop, uint32_t carried) {
    const CtFlowBlock *block = loop->as.loop.block;
    return block->exit == EXIT_YIELD && !loop->as.loop.initial &&
           is_changed_only(block, block->values.items[carried].var, block->params.items[1 + carried]) &&
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
    if (step->kind == FLOW_ITEMS || step->kind == FLOW_LITERALS) return array->type->rank == 1;
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
