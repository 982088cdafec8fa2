/* Functions: CHAD 2024 §9 and Appendix C.
 *
 * The paper converts closures: a function value becomes a pair of its captured values and a closed function, with the
 * type of the captured values hidden, and its cotangent is the tuple of the captured values' cotangents. Here a λ stays
 * a λ, since it is such a pair already. Its backpropagator returns the cotangents of both the captured values and the
 * arguments:
 *
 *   D[⟨σ⟩ → τ]₁ = ⟨D[σ]₁⟩ → D[τ]₁ × (D[τ]₂ → EVM (closure, ⟨σ⟩) 1)
 *   D[⟨σ⟩ → τ]₂ = Bag (index of a captured variable × its cotangent)
 *
 * A frame of the environment has a cell for the closure, then one for each parameter. A captured variable is an entry
 * of the bag in the closure's cell. So each call runs the backpropagator of its function once, and a closure that
 * captures much but uses little costs little. All items of a bag are Cots, so the tag of the existential type is not
 * needed. The functions of a recursive group share their captured variables, so a recursive call adds its function's
 * cotangent to the closure's own. */
#include "ad/chad/chad.h"

CtType *ct_chad_function_type(CtAd *ad, CtMethod method, CtType *type) {
    uint32_t count = type->count - 1;
    CtType **params = CT_NEW_ARRAY(ad->arena, CtType *, count);
    for (uint32_t i = 0; i < count; i++) params[i] = ct_ad_type(ad, method, type->parts[i]);
    CtType *result = type->parts[count], *primal = ct_ad_type(ad, method, result);
    if (!ct_is_discrete(result)) primal = ct_core_type_pair(ad->p, primal, ct_chad_result_type(ad, method, result));
    return ct_core_type_fun(ad->p, params, count, primal);
}

/* ---- λ ---- */

/* ⟨y, y'⟩ of a λ's body. */
static CtCore *paired_body(CtChad *c, const CtCore *core, CtCore *source) {
    CtSeq seq = ct_ad_seq(c->p, NULL);
    CtPaired body = ct_chad_chad(c, &seq, source);
    if (ct_is_discrete(source->type)) return ct_ad_seq_close(&seq, body.x);
    if (!ct_ad_movable(body.x)) body.x = ct_ad_seq_name(&seq, "y", body.x);
    CtCore *back = ct_chad_backpropagator(c, source->type, core->range, true, body.back);
    return ct_ad_seq_close(&seq, ct_core_pair(c->p, core->range, body.x, back));
}

/* §9: let run = λ. ⟨y, y'⟩; ⟨y, y'⟩ = run in ⟨y, ⟨y', λd. let ⟨_, y'⟩ = run in y' d⟩⟩. The first is run for the
 * cotangents of the arguments, the second for that of the captured variables. The paper keeps a log of calls,
 * ⟨argument, d⟩, and runs the second at the λ. Here it is run at the call, which is the same amount of work, and needs
 * no type for the log's items. */
static CtCore *twice(CtChad *c, CtSourceRange range, CtCore *paired) {
    CtSeq seq = ct_ad_seq(c->p, NULL), inner = ct_ad_seq(c->p, NULL);
    CtCore *run = ct_ad_seq_name(&seq, "run", ct_core_lam(c->p, range, NULL, NULL, 0, paired));
    CtCore *parts[2], *again[2];
    ct_ad_seq_open(&seq, "y", "y'", ct_core_app(c->p, range, run, NULL, 0), parts);
    CtVar *d = ct_core_var_new(c->p, "d", parts[1]->type->parts[0]);
    CtCore *use = ct_core_var(c->p, range, d);
    ct_ad_seq_open(&inner, "y", "y'", ct_core_app(c->p, range, run, NULL, 0), again);
    CtCore *body = ct_ad_seq_close(&inner, ct_core_app(c->p, range, again[1], &use, 1));
    CtCore *backs = ct_core_pair(c->p, range, parts[1], ct_core_lam(c->p, range, NULL, &d, 1, body));
    return ct_ad_seq_close(&seq, ct_core_pair(c->p, range, parts[0], backs));
}

