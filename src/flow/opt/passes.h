/* Private to the passes over Flow: what they share. A pass takes any sound program that has no retains and releases,
 * and leaves a sound one with the same values, bit for bit, and the same failures at the same places. */
#ifndef CT_FLOW_PASSES_H
#define CT_FLOW_PASSES_H

#include "flow/analysis/analysis.h"
#include "flow/copy.h"
#include "flow/rename.h"

/* Functions that nothing calls go; the others are numbered anew: call_sites.c. */
void ct_flow_drop_unreached(CtFlow *flow);

/* ---- own_arrays.c ---- */

/* Where a walk through a function is: what is left of a block, and of those around. */
typedef struct CtFlowWay {
    const CtFlowBlock *block;
    const CtFlowValues *now; /* what stands for variables in what is left */
    uint32_t next, depth;    /* the next step of the block; the depth of its steps */
    const struct CtFlowWay *outer;
} CtFlowWay;
/* Whether nothing but the last step before `next` uses an array any more, and it was made on the way here, in as much
 * time as a copy takes. So it may be changed in place, at the cost of one copy at most. */
bool ct_flow_is_own(const CtFlowFacts *facts, const CtFlowWay *way, const CtFlowArg *array);

/* ---- copied_rows.c ---- */

/* Before retains are inserted: copies rows in the branches that update their array, where others leave it alone. */
void ct_flow_copied_rows_in_branches(CtFlow *flow);
/* Once they have been: which rows are copies. */
void ct_flow_copied_rows(CtFlow *flow);

/* ---- switch_of_one.c ---- */

/* The branch of a test whether there is one element that is right for one element, too: that for any other number; −1:
 * it may be another one. `depth`: of the block that has the switch. */
int ct_flow_case_for_all(const CtFlowFacts *facts, const CtFlowEffects *effects, const CtFlowStep *step,
                         uint32_t depth);

/* ---- switch_items.c and switch_fields.c ---- */

/* An update of a small array of known elements, at a known index, becomes an array of known elements. */
void ct_flow_update_of_items(const CtFlowFacts *facts, CtFlowStep *step);
/* Small arrays of known elements, one behind the other, become an array of known elements, and so does one with an
 * element behind it. `depth` is that of the step's block. False for other steps. */
bool ct_flow_join_items(const CtFlowFacts *facts, CtFlowStep *step, uint32_t depth);
/* A small matrix of known elements that is transposed becomes one of known elements: the new rows are made at the end
 * of the builder's block, in front of the step, which is of this block, at `depth`. Other steps stay. */
void ct_flow_transpose_items(CtFlowBuilder *b, CtFlowFacts *facts, CtFlowStep *step, uint32_t depth);
/* Before the branches of a switch yield more: blocks may share the memory of what they yield. */
void ct_flow_own_values(CtFlowBuilder *b, CtFlowStep *step);
/* Behind a switch at the end of the builder's block: small arrays that all its branches make. */
void ct_flow_items_behind(CtFlowBuilder *b, CtFlowFacts *facts, CtFlowStep *step, uint32_t depth);
/* Likewise the updates, at literal indices, of an array that its branches make of one array: they yield the elements.
 */
void ct_flow_updates_behind(CtFlowBuilder *b, CtFlowFacts *facts, const CtFlowWay *way, CtFlowStep *step);
/* The fields of a node that `open` opens, which a choice gives, of which this branch is known to have been taken;
 * `depth` is that of the builder's block, where they are wanted. NULL if they cannot be had there. */
const CtFlowArgs *ct_flow_fields_behind(CtFlowBuilder *b, CtFlowFacts *facts, const CtFlowStep *open,
                                        CtFlowStep *choice, uint32_t branch, uint32_t depth);

/* ---- carried_items.c ---- */

/* The known elements of an array; NULL if they are not known, or none. */
const CtFlowArgs *ct_flow_known_items(const CtFlowFacts *facts, const CtFlowArg *array);
/* Adds a loop to the builder's block, which has nothing else: arrays of at most so many known elements that it carries
 * are carried by their elements. */
void ct_flow_carry_items(CtFlowBuilder *b, CtFlowFacts *facts, CtFlowStep *loop, uint32_t most, uint32_t depth);

/* ---- constant_fold.c ---- */

/* Makes a division of Ints by a literal power of two a shift, and its remainder a choice of bits. */
void ct_flow_divide_by_bits(const CtFlowFacts *facts, CtFlowStep *step);
/* Makes a choice between 0 and a number the larger of both; false for other switches. */
bool ct_flow_choose_natural(const CtFlowFacts *facts, CtFlowStep *step);
/* Whether the other terms of a sum of Ints cancel, so that it is this literal or variable. If a variable and a literal
 * are left, the step becomes their sum. */
bool ct_flow_sum_of_ints(const CtFlowFacts *facts, CtFlowStep *step, CtFlowArg *value);
/* What a primitive gives, where that is known now to the last bit. */
bool ct_flow_fold(const CtFlowStep *prim, CtFlowArg *value);
/* What a reduction of a whole array begins with, and what it does with each element; false where there is no such fold.
 */
bool ct_flow_reduction(const CtFlowStep *step, CtPrim *prim, CtFlowArg *first);

/* ---- shorter_maps.c ---- */

/* Maps of which one shorter loop reads a part become as short as that loop. */
void ct_flow_shorter_maps(CtFlow *flow);

/* ---- read_elements.c ---- */

/* Maps of which a few elements are read become these elements. */
void ct_flow_read_elements(CtFlow *flow);

/* ---- row_classes.c ---- */

/* Arrays of rows that functions hand on become matrices, where all rows of each have one shape; whether there were any.
 */
bool ct_flow_flatten_classes(CtFlow *flow);

/* ---- both_sweeps.c ---- */

/* Fuses loops of forward sweeps with loops of their reverse sweeps; whether there were any. */
bool ct_flow_fuse_sweeps(CtFlow *flow);

/* The function that runs both sweeps of another; NULL where there is none. Made once. */
CtFlowFunction *ct_flow_both_sweeps(CtFlow *flow, CtFlowSweeps *sweeps);

/* ---- inline.c ---- */

/* What left a function yields instead, in the blocks of a body that `function` has been given: results of these types.
 * `range` is that of the call. */
void ct_flow_yield_instead(CtFlow *flow, CtFlowFunction *function, CtFlowBlock *block, const CtFlowTypes *types,
                           CtSourceRange range);

/* ---- recursion_to_loop.c ---- */

/* Whether the tail calls of a function by itself count up or down to a bound, so that it can be a loop. */
bool ct_flow_counts(CtFlow *flow, CtFlowFunction *function);

/* ---- extreme_folds.c ---- */

/* Folds of a function, outside of loops, that are the extreme of a whole vector: ct_flow_extremes. */
void ct_flow_extreme_folds(CtFlow *flow, CtFlowFunction *function, CtFlowFacts *facts);

/* ---- passes.c ---- */

/* Whether the program has steps that take derivatives: before `derive` has taken them. */
bool ct_flow_takes_derivatives(const CtFlow *flow);

/* ---- the passes ---- */

#define FLOW_PASS(name, needs, makes, breaks, tolerance, what) void ct_flow_##name(CtFlow *flow);
#include "flow/opt/passes.def"
#undef FLOW_PASS

/* Fault injection, for tests of the checks. After the pass that COTAN_TRIAL_FAULT names, every addition becomes a
 * subtraction; after the pass of unsound:NAME, functions lose their steps. See trial.c. */
void ct_flow_trial_fault(CtFlow *flow, const char *pass);

#endif
