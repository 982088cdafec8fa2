/* Unification with destructively linked variables. A variable is bound to a type only after a traversal of this type,
 * which lowers the levels of the variables inside, and fails if it meets the variable itself (occurs check: an infinite
 * type) or a rigid variable that would escape its scope. Ground types are not traversed. The number of nodes visited is
 * bounded: see type.c. */
#include "types/internal.h"

enum { COMPARED = 16 * CT_TYPE_LIMIT }; /* the most pairs of nodes that a unification compares */

/* What a constraint says of a class's other parameters belongs to no inner scope than the variable itself. */
static void lower_others(const CtTy *meta) {
    for (const CtPred *pred = meta->preds; pred; pred = pred->next)
        for (uint32_t i = 0; pred->others && i < pred->class_->other_count; i++)
            ct_types_lower(pred->others[i], meta->level);
}

void ct_types_lower(CtTy *type, uint32_t level) {
    for (;;) {
        type = ct_types_ty_resolve(type);
        if (!type->has_var) return;
        if (type->kind == TY_META && type->level > level) {
            type->level = level;
            lower_others(type);
        }
        if (type->kind != TY_APP) return;
        ct_types_lower(type->fun, level);
        type = type->arg;
    }
}

static CtUnify admit(CtTy *meta, CtTy *type, uint32_t *left) {
    for (;;) {
        type = ct_types_ty_resolve(type);
        if (!ct_types_ty_take(left, type)) return UNIFY_LARGE;
        if (!type->has_var) return UNIFY_OK;
        switch (type->kind) {
        case TY_META:
            if (type == meta) return UNIFY_INFINITE;
            ct_types_lower(type, meta->level);
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
    if (a->level < b->level) { /* the variable of the outer level is kept */
        CtTy *outer = a;
        a = b;
        b = outer;
    }
    a->link = b;
    if (a->arity > b->arity) b->arity = a->arity;
    b->is_named |= a->is_named && a->level == b->level; /* a variable of an outer level may be of arrays */
    b->is_number |= a->is_number;
    b->is_written |= a->is_written;
    for (CtPred *pred = a->preds; pred; pred = pred->next)
        ct_types_pred_add_with(types, b, pred->class_, pred->others, pred->range);
    return UNIFY_OK;
}

/* Binds a unification variable to a type, which must be an instance of the variable's classes. A missing instance is
 * reported at the constraint's source range; the variable is then bound to the error type, which avoids further errors.
 * `found`: the type is on the found side of the comparison, not on the expected side. */
static CtUnify bind(CtTypes *types, CtTy *meta, CtTy *type, bool found) {
    uint32_t left = ct_types_ty_limit(types);
    CtUnify result = admit(meta, type, &left);
    types->clash[0] = meta;
    types->clash[1] = type;
    if (result == UNIFY_LARGE) meta->link = types->error; /* so that the type grows no further */
    if (result != UNIFY_OK) return result;
    if (meta->preds && types->expecting) types->expecting->from_found = found;
    CtPred *preds = meta->preds;
    meta->link = type;
    for (CtPred *pred = preds; pred; pred = pred->next) {
        if (ct_types_solve_with(types, pred->class_, pred->others, type, pred->range, false)) continue;
        meta->link = types->error;
        break;
    }
    return UNIFY_OK;
}

/* What remains of the bounds: pairs of nodes to compare, and levels of recursion. */
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
            return UNIFY_OK; /* an error was reported already */
        a = a->arg;
        b = b->arg;
    }
}

CtUnify ct_types_unify(CtTypes *types, CtTy *a, CtTy *b) {
    Budget budget = {COMPARED, CT_TYPE_LIMIT};
    return unify(types, a, b, &budget);
}
