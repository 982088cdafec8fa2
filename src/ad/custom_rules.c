/* Custom derivatives: D[withVjp f rule x] and D[withJvp f rule x] for the methods that pair every real with something.
 *
 *   let (y, pullback) = rule (primal x') in y, where each real yᵢ depends on each real x'ⱼ by pᵢⱼ
 *
 * Here p is the Jacobian given by the rule: a row is the pullback of a basis vector of y, a column the tangent of a
 * basis vector of x. The rule runs on primals, beneath this derivative. Derivatives around this one differentiate it
 * like any other code. Captured variables of f may be active too, and the rule does not cover them. In that case f
 * itself is differentiated as well, at a constant x:
 *
 *   y'ᵢ = (yᵢ, depends on D[f] (embed (primal x'))ᵢ by 1 and on x'ⱼ by pᵢⱼ)
 *
 * The cost is one pullback for each real of the result, and an operation for each partial derivative that is not
 * structurally zero. If the method's library can store a pullback (tape), it is one pullback in all. `withRules` is
 * `withJvp` to a method that takes a tangent as a whole (forward, taylor), and `withVjp` to all others. */
#include "ad/internal.h"

typedef struct Custom {
    CtAd *ad;
    CtProgram *p;
    CtTransform *t;
    CtSourceRange range;
    const CtCore *core;
    CtDerivOp op;
    CtType *s, *result; /* f : (S) → T */
    CtCore *rule;       /* in the layer beneath the derivative */
    CtCore *dx, *x;     /* D[x] and its primal, bound to names */
    CtVar *xs;          /* array of the reals of D[x] */
} Custom;

/* ---- D[Float] and D[Double] ---- */

/* Converts what is paired with a real. It stays as it is, except that a tangent is a real itself. */
static CtCore *converted(CtAd *ad, CtMethod method, CtSourceRange range, CtPrim prim, CtType *real, CtCore *d) {
    CtSeq seq = ct_ad_seq(ad->p, NULL);
    CtCore *parts[2];
    ct_ad_seq_open(&seq, "x", "d", d, parts);
    CtCore *x = ct_core_prim1(ad->p, range, prim, parts[0]);
    CtType *beside = ct_ad_type(ad, method, real)->parts[1];
    CtCore *b = parts[1]->type == beside ? parts[1] : ct_core_prim1(ad->p, range, prim, parts[1]);
    return ct_ad_seq_close(&seq, ct_core_pair(ad->p, range, x, b));
}

CtCore *ct_ad_widen(CtAd *ad, CtMethod method, CtSourceRange range, CtCore *d) {
    CtType *wide = ct_ad_type(ad, method, ad->p->double_type);
    return d->type == wide ? d : converted(ad, method, range, PRIM_FLOAT_TO_DOUBLE, ad->p->double_type, d);
}

CtCore *ct_ad_narrow(CtAd *ad, CtMethod method, CtSourceRange range, CtType *real, CtCore *d) {
    return real->kind == TYPE_DOUBLE ? d : converted(ad, method, range, PRIM_DOUBLE_TO_FLOAT, real, d);
}

/* ---- operations with given partial derivatives ---- */

/* a' with the same value, and a further dependency on b' by p. What a rule gives is a number, whatever its sign: a p
 * that is −0.0 at this point may vary with a derivative around it. */
static CtCore *varies_with(Custom *c, CtSeq *seq, CtCore *a, CtCore *b, CtCore *p) {
    CtType *real = c->p->double_type;
    a = ct_ad_seq_name(seq, "a", a);
    CtOperation op = {.range = c->range, .type = real, .args = {a, b}, .types = {real, real}, .count = 2};
    op.value = ct_ad_seq_name(seq, "y", c->t->rules->primal(c->ad, c->range, a));
    op.partials[0] = ct_core_double(c->p, c->range, 1.0);
    op.partials[1] = p;
    return c->t->rules->operation(c->ad, seq, &op);
}

/* A loop over two arrays that threads the method's state. It returns the array of what `make` returns for their
 * elements; or, with a start value, folds by `make`, to which the previous value is passed. */
typedef CtCore *Make(Custom *c, CtSeq *seq, CtCore *last, CtCore *a, CtCore *b);

static CtCore *array2(Custom *c, CtArrayOp op, CtCore *f, CtCore *a, CtCore *b) {
    CtCore *args[3] = {f, a, b};
    return ct_core_array(c->p, c->range, op, args, b ? 3 : 2);
}

