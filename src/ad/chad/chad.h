/* CHAD 2024: what its files share.
 *
 * D_Γ[t] is a pair ⟨x, x'⟩: the primal, and the backpropagator, λd : D[τ]₂. EVM D[Γ]₂ 1, of which each is called once.
 * So the pair is kept apart while a term is walked: x is a term, x' is a CtBack, which writes down what the
 * backpropagator does where it would be called. Only where control flow hides which one that is (a branch, a call, the
 * elements of an array) does it become a function of the program.
 *
 *   chad.c              D on terms: Figs. 2 and 7
 *   functions.c     functions, calls, recursion: §9 and Appendix C
 *   arrays.c        arrays: indexing and what moves elements, Fig. 9, §8.1
 *   array_functions.c         operations on arrays that take functions: build, map, fold and others, Figs. 9 and 10
 *   straight_line.c     build, map and zipWith of elements without control flow, gathers among them: §8.1
 *   environment.c  EV and EVM: Fig. 8, Table 2
 *   custom_rules.c       functions that come with a rule for their derivative
 *   local_cotangents.c         what one backpropagator adds to a variable, as one sum
 *   cotangents.c        structures ◀▶ cotangents, and the wrapper
 */
#ifndef CT_AD_CHAD_H
#define CT_AD_CHAD_H

#include "ad/internal.h"

/* Where the cotangent of a variable is accumulated. */
typedef enum CtPlaceKind {
    PLACE_NONE,     /* nowhere: it does not vary, or is discrete */
    PLACE_CLOSED,   /* nowhere: a function of a group that captured nothing that varies */
    PLACE_CELL,     /* a cell of the environment */
    PLACE_CAPTURED, /* a place of what the running function value captured, whose cotangent is in cell 0 */
} CtPlaceKind;

typedef struct CtPlace {
    CtPlaceKind kind;
    uint32_t number;
    const CtVar *var; /* whose it is, once it is found by its variable */
} CtPlace;

/* What distinguishes the rungs of the ladder. */
typedef struct CtChadRung {
    bool local; /* the environment is passed through and added to (§4.2, §5); else backpropagators return what they add
                   (EV Γ) */
    bool dense; /* tuples have no zero of their own (Fig. 4) */
    bool twice; /* a call runs its function's backpropagator for the arguments and again for what was captured (§9) */
} CtChadRung;

/* Where a backpropagator that stands in one straight line leaves what it adds (straight_line.c). */
typedef struct CtStraight CtStraight;
/* What the backpropagator that is being written has for variables, and has not added to their cells
 * (local_cotangents.c). */
typedef struct CtHeld CtHeld;

/* A function under way: one frame of the environment. */
typedef struct CtChad {
    CtAd *ad;
    CtProgram *p;
    CtTransform *t;
    CtChadRung rung;
    struct CtChad *outer; /* in whose body it stands; NULL */
    CtMap places;         /* CtVar * -> CtPlace *, of variables in scope */
    uint32_t depth;       /* cells in scope */
    uint32_t frame;       /* the most that ever are, those of functions that are called included */
    CtVar *base;          /* in the backpropagator that is being written: where the frame begins */
    CtStraight *straight; /* the one that is being written is an element's, and adds nothing to the environment; NULL */
    CtHeld *held;         /* NULL: nothing is held */
    bool needs_room;      /* it uses cells of the frame other than those that its caller takes out */
} CtChad;

typedef struct CtBack CtBack;
struct CtBack {
    void (*emit)(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d);
    CtCore *core;    /* the term */
    uint32_t depth;  /* cells in scope there */
    CtCore **values; /* what is needed of the primal run, named */
    CtBack **parts;  /* of its subterms; NULL where there is nothing to do */
    CtPlace *places;
    uint32_t count; /* of parts, places or what the term says */
};

/* ⟨x, x'⟩; back NULL: x' is λd. return (). */
typedef struct CtPaired {
    CtCore *x;
    CtBack *back;
} CtPaired;

/* ---- chad.c ---- */

CtPaired ct_chad_chad(CtChad *c, CtSeq *seq, CtCore *core);
/* Several, left to right, their primals named where that is needed to keep the order. NULL for parts when no one has
 * any. */
