/* Expressions: Haskell 98 §3. What stands in brackets is in parse_bracket.c. */
#include "syntax/internal.h"

CtExpr *ct_syntax_expr_new(CtParser *p, CtExprKind kind, CtSourceRange range) {
    CtExpr *expr = CT_NEW(p->context->arena, CtExpr);
    expr->kind = kind;
    expr->range = range;
    return expr;
}

CtPat *ct_syntax_parameter(CtParser *p, CtSourceRange range, uint32_t number, CtExpr **use) {
    CtName name = {.text =
                       ct_intern_text(&p->context->symbols, ct_format(p->context->arena, "argument %u", number + 1)),
                   .range = range};
    CtPat *pat = CT_NEW(p->context->arena, CtPat);
    pat->kind = PAT_VAR;
    pat->range = range;
    pat->name = name;
    *use = ct_syntax_expr_new(p, EXPR_VAR, range);
    (*use)->name = name;
    return pat;
}

static void set_parts(CtParser *p, CtExpr *expr, uint32_t count) {
    expr->parts = CT_NEW_ARRAY(p->context->arena, CtExpr *, count);
    expr->part_count = count;
}

/* ---- statements, guards and qualifiers ---- */

/* Whether the statement that begins here is a generator `pat <- exp`, found by a search for `<-`. The search steps over
 * brackets and stops at any token not listed below, so that over nested statements it takes linear time. */
static bool is_bind(const CtParser *p) {
    uint32_t column = p->blocks.count == 0 ? 0 : p->blocks.items[p->blocks.count - 1];
    for (uint32_t at = p->at; at < p->token_count; at++) {
        const CtToken *token = &p->tokens[at];
        if (at > p->at && token->first_on_line && token->column <= column) return false;
        switch ((CtTokenKind)token->kind) {
        case TOKEN_LARROW: return true;
        case TOKEN_LPAREN:
        case TOKEN_LBRACKET:
        case TOKEN_LBRACE:
            if (token->match == CT_NO_TOKEN) return false;
            at = token->match;
            break;
        case TOKEN_VARID:
        case TOKEN_CONID:
        case TOKEN_CONSYM:
        case TOKEN_MINUS:
        case TOKEN_BANG:
        case TOKEN_INT:
        case TOKEN_FRACTION:
        case TOKEN_CHAR:
        case TOKEN_STRING:
        case TOKEN_BACKQUOTE:
        case TOKEN_AT:
        case TOKEN_TILDE:
        case TOKEN_UNDERSCORE: break;
        default: return false;
        }
    }
    return false;
}

static CtExpr *let_in(CtParser *p, uint32_t start, CtDecls decls) {
    ct_syntax_expect(p, TOKEN_IN, "`in` and the expression that the declarations of `let` are for");
    CtExpr *let = ct_syntax_expr_new(p, EXPR_LET, CT_NO_RANGE);
    let->decls = decls;
    set_parts(p, let, 1);
    let->parts[0] = ct_syntax_parse_expr(p);
    let->range = ct_syntax_range_from(p, start);
    return let;
}

/* stmt -> pat <- exp | let decls | exp */
static CtStmt statement(CtParser *p) {
    CtStmt stmt = {.kind = STMT_EXPR};
    uint32_t start = ct_syntax_token(p)->start;
    if (ct_syntax_accept(p, TOKEN_LET)) {
        ct_syntax_parse_decls(p, &stmt.decls);
        stmt.kind = STMT_LET;
        if (p->kind == TOKEN_IN) {
            stmt.expr = let_in(p, start, stmt.decls);
            stmt.kind = STMT_EXPR;
            stmt.decls = (CtDecls){0};
        }
    } else if (is_bind(p)) {
        stmt.kind = STMT_BIND;
        stmt.pat = ct_syntax_parse_pat(p);
        ct_syntax_expect(p, TOKEN_LARROW, "`<-`");
        stmt.expr = ct_syntax_parse_expr(p);
    } else {
        stmt.expr = ct_syntax_parse_expr(p);
    }
    stmt.range = ct_syntax_range_from(p, start);
    return stmt;
}

