/* Materialises values for reuse between loops. If a loop computes a value that a later loop of the same length computes
 * again, the first stores it in an array for the second, provided that recomputing costs more than memory traffic: for
 * example exponentials that a sum needs and the sum's derivative needs again. Loops that can be fused are fused by now;
 * these cannot be, because the second needs a sum that the first computes.
 *
 * At top level memory traffic is the bottleneck. There the first loop makes at most as many arrays as the second one
 * makes itself, and only if the second does nothing else, so that its results can be written over the arrays it reads
 * (emit/reuse_dying.c). If both loops are inside another loop, arrays belong to one iteration of it and are mostly
 * small. Then values that inner loops compute are stored too: sums of inner loops, and as rows what these compute in
 * each iteration. But no array is made that is larger than arrays that exist anyway, since the number of iterations of
 * a loop without arrays is unbounded. */
#include "flow/opt/passes.h"

enum {
    MOST = 200,      /* comparisons while looking for one value */
    MOST_ARRAYS = 4, /* that one loop makes for another, inside a loop */
    MEMORY = 4,      /* work of storing and loading a number */
};

typedef struct Materialise {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowFacts facts;
    CtFlowEffects effects;
    const bool *telling;
    uint32_t depth, loops; /* nesting depths of the block that contains the two loops */
    uint32_t left;         /* number of arrays that the first loop may still make */
    int patience;          /* number of comparisons left */
} Materialise;

/* Two loops whose iterations are compared, and the pair that encloses them. */
typedef struct Pair {
    CtFlowStep *first, *second;
    const struct Pair *outer;
    bool is_whole; /* the loops are compared as wholes: their carried variables are equal if everything else is */
} Pair;

static bool is_loop(const CtFlowStep *step) {
    return step->kind == FLOW_LOOP && !step->as.loop.initial && step->as.loop.block->exit == EXIT_YIELD;
}

static bool is_sum(const CtFlowStep *step) {
    return is_loop(step) && step->as.loop.carried == 1 && step->results.count == 1;
}

static bool is_costly(const Materialise *k, const CtFlowStep *step) {
    bool takes_long = step->kind == FLOW_PRIM && ct_prim_info(step->as.prim)->work > MEMORY;
    if (!takes_long && (k->loops == 0 || !is_sum(step))) return false;
    return step->results.items[0]->type->kind == FLOW_F64;
}

/* Whether a block computes numbers and chooses between such. */
static bool is_simple(const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool number = step->results.count > 0 && step->results.items[0] != NULL &&
                      !ct_flow_is_object(step->results.items[0]->type) && !ct_flow_step_fails(step);
        if (step->kind != FLOW_SWITCH && (!number || (step->kind != FLOW_PRIM && step->kind != FLOW_READ)))
            return false;
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            if (!is_simple(step->as.cases.branches[j].block)) return false;
    }
    return block->exit == EXIT_YIELD;
}

/* The number of vectors of numbers that a loop without inner loops makes; 0 for other loops. */
static uint32_t vectors_of(const CtFlowStep *loop) {
    uint32_t count = 0;
    if (!is_simple(loop->as.loop.block)) return 0;
    for (uint32_t i = loop->as.loop.carried; i < loop->results.count; i++) {
        const CtFlowVar *result = loop->results.items[i];
        count += result != NULL && result->type->kind == FLOW_ARRAY && result->type->rank == 1 &&
                 result->type->element->kind == FLOW_F64;
    }
    return count;
}

/* ---- the same value in two loops ---- */

static bool is_same(Materialise *k, const Pair *pair, const CtFlowArg *a, const CtFlowArg *b);

static bool are_same(Materialise *k, const Pair *pair, const CtFlowArgs *a, const CtFlowArgs *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!is_same(k, pair, &a->items[i], &b->items[i])) return false;
    return true;
}

/* Whether a result of a loop inside the first equals one of a loop inside the second. */
static bool give_same(Materialise *k, const Pair *pair, CtFlowStep *a, CtFlowStep *b, uint32_t result) {
    const Pair inner = {a, b, pair, true};
    const CtFlowArgs *values = &a->as.loop.block->values, *others = &b->as.loop.block->values;
    uint32_t carried = a->as.loop.carried;
    if (!is_loop(a) || !is_loop(b) || carried != b->as.loop.carried) return false;
    return are_same(k, pair, &a->args, &b->args, 1 + carried) && are_same(k, &inner, values, others, carried) &&
           (result < carried || is_same(k, &inner, &values->items[result], &others->items[result]));
}

