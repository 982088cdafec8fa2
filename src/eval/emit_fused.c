/* Code for fused array operations. */
#include "eval/compile.h"
#include "eval/fused.h"

uint32_t ct_eval_emit_fused(Compile *c, CtCore *e, const Fused *fused, uint32_t want) {
    Operand ops[FUSED_LEAVES];
    uint32_t count = fused->operand_count;
    bool is_pointer = fused->root != FUSED_TOTAL;
    ct_eval_operands(c, fused->operands, count, false, false, ops);
    ct_eval_count_steps(c, fused->cost);
    uint32_t dest = ct_eval_slot_new(c);
    ct_eval_begin(c, OP_FUSED, e->range);
    ct_eval_add_word(c, dest);
    add_pointer(c, fused);
    for (uint32_t i = 0; i < count; i++) {
        ct_eval_add_word(c, ops[i].slot);
        ct_eval_add_word(c, ops[i].drop_after);
    }
    for (uint32_t i = 0; i <= fused->check_count; i++) { /* source ranges of its checks and of a failing step */
        CtSourceRange range = i < fused->check_count ? fused->checks[i].range : fused->range;
        ct_push(c->arena, &c->places, (Place){c->words.count, range});
        ct_eval_add_word(c, 0);
    }
    if (is_pointer) ct_eval_own(c, dest);
    for (uint32_t i = 0; i < count; i++) ct_eval_drop_some(c, &ops[i]);
    if (want == NO_SLOT) return dest;
    Operand made = ct_eval_operand_slot(dest, is_pointer, true);
    uint32_t to = ct_eval_result_slot(c, want, &made, 1);
    uint32_t start = ct_eval_begin(c, OP_MOVE, CT_NO_RANGE);
    ct_eval_add_word(c, to);
    ct_eval_add_word(c, dest);
    return ct_eval_finish(c, start, to, want, is_pointer, &made, 1);
}
