/* Type checking of expressions against an expected type (bidirectional). The expected type is passed down to the
 * subexpressions, so that a mismatch is found, and reported, at the innermost expression that causes it.
 *
 * As in resolve.c, C recursion visits all children but one, and a loop continues with that one: the last child or, in a
 * large expression, the largest. This bounds the depth of the C stack.
 */
#include "types/internal.h"

enum { LARGE = 2000 }; /* bytes of source */

bool ct_types_split_fun(CtTypes *types, CtTy *type, CtTy **arg, CtTy **result) {
    if (ct_types_ty_is_fun(types, type, arg, result)) return true;
    type = ct_types_ty_resolve(type);
    if (type->is_error) {
        *arg = *result = type;
        return true;
    }
    CtTy *head = type; /* the m of m a may be ((->) r), as in join (*) 5 */
    while (head->kind == TY_APP) head = ct_types_ty_resolve(head->fun);
    if (head->kind != TY_META) return false;
    for (const CtPred *pred = head->preds; pred; pred = pred->next)
        if (!ct_types_instance_find(pred->class_, types->fun)) return false;
    *arg = ct_types_ty_meta(types, 0);
    *result = ct_types_ty_meta(types, 0);
    return ct_types_unify(types, type, ct_types_ty_fun(types, *arg, *result)) == UNIFY_OK;
}

/* ---- names ---- */

static void note_inner_use(CtTypes *types, CtExpr *expr, CtEntity *entity) {
    CtBindInfo *info = entity->infer;
    if (entity == types->own_method)
        ct_push(types->arena, &types->method_uses, ((CtMethodUse){expr, types->own_tycon}));
    if (!info || !info->signature) return;
    CtBindInfo *user = info->active ? info : NULL;
    /* component numbers are unique only within one module, so the frames are compared first */
    const CtBindInfo *top = types->top_user;
    if (!user && top && info->frame == top->frame && info->component == top->component) user = types->top_user;
    if (user) ct_push(types->arena, &types->inner_uses, (CtInnerUse){entity, expr, user, false});
}

/* Records the types at which a function of Derivatives is used: ct_types_default prefers Double for their unsolved
 * variables, as in `jacobian sort [|3, 1, 2|]`. */
static void note_points(CtTypes *types, const CtExpr *expr) {
    if (types->is_library || !expr->entity->module || strcmp(expr->entity->module, "Derivatives") != 0) return;
    for (uint32_t i = 0; i < expr->inst_count; i++) ct_push(types->arena, &types->points, expr->inst[i]);
}

/* Takes the types behind a name, `read @Int`, for those at which it is used. */
static void take_type_arguments(CtTypes *types, CtExpr *expr) {
    if (!expr->at) return;
    if (expr->at->count > expr->inst_count) {
        ct_error(types->context, CT_E0314, expr->range, "the type of `%s` has %u variable%s, but %u types are given",
                 expr->name.text->text, expr->inst_count, expr->inst_count == 1 ? "" : "s", expr->at->count);
        return;
    }
    for (uint32_t i = 0; i < expr->at->count; i++) {
        const CtQualType *given = &expr->at->types[i];
        if (!given->type) continue;
        CtTyVars vars = {.open = false, .scoped = given->scoped};
        uint32_t missing = ct_types_ty_resolve(expr->inst[i])->kind == TY_META ? expr->inst[i]->arity : 0;
        ct_types_ty_expect(types, given->type->range, expr->inst[i],
                           ct_types_convert_partial(types, &vars, given->type, missing), NULL);
    }
}

static CtTy *variable_type(CtTypes *types, CtExpr *expr) {
    CtEntity *entity = expr->entity;
    expr->inst = NULL;
    expr->inst_count = 0;
    if (!entity || !entity->scheme.type) return types->error;
    if (!entity->scheme.count) return entity->scheme.type;
    expr->inst_count = entity->scheme.count;
    expr->inst = CT_NEW_ARRAY(types->arena, CtTy *, expr->inst_count);
    CtTy *type = ct_types_instantiate_at(types, &entity->scheme, expr->inst, expr->range);
    take_type_arguments(types, expr);
    note_inner_use(types, expr, entity);
    note_points(types, expr);
    ct_types_note_written(types, expr, &entity->scheme);
    return type;
}

