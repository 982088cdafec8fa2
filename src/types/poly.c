/* Types of higher rank. `forall a. C a => t` inside of a type, as of an argument or a field, is a type constructor of
 * its own, applied to the variables of the surroundings that are in it. An expression that has to be of such a type is
 * checked for rigid variables, and becomes an EXPR_POLY around itself; a variable of such a type is as polymorphic as
 * one of a `let`. In elaboration a value of such a type has a component for each type at which it is used
 * (elab/poly.c). */
#include "types/internal.h"

/* ---- reading ---- */

typedef struct Outer { /* the variables of the surroundings in a `forall`, and the parameters that stand for them */
    CtTypes *types;
    CT_VEC(CtTy *) found;
    CtTy *const *own;
    uint32_t own_count;
} Outer;

static void find_outer(Outer *outer, CtTy *type) {
    type = ct_types_ty_resolve(type);
    if (type->kind == TY_APP) {
        find_outer(outer, type->fun);
        find_outer(outer, type->arg);
    }
    if (type->kind != TY_GENERIC && type->kind != TY_META) return;
    for (uint32_t i = 0; i < outer->own_count; i++)
        if (outer->own[i] == type) return;
    for (uint32_t i = 0; i < outer->found.count; i++)
        if (outer->found.items[i] == type) return;
    ct_push(outer->types->arena, &outer->found, type);
}

/* The type with parameters in place of the variables of the surroundings. */
static CtTy *over_params(const Outer *outer, const CtTyCon *con, CtTy *type) {
    type = ct_types_ty_resolve(type);
    for (uint32_t i = 0; i < outer->found.count; i++)
        if (outer->found.items[i] == type) return con->params[i];
    if (type->kind != TY_APP) return type;
    CtTy *fun = over_params(outer, con, type->fun), *arg = over_params(outer, con, type->arg);
    return ct_types_ty_app(outer->types, fun, arg);
}

CtTy *ct_types_convert_forall(CtTypes *types, CtTyVars *vars, const CtTypeExpr *expr) {
    const CtQualType *qual = expr->qual;
    CtTy **before = CT_NEW_ARRAY(types->arena, CtTy *, qual->forall_count);
    uint32_t made = vars->made.count;
    bool open = vars->open;
    for (uint32_t i = 0; i < qual->forall_count; i++) {
        before[i] = ct_map_get(&vars->map, ct_key(qual->forall[i].text));
        ct_map_set(types->arena, &vars->map, ct_key(qual->forall[i].text), NULL);
    }
    /* the variables behind `forall` are made where they are met, so that their arities are known */
    CtTyVars inner = *vars;
    inner.open = true;
    inner.flexible = false;
    inner.scoped = ct_types_scoped_around(types, vars->scoped, qual);
    ct_types_convert_context(types, &inner, qual->constraints, qual->constraint_count);
    CtTy *type = ct_types_convert_type(types, &inner, expr->parts[0]);
    CtTyCon *con = ct_types_con_new(types, "forall", 0);
    CtScheme *poly = con->poly = CT_NEW(types->arena, CtScheme);
    poly->generics = CT_NEW_ARRAY(types->arena, CtTy *, qual->forall_count);
    vars->map = inner.map;
    vars->made.count = made;
    for (uint32_t i = made; i < inner.made.count; i++) {
        CtTy *variable = inner.made.items[i];
        bool own = false;
        for (uint32_t j = 0; j < qual->forall_count; j++) own = own || qual->forall[j].text == variable->name;
        if (own)
            poly->generics[poly->count++] = variable;
        else if (open)
            ct_push(types->arena, &vars->made, variable);
        else
            ct_error(types->context, CT_E0302, expr->range, "the type variable `%s` is not among those declared",
                     variable->name->text);
    }
    for (uint32_t i = 0; i < qual->forall_count; i++)
        ct_map_set(types->arena, &vars->map, ct_key(qual->forall[i].text), before[i]);
    Outer outer = {.types = types, .own = poly->generics, .own_count = poly->count};
    find_outer(&outer, type);
    for (uint32_t i = 0; i < poly->count; i++)
        for (const CtPred *pred = poly->generics[i]->preds; pred; pred = pred->next)
            for (uint32_t j = 0; pred->others && j < pred->class_->other_count; j++)
                find_outer(&outer, pred->others[j]);
    con->arity = con->declared = outer.found.count;
    con->params = CT_NEW_ARRAY(types->arena, CtTy *, con->arity);
    for (uint32_t i = 0; i < con->arity; i++)
        con->params[i] = ct_types_ty_generic(types, outer.found.items[i]->name, outer.found.items[i]->arity);
    poly->type = over_params(&outer, con, type);
    for (uint32_t i = 0; i < poly->count; i++)
        for (CtPred *pred = poly->generics[i]->preds; pred; pred = pred->next)
            for (uint32_t j = 0; pred->others && j < pred->class_->other_count; j++)
                pred->others[j] = over_params(&outer, con, pred->others[j]);
    const char *text = ct_types_excerpt(types, expr->range);
    const char *form = text && text[0] == '(' ? "%s" : "(%s)";
    if (text) con->name = ct_intern_text(&types->context->symbols, ct_format(types->arena, form, text));
    con->range = expr->range;
    return ct_types_ty_con(types, con, outer.found.items, con->arity);
}

