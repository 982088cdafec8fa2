/* Operands of arithmetic with fewer axes than the other one. Arithmetic on arrays is by element and repeats along axes
 * of length 1 (lib/elementwise.cot), so `rate * g`, a number beside an array, is read as `[|rate|] * g`, and a row
 * beside a matrix as `[|row|]`: the missing axes come first, as in NumPy.
 *
 * The other operand is one whose type is known without inference: a variable of a known type, an array that is written
 * out, or operators and functions applied to such. Where neither it nor the expected type says how many axes are
 * wanted, or the operand is a lambda's variable, say, the operand is checked as it stands; where that is an error, see
 * operands.c. No program changes its meaning: without the array literals it would be refused. But where all that is
 * written out are numbers, `m + [|1, sqrt 2|]`, each could also stand for a row of one number: the array is a row, as
 * in NumPy. An operand whose elements are of arithmetic, and nothing outside of it says more of them, has numbers. */
#include "types/internal.h"

enum { DEPTH = 200 }; /* of operands in operands that are looked at */

static bool is_operator(const CtExpr *expr, const char *name) { return strcmp(expr->name.text->text, name) == 0; }

bool ct_types_is_arithmetic(CtTypes *types, const CtExpr *fun) {
    if (fun->kind != EXPR_VAR || !fun->entity || fun->entity->kind != ENTITY_METHOD) return false;
    const CtClass *class_ = fun->entity->class_;
    const CtEntity *from_int = ct_types_hidden(types, HIDDEN_FROM_INT, fun->range);
    const CtEntity *from_double = ct_types_hidden(types, HIDDEN_FROM_DOUBLE, fun->range);
    if (!from_int || !from_double) return false;
    if (class_ == from_int->class_) return is_operator(fun, "+") || is_operator(fun, "-") || is_operator(fun, "*");
    if (class_ == from_double->class_) return is_operator(fun, "/");
    return class_->super_count == 1 && class_->supers[0] == from_double->class_ && is_operator(fun, "**");
}

static bool is_array(const CtTypes *types, const CtTy *type) {
    const CtTy *head = type->kind == TY_APP ? ct_types_ty_resolve(type->fun) : type;
    return type->kind == TY_APP && head->kind == TY_CON && head->con == types->array;
}

int ct_types_axes(const CtTypes *types, CtTy *type) {
    int axes = 0;
    for (type = ct_types_ty_resolve(type); is_array(types, type); type = ct_types_ty_resolve(type->arg)) axes++;
    const CtTy *head = type->kind == TY_APP ? ct_types_ty_resolve(type->fun) : type; /* of `t Double`, unknown, too */
    if (type->kind == TY_META && type->is_number) return axes;
    return head->kind == TY_META || type->is_error ? -1 : axes;
}

int ct_types_least_axes(const CtTypes *types, CtTy *type) {
    int axes = 0;
    for (type = ct_types_ty_resolve(type); is_array(types, type); type = ct_types_ty_resolve(type->arg)) axes++;
    return axes;
}

static CtTy *known_type(CtTypes *types, const CtExpr *expr, uint32_t depth);

/* Finds the type for which a variable of a scheme stands, where a parameter's type has it and the argument's type is
 * known. */
static CtTy *matched(CtTy *param, CtTy *arg, const CtTy *variable) {
    for (;;) {
        param = ct_types_ty_resolve(param);
        arg = ct_types_ty_resolve(arg);
        if (param == variable) return arg;
        if (param->kind != TY_APP || arg->kind != TY_APP) return NULL;
        CtTy *found = matched(param->fun, arg->fun, variable);
        if (found) return found;
        param = param->arg;
        arg = arg->arg;
    }
}

/* The type of f x y, of a name f: without variables of f's scheme, or one of them, for which an argument stands. */
static CtTy *applied_type(CtTypes *types, const CtExpr *expr, uint32_t depth) {
    const CtExpr *fun = expr->parts[0];
    if (fun->kind != EXPR_VAR || !fun->entity || !fun->entity->scheme.type) return NULL;
    const CtScheme *scheme = &fun->entity->scheme;
    CtTy *result = ct_types_ty_resolve(scheme->type), *param;
    for (uint32_t i = 1; i < expr->part_count; i++) {
        if (!ct_types_ty_is_fun(types, result, &param, &result)) return NULL;
        result = ct_types_ty_resolve(result);
    }
    if (scheme->count == 0) return result;
    if (result->kind != TY_GENERIC) return result->has_var ? NULL : result;
    CtTy *rest = ct_types_ty_resolve(scheme->type), *found = NULL;
    for (uint32_t i = 1; !found && i < expr->part_count; i++) {
        ct_types_ty_is_fun(types, rest, &param, &rest);
        CtTy *arg = known_type(types, expr->parts[i], depth);
        if (arg) found = matched(param, arg, result);
    }
    return found;
}

