/* Guards. In a loop, or a function that calls itself, a switch on a number of which all branches but one fail becomes a
 * switch that only fails, a guard, and the steps of that branch stand behind it. So hoist_checks can move the failure
 * in front of the loop, and the steps are fused with others of the loop; and a row of a matrix that a function like
 * `head` gives is known as one, so that small_sizes can follow it.
 *
 *     x = switch none { 0: y = minimum xs, yield y; 1: fail }    →    switch none { 0: yield; 1: fail }
 *                                                                     y = minimum xs
 *
 * A read of which only the branch tells that its element is there does not leave it: passes take the checks in front of
 * a read for why it may be made, and no branches. So a read in the branch itself gets a check of its own, which never
 * fails behind the guard. For a read in a loop of the branch the switch stays behind the guard, and in the branches
 * that fail it gives values that nobody sees. */
#include "flow/opt/passes.h"

typedef struct Guards {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowFacts facts;
    CtFlowValues now;
} Guards;

typedef CT_VEC(CtFlowStep *) Steps;

/* The only branch of a switch that yields, if all others fail; else NULL. */
static CtFlowBlock *guarded(const CtFlowStep *step) {
    CtFlowBlock *only = NULL;
    if (step->kind != FLOW_SWITCH || step->as.cases.count < 2 || step->results.count == 0) return NULL;
    if (ct_flow_is_object(step->args.items[0].type)) return NULL;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit == EXIT_NEVER) continue;
        if (block->exit != EXIT_YIELD || only != NULL) return NULL;
        only = block;
    }
    return only;
}

static bool reads_element(const CtFlowStep *step) { return step->kind == FLOW_READ && step->args.count == 2; }

/* Whether all elements that a block looks at are there whatever its switch has tested, or are read outside of its loops
 * and branches. What its steps tell holds behind the switch, too: no other branch comes there. */
static bool needs_no_test(Guards *g, const CtFlowBlock *block) {
    bool inside = true;
    for (uint32_t i = 0; i < block->steps.count && inside; i++) {
        const CtFlowStep *step = block->steps.items[i];
        inside = reads_element(step) || ct_flow_stays_inside(&g->facts, step);
        ct_flow_learn(&g->facts, step);
    }
    return inside;
}

/* A check that the element is there which a step reads, unless that is known. */
static void check_read(Guards *g, const CtFlowStep *read, Steps *out) {
    if (!reads_element(read) || ct_flow_is_inside(&g->facts, read, 1)) return;
    CtFlowStep *check = CT_NEW(g->arena, CtFlowStep);
    check->kind = FLOW_CHECK;
    check->range = read->range;
    ct_push(g->arena, &check->args, read->args.items[1]);
    ct_push(g->arena, &check->args, read->args.items[0]);
    CT_FIRED("guards.check");
    ct_push(g->arena, out, check);
    ct_flow_learn(&g->facts, check);
}

/* Puts the steps of the branch behind its switch, which then has no results. */
static void split(Guards *g, CtFlowStep *choice, CtFlowBlock *block, Steps *out) {
    ct_push(g->arena, out, choice);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        check_read(g, block->steps.items[i], out);
        ct_push(g->arena, out, block->steps.items[i]);
    }
    for (uint32_t i = 0; i < choice->results.count; i++)
        ct_flow_stands(&g->now, choice->results.items[i], ct_flow_now(&g->now, block->values.items[i]));
    choice->results.count = 0;
    block->steps.count = block->values.count = 0;
}

/* The value of a result in a branch that is never taken. */
static CtFlowArg nothing(Guards *g, CtFlowBlock *block, const CtFlowVar *result) {
    if (!ct_flow_is_object(result->type)) return (CtFlowArg){.type = result->type};
    CtFlowStep *none = CT_NEW(g->arena, CtFlowStep);
    CtFlowVar *empty = ct_flow_fresh(g->flow, g->function, NULL, result->type);
    none->kind = FLOW_ITEMS;
    none->range = block->range;
    ct_push(g->arena, &none->results, empty);
    ct_push(g->arena, &block->steps, none);
    return flow_of(empty);
}

/* A switch whose failing branches have moved into the guard: there it gives nothing. */
static void fail_no_more(Guards *g, CtFlowBranch *branch, const CtFlowVars *results) {
    CtFlowBlock *block = CT_NEW(g->arena, CtFlowBlock);
    block->exit = EXIT_YIELD;
    block->range = branch->block->range;
    for (uint32_t i = 0; i < results->count; i++)
        ct_push(g->arena, &block->values, nothing(g, block, results->items[i]));
    branch->block = block;
}

static bool gives_nodes(const CtFlowStep *choice) {
    for (uint32_t i = 0; i < choice->results.count; i++)
        if (choice->results.items[i]->type->kind == FLOW_NODE) return true;
    return false;
}

/* Puts a guard in front of a switch, which keeps its branch. */
static void precede(Guards *g, CtFlowStep *choice, const CtFlowBlock *block, Steps *out) {
    CtFlowStep *guard = CT_NEW(g->arena, CtFlowStep);
    CtFlowBlock *passed = CT_NEW(g->arena, CtFlowBlock);
    *guard = *choice;
    guard->results = (CtFlowVars){0};
    guard->as.cases.branches = CT_NEW_ARRAY(g->arena, CtFlowBranch, choice->as.cases.count);
    passed->exit = EXIT_YIELD;
    passed->range = block->range;
    for (uint32_t i = 0; i < choice->as.cases.count; i++) {
        CtFlowBranch *branch = &choice->as.cases.branches[i];
        guard->as.cases.branches[i] = *branch;
        if (branch->block == block)
            guard->as.cases.branches[i].block = passed;
        else
            fail_no_more(g, branch, &choice->results);
    }
    ct_push(g->arena, out, guard);
    ct_push(g->arena, out, choice);
}

static void visit(Guards *g, CtFlowBlock *block, bool again) {
    Steps out = {0};
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        ct_flow_rename(&g->now, &step->args);
        ct_flow_learn(&g->facts, step);
        uint32_t before = g->facts.equals.count;
        if (step->kind == FLOW_LOOP) ct_flow_assume_iteration(&g->facts, step);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            visit(g, ct_flow_inner(step, j), again || step->kind == FLOW_LOOP);
        g->facts.equals.count = before;
        CtFlowBlock *only = again ? guarded(step) : NULL;
        if (only != NULL && needs_no_test(g, only) && CT_FIRED("guards.branch"))
            split(g, step, only, &out);
        else if (only != NULL && !gives_nodes(step) && CT_FIRED("guards.in_front"))
            precede(g, step, only, &out);
        else
            ct_push(g->arena, &out, step);
    }
    ct_flow_rename(&g->now, &block->values);
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
}

typedef struct Look {
    const CtFlowFunction *function;
    bool found;        /* such a switch, in a loop or not */
    bool calls_itself; /* the function */
} Look;

static void look_at(void *data, CtFlowStep *step) {
    Look *look = data;
    look->found |= guarded(step) != NULL;
    look->calls_itself |= step->kind == FLOW_CALL && step->as.function == look->function;
}

void ct_flow_guards(CtFlow *flow) {
    Guards g = {.flow = flow, .arena = flow->arena};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        g.function = flow->functions.items[i];
        Look look = {.function = g.function};
        ct_flow_each_step(g.function->body, look_at, &look);
        if (!look.found) continue;
        ct_flow_values_clear(&g.now, flow->arena);
        ct_flow_facts_begin(&g.facts, flow, g.function);
        visit(&g, g.function->body, look.calls_itself);
    }
}
