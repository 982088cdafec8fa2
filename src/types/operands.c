/* Operands of arithmetic that wait for their uses. In
 *
 *     descend rate w0 = step w0 where step w = w - rate * gradient w
 *
 * nothing says how many axes `gradient w` has when `rate *` is met, a number: by Haskell's rules both are numbers then,
 * and `step w0` is an error. In the second attempt at a binding group (attempt.c) the types of two operands and of
 * their result are three. They are related as soon as it is known how many axes each has, that with fewer is put into
 * array literals as by broadcast.c, and what nothing determines is taken for one type, as Haskell takes it. A local
 * function without a signature is not generalised over types of operands that wait. */
#include "types/internal.h"

enum { MOST_LEVELS = 200 }; /* of operands in operands */

static bool is_number(CtTypes *types, const CtExpr *expr, uint32_t depth) {
    while (expr->kind == EXPR_NEG) expr = expr->parts[0];
    if (expr->kind != EXPR_APP || expr->part_count != 3 || depth == 0) return expr->kind == EXPR_LIT;
    return ct_types_is_arithmetic(types, expr->parts[0]) && is_number(types, expr->parts[1], depth - 1) &&
           is_number(types, expr->parts[2], depth - 1);
}

bool ct_types_operands_wait(CtTypes *types, CtExpr *app, CtTy *type) {
    if (types->attempt != 2 || types->operand_levels == MOST_LEVELS) return false;
    bool numbers[2];
    for (uint32_t i = 0; i < 2; i++) numbers[i] = is_number(types, app->parts[i + 1], MOST_LEVELS);
    if (!numbers[0] || !numbers[1]) ct_push(types->arena, &types->sums, type);
    if (numbers[0] || numbers[1]) return false;
    CtOperands operands = {.app = app, .result = type};
    types->operand_levels++;
    for (uint32_t i = 0; i < 2; i++) {
        CtWhy why = {.kind = WHY_ARGUMENT, .index = i + 1, .fun = app->parts[0], .count = 2};
        operands.types[i] = ct_types_ty_meta(types, 0);
        ct_types_check_expr(types, app->parts[i + 1], operands.types[i], &why);
    }
    types->operand_levels--;
    ct_push(types->arena, &types->operands, operands);
    ct_types_operands_settle(types, types->operands.count - 1, false);
    return true;
}

static bool unite(CtTypes *types, CtOperands *operands, CtTy *expected, CtTy *found) {
    if (ct_types_ty_expect(types, operands->app->range, expected, found, NULL)) return true;
    operands->failed = true;
    return false;
}

/* Whether a type is the application of a variable that stands for an array, if it is an operand of arithmetic. */
static bool is_open_array(CtTy *type) {
    static const char *const classes[] = {"Foldable", "Traversable", "Sequence", NULL};
    const CtTy *head = type->kind == TY_APP ? ct_types_ty_resolve(type->fun) : type;
    if (type->kind != TY_APP || head->kind != TY_META) return false;
    for (const CtPred *pred = head->preds; pred; pred = pred->next)
        if (ct_types_class_named(pred->class_, classes)) return true;
    return false;
}

/* The fewest axes that a type has as an operand. */
static int fewest(CtTypes *types, CtTy *type) {
    int axes = 0;
    for (type = ct_types_ty_resolve(type);; type = ct_types_ty_resolve(type->arg), axes++) {
        bool array = ct_types_least_axes(types, type) > 0 || is_open_array(type);
        if (!array) return axes;
    }
}

/* In how many applications of variables or arrays the first type has the second one in it; 0: that is not known. */
static int around(CtTypes *types, CtTy *outer, CtTy *inner) {
    int count = 0;
    inner = ct_types_ty_resolve(inner);
    for (outer = ct_types_ty_resolve(outer); outer != inner; outer = ct_types_ty_resolve(outer->arg), count++)
        if (ct_types_least_axes(types, outer) == 0 && !is_open_array(outer)) return 0;
    return count;
}

static CtTy *in_arrays(CtTypes *types, CtTy *type, int count) {
    for (; count > 0; count--) type = ct_types_ty_app(types, types->array->type, type);
    return type;
}