static CtTy *wider(CtTypes *types, CtTy *a, CtTy *b) {
    if (!a || !b) return a ? a : b;
    return ct_types_least_axes(types, a) >= ct_types_least_axes(types, b) ? a : b;
}

/* Whether a variable is of classes of numbers, and of none that a program declares, which may be of arrays only. */
static bool is_plain_number(CtTypes *types, const CtTy *variable) {
    for (const CtPred *pred = variable->preds; pred; pred = pred->next) {
        uint32_t source = pred->class_->decl ? pred->class_->decl->name.range.source : 0;
        if (source && !types->context->sources.items[source].is_library) return false;
    }
    return ct_types_is_numeric(types, variable);
}

static bool mentions(CtTy *type, const CtTy *variable) {
    type = ct_types_ty_resolve(type);
    if (type->kind == TY_APP) return mentions(type->fun, variable) || mentions(type->arg, variable);
    return type == variable;
}

static bool is_number(CtTypes *types, const CtExpr *expr, uint32_t depth);

static bool is_named(const CtTy *type) { return type != NULL && type->kind == TY_META && type->is_named; }

/* Whether a variable of a function's scheme is of numbers, as it is in the type of the name that is its argument:
 * in that of `w`, for `head w` where `w = [1, 2]`. */
static bool matches_number(CtTypes *types, CtTy *param, const CtExpr *arg, const CtTy *variable) {
    CtTy *type = arg->kind == EXPR_VAR ? known_type(types, arg, 1) : NULL;
    return type != NULL && is_named(matched(param, type, variable));
}

/* Whether a name applied to these arguments is a number: its type has a variable there, of which arguments that are
 * numbers are all that says more. */
static bool gives_number(CtTypes *types, const CtExpr *fun, CtExpr *const *args, uint32_t count, uint32_t depth) {
    if (fun->kind != EXPR_VAR || !fun->entity || fun->entity->scheme.count == 0) return false;
    CtTy *result = ct_types_ty_resolve(fun->entity->scheme.type), *rest = result, *param;
    for (uint32_t i = 0; i < count; i++)
        if (!ct_types_ty_is_fun(types, result, &param, &result)) return false;
    result = ct_types_ty_resolve(result);
    if (result->kind != TY_GENERIC) return false;
    bool number = is_plain_number(types, result);
    for (uint32_t i = 0; i < count; i++) {
        ct_types_ty_is_fun(types, rest, &param, &rest);
        if (!mentions(param, result)) continue;
        number = ct_types_ty_resolve(param) == result ? is_number(types, args[i], depth)
                                                      : matches_number(types, param, args[i], result);
        if (!number) return false;
    }
    return number;
}

/* Whether a name is bound to a number, and nothing outside of its binding has said that it is an array. */
static bool names_number(CtTypes *types, const CtExpr *expr) {
    const CtEntity *entity = expr->entity;
    if (!entity || !entity->scheme.type || entity->scheme.count > 0) return false;
    return is_named(ct_types_ty_resolve(entity->scheme.type)) ||
           (entity->is_number && ct_types_least_axes(types, entity->scheme.type) == 0);
}

static bool is_number(CtTypes *types, const CtExpr *expr, uint32_t depth) {
    if (depth == 0) return false;
    switch (expr->kind) {
    case EXPR_LIT: return expr->lit.kind == LIT_INT || expr->lit.kind == LIT_FRACTION;
    case EXPR_NEG: return is_number(types, expr->parts[0], depth - 1);
    case EXPR_VAR: return names_number(types, expr) || gives_number(types, expr, NULL, 0, depth - 1);
    case EXPR_APP: return gives_number(types, expr->parts[0], expr->parts + 1, expr->part_count - 1, depth - 1);
    case EXPR_IF: return is_number(types, expr->parts[1], depth - 1) && is_number(types, expr->parts[2], depth - 1);
    default: return false;
    }
}

bool ct_types_is_number(CtTypes *types, const CtExpr *expr) { return is_number(types, expr, DEPTH); }

/* Whether a type is an array, or perhaps one: `f a`, where f is not known. */
static bool may_be_array(const CtTypes *types, const CtTy *type) {
    return is_array(types, type) || (type->kind == TY_APP && ct_types_ty_resolve(type->fun)->kind == TY_META);
}

static CtTy *innermost(const CtTypes *types, CtTy *type, int *axes) {
    *axes = 0;
    for (type = ct_types_ty_resolve(type); may_be_array(types, type); type = ct_types_ty_resolve(type->arg)) ++*axes;
    return type;
}

