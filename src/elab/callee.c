/* Resolves a name in function position to its callee. Class methods are resolved statically: the head constructor of
 * the type at which a method is used selects the instance, and the instance provides the binding, or else the class
 * provides a default. An alias, a binding that only renames something (`map = mapArray`), is replaced by what it refers
 * to.
 */
#include "elab/internal.h"

enum { ALIAS_LIMIT = 64 };

static Callee value_callee(CtCore *value, Ground *type) {
    return (Callee){.kind = CALLEE_VALUE, .type = type, .value = value};
}

Callee ct_elab_error_callee(CtElab *el, CtSourceRange range, Ground *type) {
    return value_callee(ct_elab_error_term(el, range, ct_elab_core(el, type)), type);
}

static Callee spec_callee(CtElab *el, Spec *spec, CtSourceRange range) {
    Callee callee = {.kind = CALLEE_GLOBAL, .type = spec->type, .arity = spec->arity, .spec = spec};
    if (spec->arity == 0) callee = value_callee(ct_core_global(el->program, range, spec->global), spec->type);
    return callee;
}

/* The types at which an entity is used. A use inside its own binding group carries no types, and has those of the
 * instance that is being elaborated. */
static Ground **instance_of(CtElab *el, const CtEntity *entity, CtTy *const *inst, uint32_t inst_count) {
    const CtScheme *scheme = &entity->scheme;
    Ground **types = CT_NEW_ARRAY(el->arena, Ground *, scheme->count);
    for (uint32_t i = 0; i < scheme->count; i++)
        types[i] = ct_elab_ground(el, inst != NULL && i < inst_count ? inst[i] : scheme->generics[i]);
    return types;
}

Ground **ct_elab_grown_instance(CtElab *el, const CtExpr *expr, Ground **types, uint32_t count) {
    Ground **grown = CT_NEW_ARRAY(el->arena, Ground *, count);
    for (uint32_t i = 0; i < count; i++) {
        bool larger = i < expr->inst_count && ct_types_ty_resolve(expr->inst[i])->kind == TY_APP;
        grown[i] = larger && ct_elab_grown(el, types[i], NULL) != NULL ? ct_elab_universal_for(el, types[i]) : types[i];
    }
    return grown;
}

void ct_elab_callee_as(CtElab *el, Callee *callee, Ground *type, CtSourceRange range) {
    if (callee->type == type) return;
    if (callee->arity == 0) {
        callee->value = ct_elab_convert(el, range, callee->value, callee->type, type);
        callee->type = type;
        return;
    }
    callee->params = CT_NEW_ARRAY(el->arena, Ground *, callee->arity);
    callee->result = callee->type;
    for (uint32_t i = 0; i < callee->arity; i++)
        ct_elab_ground_fun(el, callee->result, &callee->params[i], &callee->result);
    callee->type = type;
}

/* ---- seeing through names ---- */

static bool local_or_parameter(const CtExpr *expr) {
    return expr->entity == NULL || expr->entity->kind == ENTITY_LOCAL;
}

/* The name that an alias refers to; NULL when the binding is not an alias of a global name or a constructor. */
static CtExpr *alias_body(const CtBinding *binding) {
    CtExpr *body = binding == NULL ? NULL : ct_elab_plain_body(binding);
    while (body != NULL && body->kind == EXPR_ANNOT) body = body->parts[0];
    if (body == NULL || (body->kind != EXPR_VAR && body->kind != EXPR_CON)) return NULL;
    return body->kind == EXPR_VAR && local_or_parameter(body) ? NULL : body;
}

static Callee callee_at(CtElab *el, CtEntity *entity, Ground **types, CtSourceRange range, int aliases);
static Callee method_callee(CtElab *el, CtEntity *method, Ground **types, CtSourceRange range, int aliases);

