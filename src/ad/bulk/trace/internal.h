/* Shared by the files of the tracer. */
#ifndef CT_AD_BULK_TRACE_INTERNAL_H
#define CT_AD_BULK_TRACE_INTERNAL_H

#include "ad/bulk/ir/ranges.h"
#include "ad/bulk/trace/trace.h"

typedef struct CtAbstractEnv {
    const CtVar *var;
    CtAbstract *value;
    const struct CtAbstractEnv *outer;
} Env;

/* The bindings of a build1's body, or of the whole term. */
typedef struct Scope {
    CtBulkTrace bindings;
    struct Scope *outer;
    uint32_t level;
} Scope;

typedef struct Tracer {
    CtBulkBuilder *builder;
    CtProgram *p;
    CtArena *arena;
    Scope *scope;
    CtMap levels;          /* id of a CtBulkVar -> 1 + the level of its scope */
    CtMap named;           /* id of a CtBulkVar -> itself, if its name comes from the program */
    CtMap unrolled;        /* CtLam * of tail-recursive functions that are not loops */
    CtMap globals;         /* CtGlobal * -> CtAbstract *, of constants */
    CtMap vain;            /* ids of CtBulkVars left behind by abandoned traces */
    CtBulkRewriter ranges; /* range analysis */
    /* The condition of the enclosing branches, under which the current term is needed; NULL: always. */
    CtBulk *live;
    CtSourceRange place; /* the innermost call in the user's program (not in the library) */
    uint32_t depth, terms, calls;
    CtBulkRefusal *refusal;
} Tracer;

typedef CtBulk *Leaf(Tracer *tr, void *data, CtBulk *term);

CtAbstract *ct_bulk_abstract_new(CtBulkBuilder *r, CtAbstractKind kind);
CtShape ct_bulk_trace_scalar(void);
CtAbstract *ct_bulk_trace_eval(Tracer *tr, const Env *env, CtCore *core);
/* Traces the bindings at the start of a term, and returns the body. NULL: something was refused. */
CtCore *ct_bulk_trace_bindings(Tracer *tr, const Env **env, CtCore *core);
/* A CASE. If the scrutinee is known: the alternative that is taken, with its environment. If it is an unknown Bool: the
 * test and both branches. NULL where there is none. */
typedef struct CtBranches {
    CtAbstract *scrutinee;
    const Env *env;
    CtCore *taken, *yes, *no;
    CtBulk *test;
} CtBranches;
CtBranches ct_bulk_trace_branches(Tracer *tr, const Env *env, CtCore *core);
CtAbstract *ct_bulk_trace_apply(Tracer *tr, CtAbstract *f, CtAbstract *const *args, uint32_t count,
                                CtSourceRange range);
CtAbstract *ct_bulk_trace_array(Tracer *tr, const Env *env, CtCore *core);
/* The source range that is reported for `range`: in the library, the call that led there. */
CtSourceRange ct_bulk_trace_place(const Tracer *tr, CtSourceRange range);
/* Refuses the program; the first refusal is reported. The returned value does not matter. */
CtAbstract *ct_bulk_trace_refuse(Tracer *tr, CtSourceRange range, const char *what);
bool ct_bulk_trace_refused(const Tracer *tr);
/* A number, a Bool or an array of them as a term; NULL for other values. */
CtBulk *ct_bulk_trace_term(Tracer *tr, const CtAbstract *s);
/* Binds a term to a variable in the innermost scope that it needs; atoms are returned as they are. */
CtBulk *ct_bulk_trace_name(Tracer *tr, const char *text, CtBulk *t);
CtAbstract *ct_bulk_trace_named(Tracer *tr, CtBulk *t);
/* The term that a variable is bound to; NULL if none of the current scopes binds it. */
CtBulk *ct_bulk_trace_bound(const Tracer *tr, const CtBulk *t);
Scope *ct_bulk_trace_scope(Tracer *tr, CtBulk *t);
void ct_bulk_trace_set_level(Tracer *tr, const CtBulkVar *var, uint32_t level);
/* The conjunction of two conditions; `a` may be NULL for true. */
CtBulk *ct_bulk_trace_both(Tracer *tr, CtBulk *a, CtBulk *b);
CtBulk *ct_bulk_trace_not(Tracer *tr, CtBulk *a);
/* Adds a check that fails where `test` holds, provided that this point is reached. */
void ct_bulk_trace_check(Tracer *tr, CtBulk *test, CtErrorCode code, const char *text, CtSourceRange range);
/* At the end of a scope: terms that the result does not need, but that can fail, are made needed by checks that never
 * fail themselves. */
