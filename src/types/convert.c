/* Conversion of type expressions (syntax) to types: looks up names, expands synonyms and checks arities. `missing` is
 * the number of arguments that the type must still take at its place: 0 for a type of values, 1 for a constructor such
 * as Array. */
#include "types/internal.h"

CtClass *ct_types_find_class(CtTypes *types, CtName name) {
    CtClass *class_ = ct_types_find(types, SPACE_CLASS, name);
    if (!class_) ct_types_report_unknown(types, "class", SPACE_CLASS, name);
    return class_;
}

static CtTyCon *find_tycon(CtTypes *types, CtName name) {
    CtTyCon *con = ct_types_find(types, SPACE_TYPE, name);
    if (con) return con;
    const char *text = name.text->text;
    if (text[0] == '(') { /* "()" "(,)" "(,,)" */
        uint32_t commas = 0;
        while (text[1 + commas] == ',') commas++;
        return ct_types_con_tuple(types, commas ? commas + 1 : 0);
    }
    if (ct_types_find(types, SPACE_CLASS, name))
        ct_error(types->context, CT_E0302, name.range, "`%s` is a class, not a type", text);
    else
        ct_types_report_unknown(types, "type", SPACE_TYPE, name);
    return NULL;
}

static CtTy *arity_error(CtTypes *types, CtSourceRange range, const char *name, uint32_t takes, uint32_t given) {
    const char *number = takes ? ct_format(types->arena, "%u", takes) : "no";
    CtDiag *diag = ct_error(types->context, CT_E0303, range, "`%s` takes %s type argument%s here, but is given %u",
                            name, number, takes == 1 ? "" : "s", given);
    const char *text = ct_types_excerpt(types, range);
    if (takes == 1 && given == 0)
        ct_help(types->context, diag, "say of what: `%s Double`, for example", name);
    else if (takes == 0 && text && text[strlen(text) - 1] == ']')
        ct_help(types->context, diag, "a list is written `[%s]`, an array `Array %s`", name, name);
    else if (takes == 0)
        ct_help(types->context, diag, "between the types of two arguments stands an arrow: `%s -> …`", name);
    return types->error;
}

static CtTy *variable(CtTypes *types, CtTyVars *vars, CtName name, uint32_t arity) {
    CtTy *type = ct_map_get(&vars->map, ct_key(name.text));
    if (type) {
        CtTy *end = ct_types_ty_resolve(type);
        if (end->kind != TY_META && end->kind != TY_GENERIC) return type;
        if (end->arity == arity) return type;
        ct_error(types->context, CT_E0303, name.range, "`%s` takes %u type argument%s elsewhere, but %u here",
                 name.text->text, end->arity, end->arity == 1 ? "" : "s", arity);
        return types->error;
    }
    for (const CtScopedVar *outer = vars->scoped; outer; outer = outer->next) {
        if (outer->name != name.text || !outer->type) continue;
        ct_map_set(types->arena, &vars->map, ct_key(name.text), outer->type);
        return variable(types, vars, name, arity);
    }
    if (!vars->open) {
        CtDiag *diag = ct_error(types->context, CT_E0302, name.range,
                                "the type variable `%s` is not among those declared", name.text->text);
        ct_help(types->context, diag,
                "a type's variables stand behind its name, before `=`: … %s = …; names of types "
                "begin with a capital",
                name.text->text);
        return types->error;
    }
    type = vars->flexible ? ct_types_ty_meta(types, arity) : ct_types_ty_generic(types, name.text, arity);
    ct_map_set(types->arena, &vars->map, ct_key(name.text), type);
    ct_push(types->arena, &vars->made, type);
    return type;
}

/* The type constructor `con` applied to the `given` arguments of the application `expr`, whose outermost node holds the
 * last argument. */
