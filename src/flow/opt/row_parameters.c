/* Row parameters. If all calls of a function pass rows of an array for a parameter, the function is given the array and
 * the row's index instead:
 *
 *     row = read m, i;  x = call f row         x = call f m, i
 *     f (row): …                               f (m, i):  row = read m, i; …
 *
 * Reads of the row's elements then become reads of the array (simplify.c). Their adjoints are added to the array's
 * adjoint, where otherwise an adjoint of the whole row would be made and added, at the cost of its length. A row
 * parameter that a function passes on, also to itself, counts as a row. Not where the array has been taken since the
 * row was read, nor by the call itself. */
#include "flow/opt/passes.h"
#include "flow/build.h"

typedef struct Given { /* what all calls pass for a parameter */
    bool never;        /* some call passes something else */
    const CtFlowType *array;
    uint32_t indices; /* number of indices of the row; 0: not known yet */
    CtFlowArgs now;   /* its replacement: the array and the indices */
} Given;

typedef struct Rows {
    CtFlow *flow;
    CtArena *arena;
    Given **given; /* by function number and parameter */
    CtFlowFacts facts;
    CtFlowTaken taken;
    CtFlowFunction *function;
    bool changed;
} Rows;

static bool is_row(const CtFlowStep *step) {
    return step != NULL && step->kind == FLOW_READ && step->results.items[0]->type->kind == FLOW_ARRAY &&
           step->results.items[0]->type->element == step->args.items[0].type->element; /* not an array by reference */
}

/* The row parameter that an argument is, or NULL. */
static Given *handed_on(const Rows *r, const CtFlowArg *arg) {
    for (uint32_t i = 0; arg->var != NULL && i < r->function->params.count; i++)
        if (r->function->params.items[i] == arg->var) return &r->given[r->function->id][i];
    return NULL;
}

/* ---- what calls give ---- */

static void give(Rows *r, Given *to, bool never, const CtFlowType *array, uint32_t indices) {
    bool differs = indices > 0 && to->indices > 0 && (to->array != array || to->indices != indices);
    if (to->never || (!never && !differs && (indices == 0 || to->indices > 0))) return;
    if (never || differs)
        to->never = true;
    else
        to->array = array, to->indices = indices;
    r->changed = true;
}

static void look_at_args(void *data, CtFlowStep *step, const CtFlowFunction *callee, const CtFlowArgs *args) {
    Rows *r = data;
    (void)step;
    for (uint32_t i = 0; i < args->count && callee != NULL; i++) {
        Given *to = &r->given[callee->id][i];
        const CtFlowStep *row = ct_flow_fact(&r->facts, &args->items[i])->maker;
        const Given *same = handed_on(r, &args->items[i]);
        if (same != NULL)
            give(r, to, same->never, same->array, same->indices);
        else if (is_row(row) && ct_flow_is_left(&r->taken, row, &row->args.items[0]))
            give(r, to, false, row->args.items[0].type, row->args.count - 1);
        else
            give(r, to, true, NULL, 0);
    }
}

/* Facts about the lengths of parameters refer to them by name (CtFlowVar.like). */
static void fix_alike(Rows *r, const CtFlowFunction *function) {
    for (uint32_t i = 0; i < function->params.count; i++)
        for (uint32_t j = 0; function->params.items[i]->like != NULL && j < function->params.count; j++)
            if (j == i || function->params.items[j] == function->params.items[i]->like)
                r->given[function->id][j].never = true;
}

/* ---- giving arrays instead ---- */

static bool changes(const Given *given) { return !given->never && given->indices > 0; }

static CtFlowArgs give_arrays(Rows *r, const CtFlowFunction *callee, const CtFlowArgs *args) {
    CtFlowArgs fresh = {0};
    for (uint32_t i = 0; i < args->count; i++) {
        const Given *same = handed_on(r, &args->items[i]);
        CtFlowArgs one = {.items = &args->items[i], .count = 1};
        if (changes(&r->given[callee->id][i]))
            one = same != NULL && CT_FIRED("row_parameters.handed_on")
                      ? same->now
                      : ct_flow_fact(&r->facts, &args->items[i])->maker->args;
        for (uint32_t j = 0; j < one.count; j++) ct_push(r->arena, &fresh, one.items[j]);
    }
    return fresh;
}

