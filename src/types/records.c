/* Records: field selectors as functions, record construction, update and patterns. */
#include "types/internal.h"

/* ---- selectors: `x (Con _ a _) = a`, one clause for each constructor that has the field ---- */

static bool has_field(const CtDataCon *con, CtSym name, uint32_t *index) {
    for (uint32_t i = 0; con->field_names && i < con->arity; i++) {
        if (con->field_names[i] != name) continue;
        *index = i;
        return true;
    }
    return false;
}

static CtClause selector_clause(CtTypes *types, CtDataCon *con, uint32_t index, CtName name) {
    CtArena *arena = types->arena;
    CtName variable = {NULL, ct_intern_text(&types->context->symbols, "field"), name.range};
    CtPat *pat = CT_NEW(arena, CtPat);
    *pat = (CtPat){.kind = PAT_CON, .range = name.range, .name = {NULL, con->name, name.range}, .con = con};
    pat->part_count = con->arity;
    pat->parts = CT_NEW_ARRAY(arena, CtPat *, con->arity);
    CtPat *one = CT_NEW_ARRAY(arena, CtPat, 2), *others = one + 1;
    *one = (CtPat){.kind = PAT_VAR, .range = name.range, .name = variable};
    *others = (CtPat){.kind = PAT_WILD, .range = name.range};
    for (uint32_t i = 0; i < con->arity; i++) pat->parts[i] = i == index ? one : others;
    CtExpr *body = CT_NEW(arena, CtExpr);
    *body = (CtExpr){.kind = EXPR_VAR, .range = name.range, .name = variable};
    CtClause clause = {.pat_count = 1, .range = name.range};
    clause.pats = CT_NEW(arena, CtPat *);
    clause.pats[0] = pat;
    clause.rhs.guarded = CT_NEW(arena, CtGuarded);
    *clause.rhs.guarded = (CtGuarded){.body = body, .range = name.range};
    clause.rhs.guarded_count = 1;
    return clause;
}

static bool occurs(const CtTy *param, CtTy *type) {
    for (; type->kind == TY_APP; type = type->arg)
        if (occurs(param, type->fun)) return true;
    return type == param;
}

/* Whether a field speaks of its constructor's own variables: it has no selector then. */
static bool is_hidden(const CtTyCon *con, CtSym name) {
    uint32_t index;
    for (uint32_t i = 0; i < con->con_count; i++)
        for (uint32_t j = 0; has_field(con->cons[i], name, &index) && j < con->cons[i]->exist_count; j++)
            if (occurs(con->cons[i]->exists[j], con->cons[i]->fields[index])) return true;
    return false;
}

static void declare_selector(CtTypes *types, CtTyCon *con, CtName name) {
    if (ct_map_get(&types->own->names[SPACE_FIELD], ct_key(name.text)) == con)
        return; /* an earlier constructor of the type has this field too */
    ct_types_define(types, SPACE_FIELD, name.text, con);
    if (is_hidden(con, name.text)) return;
    CtBinding *binding = CT_NEW(types->arena, CtBinding);
    binding->name = name;
    binding->range = name.range;
    binding->made = true;
    binding->clauses = CT_NEW_ARRAY(types->arena, CtClause, con->con_count);
    for (uint32_t i = 0; i < con->con_count; i++) {
        uint32_t index;
        if (!has_field(con->cons[i], name.text, &index)) continue;
        binding->clauses[binding->clause_count++] = selector_clause(types, con->cons[i], index, name);
    }
    ct_push(types->arena, &types->selectors, binding);
}

void ct_types_declare_selectors(CtTypes *types) {
    types->selectors.count = 0;
    for (uint32_t i = 0; i < types->new_tycons.count; i++) {
        CtTyCon *con = types->new_tycons.items[i];
        for (uint32_t j = 0; j < con->con_count; j++)
            for (uint32_t k = 0; con->cons[j]->field_names && k < con->cons[j]->arity; k++)
                declare_selector(types, con, con->decl->cons[j].field_names[k]);
    }
}

/* ---- uses ---- */

