/* Functions that apply function values: a switch on the closure, with a branch that calls the code of each closure with
 * its captured values.
 *
 * One such function for each function type would do. But then everything that applies a value of the type would call
 * all functions of the type; and if one of these takes a derivative of code that applies it, that would be a derivative
 * of itself. So in programs with derivatives there is one for each lambda set of a place (control_flow.c). */
#include "flow/lower/internal.h"

CtFlowFunction *ct_flow_lower_apply_of(Lower *l, CtFlowData *data) {
    if (data->apply != NULL) return data->apply;
    data->apply = ct_flow_function(l->b.flow, "apply", CT_NO_RANGE);
    data->apply->results = *ct_flow_types(l->b.flow, data->type->parts[data->type->count - 1]);
    return data->apply;
}

static void lower_branch(Lower *l, CtFlowStep *step, const Member *member, CtFlowVar *closure, const CtFlowArgs *args) {
    CtFlowBlock *outer = l->b.block;
    CtFlowBranch *branch = &step->as.cases.branches[step->as.cases.count++];
    l->b.block = branch->block = ct_flow_block(&l->b);
    branch->tag = member->tag;
    CtFlowStep *open = ct_flow_step(&l->b, FLOW_OPEN, CT_NO_RANGE);
    open->as.con.data = member->data;
    open->as.con.tag = member->tag;
    ct_flow_arg(&l->b, open, flow_of(closure));
    CtFlowArgs all = {0};
    const CtFlowTypes *fields = &member->data->cons[member->tag].fields;
    for (uint32_t i = 0; i < fields->count; i++)
        ct_push(l->b.arena, &all, ct_flow_result(&l->b, open, "captured", fields->items[i]));
    ct_flow_args_add(&l->b, &all, args);
    ct_flow_lower_call(l, CT_NO_RANGE, member->callable->function, &all, true);
    l->b.block = outer;
}

/* (c, ⟨a⟩) → a call of the closure c with its captured values and ⟨a⟩. `some` is the lambda set; NULL: all closures of
 * the type. */
static void lower_body(Lower *l, CtFlowFunction *function, CtFlowData *data, const bool *some) {
    l->b.function = function;
    l->b.block = function->body = ct_flow_block(&l->b);
    CtFlowVar *closure = ct_flow_var(&l->b, "function", ct_flow_node(l->b.flow, data->type));
    ct_push(l->b.arena, &function->params, closure);
    CtFlowArgs args = {0};
    for (uint32_t i = 0; i + 1 < data->type->count; i++) {
        CtFlowArgs more = ct_flow_params(&l->b, &function->params, "a", ct_flow_types(l->b.flow, data->type->parts[i]));
        ct_flow_args_add(&l->b, &args, &more);
    }
    CtFlowStep *step = ct_flow_lower_switch(l, CT_NO_RANGE, flow_of(closure));
    step->as.cases.branches = CT_NEW_ARRAY(l->b.arena, CtFlowBranch, data->count);
    for (uint32_t i = 0; i < l->members.count; i++)
        if (l->members.items[i].data == data && (some == NULL || some[i]))
            lower_branch(l, step, &l->members.items[i], closure, &args);
    ct_flow_leave(&l->b, EXIT_NEVER, CT_NO_RANGE, NULL, NULL);
}

/* ---- by the values that come to a place ---- */

typedef struct Site { /* a place where a function value is applied */
    CtFlowVar *closure;
    CtFlowFunction **applies;
} Site;

typedef struct Sites {
    CtArena *arena;
    CT_VEC(Site) sites;
} Sites;

typedef struct Applies { /* an apply function made for a lambda set */
    const CtFlowData *data;
    const bool *some;
    CtFlowFunction *function;
} Applies;

static void add_site(Sites *s, CtFlowVar *closure, CtFlowFunction **applies) {
    if (closure == NULL || closure->type->kind != FLOW_NODE || closure->type->data->apply != *applies) return;
    ct_push(s->arena, &s->sites, (Site){closure, applies});
}

static void find_sites(Sites *s, CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        CtFlowVar *first = step->args.count > 0 ? step->args.items[0].var : NULL;
        if (step->kind == FLOW_CALL) add_site(s, first, &step->as.function);
        if (step->kind == FLOW_VJP || step->kind == FLOW_JVP) add_site(s, first, &step->as.derived->function);
        if (step->kind == FLOW_LOOP) find_sites(s, step->as.loop.block);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            find_sites(s, step->as.cases.branches[j].block);
    }
    if (block->exit == EXIT_TAIL && block->values.count > 0) add_site(s, block->values.items[0].var, &block->tail);
}

static void find_sites_of_rule(Sites *s, const CtFlowFunction *function) {
    CtFlowRule *rule = function->rule;
    if (rule->own > 0) add_site(s, function->params.items[0], &rule->f);
    if (rule->pull == NULL) return;
    const CtFlowArgs *given = &rule->by_pair->body->values;
    add_site(s, given->items[given->count - 1].var, &rule->pull);
}

static bool is_all(const Lower *l, const CtFlowData *data, const bool *some) {
    bool all = true, none = true;
    for (uint32_t i = 0; i < l->members.count; i++) {
        if (l->members.items[i].data != data) continue;
        all &= some[i];
        none &= !some[i];
    }
    return all || none; /* unreachable places stay as they are */
}

static void apply_some(Lower *l) {
    Sites s = {.arena = l->b.arena};
    CT_VEC(Applies) made = {0};
    for (uint32_t i = 0; i < l->b.flow->functions.count; i++) {
        CtFlowFunction *function = l->b.flow->functions.items[i];
        find_sites(&s, function->body);
        if (function->rule != NULL) find_sites_of_rule(&s, function);
    }
    const CtFlowVar **closures = CT_NEW_ARRAY(l->b.arena, const CtFlowVar *, s.sites.count + 1);
    for (uint32_t i = 0; i < s.sites.count; i++) closures[i] = s.sites.items[i].closure;
    const bool *reaches = ct_flow_lambda_sets(l, closures, s.sites.count);
    for (uint32_t i = 0; i < s.sites.count; i++) {
        CtFlowData *data = closures[i]->type->data;
        const bool *some = reaches + (size_t)i * l->members.count;
        uint32_t at = 0;
        if (is_all(l, data, some)) continue;
        while (at < made.count && (made.items[at].data != data || memcmp(made.items[at].some, some, l->members.count)))
            at++;
        if (at == made.count) {
            CtFlowFunction *function = ct_flow_function(l->b.flow, "apply", CT_NO_RANGE);
            function->results = data->apply->results;
            lower_body(l, function, data, some);
            ct_push(l->b.arena, &made, (Applies){data, some, function});
        }
        *s.sites.items[i].applies = made.items[at].function;
    }
}

void ct_flow_lower_applies(Lower *l) {
    for (uint32_t i = 0; i < l->b.flow->data.count; i++) {
        CtFlowData *data = l->b.flow->data.items[i];
        if (data->apply != NULL) lower_body(l, data->apply, data, NULL);
    }
    if (l->differentiates) apply_some(l);
}
