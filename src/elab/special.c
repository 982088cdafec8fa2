/* Specialisations: one Core global for each binding and each tuple of types at which it is used. The global is made at
 * its first use and put on a worklist; its code is made when the worklist reaches it. So recursion between globals, and
 * call chains of any length, need no C stack.
 */
#include "elab/internal.h"

bool ct_elab_is_library(CtElab *el, CtSourceRange range) { return el->context->sources.items[range.source].is_library; }

CtSourceRange ct_elab_blame(CtElab *el, CtSourceRange range) {
    bool user = range.source != 0 && !ct_elab_is_library(el, range);
    return user || el->spec == NULL || el->spec->blame.source == 0 ? range : el->spec->blame;
}

/* ---- names ---- */

/* The name of the Core global, such as "map@Double,Int". A library entity that its plain name does not refer to in the
 * program is qualified with its module. */
static char *spec_name(CtElab *el, CtEntity *entity, Ground **types, uint32_t count) {
    CtText text = ct_text(el->arena);
    bool hidden = entity->kind == ENTITY_GLOBAL && ct_elab_is_library(el, entity->range) &&
                  ct_types_lookup(el->types, entity->name) != entity;
    if (hidden && entity->module != NULL) ct_text_printf(&text, "%s.", entity->module);
    ct_text_puts(&text, entity->name->text);
    for (uint32_t i = 0; i < count; i++) {
        ct_text_putc(&text, i == 0 ? '@' : ',');
        ct_elab_ground_print(&text, types[i]);
    }
    return text.data;
}

/* The global for the whole value of a pattern binding (x, y) = e is named by its pattern, "(x, y)". */
static char *pattern_name(CtElab *el, const CtPat *pat) {
    CtText text = ct_text(el->arena);
    ct_syntax_print_pat(&text, pat);
    return text.data;
}

/* Makes the name of a global unique: methods of several instances, or types that are printed cut off, may have the same
 * name. */
static char *unique_name(CtElab *el, char *name) {
    CtSym symbol = ct_intern_text(&el->context->symbols, name);
    uintptr_t before = (uintptr_t)ct_map_get(&el->names, ct_key(symbol));
    ct_map_set(el->arena, &el->names, ct_key(symbol), (void *)(before + 1));
    return before == 0 ? name : ct_format(el->arena, "%s'%u", name, (unsigned)before + 1);
}

/* ---- making ---- */

static uint64_t spec_hash(const void *code, SpecKind kind, Ground **types, uint32_t count) {
    uint64_t hash = ct_key(code) * 0x9E3779B97F4A7C15u + (uint64_t)kind;
    for (uint32_t i = 0; i < count; i++) hash = (hash ^ types[i]->id) * 0x100000001B3u ^ hash >> 29;
    return hash;
}

static Spec *spec_find(CtElab *el, uint64_t hash, const Spec *key) {
    Spec *spec = ct_map_get(&el->specs, hash);
    for (; spec != NULL; spec = spec->next)
        if (spec->binding == key->binding && spec->kind == key->kind && spec->count == key->count &&
            ((spec->kind != SPEC_PART && spec->kind != SPEC_METHOD) || spec->entity == key->entity) &&
            (key->count == 0 || memcmp(spec->types, key->types, key->count * sizeof(Ground *)) == 0))
            return spec;
    return NULL;
}

/* False when the binding has been specialised far too often, which is reported once. */
static bool may_specialise(CtElab *el, const Spec *spec, CtSourceRange range) {
    uintptr_t made = (uintptr_t)ct_map_get(&el->spec_counts, ct_key(spec->binding)) + 1;
    Ground *deep = NULL;
    for (uint32_t i = 0; i < spec->count; i++)
        if (spec->types[i]->depth > ELAB_MAX_TYPE_DEPTH) deep = spec->types[i];
    if (deep != NULL && made < ELAB_MAX_COPIES) made = ELAB_MAX_COPIES;
    ct_map_set(el->arena, &el->spec_counts, ct_key(spec->binding), (void *)made);
    if (made != ELAB_MAX_COPIES || el->gave_up) return made < ELAB_MAX_COPIES;
    el->gave_up = true;
    CtDiag *diag =
        ct_error(el->context, CT_E0402, ct_elab_blame(el, range),
                 "`%s` uses itself at ever larger types: there would be no end of copies", spec->entity->name->text);
    if (deep != NULL) {
        CtText text = ct_text(el->arena);
        ct_elab_ground_print(&text, deep);
        ct_note(el->context, diag, spec->entity->range, "reached the type `%s`", text.data);
    }
    return false;
}

