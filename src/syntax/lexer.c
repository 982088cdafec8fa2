/* The lexer: a source text to an array of tokens.
 *
 * Lexemes are those of Haskell 98 §2, and the array brackets [| |]. The text is checked to be UTF-8. After an
 * error is reported, the faulty text is skipped, so that the parser can check the rest. Lexing takes linear time.
 */
#include "syntax/internal.h"

/* ---- characters ---- */

static bool is_lower(unsigned char c) { return (c >= 'a' && c <= 'z') || c == '_'; }
static bool is_upper(unsigned char c) { return c >= 'A' && c <= 'Z'; }
static bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

static bool is_symbol(unsigned char c) {
    switch (c) {
    case '!':
    case '#':
    case '$':
    case '%':
    case '&':
    case '*':
    case '+':
    case '.':
    case '/':
    case '<':
    case '=':
    case '>':
    case '?':
    case '@':
    case '\\':
    case '^':
    case '|':
    case '-':
    case '~':
    case ':': return true;
    default: return false;
    }
}

typedef enum CharClass { CHAR_OTHER, CHAR_LOWER, CHAR_UPPER, CHAR_NUMBER, CHAR_SYMBOL } CharClass;

/* Beyond ASCII: the letters of European alphabets, small raised and lowered digits, and mathematical symbols. */
static CharClass class_beyond_ascii(uint32_t c) {
    static const struct {
        uint32_t first, last;
        CharClass class;
    } ranges[] = {
        {0xAC, 0xAC, CHAR_SYMBOL},     {0xB1, 0xB1, CHAR_SYMBOL},     {0xB2, 0xB3, CHAR_NUMBER},
        {0xB5, 0xB5, CHAR_LOWER},      {0xB7, 0xB7, CHAR_SYMBOL},     {0xB9, 0xB9, CHAR_NUMBER},
        {0xC0, 0xD6, CHAR_UPPER},      {0xD7, 0xD7, CHAR_SYMBOL},     {0xD8, 0xDE, CHAR_UPPER},
        {0xDF, 0xF6, CHAR_LOWER},      {0xF7, 0xF7, CHAR_SYMBOL},     {0xF8, 0xFF, CHAR_LOWER},
        {0x386, 0x386, CHAR_UPPER},    {0x388, 0x38F, CHAR_UPPER},    {0x390, 0x390, CHAR_LOWER},
        {0x391, 0x3AB, CHAR_UPPER},    {0x3AC, 0x3CE, CHAR_LOWER},    {0x3D0, 0x3F5, CHAR_LOWER},
        {0x400, 0x42F, CHAR_UPPER},    {0x430, 0x45F, CHAR_LOWER},    {0x2070, 0x2079, CHAR_NUMBER},
        {0x2080, 0x2089, CHAR_NUMBER}, {0x2113, 0x2113, CHAR_LOWER},  {0x2190, 0x22FF, CHAR_SYMBOL},
        {0x25A0, 0x25FF, CHAR_SYMBOL}, {0x27C0, 0x27EF, CHAR_SYMBOL}, {0x2A00, 0x2AFF, CHAR_SYMBOL},
    };
    if (c >= 0x100 && c <= 0x137) return c % 2 == 0 ? CHAR_UPPER : CHAR_LOWER;
    if (c >= 0x139 && c <= 0x148) return c % 2 == 1 ? CHAR_UPPER : CHAR_LOWER;
    if (c >= 0x14A && c <= 0x177) return c % 2 == 0 ? CHAR_UPPER : CHAR_LOWER;
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].first && c <= ranges[i].last) return ranges[i].class;
    return CHAR_OTHER;
}

