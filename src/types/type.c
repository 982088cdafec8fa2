/* Types as objects: construction, inspection, substitution. */
#include "types/internal.h"

static CtTy *solved(CtTy *type) {
    CtTy *end = type;
    while (end->kind == TY_META && end->link) end = end->link;
    while (type->kind == TY_META && type->link && type->link != end) { /* shorten the path for the next time */
        CtTy *next = type->link;
        type->link = end;
        type = next;
    }
    return end;
}

CtTy *ct_types_ty_resolve(CtTy *type) {
    type = solved(type);
    while (type->kind == TY_GENERIC && type->refined) type = solved(type->refined);
    return type;
}

static CtTy *new_type(CtTypes *types, CtTyKind kind) {
    CtTy *type = CT_NEW(types->arena, CtTy);
    type->kind = kind;
    return type;
}

/* ---- sizes ----
 *
 * Types are directed acyclic graphs, so a short program can have a type that is exponentially large as a tree: each
 * nested pair of equal components doubles it. Every traversal of a type therefore counts the nodes that it visits, and
 * gives up above a limit. */

static uint32_t size_of(const CtTy *type) {
    while (type->kind == TY_META && type->link) type = type->link;
    return type->kind == TY_APP ? type->size : 1;
}

bool ct_types_ty_take(uint32_t *left, const CtTy *type) {
    uint32_t size = type->has_var ? 1 : size_of(type);
    if (size > *left) {
        *left = 0;
        return false;
    }
    *left -= size;
    return true;
}

static bool fits(const CtTy *type, uint32_t *left) {
    for (;;) {
        while (type->kind == TY_META && type->link) type = type->link;
        if (!ct_types_ty_take(left, type)) return false;
        if (!type->has_var || type->kind != TY_APP) return true;
        if (!fits(type->fun, left)) return false;
        type = type->arg;
    }
}

/* After a type that is too large was reported, the limit is lower, so that further ones cost little time. */
uint32_t ct_types_ty_limit(const CtTypes *types) { return types->told_large ? CT_TYPE_LIMIT / 50 : CT_TYPE_LIMIT; }

bool ct_types_ty_is_large(const CtTypes *types, const CtTy *type) {
    uint32_t left = ct_types_ty_limit(types);
    return !fits(type, &left);
}

CtTy *ct_types_ty_app(CtTypes *types, CtTy *fun, CtTy *arg) {
    CtTy *type = new_type(types, TY_APP);
    type->fun = fun;
    type->arg = arg;
    type->has_var = fun->has_var || arg->has_var;
    type->size = size_of(fun) + size_of(arg);
    if (type->size > CT_TYPE_INFINITE) type->size = CT_TYPE_INFINITE;
    return type;
}

CtTy *ct_types_ty_meta(CtTypes *types, uint32_t arity) {
    CtTy *type = new_type(types, TY_META);
    type->level = types->level;
    type->arity = arity;
    type->has_var = true;
    ct_push(types->arena, &types->metas, type);
    return type;
}

CtTy *ct_types_ty_generic(CtTypes *types, CtSym name, uint32_t arity) {
    CtTy *type = new_type(types, TY_GENERIC);
    type->level = types->level;
    type->arity = arity;
    type->has_var = true;
    type->name = name;
    return type;
}

CtTyCon *ct_types_con_new(CtTypes *types, const char *name, uint32_t arity) {
    CtTyCon *con = CT_NEW(types->arena, CtTyCon);
    con->name = ct_intern_text(&types->context->symbols, name);
    con->arity = arity;
    con->params = CT_NEW_ARRAY(types->arena, CtTy *, arity);
    for (uint32_t i = 0; i < arity; i++) {
        char letter[2] = {(char)('a' + i % 26), 0};
        con->params[i] = ct_types_ty_generic(types, ct_intern_text(&types->context->symbols, letter), 0);
        con->params[i]->made = true;
    }
    con->type = new_type(types, TY_CON);
    con->type->con = con;
    return con;
}

CtTy *ct_types_ty_con(CtTypes *types, CtTyCon *con, CtTy **args, uint32_t count) {
    CtTy *type = con->type;
    for (uint32_t i = 0; i < count; i++) type = ct_types_ty_app(types, type, args[i]);
    return type;
}

CtTy *ct_types_ty_fun(CtTypes *types, CtTy *arg, CtTy *result) {
    CtTy *half = ct_types_ty_app(types, types->fun->type, arg);
    return ct_types_ty_app(types, half, result);
}

CtTy *ct_types_ty_list(CtTypes *types, CtTy *element) { return ct_types_ty_app(types, types->list->type, element); }

CtTy *ct_types_ty_tuple(CtTypes *types, CtTy **parts, uint32_t count) {
    if (count == 1) return parts[0];
    return ct_types_ty_con(types, ct_types_con_tuple(types, count), parts, count);
}

CtTy *ct_types_ty_bool(CtTypes *types) {
    CtTyCon *con = ct_types_library(types, SPACE_TYPE, ct_intern_text(&types->context->symbols, "Bool"));
    return con ? con->type : types->error;
}

bool ct_types_ty_failed(CtTy *type) {
    type = ct_types_ty_resolve(type);
    return type->kind == TY_CON && type->is_error;
}

bool ct_types_ty_is_fun(CtTypes *types, CtTy *type, CtTy **arg, CtTy **result) {
    type = ct_types_ty_resolve(type);
    if (type->kind != TY_APP) return false;
    CtTy *half = ct_types_ty_resolve(type->fun);
    if (half->kind != TY_APP) return false;
    CtTy *head = ct_types_ty_resolve(half->fun);
    if (head->kind != TY_CON || head->con != types->fun) return false;
    *arg = half->arg;
    *result = type->arg;
    return true;
}

