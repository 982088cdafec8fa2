/* Shared by the files of this folder.
 *
 * homomorphic.c and state_monad.c traverse Core for every method; array_operations.c does so for arrays; polytypic.c
 * makes polytypic functions, of which polytypic_functions.c has those that every method needs; function_values.c treats
 * function values, custom_rules.c functions with custom derivatives; expand.c replaces the derivative operators. A
 * method (methods/forward.c, methods/tape.c) only supplies the row of rules declared below. */
#ifndef CT_AD_INTERNAL_H
#define CT_AD_INTERNAL_H

#include "ad/ad.h"

/* ---- bindings that wait for their body (block.c) ---- */

typedef struct CtPending {
    CtCoreKind kind; /* LET, UNPACK or LETREC */
    CtSourceRange range;
    CtVar **vars;
    uint32_t count;
    CtCore *rhs;
    CtBind *binds; /* LETREC */
} CtPending;

/* A sequence of bindings under construction. `state` is the variable that holds the method's current state, NULL in
 * direct style. */
typedef struct CtSeq {
    CtProgram *p;
    CtVar *state;
    CT_VEC(CtPending) items;
} CtSeq;

CtSeq ct_ad_seq(CtProgram *p, CtVar *state);
/* Binds a fresh variable to `rhs` and returns the variable; atoms are returned as they are. */
CtCore *ct_ad_seq_name(CtSeq *seq, const char *name, CtCore *rhs);
void ct_ad_seq_let(CtSeq *seq, CtSourceRange range, CtVar *var, CtCore *rhs);
void ct_ad_seq_unpack(CtSeq *seq, CtSourceRange range, CtVar *const *vars, uint32_t count, CtCore *rhs);
void ct_ad_seq_letrec(CtSeq *seq, CtSourceRange range, const CtBind *binds, uint32_t count);
/* The components of a pair, bound to names unless it is a TUPLE of atoms. */
void ct_ad_seq_open(CtSeq *seq, const char *first_name, const char *second_name, CtCore *pair, CtCore *parts[2]);
/* Binds the result of `pair`, a term of type (value, state). The state becomes the current one; the value is
 * returned. */
CtCore *ct_ad_seq_run(CtSeq *seq, const char *name, CtCore *pair);
/* The current state as a term. */
CtCore *ct_ad_seq_state(CtSeq *seq, CtSourceRange range);
/* Wraps the bindings around `body`. If the last binding is just returned, its right-hand side becomes the body, which
 * makes it a tail call. */
CtCore *ct_ad_seq_close(CtSeq *seq, CtCore *body);
/* The pair (value, state) inside the bindings; in direct style the value alone. */
CtCore *ct_ad_seq_return(CtSeq *seq, CtCore *value);

/* Whether a term may be moved over others: it does not fail and is cheap. */
bool ct_ad_atom(const CtCore *core);
bool ct_ad_movable(const CtCore *core);

/* ---- methods ---- */

/* op ⟨args⟩ with a real result that depends on some real argument. */
typedef struct CtOperation {
    CtSourceRange range;
    CtPrim prim;
    CtType *type;     /* of the result, Double or Float */
    CtCore *args[2];  /* D[argument], named */
    CtType *types[2]; /* of the arguments */
    uint32_t count;
    /* Of an operation that is no primitive: its result and its partial derivatives, which are Doubles; `prim` has no
     * meaning then. */
    CtCore *value, *partials[2];
} CtOperation;

/* The parts of a derivative operator that is to be expanded, bound to names. */
typedef struct CtWrap {
    CtSourceRange range;
    CtType *s, *t;  /* f : (s) → t */
    CtCore *f;      /* D[f] */
    CtCore *x, *dx; /* the point; the tangent (jvp) */
    bool is_factor; /* what is made is multiplied yet: its structural zeros stay −0.0 */
} CtWrap;

typedef struct CtTransform CtTransform;