uint32_t ct_syntax_lex_decode(const CtLexer *lexer, uint32_t at, uint32_t *size) {
    const unsigned char *s = (const unsigned char *)lexer->text + at;
    uint32_t left = lexer->length - at, length, c;
    *size = 1;
    if (s[0] < 0x80) return s[0];
    if (s[0] >= 0xC2 && s[0] <= 0xDF) {
        length = 2;
        c = s[0] & 0x1Fu;
    } else if (s[0] >= 0xE0 && s[0] <= 0xEF) {
        length = 3;
        c = s[0] & 0x0Fu;
    } else if (s[0] >= 0xF0 && s[0] <= 0xF4) {
        length = 4;
        c = s[0] & 0x07u;
    } else {
        return CT_BAD_CHARACTER;
    }
    for (uint32_t i = 1; i < length; i++) {
        if (i >= left || (s[i] & 0xC0) != 0x80) {
            *size = i;
            return CT_BAD_CHARACTER;
        }
        c = c << 6 | (s[i] & 0x3Fu);
    }
    *size = length;
    bool overlong = (length == 3 && c < 0x800) || (length == 4 && c < 0x10000);
    bool no_character = (c >= 0xD800 && c <= 0xDFFF) || c > 0x10FFFF;
    return overlong || no_character ? CT_BAD_CHARACTER : c;
}

CtSourceRange ct_syntax_lex_range(const CtLexer *lexer, uint32_t start) {
    return (CtSourceRange){lexer->source, start, lexer->at};
}

static uint32_t column(const CtLexer *lexer, uint32_t at) {
    return (uint32_t)(lexer->column_shift + (int64_t)(at - lexer->line_start) + 1);
}

/* Adjusts `column_shift` so that the column after the tab at `at` is 1 more than a multiple of 8. */
static void tab(CtLexer *lexer) {
    uint32_t here = column(lexer, lexer->at);
    lexer->column_shift += 7 - (int64_t)(here - 1) % 8;
    lexer->at++;
}

static void line_end(CtLexer *lexer) {
    lexer->at++;
    lexer->line_start = lexer->at;
    lexer->column_shift = 0;
}

static void report_bad_bytes(CtLexer *lexer) {
    uint32_t start = lexer->at, size;
    while (lexer->at < lexer->length && ct_syntax_lex_decode(lexer, lexer->at, &size) == CT_BAD_CHARACTER)
        lexer->at += size;
    lexer->column_shift -= lexer->at - start - 1;
    CtDiag *diag = ct_error(lexer->context, CT_E0102, ct_syntax_lex_range(lexer, start),
                            "these bytes are not valid UTF-8 (the first is 0x%02X)", (unsigned char)lexer->text[start]);
    ct_help(lexer->context, diag, "save the file in the encoding UTF-8");
    diag->covers_line = true;
    if (start > 0 || lexer->length < 2 || memchr(lexer->text, '\0', lexer->length) == NULL) return;
    ct_help(lexer->context, diag, "the file is in the encoding UTF-16: save it as UTF-8");
    lexer->at = lexer->length;
    lexer->cut_short = true;
}

void ct_syntax_lex_step(CtLexer *lexer) {
    unsigned char c = (unsigned char)lexer->text[lexer->at];
    if (c == '\n') {
        line_end(lexer);
    } else if (c == '\t') {
        tab(lexer);
    } else if (c < 0x80) {
        lexer->at++;
    } else {
        uint32_t size;
        if (ct_syntax_lex_decode(lexer, lexer->at, &size) == CT_BAD_CHARACTER) {
            report_bad_bytes(lexer);
        } else {
            lexer->at += size;
            lexer->column_shift -= size - 1;
        }
    }
}

/* ---- comments ---- */

static bool too_many_errors(const CtLexer *lexer) { return lexer->context->error_count > lexer->context->max_errors; }

static void line_comment(CtLexer *lexer) {
    while (lexer->at < lexer->length && lexer->text[lexer->at] != '\n' && !too_many_errors(lexer))
        ct_syntax_lex_step(lexer);
}

/* True at two dashes or more that no other symbol follows: `-->` and `|--` are operators. */
static bool at_line_comment(const CtLexer *lexer) {
    uint32_t at = lexer->at;
    while (lexer->text[at] == '-') at++;
    if (at - lexer->at < 2) return false;
    if ((unsigned char)lexer->text[at] >= 0x80) {
        uint32_t size, c = ct_syntax_lex_decode(lexer, at, &size);
        return c == CT_BAD_CHARACTER || class_beyond_ascii(c) != CHAR_SYMBOL;
    }
    return !is_symbol((unsigned char)lexer->text[at]);
}

