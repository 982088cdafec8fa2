/* Dead-code elimination: unused steps, results of branches, arrays and carried variables of loops, parameters and
 * results of functions.
 *
 * A variable is live if it is used by something that must happen (the entry's results, failures, what may not
 * terminate), or to compute a live variable. A backward sweep of a function marks live variables. A function is swept
 * again where more is live since: a carried variable may be used in the next iteration, a result by a caller or behind
 * a tail call, a parameter in a function that it calls.
 *
 * Before that, an update whose array is used once, by an update of the same element, is bypassed: a dead store. */
#include "flow/opt/passes.h"

typedef struct Uses { /* what is live in a function */
    bool *vars;       /* by variable number */
    bool *results;    /* by position */
    bool stale;       /* more is live than its last sweep has seen */
    CT_VEC(CtFlowFunction *) callers;
} Uses;

typedef struct Dead {
    CtFlow *flow;
    CtFlowEffects effects;
    Uses *uses;  /* by function number */
    bool *fixed; /* functions whose parameters and results must not change */
    Uses *own;   /* of the current function */
    CtFlowFunction *function;
} Dead;

/* ---- dead stores ---- */

typedef struct Stores {
    const uint32_t *uses;    /* by variable number */
    const CtFlowStep **made; /* by variable number: the update that gives an array */
} Stores;

/* Whether two updates set the same element. */
static bool is_same_place(const CtFlowStep *a, const CtFlowStep *b) {
    if (a->args.count != b->args.count) return false;
    for (uint32_t i = 1; i + 1 < a->args.count; i++)
        if (!ct_flow_same(&a->args.items[i], &b->args.items[i])) return false;
    return true;
}

static void bypass_dead_store(void *data, CtFlowStep *step) {
    Stores *s = data;
    if (step->kind != FLOW_UPDATE || step->args.items[0].var == NULL) return;
    CtFlowArg *array = &step->args.items[0];
    const CtFlowStep *before = s->made[array->var->id];
    bool counted = ct_flow_is_object(step->args.items[step->args.count - 1].type); /* the store drops what was there */
    bool dead = before != NULL && !counted && s->uses[array->var->id] == 1 && !ct_flow_step_fails(before);
    if (dead && is_same_place(before, step) && CT_FIRED("dead.store")) *array = before->args.items[0];
    s->made[step->results.items[0]->id] = step;
}

static void bypass_dead_stores(CtFlow *flow, CtFlowFunction *function) {
    Stores s = {.uses = ct_flow_count_uses(flow, function),
                .made = CT_NEW_ARRAY(flow->arena, const CtFlowStep *, function->vars + 1)};
    ct_flow_each_step(function->body, bypass_dead_store, &s);
}

/* ---- finding ---- */

static void use(Dead *d, const CtFlowArg *arg) {
    if (arg->var == NULL || d->own->vars[arg->var->id]) return;
    d->own->vars[arg->var->id] = d->own->stale = true;
}

static void use_args(Dead *d, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++) use(d, &args->items[i]);
}

static bool is_used(const Dead *d, const CtFlowVar *var) { return var != NULL && d->own->vars[var->id]; }

static bool any_used(const Dead *d, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->results.count; i++)
        if (is_used(d, step->results.items[i])) return true;
    return false;
}

static void look_at_callers(Dead *d, const Uses *callee) {
    for (uint32_t i = 0; i < callee->callers.count; i++) d->uses[callee->callers.items[i]->id].stale = true;
}

static void use_result(Dead *d, const CtFlowFunction *function, uint32_t index) {
    Uses *uses = &d->uses[function->id];
    if (uses->results[index]) return;
    uses->results[index] = uses->stale = true;
    look_at_callers(d, uses); /* those by a tail call give this result too */
}

static void use_params(Dead *d, const CtFlowFunction *callee, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (d->uses[callee->id].vars[callee->params.items[i]->id]) use(d, &args->items[i]);
}

static void find(Dead *d, const CtFlowBlock *block, const CtFlowStep *owner);

/* Whether a carried variable is live: behind the loop, or in an iteration. */
static bool is_carried(const Dead *d, const CtFlowStep *loop, uint32_t index) {
    return is_used(d, loop->results.items[index]) || is_used(d, loop->as.loop.block->params.items[1 + index]) ||
           loop->as.loop.initial;
}

/* An array of rows must be made even if it is unused, unless its rows certainly have one shape: the check of shapes may
 * fail. */
static bool is_made(const Dead *d, const CtFlowStep *loop, uint32_t index) {
    return is_used(d, loop->results.items[index]) || !ct_flow_is_regular(loop, index);
}

