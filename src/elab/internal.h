/* Private to elaboration: ground types, specialisations, locals, callees.
 *
 *   ground.c    concrete types of inference, hash-consed, and their Core types
 *   variants.c  constructors with type variables of their own
 *   poly.c      types of higher rank
 *   universal.c one type for all the types that a growing type goes through
 *   convert.c   conversions between such a type and the types that it stands for
 *   dispatch.c  methods of classes at such a type
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
    CtType *core;              /* NULL until first needed */
    struct Variants *variants; /* of constructors with variables of their own (variants.c) */
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
/* From now on, an application is another type. */
void ct_elab_ground_alias(CtElab *el, const Ground *app, Ground *type);
bool ct_elab_ground_fun(CtElab *el, Ground *type, Ground **arg, Ground **result);
/* The head constructor and its number of arguments; argument i is ct_elab_ground_arg. */
CtTyCon *ct_elab_ground_head(Ground *type, uint32_t *count);
Ground *ct_elab_ground_arg(Ground *type, uint32_t index);
/* Prints a type such as `Tree Double`, cut off if it is very large. */
void ct_elab_ground_print(CtText *out, Ground *type);

/* The Core type of a ground type, in which every function type has one parameter. */
CtType *ct_elab_core(CtElab *el, Ground *type);
/* The Core type of a function that takes `arity` parameters at once; with arity 0 the same as ct_elab_core. */
CtType *ct_elab_core_nary(CtElab *el, Ground *type, uint32_t arity);
/* The Core constructor that `con` becomes in the data type `type`. */
CtCon *ct_elab_con(CtElab *el, Ground *type, const CtDataCon *con);
/* The type of a constructor's field, in `tycon` applied to these arguments. */
Ground *ct_elab_field(CtElab *el, const CtTyCon *tycon, Ground **args, uint32_t count, const CtDataCon *con,
                      uint32_t index);

/* ---- constructors with variables of their own (variants.c) ---- */

/* A constructor at types for its own variables: a constructor of its own in Core. */
typedef struct Variant {
    const CtDataCon *con;
    Ground **types; /* for con->exists */
    CtCon *made;
} Variant;

typedef struct Variants {
    CT_VEC(Variant) items;
} Variants;

/* The types for a constructor's variables that a type of the data type determines; NULL where that has no such
 * constructor. Variables that are not determined are NULL. */
Ground **ct_elab_determined(CtElab *el, Ground *type, const CtDataCon *con);
/* Whether a constructor has a variable that its type does not determine: there is one variant for each type. */
bool ct_elab_has_variants(CtElab *el, Ground *type, const CtDataCon *con);
/* Whether what a constructor promises of classes holds for these types of its variables; otherwise there is no value.
 */
bool ct_elab_promises_hold(CtElab *el, Ground *type, const CtDataCon *con, Ground *const *types);
/* The constructor of Core for these types of its variables: made at its first use, whereupon code that takes such
 * values apart is made again. */
CtCon *ct_elab_variant(CtElab *el, Ground *type, const CtDataCon *con, Ground *const *types, CtSourceRange range);
/* The index-th variant so far of a constructor; NULL behind the last. The code that asks is made again for more. */
const Variant *ct_elab_variant_at(CtElab *el, Ground *type, const CtDataCon *con, uint32_t index);
/* The types for its own variables at which a constructor is used. */
Ground **ct_elab_own_types(CtElab *el, const CtExpr *expr);
/* The type of a field of a variant. */
Ground *ct_elab_variant_field(CtElab *el, Ground *type, const CtDataCon *con, Ground *const *types, uint32_t index);

/* ---- types of higher rank (poly.c) ---- */

CtType *ct_elab_poly_type(CtElab *el, Ground *type);
/* A value of such a type, made of an EXPR_POLY. */
CtCore *ct_elab_poly(CtElab *el, CtExpr *expr);
/* A value of such a type, used at these types for the variables behind its `forall`; `result` is the type of that. */
CtCore *ct_elab_poly_use(CtElab *el, CtSourceRange range, CtCore *value, Ground *type, Ground **types, uint32_t count,
                         Ground **result);

/* ---- universal types (universal.c) ---- */

/* A layer of a universal type U: a type constructor applied to U. As a type, it is U. */
typedef struct Layer {
    CtTyCon *tycon;
    Ground **args;
    uint32_t count;
    Ground *raw;    /* the application itself, as a key for specialisations */
    uint32_t first; /* index of its first constructor in the Core type */
} Layer;

