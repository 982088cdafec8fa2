/* Updates of arrays, as late as possible in a function that is differentiated. The reverse sweep goes backward: so the
 * adjoint that an update hands on, a whole array, comes before what reads add to elements of the same adjoint, and
 * these are added in place. The other way round they would be added to an array of zeros, at a cost of its size. */
#include "flow/ad/reverse.h"
#include "flow/analysis/analysis.h"

enum { FAR = 1000 }; /* steps that are looked at behind an update */

static void move(CtFlowBlock *block, uint32_t from, uint32_t to) {
    CtFlowStep *step = block->steps.items[from];
    for (; from < to; from++) block->steps.items[from] = block->steps.items[from + 1];
    block->steps.items[to] = step;
}

static bool may_fail(const CtFlowStep *step) {
    bool calls = step->kind == FLOW_CALL || step->kind == FLOW_VJP || step->kind == FLOW_PULL || step->kind == FLOW_JVP;
    if (calls || ct_flow_step_fails(step)) return true;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) {
        const CtFlowBlock *block = ct_flow_inner(step, i);
        for (uint32_t j = 0; j < block->steps.count; j++)
            if (may_fail(block->steps.items[j])) return true;
    }
    return false;
}

/* Whether an update may move behind a step: one whose row may have another shape than the others does not pass what may
 * fail, too. */
static bool may_pass(const CtFlowStep *update, const CtFlowStep *step) {
    return !ct_flow_step_fails(update) || !may_fail(step);
}

static void delay(CtFlowMarks *marks, CtFlowBlock *block) {
    /* a last step at which the function ends stays last */
    uint32_t end = block->steps.count - (block->exit == EXIT_NEVER);
    for (uint32_t i = block->steps.count; i-- > 0;) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) delay(marks, ct_flow_inner(step, j));
        if (step->kind != FLOW_UPDATE) continue;
        uint32_t to = i;
        ct_flow_mark_results(marks, step, true);
        while (to + 1 < end && to < i + FAR && may_pass(step, block->steps.items[to + 1]) &&
               !ct_flow_uses_marked(marks, block->steps.items[to + 1], NULL))
            to++;
        ct_flow_mark_results(marks, step, false);
        if (to > i && CT_FIRED("reverse.late_update")) move(block, i, to);
    }
}

void ct_flow_reverse_late_updates(CtFlow *flow, CtFlowFunction *function) {
    CtFlowMarks marks = {.arena = flow->arena};
    delay(&marks, function->body);
}