static void find_in_step(Dead *d, const CtFlowStep *step) {
    if (!any_used(d, step) && ct_flow_is_total(&d->effects, step)) return;
    if (step->kind == FLOW_CALL) {
        for (uint32_t i = 0; i < step->results.count; i++)
            if (is_used(d, step->results.items[i])) use_result(d, step->as.function, i);
        use_params(d, step->as.function, &step->args);
    } else if (step->kind == FLOW_LOOP) {
        find(d, step->as.loop.block, step);
        use(d, &step->args.items[0]);
        for (uint32_t i = 0; i < step->as.loop.carried; i++)
            if (is_carried(d, step, i)) use(d, &step->args.items[1 + i]);
    } else {
        for (uint32_t i = 0; step->kind == FLOW_SWITCH && i < step->as.cases.count; i++)
            find(d, step->as.cases.branches[i].block, step);
        use_args(d, &step->args);
    }
}

static void find_at_exit(Dead *d, const CtFlowBlock *block, const CtFlowStep *owner) {
    for (uint32_t i = 0; i < block->values.count; i++) {
        bool used = true;
        if (block->exit == EXIT_RETURN)
            used = d->own->results[i];
        else if (block->exit == EXIT_YIELD && owner->kind == FLOW_LOOP && i < owner->as.loop.carried)
            used = is_carried(d, owner, i);
        else if (block->exit == EXIT_YIELD && owner->kind == FLOW_LOOP)
            used = is_made(d, owner, i);
        else if (block->exit == EXIT_YIELD)
            used = is_used(d, owner->results.items[i]);
        if (used && block->exit != EXIT_TAIL) use(d, &block->values.items[i]);
    }
    if (block->exit != EXIT_TAIL) return;
    use_params(d, block->tail, &block->values);
    /* a tail call: both functions give the same results */
    for (uint32_t i = 0; i < d->function->results.count; i++) {
        if (d->own->results[i]) use_result(d, block->tail, i);
        if (d->uses[block->tail->id].results[i]) use_result(d, d->function, i);
    }
}

static void find(Dead *d, const CtFlowBlock *block, const CtFlowStep *owner) {
    find_at_exit(d, block, owner);
    for (uint32_t i = block->steps.count; i-- > 0;) find_in_step(d, block->steps.items[i]);
}

/* ---- dropping ---- */

static void keep_args(const Dead *d, CtFlowArgs *args, const bool *kept) {
    CtFlowArgs all = {0};
    for (uint32_t i = 0; i < args->count; i++)
        if (kept[i]) ct_push(d->flow->arena, &all, args->items[i]);
    *args = all;
}

static void keep_vars(CtFlowVars *vars, const bool *kept) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < vars->count; i++)
        if (kept[i])
            vars->items[count++] = vars->items[i];
        else
            CT_FIRED("dead.result");
    vars->count = count;
}

static bool *used_params(const Dead *d, const CtFlowFunction *function) {
    bool *kept = CT_NEW_ARRAY(d->flow->arena, bool, function->params.count + 1);
    for (uint32_t i = 0; i < function->params.count; i++)
        kept[i] = d->uses[function->id].vars[function->params.items[i]->id];
    return kept;
}

static void drop(Dead *d, CtFlowBlock *block);

/* Drops unused results of branches. */
static void drop_yields(Dead *d, CtFlowStep *step) {
    bool *kept = CT_NEW_ARRAY(d->flow->arena, bool, step->results.count + 1);
    for (uint32_t i = 0; i < step->results.count; i++) kept[i] = is_used(d, step->results.items[i]);
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit == EXIT_YIELD) keep_args(d, &block->values, kept);
        drop(d, block);
    }
    keep_vars(&step->results, kept);
}

/* Drops unused carried variables and arrays of a loop, from its results and from what the block yields. */
static void drop_of_loop(Dead *d, CtFlowStep *step) {
    CtFlowBlock *block = step->as.loop.block;
    uint32_t carried = step->as.loop.carried, count = 0;
    bool *kept = CT_NEW_ARRAY(d->flow->arena, bool, step->results.count + 2);
    kept[0] = true; /* number of iterations; index */
    for (uint32_t i = 0; i < step->results.count; i++) {
        kept[1 + i] = step->as.loop.initial || (i < carried ? is_carried(d, step, i) : is_made(d, step, i));
        count += i < carried && kept[1 + i];
    }
    if (block->exit == EXIT_YIELD) keep_args(d, &block->values, kept + 1);
    keep_vars(&block->params, kept);
    keep_args(d, &step->args, kept);
    keep_vars(&step->results, kept + 1);
    step->as.loop.carried = count;
    drop(d, block);
}

static void drop_of_call(Dead *d, CtFlowStep *step) {
    const CtFlowFunction *callee = step->as.function;
    if (d->fixed[callee->id]) return;
    keep_args(d, &step->args, used_params(d, callee));
    keep_vars(&step->results, d->uses[callee->id].results);
}