/* The universal type U over `base`: the type of all the types that grow from `base`. With the step of growth (•, •), it
 * is data U = Base base | (,) U U, and the type (U, U) is U itself. Code that is specialised to U thus uses itself at U
 * only. A base of higher kind has a universal type of the same kind: U x stands for base x. */
typedef struct Universal {
    Ground *base, *type; /* type: U */
    CtTyCon *tycon;      /* of U */
    CT_VEC(Layer) layers;
    uint32_t con_count;    /* constructors of Core: that of the base, and those of the layers */
    CT_VEC(Ground *) made; /* the applications of U that have a Core type */
    bool busy;             /* their constructors are being made */
} Universal;

bool ct_elab_is_tuple(CtElab *el, const CtTyCon *tycon); /* of two or more components */
/* The number of constructors of a data type or a tuple type. */
uint32_t ct_elab_con_count(CtElab *el, const CtTyCon *tycon);
/* Whether a type is a universal type, or an application of one of higher kind; or NULL. */
Universal *ct_elab_universal(CtElab *el, Ground *type);
/* The universal type that stands for a type inside of a growing one; the type itself when it is one. */
Ground *ct_elab_universal_for(CtElab *el, Ground *type);
/* The universal type of which a type, with universal types in its holes, is a layer; NULL when it is a base. `holes`
 * gives the arguments with these universal types. */
Universal *ct_elab_grown(CtElab *el, Ground *type, Ground **holes);
/* The argument at which a type constructor is applied in place of `arg`: where a nested data type takes a type that has
 * grown, the universal one. */
Ground *ct_elab_nested_arg(CtElab *el, Ground *fun, Ground *arg);
/* Makes an application the universal type of which it is a layer; NULL if it is none. */
Ground *ct_elab_as_layer(CtElab *el, Ground *app);
/* The Core type of a universal type, or an application of one. */
CtType *ct_elab_universal_core(CtElab *el, Ground *type, Universal *universal);
/* The layer of a type constructor applied to `args`; NULL when there is none. */
const Layer *ct_elab_layer(const Universal *universal, const CtTyCon *tycon, Ground *const *args, uint32_t count);

/* A type as inference has it, a type constructor applied to arguments, and as it is specialised. */
typedef struct Applied {
    CtTyCon *tycon;
    Ground **given; /* its arguments */
    Ground **kept;  /* the arguments that stand for them, see ct_elab_nested_arg */
    uint32_t count;
    Ground *type;
} Applied;
Applied ct_elab_applied(CtElab *el, CtTy *type);
Applied ct_elab_applied_ground(CtElab *el, Ground *type);

/* A constructor of an applied type in Core, with the types of its fields: as they are stored, and as inference has
 * them. Both are NULL unless they differ, as in nested data types at types that have grown. */
typedef struct View {
    CtCon *con;
    Ground **stored, **given;
    uint32_t count;
} View;
View ct_elab_view(CtElab *el, const Applied *applied, const CtDataCon *con);
/* Finds the types of the fields in any case. */
void ct_elab_view_fields(CtElab *el, const Applied *applied, const CtDataCon *con, View *view);
/* The only constructor of a layer of tuples. */
View ct_elab_tuple_view(CtElab *el, Ground *type, const Applied *applied);
/* A tuple of this type, which may be a universal type. */
CtCore *ct_elab_tuple(CtElab *el, CtSourceRange range, Ground *type, CtCore **parts, uint32_t count);
/* What a case on a universal type does with values that its type excludes. */
CtCore *ct_elab_impossible(CtElab *el, CtSourceRange range, CtType *type);

/* The forms of a constructor's fields, or with con NULL of a tuple's; NULL in programs without types that grow. */
CtTypeForm **ct_elab_forms(CtElab *el, const CtTyCon *tycon, const CtDataCon *con);

/* ---- conversions (convert.c) ---- */

/* The value of type `from` as one of type `to`: the same type of the program, where universal types stand for others.
 */
CtCore *ct_elab_convert(CtElab *el, CtSourceRange range, CtCore *value, Ground *from, Ground *to);
/* A value of a universal type, of which a constructor of `tycon` at these arguments is expected: with overlapping steps
 * of growth, the same type may have come about as another layer of the same type constructor. */
CtCore *ct_elab_relayer(CtElab *el, CtSourceRange range, CtCore *value, const Applied *applied);
struct Spec;
CtCore *ct_elab_relayer_body(CtElab *el, struct Spec *spec);
CtCore *ct_elab_convert_body(CtElab *el, struct Spec *spec);
CtCore *ct_elab_dispatch_body(CtElab *el, struct Spec *spec);

