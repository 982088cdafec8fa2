/* Array operations that run as one nest of loops, against the same operations one by one: each one's result has a name
 * there. Values, errors and steps must be the same, but for a step for each name. */
#include "eval_fixture.h"

#include <math.h>

enum { PROGRAMS = 4000, MOST = 64 };

/* ---- random programs ---- */

typedef struct Maker {
    Fixture *f;
    uint64_t state;
    bool apart;
    bool misfits; /* now and then an array is too short */
    CtVar *s;     /* a number from outside */
    CtVar *leaves[MOST];
    CtCore *data[MOST];
    int64_t lengths[MOST];
    uint32_t leaf_count;
    CtVar *vars[MOST];
    CtCore *terms[MOST];
    uint32_t count; /* of names */
} Maker;

static uint32_t pick(Maker *m, uint32_t count) {
    m->state = m->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(m->state >> 33) % count;
}

static double number(Maker *m) {
    static const double special[] = {NAN, 0.0, -0.0, INFINITY, -INFINITY, 1, -1};
    uint32_t which = pick(m, 40);
    return which < COUNT(special) ? special[which] : (double)pick(m, 2000) / 64 - 15;
}

static CtCore *named(Maker *m, CtCore *core) {
    if (!m->apart) return core;
    CtVar *v = variable(m->f, "t", core->type);
    m->vars[m->count] = v;
    m->terms[m->count++] = core;
    return var(m->f, v);
}

/* A number made of those in scope. */
static CtCore *body(Maker *m, CtVar *const *scope, uint32_t count, uint32_t depth) {
    static const CtPrim prims[] = {PRIM_ADD, PRIM_SUB, PRIM_MUL, PRIM_SCALE, PRIM_MAX, PRIM_DIV, PRIM_NEGATE, PRIM_ABS};
    Fixture *f = m->f;
    uint32_t kind = pick(m, depth == 0 ? 2 : 8);
    if (kind == 0) return var(f, scope[pick(m, count)]);
    if (kind == 1) return pick(m, 2) ? num(f, number(m)) : var(f, m->s);
    CtCore *a = body(m, scope, count, depth - 1);
    if (kind == 2) { /* let z = a in … */
        CtVar *more[4] = {variable(f, "z", f->real), scope[0], scope[count - 1]};
        return let(f, more[0], a, body(m, more, 3, depth - 1));
    }
    CtCore *b = body(m, scope, count, depth - 1);
    if (kind == 3) {
        CtCore *test = op(f, PRIM_LT, a, b);
        return ct_core_if(f->p, AT, test, var(f, scope[0]), pick(m, 2) ? var(f, scope[count - 1]) : num(f, 2));
    }
    CtPrim prim = prims[pick(m, COUNT(prims))];
    return ct_prim_info(prim)->arity == 1 ? ct_core_prim1(f->p, AT, prim, a) : op(f, prim, a, b);
}

static CtCore *leaf(Maker *m, int64_t n) {
    Fixture *f = m->f;
    if (m->misfits && n > 0 && pick(m, 12) == 0) n--;
    uint32_t old = pick(m, MOST);
    if (old < m->leaf_count && m->lengths[old] == n) return var(f, m->leaves[old]);
    CtCore *items[1024];
    for (int64_t i = 0; i < n; i++) items[i] = num(f, number(m));
    CtVar *xs = variable(f, "xs", ct_core_type_array(f->p, f->real));
    m->leaves[m->leaf_count] = xs;
    m->data[m->leaf_count] = ct_core_array_lit(f->p, AT, f->real, items, (uint32_t)n);
    m->lengths[m->leaf_count++] = n;
    return var(f, xs);
}

static CtCore *array(Maker *m, int64_t n, uint32_t depth);

/* A view of n elements: n taken apart into dimensions, each of them going along the array somehow. */
static CtCore *view(Maker *m, int64_t n, uint32_t depth) {
    Fixture *f = m->f;
    int64_t sizes[4], strides[4], weight[4];
    uint32_t rank = 0;
    for (int64_t left = n; left > 1 || rank == 0;) {
        int64_t size = left;
        while (rank < 3 && size > 1 && (left % size != 0 || (size == left && pick(m, 2)))) size--;
        if (size <= 1) size = left;
        sizes[rank++] = size;
        left /= size;
    }
    int64_t length = 1;
    for (uint32_t k = rank; k-- > 0; length *= sizes[k]) weight[k] = length;
    bool exchanged = pick(m, 2), repeats = pick(m, 3) == 0, overlaps = pick(m, 6) == 0;
    for (uint32_t k = 0; k < rank; k++) {
        uint32_t other = rank - 1 - k;
        strides[k] = exchanged && sizes[k] == sizes[other] ? weight[other] : weight[k];
        if (repeats && pick(m, 2)) strides[k] = 0;
        if (pick(m, 8) == 0) strides[k] *= 2;
    }
    for (uint32_t k = 0; overlaps && k < rank; k++) strides[k] = 1 + (k == 0);
    if (exchanged && rank == 2) { /* sizes are exchanged too */
        strides[0] = 1;
        strides[1] = sizes[0];
    }
    int64_t offset = pick(m, 3) == 0 ? 2 : 0, high = offset;
    CtCore *items[16] = {whole(f, offset)};
    for (uint32_t k = 0; k < rank; k++) {
        high += (sizes[k] - 1) * strides[k];
        items[1 + 2 * k] = whole(f, sizes[k]);
        items[2 + 2 * k] = whole(f, strides[k]);
    }
    CtCore *numbers = ct_core_array_lit(f->p, AT, f->integer, items, 1 + 2 * rank);
    int64_t there = high + 1 > length ? high + 1 : length;
    bool misfits = m->misfits; /* views are only written where they fit */
    m->misfits = false;
    CtCore *xs = array(m, there + (pick(m, 4) == 0), depth - 1);
    m->misfits = misfits;
    return ARRAY(STRIDED, numbers, xs);
}

