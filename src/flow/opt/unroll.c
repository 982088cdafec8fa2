/* Full unrolling. A loop with a small literal number of iterations becomes straight-line code, so that common
 * subexpressions of its iterations are shared, and its arrays have known elements; most of these arrays become dead.
 * Reductions of arrays with known elements are expanded as well; loops that carry such arrays carry their
 * elements (carried_items.c). Before derivatives are taken, only maps that make vectors of up to four numbers, and sums
 * of such vectors, are unrolled, and only such vectors carried by their elements (unroll_vectors): then their adjoints
 * are numbers. */
#include "flow/copy.h"
#include "flow/opt/passes.h"

enum {
    MOST_ITERATIONS = 16,
    LARGEST = 256,      /* bound of the steps that a loop becomes, */
    FEW_ITERATIONS = 4, /* or, for loops of at most so many iterations, */
    LARGE = 900,        /* this bound */
    OF_AN_ELEMENT = 12, /* before derivatives: of the steps that make an element of a vector in space */
};

typedef struct Unroll {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowFacts facts; /* facts about variables' definitions only */
    CtFlowValues now;
    uint32_t depth;
    bool vectors; /* before derivatives are taken: only maps that make vectors in space, and their sums */
} Unroll;

typedef CT_VEC(CtFlowStep *) Steps;

/* The most elements of arrays that become variables. */
static uint32_t most_elements(const Unroll *u) { return u->vectors ? FEW_ITERATIONS : MOST_ITERATIONS; }

/* ---- loops ---- */

/* Whether a loop makes vectors of numbers, by arithmetic on others. */
static bool makes_vectors(const CtFlowStep *loop) {
    const CtFlowBlock *block = loop->as.loop.block;
    if (loop->as.loop.carried > 0 || loop->args.items[0].lit.integer > FEW_ITERATIONS) return false;
    if (block->steps.count > OF_AN_ELEMENT) return false;
    for (uint32_t i = 0; i < block->values.count; i++)
        if (ct_flow_is_object(block->values.items[i].type)) return false;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind != FLOW_READ && (step->kind != FLOW_PRIM || ct_flow_step_fails(step))) return false;
    }
    return CT_FIRED("unroll.vector");
}

static bool is_wanted(const Unroll *u, const CtFlowStep *step) {
    const CtFlowArg *iterations = &step->args.items[0];
    if (step->as.loop.initial || step->as.loop.block->exit != EXIT_YIELD) return false;
    if (iterations->var != NULL || iterations->lit.integer < 1 || iterations->lit.integer > MOST_ITERATIONS)
        return false;
    if (u->vectors) return makes_vectors(step);
    uint32_t size = ct_flow_size(step->as.loop.block) * (uint32_t)iterations->lit.integer;
    if (size <= LARGEST) return CT_FIRED("unroll.loop");
    return iterations->lit.integer <= FEW_ITERATIONS && size <= LARGE && CT_FIRED("unroll.large_loop");
}

static CtFlowStep *add_step(Unroll *u, Steps *out, CtFlowStepKind kind, CtSourceRange range) {
    CtFlowStep *step = CT_NEW(u->arena, CtFlowStep);
    step->kind = kind;
    step->range = range;
    ct_push(u->arena, out, step);
    return step;
}

/* Writes the check that the row of iteration i has the shape of the first row. */
static void check_row(Unroll *u, Steps *out, const CtFlowStep *loop, const CtFlowStep *array, uint32_t i) {
    if (i == 0 || array->results.items[0]->type->rank == 1) return;
    CT_FIRED("unroll.rows");
    CtFlowStep *check = add_step(u, out, FLOW_CHECK_SHAPE, loop->range);
    check->as.index = i;
    ct_push(u->arena, &check->args, array->args.items[0]);
    ct_push(u->arena, &check->args, array->args.items[i]);
}

static CtFlowStep **begin_arrays(Unroll *u, const CtFlowStep *loop) {
    uint32_t carried = loop->as.loop.carried, count = loop->results.count - carried;
    CtFlowStep **arrays = CT_NEW_ARRAY(u->arena, CtFlowStep *, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        arrays[i] = CT_NEW(u->arena, CtFlowStep);
        arrays[i]->kind = FLOW_ITEMS;
        arrays[i]->range = loop->range;
        ct_push(u->arena, &arrays[i]->results, loop->results.items[carried + i]);
    }
    return arrays;
}

/* Writes an iteration: a copy of the block for the given carried values. `carried` then holds the next ones. */
static void unroll_iteration(Unroll *u, Steps *out, const CtFlowStep *loop, uint32_t iteration, CtFlowArg *carried,
                             CtFlowStep *const *arrays) {
    const CtFlowBlock *block = loop->as.loop.block;
    uint32_t count = loop->as.loop.carried;
    CtFlowBlock bare = *block;
    CtFlowCopy copy = {.flow = u->flow, .into = u->function, .place = CT_NO_RANGE};
    bare.params.count = 0;
    CtFlowArg index = {.type = block->params.items[0]->type, .lit.integer = iteration};
    ct_flow_copy_stands(&copy, block->params.items[0], index);
    for (uint32_t i = 0; i < count; i++) ct_flow_copy_stands(&copy, block->params.items[1 + i], carried[i]);
    const CtFlowBlock *fresh = ct_flow_copy_block(&copy, &bare);
    for (uint32_t i = 0; i < fresh->steps.count; i++) {
        ct_push(u->arena, out, fresh->steps.items[i]);
        ct_flow_facts_step(&u->facts, fresh->steps.items[i], u->depth);
    }
    for (uint32_t i = 0; i < count; i++) carried[i] = fresh->values.items[i];
    for (uint32_t i = count; i < loop->results.count; i++) {
        ct_push(u->arena, &arrays[i - count]->args, fresh->values.items[i]);
        check_row(u, out, loop, arrays[i - count], iteration);
    }
}