typedef struct CtRules {
    CtType *(*real)(CtAd *ad, CtType *real);                      /* D[ℝ] */
    CtType *(*function)(CtAd *ad, CtMethod method, CtType *type); /* D[⟨σ⟩ → τ]; NULL: ⟨Dσ⟩ → Dτ, with the state */
    CtType *(*state)(CtAd *ad);                                   /* S; NULL: direct style */
    CtCore *(*constant)(CtAd *ad, CtSourceRange range, CtCore *x);     /* a real that does not vary */
    CtCore *(*primal)(CtAd *ad, CtSourceRange range, CtCore *d);       /* D[ℝ] → ℝ */
    CtCore *(*operation)(CtAd *ad, CtSeq *seq, const CtOperation *op); /* D[op ⟨e⟩] */
    CtCore *(*lambda)(CtTransform *t, CtCore *lam);                    /* D[λ] as a whole; NULL: of its body */
    /* A closed λ whose first parameters stand for the captured values of a function value (function_values.c). NULL:
     * D[λ]. */
    CtCore *(*closed)(CtTransform *t, CtCore *lam, uint32_t captures);
    CtCore *(*fuse)(CtTransform *t, CtSeq *seq, CtCore *core); /* D[e] of a whole term, or NULL; optional */
    /* D[f x] of an f with a rule for tangents. NULL: through one column of the Jacobian for each real of x. */
    CtCore *(*by_tangent)(CtAd *ad, CtSeq *seq, const CtWrap *wrap, CtCore *rule);
    /* D[withVjp f rule x] and D[withJvp f rule x] of a method that differentiates the rule; NULL: the rule runs on
     * primals. */
    CtCore *(*custom)(CtTransform *t, CtSeq *seq, CtCore *core);
    CtCore *(*jvp)(CtAd *ad, CtSeq *seq, const CtWrap *wrap); /* gives (value, tangent) */
    CtCore *(*vjp)(CtAd *ad, CtSeq *seq, const CtWrap *wrap); /* gives (value, pullback) */
    /* The array of the coefficients 0 to n of f at x + t, for a real x; of the method taylor only. */
    CtCore *(*taylor)(CtAd *ad, CtSeq *seq, const CtWrap *wrap, CtCore *n);
    /* Returns the length of the trace; NULL: the method has none. */
    CtCore *(*trace)(CtAd *ad, CtSeq *seq,
                     const CtWrap *wrap); /* For reverse-mode methods: the names of their library functions. */
    /* The derivative of a function as a whole, for a method that does not go by parts; NULL: D[f], and the wrappers
     * above. dx is NULL but for JVP. */
    CtCore *(*derivative)(CtAd *ad, CtDerivOp op, CtSourceRange range, CtCore *f, CtCore *x, CtCore *dx);
    const struct CtReverse *reverse;
    bool runs_again; /* without such a library, the method runs checkpointed calls again in its reverse sweep */
} CtRules;

#define CT_METHOD(id, rules, reverse, library, cost, figure, what) extern const CtRules rules;
#include "ad/methods.def"
#undef CT_METHOD
/* The rules of all methods, by CtMethod. */
void ct_ad_methods(const CtRules **rules);

struct CtAd {
    CtProgram *p;
    CtArena *arena;
    CtMethod reverse;          /* of derivatives on Core */
    bool in_order;             /* no tasks: operations are numbered in the order of the run */
    bool on_flow;              /* Flow takes derivatives; only those inside of Taylor series are taken on Core */
    uint32_t asked;            /* the source whose jvp's the method computes itself; 0: none */
    CtSourceRange asked_place; /* the source range that their failures are attributed to */
    bool one_rule;             /* only the rule at only_rule is used */
    CtSourceRange only_rule;
    const CtRules *rules[CT_METHOD_COUNT];
    CtMap types[CT_METHOD_COUNT]; /* CtType * -> CtType * */
    CtType *states[CT_METHOD_COUNT];
    CtMap generics;             /* CtSym -> CtGlobal * */
    CtMap pure;                 /* CtCore * -> 1 pure, 2 not: see state_monad.c */
    CtMap fused, extents;       /* delta_fused.c: by CtGlobal *, by CtCore * */
    CtMap expanded;             /* CtGlobal * -> itself */
    CtMap names;                /* CtSym -> itself: global names given */
    CT_VEC(CtGlobal *) pending; /* D[g] in the order of creation; from `done` on their bodies are not made yet */
    uint32_t done;
    uint32_t bulk_count;         /* number of derivatives that bulk has compiled for shapes of arguments */
    bool bulk_at_run_time;       /* bulk traces no function */
    bool busy;                   /* `pending` is being processed */
    struct CtRecorder *recorder; /* of watch.c; NULL: nothing is recorded */
    CtBulkLook *look;            /* NULL: no record is wanted */
};

