/* The formatter's spaces: whether a blank stands between two tokens of a line. */
#include "syntax/format.h"

static bool is_opening(uint8_t kind) { return kind == TOKEN_LPAREN || kind == TOKEN_LBRACKET || kind == TOKEN_LARRAY; }

static bool is_closing(uint8_t kind) { return kind == TOKEN_RPAREN || kind == TOKEN_RBRACKET || kind == TOKEN_RARRAY; }

/* Whether a token is made of symbol characters: two such tokens without a blank between would be read as one. */
static bool is_symbolic(uint8_t kind) {
    switch ((CtTokenKind)kind) {
    case TOKEN_VARSYM:
    case TOKEN_CONSYM:
    case TOKEN_MINUS:
    case TOKEN_BANG:
    case TOKEN_DOTDOT:
    case TOKEN_DCOLON:
    case TOKEN_EQUALS:
    case TOKEN_BACKSLASH:
    case TOKEN_BAR:
    case TOKEN_LARROW:
    case TOKEN_RARROW:
    case TOKEN_AT:
    case TOKEN_TILDE:
    case TOKEN_DARROW: return true;
    default: return false;
    }
}

/* Whether a token can end an operand. A minus after any other token is a negation, not a subtraction. */
static bool ends_operand(uint8_t kind) {
    switch ((CtTokenKind)kind) {
    case TOKEN_VARID:
    case TOKEN_CONID:
    case TOKEN_INT:
    case TOKEN_FRACTION:
    case TOKEN_CHAR:
    case TOKEN_STRING:
    case TOKEN_RPAREN:
    case TOKEN_RBRACKET:
    case TOKEN_RARRAY:
    case TOKEN_RBRACE:
    case TOKEN_BACKQUOTE:
    case TOKEN_UNDERSCORE: return true;
    default: return false;
    }
}

/* Whether a token is `~`, or a `!` that the blanks around it in the source show to be a prefix and not an operator. */
static bool is_prefix(const CtSpacing *s, uint32_t token) {
    const CtToken *t = &s->tokens[token];
    if (t->kind == TOKEN_TILDE) return true;
    if (t->kind != TOKEN_BANG) return false;
    bool touches_next = t[1].start == t->end;
    bool touches_last = token > 0 && t[-1].end == t->start;
    return touches_next && (!touches_last || !ends_operand(t[-1].kind));
}

static bool is_sign(const CtSpacing *s, uint32_t token) {
    const CtToken *t = &s->tokens[token];
    return t->kind == TOKEN_MINUS && (token == 0 || !ends_operand(t[-1].kind));
}

/* Whether a bracket and its partner are on different lines: then the author's blanks inside the bracket are kept. */
static bool spans_lines(const CtSpacing *s, uint32_t bracket) {
    uint32_t other = s->tokens[bracket].match;
    if (other == CT_NO_TOKEN) return false;
    uint32_t from = bracket < other ? bracket : other, to = bracket < other ? other : bracket;
    for (uint32_t i = from + 1; i <= to; i++)
        if (s->tokens[i].first_on_line) return true;
    return false;
}

/* Whether a token is the dot behind the variables of a `forall`. */
static bool is_dot_of_forall(const CtSpacing *s, uint32_t token) {
    const CtToken *t = &s->tokens[token];
    if (t->kind != TOKEN_VARSYM || t->is_qualified || strcmp(t->name->text, ".") != 0) return false;
    for (uint32_t i = token; i > 0;) {
        const CtToken *before = &s->tokens[--i];
        if (before->kind == TOKEN_RPAREN && before->match < i)
            i = before->match; /* (f :: * -> *) */
        else if (before->kind != TOKEN_VARID || before->is_qualified)
            return false;
        else if (strcmp(before->name->text, "forall") == 0)
            return i + 1 < token;
    }
    return false;
}

static bool wanted(const CtSpacing *s, uint32_t token) {
    const CtToken *a = &s->tokens[token - 1], *b = &s->tokens[token];
    bool touched = a->end == b->start;
    if (b->kind == TOKEN_COMMA || b->kind == TOKEN_SEMICOLON)
        return a->kind == TOKEN_SEMICOLON || a->kind == TOKEN_LBRACE;
    if (is_opening(a->kind)) return !touched && spans_lines(s, token - 1);
    if (is_closing(b->kind)) return !touched && spans_lines(s, token);
    if (a->kind == TOKEN_COMMA && b->kind == TOKEN_COMMA) return false;
    if (a->kind == TOKEN_LBRACE && b->kind == TOKEN_RBRACE) return false;
    if (a->kind == TOKEN_AT) return false;
    if (b->kind == TOKEN_AT) return !touched && b[1].start == b->end; /* `read @Int`, not `x@p` */
    if (a->kind == TOKEN_BACKSLASH) return false;
    if (is_prefix(s, token - 1)) return false;
    if (is_dot_of_forall(s, token)) return false;
    if (is_sign(s, token - 1)) return !touched && !(token > 1 && is_opening(a[-1].kind));
    if (a->kind == TOKEN_BACKQUOTE && s->backquotes % 2 == 1) return false;
    if (b->kind == TOKEN_BACKQUOTE && s->backquotes % 2 == 1) return false;
    /* T(..), T(A, b), C.(+) in lists of imports and exports */
    if (s->in_list && b->kind == TOKEN_LPAREN && a->kind == TOKEN_CONID && touched) return false;
    return true;
}

bool ct_syntax_format_space(const CtSpacing *s, uint32_t token) {
    const CtToken *a = &s->tokens[token - 1], *b = &s->tokens[token];
    if (wanted(s, token)) return true;
    return a->end != b->start && is_symbolic(a->kind) && is_symbolic(b->kind);
}
