/* The implementation behind the public C API: contexts, loaded programs, and sessions.
 *
 * A session is an entry point of a program (a function, what is wanted of it, and a method), built and ready to run,
 * with its evaluator. Sessions are made on first use and kept with the program.
 *
 * Functions that fail return false or NULL, and have set context->error. When memory runs out they do not return, but
 * jump to context->handler, which every public function installs. */
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
    CtEntry entry; /* the session owns the function's name in it */
    CtBuild *build;
    CtEval *eval;
    CtType *point;                  /* NULL: a constant */
    CtType *with;                   /* VJP, JVP: type of the second input; otherwise NULL */
    CtType *value, *derivative;     /* derivative NULL for RUN */
    int arity;                      /* number of parameters in the source */
    CtNative *native;               /* made on first use */
    const char *not_native;         /* why there is no native code */
    const char *compiler;           /* $CC when it was made, or was to be made; "": not set */
    bool exact_math;                /* the setting that it was made with */
    size_t check_bytes;             /* bytes of the build's arena that checks have used beyond its limit */
    CtText lowered;                 /* for checks: the Flow program that native code was made from */
    CtFlow *const *checked;         /* for checks: the program after each number of passes; NULL: not made yet */
    CtNative *ran;                  /* the native code of the last run, which may be that of: */
    struct CtSession *for_any_rows; /* the session for inputs that its own native code does not take; or NULL */
    CtMap types_with_rows;          /* types of its input -> whether lists of lists of numbers are in their values */
    const char *not_flow;           /* of a session that replaces one of method `native`: why that one does not exist */
    const char *shape;      /* of the points that it takes, if derivatives by bulk were made for one; NULL: all */
    cotan_limits limits;    /* of the context, when it was made */
    unsigned pools;         /* and how many pools of threads had been freed */
    bool measures;          /* measures spans (work and span) */
    bool apart;             /* belongs to a cotan_function; no other call uses it */
    CtInput *const *inputs; /* such a one's: those that the function was made with, after so many definitions: */
    unsigned definitions;
    struct CtSession *next;
} CtSession;

/* The file of an imported module. */
typedef struct CtFile CtFile;

struct cotan_program {
    cotan_context *context;
    char *name, *text;
    size_t length;
    CtInput *inputs; /* definitions added since it was loaded; the last one is provisional while it is checked */
    CtInput *trial;
    unsigned definitions;   /* how often something was added to the inputs */
    CtInput *const *before; /* while a function is built again: the inputs that it was made with; or NULL */
    CtBuild *base;          /* checked, without an entry point; NULL once a session has taken it */
    size_t base_bytes;      /* that such a build had when it was made */
    CtSession *sessions;
    cotan_function *functions;
    CtFile *files;
    cotan_error *warnings; /* NULL: none */
    CtArena *warning_arena;
    CtArena *results;
    struct cotan_program *next;
};

/* The level of Cotan's checks of itself. */
enum {
    CHECK_PROGRAMS = 1, /* lint after each pass */
    CHECK_RUNS,         /* and in each run of native code, that no pass has changed its result */
    CHECK_AND_TELL,     /* and report what was checked on standard error */
    CHECK_EMISSION,     /* of runs only that native code gives what the program does behind the last pass; told too */
};

struct cotan_context {
    cotan_limits limits;
    int checks;
    char *fault;                /* the fault that a check has found, reported in place of the call's result; or NULL */
    bool exact_math, has_depth; /* has_depth: the limit on depth was set */
    cotan_error *error;         /* of the current call, or NULL */
    CtArena *error_arena;
    cotan_error out_of_memory;
    cotan_program *programs;
    char **folders; /* searched for modules */
    size_t folder_count;
    _Atomic(CtEval *) running;
    _Atomic(CtNative *) running_native;
    _Atomic int interrupters; /* calls of cotan_interrupt that use what runs */
    _Atomic uint64_t clock;   /* about the evaluator's steps in this call */
    bool measures;            /* the call asks for work and span */
    CtPool *pool;             /* with as many threads as the limits say; NULL: one thread */
    unsigned pools;           /* so many were freed: what uses one of these is outdated */
    locale_t locale, callers_locale;
    /* of the current call, for lack of memory */
    jmp_buf *handler;
    CtBuild *making;
    CtSession *active;
    cotan_program *active_program;
    CtInput *inputs[2];
    CtNpzWriter *archive;
    struct CtWorld *world; /* what actions ask for */
    CtArena *formatted;    /* holds the result of the last cotan_format */
};

/* ---- contexts.c: what every public function does ---- */

