/* The symbolic Delta terms of BULK 2025, §7.2, between D (bulk_dual.c), which makes them, and the passes over them
 * (bulk_delta.c). Of ad/ alone. */
#ifndef CT_AD_BULK_DELTA_H
#define CT_AD_BULK_DELTA_H

#include "ad/bulk.h"

typedef enum CtDeltaKind {
    DELTA_INPUT,
    DELTA_ADD,
    DELTA_SCALE,  /* by an array, element by element */
    DELTA_SELECT, /* Cond: the first part where the test holds, the second elsewhere */
    DELTA_SHARE,
    DELTA_INDEX,
    DELTA_SUM_OUTER,
    DELTA_GATHER,
    DELTA_SCATTER,
    DELTA_LIT_ARRAY,
    DELTA_REPLICATE,
    DELTA_TRANSPOSE,
    DELTA_RESHAPE,
    DELTA_ONE_HOT,
} CtDeltaKind;

/* Zero is NULL: what holds it knows its shape. */
typedef struct CtDelta CtDelta;
struct CtDelta {
    CtDeltaKind kind;
    CtShape shape;
    CtSpan span;
    CtDelta *parts[2]; /* ADD and SELECT have two, INPUT and LIT_ARRAY none, all others one */
    union {
        uint32_t input; /* which of the inputs */
        CtBulk *primal; /* SCALE: what by; SELECT: the test, as in cond */
        struct {
            uint32_t id;      /* parts have lower ones */
            const char *name; /* of the variable that it is the derivative of, or NULL */
        } share;
        CtIndexing f; /* INDEX, GATHER, SCATTER, ONE_HOT */
        struct {
            CtDelta **items;
            uint32_t count;
        } literal;
        struct {
            const uint32_t *permutation;
            uint32_t count;
        } transpose;
    } as;
};

/* Eq. (6): the primal bindings, what the program gives, and its Delta term. */
typedef struct CtBulkDual {
    CT_VEC(CtBulkVar *) vars;
    CT_VEC(CtBulk *) terms;
    CtBulk *primal;
    CtDelta *delta;
    uint32_t shares; /* ids 1 … shares were given out */
    CtMap names;     /* those that are taken: see ct_bulk_fresh_name */
} CtBulkDual;

/* A name that nothing else has, so that bindings and Delta term can be read side by side: `base` itself, unless it is
 * taken or what it is for has no name in the program (numbered); or else with a number. */
const char *ct_bulk_fresh_name(CtArena *arena, CtMap *names, const char *base, bool numbered);

/* D[t] for a normal form t whose free variables are `inputs`. */
CtBulkDual ct_bulk_dual(CtBulkRoom *r, CtBulk *t, CtBulkVar *const *inputs, uint32_t count);

/* What share was given, and the variable that it gets in Fig. 20. */
typedef struct CtBulkShared {
    const char *name;
    CtBulkVar *var;
    CtBulk *term;
} CtBulkShared;

/* Fig. 19: the gradients with global sharing. */
typedef struct CtBulkReverse {
    CtBulk **grad;  /* by input; NULL: it got no cotangent */
    uint32_t first; /* IDAST of the first of … */
    CT_VEC(CtBulkShared) shared;
} CtBulkReverse;

CtBulkReverse ct_bulk_reverse_pass(CtBulkRoom *r, CtBulkDual *dual, uint32_t inputs, CtBulk *c);

#endif
