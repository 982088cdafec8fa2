#include "bulk_generate.h"
#include "bulk_random_loop.h"

enum { MAX_RANK = 5, MAX_COUNT = 48 };

static const CtShape scalar = {0, NULL};

uint32_t bulk_random(BulkRandom *g, uint32_t below) {
    g->state = g->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((g->state >> 33) % below);
}

static bool chance(BulkRandom *g, uint32_t percent) { return bulk_random(g, 100) < percent; }

static int64_t random_size(BulkRandom *g) {
    static const int64_t sizes[] = {2, 3, 1, 2, 3, 4, 2, 1, 3, 0};
    return sizes[bulk_random(g, chance(g, 60) ? 9 : 10)];
}

/* As if no size were 0, since parts are made by leaving sizes out. */
static int64_t volume(CtShape shape) {
    int64_t count = 1;
    for (uint32_t i = 0; i < shape.rank; i++) count *= shape.sizes[i] > 0 ? shape.sizes[i] : 1;
    return count;
}

CtShape bulk_random_shape(BulkRandom *g, uint32_t rank) {
    int64_t sizes[MAX_RANK];
    rank = bulk_random(g, rank + 1);
    for (uint32_t i = 0; i < rank; i++) sizes[i] = random_size(g);
    CtShape shape = ct_bulk_shape_of(g->r->arena, sizes, rank);
    while (volume(shape) > MAX_COUNT) shape = ct_bulk_shape_tail(shape, 1);
    return shape;
}

BulkValue *bulk_random_value(BulkRandom *g, CtElement element, CtShape shape) {
    BulkValue *value = bulk_value(g->r->arena, element, shape);
    for (int64_t i = 0; i < value->count; i++) {
        if (element == ELEMENT_REAL)
            value->items[i].real = (double)bulk_random(g, 17) / 4 - 2;
        else
            value->items[i].integer =
                element == ELEMENT_BOOL ? bulk_random(g, 2) : (int64_t)bulk_random(g, 5) - (int)chance(g, 5);
    }
    return value;
}

/* ---- shapes of parts ---- */

/* `count` sizes before what is left of `shape` without its outermost `drop`. */
static CtShape with_front(BulkRandom *g, uint32_t count, CtShape shape, uint32_t drop) {
    CtShape front = ct_bulk_shape_tail(shape, drop);
    for (uint32_t i = 0; i < count; i++) {
        int64_t size = random_size(g);
        if (volume(front) * size > MAX_COUNT) size = 1;
        front = ct_bulk_shape_cons(g->r->arena, size, front);
    }
    return front;
}

static uint32_t random_front(BulkRandom *g, CtShape shape, uint32_t drop) {
    uint32_t most = MAX_RANK - (shape.rank - drop);
    return bulk_random(g, most < 2 ? most + 1 : 3);
}

static CtShape reshaped(BulkRandom *g, CtShape shape) {
    int64_t count = ct_bulk_shape_count(shape);
    int64_t flat[] = {count}, halves[] = {count % 2 == 0 ? 2 : 1, count % 2 == 0 ? count / 2 : count};
    switch (bulk_random(g, 3)) {
    case 0: return ct_bulk_shape_of(g->r->arena, flat, 1);
    case 1: return ct_bulk_shape_of(g->r->arena, halves, 2);
    default: return shape.rank < MAX_RANK ? ct_bulk_shape_cons(g->r->arena, 1, shape) : shape;
    }
}

/* ---- leaves ---- */

static CtBulk *constant(BulkRandom *g, CtElement element, CtShape shape) {
    BulkValue *value = bulk_random_value(g, element, shape);
    if (chance(g, 40)) {
        double real = (double)bulk_random(g, 5) - 1;
        if (element == ELEMENT_REAL) return ct_bulk_real(g->r, real, shape);
        if (element == ELEMENT_INT) return ct_bulk_int(g->r, (int64_t)bulk_random(g, 4), shape);
        return ct_bulk_bool(g->r, chance(g, 50), shape);
    }
    int64_t integers[MAX_COUNT];
    double reals[MAX_COUNT];
    for (int64_t i = 0; i < value->count; i++) {
        if (element == ELEMENT_REAL)
            reals[i] = value->items[i].real;
        else
            integers[i] = value->items[i].integer;
    }
    return element == ELEMENT_REAL ? ct_bulk_reals(g->r, reals, shape)
                                   : ct_bulk_integers(g->r, integers, shape, element);
}

