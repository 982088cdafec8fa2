/* Automatic differentiation, from Core to Core. Each published transformation is a file, and a row of methods.def.
 *
 * Derivatives and function values. A derivative operator becomes its wrapper around DUAL f, where DUAL stands for the
 * transformed version of the function value f. If f's λ is known, DUAL is replaced by the transformed λ. If it is not
 * (an argument, a field, the result of a branch), DUAL stays in the program. The evaluator asks for the transformed
 * code of the λ that it meets (ct_ad_dual), applies it to the captured values, and caches it. Of nested derivatives the
 * inner one is expanded first: DUAL carries the path of transformations that its function has been through, and a new
 * transformation is inserted below them. So the perturbations of different derivatives are in different layers of the
 * types, which rules out perturbation confusion. */
#ifndef CT_AD_AD_H
#define CT_AD_AD_H

#include "core/build.h"

typedef struct CtAd CtAd;

/* The state of differentiation for one program. `reverse` is the method for reverse-mode derivatives (vjp, grad). */
CtAd *ct_ad_new(CtProgram *program, CtMethod reverse);

/* From now on `bulk` traces no function: all are differentiated by dual arrays at run time. */
void ct_bulk_at_run_time(CtAd *ad);

/* Each jvp written in this source (a library module with the command's entry points) is computed by the method itself:
 * a reverse-mode method computes it from rows of the Jacobian, and failures are attributed to `place`. All others are
 * computed by `forward`. */
void ct_ad_jvp_in_reverse(CtAd *ad, uint32_t source, CtSourceRange place);

/* From now on a custom derivative is used only at this source range. Everywhere else the function itself is
 * differentiated. */
void ct_ad_only_rule(CtAd *ad, CtSourceRange place);

/* Whether the reverse sweep of the program's method runs checkpointed calls again. */
bool ct_ad_runs_again(const CtAd *ad);

/* Puts checkpoints into the loops of the program, foldl, scanl and mapAccumL, before derivatives are expanded: reverse
 * sweeps store few of their steps, and run the others again, with the same results. Without `change` it counts these
 * loops. 0 if the method cannot do so. */
uint32_t ct_ad_checkpoint_loops(CtAd *ad, bool change);

/* Replaces every DERIV except STOP in the program's globals by the wrapper of its method (DELTA Fig. 16 and others),
 * and DUAL of known functions by the transformed functions. */
void ct_ad_expand(CtAd *ad);

/* Terms equivalent to DERIV_JVP and DERIV_VJP for any method: a reverse-mode method computes a tangent by rows of the
 * Jacobian, a forward-mode method computes a cotangent by columns. f, x and dx are closed. */
CtCore *ct_ad_jvp_by(CtAd *ad, CtMethod method, CtSourceRange range, CtCore *f, CtCore *x, CtCore *dx);
CtCore *ct_ad_vjp_by(CtAd *ad, CtMethod method, CtSourceRange range, CtCore *f, CtCore *x);

/* (y, λdy. adjoints) for a closed f and x, with the adjoint of each real number of the run by its name, for the method
 * `delta`. */
CtCore *ct_ad_adjoints_by(CtAd *ad, CtSourceRange range, CtCore *f, CtCore *x);

/* Whether Flow takes the derivatives, so that the operators stay in Core; except in functions whose Taylor series are
 * taken. */
bool ct_ad_is_on_flow(const CtAd *ad);

/* The custom derivative of an application of withVjp, withJvp or withRules, as functions for both modes. */
typedef struct CtRuleTerms {
    CtCore *slope; /* (S) → (T, Double), between reals: the value and its derivative. NULL: `pair` is set instead. */
    CtCore *pair;  /* (S) → (T, T → S) */
    CtCore *tangent; /* (S, S) → (T, T) */
} CtRuleTerms;
/* `rule` must be a variable, because it is used more than once. by_tangent: the second rule of withRules, else NULL. */
CtRuleTerms ct_ad_rule_terms(CtAd *ad, const CtCore *core, CtCore *rule, CtCore *by_tangent);

/* A new global (S) → Int that returns the number of entries in the method's trace (a tape, a Delta term) after a run of
 * `function`, a global (S) → T, at a point. NULL for a method without a trace. */
CtGlobal *ct_ad_trace(CtAd *ad, CtMethod method, CtGlobal *function);

/* D[type] for a method. */
CtType *ct_ad_type(CtAd *ad, CtMethod method, CtType *type);
/* D[g], made on first use and cached. */
CtGlobal *ct_ad_global(CtAd *ad, CtMethod method, CtGlobal *global);

/* For the evaluator: the closed λ that computes what DUAL stands for. Its parameters are the captured values of a
 * closure of `lam` (in the order of lam->captures), then the states of the methods on the path. Cached by λ and
 * path. */
CtLam *ct_ad_dual(CtAd *ad, CtLam *lam, const CtDualPath *dual);

/* What `bulk` specialises a function to: everything about a value except its real numbers and the contents of arrays of
 * numbers. */
typedef struct CtForm {
    int64_t known; /* of an Int, Char or enumeration: its value; of data: the constructor; of an array: its length */
    /* Of a tuple or data: of each field. Of an array: of its first element, or NULL without one. Of a function: of
     * its captured values. */
    struct CtForm **parts;
    uint32_t count;
    bool ragged; /* an array whose elements differ in shape, or a value too deep to be analysed */
    CtLam *lam;  /* of a function: the λ as in the source program */
} CtForm;