/* The transformation of a closed term, or of a term whose free variables are in `vars`. */
struct CtTransform {
    CtAd *ad;
    CtProgram *p;
    CtMethod method;
    const CtRules *rules;
    CtType *state;       /* S or NULL */
    CtMap vars;          /* CtVar * -> CtVar * */
    CtMap constants;     /* of these, captured arrays that stay as they are (captured_arrays.c) */
    struct CtChad *chad; /* of chad: the current function */
};

/* Whether a global is a function, as is every global whose body is not made yet; otherwise it is a constant. */
static inline bool ct_ad_is_function(const CtGlobal *global) { return !global->body || global->body->kind == CORE_LAM; }

/* ---- homomorphic.c ---- */

static inline bool ct_ad_is_real(const CtType *type) { return type->kind == TYPE_DOUBLE || type->kind == TYPE_FLOAT; }
/* A type without reals and functions, which D leaves unchanged. */
static inline bool ct_is_discrete(CtType *type) { return !ct_core_type_has_real(type) && !ct_core_type_has_fun(type); }

CtTransform ct_ad_transform(CtAd *ad, CtMethod method);
/* S of a method, NULL when it has none. */
CtType *ct_ad_state(CtAd *ad, CtMethod method);
/* A fresh variable for x : σ, of type D[σ]. */
CtVar *ct_ad_bind(CtTransform *t, CtVar *var);
CtVar *ct_ad_var(CtTransform *t, CtVar *var);
/* D[e] for an e that does not use the state (every e in direct style). */
CtCore *ct_ad_direct(CtTransform *t, CtCore *core);
/* D[λ], with a link to its origin. */
CtCore *ct_ad_lambda(CtTransform *t, CtCore *core);
/* All λs of a LETREC. */
void ct_ad_letrec(CtTransform *t, CtSeq *seq, CtSourceRange range, const CtBind *binds, uint32_t count);
/* The primal of D[e] for e : ℝ; where possible, the derivative is not computed. */
CtCore *ct_ad_primal(CtTransform *t, CtCore *core);
/* Rebuilds a node with transformed children, in the order of ct_ad_children. */
CtCore *ct_ad_rebuild(CtTransform *t, CtCore *core, CtCore *const *children);
uint32_t ct_ad_children(CtCore *core, CtCore ***children);
/* D[op] for a primitive with its arguments transformed. */
CtCore *ct_ad_prim(CtTransform *t, CtSeq *seq, CtCore *core, CtCore *const *args);
/* The corresponding constructor of D of its type. */
CtCon *ct_ad_con(CtTransform *t, CtCon *con);
/* D of a reference to a global. */
CtCore *ct_ad_global_ref(CtTransform *t, CtCore *core);
/* Whether a term is a call of a known function on discrete arguments, whose result is discrete or one real. Such a call
 * need not be transformed. */
bool ct_ad_is_discrete_call(const CtCore *core);
CtCore *ct_ad_discrete_call(CtTransform *t, CtCore *core, CtCore *const *args);
/* Whether a primitive gives a real that depends on a real argument. */
bool ct_ad_is_operation(const CtCore *core);
/* Float ↔ Double. */
bool ct_ad_is_conversion(CtPrim prim);
/* ∂op/∂x_index · g over named arguments; NULL where it is zero everywhere. */
CtCore *ct_ad_derivative(CtAd *ad, const CtOperation *op, uint32_t index, CtCore *const *args, CtCore *y, CtCore *g);
/* The partial derivative by an argument. *b is what stands beside the argument's primal, to which cotangents are
 * propagated. It becomes `none` where the partial derivative is structurally zero, because the stored number could not
 * be distinguished from a computed −0.0. NULL as above. */
CtCore *ct_ad_led(CtAd *ad, const CtOperation *op, uint32_t index, CtCore *const *args, CtCore *y, CtCore *none,
                  CtCore **b);
