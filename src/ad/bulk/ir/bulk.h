/* The core array language of BULK 2025, Figs. 7 and 8: terms over regular arrays of known shapes.
 *
 * A Core function is run on abstract values for its arguments, which have the shapes of the arguments that it was
 * called with. What it computes becomes a term of this language (trace/). Stage 1, the bulk-operation transform,
 * eliminates `build1` (rewrite/, Figs. 9 to 11). Stages 2 and 3 make the Delta term and run the reverse pass on it
 * symbolically (diff/delta_reverse.c, Figs. 12 to 15 and 17 to 21). The result is a term again, which is lowered to
 * Core over flat arrays (lower/): an ordinary program.
 *
 * Terms are immutable, live in the arena, and may be shared as objects. Such sharing has no meaning: what is to be
 * computed once is bound by LET (or by SHARE, until the end of stage 3). Every expression has an array type; scalars
 * are arrays of rank 0.
 *
 * Conditionals are strict (§5.2), so a branch that is not taken is evaluated, and must not fail: in it an index outside
 * its array gives 0. INDEX and GATHER have a condition `live` that says when the index is needed; an index outside is
 * an error only if it holds. CHECK is an error that the program itself reports. */
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
    uint32_t id; /* identifies the variable */
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
    BULK_REDUCE,    /* sumOuter t, and other reductions */
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

/* Reductions along the outermost dimension. Ties go to the first element, as in core.def. A sum that the program writes
 * starts at 0.0, sums of cotangents and tangents start at −0.0. So a sum of −0.0s is as in the evaluator, and a
 * cotangent without contributions stays a structural zero. */
typedef enum CtReduction {
    REDUCE_SUM,
    REDUCE_PLAIN_SUM, /* starts at 0.0; for Ints the same as SUM */
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

/* λis. ix, where ix are integers of rank 0. `live` is the condition under which the index is needed, in the scope of
 * the variables too; NULL: always. */
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
    CtSourceRange range; /* of the program's own index operation, for errors */
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
        } cond; /* ^ The test has rank 0. After stage 1 it may have outermost dimensions of the branches, and chooses
                   for each of its elements. */
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
        CtBulk *t; /* REPLICATE, RESHAPE: the shape has the parameters; STOP */
        struct {
            const uint32_t *permutation; /* of 0 … count − 1; inner dimensions stay in place */
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
            uint32_t at; /* number of variables when it was made: it comes after those */
            const char *text;
        } check;
        struct {
            CtBulkLoop *loop;
            /* One for each parameter of the loop: the initial value of a state, an array of which each step gets one
             * element, or a value that all steps get. */
            CtBulk *const *args;
            uint32_t result;
        } loop;
    } as;
};

/* A fold or scan, beyond the paper: a state is passed through `steps` steps, from the first index or from the last. The
 * body is closed, so that no pass over the enclosing terms has to look inside: it depends on its parameters only. A
 * loop with several results is several terms with the same loop and arguments, which are computed once (lower_loops.c);
 * so passes must map each loop to one new loop.
 *
 * The results are the states after the last step, in order, then for each output the array of its values, at the index
 * of the step. */
typedef struct CtBulkLoopParams {
    uint32_t states, elements, fixed;
} CtBulkLoopParams;

struct CtBulkLoop {
    int64_t steps;
    bool from_back;     /* the first step has the last index */
    bool total;         /* what could fail in the body has been evaluated before */
    CtBulkVar *index;   /* of the current step: an Int of rank 0 */
    CtBulkVar **params; /* states before the step, elements, values that all steps get */
    CtBulkLoopParams count;
    CT_VEC(CtBulkVar *) vars; /* bindings, in order … */
    CT_VEC(CtBulk *) terms;   /* … and the terms that they are bound to */
    CtBulk **results;         /* each state after the step, then the outputs */
    uint32_t outputs;
    CtBulkLoop *normal, *simple; /* results of passes, once computed: loop_term.c, simplify_term.c */
    struct CtLoopRows *rows;     /* versions for many initial values at once: loop_term.c */
    const CtBulkRule *rule;      /* of a call of a function with a custom derivative; else NULL */
};

/* A call of a function with a custom derivative is a loop of one step whose initial values are not read. Its body is
 * the function itself, used where the reals of its point do not vary. `loop` is the rule: its results are those of the
 * call, followed by the tangents of the real results or by the cotangents of the point. Its parameters are those of the
 * call, followed by the argument of the pullback or tangent, in which it is linear. */
struct CtBulkRule {
    CtBulkLoop *loop;
    bool by_tangent; /* withJvp */
    uint32_t reals;  /* index of the point's reals among the values that all steps get */
    /* The rule is from one real to one, or many such calls at once: it gives one partial derivative. */
    bool is_slope;
    uint32_t calls; /* number of the outermost dimensions of what it gives: one for each `build` around the call */
};

/* ---- term.c: constructors ----
 *
 * Each computes the element type and shape (Fig. 8) from its parts. These must fit: callers check what comes from
 * outside. Nothing is simplified. The state of term construction is a CtBulkBuilder, one for each function that is
 * differentiated. */
