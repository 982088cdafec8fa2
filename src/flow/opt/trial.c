/* Fault injection: tests whether the checks of passes find a fault and name the pass (tests/passes.py). */
#include <stdlib.h>

#include "flow/opt/passes.h"

static void spoil(void *data, CtFlowStep *step) {
    (void)data;
    if (ct_flow_is_prim(step, PRIM_ADD)) step->as.prim = PRIM_SUB;
}

void ct_flow_trial_fault(CtFlow *flow, const char *pass) {
    static const char unsound[] = "unsound:";
    const char *named = getenv("COTAN_TRIAL_FAULT");
    bool drops = named != NULL && strncmp(named, unsound, sizeof unsound - 1) == 0;
    if (drops) named += sizeof unsound - 1;
    if (named == NULL || strcmp(named, pass) != 0) return;
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowBlock *body = flow->functions.items[i]->body;
        if (drops)
            body->steps.count = 0;
        else
            ct_flow_each_step(body, spoil, NULL);
    }
}
