/* Runs a fused tree (fused.h): its checks, then a nest of loops around blocks of points. */
#include "eval/fused.h"

#include "eval/arrays.h"
#include "rt/scalar.h"

enum { BLOCK = 128 }; /* number of points that go through the steps together */

/* A value of a block: a word for each point, or one word for all. */
typedef struct Block {
    const CtWord *words;
    bool steps;
} Block;

typedef struct Run {
    Machine *m;
    const Fused *f;
    const CtWord *leaves; /* the values of the leaves; for arrays, the objects */
    int64_t sizes[FUSED_DIMS];
    int64_t each; /* steps of a point */
    uint64_t points, done, cost;
    int64_t row; /* PLACES: number of points in a row */
    Block values[FUSED_LEAVES + FUSED_STEPS];
    CtWord read[FUSED_LEAVES][BLOCK]; /* gathered values of strided arrays */
    CtWord made[FUSED_STEPS][BLOCK];
} Run;

/* Where a nest stands. */
typedef struct Position {
    const CtWord *leaves[FUSED_LEAVES];
    CtWord *out;
} Position;

/* ---- what is demanded of lengths ---- */

static int64_t length_of(const Run *r, FusedLength length) {
    return length.leaf == LENGTH_KNOWN ? length.known : array_of(r->leaves[length.leaf])->length;
}

static bool check(const Run *r, const FusedCheck *c) {
    int64_t a = length_of(r, c->lengths[0]);
    switch (c->kind) {
    case CHECK_ZIP: return ct_eval_array_zips(r->m, a, length_of(r, c->lengths[1]));
    case CHECK_SELECT: return ct_eval_array_selects(r->m, a, length_of(r, c->lengths[1]), length_of(r, c->lengths[2]));
    case CHECK_ROWS: return ct_eval_array_is_rows(r->m, a, c->low);
    case CHECK_PLACES: return ct_eval_array_places(r->m, a, array_of(r->leaves[c->lengths[1].leaf]), c->low);
    case CHECK_VIEW:
        if (c->low < 0 || c->low >= a) return ct_eval_array_index_fails(r->m, c->low, a);
        return c->high < a || ct_eval_array_index_fails(r->m, c->high, a);
    }
    return true;
}

/* Sets the failing position: the words behind the operands stand for the checks and, the last one, for a step. */
static bool fails_at(const Run *r, uint32_t word) {
    r->m->pc += 4 + 2 * r->f->operand_count + word;
    return false;
}

static bool check_all(const Run *r) {
    for (uint32_t i = 0; i < r->f->check_count; i++)
        if (!check(r, &r->f->checks[i])) return fails_at(r, i);
    return true;
}

/* ---- blocks ---- */

static Block leaf_block(Run *r, const Position *p, uint32_t leaf, int64_t count) {
    const FusedLeaf *l = &r->f->leaves[leaf];
    int64_t stride = l->is_array ? l->view.strides[r->f->rank - 1] : 0;
    const CtWord *from = p->leaves[leaf];
    if (stride == 0 || stride == 1) return (Block){from, stride == 1};
    for (int64_t i = 0; i < count; i++) r->read[leaf][i] = from[i * stride];
    return (Block){r->read[leaf], true};
}

static void choose(CtWord *out, const Block *args, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const Block *chosen = args[0].words[args[0].steps ? i : 0].integer != 0 ? &args[1] : &args[2];
        out[i] = chosen->words[chosen->steps ? i : 0];
    }
}

/* Runs a block of points through the steps. An array result in order is computed directly into its memory, unless a
 * step behind the value, which may fail, still reads the leaf that this memory may belong to. */
static bool run_steps(Run *r, const Position *p, int64_t count) {
    const Fused *f = r->f;
    bool in_place = f->root == FUSED_ARRAY && f->out.strides[f->rank - 1] == 1;
    in_place = in_place && f->value + 1 == FUSED_LEAVES + f->step_count;
    for (uint32_t i = 0; i < f->leaf_count; i++) r->values[i] = leaf_block(r, p, i, count);
    for (uint32_t i = 0; i < f->step_count; i++) {
        const FusedStep *s = &f->steps[i];
        bool is_last = i + 1 == f->step_count;
        if (is_last && f->adds_products) return true;
        CtWord *made = in_place && is_last ? p->out : r->made[i];
        Block args[3];
        for (uint32_t k = 0; k < 3; k++) args[k] = r->values[s->args[k < s->arg_count ? k : 0]];
        r->values[FUSED_LEAVES + i] = (Block){made, true};
        if (s->selects) {
            choose(made, args, count);
            continue;
        }
        CtErrorCode error =
            ct_eval_kernels[s->prim](made, args[0].words, args[0].steps, args[1].words, args[1].steps, count);
        if (error == CT_E0000) continue;
        ct_eval_raise(r->m, error, "%s", ct_error_title(error));
        return fails_at(r, f->check_count);
    }
    return true;
}

/* ---- what becomes of a block ---- */

