/* Control-flow analysis (0-CFA): which function values reach which variables. It computes sets of closures by inclusion
 * constraints, insensitive to the order of steps and to calling contexts. Fields are distinguished by constructor,
 * elements of arrays by type. */
#include "flow/lower/internal.h"

typedef struct ControlFlow {
    Lower *l;
    CtArena *arena;
    uint32_t words; /* words of a set */
    CtMap sets;     /* of variables, fields, results and elements: key -> set */
    const CtFlowFunction *function;
    bool changed;
} ControlFlow;

static bool holds_functions(const CtFlowType *type) {
    return type->kind == FLOW_NODE && type->data->type != NULL && type->data->type->kind == TYPE_FUN;
}

static uint64_t *set_at(ControlFlow *r, const void *what, uint64_t index) {
    uint64_t key = ct_key(what) * 64 + index;
    uint64_t *set = ct_map_get(&r->sets, key);
    if (set != NULL) return set;
    set = CT_NEW_ARRAY(r->arena, uint64_t, r->words);
    ct_map_set(r->arena, &r->sets, key, set);
    return set;
}

static uint64_t *of_var(ControlFlow *r, const CtFlowVar *var) { return set_at(r, var, 0); }
static uint64_t *of_result(ControlFlow *r, const CtFlowFunction *f, uint32_t index) { return set_at(r, f, 1 + index); }
static uint64_t *of_elements(ControlFlow *r, const CtFlowData *data) { return set_at(r, data, 0); }
/* the address of a field's type in its constructor is the key */
static uint64_t *of_field(ControlFlow *r, const CtFlowData *data, uint32_t tag, uint32_t index) {
    return set_at(r, &data->cons[tag].fields.items[index], 2);
}

static void include(ControlFlow *r, uint64_t *to, const uint64_t *from) {
    for (uint32_t i = 0; i < r->words; i++) {
        if ((from[i] & ~to[i]) == 0) continue;
        to[i] |= from[i];
        r->changed = true;
    }
}

static void include_arg(ControlFlow *r, uint64_t *to, const CtFlowArg *arg) {
    if (arg->var != NULL) include(r, to, of_var(r, arg->var));
}

static bool has(const uint64_t *set, uint32_t member) { return set[member / 64] >> (member % 64) & 1; }

/* ---- calls ---- */

typedef struct Call { /* where the results of a call go: to variables, or to the results of a function */
    const CtFlowVars *results;
    const CtFlowFunction *to;
} Call;

static void return_from(ControlFlow *r, const CtFlowFunction *callee, Call call) {
    for (uint32_t i = 0; i < callee->results.count; i++) {
        if (!holds_functions(callee->results.items[i])) continue;
        uint64_t *from = of_result(r, callee, i);
        include(r, call.to != NULL ? of_result(r, call.to, i) : of_var(r, call.results->items[i]), from);
    }
}

/* Applies a function value: every closure that it may be. `args`: the value, then its arguments. */
static void apply_any(ControlFlow *r, const CtFlowData *data, const uint64_t *set, const CtFlowArgs *args, Call call) {
    for (uint32_t m = 0; m < r->l->members.count; m++) {
        Member member = r->l->members.items[m];
        if (member.data != data || !has(set, m)) continue;
        const CtFlowVars *params = &member.callable->function->params;
        const CtFlowTypes *fields = &data->cons[member.tag].fields;
        for (uint32_t i = 0; i < params->count; i++) {
            if (!holds_functions(params->items[i]->type)) continue;
            if (i < fields->count)
                include(r, of_var(r, params->items[i]), of_field(r, data, member.tag, i));
            else if (args != NULL)
                include_arg(r, of_var(r, params->items[i]), &args->items[1 + i - fields->count]);
        }
        if (args != NULL) return_from(r, member.callable->function, call);
    }
}

static void apply(ControlFlow *r, const CtFlowArgs *args, Call call) {
    apply_any(r, args->items[0].type->data, of_var(r, args->items[0].var), args, call);
}

/* The functions of a rule, which derivatives call, receive the rule's captured values. */
static void enter_rule(ControlFlow *r, const CtFlowFunction *function) {
    const CtFlowRule *rule = function->rule;
    const CtFlowFunction *pair = rule->by_slope != NULL ? rule->by_slope : rule->by_pair;
    for (uint32_t i = 0; i < rule->pair; i++)
        if (holds_functions(pair->params.items[i]->type))
            include(r, of_var(r, pair->params.items[i]), of_var(r, function->params.items[rule->own + i]));
    for (uint32_t i = 0; i < rule->tangent; i++)
        if (holds_functions(rule->by_tangent->params.items[i]->type))
            include(r, of_var(r, rule->by_tangent->params.items[i]),
                    of_var(r, function->params.items[rule->own + rule->pair + i]));
    uint32_t last = pair->results.count - 1;
    if (rule->pull != NULL) apply_any(r, pair->results.items[last]->data, of_result(r, pair, last), NULL, (Call){0});
}

static void enter(ControlFlow *r, const CtFlowFunction *callee, const CtFlowArgs *args, Call call) {
    if (args->count > 0 && args->items[0].var != NULL && holds_functions(args->items[0].type) &&
        args->items[0].type->data->apply == callee) {
        apply(r, args, call);
        return;
    }
    for (uint32_t i = 0; i < callee->params.count && i < args->count; i++)
        if (holds_functions(args->items[i].type)) include_arg(r, of_var(r, callee->params.items[i]), &args->items[i]);
    return_from(r, callee, call);
}

