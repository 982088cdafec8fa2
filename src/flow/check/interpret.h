/* A reference interpreter of Flow: what a program means, step by step, with nothing done in place, nothing vectorised
 * and every read checked. It is slow and has to be obviously right, since the passes and the emitted code are held
 * against it (docs/flow.md, "How passes are checked").
 *
 * An interpreter has a heap of its own, which ends with it. Several may be at work at once. It never leaves the
 * process, and it never hangs: where a run takes too many steps, too much memory or too deep a stack, it is given up
 * and says so. */
#ifndef CT_FLOW_INTERPRET_H
#define CT_FLOW_INTERPRET_H

#include "flow/flow.h"
#include "rt/run.h"

/* ---- values ---- */

/* A variable's value, an element or a field. Reals are in extended precision throughout; where the interpreter computes
 * in double, what is here is a double. */
typedef union CtFlowCell {
    long double real;
    int64_t integer;
    struct CtFlowObject *object; /* NULL: what is never looked at */
} CtFlowCell;

/* A node or an array, which never changes once it is made. */
typedef struct CtFlowObject {
    struct CtFlowObject *next, **link; /* in the heap, or of what is to be freed */
    int64_t refs;                      /* variables and objects of the interpreter that hold it */
    int64_t claims;                    /* holders by the retains and releases of the program */
    const CtFlowTypes *fields;         /* of a node; NULL: an array */
    uint32_t tag, rank;
    bool holds_objects;  /* an array whose elements are objects */
    int64_t count, room; /* cells, and how many there is memory for */
    CtFlowCell *cells;
    int64_t dims[]; /* as many as the rank; behind a 0 all are 0 */
} CtFlowObject;

/* ---- runs ---- */

typedef enum CtFlowEnd {
    FLOW_END_DONE,
    FLOW_END_FAILED,  /* as the program says: a code, a place and a message */
    FLOW_END_STOPPED, /* it was given up: why */
    FLOW_END_WRONG,   /* no sound program does this: why, and in which function */
} CtFlowEnd;

typedef struct CtInterpretLimits {
    uint64_t steps;
    size_t bytes, stack;
} CtInterpretLimits;

typedef struct CtInterpretOptions {
    CtInterpretLimits limits;
    bool wide;   /* reals in extended precision, without rounding to double or to Float */
    bool counts; /* the program has retains and releases: what is released must not be read any more */
} CtInterpretOptions;

/* A function whose arguments are kept, those of its first call. */
typedef struct CtInterpretWatch {
    const CtFlowFunction *function;
    CtFlowCell *args; /* NULL: it was not called */
} CtInterpretWatch;

typedef struct CtInterpretFrame CtInterpretFrame;

typedef struct CtInterpreter {
    const CtFlow *flow;
    CtInterpretOptions options;
    /* what the last run has come to */
    CtFlowEnd end;
    CtErrorCode code; /* FAILED */
    CtSourceRange range;
    const char *message; /* FAILED, STOPPED and WRONG; lives as long as the interpreter, or to its next run */
    const CtFlowFunction *function; /* WRONG: in which */
    CtFlowCell *results;            /* DONE: of the entry's types */
    /* while it runs */
    uint64_t steps;
    size_t bytes;
    char *stack_end;
    ct_run failing;          /* the texts of failures, and the way out */
    CtFlowObject *objects;   /* all */
    CtInterpretFrame *frame; /* the innermost */
    CtFlowCell *passed;      /* what a block hands over: to its step, its caller or the function that it ends in */
    uint32_t passed_count, passed_room;
    const CtFlowFunction *tail;
    CtFlowCell **constants; /* by their numbers; NULL: not evaluated yet */
    CtInterpretWatch *watches;
    uint32_t watch_count;
} CtInterpreter;

/* NULL without memory. */
CtInterpreter *ct_interpreter_new(const CtFlow *flow, CtInterpretOptions options);
void ct_interpreter_free(CtInterpreter *i);

/* Runs a function on arguments of the interpreter's heap, of which there are as many as it has parameters, on a stack
 * of its own. */
CtFlowEnd ct_interpret(CtInterpreter *i, const CtFlowFunction *function, const CtFlowCell *args);

/* Values of a native run's words, by their types, in the interpreter's heap; false without memory. */
bool ct_interpret_import(CtInterpreter *i, const CtFlowType *const *types, uint32_t count, const ct_word *words,
                         CtFlowCell *cells);

/* ---- comparing: compare_runs.c ---- */

