/* `newtype N a = N τ deriving C` for a class that is not derived from the constructors: the instance of τ serves for N,
 * too (GeneralizedNewtypeDeriving). Its methods convert where they meet values of N (elab/convert.c).
 *
 *   newtype Age = Age Int deriving Num                                   the instance of Int
 *   newtype App a = App (StateT Int IO a) deriving (Monad, MonadState Int)    those of StateT Int IO
 *
 * For a class of type constructors, τ has to end with the parameters that N leaves open. */
#include "types/internal.h"

static bool mentions(CtTy *type, const CtTy *generic) {
    type = ct_types_ty_resolve(type);
    if (type->kind == TY_APP) return mentions(type->fun, generic) || mentions(type->arg, generic);
    return type == generic;
}

/* The type without its last arguments, which are the last `open` parameters of the newtype; NULL: they are not. */
static CtTy *reduced(CtTy *type, const CtTyCon *con, uint32_t open) {
    for (uint32_t i = 0; i < open; i++) {
        const CtTy *last = con->params[con->arity - 1 - i];
        type = ct_types_ty_resolve(type);
        if (type->kind != TY_APP || ct_types_ty_resolve(type->arg) != last || mentions(type->fun, last)) return NULL;
        type = type->fun;
    }
    return type;
}

CtInstance *ct_types_derive_newtype(CtTypes *types, CtTyCon *con, CtClass *class_, const CtConstraint *derived) {
    uint32_t open = class_->param_arity;
    CtTy *via = con->con_count == 1 && open <= con->arity ? reduced(con->cons[0]->fields[0], con, open) : NULL;
    if (!via || derived->type_count != class_->other_count || class_->place != class_->other_count) {
        ct_error(types->context, CT_E0315, derived->range, "%s cannot be derived for `%s`", class_->name->text,
                 con->name->text);
        return NULL;
    }
    uint32_t count = con->arity - open;
    CtTyVars vars = {.open = false};
    CtTy **generics = CT_NEW_ARRAY(types->arena, CtTy *, count);
    for (uint32_t i = 0; i < count; i++) {
        generics[i] = ct_types_ty_generic(types, con->params[i]->name, con->params[i]->arity);
        ct_map_set(types->arena, &vars.map, ct_key(generics[i]->name), generics[i]);
    }
    CtTy **others = derived->type_count > 0 ? CT_NEW_ARRAY(types->arena, CtTy *, derived->type_count) : NULL;
    for (uint32_t i = 0; i < derived->type_count; i++) {
        others[i] = ct_types_convert_partial(types, &vars, derived->types[i], class_->others[i]->arity);
        if (ct_types_ty_failed(others[i])) return NULL;
    }
    CtInstance *instance = ct_types_instance_new(types, class_, con, generics, count, derived->range);
    if (!instance) return NULL;
    instance->decl = con->decl;
    instance->via = ct_types_ty_replace(types, via, con->params, generics, count);
    instance->others = others;
    return instance;
}

bool ct_types_solve_via(CtTypes *types, CtInstance *instance, CtTy *const *args, bool report) {
    uint32_t count = instance->head_count;
    CtTy *via = ct_types_ty_replace(types, instance->via, instance->generics, args, count);
    CtTy **others = ct_types_replace_others(types, instance->class_, instance->others, instance->generics, args, count);
    if (ct_types_solve_with(types, instance->class_, others, via, instance->range, true)) return true;
    if (report)
        ct_error(types->context, CT_E0315, instance->range, "%s cannot be derived for `%s`: `%s` is not of this class",
                 instance->class_->name->text, instance->tycon->name->text, ct_types_ty_text(types, instance->via));
    return false;
}