CtCore **ct_chad_values(CtChad *c, CtSeq *seq, CtCore *const *cores, uint32_t count, CtBack ***parts);
CtBack *ct_chad_back(CtChad *c, CtCore *core, void (*emit)(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d));
/* x' d, if there is anything to do. d : D[τ]₂, or NULL for zero. */
void ct_chad_back_call(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d);

/* ---- types ---- */

/* D[τ]₂: ℝ for a real, Cot for everything else that is not discrete. */
CtType *ct_chad_cotangent(CtAd *ad, CtType *type);
CtType *ct_chad_cot(CtAd *ad);
/* D[τ]₂ → EVM Γ 1, for a τ that is not discrete. */
CtType *ct_chad_backpropagator_type(CtAd *ad, CtMethod method, CtType *type);
/* That of a function's result, of which there may be two. */
CtType *ct_chad_result_type(CtAd *ad, CtMethod method, CtType *type);
CtChadRung ct_chad_rung(CtMethod method);
/* Into a Cot, and out of one. */
CtCore *ct_chad_box(CtChad *c, CtSourceRange range, CtType *type, CtCore *d);
CtCore *ct_chad_unbox(CtChad *c, CtSourceRange range, CtType *type, CtCore *cot);
CtCore *ct_chad_zero(CtAd *ad, CtSourceRange range);
/* A constructor of Cot. */
CtCore *ct_chad_make(CtAd *ad, CtSourceRange range, const char *con, CtCore *const *args, uint32_t count);
/* The cotangents of the n elements of a product: Array ℝ for an array of reals, Array Cot for others; and the Cot of
 * such. */
CtCore *ct_chad_elements(CtChad *c, CtSourceRange range, CtType *element, CtCore *n, CtCore *d);
CtCore *ct_chad_dense(CtChad *c, CtSourceRange range, CtType *element, CtCore *elements);
CtCore *ct_chad_at(CtChad *c, CtSourceRange range, CtCore *index, CtCore *cot);
/* 0 of D[τ]₂, as a Cot. */
CtCore *ct_chad_zero_of(CtChad *c, CtSourceRange range, CtType *type);

/* ---- environment.c ---- */

/* A new cell, for a variable that comes into scope. */
CtPlace ct_chad_cell(CtChad *c);
void ct_chad_place(CtChad *c, CtVar *var, CtPlace place);
CtPlace ct_chad_where(const CtChad *c, const CtVar *var);
/* EV Γ, or EArr Γ. */
CtType *ct_chad_environment_type(CtAd *ad);
/* What is accumulated so far, as a term. */
CtCore *ct_chad_state(CtChad *c, CtSeq *seq, CtSourceRange range);
/* d for a variable: D[τ]₂, or a Cot. */
void ct_chad_add(CtChad *c, CtSeq *seq, CtSourceRange range, CtPlace place, CtCore *d);
/* one_x d, now: accumulates a Cot. */
void ct_chad_one(CtChad *c, CtSeq *seq, CtSourceRange range, CtPlace place, CtCore *cot);
/* The end of a variable's scope: its cotangent, a Cot, or NULL when nothing can have come to it; the cell is free
 * again. */
CtCore *ct_chad_pop(CtChad *c, CtSeq *seq, CtSourceRange range, uint32_t cell);
/* A Cot into a cell that is Zero. */
void ct_chad_put(CtChad *c, CtSeq *seq, CtSourceRange range, uint32_t cell, CtCore *cot);
/* What is in a cell, where another backpropagator may have put it; the cell is free again. */
CtCore *ct_chad_take(CtChad *c, CtSeq *seq, CtSourceRange range, uint32_t cell);
/* x' d of a backpropagator that is a function, in this function's own environment, where `depth` cells are in scope. */
void ct_chad_run(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *backpropagator, CtCore *d, uint32_t depth);
/* x' d of a function's result; its frame begins behind `depth` cells. Then what it left for what the function captured
 * (i = 0) and for its arguments (from 1), to be taken before anything else is run. */
