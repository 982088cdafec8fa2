/* delta: symbolic updates in a state monad, with sharing. DELTA 2022 Figs. 9, 10, 11 and 16.
 *
 * Each operation's term is bound to a name, and the name is paired with the real, so that it can be copied freely. The
 * state carries the supply of names and the bindings so far (lib/ad/delta.cot). At the end the bindings are wrapped
 * around the result's term as Lets; evaluation meets each binding once, after all of its uses. The forward and the
 * reverse pass cost a constant factor over the program. */
#include "ad/internal.h"

CtCore *ct_ad_delta_term(const CtPartials *partials) {
    CtAd *ad = partials->ad;
    CtSourceRange range = partials->op->range;
    CtCore *scaled[2];
    for (uint32_t k = 0; k < partials->count; k++) {
        CtCore *args[2] = {ct_ad_partial(partials, k, NULL), partials->b[k]};
        bool is_one = args[0]->kind == CORE_LIT && args[0]->as.lit.real == 1.0;
        scaled[k] = is_one ? args[1] : ct_ad_library_con(ad, range, args[1]->type, "Scale", args, 2);
    }
    return partials->count == 1 ? scaled[0] : ct_ad_library_con(ad, range, scaled[0]->type, "Add", scaled, 2);
}

CtCore *ct_ad_delta_let(CtAd *ad, CtSeq *seq, CtSourceRange range, CtCore *term) {
    CtCore *args[2] = {term, ct_ad_seq_state(seq, range)};
    CtCore *name = ct_ad_seq_run(seq, "u", ct_ad_library_call(ad, range, "deltaLet", args, 2));
    return ct_ad_library_con(ad, range, term->type, "Var", &name, 1);
}

/* D{op} = λ((x, u₁), (y, u₂)). do { u₃ ← deltaLet (Add (Scale ∂₁op u₁) (Scale ∂₂op u₂)); pure (op x y, Var u₃) } */
CtCore *ct_ad_delta_operation(CtAd *ad, CtSeq *seq, const CtOperation *op) {
    CtPartials partials = ct_ad_partials(ad, seq, op);
    if (partials.count == 0) return ct_ad_reverse_constant(ad, op->range, partials.y);
    CtCore *name = ct_ad_delta_let(ad, seq, op->range, ct_ad_delta_term(&partials));
    return ct_ad_partials_pair(&partials, name);
}

const CtReverse ct_ad_delta_names = {.none = "zero",
                                     .start = "start",
                                     .input = "input",
                                     .inputs = "inputs",
                                     .nothing = "nothing",
                                     .collect = "collect",
                                     .resolve = "resolve",
                                     .entries = "entries",
                                     .task = "deltaTask",
                                     .offsets = "deltaOffsets",
                                     .join = "deltaJoin",
                                     .shift = "deltaShift",
                                     .behind = "inputsBehind"};

const CtRules ct_ad_delta_rules = {CT_REVERSE_RULES, .state = ct_ad_reverse_state, .operation = ct_ad_delta_operation,
                                   .trace = ct_ad_reverse_trace, .reverse = &ct_ad_delta_names};
