/* Array operations with function arguments: CHAD 2024 Figs. 9 and 10.
 *
 * The forward pass stores the backpropagator of each element beside it, and the reverse pass calls them. Those of
 * build, map and zipWith are independent. A fold goes from the left, so the tree of Fig. 10 is a spine, and is stored
 * as an array; the reverse pass goes from the last step to the first. */
#include "ad/chad/chad.h"

static CtCore *array(CtChad *c, CtSourceRange range, CtArrayOp op, CtCore *x, CtCore *y, CtCore *z) {
    CtCore *args[3] = {x, y, z};
    return ct_core_array(c->p, range, op, args, z ? 3 : y ? 2 : 1);
}

static CtCore *use(CtChad *c, CtSourceRange range, CtVar *var) { return ct_core_var(c->p, range, var); }
static CtCore *element(CtChad *c, CtSourceRange range, CtCore *xs, CtCore *i) {
    return array(c, range, ARRAY_INDEX, xs, i, NULL);
}

static CtCore *lambda(CtChad *c, CtSourceRange range, CtVar *const *params, uint32_t count, CtCore *body) {
    return ct_core_lam(c->p, range, NULL, params, count, body);
}

/* map (λp. proj i p) xs */
static CtCore *unzipped(CtChad *c, CtSourceRange range, CtCore *xs, uint32_t i) {
    CtVar *p = ct_core_var_new(c->p, "p", xs->type->parts[0]);
    CtCore *part = ct_core_proj(c->p, range, use(c, range, p), i);
    return array(c, range, ARRAY_MAP, lambda(c, range, &p, 1, part), xs, NULL);
}

/* ---- a loop under way ---- */

/* op (λ⟨x⟩. t) ⟨xs⟩. The only x of build is the index; the first x of folds is the accumulator. */
typedef struct Loop {
    CtCore *core;
    CtLam *lam;
    CtCore *others[2]; /* the operands that are no functions, in order */
    uint32_t count;
    bool carries;
} Loop;

static Loop loop_of(CtCore *core) {
    Loop loop = {.core = core};
    int function = ct_core_array_info(core->as.call.of.array)->function;
    for (uint32_t i = 0; i < core->as.call.count; i++)
        if ((int)i != function) loop.others[loop.count++] = core->as.call.args[i];
    loop.lam = core->as.call.args[function]->as.lam;
    CtArrayOp op = core->as.call.of.array;
    loop.carries = op != ARRAY_BUILD && op != ARRAY_MAP && op != ARRAY_ZIP_WITH;
    return loop;
}

/* ⟨y, y'⟩ of the body, in the scope of its parameters, whose cells belong to the loop. */
typedef struct Body {
    CtVar *params[2];
    CtPlace places[2];
    CtSeq seq;
    CtPaired made;
} Body;

static Body body_of(CtChad *c, const CtLam *lam, const bool *varies) {
    Body body = {.seq = ct_ad_seq(c->p, NULL)};
    uint32_t depth = c->depth;
    for (uint32_t i = 0; i < lam->count; i++) {
        body.params[i] = ct_ad_bind(c->t, lam->params[i]);
        bool has_cell = varies[i] && !ct_is_discrete(lam->params[i]->type);
        body.places[i] = has_cell ? ct_chad_cell(c) : (CtPlace){PLACE_NONE, 0};
        ct_chad_place(c, lam->params[i], body.places[i]);
    }
    body.made = ct_chad_chad(c, &body.seq, lam->body);
    if (!ct_ad_movable(body.made.x)) body.made.x = ct_ad_seq_name(&body.seq, "y", body.made.x);
    c->depth = depth;
    return body;
}

static CtCore *backpropagator(CtChad *c, const CtLam *lam, const Body *body) {
    return ct_chad_backpropagator(c, lam->body->type, lam->body->range, false, body->made.back);
}

/* The cotangent of a parameter, taken from its cell; NULL if it has none. */
static CtCore *taken(CtChad *c, CtSeq *seq, const CtBack *back, const CtLam *lam, uint32_t i) {
    if (back->places[i].kind == PLACE_NONE) return NULL;
    CtCore *cot = ct_chad_take(c, seq, back->core->range, back->places[i].number);
    return cot ? ct_ad_seq_name(seq, "d", ct_chad_unbox(c, back->core->range, lam->params[i]->type, cot)) : NULL;
}