static CtCore *zipped(Custom *c, CtCore *as, CtCore *bs) {
    CtVar *vars[2] = {ct_core_var_new(c->p, "a", as->type->parts[0]), ct_core_var_new(c->p, "b", bs->type->parts[0])};
    CtCore *a = ct_core_var(c->p, c->range, vars[0]), *b = ct_core_var(c->p, c->range, vars[1]);
    CtCore *pair = ct_core_pair(c->p, c->range, a, b);
    return array2(c, ARRAY_ZIP_WITH, ct_core_lam(c->p, c->range, NULL, vars, 2, pair), as, bs);
}

static CtCore *with_state(Custom *c, CtSeq *seq, CtCore *value) {
    return seq->state ? ct_core_pair(c->p, c->range, ct_ad_seq_state(seq, c->range), value) : value;
}

static CtCore *loop(Custom *c, CtSeq *seq, CtCore *start, CtCore *as, CtCore *bs, Make *make) {
    CtCore *pairs = ct_ad_seq_name(seq, "abs", zipped(c, as, bs)), *parts[2], *held[2] = {NULL, start};
    CtSeq inner = ct_ad_seq(c->p, NULL);
    CtVar *ab = ct_core_var_new(c->p, "ab", pairs->type->parts[0]), *params[2] = {NULL, ab};
    CtCore *first = start ? with_state(c, seq, start) : seq->state ? ct_ad_seq_state(seq, c->range) : NULL;
    if (first) {
        params[0] = ct_core_var_new(c->p, "s", first->type);
        CtCore *use = ct_core_var(c->p, c->range, params[0]);
        if (start && seq->state) {
            ct_ad_seq_open(&inner, "s", "y", use, held);
            inner.state = held[0]->as.var;
        } else if (start)
            held[1] = use;
        else
            inner.state = params[0];
    }
    ct_ad_seq_open(&inner, "a", "b", ct_core_var(c->p, c->range, ab), parts);
    CtCore *made = make(c, &inner, held[1], parts[0], parts[1]);
    CtCore *body = ct_ad_seq_close(&inner, with_state(c, &inner, made));
    CtCore *f = ct_core_lam(c->p, c->range, NULL, first ? params : &ab, first ? 2 : 1, body);
    if (!first) return array2(c, ARRAY_MAP, f, pairs, NULL);
    CtCore *all = array2(c, start ? ARRAY_FOLDL : ARRAY_MAP_ACCUM, f, first, pairs);
    if (!seq->state) return all;
    ct_ad_seq_open(seq, "s", "ys", all, parts);
    seq->state = parts[0]->as.var;
    return parts[1];
}

/* ---- what the rule tells ---- */

static CtCore *apply(Custom *c, CtCore *f, CtCore *a, CtCore *b) {
    CtCore *args[2] = {a, b};
    return ct_core_app(c->p, c->range, f, args, b ? 2 : 1);
}

static CtCore *array_of(Custom *c, CtArrayOp op, CtCore *a, CtCore *b) {
    CtCore *args[2] = {a, b};
    return ct_core_array(c->p, c->range, op, args, b ? 2 : 1);
}

static CtCore *each(Custom *c, CtArrayOp op, CtCore *over, CtVar *var, CtCore *body) {
    CtCore *f = ct_core_lam(c->p, c->range, NULL, &var, 1, body);
    return op == ARRAY_BUILD ? array_of(c, op, over, f) : array_of(c, op, f, over);
}

/* The result y and the rows of the Jacobian. */
typedef struct Told {
    CtCore *y, *rows;
} Told;

/* map (λb. reals (pullback b)) (basis y) */
static Told told_by_vjp(Custom *c, CtSeq *seq) {
    CtCore *both[2];
    ct_ad_seq_open(seq, "y", "pullback", apply(c, c->rule, c->x, NULL), both);
    CtVar *b = ct_core_var_new(c->p, "b", c->result);
    CtCore *dx = apply(c, both[1], ct_core_var(c->p, c->range, b), NULL);
    CtCore *row = ct_ad_poly_reals(c->ad, c->range, c->s, c->x, dx, false);
    CtCore *basis = ct_ad_poly_basis(c->ad, c->range, c->result, both[0]);
    return (Told){both[0], each(c, ARRAY_MAP, basis, b, row)};
}

