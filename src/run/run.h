/* Native code: Flow programs compiled by the system's C compiler, loaded and called.
 *
 * The compiler is given by CC, or is cc; it is started without a shell. Its output is cached in $XDG_CACHE_HOME/cotan
 * (or ~/.cache/cotan), a folder that must belong to the user and be inaccessible to others. The whole key (program,
 * version, compiler and flags) is stored beside it and compared. COTAN_NATIVE=load only loads what is cached;
 * COTAN_NATIVE=off turns native code off. With COTAN_NATIVE=interpret nothing is compiled: the reference interpreter
 * runs what the C was emitted from, up to its limits, for tests. */
#ifndef CT_RUN_RUN_H
#define CT_RUN_RUN_H

#include "base/pool.h"
#include "flow/flow.h"
#include "value/flat.h"

typedef struct CtNative CtNative;

/* The failure of a run. */
typedef struct CtNativeError {
    CtErrorCode code;
    CtSourceRange range;
    const char *message; /* valid until the next call */
} CtNativeError;

/* Whether the environment says COTAN_NATIVE=require: it is then an error if something else would replace native
 * code. */
bool ct_run_native_required(void);
typedef struct CtCompileOptions {
    bool exact;      /* the C was written for exact mathematics */
    bool background; /* return while the compiler is at work: NATIVE_COMPILING */
} CtCompileOptions;
/* Compiles the C of a program, or finds it in the cache, and loads it. NULL with a reason, a sentence without a full
 * stop. */
CtNative *ct_run_native_new(CtFlow *flow, const char *c, size_t length, CtCompileOptions options, char reason[200]);

typedef enum CtNativeState { NATIVE_READY, NATIVE_COMPILING, NATIVE_REFUSED } CtNativeState;
/* What was begun in the background must not be called before it is ready. `wait`: for the compiler's end. Refused with
 * a reason; the caller frees it. */
CtNativeState ct_run_native_state(CtNative *native, bool wait, char reason[200]);
/* A compiler that is still at work is ended, and nothing of its work is kept. */
void ct_run_native_free(CtNative *native);
/* Lets loops use the threads of a pool (borrowed). False when memory runs out. */
bool ct_run_native_share(CtNative *native, CtPool *pool);

/* Calls the entry with an input of a type (borrowed; NULL: it has none). The result, of type `type`, is made in the
 * heap. False with an error. `limit`: bytes that the run may use. */
bool ct_run_native_call(CtNative *native, CtHeap *heap, size_t limit, const CtType *input, CtWord value,
                        const CtType *type, CtWord *result, CtNativeError *error);
/* The same with buffers, described by `input` (NULL: it has none) and `result`. Arrays are read in place; a result
 * whose buffer in `out` has no data stays in the run's memory until the next call. `filled` is set to what `out` is
 * after the call, or to anything if it fails. */
bool ct_run_native_apply(CtNative *native, size_t limit, const CtFlat *input, const cotan_buffer *in,
                         const CtFlat *result, const cotan_slot *slots, const cotan_buffer *out, cotan_buffer *filled,
                         CtNativeError *error);
/* Whether native code takes and gives values in these buffers as they are. */
bool ct_run_native_form(CtNative *native, const CtFlat *flat);
/* What runs may ask of the world (borrowed; rt/run.h); NULL: nothing. */
struct ct_effects;
void ct_run_native_effects(CtNative *native, struct ct_effects *effects);
/* How many seconds the last call took, without the conversion of values. */
double ct_run_native_seconds(const CtNative *native);
/* Asks a run to stop, from another thread or a signal handler. */
void ct_run_native_interrupt(CtNative *native);
/* Forgets an interrupt that came too late for the run before. */
void ct_run_native_clear_interrupt(CtNative *native);

/* ---- the cache ---- */

typedef struct CtCacheState {
    char *folder;
    uint64_t files, bytes;
} CtCacheState;
/* The state of the cache; folder is NULL when memory runs out or there is no cache. The caller frees the folder's
 * name. */
CtCacheState ct_run_cache_state(void);
/* Empties the cache; returns the number of files removed. */
uint64_t ct_run_cache_clear(void);

#endif
