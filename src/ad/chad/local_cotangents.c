/* Sums contributions in variables instead of cells.
 *
 * The contributions of one backpropagator to a variable are known when its code is written, unless control flow hides
 * them. So their sum is a term. It is added to the variable's cell at the end of the variable's scope, if other code
 * can have added to the cell too, and at the end of the backpropagator for variables that are still in scope. The cell
 * of a variable used only in straight-line code is never accessed; a cell that is shared with others receives one
 * addition from this backpropagator, instead of one for each use. */
#include "ad/chad/chad.h"

typedef struct Held {
    CtPlace place; /* of the variable */
    CtCore *d;     /* the sum, D[τ]₂ or a Cot; NULL: zero */
    CtSourceRange range;
    bool shared; /* others may have added to the cell since its scope began */
} Held;

struct CtHeld {
    CtHeld *outer;
    CT_VEC(Held) cells;
};

static Held *held(CtChad *c, uint32_t cell) {
    while (c->held->cells.count <= cell) ct_push(c->ad->arena, &c->held->cells, (Held){.d = NULL});
    return &c->held->cells.items[cell];
}

static CtCore *boxed(CtChad *c, CtSourceRange range, CtCore *d) { return ct_chad_box(c, range, d->type, d); }

static CtCore *sum(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *a, CtCore *b) {
    if (ct_ad_is_real(a->type) && ct_ad_is_real(b->type))
        return ct_ad_seq_name(seq, "d", ct_core_prim2(c->p, range, PRIM_ADD, a, b));
    CtCore *args[2] = {boxed(c, range, a), boxed(c, range, b)};
    return ct_ad_seq_name(seq, "d", ct_ad_library_call(c->ad, range, "plus", args, 2));
}

void ct_chad_held_begin(CtChad *c) {
    CtHeld *scope = CT_NEW(c->ad->arena, CtHeld);
    scope->outer = c->held;
    c->held = scope;
}

CtHeld *ct_chad_held_end(CtChad *c, CtSeq *seq, bool is_frame) {
    CtHeld *scope = c->held;
    c->held = NULL;
    for (uint32_t i = 0; i < scope->cells.count; i++) {
        Held *cell = &scope->cells.items[i];
        if (!cell->d) continue;
        CtCore *cot = boxed(c, cell->range, cell->d);
        if (is_frame && !cell->shared)
            ct_chad_put(c, seq, cell->range, i, cot);
        else
            ct_chad_one(c, seq, cell->range, cell->place, cot);
        cell->shared = true;
    }
    c->held = scope->outer;
    return scope;
}

void ct_chad_held_shared(CtChad *c, const CtHeld *inner) {
    for (uint32_t i = 0; i < inner->cells.count; i++) {
        if (!inner->cells.items[i].shared) continue;
        held(c, i)->shared = true;
        c->needs_cells = true;
    }
}

void ct_chad_held_share(CtChad *c, uint32_t depth) {
    for (uint32_t i = 0; c->held && i < depth; i++) held(c, i)->shared = true;
}

void ct_chad_add(CtChad *c, CtSeq *seq, CtSourceRange range, CtPlace place, CtCore *d) {
    if (!c->held) {
        ct_chad_one(c, seq, range, place, boxed(c, range, d));
        return;
    }
    bool captured = place.kind == PLACE_CAPTURED;
    if (captured)
        d = ct_ad_seq_name(seq, "d", ct_chad_at(c, range, ct_core_int(c->p, range, place.number), boxed(c, range, d)));
    CtPlace cell = {PLACE_CELL, captured ? 0 : place.number, place.var};
    Held *h = held(c, cell.number);
    CtCore *both = h->d ? sum(c, seq, range, h->d, d) : ct_ad_seq_name(seq, "d", d);
    *held(c, cell.number) = (Held){cell, both, range, h->shared};
}

CtCore *ct_chad_held_pop(CtChad *c, CtSeq *seq, CtSourceRange range, uint32_t cell) {
    Held own = *held(c, cell);
    *held(c, cell) = (Held){.d = NULL};
    CtCore *d = own.d ? boxed(c, range, own.d) : NULL;
    if (!own.shared) return d;
    CtCore *others = ct_chad_take(c, seq, range, cell);
    return d ? sum(c, seq, range, others, d) : others;
}
