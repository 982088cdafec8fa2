/* tape: reverse mode that writes its contributions in the forward pass. DUAL 2022 §9.3.
 *
 * Every real is paired with the number of a tape entry. The state monad carries the tape (lib/ad/tape.cot); each
 * operation pushes an entry with its arguments' numbers and the partial derivatives. Entry 0 stands for all constants.
 * The pullback sweeps the tape from the end, once for each cotangent. The forward pass costs a constant factor over the
 * program and 32 bytes for each operation, a pullback a constant for each entry. */
#include "ad/internal.h"

/* D[op(⟨x, i⟩)] = let y = op(⟨x⟩); i ← push ⟨i, ∂op(⟨x⟩)(1)⟩ in (y, i) */
static CtCore *operation(CtAd *ad, CtSeq *seq, const CtOperation *op) {
    CtPartials partials = ct_ad_partials(ad, seq, op);
    if (partials.count == 0) return ct_ad_reverse_constant(ad, op->range, partials.y);
    CtCore *entry = ct_ad_partials_run(&partials, seq, "i", "tapePush1", "tapePush2");
    return ct_ad_partials_pair(&partials, entry);
}

static const CtReverse names = {.none = "tapeNone",
                                .start = "tapeStart",
                                .input = "tapeInput",
                                .inputs = "tapeInputs",
                                .nothing = "tapeAdjoints",
                                .collect = "tapeSeed",
                                .resolve = "tapeResolve",
                                .entries = "tapeEntries",
                                .rule = "tapeRule",
                                .again = "tapeAgain",
                                .task = "tapeTask",
                                .offsets = "tapeOffsets",
                                .join = "tapeJoin",
                                .behind = "tapeBehind"};

const CtRules ct_ad_tape_rules = {CT_REVERSE_RULES, .state = ct_ad_reverse_state, .operation = operation,
                                  .trace = ct_ad_reverse_trace, .reverse = &names};
