/* The symbolic Delta terms of BULK 2025, §7.2, between D (dual_arrays_forward.c), which makes them, and the passes over
 * them (delta_reverse.c). Of ad/ alone. */
#ifndef CT_AD_BULK_DELTA_H
#define CT_AD_BULK_DELTA_H

#include "ad/bulk/diff/diff.h"

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
    DELTA_LOOP,   /* all results of a loop: shared, as it has an id; no part of anything but RESULT */
    DELTA_RESULT, /* one of them */
} CtDeltaKind;

/* Zero is NULL: what holds it knows its shape. */
typedef struct CtDelta CtDelta;
struct CtDelta {
    CtDeltaKind kind;
    CtShape shape;
    CtSourceRange range;
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
        struct CtDeltaLoop *loop; /* LOOP */
        uint32_t result;          /* RESULT */
    } as;
};

/* A loop and its arguments. Which parameters vary is known beforehand; the derivative of the body is made when a pass
 * asks for it. */
typedef struct CtDeltaLoop {
    uint32_t id;
    CtBulkLoop *source;
    CtBulkLoop *primal; /* the same, with the states before each step as its last outputs */
    CtBulk **args;      /* atoms */
    CtBulk **before;    /* for each state, variables of those */
    CtDelta **deltas;   /* of the arguments */
    bool *varies, *result_varies;
    const char **names; /* of the results, where they have some */
    bool by_rule;       /* what its source's rule pulls back: there is neither primal nor before */
    CtDelta *node;
} CtDeltaLoop;

/* Eq. (6): the primal bindings, what the program gives, and its Delta term. */
typedef struct CtBulkDual {
    CT_VEC(CtBulkVar *) vars;
    CT_VEC(CtBulk *) terms;
    CtBulk *primal;
    CtDelta *delta;
    CtBulk **primals; /* of several results … */
    CtDelta **deltas; /* … each with its own */
    uint32_t shares;  /* ids 1 … shares were given out */
    CtMap names;      /* those that are taken: see ct_bulk_fresh_name */
} CtBulkDual;

/* A name that nothing else has, so that bindings and Delta term can be read side by side: `base` itself, unless it is
 * taken or what it is for has no name in the program (numbered); or else with a number. */
const char *ct_bulk_fresh_name(CtArena *arena, CtMap *names, const char *base, bool numbered);

/* D[t] for a normal form t whose free variables are `inputs`. */
CtBulkDual ct_bulk_dual(CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *inputs, uint32_t count);

/* The same of several terms under common bindings, those of a loop's body: of its parameters those vary that are
 * marked.
 */
CtBulkDual ct_bulk_dual_body(CtBulkBuilder *r, const CtBulkLoop *loop, const bool *varies);

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

/* `c` has the cotangents of the `results` (NULL: none). */
CtBulkReverse ct_bulk_reverse_pass(CtBulkBuilder *r, CtBulkDual *dual, uint32_t inputs, CtBulk *const *c,
                                   uint32_t results);
/* Its bindings behind those of the primal, and a term of it on their variables. */
void ct_bulk_stack_lets(CtBulkBuilder *r, CtBulkReverse *reverse, CtBulkGradient *out);
CtBulk *ct_bulk_unshare(CtBulkBuilder *r, const CtBulkReverse *reverse, CtBulk *t);
/* Tangents of the results (NULL: none), with their bindings pushed on `out`. */
CtBulk **ct_bulk_forward_pass(CtBulkBuilder *r, CtBulkDual *dual, CtBulkVar *const *tangents, CtBulkGradient *out,
                              uint32_t results);

/* ---- delta_loops.c ---- */

/* How a loop's contributions get to what its arguments were made of. */
typedef struct CtLoopSink {
    void *data;
    /* A term that is used several times: the cotangent of what is called `name`; NULL: of nothing. */
    CtBulk *(*share)(void *data, const char *name, CtBulk *t);
    void (*send)(void *data, CtBulk *c, CtDelta *d);
} CtLoopSink;
/* From the cotangents of its results (NULL: none). */
void ct_bulk_loop_reverse(CtBulkBuilder *r, CtDeltaLoop *l, CtBulk *const *c, const CtLoopSink *sink);
/* From tangents of the arguments (NULL: none), those of the results (NULL where they do not vary). */
CtBulk **ct_bulk_loop_forward(CtBulkBuilder *r, CtDeltaLoop *l, CtBulk *const *tangents);

/* The loop of a call's rule, in normal form and simplified. */
CtBulkLoop *ct_bulk_rule_loop(CtBulkBuilder *r, const CtBulkLoop *call);
/* What the loop of a call's rule is called with: the arguments of the call, and any value for what it is linear in. */
CtBulk **ct_bulk_rule_args(CtBulkBuilder *r, const CtBulkLoop *call, CtBulk *const *args);
/* The same two for a node by a rule that gives pullbacks. */
void ct_bulk_rule_reverse(CtBulkBuilder *r, const CtDeltaLoop *l, CtBulk *const *c, const CtLoopSink *sink);
CtBulk **ct_bulk_rule_forward(CtBulkBuilder *r, const CtDeltaLoop *l, CtBulk *const *tangents, const CtLoopSink *names);

/* What a Delta term is made of. */
typedef struct CtDeltaNodes {
    CtArena *arena;
    CtDelta **shares; /* by id, those that were met */
    uint32_t count;   /* of nodes */
} CtDeltaNodes;

/* ---- print_delta.c ---- */

void ct_bulk_delta_print(CtText *out, CtBulkBuilder *r, const CtBulkDual *dual, const CtDeltaNodes *n,
                         CtBulkVar *const *inputs);
/* Nodes and arrows in the language of Graphviz, the inputs first; nothing of one that is too large to be looked at. */
void ct_bulk_delta_draw(CtText *out, CtBulkBuilder *r, const CtBulkDual *dual, const CtDeltaNodes *n,
                        CtBulkVar *const *inputs);

#endif
