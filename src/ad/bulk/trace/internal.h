/* What trace.c and trace_arrays.c share. */
#ifndef CT_AD_BULK_TRACE_INTERNAL_H
#define CT_AD_BULK_TRACE_INTERNAL_H

#include "ad/bulk/ir/ranges.h"
#include "ad/bulk/trace/trace.h"

typedef struct CtAbstractEnv {
    const CtVar *var;
    CtAbstract *value;
    const struct CtAbstractEnv *outer;
} Env;

/* The bindings of a build1's body, or of the whole. */
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
    CtMap levels;          /* id of a CtBulkVar -> the level of its scope, and one */
    CtMap named;           /* id of a CtBulkVar -> itself, if its name is the program's */
    CtMap unrolled;        /* CtLam * of functions that call themselves last, but are no loops */
    CtMap globals;         /* CtGlobal * -> CtAbstract *, of constants */
    CtMap vain;            /* ids of CtBulkVars that a trace in vain has left behind */
    CtBulkRewriter ranges; /* where integers lie */
    CtBulk *live;          /* the conditions of the branches that this is in; NULL: none */
    CtSourceRange place;   /* the innermost call that stands in the user's program, not in the library */
    uint32_t depth, terms;
    CtBulkRefusal *refusal;
} Tracer;

typedef CtBulk *Leaf(Tracer *tr, void *data, CtBulk *term);

CtAbstract *ct_bulk_abstract_new(CtBulkBuilder *r, CtAbstractKind kind);
CtShape ct_bulk_trace_scalar(void);
CtAbstract *ct_bulk_trace_eval(Tracer *tr, const Env *env, CtCore *core);
/* Goes through the bindings that a term begins with: what they are around. NULL: something was refused. */
CtCore *ct_bulk_trace_bindings(Tracer *tr, const Env **env, CtCore *core);
/* A CASE: the alternative that is taken, in its environment, where the scrutinee is known; else, where that is a Bool,
 * the test and both branches. NULL where there is none. */
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
/* Where what stands at `source range` is told of: the call that led there, if that is in the library. */
CtSourceRange ct_bulk_trace_place(const Tracer *tr, CtSourceRange range);
/* The first refusal is told; gives a value that does not matter any more. */
CtAbstract *ct_bulk_trace_refuse(Tracer *tr, CtSourceRange range, const char *what);
bool ct_bulk_trace_refused(const Tracer *tr);
/* A number, a Bool or an array of them as a term; NULL when it is something else. */
CtBulk *ct_bulk_trace_term(Tracer *tr, const CtAbstract *s);
/* A variable for a term, in the innermost scope that it needs; atoms are given back. */
CtBulk *ct_bulk_trace_name(Tracer *tr, const char *text, CtBulk *t);
CtAbstract *ct_bulk_trace_named(Tracer *tr, CtBulk *t);
/* What a variable is bound to; NULL when it is none of the scopes in sight. */
CtBulk *ct_bulk_trace_bound(const Tracer *tr, const CtBulk *t);
Scope *ct_bulk_trace_scope(Tracer *tr, CtBulk *t);
void ct_bulk_trace_set_level(Tracer *tr, const CtBulkVar *var, uint32_t level);
/* Conditions; a may be NULL: true. */
CtBulk *ct_bulk_trace_both(Tracer *tr, CtBulk *a, CtBulk *b);
CtBulk *ct_bulk_trace_not(Tracer *tr, CtBulk *a);
/* An error where `test` holds, if this is reached. */
void ct_bulk_trace_check(Tracer *tr, CtBulk *test, CtErrorCode code, const char *text, CtSourceRange range);
/* At the end of a scope: what its result does not need, but can fail, is needed by checks that never fail themselves.
 */
void ct_bulk_trace_keep_failures(Tracer *tr, Scope *scope, CtAbstract *result);
/* The same check with another test, which says by itself when it is reached. */
void ct_bulk_trace_push_check(Tracer *tr, CtBulk *test, const CtBulk *check);
/* A abstract value with every term replaced. What is known stays. */
CtAbstract *ct_bulk_trace_leaves(Tracer *tr, CtAbstract *s, Leaf *leaf, void *data);
/* An array of `size` elements, from one whose terms have that as their outermost dimension. */
CtAbstract *ct_bulk_trace_array_of(Tracer *tr, int64_t size, CtAbstract *element);
/* Ints and Bools that are known, as terms, so that each element of an array can have its own. */
CtAbstract *ct_bulk_trace_unknown(Tracer *tr, CtAbstract *s);
int64_t ct_bulk_trace_size(const CtAbstract *xs);
/* How long the arrays at a depth of nesting are; -1 when there are none. */
int64_t ct_bulk_trace_length_at(const CtAbstract *s, uint32_t depth);
/* xs ! i */
CtAbstract *ct_bulk_trace_element(Tracer *tr, CtAbstract *xs, CtAbstract *i, CtSourceRange range);
/* An error unless 0 ≤ i < size. */
void ct_bulk_trace_check_inside(Tracer *tr, CtBulk *i, int64_t size, const char *text, CtSourceRange range);
/* Whether what lies this deep inside two arrays, or they themselves, has one shape. */
bool ct_bulk_trace_regular(const CtAbstract *a, uint32_t inside_a, const CtAbstract *b, uint32_t inside_b);
CtAbstract *ct_bulk_trace_irregular(Tracer *tr, CtSourceRange range); /* the error that it is not */
/* An array of these elements. */
CtAbstract *ct_bulk_trace_array_from(Tracer *tr, CtAbstract *const *items, uint32_t count);
CtAbstract *ct_bulk_trace_append(Tracer *tr, CtAbstract *xs, CtAbstract *ys, CtSourceRange range);
/* Whether they stand for the same, but for the terms of the same shape in them. */
bool ct_bulk_trace_same_shape(const CtAbstract *a, const CtAbstract *b);
/* Whether an array of these could be: numbers, Bools, tuples and the like of them. */
bool ct_bulk_trace_has_terms_only(const CtAbstract *s);
/* cond test a b, leaf by leaf. */
CtAbstract *ct_bulk_trace_merge(Tracer *tr, CtBulk *test, CtAbstract *a, CtAbstract *b, CtSourceRange range);

