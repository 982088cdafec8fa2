/* Derivative operators that Flow expands. They become steps that name the function's code: for a known function its own
 * code, with its captured variables before the point; for a function value the apply function of its type, with the
 * value before the point. derive.c replaces these steps by calls. */
#include "flow/lower/internal.h"

CtFlowFunction *ct_flow_lower_code(Lower *l, CtCore *f, CtFlowArgs *captured) {
    Callable *known = ct_flow_lower_callable(l, f);
    if (known != NULL) {
        *captured = ct_flow_lower_captured(l, known);
        return known->function;
    }
    *captured = ct_flow_lower(l, f);
    return ct_flow_lower_apply_of(l, captured->items[0].type->data);
}

/* The function whose derivative is taken, and the arguments before the point. If the function is not known, each use
 * has its own, because different function values may reach different places. */
static CtFlowDerived *derived_of(Lower *l, CtCore *f, CtFlowArgs *args) {
    CtFlowFunction *function = ct_flow_lower_code(l, f, args);
    CtFlowDerived *derived = ct_map_get(&l->derived, ct_key(function));
    l->differentiates = true;
    if (derived != NULL) return derived;
    derived = CT_NEW(l->b.arena, CtFlowDerived);
    derived->function = function;
    derived->captured = args->count;
    derived->residual = ct_flow_node_new(l->b.flow, ct_format(l->b.arena, "residual of %s", function->name), NULL);
    derived->residual->data->is_open = true;
    derived->residual->data->order = 1;
    if (ct_flow_lower_callable(l, f) != NULL) ct_map_set(l->b.arena, &l->derived, ct_key(function), derived);
    return derived;
}

static void add_point(Lower *l, CtFlowArgs *args, CtCore *x) {
    CtFlowArgs point = ct_flow_lower(l, x);
    CtFlowArgs all = {0}; /* separate, because the arguments of the enclosing binding must not change */
    ct_flow_args_add(&l->b, &all, args);
    ct_flow_args_add(&l->b, &all, &point);
    *args = all;
}

static CtFlowStep *derivative(Lower *l, CtFlowStepKind kind, CtSourceRange range, CtFlowDerived *derived,
                              const CtFlowArgs *args) {
    CtFlowStep *step = ct_flow_step(&l->b, kind, range);
    step->as.derived = derived;
    step->args = *args;
    return step;
}

static void add_results(Lower *l, CtFlowStep *step, const char *name, const CtFlowTypes *types, CtFlowArgs *to) {
    for (uint32_t i = 0; i < types->count; i++)
        ct_push(l->b.arena, to, ct_flow_result(&l->b, step, name, types->items[i]));
}

/* (residual, dy) → dx */
static CtFlowFunction *pullback_of(Lower *l, CtSourceRange range, CtFlowDerived *derived, CtType *type) {
    if (derived->pullback != NULL) return derived->pullback;
    CtFlowFunction *outer = l->b.function, *function = ct_flow_function(l->b.flow, "pullback", range);
    CtFlowBlock *block = l->b.block;
    derived->pullback = l->b.function = function;
    l->b.block = function->body = ct_flow_block(&l->b);
    function->results = *ct_flow_types(l->b.flow, ct_core_type_fun_result(type));
    CtFlowVar *residual = ct_flow_var(&l->b, "residual", derived->residual);
    ct_push(l->b.arena, &function->params, residual);
    CtFlowArgs args = {0}, dx = {0},
               dy = ct_flow_params(&l->b, &function->params, "dy", ct_flow_types(l->b.flow, type->parts[0]));
    ct_push(l->b.arena, &args, flow_of(residual));
    ct_flow_args_add(&l->b, &args, &dy);
    CtFlowStep *pull = derivative(l, FLOW_PULL, range, derived, &args);
    add_results(l, pull, "dx", &function->results, &dx);
    ct_flow_leave(&l->b, EXIT_RETURN, range, &dx, NULL);
    l->b.function = outer;
    l->b.block = block;
    return function;
}

/* The pullback as a value of its function type: a closure made for it. */
static CtFlowArg pullback_value(Lower *l, CtSourceRange range, CtFlowDerived *derived, CtType *type,
                                CtFlowArg residual) {
    const CtFlowType *node = ct_flow_node(l->b.flow, type);
    Callable *c = CT_NEW(l->b.arena, Callable);
    c->function = pullback_of(l, range, derived, type);
    CtFlowTypes fields = {.items = CT_NEW(l->b.arena, const CtFlowType *), .count = 1};
    fields.items[0] = derived->residual;
    uint32_t tag = 0;
    while (tag < l->members.count && l->members.items[tag].callable->function != c->function) tag++;
    if (tag < l->members.count) {
        tag = l->members.items[tag].tag;
    } else {
        tag = ct_flow_con_add(l->b.flow, node->data, "pullback", &fields);
        ct_push(l->b.arena, &l->members, (Member){node->data, c, tag});
    }
    CtFlowStep *step = ct_flow_step(&l->b, FLOW_MAKE, range);
    step->as.con.data = node->data;
    step->as.con.tag = tag;
    ct_flow_arg(&l->b, step, residual);
    CtFlowArg value = ct_flow_result(&l->b, step, "pullback", node);
    Pullback *known = CT_NEW(l->b.arena, Pullback);
    *known = (Pullback){derived, residual};
    ct_map_set(l->b.arena, &l->pullbacks, ct_key(value.var), known);
    return value;
}