static CtPlace *places_of(CtChad *c, const Body *body) {
    CtPlace *places = CT_NEW_ARRAY(c->ad->arena, CtPlace, 2);
    memcpy(places, body->places, sizeof body->places);
    return places;
}

/* Runs a loop that carries the environment. `state` is the environment's variable inside; `made` is what each iteration
 * yields besides, or NULL. Returns the array of the latter. */
static CtCore *iterations(CtChad *c, CtSeq *seq, CtSourceRange range, CtVar *i, CtSeq *inner, CtVar *state,
                          CtCore *made, CtCore *n) {
    CtVar *params[2] = {state, i};
    CtCore *start = ct_chad_state(c, seq, range), *after = ct_ad_seq_state(inner, range);
    CtCore *indices = array(c, range, ARRAY_IOTA, n, NULL, NULL);
    if (!made) {
        CtCore *f = lambda(c, range, params, 2, ct_ad_seq_close(inner, after));
        CtVar *end = ct_core_var_new(c->p, "env", start->type);
        ct_ad_seq_let(seq, range, end, array(c, range, ARRAY_FOLDL, f, start, indices));
        seq->state = end;
        return NULL;
    }
    CtCore *both = ct_core_pair(c->p, range, after, made);
    CtCore *f = lambda(c, range, params, 2, ct_ad_seq_close(inner, both));
    CtCore *parts[2];
    ct_ad_seq_open(seq, "env", "ds", array(c, range, ARRAY_MAP_ACCUM, f, start, indices), parts);
    seq->state = parts[0]->as.var;
    return parts[1];
}

/* ---- build, map, zipWith ---- */

/* Runs the backpropagators of the elements from … from+n−1 in turn, in the environment `env`, which holds the frame's
 * cells from c->base on. The result is a pair of the environment, and an array with a Cot for each parameter that has a
 * cotangent: that of all its values. */
static CtCore *stretch(CtChad *c, const CtBack *back, CtVar *env, CtCore *ds, CtCore *from, CtCore *n, CtCore *dx[2]) {
    CtSourceRange range = back->core->range;
    Loop loop = loop_of(back->core);
    CtVar *iteration = ct_core_var_new(c->p, "i", c->p->int_type);
    CtVar *state = ct_core_var_new(c->p, "env", ct_chad_environment_type(c->ad));
    CtSeq inner = ct_ad_seq(c->p, state), outer = ct_ad_seq(c->p, env);
    CtCore *i = use(c, range, iteration);
    if (from) i = ct_ad_seq_name(&inner, "i", ct_core_prim2(c->p, range, PRIM_INT_ADD, from, i));
    CtCore *f = ct_ad_seq_name(&inner, "f", ct_core_proj(c->p, range, element(c, range, back->values[0], i), 1));
    CtCore *dy = ct_ad_seq_name(&inner, "d", element(c, range, ds, i)), *made = NULL;
    ct_chad_run(c, &inner, range, f, dy, back->depth);
    for (uint32_t k = loop.lam->count; k-- > 0;) {
        dx[k] = taken(c, &inner, back, loop.lam, k);
        if (dx[k]) made = made ? ct_core_pair(c->p, range, dx[k], made) : dx[k];
    }
    CtCore *all = iterations(c, &outer, range, iteration, &inner, state, made, n), *cots[2];
    if (all) all = ct_ad_seq_name(&outer, "ds", all);
    uint32_t count = 0;
    for (uint32_t k = 0; k < loop.lam->count; k++) {
        if (!dx[k]) continue;
        CtCore *own = dx[0] && dx[1] ? unzipped(c, range, all, k) : all;
        cots[count++] = ct_ad_seq_name(&outer, "d", ct_chad_dense(c, range, loop.lam->params[k]->type, own));
    }
    CtCore *kept = ct_core_array_lit(c->p, range, ct_chad_cot(c->ad), cots, count);
    return ct_ad_seq_close(&outer, ct_core_pair(c->p, range, ct_ad_seq_state(&outer, range), kept));
}

