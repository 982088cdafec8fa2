/* Type checking of patterns against the type of the scrutinee. */
#include "types/internal.h"

static void check_variable(CtTypes *types, CtPat *pat, CtTy *expected) {
    CtScheme *scheme = &pat->entity->scheme;
    CtWhy why = {.kind = WHY_SIGNATURE, .name = pat->name.text};
    ct_types_save_scheme(types, pat->entity);
    if (!scheme->type && ct_types_poly_head(expected, NULL))
        *scheme = ct_types_poly_scheme(types, expected);
    else if (!scheme->type)
        scheme->type = expected;
    else
        ct_types_ty_expect(types, pat->range, scheme->type, expected, &why);
}

static void fail_parts(CtTypes *types, CtPat *pat) {
    for (uint32_t i = 0; i < pat->part_count; i++) ct_types_check_pat(types, pat->parts[i], types->error, NULL);
}

static void report_fields(CtTypes *types, const CtPat *pat, const CtDataCon *con) {
    CtDiag *diag = ct_error(types->context, CT_E0304, pat->range, "`%s` has %u field%s, but this pattern gives %u",
                            con->name->text, con->arity, con->arity == 1 ? "" : "s", pat->part_count);
    if (pat->part_count >= con->arity) return;
    CtText form = ct_text(types->arena);
    ct_text_puts(&form, con->name->text);
    for (uint32_t i = 0; i < con->arity; i++) ct_text_puts(&form, " _");
    ct_help(types->context, diag, "a pattern names all fields, `_` stands for one that is not used: (%s)", form.data);
}

static void check_con(CtTypes *types, CtPat *pat, CtTy *expected, const CtWhy *why) {
    CtDataCon *con = pat->con;
    if (!con || pat->part_count != con->arity) {
        if (con) report_fields(types, pat, con);
        fail_parts(types, pat);
        return;
    }
    CtTy **inst = ct_types_open_con(types, pat, expected, why);
    for (uint32_t i = 0; i < con->arity; i++) {
        CtTy *field = ct_types_con_field(types, con, i, inst);
        CtWhy inside = {.kind = WHY_SCRUTINEE};
        ct_types_check_pat(types, pat->parts[i], field, &inside);
    }
}

static void check_literal(CtTypes *types, CtPat *pat, CtTy *expected, const CtWhy *why) {
    CtEntity *equal = ct_types_hidden(types, HIDDEN_EQ, pat->range);
    pat->entity = equal;
    if (pat->lit.kind == LIT_CHAR) {
        ct_types_ty_expect(types, pat->range, expected, types->char_->type, why);
        return;
    }
    if (pat->lit.kind == LIT_STRING) {
        ct_types_ty_expect(types, pat->range, expected, ct_types_ty_list(types, types->char_->type), why);
        return;
    }
    ct_types_note_large(types, &pat->lit, expected, pat->range, false);
    CtHidden hidden = pat->lit.kind == LIT_INT ? HIDDEN_FROM_INT : HIDDEN_FROM_DOUBLE;
    CtEntity *from = ct_types_hidden(types, hidden, pat->range);
    CtEntity *number = ct_types_hidden(types, HIDDEN_FROM_INT, pat->range);
    if (number && number->class_ && !ct_types_literal_fits(types, number->class_, expected, pat->range, why)) return;
    if (ct_types_ty_failed(expected)) return;
    if (from && from->class_ && !ct_types_solve(types, from->class_, expected, pat->range, false)) return;
    if (equal && equal->class_) ct_types_solve(types, equal->class_, expected, pat->range, false);
}

static void check_tuple(CtTypes *types, CtPat *pat, CtTy *expected, const CtWhy *why) {
    CtTy **parts = CT_NEW_ARRAY(types->arena, CtTy *, pat->part_count);
    for (uint32_t i = 0; i < pat->part_count; i++) parts[i] = ct_types_ty_meta(types, 0);
    ct_types_ty_expect(types, pat->range, expected, ct_types_ty_tuple(types, parts, pat->part_count), why);
    CtWhy inside = {.kind = WHY_SCRUTINEE};
    for (uint32_t i = 0; i < pat->part_count; i++) ct_types_check_pat(types, pat->parts[i], parts[i], &inside);
}

static void check_list(CtTypes *types, CtPat *pat, CtTy *expected, const CtWhy *why) {
    CtTy *element = ct_types_ty_meta(types, 0);
    ct_types_ty_expect(types, pat->range, expected, ct_types_ty_list(types, element), why);
    CtWhy inside = {.kind = WHY_ELEMENT};
    for (uint32_t i = 0; i < pat->part_count; i++) ct_types_check_pat(types, pat->parts[i], element, &inside);
}

void ct_types_check_pat(CtTypes *types, CtPat *pat, CtTy *expected, const CtWhy *why) {
    pat->type = expected;
    switch (pat->kind) {
    case PAT_WILD: return;
    case PAT_VAR: check_variable(types, pat, expected); return;
    case PAT_AS:
        check_variable(types, pat, expected);
        ct_types_check_pat(types, pat->parts[0], expected, why);
        return;
    case PAT_CON: check_con(types, pat, expected, why); return;
    case PAT_LIT: check_literal(types, pat, expected, why); return;
    case PAT_TUPLE: check_tuple(types, pat, expected, why); return;
    case PAT_LIST: check_list(types, pat, expected, why); return;
    case PAT_ANNOT: {
        CtTyVars vars = {.open = false, .scoped = pat->scoped};
        CtTy *type = ct_types_convert_type(types, &vars, pat->annot);
        ct_types_ty_expect(types, pat->range, expected, type, why);
        ct_types_check_pat(types, pat->parts[0], type, why);
        return;
    }
    case PAT_VIEW: {
        CtTy *result = ct_types_ty_meta(types, 0);
        ct_types_check_expr(types, pat->view, ct_types_ty_fun(types, expected, result), NULL);
        CtWhy inside = {.kind = WHY_SCRUTINEE};
        ct_types_check_pat(types, pat->parts[0], result, &inside);
        return;
    }
    case PAT_RECORD: ct_types_check_record_pat(types, pat, expected, why); return;
    case PAT_CHAIN: return; /* gone since fixity resolution */
    }
}
