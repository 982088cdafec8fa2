/* Primitives: every row of primitives.def against finite differences, and the rules at the edges. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "prim/prim.h"
#include "rt/scalar.h"

/* ---- a builder whose terms are numbers ---- */

enum { POOL = 256 };

typedef struct Numbers {
    CtPrimBuilder builder;
    double pool[POOL];
    int used;
} Numbers;

static CtPrimTerm number(CtPrimBuilder *self, double value) {
    Numbers *n = (Numbers *)self;
    assert_true(n->used < POOL);
    n->pool[n->used] = value;
    return &n->pool[n->used++];
}

static CtPrimTerm apply(CtPrimBuilder *self, CtPrim prim, CtPrimTerm *args, uint32_t count) {
    double a = *(double *)args[0];
    double b = count == 2 ? *(double *)args[1] : 0;
    return number(self, ct_prim_value(prim, a, b));
}

static CtPrimTerm choose(CtPrimBuilder *self, CtPrim comparison, CtPrimTerm a, CtPrimTerm b, CtPrimTerm yes,
                         CtPrimTerm no) {
    (void)self;
    return ct_prim_value(comparison, *(double *)a, b ? *(double *)b : 0) != 0 ? yes : no;
}

static double value_at(CtPrim prim, const double x[2]) { return ct_prim_value(prim, x[0], x[1]); }

/* The derivative in one argument by the table, scaled by g, or with g = NULL the plain partial. ZERO gives −0.0. */
static double derivative_at(CtPrim prim, uint32_t index, const double x[2], const double *g) {
    Numbers n = {.builder = {.number = number, .prim = apply, .choose = choose, .is_eager = true}};
    CtPrimTerm args[2] = {number(&n.builder, x[0]), number(&n.builder, x[1])};
    CtPrimTerm y = number(&n.builder, value_at(prim, x));
    CtPrimTerm g_term = g ? number(&n.builder, *g) : NULL;
    double *d = ct_prim_derivative(&n.builder, prim, index, args, y, g_term);
    return d ? *d : -0.0;
}

/* ---- a builder whose terms are dual numbers, so that derivatives of derivatives are those that AD would nest ---- */

typedef struct Dual {
    double x, dx;
} Dual;

typedef struct Duals {
    CtPrimBuilder builder;
    Dual pool[POOL];
    int used;
} Duals;

static CtPrimTerm dual(Duals *d, double x, double dx) {
    assert_true(d->used < POOL);
    d->pool[d->used] = (Dual){x, dx};
    return &d->pool[d->used++];
}

static CtPrimTerm dual_number(CtPrimBuilder *self, double value) { return dual((Duals *)self, value, -0.0); }

static CtPrimTerm dual_apply(CtPrimBuilder *self, CtPrim prim, CtPrimTerm *args, uint32_t count) {
    double x[2] = {0, 0};
    for (uint32_t i = 0; i < count; i++) x[i] = ((Dual *)args[i])->x;
    double dx = -0.0;
    for (uint32_t i = 0; i < count; i++) dx += derivative_at(prim, i, x, &((Dual *)args[i])->dx);
    return dual((Duals *)self, value_at(prim, x), dx);
}

static CtPrimTerm dual_choose(CtPrimBuilder *self, CtPrim comparison, CtPrimTerm a, CtPrimTerm b, CtPrimTerm yes,
                              CtPrimTerm no) {
    (void)self;
    return ct_prim_value(comparison, ((Dual *)a)->x, b ? ((Dual *)b)->x : 0) != 0 ? yes : no;
}

/* The derivative by argument `second` of the derivative by argument `first`. */
static double second_at(CtPrim prim, uint32_t first, uint32_t second, const double x[2]) {
    Duals d = {.builder = {.number = dual_number, .prim = dual_apply, .choose = dual_choose, .is_eager = true}};
    CtPrimTerm args[2] = {dual(&d, x[0], second == 0 ? 1 : -0.0), dual(&d, x[1], second == 1 ? 1 : -0.0)};
    CtPrimTerm y = dual_apply(&d.builder, prim, args, ct_prim_info(prim)->arity);
    Dual *result = ct_prim_derivative(&d.builder, prim, first, args, y, NULL);
    return result ? result->dx : -0.0;
}

