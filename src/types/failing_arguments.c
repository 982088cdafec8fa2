/* Arguments that only fail, as in `fromMaybe (error "no key") (lookup k table)`. An argument is evaluated before the call;
 * where a function of the library uses one of its arguments in some cases only, and this argument is a call of `error`, the
 * function is replaced by one whose name ends in 'else, which takes a function of () instead. */
#include "types/internal.h"

static const struct Row {
    const char *name;
    uint32_t argument, arity;
} rows[] = {{"fromMaybe", 1, 2},       {"maybe", 1, 3},    {"fromLeft", 1, 2}, {"fromRight", 1, 2},
            {"findWithDefault", 1, 3}, {"bool", 1, 3}};

/* What a name means, if it is the library's and no local one. */
static const CtScope *scope_of(CtTypes *types, const CtExpr *expr) {
    if (expr->kind != EXPR_VAR) return NULL;
    if (!expr->name.module && ct_map_get(&types->locals, ct_key(expr->name.text))) return NULL;
    return expr->name.module ? ct_map_get(&types->qualified, ct_key(expr->name.module)) : types->own;
}

static CtEntity *library_meaning(CtTypes *types, const CtExpr *expr, CtSym name) {
    const CtScope *scope = scope_of(types, expr);
    CtEntity *meant = scope ? ct_types_scope_get(scope, SPACE_VALUE, name) : NULL;
    bool library = meant && meant->range.source && types->context->sources.items[meant->range.source].is_library;
    return library ? meant : NULL;
}

static bool is_error(CtTypes *types, const CtExpr *expr) {
    bool named = expr->kind == EXPR_VAR && (!strcmp(expr->name.text->text, "error") || !strcmp(expr->name.text->text, "undefined"));
    return named && library_meaning(types, expr, expr->name.text) == ct_types_library(types, SPACE_VALUE, expr->name.text);
}

/* error "…", error $ "…", undefined */
static bool fails(CtTypes *types, const CtExpr *expr) {
    if (expr->kind == EXPR_VAR) return strcmp(expr->name.text->text, "undefined") == 0 && is_error(types, expr);
    if (expr->kind != EXPR_APP) return false;
    bool dollar = expr->part_count == 3 && expr->parts[0]->kind == EXPR_VAR && !strcmp(expr->parts[0]->name.text->text, "$");
    return is_error(types, expr->parts[dollar ? 1 : 0]);
}

static CtExpr *delayed(CtTypes *types, CtExpr *expr) {
    CtExpr *lambda = CT_NEW(types->arena, CtExpr);
    *lambda = (CtExpr){.kind = EXPR_LAM, .range = expr->range, .pat_count = 1, .part_count = 1};
    lambda->pats = CT_NEW_ARRAY(types->arena, CtPat *, 1);
    lambda->pats[0] = CT_NEW(types->arena, CtPat);
    lambda->pats[0]->kind = PAT_WILD;
    lambda->pats[0]->range = expr->range;
    lambda->parts = CT_NEW_ARRAY(types->arena, CtExpr *, 1);
    lambda->parts[0] = expr;
    return lambda;
}

void ct_types_delay_failures(CtTypes *types, CtExpr *expr) {
    CtExpr *fun = expr->parts[0];
    if (types->is_library || fun->kind != EXPR_VAR || fun->entity) return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct Row *row = &rows[i];
        if (strcmp(fun->name.text->text, row->name) != 0) continue;
        if (expr->part_count <= row->argument || expr->part_count > row->arity + 1) return;
        CtSym other = ct_intern_text(&types->context->symbols, ct_format(types->arena, "%s'else", row->name));
        const CtEntity *meant = library_meaning(types, fun, fun->name.text);
        CtEntity *instead = ct_types_library(types, SPACE_VALUE, other);
        if (!instead) instead = library_meaning(types, fun, other);
        if (!meant || !instead || !fails(types, expr->parts[row->argument])) return;
        fun->entity = instead;
        fun->name.text = other;
        expr->parts[row->argument] = delayed(types, expr->parts[row->argument]);
        return;
    }
}
