/* CHAD 2024: shared by the files of this folder.
 *
 * D_Γ[t] is a pair ⟨x, x'⟩ of the primal and the backpropagator, λd : D[τ]₂. EVM D[Γ]₂ 1, which is called once. So the
 * pair stays split while a term is transformed: x is a term, and x' is a CtBack, which writes the backpropagator's code
 * where it would be called. It becomes a function of the program only where control flow hides which backpropagator it
 * is: at a branch, a call, or the elements of an array.
 *
 *   chad.c               D on terms: Figs. 2 and 7
 *   functions.c          functions, calls, recursion: §9 and Appendix C
 *   arrays.c             indexing and operations that move elements: Fig. 9, §8.1
 *   array_loops.c        array operations with function arguments, such as build, map and fold: Figs. 9 and 10
 *   groups.c             which elements share an environment: §8
 *   straight_line.c      build, map and zipWith with straight-line elements, including gathers: §8.1
 *   environment.c        EV and EVM: Fig. 8, Table 2
 *   custom_rules.c       functions with custom derivatives
 *   local_cotangents.c   sums the contributions of one backpropagator to a variable
 *   cotangents.c         conversion between structures and cotangents, and the wrapper */
#ifndef CT_AD_CHAD_H
#define CT_AD_CHAD_H

#include "ad/internal.h"

/* Where the cotangent of a variable is accumulated. */
typedef enum CtPlaceKind {
    PLACE_NONE,     /* nowhere: the variable is constant or discrete */
    PLACE_CLOSED,   /* nowhere: it is a function of a group that captures no active variables */
    PLACE_CELL,     /* a cell of the environment */
    PLACE_CAPTURED, /* a captured variable of the running function value, whose cotangent is in cell 0 */
} CtPlaceKind;

typedef struct CtPlace {
    CtPlaceKind kind;
    uint32_t number;
    const CtVar *var; /* the variable, when the place was found by it */
} CtPlace;

/* The differences between the rungs of the ladder. */
typedef struct CtChadRung {
    /* The environment is passed through and updated (§4.2, §5). Otherwise backpropagators return their contributions
     * (EV Γ). */
    bool local;
    bool dense; /* tuples have no sparse zero (Fig. 4) */
    /* A call runs its function's backpropagator twice: for the arguments, and for the captured variables (§9). */
    bool twice;
} CtChadRung;

/* Where a straight-line backpropagator leaves its contributions (straight_line.c). */
typedef struct CtStraight CtStraight;
/* Contributions of the current backpropagator to variables that have not been added to their cells yet
 * (local_cotangents.c). */
typedef struct CtHeld CtHeld;

/* A function being transformed: one frame of the environment. */
typedef struct CtChad {
    CtAd *ad;
    CtProgram *p;
    CtTransform *t;
    CtChadRung rung;
    struct CtChad *outer; /* the function whose body contains it, or NULL */
    CtMap places;         /* CtVar * -> CtPlace *, of the variables in scope */
    uint32_t depth;       /* number of cells in scope */
    uint32_t frame;       /* the largest number of cells, including those of called functions */
    CtVar *base;          /* in the current backpropagator: the index at which the frame begins */
    /* The current backpropagator is that of an array's element, and adds nothing to the environment; or NULL. */
    CtStraight *straight;
    CtHeld *held;     /* NULL: contributions are not collected */
    bool needs_cells; /* it uses cells of the frame besides those that its caller reads */
    bool beside;      /* the current term is one of several that contain calls */
} CtChad;

typedef struct CtBack CtBack;
struct CtBack {
    void (*emit)(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d);
    CtCore *core;    /* the term */
    uint32_t depth;  /* number of cells in scope there */
    CtCore **values; /* values of the primal run that it needs, bound to names */
    CtBack **parts;  /* backpropagators of subterms; NULL where there is nothing to do */
    CtPlace *places;
    uint32_t count; /* of parts or places, or a number of the term's own */
    bool apart;     /* of a choice: it has an environment of its own, since others beside it contain calls, too */
};

/* ⟨x, x'⟩. With `back` NULL, x' is λd. return (). */
typedef struct CtPaired {
    CtCore *x;
    CtBack *back;
} CtPaired;

/* ---- chad.c ---- */

CtPaired ct_chad_chad(CtChad *c, CtSeq *seq, CtCore *core);
/* D of several terms, from left to right. Primals are bound to names where the order requires it. `parts` is NULL when
 * no term has a backpropagator. */
