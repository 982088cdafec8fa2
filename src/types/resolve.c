/* Name resolution in one traversal of the syntax tree. Local scopes are one map with an undo log, and every use of a
 * bound name adds an edge to the dependency graph of the declaration group that binds it.
 *
 * C recursion visits the smaller children of a node, and a loop continues with the largest; so the depth of the C stack
 * is bounded by the logarithm of the source's length, and not by the length of a chain of operators.
 */
#include "types/internal.h"

CtEntity *ct_types_entity_new(CtTypes *types, CtEntityKind kind, CtName name) {
    CtEntity *entity = CT_NEW(types->arena, CtEntity);
    entity->kind = kind;
    entity->name = name.text;
    entity->range = name.range;
    entity->module = types->module_name;
    return entity;
}

static void defined_twice(CtTypes *types, const CtEntity *again, const CtEntity *first) {
    CtDiag *diag = ct_error(types->context, CT_E0309, again->range, "`%s` is defined twice", again->name->text);
    ct_note(types->context, diag, first->range, "the first definition is here");
    bool functions = again->binding && again->binding->clauses[0].pat_count && first->binding &&
                     first->binding->clauses[0].pat_count && again->kind == ENTITY_GLOBAL && !again->binding->made;
    if (functions)
        ct_help(types->context, diag,
                "the clauses of a function stand together, without other definitions between them");
    else if (again->binding && first->binding && !again->binding->clauses[0].pat_count)
        ct_help(types->context, diag, "a definition is no assignment: a new value has a new name, such as `%s'`",
                again->name->text);
    else if (!again->binding && !first->binding && !again->pattern_binding)
        ct_help(types->context, diag, "give it another name; to compare the two, write a guard: | %s == %s'",
                again->name->text, again->name->text);
}

void ct_types_define_value(CtTypes *types, CtEntity *entity) {
    CtEntity *first = ct_map_get(&types->own->names[SPACE_VALUE], ct_key(entity->name));
    if (first && first->range.source == entity->range.source && first->range.source) {
        defined_twice(types, entity, first);
        return;
    }
    ct_types_define(types, SPACE_VALUE, entity->name, entity);
}

/* ---- scopes ---- */

static void push_local(CtTypes *types, CtEntity *entity, uint32_t mark) {
    CtEntity *hidden = ct_map_get(&types->locals, ct_key(entity->name));
    if (hidden)
        for (uint32_t i = types->shadows.count; i-- > mark;)
            if (types->shadows.items[i].shown == hidden) {
                defined_twice(types, entity, hidden);
                break;
            }
    CtShadow shadow = {entity->name, hidden, entity};
    ct_push(types->arena, &types->shadows, shadow);
    ct_map_set(types->arena, &types->locals, ct_key(entity->name), entity);
}

static void pop_locals(CtTypes *types, uint32_t mark) {
    while (types->shadows.count > mark) {
        CtShadow *shadow = &types->shadows.items[--types->shadows.count];
        ct_map_set(types->arena, &types->locals, ct_key(shadow->name), shadow->hidden);
    }
}

static void note_use(CtTypes *types, CtBindInfo *used) {
    CtBindInfo *user = used->frame->current;
    if (!user) return;
    if (user == used) user->self_use = true;
    if (used->last_user == user) return;
    used->last_user = user;
    ct_push(types->arena, &user->uses, used);
}

static void resolve_name(CtTypes *types, CtExpr *expr) {
    CtSym name = expr->name.text;
    CtEntity *entity = expr->name.module ? NULL : ct_map_get(&types->locals, ct_key(name));
    if (!entity) entity = ct_types_find(types, SPACE_VALUE, expr->name);
    if (!entity) {
        ct_types_report_unknown(types, "name", SPACE_VALUE, expr->name);
        return;
    }
    expr->entity = entity;
    if (entity->infer) note_use(types, entity->infer);
}

