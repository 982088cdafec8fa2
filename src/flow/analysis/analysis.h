/* What is known of a program in Flow before it is changed: who calls whom, what steps may do, lengths, ranges, signs,
 * uses. Nothing here changes a step. */
#ifndef CT_FLOW_ANALYSIS_H
#define CT_FLOW_ANALYSIS_H

#include "flow/build.h"
#include "flow/rename.h"

/* ---- call_graph.c: who calls whom ---- */

/* Every call in a block and the blocks inside, constants included. `tail`: as the end of a function. */
typedef void CtFlowOnCall(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail);
void ct_flow_each_call(CtFlowBlock *block, CtFlowOnCall *on_call, void *data);
/* The functions of a function's rule, which derivatives call; how many there are. */
enum { CT_FLOW_RULE_FUNCTIONS = 5 };
uint32_t ct_flow_rule_functions(const CtFlowFunction *function, CtFlowFunction **functions);
/* By functions' numbers: whether a function keeps its parameters and results, because it is also called from outside of
 * Flow, or by derivatives that are still to be taken. */
bool *ct_flow_fixed_functions(CtFlow *flow);
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

/* ---- effects.c: what a step may do beside giving its results ---- */

typedef struct CtFlowEffects {
    bool *total; /* by functions' numbers: it does not fail, and ends */
} CtFlowEffects;
CtFlowEffects ct_flow_effects(CtFlow *flow);
bool ct_flow_is_total(const CtFlowEffects *effects, const CtFlowStep *step);
bool ct_flow_block_is_total(const CtFlowEffects *effects, const CtFlowBlock *block);
uint32_t ct_flow_size(const CtFlowBlock *block);
/* How deep blocks nest in a block: 0 when none is in it. */
uint32_t ct_flow_depth(const CtFlowBlock *block);
/* Whether the function is left from within a block. */
bool ct_flow_leaves(const CtFlowBlock *block);
/* The switch behind which control does not come, at the end of a block; NULL if there is none. */
const CtFlowStep *ct_flow_last_switch(const CtFlowBlock *block);

/* ---- step_counts.c ---- */

/* Adds a program to the counts of the process, for tests. */
void ct_flow_count_steps(const CtFlow *flow);

/* ---- messages.c: what tells messages (Debug.Trace) ---- */

/* By functions' numbers: whether a call of the function may tell a message. NULL: the program tells none. */
const bool *ct_flow_telling(CtFlow *flow);
/* Whether a step, what is in its blocks or what it calls may tell a message. Such a step stays where it is, is not
 * replaced by an equal one, and runs as often as the program says; that it is not total (effects.c) keeps its order. */
bool ct_flow_tells(const bool *telling, const CtFlowStep *step);
/* Whether the step itself does. */
bool ct_flow_is_message(const CtFlowStep *step);

/* ---- equivalent_steps.c ---- */

/* What a step is of, beside its arguments and blocks; of a step that is never like another, itself. */
uint64_t ct_flow_operation(const CtFlowStep *step);
/* Whether two steps do the same, failures included, with all that is inside of them. */
bool ct_flow_same_steps(CtArena *arena, const CtFlowStep *a, const CtFlowStep *b);

/* ---- lists.c ---- */

/* The field of a constructor that is of the data type itself, as a list's tail is; UINT32_MAX: it has none. */
uint32_t ct_flow_own_field(const CtFlowData *data, uint32_t tag);
/* The constructor of the empty list, where a type is that of lists: each constructor has one field of its own type or
 * none, and one has no fields at all. UINT32_MAX: it is another type. */
uint32_t ct_flow_list_end(const CtFlowType *type);
/* Whether a function of two parameters gives the second behind the cells of the first, turned round. */
bool ct_flow_is_reversal(const CtFlowFunction *function);

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
    bool differs;  /* or: it is not `by` */
    CtFlowArg low; /* or, where it has a type: low ≤ high + by */
    CtFlowLength high;
    int64_t by;
    uint32_t last; /* the number from 1 of the last equality up to here; 0: none */
} CtFlowEqual;

typedef struct CtFlowFacts {
    const CtFlowFunction *function;
    bool is_closed; /* no derivative is left to be taken */
    CtArena *arena;
    const CtFlowType *integer;
    CtFlowFact *items; /* by variable number */
    uint32_t count;
    CT_VEC(CtFlowEqual) equals; /* what checks and conditions have told, where the walk is */
} CtFlowFacts;

