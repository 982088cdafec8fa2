/* Private to forward mode on Flow: the analysis of tangents, which runs before code is written. */
#ifndef CT_FLOW_TANGENT_H
#define CT_FLOW_TANGENT_H

#include "flow/ad/adjoint.h"

/* What is known at compile time of a variable's tangent. A ZERO tangent has no variable, and costs nothing. */
typedef enum CtTangent {
    TANGENT_UNKNOWN, /* not analysed yet, or unreachable */
    /* Of a value without reals in it (Nil, an empty array): it may be treated as zero or as full. */
    TANGENT_EITHER,
    TANGENT_ZERO,
    /* Of an array or node: in the primal's shape, or the empty array or Zero that stands for zero. */
    TANGENT_LAZY,
    TANGENT_FULL /* of an array: in the primal's shape; of a node: the primal's constructor */
} CtTangent;

static inline bool ct_flow_tangent_is_kept(CtTangent t) {
    return t == TANGENT_EITHER || t == TANGENT_LAZY || t == TANGENT_FULL;
}
/* Whether the tangent may contribute to what the variable is used for. */
static inline bool ct_flow_tangent_counts(CtTangent t) { return t == TANGENT_LAZY || t == TANGENT_FULL; }

/* A function for given knowledge of its parameters' tangents. */
typedef struct CtVariant {
    CtFlowFunction *origin;
    CtTangent *params, *results;
    CtTangent *vars;      /* by variable number in the origin */
    CtFlowFunction *made; /* NULL until it is first needed */
} CtVariant;

typedef struct CtTangents {
    CtFlow *flow;
    CtArena *arena;
    CT_VEC(CtVariant *) variants;
    CtMap known; /* CtFlowFunction * -> Known, the list of its variants */
    /* CtFlowData * -> CtTangent **, by constructor and field: the join over all tangent nodes of the type that are
     * made. */
    CtMap fields;
    CtMap active; /* CtFlowType * -> whether it is active */
    CtVariant *root;
    bool changed, settling;
} CtTangents;

/* Analyses `f` and everything that it calls; the parameters before `captured` have zero tangents, the others full
 * ones. */
CtTangents *ct_flow_tangents(CtFlow *flow, CtFlowFunction *f, uint32_t captured);
/* The variant that a call with these parameter tangents uses. */
CtVariant *ct_flow_tangents_variant(CtTangents *t, CtFlowFunction *f, const CtTangent *params);
CtTangent ct_flow_tangents_of(const CtVariant *v, const CtFlowArg *arg);
/* custom_rules.c, of a function with a rule: the variant of f differentiated by its captured variables, NULL when these
 * have no tangents; and whether the point has tangents. */
CtVariant *ct_flow_rule_own_variant(CtTangents *t, const CtVariant *v);
bool ct_flow_rule_point_varies(const CtVariant *v);
/* Whether a carried variable's tangent is made full before the first iteration. Otherwise each iteration would have to
 * test whether it is, and rows of one array could differ in shape. */
bool ct_flow_tangents_are_full(const CtFlowStep *loop, uint32_t carried);
bool ct_flow_tangents_active(CtTangents *t, const CtFlowType *type);

#endif