/* ---- finite differences ---- */

typedef struct Slope {
    CtPrim prim;
    int derivative; /* −1: of the value; else of this first derivative */
    uint32_t index; /* of the argument that varies */
} Slope;

static long double sample(const Slope *s, const double x[2], double step) {
    double moved[2] = {x[0], x[1]};
    moved[s->index] += step;
    return s->derivative < 0 ? value_at(s->prim, moved) : derivative_at(s->prim, (uint32_t)s->derivative, moved, NULL);
}

/* Ridders: central differences at shrinking steps, extrapolated in long double; the best by its own estimate of error.
 */
static double difference(const Slope *s, const double x[2], double *error) {
    enum { LEVELS = 7 };
    long double table[LEVELS][LEVELS], best = 0, best_error = HUGE_VALL;
    double h = 0.03125;
    for (int i = 0; i < LEVELS; i++, h /= 2) {
        table[i][0] = (sample(s, x, h) - sample(s, x, -h)) / (2 * (long double)h);
        long double power = 1;
        for (int j = 1; j <= i; j++) {
            power *= 4;
            table[i][j] = (power * table[i][j - 1] - table[i - 1][j - 1]) / (power - 1);
            long double apart = fmaxl(fabsl(table[i][j] - table[i][j - 1]), fabsl(table[i][j] - table[i - 1][j - 1]));
            if (apart < best_error) {
                best_error = apart;
                best = table[i][j];
            }
        }
    }
    *error = (double)best_error;
    return (double)best;
}

static bool is_real(char letter) { return letter == 'R'; }

static double uniform(uint64_t *seed, double low, double high) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*seed >> 11) * 0x1p-53;
}

enum { POINTS = 200 };

/* Checks one slope at random points of the row's range. Points where differences themselves are no good (a kink within
 * a step) are passed over; they must be few. */
static void check_slope(const Slope *s, double tolerance, uint64_t *seed) {
    const CtPrimInfo *info = ct_prim_info(s->prim);
    int passed_over = 0;
    for (int i = 0; i < POINTS; i++) {
        double x[2] = {uniform(seed, info->low[0], info->high[0]), uniform(seed, info->low[1], info->high[1])};
        double error;
        double expected = difference(s, x, &error);
        double found = s->derivative < 0 ? derivative_at(s->prim, s->index, x, NULL)
                                         : second_at(s->prim, (uint32_t)s->derivative, s->index, x);
        double scale = fabs(expected) + 0.01;
        if (error > 0.1 * tolerance * scale) {
            passed_over++;
        } else if (!(fabs(found - expected) <= tolerance * scale)) {
            fail_msg("%s: by argument %u (of %d) at (%.17g, %.17g): table %.17g, differences %.17g", info->name,
                     s->index, s->derivative, x[0], x[1], found, expected);
        }
    }
    if (passed_over > POINTS / 8) fail_msg("%s: %d of %d points passed over", info->name, passed_over, POINTS);
}

/* evidence: DELTA §8.2, Fig. 14: every primitive against finite differences */
static void every_derivative_agrees_with_differences(void **state) {
    (void)state;
    uint64_t seed = 1;
    int checked = 0;
    for (int p = 0; p < CT_PRIM_COUNT; p++) {
        const CtPrimInfo *info = ct_prim_info((CtPrim)p);
        if (!is_real(info->result)) continue;
        assert_true(info->has_derivative);
        for (uint32_t i = 0; i < info->arity; i++) {
            if (info->low[i] == info->high[i]) continue; /* an order, not a number */
            check_slope(&(Slope){(CtPrim)p, -1, i}, 1e-7, &seed);
            checked++;
        }
    }
    assert_true(checked > 50);
}

static void every_second_derivative_agrees_with_differences(void **state) {
    (void)state;
    uint64_t seed = 2;
    for (int p = 0; p < CT_PRIM_COUNT; p++) {
        const CtPrimInfo *info = ct_prim_info((CtPrim)p);
        if (!is_real(info->result)) continue;
        for (uint32_t i = 0; i < info->arity; i++)
            for (uint32_t j = 0; j < info->arity; j++)
                if (info->low[i] != info->high[i] && info->low[j] != info->high[j])
                    check_slope(&(Slope){(CtPrim)p, (int)i, j}, 1e-7, &seed);
    }
}