static CtCore *library(CtChad *c, CtSourceRange range, const char *name, CtCore **args, uint32_t count) {
    return ct_ad_library_call(c->ad, range, name, args, count);
}

/* Many elements are divided into groups. Each group has an environment of its own; these are added up by a balanced
 * tree, and then to the frame's. So groups are independent (§8), and they do not depend on the number of threads. */
static CtCore *groups(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *ds, CtCore *n, CtCore *size) {
    CtSourceRange range = back->core->range;
    CtCore *cells = ct_core_int(c->p, range, c->frame), *dx[2] = {NULL, NULL}, *parts[2];
    CtVar *g = ct_core_var_new(c->p, "g", c->p->int_type), *base = c->base;
    CtVar *env = ct_core_var_new(c->p, "env", seq->state->type);
    CtSeq inner = ct_ad_seq(c->p, NULL);
    c->base = ct_core_var_new(c->p, "base", c->p->int_type);
    ct_ad_seq_let(&inner, range, c->base, ct_core_int(c->p, range, 0));
    ct_ad_seq_let(&inner, range, env, library(c, range, "fresh", &cells, 1));
    CtCore *from = ct_core_prim2(c->p, range, PRIM_INT_MUL, use(c, range, g), size);
    from = ct_ad_seq_name(&inner, "from", from);
    CtCore *left = ct_core_prim2(c->p, range, PRIM_INT_SUB, n, from);
    left = ct_ad_seq_name(&inner, "n", ct_core_prim2(c->p, range, PRIM_INT_MIN, size, left));
    ct_ad_seq_open(&inner, "env", "made", stretch(c, back, env, ds, from, left, dx), parts);
    parts[0] = library(c, range, "given", (CtCore *[]){cells, parts[0]}, 2);
    CtCore *own = ct_ad_seq_close(&inner, ct_core_pair(c->p, range, parts[0], parts[1]));
    c->base = base;
    CtCore *args[3] = {cells, library(c, range, "groupCount", (CtCore *[]){size, n}, 2), lambda(c, range, &g, 1, own)};
    ct_ad_seq_open(seq, "env", "made", library(c, range, "inGroups", args, 3), parts);
    args[0] = use(c, range, base);
    args[1] = parts[0];
    args[2] = ct_ad_seq_state(seq, range);
    CtCore *joined = ct_ad_seq_name(seq, "env", library(c, range, "joined", args, 3));
    CtCore *cots[2];
    uint32_t count = (dx[0] != NULL) + (dx[1] != NULL);
    for (uint32_t k = 0; k < count; k++) {
        CtCore *which[3] = {ct_core_int(c->p, range, k), ct_core_int(c->p, range, count), parts[1]};
        cots[k] = ct_ad_seq_name(seq, "d", library(c, range, "consecutive", which, 3));
    }
    return ct_core_pair(c->p, range, joined, ct_core_array_lit(c->p, range, ct_chad_cot(c->ad), cots, count));
}

/* λd. sequence (zipWith (λf d'. scope (f d')) a₂ (collect d)). values: the pairs ⟨a₁, a₂⟩ of the elements. */
static void elementwise_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    Loop loop = loop_of(back->core);
    CtCore *n = ct_ad_seq_name(seq, "n", array(c, range, ARRAY_LENGTH, back->values[0], NULL, NULL));
    CtCore *ds = ct_ad_seq_name(seq, "ds", ct_chad_elements(c, range, back->core->type->parts[0], n, d));
    CtCore *dx[2] = {NULL, NULL}, *parts[2];
    CtCore *after = stretch(c, back, seq->state, ds, NULL, n, dx);
    if (c->rung.local) {
        CtSeq many = ct_ad_seq(c->p, seq->state);
        uint32_t least = ct_chad_group_least(c, back->core, loop.lam->body);
        CtCore *apart = groups(c, &many, back, ds, n, ct_core_int(c->p, range, least));
        CtCore *few = ct_core_prim2(c->p, range, PRIM_INT_LT, n, ct_core_int(c->p, range, 2 * least));
        after = ct_core_if(c->p, range, few, after, ct_ad_seq_close(&many, apart));
    }
    ct_ad_seq_open(seq, "env", "made", after, parts);
    seq->state = parts[0]->as.var;
    uint32_t count = 0;
    for (uint32_t k = 0; k < loop.lam->count; k++) {
        if (!dx[k]) continue;
        CtCore *cot = element(c, range, parts[1], ct_core_int(c->p, range, count++));
        ct_chad_back_call(c, seq, back->parts[k], ct_ad_seq_name(seq, "d", cot));
    }
}