static void block_comment(CtLexer *lexer) {
    uint32_t start = lexer->at, depth = 0;
    do {
        char c = lexer->text[lexer->at], next = lexer->at < lexer->length ? lexer->text[lexer->at + 1] : '\0';
        if (lexer->at >= lexer->length || too_many_errors(lexer)) {
            CtSourceRange opening = {lexer->source, start, start + 2};
            CtDiag *diag = ct_error(lexer->context, CT_E0104, opening, "this comment is never closed");
            if (depth > 1)
                ct_help(lexer->context, diag, "comments nest: %u more `-}` are needed", depth);
            else
                ct_help(lexer->context, diag, "close it with `-}`");
            lexer->cut_short = true;
            return;
        }
        if (c == '{' && next == '-') {
            depth++;
            lexer->at += 2;
        } else if (c == '-' && next == '}') {
            depth--;
            lexer->at += 2;
        } else {
            ct_syntax_lex_step(lexer);
        }
    } while (depth > 0);
}

/* ---- names and operators ---- */

typedef struct Word {
    const char *text;
    CtTokenKind kind;
} Word;

static const Word keywords[] = {
    {"_", TOKEN_UNDERSCORE},      {"case", TOKEN_CASE},
    {"class", TOKEN_CLASS},       {"data", TOKEN_DATA},
    {"deriving", TOKEN_DERIVING}, {"do", TOKEN_DO},
    {"else", TOKEN_ELSE},         {"if", TOKEN_IF},
    {"import", TOKEN_IMPORT},     {"in", TOKEN_IN},
    {"infix", TOKEN_INFIX},       {"infixl", TOKEN_INFIXL},
    {"infixr", TOKEN_INFIXR},     {"instance", TOKEN_INSTANCE},
    {"let", TOKEN_LET},           {"module", TOKEN_MODULE},
    {"newtype", TOKEN_NEWTYPE},   {"of", TOKEN_OF},
    {"then", TOKEN_THEN},         {"type", TOKEN_TYPE},
    {"where", TOKEN_WHERE},       {"primitive", TOKEN_PRIMITIVE},
};

static const Word reserved_operators[] = {
    {"..", TOKEN_DOTDOT}, {"::", TOKEN_DCOLON}, {"=", TOKEN_EQUALS},  {"\\", TOKEN_BACKSLASH},
    {"|", TOKEN_BAR},     {"<-", TOKEN_LARROW}, {"->", TOKEN_RARROW}, {"@", TOKEN_AT},
    {"~", TOKEN_TILDE},   {"=>", TOKEN_DARROW}, {"-", TOKEN_MINUS},   {"!", TOKEN_BANG},
};

static CtTokenKind find_word(const Word *words, size_t count, const char *text, uint32_t length,
                             CtTokenKind otherwise) {
    for (size_t i = 0; i < count; i++) {
        const char *word = words[i].text;
        if (word[0] == text[0] && strncmp(word, text, length) == 0 && word[length] == '\0') return words[i].kind;
    }
    return otherwise;
}

static CtTokenKind name_kind(const CtLexer *lexer, const char *text, uint32_t length) {
    enum { LONGEST_KEYWORD = 9 };
    if (length > LONGEST_KEYWORD) return TOKEN_VARID;
    CtTokenKind kind = find_word(keywords, sizeof keywords / sizeof *keywords, text, length, TOKEN_VARID);
    bool is_library = lexer->context->sources.items[lexer->source].is_library;
    return kind == TOKEN_PRIMITIVE && !is_library ? TOKEN_VARID : kind;
}

static CtTokenKind operator_kind(const char *text, uint32_t length) {
    CtTokenKind otherwise = text[0] == ':' ? TOKEN_CONSYM : TOKEN_VARSYM;
    if (length > 2) return otherwise;
    return find_word(reserved_operators, sizeof reserved_operators / sizeof *reserved_operators, text, length,
                     otherwise);
}

