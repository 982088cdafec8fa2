/* Declarations shared by the files of type inference. A good reading order: type.c, unify.c, solve.c, convert.c,
 * declare.c, classes.c, deriving.c (declarations); resolve.c, groups.c (name resolution, dependency analysis); expr.c,
 * broadcast.c, operands.c, pattern.c, records.c, bind.c, attempt.c, generalise.c, growth.c (inference proper);
 * report.c, suggest.c, unknown.c, absent.c, print.c (messages); scope.c, imports.c (modules); env.c, module.c (entry
 * points). */
#ifndef CT_TYPES_INTERNAL_H
#define CT_TYPES_INTERNAL_H

#include "types/types.h"

/* The library functions that literals, ranges, negation and `do` are desugared to. They are always the library's, even
 * if the program shadows their names. */
typedef enum CtHidden {
    HIDDEN_FROM_INT,
    HIDDEN_FROM_DOUBLE,
    HIDDEN_NEGATE,
    HIDDEN_EQ,
    HIDDEN_ENUM_FROM,
    HIDDEN_ENUM_FROM_THEN,
    HIDDEN_ENUM_FROM_TO,
    HIDDEN_ENUM_FROM_THEN_TO,
    HIDDEN_BIND,
    HIDDEN_FAIL,
    HIDDEN_COUNT,
} CtHidden;

/* A declaration group during name resolution: a let, a where, or the top level. */
typedef struct CtFrame {
    struct CtBindInfo *current; /* the binding whose right-hand side is being resolved */
    bool top;
} CtFrame;

/* A binding, as a vertex of its frame's dependency graph. */
typedef struct CtBindInfo {
    CtFrame *frame;
    CtBinding *binding;
    CtEntity **vars; /* the variables it binds: the function, or the pattern's variables */
    uint32_t var_count;
    CtScheme *signature; /* of functions: the signature, whose generics are rigid */
    CT_VEC(struct CtBindInfo *) uses;
    struct CtBindInfo *last_user; /* avoids most duplicates in `uses` */
    /* Tarjan's algorithm. `component` numbers the strongly connected components of the whole graph, which includes the
     * edges to bindings with signatures. */
    uint32_t index, low, component;
    bool on_stack, self_use;
    bool circular; /* its component is recursive */
    bool active;   /* its group is being inferred */
    CtBindingGroup *group;
} CtBindInfo;

/* A constraint in a signature or an instance's context whose type is an applied variable, such as Show (f a). */
typedef struct CtApplied {
    CtClass *class_;
    CtTy **others;
    CtTy *type;
    CtSourceRange range;
    struct CtApplied *next;
} CtApplied;

/* A class constraint on an applied variable, such as Show (t a), which waits until t is known. */
typedef struct CtDeferred {
    CtClass *class_;
    CtTy **others;
    CtTy *type;
    CtSourceRange range;
} CtDeferred;

/* The constraints that a rigid variable had outside of the scope of a pattern. */
typedef struct CtPromise {
    CtTy *variable;
    CtPred *last; /* NULL: none */
    CtApplied *applied;
} CtPromise;

/* What instance resolution has found of a class at a type. */
typedef struct CtSolved {
    CtClass *class_;
    bool sound, reported; /* it is of the class; that it is not was reported */
    struct CtSolved *next;
} CtSolved;

/* A use of a binding with a signature inside its own recursion, where it may be instantiated at a larger type. */
typedef struct CtInnerUse {
    CtEntity *entity;
    CtExpr *expr;
    CtBindInfo *user; /* the binding whose generics must not occur inside larger types */
    bool settled;
} CtInnerUse;

/* A use of a method in an instance's definition of the same method, where it may be instantiated at a larger type. */
typedef struct CtMethodUse {
    CtExpr *expr;
    const CtTyCon *tycon; /* of the instance */
} CtMethodUse;

/* The expected and found types of the unification in progress, for messages about missing instances. */
typedef struct CtExpectation {
    CtSourceRange range;
    struct CtTy *expected, *found;
    const struct CtWhy *why;
    const CtExpr *subject; /* the expression at the source range, or NULL */
    bool from_found;       /* the type without the instance is part of the found type */
} CtExpectation;

/* An unknown name. It is reported at its first use; the message lists the other uses. */
typedef struct CtUnknown {
    CtSpace space;
    CtSym name;
    CtDiag *diag;
    CT_VEC(uint32_t) lines; /* the lines of all its uses, if there are several */
    CtNote *places;         /* the note that lists the uses */
} CtUnknown;

/* An entry of the undo log of local scopes: the entity that a name means now, and the one that it shadows. */
typedef struct CtShadow {
    CtSym name;
    CtEntity *hidden, *shown;
} CtShadow;