static void maybe_elementwise_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    ct_chad_unless_zero(c, seq, back, d, elementwise_back);
}

static void maybe_straight_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    ct_chad_unless_zero(c, seq, back, d, ct_chad_straight_back);
}

/* op (λ⟨x⟩. y) ⟨xs⟩ with straight-line elements: keeps what is needed to run each element again when its cotangent is
 * known. */
static CtPaired straight(CtChad *c, CtSeq *seq, CtCore *core, CtCore **xs, CtBack **parts) {
    Loop loop = loop_of(core);
    bool varies[2] = {parts && parts[0], parts && loop.count > 1 && parts[1]};
    bool is_build = core->as.call.of.array == ARRAY_BUILD;
    CtBack *back = ct_chad_back(c, core, maybe_straight_back);
    uint32_t frame = c->frame;
    Body body = body_of(c, loop.lam, varies);
    c->frame = frame;
    CtCore *f = lambda(c, core->range, body.params, loop.lam->count, ct_ad_seq_close(&body.seq, body.made.x));
    if (body.made.back) {
        for (uint32_t i = 0; i < loop.count; i++) xs[i] = ct_ad_seq_name(seq, "x", xs[i]);
        back->values = CT_NEW_ARRAY(c->ad->arena, CtCore *, 3);
        memcpy(back->values, xs, loop.count * sizeof *xs);
        CtCore *n = is_build ? xs[0] : array(c, core->range, ARRAY_LENGTH, xs[0], NULL, NULL);
        back->values[2] = ct_ad_seq_name(seq, "n", n);
        back->parts = parts;
    }
    CtCore *args[3] = {is_build ? xs[0] : f, is_build ? f : xs[0], loop.count > 1 ? xs[1] : NULL};
    CtCore *all = ct_core_array(c->p, core->range, core->as.call.of.array, args, loop.count + 1);
    return (CtPaired){all, body.made.back ? back : NULL};
}

static CtPaired elementwise(CtChad *c, CtSeq *seq, CtCore *core) {
    Loop loop = loop_of(core);
    CtBack **parts;
    CtCore **xs = ct_chad_values(c, seq, loop.others, loop.count, &parts);
    if (c->rung.local && ct_chad_is_straight(loop.lam->body)) return straight(c, seq, core, xs, parts);
    bool varies[2] = {parts && parts[0], parts && loop.count > 1 && parts[1]};
    CtBack *back = ct_chad_back(c, core, maybe_elementwise_back);
    Body body = body_of(c, loop.lam, varies);
    CtCore *result = body.made.x;
    if (body.made.back) result = ct_core_pair(c->p, core->range, result, backpropagator(c, loop.lam, &body));
    CtCore *f = lambda(c, core->range, body.params, loop.lam->count, ct_ad_seq_close(&body.seq, result));
    bool is_build = core->as.call.of.array == ARRAY_BUILD;
    CtCore *args[3] = {is_build ? xs[0] : f, is_build ? f : xs[0], loop.count > 1 ? xs[1] : NULL};
    CtCore *all = ct_core_array(c->p, core->range, core->as.call.of.array, args, loop.count + 1);
    if (!body.made.back) return (CtPaired){all, NULL};
    back->values = CT_NEW(c->ad->arena, CtCore *);
    back->values[0] = ct_ad_seq_name(seq, "a", all);
    back->parts = parts;
    back->places = places_of(c, &body);
    return (CtPaired){unzipped(c, core->range, back->values[0], 0), back};
}

/* ---- folds and scans ---- */

/* Whether each step's accumulator is an element of the result (scans); otherwise the second component is (mapAccumL),
 * or nothing. */
