/* Turns counting recursion into loops. The function tail-calls itself with a parameter that goes up or down by one, and
 * stops when this counter reaches a bound.
 *
 *     go (n, t, x, a):                        go (n, t, x, a):
 *       ⟨front⟩                                 iterations = n − t
 *       switch t == n                           x' = fold iterations, x do i, x:
 *         no:  ⟨more⟩; tail go n, t + 1, y, a     ⟨front⟩, ⟨more⟩ with t + i for t;  yield y
 *         yes: ⟨end⟩; return z                  ⟨front⟩, ⟨end⟩ with n for t and x' for x;  return z
 *
 * Differentiation, fusion and vectorisation work on loops: their iterations need no chain of residuals, invariant code
 * is hoisted, and the index is known to be in range. Each iteration of the loop does what a call did, in the same
 * order; so it may call the function itself, too, as in a sum over the branches of a tree. If the counter starts behind
 * the bound, it would have to wrap around through 2⁶⁴ calls; the loop has 2⁶³ − 1 iterations then, which cannot be told
 * apart in practice. */
#include "flow/copy.h"
#include "flow/opt/passes.h"

typedef struct Recursion { /* a function and the analysis of its recursion */
    CtFlow *flow;
    CtFlowFunction *function;
    CtFlowFacts facts;
    CtFlowBlock *more, *end; /* the branches that recurse and stop */
    uint32_t counter;        /* index of the counting parameter; UINT32_MAX: not found yet */
    bool *same;              /* for each parameter: recursive calls pass it unchanged */
    CtFlowArg bound;
    bool up, meets; /* up: the counter increases; meets: the test is for equality with the bound */
    bool inclusive; /* there is an iteration for the bound itself */
    bool tells;     /* some tail call recurses */
} Recursion;

/* ---- how the iterations end ---- */

/* Whether control leaves a function by tail calls of the function itself (`again`), or never does. */
static bool ends_well(const CtFlowFunction *function, const CtFlowBlock *block, bool again) {
    const CtFlowStep *last = ct_flow_last_switch(block);
    for (uint32_t j = 0; last != NULL && j < last->as.cases.count; j++)
        if (!ends_well(function, last->as.cases.branches[j].block, again)) return false;
    if (block->exit == EXIT_TAIL) return (block->tail == function) == again;
    return block->exit == EXIT_NEVER || (block->exit == EXIT_RETURN && !again);
}

/* ---- the counter ---- */

static bool is_param(const Recursion *c, const CtFlowArg *arg, uint32_t index) {
    return arg->var == c->function->params.items[index];
}

/* The difference between a value and a parameter: 1, −1, or 0 if it is not known to be either. */
static int step_from(const Recursion *c, const CtFlowArg *value, uint32_t index) {
    const CtFlowStep *step = ct_flow_maker(&c->facts, value, FLOW_PRIM);
    if (step == NULL || step->args.count != 2) return 0;
    const CtFlowArg *a = &step->args.items[0], *b = &step->args.items[1];
    bool adds = step->as.prim == PRIM_INT_ADD, first = is_param(c, a, index);
    if (adds && is_param(c, b, index)) return ct_flow_is_int(a, 1) ? 1 : ct_flow_is_int(a, -1) ? -1 : 0;
    if (!first || (!adds && step->as.prim != PRIM_INT_SUB)) return 0;
    int by = ct_flow_is_int(b, 1) ? 1 : ct_flow_is_int(b, -1) ? -1 : 0;
    return adds ? by : -by;
}

/* Collects what all recursive calls say about the parameters. */
static bool look_at_ends(Recursion *c, const CtFlowBlock *block) {
    const CtFlowStep *last = ct_flow_last_switch(block);
    for (uint32_t j = 0; last != NULL && j < last->as.cases.count; j++)
        if (!look_at_ends(c, last->as.cases.branches[j].block)) return false;
    if (block->exit != EXIT_TAIL) return true;
    for (uint32_t i = 0; i < block->values.count; i++)
        if (!is_param(c, &block->values.items[i], i)) c->same[i] = false;
    int by = step_from(c, &block->values.items[c->counter], c->counter);
    if (by == 0 || (c->tells && c->up != (by > 0))) return false;
    c->up = by > 0;
    c->tells = true;
    return true;
}

/* ---- the bound ---- */

