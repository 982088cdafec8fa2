/* Private to src/emit: loops whose iterations are shared by several threads (rt/threads.h). shared_loops.c finds them,
 * loop_parts.c writes their parts as functions of C, and loop_work.c estimates their work. */
#ifndef CT_EMIT_SHARE_H
#define CT_EMIT_SHARE_H

#include "emit/internal.h"

enum {
    SHARE_LEAST = 1 << 16, /* steps: a loop of less work is never shared */
    SHARE_VECTOR = 8,      /* the largest number of iterations that run in one vector */
};

/* What the parts do with a carried value. */
typedef enum ShareKind {
    SHARE_FOLD,  /* a number, by an associative operation: each part folds into its own */
    SHARE_ADDED, /* an array to whose elements the loop adds: each part has its own */
    SHARE_OWN,   /* an array of which each iteration touches only its own element or row */
} ShareKind;

typedef struct ShareFold { /* an associative operation */
    CtPrim prim;
    bool is_exact, commutes;
    /* Neutral element, with which each part begins; NULL: the loop's start value, for idempotent operations. */
    const char *start;
    const char *text; /* in C, with two operands */
} ShareFold;

typedef struct ShareCarried {
    ShareKind kind;
    const ShareFold *fold; /* FOLD */
} ShareCarried;

typedef struct Share {
    const CtFlowStep *loop;
    ShareCarried *carried;
    bool once;   /* parts cannot be repeated, because they change memory in place */
    bool leaves; /* its results contain objects other than arrays of numbers */
    /* Number of iterations that stay in one part, since a vector of them rounds differently than one alone. */
    int grain;
    const char *type, *frame; /* struct type of the parts' arguments, and the variable that holds them */
    const char *count, *work;
    const char **names; /* outside the parts: of carried variables, then of arrays */
    CtFlowVars seen;    /* variables from outside that the body uses */
    Use *before;        /* what they were outside */
    CtText body, *out;  /* body: of the part; out: where the loop is written */
    int depth;
} Share;

/* Whether an array is passed to parts as a view: its elements are numbers. */
static inline bool ct_emit_share_is_of_numbers(const CtFlowType *type) {
    return type->kind == FLOW_ARRAY && !ct_flow_is_object(type->element);
}
/* Whether a step may use a borrowed object as this argument: it looks at lengths, fields or elements alone. */
bool ct_emit_share_looks(const CtFlowStep *step, uint32_t index);
/* Whether the iterations of a loop can be shared, and whether sharing may pay. */
bool ct_emit_share_fits(Emit *e, const CtFlowStep *step, Share *share);
/* The fold of a primitive; NULL if reassociation would change results. */
const ShareFold *ct_emit_share_fold(CtPrim prim);

/* The work of one iteration, in steps, as a C expression that is evaluated before the loop. `most`: a bound of the
 * whole loop's work, if known at compile time. */
const char *ct_emit_share_work(Emit *e, const CtFlowStep *loop, double *most);

/* Begins writing a part: what is written from here to ct_emit_share_end runs the iterations from `from` to `to`.
 * `names` are changed to the names in the part. */
void ct_emit_share_begin(Emit *e, Share *share, const char *count, const char **names);
/* Ends the part and writes the call in its place. `lanes`: what the variables were if the loop is vectorised. */
void ct_emit_share_end(Emit *e, Share *share, const char **names, const struct Lane *lanes);

#endif