/* λ⟨x⟩. let ⟨y, y'⟩ = D[t] in ⟨y, λd. y' d⟩. The first `captures` parameters stand for captured variables. */
static CtCore *function(CtTransform *t, CtChad *c, const CtCore *core, uint32_t captures) {
    const CtLam *lam = core->as.lam;
    CtVar **params = CT_NEW_ARRAY(c->ad->arena, CtVar *, lam->count);
    c->depth = 1; /* the closure's cell */
    for (uint32_t i = 0; i < lam->count; i++) {
        params[i] = ct_ad_bind(t, lam->params[i]);
        CtPlace place = i < captures ? (CtPlace){PLACE_CAPTURED, i} : ct_chad_cell(c);
        if (ct_is_discrete(lam->params[i]->type)) place.kind = PLACE_NONE;
        ct_chad_place(c, lam->params[i], place);
    }
    struct CtChad *outer = t->chad;
    t->chad = c;
    CtCore *body = paired_body(c, core, lam->body);
    if (c->rung.twice && !ct_is_discrete(lam->body->type)) body = twice(c, core->range, body);
    t->chad = outer;
    return ct_core_lam(c->p, core->range, lam->name, params, lam->count, body);
}

static CtChad frame(CtTransform *t) {
    return (CtChad){
        .ad = t->ad, .p = t->p, .t = t, .rung = ct_chad_rung(t->method), .outer = t->chad, .depth = 1, .frame = 1};
}

CtCore *ct_chad_closed(CtTransform *t, CtCore *core, uint32_t captures) {
    CtChad c = frame(t);
    return function(t, &c, core, captures);
}

/* Whether the i-th captured variable of a λ may be active. */
static bool captured_varies(CtChad *outer, const CtLam *lam, uint32_t i) {
    if (ct_is_discrete(lam->captures[i]->type)) return false;
    if (!outer) return true;
    CtPlaceKind kind = ct_chad_where(outer, lam->captures[i]).kind;
    return kind != PLACE_NONE && kind != PLACE_CLOSED;
}

CtCore *ct_chad_lambda(CtTransform *t, CtCore *core) {
    CtChad c = frame(t);
    const CtLam *lam = core->as.lam;
    CtPlace group = {PLACE_CLOSED, 0};
    for (uint32_t i = 0; i < lam->capture_count; i++) {
        if (!captured_varies(c.outer, lam, i)) continue;
        ct_chad_place(&c, lam->captures[i], (CtPlace){PLACE_CAPTURED, i});
        group.kind = PLACE_CELL;
    }
    for (uint32_t i = 0; i < lam->group_count && lam->group; i++) ct_chad_place(&c, lam->group_vars[i], group);
    return function(t, &c, core, 0);
}

/* Propagates the cotangent of a closure to its captured variables. */
static void captures_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    CtCore *n = ct_core_int(c->p, range, back->count);
    CtCore *ds = ct_ad_seq_name(seq, "ds", ct_chad_elements(c, range, ct_chad_cot(c->ad), n, d));
    for (uint32_t i = 0; i < back->count; i++) {
        if (back->places[i].kind == PLACE_NONE || back->places[i].kind == PLACE_CLOSED) continue;
        CtCore *args[2] = {ds, ct_core_int(c->p, range, i)};
        CtCore *cot = ct_core_array(c->p, range, ARRAY_INDEX, args, 2);
        ct_chad_add(c, seq, range, back->places[i], ct_ad_seq_name(seq, "d", cot));
    }
}

static void maybe_captures_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    ct_chad_unless_zero(c, seq, back, d, captures_back);
}

/* The backpropagator of a closure; NULL when no captured variable is active, which §9 does not test. */
static CtBack *closure(CtChad *c, CtCore *core, CtLam *lam) {
    if (!lam->captures_known) ct_core_captures(c->p, lam);
    CtBack *back = ct_chad_back(c, core, maybe_captures_back);
    back->count = lam->capture_count;
    back->places = CT_NEW_ARRAY(c->ad->arena, CtPlace, lam->capture_count);
    bool any = c->rung.twice;
    for (uint32_t i = 0; i < lam->capture_count; i++) {
        back->places[i] = ct_chad_where(c, lam->captures[i]);
        any = any || captured_varies(c, lam, i);
    }
    return any ? back : NULL;
}

CtPaired ct_chad_lambda_value(CtChad *c, CtCore *core) {
    CtBack *back = closure(c, core, core->as.lam);
    return (CtPaired){ct_ad_lambda(c->t, core), back};
}

CtBack *ct_chad_letrec(CtChad *c, CtSeq *seq, CtCore *core) {
    const CtBind *binds = core->as.letrec.binds;
    uint32_t count = core->as.letrec.count;
    CtBack *captured = closure(c, core, binds[0].lam->as.lam), *back = NULL;
    if (captured) {
        back = ct_chad_back(c, core, NULL);
        back->parts = CT_NEW(c->ad->arena, CtBack *);
        back->parts[0] = captured;
        back->places = CT_NEW(c->ad->arena, CtPlace);
        back->places[0] = ct_chad_cell(c);
    }
    for (uint32_t i = 0; i < count; i++)
        ct_chad_place(c, binds[i].var, captured ? back->places[0] : (CtPlace){PLACE_CLOSED, 0});
    ct_ad_letrec(c->t, seq, core->range, binds, count);
    return back;
}

