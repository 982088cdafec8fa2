/* Bindings and local binding groups. A polymorphic local binding group is specialised: it has one instance for each
 * tuple of types at which it is used. The body of let and where is elaborated first, because its uses determine the
 * instances; then the binding groups follow from the last to the first, each wrapped around the term made so far.
 */
#include "elab/internal.h"

typedef CT_VEC(CtBind) CtBinds;

typedef struct Instance { /* a binding group, specialised to types */
    Ground **types;
    const TyEnv *env;
    Local **locals; /* one for each entity of the group */
} Instance;

typedef struct Poly {
    CT_VEC(CtEntity *) entities; /* the entities that the group binds: names of bindings, and variables of patterns */
    CT_VEC(uint32_t) arities;
    CT_VEC(bool) etas;
    CT_VEC(CtCon *)
    wraps; /* the constructors of recursive values of newtypes over functions; NULL for other entities */
    CT_VEC(Instance) instances;
    const CtBindingGroup *group;
    const TyEnv *env; /* the type environment around the group */
} Poly;

/* ---- the code of a binding ---- */

/* With `eta`, what the clauses give is applied to the last parameter. */
static CtCore *function_of_clauses(CtElab *el, const CtBinding *binding, Ground *type, uint32_t arity, bool eta) {
    CtVar **params = CT_NEW_ARRAY(el->arena, CtVar *, arity);
    uint32_t matched = eta ? arity - 1 : arity;
    Row *rows = CT_NEW_ARRAY(el->arena, Row, binding->clause_count);
    for (uint32_t i = 0; i < binding->clause_count; i++) rows[i].pats = binding->clauses[i].pats;
    for (uint32_t i = 0; i < matched; i++) {
        Ground *arg = NULL;
        if (!ct_elab_ground_fun(el, type, &arg, &type))
            return ct_elab_error_term(el, binding->range, ct_elab_core(el, type));
        params[i] = ct_elab_column(el, rows, binding->clause_count, i, ct_elab_core(el, arg));
    }
    CtCore *body = ct_elab_clauses(el, binding, params, ct_elab_core(el, type));
    if (eta) {
        Ground *arg = NULL;
        ct_elab_ground_fun(el, type, &arg, NULL);
        CtVar *last = params[matched] = ct_core_var_new(el->program, "x", ct_elab_core(el, arg));
        body = ct_elab_apply_one(el, binding->range, body, ct_core_var(el->program, binding->range, last));
    }
    return ct_core_lam(el->program, binding->range, el->name, params, arity, body);
}

/* Eta-expansion: a recursive binding f = e of function type becomes f = λx. e x. */
static CtCore *eta_expanded(CtElab *el, const CtBinding *binding, Ground *type) {
    CtExpr *plain = ct_elab_plain_body(binding);
    CtCore *core = plain != NULL ? ct_elab_nary(el, plain, 1) : NULL;
    return core != NULL && core->kind == CORE_LAM ? core : function_of_clauses(el, binding, type, 1, true);
}

CtCore *ct_elab_binding(CtElab *el, const CtBinding *binding, Ground *type, uint32_t arity, bool eta,
                        const char *name) {
    const char *before = el->name;
    el->name = name;
    CtCore *core;
    if (arity == 0)
        core = ct_elab_clauses(el, binding, NULL, ct_elab_core(el, type));
    else if (eta && arity == 1)
        core = eta_expanded(el, binding, type);
    else if (binding->clauses[0].pat_count > 0)
        core = function_of_clauses(el, binding, type, arity, eta);
    else
        core = ct_elab_nary(el, ct_elab_plain_body(binding), arity);
    el->name = before;
    return core;
}

CtCon *ct_elab_function_newtype(CtElab *el, Ground *type) {
    CtType *core = ct_elab_core(el, type);
    if (core->kind != TYPE_DATA || !core->data->is_newtype) return NULL;
    CtCon *con = &core->data->cons[0];
    return con->fields[0]->kind == TYPE_FUN && con->fields[0]->count == 2 ? con : NULL;
}

