/* Core, the first intermediate language, which defines what a program means. It is small, typed, monomorphic,
 * higher-order and strict, and evaluated from left to right.
 *
 * Functions take all their arguments at once: (σ1, …, σn) → τ. Elaboration gives a named function as many parameters as
 * its clauses have, and uses curried one-parameter functions wherever a function is passed as a value. So an
 * application always has exactly the arguments that its function takes, and no engine needs partial application.
 *
 * Types are hash-consed: equal types are the same pointer. Every variable is bound once in a program. Every node has
 * its type and its source range. Constructors are in core/build.h; the forms, with their typing rules, in core.def. */
#ifndef CT_CORE_CORE_H
#define CT_CORE_CORE_H

#include "base/diag.h"
#include "prim/prim.h"

/* ---- types ---- */

typedef enum CtTypeKind {
    TYPE_DOUBLE,
    TYPE_FLOAT,
    TYPE_INT,
    TYPE_CHAR,
    TYPE_TUPLE,
    TYPE_ARRAY,
    TYPE_FUN,
    TYPE_DATA
} CtTypeKind;

typedef struct CtType {
    CtTypeKind kind;
    uint32_t id; /* in the order of creation */
    uint32_t count;
    struct CtType *
        *parts; /* TUPLE: components; ARRAY: the element; FUN: parameters, then the result (count = params + 1) */
    struct CtData *data;           /* DATA */
    struct CtType *seen;           /* used by this folder while it traverses types; NULL otherwise */
    const struct CtTypeForm *form; /* of an entry point's type, in programs with universal types; or NULL */
} CtType;

/* A type as the program has it, which says what the values of universal types (CtData.is_universal) in it are: values
 * are read from files by it. A type constructor applied to arguments, or a parameter of the data type around. */
typedef struct CtTypeForm {
    const void *head; /* the type constructor, compared with CtCon.layer; NULL: a parameter */
    uint32_t index;   /* of the parameter */
    struct CtTypeForm **args;
    uint32_t count;
    const CtType *base_of; /* the universal type of which it is the base, where that is known; or NULL */
} CtTypeForm;

typedef struct CtCon {
    CtSym name;
    uint32_t tag, count;
    CtType **fields;
    CtSym *field_names; /* or NULL */
    uint64_t strict;    /* by bits: the first fields that have a `!`; lazy programs evaluate these at once */
    const void *layer;  /* of a universal type: the type constructor that it belongs to; NULL: its base */
    CtTypeForm **forms; /* of the fields, over the type's parameters, in programs with universal types; or NULL */
    bool infix;         /* shown as an infix operator of this precedence */
    uint8_t precedence;
    struct CtData *data;
} CtCon;

/* A data type applied to type arguments: `Tree Double` is one, `Tree Int` another. Bool, lists and Ordering are data
 * types too. */
typedef struct CtData {
    CtSym name;    /* "Tree", "[]", "Bool" */
    CtType **args; /* its type arguments, for printing and for values in JSON */
    uint32_t arg_count;
    CtCon *cons; /* filled in after the type is made, since it may be recursive */
    uint32_t con_count, con_room;
    bool is_newtype;
    bool is_universal; /* stands for all types that grow from one: constructor 0 holds a value of that type, the others
                          are those of the types that have grown */
    bool is_enum;      /* no constructor has a field: values are plain words, the tag */
    bool is_library;   /* it is declared there, or made of one that is */
    bool own_order;    /* values are compared by an instance of Ord that is written in the program */
    bool takes_itself, takes_itself_known; /* see ct_core_type_takes_itself */
    CtType *type;
    const char *method; /* the transformation that made it from `origin`, or NULL */
    CtType *origin;
} CtData;

/* Whether a type contains reals, or functions, anywhere; for data, in any constructor. */
bool ct_core_type_has_real(CtType *type); /* Double or Float, also behind functions' types */
bool ct_core_type_has_array(CtType *type);
bool ct_core_type_has_fun(CtType *type);
/* Whether functions in values of a data type take such values, as in newtype Fix a = Fix (Fix a -> a): by these,
 * functions recur without calling themselves by name. */
bool ct_core_type_takes_itself(CtArena *arena, CtType *type);
/* Whether a type is Integer, which lib/prelude.cot defines. */
bool ct_core_type_is_integer(const CtType *type);

typedef struct CtTypeTable CtTypeTable; /* hash-consing; opaque */

/* ---- terms ---- */

