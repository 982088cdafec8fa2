/* Patterns: Haskell 98 §3.17. `~p` is read as p: the language is strict. `!p` says something in lazy programs alone. */
#include "syntax/internal.h"

static CtPat *pat_new(CtParser *p, CtPatKind kind, CtSourceRange range) {
    CtPat *pat = CT_NEW(p->context->arena, CtPat);
    pat->kind = kind;
    pat->range = range;
    return pat;
}

/* Whether `!` stands before a pattern, not between two: as in `f !x`, not `a ! i` or `a!i`. */
static bool is_prefix_bang(const CtParser *p, uint32_t at) {
    const CtToken *token = &p->tokens[at];
    if (at + 1 >= p->token_count || token[1].start != token->end) return false;
    if (at == 0) return true;
    bool after_opening = token[-1].kind == TOKEN_LPAREN || token[-1].kind == TOKEN_LBRACKET ||
                         token[-1].kind == TOKEN_COMMA || token[-1].kind == TOKEN_BACKSLASH;
    return token[-1].end < token->start || after_opening;
}

bool ct_syntax_starts_apat(const CtParser *p, uint32_t at) {
    switch ((CtTokenKind)p->tokens[at].kind) {
    case TOKEN_VARID:
    case TOKEN_CONID:
    case TOKEN_INT:
    case TOKEN_FRACTION:
    case TOKEN_CHAR:
    case TOKEN_STRING:
    case TOKEN_LPAREN:
    case TOKEN_LBRACKET:
    case TOKEN_UNDERSCORE:
    case TOKEN_TILDE: return true;
    case TOKEN_BANG: return is_prefix_bang(p, at);
    default: return false;
    }
}

bool ct_syntax_at_apat(const CtParser *p) {
    return p->kind == (CtTokenKind)ct_syntax_token(p)->kind && ct_syntax_starts_apat(p, p->at);
}

/* The text of a number, without underscores. */
static const char *digits_of(CtParser *p, const CtToken *token) {
    char *text = ct_copy_text(p->context->arena, p->context->sources.items[p->source].text + token->start,
                              token->end - token->start),
         *to = text;
    for (const char *from = text; *from != '\0'; from++)
        if (*from != '_') *to++ = *from;
    *to = '\0';
    return text;
}

CtLit ct_syntax_parse_literal(CtParser *p) {
    const CtToken *token = ct_syntax_token(p);
    CtLit lit = {0};
    if (p->kind == TOKEN_INT) {
        lit.kind = LIT_INT;
        lit.integer = (int64_t)token->integer; /* 2^63 becomes -2^63, which is what `-` before it means */
        lit.fraction = (double)token->integer;
        if (token->integer > INT64_MAX) {
            lit.digits = digits_of(p, token);
            lit.fraction = ct_syntax_large_double(p->context->arena, &lit);
        }
    } else if (p->kind == TOKEN_FRACTION) {
        lit.kind = LIT_FRACTION;
        lit.fraction = token->fraction;
        lit.digits = digits_of(p, token);
    } else if (p->kind == TOKEN_CHAR) {
        lit.kind = LIT_CHAR;
        lit.integer = (int64_t)token->integer;
    } else {
        lit.kind = LIT_STRING;
        lit.text = token->string->text;
        lit.text_length = token->string->length;
    }
    ct_syntax_advance(p);
    return lit;
}

static CtPat *literal(CtParser *p) {
    CtPat *pat = pat_new(p, PAT_LIT, ct_syntax_range_here(p));
    pat->lit = ct_syntax_parse_literal(p);
    return pat;
}

/* - (integer | float) */
static CtPat *negative_literal(CtParser *p) {
    uint32_t start = ct_syntax_token(p)->start;
    ct_syntax_advance(p);
    if (p->kind != TOKEN_INT && p->kind != TOKEN_FRACTION) ct_syntax_fail(p, "a number after `-` in a pattern");
    CtPat *pat = literal(p);
    pat->range = ct_syntax_range_from(p, start);
    pat->lit.integer = (int64_t)(0 - (uint64_t)pat->lit.integer);
    pat->lit.fraction = -pat->lit.fraction;
    return pat;
}

static CtPat *bracketed(CtParser *p);

