/* The derivative columns of primitives.def, read as steps of Flow: with a tangent in the place of the cotangent, since
 * they are linear in it. */
#include "flow/forward.h"

typedef struct Terms {
    CtPrimBuilder base;
    Lower *l;
    CtSpan span;
    const CtFlowType *real;
} Terms;

static CtPrimTerm term(const Terms *t, CtFlowArg arg) {
    CtFlowArg *kept = CT_NEW(t->l->arena, CtFlowArg);
    *kept = arg;
    return kept;
}

static CtPrimTerm number(CtPrimBuilder *self, double value) {
    const Terms *t = (const Terms *)self;
    return term(t, ct_flow_real(t->real, value));
}

static CtFlowArg operation(const Terms *t, CtPrim prim, const CtFlowType *type, CtPrimTerm a, CtPrimTerm b) {
    return ct_flow_prim(t->l, t->span, prim, type, *(CtFlowArg *)a, b == NULL ? ct_flow_none() : *(CtFlowArg *)b);
}

static CtPrimTerm prim(CtPrimBuilder *self, CtPrim prim, CtPrimTerm *args, uint32_t count) {
    const Terms *t = (const Terms *)self;
    return term(t, operation(t, prim, t->real, args[0], count > 1 ? args[1] : NULL));
}

static void branch(const Terms *t, CtFlowChoosing *choice, uint32_t tag, CtPrimTerm value) {
    CtFlowArgs values = {0};
    ct_flow_case_begin(t->l, choice, tag);
    ct_push(t->l->arena, &values, *(CtFlowArg *)value);
    ct_flow_case_end(t->l, choice, &values);
}

static CtPrimTerm choose(CtPrimBuilder *self, CtPrim comparison, CtPrimTerm a, CtPrimTerm b, CtPrimTerm yes,
                         CtPrimTerm no) {
    const Terms *t = (const Terms *)self;
    CtFlowArg holds = operation(t, comparison, ct_flow_scalar(t->l->flow, FLOW_I64), a, b);
    CtFlowChoosing choice = ct_flow_switch_begin(t->l, t->span, holds);
    branch(t, &choice, 1, yes);
    branch(t, &choice, FLOW_OTHERS, no);
    return term(t, ct_flow_switch_end(t->l, &choice).items[0]);
}

/* Its derivative is the conversion itself. */
static bool is_conversion(CtPrim prim) { return prim == PRIM_FLOAT_TO_DOUBLE || prim == PRIM_DOUBLE_TO_FLOAT; }

CtFlowArg ct_forward_prim(Forward *w, const CtFlowStep *step, CtFlowArg y) {
    Lower *l = &w->build;
    Terms t = {{number, prim, choose}, l, step->span, y.type};
    CtPrimTerm args[2] = {NULL, NULL}, sum = NULL;
    for (uint32_t i = 0; i < step->args.count; i++) args[i] = term(&t, ct_forward_primal(w, step->args.items[i]));
    for (uint32_t i = 0; i < step->args.count; i++) {
        if (!ct_tangent_counts(ct_forward_known(w, step->args.items[i]))) continue;
        CtPrimTerm g = term(&t, ct_forward_tangent(w, step->args.items[i]));
        CtPrimTerm part = is_conversion(step->as.prim)
                              ? term(&t, operation(&t, step->as.prim, y.type, g, NULL))
                              : ct_prim_derivative(&t.base, step->as.prim, i, args, term(&t, y), g);
        if (part != NULL) sum = sum == NULL ? part : term(&t, operation(&t, PRIM_ADD, y.type, sum, part));
    }
    return sum == NULL ? ct_flow_real(y.type, -0.0) : *(CtFlowArg *)sum;
}
