/* taylor: truncated Taylor series. DELTA §8.6, after Karczmarczuk 1998: a tower of derivatives for each real, computed
 * at once.
 *
 * Every real x that varies with t is paired with the coefficients of t, t², …, tⁿ in its series; a constant is paired
 * with none. lib/ad/taylor.cot has the recurrences of the operations. Where primitives.def gives the derivative of a
 * primitive g in terms of its arguments alone, the recurrence follows from the table: dy = Σ ∂ᵢg · dxᵢ, with D of the
 * table's term as the series of ∂ᵢg. An operation takes O(n²) steps, except for those that are composed with a series
 * (the library says which). */
#include "ad/internal.h"

#include <assert.h>

static CtGlobal *library(CtAd *ad, const char *name) { return ct_ad_library_of(ad, METHOD_TAYLOR, name); }

static CtCore *call(CtAd *ad, CtSourceRange range, const char *name, CtCore *const *args, uint32_t count) {
    return ct_ad_call(ad, range, library(ad, name), args, count);
}

static CtType *reals(CtAd *ad) { return ct_core_type_array(ad->p, ad->p->double_type); }

/* D{ℝ} = ℝ × Array Double, also for Float: only the result of a derivative is rounded. */
static CtType *real(CtAd *ad, CtType *type) { return ct_core_type_pair(ad->p, type, reals(ad)); }

static CtCore *none(CtAd *ad, CtSourceRange range) { return ct_core_global(ad->p, range, library(ad, "none")); }

static bool is_none(CtAd *ad, const CtCore *xs) {
    return xs->kind == CORE_GLOBAL && xs->as.global == library(ad, "none");
}

static CtCore *constant(CtAd *ad, CtSourceRange range, CtCore *x) {
    return ct_core_pair(ad->p, range, x, none(ad, range));
}

static CtCore *primal(CtAd *ad, CtSourceRange range, CtCore *d) { return ct_core_proj(ad->p, range, d, 0); }

/* ---- operations ---- */

/* What a function of the library takes: the coefficients of the arguments; also their values; or everything, with the
 * result and its partial derivatives. */
typedef enum Takes { TAKES_SERIES, TAKES_ARGUMENTS, TAKES_ALL } Takes;

static const struct Recurrence {
    CtPrim prim;
    Takes takes;
    const char *name;
} recurrences[] = {
    {PRIM_ADD, TAKES_SERIES, "plus"},
    {PRIM_SUB, TAKES_SERIES, "minus"},
    {PRIM_MUL, TAKES_ARGUMENTS, "times"},
    {PRIM_SCALE, TAKES_ARGUMENTS, "scaledBy"},
    {PRIM_DIV, TAKES_ALL, "divided"},
    {PRIM_RECIP, TAKES_ALL, "reciprocal"},
    {PRIM_SQRT, TAKES_ALL, "squareRoot"},
    {PRIM_CBRT, TAKES_ALL, "cubeRoot"},
    {PRIM_HYPOT, TAKES_ALL, "hypotenuse"},
    {PRIM_POW, TAKES_ALL, "power"},
    {PRIM_EXP, TAKES_ALL, "exponential"},
    {PRIM_EXPM1, TAKES_ALL, "exponential"},
    {PRIM_SIN, TAKES_ALL, "sine"},
    {PRIM_COS, TAKES_ALL, "cosine"},
    {PRIM_TAN, TAKES_ALL, "tangentOf"},
    {PRIM_SINH, TAKES_ALL, "hyperbolicSine"},
    {PRIM_COSH, TAKES_ALL, "hyperbolicCosine"},
    {PRIM_TANH, TAKES_ALL, "hyperbolicTangent"},
    {PRIM_LGAMMA, TAKES_ALL, "logGamma"},
    {PRIM_DIGAMMA, TAKES_ALL, "digammas"},
    {PRIM_POLYGAMMA, TAKES_ALL, "polygammaOf"},
};

/* An operation with its arguments opened; all reals are Doubles. */
typedef struct Opened {
    CtOperation op;
    CtCore *x[2], *xs[2], *y;
} Opened;