typedef struct CtLargeLiteral {
    CtTy *type;
    CtSourceRange range;
    bool is_element; /* it is not large, but a number that is written as the element of an array */
    bool is_use;     /* or a use of what is a function of such numbers */
} CtLargeLiteral;

/* Operands of arithmetic whose numbers of axes are not known yet. */
typedef struct CtOperands {
    CtExpr *app; /* the operator, and the two */
    struct CtTy *types[2], *result;
    bool failed; /* an error has been reported */
} CtOperands;

struct CtTypes {
    CtContext *context;
    CtArena *arena;
    CtScope library; /* the prelude's definitions, in scope of every module */
    /* The last module's definitions, which shadow its imports, which shadow the prelude. */
    CtScope *own, *imports;
    CtMap qualified;         /* of the last module: CtSym of a qualifier -> CtScope */
    CtScope *method_library; /* library functions that a transformation needs at run time; NULL: not needed so far */
    CtScope *kept_own;       /* saved by ct_types_scope_keep */
    CtMap kept_qualified;
    CtMap interfaces; /* CtSym of a module -> CtScope of its exports */
    CtSym hidden[HIDDEN_COUNT];
    struct CtScopedVar *scoped; /* variables of the `forall` of enclosing signatures */
    CtTyCon *double_, *float_, *int_, *char_, *list, *array, *fun;
    CT_VEC(CtTyCon *) tuples; /* by size */
    CtTy *error;
    bool prefer_double;
    CtClass *typeable; /* of Data.Typeable, of which every type is; NULL if that is not imported */

    /* of the current module */
    CtModule *module;
    const char *module_name;
    bool is_library;
    bool is_lazy; /* the program will be evaluated lazily: lists have no end if they like, and all arguments wait */
    CT_VEC(CtInstance *) new_instances;
    CT_VEC(CtClass *) new_classes;
    CT_VEC(CtTyCon *) new_tycons;
    CT_VEC(CtBinding *) selectors;
    CT_VEC(struct CtMatch *) matches;
    CT_VEC(CtExpr *) rules; /* calls of withVjp and withJvp */

    /* names */
    CtMap locals;
    CT_VEC(CtShadow) shadows;
    CtMap pattern_infos;  /* CtBinding * -> CtBindInfo *, pattern bindings */
    CtBindInfo *top_user; /* the top-level binding being inferred */

    /* types */
    uint32_t level;
    CT_VEC(CtTy *) metas;    /* the unification variables that may be unsolved */
    CT_VEC(CtTy *) points;   /* types at which functions of Derivatives are instantiated, until they are solved */
    CT_VEC(CtTy *) defaults; /* of the module's `default` declaration, if it has one */
    bool has_defaults;
    CT_VEC(CtLargeLiteral) large; /* the literals of this module whose types are checked at its end */
    const CtExpr *negated;        /* the operand of the latest prefix minus */
    CT_VEC(CtDeferred) deferred;
    CT_VEC(CtTy *) stack; /* argument types of the applications being checked */
    CT_VEC(CtInnerUse) inner_uses;
    CT_VEC(CtMethodUse) method_uses;
    const CtEntity
        *own_method; /* the method of an instance that is being inferred, and the type of the instance; or NULL */
    const CtTyCon *own_tycon;
    CT_VEC(CtGrowth) growths;
    CtMap applied;              /* variable -> its CtApplied */
    CT_VEC(CtTy *) refined;     /* the rigid variables that stand for a type in the scope of a pattern */
    CT_VEC(CtPromise) promises; /* what the constructors of patterns in scope promise of rigid variables */
    CtTy *clash[2];             /* after a failed unification: the two subterms that differ */
    CtExpectation *expecting;
    const CtExpr *subject;              /* the expression being checked */
    CT_VEC(struct CtUnknown) unknown;   /* unknown names of this module */
    CtSym misnamed;                     /* a type variable of a signature with the name of a type, reported once */
    CtExporter *exporter;               /* NULL: the library is not known */
    CtEntity *assumed_endless;          /* a variable that is bound to a list made of itself, while that is found out */
    bool told_large;                    /* a type that is too large has been reported; others are consequences */
    uint32_t solve_levels, solve_steps; /* depth and number of steps of instance resolution, both bounded */
    bool solve_ended;                   /* that a bound was met has been reported */
    CtMap solved;                       /* CtTy * -> CtSolved *, of the resolution in progress */
    uint32_t convert_levels;            /* nesting depth of type expressions and synonyms, bounded */
    uint32_t attempt;                   /* at a binding group of a program: 1, or 2 (attempt.c); otherwise 0 */
    CT_VEC(struct CtSaved) saved;       /* what the first attempt has written over */
    CT_VEC(CtOperands) operands;        /* those that wait, in the second attempt */
    CT_VEC(CtTy *) sums;                /* in it: the types of arithmetic, but of numbers alone */
    uint32_t operand_levels;            /* how deep operands are nested in each other, bounded */
};