static void put(const Run *r, const Position *p, Block block, int64_t count) {
    int64_t stride = r->f->out.strides[r->f->rank - 1];
    for (int64_t i = 0; block.words != p->out && i < count; i++) p->out[i * stride] = block.words[block.steps ? i : 0];
}

/* Adds rows, or parts of rows, to the indexed elements. */
static void add_to_places(const Run *r, CtWord *out, Block block, int64_t count) {
    const CtWord *places = array_of(r->leaves[r->f->places])->items;
    int64_t row = r->row, at = (int64_t)r->done;
    for (int64_t i = 0; i < count; i++, at++) {
        int64_t place = row == 1 ? places[at].integer : places[at / row].integer;
        if (place >= 0) out[row == 1 ? place : place * row + at % row].real += block.words[block.steps ? i : 0].real;
    }
}

static void add(const Run *r, const Position *p, Block block, int64_t count) {
    int64_t stride = r->f->out.strides[r->f->rank - 1];
    CtWord *out = p->out;
    const CtWord *words = block.words;
    if (stride == 0) {
        double sum = out->real;
        for (int64_t i = 0; i < count; i++) sum += words[block.steps ? i : 0].real;
        out->real = sum;
    } else if (stride == 1 && block.steps) {
        for (int64_t i = 0; i < count; i++) out[i].real += words[i].real;
    } else {
        for (int64_t i = 0; i < count; i++) out[i * stride].real += words[block.steps ? i : 0].real;
    }
}

/* out[i·stride] += a[i·a_step] × b[i·b_step]; specialised by inlining. */
static inline __attribute__((always_inline)) void add_each(CtWord *out, int64_t stride, const CtWord *a, bool a_steps,
                                                           const CtWord *b, bool b_steps, bool scales, int64_t count) {
    double sum = out->real;
    for (int64_t i = 0; i < count; i++) {
        double x = a[a_steps ? i : 0].real, y = b[b_steps ? i : 0].real;
        double product = scales ? ct_scale(x, y) : x * y;
        if (stride == 0)
            sum += product;
        else
            out[i * stride].real += product;
    }
    if (stride == 0) out->real = sum;
}

static inline __attribute__((always_inline)) void add_strided(CtWord *out, int64_t stride, Block a, Block b,
                                                              bool scales, int64_t count) {
    if (a.steps && b.steps)
        add_each(out, stride, a.words, true, b.words, true, scales, count);
    else if (a.steps)
        add_each(out, stride, a.words, true, b.words, false, scales, count);
    else
        add_each(out, stride, a.words, false, b.words, b.steps, scales, count);
}

/* The sums of a contraction: products are added as they are computed. */
static void add_products(const Run *r, const Position *p, int64_t count) {
    const FusedStep *s = &r->f->steps[r->f->step_count - 1];
    int64_t stride = r->f->out.strides[r->f->rank - 1];
    Block a = r->values[s->args[0]], b = r->values[s->args[1]];
    bool scales = s->prim == PRIM_SCALE;
    if (stride == 0 && scales)
        add_strided(p->out, 0, a, b, true, count);
    else if (stride == 0)
        add_strided(p->out, 0, a, b, false, count);
    else if (stride == 1 && scales)
        add_strided(p->out, 1, a, b, true, count);
    else if (stride == 1)
        add_strided(p->out, 1, a, b, false, count);
    else
        add_strided(p->out, stride, a, b, scales, count);
}

static void ct_eval_finish(const Run *r, const Position *p, int64_t count) {
    Block value = r->values[r->f->value];
    if (r->f->root == FUSED_ARRAY)
        put(r, p, value, count);
    else if (r->f->root == FUSED_PLACES)
        add_to_places(r, p->out, value, count);
    else if (r->f->adds_products)
        add_products(r, p, count);
    else
        add(r, p, value, count);
}

/* ---- loops ---- */

static bool charge(Machine *m, int64_t steps) {
    m->fuel -= steps;
    return m->fuel >= 0 || ct_eval_refuel(m);
}

static void move_on(const Fused *f, Position *p, uint32_t dim, int64_t points) {
    for (uint32_t i = 0; i < f->leaf_count; i++)
        if (f->leaves[i].is_array) p->leaves[i] += f->leaves[i].view.strides[dim] * points;
    p->out += f->out.strides[dim] * points;
}

static bool innermost(Run *r, Position p) {
    const Fused *f = r->f;
    for (int64_t left = r->sizes[f->rank - 1]; left > 0;) {
        int64_t count = left < BLOCK ? left : BLOCK;
        if (r->each * count > r->m->fuel) count = r->each > r->m->fuel ? 1 : r->m->fuel / r->each; /* up to the limit */
        if (!charge(r->m, r->each * count) || !run_steps(r, &p, count)) return false;
        ct_eval_finish(r, &p, count);
        left -= count;
        r->done += (uint64_t)count;
        if (left > 0) move_on(f, &p, f->rank - 1, count);
    }
    return true;
}

