/* Class constraints: carried by variables, answered by instances once the type is known. */
#include "types/internal.h"

bool ct_class_implies(const CtClass *class_, const CtClass *super) {
    if (class_ == super) return true;
    for (uint32_t i = 0; i < class_->super_count; i++)
        if (ct_class_implies(class_->supers[i], super)) return true;
    return false;
}

CtInstance *ct_instance_find(const CtClass *class_, const CtTyCon *tycon) {
    return ct_map_get(&class_->by_tycon, ct_key(tycon));
}

static bool rigid_has(const CtTy *generic, const CtClass *class_) {
    for (const CtPred *pred = generic->preds; pred; pred = pred->next)
        if (ct_class_implies(pred->class_, class_)) return true;
    return false;
}

static bool same_type(CtTy *a, CtTy *b) {
    for (;;) {
        a = ct_ty_resolve(a);
        b = ct_ty_resolve(b);
        if (a == b) return true;
        if (a->kind == TY_CON && b->kind == TY_CON) return a->con == b->con;
        if (a->kind != TY_APP || b->kind != TY_APP || !same_type(a->arg, b->arg)) return false;
        a = a->fun;
        b = b->fun;
    }
}

/* The context promises the class for this very type, such as Show (f a). */
static bool applied_has(CtTypes *types, const CtTy *head, const CtClass *class_, CtTy *type) {
    for (const CtApplied *one = ct_applied(types, head); one; one = one->next)
        if (ct_class_implies(one->class_, class_) && same_type(one->type, type)) return true;
    return false;
}

static bool solve_at(CtTypes *types, CtClass *class_, CtTy *type, CtTy *whole, CtSpan span, bool quiet);

/* The constraints that the instance's context puts on the arguments of its head. */
static bool solve_context(CtTypes *types, CtInstance *instance, CtTy *type, CtTy *whole, CtSpan span, bool quiet) {
    bool sound = true;
    uint32_t i = instance->generic_count;
    CtTy **args = CT_NEW_ARRAY(types->arena, CtTy *, i);
    for (CtTy *part = type; part->kind == TY_APP && i > 0; part = ct_ty_resolve(part->fun)) {
        args[--i] = part->arg;
        for (CtPred *pred = instance->generics[i]->preds; pred; pred = pred->next)
            sound &= solve_at(types, pred->class_, part->arg, whole, span, quiet);
    }
    if (i == 0)
        sound &= ct_applied_solve(types, instance->generics, args, instance->generic_count, span, quiet);
    return sound;
}

static bool solve_at(CtTypes *types, CtClass *class_, CtTy *type, CtTy *whole, CtSpan span, bool quiet) {
    if (++types->solved > CT_MOST_PARTS) return true; /* its size is an error where it is generalised */
    type = ct_ty_resolve(type);
    CtTy *head = type;
    while (head->kind == TY_APP) head = ct_ty_resolve(head->fun);
    switch (head->kind) {
    case TY_META:
        if (head == type)
            ct_pred_add(types, type, class_, span);
        else
            ct_push(types->arena, &types->deferred, (CtDeferred){class_, type, span});
        return true;
    case TY_GENERIC:
        if (head == type ? rigid_has(head, class_) : applied_has(types, head, class_, type)) return true;
        break;
    case TY_CON: {
        if (head->is_error) return true;
        CtInstance *instance = ct_instance_find(class_, head->con);
        if (instance) return solve_context(types, instance, type, whole, span, quiet);
        break;
    }
    case TY_APP: break;
    }
    if (!quiet) ct_report_instance(types, class_, type, whole, span);
    return false;
}

bool ct_solve(CtTypes *types, CtClass *class_, CtTy *type, CtSpan span, bool quiet) {
    types->solved = 0;
    return solve_at(types, class_, type, type, span, quiet);
}

void ct_solve_deferred(CtTypes *types, uint32_t mark, bool last) {
    uint32_t end = types->deferred.count, kept = mark;
    for (uint32_t i = mark; i < end; i++) {
        CtDeferred deferred = types->deferred.items[i];
        CtTy *head = ct_ty_resolve(deferred.type);
        while (head->kind == TY_APP) head = ct_ty_resolve(head->fun);
        if (head->kind == TY_META && (head->level <= types->level || !last))
            types->deferred.items[kept++] = deferred;
        else if (head->kind == TY_META)
            ct_report_instance(types, deferred.class_, deferred.type, deferred.type, deferred.span);
        else
            ct_solve(types, deferred.class_, deferred.type, deferred.span, false);
    }
    for (uint32_t i = end; i < types->deferred.count; i++) types->deferred.items[kept++] = types->deferred.items[i];
    types->deferred.count = kept;
}

CtEntity *ct_hidden(CtTypes *types, CtHidden hidden, CtSpan span) {
    CtSym name = types->hidden[hidden];
    CtEntity *entity = ct_library(types, SPACE_VALUE, name);
    if (!entity || !entity->scheme.type) {
        ct_error(types->context, CT_E0302, span, "this needs `%s`, which no library defines", name->text);
        return NULL;
    }
    return entity;
}