typedef struct CtVar {
    CtSym name;
    uint32_t id; /* unique in the program */
    CtType *type;
    struct CtVarNotes *notes; /* the simplifier's */
    bool is_strict;           /* bound with `!`: evaluated where it is bound, in lazy programs, too */
} CtVar;

typedef enum CtCoreKind {
#define CT_CORE_FORM(kind, name, rule) CORE_##kind,
#include "core/core.def"
#undef CT_CORE_FORM
} CtCoreKind;

typedef enum CtArrayOp {
#define CT_ARRAY_OP(op, ...) ARRAY_##op,
#include "core/core.def"
#undef CT_ARRAY_OP
    CT_ARRAY_OP_COUNT
} CtArrayOp;

/* When an array operation fails: the column of core.def. */
typedef enum CtArrayFails { ARRAY_FAILS_NEVER, ARRAY_FAILS_ROWS, ARRAY_FAILS_CHECKED, ARRAY_FAILS_ITSELF } CtArrayFails;

typedef struct CtArrayInfo {
    const char *name; /* "map" */
    uint32_t arity;
    int function; /* index of the function argument, or −1; and its number of parameters */
    uint32_t function_arity;
    const char *type;
    CtArrayFails fails;
    const char *doc;
} CtArrayInfo;

const CtArrayInfo *ct_core_array_info(CtArrayOp op);
/* Looks up an array operation by its name in the table; false when there is none. */
bool ct_core_array_find(const char *name, CtArrayOp *op);

/* Derivative operators that elaboration leaves in Core. */
typedef enum CtDerivOp {
#define CT_DERIV_OP(op, ...) DERIV_##op,
#include "core/core.def"
#undef CT_DERIV_OP
} CtDerivOp;

typedef struct CtDerivInfo {
    const char *primitive; /* "deriv.jvp", as the library declares it */
    const char *name;      /* "jvp", as a printed program shows it */
    uint32_t arity;
} CtDerivInfo;

const CtDerivInfo *ct_core_deriv_info(CtDerivOp op);
/* Looks up a derivative operator by its primitive; false when there is none. */
bool ct_core_deriv_find(const char *primitive, CtDerivOp *op);
/* Whether the first argument is a value and not a function. */
static inline bool ct_core_deriv_is_of_value(CtDerivOp op) {
    return op == DERIV_BASIS || op == DERIV_REALS || op == DERIV_FILL || op == DERIV_STOP;
}
/* Whether the operator gives a function with a custom derivative. */
static inline bool ct_core_deriv_has_rule(CtDerivOp op) {
    return op == DERIV_WITH_VJP || op == DERIV_WITH_JVP || op == DERIV_WITH_RULES;
}
/* Whether its value is f x, for its first and its last argument. */
static inline bool ct_core_deriv_applies(CtDerivOp op) { return ct_core_deriv_has_rule(op) || op == DERIV_CHECKPOINT; }

/* The methods, and their names on the command line; src/ad/methods.def describes them. */
#define CT_METHODS(CT_METHOD)                                                                                          \
    CT_METHOD(FORWARD, "forward")                                                                                      \
    CT_METHOD(TAYLOR, "taylor")                                                                                        \
    CT_METHOD(VECTOR, "vector")                                                                                        \
    CT_METHOD(DELTA_TREE, "delta-tree")                                                                                \
    CT_METHOD(DELTA, "delta")                                                                                          \
    CT_METHOD(DELTA_FUSED, "delta-fused")                                                                              \
    CT_METHOD(DUAL_NAIVE, "dual-naive")                                                                                \
    CT_METHOD(DUAL_STAGED, "dual-staged")                                                                              \
    CT_METHOD(DUAL_CAYLEY, "dual-cayley")                                                                              \
    CT_METHOD(DUAL_ARRAYS, "dual-arrays")                                                                              \
    CT_METHOD(DUAL_DEFUNC, "dual-defunc")                                                                              \
    CT_METHOD(TAPE, "tape")                                                                                            \
    CT_METHOD(CHAD_NAIVE, "chad-naive")                                                                                \
    CT_METHOD(CHAD_SPARSE, "chad-sparse")                                                                              \
    CT_METHOD(CHAD, "chad")                                                                                            \
    CT_METHOD(BULK, "bulk")                                                                                            \
    CT_METHOD(NATIVE, "native")
typedef enum CtMethod {
#define CT_METHOD(id, name) METHOD_##id,
    CT_METHODS(CT_METHOD)
#undef CT_METHOD
        CT_METHOD_COUNT
} CtMethod;
const char *ct_core_method_name(CtMethod method);

