/* Private to elaboration: ground types, specialisations, locals, callees.
 *
 *   ground.c    concrete types of inference, hash-consed, and their Core types
 *   special.c   specialisations: the copies of bindings that are needed, and their Core globals
 *   callee.c    the meaning of a name in function position: globals, methods at their instance, primitives,
 *   constructors
 *   apply.c     applications of known arity: saturated, partial, over-applied, composed
 *   expr.c      expressions
 *   list.c      list literals, ranges, comprehensions
 *   record.c    fields by name
 *   match.c     compiles clauses and alternatives to one-level cases
 *   rows.c      patterns in normal form
 *   binding.c   let and where, with local copies of polymorphic bindings
 *   uncurry.c   parameters that are functions of several arguments
 *   elab.c      the public functions */
#ifndef CT_ELAB_INTERNAL_H
#define CT_ELAB_INTERNAL_H

#include "elab/elab.h"

/* ---- ground types (ground.c) ---- */

/* An inferred type without type variables, hash-consed: equal types are the same pointer. */
typedef struct Ground {
    CtTyCon *con;             /* a type constructor; NULL for an application */
    struct Ground *fun, *arg; /* the parts of a type application */
    uint32_t id, depth;
    CtType *core; /* NULL until first needed */
} Ground;

/* A type environment: the ground types that the quantified type variables of the current code stand for, innermost
 * binding group first. */
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
/* The head constructor and its number of arguments; argument i is ct_elab_ground_arg. */
CtTyCon *ct_elab_ground_head(Ground *type, uint32_t *count);
Ground *ct_elab_ground_arg(Ground *type, uint32_t index);
/* Prints a type such as `Tree Double`, cut off if it is very large. */
void ct_elab_ground_print(CtText *out, Ground *type);

/* The Core type of a ground type, in which every function type has one parameter. */
CtType *ct_elab_core(CtElab *el, Ground *type);
CtType *ct_elab_core_of(CtElab *el, CtTy *type);
/* The Core type of a function that takes `arity` parameters at once; with arity 0 the same as ct_elab_core. */
CtType *ct_elab_core_nary(CtElab *el, Ground *type, uint32_t arity);
/* The Core constructor that `con` becomes in the data type `type`. */
CtCon *ct_elab_con(CtElab *el, Ground *type, const CtDataCon *con);

/* ---- specialisations (special.c) ---- */

typedef enum SpecKind {
    SPEC_BINDING, /* a top-level binding, or a method of an instance or a class default */
    SPEC_PATTERN, /* the value that a top-level pattern binding matches */
    SPEC_PART,    /* one variable of a top-level pattern binding */
    SPEC_EXPR,    /* a given expression */
    SPEC_APPEND,  /* the append function used for long list literals */
} SpecKind;

typedef struct Spec {
    SpecKind kind;
    CtEntity *entity;   /* the top-level name or the method that is specialised */
    CtBinding *binding; /* its definition */
    CtExpr *expr;       /* SPEC_EXPR */
    const TyEnv *env;
    Ground **types; /* the types at which it is specialised; part of the key */
    uint32_t count;
    Ground *type;
    uint32_t arity;
    bool eta;    /* the code has fewer parameters than `arity`, and is applied to the remaining ones */
    CtCon *wrap; /* a recursive value of a newtype over functions: its constructor */
    CtGlobal *global;
    /* For each parameter, the number k ≥ 2 of arguments that the function passed there takes at once, or 0 when the
     * parameter is not uncurried; NULL when no parameter is. */
    uint32_t *uncurried;
    CtSourceRange blame; /* the user's code that led to this specialisation, possibly through library code */
    struct Spec *next;   /* next in the hash bucket */
} Spec;

/* The specialisation of a top-level entity (or pattern-bound variable) at given types; made and queued on first use. */
Spec *ct_elab_spec(CtElab *el, CtEntity *entity, CtBinding *binding, const TyEnv *env, Ground *type, Ground **types,
                   uint32_t count, SpecKind kind, CtSourceRange range);
Spec *ct_elab_spec_entity(CtElab *el, CtEntity *entity, Ground **types, CtSourceRange range);
Spec *ct_elab_spec_name(CtElab *el, CtEntity *entity, Ground **types);
Spec *ct_elab_spec_append(CtElab *el, Ground *list);
Spec *ct_elab_spec_expr(CtElab *el, const char *name, CtExpr *expr);
void ct_elab_work(CtElab *el); /* processes the queue until it is empty */
/* Uncurries function parameters of the globals made from work item `from` on. The parameters of `root` stay curried,
 * because it is called from outside as well. */
void ct_elab_uncurry_globals(CtElab *el, uint32_t from, const Spec *root);
/* The number of parameters of a binding's code: its patterns, or those of its λ. */
uint32_t ct_elab_binding_arity(const CtBinding *binding);
/* Reports E0403; `name` is NULL for a pattern. */
void ct_elab_recursive_value(CtElab *el, const CtBinding *binding, const char *name);
/* The only unguarded right-hand side of a binding without patterns and where, or NULL. */
CtExpr *ct_elab_plain_body(const CtBinding *binding);

