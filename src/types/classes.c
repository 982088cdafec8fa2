/* Declarations of classes and instances. Heads are declared first; bodies are resolved when every top-level name is
 * known. */
#include "types/internal.h"

/* ---- classes ---- */

static void declare_class(CtTypes *types, CtDecl *decl) {
    CtClass *known = ct_map_get(&types->own->names[SPACE_CLASS], ct_key(decl->name.text));
    if (known && known->decl && known->decl->range.source == decl->range.source) {
        CtDiag *diag = ct_error(types->context, CT_E0309, decl->name.range, "the class `%s` is defined twice",
                                decl->name.text->text);
        ct_note(types->context, diag, known->decl->name.range, "the first definition is here");
        return;
    }
    const CtTyCon *type = ct_map_get(&types->own->names[SPACE_TYPE], ct_key(decl->name.text));
    if (type && type->range.source == decl->range.source) {
        CtDiag *diag =
            ct_error(types->context, CT_E0309, decl->name.range, "`%s` is a type and a class", decl->name.text->text);
        ct_note(types->context, diag, type->range, "the type is here");
        return;
    }
    CtClass *class_ = CT_NEW(types->arena, CtClass);
    class_->name = decl->name.text;
    class_->decl = decl;
    class_->place = decl->determines;
    class_->param = ct_types_ty_generic(types, decl->params[class_->place].text, 0);
    class_->other_count = decl->param_count - 1;
    class_->other_supers = CT_NEW_ARRAY(types->arena, CtPred *, class_->other_count);
    if (class_->other_count > 0) class_->others = CT_NEW_ARRAY(types->arena, CtTy *, class_->other_count);
    for (uint32_t i = 0; i < class_->other_count; i++)
        class_->others[i] = ct_types_ty_generic(types, decl->params[i + (i >= class_->place)].text, 0);
    ct_types_pred_add_with(types, class_->param, class_, class_->others, decl->name.range);
    decl->instance = class_;
    ct_types_define(types, SPACE_CLASS, class_->name, class_);
    ct_push(types->arena, &types->new_classes, class_);
    if (types->is_library && !strcmp(class_->name->text, "Typeable")) types->typeable = class_;
}

static void declare_supers(CtTypes *types, CtClass *class_) {
    CtDecl *decl = class_->decl;
    class_->supers = CT_NEW_ARRAY(types->arena, CtClass *, decl->super_count);
    for (uint32_t i = 0; i < decl->super_count; i++) {
        CtConstraint *super = &decl->supers[i];
        CtClass *found = ct_types_find_class(types, super->class_name);
        if (!found) continue;
        const CtTypeExpr *type = super->types[0];
        uint32_t other = class_->other_count;
        for (uint32_t j = 0; j < class_->other_count && type->kind == TYPE_EXPR_VAR; j++)
            if (type->name.text == class_->others[j]->name) other = j;
        bool own = type->kind == TYPE_EXPR_VAR && type->name.text == class_->param->name;
        if (super->type_count != 1 || found->other_count > 0 || (!own && other == class_->other_count)) {
            ct_error(types->context, CT_E0314, super->range, "a superclass speaks of the class's variable `%s`",
                     class_->param->name->text);
            continue;
        }
        if (own) {
            class_->supers[class_->super_count++] = found;
            continue;
        }
        CtPred *pred = CT_NEW(types->arena, CtPred);
        *pred = (CtPred){.class_ = found, .range = super->range, .next = class_->other_supers[other]};
        class_->other_supers[other] = pred;
        ct_types_pred_add(types, class_->others[other], found, super->range);
    }
}

/* Finds the arity of the class variable from the superclasses and the methods' signatures, and reports cyclic
 * superclasses. CtClass.state: 0 not visited, 1 being visited, 2 done. */
