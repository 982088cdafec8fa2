/* build, map and zipWith with elements computed by straight-line code: CHAD 2024 §8.1.
 *
 * The backpropagator of such an element is known where it is called, so none is stored. The forward pass is the
 * original operation; the reverse pass computes each element again, followed by its backpropagator. Its contributions
 * to variables are known statically too, and are returned instead of added to the environment. So elements are
 * independent of each other, and the contributions of all elements to a variable form an array, which is added once:
 *
 *   xs ! i     where i is build's own index       BArray: Reals ds or Dense ds
 *   xs ! e     a gather                           At es ds
 *   x          the same for all elements          the sum of ds */
#include "ad/chad/chad.h"

/* A contribution of an element to a variable from outside: to the whole variable, or to the element of it at an
 * index. */
typedef struct Addition {
    const CtBack *variable;
    CtCore *index; /* NULL */
    CtCore *d;
    CtCore *ds, *is; /* arrays over all elements */
} Addition;

struct CtStraight {
    /* The first cell of the element's own variables, which are variables of its backpropagator. */
    uint32_t from;
    CT_VEC(CtCore *) cells; /* D[τ]₂, or NULL while there is no contribution */
    CT_VEC(Addition) additions;
};

bool ct_chad_is_straight(const CtCore *body) {
    for (; body->kind == CORE_LET || body->kind == CORE_UNPACK; body = body->as.let.body)
        if (!ct_chad_is_straight(body->as.let.rhs)) return false;
    switch (body->kind) {
    case CORE_VAR:
    case CORE_LIT:
    case CORE_GLOBAL: return true;
    case CORE_PROJ: return ct_chad_is_straight(body->as.proj.tuple);
    case CORE_ARRAY:
        if (body->as.call.of.array != ARRAY_INDEX && body->as.call.of.array != ARRAY_LENGTH) return false;
        break;
    case CORE_PRIM: break;
    default: return false;
    }
    for (uint32_t i = 0; i < body->as.call.count; i++)
        if (!ct_chad_is_straight(body->as.call.args[i])) return false;
    return true;
}

/* ---- in an element ---- */

static CtCore *boxed(CtChad *c, CtSourceRange range, CtCore *d) { return ct_chad_box(c, range, d->type, d); }

static CtCore *sum(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *a, CtCore *b) {
    if (!a) return b;
    CtCore *args[2] = {a, b};
    bool real = ct_ad_is_real(a->type);
    CtCore *both =
        real ? ct_core_prim2(c->p, range, PRIM_ADD, a, b) : ct_ad_library_call(c->ad, range, "plus", args, 2);
    return ct_ad_seq_name(seq, "d", both);
}

static bool same(const CtCore *a, const CtCore *b) {
    if (!a || !b) return a == b;
    return a->kind == CORE_VAR && b->kind == CORE_VAR && a->as.var == b->as.var;
}

void ct_chad_straight_cell(CtChad *c, uint32_t number) {
    while (c->straight->from + c->straight->cells.count <= number) ct_push(c->ad->arena, &c->straight->cells, NULL);
}

void ct_chad_straight_add(CtChad *c, CtSeq *seq, const CtBack *variable, CtCore *index, CtCore *d) {
    CtStraight *s = c->straight;
    CtSourceRange range = variable->core->range;
    CtPlace place = variable->places[0];
    if (place.kind == PLACE_CELL && place.number >= s->from) {
        if (index) d = ct_ad_seq_name(seq, "d", ct_chad_at(c, range, index, boxed(c, range, d)));
        CtCore **cell = &s->cells.items[place.number - s->from];
        *cell = sum(c, seq, range, *cell, d);
        return;
    }
    for (uint32_t i = 0; i < s->additions.count; i++) {
        Addition *a = &s->additions.items[i];
        if (a->variable->core->as.var != variable->core->as.var || !same(a->index, index)) continue;
        a->d = sum(c, seq, range, a->d, d);
        return;
    }
    ct_push(c->ad->arena, &s->additions, (Addition){.variable = variable, .index = index, .d = d});
}

CtCore *ct_chad_straight_pop(CtChad *c, CtSourceRange range, uint32_t number) {
    CtCore **cell = &c->straight->cells.items[number - c->straight->from], *d = *cell;
    *cell = NULL;
    return d ? boxed(c, range, d) : NULL;
}

/* ---- all of them ---- */

static CtCore *array(CtChad *c, CtSourceRange range, CtArrayOp op, CtCore *x, CtCore *y) {
    CtCore *args[2] = {x, y};
    return ct_core_array(c->p, range, op, args, 2);
}

static CtCore *element(CtChad *c, CtSourceRange range, CtCore *xs, CtVar *i) {
    return array(c, range, ARRAY_INDEX, xs, ct_core_var(c->p, range, i));
}

/* The current element: the parameters of the operation's λ, and the index. */
typedef struct Iteration {
    CtLam *lam;
    CtVar *params[2], *i;
    CtSeq seq;
} Iteration;

static Iteration iteration_of(CtChad *c, const CtBack *back, CtPlace places[2]) {
    CtArrayOp op = back->core->as.call.of.array;
    Iteration iteration = {.seq = ct_ad_seq(c->p, NULL)};
    iteration.lam = back->core->as.call.args[ct_core_array_info(op)->function]->as.lam;
    for (uint32_t k = 0; k < iteration.lam->count; k++) {
        CtVar *param = iteration.lam->params[k];
        iteration.params[k] = ct_ad_bind(c->t, param);
        bool varies = back->parts && back->parts[k] && !ct_is_discrete(param->type);
        places[k] = varies ? ct_chad_cell(c) : (CtPlace){PLACE_NONE, 0};
        ct_chad_place(c, param, places[k]);
    }
    iteration.i = op == ARRAY_BUILD ? iteration.params[0] : ct_core_var_new(c->p, "i", c->p->int_type);
    if (op == ARRAY_BUILD) return iteration;
    for (uint32_t k = 0; k < iteration.lam->count; k++)
        ct_ad_seq_let(&iteration.seq, back->core->range, iteration.params[k],
                      element(c, back->core->range, back->values[k], iteration.i));
    return iteration;
}

