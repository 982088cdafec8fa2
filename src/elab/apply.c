/* Applications. A function of Core takes all its arguments at once, a function of the source language takes them one by
 * one. A saturated call of a function of known arity n becomes a direct call. A partial application evaluates its
 * arguments and becomes nested λs around the direct call. In an over-application the result of the direct call is
 * applied to the surplus arguments. `f $ x`, sections and compositions are reduced to such calls.
 */
#include "elab/internal.h"

CtCore *ct_elab_wrap(CtElab *el, const Lets *lets, CtCore *body) {
    for (uint32_t i = lets->count; i-- > 0;)
        body = ct_core_let(el->program, lets->items[i].range, lets->items[i].var, lets->items[i].rhs, body);
    return body;
}

/* Whether the term can replace its only use without a let, because it makes no difference when it is evaluated:
 * variables, literals, globals, λs, and constructors without fields. */
static bool can_wait(const CtCore *core) {
    switch (core->kind) {
    case CORE_VAR:
    case CORE_LIT:
    case CORE_GLOBAL:
    case CORE_LAM: return true;
    case CORE_CON: return core->as.call.count == 0;
    case CORE_STRING:
    case CORE_APP:
    case CORE_LET:
    case CORE_LETREC:
    case CORE_TUPLE:
    case CORE_PROJ:
    case CORE_UNPACK:
    case CORE_CASE:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL:
    case CORE_FAIL: return false;
    }
    return false;
}

CtCore *ct_elab_atom(CtElab *el, CtSourceRange range, const char *name, CtCore *value, Lets *lets) {
    if (can_wait(value)) return value;
    CtVar *var = ct_core_var_new(el->program, name, value->type);
    ct_push(el->arena, lets, (Pending){var, value, range});
    return ct_core_var(el->program, range, var);
}

CtCore *ct_elab_apply_one(CtElab *el, CtSourceRange range, CtCore *fun, CtCore *arg) {
    if (fun->type->kind != TYPE_FUN || fun->type->count != 2) return ct_elab_error_term(el, range, fun->type);
    return ct_core_app(el->program, range, fun, &arg, 1);
}

CtCore *ct_elab_uncurry(CtElab *el, CtSourceRange range, CtCore *value, Ground *type, uint32_t k) {
    if (k <= 1) return value;
    Lets lets = {0};
    CtCore *fun = ct_elab_atom(el, range, "f", value, &lets);
    CtVar **params = CT_NEW_ARRAY(el->arena, CtVar *, k);
    for (uint32_t i = 0; i < k; i++) {
        Ground *arg = NULL;
        if (!ct_elab_ground_fun(el, type, &arg, &type)) return ct_elab_error_term(el, range, value->type);
        params[i] = ct_core_var_new(el->program, "x", ct_elab_core(el, arg));
        fun = ct_elab_apply_one(el, range, fun, ct_core_var(el->program, range, params[i]));
    }
    return ct_elab_wrap(el, &lets, ct_core_lam(el->program, range, el->name, params, k, fun));
}

/* ---- calls with arguments already elaborated ---- */

static Ground *param_type(CtElab *el, Ground *type, uint32_t index) {
    Ground *arg = NULL;
    for (uint32_t i = 0; i <= index; i++)
        if (!ct_elab_ground_fun(el, type, &arg, &type)) return NULL;
    return arg;
}

static CtCore *adapt(CtElab *el, CtSourceRange range, const Callee *callee, uint32_t index, CtCore *value) {
    uint32_t k = index < callee->arity ? ct_elab_wants(callee, index) : 0;
    return k <= 1 ? value : ct_elab_uncurry(el, range, value, param_type(el, callee->type, index), k);
}

/* A partial application: the given arguments are evaluated first, and each missing argument becomes the parameter of a
 * λ of its own. */
static CtCore *partial(CtElab *el, CtSourceRange range, const Callee *callee, CtCore **args, uint32_t count) {
    Lets lets = {0};
    uint32_t missing = callee->arity - count;
    CtCore **all = CT_NEW_ARRAY(el->arena, CtCore *, callee->arity);
    CtVar **params = CT_NEW_ARRAY(el->arena, CtVar *, missing);
    for (uint32_t i = 0; i < count; i++) all[i] = ct_elab_atom(el, range, "a", args[i], &lets);
    for (uint32_t i = 0; i < missing; i++) {
        params[i] = ct_core_var_new(el->program, "x", ct_elab_core(el, param_type(el, callee->type, count + i)));
        all[count + i] = adapt(el, range, callee, count + i, ct_core_var(el->program, range, params[i]));
    }
    CtCore *body = ct_elab_saturated(el, range, callee, all);
    for (uint32_t i = missing; i-- > 0;) body = ct_core_lam(el->program, range, el->name, &params[i], 1, body);
    return ct_elab_wrap(el, &lets, body);
}

