/* Inference of binding groups: each group is inferred at a level one deeper than its enclosing scope, then generalised
 * as a whole. */
#include "types/internal.h"

CtMarks ct_types_marks(CtTypes *types) {
    return (CtMarks){types->metas.count,      types->points.count,   types->deferred.count,
                     types->inner_uses.count, types->operands.count, types->context->error_count};
}

/* Splits a function's type into its parameter types and its result; false, with an error, if the type has fewer
 * parameters than the clauses. */
static bool parameters(CtTypes *types, const CtBinding *binding, CtTy *type, CtTy **args, CtTy **result) {
    uint32_t count = binding->clauses[0].pat_count;
    CtTy *rest = type;
    for (uint32_t i = 0; i < count; i++) {
        if (ct_types_split_fun(types, rest, &args[i], result)) {
            rest = *result;
            continue;
        }
        CtDiag *diag = ct_error(types->context, CT_E0301, binding->clauses[0].range,
                                "`%s` has %u parameter%s, but its type `%s` allows %u", binding->name.text->text, count,
                                count == 1 ? "" : "s", ct_types_ty_text(types, type), i);
        if (binding->signature) ct_note(types->context, diag, binding->signature_range, "the signature is here");
        for (; i < count; i++) args[i] = types->error;
        *result = types->error;
        return false;
    }
    *result = rest;
    return true;
}

static void infer_function(CtTypes *types, CtBinding *binding, CtTy *type, const CtWhy *why) {
    const uint32_t matches = types->matches.count;
    uint32_t count = binding->clauses[0].pat_count;
    CtTy **args = CT_NEW_ARRAY(types->arena, CtTy *, count);
    CtTy *result;
    parameters(types, binding, type, args, &result);
    CtWhy later = {.kind = WHY_CLAUSE, .name = binding->name.text}, result_later = later;
    if (binding->clauses[0].rhs.guarded_count) result_later.other = binding->clauses[0].rhs.guarded[0].body->range;
    for (uint32_t i = 0; i < binding->clause_count; i++) {
        CtClause *clause = &binding->clauses[i];
        const CtWhy *reason = why ? why : i > 0 ? &later : NULL;
        if (clause->pat_count != count) continue; /* the parser has said so */
        CtBranch branch = ct_types_branch_enter(types);
        for (uint32_t j = 0; j < count; j++) ct_types_check_pat(types, clause->pats[j], args[j], reason);
        ct_types_check_rhs(types, &clause->rhs, result, reason == &later ? &result_later : reason);
        ct_types_branch_leave(types, branch);
    }
    ct_types_note_clauses(types, binding);
    if (binding->made) types->matches.count = matches;
}

static void infer_binding(CtTypes *types, CtBindInfo *info) {
    CtBinding *binding = info->binding;
    if (binding->pat) {
        CtWhy why = {.kind = WHY_PATTERN};
        ct_types_check_rhs(types, &binding->clauses[0].rhs, binding->pat->type, &why);
        ct_types_note_patterns(types, &binding->pat, 1);
        return;
    }
    CtWhy why = {.kind = WHY_SIGNATURE, .name = binding->name.text};
    infer_function(types, binding, binding->entity->scheme.type, info->signature ? &why : NULL);
}

static CtBindInfo *info_of(CtTypes *types, CtBinding *binding) {
    return binding->entity ? binding->entity->infer : ct_map_get(&types->pattern_infos, ct_key(binding));
}

/* Gives each variable of the group its first type. */
static void announce(CtTypes *types, CtBindInfo *info) {
    info->active = true;
    if (info->binding->pat) {
        CtWhy why = {.kind = WHY_SCRUTINEE};
        CtBranch branch = ct_types_branch_enter(types);
        ct_types_check_pat(types, info->binding->pat, ct_types_ty_meta(types, 0), &why);
        if (types->level != branch.level) {
            CtDiag *diag = ct_error(types->context, CT_E0311, info->binding->range,
                                    "this pattern has a constructor with type variables of its own");
            ct_help(types->context, diag, "their types are known inside of an alternative alone: use `case … of`");
        }
        ct_types_branch_leave(types, branch);
    } else if (info->signature) {
        for (uint32_t i = 0; i < info->signature->count; i++) info->signature->generics[i]->level = types->level;
    } else {
        info->binding->entity->scheme.type = ct_types_ty_meta(types, 0);
    }
}