static CtCore *partial(CtAd *ad, const Opened *o, uint32_t i) {
    CtCore *p = ct_ad_derivative(ad, &o->op, i, o->x, o->y, NULL);
    return p ? p : ct_core_double(ad->p, o->op.range, -0.0);
}

static CtCore *by_recurrence(CtAd *ad, const Opened *o, const struct Recurrence *r) {
    CtSourceRange range = o->op.range;
    CtCore *args[7];
    uint32_t count = 0, arity = o->op.count;
    if (r->takes == TAKES_ALL && arity == 1) {
        CtCore *all[4] = {o->x[0], o->y, partial(ad, o, 0), o->xs[0]};
        return call(ad, range, r->name, all, 4);
    }
    for (uint32_t i = 0; i < arity; i++) {
        if (r->takes != TAKES_SERIES) args[count++] = o->x[i];
        args[count++] = o->xs[i];
    }
    if (r->takes == TAKES_ALL) {
        args[count++] = o->y;
        for (uint32_t i = 0; i < arity; i++) args[count++] = partial(ad, o, i);
    }
    return call(ad, range, r->name, args, count);
}

/* A product or sum with a constant that is known here. */
static CtCore *with_constant(CtAd *ad, const Opened *o) {
    CtSourceRange range = o->op.range;
    if (o->op.count != 2) return NULL;
    for (uint32_t i = 0; i < 2; i++) {
        if (!is_none(ad, o->xs[i])) continue;
        CtCore *scaled[2] = {o->x[i], o->xs[1 - i]};
        if (o->op.prim == PRIM_ADD || (o->op.prim == PRIM_SUB && i == 1)) return o->xs[1 - i];
        if (o->op.prim == PRIM_MUL) return call(ad, range, "scaled", scaled, 2);
    }
    return NULL;
}

/* ---- by the table: a function (x, xs, …, y) → ys for each primitive ---- */

#ifndef NDEBUG /* for an assertion */
/* Whether a term varies with a variable. */
static bool varies_with(const CtCore *core, const CtVar *var) {
    if (core->kind == CORE_VAR) return core->as.var == var;
    if (core->kind == CORE_CASE) {
        for (uint32_t i = 0; i < core->as.cases.count; i++)
            if (varies_with(core->as.cases.cases[i].body, var)) return true;
        return core->as.cases.otherwise && varies_with(core->as.cases.otherwise, var);
    }
    if (!ct_ad_is_operation(core)) return false;
    for (uint32_t i = 0; i < core->as.call.count; i++)
        if (varies_with(core->as.call.args[i], var)) return true;
    return false;
}
#endif

/* Σ ∫ D[∂ᵢg] · dxᵢ. The partial derivatives must not vary with the result: those of others have a recurrence above. */
static CtCore *table_body(CtAd *ad, const Opened *o) {
    CtTransform t = ct_ad_transform(ad, METHOD_TAYLOR);
    CtSeq seq = ct_ad_seq(ad->p, NULL);
    CtType *type = ad->p->double_type;
    CtVar *y = ct_core_var_new(ad->p, "y", type), *x[2];
    CtCore *uses[2] = {NULL, NULL}, *sum = NULL;
    CtSourceRange range = o->op.range;
    for (uint32_t i = 0; i < o->op.count; i++) {
        x[i] = ct_core_var_new(ad->p, "x", type);
        uses[i] = ct_core_var(ad->p, range, x[i]);
        ct_ad_seq_let(&seq, range, ct_ad_bind(&t, x[i]), ct_core_pair(ad->p, range, o->x[i], o->xs[i]));
    }
    ct_ad_seq_let(&seq, range, ct_ad_bind(&t, y), constant(ad, range, o->y));
    for (uint32_t i = 0; i < o->op.count; i++) {
        CtCore *term = ct_ad_derivative(ad, &o->op, i, uses, ct_core_var(ad->p, range, y), NULL), *parts[2];
        if (!term) continue;
        assert(!varies_with(term, y));
        CtCore *xs = o->xs[i];
        ct_ad_led(ad, &o->op, i, o->x, o->y, none(ad, range), &xs);
        ct_ad_seq_open(&seq, "d", "ds", ct_ad_direct(&t, term), parts);
        CtCore *args[3] = {parts[0], parts[1], xs};
        CtCore *made = ct_ad_seq_name(&seq, "ys", call(ad, range, "chain", args, 3)), *both[2] = {sum, made};
        sum = sum ? ct_ad_seq_name(&seq, "ys", call(ad, range, "plus", both, 2)) : made;
    }
    return ct_ad_seq_close(&seq, sum ? sum : none(ad, range));
}

