/* The environment vector and its monad: CHAD 2024 Figs. 6 and 8, Table 2.
 *
 * An array has a cell for each variable in scope. The number of a variable is the number of enclosing binders. The
 * frame of a function begins where the cells of its caller end (`base`), so entering a scope moves nothing: the array
 * is longer than the cells in scope, and the cells behind them are Zero. The first cells of a frame belong to the
 * closure and to the parameters; the caller reads them when the backpropagator has run. */
#include "ad/chad/chad.h"

CtPlace ct_chad_cell(CtChad *c) {
    CtPlace place = {PLACE_CELL, c->depth++};
    if (c->straight)
        ct_chad_straight_cell(c, place.number);
    else if (c->depth > c->frame)
        c->frame = c->depth;
    return place;
}

void ct_chad_place(CtChad *c, CtVar *var, CtPlace place) {
    CtPlace *kept = CT_NEW(c->ad->arena, CtPlace);
    *kept = place;
    kept->var = var;
    ct_map_set(c->ad->arena, &c->places, ct_key(var), kept);
}

CtPlace ct_chad_where(const CtChad *c, const CtVar *var) {
    CtPlace *kept = ct_map_get(&c->places, ct_key(var));
    return kept ? *kept : (CtPlace){PLACE_NONE, 0};
}

/* ---- EV and EVM ---- */

CtType *ct_chad_environment_type(CtAd *ad) {
    CtGlobal *start = ct_ad_library(ad, "start");
    return start ? start->type : ad->p->unit_type;
}

CtCore *ct_chad_state(CtChad *c, CtSeq *seq, CtSourceRange range) {
    return seq->state ? ct_ad_seq_state(seq, range) : ct_core_global(c->p, range, ct_ad_library(c->ad, "start"));
}

/* base + n */
static CtCore *address(CtChad *c, CtSourceRange range, uint32_t n) {
    CtCore *base = ct_core_var(c->p, range, c->base);
    return n == 0 ? base : ct_core_prim2(c->p, range, PRIM_INT_ADD, base, ct_core_int(c->p, range, n));
}

static void next(CtSeq *seq, CtSourceRange range, CtCore *environment) {
    CtVar *var = ct_core_var_new(seq->p, "env", environment->type);
    ct_ad_seq_let(seq, range, var, environment);
    seq->state = var;
}

/* Adds to what has been accumulated: +_{EV Γ}. */
static void sum(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *more) {
    if (seq->state) {
        CtCore *args[2] = {ct_ad_seq_state(seq, range), more};
        more = ct_ad_library_call(c->ad, range, "union", args, 2);
    }
    next(seq, range, more);
}

static void accumulate(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *x, CtCore *cot) {
    CtCore *args[3] = {x, cot, ct_ad_seq_state(seq, range)};
    next(seq, range, ct_ad_library_call(c->ad, range, "one", args, 3));
}

/* Accumulation with recording. The record afterwards has no cotangent, since that would hold a reference to it while it
 * is added. */
static void accumulate_seen(CtChad *c, CtSeq *seq, CtSourceRange range, CtPlace place, uint32_t cell, CtCore *cot) {
    CtCellNote note = {.name = place.var->name->text, .captured = place.kind == PLACE_CAPTURED};
    CtCore *x = ct_ad_seq_name(seq, "x", address(c, range, cell)), *d = ct_ad_seq_name(seq, "d", cot);
    next(seq, range, ct_ad_cell_seen(c->ad, note, x, d, ct_ad_seq_state(seq, range)));
    accumulate(c, seq, range, x, d);
    note.after = true;
    next(seq, range, ct_ad_cell_seen(c->ad, note, x, ct_chad_zero(c->ad, range), ct_ad_seq_state(seq, range)));
}

void ct_chad_one(CtChad *c, CtSeq *seq, CtSourceRange range, CtPlace place, CtCore *cot) {
    bool captured = place.kind == PLACE_CAPTURED;
    if (captured) cot = ct_chad_at(c, range, ct_core_int(c->p, range, place.number), cot);
    uint32_t cell = captured ? 0 : place.number;
    if (!c->rung.local) {
        CtCore *args[3] = {ct_core_int(c->p, range, c->frame), ct_core_int(c->p, range, cell), cot};
        sum(c, seq, range, ct_ad_library_call(c->ad, range, "oneHot", args, 3));
        return;
    }
    if (ct_ad_records_cells(c->ad))
        accumulate_seen(c, seq, range, place, cell, cot);
    else
        accumulate(c, seq, range, address(c, range, cell), cot);
}

/* split */
static CtCore *split(CtChad *c, CtSeq *seq, CtSourceRange range, uint32_t cell) {
    if (!seq->state) return NULL;
    CtCore *args[2] = {ct_core_int(c->p, range, cell), ct_ad_seq_state(seq, range)}, *parts[2];
    ct_ad_seq_open(seq, "d", "env", ct_ad_library_call(c->ad, range, "split", args, 2), parts);
    seq->state = parts[1]->as.var;
    return parts[0];
}

