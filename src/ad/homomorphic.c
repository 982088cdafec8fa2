/* The part that all methods share: D on types, and D on terms that do not use a method's state (all terms, for methods
 * without a state). It is homomorphic except for reals, real literals and primitives on reals (DELTA Fig. 3, DUAL Fig.
 * 5). Terms that use a state are in state_monad.c. */
#include "ad/internal.h"

#include <math.h>

CtTransform ct_ad_transform(CtAd *ad, CtMethod method) {
    return (CtTransform){
        .ad = ad, .p = ad->p, .method = method, .rules = ad->rules[method], .state = ct_ad_state(ad, method)};
}

CtType *ct_ad_state(CtAd *ad, CtMethod method) {
    if (!ad->rules[method]->state) return NULL;
    if (!ad->states[method]) ad->states[method] = ad->rules[method]->state(ad);
    return ad->states[method];
}

/* ---- types ---- */

static CtType *data_type(CtAd *ad, CtMethod method, CtType *type);

/* D[(σ) → τ] = (Dσ) → Dτ; with a state (Dσ, S) → (Dτ, S). */
static CtType *function_type(CtAd *ad, CtMethod method, CtType *type) {
    if (ad->rules[method]->function) return ad->rules[method]->function(ad, method, type);
    uint32_t count = type->count - 1;
    CtType *state = ct_ad_state(ad, method);
    CtType **params = CT_NEW_ARRAY(ad->arena, CtType *, count + 1);
    for (uint32_t i = 0; i < count; i++) params[i] = ct_ad_type(ad, method, type->parts[i]);
    CtType *result = ct_ad_type(ad, method, type->parts[count]);
    if (!state) return ct_core_type_fun(ad->p, params, count, result);
    params[count] = state;
    return ct_core_type_fun(ad->p, params, count + 1, ct_core_type_pair(ad->p, result, state));
}

static CtType *make_type(CtAd *ad, CtMethod method, CtType *type) {
    switch (type->kind) {
    case TYPE_DOUBLE:
    case TYPE_FLOAT: return ad->rules[method]->real(ad, type);
    case TYPE_INT:
    case TYPE_CHAR: return type;
    case TYPE_TUPLE: {
        CtType **parts = CT_NEW_ARRAY(ad->arena, CtType *, type->count);
        for (uint32_t i = 0; i < type->count; i++) parts[i] = ct_ad_type(ad, method, type->parts[i]);
        return ct_core_type_tuple(ad->p, parts, type->count);
    }
    case TYPE_ARRAY: return ct_core_type_array(ad->p, ct_ad_type(ad, method, type->parts[0]));
    case TYPE_FUN: return function_type(ad, method, type);
    case TYPE_DATA: return data_type(ad, method, type);
    }
    return type;
}

/* Whether D leaves a type unchanged. If the method leaves reals unchanged, that is all types without functions. */
static bool is_same(CtAd *ad, CtMethod method, CtType *type) {
    if (ct_is_discrete(type)) return true;
    CtType *real = ad->p->double_type;
    return !ct_core_type_has_fun(type) && ad->rules[method]->real(ad, real) == real;
}

CtType *ct_ad_type(CtAd *ad, CtMethod method, CtType *type) {
    CtType *made = ct_map_get(&ad->types[method], ct_key(type));
    if (made) return made;
    made = is_same(ad, method, type) ? type : make_type(ad, method, type);
    ct_map_set(ad->arena, &ad->types[method], ct_key(type), made);
    return made;
}

/* D of a data type is a data type of its own. It is registered before its fields are known, because they may be
 * recursive. */
static CtType *data_type(CtAd *ad, CtMethod method, CtType *type) {
    CtData *data = type->data;
    CtType **args = CT_NEW_ARRAY(ad->arena, CtType *, data->arg_count);
    CtType *made = ct_core_type_data(ad->p, data->name, args, data->arg_count, data->is_newtype);
    ct_map_set(ad->arena, &ad->types[method], ct_key(type), made);
    made->data->method = ct_core_method_name(method);
    made->data->origin = type;
    made->data->is_library = data->is_library;
    CtType **kept = made->data->args;
    for (uint32_t i = 0; i < data->arg_count; i++) {
        args[i] = ct_ad_type(ad, method, data->args[i]);
        if (kept) kept[i] = args[i];
    }
    CtCon *cons = CT_NEW_ARRAY(ad->arena, CtCon, data->con_count);
    for (uint32_t c = 0; c < data->con_count; c++) {
        cons[c] = data->cons[c];
        cons[c].fields = CT_NEW_ARRAY(ad->arena, CtType *, data->cons[c].count);
        for (uint32_t i = 0; i < data->cons[c].count; i++)
            cons[c].fields[i] = ct_ad_type(ad, method, data->cons[c].fields[i]);
    }
    ct_core_data_set_cons(ad->p, made->data, cons, data->con_count);
    return made;
}

