/* Steps and blocks over again, with variables of their own. */
#ifndef CT_FLOW_COPY_H
#define CT_FLOW_COPY_H

#include "flow/build.h"

typedef struct CtFlowCopy {
    CtFlow *flow;
    CtFlowFunction *into; /* whose variables the new ones are */
    CtMap values;         /* a variable's number in the original -> CtFlowArg *, what stands for it in the copy */
    CtFlowArg (*outer)(void *data, CtFlowVar *var); /* what stands for other variables; NULL: they themselves */
    void *data;
    CtSourceRange
        place; /* the user's call that steps of the library are told at; CT_NO_RANGE: steps keep their places */
    bool keeps_numbers; /* `into` is a copy of the original as a whole */
    bool drops_checks;  /* which have been passed where the copy stands */
} CtFlowCopy;

void ct_flow_copy_stands(CtFlowCopy *copy, const CtFlowVar *var, CtFlowArg value);
/* The new variable for one that the copy binds. */
CtFlowVar *ct_flow_copy_var(CtFlowCopy *copy, const CtFlowVar *var);
/* What stands for arguments in the copy. */
CtFlowArgs ct_flow_copy_args(const CtFlowCopy *copy, const CtFlowArgs *args);
CtFlowStep *ct_flow_copy_step(CtFlowCopy *copy, const CtFlowStep *step);
CtFlowBlock *ct_flow_copy_block(CtFlowCopy *copy, const CtFlowBlock *block);

/* Puts an argument in the place of a variable, in a block and all inside: no copy. */
void ct_flow_substitute(CtFlowBlock *block, const CtFlowVar *var, CtFlowArg arg);

#endif
