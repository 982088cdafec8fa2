/* Private to the passes over Flow: what they share. A pass takes any sound program that has no retains and releases,
 * and leaves a sound one with the same values, bit for bit, and the same failures at the same places. */
#ifndef CT_FLOW_PASSES_H
#define CT_FLOW_PASSES_H

#include "flow/copy.h"

/* ---- call_graph.c: who calls whom ---- */

/* Every call in a block and the blocks inside, constants included. `tail`: as the end of a function. */
typedef void CtFlowOnCall(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail);
void ct_flow_each_call(CtFlowBlock *block, CtFlowOnCall *on_call, void *data);
/* The functions of a function's rule, which derivatives call; how many there are. */
enum { CT_FLOW_RULE_FUNCTIONS = 5 };
uint32_t ct_flow_rule_functions(const CtFlowFunction *function, CtFlowFunction **functions);
/* Every step, a switch or loop before those inside. */
void ct_flow_each_step(CtFlowBlock *block, void (*on_step)(void *data, CtFlowStep *step), void *data);

typedef struct CtFlowCycles { /* strongly connected components of the graph of calls */
    uint32_t
        *component; /* of each function, by its number: from 1; what a function calls has a lower one, or its own */
    uint32_t count;
    bool *iterations; /* by component: a function of it reaches itself */
    bool *waits;      /* by component: and not only as the end of functions */
} CtFlowCycles;
CtFlowCycles ct_flow_cycles(CtFlow *flow, bool tails_only);

/* Functions that nothing calls go; the others are numbered anew: call_sites.c. */
void ct_flow_drop_unreached(CtFlow *flow);

/* ---- effects.c: what a step may do beside giving its results ---- */

typedef struct CtFlowEffects {
    bool *total; /* by functions' numbers: it does not fail, and ends */
} CtFlowEffects;
CtFlowEffects ct_flow_effects(CtFlow *flow);
bool ct_flow_is_total(const CtFlowEffects *effects, const CtFlowStep *step);
bool ct_flow_block_is_total(const CtFlowEffects *effects, const CtFlowBlock *block);
uint32_t ct_flow_size(const CtFlowBlock *block);
/* Whether a step takes its argument, so that it may be changed in place when nobody else holds it: reference_counts.c.
 */
bool ct_flow_takes(const CtFlowStep *step, uint32_t index);

/* ---- rename.c: renaming ---- */

/* What stands for each variable of a function now, by its number; without a type: the variable itself. */
typedef struct CtFlowValues {
    CtArena *arena;
    CtFlowArg *items;
    uint32_t count;
} CtFlowValues;
void ct_flow_values_clear(CtFlowValues *values, CtArena *arena);
CtFlowArg ct_flow_now(const CtFlowValues *values, CtFlowArg arg);
void ct_flow_stands(CtFlowValues *values, const CtFlowVar *var, CtFlowArg value);
/* Arguments with what stands for them: others in their place, since lists of arguments may be shared. */
void ct_flow_rename(const CtFlowValues *values, CtFlowArgs *args);
bool ct_flow_same(const CtFlowArg *a, const CtFlowArg *b);

/* The same of all steps in a block and inside. */
void ct_flow_rename_block(const CtFlowValues *values, CtFlowBlock *block);

/* ---- equivalent_steps.c ---- */

/* What a step is of, beside its arguments and blocks; of a step that is never like another, itself. */
uint64_t ct_flow_operation(const CtFlowStep *step);
/* Whether two steps do the same, failures included, with all that is inside of them. */
bool ct_flow_same_steps(CtArena *arena, const CtFlowStep *a, const CtFlowStep *b);

/* ---- lengths.c: what is known of variables ---- */

typedef struct CtFlowFact {
    CtFlowStep *maker; /* the step that binds it; NULL for parameters */
    CtFlowStep *loop;  /* it is a parameter of the loop's block: */
    uint32_t index;    /* which of the results, or of the parameters */
    uint32_t depth;    /* how many blocks it is inside of */
} CtFlowFact;

/* How many elements an array has in one dimension: a literal, a variable, or what has no other name. */
typedef struct CtFlowLength {
    CtFlowArg known;        /* type NULL: */
    const CtFlowVar *array; /* the length of this array */
    uint32_t dimension;
} CtFlowLength;

typedef struct CtFlowEqual {
    CtFlowLength is, also;
    int64_t least; /* what is certain of it */
    CtFlowArg low; /* or, where it has a type: low ≤ high + by */
    CtFlowLength high;
    int64_t by;
} CtFlowEqual;

typedef struct CtFlowFacts {
    const CtFlowFunction *function;
    CtArena *arena;
    const CtFlowType *integer;
    CtFlowFact *items; /* by the variables' numbers */
    uint32_t count;
    CT_VEC(CtFlowEqual) equals; /* what checks and conditions have told, where the walk is */
} CtFlowFacts;