/* ---- attempt.c ---- */

typedef void CtInference(CtTypes *types, void *data);
/* Runs inference of a part of a program: where it finds errors, once more with operands that wait. */
void ct_types_attempt(CtTypes *types, CtInference *infer, void *data);
/* To be called before inference replaces an expression, or gives a variable its type. */
void ct_types_save_expr(CtTypes *types, CtExpr *expr);
void ct_types_save_scheme(CtTypes *types, CtEntity *entity);
/* Before an error adds to a signature's context. */
void ct_types_save_preds(CtTypes *types, CtTy *variable);

/* ---- operands.c ---- */

/* In the second attempt: notes the type of arithmetic, checks its operands by themselves, and relates their types with
 * `type`, which the result has, as soon as they say how many axes each has. False: they are still to be checked. */
bool ct_types_operands_wait(CtTypes *types, CtExpr *app, CtTy *type);
/* Relates the operands that wait since the mark, as far as their types are known; `last`: all, if need be as operands
 * of one type. */
void ct_types_operands_settle(CtTypes *types, uint32_t mark, bool last);
/* Whether a type variable is applied in the type of arithmetic: then it is an array. */
bool ct_types_in_arithmetic(const CtTypes *types, const CtTy *variable);
/* Leaves the type variables of those that still wait to the enclosing group. */
void ct_types_operands_leave(CtTypes *types, uint32_t mark);

/* ---- broadcast.c ---- */

/* Puts an operand of `+`, `-`, `*`, `/` or `**` with fewer axes than the other one, or than `type`, which the result
 * has, into array literals, before the operands are checked. Of other applications, nothing. Returns a bit for each
 * part that has been checked. */
uint32_t ct_types_broadcast(CtTypes *types, CtExpr *app, CtTy *type);
/* The same for the operand of a section; `type`: that of the operator's operands. */
void ct_types_broadcast_section(CtTypes *types, const CtExpr *op, CtExpr *operand, CtTy *type);
/* Whether a name is `+`, `-`, `*`, `/` or `**` of the library's classes. */
bool ct_types_is_arithmetic(CtTypes *types, const CtExpr *fun);
/* Whether what an expression gives is a number, though by its type it may be an array, too: `1`, `sqrt 2 / 3`. */
bool ct_types_is_number(CtTypes *types, const CtExpr *expr);
/* Ends an inner level, in which the expression of a type was checked, and `mark` type variables existed before: if the
 * elements of the array that it is are of arithmetic, and nothing outside says more of them, they are numbers. */
void ct_types_settle_numbers(CtTypes *types, CtTy *type, uint32_t mark);
/* Does so for a variable that is not generalised; `value`: what it is bound to, or NULL. */
void ct_types_settle_variable(CtTypes *types, CtEntity *variable, const CtExpr *value);
/* Checks what a pattern is matched with, or a list of such values: its type. Where the pattern names numbers of it,
 * they are numbers as if each had been bound by itself. */
CtTy *ct_types_check_matched(CtTypes *types, CtExpr *expr, bool in_list, const struct CtWhy *why);
/* How often a type is an array of arrays; −1 where what is in these is not known. */
int ct_types_axes(const CtTypes *types, CtTy *type);
/* The same, without what is not known. */
int ct_types_least_axes(const CtTypes *types, CtTy *type);
/* Puts an operand into as many array literals of one element, and does so with its type. */
CtTy *ct_types_put_in_arrays(CtTypes *types, CtExpr *expr, CtTy *type, int count);

/* ---- generalise.c: defaulting ---- */

/* Whether a type variable is of a class of numbers. */
bool ct_types_is_numeric(CtTypes *types, const CtTy *variable);

/* ---- literals.c ---- */

/* Reads the module's `default` declaration. */
void ct_types_declare_defaults(CtTypes *types, const CtDecls *decls);
/* Notes a literal whose type may turn out to be Int, for which it is too large. */
void ct_types_note_large(CtTypes *types, const CtLit *lit, CtTy *type, CtSourceRange range, bool negated);
/* The first number that is written as an element of an array, or NULL; known before its elements are checked, which may
 * say of a name that it is an array. */
