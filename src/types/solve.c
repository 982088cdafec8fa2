/* Class constraints: attached to unification variables, and solved by instance resolution once the type is known. */
#include "types/internal.h"

/* Bounds of instance resolution: the number of steps, and the depth of recursion. */
enum { MOST_STEPS = 200000, MOST_LEVELS = 3000 };

/* Appends the unvisited superclasses of a class to the worklist, which is linked through `seen` (the last class points
 * to itself) and visits every superclass once; true if `goal` is among the direct superclasses. */
static bool meet_supers(const CtClass *class_, const CtClass *goal, CtClass **last) {
    bool found = false;
    for (uint32_t i = 0; i < class_->super_count; i++) {
        CtClass *super = class_->supers[i];
        found |= super == goal;
        if (super->seen) continue;
        super->seen = super;
        (*last)->seen = super;
        *last = super;
    }
    return found;
}

bool ct_types_class_implies(const CtClass *class_, const CtClass *super) {
    if (class_ == super || class_->super_count == 0) return class_ == super;
    CtClass *first = class_->supers[0], *last = first;
    first->seen = first;
    bool found = meet_supers(class_, super, &last);
    for (CtClass *at = first; !found; at = at->seen) {
        found = meet_supers(at, super, &last);
        if (at == last) break;
    }
    for (CtClass *at = first, *next; at; at = next) {
        next = at->seen == at ? NULL : at->seen;
        at->seen = NULL;
    }
    return found;
}

CtInstance *ct_types_instance_find(const CtClass *class_, const CtTyCon *tycon) {
    return ct_map_get(&class_->by_tycon, ct_key(tycon));
}

bool ct_types_is_of_class(CtTypes *types, CtClass *class_, CtTy *type) {
    return ct_types_solve(types, class_, type, CT_NO_RANGE, true) || types->solve_steps == MOST_STEPS;
}

/* A class with the types for its other parameters; `others` may be NULL. */
typedef struct Goal {
    CtClass *class_;
    CtTy **others;
} Goal;

static void report_others(CtTypes *types, const CtClass *class_, CtTy *a, CtTy *b, CtSourceRange range) {
    CtTy *list[2] = {a, b};
    const char *texts[2];
    ct_types_ty_texts(types, list, 2, texts);
    CtDiag *diag = ct_error(types->context, CT_E0301, range, "the class %s has `%s` here, but `%s` is needed",
                            class_->name->text, texts[0], texts[1]);
    ct_note(types->context, diag, class_->decl ? class_->decl->name.range : CT_NO_RANGE,
            "its variable `%s` determines the others", class_->param->name->text);
}

bool ct_types_others_agree(CtTypes *types, const CtClass *class_, CtTy **a, CtTy **b, CtSourceRange range, bool quiet) {
    for (uint32_t i = 0; a && b && i < class_->other_count; i++) {
        if (ct_types_unify(types, a[i], b[i]) == UNIFY_OK) continue;
        if (!quiet) report_others(types, class_, a[i], b[i], range);
        return quiet ? false : true; /* reported: no further message that there is no instance */
    }
    return true;
}

static bool rigid_has(CtTypes *types, const CtTy *generic, const Goal *goal, CtSourceRange range, bool quiet) {
    for (const CtPred *pred = generic->preds; pred; pred = pred->next) {
        if (!ct_types_class_implies(pred->class_, goal->class_)) continue;
        return pred->class_ != goal->class_ ||
               ct_types_others_agree(types, goal->class_, pred->others, goal->others, range, quiet);
    }
    return false;
}

static bool same_type(CtTy *a, CtTy *b) {
    for (;;) {
        a = ct_types_ty_resolve(a);
        b = ct_types_ty_resolve(b);
        if (a == b) return true;
        if (a->kind == TY_CON && b->kind == TY_CON) return a->con == b->con;
        if (a->kind != TY_APP || b->kind != TY_APP || !same_type(a->arg, b->arg)) return false;
        a = a->fun;
        b = b->fun;
    }
}

/* Whether a constraint on an applied variable in the context, such as Show (f a), implies the class for this type. */
static bool applied_has(CtTypes *types, const CtTy *head, const Goal *goal, CtTy *type, CtSourceRange range,
                        bool quiet) {
    for (const CtApplied *one = ct_types_applied(types, head); one; one = one->next)
        if (ct_types_class_implies(one->class_, goal->class_) && same_type(one->type, type))
            return one->class_ != goal->class_ ||
                   ct_types_others_agree(types, goal->class_, one->others, goal->others, range, quiet);
    return false;
}

static bool solve_at(CtTypes *types, const Goal *goal, CtTy *type, CtTy *whole, CtSourceRange range, bool quiet);

/* Solves the constraints of an instance's context at the arguments of the type, after the instance has determined the
 * other parameters of the class. */
static bool solve_context(CtTypes *types, CtInstance *instance, const Goal *goal, CtTy *type, CtTy *whole,
                          CtSourceRange range, bool quiet) {
    uint32_t i = instance->head_count, count = instance->generic_count;
    CtTy **args = CT_NEW_ARRAY(types->arena, CtTy *, count);
    for (CtTy *part = type; part->kind == TY_APP && i > 0; part = ct_types_ty_resolve(part->fun)) args[--i] = part->arg;
    if (i > 0) return true; /* an error was reported already */
    for (; instance->given && i < instance->head_count; i++)
        if (instance->given[i] && ct_types_unify(types, args[i], instance->given[i]) != UNIFY_OK) {
            if (!quiet) ct_types_report_instance(types, instance->class_, type, whole, range);
            return false;
        }
    for (i = instance->head_count; i < count; i++) args[i] = ct_types_ty_meta(types, instance->generics[i]->arity);
    CtTy **others = ct_types_replace_others(types, instance->class_, instance->others, instance->generics, args, count);
    bool sound = ct_types_others_agree(types, instance->class_, others, goal->others, range, quiet);
    for (i = count; i-- > 0;)
        for (CtPred *pred = instance->generics[i]->preds; pred; pred = pred->next) {
            Goal inner = {pred->class_,
                          ct_types_replace_others(types, pred->class_, pred->others, instance->generics, args, count)};
            sound &= solve_at(types, &inner, args[i], whole, range, quiet);
        }
    return ct_types_applied_solve(types, instance->generics, args, count, range, quiet) && sound;
}

