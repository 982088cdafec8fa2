/* Private to the folder: tokens, the parser's state and what its files share.
 *
 * The path inside the folder: lexer.c (and literal.c) make an array of tokens; layout_rule.c reads it with the layout
 * rule applied on the fly, because the rule's parse-error(t) clause asks the parser; parse_*.c build the tree; fixity.c
 * rewrites operator chains; number.c evaluates number literals; print.c prints.
 */
#ifndef CT_SYNTAX_INTERNAL_H
#define CT_SYNTAX_INTERNAL_H

#include <setjmp.h>

#include "syntax/syntax.h"

typedef enum CtTokenKind {
    TOKEN_END,       /* of the source */
    TOKEN_NEXT_LINE, /* made by layout: `;` before a line at the block's column */
    TOKEN_DEDENT,    /* made by layout: `}` before a line left of the block's column */
    TOKEN_VARID,     /* x; qualified or not, as the next three */
    TOKEN_CONID,
    TOKEN_VARSYM, /* + */
    TOKEN_CONSYM, /* : :+ */
    TOKEN_MINUS,  /* the operators `-` and `!` also start a negation, a strict pattern */
    TOKEN_BANG,
    TOKEN_INT,
    TOKEN_FRACTION,
    TOKEN_CHAR,
    TOKEN_STRING,
    TOKEN_LPAREN, /* each opening bracket is followed by the one that closes it */
    TOKEN_RPAREN,
    TOKEN_LBRACKET,
    TOKEN_RBRACKET,
    TOKEN_LARRAY, /* [| */
    TOKEN_RARRAY,
    TOKEN_LBRACE,
    TOKEN_RBRACE,
    TOKEN_COMMA,
    TOKEN_SEMICOLON,
    TOKEN_BACKQUOTE,
    TOKEN_DOTDOT,
    TOKEN_DCOLON,
    TOKEN_EQUALS,
    TOKEN_BACKSLASH,
    TOKEN_BAR,
    TOKEN_LARROW,
    TOKEN_RARROW,
    TOKEN_AT,
    TOKEN_TILDE,
    TOKEN_DARROW,
    TOKEN_UNDERSCORE,
    TOKEN_CASE, /* keywords from here on */
    TOKEN_CLASS,
    TOKEN_DATA,
    TOKEN_DERIVING,
    TOKEN_DO,
    TOKEN_ELSE,
    TOKEN_IF,
    TOKEN_IMPORT,
    TOKEN_IN,
    TOKEN_INFIX,
    TOKEN_INFIXL,
    TOKEN_INFIXR,
    TOKEN_INSTANCE,
    TOKEN_LET,
    TOKEN_MODULE,
    TOKEN_NEWTYPE,
    TOKEN_OF,
    TOKEN_THEN,
    TOKEN_TYPE,
    TOKEN_WHERE,
    TOKEN_PRIMITIVE, /* in library sources only; elsewhere an identifier */
} CtTokenKind;

typedef struct CtQualified {
    CtSym module, text;
} CtQualified;

typedef struct CtString {
    const char *text;
    size_t length;
} CtString;

enum { CT_NO_TOKEN = UINT32_MAX };

typedef struct CtToken {
    uint32_t start, end;
    uint32_t column; /* from 1, tabs to multiples of 8, as the layout rule counts */
    uint32_t match;  /* brackets: the token of the other one, or CT_NO_TOKEN */
    union {
        CtSym name;                   /* names */
        const CtQualified *qualified; /* qualified names */
        uint64_t integer;             /* INT, CHAR */
        double fraction;
        const CtString *string;
    };
    uint8_t kind;
    bool first_on_line;
    bool is_qualified;
} CtToken;

typedef CT_VEC(CtToken) CtTokens;

/* A comment, for the formatter, without trailing blanks. */
typedef struct CtComment {
    uint32_t start, end, column;
} CtComment;
typedef CT_VEC(CtComment) CtComments;

/* Reads all tokens of a source, the last one TOKEN_END. Errors are reported in the context, and faulty text is skipped.
 * `cut_short`: an error hides the rest of the source, so that reaching its end is no further error. */
