/* The core array language of BULK 2025, Figs. 7 and 8: terms over regular arrays whose shapes are known.
 *
 * A function of Core is run on abstract values for its arguments, whose shapes are those of the arguments that it was
 * called with; what it does to them is a term of this language (trace.c). Stage 1, the bulk-operation transform, takes
 * `build1` out of it (bulk_operations.c, Figs. 9 to 11). Stages 2 and 3 make its Delta term and run the reverse pass on
 * that symbolically (delta_reverse.c, Figs. 12 to 15 and 17 to 21). What comes out is a term again, which becomes Core
 * over flat arrays (lower_term.c): an ordinary program.
 *
 * Terms are immutable, live in the arena, and may be shared; a shared term is meant as often as it is met: what is to
 * be computed once is bound by LET (or SHARE, until stage 3 is over). Every expression is of array type, scalars are
 * arrays of rank 0.
 *
 * Conditionals are strict (§5.2), so what stands in a branch that is not taken may fail: an index outside its array
 * gives 0 there. So INDEX and GATHER say in `live` when they are meant; only there an index outside is an error. CHECK
 * is an error that the program itself reports.
 */
#ifndef CT_AD_BULK_H
#define CT_AD_BULK_H

#include "core/build.h"

typedef enum CtElement { ELEMENT_REAL, ELEMENT_INT, ELEMENT_BOOL } CtElement; /* ρ */

typedef struct CtShape {
    uint32_t rank;
    const int64_t *sizes; /* outermost first */
} CtShape;

typedef struct CtBulkVar {
    const char *name;
    uint32_t id; /* tells variables apart */
    CtElement element;
    CtShape shape;
} CtBulkVar;

typedef enum CtBulkKind {
    BULK_CONST,     /* c */
    BULK_VAR,       /* x */
    BULK_LET,       /* let x = u in v */
    BULK_COND,      /* cond t u v: both are evaluated */
    BULK_OP,        /* op u v | op t, broadcast over equal shapes */
    BULK_LOGIC,     /* the same, on Bool */
    BULK_INDEX,     /* index t ix */
    BULK_REDUCE,    /* sumOuter t, and its likes */
    BULK_GATHER,    /* gather sh t (λis. ix) */
    BULK_SCATTER,   /* scatter sh t (λis. ix) */
    BULK_LITERAL,   /* [t₁, …, tₙ] */
    BULK_REPLICATE, /* replicate k t */
    BULK_TRANSPOSE, /* tr_{k₁,…,kₙ} t */
    BULK_RESHAPE,   /* reshape sh t */
    BULK_BUILD,     /* build1 k (λi. t) */
    BULK_ONE_HOT,   /* oneHot sh ix t */
    BULK_STOP,      /* stopGradient t: a constant to every derivative */
    BULK_SHARE,     /* share id t */
    BULK_CHECK,     /* check b t: t, but an error where an element of b is true */
    BULK_LOOP,      /* one of the results of mapAccum k f (⟨start⟩) (⟨arrays⟩): see CtBulkLoop */
} CtBulkKind;

/* Along the outermost dimension. Ties as in core.def: the first. A sum that the program writes starts from 0.0, those
 * of cotangents and tangents from −0.0: so a sum of nothing but −0.0 is what it is by the evaluator, and a cotangent
 * that never came stays the structural zero. */
typedef enum CtReduction {
    REDUCE_SUM,
    REDUCE_PLAIN_SUM, /* from 0.0; of Ints it is a SUM */
    REDUCE_PRODUCT,
    REDUCE_MAXIMUM,
    REDUCE_MINIMUM,
    REDUCE_ARGMAX,
    REDUCE_ARGMIN
} CtReduction;

typedef enum CtLogic { LOGIC_AND, LOGIC_OR, LOGIC_NOT } CtLogic;

typedef struct CtBulk CtBulk;
typedef struct CtBulkLoop CtBulkLoop;
typedef struct CtBulkRule CtBulkRule;

/* λis. ix, of integers of rank 0; live is NULL where it always is, and like ix in the scope of the variables. */
typedef struct CtIndexing {
    CtBulkVar *const *vars;
    uint32_t var_count;
    CtBulk *const *ix;
    uint32_t count;
    CtBulk *live;
} CtIndexing;