static void every_derivative_is_linear_in_its_cotangent(void **state) {
    (void)state;
    uint64_t seed = 3;
    for (int p = 0; p < CT_PRIM_COUNT; p++) {
        const CtPrimInfo *info = ct_prim_info((CtPrim)p);
        if (!is_real(info->result)) continue;
        for (uint32_t i = 0; i < info->arity; i++) {
            double x[2] = {uniform(&seed, info->low[0], info->high[0]), uniform(&seed, info->low[1], info->high[1])};
            double g = -2.5;
            assert_true(derivative_at((CtPrim)p, i, x, &g) == g * derivative_at((CtPrim)p, i, x, NULL));
        }
    }
}

static void a_structural_zero_stays_one_through_every_derivative(void **state) {
    (void)state;
    static const double edges[] = {0.0, -0.0, 1, -1, 0.5, -3, 1e300, INFINITY, -INFINITY, NAN};
    enum { EDGES = sizeof edges / sizeof *edges };
    double zero = -0.0;
    for (int p = 0; p < CT_PRIM_COUNT; p++) {
        const CtPrimInfo *info = ct_prim_info((CtPrim)p);
        if (!is_real(info->result)) continue;
        for (uint32_t i = 0; i < info->arity; i++)
            for (int k = 0; k < EDGES * EDGES; k++) {
                double x[2] = {edges[k % EDGES], edges[k / EDGES]};
                double d = derivative_at((CtPrim)p, i, x, &zero);
                if (!(d == 0 && signbit(d)))
                    fail_msg("%s: by argument %u at (%g, %g): %g for −0.0", info->name, i, x[0], x[1], d);
            }
    }
}

/* ---- the table itself ---- */

static void names_are_unique_and_found(void **state) {
    (void)state;
    for (int p = 0; p < CT_PRIM_COUNT; p++) {
        CtPrim found;
        assert_true(ct_prim_find(ct_prim_info((CtPrim)p)->name, &found));
        assert_int_equal(found, p);
    }
    CtPrim found;
    assert_false(ct_prim_find("no such thing", &found));
}

static void facts_follow_from_the_signature(void **state) {
    (void)state;
    const CtPrimInfo *mul = ct_prim_info(PRIM_MUL);
    assert_int_equal(mul->arity, 2);
    assert_int_equal(mul->args[1], 'R');
    assert_int_equal(mul->result, 'R');
    assert_true(mul->has_derivative);
    assert_false(mul->is_zero);
    const CtPrimInfo *floor_int = ct_prim_info(PRIM_FLOOR_INT);
    assert_int_equal(floor_int->arity, 1);
    assert_int_equal(floor_int->result, 'I');
    assert_false(floor_int->has_derivative);
    assert_true(floor_int->is_zero);
    assert_true(ct_prim_info(PRIM_SIGNUM)->has_derivative);
    assert_true(ct_prim_info(PRIM_SIGNUM)->is_zero);
    assert_true(ct_prim_info(PRIM_FLOAT_TO_DOUBLE)->has_derivative);
    assert_false(ct_prim_info(PRIM_FLOAT_TO_DOUBLE)->is_zero);
    assert_true(ct_prim_info(PRIM_LT)->is_zero);
}

/* ---- rules at the edges ---- */

static double partial(CtPrim prim, uint32_t index, double a, double b) {
    double x[2] = {a, b};
    return derivative_at(prim, index, x, NULL);
}

static void abs_has_slope_zero_at_zero(void **state) {
    (void)state;
    assert_true(partial(PRIM_ABS, 0, 0, 0) == 0);
    assert_true(partial(PRIM_ABS, 0, -0.0, 0) == 0);
    assert_true(partial(PRIM_ABS, 0, -2, 0) == -1);
    assert_true(isnan(partial(PRIM_ABS, 0, NAN, 0)));
}