static void settle_arity(CtTypes *types, CtClass *class_) {
    if (class_->state == 2) return;
    class_->state = 1;
    uint32_t arity = 0;
    for (uint32_t i = 0; i < class_->super_count; i++) {
        CtClass *super = class_->supers[i];
        if (super->state == 1) {
            ct_error(types->context, CT_E0313, class_->decl->name.range, "the class `%s` is its own superclass",
                     class_->name->text);
            class_->supers[i] = class_->supers[--class_->super_count];
            i--;
            continue;
        }
        settle_arity(types, super);
        if (super->param_arity > arity) arity = super->param_arity;
    }
    const CtDecls *body = &class_->decl->body;
    for (uint32_t i = 0; i < body->count; i++) {
        if (body->items[i].kind != DECL_SIGNATURE) continue;
        int found = ct_types_applied_to(types, body->items[i].type.type, class_->param->name, 0);
        if (found > (int)arity) arity = (uint32_t)found;
        for (uint32_t j = 0; j < class_->other_count; j++) {
            found = ct_types_applied_to(types, body->items[i].type.type, class_->others[j]->name, 0);
            if (found > (int)class_->others[j]->arity) class_->others[j]->arity = (uint32_t)found;
        }
    }
    class_->param_arity = class_->param->arity = arity;
    class_->state = 2;
}

static void declare_method(CtTypes *types, CtClass *class_, const CtDecl *decl, CtName name) {
    CtTyVars vars = {.open = true, .whole = decl->type.type};
    ct_map_set(types->arena, &vars.map, ct_key(class_->param->name), class_->param);
    ct_push(types->arena, &vars.made, class_->param);
    for (uint32_t i = 0; i < class_->other_count; i++) {
        ct_map_set(types->arena, &vars.map, ct_key(class_->others[i]->name), class_->others[i]);
        ct_push(types->arena, &vars.made, class_->others[i]);
    }
    CtPred *given = class_->param->preds->next;
    ct_types_convert_context(types, &vars, decl->type.constraints, decl->type.constraint_count);
    if (class_->param->preds->next != given) {
        ct_error(types->context, CT_E0314, decl->range, "a method cannot ask more of the class's variable `%s`",
                 class_->param->name->text);
        class_->param->preds->next = given;
    }
    CtEntity *entity = ct_types_entity_new(types, ENTITY_METHOD, name);
    entity->class_ = class_;
    entity->method = class_->method_count;
    CtTy *type = ct_types_convert_type(types, &vars, decl->type.type);
    entity->scheme = (CtScheme){vars.made.items, vars.made.count, type};
    class_->methods[class_->method_count++] = entity;
    ct_types_define_value(types, entity);
}

static int find_method(const CtClass *class_, CtSym name) {
    for (uint32_t i = 0; i < class_->method_count; i++)
        if (class_->methods[i]->name == name) return (int)i;
    return -1;
}

static void report_no_method(CtTypes *types, const CtClass *class_, const CtBinding *binding) {
    if (binding->pat) {
        ct_error(types->context, CT_E0314, binding->range,
                 "a class or an instance holds definitions of methods, not patterns");
        return;
    }
    CtDiag *diag = ct_error(types->context, CT_E0314, binding->name.range, "`%s` is not a method of the class %s",
                            binding->name.text->text, class_->name->text);
    CtSym *names = CT_NEW_ARRAY(types->arena, CtSym, class_->method_count);
    for (uint32_t i = 0; i < class_->method_count; i++) names[i] = class_->methods[i]->name;
    CtSym near = ct_nearest(binding->name.text, names, class_->method_count);
    if (near) ct_help(types->context, diag, "perhaps `%s` is meant", near->text);
}

/* Stores the bindings of a class or instance body in `places`, at the indices of their methods. */
static void place_bindings(CtTypes *types, const CtClass *class_, const CtDecls *body, CtBinding **places) {
    for (uint32_t i = 0; i < body->count; i++) {
        const CtDecl *decl = &body->items[i];
        if (decl->kind != DECL_BINDING) continue;
        CtBinding *binding = decl->binding;
        int method = binding->pat ? -1 : find_method(class_, binding->name.text);
        if (method < 0)
            report_no_method(types, class_, binding);
        else if (places[method])
            ct_error(types->context, CT_E0309, binding->range, "`%s` is defined twice", binding->name.text->text);
        else
            places[method] = binding;
    }
}

