/* Activity analysis: which variables of a function depend on its active parameters, and which of these may be another
 * name for an array.
 *
 * An array variable is the array's own if the array was made where the variable is bound: then an array of adjoints for
 * it costs no more than the array did. What comes out of nodes, arrays and calls, or is one of several arrays, may be
 * an array that has many names (bags.c). */
#include "flow/ad/reverse.h"

typedef struct Activity {
    CtFlow *flow;
    Active *active;
    bool changed;
} Activity;

static void activate(Activity *a, const CtFlowVar *var, Active as) {
    if (var == NULL) return;
    if (as == ACTIVE_SHARED && var->type->kind != FLOW_ARRAY) as = ACTIVE_OWN;
    if (as <= a->active[var->id]) return;
    if (ct_flow_has_no_adjoint(var->type)) a->flow->refused = CT_FLOW_TOO_MANY_ORDERS;
    if (!ct_flow_is_active(a->flow, var->type)) return;
    a->active[var->id] = as;
    a->changed = true;
}

static Active of(const Activity *a, const CtFlowArg *arg) {
    return arg->var == NULL ? ACTIVE_NOT : a->active[arg->var->id];
}

static bool any_on(const Activity *a, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (of(a, &args->items[i]) != ACTIVE_NOT) return true;
    return false;
}

/* What an array is outside of a block that yields it. */
static Active yielded(const Activity *a, const CtFlowBlock *block, const CtFlowArg *value) {
    Active as = of(a, value);
    return as == ACTIVE_OWN && ct_flow_binder(block, value->var) == NULL ? ACTIVE_SHARED : as;
}

static void activate_block(Activity *a, const CtFlowBlock *block);

static void activate_loop(Activity *a, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    uint32_t carried = step->as.loop.carried;
    for (uint32_t i = 0; i < carried; i++)
        if (of(a, &step->args.items[1 + i]) != ACTIVE_NOT) activate(a, block->params.items[1 + i], ACTIVE_OWN);
    activate_block(a, block);
    for (uint32_t i = 0; i < block->values.count && i < step->results.count; i++) {
        const CtFlowArg *value = &block->values.items[i];
        if (of(a, value) == ACTIVE_NOT) continue;
        if (i >= carried)
            activate(a, step->results.items[i], ACTIVE_OWN);
        else if (value->var != block->params.items[1 + i])
            activate(a, block->params.items[1 + i], yielded(a, block, value));
    }
    for (uint32_t i = 0; i < carried; i++) {
        Active param = a->active[block->params.items[1 + i]->id];
        activate(a, step->results.items[i], param);
        if (step->as.loop.initial && param != ACTIVE_NOT) activate(a, step->results.items[carried + i], ACTIVE_OWN);
    }
}

static void activate_branch(Activity *a, const CtFlowStep *step, const CtFlowBlock *block) {
    activate_block(a, block);
    for (uint32_t i = 0; block->exit == EXIT_YIELD && i < block->values.count; i++)
        activate(a, step->results.items[i], yielded(a, block, &block->values.items[i]));
}

static bool makes_result(CtFlow *flow, const CtFlowFunction *function, uint32_t index);

/* Whether a step makes the array that it binds. */
static bool makes(CtFlow *flow, const CtFlowStep *step, uint32_t result) {
    if (step->kind == FLOW_CALL) return makes_result(flow, step->as.function, result);
    if (step->kind == FLOW_READ) return step->args.count - 1 < step->args.items[0].type->rank;
    return step->kind != FLOW_OPEN;
}

static void activate_step(Activity *a, const CtFlowStep *step) {
    bool constant = step->kind == FLOW_STOP || (step->kind == FLOW_PRIM && ct_prim_info(step->as.prim)->is_zero);
    if (step->kind == FLOW_LOOP) {
        activate_loop(a, step);
    } else if (step->kind == FLOW_SWITCH) {
        for (uint32_t i = 0; i < step->as.cases.count; i++) activate_branch(a, step, step->as.cases.branches[i].block);
    } else if (!constant && any_on(a, &step->args)) {
        for (uint32_t i = 0; i < step->results.count; i++) {
            const CtFlowVar *result = step->results.items[i];
            bool is_array = result != NULL && result->type->kind == FLOW_ARRAY;
            activate(a, result, is_array && !makes(a->flow, step, i) ? ACTIVE_SHARED : ACTIVE_OWN);
        }
    }
}

