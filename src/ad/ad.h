/* Automatic differentiation, Core ▶ Core. One published transformation a file; each is a row of methods.def.
 *
 * How derivatives meet function values. A derivative operator becomes its wrapper around DUAL f, the transformed self
 * of the function value f. Where f's λ is in sight, DUAL is replaced by the transformed λ. Where it is not (an
 * argument, a field, the result of a branch) DUAL stays, and the evaluator asks for the transformed code of the λ it
 * meets (ct_ad_dual), applied to the captured values, and keeps it. A term inside an outer derivative is transformed
 * inner derivative first: DUAL carries the path of transformations that its function has been through, and the new one
 * goes underneath them. So perturbations of different derivatives live in different layers of the types, and cannot be
 * confused.
 */
#ifndef CT_AD_AD_H
#define CT_AD_AD_H

#include "core/build.h"

typedef struct CtAd CtAd;

/* One a program. The method for reverse derivatives (vjp, grad) is fixed by `reverse`. */
CtAd *ct_ad_new(CtProgram *program, CtMethod reverse);

/* Rewrites the jvp's that are written in this source (a library module with the command's entry points) to rows of the
 * Jacobian by vjp, so that a method in reverse can answer them; `place` is where they fail. To be called on what
 * elaboration made, before other passes move terms about. */
void ct_ad_jvp_in_reverse(CtAd *ad, uint32_t source, CtSourceRange place);

/* From now on a function that comes with a rule is differentiated by it where it stands at this place; everywhere else
 * as it is written. */
void ct_ad_only_rule(CtAd *ad, CtSourceRange place);

/* Replaces every DERIV (but STOP) of the program's globals by the wrapper of its method (DELTA Fig. 16 and others), and
 * DUAL of functions in sight by their transformed selves. */
void ct_ad_expand(CtAd *ad);
CtCore *ct_ad_expand_term(CtAd *ad, CtCore *core);

/* Terms that give what DERIV_JVP and DERIV_VJP give, by any method: a tangent also in reverse (rows of the Jacobian), a
 * cotangent also forward (columns). f, x and dx are closed. */
CtCore *ct_ad_jvp_by(CtAd *ad, CtMethod method, CtSourceRange range, CtCore *f, CtCore *x, CtCore *dx);
CtCore *ct_ad_vjp_by(CtAd *ad, CtMethod method, CtSourceRange range, CtCore *f, CtCore *x);

/* Whether derivatives are left to Flow: the operators stay in Core. */
bool ct_ad_is_on_flow(const CtAd *ad);

/* What the rule of an application withVjp f rule x or withJvp f rule x says, in both modes, as terms of functions. */
typedef struct CtRuleTerms {
    CtCore *slope;   /* (S) → (T, Double), between reals: the value and its derivative; else NULL, and: */
    CtCore *pair;    /* (S) → (T, T → S) */
    CtCore *tangent; /* (S, S) → (T, T) */
} CtRuleTerms;
/* `rule` is a name, which is used more than once. */
CtRuleTerms ct_ad_rule_terms(CtAd *ad, const CtCore *core, CtCore *rule);

/* A new global (S) → Int that tells how many entries the method's trace (a tape, a Delta term) gets when `function`, a
 * global (S) → T, is run at a point. NULL for a method that keeps none. */
CtGlobal *ct_ad_trace(CtAd *ad, CtMethod method, CtGlobal *function);

/* D[type] for a method. */
CtType *ct_ad_type(CtAd *ad, CtMethod method, CtType *type);
/* D[g]: made on first need and kept. */
CtGlobal *ct_ad_global(CtAd *ad, CtMethod method, CtGlobal *global);

/* For the evaluator: the closed λ that, applied to the captured values of a closure of `lam` (in the order of
 * lam->captures, then the states that the path's methods carry), returns what DUAL says. Kept per λ and path. */
CtLam *ct_ad_dual(CtAd *ad, CtLam *lam, const CtDualPath *dual);

/* What of a value a function is specialised to by `bulk`: all but its real numbers, and what stands in arrays of
 * numbers. */
typedef struct CtForm {
    int64_t known; /* of an Int, a Char, an enumeration: itself; of data: the constructor; of an array: its length */
    struct CtForm **parts; /* of a tuple or data: of each; of an array: of its first element, NULL without one; of a
                              function: of what it captured */
    uint32_t count;
    bool ragged; /* an array whose elements differ in form, or too deep to be looked at */
    CtLam *lam;  /* of a function, as it was written */
} CtForm;