void ct_chad_put(CtChad *c, CtSeq *seq, CtSourceRange range, uint32_t cell, CtCore *cot) {
    CtCore *args[3] = {ct_ad_seq_state(seq, range), address(c, range, cell), cot};
    next(seq, range, ct_core_array(c->p, range, ARRAY_UPDATE, args, 3));
}

CtCore *ct_chad_take(CtChad *c, CtSeq *seq, CtSourceRange range, uint32_t cell) {
    if (!c->rung.local) return split(c, seq, range, cell);
    CtCore *at = ct_ad_seq_name(seq, "x", address(c, range, cell));
    CtCore *args[3] = {ct_ad_seq_state(seq, range), at, NULL};
    CtCore *cot = ct_ad_seq_name(seq, "d", ct_core_array(c->p, range, ARRAY_INDEX, args, 2));
    args[2] = ct_chad_zero(c->ad, range);
    next(seq, range, ct_core_array(c->p, range, ARRAY_UPDATE, args, 3));
    return cot;
}

CtCore *ct_chad_pop(CtChad *c, CtSeq *seq, CtSourceRange range, uint32_t cell) {
    if (c->straight) return ct_chad_straight_pop(c, range, cell);
    return c->held ? ct_chad_held_pop(c, seq, range, cell) : ct_chad_take(c, seq, range, cell);
}

/* ---- backpropagators as functions ---- */

/* (D[τ]₂, base, EArr) → EArr, or (D[τ]₂) → EV */
CtType *ct_chad_backpropagator_type(CtAd *ad, CtMethod method, CtType *type) {
    CtType *environment = ct_chad_environment_type(ad);
    CtType *params[3] = {ct_chad_cotangent(ad, type), ad->p->int_type, environment};
    return ct_core_type_fun(ad->p, params, ct_chad_rung(method).local ? 3 : 1, environment);
}

CtType *ct_chad_result_type(CtAd *ad, CtMethod method, CtType *type) {
    CtType *one = ct_chad_backpropagator_type(ad, method, type);
    return ct_chad_rung(method).twice ? ct_core_type_pair(ad->p, one, one) : one;
}

/* Calls a backpropagator whose frame begins `depth` cells further on. */
static CtCore *apply(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *backpropagator, CtCore *d, uint32_t depth) {
    if (!c->rung.local) return ct_core_app(c->p, range, backpropagator, &d, 1);
    CtCore *args[3] = {d, address(c, range, depth), ct_ad_seq_state(seq, range)};
    return ct_core_app(c->p, range, backpropagator, args, 3);
}

void ct_chad_run(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *backpropagator, CtCore *d, uint32_t depth) {
    CtCore *made = apply(c, seq, range, backpropagator, d, 0);
    ct_chad_held_share(c, depth);
    c->needs_cells = true;
    if (c->rung.local)
        next(seq, range, made);
    else
        sum(c, seq, range, made);
}

bool ct_chad_calls_apart(const CtChad *c) { return c->rung.local && !ct_ad_records_cells(c->ad); }

void ct_chad_frame(CtChad *c, uint32_t count) {
    if (!ct_chad_calls_apart(c) && c->depth + 1 + count > c->frame) c->frame = c->depth + 1 + count;
}

/* An environment of `count` cells. */
static CtCore *cells(CtChad *c, CtSourceRange range, uint32_t count) {
    CtCore **zeros = CT_NEW_ARRAY(c->ad->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) zeros[i] = ct_chad_zero(c->ad, range);
    return ct_core_array_lit(c->p, range, ct_chad_cot(c->ad), zeros, count);
}

/* x' d in an environment of its own, which has `count` cells. Only the call is guarded by a
 * test that d is not Zero: what is done with its cells afterwards must not wait for other calls. */
static CtCore *apart(CtChad *c, CtSourceRange range, CtCore *backpropagator, CtCore *d, uint32_t count) {
    CtCore *env = cells(c, range, count);
    CtCore *args[3] = {d, ct_core_int(c->p, range, 0), env};
    CtCore *made = ct_core_app(c->p, range, backpropagator, args, 3);
    if (ct_ad_is_real(d->type) || d->type->kind != TYPE_DATA) return made;
    CtCase nothing = {ct_chad_zero(c->ad, range)->as.call.of.con, NULL, env};
    return ct_core_case(c->p, range, made->type, d, &nothing, 1, made);
}

CtCore *ct_chad_run_apart(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *backpropagator, CtCore *d) {
    return ct_ad_seq_name(seq, "frame", apart(c, range, backpropagator, d, c->frame));
}

CtCalled ct_chad_call(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *backpropagators, CtCore *d, uint32_t depth,
                      uint32_t count) {
    CtCalled called = {.backpropagators = backpropagators, .d = d, .depth = depth};
    CtCore *own = c->rung.twice ? ct_core_proj(c->p, range, backpropagators, 0) : backpropagators, *made;
    if (ct_chad_calls_apart(c)) {
        made = apart(c, range, own, d, count + 1);
    } else {
        made = apply(c, seq, range, own, d, depth);
        c->needs_cells = true;
    }
    if (c->rung.local && !ct_chad_calls_apart(c))
        next(seq, range, made);
    else
        called.frame = ct_ad_seq_name(seq, "frame", made);
    return called;
}