/* ---- the elaborator ---- */

typedef struct Local { /* the Core variable that a local name currently stands for */
    CtVar *var;
    uint32_t arity; /* number of parameters of a function bound by let; 0: a value */
    Ground *type;
    CtCon *wrap; /* a recursive value of a newtype over functions: the variable is the function, and a use wraps it */
    bool given;  /* the variable existed before the pattern that binds it was compiled */
    struct Poly *poly; /* the polymorphic binding group, each instance of which has a Local of its own */
    uint32_t index;    /* index of the entity in that group */
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
    CtMap data_counts; /* CtTyCon -> number of instances */
    CtMap specs;       /* hash -> Spec */
    CtMap spec_counts; /* CtBinding -> number of specialisations */
    CtMap names;       /* name -> number of globals that asked for it */
    CT_VEC(Spec *) work;
    uint32_t work_done;
    /* the code that is being elaborated */
    const TyEnv *env;
    Spec *spec;
    const char *name; /* name of the enclosing function, for messages and λs */
    uint32_t depth;
    bool gave_up;                      /* an error that ends elaboration has been reported */
    CtSinkNodes sink_nodes, sink_open; /* buffers of sink.c, reused by each search */
};

enum {
    ELAB_MAX_DEPTH = 5000,
    ELAB_MAX_CORE_DEPTH = 10000,
    ELAB_MAX_TYPE_PARTS = 20000,
    ELAB_MAX_TYPE_DEPTH = 500,
    ELAB_MAX_COPIES = 10000,
};

/* Whether the code is nested too deeply; reports that once. Otherwise the caller decrements `depth` when it is done. */
bool ct_elab_too_deep(CtElab *el, CtSourceRange range);
/* Reports that nesting is too deep, once. */
void ct_elab_report_depth(CtElab *el, CtSourceRange range);
bool ct_elab_is_library(CtElab *el, CtSourceRange range);
/* The source range at which to report an error: `range` itself or, for library code, the user's code that led there. */
CtSourceRange ct_elab_blame(CtElab *el, CtSourceRange range);
/* A term of the type, to be used after an error was reported. */
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
    CALLEE_PUT, /* a -> Store'value, and back: lib/io.cot */
    CALLEE_GET,
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

/* The meaning of a VAR, CON or TUPLE_CON expression. */
Callee ct_elab_callee(CtElab *el, CtExpr *expr);
/* A method or other overloaded entity that inference inserted, at its types. */
Callee ct_elab_callee_at(CtElab *el, CtEntity *entity, Ground **inst, uint32_t count, CtSourceRange range);
Callee ct_elab_primitive(CtElab *el, CtEntity *entity, Ground *type, CtSourceRange range);
/* The number of arguments that a function passed as argument `index` must take at once; 0: the argument is passed
 * unchanged. */
uint32_t ct_elab_wants(const Callee *callee, uint32_t index);
/* A call with exactly `arity` arguments, which are adapted. */
CtCore *ct_elab_saturated(CtElab *el, CtSourceRange range, const Callee *callee, CtCore **args);
/* A call of a PRIM, ARRAY, DERIV or ERROR callee; checks the types of derivatives. */
CtCore *ct_elab_primitive_call(CtElab *el, CtSourceRange range, const Callee *callee, CtCore **args);

/* ---- applications (apply.c) ---- */

typedef struct Pending { /* the binding `let var = rhs`, not yet wrapped around the term under construction */
    CtVar *var;
    CtCore *rhs;
    CtSourceRange range;
} Pending;
typedef CT_VEC(Pending) Lets;

CtCore *ct_elab_wrap(CtElab *el, const Lets *lets, CtCore *body);
/* The value itself if it need not be bound (see can_wait in apply.c); otherwise a new variable, whose binding is added
 * to `lets`. */
CtCore *ct_elab_atom(CtElab *el, CtSourceRange range, const char *name, CtCore *value, Lets *lets);
CtCore *ct_elab_apply_one(CtElab *el, CtSourceRange range, CtCore *fun, CtCore *arg);
/* A call with any number of adapted arguments. With fewer arguments than the arity it becomes a λ; with more, its
 * result is applied to the surplus arguments. */
CtCore *ct_elab_call(CtElab *el, CtSourceRange range, const Callee *callee, CtCore **args, uint32_t count);
/* An expression as a function of exactly k ≥ 1 parameters. */
CtCore *ct_elab_nary(CtElab *el, CtExpr *expr, uint32_t k);
CtCore *ct_elab_app(CtElab *el, CtExpr *expr);
/* A chain of hundreds of operators; NULL for other expressions. */
CtCore *ct_elab_chain(CtElab *el, CtExpr *expr);
/* A call of a known callee with expressions as arguments. */
CtCore *ct_elab_call_exprs(CtElab *el, CtSourceRange range, const Callee *callee, CtExpr **args, uint32_t count);

