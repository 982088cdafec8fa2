/* Private to reverse mode on Flow. The method is described in reverse.c. */
#ifndef CT_FLOW_REVERSE_H
#define CT_FLOW_REVERSE_H

#include "flow/ad/adjoint.h"
#include "flow/copy.h"

/* How a variable depends on the active parameters. */
typedef enum Active {
    ACTIVE_NOT,
    ACTIVE_OWN,   /* an array: it was made where the variable is bound, and its adjoint is an array */
    ACTIVE_SHARED /* an array: the variable may be another name for it, and its adjoint is handed over as a bag */
} Active;

/* ---- adjoints while the reverse sweep is written ---- */

typedef enum AccKind { ACC_NOTHING, ACC_WHOLE, ACC_BAG, ACC_PIECES, ACC_UNIFORM, ACC_SINGLE } AccKind;

/* What has been accumulated so far for the adjoint of a forward-sweep variable, as seen in one scope. */
typedef struct Acc {
    AccKind kind;
    /* WHOLE: the adjoint; BAG: that of an array, as a bag; UNIFORM: that of every element; SINGLE: that of one element,
     * all others are zero. */
    CtFlowArg value;
    CtFlowArg index;    /* SINGLE: the element's index */
    bool if_any;        /* SINGLE: if the array has no elements, there is none */
    bool full;          /* WHOLE, and of an array: certainly not the empty array that stands for zero */
    CtFlowStep *pieces; /* PIECES: an OPEN of the variable; the adjoint is held by the accumulators of its results */
} Acc;

typedef enum ScopeKind { SCOPE_PATH, SCOPE_BRANCH, SCOPE_LOOP } ScopeKind;

typedef struct Import { /* an accumulator from outside to which a branch or loop adds */
    CtFlowVar *var;
    CtFlowVar *param; /* of a loop: the carried variable inside the block */
    bool full;
    bool is_bag; /* the adjoint is handed over as a bag */
} Import;
typedef CT_VEC(Import) Imports;

/* The adjoint of array[i + by], where i is the loop's index, accumulated in a variable of its own. If `by` is 0, it may
 * be a row. */
typedef struct Element {
    CtFlowVar *array, *item;
    int64_t by;
} Element;

/* A block of the reverse sweep with the block of the forward sweep that it reverses. */
typedef struct Scope {
    struct Scope *parent;
    ScopeKind kind;
    CT_VEC(CtFlowBlock *) forward; /* of a path: all blocks from the function's body to the end of the path */
    CtFlowBlock *backward;
    CtFlowStep *step;  /* the SWITCH or LOOP of the forward sweep */
    CtMap accs;        /* variable number -> Acc * */
    CtMap known;       /* variable number -> CtFlowVar *, its value in the reverse sweep */
    CtFlowVars wanted; /* forward-sweep variables whose values the scope uses, in order */
    CtFlowVars stored; /* those of them that become residuals */
    CtMap repeated;    /* steps that are recomputed in this scope */
    Imports *imports;  /* of a BRANCH: shared with the other branches */
    CT_VEC(Element) elements;
    bool is_map; /* of a LOOP: no iteration hands a cotangent to another, and all are reversed */
} Scope;

/* ---- functions ---- */

/* The reverse of a function for one choice of active parameters. */
typedef struct Variant {
    CtFlowReverse pair;
    CtFlowFunction *function;
    /* Of the parameters: those that the caller asked for; those and the ones that loops make active besides. */
    Active *asked, *active;
    struct Group *group; /* reverse.c */
    bool again;          /* the reverse sweep runs the function again (checkpoint.c) */
} Variant;