/* The indices of a contribution if they are known before: all indices (NULL), or an operand. */
static bool has_indices(const Iteration *iteration, const CtBack *back, Addition *a) {
    if (!a->index) return true;
    if (a->index->kind != CORE_VAR) return false;
    if (a->index->as.var == iteration->i) return true;
    for (uint32_t k = 0; k < iteration->lam->count; k++)
        if (a->index->as.var == iteration->params[k]) a->is = back->values[k];
    return a->is != NULL;
}

/* A value that each element returns, and where the array of all of them is stored. */
typedef struct Given {
    CtCore *item;
    CtCore **all;
} Given;

typedef CT_VEC(Given) Givens;

/* build n (λi. …), unzipped into an array for each value. */
static void build(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *n, Iteration *iteration, const Givens *given) {
    uint32_t count = given->count;
    if (count == 0) return;
    CtCore **items = CT_NEW_ARRAY(c->ad->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) items[i] = given->items[i].item;
    CtCore *made = count == 1 ? items[0] : ct_core_tuple(c->p, range, items, count);
    CtCore *f = ct_core_lam(c->p, range, NULL, &iteration->i, 1, ct_ad_seq_close(&iteration->seq, made));
    CtCore *all = ct_ad_seq_name(seq, "ds", array(c, range, ARRAY_BUILD, n, f));
    *given->items[0].all = all;
    for (uint32_t i = 0; count > 1 && i < count; i++) {
        CtVar *p = ct_core_var_new(c->p, "p", all->type->parts[0]);
        CtCore *part = ct_core_proj(c->p, range, ct_core_var(c->p, range, p), i);
        f = ct_core_lam(c->p, range, NULL, &p, 1, part);
        *given->items[i].all = ct_ad_seq_name(seq, "ds", array(c, range, ARRAY_MAP, f, all));
    }
}

/* The contributions whose arrays are not known yet; `ds` is the array of `dy`. */
static Givens additions(CtChad *c, const CtBack *back, const Iteration *iteration, CtCore *dy, CtCore *ds) {
    Givens given = {0};
    for (uint32_t i = 0; i < c->straight->additions.count; i++) {
        Addition *a = &c->straight->additions.items[i];
        if (same(a->d, dy)) /* the element is just an element of another array: its cotangents are passed on */
            a->ds = ds;
        else
            ct_push(c->ad->arena, &given, (Given){a->d, &a->ds});
        if (!has_indices(iteration, back, a)) ct_push(c->ad->arena, &given, (Given){a->index, &a->is});
    }
    return given;
}

/* Adds the contributions of all elements to a variable. */
static void add(CtChad *c, CtSeq *seq, CtSourceRange range, CtCore *n, const Addition *a) {
    bool real = ct_ad_is_real(a->d->type);
    CtCore *cot = ct_chad_dense(c, range, a->d->type, a->ds), *args[3] = {n, NULL, cot};
    if (!a->index) {
        args[1] = cot;
        cot = boxed(c, range, ct_ad_library_call(c->ad, range, real ? "totalReals" : "total", args, 2));
    } else if (a->is) {
        args[0] = a->is;
        args[1] = cot;
        cot = ct_chad_make(c->ad, range, "At", args, 2);
    } else {
        CtCore *xs = ct_core_var(c->p, range, ct_ad_var(c->t, a->variable->core->as.var));
        args[1] = ct_core_array(c->p, range, ARRAY_LENGTH, &xs, 1);
        cot = ct_ad_library_call(c->ad, range, "leading", args, 3);
    }
    ct_chad_add(c, seq, range, a->variable->places[0], ct_ad_seq_name(seq, "d", cot));
}

void ct_chad_straight_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    CtCore *n = back->values[2];
    CtCore *ds = ct_ad_seq_name(seq, "ds", ct_chad_elements(c, range, back->core->type->parts[0], n, d));
    CtStraight own = {.from = back->depth};
    uint32_t depth = c->depth;
    c->depth = back->depth;
    c->straight = &own;
    CtPlace places[2];
    Iteration iteration = iteration_of(c, back, places);
    CtPaired made = ct_chad_chad(c, &iteration.seq, iteration.lam->body);
    CtCore *dy = ct_ad_seq_name(&iteration.seq, "d", element(c, range, ds, iteration.i)), *dx[2] = {NULL, NULL};
    ct_chad_back_call(c, &iteration.seq, made.back, dy);
    Givens given = additions(c, back, &iteration, dy, ds);
    for (uint32_t k = 0; k < iteration.lam->count; k++) {
        CtCore *came = places[k].kind == PLACE_NONE ? NULL : own.cells.items[places[k].number - own.from];
        if (came) ct_push(c->ad->arena, &given, (Given){came, &dx[k]});
    }
    c->straight = NULL;
    c->depth = depth;
    build(c, seq, range, n, &iteration, &given);
    for (uint32_t i = 0; i < own.additions.count; i++) add(c, seq, range, n, &own.additions.items[i]);
    for (uint32_t k = 0; k < iteration.lam->count; k++)
        if (dx[k])
            ct_chad_back_call(c, seq, back->parts[k], ct_chad_dense(c, range, iteration.lam->params[k]->type, dx[k]));
}
