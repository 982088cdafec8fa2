/* Inside elaboration: ground types, specialisations, locals, callees, and who does what.
 *
 *   ground.c    concrete types of inference, shared, and their Core types
 *   special.c   specialisations: which copies of which bindings are wanted, and their Core globals
 *   callee.c    what a name in function position stands for: globals, methods at their instance, primitives,
 * constructors apply.c     applications of known arity: saturated, partial, over-applied, composed expr.c expressions;
 * list.c  list literals, ranges, comprehensions;  record.c  fields by name match.c     clauses and alternatives to
 * one-level cases;  rows.c  their patterns in normal form binding.c   let and where, with local copies of polymorphic
 * bindings uncurry.c   parameters that are functions of several arguments elab.c      the public functions
 */
#ifndef CT_ELAB_INTERNAL_H
#define CT_ELAB_INTERNAL_H

#include "elab/elab.h"

/* ---- ground types (ground.c) ---- */

/* A type of inference without variables; equal ones are the same pointer. */
typedef struct Ground {
    CtTyCon *con;             /* a constructor; or, when NULL, */
    struct Ground *fun, *arg; /* an application */
    uint32_t id, depth;
    CtType *core; /* NULL until asked for */
} Ground;

/* What the type variables of the code being elaborated stand for, innermost binding group first. */
typedef struct TyEnv {
    CtTy *const *generics;
    Ground **types;
    uint32_t count;
    const struct TyEnv *outer;
} TyEnv;

Ground *ct_elab_ground(CtElab *el, CtTy *type); /* in the current environment */
Ground *ct_elab_ground_in(CtElab *el, const TyEnv *env, CtTy *type);
Ground *ct_elab_ground_con(CtElab *el, CtTyCon *con);
Ground *ct_elab_ground_app(CtElab *el, Ground *fun, Ground *arg);
bool ct_elab_ground_fun(CtElab *el, Ground *type, Ground **arg, Ground **result);
/* The head constructor and how many arguments it has; argument i is ct_elab_ground_arg. */
CtTyCon *ct_elab_ground_head(Ground *type, uint32_t *count);
Ground *ct_elab_ground_arg(Ground *type, uint32_t index);
/* `Tree Double`, cut off when it grows beyond all reason. */
void ct_elab_ground_print(CtText *out, Ground *type);

/* The Core type, functions curried. */
CtType *ct_elab_core(CtElab *el, Ground *type);
CtType *ct_elab_core_of(CtElab *el, CtTy *type);
/* The Core type as a function of `arity` parameters (0: as a value). */
CtType *ct_elab_core_nary(CtElab *el, Ground *type, uint32_t arity);
/* The constructor of a data type's instance. */
CtCon *ct_elab_con(CtElab *el, Ground *type, const CtDataCon *con);

/* ---- specialisations (special.c) ---- */

typedef enum SpecKind {
    SPEC_BINDING, /* a top-level binding, or a method of an instance or a class default */
    SPEC_PATTERN, /* the value that a top-level pattern binding takes apart */
    SPEC_PART,    /* one variable of a top-level pattern binding */
    SPEC_EXPR,    /* a given expression */
    SPEC_APPEND,  /* behind long list literals */
} SpecKind;

typedef struct Spec {
    SpecKind kind;
    CtEntity *entity;   /* its name; the method */
    CtBinding *binding; /* the code */
    CtExpr *expr;       /* EXPR */
    const TyEnv *env;
    Ground **types; /* part of the key */
    uint32_t count;
    Ground *type;
    uint32_t arity;
    bool eta; /* the code has fewer parameters than arity and is applied to the rest */
    CtGlobal *global;
    uint32_t *uncurried; /* for each parameter, how many arguments its function takes at once; NULL: none any */
    CtSourceRange blame; /* the user's code that asked for it, through library code */
    struct Spec *next;   /* same hash */
} Spec;

/* The specialisation of a top-level entity (or pattern-bound variable) at types; makes and enqueues it on first need.
 */
Spec *ct_elab_spec(CtElab *el, CtEntity *entity, CtBinding *binding, const TyEnv *env, Ground *type, Ground **types,
                   uint32_t count, SpecKind kind, CtSourceRange range);
Spec *ct_elab_spec_entity(CtElab *el, CtEntity *entity, Ground **types, CtSourceRange range);
Spec *ct_elab_spec_name(CtElab *el, CtEntity *entity, Ground **types);
Spec *ct_elab_spec_append(CtElab *el, Ground *list);
Spec *ct_elab_spec_expr(CtElab *el, const char *name, CtExpr *expr);
void ct_elab_work(CtElab *el); /* until nothing is wanted any more */
/* Uncurries parameters of the globals that were made from work item `from` on; `root`, which others call, stays as it
 * is. */
