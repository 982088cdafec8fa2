/* A loop of a few turns, as many as a literal says, is written out: its turns become straight lines, so that what they
 * do alike is done once, and the arrays that they make are elements in sight, which are read as the variables that they
 * are. Then most of these arrays are gone. */
#include "flow/passes.h"

enum {
    MOST_TURNS = 16,
    LARGEST = 256,  /* steps that a loop becomes; */
    FEW_TURNS = 4,  /* of so few turns, */
    LARGE = 900,    /* these */
};

typedef struct Unroll {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowValues now;
} Unroll;

typedef CT_VEC(CtFlowStep *) Steps;

static bool is_wanted(const CtFlowStep *step) {
    const CtFlowArg *turns = &step->args.items[0];
    if (step->as.loop.initial || step->as.loop.block->exit != EXIT_YIELD) return false;
    if (turns->var != NULL || turns->lit.integer < 1 || turns->lit.integer > MOST_TURNS) return false;
    uint32_t size = ct_flow_size(step->as.loop.block) * (uint32_t)turns->lit.integer;
    return size <= LARGEST || (turns->lit.integer <= FEW_TURNS && size <= LARGE);
}

static CtFlowStep *add_step(Unroll *u, Steps *out, CtFlowStepKind kind, CtSpan span) {
    CtFlowStep *step = CT_NEW(u->arena, CtFlowStep);
    step->kind = kind;
    step->span = span;
    ct_push(u->arena, out, step);
    return step;
}

/* The rows of an array have one shape: that of turn i as that of the first. */
static void check_row(Unroll *u, Steps *out, const CtFlowStep *loop, const CtFlowStep *array, uint32_t i) {
    if (i == 0 || array->results.items[0]->type->rank == 1) return;
    CtFlowStep *check = add_step(u, out, FLOW_CHECK_SHAPE, loop->span);
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
        arrays[i]->span = loop->span;
        ct_push(u->arena, &arrays[i]->results, loop->results.items[carried + i]);
    }
    return arrays;
}

/* A turn: a copy of the block, for what is carried to it. What it carries on is in `carried` then. */
static void unroll_turn(Unroll *u, Steps *out, const CtFlowStep *loop, uint32_t turn, CtFlowArg *carried,
                        CtFlowStep *const *arrays) {
    const CtFlowBlock *block = loop->as.loop.block;
    uint32_t count = loop->as.loop.carried;
    CtFlowBlock bare = *block;
    CtFlowClone copy = {.flow = u->flow, .into = u->function, .values = {.arena = u->arena}, .place = CT_NO_SPAN};
    bare.params.count = 0;
    CtFlowArg index = {.type = block->params.items[0]->type, .lit.integer = turn};
    ct_flow_stands(&copy.values, block->params.items[0], index);
    for (uint32_t i = 0; i < count; i++) ct_flow_stands(&copy.values, block->params.items[1 + i], carried[i]);
    const CtFlowBlock *fresh = ct_flow_clone(&copy, &bare);
    for (uint32_t i = 0; i < fresh->steps.count; i++) ct_push(u->arena, out, fresh->steps.items[i]);
    for (uint32_t i = 0; i < count; i++) carried[i] = fresh->values.items[i];
    for (uint32_t i = count; i < loop->results.count; i++) {
        ct_push(u->arena, &arrays[i - count]->args, fresh->values.items[i]);
        check_row(u, out, loop, arrays[i - count], turn);
    }
}

static void unroll(Unroll *u, Steps *out, const CtFlowStep *loop) {
    uint32_t count = loop->as.loop.carried;
    CtFlowArg *carried = CT_NEW_ARRAY(u->arena, CtFlowArg, count + 1);
    CtFlowStep **arrays = begin_arrays(u, loop);
    for (uint32_t i = 0; i < count; i++) carried[i] = loop->args.items[1 + i];
    for (uint32_t i = 0; i < loop->args.items[0].lit.integer; i++) unroll_turn(u, out, loop, i, carried, arrays);
    for (uint32_t i = 0; i < loop->results.count; i++)
        if (i >= count)
            ct_push(u->arena, out, arrays[i - count]);
        else if (loop->results.items[i] != NULL)
            ct_flow_stands(&u->now, loop->results.items[i], carried[i]);
}

/* Inner loops first, so that the size of a block is what it will be. */
static void visit(Unroll *u, CtFlowBlock *block) {
    Steps out = {0};
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        ct_flow_rename(&u->now, &step->args);
        if (step->kind == FLOW_LOOP) visit(u, step->as.loop.block);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            visit(u, step->as.cases.branches[j].block);
        if (step->kind == FLOW_LOOP && is_wanted(step))
            unroll(u, &out, step);
        else
            ct_push(u->arena, &out, step);
    }
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
    ct_flow_rename(&u->now, &block->values);
}

void ct_flow_unroll(CtFlow *flow) {
    Unroll u = {.flow = flow, .arena = flow->arena};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        u.function = flow->functions.items[i];
        ct_flow_values_clear(&u.now, flow->arena);
        visit(&u, u.function->body);
    }
}
