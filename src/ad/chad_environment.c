/* The environment vector and its monad: CHAD 2024 Figs. 6 and 8, Table 2.
 *
 * An array has a cell for each variable in scope. A variable's number is that of its binders around it; a function's
 * frame begins where its caller's cells in scope end (`base`), so scoping moves nothing: what is behind the last cell
 * is Zero, and there already. Cells 0, 1, … of a frame are those of what the function value captured and of its
 * parameters, which the caller takes out when the backpropagator has run.
 */
#include "ad/chad.h"

CtPlace ct_chad_cell(CtChad *c) {
    CtPlace place = {PLACE_CELL, c->depth++};
    if (c->depth > c->frame) c->frame = c->depth;
    return place;
}

void ct_chad_place(CtChad *c, CtVar *var, CtPlace place) {
    CtPlace *kept = CT_NEW(c->ad->arena, CtPlace);
    *kept = place;
    ct_map_set(c->ad->arena, &c->places, ct_key(var), kept);
}

CtPlace ct_chad_where(const CtChad *c, const CtVar *var) {
    CtPlace *kept = ct_map_get(&c->places, ct_key(var));
    return kept ? *kept : (CtPlace){PLACE_NONE, 0};
}

/* ---- EVM ---- */

static CtType *environment_type(CtAd *ad) {
    CtGlobal *start = ct_ad_library(ad, "start");
    return start ? start->type : ad->p->unit_type;
}

/* base + n */
static CtCore *address(CtChad *c, CtSpan span, uint32_t n) {
    CtCore *base = ct_core_var(c->p, span, c->base);
    return n == 0 ? base : ct_core_prim2(c->p, span, PRIM_INT_ADD, base, ct_core_int(c->p, span, n));
}

static void next(CtSeq *seq, CtSpan span, CtCore *environment) {
    CtVar *var = ct_var_new(seq->p, "env", environment->type);
    ct_seq_let(seq, span, var, environment);
    seq->state = var;
}

void ct_chad_one(CtChad *c, CtSeq *seq, CtSpan span, CtPlace place, CtCore *cot) {
    bool captured = place.kind == PLACE_CAPTURED;
    if (captured) cot = ct_chad_at(c, span, ct_core_int(c->p, span, place.number), cot);
    CtCore *args[3] = {address(c, span, captured ? 0 : place.number), cot, ct_seq_state(seq, span)};
    next(seq, span, ct_library_call(c->ad, span, "one", args, 3));
}

CtCore *ct_chad_pop(CtChad *c, CtSeq *seq, CtSpan span, uint32_t cell) {
    CtCore *at = ct_seq_name(seq, "x", address(c, span, cell));
    CtCore *args[3] = {ct_seq_state(seq, span), at, NULL};
    CtCore *cot = ct_seq_name(seq, "d", ct_core_array(c->p, span, ARRAY_INDEX, args, 2));
    args[2] = ct_chad_zero(c->ad, span);
    next(seq, span, ct_core_array(c->p, span, ARRAY_UPDATE, args, 3));
    return cot;
}

/* (D[τ]₂, base, EArr) → EArr */
CtType *ct_chad_backpropagator_type(CtAd *ad, CtType *type) {
    CtType *environment = environment_type(ad);
    CtType *params[3] = {ct_chad_cotangent(ad, type), ad->p->int_type, environment};
    return ct_type_fun(ad->p, params, 3, environment);
}

void ct_chad_run(CtChad *c, CtSeq *seq, CtSpan span, CtCore *backpropagator, CtCore *d, uint32_t frame) {
    CtCore *args[3] = {d, address(c, span, frame), ct_seq_state(seq, span)};
    next(seq, span, ct_core_app(c->p, span, backpropagator, args, 3));
}

CtCore *ct_chad_backpropagator(CtChad *c, CtType *type, CtSpan span, bool is_function, const CtBack *back) {
    CtType *environment = environment_type(c->ad);
    CtVar *outer = c->base, *params[3];
    params[0] = ct_var_new(c->p, "d", ct_chad_cotangent(c->ad, type));
    params[1] = c->base = ct_var_new(c->p, "base", c->p->int_type);
    params[2] = ct_var_new(c->p, "env", environment);
    CtSeq seq = ct_seq(c->p, params[2]);
    if (is_function && back) {
        CtCore *args[2] = {address(c, span, c->frame), ct_seq_state(&seq, span)};
        next(&seq, span, ct_library_call(c->ad, span, "ensure", args, 2));
    }
    ct_back_call(c, &seq, back, ct_core_var(c->p, span, params[0]));
    CtCore *body = ct_seq_close(&seq, ct_seq_state(&seq, span));
    c->base = outer;
    return ct_core_lam(c->p, span, NULL, params, 3, body);
}

void ct_chad_unless_zero(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d,
                         void (*write)(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d)) {
    CtSpan span = back->core->span;
    if (d->type->kind != TYPE_DATA) {
        write(c, seq, back, d);
        return;
    }
    CtSeq inner = ct_seq(c->p, seq->state);
    write(c, &inner, back, d);
    CtCore *written = ct_seq_close(&inner, ct_seq_state(&inner, span));
    CtCore *zero = ct_chad_zero(c->ad, span);
    CtCase nothing = {zero->as.call.of.con, NULL, ct_seq_state(seq, span)};
    next(seq, span, ct_core_case(c->p, span, written->type, d, &nothing, 1, written));
}
