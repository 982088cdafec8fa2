/* Values for the interpreter of Flow, which holds native code against it. */
#ifndef CT_RUN_INTERPRETER_VALUES_H
#define CT_RUN_INTERPRETER_VALUES_H

#include "flow/check/interpret.h"
#include "value/value.h"

/* A value of the evaluator's heap as the cells of its type's variables, in the interpreter's heap. False without
 * memory.
 */
bool ct_run_import(CtInterpreter *i, CtFlow *flow, const CtType *type, CtWord value, CtFlowCell *cells);

#endif
