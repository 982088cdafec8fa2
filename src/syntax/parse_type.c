/* Types: Haskell 98 §4.1. */
#include "syntax/internal.h"

static CtTypeExpr *type_new(CtParser *p, CtTypeExprKind kind, CtSourceRange range, uint32_t part_count) {
    CtTypeExpr *type = CT_NEW(p->context->arena, CtTypeExpr);
    type->kind = kind;
    type->range = range;
    type->part_count = part_count;
    if (part_count > 0) type->parts = CT_NEW_ARRAY(p->context->arena, CtTypeExpr *, part_count);
    return type;
}

static CtTypeExpr *named(CtParser *p, CtTypeExprKind kind, CtName name) {
    CtTypeExpr *type = type_new(p, kind, name.range, 0);
    type->name = name;
    return type;
}

static CtTypeExpr *special(CtParser *p, uint32_t start, const char *text) {
    CtSourceRange range = ct_syntax_range_from(p, start);
    return named(p, TYPE_EXPR_CON, (CtName){NULL, ct_intern_text(&p->context->symbols, text), range});
}

/* ( -> ) | ( , {,} ): type constructors that stand alone */
static CtTypeExpr *special_in_parens(CtParser *p) {
    uint32_t start = ct_syntax_token(p)->start;
    CtTokenKind kind = (CtTokenKind)ct_syntax_token_after(p, 1)->kind;
    if (kind == TOKEN_RARROW && ct_syntax_token_after(p, 2)->kind == TOKEN_RPAREN) {
        ct_syntax_advance(p);
        ct_syntax_advance(p);
        ct_syntax_advance(p);
        return special(p, start, "->");
    }
    if (kind != TOKEN_COMMA) return NULL;
    uint32_t outer = ct_syntax_bracket_open(p);
    CtText text = ct_text(p->context->arena);
    ct_text_putc(&text, '(');
    while (ct_syntax_accept(p, TOKEN_COMMA)) ct_text_putc(&text, ',');
    ct_text_putc(&text, ')');
    ct_syntax_bracket_close(p, TOKEN_RPAREN, outer);
    return special(p, start, text.data);
}

/* Whether a token may stand in a kind. */
static bool is_of_kind(const CtParser *p) {
    switch ((int)p->kind) {
    case TOKEN_CONID:
    case TOKEN_VARID:
    case TOKEN_VARSYM:
    case TOKEN_RARROW:
    case TOKEN_LPAREN:
    case TOKEN_RPAREN: return true;
    default: return false;
    }
}

/* A kind, as in (f :: * -> *), is inferred, and read over. */
static void skip_kind(CtParser *p) {
    if (!ct_syntax_accept(p, TOKEN_DCOLON)) return;
    for (uint32_t nested = 0; is_of_kind(p) && (nested > 0 || p->kind != TOKEN_RPAREN); ct_syntax_advance(p)) {
        if (p->kind == TOKEN_LPAREN) nested++;
        if (p->kind == TOKEN_RPAREN) nested--;
    }
}

/* ( ) | ( type [:: kind] ) | ( type , … , type ) */
static CtTypeExpr *in_parens(CtParser *p) {
    CtTypeExpr *type = special_in_parens(p);
    if (type != NULL) return type;
    uint32_t start = ct_syntax_token(p)->start, outer = ct_syntax_bracket_open(p);
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtTypeExpr *));
    if (p->kind != TOKEN_RPAREN) {
        do CT_LIST_ADD(p, &list, CtTypeExpr *, ct_syntax_parse_type(p));
        while (ct_syntax_accept(p, TOKEN_COMMA));
        if (list.count == 1) skip_kind(p);
    }
    ct_syntax_bracket_close(p, TOKEN_RPAREN, outer);
    uint32_t count = list.count;
    CtTypeExpr **parts = ct_syntax_list_end(p, &list);
    if (count == 1) {
        parts[0]->range = ct_syntax_range_from(p, start);
        return parts[0];
    }
    type = type_new(p, TYPE_EXPR_TUPLE, ct_syntax_range_from(p, start), 0);
    type->parts = parts;
    type->part_count = count;
    p->context->large_tuples |= count > CT_PRELUDE_TUPLE;
    return type;
}

