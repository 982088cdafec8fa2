/* Specialisation of recursive functions to literals. A call becomes straight-line code if its literal arguments decide
 * every branch until the recursion ends: x ^ 3 is two multiplications. Other recursive functions on the way are
 * expanded as well, other calls stay calls. Steps of the library take the source range of the user's last call on the
 * way to them, as in inline.c. */
#include "flow/opt/passes.h"

enum { MOST_STEPS = 96 }; /* bound of the steps visited, calls included */

typedef CT_VEC(CtFlowStep *) Steps;

typedef struct Specialise {
    CtFlow *flow;
    CtFlowFunction *function;
    const CtFlowCycles *cycles;
    CtFlowValues now;
    Steps *out;
    CtSourceRange place;
    uint32_t left; /* number of steps that may still be visited */
    bool goes_on;  /* the visited code calls a recursive function */
} Specialise;

typedef struct Ending { /* the end of a block: what it yields or returns, or its tail call */
    CtFlowExit exit;
    CtFlowArgs values;
    CtFlowFunction *tail;
    CtSourceRange range;
} Ending;

static bool spend(Specialise *u, uint32_t steps) {
    bool enough = u->left >= steps;
    u->left -= enough ? steps : u->left;
    return enough;
}

static bool reaches_itself(const Specialise *u, const CtFlowFunction *function) {
    return u->cycles->iterations[u->cycles->component[function->id]] && !ct_flow_is_separate(function) &&
           !function->is_cold_path;
}

/* ---- on the way ---- */

static bool call(Specialise *u, CtFlowFunction *function, CtFlowArgs args, CtFlowArgs *values);
static bool walk(Specialise *u, CtFlowCopy *copy, const CtFlowFunction *function, const CtFlowBlock *block,
                 Ending *end);

/* What is called at a place of the user's own code, fails there. */
static void go_to(Specialise *u, CtSourceRange range) {
    if (ct_flow_is_user(u->flow, range)) u->place = range;
}

static bool walk_step(Specialise *u, CtFlowCopy *copy, const CtFlowStep *step) {
    CtFlowArgs values = {0};
    if (step->kind == FLOW_CALL && reaches_itself(u, step->as.function)) {
        CtSourceRange place = u->place;
        go_to(u, step->range);
        bool ends = call(u, step->as.function, ct_flow_copy_args(copy, &step->args), &values);
        u->place = place;
        if (ends) ct_flow_copy_results_stand(copy, step, &values);
        return ends;
    }
    if (!spend(u, step->kind == FLOW_LOOP ? 1 + ct_flow_size(step->as.loop.block) : 1)) return false;
    CtFlowStep *fresh = ct_flow_copy_step(copy, step);
    CtFlowArg value;
    if (step->kind == FLOW_PRIM && ct_flow_fold(fresh, &value) && CT_FIRED("specialise.fold"))
        ct_flow_copy_stands(copy, step->results.items[0], value);
    else
        ct_push(u->flow->arena, u->out, fresh);
    return true;
}

static void see_call(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    Specialise *u = data;
    (void)range, (void)tail;
    u->goes_on |= reaches_itself(u, callee);
}

/* Writes the end of a function that is not a return as steps: the results of the function. */
static CtFlowArgs leave(Specialise *u, const CtFlowFunction *function, CtFlowBlock *rest) {
    ct_flow_yield_instead(u->flow, u->function, rest, &function->results, u->place);
    for (uint32_t i = 0; i < rest->steps.count; i++) ct_push(u->flow->arena, u->out, rest->steps.items[i]);
    return rest->values;
}

/* Copies a switch on an unknown value; false if one of its branches continues the recursion. */
static bool keep_switch(Specialise *u, CtFlowCopy *copy, const CtFlowFunction *function, const CtFlowStep *step,
                        Ending *end) {
    bool leaves = false;
    u->goes_on = false;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        CtFlowBlock *branch = step->as.cases.branches[i].block;
        ct_flow_each_call(branch, see_call, u);
        leaves |= ct_flow_leaves(branch);
        if (!spend(u, 1 + ct_flow_size(branch))) return false;
    }
    if (u->goes_on) return false;
    CT_FIRED("specialise.switch_stays");
    CtFlowBlock rest = {.exit = EXIT_NEVER};
    ct_push(u->flow->arena, &rest.steps, ct_flow_copy_step(copy, step));
    *end = (Ending){.exit = leaves ? EXIT_RETURN : EXIT_YIELD};
    end->values = leave(u, function, &rest);
    return true;
}