typedef struct CtCase {
    CtCon *con;
    CtVar **vars; /* one for each field; NULL for a field that is not used */
    struct CtCore *body;
} CtCase;

typedef struct CtBind {
    CtVar *var;
    struct CtCore *lam;
} CtBind;

typedef struct CtCore {
    CtCoreKind kind;
    CtType *type;
    CtSourceRange range;
    union {
        CtVar *var;              /* VAR */
        struct CtGlobal *global; /* GLOBAL */
        union { /* LIT, by type: DOUBLE and FLOAT in real (a Float already rounded), INT and CHAR in integer */
            double real;
            int64_t integer;
        } lit;
        struct { /* STRING: UTF-8 */
            const char *data;
            size_t length;
        } string;
        struct CtLam *lam; /* LAM */
        struct {           /* APP, TUPLE, CON, PRIM, ARRAY, ARRAY_LIT, DERIV, DUAL: the children, and the head */
            struct CtCore **args;
            uint32_t count;
            union {
                struct CtCore *fun;      /* APP */
                CtCon *con;              /* CON */
                CtPrim prim;             /* PRIM */
                CtArrayOp array;         /* ARRAY */
                CtDerivOp deriv;         /* DERIV */
                struct CtDualPath *dual; /* DUAL */
            } of;
        } call;
        struct { /* LET: vars[0]; UNPACK: one variable for each component, NULL where unused */
            CtVar **vars;
            uint32_t count;
            struct CtCore *rhs, *body;
        } let;
        struct { /* LETREC */
            CtBind *binds;
            uint32_t count;
            struct CtCore *body;
        } letrec;
        struct { /* PROJ */
            struct CtCore *tuple;
            uint32_t index;
        } proj;
        struct { /* CASE; scrutinee of a data type */
            struct CtCore *scrutinee;
            CtCase *cases;
            uint32_t count;
            struct CtCore *otherwise; /* NULL when all constructors are listed */
        } cases;
        struct { /* FAIL */
            CtErrorCode code;
            const char *text; /* a fixed message; NULL: the message is an argument, of type [Char] */
            struct CtCore *message;
        } fail;
    } as;
} CtCore;

/* A λ. A function value consists of a λ and its captured values.
 *
 * `origin` says that this λ is D_method[origin], complete and unsimplified, and that its captured variables are those
 * of the origin, transformed one by one, in order. That makes it possible to differentiate a function value that is
 * known only at run time (see CtDualPath). The simplifier must not change λs that have an origin, nor their captured
 * variables. */
typedef struct CtLam {
    CtVar **params;
    uint32_t count;
    CtCore *body;
    CtCore *node;     /* the CORE_LAM node that holds it */
    const char *name; /* of the function that it came from, for messages; may be NULL */
    struct CtLam *origin;
    CtMethod method;
    struct CtLam **group; /* all λs bound by one LETREC, itself included; NULL when it is not bound by one */
    CtVar **group_vars;
    uint32_t group_count;
    /* Free local variables of the whole group without group_vars, in order of first use; set by ct_core_captures. */
    CtVar **captures;
    uint32_t capture_count;
    bool captures_known;
    void *code;  /* of the evaluator: the compiled code */
    CtMap duals; /* of ad: transformed versions made so far */
} CtLam;

/* DUAL f, states…: the function value f, with the transformation of method M inserted below the transformations `path`
 * (outermost first) that f's code has been through: f = D_path[g] becomes D_path[D_M[g]], with the captured values
 * embedded as constants of M. With an empty path it is D_M[f]. `result` is the type of the value. If a method on the
 * path carries a state, the current state is an argument, and the result is a pair of function value and state, as for
 * any transformed term. If it is a `whole` derivative, of BULK, the arguments of the derivative operator `op` follow f,
 * and the value is the operator's result. */
typedef struct CtDualPath {
    CtMethod method;
    bool whole;
    CtDerivOp op;    /* of a whole derivative: JVP, VJP or JACOBIAN */
    bool by_forward; /* of a JVP at a point without arrays: by `forward`, unless it is inside of a traced function */
    CtMethod *path;
    uint32_t count;
    CtSourceRange range; /* of the derivative */
    /* The converse: f = D_path[D_M[g]] becomes D_path[g], with the primals of the captured values. */
    bool primal;
} CtDualPath;

/* ---- programs ---- */