CtCon *ct_ad_con(CtTransform *t, CtCon *con) {
    return &ct_ad_type(t->ad, t->method, con->data->type)->data->cons[con->tag];
}

/* ---- variables, λ, globals ---- */

CtVar *ct_ad_bind(CtTransform *t, CtVar *var) {
    if (!var) return NULL;
    CtVar *fresh = ct_core_var_like(t->p, var, ct_ad_type(t->ad, t->method, var->type));
    ct_map_set(t->ad->arena, &t->vars, ct_key(var), fresh);
    return fresh;
}

CtVar *ct_ad_var(CtTransform *t, CtVar *var) { return ct_map_get(&t->vars, ct_key(var)); }

static CtVar **bind_all(CtTransform *t, CtVar *const *vars, uint32_t count, uint32_t extra) {
    CtVar **fresh = CT_NEW_ARRAY(t->ad->arena, CtVar *, count + extra);
    for (uint32_t i = 0; i < count; i++) fresh[i] = ct_ad_bind(t, vars[i]);
    return fresh;
}

/* λ(⟨x⟩, s). D[body] */
static CtCore *homomorphic_lambda(CtTransform *t, CtCore *core) {
    CtLam *lam = core->as.lam;
    uint32_t count = lam->count;
    CtVar **params = bind_all(t, lam->params, count, 1);
    CtCore *body;
    if (t->state) {
        params[count] = ct_core_var_new(t->p, "s", t->state);
        CtSeq seq = ct_ad_seq(t->p, params[count++]);
        body = ct_ad_lift_tail(t, &seq, lam->body);
    } else
        body = ct_ad_direct(t, lam->body);
    return ct_core_lam(t->p, core->range, lam->name, params, count, body);
}

CtCore *ct_ad_lambda(CtTransform *t, CtCore *core) {
    CtLam *lam = core->as.lam;
    if (!lam->captures_known) ct_core_captures(t->p, lam);
    CtCore *made = t->rules->lambda ? t->rules->lambda(t, core) : homomorphic_lambda(t, core);
    made = ct_core_simplify_term(t->p, made); /* later it must not be changed, because it has an origin */
    CtLam *fresh = made->as.lam;
    fresh->origin = lam;
    fresh->method = t->method;
    fresh->capture_count = lam->capture_count;
    fresh->captures = CT_NEW_ARRAY(t->ad->arena, CtVar *, lam->capture_count);
    for (uint32_t i = 0; i < lam->capture_count; i++) fresh->captures[i] = ct_ad_var(t, lam->captures[i]);
    fresh->captures_known = true;
    return made;
}

void ct_ad_letrec(CtTransform *t, CtSeq *seq, CtSourceRange range, const CtBind *binds, uint32_t count) {
    CtBind *fresh = CT_NEW_ARRAY(t->ad->arena, CtBind, count);
    for (uint32_t i = 0; i < count; i++) fresh[i].var = ct_ad_bind(t, binds[i].var);
    for (uint32_t i = 0; i < count; i++) fresh[i].lam = ct_ad_lambda(t, binds[i].lam);
    ct_ad_seq_letrec(seq, range, fresh, count);
}

CtCore *ct_ad_global_ref(CtTransform *t, CtCore *core) {
    CtGlobal *global = ct_ad_global_later(t->ad, t->method, core->as.global);
    return global == core->as.global ? core : ct_core_global(t->p, core->range, global);
}

/* The reals that a function of discrete arguments returns do not vary. A structure of them would have to be embedded at
 * each call, so only single results are worth it. */
