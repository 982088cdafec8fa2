/* Private to reverse mode on Flow: reverse.c says how it goes. */
#ifndef CT_FLOW_REVERSE_H
#define CT_FLOW_REVERSE_H

#include "flow/ad/adjoint.h"
#include "flow/copy.h"

/* ---- adjoints while the reverse sweep is written ---- */

typedef enum AccKind { ACC_NOTHING, ACC_WHOLE, ACC_PIECES, ACC_UNIFORM, ACC_SINGLE } AccKind;

/* What has been accumulated for a variable of the forward sweep, as seen in one scope. */
typedef struct Acc {
    AccKind kind;
    CtFlowArg value;    /* WHOLE; UNIFORM: of each element; SINGLE: of one, all others being zero */
    CtFlowArg index;    /* SINGLE: which */
    bool full;          /* WHOLE: an array that is certainly not the zero of length 0 */
    CtFlowStep *pieces; /* PIECES: the OPEN whose results hold it */
} Acc;

typedef enum ScopeKind { SCOPE_PATH, SCOPE_BRANCH, SCOPE_LOOP } ScopeKind;

typedef struct Import { /* an adjoint from outside that a branch or loop adds to */
    CtFlowVar *var;
    CtFlowVar *param; /* of a loop: as its block sees it */
    bool full;
} Import;
typedef CT_VEC(Import) Imports;

typedef struct Element { /* the adjoint of array[i], i the index of the loop: a variable of its own, maybe a row */
    CtFlowVar *array, *item;
} Element;

/* A block of the reverse sweep, and the block of the forward sweep that it reverses. */
typedef struct Scope {
    struct Scope *parent;
    ScopeKind kind;
    CT_VEC(CtFlowBlock *) forward; /* of a path: from the body to its end */
    CtFlowBlock *backward;
    CtFlowStep *step;  /* SWITCH or LOOP of the forward sweep */
    CtMap accs;        /* variable's number -> Acc * */
    CtMap known;       /* variable's number -> CtFlowVar *, its value in the reverse sweep */
    CtFlowVars wanted; /* whose values are used; in order */
    CtFlowVars stored; /* those of them that the forward sweep has to hand over */
    CtMap repeated;    /* steps that are repeated for the others */
    Imports *imports;  /* of a BRANCH: shared with the other branches */
    CT_VEC(Element) elements;
} Scope;

/* ---- functions ---- */

/* The reverse of a function for a choice of active parameters. */
typedef struct Variant {
    CtFlowReverse pair;
    CtFlowFunction *function;
    bool *asked, *active; /* of the parameters: those asked for, and those that iterations of a loop make so too */
    struct Group *group;  /* reverse.c */
} Variant;

typedef struct Reverse {
    CtFlow *flow;
    CtArena *arena;
    CtFlowBuilder f, b;  /* the forward and the backward sweep as they are written */
    CT_VEC(bool) active; /* by the numbers of variables of the forward sweep */
    CtMap owner;         /* variable's number -> the block that binds it */
    CtMap defs;          /* variable's number -> the step that binds it */
    CtMap scopes;        /* block of the forward sweep -> Scope, while its reverse is written */
    CtMap calls;         /* step -> Variant * */
    CtMap slopes;        /* step -> CtFlowVar *, the slope that it gives */
    CtMap stored;        /* variable's number -> the array of its values in all iterations of its loop */
    CtMap rows_only;     /* such arrays, by number: nobody but the loop around looks at them in the forward sweep */
    CtMap lengths;       /* variable's number and dimension -> CtFlowArg *, known to be its length */
    CtMap loops;         /* block of a loop -> the step */
    CtMap keeps;    /* of what a loop carries, by number and dimension: whether its length stays; NULL: being asked */
    CtMap equals;   /* variable's number -> what is known to be of the same length, by checks (forward_sweep.c) */
    CtMap outer;    /* block of the forward sweep -> the block around it */
    CtMap rows;     /* number of an Element's variable -> the array that it is an element of */
    CtMap consumed; /* variables that an update may change in place */
    Scope *scope;
} Reverse;

/* forward_sweep.c: the forward sweep as a copy, and what is known of its variables. */
typedef struct CtReverseTails { /* calls in tail position of others are calls like any other */
    CtFlowFunction **items;
    uint32_t count;
} CtReverseTails;
void ct_flow_reverse_copy(Reverse *r, CtFlowFunction *function, CtFlowFunction *forward, const bool *active,
                          const CtReverseTails *tails);
/* Which variables of a function depend on its active parameters; by their numbers. */
void ct_flow_reverse_activity(CtFlow *flow, const CtFlowFunction *function, const bool *params, bool *active);
bool ct_flow_reverse_is_active(const Reverse *r, CtFlowArg arg);
/* A new variable of the forward sweep, bound by a step or as the results of one. */
CtFlowVar *ct_flow_reverse_forward_var(Reverse *r, const char *name, const CtFlowType *type, CtFlowBlock *owner,
                                       CtFlowStep *step);
/* The length of a dimension of an array of the forward sweep, as a value of the forward sweep. */
CtFlowArg ct_flow_reverse_length(Reverse *r, CtFlowVar *array, uint32_t dimension);
/* A length that is told of an array, as told of the array that this one has it from: of the rows of a matrix, the
 * matrix. */
