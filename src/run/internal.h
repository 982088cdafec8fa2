/* Private to src/run. */
#ifndef CT_RUN_INTERNAL_H
#define CT_RUN_INTERNAL_H

#define CT_COUNTS_BLOCKS 1
#include "rt/export.h"
#include "run/run.h"

#include "flow/check/interpret.h"

#include <locale.h>
#include <sys/types.h>

/* native_cache.c: opens and checks the cache folder; −1 when there is none that can be trusted. *path: its name, from
 * malloc. */
int ct_run_cache_open(char **path);
/* Whether NAME.so exists, was made from exactly these bytes, and is as it was then. */
bool ct_run_cache_has(int folder, const char *name, const char *key, size_t length);
/* Makes a new file of these bytes; false where there is one of this name, or it cannot be written. */
bool ct_run_cache_write(int folder, const char *name, const char *bytes, size_t length);
/* Moves a file from its temporary name to its final one, with its key; removes the least recently used files when there
 * are too many. */
bool ct_run_cache_keep(int folder, const char *temporary, const char *name, const char *key, size_t length);

/* compiler.c */
typedef struct CtCompiler {
    char path[4096];  /* found in PATH */
    char words[1024]; /* the words of CC, each ended by a NUL */
    int word_count;
    char identity[256];       /* identifies the compiler's version */
    const char *const *flags; /* up to NULL */
    char blas[64];            /* -lNAME by COTAN_BLAS: multiplies matrices; or empty */
} CtCompiler;
/* `exact`: for C that defines CT_MATH_EXACT. */
bool ct_run_compiler_find(CtCompiler *compiler, bool exact, char reason[200]);
/* Starts the compiler in the folder on an existing C file. In the background it has a process group of its own, by
 * which it can be stopped. 0 with a reason. */
pid_t ct_run_compiler_start(const CtCompiler *compiler, bool background, const char *folder, const char *source,
                            const char *target, char reason[200]);
/* Whether it has succeeded (NATIVE_READY); `wait`: for its end. */
CtNativeState ct_run_compiler_state(pid_t child, bool wait, char reason[200]);
void ct_run_compiler_stop(pid_t child);
/* A description of the processor, for which the compiler generates code. */
void ct_run_compiler_processor(char text[64]);

/* load.c */
typedef void CtNativeEntry(ct_run *rt, const ct_word *in, ct_word *out);

typedef struct CtCompiling CtCompiling;

struct CtNative {
    CtFlow *flow;
    CtCompiling *compiling; /* NULL: the library has been loaded */
    void *library;
    CtNativeEntry *entry;
    int64_t constant_words;
    ct_export outer;
    /* of the current call */
    void (*work)(CtNative *native);
    CtHeap *heap;
    const CtType *input, *type;
    CtWord value, *result;
    struct CtApply *apply;
    locale_t locale;
    double seconds;             /* that the last call took, without the conversion of values */
    bool done, recurses;        /* recurses: some function may need a stack of its own */
    bool interprets;            /* there is no library: the interpreter runs the program */
    bool counts_blocks;         /* the library counts its blocks of memory: what is left behind a run is a fault */
    CtInterpreter *interpreter; /* of the last run; NULL: none */
    CtNativeError failure;      /* of the interpreter's last run; message NULL: none */
};

/* Sets the end of the stack that a run may use, if no interrupt has come before. */
void ct_run_native_stack(CtNative *native, char *end);
/* Runs native->work on a stack of `size` bytes, or the largest available. */
bool ct_run_native_on_stack(CtNative *native, size_t size);
/* After a failed run: discards all its memory, including the constants'. */
void ct_run_native_failed(CtNative *native, CtNativeError *error);

/* interpret.c: the work of a call of a program that is interpreted. */
void ct_run_interpret(CtNative *native);

/* convert_values.c */
/* Converts a value to the words of the variables of the type `as`: its own, or with arrays in place of some lists of
 * numbers, and matrices in place of lists of such lists that have one length. Fails through rt->out. */
void ct_run_to_native(ct_run *rt, CtFlow *flow, const CtType *type, const CtType *as, CtWord value, ct_word *words);
/* The converse, into the heap; false when it is full. */
bool ct_run_from_native(CtHeap *heap, CtFlow *flow, const CtType *type, const CtType *as, const ct_word *words,
                        CtWord *value);

#endif
