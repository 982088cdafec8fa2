/* vector: every real carries its whole gradient. DELTA 2022 Figs. 5 and 6.
 *
 * Forward mode in all directions at once: each real is paired with the vector of its partial derivatives by the inputs,
 * and every operation scales and adds such vectors (lib/ad/vector.cot). It is evidently correct, and expensive: the
 * cost of an operation is proportional to the number of inputs. */
#include "ad/internal.h"

/* D{op} = λ((x, v), (y, w)). (op x y, (∂₁op ⊗ v) ⊕ (∂₂op ⊗ w)) */
static CtCore *operation(CtAd *ad, CtSeq *seq, const CtOperation *op) {
    CtPartials partials = ct_ad_partials(ad, seq, op);
    CtCore *scaled[2];
    for (uint32_t k = 0; k < partials.count; k++) {
        CtCore *args[2] = {ct_ad_partial(&partials, k, NULL), partials.b[k]};
        scaled[k] = ct_ad_library_call(ad, op->range, "scaled", args, 2);
    }
    if (partials.count == 0) return ct_ad_reverse_constant(ad, op->range, partials.y);
    if (partials.count == 1) return ct_ad_partials_pair(&partials, scaled[0]);
    return ct_ad_partials_pair(&partials, ct_ad_library_call(ad, op->range, "plus", scaled, 2));
}

static const CtReverse names = {
    .none = "zero", .start = "start", .input = "input", .nothing = "zero", .collect = "collect", .resolve = "resolve"};

const CtRules ct_ad_vector_rules = {CT_REVERSE_RULES, .operation = operation, .reverse = &names};