void ct_elab_uncurry_globals(CtElab *el, uint32_t from, const Spec *root);
/* How many parameters a binding's code takes: its patterns, or those of the λ that it is. */
uint32_t ct_elab_binding_arity(const CtBinding *binding);
/* E0403; `name` NULL: of a pattern. */
void ct_elab_recursive_value(CtElab *el, const CtBinding *binding, const char *name);
/* The single unguarded right-hand side of a binding without patterns and where, or NULL. */
CtExpr *ct_elab_plain_body(const CtBinding *binding);

/* ---- the elaborator ---- */

typedef struct Local { /* what a local entity stands for at the moment */
    CtVar *var;
    uint32_t arity; /* of a function bound by let; 0: a value */
    Ground *type;
    bool given;        /* the variable was fixed before the pattern that binds it was compiled */
    struct Poly *poly; /* a polymorphic group: one Local for each instance wanted */
    uint32_t index;    /* in the group */
} Local;

struct CtSinkNode;
typedef CT_VEC(struct CtSinkNode) CtSinkNodes;

struct CtElab {
    CtTypes *types;
    CtProgram *program;
    CtContext *context;
    CtArena *arena;
    CtMap ground_cons, ground_apps; /* hash-consing */
    uint32_t ground_count;
    CtMap data_counts; /* CtTyCon -> how many instances, as a pointer-sized number */
    CtMap specs;       /* hash -> Spec */
    CtMap spec_counts; /* CtBinding -> how many */
    CtMap names;       /* of globals -> how often */
    CT_VEC(Spec *) work;
    uint32_t work_done;
    /* of the code being elaborated */
    const TyEnv *env;
    Spec *spec;
    const char *name; /* of the function, for messages and λs */
    uint32_t depth;
    bool gave_up;                      /* there is no going on, and that was said */
    CtSinkNodes sink_nodes, sink_open; /* sink.c's */
};

enum {
    ELAB_MAX_DEPTH = 5000,
    ELAB_MAX_CORE_DEPTH = 10000,
    ELAB_MAX_TYPE_PARTS = 20000,
    ELAB_MAX_TYPE_DEPTH = 500,
    ELAB_MAX_COPIES = 10000,
};

/* True (and an error, once) when the code is nested too deeply to go on; otherwise the caller takes 1 off `depth` when
 * it is done. */
bool ct_elab_too_deep(CtElab *el, CtSourceRange range);
/* That error, once. */
void ct_elab_report_depth(CtElab *el, CtSourceRange range);
bool ct_elab_is_library(CtElab *el, CtSourceRange range);
/* Where to report an error about `source range`: itself, or the user's code that led to this library code. */
CtSourceRange ct_elab_blame(CtElab *el, CtSourceRange range);
/* Something of the type, after an error has been reported. */
CtCore *ct_elab_error_term(CtElab *el, CtSourceRange range, CtType *type);
CtEntity *ct_elab_library_entity(CtElab *el, const char *name);

/* ---- callees (callee.c, primitive.c) ---- */

typedef enum CalleeKind {
    CALLEE_VALUE,
    CALLEE_GLOBAL,
    CALLEE_LOCAL,
    CALLEE_CON,
    CALLEE_TUPLE,
    CALLEE_PRIM,
    CALLEE_ARRAY,
    CALLEE_DERIV,
    CALLEE_ERROR
} CalleeKind;

typedef struct Callee {
    CalleeKind kind;
    uint32_t arity; /* 0 for a VALUE */
    Ground *type;   /* curried */
    CtCore *value;  /* VALUE: an atom */
    Spec *spec;     /* GLOBAL */
    Local *local;   /* LOCAL */
    CtCon *con;
    CtPrim prim;
    CtArrayOp array;
    CtDerivOp deriv;
} Callee;

/* What a VAR, CON or TUPLE_CON expression stands for. */
Callee ct_elab_callee(CtElab *el, CtExpr *expr);
/* A method or other overloaded entity that inference supplied, at its types. */
Callee ct_elab_callee_at(CtElab *el, CtEntity *entity, Ground **inst, uint32_t count, CtSourceRange range);
Callee ct_elab_primitive(CtElab *el, CtEntity *entity, Ground *type, CtSourceRange range);
/* How many parameters the function wants that is argument `index`; 0: the argument is taken as it is. */
uint32_t ct_elab_wants(const Callee *callee, uint32_t index);
/* A call with exactly arity arguments, adapted. */
CtCore *ct_elab_saturated(CtElab *el, CtSourceRange range, const Callee *callee, CtCore **args);
/* PRIM, ARRAY, DERIV and ERROR callees; checks derivatives' types. */
CtCore *ct_elab_primitive_call(CtElab *el, CtSourceRange range, const Callee *callee, CtCore **args);

/* ---- applications (apply.c) ---- */

typedef struct Pending { /* let var = rhs, around what is being built */
    CtVar *var;
    CtCore *rhs;
    CtSourceRange range;
} Pending;
typedef CT_VEC(Pending) Lets;

