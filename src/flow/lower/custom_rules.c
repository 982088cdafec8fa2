/* Functions with custom derivatives: withVjp f rule x, withJvp f rule x, withRules f rule rule' x.
 *
 * Such an application becomes a call of a function made for it, whose parameters are the captured variables of f, those
 * of the rule, and the point. Its body calls f. Passes leave it alone until derivatives have been taken;
 * differentiation uses its rule (ad/custom_rules.c). If there is a rule for one mode only, the other mode is derived
 * from it in Core (ct_ad_rule_terms). */
#include "flow/lower/internal.h"

static CtFlowTypes types_of(Lower *l, const CtFlowArgs *args) {
    CtFlowTypes types = {0};
    for (uint32_t i = 0; i < args->count; i++) {
        CtFlowTypes one = {.items = &args->items[i].type, .count = 1};
        ct_flow_types_add(l->b.flow, &types, &one);
    }
    return types;
}

/* New parameters of the types of `like`. */
static CtFlowArgs add_params(Lower *l, const char *name, const CtFlowArgs *like) {
    CtFlowTypes types = types_of(l, like);
    return ct_flow_params(&l->b, &l->b.function->params, name, &types);
}

/* (captured variables of f, ⟨a⟩) → the parts of the pair that f ⟨a⟩ returns. */
static CtFlowFunction *parts_of(Lower *l, CtSourceRange range, CtCore *f, CtFlowArgs *captured) {
    CtFlowFunction *outer = l->b.function, *called = ct_flow_lower_code(l, f, captured);
    CtFlowBlock *block = l->b.block;
    const CtType *pair = ct_core_type_fun_result(f->type);
    l->b.function = ct_flow_function(l->b.flow, ct_format(l->b.arena, "rule of %s", outer->name), range);
    l->b.block = l->b.function->body = ct_flow_block(&l->b);
    CtFlowArgs args = add_params(l, "captured", captured);
    for (uint32_t i = 0; i + 1 < f->type->count; i++) {
        CtFlowArgs more =
            ct_flow_params(&l->b, &l->b.function->params, "x", ct_flow_types(l->b.flow, f->type->parts[i]));
        ct_flow_args_add(&l->b, &args, &more);
    }
    CtFlowArgs parts = ct_flow_lower_parts(l, range, pair, ct_flow_lower_call(l, range, called, &args, false));
    l->b.function->results = types_of(l, &parts);
    ct_flow_leave(&l->b, EXIT_RETURN, range, &parts, NULL);
    CtFlowFunction *made = l->b.function;
    l->b.function = outer;
    l->b.block = block;
    return made;
}

/* Binds the rule to a name, unless it is a variable. */
static CtCore *named(Lower *l, CtCore *rule) {
    CtVar *var = ct_core_var_new(l->p, "rule", rule->type);
    Callable *known = ct_flow_lower_callable(l, rule);
    if (known != NULL)
        ct_flow_lower_let_function(l, var, known);
    else
        ct_flow_lower_bind(l, var, ct_flow_lower(l, rule));
    return ct_core_var(l->p, rule->range, var);
}

/* Lowers f and the functions of the rule; returns their captured variables. */
static CtFlowArgs lower_rule(Lower *l, CtCore *e, CtFlowRule *rule) {
    CtFlowArgs captured = {0}, own, by_pair, by_tangent = {0};
    bool has_two = e->as.call.of.deriv == DERIV_WITH_RULES;
    CtCore *first = named(l, e->as.call.args[1]), *second = has_two ? named(l, e->as.call.args[2]) : NULL;
    CtRuleTerms terms = ct_ad_rule_terms(l->ad, e, first, second);
    rule->f = ct_flow_lower_code(l, e->as.call.args[0], &own);
    if (terms.slope != NULL) {
        rule->by_slope = parts_of(l, e->range, terms.slope, &by_pair);
    } else {
        CtType *pullback = ct_core_type_fun_result(terms.pair->type)->parts[1];
        rule->by_pair = parts_of(l, e->range, terms.pair, &by_pair);
        rule->by_tangent = parts_of(l, e->range, terms.tangent, &by_tangent);
        rule->pull = ct_flow_lower_apply_of(l, ct_flow_node(l->b.flow, pullback)->data);
    }
    rule->own = own.count;
    rule->pair = by_pair.count;
    rule->tangent = by_tangent.count;
    ct_flow_args_add(&l->b, &captured, &own);
    ct_flow_args_add(&l->b, &captured, &by_pair);
    ct_flow_args_add(&l->b, &captured, &by_tangent);
    return captured;
}

/* The function that stands for the application: its body calls f with its captured variables and the point. */
static CtFlowFunction *function_with(Lower *l, CtCore *e, CtFlowRule *rule, const CtFlowArgs *captured) {
    CtFlowFunction *outer = l->b.function, *function = ct_flow_function(l->b.flow, rule->f->name, e->range);
    CtFlowBlock *block = l->b.block;
    function->rule = rule;
    function->results = *ct_flow_types(l->b.flow, e->type);
    l->b.function = function;
    l->b.block = function->body = ct_flow_block(&l->b);
    CtFlowArgs params = add_params(l, "captured", captured), args = {0};
    CtFlowArgs own = ct_flow_slice(&params, 0, rule->own);
    CtFlowArgs point = ct_flow_params(&l->b, &function->params, "x",
                                      ct_flow_types(l->b.flow, e->as.call.args[e->as.call.count - 1]->type));
    ct_flow_args_add(&l->b, &args, &own);
    ct_flow_args_add(&l->b, &args, &point);
    CtFlowArgs results = ct_flow_lower_call(l, e->range, rule->f, &args, false);
    ct_flow_leave(&l->b, EXIT_RETURN, e->range, &results, NULL);
    l->b.function = outer;
    l->b.block = block;
    return function;
}

CtFlowArgs ct_flow_lower_with_rule(Lower *l, CtCore *e) {
    CtCore **args = e->as.call.args, **x = &args[e->as.call.count - 1];
    if (!ct_ad_is_on_flow(l->ad)) return ct_flow_lower(l, ct_core_app(l->p, e->range, args[0], x, 1));
    CtFlowRule *rule = CT_NEW(l->b.arena, CtFlowRule);
    CtFlowArgs all = lower_rule(l, e, rule);
    CtFlowFunction *function = function_with(l, e, rule, &all);
    CtFlowArgs point = ct_flow_lower(l, *x);
    ct_flow_args_add(&l->b, &all, &point);
    return ct_flow_lower_call(l, e->range, function, &all, false);
}
