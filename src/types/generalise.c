/* Generalisation of a binding group: each of its type variables is quantified, left to the enclosing group, or
 * defaulted.
 *
 * Type variables carry the let-depth of their scope (`level`), so generalisation need not search the environment for
 * free variables: those deeper than the current level belong to the group. */
#include "types/internal.h"

/* ---- defaulting ---- */

bool ct_types_is_numeric(CtTypes *types, const CtTy *meta) {
    CtEntity *from_int = ct_types_library(types, SPACE_VALUE, types->hidden[HIDDEN_FROM_INT]);
    if (!from_int || !from_int->class_) return false;
    for (const CtPred *pred = meta->preds; pred; pred = pred->next)
        if (ct_types_class_implies(pred->class_, from_int->class_)) return true;
    return false;
}

/* Whether a type has all classes of the variable, with what their instances ask for. */
static bool has_all(CtTypes *types, const CtTy *meta, CtTy *type) {
    for (const CtPred *pred = meta->preds; pred; pred = pred->next)
        if (!ct_types_solve(types, pred->class_, type, pred->range, true)) return false;
    return true;
}

static CtTy *integer(CtTypes *types) {
    CtTyCon *con = ct_types_library(types, SPACE_TYPE, ct_intern_text(&types->context->symbols, "Integer"));
    return con ? con->type : types->int_->type;
}

/* IO (): what an action gives that is performed for its effects, as `printf` gives, is not needed. */
static CtTy *effect(CtTypes *types) {
    CtTyCon *con = ct_types_library(types, SPACE_TYPE, ct_intern_text(&types->context->symbols, "IO"));
    CtTy *unit = ct_types_con_tuple(types, 0)->type;
    return con ? ct_types_ty_con(types, con, &unit, 1) : unit;
}

/* The first candidate that has all classes. For numbers, as in Haskell 98 §4.3.4, an Integer if possible, otherwise a
 * Double; or the types of the module's `default` declaration. The library's own numbers are Int. */
static CtTy *choose(CtTypes *types, const CtTy *meta) {
    CtTy *unit = ct_types_con_tuple(types, 0)->type, *int_ = types->int_->type, *real = types->double_->type;
    CtTy *whole = types->is_library ? int_ : integer(types);
    bool prefers_real = types->prefer_double || meta->at_point;
    CtTy *first = prefers_real ? real : whole, *second = prefers_real ? whole : real;
    CtTy *constructors[] = {types->list->type, types->array->type, NULL},
         *numbers[] = {first, second, int_, types->float_->type, NULL},
         *others[] = {prefers_real ? real : unit, first, second, effect(types), NULL};
    bool number = meta->arity == 0 && ct_types_is_numeric(types, meta), declared = number && types->has_defaults;
    if (declared && prefers_real && has_all(types, meta, real)) return real;
    for (uint32_t i = 0; declared && i < types->defaults.count; i++)
        if (has_all(types, meta, types->defaults.items[i])) return types->defaults.items[i];
    CtTy **candidates = meta->arity > 0 ? constructors : number ? numbers : others;
    for (; !declared && *candidates; candidates++)
        if (has_all(types, meta, *candidates)) return *candidates;
    return NULL;
}

/* Reports a type variable constrained by both an Integral and a Fractional class, as in `x ^ 0.5`. */
static void report_whole(CtTypes *types, CtSourceRange whole, CtSourceRange real) {
    const char *asks = ct_types_excerpt(types, whole), *is = ct_types_excerpt(types, real);
    CtDiag *diag = ct_error(types->context, CT_E0306, real, "%s is a real number, but %s needs a whole one",
                            is ? ct_format(types->arena, "`%s`", is) : "this",
                            asks ? ct_format(types->arena, "`%s`", asks) : "its place");
    ct_note(types->context, diag, whole, "%s asks for a whole number",
            asks ? ct_format(types->arena, "`%s`", asks) : "this");
    if (asks && strcmp(asks, "^") == 0)
        ct_help(types->context, diag, "`**` takes any exponent");
    else
        ct_help(types->context, diag,
                "`fromIntegral` makes a real number of a whole one, `round` and `floor` a whole one "
                "of a real one");
}