/* Converts D[Float] to D[Double] and back, where the difference does not matter. */
CtCore *ct_ad_widen(CtAd *ad, CtMethod method, CtSourceRange range, CtCore *d);
CtCore *ct_ad_narrow(CtAd *ad, CtMethod method, CtSourceRange range, CtType *real, CtCore *d);
/* D[DUAL]: extends the path of transformations. */
CtCore *ct_ad_dual_node(CtTransform *t, CtCore *core, CtCore *const *args, CtVar *state);

/* ---- state_monad.c ---- */

/* Whether D[e] does not use the state; always true in direct style. */
bool ct_ad_lift_pure(CtTransform *t, CtCore *core);
/* D[e] in sequence: binds what uses the state and returns a term that does not. */
CtCore *ct_ad_lift_value(CtTransform *t, CtSeq *seq, CtCore *core);
/* The same for several terms, from left to right. */
CtCore **ct_ad_lift_values(CtTransform *t, CtSeq *seq, CtCore *const *cores, uint32_t count);
/* D[e] in tail position: closes the sequence; the term gives (value, state). */
CtCore *ct_ad_lift_tail(CtTransform *t, CtSeq *seq, CtCore *core);

/* ---- array_operations.c ---- */

CtCore *ct_ad_array(CtTransform *t, CtCore *core);
CtCore *ct_ad_lift_array(CtTransform *t, CtSeq *seq, CtCore *core);
/* Whether neither an array operation itself (a sum of reals) nor its function argument uses the state. */
bool ct_ad_lift_pure_array(CtTransform *t, CtCore *core);

/* An element of a loop under D: `make` makes the variable that it is bound to and, in sequence, its result; each time
 * anew. */
typedef struct CtLoopElement CtLoopElement;
struct CtLoopElement {
    CtCore *(*make)(CtTransform *t, CtSeq *seq, const CtLoopElement *element, CtVar **x);
    const void *of;
};
/* λ(s, x). (s', y), for mapAccumL. */
CtCore *ct_ad_carried(CtTransform *t, CtSourceRange range, const CtLoopElement *element);

/* ---- tasks.c ---- */

/* Whether the elements of a map, zipWith or build, whose function uses the state, are tasks, or groups of them are. */
typedef enum CtTasks { TASKS_NONE, TASKS_ELEMENTS, TASKS_GROUPS } CtTasks;
CtTasks ct_ad_tasks(CtTransform *t, CtCore *core);
/* The results of the loop `core` over xs, each element of which is a task. */
CtCore *ct_ad_fork(CtTransform *t, CtSeq *seq, CtCore *core, const CtLoopElement *element, CtCore *xs);
/* The same for groups, as far as they go: their results, and the elements that are left; whether there are none. */
typedef struct CtGroups {
    CtCore *none, *ys, *rest;
} CtGroups;
CtGroups ct_ad_fork_groups(CtTransform *t, CtSeq *seq, CtCore *core, const CtLoopElement *element, CtCore *xs);

/* ---- flat_arrays.c ---- */

/* A term with all operations on flat arrays replaced by their definitions; a visitor for ct_core_map. */
CtCore *ct_ad_flat_definitions(void *program, CtCore *core);

/* ---- polytypic.c ---- */

/* A function defined by recursion over types. It traverses structures of one shape together, from left to right. */
typedef struct CtGeneric {
    const char *name;
    uint32_t inputs;                             /* 1 or 2 */
    bool dual[2];                                /* an input is D[A], not A */
    bool makes;                                  /* the result contains a structure … */
    bool makes_dual;                             /* … of type D[A], not A */
    bool keeps;                                  /* where D[A] is A, the input is returned as it is */
    const char *mismatch;                        /* of two inputs: the error message when their shapes differ */
    CtType *(*env)(CtAd *ad, CtMethod method);   /* the type of an additional argument, passed unchanged; NULL: none */
    CtType *(*state)(CtAd *ad, CtMethod method); /* the type of a state, threaded from left to right; NULL: none */
    /* The state behind n leaves, for one that only counts them: elements of arrays are then walked side by side where
     * they have equally many leaves. NULL: in order. */
    CtCore *(*behind)(CtAd *ad, CtSourceRange range, CtCore *state, CtCore *n);
    /* At a real leaf of type `real`: returns the new leaf (NULL if no structure is made), and advances seq->state. */
    CtCore *(*leaf)(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *real, CtCore *const *ins,
                    CtCore *env);
    /* At a function of type `type`; NULL: does not occur. */
    CtCore *(*function)(CtAd *ad, CtMethod method, CtSourceRange range, CtType *type, CtCore *in);
} CtGeneric;

