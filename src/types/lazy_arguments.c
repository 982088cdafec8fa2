/* Arguments of functions of the library that programs of Haskell rely on to be evaluated late, or not at all. An
 * argument is evaluated before the call; so these functions are replaced by others, which take a function of ()
 * instead:
 *
 *   when c (loop (n - 1))                           when'else c (\_ -> loop (n - 1))
 *   fromMaybe (error "no key") (lookup k table)     fromMaybe'else (\_ -> error "no key") (lookup k table)
 *   m >> k                                          m >>= \_ -> k
 *
 * The second kind only where the argument is a call of `error`, or a variable that is bound to one. */
#include "types/internal.h"

static const struct Row {
    const char *name;
    uint32_t argument;
    bool always; /* not only an argument that fails */
    const char *instead;
} rows[] = {
    {"when", 2, true, "when'else"},
    {"unless", 2, true, "unless'else"},
    {">>", 2, true, ">>="},
    {"fromMaybe", 1, false, "fromMaybe'else"},
    {"maybe", 1, false, "maybe'else"},
    {"fromLeft", 1, false, "fromLeft'else"},
    {"fromRight", 1, false, "fromRight'else"},
    {"findWithDefault", 1, false, "findWithDefault'else"},
    {"bool", 1, false, "bool'else"},
    {"const", 2, false, "const'else"},
    {"evaluate", 1, true, "evaluate'else"},
    {"catch", 1, true, "catch'else"},
    {"handle", 2, true, "handle'else"},
    {"try", 1, true, "try'else"},
    {"finally", 1, true, "finally'else"},
    {"onException", 1, true, "onException'else"},
    {"bracket_", 3, true, "bracket_'else"},
    {"trace", 2, true, "trace'else"},
    {"traceShow", 2, true, "traceShow'else"},
    {"progress", 2, true, "progress'else"},
};

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
    static const char *const names[] = {"error", "undefined", "errorWithoutStackTrace"};
    bool named = false;
    for (size_t i = 0; expr->kind == EXPR_VAR && i < sizeof names / sizeof *names; i++)
        named |= strcmp(expr->name.text->text, names[i]) == 0;
    return named &&
           library_meaning(types, expr, expr->name.text) == ct_types_library(types, SPACE_VALUE, expr->name.text);
}

/* error "…", error $ "…" */
static bool calls_error(CtTypes *types, const CtExpr *expr) {
    if (expr->kind != EXPR_APP) return false;
    bool dollar =
        expr->part_count == 3 && expr->parts[0]->kind == EXPR_VAR && !strcmp(expr->parts[0]->name.text->text, "$");
    return is_error(types, expr->parts[dollar ? 1 : 0]);
}

/* What a variable is bound to by `x = e`, in this module; NULL for others. */
static const CtExpr *bound_to(CtTypes *types, const CtExpr *variable) {
    if (variable->name.module) return NULL;
    const CtEntity *meant = ct_map_get(&types->locals, ct_key(variable->name.text));
    if (!meant) meant = ct_types_scope_get(types->own, SPACE_VALUE, variable->name.text);
    const CtBinding *binding = meant ? meant->binding : NULL;
    if (!binding || binding->pat || binding->clause_count != 1 || binding->clauses[0].pat_count > 0) return NULL;
    const CtRhs *rhs = &binding->clauses[0].rhs;
    return rhs->guarded_count == 1 && rhs->guarded[0].guard_count == 0 ? rhs->guarded[0].body : NULL;
}

/* A call of `error`, undefined, or a variable that is bound to one of them. */
static bool fails(CtTypes *types, const CtExpr *expr) {
    if (expr->kind != EXPR_VAR) return calls_error(types, expr);
    if (is_error(types, expr)) return strcmp(expr->name.text->text, "undefined") == 0;
    const CtExpr *value = bound_to(types, expr);
    if (!value) return false;
    return calls_error(types, value) || (value->kind == EXPR_VAR && strcmp(value->name.text->text, "undefined") == 0);
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

CtEntity *ct_types_exported(CtTypes *types, const char *module, CtSym name) {
    CtSym symbol = module ? ct_intern_text(&types->context->symbols, module) : NULL;
    const CtScope *scope = symbol ? ct_map_get(&types->interfaces, ct_key(symbol)) : NULL;
    return scope ? ct_types_scope_get(scope, SPACE_VALUE, name) : NULL;
}

/* Puts the function of the row in place, if the application is of the row's; what it returns may be applied, too. */
static bool replace(CtTypes *types, CtExpr *app, const struct Row *row) {
    CtExpr *fun = app->parts[0];
    if (fun->kind != EXPR_VAR || fun->entity || strcmp(fun->name.text->text, row->name) != 0) return false;
    if (app->part_count <= row->argument) return false;
    CtSym other = ct_intern_text(&types->context->symbols, row->instead);
    CtEntity *instead = ct_types_library(types, SPACE_VALUE, other);
    const CtEntity *meant = library_meaning(types, fun, fun->name.text);
    if (!meant) return false;
    if (!instead) instead = ct_types_exported(types, meant->module, other);
    if (!instead) return false;
    if (!row->always && !fails(types, app->parts[row->argument])) return false;
    CtExpr *named = CT_NEW(types->arena, CtExpr);
    *named = *fun;
    named->entity = instead;
    named->name.text = other;
    app->parts[0] = named;
    app->parts[row->argument] = delayed(types, app->parts[row->argument]);
    return true;
}

void ct_types_delay_arguments(CtTypes *types, CtExpr *expr) {
    if (types->is_library || types->is_lazy || expr->parts[0]->kind != EXPR_VAR || expr->parts[0]->entity) return;
    CtExpr flat = ct_types_without_dollar(types, expr);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!replace(types, &flat, &rows[i])) continue;
        *expr = flat;
        return;
    }
}
