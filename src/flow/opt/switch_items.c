/* Small arrays of known elements. One that changes at a known index is a small array again, and so are two of them, one
 * behind the other. One behind branches: an array that every branch of a switch makes of as many elements is made
 * behind the switch, of elements that the branches yield. So a vector of three numbers, such as a point that is rotated
 * in one way or another, costs what three numbers cost. The simplifier does this as it goes by. */
#include "flow/opt/passes.h"

enum {
    MOST_ITEMS = 16,
    MOST_JOINED = 64, /* elements of two arrays that are made where they are joined */
};

void ct_flow_update_of_items(const CtFlowFacts *facts, CtFlowStep *step) {
    const CtFlowStep *items = ct_flow_fact(facts, &step->args.items[0])->maker;
    if (items == NULL || step->args.count != 3 || step->args.items[1].var != NULL) return;
    bool same = ct_flow_is_bulk(items, ARRAY_REPLICATE) && items->args.items[0].var == NULL;
    bool each = ct_flow_is_items(items);
    int64_t index = step->args.items[1].lit.integer;
    int64_t count = same ? items->args.items[0].lit.integer : each ? (int64_t)items->args.count : 0;
    if (step->results.items[0]->type->rank != 1 || index < 0 || index >= count || count > MOST_ITEMS) return;
    CT_FIRED("simplify.update_of_items");
    CtFlowArgs args = {0};
    for (uint32_t i = 0; i < count; i++)
        ct_push(facts->arena, &args, i == index ? step->args.items[2] : items->args.items[same ? 1 : i]);
    step->kind = FLOW_ITEMS;
    step->args = args;
}

/* ---- one behind the other ---- */

/* The step that makes an array of these elements, or of none; NULL if they are not known. */
static const CtFlowStep *items_of(const CtFlowFacts *facts, const CtFlowArg *array) {
    const CtFlowStep *made = ct_flow_fact(facts, array)->maker;
    return ct_flow_is_items(made) ? made : NULL;
}

bool ct_flow_join_items(const CtFlowFacts *facts, CtFlowStep *step, uint32_t depth) {
    bool snoc = step->kind == FLOW_SNOC, concat = ct_flow_is_bulk(step, ARRAY_CONCAT), literals = !snoc;
    if (!snoc && !concat && !ct_flow_is_bulk(step, ARRAY_APPEND)) return false;
    const CtFlowStep *rows = concat ? items_of(facts, &step->args.items[0]) : step;
    if (rows == NULL || rows->args.count == 0 || step->results.items[0]->type->rank != 1) return false;
    CtFlowArgs args = {0};
    uint32_t outside = 0;
    for (uint32_t i = 0; i < (snoc ? 1 : rows->args.count); i++) {
        const CtFlowArg *part = &rows->args.items[i];
        const CtFlowStep *items = items_of(facts, part);
        if (items == NULL || part->type != step->results.items[0]->type) return false;
        bool literal = items->kind == FLOW_LITERALS || items->args.count == 0;
        literals &= literal;
        if (!literal && ct_flow_fact(facts, part)->depth != depth) outside += items->args.count;
        if (items->args.count > MOST_JOINED - args.count) return false;
        for (uint32_t k = 0; k < items->args.count; k++) ct_push(facts->arena, &args, items->args.items[k]);
    }
    if (snoc) ct_push(facts->arena, &args, step->args.items[1]);
    /* Elements from outside of a loop are its free variables, each with an adjoint of its own in the loop's derivative,
     * so that only few come from there. */
    if (outside > MOST_ITEMS) return false;
    CT_FIRED("simplify.join_items");
    step->kind = literals && args.count > 0 ? FLOW_LITERALS : FLOW_ITEMS;
    step->args = args;
    return true;
}

/* ---- behind branches ---- */

/* The number of elements, by name, that every branch yields as this result; 0 if there is another number of them. */
static uint32_t count_items(const CtFlowFacts *facts, const CtFlowStep *step, uint32_t result) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit == EXIT_NEVER) continue;
        const CtFlowStep *items =
            block->exit == EXIT_YIELD ? ct_flow_fact(facts, &block->values.items[result])->maker : NULL;
        if (!ct_flow_is_items(items)) return 0;
        bool other = items->args.count == 0 || (count > 0 && items->args.count != count);
        if (items->args.count > MOST_ITEMS || other) return 0;
        count = items->args.count;
    }
    return count;
}

void ct_flow_own_values(CtFlowBuilder *b, CtFlowStep *step) {
    for (uint32_t k = 0; k < step->as.cases.count; k++) {
        CtFlowArgs *values = &step->as.cases.branches[k].block->values, own = {0};
        for (uint32_t i = 0; i < values->count; i++) ct_push(b->arena, &own, values->items[i]);
        *values = own;
    }
}

/* Yields element j instead of the array, or beside it; gives the variable behind the switch. */
static CtFlowVar *yield_element(CtFlowBuilder *b, const CtFlowFacts *facts, CtFlowStep *step, uint32_t result,
                                uint32_t j) {
    const CtFlowType *type = NULL;
    for (uint32_t k = 0; k < step->as.cases.count; k++) {
        CtFlowBlock *block = step->as.cases.branches[k].block;
        if (block->exit == EXIT_NEVER) continue;
        CtFlowArg item = ct_flow_fact(facts, &block->values.items[result])->maker->args.items[j];
        type = item.type;
        if (j > 0)
            ct_push(b->arena, &block->values, item);
        else
            block->values.items[result] = item;
    }
    CtFlowVar *element = ct_flow_var(b, NULL, type);
    if (j > 0)
        ct_push(b->arena, &step->results, element);
    else
        step->results.items[result] = element;
    return element;
}

void ct_flow_items_behind(CtFlowBuilder *b, CtFlowFacts *facts, CtFlowStep *step, uint32_t depth) {
    CT_VEC(CtFlowStep *) made = {0};
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowVar *array = step->results.items[i];
        uint32_t count = array->type->kind == FLOW_ARRAY ? count_items(facts, step, i) : 0;
        if (count == 0) continue;
        CT_FIRED("simplify.items_behind");
        ct_flow_own_values(b, step);
        CtFlowStep *items = CT_NEW(b->arena, CtFlowStep);
        items->kind = FLOW_ITEMS;
        items->range = step->range;
        ct_push(b->arena, &items->results, array);
        for (uint32_t j = 0; j < count; j++) ct_push(b->arena, &items->args, (CtFlowArg){0});
        /* The first takes the place of the array, so it comes last. */
        for (uint32_t j = count; j-- > 0;) items->args.items[j] = flow_of(yield_element(b, facts, step, i, j));
        ct_flow_facts_step(facts, step, depth);
        ct_flow_facts_step(facts, items, depth);
        ct_push(b->arena, &made, items);
    }
    /* A row, which is looked at after its array, is made before it. */
    for (uint32_t i = made.count; i-- > 0;) ct_push(b->arena, &b->block->steps, made.items[i]);
}