static CtBulk *leaf(BulkRandom *g, CtElement element, CtShape shape) {
    if (g->scope.count > 0 && chance(g, 85)) {
        uint32_t start = bulk_random(g, g->scope.count);
        for (uint32_t i = 0; i < g->scope.count; i++) {
            CtBulkVar *var = g->scope.items[(start + i) % g->scope.count];
            if (var->element == element && ct_bulk_shape_equal(var->shape, shape)) return ct_bulk_var(g->r, var);
        }
    }
    return constant(g, element, shape);
}

static CtBulk *number(BulkRandom *g, int64_t value) { return ct_bulk_int(g->r, value, scalar); }

/* An index of a dimension: mostly inside. */
static CtBulk *random_index(BulkRandom *g, int64_t size, int fuel) {
    CtBulk *i = leaf(g, ELEMENT_INT, scalar);
    switch (bulk_random(g, 12)) {
    case 0: return bulk_random_term(g, ELEMENT_INT, scalar, fuel);
    case 1: return i;
    case 2:
    case 3:
        return ct_bulk_op2(g->r, PRIM_INT_SUB, number(g, size - 1),
                           ct_bulk_op2(g->r, PRIM_INT_MOD, i, number(g, size)));
    case 4:
    case 5: return number(g, bulk_random(g, (uint32_t)size + (size == 0)));
    case 6:
    case 7:
        i = bulk_random_term(g, ELEMENT_INT, scalar, fuel);
        return ct_bulk_op2(g->r, PRIM_INT_MOD, i, number(g, size));
    default: return ct_bulk_op2(g->r, PRIM_INT_MOD, i, number(g, size));
    }
}

static CtBulk *also(BulkRandom *g, CtBulk *path, CtBulk *test) {
    return path == NULL ? test : ct_bulk_logic(g->r, LOGIC_AND, path, test);
}

/* ---- forms ---- */