/* stmt , … , stmt */
CtStmt *ct_syntax_parse_qualifiers(CtParser *p, uint32_t *count) {
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtStmt));
    do CT_LIST_ADD(p, &list, CtStmt, statement(p));
    while (ct_syntax_accept(p, TOKEN_COMMA));
    *count = list.count;
    return ct_syntax_list_end(p, &list);
}

/* { stmt ; … ; exp } */
static CtStmt *parse_statements(CtParser *p, uint32_t *count) {
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtStmt));
    CtBlock block = ct_syntax_block_open(p);
    while (ct_syntax_block_next(p, &block)) CT_LIST_ADD(p, &list, CtStmt, statement(p));
    *count = list.count;
    return ct_syntax_list_end(p, &list);
}

/* Reports `| otherwise 0`, which lacks its `=`. */
static void check_otherwise(CtParser *p, const CtStmt *guard, CtTokenKind separator) {
    const CtExpr *expr = guard->kind == STMT_EXPR ? guard->expr : NULL;
    if (p->kind == separator || expr == NULL || expr->kind != EXPR_APP || expr->parts[0]->kind != EXPR_VAR) return;
    if (expr->parts[0]->name.module != NULL || strcmp(expr->parts[0]->name.text->text, "otherwise") != 0) return;
    const char *sign = separator == TOKEN_EQUALS ? "=" : "->";
    CtDiag *diag = ct_error(p->context, CT_E0201, expr->parts[1]->range, "expected `%s` behind `otherwise`", sign);
    ct_help(p->context, diag, "the guard and its result are parted: `| otherwise %s …`", sign);
    ct_syntax_leave_declaration(p);
}

/* Whether a further guard follows. Those of `if` make a block, whose lines may begin with a guard each. */
static bool next_guard(CtParser *p, bool in_block) {
    if (in_block && p->kind == TOKEN_NEXT_LINE && ct_syntax_token(p)->kind == TOKEN_BAR) {
        ct_syntax_mark(p, MARK_ITEM);
        ct_syntax_advance(p);
    }
    return p->kind == TOKEN_BAR;
}

/* = exp, or gd = exp for each guard, where gd is | guard , … , guard; with -> for = in alternatives */
static void guarded_expressions(CtParser *p, CtTokenKind separator, bool in_block, CtRhs *rhs) {
    const char *expected = separator == TOKEN_EQUALS ? "`=` or a guard `|`" : "`->` or a guard `|`";
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtGuarded));
    CtGuarded guarded;
    do {
        guarded = (CtGuarded){0};
        uint32_t start = ct_syntax_token(p)->start;
        if (ct_syntax_accept(p, TOKEN_BAR)) {
            guarded.guards = ct_syntax_parse_qualifiers(p, &guarded.guard_count);
            expected = separator == TOKEN_EQUALS ? "`=` after the guard" : "`->` after the guard";
        }
        if (guarded.guard_count > 0) check_otherwise(p, &guarded.guards[guarded.guard_count - 1], separator);
        if (p->kind != separator && (p->kind == TOKEN_EQUALS || p->kind == TOKEN_RARROW))
            ct_syntax_fail_help(p, expected,
                                separator == TOKEN_EQUALS ? "definitions use `=`, alternatives of `case` use `->`"
                                                          : "alternatives of `case` use `->`");
        ct_syntax_expect(p, separator, expected);
        guarded.body = ct_syntax_parse_expr(p);
        guarded.range = ct_syntax_range_from(p, start);
        CT_LIST_ADD(p, &list, CtGuarded, guarded);
    } while (guarded.guard_count > 0 && next_guard(p, in_block));
    rhs->guarded_count = list.count;
    rhs->guarded = ct_syntax_list_end(p, &list);
}

/* rhs -> ( = exp | {gd = exp} ) [where decls] */
void ct_syntax_parse_rhs(CtParser *p, CtTokenKind separator, CtRhs *rhs) {
    guarded_expressions(p, separator, false, rhs);
    if (ct_syntax_accept(p, TOKEN_WHERE)) ct_syntax_parse_decls(p, &rhs->where);
}

/* ---- expressions that extend as far to the right as possible ---- */

