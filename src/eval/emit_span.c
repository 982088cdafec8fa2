/* Code that measures spans: at the beginning and end of a loop. An ITERATION follows each element (emit_loop.c). */
#include "eval/compile.h"

void ct_eval_span_begin(Compile *c, Span *s, CtSourceRange range) {
    *s = (Span){.measured = takes_iterations(c->m)};
    if (!s->measured) return;
    s->begin = ct_eval_slot_new(c);
    s->best = ct_eval_slot_new(c);
    s->mark = ct_eval_slot_new(c);
    ct_eval_begin(c, OP_MARK, range);
    ct_eval_add_word(c, s->begin);
    ct_eval_add_word(c, s->best);
    ct_eval_add_word(c, s->mark);
}

void ct_eval_span_end(Compile *c, Span *s, uint32_t out) {
    if (!s->measured) return;
    ct_eval_begin(c, OP_JOIN, CT_NO_RANGE);
    ct_eval_add_word(c, s->begin);
    ct_eval_add_word(c, s->best);
    ct_eval_add_word(c, out);
    ct_eval_span_free(c, s);
}

void ct_eval_span_free(Compile *c, const Span *s) {
    ct_eval_slot_free(c, s->begin);
    ct_eval_slot_free(c, s->best);
    ct_eval_slot_free(c, s->mark);
}