static void of_equals_the_first_is_taken(void **state) {
    (void)state;
    CtPrim both[] = {PRIM_MAX, PRIM_MIN};
    for (int i = 0; i < 2; i++) {
        assert_true(partial(both[i], 0, 3, 3) == 1);
        assert_true(partial(both[i], 1, 3, 3) == 0);
    }
    assert_true(signbit(ct_max(-0.0, 0.0)));
    assert_false(signbit(ct_min(0.0, -0.0)));
}

static void max_and_min_keep_nan(void **state) {
    (void)state;
    assert_true(isnan(ct_max(NAN, 1)));
    assert_true(isnan(ct_max(1, NAN)));
    assert_true(isnan(ct_min(NAN, 1)));
    assert_true(isnan(ct_min(1, NAN)));
    assert_true(ct_max(1, 2) == 2 && ct_min(1, 2) == 1);
}

static void power_has_slope_zero_where_the_rules_say(void **state) {
    (void)state;
    assert_true(partial(PRIM_POW, 0, 0, 0) == 0);
    assert_true(partial(PRIM_POW, 1, 0, 0) == 0);
    assert_true(partial(PRIM_POW, 0, 5, 0) == 0);
    assert_true(partial(PRIM_POW, 1, 0, 2) == 0);
    assert_true(partial(PRIM_POW, 0, 0, 1) == 1);
    assert_true(partial(PRIM_POW, 0, -2, 2) == -4);
    assert_true(second_at(PRIM_POW, 0, 0, (double[]){0, 2}) == 2);
    assert_true(second_at(PRIM_POW, 0, 0, (double[]){0, 1}) == 0);
}

static void singular_points_follow_ieee(void **state) {
    (void)state;
    assert_true(partial(PRIM_SQRT, 0, 0, 0) == INFINITY);
    assert_true(partial(PRIM_LOG, 0, 0, 0) == INFINITY);
    assert_true(partial(PRIM_CBRT, 0, 0, 0) == INFINITY);
    assert_true(partial(PRIM_DIV, 0, 1, 0) == INFINITY);
    assert_true(isnan(partial(PRIM_DIV, 1, 0, 0)));
    assert_true(partial(PRIM_HYPOT, 0, 0, 0) == 0);
}

static void remainder_has_minus_the_whole_quotient(void **state) {
    (void)state;
    assert_true(partial(PRIM_FMOD, 1, 7.5, 2) == -3);
    assert_true(partial(PRIM_FMOD, 1, -7.5, 2) == 3);
    assert_true(partial(PRIM_FMOD, 1, 1, INFINITY) == 0);
}

static void rounding_is_to_even(void **state) {
    (void)state;
    assert_true(ct_prim_value(PRIM_ROUND, 2.5, 0) == 2);
    assert_true(ct_prim_value(PRIM_ROUND, 3.5, 0) == 4);
    assert_true(ct_prim_value(PRIM_ROUND, -2.5, 0) == -2);
}

/* ---- Int ---- */

