/* Native code: programs of Flow, translated by the system's compiler, loaded and called.
 *
 * The compiler is what CC names, or cc; it is started without a shell. What it makes is kept in $XDG_CACHE_HOME/cotan
 * (or
 * ~/.cache/cotan), a folder that must be the user's own and closed to others; the whole key, program, version, compiler
 * and flags, is stored beside it and compared. COTAN_NATIVE=load only loads what is there, =off does nothing at all. */
#ifndef CT_RUN_RUN_H
#define CT_RUN_RUN_H

#include "base/pool.h"
#include "flow/flow.h"
#include "value/flat.h"

typedef struct CtNative CtNative;

/* Where a run ended that failed. */
typedef struct CtNativeError {
    CtErrorCode code;
    CtSourceRange range;
    const char *message; /* lives until the next call */
} CtNativeError;

/* Whether the environment says COTAN_NATIVE=require: nothing may stand in for native code then. */
bool ct_run_native_required(void);
/* Compiles the C of a program, or finds it in the cache, and loads it; `exact`: it was written for exact mathematics.
 * NULL with a reason, a sentence without a full stop. */
CtNative *ct_run_native_new(CtFlow *flow, const char *c, size_t length, bool exact, char reason[200]);
void ct_run_native_free(CtNative *native);
/* Loops may be shared out to the threads of a pool (borrowed). False without memory. */
bool ct_run_native_share(CtNative *native, CtPool *pool);

/* Calls the entry on one input of a type (NULL: it takes none), borrowed; the result, of type `type`, is made in the
 * heap. False with an error. `limit` is the bytes that the run may use. */
bool ct_run_native_call(CtNative *native, CtHeap *heap, size_t limit, const CtType *input, CtWord value,
                        const CtType *type, CtWord *result, CtNativeError *error);
/* The same on buffers, whose forms are `input` (NULL: it takes nothing) and `result`. Arrays are read where they lie; a
 * result whose buffer has no data stays where it is until the next call. */
bool ct_run_native_apply(CtNative *native, size_t limit, const CtFlat *input, const cotan_buffer *in,
                         const CtFlat *result, const cotan_slot *slots, cotan_buffer *out, CtNativeError *error);
/* NULL, or why values of a form are no words of native code. */
const char *ct_run_native_form(CtNative *native, const CtFlat *flat);
/* Another thread or a signal handler may ask a run to stop. */
void ct_run_native_interrupt(CtNative *native);

/* ---- the cache ---- */

typedef struct CtCacheState {
    char *folder;
    uint64_t files, bytes;
} CtCacheState;
/* What is kept; folder NULL without memory or where there is none. The caller frees the folder's name. */
CtCacheState ct_run_cache_state(void);
/* Removes all of it; how many files there were. */
uint64_t ct_run_cache_clear(void);

#endif