CtCore **ct_chad_values(CtChad *c, CtSeq *seq, CtCore *const *cores, uint32_t count, CtBack ***parts);
CtBack *ct_chad_back(CtChad *c, CtCore *core, void (*emit)(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d));
/* Writes x' d, if there is anything to do. d : D[τ]₂, or NULL for zero. */
void ct_chad_back_call(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d);

/* ---- types ---- */

/* D[τ]₂: ℝ for a real, Cot for every other type that is not discrete. */
CtType *ct_chad_cotangent(CtAd *ad, CtType *type);
CtType *ct_chad_cot(CtAd *ad);
/* D[τ]₂ → EVM Γ 1, for a τ that is not discrete. */
CtType *ct_chad_backpropagator_type(CtAd *ad, CtMethod method, CtType *type);
/* The type of a function's result in D, which may have two backpropagators. */
CtType *ct_chad_result_type(CtAd *ad, CtMethod method, CtType *type);
CtChadRung ct_chad_rung(CtMethod method);
/* Converts a cotangent to a Cot, and back. */
CtCore *ct_chad_box(CtChad *c, CtSourceRange range, CtType *type, CtCore *d);
CtCore *ct_chad_unbox(CtChad *c, CtSourceRange range, CtType *type, CtCore *cot);
CtCore *ct_chad_zero(CtAd *ad, CtSourceRange range);
/* A constructor of Cot. */
CtCore *ct_chad_make(CtAd *ad, CtSourceRange range, const char *con, CtCore *const *args, uint32_t count);
/* The cotangents of the n elements of a product: an Array ℝ for an array of reals, otherwise an Array Cot; and the
 * converse, the Cot made from such an array. */
CtCore *ct_chad_elements(CtChad *c, CtSourceRange range, CtType *element, CtCore *n, CtCore *d);
CtCore *ct_chad_dense(CtChad *c, CtSourceRange range, CtType *element, CtCore *elements);
CtCore *ct_chad_at(CtChad *c, CtSourceRange range, CtCore *index, CtCore *cot);

/* ---- environment.c ---- */

/* Allocates a cell for a variable that comes into scope. */
CtPlace ct_chad_cell(CtChad *c);
void ct_chad_place(CtChad *c, CtVar *var, CtPlace place);
CtPlace ct_chad_where(const CtChad *c, const CtVar *var);
/* EV Γ, or EArr Γ. */
CtType *ct_chad_environment_type(CtAd *ad);
/* The current accumulation state as a term. */
CtCore *ct_chad_state(CtChad *c, CtSeq *seq, CtSourceRange range);
/* Adds d, a D[τ]₂ or a Cot, to a variable's cotangent. */
void ct_chad_add(CtChad *c, CtSeq *seq, CtSourceRange range, CtPlace place, CtCore *d);
/* one_x d: adds a Cot to the cell at once. */
void ct_chad_one(CtChad *c, CtSeq *seq, CtSourceRange range, CtPlace place, CtCore *cot);
/* Ends a variable's scope: returns its cotangent, a Cot, or NULL when nothing can have been added. Frees the cell. */
CtCore *ct_chad_pop(CtChad *c, CtSeq *seq, CtSourceRange range, uint32_t cell);
/* Stores a Cot in a cell that is Zero. */
void ct_chad_put(CtChad *c, CtSeq *seq, CtSourceRange range, uint32_t cell, CtCore *cot);
/* Reads a cell that another backpropagator may have stored to, and frees it. */
CtCore *ct_chad_take(CtChad *c, CtSeq *seq, CtSourceRange range, uint32_t cell);
/* x' d for a backpropagator that is a function of the program, in this function's environment, where `depth` cells are
 * in scope. */
void ct_chad_run(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *backpropagator, CtCore *d, uint32_t depth);
/* The same in an environment of its own: returns that, with as many cells as this function's frame. */
CtCore *ct_chad_run_apart(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *backpropagator, CtCore *d);
/* x' d for a function's result, whose frame begins behind `depth` cells. Afterwards the contributions to the captured
 * variables (i = 0) and to the arguments (from 1 on) must be read before anything else is run. */
typedef struct CtCalled {
    CtCore *backpropagators, *d, *frame;
    uint32_t depth;
} CtCalled;
CtCalled ct_chad_call(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *backpropagators, CtCore *d, uint32_t depth,
                      uint32_t count);