static bool is_scan(const CtCore *core) {
    return core->as.call.of.array == ARRAY_SCANL || core->as.call.of.array == ARRAY_SCAN;
}
static bool is_accum(const CtCore *core) { return core->as.call.of.array == ARRAY_MAP_ACCUM; }

static CtCore *sum(CtChad *c, CtSourceRange range, CtType *type, CtCore *a, CtCore *b) {
    CtCore *args[2] = {a, b};
    return ct_ad_is_real(type) ? ct_core_prim2(c->p, range, PRIM_ADD, a, b)
                               : ct_ad_library_call(c->ad, range, "plus", args, 2);
}

/* The zero cotangent of the accumulator. */
static CtCore *nothing(CtChad *c, CtSourceRange range, CtType *type) {
    return ct_ad_is_real(type) ? ct_core_double(c->p, range, -0.0) : ct_chad_zero(c->ad, range);
}

/* The cotangent of a step's result, from the carried cotangent and that of element i of the result array. */
static CtCore *step_cotangent(CtChad *c, CtSeq *seq, const Loop *loop, CtCore *carried, CtCore *out) {
    CtSourceRange range = loop->core->range;
    CtType *type = loop->lam->params[0]->type;
    if (!out) return carried;
    if (is_scan(loop->core)) return ct_ad_seq_name(seq, "d", sum(c, range, type, carried, out));
    CtType *made = loop->lam->body->type->parts[1];
    CtCore *cots[2] = {ct_chad_box(c, range, type, carried), ct_chad_box(c, range, made, out)};
    CtCore *both = ct_core_array_lit(c->p, range, ct_chad_cot(c->ad), cots, 2);
    return ct_ad_seq_name(seq, "d", ct_chad_make(c->ad, range, "Dense", &both, 1));
}

/* The cotangents of the result array's elements, and the cotangent of the final accumulator. */
static CtCore *results(CtChad *c, CtSeq *seq, const Loop *loop, CtCore *n, CtCore *d, CtCore **last) {
    CtSourceRange range = loop->core->range;
    CtType *type = loop->lam->params[0]->type;
    *last = d;
    if (is_scan(loop->core)) {
        *last = nothing(c, range, type);
        if (loop->core->as.call.of.array == ARRAY_SCANL)
            n = ct_core_prim2(c->p, range, PRIM_INT_ADD, n, ct_core_int(c->p, range, 1));
        return ct_ad_seq_name(seq, "ds", ct_chad_elements(c, range, type, n, d));
    }
    if (!is_accum(loop->core)) return NULL;
    CtCore *two = ct_core_int(c->p, range, 2);
    CtCore *parts = ct_ad_seq_name(seq, "ds", ct_chad_elements(c, range, ct_chad_cot(c->ad), two, d));
    CtCore *carried = element(c, range, parts, ct_core_int(c->p, range, 0));
    *last = ct_is_discrete(type) ? nothing(c, range, type) : ct_chad_unbox(c, range, type, carried);
    *last = ct_ad_seq_name(seq, "d", *last);
    CtType *made = loop->lam->body->type->parts[1];
    if (ct_is_discrete(made)) return NULL;
    CtCore *outs = element(c, range, parts, ct_core_int(c->p, range, 1));
    return ct_ad_seq_name(seq, "ds", ct_chad_elements(c, range, made, n, outs));
}