static CtIndexing random_indexing(BulkRandom *g, uint32_t var_count, uint32_t count, CtShape of, int fuel) {
    uint32_t before = g->scope.count;
    CtBulkVar **vars = CT_NEW_ARRAY(g->r->arena, CtBulkVar *, var_count);
    CtBulk **ix = CT_NEW_ARRAY(g->r->arena, CtBulk *, count);
    for (uint32_t i = 0; i < var_count; i++) {
        vars[i] = ct_bulk_new_var(g->r, "i", ELEMENT_INT, scalar);
        ct_push(g->r->arena, &g->scope, vars[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        bool plain = var_count > 0 && chance(g, 40);
        ix[i] = plain ? ct_bulk_var(g->r, vars[bulk_random(g, var_count)]) : random_index(g, of.sizes[i], fuel / 3);
        if (plain && chance(g, 70)) ix[i] = ct_bulk_op2(g->r, PRIM_INT_MIN, ix[i], number(g, of.sizes[i] - 1));
    }
    g->scope.count = before;
    return (CtIndexing){vars, var_count, ix, count, g->path};
}

static CtBulk *random_read(BulkRandom *g, CtElement element, CtShape shape, int fuel) {
    uint32_t count = random_front(g, shape, 0);
    CtShape of = with_front(g, count, shape, 0);
    if (g->scope.count > 0 && chance(g, 60)) { /* of a variable, where there is one that fits */
        CtBulkVar *var = g->scope.items[bulk_random(g, g->scope.count)];
        if (var->element == element && var->shape.rank >= shape.rank) {
            CtShape rest = ct_bulk_shape_tail(var->shape, var->shape.rank - shape.rank);
            if (ct_bulk_shape_equal(rest, shape)) {
                count = var->shape.rank - shape.rank;
                of = var->shape;
            }
        }
    }
    CtBulk *t = bulk_random_term(g, element, of, fuel - 1);
    CtIndexing f = random_indexing(g, 0, count, of, fuel - 1);
    return ct_bulk_index(g->r, t, f.ix, count, f.live, CT_NO_RANGE);
}

/* cond (inside) (index t [i]) c: the index is meant only where it is inside. */
static CtBulk *guarded_read(BulkRandom *g, CtElement element, CtShape shape, int fuel) {
    CtShape of = with_front(g, 1, shape, 0);
    CtBulk *t = bulk_random_term(g, element, of, fuel - 1), *i = leaf(g, ELEMENT_INT, scalar);
    CtBulk *at = ct_bulk_op2(g->r, PRIM_INT_SUB, i, number(g, 1));
    CtBulk *low = ct_bulk_op2(g->r, PRIM_INT_LE, number(g, 0), at);
    CtBulk *high = ct_bulk_op2(g->r, PRIM_INT_LT, at, number(g, of.sizes[0]));
    CtBulk *inside = ct_bulk_logic(g->r, LOGIC_AND, low, high);
    CtBulk *read = ct_bulk_index(g->r, t, &at, 1, also(g, g->path, inside), CT_NO_RANGE);
    return ct_bulk_cond(g->r, inside, read, constant(g, element, shape));
}

static CtBulk *random_cond(BulkRandom *g, CtElement element, CtShape shape, int fuel) {
    CtBulk *path = g->path, *test = bulk_random_term(g, ELEMENT_BOOL, scalar, fuel / 3);
    g->path = also(g, path, test);
    CtBulk *yes = bulk_random_term(g, element, shape, fuel / 2);
    g->path = also(g, path, ct_bulk_logic(g->r, LOGIC_NOT, test, NULL));
    CtBulk *no = bulk_random_term(g, element, shape, fuel / 2);
    g->path = path;
    return ct_bulk_cond(g->r, test, yes, no);
}

static CtBulk *random_op(BulkRandom *g, CtElement element, CtShape shape, int fuel) {
    static const CtPrim reals[] = {PRIM_ADD, PRIM_MUL, PRIM_SUB, PRIM_MAX, PRIM_SCALE};
    static const CtPrim ints[] = {PRIM_INT_ADD, PRIM_INT_SUB, PRIM_INT_MUL, PRIM_INT_MIN, PRIM_INT_MOD, PRIM_INT_DIV};
    static const CtPrim tests[] = {PRIM_LT, PRIM_LE, PRIM_EQ}, int_tests[] = {PRIM_INT_LT, PRIM_INT_LE, PRIM_INT_EQ};
    CtElement from = element == ELEMENT_BOOL ? (chance(g, 50) ? ELEMENT_REAL : ELEMENT_INT) : element;
    if (element == ELEMENT_BOOL && chance(g, 30)) {
        CtLogic logic = (CtLogic)bulk_random(g, 3);
        CtBulk *t = bulk_random_term(g, ELEMENT_BOOL, shape, fuel / 2);
        return ct_bulk_logic(g->r, logic, t,
                             logic == LOGIC_NOT ? NULL : bulk_random_term(g, ELEMENT_BOOL, shape, fuel / 2));
    }
    if (element != ELEMENT_BOOL && chance(g, 25)) {
        bool converts = chance(g, 40);
        CtBulk *t = bulk_random_term(g, converts ? (element == ELEMENT_REAL ? ELEMENT_INT : ELEMENT_REAL) : element,
                                     shape, fuel - 1);
        if (converts) return ct_bulk_op1(g->r, element == ELEMENT_REAL ? PRIM_TO_DOUBLE : PRIM_FLOOR_INT, t);
        return ct_bulk_op1(g->r, element == ELEMENT_REAL ? PRIM_SIN : PRIM_INT_NEGATE, t);
    }
    CtPrim prim = element == ELEMENT_REAL  ? reals[bulk_random(g, 5)]
                  : element == ELEMENT_INT ? ints[bulk_random(g, 6)]
                  : from == ELEMENT_REAL   ? tests[bulk_random(g, 3)]
                                           : int_tests[bulk_random(g, 3)];
    CtBulk *t = bulk_random_term(g, from, shape, fuel / 2);
    return ct_bulk_op2(g->r, prim, t, bulk_random_term(g, from, shape, fuel / 2));
}

static CtBulk *random_reduce(BulkRandom *g, CtElement element, CtShape shape, int fuel) {
    CtReduction reduction = (CtReduction)bulk_random(g, element == ELEMENT_INT ? 7 : 5);
    CtElement of = reduction >= REDUCE_ARGMAX && chance(g, 70) ? ELEMENT_REAL : element;
    return ct_bulk_reduce(g->r, reduction, bulk_random_term(g, of, with_front(g, 1, shape, 0), fuel - 1), CT_NO_RANGE);
}

static CtBulk *random_gather(BulkRandom *g, CtElement element, CtShape shape, int fuel) {
    uint32_t var_count = bulk_random(g, shape.rank + 1), count = random_front(g, shape, var_count);
    CtShape of = with_front(g, count, shape, var_count);
    CtBulk *t = bulk_random_term(g, element, of, fuel - 1);
    return ct_bulk_gather(g->r, shape, t, random_indexing(g, var_count, count, of, fuel - 1), CT_NO_RANGE);
}

static CtBulk *random_scatter(BulkRandom *g, CtElement element, CtShape shape, int fuel) {
    uint32_t count = bulk_random(g, shape.rank + 1), var_count = random_front(g, shape, count);
    CtShape of = with_front(g, var_count, shape, count);
    CtBulk *t = bulk_random_term(g, element, of, fuel - 1);
    CtIndexing f = random_indexing(g, var_count, count, shape, fuel - 1);
    if (var_count > 0 || chance(g, 50)) return ct_bulk_scatter(g->r, shape, t, f, CT_NO_RANGE);
    return ct_bulk_one_hot(g->r, shape, f.ix, count, t);
}

static CtBulk *random_transpose(BulkRandom *g, CtElement element, CtShape shape, int fuel) {
    uint32_t count = bulk_random(g, shape.rank + 1), permutation[MAX_RANK];
    int64_t sizes[MAX_RANK];
    for (uint32_t i = 0; i < count; i++) permutation[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = bulk_random(g, i), kept = permutation[j];
        permutation[j] = permutation[i - 1];
        permutation[i - 1] = kept;
    }
    for (uint32_t i = 0; i < shape.rank; i++) sizes[i < count ? permutation[i] : i] = shape.sizes[i];
    CtBulk *t = bulk_random_term(g, element, ct_bulk_shape_of(g->r->arena, sizes, shape.rank), fuel - 1);
    return ct_bulk_transpose(g->r, permutation, count, t);
}

static CtBulk *random_let(BulkRandom *g, CtElement element, CtShape shape, int fuel) {
    CtElement of = (CtElement)bulk_random(g, 3);
    CtShape var_shape = chance(g, 60) ? scalar : bulk_random_shape(g, 3);
    CtBulk *rhs = bulk_random_term(g, of, var_shape, fuel / 2);
    CtBulkVar *var = ct_bulk_new_var(g->r, "x", of, var_shape);
    ct_push(g->r->arena, &g->scope, var);
    CtBulk *body = bulk_random_term(g, element, shape, fuel - 1);
    g->scope.count--;
    return ct_bulk_let(g->r, var, rhs, body);
}

static CtBulk *random_check(BulkRandom *g, CtElement element, CtShape shape, int fuel) {
    CtBulk *x = bulk_random_term(g, ELEMENT_INT, scalar, fuel / 3);
    CtBulk *test = ct_bulk_op2(g->r, PRIM_INT_LT, x, number(g, -1));
    CtBulk *t = bulk_random_term(g, element, shape, fuel - 1);
    return ct_bulk_check(g->r, also(g, g->path, test), CT_E0503, "no", CT_NO_RANGE, t);
}

static CtBulk *random_outer(BulkRandom *g, CtElement element, CtShape shape, int fuel) {
    CtShape inner = ct_bulk_shape_tail(shape, 1);
    if (shape.sizes[0] > 0 && chance(g, 25)) {
        CtBulk *items[4];
        for (int64_t i = 0; i < shape.sizes[0]; i++) items[i] = bulk_random_term(g, element, inner, fuel / 2);
        return ct_bulk_literal(g->r, items, (uint32_t)shape.sizes[0]);
    }
    if (chance(g, 15)) return ct_bulk_replicate(g->r, shape.sizes[0], bulk_random_term(g, element, inner, fuel - 1));
    CtBulkVar *i = ct_bulk_new_var(g->r, "i", ELEMENT_INT, scalar);
    ct_push(g->r->arena, &g->scope, i);
    CtBulk *body = bulk_random_term(g, element, inner, fuel - 1);
    g->scope.count--;
    return ct_bulk_build(g->r, shape.sizes[0], i, body);
}

/* ---- loops ---- */

/* While a loop is made: what is put aside for its body. */
typedef struct LoopState {
    BulkRandom *g, outside;
    int fuel;
} LoopState;

static uint32_t loop_draw(void *data, uint32_t below) { return bulk_random(((LoopState *)data)->g, below); }

static CtShape loop_shape(void *data) { return bulk_random_shape(((LoopState *)data)->g, 2); }

static CtBulk *loop_term(void *data, CtElement element, CtShape shape) {
    const LoopState *s = data;
    return bulk_random_term(s->g, element, shape, s->fuel);
}

static void loop_bind(void *data, CtBulkVar *var) {
    BulkRandom *g = ((LoopState *)data)->g;
    ct_push(g->r->arena, &g->scope, var);
}

static void loop_unbind(void *data) { ((LoopState *)data)->g->scope.count--; }

static void loop_enter(void *data, CtBulkLoop *loop) {
    LoopState *s = data;
    BulkRandom *g = s->g;
    uint32_t params = ct_bulk_loop_params(loop);
    s->outside = *g;
    *g = (BulkRandom){.r = g->r, .state = g->state, .inputs = UINT32_MAX};
    ct_push(g->r->arena, &g->scope, loop->index);
    for (uint32_t p = 0; p < params; p++) ct_push(g->r->arena, &g->scope, loop->params[p]);
    if (s->outside.path != NULL) g->path = ct_bulk_var(g->r, loop->params[params - 1]);
}

static void loop_leave(void *data) {
    LoopState *s = data;
    uint64_t state = s->g->state;
    *s->g = s->outside;
    s->g->state = state;
}

static CtBulk *random_loop(BulkRandom *g, CtElement element, CtShape shape, int fuel) {
    LoopState s = {.g = g, .fuel = fuel / 3};
    BulkLoopMaker m = {g->r,      &s,          loop_draw,  loop_shape, loop_term,
                       loop_bind, loop_unbind, loop_enter, loop_leave, g->path};
    return bulk_random_loop(&m, element, shape);
}

/* A term that was made before, the same pointer: rules must bear names that are bound in several places. */
static CtBulk *again(BulkRandom *g, CtElement element, CtShape shape) {
    for (uint32_t i = 0; i < g->closed.count; i++) {
        CtBulk *t = g->closed.items[i];
        if (t->element == element && ct_bulk_shape_equal(t->shape, shape) && chance(g, 50)) return t;
    }
    return NULL;
}

static CtBulk *new_term(BulkRandom *g, CtElement element, CtShape shape, int fuel);

CtBulk *bulk_random_term(BulkRandom *g, CtElement element, CtShape shape, int fuel) {
    CtBulk *t = chance(g, 15) ? again(g, element, shape) : NULL;
    if (t != NULL) return t;
    bool is_closed = g->scope.count == g->inputs && g->path == NULL;
    t = new_term(g, element, shape, fuel);
    if (is_closed) ct_push(g->r->arena, &g->closed, t);
    return t;
}

static CtBulk *new_term(BulkRandom *g, CtElement element, CtShape shape, int fuel) {
    if (fuel <= 0) return leaf(g, element, shape);
    if (shape.rank > 0 && shape.sizes[0] <= 4 && chance(g, 35)) return random_outer(g, element, shape, fuel);
    switch (bulk_random(g, 15)) {
    case 0: return random_let(g, element, shape, fuel);
    case 1: return random_cond(g, element, shape, fuel);
    case 2: return shape.rank < MAX_RANK ? guarded_read(g, element, shape, fuel) : leaf(g, element, shape);
    case 3:
        return shape.rank < MAX_RANK && element != ELEMENT_BOOL ? random_reduce(g, element, shape, fuel)
                                                                : leaf(g, element, shape);
    case 4: return random_gather(g, element, shape, fuel);
    case 5: return element == ELEMENT_BOOL ? leaf(g, element, shape) : random_scatter(g, element, shape, fuel);
    case 6: return random_transpose(g, element, shape, fuel);
    case 7: return ct_bulk_reshape(g->r, shape, bulk_random_term(g, element, reshaped(g, shape), fuel - 1));
    case 8: return random_check(g, element, shape, fuel);
    case 14: return random_loop(g, element, shape, fuel);
    case 9:
    case 10:
    case 11: return random_read(g, element, shape, fuel);
    default: return random_op(g, element, shape, fuel);
    }
}
