/* Parameters that are given the same literal by every call, or handed on by the function itself, become that literal.
 * Local functions come to have such parameters, since each variable from outside is one: the size of a board, a bound.
 * The same holds for an array without elements that every call makes anew, as a recursion's accumulator of an adjoint
 * begins: the function makes it instead, and then knows its length. `dead_code` drops the parameters. */
#include "flow/opt/passes.h"

typedef enum Given { GIVEN_NOTHING, GIVEN_LITERAL, GIVEN_EMPTY, GIVEN_OTHERS } Given;

typedef struct Param {
    Given given;
    CtFlowArg literal;
} Param;

typedef struct Literals {
    Param **params; /* by number of a function, and position */
    const CtFlowFunction *function;
    const CtFlowFacts *facts; /* of each function */
    bool changed;
} Literals;

static bool is_same(const CtFlowArg *a, const CtFlowArg *b) {
    if (a->type->kind == FLOW_I64) return a->lit.integer == b->lit.integer;
    return memcmp(&a->lit.real, &b->lit.real, sizeof a->lit.real) == 0;
}

/* What is known of an argument so far: a literal, or a parameter's. An empty array that is handed on is none: each
 * function on its way would make one. */
static Param value_of(const Literals *l, const CtFlowArg *arg) {
    if (ct_flow_is_object(arg->type)) {
        const CtFlowStep *items = ct_flow_maker(&l->facts[l->function->id], arg, FLOW_ITEMS);
        return (Param){.given = items != NULL && items->args.count == 0 ? GIVEN_EMPTY : GIVEN_OTHERS};
    }
    if (arg->var == NULL) return (Param){GIVEN_LITERAL, *arg};
    const CtFlowVars *params = &l->function->params;
    for (uint32_t i = 0; i < params->count; i++)
        if (params->items[i] == arg->var) return l->params[l->function->id][i];
    return (Param){.given = GIVEN_OTHERS};
}

static void give(Literals *l, const CtFlowFunction *callee, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++) {
        Param value = value_of(l, &args->items[i]), *param = &l->params[callee->id][i];
        if (value.given == GIVEN_NOTHING || param->given == GIVEN_OTHERS) continue;
        if (param->given == GIVEN_LITERAL && value.given == GIVEN_LITERAL && is_same(&param->literal, &value.literal))
            continue;
        if (param->given == GIVEN_EMPTY && value.given == GIVEN_EMPTY) continue;
        if (param->given != GIVEN_NOTHING) value.given = GIVEN_OTHERS;
        *param = value;
        l->changed = true;
    }
}

static void look_at(Literals *l, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_CALL) give(l, step->as.function, &step->args);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) look_at(l, ct_flow_inner(step, j));
    }
    if (block->exit == EXIT_TAIL) give(l, block->tail, &block->values);
}

/* Makes an empty array in front of a function's body, in place of a parameter. */
static void make_empty(CtFlow *flow, CtFlowFunction *function, const CtFlowVar *param) {
    CtFlowBlock *body = function->body, old = *body;
    CtFlowStep *items = CT_NEW(flow->arena, CtFlowStep);
    CtFlowVar *none = ct_flow_fresh(flow, function, param->name, param->type);
    items->kind = FLOW_ITEMS;
    items->range = CT_NO_RANGE;
    ct_push(flow->arena, &items->results, none);
    ct_flow_substitute(body, param, flow_of(none));
    memset(&body->steps, 0, sizeof body->steps);
    ct_push(flow->arena, &body->steps, items);
    for (uint32_t i = 0; i < old.steps.count; i++) ct_push(flow->arena, &body->steps, old.steps.items[i]);
}

void ct_flow_literal_parameters(CtFlow *flow) {
    uint32_t count = flow->functions.count;
    const bool *fixed = ct_flow_fixed_functions(flow);
    CtFlowFacts *facts = CT_NEW_ARRAY(flow->arena, CtFlowFacts, count + 1);
    Literals l = {.params = CT_NEW_ARRAY(flow->arena, Param *, count + 1), .facts = facts, .changed = true};
    for (uint32_t i = 0; i < count; i++) {
        ct_flow_facts_begin(&facts[i], flow, flow->functions.items[i]);
        const CtFlowVars *params = &flow->functions.items[i]->params;
        l.params[i] = CT_NEW_ARRAY(flow->arena, Param, params->count + 1);
        for (uint32_t j = 0; j < params->count; j++)
            l.params[i][j].given = fixed[i] || flow->functions.items[i] == flow->entry ? GIVEN_OTHERS : GIVEN_NOTHING;
    }
    while (l.changed) {
        l.changed = false;
        for (uint32_t i = 0; i < count; i++) {
            l.function = flow->functions.items[i];
            look_at(&l, l.function->body);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        for (uint32_t j = 0; j < function->params.count; j++) {
            if (l.params[i][j].given == GIVEN_LITERAL && CT_FIRED("literal_parameters.literal"))
                ct_flow_substitute(function->body, function->params.items[j], l.params[i][j].literal);
            if (l.params[i][j].given == GIVEN_EMPTY && CT_FIRED("literal_parameters.empty"))
                make_empty(flow, function, function->params.items[j]);
        }
    }
}
