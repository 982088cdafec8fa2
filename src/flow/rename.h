/* Renaming of the variables in steps. */
#ifndef CT_FLOW_RENAME_H
#define CT_FLOW_RENAME_H

#include "flow/flow.h"

/* What stands for each variable of a function now, by its number; without a type: the variable itself. */
typedef struct CtFlowValues {
    CtArena *arena;
    CtFlowArg *items;
    uint32_t count, changes; /* how often something has begun to stand for a variable */
} CtFlowValues;
void ct_flow_values_clear(CtFlowValues *values, CtArena *arena);
CtFlowArg ct_flow_now(const CtFlowValues *values, CtFlowArg arg);
void ct_flow_stands(CtFlowValues *values, const CtFlowVar *var, CtFlowArg value);
/* Arguments with what stands for them: others in their place, since lists of arguments may be shared. */
void ct_flow_rename(const CtFlowValues *values, CtFlowArgs *args);
bool ct_flow_same(const CtFlowArg *a, const CtFlowArg *b);

/* The same of all steps in a block and inside. */
void ct_flow_rename_block(const CtFlowValues *values, CtFlowBlock *block);

#endif
