/* Declarations that a block may hold: signatures, fixities, functions and pattern bindings (Haskell 98 §4.4). */
#include "syntax/internal.h"

/* ---- signatures and fixities ---- */

/* Whether var , … , var :: stands here. */
static bool is_signature(const CtParser *p) {
    for (uint32_t at = p->at; at + 3 < p->token_count; at++) {
        const CtToken *token = &p->tokens[at];
        CtTokenKind inner = (CtTokenKind)token[1].kind;
        if (token->kind == TOKEN_LPAREN) {
            bool op = inner == TOKEN_VARSYM || inner == TOKEN_MINUS || inner == TOKEN_BANG;
            if (!op || token[2].kind != TOKEN_RPAREN) return false;
            at += 3;
        } else if (token->kind == TOKEN_VARID) {
            at++;
        } else {
            return false;
        }
        if (p->tokens[at].kind == TOKEN_DCOLON) return true;
        if (p->tokens[at].kind != TOKEN_COMMA) return false;
    }
    return false;
}

/* var , … , var :: [context =>] type */
static CtDecl signature(CtParser *p) {
    CtDecl decl = {.kind = DECL_SIGNATURE};
    uint32_t start = ct_syntax_token(p)->start;
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtName));
    do CT_LIST_ADD(p, &list, CtName, ct_syntax_parse_variable(p));
    while (ct_syntax_accept(p, TOKEN_COMMA));
    decl.name_count = list.count;
    decl.names = ct_syntax_list_end(p, &list);
    ct_syntax_expect(p, TOKEN_DCOLON, "`::`");
    decl.type = ct_syntax_parse_qual_type(p);
    decl.range = ct_syntax_range_from(p, start);
    return decl;
}

/* (infixl | infixr | infix) [digit] op , … , op */
static CtDecl fixity(CtParser *p) {
    enum { DEFAULT = 9 };
    CtDecl decl = {.kind = DECL_FIXITY, .precedence = DEFAULT};
    uint32_t start = ct_syntax_token(p)->start;
    decl.fixity = p->kind == TOKEN_INFIXL ? FIXITY_LEFT : p->kind == TOKEN_INFIXR ? FIXITY_RIGHT : FIXITY_NONE;
    ct_syntax_advance(p);
    if (p->kind == TOKEN_INT) {
        if (ct_syntax_token(p)->integer > DEFAULT)
            ct_error(p->context, CT_E0210, ct_syntax_range_here(p), "the precedence of an operator is a digit, 0 to 9");
        else
            decl.precedence = (int)ct_syntax_token(p)->integer;
        ct_syntax_advance(p);
    }
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtName));
    do {
        bool is_con;
        if (!ct_syntax_is_operator(p->kind))
            ct_syntax_fail_help(p, "an operator", "a name as an operator stands in backquotes: `f`");
        CT_LIST_ADD(p, &list, CtName, ct_syntax_parse_operator(p, &is_con));
    } while (ct_syntax_accept(p, TOKEN_COMMA));
    decl.name_count = list.count;
    decl.names = ct_syntax_list_end(p, &list);
    decl.range = ct_syntax_range_from(p, start);
    return decl;
}

/* ---- left sides ---- */

/* The left-hand side of a binding: a function's name and argument patterns, or a pattern. */
typedef struct LeftSide {
    CtName name; /* text NULL: a pattern */
    CtPat *pat;
    CtPat **pats;
    uint32_t count;
} LeftSide;

/* Whether `(` begins ( funlhs ) apat …, that is, whether a pattern follows its closing bracket: a pattern in
 * parentheses is never applied to others. */
static bool is_nested(const CtParser *p) {
    const CtToken *token = ct_syntax_token(p);
    if (p->kind != TOKEN_LPAREN || token->match == CT_NO_TOKEN || token->match <= p->at + 2) return false;
    if (token[1].kind == TOKEN_COMMA) return false;
    bool op = token->match == p->at + 2;
    return !op && ct_syntax_starts_apat(p, token->match + 1) && p->tokens[token->match + 1].kind != TOKEN_END;
}

static void add_apats(CtParser *p, LeftSide *left) {
    CtList list;
    ct_syntax_list_begin(p, &list, sizeof(CtPat *));
    for (uint32_t i = 0; i < left->count; i++) CT_LIST_ADD(p, &list, CtPat *, left->pats[i]);
    while (ct_syntax_at_apat(p)) CT_LIST_ADD(p, &list, CtPat *, ct_syntax_parse_apat(p));
    left->count = list.count;
    left->pats = ct_syntax_list_end(p, &list);
}

