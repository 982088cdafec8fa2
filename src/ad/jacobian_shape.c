/* Jacobians for Flow, by shape: one tangent for each real of the point, or one pullback for each real of the result,
 * whichever are fewer. If a side has a small fixed number of reals, its directions are written out: they then share one
 * block of straight-line code, and no basis is built. Otherwise the directions are counted at run time. */
#include "ad/internal.h"

/* MOST_WRITTEN: bound of the directions that are written out. Up to FEW of them, the number of the other side is not
 * considered. */
enum { MOST_WRITTEN = 16, FEW = 4 };

typedef struct Jacobian {
    CtAd *ad;
    CtProgram *p;
    CtSourceRange range;
    CtCore *f, *x; /* atoms, which can be used several times */
    CtType *s, *t;
} Jacobian;

/* The number of reals in every value of a type; −1 if it depends on the value. */
static int reals_in(const CtType *type) {
    if (ct_ad_is_real(type)) return 1;
    if (ct_is_discrete((CtType *)type)) return 0;
    if (type->kind != TYPE_TUPLE) return -1;
    int all = 0;
    for (uint32_t i = 0; i < type->count; i++) {
        int here = reals_in(type->parts[i]);
        if (here < 0) return -1;
        all += here;
    }
    return all <= MOST_WRITTEN ? all : -1;
}

/* ---- what is written out ---- */

/* A value in the shape of `like` with the given reals, from left to right. */
static CtCore *written(Jacobian *j, CtType *type, CtCore *like, CtCore *const *reals, int *next) {
    if (ct_ad_is_real(type)) return ct_ad_from_double(j->ad, j->range, type, reals[(*next)++]);
    if (type->kind != TYPE_TUPLE || ct_is_discrete(type)) return like;
    CtCore **parts = CT_NEW_ARRAY(j->ad->arena, CtCore *, type->count);
    for (uint32_t i = 0; i < type->count; i++)
        parts[i] = written(j, type->parts[i], ct_core_proj(j->p, j->range, like, i), reals, next);
    return ct_core_tuple(j->p, j->range, parts, type->count);
}

static CtCore *unit(Jacobian *j, CtType *type, CtCore *like, int at, int count) {
    CtCore *reals[MOST_WRITTEN];
    int next = 0;
    for (int i = 0; i < count; i++) reals[i] = ct_core_double(j->p, j->range, i == at ? 1.0 : -0.0);
    return written(j, type, like, reals, &next);
}

static CtCore *vjp_of(Jacobian *j, CtSeq *seq, CtCore **pullback) {
    CtCore *args[2] = {j->f, j->x}, *parts[2];
    ct_ad_seq_open(seq, "y", "pullback", ct_core_deriv(j->p, j->range, DERIV_VJP, args, 2), parts);
    *pullback = parts[1];
    return parts[0];
}

static CtCore *tangent(Jacobian *j, CtCore *dx) {
    CtCore *args[3] = {j->f, j->x, dx};
    return ct_core_proj(j->p, j->range, ct_core_deriv(j->p, j->range, DERIV_JVP, args, 3), 1);
}

/* [| pullback e₀, pullback e₁, … |] */
static CtCore *rows_written(Jacobian *j, int count) {
    CtSeq seq = ct_ad_seq(j->p, NULL);
    CtCore *pullback, *y = vjp_of(j, &seq, &pullback), *rows[MOST_WRITTEN];
    for (int i = 0; i < count; i++) {
        CtCore *dy = unit(j, j->t, y, i, count);
        rows[i] = ct_core_app(j->p, j->range, pullback, &dy, 1);
    }
    return ct_ad_seq_close(&seq, ct_core_array_lit(j->p, j->range, j->s, rows, (uint32_t)count));
}

static CtCore *build(Jacobian *j, CtCore *count, CtVar *i, CtCore *body) {
    CtCore *args[2] = {count, ct_core_lam(j->p, j->range, NULL, &i, 1, body)};
    return ct_core_array(j->p, j->range, ARRAY_BUILD, args, 2);
}

static CtCore *at(Jacobian *j, CtCore *array, CtCore *index) {
    CtCore *args[2] = {array, index};
    return ct_core_array(j->p, j->range, ARRAY_INDEX, args, 2);
}

static bool are_reals(const CtType *type) { return type->kind == TYPE_ARRAY && type->parts[0]->kind == TYPE_DOUBLE; }

/* The reals of a result's tangent, in order. */
static CtCore *reals_of(Jacobian *j, CtCore *dy) {
    return are_reals(j->t) ? dy : ct_ad_poly_reals(j->ad, j->range, j->t, dy, dy, true);
}

