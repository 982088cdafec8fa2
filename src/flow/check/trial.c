/* A fault on trial: whether the checks of passes find it, and name the pass (tests/passes.py). */
#include <stdlib.h>

#include "flow/opt/passes.h"

/* At a place that the program comes to in each run, as far as that is easily told: the first function with one. */
static void spoil(void *data, CtFlowStep *step) {
    bool *done = data;
    if (*done || step->kind != FLOW_PRIM || step->as.prim != PRIM_ADD) return;
    step->as.prim = PRIM_SUB;
    *done = true;
}

void ct_flow_trial_fault(CtFlow *flow, const char *pass) {
    const char *named = getenv("COTAN_TRIAL_FAULT");
    bool done = false;
    if (named == NULL || strcmp(named, pass) != 0) return;
    for (uint32_t i = 0; i < flow->functions.count && !done; i++)
        ct_flow_each_step(flow->functions.items[i]->body, spoil, &done);
}
