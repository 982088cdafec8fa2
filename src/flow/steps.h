/* Writing single steps, loops and branches of Flow: for passes that make code of their own. */
#ifndef CT_FLOW_STEPS_H
#define CT_FLOW_STEPS_H

#include "flow/internal.h"

static inline CtFlowArg ct_flow_none(void) { return (CtFlowArg){.type = NULL}; }
static inline bool ct_flow_is_none(CtFlowArg arg) { return arg.type == NULL; }

CtFlowArg ct_flow_real(const CtFlowType *type, double value);
/* x = op a b; without b where that is none. `type` is the result's. */
CtFlowArg ct_flow_prim(Lower *l, CtSourceRange range, CtPrim prim, const CtFlowType *type, CtFlowArg a, CtFlowArg b);
CtFlowArg ct_flow_prim_int(Lower *l, CtSourceRange range, CtPrim prim, CtFlowArg a, CtFlowArg b);
/* array[⟨indices⟩], a row where there are few; the array with that element exchanged. */
CtFlowArg ct_flow_read(Lower *l, CtSourceRange range, CtFlowArg array, const CtFlowArg *indices, uint32_t count);
CtFlowArg ct_flow_update(Lower *l, CtSourceRange range, CtFlowArg array, const CtFlowArg *indices, uint32_t count,
                         CtFlowArg value);
/* partials.c: what the derivative of a step's primitive by one of its arguments makes of g: of its result's cotangent a
 * part of the argument's, of the argument's tangent a part of the result's. `type` is that of the part; none where it
 * is zero. What stands for an argument or the result is asked for where it is used. */
typedef CtFlowArg CtFlowPrimal(void *data, CtFlowArg of);
CtFlowArg ct_flow_partial(Lower *l, const CtFlowStep *step, uint32_t index, CtFlowArg g, const CtFlowType *type,
                          CtFlowPrimal *primal, void *data);
CtFlowArg ct_flow_bulk(Lower *l, CtSourceRange range, CtArrayOp op, const CtFlowType *type, const CtFlowArg *args,
                       uint32_t count);
/* The product of two matrices, of so many rows and columns: FLOW_PRODUCT. */
CtFlowArg ct_flow_product(Lower *l, CtSourceRange range, const CtFlowArg *lengths, CtFlowFactors factors, CtFlowArg a,
                          CtFlowArg b);
CtFlowArg ct_flow_node_make(Lower *l, CtSourceRange range, const CtFlowType *node, uint32_t tag,
                            const CtFlowArgs *fields);
/* All the fields of a node. */
CtFlowArgs ct_flow_node_open(Lower *l, CtSourceRange range, CtFlowArg node, uint32_t tag, const char *name);
CtFlowArgs ct_flow_call(Lower *l, CtSourceRange range, CtFlowFunction *function, const CtFlowArgs *args);
const CtFlowType *ct_flow_row_type(CtFlow *flow, const CtFlowType *array, uint32_t indices);

/* A loop whose block is being written: between begin and end, steps go there. */
typedef struct CtFlowLooping {
    CtFlowStep *step;
    CtFlowBlock *outer;
    CtFlowArg index;
    CtFlowArgs carried; /* as the block sees it */
} CtFlowLooping;

CtFlowLooping ct_flow_loop_begin(Lower *l, CtSourceRange range, CtFlowArg count, const CtFlowArgs *start);
/* The last carried values, then the arrays (of `types`) of the other values. */
CtFlowArgs ct_flow_loop_end(Lower *l, CtFlowLooping *loop, const CtFlowArgs *carried, const CtFlowArgs *items,
                            const CtFlowTypes *types);

/* A switch whose branches are being written. */
typedef struct CtFlowChoosing {
    CtFlowStep *step;
    CtFlowBlock *outer;
} CtFlowChoosing;

CtFlowChoosing ct_flow_switch_begin(Lower *l, CtSourceRange range, CtFlowArg on);
/* Steps go into the branch for a tag from here to ct_flow_case_end. */
void ct_flow_case_begin(Lower *l, CtFlowChoosing *choice, uint32_t tag);
void ct_flow_case_end(Lower *l, CtFlowChoosing *choice, const CtFlowArgs *values);
/* What the branches yield: the types are those of the last one that does. */
CtFlowArgs ct_flow_switch_end(Lower *l, CtFlowChoosing *choice);

/* Where the first element of an array is that is its largest or smallest, or no number. */
CtFlowArg ct_flow_place_of(Lower *l, CtSourceRange range, CtFlowArg array, CtFlowArg extreme);

#endif