CtFlowArg ct_flow_reverse_simplest(Reverse *r, CtFlowArg value);
/* Where the maximum or minimum is that a step gives, as a value of the forward sweep. */
CtFlowArg ct_flow_reverse_place_of_extreme(Reverse *r, CtFlowStep *step);
/* Whether an array of numbers that a loop's block makes is known to have the same length in all iterations. */
bool ct_flow_reverse_has_regular_rows(Reverse *r, const CtFlowStep *loop, const CtFlowVar *row);
/* Whether a loop has as many iterations as an array has elements, as far as is known where the loop stands. */
bool ct_flow_reverse_same_length(Reverse *r, const CtFlowStep *loop, CtFlowVar *array);

/* residuals.c: values of the forward sweep in the reverse sweep. */
CtFlowArg ct_flow_reverse_need(Reverse *r, CtFlowArg value);
/* Decides for all that a scope wants: repeated, or ->stored. Then writes the repeated steps in front of its block. */
void ct_flow_reverse_settle(Reverse *r, Scope *scope);
void ct_flow_reverse_repeat(Reverse *r, Scope *scope);

/* accumulators.c */
Scope *ct_flow_reverse_scope(Reverse *r, ScopeKind kind, CtFlowBlock *forward, CtFlowBlock *backward);
void ct_flow_reverse_enter(Reverse *r, Scope *scope);
/* What was accumulated, which is nothing afterwards; none where that is certain. */
CtFlowArg ct_flow_reverse_take(Reverse *r, CtFlowArg of, bool *full);
void ct_flow_reverse_give(Reverse *r, CtSourceRange range, CtFlowArg to, CtFlowArg adjoint, bool full);
/* The same to each element of an array; something to the one of an index, which is a value of the reverse sweep. */
void ct_flow_reverse_give_uniform(Reverse *r, CtSourceRange range, CtFlowArg to, CtFlowArg adjoint);
void ct_flow_reverse_give_single(Reverse *r, CtSourceRange range, CtFlowArg to, CtFlowArg index, CtFlowArg adjoint);
/* Where one of these is all that an array got, it, which is nothing afterwards; else NULL. */
const Acc *ct_flow_reverse_take_special(Reverse *r, const CtFlowVar *of, AccKind kind);
/* Whether that is how the adjoint of a variable is, in this scope. */
bool ct_flow_reverse_has(const Reverse *r, const CtFlowVar *of, AccKind kind);
/* x[⟨indices⟩] += adjoint; indices are of the forward sweep. */
void ct_flow_reverse_give_at(Reverse *r, CtSourceRange range, CtFlowArg x, const CtFlowArg *indices, uint32_t count,
                             CtFlowArg adjoint);
/* The accumulator of an array, filled, to be changed and given back by ct_flow_reverse_put. */
CtFlowArg ct_flow_reverse_borrow(Reverse *r, CtSourceRange range, CtFlowArg x);
void ct_flow_reverse_put(Reverse *r, CtFlowArg x, CtFlowArg adjoint);
CtFlowArg ct_flow_reverse_zero(Reverse *r, CtFlowArg of);
/* Whether a loop around a scope has it from outside. */
bool ct_flow_reverse_is_outside_loop(const Reverse *r, const Scope *scope, const CtFlowVar *var);
/* In `scope`, what has been accumulated for an import: as it is there, or as it came in. */
CtFlowArg ct_flow_reverse_export(Reverse *r, Scope *scope, const Import *import);
Acc *ct_flow_reverse_acc(Reverse *r, Scope *scope, CtFlowVar *var, bool elements);
/* An array of adjoints with all its elements, where it may be the zero of length 0; its shape is x's. */
CtFlowArg ct_flow_reverse_filled(Reverse *r, CtSourceRange range, CtFlowVar *x, CtFlowArg adjoint);

/* The reverse of a block's first `count` steps, into the scope. */
void ct_flow_reverse_steps(Reverse *r, const CtFlowBlock *block, uint32_t count);
void ct_flow_reverse_call(Reverse *r, CtFlowStep *step);
void ct_flow_reverse_switch(Reverse *r, CtFlowStep *step);
void ct_flow_reverse_loop(Reverse *r, CtFlowStep *step);
void ct_flow_reverse_bulk(Reverse *r, CtFlowStep *step);
void ct_flow_reverse_product(Reverse *r, CtFlowStep *step);

/* custom_rules.c: functions with a rule for their derivative. The code of a variant of one, declared. */
void ct_flow_reverse_rule(CtFlow *flow, Variant *v);
/* A call in the forward sweep of one whose rule gives a slope becomes a call for both, which needs no residual; false
 * where f itself varies. Then what it is in reverse. */
bool ct_flow_reverse_by_slope(Reverse *r, CtFlowBlock *block, CtFlowStep *step, const bool *active);
bool ct_flow_reverse_slope(Reverse *r, const CtFlowStep *step);

/* The variant of a function for some active parameters, declared; its code is written later. NULL where refused. */
Variant *ct_flow_reverse_variant(CtFlow *flow, CtFlowFunction *function, const bool *active);

#endif