static void ambiguous(CtTypes *types, CtTy *meta) {
    CtText classes = ct_text(types->arena);
    CtSourceRange range = meta->preds->range;
    for (CtPred *pred = meta->preds; pred; pred = pred->next)
        ct_text_printf(&classes, "%s%s", pred == meta->preds ? "" : ", ", pred->class_->name->text);
    if (ct_types_is_numeric(types, meta)) {
        static const char *const whole[] = {"Integral", NULL}, *const real[] = {"Fractional", "Floating", NULL};
        const CtPred *integral = NULL, *fraction = NULL;
        for (const CtPred *pred = meta->preds; pred; pred = pred->next) {
            if (ct_types_class_named(pred->class_, whole)) integral = pred;
            if (ct_types_class_named(pred->class_, real)) fraction = pred;
        }
        if (integral && fraction) {
            report_whole(types, integral->range, fraction->range);
            return;
        }
        ct_error(types->context, CT_E0306, range, "no type of numbers has all the classes asked for here: %s",
                 classes.data);
        return;
    }
    CtDiag *diag =
        ct_error(types->context, CT_E0308, range, "nothing says which type is meant here; it must have the class%s %s",
                 meta->preds->next ? "es" : "", classes.data);
    ct_help(types->context, diag, "annotate the expression with its type: (… :: Type)");
}

static bool own(const CtTypes *types, const CtTy *meta) { return !meta->link && meta->level > types->level; }

/* Marks the unification variables inside the type of a derivative's point as `at_point`; false if there are none. */
static bool mark_point(CtTy *type) {
    type = ct_types_ty_resolve(type);
    if (type->kind == TY_META) return type->at_point = true;
    if (type->kind != TY_APP || !type->has_var) return false;
    bool open = mark_point(type->fun);
    return mark_point(type->arg) || open;
}

static void mark_points(CtTypes *types, uint32_t from) {
    uint32_t kept = from;
    for (uint32_t i = from; i < types->points.count; i++)
        if (mark_point(types->points.items[i])) types->points.items[kept++] = types->points.items[i];
    types->points.count = kept;
}

static bool default_constrained(CtTypes *types, CtMarks marks, bool quiet) {
    bool changed = false;
    for (uint32_t i = marks.metas; i < types->metas.count; i++) {
        CtTy *meta = types->metas.items[i];
        if (!own(types, meta) || !meta->preds) continue;
        CtTy *type = choose(types, meta);
        if (!type && !quiet) ambiguous(types, meta);
        CtPred *preds = meta->preds;
        meta->link = type ? type : types->error;
        for (CtPred *pred = type ? preds : NULL; pred; pred = pred->next)
            ct_types_solve_with(types, pred->class_, pred->others, meta->link, pred->range, quiet);
        changed = true;
    }
    return changed;
}

/* The default of a type variable without class constraints: the list constructor for a variable that takes arguments,
 * Double at the point of a derivative, () elsewhere. */
static CtTyCon *unconstrained(CtTypes *types, const CtTy *meta) {
    if (meta->arity > 0) return types->list;
    return types->prefer_double || meta->at_point ? types->double_ : ct_types_con_tuple(types, 0);
}

void ct_types_default(CtTypes *types, CtMarks marks) {
    bool quiet = types->context->error_count > marks.errors;
    mark_points(types, marks.points);
    do ct_types_solve_deferred(types, marks.deferred, false);
    while (default_constrained(types, marks, quiet));
    ct_types_solve_deferred(types, marks.deferred, true);
    while (default_constrained(types, marks, quiet)) continue;
    uint32_t kept = marks.metas;
    for (uint32_t i = marks.metas; i < types->metas.count; i++) {
        CtTy *meta = types->metas.items[i];
        if (own(types, meta)) meta->link = unconstrained(types, meta)->type;
        if (!meta->link) types->metas.items[kept++] = meta;
    }
    types->metas.count = kept;
}

/* ---- quantifying ---- */

typedef struct Quantify {
    CtTypes *types;
    bool restricted;
    CT_VEC(CtTy *) generics;
} Quantify;

/* Gives a generic the class constraints of the unification variable that it replaces, without those that another
 * implies, in alphabetical order. */
static void take_preds(CtTypes *types, CtTy *generic, const CtTy *meta) {
    for (const CtPred *pred = meta->preds; pred; pred = pred->next) {
        bool implied = false;
        for (const CtPred *other = meta->preds; other; other = other->next)
            implied |= other != pred && ct_types_class_implies(other->class_, pred->class_);
        if (implied) continue;
        CtPred **place = &generic->preds;
        while (*place && strcmp((*place)->class_->name->text, pred->class_->name->text) < 0) place = &(*place)->next;
        CtPred *kept = CT_NEW(types->arena, CtPred);
        *kept = (CtPred){pred->class_, pred->others, pred->range, *place};
        *place = kept;
    }
}

