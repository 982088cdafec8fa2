/* Literals: numbers, characters and strings, as Haskell 98 §2.5 and §2.6 write them. */
#include "syntax/internal.h"

#include <math.h>
#include <stdlib.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static int digit_value(char c) { /* 99: not a digit */
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

/* ---- numbers ---- */

/* Whether a digit stands here, or underscores between digits: 1_000. */
static bool in_number(const char *text, int base) {
    size_t underscores = strspn(text, "_");
    return digit_value(text[underscores]) < base;
}

/* Reads digits of the base, between which a number, but no escape, may have underscores; false when they do not fit in
 * 64 bits, and the value is then UINT64_MAX. */
static bool read_digits(CtLexer *lexer, int base, bool underscores, uint64_t *value) {
    bool fits = true;
    *value = 0;
    for (; in_number(lexer->text + lexer->at, base); lexer->at++) {
        if (lexer->text[lexer->at] == '_' && !underscores) break;
        if (lexer->text[lexer->at] == '_') continue;
        unsigned digit = (unsigned)digit_value(lexer->text[lexer->at]);
        if (*value > (UINT64_MAX - digit) / (unsigned)base) fits = false;
        *value = *value * (unsigned)base + digit;
    }
    if (!fits) *value = UINT64_MAX;
    return fits;
}

/* The value of the digits from `start` to `end`, read without their point, times 10^exponent. strtod gets no point
 * because it expects the decimal separator of the host's locale. */
static double decimal(CtLexer *lexer, uint32_t start, uint32_t end, int64_t exponent) {
    enum { EXACT_DIGITS = 15, EXACT_POWER = 22, LONGEST_EXPONENT = 24 };
    static const double powers[EXACT_POWER + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (end - start <= EXACT_DIGITS + 1 && exponent >= -EXACT_POWER && exponent <= EXACT_POWER) {
        uint64_t value = 0, digits = 0;
        for (uint32_t i = start; i < end; i++) {
            if (!is_digit(lexer->text[i])) continue;
            value = value * 10 + (uint64_t)(lexer->text[i] - '0');
            digits++;
        }
        if (digits <= EXACT_DIGITS) /* both operands are exact, so the result is correctly rounded */
            return exponent < 0 ? (double)value / powers[-exponent] : (double)value * powers[exponent];
    }
    char *copy = ct_alloc(lexer->context->arena, end - start + LONGEST_EXPONENT), *to = copy;
    for (uint32_t i = start; i < end; i++)
        if (is_digit(lexer->text[i])) *to++ = lexer->text[i];
    char *digits = ct_format(lexer->context->arena, "e%lld", (long long)exponent);
    memcpy(to, digits, strlen(digits) + 1);
    return strtod(copy, NULL);
}

/* Reads an exponent (e, sign, digits) at `at`; 0 when there is none. Large exponents are clamped: beyond LARGEST every
 * literal is 0 or infinite anyway. */
static int64_t read_exponent(CtLexer *lexer) {
    enum { LARGEST = 1000000000 };
    const char *text = lexer->text;
    uint32_t at = lexer->at;
    if (text[at] != 'e' && text[at] != 'E') return 0;
    at++;
    bool negative = text[at] == '-';
    if (text[at] == '-' || text[at] == '+') at++;
    if (!is_digit(text[at])) return 0; /* 1e is 1 applied to e, as in Haskell */
    int64_t exponent = 0;
    for (; is_digit(text[at]); at++)
        if (exponent < LARGEST) exponent = exponent * 10 + (text[at] - '0');
    lexer->at = at;
    return negative ? -exponent : exponent;
}

/* The most characters of an integer literal: its conversion takes the square of its length. */
enum { LONGEST_INTEGER = 10000 };

static void check_length(CtLexer *lexer, CtToken *token) {
    token->kind = TOKEN_INT;
    if (lexer->at - token->start <= LONGEST_INTEGER) return;
    ct_error(lexer->context, CT_E0107, ct_syntax_lex_range(lexer, token->start), "this integer has more than %d digits",
             LONGEST_INTEGER);
    token->integer = 0;
}

static void based_number(CtLexer *lexer, CtToken *token, int base) {
    lexer->at += 2;
    read_digits(lexer, base, true, &token->integer);
    check_length(lexer, token);
}

static int base_at(const char *s) {
    if (s[0] != '0') return 10;
    int base = s[1] == 'x' || s[1] == 'X' ? 16 : s[1] == 'o' || s[1] == 'O' ? 8 : s[1] == 'b' || s[1] == 'B' ? 2 : 10;
    return base != 10 && digit_value(s[2]) < base ? base : 10;
}

/* decimal | 0x… | 0o… | 0b… | decimal . decimal [exponent] | decimal exponent */
void ct_syntax_lex_number(CtLexer *lexer, CtToken *token) {
    uint32_t start = lexer->at;
    int base = base_at(lexer->text + start);
    if (base != 10) {
        based_number(lexer, token, base);
        return;
    }
    read_digits(lexer, 10, true, &token->integer);
    token->kind = TOKEN_INT;
    int64_t exponent = 0;
    if (lexer->text[lexer->at] == '.' && is_digit(lexer->text[lexer->at + 1])) {
        for (lexer->at++; in_number(lexer->text + lexer->at, 10); lexer->at++)
            exponent -= lexer->text[lexer->at] != '_';
        token->kind = TOKEN_FRACTION;
    }
    uint32_t end = lexer->at;
    exponent += read_exponent(lexer);
    if (lexer->at != end) token->kind = TOKEN_FRACTION;
    if (token->kind == TOKEN_FRACTION) {
        token->fraction = decimal(lexer, start, end, exponent);
        if (!isinf(token->fraction)) return;
        ct_error(lexer->context, CT_E0107, ct_syntax_lex_range(lexer, start), "this number is too large for a Double");
        token->fraction = 0;
    } else {
        check_length(lexer, token);
    }
}

/* ---- escapes ---- */

enum { NO_ESCAPE = CT_BAD_CHARACTER, EMPTY_ESCAPE = CT_BAD_CHARACTER + 1 /* \& */ };

static uint32_t bad_escape(CtLexer *lexer, uint32_t start, const char *message) {
    CtDiag *diag = ct_error(lexer->context, CT_E0105, ct_syntax_lex_range(lexer, start), "%s", message);
    ct_help(lexer->context, diag, "a backslash itself is written `\\\\`");
    return NO_ESCAPE;
}

static uint32_t numeric_escape(CtLexer *lexer, uint32_t start, int base) {
    uint64_t value;
    bool fits = read_digits(lexer, base, false, &value);
    if (fits && value < 0x110000 && (value < 0xD800 || value > 0xDFFF)) return (uint32_t)value;
    return bad_escape(lexer, start, "no character has this number");
}

/* Reads the ASCII name of an escape. The longest name wins, so \SOH stands before \SO in the table. */
static uint32_t named_escape(CtLexer *lexer, uint32_t start) {
    static const struct {
        char name[4];
        unsigned char value;
    } names[] = {
        {"SOH", 1},  {"NUL", 0},  {"STX", 2},  {"ETX", 3},  {"EOT", 4},  {"ENQ", 5},   {"ACK", 6},
        {"BEL", 7},  {"BS", 8},   {"HT", 9},   {"LF", 10},  {"VT", 11},  {"FF", 12},   {"CR", 13},
        {"SO", 14},  {"SI", 15},  {"DLE", 16}, {"DC1", 17}, {"DC2", 18}, {"DC3", 19},  {"DC4", 20},
        {"NAK", 21}, {"SYN", 22}, {"ETB", 23}, {"CAN", 24}, {"EM", 25},  {"SUB", 26},  {"ESC", 27},
        {"FS", 28},  {"GS", 29},  {"RS", 30},  {"US", 31},  {"SP", 32},  {"DEL", 127},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i].name);
        if (strncmp(lexer->text + lexer->at, names[i].name, length) != 0) continue;
        lexer->at += (uint32_t)length;
        return names[i].value;
    }
    if (lexer->at < lexer->length && lexer->text[lexer->at] != '\n') ct_syntax_lex_step(lexer);
    return bad_escape(lexer, start, "this escape is unknown");
}

