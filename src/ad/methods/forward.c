/* forward: dual numbers. DELTA Figs. 3 and 4, with the wrapper of Fig. 16 for any first-order S and T.
 *
 * Every real is paired with its tangent; everything else keeps its structure (homomorphic.c). One run gives one
 * directional derivative, at a constant factor over the program's own cost. */
#include "ad/internal.h"

/* D{ℝ} = ℝ × δℝ */
static CtType *real(CtAd *ad, CtType *type) { return ct_core_type_pair(ad->p, type, type); }

/* D{r} = (r, 0): the structural zero, see primitives.def */
static CtCore *constant(CtAd *ad, CtSourceRange range, CtCore *x) {
    CtCore *zero = ct_core_real(ad->p, range, x->type, -0.0);
    return ct_core_pair(ad->p, range, x, zero);
}

static CtCore *primal(CtAd *ad, CtSourceRange range, CtCore *d) { return ct_core_proj(ad->p, range, d, 0); }

static bool is_zero(const CtCore *dx) { return dx->kind == CORE_LIT && dx->as.lit.real == 0.0; }

/* D{op} = λ((x, δx), (y, δy)). (op x y, ∂₁op·δx + ∂₂op·δy) */
static CtCore *operation(CtAd *ad, CtSeq *seq, const CtOperation *op) {
    CtCore *x[2] = {NULL, NULL}, *dx[2] = {NULL, NULL}, *parts[2];
    for (uint32_t i = 0; i < op->count; i++) {
        x[i] = op->args[i];
        if (!ct_ad_is_real(op->types[i])) continue;
        ct_ad_seq_open(seq, "x", "dx", op->args[i], parts);
        x[i] = parts[0];
        dx[i] = parts[1];
    }
    CtCore *y = op->value ? op->value : ct_core_prim(ad->p, op->range, op->prim, x, op->count);
    y = ct_ad_seq_name(seq, "y", y);
    CtCore *dy = NULL;
    for (uint32_t i = 0; i < op->count; i++) {
        if (!dx[i] || is_zero(dx[i])) continue;
        CtCore *term = op->value ? ct_core_prim2(ad->p, op->range, PRIM_SCALE, op->partials[i], dx[i])
                       : ct_ad_is_conversion(op->prim) ? ct_core_prim1(ad->p, op->range, op->prim, dx[i])
                                                       : ct_ad_derivative(ad, op, i, x, y, dx[i]);
        if (term) dy = dy ? ct_core_prim2(ad->p, op->range, PRIM_ADD, dy, term) : term;
    }
    return dy ? ct_core_pair(ad->p, op->range, y, dy) : constant(ad, op->range, y);
}

/* ---- the wrapper ---- */

static CtCore *zip_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                        CtCore *env) {
    (void)method, (void)seq, (void)type, (void)env;
    return ct_core_pair(ad->p, range, ins[0], ins[1]);
}

/* zip_A : (A × δA) → D{A} */
static const CtGeneric zip = {.name = "zip",
                              .inputs = 2,
                              .makes = true,
                              .makes_dual = true,
                              .mismatch = "the tangent does not have the shape of the point",
                              .leaf = zip_leaf};

/* zip for the result of a rule. */
static const CtGeneric zip_rule = {.name = "zipRule",
                                   .inputs = 2,
                                   .makes = true,
                                   .makes_dual = true,
                                   .mismatch = "the tangent that a rule gives does not have the shape of its value",
                                   .leaf = zip_leaf};

static CtCore *delta_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                          CtCore *env) {
    (void)method, (void)seq, (void)type, (void)env;
    return ct_core_proj(ad->p, range, ins[0], 1);
}

static CtCore *normal_delta_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type,
                                 CtCore *const *ins, CtCore *env) {
    return ct_ad_normal(ad, range, delta_leaf(ad, method, seq, range, type, ins, env));
}

/* delta_A : D{A} → δA; `tangent` with ct_ad_normal */
static const CtGeneric delta = {.name = "delta", .inputs = 1, .dual = {true}, .makes = true, .leaf = delta_leaf};
static const CtGeneric tangent = {
    .name = "tangent", .inputs = 1, .dual = {true}, .makes = true, .leaf = normal_delta_leaf};

/* F{f} (x, dx) = let y = D{f} (zip_S x dx) in (primal_T y, delta_T y) */
static CtCore *jvp(CtAd *ad, CtSeq *seq, const CtWrap *wrap) {
    CtSourceRange range = wrap->range;
    CtCore *x = ct_ad_generic(
        ad, &zip,
        (CtGenericCall){.method = METHOD_FORWARD, .range = range, .type = wrap->s, .ins = {wrap->x, wrap->dx}});
    CtCore *y = ct_ad_seq_name(seq, "y", ct_core_app(ad->p, range, wrap->f, &x, 1));
    CtCore *value = ct_ad_poly_primal(ad, METHOD_FORWARD, range, wrap->t, y);
    CtCore *dy = ct_ad_generic(ad, wrap->is_factor ? &delta : &tangent,
                               (CtGenericCall){.method = METHOD_FORWARD, .range = range, .type = wrap->t, .ins = {y}});
    return ct_core_pair(ad->p, range, value, dy);
}

/* let (y, dy) = rule (primal x, delta x) in zip y dy */
static CtCore *by_tangent(CtAd *ad, CtSeq *seq, const CtWrap *wrap, CtCore *rule) {
    CtSourceRange range = wrap->range;
    CtCore *args[2], *both[2];
    args[0] = ct_ad_seq_name(seq, "x", ct_ad_poly_primal(ad, METHOD_FORWARD, range, wrap->s, wrap->x));
    args[1] = ct_ad_generic(
        ad, &delta, (CtGenericCall){.method = METHOD_FORWARD, .range = range, .type = wrap->s, .ins = {wrap->x}});
    ct_ad_seq_open(seq, "y", "dy", ct_core_app(ad->p, range, rule, args, 2), both);
    return ct_ad_generic(
        ad, &zip_rule,
        (CtGenericCall){.method = METHOD_FORWARD, .range = range, .type = wrap->t, .ins = {both[0], both[1]}});
}

static CtCore *vjp(CtAd *ad, CtSeq *seq, const CtWrap *wrap) {
    return ct_ad_vjp_from_jvp(ad, seq, wrap, METHOD_FORWARD);
}

const CtRules ct_ad_forward_rules = {.real = real,
                                     .constant = constant,
                                     .primal = primal,
                                     .operation = operation,
                                     .by_tangent = by_tangent,
                                     .jvp = jvp,
                                     .vjp = vjp};