/* The arguments of generic_A ins env state; `state` is the initial state, or NULL. */
typedef struct CtGenericCall {
    CtMethod method;
    CtSourceRange range;
    CtType *type; /* A */
    CtCore *ins[2], *env, *state;
} CtGenericCall;
/* The call as a term, whose result is the structure, the state, or (structure, state). */
CtCore *ct_ad_generic(CtAd *ad, const CtGeneric *generic, CtGenericCall call);

/* ---- polytypic_functions.c ---- */

CtCore *ct_ad_poly_primal(CtAd *ad, CtMethod method, CtSourceRange range, CtType *type, CtCore *d);
CtCore *ct_ad_poly_embed(CtAd *ad, CtMethod method, CtSourceRange range, CtType *type, CtCore *x);
/* Σ a·b over the real leaves; a Double. Structural zeros are absorbing, of what rules give only b's. `of` says what has
 * the wrong shape where they differ: b, a cotangent or a tangent, or a, the tangent of a rule. */
typedef enum CtDot { DOT_COTANGENT, DOT_TANGENT, DOT_RULE, DOT_RULE_PULLED } CtDot;
CtCore *ct_ad_poly_dot(CtAd *ad, CtSourceRange range, CtType *type, CtCore *a, CtCore *b, CtDot of);
/* The reals of a cotangent or tangent of x : A as an array; a failure if its shape differs from x's. */
CtCore *ct_ad_poly_reals(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x, CtCore *dx, bool tangent);
/* The reals of x : A as an array of Doubles. */
CtCore *ct_ad_poly_vector(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x);
/* The D[ℝ] in a D[A] in order, each as D[Double]; and x : A with these in place of its reals. */
CtCore *ct_ad_poly_duals(CtAd *ad, CtMethod method, CtSourceRange range, CtType *type, CtCore *d);
CtCore *ct_ad_poly_fill_duals(CtAd *ad, CtMethod method, CtSourceRange range, CtType *type, CtCore *x, CtCore *duals);
/* x with structural zeros as its reals. */
CtCore *ct_ad_poly_zero(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x);
/* x with its reals taken from an array, from left to right. */
CtCore *ct_ad_poly_fill(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x, CtCore *reals);
/* The same from index 1 on, normalised by ct_ad_normal when `normal`. */
CtCore *ct_ad_poly_read(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x, CtCore *reals, bool normal);
/* The same, elements of arrays side by side. A program has one or the other. */
CtCore *ct_ad_poly_read_apart(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x, CtCore *reals, bool normal);
/* The number of reals in x. */
CtCore *ct_ad_poly_count(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x);
/* The basis at x: for each real of x, x with 1 there and structural zeros elsewhere. */
CtCore *ct_ad_poly_basis(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x);
/* x + 0: normalises the reals of a derivative at the end, so that a structural zero −0.0 becomes 0. */
CtCore *ct_ad_normal(CtAd *ad, CtSourceRange range, CtCore *x);
/* Converts a real to Double, and back. */
CtCore *ct_ad_to_double(CtAd *ad, CtSourceRange range, CtCore *real);
CtCore *ct_ad_from_double(CtAd *ad, CtSourceRange range, CtType *type, CtCore *real);

/* ---- function_values.c ---- */

/* D[f] of a function term: transformed now if f is known, otherwise a DUAL for the evaluator. `inside` is the global
 * that contains the term, or NULL; a function that leads back to it stays a DUAL, so that expansion ends. */
CtCore *ct_ad_dual_of(CtAd *ad, CtMethod method, CtGlobal *inside, CtCore *f);

/* The converse: a function term as before D, for code that runs on primals. If f is neither a λ nor a global, it is
 * made from `transformed`, D[f]. */
CtCore *ct_ad_primal_function(CtTransform *t, CtSeq *seq, CtCore *f, CtCore *transformed);

