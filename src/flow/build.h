/* Writing Flow: functions, blocks, steps, loops and branches, for all that makes code. build.c makes single things,
 * steps.c what takes several calls; types.c the types. */
#ifndef CT_FLOW_BUILD_H
#define CT_FLOW_BUILD_H

#include "flow/flow.h"

/* ---- types.c ---- */

const CtFlowType *ct_flow_scalar(CtFlow *flow, CtFlowKind kind);
const CtFlowType *ct_flow_array(CtFlow *flow, uint32_t rank, const CtFlowType *element);
/* A new node type without constructors yet, for data of this type of Core (NULL: of none). */
const CtFlowType *ct_flow_node_new(CtFlow *flow, const char *name, const CtType *type);
/* One constructor more; its number. */
uint32_t ct_flow_con_add(CtFlow *flow, CtFlowData *data, const char *name, const CtFlowTypes *fields);
void ct_flow_types_add(CtFlow *flow, CtFlowTypes *to, const CtFlowTypes *more);

/* ---- build.c ---- */

/* Where code goes: the end of a block of a function. */
typedef struct CtFlowBuilder {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowBlock *block;
} CtFlowBuilder;

CtFlowVar *ct_flow_fresh(CtFlow *flow, CtFlowFunction *function, const char *name, const CtFlowType *type);
CtFlowVar *ct_flow_var(CtFlowBuilder *l, const char *name, const CtFlowType *type);
CtFlowFunction *ct_flow_function(CtFlow *flow, const char *name, CtSourceRange range);
CtFlowBlock *ct_flow_block(CtFlowBuilder *l);
/* Makes a block empty and open, to be written anew; gives what it was. */
CtFlowBlock ct_flow_reopen(CtFlowBlock *block);
CtFlowStep *ct_flow_step(CtFlowBuilder *l, CtFlowStepKind kind, CtSourceRange range);
void ct_flow_arg(CtFlowBuilder *l, CtFlowStep *step, CtFlowArg arg);
CtFlowArg ct_flow_result(CtFlowBuilder *l, CtFlowStep *step, const char *name, const CtFlowType *type);
void ct_flow_leave(CtFlowBuilder *l, CtFlowExit exit, CtSourceRange range, const CtFlowArgs *values,
                   CtFlowFunction *tail);
static inline CtFlowArg flow_of(CtFlowVar *var) { return (CtFlowArg){.var = var, .type = var->type}; }
CtFlowArg ct_flow_int(CtFlowBuilder *l, int64_t value);
/* Values of these types that are never looked at. */
CtFlowArgs ct_flow_nothing(CtFlowBuilder *l, const CtFlowTypes *types);
void ct_flow_args_add(CtFlowBuilder *l, CtFlowArgs *to, const CtFlowArgs *more);
CtFlowArgs ct_flow_slice(const CtFlowArgs *args, uint32_t start, uint32_t count);
/* New variables of the types as a block's or a function's parameters. */
CtFlowArgs ct_flow_params(CtFlowBuilder *l, CtFlowVars *to, const char *name, const CtFlowTypes *types);

/* ---- steps.c ---- */

static inline CtFlowArg ct_flow_none(void) { return (CtFlowArg){.type = NULL}; }
static inline bool ct_flow_is_none(CtFlowArg arg) { return arg.type == NULL; }

CtFlowArg ct_flow_real(const CtFlowType *type, double value);
/* x = op a b; without b for primitives of one argument. `type` is the type of the result. */
CtFlowArg ct_flow_prim(CtFlowBuilder *l, CtSourceRange range, CtPrim prim, const CtFlowType *type, CtFlowArg a,
                       CtFlowArg b);
CtFlowArg ct_flow_prim_int(CtFlowBuilder *l, CtSourceRange range, CtPrim prim, CtFlowArg a, CtFlowArg b);
/* Read of array[⟨indices⟩], a row when there are fewer indices than dimensions; and update, the array with that element
 * replaced. */
CtFlowArg ct_flow_read(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, const CtFlowArg *indices,
                       uint32_t count);
