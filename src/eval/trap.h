/* Traps: the run ends at the first operation that makes a NaN out of numbers that are none (E0515).
 *
 * They are compiled into the code: an instruction TRAP in front of each scalar operation with a real result, which
 * computes it beforehand, and TRAPPED behind each operation on arrays. Nothing is fused then. Without traps, code is
 * what it is otherwise. */
#ifndef CT_EVAL_TRAP_H
#define CT_EVAL_TRAP_H

#include "eval/internal.h"

/* Where TRAP finds an operand: in a slot, or in the code. */
enum { TRAP_SLOT, TRAP_CONSTANT };

/* Whether the result of a primitive is a real number. */
bool ct_eval_trap_result(CtPrim prim);
/* The instruction TRAP at pc: false with the error raised. */
bool ct_eval_trap_prim(Machine *m, const CtWord *fp, const uint32_t *pc);
/* Whether an operation on arrays that is about to be called is to be checked: it adds or multiplies real numbers, and
 * none of its operands is a NaN. */
bool ct_eval_trap_watches(const Machine *m, CtArrayOp op, const ArrayCall *call);
/* Checks the result of such a call: raises the error and sets m->trapped, for TRAPPED to find. `places`: of addAt. */
void ct_eval_trap_array(Machine *m, CtArrayOp op, const ArrayCall *call, const CtArray *places);

#endif