/* values: the steps' backpropagators, or pairs of results and backpropagators. */
static void fold_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    Loop loop = loop_of(back->core);
    CtType *type = loop.lam->params[0]->type;
    bool scanl = back->core->as.call.of.array == ARRAY_SCANL, pairs = is_scan(back->core) || is_accum(back->core);
    CtCore *steps = back->values[0], *last;
    CtCore *n = ct_ad_seq_name(seq, "n", array(c, range, ARRAY_LENGTH, steps, NULL, NULL));
    CtCore *ds = results(c, seq, &loop, n, d, &last);

    /* λ((da, env), k). … */
    CtVar *k = ct_core_var_new(c->p, "k", c->p->int_type);
    CtVar *opened[2] = {ct_core_var_new(c->p, "da", last->type),
                        ct_core_var_new(c->p, "env", ct_chad_environment_type(c->ad))};
    CtVar *carry = ct_core_var_new(c->p, "state", ct_core_type_pair(c->p, last->type, opened[1]->type));
    CtSeq inner = ct_ad_seq(c->p, opened[1]);
    ct_ad_seq_unpack(&inner, range, opened, 2, use(c, range, carry));
    CtCore *end = ct_core_prim2(c->p, range, PRIM_INT_SUB, n, ct_core_int(c->p, range, 1));
    CtCore *i = ct_ad_seq_name(&inner, "i", ct_core_prim2(c->p, range, PRIM_INT_SUB, end, use(c, range, k)));
    CtCore *f = element(c, range, steps, i);
    f = ct_ad_seq_name(&inner, "f", pairs ? ct_core_proj(c->p, range, f, 1) : f);
    CtCore *place = scanl ? ct_core_prim2(c->p, range, PRIM_INT_ADD, i, ct_core_int(c->p, range, 1)) : i;
    CtCore *out = ds ? ct_ad_seq_name(&inner, "d", element(c, range, ds, place)) : NULL;
    if (!out && is_accum(back->core)) out = ct_chad_zero(c->ad, range);
    CtCore *dy = step_cotangent(c, &inner, &loop, use(c, range, opened[0]), out);
    ct_chad_run(c, &inner, range, f, dy, back->depth);
    CtCore *dx = taken(c, &inner, back, loop.lam, 1);
    CtCore *da = taken(c, &inner, back, loop.lam, 0);
    if (!da) da = nothing(c, range, type);

    CtCore *after = ct_core_pair(c->p, range, da, ct_ad_seq_state(&inner, range));
    CtCore *from = ct_core_pair(c->p, range, last, ct_chad_state(c, seq, range));
    CtCore *indices = array(c, range, ARRAY_IOTA, n, NULL, NULL);
    CtVar *params[2] = {carry, k};
    CtCore *parts[2], *final[2];
    if (dx) {
        CtCore *both = ct_core_pair(c->p, range, after, dx);
        CtCore *step = lambda(c, range, params, 2, ct_ad_seq_close(&inner, both));
        ct_ad_seq_open(seq, "state", "ds", array(c, range, ARRAY_MAP_ACCUM, step, from, indices), parts);
    } else {
        CtCore *step = lambda(c, range, params, 2, ct_ad_seq_close(&inner, after));
        parts[0] = array(c, range, ARRAY_FOLDL, step, from, indices);
    }
    ct_ad_seq_open(seq, "d", "env", parts[0], final);
    seq->state = final[1]->as.var;
    if (scanl) final[0] = sum(c, range, type, final[0], element(c, range, ds, ct_core_int(c->p, range, 0)));
    if (dx) {
        CtCore *own = array(c, range, ARRAY_REVERSE, parts[1], NULL, NULL);
        CtCore *cot = ct_ad_seq_name(seq, "d", ct_chad_dense(c, range, loop.lam->params[1]->type, own));
        final[0] = ct_ad_seq_name(seq, "d", final[0]);
        ct_chad_back_call(c, seq, back->parts[1], cot);
    }
    if (!ct_is_discrete(type)) ct_chad_back_call(c, seq, back->parts[0], final[0]);
}

static void maybe_fold_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    ct_chad_unless_zero(c, seq, back, d, fold_back);
}

/* mapAccumL (λ(a, x). …) z xs: each step gives its accumulator, and what is to be stored. */
static CtCore *step_result(CtChad *c, CtCore *core, const Loop *loop, Body *body) {
    CtSourceRange range = core->range;
    CtCore *f = backpropagator(c, loop->lam, body);
    CtCore *y = body->made.x;
    if (is_accum(core)) {
        CtCore *parts[2];
        ct_ad_seq_open(&body->seq, "a", "y", y, parts);
        CtCore *kept = ct_core_pair(c->p, range, parts[1], f);
        return ct_core_pair(c->p, range, parts[0], kept);
    }
    CtCore *kept = f;
    if (is_scan(core)) {
        y = ct_ad_seq_name(&body->seq, "y", y);
        kept = ct_core_pair(c->p, range, y, f);
    }
    return ct_core_pair(c->p, range, y, kept);
}

