/* Stands for reverse.c, forward.c and adjoint.c until they are there. */
#include "flow/derive.h"

const CtFlowType *ct_flow_adjoint_type(CtFlow *flow, const CtFlowType *type) {
    (void)flow;
    return type->kind == FLOW_F64 ? type : NULL;
}

const CtFlowReverse *ct_flow_reverse(CtFlow *flow, CtFlowFunction *f) {
    (void)f;
    flow->refused = "derivatives on Flow";
    return NULL;
}

CtFlowFunction *ct_flow_forward(CtFlow *flow, CtFlowFunction *f) {
    (void)f;
    flow->refused = "tangents on Flow";
    return NULL;
}

CtFlowArg ct_flow_zero(Lower *l, const CtFlowType *adjoint) {
    (void)l;
    return (CtFlowArg){.type = adjoint, .lit.real = -0.0};
}

CtFlowArg ct_flow_add(Lower *l, CtSpan span, CtFlowArg a, CtFlowArg b) {
    (void)l, (void)span, (void)b;
    return a;
}

CtFlowArg ct_flow_embed(Lower *l, CtSpan span, CtFlowArg value) {
    (void)l, (void)span;
    return value;
}

CtFlowArg ct_flow_project(Lower *l, CtSpan span, CtFlowArg x, CtFlowArg adjoint) {
    (void)l, (void)span, (void)x;
    return adjoint;
}