/* ---- application ---- */

/* The cotangents of the non-discrete arguments from the i-th on. */
static CtCore **operands(CtChad *c, CtSeq *seq, const CtBack *back, const CtCalled *called, uint32_t first) {
    CtSourceRange range = back->core->range;
    CtCore **args = back->core->as.call.args;
    uint32_t count = back->core->as.call.count;
    CtCore **ds = CT_NEW_ARRAY(c->ad->arena, CtCore *, count);
    for (uint32_t i = first; i < count; i++) {
        if (ct_is_discrete(args[i]->type)) continue;
        CtCore *cot = ct_chad_left(c, seq, range, called, 1 + i - first);
        if (cot && back->parts[i]) ds[i] = ct_ad_seq_name(seq, "d", ct_chad_unbox(c, range, args[i]->type, cot));
    }
    return ds;
}

/* Whether a function is known to capture no active variables, so that its closure's cell stays empty. */
static bool is_closed(CtChad *c, const CtCore *fun) {
    if (fun->kind == CORE_VAR) return ct_chad_where(c, fun->as.var).kind == PLACE_CLOSED;
    return fun->kind == CORE_GLOBAL && ct_ad_is_function(fun->as.global);
}

/* λd. do { ⟨dx, dy⟩ ← z' d; x' dx; y' dy }. The function's cotangent first, then those of the arguments. */
static void application_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    const CtCore *core = back->core;
    uint32_t count = core->as.call.count;
    CtCalled called = ct_chad_call(c, seq, core->range, back->values[0], d, back->depth, count);
    CtCore *df = is_closed(c, core->as.call.of.fun) ? NULL : ct_chad_left(c, seq, core->range, &called, 0);
    CtCore **ds = operands(c, seq, back, &called, 0);
    for (uint32_t i = 0; i < count; i++) ct_chad_back_call(c, seq, back->parts[i], ds[i]);
    ct_chad_back_call(c, seq, back->parts[count], df);
}

static void maybe_application_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    if (ct_chad_calls_apart(c))
        application_back(c, seq, back, d);
    else
        ct_chad_unless_zero(c, seq, back, d, application_back);
}

/* Whether a term is a call of a known function on first-order constant arguments, which needs no derivative. */
static bool is_plain(const CtCore *core, CtBack *const *parts) {
    if (core->as.call.of.fun->kind != CORE_GLOBAL || ct_core_type_has_fun(core->type)) return false;
    for (uint32_t i = 0; i < core->as.call.count; i++)
        if (ct_core_type_has_fun(core->as.call.args[i]->type)) return false;
    return !parts || ct_is_discrete(core->type);
}

/* D[t s] = let ⟨x, x'⟩ = D[t]; ⟨y, y'⟩ = D[s]; ⟨z, z'⟩ = x y in ⟨z, …⟩ */
CtPaired ct_chad_application(CtChad *c, CtSeq *seq, CtCore *core) {
    CtCore *fun = core->as.call.of.fun;
    uint32_t count = core->as.call.count;
    CtPaired f = ct_chad_chad(c, seq, fun);
    if (!ct_ad_movable(f.x)) f.x = ct_ad_seq_name(seq, "f", f.x);
    CtBack **parts;
    CtCore **args = ct_chad_values(c, seq, core->as.call.args, count, &parts);
    if (is_plain(core, parts)) return (CtPaired){ct_core_app(c->p, core->range, fun, args, count), NULL};
    CtCore *call = ct_core_app(c->p, core->range, f.x, args, count);
    if (ct_is_discrete(core->type)) return (CtPaired){call, NULL};
    CtCore *both[2];
    ct_ad_seq_open(seq, "y", "y'", call, both);
    bool asked =
        c->rung.twice && ct_core_type_has_fun(core->type); /* the result is a function, and §9 does not track which */
    if (!f.back && !parts && !asked) return (CtPaired){both[0], NULL};
    CtBack *back = ct_chad_back(c, core, maybe_application_back);
    back->values = CT_NEW(c->ad->arena, CtCore *);
    back->values[0] = both[1];
    back->parts = CT_NEW_ARRAY(c->ad->arena, CtBack *, count + 1);
    for (uint32_t i = 0; i < count; i++) back->parts[i] = parts ? parts[i] : NULL;
    back->parts[count] = f.back;
    ct_chad_frame(c, count);
    return (CtPaired){both[0], back};
}