static bool find_field(CtTypes *types, const CtDataCon *con, const CtName *fields, uint32_t i, uint32_t *index) {
    for (uint32_t j = 0; j < i; j++)
        if (fields[j].text == fields[i].text)
            ct_error(types->context, CT_E0309, fields[i].range, "the field `%s` is given twice", fields[i].text->text);
    if (has_field(con, fields[i].text, index)) return true;
    CtDiag *diag = ct_error(types->context, CT_E0302, fields[i].range, "`%s` has no field `%s`", con->name->text,
                            fields[i].text->text);
    CtSym near = con->field_names ? ct_nearest(fields[i].text, con->field_names, con->arity) : NULL;
    if (near) ct_help(types->context, diag, "perhaps `%s` is meant", near->text);
    return false;
}

static void check_missing(CtTypes *types, const CtExpr *expr, const CtDataCon *con) {
    for (uint32_t i = 0; i < con->arity; i++) {
        bool given = false;
        for (uint32_t j = 0; con->field_names && j + 1 < expr->part_count; j++)
            given |= expr->fields[j].text == con->field_names[i];
        if (given) continue;
        const char *name = con->field_names ? con->field_names[i]->text : NULL;
        CtDiag *diag =
            name ? ct_error(types->context, CT_E0304, expr->range, "`%s` is made without its field `%s`",
                            con->name->text, name)
                 : ct_error(types->context, CT_E0304, expr->range, "the fields of `%s` have no names", con->name->text);
        if (name)
            ct_help(types->context, diag, "all fields are given a value: `%s = …`", name);
        else
            ct_help(types->context, diag, "its values stand behind it, one after another");
        return;
    }
}

static CtTy **fresh_args(CtTypes *types, const CtTyCon *con) {
    CtTy **args = CT_NEW_ARRAY(types->arena, CtTy *, con->arity);
    for (uint32_t i = 0; i < con->arity; i++) args[i] = ct_types_ty_meta(types, con->params[i]->arity);
    return args;
}

static void check_value(CtTypes *types, CtExpr *value, CtName field, CtTy *type) {
    CtWhy why = {.kind = WHY_FIELD, .name = field.text};
    ct_types_check_expr(types, value, type, &why);
}

void ct_types_check_record(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why) {
    CtDataCon *con = expr->con = expr->parts[0]->con;
    expr->parts[0]->type = types->error;
    if (con) {
        CtTyCon *tycon = con->tycon;
        expr->inst = ct_types_con_inst(types, con, &expr->inst_count, expr->range);
        ct_types_ty_expect(types, expr->range, expected, ct_types_ty_con(types, tycon, expr->inst, tycon->arity), why);
        check_missing(types, expr, con);
    }
    for (uint32_t i = 1; i < expr->part_count; i++) {
        uint32_t index;
        CtTy *type = types->error;
        if (con && find_field(types, con, expr->fields, i - 1, &index))
            type = ct_types_con_field(types, con, index, expr->inst);
        check_value(types, expr->parts[i], expr->fields[i - 1], type);
    }
}

/* ---- update ---- */

static bool given_in(const CtExpr *expr, CtSym name) {
    for (uint32_t i = 0; i + 1 < expr->part_count; i++)
        if (expr->fields[i].text == name) return true;
    return false;
}

static bool has_all(const CtExpr *expr, const CtDataCon *con) {
    uint32_t index;
    for (uint32_t i = 0; i + 1 < expr->part_count; i++)
        if (!has_field(con, expr->fields[i].text, &index)) return false;
    return true;
}

/* Whether a constructor says what a type parameter is, or of which class. */
static bool speaks_of(const CtDataCon *con, uint32_t param) {
    if (con->equal && con->equal[param]) return true;
    for (uint32_t i = 0; i < con->given_count; i++)
        if (occurs(con->tycon->params[param], con->givens[i].type)) return true;
    return false;
}

/* Whether an update must keep a type parameter, because the parameter occurs in a field that is not updated or its
 * constructor speaks of it. */