static bool mentions(const CtTypeExpr *type, CtSym variable) {
    for (;;) {
        if (type->kind == TYPE_EXPR_VAR && type->name.text == variable) return true;
        if (type->part_count == 0) return false;
        for (uint32_t i = 0; i + 1 < type->part_count; i++)
            if (mentions(type->parts[i], variable)) return true;
        type = type->parts[type->part_count - 1];
    }
}

/* The type of a method has the class's variable (Haskell 98 §4.3.1): nothing else says which instance is meant. */
static void check_mention(CtTypes *types, const CtClass *class_, const CtDecl *signature, CtName name) {
    CtSym variable = class_->param->name;
    if (mentions(signature->type.type, variable)) return;
    CtDiag *diag =
        ct_error(types->context, CT_E0314, name.range,
                 "the type of the method `%s` lacks the variable `%s` of its class", name.text->text, variable->text);
    ct_help(types->context, diag, "make `%s` a function of its own, outside of the class", name.text->text);
}

static void declare_methods(CtTypes *types, CtClass *class_) {
    const CtDecls *body = &class_->decl->body;
    uint32_t count = 0;
    for (uint32_t i = 0; i < body->count; i++)
        if (body->items[i].kind == DECL_SIGNATURE) count += body->items[i].name_count;
    class_->methods = CT_NEW_ARRAY(types->arena, CtEntity *, count);
    class_->defaults = CT_NEW_ARRAY(types->arena, CtBinding *, count);
    for (uint32_t i = 0; i < body->count; i++)
        for (uint32_t j = 0; body->items[i].kind == DECL_SIGNATURE && j < body->items[i].name_count; j++) {
            check_mention(types, class_, &body->items[i], body->items[i].names[j]);
            declare_method(types, class_, &body->items[i], body->items[i].names[j]);
        }
    place_bindings(types, class_, body, class_->defaults);
}

void ct_types_declare_classes(CtTypes *types, CtDecls *decls) {
    types->new_classes.count = 0;
    for (uint32_t i = 0; i < decls->count; i++)
        if (decls->items[i].kind == DECL_CLASS) declare_class(types, &decls->items[i]);
    for (uint32_t i = 0; i < types->new_classes.count; i++) declare_supers(types, types->new_classes.items[i]);
    for (uint32_t i = 0; i < types->new_classes.count; i++) settle_arity(types, types->new_classes.items[i]);
    for (uint32_t i = 0; i < types->new_classes.count; i++) declare_methods(types, types->new_classes.items[i]);
}

/* ---- instances ---- */

CtInstance *ct_types_instance_new(CtTypes *types, CtClass *class_, CtTyCon *tycon, CtTy **generics, uint32_t count,
                                  CtSourceRange range) {
    CtInstance *known = ct_types_instance_find(class_, tycon);
    if (known) {
        CtDiag *diag = ct_error(types->context, CT_E0309, range, "there is an instance %s %s already",
                                class_->name->text, tycon->name->text);
        ct_note(types->context, diag, known->range, "it is here");
        ct_help(types->context, diag, "a type is in a class in one way: keep one of the two");
        return NULL;
    }
    CtInstance *instance = CT_NEW(types->arena, CtInstance);
    instance->class_ = class_;
    instance->tycon = tycon;
    instance->generics = generics;
    instance->head_count = instance->generic_count = count;
    instance->range = range;
    instance->head = ct_types_ty_con(types, tycon, generics, count);
    instance->methods = CT_NEW_ARRAY(types->arena, CtBinding *, class_->method_count);
    instance->method_generics = CT_NEW_ARRAY(types->arena, CtTy **, class_->method_count);
    instance->method_entities = CT_NEW_ARRAY(types->arena, CtEntity *, class_->method_count);
    ct_push(types->arena, &class_->instances, instance);
    ct_map_set(types->arena, &class_->by_tycon, ct_key(tycon), instance);
    ct_push(types->arena, &types->new_instances, instance);
    return instance;
}

