/* The syntax tree: the source as written, every node with its source range.
 *
 * The parser builds it; fixity resolution turns operator chains into applications; inference (types/) fills the fields
 * marked "inference"; elaboration (elab/) reads it. It lives in the context's arena. */
#ifndef CT_SYNTAX_SYNTAX_H
#define CT_SYNTAX_SYNTAX_H

#include "base/diag.h"

typedef struct CtExpr CtExpr;
typedef struct CtPat CtPat;
typedef struct CtTypeExpr CtTypeExpr;
typedef struct CtDecl CtDecl;
typedef struct CtBinding CtBinding;

/* Made by inference, opaque here (types/types.h). */
struct CtTy;
struct CtEntity;
struct CtScheme;
struct CtTyCon;
struct CtDataCon;

/* A name as written, perhaps qualified: `M.lookup` has module M. Operators are names too: `+`, `:`. */
typedef struct CtName {
    CtSym module; /* NULL when unqualified */
    CtSym text;
    CtSourceRange range;
} CtName;

/* ---- types as written ---- */

typedef enum CtTypeExprKind {
    TYPE_EXPR_VAR,    /* a */
    TYPE_EXPR_CON,    /* Double, Tree; also "[]" "->" "()" "(,)" unapplied */
    TYPE_EXPR_APP,    /* Tree a */
    TYPE_EXPR_FUN,    /* a -> b */
    TYPE_EXPR_LIST,   /* [a] */
    TYPE_EXPR_TUPLE,  /* (a, b); () has no parts */
    TYPE_EXPR_FORALL, /* forall a. C a => t inside of a type: parts[0] = t, and qual */
} CtTypeExprKind;

struct CtTypeExpr {
    CtTypeExprKind kind;
    CtSourceRange range;
    union {
        CtName name;             /* VAR, CON */
        struct CtQualType *qual; /* FORALL */
    };
    CtTypeExpr **parts; /* APP: function and one argument; FUN: argument and result; LIST: one; TUPLE: all */
    uint32_t part_count;
};

/* `Ord a` or `MonadState s m` in a context. */
typedef struct CtConstraint {
    CtName class_name;
    CtTypeExpr **types; /* variables, or variables applied */
    uint32_t type_count;
    bool as_newtype; /* in `deriving newtype (…)`: by the type that the newtype stands for */
    CtSourceRange range;
} CtConstraint;

/* `forall a. (Eq a, Show a) => a -> String` */
typedef struct CtQualType {
    CtName *forall; /* the variables behind it: signatures in the body may name them (ScopedTypeVariables) */
    uint32_t forall_count;
    struct CtScopedVar *scoped; /* inference: of an annotation, the variables of enclosing ones */
    CtConstraint *constraints;
    uint32_t constraint_count;
    CtTypeExpr *type;
} CtQualType;

/* ---- literals ---- */

typedef enum CtLitKind { LIT_INT, LIT_FRACTION, LIT_CHAR, LIT_STRING } CtLitKind;

typedef struct CtLit {
    CtLitKind kind;
    union {
        struct {
            int64_t integer; /* INT, modulo 2^64; CHAR: the code point */
            double fraction; /* FRACTION, and INT as a double */
            const char
                *digits; /* FRACTION, and INT from 2^63 on: as written, without underscores and sign; else NULL */
        };
        struct {
            const char *text; /* STRING: UTF-8, escapes resolved, may hold NULs */
            size_t text_length;
        };
    };
} CtLit;

/* ---- patterns ---- */

typedef enum CtPatKind {
    PAT_WILD,   /* _ */
    PAT_VAR,    /* x */
    PAT_AS,     /* x@p: parts[0] */
    PAT_CON,    /* Node l x r, x : xs, True */
    PAT_LIT,    /* 3, -3, 'c', "text" */
    PAT_TUPLE,  /* (p, q), () */
    PAT_LIST,   /* [p, q] */
    PAT_ANNOT,  /* (p :: t) */
    PAT_RECORD, /* Con { field = p, .. }: parts beside fields */
    PAT_VIEW,   /* (e -> p): parts[0] matches what e gives of the value; also n + 3 */
    PAT_CHAIN,  /* p : q `Op` r before fixity resolution: parts beside operators */
} CtPatKind;