/* let columns = map (λb. reals (snd (rule x b))) (basis x) in build (length (reals y)) (λi. map (! i) columns) */
static Told told_by_jvp(Custom *c, CtSeq *seq) {
    CtCore *zero = ct_ad_seq_name(seq, "dx", ct_ad_poly_zero(c->ad, c->range, c->s, c->x));
    CtCore *y = ct_ad_seq_name(seq, "y", ct_core_proj(c->p, c->range, apply(c, c->rule, c->x, zero), 0));
    CtVar *b = ct_core_var_new(c->p, "b", c->s);
    CtCore *dy = ct_core_proj(c->p, c->range, apply(c, c->rule, c->x, ct_core_var(c->p, c->range, b)), 1);
    CtCore *column = ct_ad_poly_reals(c->ad, c->range, c->result, y, dy, true);
    CtCore *basis = ct_ad_poly_basis(c->ad, c->range, c->s, c->x);
    CtCore *columns = ct_ad_seq_name(seq, "columns", each(c, ARRAY_MAP, basis, b, column));
    CtCore *reals = ct_ad_poly_reals(c->ad, c->range, c->result, y, y, true);
    CtVar *i = ct_core_var_new(c->p, "i", c->p->int_type), *one = ct_core_var_new(c->p, "column", column->type);
    CtCore *i_use = ct_core_var(c->p, c->range, i);
    CtCore *at = array_of(c, ARRAY_INDEX, ct_core_var(c->p, c->range, one), i_use);
    CtCore *row = each(c, ARRAY_MAP, columns, one, at);
    return (Told){y, each(c, ARRAY_BUILD, array_of(c, ARRAY_LENGTH, reals, NULL), i, row)};
}

/* let (y, _) = rule x 0 in (y, λdy. fill x (map (λb. dot (snd (rule x b)) dy) (basis x))) */
static CtCore *pair_of_tangents(CtAd *ad, CtSeq *seq, const CtCore *core, CtCore *rule, CtCore *x) {
    CtProgram *p = ad->p;
    CtSourceRange range = core->range;
    CtCore *args[2] = {x, ct_ad_poly_zero(ad, range, x->type, x)};
    CtCore *y = ct_ad_seq_name(seq, "y", ct_core_proj(p, range, ct_core_app(p, range, rule, args, 2), 0));
    CtVar *dy = ct_core_var_new(p, "dy", core->type), *b = ct_core_var_new(p, "b", x->type);
    args[1] = ct_core_var(p, range, b);
    CtCore *column = ct_core_proj(p, range, ct_core_app(p, range, rule, args, 2), 1);
    CtCore *real = ct_ad_poly_dot(ad, range, core->type, column, ct_core_var(p, range, dy), DOT_RULE);
    CtCore *over[2] = {ct_core_lam(p, range, NULL, &b, 1, real), ct_ad_poly_basis(ad, range, x->type, x)};
    CtCore *reals = ct_core_array(p, range, ARRAY_MAP, over, 2);
    CtCore *dx = ct_ad_poly_fill(ad, range, x->type, x, reals);
    return ct_core_pair(p, range, y, ct_core_lam(p, range, "pullback", &dy, 1, dx));
}

CtCore *ct_ad_pair_of_rule(CtAd *ad, CtSeq *seq, const CtCore *core, CtCore *rule, CtCore *x) {
    if (core->as.call.of.deriv == DERIV_WITH_VJP) return ct_core_app(ad->p, core->range, rule, &x, 1);
    return pair_of_tangents(ad, seq, core, rule, x);
}

/* ---- the rule by itself, for Flow ---- */

/* λx. let (y, pullback) = rule x in (y, pullback 1), or λx. rule x 1 */
static CtCore *slope_of(CtAd *ad, const CtCore *core, CtCore *rule, CtType *s) {
    CtProgram *p = ad->p;
    CtSourceRange range = core->range;
    CtVar *x = ct_core_var_new(p, "x", s);
    CtSeq seq = ct_ad_seq(p, NULL);
    bool by_pair = core->as.call.of.deriv != DERIV_WITH_JVP;
    CtCore *args[2] = {ct_core_var(p, range, x), NULL}, *both[2];
    CtCore *one = ct_core_real(p, range, by_pair ? core->type : s, 1.0);
    if (!by_pair) args[1] = one;
    ct_ad_seq_open(&seq, "y", "d", ct_core_app(p, range, rule, args, by_pair ? 1 : 2), both);
    if (by_pair) both[1] = ct_core_app(p, range, both[1], &one, 1);
    CtCore *pair = ct_core_pair(p, range, both[0], ct_ad_to_double(ad, range, both[1]));
    return ct_core_lam(p, range, "slope", &x, 1, ct_ad_seq_close(&seq, pair));
}