struct CtBulk {
    CtBulkKind kind;
    CtElement element;
    CtShape shape;
    CtSourceRange range; /* where the program says so: for errors */
    union {
        struct {
            const double *reals;     /* CONST of reals, row-major; NULL: all are `real` */
            const int64_t *integers; /* of Int and Bool; NULL: all are `integer` */
            double real;
            int64_t integer;
        } constant;
        CtBulkVar *var; /* VAR */
        struct {
            CtBulkVar *var;
            CtBulk *rhs, *body;
        } let;
        struct {
            CtBulk *test, *yes, *no;
        } cond; /* the test is of rank 0; after stage 1, of outermost dimensions of the branches: it chooses for each of
                   its elements */
        struct {
            CtPrim prim;
            CtBulk *args[2];
            uint32_t count;
        } op; /* comparisons give Bool */
        struct {
            CtLogic logic;
            CtBulk *args[2]; /* NOT has one */
        } logic;
        struct {
            CtReduction reduction;
            CtBulk *t;
        } reduce;
        struct {
            CtBulk *t;
            CtIndexing f;
        } move; /* INDEX (without variables), GATHER, SCATTER, ONE_HOT (without variables) */
        struct {
            CtBulk *const *items;
            uint32_t count;
        } literal;
        CtBulk *t; /* REPLICATE, RESHAPE: the shape says the rest; STOP */
        struct {
            const uint32_t *permutation; /* of 0 … count − 1; the dimensions behind keep their places */
            uint32_t count;
            CtBulk *t;
        } transpose;
        struct {
            CtBulkVar *var; /* an Int of rank 0 */
            CtBulk *body;
        } build;
        struct {
            uint32_t id;
            CtBulk *t;
        } share;
        struct {
            CtBulk *test, *t;
            CtErrorCode code;
            const char *text;
        } check;
        struct {
            CtBulkLoop *loop;
            CtBulk *const *args; /* for each of the loop's parameters: where a state starts, the array of which each
                                    step sees one element, what all steps see */
            uint32_t result;
        } loop;
    } as;
};

/* A fold or scan, beyond the paper: a state goes through `steps` steps, from the first or from the last. Its body is
 * closed, so that no pass over the terms around has to look inside: all that it depends on are its parameters. What has
 * several results is several terms with the same loop and the same arguments, computed once (lower_loops.c): so
 * passes give each loop one image.
 *
 * Results: the states after the last step, in their order, and then for each output the array of what it was at each
 * step, at the index of the step.
 */
typedef struct CtBulkLoopParams {
    uint32_t states, elements, fixed;
} CtBulkLoopParams;

struct CtBulkLoop {
    int64_t steps;
    bool from_back;     /* the first step is that of the last index */
    bool total;         /* what could fail in it was evaluated before */
    CtBulkVar *index;   /* of the step: an Int of rank 0 */
    CtBulkVar **params; /* states before the step, elements, what is the same at all steps */
    CtBulkLoopParams count;
    CT_VEC(CtBulkVar *) vars; /* bindings, in order … */
    CT_VEC(CtBulk *) terms;   /* … and what they are bound to */
    CtBulk **results;         /* each state after the step, then the outputs */
    uint32_t outputs;
    CtBulkLoop *normal, *simple; /* its images, when they have been made: loop_term.c, simplify_term.c */
    struct CtLoopRows *rows;     /* those for many starts at once: loop_term.c */
    const CtBulkRule *rule;      /* NULL, but for a call of a function with a rule for its derivative */
};

/* A call of such a function is a loop of one step, whose starts nobody reads: it is what the function is, as long as
 * the reals of its point do not vary. `loop` is what the rule says: its results are those of the call, and then either
 * the tangents of the real ones or the cotangents of the point. Its parameters are those of the call, and what the
 * pullback or the tangent is linear in.
 */
struct CtBulkRule {
    CtBulkLoop *loop;
    bool by_tangent; /* withJvp */
    uint32_t reals;  /* of the point: the first of what is the same at all steps */
    bool is_slope;   /* from one real to one, or as many calls of that kind: it tells one partial derivative */
};

/* ---- term.c: constructors ----
 *
 * Each works out element and shape (Fig. 8) from its parts, which must fit: callers have checked what comes from
 * outside. Nothing is simplified here. The room that makes terms and its variables' numbers is CtBulkBuilder, one a
 * function that is differentiated.
 */