/* The monomorphism restriction: constrained variables are left to the enclosing group, and what their constraints
 * determine. */
static void restrict_variables(Quantify *q, CtTy *type) {
    for (;;) {
        if (!type->has_var) return;
        type = ct_types_ty_resolve(type);
        if (type->kind == TY_META && type->preds) ct_types_lower(type, q->types->level);
        if (type->kind != TY_APP) return;
        restrict_variables(q, type->fun);
        type = type->arg;
    }
}

static void quantify(Quantify *q, CtTy *type) {
    for (;;) {
        if (!type->has_var) return;
        type = ct_types_ty_resolve(type);
        if (type->kind == TY_APP) {
            quantify(q, type->fun);
            type = type->arg;
            continue;
        }
        if (type->kind != TY_META || type->level <= q->types->level) return;
        uint32_t n = q->generics.count;
        char letter[2] = {(char)('a' + n % 26), 0};
        CtTy *generic = ct_types_ty_generic(q->types, ct_intern_text(&q->types->context->symbols, letter), type->arity);
        generic->made = true;
        generic->is_number = type->is_number;
        generic->is_written = type->is_written;
        generic->level = q->types->level + 1;
        take_preds(q->types, generic, type);
        type->link = generic;
        ct_push(q->types->arena, &q->generics, generic);
        for (const CtPred *pred = generic->preds; pred; pred = pred->next)
            for (uint32_t i = 0; pred->others && i < pred->class_->other_count; i++) quantify(q, pred->others[i]);
        return;
    }
}

/* Completes the instantiation of uses, inside a group, of its own members with signatures. These uses were instantiated
 * at the signature's generics only; all members are quantified over group->generics, so the remaining generics, known
 * only now, are instantiated at themselves. */
static void widen_inner_uses(CtTypes *types, CtBindingGroup *group, uint32_t mark) {
    for (uint32_t i = mark; i < types->inner_uses.count; i++) {
        CtInnerUse *use = &types->inner_uses.items[i];
        CtBindInfo *info = use->entity->infer;
        if (use->settled || info->group != group || !info->signature) continue;
        use->settled = true;
        CtTy **inst = CT_NEW_ARRAY(types->arena, CtTy *, group->generic_count);
        for (uint32_t j = 0; j < group->generic_count; j++) inst[j] = group->generics[j];
        for (uint32_t j = 0; j < info->signature->count; j++)
            for (uint32_t k = 0; k < group->generic_count; k++)
                if (group->generics[k] == info->signature->generics[j]) inst[k] = use->expr->inst[j];
        bool same = true;
        for (uint32_t j = 0; j < group->generic_count; j++) same &= ct_types_ty_resolve(inst[j]) == group->generics[j];
        use->expr->inst = same ? NULL : inst;
        use->expr->inst_count = same ? 0 : group->generic_count;
    }
}

static bool has_large(CtTypes *types, const CtBindingGroup *group, CtBindInfo **infos) {
    for (uint32_t i = 0; i < group->count; i++)
        for (uint32_t j = 0; !infos[i]->signature && j < infos[i]->var_count; j++) {
            const CtEntity *var = infos[i]->vars[j];
            if (!var->scheme.type || !ct_types_ty_is_large(types, var->scheme.type)) continue;
            ct_types_report_large(types, var->range);
            return true;
        }
    return false;
}

static CtTy *head_of(CtTy *type) {
    CtTy *head = ct_types_ty_resolve(type);
    while (head->kind == TY_APP) head = ct_types_ty_resolve(head->fun);
    return head;
}

/* A constraint on `f a` cannot be in the context of an inferred type. Where f is to be a list or an array, f is the
 * list or, in arithmetic, the array; so is, at top level, what is to be folded or, in a function, mapped. The variables
 * of other constraints, in local bindings, are left to the enclosing group, which may tell what f is; and uses tell it
 * of what is mapped where the monomorphism restriction holds. */
static void settle_sequences(CtTypes *types, uint32_t mark, bool restricted) {
    static const char *const names[] = {"Sequence", NULL},
                             *const folded[] = {"Sequence", "Foldable", "Traversable", NULL},
                             *const mapped[] = {"Sequence", "Foldable", "Traversable", "Functor", NULL};
    bool settled = false, local = types->level > 1;
    const char *const *classes = local ? names : restricted ? folded : mapped;
    for (uint32_t i = mark; i < types->deferred.count; i++) {
        CtTy *head = head_of(types->deferred.items[i].type);
        if (head->kind != TY_META || head->level <= types->level) continue;
        CtTy *found = ct_types_in_arithmetic(types, head) ? types->array->type : types->list->type;
        if (!has_all(types, head, found)) continue;
        for (const CtPred *pred = head->preds; pred && !head->link; pred = pred->next)
            if (ct_types_class_named(pred->class_, classes)) head->link = found;
        settled |= head->link != NULL;
        if (local && !head->link) ct_types_lower(types->deferred.items[i].type, types->level);
    }
    if (settled) ct_types_solve_deferred(types, mark, false);
}

