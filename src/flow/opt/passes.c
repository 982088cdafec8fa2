/* The passes, in their order. */
#include "flow/opt/passes.h"

typedef void Pass(CtFlow *flow);

/* Before derivatives are taken: straight lines, and whole arrays left whole. */
static Pass *const before[] = {
    ct_flow_cold_paths,        /* so that what can fail is small */
    ct_flow_drop_dead,         /* so that what is counted below is needed */
    ct_flow_prune_lambda_sets, /* function values that are never made */
    ct_flow_inline,            /* known functions, and what applies function values */
    ct_flow_simplify,          /* closures that were in sight are calls of known functions now */
    ct_flow_specialise,        /* recursion whose end is known now */
    ct_flow_row_parameters,    /* instead of rows */
    ct_flow_recursion_to_loop, /* recursion that counts: loops, for what follows and for derivatives */
    ct_flow_inline,            /* which are written in */
    ct_flow_simplify,          /* constants, known branches, checks that cannot fail */
    ct_flow_cse,               /* what has been done */
    ct_flow_fuse_maps,         /* maps of maps */
    ct_flow_hoist_simple,      /* scalars that do not change */
    ct_flow_matrix_products,   /* matrices multiplied element by element, as a whole */
    ct_flow_copies,            /* loops that have become reads of these */
    ct_flow_drop_dead,         /* what all this has left */
};

/* Behind them, or in a program that takes none. */
static Pass *const after[] = {
    ct_flow_cold_paths,      /* of what derivatives have made, or as above */
    ct_flow_inline,          /* forward and reverse sweeps too */
    ct_flow_simplify,        /* residuals in sight are opened */
    ct_flow_specialise,      /* recursion whose end is known now, in a program that takes no derivatives */
    ct_flow_inline,          /* calls that have come into sight */
    ct_flow_simplify,        /* and what they know */
    ct_flow_unroll,          /* loops of a few iterations */
    ct_flow_simplify,        /* whose arrays are in sight */
    ct_flow_sparse_updates,  /* maps of arrays of which few elements are known apart */
    ct_flow_cse,             /* what both sweeps do */
    ct_flow_fuse,            /* all loops, and reductions of whole arrays */
    ct_flow_simplify,        /* rows that nobody looks at any more */
    ct_flow_cse,             /* reads of one array in one loop */
    ct_flow_hoist,           /* what does not change, asked for once */
    ct_flow_hoist_checks,    /* checks that are the same, out of loops within */
    ct_flow_cse,             /* questions that are the same */
    ct_flow_copies,          /* loops that had checks */
    ct_flow_drop_dead,       /* arrays that nobody reads */
    ct_flow_fuse,            /* loops that cannot fail now */
    ct_flow_simplify,        /* and what they know */
    ct_flow_hoist,           /* questions of reductions that are loops now */
    ct_flow_plain_scales,    /* products that need not heed structural zeros */
    ct_flow_cse,             /* what they both did */
    ct_flow_materialise,     /* what loops that stay two both do, where it costs more than memory */
    ct_flow_drop_dead,       /* what one does for both */
    ct_flow_unbounded_loops, /* now that it is known which loops make arrays */
};

static void run(CtFlow *flow, Pass *const *passes, uint32_t count, bool lint) {
    for (uint32_t i = 0; i < count && flow->refused == NULL; i++) {
        passes[i](flow);
        if (lint) flow->refused = ct_flow_lint(flow);
    }
}

void ct_flow_prepare(CtFlow *flow, bool lint) { run(flow, before, sizeof before / sizeof *before, lint); }

void ct_flow_optimise(CtFlow *flow, bool lint) { run(flow, after, sizeof after / sizeof *after, lint); }