typedef struct CtBulkBuilder {
    CtProgram *p;
    CtArena *arena;
    uint32_t vars, shares; /* given out so far */
    CtMap positions;       /* lower_indices.c: constants that were made of index functions */
    CtVar *again;          /* lower_term.c: where something fails, the function of no arguments that is called first, */
    bool is_again_used;    /* since it fails as the program does; NULL: none */
    struct CtLoweredLoop *loops; /* lower_loops.c: those whose results are in scope */
} CtBulkBuilder;

int64_t ct_bulk_shape_count(CtShape shape); /* of elements */
bool ct_bulk_shape_equal(CtShape a, CtShape b);
CtShape ct_bulk_shape_of(CtArena *arena, const int64_t *sizes, uint32_t rank);
CtShape ct_bulk_shape_cons(CtArena *arena, int64_t size, CtShape shape);
CtShape ct_bulk_shape_tail(CtShape shape, uint32_t count); /* without the `count` outermost */

CtBulkVar *ct_bulk_new_var(CtBulkBuilder *r, const char *name, CtElement element, CtShape shape);
CtBulk *ct_bulk_var(CtBulkBuilder *r, CtBulkVar *var);
CtBulk *ct_bulk_real(CtBulkBuilder *r, double value, CtShape shape); /* all elements */
CtBulk *ct_bulk_int(CtBulkBuilder *r, int64_t value, CtShape shape);
CtBulk *ct_bulk_bool(CtBulkBuilder *r, bool value, CtShape shape);
CtBulk *ct_bulk_reals(CtBulkBuilder *r, const double *items, CtShape shape); /* items are borrowed */
CtBulk *ct_bulk_integers(CtBulkBuilder *r, const int64_t *items, CtShape shape, CtElement element);
CtBulk *ct_bulk_let(CtBulkBuilder *r, CtBulkVar *var, CtBulk *rhs, CtBulk *body);
CtBulk *ct_bulk_cond(CtBulkBuilder *r, CtBulk *test, CtBulk *yes, CtBulk *no);
CtBulk *ct_bulk_op1(CtBulkBuilder *r, CtPrim prim, CtBulk *t);
CtBulk *ct_bulk_op2(CtBulkBuilder *r, CtPrim prim, CtBulk *t, CtBulk *u);
CtBulk *ct_bulk_logic(CtBulkBuilder *r, CtLogic logic, CtBulk *t, CtBulk *u);
CtBulk *ct_bulk_index(CtBulkBuilder *r, CtBulk *t, CtBulk *const *ix, uint32_t count, CtBulk *live,
                      CtSourceRange range);
CtBulk *ct_bulk_reduce(CtBulkBuilder *r, CtReduction reduction, CtBulk *t, CtSourceRange range);
CtBulk *ct_bulk_gather(CtBulkBuilder *r, CtShape shape, CtBulk *t, CtIndexing f, CtSourceRange range);
CtBulk *ct_bulk_scatter(CtBulkBuilder *r, CtShape shape, CtBulk *t, CtIndexing f, CtSourceRange range);
CtBulk *ct_bulk_literal(CtBulkBuilder *r, CtBulk *const *items, uint32_t count); /* at least one */
CtBulk *ct_bulk_replicate(CtBulkBuilder *r, int64_t k, CtBulk *t);
CtBulk *ct_bulk_transpose(CtBulkBuilder *r, const uint32_t *permutation, uint32_t count, CtBulk *t);
CtBulk *ct_bulk_reshape(CtBulkBuilder *r, CtShape shape, CtBulk *t);
CtBulk *ct_bulk_build(CtBulkBuilder *r, int64_t k, CtBulkVar *i, CtBulk *body);
CtBulk *ct_bulk_one_hot(CtBulkBuilder *r, CtShape shape, CtBulk *const *ix, uint32_t count, CtBulk *t);
CtBulk *ct_bulk_stop(CtBulkBuilder *r, CtBulk *t);
CtBulk *ct_bulk_share(CtBulkBuilder *r, uint32_t id, CtBulk *t);
CtBulk *ct_bulk_check(CtBulkBuilder *r, CtBulk *test, CtErrorCode code, const char *text, CtSourceRange range,
                      CtBulk *t);
CtBulk *ct_bulk_loop(CtBulkBuilder *r, CtBulkLoop *loop, CtBulk *const *args, uint32_t result);

