/* Copying of steps and blocks, with fresh variables. */
#ifndef CT_FLOW_COPY_H
#define CT_FLOW_COPY_H

#include "flow/build.h"

typedef struct CtFlowCopy {
    CtFlow *flow;
    CtFlowFunction *into; /* the function that owns the new variables */
    CtMap values;         /* variable number in the original -> CtFlowArg *, its replacement in the copy */
    CtFlowArg (*outer)(
        void *data,
        /* Gives the replacement of a variable that is bound outside the copied code. NULL: no replacement. */
        CtFlowVar *var);
    void *data;
    /* The user's call site that copied steps of the library are attributed to. CT_NO_RANGE: ranges stay as they are. */
    CtSourceRange place;
    bool keeps_numbers; /* `into` is a copy of the whole original, and variables keep their numbers */
    bool drops_checks;  /* checks are left out, since they have passed where the copy stands */
} CtFlowCopy;

void ct_flow_copy_stands(CtFlowCopy *copy, const CtFlowVar *var, CtFlowArg value);
/* What a step of the original binds stands for these values in the copy. */
void ct_flow_copy_results_stand(CtFlowCopy *copy, const CtFlowStep *step, const CtFlowArgs *values);
/* A fresh variable for one that the copy binds. */
CtFlowVar *ct_flow_copy_var(CtFlowCopy *copy, const CtFlowVar *var);
/* The replacements of arguments in the copy. */
CtFlowArgs ct_flow_copy_args(const CtFlowCopy *copy, const CtFlowArgs *args);
CtFlowStep *ct_flow_copy_step(CtFlowCopy *copy, const CtFlowStep *step);
CtFlowBlock *ct_flow_copy_block(CtFlowCopy *copy, const CtFlowBlock *block);

/* Replaces a variable by an argument in a block and all blocks inside, in place. */
void ct_flow_substitute(CtFlowBlock *block, const CtFlowVar *var, CtFlowArg arg);

#endif
