/* Cold-path outlining. Code that makes the message of a failure becomes a function of its own, which is never inlined.
 * Most messages are never made, and their code is larger than the code around it. So functions that can fail with a
 * message stay small enough to be inlined, and their copies share the message code. A literal text that only one branch
 * uses, such as the name of an operation that fails there, is made in this branch: each is a list with cells. */
#include "flow/copy.h"
#include "flow/opt/passes.h"

enum { SHORT = 3 }; /* steps besides lengths: shorter code is not outlined */

typedef struct ColdPaths {
    CtFlow *flow;
    CtFlowFunction *function;
} ColdPaths;

typedef struct Text {
    CtFlowCopy copy;
    CtFlowArgs captured; /* parameters of the new function */
} Text;

static CtFlowArg capture(void *data, CtFlowVar *var) {
    Text *t = data;
    CtFlowVar *param = ct_flow_copy_var(&t->copy, var);
    ct_push(t->copy.flow->arena, &t->copy.into->params, param);
    ct_push(t->copy.flow->arena, &t->captured, flow_of(var));
    return flow_of(param);
}

static bool is_cold_path(const CtFlowBlock *block) {
    const CtFlowStep *last = block->steps.count > 0 ? block->steps.items[block->steps.count - 1] : NULL;
    uint32_t lengths = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) lengths += block->steps.items[i]->kind == FLOW_DIM;
    return last != NULL && last->kind == FLOW_FAIL && last->as.fail.text == NULL && last->args.items[0].var != NULL &&
           ct_flow_size(block) > SHORT + lengths && !ct_flow_leaves(block);
}

/* Takes the steps out of a block that ask for lengths of arrays from outside. */
static void take_lengths(ColdPaths *m, CtFlowBlock *block, CtFlowBlock *lengths) {
    CtArena *arena = m->flow->arena;
    CtFlowBlock rest = {0};
    CtFlowMarks made = {.arena = arena};
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        const CtFlowVar *array = step->kind == FLOW_DIM ? step->args.items[0].var : NULL;
        bool outside = array != NULL && (array->id >= made.count || !made.items[array->id]);
        ct_flow_mark_results(&made, step, true);
        if (outside && CT_FIRED("cold_paths.length"))
            ct_push(arena, &lengths->steps, step);
        else
            ct_push(arena, &rest.steps, step);
    }
    block->steps = rest.steps;
}

/* The function is given lengths rather than the arrays, which then need not be made. */
static void take_out(ColdPaths *m, CtFlowBlock *block) {
    CtFlowBlock lengths = {0};
    take_lengths(m, block, &lengths);
    CtFlowStep *fail = block->steps.items[block->steps.count - 1];
    CtFlowFunction *function =
        ct_flow_function(m->flow, ct_format(m->flow->arena, "%s_message", m->function->name), fail->range);
    Text t = {.copy = {.flow = m->flow, .into = function, .outer = capture, .place = CT_NO_RANGE}};
    t.copy.data = &t;
    CtFlowBlock making = *block;
    making.params.count = 0; /* parameters of a loop are captured like other variables */
    making.steps.count--;
    making.exit = EXIT_RETURN;
    making.values = fail->args;
    function->is_cold_path = true;
    function->body = ct_flow_copy_block(&t.copy, &making);
    ct_flow_types_add(m->flow, &function->results, &(CtFlowTypes){&fail->args.items[0].type, 1});

    CtFlowStep *call = CT_NEW(m->flow->arena, CtFlowStep);
    *call = (CtFlowStep){.kind = FLOW_CALL, .range = fail->range, .args = t.captured, .as.function = function};
    CtFlowVar *text = ct_flow_fresh(m->flow, m->function, "text", fail->args.items[0].type);
    ct_push(m->flow->arena, &call->results, text);
    block->steps = lengths.steps;
    ct_push(m->flow->arena, &block->steps, call);
    ct_push(m->flow->arena, &block->steps, fail);
    fail->args = (CtFlowArgs){0};
    ct_push(m->flow->arena, &fail->args, flow_of(text));
}

static void visit(ColdPaths *m, CtFlowBlock *block) {
    if (is_cold_path(block) && CT_FIRED("cold_paths.text")) {
        take_out(m, block);
        return;
    }
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(m, ct_flow_inner(step, j));
    }
}

/* ---- texts ---- */