typedef struct CtCalled {
    CtCore *backpropagators, *d, *frame;
    uint32_t depth;
} CtCalled;
CtCalled ct_chad_call(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *backpropagators, CtCore *d, uint32_t depth);
CtCore *ct_chad_left(CtChad *c, CtSeq *seq, CtSourceRange range, const CtCalled *called, uint32_t i);
/* λd. x' d; a function's own makes room for its frame first. */
CtCore *ct_chad_backpropagator(CtChad *c, CtType *type, CtSourceRange range, bool is_function, const CtBack *back);
/* What `write` writes, unless the Cot d is Zero. */
void ct_chad_unless_zero(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d,
                         void (*write)(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d));

/* The same, and unless a real d is 0: where `write` costs more than looking. */
void ct_chad_unless_none(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d,
                         void (*write)(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d));

/* ---- local_cotangents.c ---- */

/* From here on what comes to variables is held … */
void ct_chad_held_begin(CtChad *c);
/* … to here, where it is added to the cells. Where a frame begins and ends here, too, these are Zero if nobody else has
 * added to them. Gives those that may hold something now. */
CtHeld *ct_chad_held_end(CtChad *c, CtSeq *seq, bool is_frame);
/* To those cells, or to the first `depth`, others may have added. */
void ct_chad_held_shared(CtChad *c, const CtHeld *inner);
void ct_chad_held_share(CtChad *c, uint32_t depth);
/* ct_chad_pop where something is held. */
CtCore *ct_chad_held_pop(CtChad *c, CtSeq *seq, CtSourceRange range, uint32_t cell);

/* ---- functions.c ---- */

CtPaired ct_chad_application(CtChad *c, CtSeq *seq, CtCore *core);
CtPaired ct_chad_lambda_value(CtChad *c, CtCore *core);
CtPaired ct_chad_dual(CtChad *c, CtSeq *seq, CtCore *core);
/* Binds the group; what is left to do when its scope ends, or NULL. */
CtBack *ct_chad_letrec(CtChad *c, CtSeq *seq, CtCore *core);
/* The rules for functions: their types, their λs, and closed λs of captured values (function_values.c). */
CtType *ct_chad_function_type(CtAd *ad, CtMethod method, CtType *type);
CtCore *ct_chad_lambda(CtTransform *t, CtCore *core);
CtCore *ct_chad_closed(CtTransform *t, CtCore *core, uint32_t captures);

/* ---- arrays.c ---- */

CtPaired ct_chad_array(CtChad *c, CtSeq *seq, CtCore *core);

/* ---- array_functions.c ---- */

CtPaired ct_chad_loop(CtChad *c, CtSeq *seq, CtCore *core);

/* ---- straight_line.c ---- */

/* Whether an element's code has no control flow, so that its backpropagator is known where it is called. */
bool ct_chad_is_straight(const CtCore *body);
/* x' of such a build, map or zipWith. values: the operands, two at most, at 0 and 1, and the length at 2. */
void ct_chad_straight_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d);
/* In it: a new cell's number; what is added to a variable, or with an index to an element of it; what came to a cell.
 */
void ct_chad_straight_cell(CtChad *c, uint32_t number);
void ct_chad_straight_add(CtChad *c, CtSeq *seq, const CtBack *variable, CtCore *index, CtCore *d);
CtCore *ct_chad_straight_pop(CtChad *c, CtSourceRange range, uint32_t number);

/* ---- custom_rules.c ---- */

CtPaired ct_chad_custom(CtChad *c, CtSeq *seq, CtCore *core);

/* ---- cotangents.c ---- */

/* Between structures of the shape of a : A and cotangents. b : A as a D[A]₂, an error with this text where it has
 * another shape; with mismatch NULL the other way, b : D[A]₂ as an A. */
CtCore *ct_chad_shape(CtAd *ad, CtSourceRange range, const char *mismatch, CtType *type, CtCore *a, CtCore *b);

CtCore *ct_chad_vjp(CtAd *ad, CtSeq *seq, const CtWrap *wrap);
CtCore *ct_chad_jvp(CtAd *ad, CtSeq *seq, const CtWrap *wrap);

#endif