/* ---- specialisations (special.c) ---- */

typedef enum SpecKind {
    SPEC_BINDING, /* a top-level binding, or a method of an instance or a class default */
    SPEC_PATTERN, /* the value that a top-level pattern binding matches */
    SPEC_PART,    /* one variable of a top-level pattern binding */
    SPEC_EXPR,    /* a given expression */
    SPEC_APPEND,  /* the append function used for long list literals */
    SPEC_CONVERT, /* the conversion from types[0] to types[1] */
    SPEC_RELAYER, /* the conversion of layers of types[0] to the layer with the key types[1] */
    SPEC_METHOD,  /* a method at the universal type types[0], by the instances of what it stands for */
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
    bool eta;    /* the code has one parameter fewer than `arity`, and is applied to it */
    CtCon *wrap; /* a recursive value of a newtype over functions: its constructor */
    CtGlobal *global;
    /* For each parameter, the number k ≥ 2 of arguments that the function passed there takes at once, or 0 when the
     * parameter is not uncurried; NULL when no parameter is. */
    uint32_t *uncurried;
    CtSourceRange blame; /* the user's code that led to this specialisation, possibly through library code */
    uint32_t layers;     /* the number of layers, and of variants, that were known when the code was made */
    bool by_variants;    /* the code has a case for each variant of a constructor */
    struct Spec *next;   /* next in the hash bucket */
} Spec;

/* The specialisation of a top-level entity (or pattern-bound variable) at given types; made and queued on first use. */
Spec *ct_elab_spec(CtElab *el, CtEntity *entity, CtBinding *binding, const TyEnv *env, Ground *type, Ground **types,
                   uint32_t count, SpecKind kind, CtSourceRange range);
Spec *ct_elab_spec_entity(CtElab *el, CtEntity *entity, Ground **types, CtSourceRange range);
Spec *ct_elab_spec_name(CtElab *el, CtEntity *entity, Ground **types);
Spec *ct_elab_spec_append(CtElab *el, Ground *list);
Spec *ct_elab_spec_convert(CtElab *el, SpecKind kind, Ground *from, Ground *to);
Spec *ct_elab_spec_method(CtElab *el, CtEntity *method, Ground **types, Ground *type, uint32_t arity,
                          CtSourceRange range);
Spec *ct_elab_spec_expr(CtElab *el, const char *name, CtExpr *expr);
void ct_elab_work(CtElab *el); /* processes the queue until it is empty */
/* Uncurries function parameters of the globals made from work item `from` on. The parameters of `root` stay curried,
 * because it is called from outside as well. */
void ct_elab_uncurry_globals(CtElab *el, uint32_t from, const Spec *root);
/* The number of parameters of a binding's code: its patterns, or those of its λ. */
uint32_t ct_elab_binding_arity(const CtBinding *binding);
/* Whether the code of a recursive binding has one parameter more, and is applied to it (arity.c). */
bool ct_elab_takes_one_more(CtElab *el, const CtBinding *binding, Ground *type);
void ct_elab_spec_arity(CtElab *el, Spec *spec);
/* Reports E0403; `name` is NULL for a pattern. */
void ct_elab_recursive_value(CtElab *el, const CtBinding *binding, const char *name, Ground *type);
/* The only unguarded right-hand side of a binding without patterns and where, or NULL. */
CtExpr *ct_elab_plain_body(const CtBinding *binding);

/* ---- the elaborator ---- */

