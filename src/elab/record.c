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

/* A record update becomes a case with one branch for each constructor that has all updated fields. */
CtCore *ct_elab_update(CtElab *el, CtExpr *expr) {
    CtProgram *p = el->program;
    Lets lets = {0};
    Applied from = ct_elab_applied(el, expr->parts[0]->type), to = ct_elab_applied(el, expr->type);
    const CtTyCon *tycon = to.tycon;
    CtType *result = ct_elab_core(el, to.type);
    CtCore *old = ct_elab_atom(el, expr->range, "old", ct_elab_expr(el, expr->parts[0]), &lets);
    CtCore ***given = CT_NEW_ARRAY(el->arena, CtCore **, tycon->con_count);
    CtCase *cases = CT_NEW_ARRAY(el->arena, CtCase, tycon->con_count);
    uint32_t count = 0;
    CtCore **values = CT_NEW_ARRAY(el->arena, CtCore *, expr->part_count);
    for (uint32_t i = 1; i < expr->part_count; i++)
        values[i] = ct_elab_atom(el, expr->range, "new", ct_elab_expr(el, expr->parts[i]), &lets);
    for (uint32_t c = 0; c < tycon->con_count; c++) {
        const CtDataCon *con = tycon->cons[c];
        if (!has_all_fields(expr, con)) continue;
        View source = ct_elab_view(el, &from, con), target = ct_elab_view(el, &to, con);
        bool differs = source.stored != NULL || target.stored != NULL;
        if (differs) ct_elab_view_fields(el, &from, con, &source);
        if (differs) ct_elab_view_fields(el, &to, con, &target);
        CtVar **vars = CT_NEW_ARRAY(el->arena, CtVar *, con->arity);
        given[c] = CT_NEW_ARRAY(el->arena, CtCore *, con->arity);
        for (uint32_t i = 1; i < expr->part_count; i++) {
            uint32_t index = 0;
            field_index(con, expr->fields[i - 1].text, &index);
            given[c][index] = values[i];
            if (differs)
                given[c][index] =
                    ct_elab_convert(el, expr->range, values[i], target.given[index], target.stored[index]);
        }
        for (uint32_t i = 0; i < con->arity; i++) {
            if (given[c][i] != NULL) continue;
            vars[i] = ct_core_var_new(p, con->field_names[i]->text, source.con->fields[i]);
            given[c][i] = ct_core_var(p, expr->range, vars[i]);
            if (differs)
                given[c][i] = ct_elab_convert(el, expr->range, given[c][i], source.stored[i], target.stored[i]);
        }
        CtCore *body = ct_core_con(p, expr->range, target.con, given[c], con->arity);
        cases[count++] = (CtCase){source.con, vars, body};
    }
    Fail fail = {.text = "the value has no such field", .range = expr->range};
    bool all = count == tycon->con_count && ct_elab_universal(el, from.type) == NULL;
    CtCore *otherwise = all ? NULL : ct_elab_fail(el, &fail, result);
    CtCore *core = ct_core_case(p, expr->range, result, old, cases, count, otherwise);
    return ct_elab_wrap(el, &lets, core);
}