/* The class of the character at `at` as part of a name or operator, and its size. */
static CharClass class_at(const CtLexer *lexer, uint32_t at, uint32_t *size) {
    unsigned char c = (unsigned char)lexer->text[at];
    *size = 1;
    if (is_lower(c)) return CHAR_LOWER;
    if (is_upper(c)) return CHAR_UPPER;
    if (is_digit(c) || c == '\'') return CHAR_NUMBER;
    if (is_symbol(c)) return CHAR_SYMBOL;
    if (c < 0x80 || at >= lexer->length) return CHAR_OTHER;
    uint32_t character = ct_syntax_lex_decode(lexer, at, size);
    return character == CT_BAD_CHARACTER ? CHAR_OTHER : class_beyond_ascii(character);
}

/* Skips name characters (letters, digits, underscores, primes) from `at` on, or symbol characters if `symbols`; returns
 * the offset after them. */
static uint32_t name_end(CtLexer *lexer, uint32_t at, bool symbols) {
    for (;;) {
        uint32_t size;
        CharClass class = class_at(lexer, at, &size);
        if (class == CHAR_OTHER || (class == CHAR_SYMBOL) != symbols) return at;
        at += size;
        lexer->column_shift -= size - 1;
    }
}

static CtSym intern(CtLexer *lexer, uint32_t start, uint32_t end) {
    return ct_intern(&lexer->context->symbols, lexer->text + start, end - start);
}

static void set_name(CtLexer *lexer, CtToken *token, uint32_t module_end, uint32_t start, uint32_t end) {
    CtSym text = intern(lexer, start, end);
    lexer->at = end;
    if (module_end == 0) {
        token->name = text;
        return;
    }
    CtQualified *qualified = CT_NEW(lexer->context->arena, CtQualified);
    qualified->module = intern(lexer, token->start, module_end);
    qualified->text = text;
    token->qualified = qualified;
    token->is_qualified = true;
}

/* varid | {conid .} (varid | conid | operator). `A..` is the constructor A before `..`, so that [A..B] is a range. */
static void name_token(CtLexer *lexer, CtToken *token) {
    uint32_t start = lexer->at, module_end = 0, size;
    const char *text = lexer->text;
    for (;;) {
        bool is_con = class_at(lexer, start, &size) == CHAR_UPPER;
        uint32_t end = name_end(lexer, start, false);
        token->kind = is_con ? TOKEN_CONID : (uint8_t)name_kind(lexer, text + start, end - start);
        CharClass next = CHAR_OTHER;
        if (is_con && text[end] == '.') next = class_at(lexer, end + 1, &size);
        if (next == CHAR_LOWER || next == CHAR_UPPER) {
            if (next == CHAR_LOWER) {
                int64_t shift = lexer->column_shift;
                uint32_t last = name_end(lexer, end + 1, false);
                lexer->column_shift = shift;
                if (name_kind(lexer, text + end + 1, last - end - 1) != TOKEN_VARID) next = CHAR_OTHER; /* A.where */
            }
        } else if (next == CHAR_SYMBOL) {
            if (text[end + 1] == '.' && class_at(lexer, end + 2, &size) != CHAR_SYMBOL) next = CHAR_OTHER;
        } else {
            next = CHAR_OTHER;
        }
        if (next == CHAR_OTHER) {
            if (token->kind == TOKEN_VARID || token->kind == TOKEN_CONID)
                set_name(lexer, token, module_end, start, end);
            lexer->at = end;
            return;
        }
        module_end = end;
        start = end + 1;
        if (next == CHAR_SYMBOL) {
            end = name_end(lexer, start, true);
            token->kind = text[start] == ':' ? TOKEN_CONSYM : TOKEN_VARSYM;
            set_name(lexer, token, module_end, start, end);
            return;
        }
    }
}

