/* dual-defunc: one array, and defunctionalised backpropagators. DUAL 2022 §§9.1 and 9.2.
 *
 * All backpropagators have the same form: calls of others with z times a number. So the function is replaced by the
 * list of the others' numbers and factors (Contrib, in lib/ad/dual_defunc.cot), and the cotangents of the inputs are
 * read from the array of calls. The forward and the reverse pass cost a constant factor over the program. */
#include "ad/internal.h"

/* D[op(⟨t⟩)] = λi. … ((op(⟨x⟩), (i, [⟨(fst d, snd d, ∂op(⟨x⟩)(1))⟩])), i + 1) */
static CtCore *operation(CtAd *ad, CtSeq *seq, const CtOperation *op) {
    CtPartials partials = ct_ad_partials(ad, seq, op);
    if (partials.count == 0) return ct_ad_reverse_constant(ad, op->range, partials.y);
    CtCore *tagged = ct_ad_partials_run(&partials, seq, "d", "contrib1", "contrib2");
    return ct_ad_partials_pair(&partials, tagged);
}

const CtRules ct_ad_dual_defunc_rules = {CT_REVERSE_RULES, .state = ct_ad_reverse_state, .operation = operation,
                                         .trace = ct_ad_reverse_trace, .reverse = &ct_ad_dual_names};