static CtDataCon *resolve_con(CtTypes *types, CtName name) {
    CtDataCon *con = ct_types_find(types, SPACE_CON, name);
    if (!con) ct_types_report_unknown(types, "constructor", SPACE_CON, name);
    return con;
}

/* ---- patterns ---- */

typedef void OnVariable(CtTypes *types, CtPat *pat, void *data);

static bool names_field(const CtName *fields, uint32_t count, CtSym name) {
    for (uint32_t i = 0; i < count; i++)
        if (fields[i].text == name) return true;
    return false;
}

/* P {x = 1, ..} becomes P {x = 1, y = y, z = z}. */
static void add_fields_to_pat(CtTypes *types, CtPat *pat) {
    const CtDataCon *con = pat->con;
    if (!pat->rest || !con || !con->field_names) return;
    CtName *fields = CT_NEW_ARRAY(types->arena, CtName, pat->part_count + con->arity);
    CtPat **parts = CT_NEW_ARRAY(types->arena, CtPat *, pat->part_count + con->arity);
    uint32_t count = pat->part_count;
    for (uint32_t i = 0; i < count; i++) {
        fields[i] = pat->fields[i];
        parts[i] = pat->parts[i];
    }
    for (uint32_t i = 0; i < con->arity; i++) {
        if (names_field(pat->fields, pat->part_count, con->field_names[i])) continue;
        fields[count] = (CtName){.text = con->field_names[i], .range = pat->range};
        parts[count] = CT_NEW(types->arena, CtPat);
        *parts[count] = (CtPat){.kind = PAT_VAR, .range = pat->range, .name = fields[count]};
        count++;
    }
    pat->fields = fields;
    pat->parts = parts;
    pat->part_count = count;
    pat->rest = false;
}

/* The function of a pattern n + 3 is the library's, whatever the program calls so. */
static void resolve_view(CtTypes *types, CtExpr *view) {
    CtExpr *fun = view->kind == EXPR_APP ? view->parts[0] : view;
    bool successor = fun->kind == EXPR_VAR && !strcmp(fun->name.text->text, "from'plus");
    if (successor) fun->entity = ct_types_library(types, SPACE_VALUE, fun->name.text);
    if (!successor || !fun->entity) ct_types_resolve_expr(types, view);
}

static void walk_pat(CtTypes *types, CtPat *pat, OnVariable *variable, void *data) {
    for (;;) {
        if (pat->kind == PAT_VAR || pat->kind == PAT_AS) variable(types, pat, data);
        if (pat->kind == PAT_VIEW) resolve_view(types, pat->view);
        if (pat->kind == PAT_ANNOT) pat->scoped = types->scoped;
        if ((pat->kind == PAT_CON || pat->kind == PAT_RECORD) && !pat->con) pat->con = resolve_con(types, pat->name);
        if (pat->kind == PAT_RECORD) add_fields_to_pat(types, pat);
        if (!pat->part_count) return;
        for (uint32_t i = 0; i + 1 < pat->part_count; i++) walk_pat(types, pat->parts[i], variable, data);
        pat = pat->parts[pat->part_count - 1];
    }
}

static void bind_variable(CtTypes *types, CtPat *pat, void *data) {
    if (!pat->entity) pat->entity = ct_types_entity_new(types, ENTITY_LOCAL, pat->name);
    push_local(types, pat->entity, *(uint32_t *)data);
}

static void resolve_pats(CtTypes *types, CtPat **pats, uint32_t count) {
    uint32_t mark = types->shadows.count;
    for (uint32_t i = 0; i < count; i++) walk_pat(types, pats[i], bind_variable, &mark);
}

/* ---- declarations ---- */

typedef struct Group {
    CtFrame frame;
    CT_VEC(CtBindInfo *) infos;
    uint32_t mark;
} Group;

static void define(CtTypes *types, Group *group, CtBindInfo *info, CtEntity *entity) {
    entity->infer = info;
    info->vars[info->var_count++] = entity;
    if (group->frame.top)
        ct_types_define_value(types, entity);
    else
        push_local(types, entity, group->mark);
}

