/* Constructors with type variables of their own, data Shape = forall a. HasArea a => Shape a. As programs are
 * specialised, such a constructor is one constructor of Core for each type at which the program makes it, a variant,
 * and a match has an alternative for each, in which the variable is that type. Variants come to be known while code is
 * made: code that has a case for each is made again when there is one more (special.c). Where the type of the value
 * determines the variables, as in Pair :: Expr a -> Expr b -> Expr (a, b), there is one variant or, at other types,
 * none. */
#include "elab/internal.h"

/* Whether a type of the declaration is this one, for types of its variables that are found on the way. */
static bool match_type(CtTy *type, Ground *ground, const CtDataCon *con, Ground **params, Ground **own) {
    type = ct_types_ty_resolve(type);
    switch (type->kind) {
    case TY_CON: return ground->con == type->con;
    case TY_APP:
        return ground->con == NULL && match_type(type->fun, ground->fun, con, params, own) &&
               match_type(type->arg, ground->arg, con, params, own);
    case TY_GENERIC:
        for (uint32_t i = 0; i < con->exist_count; i++) {
            if (con->exists[i] != type) continue;
            if (own[i] == NULL) own[i] = ground;
            return own[i] == ground;
        }
        for (uint32_t i = 0; i < con->tycon->arity; i++)
            if (con->tycon->params[i] == type) return params[i] == ground;
        return true;
    case TY_META: break;
    }
    return true;
}

static Ground **args_of(CtElab *el, Ground *type, uint32_t *count) {
    ct_elab_ground_head(type, count);
    Ground **args = CT_NEW_ARRAY(el->arena, Ground *, *count);
    for (uint32_t i = 0; i < *count; i++) args[i] = ct_elab_ground_arg(type, i);
    return args;
}

Ground **ct_elab_determined(CtElab *el, Ground *type, const CtDataCon *con) {
    uint32_t count;
    Ground **args = args_of(el, type, &count), **own = CT_NEW_ARRAY(el->arena, Ground *, con->exist_count + 1);
    for (uint32_t i = 0; con->equal != NULL && i < count; i++)
        if (con->equal[i] != NULL && !match_type(con->equal[i], args[i], con, args, own)) return NULL;
    return own;
}

bool ct_elab_has_variants(CtElab *el, Ground *type, const CtDataCon *con) {
    Ground **own = ct_elab_determined(el, type, con);
    for (uint32_t i = 0; own != NULL && i < con->exist_count; i++)
        if (own[i] == NULL) return true;
    return false;
}

/* The types for the parameters of the data type and a constructor's own variables. */
static TyEnv env_of(CtElab *el, Ground *type, const CtDataCon *con, Ground *const *types) {
    uint32_t count;
    Ground **args = args_of(el, type, &count), **all = CT_NEW_ARRAY(el->arena, Ground *, count + con->exist_count);
    for (uint32_t i = 0; i < count; i++) all[i] = args[i];
    for (uint32_t i = 0; i < con->exist_count; i++) all[count + i] = types[i];
    CtTy *const *generics = con->generics != NULL ? con->generics : con->tycon->params;
    return (TyEnv){.generics = generics, .types = all, .count = count + con->exist_count};
}

Ground *ct_elab_variant_field(CtElab *el, Ground *type, const CtDataCon *con, Ground *const *types, uint32_t index) {
    TyEnv env = env_of(el, type, con, types);
    return ct_elab_ground_in(el, &env, con->fields[index]);
}

enum { MOST_PARTS = 1000 }; /* of a type of which instances are looked up */

/* The same type for inference; NULL: it is large, or has a universal type, which may stand for a type that has an
 * instance. */
static CtTy *inferred(CtElab *el, Ground *type, uint32_t *left) {
    uint32_t count;
    CtTyCon *con = ct_elab_ground_head(type, &count);
    if (ct_elab_universal(el, type) != NULL || (*left)-- == 0) return NULL;
    CtTy **args = CT_NEW_ARRAY(el->arena, CtTy *, count);
    for (uint32_t i = 0; i < count; i++)
        if (*left == 0 || (args[i] = inferred(el, ct_elab_ground_arg(type, i), left)) == NULL) return NULL;
    return ct_types_ty_con(el->types, con, args, count);
}

