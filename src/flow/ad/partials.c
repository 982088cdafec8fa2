/* The derivative columns of primitives.def as Flow steps. Both modes use them, since derivatives are linear in G. */
#include "flow/ad/adjoint.h"

typedef struct Term { /* an argument or result of the step, whose primal is computed when it is used; or a value */
    CtFlowArg value;
    bool is_primal;
} Term;

typedef struct Terms {
    CtPrimBuilder base; /* must come first */
    CtFlowBuilder *l;
    CtSourceRange range;
    const CtFlowType *real;
    CtFlowPrimal *primal;
    void *data;
} Terms;

static CtPrimTerm term(const Terms *t, CtFlowArg value, bool is_primal) {
    Term *made = CT_NEW(t->l->arena, Term);
    *made = (Term){value, is_primal};
    return made;
}

static CtFlowArg value_of(const Terms *t, CtPrimTerm of) {
    const Term *term = of;
    return term->is_primal ? t->primal(t->data, term->value) : term->value;
}

static CtPrimTerm number(CtPrimBuilder *self, double value) {
    const Terms *t = (const Terms *)self;
    return term(t, ct_flow_real(t->real, value), false);
}

static bool is_number(CtFlowArg arg, double value) {
    return arg.var == NULL && memcmp(&arg.lit.real, &value, sizeof value) == 0;
}

static CtFlowArg scale(const Terms *t, CtFlowArg p, CtFlowArg g) {
    return is_number(g, -0.0) ? g : ct_flow_prim(t->l, t->range, PRIM_SCALE, t->real, p, g);
}

static CtPrimTerm prim(CtPrimBuilder *self, CtPrim op, CtPrimTerm *args, uint32_t count) {
    const Terms *t = (const Terms *)self;
    CtFlowArg x = value_of(t, args[0]), y = count > 1 ? value_of(t, args[1]) : ct_flow_none();
    if (op == PRIM_SCALE) return term(t, scale(t, x, y), false);
    const CtFlowType *type = ct_prim_info(op)->result == 'R' ? t->real : ct_flow_scalar(t->l->flow, FLOW_I64);
    return term(t, ct_flow_prim(t->l, t->range, op, type, x, y), false);
}

static void branch(const Terms *t, CtFlowChoosing *choice, uint32_t tag, CtFlowArg value) {
    CtFlowArgs values = {0};
    ct_push(t->l->arena, &values, value);
    ct_flow_case_begin(t->l, choice, tag);
    ct_flow_case_end(t->l, choice, &values);
}

static CtPrimTerm choose(CtPrimBuilder *self, CtPrim comparison, CtPrimTerm x, CtPrimTerm y, CtPrimTerm yes,
                         CtPrimTerm no) {
    const Terms *t = (const Terms *)self;
    CtFlowArg left = value_of(t, x), right = y ? value_of(t, y) : ct_flow_none(), then = value_of(t, yes),
              other = value_of(t, no);
    CtFlowArg holds = ct_flow_prim_int(t->l, t->range, comparison, left, right);
    CtFlowChoosing choice = ct_flow_switch_begin(t->l, t->range, holds);
    branch(t, &choice, 1, then);
    branch(t, &choice, FLOW_OTHERS, other);
    return term(t, ct_flow_switch_end(t->l, &choice).items[0], false);
}

/* Converts a derivative between the two types of reals, in either direction. */
static CtFlowArg convert(const Terms *t, CtFlowArg value, const CtFlowType *type) {
    if (value.type == type) return value;
    CtPrim op = type->kind == FLOW_F64 ? PRIM_FLOAT_TO_DOUBLE : PRIM_DOUBLE_TO_FLOAT;
    return ct_flow_prim(t->l, t->range, op, type, value, ct_flow_none());
}

CtFlowArg ct_flow_partial(CtFlowBuilder *l, const CtFlowStep *step, uint32_t index, CtFlowArg g, const CtFlowType *type,
                          CtFlowPrimal *primal, void *data) {
    CtFlowArg y = flow_of(step->results.items[0]);
    Terms t = {{number, prim, choose, true}, l, step->range, y.type, primal, data};
    CtPrimTerm args[2] = {NULL, NULL};
    for (uint32_t i = 0; i < step->args.count; i++) args[i] = term(&t, step->args.items[i], true);
    CtPrimTerm d = ct_prim_derivative(&t.base, step->as.prim, index, args, term(&t, y, true), term(&t, g, false));
    return d == NULL ? ct_flow_none() : convert(&t, value_of(&t, d), type);
}
