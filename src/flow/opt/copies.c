/* Copy elimination. A loop that only copies an array made before is replaced by that array. A loop that copies a row of
 * an array becomes a read of the row, so that nested copying loops go too. Of the arrays that a loop makes at once, one
 * that copies another array, or has the elements of another of them, is replaced by it. The loop must have as many
 * iterations as the array has elements. */
#include "flow/opt/passes.h"

typedef struct Copies {
    CtFlow *flow;
    CtArena *arena;
    CtFlowEffects effects;
    CtFlowFacts facts;
    CtFlowValues now;
} Copies;

static bool is_outside(const Copies *c, const CtFlowArg *arg, uint32_t depth) {
    return ct_flow_fact(&c->facts, arg)->depth <= depth;
}

/* Whether a step makes a new array, which nobody else can hold. */
static bool makes_whole(const CtFlowStep *step) { return step->kind == FLOW_LOOP || step->kind == FLOW_UPDATE; }

/* The read of an array, or of a row, whose elements a loop copies; NULL if the loop does anything else. */
static const CtFlowStep *copied(const Copies *c, const CtFlowStep *loop, uint32_t depth) {
    const CtFlowBlock *block = loop->as.loop.block;
    if (loop->as.loop.carried > 0 || loop->as.loop.initial || loop->results.count != 1) return NULL;
    if (block->exit != EXIT_YIELD || !ct_flow_block_is_total(&c->effects, block)) return NULL;
    const CtFlowStep *read = ct_flow_maker(&c->facts, &block->values.items[0], FLOW_READ);
    if (read == NULL) return NULL;
    const CtFlowStep *made_by = ct_flow_fact(&c->facts, &read->args.items[0])->maker;
    uint32_t last = read->args.count - 1;
    if (made_by == NULL || (made_by->kind != FLOW_PRODUCT && (last > 1 || !makes_whole(made_by)))) return NULL;
    if (read->args.items[last].var != block->params.items[0]) return NULL;
    for (uint32_t i = 0; i < last; i++)
        if (!is_outside(c, &read->args.items[i], depth)) return NULL;
    const CtFlowType *array = read->args.items[0].type, *made = loop->results.items[0]->type;
    bool whole = array->element == made->element && array->rank == made->rank + last - 1;
    return whole && ct_flow_is_long(&c->facts, &read->args.items[0], last - 1, &loop->args.items[0]) ? read : NULL;
}

/* The array that a loop reads at its own index for an element that it yields, if that array is made or carried outside
 * of the loop, has an element for each iteration, and is not updated by the loop; NULL otherwise. */
static const CtFlowArg *copied_beside(const Copies *c, const CtFlowStep *loop, uint32_t result, uint32_t depth) {
    const CtFlowStep *read = ct_flow_maker(&c->facts, &loop->as.loop.block->values.items[result], FLOW_READ);
    if (read == NULL || read->args.count != 2 || read->args.items[1].var != loop->as.loop.block->params.items[0])
        return NULL;
    const CtFlowArg *array = &read->args.items[0];
    const CtFlowFact *fact = ct_flow_fact(&c->facts, array);
    if (!is_outside(c, array, depth) || (fact->maker == NULL ? fact->loop == NULL : !makes_whole(fact->maker)))
        return NULL;
    for (uint32_t i = 0; i < loop->args.count; i++)
        if (ct_flow_same(&loop->args.items[i], array)) return NULL;
    bool whole = array->type == loop->results.items[result]->type;
    return whole && ct_flow_is_long(&c->facts, array, 0, &loop->args.items[0]) ? array : NULL;
}

/* Replaces those results of a loop of several that are copies. What is left of them is dead code. */
static void drop_copies(Copies *c, const CtFlowStep *loop, uint32_t depth) {
    const CtFlowBlock *block = loop->as.loop.block;
    CtFlowVar *const *results = loop->results.items;
    if (loop->as.loop.initial || block->exit != EXIT_YIELD || loop->results.count < 2) return;
    for (uint32_t i = loop->as.loop.carried; i < loop->results.count; i++) {
        const CtFlowArg *array = copied_beside(c, loop, i, depth);
        uint32_t same = loop->as.loop.carried;
        while (results[same]->type != results[i]->type ||
               !ct_flow_same(&block->values.items[same], &block->values.items[i]))
            same++;
        if (array != NULL && CT_FIRED("copies.beside"))
            ct_flow_stands(&c->now, results[i], *array);
        else if (array == NULL && same < i && CT_FIRED("copies.twice"))
            ct_flow_stands(&c->now, results[i], (CtFlowArg){.type = results[same]->type, .var = results[same]});
    }
}

/* Replaces a copying loop by the array, or by a read of the row. */
static bool drop_copy(Copies *c, CtFlowStep *loop, uint32_t depth) {
    const CtFlowStep *read = copied(c, loop, depth);
    if (read == NULL) return false;
    if (read->args.count == 2 && CT_FIRED("copies.whole")) {
        ct_flow_stands(&c->now, loop->results.items[0], read->args.items[0]);
        return true;
    }
    CtFlowArgs args = {0};
    for (uint32_t i = 0; i + 1 < read->args.count; i++) ct_push(c->arena, &args, read->args.items[i]);
    CT_FIRED("copies.row");
    loop->kind = FLOW_READ;
    loop->args = args;
    return false;
}

static void visit(Copies *c, CtFlowBlock *block, uint32_t depth) {
    uint32_t equals = c->facts.equals.count, kept = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        ct_flow_rename(&c->now, &step->args);
        ct_flow_learn(&c->facts, step);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            visit(c, step->as.cases.branches[j].block, depth + 1);
        if (step->kind == FLOW_LOOP) visit(c, step->as.loop.block, depth + 1);
        if (step->kind == FLOW_LOOP && drop_copy(c, step, depth)) continue;
        if (step->kind == FLOW_LOOP) drop_copies(c, step, depth);
        block->steps.items[kept++] = step;
    }
    block->steps.count = kept;
    ct_flow_rename(&c->now, &block->values);
    c->facts.equals.count = equals;
}

void ct_flow_copies(CtFlow *flow) {
    Copies c = {.flow = flow, .arena = flow->arena, .effects = ct_flow_effects(flow)};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        ct_flow_values_clear(&c.now, flow->arena);
        ct_flow_facts_begin(&c.facts, flow, flow->functions.items[i]);
        visit(&c, flow->functions.items[i]->body, 0);
    }
}