CtTokens ct_syntax_lex(CtContext *context, uint32_t source, bool *cut_short, CtComments *comments); /* NULL: not kept */

/* ---- lexing, between lexer.c and literal.c ---- */

typedef struct CtLexer {
    CtContext *context;
    uint32_t source;
    const char *text;
    uint32_t length, at;
    uint32_t line_start;
    int64_t column_shift; /* column = offset in line + 1 + this: tabs add, bytes within characters subtract */
    CtTokens tokens;
    CT_VEC(uint32_t) open; /* brackets not closed yet */
    CtText scratch;        /* the string being read */
    CtComments *comments;  /* or NULL */
    bool cut_short;
} CtLexer;

enum { CT_BAD_CHARACTER = 0x110000 };
/* The character at `at` and its size in bytes; CT_BAD_CHARACTER (and the size to skip) when it is not UTF-8. */
uint32_t ct_syntax_lex_decode(const CtLexer *lexer, uint32_t at, uint32_t *size);
/* Steps over one character of a string or comment, keeping lines and columns. */
void ct_syntax_lex_step(CtLexer *lexer);
CtSourceRange ct_syntax_lex_range(const CtLexer *lexer, uint32_t start);
/* Each reads one literal at `at`, fills the token's kind and value and moves `at` behind it. */
void ct_syntax_lex_number(CtLexer *lexer, CtToken *token);
void ct_syntax_lex_char(CtLexer *lexer, CtToken *token);
void ct_syntax_lex_string(CtLexer *lexer, CtToken *token);

/* ---- the parser ---- */

enum { CT_NESTING_LIMIT = 2000 };

/* A list under construction. Lists nest like calls and all use one stack; each becomes an array of exactly its size. */
typedef struct CtList {
    size_t before, mark; /* the stack's top before the list began, and where the list's items begin */
    uint32_t item_size, count;
} CtList;

/* The effect of the layout rule, for the formatter: where blocks, with or without braces, begin and end, and where
 * their items begin. */
typedef enum CtMarkKind { MARK_OPEN, MARK_BRACES, MARK_ITEM, MARK_CLOSE } CtMarkKind;
typedef struct CtMark {
    uint32_t token; /* the mark stands before this token */
    CtMarkKind kind;
} CtMark;
typedef CT_VEC(CtMark) CtLayoutMarks;

typedef struct CtParser {
    CtContext *context;
    uint32_t source;
    CtToken *tokens;
    uint32_t token_count, token_room;
    uint32_t at;       /* index of the next source token */
    CtTokenKind kind;  /* what the parser sees next: that token's kind, or a kind that layout inserted before it */
    bool fresh;        /* the next token is the first of its line, and layout has not yet acted on it */
    uint32_t last_end; /* where the last token that was read ends */
    CT_VEC(uint32_t) blocks; /* columns of the layout blocks that are open; 0: a block in braces */
    uint32_t guards;         /* so many are open in the innermost block of guards of `if`, whose items begin with `|` */
    uint32_t depth;          /* of nesting, at most CT_NESTING_LIMIT */
    uint32_t open;           /* the token of the innermost open bracket, or CT_NO_TOKEN */
    char *stack;             /* of the lists being built */
    size_t stack_top, stack_size;
    jmp_buf *recover;     /* jump target of a syntax error */
    uint32_t last_error;  /* the token of the last syntax error: each token gets at most one */
    uint32_t declaration; /* the first token of the declaration being parsed */
    uint32_t misplaced;   /* first token of a line indented too little: errors of a "declaration" there are dropped */
    bool braces;          /* braces of another language have been reported, so `}` is not reported again */
    uint32_t dedented, dedent_column; /* first token of the latest line to end a block; that block's column */
    CtSym word_as, word_hiding, word_qualified;
    CtLayoutMarks *marks; /* or NULL */
} CtParser;

/* Tokens, comments and layout of a source that has no syntax errors; false with errors in the context. */
typedef struct CtOutline {
    CtTokens tokens;
    CtComments comments;
    CtLayoutMarks marks;
} CtOutline;
bool ct_syntax_parse_outline(CtContext *context, uint32_t source, CtOutline *out);