/* alt -> pat rhs */
static CtAlt alternative(CtParser *p) {
    CtAlt alt = {0};
    uint32_t start = ct_syntax_token(p)->start;
    alt.pat = ct_syntax_successor(p, ct_syntax_parse_pat(p));
    ct_syntax_parse_rhs(p, TOKEN_RARROW, &alt.rhs);
    alt.range = ct_syntax_range_from(p, start);
    return alt;
}

/* { alt ; … ; alt } */
static void alternatives(CtParser *p, CtExpr *expr) {
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtAlt));
    CtBlock block = ct_syntax_block_open(p);
    while (ct_syntax_block_next(p, &block)) CT_LIST_ADD(p, &list, CtAlt, alternative(p));
    if (list.count == 0) ct_syntax_fail(p, "an alternative `pattern -> expression` of `case`");
    expr->alt_count = list.count;
    expr->alts = ct_syntax_list_end(p, &list);
    expr->range.end = p->last_end;
}

/* case exp of { alt ; … ; alt } */
static CtExpr *case_of(CtParser *p) {
    CtExpr *expr = ct_syntax_expr_new(p, EXPR_CASE, ct_syntax_range_here(p));
    ct_syntax_advance(p);
    set_parts(p, expr, 1);
    expr->parts[0] = ct_syntax_parse_expr(p);
    ct_syntax_expect(p, TOKEN_OF, "`of` after the expression of `case`");
    alternatives(p, expr);
    return expr;
}

/* \case { alts } is \x -> case x of { alts }, for a variable that no program can name. */
static CtExpr *lambda_case(CtParser *p, CtExpr *lambda) {
    CtExpr *body = ct_syntax_expr_new(p, EXPR_CASE, ct_syntax_range_here(p));
    ct_syntax_advance(p);
    set_parts(p, body, 1);
    lambda->pats = CT_NEW_ARRAY(p->context->arena, CtPat *, 1);
    lambda->pat_count = 1;
    lambda->pats[0] = ct_syntax_parameter(p, body->range, 0, &body->parts[0]);
    alternatives(p, body);
    set_parts(p, lambda, 1);
    lambda->parts[0] = body;
    lambda->range.end = p->last_end;
    return lambda;
}

/* \ apat {apat} -> exp */
static CtExpr *lambda(CtParser *p) {
    CtExpr *expr = ct_syntax_expr_new(p, EXPR_LAM, ct_syntax_range_here(p));
    ct_syntax_advance(p);
    if (p->kind == TOKEN_CASE) return lambda_case(p, expr);
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtPat *));
    do CT_LIST_ADD(p, &list, CtPat *, ct_syntax_parse_apat(p));
    while (ct_syntax_at_apat(p));
    expr->pat_count = list.count;
    expr->pats = ct_syntax_list_end(p, &list);
    if (p->kind == TOKEN_EQUALS) ct_syntax_fail_help(p, "`->` after the patterns of the function", "write `\\x -> …`");
    ct_syntax_expect(p, TOKEN_RARROW, "`->` after the patterns of the function");
    set_parts(p, expr, 1);
    expr->parts[0] = ct_syntax_parse_expr(p);
    expr->range.end = p->last_end;
    return expr;
}

/* let decls in exp */
static CtExpr *let(CtParser *p) {
    uint32_t start = ct_syntax_token(p)->start;
    CtDecls decls = {0};
    ct_syntax_advance(p);
    ct_syntax_parse_decls(p, &decls);
    return let_in(p, start, decls);
}

/* A `;` may stand before `then` and `else`, so that `if` can be written in a `do` block with its parts aligned. */
static void branch(CtParser *p, CtTokenKind kind, const char *expected, const char *help) {
    if (p->kind == TOKEN_NEXT_LINE && ct_syntax_token(p)->kind == kind) ct_syntax_advance(p);
    if (p->kind == TOKEN_SEMICOLON && ct_syntax_token_after(p, 1)->kind == kind) ct_syntax_advance(p);
    if (p->kind == kind)
        ct_syntax_advance(p);
    else
        ct_syntax_fail_help(p, expected, p->kind == TOKEN_EQUALS ? NULL : help);
}