static bool walk_switch(Specialise *u, CtFlowCopy *copy, const CtFlowFunction *function, const CtFlowStep *step,
                        Ending *end) {
    CtFlowArgs on = ct_flow_copy_args(copy, &step->args);
    if (!ct_flow_is_int_literal(&on.items[0])) return keep_switch(u, copy, function, step, end);
    uint32_t taken = ct_flow_branch_for(step, on.items[0].lit.integer);
    if (!walk(u, copy, function, step->as.cases.branches[taken].block, end)) return false;
    if (end->exit == EXIT_YIELD) ct_flow_copy_results_stand(copy, step, &end->values);
    return true;
}

static bool walk(Specialise *u, CtFlowCopy *copy, const CtFlowFunction *function, const CtFlowBlock *block,
                 Ending *end) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind != FLOW_SWITCH) {
            if (!walk_step(u, copy, step)) return false;
        } else {
            if (!walk_switch(u, copy, function, step, end)) return false;
            if (end->exit != EXIT_YIELD) return true;
        }
    }
    *end = (Ending){block->exit, ct_flow_copy_args(copy, &block->values), block->tail, block->range};
    return end->exit != EXIT_NEVER;
}

/* Follows the calls until one returns, or tail-calls a function that is not recursive. */
static bool call(Specialise *u, CtFlowFunction *function, CtFlowArgs args, CtFlowArgs *values) {
    while (spend(u, 1)) {
        CtFlowCopy copy = {.flow = u->flow, .into = u->function, .place = u->place};
        Ending end;
        for (uint32_t i = 0; i < args.count; i++) ct_flow_copy_stands(&copy, function->params.items[i], args.items[i]);
        if (!walk(u, &copy, function, function->body, &end)) return false;
        *values = args = end.values;
        if (end.exit == EXIT_RETURN) return true;
        if (!reaches_itself(u, end.tail) && CT_FIRED("specialise.ends_elsewhere")) {
            CtFlowBlock last = {.exit = EXIT_TAIL, .values = args, .tail = end.tail, .range = end.range};
            *values = leave(u, function, &last);
            return true;
        }
        go_to(u, end.range);
        function = end.tail;
    }
    return false;
}

/* ---- the pass ---- */

/* Appends the expanded call to `out`; false if it stays a call, in which case nothing has changed. */
static bool specialise(Specialise *u, Steps *out, CtFlowFunction *callee, const CtFlowArgs *args, CtSourceRange place,
                       CtFlowArgs *values) {
    bool literals = false;
    for (uint32_t i = 0; i < args->count; i++) literals |= ct_flow_is_int_literal(&args->items[i]);
    if (!literals || !reaches_itself(u, callee)) return false;
    uint32_t steps = out->count;
    u->out = out;
    u->place = place;
    u->left = MOST_STEPS;
    if (call(u, callee, *args, values)) return CT_FIRED("specialise.call");
    out->count = steps;
    return false;
}

static void visit(Specialise *u, CtFlowBlock *block) {
    Steps out = {0};
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        CtFlowArgs values;
        ct_flow_rename(&u->now, &step->args);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(u, ct_flow_inner(step, j));
        if (step->kind != FLOW_CALL || !specialise(u, &out, step->as.function, &step->args, step->range, &values)) {
            ct_push(u->flow->arena, &out, step);
            continue;
        }
        for (uint32_t j = 0; j < step->results.count; j++) {
            CtFlowVar *result = step->results.items[j], *var = values.items[j].var;
            if (result == NULL) continue;
            ct_flow_stands(&u->now, result, values.items[j]);
            if (var != NULL && var->name == NULL) var->name = result->name;
        }
    }
    ct_flow_rename(&u->now, &block->values);
    CtFlowArgs values;
    if (block->exit == EXIT_TAIL && specialise(u, &out, block->tail, &block->values, block->range, &values)) {
        CT_FIRED("specialise.tail");
        block->exit = EXIT_RETURN;
        block->values = values;
        block->tail = NULL;
    }
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
}

void ct_flow_specialise(CtFlow *flow) {
    CtFlowCycles cycles = ct_flow_cycles(flow, false);
    Specialise u = {.flow = flow, .cycles = &cycles};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        u.function = flow->functions.items[i];
        ct_flow_values_clear(&u.now, flow->arena);
        visit(&u, u.function->body);
    }
    ct_flow_drop_unreached(flow);
}