/* pat varop pat, from the operator on */
static void infix_definition(CtParser *p, LeftSide *left) {
    bool is_con;
    CtPat *first = left->pat;
    left->name = ct_syntax_parse_operator(p, &is_con);
    left->pat = NULL;
    left->count = 2;
    left->pats = CT_NEW_ARRAY(p->context->arena, CtPat *, 2);
    left->pats[0] = first;
    left->pats[1] = ct_syntax_parse_pat(p);
}

/* funlhs -> var apat {apat} | pat varop pat | ( funlhs ) apat {apat}; or a pattern */
static LeftSide left_side(CtParser *p) {
    LeftSide left = {0};
    if (is_nested(p)) {
        ct_syntax_enter(p);
        uint32_t outer = ct_syntax_bracket_open(p);
        left = left_side(p);
        ct_syntax_bracket_close(p, TOKEN_RPAREN, outer);
        ct_syntax_leave(p);
        if (left.name.text == NULL || left.count == 0) {
            CtSourceRange range = left.pat == NULL ? left.name.range : left.pat->range;
            CtDiag *diag = ct_error(p->context, CT_E0201, range, "a pattern cannot be applied to patterns");
            ct_help(p->context, diag, "the left side of a definition begins with the name of the function");
            ct_syntax_leave_declaration(p);
        }
        add_apats(p, &left);
        return left;
    }
    if (ct_syntax_at_variable(p)) {
        uint32_t behind = p->kind == TOKEN_LPAREN ? 3 : 1;
        const CtToken *next = ct_syntax_token_after(p, behind);
        bool is_operand = next->kind == TOKEN_AT || (ct_syntax_is_operator((CtTokenKind)next->kind) &&
                                                     !ct_syntax_starts_apat(p, (uint32_t)(next - p->tokens)));
        if (behind == 3 || !is_operand) {
            left.name = ct_syntax_parse_variable(p);
            add_apats(p, &left);
            return left;
        }
    }
    left.pat = ct_syntax_parse_pat(p);
    if (ct_syntax_is_variable_operator(p)) infix_definition(p, &left);
    if (left.pat != NULL && left.pat->kind == PAT_VAR) {
        left.name = left.pat->name;
        left.pat = NULL;
    }
    return left;
}

/* ---- bindings ---- */

/* Reports a clause without `=`: `f x == e`, `f x x * x`, or an operator whose second operand is no pattern. */
static void missing_equals(CtParser *p, const LeftSide *left) {
    const char *text =
        p->kind == TOKEN_VARSYM && !ct_syntax_token(p)->is_qualified ? ct_syntax_token(p)->name->text : "";
    if (strcmp(text, "==") == 0)
        ct_syntax_fail_help(p, "`=` or a guard `|`", "a definition has one `=`; `==` compares");
    if (ct_syntax_is_operator_name(left->name.text) || left->count == 0)
        ct_syntax_fail_help(p, "`=` or a guard `|`", "to define an operator, write `x <+> y = …` or `(<+>) x y = …`");
    ct_syntax_fail_help(p, "`=` or a guard `|`",
                        ct_format(p->context->arena, "`=` stands between the parameters and the result: `%s … = …`",
                                  left->name.text->text));
}

static CtClause clause(CtParser *p, const LeftSide *left, uint32_t start) {
    CtClause result = {.pats = left->pats, .pat_count = left->count};
    if (left->name.text != NULL && ct_syntax_is_operator(p->kind)) missing_equals(p, left);
    ct_syntax_parse_rhs(p, TOKEN_EQUALS, &result.rhs);
    result.range = ct_syntax_range_from(p, start);
    return result;
}

/* The binding to which a clause belongs: the declaration just before, if it binds the same name; else NULL. */
static CtBinding *continued(CtParser *p, const CtList *list, const LeftSide *left) {
    if (list->count == 0 || left->name.text == NULL) return NULL;
    const CtDecl *last = (const CtDecl *)(const void *)(p->stack + list->mark) + (list->count - 1);
    if (last->kind != DECL_BINDING || last->binding->name.text != left->name.text) return NULL;
    bool both_plain = last->binding->clauses[0].pat_count == 0 && left->count == 0;
    return both_plain ? NULL : last->binding; /* x = 1; x = 2 defines x twice; inference reports it */
}