/* ---- opening ---- */

const CtTyCon *ct_types_poly_head(CtTy *type, CtTy **args) {
    CtTy *head = ct_types_ty_resolve(type);
    while (head->kind == TY_APP) head = ct_types_ty_resolve(head->fun);
    if (head->kind != TY_CON || !head->con->poly) return NULL;
    uint32_t i = head->con->arity;
    for (CtTy *at = ct_types_ty_resolve(type); args && at->kind == TY_APP && i > 0; at = ct_types_ty_resolve(at->fun))
        args[--i] = at->arg;
    return head->con;
}

CtScheme ct_types_poly_scheme(CtTypes *types, CtTy *type) {
    const CtTyCon *con = ct_types_poly_head(type, NULL);
    CtTy **args = CT_NEW_ARRAY(types->arena, CtTy *, con->arity);
    ct_types_poly_head(type, args);
    const CtScheme *poly = con->poly;
    uint32_t all = con->arity + poly->count;
    CtTy **from = CT_NEW_ARRAY(types->arena, CtTy *, all), **to = CT_NEW_ARRAY(types->arena, CtTy *, all);
    CtScheme scheme = {CT_NEW_ARRAY(types->arena, CtTy *, poly->count), poly->count, NULL};
    for (uint32_t i = 0; i < con->arity; i++) {
        from[i] = con->params[i];
        to[i] = args[i];
    }
    for (uint32_t i = 0; i < poly->count; i++) {
        from[con->arity + i] = poly->generics[i];
        to[con->arity + i] = scheme.generics[i] =
            ct_types_ty_generic(types, poly->generics[i]->name, poly->generics[i]->arity);
    }
    scheme.type = ct_types_ty_replace(types, poly->type, from, to, all);
    for (uint32_t i = 0; i < poly->count; i++) {
        for (const CtPred *pred = poly->generics[i]->preds; pred; pred = pred->next)
            ct_types_pred_add_with(types, scheme.generics[i], pred->class_,
                                   ct_types_replace_others(types, pred->class_, pred->others, from, to, all),
                                   pred->range);
        for (const CtApplied *one = ct_types_applied(types, poly->generics[i]); one; one = one->next)
            ct_types_applied_add(types, scheme.generics[i], one->class_,
                                 ct_types_replace_others(types, one->class_, one->others, from, to, all),
                                 ct_types_ty_replace(types, one->type, from, to, all), one->range);
    }
    return scheme;
}

CtTy *ct_types_float_forall(CtTypes *types, CtTy *type, CtTyVars *vars) {
    CtTy *arg, *result;
    if (ct_types_ty_is_fun(types, type, &arg, &result)) {
        CtTy *floated = ct_types_float_forall(types, result, vars);
        return floated == result ? type : ct_types_ty_fun(types, arg, floated);
    }
    if (!ct_types_poly_head(type, NULL)) return type;
    CtScheme scheme = ct_types_poly_scheme(types, type);
    for (uint32_t i = 0; i < scheme.count; i++) ct_push(types->arena, &vars->made, scheme.generics[i]);
    return ct_types_float_forall(types, scheme.type, vars);
}

/* ---- expressions ---- */

void ct_types_check_poly(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why) {
    CtExpr *inner = CT_NEW(types->arena, CtExpr);
    ct_types_save_expr(types, expr);
    *inner = *expr;
    *expr = (CtExpr){.kind = EXPR_POLY, .range = expr->range, .part_count = 1, .type = expected};
    expr->parts = CT_NEW_ARRAY(types->arena, CtExpr *, 1);
    expr->parts[0] = inner;
    CtScheme scheme = ct_types_poly_scheme(types, expected);
    types->level++;
    for (uint32_t i = 0; i < scheme.count; i++) {
        scheme.generics[i]->level = types->level;
        scheme.generics[i]->is_skolem = scheme.generics[i]->of_forall = true;
    }
    expr->inst = scheme.generics;
    expr->inst_count = scheme.count;
    uint32_t operands = types->operands.count;
    ct_types_check_expr(types, inner, scheme.type, why);
    ct_types_operands_settle(types, operands, true);
    types->level--;
}