/* λx dx. let (y, pullback) = rule x in (y, fill y (map (λb. dot (pullback b) dx) (basis y))) */
CtCore *ct_ad_tangent_of_pair(CtAd *ad, const CtCore *core, CtCore *rule, CtType *s) {
    CtProgram *p = ad->p;
    CtSourceRange range = core->range;
    CtVar *params[2] = {ct_core_var_new(p, "x", s), ct_core_var_new(p, "dx", s)},
          *b = ct_core_var_new(p, "b", core->type);
    CtCore *x = ct_core_var(p, range, params[0]), *use = ct_core_var(p, range, b), *both[2];
    CtSeq seq = ct_ad_seq(p, NULL);
    ct_ad_seq_open(&seq, "y", "pullback", ct_core_app(p, range, rule, &x, 1), both);
    CtCore *row = ct_core_app(p, range, both[1], &use, 1);
    CtCore *real = ct_ad_poly_dot(ad, range, s, row, ct_core_var(p, range, params[1]), DOT_RULE_PULLED);
    CtCore *over[2] = {ct_core_lam(p, range, NULL, &b, 1, real), ct_ad_poly_basis(ad, range, core->type, both[0])};
    CtCore *dy = ct_ad_poly_fill(ad, range, core->type, both[0], ct_core_array(p, range, ARRAY_MAP, over, 2));
    CtCore *pair = ct_core_pair(p, range, both[0], dy);
    return ct_core_lam(p, range, "tangent", params, 2, ct_ad_seq_close(&seq, pair));
}

static CtCore *pair_by_tangents(CtAd *ad, const CtCore *core, CtCore *rule, CtType *s) {
    CtVar *x = ct_core_var_new(ad->p, "x", s);
    CtSeq seq = ct_ad_seq(ad->p, NULL);
    CtCore *pair = pair_of_tangents(ad, &seq, core, rule, ct_core_var(ad->p, core->range, x));
    return ct_core_lam(ad->p, core->range, "pair", &x, 1, ct_ad_seq_close(&seq, pair));
}

CtRuleTerms ct_ad_rule_terms(CtAd *ad, const CtCore *core, CtCore *rule, CtCore *by_tangent) {
    CtType *s = core->as.call.args[core->as.call.count - 1]->type;
    CtRuleTerms terms = {NULL, NULL, NULL};
    if (ct_ad_is_real(s) && ct_ad_is_real(core->type)) {
        terms.slope = slope_of(ad, core, rule, s);
    } else if (core->as.call.of.deriv != DERIV_WITH_JVP) {
        terms.pair = rule;
        terms.tangent = by_tangent != NULL ? by_tangent : ct_ad_tangent_of_pair(ad, core, rule, s);
    } else {
        terms.pair = pair_by_tangents(ad, core, rule, s);
        terms.tangent = rule;
    }
    ct_ad_work(ad);
    return terms;
}

/* ---- D of the application ---- */

/* One y' from y and a row of the Jacobian, one operation for each element. */
static CtCore *make_row(Custom *c, CtSeq *seq, CtCore *last, CtCore *y, CtCore *row) {
    (void)last;
    CtCore *start = c->t->rules->constant(c->ad, c->range, y);
    CtCore *xs = ct_core_var(c->p, c->range, c->xs);
    return loop(c, seq, start, xs, row, varies_with);
}

/* All D[ℝ] of y', by the rows of the Jacobian. */
static CtCore *by_rows(Custom *c, CtSeq *seq, const Told *told) {
    CtCore *rows = ct_ad_seq_name(seq, "rows", told->rows);
    CtCore *xs = ct_ad_poly_duals(c->ad, c->t->method, c->range, c->s, c->dx);
    c->xs = ct_core_var_new(c->p, "xs", xs->type);
    ct_ad_seq_let(seq, c->range, c->xs, xs);
    CtCore *ys = ct_ad_poly_reals(c->ad, c->range, c->result, told->y, told->y, true);
    return loop(c, seq, NULL, ct_ad_seq_name(seq, "ys", ys), rows, make_row);
}