typedef struct PatternBinding {
    Group *group;
    CtBindInfo *info;
} PatternBinding;

static void count_variable(CtTypes *types, CtPat *pat, void *data) {
    (void)types, (void)pat;
    ++*(uint32_t *)data;
}

static void define_variable(CtTypes *types, CtPat *pat, void *data) {
    PatternBinding *binding = data;
    pat->entity = ct_types_entity_new(types, binding->group->frame.top ? ENTITY_GLOBAL : ENTITY_LOCAL, pat->name);
    pat->entity->pattern_binding = binding->info->binding;
    define(types, binding->group, binding->info, pat->entity);
}

static void declare_binding(CtTypes *types, Group *group, CtBinding *binding) {
    CtBindInfo *info = CT_NEW(types->arena, CtBindInfo);
    info->frame = &group->frame;
    info->binding = binding;
    ct_push(types->arena, &group->infos, info);
    if (binding->pat) {
        ct_map_set(types->arena, &types->pattern_infos, ct_key(binding), info);
        uint32_t count = 0;
        walk_pat(types, binding->pat, count_variable, &count);
        info->vars = CT_NEW_ARRAY(types->arena, CtEntity *, count);
        PatternBinding data = {group, info};
        walk_pat(types, binding->pat, define_variable, &data);
        return;
    }
    info->vars = CT_NEW_ARRAY(types->arena, CtEntity *, 1);
    binding->entity = ct_types_entity_new(types, group->frame.top ? ENTITY_GLOBAL : ENTITY_LOCAL, binding->name);
    binding->entity->binding = binding;
    define(types, group, info, binding->entity);
}

static bool has_signature(const CtDecls *decls, CtSym name) {
    for (uint32_t i = 0; i < decls->count; i++)
        for (uint32_t j = 0; decls->items[i].kind == DECL_SIGNATURE && j < decls->items[i].name_count; j++)
            if (decls->items[i].names[j].text == name) return true;
    return false;
}

/* The name of the definition without a signature whose spelling is nearest to `name`. */
static CtSym unsigned_near(CtTypes *types, const Group *group, const CtDecls *decls, CtSym name) {
    CT_VEC(CtSym) names = {0};
    for (uint32_t i = 0; i < group->infos.count; i++) {
        const CtBinding *binding = group->infos.items[i]->binding;
        if (!binding->pat) ct_push(types->arena, &names, binding->name.text);
    }
    CtSym near = ct_nearest(name, names.items, names.count);
    return near && !has_signature(decls, near) ? near : NULL;
}

/* The type that a list without end is said to have, as one of its elements as they are taken. */
static void declare_stream_signature(CtTypes *types, CtEntity *stream, CtQualType *type) {
    CtScheme scheme = ct_types_convert_scheme(types, type);
    scheme.type = ct_types_stream_type(types, scheme.type);
    if (!scheme.type) return;
    CtBindInfo *info = stream->infer;
    stream->scheme = scheme;
    stream->binding->signature = type;
    stream->binding->signature_range = stream->range;
    info->signature = CT_NEW(types->arena, CtScheme);
    *info->signature = scheme;
}

/* Declares what lists without end are as far as they are taken, also those that are made of each other. */
static void declare_streams(CtTypes *types, Group *group) {
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < group->infos.count; i++) {
            const CtBinding *binding = group->infos.items[i]->binding;
            CtBinding *stream = ct_types_stream_of(types, binding);
            if (!stream) continue;
            declare_binding(types, group, stream);
            binding->entity->stream = stream->entity;
            types->level++;
            if (stream->signature) declare_stream_signature(types, stream->entity, stream->signature);
            types->level--;
            if (stream->is_knot && !group->frame.top) ct_types_end_list(types, binding, stream);
            more = true;
        }
    }
}