/* Of a function; what was known of another is forgotten, its memory used again. */
void ct_flow_facts_begin(CtFlowFacts *facts, CtFlow *flow, const CtFlowFunction *function);
/* Of a block at some depth and all inside it. Steps are looked at when they are asked about, and may change. */
void ct_flow_facts_add(CtFlowFacts *facts, const CtFlowBlock *block, uint32_t depth);
void ct_flow_facts_step(CtFlowFacts *facts, CtFlowStep *step, uint32_t depth);
const CtFlowFact *ct_flow_fact(const CtFlowFacts *facts, const CtFlowArg *arg); /* of a literal: an empty one */
/* The step that makes a value, if it is of this kind; else NULL. */
const CtFlowStep *ct_flow_maker(const CtFlowFacts *facts, const CtFlowArg *arg, CtFlowStepKind kind);

/* `some`: the dimensions outside of it are known to have elements; without that, inner lengths may be 0 instead. */
CtFlowLength ct_flow_length(const CtFlowFacts *facts, const CtFlowArg *array, uint32_t dimension, bool some);
/* A number of elements as a length. */
CtFlowLength ct_flow_length_of(const CtFlowFacts *facts, CtFlowArg count);
/* Whether two lengths are written as the same. */
bool ct_flow_is_length(const CtFlowLength *a, const CtFlowLength *b);
/* The same for those that are the same. */
uint64_t ct_flow_length_key(const CtFlowFacts *facts, CtFlowLength a);
/* Whether two lengths are the same, also by what tests in front say. */
bool ct_flow_same_length(const CtFlowFacts *facts, CtFlowLength a, CtFlowLength b);
/* The number that a length is, where tests in front say one. */
bool ct_flow_known_length(const CtFlowFacts *facts, CtFlowLength length, CtFlowArg *literal);
/* Whether an array has so many elements in a dimension, as the program's own steps ask for that, or if it has any. */
bool ct_flow_is_long(const CtFlowFacts *facts, const CtFlowArg *array, uint32_t dimension, const CtFlowArg *count);
/* What a check of lengths looks at: an array, or a length itself; `some` as above. */
CtFlowLength ct_flow_checked_length(const CtFlowFacts *facts, const CtFlowArg *arg, uint32_t dimension, bool some);
/* A check of lengths or of an index has been passed; the caller takes what this adds to `equals` back. */
void ct_flow_learn(CtFlowFacts *facts, const CtFlowStep *check);
/* Two lengths are told to be equal. */
void ct_flow_are_equal(CtFlowFacts *facts, CtFlowLength a, CtFlowLength b);
/* Adds what has been told of lengths and Ints. */
void ct_flow_tell(CtFlowFacts *facts, CtFlowEqual told);

/* What a length is at least, of what checks have told. */
int64_t ct_flow_least(const CtFlowFacts *facts, CtFlowLength length);

/* ---- constant_arrays.c: by the code of a constant; for other facts the type is NULL ---- */

/* The literal number of elements in a dimension; type NULL: it is not known. */
CtFlowArg ct_flow_constant_length(const CtFlowFacts *facts, const CtFlowFact *fact, uint32_t dimension);
/* Likewise of the array that a call gives, in its first dimension. */
CtFlowArg ct_flow_result_length(const CtFlowFacts *facts, const CtFlowFact *fact);
/* The literal element at these indices; type NULL: it is not known. */
CtFlowArg ct_flow_constant_element(const CtFlowFacts *facts, const CtFlowFact *fact, const CtFlowArg *indices,
                                   uint32_t count);

/* ---- ranges.c: how large Ints are ---- */

/* A test is true or is not, where the walk is; the caller takes what this adds to `equals` back. */
void ct_flow_assume(CtFlowFacts *facts, const CtFlowArg *test, bool holds);
/* An iteration of a loop is made; as before. */
void ct_flow_assume_iteration(CtFlowFacts *facts, const CtFlowStep *loop);
/* Whether an Int is certainly not below 0. */
bool ct_flow_is_natural(const CtFlowFacts *facts, const CtFlowArg *arg);
/* What a comparison of Ints gives: 0 or 1; −1 where that is not known. */
int ct_flow_compare(const CtFlowFacts *facts, CtPrim prim, const CtFlowArg *a, const CtFlowArg *b);
/* Whether an index is certainly inside of a length. */
bool ct_flow_is_index(const CtFlowFacts *facts, const CtFlowArg *index, CtFlowLength length);
/* Whether so many elements from `start` on are certainly inside of a length: from 0 on, or all that are left. */
bool ct_flow_is_slice(const CtFlowFacts *facts, const CtFlowArg *start, const CtFlowArg *count, CtFlowLength length);
/* Whether the element of a read or an update, of which the first `indices` arguments behind the array say where it is,
 * is certainly there. */