void ct_syntax_list_begin(CtParser *p, CtList *list, size_t item_size);
void *ct_syntax_list_slot(CtParser *p, CtList *list);
/* The finished array, in the arena; NULL when empty. */
void *ct_syntax_list_end(CtParser *p, CtList *list);

#define CT_LIST_ADD(p, list, T, ...)                                                                                   \
    do {                                                                                                               \
        T item_ = __VA_ARGS__; /* first: it may build lists of its own */                                              \
        *(T *)ct_syntax_list_slot((p), (list)) = item_;                                                                \
    } while (0)

/* ---- reading tokens: layout_rule.c ---- */

static inline const CtToken *ct_syntax_token(const CtParser *p) { return &p->tokens[p->at]; }
static inline const CtToken *ct_syntax_token_after(const CtParser *p, uint32_t n) {
    return p->at + n < p->token_count ? &p->tokens[p->at + n] : &p->tokens[p->token_count - 1];
}

void ct_syntax_advance(CtParser *p);
/* Recomputes `kind`; to be called after `blocks`, `at` or `fresh` has changed. */
void ct_syntax_settle(CtParser *p);

/* A layout block, in braces or by indentation:
 *     CtBlock block = ct_syntax_block_open(p);
 *     while (ct_syntax_block_next(p, &block)) item(p);
 */
typedef struct CtBlock {
    bool in_braces, is_empty, started;
    uint32_t opened; /* the brace's token */
    uint32_t outer_open;
} CtBlock;

CtBlock ct_syntax_block_open(CtParser *p);
void ct_syntax_mark(CtParser *p, CtMarkKind kind);
/* True when another item follows; else the block is closed, by layout, a brace or the parse-error(t) rule. */
bool ct_syntax_block_next(CtParser *p, CtBlock *block);
/* Ends a block without braces that is not read by ct_syntax_block_next. */
void ct_syntax_block_close(CtParser *p);

/* ---- errors: parse.c ---- */

/* Reports "expected …, found …" at the next token, and jumps to the next declaration. */
_Noreturn void ct_syntax_fail(CtParser *p, const char *expected);
_Noreturn void ct_syntax_fail_help(CtParser *p, const char *expected, const char *help);
/* Jumps to the next declaration after a reported error. */
_Noreturn void ct_syntax_leave_declaration(CtParser *p);
/* foreign.c: ct_syntax_report_foreign reports syntax of another language, and returns true if it did.
 * ct_syntax_suggest_syntax returns a help text that is more specific than `help`, or `help` itself. */
bool ct_syntax_report_foreign(CtParser *p);
const char *ct_syntax_suggest_syntax(CtParser *p, const char *expected, const char *help);
void ct_syntax_expect(CtParser *p, CtTokenKind kind, const char *expected);
bool ct_syntax_accept(CtParser *p, CtTokenKind kind);
/* Counts nesting, so that no source can overflow the C stack; each ct_syntax_enter needs a ct_syntax_leave. */
void ct_syntax_enter(CtParser *p);
static inline void ct_syntax_leave(CtParser *p) { p->depth--; }

/* ct_syntax_bracket_open reads an opening bracket and returns the enclosing one, which ct_syntax_bracket_close takes as
 * `outer`. ct_syntax_bracket_close reads the closing bracket, or fails with a note at the opening one. */
uint32_t ct_syntax_bracket_open(CtParser *p);
void ct_syntax_bracket_close(CtParser *p, CtTokenKind closing, uint32_t outer);

static inline CtSourceRange ct_syntax_range_here(const CtParser *p) {
    return (CtSourceRange){p->source, ct_syntax_token(p)->start, ct_syntax_token(p)->end};
}
/* From `start` to the end of the last token read. */
static inline CtSourceRange ct_syntax_range_from(const CtParser *p, uint32_t start) {
    return (CtSourceRange){p->source, start, p->last_end > start ? p->last_end : start};
}

/* ---- the grammar: parse_*.c ---- */