/* The work of a public function; false when it fails. */
typedef bool CtWork(cotan_context *context, void *data);
/* Runs the work with a handler for lack of memory. Returns the result of the public function. */
cotan_error *ct_session_guarded(cotan_context *context, CtWork *work, void *data);
/* An empty arena for a program's results; the previous results are freed. NULL when memory runs out, which is
 * reported. */
CtArena *ct_session_fresh_results(cotan_program *program);

/* ---- calls.c ---- */

/* A value split into its reals, and everything else as JSON text in which each real is 1. */
typedef struct CtApart {
    CtText shape;
    CtLeaves reals;
} CtApart;

/* Reports what makes no sense in a caller's call, before anything is done with it. Some calls take a function by its
 * name only. */
typedef enum CtCallee { CALLS_ANY, CALLS_FUNCTION } CtCallee;
bool ct_session_check_call(cotan_context *context, const cotan_call *call, CtCallee callee);
/* Whether a method's name (may be NULL) asks for native code. */
bool ct_session_names_native(const char *method);
/* Sets the methods of an entry point: its own, and that of reverse derivatives inside the program. */
bool ct_session_choose_method(cotan_context *context, const char *name, CtEntry *entry);

/* A call; its texts are stored with the program's results. */
typedef struct CtCall {
    cotan_program *program;
    const cotan_call *call;
    cotan_result *out;
    uint64_t steps;             /* limit of each run; 0: the context's */
    const CtQuestion *question; /* a question to a run of the evaluator (ct_eval_ask); NULL: none */
    CtProfile *profile;         /* collected in a run of the evaluator; NULL: none */
    bool at_point;              /* RUN: call->at is one value, as for derivatives, and not an array of arguments */
    CtApart *point, *value, *derivative; /* results to be split; NULL: not wanted */
    const CtLeaves *with_reals;          /* the reals to be used instead of those in call->with; NULL: none */
    bool checkpoints;                    /* loops get checkpoints, since the trace did not fit into memory without */
    const CtSession *session;            /* set to the session that runs, when it begins */
} CtCall;
/* Performs a call, except for the counts that call->count asks for. If memory runs out, and the program has loops that
 * can get checkpoints, it runs once more with these. */
bool ct_session_run_call(cotan_context *context, CtCall *c);
/* Whether the session (may be NULL) has run out of memory, but may do with less if its loops get checkpoints. */
bool ct_session_wants_checkpoints(const cotan_context *context, const CtSession *session);
/* Writes a result (borrowed) of a session as the call asks for it, among the program's results. */
bool ct_session_write(cotan_context *context, CtSession *session, CtWord result, const CtCall *c);
/* Determines these counts: the steps of the function alone, and the length of the trace. */
bool ct_session_call_counts(cotan_context *context, CtCall *c);

/* ---- folders.c: modules in files ---- */

/* A finder that looks for modules in the context's folders, and keeps their texts with the program. */
CtFinder ct_session_program_finder(cotan_program *program);
void ct_session_files_free(CtFile *files);
void ct_session_folders_free(cotan_context *context);

/* ---- errors.c: errors as objects ---- */