CtCore *ct_elab_wrapped_binding(CtElab *el, const CtBinding *binding, CtCon *con, const char *name) {
    CtProgram *p = el->program;
    CtType *function = con->fields[0];
    const char *before = el->name;
    el->name = name;
    CtVar *param = ct_core_var_new(p, "x", function->parts[0]), *inside = ct_core_var_new(p, "f", function);
    CtCore *value = ct_elab_clauses(el, binding, NULL, con->data->type);
    CtCore *argument = ct_core_var(p, binding->range, param);
    CtCore *call = ct_core_app(p, binding->range, ct_core_var(p, binding->range, inside), &argument, 1);
    CtCase unwrap = {con, &inside, call};
    CtCore *body = ct_core_case(p, binding->range, ct_core_type_fun_result(function), value, &unwrap, 1, NULL);
    el->name = before;
    return ct_core_lam(p, binding->range, name, &param, 1, body);
}

/* ---- what a group binds ---- */

/* The variables of a pattern, in order; patterns may be long lists, but are never very deep. */
static void pattern_entities(CtElab *el, const CtPat *pat, Poly *poly) {
    if ((pat->kind == PAT_VAR || pat->kind == PAT_AS) && pat->entity != NULL) {
        ct_push(el->arena, &poly->entities, pat->entity);
        ct_push(el->arena, &poly->arities, 0);
        ct_push(el->arena, &poly->etas, false);
        ct_push(el->arena, &poly->wraps, NULL);
    }
    for (uint32_t i = 0; i < pat->part_count; i++) pattern_entities(el, pat->parts[i], poly);
}

static uint32_t count_entities(const CtPat *pat) {
    uint32_t count = (pat->kind == PAT_VAR || pat->kind == PAT_AS) && pat->entity != NULL;
    for (uint32_t i = 0; i < pat->part_count; i++) count += count_entities(pat->parts[i]);
    return count;
}

static bool is_list(CtElab *el, Ground *type) {
    uint32_t count = 0;
    return type != NULL && ct_elab_ground_head(type, &count) == ct_types_con_list(el->types);
}

/* A table, a tree: not a number, nor a list, of which the whole has no end. */
static bool has_parts(CtElab *el, Ground *type) {
    uint32_t count = 0;
    return ct_elab_ground_head(type, &count) != NULL && count > 0 && !is_list(el, type);
}

void ct_elab_recursive_value(CtElab *el, const CtBinding *binding, const char *name, Ground *type) {
    el->wants_lazy = true;
    if (type == NULL || !has_parts(el, type)) el->for_actions = true;
    const char *text = name == NULL ? "this pattern's value" : ct_format(el->arena, "`%s`", name);
    CtDiag *diag = ct_error(el->context, CT_E0403, binding->range, "%s is defined by itself, and is no function", text);
    if (name == NULL)
        ct_help(el->context, diag, "give it a parameter, or break the circle");
    else if (is_list(el, type))
        ct_help(
            el->context, diag,
            "only its beginning can be taken, as in `take 9 %s`, and only if `:`, `map`, `zipWith` and their like make "
            "it; `iterate`, `scanl` or `unfoldr` build a list step by step, and an action such as `main = print …` "
            "evaluates it lazily",
            name);
    else
        ct_help(el->context, diag,
                "a definition is no assignment: a new value has a new name, such as `%s'`; a list or a function may be "
                "built step by step",
                name);
}

static void recursive_value(CtElab *el, const CtBinding *binding, Ground *type) {
    ct_elab_recursive_value(el, binding, binding->pat == NULL ? binding->name.text->text : NULL, type);
}