static CtCore *by_table(CtAd *ad, const Opened *o) {
    CtCore *args[5];
    uint32_t count = 0;
    for (uint32_t i = 0; i < o->op.count; i++) {
        args[count++] = o->x[i];
        args[count++] = o->xs[i];
    }
    args[count++] = o->y;
    const char *name = ct_format(ad->arena, "%s.series", ct_prim_info(o->op.prim)->name);
    CtSym key = ct_intern_text(&ad->p->context->symbols, name);
    CtGlobal *global = ct_map_get(&ad->generics, ct_key(key));
    if (!global) {
        CtVar *params[5];
        CtType *types[5];
        CtCore *uses[5];
        for (uint32_t i = 0; i < count; i++) {
            types[i] = i % 2 == 1 ? reals(ad) : ad->p->double_type;
            params[i] = ct_core_var_new(ad->p, i % 2 == 1 ? "xs" : "x", types[i]);
            uses[i] = ct_core_var(ad->p, CT_NO_RANGE, params[i]);
        }
        CtType *function = ct_core_type_fun(ad->p, types, count, reals(ad));
        global = ct_ad_new_global(ad, name, function, CT_NO_RANGE);
        ct_map_set(ad->arena, &ad->generics, ct_key(key), global);
        Opened inside = *o;
        inside.op.range = CT_NO_RANGE;
        for (uint32_t i = 0; i < o->op.count; i++) {
            inside.x[i] = uses[2 * i];
            inside.xs[i] = uses[2 * i + 1];
        }
        inside.y = uses[count - 1];
        global->body = ct_core_lam(ad->p, CT_NO_RANGE, name, params, count, table_body(ad, &inside));
    }
    return ct_ad_call(ad, o->op.range, global, args, count);
}

static CtCore *coefficients(CtAd *ad, const Opened *o) {
    CtCore *made = with_constant(ad, o);
    if (made) return made;
    for (size_t i = 0; i < sizeof recurrences / sizeof *recurrences; i++)
        if (recurrences[i].prim == o->op.prim) return by_recurrence(ad, o, &recurrences[i]);
    return by_table(ad, o);
}

/* D{op} = λ((x, xs), (z, zs)). (op x z, …) */
static CtCore *operation(CtAd *ad, CtSeq *seq, const CtOperation *op) {
    assert(!op->value);
    Opened o = {.op = *op};
    CtCore *x[2] = {NULL, NULL}, *parts[2];
    bool varies = false;
    for (uint32_t i = 0; i < op->count; i++) {
        ct_ad_seq_open(seq, "x", "xs", op->args[i], parts);
        x[i] = parts[0];
        o.xs[i] = parts[1];
        varies = varies || !is_none(ad, parts[1]);
    }
    CtCore *y = ct_ad_seq_name(seq, "y", ct_core_prim(ad->p, op->range, op->prim, x, op->count));
    if (!varies) return constant(ad, op->range, y);
    if (ct_ad_is_conversion(op->prim)) return ct_core_pair(ad->p, op->range, y, o.xs[0]);
    for (uint32_t i = 0; i < op->count; i++) {
        o.x[i] = ct_ad_seq_name(seq, "x", ct_ad_to_double(ad, op->range, x[i]));
        o.op.types[i] = ad->p->double_type;
    }
    o.y = ct_ad_seq_name(seq, "y", ct_ad_to_double(ad, op->range, y));
    o.op.type = ad->p->double_type;
    return ct_core_pair(ad->p, op->range, y, coefficients(ad, &o));
}