struct CtPat {
    CtPatKind kind;
    bool rest;   /* RECORD: `..`, all fields that are not named; inference adds them */
    bool bang;   /* !pat: what is matched is evaluated, in lazy programs too */
    bool viewed; /* CON: of what the function of the pattern gave (elab/match.c) */
    CtSourceRange range;
    union {
        CtName name;       /* VAR, AS: the variable; CON, RECORD: the constructor */
        CtLit lit;         /* LIT; a negative literal is stored negated */
        CtTypeExpr *annot; /* ANNOT */
        CtExpr *view;      /* VIEW */
    };
    CtPat **parts;
    CtName *fields; /* RECORD: field names; CHAIN: the part_count - 1 operators */
    uint32_t part_count;
    /* inference */
    struct CtTy *type;
    struct CtDataCon *con; /* CON, RECORD */
    union {
        struct CtEntity *entity;    /* VAR, AS: the variable bound; LIT: the method == used to compare, at type */
        struct CtTy **exists;       /* CON, RECORD: the types that stand for the constructor's own variables */
        struct CtScopedVar *scoped; /* ANNOT: the variables of enclosing signatures */
    };
};

/* ---- expressions ---- */

typedef enum CtExprKind {
    EXPR_VAR, /* x, (+) */
    EXPR_CON, /* Node, (:), True */
    EXPR_LIT,
    EXPR_APP,       /* f a b: parts[0] applied to the rest; `a + b` is APP of VAR + */
    EXPR_CHAIN,     /* a + b * c before fixity resolution; see CtChain */
    EXPR_NEG,       /* -e: parts[0] */
    EXPR_LAM,       /* \p q -> e: pats, parts[0] */
    EXPR_LET,       /* let decls in e: decls, parts[0] */
    EXPR_IF,        /* parts[0..2] */
    EXPR_CASE,      /* case parts[0] of alts */
    EXPR_TUPLE,     /* (a, b); () has no parts */
    EXPR_TUPLE_CON, /* (,) (,,): tuple_size */
    EXPR_LIST,      /* [a, b]; [] has no parts */
    EXPR_ARRAY,     /* [|a, b|] */
    EXPR_RANGE,     /* [a ..], [a, b ..], [a .. c], [a, b .. c]: parts[0] from, [1] then, [2] to; NULL where absent */
    EXPR_LEFT_SECTION,  /* (a +): parts[0] = a, parts[1] = operator (VAR or CON) */
    EXPR_RIGHT_SECTION, /* (+ a): parts[0] = operator, parts[1] = a */
    EXPR_ANNOT,         /* e :: t */
    EXPR_RECORD,        /* Con { f = e }: parts[0] = CON, then values beside fields */
    EXPR_UPDATE,        /* e { f = e }: parts[0], then values beside fields */
    EXPR_COMPREHENSION, /* [e | stmts]: parts[0], stmts */
    EXPR_DO,            /* do stmts */
    EXPR_POLY,          /* made by inference: parts[0], of a type of higher rank, whose variables are inst */
} CtExprKind;

typedef struct CtStmt CtStmt;

/* One alternative of a right-hand side: `| guards = body`, or `= body` without guards. */
typedef struct CtGuarded {
    CtStmt *guards; /* boolean conditions, and pattern guards `p <- e`, `let`; none: always taken */
    uint32_t guard_count;
    CtExpr *body;
    CtSourceRange range;
} CtGuarded;

/* A group of declarations in scope of each other. Parsing fills the first three fields; inference the last. */
typedef struct CtDecls {
    CtDecl *items; /* in source order */
    uint32_t count;
    /* The binding groups in dependency order, each a strongly connected component (inference). */
    struct CtBindingGroup *groups;
    uint32_t group_count;
} CtDecls;

/* A right-hand side: guarded alternatives in source order, and the `where` declarations that scope over all of them. */
typedef struct CtRhs {
    CtGuarded *guarded;
    uint32_t guarded_count;
    CtDecls where;
} CtRhs;

