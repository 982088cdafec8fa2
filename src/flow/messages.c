/* What makes the text of a failure becomes a function of its own, which stays one: most such texts are never made, and
 * where they are written out, they are longer than the code around them. So a function that can fail in words is still
 * small enough to be written into others, and all of these share the text. */
#include "flow/passes.h"

enum { SHORT = 3 }; /* steps that stay where they are */

typedef struct Messages {
    CtFlow *flow;
    CtFlowFunction *function;
} Messages;

/* ---- what a text is made of ---- */

typedef struct Text {
    CtFlow *flow;
    CtFlowClone copy; /* what has a value there is known in the new function */
    CtFlowMarks bound;
    CtFlowArgs captured;
} Text;

static void capture(Text *t, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++) {
        CtFlowVar *var = args->items[i].var;
        if (var == NULL || (var->id < t->bound.count && t->bound.items[var->id])) continue;
        ct_flow_mark(&t->bound, var, true);
        CtFlowVar *param = ct_flow_fresh(t->flow, t->copy.into, var->name, var->type);
        ct_push(t->flow->arena, &t->copy.into->params, param);
        ct_push(t->flow->arena, &t->captured, args->items[i]);
        ct_flow_stands(&t->copy.values, var, flow_of(param));
    }
}

static void capture_block(Text *t, const CtFlowBlock *block);

static void capture_step(Text *t, const CtFlowStep *step) {
    capture(t, &step->args);
    if (step->kind == FLOW_LOOP) capture_block(t, step->as.loop.block);
    for (uint32_t i = 0; step->kind == FLOW_SWITCH && i < step->as.cases.count; i++)
        capture_block(t, step->as.cases.branches[i].block);
    ct_flow_mark_results(&t->bound, step, true);
}

static void capture_block(Text *t, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->params.count; i++) ct_flow_mark(&t->bound, block->params.items[i], true);
    for (uint32_t i = 0; i < block->steps.count; i++) capture_step(t, block->steps.items[i]);
    capture(t, &block->values);
}

/* ---- the pass ---- */

static bool is_message(const CtFlowBlock *block) {
    const CtFlowStep *last = block->steps.count > 0 ? block->steps.items[block->steps.count - 1] : NULL;
    return last != NULL && last->kind == FLOW_FAIL && last->as.fail.text == NULL && last->args.items[0].var != NULL &&
           ct_flow_size(block) > SHORT && !ct_flow_leaves(block);
}

static void take_out(Messages *m, CtFlowBlock *block) {
    CtFlowStep *fail = block->steps.items[block->steps.count - 1];
    CtFlowFunction *function =
        ct_flow_function(m->flow, ct_format(m->flow->arena, "%s_message", m->function->name), fail->span);
    Text t = {.flow = m->flow,
              .copy = {.flow = m->flow, .into = function, .values = {.arena = m->flow->arena}, .place = CT_NO_SPAN},
              .bound = {.arena = m->flow->arena}};
    CtFlowBlock making = *block;
    making.steps.count--;
    making.exit = EXIT_RETURN;
    making.values = fail->args;
    capture_block(&t, &making);
    function->is_message = true;
    function->body = ct_flow_clone(&t.copy, &making);
    ct_flow_types_add(m->flow, &function->results, &(CtFlowTypes){&fail->args.items[0].type, 1});

    CtFlowStep *call = CT_NEW(m->flow->arena, CtFlowStep);
    *call = (CtFlowStep){.kind = FLOW_CALL, .span = fail->span, .args = t.captured, .as.function = function};
    CtFlowVar *text = ct_flow_fresh(m->flow, m->function, "text", fail->args.items[0].type);
    ct_push(m->flow->arena, &call->results, text);
    block->steps.count = 0;
    ct_push(m->flow->arena, &block->steps, call);
    ct_push(m->flow->arena, &block->steps, fail);
    fail->args = (CtFlowArgs){0};
    ct_push(m->flow->arena, &fail->args, flow_of(text));
}

static void visit(Messages *m, CtFlowBlock *block) {
    if (is_message(block)) {
        take_out(m, block);
        return;
    }
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_LOOP) visit(m, step->as.loop.block);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            visit(m, step->as.cases.branches[j].block);
    }
}

void ct_flow_take_messages(CtFlow *flow) {
    for (uint32_t i = 0, count = flow->functions.count; i < count; i++) {
        Messages m = {flow, flow->functions.items[i]};
        if (!m.function->is_message) visit(&m, m.function->body);
    }
}