/* Whether all recursive calls pass an array of the same length as the parameter's. */
static bool keeps_length(const Recursion *c, const CtFlowBlock *block, uint32_t index, uint32_t dimension) {
    const CtFlowStep *last = ct_flow_last_switch(block);
    for (uint32_t j = 0; last != NULL && j < last->as.cases.count; j++)
        if (!keeps_length(c, last->as.cases.branches[j].block, index, dimension)) return false;
    if (block->exit != EXIT_TAIL) return true;
    CtFlowArg param = flow_of(c->function->params.items[index]);
    return ct_flow_same_length(&c->facts, ct_flow_length(&c->facts, &block->values.items[index], dimension, false),
                               ct_flow_length(&c->facts, &param, dimension, false));
}

/* The array whose length is asked for, and which of its lengths: of a row of an array, which row_parameters.c has read
 * in front of the test, one of the array's. */
static CtFlowArg measured(const Recursion *c, const CtFlowStep *dim, uint32_t *dimension) {
    const CtFlowArg *array = &dim->args.items[0];
    const CtFlowStep *row = ct_flow_maker(&c->facts, array, FLOW_READ);
    *dimension = dim->as.index;
    if (row == NULL || row->args.items[0].type->element != array->type->element)
        return *array; /* no row: a reference */
    CT_FIRED("recursion_to_loop.row");
    *dimension += row->args.count - 1;
    return row->args.items[0];
}

static bool is_fixed_length(const Recursion *c, const CtFlowStep *dim) {
    uint32_t dimension;
    CtFlowArg array = measured(c, dim, &dimension);
    for (uint32_t i = 0; i < c->function->params.count; i++)
        if (is_param(c, &array, i))
            return c->same[i] || (keeps_length(c, c->more, i, dimension) && CT_FIRED("recursion_to_loop.length"));
    return false;
}

/* Whether a value is loop-invariant and can be computed in front of the loop. */
static bool is_fixed(const Recursion *c, const CtFlowArg *value, int depth) {
    const CtFlowFact *fact = ct_flow_fact(&c->facts, value);
    const CtFlowStep *step = fact->maker;
    for (uint32_t i = 0; value->var != NULL && step == NULL && i < c->function->params.count; i++)
        if (is_param(c, value, i)) return c->same[i];
    if (value->var == NULL || step == NULL || depth == 0) return value->var == NULL;
    if (step->kind == FLOW_DIM && fact->depth == 0) return is_fixed_length(c, step);
    if (step->kind != FLOW_PRIM || ct_flow_step_fails(step) || fact->depth > 0) return false;
    for (uint32_t i = 0; i < step->args.count; i++)
        if (!is_fixed(c, &step->args.items[i], depth - 1)) return false;
    return true;
}

/* The Int parameter that an argument is; UINT32_MAX for other arguments. */
static uint32_t param_of(const Recursion *c, const CtFlowArg *arg) {
    for (uint32_t i = 0; i < c->function->params.count; i++)
        if (is_param(c, arg, i) && arg->type->kind == FLOW_I64) return i;
    return UINT32_MAX;
}

/* Analyses the test: recursion goes on while the comparison of counter and bound gives `more`. `left`: the counter is
 * the left operand. */
static bool compare(Recursion *c, CtPrim prim, const CtFlowArg *counter, const CtFlowArg *bound, bool left, bool more) {
    c->counter = param_of(c, counter);
    if (c->counter == UINT32_MAX) return false;
    c->tells = false;
    for (uint32_t i = 0; i < c->function->params.count; i++) c->same[i] = true;
    if (!look_at_ends(c, c->more) || !c->tells || !is_fixed(c, bound, 8)) return false;
    c->bound = *bound;
    c->meets = prim == PRIM_INT_EQ;
    if (c->meets) return !more && CT_FIRED("recursion_to_loop.meets");
    /* counting up: t < b or t ≤ b; counting down: b < t or b ≤ t */
    bool upwards = left == more;
    c->inclusive = (prim == PRIM_INT_LE) == more;
    if (upwards != c->up) return false;
    return upwards ? CT_FIRED("recursion_to_loop.up") : CT_FIRED("recursion_to_loop.down");
}