const CtExpr *ct_types_find_number(CtTypes *types, const CtExpr *array);
/* Notes that it is an element of this type: the array may turn out to be an array of arrays. */
void ct_types_note_number(CtTypes *types, const CtExpr *number, CtTy *element);
/* Notes a use of what was generalised over the type of such numbers. */
void ct_types_note_written(CtTypes *types, const CtExpr *use, const CtScheme *scheme);
/* Reports those whose type did. */
void ct_types_check_large(CtTypes *types);

/* ---- pattern_signatures.c ---- */

/* Gives variables of pattern bindings whose signature has type variables a binding of their own. */
void ct_types_split_patterns(CtTypes *types, CtDecls *decls);

/* ---- scope.c ---- */
void *ct_types_scope_get(const CtScope *scope, CtSpace space, CtSym name);
void ct_types_scope_set(CtTypes *types, CtScope *scope, CtSpace space, CtSym name, void *meaning);
/* Adds to the module's own definitions. */
void ct_types_define(CtTypes *types, CtSpace space, CtSym name, void *meaning);
/* The meaning of a name as written, or NULL; reports an ambiguous name. */
void *ct_types_find(CtTypes *types, CtSpace space, CtName name);
/* The prelude's meaning of a name, whatever the program defines. */
void *ct_types_library(CtTypes *types, CtSpace space, CtSym name);

/* ---- absent.c ---- */
/* A suggestion for a name of Haskell or of another language that does not exist here; NULL for other names. */
const char *ct_types_absent(CtSpace space, CtSym name);

/* ---- imports.c ---- */
void ct_types_open_imports(CtTypes *types, const CtModule *module);
void ct_types_close_exports(CtTypes *types);

/* ---- type.c ---- */
CtTy *ct_types_ty_app(CtTypes *types, CtTy *fun, CtTy *arg);
CtTy *ct_types_ty_meta(CtTypes *types, uint32_t arity);
CtTy *ct_types_ty_generic(CtTypes *types, CtSym name, uint32_t arity);
CtTy *ct_types_ty_list(CtTypes *types, CtTy *element);
CtTyCon *ct_types_con_new(CtTypes *types, const char *name, uint32_t arity);
/* Bounds of a type's number of nodes: in general, and where types are only compared. */
enum { CT_TYPE_LIMIT = 10000, CT_TYPE_INFINITE = 1000000000 };
/* Subtracts a node met during a traversal from `left`; false when the bound is exceeded. A type without variables
 * counts with all its nodes. */
bool ct_types_ty_take(uint32_t *left, const CtTy *type);
/* Whether a type has more than CT_TYPE_LIMIT parts or, once that was reported, more than a few. */
bool ct_types_ty_is_large(const CtTypes *types, const CtTy *type);
uint32_t ct_types_ty_limit(const CtTypes *types);
/* The type with every generic that has a `link` replaced by it. */
CtTy *ct_types_ty_substitute(CtTypes *types, CtTy *type);
/* The type with each generics[i] replaced by args[i]. */
CtTy *ct_types_ty_replace(CtTypes *types, CtTy *type, CtTy *const *generics, CtTy *const *args, uint32_t count);
/* ct_types_instantiate with the source range of the use, for messages about missing instances. */
CtTy *ct_types_instantiate_at(CtTypes *types, const CtScheme *scheme, CtTy **inst, CtSourceRange range);
CtTy *ct_types_ty_bool(CtTypes *types);
bool ct_types_ty_is_function(CtTypes *types, CtTy *type);
bool ct_types_ty_failed(CtTy *type);
void ct_types_pred_add(CtTypes *types, CtTy *variable, CtClass *class_, CtSourceRange range);
/* The same with the types for the class's other parameters, which must be those that the variable has already. */
void ct_types_pred_add_with(CtTypes *types, CtTy *variable, CtClass *class_, CtTy **others, CtSourceRange range);
/* ct_types_ty_replace of each of the `others` of a constraint; NULL for NULL. */
CtTy **ct_types_replace_others(CtTypes *types, const CtClass *class_, CtTy **others, CtTy *const *generics,
                               CtTy *const *args, uint32_t count);
/* Adds a constraint on an applied variable, such as Show (f a), to f. */
void ct_types_applied_add(CtTypes *types, CtTy *head, CtClass *class_, CtTy **others, CtTy *type, CtSourceRange range);
/* The constraints on applications of a type variable, or NULL. */
CtApplied *ct_types_applied(CtTypes *types, const CtTy *head);
/* Solves the generics' constraints on applied variables after the substitution generics[i] := args[i]. */
bool ct_types_applied_solve(CtTypes *types, CtTy *const *generics, CtTy *const *args, uint32_t count,
                            CtSourceRange range, bool quiet);

/* ---- open_cons.c ---- */

