/* Decides from the tokens of an input whether it is complete: whether a bracket is open, a layout block began, or the
 * last token needs an operand. The scanner approximates the lexer; the parser reports what it gets wrong. */
#include <ctype.h>
#include <string.h>

#include "cli/repl.h"

typedef struct Scanner {
    const char *at;
    int depth;         /* number of open brackets */
    bool open;         /* a block comment is not closed */
    const char *token; /* the last token read */
    size_t length;     /* length of the last token */
} Scanner;

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '\'' || (unsigned char)c >= 0x80; }
static bool is_symbol(char c) { return c != '\0' && strchr("!#$%&*+./<=>?@\\^|-~:", c) != NULL; }

static void skip_comment(Scanner *s) {
    int depth = 0;
    do {
        if (strncmp(s->at, "{-", 2) == 0) {
            depth++;
            s->at += 2;
        } else if (strncmp(s->at, "-}", 2) == 0) {
            depth--;
            s->at += 2;
        } else {
            s->at++;
        }
    } while (depth > 0 && *s->at != '\0');
    s->open = depth > 0;
}

/* Skips a string literal or a character literal. */
static void skip_quoted(Scanner *s) {
    char quote = *s->at++;
    while (*s->at != '\0' && *s->at != quote && *s->at != '\n') s->at += s->at[0] == '\\' && s->at[1] != '\0' ? 2 : 1;
    if (*s->at == quote) s->at++;
}

static bool is_line_comment(const char *at) {
    size_t dashes = strspn(at, "-");
    return dashes >= 2 && !is_symbol(at[dashes]);
}

/* Reads the next token, after comments and blanks. Returns false at the end of the text. */
static bool next(Scanner *s) {
    for (;;) {
        s->at += strspn(s->at, " \t\r\n");
        if (strncmp(s->at, "{-", 2) == 0)
            skip_comment(s);
        else if (is_line_comment(s->at))
            s->at += strcspn(s->at, "\n");
        else
            break;
    }
    if (*s->at == '\0') return false;
    s->token = s->at;
    if (is_word(*s->at) && *s->at != '\'') {
        while (is_word(*s->at)) s->at++;
    } else if (*s->at == '"' || *s->at == '\'') {
        skip_quoted(s);
    } else if (is_symbol(*s->at)) {
        while (is_symbol(*s->at) && !(s->at[0] == '|' && s->at[1] == ']')) s->at++;
        if (s->at == s->token) s->at += 1; /* the bar of the bracket |] */
    } else {
        if (strchr("([{", *s->at) != NULL) s->depth++;
        if (strchr(")]}", *s->at) != NULL) s->depth--;
        s->at++;
    }
    s->length = (size_t)(s->at - s->token);
    return true;
}

static bool ends_with(const Scanner *s, const char *const *words) {
    for (; *words != NULL; words++)
        if (strlen(*words) == s->length && strncmp(s->token, *words, s->length) == 0) return true;
    return false;
}

Scan cli_repl_scan(const char *text) {
    static const char *const blocks[] = {"where", "of", "let", "do", NULL};
    static const char *const opening[] = {"=", "->", "<-", "=>", "::", "then", "else", "if", "in", "case", "|",
                                          "+", "-",  "*",  "/",  "$",  ".",    "++",   "&&", "||", "\\",   NULL};
    Scanner s = {.at = text, .token = text};
    while (next(&s)) continue;
    if (s.depth > 0 || s.open) return SCAN_BRACKET;
    if (ends_with(&s, blocks)) return SCAN_BLOCK;
    return ends_with(&s, opening) ? SCAN_MORE : SCAN_WHOLE;
}

bool cli_repl_is_blank(const char *text) {
    Scanner s = {.at = text};
    return !next(&s) && !s.open;
}

size_t cli_repl_signature(const char *text) {
    Scanner s = {.at = text};
    if (!next(&s) || s.token != text) return 0;
    size_t length = s.length;
    if (*text == '(') {
        if (!next(&s) || !is_symbol(*s.token) || !next(&s) || *s.token != ')') return 0;
        length = (size_t)(s.at - text);
    } else if (!(islower((unsigned char)*text) || *text == '_')) {
        return 0;
    }
    if (!next(&s) || s.length != 2 || strncmp(s.token, "::", 2) != 0) return 0;
    while (next(&s)) /* `=` or `;` shows that a definition follows the signature */
        if (s.length == 1 && (*s.token == '=' || *s.token == ';')) return 0;
    return length;
}

/* Extends the last token to a whole qualified name, or to a whole number with its fraction and exponent. */
static void whole_word(Scanner *s) {
    bool number = isdigit((unsigned char)*s->token);
    for (; is_word(*s->at) || *s->at == '.' || (*s->at == '-' && number && tolower((unsigned char)s->at[-1]) == 'e');
         s->at++)
        continue;
}

bool cli_repl_operand(const char **text, const char **start, size_t *length) {
    Scanner s = {.at = *text};
    if (!next(&s)) return false;
    *start = s.token;
    if (s.length == 1 && *s.token == '-' && isdigit((unsigned char)*s.at)) next(&s);
    if (is_word(*s.token) && *s.token != '\'') whole_word(&s);
    while (s.depth > 0 && next(&s)) continue;
    *length = (size_t)(s.at - *start);
    *text = s.at;
    return true;
}
