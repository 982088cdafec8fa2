/* Hindley–Milner type inference with (constructor) classes, on the syntax tree. A constraint is on one type; a class
 * may have further parameters, which this type determines.
 *
 * Inference resolves names, finds binding groups, and gives every expression, pattern and binding a type, and every use
 * of a polymorphic name its instance. There are no dictionaries: elaboration specialises, and selects the instance of a
 * class at each concrete type (ct_types_instance_find). */
#ifndef CT_TYPES_TYPES_H
#define CT_TYPES_TYPES_H

#include "syntax/syntax.h"

/* ---- types ---- */

typedef enum CtTyKind {
    TY_META,    /* a unification variable: follow `link` with ct_types_ty_resolve */
    TY_GENERIC, /* a quantified variable of a binding group, class, instance or data declaration; each is one object */
    TY_CON,
    TY_APP, /* function applied to one argument: Tree a, (->) a, (,) a b */
} CtTyKind;

typedef struct CtTy {
    CtTyKind kind;
    bool has_var : 1;   /* the type contained a META or GENERIC at construction; false: ground, shared freely */
    bool made : 1;      /* GENERIC: the name is generated */
    bool is_error : 1;  /* CON: the type after a reported error, which unifies with every type */
    bool at_point : 1;  /* META: occurs in the type of a derivative's point, so defaulting prefers Double */
    bool is_skolem : 1; /* GENERIC: a constructor's own variable, in a pattern (types/open_cons.c); also as follows */
    bool of_forall : 1; /* GENERIC: of an expression of a type of higher rank (poly.c) */
    bool is_number : 1; /* META, GENERIC: of arithmetic, and no array: the element of an array written out of numbers */
    bool is_written : 1; /* META, GENERIC: numbers of this type are written as the elements of an array */
    bool is_named : 1;   /* META: of numbers that have names, as far as what binds the names tells */
    uint32_t level;      /* META: the let-depth, for generalisation */
    uint32_t arity;      /* META, GENERIC: arguments it takes: 0 for a type, 1 for a constructor such as Array */
    union {
        struct CtTyCon *con; /* CON */
        struct {             /* APP */
            struct CtTy *fun, *arg;
            uint32_t size; /* number of nodes at construction, counted as a tree */
        };
        struct {                  /* META, GENERIC */
            struct CtTy *link;    /* META: set once found; GENERIC: set during substitution */
            struct CtPred *preds; /* its class constraints */
            CtSym name;           /* GENERIC: from the source, or generated: a, b, … */
            struct CtTy *refined; /* GENERIC: in the scope of a pattern, the type that it has to be */
        };
    };
} CtTy;

typedef struct CtPred { /* one class constraint on a type variable */
    struct CtClass *class_;
    CtTy **others; /* the types for the class's other parameters, in MonadState s m that for s; NULL: there are none */
    CtSourceRange range; /* where it arose */
    struct CtPred *next;
} CtPred;

typedef struct CtTyCon {
    CtSym name; /* "Double", "[]", "->", "(,)", "()", "Array", "Tree" */
    uint32_t arity;
    CtTy **params;           /* TY_GENERIC, arity of them */
    struct CtDataCon **cons; /* data types; NULL for built-in ones. Lists, Bool, () and tuples: see ct_tycon_* */
    uint32_t con_count;
    bool is_newtype;
    bool is_synonym;
    struct CtScheme
        *poly; /* of a type of higher rank: what it stands for, over params and the scheme's generics (types/poly.c) */
    bool is_open; /* a constructor has variables of its own, or says what the parameters are */
    bool
        *grows; /* nested data types: for each parameter, whether the type contains itself with a larger one; or NULL */
    CtTy *synonym;     /* over the declared params; State Int lacks an argument, which params and arity include */
    uint32_t declared; /* synonyms: number of parameters in the declaration */
    CtDecl *decl;
    CtSourceRange range;
    CtTy *type; /* the constructor without arguments, one shared object */
    int state;  /* synonyms: 0 not expanded, 1 being expanded, 2 done */
} CtTyCon;

/* A constraint in the declaration of a constructor. */
typedef struct CtConGiven {
    struct CtClass *class_;
    CtTy **others;
    CtTy *type;
    CtSourceRange range;
} CtConGiven;