static CtTy *applied(CtTypes *types, CtTyVars *vars, CtTyCon *con, const CtTypeExpr *expr, uint32_t given,
                     uint32_t missing) {
    if (con->is_synonym) ct_types_ensure_synonym(types, con);
    if (con->type->is_error) return types->error;
    if (missing && con->arity < missing) {
        ct_error(types->context, CT_E0303, expr->range,
                 "a constructor that takes %u type argument%s is meant here, not `%s`", missing,
                 missing == 1 ? "" : "s", con->name->text);
        return types->error;
    }
    if (given + missing != con->arity)
        return arity_error(types, expr->range, con->name->text, con->arity - missing, given);
    if (con->is_synonym && given < con->declared) {
        ct_error(types->context, CT_E0303, expr->range, "the synonym `%s` needs all its arguments", con->name->text);
        return types->error;
    }
    CtTy **args = CT_NEW_ARRAY(types->arena, CtTy *, given);
    uint32_t i = given;
    for (; i > 0; expr = expr->parts[0]) {
        i--;
        args[i] = ct_types_convert_partial(types, vars, expr->parts[1], con->params[i]->arity);
        if (ct_types_ty_failed(args[i])) return types->error;
    }
    if (!con->is_synonym) return ct_types_ty_con(types, con, args, given);
    if (!con->synonym) return types->error;
    CtTy *type = ct_types_ty_replace(types, con->synonym, con->params, args, con->declared);
    for (i = con->declared; i < given; i++) type = ct_types_ty_app(types, type, args[i]);
    return type;
}

/* A type constructor in scope, without a message where there are several or none. */
static const CtTyCon *named_tycon(const CtTypes *types, CtName name) {
    const CtScope *scope = name.module ? ct_map_get(&types->qualified, ct_key(name.module)) : types->own;
    return scope ? ct_types_scope_get(scope, SPACE_TYPE, name.text) : NULL;
}

int ct_types_applied_to(CtTypes *types, const CtTypeExpr *expr, CtSym name, uint32_t missing) {
    uint32_t given = 0;
    const CtTypeExpr *head = expr;
    for (; head->kind == TYPE_EXPR_APP; head = head->parts[0]) given++;
    const CtTyCon *con = head->kind == TYPE_EXPR_CON ? named_tycon(types, head->name) : NULL;
    int found = head->kind == TYPE_EXPR_VAR && head->name.text == name ? (int)(given + missing) : -1;
    for (uint32_t i = given; expr->kind == TYPE_EXPR_APP; expr = expr->parts[0]) {
        i--;
        uint32_t takes = con && i < con->arity ? con->params[i]->arity : 0;
        int inside = ct_types_applied_to(types, expr->parts[1], name, takes);
        if (inside > found) found = inside;
    }
    for (uint32_t i = 0; i < head->part_count; i++) {
        int inside = ct_types_applied_to(types, head->parts[i], name, 0);
        if (inside > found) found = inside;
    }
    return found;
}

/* The number of arguments that the argument of a type variable still takes, as far as it is known: m in t m a is a
 * constructor where it is applied elsewhere. */
static uint32_t still_missing(CtTypes *types, CtTyVars *vars, const CtTypeExpr *expr) {
    uint32_t given = 0, takes = 0;
    for (; expr->kind == TYPE_EXPR_APP; expr = expr->parts[0]) given++;
    if (expr->kind == TYPE_EXPR_VAR) {
        CtTy *type = ct_map_get(&vars->map, ct_key(expr->name.text));
        if (type) type = ct_types_ty_resolve(type);
        int found = type || !vars->whole ? 0 : ct_types_applied_to(types, vars->whole, expr->name.text, 0);
        if (found > 0) takes = (uint32_t)found;
        if (type && (type->kind == TY_META || type->kind == TY_GENERIC)) takes = type->arity;
    } else if (expr->kind == TYPE_EXPR_CON) {
        const CtTyCon *con = named_tycon(types, expr->name);
        if (con && !con->is_synonym) takes = con->arity;
    }
    return takes > given ? takes - given : 0;
}

