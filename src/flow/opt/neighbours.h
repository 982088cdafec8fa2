/* Private to neighbours.c and fuse.c. */
#ifndef CT_FLOW_NEIGHBOURS_H
#define CT_FLOW_NEIGHBOURS_H

#include "flow/opt/passes.h"

typedef struct CtFlowNeighbours {
    CtFlowStep *first, *second; /* loops to stand for the two; NULL: the loop as it is */
} CtFlowNeighbours;

/* Whether the second loop, which reads what the first makes at the element before its own, can be fused with it once
 * both carry such elements. `is_carrying`: the first is a loop that this pass has fused. */
bool ct_flow_neighbours_meet(CtFlow *flow, CtFlowFunction *function, const CtFlowFacts *facts, bool is_carrying,
                             const CtFlowStep *first, const CtFlowStep *second, CtFlowNeighbours *meeting);

#endif
