/* Prepares loops whose iterations fall into parts (analysis/pieces.c), such as those of a stencil along a row, for
 * being written in parts, each of which is straight and vectorised.
 *
 * A switch in such a loop that takes the same branch in all iterations, as one on the index of the row, chooses between
 * two loops:
 *
 *     map m do j                               switch t12
 *       t12 = intEq i, last                    1: map m do j
 *       switch j == 0                 →             switch j == 0 { 1: a  else: b }
 *       1: a                                   0: map m do j
 *       0: switch t12 { 1: b  0: c }                switch j == 0 { 1: a  else: c }
 *
 * And what such a loop adds to a number becomes an array, which a loop of its own adds up: in the same order, so bit
 * for bit the same, since −0 is added where nothing was.
 *
 *     sum, … = scan m, sum0 do j, s            terms, … = map m do j { …; yield if c then t else −0 }
 *       …; yield if c then s + t else s    →   sum = fold m, sum0 do j, s { yield s + terms[j] } */
#include "flow/opt/passes.h"

enum {
    LARGEST = 120,  /* steps of a loop that is written twice */
    MOST_TESTS = 3, /* for which a loop is written twice, one inside the other */
};

typedef struct Parted {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    uint32_t tests; /* for which the block that is visited has been written twice */
} Parted;

static void visit(Parted *p, CtFlowBlock *block);

/* ---- sums ---- */

/* Whether a value is `sum`, or a number added to it, or the one or the other by a switch; and how often `sum` is used
 * for that. */
static bool is_sum(const CtFlowBlock *block, const CtFlowArg *value, const CtFlowVar *sum, uint32_t *used) {
    if (value->var == sum) {
        ++*used;
        return true;
    }
    const CtFlowStep *step = value->var != NULL ? ct_flow_binder(block, value->var) : NULL;
    if (step == NULL || ct_flow_uses_in(block, value->var) != 1) return false;
    if (ct_flow_is_prim(step, PRIM_ADD)) {
        ++*used;
        return (step->args.items[0].var == sum) != (step->args.items[1].var == sum);
    }
    if (step->kind != FLOW_SWITCH) return false;
    uint32_t which = ct_flow_result_index(step, value->var);
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *branch = step->as.cases.branches[i].block;
        if (branch->exit != EXIT_YIELD || !is_sum(branch, &branch->values.items[which], sum, used)) return false;
    }
    return true;
}

/* What is added, in place of the sum. The addition goes. */
static CtFlowArg term_of(CtFlowBlock *block, const CtFlowArg *value, const CtFlowVar *sum) {
    if (value->var == sum) return ct_flow_real(sum->type, -0.0);
    const CtFlowStep *step = ct_flow_binder(block, value->var);
    if (step->kind == FLOW_PRIM) {
        ct_flow_remove_step(block, step);
        return step->args.items[step->args.items[0].var == sum ? 1 : 0];
    }
    uint32_t which = ct_flow_result_index(step, value->var);
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        CtFlowBlock *branch = step->as.cases.branches[i].block;
        branch->values.items[which] = term_of(branch, &branch->values.items[which], sum);
    }
    return *value;
}

/* Makes the loop give the terms of a carried sum, and puts a loop that adds them up behind it. */
static void take_out(Parted *p, CtFlowBlock *to, CtFlowStep *loop, uint32_t carried) {
    CtFlowBlock *body = loop->as.loop.block;
    CtFlowBuilder b = {p->flow, p->arena, p->function, to};
    CtFlowVar *sum = body->params.items[1 + carried], *result = loop->results.items[carried];
    CtFlowArgs start = {0}, next = {0};
    CtFlowArg term = term_of(body, &body->values.items[carried], sum);
    CtFlowVar *terms = ct_flow_fresh(p->flow, p->function, "terms", ct_flow_array(p->flow, 1, sum->type));
    ct_push(p->arena, &start, loop->args.items[1 + carried]);
    ct_flow_remove_arg(p->arena, &loop->args, 1 + carried);
    ct_flow_remove_var(p->arena, &body->params, 1 + carried);
    ct_flow_remove_arg(p->arena, &body->values, carried);
    ct_flow_remove_var(p->arena, &loop->results, carried);
    loop->as.loop.carried--;
    ct_flow_insert_arg(p->arena, &body->values, body->values.count, term);
    ct_flow_insert_var(p->arena, &loop->results, loop->results.count, terms);
    CtFlowLooping fold = ct_flow_loop_begin(&b, loop->range, loop->args.items[0], &start);
    CtFlowArg read = ct_flow_read(&b, loop->range, flow_of(terms), &fold.index, 1);
    ct_push(p->arena, &next, ct_flow_prim(&b, loop->range, PRIM_ADD, sum->type, fold.carried.items[0], read));
    ct_flow_loop_end(&b, &fold, &next, NULL, NULL);
    fold.step->results.items[0] = result;
}