typedef struct CtAlt {
    CtPat *pat;
    CtRhs rhs;
    CtSourceRange range;
} CtAlt;

typedef enum CtStmtKind { STMT_EXPR, STMT_BIND, STMT_LET } CtStmtKind;
struct CtStmt {
    CtStmtKind kind;
    CtPat *pat;    /* BIND */
    CtExpr *expr;  /* EXPR, BIND */
    CtDecls decls; /* LET */
    CtSourceRange range;
};

/* The types behind a name, in `read @Int`: of its type variables, in their order (TypeApplications). */
typedef struct CtTypeArgs {
    CtQualType *types; /* without contexts; the type NULL: `@_` */
    uint32_t count;
} CtTypeArgs;

/* Programs contain many expressions, so fields that only some kinds need share memory. */
struct CtExpr {
    CtExprKind kind;
    bool parenthesised; /* written in parentheses: fixity resolution must not look inside */
    bool is_operand;    /* ARRAY: inference has put an operand with fewer axes into it */
    bool rest;          /* RECORD: `..`, the fields that local variables are named after; inference adds them */
    CtSourceRange range;
    uint32_t part_count;
    CtExpr **parts;
    union {
        CtName name;   /* VAR, CON */
        CtLit lit;     /* LIT */
        CtDecls decls; /* LET */
        struct {       /* LAM */
            CtPat **pats;
            uint32_t pat_count;
        };
        struct { /* CASE */
            CtAlt *alts;
            uint32_t alt_count;
        };
        struct { /* COMPREHENSION, DO */
            CtStmt *stmts;
            uint32_t stmt_count;
        };
        struct { /* operands, operators and prefix minuses in source order */
            struct CtChainItem *chain;
            uint32_t chain_count;
        };
        CtName *fields;      /* RECORD, UPDATE: names beside parts[1..] */
        CtQualType *annot;   /* ANNOT */
        uint32_t tuple_size; /* TUPLE_CON */
    };
    CtTypeArgs *at; /* VAR, CON: NULL: no types are given */
    /* inference */
    uint32_t inst_count;
    bool grows; /* VAR: polymorphic recursion, at types larger than those of the binding around it */
    struct CtTy *type;
    struct CtEntity *entity; /* VAR: what the name means. Forms with a hidden function: LIT_INT fromInt, LIT_FRACTION
                                fromDouble, NEG negate, RANGE enumFrom, enumFromThen, enumFromTo, enumFromThenTo */
    struct CtDataCon *con;   /* CON, RECORD */
    struct CtTy **inst;      /* the types that instantiate the type scheme's quantified variables, in their order (CON:
                                the parameters of its data type, and its own). NULL in the recursive binding group that
                                defines the      entity, where the use has the group's own type variables */
};

/* One item of an operator chain: an operand, an infix operator, or a prefix minus. */
typedef struct CtChainItem {
    enum { CHAIN_OPERAND, CHAIN_OPERATOR, CHAIN_MINUS } kind;
    CtExpr *expr; /* OPERAND; OPERATOR: a VAR or CON expression */
    CtSourceRange range;
} CtChainItem;

/* ---- declarations ---- */

typedef struct CtClause { /* f p q | g = e where … */
    CtPat **pats;
    uint32_t pat_count;
    CtRhs rhs;
    CtSourceRange range;
} CtClause;

/* A function (name and clauses, all with as many patterns) or a pattern binding (pat, one clause without patterns). A
 * variable bound without patterns, `x = e`, is a function of no patterns. */
struct CtBinding {
    CtName name; /* text NULL for a pattern binding */
    CtPat *pat;  /* pattern bindings */
    CtClause *clauses;
    uint32_t clause_count;
    CtSourceRange range;
    CtQualType *signature; /* the signature given for it, or NULL (filled by inference for functions) */
    CtSourceRange signature_range;
    bool made;      /* generated by the compiler: a field selector, a derived method */
    bool is_stream; /* of a list without end, as it is taken (types/streams.c) */
    bool is_knot;   /* of one that is made of itself */
    /* inference */
    struct CtEntity *entity; /* functions: the variable bound */
    bool bang;               /* !x = …: evaluated also where nothing uses it */
};

