/* Calls whose cotangents are known beforehand.
 *
 *     y, r = call f forward ⟨x⟩
 *     …
 *     dx' = call f backward r, ⟨dy⟩, ⟨dx⟩
 *
 * If dy does not depend on y, nor on what comes behind it, f can run its reverse sweep at once: no residual is made,
 * and what the reverse sweep reads has just been computed. This holds for terms of a sum, whose cotangents are products
 * of what is in front of them, and then for the calls inside of f: an expansion by minors, a sum over paths or trees.
 * Where one loop runs the forward sweeps and another the reverse sweeps, as for a sum over an array, these are fused
 * first. An accumulator that another reverse sweep fills first is filled by this one first instead. So what is added to
 * an accumulator is added in another order, and exact mode does not use it. */
#include "flow/opt/passes.h"

enum { MOST_ROUNDS = 8 }; /* of fusion: functions of both sweeps may have loops of calls again */

typedef struct Pair { /* the two calls in a block, by their places */
    CtFlowBlock *block;
    CtFlowFunction *function;
    uint32_t forward, backward;
    bool *moves;       /* of the steps between the two: it goes in front of both */
    CtFlowArgs starts; /* what the accumulators begin with */
} Pair;

typedef struct OneSweep {
    CtFlow *flow;
    /* Accumulators of the function: each is used once, for what is added to it next. */
    CtMap accumulators;
} OneSweep;

/* ---- where variables are bound and used ---- */

/* The place in a block of the step that binds a variable; none: UINT32_MAX. */
static uint32_t place_of(const CtFlowBlock *block, const CtFlowVar *var) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        for (uint32_t j = 0; j < block->steps.items[i]->results.count; j++)
            if (block->steps.items[i]->results.items[j] == var) return i;
    return UINT32_MAX;
}

/* ---- what is known in front of the call ---- */

static bool may_move(const CtFlowStep *step);

static bool may_move_branches(const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit != EXIT_YIELD) return false;
        for (uint32_t j = 0; j < block->steps.count; j++)
            if (block->steps.items[j]->kind != FLOW_OPEN && !may_move(block->steps.items[j])) return false;
    }
    return true;
}

/* Whether a step may run earlier, and costs next to nothing. */
static bool may_move(const CtFlowStep *step) {
    switch ((int)step->kind) {
    case FLOW_PRIM: return !ct_flow_step_fails(step); /* as one that tells a message does */
    case FLOW_DIM: return true;
    case FLOW_ITEMS:
    case FLOW_MAKE: return step->args.count == 0;
    case FLOW_SWITCH: return may_move_branches(step);
    default: return false; /* reads may rely on checks: read_moves */
    }
}

/* Whether a read of a number behind the forward call may move in front of it: no step between them checks its index or
 * changes its array. */
static bool read_moves(const Pair *p, uint32_t place) {
    const CtFlowStep *read = p->block->steps.items[place];
    if (read->kind != FLOW_READ || ct_flow_is_object(read->results.items[0]->type)) return false;
    for (uint32_t i = p->forward + 1; i < place; i++) {
        const CtFlowStep *step = p->block->steps.items[i];
        if (step->kind != FLOW_READ && !may_move(step)) return false;
    }
    return true;
}

static bool all_known(Pair *p, const CtFlowArgs *args);

static bool step_is_known(Pair *p, const CtFlowStep *step) {
    if (!all_known(p, &step->args)) return false;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) {
        const CtFlowBlock *block = ct_flow_inner(step, i);
        for (uint32_t j = 0; j < block->steps.count; j++)
            if (!step_is_known(p, block->steps.items[j])) return false;
        if (!all_known(p, &block->values)) return false;
    }
    return true;
}

/* Whether a value is known in front of the forward call, when the steps that compute it move there. */
static bool is_known(Pair *p, const CtFlowArg *arg) {
    uint32_t place = arg->var == NULL ? UINT32_MAX : place_of(p->block, arg->var);
    if (place == UINT32_MAX || place < p->forward || p->moves[place]) return true;
    const CtFlowStep *step = p->block->steps.items[place];
    return (may_move(step) || read_moves(p, place)) && step_is_known(p, step) && (p->moves[place] = true);
}

static bool all_known(Pair *p, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (!is_known(p, &args->items[i])) return false;
    return true;
}

/* ---- accumulators ---- */