bool ct_ad_is_discrete_call(const CtCore *core) {
    const CtCore *fun = core->as.call.of.fun;
    if (fun->kind != CORE_GLOBAL) return false;
    const CtType *type = fun->type;
    for (uint32_t i = 0; i + 1 < type->count; i++)
        if (!ct_is_discrete(type->parts[i])) return false;
    CtType *result = type->parts[type->count - 1];
    return ct_ad_is_real(result) || ct_is_discrete(result);
}

CtCore *ct_ad_discrete_call(CtTransform *t, CtCore *core, CtCore *const *args) {
    CtCore *call = ct_core_app(t->p, core->range, core->as.call.of.fun, args, core->as.call.count);
    return ct_ad_is_real(core->type) ? t->rules->constant(t->ad, core->range, call) : call;
}

/* ---- primitives ---- */

bool ct_ad_is_conversion(CtPrim prim) {
    const CtPrimInfo *info = ct_prim_info(prim);
    return info->arity == 1 &&
           ((info->args[0] == 'D' && info->result == 'F') || (info->args[0] == 'F' && info->result == 'D'));
}

bool ct_ad_is_operation(const CtCore *core) {
    if (core->kind != CORE_PRIM || !ct_ad_is_real(core->type)) return false;
    if (ct_ad_is_conversion(core->as.call.of.prim)) return true;
    const CtPrimInfo *info = ct_prim_info(core->as.call.of.prim);
    if (info->is_zero || !info->has_derivative) return false;
    for (uint32_t i = 0; i < core->as.call.count; i++)
        if (ct_ad_is_real(core->as.call.args[i]->type)) return true;
    return false;
}

/* Builds Core terms from the derivative column of primitives.def. */
typedef struct CoreBuilder {
    CtPrimBuilder base;
    CtProgram *p;
    CtSourceRange range;
    CtType *type;
} CoreBuilder;

static CtPrimTerm build_number(CtPrimBuilder *self, double value) {
    CoreBuilder *b = (CoreBuilder *)self;
    return ct_core_real(b->p, b->range, b->type, value);
}

static CtPrimTerm build_prim(CtPrimBuilder *self, CtPrim prim, CtPrimTerm *args, uint32_t count) {
    CoreBuilder *b = (CoreBuilder *)self;
    CtCore *cores[2] = {NULL, NULL};
    for (uint32_t i = 0; i < count; i++) cores[i] = args[i];
    return ct_core_prim(b->p, b->range, prim, cores, count);
}

static CtPrimTerm build_choose(CtPrimBuilder *self, CtPrim comparison, CtPrimTerm a, CtPrimTerm b, CtPrimTerm yes,
                               CtPrimTerm no) {
    CoreBuilder *builder = (CoreBuilder *)self;
    CtCore *condition = ct_core_prim(builder->p, builder->range, comparison, (CtCore *[]){a, b}, b ? 2 : 1);
    return ct_core_if(builder->p, builder->range, condition, yes, no);
}

CtCore *ct_ad_derivative(CtAd *ad, const CtOperation *op, uint32_t index, CtCore *const *args, CtCore *y, CtCore *g) {
    CoreBuilder builder = {{build_number, build_prim, build_choose, true}, ad->p, op->range, op->type};
    CtPrimTerm terms[2] = {args[0], op->count > 1 ? args[1] : NULL};
    if (!ct_ad_is_real(op->types[index])) return NULL;
    return ct_prim_derivative(&builder.base, op->prim, index, terms, y, g);
}

/* A partial derivative, and what cotangents are propagated through for it. */
typedef struct Led {
    CtCore *core, *b;
} Led;

typedef struct LedBuilder {
    CtPrimBuilder base; /* must come first */
    CoreBuilder core;
    CtArena *arena;
    CtCore *b, *none;
} LedBuilder;

static CtPrimTerm led(LedBuilder *l, CtCore *core, CtCore *b) {
    Led *made = CT_NEW(l->arena, Led);
    *made = (Led){core, b};
    return made;
}

static CtPrimTerm led_number(CtPrimBuilder *self, double value) {
    LedBuilder *l = (LedBuilder *)self;
    return led(l, build_number(&l->core.base, value), value == 0 && signbit(value) ? l->none : l->b);
}

static CtPrimTerm led_prim(CtPrimBuilder *self, CtPrim prim, CtPrimTerm *args, uint32_t count) {
    LedBuilder *l = (LedBuilder *)self;
    CtPrimTerm cores[2] = {NULL, NULL};
    for (uint32_t i = 0; i < count; i++) cores[i] = ((Led *)args[i])->core;
    return led(l, build_prim(&l->core.base, prim, cores, count), l->b);
}