CtCore *ct_chad_left(CtChad *c, CtSeq *seq, CtSourceRange range, const CtCalled *called, uint32_t i) {
    if (ct_chad_calls_apart(c)) {
        CtCore *at[2] = {called->frame, ct_core_int(c->p, range, i)};
        return ct_ad_seq_name(seq, "d", ct_core_array(c->p, range, ARRAY_INDEX, at, 2));
    }
    if (c->rung.local) return ct_chad_take(c, seq, range, called->depth + i);
    CtCore *frame = called->frame;
    if (c->rung.twice && i == 0) {
        CtCore *again = ct_core_proj(c->p, range, called->backpropagators, 1);
        frame = apply(c, seq, range, again, called->d, 0);
    }
    CtCore *args[2] = {ct_core_int(c->p, range, i), frame};
    return ct_ad_seq_name(seq, "d", ct_ad_library_call(c->ad, range, "get", args, 2));
}

/* The environment with the cells of the function's frame. The caller has made those that it reads. */
static CtCore *layer(CtChad *c, CtSourceRange range, CtVar *env) {
    CtCore *args[2] = {address(c, range, c->frame), ct_core_var(c->p, range, env)};
    bool is_enough = !c->needs_cells && !ct_ad_records_cells(c->ad);
    return is_enough ? args[1] : ct_ad_library_call(c->ad, range, "ensure", args, 2);
}

CtCore *ct_chad_backpropagator(CtChad *c, CtType *type, CtSourceRange range, bool is_function, const CtBack *back) {
    CtVar *outer = c->base, *params[3];
    params[0] = ct_core_var_new(c->p, "d", ct_chad_cotangent(c->ad, type));
    params[1] = c->base = ct_core_var_new(c->p, "base", c->p->int_type);
    params[2] = ct_core_var_new(c->p, "env", ct_chad_environment_type(c->ad));
    CtVar *env = is_function ? ct_core_var_like(c->p, params[2], params[2]->type) : params[2];
    CtSeq seq = ct_ad_seq(c->p, c->rung.local ? env : NULL);
    CtHeld *held = c->held;
    bool needs_cells = c->needs_cells;
    c->needs_cells = false;
    c->held = NULL;
    bool holds = c->rung.local && !ct_ad_records_cells(c->ad);
    if (holds) ct_chad_held_begin(c);
    ct_chad_back_call(c, &seq, back, ct_core_var(c->p, range, params[0]));
    if (holds) ct_chad_held_end(c, &seq, is_function);
    CtCore *body = ct_ad_seq_close(&seq, ct_chad_state(c, &seq, range));
    if (is_function && c->rung.local) body = ct_core_let(c->p, range, env, layer(c, range, params[2]), body);
    c->held = held;
    c->needs_cells = needs_cells;
    c->base = outer;
    return ct_core_lam(c->p, range, NULL, params, c->rung.local ? 3 : 1, body);
}

/* The accumulation state after the code that `write` writes. */
static CtCore *written_by(CtChad *c, const CtSeq *seq, const CtBack *back, CtCore *d,
                          void (*write)(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d)) {
    CtSeq inner = ct_ad_seq(c->p, seq->state);
    bool holds = c->held != NULL;
    if (holds) ct_chad_held_begin(c);
    write(c, &inner, back, d);
    if (holds) ct_chad_held_shared(c, ct_chad_held_end(c, &inner, false));
    CtCore *state = ct_chad_state(c, &inner, back->core->range);
    return ct_ad_seq_close(&inner, state);
}

void ct_chad_unless_zero(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d,
                         void (*write)(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d)) {
    if (d->type->kind != TYPE_DATA || c->rung.dense) {
        write(c, seq, back, d);
        return;
    }
    CtSourceRange range = back->core->range;
    CtCore *written = written_by(c, seq, back, d, write);
    CtCore *zero = ct_chad_zero(c->ad, range);
    CtCase nothing = {zero->as.call.of.con, NULL, ct_chad_state(c, seq, range)};
    next(seq, range, ct_core_case(c->p, range, written->type, d, &nothing, 1, written));
}

void ct_chad_unless_none(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d,
                         void (*write)(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d)) {
    CtSourceRange range = back->core->range;
    CtCore *written = written_by(c, seq, back, d, write);
    CtCore *is_zero = d->type->kind == TYPE_DATA ? ct_ad_library_call(c->ad, range, "nothing", &d, 1)
                                                 : ct_core_prim1(c->p, range, PRIM_IS_NEGATIVE_ZERO, d);
    CtCore *unchanged = ct_chad_state(c, seq, range);
    next(seq, range, ct_core_if(c->p, range, is_zero, unchanged, written));
}