/* The type of a field, in the constructor's variables' stead these types. */
CtTy *ct_types_con_field(CtTypes *types, const CtDataCon *con, uint32_t index, CtTy *const *inst);
/* Types for the variables of a constructor that is used in an expression, with what it says of them. */
CtTy **ct_types_con_inst(CtTypes *types, const CtDataCon *con, uint32_t *count, CtSourceRange range);
/* A constructor's own variable, in a pattern, or one of an expression of a type of higher rank, in a type; or NULL. */
CtTy *ct_types_mentions_own(CtTy *type);
/* What a pattern's constructor says holds in its branch: an alternative, a clause, what follows a generator. */
typedef struct CtBranch {
    uint32_t level, refined, promises, operands;
} CtBranch;
/* Assumes that two types are equal, until the branch ends: `own` may contain variables of the constructor. False if
 * they certainly differ. */
bool ct_types_assume(CtTypes *types, CtTy *own, CtTy *type);
CtBranch ct_types_branch_enter(const CtTypes *types);
void ct_types_branch_leave(CtTypes *types, CtBranch branch);

/* ---- unify.c ---- */
typedef enum CtUnify { UNIFY_OK, UNIFY_MISMATCH, UNIFY_INFINITE, UNIFY_RIGID, UNIFY_LARGE } CtUnify;
CtUnify ct_types_unify(CtTypes *types, CtTy *a, CtTy *b);
/* Lowers the levels of the unification variables in a type. */
void ct_types_lower(CtTy *type, uint32_t level);

/* ---- solve.c ---- */
/* Makes `type` a member of the class: adds a constraint to variables, looks up instances; reports missing ones unless
 * `quiet`. */
bool ct_types_solve(CtTypes *types, CtClass *class_, CtTy *type, CtSourceRange range, bool quiet);
/* The same with the types for the class's other parameters, which the instance determines. */
bool ct_types_solve_with(CtTypes *types, CtClass *class_, CtTy **others, CtTy *type, CtSourceRange range, bool quiet);
/* Unifies what two constraints on the same type say of the other parameters. */
bool ct_types_others_agree(CtTypes *types, const CtClass *class_, CtTy **a, CtTy **b, CtSourceRange range, bool quiet);
bool ct_types_class_implies(const CtClass *class_, const CtClass *super);
/* Retries the deferred constraints from `mark` on. */
void ct_types_solve_deferred(CtTypes *types, uint32_t mark, bool last);
/* The entity of a hidden function and, unless NULL, its class. */
CtEntity *ct_types_hidden(CtTypes *types, CtHidden hidden, CtSourceRange range);

/* ---- convert.c ---- */
/* A type variable of a `forall`, which signatures and annotations in the body may name. */
typedef struct CtScopedVar {
    CtSym name;
    CtTy *type;
    struct CtScopedVar *next;
} CtScopedVar;

/* Type variables in scope while a type is read: name -> CtTy. New ones are made if `open`. */
typedef struct CtTyVars {
    CtMap map;
    CT_VEC(CtTy *) made;
    bool open;
    bool flexible;             /* make metas, not generics (annotations) */
    const CtScopedVar *scoped; /* of the `forall` of enclosing signatures */
    const CtTypeExpr *whole;   /* what is read, if all of it tells how many arguments a variable takes; or NULL */
} CtTyVars;
/* Enters a level of nesting; false, with an error, when there are too many. The caller decrements convert_levels
 * afterwards. */
bool ct_types_convert_down(CtTypes *types, CtSourceRange range);
CtTy *ct_types_convert_type(CtTypes *types, CtTyVars *vars, const CtTypeExpr *expr);
/* The largest number of arguments that the type variable `name` takes in a type, by its applications and by the
 * constructors that it is passed to; −1 if it does not occur. `missing`: that the type itself still takes. */
int ct_types_applied_to(CtTypes *types, const CtTypeExpr *expr, CtSym name, uint32_t missing);
/* Converts a type that lacks its last `missing` arguments: the head of an instance of a constructor class. */
CtTy *ct_types_convert_partial(CtTypes *types, CtTyVars *vars, const CtTypeExpr *expr, uint32_t missing);
/* What a constraint says; false, with an error, if that is nothing. */
bool ct_types_convert_constraint(CtTypes *types, CtTyVars *vars, const CtConstraint *constraint, CtConGiven *out);
void ct_types_convert_context(CtTypes *types, CtTyVars *vars, const CtConstraint *constraints, uint32_t count);
/* The variables of enclosing signatures that a type may use: those that its own `forall` does not hide. */
const CtScopedVar *ct_types_scoped_around(CtTypes *types, const CtScopedVar *scoped, const CtQualType *type);
CtScheme ct_types_convert_scheme(CtTypes *types, const CtQualType *type);
CtClass *ct_types_find_class(CtTypes *types, CtName name);
void ct_types_ensure_synonym(CtTypes *types, CtTyCon *con);
/* open_cons.c: makes the variables that are not the data type's parameters those of the constructor. */
/* Reads what the constructors of this module say of the classes of their variables. */
void ct_types_declare_givens(CtTypes *types);
void ct_types_own_variables(CtTypes *types, CtDataCon *con, const CtConDecl *decl, const CtTyVars *vars);

