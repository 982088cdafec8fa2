/* Custom derivatives by CHAD: the rule gives the transposed derivative.
 *
 *   D[withVjp f rule x] = let ⟨x, x'⟩ = D[x]; ⟨y, pullback⟩ = rule x in ⟨y, λd. x' (pullback d)⟩
 *
 * cotangents.c converts d and the pullback's result between structures and cotangents. Captured variables of f may be
 * active too; for them the backpropagator of f at a constant x is run (ad/custom_rules.c). A cotangent takes one
 * pullback, or, by a rule for tangents, one tangent for each real of x. */
#include "ad/chad/chad.h"

static CtCore *apply(CtChad *c, CtSourceRange range, CtCore *f, CtCore *x) {
    return ct_core_app(c->p, range, f, &x, 1);
}

/* values: x, y and the pullback */
static void rule_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    CtCore *x = back->values[0], *dy = ct_chad_shape(c->ad, range, NULL, back->core->type, back->values[1], d);
    CtCore *dx = ct_ad_seq_name(seq, "dx", apply(c, range, back->values[2], dy));
    const char *mismatch = "the cotangent that a rule gives does not have the shape of the point";
    ct_chad_back_call(c, seq, back->parts[0], ct_chad_shape(c->ad, range, mismatch, x->type, x, dx));
}

/* From one real to one real the rule gives a slope, as for every method: λd. x' (pullback 1 · d). */
static void slope_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    CtCore *one = ct_core_real(c->p, range, back->core->type, 1.0);
    CtCore *p = ct_ad_to_double(c->ad, range, apply(c, range, back->values[2], one));
    ct_chad_back_call(c, seq, back->parts[0], ct_ad_seq_name(seq, "d", ct_core_prim2(c->p, range, PRIM_SCALE, p, d)));
}

/* parts: of x, and of f */
static void custom_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    bool single = ct_ad_is_real(back->core->type) && ct_ad_is_real(back->values[0]->type);
    if (back->parts[0]) (single ? slope_back : rule_back)(c, seq, back, d);
    ct_chad_back_call(c, seq, back->parts[1], d);
}

static void maybe_custom_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    ct_chad_unless_none(c, seq, back, d, custom_back);
}

/* The backpropagator of f at a constant x. */
static CtBack *captured_back(CtChad *c, CtSeq *seq, CtCore *core, CtCore *x) {
    CtVar *point = ct_core_var_new(c->p, "x", x->type);
    ct_ad_seq_let(seq, core->range, ct_ad_bind(c->t, point), x);
    ct_chad_place(c, point, (CtPlace){PLACE_NONE, 0, NULL});
    CtCore *use = ct_core_var(c->p, core->range, point);
    return ct_chad_chad(c, seq, apply(c, core->range, core->as.call.args[0], use)).back;
}

CtPaired ct_chad_custom(CtChad *c, CtSeq *seq, CtCore *core) {
    core = ct_core_deriv_one_rule(c->p, core, false);
    CtCore **args = core->as.call.args, *rule = args[1], *pair[2];
    CtPaired x = ct_chad_chad(c, seq, args[2]);
    CtBack *back = ct_chad_back(c, core, maybe_custom_back);
    back->values = CT_NEW_ARRAY(c->ad->arena, CtCore *, 3);
    back->parts = CT_NEW_ARRAY(c->ad->arena, CtBack *, 2);
    back->values[0] = ct_ad_seq_name(seq, "x", x.x);
    back->parts[0] = x.back;
    bool in_sight = rule->kind == CORE_LAM || rule->kind == CORE_GLOBAL;
    rule = ct_ad_primal_function(c->t, seq, rule, in_sight ? NULL : ct_chad_chad(c, seq, rule).x);
    if (rule->kind != CORE_GLOBAL) rule = ct_ad_seq_name(seq, "rule", rule);
    CtCore *both = ct_ad_pair_of_rule(c->ad, seq, core, rule, back->values[0]);
    if (ct_ad_may_vary(args[0])) back->parts[1] = captured_back(c, seq, core, back->values[0]);
    ct_ad_seq_open(seq, "y", "pullback", both, pair);
    back->values[1] = pair[0];
    back->values[2] = pair[1];
    bool any = (back->parts[0] || back->parts[1]) && !ct_is_discrete(core->type);
    return (CtPaired){pair[0], any ? back : NULL};
}
