/* Private to differentiation on Flow: what adjoint.c knows of adjoints as values. */
#ifndef CT_FLOW_ADJOINT_H
#define CT_FLOW_ADJOINT_H

#include "flow/ad/derive.h"
#include "flow/build.h"

/* Writes the body of a function of adjoints, with its parameters. */
typedef void CtFlowFill(CtFlowBuilder *l, const CtFlowArgs *params);

typedef struct CtFlowWaiting { /* a function whose body waits until the constructors of a type are known */
    CtFlowFunction *function;
    const CtFlowType *key;
    CtFlowFill *fill;
} CtFlowWaiting;

/* What differentiation has made for a program. */
typedef struct CtFlowAdjoints {
    CtMap types;                       /* CtFlowType * -> that of its adjoints */
    CtMap adds;                        /* adjoint type -> (a, b) → a + b */
    CtMap embeds;                      /* type -> embedding */
    CtMap projects;                    /* type -> projection */
    CtMap shape_checks;                /* type -> whether two values have one structure */
    CT_VEC(struct Variant *) variants; /* of functions, for reverse.c; the first `written` of them are complete */
    uint32_t written;
    CT_VEC(CtFlowWaiting) waiting;
} CtFlowAdjoints;

CtFlowAdjoints *ct_flow_adjoints(CtFlow *flow);

/* Whether an array of adjoints is of length 0, as Int. */
CtFlowArg ct_flow_is_empty(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array);
/* An array of an adjoint type of these lengths, all zeros. */
CtFlowArg ct_flow_zeros(CtFlowBuilder *l, CtSourceRange range, const CtFlowType *adjoint, const CtFlowArg *dims);
/* `array`, or zeros of these lengths where it is the zero of length 0. */
CtFlowArg ct_flow_filled(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, const CtFlowArg *dims);
/* array[⟨indices⟩] += value, where value is a row that may be the zero of length 0, or an element. The array is filled.
 */
CtFlowArg ct_flow_add_at(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, const CtFlowArg *indices,
                         uint32_t count, CtFlowArg value);
/* Whether a type has no adjoint because derivatives through function values nest too deeply: where one is asked for,
 * ->refused is to be set. */
bool ct_flow_has_no_adjoint(const CtFlowType *type);
#define CT_FLOW_TOO_MANY_ORDERS "derivatives of function values that hold derivatives nest too deeply"
/* Whether values of a type have adjoints. */
bool ct_flow_is_active(CtFlow *flow, const CtFlowType *type);
/* The fields of an adjoint of a node that was made by constructor `tag`, as values: zeros where it is Zero. */
CtFlowArgs ct_flow_adjoint_fields(CtFlowBuilder *l, CtSourceRange range, CtFlowArg adjoint, uint32_t tag);

/* partials.c: what the derivative of a step's primitive by one of its arguments makes of g: of its result's cotangent a
 * part of the argument's, of the argument's tangent a part of the result's. `type` is that of the part; none where it
 * is zero. What stands for an argument or the result is asked for where it is used. */
typedef CtFlowArg CtFlowPrimal(void *data, CtFlowArg of);
CtFlowArg ct_flow_partial(CtFlowBuilder *l, const CtFlowStep *step, uint32_t index, CtFlowArg g, const CtFlowType *type,
                          CtFlowPrimal *primal, void *data);

#endif
