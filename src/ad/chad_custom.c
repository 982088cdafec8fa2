/* Functions that come with a rule for their derivative, by CHAD: a transposed derivative is what the rule gives.
 *
 *   D[withVjp f rule x] = let ⟨x, x'⟩ = D[x]; ⟨y, pullback⟩ = rule x in ⟨y, λd. x' (pullback d)⟩
 *
 * with d and what comes back as structures, between which and cotangents chad_shape.c goes. What f captured may vary,
 * too: its own backpropagator, at an x that does not vary, tells how (custom.c). One pull for a cotangent; by a rule
 * for tangents, one of them for each real of x.
 */
#include "ad/chad.h"

static CtCore *apply(CtChad *c, CtSpan span, CtCore *f, CtCore *a, CtCore *b) {
    CtCore *args[2] = {a, b};
    return ct_core_app(c->p, span, f, args, b ? 2 : 1);
}

/* let (y, _) = rule x 0 in (y, λdy. fill x (map (λb. dot (snd (rule x b)) dy) (basis x))) */
static CtCore *pair_of_tangents(CtChad *c, CtSeq *seq, const CtCore *core, CtCore *rule, CtCore *x) {
    CtSpan span = core->span;
    CtCore *zero = ct_seq_name(seq, "dx", ct_generic_zero(c->ad, span, x->type, x));
    CtCore *y = ct_seq_name(seq, "y", ct_core_proj(c->p, span, apply(c, span, rule, x, zero), 0));
    CtVar *dy = ct_var_new(c->p, "dy", core->type), *b = ct_var_new(c->p, "b", x->type);
    CtCore *column = ct_core_proj(c->p, span, apply(c, span, rule, x, ct_core_var(c->p, span, b)), 1);
    CtCore *real = ct_generic_dot(c->ad, span, core->type, column, ct_core_var(c->p, span, dy), true);
    CtCore *args[2] = {ct_core_lam(c->p, span, NULL, &b, 1, real), ct_generic_basis(c->ad, span, x->type, x)};
    CtCore *reals = ct_core_array(c->p, span, ARRAY_MAP, args, 2);
    CtCore *filled = ct_generic_fill(c->ad, span, x->type, x, reals);
    return ct_core_pair(c->p, span, y, ct_core_lam(c->p, span, "pullback", &dy, 1, filled));
}

/* values: x, y and the pullback */
static void rule_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSpan span = back->core->span;
    CtCore *x = back->values[0], *dy = ct_chad_shape(c->ad, span, NULL, back->core->type, back->values[1], d);
    CtCore *dx = ct_seq_name(seq, "dx", apply(c, span, back->values[2], dy, NULL));
    const char *mismatch = "the cotangent that a rule gives does not have the shape of the point";
    ct_back_call(c, seq, back->parts[0], ct_chad_shape(c->ad, span, mismatch, x->type, x, dx));
}

/* parts: of x, and of f */
static void custom_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    if (back->parts[0]) rule_back(c, seq, back, d);
    ct_back_call(c, seq, back->parts[1], d);
}

static void maybe_custom_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    ct_chad_unless_none(c, seq, back, d, custom_back);
}

/* f at an x that does not vary. */
static CtBack *captured_back(CtChad *c, CtSeq *seq, CtCore *core, CtCore *x) {
    CtVar *point = ct_var_new(c->p, "x", x->type);
    ct_seq_let(seq, core->span, ct_ad_bind(c->t, point), x);
    ct_chad_place(c, point, (CtPlace){PLACE_NONE, 0, NULL});
    CtCore *use = ct_core_var(c->p, core->span, point);
    return ct_chad(c, seq, apply(c, core->span, core->as.call.args[0], use, NULL)).back;
}

CtPaired ct_chad_custom(CtChad *c, CtSeq *seq, CtCore *core) {
    CtCore **args = core->as.call.args, *rule = args[1], *pair[2];
    CtPaired x = ct_chad(c, seq, args[2]);
    CtBack *back = ct_back(c, core, maybe_custom_back);
    back->values = CT_NEW_ARRAY(c->ad->arena, CtCore *, 3);
    back->parts = CT_NEW_ARRAY(c->ad->arena, CtBack *, 2);
    back->values[0] = ct_seq_name(seq, "x", x.x);
    back->parts[0] = x.back;
    bool in_sight = rule->kind == CORE_LAM || rule->kind == CORE_GLOBAL;
    rule = ct_ad_primal_function(c->t, seq, rule, in_sight ? NULL : ct_chad(c, seq, rule).x);
    if (rule->kind != CORE_GLOBAL) rule = ct_seq_name(seq, "rule", rule);
    bool by_vjp = core->as.call.of.deriv == DERIV_WITH_VJP;
    CtCore *both = by_vjp ? apply(c, core->span, rule, back->values[0], NULL)
                          : pair_of_tangents(c, seq, core, rule, back->values[0]);
    if (ct_ad_may_vary(args[0])) back->parts[1] = captured_back(c, seq, core, back->values[0]);
    ct_seq_open(seq, "y", "pullback", both, pair);
    back->values[1] = pair[0];
    back->values[2] = pair[1];
    bool any = (back->parts[0] || back->parts[1]) && !ct_is_discrete(core->type);
    return (CtPaired){pair[0], any ? back : NULL};
}