/* Reads an escape sequence whose backslash, at `start`, has been read. Returns its character, EMPTY_ESCAPE or
 * NO_ESCAPE. */
static uint32_t escape(CtLexer *lexer, uint32_t start) {
    static const char letters[] = "abfnrtv\\\"'", values[] = "\a\b\f\n\r\t\v\\\"'";
    char c = lexer->text[lexer->at];
    const char *letter = c == '\0' ? NULL : strchr(letters, c);
    if (letter != NULL) {
        lexer->at++;
        return (unsigned char)values[letter - letters];
    }
    if (is_digit(c)) return numeric_escape(lexer, start, 10);
    int base = c == 'x' || c == 'X' ? 16 : c == 'o' || c == 'O' ? 8 : 10;
    if (base != 10 && digit_value(lexer->text[lexer->at + 1]) < base) {
        lexer->at++;
        return numeric_escape(lexer, start, base);
    }
    if (c == '^' && lexer->text[lexer->at + 1] >= '@' && lexer->text[lexer->at + 1] <= '_') {
        lexer->at += 2;
        return (uint32_t)(lexer->text[lexer->at - 1] - '@');
    }
    if (c == '&') {
        lexer->at++;
        return EMPTY_ESCAPE;
    }
    return named_escape(lexer, start);
}

/* Reads one character or escape sequence of a literal, not a line end; NO_ESCAPE when it is invalid. */
static uint32_t character(CtLexer *lexer) {
    uint32_t start = lexer->at, size;
    if (lexer->text[start] == '\\') {
        lexer->at++;
        return escape(lexer, start);
    }
    uint32_t c = ct_syntax_lex_decode(lexer, start, &size);
    ct_syntax_lex_step(lexer);
    return c == CT_BAD_CHARACTER ? NO_ESCAPE : c;
}