static bool nest(Run *r, Position p, uint32_t dim) {
    if (dim + 1 == r->f->rank) return innermost(r, p);
    for (int64_t left = r->sizes[dim]; left > 0; left--) {
        if (!nest(r, p, dim + 1)) return false;
        if (left > 1) move_on(r->f, &p, dim, 1);
    }
    return true;
}

/* ---- the whole ---- */

/* Determines the open size, the number of points and their steps; charges the remaining steps. */
static bool measure(Run *r) {
    const Fused *f = r->f;
    int64_t length = length_of(r, f->length), others = 1, cost = f->known_cost;
    memcpy(r->sizes, f->sizes, sizeof r->sizes);
    for (uint32_t d = 0; d < f->rank; d++) others *= f->sizes[d];
    if (f->open >= 0) r->sizes[f->open] = length / others;
    r->points = (uint64_t)(f->open >= 0 ? length : others);
    for (uint32_t i = 0; i < f->leaf_count; i++)
        if (f->leaf_costs[i] > 0) cost += f->leaf_costs[i] * array_of(r->leaves[i])->length;
    int64_t places = f->root == FUSED_PLACES ? array_of(r->leaves[f->places])->length : 0;
    r->row = places > 0 ? length / places : 0;
    r->done = 0;
    r->each = r->points == 0 ? 0 : cost / (int64_t)r->points;
    r->cost = (uint64_t)cost;
    return charge(r->m, cost - r->each * (int64_t)r->points);
}

static bool same_view(const Fused *f, const FusedView *view) {
    return view->offset == 0 && memcmp(view->strides, f->out.strides, f->rank * sizeof view->strides[0]) == 0;
}

/* A leaf in whose memory the result can be built: it is dying and unshared, and each element is read, if at all, at the
 * point that is written there. */
static int32_t leaf_to_take(const Run *r, const bool *own) {
    const Fused *f = r->f;
    for (uint32_t i = 0; f->root == FUSED_ARRAY && i < f->leaf_count; i++) {
        if (!own[i] || !f->leaves[i].is_array) continue;
        const CtArray *array = array_of(r->leaves[i]);
        bool free = array->head.layout == f->layout && array->length == (int64_t)r->points &&
                    ct_value_is_exclusive(r->leaves[i].object);
        for (uint32_t k = 0; k < f->leaf_count; k++)
            if (f->leaves[k].is_array && r->leaves[k].object == r->leaves[i].object)
                free = free && same_view(f, &f->leaves[k].view);
        if (free) return (int32_t)i;
    }
    return -1;
}

/* Initial positions. */
static void start(const Run *r, CtWord *out, Position *p) {
    const Fused *f = r->f;
    p->out = out;
    for (int64_t i = 0; i < f->sums; i++) out[i].real = -0.0;
    for (uint32_t i = 0; i < f->leaf_count; i++) {
        const FusedLeaf *leaf = &f->leaves[i];
        p->leaves[i] = leaf->is_literal ? &leaf->literal : &r->leaves[i];
        if (leaf->is_array) p->leaves[i] = array_of(r->leaves[i])->items + leaf->view.offset;
    }
}

/* The longest chain of additions to one sum. */
static uint64_t chain(const Run *r) {
    switch (r->f->root) {
    case FUSED_ARRAY: return 0;
    case FUSED_ROWS: return r->f->sums == 0 ? 0 : r->points / (uint64_t)r->f->sums;
    case FUSED_TOTAL: return r->points;
    case FUSED_PLACES: return ct_eval_array_chain(r->m, array_of(r->leaves[r->f->places]));
    }
    return r->points;
}

/* Records the span: points could be computed in parallel, the additions to a sum are sequential. */
static void note_span(const Run *r) {
    if (r->points < 2) return;
    uint64_t each = (uint64_t)r->each - (r->f->root != FUSED_ARRAY);
    uint64_t span = each + ct_eval_span_of_sharing(r->points) + chain(r);
    if (r->cost > span) r->m->slack += r->cost - span;
}

bool ct_eval_fused_run(Machine *m, const Fused *f, const CtWord *leaves, const bool *own, CtWord *result,
                       int32_t *taken) {
    Run r;
    r.m = m;
    r.f = f;
    r.leaves = leaves;
    if (!check_all(&r) || !measure(&r)) return false;
    Position p;
    *taken = -1;
    if (f->root == FUSED_TOTAL) {
        result->real = 0.0;
        start(&r, result, &p);
        if (r.points > 0 && !nest(&r, p, 0)) return false;
        note_span(&r);
        return true;
    }
    int64_t length = f->root == FUSED_ARRAY ? (int64_t)r.points : f->sums;
    *taken = leaf_to_take(&r, own);
    CtArray *out = *taken >= 0 ? array_of(leaves[*taken]) : ct_value_array_new(m->heap, f->layout, length, length);
    if (out == NULL) return ct_eval_raise_memory(m);
    start(&r, out->items, &p);
    if (r.points > 0 && !nest(&r, p, 0)) {
        if (*taken < 0) ct_value_release_object(m->heap, &out->head);
        return false;
    }
    note_span(&r);
    result->object = &out->head;
    return true;
}