/* The callee for a binding: its specialisation, or, for an alias, the callee that its body refers to. */
static Callee binding_callee(CtElab *el, CtEntity *entity, CtBinding *binding, const TyEnv *env, Ground *type,
                             Ground **types, uint32_t count, CtSourceRange range, int aliases) {
    CtExpr *body = alias_body(binding);
    bool recursive = entity->kind == ENTITY_GLOBAL && entity->group != NULL && entity->group->recursive;
    if (body == NULL || recursive || aliases >= ALIAS_LIMIT) {
        Spec *spec = ct_elab_spec(el, entity, binding, env, type, types, count, SPEC_BINDING, range);
        return spec_callee(el, spec, range);
    }
    const TyEnv *before = el->env;
    el->env = env;
    Callee callee;
    if (body->kind == EXPR_CON) {
        callee = ct_elab_callee(el, body);
    } else {
        Ground **inner = instance_of(el, body->entity, body->inst, body->inst_count);
        callee = callee_at(el, body->entity, inner, range, aliases + 1);
    }
    el->env = before;
    return callee;
}

/* ---- methods ---- */

static TyEnv *frame(CtElab *el, CtTy *const *generics, Ground **types, uint32_t count, const TyEnv *outer) {
    TyEnv *env = CT_NEW(el->arena, TyEnv);
    *env = (TyEnv){.generics = generics, .types = types, .count = count, .outer = outer};
    return env;
}

static void no_instance(CtElab *el, CtSourceRange range, const CtClass *class_, Ground *type, const CtEntity *method) {
    CtText text = ct_text(el->arena);
    ct_elab_ground_print(&text, type);
    ct_error(el->context, CT_E0901, ct_elab_blame(el, range), "%s has no %s here: %s is not of class %s", text.data,
             method->name->text, text.data, class_->name->text);
}

static Callee undefined(CtElab *el, const CtEntity *method, const CtInstance *instance, Ground **types, Ground *type,
                        CtSourceRange range) {
    CtText text = ct_text(el->arena);
    ct_elab_ground_print(&text, types[0]);
    CtDiag *diag = ct_error(el->context, CT_E0406, ct_elab_blame(el, range),
                            "the instance `%s %s` does not define `%s`, which is used here", method->class_->name->text,
                            text.data, method->name->text);
    if (instance->range.source && !el->context->sources.items[instance->range.source].is_library)
        ct_note(el->context, diag, instance->range, "the instance is here");
    ct_help(el->context, diag, "define `%s` in the instance", method->name->text);
    return ct_elab_error_callee(el, range, type);
}

/* The types for an instance's generics: the arguments of its type, and of the class's other parameters those that are
 * generics themselves. */
static Ground **with_others(CtElab *el, const CtInstance *instance, Ground **args, Ground **types) {
    if (instance->generic_count == instance->head_count) return args;
    Ground **all = CT_NEW_ARRAY(el->arena, Ground *, instance->generic_count);
    memcpy(all, args, instance->head_count * sizeof *all);
    for (uint32_t i = instance->head_count; i < instance->generic_count; i++)
        for (uint32_t j = 0; j < instance->class_->other_count; j++)
            if (instance->others[j] == instance->generics[i]) all[i] = types[1 + j];
    return all;
}

/* The method of a newtype by that of the type for which it stands. */
static Callee via_callee(CtElab *el, CtEntity *method, const CtInstance *instance, Ground **args, Ground **types,
                         Ground *type, CtSourceRange range, int aliases) {
    const TyEnv *env = frame(el, instance->generics, args, instance->generic_count, NULL);
    Ground **inner = CT_NEW_ARRAY(el->arena, Ground *, method->scheme.count);
    memcpy(inner, types, method->scheme.count * sizeof *inner);
    inner[0] = ct_elab_ground_in(el, env, instance->via);
    Callee callee = method_callee(el, method, inner, range, aliases);
    ct_elab_callee_as(el, &callee, type, range);
    return callee;
}