/* Of a function; what was known of another is forgotten, its memory used again. */
void ct_flow_facts_begin(CtFlowFacts *facts, CtFlow *flow, const CtFlowFunction *function);
/* Of a block at some depth and all inside it. Steps are looked at when they are asked about, and may change. */
void ct_flow_facts_add(CtFlowFacts *facts, const CtFlowBlock *block, uint32_t depth);
void ct_flow_facts_step(CtFlowFacts *facts, CtFlowStep *step, uint32_t depth);
void ct_flow_fact_set(CtFlowFacts *facts, const CtFlowVar *var, CtFlowFact fact);
const CtFlowFact *ct_flow_fact(const CtFlowFacts *facts, const CtFlowArg *arg); /* of a literal: an empty one */

/* `some`: the dimensions outside of it are known to have elements; without that, inner lengths may be 0 instead. */
CtFlowLength ct_flow_length(const CtFlowFacts *facts, const CtFlowArg *array, uint32_t dimension, bool some);
/* A number of elements as a length. */
CtFlowLength ct_flow_length_of(const CtFlowFacts *facts, CtFlowArg count);
/* The same for those that are the same. */
uint64_t ct_flow_length_key(const CtFlowFacts *facts, CtFlowLength a);
bool ct_flow_same_length(const CtFlowFacts *facts, CtFlowLength a, CtFlowLength b);
/* Whether an array has so many elements in a dimension, as the program's own steps ask for that, or if it has any. */
bool ct_flow_is_long(const CtFlowFacts *facts, const CtFlowArg *array, uint32_t dimension, const CtFlowArg *count);
/* What a check of lengths looks at: an array, or a length itself; `some` as above. */
CtFlowLength ct_flow_checked_length(const CtFlowFacts *facts, const CtFlowArg *arg, uint32_t dimension, bool some);
/* A check of lengths or of an index has been passed; the caller takes what this adds to `equals` back. */
void ct_flow_learn(CtFlowFacts *facts, const CtFlowStep *check);

/* What a length is at least, of what checks have told. */
int64_t ct_flow_least(const CtFlowFacts *facts, CtFlowLength length);

/* ---- ranges.c: how large Ints are ---- */

/* A test is true or is not, where the walk is; the caller takes what this adds to `equals` back. */
void ct_flow_assume(CtFlowFacts *facts, const CtFlowArg *test, bool holds);
/* A iteration of a loop is made; as before. */
void ct_flow_assume_iteration(CtFlowFacts *facts, const CtFlowStep *loop);
/* Whether an Int is certainly not below 0. */
bool ct_flow_is_natural(const CtFlowFacts *facts, const CtFlowArg *arg);
/* What a comparison of Ints gives: 0 or 1; −1 where that is not known. */
int ct_flow_compare(const CtFlowFacts *facts, CtPrim prim, const CtFlowArg *a, const CtFlowArg *b);
/* Whether an index is certainly inside of a length. */
bool ct_flow_is_index(const CtFlowFacts *facts, const CtFlowArg *index, CtFlowLength length);
/* Whether the element of a read or an update, of which the first `indices` arguments behind the array say where it is,
 * is certainly there. */
bool ct_flow_is_inside(const CtFlowFacts *facts, const CtFlowStep *access, uint32_t indices);
/* The same of all that a step, and what is inside of it, looks at. Where that is not known, a check that has been
 * passed before the step may be why it is there: the step must stay behind it. */
bool ct_flow_stays_inside(CtFlowFacts *facts, const CtFlowStep *step);

/* ---- signs.c ---- */

/* Whether a real is certainly not −0.0. */
bool ct_flow_is_no_minus_zero(const CtFlowFacts *facts, const CtFlowArg *arg);

/* ---- uses.c: marks on variables ---- */

typedef struct CtFlowMarks {
    CtArena *arena;
    bool *items; /* by the variables' numbers */
    uint32_t count;
} CtFlowMarks;
void ct_flow_mark(CtFlowMarks *marks, const CtFlowVar *var, bool mark);
void ct_flow_mark_results(CtFlowMarks *marks, const CtFlowStep *step, bool mark);
/* Arrays and nodes that a step and the blocks inside use. */
void ct_flow_mark_objects(CtFlowMarks *marks, const CtFlowStep *step, bool mark);
/* Whether a step, or one in its blocks, uses what is marked. Arrays may be read at `index`, where that is not NULL. */
bool ct_flow_uses_marked(const CtFlowMarks *marks, const CtFlowStep *step, const CtFlowVar *index);
/* Whether it takes what is marked, or a block of it yields that. */
bool ct_flow_takes_marked(const CtFlowMarks *marks, const CtFlowStep *step);

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
 * `source range` is that of the call. */
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

#endif