static CtTy *con_type(CtTypes *types, CtExpr *expr) {
    CtDataCon *con = expr->con;
    if (!con) return types->error;
    expr->inst = ct_types_con_inst(types, con, &expr->inst_count, expr->range);
    take_type_arguments(types, expr);
    CtTy *type = ct_types_ty_con(types, con->tycon, expr->inst, con->tycon->arity);
    for (uint32_t i = con->arity; i > 0; i--)
        type = ct_types_ty_fun(types, ct_types_con_field(types, con, i - 1, expr->inst), type);
    return type;
}

/* The type of the function of an application. A name's type is used directly, without a fresh unification variable. */
static CtTy *head_type(CtTypes *types, CtExpr *expr) {
    if (expr->kind == EXPR_VAR) return expr->type = variable_type(types, expr);
    if (expr->kind == EXPR_CON) return expr->type = con_type(types, expr);
    CtTy *type = ct_types_ty_meta(types, 0);
    ct_types_check_expr(types, expr, type, NULL);
    return type;
}

/* Makes `expr` a use of a hidden function instantiated at `type`, and solves its class constraints; false if this
 * fails. */
static bool use_hidden(CtTypes *types, CtExpr *expr, CtHidden hidden, CtTy *type) {
    expr->entity = ct_types_hidden(types, hidden, expr->range);
    if (!expr->entity) return false;
    expr->inst_count = 1;
    expr->inst = CT_NEW_ARRAY(types->arena, CtTy *, 1);
    expr->inst[0] = type;
    for (CtPred *pred = expr->entity->scheme.count ? expr->entity->scheme.generics[0]->preds : NULL; pred;
         pred = pred->next)
        if (!ct_types_solve(types, pred->class_, type, expr->range, false)) return false;
    return true;
}

/* Whether a literal is the exponent of the library's ^ or ^^. It is then an Int unless something else determines its
 * type: an Integer, the default, gives the same power more slowly. */
static bool is_exponent(const CtExpr *lit, const CtWhy *why) {
    if (lit->lit.digits || !why || why->kind != WHY_ARGUMENT || why->index != 2) return false;
    const CtEntity *entity = why->fun && why->fun->kind == EXPR_VAR ? why->fun->entity : NULL;
    if (!entity || !entity->module || strcmp(entity->module, "Prelude") != 0) return false;
    return strcmp(entity->name->text, "^") == 0 || strcmp(entity->name->text, "^^") == 0;
}

static void check_number(CtTypes *types, CtExpr *expr, CtHidden hidden, CtTy *expected, const CtWhy *why) {
    if (hidden == HIDDEN_FROM_INT && is_exponent(expr, why) && ct_types_ty_resolve(expected)->kind == TY_META)
        ct_types_unify(types, expected, types->int_->type);
    CtEntity *from_int = ct_types_hidden(types, HIDDEN_FROM_INT, expr->range);
    if (from_int && from_int->class_ && !ct_types_literal_fits(types, from_int->class_, expected, expr->range, why))
        return;
    CtEntity *from_double = hidden == HIDDEN_FROM_DOUBLE ? ct_types_hidden(types, hidden, expr->range) : NULL;
    if (from_double && from_double->class_ &&
        !ct_types_fraction_fits(types, from_double->class_, expected, expr->range, why))
        return;
    use_hidden(types, expr, hidden, expected);
}

static void check_literal(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why) {
    switch (expr->lit.kind) {
    case LIT_CHAR: ct_types_ty_expect(types, expr->range, expected, types->char_->type, why); return;
    case LIT_STRING:
        ct_types_ty_expect(types, expr->range, expected, ct_types_ty_list(types, types->char_->type), why);
        return;
    case LIT_INT:
        ct_types_note_large(types, &expr->lit, expected, expr->range, types->negated == expr);
        check_number(types, expr, HIDDEN_FROM_INT, expected, why);
        return;
    case LIT_FRACTION: check_number(types, expr, HIDDEN_FROM_DOUBLE, expected, why); return;
    }
}

/* ---- applications ---- */

/* Whether an argument is checked after the others, which may say what the variables or operands in it are. */
static bool comes_last(const CtExpr *expr) {
    return expr->kind == EXPR_LAM || expr->kind == EXPR_LEFT_SECTION || expr->kind == EXPR_RIGHT_SECTION;
}

