/* dual-cayley: staged calls as functions on staged calls (the Cayley transform). DUAL 2022 Figs. 10 and 11.
 *
 * Staged values are not built and added: a backpropagator returns a function that adds to an existing one. So zero is
 * the identity, plus is composition, and no maps are united. Adding one call to the map still costs a logarithm
 * (lib/ad/dual_cayley.cot). */
#include "ad/internal.h"

CtCore *ct_ad_dual_composed(CtAd *ad, CtSeq *seq, const CtOperation *op) {
    CtPartials partials = ct_ad_partials(ad, seq, op);
    if (partials.count == 0) return ct_ad_reverse_constant(ad, op->range, partials.y);
    CtVar *z = ct_core_var_new(ad->p, "z", ad->p->double_type);
    CtVar *staged = ct_core_var_new(ad->p, "s", ct_core_type_fun_result(ct_ad_library(ad, "stagedCall")->type));
    CtCore *body = ct_core_var(ad->p, op->range, staged);
    for (uint32_t k = partials.count; k-- > 0;) body = ct_ad_dual_staged_call(&partials, k, z, body);
    return ct_ad_dual_tagged(&partials, seq, z, ct_core_lam(ad->p, op->range, NULL, &staged, 1, body));
}

const CtRules ct_ad_dual_cayley_rules = {CT_REVERSE_RULES, .state = ct_ad_reverse_state,
                                         .operation = ct_ad_dual_composed, .trace = ct_ad_reverse_trace,
                                         .reverse = &ct_ad_dual_names};