static void enqueue(CtElab *el, Spec *spec, char *name, CtSourceRange range) {
    CtType *type = ct_elab_core_nary(el, spec->type, spec->arity);
    spec->global = ct_core_global_new(el->program, unique_name(el, name), type, range);
    spec->global->is_library = range.source != 0 && ct_elab_is_library(el, range);
    ct_push(el->arena, &el->work, spec);
}

Spec *ct_elab_spec(CtElab *el, CtEntity *entity, CtBinding *binding, const TyEnv *env, Ground *type, Ground **types,
                   uint32_t count, SpecKind kind, CtSourceRange range) {
    Spec key = {.kind = kind, .entity = entity, .binding = binding, .types = types, .count = count};
    uint64_t hash = spec_hash(binding, kind, types, count);
    Spec *spec = spec_find(el, hash, &key);
    if (spec != NULL) return spec;
    spec = CT_NEW(el->arena, Spec);
    *spec = key;
    spec->env = env;
    spec->type = type;
    spec->blame = ct_elab_blame(el, range);
    spec->next = ct_map_get(&el->specs, hash);
    ct_map_set(el->arena, &el->specs, hash, spec);
    bool sound = may_specialise(el, spec, range);
    if (kind == SPEC_BINDING || kind == SPEC_PATTERN) ct_elab_spec_arity(el, spec);
    char *name = spec_name(el, entity, types, count);
    if (kind == SPEC_PATTERN) name = pattern_name(el, binding->pat);
    enqueue(el, spec, name, binding->range);
    if (!sound) el->work.count--;
    return spec;
}

/* The code of a top-level entity: its binding, or its part of the pattern binding that binds it. */
Spec *ct_elab_spec_entity(CtElab *el, CtEntity *entity, Ground **types, CtSourceRange range) {
    uint32_t count = entity->scheme.count;
    TyEnv *env = CT_NEW(el->arena, TyEnv);
    *env = (TyEnv){.generics = entity->scheme.generics, .types = types, .count = count, .outer = NULL};
    Ground *type = ct_elab_ground_in(el, env, entity->scheme.type);
    SpecKind kind = entity->binding != NULL ? SPEC_BINDING : SPEC_PART;
    CtBinding *binding = entity->binding != NULL ? entity->binding : entity->pattern_binding;
    if (binding == NULL) {
        ct_error(el->context, CT_E0901, ct_elab_blame(el, range), "%s has no code", entity->name->text);
        return NULL;
    }
    return ct_elab_spec(el, entity, binding, env, type, types, count, kind, range);
}

Spec *ct_elab_spec_append(CtElab *el, Ground *list) {
    uint64_t hash = spec_hash(NULL, SPEC_APPEND, &list, 1);
    Spec key = {.kind = SPEC_APPEND, .types = &list, .count = 1};
    Spec *spec = spec_find(el, hash, &key);
    if (spec != NULL) return spec;
    spec = CT_NEW(el->arena, Spec);
    *spec = key;
    spec->types = CT_NEW(el->arena, Ground *);
    spec->types[0] = list;
    Ground *fun = ct_elab_ground_con(el, ct_types_con_fun(el->types));
    Ground *from_list = ct_elab_ground_app(el, fun, list);
    spec->type = ct_elab_ground_app(el, from_list, ct_elab_ground_app(el, from_list, list));
    spec->arity = 2;
    spec->next = ct_map_get(&el->specs, hash);
    ct_map_set(el->arena, &el->specs, hash, spec);
    CtText name = ct_text(el->arena);
    ct_text_puts(&name, "append@");
    ct_elab_ground_print(&name, list);
    enqueue(el, spec, name.data, CT_NO_RANGE);
    spec->global->is_library = true;
    return spec;
}