typedef struct CtGlobal {
    CtSym name; /* unique in the program; specialisations include their types: "map@Double,Int" */
    uint32_t id;
    CtType *type;
    CtCore *body; /* a LAM, or any closed term: a constant, evaluated on first use */
    CtSourceRange range;
    bool is_library;
    bool is_kept;            /* its calls are not inlined, because they are shown or observed */
    struct CtGlobal *origin; /* D_method[origin] */
    CtMethod method;
    CtMap duals; /* ad: method -> CtGlobal */
    void *code;  /* evaluator */
} CtGlobal;

/* The name of a specialisation without the module `Prelude.`, which stands in front of it in a program that has a name
 * of its own for something else. */
static inline const char *ct_core_prelude_name(const char *name) {
    return strncmp(name, "Prelude.", 8) == 0 ? name + 8 : name;
}

typedef struct CtProgram {
    CtContext *context;
    CtTypeTable *types;
    CT_VEC(CtGlobal *) globals; /* in the order of creation; callers and callees in any order */
    uint32_t next_var, next_global;
    uint32_t simplifier_runs;
    bool is_lazy;     /* ct_core_lazify has been here: values wait in cells, which the evaluator alone knows */
    bool keeps_calls; /* from now on nothing is inlined, because the program is to be shown or observed */
    CtType *bool_type, *unit_type, *string_type, *double_type, *float_type, *int_type, *char_type;
    /* A monomorphic function of a library module (NULL: of the prelude) by name, elaborated on first use. */
    CtGlobal *(*library)(void *data, const char *module, const char *name);
    void *library_data;
    CtSourceRange asked; /* the function, or the expression, that is run */
} CtProgram;

/* A new program without globals. bool_type and string_type are set by elaboration. */
CtProgram *ct_core_program_new(CtContext *context);

/* Where a failure is reported that has come up inside the library, and not below a call from the user's source (a call
 * at the end of a function leaves none): at what was asked for. Other ranges, and all if that is the library's, stay.
 */
CtSourceRange ct_core_failing_place(const CtProgram *p, CtSourceRange range);

/* Types. Equal arguments give the same pointer. */
CtType *ct_core_type_double(CtProgram *p);
CtType *ct_core_type_float(CtProgram *p);
CtType *ct_core_type_int(CtProgram *p);
CtType *ct_core_type_char(CtProgram *p);
CtType *ct_core_type_tuple(CtProgram *p, CtType *const *parts, uint32_t count);
CtType *ct_core_type_pair(CtProgram *p, CtType *first, CtType *second);
CtType *ct_core_type_array(CtProgram *p, CtType *element);
CtType *ct_core_type_fun(CtProgram *p, CtType *const *params, uint32_t count, CtType *result);
CtType *ct_core_type_fun_result(CtType *fun);
/* A new data type; the caller adds the constructors by ct_core_data_set_cons. It is not hash-consed: the caller keeps a
 * table (elaboration by type constructor and arguments, AD by origin). */
CtType *ct_core_type_data(CtProgram *p, CtSym name, CtType *const *args, uint32_t arg_count, bool is_newtype);
/* Copies cons (name, fields, field_names), numbers the tags, and sets is_enum. */
void ct_core_data_set_cons(CtProgram *p, CtData *data, const CtCon *cons, uint32_t count);
/* A data type to which constructors of one field are added later, up to this number in all; elaboration does so, and no
 * other pass sees such a type before it is complete. */
enum { CT_MOST_OPEN_CONS = 250 };
void ct_core_data_open(CtProgram *p, CtData *data);
/* Its constructor with a field of this type, which is added if there is none yet. NULL: there are too many. */
CtCon *ct_core_data_open_con(CtProgram *p, CtData *data, CtType *field);
/* Adds a constructor to an open data type, numbered behind its name; NULL when there are too many. */
CtCon *ct_core_data_add_variant(CtProgram *p, CtData *data, CtCon con);
/* Adds constructors to a type with `is_universal`, which has room for CT_CORE_MORE_CONS more than were set. False when
 * there are too many. */
enum { CT_CORE_MORE_CONS = 60 };
bool ct_core_data_add_cons(CtProgram *p, CtData *data, const CtCon *cons, uint32_t count);

CtVar *ct_core_var_new(CtProgram *p, const char *name, CtType *type);
/* A fresh variable of the same name. */
CtVar *ct_core_var_like(CtProgram *p, const CtVar *var, CtType *type);
CtGlobal *ct_core_global_new(CtProgram *p, const char *name, CtType *type, CtSourceRange range);