typedef struct CtBulkBuilder {
    CtProgram *p;
    CtArena *arena;
    uint32_t vars, shares; /* number of ids that have been used */
    CtMap positions;       /* lower_indices.c: constants made from index functions */
    /* lower_term.c: the function without arguments that is called first when something fails, because it fails as
     * the program does. NULL: none. */
    CtVar *again;
    bool is_again_used;          /* whether it is called anywhere */
    struct CtLoweredLoop *loops; /* lower_loops.c: loops whose results are in scope */
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

/* Rebuilds a term with `visit` applied to its direct subterms, in evaluation order. Returns the term itself when
 * nothing changed. */
typedef CtBulk *CtBulkVisit(void *data, CtBulk *part);
CtBulk *ct_bulk_map(CtBulkBuilder *r, CtBulk *t, CtBulkVisit *visit, void *data);
/* t with variables replaced by terms (key of a CtBulkVar * -> CtBulk *); binders are renamed. */
CtBulk *ct_bulk_substitute(CtBulkBuilder *r, CtBulk *t, const CtMap *replace);
bool ct_bulk_mentions(CtBulk *t, const CtBulkVar *var);
bool ct_bulk_is_iota(const CtBulk *t, int64_t count); /* whether a constant is [0, …, count − 1] */
/* Checks the types and scoping of a term: NULL, or a description of the fault, in the arena. `vars` may occur free. */
const char *ct_bulk_lint(CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *vars, uint32_t count);

/* ---- loop_term.c ---- */

static inline uint32_t ct_bulk_loop_params(const CtBulkLoop *loop) {
    return loop->count.states + loop->count.elements + loop->count.fixed;
}
static inline uint32_t ct_bulk_loop_results(const CtBulkLoop *loop) { return loop->count.states + loop->outputs; }
/* A new loop with this many parameters and results; the caller fills in the rest. */
CtBulkLoop *ct_bulk_new_loop(CtBulkBuilder *r, int64_t steps, CtBulkLoopParams count, uint32_t outputs);
/* The set (of CtBulkVar *) of parameters, bindings and states that depend on the marked parameters; with `reals`
 * through reals only. */
CtMap ct_bulk_loop_varying(CtBulkBuilder *r, const CtBulkLoop *loop, const bool *params, bool reals);
bool ct_bulk_loop_result_varies(CtBulkBuilder *r, const CtBulkLoop *loop, uint32_t result, CtMap *varying);
/* Unrolls a LOOP of one step: its body, with the arguments bound. */
CtBulk *ct_bulk_one_step(CtBulkBuilder *r, const CtBulk *t);
/* For a LOOP in which i is free: build1 k (λi. t), as a loop over rows. */
CtBulk *ct_bulk_build_loop(CtBulkBuilder *r, int64_t k, CtBulkVar *i, CtBulk *t);
/* Drops unused results of loops, and what only they need in the bodies. The terms share a list of bindings. Returns
 * whether anything was dropped. */
bool ct_bulk_trim_loops(CtBulkBuilder *r, CtBulk **terms, uint32_t term_count, CtBulk **roots, uint32_t root_count);

/* ---- print_term.c: as the paper writes terms, over several lines where they are long ---- */
void ct_bulk_print(CtText *out, CtBulk *t);
/* (λis. ix), or [ix] without variables, on one line. */
void ct_bulk_print_indexing(CtText *out, const CtIndexing *f);
/* Prints a term; each SHARE is written out at its first occurrence. */
void ct_bulk_print_sharing(CtText *out, CtBulk *t);
/* Prints bindings, a line each, and the results below, as a tuple if there are several. A result of NULL is omitted. */
void ct_bulk_print_bindings(CtText *out, CtBulkVar *const *vars, CtBulk *const *terms, uint32_t count,
                            CtBulk *const *results, uint32_t result_count);

/* ---- same_terms.c ---- */

/* Whether two terms are the same, but for the names of what is bound inside. */
bool ct_bulk_same(CtBulk *a, CtBulk *b);
/* A term in which `to` stands wherever `from`, or the same term again, stood. */
CtBulk *ct_bulk_exchange(CtBulkBuilder *r, CtBulk *t, CtBulk *from, CtBulk *to);
/* Whether u is a result of the loop that t, a LOOP, is a result of: the same loop, on the same arguments. */
bool ct_bulk_same_loop(const CtBulk *t, const CtBulk *u);

/* ---- what stages 2 and 3 make ---- */

/* let ⟨primals⟩ in (value, ⟨gradient⟩): the result of stage 3 (Fig. 21). */
typedef struct CtBulkGradient {
    CT_VEC(CtBulkVar *) vars; /* bindings shared by value and gradients, in order … */
    CT_VEC(CtBulk *) terms;   /* … and the terms that they are bound to */
    CtBulk *value;            /* the value T, that is, t */
    CtBulk **gradient;        /* for each input of reals, in its shape; NULL for one of Int or Bool */
    uint32_t primals;         /* number of the first bindings, which do not come from the reverse pass */
    CtBulk **shared;          /* the gradient with global sharing (Fig. 19), before it becomes bindings */
    CtText delta;             /* the Delta term as text, for explanation */
    CtText graph;             /* the Delta term for Graphviz */
    uint32_t nodes;           /* number of nodes of the Delta term */
} CtBulkGradient;

#endif