Spec *ct_elab_spec_convert(CtElab *el, SpecKind kind, Ground *from, Ground *to) {
    Ground *types[] = {from, to};
    uint64_t hash = spec_hash(NULL, kind, types, 2);
    Spec key = {.kind = kind, .types = types, .count = 2};
    Spec *spec = spec_find(el, hash, &key);
    if (spec != NULL) return spec;
    spec = CT_NEW(el->arena, Spec);
    *spec = key;
    spec->types = CT_NEW_ARRAY(el->arena, Ground *, 2);
    memcpy(spec->types, types, sizeof types);
    Ground *fun = ct_elab_ground_con(el, ct_types_con_fun(el->types));
    spec->type = ct_elab_ground_app(el, ct_elab_ground_app(el, fun, from), kind == SPEC_CONVERT ? to : from);
    spec->arity = 1;
    spec->blame = el->spec != NULL ? el->spec->blame : CT_NO_RANGE;
    spec->next = ct_map_get(&el->specs, hash);
    ct_map_set(el->arena, &el->specs, hash, spec);
    CtText name = ct_text(el->arena);
    ct_text_puts(&name, "convert@");
    ct_elab_ground_print(&name, from);
    ct_text_puts(&name, ",");
    ct_elab_ground_print(&name, to);
    enqueue(el, spec, name.data, CT_NO_RANGE);
    spec->global->is_library = true;
    return spec;
}

Spec *ct_elab_spec_method(CtElab *el, CtEntity *method, Ground **types, Ground *type, uint32_t arity,
                          CtSourceRange range) {
    uint32_t count = method->scheme.count;
    uint64_t hash = spec_hash(method, SPEC_METHOD, types, count);
    Spec key = {.kind = SPEC_METHOD, .entity = method, .types = types, .count = count};
    Spec *spec = spec_find(el, hash, &key);
    if (spec != NULL) return spec;
    spec = CT_NEW(el->arena, Spec);
    *spec = key;
    spec->type = type;
    spec->arity = arity;
    spec->blame = ct_elab_blame(el, range);
    spec->next = ct_map_get(&el->specs, hash);
    ct_map_set(el->arena, &el->specs, hash, spec);
    enqueue(el, spec, spec_name(el, method, types, count), spec->blame);
    return spec;
}

Spec *ct_elab_spec_expr(CtElab *el, const char *name, CtExpr *expr) {
    Spec *spec = CT_NEW(el->arena, Spec);
    spec->kind = SPEC_EXPR;
    spec->expr = expr;
    spec->type = ct_elab_ground_in(el, NULL, expr->type);
    enqueue(el, spec, ct_copy_text(el->arena, name, strlen(name)), expr->range);
    return spec;
}

/* A specialisation whose value is a method or a primitive. */
Spec *ct_elab_spec_name(CtElab *el, CtEntity *entity, Ground **types) {
    CtExpr *expr = CT_NEW(el->arena, CtExpr);
    expr->kind = EXPR_VAR;
    expr->range = entity->range;
    expr->entity = entity;
    expr->type = entity->scheme.type;
    TyEnv *env = CT_NEW(el->arena, TyEnv);
    *env = (TyEnv){.generics = entity->scheme.generics, .types = types, .count = entity->scheme.count};
    Spec *spec = CT_NEW(el->arena, Spec);
    *spec = (Spec){.kind = SPEC_EXPR, .expr = expr, .env = env, .type = ct_elab_ground_in(el, env, expr->type)};
    enqueue(el, spec, spec_name(el, entity, types, entity->scheme.count), expr->range);
    return spec;
}

/* ---- code ---- */

static CtCore *pattern_value(CtElab *el, Spec *spec) {
    Fail fail = {.text = "no guard of this binding holds", .range = spec->binding->range};
    CtType *type = ct_elab_core(el, spec->type);
    return ct_elab_rhs(el, &spec->binding->clauses[0].rhs, &fail, type);
}

