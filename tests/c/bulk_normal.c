#include "bulk_normal.h"
#include "bulk_random_loop.h"

uint32_t bulk_normal_draw(BulkNormal *g, uint32_t n) {
    g->seed ^= g->seed << 13;
    g->seed ^= g->seed >> 7;
    g->seed ^= g->seed << 17;
    return (uint32_t)((g->seed >> 20) % n);
}

static const CtShape scalar = {0, NULL};

CtShape bulk_normal_shape(BulkNormal *g) {
    int64_t sizes[5], count = 1;
    uint32_t rank = bulk_normal_draw(g, 12);
    rank = rank < 3 ? 0 : rank < 7 ? 1 : rank < 9 ? 2 : rank - 6;
    for (uint32_t i = 0; i < rank; i++) {
        sizes[i] = bulk_normal_draw(g, 25) == 0 ? 0 : 1 + bulk_normal_draw(g, 4);
        if (count * sizes[i] > 48) sizes[i] = 1;
        count *= sizes[i];
    }
    return ct_bulk_shape_of(g->r->arena, sizes, rank);
}

static CtBulk *integer(BulkNormal *g, int64_t value) { return ct_bulk_int(g->r, value, scalar); }

/* One that is a multiple of 1/8, or sometimes a zero. */
static double number(BulkNormal *g) {
    static const double special[] = {0.0, -0.0, 1.0, -1.0};
    if (bulk_normal_draw(g, 3) == 0) return special[bulk_normal_draw(g, 4)];
    return ((double)bulk_normal_draw(g, 33) - 16) / 8;
}

static CtBulk *constant(BulkNormal *g, CtElement element, CtShape shape) {
    bool same = bulk_normal_draw(g, 2) == 0;
    size_t count = (size_t)ct_bulk_shape_count(shape);
    if (element == ELEMENT_REAL) {
        if (same) return ct_bulk_real(g->r, number(g), shape);
        double *items = CT_NEW_ARRAY(g->r->arena, double, count);
        for (size_t i = 0; i < count; i++) items[i] = number(g);
        return ct_bulk_reals(g->r, items, shape);
    }
    uint32_t below = element == ELEMENT_BOOL ? 2 : 5;
    if (same && element == ELEMENT_BOOL) return ct_bulk_bool(g->r, bulk_normal_draw(g, 2), shape);
    if (same) return ct_bulk_int(g->r, bulk_normal_draw(g, below), shape);
    int64_t *items = CT_NEW_ARRAY(g->r->arena, int64_t, count);
    for (size_t i = 0; i < count; i++) items[i] = bulk_normal_draw(g, below);
    return ct_bulk_integers(g->r, items, shape, element);
}

/* ---- index terms ---- */

static CtBulk *any_int(BulkNormal *g, uint32_t depth) {
    if (g->indices.count && bulk_normal_draw(g, 2))
        return ct_bulk_var(g->r, g->indices.items[bulk_normal_draw(g, g->indices.count)]);
    if (depth && bulk_normal_draw(g, 2)) return bulk_normal_term(g, ELEMENT_INT, scalar, depth - 1);
    return integer(g, bulk_normal_draw(g, 4));
}

/* At least 0, below size (which is not 0). */
static CtBulk *inside(BulkNormal *g, int64_t size, uint32_t depth) {
    if (g->indices.count && bulk_normal_draw(g, 4)) {
        uint32_t k = bulk_normal_draw(g, g->indices.count);
        int64_t below = g->sizes.items[k];
        CtBulk *i = ct_bulk_var(g->r, g->indices.items[k]);
        if (below <= size) {
            uint32_t form = bulk_normal_draw(g, 4);
            if (form == 0) return ct_bulk_op2(g->r, PRIM_INT_SUB, integer(g, size - 1), i);
            if (form == 1) return ct_bulk_op2(g->r, PRIM_INT_ADD, i, integer(g, size - below));
            return i;
        }
        return ct_bulk_op2(g->r, bulk_normal_draw(g, 2) ? PRIM_INT_MOD : PRIM_INT_REM, i, integer(g, size));
    }
    if (bulk_normal_draw(g, 3) == 0) return ct_bulk_op2(g->r, PRIM_INT_MOD, any_int(g, depth), integer(g, size));
    if (size >= 2 && depth && bulk_normal_draw(g, 2)) {
        CtBulk *b = bulk_normal_term(g, ELEMENT_BOOL, scalar, depth - 1);
        return ct_bulk_cond(g->r, b, integer(g, bulk_normal_draw(g, 2)),
                            integer(g, 1 - (int64_t)bulk_normal_draw(g, 2)));
    }
    return integer(g, bulk_normal_draw(g, (uint32_t)size));
}