/* x' = update x, i, x[i] + c */
static bool adds_element(const CtFlowBlock *block, const CtFlowStep *step) {
    const CtFlowArg *array = &step->args.items[0], *value = &step->args.items[step->args.count - 1];
    const CtFlowStep *sum = ct_flow_binder(block, value->var);
    if (!ct_flow_is_prim(sum, PRIM_ADD)) return false;
    const CtFlowStep *read = ct_flow_binder(block, sum->args.items[0].var);
    if (read == NULL || read->kind != FLOW_READ || read->args.count + 1 != step->args.count) return false;
    for (uint32_t i = 0; i < read->args.count; i++)
        if (!ct_flow_same(&read->args.items[i], &step->args.items[i])) return false;
    return array->var != NULL;
}

/* x' = if x has no elements then zeros else x; gives x. */
static const CtFlowArg *filled(const CtFlowBlock *block, const CtFlowStep *step) {
    const CtFlowStep *test = ct_flow_binder(block, step->args.items[0].var);
    if (!ct_flow_is_prim(test, PRIM_INT_EQ)) return NULL;
    const CtFlowStep *dim = ct_flow_binder(block, test->args.items[0].var);
    bool empty = dim != NULL && dim->kind == FLOW_DIM && test->args.items[1].var == NULL;
    if (!empty || test->args.items[1].lit.integer != 0 || step->as.cases.count != 2) return NULL;
    if (step->results.count != 1) return NULL;
    const CtFlowArg *array = NULL;
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowBranch *branch = &step->as.cases.branches[i];
        if (branch->block->exit != EXIT_YIELD) return NULL;
        const CtFlowStep *only = branch->block->steps.count == 1 ? branch->block->steps.items[0] : NULL;
        bool zeros = ct_flow_is_bulk(only, ARRAY_REPLICATE);
        if (branch->tag == 1 && !zeros) return NULL;
        if (branch->tag != 1 && branch->block->steps.count > 0) return NULL;
        if (branch->tag != 1) array = &branch->block->values.items[0];
    }
    return array != NULL && array->var == dim->args.items[0].var ? array : NULL;
}

/* The accumulator to which a step adds for this result; NULL: it does something else. */
static const CtFlowArg *added_to(const CtFlow *flow, const CtFlowBlock *block, const CtFlowStep *step,
                                 const CtFlowVar *result) {
    if (step->kind == FLOW_UPDATE) return adds_element(block, step) ? &step->args.items[0] : NULL;
    if (step->kind == FLOW_SWITCH) return filled(block, step);
    for (uint32_t i = 0; step->kind == FLOW_CALL && i < flow->functions.count; i++) {
        const CtFlowSweeps *sweeps = flow->functions.items[i]->sweeps;
        if (sweeps == NULL || sweeps->backward != step->as.function) continue;
        for (uint32_t j = 0; j < step->results.count; j++)
            if (step->results.items[j] == result) return &step->args.items[1 + sweeps->cotangents + j];
    }
    return NULL;
}

/* Whether a step of the block binds a variable, or the block is a loop's that carries it. */
static bool is_bound_in(const CtFlowBlock *block, const CtFlowVar *var) {
    for (uint32_t i = 1; i < block->params.count; i++)
        if (block->params.items[i] == var) return true;
    return place_of(block, var) != UINT32_MAX;
}

/* The accumulator, known in front of the forward call, to which others add before the backward call. */
static const CtFlowArg *first_of(const OneSweep *o, Pair *p, const CtFlowArg *arg) {
    while (!is_known(p, arg)) {
        const CtFlowStep *step = p->block->steps.items[place_of(p->block, arg->var)];
        arg = added_to(o->flow, p->block, step, arg->var);
        if (arg == NULL) return NULL;
    }
    bool owned =
        arg->var != NULL && (ct_map_has(&o->accumulators, arg->var->id) ||
                             (is_bound_in(p->block, arg->var) && ct_flow_uses_in(p->function->body, arg->var) == 1));
    return owned ? arg : NULL;
}

static bool is_scalar(const CtFlowType *type) { return !ct_flow_is_object(type); }