/* ---- poly.c: types of higher rank ---- */

/* `forall a. t` inside of a type. */
CtTy *ct_types_convert_forall(CtTypes *types, CtTyVars *vars, const CtTypeExpr *expr);
/* The constructor of a type of higher rank, or NULL; `args`, unless NULL, gets its arguments. */
const CtTyCon *ct_types_poly_head(CtTy *type, CtTy **args);
/* What such a type stands for, over variables of its own. */
CtScheme ct_types_poly_scheme(CtTypes *types, CtTy *type);
/* The type of a signature, in which variables of a `forall` in the result become those of the whole. */
CtTy *ct_types_float_forall(CtTypes *types, CtTy *type, CtTyVars *vars);

/* ---- declare.c, classes.c, deriving.c ---- */
void ct_types_declare_types(CtTypes *types, CtDecls *decls);
void ct_types_declare_classes(CtTypes *types, CtDecls *decls);
void ct_types_declare_instances(CtTypes *types, CtDecls *decls);
void ct_types_declare_primitives(CtTypes *types, CtDecls *decls);
void ct_types_declare_derived(CtTypes *types, CtDecls *decls);
/* Generates the bindings of derived instances. */
void ct_types_derive_methods(CtTypes *types);
void ct_types_check_superclasses(CtTypes *types);
void ct_types_resolve_class_bodies(CtTypes *types);
void ct_types_infer_class_bodies(CtTypes *types);
/* `others` NULL: the class has one parameter. `count` generics, of which head_count are the arguments of tycon. */
CtInstance *ct_types_instance_new(CtTypes *types, CtClass *class_, CtTyCon *tycon, CtTy **generics, uint32_t count,
                                  CtSourceRange range);

/* ---- do.c ---- */
/* Rewrites a `do` in place. */
void ct_types_expand_do(CtTypes *types, CtExpr *expr);
/* An application, where f a $ x is f a x. */
CtExpr ct_types_without_dollar(CtTypes *types, const CtExpr *expr);
/* lazy_arguments.c: puts a function of () in place of an argument that has to wait. */
void ct_types_delay_arguments(CtTypes *types, CtExpr *expr);
/* deriving_newtype.c: any other class for a newtype, by the instance of the type that it stands for. Solving its
 * context at the arguments of the newtype leaves constraints on them; false, with an error if `report`, where that is
 * none. */
CtInstance *ct_types_derive_newtype(CtTypes *types, CtTyCon *con, CtClass *class_, const CtConstraint *derived);
bool ct_types_solve_via(CtTypes *types, CtInstance *instance, CtTy *const *args, bool report);
/* deriving_functor.c: Functor, Foldable and Traversable. */
bool ct_types_derives_functor(const char *class_name);
/* NULL after an error. */
CtInstance *ct_types_derive_functor_head(CtTypes *types, CtTyCon *con, CtClass *class_, CtSourceRange range);
/* Solving the class for what its fields apply leaves constraints on the arguments of the type. */
void ct_types_solve_functor(CtTypes *types, const CtInstance *instance, CtTy *const *args);
/* Writes the methods; false for other classes. */
bool ct_types_derive_functor(CtTypes *types, CtInstance *instance);
/* views.c: the function that makes a value, in place of a constructor that is none of its type. */
void ct_types_build_view(CtTypes *types, CtExpr *expr);
/* streams.c: replaces functions on lists without end, of which an application takes the beginning. */
void ct_types_bound_streams(CtTypes *types, CtExpr *expr);
/* The second binding of a variable that is bound to a list without end; NULL for others, and if it has one. */
CtBinding *ct_types_stream_of(CtTypes *types, const CtBinding *binding);
/* Before its names are resolved. */
void ct_types_begin_stream(CtTypes *types, CtBinding *stream);
/* Makes the list itself, if it is made of itself, one that fails where it is evaluated. */
void ct_types_end_list(CtTypes *types, const CtBinding *list, const CtBinding *stream);
/* The type of its elements as they are taken, from the list's; NULL if that is no list. */
CtTy *ct_types_stream_type(CtTypes *types, CtTy *list);
/* do.c: an instance of Monad without `return` uses the `pure` of its Applicative, as in Haskell since 2014; one of
 * Foldable that gives foldMap alone has a foldr by it. */