CtCore *ct_elab_call(CtElab *el, CtSourceRange range, const Callee *callee, CtCore **args, uint32_t count) {
    if (count < callee->arity) return partial(el, range, callee, args, count);
    CtCore *core = ct_elab_saturated(el, range, callee, args);
    for (uint32_t i = callee->arity; i < count; i++) core = ct_elab_apply_one(el, range, core, args[i]);
    return core;
}

/* ---- applications as written ---- */

typedef struct Spine { /* the application `head a b c`, with its nested applications flattened */
    CtExpr *head;
    CT_VEC(CtExpr *) args; /* in reverse order */
} Spine;

/* Flattens nested applications; type annotations, left sections and `f $ x` around the head are part of the spine. */
static Spine spine_of(CtElab *el, CtExpr *expr) {
    Spine spine = {.head = expr};
    for (;;) {
        CtExpr *head = spine.head;
        if (head->kind == EXPR_APP) {
            for (uint32_t i = head->part_count; i-- > 1;) ct_push(el->arena, &spine.args, head->parts[i]);
            spine.head = head->parts[0];
        } else if (head->kind == EXPR_LEFT_SECTION) {
            ct_push(el->arena, &spine.args, head->parts[0]);
            spine.head = head->parts[1];
        } else if (head->kind == EXPR_ANNOT) {
            spine.head = head->parts[0];
        } else if (spine.args.count > 0 && ct_elab_is_named(el, head, "$")) {
            spine.head = spine.args.items[--spine.args.count];
        } else {
            return spine;
        }
    }
}

static CtExpr *spine_arg(const Spine *spine, uint32_t index) {
    return spine->args.items[spine->args.count - 1 - index];
}

static bool is_name(const CtExpr *expr) {
    return expr->kind == EXPR_VAR || expr->kind == EXPR_CON || expr->kind == EXPR_TUPLE_CON;
}

/* ---- functions made ready to be called ---- */

/* A function expression that is ready to be called: the terms that must be evaluated before the call have been bound by
 * lets. */
typedef struct Ready {
    enum { READY_CALLEE, READY_LAMBDA, READY_COMPOSE } kind;
    Callee callee;
    CtCore **given; /* the arguments of a partial application, adapted to the callee */
    uint32_t given_count;
    bool hole;                   /* a right section: `given` holds the second argument, the first is missing */
    CtExpr *lambda;              /* READY_LAMBDA: its body is elaborated at the only call */
    struct Ready *outer, *inner; /* READY_COMPOSE */
    CtSourceRange range;
} Ready;

static void ready(CtElab *el, CtExpr *expr, Lets *lets, Ready *out);
static CtCore *nary(CtElab *el, CtExpr *expr, uint32_t k, Lets *lets);

/* Elaborates argument `index`, uncurried if the callee wants that. Bindings that this needs are added to `lets`; in
 * that case the arguments in `before` are let-bound first, so that arguments are still evaluated from left to right. */
static CtCore *argument(CtElab *el, const Callee *callee, uint32_t index, CtExpr *expr, CtCore **before, Lets *lets) {
    uint32_t k = index < callee->arity ? ct_elab_wants(callee, index) : 0;
    if (k == 0) return ct_elab_expr(el, expr);
    Lets own = {0};
    CtCore *core = nary(el, expr, k, &own);
    if (own.count == 0) return core;
    for (uint32_t i = 0; i < index; i++) before[i] = ct_elab_atom(el, before[i]->range, "a", before[i], lets);
    for (uint32_t i = 0; i < own.count; i++) ct_push(el->arena, lets, own.items[i]);
    return core;
}

static void ready_value(CtElab *el, CtExpr *expr, CtCore *value, Lets *lets, Ready *out) {
    out->kind = READY_CALLEE;
    out->callee = (Callee){.kind = CALLEE_VALUE, .type = ct_elab_ground(el, expr->type)};
    out->callee.value = ct_elab_atom(el, expr->range, "f", value, lets);
}