bool ct_types_ty_is_function(CtTypes *types, CtTy *type) {
    CtTy *arg, *result;
    return ct_types_ty_is_fun(types, type, &arg, &result);
}

bool ct_types_ty_head(CtTy *type, CtTyCon **con, CtTy **args, uint32_t max, uint32_t *count) {
    uint32_t n = 0;
    CtTy *head = ct_types_ty_resolve(type);
    for (; head->kind == TY_APP; head = ct_types_ty_resolve(head->fun)) n++;
    if (head->kind != TY_CON) return false;
    *con = head->con;
    *count = n;
    uint32_t i = n;
    for (head = ct_types_ty_resolve(type); head->kind == TY_APP; head = ct_types_ty_resolve(head->fun))
        if (--i < max) args[i] = head->arg;
    return true;
}

/* Types are deepest along `arg` (functions, nested lists). Most traversals therefore loop along `arg`, and recurse into
 * `fun` only; functions that rebuild a type, such as this one, recurse into both, as deep as the type is written. */
CtTy *ct_types_ty_substitute(CtTypes *types, CtTy *type) {
    if (!type->has_var) return type;
    type = solved(type);
    switch (type->kind) {
    case TY_META:
    case TY_CON: return type;
    case TY_GENERIC: return type->link ? type->link : type;
    case TY_APP: {
        CtTy *fun = ct_types_ty_substitute(types, type->fun);
        CtTy *arg = ct_types_ty_substitute(types, type->arg);
        return fun == type->fun && arg == type->arg ? type : ct_types_ty_app(types, fun, arg);
    }
    }
    return type;
}

CtTy *ct_types_ty_replace(CtTypes *types, CtTy *type, CtTy *const *generics, CtTy *const *args, uint32_t count) {
    if (!type->has_var) return type;
    for (uint32_t i = 0; i < count; i++) generics[i]->link = args[i];
    CtTy *result = ct_types_ty_substitute(types, type);
    for (uint32_t i = 0; i < count; i++) generics[i]->link = NULL;
    return result;
}

void ct_types_pred_add(CtTypes *types, CtTy *variable, CtClass *class_, CtSourceRange range) {
    ct_types_pred_add_with(types, variable, class_, NULL, range);
}

void ct_types_pred_add_with(CtTypes *types, CtTy *variable, CtClass *class_, CtTy **others, CtSourceRange range) {
    if (class_ == types->typeable) return;
    CtPred **end = &variable->preds;
    for (; *end; end = &(*end)->next)
        if ((*end)->class_ == class_) {
            ct_types_others_agree(types, class_, (*end)->others, others, range, false);
            return;
        }
    *end = CT_NEW(types->arena, CtPred);
    **end = (CtPred){class_, others, range, NULL};
    for (uint32_t i = 0; others && variable->kind == TY_META && i < class_->other_count; i++)
        ct_types_lower(others[i], variable->level);
}

CtTy **ct_types_replace_others(CtTypes *types, const CtClass *class_, CtTy **others, CtTy *const *generics,
                               CtTy *const *args, uint32_t count) {
    if (!others) return NULL;
    CtTy **replaced = CT_NEW_ARRAY(types->arena, CtTy *, class_->other_count);
    for (uint32_t i = 0; i < class_->other_count; i++)
        replaced[i] = ct_types_ty_replace(types, others[i], generics, args, count);
    return replaced;
}

void ct_types_applied_add(CtTypes *types, CtTy *head, CtClass *class_, CtTy **others, CtTy *type, CtSourceRange range) {
    CtApplied *applied = CT_NEW(types->arena, CtApplied);
    *applied = (CtApplied){class_, others, type, range, ct_types_applied(types, head)};
    ct_map_set(types->arena, &types->applied, ct_key(head), applied);
}

CtApplied *ct_types_applied(CtTypes *types, const CtTy *head) { return ct_map_get(&types->applied, ct_key(head)); }

bool ct_types_applied_solve(CtTypes *types, CtTy *const *generics, CtTy *const *args, uint32_t count,
                            CtSourceRange range, bool quiet) {
    bool sound = true;
    for (uint32_t i = 0; i < count; i++) {
        if (generics[i]->arity == 0) continue;
        for (CtApplied *one = ct_types_applied(types, generics[i]); one; one = one->next)
            sound &= ct_types_solve_with(
                types, one->class_, ct_types_replace_others(types, one->class_, one->others, generics, args, count),
                ct_types_ty_replace(types, one->type, generics, args, count), range, quiet);
    }
    return sound;
}

CtTy *ct_types_instantiate(CtTypes *types, const CtScheme *scheme, CtTy **inst) {
    return ct_types_instantiate_at(types, scheme, inst, CT_NO_RANGE);
}

CtTy *ct_types_instantiate_at(CtTypes *types, const CtScheme *scheme, CtTy **inst, CtSourceRange range) {
    for (uint32_t i = 0; i < scheme->count; i++) {
        inst[i] = ct_types_ty_meta(types, scheme->generics[i]->arity);
        inst[i]->is_number = scheme->generics[i]->is_number;
    }
    for (uint32_t i = 0; i < scheme->count; i++)
        for (CtPred *pred = scheme->generics[i]->preds; pred; pred = pred->next)
            ct_types_pred_add_with(
                types, inst[i], pred->class_,
                ct_types_replace_others(types, pred->class_, pred->others, scheme->generics, inst, scheme->count),
                range);
    ct_types_applied_solve(types, scheme->generics, inst, scheme->count, range, false);
    return ct_types_ty_replace(types, scheme->type, scheme->generics, inst, scheme->count);
}