static CtPaired fold(CtChad *c, CtSeq *seq, CtCore *core) {
    Loop loop = loop_of(core);
    CtSourceRange range = core->range;
    CtBack **parts;
    CtCore **xs = ct_chad_values(c, seq, loop.others, loop.count, &parts);
    bool varies[2] = {true, parts && parts[1]};
    CtBack *back = ct_chad_back(c, core, maybe_fold_back);
    Body body = body_of(c, loop.lam, varies);
    if (ct_is_discrete(core->type) || (!body.made.back && !parts)) {
        CtCore *f = lambda(c, range, body.params, 2, ct_ad_seq_close(&body.seq, body.made.x));
        CtCore *args[3] = {f, xs[0], xs[1]};
        return (CtPaired){ct_core_array(c->p, range, core->as.call.of.array, args, 3), NULL};
    }
    xs[0] = ct_ad_seq_name(seq, "z", xs[0]);
    CtCore *result = step_result(c, core, &loop, &body);
    CtCore *f = lambda(c, range, body.params, 2, ct_ad_seq_close(&body.seq, result));
    CtCore *both[2];
    ct_ad_seq_open(seq, "y", "steps", array(c, range, ARRAY_MAP_ACCUM, f, xs[0], xs[1]), both);
    back->values = CT_NEW(c->ad->arena, CtCore *);
    back->values[0] = both[1];
    back->parts = CT_NEW_ARRAY(c->ad->arena, CtBack *, 2);
    if (parts) memcpy(back->parts, parts, 2 * sizeof *parts);
    back->places = places_of(c, &body);
    CtCore *y = both[0];
    if (is_scan(core)) {
        y = unzipped(c, range, both[1], 0);
        CtCore *first = ct_core_array_lit(c->p, range, xs[0]->type, xs, 1);
        if (core->as.call.of.array == ARRAY_SCANL) y = array(c, range, ARRAY_APPEND, first, y, NULL);
    } else if (is_accum(core))
        y = ct_core_pair(c->p, range, y, unzipped(c, range, both[1], 0));
    return (CtPaired){y, back};
}

/* ---- which ---- */

/* A function that is not a λ becomes one: λ⟨x⟩. f ⟨x⟩. f is evaluated before, as in the original. */
static CtCore *with_lambda(CtChad *c, CtCore *core) {
    CtSourceRange range = core->range;
    uint32_t function = (uint32_t)ct_core_array_info(core->as.call.of.array)->function, count = core->as.call.count;
    CtCore **args = CT_NEW_ARRAY(c->ad->arena, CtCore *, count);
    CtVar **vars = CT_NEW_ARRAY(c->ad->arena, CtVar *, count);
    for (uint32_t i = 0; i < count; i++) {
        CtCore *arg = core->as.call.args[i];
        if (ct_ad_movable(arg)) {
            args[i] = arg;
            continue;
        }
        vars[i] = ct_core_var_new(c->p, i == function ? "f" : "x", arg->type);
        args[i] = ct_core_var(c->p, range, vars[i]);
    }
    CtCore *f = args[function], *uses[2];
    CtVar *params[2];
    uint32_t arity = f->type->count - 1;
    for (uint32_t i = 0; i < arity; i++) {
        params[i] = ct_core_var_new(c->p, "x", f->type->parts[i]);
        uses[i] = ct_core_var(c->p, range, params[i]);
    }
    args[function] = lambda(c, range, params, arity, ct_core_app(c->p, range, f, uses, arity));
    CtCore *body = ct_core_array(c->p, range, core->as.call.of.array, args, count);
    for (uint32_t i = count; i-- > 0;)
        if (vars[i]) body = ct_core_let(c->p, range, vars[i], core->as.call.args[i], body);
    return body;
}

CtPaired ct_chad_loop(CtChad *c, CtSeq *seq, CtCore *core) {
    int function = ct_core_array_info(core->as.call.of.array)->function;
    if (core->as.call.args[function]->kind != CORE_LAM) return ct_chad_chad(c, seq, with_lambda(c, core));
    return loop_of(core).carries ? fold(c, seq, core) : elementwise(c, seq, core);
}
