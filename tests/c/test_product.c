/* Products of matrices in emitted programs, element by element against the fold that each is; and where arrays begin.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#pragma GCC diagnostic ignored "-Wunused-function"
#define CT_PART_WORK 4
#include "rt/product.h"

#include <math.h>

typedef struct Run {
    ct_run rt;
    uint64_t state;
} Run;

static double any(Run *r) {
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(r->state >> 11) / 9007199254740992.0 - 0.4;
}

static ct_array *matrix(Run *r, int64_t rows, int64_t columns) {
    ct_array *x = ct_array_make(&r->rt, 2, false, rows * columns);
    x->dims[0] = rows;
    x->dims[1] = rows == 0 ? 0 : columns;
    for (int64_t i = 0; i < rows * columns; i++) x->data[i].f = any(r);
    return x;
}

static double at(const ct_array *x, int transposed, int64_t i, int64_t j) {
    return transposed ? x->data[j * x->dims[1] + i].f : x->data[i * x->dims[1] + j].f;
}

/* Also compiled for the processor at hand, where a multiplication and an addition may be rounded once. */
static double add_product(double sum, double x, double y) { return CT_FUSED ? fma(x, y, sum) : sum + x * y; }

static bool is_finite(const ct_array *x) {
    for (int64_t i = 0; i < ct_words(x); i++)
        if (!isfinite(x->data[i].f)) return false;
    return true;
}

/* The sum of one element, as a fold in the order of the terms. */
static double folded(const ct_array *a, int a_transposed, const ct_array *b, int b_transposed, int64_t count,
                     int cotangent, int64_t i, int64_t j) {
    bool scales = cotangent != 0 && ct_holds_zero(cotangent == 1 ? a : b) && !is_finite(cotangent == 1 ? b : a);
    double sum = cotangent == 0 ? 0.0 : -0.0;
    for (int64_t k = 0; k < count; k++) {
        double x = at(a, a_transposed, i, k), y = at(b, b_transposed, k, j), g = cotangent == 1 ? x : y;
        int64_t zero;
        memcpy(&zero, &g, sizeof zero);
        if (cotangent == 0)
            sum = add_product(sum, x, y);
        else if (scales || zero == INT64_MIN)
            sum += cotangent == 1 ? ct_scale(y, x) : ct_scale(x, y);
        else
            sum = add_product(sum, x, y) + 0.0;
    }
    return sum;
}

static void check(Run *r, const ct_array *a, int a_transposed, const ct_array *b, int b_transposed, int cotangent) {
    int64_t rows = a->dims[a_transposed], columns = b->dims[1 - b_transposed], count = a->dims[1 - a_transposed];
    ct_array *x = ct_matrix_product(&r->rt, 0, rows, columns, a, a_transposed, b, b_transposed, cotangent);
    assert_int_equal(x->dims[0], rows);
    assert_int_equal(x->dims[1], columns);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            ct_word wanted = {.f = folded(a, a_transposed, b, b_transposed, count, cotangent, i, j)},
                    got = x->data[i * columns + j];
            assert_true(wanted.i == got.i || (isnan(wanted.f) && isnan(got.f)));
        }
    ct_drop(&r->rt, x);
}

/* Sizes about the sides of tiles, strips and blocks. */
static void each_element_is_the_fold_in_order(void **state) {
    static const int64_t sizes[][3] = {{1, 1, 1},      {2, 3, 4},      {4, 16, 128}, {5, 17, 129}, {3, 8, 127},
                                       {9, 33, 64},    {12, 4, 257},   {1, 530, 3},  {7, 1, 300},  {16, 16, 16},
                                       {128, 12, 192}, {131, 25, 193}, {3, 11, 385}};
    Run *r = *state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int transposed = 0; transposed < 4; transposed++) {
            int64_t rows = sizes[s][0], columns = sizes[s][1], count = sizes[s][2];
            int a_transposed = transposed & 1, b_transposed = transposed >> 1;
            ct_array *a = a_transposed ? matrix(r, count, rows) : matrix(r, rows, count);
            ct_array *b = b_transposed ? matrix(r, columns, count) : matrix(r, count, columns);
            for (int cotangent = 0; cotangent < 3; cotangent++) check(r, a, a_transposed, b, b_transposed, cotangent);
            ct_drop(&r->rt, a);
            ct_drop(&r->rt, b);
        }
}

/* What several threads would take: rows, or columns where these are more. */
static void parts_are_the_whole(void **state) {
    Run *r = *state;
    ct_array *x = matrix(r, 203, 150), *y = matrix(r, 150, 67);
    ct_multiplying m = {.by_columns = false, .rows = 203, .columns = 67, .count = 150};
    assert_int_equal(ct_multiply_parts(&r->rt, &m).parts, 4);
    check(r, x, 0, y, 0, 0);
    check(r, y, 1, x, 1, 1);
    ct_drop(&r->rt, x);
    ct_drop(&r->rt, y);
    each_element_is_the_fold_in_order(state);
    assert_false(r->rt.alone);
}