static CtBulk *within(BulkNormal *g, CtBulk *i, int64_t size) {
    CtBulk *low = ct_bulk_op2(g->r, PRIM_INT_LE, integer(g, 0), i);
    CtBulk *high = ct_bulk_op2(g->r, PRIM_INT_LT, i, integer(g, size));
    return ct_bulk_logic(g->r, LOGIC_AND, low, high);
}

/* Index terms for the outermost dimensions of a shape, with a condition where they are not inside. */
static CtIndexing indexing(BulkNormal *g, CtShape shape, uint32_t count, uint32_t depth) {
    CtBulk **ix = CT_NEW_ARRAY(g->r->arena, CtBulk *, count);
    CtBulk *live = NULL;
    for (uint32_t k = 0; k < count; k++) {
        bool wild = shape.sizes[k] == 0 || bulk_normal_draw(g, 10) == 0;
        ix[k] = wild ? any_int(g, depth) : inside(g, shape.sizes[k], depth);
        if (wild && !(g->may_fail && bulk_normal_draw(g, 3) == 0)) {
            CtBulk *in = within(g, ix[k], shape.sizes[k]);
            live = live ? ct_bulk_logic(g->r, LOGIC_AND, live, in) : in;
        }
    }
    return (CtIndexing){.ix = ix, .count = count, .live = live};
}

static CtIndexing function(BulkNormal *g, CtShape from, uint32_t vars, CtShape to, uint32_t count, uint32_t depth) {
    CtBulkVar **is = CT_NEW_ARRAY(g->r->arena, CtBulkVar *, vars);
    for (uint32_t k = 0; k < vars; k++) {
        is[k] = ct_bulk_new_var(g->r, "i", ELEMENT_INT, scalar);
        ct_push(g->r->arena, &g->indices, is[k]);
        ct_push(g->r->arena, &g->sizes, from.sizes[k]);
    }
    CtIndexing f = indexing(g, to, count, depth);
    f.vars = is;
    f.var_count = vars;
    g->indices.count -= vars;
    g->sizes.count -= vars;
    return f;
}

static CtShape append(BulkNormal *g, CtShape a, uint32_t count, CtShape b) {
    int64_t sizes[16];
    for (uint32_t k = 0; k < count; k++) sizes[k] = a.sizes[k];
    for (uint32_t k = 0; k < b.rank; k++) sizes[count + k] = b.sizes[k];
    return ct_bulk_shape_of(g->r->arena, sizes, count + b.rank);
}

/* One or two sizes, not 0. */
static CtShape few(BulkNormal *g) {
    int64_t sizes[2] = {1 + bulk_normal_draw(g, 3), 1 + bulk_normal_draw(g, 3)};
    return ct_bulk_shape_of(g->r->arena, sizes, 1 + bulk_normal_draw(g, 2));
}

static CtBulk *gather(BulkNormal *g, CtBulk *source, uint32_t count, CtShape shape, uint32_t vars, uint32_t depth) {
    CtIndexing f = function(g, shape, vars, source->shape, count, depth);
    return ct_bulk_gather(g->r, shape, source, f, CT_NO_RANGE);
}

/* A variable, as it is or gathered from; or a constant. */
static CtBulk *leaf(BulkNormal *g, CtElement element, CtShape shape) {
    CtBulkVar *found = NULL, *close = NULL;
    for (uint32_t tries = 0; tries < 8 && g->scope.count; tries++) {
        CtBulkVar *var = g->scope.items[bulk_normal_draw(g, g->scope.count)];
        if (var->element != element) continue;
        close = var;
        if (ct_bulk_shape_equal(var->shape, shape)) found = var;
    }
    if (found && bulk_normal_draw(g, 4)) return ct_bulk_var(g->r, found);
    if (!close || bulk_normal_draw(g, 6) == 0) return constant(g, element, shape);
    CtBulk *x = ct_bulk_var(g->r, close);
    if (shape.rank == 0 && close->shape.rank == 0) return x;
    CtIndexing f = function(g, shape, shape.rank, close->shape, close->shape.rank, 0);
    if (shape.rank) return ct_bulk_gather(g->r, shape, x, f, CT_NO_RANGE);
    return ct_bulk_index(g->r, x, f.ix, f.count, f.live, CT_NO_RANGE);
}

/* ---- terms ---- */

