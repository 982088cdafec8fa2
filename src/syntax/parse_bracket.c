/* Expressions in brackets: parentheses, tuples, sections, lists, ranges, comprehensions, arrays (Haskell 98 §3.5–3.11).
 */
#include "syntax/internal.h"

static CtExpr *with_parts(CtParser *p, CtExpr *expr, CtList *list) {
    expr->part_count = list->count;
    expr->parts = ct_syntax_list_end(p, list);
    return expr;
}

/* ( exp , … , exp ) from its second part on. Parts may be missing: (, x) is the function \y -> (y, x). If all are, it
 * is a constructor. `first` is NULL when it is missing. */
static CtExpr *tuple(CtParser *p, CtExpr *expr, CtExpr *first, uint32_t outer) {
    uint32_t missing = first == NULL;
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtExpr *));
    CT_LIST_ADD(p, &list, CtExpr *, first);
    while (ct_syntax_accept(p, TOKEN_COMMA)) {
        bool is_missing = p->kind == TOKEN_COMMA || p->kind == TOKEN_RPAREN;
        missing += is_missing;
        CT_LIST_ADD(p, &list, CtExpr *, is_missing ? NULL : ct_syntax_parse_expr(p));
    }
    ct_syntax_bracket_close(p, TOKEN_RPAREN, outer);
    with_parts(p, expr, &list);
    expr->kind = EXPR_TUPLE;
    p->context->large_tuples |= expr->part_count > CT_PRELUDE_TUPLE;
    if (missing == 0) return expr;
    if (missing == expr->part_count) {
        expr->kind = EXPR_TUPLE_CON;
        expr->tuple_size = expr->part_count;
        expr->part_count = 0;
        return expr;
    }
    CtExpr *section = ct_syntax_expr_new(p, EXPR_LAM, expr->range);
    section->pats = CT_NEW_ARRAY(p->context->arena, CtPat *, missing);
    for (uint32_t i = 0; i < expr->part_count; i++) {
        if (expr->parts[i] != NULL) continue;
        section->pats[section->pat_count] = ct_syntax_parameter(p, expr->range, section->pat_count, &expr->parts[i]);
        section->pat_count++;
    }
    section->parts = CT_NEW_ARRAY(p->context->arena, CtExpr *, 1);
    section->parts[0] = expr;
    section->part_count = 1;
    section->parenthesised = true;
    return section;
}

/* ( op ) | ( op infixexp ) */
static CtExpr *operator_in_parens(CtParser *p, CtExpr *expr, uint32_t outer) {
    bool quoted = p->kind == TOKEN_BACKQUOTE;
    CtExpr *op = ct_syntax_parse_operator_expr(p);
    if (p->kind == TOKEN_RPAREN && !quoted) {
        ct_syntax_bracket_close(p, TOKEN_RPAREN, outer);
        op->parenthesised = true;
        return op;
    }
    ct_syntax_enter(p);
    CtExpr *operand = ct_syntax_parse_chain(p, false);
    ct_syntax_leave(p);
    ct_syntax_bracket_close(p, TOKEN_RPAREN, outer);
    expr->kind = EXPR_RIGHT_SECTION;
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtExpr *));
    CT_LIST_ADD(p, &list, CtExpr *, op);
    CT_LIST_ADD(p, &list, CtExpr *, operand);
    return with_parts(p, expr, &list);
}

/* ( exp ) | ( infixexp op ) | ( exp , … , exp ) */
static CtExpr *in_parens(CtParser *p, CtExpr *expr, uint32_t outer) {
    ct_syntax_enter(p);
    CtExpr *first = ct_syntax_parse_annotation(p, ct_syntax_parse_chain(p, true));
    ct_syntax_leave(p);
    if (p->kind != TOKEN_COMMA) {
        ct_syntax_bracket_close(p, TOKEN_RPAREN, outer);
        first->parenthesised = true;
        return first;
    }
    return tuple(p, expr, first, outer);
}

static CtExpr *parens(CtParser *p, CtExpr *expr) {
    uint32_t outer = ct_syntax_bracket_open(p);
    bool negation = p->kind == TOKEN_MINUS && ct_syntax_token_after(p, 1)->kind != TOKEN_RPAREN;
    if (p->kind == TOKEN_COMMA) return tuple(p, expr, NULL, outer);
    if (ct_syntax_is_operator(p->kind) && !negation) return operator_in_parens(p, expr, outer);
    if (p->kind != TOKEN_RPAREN) return in_parens(p, expr, outer);
    ct_syntax_bracket_close(p, TOKEN_RPAREN, outer);
    expr->kind = EXPR_TUPLE;
    return expr;
}