static CtFlowArgs lower_vjp(Lower *l, CtCore *e) {
    CtFlowArgs args, results = {0};
    CtFlowDerived *derived = derived_of(l, e->as.call.args[0], &args);
    add_point(l, &args, e->as.call.args[1]);
    CtFlowStep *step = derivative(l, FLOW_VJP, e->range, derived, &args);
    add_results(l, step, "y", ct_flow_types(l->b.flow, e->type->parts[0]), &results);
    CtFlowArg residual = ct_flow_result(&l->b, step, "residual", derived->residual);
    ct_push(l->b.arena, &results, pullback_value(l, e->range, derived, e->type->parts[1], residual));
    return ct_flow_lower_whole(l, e->range, e->type, results);
}

static CtFlowArgs lower_jvp(Lower *l, CtCore *e) {
    CtFlowArgs args, results = {0};
    CtFlowDerived *derived = derived_of(l, e->as.call.args[0], &args);
    add_point(l, &args, e->as.call.args[1]);
    add_point(l, &args, e->as.call.args[2]);
    CtFlowStep *step = derivative(l, FLOW_JVP, e->range, derived, &args);
    add_results(l, step, "y", ct_flow_types(l->b.flow, e->type->parts[0]), &results);
    add_results(l, step, "dy", ct_flow_types(l->b.flow, e->type->parts[1]), &results);
    return ct_flow_lower_whole(l, e->range, e->type, results);
}

static CtFlowArgs lower_stop(Lower *l, CtCore *e) {
    CtFlowArgs values = ct_flow_lower(l, e->as.call.args[0]), results = {0};
    for (uint32_t i = 0; i < values.count; i++) {
        CtFlowStep *step = ct_flow_step(&l->b, FLOW_STOP, e->range);
        ct_flow_arg(&l->b, step, values.items[i]);
        ct_push(l->b.arena, &results, ct_flow_result(&l->b, step, NULL, values.items[i].type));
    }
    return results;
}

/* A call of a function made for it, which passes leave alone until derivatives have been taken. Its parameters are the
 * captured variables of f, and the point; its body calls f. */
static CtFlowArgs lower_checkpoint(Lower *l, CtCore *e) {
    CtCore **args = e->as.call.args;
    if (!ct_ad_is_on_flow(l->ad)) return ct_flow_lower(l, ct_core_app(l->p, e->range, args[0], &args[1], 1));
    CtFlowArgs captured, all = {0};
    CtFlowFunction *f = ct_flow_lower_code(l, args[0], &captured);
    add_point(l, &captured, args[1]);
    CtFlowFunction *outer = l->b.function, *function = ct_flow_function(l->b.flow, f->name, e->range);
    CtFlowBlock *block = l->b.block;
    function->is_checkpoint = true;
    function->results = *ct_flow_types(l->b.flow, e->type);
    l->b.function = function;
    l->b.block = function->body = ct_flow_block(&l->b);
    for (uint32_t i = 0; i < captured.count; i++) {
        CtFlowVar *param = ct_flow_var(&l->b, "x", captured.items[i].type);
        ct_push(l->b.arena, &function->params, param);
        ct_push(l->b.arena, &all, flow_of(param));
    }
    CtFlowArgs results = ct_flow_lower_call(l, e->range, f, &all, false);
    ct_flow_leave(&l->b, EXIT_RETURN, e->range, &results, NULL);
    l->b.function = outer;
    l->b.block = block;
    return ct_flow_lower_call(l, e->range, function, &captured, false);
}

CtFlowArgs ct_flow_lower_deriv(Lower *l, CtCore *e) {
    switch (e->as.call.of.deriv) {
    case DERIV_STOP: return lower_stop(l, e);
    case DERIV_VJP: return lower_vjp(l, e);
    case DERIV_JVP: return lower_jvp(l, e);
    case DERIV_CHECKPOINT: return lower_checkpoint(l, e);
    case DERIV_ATTEMPT: ct_flow_lower_refuse(l, "it catches what fails in expressions (Control.Exception)");
    case DERIV_DELAY:
    case DERIV_FORCE:
    case DERIV_KNOT: ct_flow_lower_refuse(l, "it is evaluated lazily");
    case DERIV_WITH_VJP:
    case DERIV_WITH_JVP:
    case DERIV_WITH_RULES: return ct_flow_lower_with_rule(l, e);
    case DERIV_JACOBIAN:
    case DERIV_TAYLOR:
    case DERIV_BASIS:
    case DERIV_REALS:
    case DERIV_FILL: break;
    }
    ct_flow_lower_refuse(l, "a derivative has not been expanded");
}