static void add_clause(CtParser *p, CtBinding *binding, CtClause added) {
    uint32_t count = binding->clause_count;
    if ((count & (count - 1)) == 0) { /* the capacity is a power of two: grow */
        CtClause *larger = CT_NEW_ARRAY(p->context->arena, CtClause, count == 0 ? 1 : 2 * count);
        if (count > 0) memcpy(larger, binding->clauses, count * sizeof *larger);
        binding->clauses = larger;
    }
    binding->clauses[binding->clause_count++] = added;
    binding->range = ct_range_join(binding->range, added.range);
}

/* The first pattern, other than the last, that is a constructor without fields: its parentheses may be missing. */
static const CtPat *unfilled(CtPat **pats, uint32_t count) {
    for (uint32_t i = 0; i + 1 < count; i++)
        if (pats[i]->kind == PAT_CON && pats[i]->part_count == 0) return pats[i];
    return NULL;
}

static void different_counts(CtParser *p, const CtBinding *binding, const LeftSide *left) {
    const CtClause *first = &binding->clauses[0];
    CtDiag *diag =
        ct_error(p->context, CT_E0208, left->name.range, "this clause of `%s` has %u pattern%s, the first has %u",
                 left->name.text->text, left->count, left->count == 1 ? "" : "s", first->pat_count);
    ct_note(p->context, diag, binding->name.range, "the first clause is here");
    const CtPat *con = unfilled(left->pats, left->count);
    if (con == NULL) con = unfilled(first->pats, first->pat_count);
    if (con == NULL)
        ct_help(p->context, diag, "all clauses of a function have as many patterns; `_` matches anything");
    else
        ct_help(p->context, diag, "a constructor and its fields stand in parentheses: %s (%s …)", left->name.text->text,
                con->name.text->text);
}

static void binding(CtParser *p, CtList *list) {
    uint32_t start = ct_syntax_token(p)->start;
    bool bang = p->kind == TOKEN_BANG;
    LeftSide left = left_side(p);
    CtClause read = clause(p, &left, start);
    CtBinding *whole = continued(p, list, &left);
    if (whole != NULL) {
        if (whole->clauses[0].pat_count != left.count) {
            different_counts(p, whole, &left);
            return;
        }
        add_clause(p, whole, read);
        CtDecl *last = (CtDecl *)(void *)(p->stack + list->mark) + (list->count - 1);
        last->range = whole->range;
        return;
    }
    whole = CT_NEW(p->context->arena, CtBinding);
    whole->name = left.name;
    whole->pat = left.pat;
    whole->bang = bang && left.count == 0;
    whole->range = read.range;
    add_clause(p, whole, read);
    CT_LIST_ADD(p, list, CtDecl, {.kind = DECL_BINDING, .range = read.range, .binding = whole});
}

/* decl -> signature | fixity | funlhs rhs | pat rhs */
void ct_syntax_parse_decl(CtParser *p, CtList *list) {
    if (p->kind == TOKEN_INFIX || p->kind == TOKEN_INFIXL || p->kind == TOKEN_INFIXR) {
        CT_LIST_ADD(p, list, CtDecl, fixity(p));
    } else if (p->kind == (CtTokenKind)ct_syntax_token(p)->kind && is_signature(p)) {
        CT_LIST_ADD(p, list, CtDecl, signature(p));
    } else {
        if (p->kind != TOKEN_MINUS && !ct_syntax_at_apat(p) && p->kind != TOKEN_BANG)
            ct_syntax_fail_help(
                p, "a declaration",
                p->kind == TOKEN_WHERE ? "`where` begins right of the column of the declaration it belongs to" : NULL);
        binding(p, list);
    }
}

/* { decl ; … ; decl } */
void ct_syntax_parse_decls(CtParser *p, CtDecls *decls) {
    CtList list;
    ct_syntax_enter(p);
    ct_syntax_list_begin(p, &list, sizeof(CtDecl));
    CtBlock block = ct_syntax_block_open(p);
    while (ct_syntax_block_next(p, &block)) ct_syntax_parse_decl(p, &list);
    decls->count = list.count;
    decls->items = ct_syntax_list_end(p, &list);
    ct_syntax_leave(p);
}
