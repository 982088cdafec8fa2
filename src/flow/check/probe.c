/* Probes of derivatives: probe.h. */
#include "flow/check/probe.h"

#include "flow/ad/derive.h"
#include "flow/opt/passes.h"

typedef struct Probes {
    CtFlow *flow;
    CT_VEC(CtFlowProbe) items;
    CT_VEC(const CtFlowDerived *) derived; /* for each probe */
} Probes;

/* ---- what can be probed ---- */

/* Values without functions and residuals: a direction for them is a value of the same type. */
static bool is_plain(const CtFlow *flow, const CtFlowType *type, CtMap *seen) {
    if (type->kind == FLOW_ARRAY) return is_plain(flow, type->element, seen);
    if (type->kind != FLOW_NODE || ct_map_has(seen, ct_key(type))) return true;
    ct_map_set(flow->arena, seen, ct_key(type), NULL);
    const CtFlowData *data = type->data;
    if (data->apply != NULL || data->is_open || data->order > 0) return false;
    if (data->type != NULL && data->type->kind == TYPE_FUN) return false;
    for (uint32_t i = 0; i < data->count; i++)
        for (uint32_t j = 0; j < data->cons[i].fields.count; j++)
            if (!is_plain(flow, data->cons[i].fields.items[j], seen)) return false;
    return true;
}

typedef struct Reach {
    CtArena *arena;
    CtMap seen;
    bool has_rule;
    CT_VEC(const CtFlowFunction *) todo;
} Reach;

static void reach(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    (void)range, (void)tail;
    Reach *r = data;
    if (ct_map_has(&r->seen, ct_key(callee))) return;
    ct_map_set(r->arena, &r->seen, ct_key(callee), NULL);
    r->has_rule |= callee->rule != NULL;
    ct_push(r->arena, &r->todo, callee);
}

static void reach_derived(void *data, CtFlowStep *step) {
    if (ct_flow_is_derivative(step)) reach(data, step->as.derived->function, CT_NO_RANGE, false);
}

/* A custom derivative may be wrong and need not be linear; the checks of passes do not judge that. */
static bool has_rule(const CtFlow *flow, CtFlowFunction *function) {
    Reach r = {.arena = flow->arena};
    reach(&r, function, CT_NO_RANGE, false);
    while (r.todo.count > 0) {
        const CtFlowFunction *one = r.todo.items[--r.todo.count];
        if (one->body == NULL) continue;
        ct_flow_each_call(one->body, reach, &r);
        ct_flow_each_step(one->body, reach_derived, &r);
    }
    return r.has_rule;
}

static const char *why_not(const CtFlow *flow, const CtFlowDerived *derived) {
    CtFlowFunction *function = derived->function;
    CtMap seen = {0};
    bool plain = true;
    for (uint32_t i = derived->captured; i < function->params.count; i++)
        plain &= is_plain(flow, function->params.items[i]->type, &seen);
    for (uint32_t i = 0; i < function->results.count; i++) plain &= is_plain(flow, function->results.items[i], &seen);
    if (!plain) return "functions go in or out";
    return has_rule(flow, function) ? "the program gives a rule for a derivative" : NULL;
}

/* ---- writing them ---- */

static CtFlowBuilder begin(CtFlow *flow, const char *name, CtFlowFunction **made) {
    CtFlowBuilder l = {.flow = flow, .arena = flow->arena};
    *made = l.function = ct_flow_function(flow, name, CT_NO_RANGE);
    l.block = (*made)->body = ct_flow_block(&l);
    return l;
}

static CtFlowArgs params_like(CtFlowBuilder *l, const CtFlowVars *vars, uint32_t from) {
    CtFlowArgs args = {0};
    for (uint32_t i = from; i < vars->count; i++) {
        CtFlowVar *var = ct_flow_var(l, vars->items[i]->name, vars->items[i]->type);
        ct_push(l->arena, &l->function->params, var);
        ct_push(l->arena, &args, flow_of(var));
    }
    return args;
}

static void results_like(CtFlowBuilder *l, CtFlowStep *step, const CtFlowTypes *types) {
    for (uint32_t i = 0; i < types->count; i++) ct_flow_result(l, step, NULL, types->items[i]);
}

static void return_all(CtFlowBuilder *l, const CtFlowVars *vars, uint32_t from, uint32_t count) {
    CtFlowArgs values = {0};
    CtFlowTypes *types = &l->function->results;
    types->items = CT_NEW_ARRAY(l->arena, const CtFlowType *, count + 1);
    for (uint32_t i = from; i < from + count; i++) {
        ct_push(l->arena, &values, flow_of(vars->items[i]));
        types->items[types->count++] = vars->items[i]->type;
    }
    ct_flow_leave(l, EXIT_RETURN, CT_NO_RANGE, &values, NULL);
}

