/* What flow.def says of a step: the columns that are read as they stand, or with a look at the step. */
#include "flow/internal.h"

static const CtFlowStepInfo infos[] = {
#define OWN 0 /* of work; in the other columns it is part of a name */
#define FLOW_STEP(kind, name, fails, takes, makes, looks, again, moves, repeats, work, what)                           \
    {name,          FAILS_##fails, TAKES_##takes,     MAKES_##makes, LOOKS_##looks,                                    \
     AGAIN_##again, MOVES_##moves, REPEATS_##repeats, work},
#include "flow/flow.def"
#undef FLOW_STEP
#undef OWN
};

const CtFlowStepInfo *ct_flow_step_info(CtFlowStepKind kind) { return &infos[kind]; }
