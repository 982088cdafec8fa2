/* Reduces lambda sets: a branch of an `apply` function is dropped if its closure is never made in reachable code.
 *
 * This matters for pullbacks. Each is a function value of some type, but mostly it is called where it is known, so that
 * no closure is made. A branch for it in `apply` would make every function that applies such a value a caller of this
 * pullback, and the derivative of such a function a caller of itself. */
#include "flow/opt/passes.h"

typedef struct LambdaSets {
    CtFlow *flow;
    CtMap made;    /* CtFlowData * -> bool *, by constructor: a node of it is made */
    CtMap reached; /* reachable functions, in the order of discovery */
    bool changed;
} LambdaSets;

static bool is_function(const CtFlowArg *arg) {
    return arg->type->kind == FLOW_NODE && arg->type->data->type != NULL && arg->type->data->type->kind == TYPE_FUN;
}

static bool *made_of(LambdaSets *m, const CtFlowData *data) {
    bool *made = ct_map_get(&m->made, ct_key(data));
    if (made != NULL) return made;
    made = CT_NEW_ARRAY(m->flow->arena, bool, data->count + 1);
    ct_map_set(m->flow->arena, &m->made, ct_key(data), made);
    return made;
}

static bool is_made(LambdaSets *m, const CtFlowStep *step, uint32_t branch) {
    const CtFlowBranch *b = &step->as.cases.branches[branch];
    return b->tag == FLOW_OTHERS || !is_function(&step->args.items[0]) ||
           made_of(m, step->args.items[0].type->data)[b->tag];
}

static void reach(LambdaSets *m, const CtFlowFunction *function) {
    CtFlowFunction *more[CT_FLOW_RULE_FUNCTIONS];
    if (ct_map_has(&m->reached, ct_key(function))) return;
    ct_map_set(m->flow->arena, &m->reached, ct_key(function), (void *)function);
    for (uint32_t i = ct_flow_rule_functions(function, more); i-- > 0;) reach(m, more[i]);
}

static void look(LambdaSets *m, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_CALL) reach(m, step->as.function);
        if (step->kind == FLOW_CONSTANT) reach(m, step->as.constant->function);
        if (ct_flow_is_derivative(step)) reach(m, step->as.derived->function);
        if (step->kind == FLOW_MAKE) {
            bool *made = &made_of(m, step->as.con.data)[step->as.con.tag];
            m->changed |= !*made;
            *made = true;
        }
        if (step->kind == FLOW_LOOP) look(m, step->as.loop.block);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            if (is_made(m, step, j)) look(m, step->as.cases.branches[j].block);
    }
    if (block->exit == EXIT_TAIL) reach(m, block->tail);
}

/* Iterates to a fixed point: a node made in a branch that is not reachable does not count. */
static void look_until_settled(LambdaSets *m) {
    do {
        m->changed = false;
        m->reached = (CtMap){0};
        reach(m, m->flow->entry);
        for (uint32_t i = 0; i < m->reached.count; i++)
            look(m, ((const CtFlowFunction *)m->reached.entries[i].value)->body);
    } while (m->changed);
}

static void drop_branches(void *data, CtFlowStep *step) {
    LambdaSets *m = data;
    uint32_t kept = 0;
    for (uint32_t i = 0; step->kind == FLOW_SWITCH && i < step->as.cases.count; i++)
        if (is_made(m, step, i))
            step->as.cases.branches[kept++] = step->as.cases.branches[i];
        else
            CT_FIRED("lambda_sets.branch");
    if (step->kind == FLOW_SWITCH) step->as.cases.count = kept;
}

void ct_flow_prune_lambda_sets(CtFlow *flow) {
    LambdaSets m = {.flow = flow};
    look_until_settled(&m);
    for (uint32_t i = 0; i < m.reached.count; i++)
        ct_flow_each_step(((CtFlowFunction *)m.reached.entries[i].value)->body, drop_branches, &m);
    ct_flow_drop_unreached(flow);
}