void ct_types_settle_numbers(CtTypes *types, CtTy *type, uint32_t mark) {
    int axes;
    type = innermost(types, type, &axes);
    bool alone = type->kind == TY_META && (type->level > types->level || type->is_named);
    if (axes > 0 && alone && is_plain_number(types, type)) type->is_number = true;
    for (uint32_t i = mark; i < types->metas.count; i++)
        if (!types->metas.items[i]->link) ct_types_lower(types->metas.items[i], types->level);
}

/* The type of an array that is written out, of which an element's type is known, or all elements are numbers.
 * Only its axes are looked at: those are taken for Doubles. */
static CtTy *written_type(CtTypes *types, const CtExpr *expr, uint32_t depth) {
    CtTy *element = NULL;
    bool numbers = expr->part_count > 0;
    for (uint32_t i = 0; i < expr->part_count; i++) {
        element = wider(types, element, known_type(types, expr->parts[i], depth));
        numbers &= is_number(types, expr->parts[i], depth);
    }
    if (numbers && (!element || ct_types_axes(types, element) < 0)) element = types->double_->type;
    return element ? ct_types_ty_app(types, types->array->type, element) : NULL;
}

/* The type that an expression has for certain, without inference; or NULL. */
static CtTy *known_type(CtTypes *types, const CtExpr *expr, uint32_t depth) {
    if (depth == 0) return NULL;
    switch (expr->kind) {
    case EXPR_VAR: return expr->entity && expr->entity->scheme.count == 0 ? expr->entity->scheme.type : NULL;
    case EXPR_NEG: return known_type(types, expr->parts[0], depth - 1);
    case EXPR_ARRAY: return written_type(types, expr, depth - 1);
    case EXPR_APP: {
        if (expr->part_count != 3 || !ct_types_is_arithmetic(types, expr->parts[0]))
            return applied_type(types, expr, depth - 1);
        CtTy *left = known_type(types, expr->parts[1], depth - 1);
        return wider(types, left, known_type(types, expr->parts[2], depth - 1));
    }
    default: return NULL;
    }
}

static int known_axes(CtTypes *types, const CtExpr *expr) {
    CtTy *type = known_type(types, expr, DEPTH);
    return type ? ct_types_axes(types, type) : -1;
}

static int known_least(CtTypes *types, const CtExpr *expr) {
    CtTy *type = known_type(types, expr, DEPTH);
    return type ? ct_types_least_axes(types, type) : 0;
}

/* Marks the numbers in the type of what has a name, or names for its parts, of which nothing outside says more. */
static void name_numbers(CtTypes *types, CtTy *type) {
    for (type = ct_types_ty_resolve(type); type->kind == TY_APP && type->has_var; type = ct_types_ty_resolve(type->arg))
        name_numbers(types, type->fun);
    if (type->kind == TY_META && type->level > types->level && is_plain_number(types, type)) type->is_named = true;
}

CtTy *ct_types_check_matched(CtTypes *types, CtExpr *expr, bool in_list, const CtWhy *why) {
    uint32_t mark = types->metas.count;
    types->level++;
    CtTy *type = ct_types_ty_meta(types, 0);
    ct_types_check_expr(types, expr, in_list ? ct_types_ty_list(types, type) : type, why);
    types->level--;
    name_numbers(types, type);
    ct_types_settle_numbers(types, type, mark);
    return type;
}

void ct_types_settle_variable(CtTypes *types, CtEntity *variable, const CtExpr *value) {
    CtTy *type = variable->scheme.type;
    name_numbers(types, type);
    ct_types_settle_numbers(types, type, types->metas.count);
    if (!value) return;
    variable->is_number = is_number(types, value, DEPTH);
    int axes;
    CtTy *element = innermost(types, type, &axes);
    if (element->kind == TY_META && axes > 0 && known_axes(types, value) > 0)
        element->is_number = true; /* of numbers that are named, whose type those around determine */
}

CtTy *ct_types_put_in_arrays(CtTypes *types, CtExpr *expr, CtTy *type, int count) {
    if (count > 0) ct_types_save_expr(types, expr);
    for (; count > 0; count--) {
        CtExpr *inside = CT_NEW(types->arena, CtExpr);
        *inside = *expr;
        if (type) type = ct_types_ty_app(types, types->array->type, type);
        *expr = (CtExpr){.kind = EXPR_ARRAY,
                         .parenthesised = true,
                         .is_operand = true,
                         .range = inside->range,
                         .part_count = 1,
                         .type = type};
        expr->parts = CT_NEW_ARRAY(types->arena, CtExpr *, 1);
        expr->parts[0] = inside;
    }
    return type;
}