/* From one real to one real: no arrays are needed. */
static CtCore *single(Custom *c, CtSeq *seq) {
    CtCore *both[2], *one = ct_core_real(c->p, c->range, c->op == DERIV_WITH_VJP ? c->result : c->s, 1.0);
    if (c->op == DERIV_WITH_VJP) {
        ct_ad_seq_open(seq, "y", "pullback", apply(c, c->rule, c->x, NULL), both);
        both[1] = apply(c, both[1], one, NULL);
    } else
        ct_ad_seq_open(seq, "y", "dy", apply(c, c->rule, c->x, one), both);
    CtCore *p = ct_ad_seq_name(seq, "p", ct_ad_to_double(c->ad, c->range, both[1]));
    CtCore *y = c->t->rules->constant(c->ad, c->range, ct_ad_to_double(c->ad, c->range, both[0]));
    CtCore *x = ct_ad_widen(c->ad, c->t->method, c->range, c->dx);
    return ct_ad_narrow(c->ad, c->t->method, c->range, c->result, varies_with(c, seq, y, x, p));
}

CtCore *ct_ad_numbered(CtTransform *t, CtSeq *seq, CtSourceRange range, CtCore *y, CtCore *ys, CtCore *n) {
    CtProgram *p = t->p;
    CtVar *i = ct_core_var_new(p, "i", p->int_type);
    CtCore *none = ct_core_int(p, range, 0), *i_use = ct_core_var(p, range, i), *at[2] = {ys, i_use};
    CtCore *is_none = ct_core_prim2(p, range, PRIM_INT_EQ, n, none);
    CtCore *entry = ct_core_if(p, range, is_none, none, ct_core_prim2(p, range, PRIM_INT_ADD, n, i_use));
    CtCore *d = ct_core_pair(p, range, ct_core_array(p, range, ARRAY_INDEX, at, 2), entry);
    CtCore *build[2] = {ct_core_array(p, range, ARRAY_LENGTH, &ys, 1), ct_core_lam(p, range, NULL, &i, 1, d)};
    CtCore *duals = ct_ad_seq_name(seq, "ys", ct_core_array(p, range, ARRAY_BUILD, build, 2));
    return ct_ad_poly_fill_duals(t->ad, t->method, range, y->type, y, duals);
}

/* The whole result at once, if the method's library can store a pullback:
 * let (n, s') = rule (λdys. reals (pullback (fill y dys))) (map snd (duals x')) (length ys) s
 * in build (length ys) (λi. (ys ! i, if n == 0 then 0 else n + i)) */
static CtCore *by_pullback(Custom *c, CtSeq *seq) {
    CtProgram *p = c->p;
    const char *name = c->t->rules->reverse->rule;
    CtCore *both[2], *args[4];
    ct_ad_seq_open(seq, "y", "pullback", ct_ad_pair_of_rule(c->ad, seq, c->core, c->rule, c->x), both);
    CtCore *ys = ct_ad_seq_name(seq, "ys", ct_ad_poly_reals(c->ad, c->range, c->result, both[0], both[0], true));
    CtVar *dys = ct_core_var_new(p, "dys", ys->type);
    CtCore *dy = ct_ad_poly_fill(c->ad, c->range, c->result, both[0], ct_core_var(p, c->range, dys));
    CtCore *dx = apply(c, both[1], dy, NULL);
    args[0] = ct_core_lam(p, c->range, "pullback", &dys, 1, ct_ad_poly_reals(c->ad, c->range, c->s, c->x, dx, false));
    CtCore *xs = ct_ad_poly_duals(c->ad, c->t->method, c->range, c->s, c->dx);
    CtVar *x = ct_core_var_new(p, "x", xs->type->parts[0]);
    args[1] = each(c, ARRAY_MAP, xs, x, ct_core_proj(p, c->range, ct_core_var(p, c->range, x), 1));
    args[2] = array_of(c, ARRAY_LENGTH, ys, NULL);
    args[3] = ct_ad_seq_state(seq, c->range);
    CtCore *first = ct_ad_seq_run(seq, "n", ct_ad_library_call(c->ad, c->range, name, args, 4));
    return ct_ad_numbered(c->t, seq, c->range, both[0], ys, first);
}

static CtCore *by_tangent(Custom *c, CtSeq *seq) {
    CtWrap wrap = {.range = c->range, .s = c->s, .t = c->result, .x = c->dx};
    return c->t->rules->by_tangent(c->ad, seq, &wrap, c->rule);
}