static void int_division_follows_haskell(void **state) {
    (void)state;
    static const int64_t cases[][6] = {
        /* a, b, div, mod, quot, rem */
        {7, 2, 3, 1, 3, 1},
        {-7, 2, -4, 1, -3, -1},
        {7, -2, -4, -1, -3, 1},
        {-7, -2, 3, -1, 3, -1},
        {6, 3, 2, 0, 2, 0},
        {-6, 3, -2, 0, -2, 0},
        {0, 5, 0, 0, 0, 0},
        {INT64_MIN, -1, INT64_MIN, 0, INT64_MIN, 0},
        {5, INT64_MIN, -1, 5 + INT64_MIN, 0, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t *c = cases[i];
        assert_int_equal(ct_int_div(c[0], c[1]), c[2]);
        assert_int_equal(ct_int_mod(c[0], c[1]), c[3]);
        assert_int_equal(ct_int_quot(c[0], c[1]), c[4]);
        assert_int_equal(ct_int_rem(c[0], c[1]), c[5]);
    }
}

static void int_arithmetic_wraps(void **state) {
    (void)state;
    assert_int_equal(ct_wrap_add(INT64_MAX, 1), INT64_MIN);
    assert_int_equal(ct_wrap_sub(INT64_MIN, 1), INT64_MAX);
    assert_int_equal(ct_wrap_mul(INT64_MAX, 2), -2);
    assert_int_equal(ct_int_abs(INT64_MIN), INT64_MIN);
}

static void shifts_take_any_count(void **state) {
    (void)state;
    assert_int_equal(ct_int_shift(1, 63), INT64_MIN);
    assert_int_equal(ct_int_shift(1, 64), 0);
    assert_int_equal(ct_int_shift(-8, -1), -4);
    assert_int_equal(ct_int_shift(-8, -1000), -1);
    assert_int_equal(ct_int_shift(8, INT64_MIN), 0);
}

static void what_fits_an_int_is_known_exactly(void **state) {
    (void)state;
    assert_true(ct_fits_int(-0x1p63));
    assert_false(ct_fits_int(0x1p63));
    assert_false(ct_fits_int(NAN));
    assert_int_equal(ct_to_int(-0x1p63), INT64_MIN);
}

/* ---- special functions, against known values ---- */

static void close_to(double found, double expected) {
    if (!(fabs(found - expected) <= 1e-13 * (1 + fabs(expected)))) fail_msg("%.17g is not %.17g", found, expected);
}

static void polygammas_have_their_known_values(void **state) {
    (void)state;
    double euler = 0.57721566490153286061, zeta3 = 1.20205690315959428540, pi2 = CT_PI * CT_PI;
    close_to(ct_digamma(1), -euler);
    close_to(ct_digamma(0.5), -euler - 2 * log(2));
    close_to(ct_digamma(-0.5), 2 - euler - 2 * log(2));
    close_to(ct_digamma(100), 4.600161852738087400);
    close_to(ct_polygamma(1, 1), pi2 / 6);
    close_to(ct_polygamma(1, 0.5), pi2 / 2);
    close_to(ct_polygamma(1, -0.5), pi2 / 2 + 4);
    close_to(ct_polygamma(2, 1), -2 * zeta3);
    close_to(ct_polygamma(2, -0.5), -14 * zeta3 + 16);
    close_to(ct_polygamma(3, 1), pi2 * pi2 / 15);
    close_to(ct_polygamma(3, -0.5), pi2 * pi2 + 96);
    assert_true(isnan(ct_digamma(0)));
    assert_true(isnan(ct_polygamma(1, -3)));
    assert_true(isnan(ct_polygamma(1.5, 2)));
}

static void polygammas_of_every_order_are_each_others_derivatives(void **state) {
    (void)state;
    for (int n = 0; n <= 5; n++)
        for (int i = 0; i < 20; i++) {
            double x[2] = {n, i < 10 ? 0.35 + i * 0.7 : -0.35 - (i - 10) * 0.9};
            if (fabs(x[1] - rint(x[1])) < 0.2) continue;
            double error;
            double expected = difference(&(Slope){PRIM_POLYGAMMA, -1, 1}, x, &error);
            double found = derivative_at(PRIM_POLYGAMMA, 1, x, NULL);
            assert_true(fabs(found - expected) <= 1e-6 * (1 + fabs(expected)));
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_derivative_agrees_with_differences),
        cmocka_unit_test(every_second_derivative_agrees_with_differences),
        cmocka_unit_test(every_derivative_is_linear_in_its_cotangent),
        cmocka_unit_test(a_structural_zero_stays_one_through_every_derivative),
        cmocka_unit_test(names_are_unique_and_found),
        cmocka_unit_test(facts_follow_from_the_signature),
        cmocka_unit_test(abs_has_slope_zero_at_zero),
        cmocka_unit_test(of_equals_the_first_is_taken),
        cmocka_unit_test(max_and_min_keep_nan),
        cmocka_unit_test(power_has_slope_zero_where_the_rules_say),
        cmocka_unit_test(singular_points_follow_ieee),
        cmocka_unit_test(remainder_has_minus_the_whole_quotient),
        cmocka_unit_test(rounding_is_to_even),
        cmocka_unit_test(int_division_follows_haskell),
        cmocka_unit_test(int_arithmetic_wraps),
        cmocka_unit_test(shifts_take_any_count),
        cmocka_unit_test(what_fits_an_int_is_known_exactly),
        cmocka_unit_test(polygammas_have_their_known_values),
        cmocka_unit_test(polygammas_of_every_order_are_each_others_derivatives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