typedef struct Local { /* the Core variable that a local name currently stands for */
    CtVar *var;
    uint32_t arity; /* number of parameters of a function bound by let; 0: a value */
    Ground *type;
    CtCon *wrap;  /* a recursive value of a newtype over functions: the variable is the function, and a use wraps it */
    bool by_need; /* of a group that is made of itself: the variable is a function of no arguments, for lazy.c */
    bool given;   /* the variable existed before the pattern that binds it was compiled */
    struct Poly *poly; /* the polymorphic binding group, each instance of which has a Local of its own */
    uint32_t index;    /* index of the entity in that group */
    bool used;         /* of an instance: something uses it, so that its code is made */
    CtCore *code;      /* of an instance of a recursive group, once it is made */
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
    CtMap universals;     /* CtTyCon -> Universal */
    CtMap universal_over; /* Ground, the base -> Universal */
    uint32_t layer_count; /* of all universal types, and of all variants of constructors */
    bool with_universals; /* there is one */
    CtMap data_counts;    /* CtTyCon -> number of instances */
    CtMap specs;          /* hash -> Spec */
    CtMap spec_counts;    /* CtBinding -> number of specialisations */
    CtMap names;          /* name -> number of globals that asked for it */
    CT_VEC(Spec *) work;
    CT_VEC(Spec *) by_layers;   /* the code that has a case for each layer */
    CT_VEC(Spec *) by_variants; /* the code that has a case for each variant of a constructor */
    uint32_t work_done;
    /* the code that is being elaborated */
    const TyEnv *env;
    Spec *spec;
    const char *name; /* name of the enclosing function, for messages and λs */
    uint32_t depth;
    bool is_lazy;                      /* values may be made of themselves, and lazy'f stands in place of f */
    bool wants_lazy;                   /* there was such a value */
    bool for_actions;                  /* one that actions alone may have: a number or a list */
    bool gave_up;                      /* an error that ends elaboration has been reported */
    CtSinkNodes sink_nodes, sink_open; /* buffers of sink.c, reused by each search */
    uint64_t sunk_large;               /* nodes that it has searched of large bodies */
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
    CALLEE_CAST, /* Store'value -> Maybe a */
    CALLEE_TYPE, /* (() -> a) -> String, the type a */
    CALLEE_ERROR
} CalleeKind;

typedef struct Callee {
    CalleeKind kind;
    uint32_t arity;  /* 0 for a VALUE */
    Ground *type;    /* curried */
    Ground **params; /* the parameter types that are really taken, and */
    Ground *result;  /* the result type that is really given, where they differ from `type`; or NULL */
    CtCore *value;   /* VALUE: an atom */
    Spec *spec;      /* GLOBAL */
    Local *local;    /* LOCAL */
    CtCon *con;
    CtPrim prim;
    CtArrayOp array;
    CtDerivOp deriv;
} Callee;

/* The meaning of a VAR, CON or TUPLE_CON expression. */
Callee ct_elab_callee(CtElab *el, CtExpr *expr);
/* A method or other overloaded entity that inference inserted, at its types. */
Callee ct_elab_callee_at(CtElab *el, CtEntity *entity, Ground **inst, uint32_t count, CtSourceRange range);
/* The callee for a method by an instance, at the arguments of the instance's type. `key` is what tells this
 * specialisation from others, in place of types[0]. */
Callee ct_elab_instance_callee(CtElab *el, CtEntity *method, CtInstance *instance, Ground **args, uint32_t arg_count,
                               Ground **types, Ground *key, CtSourceRange range);
/* The callee for a method at a universal type (dispatch.c). */
Callee ct_elab_dispatch(CtElab *el, CtEntity *method, Ground **types, CtSourceRange range);
/* The class's default of a method, at these types. */
Callee ct_elab_default_callee(CtElab *el, CtEntity *method, Ground **types, CtSourceRange range);
Callee ct_elab_error_callee(CtElab *el, CtSourceRange range, Ground *type);
/* The types at which a growing use is specialised: universal types where its types have grown. */
Ground **ct_elab_grown_instance(CtElab *el, const CtExpr *expr, Ground **types, uint32_t count);
/* Makes a callee one of the type `type`, whose arguments and result are converted. */
void ct_elab_callee_as(CtElab *el, Callee *callee, Ground *type, CtSourceRange range);
Callee ct_elab_primitive(CtElab *el, CtEntity *entity, Ground *type, CtSourceRange range);
/* The number of arguments that a function passed as argument `index` must take at once; 0: the argument is passed
 * unchanged. */
uint32_t ct_elab_wants(const Callee *callee, uint32_t index);
/* A call with exactly `arity` arguments, which are adapted. */
CtCore *ct_elab_saturated(CtElab *el, CtSourceRange range, const Callee *callee, CtCore **args);
/* A call of a PRIM, ARRAY, DERIV or ERROR callee; checks the types of derivatives. */
CtCore *ct_elab_primitive_call(CtElab *el, CtSourceRange range, const Callee *callee, CtCore **args);

/* ---- broadcast.c ---- */

/* Arithmetic with an operand that inference has put into an array, as a call of a function of the library; or NULL. */
CtExpr *ct_elab_operands(CtElab *el, CtExpr *expr);

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
/* The curried function `value` as a function of k parameters: λx y. f x y for k = 2. */
CtCore *ct_elab_uncurry(CtElab *el, CtSourceRange range, CtCore *value, Ground *type, uint32_t k);
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
bool ct_elab_column_used(const CtElab *el, Row *rows, uint32_t row_count, uint32_t column);
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