static bool find_bound(Recursion *c, const CtFlowStep *choice, uint32_t more) {
    const CtFlowArg *on = &choice->args.items[0];
    const CtFlowBranch *branches = choice->as.cases.branches;
    const CtFlowStep *test = ct_flow_fact(&c->facts, on)->maker;
    uint32_t tag = branches[more].tag, other = branches[1 - more].tag;
    if (test == NULL) { /* a literal pattern */
        CtFlowArg bound = {.type = on->type, .lit.integer = other};
        return tag == UINT32_MAX && CT_FIRED("recursion_to_loop.literal") &&
               compare(c, PRIM_INT_EQ, on, &bound, true, false);
    }
    if (test->kind != FLOW_PRIM) return false;
    if (test->as.prim != PRIM_INT_EQ && test->as.prim != PRIM_INT_LT && test->as.prim != PRIM_INT_LE) return false;
    bool yes = tag == 1 || other == 0; /* one of the two may be for all others */
    const CtFlowArg *a = &test->args.items[0], *b = &test->args.items[1];
    return compare(c, test->as.prim, a, b, true, yes) || compare(c, test->as.prim, b, a, false, yes);
}

static bool counts(Recursion *c) {
    const CtFlowStep *last = ct_flow_last_switch(c->function->body);
    if (last == NULL || last->as.cases.count != 2) return false;
    for (uint32_t more = 0; more < 2; more++) {
        c->more = last->as.cases.branches[more].block;
        c->end = last->as.cases.branches[1 - more].block;
        if (ends_well(c->function, c->more, true) && ends_well(c->function, c->end, false) && find_bound(c, last, more))
            return true;
    }
    return false;
}

/* ---- writing the loop ---- */

static CtFlowStep *new_step(const Recursion *c, CtFlowBlock *block, CtFlowStepKind kind) {
    CtFlowStep *step = CT_NEW(c->flow->arena, CtFlowStep);
    step->kind = kind;
    step->range = c->function->range;
    ct_push(c->flow->arena, &block->steps, step);
    return step;
}

static CtFlowArg prim(const Recursion *c, CtFlowBlock *block, CtPrim op, CtFlowArg a, CtFlowArg b) {
    CtFlowStep *step = new_step(c, block, FLOW_PRIM);
    step->as.prim = op;
    ct_push(c->flow->arena, &step->args, a);
    ct_push(c->flow->arena, &step->args, b);
    CtFlowVar *var = ct_flow_fresh(c->flow, c->function, NULL, c->facts.integer);
    ct_push(c->flow->arena, &step->results, var);
    return flow_of(var);
}

static CtFlowArg integer(const Recursion *c, int64_t value) {
    return (CtFlowArg){.type = c->facts.integer, .lit.integer = value};
}

/* Writes the bound in front of the loop. */
static CtFlowArg write_bound(const Recursion *c, CtFlowBlock *block, CtFlowArg value) {
    const CtFlowStep *step = ct_flow_fact(&c->facts, &value)->maker;
    if (value.var == NULL || step == NULL) return value;
    CtFlowArgs args = {0};
    uint32_t dimension = 0;
    if (step->kind == FLOW_DIM) ct_push(c->flow->arena, &args, measured(c, step, &dimension));
    for (uint32_t i = 0; i < step->args.count && step->kind != FLOW_DIM; i++)
        ct_push(c->flow->arena, &args, write_bound(c, block, step->args.items[i]));
    CtFlowStep *copy = new_step(c, block, step->kind);
    copy->as = step->as;
    if (step->kind == FLOW_DIM) copy->as.index = dimension;
    copy->args = args;
    CtFlowVar *var = ct_flow_fresh(c->flow, c->function, value.var->name, value.type);
    ct_push(c->flow->arena, &copy->results, var);
    return flow_of(var);
}

/* The number of iterations; the largest Int if the given number is negative, or if the recursion never ends: `t <= b`
 * and `t >= b` always hold where b is the largest or the smallest Int. */
static CtFlowArg write_most(const Recursion *c, CtFlowBlock *block, CtFlowArg iterations, CtFlowArg never) {
    CtFlowArg below = prim(c, block, PRIM_INT_LT, iterations, integer(c, 0));
    if (never.type != NULL) below = prim(c, block, PRIM_INT_MAX, below, never);
    CtFlowStep *choice = new_step(c, block, FLOW_SWITCH);
    ct_push(c->flow->arena, &choice->args, below);
    choice->as.cases.branches = CT_NEW_ARRAY(c->flow->arena, CtFlowBranch, 2);
    choice->as.cases.count = 2;
    for (uint32_t i = 0; i < 2; i++) {
        CtFlowBlock *branch = CT_NEW(c->flow->arena, CtFlowBlock);
        branch->exit = EXIT_YIELD;
        branch->range = c->function->range;
        ct_push(c->flow->arena, &branch->values, i == 0 ? iterations : integer(c, INT64_MAX));
        choice->as.cases.branches[i] = (CtFlowBranch){i, branch};
    }
    CtFlowVar *var = ct_flow_fresh(c->flow, c->function, "iterations", c->facts.integer);
    ct_push(c->flow->arena, &choice->results, var);
    return flow_of(var);
}

