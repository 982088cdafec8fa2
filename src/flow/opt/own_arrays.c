/* Arrays that may be changed in place at a place where the program does not say so: nothing uses them afterwards, and
 * they were made there. If somebody else still holds one, then once, and the copy takes no longer than to make it did.
 */
#include "flow/opt/passes.h"

enum { DEEPEST = 8 };

/* ---- used afterwards ---- */

static bool args_use(const CtFlowValues *now, const CtFlowArgs *args, const CtFlowVar *var) {
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].var != NULL && ct_flow_now(now, args->items[i]).var == var) return true;
    return false;
}

static bool block_uses(const CtFlowValues *now, const CtFlowBlock *block, uint32_t from, const CtFlowVar *var) {
    for (uint32_t i = from; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (args_use(now, &step->args, var)) return true;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (block_uses(now, ct_flow_inner(step, j), 0, var)) return true;
    }
    return args_use(now, &block->values, var);
}

/* Blocks of loops have parameters. */
static const CtFlowWay *iteration(const CtFlowWay *way) {
    while (way->block->params.count == 0 && way->outer != NULL) way = way->outer;
    return way;
}

static bool is_used_later(const CtFlowWay *way, const CtFlowVar *var) {
    const CtFlowWay *last = iteration(way);
    while (way != last && !block_uses(way->now, way->block, way->next, var)) way = way->outer;
    return block_uses(way->now, way->block, way->next, var);
}

/* ---- made here ---- */

static bool is_made(const CtFlowFacts *facts, const CtFlowWay *way, const CtFlowArg *array, int depth);

/* Also by each branch of a switch, and in each iteration of a loop that carries it: `way` is the iteration. */
static bool is_made_by(const CtFlowFacts *facts, const CtFlowWay *way, const CtFlowStep *step, uint32_t result,
                       int depth) {
    switch (step->kind) {
    case FLOW_ITEMS:
    case FLOW_LITERALS: return true;
    case FLOW_BULK: return step->as.bulk != ARRAY_SLICE;
    case FLOW_UPDATE:
    case FLOW_SNOC: return is_made(facts, way, &step->args.items[0], depth);
    case FLOW_LOOP: return result >= step->as.loop.carried || is_made(facts, way, &step->args.items[1 + result], depth);
    case FLOW_SWITCH:
        for (uint32_t i = 0; i < step->as.cases.count; i++) {
            const CtFlowBlock *block = step->as.cases.branches[i].block;
            if (block->exit == EXIT_YIELD && !is_made(facts, way, &block->values.items[result], depth)) return false;
        }
        return true;
    default: return false;
    }
}

static bool is_made(const CtFlowFacts *facts, const CtFlowWay *way, const CtFlowArg *array, int depth) {
    const CtFlowFact *fact = ct_flow_fact(facts, array);
    if (depth == 0 || fact->depth < way->depth) return false;
    if (fact->maker != NULL) return is_made_by(facts, way, fact->maker, fact->index, depth - 1);
    if (fact->loop == NULL || fact->index == 0 || way->outer == NULL) return false;
    return is_made(facts, iteration(way->outer), &fact->loop->args.items[fact->index], depth - 1);
}

/* Whether the iteration gives on an array that it has changed, or made, as the next of what it was given. */
static bool is_made_again(const CtFlowFacts *facts, const CtFlowWay *way, const CtFlowArg *array) {
    const CtFlowFact *fact = ct_flow_fact(facts, array);
    if (fact->maker != NULL || fact->loop == NULL || fact->index == 0) return true;
    const CtFlowBlock *block = fact->loop->as.loop.block;
    return block->exit == EXIT_YIELD && is_made(facts, way, &block->values.items[fact->index - 1], DEEPEST);
}

bool ct_flow_is_own(const CtFlowFacts *facts, const CtFlowWay *way, const CtFlowArg *array) {
    const CtFlowWay *here = iteration(way);
    return is_made(facts, here, array, DEEPEST) && is_made_again(facts, here, array) && !is_used_later(way, array->var);
}