/* ---- steps ---- */

static void walk(ControlFlow *r, const CtFlowBlock *block);

static void to_elements(ControlFlow *r, const CtFlowArg *arg) {
    if (holds_functions(arg->type)) include_arg(r, of_elements(r, arg->type->data), arg);
}

static uint32_t member_of(const ControlFlow *r, const CtFlowData *data, uint32_t tag) {
    uint32_t m = 0;
    while (r->l->members.items[m].data != data || r->l->members.items[m].tag != tag) m++;
    return m;
}

static void walk_node(ControlFlow *r, const CtFlowStep *step) {
    const CtFlowData *data = step->as.con.data;
    if (step->kind == FLOW_MAKE && data->type != NULL && data->type->kind == TYPE_FUN) {
        uint32_t m = member_of(r, data, step->as.con.tag);
        uint64_t *set = of_var(r, step->results.items[0]);
        if (!has(set, m)) r->changed = true;
        set[m / 64] |= (uint64_t)1 << (m % 64);
    }
    for (uint32_t i = 0; i < data->cons[step->as.con.tag].fields.count; i++) {
        if (!holds_functions(data->cons[step->as.con.tag].fields.items[i])) continue;
        uint64_t *field = of_field(r, data, step->as.con.tag, i);
        if (step->kind == FLOW_MAKE)
            include_arg(r, field, &step->args.items[i]);
        else if (step->results.items[i] != NULL)
            include(r, of_var(r, step->results.items[i]), field);
    }
}

static void walk_switch(ControlFlow *r, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        walk(r, block);
        for (uint32_t j = 0; block->exit == EXIT_YIELD && j < step->results.count; j++)
            if (holds_functions(step->results.items[j]->type))
                include_arg(r, of_var(r, step->results.items[j]), &block->values.items[j]);
    }
}

static void walk_loop(ControlFlow *r, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    for (uint32_t i = 0; i < step->as.loop.carried; i++) {
        CtFlowVar *param = block->params.items[1 + i];
        if (!holds_functions(param->type)) continue;
        include_arg(r, of_var(r, param), &step->args.items[1 + i]);
        if (block->exit == EXIT_YIELD) include_arg(r, of_var(r, param), &block->values.items[i]);
        include(r, of_var(r, step->results.items[i]), of_var(r, param));
    }
    walk(r, block);
    for (uint32_t i = step->as.loop.carried; block->exit == EXIT_YIELD && i < block->values.count; i++)
        to_elements(r, &block->values.items[i]);
    for (uint32_t i = 0; step->as.loop.initial && i < step->args.count; i++) to_elements(r, &step->args.items[i]);
}

static void walk_step(ControlFlow *r, const CtFlowStep *step) {
    switch (step->kind) {
    case FLOW_MAKE:
    case FLOW_OPEN: walk_node(r, step); return;
    case FLOW_CALL: enter(r, step->as.function, &step->args, (Call){.results = &step->results}); return;
    case FLOW_VJP:
    case FLOW_JVP: enter(r, step->as.derived->function, &step->args, (Call){.results = &step->results}); return;
    case FLOW_CONSTANT: return_from(r, step->as.constant->function, (Call){.results = &step->results}); return;
    case FLOW_SWITCH: walk_switch(r, step); return;
    case FLOW_LOOP: walk_loop(r, step); return;
    case FLOW_READ:
        if (holds_functions(step->results.items[0]->type))
            include(r, of_var(r, step->results.items[0]), of_elements(r, step->results.items[0]->type->data));
        return;
    case FLOW_UPDATE:
    case FLOW_SNOC:
    case FLOW_ITEMS:
    case FLOW_BULK:
        for (uint32_t i = 0; i < step->args.count; i++) to_elements(r, &step->args.items[i]);
        return;
    case FLOW_PRIM:
    case FLOW_STRING:
    case FLOW_FAIL:
    case FLOW_CHECK:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SHAPE:
    case FLOW_CHECK_SLICE:
    case FLOW_DIM:
    case FLOW_LITERALS:
    case FLOW_PRODUCT:
    case FLOW_PULL:
    case FLOW_STOP:
    case FLOW_RETAIN:
    case FLOW_LINK:
    case FLOW_RELEASE: return;
    }
}

static void walk(ControlFlow *r, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) walk_step(r, block->steps.items[i]);
    if (block->exit == EXIT_TAIL) enter(r, block->tail, &block->values, (Call){.to = r->function});
    for (uint32_t i = 0; block->exit == EXIT_RETURN && i < block->values.count; i++)
        if (holds_functions(block->values.items[i].type))
            include_arg(r, of_result(r, r->function, i), &block->values.items[i]);
}

bool *ct_flow_lambda_sets(Lower *l, const CtFlowVar *const *vars, uint32_t count) {
    uint32_t members = l->members.count;
    ControlFlow r = {.l = l, .arena = l->b.arena, .words = members / 64 + 1, .changed = true};
    while (r.changed) {
        r.changed = false;
        for (uint32_t i = 0; i < l->b.flow->functions.count; i++) {
            r.function = l->b.flow->functions.items[i];
            if (r.function->body != NULL) walk(&r, r.function->body);
            if (r.function->rule != NULL) enter_rule(&r, r.function);
        }
    }
    bool *reaches = CT_NEW_ARRAY(l->b.arena, bool, (size_t)count *members + 1);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t m = 0; m < members; m++) reaches[(size_t)i * members + m] = has(of_var(&r, vars[i]), m);
    return reaches;
}
