/* Derivatives on Flow: what reverse.c, forward.c and adjoint.c give to the pass that replaces the derivative steps.
 *
 * The types of tangents and cotangents, their values as steps, and the two functions that the reverse of a function is
 * cut into. */
#ifndef CT_FLOW_DERIVE_H
#define CT_FLOW_DERIVE_H

#include "flow/build.h"

/* The type of cotangents (and tangents) of a type; NULL where nothing in it is active. f64, f32: themselves. A node: a
 * data type whose constructor 0 is Zero, without fields, then one for each constructor, with the adjoints of its active
 * fields in order. An array: an array of adjoints; one of length 0 in every dimension stands for zero. */
const CtFlowType *ct_flow_adjoint_type(CtFlow *flow, const CtFlowType *type);

/* The constructors of what VJP keeps are known now: so are those of its adjoints. */
void ct_flow_close(CtFlow *flow, const CtFlowType *type);

typedef struct CtFlowReverse {
    CtFlowFunction *forward;  /* the parameters of f → the results of f, then the residual (a node) */
    CtFlowFunction *backward; /* the residual, the cotangents of the active results, accumulators of the active
                                 parameters → these accumulators with the contributions added */
} CtFlowReverse;

/* Both for a function that holds no derivative steps (nor its callees). NULL with flow->refused set. Made once for a
 * function. */
const CtFlowReverse *ct_flow_reverse(CtFlow *flow, CtFlowFunction *f);

typedef struct CtFlowForward {
    CtFlowFunction *function; /* the parameters of f, the tangents of the active ones of its point → the results of f,
                                 and the tangents of those that may have one */
    bool *has_tangent;        /* of each result of f; of the others it is zero */
} CtFlowForward;

/* Of a function that holds no derivative steps (nor its callees), what it captured taken for constant. Made once. The
 * tangents that it is given have the shapes of the point. */
const CtFlowForward *ct_flow_forward(CtFlow *flow, CtFlowDerived *derived);

/* Whether a function with a rule varies with a parameter: with those that the rule captured it does not. */
bool ct_flow_rule_counts(const CtFlowRule *rule, uint32_t param);
/* slope · d, as `type`; nothing comes of a structural zero. */
CtFlowArg ct_flow_rule_scaled(CtFlowBuilder *l, CtSourceRange range, CtFlowArg slope, CtFlowArg d,
                              const CtFlowType *type);

/* A zero of an adjoint type, as steps in the block that is being made: −0.0, Zero, an empty array. */
CtFlowArg ct_flow_zero(CtFlowBuilder *l, const CtFlowType *adjoint);
/* a + b of an adjoint type. Takes both. */
CtFlowArg ct_flow_add(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b);
/* A cotangent or tangent that the user gives, a value of the primal's own type, as adjoints. */
CtFlowArg ct_flow_embed(CtFlowBuilder *l, CtSourceRange range, CtFlowArg value);
/* And back: the value x with its active leaves replaced by the adjoints; zeros of x's shape where there is Zero;
 * discrete leaves are x's. */
CtFlowArg ct_flow_project(CtFlowBuilder *l, CtSourceRange range, CtFlowArg x, CtFlowArg adjoint);
/* Fails with E0504 and `what` where two values of one type differ in structure: shape_check.c. */
void ct_flow_check_shapes(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b, const char *what);

#endif
