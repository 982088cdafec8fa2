/* dual-staged: calls of backpropagators staged by number. DUAL 2022 Figs. 8 and 9.
 *
 * A backpropagator does not call others. It returns a map from their numbers to the cotangents they are to be called
 * with, in which calls of the same one are added up, since it is linear: f x + f y = f (x + y). The state numbers
 * backpropagators in the order of creation, so the highest number can be called first, because only higher ones could
 * have staged a call of it (lib/ad/dual_staged.cot). Each is called at most once. The maps cost a logarithm. */
#include "ad/internal.h"

CtCore *ct_ad_dual_tagged(const CtPartials *partials, CtSeq *seq, CtVar *z, CtCore *body) {
    CtProgram *p = partials->ad->p;
    CtSourceRange range = partials->op->range;
    CtCore *i = ct_ad_seq_state(seq, range);
    CtCore *next = ct_core_prim2(p, range, PRIM_INT_ADD, i, ct_core_int(p, range, 1));
    CtVar *state = ct_core_var_new(p, "i", next->type);
    ct_ad_seq_let(seq, range, state, next);
    seq->state = state;
    CtCore *d = ct_core_lam(p, range, "d", &z, 1, body);
    return ct_ad_partials_pair(partials, ct_core_pair(p, range, i, d));
}

CtCore *ct_ad_dual_staged_call(const CtPartials *partials, uint32_t k, CtVar *z, CtCore *state) {
    CtAd *ad = partials->ad;
    CtSourceRange range = partials->op->range;
    CtCore *args[3] = {partials->b[k], ct_ad_partial(partials, k, ct_core_var(ad->p, range, z)), state};
    return ct_ad_library_call(ad, range, "stagedCall", args, state ? 3 : 2);
}

/* D³[op(⟨t⟩)] = λi. … ((op(⟨x⟩), (i, λ(z : ℝ). StagedCall d₁ (∂₁op(⟨x⟩)(z)) + ⋯ + StagedCall dₙ (∂ₙop(⟨x⟩)(z)))), i +
 * 1) */
static CtCore *operation(CtAd *ad, CtSeq *seq, const CtOperation *op) {
    CtPartials partials = ct_ad_partials(ad, seq, op);
    if (partials.count == 0) return ct_ad_reverse_constant(ad, op->range, partials.y);
    CtVar *z = ct_core_var_new(ad->p, "z", ad->p->double_type);
    CtCore *calls[2];
    for (uint32_t k = 0; k < partials.count; k++) calls[k] = ct_ad_dual_staged_call(&partials, k, z, NULL);
    CtCore *sum = partials.count == 1 ? calls[0] : ct_ad_library_call(ad, op->range, "plus", calls, 2);
    return ct_ad_dual_tagged(&partials, seq, z, sum);
}

const CtReverse ct_ad_dual_names = {.none = "none",
                                    .start = "start",
                                    .input = "input",
                                    .nothing = "nothing",
                                    .collect = "collect",
                                    .resolve = "resolve",
                                    .entries = "entries"};

const CtRules ct_ad_dual_staged_rules = {CT_REVERSE_RULES, .state = ct_ad_reverse_state, .operation = operation,
                                         .trace = ct_ad_reverse_trace, .reverse = &ct_ad_dual_names};