static void add_binding(CtElab *el, Poly *poly, const CtBinding *binding) {
    if (binding->pat != NULL) {
        if (poly->group->recursive && !el->is_lazy) recursive_value(el, binding, NULL);
        pattern_entities(el, binding->pat, poly);
        return;
    }
    uint32_t arity = ct_elab_binding_arity(binding);
    bool eta = false;
    CtCon *wrap = NULL;
    if (poly->group->recursive) {
        Ground *type = ct_elab_ground_in(el, poly->env, binding->entity->scheme.type);
        eta = ct_elab_takes_one_more(el, binding, type);
        wrap = eta || arity > 0 ? NULL : ct_elab_function_newtype(el, type);
        if (arity == 0 && !eta && wrap == NULL && !el->is_lazy) recursive_value(el, binding, type);
        arity += eta;
    }
    ct_push(el->arena, &poly->wraps, wrap);
    ct_push(el->arena, &poly->entities, binding->entity);
    ct_push(el->arena, &poly->arities, arity);
    ct_push(el->arena, &poly->etas, eta);
}

/* Adds an instance of the group with new variables for its entities; group_code makes its code later. */
static uint32_t add_instance(CtElab *el, Poly *poly, Ground **types, const TyEnv *env) {
    Instance instance = {.types = types, .env = env};
    instance.locals = CT_NEW_ARRAY(el->arena, Local *, poly->entities.count);
    for (uint32_t i = 0; i < poly->entities.count; i++) {
        CtEntity *entity = poly->entities.items[i];
        Local *local = CT_NEW(el->arena, Local);
        local->arity = poly->arities.items[i];
        local->type = ct_elab_ground_in(el, env, entity->scheme.type);
        local->wrap = poly->wraps.items[i] ? ct_elab_function_newtype(el, local->type) : NULL;
        CtType *type = local->wrap ? local->wrap->fields[0] : ct_elab_core_nary(el, local->type, local->arity);
        local->by_need = el->is_lazy && poly->group->recursive && local->arity == 0 && local->wrap == NULL;
        if (local->by_need) type = ct_core_type_fun(el->program, NULL, 0, type);
        local->var = ct_core_var_new(el->program, entity->name->text, type);
        local->given = true;
        instance.locals[i] = local;
    }
    ct_push(el->arena, &poly->instances, instance);
    return poly->instances.count - 1;
}

static Poly *declare(CtElab *el, const CtBindingGroup *group) {
    Poly *poly = CT_NEW(el->arena, Poly);
    poly->group = group;
    poly->env = el->env;
    for (uint32_t i = 0; i < group->count; i++) add_binding(el, poly, group->bindings[i]);
    bool mono = group->generic_count == 0;
    if (mono) add_instance(el, poly, NULL, el->env);
    for (uint32_t i = 0; i < poly->entities.count; i++) {
        Local *local = mono ? poly->instances.items[0].locals[i] : CT_NEW(el->arena, Local);
        if (!mono) *local = (Local){.poly = poly, .index = i};
        poly->entities.items[i]->elab = local;
    }
    return poly;
}

/* ---- uses ---- */

/* Told once: each copy might want further ones. */
static void too_many_copies(CtElab *el, const Poly *poly, CtSourceRange range) {
    if (el->gave_up) return;
    el->gave_up = true;
    ct_error(el->context, CT_E0402, ct_elab_blame(el, range),
             "`%s` uses itself at ever larger types: there would be no end of copies",
             poly->entities.items[0]->name->text);
}

static uint32_t wanted(CtElab *el, Poly *poly, Ground **types, CtSourceRange range) {
    uint32_t count = poly->group->generic_count;
    bool deep = false;
    for (uint32_t i = 0; i < count; i++) deep |= types[i]->depth > ELAB_MAX_TYPE_DEPTH;
    for (uint32_t i = 0; i < poly->instances.count; i++)
        if (memcmp(poly->instances.items[i].types, types, count * sizeof *types) == 0) return i;
    if (poly->instances.count > 0 && (deep || poly->instances.count >= ELAB_MAX_COPIES)) {
        too_many_copies(el, poly, range);
        return 0;
    }
    TyEnv *env = CT_NEW(el->arena, TyEnv);
    *env = (TyEnv){.generics = poly->group->generics, .types = types, .count = count, .outer = poly->env};
    return add_instance(el, poly, types, env);
}