/* For the evaluator: the closed λ that, applied to what a closure of `lam` captured and to the arguments of dual->op,
 * gives what that is of the function, at points of these forms. `forms` are those of what it captured, in order, and of
 * the point; NULL for a DUAL_ALWAYS. NULL with an error. Kept by the evaluator. */
CtLam *ct_bulk_derive(CtAd *ad, CtLam *lam, const CtDualPath *dual, const CtForm *const *forms);
/* How many that has made. */
uint32_t ct_bulk_count(const CtAd *ad);

/* A piece of what is told of a derivative by `bulk`. */
typedef struct CtBulkStage {
    const char *title, *note; /* NULL: more of the stage before */
    const char *heading;      /* or NULL */
    const char *text;
} CtBulkStage;

/* What becomes of a function by `bulk`, filled in when the evaluator first asks for its derivative. */
typedef struct CtBulkLook {
    const CtGlobal *function;
    bool in_words; /* whether the stages are wanted */
    bool done;
    uint32_t nodes;    /* of the Delta term */
    const char *graph; /* that term for Graphviz; NULL: too large */
    CT_VEC(CtBulkStage) stages;
} CtBulkLook;
/* The look lives as long as the CtAd does. */
void ct_bulk_look(CtAd *ad, CtBulkLook *look);

/* ---- for showing how a method works (watch.c) ---- */

/* S, the state that a method carries; NULL when it has none. */
CtType *ct_ad_state_type(CtAd *ad, CtMethod method);

/* An operation op ⟨x⟩ of a program, as it was transformed while its method was recorded. */
typedef struct CtOperationNote {
    CtPrim prim;
    CtSourceRange range;
    uint32_t count;
    bool real[2];      /* of the arguments: D[ℝ]; the others are as they were */
    bool is_float;     /* the result */
    const char *fused; /* a term that became one node: the function that it calls, or "fused"; NULL: an operation */
} CtOperationNote;

/* From now on what the method transforms calls, after each operation, a function `seen` with the arguments: the number
 * of the operation's note, then for each argument D[x] and ∂op/∂x as a Double, then D[op ⟨x⟩], which it gives back.
 * After a fused term: the number, and D of the term. */
void ct_ad_record(CtAd *ad, CtMethod method);
bool ct_ad_is_seen(const CtAd *ad, const CtGlobal *global);
/* NULL when there is none. */
const CtOperationNote *ct_ad_operation_note(const CtAd *ad, int64_t number);

/* A cell of the environment to which `chad` adds, as it was transformed while that was recorded. */
typedef struct CtCellNote {
    const char *name; /* of the variable whose cell it is */
    bool captured;    /* or it is one of those that a function value captured, and the cell is the closure's */
    bool after;       /* the cotangent has been added; else it is about to be */
} CtCellNote;
/* From now on what `chad` transforms calls, before and after each one_x d, a function `seen` with the arguments: the
 * number of the note, the cell, d (Zero after), and the environment, which it gives back. */
void ct_ad_record_cells(CtAd *ad);
/* NULL when there is none. */
const CtCellNote *ct_ad_cell_note(const CtAd *ad, int64_t number);

/* D[A]₂ of a method that maps terms, not reals (CHAD 2024), where D[A] is D[A]₁; NULL for the other methods. What is
 * discrete has the unit type. */
CtType *ct_chad_ad_cotangent_type(CtAd *ad, CtMethod method, CtType *type);

/* The rows of methods.def. */
typedef enum CtMethodCost {
    COST_CONSTANT,    /* a constant times the program's own cost */
    COST_LOG,         /* that, times the logarithm of the number of operations */
    COST_INPUTS,      /* that, times the number of inputs */
    COST_EXPONENTIAL, /* at worst */
} CtMethodCost;
typedef struct CtMethodInfo {
    const char *what;   /* one line */
    const char *figure; /* "DUAL 2022 §9.3" */
    bool reverse;
    CtMethodCost cost;
    const char *library; /* the module that it needs at run time, in lib/ad; or NULL */
} CtMethodInfo;
const CtMethodInfo *ct_ad_method_info(CtMethod method);
bool ct_ad_method_find(const char *name, CtMethod *method);

#endif