/* As ct_elab_instance_callee, through aliases. */
static Callee instance_callee(CtElab *el, CtEntity *method, const CtInstance *instance, Ground **args, Ground **types,
                              Ground *key, CtSourceRange range, int aliases) {
    const CtScheme *scheme = &method->scheme;
    TyEnv *own = frame(el, scheme->generics, types, scheme->count, NULL);
    Ground *type = ct_elab_ground_in(el, own, scheme->type);
    if (instance->via != NULL) return via_callee(el, method, instance, args, types, type, range, aliases);
    Ground **keys = types;
    if (key != types[0]) {
        keys = CT_NEW_ARRAY(el->arena, Ground *, scheme->count);
        memcpy(keys, types, scheme->count * sizeof *keys);
        keys[0] = key;
    }
    CtBinding *binding = instance->methods == NULL ? NULL : instance->methods[method->method];
    if (binding != NULL) {
        uint32_t first = 1 + method->class_->other_count;
        args = with_others(el, instance, args, types);
        TyEnv *env = frame(el, instance->generics, args, instance->generic_count, NULL);
        if (scheme->count > first)
            env = frame(el, instance->method_generics[method->method], types + first, scheme->count - first, env);
        return binding_callee(el, method, binding, env, type, keys, scheme->count, range, aliases);
    }
    binding = method->class_->defaults[method->method];
    if (binding == NULL) return undefined(el, method, instance, types, type, range);
    TyEnv *env = frame(el, &method->class_->param, types, 1, own);
    return binding_callee(el, method, binding, env, type, types, scheme->count, range, aliases);
}

Callee ct_elab_instance_callee(CtElab *el, CtEntity *method, CtInstance *instance, Ground **args, uint32_t arg_count,
                               Ground **types, Ground *key, CtSourceRange range) {
    (void)arg_count;
    return instance_callee(el, method, instance, args, types, key, range, 0);
}

Callee ct_elab_default_callee(CtElab *el, CtEntity *method, Ground **types, CtSourceRange range) {
    TyEnv *own = frame(el, method->scheme.generics, types, method->scheme.count, NULL);
    Ground *type = ct_elab_ground_in(el, own, method->scheme.type);
    TyEnv *env = frame(el, &method->class_->param, types, 1, own);
    CtBinding *binding = method->class_->defaults[method->method];
    return binding_callee(el, method, binding, env, type, types, method->scheme.count, range, 0);
}

/* The callee for a method. types[0] is the type for the parameter of the class; the further types are those of the
 * method's own type variables. */
static Callee method_callee(CtElab *el, CtEntity *method, Ground **types, CtSourceRange range, int aliases) {
    if (ct_elab_universal(el, types[0]) != NULL) return ct_elab_dispatch(el, method, types, range);
    uint32_t arg_count;
    CtTyCon *head = ct_elab_ground_head(types[0], &arg_count);
    CtInstance *instance = ct_types_instance_find(method->class_, head);
    if (instance == NULL) {
        TyEnv *own = frame(el, method->scheme.generics, types, method->scheme.count, NULL);
        no_instance(el, range, method->class_, types[0], method);
        return ct_elab_error_callee(el, range, ct_elab_ground_in(el, own, method->scheme.type));
    }
    Ground **args = CT_NEW_ARRAY(el->arena, Ground *, arg_count);
    for (uint32_t i = 0; i < arg_count; i++) args[i] = ct_elab_ground_arg(types[0], i);
    return instance_callee(el, method, instance, args, types, types[0], range, aliases);
}

/* ---- entities ---- */

/* `throw` at the type of an action is throwIO, which fails where it is performed, and as what it is given. NULL: it is
 * not. */
static CtEntity *throw_of_action(CtElab *el, const CtEntity *entity, Ground **types) {
    if (entity->kind != ENTITY_GLOBAL || entity->module == NULL || strcmp(entity->module, "Control.Exception") != 0 ||
        strcmp(entity->name->text, "throw") != 0)
        return NULL;
    CtSym io = ct_intern_text(&el->context->symbols, "IO");
    if (ct_elab_ground_head(types[1], NULL) != ct_types_lookup_library_tycon(el->types, io)) return NULL;
    return ct_types_exported(el->types, entity->module, ct_intern_text(&el->context->symbols, "throwIO"));
}

/* In a lazy program, what lib/lazy.cot has in place of a function of the prelude; the function itself otherwise. */
static CtEntity *lazy_version(CtElab *el, CtEntity *entity) {
    if (!el->is_lazy || entity->kind != ENTITY_GLOBAL) return entity;
    bool listed = entity->module != NULL && strcmp(entity->module, "Data.List") == 0;
    if (!listed && ct_types_lookup_library(el->types, entity->name) != entity) return entity;
    const char *name = ct_format(el->arena, "lazy'%s", entity->name->text);
    CtEntity *lazy = ct_types_lookup_library(el->types, ct_intern_text(&el->context->symbols, name));
    return lazy != NULL && lazy->scheme.count == entity->scheme.count ? lazy : entity;
}