static bool is_closed(CtTy *type) {
    type = ct_types_ty_resolve(type);
    return type->kind == TY_APP ? is_closed(type->fun) && is_closed(type->arg) : type->kind == TY_CON;
}

/* The arguments of an instance's head are different variables or, as in `instance Pretty [Char]`, types without
 * variables; those are moved to `given`, and stand as variables that nothing mentions. */
static bool different_variables(CtTypes *types, CtTy **args, uint32_t count, CtTy ***given) {
    for (uint32_t i = 0; i < count; i++) {
        if (is_closed(args[i])) {
            if (!*given) *given = CT_NEW_ARRAY(types->arena, CtTy *, count);
            (*given)[i] = args[i];
            args[i] = ct_types_ty_generic(types, ct_intern_text(&types->context->symbols, "given"), 0);
        }
        if (args[i]->kind != TY_GENERIC) return false;
        for (uint32_t j = 0; j < i; j++)
            if (args[j] == args[i]) return false;
    }
    return true;
}

/* The types for the other parameters of the class, in the head of an instance. Their variables that are not in the type
 * that selects the instance become further generics of it. */
static CtTy **convert_others(CtTypes *types, CtTyVars *vars, const CtClass *class_, const CtDecl *decl) {
    CtTy **others = CT_NEW_ARRAY(types->arena, CtTy *, class_->other_count);
    for (uint32_t i = 0; i < class_->other_count; i++) {
        uint32_t known = vars->made.count;
        CtTypeExpr *expr = decl->head[i + (i >= class_->place)];
        others[i] = ct_types_convert_partial(types, vars, expr, class_->others[i]->arity);
        if (ct_types_ty_failed(others[i])) return NULL;
        if (vars->made.count == known || others[i]->kind == TY_GENERIC) continue;
        CtDiag *diag =
            ct_error(types->context, CT_E0314, expr->range, "`%s`, which determines this, lacks the variable `%s`",
                     class_->param->name->text, vars->made.items[known]->name->text);
        ct_help(types->context, diag, "another type of an instance has the same variables, or is a variable itself");
        return NULL;
    }
    return others;
}

static void declare_instance(CtTypes *types, CtDecl *decl) {
    CtClass *class_ = ct_types_find_class(types, decl->name);
    if (class_ && decl->head_count != class_->other_count + 1) {
        ct_error(types->context, CT_E0314, decl->range, "the class %s has %u parameter%s, not %u", class_->name->text,
                 class_->other_count + 1, class_->other_count == 0 ? "" : "s", decl->head_count);
        return;
    }
    decl->type.type = decl->head[class_ ? class_->place : 0];
    CtTyVars vars = {.open = true};
    CtTy *head = ct_types_convert_partial(types, &vars, decl->type.type, class_ ? class_->param_arity : 0);
    uint32_t head_vars = vars.made.count;
    CtTy **others = class_ && class_->other_count > 0 ? convert_others(types, &vars, class_, decl) : NULL;
    if (class_ && class_->other_count > 0 && !others) return;
    vars.open = false;
    ct_types_convert_context(types, &vars, decl->type.constraints, decl->type.constraint_count);
    if (!class_ || ct_types_ty_failed(head)) return;
    CtTyCon *tycon;
    uint32_t count = 0;
    if (!ct_types_ty_head(head, &tycon, NULL, 0, &count)) {
        ct_error(types->context, CT_E0314, decl->type.type->range,
                 "an instance is for a type constructor, not for any type");
        return;
    }
    uint32_t further = vars.made.count - head_vars;
    CtTy **args = CT_NEW_ARRAY(types->arena, CtTy *, count + further);
    ct_types_ty_head(head, &tycon, args, count, &count);
    CtTy **given = NULL;
    if (!different_variables(types, args, count, &given)) {
        ct_error(types->context, CT_E0314, decl->type.type->range,
                 "an instance is for `%s` applied to different variables, or to types without any, not for `%s`",
                 tycon->name->text, ct_types_ty_text(types, head));
        return;
    }
    CtInstance *instance = ct_types_instance_new(types, class_, tycon, args, count, decl->type.type->range);
    if (!instance) return;
    for (uint32_t i = 0; i < further; i++) instance->generics[count + i] = vars.made.items[head_vars + i];
    instance->generic_count = count + further;
    instance->others = others;
    instance->given = given;
    if (given) instance->head = head;
    instance->decl = decl;
    decl->instance = instance;
    place_bindings(types, class_, &decl->body, instance->methods);
}