/* con { field = pat , … } */
static CtPat *record(CtParser *p, CtName con) {
    struct Field {
        CtName name;
        CtPat *pat;
    };
    uint32_t outer = ct_syntax_bracket_open(p);
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(struct Field));
    bool rest = false;
    while (p->kind != TOKEN_RBRACE) {
        rest = ct_syntax_accept(p, TOKEN_DOTDOT);
        if (rest) break;
        struct Field field = {.name = ct_syntax_parse_field(p)};
        if (p->kind == TOKEN_COMMA || p->kind == TOKEN_RBRACE) { /* the field's name is the variable's, too */
            field.pat = pat_new(p, PAT_VAR, field.name.range);
            field.pat->name = field.name;
        } else {
            ct_syntax_expect(p, TOKEN_EQUALS, "`=` and a pattern for the field");
            field.pat = bracketed(p);
        }
        CT_LIST_ADD(p, &list, struct Field, field);
        if (!ct_syntax_accept(p, TOKEN_COMMA)) break;
    }
    ct_syntax_bracket_close(p, TOKEN_RBRACE, outer);
    uint32_t count = list.count;
    const struct Field *fields = ct_syntax_list_end(p, &list);
    CtPat *pat = pat_new(p, PAT_RECORD, ct_syntax_range_from(p, con.range.start));
    pat->name = con;
    pat->rest = rest;
    pat->part_count = count;
    pat->fields = CT_NEW_ARRAY(p->context->arena, CtName, count);
    pat->parts = CT_NEW_ARRAY(p->context->arena, CtPat *, count);
    for (uint32_t i = 0; i < count; i++) {
        pat->fields[i] = fields[i].name;
        pat->parts[i] = fields[i].pat;
    }
    return pat;
}

static CtPat *view_pattern(CtParser *p, CtExpr *view, CtPat *part, uint32_t start) {
    CtPat *pat = pat_new(p, PAT_VIEW, ct_syntax_range_from(p, start));
    pat->view = view;
    pat->part_count = 1;
    pat->parts = CT_NEW_ARRAY(p->context->arena, CtPat *, 1);
    pat->parts[0] = part;
    return pat;
}

/* n + 3 is (from'plus 3 -> [n]), by a function of the prelude. */
CtPat *ct_syntax_successor(CtParser *p, CtPat *pat) {
    bool plus = p->kind == TOKEN_VARSYM && strcmp(ct_syntax_token(p)->name->text, "+") == 0;
    if (pat->kind != PAT_VAR || !plus || ct_syntax_token_after(p, 1)->kind != TOKEN_INT) return pat;
    ct_syntax_advance(p);
    CtExpr *view = ct_syntax_expr_new(p, EXPR_APP, ct_syntax_range_here(p));
    view->part_count = 2;
    view->parts = CT_NEW_ARRAY(p->context->arena, CtExpr *, 2);
    view->parts[0] = ct_syntax_expr_new(p, EXPR_VAR, ct_syntax_range_here(p));
    view->parts[0]->name = (CtName){NULL, ct_intern_text(&p->context->symbols, "from'plus"), ct_syntax_range_here(p)};
    view->parts[1] = ct_syntax_expr_new(p, EXPR_LIT, ct_syntax_range_here(p));
    view->parts[1]->lit = ct_syntax_parse_literal(p);
    CtPat *one = pat_new(p, PAT_LIST, pat->range);
    one->part_count = 1;
    one->parts = CT_NEW_ARRAY(p->context->arena, CtPat *, 1);
    one->parts[0] = pat;
    return view_pattern(p, view, one, pat->range.start);
}

/* Whether an arrow, not one of a type, stands in front of the next comma or the end of the brackets: `e -> p`. */
static bool at_view(CtParser *p) {
    uint32_t nested = 0;
    for (uint32_t i = 0;; i++) {
        switch ((int)(i == 0 ? p->kind : (CtTokenKind)ct_syntax_token_after(p, i)->kind)) {
        case TOKEN_LPAREN:
        case TOKEN_LBRACKET:
        case TOKEN_LBRACE: nested++; break;
        case TOKEN_RPAREN:
        case TOKEN_RBRACKET:
        case TOKEN_RBRACE:
            if (nested-- == 0) return false;
            break;
        case TOKEN_RARROW:
            if (nested == 0) return true;
            break;
        case TOKEN_COMMA:
        case TOKEN_DCOLON:
            if (nested == 0) return false;
            break;
        case TOKEN_EQUALS:
        case TOKEN_LARROW:
        case TOKEN_END: return false;
        default: break;
        }
    }
}