/* The same of a method of lists; NULL: there is none. */
static CtEntity *lazy_method(CtElab *el, const CtEntity *method, Ground **types) {
    static const char *const rows[][2] = {
        {"++", "lazy'append"}, {"init", "lazy'init"}, {"scanl", "lazy'scanl"}, {"scanr", "lazy'scanr"}};
    if (!el->is_lazy || strcmp(method->class_->name->text, "Sequence") != 0) return NULL;
    if (ct_elab_ground_head(types[0], NULL) != ct_types_con_list(el->types)) return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(method->name->text, rows[i][0]) == 0)
            return ct_types_lookup_library(el->types, ct_intern_text(&el->context->symbols, rows[i][1]));
    return NULL;
}

static Callee callee_at(CtElab *el, CtEntity *entity, Ground **types, CtSourceRange range, int aliases) {
    entity = lazy_version(el, entity);
    CtEntity *action = throw_of_action(el, entity, types);
    if (action != NULL) {
        Ground **inner = CT_NEW_ARRAY(el->arena, Ground *, 2);
        inner[0] = types[0];
        inner[1] = ct_elab_ground_arg(types[1], 0);
        return callee_at(el, action, inner, range, aliases);
    }
    const CtScheme *scheme = &entity->scheme;
    switch (entity->kind) {
    case ENTITY_METHOD: {
        CtEntity *lazy = lazy_method(el, entity, types);
        if (lazy != NULL) return callee_at(el, lazy, types + 1, range, aliases); /* without the type of lists */
        return method_callee(el, entity, types, range, aliases);
    }
    case ENTITY_PRIMITIVE: {
        TyEnv env = {.generics = scheme->generics, .types = types, .count = scheme->count};
        return ct_elab_primitive(el, entity, ct_elab_ground_in(el, &env, scheme->type), range);
    }
    case ENTITY_GLOBAL:
        if (entity->binding != NULL) {
            TyEnv *env = frame(el, scheme->generics, types, scheme->count, NULL);
            Ground *type = ct_elab_ground_in(el, env, scheme->type);
            return binding_callee(el, entity, entity->binding, env, type, types, scheme->count, range, aliases);
        }
        {
            Spec *spec = ct_elab_spec_entity(el, entity, types, range);
            if (spec != NULL) return spec_callee(el, spec, range);
        }
        break;
    case ENTITY_LOCAL:
        ct_error(el->context, CT_E0901, range, "the local %s is used out of place", entity->name->text);
        break;
    }
    return ct_elab_error_callee(el, range, ct_elab_ground_con(el, ct_types_con_tuple(el->types, 0)));
}

Callee ct_elab_callee_at(CtElab *el, CtEntity *entity, Ground **inst, uint32_t count, CtSourceRange range) {
    Ground **types = CT_NEW_ARRAY(el->arena, Ground *, count); /* environments keep it */
    for (uint32_t i = 0; i < count; i++) types[i] = inst[i];
    return callee_at(el, entity, types, range, 0);
}

static Callee con_callee(CtElab *el, CtExpr *expr) {
    Ground *type = ct_elab_ground(el, expr->type);
    Callee callee = {.kind = CALLEE_CON, .type = type, .arity = expr->con->arity};
    CtTy *result = expr->type, *arg;
    for (uint32_t i = 0; i < expr->con->arity; i++) ct_types_ty_is_fun(el->types, result, &arg, &result);
    Applied applied = ct_elab_applied(el, result);
    View view = {0};
    if (expr->con->generics != NULL)
        view.con = ct_elab_variant(el, applied.type, expr->con, ct_elab_own_types(el, expr), expr->range);
    else
        view = ct_elab_view(el, &applied, expr->con);
    callee.con = view.con;
    if (callee.arity == 0) return value_callee(ct_core_con(el->program, expr->range, callee.con, NULL, 0), type);
    if (view.stored != NULL) {
        callee.params = view.stored;
        callee.result = applied.type;
    }
    return callee;
}