static bool stays(const CtExpr *expr, const CtTyCon *con, uint32_t param) {
    for (uint32_t i = 0; i < con->con_count; i++) {
        const CtDataCon *one = con->cons[i];
        if (!has_all(expr, one)) continue;
        if (speaks_of(one, param)) return true;
        for (uint32_t j = 0; j < one->arity; j++)
            if (!given_in(expr, one->field_names[j]) && occurs(con->params[param], one->fields[j])) return true;
    }
    return false;
}

/* Reports an updated field that `first`, the first constructor with the first updated field, does not have. */
static void report_apart(CtTypes *types, const CtTyCon *con, const CtDataCon *first, CtName field) {
    CtDiag *diag =
        ct_error(types->context, CT_E0302, field.range, "`%s` has no field `%s`", first->name->text, field.text->text);
    CtSym near = ct_nearest(field.text, first->field_names, first->arity);
    if (ct_types_find(types, SPACE_FIELD, field) == con)
        ct_help(types->context, diag, "no constructor of `%s` has all the fields that are updated here",
                con->name->text);
    else if (near)
        ct_help(types->context, diag, "perhaps `%s` is meant", near->text);
}

static CtDataCon *updated_con(CtTypes *types, const CtExpr *expr) {
    CtTyCon *con = ct_types_find(types, SPACE_FIELD, expr->fields[0]);
    if (!con) {
        ct_types_report_unknown(types, "field", SPACE_FIELD, expr->fields[0]);
        return NULL;
    }
    CtDataCon *first = NULL;
    uint32_t index;
    for (uint32_t i = con->con_count; i > 0; i--) {
        if (has_all(expr, con->cons[i - 1])) return con->cons[i - 1];
        if (has_field(con->cons[i - 1], expr->fields[0].text, &index)) first = con->cons[i - 1];
    }
    for (uint32_t i = 1; first && i + 1 < expr->part_count; i++)
        if (!has_field(first, expr->fields[i].text, &index)) {
            report_apart(types, con, first, expr->fields[i]);
            return NULL;
        }
    return NULL;
}

static void report_hidden(CtTypes *types, CtName field) {
    CtDiag *diag =
        ct_error(types->context, CT_E0311, field.range,
                 "the field `%s` cannot be updated: its type is known to its constructor alone", field.text->text);
    ct_help(types->context, diag, "match the constructor, and make a new value with it");
}

void ct_types_check_update(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why) {
    CtDataCon *con = updated_con(types, expr);
    CtTyCon *tycon = con ? con->tycon : NULL;
    CtTy *before = types->error, **args = NULL;
    if (con) {
        CtTy **old = fresh_args(types, tycon);
        args = fresh_args(types, tycon);
        for (uint32_t i = 0; i < tycon->arity; i++)
            if (stays(expr, tycon, i)) args[i] = old[i];
        before = ct_types_ty_con(types, tycon, old, tycon->arity);
        ct_types_ty_expect(types, expr->range, expected, ct_types_ty_con(types, tycon, args, tycon->arity), why);
    }
    CtWhy updated = {.kind = WHY_UPDATED};
    ct_types_check_expr(types, expr->parts[0], before, &updated);
    for (uint32_t i = 1; i < expr->part_count; i++) {
        uint32_t index;
        CtTy *type = types->error;
        if (con && is_hidden(tycon, expr->fields[i - 1].text))
            report_hidden(types, expr->fields[i - 1]);
        else if (con && find_field(types, con, expr->fields, i - 1, &index))
            type = ct_types_ty_replace(types, con->fields[index], tycon->params, args, tycon->arity);
        check_value(types, expr->parts[i], expr->fields[i - 1], type);
    }
}

void ct_types_check_record_pat(CtTypes *types, CtPat *pat, CtTy *expected, const CtWhy *why) {
    CtDataCon *con = pat->con;
    CtTy **args = NULL;
    if (con) args = ct_types_open_con(types, pat, expected, why);
    for (uint32_t i = 0; i < pat->part_count; i++) {
        uint32_t index;
        CtTy *type = types->error;
        if (con && find_field(types, con, pat->fields, i, &index)) type = ct_types_con_field(types, con, index, args);
        CtWhy inside = {.kind = WHY_FIELD, .name = pat->fields[i].text};
        ct_types_check_pat(types, pat->parts[i], type, &inside);
    }
}
