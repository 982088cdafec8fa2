/* Types that grow. Polymorphic recursion and nested (non-regular) data types use themselves at ever larger types: `a`,
 * `(a, a)`, `((a, a), (a, a))`, … Programs are specialised to the types at which they are used, so elaboration needs
 * one type that stands for all of these. This file finds the steps of growth from which it makes that type: the
 * applications of type constructors around the growing variable. For `Perfect (a, a)` inside of `data Perfect a` the
 * step is
 * `(•, •)`, for `Bush (Bush a)` it is `Bush •`, for `[(a, Int)]` there are two, `[•]` and `(•, Int)`. */
#include "types/internal.h"

/* ---- steps ---- */

static bool mentions_var(CtTy *type, const CtTy *var) {
    type = ct_types_ty_resolve(type);
    if (type->kind == TY_APP) return mentions_var(type->fun, var) || mentions_var(type->arg, var);
    return type == var;
}

/* The first type variable in a type, or NULL. */
static CtTy *first_var(CtTy *type) {
    type = ct_types_ty_resolve(type);
    if (type->kind == TY_GENERIC) return type;
    if (type->kind != TY_APP) return NULL;
    CtTy *found = first_var(type->fun);
    return found ? found : first_var(type->arg);
}

static bool same_step(const CtGrowth *a, const CtGrowth *b) {
    bool same = a->head == b->head && a->count == b->count;
    for (uint32_t i = 0; same && i < a->count; i++) same = a->holes[i] == b->holes[i] && a->args[i] == b->args[i];
    return same;
}

static void add_step(CtTypes *types, const CtGrowth *step) {
    for (uint32_t i = 0; i < types->growths.count; i++)
        if (same_step(&types->growths.items[i], step)) return;
    ct_push(types->arena, &types->growths, *step);
}

/* Arrays and functions cannot be steps: the operations of the language on them take no other representation. */
static bool is_builtin(const CtTypes *types, const CtTyCon *con) { return con == types->array || con == types->fun; }

/* Records the steps by which a type grows around the variable `var`, or around its first one if `var` is NULL. False
 * when a step is none that is supported. */
static bool add_growth(CtTypes *types, CtTy *type, const CtTy *var) {
    if (!var) var = first_var(type);
    CtTy *head = ct_types_ty_resolve(type);
    if (head == var) return true;
    CtGrowth step = {0};
    for (; head->kind == TY_APP; head = ct_types_ty_resolve(head->fun)) step.count++;
    step.head = head->kind == TY_CON ? head->con : NULL;
    if (head == var || step.count == 0 || (step.head && is_builtin(types, step.head))) return false;
    step.args = CT_NEW_ARRAY(types->arena, CtTy *, step.count);
    step.holes = CT_NEW_ARRAY(types->arena, bool, step.count);
    CtTy *at = ct_types_ty_resolve(type);
    for (uint32_t i = step.count; i-- > 0; at = ct_types_ty_resolve(at->fun)) {
        step.holes[i] = mentions_var(at->arg, var);
        if (step.holes[i] && !add_growth(types, at->arg, var)) return false;
        if (!step.holes[i] && !first_var(at->arg)) step.args[i] = ct_types_ty_resolve(at->arg);
    }
    add_step(types, &step);
    return true;
}

const CtGrowth *ct_types_growths(const CtTypes *types, uint32_t *count) {
    *count = types->growths.count;
    return types->growths.items;
}

static void cannot_grow(CtTypes *types, CtDiag *diag) {
    ct_help(
        types->context, diag,
        "a type grows by tuples, lists and data types, not inside of arrays or functions: put those into a data type, "
        "such as `data Row a = Row (Array a)`");
}

/* ---- polymorphic recursion ---- */

static bool grows(const CtInnerUse *use, CtTy *type, bool inside, uint32_t *left) {
    for (;;) {
        type = ct_types_ty_resolve(type);
        if (!ct_types_ty_take(left, type) || !type->has_var) return false;
        if (type->kind == TY_GENERIC) {
            for (uint32_t i = 0; inside && i < use->user->group->generic_count; i++)
                if (use->user->group->generics[i] == type) return true;
            return false;
        }
        if (type->kind != TY_APP) return false;
        inside = true;
        if (grows(use, type->fun, true, left)) return true;
        type = type->arg;
    }
}

/* The variable that grows at the index-th type argument of a use: the one of the same place, if it is there. */
static const CtTy *growing_var(const CtInnerUse *use, uint32_t index) {
    const CtBindingGroup *group = use->user->group;
    if (index >= group->generic_count) return NULL;
    return mentions_var(use->expr->inst[index], group->generics[index]) ? group->generics[index] : NULL;
}

