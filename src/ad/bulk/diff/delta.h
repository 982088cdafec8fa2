/* The symbolic Delta terms of BULK 2025, §7.2. dual_arrays_forward.c (D) makes them; delta_reverse.c contains the
 * passes over them. */
#ifndef CT_AD_BULK_DELTA_H
#define CT_AD_BULK_DELTA_H

#include "ad/bulk/diff/diff.h"

typedef enum CtDeltaKind {
    DELTA_INPUT,
    DELTA_ADD,
    DELTA_SCALE,  /* elementwise, by an array */
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
    DELTA_LOOP,   /* all results of a loop: shared, with an id; only RESULT may contain it */
    DELTA_RESULT, /* one result of a LOOP */
} CtDeltaKind;

/* Zero is represented by NULL; whoever holds it knows its shape. */
typedef struct CtDelta CtDelta;
struct CtDelta {
    CtDeltaKind kind;
    CtShape shape;
    CtSourceRange range;
    CtDelta *parts[2]; /* ADD and SELECT have two, INPUT and LIT_ARRAY none, all others one */
    union {
        uint32_t input; /* index of the input */
        CtBulk *primal; /* SCALE: the factor; SELECT: the test, as in cond */
        struct {
            uint32_t id;      /* larger than those of its parts */
            const char *name; /* of the variable whose derivative it is, or NULL */
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

/* A loop and its arguments. Which parameters vary is known beforehand; the body is differentiated when a pass asks for
 * it. */
typedef struct CtDeltaLoop {
    uint32_t id;
    CtBulkLoop *source;
    CtBulkLoop *primal; /* the same loop, with the states before each step as additional outputs */
    CtBulk **args;      /* atoms */
    CtBulk **before;    /* variables of these outputs, one for each state */
    CtDelta **deltas;   /* of the arguments */
    bool *varies, *result_varies;
    const char **names; /* of the results, where they have names */
    bool by_rule;       /* the rule of its source gives the pullback; `primal` and `before` are not set */
    bool is_rule;       /* its source is the code of a rule */
    CtDelta *node;
} CtDeltaLoop;

/* Eq. (6): the primal bindings, the primal, and its Delta term. */
typedef struct CtBulkDual {
    CT_VEC(CtBulkVar *) vars;
    CT_VEC(CtBulk *) terms;
    CtBulk *primal;
    CtDelta *delta;
    CtBulk **primals; /* for several results … */
    CtDelta **deltas; /* … each with a Delta term */
    uint32_t shares;  /* ids up to this number are in use */
    CtMap names;      /* the names in use: see ct_bulk_fresh_name */
} CtBulkDual;

/* A unique name, so that bindings and Delta term can be read together. It is `base` if that is free, and if the term
 * has a name in the program (not `numbered`); otherwise `base` with a number. */
const char *ct_bulk_fresh_name(CtArena *arena, CtMap *names, const char *base, bool numbered);

/* D[t] for a normal form t whose free variables are `inputs`. */
CtBulkDual ct_bulk_dual(CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *inputs, uint32_t count);

/* The same for several terms with common bindings, those of a loop's body. The marked parameters vary. */
CtBulkDual ct_bulk_dual_body(CtBulkBuilder *r, const CtBulkLoop *loop, const bool *varies);

/* The term of a Share, and the variable that it gets in Fig. 20. */
typedef struct CtBulkShared {
    const char *name;
    CtBulkVar *var;
    CtBulk *term;
} CtBulkShared;

/* Fig. 19: the gradients with global sharing. */
typedef struct CtBulkReverse {
    CtBulk **grad;  /* by input; NULL: no cotangent arrived */
    uint32_t first; /* IDAST of the first of … */
    CT_VEC(CtBulkShared) shared;
} CtBulkReverse;

/* The reverse pass. `c` has the cotangents of the results (NULL: zero). */
CtBulkReverse ct_bulk_reverse_pass(CtBulkBuilder *r, CtBulkDual *dual, uint32_t inputs, CtBulk *const *c,
                                   uint32_t results);
/* Appends the bindings of the reverse pass to those of the primal; and a term expressed by their variables. */
void ct_bulk_stack_lets(CtBulkBuilder *r, CtBulkReverse *reverse, CtBulkGradient *out);
CtBulk *ct_bulk_unshare(CtBulkBuilder *r, const CtBulkReverse *reverse, CtBulk *t);
/* The tangents of the results (NULL: zero), whose bindings are appended to `out`. */
CtBulk **ct_bulk_forward_pass(CtBulkBuilder *r, CtBulkDual *dual, CtBulkVar *const *tangents, CtBulkGradient *out,
                              uint32_t results);

/* ---- delta_loops.c ---- */

/* Receives the contributions of a loop to its arguments. */
typedef struct CtLoopSink {
    void *data;
    /* Shares a term that is used several times: the cotangent of the variable `name`, or of no variable (NULL). */
    CtBulk *(*share)(void *data, const char *name, CtBulk *t);
    void (*send)(void *data, CtBulk *c, CtDelta *d);
} CtLoopSink;
/* The reverse of a loop, from the cotangents of its results (NULL: zero). */
void ct_bulk_loop_reverse(CtBulkBuilder *r, CtDeltaLoop *l, CtBulk *const *c, const CtLoopSink *sink);
/* The tangents of a loop's results (NULL: constant), from tangents of its arguments (NULL: zero). */
CtBulk **ct_bulk_loop_forward(CtBulkBuilder *r, CtDeltaLoop *l, CtBulk *const *tangents);

/* ---- kept_values.c ---- */

/* A value that the primal loop computes for the reverse, and its values at all steps. */
typedef struct CtKeptValue {
    CtBulkVar *var;
    CtBulk *all;
} CtKeptValue;
typedef CT_VEC(CtKeptValue) CtKeptValues;

/* Whether all, or some, of the variables that are free in t are in the set. */
bool ct_bulk_has_only(CtBulkBuilder *r, CtBulk *t, CtMap *vars);
bool ct_bulk_has_some(CtBulkBuilder *r, CtBulk *t, CtMap *vars);
/* Replaces what the gradient of a loop's body needs of array states by values that the primal loop gets as outputs, and
 * drops bindings that the gradient does not need: those that cannot fail or, if the body is `total`, all. `gradient` is
 * by parameter; `primals` are the results of the source, by the variables of the body. */
CtKeptValues ct_bulk_keep_values(CtBulkBuilder *r, const CtDeltaLoop *l, CtBulkGradient *body, CtBulk **gradient,
                                 CtBulk *const *primals, bool total, const CtLoopSink *sink);

/* ---- loop_reads.c ---- */

/* In the gradient of the body of a loop, gives loops with cotangents the elements that they read of arrays, where these
 * depend on a state of the loop around them. */
void ct_bulk_split_reads(CtBulkBuilder *r, const CtBulkLoop *around, CtBulkGradient *body);

/* ---- delta_loops.c ---- */

/* The loop of a rule, in normal form and simplified. */
CtBulkLoop *ct_bulk_rule_loop(CtBulkBuilder *r, const CtBulkLoop *call);
/* The arguments of a rule's loop: those of the call, and an arbitrary value for the argument in which it is linear. */
CtBulk **ct_bulk_rule_args(CtBulkBuilder *r, const CtBulkLoop *call, CtBulk *const *args);
/* The reverse and the forward derivative of a LOOP whose rule gives pullbacks. */
void ct_bulk_rule_reverse(CtBulkBuilder *r, const CtDeltaLoop *l, CtBulk *const *c, const CtLoopSink *sink);
CtBulk **ct_bulk_rule_forward(CtBulkBuilder *r, const CtDeltaLoop *l, CtBulk *const *tangents, const CtLoopSink *names);

/* The nodes of a Delta term. */
typedef struct CtDeltaNodes {
    CtArena *arena;
    CtDelta **shares; /* the Shares that were met, by id */
    uint32_t count;   /* number of nodes */
} CtDeltaNodes;

/* ---- print_delta.c ---- */

void ct_bulk_delta_print(CtText *out, CtBulkBuilder *r, const CtBulkDual *dual, const CtDeltaNodes *n,
                         CtBulkVar *const *inputs);
/* Writes a graph for Graphviz, the inputs first; nothing if it is too large to be readable. */
void ct_bulk_delta_draw(CtText *out, CtBulkBuilder *r, const CtBulkDual *dual, const CtDeltaNodes *n,
                        CtBulkVar *const *inputs);

#endif