static CtBulk *scatter(BulkNormal *g, CtElement element, CtShape shape, uint32_t depth) {
    CtShape points = few(g);
    uint32_t count = shape.rank ? bulk_normal_draw(g, shape.rank + 1) : 0;
    CtShape from = append(g, points, points.rank, ct_bulk_shape_tail(shape, count));
    CtBulk *t = bulk_normal_term(g, element, from, depth - 1);
    CtIndexing f = function(g, from, points.rank, shape, count, depth - 1);
    return ct_bulk_scatter(g->r, shape, t, f, CT_NO_RANGE);
}

/* Of a variable, a constant, a literal by one index, a scatter. */
static CtBulk *indexed(BulkNormal *g, CtElement element, CtShape shape, uint32_t depth) {
    if (bulk_normal_draw(g, 2)) {
        CtBulk *items[3];
        uint32_t count = 1 + bulk_normal_draw(g, 3);
        for (uint32_t k = 0; k < count; k++) items[k] = bulk_normal_term(g, element, shape, depth - 1);
        CtBulk *t = ct_bulk_literal(g->r, items, count);
        CtIndexing f = indexing(g, t->shape, 1, depth - 1);
        return ct_bulk_index(g->r, t, f.ix, 1, f.live, CT_NO_RANGE);
    }
    CtShape outer = few(g);
    CtShape whole = append(g, outer, outer.rank, shape);
    CtBulk *t = element != ELEMENT_BOOL && bulk_normal_draw(g, 2) ? scatter(g, element, whole, depth)
                                                                  : constant(g, element, whole);
    CtIndexing f = indexing(g, whole, outer.rank, depth - 1);
    return ct_bulk_index(g->r, t, f.ix, f.count, f.live, CT_NO_RANGE);
}

static CtBulk *gathered(BulkNormal *g, CtElement element, CtShape shape, uint32_t depth) {
    CtShape outer = few(g);
    uint32_t vars = bulk_normal_draw(g, shape.rank + 1), count = bulk_normal_draw(g, outer.rank + 1);
    CtShape from = append(g, outer, count, ct_bulk_shape_tail(shape, vars));
    CtBulk *t = bulk_normal_term(g, element, from, depth - 1);
    return gather(g, t, count, shape, vars, depth - 1);
}

static CtBulk *transposed(BulkNormal *g, CtElement element, CtShape shape, uint32_t depth) {
    uint32_t count = bulk_normal_draw(g, shape.rank + 1), permutation[8];
    int64_t sizes[8];
    for (uint32_t k = 0; k < shape.rank; k++) permutation[k] = k;
    for (uint32_t k = count; k > 1; k--) {
        uint32_t other = bulk_normal_draw(g, k), kept = permutation[k - 1];
        permutation[k - 1] = permutation[other];
        permutation[other] = kept;
    }
    for (uint32_t k = 0; k < shape.rank; k++) sizes[permutation[k]] = shape.sizes[k];
    CtBulk *t = bulk_normal_term(g, element, ct_bulk_shape_of(g->r->arena, sizes, shape.rank), depth - 1);
    return ct_bulk_transpose(g->r, permutation, count, t);
}

static CtBulk *reshaped(BulkNormal *g, CtElement element, CtShape shape, uint32_t depth) {
    int64_t sizes[8];
    uint32_t rank = 0, skip = shape.rank > 1 ? bulk_normal_draw(g, shape.rank - 1) : 0;
    for (uint32_t k = 0; k < shape.rank; k++) {
        if (k == skip && shape.rank > 1) {
            sizes[rank++] = shape.sizes[k] * shape.sizes[k + 1];
            k++;
        } else {
            sizes[rank++] = shape.sizes[k];
        }
    }
    if (rank < 5 && bulk_normal_draw(g, 2)) sizes[rank++] = 1;
    CtBulk *t = bulk_normal_term(g, element, ct_bulk_shape_of(g->r->arena, sizes, rank), depth - 1);
    return ct_bulk_reshape(g->r, shape, t);
}

static CtBulk *let(BulkNormal *g, CtElement element, CtShape shape, uint32_t depth) {
    CtElement bound = bulk_normal_draw(g, 3) ? ELEMENT_REAL : element;
    CtShape other = bulk_normal_shape(g);
    CtBulk *rhs = bulk_normal_term(g, bound, other, depth - 1);
    CtBulkVar *var = ct_bulk_new_var(g->r, "t", bound, other);
    ct_push(g->r->arena, &g->scope, var);
    CtBulk *body = bulk_normal_term(g, element, shape, depth - 1);
    g->scope.count--;
    return ct_bulk_let(g->r, var, rhs, body);
}