static CtCore *fun(Maker *m, uint32_t count) {
    Fixture *f = m->f;
    CtVar *params[2] = {variable(f, "x", f->real), variable(f, "y", f->real)};
    return ct_core_lam(f->p, AT, NULL, params, count, body(m, params, count, 1 + pick(m, 2)));
}

static CtCore *tests(Maker *m, int64_t n, uint32_t depth) {
    Fixture *f = m->f;
    CtVar *x = variable(f, "x", f->real);
    CtCore *less = op(f, PRIM_LT, var(f, x), num(f, number(m)));
    CtCore *xs = array(m, n, depth - 1);
    return named(m, ARRAY(MAP, lam1(f, x, ct_core_if(f->p, AT, less, whole(f, 1), whole(f, 0))), xs));
}

/* Rows of elements added to places, a few of them nowhere, in an array of n; now and then outside. */
static CtCore *scattered(Maker *m, int64_t n, uint32_t depth) {
    Fixture *f = m->f;
    int64_t row = n % 3 == 0 && pick(m, 2) ? 3 : 1, count = pick(m, 3) == 0 ? 130 : pick(m, 9);
    CtCore *items[130];
    for (int64_t i = 0; i < count; i++) {
        int64_t there = n / row + (m->misfits && pick(m, 100) == 0);
        items[i] = whole(f, there == 0 ? -1 : (int64_t)pick(m, (uint32_t)there + 1) - 1);
    }
    CtCore *places = ct_core_array_lit(f->p, AT, f->integer, items, (uint32_t)count);
    CtCore *xs = array(m, count * row, depth - 1);
    return named(m, ARRAY(SCATTER_ADD, whole(f, n), places, xs));
}

/* An array of n numbers. */
static CtCore *array(Maker *m, int64_t n, uint32_t depth) {
    Fixture *f = m->f;
    CtCore *a, *b, *c;
    switch (depth == 0 || n > 300 || m->leaf_count > MOST / 2 || m->count > MOST / 2 ? 0 : pick(m, 13)) {
    case 1:
    case 2:
    case 3:
        c = fun(m, 1);
        a = array(m, n, depth - 1);
        return named(m, ARRAY(MAP, c, a));
    case 4:
    case 5:
    case 6:
        c = fun(m, 2);
        a = array(m, n, depth - 1);
        b = array(m, n, depth - 1);
        return named(m, ARRAY(ZIP_WITH, c, a, b));
    case 7:
        a = tests(m, n, depth);
        b = array(m, n, depth - 1);
        c = array(m, n, depth - 1);
        return named(m, ARRAY(SELECT, a, b, c));
    case 8:
    case 9: return n == 0 ? leaf(m, n) : named(m, view(m, n, depth));
    case 10:
        if (n == 0 || n > 60) return named(m, ARRAY(REPLICATE, whole(f, n), var(f, m->s)));
        a = array(m, n * (1 + (int64_t)pick(m, 5)), depth - 1);
        return named(m, ARRAY(SUM_ROWS, whole(f, n), a));
    case 11: a = array(m, n, depth - 1); return named(m, ARRAY(REVERSE, a));
    case 12: return scattered(m, n, depth);
    default: return leaf(m, n);
    }
}

static CtCore *program(Fixture *f, uint64_t seed, bool apart, uint32_t *names) {
    static const int64_t lengths[] = {0, 1, 2, 3, 6, 12, 16, 24, 36, 60, 127, 128, 129, 256, 257};
    Maker m = {.f = f, .state = seed * 7919 + 1, .apart = apart, .misfits = seed % 4 == 0};
    m.s = variable(f, "s", f->real);
    int64_t n = lengths[pick(&m, COUNT(lengths))];
    uint32_t root = pick(&m, 3);
    CtCore *result = array(&m, n, 4);
    if (root == 1) result = ARRAY(SUM, result);
    if (root == 2) result = ARRAY(SUM_ROWS, whole(f, n % 3 == 0 && n > 0 ? 3 : 1), result);
    for (uint32_t i = m.count; i-- > 0;) result = let(f, m.vars[i], m.terms[i], result);
    for (uint32_t i = m.leaf_count; i-- > 0;) result = let(f, m.leaves[i], m.data[i], result);
    *names = m.count;
    return let(f, m.s, num(f, number(&m)), result);
}

