/* Private to forward mode on Flow: what is known of tangents before code is written. */
#ifndef CT_FLOW_TANGENT_H
#define CT_FLOW_TANGENT_H

#include "flow/ad/adjoint.h"

/* What is known of a variable's tangent when the program is compiled. ZERO has no variable of its own, and what depends
 * on nothing else costs nothing. */
typedef enum CtTangent {
    TANGENT_UNKNOWN, /* not come to yet; or never */
    TANGENT_EITHER,  /* of what has no reals in it (Nil, an empty array): as good as zero, and as good as full */
    TANGENT_ZERO,
    TANGENT_LAZY, /* of an array or node: as the primal, or the empty array or Zero */
    TANGENT_FULL  /* of an array: of the primal's shape; of a node: its constructor */
} CtTangent;

static inline bool ct_flow_tangent_is_kept(CtTangent t) {
    return t == TANGENT_EITHER || t == TANGENT_LAZY || t == TANGENT_FULL;
}
/* Whether it brings anything to what it goes into. */
static inline bool ct_flow_tangent_counts(CtTangent t) { return t == TANGENT_LAZY || t == TANGENT_FULL; }

/* A function together with what is known of its parameters' tangents. */
typedef struct CtVariant {
    CtFlowFunction *origin;
    CtTangent *params, *results;
    CtTangent *vars;      /* by the numbers of the origin's variables */
    CtFlowFunction *made; /* NULL until it is needed */
} CtVariant;

typedef struct CtTangents {
    CtFlow *flow;
    CtArena *arena;
    CT_VEC(CtVariant *) variants;
    CtMap known;  /* CtFlowFunction * -> Known of its variants */
    CtMap fields; /* CtFlowData * -> CtTangent **: of all tangents of nodes that are made, by constructor and field */
    CtMap active; /* CtFlowType * -> whether it is */
    CtVariant *root;
    bool changed, settling;
} CtTangents;

/* What is known of everything that `f` calls, when its parameters before `captured` have no tangents and the others
 * have full ones. */
CtTangents *ct_flow_tangents(CtFlow *flow, CtFlowFunction *f, uint32_t captured);
/* The variant that a call with these tangents goes to. */
CtVariant *ct_flow_tangents_variant(CtTangents *t, CtFlowFunction *f, const CtTangent *params);
CtTangent ct_flow_tangents_of(const CtVariant *v, const CtFlowArg *arg);
/* Of a field of a node whose own tangent is `node`. */
CtTangent ct_flow_tangents_field(CtTangents *t, CtTangent node, const CtFlowData *data, uint32_t tag, uint32_t field);
/* custom_rules.c: of a function with a rule: what is known of f, differentiated by what it captured, NULL where that
 * has no tangents; whether the point has some. */
CtVariant *ct_flow_rule_own_variant(CtTangents *t, const CtVariant *v);
bool ct_flow_rule_point_varies(const CtVariant *v);
/* Whether the tangent of what a loop carries is made full before its first iteration: rows of an array are of one
 * shape, and what a iteration changes would be asked at each whether it is. */
bool ct_flow_tangents_are_full(const CtFlowStep *loop, uint32_t carried);
bool ct_flow_tangents_active(CtTangents *t, const CtFlowType *type);

#endif