typedef struct Reverse {
    CtFlow *flow;
    CtArena *arena;
    CtFlowBuilder f, b;    /* builders of the forward and the reverse sweep */
    CT_VEC(Active) active; /* by variable number, in the forward sweep */
    CtMap owner;           /* variable number -> the block that binds it */
    CtMap defs;            /* variable number -> the step that binds it */
    CtMap scopes;          /* block of the forward sweep -> its Scope, while the block is being reversed */
    CtMap calls;           /* step -> Variant * */
    CtMap slopes;          /* step -> CtFlowVar *, the slope that it computes (withVjp of a real function) */
    CtMap stored;          /* variable number -> the array of its values over all iterations of its loop */
    CtMap rows_only; /* such arrays, by number, that the forward sweep itself only reads through the loop around */
    CtMap lengths;   /* variable number and dimension -> CtFlowArg *, known to be its length */
    CtMap loops;     /* block of a loop -> its step */
    /* Carried variable and dimension, by number -> whether its length is the same in all iterations. NULL: under
     * way. */
    CtMap keeps;
    CtMap places; /* block of a loop that selects -> the variable of its place (reverse_selections.c) */
    CtMap chosen; /* a switch's result and dimension, by number -> its Length (forward_sweep.c). NULL: unknown */
    /* Variable number -> the lengths that it is known to have because of checks (Equal, forward_sweep.c). */
    CtMap equals;
    CtMap outer;    /* block of the forward sweep -> the enclosing block */
    CtMap rows;     /* number of an Element's variable -> the array that it is an element of */
    CtMap consumed; /* variables that an update may change in place */
    Scope *scope;
} Reverse;

/* forward_sweep.c: copies a function as the forward sweep, and answers questions about its variables. */
/* Functions whose tail calls stay tail calls; tail calls of others become ordinary calls. */
typedef struct CtReverseTails {
    CtFlowFunction **items;
    uint32_t count;
} CtReverseTails;
void ct_flow_reverse_copy(Reverse *r, CtFlowFunction *function, CtFlowFunction *forward, const Active *active,
                          const CtReverseTails *tails);
/* Activity analysis: which variables of a function, by number, depend on its active parameters. */
void ct_flow_reverse_activity(CtFlow *flow, const CtFlowFunction *function, const Active *params, Active *active);
/* The type of the cotangent of a function's result: for an array a bag, unless the function certainly makes it. */
const CtFlowType *ct_flow_reverse_result_type(CtFlow *flow, const CtFlowFunction *function, uint32_t index);
/* The type in which the adjoint of a parameter or variable is handed over. */
const CtFlowType *ct_flow_reverse_handed_type(CtFlow *flow, const CtFlowType *type, Active active);
/* How a variable depends on the active parameters if it is another name of this one. */
Active ct_flow_reverse_another(const CtFlowVar *var, Active active);
/* Whether a variable is an array that may have other names. */
bool ct_flow_reverse_is_shared(const Reverse *r, const CtFlowVar *var);
bool ct_flow_reverse_is_active(const Reverse *r, CtFlowArg arg);
/* A new variable of the forward sweep, bound by a step or as one of its results. */
CtFlowVar *ct_flow_reverse_forward_var(Reverse *r, const char *name, const CtFlowType *type, CtFlowBlock *owner,
                                       CtFlowStep *step);
/* The length of a dimension of a forward-sweep array, as a value of the forward sweep. */
CtFlowArg ct_flow_reverse_length(Reverse *r, CtFlowVar *array, uint32_t dimension);
/* A length expressed by the array it originates from: the length of a row becomes the matrix's second dimension. */
CtFlowArg ct_flow_reverse_simplest(Reverse *r, CtFlowArg value);
/* The index of the maximum or minimum that a step computes, as a value of the forward sweep. */
CtFlowArg ct_flow_reverse_place_of_extreme(Reverse *r, CtFlowStep *step);
/* Of a loop that selects: the place of the iteration whose values it gives, in the forward sweep, or −1; for each
 * carried variable that is active the value that may replace it, for others none. NULL: it does not select. */
CtFlowVar *ct_flow_reverse_selection(Reverse *r, CtFlowStep *loop, CtFlowArgs *fresh);
/* The cotangent of a loop that selects an element of an array goes to this element, or to what the loop begins with.
 * False: the loop is another. `place`: a value of the reverse sweep. */
