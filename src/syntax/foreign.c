/* Foreign-syntax hints: syntax errors from words, comments, braces and operators of other languages, and from forms of
 * this one that are often confused. Each hint looks at the tokens around the place where parsing stopped. */
#include "syntax/internal.h"

/* ---- looking at tokens ---- */

static bool is_name(const CtToken *token) { return token->kind == TOKEN_VARID && !token->is_qualified; }

static bool is_text(const CtToken *token, const char *text) {
    bool named = token->kind == TOKEN_VARID || token->kind == TOKEN_CONID || token->kind == TOKEN_VARSYM ||
                 token->kind == TOKEN_CONSYM;
    return named && !token->is_qualified && strcmp(token->name->text, text) == 0;
}

static bool is_one_of(const CtToken *token, const char *const *words) {
    for (; *words != NULL; words++)
        if (is_text(token, *words)) return true;
    return false;
}

static bool is_operator(const CtToken *token) {
    return token->kind == TOKEN_VARSYM || token->kind == TOKEN_CONSYM || token->kind == TOKEN_MINUS;
}

/* The first token of the line that contains the token `at`, but not before the current declaration. */
static uint32_t line_start(const CtParser *p, uint32_t at) {
    while (at > p->declaration && !p->tokens[at].first_on_line) at--;
    return at;
}

/* Searches back from the next token to the start of the declaration for one of the words; CT_NO_TOKEN if absent. */
static uint32_t find_back(const CtParser *p, const char *const *words) {
    enum { FARTHEST = 200 };
    for (uint32_t at = p->at, steps = 0; steps < FARTHEST; steps++) {
        if (is_one_of(&p->tokens[at], words)) return at;
        if (at <= p->declaration || at == 0) break;
        at--;
    }
    return CT_NO_TOKEN;
}

static CtSourceRange span_of(const CtParser *p, uint32_t at) {
    return (CtSourceRange){p->source, p->tokens[at].start, p->tokens[at].end};
}

/* ---- foreign syntax with a message of its own ---- */

static bool is_comment(const CtToken *token) {
    if (token->kind != TOKEN_VARSYM || token->is_qualified) return false;
    const char *text = token->name->text;
    return strcmp(text, "//") == 0 || text[0] == '#' || strncmp(text, "/*", 2) == 0;
}

/* Reports a comment of another language on the line where parsing stopped; skips it up to its end if it begins with the
 * characters / and *. */
static bool comment(CtParser *p) {
    uint32_t at = line_start(p, p->at);
    while (at < p->at && !is_comment(&p->tokens[at])) at++;
    if (!is_comment(&p->tokens[at])) return false;
    const char *text = p->tokens[at].name->text;
    CtDiag *diag = ct_error(p->context, CT_E0201, span_of(p, at), "`%s` begins no comment", text);
    diag->covers_line = true;
    ct_help(p->context, diag, "a comment begins with `--`, or stands between `{-` and `-}`");
    if (text[0] != '/' || text[1] != '*') return true;
    for (uint32_t end = at; end + 1 < p->token_count; end++) {
        const CtToken *token = &p->tokens[end];
        if (token->kind != TOKEN_VARSYM || token->is_qualified || strstr(token->name->text, "*/") == NULL) continue;
        p->at = end + 1;
        break;
    }
    return true;
}

static const char *const definers[] = {"def",    "fun",    "function", "func",   "fn",    "var",    "val",   "const",
                                       "static", "public", "private",  "define", "local", "double", "float", "int",
                                       "void",   "bool",   "auto",     "string", "sub",   "proc",   "mut",   NULL};
static const char *const declarers[] = {"struct", "enum", "interface", "record", "union", NULL};