/* ---- rules for derivatives ---- */

static CtType *int_env(CtAd *ad, CtMethod method) {
    (void)method;
    return ad->p->int_type;
}

/* (x, xs) → the value and coefficients of dx/dt */
static CtCore *derivative_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type,
                               CtCore *const *ins, CtCore *env) {
    (void)method, (void)env;
    CtCore *xs = ct_core_proj(ad->p, range, ins[0], 1), *parts[2];
    ct_ad_seq_open(seq, "d", "ds", call(ad, range, "derivative", &xs, 1), parts);
    return ct_core_pair(ad->p, range, ct_ad_from_double(ad, range, type, parts[0]), parts[1]);
}

static const CtGeneric derivative = {
    .name = "derivative", .inputs = 1, .dual = {true}, .makes = true, .makes_dual = true, .leaf = derivative_leaf};

static CtCore *fewer_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                          CtCore *env) {
    (void)method, (void)type, (void)env;
    CtCore *parts[2];
    ct_ad_seq_open(seq, "x", "xs", ins[0], parts);
    return ct_core_pair(ad->p, range, parts[0], call(ad, range, "fewer", &parts[1], 1));
}

/* x with a coefficient less */
static const CtGeneric fewer = {
    .name = "fewer", .inputs = 1, .dual = {true}, .makes = true, .makes_dual = true, .leaf = fewer_leaf};

/* y and dy/dt → y with its coefficients */
static CtCore *integral_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type,
                             CtCore *const *ins, CtCore *env) {
    (void)method, (void)type;
    CtCore *value[2], *parts[2];
    ct_ad_seq_open(seq, "y", "ys", ins[0], value);
    ct_ad_seq_open(seq, "d", "ds", ins[1], parts);
    CtCore *args[4] = {env, value[1], ct_ad_to_double(ad, range, parts[0]), parts[1]};
    return ct_core_pair(ad->p, range, value[0], call(ad, range, "integral", args, 4));
}

static const CtGeneric integral = {.name = "integral",
                                   .inputs = 2,
                                   .dual = {true, true},
                                   .makes = true,
                                   .makes_dual = true,
                                   .mismatch = "the tangent that a rule gives does not have the shape of its value",
                                   .env = int_env,
                                   .leaf = integral_leaf};

static CtCore *joined_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                           CtCore *env) {
    (void)method, (void)type, (void)env;
    CtCore *parts[2];
    ct_ad_seq_open(seq, "y", "ys", ins[0], parts);
    CtCore *args[2] = {parts[1], ct_core_proj(ad->p, range, ins[1], 1)};
    return ct_core_pair(ad->p, range, parts[0], call(ad, range, "joined", args, 2));
}

static const CtGeneric joined = {.name = "joined",
                                 .inputs = 2,
                                 .dual = {true, true},
                                 .makes = true,
                                 .makes_dual = true,
                                 .mismatch = "the value that a rule gives does not have the shape of the function's",
                                 .leaf = joined_leaf};

static CtCore *generic2(CtAd *ad, const CtGeneric *generic, CtSourceRange range, CtType *type, CtCore *a, CtCore *b,
                        CtCore *env) {
    return ct_ad_generic(
        ad, generic, (CtGenericCall){.method = METHOD_TAYLOR, .range = range, .type = type, .ins = {a, b}, .env = env});
}

/* The rule as a function of point and tangent, under D. */
static CtCore *rule_for_tangents(CtTransform *t, CtSeq *seq, CtCore *core) {
    CtCore *rule = core->as.call.args[1];
    if (core->as.call.of.deriv == DERIV_WITH_JVP) return ct_ad_direct(t, rule);
    CtVar *named = ct_core_var_new(t->p, "rule", rule->type);
    CtCore *made = ct_ad_direct(t, rule);
    ct_ad_seq_let(seq, core->range, ct_ad_bind(t, named), made);
    CtCore *use = ct_core_var(t->p, core->range, named);
    return ct_ad_direct(t, ct_ad_tangent_of_pair(t->ad, core, use, core->as.call.args[2]->type));
}

