/* How many steps of each kind programs have when they are written as C, and how many of these are in loops. It is
 * counted with the rules (base/rules.h): a rewrite that no longer happens, a step that is no longer hoisted, and a
 * reference that is counted once more give the same results, and are seen here. */
#include "flow/analysis/analysis.h"

#include "base/rules.h"

static CtRule kinds[] = {
#define FLOW_STEP(kind, step_name, ...) {.name = "steps." step_name},
#include "flow/flow.def"
#undef FLOW_STEP
};
static CtRule in_loops = {.name = "steps.in_loops"};

static void count_steps(const CtFlowBlock *block, bool in_loop) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        ct_rule_fired(&kinds[step->kind]);
        ct_rule_counted(&in_loops, in_loop);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            count_steps(ct_flow_inner(step, j), in_loop || step->kind == FLOW_LOOP);
    }
}

void ct_flow_count_steps(const CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count; i++) count_steps(flow->functions.items[i]->body, false);
}