bool ct_flow_reverse_selected_element(Reverse *r, const CtFlowStep *loop, const CtFlowArgs *fresh, CtFlowArg place,
                                      const CtFlowArgs *cotangents);
/* Whether an array of numbers made in a loop's block is known to have the same length in all iterations. */
bool ct_flow_reverse_has_regular_rows(Reverse *r, const CtFlowStep *loop, const CtFlowVar *row);
/* Whether a loop is known, where it stands, to have as many iterations as an array has elements. */
bool ct_flow_reverse_same_length(Reverse *r, const CtFlowStep *loop, CtFlowVar *array);

/* residuals.c: the value of a forward-sweep argument in the reverse sweep. */
CtFlowArg ct_flow_reverse_need(Reverse *r, CtFlowArg value);
/* Whether a variable that nothing has requested so far, or a node that it is a field of, would have to be stored. */
bool ct_flow_reverse_would_store(const Reverse *r, const CtFlowVar *var);
/* The array of a loop's results whose elements are the values of a number in its block, still as they were made; NULL:
 * there is none. */
CtFlowVar *ct_flow_reverse_yielded(const Reverse *r, const CtFlowStep *loop, const CtFlowVar *var);
/* Decides for each value that a scope uses whether it is recomputed or stored as a residual. Then
 * ct_flow_reverse_repeat writes the recomputed steps in front of the scope's block. */
void ct_flow_reverse_settle(Reverse *r, Scope *scope);
void ct_flow_reverse_repeat(Reverse *r, Scope *scope);

/* accumulators.c */
Scope *ct_flow_reverse_scope(Reverse *r, ScopeKind kind, CtFlowBlock *forward, CtFlowBlock *backward);
void ct_flow_reverse_enter(Reverse *r, Scope *scope);
/* Removes and returns the accumulated adjoint; no variable when it is known to be zero. Of an array it is an array;
 * take_any may also return a bag, take_as what is of this type. */
CtFlowArg ct_flow_reverse_take(Reverse *r, CtFlowArg of, bool *full);
CtFlowArg ct_flow_reverse_take_any(Reverse *r, CtFlowArg of, bool *full);
CtFlowArg ct_flow_reverse_take_as(Reverse *r, CtFlowArg of, const CtFlowType *type, bool *full);
/* Adds an adjoint, which for an array may be a bag. */
void ct_flow_reverse_give(Reverse *r, CtSourceRange range, CtFlowArg to, CtFlowArg adjoint, bool full);
/* Adds the same adjoint to every element of an array; adds an adjoint to the element at `index`, a value of the reverse
 * sweep. */
void ct_flow_reverse_give_uniform(Reverse *r, CtSourceRange range, CtFlowArg to, CtFlowArg adjoint);
void ct_flow_reverse_give_single(Reverse *r, CtSourceRange range, CtFlowArg to, CtFlowArg index, CtFlowArg adjoint);
/* Whether an array is of the current scope, or of branches that it is in, and nothing has been given to it. What comes
 * from outside of a loop may have been given something in another iteration. */
bool ct_flow_reverse_is_untouched(const Reverse *r, const CtFlowVar *of);
/* The same to the element of such an array, unless it has no elements. */
void ct_flow_reverse_give_if_any(Reverse *r, CtFlowArg to, CtFlowArg index, CtFlowArg adjoint);
/* Removes and returns the accumulated adjoint if it is of this kind (UNIFORM, SINGLE); else NULL. */
const Acc *ct_flow_reverse_take_special(Reverse *r, const CtFlowVar *of, AccKind kind);
/* Whether the accumulated adjoint of a variable is of this kind in the current scope. */
bool ct_flow_reverse_has(const Reverse *r, const CtFlowVar *of, AccKind kind);
/* x[⟨indices⟩] += adjoint; the indices are values of the forward sweep. */
void ct_flow_reverse_give_at(Reverse *r, CtSourceRange range, CtFlowArg x, const CtFlowArg *indices, uint32_t count,
                             CtFlowArg adjoint);
