/* Private to the folder of native code. */
#ifndef CT_RUN_INTERNAL_H
#define CT_RUN_INTERNAL_H

#include "rt/export.h"
#include "run/run.h"

#include <locale.h>

/* native_cache.c: the folder, opened and checked; -1 when there is none that can be trusted. *path: its name, from
 * malloc. */
int ct_run_cache_open(char **path);
/* Whether KEY.so is there and was made of exactly these bytes. */
bool ct_run_cache_has(int folder, const char *name, const char *key, size_t length);
/* Puts a file from its temporary name in its place, with its key; drops what was used least when there is too much. */
bool ct_run_cache_keep(int folder, const char *temporary, const char *name, const char *key, size_t length);

/* compiler.c: runs the compiler in the folder on a C file that is there. False with a reason. */
typedef struct CtCompiler {
    char path[4096];  /* found in PATH */
    char words[1024]; /* CC, its words ended by NULs */
    int word_count;
    char identity[256];       /* that tells one version from another */
    const char *const *flags; /* up to NULL */
} CtCompiler;
/* `exact`: for C that says CT_MATH_EXACT. */
bool ct_run_compiler_find(CtCompiler *compiler, bool exact, char reason[200]);
bool ct_run_compiler_run(const CtCompiler *compiler, const char *folder, const char *source, const char *target,
                         char reason[200]);
/* What the processor is and can do, for which the compiler writes. */
void ct_run_compiler_processor(char text[64]);

/* load.c */
typedef void CtNativeEntry(ct_run *rt, const ct_word *in, ct_word *out);

struct CtNative {
    CtFlow *flow;
    void *library;
    CtNativeEntry *entry;
    int64_t constant_words;
    ct_export outer;
    /* of the call under way */
    void (*work)(CtNative *native);
    CtHeap *heap;
    const CtType *input, *type;
    CtWord value, *result;
    struct CtApply *apply;
    locale_t locale;
    bool done, recurses; /* recurses: some function may need a stack of its own */
};

/* Runs native->work on a stack of `size` bytes, or of what there is. */
bool ct_run_native_on_stack(CtNative *native, size_t size);
/* What has gone wrong in a run; all that it had is given up, what the constants are too. */
void ct_run_native_failed(CtNative *native, CtNativeError *error);

/* convert_values.c */
/* A value as the words of its type's variables; fails through rt->out. */
void ct_run_to_native(ct_run *rt, CtFlow *flow, const CtType *type, CtWord value, ct_word *words);
/* And back, in the heap; false when that is full. */
bool ct_run_from_native(CtHeap *heap, CtFlow *flow, const CtType *type, const ct_word *words, CtWord *value);

#endif
