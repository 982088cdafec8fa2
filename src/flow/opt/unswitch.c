/* Loop unswitching. Where a switch in a loop makes arrays, its test is the same in all iterations, and one of its two
 * branches is straight, the loop is written twice, and the test chooses in front of it. In the first copy, the straight
 * branch stands for the switch. So what reads its array is fused with it.
 *
 *     loop n do i                               switch same
 *       zs = switch same                        1: loop n do i
 *            1: map …                     →          zs = map …
 *            0: switch …                             s = sum zs
 *       s = sum zs                              0: the loop as it was
 *
 * The test of an operation on two arrays whether they have one length is such a switch: in its other branch, an array
 * of one element is repeated. So is a test for what is a case of its own and takes no steps, as that for no elements in
 * `if null xs then 0 else maximum xs`: the other branch, which has loops, stands for the switch. What follows the loop
 * in its block is written twice, too, if it is short: a fold of what the loop makes is fused with it, and so is a
 * derivative. */
#include "flow/opt/passes.h"

enum { LARGEST = 400 }; /* steps that are written twice */

typedef struct Test {
    CtFlowArg arg;
    uint32_t tag; /* that it has where the straight branch is chosen */
} Test;

typedef struct Unswitch {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowFacts facts;
    uint32_t depth;     /* nesting depth of the loop's block */
    CT_VEC(Test) tests; /* of the current loop */
} Unswitch;

typedef CT_VEC(CtFlowStep *) Steps;

/* ---- which switches ---- */

static bool is_straight(const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (block->steps.items[i]->kind == FLOW_SWITCH) return false;
    return block->exit == EXIT_YIELD;
}

static bool makes_array(const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] != NULL && step->results.items[i]->type->kind == FLOW_ARRAY) return true;
    return false;
}

static const CtFlowBranch *branch_of(const CtFlowStep *choice, uint32_t tag) {
    return &choice->as.cases.branches[ct_flow_branch_for(choice, tag)];
}

static bool has_loops(const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (block->steps.items[i]->kind == FLOW_LOOP) return true;
    return false;
}

/* Whether a switch on a truth value gives arrays, straight if it is true, and by another switch if it is not; or has
 * loops in one branch and nothing in the other. `tag`: of the branch that may stand for it. */
static bool is_wanted(const CtFlowStep *step, uint32_t *tag) {
    if (step->kind != FLOW_SWITCH || step->as.cases.count != 2) return false;
    const CtFlowBlock *yes = branch_of(step, 1)->block, *no = branch_of(step, 0)->block;
    if (yes->exit != EXIT_YIELD || no->exit != EXIT_YIELD) return false;
    *tag = 1;
    if (makes_array(step) && is_straight(yes) && !is_straight(no)) return true;
    *tag = yes->steps.count == 0 ? 0 : 1;
    const CtFlowBlock *one = *tag == 0 ? no : yes, *other = *tag == 0 ? yes : no;
    return other->steps.count == 0 && has_loops(one);
}

static void add_test(Unswitch *u, CtFlowArg arg, uint32_t tag) {
    for (uint32_t i = 0; i < u->tests.count; i++)
        if (u->tests.items[i].arg.var == arg.var) return;
    ct_push(u->arena, &u->tests, ((Test){arg, tag}));
}

static bool is_outside(const Unswitch *u, const CtFlowArg *arg) {
    return arg->var != NULL && ct_flow_fact(&u->facts, arg)->depth <= u->depth;
}

/* The comparison that a switch is on, if it was made in front of the loop. */
static bool is_test(const Unswitch *u, const CtFlowArg *arg) {
    const CtFlowStep *made = is_outside(u, arg) ? ct_flow_maker(&u->facts, arg, FLOW_PRIM) : NULL;
    return made != NULL &&
           (made->as.prim == PRIM_INT_EQ || made->as.prim == PRIM_INT_LT || made->as.prim == PRIM_INT_LE);
}

