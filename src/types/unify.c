/* Unification by linked variables. A variable is bound to a type only after a walk that lowers the levels of the
 * variables in it, and finds the variable itself (an infinite type) and rigid variables that would leave their scope;
 * ground types are not walked. */
#include "types/internal.h"

enum { MOST_WALKED = 400000 };

/* Types share their parts, and are walked as if they did not: that is what makes the walk of a type such as
 * ((a, a), (a, a)), forty levels deep, longer than anybody waits. So walks are counted. */
static CtUnify admit(CtTypes *types, CtTy *meta, CtTy *type) {
    for (;;) {
        if (!type->has_var) return UNIFY_OK;
        if (++types->walked > MOST_WALKED) return UNIFY_TOO_LARGE;
        type = ct_ty_resolve(type);
        switch (type->kind) {
        case TY_META:
            if (type == meta) return UNIFY_INFINITE;
            if (type->level > meta->level) type->level = meta->level;
            return UNIFY_OK;
        case TY_GENERIC: return type->level > meta->level ? UNIFY_RIGID : UNIFY_OK;
        case TY_CON: return UNIFY_OK;
        case TY_APP: {
            CtUnify result = admit(types, meta, type->fun);
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
    for (CtPred *pred = a->preds; pred; pred = pred->next) ct_pred_add(types, b, pred->class_, pred->span);
    return UNIFY_OK;
}

/* A type that lacks a class of the variable is an error, told where the class is asked for; the variable then agrees
 * with everything, so that it is told once. `found`: the type is what was found, not what was expected. */
static CtUnify bind(CtTypes *types, CtTy *meta, CtTy *type, bool found) {
    CtUnify result = admit(types, meta, type);
    types->clash[0] = meta;
    types->clash[1] = type;
    if (result == UNIFY_TOO_LARGE) meta->link = types->error; /* said once */
    if (result != UNIFY_OK) return result;
    if (meta->preds && types->expecting) types->expecting->from_found = found;
    CtPred *preds = meta->preds;
    meta->link = type;
    for (CtPred *pred = preds; pred; pred = pred->next) {
        if (ct_solve(types, pred->class_, type, pred->span, false)) continue;
        meta->link = types->error;
        break;
    }
    return UNIFY_OK;
}

static CtUnify unify(CtTypes *types, CtTy *a, CtTy *b) {
    for (;;) {
        if (++types->walked > MOST_WALKED) return UNIFY_TOO_LARGE;
        a = ct_ty_resolve(a);
        b = ct_ty_resolve(b);
        if (a == b || a->is_error || b->is_error) return UNIFY_OK;
        if (a->kind == TY_META && b->kind == TY_META) return join(types, a, b);
        if (a->kind == TY_META) return bind(types, a, b, true);
        if (b->kind == TY_META) return bind(types, b, a, false);
        if (a->kind != TY_APP || b->kind != TY_APP) {
            types->clash[0] = a;
            types->clash[1] = b;
            return UNIFY_MISMATCH;
        }
        CtUnify result = unify(types, a->fun, b->fun);
        if (result != UNIFY_OK) return result;
        if (ct_ty_resolve(a->fun)->is_error || ct_ty_resolve(b->fun)->is_error) return UNIFY_OK; /* said already */
        a = a->arg;
        b = b->arg;
    }
}

CtUnify ct_unify(CtTypes *types, CtTy *a, CtTy *b) {
    types->walked = 0;
    return unify(types, a, b);
}

/* ---- size ---- */

static bool count_parts(CtTy *type, uint32_t *left) {
    for (;;) {
        if (*left == 0) return false;
        --*left;
        type = ct_ty_resolve(type);
        if (type->kind != TY_APP) return true;
        if (!count_parts(type->fun, left)) return false;
        type = type->arg;
    }
}

bool ct_ty_too_large(CtTy *type) {
    uint32_t left = CT_MOST_PARTS;
    return !count_parts(type, &left);
}

void ct_report_too_large(CtTypes *types, CtSpan span, const char *what) {
    CtDiag *diag = ct_error(types->context, CT_E0323, span, "%s has more than %d parts", what, CT_MOST_PARTS);
    ct_help(types->context, diag, "types that double, such as pairs of pairs, grow so fast; a data type has a short name");
}
