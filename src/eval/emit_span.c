/* Emission of what measures spans: where a loop begins and ends. Behind each element stands a TURN (emit_loop.c). */
#include "eval/compile.h"

void span_begin(Compile *c, Span *s, CtSpan span) {
    *s = (Span){.measured = takes_turns(c->m)};
    if (!s->measured) return;
    s->begin = slot_new(c);
    s->best = slot_new(c);
    s->mark = slot_new(c);
    begin(c, OP_MARK, span);
    add_word(c, s->begin);
    add_word(c, s->best);
    add_word(c, s->mark);
}

void span_end(Compile *c, Span *s, uint32_t out) {
    if (!s->measured) return;
    begin(c, OP_JOIN, CT_NO_SPAN);
    add_word(c, s->begin);
    add_word(c, s->best);
    add_word(c, out);
    slot_free(c, s->begin);
    slot_free(c, s->best);
    slot_free(c, s->mark);
}