/* `def f(x):`, `var x = 1`: a word that begins a definition in another language, followed by a name. */
static bool definition(CtParser *p) {
    uint32_t places[] = {p->declaration, line_start(p, p->at)};
    for (uint32_t i = 0; i < 2; i++) {
        const CtToken *token = &p->tokens[places[i]];
        if (places[i] + 1 >= p->token_count || p->tokens[places[i]].kind != TOKEN_VARID) continue;
        bool types = is_one_of(token, declarers);
        if (!types && !(is_one_of(token, definers) && is_name(token + 1))) continue;
        CtDiag *diag =
            ct_error(p->context, CT_E0201, span_of(p, places[i]), "`%s` is no keyword here", token->name->text);
        p->braces = true;
        if (types)
            ct_help(p->context, diag,
                    "a type is declared with `data`: data Point = Point { x :: Double, y :: Double }");
        else if (places[i] != p->declaration)
            ct_help(p->context, diag, "local definitions stand behind `let` or `where`: let %s = … in …",
                    token[1].name->text);
        else
            ct_help(p->context, diag, "a definition begins with its name: `%s … = …`", token[1].name->text);
        return true;
    }
    return false;
}

/* `f : Double -> Double` */
static bool signature(CtParser *p) {
    const CtToken *token = &p->tokens[p->declaration];
    bool at_end = p->kind == TOKEN_NEXT_LINE || p->kind == TOKEN_DEDENT;
    if (!is_name(token) || p->declaration + 1 >= p->token_count || !is_text(token + 1, ":")) return false;
    if (p->kind != TOKEN_RARROW && p->kind != TOKEN_DARROW && !at_end) return false;
    CtDiag *diag = ct_error(p->context, CT_E0201, span_of(p, p->declaration + 1),
                            "a type stands behind `::`; `:` puts an element before a list");
    ct_help(p->context, diag, "write `%s :: …`", token->name->text);
    return true;
}

static bool otherwise_if(CtParser *p) {
    static const char *const words[] = {"elif", "elsif", "elseif", NULL};
    uint32_t at = find_back(p, words);
    if (at == CT_NO_TOKEN) return false;
    CtDiag *diag = ct_error(p->context, CT_E0201, span_of(p, at), "`%s` is no keyword here", p->tokens[at].name->text);
    ct_help(p->context, diag, "write `else if`, as two words");
    return true;
}

static bool loop(CtParser *p) {
    static const char *const words[] = {"for", "while", "foreach", NULL};
    uint32_t at = find_back(p, words);
    if (at == CT_NO_TOKEN || p->tokens[at + 1].kind == TOKEN_EQUALS) return false;
    CtDiag *diag = ct_error(p->context, CT_E0201, span_of(p, at), "`%s` is no keyword here: there are no loops",
                            p->tokens[at].name->text);
    ct_help(p->context, diag, "`map`, `foldl`, [e | x <- xs] and recursion do their work");
    p->braces = true;
    return true;
}

static bool selection(CtParser *p) {
    static const char *const words[] = {"match", "switch", NULL};
    uint32_t at = find_back(p, words);
    if (at == CT_NO_TOKEN || (p->kind != TOKEN_BAR && p->kind != TOKEN_LBRACE && p->kind != TOKEN_RARROW)) return false;
    CtDiag *diag = ct_error(p->context, CT_E0201, span_of(p, at), "`%s` is no keyword here", p->tokens[at].name->text);
    ct_help(p->context, diag, "write `case x of`, and below it a line `pattern -> result` for each form of x");
    p->braces = true;
    return true;
}

bool ct_syntax_report_foreign(CtParser *p) {
    return comment(p) || definition(p) || signature(p) || otherwise_if(p) || loop(p) || selection(p);
}

/* ---- foreign syntax with a help line only ---- */

static const char *suggest_bar(const CtToken *last) {
    if (last->kind == TOKEN_EQUALS) return "guards take the place of `=`: f x | x > 0 = …";
    return "two conditions are joined by `||`";
}

static const char *suggest_arrow(const char *expected) {
    if (strchr(expected, ')') != NULL || strchr(expected, ']') != NULL)
        return "a function without a name begins with a backslash: \\x -> …";
    return NULL;
}

