/* Constants that are arrays: lengths that their own code shows, and elements that are literals there. The code of a
 * constant is a function of its own; of its variables nothing is said outside. */
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