/* For the evaluator: the closed λ that computes dual->op of a function at points of these shapes. Its parameters are
 * the captured values of a closure of `lam`, then the arguments of dual->op. `forms` are those of the captured values,
 * in order, and of the point; NULL for one by forward. *any_shape: it computes the
 * derivative at all points. The evaluator caches the result. */
CtLam *ct_bulk_derive(CtAd *ad, CtLam *lam, const CtDualPath *dual, const CtForm *const *forms, bool *any_shape);
/* Derivatives by bulk at the point of the entry, a function of the point, or of a pair of it and something else
 * (`has_with`), become calls of programs for the shape of the point (NULL: the shape that all points of its type have).
 * A point of another shape fails. The program is to be simplified again. */
void ct_bulk_derive_at(CtAd *ad, CtGlobal *entry, bool has_with, const CtForm *point);
/* The number of λs made by ct_bulk_derive. */
uint32_t ct_bulk_count(const CtAd *ad);

/* A piece of the explanation of a derivative by `bulk`. */
typedef struct CtBulkStage {
    const char *title, *note; /* NULL: continues the previous stage */
    const char *heading;      /* may be NULL */
    const char *text;
} CtBulkStage;

/* A record of how `bulk` compiles a function, filled in when the evaluator first asks for its derivative. */
typedef struct CtBulkLook {
    const CtGlobal *function;
    bool in_words; /* whether the stages are to be recorded */
    bool done;
    bool at_run_time;  /* the function cannot be traced: the Delta term is made at run time */
    uint32_t nodes;    /* number of nodes of the Delta term */
    const char *graph; /* the Delta term as a graph for Graphviz; NULL: too large */
    CT_VEC(CtBulkStage) stages;
} CtBulkLook;
/* Asks for a record; it lives as long as the CtAd. */
void ct_bulk_look(CtAd *ad, CtBulkLook *look);

/* ---- for showing how a method works (watch.c) ---- */

/* S, the type of the state that a method threads through the program; NULL when it has none. */
CtType *ct_ad_state_type(CtAd *ad, CtMethod method);

/* An operation op ⟨x⟩ of a program that was transformed while its method was recorded. */
typedef struct CtOperationNote {
    CtPrim prim;
    CtSourceRange range;
    uint32_t count;
    bool real[2];  /* whether each argument has type D[ℝ]; other arguments are unchanged */
    bool is_float; /* of the result */
    /* For a term fused to one node: the function that it calls, or "fused"; NULL: a single operation. */
    const char *fused;
} CtOperationNote;

/* From now on code transformed by the method calls, after each operation, a function `seen`. Its arguments are the
 * number of the operation's note, D[x] and ∂op/∂x (a Double) for each argument, and D[op ⟨x⟩], which it returns. After
 * a fused term they are the number and D of the term. */
void ct_ad_record(CtAd *ad, CtMethod method);
bool ct_ad_is_seen(const CtAd *ad, const CtGlobal *global);
/* The note of that number, or NULL. */
const CtOperationNote *ct_ad_operation_note(const CtAd *ad, int64_t number);

/* A cell of the environment that code transformed by `chad` adds to, noted while that was recorded. */
typedef struct CtCellNote {
    const char *name; /* of the variable that the cell belongs to */
    bool captured;    /* the variable is captured by a function value, and the cell is the closure's */
    bool after;       /* true: the cotangent has been added; false: it is about to be */
} CtCellNote;
/* From now on code transformed by `chad` calls, before and after each one_x d, a function `seen` with the number of the
 * note, the cell, d (Zero afterwards), and the environment, which it returns. */
void ct_ad_record_cells(CtAd *ad);
/* The note of that number, or NULL. */
const CtCellNote *ct_ad_cell_note(const CtAd *ad, int64_t number);

/* D[A]₂ of a method that transforms terms, not reals (CHAD 2024), for which D[A] is D[A]₁; NULL for other methods. It
 * is the unit type for discrete types. */
CtType *ct_chad_ad_cotangent_type(CtAd *ad, CtMethod method, CtType *type);

/* Whether a term is an operation on flat arrays that adds reals (flat_arrays.c); and its definition by operations that
 * D and Flow have. */
bool ct_ad_is_flat(const CtCore *core);
CtCore *ct_ad_flat(CtProgram *p, CtCore *core);

/* The rows of methods.def. */
typedef enum CtMethodCost {
    COST_CONSTANT,    /* a constant times the program's own cost */
    COST_LOG,         /* the logarithm of the number of operations times that */
    COST_INPUTS,      /* the number of inputs times the program's own cost */
    COST_EXPONENTIAL, /* exponential in the worst case */
} CtMethodCost;
typedef struct CtMethodInfo {
    const char *what;   /* one line */
    const char *figure; /* "DUAL 2022 §9.3" */
    bool reverse;
    CtMethodCost cost;
    const char *library; /* the module of lib/ad that it needs at run time, or NULL */
} CtMethodInfo;
const CtMethodInfo *ct_ad_method_info(CtMethod method);
bool ct_ad_method_find(const char *name, CtMethod *method);

#endif