static void ready_section(CtElab *el, CtExpr *expr, Lets *lets, Ready *out) {
    out->callee = ct_elab_callee(el, expr->parts[0]);
    out->hole = true;
    out->given_count = 1;
    out->given = CT_NEW(el->arena, CtCore *);
    uint32_t k = out->callee.arity > 1 ? ct_elab_wants(&out->callee, 1) : 0;
    CtCore *given = k == 0 ? ct_elab_expr(el, expr->parts[1]) : nary(el, expr->parts[1], k, lets);
    out->given[0] = ct_elab_atom(el, expr->range, "a", given, lets);
}

static void ready_spine(CtElab *el, CtExpr *expr, const Spine *spine, Lets *lets, Ready *out) {
    out->callee = ct_elab_callee(el, spine->head);
    uint32_t count = spine->args.count;
    if (count > 0 && count >= out->callee.arity) {
        ready_value(el, expr, ct_elab_app(el, expr), lets, out);
        return;
    }
    out->given_count = count;
    out->given = CT_NEW_ARRAY(el->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) {
        CtExpr *arg = spine_arg(spine, i);
        CtCore *given = argument(el, &out->callee, i, arg, out->given, lets);
        out->given[i] = ct_elab_atom(el, arg->range, "a", given, lets);
    }
}

static void ready(CtElab *el, CtExpr *expr, Lets *lets, Ready *out) {
    *out = (Ready){.kind = READY_CALLEE, .range = expr->range};
    Spine spine = spine_of(el, expr);
    if (spine.head->kind == EXPR_LAM && spine.args.count == 0) {
        out->kind = READY_LAMBDA;
        out->lambda = spine.head;
    } else if (spine.head->kind == EXPR_RIGHT_SECTION && spine.args.count == 0) {
        ready_section(el, spine.head, lets, out);
    } else if (spine.args.count == 2 && ct_elab_is_named(el, spine.head, ".")) {
        if (ct_elab_too_deep(el, expr->range)) {
            CtType *type = ct_elab_core_of(el, expr->type);
            ready_value(el, expr, ct_elab_error_term(el, expr->range, type), lets, out);
            return;
        }
        out->kind = READY_COMPOSE;
        out->outer = CT_NEW(el->arena, Ready);
        out->inner = CT_NEW(el->arena, Ready);
        ready(el, spine_arg(&spine, 0), lets, out->outer);
        ready(el, spine_arg(&spine, 1), lets, out->inner);
        el->depth--;
    } else if (is_name(spine.head)) {
        ready_spine(el, expr, &spine, lets, out);
    } else {
        ready_value(el, expr, ct_elab_expr(el, expr), lets, out);
    }
}

/* ---- calling what is ready ---- */

static CtVar *as_column(CtElab *el, CtPat *pat, CtCore *value, Lets *lets) {
    if (value->kind == CORE_VAR) return value->as.var;
    Row row = {.pats = &pat};
    CtVar *var = ct_elab_column(el, &row, 1, 0, value->type);
    ct_push(el->arena, lets, (Pending){var, value, pat->range});
    return var;
}

/* (λp q. e) x y …: the values are matched against the patterns directly. Patterns without a value become parameters of
 * λs around the match; surplus values are applied to the result. */
static CtCore *call_lambda(CtElab *el, CtExpr *lambda, CtCore **values, uint32_t count) {
    Lets lets = {0};
    uint32_t pats = lambda->pat_count, missing = pats > count ? pats - count : 0;
    CtVar **columns = CT_NEW_ARRAY(el->arena, CtVar *, pats);
    Ground *type = ct_elab_ground(el, lambda->type);
    for (uint32_t i = 0; i < pats; i++) {
        Ground *arg = NULL;
        if (!ct_elab_ground_fun(el, type, &arg, &type)) return ct_elab_error_term(el, lambda->range, values[0]->type);
        Row row = {.pats = &lambda->pats[i]};
        columns[i] = i < count ? as_column(el, lambda->pats[i], values[i], &lets)
                               : ct_elab_column(el, &row, 1, 0, ct_elab_core(el, arg));
    }
    Row row = {.pats = CT_NEW_ARRAY(el->arena, CtPat *, pats), .body = lambda->parts[0], .range = lambda->range};
    memcpy(row.pats, lambda->pats, pats * sizeof *row.pats);
    Fail fail = {.text = "the pattern of this λ does not match", .range = lambda->range};
    CtVar **params = columns + pats - missing;
    CtVar **kept = CT_NEW_ARRAY(el->arena, CtVar *, missing);
    for (uint32_t i = 0; i < missing; i++) kept[i] = params[i];
    CtCore *core = ct_elab_match(el, columns, pats, &row, 1, &fail, ct_elab_core(el, type));
    for (uint32_t i = missing; i-- > 0;) core = ct_core_lam(el->program, lambda->range, el->name, &kept[i], 1, core);
    for (uint32_t i = pats; i < count; i++) core = ct_elab_apply_one(el, lambda->range, core, values[i]);
    return ct_elab_wrap(el, &lets, core);
}