/* The next number that the loop carries, if it is a sum; else UINT32_MAX. `*others`: it carries another number. */
static uint32_t find_sum(const CtFlowStep *loop, bool *others) {
    const CtFlowBlock *body = loop->as.loop.block;
    uint32_t found = UINT32_MAX;
    *others = false;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        const CtFlowVar *param = body->params.items[1 + i];
        uint32_t used = 0;
        if (param->type->kind == FLOW_ARRAY) continue;
        if (is_sum(body, &body->values.items[i], param, &used) && used == ct_flow_uses_in(body, param))
            found = i;
        else
            *others = true;
    }
    return found;
}

/* ---- switches ---- */

typedef CT_VEC(CtFlowStep *) Steps;

/* A test, and the tags of the branches of the switch that a loop is written twice for: the one that is taken, and the
 * other. */
typedef struct Choice {
    const CtFlowVar *test;
    uint64_t taken, other;
} Choice;

static uint32_t find_tag(const CtFlowStep *step, uint64_t tag) {
    uint32_t i = 0;
    while (i < step->as.cases.count && step->as.cases.branches[i].tag != tag) i++;
    return i;
}

/* The branch that a switch takes then; NULL: it is not known. The default branches of two switches need not go
 * together: for Q, `P -> …; _ -> …` takes its default branch, and `Q -> …; _ -> …` does not. */
static const CtFlowBlock *branch_taken(const CtFlowStep *step, const Choice *choice) {
    if (step->kind != FLOW_SWITCH || step->args.items[0].var != choice->test || step->as.cases.count != 2) return NULL;
    const CtFlowBranch *branches = step->as.cases.branches;
    if (choice->taken == FLOW_OTHERS) { /* all that is known is which branch is not taken */
        uint32_t other = find_tag(step, choice->other);
        return other < 2 ? branches[1 - other].block : NULL;
    }
    uint32_t taken = find_tag(step, choice->taken);
    if (taken == 2) taken = find_tag(step, FLOW_OTHERS);
    return taken < 2 ? branches[taken].block : NULL;
}

/* Puts the branch that is taken in the place of each switch on the test. */
static void choose(Parted *p, CtFlowBlock *block, const Choice *choice) {
    Steps out = {0};
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) choose(p, ct_flow_inner(step, j), choice);
        const CtFlowBlock *taken = branch_taken(step, choice);
        if (taken == NULL) {
            ct_push(p->arena, &out, step);
            continue;
        }
        for (uint32_t j = 0; j < taken->steps.count; j++) ct_push(p->arena, &out, taken->steps.items[j]);
        for (uint32_t j = 0; j < step->results.count; j++)
            if (step->results.items[j] != NULL)
                ct_flow_substitute(block, step->results.items[j], taken->values.items[j]);
    }
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
}

/* Whether a loop may be written twice. */
static bool may_copy(const Parted *p, const CtFlowStep *loop) {
    return p->tests < MOST_TESTS && ct_flow_size(loop->as.loop.block) <= LARGEST;
}

/* Writes a loop once for each branch of a switch in it. */
static void write_twice(Parted *p, CtFlowBlock *to, CtFlowStep *loop, const CtFlowStep *choice) {
    CtFlowBuilder b = {p->flow, p->arena, p->function, to};
    CtFlowVars results = loop->results;
    const CtFlowBranch *branches = choice->as.cases.branches;
    CtFlowVar *test = choice->args.items[0].var;
    uint64_t tags[2] = {branches[0].tag, branches[1].tag};
    CtFlowChoosing chosen = ct_flow_switch_begin(&b, loop->range, flow_of(test));
    for (uint32_t i = 0; i < 2; i++) {
        CtFlowCopy copy = {.flow = p->flow, .into = p->function, .place = CT_NO_RANGE};
        CtFlowArgs values = {0};
        ct_flow_case_begin(&b, &chosen, (uint32_t)tags[i]);
        CtFlowStep *again = ct_flow_copy_step(&copy, loop);
        choose(p, again->as.loop.block, &(Choice){choice->args.items[0].var, tags[i], tags[1 - i]});
        ct_push(p->arena, &b.block->steps, again);
        for (uint32_t j = 0; j < again->results.count; j++)
            ct_push(p->arena, &values, flow_of(again->results.items[j]));
        ct_flow_case_end(&b, &chosen, &values);
    }
    ct_flow_switch_end(&b, &chosen);
    chosen.step->results = results;
    p->tests++;
    for (uint32_t i = 0; i < 2; i++) visit(p, chosen.step->as.cases.branches[i].block);
    p->tests--;
}

