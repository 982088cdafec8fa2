/* The passes, in their order. */
#include "flow/passes.h"

typedef void Pass(CtFlow *flow);

/* Before derivatives: straight lines, and whole arrays left whole. */
static Pass *const before[] = {
    ct_flow_drop_dead, ct_flow_drop_members, ct_flow_inline, /* known functions, and what applies function values */
    ct_flow_simplify, /* closures that were in sight are calls of known functions now */
    ct_flow_inline,    ct_flow_simplify,     ct_flow_cse,    ct_flow_fuse_maps, ct_flow_hoist_simple, ct_flow_drop_dead,
};

static Pass *const after[] = {
    ct_flow_inline, ct_flow_simplify, ct_flow_inline,    ct_flow_simplify,
    ct_flow_cse,    ct_flow_fuse,     ct_flow_simplify,  ct_flow_cse, /* reads of one array in one loop */
    ct_flow_hoist,  ct_flow_cse,      ct_flow_drop_dead,
};

static void run(CtFlow *flow, Pass *const *passes, uint32_t count, bool lint) {
    for (uint32_t i = 0; i < count && flow->refused == NULL; i++) {
        passes[i](flow);
        if (lint) flow->refused = ct_flow_lint(flow);
    }
}

void ct_flow_prepare(CtFlow *flow, bool lint) { run(flow, before, sizeof before / sizeof *before, lint); }

void ct_flow_optimise(CtFlow *flow, bool lint) { run(flow, after, sizeof after / sizeof *after, lint); }