static void add_utf8(CtText *text, uint32_t c) {
    if (c < 0x80) {
        ct_text_putc(text, (char)c);
        return;
    }
    if (c < 0x800) {
        ct_text_putc(text, (char)(0xC0 | c >> 6));
    } else {
        if (c < 0x10000) {
            ct_text_putc(text, (char)(0xE0 | c >> 12));
        } else {
            ct_text_putc(text, (char)(0xF0 | c >> 18));
            ct_text_putc(text, (char)(0x80 | (c >> 12 & 0x3F)));
        }
        ct_text_putc(text, (char)(0x80 | (c >> 6 & 0x3F)));
    }
    ct_text_putc(text, (char)(0x80 | (c & 0x3F)));
}

/* ---- characters and strings ---- */

/* ' ( graphic | space | escape ) ' */
void ct_syntax_lex_char(CtLexer *lexer, CtToken *token) {
    uint32_t start = lexer->at++;
    char c = lexer->text[lexer->at];
    CtDiag *diag;
    token->kind = TOKEN_CHAR;
    if (c == '\'' && lexer->text[lexer->at + 1] != '\'') {
        lexer->at++;
        diag = ct_error(lexer->context, CT_E0106, ct_syntax_lex_range(lexer, start),
                        "a character literal cannot be empty");
        ct_help(lexer->context, diag, "the quote itself is written '\\''; an empty string is \"\"");
        return;
    }
    if (lexer->at >= lexer->length || c == '\n' || c == '\r') {
        ct_error(lexer->context, CT_E0106, ct_syntax_lex_range(lexer, start),
                 "this quote starts a character literal that does "
                 "not end");
        return;
    }
    uint32_t value = character(lexer);
    token->integer = value < CT_BAD_CHARACTER ? value : 0;
    if (lexer->text[lexer->at] == '\'') {
        lexer->at++;
        if (value != EMPTY_ESCAPE) return;
        ct_error(lexer->context, CT_E0106, ct_syntax_lex_range(lexer, start), "`\\&` is no character");
        return;
    }
    uint32_t end = lexer->at, last = end; /* 'several letters' on this line? */
    while (last < lexer->length && lexer->text[last] != '\'' && lexer->text[last] != '\n') last++;
    if (lexer->text[last] == '\'') {
        while (lexer->at <= last) ct_syntax_lex_step(lexer);
        diag = ct_error(lexer->context, CT_E0106, ct_syntax_lex_range(lexer, start),
                        "a character literal holds one character");
        ct_help(lexer->context, diag, "strings are written between double quotes");
        return;
    }
    ct_error(lexer->context, CT_E0106, (CtSourceRange){lexer->source, start, end},
             "this character literal lacks its closing "
             "quote");
}

/* A gap: \ whitespace \ inside a string. `at` is on the first space. */
static void string_gap(CtLexer *lexer, uint32_t start) {
    for (char c = lexer->text[lexer->at]; c == ' ' || c == '\t' || c == '\n' || c == '\r'; c = lexer->text[lexer->at])
        ct_syntax_lex_step(lexer);
    if (lexer->text[lexer->at] == '\\') {
        lexer->at++;
        return;
    }
    CtSourceRange opening = {lexer->source, start, start + 1};
    CtDiag *diag = ct_error(lexer->context, CT_E0105, opening, "this gap in a string does not end");
    ct_help(lexer->context, diag,
            "a string goes on over several lines with `\\` at the end of one and at the start of "
            "the next");
}

/* " ( graphic | space | escape | \& | gap )* " */
void ct_syntax_lex_string(CtLexer *lexer, CtToken *token) {
    uint32_t start = lexer->at++;
    CtText *text = &lexer->scratch;
    text->length = 0;
    token->kind = TOKEN_STRING;
    uint32_t errors = lexer->context->error_count;
    for (;;) {
        char c = lexer->text[lexer->at];
        if (lexer->at >= lexer->length || c == '\n') {
            uint32_t end = lexer->at;
            if (end > start && lexer->text[end - 1] == '\r') end--;
            CtDiag *diag = ct_error(lexer->context, CT_E0103, (CtSourceRange){lexer->source, start, end},
                                    "this string does not end on its line");
            ct_help(lexer->context, diag, "close it with `\"`; a line's end inside a string is written `\\n`");
            break;
        }
        if (c == '"') {
            lexer->at++;
            break;
        }
        char next = c == '\\' ? lexer->text[lexer->at + 1] : '\0';
        if (next == ' ' || next == '\t' || next == '\n' || next == '\r') {
            string_gap(lexer, lexer->at++);
            continue;
        }
        uint32_t value = character(lexer);
        if (value < CT_BAD_CHARACTER) add_utf8(text, value);
        if (lexer->context->error_count - errors > lexer->context->max_errors) break;
    }
    CtString *string = CT_NEW(lexer->context->arena, CtString);
    string->text = ct_copy_text(lexer->context->arena, text->length > 0 ? text->data : "", text->length);
    string->length = text->length;
    token->string = string;
}
