/* Private to the folder of vectorised loops. */
#ifndef CT_EMIT_VECTOR_INTERNAL_H
#define CT_EMIT_VECTOR_INTERNAL_H

#include "emit/vector/vector.h"

/* Whether a step adds to an element of an accumulator (ACC). */
bool ct_emit_vector_adds(const Emit *e, const CtFlowStep *step);
bool ct_emit_vector_any_differs(const Emit *e, const CtFlowArgs *indices);

/* delays.c: whether a carried number is what the iteration before has computed, a recurrence of first order. */
bool ct_emit_vector_delays(Emit *e, const CtFlowStep *step, uint32_t carried, LaneSum *sum);
/* Writes what is in front of the loop, at the end of its body, and behind it. */
void ct_emit_vector_delays_begin(Emit *e, const CtFlowStep *step, const LaneSum *sums, const char *const *names);
void ct_emit_vector_delays_next(Emit *e, const CtFlowStep *step, const LaneSum *sums, const char *const *names);
void ct_emit_vector_delays_end(Emit *e, const CtFlowStep *step, const LaneSum *sums, const char *const *names);

/* Whether a loop, or the loops inside it, is elementwise, so that the C compiler or lanes vectorise it anyway:
 * elementwise.c. */
bool ct_emit_vector_is_elementwise(const Emit *e, const CtFlowStep *loop);
/* Whether the loops inside a loop only sum along rows, so that each may be vectorised instead, and the loop itself
 * calls no functions, which take less time in lanes. */
bool ct_emit_vector_sums_rows(const Emit *e, const CtFlowStep *loop);
LaneKind ct_emit_vector_kind(const Emit *e, const CtFlowArg *arg);
/* The vector form of a primitive in C, with operands A and B; NULL: there is none. */
const char *ct_emit_vector_value(CtPrim prim);
void ct_emit_vector_position(const Emit *e, const CtFlowStep *step, CtFlowArg *array, CtFlowArgs *indices);
/* The loop in a block that makes the array yielded as a row; NULL: there is none. */
const CtFlowStep *ct_emit_vector_row_maker(const Emit *e, const CtFlowBlock *block, const CtFlowArg *value);
bool ct_emit_vector_skipped(const Emit *e, const CtFlowStep *step);

/* vector_steps.c: an argument as a number in each lane; `apart`: it is written before what follows. */
const char *ct_emit_vector_lane_arg(Emit *e, const CtFlowArg *arg, bool apart);
/* Writes pending expressions of the arguments. */
void ct_emit_vector_settle(Emit *e, const CtFlowArgs *args);
/* The index of the first of CT_LANES elements that follow one another in an array. */
const char *ct_emit_vector_lanes_of(Emit *e, const char *first, const char *array);
/* If a condition holds, the rest of the loop runs as scalar iterations. */
void ct_emit_vector_leave_if(Emit *e, const char *condition);
/* Frees what a row of all lanes takes. */
void ct_emit_vector_give_back(Emit *e, Lane *lane);
/* The row-major position of an element. */
const char *ct_emit_vector_place(Emit *e, const CtFlowArg *array, const CtFlowArgs *indices);
/* Writes one iteration of an inner loop; `names`: of its carried variables. */
void ct_emit_vector_iteration(Emit *e, const CtFlowStep *loop, const char *const *names);
/* row_reads.c: what an iteration reads of the rows of an array from outside, or of a row that is put into lanes, which
 * have the number `rows`. */
RowReads *ct_emit_vector_row_reads(const Emit *e, const CtFlowBlock *block, uint32_t rows);
/* Whether it reads elements of a row only, at places that are the same for all; and whether these are few, or far from
 * each other, so that to gather them takes less time than to pack the row. */
bool ct_emit_vector_reads_columns(const RowReads *reads);
bool ct_emit_vector_reads_few(const RowReads *reads);
/* How many elements that is at most, in C; NULL: all of them, or not known. */
const char *ct_emit_vector_reads_of(Emit *e, const RowReads *reads);
/* strip_accumulators.c: marks accumulators that an inner loop adds to at consecutive indices, so that a strip can sum
 * them. */
void ct_emit_vector_mark_narrow(const Emit *e, const CtFlowStep *loop);
/* Writes the iterations of such an inner loop in strips of eight, used when accumulators are large. Returns the
 * iteration at which the remainder begins. */
const char *ct_emit_vector_strips(Emit *e, const CtFlowStep *loop, const char *count, const char *const *names);
/* serial_lanes.c: writes an inner loop that adds to a row of each lane, for one lane after the other; false if it is no
 * such loop. */
bool ct_emit_vector_apart(Emit *e, CtFlowStep *step);

#endif