/* λ⟨c⟩. D[f] of a λ with the captured values c, which are constants. */
CtCore *ct_ad_closed(CtAd *ad, CtMethod method, CtLam *lam);

/* The global whose body is this λ, or NULL. */
CtGlobal *ct_ad_global_of(CtAd *ad, const CtLam *lam);

/* ---- custom_rules.c ---- */

/* D[withVjp f rule x], D[withJvp f rule x]. */
CtCore *ct_ad_custom(CtTransform *t, CtSeq *seq, CtCore *core);
/* The pair (y, pullback) that the rule of a withVjp or withJvp gives at x. */
CtCore *ct_ad_pair_of_rule(CtAd *ad, CtSeq *seq, const CtCore *core, CtCore *rule, CtCore *x);
/* A rule for pullbacks, a variable, as a λ(x, dx) that gives value and tangent. */
CtCore *ct_ad_tangent_of_pair(CtAd *ad, const CtCore *core, CtCore *rule, CtType *s);
/* D[f] (embed x), for an x : S beneath the derivative. */
CtCore *ct_ad_at_constant(CtTransform *t, CtSeq *seq, CtCore *f, CtSourceRange range, CtType *s, CtCore *x);
/* Whether a function may have captured active values, by which it must be differentiated itself. */
bool ct_ad_may_vary(CtCore *f);

/* y : T with its reals, given as an array, paired with the Bs n, n + 1, …; with the B of a constant if n is 0. */
CtCore *ct_ad_numbered(CtTransform *t, CtSeq *seq, CtSourceRange range, CtCore *y, CtCore *ys, CtCore *n);

/* ---- checkpoint.c ---- */

/* D[checkpointed f x]. */
CtCore *ct_ad_checkpoint(CtTransform *t, CtSeq *seq, CtCore *core);

/* ---- captured_arrays.c ---- */

/* Whether nothing is done with an array that a λ captures but reading elements: in the λ itself; and where it is to
 * stay as it is in D[λ], a constant. */
bool ct_ad_is_only_read(CtAd *ad, const CtLam *lam, const CtVar *var);
bool ct_ad_stays_constant(CtTransform *t, const CtLam *lam, const CtVar *var);
/* A term over primals, in which the variable stands for an array of dual numbers: the primals of what it reads. */
CtCore *ct_ad_read_primals(CtAd *ad, CtMethod method, const CtVar *var, CtCore *term);
/* Whether an array operation reads an array that stays as it is, and D of it. */
bool ct_ad_is_constant_read(CtTransform *t, const CtCore *core);
CtCore *ct_ad_constant_read(CtTransform *t, CtCore *core);

/* The application f x of a checkpointed f x. */
CtCore *ct_ad_unchecked(CtProgram *p, const CtCore *core);

/* ---- expand.c ---- */

/* The derivative wrap->f of a function by a method, for D[f] in wrap->f and named x and dx. */
CtCore *ct_ad_derivative_of(CtAd *ad, CtDerivOp op, CtMethod method, CtSeq *seq, CtWrap *wrap);

CtGlobal *ct_ad_global_later(CtAd *ad, CtMethod method, CtGlobal *global);
void ct_ad_work(CtAd *ad);
void ct_ad_expand_global(CtAd *ad, CtGlobal *global);
/* A term of a global (or NULL) that is to be transformed on Core, without the derivatives that are otherwise left to
 * Flow. */
CtCore *ct_ad_on_core(CtAd *ad, CtGlobal *inside, CtCore *core);
/* A function of the library of the reverse-mode method, or of another method; NULL with an error. */
CtGlobal *ct_ad_library(CtAd *ad, const char *name);
/* A function of a library module, of a method's library, and of that of the program's reverse method. */
CtGlobal *ct_ad_library_in(CtAd *ad, const char *module, const char *name);
CtGlobal *ct_ad_library_of(CtAd *ad, CtMethod method, const char *name);
CtCore *ct_ad_call(CtAd *ad, CtSourceRange range, CtGlobal *function, CtCore *const *args, uint32_t count);
/* A new global with a name made unique. */
CtGlobal *ct_ad_new_global(CtAd *ad, const char *name, CtType *type, CtSourceRange range);