bool ct_flow_is_inside(const CtFlowFacts *facts, const CtFlowStep *access, uint32_t indices);
/* The same of all that a step, and what is inside of it, looks at. Where that is not known, a check that has been
 * passed before the step may be why it is there: the step must stay behind it. */
bool ct_flow_stays_inside(CtFlowFacts *facts, const CtFlowStep *step);

/* ---- signs.c ---- */

/* Whether a real is certainly not −0.0. */
bool ct_flow_is_no_minus_zero(const CtFlowFacts *facts, const CtFlowArg *arg);

/* ---- uses.c: uses of variables, and marks on them ---- */

/* How often each variable of a function is used, by its number. */
uint32_t *ct_flow_count_uses(const CtFlow *flow, const CtFlowFunction *function);
/* How often a block uses a variable; a step, with its blocks. */
uint32_t ct_flow_uses_in(const CtFlowBlock *block, const CtFlowVar *var);
uint32_t ct_flow_uses_of(const CtFlowStep *step, const CtFlowVar *var);

/* Sets of variables, by number: as many words as the function has variables, divided by 64, plus 1. */
static inline bool ct_flow_set_has(const uint64_t *set, const CtFlowVar *var) {
    return set[var->id / 64] >> (var->id % 64) & 1;
}
static inline void ct_flow_set_add(uint64_t *set, const CtFlowVar *var) {
    set[var->id / 64] |= (uint64_t)1 << (var->id % 64);
}
static inline void ct_flow_set_drop(uint64_t *set, const CtFlowVar *var) {
    set[var->id / 64] &= ~((uint64_t)1 << (var->id % 64));
}

typedef struct CtFlowMarks {
    CtArena *arena;
    bool *items; /* by variable number */
    uint32_t count;
    const uint64_t *changed; /* what calls may change: ct_flow_changed_parameters; NULL: all that they take */
} CtFlowMarks;
void ct_flow_mark(CtFlowMarks *marks, const CtFlowVar *var, bool mark);
void ct_flow_mark_results(CtFlowMarks *marks, const CtFlowStep *step, bool mark);
/* Arrays and nodes that a step and the blocks inside use. */
void ct_flow_mark_objects(CtFlowMarks *marks, const CtFlowStep *step, bool mark);
/* Whether a step, or one in its blocks, uses what is marked. Arrays may be read at `index`, where that is not NULL. */
bool ct_flow_uses_marked(const CtFlowMarks *marks, const CtFlowStep *step, const CtFlowVar *index);
/* Whether it takes what is marked, or a block of it yields that. */
bool ct_flow_takes_marked(const CtFlowMarks *marks, const CtFlowStep *step);
/* Whether a step of a block may move to another place behind it: no step between takes an object that it uses. If it
 * did, it would have to copy the object, which is used once more. The place of a step that is gone is NULL. */
bool ct_flow_may_run_later(CtFlowMarks *marks, const CtFlowBlock *block, uint32_t from, uint32_t to);

/* ---- taken.c: where the walk through a function is, which arrays have been taken ---- */

/* By number of a function: a bit for each of its parameters that it takes in turn, or that it gives back. The others it
 * only reads, so that they are changed by none that it calls. */
const uint64_t *ct_flow_changed_parameters(const CtFlow *flow);
/* Whether a step takes an argument and may change it, or hand it on to a step that does. */
bool ct_flow_may_change(const uint64_t *changed, const CtFlowStep *step, uint32_t index);

typedef struct CtFlowTaking {
    uint32_t bound, taken, held; /* when, on the way here; held: retained */
} CtFlowTaking;
typedef struct CtFlowTaken {
    CtArena *arena;
    const CtFlowFacts *facts;
    const uint64_t *changed;
    CtFlowTaking *items; /* by variable number */
    uint32_t count, now;
    CT_VEC(CtFlowTaking) log; /* bound: a variable, taken: when it was last taken otherwise */
} CtFlowTaken;
void ct_flow_taken_begin(CtFlowTaken *taken, const CtFlowFacts *facts, const uint64_t *changed);
/* A step has run; of a loop, before its block. */
void ct_flow_taken_step(CtFlowTaken *taken, const CtFlowStep *step);
/* The branches of a switch have given what they yield to its result, an array, say. */
void ct_flow_taken_value(CtFlowTaken *taken, const CtFlowStep *choice, uint32_t result);
/* What a branch has taken, counts no more in other branches; behind them, it does if the branch comes there. `from` is
 * how much had been noted before the branch, or before all. */