typedef struct CtDataCon {
    CtSym name;
    CtTyCon *tycon;
    uint32_t tag, arity;
    CtTy **fields; /* over tycon->params and exists */
    CtTy **exists; /* TY_GENERIC: variables of its own (types/open_cons.c) */
    uint32_t exist_count;
    CtTy **generics; /* tycon->params, then exists; NULL: the former alone */
    CtTy **equal;    /* NULL, or for each of tycon->params the type that it has to be, or NULL */
    CtConGiven *givens;
    uint32_t given_count;
    CtSym *field_names; /* or NULL */
    uint64_t strict;    /* by bits: the first fields that have a `!` */
    bool infix;         /* declared as an infix operator; shown as one, of this precedence */
    uint8_t precedence;
    CtSourceRange range;
} CtDataCon;

typedef struct CtScheme {
    CtTy **generics; /* TY_GENERIC each, with their preds; a method's first ones are the class variables */
    uint32_t count;
    CtTy *type;
} CtScheme;

/* ---- what names mean ---- */

typedef enum CtEntityKind {
    ENTITY_LOCAL,     /* bound by a pattern, or by let/where */
    ENTITY_GLOBAL,    /* bound at top level of a module */
    ENTITY_METHOD,    /* of a class: at a concrete type, the instance's binding */
    ENTITY_PRIMITIVE, /* declared `primitive` */
} CtEntityKind;

typedef struct CtEntity {
    CtEntityKind kind;
    CtSym name;
    CtSourceRange range;
    CtScheme scheme;            /* count 0: monomorphic */
    CtBinding *binding;         /* LOCAL by let, GLOBAL: its code; NULL when a pattern binds it */
    CtBindingGroup *group;      /* the binding group of `binding` or of `pattern_binding` */
    CtBinding *pattern_binding; /* the pattern binding that binds it, or NULL */
    struct CtClass *class_;     /* METHOD */
    uint32_t method;            /* METHOD: index in class_->methods */
    const char *primitive;      /* PRIMITIVE */
    const char *module;
    /* Of a list without end: its elements as they are taken (streams.c), if that is used; or NULL. */
    struct CtEntity *stream;
    bool is_taken;  /* of such a stream: it is used */
    bool is_number; /* LOCAL, GLOBAL: a number as far as its own binding tells, of a type that its uses determine */
    void *elab;     /* elaboration's notes on it */
    void *infer;    /* inference's notes on it: the binding's place in its dependency graph */
} CtEntity;

typedef struct CtClass {
    CtSym name;
    CtTy *param;
    uint32_t param_arity; /* 0: of types; 1: of constructors such as Array */
    /* The other parameters, of a class like `MonadState s m | m -> s`: `param`, m, selects the instance, and the
     * instance determines them. `place` is where `param` stands among all. */
    CtTy **others;
    uint32_t other_count, place;
    struct CtClass **supers; /* of `param` */
    uint32_t super_count;
    struct CtPred **other_supers; /* for each of `others` */
    CtEntity **methods;
    CtBinding **defaults; /* for each of `methods`; NULL: no default */
    uint32_t method_count;
    CT_VEC(struct CtInstance *) instances;
    CtDecl *decl;
    CtMap by_tycon;       /* CtTyCon * -> CtInstance * */
    int state;            /* of the search for cyclic superclasses: 0 not visited, 1 being visited, 2 done */
    struct CtClass *seen; /* ct_types_class_implies: the next class of its worklist */
} CtClass;

typedef struct CtInstance {
    CtClass *class_;
    CtTyCon *tycon;
    CtTy **generics; /* the instance's type variables: head is tycon applied to the first head_count, in order */
    uint32_t head_count, generic_count;
    CtTy **given;  /* NULL, or for each argument of the head the type without variables that it has to be, or NULL */
    CtTy *via;     /* NULL, or the type that a newtype stands for, whose instance is used (deriving) */
    CtTy **others; /* for each of class_->others; each further generic is one of them */
    CtBinding **methods; /* for each of class_->methods; NULL: the class's default */
    /* for each method, the generics of the method's own scheme after the class variables, as the instance's binding
     * names them (rigid in its body) */
    CtTy ***method_generics;
    CtEntity **method_entities; /* made for each method given: binding = methods[i] */
    bool has_context;           /* a derived one whose context the program gives */
    bool derived;               /* from `deriving`; inference generates its methods, as if they had been written */
    CtDecl *decl;               /* of the instance; the data declaration when derived */
    CtTy *head;                 /* tycon applied to the generics */
    CtSourceRange range;
} CtInstance;

