/* The passes, in their order. */
#include "flow/opt/passes.h"

typedef struct Row {
    void (*run)(CtFlow *flow);
    const char *name;
    double fast; /* where mathematics may be fast, how far its results may be from those before; 0: not a bit */
} Row;

static const Row rows[] = {
    /* before derivatives are taken: straight lines, and whole arrays left whole */
    {ct_flow_cold_paths, "messages", 0},            /* so that what can fail is small */
    {ct_flow_drop_dead, "drop_dead", 0},            /* so that what is counted below is needed */
    {ct_flow_prune_lambda_sets, "drop_members", 0}, /* function values that are never made */
    {ct_flow_inline, "inline", 0},                  /* known functions, and what applies function values */
    {ct_flow_simplify, "simplify", 0},              /* closures that were in sight are calls of known functions now */
    {ct_flow_specialise, "unfold", 0},              /* recursion whose end is known now */
    {ct_flow_row_parameters, "give_arrays", 0},     /* instead of rows */
    {ct_flow_recursion_to_loop, "count_turns",
     0},                                       /* recursion that counts: loops, for what follows and for derivatives */
    {ct_flow_inline, "inline", 0},             /* which are written in */
    {ct_flow_simplify, "simplify", 0},         /* constants, known branches, checks that cannot fail */
    {ct_flow_cse, "cse", 0},                   /* what has been done */
    {ct_flow_fuse_maps, "fuse_maps", 0},       /* maps of maps */
    {ct_flow_hoist_simple, "hoist_simple", 0}, /* scalars that do not change */
    {ct_flow_matrix_products, "products", 0},  /* matrices multiplied element by element, as a whole */
    {ct_flow_copies, "copies", 0},             /* loops that have become reads of these */
    {ct_flow_drop_dead, "drop_dead", 0},       /* what all this has left */
    {ct_flow_derive, "derive", 0},             /* derivatives become calls of what they are */
    /* behind them, or in a program that takes none */
    {ct_flow_cold_paths, "messages", 0}, /* of what derivatives have made, or as above */
    {ct_flow_inline, "inline", 0},       /* forward and reverse sweeps too */
    {ct_flow_simplify, "simplify", 0},   /* residuals in sight are opened */
    {ct_flow_specialise, "unfold", 0},   /* recursion whose end is known now, in a program that takes no derivatives */
    {ct_flow_inline, "inline", 0},       /* calls that have come into sight */
    {ct_flow_simplify, "simplify", 0},   /* and what they know */
    {ct_flow_unroll, "unroll", 0},       /* loops of a few iterations */
    {ct_flow_simplify, "simplify", 0},   /* whose arrays are in sight */
    {ct_flow_sparse_updates, "split_patched", 0}, /* maps of arrays of which few elements are known apart */
    {ct_flow_cse, "cse", 0},                      /* what both sweeps do */
    {ct_flow_fuse, "fuse", 0},                    /* all loops, and reductions of whole arrays */
    {ct_flow_simplify, "simplify", 0},            /* rows that nobody looks at any more */
    {ct_flow_cse, "cse", 0},                      /* reads of one array in one loop */
    {ct_flow_hoist, "hoist", 0},                  /* what does not change, asked for once */
    {ct_flow_hoist_checks, "split_checks", 0},    /* checks that are the same, out of loops within */
    {ct_flow_cse, "cse", 0},                      /* questions that are the same */
    {ct_flow_copies, "copies", 0},                /* loops that had checks */
    {ct_flow_drop_dead, "drop_dead", 0},          /* arrays that nobody reads */
    {ct_flow_fuse, "fuse", 0},                    /* loops that cannot fail now */
    {ct_flow_simplify, "simplify", 0},            /* and what they know */
    {ct_flow_hoist, "hoist", 0},                  /* questions of reductions that are loops now */
    {ct_flow_plain_scales, "plain_scales", 1e-9}, /* products that need not heed structural zeros */
    {ct_flow_cse, "cse", 0},                      /* what they both did */
    {ct_flow_materialise, "keep", 0},            /* what loops that stay two both do, where it costs more than memory */
    {ct_flow_drop_dead, "drop_dead", 0},         /* what one does for both */
    {ct_flow_unbounded_loops, "bound_turns", 0}, /* now that it is known which loops make arrays */
    /* what only emitted code needs */
    {ct_flow_call_sites, "places", 0},        /* where failures of the library are told; which functions recurse */
    {ct_flow_reference_counts, "count", 0},   /* retains and releases */
    {ct_flow_reuse_memory, "reuse_cells", 0}, /* nodes in the cells of others */
};

enum { COUNT = sizeof rows / sizeof *rows };

uint32_t ct_flow_pass_count(void) { return COUNT; }

static uint32_t pass_of(void (*run)(CtFlow *flow)) {
    uint32_t index = 0;
    while (index < COUNT && rows[index].run != run) index++;
    return index;
}

CtFlowPass ct_flow_pass(uint32_t index) {
    return (CtFlowPass){.name = rows[index].name,
                        .fast = rows[index].fast,
                        .prepares = index < pass_of(ct_flow_derive),
                        .counted = index >= pass_of(ct_flow_reference_counts)};
}

static void takes_one(void *data, CtFlowStep *step) {
    if (ct_flow_is_derivative(step)) *(bool *)data = true;
}

static bool takes_derivatives(const CtFlow *flow) {
    bool some = false;
    for (uint32_t i = 0; i < flow->functions.count; i++)
        ct_flow_each_step(flow->functions.items[i]->body, takes_one, &some);
    return some;
}

void ct_flow_pass_all(CtFlow *flow, uint32_t count, bool lint) {
    const char *wrong = lint && flow->refused == NULL ? ct_flow_lint(flow) : NULL;
    if (wrong != NULL) flow->wrong = ct_format(flow->arena, "lowering leaves no sound program: %s", wrong);
    for (uint32_t i = 0; i < COUNT && flow->refused == NULL && flow->wrong == NULL; i++) {
        bool derives = rows[i].run == ct_flow_derive;
        if (i >= count && !derives) continue;
        if (derives) flow->takes_derivatives = takes_derivatives(flow);
        rows[i].run(flow);
        if (!lint || flow->refused != NULL) continue;
        ct_flow_trial_fault(flow, rows[i].name);
        wrong = ct_flow_lint(flow);
        if (wrong != NULL)
            flow->wrong = ct_format(flow->arena, "the pass `%s` leaves no sound program: %s", rows[i].name, wrong);
    }
}
