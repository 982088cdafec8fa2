/* dual-naive: reals paired with backpropagators. DUAL 2022 Figs. 5 and 6.
 *
 * A real is paired with the linear function from its cotangent to the cotangent of the whole input. The backpropagator
 * of an operation calls those of its arguments and adds what they return. This is easy to prove correct. But if a real
 * is used twice its backpropagator is called twice, and so are those of everything it was computed from: the cost can
 * be exponential (§5.4). */
#include "ad/internal.h"

/* D¹[op(⟨t⟩)] = let ⟨(x, d)⟩ = D¹[⟨t⟩] in (op(⟨x⟩), λ(z : ℝ). d₁ (∂₁op(⟨x⟩)(z)) + ⋯ + dₙ (∂ₙop(⟨x⟩)(z))) */
static CtCore *operation(CtAd *ad, CtSeq *seq, const CtOperation *op) {
    CtPartials partials = ct_ad_partials(ad, seq, op);
    if (partials.count == 0) return ct_ad_reverse_constant(ad, op->range, partials.y);
    CtVar *z = ct_core_var_new(ad->p, "z", ad->p->double_type);
    CtCore *calls[2];
    for (uint32_t k = 0; k < partials.count; k++) {
        CtCore *g = ct_ad_partial(&partials, k, ct_core_var(ad->p, op->range, z));
        calls[k] = ct_core_app(ad->p, op->range, partials.b[k], &g, 1);
    }
    CtCore *sum = partials.count == 1 ? calls[0] : ct_ad_library_call(ad, op->range, "plus", calls, 2);
    return ct_ad_partials_pair(&partials, ct_core_lam(ad->p, op->range, "d", &z, 1, sum));
}

static const CtReverse names = {
    .none = "none", .start = "start", .input = "input", .nothing = "zero", .collect = "collect", .resolve = "resolve"};

const CtRules ct_ad_dual_naive_rules = {CT_REVERSE_RULES, .operation = operation, .reverse = &names};