/* Whether another module may import a definition, as far as this module's head says. */
static bool may_be_exported(const CtTypes *types, CtSym name) {
    const CtModule *module = types->module;
    if (strcmp(types->module_name, "Main") == 0) return false;
    bool listed = !module->has_exports;
    for (uint32_t i = 0; i < module->export_count && !listed; i++)
        listed = module->exports[i].is_module || module->exports[i].name.text == name;
    return listed;
}

/* Those that nothing takes, here or in a module that imports them, are left out. */
static void hide_streams(CtTypes *types, const Group *group) {
    for (uint32_t i = 0; i < group->infos.count; i++) {
        CtEntity *stream = group->infos.items[i]->binding->pat ? NULL : group->infos.items[i]->binding->entity->stream;
        if (!stream) continue;
        stream->is_taken |= may_be_exported(types, group->infos.items[i]->binding->entity->name);
        if (stream->is_taken) continue;
        ct_map_set(types->arena, &types->own->names[SPACE_VALUE], ct_key(stream->name), NULL);
        group->infos.items[i]->binding->entity->stream = NULL;
    }
}

static void declare_signature(CtTypes *types, Group *group, const CtDecls *decls, CtDecl *decl) {
    for (uint32_t i = 0; i < decl->name_count; i++) {
        CtName name = decl->names[i];
        CtEntity *entity =
            group->frame.top ? ct_types_lookup(types, name.text) : ct_map_get(&types->locals, ct_key(name.text));
        CtBindInfo *info = entity ? entity->infer : NULL;
        if (!info || info->frame != &group->frame) {
            CtDiag *diag = ct_error(types->context, CT_E0310, name.range, "`%s` has a signature, but no definition",
                                    name.text->text);
            CtSym near = unsigned_near(types, group, decls, name.text);
            if (near)
                ct_help(types->context, diag, "perhaps `%s` is meant, which has no signature", near->text);
            else
                ct_help(types->context, diag, "define `%s` beside its signature, or remove the signature",
                        name.text->text);
            continue;
        }
        if (entity->scheme.type) {
            ct_error(types->context, CT_E0309, name.range, "`%s` has two signatures", name.text->text);
            continue;
        }
        types->level++;
        CtScheme scheme = ct_types_convert_scheme(types, &decl->type);
        if (entity->stream) declare_stream_signature(types, entity->stream, &decl->type);
        types->level--;
        entity->scheme = scheme;
        if (!entity->binding) continue;
        entity->binding->signature = &decl->type;
        entity->binding->signature_range = name.range;
        info->signature = CT_NEW(types->arena, CtScheme);
        *info->signature = scheme;
    }
}

static void resolve_rhs(CtTypes *types, CtRhs *rhs);

/* Puts the variables of the signature's `forall` in scope. */
static void open_forall(CtTypes *types, const CtBinding *binding) {
    const CtScheme *scheme = &binding->entity->scheme;
    for (uint32_t i = 0; i < binding->signature->forall_count; i++)
        for (uint32_t j = 0; j < scheme->count; j++) {
            if (scheme->generics[j]->name != binding->signature->forall[i].text) continue;
            CtScopedVar *var = CT_NEW(types->arena, CtScopedVar);
            *var = (CtScopedVar){scheme->generics[j]->name, scheme->generics[j], types->scoped};
            types->scoped = var;
        }
}

static void resolve_clauses(CtTypes *types, CtBinding *binding);

void ct_types_resolve_binding(CtTypes *types, CtBinding *binding) {
    CtScopedVar *outer = types->scoped;
    if (binding->signature && binding->entity) open_forall(types, binding);
    resolve_clauses(types, binding);
    types->scoped = outer;
}

static void resolve_clauses(CtTypes *types, CtBinding *binding) {
    for (uint32_t i = 0; i < binding->clause_count; i++) {
        CtClause *clause = &binding->clauses[i];
        uint32_t mark = types->shadows.count;
        resolve_pats(types, clause->pats, clause->pat_count);
        resolve_rhs(types, &clause->rhs);
        pop_locals(types, mark);
    }
}