/* Rebuilds a term with `visit` applied to its direct parts, in order of evaluation; itself when nothing changed. */
typedef CtBulk *CtBulkVisit(void *data, CtBulk *part);
CtBulk *ct_bulk_map(CtBulkBuilder *r, CtBulk *t, CtBulkVisit *visit, void *data);
/* t with variables replaced by terms (key of a CtBulkVar * -> CtBulk *); binders are made fresh. */
CtBulk *ct_bulk_substitute(CtBulkBuilder *r, CtBulk *t, const CtMap *replace);
bool ct_bulk_mentions(CtBulk *t, const CtBulkVar *var);
/* What is wrong with a term (types, scoping), in the arena; NULL when it is sound. `vars` are those that may be free.
 */
const char *ct_bulk_lint(CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *vars, uint32_t count);

/* ---- loop_term.c ---- */

static inline uint32_t ct_bulk_loop_params(const CtBulkLoop *loop) {
    return loop->count.states + loop->count.elements + loop->count.fixed;
}
static inline uint32_t ct_bulk_loop_results(const CtBulkLoop *loop) { return loop->count.states + loop->outputs; }
/* A loop with room for this many parameters and results; the rest is the caller's to fill in. */
CtBulkLoop *ct_bulk_new_loop(CtBulkBuilder *r, int64_t steps, CtBulkLoopParams count, uint32_t outputs);
/* Of the parameters marked, what varies because of them: they, bindings and states (a set of CtBulkVar *); with `reals`
 * only through reals. */
CtMap ct_bulk_loop_varying(CtBulkBuilder *r, const CtBulkLoop *loop, const bool *params, bool reals);
bool ct_bulk_loop_result_varies(CtBulkBuilder *r, const CtBulkLoop *loop, uint32_t result, CtMap *varying);
/* A LOOP of one step, without it: its body, with the arguments bound. */
CtBulk *ct_bulk_one_step(CtBulkBuilder *r, const CtBulk *t);
/* Of a LOOP in which i is free: build1 k (λi. t), as a loop over rows. */
CtBulk *ct_bulk_build_loop(CtBulkBuilder *r, int64_t k, CtBulkVar *i, CtBulk *t);
/* Terms with a common list of bindings, in which every loop has the results alone that are used, and a body alone that
 * these need. Tells whether any had others. */
bool ct_bulk_trim_loops(CtBulkBuilder *r, CtBulk **terms, uint32_t term_count, CtBulk **roots, uint32_t root_count);

/* ---- print_term.c: as the paper writes terms, over several lines where they are long ---- */
void ct_bulk_print(CtText *out, CtBulk *t);
/* (λis. ix), or [ix] without variables, on one line. */
void ct_bulk_print_indexing(CtText *out, const CtIndexing *f);
/* A term, each SHARE written out where it is met first. */
void ct_bulk_print_sharing(CtText *out, CtBulk *t);
/* Bindings, each on its line, and the results under them: a tuple where there are several; NULL, one that there is not,
 * is left out. */
void ct_bulk_print_bindings(CtText *out, CtBulkVar *const *vars, CtBulk *const *terms, uint32_t count,
                            CtBulk *const *results, uint32_t result_count);

/* ---- same_terms.c ---- */

/* Whether two terms are the same, but for the names of what is bound inside. */
bool ct_bulk_same(CtBulk *a, CtBulk *b);
/* Whether u is a result of the loop that t, a LOOP, is a result of: the same loop, on the same arguments. */
bool ct_bulk_same_loop(const CtBulk *t, const CtBulk *u);

/* ---- what stages 2 and 3 make ---- */

/* let ⟨primals⟩ in (value, ⟨gradient⟩): what stage 3 gives (Fig. 21). */
typedef struct CtBulkGradient {
    CT_VEC(CtBulkVar *) vars; /* bindings, in order, that value and gradients share … */
    CT_VEC(CtBulk *) terms;   /* … and what they are bound to */
    CtBulk *value;            /* T, as t */
    CtBulk **gradient;        /* for each input of reals, of its shape; NULL for one of Int or Bool */
    uint32_t primals;         /* the first bindings, which the reverse pass has not made */
    CtBulk **shared;          /* the gradient with global sharing (Fig. 19), before it is made bindings */
    CtText delta;             /* the Delta term as text, for explanation, */
    CtText graph;             /* and for Graphviz */
    uint32_t nodes;           /* how many it has */
} CtBulkGradient;

#endif
