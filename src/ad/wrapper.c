/* Each mode by the other, for any method: a cotangent by one forward run for each real of the point, a tangent by one
 * pullback for each real of the result. */
#include "ad/internal.h"

/* map (λrow. …) rows */
static CtCore *over_rows(CtProgram *p, CtSourceRange range, CtVar *row, CtCore *body, CtCore *rows) {
    CtCore *args[2] = {ct_core_lam(p, range, NULL, &row, 1, body), rows};
    return ct_core_array(p, range, ARRAY_MAP, args, 2);
}

/* λdy. fill_S x (map (λb. dot_T (∂f x b) dy) (basis_S x)). The value comes from a run with a tangent of zeros, since
 * the basis may be empty. */
CtCore *ct_ad_vjp_from_jvp(CtAd *ad, CtSeq *seq, const CtWrap *wrap, CtMethod method) {
    CtProgram *p = ad->p;
    CtSourceRange range = wrap->range;
    CtCore *embedded = ct_ad_poly_embed(ad, method, range, wrap->s, wrap->x);
    CtCore *y = ct_core_app(p, range, wrap->f, &embedded, 1);
    CtCore *value = ct_ad_seq_name(seq, "value", ct_ad_poly_primal(ad, method, range, wrap->t, y));

    CtVar *dy = ct_core_var_new(p, "dy", wrap->t);
    CtVar *b = ct_core_var_new(p, "b", wrap->s);
    CtSeq inner = ct_ad_seq(p, NULL);
    CtWrap one = *wrap;
    one.dx = ct_core_var(p, range, b);
    one.is_factor = true;
    CtCore *both = ad->rules[method]->jvp(ad, &inner, &one);
    CtCore *column = ct_core_proj(p, range, both, 1);
    CtCore *weighted = ct_ad_poly_dot(ad, range, wrap->t, column, ct_core_var(p, range, dy), DOT_COTANGENT);
    CtCore *body = ct_ad_seq_close(&inner, ct_ad_normal(ad, range, weighted));
    CtCore *reals = over_rows(p, range, b, body, ct_ad_poly_basis(ad, range, wrap->s, wrap->x));
    CtCore *pullback = ct_core_lam(p, range, "pullback", &dy, 1, ct_ad_poly_fill(ad, range, wrap->s, wrap->x, reals));
    return ct_core_pair(p, range, value, pullback);
}

/* let (y, pullback) = vjp f x in map pullback (basis_T y) */
CtCore *ct_ad_jacobian_from_vjp(CtAd *ad, CtSeq *seq, const CtWrap *wrap, CtCore *vjp) {
    CtCore *parts[2];
    ct_ad_seq_open(seq, "y", "pullback", vjp, parts);
    CtCore *args[2] = {parts[1], ct_ad_poly_basis(ad, wrap->range, wrap->t, parts[0])};
    return ct_core_array(ad->p, wrap->range, ARRAY_MAP, args, 2);
}

/* let (y, pullback) = vjp f x in (y, fill_T y (map (λb. dot_S (pullback b) dx) (basis_T y))) */
CtCore *ct_ad_jvp_from_vjp(CtAd *ad, CtSeq *seq, const CtWrap *wrap, CtMethod method) {
    CtWrap rows = *wrap;
    rows.is_factor = true;
    CtCore *vjp = ad->rules[method]->vjp(ad, seq, &rows);
    CtProgram *p = ad->p;
    CtSourceRange range = wrap->range;
    CtCore *parts[2];
    ct_ad_seq_open(seq, "y", "pullback", vjp, parts);
    CtVar *b = ct_core_var_new(p, "b", wrap->t);
    CtCore *b_use = ct_core_var(p, range, b);
    CtCore *row = ct_core_app(p, range, parts[1], &b_use, 1);
    CtCore *weighted = ct_ad_poly_dot(ad, range, wrap->s, row, wrap->dx, DOT_TANGENT);
    CtCore *reals =
        over_rows(p, range, b, ct_ad_normal(ad, range, weighted), ct_ad_poly_basis(ad, range, wrap->t, parts[0]));
    CtCore *tangent = ct_ad_poly_fill(ad, range, wrap->t, parts[0], reals);
    return ct_core_pair(p, range, parts[0], tangent);
}