static void find_tests(void *data, CtFlowStep *step) {
    Unswitch *u = data;
    uint32_t tag;
    if (is_wanted(step, &tag) && is_test(u, &step->args.items[0])) add_test(u, step->args.items[0], tag);
}

/* ---- two copies ---- */

/* Puts the branch for a test that holds in the place of its switches. */
static void choose(Unswitch *u, CtFlowBlock *block) {
    Steps out = {0};
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        bool chosen = false;
        uint32_t tag;
        for (uint32_t j = 0; j < u->tests.count && is_wanted(step, &tag); j++)
            chosen = chosen || (step->args.items[0].var == u->tests.items[j].arg.var && tag == u->tests.items[j].tag);
        if (!chosen) {
            for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) choose(u, ct_flow_inner(step, j));
            ct_push(u->arena, &out, step);
            continue;
        }
        CtFlowBlock *yes = branch_of(step, tag)->block;
        if (branch_of(step, 1 - tag)->block->steps.count == 0) CT_FIRED("unswitch.case");
        choose(u, yes);
        for (uint32_t j = 0; j < yes->steps.count; j++) ct_push(u->arena, &out, yes->steps.items[j]);
        for (uint32_t j = 0; j < step->results.count; j++)
            ct_flow_substitute(block, step->results.items[j], yes->values.items[j]);
    }
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
}

static CtFlowStep *new_step(Unswitch *u, CtFlowStepKind kind, CtSourceRange range, Steps *to) {
    CtFlowStep *step = CT_NEW(u->arena, CtFlowStep);
    step->kind = kind;
    step->range = range;
    ct_push(u->arena, to, step);
    return step;
}

static CtFlowArg prim2(Unswitch *u, Steps *out, CtSourceRange range, CtPrim prim, CtFlowArg a, CtFlowArg b) {
    CtFlowStep *step = new_step(u, FLOW_PRIM, range, out);
    step->as.prim = prim;
    ct_push(u->arena, &step->args, a);
    ct_push(u->arena, &step->args, b);
    CtFlowVar *var = ct_flow_fresh(u->flow, u->function, "same", u->facts.integer);
    ct_push(u->arena, &step->results, var);
    return flow_of(var);
}

/* What chooses the straight branches: the only test, or 1 where all tests do. */
static Test conjunction(Unswitch *u, CtSourceRange range, Steps *out) {
    CtFlowArg all = {0};
    if (u->tests.count == 1) return u->tests.items[0];
    for (uint32_t i = 0; i < u->tests.count; i++) {
        const Test *test = &u->tests.items[i];
        CtFlowArg one = test->tag == 1
                            ? test->arg
                            : prim2(u, out, range, PRIM_INT_EQ, test->arg, ((CtFlowArg){.type = u->facts.integer}));
        all = i == 0 ? one : prim2(u, out, range, PRIM_INT_AND, all, one);
    }
    return (Test){all, 1};
}

static bool has_derivative(const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (ct_flow_is_derivative(step)) return true;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (has_derivative(ct_flow_inner(step, j))) return true;
    }
    return false;
}

/* Some steps of a block, as a block of its own that yields nothing. */
static CtFlowBlock *part(Unswitch *u, const CtFlowBlock *block, uint32_t first, uint32_t count) {
    CtFlowBlock *made = CT_NEW(u->arena, CtFlowBlock);
    made->exit = EXIT_YIELD;
    made->range = block->steps.items[first]->range;
    for (uint32_t i = 0; i < count; i++) ct_push(u->arena, &made->steps, block->steps.items[first + i]);
    return made;
}

static bool may_copy(const CtFlowBlock *block) {
    return ct_flow_size(block) <= LARGEST && !ct_flow_leaves(block) && !has_derivative(block);
}

/* The steps that are written twice: from a loop to the end of its block, or the loop alone; NULL: none. */
static CtFlowBlock *steps_to_copy(Unswitch *u, const CtFlowBlock *block, uint32_t first) {
    bool ends = block->exit == EXIT_YIELD || block->exit == EXIT_RETURN || block->exit == EXIT_TAIL;
    CtFlowBlock *all = part(u, block, first, block->steps.count - first), *one = part(u, block, first, 1);
    return ends && may_copy(all) ? all : may_copy(one) ? one : NULL;
}