/* [ exp .. ] | [ exp .. exp ] | [ exp , exp .. ] | [ exp , exp .. exp ], from `..` on */
static CtExpr *range(CtParser *p, CtExpr *expr, CtExpr *from, CtExpr *then, uint32_t outer) {
    expr->kind = EXPR_RANGE;
    expr->part_count = 3;
    expr->parts = CT_NEW_ARRAY(p->context->arena, CtExpr *, 3);
    expr->parts[0] = from;
    expr->parts[1] = then;
    ct_syntax_advance(p);
    if (p->kind != TOKEN_RBRACKET) expr->parts[2] = ct_syntax_parse_expr(p);
    if (p->kind != TOKEN_RBRACKET) ct_syntax_fail(p, "`]`");
    ct_syntax_bracket_close(p, TOKEN_RBRACKET, outer);
    return expr;
}

/* [ exp | stmt , … , stmt ], from `|` on */
static CtExpr *comprehension(CtParser *p, CtExpr *expr, CtExpr *body, uint32_t outer) {
    expr->kind = EXPR_COMPREHENSION;
    expr->part_count = 1;
    expr->parts = CT_NEW_ARRAY(p->context->arena, CtExpr *, 1);
    expr->parts[0] = body;
    ct_syntax_advance(p);
    expr->stmts = ct_syntax_parse_qualifiers(p, &expr->stmt_count);
    ct_syntax_bracket_close(p, TOKEN_RBRACKET, outer);
    return expr;
}

/* [ ] | [ exp , … , exp ] | range | comprehension */
static CtExpr *list_expr(CtParser *p, CtExpr *expr) {
    uint32_t outer = ct_syntax_bracket_open(p);
    CtList list;
    expr->kind = EXPR_LIST;
    if (p->kind == TOKEN_RBRACKET) {
        ct_syntax_bracket_close(p, TOKEN_RBRACKET, outer);
        return expr;
    }
    CtExpr *first = ct_syntax_parse_expr(p);
    if (p->kind == TOKEN_DOTDOT) return range(p, expr, first, NULL, outer);
    if (p->kind == TOKEN_BAR) return comprehension(p, expr, first, outer);
    ct_syntax_list_begin(p, &list, sizeof(CtExpr *));
    CT_LIST_ADD(p, &list, CtExpr *, first);
    while (ct_syntax_accept(p, TOKEN_COMMA)) {
        CtExpr *next = ct_syntax_parse_expr(p);
        if (list.count == 1 && p->kind == TOKEN_DOTDOT) {
            ct_syntax_list_end(p, &list);
            return range(p, expr, first, next, outer);
        }
        CT_LIST_ADD(p, &list, CtExpr *, next);
    }
    ct_syntax_bracket_close(p, TOKEN_RBRACKET, outer);
    return with_parts(p, expr, &list);
}

/* [| exp , … , exp |] */
static CtExpr *array(CtParser *p, CtExpr *expr) {
    uint32_t outer = ct_syntax_bracket_open(p);
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtExpr *));
    if (p->kind != TOKEN_RARRAY) {
        do CT_LIST_ADD(p, &list, CtExpr *, ct_syntax_parse_expr(p));
        while (ct_syntax_accept(p, TOKEN_COMMA));
    }
    if (p->kind == TOKEN_RBRACKET) ct_syntax_fail_help(p, "`,` or `|]`", "an array ends with `|]`");
    ct_syntax_bracket_close(p, TOKEN_RARRAY, outer);
    expr->kind = EXPR_ARRAY;
    return with_parts(p, expr, &list);
}

CtExpr *ct_syntax_parse_bracketed(CtParser *p) {
    CtExpr *expr = ct_syntax_expr_new(p, EXPR_TUPLE, ct_syntax_range_here(p));
    uint32_t start = expr->range.start;
    CtExpr *result = p->kind == TOKEN_LPAREN     ? parens(p, expr)
                     : p->kind == TOKEN_LBRACKET ? list_expr(p, expr)
                                                 : array(p, expr);
    result->range = ct_syntax_range_from(p, start);
    return result;
}