static void activate_block(Activity *a, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) activate_step(a, block->steps.items[i]);
}

void ct_flow_reverse_activity(CtFlow *flow, const CtFlowFunction *function, const Active *params, Active *active) {
    Activity a = {flow, active, true};
    for (uint32_t i = 0; i < function->params.count; i++) activate(&a, function->params.items[i], params[i]);
    while (a.changed) {
        a.changed = false;
        activate_block(&a, function->body);
    }
}

/* ---- what functions make ---- */

typedef struct Made { /* of a function's results; while it is under way, as far as other functions are concerned */
    bool *results;
    bool known;
} Made;

/* At each exit: results that are not made by the function are not `made`. */
static void look_at_ends(CtFlow *flow, const CtFlowFunction *function, const CtFlowBlock *block, const Active *active,
                         bool *made) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        for (uint32_t j = 0; j < ct_flow_inner_count(block->steps.items[i]); j++)
            look_at_ends(flow, function, ct_flow_inner(block->steps.items[i], j), active, made);
    for (uint32_t i = 0; i < function->results.count; i++) {
        const CtFlowVar *var = block->exit == EXIT_RETURN ? block->values.items[i].var : NULL;
        if (var != NULL && active[var->id] == ACTIVE_SHARED) made[i] = false;
        if (block->exit == EXIT_TAIL && block->tail != function) made[i] &= makes_result(flow, block->tail, i);
    }
}

/* Whether a function certainly makes the array that it returns. A function that is under way counts as one that does
 * not, except for itself. */
static bool makes_result(CtFlow *flow, const CtFlowFunction *function, uint32_t index) {
    if (function->rule != NULL) return makes_result(flow, function->rule->f, index);
    CtMap *known = &ct_flow_adjoints(flow)->made;
    Made *made = ct_map_get(known, ct_key(function));
    if (made != NULL) return made->known && made->results[index];
    made = CT_NEW(flow->arena, Made);
    ct_map_set(flow->arena, known, ct_key(function), made);
    made->results = CT_NEW_ARRAY(flow->arena, bool, function->results.count + 1);
    Active *params = CT_NEW_ARRAY(flow->arena, Active, function->params.count + 1);
    Active *active = CT_NEW_ARRAY(flow->arena, Active, function->vars + 1);
    for (uint32_t i = 0; i < function->params.count; i++) params[i] = ACTIVE_SHARED;
    ct_flow_reverse_activity(flow, function, params, active);
    for (uint32_t i = 0; i < function->results.count; i++) made->results[i] = true;
    look_at_ends(flow, function, function->body, active, made->results);
    made->known = true;
    return made->results[index];
}

Active ct_flow_reverse_another(const CtFlowVar *var, Active active) {
    return active != ACTIVE_NOT && var->type->kind == FLOW_ARRAY ? ACTIVE_SHARED : active;
}

const CtFlowType *ct_flow_reverse_handed_type(CtFlow *flow, const CtFlowType *type, Active active) {
    return active == ACTIVE_SHARED ? ct_flow_shared_adjoint_type(flow, type) : ct_flow_adjoint_type(flow, type);
}

const CtFlowType *ct_flow_reverse_result_type(CtFlow *flow, const CtFlowFunction *function, uint32_t index) {
    const CtFlowType *type = function->results.items[index];
    bool shared = type->kind == FLOW_ARRAY && !makes_result(flow, function, index);
    return ct_flow_reverse_handed_type(flow, type, shared ? ACTIVE_SHARED : ACTIVE_OWN);
}