/* The value of one variable of a top-level pattern binding: the value of the whole binding is matched against the
 * pattern. */
static CtCore *pattern_part(CtElab *el, Spec *spec) {
    CtBinding *binding = spec->binding;
    CtSourceRange range = binding->range;
    Ground *whole = ct_elab_ground(el, binding->pat->type);
    Spec *value =
        ct_elab_spec(el, spec->entity, binding, spec->env, whole, spec->types, spec->count, SPEC_PATTERN, range);
    CtCore *rhs = ct_core_global(el->program, range, value->global);
    CtVar *column = ct_core_var_new(el->program, "value", rhs->type);
    CtVar *part = ct_core_var_new(el->program, spec->entity->name->text, ct_elab_core(el, spec->type));
    Local *local = CT_NEW(el->arena, Local);
    *local = (Local){.var = part, .type = spec->type, .given = true};
    spec->entity->elab = local;
    Row row = {.pats = CT_NEW(el->arena, CtPat *), .core = ct_core_var(el->program, range, part), .range = range};
    row.pats[0] = binding->pat;
    Fail fail = {.text = "the pattern of this binding does not match", .range = range};
    CtCore *body = ct_elab_match(el, &column, 1, &row, 1, &fail, part->type);
    spec->entity->elab = NULL;
    return ct_core_let(el->program, range, column, rhs, body);
}

static CtCore *spec_code(CtElab *el, Spec *spec) {
    if (spec->wrap != NULL) {
        CtCore *function = ct_elab_wrapped_binding(el, spec->binding, spec->wrap, el->name);
        return ct_core_con(el->program, spec->binding->range, spec->wrap, &function, 1);
    }
    switch (spec->kind) {
    case SPEC_BINDING: return ct_elab_binding(el, spec->binding, spec->type, spec->arity, spec->eta, el->name);
    case SPEC_PATTERN: return pattern_value(el, spec);
    case SPEC_PART: return pattern_part(el, spec);
    case SPEC_EXPR: return ct_elab_expr(el, spec->expr);
    case SPEC_APPEND: return ct_elab_append_body(el, spec);
    case SPEC_CONVERT: return ct_elab_convert_body(el, spec);
    case SPEC_RELAYER: return ct_elab_relayer_body(el, spec);
    case SPEC_METHOD: return ct_elab_dispatch_body(el, spec);
    }
    return NULL;
}

static void make_code(CtElab *el, Spec *spec) {
    el->env = spec->env;
    el->spec = spec;
    el->name = spec->entity != NULL ? spec->entity->name->text : spec->global->name->text;
    el->depth = 0;
    spec->layers = el->layer_count;
    CtCore *body = spec_code(el, spec);
    if (body != NULL && ct_core_is_deeper(body, ELAB_MAX_CORE_DEPTH)) {
        ct_elab_report_depth(el, spec->global->range);
        body = ct_elab_error_term(el, spec->global->range, body->type);
    }
    spec->global->body = body;
}

/* Code with a case for each layer of a universal type, or each variant of a constructor, is made again when one was
 * found after it. */
static bool made_again(CtElab *el) {
    for (uint32_t i = 0; i < el->by_layers.count + el->by_variants.count && !el->gave_up; i++) {
        bool layers = i < el->by_layers.count;
        Spec *spec = layers ? el->by_layers.items[i] : el->by_variants.items[i - el->by_layers.count];
        if (spec->layers == el->layer_count) continue;
        make_code(el, spec);
        return true;
    }
    return false;
}

void ct_elab_work(CtElab *el) {
    do {
        while (el->work_done < el->work.count) {
            Spec *spec = el->work.items[el->work_done++];
            make_code(el, spec);
            if (spec->kind >= SPEC_CONVERT) ct_push(el->arena, &el->by_layers, spec);
            if (spec->by_variants) ct_push(el->arena, &el->by_variants, spec);
        }
    } while (made_again(el));
    el->by_layers.count = 0;
    el->env = NULL;
    el->spec = NULL;
}
