/* Behind the public C API: contexts, loaded programs, and sessions.
 *
 * A session is one entry point of a program (a function, what is asked of it, by which method) built and ready to run,
 * with its evaluator. Sessions are made on first use and kept with the program.
 *
 * A function here that fails returns false or NULL and has set context->error. Running out of memory does not return:
 * it jumps to context->handler, which every public function installs.
 */
#ifndef CT_SESSION_H
#define CT_SESSION_H

#include <locale.h>
#include <stdatomic.h>

#include "io/io.h"
#include "driver/pipeline.h"
#include "run/run.h"

typedef struct CtErrorItem {
    const char *code, *message, *file;
    int line, column;
} CtErrorItem;

struct cotan_error {
    CtErrorItem *items;
    size_t count;
    const char *texts[2][2]; /* [colour][as_json] */
    int status;
};

typedef struct CtSession {
    CtEntry entry; /* its function's name is the session's own */
    CtBuild *build;
    CtEval *eval;
    CtType *point;              /* NULL: a constant */
    CtType *with;               /* VJP, JVP: of the second input; NULL otherwise */
    CtType *value, *derivative; /* derivative NULL for RUN */
    int arity;                  /* of the function as it was written */
    CtNative *native;           /* made when it is first asked for */
    const char *not_native;     /* why there is none */
    const char *compiler;       /* $CC when it was made, or was to be made; "": not set */
    bool exact_math;            /* the setting that it was made with */
    size_t check_bytes;         /* of the build's arena, which checks have taken beyond its limit */
    CtText lowered;             /* what native code was made of, for checks */
    CtFlow *const *checked;     /* the program after each number of passes; NULL: not made yet */
    const char *not_flow;       /* stands in for one by the method `native`: why that one is not there */
    unsigned threads;
    bool measures; /* source ranges */
    bool apart;    /* a function's own: no other call finds it */
    struct CtSession *next;
} CtSession;

/* The file of a module that a program imports. */
typedef struct CtFile CtFile;

struct cotan_program {
    cotan_context *context;
    char *name, *text;
    size_t length;
    CtInput *inputs; /* what was defined since it was loaded; the last one on trial while it is checked */
    CtInput *trial;
    CtBuild *base; /* checked, without an entry point yet; NULL once a session has taken it */
    CtSession *sessions;
    cotan_function *functions;
    CtFile *files;
    cotan_error *warnings; /* NULL: none */
    CtArena *warning_arena;
    CtArena *results;
    struct cotan_program *next;
};

/* What is checked of Cotan's own work. */
enum {
    CHECK_PROGRAMS = 1, /* after each pass, that the program is sound */
    CHECK_RUNS,         /* and in each run of native code, that no pass has changed what it gives */
    CHECK_AND_TELL,     /* and what was checked is told on standard error */
    CHECK_EMISSION,     /* of runs only that native code gives what the program does behind the last pass; told too */
};

struct cotan_context {
    cotan_limits limits;
    int checks;
    char *fault;                /* what a check has found, which is told in place of the call's result; NULL */
    bool exact_math, has_depth; /* has_depth: the limit on depth is not the default */
    cotan_error *error;         /* of the current call; NULL: none */
    CtArena *error_arena;
    cotan_error out_of_memory;
    cotan_program *programs;
    char **folders; /* in which modules are looked for */
    size_t folder_count;
    _Atomic(CtEval *) running;
    _Atomic(CtNative *) running_native;
    bool measures; /* the call asks for source ranges */
    CtPool *pool;  /* of as many threads as the limits say; NULL: one */
    locale_t locale, callers_locale;
    /* of the current call, for when memory runs out */
    jmp_buf *handler;
    CtBuild *making;
    CtSession *active;
    cotan_program *active_program;
    CtInput *inputs[2];
    CtNpzWriter *archive;
    CtArena *formatted; /* of the last cotan_format */
};

/* ---- api.c: what every public function does ---- */

/* The work of a public function. False when it has failed. */
typedef bool CtWork(cotan_context *context, void *data);
/* Runs it with a handler for the end of memory; what the public function returns. */
cotan_error *ct_session_guarded(cotan_context *context, CtWork *work, void *data);
/* An empty arena for a program's results: the last ones are gone. NULL without memory, which is reported. */
CtArena *ct_session_fresh_results(cotan_program *program);