static CtTy *application(CtTypes *types, CtTyVars *vars, const CtTypeExpr *expr, uint32_t missing) {
    const CtTypeExpr *head = expr;
    uint32_t given = 0;
    for (; head->kind == TYPE_EXPR_APP; head = head->parts[0]) given++;
    if (head->kind == TYPE_EXPR_CON) {
        CtTyCon *con = find_tycon(types, head->name);
        return con ? applied(types, vars, con, expr, given, missing) : types->error;
    }
    if (head->kind != TYPE_EXPR_VAR) {
        if (given == 0) return types->error;
        ct_error(types->context, CT_E0303, head->range, "this type takes no arguments");
        return types->error;
    }
    CtTy *type = variable(types, vars, head->name, given + missing);
    CtTy **args = CT_NEW_ARRAY(types->arena, CtTy *, given);
    uint32_t i = given;
    for (; i > 0; expr = expr->parts[0])
        args[--i] = ct_types_convert_partial(types, vars, expr->parts[1], still_missing(types, vars, expr->parts[1]));
    for (i = 0; i < given; i++) type = ct_types_ty_app(types, type, args[i]);
    return ct_types_ty_failed(type) ? types->error : type;
}

static CtTy *closed(CtTypes *types, CtTyVars *vars, const CtTypeExpr *expr) {
    switch (expr->kind) {
    case TYPE_EXPR_LIST: return ct_types_ty_list(types, ct_types_convert_partial(types, vars, expr->parts[0], 0));
    case TYPE_EXPR_TUPLE: {
        CtTy **parts = CT_NEW_ARRAY(types->arena, CtTy *, expr->part_count);
        for (uint32_t i = 0; i < expr->part_count; i++)
            parts[i] = ct_types_convert_partial(types, vars, expr->parts[i], 0);
        return ct_types_ty_tuple(types, parts, expr->part_count);
    }
    case TYPE_EXPR_FUN: { /* along the arrows without recursion */
        CT_VEC(CtTy *) args = {0};
        for (; expr->kind == TYPE_EXPR_FUN; expr = expr->parts[1])
            ct_push(types->arena, &args, ct_types_convert_partial(types, vars, expr->parts[0], 0));
        CtTy *type = ct_types_convert_partial(types, vars, expr, 0);
        while (args.count) type = ct_types_ty_fun(types, args.items[--args.count], type);
        return type;
    }
    case TYPE_EXPR_FORALL: return ct_types_convert_forall(types, vars, expr);
    case TYPE_EXPR_VAR:
    case TYPE_EXPR_CON:
    case TYPE_EXPR_APP: break;
    }
    return types->error;
}

static CtTy *convert(CtTypes *types, CtTyVars *vars, const CtTypeExpr *expr, uint32_t missing) {
    if (expr->kind == TYPE_EXPR_VAR || expr->kind == TYPE_EXPR_CON || expr->kind == TYPE_EXPR_APP)
        return application(types, vars, expr, missing);
    if (missing == 0) return closed(types, vars, expr);
    ct_error(types->context, CT_E0303, expr->range, "a type constructor that takes %u argument%s is meant here",
             missing, missing == 1 ? "" : "s");
    return types->error;
}

/* The parser bounds the nesting of each type expression, but expanding synonyms nests deeper. */
bool ct_types_convert_down(CtTypes *types, CtSourceRange range) {
    enum { DEEPEST = 4000 };
    if (types->convert_levels < DEEPEST) return ++types->convert_levels;
    if (!types->told_large)
        ct_error(types->context, CT_E0207, range, "types and synonyms are nested more than %d levels deep here",
                 DEEPEST);
    types->told_large = true;
    return false;
}

CtTy *ct_types_convert_partial(CtTypes *types, CtTyVars *vars, const CtTypeExpr *expr, uint32_t missing) {
    if (!ct_types_convert_down(types, expr->range)) return types->error;
    CtTy *type = convert(types, vars, expr, missing);
    types->convert_levels--;
    if (type->kind != TY_APP || type->size <= CT_TYPE_LIMIT) return type;
    ct_types_report_large(types, expr->range);
    return types->error;
}

CtTy *ct_types_convert_type(CtTypes *types, CtTyVars *vars, const CtTypeExpr *expr) {
    return ct_types_convert_partial(types, vars, expr, 0);
}