static Callee local_callee(CtElab *el, CtExpr *expr) {
    Local *local = ct_elab_local(el, expr);
    if (local == NULL) {
        ct_error(el->context, CT_E0901, expr->range, "the local %s is used out of place", expr->name.text->text);
        return ct_elab_error_callee(el, expr->range, ct_elab_ground(el, expr->type));
    }
    CtCore *value = local->arity == 0 ? ct_core_var(el->program, expr->range, local->var) : NULL;
    if (local->by_need) value = ct_core_app(el->program, expr->range, value, NULL, 0);
    if (local->wrap != NULL) value = ct_core_con(el->program, expr->range, local->wrap, &value, 1);
    Callee callee = {.kind = CALLEE_LOCAL, .type = local->type, .arity = local->arity, .local = local};
    if (value != NULL) callee = value_callee(value, local->type);
    if (value != NULL && ct_elab_ground_head(local->type, NULL)->poly != NULL && expr->inst != NULL) {
        Ground **types = instance_of(el, expr->entity, expr->inst, expr->inst_count);
        callee.value = ct_elab_poly_use(el, expr->range, value, local->type, types, expr->inst_count, &callee.type);
    }
    if (expr->grows) ct_elab_callee_as(el, &callee, ct_elab_ground(el, expr->type), expr->range);
    return callee;
}

Callee ct_elab_callee(CtElab *el, CtExpr *expr) {
    if (expr->kind == EXPR_CON) return con_callee(el, expr);
    if (expr->kind == EXPR_TUPLE_CON)
        return (Callee){.kind = CALLEE_TUPLE, .type = ct_elab_ground(el, expr->type), .arity = expr->tuple_size};
    CtEntity *entity = expr->entity;
    if (entity->kind == ENTITY_LOCAL) return local_callee(el, expr);
    Ground **types = instance_of(el, entity, expr->inst, expr->inst_count);
    if (!expr->grows) return callee_at(el, entity, types, expr->range, 0);
    Callee callee =
        callee_at(el, entity, ct_elab_grown_instance(el, expr, types, entity->scheme.count), expr->range, 0);
    ct_elab_callee_as(el, &callee, ct_elab_ground(el, expr->type), expr->range);
    return callee;
}

/* ---- calls ---- */

static CtCore *call(CtElab *el, CtSourceRange range, const Callee *callee, CtCore **args) {
    CtProgram *p = el->program;
    switch (callee->kind) {
    case CALLEE_VALUE: return callee->value;
    case CALLEE_GLOBAL:
        return ct_core_app(p, range, ct_core_global(p, range, callee->spec->global), args, callee->arity);
    case CALLEE_LOCAL: return ct_core_app(p, range, ct_core_var(p, range, callee->local->var), args, callee->arity);
    case CALLEE_CON: return ct_core_con(p, range, callee->con, args, callee->arity);
    case CALLEE_TUPLE: {
        Ground *type = callee->type;
        for (uint32_t i = 0; i < callee->arity; i++) ct_elab_ground_fun(el, type, NULL, &type);
        return ct_elab_tuple(el, range, type, args, callee->arity);
    }
    case CALLEE_PRIM:
    case CALLEE_ARRAY:
    case CALLEE_DERIV:
    case CALLEE_PUT:
    case CALLEE_GET:
    case CALLEE_CAST:
    case CALLEE_TYPE:
    case CALLEE_ERROR: return ct_elab_primitive_call(el, range, callee, args);
    }
    return NULL;
}

CtCore *ct_elab_saturated(CtElab *el, CtSourceRange range, const Callee *callee, CtCore **args) {
    if (callee->params == NULL) return call(el, range, callee, args);
    Callee inner = *callee;
    inner.params = NULL;
    CtCore **converted = CT_NEW_ARRAY(el->arena, CtCore *, callee->arity);
    Ground *type = callee->type, *arg = NULL;
    for (uint32_t i = 0; i < callee->arity; i++) {
        if (!ct_elab_ground_fun(el, type, &arg, &type)) return ct_elab_error_term(el, range, ct_elab_core(el, type));
        converted[i] = ct_elab_convert(el, range, args[i], arg, callee->params[i]);
        converted[i] = ct_elab_uncurry(el, range, converted[i], callee->params[i], ct_elab_wants(&inner, i));
    }
    CtCore *result = call(el, range, &inner, converted);
    return ct_elab_convert(el, range, result, callee->result, type);
}