static bool find_starts(const OneSweep *o, Pair *p, const CtFlowSweeps *sweeps) {
    const CtFlowArgs *args = &p->block->steps.items[p->backward]->args;
    for (uint32_t i = 1; i < args->count; i++) {
        const CtFlowArg *arg = &args->items[i];
        CtFlowArg start = *arg;
        if (!is_known(p, arg)) {
            const CtFlowArg *first = i > sweeps->cotangents && !is_scalar(arg->type) ? first_of(o, p, arg) : NULL;
            if (first != NULL)
                start = *first;
            else if (i > sweeps->cotangents && is_scalar(arg->type))
                start = ct_flow_real(arg->type, -0.0);
            else
                return false;
        }
        ct_push(o->flow->arena, &p->starts, start);
    }
    return true;
}

/* ---- one call for two ---- */

/* What comes behind both calls uses `by` for `var`. */
static void replace_behind(const Pair *p, uint32_t from, const CtFlowVar *var, CtFlowArg by) {
    CtFlowBlock rest = *p->block;
    rest.steps.items += from;
    rest.steps.count -= from;
    ct_flow_substitute(&rest, var, by);
}

/* The call of both sweeps: at the place of the forward call. */
static CtFlowStep *call_both(OneSweep *o, const Pair *p, const CtFlowSweeps *sweeps, CtFlowStep **sum) {
    CtArena *arena = o->flow->arena;
    CtFlowStep *forward = p->block->steps.items[p->forward], *backward = p->block->steps.items[p->backward];
    CtFlowStep *both = CT_NEW(arena, CtFlowStep);
    *both = (CtFlowStep){.kind = FLOW_CALL, .range = forward->range, .as.function = sweeps->both};
    for (uint32_t i = 0; i < forward->args.count; i++) ct_push(arena, &both->args, forward->args.items[i]);
    for (uint32_t i = 0; i < p->starts.count; i++) ct_push(arena, &both->args, p->starts.items[i]);
    for (uint32_t i = 0; i + 1 < forward->results.count; i++) ct_push(arena, &both->results, forward->results.items[i]);
    CtFlowBuilder l = {.flow = o->flow, .arena = arena, .function = p->function};
    for (uint32_t i = 0; i < backward->results.count; i++) {
        CtFlowVar *result = backward->results.items[i];
        CtFlowArg was = backward->args.items[1 + sweeps->cotangents + i];
        CtFlowArg start = p->starts.items[sweeps->cotangents + i];
        CtFlowVar *made = result;
        if (!ct_flow_same(&was, &start)) made = ct_flow_var(&l, result->name, result->type);
        ct_push(arena, &both->results, made);
        ct_map_set(arena, &o->accumulators, made->id, made);
        if (made == result) continue;
        if (is_scalar(result->type)) {
            CtFlowStep *add = CT_NEW(arena, CtFlowStep);
            *add = (CtFlowStep){.kind = FLOW_PRIM, .range = backward->range, .as.prim = PRIM_ADD};
            ct_push(arena, &add->args, was);
            ct_push(arena, &add->args, flow_of(made));
            ct_push(arena, &add->results, result);
            sum[i] = add;
        } else {
            CT_FIRED("one_sweep.fills_first");
            replace_behind(p, p->forward + 1, start.var, flow_of(made));
            replace_behind(p, p->backward + 1, result, backward->args.items[1 + sweeps->cotangents + i]);
        }
    }
    return both;
}

static void rewrite(OneSweep *o, const Pair *p, const CtFlowSweeps *sweeps) {
    CtArena *arena = o->flow->arena;
    CtFlowBlock *block = p->block;
    CtFlowStep **sums = CT_NEW_ARRAY(arena, CtFlowStep *, sweeps->backward->results.count + 1);
    CtFlowStep *both = call_both(o, p, sweeps, sums);
    CtFlowBlock made = {0};
    for (uint32_t i = 0; i < block->steps.count; i++) {
        if (i == p->forward) {
            for (uint32_t j = i + 1; j < p->backward; j++)
                if (p->moves[j]) ct_push(arena, &made.steps, block->steps.items[j]);
            ct_push(arena, &made.steps, both);
        } else if (i == p->backward) {
            for (uint32_t j = 0; j < sweeps->backward->results.count; j++)
                if (sums[j] != NULL) ct_push(arena, &made.steps, sums[j]);
        } else if (!p->moves[i]) {
            ct_push(arena, &made.steps, block->steps.items[i]);
        }
    }
    block->steps.items = made.steps.items;
    block->steps.count = made.steps.count;
    block->steps.capacity = made.steps.capacity;
}