/* How far numbers may be from each other. */
typedef struct CtFlowCloseness {
    double relative;      /* 0: bit by bit, but that every NaN is every other */
    bool nan_is_anything; /* where one is NaN, the other may be any number */
} CtFlowCloseness;

/* Whether values are the same. Where they are not, `place` (of some length) says where, and both values. */
bool ct_interpret_same(CtArena *arena, const CtFlowType *const *types, uint32_t count, const CtFlowCell *a,
                       const CtFlowCell *b, CtFlowCloseness closeness, char *place, size_t length);

/* ---- directions: directions.c ---- */

/* Values of the structure of others, whose reals are pseudo-random numbers in [-1, 1]; held until the heap
 * ends. False without memory. */
bool ct_interpret_direction(CtInterpreter *i, const CtFlowType *const *types, uint32_t count, const CtFlowCell *like,
                            uint64_t *state, CtFlowCell *out);
/* The sum of the products of the reals of two values of the same structure, and that of the absolute values of these
 * products. False where they differ in structure. */
bool ct_interpret_inner(const CtFlowType *const *types, uint32_t count, const CtFlowCell *a, const CtFlowCell *b,
                        long double *sum, long double *size);

/* ---- private to the interpreter ---- */

struct CtInterpretFrame {
    CtInterpretFrame *caller;
    const CtFlowFunction *function;
    CtSourceRange place; /* the user's call that failures of the library are told at; CT_NO_RANGE: none */
    size_t bytes;
    CtFlowCell *cells; /* by the variables' numbers */
    bool *bound, *objects;
};

/* interpret_values.c */
CtFlowObject *ct_interpret_node(CtInterpreter *i, const CtFlowTypes *fields, uint32_t tag, const CtFlowCell *cells);
/* An array of these lengths (of one dimension of 0 all become 0 behind it), without its cells yet: the caller adds them
 * one behind the other by ct_interpret_put. */
CtFlowObject *ct_interpret_array(CtInterpreter *i, const CtFlowType *type, const int64_t *dims);
/* One cell more, only while the object is made. Takes the program's claim on an object. */
void ct_interpret_put(CtInterpreter *i, CtFlowObject *object, CtFlowCell value);
/* The same of some cells of an array of the same elements, which keeps its own claims. */
void ct_interpret_copy(CtInterpreter *i, CtFlowObject *object, const CtFlowObject *from, int64_t start, int64_t count);
void ct_interpret_hold(CtFlowObject *object);
void ct_interpret_drop(CtInterpreter *i, CtFlowObject *object);
/* One claim of the program less: at the last one the object ends for the program, and lets go of what it holds. */
void ct_interpret_release(CtInterpreter *i, CtFlowObject *object);
void *ct_interpret_memory(CtInterpreter *i, size_t bytes);
void ct_interpret_give(CtInterpreter *i, void *memory, size_t bytes);
/* A list of characters, as nodes of the type of lists that `type` is. */
CtFlowCell ct_interpret_string(CtInterpreter *i, const CtFlowType *type, const uint32_t *points, size_t count);

/* interpret.c */
CT_FAILS void ct_interpret_stop(CtInterpreter *i, const char *why);
CT_FAILS void ct_interpret_wrong(CtInterpreter *i, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A failure from here on is at the place of a step, or where the library was called. */
void ct_interpret_at(CtInterpreter *i, CtSourceRange range);
CT_FAILS void ct_interpret_fail(CtInterpreter *i, CtErrorCode code, const char *text);
CtFlowCell ct_interpret_arg(CtInterpreter *i, const CtFlowArg *arg);
/* The same of an array or node that must be there. */
CtFlowObject *ct_interpret_object(CtInterpreter *i, const CtFlowArg *arg);
void ct_interpret_bind(CtInterpreter *i, const CtFlowVar *var, CtFlowCell value);
/* Counts work; gives up where it is too much. */
void ct_interpret_spend(CtInterpreter *i, uint64_t steps);

/* interpret_primitives.c; what it fails with goes through i->failing. */
CtFlowCell ct_interpret_prim(CtInterpreter *i, const CtFlowStep *step);

/* interpret_arrays.c */
void ct_interpret_array_step(CtInterpreter *i, const CtFlowStep *step);
/* The array that a loop makes, as its elements come. */
typedef struct CtInterpretRows {
    const CtFlowType *type;
    CtFlowObject *array; /* NULL: nothing has come yet */
    int64_t made;
} CtInterpretRows;
/* Takes the value. */
void ct_interpret_add_row(CtInterpreter *i, CtInterpretRows *rows, CtFlowCell value);
CtFlowObject *ct_interpret_rows_done(CtInterpreter *i, CtInterpretRows *rows);

#endif
