/* Unification by linked variables. A variable is bound to a type only after a walk that lowers the levels of the
 * variables in it, and finds the variable itself (an infinite type) and rigid variables that would leave their scope;
 * ground types are not walked. Both walks have limits, in parts and in depth: see type.c. */
#include "types/internal.h"

enum { COMPARED = 16 * CT_TYPE_LIMIT }; /* parts of two types */

static CtUnify admit(CtTy *meta, CtTy *type, uint32_t *left) {
    for (;;) {
        type = ct_types_ty_resolve(type);
        if (!ct_types_ty_take(left, type)) return UNIFY_LARGE;
        if (!type->has_var) return UNIFY_OK;
        switch (type->kind) {
        case TY_META:
            if (type == meta) return UNIFY_INFINITE;
            if (type->level > meta->level) type->level = meta->level;
            return UNIFY_OK;
        case TY_GENERIC: return type->level > meta->level ? UNIFY_RIGID : UNIFY_OK;
        case TY_CON: return UNIFY_OK;
        case TY_APP: {
            CtUnify result = admit(meta, type->fun, left);
            if (result != UNIFY_OK) return result;
            type = type->arg;
        }
        }
    }
}

static CtUnify join(CtTypes *types, CtTy *a, CtTy *b) {
    if (a->level < b->level) { /* the one of the outer scope stays */
        CtTy *outer = a;
        a = b;
        b = outer;
    }
    a->link = b;
    if (a->arity > b->arity) b->arity = a->arity;
    for (CtPred *pred = a->preds; pred; pred = pred->next) ct_types_pred_add(types, b, pred->class_, pred->range);
    return UNIFY_OK;
}

/* A type that lacks a class of the variable is an error, told where the class is asked for; the variable then agrees
 * with everything, so that it is told once. `found`: the type is what was found, not what was expected. */
static CtUnify bind(CtTypes *types, CtTy *meta, CtTy *type, bool found) {
    uint32_t left = ct_types_ty_limit(types);
    CtUnify result = admit(meta, type, &left);
    types->clash[0] = meta;
    types->clash[1] = type;
    if (result == UNIFY_LARGE) meta->link = types->error; /* it grows no further */
    if (result != UNIFY_OK) return result;
    if (meta->preds && types->expecting) types->expecting->from_found = found;
    CtPred *preds = meta->preds;
    meta->link = type;
    for (CtPred *pred = preds; pred; pred = pred->next) {
        if (ct_types_solve(types, pred->class_, type, pred->range, false)) continue;
        meta->link = types->error;
        break;
    }
    return UNIFY_OK;
}

/* What is left: parts to compare, and levels to go down. */
typedef struct Budget {
    uint32_t parts, levels;
} Budget;

static CtUnify unify(CtTypes *types, CtTy *a, CtTy *b, Budget *budget) {
    for (;;) {
        if (budget->parts == 0 || budget->levels == 0) return UNIFY_LARGE;
        budget->parts--;
        a = ct_types_ty_resolve(a);
        b = ct_types_ty_resolve(b);
        if (a == b || a->is_error || b->is_error) return UNIFY_OK;
        if (a->kind == TY_META && b->kind == TY_META) return join(types, a, b);
        if (a->kind == TY_META) return bind(types, a, b, true);
        if (b->kind == TY_META) return bind(types, b, a, false);
        if (a->kind != TY_APP || b->kind != TY_APP) {
            types->clash[0] = a;
            types->clash[1] = b;
            return UNIFY_MISMATCH;
        }
        budget->levels--;
        CtUnify result = unify(types, a->fun, b->fun, budget);
        budget->levels++;
        if (result != UNIFY_OK) return result;
        if (ct_types_ty_resolve(a->fun)->is_error || ct_types_ty_resolve(b->fun)->is_error)
            return UNIFY_OK; /* said already */
        a = a->arg;
        b = b->arg;
    }
}

CtUnify ct_types_unify(CtTypes *types, CtTy *a, CtTy *b) {
    Budget budget = {COMPARED, CT_TYPE_LIMIT};
    return unify(types, a, b, &budget);
}