/* ---- expressions (expr.c, list.c, record.c) ---- */

CtCore *ct_elab_expr(CtElab *el, CtExpr *expr);
CtCore *ct_elab_literal(CtElab *el, CtSourceRange range, const CtLit *lit, bool negative, Ground *type, CtEntity *from);
CtCore *ct_elab_list(CtElab *el, CtExpr *expr);
CtCore *ct_elab_comprehension(CtElab *el, CtExpr *expr);
CtCore *ct_elab_record(CtElab *el, CtExpr *expr);
CtCore *ct_elab_update(CtElab *el, CtExpr *expr);
CtCore *ct_elab_append_body(CtElab *el, Spec *spec);
/* Whether the expression is the name of that function of the prelude. */
bool ct_elab_is_named(CtElab *el, const CtExpr *expr, const char *name);

/* ---- pattern matches (match.c, rows.c) ---- */

/* The failure continuation of a match: a call of a join point, or a run-time error with a message. */
typedef struct Fail {
    CtVar *join;  /* the join point, of type () → τ; NULL: raise the error `text` */
    CtCore *call; /* the last call of the join point */
    uint32_t uses;
    const char *text;
    CtSourceRange range;
} Fail;
CtCore *ct_elab_fail(CtElab *el, Fail *fail, CtType *type);

typedef CtCore *Within(CtElab *el, void *data); /* makes the inner term of a let or a match */

typedef struct Row {
    CtPat **pats;     /* one pattern for each column; NULL: matches anything and binds nothing */
    const CtRhs *rhs; /* exactly one of the following four is set */
    CtExpr *body;
    CtCore *core;
    Within *within;
    void *data;
    Lets binds; /* bindings of variables that existed before the match (Local.given) */
    CtSourceRange range;
} Row;

CtCore *ct_elab_match(CtElab *el, CtVar **columns, uint32_t count, Row *rows, uint32_t row_count, Fail *fail,
                      CtType *result);
/* Compiles all clauses of a function over its parameters. */
CtCore *ct_elab_clauses(CtElab *el, const CtBinding *binding, CtVar **params, CtType *result);
CtCore *ct_elab_case(CtElab *el, CtExpr *expr);
CtCore *ct_elab_rhs(CtElab *el, const CtRhs *rhs, Fail *fail, CtType *result);
/* Normalises the row's pattern at a column, whose value is in `var`: binds its variables and reduces it to NULL, a
 * constructor, a tuple, or a literal that is not a string (rows.c). */
void ct_elab_row_normalise(CtElab *el, Row *row, uint32_t column, CtVar *var);
/* The variable for a column, named after its patterns. */
CtVar *ct_elab_column(CtElab *el, Row *rows, uint32_t row_count, uint32_t column, CtType *type);
bool ct_elab_column_used(Row *rows, uint32_t row_count, uint32_t column);
/* Matches a value against one pattern; the term that `within` makes is in the scope of the pattern's variables. */
CtCore *ct_elab_match_one(CtElab *el, CtPat *pat, CtCore *value, Within *within, void *data, Fail *fail,
                          CtType *result);

/* ---- bindings (binding.c) ---- */

/* The subterm of *body that the binding of the variables to `rhs` should be wrapped around: the innermost branch into
 * which the binding may sink, or *body itself; NULL when no variable is used (sink.c). */
CtCore **ct_elab_place(CtElab *el, CtCore *rhs, CtVar *const *vars, uint32_t count, CtCore **body);
/* let var = rhs in body, with the binding sunk to that position. A small right-hand side may be copied into several
 * branches. */
CtCore *ct_elab_let(CtElab *el, CtSourceRange range, CtVar *var, CtCore *rhs, CtCore *body);

/* Elaborates declarations; the term that `within` makes is in their scope. */
CtCore *ct_elab_decls(CtElab *el, const CtDecls *decls, Within *within, void *data);
/* The code of a binding: a LAM of `arity` parameters, or a value. For `eta` see Spec. */
CtCore *ct_elab_binding(CtElab *el, const CtBinding *binding, Ground *type, uint32_t arity, bool eta, const char *name);
/* The constructor of a newtype over functions, such as a parser or a state monad; NULL for other types. */
CtCon *ct_elab_function_newtype(CtElab *el, Ground *type);
/* A recursive binding p = e of such a type becomes the function λx. case e of P f → f x, which p wraps. */
CtCore *ct_elab_wrapped_binding(CtElab *el, const CtBinding *binding, CtCon *con, const char *name);
/* The Local that a use of a local entity refers to, at the types of this use. */
Local *ct_elab_local(CtElab *el, CtExpr *expr);

#endif