void ct_types_complete_instances(CtTypes *types);

/* ---- resolve.c, groups.c ---- */
CtEntity *ct_types_entity_new(CtTypes *types, CtEntityKind kind, CtName name);
/* Defines a top-level name; reports a second definition. */
void ct_types_define_value(CtTypes *types, CtEntity *entity);
void ct_types_resolve_top(CtTypes *types, CtDecls *decls);
void ct_types_resolve_expr(CtTypes *types, CtExpr *expr);
void ct_types_resolve_binding(CtTypes *types, CtBinding *binding);
/* Finds the strongly connected components and fills decls->groups. */
void ct_types_find_groups(CtTypes *types, CtDecls *decls, CtBindInfo **infos, uint32_t count, bool top);

/* ---- exhaustive.c ---- */

/* A match (the clauses of a function, a `case`, or a single row of patterns), recorded during inference and checked for
 * exhaustiveness when its module is known to be correct. */
typedef struct CtMatchRow {
    CtPat *const *pats;
    const CtRhs *rhs; /* NULL: there are no guards */
    bool may_fail;    /* all its guards may be false */
    CtSourceRange range;
} CtMatchRow;
typedef struct CtMatch {
    CtSym name; /* of a function, or NULL */
    CtSourceRange range;
    const char *row_name, *help;
    CtMatchRow *rows;
    uint32_t row_count, column_count;
} CtMatch;

void ct_types_note_clauses(CtTypes *types, const CtBinding *binding);
void ct_types_note_case(CtTypes *types, const CtExpr *expr);
/* Records the patterns of a λ or of a pattern binding as a match with a single row. */
void ct_types_note_patterns(CtTypes *types, CtPat **pats, uint32_t count);
/* Warns (E0325, E0326) about the recorded matches. */
void ct_types_check_matches(CtTypes *types);

/* ---- linear.c: rules for derivatives that are not linear, as warnings ---- */

/* Records an application of withVjp or withJvp, which the next ct_types_check_rules examines. */
void ct_types_note_rule(CtTypes *types, const CtExpr *call);
void ct_types_check_rules(CtTypes *types);

/* ---- report.c ---- */
typedef enum CtWhyKind {
    WHY_NONE,
    WHY_ARGUMENT, /* the index-th argument of fun */
    WHY_CONDITION,
    WHY_GUARD,
    WHY_BRANCH,  /* the other branch of if */
    WHY_ALT,     /* the preceding alternatives */
    WHY_CLAUSE,  /* the preceding clauses */
    WHY_ELEMENT, /* the preceding elements */
    WHY_RANGE,
    WHY_SIGNATURE, /* the signature of name */
    WHY_METHOD,    /* the class's declaration of name */
    WHY_ANNOTATION,
    WHY_SCRUTINEE, /* what a pattern is matched against */
    WHY_PATTERN,   /* the pattern that a value is bound to */
    WHY_GENERATOR,
    WHY_FIELD,   /* a value for the field name */
    WHY_UPDATED, /* the record of a record update */
} CtWhyKind;
typedef struct CtWhy {
    CtWhyKind kind;
    uint32_t index;
    const CtExpr *fun;
    CtSym name;
    CtSourceRange other; /* BRANCH, ALT, CLAUSE, ELEMENT: where the expected type was met */
    uint32_t count;      /* ARGUMENT: number of arguments given */
    bool *refused;       /* ARGUMENT: set when the argument's type does not fit */
} CtWhy;
/* Unifies two types; reports at `range` what was expected and found when they differ. */
bool ct_types_ty_expect(CtTypes *types, CtSourceRange range, CtTy *expected, CtTy *found, const CtWhy *why);
void ct_types_report_instance(CtTypes *types, CtClass *class_, CtTy *type, CtTy *whole, CtSourceRange range);
/* False, with an error, when a numeric literal is used where a non-numeric type is expected. */
bool ct_types_literal_fits(CtTypes *types, CtClass *class_, CtTy *expected, CtSourceRange range, const CtWhy *why);
/* False, with an error, when a literal with a decimal point is used where an Int is expected. */
bool ct_types_fraction_fits(CtTypes *types, CtClass *class_, CtTy *expected, CtSourceRange range, const CtWhy *why);
/* `what` is the kind of the name: name, constructor, type. */
void ct_types_report_unknown(CtTypes *types, const char *what, CtSpace space, CtName name);
/* Reports a type of more than CT_TYPE_LIMIT parts, once. */
void ct_types_report_large(CtTypes *types, CtSourceRange range);
/* Reports a class whose instance resolution does not end. */
void ct_types_report_infinite(CtTypes *types, const CtClass *class_, CtSourceRange range);
/* Reports a negative number where a function is expected. */
void ct_types_report_negative(CtTypes *types, const CtExpr *expr, CtTy *expected, const CtWhy *why);
void ct_types_report_not_function(CtTypes *types, const CtExpr *app, uint32_t taken, CtTy *type);
/* Prints types into the arena; those in one message share the names of variables. */
void ct_types_ty_texts(CtTypes *types, CtTy **list, uint32_t count, const char **texts);
const char *ct_types_ty_text(CtTypes *types, CtTy *type);