static bool solve_one(CtTypes *types, const Goal *goal, CtTy *type, CtTy *whole, CtSourceRange range, bool quiet) {
    CtClass *class_ = goal->class_;
    type = ct_types_ty_resolve(type);
    if (class_ == types->typeable) return true;
    CtTy *head = type;
    while (head->kind == TY_APP) head = ct_types_ty_resolve(head->fun);
    switch (head->kind) {
    case TY_META:
        if (head == type)
            ct_types_pred_add_with(types, type, class_, goal->others, range);
        else
            ct_push(types->arena, &types->deferred, (CtDeferred){class_, goal->others, type, range});
        return true;
    case TY_GENERIC:
        if (head == type ? rigid_has(types, head, goal, range, quiet)
                         : applied_has(types, head, goal, type, range, quiet))
            return true;
        break;
    case TY_CON: {
        if (head->is_error) return true;
        CtInstance *instance = ct_types_instance_find(class_, head->con);
        if (instance) return solve_context(types, instance, goal, type, whole, range, quiet);
        break;
    }
    case TY_APP: break;
    }
    if (!quiet) ct_types_report_instance(types, class_, type, whole, range);
    return false;
}

/* What this resolution has found of a class at a type that it met before; or NULL. */
static const CtSolved *solved_before(CtTypes *types, const Goal *goal, const CtTy *type) {
    const CtSolved *one = ct_map_get(&types->solved, ct_key(type));
    while (one && one->class_ != goal->class_) one = one->next;
    return one;
}

/* Notes what was found of a part of a type. Instances may ask for two classes of each part, and those for both classes
 * of its parts: without the note that takes a number of steps that is exponential in the depth of the type. */
static void note_solved(CtTypes *types, const Goal *goal, const CtTy *type, bool sound, bool quiet) {
    if (type->kind != TY_APP || goal->others || types->solve_levels == 0) return;
    CtSolved *one = CT_NEW(types->arena, CtSolved);
    *one = (CtSolved){goal->class_, sound, !sound && !quiet, ct_map_get(&types->solved, ct_key(type))};
    ct_map_set(types->arena, &types->solved, ct_key(type), one);
}

static bool solve_at(CtTypes *types, const Goal *goal, CtTy *type, CtTy *whole, CtSourceRange range, bool quiet) {
    if (types->solve_levels == 0) {
        types->solve_steps = 0;
        types->solve_ended = false;
        types->solved = (CtMap){0};
    }
    type = ct_types_ty_resolve(type);
    const CtSolved *before = types->solve_levels > 0 && !goal->others ? solved_before(types, goal, type) : NULL;
    if (before && (before->sound || before->reported || quiet)) return before->sound;
    if (types->solve_levels == MOST_LEVELS || types->solve_steps == MOST_STEPS) {
        if (!quiet && !types->solve_ended) ct_types_report_infinite(types, goal->class_, range);
        types->solve_ended |= !quiet;
        types->solve_steps = MOST_STEPS; /* ends the whole resolution */
        return false;
    }
    types->solve_levels++;
    types->solve_steps++;
    bool sound = solve_one(types, goal, type, whole, range, quiet);
    types->solve_levels--;
    note_solved(types, goal, type, sound, quiet);
    return sound;
}

bool ct_types_solve(CtTypes *types, CtClass *class_, CtTy *type, CtSourceRange range, bool quiet) {
    return ct_types_solve_with(types, class_, NULL, type, range, quiet);
}

bool ct_types_solve_with(CtTypes *types, CtClass *class_, CtTy **others, CtTy *type, CtSourceRange range, bool quiet) {
    if (ct_types_ty_is_large(types, type)) {
        if (!quiet) ct_types_report_large(types, range);
        return false;
    }
    Goal goal = {class_, others};
    return solve_at(types, &goal, type, type, range, quiet);
}

void ct_types_solve_deferred(CtTypes *types, uint32_t mark, bool last) {
    uint32_t end = types->deferred.count, kept = mark;
    for (uint32_t i = mark; i < end; i++) {
        CtDeferred deferred = types->deferred.items[i];
        CtTy *head = ct_types_ty_resolve(deferred.type);
        while (head->kind == TY_APP) head = ct_types_ty_resolve(head->fun);
        if (head->kind == TY_META && (head->level <= types->level || !last))
            types->deferred.items[kept++] = deferred;
        else if (head->kind == TY_META)
            ct_types_report_instance(types, deferred.class_, deferred.type, deferred.type, deferred.range);
        else
            ct_types_solve_with(types, deferred.class_, deferred.others, deferred.type, deferred.range, false);
    }
    for (uint32_t i = end; i < types->deferred.count; i++) types->deferred.items[kept++] = types->deferred.items[i];
    types->deferred.count = kept;
}

CtEntity *ct_types_hidden(CtTypes *types, CtHidden hidden, CtSourceRange range) {
    CtSym name = types->hidden[hidden];
    CtEntity *entity = ct_types_library(types, SPACE_VALUE, name);
    if (!entity || !entity->scheme.type) {
        ct_error(types->context, CT_E0302, range, "this needs `%s`, which no library defines", name->text);
        return NULL;
    }
    return entity;
}