/* Whether a call has an environment of its own, so that calls do not depend on each other (§8). */
bool ct_chad_calls_apart(const CtChad *c);
/* For a call with `count` arguments in the current scope: its cells are part of the frame, unless it is apart. */
void ct_chad_frame(CtChad *c, uint32_t count);
CtCore *ct_chad_left(CtChad *c, CtSeq *seq, CtSourceRange range, const CtCalled *called, uint32_t i);
/* λd. x' d as a function; that of a function's result allocates its frame first. */
CtCore *ct_chad_backpropagator(CtChad *c, CtType *type, CtSourceRange range, bool is_function, const CtBack *back);
/* Writes what `write` writes, guarded by a test that the Cot d is not Zero. */
void ct_chad_unless_zero(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d,
                         void (*write)(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d));

/* The same, guarded by a test that not all reals of d are structural zeros, for code that costs more than the test. */
void ct_chad_unless_none(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d,
                         void (*write)(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d));

/* ---- local_cotangents.c ---- */

/* From here on contributions to variables are collected … */
void ct_chad_held_begin(CtChad *c);
/* … up to here, where they are added to the cells. If the frame also begins and ends here, the cells are Zero unless
 * something else has added to them. Returns those that may hold something now. */
CtHeld *ct_chad_held_end(CtChad *c, CtSeq *seq, bool is_frame);
/* Marks cells to which others may have added: those of `inner`, or the first `depth`. */
void ct_chad_held_shared(CtChad *c, const CtHeld *inner);
void ct_chad_held_share(CtChad *c, uint32_t depth);
/* ct_chad_pop for a variable whose contributions are collected. */
CtCore *ct_chad_held_pop(CtChad *c, CtSeq *seq, CtSourceRange range, uint32_t cell);

/* ---- functions.c ---- */

CtPaired ct_chad_application(CtChad *c, CtSeq *seq, CtCore *core);
CtPaired ct_chad_checkpoint(CtChad *c, CtSeq *seq, CtCore *core);
CtPaired ct_chad_lambda_value(CtChad *c, CtCore *core);
CtPaired ct_chad_dual(CtChad *c, CtSeq *seq, CtCore *core);
/* Binds a recursive group. Returns what is to be done at the end of its scope, or NULL: parts[0] with the cotangent of
 * the closure, whose cell is places[0]. */
CtBack *ct_chad_letrec(CtChad *c, CtSeq *seq, CtCore *core);
/* D of functions: their types, λs, and closed λs of captured values (function_values.c). */
CtType *ct_chad_function_type(CtAd *ad, CtMethod method, CtType *type);
CtCore *ct_chad_lambda(CtTransform *t, CtCore *core);
CtCore *ct_chad_closed(CtTransform *t, CtCore *core, uint32_t captures);

/* ---- arrays.c ---- */

CtPaired ct_chad_array(CtChad *c, CtSeq *seq, CtCore *core);

/* ---- array_loops.c     ---- */

CtPaired ct_chad_loop(CtChad *c, CtSeq *seq, CtCore *core);

/* ---- groups.c ---- */

/* The number of elements of a group, at least; core: the operation, body: that of its function. */
uint32_t ct_chad_group_least(CtChad *c, const CtCore *core, CtCore *body);

/* ---- straight_line.c ---- */

/* Whether an element's code is straight-line, so that its backpropagator is known where it is called. */
bool ct_chad_is_straight(const CtCore *body);
/* x' of such a build, map or zipWith. values: the operands, at most two, at 0 and 1, and the length at 2. */
void ct_chad_straight_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d);
/* Inside such an element: registers a new cell; adds to a variable, or, with an index, to an element of it; returns the
 * contributions to a cell. */
void ct_chad_straight_cell(CtChad *c, uint32_t number);
void ct_chad_straight_add(CtChad *c, CtSeq *seq, const CtBack *variable, CtCore *index, CtCore *d);
CtCore *ct_chad_straight_pop(CtChad *c, CtSourceRange range, uint32_t number);

/* ---- custom_rules.c ---- */

CtPaired ct_chad_custom(CtChad *c, CtSeq *seq, CtCore *core);

/* ---- cotangents.c ---- */

/* Converts between structures in the shape of a : A and cotangents. It returns b : A as a D[A]₂, and fails with the
 * text `mismatch` where b's shape differs; with mismatch NULL, it returns b : D[A]₂ as an A,
 * whose structural zeros remain so. */
CtCore *ct_chad_shape(CtAd *ad, CtSourceRange range, const char *mismatch, CtType *type, CtCore *a, CtCore *b);

CtCore *ct_chad_vjp(CtAd *ad, CtSeq *seq, const CtWrap *wrap);
CtCore *ct_chad_jvp(CtAd *ad, CtSeq *seq, const CtWrap *wrap);

#endif
