/* What literals of numbers need beyond the rules of expressions: `default` declarations, and literals too large for an
 * Int or, in an array, taken for arrays. */
#include <math.h>

#include "types/internal.h"

/* ---- default declarations, Haskell 98 §4.3.4 ---- */

static void add_default(CtTypes *types, const CtTypeExpr *expr) {
    CtTyVars vars = {.open = false};
    CtTy *type = ct_types_convert_type(types, &vars, expr);
    CtEntity *from_int = ct_types_hidden(types, HIDDEN_FROM_INT, expr->range);
    if (type->is_error || !from_int || !from_int->class_) return;
    if (ct_types_solve(types, from_int->class_, type, expr->range, false))
        ct_push(types->arena, &types->defaults, type);
}

void ct_types_declare_defaults(CtTypes *types, const CtDecls *decls) {
    const CtDecl *first = NULL;
    types->defaults.count = 0;
    types->has_defaults = false;
    for (uint32_t i = 0; i < decls->count; i++) {
        const CtDecl *decl = &decls->items[i];
        if (decl->kind != DECL_DEFAULT) continue;
        if (first) {
            CtDiag *diag =
                ct_error(types->context, CT_E0309, decl->range, "a module has one `default` declaration at most");
            ct_note(types->context, diag, first->range, "the first one is here");
            continue;
        }
        first = decl;
        types->has_defaults = true;
        const CtTypeExpr *whole = decl->type.type;
        if (whole->kind != TYPE_EXPR_TUPLE) add_default(types, whole);
        for (uint32_t j = 0; whole->kind == TYPE_EXPR_TUPLE && j < whole->part_count; j++)
            add_default(types, whole->parts[j]);
    }
}

/* ---- literals too large for an Int ---- */

void ct_types_note_large(CtTypes *types, const CtLit *lit, CtTy *type, CtSourceRange range, bool negated) {
    bool least = lit->integer == INT64_MIN && (negated || signbit(lit->fraction)) && fabs(lit->fraction) < 0x1.1p63;
    if (lit->kind == LIT_INT && lit->digits && !least)
        ct_push(types->arena, &types->large, ((CtLargeLiteral){.type = type, .range = range}));
}

/* A number in an array of arrays would be an array of one element: a row that is meant would be a column. */
static void report_element(CtTypes *types, CtSourceRange range, bool is_use) {
    CtDiag *diag = is_use ? ct_error(types->context, CT_E0301, range,
                                     "this has numbers as the elements of an array, where arrays are needed here")
                          : ct_error(types->context, CT_E0301, range,
                                     "this number is an element of an array of arrays, where an array is needed");
    ct_help(types->context, diag,
            "a column is written [|[|1|], [|2|]|]; a row beside a matrix is put into an array, [|[|1, 2|]|], or given "
            "its type: ([|1, 2|] :: Array Double)");
}

const CtExpr *ct_types_find_number(CtTypes *types, const CtExpr *array) {
    if (types->is_library || array->part_count < 2) return NULL; /* one number is a row and a column */
    for (uint32_t i = 0; i < array->part_count; i++)
        if (ct_types_is_number(types, array->parts[i])) return array->parts[i];
    return NULL;
}

void ct_types_note_number(CtTypes *types, const CtExpr *number, CtTy *element) {
    if (ct_types_least_axes(types, element) > 0)
        report_element(types, number->range, false); /* at once: there may be a second attempt */
    else
        ct_push(types->arena, &types->large,
                ((CtLargeLiteral){.type = element, .range = number->range, .is_element = true}));
    element = ct_types_ty_resolve(element);
    if (element->kind == TY_META) element->is_written = true;
}

void ct_types_note_written(CtTypes *types, const CtExpr *use, const CtScheme *scheme) {
    for (uint32_t i = 0; i < scheme->count; i++) {
        if (!scheme->generics[i]->is_written) continue;
        ct_push(types->arena, &types->large,
                ((CtLargeLiteral){.type = use->inst[i], .range = use->range, .is_element = true, .is_use = true}));
        if (use->inst[i]->kind == TY_META) use->inst[i]->is_written = true;
    }
}

void ct_types_check_large(CtTypes *types) {
    for (uint32_t i = 0; i < types->large.count; i++) {
        CtLargeLiteral one = types->large.items[i];
        CtTy *type = ct_types_ty_resolve(one.type);
        if (one.is_element && ct_types_least_axes(types, type) > 0) report_element(types, one.range, one.is_use);
        if (one.is_element) continue;
        if (type->kind != TY_CON || type->con != types->int_) continue;
        CtDiag *diag = ct_error(types->context, CT_E0107, one.range, "this integer does not fit in an Int");
        ct_help(types->context, diag, "the largest Int is 9223372036854775807; Integer has no bounds");
    }
    types->large.count = 0;
}
