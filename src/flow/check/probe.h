/* Probes of derivatives: for each function whose derivative a program takes, functions of Flow that give J v and Jᵀ w,
 * so that ⟨J v, w⟩ and ⟨v, Jᵀ w⟩ can be compared. They are added to a program whose derivatives are still to be taken,
 * and become what derive.c makes of any derivative. */
#ifndef CT_FLOW_PROBE_H
#define CT_FLOW_PROBE_H

#include "flow/flow.h"

typedef struct CtFlowProbe {
    const CtFlowFunction *function; /* (captured, point) → ⟨y⟩ */
    const CtFlowDerived *derived;
    uint32_t captured, params;       /* how many of these there are, and of all */
    const CtFlowFunction *forward;   /* (captured, point, v) → ⟨y⟩, J v */
    const CtFlowFunction *reverse;   /* (captured, point, w) → Jᵀ w */
    const CtFlowFunction *called[2]; /* what a run calls where it takes the derivative, with the function's own
                                        arguments first; NULL: nothing */
    const char *skipped;             /* why it has none; NULL */
} CtFlowProbe;

/* How many; *probes is in the program's arena. */
uint32_t ct_flow_probes(CtFlow *flow, CtFlowProbe **probes);
/* When derivatives have been taken: ->called. */
void ct_flow_probes_made(CtFlow *flow, CtFlowProbe *probes, uint32_t count);

#endif