bool ct_syntax_at_atype(const CtParser *p) {
    return p->kind == TOKEN_VARID || p->kind == TOKEN_CONID || p->kind == TOKEN_LPAREN || p->kind == TOKEN_LBRACKET;
}

/* Whether `forall a b .` stands here. */
static bool at_forall(CtParser *p) {
    uint32_t i = 1;
    if (p->kind != TOKEN_VARID || strcmp(ct_syntax_token_name(p, ct_syntax_token(p)).text->text, "forall") != 0)
        return false;
    while (ct_syntax_token_after(p, i)->kind == TOKEN_VARID) i++;
    const CtToken *end = ct_syntax_token_after(p, i);
    return i > 1 && end->kind == TOKEN_VARSYM && strcmp(ct_syntax_token_name(p, end).text->text, ".") == 0;
}

/* atype -> tyvar | tycon | ( … ) | [ ] | [ type ] */
CtTypeExpr *ct_syntax_parse_atype(CtParser *p) {
    uint32_t start = ct_syntax_token(p)->start;
    if (at_forall(p)) {
        CtQualType *qual = CT_NEW(p->context->arena, CtQualType);
        ct_syntax_enter(p);
        *qual = ct_syntax_parse_qual_type(p);
        CtTypeExpr *type = type_new(p, TYPE_EXPR_FORALL, ct_syntax_range_from(p, start), 1);
        type->parts[0] = qual->type;
        type->qual = qual;
        return type;
    }
    if (p->kind == TOKEN_VARID || p->kind == TOKEN_CONID) {
        CtName name = ct_syntax_token_name(p, ct_syntax_token(p));
        CtTypeExprKind kind = p->kind == TOKEN_VARID ? TYPE_EXPR_VAR : TYPE_EXPR_CON;
        ct_syntax_advance(p);
        return named(p, kind, name);
    }
    if (p->kind == TOKEN_LPAREN) return in_parens(p);
    if (p->kind == TOKEN_EQUALS)
        ct_syntax_fail_help(p, "a type", "`type`, `data` and `class` are keywords, not names of values");
    if (p->kind != TOKEN_LBRACKET) ct_syntax_fail(p, "a type");
    uint32_t outer = ct_syntax_bracket_open(p);
    if (p->kind == TOKEN_RBRACKET) {
        ct_syntax_bracket_close(p, TOKEN_RBRACKET, outer);
        return special(p, start, "[]");
    }
    CtTypeExpr *item = ct_syntax_parse_type(p);
    ct_syntax_bracket_close(p, TOKEN_RBRACKET, outer);
    CtTypeExpr *type = type_new(p, TYPE_EXPR_LIST, ct_syntax_range_from(p, start), 1);
    type->parts[0] = item;
    return type;
}

/* btype -> atype {atype} */
CtTypeExpr *ct_syntax_parse_btype(CtParser *p) {
    CtTypeExpr *type = ct_syntax_parse_atype(p);
    const uint32_t start = type->range.start, depth = p->depth;
    while (ct_syntax_at_atype(p)) {
        ct_syntax_enter(p);
        CtTypeExpr *arg = ct_syntax_parse_atype(p);
        CtTypeExpr *app = type_new(p, TYPE_EXPR_APP, ct_syntax_range_from(p, start), 2);
        app->parts[0] = type;
        app->parts[1] = arg;
        type = app;
    }
    p->depth = depth;
    return type;
}

/* type -> btype {-> btype}; the arrows nest to the right */
CtTypeExpr *ct_syntax_parse_type(CtParser *p) {
    const uint32_t depth = p->depth;
    ct_syntax_enter(p);
    CtTypeExpr *first = ct_syntax_parse_btype(p), *hole = NULL, *type = first;
    while (ct_syntax_accept(p, TOKEN_RARROW)) {
        ct_syntax_enter(p);
        CtTypeExpr *next = ct_syntax_parse_btype(p), *last = hole == NULL ? first : hole->parts[1];
        CtTypeExpr *fun = type_new(p, TYPE_EXPR_FUN, last->range, 2);
        fun->parts[0] = last;
        fun->parts[1] = next;
        if (hole == NULL)
            type = fun;
        else
            hole->parts[1] = fun;
        hole = fun;
    }
    for (CtTypeExpr *t = type; hole != NULL; t = t->parts[1]) { /* each arrow reaches to the end */
        t->range.end = p->last_end;
        if (t == hole) break;
    }
    p->depth = depth;
    return type;
}