/* y by the rule, for a point that varies: dy/dt = rule x (dx/dt), so D[rule] gives the series of dy/dt, of which y is
 * the integral. It needs a coefficient less of x, so that a rule may use the function that it belongs to. */
static CtCore *by_rule(CtTransform *t, CtSeq *seq, CtCore *core, CtCore *x, CtCore *n) {
    CtAd *ad = t->ad;
    CtSourceRange range = core->range;
    CtType *s = core->as.call.args[2]->type;
    CtCore *rule = rule_for_tangents(t, seq, core), *parts[2], *args[2];
    args[0] = generic2(ad, &fewer, range, s, x, NULL, NULL);
    args[1] = generic2(ad, &derivative, range, s, x, NULL, NULL);
    ct_ad_seq_open(seq, "y", "dy", ct_core_app(t->p, range, rule, args, 2), parts);
    return generic2(ad, &integral, range, core->type, parts[0], parts[1], n);
}

/* The value that the rule gives, on primals. */
static CtCore *value_of_rule(CtTransform *t, CtSeq *seq, CtCore *core, CtCore *x) {
    CtSourceRange range = core->range;
    CtCore *rule = core->as.call.args[1], *args[2] = {ct_ad_seq_name(seq, "x", x), NULL};
    bool in_sight = rule->kind == CORE_LAM || rule->kind == CORE_GLOBAL;
    bool by_tangent = core->as.call.of.deriv == DERIV_WITH_JVP;
    CtCore *f = ct_ad_primal_function(t, seq, rule, in_sight ? NULL : ct_ad_direct(t, rule));
    if (by_tangent) args[1] = ct_ad_poly_zero(t->ad, range, args[0]->type, args[0]);
    return ct_core_proj(t->p, range, ct_core_app(t->p, range, f, args, by_tangent ? 2 : 1), 0);
}

/* if nothing of x varies then embed (the rule's value) else by the rule. What f captures is not covered by the rule:
 * the coefficients of D[f] (embed x) tell whether it varies. */
static CtCore *custom(CtTransform *t, CtSeq *seq, CtCore *core) {
    CtAd *ad = t->ad;
    CtSourceRange range = core->range;
    CtCore *f = core->as.call.args[0], *own = NULL;
    CtType *s = core->as.call.args[2]->type;
    if (f->kind == CORE_LAM) ct_core_captures(t->p, f->as.lam);
    CtCore *x = ct_ad_seq_name(seq, "x", ct_ad_direct(t, core->as.call.args[2]));
    CtCore *at = ct_ad_poly_primal(ad, METHOD_TAYLOR, range, s, x);
    if (ct_ad_may_vary(f)) {
        at = ct_ad_seq_name(seq, "x", at);
        own = ct_ad_seq_name(seq, "own", ct_ad_at_constant(t, seq, f, range, s, at));
    }
    CtCore *duals = ct_ad_poly_duals(ad, METHOD_TAYLOR, range, s, x);
    CtCore *n = ct_ad_seq_name(seq, "n", call(ad, range, "order", &duals, 1));
    CtSeq fixed = ct_ad_seq(t->p, NULL), varying = ct_ad_seq(t->p, NULL);
    CtCore *value = value_of_rule(t, &fixed, core, at);
    CtCore *y[2] = {ct_ad_poly_embed(ad, METHOD_TAYLOR, range, core->type, value), by_rule(t, &varying, core, x, n)};
    for (int i = 0; i < 2 && own; i++) y[i] = generic2(ad, &joined, range, core->type, y[i], own, NULL);
    CtCore *is_fixed = ct_core_prim2(t->p, range, PRIM_INT_EQ, n, ct_core_int(t->p, range, 0));
    return ct_core_if(t->p, range, is_fixed, ct_ad_seq_close(&fixed, y[0]), ct_ad_seq_close(&varying, y[1]));
}

/* ---- the wrappers ---- */

static CtCore *zip_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                        CtCore *env) {
    (void)method, (void)seq, (void)type, (void)env;
    CtCore *dx = ct_ad_to_double(ad, range, ins[1]);
    return ct_core_pair(ad->p, range, ins[0], call(ad, range, "tangent", &dx, 1));
}