static void operator_token(CtLexer *lexer, CtToken *token) {
    uint32_t start = lexer->at, end = name_end(lexer, start, true);
    token->kind = (uint8_t)operator_kind(lexer->text + start, end - start);
    if (token->kind == TOKEN_BAR && lexer->text[end] == ']') {
        token->kind = TOKEN_RARRAY;
        lexer->at = end + 1;
        return;
    }
    set_name(lexer, token, 0, start, end);
}

bool ct_syntax_is_operator_name(CtSym name) {
    const CtLexer lexer = {.text = name->text, .length = name->length};
    uint32_t size;
    return class_at(&lexer, 0, &size) == CHAR_SYMBOL;
}

/* ---- brackets ---- */

static bool is_opening(uint8_t kind) {
    return kind == TOKEN_LPAREN || kind == TOKEN_LBRACKET || kind == TOKEN_LARRAY || kind == TOKEN_LBRACE;
}
static bool is_closing(uint8_t kind) {
    return kind == TOKEN_RPAREN || kind == TOKEN_RBRACKET || kind == TOKEN_RARRAY || kind == TOKEN_RBRACE;
}

/* Pairs a closing bracket with the innermost open bracket of its form, looking at no more than FARTHEST; brackets
 * opened after that one stay without a partner. */
static void pair_bracket(CtLexer *lexer, uint32_t index) {
    enum { FARTHEST = 64 };
    CtToken *tokens = lexer->tokens.items;
    uint32_t count = lexer->open.count;
    for (uint32_t back = 1; back <= count && back <= FARTHEST; back++) {
        uint32_t opening = lexer->open.items[count - back];
        if (tokens[opening].kind + 1 != tokens[index].kind) continue;
        tokens[opening].match = index;
        tokens[index].match = opening;
        lexer->open.count = count - back;
        return;
    }
}

/* ---- tokens ---- */

static CtTokenKind punctuation(char c) {
    switch (c) {
    case '(': return TOKEN_LPAREN;
    case ')': return TOKEN_RPAREN;
    case '[': return TOKEN_LBRACKET;
    case ']': return TOKEN_RBRACKET;
    case '{': return TOKEN_LBRACE;
    case '}': return TOKEN_RBRACE;
    case ',': return TOKEN_COMMA;
    case ';': return TOKEN_SEMICOLON;
    case '`': return TOKEN_BACKQUOTE;
    default: return TOKEN_END;
    }
}

static const char *help_for(uint32_t c) {
    if (c == 0x201C || c == 0x201D || c == 0x201E) return "strings are written between straight quotes: \"";
    if (c == 0x2018 || c == 0x2019) return "characters are written between straight quotes: '";
    if (c == 0xA0 || (c >= 0x2000 && c <= 0x200B) || c == 0x3000) return "this is a special space; write a plain one";
    if (c == 0x2013 || c == 0x2014) return "this is a dash; minus is `-`";
    return NULL;
}

static void unexpected_character(CtLexer *lexer) {
    uint32_t start = lexer->at, size, c = ct_syntax_lex_decode(lexer, start, &size);
    if (c == CT_BAD_CHARACTER) {
        report_bad_bytes(lexer);
        return;
    }
    ct_syntax_lex_step(lexer);
    CtSourceRange range = ct_syntax_lex_range(lexer, start);
    CtDiag *diag;
    if (c < 0x20 || c == 0x7F)
        diag = ct_error(lexer->context, CT_E0101, range, "unexpected control character U+%04X", c);
    else
        diag = ct_error(lexer->context, CT_E0101, range, "unexpected character `%.*s` (U+%04X)", (int)size,
                        lexer->text + start, c);
    diag->covers_line = true;
    const char *help = help_for(c);
    if (help != NULL) ct_help(lexer->context, diag, "%s", help);
}