CtName ct_syntax_token_name(const CtParser *p, const CtToken *token);
bool ct_syntax_is_operator(CtTokenKind kind); /* starts an infix operator */
bool ct_syntax_is_constructor_operator(const CtParser *p);
bool ct_syntax_is_variable_operator(const CtParser *p);
CtName ct_syntax_parse_operator(CtParser *p, bool *is_con); /* + :+ `f` `C` */
bool ct_syntax_at_variable(const CtParser *p);              /* x or (+), unqualified */
CtName ct_syntax_parse_variable(CtParser *p);
CtName ct_syntax_parse_field(CtParser *p); /* as it stands in a construction, an update or a pattern */
CtLit ct_syntax_parse_literal(CtParser *p);
double ct_syntax_large_double(CtArena *arena, const CtLit *lit); /* nearest to the digits of a literal */

CtExpr *ct_syntax_expr_new(CtParser *p, CtExprKind kind, CtSourceRange range);
/* A parameter that no program can name, by its number from 0, and its use as an expression. */
CtPat *ct_syntax_parameter(CtParser *p, CtSourceRange range, uint32_t number, CtExpr **use);
CtExpr *ct_syntax_parse_expr(CtParser *p);
/* The pattern n + 3, if `+ 3` stands behind the variable n; else the pattern itself. */
CtPat *ct_syntax_successor(CtParser *p, CtPat *pat);
CtExpr *ct_syntax_parse_chain(CtParser *p, bool section);
CtExpr *ct_syntax_parse_bracketed(CtParser *p);
CtExpr *ct_syntax_parse_operator_expr(CtParser *p);
CtExpr *ct_syntax_parse_annotation(CtParser *p, CtExpr *expr);    /* [:: type] behind it */
CtStmt *ct_syntax_parse_qualifiers(CtParser *p, uint32_t *count); /* after `|` */
void ct_syntax_parse_rhs(CtParser *p, CtTokenKind separator, CtRhs *rhs);

CtPat *ct_syntax_parse_pat(CtParser *p);
CtPat *ct_syntax_parse_apat(CtParser *p);
bool ct_syntax_at_apat(const CtParser *p);
bool ct_syntax_starts_apat(const CtParser *p, uint32_t token);

CtTypeExpr *ct_syntax_parse_type(CtParser *p);
CtTypeExpr *ct_syntax_parse_btype(CtParser *p);
CtTypeExpr *ct_syntax_parse_atype(CtParser *p);
bool ct_syntax_at_atype(const CtParser *p);
/* A class applied to types: false for another type. */
bool ct_syntax_class_applied(CtParser *p, CtTypeExpr *type, CtConstraint *out);
CtQualType ct_syntax_parse_qual_type(CtParser *p);
/* forall tyvar … . if that stands here. */
bool ct_syntax_accept_forall(CtParser *p, CtName **names, uint32_t *count);
/* The constraints that a type in front of => is read as. */
void ct_syntax_context_of(CtParser *p, CtTypeExpr *context, CtConstraint **out, uint32_t *count);

/* parse_gadt.c: the constructors of a data type, and perhaps `deriving`, from `where` on. */
/* [!], in front of the type of the constructor's next field */
bool ct_syntax_accept_strict(CtParser *p, CtConDecl *con, uint32_t field);
/* { var , … :: [!] type , … } */
void ct_syntax_parse_record_fields(CtParser *p, CtConDecl *con);
void ct_syntax_parse_gadt(CtParser *p, CtDecl *decl);
void ct_syntax_parse_deriving(CtParser *p, CtDecl *decl); /* behind `deriving` */
void ct_syntax_parse_decls(CtParser *p, CtDecls *decls);  /* a block of declarations, after `let` or `where` */
/* Reads one signature, fixity declaration or clause into `list` of CtDecl. */
void ct_syntax_parse_decl(CtParser *p, CtList *list);
void ct_syntax_parse_top_decl(CtParser *p, CtList *list);
/* Reads one declaration by `parse`; after an error, continues at the next declaration. */
void ct_syntax_parse_guarded(CtParser *p, void (*parse)(CtParser *, CtList *), CtList *list);
CtName ct_syntax_parse_module_name(CtParser *p);
CtItem *ct_syntax_parse_items(CtParser *p, uint32_t *count); /* (f, T(..), (+)) of an import or export */

#endif