typedef struct CtBindingGroup {
    CtBinding **bindings;
    uint32_t count;
    bool recursive;
    bool circular; /* recursive, or so through bindings with signatures, which have groups of their own */
    /* inference: the rigid variables over which the whole group is generalised (types.h); each member's scheme lists
     * them all, in this order */
    struct CtTy **generics;
    uint32_t generic_count;
} CtBindingGroup;

typedef enum CtFixityKind { FIXITY_LEFT, FIXITY_RIGHT, FIXITY_NONE } CtFixityKind;

/* One item of an import or export list: x, T, T(..), T(A, b), module M. */
typedef struct CtItem {
    CtName name;
    bool is_module;  /* export lists: the name is a module's */
    bool is_pattern; /* pattern C: a constructor without its type */
    bool all;        /* T(..) */
    bool bracketed;  /* T(..), T(A, b) or T(): a type or class, no constructor */
    CtName *parts;   /* T(A, b) */
    uint32_t part_count;
    CtSourceRange range;
} CtItem;

typedef struct CtConDecl {
    CtName name;
    CtTypeExpr **fields;
    uint32_t field_count;
    CtName *field_names; /* NULL unless a record */
    uint64_t strict;     /* by bits: the first fields that have a `!` */
    bool infix;          /* declared as an infix operator; derived Show prints it infix */
    CtName *exists;      /* the variables of `forall` in front of it */
    uint32_t exist_count;
    bool by_type;          /* declared by its type: the variables in it are its own, without `forall` */
    CtConstraint *context; /* what holds of the variables in it */
    uint32_t context_count;
    CtTypeExpr **equal; /* by_type: for each parameter of the data type, the type that it has to be, or NULL */
    CtSourceRange range;
} CtConDecl;

typedef enum CtDeclKind {
    DECL_BINDING,
    DECL_SIGNATURE, /* names :: type */
    DECL_FIXITY,    /* infixl 6 +, `op` */
    DECL_DATA,      /* and newtype */
    DECL_SYNONYM,   /* type T a = … */
    DECL_CLASS,     /* class (Eq a) => Ord a where decls */
    DECL_INSTANCE,  /* instance Eq a => Eq [a] where decls */
    DECL_DERIVING,  /* deriving instance Show T */
    DECL_DEFAULT,   /* default (Int, Double) */
    DECL_PRIMITIVE, /* primitive "add" plusDouble :: Double -> Double -> Double; libraries only */
    DECL_IMPORT,
} CtDeclKind;

struct CtDecl {
    CtDeclKind kind;
    CtSourceRange range;
    CtBinding *binding;
    CtName *names; /* SIGNATURE, FIXITY: the names that it is for; PRIMITIVE: its one name */
    uint32_t name_count;
    CtQualType type; /* SIGNATURE, PRIMITIVE; SYNONYM (no context); INSTANCE: its context, and the type of `head`;
                        DEFAULT: the types, as a tuple */
    CtFixityKind fixity;
    int precedence;
    CtName name;    /* DATA, SYNONYM, CLASS: what is declared; INSTANCE, DERIVING: the class; IMPORT: the module */
    CtName *params; /* DATA, SYNONYM, CLASS: type variables */
    uint32_t param_count;
    uint32_t determines; /* CLASS: the index of the parameter that determines the others */
    CtTypeExpr **head;   /* INSTANCE, DERIVING: the types that it is for */
    uint32_t head_count;
    bool is_newtype;
    CtConDecl *cons; /* DATA */
    uint32_t con_count;
    CtConstraint *deriving; /* DATA: the classes, with the types for all but the last of their parameters */
    uint32_t deriving_count;
    CtConstraint *supers; /* CLASS */
    uint32_t super_count;
    CtDecls body;                     /* CLASS, INSTANCE */
    const char *primitive;            /* PRIMITIVE: the operation's name */
    bool qualified, hiding, has_list; /* IMPORT */
    CtSym alias;                      /* IMPORT … as; NULL */
    CtItem *items;                    /* IMPORT … (items) */
    uint32_t item_count;
    struct CtTyCon *tycon; /* DATA, SYNONYM: inference */
    void *instance;        /* CLASS: CtClass, INSTANCE: CtInstance (types.h): inference */
};

