/* The parser's frame: lists, errors and recovery, brackets, names, and the public entries.
 *
 * The grammar stands in parse_expr.c, parse_pat.c, parse_type.c, parse_decl.c and parse_top.c, a rule above each
 * function. A syntax error is reported once, leaves by longjmp, and reading resumes at the next declaration.
 */
#include "syntax/internal.h"

/* ---- lists ---- */

enum { ALIGNMENT = 16 };

void ct_syntax_list_begin(CtParser *p, CtList *list, size_t item_size) {
    *list = (CtList){.before = p->stack_top, .item_size = (uint32_t)item_size};
    list->mark = p->stack_top = (p->stack_top + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

void *ct_syntax_list_slot(CtParser *p, CtList *list) {
    if (p->stack_size - p->stack_top < list->item_size) {
        size_t larger = p->stack_size == 0 ? 4096 : p->stack_size * 2;
        char *moved = ct_alloc(p->context->arena, larger);
        if (p->stack_top > 0) memcpy(moved, p->stack, p->stack_top);
        if (p->stack_size > 0) ct_give_back(p->context->arena, p->stack, p->stack_size);
        p->stack = moved;
        p->stack_size = larger;
    }
    void *slot = p->stack + p->stack_top;
    p->stack_top += list->item_size;
    list->count++;
    return slot;
}

void *ct_syntax_list_end(CtParser *p, CtList *list) {
    p->stack_top = list->before;
    if (list->count == 0) return NULL;
    size_t size = (size_t)list->count * list->item_size;
    void *items = ct_alloc(p->context->arena, size);
    memcpy(items, p->stack + list->mark, size);
    return items;
}

/* ---- saying what was found ---- */

static const char *token_text(CtTokenKind kind) {
    switch (kind) {
    case TOKEN_END: return "the end of the file";
    case TOKEN_NEXT_LINE: return "the next line of the block";
    case TOKEN_DEDENT: return "the end of the block";
    case TOKEN_VARID: return "a name";
    case TOKEN_CONID: return "a constructor";
    case TOKEN_VARSYM:
    case TOKEN_CONSYM: return "an operator";
    case TOKEN_MINUS: return "`-`";
    case TOKEN_BANG: return "`!`";
    case TOKEN_INT:
    case TOKEN_FRACTION: return "a number";
    case TOKEN_CHAR: return "a character";
    case TOKEN_STRING: return "a string";
    case TOKEN_LPAREN: return "`(`";
    case TOKEN_RPAREN: return "`)`";
    case TOKEN_LBRACKET: return "`[`";
    case TOKEN_RBRACKET: return "`]`";
    case TOKEN_LARRAY: return "`[|`";
    case TOKEN_RARRAY: return "`|]`";
    case TOKEN_LBRACE: return "`{`";
    case TOKEN_RBRACE: return "`}`";
    case TOKEN_COMMA: return "`,`";
    case TOKEN_SEMICOLON: return "`;`";
    case TOKEN_BACKQUOTE: return "a backquote";
    case TOKEN_DOTDOT: return "`..`";
    case TOKEN_DCOLON: return "`::`";
    case TOKEN_EQUALS: return "`=`";
    case TOKEN_BACKSLASH: return "`\\`";
    case TOKEN_BAR: return "`|`";
    case TOKEN_LARROW: return "`<-`";
    case TOKEN_RARROW: return "`->`";
    case TOKEN_AT: return "`@`";
    case TOKEN_TILDE: return "`~`";
    case TOKEN_DARROW: return "`=>`";
    case TOKEN_UNDERSCORE: return "`_`";
    case TOKEN_CASE: return "`case`";
    case TOKEN_CLASS: return "`class`";
    case TOKEN_DATA: return "`data`";
    case TOKEN_DERIVING: return "`deriving`";
    case TOKEN_DO: return "`do`";
    case TOKEN_ELSE: return "`else`";
    case TOKEN_IF: return "`if`";
    case TOKEN_IMPORT: return "`import`";
    case TOKEN_IN: return "`in`";
    case TOKEN_INFIX: return "`infix`";
    case TOKEN_INFIXL: return "`infixl`";
    case TOKEN_INFIXR: return "`infixr`";
    case TOKEN_INSTANCE: return "`instance`";
    case TOKEN_LET: return "`let`";
    case TOKEN_MODULE: return "`module`";
    case TOKEN_NEWTYPE: return "`newtype`";
    case TOKEN_OF: return "`of`";
    case TOKEN_THEN: return "`then`";
    case TOKEN_TYPE: return "`type`";
    case TOKEN_WHERE: return "`where`";
    case TOKEN_PRIMITIVE: return "`primitive`";
    }
    return "";
}

/* "the name `x`", "`)`", "the end of the file". */
static const char *found(CtParser *p) {
    enum { LONGEST = 40 };
    const CtToken *token = ct_syntax_token(p);
    CtTokenKind kind = (CtTokenKind)token->kind;
    const char *what = NULL;
    if (kind == TOKEN_END && p->context->sources.items[p->source].name[0] == '<') return "the end of the input";
    if (kind == TOKEN_VARID) what = "the name";
    if (kind == TOKEN_CONID) what = "the constructor";
    if (kind == TOKEN_VARSYM || kind == TOKEN_CONSYM) what = "the operator";
    if (kind == TOKEN_INT || kind == TOKEN_FRACTION) what = "the number";
    if (what == NULL || token->end - token->start > LONGEST) return token_text(kind);
    const char *text = p->context->sources.items[p->source].text + token->start;
    return ct_format(p->context->arena, "%s `%.*s`", what, (int)(token->end - token->start), text);
}

/* ---- errors ---- */

static bool is_closing(CtTokenKind kind) {
    return kind == TOKEN_RPAREN || kind == TOKEN_RBRACKET || kind == TOKEN_RARRAY || kind == TOKEN_RBRACE;
}

static const char *closing_text(uint8_t opening) { return token_text((CtTokenKind)(opening + 1)); }

static CtSourceRange token_range(const CtParser *p, uint32_t token) {
    return (CtSourceRange){p->source, p->tokens[token].start, p->tokens[token].end};
}

/* Whether layout has inserted a `;` or `}` before the next token, other than at the end of the source. */
static bool at_line(const CtParser *p) {
    return p->kind == TOKEN_NEXT_LINE || (p->kind == TOKEN_DEDENT && ct_syntax_token(p)->kind != TOKEN_END);
}

/* Whether a syntax error here is due to the innermost open bracket: the parser is at a layout token, at the end of the
 * source or at a closing bracket of another form; or the bracket has no partner and a keyword or `=` follows. */
static bool is_unclosed(const CtParser *p) {
    if (p->open == CT_NO_TOKEN) return false;
    if (at_line(p) || ct_syntax_token(p)->kind == TOKEN_END) return true;
    if (is_closing(p->kind)) return (uint8_t)p->kind != p->tokens[p->open].kind + 1;
    return p->tokens[p->open].match == CT_NO_TOKEN && (p->kind == TOKEN_EQUALS || p->kind >= TOKEN_CASE);
}

/* Whether the line at which parsing stops has ended a block by its indentation but is no item of the enclosing block:
 * its column lies between those of the two blocks. */
static bool is_misaligned(const CtParser *p) { return !at_line(p) && p->dedented == p->at; }

/* Whether the line that begins at the next token looks like a declaration: it contains `=` or `::`. */
static bool defines(const CtParser *p) {
    for (uint32_t at = p->at; p->tokens[at].kind != TOKEN_END; at++) {
        if (at > p->at && p->tokens[at].first_on_line) return false;
        if (p->tokens[at].kind == TOKEN_EQUALS || p->tokens[at].kind == TOKEN_DCOLON) return true;
    }
    return false;
}

static CtErrorCode error_code(const CtParser *p) {
    if (is_unclosed(p)) return CT_E0202;
    if (is_closing(p->kind) && p->open == CT_NO_TOKEN) return CT_E0203;
    if (at_line(p) || (is_misaligned(p) && ct_syntax_token(p)->kind != TOKEN_END)) return CT_E0205;
    if (p->kind == TOKEN_EQUALS) return CT_E0206;
    return CT_E0201;
}

static bool has_tab(const CtParser *p) {
    const char *text = p->context->sources.items[p->source].text;
    for (uint32_t at = ct_syntax_token(p)->start; at > 0 && text[at - 1] != '\n'; at--)
        if (text[at - 1] == '\t') return true;
    return false;
}

static const char *usual_help(CtParser *p, CtErrorCode code) {
    const char *tab = code == CT_E0205 && has_tab(p) ? " (a tab reaches to the next multiple of 8)" : "";
    if (code == CT_E0205 && is_misaligned(p))
        return ct_format(p->context->arena,
                         "the block above begins at column %u; what belongs to it begins there too%s", p->dedent_column,
                         tab);
    if (code == CT_E0205)
        return ct_format(p->context->arena,
                         "a line that continues what stands above begins right of column %u, where its block begins%s",
                         p->blocks.items[p->blocks.count - 1], tab);
    if (code == CT_E0206) return "`=` defines a name; to compare, write `==`";
    if (code == CT_E0203) return "remove it, or open the bracket that it closes";
    if (p->kind == TOKEN_RARROW) return "alternatives of one `case` begin at the same column";
    if (p->blocks.count > 1 && code == CT_E0201 && p->kind == TOKEN_TYPE)
        return "a declaration of a type stands at top level; in classes there are no families of types";
    bool keyword = p->kind == TOKEN_TYPE || p->kind == TOKEN_DATA || p->kind == TOKEN_CLASS ||
                   p->kind == TOKEN_INSTANCE || p->kind == TOKEN_MODULE || p->kind == TOKEN_IMPORT;
    return keyword ? "this word is a keyword and cannot name a value" : NULL;
}

void ct_syntax_leave_declaration(CtParser *p) { longjmp(*p->recover, 1); }

void ct_syntax_fail_help(CtParser *p, const char *expected, const char *help) {
    if (p->last_error == p->at) ct_syntax_leave_declaration(p); /* an error at this token has been reported */
    p->last_error = p->at;
    if (p->misplaced == p->declaration || ct_syntax_report_foreign(p)) ct_syntax_leave_declaration(p);
    if (at_line(p) && strcmp(expected, "an expression") == 0 && !defines(p)) p->misplaced = p->at;
    CtErrorCode code = error_code(p);
    CtDiag *diag;
    if (at_line(p)) {
        diag = ct_error(p->context, code, ct_syntax_range_here(p), "expected %s, found a line that begins at column %u",
                        expected, ct_syntax_token(p)->column);
    } else {
        bool at_end = ct_syntax_token(p)->kind == TOKEN_END; /* shown after the last token, not on an empty line */
        CtSourceRange range = at_end ? (CtSourceRange){p->source, p->last_end, p->last_end} : ct_syntax_range_here(p);
        diag = ct_error(p->context, code, range, "expected %s, found %s", expected, found(p));
    }
    if (code == CT_E0202)
        ct_note(p->context, diag, token_range(p, p->open), "this %s needs its %s",
                token_text((CtTokenKind)p->tokens[p->open].kind), closing_text(p->tokens[p->open].kind));
    if (help == NULL || (code == CT_E0205 && is_misaligned(p))) help = code == CT_E0202 ? NULL : usual_help(p, code);
    if (code != CT_E0202 && code != CT_E0205) help = ct_syntax_suggest_syntax(p, expected, help);
    if (help != NULL) ct_help(p->context, diag, "%s", help);
    ct_syntax_leave_declaration(p);
}

void ct_syntax_fail(CtParser *p, const char *expected) { ct_syntax_fail_help(p, expected, NULL); }

bool ct_syntax_accept(CtParser *p, CtTokenKind kind) {
    if (p->kind != kind) return false;
    ct_syntax_advance(p);
    return true;
}

void ct_syntax_expect(CtParser *p, CtTokenKind kind, const char *expected) {
    if (!ct_syntax_accept(p, kind)) ct_syntax_fail(p, expected);
}

void ct_syntax_enter(CtParser *p) {
    if (++p->depth <= CT_NESTING_LIMIT) return;
    CtDiag *diag = ct_error(p->context, CT_E0207, ct_syntax_range_here(p), "this is nested more than %d levels deep",
                            CT_NESTING_LIMIT);
    ct_help(p->context, diag, "give inner parts names of their own");
    ct_syntax_leave_declaration(p);
}

/* ---- brackets ---- */

uint32_t ct_syntax_bracket_open(CtParser *p) {
    uint32_t outer = p->open;
    p->open = p->at;
    ct_syntax_advance(p);
    return outer;
}

void ct_syntax_bracket_close(CtParser *p, CtTokenKind closing, uint32_t outer) {
    if (p->kind != closing) {
        const char *expected = closing == TOKEN_RPAREN     ? "`,` or `)`"
                               : closing == TOKEN_RBRACKET ? "`,` or `]`"
                               : closing == TOKEN_RARRAY   ? "`,` or `|]`"
                                                           : "`,` or `}`";
        ct_syntax_fail(p, expected);
    }
    p->open = outer; /* before the next token is looked at */
    ct_syntax_advance(p);
}

/* ---- names ---- */

CtName ct_syntax_token_name(const CtParser *p, const CtToken *token) {
    CtSourceRange range = {p->source, token->start, token->end};
    if (token->is_qualified) return (CtName){token->qualified->module, token->qualified->text, range};
    return (CtName){NULL, token->name, range};
}

bool ct_syntax_is_operator(CtTokenKind kind) {
    return kind == TOKEN_VARSYM || kind == TOKEN_CONSYM || kind == TOKEN_MINUS || kind == TOKEN_BANG ||
           kind == TOKEN_BACKQUOTE;
}

bool ct_syntax_is_constructor_operator(const CtParser *p) {
    return p->kind == TOKEN_CONSYM || (p->kind == TOKEN_BACKQUOTE && ct_syntax_token_after(p, 1)->kind == TOKEN_CONID);
}

bool ct_syntax_is_variable_operator(const CtParser *p) {
    return ct_syntax_is_operator(p->kind) && !ct_syntax_is_constructor_operator(p);
}

/* op -> varsym | consym | ` varid ` | ` conid ` */
CtName ct_syntax_parse_operator(CtParser *p, bool *is_con) {
    *is_con = ct_syntax_is_constructor_operator(p);
    bool quoted = ct_syntax_accept(p, TOKEN_BACKQUOTE);
    if (quoted && p->kind != TOKEN_VARID && p->kind != TOKEN_CONID) ct_syntax_fail(p, "a name between backquotes");
    CtName name = ct_syntax_token_name(p, ct_syntax_token(p));
    ct_syntax_advance(p);
    if (quoted) ct_syntax_expect(p, TOKEN_BACKQUOTE, "the closing backquote");
    return name;
}

/* var -> varid | ( varsym ) */
bool ct_syntax_at_variable(const CtParser *p) {
    if (p->kind == TOKEN_VARID) return true;
    CtTokenKind next = (CtTokenKind)ct_syntax_token_after(p, 1)->kind;
    return p->kind == TOKEN_LPAREN && (next == TOKEN_VARSYM || next == TOKEN_MINUS || next == TOKEN_BANG) &&
           ct_syntax_token_after(p, 2)->kind == TOKEN_RPAREN;
}

CtName ct_syntax_parse_variable(CtParser *p) {
    if (!ct_syntax_at_variable(p)) ct_syntax_fail(p, "a name");
    bool in_parens = ct_syntax_accept(p, TOKEN_LPAREN);
    CtName name = ct_syntax_token_name(p, ct_syntax_token(p));
    if (name.module != NULL) ct_syntax_fail_help(p, "a name", "a name that is defined is not qualified");
    ct_syntax_advance(p);
    if (in_parens) ct_syntax_advance(p);
    return name;
}

/* qvar, in front of the value of a field: x, M.x, (+) or (M.+) */
CtName ct_syntax_parse_field(CtParser *p) {
    bool in_parens = ct_syntax_accept(p, TOKEN_LPAREN);
    if (in_parens ? !ct_syntax_is_variable_operator(p) : p->kind != TOKEN_VARID)
        ct_syntax_fail(p, "the name of a field");
    CtName name = ct_syntax_token_name(p, ct_syntax_token(p));
    ct_syntax_advance(p);
    if (in_parens) ct_syntax_expect(p, TOKEN_RPAREN, "`)`");
    return name;
}

/* ---- entries ---- */

static bool parser_init(CtParser *p, CtContext *context, uint32_t source, CtComments *comments) {
    enum { LARGEST_SOURCE = 0x7fffffff };
    *p = (CtParser){.context = context, .source = source, .open = CT_NO_TOKEN};
    p->last_error = p->dedented = p->misplaced = CT_NO_TOKEN;
    if (context->sources.items[source].length > LARGEST_SOURCE) {
        ct_error(context, CT_E0108, CT_NO_RANGE, "%s is larger than 2 GB", context->sources.items[source].name);
        return false;
    }
    bool cut_short;
    CtTokens tokens = ct_syntax_lex(context, source, &cut_short, comments);
    p->tokens = tokens.items;
    p->token_count = tokens.count;
    p->token_room = tokens.capacity;
    if (cut_short) p->last_error = tokens.count - 1;
    p->fresh = true;
    p->word_as = ct_intern_text(&context->symbols, "as");
    p->word_hiding = ct_intern_text(&context->symbols, "hiding");
    p->word_qualified = ct_intern_text(&context->symbols, "qualified");
    ct_syntax_settle(p);
    return true;
}

/* Frees the token array and the list stack; the tree does not point into them. */
static void parser_end(CtParser *p) {
    ct_give_back(p->context->arena, p->tokens, p->token_room * sizeof *p->tokens);
    if (p->stack_size > 0) ct_give_back(p->context->arena, p->stack, p->stack_size);
}

/* Error recovery: skips tokens up to the next declaration of the innermost block. In a layout block that is a line that
 * begins at or left of the block's column; in braces, a `;` or `}` outside inner braces. */
static void skip_declaration(CtParser *p, uint32_t start) {
    uint32_t column = p->blocks.count == 0 ? 1 : p->blocks.items[p->blocks.count - 1], braces = 0;
    if (p->at == start && p->tokens[p->at].kind != TOKEN_END) p->at++;
    for (;; p->at++) {
        const CtToken *token = ct_syntax_token(p);
        if (token->kind == TOKEN_END) break;
        if (column > 0 && token->first_on_line && token->column <= column) break;
        if (column > 0) continue;
        if (token->kind == TOKEN_LBRACE) braces++;
        if (braces == 0 && (token->kind == TOKEN_SEMICOLON || token->kind == TOKEN_RBRACE)) break;
        if (token->kind == TOKEN_RBRACE) braces--;
    }
    p->fresh = true;
    ct_syntax_settle(p);
}

void ct_syntax_parse_guarded(CtParser *p, void (*parse)(CtParser *, CtList *), CtList *list) {
    jmp_buf here, *outer = p->recover;
    const uint32_t start = p->at, declaration = p->declaration, blocks = p->blocks.count, depth = p->depth,
                   open = p->open, guards = p->guards, count = list->count;
    const size_t top = p->stack_top;
    p->recover = &here;
    p->declaration = start;
    if (setjmp(here) == 0) {
        parse(p, list);
    } else {
        p->blocks.count = blocks;
        p->depth = depth;
        p->open = open;
        p->guards = guards;
        p->stack_top = top;
        list->count = count;
        skip_declaration(p, start);
    }
    p->recover = outer;
    p->declaration = declaration;
}

/* modid -> conid {. conid} */
CtName ct_syntax_parse_module_name(CtParser *p) {
    const CtToken *token = ct_syntax_token(p);
    if (p->kind != TOKEN_CONID) ct_syntax_fail(p, "the name of a module, which begins with a capital");
    const char *text = p->context->sources.items[p->source].text + token->start;
    CtSym name = ct_intern(&p->context->symbols, text, token->end - token->start);
    ct_syntax_advance(p);
    return (CtName){NULL, name, {p->source, token->start, token->end}};
}

/* [module modid [exports] where] */
static void module_header(CtParser *p, CtList *list) {
    CtModule *module = *(CtModule **)(void *)(p->stack + list->mark);
    if (!ct_syntax_accept(p, TOKEN_MODULE)) return;
    module->name = ct_syntax_parse_module_name(p);
    if (p->kind == TOKEN_LPAREN) {
        module->has_exports = true;
        module->exports = ct_syntax_parse_items(p, &module->export_count);
    }
    ct_syntax_expect(p, TOKEN_WHERE, "`where`");
}

/* One top-level declaration; fails unless a separator or the end of the block follows it. */
static void separated_top_decl(CtParser *p, CtList *list) {
    ct_syntax_parse_top_decl(p, list);
    bool at_end = p->kind == TOKEN_SEMICOLON || p->kind == TOKEN_NEXT_LINE || p->kind == TOKEN_DEDENT;
    if (at_end || (p->kind == TOKEN_RBRACE && p->blocks.items[p->blocks.count - 1] == 0)) return;
    const char *help = NULL;
    if (p->kind == TOKEN_EQUALS)
        help = "a definition has one `=`; to compare, write `==`; declarations of one block begin at the same column";
    if (p->kind == TOKEN_BACKSLASH || p->kind == TOKEN_LET || p->kind == TOKEN_IF || p->kind == TOKEN_CASE ||
        p->kind == TOKEN_DO)
        help = "as an argument this stands in parentheses, or behind `$`";
    ct_syntax_fail_help(p, "the end of the declaration", help);
}

/* Checks that nothing follows the last declaration. */
static void module_end(CtParser *p, CtList *list) {
    (void)list;
    if (p->kind != TOKEN_END) ct_syntax_fail(p, "the end of the file");
}

/* body -> { topdecls } | layout block */
static void top_decls(CtParser *p, CtDecls *decls) {
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtDecl));
    CtBlock block = ct_syntax_block_open(p);
    while (!block.is_empty && p->kind != TOKEN_END && p->context->error_count <= p->context->max_errors) {
        while (p->kind == TOKEN_SEMICOLON || p->kind == TOKEN_NEXT_LINE) ct_syntax_advance(p);
        if (p->kind == TOKEN_DEDENT && ct_syntax_token(p)->kind != TOKEN_END) { /* left of the first declaration */
            CtDiag *diag = ct_error(p->context, CT_E0205, ct_syntax_range_here(p),
                                    "this declaration begins at column %u, the ones above at column %u",
                                    ct_syntax_token(p)->column, p->blocks.items[0]);
            ct_help(p->context, diag, "declarations of one block begin at the same column");
            p->blocks.items[0] = ct_syntax_token(p)->column;
            ct_syntax_settle(p);
            continue;
        }
        if (p->braces && !block.in_braces && p->kind == TOKEN_RBRACE) {
            ct_syntax_advance(p);
            continue;
        }
        if (p->kind == TOKEN_DEDENT || p->kind == TOKEN_RBRACE || p->kind == TOKEN_END) break;
        ct_syntax_mark(p, MARK_ITEM);
        ct_syntax_parse_guarded(p, separated_top_decl, &list);
    }
    decls->count = list.count;
    decls->items = ct_syntax_list_end(p, &list);
    bool closed = p->kind == TOKEN_DEDENT || (block.in_braces && p->kind == TOKEN_RBRACE);
    if (p->blocks.count > 0 && closed) {
        p->blocks.count--;
        p->open = CT_NO_TOKEN;
        if (block.in_braces)
            ct_syntax_advance(p);
        else
            ct_syntax_settle(p);
    }
    if (p->context->error_count <= p->context->max_errors) ct_syntax_parse_guarded(p, module_end, &list);
}