/* Reads the token at `at`; false when there is none (an error). */
static bool read_token(CtLexer *lexer, CtToken *token) {
    uint32_t size;
    char c = lexer->text[lexer->at];
    switch (class_at(lexer, lexer->at, &size)) {
    case CHAR_LOWER:
    case CHAR_UPPER: name_token(lexer, token); return true;
    case CHAR_SYMBOL: operator_token(lexer, token); return true;
    case CHAR_NUMBER:
        if (is_digit((unsigned char)c))
            ct_syntax_lex_number(lexer, token);
        else if (c == '\'')
            ct_syntax_lex_char(lexer, token);
        else
            unexpected_character(lexer);
        return token->kind != TOKEN_END;
    case CHAR_OTHER: break;
    }
    if (c == '"') {
        ct_syntax_lex_string(lexer, token);
        return true;
    }
    token->kind = (uint8_t)punctuation(c);
    if (token->kind == TOKEN_END) {
        unexpected_character(lexer);
        return false;
    }
    lexer->at++;
    if (c == '[' && lexer->text[lexer->at] == '|') {
        token->kind = TOKEN_LARRAY;
        lexer->at++;
    }
    return true;
}

static void comment(CtLexer *lexer, void (*read)(CtLexer *lexer)) {
    CtComment comment = {.start = lexer->at, .column = column(lexer, lexer->at)};
    read(lexer);
    if (lexer->comments == NULL) return;
    comment.end = lexer->at;
    while (strchr(" \t\r\f\v", lexer->text[comment.end - 1]) != NULL) comment.end--;
    ct_push(lexer->context->arena, lexer->comments, comment);
}

/* Steps over one space or comment; false at anything else. */
static bool skip_blank(CtLexer *lexer) {
    char c = lexer->text[lexer->at];
    if (c == ' ' || c == '\r' || c == '\f' || c == '\v')
        lexer->at++;
    else if (c == '\n')
        line_end(lexer);
    else if (c == '\t')
        tab(lexer);
    else if (c == '-' && at_line_comment(lexer))
        comment(lexer, line_comment);
    else if (c == '{' && lexer->text[lexer->at + 1] == '-')
        comment(lexer, block_comment);
    else
        return false;
    return true;
}

static void lex_all(CtLexer *lexer) {
    uint32_t last_line = UINT32_MAX;
    while (lexer->at < lexer->length && !too_many_errors(lexer)) {
        if (skip_blank(lexer)) continue;
        CtToken token = {.start = lexer->at, .match = CT_NO_TOKEN, .column = column(lexer, lexer->at)};
        token.first_on_line = lexer->line_start != last_line;
        if (!read_token(lexer, &token)) continue;
        last_line = lexer->line_start; /* a string may end on a later line */
        token.end = lexer->at;
        uint32_t index = lexer->tokens.count;
        ct_push(lexer->context->arena, &lexer->tokens, token);
        if (is_opening(token.kind)) ct_push(lexer->context->arena, &lexer->open, index);
        if (is_closing(token.kind)) pair_bracket(lexer, index);
    }
}

CtTokens ct_syntax_lex(CtContext *context, uint32_t source, bool *cut_short, CtComments *comments) {
    CtArena *arena = context->arena;
    const CtSource *text = &context->sources.items[source];
    CtLexer lexer = {.context = context, .source = source, .text = text->text, .length = (uint32_t)text->length};
    lexer.scratch = ct_text(arena);
    lexer.comments = comments;
    enum { BYTES_A_TOKEN = 3 }; /* an estimate for the initial capacity */
    lexer.tokens.capacity = lexer.length / BYTES_A_TOKEN + 16;
    lexer.tokens.items = CT_NEW_ARRAY(arena, CtToken, lexer.tokens.capacity);
    if (lexer.length >= 3 && memcmp(lexer.text, "\xEF\xBB\xBF", 3) == 0) { /* a byte order mark */
        lexer.at = 3;
        lexer.column_shift = -3;
    }
    lex_all(&lexer);
    *cut_short = lexer.cut_short || too_many_errors(&lexer);
    uint32_t end = lexer.length;
    CtToken last = {.start = end, .end = end, .match = CT_NO_TOKEN, .kind = TOKEN_END, .first_on_line = true};
    ct_push(arena, &lexer.tokens, last);
    return lexer.tokens;
}