/* One of the patterns in brackets: pat | pat + number | expression -> pat */
static CtPat *bracketed(CtParser *p) {
    if (!at_view(p)) return ct_syntax_successor(p, ct_syntax_parse_pat(p));
    uint32_t start = ct_syntax_token(p)->start;
    ct_syntax_enter(p);
    CtExpr *view = ct_syntax_parse_expr(p);
    ct_syntax_expect(p, TOKEN_RARROW, "`->` and a pattern");
    CtPat *part = ct_syntax_successor(p, ct_syntax_parse_pat(p));
    ct_syntax_leave(p);
    return view_pattern(p, view, part, start);
}

/* pat , … , pat up to the closing bracket */
static CtPat *sequence(CtParser *p, CtPatKind kind, CtTokenKind closing) {
    uint32_t start = ct_syntax_token(p)->start, outer = ct_syntax_bracket_open(p);
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtPat *));
    if (p->kind != closing) {
        do {
            CtPat *part = bracketed(p);
            if (p->kind == TOKEN_DCOLON) { /* ( pat :: type ) */
                CtPat *annot = pat_new(p, PAT_ANNOT, part->range);
                ct_syntax_advance(p);
                annot->annot = ct_syntax_parse_type(p);
                annot->range.end = p->last_end;
                annot->parts = CT_NEW_ARRAY(p->context->arena, CtPat *, 1);
                annot->parts[0] = part;
                annot->part_count = 1;
                part = annot;
            }
            CT_LIST_ADD(p, &list, CtPat *, part);
        } while (ct_syntax_accept(p, TOKEN_COMMA));
    }
    ct_syntax_bracket_close(p, closing, outer);
    uint32_t count = list.count;
    CtPat **parts = ct_syntax_list_end(p, &list);
    if (kind == PAT_TUPLE && count == 1) {
        parts[0]->range = ct_syntax_range_from(p, start);
        return parts[0];
    }
    CtPat *pat = pat_new(p, kind, ct_syntax_range_from(p, start));
    pat->parts = parts;
    pat->part_count = count;
    p->context->large_tuples |= kind == PAT_TUPLE && count > CT_PRELUDE_TUPLE;
    return pat;
}

/* The name of ( consym ) or (,,) as a constructor before its arguments; false when another pattern stands here. */
static bool constructor_in_parens(CtParser *p, CtName *name) {
    const CtToken *next = ct_syntax_token_after(p, 1);
    if (p->kind != TOKEN_LPAREN || next->kind != TOKEN_CONSYM || ct_syntax_token_after(p, 2)->kind != TOKEN_RPAREN)
        return false;
    *name = ct_syntax_token_name(p, next);
    ct_syntax_advance(p);
    ct_syntax_advance(p);
    ct_syntax_advance(p);
    return true;
}

/* var | var @ apat */
static CtPat *variable(CtParser *p) {
    uint32_t start = ct_syntax_token(p)->start;
    CtName name = ct_syntax_parse_variable(p);
    CtPat *pat = pat_new(p, PAT_VAR, ct_syntax_range_from(p, start));
    pat->name = name;
    if (!ct_syntax_accept(p, TOKEN_AT)) return pat;
    ct_syntax_enter(p);
    CtPat *part = ct_syntax_parse_apat(p);
    ct_syntax_leave(p);
    pat->kind = PAT_AS;
    pat->parts = CT_NEW_ARRAY(p->context->arena, CtPat *, 1);
    pat->parts[0] = part;
    pat->part_count = 1;
    pat->range.end = p->last_end;
    return pat;
}

static CtPat *constructor(CtParser *p, CtName name) {
    if (p->kind == TOKEN_LBRACE) return record(p, name);
    CtPat *pat = pat_new(p, PAT_CON, name.range);
    pat->name = name;
    return pat;
}

/* var [@ apat] | con | con { fields } | literal | _ | ( pat , … ) | [ pat , … ] */
static CtPat *plain_pattern(CtParser *p) {
    CtName name;
    CtPat *pat;
    switch (p->kind) {
    case TOKEN_VARID: return variable(p);
    case TOKEN_CONID:
        name = ct_syntax_token_name(p, ct_syntax_token(p));
        ct_syntax_advance(p);
        return constructor(p, name);
    case TOKEN_INT:
    case TOKEN_FRACTION:
    case TOKEN_CHAR:
    case TOKEN_STRING: return literal(p);
    case TOKEN_UNDERSCORE:
        pat = pat_new(p, PAT_WILD, ct_syntax_range_here(p));
        ct_syntax_advance(p);
        return pat;
    case TOKEN_LPAREN:
        if (constructor_in_parens(p, &name)) return constructor(p, name);
        if (ct_syntax_at_variable(p)) return variable(p);
        return sequence(p, PAT_TUPLE, TOKEN_RPAREN);
    case TOKEN_LBRACKET: return sequence(p, PAT_LIST, TOKEN_RBRACKET);
    case TOKEN_LARRAY:
        ct_syntax_fail_help(p, "a pattern", "arrays have no patterns; take them apart with `!` and `length`");
    case TOKEN_EQUALS: ct_syntax_fail_help(p, "a pattern", "before `=` stands the name or the pattern that is defined");
    default: ct_syntax_fail(p, "a pattern");
    }
}