CtFlowArg ct_flow_update(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, const CtFlowArg *indices,
                         uint32_t count, CtFlowArg value);
CtFlowArg ct_flow_bulk(CtFlowBuilder *l, CtSourceRange range, CtArrayOp op, const CtFlowType *type,
                       const CtFlowArg *args, uint32_t count);
/* The length of an array in one dimension. */
CtFlowArg ct_flow_dim(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, uint32_t index);
/* The product of two matrices with these lengths: FLOW_PRODUCT. */
CtFlowArg ct_flow_product(CtFlowBuilder *l, CtSourceRange range, const CtFlowArg *lengths, CtFlowFactors factors,
                          CtFlowArg a, CtFlowArg b);
CtFlowArg ct_flow_node_make(CtFlowBuilder *l, CtSourceRange range, const CtFlowType *node, uint32_t tag,
                            const CtFlowArgs *fields);
/* Opens a node of constructor `tag`: all its fields. */
CtFlowArgs ct_flow_node_open(CtFlowBuilder *l, CtSourceRange range, CtFlowArg node, uint32_t tag, const char *name);
CtFlowArgs ct_flow_call(CtFlowBuilder *l, CtSourceRange range, CtFlowFunction *function, const CtFlowArgs *args);
const CtFlowType *ct_flow_row_type(CtFlow *flow, const CtFlowType *array, uint32_t indices);

/* A loop whose block is being built: steps between begin and end go into the block. */
typedef struct CtFlowLooping {
    CtFlowStep *step;
    CtFlowBlock *outer;
    CtFlowArg index;
    CtFlowArgs carried; /* the carried variables inside the block */
} CtFlowLooping;

CtFlowLooping ct_flow_loop_begin(CtFlowBuilder *l, CtSourceRange range, CtFlowArg count, const CtFlowArgs *start);
/* The results of the loop: the final carried values, then the arrays (of `types`) made of the items. */
CtFlowArgs ct_flow_loop_end(CtFlowBuilder *l, CtFlowLooping *loop, const CtFlowArgs *carried, const CtFlowArgs *items,
                            const CtFlowTypes *types);

/* A switch whose branches are being built. */
typedef struct CtFlowChoosing {
    CtFlowStep *step;
    CtFlowBlock *outer;
} CtFlowChoosing;

CtFlowChoosing ct_flow_switch_begin(CtFlowBuilder *l, CtSourceRange range, CtFlowArg on);
/* Begins the branch for a tag: steps go there until ct_flow_case_end. */
void ct_flow_case_begin(CtFlowBuilder *l, CtFlowChoosing *choice, uint32_t tag);
void ct_flow_case_end(CtFlowBuilder *l, CtFlowChoosing *choice, const CtFlowArgs *values);
/* The results of the switch. Their types are those that the last yielding branch yields. */
CtFlowArgs ct_flow_switch_end(CtFlowBuilder *l, CtFlowChoosing *choice);

/* Puts a value at an index of a sequence, whose items may be shared with another step's: they are copied. */
void ct_flow_insert_arg(CtArena *arena, CtFlowArgs *to, uint32_t index, CtFlowArg value);
void ct_flow_insert_var(CtArena *arena, CtFlowVars *to, uint32_t index, CtFlowVar *value);
/* The same without the item at an index. */
void ct_flow_remove_arg(CtArena *arena, CtFlowArgs *from, uint32_t index);
void ct_flow_remove_var(CtArena *arena, CtFlowVars *from, uint32_t index);
void ct_flow_remove_step(CtFlowBlock *block, const CtFlowStep *step);

/* If the test holds `yes`, else `no`. */
CtFlowArg ct_flow_choose(CtFlowBuilder *l, CtSourceRange range, CtFlowArg test, CtFlowArg yes, CtFlowArg no);

/* The index of the first element that equals `extreme`, the array's largest or smallest, or is NaN. */
CtFlowArg ct_flow_place_of(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, CtFlowArg extreme);

#endif
