/* Constants that are arrays: lengths that their own code shows, and elements that are literals there. The code of a
 * constant is a function of its own; of its variables nothing is said outside. Likewise, arrays that functions return:
 * how many elements they have, if that is the same literal at all exits. */
#include "flow/analysis/analysis.h"

/* The step of a block that makes a value; NULL: it is made elsewhere. */
static const CtFlowStep *maker_in(const CtFlowBlock *block, const CtFlowArg *value) {
    for (uint32_t i = 0; value->var != NULL && i < block->steps.count; i++)
        for (uint32_t j = 0; j < block->steps.items[i]->results.count; j++)
            if (block->steps.items[i]->results.items[j] == value->var) return block->steps.items[i];
    return NULL;
}

/* How many elements a step makes in the first dimension; type NULL: that is no literal. */
static CtFlowArg count_of(const CtFlowFacts *facts, const CtFlowStep *step) {
    CtFlowArg count = {.type = facts->integer};
    if (ct_flow_is_items(step)) {
        count.lit.integer = step->args.count;
        return count;
    }
    bool each = step->kind == FLOW_LOOP && step->as.loop.carried == 0;
    bool has_count = each || ct_flow_is_bulk(step, ARRAY_REPLICATE) || ct_flow_is_bulk(step, ARRAY_IOTA);
    bool known = has_count && step->args.items[0].var == NULL && step->args.items[0].lit.integer >= 0;
    return known ? step->args.items[0] : (CtFlowArg){0};
}

/* The block that ends a constant's code; NULL: there are several. */
static const CtFlowBlock *block_of(const CtFlowFact *fact) {
    if (fact->maker->kind != FLOW_CONSTANT) return NULL;
    const CtFlowBlock *block = fact->maker->as.constant->function->body;
    return block->exit == EXIT_RETURN ? block : NULL;
}

CtFlowArg ct_flow_constant_length(const CtFlowFacts *facts, const CtFlowFact *fact, uint32_t dimension) {
    const CtFlowBlock *block = block_of(fact);
    const CtFlowStep *step = block != NULL ? maker_in(block, &block->values.items[fact->index]) : NULL;
    for (; step != NULL && dimension > 0; dimension--) {
        bool has_rows = ct_flow_is_items(step) && step->args.count > 0;
        step = has_rows ? maker_in(block, &step->args.items[0]) : NULL;
    }
    return step != NULL ? count_of(facts, step) : (CtFlowArg){0};
}

/* What is at an index in the array that a step makes; type NULL: it is not known, or there is nothing. */
static CtFlowArg item_of(const CtFlowFacts *facts, const CtFlowStep *step, const CtFlowArg *index) {
    CtFlowArg count = step != NULL ? count_of(facts, step) : (CtFlowArg){0};
    bool inside =
        count.type != NULL && index->var == NULL && index->lit.integer >= 0 && index->lit.integer < count.lit.integer;
    if (inside && ct_flow_is_items(step)) return step->args.items[index->lit.integer];
    return inside && ct_flow_is_bulk(step, ARRAY_REPLICATE) ? step->args.items[1] : (CtFlowArg){0};
}

CtFlowArg ct_flow_constant_element(const CtFlowFacts *facts, const CtFlowFact *fact, const CtFlowArg *indices,
                                   uint32_t count) {
    const CtFlowBlock *block = block_of(fact);
    CtFlowArg value = block != NULL ? block->values.items[fact->index] : (CtFlowArg){0};
    for (uint32_t i = 0; i < count && value.type != NULL; i++)
        value = item_of(facts, maker_in(block, &value), &indices[i]);
    return value.var == NULL ? value : (CtFlowArg){0};
}

/* ---- results of calls ---- */

enum { MOST_CALLS = 4 }; /* bound of the calls through which a result is followed */

typedef struct Count {
    const CtFlowFacts *facts;
    CtFlowArg found; /* at the exits so far; type NULL: at none */
} Count;

static bool agrees(Count *c, CtFlowArg count) {
    bool first = c->found.type == NULL;
    if (first) c->found = count;
    return count.type != NULL && (first || c->found.lit.integer == count.lit.integer);
}

static bool count_result(Count *c, const CtFlowFunction *function, uint32_t index, int calls);

/* Whether a value of a block has as many elements as have been found elsewhere. */
static bool count_value(Count *c, const CtFlowBlock *block, const CtFlowArg *value, int calls) {
    const CtFlowStep *step = maker_in(block, value);
    if (step == NULL) return false;
    if (step->kind == FLOW_CALL)
        return count_result(c, step->as.function, ct_flow_result_index(step, value->var), calls);
    if (step->kind != FLOW_SWITCH) return agrees(c, count_of(c->facts, step));
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *branch = step->as.cases.branches[i].block;
        const CtFlowArg *yields = &branch->values.items[ct_flow_result_index(step, value->var)];
        if (branch->exit == EXIT_YIELD && !count_value(c, branch, yields, calls)) return false;
    }
    return true;
}

static bool count_exits(Count *c, const CtFlowFunction *function, const CtFlowBlock *block, uint32_t index, int calls) {
    if (block->exit == EXIT_RETURN) return count_value(c, block, &block->values.items[index], calls);
    if (block->exit == EXIT_TAIL) return block->tail == function || count_result(c, block->tail, index, calls);
    const CtFlowStep *last = ct_flow_last_switch(block);
    for (uint32_t i = 0; last != NULL && i < last->as.cases.count; i++)
        if (!count_exits(c, function, last->as.cases.branches[i].block, index, calls)) return false;
    return true;
}

/* A function that calls itself returns what its other exits do. */
static bool count_result(Count *c, const CtFlowFunction *function, uint32_t index, int calls) {
    return calls > 0 && count_exits(c, function, function->body, index, calls - 1);
}

CtFlowArg ct_flow_result_length(const CtFlowFacts *facts, const CtFlowFact *fact) {
    Count count = {.facts = facts};
    if (fact->maker == NULL || fact->maker->kind != FLOW_CALL) return (CtFlowArg){0};
    bool same = count_result(&count, fact->maker->as.function, fact->index, MOST_CALLS);
    return same ? count.found : (CtFlowArg){0};
}