Local *ct_elab_local(CtElab *el, CtExpr *expr) {
    Local *local = expr->entity->elab;
    if (local == NULL || local->poly == NULL) return local;
    Poly *poly = local->poly;
    uint32_t count = poly->group->generic_count;
    Ground **types = CT_NEW_ARRAY(el->arena, Ground *, count);
    for (uint32_t i = 0; i < count; i++) {
        bool given = expr->inst != NULL && i < expr->inst_count;
        types[i] = ct_elab_ground(el, given ? expr->inst[i] : poly->group->generics[i]);
    }
    if (expr->grows) types = ct_elab_grown_instance(el, expr, types, count);
    uint32_t index = wanted(el, poly, types, expr->range);
    local = poly->instances.items[index].locals[local->index];
    local->used = true;
    return local;
}

/* ---- code ---- */

/* A binding with `!` is evaluated even if it is unused. If it has no instance yet, and its type variables have no class
 * constraints, it gets an instance at default types. */
static void want_values(CtElab *el, Poly *poly) {
    if (poly->instances.count > 0 || !poly->group->bindings[0]->bang) return;
    uint32_t count = poly->group->generic_count;
    Ground **types = CT_NEW_ARRAY(el->arena, Ground *, count);
    for (uint32_t i = 0; i < count; i++) {
        if (poly->group->generics[i]->preds != NULL) return;
        types[i] = ct_elab_ground_in(el, NULL, poly->group->generics[i]);
    }
    uint32_t index = wanted(el, poly, types, poly->group->bindings[0]->range);
    for (uint32_t i = 0; i < poly->entities.count; i++) poly->instances.items[index].locals[i]->used = true;
}

static CtCore *given_body(CtElab *el, void *data) {
    (void)el;
    return data;
}

/* The values of a pattern's variables, as one tuple. */
static CtCore *pattern_tuple(CtElab *el, const CtBinding *binding, CtEntity *const *entities, uint32_t count) {
    CtProgram *p = el->program;
    CtType *type = ct_elab_core_of(el, binding->pat->type);
    Fail no_guard = {.text = "no guard of this binding holds", .range = binding->range};
    CtCore *value = ct_elab_rhs(el, &binding->clauses[0].rhs, &no_guard, type);
    Fail fail = {.text = "the pattern of this binding does not match", .range = binding->pat->range};
    CtCore **parts = CT_NEW_ARRAY(el->arena, CtCore *, count);
    void **before = CT_NEW_ARRAY(el->arena, void *, count);
    for (uint32_t i = 0; i < count; i++) {
        Local *outer = entities[i]->elab, *inner = CT_NEW(el->arena, Local);
        before[i] = outer;
        CtVar *var = ct_core_var_new(p, entities[i]->name->text, ct_elab_core(el, outer->type));
        *inner = (Local){.type = outer->type, .var = var, .given = true};
        parts[i] = ct_core_var(p, binding->range, var);
        entities[i]->elab = inner;
    }
    CtCore *tuple = count == 1 ? parts[0] : ct_core_tuple(p, binding->range, parts, count);
    CtCore *made = ct_elab_match_one(el, binding->pat, value, given_body, tuple, &fail, tuple->type);
    for (uint32_t i = 0; i < count; i++) entities[i]->elab = before[i];
    return made;
}

/* In a lazy program a pattern is matched when a variable of it is needed. */
static CtCore *lazy_pattern_code(CtElab *el, const CtBinding *binding, CtEntity *const *entities, uint32_t count,
                                 CtCore *body) {
    CtProgram *p = el->program;
    CtCore *tuple = pattern_tuple(el, binding, entities, count);
    if (count == 1) {
        const Local *only = entities[0]->elab;
        return ct_elab_let(el, binding->range, only->var, tuple, body);
    }
    CtVar *whole = ct_core_var_new(p, "pattern", tuple->type);
    for (uint32_t i = count; i-- > 0;) {
        const Local *local = entities[i]->elab;
        CtCore *part = ct_core_proj(p, binding->range, ct_core_var(p, binding->range, whole), i);
        body = ct_elab_let(el, binding->range, local->var, part, body);
    }
    return ct_elab_let(el, binding->range, whole, tuple, body);
}