static const CtGeneric zip = {.name = "zip",
                              .inputs = 2,
                              .makes = true,
                              .makes_dual = true,
                              .mismatch = "the tangent does not have the shape of the point",
                              .leaf = zip_leaf};

static CtCore *delta_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                          CtCore *env) {
    (void)method, (void)seq, (void)env;
    CtCore *args[2] = {ct_core_proj(ad->p, range, ins[0], 1), ct_core_int(ad->p, range, 0)};
    return ct_ad_from_double(ad, range, type, call(ad, range, "at", args, 2));
}

static CtCore *normal_delta_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type,
                                 CtCore *const *ins, CtCore *env) {
    return ct_ad_normal(ad, range, delta_leaf(ad, method, seq, range, type, ins, env));
}

static const CtGeneric delta = {.name = "delta", .inputs = 1, .dual = {true}, .makes = true, .leaf = delta_leaf};
static const CtGeneric tangent = {
    .name = "tangent", .inputs = 1, .dual = {true}, .makes = true, .leaf = normal_delta_leaf};

/* A tangent is the first coefficient. */
static CtCore *jvp(CtAd *ad, CtSeq *seq, const CtWrap *wrap) {
    CtSourceRange range = wrap->range;
    CtCore *x = generic2(ad, &zip, range, wrap->s, wrap->x, wrap->dx, NULL);
    CtCore *y = ct_ad_seq_name(seq, "y", ct_core_app(ad->p, range, wrap->f, &x, 1));
    CtCore *value = ct_ad_poly_primal(ad, METHOD_TAYLOR, range, wrap->t, y);
    CtCore *dy = generic2(ad, wrap->is_factor ? &delta : &tangent, range, wrap->t, y, NULL, NULL);
    return ct_core_pair(ad->p, range, value, dy);
}

static CtCore *vjp(CtAd *ad, CtSeq *seq, const CtWrap *wrap) {
    return ct_ad_vjp_from_jvp(ad, seq, wrap, METHOD_TAYLOR);
}

static CtCore *coefficient_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type,
                                CtCore *const *ins, CtCore *env) {
    (void)method;
    CtCore *parts[2];
    ct_ad_seq_open(seq, "y", "ys", ins[0], parts);
    CtCore *args[3] = {ct_ad_to_double(ad, range, parts[0]), parts[1], env};
    return ct_ad_from_double(ad, range, type, call(ad, range, "coefficient", args, 3));
}

static const CtGeneric coefficient = {
    .name = "coefficient", .inputs = 1, .dual = {true}, .makes = true, .env = int_env, .leaf = coefficient_leaf};

/* taylor n f x = let y = D[f] (x, variable n) in build (n + 1) (λk. coefficient_T y k) */
static CtCore *taylor(CtAd *ad, CtSeq *seq, const CtWrap *wrap, CtCore *n) {
    CtSourceRange range = wrap->range;
    CtCore *x = ct_core_pair(ad->p, range, wrap->x, call(ad, range, "variable", &n, 1));
    CtCore *y = ct_ad_seq_name(seq, "y", ct_core_app(ad->p, range, wrap->f, &x, 1));
    CtVar *k = ct_core_var_new(ad->p, "k", ad->p->int_type);
    CtCore *at = generic2(ad, &coefficient, range, wrap->t, y, NULL, ct_core_var(ad->p, range, k));
    CtCore *args[2] = {ct_core_prim2(ad->p, range, PRIM_INT_ADD, n, ct_core_int(ad->p, range, 1)),
                       ct_core_lam(ad->p, range, NULL, &k, 1, at)};
    return ct_core_array(ad->p, range, ARRAY_BUILD, args, 2);
}

const CtRules ct_ad_taylor_rules = {.real = real,
                                    .constant = constant,
                                    .primal = primal,
                                    .operation = operation,
                                    .custom = custom,
                                    .jvp = jvp,
                                    .vjp = vjp,
                                    .taylor = taylor};