static uint32_t pick_tail(const CtExpr *expr, uint32_t first) {
    uint32_t tail = expr->part_count - 1, widest = 0;
    if (expr->range.end - expr->range.start < LARGE) {
        for (uint32_t i = tail; i >= first; i--)
            if (comes_last(expr->parts[i])) return i;
        return tail;
    }
    for (uint32_t i = first; i < expr->part_count; i++) {
        uint32_t width = expr->parts[i]->range.end - expr->parts[i]->range.start;
        if (width >= widest) {
            widest = width;
            tail = i;
        }
    }
    return tail;
}

static CtExpr *check_app(CtTypes *types, CtExpr *expr, CtTy **expected, CtWhy *why) {
    CtExpr *fun = expr->parts[0];
    CtTy *type = head_type(types, fun);
    uint32_t base = types->stack.count, count = expr->part_count - 1;
    ct_types_note_rule(types, expr);
    for (uint32_t i = 0; i < count; i++) {
        CtTy *arg, *result;
        if (!ct_types_split_fun(types, type, &arg, &result)) {
            bool failed = ct_types_ty_failed(type);
            if (!failed) ct_types_report_not_function(types, expr, i, type);
            for (uint32_t j = 0; j < i; j++) types->stack.items[base + j] = types->error; /* which one is too many? */
            arg = result = types->error;
        }
        ct_push(types->arena, &types->stack, arg);
        type = result;
    }
    types->subject = expr;
    if (!ct_types_ty_expect(types, expr->range, *expected, type, why) && ct_types_ty_is_function(types, type))
        for (uint32_t i = 0; i < count; i++) types->stack.items[base + i] = types->error; /* some are missing */
    uint32_t checked = count == 2 ? ct_types_broadcast(types, expr, types->stack.items[base]) : 0;
    uint32_t tail = pick_tail(expr, 1);
    bool refused = false; /* after an argument that does not fit, the others say little */
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 1; i <= count; i++) {
            CtWhy inside = {.kind = WHY_ARGUMENT, .index = i, .fun = fun, .count = count, .refused = &refused};
            CtTy *arg = refused ? types->error : types->stack.items[base + i - 1];
            bool done = count == 2 && (checked & 1U << i) != 0;
            if (i == tail || done || comes_last(expr->parts[i]) != (round == 1)) continue;
            ct_types_check_expr(types, expr->parts[i], arg, &inside);
        }
    }
    *why = (CtWhy){.kind = WHY_ARGUMENT, .index = tail, .fun = fun, .count = count};
    *expected = refused ? types->error : types->stack.items[base + tail - 1];
    types->stack.count = base;
    return count == 2 && (checked & 1U << tail) != 0 ? NULL : expr->parts[tail];
}

static CtExpr *check_section(CtTypes *types, CtExpr *expr, CtTy **expected, CtWhy *why) {
    bool left = expr->kind == EXPR_LEFT_SECTION;
    CtExpr *op = expr->parts[left ? 1 : 0];
    CtTy *first, *second, *rest, *result, *type = head_type(types, op);
    if (!ct_types_split_fun(types, type, &first, &rest) ||
        (!left && !ct_types_split_fun(types, rest, &second, &result))) {
        ct_types_report_not_function(types, expr, 0, type);
        first = second = rest = result = types->error;
    }
    ct_types_ty_expect(types, expr->range, *expected, left ? rest : ct_types_ty_fun(types, first, result), why);
    *expected = left ? first : second;
    *why = (CtWhy){.kind = WHY_ARGUMENT, .index = left ? 1 : 2, .fun = op};
    ct_types_broadcast_section(types, op, expr->parts[left ? 0 : 1], *expected);
    return expr->parts[left ? 0 : 1];
}

/* ---- forms ---- */

/* Goes on with an expression in the scope of patterns; where one has variables of its own, the scope ends behind it. */
static CtExpr *in_branch(CtTypes *types, CtBranch branch, CtExpr *expr, CtTy *expected, const CtWhy *why) {
    if (types->level == branch.level) return expr;
    ct_types_check_expr(types, expr, expected, why);
    ct_types_branch_leave(types, branch);
    return NULL;
}

