/* Private to lowering: from Core to Flow. */
#ifndef CT_FLOW_LOWER_INTERNAL_H
#define CT_FLOW_LOWER_INTERNAL_H

#include "flow/build.h"

/* ---- lower_types.c ---- */

/* Where part `index` begins among the variables of the whole. */
uint32_t ct_flow_offset(CtFlow *flow, CtType *const *parts, uint32_t index);

/* ---- lowering ---- */

/* A function that is known where it is called: its captured variables go before its arguments. */
typedef struct Callable {
    CtFlowFunction *function;
    CtLam *lam;       /* NULL: not a λ of a term */
    CtVar **captures; /* whose values it takes */
    uint32_t capture_count;
    CtMap inherits; /* variable's id -> Callable: known functions that it uses */
    CtMap tags;     /* function type -> 1 + the number of its constructor */
} Callable;

typedef struct Binding { /* of a variable of Core */
    CtFlowArgs values;
    Callable *known; /* or NULL */
} Binding;

typedef struct Pending { /* a function whose body is still to be lowered */
    CtFlowFunction *function;
    Callable *callable; /* or */
    CtCore *body;       /* of a constant */
    CtGlobal *entry;    /* or a global whose value is the function */
} Pending;

typedef struct Member { /* of a function type: what calls it */
    CtFlowData *data;
    Callable *callable;
    uint32_t tag; /* of its constructor */
} Member;

typedef struct Pullback { /* a closure that is known where it is called */
    CtFlowDerived *derived;
    CtFlowArg residual;
} Pullback;

typedef struct Lower {
    CtFlowBuilder b; /* of the function that is being made */
    CtProgram *p;
    CtAd *ad;
    jmp_buf refused;
    CtMap *env; /* variable's id -> Binding */
    CtMap globals, constants, lams;
    CT_VEC(Pending) pending;
    CT_VEC(Member) members;
    CT_VEC(struct Dual *) duals; /* transformed_closures.c */
    uint32_t dual_branches;
    CtMap derived;       /* CtFlowFunction * -> CtFlowDerived * */
    bool differentiates; /* there are derivatives that Flow takes */
    CtMap pullbacks;     /* CtFlowVar * -> Pullback * */
    size_t bytes;        /* of the arena, before */
    uint32_t depth;
} Lower;

_Noreturn void ct_flow_lower_refuse(Lower *l, const char *why);

/* terms.c: terms. The values of a term; or the end of the block with them. */
CtFlowArgs ct_flow_lower(Lower *l, CtCore *e);
void ct_flow_lower_tail(Lower *l, CtCore *e);
CtFlowArg ct_flow_lower_one(Lower *l, CtCore *e);
void ct_flow_lower_bind(Lower *l, const CtVar *var, CtFlowArgs values);
Binding *ct_flow_lower_binding(Lower *l, const CtVar *var);
/* A tuple of the values of its parts. */
CtFlowArgs ct_flow_lower_whole(Lower *l, CtSourceRange range, const CtType *tuple, CtFlowArgs parts);
/* And the other way. */
CtFlowArgs ct_flow_lower_parts(Lower *l, CtSourceRange range, const CtType *tuple, CtFlowArgs whole);
/* A switch whose branches are lowered one by one. */
CtFlowStep *ct_flow_lower_switch(Lower *l, CtSourceRange range, CtFlowArg on);

/* closures.c */
Callable *ct_flow_lower_callable(Lower *l, CtCore *e); /* NULL when the function is not known */
CtFlowArgs ct_flow_lower_closure(Lower *l, CtCore *e); /* a λ, global or known variable as a value */
void ct_flow_lower_group(Lower *l, CtCore *letrec);
void ct_flow_lower_let_function(Lower *l, CtVar *var, Callable *known);
/* ⟨a⟩ applied to a function: `tail` ends the block. */
CtFlowArgs ct_flow_lower_call(Lower *l, CtSourceRange range, CtFlowFunction *function, const CtFlowArgs *args,
                              bool tail);
CtFlowArgs ct_flow_lower_call_known(Lower *l, CtSourceRange range, Callable *known, const CtFlowArgs *args, bool tail);
CtFlowArgs ct_flow_lower_app(Lower *l, CtCore *e, bool tail);
/* A function argument of an array operation, called in a loop. */
CtFlowArgs ct_flow_lower_apply(Lower *l, CtSourceRange range, CtFlowArg closure, const CtFlowArgs *args, bool tail);
CtFlowArgs ct_flow_lower_captured(Lower *l, const Callable *c);
CtFlowArgs ct_flow_lower_constant(Lower *l, CtCore *e);
void ct_flow_lower_pending(Lower *l);

/* closure_apply.c: the function that applies the values of a function type; all of them, when the values are known. */
CtFlowFunction *ct_flow_lower_apply_of(Lower *l, CtFlowData *data);
void ct_flow_lower_applies(Lower *l);

/* derivatives.c: derivative operators. */
CtFlowArgs ct_flow_lower_deriv(Lower *l, CtCore *e);
/* The code of a function value, and what it takes in front of its arguments: what a known one captured, or the value.
 */
CtFlowFunction *ct_flow_lower_code(Lower *l, CtCore *f, CtFlowArgs *captured);

/* custom_rules.c: the application of a function that comes with a rule for its derivative. */
CtFlowArgs ct_flow_lower_with_rule(Lower *l, CtCore *e);

/* transformed_closures.c: the transformed self of a function value; branches for function values that have become
 * known, false when there were none. */
CtFlowArgs ct_flow_lower_dual(Lower *l, CtCore *e);
bool ct_flow_lower_duals(Lower *l);

/* control_flow.c: for each of some variables of function types, for each member in l->members, whether it may be its
 * value.
 */
bool *ct_flow_lambda_sets(Lower *l, const CtFlowVar *const *vars, uint32_t count);

/* whole_arrays.c, loops.c */
CtFlowArgs ct_flow_lower_array(Lower *l, CtCore *e);
CtFlowArgs ct_flow_lower_array_literal(Lower *l, CtCore *e);
CtFlowArgs ct_flow_lower_loop(Lower *l, CtCore *e);
/* The element of each array at one index. */
CtFlowArgs ct_flow_lower_read(Lower *l, CtSourceRange range, const CtFlowArgs *arrays, const CtFlowArg *indices,
                              uint32_t count);

#endif