/* The same in a group that is made of itself: adds functions of no arguments. */
static void lazy_pattern_binds(CtElab *el, const CtBinding *binding, CtEntity *const *entities, uint32_t count,
                               CtBinds *binds) {
    CtProgram *p = el->program;
    CtSourceRange range = binding->range;
    CtCore *tuple = pattern_tuple(el, binding, entities, count);
    CtVar *whole = ct_core_var_new(p, "pattern", ct_core_type_fun(p, NULL, 0, tuple->type));
    ct_push(el->arena, binds, (CtBind){whole, ct_core_lam(p, range, NULL, NULL, 0, tuple)});
    for (uint32_t i = 0; i < count; i++) {
        const Local *local = entities[i]->elab;
        CtCore *part = ct_core_app(p, range, ct_core_var(p, range, whole), NULL, 0);
        if (count > 1) part = ct_core_proj(p, range, part, i);
        ct_push(el->arena, binds, (CtBind){local->var, ct_core_lam(p, range, NULL, NULL, 0, part)});
    }
}

static CtCore *pattern_code(CtElab *el, const CtBinding *binding, CtVar *const *vars, uint32_t count, CtCore *body) {
    CtType *type = ct_elab_core_of(el, binding->pat->type);
    Fail no_guard = {.text = "no guard of this binding holds", .range = binding->range};
    CtCore *value = ct_elab_rhs(el, &binding->clauses[0].rhs, &no_guard, type);
    Fail fail = {.text = "the pattern of this binding does not match", .range = binding->pat->range};
    if (binding->bang && el->is_lazy) {
        CtVar *whole = ct_core_var_new(el->program, "pattern", type);
        whole->is_strict = true;
        CtCore *matched = ct_core_var(el->program, binding->range, whole);
        matched = ct_elab_match_one(el, binding->pat, matched, given_body, body, &fail, body->type);
        return ct_core_let(el->program, binding->range, whole, value, matched);
    }
    CtCore **place = binding->bang ? &body : ct_elab_place(el, value, vars, count, &body);
    if (place != NULL) *place = ct_elab_match_one(el, binding->pat, value, given_body, *place, &fail, (*place)->type);
    return body;
}

/* Wraps the single binding of a group that is not recursive around `body`. */
static CtCore *single_code(CtElab *el, const Poly *poly, const Instance *instance, CtCore *body) {
    const CtBinding *binding = poly->group->bindings[0];
    if (binding->pat != NULL) {
        uint32_t count = poly->entities.count;
        CtVar **vars = CT_NEW_ARRAY(el->arena, CtVar *, count);
        for (uint32_t i = 0; i < count; i++) {
            poly->entities.items[i]->elab = instance->locals[i];
            vars[i] = instance->locals[i]->var;
        }
        if (el->is_lazy && !binding->bang && count > 0)
            return lazy_pattern_code(el, binding, poly->entities.items, count, body);
        return pattern_code(el, binding, vars, count, body);
    }
    const Local *local = instance->locals[0];
    const char *name = binding->name.text->text;
    CtCore *code = ct_elab_binding(el, binding, local->type, local->arity, false, local->arity > 0 ? name : el->name);
    local->var->is_strict = binding->bang;
    if (binding->bang) return ct_core_let(el->program, binding->range, local->var, code, body);
    return ct_elab_let(el, binding->range, local->var, code, body);
}

/* The code of a member of a recursive group, at the instance whose types are the current ones. */
static CtCore *member_code(CtElab *el, const CtBinding *binding, const Local *local, bool eta) {
    const char *name = binding->name.text->text;
    CtCore *lam = local->wrap ? ct_elab_wrapped_binding(el, binding, local->wrap, name)
                              : ct_elab_binding(el, binding, local->type, local->arity, eta, name);
    return local->by_need ? ct_core_lam(el->program, binding->range, name, NULL, 0, lam) : lam;
}

/* Makes code of the members of an instance that are used and have none; false if there are none. With a pattern among
 * them, all are made, in their order. */
