/* Elaborates expressions. Names, λs and sections are elaborated as applications, in apply.c. */
#include "elab/internal.h"

bool ct_elab_is_named(CtElab *el, const CtExpr *expr, const char *name) {
    if (expr->kind != EXPR_VAR || expr->entity == NULL || expr->entity->kind != ENTITY_GLOBAL) return false;
    return strcmp(expr->entity->name->text, name) == 0 && ct_elab_is_library(el, expr->entity->range);
}

/* The negation of a literal of a built-in type becomes a negative literal; other negations call the method. */
static CtCore *negation(CtElab *el, CtExpr *expr) {
    Ground *type = ct_elab_ground(el, expr->type);
    CtExpr *arg = expr->parts[0];
    CtTypeKind kind = ct_elab_core(el, type)->kind;
    bool built_in = kind == TYPE_INT || kind == TYPE_DOUBLE || kind == TYPE_FLOAT;
    if (built_in && arg->kind == EXPR_LIT) return ct_elab_literal(el, expr->range, &arg->lit, true, type, NULL);
    Callee callee = ct_elab_callee_at(el, expr->entity, &type, 1, expr->range);
    return ct_elab_call_exprs(el, expr->range, &callee, &arg, 1);
}

/* ---- the other forms ---- */

static CtCore *inner_expr(CtElab *el, void *data) { return ct_elab_expr(el, data); }

static CtCore *condition(CtElab *el, CtExpr *expr) {
    CtCore *test = ct_elab_expr(el, expr->parts[0]);
    CtCore *yes = ct_elab_expr(el, expr->parts[1]);
    CtCore *no = ct_elab_expr(el, expr->parts[2]);
    return ct_core_if(el->program, expr->range, test, yes, no);
}

static CtCore **parts_of(CtElab *el, const CtExpr *expr) {
    CtCore **parts = CT_NEW_ARRAY(el->arena, CtCore *, expr->part_count);
    for (uint32_t i = 0; i < expr->part_count; i++) parts[i] = ct_elab_expr(el, expr->parts[i]);
    return parts;
}

static CtCore *tuple(CtElab *el, CtExpr *expr) {
    CtCore **parts = parts_of(el, expr);
    return ct_elab_tuple(el, expr->range, ct_elab_ground(el, expr->type), parts, expr->part_count);
}

static CtCore *array_literal(CtElab *el, CtExpr *expr) {
    CtType *type = ct_elab_core_of(el, expr->type);
    if (type->kind != TYPE_ARRAY) return ct_elab_error_term(el, expr->range, type);
    return ct_core_array_lit(el->program, expr->range, type->parts[0], parts_of(el, expr), expr->part_count);
}

/* enumFromTo a b and its kin, at the type of the elements. */
static CtCore *range(CtElab *el, CtExpr *expr) {
    CtExpr *args[3];
    uint32_t count = 0;
    for (uint32_t i = 0; i < expr->part_count; i++)
        if (expr->parts[i] != NULL) args[count++] = expr->parts[i];
    Ground *element = ct_elab_ground(el, args[0]->type);
    Callee callee = ct_elab_callee_at(el, expr->entity, &element, 1, expr->range);
    return ct_elab_call_exprs(el, expr->range, &callee, args, count);
}

static CtCore *by_kind(CtElab *el, CtExpr *expr) {
    switch (expr->kind) {
    case EXPR_VAR:
    case EXPR_CON:
    case EXPR_APP:
    case EXPR_TUPLE_CON:
    case EXPR_LEFT_SECTION:
    case EXPR_ANNOT: return ct_elab_app(el, expr);
    case EXPR_LAM:
    case EXPR_RIGHT_SECTION: return ct_elab_nary(el, expr, 1);
    case EXPR_LIT:
        return ct_elab_literal(el, expr->range, &expr->lit, false, ct_elab_ground(el, expr->type), expr->entity);
    case EXPR_NEG: return negation(el, expr);
    case EXPR_LET: return ct_elab_decls(el, &expr->decls, inner_expr, expr->parts[0]);
    case EXPR_IF: return condition(el, expr);
    case EXPR_CASE: return ct_elab_case(el, expr);
    case EXPR_TUPLE: return tuple(el, expr);
    case EXPR_LIST: return ct_elab_list(el, expr);
    case EXPR_ARRAY: return array_literal(el, expr);
    case EXPR_RANGE: return range(el, expr);
    case EXPR_RECORD: return ct_elab_record(el, expr);
    case EXPR_UPDATE: return ct_elab_update(el, expr);
    case EXPR_COMPREHENSION: return ct_elab_comprehension(el, expr);
    case EXPR_POLY: return ct_elab_poly(el, expr);
    case EXPR_DO:
    case EXPR_CHAIN: break;
    }
    ct_error(el->context, CT_E0901, expr->range, "this form of expression cannot be elaborated yet");
    return ct_elab_error_term(el, expr->range, ct_elab_core_of(el, expr->type));
}

CtCore *ct_elab_expr(CtElab *el, CtExpr *expr) {
    if (ct_elab_too_deep(el, expr->range)) return ct_elab_error_term(el, expr->range, ct_elab_core_of(el, expr->type));
    CtCore *core = by_kind(el, expr);
    el->depth--;
    return core;
}
