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

/* ---- methods that convert to no other type ---- */

typedef struct Fixed {
    CtTypes *types;
    CtMap seen; /* parameters of types that are being looked at, or were */
} Fixed;

static bool is_fixed(Fixed *f, CtTy *type, const CtTy *variable);

/* Whether a type constructor of the library has values that depend on the instances of an argument: the order of a
 * Map's keys is that of their type. */
static bool is_ordered(const CtTypes *types, const CtTyCon *con, uint32_t index) {
    static const char *const names[] = {"Map", "Set", "Array"};
    if (index > 0 || !con->range.source || !types->context->sources.items[con->range.source].is_library) return false;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(con->name->text, names[i]) == 0) return true;
    return false;
}

/* Whether a value of a type says more of an argument than its representation (GHC's nominal role): that it is of a
 * class, or which type it is. */
static bool is_nominal(Fixed *f, const CtTyCon *con, uint32_t index) {
    if (index >= con->arity || ct_map_has(&f->seen, ct_key(con->params[index]))) return false;
    const CtTy *param = con->params[index];
    ct_map_set(f->types->arena, &f->seen, ct_key(param), f);
    if (is_ordered(f->types, con, index)) return true;
    if (con->poly && is_fixed(f, con->poly->type, param)) return true;
    for (uint32_t i = 0; i < con->con_count; i++) {
        const CtDataCon *one = con->cons[i];
        if (one->equal && one->equal[index]) return true;
        for (uint32_t j = 0; j < one->given_count; j++)
            if (mentions(one->givens[j].type, param)) return true;
        for (uint32_t j = 0; j < one->arity; j++)
            if (is_fixed(f, one->fields[j], param)) return true;
    }
    return false;
}

/* Whether a type has the variable where values of another type of the same representation are not meant. */
static bool is_fixed(Fixed *f, CtTy *type, const CtTy *variable) {
    uint32_t count = 0;
    CtTy *head = ct_types_ty_resolve(type);
    for (; head->kind == TY_APP; head = ct_types_ty_resolve(head->fun)) count++;
    for (CtTy *part = ct_types_ty_resolve(type); part->kind == TY_APP; part = ct_types_ty_resolve(part->fun)) {
        count--;
        if (!mentions(part->arg, variable)) continue;
        bool nominal = head->kind == TY_CON ? is_nominal(f, head->con, count) : head != variable;
        if (nominal || is_fixed(f, part->arg, variable)) return true;
    }
    return false;
}

static const CtEntity *fixed_method(CtTypes *types, const CtClass *class_) {
    for (uint32_t i = 0; i < class_->method_count; i++) {
        const CtScheme *scheme = &class_->methods[i]->scheme;
        Fixed f = {.types = types};
        if (scheme->type && is_fixed(&f, scheme->type, scheme->generics[0])) return class_->methods[i];
    }
    return NULL;
}

static void check_methods(CtTypes *types, const CtTyCon *con, const CtClass *class_, CtSourceRange range) {
    const CtEntity *method = fixed_method(types, class_);
    if (!method) return;
    CtDiag *diag = ct_error(types->context, CT_E0315, range, "%s cannot be derived for `%s`: `%s` is for one type only",
                            class_->name->text, con->name->text, method->name->text);
    ct_note(types->context, diag, method->range,
            "its type has the class's variable as a key, in a constructor's context, or in a type that a variable "
            "makes: such values are not the same for two types of one representation");
}

CtInstance *ct_types_derive_newtype(CtTypes *types, CtTyCon *con, CtClass *class_, const CtConstraint *derived) {
    uint32_t open = class_->param_arity;
    CtTy *via = con->con_count == 1 && open <= con->arity ? reduced(con->cons[0]->fields[0], con, open) : NULL;
    if (!via || derived->type_count != class_->other_count || class_->place != class_->other_count) {
        ct_error(types->context, CT_E0315, derived->range, "%s cannot be derived for `%s`", class_->name->text,
                 con->name->text);
        return NULL;
    }
    check_methods(types, con, class_, derived->range);
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