static bool is_among(const CtScheme *scheme, const CtTy *generic) {
    bool among = false;
    for (uint32_t i = 0; scheme && i < scheme->count; i++) among |= scheme->generics[i] == generic;
    return among;
}

/* A use of a member with a signature says nothing of the variables of the others' signatures, and need not: the members
 * say what these are where they use each other. In their stead stand variables of which nothing is asked. */
static CtTy **generics_of(CtTypes *types, const CtBindingGroup *group, CtBindInfo **infos, uint32_t member) {
    if (!infos[member]->signature || group->count == 1) return group->generics;
    CtTy **generics = CT_NEW_ARRAY(types->arena, CtTy *, group->generic_count);
    for (uint32_t i = 0; i < group->generic_count; i++) {
        const CtTy *generic = generics[i] = group->generics[i];
        bool others = false;
        for (uint32_t j = 0; j < group->count; j++) others |= j != member && is_among(infos[j]->signature, generic);
        if (others) generics[i] = ct_types_ty_generic(types, generic->name, generic->arity);
    }
    return generics;
}

/* The value that a binding `x = e` gives, or NULL. */
static const CtExpr *value_of(const CtBinding *binding) {
    const CtClause *clause = &binding->clauses[0];
    bool plain = !binding->pat && clause->pat_count == 0 && clause->rhs.guarded_count == 1;
    return plain && clause->rhs.guarded[0].guard_count == 0 ? clause->rhs.guarded[0].body : NULL;
}

/* The uses of a variable that is not generalised see what its binding tells of its axes. */
static void settle_variables(CtTypes *types, CtBindInfo *info) {
    for (uint32_t i = 0; !info->signature && i < info->var_count; i++)
        if (info->vars[i]->scheme.type) ct_types_settle_variable(types, info->vars[i], value_of(info->binding));
}

void ct_types_generalise(CtTypes *types, CtBindingGroup *group, CtBindInfo **infos, CtMarks marks, bool restricted) {
    Quantify q = {.types = types, .restricted = restricted};
    bool closed = false; /* nothing outside may say more of the operands that wait */
    for (uint32_t i = 0; i < group->count; i++)
        closed |= infos[i]->frame->top || (infos[i]->signature && infos[i]->signature->count > 0);
    ct_types_operands_settle(types, marks.operands, closed);
    ct_types_operands_leave(types, marks.operands);
    bool failed = types->context->error_count > marks.errors || has_large(types, group, infos);
    ct_types_solve_deferred(types, marks.deferred, false);
    settle_sequences(types, marks.deferred, restricted);
    for (uint32_t i = 0; restricted && i < group->count; i++) settle_variables(types, infos[i]);
    for (uint32_t i = 0; i < group->count; i++)
        for (uint32_t j = 0; infos[i]->signature && j < infos[i]->signature->count; j++)
            ct_push(types->arena, &q.generics, infos[i]->signature->generics[j]);
    for (int pass = restricted ? 0 : 1; pass < 2; pass++)
        for (uint32_t i = 0; i < group->count; i++)
            for (uint32_t j = 0; !infos[i]->signature && !failed && j < infos[i]->var_count; j++)
                (pass == 0 ? restrict_variables : quantify)(&q, infos[i]->vars[j]->scheme.type);
    group->generics = q.generics.items;
    group->generic_count = q.generics.count;
    for (uint32_t i = 0; i < group->count; i++)
        for (uint32_t j = 0; j < infos[i]->var_count; j++) {
            CtScheme *scheme = &infos[i]->vars[j]->scheme;
            ct_types_save_scheme(types, infos[i]->vars[j]);
            bool broken = failed && !infos[i]->signature;
            CtTy *type = broken || !scheme->type ? types->error : ct_types_ty_substitute(types, scheme->type);
            *scheme = (CtScheme){generics_of(types, group, infos, i), group->generic_count, type};
        }
    widen_inner_uses(types, group, marks.inner_uses);
    ct_types_default(types, marks);
}