/* Puts each operand into the array literals that it lacks. */
static void finish(CtTypes *types, CtOperands *operands, int lacks[2]) {
    for (uint32_t i = 0; i < 2; i++) {
        CtTy *type = in_arrays(types, operands->types[i], lacks[i]);
        if (unite(types, operands, operands->result, type))
            ct_types_put_in_arrays(types, operands->app->parts[i + 1], operands->types[i], lacks[i]);
    }
}

/* Relates the types as far as they are known. Returns whether anything came of it; `done`: nothing is left to do. */
static bool relate(CtTypes *types, CtOperands *operands, bool *done) {
    CtTy *result = operands->result;
    int axes[2], least = ct_types_least_axes(types, result);
    for (uint32_t i = 0; i < 2; i++) axes[i] = ct_types_axes(types, operands->types[i]);
    *done = true;
    if (operands->failed) return false;
    if (axes[0] >= 0 && axes[1] >= 0) {
        int most = axes[0] > axes[1] ? axes[0] : axes[1];
        if (least > most) most = least;
        finish(types, operands, (int[2]){most - axes[0], most - axes[1]});
        return true;
    }
    if (ct_types_ty_resolve(operands->types[0]) == ct_types_ty_resolve(operands->types[1])) {
        finish(types, operands, (int[2]){0, 0});
        return true;
    }
    for (uint32_t i = 0; i < 2; i++) {
        int lacks = around(types, operands->types[i], operands->types[1 - i]);
        if (lacks == 0 || !unite(types, operands, operands->types[i], in_arrays(types, operands->types[1 - i], lacks)))
            continue;
        finish(types, operands, i == 0 ? (int[2]){0, lacks} : (int[2]){lacks, 0});
        return true;
    }
    *done = false;
    for (uint32_t i = 0; i < 2; i++) { /* the other operand has more axes than this one: those of the result */
        CtTy *other = ct_types_ty_resolve(operands->types[1 - i]);
        if (axes[i] < 0 || other == ct_types_ty_resolve(result)) continue;
        if (fewest(types, other) <= axes[i] && fewest(types, result) <= axes[i]) continue;
        unite(types, operands, result, other);
        return true;
    }
    return false;
}

/* Takes what is in an array for a number, if it is beside one or beside an array of fewer axes; false: no such array is
 * there. */
static bool take_for_number(CtTypes *types, CtOperands *operands) {
    for (uint32_t i = 0; i < 2; i++) {
        CtTy *type = operands->types[i], *other = operands->types[1 - i];
        int axes = ct_types_axes(types, type), least = fewest(types, other);
        if (axes < 0 || least <= axes) continue;
        for (; axes > 0; axes--) type = ct_types_ty_resolve(type)->arg;
        unite(types, operands, in_arrays(types, type, least), other);
        return true;
    }
    return false;
}

/* Takes a decision where the types do not tell enough. */
static void decide(CtTypes *types, uint32_t mark) {
    CtOperands *items = types->operands.items;
    for (uint32_t i = mark; i < types->operands.count; i++)
        if (take_for_number(types, &items[i])) return;
    CtOperands first = items[mark]; /* Haskell's rule */
    for (uint32_t i = mark + 1; i < types->operands.count; i++) items[i - 1] = items[i];
    types->operands.count--;
    finish(types, &first, (int[2]){0, 0});
}

void ct_types_operands_settle(CtTypes *types, uint32_t mark, bool last) {
    for (bool more = true; more;) {
        more = false;
        uint32_t kept = mark;
        for (uint32_t i = mark; i < types->operands.count; i++) {
            bool done;
            more |= relate(types, &types->operands.items[i], &done);
            if (!done) types->operands.items[kept++] = types->operands.items[i];
        }
        types->operands.count = kept;
        if (more || !last || kept == mark) continue;
        decide(types, mark);
        more = true;
    }
}

bool ct_types_in_arithmetic(const CtTypes *types, const CtTy *variable) {
    for (uint32_t i = 0; i < types->sums.count; i++) {
        CtTy *head = ct_types_ty_resolve(types->sums.items[i]);
        while (head->kind == TY_APP) head = ct_types_ty_resolve(head->fun);
        if (head == variable) return true;
    }
    return false;
}

void ct_types_operands_leave(CtTypes *types, uint32_t mark) {
    for (uint32_t i = mark; i < types->operands.count; i++) {
        const CtOperands *operands = &types->operands.items[i];
        ct_types_lower(operands->result, types->level);
        for (uint32_t j = 0; j < 2; j++) ct_types_lower(operands->types[j], types->level);
    }
}