/* ---- unknown.c ---- */
/* Whether an unknown name has been reported already; then this use is added to the list. */
bool ct_types_unknown_again(CtTypes *types, CtSpace space, CtName name);
/* Records the message, and adds a suggestion from the source. */
void ct_types_unknown_new(CtTypes *types, CtSpace space, CtName name, CtDiag *diag);

/* ---- suggest.c ---- */
/* The source text of a range if it is short, or NULL. */
const char *ct_types_excerpt(CtTypes *types, CtSourceRange range);
/* "a number", "is not a number": how messages describe a class. */
const char *ct_types_class_wanted(CtTypes *types, const CtClass *class_);
const char *ct_types_class_lacking(CtTypes *types, const CtClass *class_);
bool ct_types_class_named(const CtClass *class_, const char *const *names);
/* Each of these adds a suggestion to the message if it has one. `found` NULL: the expression is a numeric literal;
 * `subject`: the expression, or NULL. */
void ct_types_suggest_mismatch(CtTypes *types, CtDiag *diag, CtTy *expected, CtTy *found, const CtWhy *why,
                               const CtExpr *subject);
void ct_types_suggest_instance(CtTypes *types, CtDiag *diag, const CtClass *class_, CtTy *type, const CtWhy *why);
void ct_types_suggest_infinite(CtTypes *types, CtDiag *diag, CtTy *inner, CtTy *outer, const CtWhy *why,
                               const CtExpr *subject);
void ct_types_suggest_application(CtTypes *types, CtDiag *diag, const CtExpr *app, uint32_t taken, CtTy *type);

/* ---- records.c ---- */
void ct_types_declare_selectors(CtTypes *types);
void ct_types_check_record(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why);
void ct_types_check_update(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why);
void ct_types_check_record_pat(CtTypes *types, CtPat *pat, CtTy *expected, const CtWhy *why);

/* ---- expr.c, pattern.c, bind.c, generalise.c ---- */
/* poly.c: checks an expression against a type of higher rank. */
void ct_types_check_poly(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why);
void ct_types_check_expr(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why);
void ct_types_check_rhs(CtTypes *types, CtRhs *rhs, CtTy *expected, const CtWhy *why);
/* open_cons.c: the types for the variables of the constructor of a pattern, whose type is `expected`; what the
 * constructor says of them holds until the branch is left. */
CtTy **ct_types_open_con(CtTypes *types, CtPat *pat, CtTy *expected, const CtWhy *why);
void ct_types_check_pat(CtTypes *types, CtPat *pat, CtTy *expected, const CtWhy *why);
bool ct_types_split_fun(CtTypes *types, CtTy *type, CtTy **arg, CtTy **result);
void ct_types_infer_groups(CtTypes *types, CtDecls *decls);
/* Checks the binding of a method against the type of its entity, whose generics are rigid in the body. */
void ct_types_infer_method(CtTypes *types, CtBinding *binding, CtEntity *entity, const CtWhy *why);
typedef struct CtMarks { /* lengths of the lists of unsolved types and constraints at the start of a binding group */
    uint32_t metas, points, deferred, inner_uses, operands, errors;
} CtMarks;
CtMarks ct_types_marks(CtTypes *types);
void ct_types_generalise(CtTypes *types, CtBindingGroup *group, CtBindInfo **infos, CtMarks marks, bool restricted);
/* Solves what was added to these lists since the marks: by defaulting, or by reporting an ambiguity. */
void ct_types_default(CtTypes *types, CtMarks marks);

/* ---- growth.c: polymorphic recursion and nested data types ---- */

/* Marks the uses that grow, and records their steps; reports E0316 for steps that are not supported. */
void ct_types_check_inner_uses(CtTypes *types);
/* Marks the parameters of data types that grow in the fields of `con`, and records the steps; reports E0316. */
void ct_types_find_nested(CtTypes *types, CtTyCon *con);

#endif