/* Whether what a name stands for is of a type such as Array a or t a. */
static bool is_applied(CtTypes *types, const CtEntity *entity) {
    CtTy *type = ct_types_ty_resolve(entity->scheme.type), *param, *result;
    return type->kind == TY_APP && type->has_var && !ct_types_ty_is_fun(types, type, &param, &result);
}

/* Whether an operand may have any number of axes as far as is known before it is checked, such as `sum (map f xs)`. */
static bool is_open(CtTypes *types, const CtExpr *expr) {
    switch (expr->kind) {
    case EXPR_ARRAY:
    case EXPR_LET:
    case EXPR_IF:
    case EXPR_CASE: return true;
    case EXPR_VAR: return expr->entity && expr->entity->scheme.count > 0 && is_applied(types, expr->entity);
    case EXPR_APP: break;
    default: return false;
    }
    if (expr->parts[0]->kind != EXPR_VAR || ct_types_is_arithmetic(types, expr->parts[0])) return false;
    const CtEntity *entity = expr->parts[0]->entity;
    CtTy *result = entity && entity->scheme.count > 0 ? entity->scheme.type : NULL, *param;
    for (uint32_t i = 1; result && i < expr->part_count; i++)
        if (!ct_types_ty_is_fun(types, result, &param, &result)) return false;
    return result && ct_types_ty_resolve(result)->has_var;
}

/* In arithmetic with an array, what is a list or an array as far as its type tells, such as `fromList [1, 2]`, is an
 * array. */
static void take_for_array(CtTypes *types, CtTy *type) {
    for (type = ct_types_ty_resolve(type); type->kind == TY_APP; type = ct_types_ty_resolve(type->arg)) {
        CtTy *head = ct_types_ty_resolve(type->fun);
        if (head->kind == TY_META) ct_types_unify(types, head, types->array->type);
    }
}

/* The axes of what a name stands for beside an array. */
static int array_axes(CtTypes *types, const CtExpr *operand) {
    if (operand->kind != EXPR_VAR || !operand->entity || operand->entity->scheme.count > 0) return -1;
    CtTy *type = operand->entity->scheme.type;
    if (!type) return -1;
    take_for_array(types, type);
    return ct_types_axes(types, type);
}

/* Checks an operand by itself, and puts it into arrays if it turns out to have fewer axes. */
static void check_alone(CtTypes *types, CtExpr *app, uint32_t index, CtTy *type, int wanted) {
    CtExpr *operand = app->parts[index];
    CtWhy why = {.kind = WHY_ARGUMENT, .index = index, .fun = app->parts[0], .count = 2};
    uint32_t mark = types->metas.count;
    types->level++;
    CtTy *own = ct_types_ty_meta(types, 0);
    ct_types_check_expr(types, operand, own, &why);
    types->level--;
    take_for_array(types, own);
    ct_types_settle_numbers(types, own, mark);
    int axes = ct_types_axes(types, own);
    if (axes >= 0) own = ct_types_put_in_arrays(types, operand, own, wanted - axes);
    ct_types_ty_expect(types, operand->range, type, own, &why);
}

uint32_t ct_types_broadcast(CtTypes *types, CtExpr *app, CtTy *type) {
    if (app->part_count != 3 || !ct_types_is_arithmetic(types, app->parts[0])) return 0;
    if (ct_types_operands_wait(types, app, type)) return 1U << 1 | 1U << 2;
    int wanted = ct_types_axes(types, type), least = ct_types_least_axes(types, type), axes[2];
    for (uint32_t i = 0; i < 2; i++) {
        axes[i] = known_axes(types, app->parts[i + 1]);
        if (axes[i] > wanted) wanted = axes[i];
        int known = known_least(types, app->parts[i + 1]);
        if (known > least) least = known;
    }
    uint32_t checked = 0;
    for (uint32_t i = 0; i < 2; i++) {
        if (axes[i] < 0 && wanted > 0) axes[i] = array_axes(types, app->parts[i + 1]);
        if (axes[i] >= 0) ct_types_put_in_arrays(types, app->parts[i + 1], NULL, least - axes[i]);
        if (axes[i] >= 0 || wanted <= 0 || !is_open(types, app->parts[i + 1])) continue;
        check_alone(types, app, i + 1, type, wanted);
        checked |= 1U << (i + 1);
    }
    return checked;
}

void ct_types_broadcast_section(CtTypes *types, const CtExpr *op, CtExpr *operand, CtTy *type) {
    int wanted = ct_types_axes(types, type), axes = ct_types_is_arithmetic(types, op) ? known_axes(types, operand) : -1;
    if (axes >= 0) ct_types_put_in_arrays(types, operand, NULL, wanted - axes);
}
