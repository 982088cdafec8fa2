/* Differentiation on Flow: what reverse.c, forward.c and adjoint.c offer to the pass derive.c, which replaces the
 * derivative steps.
 *
 * That is: adjoint types, adjoint values as steps, and the forward and reverse sweep of a function. */
#ifndef CT_FLOW_DERIVE_H
#define CT_FLOW_DERIVE_H

#include "flow/build.h"

/* The type of the cotangents of a type, or NULL when values of the type contain no reals. For f64 and f32: the type
 * itself. For a node: a data type with constructor 0 Zero, without fields, then one constructor for each of the node's,
 * with the adjoints of its active fields in order. For an array: an array of adjoints; the empty array, of length 0 in
 * every dimension, stands for zero. An array that is a field or an element has a bag (bags.c) for its adjoint. */
const CtFlowType *ct_flow_adjoint_type(CtFlow *flow, const CtFlowType *type);
/* The same, of a field, an element, or a variable that may be another name for an array: for an array, a bag. */
const CtFlowType *ct_flow_shared_adjoint_type(CtFlow *flow, const CtFlowType *type);
/* The type of the tangents of a type: the same, but for bags, instead of which there are arrays. */
const CtFlowType *ct_flow_tangent_type(CtFlow *flow, const CtFlowType *type);
/* Whether a value of a type is an array, or a node that may hold one. */
bool ct_flow_holds_arrays(CtFlow *flow, const CtFlowType *type);

/* To be called when the constructors of a residual's type are complete: completes those of its adjoint. */
void ct_flow_close(CtFlow *flow, const CtFlowType *type);

typedef struct CtFlowReverse {
    CtFlowFunction *forward; /* the forward sweep: parameters of f → results of f, then the residual (a node) */
    /* The reverse sweep: residual, cotangents of the active results, accumulators of the active parameters → these
     * accumulators with the contributions added. */
    CtFlowFunction *backward;
    bool *accumulates; /* of the parameters of f: those that have an accumulator */
} CtFlowReverse;

/* The two sweeps of a function, whose first parameters are captured variables and so constants; it and its callees must
 * not contain derivative steps. Made once for each function. NULL with ->refused set when there are none. */
const CtFlowReverse *ct_flow_reverse(CtFlow *flow, CtFlowFunction *f, uint32_t captured);

typedef struct CtFlowForward {
    /* Parameters of f, tangents of the active parameters of its point → results of f, tangents of those results that
     * may have one. */
    CtFlowFunction *function;
    bool *has_tangent; /* for each result of f; a result without a tangent has tangent zero */
} CtFlowForward;

/* The tangent function of a function; it and its callees must not contain derivative steps. Captured variables are
 * constants. Made once. The given tangents must have the shapes of the point. */
const CtFlowForward *ct_flow_forward(CtFlow *flow, CtFlowDerived *derived);

/* Whether a function with a rule depends on a parameter: it does not on those that only the rule captured. */
bool ct_flow_rule_counts(const CtFlowRule *rule, uint32_t param);

/* The zero of an adjoint type, as steps in the current block: −0.0, Zero, or the empty array. */
CtFlowArg ct_flow_zero(CtFlowBuilder *l, const CtFlowType *adjoint);
/* a + b on an adjoint type; takes both. */
CtFlowArg ct_flow_add(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b);
/* Converts a cotangent or tangent that the user gives, in the type of the primal, to its adjoint or tangent type. */
CtFlowArg ct_flow_embed(CtFlowBuilder *l, CtSourceRange range, CtFlowArg value, const CtFlowType *type);
/* The converse of ct_flow_embed: x with its active leaves replaced by the adjoint's. Where the adjoint is zero, the
 * leaves become zeros in x's shape, and a structural zero becomes 0. Discrete leaves are those of x. */
CtFlowArg ct_flow_project(CtFlowBuilder *l, CtSourceRange range, CtFlowArg x, CtFlowArg adjoint);
/* The same, for what scales by the adjoint: structural zeros remain −0.0. */
CtFlowArg ct_flow_project_raw(CtFlowBuilder *l, CtSourceRange range, CtFlowArg x, CtFlowArg adjoint);
/* Fails with E0504 and `what` when two values of one type differ in shape: shape_check.c. */
void ct_flow_check_shapes(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b, const char *what);

#endif