static CtPrimTerm led_choose(CtPrimBuilder *self, CtPrim comparison, CtPrimTerm a, CtPrimTerm b, CtPrimTerm yes,
                             CtPrimTerm no) {
    LedBuilder *l = (LedBuilder *)self;
    const Led *x = a, *y = b, *one = yes, *other = no;
    CtCore *core = NULL, *second = y ? y->core : NULL;
    if (one->b == l->none || other->b == l->none)
        core = one->b == l->none ? other->core : one->core;
    else
        core = build_choose(&l->core.base, comparison, x->core, second, one->core, other->core);
    if (one->b == other->b) return led(l, core, one->b);
    return led(l, core, build_choose(&l->core.base, comparison, x->core, second, one->b, other->b));
}

CtCore *ct_ad_led(CtAd *ad, const CtOperation *op, uint32_t index, CtCore *const *args, CtCore *y, CtCore *none,
                  CtCore **b) {
    LedBuilder l = {{led_number, led_prim, led_choose, false},
                    {{build_number, build_prim, build_choose, false}, ad->p, op->range, op->type},
                    ad->arena,
                    *b,
                    none};
    CtPrimTerm terms[2] = {led(&l, args[0], *b), op->count > 1 ? led(&l, args[1], *b) : NULL};
    if (!ct_ad_is_real(op->types[index])) return NULL;
    const Led *made = ct_prim_derivative(&l.base, op->prim, index, terms, led(&l, y, *b), NULL);
    if (made) *b = made->b;
    return made ? made->core : NULL;
}

static CtCore *primal_of(CtTransform *t, CtType *type, CtCore *d) {
    return ct_ad_is_real(type) ? t->rules->primal(t->ad, d->range, d) : d;
}

CtCore *ct_ad_primal(CtTransform *t, CtCore *core) {
    if (core->kind == CORE_LIT) return core;
    if (core->kind != CORE_PRIM) return primal_of(t, core->type, ct_ad_direct(t, core));
    CtCore *args[2] = {NULL, NULL};
    for (uint32_t i = 0; i < core->as.call.count; i++) {
        CtCore *arg = core->as.call.args[i];
        args[i] = ct_ad_is_real(arg->type) ? ct_ad_primal(t, arg) : ct_ad_direct(t, arg);
    }
    return ct_core_prim(t->p, core->range, core->as.call.of.prim, args, core->as.call.count);
}

CtCore *ct_ad_prim(CtTransform *t, CtSeq *seq, CtCore *core, CtCore *const *args) {
    CtOperation op = {
        .range = core->range, .prim = core->as.call.of.prim, .type = core->type, .count = core->as.call.count};
    CtCore *primals[2] = {NULL, NULL};
    bool varies = ct_ad_is_operation(core);
    for (uint32_t i = 0; i < op.count; i++) {
        op.types[i] = core->as.call.args[i]->type;
        op.args[i] = args[i];
        if (!varies) primals[i] = primal_of(t, op.types[i], args[i]);
    }
    if (varies) {
        /* The builder opens the real arguments in order; the others must be bound to names by then. */
        bool mixed = op.count == 2 && !ct_ad_is_real(op.types[1]) && !ct_ad_movable(op.args[1]);
        if (mixed && !ct_ad_movable(op.args[0])) op.args[0] = ct_ad_seq_name(seq, "d", op.args[0]);
        for (uint32_t i = 0; i < op.count; i++)
            if (!ct_ad_is_real(op.types[i])) op.args[i] = ct_ad_seq_name(seq, "n", op.args[i]);
        return t->rules->operation(t->ad, seq, &op);
    }
    CtCore *value = ct_core_prim(t->p, core->range, op.prim, primals, op.count);
    return ct_ad_is_real(core->type) ? t->rules->constant(t->ad, core->range, value) : value;
}

static CtCore *direct_prim(CtTransform *t, CtCore *core) {
    uint32_t count = core->as.call.count;
    CtCore *args[2] = {NULL, NULL};
    if (!ct_ad_is_operation(core)) {
        CtCore *value = ct_ad_primal(t, core);
        return ct_ad_is_real(core->type) ? t->rules->constant(t->ad, core->range, value) : value;
    }
    for (uint32_t i = 0; i < count; i++) args[i] = ct_ad_direct(t, core->as.call.args[i]);
    CtSeq seq = ct_ad_seq(t->p, NULL);
    CtCore *result = ct_ad_prim(t, &seq, core, args);
    return ct_ad_seq_close(&seq, result);
}