static void change_block(Rows *r, CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_CALL) step->args = give_arrays(r, step->as.function, &step->args);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) change_block(r, ct_flow_inner(step, j));
    }
    if (block->exit == EXIT_TAIL) block->values = give_arrays(r, block->tail, &block->values);
}

/* Replaces the parameter by the array and the indices; the row is read at the start of the body. */
static void change_params(Rows *r) {
    CtFlowFunction *function = r->function;
    CtFlowVars params = {0};
    CtFlowBuilder l = {.flow = r->flow, .arena = r->arena, .function = function};
    l.block = ct_flow_block(&l);
    for (uint32_t i = 0; i < function->params.count; i++) {
        CtFlowVar *row = function->params.items[i];
        Given *given = &r->given[function->id][i];
        if (!changes(given)) {
            ct_push(r->arena, &params, row);
            continue;
        }
        CT_FIRED("row_parameters.row");
        for (uint32_t j = 0; j <= given->indices; j++) {
            CtFlowVar *var = ct_flow_var(&l, j == 0 ? row->name : "i", j == 0 ? given->array : r->facts.integer);
            ct_push(r->arena, &params, var);
            ct_push(r->arena, &given->now, flow_of(var));
        }
        CtFlowStep *read = ct_flow_step(&l, FLOW_READ, function->range);
        read->args = given->now;
        ct_push(r->arena, &read->results, row);
    }
    for (uint32_t i = 0; i < function->body->steps.count; i++)
        ct_push(r->arena, &l.block->steps, function->body->steps.items[i]);
    function->body->steps.items = l.block->steps.items;
    function->body->steps.count = l.block->steps.count;
    function->body->steps.capacity = l.block->steps.capacity;
    change_block(r, function->body);
    function->params = params;
}

static void each_function(Rows *r, void (*visit)(Rows *r)) {
    for (uint32_t i = 0; i < r->flow->functions.count; i++) {
        r->function = r->flow->functions.items[i];
        ct_flow_facts_begin(&r->facts, r->flow, r->function);
        visit(r);
    }
}

static void look(Rows *r) {
    ct_flow_taken_begin(&r->taken, &r->facts, r->taken.changed);
    ct_flow_taken_walk(&r->taken, r->function->body, look_at_args, r);
}

static void look_at_all(Rows *r) {
    r->changed = true;
    while (r->changed) {
        r->changed = false;
        each_function(r, look);
    }
}

/* Parameters that are only passed on among functions that nobody calls stay as they are. */
static void drop_unknown(Rows *r) {
    for (uint32_t i = 0; i < r->function->params.count; i++)
        r->given[r->function->id][i].never |= r->given[r->function->id][i].indices == 0;
}

void ct_flow_row_parameters(CtFlow *flow) {
    uint32_t count = flow->functions.count;
    const bool *fixed = ct_flow_fixed_functions(flow);
    Rows r = {.flow = flow, .arena = flow->arena, .given = CT_NEW_ARRAY(flow->arena, Given *, count + 1)};
    for (uint32_t i = 0; i < count; i++) {
        const CtFlowVars *params = &flow->functions.items[i]->params;
        r.given[i] = CT_NEW_ARRAY(flow->arena, Given, params->count + 1);
        for (uint32_t j = 0; j < params->count; j++)
            r.given[i][j].never = fixed[i] || params->items[j]->type->kind != FLOW_ARRAY;
        fix_alike(&r, flow->functions.items[i]);
    }
    r.taken.changed = ct_flow_changed_parameters(flow);
    look_at_all(&r);
    each_function(&r, drop_unknown);
    look_at_all(&r);
    each_function(&r, change_params);
}
