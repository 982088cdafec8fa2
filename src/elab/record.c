/* Records: construction and update by field names. Values are evaluated in the order in which they are written. */
#include "elab/internal.h"

static bool field_index(const CtDataCon *con, CtSym name, uint32_t *index) {
    for (uint32_t i = 0; i < con->arity && con->field_names != NULL; i++) {
        if (con->field_names[i] != name) continue;
        *index = i;
        return true;
    }
    return false;
}

/* Elaborates the given field values in the order in which they are written, let-binds them, and stores each in `args`
 * at the position of its field. */
static void place_values(CtElab *el, const CtExpr *expr, const CtDataCon *con, CtCore **args, Lets *lets) {
    for (uint32_t i = 1; i < expr->part_count; i++) {
        uint32_t index;
        const CtName *field = &expr->fields[i - 1];
        CtCore *value = ct_elab_expr(el, expr->parts[i]);
        if (field_index(con, field->text, &index))
            args[index] = ct_elab_atom(el, field->range, field->text->text, value, lets);
    }
}

CtCore *ct_elab_record(CtElab *el, CtExpr *expr) {
    Lets lets = {0};
    Applied applied = ct_elab_applied(el, expr->type);
    View view = {0};
    if (expr->con->generics != NULL)
        view.con = ct_elab_variant(el, applied.type, expr->con, ct_elab_own_types(el, expr), expr->range);
    else
        view = ct_elab_view(el, &applied, expr->con);
    CtCon *con = view.con;
    CtCore **args = CT_NEW_ARRAY(el->arena, CtCore *, con->count);
    place_values(el, expr, expr->con, args, &lets);
    for (uint32_t i = 0; i < con->count; i++) {
        if (args[i] != NULL && view.given != NULL)
            args[i] = ct_elab_convert(el, expr->range, args[i], view.given[i], view.stored[i]);
        if (args[i] != NULL) continue;
        const char *text = ct_format(el->arena, "the field %s was not given", con->field_names[i]->text);
        args[i] = ct_core_fail(el->program, expr->range, con->fields[i], CT_E0502, text, NULL);
    }
    return ct_elab_wrap(el, &lets, ct_core_con(el->program, expr->range, con, args, con->count));
}

static bool has_all_fields(const CtExpr *expr, const CtDataCon *con) {
    uint32_t index;
    for (uint32_t i = 1; i < expr->part_count; i++)
        if (!field_index(con, expr->fields[i - 1].text, &index)) return false;
    return true;
}

/* An update in progress: from a type to a type, with the new values in the order in which they are written. */
typedef struct Update {
    CtElab *el;
    const CtExpr *expr;
    Applied from, to;
    CtCore **values;
    CT_VEC(CtCase) cases;
} Update;

/* The alternative for a constructor: makes it again with the new values in their fields. */
static void add_case(Update *u, const CtDataCon *con, View source, View target) {
    CtElab *el = u->el;
    const CtExpr *expr = u->expr;
    bool differs = source.stored != NULL || target.stored != NULL;
    if (differs) ct_elab_view_fields(el, &u->from, con, &source);
    if (differs) ct_elab_view_fields(el, &u->to, con, &target);
    CtVar **vars = CT_NEW_ARRAY(el->arena, CtVar *, con->arity);
    CtCore **given = CT_NEW_ARRAY(el->arena, CtCore *, con->arity);
    for (uint32_t i = 1; i < expr->part_count; i++) {
        uint32_t index = 0;
        field_index(con, expr->fields[i - 1].text, &index);
        given[index] = u->values[i];
        if (differs)
            given[index] = ct_elab_convert(el, expr->range, u->values[i], target.given[index], target.stored[index]);
    }
    for (uint32_t i = 0; i < con->arity; i++) {
        if (given[i] != NULL) continue;
        vars[i] = ct_core_var_new(el->program, con->field_names[i]->text, source.con->fields[i]);
        given[i] = ct_core_var(el->program, expr->range, vars[i]);
        if (differs) given[i] = ct_elab_convert(el, expr->range, given[i], source.stored[i], target.stored[i]);
    }
    CtCore *body = ct_core_con(el->program, expr->range, target.con, given, con->arity);
    ct_push(el->arena, &u->cases, ((CtCase){source.con, vars, body}));
}

/* The alternatives for a constructor with variables of its own, one for each choice of types for them. */
static void add_variants(Update *u, const CtDataCon *con) {
    CtElab *el = u->el;
    Ground **own = ct_elab_determined(el, u->from.type, con);
    if (own == NULL) return; /* no value of this type has the constructor */
    bool many = ct_elab_has_variants(el, u->from.type, con);
    for (uint32_t i = 0; i == 0 || many; i++) {
        const Variant *variant = many ? ct_elab_variant_at(el, u->from.type, con, i) : NULL;
        if ((many && variant == NULL) || el->gave_up) return;
        Ground **types = many ? variant->types : own;
        View source = {.con = many ? variant->made : &ct_elab_core(el, u->from.type)->data->cons[con->tag]};
        View target = {.con = ct_elab_variant(el, u->to.type, con, types, u->expr->range)};
        add_case(u, con, source, target);
    }
}

/* A record update becomes a case with one branch for each constructor that has all updated fields. */
CtCore *ct_elab_update(CtElab *el, CtExpr *expr) {
    Lets lets = {0};
    Update u = {.el = el, .expr = expr};
    u.from = ct_elab_applied(el, expr->parts[0]->type);
    u.to = ct_elab_applied(el, expr->type);
    const CtTyCon *tycon = u.to.tycon;
    CtType *result = ct_elab_core(el, u.to.type), *before = ct_elab_core(el, u.from.type);
    CtCore *old = ct_elab_atom(el, expr->range, "old", ct_elab_expr(el, expr->parts[0]), &lets);
    u.values = CT_NEW_ARRAY(el->arena, CtCore *, expr->part_count);
    for (uint32_t i = 1; i < expr->part_count; i++)
        u.values[i] = ct_elab_atom(el, expr->range, "new", ct_elab_expr(el, expr->parts[i]), &lets);
    bool all = true;
    for (uint32_t c = 0; c < tycon->con_count; c++) {
        const CtDataCon *con = tycon->cons[c];
        if (!has_all_fields(expr, con))
            all = false;
        else if (con->generics != NULL)
            add_variants(&u, con);
        else
            add_case(&u, con, ct_elab_view(el, &u.from, con), ct_elab_view(el, &u.to, con));
    }
    Fail fail = {.text = "the value has no such field", .range = expr->range};
    CtCore *otherwise = NULL;
    if (!all || ct_elab_universal(el, u.from.type) != NULL)
        otherwise = ct_elab_fail(el, &fail, result);
    else if (u.cases.count < before->data->con_count)
        otherwise = ct_elab_impossible(el, expr->range, result);
    if (u.cases.count == 0 && otherwise != NULL) return ct_elab_wrap(el, &lets, otherwise);
    CtCore *core = ct_core_case(el->program, expr->range, result, old, u.cases.items, u.cases.count, otherwise);
    return ct_elab_wrap(el, &lets, core);
}