void ct_session_report_init(cotan_context *context);
/* Forgets the errors of the last call. */
void ct_session_report_clear(cotan_context *context);
/* Moves the errors in `diags` to the context; `diags` is empty afterwards. Always returns false. */
bool ct_session_report(cotan_context *context, CtContext *diags);
/* Messages from now on, until that, are kept apart from the build's memory, which they would fill in time. */
void ct_session_begin_messages(cotan_context *context, CtContext *diags);
/* Reports one error without a source range. Always returns false. */
bool ct_session_report_one(cotan_context *context, CtErrorCode code, const char *help, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void ct_session_report_out_of_memory(cotan_context *context);
/* Records a fault in Cotan itself that a check has found; the call ends with it, whatever its result. The first one
 * counts. */
void ct_session_fault(cotan_context *context, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Makes the recorded fault the call's error. */
void ct_session_report_fault(cotan_context *context);
/* Moves the warnings of a successful compilation to the program. */
void ct_session_report_warnings(cotan_program *program, CtContext *diags);

/* ---- describe.c ---- */

/* Says something about a program, as text; false after reporting an error. */
typedef bool CtDescribe(cotan_context *context, CtBuild *build, const void *of, CtText *out);
/* Sets *out to what is said of the program's build, kept with its results. False after reporting an error. */
bool ct_session_describe(cotan_context *context, cotan_program *program, CtDescribe *describe, const void *of,
                         const char **out);

/* ---- session.c ---- */

/* What is observed while a build goes through its passes. */
typedef struct CtLook {
    const char *dump; /* dump the program after this pass; or NULL */
    bool times;
    bool lazy; /* the program is to be evaluated by need */
} CtLook;

/* A build of the program that has been checked; the caller uses it up and frees it. */
CtBuild *ct_session_program_build(cotan_program *program, const CtLook *look);
/* The session of an entry point. With method `native` it runs as native code; if that is not possible, a session of
 * method `tape` replaces it. */
CtSession *ct_session_program_session(cotan_program *program, const CtEntry *entry);
/* The same with native code that is being made: *made is the session, NULL after an error or without one to fall back
 * to. */
CtNativeState ct_session_program_begin(cotan_program *program, const CtEntry *entry, CtSession **made);
/* Whether other limits than those of a session hold now; that of steps is set for each call, but native code counts
 * none. */
bool ct_session_is_outdated(const CtSession *session, const cotan_context *context);
/* The session for inputs that one of equal rows (CtListInput) does not take, which owns it. NULL after an error. */
CtSession *ct_session_for_any_rows(cotan_program *program, CtSession *session);
/* A session for points of the same shape as this value of the session's point, with derivatives by bulk made before it
 * runs; and whether that is needed for native code. */
CtSession *ct_session_program_shaped(cotan_program *program, CtSession *session, CtWord point);
static inline bool ct_session_needs_shape(const CtSession *session) {
    return session->entry.reverse == METHOD_BULK && session->entry.mode != COTAN_RUN && session->point != NULL;
}
/* A session in which nothing has run; ct_session_program_forget frees it. */
CtSession *ct_session_program_fresh_session(cotan_program *program, const CtEntry *entry);
/* A new session that no other call will use; `prepare` takes its build through the passes. */
typedef bool CtPrepare(CtBuild *build, const CtEntry *entry, void *data);
CtSession *ct_session_make(cotan_program *program, const CtEntry *entry, CtPrepare *prepare, void *data);
void ct_session_free(CtSession *session);
/* Marks a session as active in the current call. */
CtSession *ct_session_activate(cotan_program *program, CtSession *session);
/* Frees the sessions of expressions, which are used only once. */
void ct_session_program_forget_expressions(cotan_program *program);
/* Frees a session whose construction or run was aborted. */
void ct_session_program_forget(cotan_program *program, CtSession *session);

/* Parses an input (length 0: NUL-terminated) and keeps it until the end of the call as inputs[index]. */
CtInput *ct_session_parse(cotan_context *context, int index, const char *what, const char *bytes, size_t length);
/* Checks that an input is the array of the function's arguments. */
bool ct_session_arguments(CtSession *session, cotan_context *context, CtInput *given, const char *function);
/* Converts a parsed input to a value in the session's heap. */
bool ct_session_read(CtSession *session, cotan_context *context, CtInput *given, const CtType *type,
                     const CtLeaves *replace, CtWord *value);
/* Combines both inputs to the entry point's argument; `with` is used if the session has a second input. Takes both,
 * also on failure. */
bool ct_session_pair(CtSession *session, cotan_context *context, CtWord point, CtWord with, CtWord *pair);
/* Runs on an input (taken; ignored for a constant). The caller owns the result. */
bool ct_session_run(CtSession *session, cotan_context *context, CtWord input, CtWord *result);
/* The same for another global of the build with the same input type. */
bool ct_session_call(CtSession *session, cotan_context *context, CtGlobal *global, CtWord input, CtWord *result);
/* Lets an evaluator run, which an interrupt ends from now on; and the same for native code. */
void ct_session_begin_run(cotan_context *context, CtSession *session);
void ct_session_begin_native(cotan_context *context, CtNative *native);
/* From now on no interrupt reaches what has run: it may be freed. */
void ct_session_end_run(cotan_context *context);
/* The String that one of the build's show functions makes of a value, which is taken. */
bool ct_session_show(CtSession *session, cotan_context *context, CtGlobal *show, CtWord value, CtWord *text);
void ct_session_release(CtSession *session, const CtType *type, CtWord value);
/* The type of the entry point's result, which contains value and derivative. */
CtType *ct_session_result(const CtSession *session);

/* ---- equal_rows.c ---- */

/* Whether the lists of numbers in each list of them have one length, in a value of this type, or in its parts and
 * fields: not in the elements of lists and arrays, which stay as they are given. */
bool ct_session_has_equal_rows(CtSession *session, const CtType *type, CtWord value);

/* ---- type_trees.c ---- */

/* A type as the public API describes it; NULL of NULL. `known` holds those that were described before, by CtType. */
const cotan_type *ct_session_type(CtArena *arena, CtMap *known, const CtType *type);

/* ---- native.c ---- */

/* Whether the session's native code, or why there is none, was found with other settings than those of now: then it
 * takes another session. */
bool ct_session_native_differs(const CtSession *session, const cotan_context *context);
/* Makes the session's native code without waiting for the C compiler. If it is refused, session->not_native says why.
 */
CtNativeState ct_session_native_begin(CtSession *session, cotan_context *context);
/* Whether the session runs as native code, which is made on first use; otherwise session->not_native says why. */
bool ct_session_native(CtSession *session, cotan_context *context);
/* Whether something else may replace native code that does not exist, for this reason. If the environment requires
 * native code, this is an error instead. */
bool ct_session_may_fall_back(cotan_context *context, const char *what, const char *why);
/* Runs native code on an input (taken). */
bool ct_session_run_native(CtSession *session, cotan_context *context, CtWord input, CtWord *result);
/* The same with buffers: ct_run_native_apply. */
bool ct_session_apply_native(CtSession *session, cotan_context *context, const CtFlat *input, const cotan_buffer *in,
                             const CtFlat *result, const cotan_slot *slots, const cotan_buffer *out,
                             cotan_buffer *filled);
/* The entry point in Flow, ready for emission; NULL with a reason. */
CtFlow *ct_session_native_lower(cotan_context *context, CtBuild *build, const char **why);
/* Takes a build through the passes behind Core, up to `known`. A fault of a pass is reported as an internal error. */
bool ct_session_native_build(cotan_context *context, CtBuild *build, CtNativeOptions options, CtKnown known);

/* ---- check_passes.c ---- */

/* Prints a program. */
CtText ct_session_text(CtArena *arena, const CtFlow *flow);

/* Interprets the session's program after each pass on the input of a native run (borrowed). Result (borrowed; NULL: it
 * failed) or error must be the same as the native run's. Differences are recorded by ct_session_fault. */
void ct_session_check(CtSession *session, cotan_context *context, CtWord input, const CtWord *result,
                      const CtNativeError *error);

/* ---- check_evaluator.c ---- */

/* Repeats a call of native code with the evaluator and compares results (borrowed; NULL: the context has the error).
 * Differences are recorded by ct_session_fault. */
void ct_session_check_evaluator(cotan_context *context, const CtCall *c, const CtSession *session,
                                const CtWord *result);

/* ---- effects.c: input and output ----
 *
 * A run that begins again (as native code, or to be checked or counted) gets the answers that were given before, and
 * what it has done is not done again: so a call performs each effect once, and tells each message once. */

/* False without memory. */
bool ct_session_world_new(cotan_context *context);
/* What runs may ask of the world. */
struct ct_effects *ct_session_world(const cotan_context *context);
/* A call begins: nothing is performed yet. */
void ct_session_world_begin(cotan_context *context);
/* A run of the call begins. */
void ct_session_world_again(cotan_context *context);
/* Messages of the rest of this call go to nobody. */
void ct_session_world_silence(cotan_context *context, bool silent);
void ct_session_world_free(cotan_context *context);

/* ---- tier_up.c ---- */

/* Tier-up: native code for a call that the evaluator runs. */
typedef struct CtTierUp {
    cotan_context *context;
    CtCall *call;
    CtEntry entry;
    uint64_t after;    /* the steps after which native code takes over */
    bool begun;        /* the compiler has been started, or native code refused */
    CtSession *making; /* the session whose native code is being made; NULL: there is no memory */
    CtSession *native; /* set to the session with native code; NULL: the evaluator has gone on */
} CtTierUp;
/* The question to the evaluator that makes native code. If there can be none, the call's result says why. */
CtQuestion ct_session_tier_up(CtTierUp *t);

/* ---- interact.c ---- */

/* Whether a value can be bound to a name; if not, that is reported. */
bool ct_session_may_bind(cotan_context *context, CtArena *arena, const char *name);
/* Binds the value of an expression that a session has run to the call's name in the program. */
bool ct_session_program_bind(const CtCall *c, const CtSession *session, CtWord value);
/* Copies of the program's inputs, which the caller frees; false when memory runs out. */
bool ct_session_program_copy_inputs(const cotan_program *program, CtInput **copies);
void ct_session_inputs_free(CtInput *inputs);
/* Removes a provisional input after memory ran out. */
void ct_session_program_end_trial(cotan_program *program);
void ct_session_program_free_inputs(cotan_program *program);

#endif