void ct_bulk_trace_keep_failures(Tracer *tr, Scope *scope, CtAbstract *result);
/* Adds a copy of a check with another test, which includes the condition under which it is reached. */
void ct_bulk_trace_push_check(Tracer *tr, CtBulk *test, const CtBulk *check);
/* An abstract value with every term replaced. Known values stay. */
CtAbstract *ct_bulk_trace_leaves(Tracer *tr, CtAbstract *s, Leaf *leaf, void *data);
/* An array of `size` elements, from an element whose terms have that as an additional outermost dimension. */
CtAbstract *ct_bulk_trace_array_of(Tracer *tr, int64_t size, CtAbstract *element);
/* Turns known Ints and Bools into terms, so that elements of an array can differ in them. */
CtAbstract *ct_bulk_trace_unknown(Tracer *tr, CtAbstract *s);
/* Turns counters into terms, in the scope of the loop that counts. */
CtAbstract *ct_bulk_trace_without_counters(Tracer *tr, CtAbstract *s);
int64_t ct_bulk_trace_size(const CtAbstract *xs);
/* The length of the arrays at a depth of nesting; −1 when there are none. */
int64_t ct_bulk_trace_length_at(const CtAbstract *s, uint32_t depth);
/* xs ! i */
CtAbstract *ct_bulk_trace_element(Tracer *tr, CtAbstract *xs, CtAbstract *i, CtSourceRange range);
/* Adds a check of 0 ≤ i < size. */
void ct_bulk_trace_check_inside(Tracer *tr, CtBulk *i, int64_t size, const char *text, CtSourceRange range);
/* The elements from `start` on, which exist. */
CtAbstract *ct_bulk_trace_slice(Tracer *tr, CtAbstract *xs, int64_t start, int64_t size, CtSourceRange range);
/* The array with the element at an index replaced, which is inside, or checked to be. */
CtAbstract *ct_bulk_trace_put(Tracer *tr, CtAbstract *xs, CtAbstract *at, CtAbstract *x, CtSourceRange range);
/* Whether two arrays have one shape at these depths. */
bool ct_bulk_trace_regular(const CtAbstract *a, uint32_t inside_a, const CtAbstract *b, uint32_t inside_b);
/* The first of these elements of an array whose shape is not that of the others; 0: there is none. */
uint32_t ct_bulk_trace_irregular_item(CtAbstract *const *items, uint32_t count);
CtAbstract *ct_bulk_trace_irregular(Tracer *tr, CtSourceRange range); /* reports an irregular array */
/* An array of the given elements. */
CtAbstract *ct_bulk_trace_array_from(Tracer *tr, CtAbstract *const *items, uint32_t count);
CtAbstract *ct_bulk_trace_append(Tracer *tr, CtAbstract *xs, CtAbstract *ys, CtSourceRange range);
/* Whether two values are equal except for their terms, which have the same shapes. */
bool ct_bulk_trace_same_shape(const CtAbstract *a, const CtAbstract *b);
/* Whether two growing arrays have one length before each step. */
bool ct_bulk_trace_same_growth(const CtAbstract *a, const CtAbstract *b);
/* Whether an array of such values is possible: of numbers, Bools, and tuples or data of these. */
bool ct_bulk_trace_has_terms_only(const CtAbstract *s);
/* cond test a b, leaf by leaf. */
CtAbstract *ct_bulk_trace_merge(Tracer *tr, CtBulk *test, CtAbstract *a, CtAbstract *b, CtSourceRange range);

/* ---- trace_derivatives.c ---- */

/* DUAL f, x…: a derivative inside the function that is traced. */
CtAbstract *ct_bulk_trace_derivative(Tracer *tr, CtCore *dual, CtAbstract *const *args);
/* The pullback applied to a cotangent. */
CtAbstract *ct_bulk_trace_pull_back(Tracer *tr, const struct CtPullback *pullback, CtAbstract *dy);

/* New variables of a scope for the reals of a structure, and these reals. */
typedef struct CtFresh {
    CT_VEC(CtBulkVar *) vars;
    CT_VEC(CtBulk *) terms;
    const char *name;
    uint32_t level;
} CtFresh;
/* The structure with the variables in place of its reals. */
CtAbstract *ct_bulk_trace_fresh(Tracer *tr, CtAbstract *s, CtFresh *fresh);
/* let ⟨vars⟩ = ⟨terms⟩, each in the innermost scope that it needs. */
void ct_bulk_trace_bind_fresh(Tracer *tr, const CtFresh *fresh);
/* Adds the checks of a scope that has been left to the enclosing scopes. */
void ct_bulk_trace_lift_checks(Tracer *tr, const CtBulkTrace *bindings);

/* ---- trace_rules.c ---- */

