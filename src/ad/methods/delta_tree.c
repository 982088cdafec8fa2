/* delta-tree: symbolic updates, without sharing. DELTA 2022 Figs. 7 and 8.
 *
 * A real is not paired with the vector of its partial derivatives, but with a term that describes it (Delta, in
 * lib/ad/delta_tree.cot), which costs a constant for each operation. Cotangents are propagated through the terms into
 * an array that is updated in place. A real that is used twice is in two terms, and is evaluated twice: the cost can be
 * exponential. */
#include "ad/internal.h"

/* D²{op} = λ((x, u₁), (y, u₂)). (op x y, Add (Scale ∂₁op u₁) (Scale ∂₂op u₂)) */
static CtCore *operation(CtAd *ad, CtSeq *seq, const CtOperation *op) {
    CtPartials partials = ct_ad_partials(ad, seq, op);
    return partials.count == 0 ? ct_ad_reverse_constant(ad, op->range, partials.y)
                               : ct_ad_partials_pair(&partials, ct_ad_delta_term(&partials));
}

static const CtReverse names = {
    .none = "zero", .start = "start", .input = "input", .nothing = "zero", .collect = "collect", .resolve = "resolve"};

const CtRules ct_ad_delta_tree_rules = {CT_REVERSE_RULES, .operation = operation, .reverse = &names};