/* A value taken apart: its reals, and all else as JSON text in which each real is 1. */
typedef struct CtApart {
    CtText shape;
    CtLeaves reals;
} CtApart;

/* The methods of an entry point: its own, and that of the reverse derivatives inside the program. */
bool ct_session_choose_method(cotan_context *context, const char *name, CtEntry *entry);

/* One call, whose texts go to the program's results. */
typedef struct CtCall {
    cotan_program *program;
    const cotan_call *call;
    cotan_result *out;
    uint64_t steps;             /* limit on each run; 0: the context's */
    const CtQuestion *question; /* of a run of the evaluator, whatever else is wanted; NULL: none */
    bool at_point;              /* RUN: call->at is a point, as derivatives take it, not an array of arguments */
    CtApart *point, *value, *derivative; /* which are taken apart, too; NULL: not wanted */
    const CtLeaves *with_reals;          /* stand in the place of those of call->with; NULL: they do not */
    const CtSession *session;            /* is set to the one that runs, when it begins */
} CtCall;
/* All of a call but the counts that call->count asks for. */
bool ct_session_run_call(cotan_context *context, CtCall *c);
/* Those: the steps of the function alone, and the trace. */
bool ct_session_call_counts(cotan_context *context, CtCall *c);

/* ---- folders.c: modules in files ---- */

/* Finds modules in the context's folders and keeps their texts with the program. */
CtFinder ct_session_program_finder(cotan_program *program);
void ct_session_files_free(CtFile *files);
void ct_session_folders_free(cotan_context *context);

/* ---- errors.c: errors as objects ---- */