/* Whether two switches on the same value give the same in each branch. */
static bool choose_same(Materialise *k, const Pair *pair, const CtFlowStep *a, const CtFlowStep *b, uint32_t result) {
    if (a->as.cases.count != b->as.cases.count || !is_same(k, pair, &a->args.items[0], &b->args.items[0])) return false;
    for (uint32_t i = 0; i < a->as.cases.count; i++) {
        const CtFlowBranch *one = &a->as.cases.branches[i], *other = &b->as.cases.branches[i];
        if (one->tag != other->tag || one->block->exit != EXIT_YIELD || other->block->exit != EXIT_YIELD) return false;
        if (!is_same(k, pair, &one->block->values.items[result], &other->block->values.items[result])) return false;
    }
    return CT_FIRED("materialise.switch");
}

static bool are_made_alike(Materialise *k, const Pair *pair, const CtFlowFact *a, const CtFlowFact *b) {
    CtFlowStep *made = a->maker, *other = b->maker;
    if (made == NULL || other == NULL || made->kind != other->kind || a->index != b->index) return false;
    if (made->kind == FLOW_LOOP) return give_same(k, pair, made, other, a->index);
    if (made->kind == FLOW_SWITCH) return choose_same(k, pair, made, other, a->index);
    bool has_form = made->kind == FLOW_PRIM || made->kind == FLOW_READ || made->kind == FLOW_DIM;
    return has_form && ct_flow_operation(made) == ct_flow_operation(other) && made->args.count == other->args.count &&
           are_same(k, pair, &made->args, &other->args, made->args.count);
}

/* Whether an argument in the first loop has the same value as one in the second, in each iteration. */
static bool is_same(Materialise *k, const Pair *pair, const CtFlowArg *a, const CtFlowArg *b) {
    const CtFlowFact *fact = ct_flow_fact(&k->facts, a), *other = ct_flow_fact(&k->facts, b);
    if (k->patience-- <= 0) return false;
    if (a->var == NULL || b->var == NULL) return ct_flow_same(a, b);
    if (fact->depth <= k->depth || other->depth <= k->depth) return a->var == b->var;
    if (fact->loop == NULL) return are_made_alike(k, pair, fact, other);
    while (pair != NULL && pair->first != fact->loop) pair = pair->outer;
    return pair != NULL && pair->second == other->loop && fact->index == other->index &&
           (fact->index == 0 || pair->is_whole);
}

static bool have_same_length(const Materialise *k, const CtFlowStep *a, const CtFlowStep *b) {
    return ct_flow_same_length(&k->facts, ct_flow_length_of(&k->facts, a->args.items[0]),
                               ct_flow_length_of(&k->facts, b->args.items[0]));
}

/* A step of the first loop that computes the same as one of the second; NULL: there is none. */
static const CtFlowStep *find(Materialise *k, const Pair *pair, const CtFlowStep *step) {
    const CtFlowBlock *block = pair->first->as.loop.block;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *own = block->steps.items[i];
        if (own->kind != step->kind || !is_costly(k, own)) continue;
        CtFlowArg value = flow_of(own->results.items[0]), other = flow_of(step->results.items[0]);
        k->patience = MOST;
        if (is_same(k, pair, &value, &other)) return own;
    }
    return NULL;
}

/* ---- keeping ---- */

/* The array of a value over all iterations of a loop; it is added to the loop unless it makes it already. */
static CtFlowVar *array_of(Materialise *k, CtFlowStep *loop, CtFlowVar *value) {
    CtFlowArgs *values = &loop->as.loop.block->values;
    for (uint32_t i = loop->as.loop.carried; i < values->count; i++)
        if (values->items[i].var == value && CT_FIRED("materialise.made_already")) return loop->results.items[i];
    uint32_t rank = value->type->kind == FLOW_ARRAY ? value->type->rank : 0;
    CtFlowVar *kept = ct_flow_fresh(k->flow, k->function, "kept",
                                    ct_flow_array(k->flow, rank + 1, ct_flow_scalar(k->flow, FLOW_F64)));
    ct_push(k->arena, &loop->results, kept);
    ct_push(k->arena, values, flow_of(value));
    return kept;
}

/* Replaces a value of the second loop by a read of the array from the first. */
static void keep(Materialise *k, const Pair *pair, CtFlowVar *value, CtFlowStep *step) {
    CtFlowArgs args = {0};
    CtFlowVar *kept = array_of(k, pair->first, value);
    CT_FIRED("materialise.value");
    if (pair->outer != NULL && CT_FIRED("materialise.row")) kept = array_of(k, pair->outer->first, kept);
    ct_push(k->arena, &args, flow_of(kept));
    if (pair->outer != NULL) ct_push(k->arena, &args, flow_of(pair->outer->second->as.loop.block->params.items[0]));
    ct_push(k->arena, &args, flow_of(pair->second->as.loop.block->params.items[0]));
    step->kind = FLOW_READ;
    step->args = args;
    k->left--;
}