/* Of one real, forward asks for the slope and scales it: a rule may divide by 0 where nothing varies. */
static CtCore *by_rule(Custom *c, CtSeq *seq) {
    bool is_single = ct_ad_is_real(c->s) && ct_ad_is_real(c->result);
    bool scales = is_single && c->t->method == METHOD_FORWARD;
    if (c->op == DERIV_WITH_JVP && c->t->rules->by_tangent && !scales) return by_tangent(c, seq);
    if (is_single) return single(c, seq);
    if (c->t->rules->reverse && c->t->rules->reverse->rule) return by_pullback(c, seq);
    Told told = c->op == DERIV_WITH_VJP ? told_by_vjp(c, seq) : told_by_jvp(c, seq);
    CtCore *ys = ct_ad_seq_name(seq, "ys", by_rows(c, seq, &told));
    return ct_ad_poly_fill_duals(c->ad, c->t->method, c->range, c->result, told.y, ys);
}

CtCore *ct_ad_at_constant(CtTransform *t, CtSeq *seq, CtCore *f, CtSourceRange range, CtType *s, CtCore *x) {
    CtVar *var = ct_core_var_new(t->p, "x", s);
    CtVar *constant = ct_ad_bind(t, var);
    ct_ad_seq_let(seq, range, constant, ct_ad_poly_embed(t->ad, t->method, range, s, x));
    CtCore *use = ct_core_var(t->p, range, var);
    return ct_ad_lift_value(t, seq, ct_core_app(t->p, range, f, &use, 1));
}

static CtCore *make_both(Custom *c, CtSeq *seq, CtCore *last, CtCore *by_rule, CtCore *by_f) {
    (void)last;
    return varies_with(c, seq, by_rule, by_f, ct_core_double(c->p, c->range, 1.0));
}

static CtCore *joined(Custom *c, CtSeq *seq, CtCore *y, CtCore *by_f) {
    CtMethod method = c->t->method;
    y = ct_ad_seq_name(seq, "y", y);
    CtCore *as = ct_ad_seq_name(seq, "as", ct_ad_poly_duals(c->ad, method, c->range, c->result, y));
    CtCore *bs = ct_ad_seq_name(seq, "bs", ct_ad_poly_duals(c->ad, method, c->range, c->result, by_f));
    CtCore *ys = ct_ad_seq_name(seq, "ys", loop(c, seq, NULL, as, bs, make_both));
    CtCore *shape = ct_ad_poly_primal(c->ad, method, c->range, c->result, y);
    return ct_ad_poly_fill_duals(c->ad, method, c->range, c->result, shape, ys);
}

bool ct_ad_may_vary(CtCore *f) {
    if (f->kind == CORE_GLOBAL) return false;
    if (f->kind != CORE_LAM) return true;
    for (uint32_t i = 0; i < f->as.lam->capture_count; i++)
        if (!ct_is_discrete(f->as.lam->captures[i]->type)) return true;
    return false;
}

CtCore *ct_ad_custom(CtTransform *t, CtSeq *seq, CtCore *core) {
    core = ct_core_deriv_one_rule(t->p, core, t->rules->custom || t->rules->by_tangent);
    if (t->rules->custom) return t->rules->custom(t, seq, core);
    CtCore **args = core->as.call.args;
    Custom c = {.ad = t->ad, .p = t->p, .t = t, .range = core->range, .core = core, .op = core->as.call.of.deriv};
    c.s = args[2]->type;
    c.result = core->type;
    if (args[0]->kind == CORE_LAM) ct_core_captures(t->p, args[0]->as.lam);
    c.dx = ct_ad_seq_name(seq, "x", ct_ad_lift_value(t, seq, args[2]));
    c.x = ct_ad_seq_name(seq, "x", ct_ad_poly_primal(t->ad, t->method, core->range, c.s, c.dx));
    bool in_sight = args[1]->kind == CORE_LAM || args[1]->kind == CORE_GLOBAL;
    c.rule = ct_ad_primal_function(t, seq, args[1], in_sight ? NULL : ct_ad_lift_value(t, seq, args[1]));
    if (c.rule->kind != CORE_GLOBAL) c.rule = ct_ad_seq_name(seq, "rule", c.rule);
    if (!ct_ad_may_vary(args[0])) return by_rule(&c, seq);
    CtCore *by_f = ct_ad_seq_name(seq, "own", ct_ad_at_constant(t, seq, args[0], c.range, c.s, c.x));
    CtCore *y = by_rule(&c, seq);
    return joined(&c, seq, y, by_f);
}