/* let cᵢ = reals (∂f x eᵢ) in build (length c₀) (λr. x with its reals from c₀ ! r, c₁ ! r, …) */
static CtCore *columns_written(Jacobian *j, int count) {
    CtSeq seq = ct_ad_seq(j->p, NULL);
    CtCore *columns[MOST_WRITTEN], *reals[MOST_WRITTEN];
    for (int i = 0; i < count; i++) {
        CtCore *dy = ct_ad_seq_name(&seq, "dy", tangent(j, unit(j, j->s, j->x, i, count)));
        columns[i] = ct_ad_seq_name(&seq, "column", reals_of(j, dy));
    }
    CtVar *r = ct_core_var_new(j->p, "r", j->p->int_type);
    int next = 0;
    for (int i = 0; i < count; i++) reals[i] = at(j, columns[i], ct_core_var(j->p, j->range, r));
    CtCore *length = ct_core_array(j->p, j->range, ARRAY_LENGTH, &columns[0], 1);
    return ct_ad_seq_close(&seq, build(j, length, r, written(j, j->s, j->x, reals, &next)));
}

/* ---- what is counted ---- */

static CtCore *rows_counted(Jacobian *j) {
    CtSeq seq = ct_ad_seq(j->p, NULL);
    CtCore *args[2];
    CtCore *y = vjp_of(j, &seq, &args[0]);
    args[1] = ct_ad_poly_basis(j->ad, j->range, j->t, y);
    return ct_ad_seq_close(&seq, ct_core_array(j->p, j->range, ARRAY_MAP, args, 2));
}

/* let cs = map (λb. reals (∂f x b)) (basis x) in build m (λr. x with its reals from build n (λk. cs ! k ! r)) */
static CtCore *columns_counted(Jacobian *j, CtCore *n, CtCore *m) {
    CtProgram *p = j->p;
    CtSeq seq = ct_ad_seq(p, NULL), inner = ct_ad_seq(p, NULL);
    CtVar *b = ct_core_var_new(p, "b", j->s), *r = ct_core_var_new(p, "r", p->int_type),
          *k = ct_core_var_new(p, "k", p->int_type);
    CtCore *dy = ct_ad_seq_name(&inner, "dy", tangent(j, ct_core_var(p, j->range, b)));
    CtCore *column = ct_ad_seq_close(&inner, reals_of(j, dy));
    CtCore *args[2] = {ct_core_lam(p, j->range, NULL, &b, 1, column), ct_ad_poly_basis(j->ad, j->range, j->s, j->x)};
    CtCore *columns = ct_ad_seq_name(&seq, "columns", ct_core_array(p, j->range, ARRAY_MAP, args, 2));
    CtCore *one = at(j, columns, ct_core_var(p, j->range, k));
    CtCore *reals = build(j, n, k, at(j, one, ct_core_var(p, j->range, r)));
    CtCore *row = are_reals(j->s) ? reals : ct_ad_poly_fill(j->ad, j->range, j->s, j->x, reals);
    return ct_ad_seq_close(&seq, build(j, m, r, row));
}

/* if count x ≤ count (f x) then … else …; a Hessian is computed forward over reverse. */
static CtCore *counted(Jacobian *j) {
    CtSeq seq = ct_ad_seq(j->p, NULL);
    CtCore *y = ct_ad_seq_name(&seq, "y", ct_core_app(j->p, j->range, j->f, &j->x, 1));
    CtCore *n = ct_ad_seq_name(&seq, "n", ct_ad_poly_count(j->ad, j->range, j->s, j->x));
    CtCore *m = ct_ad_seq_name(&seq, "m", ct_ad_poly_count(j->ad, j->range, j->t, y));
    CtCore *fewer = ct_core_prim2(j->p, j->range, PRIM_INT_LE, n, m);
    CtCore *choice = ct_core_if(j->p, j->range, fewer, columns_counted(j, n, m), rows_counted(j));
    return ct_ad_seq_close(&seq, choice);
}

CtCore *ct_ad_jacobian_by_shape(CtAd *ad, CtSourceRange range, CtCore *f, CtCore *x) {
    CtSeq seq = ct_ad_seq(ad->p, NULL);
    Jacobian j = {.ad = ad, .p = ad->p, .range = range, .s = f->type->parts[0], .t = f->type->parts[1]};
    bool named = f->kind == CORE_VAR || f->kind == CORE_GLOBAL;
    j.f = named ? f : ct_ad_seq_name(&seq, "f", f);
    j.x = ct_ad_seq_name(&seq, "x", x);
    int n = reals_in(j.s), m = reals_in(j.t);
    bool by_columns = n > 0 && (m >= 0 ? n <= m : n <= FEW), by_rows = m >= 0 && (n >= 0 || m <= FEW);
    CtCore *rows = by_columns ? columns_written(&j, n) : by_rows ? rows_written(&j, m) : counted(&j);
    return ct_ad_seq_close(&seq, rows);
}