/* apat -> pattern | ! apat | ~ apat */
CtPat *ct_syntax_parse_apat(CtParser *p) {
    bool bang = false;
    for (; p->kind == TOKEN_BANG || p->kind == TOKEN_TILDE; ct_syntax_advance(p)) bang |= p->kind == TOKEN_BANG;
    CtPat *pat = plain_pattern(p);
    pat->bang |= bang;
    return pat;
}

/* Parses a tuple constructor and its arguments, (,,) a b c, as a tuple pattern. */
static CtPat *tuple_constructor(CtParser *p) {
    uint32_t start = ct_syntax_token(p)->start, size = 1, outer = ct_syntax_bracket_open(p);
    while (ct_syntax_accept(p, TOKEN_COMMA)) size++;
    ct_syntax_bracket_close(p, TOKEN_RPAREN, outer);
    CtPat *pat = pat_new(p, PAT_TUPLE, CT_NO_RANGE);
    pat->parts = CT_NEW_ARRAY(p->context->arena, CtPat *, size);
    pat->part_count = size;
    for (uint32_t i = 0; i < size; i++) pat->parts[i] = ct_syntax_parse_apat(p);
    pat->range = ct_syntax_range_from(p, start);
    return pat;
}

/* lpat -> apat | - number | con apat {apat} */
static CtPat *operand(CtParser *p) {
    if (p->kind == TOKEN_MINUS) return negative_literal(p);
    if (p->kind == TOKEN_LPAREN && ct_syntax_token_after(p, 1)->kind == TOKEN_COMMA) return tuple_constructor(p);
    bool may_apply =
        p->kind == TOKEN_CONID || (p->kind == TOKEN_LPAREN && ct_syntax_token_after(p, 1)->kind == TOKEN_CONSYM);
    CtPat *pat = ct_syntax_parse_apat(p);
    if (!may_apply || pat->kind != PAT_CON || !ct_syntax_at_apat(p)) return pat;
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtPat *));
    while (ct_syntax_at_apat(p)) CT_LIST_ADD(p, &list, CtPat *, ct_syntax_parse_apat(p));
    pat->part_count = list.count;
    pat->parts = ct_syntax_list_end(p, &list);
    pat->range.end = p->last_end;
    return pat;
}

/* pat -> lpat {conop lpat} */
CtPat *ct_syntax_parse_pat(CtParser *p) {
    ct_syntax_enter(p);
    CtPat *first = operand(p);
    if (!ct_syntax_is_constructor_operator(p)) {
        ct_syntax_leave(p);
        return first;
    }
    struct Link {
        CtName op;
        CtPat *pat;
    };
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(struct Link));
    const uint32_t depth = p->depth;
    while (ct_syntax_is_constructor_operator(p)) {
        bool is_con;
        ct_syntax_enter(p); /* the resolved pattern may be as deep as the chain is long */
        struct Link link = {.op = ct_syntax_parse_operator(p, &is_con)};
        link.pat = operand(p);
        CT_LIST_ADD(p, &list, struct Link, link);
    }
    p->depth = depth;
    uint32_t count = list.count;
    const struct Link *links = ct_syntax_list_end(p, &list);
    CtPat *chain = pat_new(p, PAT_CHAIN, ct_syntax_range_from(p, first->range.start));
    chain->part_count = count + 1;
    chain->parts = CT_NEW_ARRAY(p->context->arena, CtPat *, count + 1);
    chain->fields = CT_NEW_ARRAY(p->context->arena, CtName, count);
    chain->parts[0] = first;
    for (uint32_t i = 0; i < count; i++) {
        chain->fields[i] = links[i].op;
        chain->parts[i + 1] = links[i].pat;
    }
    ct_syntax_leave(p);
    return chain;
}