static CtBulk *reduced(BulkNormal *g, CtElement element, CtShape shape, uint32_t depth) {
    static const CtReduction all[] = {REDUCE_SUM, REDUCE_PLAIN_SUM, REDUCE_PRODUCT, REDUCE_MAXIMUM, REDUCE_MINIMUM};
    int64_t size = bulk_normal_draw(g, 6);
    CtShape whole = ct_bulk_shape_cons(g->r->arena, size, shape);
    CtBulk *t = bulk_normal_term(g, element, whole, depth - 1);
    return ct_bulk_reduce(g->r, all[bulk_normal_draw(g, 5)], t, CT_NO_RANGE);
}

/* ---- loops ---- */

/* While a loop is made: what is put aside for its body. */
typedef struct LoopState {
    BulkNormal *g, outside;
    uint32_t depth;
} LoopState;

static uint32_t loop_draw(void *data, uint32_t below) { return bulk_normal_draw(((LoopState *)data)->g, below); }

static CtShape loop_shape(void *data) { return bulk_normal_shape(((LoopState *)data)->g); }

static CtBulk *loop_term(void *data, CtElement element, CtShape shape) {
    const LoopState *s = data;
    return bulk_normal_term(s->g, element, shape, s->depth);
}

static void loop_bind(void *data, CtBulkVar *var) {
    BulkNormal *g = ((LoopState *)data)->g;
    ct_push(g->r->arena, &g->scope, var);
}

static void loop_unbind(void *data) { ((LoopState *)data)->g->scope.count--; }

static void loop_enter(void *data, CtBulkLoop *loop) {
    LoopState *s = data;
    BulkNormal *g = s->g;
    s->outside = *g;
    *g = (BulkNormal){.r = g->r, .seed = g->seed, .may_fail = g->may_fail};
    ct_push(g->r->arena, &g->indices, loop->index);
    ct_push(g->r->arena, &g->sizes, loop->steps);
    for (uint32_t p = 0; p < ct_bulk_loop_params(loop); p++) ct_push(g->r->arena, &g->scope, loop->params[p]);
}

static void loop_leave(void *data) {
    LoopState *s = data;
    uint64_t seed = s->g->seed;
    *s->g = s->outside;
    s->g->seed = seed;
}

static CtBulk *looped(BulkNormal *g, CtElement element, CtShape shape, uint32_t depth) {
    LoopState s = {.g = g, .depth = depth > 2 ? 2 : depth - 1};
    BulkLoopMaker m = {g->r,      &s,          loop_draw,  loop_shape, loop_term,
                       loop_bind, loop_unbind, loop_enter, loop_leave, NULL};
    return bulk_random_loop(&m, element, shape);
}

static CtBulk *common(BulkNormal *g, CtElement element, CtShape shape, uint32_t depth) {
    switch (bulk_normal_draw(g, 11)) {
    case 9:
    case 10: return looped(g, element, shape, depth);
    case 0: return let(g, element, shape, depth);
    case 1: {
        CtBulk *test = bulk_normal_term(g, ELEMENT_BOOL, scalar, depth - 1);
        CtBulk *yes = bulk_normal_term(g, element, shape, depth - 1);
        CtBulk *no = bulk_normal_term(g, element, shape, depth - 1);
        return ct_bulk_cond(g->r, test, yes, no);
    }
    case 2: return indexed(g, element, shape, depth);
    case 3: return gathered(g, element, shape, depth);
    case 4:
        if (shape.rank) return transposed(g, element, shape, depth);
        return reshaped(g, element, shape, depth);
    case 5: return reshaped(g, element, shape, depth);
    case 6:
        if (shape.rank == 0 || shape.sizes[0] == 0) return gathered(g, element, shape, depth);
        CtBulk *items[8];
        for (int64_t k = 0; k < shape.sizes[0] && k < 8; k++)
            items[k] = bulk_normal_term(g, element, ct_bulk_shape_tail(shape, 1), depth - 1);
        if (shape.sizes[0] > 8) return gathered(g, element, shape, depth);
        return ct_bulk_literal(g->r, items, (uint32_t)shape.sizes[0]);
    case 7:
        if (shape.rank == 0) return indexed(g, element, shape, depth);
        return ct_bulk_replicate(g->r, shape.sizes[0],
                                 bulk_normal_term(g, element, ct_bulk_shape_tail(shape, 1), depth - 1));
    default: {
        CtBulk *t = bulk_normal_term(g, element, shape, depth - 1);
        if (bulk_normal_draw(g, 2)) return t;
        CtBulk *test =
            g->may_fail ? bulk_normal_term(g, ELEMENT_BOOL, scalar, depth - 1) : ct_bulk_bool(g->r, false, scalar);
        return ct_bulk_check(g->r, test, CT_E0502, "checked", CT_NO_RANGE, t);
    }
    }
}