static CtExpr *check_lambda(CtTypes *types, CtExpr *expr, CtTy **expected, CtWhy *why) {
    CtBranch branch = ct_types_branch_enter(types);
    for (uint32_t i = 0; i < expr->pat_count; i++) {
        CtTy *arg, *result;
        if (!ct_types_split_fun(types, *expected, &arg, &result)) {
            arg = ct_types_ty_meta(types, 0);
            result = ct_types_ty_meta(types, 0);
            ct_types_ty_expect(types, expr->range, *expected, ct_types_ty_fun(types, arg, result), why);
        }
        CtWhy pattern = {.kind = WHY_PATTERN};
        ct_types_check_pat(types, expr->pats[i], arg, &pattern);
        *expected = result;
    }
    ct_types_note_patterns(types, expr->pats, expr->pat_count);
    return in_branch(types, branch, expr->parts[0], *expected, why);
}

static CtExpr *check_if(CtTypes *types, CtExpr *expr, CtTy *expected, CtWhy *why) {
    CtWhy condition = {.kind = WHY_CONDITION};
    ct_types_check_expr(types, expr->parts[0], ct_types_ty_bool(types), &condition);
    bool open = ct_types_ty_resolve(expected)->kind == TY_META;
    ct_types_check_expr(types, expr->parts[1], expected, why);
    if (open) *why = (CtWhy){.kind = WHY_BRANCH, .other = expr->parts[1]->range};
    return expr->parts[2];
}

static void check_case(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why) {
    CtTy *scrutinee = ct_types_check_matched(types, expr->parts[0], false, NULL);
    CtWhy pattern = {.kind = WHY_SCRUTINEE}, later = {.kind = WHY_ALT};
    if (expr->alt_count) later.other = expr->alts[0].rhs.guarded[0].body->range;
    bool open = ct_types_ty_resolve(expected)->kind == TY_META;
    for (uint32_t i = 0; i < expr->alt_count; i++) {
        CtBranch branch = ct_types_branch_enter(types);
        ct_types_check_pat(types, expr->alts[i].pat, scrutinee, &pattern);
        ct_types_check_rhs(types, &expr->alts[i].rhs, expected, i > 0 && open ? &later : why);
        ct_types_branch_leave(types, branch);
    }
    ct_types_note_case(types, expr);
}

static void check_tuple(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why) {
    CtTy **parts = CT_NEW_ARRAY(types->arena, CtTy *, expr->part_count);
    for (uint32_t i = 0; i < expr->part_count; i++) parts[i] = ct_types_ty_meta(types, 0);
    ct_types_ty_expect(types, expr->range, expected, ct_types_ty_tuple(types, parts, expr->part_count), why);
    for (uint32_t i = 0; i < expr->part_count; i++) ct_types_check_expr(types, expr->parts[i], parts[i], why);
}

static void check_tuple_con(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why) {
    expr->inst_count = expr->tuple_size;
    expr->inst = CT_NEW_ARRAY(types->arena, CtTy *, expr->tuple_size);
    for (uint32_t i = 0; i < expr->tuple_size; i++) expr->inst[i] = ct_types_ty_meta(types, 0);
    CtTy *type = ct_types_ty_tuple(types, expr->inst, expr->tuple_size);
    for (uint32_t i = expr->tuple_size; i > 0; i--) type = ct_types_ty_fun(types, expr->inst[i - 1], type);
    ct_types_ty_expect(types, expr->range, expected, type, why);
}

static void check_elements(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why) {
    CtTy *element = ct_types_ty_meta(types, 0);
    CtTyCon *con = expr->kind == EXPR_LIST ? types->list : types->array;
    ct_types_ty_expect(types, expr->range, expected, ct_types_ty_app(types, con->type, element), why);
    CtWhy later = {.kind = WHY_ELEMENT};
    if (expr->part_count) later.other = expr->parts[0]->range;
    bool open = ct_types_ty_resolve(element)->kind == TY_META;
    CtTy *inner = element;
    uint32_t mark = types->metas.count;
    const CtExpr *number = expr->kind == EXPR_ARRAY ? ct_types_find_number(types, expr) : NULL;
    bool alone = open && expr->kind == EXPR_ARRAY; /* to see whether anything outside says what the elements are */
    if (alone) {
        types->level++;
        inner = ct_types_ty_meta(types, 0);
    }
    for (uint32_t i = 0; i < expr->part_count; i++)
        ct_types_check_expr(types, expr->parts[i], inner, i > 0 && open ? &later : why);
    if (alone) {
        types->level--;
        ct_types_settle_numbers(types, ct_types_ty_app(types, types->array->type, inner), mark);
        ct_types_ty_expect(types, expr->range, element, inner, why);
    }
    if (number != NULL) ct_types_note_number(types, number, element);
}