/* ---- structure ---- */

uint32_t ct_ad_children(CtCore *core, CtCore ***children) {
    switch (core->kind) {
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL:
    case CORE_APP: *children = core->as.call.args; return core->as.call.count;
    case CORE_PROJ: *children = &core->as.proj.tuple; return 1;
    case CORE_FAIL: *children = &core->as.fail.message; return core->as.fail.message ? 1 : 0;
    case CORE_VAR:
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING:
    case CORE_LAM:
    case CORE_LET:
    case CORE_LETREC:
    case CORE_UNPACK:
    case CORE_CASE: break;
    }
    *children = NULL;
    return 0;
}

/* D[stop e] = embed (stop (primal D[e])): a constant for this derivative and for those around it. */
static CtCore *stop(CtTransform *t, CtCore *core, CtCore *d) {
    CtType *type = core->type;
    CtCore *primal = ct_ad_poly_primal(t->ad, t->method, core->range, type, d);
    CtCore *stopped = ct_core_deriv(t->p, core->range, DERIV_STOP, &primal, 1);
    return ct_ad_poly_embed(t->ad, t->method, core->range, type, stopped);
}

CtCore *ct_ad_rebuild(CtTransform *t, CtCore *core, CtCore *const *children) {
    CtProgram *p = t->p;
    CtSourceRange range = core->range;
    uint32_t count = core->as.call.count;
    switch (core->kind) {
    case CORE_TUPLE: return ct_core_tuple(p, range, children, count);
    case CORE_CON: return ct_core_con(p, range, ct_ad_con(t, core->as.call.of.con), children, count);
    case CORE_ARRAY: return ct_core_array(p, range, core->as.call.of.array, children, count);
    case CORE_ARRAY_LIT: {
        CtType *element = ct_ad_type(t->ad, t->method, core->type->parts[0]);
        return ct_core_array_lit(p, range, element, children, count);
    }
    case CORE_PROJ: return ct_core_proj(p, range, children[0], core->as.proj.index);
    case CORE_FAIL: {
        CtType *type = ct_ad_type(t->ad, t->method, core->type);
        CtCore *message = core->as.fail.message ? children[0] : NULL;
        return ct_core_fail(p, range, type, core->as.fail.code, core->as.fail.text, message);
    }
    case CORE_DERIV: return stop(t, core, children[0]);
    case CORE_APP:
    case CORE_PRIM:
    case CORE_DUAL:
    case CORE_VAR:
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING:
    case CORE_LAM:
    case CORE_LET:
    case CORE_LETREC:
    case CORE_UNPACK:
    case CORE_CASE: break;
    }
    return core;
}

static CtCore **direct_children(CtTransform *t, CtCore *core) {
    CtCore **children;
    uint32_t count = ct_ad_children(core, &children);
    CtCore **made = CT_NEW_ARRAY(t->ad->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) made[i] = ct_ad_direct(t, children[i]);
    return made;
}

static CtCore *direct_application(CtTransform *t, CtCore *core) {
    if (ct_ad_is_discrete_call(core)) return ct_ad_discrete_call(t, core, direct_children(t, core));
    CtCore *fun = ct_ad_direct(t, core->as.call.of.fun);
    CtCore **args = direct_children(t, core);
    return ct_core_app(t->p, core->range, fun, args, core->as.call.count);
}

/* Iterates over a chain of bindings, which may be long. */
static CtCore *direct_bindings(CtTransform *t, CtCore *core) {
    CtSeq seq = ct_ad_seq(t->p, NULL);
    for (;;) {
        if (core->kind == CORE_LET) {
            CtCore *rhs = ct_ad_direct(t, core->as.let.rhs);
            ct_ad_seq_let(&seq, core->range, ct_ad_bind(t, core->as.let.vars[0]), rhs);
            core = core->as.let.body;
        } else if (core->kind == CORE_UNPACK) {
            CtCore *rhs = ct_ad_direct(t, core->as.let.rhs);
            CtVar **vars = bind_all(t, core->as.let.vars, core->as.let.count, 0);
            ct_ad_seq_unpack(&seq, core->range, vars, core->as.let.count, rhs);
            core = core->as.let.body;
        } else if (core->kind == CORE_LETREC) {
            ct_ad_letrec(t, &seq, core->range, core->as.letrec.binds, core->as.letrec.count);
            core = core->as.letrec.body;
        } else
            break;
    }
    CtCore *body = ct_ad_direct(t, core);
    return ct_ad_seq_close(&seq, body);
}

