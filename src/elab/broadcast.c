/* Operands of arithmetic that inference has put into array literals (types/broadcast.c): [|x|] * ys calculates with
 * each element of ys, whatever their number is, and becomes each'right (*) x ys. So no length is tested, and what
 * follows knows that the result is as long as ys. */
#include "elab/internal.h"

static bool is_repeated(const CtExpr *expr) {
    return expr->kind == EXPR_LIT || (expr->kind == EXPR_ARRAY && expr->is_operand);
}

static CtExpr *new_expr(CtElab *el, CtExprKind kind, const CtExpr *at, uint32_t parts, CtTy *type) {
    CtExpr *expr = CT_NEW(el->arena, CtExpr);
    *expr = (CtExpr){.kind = kind, .range = at->range, .part_count = parts, .type = type};
    expr->parts = CT_NEW_ARRAY(el->arena, CtExpr *, parts);
    return expr;
}

static CtTy *array_of(CtElab *el, CtTy *element, uint32_t axes) {
    for (; axes > 0; axes--) element = ct_types_ty_con(el->types, ct_types_con_array(el->types), &element, 1);
    return element;
}

/* Applied to an operator, or to a function of this kind, a function of the library that goes through the elements of
 * one operand: of the right one if `left` is the other. Types: of the other operand, and of the elements. */
static CtExpr *through(CtElab *el, CtExpr *fun, bool left, CtTy *other, CtTy *element) {
    CtSym name = ct_intern_text(&el->context->symbols, left ? "each'right" : "each'left");
    CtEntity *entity = ct_types_lookup_library(el->types, name);
    if (entity == NULL || entity->scheme.count != 3) return NULL;
    CtTy *array = array_of(el, element, 1);
    CtTy *first = left ? other : array, *second = left ? array : other;
    CtTy *type = ct_types_ty_fun(el->types, first, ct_types_ty_fun(el->types, second, array));
    CtExpr *each = new_expr(el, EXPR_VAR, fun, 0, ct_types_ty_fun(el->types, fun->type, type));
    each->name = (CtName){.text = name, .range = fun->range};
    each->entity = entity;
    each->inst_count = 3;
    each->inst = CT_NEW_ARRAY(el->arena, CtTy *, 3);
    each->inst[0] = left ? other : element;
    each->inst[1] = left ? element : other;
    each->inst[2] = element;
    CtExpr *app = new_expr(el, EXPR_APP, fun, 2, type);
    app->parts[0] = each;
    app->parts[1] = fun;
    return app;
}

/* How often a type is an array of arrays; `numbers`: the type of what is inside, or NULL if that has parts. */
static uint32_t axes_of(CtElab *el, Ground *type, CtTy **numbers) {
    uint32_t axes = 0;
    for (; type->fun != NULL && type->fun->con == ct_types_con_array(el->types); type = type->arg) axes++;
    *numbers = type->con != NULL ? type->con->type : NULL;
    return axes;
}

static CtExpr *literal_at(CtElab *el, const CtExpr *literal, CtTy *type) {
    CtExpr *at = CT_NEW(el->arena, CtExpr);
    *at = *literal;
    at->type = type;
    return at;
}

static bool is_arithmetic(CtElab *el, const CtExpr *op) {
    static const char *const names[] = {"+", "-", "*", "/", "**", NULL};
    if (op->kind != EXPR_VAR || op->inst_count != 1 || op->entity == NULL || op->entity->kind != ENTITY_METHOD)
        return false;
    for (uint32_t i = 0; names[i] != NULL; i++)
        if (strcmp(op->entity->name->text, names[i]) == 0) return ct_elab_is_library(el, op->entity->range);
    return false;
}

CtExpr *ct_elab_operands(CtElab *el, CtExpr *expr) {
    if (expr->kind != EXPR_APP || expr->part_count != 3) return NULL;
    const CtExpr *op = expr->parts[0];
    bool left = is_repeated(expr->parts[1]);
    CtExpr *operand = expr->parts[left ? 1 : 2];
    if (!is_repeated(operand) || !is_arithmetic(el, op)) return NULL;
    CtTy *numbers;
    uint32_t axes = axes_of(el, ct_elab_ground(el, op->inst[0]), &numbers), lacks = 0;
    if (numbers == NULL) return NULL;
    if (operand->kind == EXPR_LIT) {
        lacks = axes;
        operand = literal_at(el, operand, numbers);
    }
    for (; operand->kind == EXPR_ARRAY && operand->is_operand; operand = operand->parts[0]) lacks++;
    if (lacks == 0 || lacks > axes) return NULL;
    CtExpr *fun = CT_NEW(el->arena, CtExpr); /* the operator at the operand's own type */
    CtTy *type = array_of(el, numbers, axes - lacks);
    *fun = *op;
    fun->inst = CT_NEW_ARRAY(el->arena, CtTy *, 1);
    fun->inst[0] = type;
    fun->type = ct_types_ty_fun(el->types, type, ct_types_ty_fun(el->types, type, type));
    for (uint32_t i = 0; i < lacks; i++) {
        fun = through(el, fun, left, type, array_of(el, type, i));
        if (fun == NULL) return NULL;
    }
    CtExpr *app = new_expr(el, EXPR_APP, expr, 3, expr->type);
    app->parts[0] = fun;
    app->parts[1] = left ? operand : expr->parts[1];
    app->parts[2] = left ? expr->parts[2] : operand;
    return app;
}