/* Whether the bound is the last Int in this direction, if it may be and that matters: from a small number on, so many
 * iterations are as good as infinitely many. Type NULL: it need not be asked. */
static CtFlowArg write_never(const Recursion *c, CtFlowBlock *block, CtFlowArg start, CtFlowArg bound) {
    CtFlowArg last = integer(c, c->up ? INT64_MAX : INT64_MIN);
    const int64_t far = INT64_MAX / 2;
    bool small = start.var == NULL && start.lit.integer > -far && start.lit.integer < far;
    const CtFlowArg *low = c->up ? &c->bound : &last, *high = c->up ? &last : &c->bound;
    if (small || c->meets || !c->inclusive || ct_flow_compare(&c->facts, PRIM_INT_LT, low, high) == 1)
        return ct_flow_none();
    CT_FIRED("recursion_to_loop.never");
    return prim(c, block, PRIM_INT_EQ, bound, last);
}

/* Writes the number of iterations from `start` on. */
static CtFlowArg write_iterations(const Recursion *c, CtFlowBlock *block, CtFlowArg start) {
    enum { SMALL = 1 << 30 };
    CtFlowArg bound = write_bound(c, block, c->bound);
    int64_t end = bound.var == NULL ? bound.lit.integer : SMALL;
    if (!c->meets && c->inclusive && !c->up && end > -SMALL && end < SMALL) {
        /* down to a literal, most often from the last index of an array to 0: simplification sees that it is as long */
        CT_FIRED("recursion_to_loop.down_to_literal");
        CtFlowArg first = prim(c, block, PRIM_INT_MAX, start, integer(c, end - 1));
        return write_most(c, block, prim(c, block, PRIM_INT_ADD, first, integer(c, 1 - end)), ct_flow_none());
    }
    CtFlowArg last = c->meets ? bound : prim(c, block, c->up ? PRIM_INT_MAX : PRIM_INT_MIN, start, bound);
    CtFlowArg iterations = prim(c, block, PRIM_INT_SUB, c->up ? last : start, c->up ? start : last);
    if (!c->meets && c->inclusive && CT_FIRED("recursion_to_loop.inclusive"))
        iterations = prim(c, block, PRIM_INT_ADD, iterations,
                          prim(c, block, PRIM_INT_LE, c->up ? start : bound, c->up ? bound : start));
    return write_most(c, block, iterations, write_never(c, block, start, bound));
}

static CtFlowArg counter_at(const Recursion *c, CtFlowBlock *block, CtFlowArg start, CtFlowArg iteration) {
    return prim(c, block, c->up ? PRIM_INT_ADD : PRIM_INT_SUB, start, iteration);
}

static bool is_carried(const Recursion *c, uint32_t i) { return i != c->counter && !c->same[i]; }

static CtFlowVars carried_vars(const Recursion *c) {
    CtFlowVars vars = {0};
    for (uint32_t i = 0; i < c->function->params.count; i++) {
        const CtFlowVar *param = c->function->params.items[i];
        if (is_carried(c, i))
            ct_push(c->flow->arena, &vars, ct_flow_fresh(c->flow, c->function, param->name, param->type));
    }
    return vars;
}

/* Replaces recursive calls by yields. */
static void yield_instead(const Recursion *c, CtFlowBlock *block) {
    CtFlowStep *last = block->steps.count > 0 ? block->steps.items[block->steps.count - 1] : NULL;
    if (block->exit == EXIT_TAIL) {
        CtFlowArgs values = {0};
        for (uint32_t i = 0; i < block->values.count; i++)
            if (is_carried(c, i)) ct_push(c->flow->arena, &values, block->values.items[i]);
        block->exit = EXIT_YIELD;
        block->values = values;
        return;
    }
    if (last == NULL || last->kind != FLOW_SWITCH) return;
    bool yields = false;
    for (uint32_t i = 0; i < last->as.cases.count; i++) {
        yield_instead(c, last->as.cases.branches[i].block);
        yields |= last->as.cases.branches[i].block->exit == EXIT_YIELD;
    }
    if (!yields) return;
    CT_FIRED("recursion_to_loop.branches_go_on");
    last->results = carried_vars(c);
    for (uint32_t i = 0; i < last->results.count; i++)
        ct_push(c->flow->arena, &block->values, flow_of(last->results.items[i]));
    block->exit = EXIT_YIELD;
}