static CtCore *direct_case(CtTransform *t, CtCore *core) {
    CtCore *scrutinee = ct_ad_direct(t, core->as.cases.scrutinee);
    uint32_t count = core->as.cases.count;
    CtCase *cases = CT_NEW_ARRAY(t->ad->arena, CtCase, count);
    for (uint32_t i = 0; i < count; i++) {
        const CtCase *old = &core->as.cases.cases[i];
        cases[i].con = ct_ad_con(t, old->con);
        cases[i].vars = bind_all(t, old->vars, old->con->count, 0);
        cases[i].body = ct_ad_direct(t, old->body);
    }
    CtCore *otherwise = core->as.cases.otherwise ? ct_ad_direct(t, core->as.cases.otherwise) : NULL;
    CtType *type = ct_ad_type(t->ad, t->method, core->type);
    return ct_core_case(t->p, core->range, type, scrutinee, cases, count, otherwise);
}

CtCore *ct_ad_dual_node(CtTransform *t, CtCore *core, CtCore *const *args, CtVar *state) {
    const CtDualPath *dual = core->as.call.of.dual;
    uint32_t count = core->as.call.count;
    CtCore **all = CT_NEW_ARRAY(t->ad->arena, CtCore *, count + 1);
    memcpy(all, args, count * sizeof *args);
    CtMethod *path = CT_NEW_ARRAY(t->ad->arena, CtMethod, dual->count + 1);
    path[0] = t->method;
    memcpy(path + 1, dual->path, dual->count * sizeof *path);
    CtType *type = ct_ad_type(t->ad, t->method, core->type);
    if (state) {
        all[count++] = ct_core_var(t->p, core->range, state);
        type = ct_core_type_pair(t->p, type, t->state);
    }
    CtCore *made = ct_core_dual(t->p, core->range, type, dual->method, path, dual->count + 1, all, count);
    made->as.call.of.dual->op = dual->op;
    made->as.call.of.dual->whole = dual->whole;
    made->as.call.of.dual->by_forward = dual->by_forward;
    made->as.call.of.dual->primal = dual->primal;
    return made;
}

static CtCore *direct_custom(CtTransform *t, CtCore *core) {
    CtSeq seq = ct_ad_seq(t->p, NULL);
    bool has_rule = ct_core_deriv_has_rule(core->as.call.of.deriv);
    CtCore *made = has_rule ? ct_ad_custom(t, &seq, core) : ct_ad_checkpoint(t, &seq, core);
    return ct_ad_seq_close(&seq, made);
}

CtCore *ct_ad_direct(CtTransform *t, CtCore *core) {
    switch (core->kind) {
    case CORE_VAR: return ct_core_var(t->p, core->range, ct_ad_var(t, core->as.var));
    case CORE_GLOBAL: return ct_ad_global_ref(t, core);
    case CORE_LIT: return ct_ad_is_real(core->type) ? t->rules->constant(t->ad, core->range, core) : core;
    case CORE_STRING: return core;
    case CORE_LAM: return ct_ad_lambda(t, core);
    case CORE_APP: return direct_application(t, core);
    case CORE_LET:
    case CORE_UNPACK:
    case CORE_LETREC: return direct_bindings(t, core);
    case CORE_CASE: return direct_case(t, core);
    case CORE_PRIM: return direct_prim(t, core);
    case CORE_ARRAY: return ct_ad_array(t, core);
    case CORE_DUAL: return ct_ad_dual_node(t, core, direct_children(t, core), NULL);
    case CORE_DERIV:
        if (ct_core_deriv_applies(core->as.call.of.deriv)) return direct_custom(t, core);
        return ct_ad_rebuild(t, core, direct_children(t, core));
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PROJ:
    case CORE_ARRAY_LIT:
    case CORE_FAIL: return ct_ad_rebuild(t, core, direct_children(t, core));
    }
    return core;
}
