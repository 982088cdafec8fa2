/* A case for one element that does what the case for any number of elements does. A number that is bound beside arrays
 * is an array of one element; arithmetic of it and an array asks whether that has one element, too:
 *
 *     switch n == 1
 *       1: x = read v, 0;  t = mul h, x;  yield items t
 *       0: yield map n do i { x = read v, i;  t = mul h, x;  yield t }
 *
 * The second branch is right for n = 1, too. */
#include "flow/opt/passes.h"

#include "base/rules.h"

enum { MOST_COMPARED = 60 };

typedef struct Alike {
    const CtFlowFacts *facts;
    const CtFlowVar *one, *all; /* the indices of the two loops; one: NULL, if the element is made without a loop */
    uint32_t depth;             /* of the block that has the switch */
    int patience;
} Alike;

static bool is_outside(const Alike *a, const CtFlowArg *arg) {
    return arg->var == NULL || ct_flow_fact(a->facts, arg)->depth <= a->depth;
}

/* Whether a value is the same in the first iteration of the loop for any number as in the case for one. */
static bool is_same(Alike *a, const CtFlowArg *one, const CtFlowArg *all) {
    if (a->patience-- <= 0) return false;
    if (all->var == a->all) return ct_flow_is_int(one, 0) || (one->var == a->one && a->one != NULL);
    if (is_outside(a, one) || is_outside(a, all)) return ct_flow_same(one, all);
    const CtFlowStep *made = ct_flow_fact(a->facts, one)->maker, *other = ct_flow_fact(a->facts, all)->maker;
    if (made == NULL || other == NULL || made->kind != other->kind || made->args.count != other->args.count)
        return false;
    bool has_form = made->kind == FLOW_PRIM || made->kind == FLOW_READ || made->kind == FLOW_DIM;
    if (!has_form || ct_flow_operation(made) != ct_flow_operation(other)) return false;
    for (uint32_t i = 0; i < made->args.count; i++)
        if (!is_same(a, &made->args.items[i], &other->args.items[i])) return false;
    return true;
}

/* The map that makes a branch's result; NULL: it is made otherwise. */
static const CtFlowStep *map_of(const CtFlowFacts *facts, const CtFlowArg *array) {
    const CtFlowFact *fact = ct_flow_fact(facts, array);
    const CtFlowStep *loop = fact->maker;
    if (loop == NULL || loop->kind != FLOW_LOOP || loop->as.loop.initial || fact->index < loop->as.loop.carried)
        return NULL;
    return loop->as.loop.block->exit == EXIT_YIELD ? loop : NULL;
}

static bool has_same_element(const CtFlowFacts *facts, const CtFlowArg *one, const CtFlowArg *all,
                             const CtFlowArg *count, uint32_t depth) {
    const CtFlowStep *map = map_of(facts, all), *single = map_of(facts, one);
    const CtFlowStep *items = ct_flow_maker(facts, one, FLOW_ITEMS);
    if (map == NULL || map->as.loop.carried > 0 || is_outside(&(Alike){.facts = facts, .depth = depth}, one))
        return false;
    if (!ct_flow_same_length(facts, ct_flow_length_of(facts, map->args.items[0]), ct_flow_length_of(facts, *count)))
        return false;
    Alike a = {.facts = facts, .all = map->as.loop.block->params.items[0], .depth = depth, .patience = MOST_COMPARED};
    const CtFlowArg *general = &map->as.loop.block->values.items[ct_flow_fact(facts, all)->index];
    if (items != NULL) return items->args.count == 1 && is_same(&a, &items->args.items[0], general);
    if (single == NULL || single->as.loop.carried > 0 || !ct_flow_is_int(&single->args.items[0], 1)) return false;
    a.one = single->as.loop.block->params.items[0];
    return is_same(&a, &single->as.loop.block->values.items[ct_flow_fact(facts, one)->index], general);
}

int ct_flow_case_for_all(const CtFlowFacts *facts, const CtFlowEffects *effects, const CtFlowStep *step,
                         uint32_t depth) {
    const CtFlowStep *test = ct_flow_maker(facts, &step->args.items[0], FLOW_PRIM);
    if (!ct_flow_is_prim(test, PRIM_INT_EQ) || step->as.cases.count != 2 || step->results.count == 0) return -1;
    bool left = ct_flow_is_int(&test->args.items[0], 1);
    if (!left && !ct_flow_is_int(&test->args.items[1], 1)) return -1;
    uint32_t single = ct_flow_branch_for(step, 1), other = 1 - single;
    if (ct_flow_branch_for(step, 0) != other) return -1;
    const CtFlowBlock *one = step->as.cases.branches[single].block, *all = step->as.cases.branches[other].block;
    if (one->exit != EXIT_YIELD || all->exit != EXIT_YIELD) return -1;
    if (!ct_flow_block_is_total(effects, one) || !ct_flow_block_is_total(effects, all)) return -1;
    for (uint32_t i = 0; i < step->results.count; i++) {
        const CtFlowArg *value = &one->values.items[i];
        if (value->type->kind != FLOW_ARRAY || value->type->rank != 1 || ct_flow_is_object(value->type->element))
            return -1;
        if (!has_same_element(facts, value, &all->values.items[i], &test->args.items[left ? 1 : 0], depth)) return -1;
    }
    return CT_FIRED("simplify.case_for_all") ? (int)other : -1;
}