static void resolve_group(CtTypes *types, CtDecls *decls, bool top) {
    Group *group = CT_NEW(types->arena, Group); /* entities point to its frame */
    group->frame.top = top;
    group->mark = types->shadows.count;
    ct_types_split_patterns(types, decls);
    for (uint32_t i = 0; i < decls->count; i++)
        if (decls->items[i].kind == DECL_BINDING) declare_binding(types, group, decls->items[i].binding);
    for (uint32_t i = 0; top && i < types->selectors.count; i++)
        declare_binding(types, group, types->selectors.items[i]);
    declare_streams(types, group);
    for (uint32_t i = 0; i < decls->count; i++)
        if (decls->items[i].kind == DECL_SIGNATURE) declare_signature(types, group, decls, &decls->items[i]);
    for (uint32_t i = 0; i < group->infos.count; i++) {
        group->frame.current = group->infos.items[i];
        if (group->infos.items[i]->binding->is_stream) ct_types_begin_stream(types, group->infos.items[i]->binding);
        ct_types_resolve_binding(types, group->infos.items[i]->binding);
    }
    group->frame.current = NULL;
    if (top) hide_streams(types, group);
    ct_types_find_groups(types, decls, group->infos.items, group->infos.count, top);
}

void ct_types_resolve_top(CtTypes *types, CtDecls *decls) { resolve_group(types, decls, true); }

/* ---- expressions; scopes that these open stay open until the caller pops them ---- */

static void resolve_stmt(CtTypes *types, CtStmt *stmt) {
    switch (stmt->kind) {
    case STMT_EXPR: ct_types_resolve_expr(types, stmt->expr); return;
    case STMT_BIND:
        ct_types_resolve_expr(types, stmt->expr);
        resolve_pats(types, &stmt->pat, 1);
        return;
    case STMT_LET: resolve_group(types, &stmt->decls, false); return;
    }
}

static void resolve_rhs(CtTypes *types, CtRhs *rhs) {
    if (rhs->where.count) resolve_group(types, &rhs->where, false);
    for (uint32_t i = 0; i < rhs->guarded_count; i++) {
        CtGuarded *guarded = &rhs->guarded[i];
        uint32_t mark = types->shadows.count;
        for (uint32_t j = 0; j < guarded->guard_count; j++) resolve_stmt(types, &guarded->guards[j]);
        ct_types_resolve_expr(types, guarded->body);
        pop_locals(types, mark);
    }
}

static void resolve_alts(CtTypes *types, CtExpr *expr) {
    for (uint32_t i = 0; i < expr->alt_count; i++) {
        CtAlt *alt = &expr->alts[i];
        uint32_t mark = types->shadows.count;
        resolve_pats(types, &alt->pat, 1);
        resolve_rhs(types, &alt->rhs);
        pop_locals(types, mark);
    }
}

/* Resolves all parts of an expression but the largest, and returns that one for the loop. */
static CtExpr *all_but_largest(CtTypes *types, CtExpr *expr) {
    CtExpr *largest = NULL;
    for (uint32_t i = 0; i < expr->part_count; i++) {
        CtExpr *part = expr->parts[i];
        if (part && (!largest || part->range.end - part->range.start >= largest->range.end - largest->range.start))
            largest = part;
    }
    for (uint32_t i = 0; i < expr->part_count; i++)
        if (expr->parts[i] && expr->parts[i] != largest) ct_types_resolve_expr(types, expr->parts[i]);
    return largest;
}