static const char *suggest_brace(CtParser *p) {
    p->braces = true;
    return "blocks are shown by indentation, without braces; a definition is written `f x = …`";
}

/* `leaf -> …`, `(node l r)`: in a pattern, a name in lower case where a constructor is probably meant. */
static const char *suggest_constructor(CtParser *p, const char *expected, const CtToken *last) {
    bool in_pattern = strstr(expected, "`)`") != NULL || strncmp(expected, "`->` or", 7) == 0;
    if (!in_pattern || !is_name(last) || !ct_syntax_starts_apat(p, p->at)) return NULL;
    char *capital = ct_copy_text(p->context->arena, last->name->text, last->name->length);
    if (capital[0] < 'a' || capital[0] > 'z') return NULL;
    capital[0] = (char)(capital[0] - 'a' + 'A');
    return ct_format(p->context->arena, "names of constructors begin with a capital: `%s`", capital);
}

/* Explains the line's column when its indentation contains a tab, because an editor may show another column. */
static const char *suggest_tab(CtParser *p) {
    const CtToken *first = &p->tokens[line_start(p, p->at)];
    const char *text = p->context->sources.items[p->source].text;
    bool tab = false;
    for (uint32_t at = first->start; at > 0 && text[at - 1] != '\n'; at--) tab = tab || text[at - 1] == '\t';
    if (!tab) return NULL;
    return ct_format(
        p->context->arena,
        "a tab reaches to the next multiple of 8, so that this line begins at column %u: indent with blanks",
        first->column);
}

const char *ct_syntax_suggest_syntax(CtParser *p, const char *expected, const char *help) {
    static const CtToken none = {.kind = TOKEN_END};
    const CtToken *last = p->at == 0 ? &none : &p->tokens[p->at - 1];
    bool wants_expression = strcmp(expected, "an expression") == 0,
         wants_field = strstr(expected, "of the field") != NULL;
    const char *better = NULL;
    if (p->kind == TOKEN_EQUALS) better = suggest_tab(p);
    if (p->kind == TOKEN_BAR && strncmp(expected, "a constructor", 13) != 0) better = suggest_bar(last);
    if (p->kind == TOKEN_RARROW) better = suggest_arrow(expected);
    if (p->kind == TOKEN_LBRACE) better = suggest_brace(p);
    if (p->kind == TOKEN_RBRACE && wants_field) better = suggest_brace(p);
    if (strcmp(expected, "the name of a field") == 0 && last->kind == TOKEN_LBRACE) better = suggest_brace(p);
    if (p->kind == TOKEN_BANG && wants_expression) better = "a condition is negated by `not`: not (x > 0)";
    if (p->kind == TOKEN_LET && strcmp(expected, "a declaration") == 0)
        better = "at top level definitions stand without `let`";
    if (p->kind == TOKEN_DARROW && strncmp(expected, "`->`", 4) == 0) better = "the arrow is `->`: \\x -> …";
    if (wants_field && is_text(ct_syntax_token(p), ":"))
        better = strncmp(expected, "`=`", 3) == 0 ? "a field is given its value with `=`: P { x = 1 }"
                                                  : "a field's type stands behind `::`: P { x :: Double }";
    if (better == NULL) better = suggest_constructor(p, expected, last);
    if (better == NULL && wants_expression && p->at > p->declaration && is_operator(last))
        better = ct_format(p->context->arena, "an operand is missing behind `%s`",
                           last->kind == TOKEN_MINUS ? "-" : last->name->text);
    if (strncmp(expected, "the name of a module", 20) == 0 && is_name(ct_syntax_token(p)))
        better = "modules are named like `Data.Map` or `Main`";
    if (strncmp(expected, "`of`", 4) == 0) return "the alternatives stand behind `of`: case x of …";
    if (strncmp(expected, "`then`", 6) == 0 && better == NULL && p->kind != TOKEN_EQUALS)
        return "`if` has three parts: if c then x else y";
    return better != NULL ? better : help;
}