void ct_session_report_init(cotan_context *context);
/* Forgets the errors of the last call. */
void ct_session_report_clear(cotan_context *context);
/* Takes over what stands in `diags`, which is empty afterwards. Always false. */
bool ct_session_report(cotan_context *context, CtContext *diags);
/* One error without a place. Always false. */
bool ct_session_report_one(cotan_context *context, CtErrorCode code, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void ct_session_report_out_of_memory(cotan_context *context);
/* A check has found an error of Cotan's own, which the call ends with whatever comes of it. The first one counts. */
void ct_session_fault(cotan_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Makes it the call's error. */
void ct_session_report_fault(cotan_context *context);
/* Takes over the warnings of a sound compilation as the program's. */
void ct_session_report_warnings(cotan_program *program, CtContext *diags);

/* ---- session.c ---- */

/* What is looked at while a build goes through its passes. */
typedef struct CtLook {
    const char *dump; /* the program behind this pass; NULL */
    bool times;
} CtLook;

/* A checked build of the program, for the caller to use up and free. */
CtBuild *ct_session_program_build(cotan_program *program, const CtLook *look);
/* The session of an entry point. By the method `native` it runs as native code; where that cannot be, `tape` stands in.
 */
CtSession *ct_session_program_session(cotan_program *program, const CtEntry *entry);
/* One in which nothing has been run; ct_session_program_forget ends it. */
CtSession *ct_session_program_fresh_session(cotan_program *program, const CtEntry *entry);
/* A new session that is not asked for twice, its build taken through the passes by `prepare`. */
typedef bool CtPrepare(CtBuild *build, const CtEntry *entry, void *data);
CtSession *ct_session_make(cotan_program *program, const CtEntry *entry, CtPrepare *prepare, void *data);
void ct_session_free(CtSession *session);
/* A session whose work is going on, in the call of now. */
CtSession *ct_session_activate(cotan_program *program, CtSession *session);
/* Removes the sessions of expressions, which are not asked for twice. */
void ct_session_program_forget_expressions(cotan_program *program);
/* Removes a session that was interrupted half-way. */
void ct_session_program_forget(cotan_program *program, CtSession *session);

/* Parses an input (length 0: a text that ends with NUL) and keeps it until the end of the call, as inputs[index]. */
CtInput *ct_session_parse(cotan_context *context, int index, const char *what, const char *bytes, size_t length);
/* Takes it as the array of the function's arguments. */
bool ct_session_arguments(CtSession *session, cotan_context *context, CtInput *given, const char *function);
/* A value of a parsed input in the session's heap. */
bool ct_session_read(CtSession *session, cotan_context *context, const CtInput *given, const CtType *type,
                     const CtLeaves *replace, CtWord *value);
/* Both inputs as what the entry point takes; `with` is used when the session has one. Both are taken, also on failure.
 */
bool ct_session_pair(CtSession *session, cotan_context *context, CtWord point, CtWord with, CtWord *pair);
/* Runs on an input (taken; ignored for a constant). The result is the caller's. */
bool ct_session_run(CtSession *session, cotan_context *context, CtWord input, CtWord *result);
/* The same of another global of the build that takes the same input. */
bool ct_session_call(CtSession *session, cotan_context *context, CtGlobal *global, CtWord input, CtWord *result);
/* The text, a String, that one of the build's show functions makes of a value, which is taken. */
bool ct_session_show(CtSession *session, cotan_context *context, CtGlobal *show, CtWord value, CtWord *text);
void ct_session_release(CtSession *session, const CtType *type, CtWord value);
/* The type of the entry point's result, of which value and derivative are parts. */
CtType *ct_session_result(const CtSession *session);

/* ---- native.c ---- */

/* Whether the session's native code, or why there is none, was found with other settings than those of now: then it
 * takes another session. */
bool ct_session_native_differs(const CtSession *session, const cotan_context *context);
/* Whether the session runs as native code, which is made now; otherwise session->not_native says why. */
bool ct_session_native(CtSession *session, cotan_context *context);
/* Whether something else may stand in where there is none, for this reason; not where the environment requires native
 * code: an error then. */
bool ct_session_may_fall_back(cotan_context *context, const char *what, const char *why);
/* Runs so on an input (taken). */
bool ct_session_run_native(CtSession *session, cotan_context *context, CtWord input, CtWord *result);
/* The same on buffers: ct_run_native_apply. */
bool ct_session_apply_native(CtSession *session, cotan_context *context, const CtFlat *input, const cotan_buffer *in,
                             const CtFlat *result, const cotan_slot *slots, cotan_buffer *out);
/* The entry point in Flow, ready to be written as C; NULL with a reason. */
CtFlow *ct_session_native_lower(cotan_context *context, CtBuild *build, const char **why);
/* A build taken through the passes behind Core, up to what `known` says; a fault of a pass is an error of its own. */
bool ct_session_native_build(cotan_context *context, CtBuild *build, CtNativeOptions options, CtKnown known);

/* ---- check_passes.c ---- */

/* A program as it is printed. */
CtText ct_session_text(CtArena *arena, const CtFlow *flow);

/* Interprets the session's program after each pass on the input of a run of native code (borrowed), whose result
 * (borrowed; NULL: it has failed) or error is to be the same. What is found is the context's fault. */
void ct_session_check(CtSession *session, cotan_context *context, CtWord input, const CtWord *result,
                      const CtNativeError *error);

/* ---- check_evaluator.c ---- */

/* Has the evaluator do once more what native code has done in a session, with this result (borrowed; NULL: the context
 * has the error). What differs is the context's fault. */
void ct_session_check_evaluator(cotan_context *context, const CtCall *c, const CtSession *session,
                                const CtWord *result);

/* ---- tier_up.c ---- */

/* Native code for a call that the evaluator runs. */
typedef struct CtTierUp {
    cotan_context *context;
    CtCall *call;
    CtEntry entry;
    CtSession *native; /* is set to the one that has native code; NULL: the evaluator has gone on */
    const char *why;
} CtTierUp;
/* Asks for it after so many steps; a refusal is told in the call's result. */
CtQuestion ct_session_tier_up(CtTierUp *t, uint64_t after);

/* ---- interact.c ---- */

/* Gives the value of the expression that a session has run a name in the program. */
bool ct_session_program_bind(cotan_program *program, const CtSession *session, CtWord value, const char *name);
/* Takes back an input that was on trial when memory ran out. */
void ct_session_program_end_trial(cotan_program *program);
void ct_session_program_free_inputs(cotan_program *program);

#endif