static CtModule *parse_module(CtParser *p) {
    CtContext *context = p->context;
    CtModule *module = CT_NEW(context->arena, CtModule);
    module->source = p->source;
    module->name.text = ct_intern_text(&context->symbols, "Main");
    CtList header;
    ct_syntax_list_begin(p, &header, sizeof(CtModule *));
    CT_LIST_ADD(p, &header, CtModule *, module);
    ct_syntax_parse_guarded(p, module_header, &header);
    ct_syntax_list_end(p, &header);
    top_decls(p, &module->decls);
    return module;
}

CtModule *ct_syntax_parse_module(CtContext *context, uint32_t source) {
    CtParser parser, *p = &parser;
    if (!parser_init(p, context, source, NULL)) return NULL;
    CtModule *module = parse_module(p);
    parser_end(p);
    return module;
}

bool ct_syntax_parse_outline(CtContext *context, uint32_t source, CtOutline *out) {
    CtParser parser, *p = &parser;
    *out = (CtOutline){.marks = {0}};
    uint32_t errors = context->error_count;
    if (!parser_init(p, context, source, &out->comments)) return false;
    p->marks = &out->marks;
    parse_module(p);
    out->tokens.items = p->tokens;
    out->tokens.count = p->token_count;
    return context->error_count == errors;
}

static void whole_expression(CtParser *p, CtList *list) {
    CtExpr *expr = ct_syntax_parse_expr(p);
    if (p->kind != TOKEN_END) ct_syntax_fail(p, "the end of the expression");
    CT_LIST_ADD(p, list, CtExpr *, expr);
}

CtExpr *ct_syntax_parse_expression(CtContext *context, uint32_t source) {
    CtParser parser, *p = &parser;
    if (!parser_init(p, context, source, NULL)) return NULL;
    uint32_t errors = context->error_count;
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtExpr *));
    ct_syntax_parse_guarded(p, whole_expression, &list);
    CtExpr **exprs = ct_syntax_list_end(p, &list);
    return exprs == NULL || context->error_count > errors ? NULL : exprs[0];
}