/* ---- types that grow (growth.c) ---- */

/* A step by which types grow in polymorphic recursion and in nested data types: a type constructor applied to
 * arguments, of which some are the growing type. */
typedef struct CtGrowth {
    CtTyCon *head; /* NULL: a variable, for any constructor */
    CtTy **args;   /* NULL: at a hole; elsewhere, any type */
    bool *holes;   /* where the growing type stands */
    uint32_t count;
} CtGrowth;

/* ---- scopes ---- */

typedef enum CtSpace {
    SPACE_VALUE, /* CtEntity */
    SPACE_CON,   /* CtDataCon */
    SPACE_TYPE,  /* CtTyCon */
    SPACE_CLASS, /* CtClass */
    SPACE_FIELD, /* CtTyCon, of the type that has the field */
    SPACE_COUNT,
} CtSpace;

/* The meanings of names (CtSym) in each space; names not found here are looked up further out. */
typedef struct CtScope {
    CtMap names[SPACE_COUNT];
    CtMap origins[SPACE_COUNT]; /* of imported names: the module, a CtSym */
    CtMap clashes[SPACE_COUNT]; /* of names imported from two modules with different meanings: CtClash */
    struct CtScope *outer;
} CtScope;

typedef struct CtClash {
    CtSym first, second; /* modules */
} CtClash;

/* ---- the environment: everything known of the modules read so far ---- */

typedef struct CtTypes CtTypes;
typedef struct CtTypedModule {
    CtModule *module;
    CtBindingGroup *groups; /* = module->decls.groups */
    uint32_t group_count;
} CtTypedModule;

/* A new environment with the built-in types: Double Float Int Char -> [] () (,).. Array. Bool is `data` in the
 * prelude. */
CtTypes *ct_types_new(CtContext *context);

/* Infers a module, whose imports must have been inferred before. `is_prelude`: its definitions are in scope of every
 * later module, without import, and are shadowed by names that a module defines or imports. False when it has errors,
 * which are in the context; the correct part of the module is still in scope. */
bool ct_types_infer_module(CtTypes *types, CtModule *module, bool is_prelude);
/* The meaning of a name in scope, perhaps qualified (`Map.lookup`): of the kind that the space has; NULL: none. */
void *ct_types_meaning(CtTypes *types, CtSpace space, const char *name);
/* The names in scope that begin with `prefix` (possibly qualified), in no particular order, with duplicates. */
uint32_t ct_types_names_in_scope(CtTypes *types, const char *prefix, const char ***out);
/* Saves the scope of the module just inferred, and restores it after other modules were inferred, for a module that
 * continues it. */
void ct_types_scope_keep(CtTypes *types);
void ct_types_scope_return(CtTypes *types);
/* Whether a module's names are in the prelude, so that importing it needs no file. */
bool ct_types_is_standard_module(CtSym name);
/* The name of the index-th standard module; NULL past the last. */
const char *ct_types_standard_module_at(uint32_t index);
/* Infers an expression in the scope of the last module, and defaults its unsolved type variables; `expected` may be
 * NULL. */
bool ct_types_infer_expression(CtTypes *types, CtExpr *expr, CtTy *expected);
/* Finds the module of the library that exports a name, for messages; as ct_driver_modules_exporter. */
typedef const char *CtExporter(CtArena *arena, const char *name, bool exactly, const char **found);
void ct_types_set_exporter(CtTypes *types, CtExporter *exporter);
/* Defaulting order of ambiguous numbers: Int before Double (programs), or Double before Int (points of derivatives). */
/* The program will be evaluated lazily; before anything is inferred. */
void ct_types_set_lazy(CtTypes *types);
void ct_types_prefer_double(CtTypes *types, bool prefer);

