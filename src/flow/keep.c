/* What a loop computes at each turn, and a later one of the same length once more, is kept as an array by the first,
 * where it costs more than memory: exponentials that a sum needs, and the derivative of the sum. Loops that can be one
 * are by now; these cannot, since the second needs what the first has added up. As many arrays as the second makes
 * itself, and only where it does nothing else at a turn: then what it makes may lie where what was kept is read
 * (emit/over.c). */
#include "flow/passes.h"

enum {
    MOST = 100, /* comparisons for one value */
    MEMORY = 4, /* the work of writing a number and reading it */
};

typedef struct Keep {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowFacts facts;
    CtFlowEffects effects;
    int left; /* comparisons */
} Keep;

static bool is_costly(const CtFlowStep *step) {
    return step->kind == FLOW_PRIM && ct_prim_info(step->as.prim)->work > MEMORY &&
           step->results.items[0]->type->kind == FLOW_F64;
}

static bool is_vector(const CtFlowVar *result) {
    return result != NULL && result->type->kind == FLOW_ARRAY && result->type->rank == 1 &&
           result->type->element->kind == FLOW_F64;
}

static bool is_loop(const CtFlowStep *step) {
    return step->kind == FLOW_LOOP && !step->as.loop.initial && step->as.loop.block->exit == EXIT_YIELD;
}

/* How many vectors a loop of straight lines makes; of others, none. */
static uint32_t vectors_of(const CtFlowStep *loop) {
    uint32_t count = 0;
    if (!ct_flow_is_straight(loop->as.loop.block)) return 0;
    for (uint32_t i = loop->as.loop.carried; i < loop->results.count; i++) count += is_vector(loop->results.items[i]);
    return count;
}

/* ---- the same value in two loops ---- */

static bool is_param(const CtFlowStep *loop, const CtFlowVar *var) {
    for (uint32_t i = 0; i < loop->as.loop.block->params.count; i++)
        if (loop->as.loop.block->params.items[i] == var) return true;
    return false;
}

static bool is_made_in(const CtFlowStep *loop, const CtFlowStep *maker) {
    for (uint32_t i = 0; i < loop->as.loop.block->steps.count; i++)
        if (loop->as.loop.block->steps.items[i] == maker) return true;
    return false;
}

/* Whether an argument in the first loop is at each turn what one in the second is there. */
static bool is_same(Keep *k, const CtFlowStep *first, const CtFlowArg *a, const CtFlowStep *second,
                    const CtFlowArg *b) {
    const CtFlowStep *made = ct_flow_fact(&k->facts, a)->maker, *other = ct_flow_fact(&k->facts, b)->maker;
    if (k->left-- <= 0) return false;
    if (a->var == NULL || b->var == NULL) return ct_flow_same(a, b);
    if (is_param(first, a->var) || is_param(second, b->var))
        return a->var == first->as.loop.block->params.items[0] && b->var == second->as.loop.block->params.items[0];
    if (!is_made_in(first, made) || !is_made_in(second, other)) return a->var == b->var;
    bool like = made->kind == other->kind && (made->kind == FLOW_PRIM || made->kind == FLOW_READ) &&
                ct_flow_operation(made) == ct_flow_operation(other) && made->args.count == other->args.count;
    for (uint32_t i = 0; like && i < made->args.count; i++)
        like = is_same(k, first, &made->args.items[i], second, &other->args.items[i]);
    return like;
}

/* ---- keeping ---- */

/* A step of the first loop that gives what one of the second does; NULL: there is none. */
static const CtFlowStep *find(Keep *k, const CtFlowStep *first, const CtFlowStep *second, const CtFlowStep *step) {
    const CtFlowBlock *block = first->as.loop.block;
    CtFlowArg value = flow_of(step->results.items[0]);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        if (!is_costly(block->steps.items[i])) continue;
        CtFlowArg own = flow_of(block->steps.items[i]->results.items[0]);
        k->left = MOST;
        if (is_same(k, first, &own, second, &value)) return block->steps.items[i];
    }
    return NULL;
}

/* The array of a value at all turns: one that the loop makes already, or one more. */
static CtFlowVar *array_of(Keep *k, CtFlowStep *loop, CtFlowVar *value, const CtFlowType *type) {
    CtFlowArgs *values = &loop->as.loop.block->values;
    for (uint32_t i = loop->as.loop.carried; i < values->count; i++)
        if (values->items[i].var == value) return loop->results.items[i];
    CtFlowVar *kept = ct_flow_fresh(k->flow, k->function, "kept", type);
    ct_push(k->arena, &loop->results, kept);
    ct_push(k->arena, values, flow_of(value));
    return kept;
}

static void keep(Keep *k, CtFlowStep *first, const CtFlowStep *value, const CtFlowStep *second, CtFlowStep *step) {
    const CtFlowVar *vector = NULL;
    for (uint32_t i = second->as.loop.carried; vector == NULL; i++)
        if (is_vector(second->results.items[i])) vector = second->results.items[i];
    CtFlowArgs args = {0};
    ct_push(k->arena, &args, flow_of(array_of(k, first, value->results.items[0], vector->type)));
    ct_push(k->arena, &args, flow_of(second->as.loop.block->params.items[0]));
    step->kind = FLOW_READ;
    step->args = args;
}

static bool have_same_length(const Keep *k, const CtFlowStep *a, const CtFlowStep *b) {
    return ct_flow_same_length(&k->facts, ct_flow_length_of(&k->facts, a->args.items[0]),
                               ct_flow_length_of(&k->facts, b->args.items[0]));
}

/* What the loops before it in a block can keep for a loop. One that fails makes no array: it may be endless. */
static void keep_for(Keep *k, CtFlowBlock *block, uint32_t index) {
    CtFlowStep *second = block->steps.items[index];
    uint32_t most = vectors_of(second);
    for (uint32_t i = 0; i < index && most > 0; i++) {
        CtFlowStep *first = block->steps.items[i];
        if (!is_loop(first) || !have_same_length(k, first, second) || !ct_flow_is_total(&k->effects, first)) continue;
        for (uint32_t j = 0; j < second->as.loop.block->steps.count && most > 0; j++) {
            CtFlowStep *step = second->as.loop.block->steps.items[j];
            const CtFlowStep *value = is_costly(step) ? find(k, first, second, step) : NULL;
            if (value == NULL) continue;
            keep(k, first, value, second, step);
            most--;
        }
    }
}

/* Outside of loops: in these the array would be made at each turn. */
static void visit(Keep *k, CtFlowBlock *block) {
    uint32_t equals = k->facts.equals.count;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        ct_flow_learn(&k->facts, step);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            visit(k, step->as.cases.branches[j].block);
        if (is_loop(step)) keep_for(k, block, i);
    }
    k->facts.equals.count = equals;
}

void ct_flow_keep(CtFlow *flow) {
    Keep k = {.flow = flow, .arena = flow->arena, .effects = ct_flow_effects(flow)};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        k.function = flow->functions.items[i];
        ct_flow_facts_begin(&k.facts, flow, k.function);
        visit(&k, k.function->body);
    }
}