static bool mentions_own(const CtDataCon *con, CtTy *type) {
    type = ct_types_ty_resolve(type);
    if (type->kind == TY_APP) return mentions_own(con, type->fun) || mentions_own(con, type->arg);
    for (uint32_t i = 0; i < con->exist_count; i++)
        if (con->exists[i] == type) return true;
    return false;
}

bool ct_elab_promises_hold(CtElab *el, Ground *type, const CtDataCon *con, Ground *const *types) {
    if (con->given_count == 0 || ct_elab_universal(el, type) != NULL) return true;
    TyEnv env = env_of(el, type, con, types);
    bool made = ct_elab_has_variants(el, type, con); /* the types are those of a value that was made */
    for (uint32_t i = 0; i < con->given_count; i++) {
        uint32_t left = MOST_PARTS;
        if (made && mentions_own(con, con->givens[i].type)) continue;
        CtTy *given = inferred(el, ct_elab_ground_in(el, &env, con->givens[i].type), &left);
        if (given != NULL && !ct_types_is_of_class(el->types, con->givens[i].class_, given)) return false;
    }
    return true;
}

Ground **ct_elab_own_types(CtElab *el, const CtExpr *expr) {
    const CtDataCon *con = expr->con;
    Ground **types = CT_NEW_ARRAY(el->arena, Ground *, con->exist_count);
    for (uint32_t i = 0; i < con->exist_count; i++) types[i] = ct_elab_ground(el, expr->inst[con->tycon->arity + i]);
    return types;
}

enum { DEEPEST_VARIANT = 40 };

static CtCon *too_many(CtElab *el, Ground *type, const CtDataCon *con, CtSourceRange range) {
    if (!el->gave_up) {
        CtText text = ct_text(el->arena);
        ct_elab_ground_print(&text, type);
        CtDiag *diag =
            ct_error(el->context, CT_E0402, ct_elab_blame(el, range),
                     "`%s` is made of values of ever more types, each made of the one before", con->name->text);
        ct_help(
            el->context, diag,
            "there is a copy of the code for each type: a recursion may not put `%s` around a value that was in one",
            con->name->text);
    }
    el->gave_up = true;
    return &ct_elab_core(el, type)->data->cons[con->tag];
}

CtCon *ct_elab_variant(CtElab *el, Ground *type, const CtDataCon *con, Ground *const *types, CtSourceRange range) {
    CtType *core = ct_elab_core(el, type);
    if (!ct_elab_has_variants(el, type, con)) return &core->data->cons[con->tag];
    if (type->variants == NULL) type->variants = CT_NEW(el->arena, Variants);
    bool deep = false;
    for (uint32_t i = 0; i < type->variants->items.count; i++) {
        const Variant *one = &type->variants->items.items[i];
        if (one->con == con && memcmp(one->types, types, con->exist_count * sizeof *types) == 0) return one->made;
    }
    for (uint32_t i = 0; i < con->exist_count; i++) deep = deep || types[i]->depth > DEEPEST_VARIANT;
    CtCon made = {.name = con->name, .count = con->arity, .field_names = con->field_names};
    made.strict = con->strict;
    made.infix = con->infix;
    made.precedence = con->precedence;
    made.fields = CT_NEW_ARRAY(el->arena, CtType *, con->arity);
    Variant variant = {.con = con, .types = CT_NEW_ARRAY(el->arena, Ground *, con->exist_count)};
    for (uint32_t i = 0; i < con->exist_count; i++) variant.types[i] = types[i];
    for (uint32_t i = 0; i < con->arity; i++)
        made.fields[i] = ct_elab_core(el, ct_elab_variant_field(el, type, con, types, i));
    variant.made = deep ? NULL : ct_core_data_add_variant(el->program, core->data, made);
    if (variant.made == NULL) return too_many(el, type, con, range);
    ct_push(el->arena, &type->variants->items, variant);
    el->layer_count++;
    return variant.made;
}

const Variant *ct_elab_variant_at(CtElab *el, Ground *type, const CtDataCon *con, uint32_t index) {
    if (el->spec != NULL) el->spec->by_variants = true;
    if (type->variants == NULL) return NULL;
    for (uint32_t i = 0; i < type->variants->items.count; i++) {
        const Variant *one = &type->variants->items.items[i];
        if (one->con == con && index-- == 0) return one;
    }
    return NULL;
}
