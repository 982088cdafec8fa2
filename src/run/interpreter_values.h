/* Values for the interpreter of Flow and from it: native code is held against it, or replaced by it. */
#ifndef CT_RUN_INTERPRETER_VALUES_H
#define CT_RUN_INTERPRETER_VALUES_H

#include "flow/check/interpret.h"
#include "value/value.h"

/* A value of the evaluator's heap as the cells of the variables of the type `as`, which may have arrays in place of the
 * lists in its own type, in the interpreter's heap. False without memory. */
bool ct_run_import(CtInterpreter *i, CtFlow *flow, const CtType *type, const CtType *as, CtWord value,
                   CtFlowCell *cells);

/* Values of these types as words of a native run; what they consist of is copied into its memory, once for each
 * reference. False without memory; when the run's limit is reached, it fails through rt->out. */
bool ct_run_export(ct_run *rt, const CtFlowTypes *types, const CtFlowCell *cells, ct_word *words);

#endif