/* `main` of any monad, as in main = trace "told" (return ()), is an action. */
static void settle_main(CtTypes *types, const CtBinding *binding) {
    static const char *const classes[] = {"Functor", "Applicative", "Monad", NULL};
    if (types->is_library || binding->pat || binding->signature || strcmp(binding->name.text->text, "main") != 0)
        return;
    CtTy *type = ct_types_ty_resolve(binding->entity->scheme.type);
    CtTy *head = type->kind == TY_APP ? ct_types_ty_resolve(type->fun) : NULL;
    if (!head || head->kind != TY_META || !head->preds) return;
    for (const CtPred *pred = head->preds; pred; pred = pred->next)
        if (!ct_types_class_named(pred->class_, classes)) return;
    CtTyCon *io = ct_types_library(types, SPACE_TYPE, ct_intern_text(&types->context->symbols, "IO"));
    if (io) ct_types_unify(types, head, io->type);
}

static void infer_group(CtTypes *types, void *data) {
    CtBindingGroup *group = data;
    CtBindInfo **infos = CT_NEW_ARRAY(types->arena, CtBindInfo *, group->count);
    CtMarks marks = ct_types_marks(types);
    bool restricted = false;
    types->level++;
    for (uint32_t i = 0; i < group->count; i++) {
        infos[i] = info_of(types, group->bindings[i]);
        announce(types, infos[i]);
        restricted |= group->bindings[i]->pat || (!infos[i]->signature && !group->bindings[i]->clauses[0].pat_count);
    }
    for (int with_signature = 0; with_signature < 2; with_signature++)
        for (uint32_t i = 0; i < group->count; i++) {
            if ((infos[i]->signature != NULL) != with_signature) continue;
            if (infos[i]->frame->top) types->top_user = infos[i];
            infer_binding(types, infos[i]);
            if (infos[i]->frame->top) settle_main(types, group->bindings[i]);
        }
    types->level--;
    for (uint32_t i = 0; i < group->count; i++) infos[i]->active = false;
    ct_types_generalise(types, group, infos, marks, restricted);
}

static void move_group(CtTypes *types, CtBindingGroup *to, const CtBindingGroup *from) {
    if (to == from) return;
    *to = *from;
    for (uint32_t i = 0; i < to->count; i++) {
        CtBindInfo *info = info_of(types, to->bindings[i]);
        info->group = to;
        for (uint32_t j = 0; j < info->var_count; j++) info->vars[j]->group = to;
    }
}

/* Leaves out what lists without end would be as far as they are taken, where nothing takes them. */
static void leave_out_streams(CtTypes *types, CtDecls *decls) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < decls->group_count; i++) {
        const CtBindingGroup *group = &decls->groups[i];
        bool unused = group->count == 1 && group->bindings[0]->is_stream && !group->bindings[0]->entity->is_taken;
        if (!unused) move_group(types, &decls->groups[count++], group);
    }
    decls->group_count = count;
}

void ct_types_infer_groups(CtTypes *types, CtDecls *decls) {
    leave_out_streams(types, decls);
    for (uint32_t i = 0; i < decls->group_count; i++) ct_types_attempt(types, infer_group, &decls->groups[i]);
}

typedef struct Method {
    CtBinding *binding;
    CtEntity *entity;
    const CtWhy *why;
} Method;

static void infer_method(CtTypes *types, void *data) {
    const Method *method = data;
    CtMarks marks = ct_types_marks(types);
    types->level++;
    for (uint32_t i = 0; i < method->entity->scheme.count; i++)
        method->entity->scheme.generics[i]->level = types->level;
    infer_function(types, method->binding, method->entity->scheme.type, method->why);
    ct_types_operands_settle(types, marks.operands, true);
    types->level--;
    ct_types_default(types, marks);
}

void ct_types_infer_method(CtTypes *types, CtBinding *binding, CtEntity *entity, const CtWhy *why) {
    CtBindingGroup *group = CT_NEW(types->arena, CtBindingGroup);
    group->bindings = CT_NEW_ARRAY(types->arena, CtBinding *, 1);
    group->bindings[0] = binding;
    group->count = 1;
    group->generics = entity->scheme.generics;
    group->generic_count = entity->scheme.count;
    entity->group = group;
    types->top_user = NULL;
    ct_types_attempt(types, infer_method, &(Method){binding, entity, why});
}
