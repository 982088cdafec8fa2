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

static uint32_t count_in_args(const CtFlowArgs *args, const CtFlowVar *var) {
    uint32_t uses = 0;
    for (uint32_t i = 0; i < args->count; i++) uses += args->items[i].var == var;
    return uses;
}

static uint32_t count_uses(const CtFlowBlock *block, const CtFlowVar *var) {
    uint32_t uses = count_in_args(&block->values, var);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        uses += count_in_args(&step->args, var);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) uses += count_uses(ct_flow_inner(step, j), var);
    }
    return uses;
}

/* The only branch, of a step behind this one, that uses the text; NULL if there is none. */
static CtFlowBlock *using_branch(const CtFlowBlock *block, uint32_t text, uint32_t uses) {
    for (uint32_t i = text + 1; uses > 0 && i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            if (count_uses(step->as.cases.branches[j].block, block->steps.items[text]->results.items[0]) == uses)
                return step->as.cases.branches[j].block;
    }
    return NULL;
}

static void move_texts(ColdPaths *m, CtFlowBlock *block, const uint32_t *uses) {
    CtFlowBlock kept = {0};
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        const CtFlowVar *text = step->kind == FLOW_STRING ? step->results.items[0] : NULL;
        CtFlowBlock *branch = text != NULL ? using_branch(block, i, uses[text->id]) : NULL;
        if (branch == NULL) {
            ct_push(m->flow->arena, &kept.steps, step);
            continue;
        }
        CtFlowBlock moved = {0};
        ct_push(m->flow->arena, &moved.steps, step);
        for (uint32_t j = 0; j < branch->steps.count; j++)
            ct_push(m->flow->arena, &moved.steps, branch->steps.items[j]);
        branch->steps = moved.steps;
        CT_FIRED("cold_paths.moved");
    }
    block->steps = kept.steps;
    for (uint32_t i = 0; i < block->steps.count; i++)
        for (uint32_t j = 0; j < ct_flow_inner_count(block->steps.items[i]); j++)
            move_texts(m, ct_flow_inner(block->steps.items[i], j), uses);
}

void ct_flow_cold_paths(CtFlow *flow) {
    for (uint32_t i = 0, count = flow->functions.count; i < count; i++) {
        ColdPaths m = {flow, flow->functions.items[i]};
        if (m.function->is_cold_path) continue;
        visit(&m, m.function->body);
        move_texts(&m, m.function->body, ct_flow_count_uses(flow, m.function));
    }
}
