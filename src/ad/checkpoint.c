/* Calls that the reverse sweep runs again: D[checkpointed f x] (Griewank, Walther 2008, ch. 12).
 *
 * For a method whose library can run a call again (tape):
 *
 *   let y = f x; (n, s') = again (λs. let (y', s) = D[f] (x', s) in (map snd (duals y'), s)) (length ys) s
 *   in y, whose i-th real is paired with n + i
 *
 * So the forward sweep runs f on primals, beneath this derivative, and records nothing of it but the function `again`,
 * which holds x' and the captured variables. The reverse sweep calls this function when it arrives there, and sweeps
 * what it recorded. Additions to the adjoints are the same, and in the same order, as those for f x. For other methods
 * it is D[f x]. */
#include "ad/internal.h"

CtCore *ct_ad_unchecked(CtProgram *p, const CtCore *core) {
    return ct_core_app(p, core->range, core->as.call.args[0], &core->as.call.args[1], 1);
}

/* λs. let (y', s) = f' (x', s) in (map snd (duals y'), s) */
static CtCore *run_again(CtTransform *t, const CtCore *core, CtCore *f, CtCore *dx) {
    CtProgram *p = t->p;
    CtSourceRange range = core->range;
    CtVar *state = ct_core_var_new(p, "s", t->state);
    CtSeq seq = ct_ad_seq(p, state);
    CtCore *args[2] = {dx, ct_core_var(p, range, state)};
    CtCore *dy = ct_ad_seq_run(&seq, "y", ct_core_app(p, range, f, args, 2));
    CtCore *duals = ct_ad_poly_duals(t->ad, t->method, range, core->type, dy);
    CtVar *d = ct_core_var_new(p, "d", duals->type->parts[0]);
    CtCore *second = ct_core_proj(p, range, ct_core_var(p, range, d), 1);
    CtCore *map[2] = {ct_core_lam(p, range, NULL, &d, 1, second), duals};
    CtCore *result = ct_ad_seq_return(&seq, ct_core_array(p, range, ARRAY_MAP, map, 2));
    return ct_core_lam(p, range, "again", &state, 1, result);
}

CtCore *ct_ad_checkpoint(CtTransform *t, CtSeq *seq, CtCore *core) {
    const CtReverse *reverse = t->rules->reverse;
    if (reverse == NULL || reverse->again == NULL) return ct_ad_lift_value(t, seq, ct_ad_unchecked(t->p, core));
    CtSourceRange range = core->range;
    CtCore *f = core->as.call.args[0], **both = ct_ad_lift_values(t, seq, core->as.call.args, 2);
    CtCore *df = both[0]->kind == CORE_GLOBAL ? both[0] : ct_ad_seq_name(seq, "f'", both[0]);
    CtCore *dx = ct_ad_seq_name(seq, "x'", both[1]);
    CtCore *x = ct_ad_seq_name(seq, "x", ct_ad_poly_primal(t->ad, t->method, range, core->as.call.args[1]->type, dx));
    CtCore *primal = ct_ad_primal_function(t, seq, f, df);
    CtCore *y = ct_ad_seq_name(seq, "y", ct_core_app(t->p, range, primal, &x, 1));
    if (ct_is_discrete(core->type)) return y;
    CtCore *ys = ct_ad_seq_name(seq, "ys", ct_ad_poly_reals(t->ad, range, core->type, y, y, true));
    CtCore *args[3] = {run_again(t, core, df, dx), ct_core_array(t->p, range, ARRAY_LENGTH, &ys, 1),
                       ct_ad_seq_state(seq, range)};
    CtCore *n = ct_ad_seq_run(seq, "n", ct_ad_library_call(t->ad, range, reverse->again, args, 3));
    return ct_ad_numbered(t, seq, range, y, ys, n);
}
