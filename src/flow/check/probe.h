/* Probes of derivatives for the dot-product test. For each function whose derivative a program takes, two Flow
 * functions are added that compute J v and Jᵀ w, so that ⟨J v, w⟩ and ⟨v, Jᵀ w⟩ can be compared. They are added before
 * derivatives are taken, and go through derive.c like the program's own. */
#ifndef CT_FLOW_PROBE_H
#define CT_FLOW_PROBE_H

#include "flow/flow.h"

typedef struct CtFlowProbe {
    const CtFlowFunction *function; /* (captured, point) → ⟨y⟩ */
    const CtFlowDerived *derived;
    uint32_t captured, params;     /* number of captured parameters; of all parameters */
    const CtFlowFunction *forward; /* (captured, point, v) → ⟨y⟩, J v */
    const CtFlowFunction *reverse; /* (captured, point, w) → Jᵀ w */
    /* What a run calls where it takes this derivative, with the function's own arguments first. NULL: nothing. */
    const CtFlowFunction *called[2];
    const char *skipped; /* why there is no probe, or NULL */
} CtFlowProbe;

/* Adds the probes and returns their number; *probes lies in the program's arena. */
uint32_t ct_flow_probes(CtFlow *flow, CtFlowProbe **probes);
/* To be called when derivatives have been taken: sets ->called. */
void ct_flow_probes_made(CtFlow *flow, CtFlowProbe *probes, uint32_t count);

#endif