static void drop(Dead *d, CtFlowBlock *block) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (!any_used(d, step) && ct_flow_is_total(&d->effects, step) && CT_FIRED("dead.step")) continue;
        for (uint32_t j = 0; step->kind == FLOW_OPEN && j < step->results.count; j++)
            if (!is_used(d, step->results.items[j]) && CT_FIRED("dead.field")) step->results.items[j] = NULL;
        if (step->kind == FLOW_SWITCH) drop_yields(d, step);
        if (step->kind == FLOW_LOOP) drop_of_loop(d, step);
        if (step->kind == FLOW_CALL) drop_of_call(d, step);
        block->steps.items[kept++] = step;
    }
    block->steps.count = kept;
    if (block->exit == EXIT_RETURN && !d->fixed[d->function->id]) keep_args(d, &block->values, d->own->results);
    if (block->exit == EXIT_TAIL && !d->fixed[block->tail->id])
        keep_args(d, &block->values, used_params(d, block->tail));
}

static void drop_signature(Dead *d, CtFlowFunction *function) {
    if (d->fixed[function->id]) return;
    const Uses *uses = &d->uses[function->id];
    CtFlowTypes results = {.items = CT_NEW_ARRAY(d->flow->arena, const CtFlowType *, function->results.count + 1)};
    for (uint32_t i = 0; i < function->results.count; i++)
        if (uses->results[i]) results.items[results.count++] = function->results.items[i];
    function->results = results;
    keep_vars(&function->params, used_params(d, function));
}

/* ---- numbers ---- */

static void number_vars(CtFlowFunction *function, const CtFlowVars *vars) {
    for (uint32_t i = 0; i < vars->count; i++)
        if (vars->items[i] != NULL) vars->items[i]->id = function->vars++;
}

/* Renumbers the remaining variables from 0 on. */
static void number(CtFlowFunction *function, const CtFlowBlock *block) {
    number_vars(function, &block->params);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) number(function, ct_flow_inner(step, j));
        number_vars(function, &step->results);
    }
}

/* ---- the pass ---- */

static void note_caller(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    Dead *d = data;
    Uses *uses = &d->uses[callee->id];
    (void)range, (void)tail;
    if (uses->callers.count == 0 || uses->callers.items[uses->callers.count - 1] != d->function)
        ct_push(d->flow->arena, &uses->callers, d->function);
}

static void begin(Dead *d, CtFlowFunction *function) {
    Uses *uses = &d->uses[function->id];
    uses->stale = true;
    uses->vars = CT_NEW_ARRAY(d->flow->arena, bool, function->vars + 1);
    uses->results = CT_NEW_ARRAY(d->flow->arena, bool, function->results.count + 1);
    for (uint32_t i = 0; i < function->results.count; i++) uses->results[i] = d->fixed[function->id];
    for (uint32_t i = 0; i < function->params.count; i++)
        uses->vars[function->params.items[i]->id] = d->fixed[function->id];
    d->function = function;
    ct_flow_each_call(function->body, note_caller, d);
}

/* A function keeps at least one result, even if nobody uses it. */
static void keep_one_result(Dead *d, const CtFlowFunction *function) {
    for (uint32_t i = 0; i < function->results.count; i++)
        if (d->uses[function->id].results[i]) return;
    if (function->results.count > 0) use_result(d, function, 0);
}

static uint32_t count_used_params(const Dead *d, const CtFlowFunction *function) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < function->params.count; i++)
        count += d->uses[function->id].vars[function->params.items[i]->id];
    return count;
}

static void sweep(Dead *d, CtFlowFunction *function) {
    uint32_t used = count_used_params(d, function);
    d->function = function;
    d->own = &d->uses[function->id];
    d->own->stale = false;
    find(d, function->body, NULL);
    if (count_used_params(d, function) != used) look_at_callers(d, d->own);
}

static void find_all(Dead *d) {
    uint32_t count = d->flow->functions.count;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = count; i-- > 0;) {
            if (!d->uses[i].stale) continue;
            sweep(d, d->flow->functions.items[i]);
            changed = true;
        }
        for (uint32_t i = 0; i < count && !changed; i++) {
            keep_one_result(d, d->flow->functions.items[i]);
            changed = d->uses[i].stale;
        }
    }
}

void ct_flow_dead_code(CtFlow *flow) {
    uint32_t count = flow->functions.count;
    Dead d = {.flow = flow,
              .effects = ct_flow_effects(flow),
              .uses = CT_NEW_ARRAY(flow->arena, Uses, count + 1),
              .fixed = ct_flow_fixed_functions(flow)};
    for (uint32_t i = 0; i < count; i++) bypass_dead_stores(flow, flow->functions.items[i]);
    for (uint32_t i = 0; i < count; i++) begin(&d, flow->functions.items[i]);
    find_all(&d);
    for (uint32_t i = 0; i < count; i++) {
        d.function = flow->functions.items[i];
        d.own = &d.uses[i];
        drop(&d, d.function->body);
    }
    for (uint32_t i = 0; i < count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        drop_signature(&d, function);
        function->vars = 0;
        number_vars(function, &function->params);
        number(function, function->body);
    }
}
