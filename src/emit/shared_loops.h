/* Private to the folder that writes C: loops whose iterations several threads take (rt/threads.h). shared_loops.c finds
 * them, loop_parts.c writes their parts as functions of C, loop_work.c says how much there is to do. */
#ifndef CT_EMIT_SHARE_H
#define CT_EMIT_SHARE_H

#include "emit/internal.h"

enum {
    SHARE_LEAST = 1 << 16, /* steps: less is one part in any case */
    SHARE_VECTOR = 8,      /* the most iterations that the compiler or lanes take at a time */
};

/* What parts do with a value that is carried. */
typedef enum ShareKind {
    SHARE_FOLD,  /* a number, by an operation that takes brackets: each part has one of its own */
    SHARE_ADDED, /* an array to whose elements is added: each part has one of its own */
    SHARE_OWN,   /* an array of which each iteration only touches its own element or row */
} ShareKind;

typedef struct ShareFold { /* an operation that takes brackets */
    CtPrim prim;
    bool is_exact, commutes;
    const char *start; /* what a part begins with; NULL: what the loop does, since the operation gives that again */
    const char *text;  /* in C, of two operands */
} ShareFold;

typedef struct ShareCarried {
    ShareKind kind;
    const ShareFold *fold; /* FOLD */
} ShareCarried;

typedef struct Share {
    const CtFlowStep *loop;
    ShareCarried *carried;
    bool once;                /* parts cannot be done again, since they have changed what was there */
    bool leaves;              /* what stays behind it holds other objects than arrays of numbers */
    int grain;                /* iterations that stay together: vectors of them are computed otherwise than each */
    const char *type, *frame; /* of what parts are given, and the variable */
    const char *count, *work;
    const char **names; /* of what is carried, then of the arrays, outside of the parts */
    CtFlowVars seen;    /* from outside, in the body */
    Use *before;        /* what they were */
    CtText body, *out;  /* of the part, and where the loop stands */
    int depth;
} Share;

/* Arrays of numbers are seen as views in a part. */
static inline bool ct_emit_share_is_of_numbers(const CtFlowType *type) {
    return type->kind == FLOW_ARRAY && !ct_flow_is_object(type->element);
}
/* Whether the iterations of a loop may be shared out, and whether that can be worth it. */
bool ct_emit_share_fits(Emit *e, const CtFlowStep *step, Share *share);
/* NULL where brackets would change results. */
const ShareFold *ct_emit_share_fold(CtPrim prim);

/* The work of a iteration, in steps or so, as C that is asked in front of the loop. `most`: of all iterations, where
 * that is known. */
const char *ct_emit_share_work(Emit *e, const CtFlowStep *loop, double *most);

/* From here to the end what is written is a part, the iterations from `from` to `to`. `names` are changed to those that
 * they have there. */
void ct_emit_share_begin(Emit *e, Share *share, const char *count, const char **names);
/* Writes the call instead. `lanes`: what variables are in them, if the loop ran in any. */
void ct_emit_share_end(Emit *e, Share *share, const char **names, const struct Lane *lanes);

#endif