static void check_range(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why) {
    static const CtHidden forms[] = {HIDDEN_ENUM_FROM, HIDDEN_ENUM_FROM_THEN, HIDDEN_ENUM_FROM_TO,
                                     HIDDEN_ENUM_FROM_THEN_TO};
    CtTy *element = ct_types_ty_meta(types, 0);
    ct_types_ty_expect(types, expr->range, expected, ct_types_ty_list(types, element), why);
    CtWhy inside = {.kind = WHY_RANGE};
    for (uint32_t i = 0; i < expr->part_count; i++)
        if (expr->parts[i]) ct_types_check_expr(types, expr->parts[i], element, &inside);
    bool then = expr->part_count > 1 && expr->parts[1], to = expr->part_count > 2 && expr->parts[2];
    use_hidden(types, expr, forms[(then ? 1 : 0) + (to ? 2 : 0)], element);
}

/* The type variables of an annotation are universally quantified. They are checked as unification variables of an inner
 * level. Afterwards they must still be unsolved, distinct, and without class constraints that the annotation does not
 * imply; otherwise the annotation is too general. Finally the annotated type is unified with the expected type. */
static void check_annotation(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why) {
    CtTyVars vars = {.open = true, .flexible = true, .scoped = expr->annot->scoped, .whole = expr->annot->type};
    types->level++;
    ct_types_convert_context(types, &vars, expr->annot->constraints, expr->annot->constraint_count);
    CtTy *type = ct_types_convert_type(types, &vars, expr->annot->type);
    CtPred **given = CT_NEW_ARRAY(types->arena, CtPred *, vars.made.count);
    for (uint32_t i = 0; i < vars.made.count; i++) {
        for (CtPred *pred = vars.made.items[i]->preds; pred; pred = pred->next) {
            CtPred *copy = CT_NEW(types->arena, CtPred);
            *copy = (CtPred){pred->class_, pred->others, pred->range, given[i]};
            given[i] = copy;
        }
    }
    CtWhy inside = {.kind = WHY_ANNOTATION};
    uint32_t operands = types->operands.count;
    ct_types_check_expr(types, expr->parts[0], type, &inside);
    if (vars.made.count > 0) ct_types_operands_settle(types, operands, true);
    types->level--;
    for (uint32_t i = 0; i < vars.made.count; i++) {
        CtTy *end = ct_types_ty_resolve(vars.made.items[i]);
        bool sound = end->kind == TY_META && end->level > types->level;
        for (uint32_t j = 0; j < i; j++) sound &= end != ct_types_ty_resolve(vars.made.items[j]);
        for (CtPred *pred = sound ? end->preds : NULL; pred; pred = pred->next) {
            bool found = false;
            for (CtPred *one = given[i]; one; one = one->next)
                found |= ct_types_class_implies(one->class_, pred->class_);
            sound &= found;
        }
        if (sound || end->is_error) continue;
        ct_error(types->context, CT_E0311, expr->range, "the annotation is more general than the expression");
        break;
    }
    ct_types_ty_expect(types, expr->range, expected, type, why);
}

static void check_stmt(CtTypes *types, CtStmt *stmt, bool generator) {
    CtWhy pattern = {.kind = WHY_SCRUTINEE}, guard = {.kind = WHY_GUARD}, source = {.kind = WHY_GENERATOR};
    switch (stmt->kind) {
    case STMT_EXPR: ct_types_check_expr(types, stmt->expr, ct_types_ty_bool(types), &guard); return;
    case STMT_BIND: {
        CtTy *type = ct_types_check_matched(types, stmt->expr, generator, generator ? &source : NULL);
        ct_types_check_pat(types, stmt->pat, type, &pattern);
        return;
    }
    case STMT_LET: ct_types_infer_groups(types, &stmt->decls); return;
    }
}