/* withVjp f rule x, withJvp f rule x */
CtAbstract *ct_bulk_trace_rule(Tracer *tr, CtCore *core, CtAbstract *const *args);

/* ---- trace_folds.c ---- */

typedef enum CtFoldKind {
    FOLD_LAST,   /* foldl: the last state */
    FOLD_BEFORE, /* scanl: the state before each step, and the last */
    FOLD_AFTER,  /* scan: the state after each step */
    FOLD_PAIR,   /* mapAccumL: (last state, what each step gives beside it) */
} CtFoldKind;
/* f takes (state, element). */
CtAbstract *ct_bulk_trace_fold(Tracer *tr, CtFoldKind kind, CtAbstract *f, CtAbstract *start, CtAbstract *xs,
                               CtSourceRange range);

/* A loop written as a tail-recursive function (trace_recursion.c). With this many iterations or fewer it is unrolled,
 * because what is known in each makes a simpler term. */
enum { CT_FEW_ITERATIONS = 8 };

typedef struct CtCounting {
    CtBulkVar *index; /* of the current step */
    int64_t turn;     /* the first step at which some comparison has another outcome */
} CtCounting;

typedef struct CtTail {
    CtAbstract *f;
    uint32_t count;          /* number of its arguments … */
    int64_t *bases, *slopes; /* … of which those with a nonzero slope are counters */
    int64_t steps;           /* number of steps of the loop; 0: not known */
    uint32_t other;          /* 1 + the index of an argument wrongly taken for a counter; 0: none */
    CtCounting counting;
    CtAbstract **fails; /* stands for the arguments of a call in a branch that fails */
    CtSourceRange range;
} CtTail;

/* The state of the trace outside the traced code, to which an abandoned trace returns. */
typedef struct CtTraceMark {
    CT_VEC(uint32_t) checks, bindings;
    uint32_t terms;
} CtTraceMark;
CtTraceMark ct_bulk_trace_mark(Tracer *tr);
void ct_bulk_trace_go_back(Tracer *tr, const CtTraceMark *to);
/* The states after the first steps; NULL when it is no loop. */
CtAbstract *ct_bulk_trace_tail_loop(Tracer *tr, CtTail *tail, CtAbstract *start);

/* ---- growing.c ---- */

/* An operation on arrays the first of which grows. */
CtAbstract *ct_bulk_trace_growing(Tracer *tr, CtArrayOp op, CtAbstract *const *args, uint32_t count,
                                  CtSourceRange range);
/* Whether there is a growing array in a structure. */
bool ct_bulk_trace_has_growing(const CtAbstract *s);
/* Refuses an operation that needs all elements of such an array. */
CtAbstract *ct_bulk_trace_refuse_growing(Tracer *tr, CtSourceRange range);
/* The array of a state that is `before` at the start and `after` behind the first step: a growing one. NULL: it does
 * not grow. */
CtAbstract *ct_bulk_trace_grow(Tracer *tr, const CtAbstract *before, CtAbstract *after, int64_t steps, CtCounting *of);
/* The same for another number of steps; NULL: nothing changes. */
CtAbstract *ct_bulk_trace_grow_to(Tracer *tr, const CtAbstract *xs, int64_t steps);
/* The initial value of such a state. */
CtAbstract *ct_bulk_trace_make_room(Tracer *tr, const CtAbstract *xs, CtAbstract *start, CtSourceRange range);

/* ---- loops ---- */

/* Adds the bindings of a scope that the results of a loop need to its body. */
void ct_bulk_trace_add_bindings(Tracer *tr, const CtBulkTrace *body, CtBulkLoop *loop);

/* ---- trace_recursion.c ---- */

/* The result of a call of a tail-recursive closure with a counter; NULL if it is none. */
CtAbstract *ct_bulk_trace_tail(Tracer *tr, CtAbstract *f, CtAbstract *const *args, uint32_t count, CtSourceRange range);
/* Traces one step with counters for the index: the next state; NULL when the function stops, or recurses differently
 * than before. */
CtAbstract *ct_bulk_trace_tail_body(Tracer *tr, CtTail *tail, CtAbstract *state, CtBulkVar *index);
CtBulk *ct_bulk_trace_counter_term(Tracer *tr, const CtAbstract *s);
/* A primitive on counters and known integers; NULL when its result is not known. */
CtAbstract *ct_bulk_trace_counter_prim(Tracer *tr, CtPrim prim, const CtAbstract *a, const CtAbstract *b);

/* ---- for it, of trace.c ---- */

CtAbstract *ct_bulk_trace_known_bool(Tracer *tr, bool value);
const Env *ct_bulk_trace_bind(Tracer *tr, const Env *env, const CtVar *var, CtAbstract *value);

#endif