static bool instance_code(CtElab *el, const Poly *poly, const Instance *instance, bool all, CtBinds *binds) {
    bool made = false;
    for (uint32_t j = 0, at = 0; j < poly->group->count; j++) {
        const CtBinding *binding = poly->group->bindings[j];
        if (binding->pat != NULL) {
            uint32_t vars = count_entities(binding->pat);
            for (uint32_t k = at; k < at + vars; k++) poly->entities.items[k]->elab = instance->locals[k];
            if (el->is_lazy && vars > 0) lazy_pattern_binds(el, binding, poly->entities.items + at, vars, binds);
            at += vars;
            continue; /* otherwise it has been reported */
        }
        Local *local = instance->locals[at];
        bool eta = poly->etas.items[at++];
        if (local->code != NULL || (!all && !local->used)) continue;
        if (local->arity == 0 && local->wrap == NULL && !local->by_need) continue; /* reported */
        local->code = member_code(el, binding, local, eta);
        made = true;
        if (all && local->code->kind == CORE_LAM) ct_push(el->arena, binds, (CtBind){local->var, local->code});
    }
    return made;
}

/* The code of a recursive group. A member may use others at types of their own only: so an instance has the code of
 * those alone that are used at its types. Others may have no instance of a class there. */
static void recursive_code(CtElab *el, Poly *poly, CtBinds *binds) {
    bool all = poly->group->generic_count == 0;
    for (uint32_t j = 0; j < poly->group->count; j++) all |= poly->group->bindings[j]->pat != NULL;
    for (bool more = true; more && !el->gave_up;) {
        more = false;
        for (uint32_t i = 0; i < poly->instances.count && !el->gave_up; i++) {
            Instance instance = poly->instances.items[i];
            el->env = instance.env;
            more |= instance_code(el, poly, &instance, all, binds);
        }
        if (all) return;
    }
    for (uint32_t i = 0; i < poly->instances.count; i++)
        for (uint32_t j = 0; j < poly->entities.count; j++) {
            const Local *local = poly->instances.items[i].locals[j];
            if (local->code == NULL || local->code->kind != CORE_LAM) continue;
            ct_push(el->arena, binds, (CtBind){local->var, local->code});
        }
}

/* Elaborates all instances of a group and wraps them around `body`. The code of an instance may use the group at
 * further types, so that `instances` may grow during the loop. */
static CtCore *group_code(CtElab *el, Poly *poly, CtCore *body) {
    const TyEnv *before = el->env;
    CtBinds binds = {0};
    want_values(el, poly);
    for (uint32_t i = 0; i < poly->instances.count && !poly->group->recursive && !el->gave_up; i++) {
        Instance instance = poly->instances.items[i];
        el->env = instance.env;
        body = single_code(el, poly, &instance, body);
    }
    if (poly->group->recursive) recursive_code(el, poly, &binds);
    el->env = before;
    if (binds.count == 0) return body;
    CtVar **vars = CT_NEW_ARRAY(el->arena, CtVar *, binds.count);
    for (uint32_t i = 0; i < binds.count; i++) vars[i] = binds.items[i].var;
    CtCore *unit = ct_core_unit(el->program, poly->group->bindings[0]->range);
    CtCore *alone = ct_core_letrec(el->program, unit->range, binds.items, binds.count, unit);
    CtCore **place = ct_elab_place(el, alone, vars, binds.count, &body);
    if (place == NULL) return body;
    *place = ct_core_letrec(el->program, poly->group->bindings[0]->range, binds.items, binds.count, *place);
    return body;
}

CtCore *ct_elab_decls(CtElab *el, const CtDecls *decls, Within *within, void *data) {
    Poly **polys = CT_NEW_ARRAY(el->arena, Poly *, decls->group_count);
    for (uint32_t i = 0; i < decls->group_count; i++) polys[i] = declare(el, &decls->groups[i]);
    CtCore *body = within(el, data);
    for (uint32_t i = decls->group_count; i-- > 0;) body = group_code(el, polys[i], body);
    return body;
}