typedef struct CtModule {
    CtName name; /* Main when not given */
    CtItem *exports;
    uint32_t export_count;
    bool has_exports;
    CtDecls decls;  /* imports come first */
    bool continues; /* extends the scope of the previous module, as an input at the prompt does */
    uint32_t source;
} CtModule;

/* ---- what this folder does ---- */

/* Reads one source: lexes (UTF-8 checked), applies the layout rule, parses, groups adjacent clauses into bindings.
 * Errors go to the context; several are reported, parsing resumes at the next declaration. NULL when nothing could be
 * read. Fixities are not resolved yet. Nesting deeper than 2,000 levels is an error, never a stack overflow; resolving
 * an operator chain, though, makes a tree as deep as the chain is long. */
CtModule *ct_syntax_parse_module(CtContext *context, uint32_t source);
/* Reads one expression (a `:t` or `--expr` input). */
CtExpr *ct_syntax_parse_expression(CtContext *context, uint32_t source);

/* The fixities of the operators in scope. A name without an entry is looked for in `outer`. */
typedef struct CtFixity {
    CtFixityKind kind;
    int precedence;
} CtFixity;
typedef struct CtFixities {
    CtMap table; /* CtSym of the name -> CtFixity; every name in scope has one, those without a declaration infixl 9 */
    CtMap qualified;                /* CtSym of a qualifier -> CtMap of the same kind */
    const struct CtFixities *outer; /* NULL: none */
} CtFixities;

/* Adds the names that the module defines, with their fixities, to `fixities`, then rewrites every chain in it (local
 * fixity declarations included) to applications, sections and negations. */
void ct_syntax_resolve_fixities(CtContext *context, CtFixities *fixities, CtModule *module);
void ct_syntax_resolve_expression_fixities(CtContext *context, CtFixities *fixities, CtExpr *expr);
/* A copy of an expression without chains that inference has not seen. */
CtExpr *ct_syntax_copy_expr(CtArena *arena, const CtExpr *old);
/* The fixity of a name: as `fixities` has it, or infixl 9. */
const CtFixity *ct_syntax_fixity(const CtFixities *fixities, CtName name);
/* The names that a block defines: variables, methods, constructors and fields. In the arena. */
uint32_t ct_syntax_defined_names(CtArena *arena, const CtDecls *decls, CtSym **out);

/* Formats a source: keeps its tokens, comments, blocks and line breaks, and changes indentation and spacing. False with
 * errors in the context; then the text in `out`, if any, is not to be used. */
bool ct_syntax_format_source(CtContext *context, uint32_t source, CtText *out);

/* The size of a number literal, exactly: digits · 10^exponent, without zeros at both ends; no digits: 0. */
typedef struct CtDecimal {
    const char *digits;
    int64_t exponent;
} CtDecimal;
CtDecimal ct_syntax_decimal(CtArena *arena, const CtLit *lit);
/* The Float nearest to a number literal: its Double, rounded again, may be another. */
double ct_syntax_float(CtArena *arena, const CtLit *lit);
/* The numbers of a type: two literals have the same key if they are the same number of these. The key of a small whole
 * number is itself. */
typedef enum CtNumbers { NUMBERS_EXACT, NUMBERS_DOUBLE, NUMBERS_FLOAT } CtNumbers;
uint64_t ct_syntax_number_key(CtContext *context, const CtLit *lit, CtNumbers numbers);

/* The text of a pattern or an expression as one would write it, for messages and for tests. */
void ct_syntax_print_pat(CtText *out, const CtPat *pat);
void ct_syntax_print_expr(CtText *out, const CtExpr *expr);
/* A declaration on one line, blocks in braces. */
void ct_syntax_print_decl(CtText *out, const CtDecl *decl);
/* True for operators (`+`, `:`), false for names made of letters. */
bool ct_syntax_is_operator_name(CtSym name);

#endif