/* if | guards -> exp … is case () of _ | guards -> exp …; a line left of the first guard is no part of it */
static CtExpr *guards_of_if(CtParser *p, CtExpr *expr) {
    expr->kind = EXPR_CASE;
    set_parts(p, expr, 1);
    expr->parts[0] = ct_syntax_expr_new(p, EXPR_TUPLE, expr->range);
    expr->alts = CT_NEW(p->context->arena, CtAlt);
    expr->alt_count = 1;
    expr->alts->pat = CT_NEW(p->context->arena, CtPat);
    *expr->alts->pat = (CtPat){.kind = PAT_WILD, .range = expr->range};
    CtBlock block = ct_syntax_block_open(p);
    uint32_t outer = p->guards;
    if (!block.is_empty) {
        p->guards = p->blocks.count;
        ct_syntax_mark(p, MARK_ITEM);
    }
    guarded_expressions(p, TOKEN_RARROW, !block.is_empty, &expr->alts->rhs);
    p->guards = outer;
    if (!block.is_empty) ct_syntax_block_close(p);
    expr->range.end = expr->alts->range.end = p->last_end;
    return expr;
}

/* if exp [;] then exp [;] else exp */
static CtExpr *conditional(CtParser *p) {
    CtExpr *expr = ct_syntax_expr_new(p, EXPR_IF, ct_syntax_range_here(p));
    ct_syntax_advance(p);
    if (p->kind == TOKEN_BAR) return guards_of_if(p, expr);
    set_parts(p, expr, 3);
    expr->parts[0] = ct_syntax_parse_expr(p);
    branch(p, TOKEN_THEN, "`then` after the condition of `if`", NULL);
    expr->parts[1] = ct_syntax_parse_expr(p);
    branch(p, TOKEN_ELSE, "`else`", "every `if` has an `else`: `if c then x else y`");
    expr->parts[2] = ct_syntax_parse_expr(p);
    expr->range.end = p->last_end;
    return expr;
}

/* do { stmts } */
static CtExpr *do_block(CtParser *p) {
    CtExpr *expr = ct_syntax_expr_new(p, EXPR_DO, ct_syntax_range_here(p));
    ct_syntax_advance(p);
    expr->stmts = parse_statements(p, &expr->stmt_count);
    if (expr->stmt_count == 0) ct_syntax_fail(p, "a statement of `do`");
    expr->range.end = p->last_end;
    const CtStmt *last = &expr->stmts[expr->stmt_count - 1];
    if (last->kind != STMT_EXPR)
        ct_error(p->context, CT_E0213, last->range, "the last statement of a `do` block must be an expression");
    return expr;
}

/* ---- application ---- */

static bool at_atom(const CtParser *p) {
    switch (p->kind) {
    case TOKEN_VARID:
    case TOKEN_CONID:
    case TOKEN_INT:
    case TOKEN_FRACTION:
    case TOKEN_CHAR:
    case TOKEN_STRING:
    case TOKEN_LPAREN:
    case TOKEN_LBRACKET:
    case TOKEN_LARRAY: return true;
    default: return false;
    }
}

static CtExpr *name_or_literal(CtParser *p) {
    CtExpr *expr = ct_syntax_expr_new(p, EXPR_LIT, ct_syntax_range_here(p));
    if (p->kind == TOKEN_VARID || p->kind == TOKEN_CONID) {
        expr->kind = p->kind == TOKEN_VARID ? EXPR_VAR : EXPR_CON;
        expr->name = ct_syntax_token_name(p, ct_syntax_token(p));
        ct_syntax_advance(p);
    } else {
        expr->lit = ct_syntax_parse_literal(p);
    }
    return expr;
}