/* New variables for some values, which become results of a step. */
static CtFlowArgs new_results(Unswitch *u, CtFlowStep *step, const CtFlowArgs *values) {
    CtFlowArgs results = {0};
    for (uint32_t i = 0; i < values->count; i++) {
        const CtFlowArg *value = &values->items[i];
        const char *name = value->var != NULL ? value->var->name : NULL;
        CtFlowVar *result = ct_flow_fresh(u->flow, u->function, name, value->type);
        ct_push(u->arena, &step->results, result);
        ct_push(u->arena, &results, flow_of(result));
    }
    return results;
}

/* A step's results become those of another step; instead it gives new variables, which are returned. */
static CtFlowArgs give_results(Unswitch *u, CtFlowStep *from, CtFlowStep *to) {
    CtFlowArgs old = {0};
    to->results = from->results;
    from->results = (CtFlowVars){0};
    for (uint32_t i = 0; i < to->results.count; i++) ct_push(u->arena, &old, flow_of(to->results.items[i]));
    return new_results(u, from, &old);
}

/* Writes the steps as a switch with two copies of them. */
static void unswitch(Unswitch *u, CtFlowBlock *block, CtFlowBlock *no, bool to_the_end, Steps *out) {
    Test all = conjunction(u, no->range, out);
    CtFlowStep *choice = new_step(u, FLOW_SWITCH, no->range, out);
    ct_push(u->arena, &choice->args, all.arg);
    if (to_the_end) {
        no->values = block->values;
        block->values = new_results(u, choice, &no->values);
    } else {
        no->values = give_results(u, no->steps.items[0], choice);
    }
    CtFlowCopy copy = {.flow = u->flow, .into = u->function, .place = CT_NO_RANGE};
    CtFlowBlock *yes = ct_flow_copy_block(&copy, no);
    choose(u, yes);
    choice->as.cases.count = 2;
    choice->as.cases.branches = CT_NEW_ARRAY(u->arena, CtFlowBranch, 2);
    choice->as.cases.branches[0] = (CtFlowBranch){all.tag, yes};
    choice->as.cases.branches[1] = (CtFlowBranch){1 - all.tag, no};
}

/* ---- the walk ---- */

/* Outer loops first, so that the choice is made as far out as possible. Inside of what has been written twice, further
 * tests are for the next run. */
static void visit(Unswitch *u, CtFlowBlock *block, uint32_t depth) {
    Steps out = {0};
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        u->depth = depth;
        u->tests.count = 0;
        if (step->kind == FLOW_LOOP && step->as.loop.block->exit == EXIT_YIELD)
            ct_flow_each_step(step->as.loop.block, find_tests, u);
        CtFlowBlock *copied = u->tests.count > 0 ? steps_to_copy(u, block, i) : NULL;
        if (copied != NULL && CT_FIRED("unswitch.loop")) {
            bool to_the_end = copied->steps.count == block->steps.count - i;
            unswitch(u, block, copied, to_the_end, &out);
            i += copied->steps.count - 1;
            continue;
        }
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(u, ct_flow_inner(step, j), depth + 1);
        ct_push(u->arena, &out, step);
    }
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
}

static void look_for_wanted(void *data, CtFlowStep *step) {
    bool *found = data;
    uint32_t tag;
    *found = *found || is_wanted(step, &tag);
}

void ct_flow_unswitch(CtFlow *flow) {
    Unswitch u = {.flow = flow, .arena = flow->arena};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        bool found = false;
        u.function = flow->functions.items[i];
        ct_flow_each_step(u.function->body, look_for_wanted, &found);
        if (!found) continue;
        ct_flow_facts_begin(&u.facts, flow, u.function);
        visit(&u, u.function->body, 0);
    }
}