/* ---- reverse_wrapper.c: shared by all reverse-mode methods ----
 *
 * D[ℝ] = ℝ × B: each real is paired with a B, through which its cotangent is propagated. Inputs are numbered from 1,
 * from left to right; the numbering N is the method's state S, or an Int for a method in direct style. A pullback
 * collects the cotangent of the result in a C, which is then resolved to the cotangents of the inputs.
 *
 * R[f] x = let (x', n) = interleave_S (x, start); (y, n') = D[f] (x', n)
 *          in (primal_T y, λdy. read_S x (resolve (inputs n) n' (collect_T y dy (nothing (inputs n) n')))) */
/* Names in the method's library. In direct style there is no n'. */
typedef struct CtReverse {
    const char *none;    /* B, beside a constant */
    const char *start;   /* N */
    const char *input;   /* N → (B, N) */
    const char *inputs;  /* N → Int, one more than the number of inputs; NULL: N is that Int */
    const char *nothing; /* (Int, N) → C, the initial value; or a constant C */
    const char *collect; /* (C, B, Double) → C */
    const char *resolve; /* (Int, N, C) → Array Double, with the cotangent of input i at index i */
    const char *entries; /* N → Int, the length of the trace; NULL: there is none */
    /* (Array Double → Array Double, Array B, Int, N) → (Int, N): registers the given number of results of a
     * function, by its pullback; the i-th result has as B the returned number + i, or is a constant if the number is
     * 0. NULL: the library has no such function. */
    const char *rule;
    /* (N → (Array B, N), Int, N) → (Int, N): registers the given number of results of a call that the reverse sweep
     * runs again, by a function that runs it and returns their Bs; numbers as for `rule`. NULL: a call is not run
     * again, and `checkpointed f x` is differentiated as f x. */
    const char *again;
    /* For parallel tasks (tasks.c): Int → N, the state of a task of a fork before this number; (Int, Array N) → Array
     * Int, for the first number and the states of tasks: how many numbers the tasks before each one have given, at the
     * end how many all have; and (Array N, Array Int, N) → N, the state behind the tasks from that before them. NULL:
     * loops carry their state from element to element. */
    const char *task, *offsets, *join;
    /* (Int, Int, B) → B, which adds the second to the numbers from the first on; NULL: B is the number. */
    const char *shift;
    const char *behind; /* (N, Int) → N: N behind so many inputs; NULL: inputs are numbered one after the other */
} CtReverse;

CtType *ct_ad_reverse_real(CtAd *ad, CtType *real);
CtType *ct_ad_reverse_state(CtAd *ad);
CtCore *ct_ad_reverse_constant(CtAd *ad, CtSourceRange range, CtCore *x);
CtCore *ct_ad_reverse_primal(CtAd *ad, CtSourceRange range, CtCore *d);
CtCore *ct_ad_reverse_jvp(CtAd *ad, CtSeq *seq, const CtWrap *wrap);
CtCore *ct_ad_reverse_vjp(CtAd *ad, CtSeq *seq, const CtWrap *wrap);
/* Like vjp, but the pullback gives the array of the adjoints of all entries, for a method whose `resolve` does. */
CtCore *ct_ad_reverse_adjoints(CtAd *ad, CtSeq *seq, const CtWrap *wrap);
CtCore *ct_ad_reverse_trace(CtAd *ad, CtSeq *seq, const CtWrap *wrap);
#define CT_REVERSE_RULES                                                                                               \
    .real = ct_ad_reverse_real, .constant = ct_ad_reverse_constant, .primal = ct_ad_reverse_primal,                    \
    .jvp = ct_ad_reverse_jvp, .vjp = ct_ad_reverse_vjp

/* An operation's result y = op ⟨x⟩, and for each argument that cotangents are propagated to, its B and ∂op/∂x. */
typedef struct CtPartials {
    CtAd *ad;
    const CtOperation *op;
    CtCore *x[2], *y;
    uint32_t count;
    CtCore *b[2], *p[2]; /* p of a conversion is NULL */
} CtPartials;
/* Opens the arguments, and binds the result. */
CtPartials ct_ad_partials(CtAd *ad, CtSeq *seq, const CtOperation *op);
/* ∂op/∂x of the k-th of these arguments, or its product with a cotangent z; a Double. */
CtCore *ct_ad_partial(const CtPartials *partials, uint32_t k, CtCore *z);
/* Calls the method's function `one` on (b, ∂op/∂x, state), or `two` on the b and ∂op/∂x of both arguments. The result
 * is (B, state). */