/* A structural zero gives nothing, of whatever it is multiplied by; where all are, so is the sum. */
static void a_cotangent_that_is_nothing_gives_nothing(void **state) {
    Run *r = *state;
    ct_array *g = matrix(r, 6, 5), *b = matrix(r, 5, 18);
    for (int64_t j = 0; j < 5; j++) g->data[2 * 5 + j].f = -0.0;
    for (int64_t i = 0; i < 6; i++) g->data[i * 5 + 3].f = -0.0;
    for (int64_t j = 0; j < 18; j++) b->data[3 * 18 + j].f = j % 2 ? INFINITY : NAN;
    check(r, g, 0, b, 0, 1);
    check(r, b, 1, g, 1, 2);
    ct_array *x = ct_matrix_product(&r->rt, 0, 6, 18, g, 0, b, 0, 1);
    for (int64_t j = 0; j < 18; j++) assert_true(x->data[2 * 18 + j].i == INT64_MIN && isfinite(x->data[j].f));
    ct_drop(&r->rt, x);
    ct_drop(&r->rt, g);
    ct_drop(&r->rt, b);
}

/* Structural zeros among others, of finite numbers: sums of nothing but them are such zeros, others never, even if all
 * their terms vanish. Then the same of numbers that are not finite. */
static void sums_of_structural_zeros_are_such(void **state) {
    static const int64_t sizes[][3] = {{1, 1, 1}, {5, 14, 4}, {9, 33, 200}, {30, 7, 3}};
    Run *r = *state;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int way = 0; way < 16; way++) {
            int64_t rows = sizes[s][0], columns = sizes[s][1], count = sizes[s][2];
            int a_transposed = way & 1, b_transposed = way >> 1 & 1, cotangent = 1 + (way >> 2 & 1);
            ct_array *a = a_transposed ? matrix(r, count, rows) : matrix(r, rows, count);
            ct_array *b = b_transposed ? matrix(r, columns, count) : matrix(r, count, columns);
            ct_array *g = cotangent == 1 ? a : b, *other = cotangent == 1 ? b : a;
            for (int64_t i = 0; i < ct_words(g); i++)
                if (i % 3 == 0) g->data[i].f = i % 2 == 0 ? -0.0 : 0.0;
            int64_t wide = g->dims[1], nothing = g->dims[0] / 2 * wide;
            for (int64_t j = 0; j < wide; j++) g->data[nothing + j].f = -0.0;
            for (int64_t i = 0; i < g->dims[0]; i++) g->data[i * wide + wide / 2].f = -0.0;
            for (int64_t j = 0; j < wide; j++) g->data[j].f = j == wide / 2 ? -0.0 : 0.0;
            if (way >> 3 & 1) other->data[ct_words(other) - 1].f = INFINITY;
            check(r, a, a_transposed, b, b_transposed, cotangent);
            ct_drop(&r->rt, a);
            ct_drop(&r->rt, b);
        }
}

static void what_does_not_fit_is_zeros(void **state) {
    Run *r = *state;
    ct_array *a = matrix(r, 2, 3), *b = matrix(r, 2, 4), *none = matrix(r, 0, 0);
    ct_array *x = ct_matrix_product(&r->rt, 0, 2, 5, a, 0, b, 0, 0),
             *y = ct_matrix_product(&r->rt, 0, 2, 3, none, 0, a, 0, 1),
             *z = ct_matrix_product(&r->rt, 0, 0, 4, none, 0, b, 0, 0);
    for (int64_t i = 0; i < 10; i++) assert_true(x->data[i].i == 0);
    for (int64_t i = 0; i < 6; i++) assert_true(y->data[i].i == INT64_MIN);
    assert_int_equal(z->dims[0], 0);
    assert_int_equal(z->dims[1], 0);
}

/* Arrays for vectors begin at cache lines, wherever the small ones between them end. */
static void arrays_begin_at_cache_lines(void **state) {
    Run *r = *state;
    for (int64_t length = CT_SMALL + 1; length < 2 * CT_MIDDLE && !CT_PLAIN; length = length * 5 / 4 + 1) {
        ct_array *kept[6];
        for (int i = 0; i < 6; i++) {
            ct_array *small = ct_vector(&r->rt, false, i + 1), *x = ct_vector(&r->rt, false, length);
            assert_int_equal((uintptr_t)x->data % CT_LINE, 0);
            if (i % 2 == 0) ct_drop(&r->rt, small);
            x->data[length - 1].f = 1.0;
            kept[i] = x;
        }
        for (int i = 0; i < 6; i++) ct_drop(&r->rt, kept[i]);
    }
}

static int begin(void **state) {
    static Run run;
    run = (Run){.state = 7};
    ct_run_clear(&run.rt);
    if (setjmp(run.rt.out) != 0) return -1;
    *state = &run;
    return 0;
}

static void one_after_the_other(void *pool, void (*work)(void *data, uint32_t who), void *data) {
    (void)pool;
    for (uint32_t who = 3; who-- > 0;) work(data, who);
}

/* With a crew, which takes the product in parts. */
static int begin_with_crew(void **state) {
    if (begin(state) != 0) return -1;
    ct_run *rt = &((Run *)*state)->rt;
    ct_crew_new(rt, 3);
    if (rt->crew == NULL) return -1;
    rt->crew->call = one_after_the_other;
    return 0;
}

static int end(void **state) {
    ct_crew_free(&((Run *)*state)->rt);
    ct_run_clear(&((Run *)*state)->rt);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_element_is_the_fold_in_order, begin, end),
        cmocka_unit_test_setup_teardown(parts_are_the_whole, begin_with_crew, end),
        cmocka_unit_test_setup_teardown(a_cotangent_that_is_nothing_gives_nothing, begin, end),
        cmocka_unit_test_setup_teardown(sums_of_structural_zeros_are_such, begin, end),
        cmocka_unit_test_setup_teardown(sums_of_structural_zeros_are_such, begin_with_crew, end),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_zeros, begin, end),
        cmocka_unit_test_setup_teardown(arrays_begin_at_cache_lines, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
