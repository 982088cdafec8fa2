/* Primitives in reverse: the rows of primitives.def, read as steps. */
#include "flow/reverse.h"

typedef struct Term { /* a value of the forward sweep, asked for when it is used, or one of the reverse sweep */
    CtFlowArg value;
    bool is_forward;
} Term;

typedef struct Builder {
    CtPrimBuilder base; /* first */
    Reverse *r;
    CtSpan span;
    const CtFlowType *type; /* of reals */
} Builder;

static Term *term(Builder *b, CtFlowArg value, bool is_forward) {
    Term *t = CT_NEW(b->r->arena, Term);
    *t = (Term){value, is_forward};
    return t;
}

static CtFlowArg value_of(Builder *b, CtPrimTerm of) {
    const Term *t = of;
    return t->is_forward ? ct_reverse_need(b->r, t->value) : t->value;
}

static CtPrimTerm number(CtPrimBuilder *self, double value) {
    Builder *b = (Builder *)self;
    return term(b, ct_flow_real(b->type, value), false);
}

static bool is_number(CtFlowArg arg, double value) {
    return arg.var == NULL && memcmp(&arg.lit.real, &value, sizeof value) == 0;
}

/* A product with a literal that is no structural zero is one with plain multiplication. */
static CtFlowArg scale(Builder *b, CtFlowArg p, CtFlowArg g) {
    if (is_number(g, -0.0)) return g;
    if (is_number(g, 1)) return p;
    return ct_flow_prim(&b->r->b, b->span, g.var == NULL ? PRIM_MUL : PRIM_SCALE, b->type, p, g);
}

static CtPrimTerm prim(CtPrimBuilder *self, CtPrim op, CtPrimTerm *args, uint32_t count) {
    Builder *b = (Builder *)self;
    CtFlowArg x = value_of(b, args[0]), y = count > 1 ? value_of(b, args[1]) : ct_flow_none();
    if (op == PRIM_SCALE) return term(b, scale(b, x, y), false);
    const CtFlowType *type = ct_prim_info(op)->result == 'R' ? b->type : ct_flow_scalar(b->r->flow, FLOW_I64);
    return term(b, ct_flow_prim(&b->r->b, b->span, op, type, x, y), false);
}

static CtPrimTerm choose(CtPrimBuilder *self, CtPrim comparison, CtPrimTerm x, CtPrimTerm y, CtPrimTerm yes,
                         CtPrimTerm no) {
    Builder *b = (Builder *)self;
    Lower *l = &b->r->b;
    CtFlowArg left = value_of(b, x), right = value_of(b, y);
    CtFlowArgs then = {0}, other = {0};
    ct_push(l->arena, &then, value_of(b, yes));
    ct_push(l->arena, &other, value_of(b, no));
    CtFlowChoosing choice = ct_flow_switch_begin(l, b->span, ct_flow_prim_int(l, b->span, comparison, left, right));
    ct_flow_case_begin(l, &choice, 1);
    ct_flow_case_end(l, &choice, &then);
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    ct_flow_case_end(l, &choice, &other);
    return term(b, ct_flow_switch_end(l, &choice).items[0], false);
}

/* Between the two types of reals the cotangent is converted as the value was, the other way. */
static CtFlowArg convert(Reverse *r, CtSpan span, CtFlowArg g, const CtFlowType *type) {
    if (g.type == type) return g;
    CtPrim op = type->kind == FLOW_F64 ? PRIM_FLOAT_TO_DOUBLE : PRIM_DOUBLE_TO_FLOAT;
    return ct_flow_prim(&r->b, span, op, type, g, ct_flow_none());
}

void ct_reverse_prim(Reverse *r, CtFlowStep *step) {
    CtFlowArg y = flow_of(step->results.items[0]), g = ct_reverse_take(r, y, NULL);
    if (ct_flow_is_none(g)) return;
    Builder b = {{number, prim, choose}, r, step->span, y.type};
    CtPrimTerm args[2] = {NULL, NULL};
    for (uint32_t i = 0; i < step->args.count; i++) args[i] = term(&b, step->args.items[i], true);
    for (uint32_t i = 0; i < step->args.count; i++) {
        CtFlowArg to = step->args.items[i];
        if (!ct_reverse_is_active(r, to)) continue;
        CtPrimTerm d = ct_prim_derivative(&b.base, step->as.prim, i, args, term(&b, y, true), term(&b, g, false));
        if (d != NULL) ct_reverse_give(r, step->span, to, convert(r, step->span, value_of(&b, d), to.type), false);
    }
}