/* ---- trace_derivatives.c ---- */

/* DUAL f, x…: a derivative inside the function that is traced. */
CtAbstract *ct_bulk_trace_derivative(Tracer *tr, CtCore *dual, CtAbstract *const *args);
/* What the pullback gives for a cotangent. */
CtAbstract *ct_bulk_trace_pull_back(Tracer *tr, const struct CtPullback *pullback, CtAbstract *dy);

/* Variables of a level, for the reals of a structure, and those. */
typedef struct CtFresh {
    CT_VEC(CtBulkVar *) vars;
    CT_VEC(CtBulk *) terms;
    const char *name;
    uint32_t level;
} CtFresh;
/* The structure of the variables. */
CtAbstract *ct_bulk_trace_fresh(Tracer *tr, CtAbstract *s, CtFresh *fresh);
/* let ⟨vars⟩ = ⟨terms⟩, each in the innermost scope that it needs. */
void ct_bulk_trace_bind_fresh(Tracer *tr, const CtFresh *fresh);
/* Checks of a scope that has been left, in those around it. */
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

/* A loop that a function is that calls itself last (trace_recursion.c). Few calls are no loop: what is known in each of
 * them makes a simpler term. */
enum { CT_FEW_ITERATIONS = 8 };

typedef struct CtCounting {
    CtBulkVar *index; /* of the step */
    int64_t turn;     /* the first step at which some comparison will turn out otherwise */
} CtCounting;

typedef struct CtTail {
    CtAbstract *f;
    uint32_t count;          /* of its arguments … */
    int64_t *bases, *slopes; /* … of which those with a slope are counters */
    int64_t steps;           /* of the loop; 0: not known */
    uint32_t other;          /* 1 + the place of an argument that was taken for a counter; 0: none */
    CtCounting counting;
    CtAbstract **fails; /* stands for the arguments of a branch that fails instead of going on */
    CtSourceRange range;
} CtTail;

/* What is left of a trace outside of what was traced; taken back when it was in vain. */
typedef struct CtTraceMark {
    CT_VEC(uint32_t) checks, bindings;
    uint32_t terms;
} CtTraceMark;
CtTraceMark ct_bulk_trace_mark(Tracer *tr);
void ct_bulk_trace_go_back(Tracer *tr, const CtTraceMark *to);
/* The states of so many steps, from the first; NULL when it is no loop. */
CtAbstract *ct_bulk_trace_tail_loop(Tracer *tr, CtTail *tail, CtAbstract *start);

/* The bindings of a scope that the results of a loop need, in its body. */
void ct_bulk_trace_add_bindings(Tracer *tr, const CtBulkTrace *body, CtBulkLoop *loop);

/* ---- trace_recursion.c ---- */

/* The result of a call of a closure, when it calls itself last and counts; NULL when it does not. */
CtAbstract *ct_bulk_trace_tail(Tracer *tr, CtAbstract *f, CtAbstract *const *args, uint32_t count, CtSourceRange range);
/* One step on counters, of an index: the next state; NULL when the function does not go on, or not as before. */
CtAbstract *ct_bulk_trace_tail_body(Tracer *tr, CtTail *tail, CtAbstract *state, CtBulkVar *index);
CtBulk *ct_bulk_trace_counter_term(Tracer *tr, const CtAbstract *s);
/* A primitive on counters and known integers; NULL when nothing is known of its result. */
CtAbstract *ct_bulk_trace_counter_prim(Tracer *tr, CtPrim prim, const CtAbstract *a, const CtAbstract *b);

/* ---- for it, of trace.c ---- */

CtAbstract *ct_bulk_trace_known_bool(Tracer *tr, bool value);
const Env *ct_bulk_trace_bind(Tracer *tr, const Env *env, const CtVar *var, CtAbstract *value);

#endif