/* What a name means at the top level of the last module, or NULL. */
CtEntity *ct_types_lookup(CtTypes *types, CtSym name);
CtTyCon *ct_types_lookup_tycon(CtTypes *types, CtSym name);
CtClass *ct_types_lookup_class(CtTypes *types, CtSym name);
/* Makes a module that was inferred the one that ct_types_lookup_library looks into first. */
void ct_types_scope_keep_library(CtTypes *types, const char *module);
/* The meaning of a name in the module of ct_types_scope_keep_library or in the prelude, whatever the program defines;
 * or NULL. */
/* The function whose result a pattern of this constructor matches (views.c); NULL: the value itself. */
CtEntity *ct_types_view(CtTypes *types, const CtDataCon *con);
/* What a module of the library exports, whether it is imported or not; NULL if nothing has read it. */
CtEntity *ct_types_exported(CtTypes *types, const char *module, CtSym name);
CtEntity *ct_types_lookup_library(CtTypes *types, CtSym name);
CtTyCon *ct_types_lookup_library_tycon(CtTypes *types, CtSym name);
/* The instance of a class at a type constructor, or NULL. */
CtInstance *ct_types_instance_find(const CtClass *class_, const CtTyCon *tycon);
/* Whether a type without variables is of a class, with what the contexts of the instances ask for. */
bool ct_types_is_of_class(CtTypes *types, CtClass *class_, CtTy *type);

/* Whether showing a value of this type (without type variables) uses an instance of Show that is written in a program
 * or module, neither derived nor the prelude's. */
bool ct_types_is_shown_by_instance(CtTypes *types, CtTy *type);
/* Whether a program's instance of Ord, rather than a derived one or the prelude's, compares a type's values. */
bool ct_types_is_ordered_by_instance(CtTypes *types, const CtTyCon *tycon);

/* The type at the end of a chain of solved unification variables. */
CtTy *ct_types_ty_resolve(CtTy *type);
/* Whether a type is a function type `a -> b`; then `arg` and `result` are set to a and b. */
bool ct_types_ty_is_fun(CtTypes *types, CtTy *type, CtTy **arg, CtTy **result);
/* The head and arguments of an applied constructor; false for a variable head. Arguments go to `args` (at most `max`).
 */
bool ct_types_ty_head(CtTy *type, CtTyCon **con, CtTy **args, uint32_t max, uint32_t *count);
CtTy *ct_types_ty_con(CtTypes *types, CtTyCon *con, CtTy **args, uint32_t count);
CtTy *ct_types_ty_fun(CtTypes *types, CtTy *arg, CtTy *result);
CtTy *ct_types_ty_tuple(CtTypes *types, CtTy **parts, uint32_t count);
/* A scheme's type with fresh metas for its variables. */
CtTy *ct_types_instantiate(CtTypes *types, const CtScheme *scheme, CtTy **inst);

/* The steps of growth in all modules read so far. */
const CtGrowth *ct_types_growths(const CtTypes *types, uint32_t *count);

/* The built-in constructors of types. */
CtTyCon *ct_types_con_double(CtTypes *types);
CtTyCon *ct_types_con_float(CtTypes *types);
CtTyCon *ct_types_con_int(CtTypes *types);
CtTyCon *ct_types_con_char(CtTypes *types);
CtTyCon *ct_types_con_list(CtTypes *types); /* cons: [] tag 0, : tag 1 */
CtTyCon *ct_types_con_array(CtTypes *types);
CtTyCon *ct_types_con_fun(CtTypes *types);
/* () for 0; size 1 does not exist. */
CtTyCon *ct_types_con_tuple(CtTypes *types, uint32_t size);

/* `Tree a -> (a -> b) -> [b]`, with the context of its variables in front where `preds`: `(Num a) => …`. */
void ct_types_ty_print(CtText *out, CtTypes *types, CtTy *type, bool preds);
void ct_types_scheme_print(CtText *out, CtTypes *types, const CtScheme *scheme);

/* Every top-level name of a module with its scheme, in source order (`cotan type`). */
uint32_t ct_types_module_entities(CtTypes *types, const CtModule *module, CtEntity ***out);

#endif