static CtFlowDerived *derived_like(CtFlow *flow, const CtFlowDerived *like) {
    CtFlowDerived *derived = CT_NEW(flow->arena, CtFlowDerived);
    derived->function = like->function;
    derived->captured = like->captured;
    derived->residual = ct_flow_node_new(flow, "residual of a probe", NULL);
    derived->residual->data->is_open = true;
    derived->residual->data->order = 1;
    return derived;
}

/* (captured, point, v) → ⟨y⟩, ⟨dy⟩ */
static CtFlowFunction *forward_probe(Probes *p, const CtFlowDerived *like) {
    CtFlowFunction *made;
    CtFlowBuilder l = begin(p->flow, "probe forward", &made);
    const CtFlowFunction *f = like->function;
    CtFlowArgs args = params_like(&l, &f->params, 0), v = params_like(&l, &f->params, like->captured);
    CtFlowStep *step = ct_flow_step(&l, FLOW_JVP, CT_NO_RANGE);
    step->as.derived = derived_like(p->flow, like);
    ct_flow_args_add(&l, &step->args, &args);
    ct_flow_args_add(&l, &step->args, &v);
    results_like(&l, step, &f->results);
    results_like(&l, step, &f->results);
    return_all(&l, &step->results, 0, step->results.count);
    return made;
}

/* (captured, point, w) → ⟨dx⟩ */
static CtFlowFunction *reverse_probe(Probes *p, const CtFlowDerived *like) {
    CtFlowFunction *made;
    CtFlowBuilder l = begin(p->flow, "probe reverse", &made);
    const CtFlowFunction *f = like->function;
    CtFlowArgs args = params_like(&l, &f->params, 0), w = ct_flow_params(&l, &made->params, "w", &f->results);
    CtFlowDerived *derived = derived_like(p->flow, like);
    CtFlowStep *vjp = ct_flow_step(&l, FLOW_VJP, CT_NO_RANGE);
    vjp->as.derived = derived;
    ct_flow_args_add(&l, &vjp->args, &args);
    results_like(&l, vjp, &f->results);
    CtFlowArg residual = ct_flow_result(&l, vjp, "residual", derived->residual);
    CtFlowStep *pull = ct_flow_step(&l, FLOW_PULL, CT_NO_RANGE);
    pull->as.derived = derived;
    ct_flow_arg(&l, pull, residual);
    ct_flow_args_add(&l, &pull->args, &w);
    for (uint32_t i = like->captured; i < f->params.count; i++)
        ct_flow_result(&l, pull, "dx", f->params.items[i]->type);
    return_all(&l, &pull->results, 0, pull->results.count);
    return made;
}

/* ---- all of them ---- */

static void find(void *data, CtFlowStep *step) {
    Probes *p = data;
    if (step->kind != FLOW_VJP && step->kind != FLOW_JVP) return;
    for (uint32_t i = 0; i < p->derived.count; i++)
        if (p->derived.items[i]->function == step->as.derived->function &&
            p->derived.items[i]->captured == step->as.derived->captured)
            return;
    ct_push(p->flow->arena, &p->derived, step->as.derived);
}

uint32_t ct_flow_probes(CtFlow *flow, CtFlowProbe **probes) {
    Probes p = {.flow = flow};
    uint32_t functions = flow->functions.count;
    for (uint32_t i = 0; i < functions; i++) ct_flow_each_step(flow->functions.items[i]->body, find, &p);
    for (uint32_t i = 0; i < p.derived.count; i++) {
        const CtFlowDerived *derived = p.derived.items[i];
        CtFlowProbe probe = {.function = derived->function, .derived = derived, .captured = derived->captured};
        probe.params = derived->function->params.count;
        probe.skipped = why_not(flow, derived);
        if (probe.skipped == NULL) {
            probe.forward = forward_probe(&p, derived);
            probe.reverse = reverse_probe(&p, derived);
        }
        ct_push(flow->arena, &p.items, probe);
    }
    *probes = p.items.items;
    return p.items.count;
}

void ct_flow_probes_made(CtFlow *flow, CtFlowProbe *probes, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (probes[i].skipped != NULL) continue;
        const CtFlowReverse *reverse = ct_flow_reverse(flow, (CtFlowFunction *)probes[i].function, probes[i].captured);
        probes[i].called[0] = reverse != NULL ? reverse->forward : NULL;
        const CtFlowForward *forward = probes[i].derived->forward;
        probes[i].called[1] = forward != NULL ? forward->function : NULL;
    }
}
