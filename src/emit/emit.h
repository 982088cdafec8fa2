/* Flow ▶ C11: docs/flow.md. */
#ifndef CT_EMIT_EMIT_H
#define CT_EMIT_EMIT_H

#include "flow/flow.h"

/* Writes a program, counted and with its places, as one file of C. It exports
 *
 *   void cotan_entry(ct_run *rt, const ct_word *in, ct_word *out)   the entry on its parameters' words
 *   const int64_t cotan_constant_words                              how many rt->constants there are
 *   const ct_outside cotan_outside[]                                with `outside`: what it is to be told before it
 * runs
 *
 * exact: functions are libm's, to the last bit (rt/vector.h). outside: what Cotan has itself, it does not carry
 * (CT_COLD and CT_CALLED in rt/run.h); else it holds all that it needs. */
void ct_emit_program(CtText *out, CtFlow *flow, bool exact, bool outside);

/* The two halves of that, for a file with several programs: what all of them carry, with what stands at the border to
 * callers (rt/export.h) when there is a header for these, whose name is given without .h, as far as the rest of the
 * file needs it; and a program, whose names begin with a prefix, as
 *
 *   static void PREFIXentry(ct_run *rt, const ct_word *in, ct_word *out) */
void ct_emit_begin(CtText *out, const char *header, bool exact, const char *rest);
void ct_emit_part(CtText *out, CtFlow *flow, const char *prefix, bool exact);

#endif