/* P {x = 1, ..} becomes P {x = 1, y = y}, where y is a local variable and a field of P. */
static void add_fields(CtTypes *types, CtExpr *expr) {
    if (!expr->rest) return;
    expr->rest = false;
    CtExpr *subject = expr->parts[0];
    if (!subject->con) subject->con = resolve_con(types, subject->name);
    const CtDataCon *con = subject->con;
    if (!con || !con->field_names) return;
    CtName *fields = CT_NEW_ARRAY(types->arena, CtName, expr->part_count + con->arity);
    CtExpr **parts = CT_NEW_ARRAY(types->arena, CtExpr *, expr->part_count + con->arity);
    uint32_t count = expr->part_count, given = count - 1;
    for (uint32_t i = 0; i < count; i++) parts[i] = expr->parts[i];
    for (uint32_t i = 0; i < given; i++) fields[i] = expr->fields[i];
    for (uint32_t i = 0; i < con->arity; i++) {
        CtName name = {.text = con->field_names[i], .range = expr->range};
        if (names_field(expr->fields, given, name.text) || !ct_map_get(&types->locals, ct_key(name.text))) continue;
        fields[count - 1] = name;
        parts[count] = CT_NEW(types->arena, CtExpr);
        *parts[count] = (CtExpr){.kind = EXPR_VAR, .range = expr->range, .name = name};
        count++;
    }
    expr->fields = fields;
    expr->parts = parts;
    expr->part_count = count;
}

/* The type variables of enclosing signatures, which types behind names may use. */
static void note_scope(CtTypes *types, CtTypeArgs *at) {
    for (uint32_t i = 0; at && i < at->count; i++) at->types[i].scoped = types->scoped;
}

static CtExpr *resolve_one(CtTypes *types, CtExpr *expr) {
    switch (expr->kind) {
    case EXPR_VAR:
        if (!expr->entity) resolve_name(types, expr);
        note_scope(types, expr->at);
        return NULL;
    case EXPR_CON:
        note_scope(types, expr->at);
        if (!expr->con) expr->con = resolve_con(types, expr->name);
        ct_types_build_view(types, expr);
        return NULL;
    case EXPR_LAM: resolve_pats(types, expr->pats, expr->pat_count); return expr->parts[0];
    case EXPR_LET: resolve_group(types, &expr->decls, false); return expr->parts[0];
    case EXPR_CASE:
        ct_types_resolve_expr(types, expr->parts[0]);
        resolve_alts(types, expr);
        return NULL;
    case EXPR_COMPREHENSION:
        for (uint32_t i = 0; i < expr->stmt_count; i++) resolve_stmt(types, &expr->stmts[i]);
        return expr->parts[0];
    case EXPR_LIT:
    case EXPR_TUPLE_CON: return NULL;
    case EXPR_DO: ct_types_expand_do(types, expr); return expr->kind == EXPR_DO ? NULL : expr;
    case EXPR_APP:
        ct_types_bound_streams(types, expr);
        if (expr->kind == EXPR_LAM) { /* it was a composition */
            resolve_pats(types, expr->pats, expr->pat_count);
            return expr->parts[0];
        }
        ct_types_delay_arguments(types, expr);
        return all_but_largest(types, expr);
    case EXPR_LEFT_SECTION: ct_types_bound_streams(types, expr); return all_but_largest(types, expr);
    case EXPR_NEG:
    case EXPR_IF:
    case EXPR_TUPLE:
    case EXPR_LIST:
    case EXPR_ARRAY:
    case EXPR_RANGE:
    case EXPR_RIGHT_SECTION:
    case EXPR_UPDATE: return all_but_largest(types, expr);
    case EXPR_ANNOT: expr->annot->scoped = types->scoped; return all_but_largest(types, expr);
    case EXPR_RECORD: add_fields(types, expr); return all_but_largest(types, expr);
    case EXPR_POLY:
    case EXPR_CHAIN: break; /* gone since fixity resolution */
    }
    return NULL;
}

void ct_types_resolve_expr(CtTypes *types, CtExpr *expr) {
    uint32_t mark = types->shadows.count;
    while (expr) expr = resolve_one(types, expr);
    pop_locals(types, mark);
}