/* ---- contexts ---- */

bool ct_syntax_class_applied(CtParser *p, CtTypeExpr *type, CtConstraint *out) {
    *out = (CtConstraint){.range = type->range};
    CtTypeExpr *head = type;
    for (; head->kind == TYPE_EXPR_APP; head = head->parts[0]) out->type_count++;
    if (head->kind != TYPE_EXPR_CON || out->type_count == 0) return false;
    out->class_name = head->name;
    out->types = CT_NEW_ARRAY(p->context->arena, CtTypeExpr *, out->type_count);
    uint32_t i = out->type_count;
    for (; type->kind == TYPE_EXPR_APP; type = type->parts[0]) out->types[--i] = type->parts[1];
    return true;
}

static CtConstraint constraint(CtParser *p, CtTypeExpr *type) {
    CtConstraint result;
    if (ct_syntax_class_applied(p, type, &result)) return result;
    CtDiag *diag = ct_error(p->context, CT_E0214, type->range, "this is not a class constraint");
    ct_help(p->context, diag, "a constraint is a class and a type variable: `Ord a`");
    ct_syntax_leave_declaration(p);
}

static bool is_word(const CtParser *p, CtTokenKind kind, const char *text) {
    return p->kind == kind && strcmp(ct_syntax_token_name(p, ct_syntax_token(p)).text->text, text) == 0;
}

/* (tyvar :: kind) */
static CtName variable_with_kind(CtParser *p) {
    uint32_t outer = ct_syntax_bracket_open(p);
    if (p->kind != TOKEN_VARID) ct_syntax_fail(p, "a type variable");
    CtName name = ct_syntax_token_name(p, ct_syntax_token(p));
    ct_syntax_advance(p);
    skip_kind(p);
    ct_syntax_bracket_close(p, TOKEN_RPAREN, outer);
    return name;
}

bool ct_syntax_accept_forall(CtParser *p, CtName **names, uint32_t *count) {
    CtTokenKind next = (CtTokenKind)ct_syntax_token_after(p, 1)->kind;
    if (!is_word(p, TOKEN_VARID, "forall") || (next != TOKEN_VARID && next != TOKEN_LPAREN)) return false;
    CtList list;
    ct_syntax_advance(p);
    ct_syntax_list_begin(p, &list, sizeof(CtName));
    while (p->kind == TOKEN_VARID || p->kind == TOKEN_LPAREN) {
        if (p->kind == TOKEN_LPAREN) {
            CT_LIST_ADD(p, &list, CtName, variable_with_kind(p));
            continue;
        }
        CT_LIST_ADD(p, &list, CtName, ct_syntax_token_name(p, ct_syntax_token(p)));
        ct_syntax_advance(p);
    }
    *count = list.count;
    *names = ct_syntax_list_end(p, &list);
    if (!is_word(p, TOKEN_VARSYM, ".")) ct_syntax_fail(p, "the `.` behind the variables of `forall`");
    ct_syntax_advance(p);
    return true;
}

void ct_syntax_context_of(CtParser *p, CtTypeExpr *context, CtConstraint **out, uint32_t *count) {
    bool several = context->kind == TYPE_EXPR_TUPLE;
    *count = several ? context->part_count : 1;
    *out = CT_NEW_ARRAY(p->context->arena, CtConstraint, *count);
    for (uint32_t i = 0; i < *count; i++) (*out)[i] = constraint(p, several ? context->parts[i] : context);
}

/* [forall tyvar … .] [context =>] type, where context -> class tyvar | ( class tyvar , … ) */
CtQualType ct_syntax_parse_qual_type(CtParser *p) {
    CtQualType result = {0};
    ct_syntax_accept_forall(p, &result.forall, &result.forall_count);
    result.type = ct_syntax_parse_type(p);
    if (p->kind != TOKEN_DARROW) return result;
    ct_syntax_context_of(p, result.type, &result.constraints, &result.constraint_count);
    ct_syntax_advance(p);
    result.type = ct_syntax_parse_type(p);
    return result;
}