CtCore *ct_elab_wrap(CtElab *el, const Lets *lets, CtCore *body);
/* A variable for the value: itself when it is one. */
CtCore *ct_elab_atom(CtElab *el, CtSourceRange range, const char *name, CtCore *value, Lets *lets);
CtCore *ct_elab_apply_one(CtElab *el, CtSourceRange range, CtCore *fun, CtCore *arg);
/* Any number of adapted arguments: fewer than arity gives λs, more are applied to the result. */
CtCore *ct_elab_call(CtElab *el, CtSourceRange range, const Callee *callee, CtCore **args, uint32_t count);
/* An expression as a function of exactly k ≥ 1 parameters. */
CtCore *ct_elab_nary(CtElab *el, CtExpr *expr, uint32_t k);
CtCore *ct_elab_app(CtElab *el, CtExpr *expr);
/* A chain of hundreds of operators; NULL when it is none. */
CtCore *ct_elab_chain(CtElab *el, CtExpr *expr);
/* Applies a known entity's callee to expressions. */
CtCore *ct_elab_call_exprs(CtElab *el, CtSourceRange range, const Callee *callee, CtExpr **args, uint32_t count);

/* ---- expressions (expr.c, list.c, record.c) ---- */

CtCore *ct_elab_expr(CtElab *el, CtExpr *expr);
CtCore *ct_elab_literal(CtElab *el, CtSourceRange range, const CtLit *lit, bool negative, Ground *type, CtEntity *from);
CtCore *ct_elab_list(CtElab *el, CtExpr *expr);
CtCore *ct_elab_comprehension(CtElab *el, CtExpr *expr);
CtCore *ct_elab_record(CtElab *el, CtExpr *expr);
CtCore *ct_elab_update(CtElab *el, CtExpr *expr);
CtCore *ct_elab_append_body(CtElab *el, Spec *spec);
bool ct_elab_is_named(CtElab *el, const CtExpr *expr, const char *name); /* that function of the prelude */

/* ---- pattern matches (match.c, rows.c) ---- */

/* Where to go when nothing matches: a join point, or the error. */
typedef struct Fail {
    CtVar *join; /* () → τ; NULL: the error */
    uint32_t uses;
    const char *text;
    CtSourceRange range;
} Fail;
CtCore *ct_elab_fail(CtElab *el, Fail *fail, CtType *type);

typedef CtCore *Within(CtElab *el, void *data); /* makes the term that something else goes around */

typedef struct Row {
    CtPat **pats;     /* beside the columns; NULL: anything, and nothing to bind */
    const CtRhs *rhs; /* what follows is one of the four */
    CtExpr *body;
    CtCore *core;
    Within *within;
    void *data;
    Lets binds; /* what given variables stand for */
    CtSourceRange range;
} Row;

CtCore *ct_elab_match(CtElab *el, CtVar **columns, uint32_t count, Row *rows, uint32_t row_count, Fail *fail,
                      CtType *result);
/* The whole of a function's clauses over parameters. */
CtCore *ct_elab_clauses(CtElab *el, const CtBinding *binding, CtVar **params, CtType *result);
CtCore *ct_elab_case(CtElab *el, CtExpr *expr);
CtCore *ct_elab_rhs(CtElab *el, const CtRhs *rhs, Fail *fail, CtType *result);
/* rows.c: binds variables, and leaves NULL, CON, TUPLE or LIT (of no string) in place of the row's pattern at a column.
 */
void ct_elab_row_normalise(CtElab *el, Row *row, uint32_t column, CtVar *var);
/* The variable for a column: named after the patterns there, of that type. */
CtVar *ct_elab_column(CtElab *el, Row *rows, uint32_t row_count, uint32_t column, CtType *type);
bool ct_elab_column_used(Row *rows, uint32_t row_count, uint32_t column);
/* A value taken apart by one pattern around what `within` makes. */
CtCore *ct_elab_match_one(CtElab *el, CtPat *pat, CtCore *value, Within *within, void *data, Fail *fail,
                          CtType *result);

/* ---- bindings (binding.c) ---- */

/* Where in *body the variables' binding to `rhs` belongs: the beginning, or that of the branch that all uses lie in;
 * NULL when there is no use (sink.c). */
CtCore **ct_elab_place(CtElab *el, CtCore *rhs, CtVar *const *vars, uint32_t count, CtCore **body);
/* let var = rhs in body, at that place; small ones in several places, each in a branch of its own. */
CtCore *ct_elab_let(CtElab *el, CtSourceRange range, CtVar *var, CtCore *rhs, CtCore *body);

/* The declarations around what `within` makes. */
CtCore *ct_elab_decls(CtElab *el, const CtDecls *decls, Within *within, void *data);
/* The code of a binding: a LAM of `arity` parameters, or a value. `eta`: see Spec. */
CtCore *ct_elab_binding(CtElab *el, const CtBinding *binding, Ground *type, uint32_t arity, bool eta, const char *name);
/* The Local for a use of a local entity at its instance. */
Local *ct_elab_local(CtElab *el, CtExpr *expr);

#endif
