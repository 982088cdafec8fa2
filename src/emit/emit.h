/* Flow ▶ C11: docs/flow.md. */
#ifndef CT_EMIT_EMIT_H
#define CT_EMIT_EMIT_H

#include "flow/flow.h"

/* Writes a program, counted and with its places, as one file of C that holds all that it needs. It exports
 *
 *   void cotan_entry(ct_run *rt, const ct_word *in, ct_word *out)   the entry on its parameters' words
 *   const int64_t cotan_constant_words                              how many rt->constants there are
 *
 * exact: functions are libm's, to the last bit (rt/vector.h). */
void ct_emit(CtText *out, CtFlow *flow, bool exact);

#endif
