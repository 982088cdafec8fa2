/* Private to the passes over Flow: what they share. A pass takes any sound program that has no retains and releases,
 * and leaves a sound one with the same values, bit for bit, and the same failures at the same places. */
#ifndef CT_FLOW_PASSES_H
#define CT_FLOW_PASSES_H

#include "flow/analysis/analysis.h"
#include "flow/copy.h"

/* Functions that nothing calls go; the others are numbered anew: call_sites.c. */
void ct_flow_drop_unreached(CtFlow *flow);

/* ---- constant_fold.c ---- */

/* What a primitive gives, where that is known now to the last bit. */
bool ct_flow_fold(const CtFlow *flow, const CtFlowStep *prim, CtFlowArg *value);
/* What a reduction of a whole array begins with, and what it does with each element; false where there is no such fold.
 */
bool ct_flow_reduction(const CtFlowStep *step, CtPrim *prim, CtFlowArg *first);

/* ---- the passes ---- */

/* The texts of failures are made by functions of their own. */
void ct_flow_cold_paths(CtFlow *flow);
/* What is given rows is given their arrays: row_parameters.c. */
void ct_flow_row_parameters(CtFlow *flow);
/* Recursion whose end literals decide becomes straight lines: specialise.c. */
void ct_flow_specialise(CtFlow *flow);
/* Recursion that counts becomes loops: recursion_to_loop.c. */
void ct_flow_recursion_to_loop(CtFlow *flow);
/* What would need memory for iterations without an end gets to where it fails: unbounded_loops.c. */
void ct_flow_unbounded_loops(CtFlow *flow);
/* Branches for function values that nothing makes go. */
void ct_flow_prune_lambda_sets(CtFlow *flow);
void ct_flow_inline(CtFlow *flow);
/* What left a function yields instead, in the blocks of a body that `function` has been given: results of these types.
 * `range` is that of the call. */
void ct_flow_yield_instead(CtFlow *flow, CtFlowFunction *function, CtFlowBlock *block, const CtFlowTypes *types,
                           CtSourceRange range);
void ct_flow_simplify(CtFlow *flow);
void ct_flow_unroll(CtFlow *flow);
void ct_flow_sparse_updates(CtFlow *flow);
void ct_flow_cse(CtFlow *flow);
/* Of a program whose derivatives are still to be taken; and of any. */
void ct_flow_hoist_simple(CtFlow *flow);
void ct_flow_hoist(CtFlow *flow);
/* Checks in loops that are the same at each iteration of a loop around these go in front of it: hoist_checks.c. */
void ct_flow_hoist_checks(CtFlow *flow);
/* Sums of products over two loops become products of matrices: matrix_products.c. */
void ct_flow_matrix_products(CtFlow *flow);
void ct_flow_copies(CtFlow *flow);
/* What a loop computes and a later one computes once more is kept: materialise.c. */
void ct_flow_materialise(CtFlow *flow);
/* Of loops that carry nothing; and of all, with reductions of whole arrays. */
void ct_flow_fuse_maps(CtFlow *flow);
void ct_flow_fuse(CtFlow *flow);
/* Products by what is no structural zero become ordinary ones, where mathematics may be fast; those with literals above
 * 0 always: scales.c. */
void ct_flow_scales(CtFlow *flow);

/* Dead-code elimination: dead.c. */
void ct_flow_dead_code(CtFlow *flow);
/* Inserts retains and releases into a program without any: reference_counts.c. */
void ct_flow_reference_counts(CtFlow *flow);
/* Lets MAKE reuse the memory of a node that was taken apart before it; runs after reference_counts: memory_reuse.c. */
void ct_flow_memory_reuse(CtFlow *flow);
/* Call-site attribution, and marks of recursion and of tail-call groups; numbers the sites: call_sites.c. */
void ct_flow_call_sites(CtFlow *flow);
/* Fault injection, for tests of the checks. After the pass that COTAN_TRIAL_FAULT names, every addition becomes a
 * subtraction; after the pass of unsound:NAME, functions lose their steps. See trial.c. */
void ct_flow_trial_fault(CtFlow *flow, const char *pass);

#endif