static void unroll(Unroll *u, Steps *out, const CtFlowStep *loop) {
    uint32_t count = loop->as.loop.carried;
    CtFlowArg *carried = CT_NEW_ARRAY(u->arena, CtFlowArg, count + 1);
    CtFlowStep **arrays = begin_arrays(u, loop);
    for (uint32_t i = 0; i < count; i++) carried[i] = loop->args.items[1 + i];
    for (uint32_t i = 0; i < loop->args.items[0].lit.integer; i++) unroll_iteration(u, out, loop, i, carried, arrays);
    for (uint32_t i = 0; i < loop->results.count; i++)
        if (i >= count) {
            ct_push(u->arena, out, arrays[i - count]);
            ct_flow_facts_step(&u->facts, arrays[i - count], u->depth);
        } else {
            ct_flow_stands(&u->now, loop->results.items[i], carried[i]);
        }
}

/* ---- reductions ---- */

/* Expands a reduction of a few known elements. A maximum or minimum starts with the first element. */
static bool reduce(Unroll *u, Steps *out, const CtFlowStep *step) {
    const CtFlowArgs *items = step->kind == FLOW_BULK ? ct_flow_known_items(&u->facts, &step->args.items[0]) : NULL;
    CtPrim prim = PRIM_ADD;
    CtFlowArg value = {0};
    if (items == NULL || items->count > most_elements(u) || !ct_flow_reduction(step, &prim, &value)) return false;
    bool extreme = step->as.bulk == ARRAY_MAXIMUM || step->as.bulk == ARRAY_MINIMUM;
    if (u->vectors && step->as.bulk != ARRAY_SUM) return false;
    if (extreme && CT_FIRED("unroll.extreme")) value = items->items[0];
    CT_FIRED("unroll.reduction");
    for (uint32_t i = extreme; i < items->count; i++) {
        CtFlowStep *next = add_step(u, out, FLOW_PRIM, step->range);
        next->as.prim = prim;
        ct_push(u->arena, &next->args, value);
        ct_push(u->arena, &next->args, items->items[i]);
        value = flow_of(ct_flow_fresh(u->flow, u->function, NULL, value.type));
        ct_push(u->arena, &next->results, value.var);
    }
    ct_flow_stands(&u->now, step->results.items[0], value);
    return true;
}

/* ---- the walk ---- */

/* A loop that stays one, behind what this adds. */
static void carry_items(Unroll *u, Steps *out, CtFlowStep *loop) {
    CtFlowBlock around = {.exit = EXIT_OPEN};
    CtFlowBuilder b = {u->flow, u->arena, u->function, &around};
    ct_flow_carry_items(&b, &u->facts, loop, most_elements(u), u->depth);
    for (uint32_t i = 0; i < around.steps.count; i++) ct_push(u->arena, out, around.steps.items[i]);
}

/* A matrix whose rows became known above may be transposed, and a loop below have the number of its rows. */
static void transpose(Unroll *u, Steps *out, CtFlowStep *step) {
    CtFlowBlock around = {.exit = EXIT_OPEN};
    CtFlowBuilder b = {u->flow, u->arena, u->function, &around};
    ct_flow_transpose_items(&b, &u->facts, step, u->depth);
    for (uint32_t i = 0; i < around.steps.count; i++) ct_push(u->arena, out, around.steps.items[i]);
}

/* Whether a length is known by now. */
static bool is_known_length(Unroll *u, const CtFlowStep *step) {
    CtFlowArg literal;
    if (step->kind != FLOW_DIM) return false;
    CtFlowLength length = ct_flow_length(&u->facts, &step->args.items[0], step->as.index, false);
    if (!ct_flow_known_length(&u->facts, length, &literal)) return false;
    CT_FIRED("unroll.known_length");
    ct_flow_stands(&u->now, step->results.items[0], literal);
    return true;
}

/* Inner loops first, so that the size of a block is final when it is judged. */
static void visit(Unroll *u, CtFlowBlock *block) {
    Steps out = {0};
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        ct_flow_rename(&u->now, &step->args);
        if (is_known_length(u, step)) continue;
        transpose(u, &out, step);
        u->depth++;
        if (step->kind == FLOW_LOOP) visit(u, step->as.loop.block);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            visit(u, step->as.cases.branches[j].block);
        u->depth--;
        if (step->kind == FLOW_LOOP && is_wanted(u, step))
            unroll(u, &out, step);
        else if (step->kind == FLOW_LOOP)
            carry_items(u, &out, step);
        else if (!reduce(u, &out, step))
            ct_push(u->arena, &out, step);
    }
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
    ct_flow_rename(&u->now, &block->values);
}

static void unroll_all(CtFlow *flow, bool vectors) {
    Unroll u = {.flow = flow, .arena = flow->arena, .vectors = vectors};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        u.function = flow->functions.items[i];
        ct_flow_values_clear(&u.now, flow->arena);
        ct_flow_facts_begin(&u.facts, flow, u.function);
        u.depth = 0;
        visit(&u, u.function->body);
    }
}

void ct_flow_unroll_vectors(CtFlow *flow) { unroll_all(flow, true); }

void ct_flow_unroll(CtFlow *flow) { unroll_all(flow, false); }