/* ---- calls that the backpropagator runs again ---- */

/* λd. let ⟨_, y'⟩ = D[f] x in do { ⟨dx, df⟩ ← y' d; x' dx; f' df }. values: D[f] and x; parts: of f and of x. */
static void checkpoint_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    const CtCore *core = back->core;
    CtCore *both[2];
    ct_ad_seq_open(seq, "y", "y'", ct_core_app(c->p, core->range, back->values[0], &back->values[1], 1), both);
    CtCalled called = ct_chad_call(c, seq, core->range, both[1], d, back->depth, 1);
    CtCore *df = is_closed(c, core->as.call.args[0]) ? NULL : ct_chad_left(c, seq, core->range, &called, 0);
    CtCore **ds = operands(c, seq, back, &called, 1);
    ct_chad_back_call(c, seq, back->parts[1], ds[1]);
    ct_chad_back_call(c, seq, back->parts[0], df);
}

static void maybe_checkpoint_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    ct_chad_unless_zero(c, seq, back, d, checkpoint_back);
}

/* D[checkpointed t s] = let ⟨f, f'⟩ = D[t]; ⟨x, x'⟩ = D[s] in ⟨t x, …⟩ (ad/checkpoint.c). Only the value is computed in
 * the forward pass. */
CtPaired ct_chad_checkpoint(CtChad *c, CtSeq *seq, CtCore *core) {
    CtCore **args = core->as.call.args;
    CtPaired f = ct_chad_chad(c, seq, args[0]), x = ct_chad_chad(c, seq, args[1]);
    if (f.x->kind != CORE_GLOBAL) f.x = ct_ad_seq_name(seq, "f", f.x);
    x.x = ct_ad_seq_name(seq, "x", x.x);
    CtCore *primal = ct_ad_primal_function(c->t, seq, args[0], f.x);
    CtCore *y = ct_ad_seq_name(seq, "y", ct_core_app(c->p, core->range, primal, &x.x, 1));
    if (ct_is_discrete(core->type) || (!f.back && !x.back)) return (CtPaired){y, NULL};
    CtBack *back = ct_chad_back(c, core, maybe_checkpoint_back);
    back->values = CT_NEW_ARRAY(c->ad->arena, CtCore *, 2);
    back->values[0] = f.x;
    back->values[1] = x.x;
    back->parts = CT_NEW_ARRAY(c->ad->arena, CtBack *, 2);
    back->parts[0] = f.back;
    back->parts[1] = x.back;
    ct_chad_frame(c, 1);
    return (CtPaired){y, back};
}

/* ---- function values that are transformed when they are met ---- */

/* The state of an inner method follows the captured variables. */
static void dual_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    const CtCore *core = back->core;
    CtCalled called = ct_chad_call(c, seq, core->range, back->values[0], d, back->depth, core->as.call.count - 1);
    CtCore *df = ct_chad_left(c, seq, core->range, &called, 0);
    CtCore **ds = operands(c, seq, back, &called, 1);
    for (uint32_t i = 1; i < core->as.call.count; i++) ct_chad_back_call(c, seq, back->parts[i], ds[i]);
    ct_chad_back_call(c, seq, back->parts[0], df);
}

static void maybe_dual_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    ct_chad_unless_zero(c, seq, back, d, dual_back);
}

CtPaired ct_chad_dual(CtChad *c, CtSeq *seq, CtCore *core) {
    CtBack **parts;
    uint32_t count = core->as.call.count;
    CtCore **args = ct_chad_values(c, seq, core->as.call.args, count, &parts);
    const CtDualPath *dual = core->as.call.of.dual;
    CtMethod *path = CT_NEW_ARRAY(c->ad->arena, CtMethod, dual->count + 1);
    path[0] = c->t->method;
    memcpy(path + 1, dual->path, dual->count * sizeof *path);
    CtType *type = ct_ad_type(c->ad, c->t->method, core->type);
    type = ct_core_type_pair(c->p, type, ct_chad_result_type(c->ad, c->t->method, core->type));
    CtCore *made = ct_core_dual(c->p, core->range, type, dual->method, path, dual->count + 1, args, count);
    made->as.call.of.dual->primal = dual->primal;
    CtCore *both[2];
    ct_ad_seq_open(seq, "f", "f'", made, both);
    if (!parts) return (CtPaired){both[0], NULL};
    CtBack *back = ct_chad_back(c, core, maybe_dual_back);
    back->values = CT_NEW(c->ad->arena, CtCore *);
    back->values[0] = both[1];
    back->parts = parts;
    ct_chad_frame(c, count);
    return (CtPaired){both[0], back};
}