/* Writes the steps of an iteration for given parameter values: those before the test, then one of the branches. */
static void write_iteration(const Recursion *c, CtFlowBlock *to, const CtFlowArgs *params, const CtFlowBlock *branch) {
    CtFlowCopy copy = {.flow = c->flow, .into = c->function};
    for (uint32_t i = 0; i < params->count; i++)
        ct_flow_copy_stands(&copy, c->function->params.items[i], params->items[i]);
    CtFlowBlock front = *c->function->body;
    front.steps.count--;
    const CtFlowBlock *first = ct_flow_copy_block(&copy, &front), *second = ct_flow_copy_block(&copy, branch);
    for (uint32_t i = 0; i < first->steps.count; i++) ct_push(c->flow->arena, &to->steps, first->steps.items[i]);
    for (uint32_t i = 0; i < second->steps.count; i++) ct_push(c->flow->arena, &to->steps, second->steps.items[i]);
    to->exit = second->exit;
    to->values = second->values;
    to->tail = second->tail;
    to->range = second->range;
}

/* The values of the parameters in an iteration, or after the last. */
static CtFlowArgs params_at(const Recursion *c, CtFlowArg counter, CtFlowVar *const *carried) {
    CtFlowArgs params = {0};
    uint32_t next = 0;
    for (uint32_t i = 0; i < c->function->params.count; i++)
        ct_push(c->flow->arena, &params,
                i == c->counter    ? counter
                : is_carried(c, i) ? flow_of(carried[next++])
                                   : flow_of(c->function->params.items[i]));
    return params;
}

static void write_loop(Recursion *c) {
    CtArena *arena = c->flow->arena;
    CtFlowBlock *body = CT_NEW(arena, CtFlowBlock), *block = CT_NEW(arena, CtFlowBlock);
    CtFlowArg start = flow_of(c->function->params.items[c->counter]), iterations = write_iterations(c, body, start);
    CtFlowStep *loop = new_step(c, body, FLOW_LOOP);
    loop->as.loop.block = block;
    loop->as.loop.counted = true;
    ct_push(arena, &loop->args, iterations);
    for (uint32_t i = 0; i < c->function->params.count; i++)
        if (is_carried(c, i)) ct_push(arena, &loop->args, flow_of(c->function->params.items[i]));
    loop->as.loop.carried = loop->args.count - 1;
    CtFlowVar *index = ct_flow_fresh(c->flow, c->function, "i", c->facts.integer);
    CtFlowVars carried = carried_vars(c);
    ct_push(arena, &block->params, index);
    for (uint32_t i = 0; i < carried.count; i++) ct_push(arena, &block->params, carried.items[i]);
    CtFlowArgs params = params_at(c, counter_at(c, block, start, flow_of(index)), carried.items);
    write_iteration(c, block, &params, c->more);
    yield_instead(c, block);
    loop->results = carried_vars(c);
    params = params_at(c, counter_at(c, body, start, iterations), loop->results.items);
    write_iteration(c, body, &params, c->end);
    c->function->body = body;
}

static bool look_at(Recursion *c, CtFlow *flow, CtFlowFunction *function) {
    *c = (Recursion){.flow = flow, .function = function};
    c->same = CT_NEW_ARRAY(flow->arena, bool, function->params.count + 1);
    ct_flow_facts_begin(&c->facts, flow, function);
    return counts(c);
}

bool ct_flow_counts(CtFlow *flow, CtFlowFunction *function) {
    Recursion c;
    return look_at(&c, flow, function);
}

void ct_flow_recursion_to_loop(CtFlow *flow) {
    CtFlowCycles cycles = ct_flow_cycles(flow, true);
    Recursion c;
    for (uint32_t i = 0; i < flow->functions.count; i++)
        if (cycles.iterations[cycles.component[i]] && look_at(&c, flow, flow->functions.items[i])) write_loop(&c);
}