/* Calls a function with n ≥ 1 values. A value that is a function is curried, and is adapted to the callee here. */
static CtCore *invoke(CtElab *el, Ready *fun, CtCore **values, uint32_t n) {
    if (fun->kind == READY_LAMBDA) return call_lambda(el, fun->lambda, values, n);
    CtCore **args = CT_NEW_ARRAY(el->arena, CtCore *, fun->given_count + n + 1);
    if (fun->kind == READY_COMPOSE) {
        memcpy(args, values, n * sizeof *args);
        args[0] = invoke(el, fun->inner, values, 1);
        return invoke(el, fun->outer, args, n);
    }
    uint32_t count = 0, used = 0;
    if (fun->hole) args[count++] = values[used++];
    for (uint32_t i = 0; i < fun->given_count; i++) args[count++] = fun->given[i];
    while (used < n) args[count++] = values[used++];
    for (uint32_t i = 0; i < count; i++) {
        bool given = fun->hole ? i >= 1 && i <= fun->given_count : i < fun->given_count;
        if (!given) args[i] = adapt(el, fun->range, &fun->callee, i, args[i]);
    }
    return ct_elab_call(el, fun->range, &fun->callee, args, count);
}

static CtVar *param_for(CtElab *el, const Ready *fun, uint32_t index, CtType *type) {
    while (fun->kind == READY_COMPOSE && index == 0) fun = fun->inner;
    if (fun->kind != READY_LAMBDA || index >= fun->lambda->pat_count) return ct_core_var_new(el->program, "x", type);
    Row row = {.pats = &fun->lambda->pats[index]};
    return ct_elab_column(el, &row, 1, 0, type);
}

/* The function itself when it is already a global, a local or a value that takes k arguments at once; else NULL. */
static CtCore *as_it_is(CtElab *el, const Ready *fun, uint32_t k) {
    if (fun->kind != READY_CALLEE || fun->given_count > 0 || fun->callee.params != NULL) return NULL;
    const Callee *callee = &fun->callee;
    if (callee->kind == CALLEE_VALUE && k == 1) return callee->value;
    if (callee->arity != k) return NULL;
    for (uint32_t i = 0; i < k; i++)
        if (ct_elab_wants(callee, i) > 1) return NULL;
    if (callee->kind == CALLEE_GLOBAL) return ct_core_global(el->program, fun->range, callee->spec->global);
    if (callee->kind == CALLEE_LOCAL) return ct_core_var(el->program, fun->range, callee->local->var);
    return NULL;
}

static CtCore *nary(CtElab *el, CtExpr *expr, uint32_t k, Lets *lets) {
    Ready fun;
    ready(el, expr, lets, &fun);
    CtCore *whole = as_it_is(el, &fun, k);
    if (whole != NULL) return whole;
    Ground *type = ct_elab_ground(el, expr->type);
    CtVar **params = CT_NEW_ARRAY(el->arena, CtVar *, k);
    CtCore **values = CT_NEW_ARRAY(el->arena, CtCore *, k);
    for (uint32_t i = 0; i < k; i++) {
        Ground *arg = NULL;
        if (!ct_elab_ground_fun(el, type, &arg, &type))
            return ct_elab_error_term(el, expr->range, ct_elab_core(el, type));
        params[i] = param_for(el, &fun, i, ct_elab_core(el, arg));
        values[i] = ct_core_var(el->program, expr->range, params[i]);
    }
    CtCore *body = invoke(el, &fun, values, k);
    return ct_core_lam(el->program, expr->range, el->name, params, k, body);
}