void ct_types_declare_instances(CtTypes *types, CtDecls *decls) {
    types->new_instances.count = 0;
    for (uint32_t i = 0; i < decls->count; i++)
        if (decls->items[i].kind == DECL_INSTANCE) declare_instance(types, &decls->items[i]);
}

void ct_types_check_superclasses(CtTypes *types) {
    for (uint32_t i = 0; i < types->new_instances.count; i++) {
        CtInstance *instance = types->new_instances.items[i];
        for (uint32_t j = 0; j < instance->class_->super_count; j++) {
            CtClass *super = instance->class_->supers[j];
            if (ct_types_solve(types, super, instance->head, instance->range, true)) continue;
            CtDiag *diag =
                ct_error(types->context, CT_E0314, instance->range,
                         "an instance of %s needs an instance of its superclass %s for `%s`",
                         instance->class_->name->text, super->name->text, ct_types_ty_text(types, instance->head));
            ct_help(types->context, diag, "write one, with no more in its context, or add `deriving (%s)`",
                    super->name->text);
        }
        for (uint32_t j = 0; instance->others && j < instance->class_->other_count; j++)
            for (CtPred *pred = instance->class_->other_supers[j]; pred; pred = pred->next)
                ct_types_solve(types, pred->class_, instance->others[j], instance->range, false);
    }
}

/* ---- bodies ---- */

/* Makes the entity of an instance's binding for the i-th method. Its type is the method's, with the class variables
 * replaced by the types of the instance, and with fresh rigid generics for the method's own type variables. */
static void make_method(CtTypes *types, CtInstance *instance, uint32_t i) {
    CtBinding *binding = instance->methods[i];
    const CtScheme *scheme = &instance->class_->methods[i]->scheme;
    uint32_t first = 1 + instance->class_->other_count, own = scheme->count - first;
    uint32_t count = instance->generic_count + own;
    CtTy **generics = CT_NEW_ARRAY(types->arena, CtTy *, count);
    CtTy **args = CT_NEW_ARRAY(types->arena, CtTy *, scheme->count);
    for (uint32_t j = 0; j < instance->generic_count; j++) generics[j] = instance->generics[j];
    args[0] = instance->head;
    for (uint32_t j = 1; j < first; j++) args[j] = instance->others[j - 1];
    for (uint32_t j = first; j < scheme->count; j++)
        args[j] = generics[instance->generic_count + j - first] =
            ct_types_ty_generic(types, scheme->generics[j]->name, scheme->generics[j]->arity);
    for (uint32_t j = first; j < scheme->count; j++)
        for (CtPred *pred = scheme->generics[j]->preds; pred; pred = pred->next)
            ct_types_pred_add_with(
                types, args[j], pred->class_,
                ct_types_replace_others(types, pred->class_, pred->others, scheme->generics, args, scheme->count),
                pred->range);
    CtEntity *entity = ct_types_entity_new(types, ENTITY_GLOBAL, binding->name);
    entity->binding = binding;
    for (uint32_t j = first; j < scheme->count; j++)
        for (CtApplied *one = ct_types_applied(types, scheme->generics[j]); one; one = one->next)
            ct_types_applied_add(
                types, args[j], one->class_,
                ct_types_replace_others(types, one->class_, one->others, scheme->generics, args, scheme->count),
                ct_types_ty_replace(types, one->type, scheme->generics, args, scheme->count), one->range);
    CtTy *type = ct_types_ty_replace(types, scheme->type, scheme->generics, args, scheme->count);
    entity->scheme = (CtScheme){generics, count, type};
    binding->entity = entity;
    instance->method_entities[i] = entity;
    instance->method_generics[i] = args + first;
}

