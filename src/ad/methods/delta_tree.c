/* delta-tree: symbolic updates, their sharing lost. DELTA 2022 Figs. 7 and 8.
 *
 * Beside a real stands not the vector of its partial derivatives but a term that says how to make it (Delta, in
 * lib/ad/delta_tree.cot), which costs a constant for each operation. The terms are led back through an array that is
 * updated in place. But a real that is used twice stands in two terms, which are walked twice: the cost can grow
 * exponentially.
 */
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