static CtBulk *real(BulkNormal *g, CtShape shape, uint32_t depth) {
    static const CtPrim one[] = {PRIM_SIN, PRIM_COS, PRIM_TANH, PRIM_ATAN, PRIM_NEGATE,
                                 PRIM_ABS, PRIM_EXP, PRIM_ERF,  PRIM_SQRT, PRIM_RECIP};
    static const CtPrim two[] = {PRIM_ADD, PRIM_SUB, PRIM_MUL, PRIM_MUL,  PRIM_ADD,
                                 PRIM_MAX, PRIM_MIN, PRIM_DIV, PRIM_HYPOT};
    uint32_t choice = bulk_normal_draw(g, 16);
    if (choice < 2)
        return ct_bulk_op1(g->r, one[bulk_normal_draw(g, 10)], bulk_normal_term(g, ELEMENT_REAL, shape, depth - 1));
    if (choice < 6) {
        CtBulk *t = bulk_normal_term(g, ELEMENT_REAL, shape, depth - 1);
        CtBulk *u = bulk_normal_term(g, ELEMENT_REAL, shape, depth - 1);
        return ct_bulk_op2(g->r, two[bulk_normal_draw(g, 9)], t, u);
    }
    if (choice == 6) return ct_bulk_op1(g->r, PRIM_TO_DOUBLE, bulk_normal_term(g, ELEMENT_INT, shape, depth - 1));
    if (choice == 7) return scatter(g, ELEMENT_REAL, shape, depth);
    if (choice == 8 && shape.rank < 5) return reduced(g, ELEMENT_REAL, shape, depth);
    if (choice == 9 && shape.rank) {
        uint32_t count = 1 + bulk_normal_draw(g, shape.rank);
        CtIndexing f = indexing(g, shape, count, depth - 1);
        CtBulk *t = bulk_normal_term(g, ELEMENT_REAL, ct_bulk_shape_tail(shape, count), depth - 1);
        return ct_bulk_one_hot(g->r, shape, f.ix, count, t);
    }
    return common(g, ELEMENT_REAL, shape, depth);
}

static CtBulk *discrete(BulkNormal *g, CtElement element, CtShape shape, uint32_t depth) {
    if (bulk_normal_draw(g, 2)) return common(g, element, shape, depth);
    if (element == ELEMENT_INT) {
        static const CtPrim two[] = {PRIM_INT_ADD, PRIM_INT_SUB, PRIM_INT_MUL, PRIM_INT_DIV, PRIM_INT_MIN};
        if (bulk_normal_draw(g, 4) == 0 && shape.rank < 4) return reduced(g, element, shape, depth);
        if (bulk_normal_draw(g, 4) == 0 && shape.rank < 4) {
            CtShape whole = ct_bulk_shape_cons(g->r->arena, 1 + bulk_normal_draw(g, 3), shape);
            CtBulk *t = bulk_normal_term(g, ELEMENT_REAL, whole, depth - 1);
            return ct_bulk_reduce(g->r, bulk_normal_draw(g, 2) ? REDUCE_ARGMAX : REDUCE_ARGMIN, t, CT_NO_RANGE);
        }
        CtBulk *t = bulk_normal_term(g, element, shape, depth - 1), *u = bulk_normal_term(g, element, shape, depth - 1);
        return ct_bulk_op2(g->r, two[bulk_normal_draw(g, 5)], t, u);
    }
    if (bulk_normal_draw(g, 3) == 0) {
        CtBulk *t = bulk_normal_term(g, element, shape, depth - 1), *u = bulk_normal_term(g, element, shape, depth - 1);
        CtLogic logic = (CtLogic)bulk_normal_draw(g, 3);
        return ct_bulk_logic(g->r, logic, t, logic == LOGIC_NOT ? NULL : u);
    }
    bool reals = bulk_normal_draw(g, 2);
    CtElement of = reals ? ELEMENT_REAL : ELEMENT_INT;
    CtBulk *t = bulk_normal_term(g, of, shape, depth - 1), *u = bulk_normal_term(g, of, shape, depth - 1);
    return ct_bulk_op2(g->r, reals ? PRIM_LT : PRIM_INT_LE, t, u);
}

CtBulk *bulk_normal_term(BulkNormal *g, CtElement element, CtShape shape, uint32_t depth) {
    if (depth == 0 || shape.rank > 5 || bulk_normal_draw(g, 8) == 0) return leaf(g, element, shape);
    return element == ELEMENT_REAL ? real(g, shape, depth) : discrete(g, element, shape, depth);
}