/* The same for indices that are values of the reverse sweep. */
void ct_flow_reverse_add_at(Reverse *r, CtSourceRange range, CtFlowArg x, const CtFlowArg *indices, uint32_t count,
                            CtFlowArg adjoint);
/* Removes the accumulator of a shared array as a bag, to which elements are added so many times. */
CtFlowArg ct_flow_reverse_borrow_bag(Reverse *r, CtFlowArg x, CtFlowArg times);
/* Removes the accumulator of an array, with all elements present, for an update. ct_flow_reverse_put puts it back. */
CtFlowArg ct_flow_reverse_borrow(Reverse *r, CtSourceRange range, CtFlowArg x);
void ct_flow_reverse_put(Reverse *r, CtFlowArg x, CtFlowArg adjoint);
CtFlowArg ct_flow_reverse_zero(Reverse *r, CtFlowArg of);
/* Whether a variable is bound outside the loop around a scope. */
bool ct_flow_reverse_is_outside_loop(const Reverse *r, const Scope *scope, const CtFlowVar *var);
/* What a branch or loop is given for an import, and the adjoint accumulated in `scope`, which is the incoming value
 * when nothing was added; and the new accumulator outside. */
CtFlowArg ct_flow_reverse_given(Reverse *r, Scope *outside, const Import *import);
CtFlowArg ct_flow_reverse_export(Reverse *r, Scope *scope, const Import *import);
void ct_flow_reverse_imported(Reverse *r, Scope *outside, const Import *import, CtFlowArg result);
Acc *ct_flow_reverse_acc(Reverse *r, Scope *scope, CtFlowVar *var, bool elements);
/* The adjoint of x as an array of x's shape: the empty array that stands for zero becomes zeros. */
CtFlowArg ct_flow_reverse_filled(Reverse *r, CtSourceRange range, CtFlowVar *x, CtFlowArg adjoint);

/* Writes the reverse of the first `count` steps of a block, in the current scope. */
void ct_flow_reverse_steps(Reverse *r, const CtFlowBlock *block, uint32_t count);
void ct_flow_reverse_call(Reverse *r, CtFlowStep *step);
void ct_flow_reverse_switch(Reverse *r, CtFlowStep *step);
void ct_flow_reverse_loop(Reverse *r, CtFlowStep *step);
void ct_flow_reverse_bulk(Reverse *r, CtFlowStep *step);
void ct_flow_reverse_product(Reverse *r, CtFlowStep *step);

/* custom_rules.c: functions with a custom derivative. Writes the body of a variant of one, which is declared. */
void ct_flow_reverse_rule(CtFlow *flow, Variant *v);
/* Replaces a forward-sweep call of a function whose rule gives a slope by a call that computes value and slope, so that
 * no residual is needed; false where f itself is active. ct_flow_reverse_slope then writes the reverse of that call. */
bool ct_flow_reverse_by_slope(Reverse *r, CtFlowBlock *block, CtFlowStep *step, const Active *active);
bool ct_flow_reverse_slope(Reverse *r, const CtFlowStep *step);

/* joined_exits.c: makes many exits of a forward sweep one, where the way back from each would be long. */
void ct_flow_reverse_join_exits(Reverse *r, CtFlowFunction *forward);
/* late_updates.c: moves the updates of arrays in a function behind all steps that do not need them. */
void ct_flow_reverse_late_updates(CtFlow *flow, CtFlowFunction *function);
/* checkpoint.c: writes the body of a variant whose reverse sweep runs the function again. */
void ct_flow_reverse_checkpoint(CtFlow *flow, Variant *v);
/* The variant that stores a residual, also of a checkpointed function. */
Variant *ct_flow_reverse_stored(CtFlow *flow, CtFlowFunction *function, const Active *active);

/* The variant of a function for given active parameters. It is declared; its body is written later. NULL when
 * refused. */
Variant *ct_flow_reverse_variant(CtFlow *flow, CtFlowFunction *function, const Active *active);

#endif