/* { field = exp , … }: construction after a constructor, else update */
static CtExpr *record(CtParser *p, CtExpr *subject) {
    struct Field {
        CtName name;
        CtExpr *value;
    };
    uint32_t outer = ct_syntax_bracket_open(p);
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(struct Field));
    bool constructs = subject->kind == EXPR_CON && !subject->parenthesised, rest = false;
    while (p->kind != TOKEN_RBRACE) {
        rest = constructs && ct_syntax_accept(p, TOKEN_DOTDOT);
        if (rest) break;
        struct Field field = {.name = ct_syntax_parse_field(p)};
        if (p->kind == TOKEN_COMMA || p->kind == TOKEN_RBRACE) { /* the field's name is the variable's, too */
            field.value = ct_syntax_expr_new(p, EXPR_VAR, field.name.range);
            field.value->name = field.name;
        } else {
            ct_syntax_expect(p, TOKEN_EQUALS, "`=` and the value of the field");
            field.value = ct_syntax_parse_expr(p);
        }
        CT_LIST_ADD(p, &list, struct Field, field);
        if (!ct_syntax_accept(p, TOKEN_COMMA)) break;
    }
    ct_syntax_bracket_close(p, TOKEN_RBRACE, outer);
    uint32_t count = list.count;
    const struct Field *fields = ct_syntax_list_end(p, &list);
    CtExpr *expr =
        ct_syntax_expr_new(p, constructs ? EXPR_RECORD : EXPR_UPDATE, ct_syntax_range_from(p, subject->range.start));
    set_parts(p, expr, count + 1);
    expr->rest = rest;
    expr->fields = CT_NEW_ARRAY(p->context->arena, CtName, count);
    expr->parts[0] = subject;
    for (uint32_t i = 0; i < count; i++) {
        expr->fields[i] = fields[i].name;
        expr->parts[i + 1] = fields[i].value;
    }
    if (!constructs && count == 0) ct_error(p->context, CT_E0201, expr->range, "an update names at least one field");
    return expr;
}

/* aexp -> var | con | literal | brackets | aexp { fields } */
static CtExpr *parse_atom(CtParser *p) {
    CtExpr *atom;
    switch (p->kind) {
    case TOKEN_VARID:
    case TOKEN_CONID:
    case TOKEN_INT:
    case TOKEN_FRACTION:
    case TOKEN_CHAR:
    case TOKEN_STRING: atom = name_or_literal(p); break;
    case TOKEN_LPAREN:
    case TOKEN_LBRACKET:
    case TOKEN_LARRAY: atom = ct_syntax_parse_bracketed(p); break;
    case TOKEN_UNDERSCORE:
        ct_syntax_fail_help(p, "an expression", "`_` is a pattern: it matches anything and has no value");
    default: ct_syntax_fail(p, "an expression");
    }
    const uint32_t depth = p->depth;
    for (; p->kind == TOKEN_LBRACE; atom = record(p, atom)) ct_syntax_enter(p);
    p->depth = depth;
    return atom;
}

/* Whether `@` stands before a type: as in `read @Int`, not `x@y`. */
static bool at_type(const CtParser *p) {
    const CtToken *token = ct_syntax_token(p);
    return p->kind == TOKEN_AT && p->last_end < token->start && token[1].start == token->end;
}

/* {@ atype} behind a name */
static void type_arguments(CtParser *p, CtExpr *fun) {
    if ((fun->kind != EXPR_VAR && fun->kind != EXPR_CON) || !at_type(p)) return;
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtQualType));
    while (at_type(p)) {
        CtQualType given = {0};
        ct_syntax_advance(p);
        if (!ct_syntax_accept(p, TOKEN_UNDERSCORE)) given.type = ct_syntax_parse_atype(p);
        CT_LIST_ADD(p, &list, CtQualType, given);
    }
    fun->at = CT_NEW(p->context->arena, CtTypeArgs);
    fun->at->count = list.count;
    fun->at->types = ct_syntax_list_end(p, &list);
}

/* fexp -> aexp {@ atype} {aexp} */
static CtExpr *application(CtParser *p) {
    CtExpr *fun = parse_atom(p);
    type_arguments(p, fun);
    if (!at_atom(p)) return fun;
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtExpr *));
    CT_LIST_ADD(p, &list, CtExpr *, fun);
    while (at_atom(p)) CT_LIST_ADD(p, &list, CtExpr *, parse_atom(p));
    CtExpr *app = ct_syntax_expr_new(p, EXPR_APP, ct_syntax_range_from(p, fun->range.start));
    app->part_count = list.count;
    app->parts = ct_syntax_list_end(p, &list);
    return app;
}

/* exp10 -> \ … | let … | if … | case … | do … | fexp */
static CtExpr *operand(CtParser *p) {
    switch (p->kind) {
    case TOKEN_BACKSLASH: return lambda(p);
    case TOKEN_LET: return let(p);
    case TOKEN_IF: return conditional(p);
    case TOKEN_CASE: return case_of(p);
    case TOKEN_DO: return do_block(p);
    default: return application(p);
    }
}

