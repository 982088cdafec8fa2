/* Private to forward mode on Flow: what its files share. */
#ifndef CT_FLOW_FORWARD_H
#define CT_FLOW_FORWARD_H

#include "flow/ad/tangent.h"

typedef struct Forward {
    CtTangents *tangents;
    CtVariant *variant; /* the variant whose body is being written */
    CtFlowBuilder build;
    CtFlowArg *primals, *duals; /* by the origin's variables: primal and tangent in the new function */
    CT_VEC(CtVariant *) pending;
} Forward;

CtFlowArg ct_flow_forward_primal(const Forward *w, CtFlowArg arg);
CtTangent ct_flow_forward_known(const Forward *w, CtFlowArg arg);
/* The tangent of an argument of the origin; a zero is built when the tangent is only known to be zero. */
CtFlowArg ct_flow_forward_tangent(Forward *w, CtFlowArg arg);
/* The tangent of an array, in the shape of the primal, whose lengths are `dims`. */
CtFlowArg ct_flow_forward_full(Forward *w, CtSourceRange range, CtFlowArg arg, const CtFlowArg *dims);
/* Reads the lengths of an array of the new function. */
void ct_flow_forward_dims(Forward *w, CtSourceRange range, CtFlowArg array, CtFlowArg *dims);
void ct_flow_forward_bind(Forward *w, const CtFlowVar *var, CtFlowArg tangent);
/* Copies a step that acts on primals only. */
CtFlowStep *ct_flow_forward_copy(Forward *w, const CtFlowStep *step);

/* The function of a variant, ready to be called; its body is written later. */
CtFlowFunction *ct_flow_forward_function(Forward *w, CtVariant *v);

/* custom_rules.c: writes the body of a variant of a function with a rule, whose parameters are bound. */
void ct_flow_forward_rule(Forward *w);

/* forward_arrays.c: writes an array step whose result has a tangent, together with the tangent. */
void ct_flow_forward_array(Forward *w, const CtFlowStep *step);

#endif