static CtExpr *check_comprehension(CtTypes *types, CtExpr *expr, CtTy **expected, CtWhy *why) {
    CtTy *element = ct_types_ty_meta(types, 0);
    ct_types_ty_expect(types, expr->range, *expected, ct_types_ty_list(types, element), why);
    CtBranch branch = ct_types_branch_enter(types);
    for (uint32_t i = 0; i < expr->stmt_count; i++) check_stmt(types, &expr->stmts[i], true);
    *expected = element;
    return in_branch(types, branch, expr->parts[0], element, why);
}

void ct_types_check_rhs(CtTypes *types, CtRhs *rhs, CtTy *expected, const CtWhy *why) {
    ct_types_infer_groups(types, &rhs->where);
    CtWhy later = {.kind = WHY_ALT};
    if (rhs->guarded_count) later.other = rhs->guarded[0].body->range;
    bool open = ct_types_ty_resolve(expected)->kind == TY_META;
    for (uint32_t i = 0; i < rhs->guarded_count; i++) {
        CtGuarded *guarded = &rhs->guarded[i];
        CtBranch branch = ct_types_branch_enter(types);
        for (uint32_t j = 0; j < guarded->guard_count; j++) check_stmt(types, &guarded->guards[j], false);
        ct_types_check_expr(types, guarded->body, expected, i > 0 && open ? &later : why);
        ct_types_branch_leave(types, branch);
    }
}

/* Checks one node. Returns the child with which the loop continues, with its expected type in `expected`; NULL if there
 * is none. */
static CtExpr *check_one(CtTypes *types, CtExpr *expr, CtTy **expected, CtWhy *why) {
    CtTy *type = *expected;
    if (ct_types_poly_head(type, NULL) && expr->kind != EXPR_POLY) {
        ct_types_check_poly(types, expr, type, why);
        return NULL;
    }
    expr->type = type;
    types->subject = expr;
    switch (expr->kind) {
    case EXPR_VAR:
        ct_types_ty_expect(types, expr->range, type, expr->type = variable_type(types, expr), why);
        return NULL;
    case EXPR_CON: ct_types_ty_expect(types, expr->range, type, expr->type = con_type(types, expr), why); return NULL;
    case EXPR_LIT: check_literal(types, expr, type, why); return NULL;
    case EXPR_APP: return check_app(types, expr, expected, why);
    case EXPR_NEG:
        if (ct_types_ty_is_function(types, type)) {
            ct_types_report_negative(types, expr, type, why);
            *expected = types->error;
            return expr->parts[0];
        }
        if (!use_hidden(types, expr, HIDDEN_NEGATE, type)) *expected = types->error;
        types->negated = expr->parts[0];
        return expr->parts[0];
    case EXPR_LAM: return check_lambda(types, expr, expected, why);
    case EXPR_LET: ct_types_infer_groups(types, &expr->decls); return expr->parts[0];
    case EXPR_IF: return check_if(types, expr, type, why);
    case EXPR_CASE: check_case(types, expr, type, why); return NULL;
    case EXPR_TUPLE: check_tuple(types, expr, type, why); return NULL;
    case EXPR_TUPLE_CON: check_tuple_con(types, expr, type, why); return NULL;
    case EXPR_LIST:
    case EXPR_ARRAY: check_elements(types, expr, type, why); return NULL;
    case EXPR_RANGE: check_range(types, expr, type, why); return NULL;
    case EXPR_LEFT_SECTION:
    case EXPR_RIGHT_SECTION: return check_section(types, expr, expected, why);
    case EXPR_ANNOT: check_annotation(types, expr, type, why); return NULL;
    case EXPR_COMPREHENSION: return check_comprehension(types, expr, expected, why);
    case EXPR_RECORD: ct_types_check_record(types, expr, type, why); return NULL;
    case EXPR_UPDATE: ct_types_check_update(types, expr, type, why); return NULL;
    case EXPR_POLY: return NULL;  /* made here */
    case EXPR_DO:                 /* gone since names were resolved */
    case EXPR_CHAIN: return NULL; /* and this since fixities were */
    }
    return NULL;
}

void ct_types_check_expr(CtTypes *types, CtExpr *expr, CtTy *expected, const CtWhy *why) {
    CtWhy here = why ? *why : (CtWhy){0};
    while (expr) expr = check_one(types, expr, &expected, &here);
}