static void report_constraint(CtTypes *types, const CtClass *class_, CtTy *type, CtSourceRange range) {
    CtDiag *diag =
        ct_error(types->context, CT_E0314, range, "a context constrains type variables, not types such as `%s`",
                 ct_types_ty_text(types, type));
    ct_help(types->context, diag,
            "say what is asked of the variables in it, such as `%s a`; leave it out if there are none",
            class_->name->text);
}

bool ct_types_convert_constraint(CtTypes *types, CtTyVars *vars, const CtConstraint *constraint, CtConGiven *out) {
    CtClass *class_ = ct_types_find_class(types, constraint->class_name);
    if (!class_) return false;
    if (constraint->type_count != class_->other_count + 1) {
        ct_error(types->context, CT_E0314, constraint->range, "the class %s has %u parameter%s, not %u",
                 class_->name->text, class_->other_count + 1, class_->other_count == 0 ? "" : "s",
                 constraint->type_count);
        return false;
    }
    CtTy **others = class_->other_count ? CT_NEW_ARRAY(types->arena, CtTy *, class_->other_count) : NULL;
    for (uint32_t j = 0; j < class_->other_count; j++)
        others[j] = ct_types_convert_partial(types, vars, constraint->types[j + (j >= class_->place)],
                                             class_->others[j]->arity);
    CtTy *type = ct_types_convert_partial(types, vars, constraint->types[class_->place], class_->param_arity);
    *out = (CtConGiven){class_, others, type, constraint->range};
    return true;
}

void ct_types_convert_context(CtTypes *types, CtTyVars *vars, const CtConstraint *constraints, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        CtConGiven given;
        if (!ct_types_convert_constraint(types, vars, &constraints[i], &given)) continue;
        CtClass *class_ = given.class_;
        CtTy **others = given.others, *end = ct_types_ty_resolve(given.type), *head = end;
        while (head->kind == TY_APP) head = ct_types_ty_resolve(head->fun);
        if (end->kind == TY_GENERIC || end->kind == TY_META)
            ct_types_pred_add_with(types, end, class_, others, constraints[i].range);
        else if (head->kind == TY_GENERIC)
            ct_types_applied_add(types, head, class_, others, end, constraints[i].range);
        else if (!ct_types_ty_failed(end))
            report_constraint(types, class_, end, constraints[i].range);
        for (uint32_t j = 0; j < class_->other_count; j++) /* what the class promises of its other parameters */
            for (CtPred *pred = class_->other_supers[j]; pred; pred = pred->next) {
                CtTy *other = ct_types_ty_resolve(others[j]);
                if (other->kind == TY_GENERIC) ct_types_pred_add(types, other, pred->class_, constraints[i].range);
            }
    }
}

const CtScopedVar *ct_types_scoped_around(CtTypes *types, const CtScopedVar *scoped, const CtQualType *type) {
    const CtScopedVar *around = NULL;
    for (; scoped && type->forall_count > 0; scoped = scoped->next) {
        bool own = false;
        for (uint32_t i = 0; i < type->forall_count; i++) own |= type->forall[i].text == scoped->name;
        for (const CtScopedVar *inner = around; inner; inner = inner->next) own |= inner->name == scoped->name;
        if (own) continue;
        CtScopedVar *var = CT_NEW(types->arena, CtScopedVar);
        *var = (CtScopedVar){scoped->name, scoped->type, (CtScopedVar *)around};
        around = var;
    }
    return type->forall_count > 0 ? around : scoped;
}

CtScheme ct_types_convert_scheme(CtTypes *types, const CtQualType *type) {
    CtTyVars vars = {.open = true, .whole = type->type};
    vars.scoped = ct_types_scoped_around(types, types->scoped, type);
    /* The context is converted first, because its classes determine the arities of the type variables. */
    ct_types_convert_context(types, &vars, type->constraints, type->constraint_count);
    CtTy *result = ct_types_float_forall(types, ct_types_convert_type(types, &vars, type->type), &vars);
    return (CtScheme){vars.made.items, vars.made.count, result};
}