static void fused_operations_mean_what_they_mean_one_by_one(void **state) {
    Fixture *f = *state;
    uint32_t failed = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        CtEvalStats together, apart;
        uint32_t names, none;
        const char *expected = run_with(f, program(f, seed, true, &names), no_limits, &apart);
        const char *found = run_with(f, program(f, seed, false, &none), no_limits, &together);
        f->p->globals.count = 0;
        if (strcmp(expected, found) != 0) print_error("program %d\n", (int)seed);
        assert_string_equal(found, expected);
        failed += found[0] == 'E';
        if (found[0] != 'E') assert_int_equal(together.steps, apart.steps - names);
    }
    assert_in_range(failed, 10, PROGRAMS / 4); /* lengths that do not fit */
}

/* ---- a matrix product ---- */

static CtCore *strided(Fixture *f, const int64_t *numbers, uint32_t count, CtCore *xs) {
    CtCore *items[16];
    for (uint32_t i = 0; i < count; i++) items[i] = whole(f, numbers[i]);
    return ARRAY(STRIDED, ct_core_array_lit(f->p, AT, f->integer, items, count), xs);
}

static CtCore *counted(Fixture *f, int64_t count) {
    CtVar *i = variable(f, "i", f->integer);
    return ARRAY(BUILD, whole(f, count), lam1(f, i, ct_core_prim1(f->p, AT, PRIM_TO_DOUBLE, var(f, i))));
}

/* Of two n × n matrices: sumRows (n·n) over [p, i, j]. */
static CtCore *product(Fixture *f, int64_t n) {
    CtVar *a = variable(f, "a", ct_core_type_array(f->p, f->real)),
          *b = variable(f, "b", ct_core_type_array(f->p, f->real));
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real);
    int64_t left[] = {0, n, 1, n, n, n, 0}, right[] = {0, n, n, n, 0, n, 1};
    CtCore *times = ARRAY(ZIP_WITH, LAM(op(f, PRIM_MUL, var(f, x), var(f, y)), x, y), strided(f, left, 7, var(f, a)),
                          strided(f, right, 7, var(f, b)));
    return let(f, a, counted(f, n * n), let(f, b, counted(f, n * n), ARRAY(SUM_ROWS, whole(f, n * n), times)));
}

static void a_contraction_does_not_make_its_products(void **state) {
    Fixture *f = *state;
    enum { N = 50 };
    CtEvalStats stats;
    assert_string_equal(run(f, product(f, 2)), "[|2.0,3.0,6.0,11.0|]");
    run_with(f, product(f, N), no_limits, &stats);
    assert_true(stats.peak_memory < N * N * N * 8 / 4);
    uint64_t points = N * N * N, views = 2 * (1 + points + 8), sums = 1 + points + N * N;
    uint64_t matrices = 2 * (1 + 1 + 2 * N * N);
    assert_int_equal(stats.steps, matrices + views + 1 + 2 * points + sums);
}

static void limits_stop_a_contraction(void **state) {
    Fixture *f = *state;
    CtEvalStats stats;
    CtEvalLimits limits = {.steps = 400000};
    assert_string_equal(run_with(f, product(f, 50), limits, &stats), "E0802 the run took more than 400000 steps");
    assert_in_range(stats.steps, 400001, 400010);
}

/* An array that is read elsewhere than where the result is written is no place for the result. */
static void the_result_is_not_made_in_what_is_still_to_be_read(void **state) {
    Fixture *f = *state;
    CtVar *a = variable(f, "a", ct_core_type_array(f->p, f->real));
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real);
    int64_t transposed[] = {0, 2, 1, 2, 2};
    CtCore *sums = ARRAY(ZIP_WITH, LAM(op(f, PRIM_ADD, var(f, x), var(f, y)), x, y), var(f, a),
                         strided(f, transposed, 5, var(f, a)));
    assert_string_equal(run(f, let(f, a, counted(f, 4), sums)), "[|0.0,3.0,3.0,6.0|]");
}

/* zipWith fails before what stands behind it is evaluated. */
static void errors_keep_their_order(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real), *z = variable(f, "z", f->real),
          *w = variable(f, "w", f->real);
    CtCore *misfit = ARRAY(ZIP_WITH, LAM(op(f, PRIM_ADD, var(f, x), var(f, y)), x, y), counted(f, 2), counted(f, 3));
    CtCore *later = ARRAY(REPLICATE, whole(f, -1), num(f, 0));
    CtCore *both = ARRAY(ZIP_WITH, LAM(op(f, PRIM_MUL, var(f, z), var(f, w)), z, w), misfit, later);
    assert_string_equal(run(f, both), "E0504 zipWith takes arrays of one length; these have 2 and 3 elements");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(fused_operations_mean_what_they_mean_one_by_one),
        TEST(a_contraction_does_not_make_its_products),
        TEST(limits_stop_a_contraction),
        TEST(the_result_is_not_made_in_what_is_still_to_be_read),
        TEST(errors_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