static bool join(OneSweep *o, CtFlowFunction *function, CtFlowBlock *block, uint32_t place) {
    const CtFlowStep *step = block->steps.items[place];
    CtFlowSweeps *sweeps = step->kind == FLOW_CALL ? step->as.function->sweeps : NULL;
    if (sweeps == NULL || step->results.count != sweeps->forward->results.count) return false;
    const CtFlowVar *residual = step->results.items[step->results.count - 1];
    Pair p = {.block = block, .function = function, .forward = place};
    for (uint32_t i = place + 1; i < block->steps.count; i++) {
        const CtFlowStep *other = block->steps.items[i];
        bool is_reverse = other->kind == FLOW_CALL && other->as.function == sweeps->backward;
        if (is_reverse && other->args.items[0].var == residual) p.backward = i;
    }
    if (p.backward == 0 || ct_flow_uses_in(block, residual) != 1) return false;
    p.moves = CT_NEW_ARRAY(o->flow->arena, bool, block->steps.count + 1);
    if (!find_starts(o, &p, sweeps) || ct_flow_both_sweeps(o->flow, sweeps) == NULL) return false;
    CT_FIRED("one_sweep.call");
    rewrite(o, &p, sweeps);
    return true;
}

/* The arrays of a loop that nobody reads, such as those of residuals, once the loops of both sweeps are one. Not those
 * of a scan, which has one for each value that it carries; nor rows, whose lengths may differ, which is an error. */
static void drop_arrays(uint32_t *uses, CtFlowStep *loop) {
    CtFlowArgs *values = &loop->as.loop.block->values;
    uint32_t kept = loop->as.loop.carried;
    if (loop->as.loop.block->exit != EXIT_YIELD || loop->as.loop.initial || loop->results.count == kept) return;
    for (uint32_t i = kept; i < loop->results.count; i++) {
        if (uses[loop->results.items[i]->id] == 0 && ct_flow_is_regular(loop, i)) {
            if (values->items[i].var != NULL) uses[values->items[i].var->id]--;
            continue;
        }
        loop->results.items[kept] = loop->results.items[i];
        values->items[kept++] = values->items[i];
    }
    loop->results.count = values->count = kept;
}

/* Nodes that nobody looks at, such as residuals that have been opened where they were made. `uses`: how often each
 * variable is used, without what has been dropped. */
static void drop_nodes(uint32_t *uses, CtFlowBlock *block) {
    for (uint32_t i = block->steps.count; i-- > 0;) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_LOOP) drop_arrays(uses, block->steps.items[i]);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) drop_nodes(uses, ct_flow_inner(step, j));
        if (step->kind != FLOW_MAKE || uses[step->results.items[0]->id] > 0) continue;
        for (uint32_t j = 0; j < step->args.count; j++)
            if (step->args.items[j].var != NULL) uses[step->args.items[j].var->id]--;
        block->steps.count--;
        for (uint32_t j = i; j < block->steps.count; j++) block->steps.items[j] = block->steps.items[j + 1];
    }
}

static void join_in(OneSweep *o, CtFlowFunction *function, CtFlowBlock *block) {
    uint32_t i = 0;
    while (i < block->steps.count) {
        for (uint32_t j = 0; j < ct_flow_inner_count(block->steps.items[i]); j++)
            join_in(o, function, ct_flow_inner(block->steps.items[i], j));
        if (!join(o, function, block, i)) i++;
    }
}

static void join_all(CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count; i++) { /* functions of both sweeps are added at the end */
        CtFlowFunction *function = flow->functions.items[i];
        OneSweep o = {.flow = flow};
        for (uint32_t j = function->params.count - function->accumulators; j < function->params.count; j++)
            ct_map_set(flow->arena, &o.accumulators, function->params.items[j]->id, function);
        drop_nodes(ct_flow_count_uses(flow, function), function->body);
        join_in(&o, function, function->body);
    }
}

void ct_flow_one_sweep(CtFlow *flow) {
    if (flow->exact) return;
    join_all(flow);
    for (uint32_t i = 0; i < MOST_ROUNDS && ct_flow_fuse_sweeps(flow); i++) {
        ct_flow_cse(flow); /* what the cotangents are computed of is known from the forward sweep */
        join_all(flow);
    }
}