/* A method of an instance that calls itself, at the instance's type, with larger types for its own variables. */
static void check_method_use(CtTypes *types, const CtMethodUse *use) {
    CtTy *head = ct_types_ty_resolve(use->expr->inst[0]);
    while (head->kind == TY_APP) head = ct_types_ty_resolve(head->fun);
    if (head->kind != TY_CON || head->con != use->tycon) return;
    for (uint32_t i = 1; i < use->expr->inst_count; i++) {
        CtTy *type = ct_types_ty_resolve(use->expr->inst[i]);
        if (type->kind != TY_APP || !first_var(type) || ct_types_mentions_own(type)) continue;
        if (add_growth(types, type, NULL)) {
            use->expr->grows = true;
            continue;
        }
        CtDiag *diag = ct_error(types->context, CT_E0316, use->expr->range, "`%s` calls itself at a larger type, `%s`",
                                use->expr->name.text->text, ct_types_ty_text(types, type));
        cannot_grow(types, diag);
        return;
    }
}

void ct_types_check_inner_uses(CtTypes *types) {
    for (uint32_t i = 0; i < types->method_uses.count; i++) check_method_use(types, &types->method_uses.items[i]);
    types->method_uses.count = 0;
    for (uint32_t i = 0; i < types->inner_uses.count; i++) {
        const CtInnerUse *use = &types->inner_uses.items[i];
        for (uint32_t j = 0; j < use->expr->inst_count; j++) {
            uint32_t left = CT_TYPE_LIMIT;
            if (ct_types_mentions_own(use->expr->inst[j]) || !grows(use, use->expr->inst[j], false, &left)) continue;
            use->expr->grows = true;
            if (add_growth(types, use->expr->inst[j], growing_var(use, j))) continue;
            CtDiag *diag =
                ct_error(types->context, CT_E0316, use->expr->range, "`%s` calls itself at a larger type, `%s`",
                         use->entity->name->text, ct_types_ty_text(types, use->expr->inst[j]));
            cannot_grow(types, diag);
            break;
        }
    }
    types->inner_uses.count = 0;
}

/* ---- nested data types ---- */

static bool mentions(CtTypes *types, CtTy *type, const CtTyCon *goal, CtMap *seen);

static bool reaches(CtTypes *types, CtTyCon *from, const CtTyCon *goal, CtMap *seen) {
    if (from == goal) return true;
    if (ct_map_has(seen, ct_key(from))) return false;
    ct_map_set(types->arena, seen, ct_key(from), from);
    for (uint32_t i = 0; i < from->con_count; i++)
        for (uint32_t j = 0; j < from->cons[i]->arity; j++)
            if (mentions(types, from->cons[i]->fields[j], goal, seen)) return true;
    return false;
}

static bool mentions(CtTypes *types, CtTy *type, const CtTyCon *goal, CtMap *seen) {
    for (; type->kind == TY_APP; type = type->arg)
        if (mentions(types, type->fun, goal, seen)) return true;
    return type->kind == TY_CON && reaches(types, type->con, goal, seen);
}

/* Records that a parameter of a data type takes larger types inside of its own recursion. */
static bool note_growth(CtTypes *types, CtTyCon *head, uint32_t index, CtTy *arg, const CtTyCon *con) {
    if (!head->grows) head->grows = CT_NEW_ARRAY(types->arena, bool, head->arity);
    head->grows[index] = true;
    const CtTy *own = head == con && mentions_var(arg, con->params[index]) ? con->params[index] : NULL;
    return add_growth(types, arg, own);
}

/* Finds the places in a field of `con` where the type contains itself at a larger type. False if that cannot be. */
static bool find_growth(CtTypes *types, const CtTyCon *con, CtTy *type) {
    uint32_t count = 0;
    CtTy *head = type;
    for (; head->kind == TY_APP; head = head->fun) {
        if (!find_growth(types, con, head->arg)) return false;
        count++;
    }
    if (count == 0 || head->kind != TY_CON || !head->con->decl) return true;
    CtMap seen = {0};
    bool inside = reaches(types, head->con, con, &seen), sound = true;
    for (CtTy *at = type; inside && sound && at->kind == TY_APP; at = at->fun) {
        count--;
        if (at->arg->kind != TY_GENERIC && first_var(at->arg) && count < head->con->arity)
            sound = note_growth(types, head->con, count, at->arg, con);
    }
    return sound;
}

static bool speaks_of_own(const CtDataCon *con, CtTy *type) {
    for (uint32_t i = 0; i < con->exist_count; i++)
        if (mentions_var(type, con->exists[i])) return true;
    return false;
}

void ct_types_find_nested(CtTypes *types, CtTyCon *con) {
    for (uint32_t i = 0; i < con->con_count; i++)
        for (uint32_t j = 0; j < con->cons[i]->arity; j++) {
            if (speaks_of_own(con->cons[i], con->cons[i]->fields[j])) continue;
            if (find_growth(types, con, con->cons[i]->fields[j])) continue;
            CtDiag *diag = ct_error(types->context, CT_E0316, con->decl->cons[i].fields[j]->range,
                                    "the type `%s` contains itself at a larger type, `%s`", con->name->text,
                                    ct_types_ty_text(types, con->cons[i]->fields[j]));
            cannot_grow(types, diag);
            con->cons[i]->fields[j] = types->error;
        }
}