CtCore *ct_ad_partials_run(const CtPartials *partials, CtSeq *seq, const char *name, const char *one, const char *two);
/* (y, b) */
CtCore *ct_ad_partials_pair(const CtPartials *partials, CtCore *b);
/* watch.c: whether additions of `chad` to cells are recorded; and the call of `seen` that records one, whose result is
 * the environment. */
bool ct_ad_records_cells(const CtAd *ad);
CtCore *ct_ad_cell_seen(CtAd *ad, CtCellNote note, CtCore *cell, CtCore *d, CtCore *environment);
/* A call of a library function. */
CtCore *ct_ad_library_call(CtAd *ad, CtSourceRange range, const char *name, CtCore *const *args, uint32_t count);
/* A constructor of B, as a term. */
CtCore *ct_ad_library_con(CtAd *ad, CtSourceRange range, CtType *type, const char *name, CtCore *const *args,
                          uint32_t count);

/* ---- what a rung takes over from the one below it ---- */

/* delta.c: Add (Scale ∂₁op u₁) (Scale ∂₂op u₂); and a name for a term. */
CtCore *ct_ad_delta_term(const CtPartials *partials);
CtCore *ct_ad_delta_let(CtAd *ad, CtSeq *seq, CtSourceRange range, CtCore *term);
CtCore *ct_ad_delta_operation(CtAd *ad, CtSeq *seq, const CtOperation *op);
extern const CtReverse ct_ad_delta_names;
/* delta_fused.c: a term as one operation. ct_ad_fused_term: the term with variables in place of what is no operation,
 * such as elements of arrays, which are bound in the sequence; NULL where it cannot be fused, or has no operations.
 * ct_ad_fuse: its value y = e ⟨x⟩, and for each real x, bound so far, its B and ∂e/∂x; `zeros`: some of these may be
 * structural zeros. Without a state. */
typedef struct CtFusedTerm {
    CtCore *y, **b, **partials;
    uint32_t count;
    bool zeros;
} CtFusedTerm;
CtCore *ct_ad_fused_term(CtTransform *t, CtSeq *seq, CtCore *core);
CtFusedTerm ct_ad_fuse(CtTransform *t, CtSeq *seq, CtCore *core);
/* bulk.c */
CtCore *ct_bulk_whole_derivative(CtAd *ad, CtDerivOp op, CtSourceRange range, CtCore *f, CtCore *x, CtCore *dx);
/* dual_staged.c: (y, (i, λz. body)) with the state i + 1; and StagedCall dₖ (∂ₖop(z)), applied to a state unless that
 * is NULL. */
CtCore *ct_ad_dual_tagged(const CtPartials *partials, CtSeq *seq, CtVar *z, CtCore *body);
CtCore *ct_ad_dual_staged_call(const CtPartials *partials, uint32_t k, CtVar *z, CtCore *state);
extern const CtReverse ct_ad_dual_names;
/* dual_cayley.c: D[op], with λz. λs. StagedCall d₁ (∂₁op(z)) (StagedCall d₂ (∂₂op(z)) s). */
CtCore *ct_ad_dual_composed(CtAd *ad, CtSeq *seq, const CtOperation *op);

/* ---- wrapper.c: one mode from the other ---- */

CtCore *ct_ad_vjp_from_jvp(CtAd *ad, CtSeq *seq, const CtWrap *wrap, CtMethod method);
CtCore *ct_ad_jvp_from_vjp(CtAd *ad, CtSeq *seq, const CtWrap *wrap, CtMethod method);
/* The rows of the Jacobian, from any term that gives (value, pullback). */
CtCore *ct_ad_jacobian_from_vjp(CtAd *ad, CtSeq *seq, const CtWrap *wrap, CtCore *vjp);
/* For Flow: a Jacobian by tangents or by pullbacks, whichever are fewer (jacobian_shape.c). */
CtCore *ct_ad_jacobian_by_shape(CtAd *ad, CtSourceRange range, CtCore *f, CtCore *x);

#endif