/* ---- the walk ---- */

static bool has_results(const CtFlowStep *loop) {
    for (uint32_t i = 0; i < loop->results.count; i++)
        if (loop->results.items[i] == NULL) return false;
    return true;
}

static void split(Parted *p, CtFlowBlock *to, CtFlowStep *loop) {
    bool others;
    uint32_t sum = find_sum(loop, &others);
    uint32_t at = to->steps.count;
    ct_push(p->arena, &to->steps, loop);
    if (others) return;
    for (; sum != UINT32_MAX; sum = find_sum(loop, &others)) {
        CT_FIRED("parted_loops.sum");
        take_out(p, to, loop, sum);
    }
    const CtFlowStep *choice = ct_flow_fixed_choice(loop);
    if (choice == NULL || !may_copy(p, loop) || !CT_FIRED("parted_loops.choice")) return;
    CtFlowBlock front = {.exit = EXIT_OPEN};
    write_twice(p, &front, loop, choice);
    Steps behind = {0};
    for (uint32_t i = at + 1; i < to->steps.count; i++) ct_push(p->arena, &behind, to->steps.items[i]);
    to->steps.count = at;
    for (uint32_t i = 0; i < front.steps.count; i++) ct_push(p->arena, &to->steps, front.steps.items[i]);
    for (uint32_t i = 0; i < behind.count; i++) ct_push(p->arena, &to->steps, behind.items[i]);
}

static bool has_switch(const CtFlowBlock *block) {
    bool found = false;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        if (block->steps.items[i]->kind == FLOW_LOOP) return false;
        found = found || block->steps.items[i]->kind == FLOW_SWITCH;
    }
    return found;
}

static bool makes_array(const CtFlowStep *loop) {
    for (uint32_t i = 0; i < loop->results.count; i++)
        if (loop->results.items[i]->type->kind == FLOW_ARRAY) return true;
    return false;
}

/* Moves light arithmetic of Ints, and lengths, that are the same in all iterations out of a loop's blocks. */
static void lift(Parted *p, const CtFlowBlock *body, CtFlowBlock *block, CtFlowBlock *front) {
    Steps out = {0};
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        bool same = step->kind == FLOW_DIM ||
                    (step->kind == FLOW_PRIM && ct_prim_is_light(step->as.prim) && !ct_flow_step_fails(step) &&
                     step->results.items[0] != NULL && step->results.items[0]->type->kind == FLOW_I64);
        for (uint32_t j = 0; j < step->args.count && same; j++)
            same = step->args.items[j].var == NULL || ct_flow_binder(front, step->args.items[j].var) != NULL ||
                   !ct_flow_binds(body, step->args.items[j].var);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) lift(p, body, ct_flow_inner(step, j), front);
        if (same)
            ct_push(p->arena, &front->steps, step);
        else
            ct_push(p->arena, &out, step);
    }
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
}

/* A copy of a loop of which such steps stand in front, if it is one whose iterations fall into parts; else NULL. */
static CtFlowStep *parted_loop(Parted *p, const CtFlowStep *loop, CtFlowBlock *front) {
    if (loop->kind != FLOW_LOOP || loop->as.loop.initial || loop->as.loop.associative) return NULL;
    if (!has_results(loop) || !makes_array(loop) || !has_switch(loop->as.loop.block)) return NULL;
    CtFlowCopy copy = {.flow = p->flow, .into = p->function, .place = CT_NO_RANGE};
    CtFlowStep *again = ct_flow_copy_step(&copy, loop);
    lift(p, again->as.loop.block, again->as.loop.block, front);
    if (!ct_flow_may_be_pieced(again) || ct_flow_parting_tests(again->as.loop.block).count == 0) return NULL;
    again->results = loop->results;
    return again;
}

static void visit(Parted *p, CtFlowBlock *block) {
    CtFlowBlock old = ct_flow_reopen(block);
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(p, ct_flow_inner(step, j));
        CtFlowBlock front = {.exit = EXIT_OPEN};
        CtFlowStep *parted = parted_loop(p, step, &front);
        for (uint32_t j = 0; parted != NULL && j < front.steps.count; j++)
            ct_push(p->arena, &block->steps, front.steps.items[j]);
        if (parted != NULL)
            split(p, block, parted);
        else
            ct_push(p->arena, &block->steps, step);
    }
    block->exit = old.exit;
}

void ct_flow_parted_loops(CtFlow *flow) {
    Parted p = {.flow = flow, .arena = flow->arena};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        p.function = flow->functions.items[i];
        visit(&p, p.function->body);
    }
}