/* Checks a signature inside an instance: it must be the method's type at this instance, or more general. The signature
 * has no other effect. */
static void check_signature(CtTypes *types, CtInstance *instance, const CtDecl *decl, CtName name) {
    CtClass *class_ = instance->class_;
    int method = find_method(class_, name.text);
    if (method < 0 || !instance->methods[method]) {
        ct_error(types->context, CT_E0310, name.range,
                 "there is a signature for `%s`, but this instance does not define it", name.text->text);
        return;
    }
    CtScheme scheme = ct_types_convert_scheme(types, &decl->type);
    if (!scheme.type || ct_types_ty_failed(scheme.type)) return;
    CtTy **inst = CT_NEW_ARRAY(types->arena, CtTy *, scheme.count);
    types->level++;
    CtTy *meant = instance->method_entities[method]->scheme.type;
    CtTy *type = ct_types_instantiate_at(types, &scheme, inst, decl->range);
    bool agrees = ct_types_unify(types, type, meant) == UNIFY_OK;
    types->level--;
    if (agrees) return;
    CtDiag *diag =
        ct_error(types->context, CT_E0301, decl->type.type->range,
                 "the signature of `%s` does not agree with the class %s", name.text->text, class_->name->text);
    ct_note(types->context, diag, CT_NO_RANGE, "in this instance its type is `%s`", ct_types_ty_text(types, meant));
}

void ct_types_resolve_class_bodies(CtTypes *types) {
    for (uint32_t i = 0; i < types->new_classes.count; i++) {
        CtClass *class_ = types->new_classes.items[i];
        for (uint32_t j = 0; j < class_->method_count; j++) {
            if (!class_->defaults[j]) continue;
            CtEntity *entity = ct_types_entity_new(types, ENTITY_GLOBAL, class_->defaults[j]->name);
            entity->binding = class_->defaults[j];
            entity->scheme = class_->methods[j]->scheme;
            class_->defaults[j]->entity = entity;
            ct_types_resolve_binding(types, class_->defaults[j]);
        }
    }
    for (uint32_t i = 0; i < types->new_instances.count; i++) {
        CtInstance *instance = types->new_instances.items[i];
        for (uint32_t j = 0; j < instance->class_->method_count; j++) {
            if (!instance->methods[j]) continue;
            make_method(types, instance, j);
            ct_types_resolve_binding(types, instance->methods[j]);
        }
        const CtDecls *body = instance->decl ? &instance->decl->body : NULL;
        for (uint32_t j = 0; body && j < body->count; j++)
            for (uint32_t k = 0; body->items[j].kind == DECL_SIGNATURE && k < body->items[j].name_count; k++)
                check_signature(types, instance, &body->items[j], body->items[j].names[k]);
    }
}

void ct_types_infer_class_bodies(CtTypes *types) {
    for (uint32_t i = 0; i < types->new_classes.count; i++) {
        CtClass *class_ = types->new_classes.items[i];
        for (uint32_t j = 0; j < class_->method_count; j++) {
            CtWhy why = {.kind = WHY_METHOD, .name = class_->methods[j]->name};
            if (class_->defaults[j])
                ct_types_infer_method(types, class_->defaults[j], class_->defaults[j]->entity, &why);
        }
    }
    for (uint32_t i = 0; i < types->new_instances.count; i++) {
        CtInstance *instance = types->new_instances.items[i];
        for (uint32_t j = 0; j < instance->class_->method_count; j++) {
            CtWhy why = {.kind = WHY_METHOD, .name = instance->class_->methods[j]->name};
            types->own_method = instance->class_->methods[j];
            types->own_tycon = instance->tycon;
            if (instance->methods[j])
                ct_types_infer_method(types, instance->methods[j], instance->method_entities[j], &why);
        }
    }
    types->own_method = NULL;
}
