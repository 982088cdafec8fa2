/* Emission of C11 from Flow: docs/flow.md. */
#ifndef CT_EMIT_EMIT_H
#define CT_EMIT_EMIT_H

#include "flow/flow.h"

/* Writes a program as one C file. The program must have retains and releases, and numbered sites. The file exports
 *
 *   void cotan_entry(ct_run *rt, const ct_word *in, ct_word *out)   runs the entry on the words of its parameters
 *   const int64_t cotan_constant_words                              number of words in rt->constants
 *   const ct_outside cotan_outside[]                                only with `outside`: functions to be linked before
 *   a run
 *
 * options.outside: functions of the runtime that Cotan itself contains are not copied into the file (CT_COLD and
 * CT_CALLED in rt/run.h); otherwise the file is self-contained. */
typedef struct CtEmitOptions {
    bool exact;   /* mathematical functions are libm's, to the last bit (rt/vector.h) */
    bool outside; /* the file is compiled for this process */
    bool scalar;  /* no loop is vectorised */
    bool debug;   /* memory is poisoned and indices are checked (rt/debug.h); the file is self-contained then */
} CtEmitOptions;
void ct_emit_program(CtText *out, CtFlow *flow, CtEmitOptions options);

/* The two halves of ct_emit_program, for a file with several programs. ct_emit_begin writes the part of the runtime
 * that all programs share, as far as `rest`, the rest of the file, needs it; with a `header`, whose name is given
 * without .h, also the interface to callers in C (rt/export.h). The other one writes one program, all of whose names
 * begin with a prefix, and which is entered by
 *
 *   static void PREFIXentry(ct_run *rt, const ct_word *in, ct_word *out) */
void ct_emit_begin(CtText *out, const char *header, bool exact, const char *rest);
void ct_emit_part(CtText *out, CtFlow *flow, const char *prefix, bool exact);

#endif