void ct_flow_taken_leave(CtFlowTaken *taken, uint32_t from, const CtFlowBlock *branch);
void ct_flow_taken_join(CtFlowTaken *taken, uint32_t from);
/* Walks through a body. Gives each step when it has taken its arguments, before the blocks inside, with the function
 * that it calls or NULL; at the end of a block, step NULL and the block's values. */
void ct_flow_taken_walk(CtFlowTaken *taken, const CtFlowBlock *body,
                        void (*visit)(void *data, CtFlowStep *step, const CtFlowFunction *callee,
                                      const CtFlowArgs *args),
                        void *data);
/* Whether an array may be read here instead of a part of it, that a step has read or sliced: it has not been taken
 * since. */
bool ct_flow_is_left(const CtFlowTaken *taken, const CtFlowStep *part, const CtFlowArg *array);

/* ---- regular_rows.c ---- */

/* Whether all rows of the array that is one of a loop's results are of one shape, as the loop itself shows. */
bool ct_flow_is_regular(const CtFlowStep *loop, uint32_t array);
/* The same of arrays of arrays, whether they are stored as matrices or as references. */
bool ct_flow_has_regular_rows(const CtFlowStep *loop, uint32_t array);

/* ---- pieces.c: two arrays that a loop reads as one ---- */

typedef struct CtFlowShift { /* what is added to a loop's index; `by` without a type: nothing */
    CtFlowArg by;
    bool back; /* it is subtracted */
} CtFlowShift;
/* Whether an argument, computed in a block of the loop's body, is the loop's index plus or minus what does not change
 * in the loop. */
bool ct_flow_shifted_index(const CtFlowBlock *body, const CtFlowBlock *block, const CtFlowArg *arg, CtFlowShift *shift);
/* A switch in the body of a loop: in iterations below `cut` it reads the first of two vectors, then the second. */
typedef struct CtFlowPiece {
    CtFlowArg cut, arrays[2];
    CtFlowShift shifts[2];
} CtFlowPiece;
bool ct_flow_piece(const CtFlowBlock *body, const CtFlowStep *step, CtFlowPiece *piece);
/* A switch in the body of a loop, or in a branch there (`block`), on a comparison of the loop's index with what stays
 * the same. It takes one branch in all iterations between two of: the first, number `with` (if `before`), the one
 * behind it (if `behind`), and the last. */
typedef struct CtFlowParting {
    const CtFlowStep *test;
    CtFlowArg with;
    bool before, behind;
} CtFlowParting;
bool ct_flow_parting(const CtFlowBlock *body, const CtFlowStep *step, CtFlowParting *parting);
/* Whether it is one whose branches consist of light primitives, of reads at the loop's index, beside it, or of one
 * element, and of such switches. */
bool ct_flow_is_parted(const CtFlowBlock *body, const CtFlowStep *step);
/* The tests of all such switches, those of CtFlowPiece aside; `count` may be greater than the number of those that are
 * kept. */
enum { CT_MOST_TESTS = 2 }; /* a loop is written once for each way in which they may turn out */
typedef struct CtFlowTests {
    CtFlowParting tests[CT_MOST_TESTS];
    uint32_t count;
} CtFlowTests;
CtFlowTests ct_flow_parting_tests(const CtFlowBlock *body);
/* Whether a loop consists of light primitives on numbers, reads at its index or beside it, such switches, and updates
 * at its index, and gives vectors of numbers. The C compiler vectorises such a loop. */
bool ct_flow_is_elementwise(const CtFlowStep *loop);
/* Whether there is such a switch in such a loop, or one whose branches update elements at the loop's index, beside it,
 * or one element. */
bool ct_flow_is_pieced(const CtFlowStep *loop);
/* Whether it would be one without the numbers that it carries, and without switches that take the same branch in all
 * iterations; and the first of these, NULL if there is none. */
bool ct_flow_may_be_pieced(const CtFlowStep *loop);
CtFlowStep *ct_flow_fixed_choice(const CtFlowStep *loop);

#endif
