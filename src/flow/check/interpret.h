/* The reference interpreter of Flow: what a program means, step by step. Nothing is done in place or vectorised, and
 * every read is checked. It is slow and must be obviously right, since passes and emitted code are compared with it
 * (docs/flow.md, "How passes are checked").
 *
 * An interpreter owns its heap, which is freed with it. Several interpreters may run at once. A run never ends the
 * process and never hangs: where it takes too many steps, too much memory or too deep a stack, it is stopped and says
 * why. */
#ifndef CT_FLOW_INTERPRET_H
#define CT_FLOW_INTERPRET_H

#include "flow/flow.h"
#include "rt/run.h"

/* ---- values ---- */

/* The value of a variable, element or field. Reals are stored as long double; in double mode they hold a double. */
typedef union CtFlowCell {
    long double real;
    int64_t integer;
    struct CtFlowObject *object; /* NULL: a value that the program never reads */
} CtFlowCell;

/* A node or array. It is immutable once it is complete. */
typedef struct CtFlowObject {
    struct CtFlowObject *next, **link; /* in the heap, or in the list of objects to free */
    int64_t refs;                      /* references from variables and objects of the interpreter */
    int64_t claims;                    /* references by the retains and releases of the program */
    const CtFlowTypes *fields;         /* of a node; NULL: this is an array */
    uint32_t tag, rank;
    bool holds_objects;      /* an array whose elements are objects */
    int64_t count, capacity; /* number of cells; capacity */
    CtFlowCell *cells;
    int64_t dims[]; /* as many as the rank; after a dimension of 0 all are 0 */
} CtFlowObject;

/* ---- runs ---- */

typedef enum CtFlowEnd {
    FLOW_END_DONE,
    FLOW_END_FAILED,  /* the program failed: with a code, a place and a message */
    FLOW_END_STOPPED, /* the run was given up; the message says why */
    FLOW_END_WRONG,   /* something that no sound program does; the message says what, and `function` where */
} CtFlowEnd;

typedef struct CtInterpretLimits {
    uint64_t steps;
    size_t bytes, stack;
} CtInterpretLimits;

typedef struct CtInterpretOptions {
    CtInterpretLimits limits;
    bool wide;   /* compute reals in extended precision, without rounding to Double or Float */
    bool counts; /* the program has retains and releases, and reading a released object is an error */
} CtInterpretOptions;

/* A function whose arguments, at its first call, are recorded. */
typedef struct CtInterpretWatch {
    const CtFlowFunction *function;
    CtFlowCell *args; /* NULL: it was not called */
} CtInterpretWatch;

typedef struct CtInterpretFrame CtInterpretFrame;

typedef struct CtInterpreter {
    const CtFlow *flow;
    CtInterpretOptions options;
    /* the outcome of the last run */
    CtFlowEnd end;
    CtErrorCode code; /* FAILED */
    CtSourceRange range;
    const char *message;            /* FAILED, STOPPED and WRONG; valid until the next run */
    const CtFlowFunction *function; /* WRONG: the function in which it happened */
    CtFlowCell *results;            /* DONE: of the entry's result types */
    /* state of a run */
    uint64_t told, messages;  /* number of messages (Debug.Trace) that the run told; a hash of them */
    bool is_native;           /* the outcome is that of native code, whose messages are not recorded */
    uint64_t steps, in_place; /* in_place: those of them that copied arrays which the program changes in place */
    size_t bytes;
    char *stack_end;
    ct_run failing;          /* messages of failures, and the jump out of the run */
    CtFlowObject *objects;   /* all objects of the heap */
    CtInterpretFrame *frame; /* the innermost frame */
    CtFlowCell *passed;      /* values that a block hands to its step, its caller or the function that it tail-calls */
    uint32_t passed_count, passed_capacity;
    const CtFlowFunction *tail; /* the function of the tail call, and its place */
    CtSourceRange tail_place;
    CtFlowCell **constants; /* by the constants' numbers; NULL: not evaluated yet */
    CtInterpretWatch *watches;
    uint32_t watch_count;
} CtInterpreter;

/* NULL when memory runs out. */
CtInterpreter *ct_flow_interpreter_new(const CtFlow *flow, CtInterpretOptions options);
void ct_flow_interpreter_free(CtInterpreter *i);

/* Runs a function on arguments from the interpreter's heap, one for each parameter. The run has a stack of its own. */
CtFlowEnd ct_flow_interpret(CtInterpreter *i, const CtFlowFunction *function, const CtFlowCell *args);

/* Converts words of a native run to values in the interpreter's heap; false when memory runs out. */
bool ct_flow_interpret_import(CtInterpreter *i, const CtFlowType *const *types, uint32_t count, const ct_word *words,
                              CtFlowCell *cells);

/* ---- comparing: compare_runs.c ---- */

/* The tolerance of a comparison. */
typedef struct CtFlowCloseness {
    double relative;      /* relative difference of two reals; 0: equal bit for bit, except that all NaNs are equal */
    bool nan_is_anything; /* a NaN equals every number */
} CtFlowCloseness;