static bool is_index(const CtFlowStep *read, const CtFlowStep *loop) {
    for (uint32_t i = 1; i < read->args.count; i++)
        if (read->args.items[i].var == loop->as.loop.block->params.items[0]) return true;
    return false;
}

/* Whether some array has an element for each iteration of the first loop and of the loop around it. */
static bool is_over_array(const Pair *pair) {
    const CtFlowStep *loop = pair->first;
    for (uint32_t i = 0; i < loop->as.loop.block->steps.count; i++) {
        const CtFlowStep *step = loop->as.loop.block->steps.items[i];
        if (step->kind == FLOW_READ && is_index(step, loop) &&
            (pair->outer == NULL || is_index(step, pair->outer->first)))
            return true;
    }
    return pair->outer == NULL && loop->results.count > loop->as.loop.carried;
}

/* Goes backwards, so that what only a replaced value needed is dead already. */
static void keep_values(Materialise *k, const Pair *pair) {
    if (k->loops > 0 && !is_over_array(pair)) return;
    const CtFlowBlock *block = pair->second->as.loop.block;
    for (uint32_t i = block->steps.count; i-- > 0 && k->left > 0;) {
        CtFlowStep *step = block->steps.items[i];
        bool wanted = is_costly(k, step) && !ct_flow_tells(k->telling, step);
        const CtFlowStep *value = wanted ? find(k, pair, step) : NULL;
        if (value != NULL) keep(k, pair, value->results.items[0], step);
    }
}

/* Whether a loop inside the first has the same length in all iterations, so that it can make rows. */
static bool can_make_rows(const Materialise *k, const CtFlowStep *loop) {
    return is_loop(loop) && ct_flow_fact(&k->facts, &loop->args.items[0])->depth <= k->depth &&
           ct_flow_is_natural(&k->facts, &loop->args.items[0]);
}

static void keep_rows(Materialise *k, const Pair *outer) {
    const CtFlowBlock *block = outer->first->as.loop.block, *other = outer->second->as.loop.block;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *first = block->steps.items[i];
        for (uint32_t j = 0; can_make_rows(k, first) && j < other->steps.count && k->left > 0; j++) {
            CtFlowStep *second = other->steps.items[j];
            if (is_loop(second) && ct_flow_same(&first->args.items[0], &second->args.items[0]))
                keep_values(k, &(Pair){first, second, outer, false});
        }
    }
}

/* Whether a loop can make arrays for another one: both have the same number of iterations, which is not negative, and
 * the loop cannot fail, since a loop that fails may have an unbounded trip count. */
static bool can_keep(const Materialise *k, const CtFlowStep *first, const CtFlowStep *second) {
    return is_loop(first) && have_same_length(k, first, second) && ct_flow_is_total(&k->effects, first) &&
           ct_flow_is_natural(&k->facts, &first->args.items[0]);
}

/* Materialises values for a loop from all loops before it in the block. */
static void keep_for(Materialise *k, CtFlowBlock *block, uint32_t index) {
    CtFlowStep *second = block->steps.items[index];
    k->left = k->loops > 0 ? MOST_ARRAYS : vectors_of(second);
    for (uint32_t i = 0; i < index && k->left > 0; i++) {
        CtFlowStep *first = block->steps.items[i];
        if (!can_keep(k, first, second)) continue;
        const Pair pair = {first, second, NULL, false};
        keep_values(k, &pair);
        if (k->loops > 0) keep_rows(k, &pair);
    }
}

/* Outer loops first: what these materialise need not be materialised inside. */
static void visit(Materialise *k, CtFlowBlock *block, uint32_t depth) {
    uint32_t equals = k->facts.equals.count;
    k->depth = depth;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        ct_flow_learn(&k->facts, block->steps.items[i]);
        if (is_loop(block->steps.items[i])) keep_for(k, block, i);
    }
    k->facts.equals.count = equals;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        ct_flow_learn(&k->facts, step);
        k->loops += step->kind == FLOW_LOOP;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(k, ct_flow_inner(step, j), depth + 1);
        k->loops -= step->kind == FLOW_LOOP;
    }
    k->facts.equals.count = equals;
}

void ct_flow_materialise(CtFlow *flow) {
    Materialise k = {.flow = flow, .arena = flow->arena, .effects = ct_flow_effects(flow)};
    k.telling = ct_flow_telling(flow);
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        k.function = flow->functions.items[i];
        ct_flow_facts_begin(&k.facts, flow, k.function);
        visit(&k, k.function->body, 0);
    }
}