typedef struct Texts { /* the arrays: by the number of the variable */
    CtArena *arena;
    const uint32_t *uses;
    bool *here;             /* the texts that the present block makes, */
    uint32_t *in_branch;    /* how often the present branch uses each, */
    CtFlowBlock **only;     /* and the only branch that uses it, if there is one */
    CT_VEC(uint32_t) found; /* the texts that the present branch uses */
} Texts;

static void find_in_args(Texts *t, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++) {
        const CtFlowVar *var = args->items[i].var;
        if (var != NULL && t->here[var->id] && t->in_branch[var->id]++ == 0) ct_push(t->arena, &t->found, var->id);
    }
}

static void find_texts(Texts *t, const CtFlowBlock *block) {
    find_in_args(t, &block->values);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        find_in_args(t, &step->args);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) find_texts(t, ct_flow_inner(step, j));
    }
}

static void find_in_branch(Texts *t, CtFlowBlock *branch) {
    t->found.count = 0;
    find_texts(t, branch);
    for (uint32_t i = 0; i < t->found.count; i++) {
        uint32_t id = t->found.items[i];
        if (t->in_branch[id] == t->uses[id]) t->only[id] = branch;
        t->in_branch[id] = 0;
    }
}

/* Finds the texts that only one branch of a switch in their block uses; whether there are any. */
static bool find_branches(Texts *t, const CtFlowBlock *block) {
    bool any = false;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_STRING) any = t->here[step->results.items[0]->id] = true;
        for (uint32_t j = 0; any && step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            find_in_branch(t, step->as.cases.branches[j].block);
    }
    return any;
}

/* Puts steps in front of a block, the last one first. */
static void put_in_front(CtArena *arena, CtFlowBlock *block, const CtFlowBlock *front) {
    CtFlowBlock all = {0};
    for (uint32_t i = front->steps.count; i-- > 0;) ct_push(arena, &all.steps, front->steps.items[i]);
    for (uint32_t i = 0; i < block->steps.count; i++) ct_push(arena, &all.steps, block->steps.items[i]);
    block->steps = all.steps;
}

static void move_found(Texts *t, CtFlowBlock *block) {
    CtFlowBlock kept = {0};
    CtMap moved = {0}; /* branch -> a block of its new steps */
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        uint32_t id = step->kind == FLOW_STRING ? step->results.items[0]->id : 0;
        CtFlowBlock *branch = step->kind == FLOW_STRING ? t->only[id] : NULL;
        if (step->kind == FLOW_STRING) t->here[id] = false;
        if (branch == NULL) {
            ct_push(t->arena, &kept.steps, step);
            continue;
        }
        t->only[id] = NULL;
        CtFlowBlock *front = ct_map_get(&moved, ct_key(branch));
        if (front == NULL) ct_map_set(t->arena, &moved, ct_key(branch), front = CT_NEW(t->arena, CtFlowBlock));
        ct_push(t->arena, &front->steps, step);
        CT_FIRED("cold_paths.moved");
    }
    block->steps = kept.steps;
    for (uint32_t i = 0; i < moved.count; i++)
        put_in_front(t->arena, (CtFlowBlock *)(uintptr_t)moved.entries[i].key, moved.entries[i].value);
}

static void move_texts(Texts *t, CtFlowBlock *block) {
    if (find_branches(t, block)) move_found(t, block);
    for (uint32_t i = 0; i < block->steps.count; i++)
        for (uint32_t j = 0; j < ct_flow_inner_count(block->steps.items[i]); j++)
            move_texts(t, ct_flow_inner(block->steps.items[i], j));
}

void ct_flow_cold_paths(CtFlow *flow) {
    for (uint32_t i = 0, count = flow->functions.count; i < count; i++) {
        ColdPaths m = {flow, flow->functions.items[i]};
        if (m.function->is_cold_path) continue;
        visit(&m, m.function->body);
        uint32_t vars = m.function->vars + 1;
        Texts t = {.arena = flow->arena, .uses = ct_flow_count_uses(flow, m.function)};
        t.here = CT_NEW_ARRAY(flow->arena, bool, vars);
        t.in_branch = CT_NEW_ARRAY(flow->arena, uint32_t, vars);
        t.only = CT_NEW_ARRAY(flow->arena, CtFlowBlock *, vars);
        move_texts(&t, m.function->body);
    }
}