CtCore *ct_elab_nary(CtElab *el, CtExpr *expr, uint32_t k) {
    Lets lets = {0};
    CtCore *core = nary(el, expr, k, &lets);
    return ct_elab_wrap(el, &lets, core);
}

/* ---- the forms of application ---- */

CtCore *ct_elab_call_exprs(CtElab *el, CtSourceRange range, const Callee *callee, CtExpr **args, uint32_t count) {
    Lets lets = {0};
    CtCore **cores = CT_NEW_ARRAY(el->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) cores[i] = argument(el, callee, i, args[i], cores, &lets);
    CtCore *call = ct_elab_call(el, range, callee, cores, count);
    return ct_elab_wrap(el, &lets, call);
}

/* a && b and a || b become conditionals, which evaluate b only when a does not decide the result. */
static CtCore *shortcut(CtElab *el, CtSourceRange range, const Spine *spine, bool is_and) {
    CtCore *left = ct_elab_expr(el, spine_arg(spine, 0));
    CtCore *right = ct_elab_expr(el, spine_arg(spine, 1));
    CtCore *known = ct_core_bool(el->program, range, !is_and);
    return is_and ? ct_core_if(el->program, range, left, right, known)
                  : ct_core_if(el->program, range, left, known, right);
}

/* Calls `function`, which is a λ, a composition or a section, with the arguments. */
static CtCore *call_ready(CtElab *el, CtExpr *function, CtExpr **args, uint32_t count) {
    Lets lets = {0};
    Ready fun;
    ready(el, function, &lets, &fun);
    CtCore **values = CT_NEW_ARRAY(el->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) values[i] = ct_elab_expr(el, args[i]);
    CtCore *call = invoke(el, &fun, values, count);
    return ct_elab_wrap(el, &lets, call);
}

static CtCore *call_composed(CtElab *el, CtExpr *expr, const Spine *spine, CtExpr **args) {
    CtExpr *composed = CT_NEW(el->arena, CtExpr);
    CtExpr *parts[] = {spine->head, args[0], args[1]};
    *composed = (CtExpr){.kind = EXPR_APP, .range = expr->range, .part_count = 3, .type = NULL};
    composed->parts = CT_NEW_ARRAY(el->arena, CtExpr *, 3);
    memcpy(composed->parts, parts, sizeof parts);
    return call_ready(el, composed, args + 2, spine->args.count - 2);
}

CtCore *ct_elab_app(CtElab *el, CtExpr *expr) {
    CtCore *chain = ct_elab_chain(el, expr);
    if (chain != NULL) return chain;
    CtExpr *each = ct_elab_operands(el, expr);
    if (each != NULL) expr = each;
    Spine spine = spine_of(el, expr);
    CtExpr *head = spine.head;
    uint32_t count = spine.args.count;
    CtExpr **args = CT_NEW_ARRAY(el->arena, CtExpr *, count);
    for (uint32_t i = 0; i < count; i++) args[i] = spine_arg(&spine, i);
    if (count == 2 && ct_elab_is_named(el, head, "&&")) return shortcut(el, expr->range, &spine, true);
    if (count == 2 && ct_elab_is_named(el, head, "||")) return shortcut(el, expr->range, &spine, false);
    if (count >= 3 && ct_elab_is_named(el, head, ".")) return call_composed(el, expr, &spine, args);
    if (count == 2 && ct_elab_is_named(el, head, ".")) return ct_elab_nary(el, expr, 1);
    if (is_name(head)) {
        Callee callee = ct_elab_callee(el, head);
        if (count < callee.arity) return ct_elab_nary(el, expr, 1);
        return ct_elab_call_exprs(el, expr->range, &callee, args, count);
    }
    if (head->kind == EXPR_LAM && (count == 0 || count < head->pat_count)) {
        if (count == 0) return ct_elab_nary(el, head, 1);
    } else if (count > 0 && (head->kind == EXPR_LAM || head->kind == EXPR_RIGHT_SECTION)) {
        return call_ready(el, head, args, count);
    } else if (count == 0 && head->kind == EXPR_RIGHT_SECTION) {
        return ct_elab_nary(el, head, 1);
    }
    CtCore *core = ct_elab_expr(el, head);
    for (uint32_t i = 0; i < count; i++) core = ct_elab_apply_one(el, expr->range, core, ct_elab_expr(el, args[i]));
    return core;
}
