/* Copies of expressions that inference has not resolved yet. Types as written, names and literals are shared. */
#include "syntax/internal.h"

static CtDecls copy_decls(CtArena *arena, const CtDecls *old);

static CtPat *copy_pat(CtArena *arena, const CtPat *old) {
    CtPat *pat = CT_NEW(arena, CtPat);
    *pat = *old;
    if (old->kind == PAT_VIEW) pat->view = ct_syntax_copy_expr(arena, old->view);
    pat->parts = CT_NEW_ARRAY(arena, CtPat *, old->part_count);
    for (uint32_t i = 0; i < old->part_count; i++) pat->parts[i] = copy_pat(arena, old->parts[i]);
    return pat;
}

static CtPat **copy_pats(CtArena *arena, CtPat *const *old, uint32_t count) {
    CtPat **pats = CT_NEW_ARRAY(arena, CtPat *, count);
    for (uint32_t i = 0; i < count; i++) pats[i] = copy_pat(arena, old[i]);
    return pats;
}

static CtStmt *copy_stmts(CtArena *arena, const CtStmt *old, uint32_t count) {
    CtStmt *stmts = CT_NEW_ARRAY(arena, CtStmt, count);
    for (uint32_t i = 0; i < count; i++) {
        stmts[i] = old[i];
        if (old[i].kind == STMT_LET) stmts[i].decls = copy_decls(arena, &old[i].decls);
        if (old[i].kind != STMT_LET) stmts[i].expr = ct_syntax_copy_expr(arena, old[i].expr);
        if (old[i].kind == STMT_BIND) stmts[i].pat = copy_pat(arena, old[i].pat);
    }
    return stmts;
}

static CtRhs copy_rhs(CtArena *arena, const CtRhs *old) {
    CtRhs rhs = {.guarded_count = old->guarded_count, .where = copy_decls(arena, &old->where)};
    rhs.guarded = CT_NEW_ARRAY(arena, CtGuarded, old->guarded_count);
    for (uint32_t i = 0; i < old->guarded_count; i++) {
        rhs.guarded[i] = old->guarded[i];
        rhs.guarded[i].guards = copy_stmts(arena, old->guarded[i].guards, old->guarded[i].guard_count);
        rhs.guarded[i].body = ct_syntax_copy_expr(arena, old->guarded[i].body);
    }
    return rhs;
}

static CtBinding *copy_binding(CtArena *arena, const CtBinding *old) {
    CtBinding *binding = CT_NEW(arena, CtBinding);
    *binding = *old;
    if (old->pat != NULL) binding->pat = copy_pat(arena, old->pat);
    binding->clauses = CT_NEW_ARRAY(arena, CtClause, old->clause_count);
    for (uint32_t i = 0; i < old->clause_count; i++) {
        CtClause *clause = &binding->clauses[i];
        *clause = old->clauses[i];
        clause->pats = copy_pats(arena, old->clauses[i].pats, clause->pat_count);
        clause->rhs = copy_rhs(arena, &old->clauses[i].rhs);
    }
    return binding;
}

static CtDecls copy_decls(CtArena *arena, const CtDecls *old) {
    CtDecls decls = {.items = CT_NEW_ARRAY(arena, CtDecl, old->count), .count = old->count};
    for (uint32_t i = 0; i < old->count; i++) {
        decls.items[i] = old->items[i];
        if (old->items[i].kind == DECL_BINDING) decls.items[i].binding = copy_binding(arena, old->items[i].binding);
    }
    return decls;
}

static CtAlt *copy_alts(CtArena *arena, const CtAlt *old, uint32_t count) {
    CtAlt *alts = CT_NEW_ARRAY(arena, CtAlt, count);
    for (uint32_t i = 0; i < count; i++) {
        alts[i] = old[i];
        alts[i].pat = copy_pat(arena, old[i].pat);
        alts[i].rhs = copy_rhs(arena, &old[i].rhs);
    }
    return alts;
}

CtExpr *ct_syntax_copy_expr(CtArena *arena, const CtExpr *old) {
    if (old == NULL) return NULL;
    CtExpr *expr = CT_NEW(arena, CtExpr);
    *expr = *old;
    expr->parts = CT_NEW_ARRAY(arena, CtExpr *, old->part_count);
    for (uint32_t i = 0; i < old->part_count; i++) expr->parts[i] = ct_syntax_copy_expr(arena, old->parts[i]);
    switch (old->kind) {
    case EXPR_LAM: expr->pats = copy_pats(arena, old->pats, old->pat_count); break;
    case EXPR_LET: expr->decls = copy_decls(arena, &old->decls); break;
    case EXPR_CASE: expr->alts = copy_alts(arena, old->alts, old->alt_count); break;
    case EXPR_COMPREHENSION:
    case EXPR_DO: expr->stmts = copy_stmts(arena, old->stmts, old->stmt_count); break;
    case EXPR_ANNOT:
        expr->annot = CT_NEW(arena, CtQualType);
        *expr->annot = *old->annot;
        break;
    case EXPR_VAR:
    case EXPR_CON:
    case EXPR_LIT:
    case EXPR_APP:
    case EXPR_CHAIN:
    case EXPR_POLY:
    case EXPR_NEG:
    case EXPR_IF:
    case EXPR_TUPLE:
    case EXPR_TUPLE_CON:
    case EXPR_LIST:
    case EXPR_ARRAY:
    case EXPR_RANGE:
    case EXPR_LEFT_SECTION:
    case EXPR_RIGHT_SECTION:
    case EXPR_RECORD:
    case EXPR_UPDATE: break;
    }
    return expr;
}