/* ---- what this folder offers on terms ---- */

/* Prints types and terms in the notation of the papers; names get numbers only where two visible ones clash. */
void ct_core_type_print(CtText *out, const CtType *type);
void ct_core_print(CtText *out, CtProgram *p, const CtCore *core);
/* Prints `name : type` and the body. */
void ct_core_print_global(CtText *out, CtProgram *p, const CtGlobal *global);

/* Lint: checks types, scoping, uniqueness of binders, and the rule of every form (core.def). NULL, or a description of
 * the fault, in the arena. */
const char *ct_core_lint(CtProgram *p);
const char *ct_core_lint_global(CtProgram *p, const CtGlobal *global);

/* Rebuilds a node with `visit` applied to each direct child, in evaluation order; returns the node itself when nothing
 * changed. Binders and the children's types must stay the same. A λ that changes is a new CtLam with the same
 * origin. */
typedef CtCore *CtCoreVisit(void *data, CtCore *child);
CtCore *ct_core_map(CtProgram *p, CtCore *core, CtCoreVisit *visit, void *data);

typedef CT_VEC(CtCore *) CtCoreList;
/* Appends the direct children, in evaluation order. */
void ct_core_children(CtArena *arena, CtCore *core, CtCoreList *out);

/* A copy with fresh binders. Free variables are replaced by `replace` (key of a CtVar * -> CtCore *, shared by the
 * copy; may be NULL). */
CtCore *ct_core_copy(CtProgram *p, CtCore *core, const CtMap *replace);

/* Whether terms are nested deeper than `levels`; every traversal of Core needs C stack for each level. */
bool ct_core_is_deeper(const CtCore *core, uint32_t levels);
/* Whether recursion over the term stays within `limit` levels. */
bool ct_core_within_depth(CtArena *arena, CtCore *core, uint32_t limit);

/* Sets lam->captures, of its whole group and of the λs inside. */
void ct_core_captures(CtProgram *p, CtLam *lam);

/* The simplifier: inlines, reduces (β, case and projection of known constructions, let of atoms), and drops dead code.
 * It preserves the meaning and the order of failures, and duplicates no work. For a whole program, or one term. */
void ct_core_simplify(CtProgram *p);
/* Before that, for native code: functions that give functions take all arguments at once (point_free.c). Published
 * methods differentiate programs as they are written. */
void ct_core_take_all_arguments(CtProgram *p);
/* Lists become arrays, in all that the roots call; with derivatives on Flow, whose reverse sweeps need memory for each
 * cell of a list, or where the entry point is given lists of numbers or arrays, also these and those of its own
 * recursion. With `arrays`, the entry point may get a function of arrays in place of lists. Before ct_core_simplify,
 * which inlines the functions on lists. */
typedef struct CtListInput {
    CtGlobal *function; /* what the entry point does, of arrays in place of lists of numbers; NULL: there is none */
    bool equal_rows;    /* and of matrices in place of lists of such lists, which have to be of one length each */
} CtListInput;
CtListInput ct_core_lists_to_arrays(CtProgram *p, CtGlobal *const *roots, uint32_t count, bool on_flow, bool arrays);
bool ct_core_list_is_number(const CtType *type);
/* Whether a type is that of lists; of their elements; whether it is that of lists of lists of numbers. */
bool ct_core_list_is_list(const CtType *type);
CtType *ct_core_list_element(const CtType *list);
bool ct_core_list_may_have_rows(const CtType *list);
/* The program that evaluates by need, behind elaboration: lazy.c. The roots keep their types. Returns NULL, or what it
 * does not translate, and where; the program is then as it was. */
const char *ct_core_lazify(CtProgram *p, CtGlobal *const *roots, uint32_t count, CtSourceRange *place);
/* Whether some term of the program's own code, in a place where lazy evaluation may not need it, has no end when it is
 * evaluated: no_end.c. */
bool ct_core_has_no_end(CtProgram *p);
CtCore *ct_core_simplify_term(CtProgram *p, CtCore *core);
/* Whether a primitive cannot fail. */
bool ct_core_prim_is_total(CtPrim prim);
/* Whether a call of a primitive (CORE_PRIM) cannot fail beside its arguments: a division by a literal other than 0 does
 * not. */
bool ct_core_prim_call_is_total(const CtCore *call);
/* Drops the globals that are unreachable from `roots`. */
void ct_core_reachable(CtProgram *p, CtGlobal *const *roots, uint32_t count);

#endif
