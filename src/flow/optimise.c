/* The passes, in their order. */
#include "flow/passes.h"

typedef void Pass(CtFlow *flow);

static Pass *const passes[] = {
    ct_flow_inline,   /* known functions, and what applies function values */
    ct_flow_simplify, /* closures that were in sight are calls of known functions now */
    ct_flow_inline,   ct_flow_simplify, ct_flow_cse, ct_flow_drop_dead,
};

void ct_flow_optimise(CtFlow *flow, bool lint) {
    for (uint32_t i = 0; i < sizeof passes / sizeof *passes && flow->refused == NULL; i++) {
        passes[i](flow);
        if (lint) flow->refused = ct_flow_lint(flow);
    }
}