/* ---- operators ---- */

CtExpr *ct_syntax_parse_operator_expr(CtParser *p) {
    bool is_con;
    uint32_t start = ct_syntax_token(p)->start;
    CtName name = ct_syntax_parse_operator(p, &is_con);
    CtExpr *op = ct_syntax_expr_new(p, is_con ? EXPR_CON : EXPR_VAR, ct_syntax_range_from(p, start));
    op->name = name;
    return op;
}

static CtExpr *chain_of(CtParser *p, CtList *list, uint32_t start) {
    uint32_t count = list->count;
    CtChainItem *items = ct_syntax_list_end(p, list);
    if (count == 1) return items[0].expr;
    CtExpr *chain = ct_syntax_expr_new(p, EXPR_CHAIN, ct_syntax_range_from(p, start));
    chain->chain = items;
    chain->chain_count = count;
    return chain;
}

static CtChainItem chain_item(int kind, CtExpr *expr) {
    CtChainItem item = {.expr = expr, .range = expr->range};
    if (kind == CHAIN_OPERATOR) item.kind = CHAIN_OPERATOR;
    return item;
}

static CtChainItem minus(CtParser *p) {
    CtChainItem item = {.kind = CHAIN_MINUS, .range = ct_syntax_range_here(p)};
    ct_syntax_advance(p);
    return item;
}

/* ( infixexp op ), from the chain items read before the operator, and the operator */
static CtExpr *left_section(CtParser *p, CtList *list, CtExpr *op) {
    const CtChainItem *items = (const CtChainItem *)(const void *)(p->stack + list->mark);
    CtSourceRange range = ct_range_join(items[0].range, items[list->count - 1].range);
    CtExpr *section = ct_syntax_expr_new(p, EXPR_LEFT_SECTION, ct_syntax_range_from(p, range.start));
    set_parts(p, section, 2);
    section->parts[0] = chain_of(p, list, range.start);
    section->parts[0]->range = range;
    section->parts[1] = op;
    return section;
}

/* infixexp -> [-] exp10 {op [-] exp10}; in parentheses a section may end in an operator */
CtExpr *ct_syntax_parse_chain(CtParser *p, bool section) {
    CtExpr *operand_read = NULL;
    uint32_t start = ct_syntax_token(p)->start;
    if (p->kind != TOKEN_MINUS) {
        operand_read = operand(p);
        if (!ct_syntax_is_operator(p->kind)) return operand_read;
    }
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtChainItem));
    for (;; operand_read = NULL) {
        if (operand_read == NULL && p->kind == TOKEN_MINUS) CT_LIST_ADD(p, &list, CtChainItem, minus(p));
        if (operand_read == NULL) operand_read = operand(p);
        CT_LIST_ADD(p, &list, CtChainItem, chain_item(CHAIN_OPERAND, operand_read));
        if (!ct_syntax_is_operator(p->kind)) return chain_of(p, &list, start);
        CtExpr *op = ct_syntax_parse_operator_expr(p);
        if (section && p->kind == TOKEN_RPAREN) return left_section(p, &list, op);
        CT_LIST_ADD(p, &list, CtChainItem, chain_item(CHAIN_OPERATOR, op));
    }
}

CtExpr *ct_syntax_parse_annotation(CtParser *p, CtExpr *expr) {
    if (!ct_syntax_accept(p, TOKEN_DCOLON)) return expr;
    CtExpr *annot = ct_syntax_expr_new(p, EXPR_ANNOT, CT_NO_RANGE);
    annot->annot = CT_NEW(p->context->arena, CtQualType);
    *annot->annot = ct_syntax_parse_qual_type(p);
    set_parts(p, annot, 1);
    annot->parts[0] = expr;
    annot->range = ct_syntax_range_from(p, expr->range.start);
    return annot;
}

/* exp -> infixexp [:: [context =>] type] */
CtExpr *ct_syntax_parse_expr(CtParser *p) {
    ct_syntax_enter(p);
    CtExpr *expr = ct_syntax_parse_annotation(p, ct_syntax_parse_chain(p, false));
    ct_syntax_leave(p);
    return expr;
}