/* Whether values are equal within a tolerance. Otherwise `place` receives a text that says where they differ, with both
 * values. */
bool ct_flow_interpret_same(CtArena *arena, const CtFlowType *const *types, uint32_t count, const CtFlowCell *a,
                            const CtFlowCell *b, CtFlowCloseness closeness, char *place, size_t length);

/* ---- directions: directions.c ---- */

/* Values in the shape of given values, whose reals are pseudo-random numbers in [-1, 1]. They live as long as the heap.
 * False when memory runs out. */
bool ct_flow_interpret_direction(CtInterpreter *i, const CtFlowType *const *types, uint32_t count,
                                 const CtFlowCell *like, uint64_t *state, CtFlowCell *out);
/* The inner product of the reals of two values of the same shape, and the sum of the absolute values of its terms.
 * False when the shapes differ. */
bool ct_flow_interpret_inner(const CtFlowType *const *types, uint32_t count, const CtFlowCell *a, const CtFlowCell *b,
                             long double *sum, long double *size);

/* ---- private to the interpreter ---- */

struct CtInterpretFrame {
    CtInterpretFrame *caller;
    const CtFlowFunction *function;
    CtSourceRange place; /* the user's call site that failures of the library are attributed to; CT_NO_RANGE: none */
    size_t bytes;
    CtFlowCell *cells; /* by variable number */
    bool *bound, *objects;
};

/* interpret_values.c */
CtFlowObject *ct_flow_interpret_node(CtInterpreter *i, const CtFlowTypes *fields, uint32_t tag,
                                     const CtFlowCell *cells);
/* A new array of these lengths, still without its cells; after a dimension of 0 all lengths become 0. The caller adds
 * the cells in order with ct_flow_interpret_put. */
CtFlowObject *ct_flow_interpret_array(CtInterpreter *i, const CtFlowType *type, const int64_t *dims);
/* Appends a cell to an object that is being built. Takes over the program's reference to `value`. */
void ct_flow_interpret_put(CtInterpreter *i, CtFlowObject *object, CtFlowCell value);
/* Appends some cells of an array with the same element type; that array keeps its references. */
void ct_flow_interpret_copy(CtInterpreter *i, CtFlowObject *object, const CtFlowObject *from, int64_t start,
                            int64_t count);
void ct_flow_interpret_hold(CtFlowObject *object);
void ct_flow_interpret_drop(CtInterpreter *i, CtFlowObject *object);
/* Releases one reference of the program. At the last one the program's object ends and releases what it holds. */
void ct_flow_interpret_release(CtInterpreter *i, CtFlowObject *object);
void *ct_flow_interpret_memory(CtInterpreter *i, size_t bytes);
void ct_flow_interpret_give(CtInterpreter *i, void *memory, size_t bytes);
/* A list of characters, with nodes of the list type `type`. */
CtFlowCell ct_flow_interpret_string(CtInterpreter *i, const CtFlowType *type, const uint32_t *points, size_t count);

/* interpret.c */
CT_FAILS void ct_flow_interpret_stop(CtInterpreter *i, const char *why);
CT_FAILS void ct_flow_interpret_wrong(CtInterpreter *i, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Attributes failures from here on to a step's source range, or to the call of the library around it. */
void ct_flow_interpret_at(CtInterpreter *i, CtSourceRange range);
CT_FAILS void ct_flow_interpret_fail(CtInterpreter *i, CtErrorCode code, const char *text);
CtFlowCell ct_flow_interpret_arg(CtInterpreter *i, const CtFlowArg *arg);
/* The object of an argument: an array or node that must be alive. */
CtFlowObject *ct_flow_interpret_object(CtInterpreter *i, const CtFlowArg *arg);
void ct_flow_interpret_bind(CtInterpreter *i, const CtFlowVar *var, CtFlowCell value);
/* Says that the last `steps` copied an array, which the program changes in place if nothing else refers to it. */
void ct_flow_interpret_copied(CtInterpreter *i, const CtFlowObject *array, uint64_t steps);
/* Counts work, and stops the run when it exceeds the limit. */
void ct_flow_interpret_spend(CtInterpreter *i, uint64_t steps);

/* interpret_primitives.c: failures leave through i->failing. */
CtFlowCell ct_flow_interpret_prim(CtInterpreter *i, const CtFlowStep *step);

/* interpret_arrays.c */
void ct_flow_interpret_array_step(CtInterpreter *i, const CtFlowStep *step);
/* An array that a loop makes, as its elements arrive. */
typedef struct CtInterpretRows {
    const CtFlowType *type;
    CtFlowObject *array; /* NULL: no element has arrived yet */
    int64_t made;
} CtInterpretRows;
/* Appends an element and takes it. */
void ct_flow_interpret_add_row(CtInterpreter *i, CtInterpretRows *rows, CtFlowCell value);
CtFlowObject *ct_flow_interpret_rows_done(CtInterpreter *i, CtInterpretRows *rows);

#endif
