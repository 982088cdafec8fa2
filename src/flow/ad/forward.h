/* Private to forward mode on Flow: what its files share. */
#ifndef CT_FLOW_FORWARD_H
#define CT_FLOW_FORWARD_H

#include "flow/ad/tangent.h"

typedef struct Forward {
    CtTangents *tangents;
    CtVariant *variant; /* whose body is being written */
    CtFlowBuilder build;
    CtFlowArg *primals, *duals; /* of the origin's variables: what stands for them, and their tangents */
    CT_VEC(CtVariant *) pending;
} Forward;

CtFlowArg ct_flow_forward_primal(const Forward *w, CtFlowArg arg);
CtTangent ct_flow_forward_known(const Forward *w, CtFlowArg arg);
/* The tangent of an argument of the origin; made where it is only known to be zero. */
CtFlowArg ct_flow_forward_tangent(Forward *w, CtFlowArg arg);
/* The same of an array, of the shape of the primal, whose lengths are `dims`. */
CtFlowArg ct_flow_forward_full(Forward *w, CtSourceRange range, CtFlowArg arg, const CtFlowArg *dims);
/* The lengths of an array of what is written. */
void ct_flow_forward_dims(Forward *w, CtSourceRange range, CtFlowArg array, CtFlowArg *dims);
void ct_flow_forward_bind(Forward *w, const CtFlowVar *var, CtFlowArg tangent);
/* The step on primals alone. */
CtFlowStep *ct_flow_forward_copy(Forward *w, const CtFlowStep *step);

/* The function of a variant, to be called; its body is written later. */
CtFlowFunction *ct_flow_forward_function(Forward *w, CtVariant *v);

/* custom_rules.c: the body of a variant of a function with a rule, whose parameters are bound. */
void ct_flow_forward_rule(Forward *w);

/* forward_arrays.c: steps on arrays whose result has a tangent, the step itself included. */
void ct_flow_forward_array(Forward *w, const CtFlowStep *step);

#endif
