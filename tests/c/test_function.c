/* Functions on flat arrays: what goes in and out, by native code and by the evaluator. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cotan.h"

#define expect_near(found, expected, by) assert_true(fabs((found) - (expected)) <= (by))

static const char source[] =
    "import Debug.Trace; import Data.Ratio; import qualified Data.Array as A; data Model = Model { "
    "weights :: Array (Array Double), bias :: Double }\n"
    "loss :: Model -> Array Double -> Array Double -> Double\n"
    "loss m xs ys = sum (zipWith (\\row y -> (sum (zipWith (\\w x -> w * x) row xs) + bias m - y) ^ 2) (weights m) "
    "ys)\n"
    "rotate :: (Double, Double) -> Array Double -> Array Double\n"
    "rotate (a, b) xs = map (\\x -> a * x + b) xs\n"
    "pairs :: Array (Double, Int) -> Array (Int, Double)\n"
    "pairs ps = map (\\(x, n) -> (n + 1, x * 2)) ps\n"
    "flags :: Array Bool -> Ordering -> (Bool, Array Bool)\n"
    "flags bs o = (o == GT, map not bs)\n"
    "wide :: (Double, Double, Double, Double, Double, Double, Double) -> (Double, Double, Double, Double, Double, "
    "Double, Double) -> Double\n"
    "wide (a, b, c, d, e, f, g) (h, i, j, k, l, m, n) = a * h + b * i + c * j + d * k + e * l + f * m + g * n\n"
    "pick :: Array Double -> Int -> Double\n"
    "pick xs i = xs ! i\n"
    "same :: Array Double -> Array Double\n"
    "same xs = xs\n"
    "swap :: (Array Double, Array Double) -> (Array Double, Array Double, Array Double)\n"
    "swap (x, y) = (y, x, x)\n"
    "rows :: Array (Array Double) -> Array Double\n"
    "rows xs = xs ! 1\n"
    "climb :: Int -> Double\n"
    "climb n = if n == 0 then 0 else abs (1 + climb (n - 1))\n"
    "told :: Int -> Double\n"
    "told n = trace \"begin\" (climb n)\n"
    "total :: [Double] -> Double\n"
    "total xs = sum xs\n"
    "table :: Array Double\n"
    "table = build 100 (\\i -> fromIntegral i)\n"
    "forever :: Int -> Int\n"
    "forever n = forever (n + 1)\n"
    "spread :: Array Double -> Double\n"
    "spread xs = sum (map (\\x -> x + 0 * sum (map (\\y -> y) (take 2 xs))) xs)\n"
    "data Foreign = Foreign { a :: Array Double, data' :: Inner, n :: Int }\n"
    "data Inner = Inner { n' :: Double, flags' :: Array (Array Int) }\n"
    "data Primed = Primed { p' :: Double, p :: Double, q'' :: Double }\n"
    "primed :: Primed -> Primed\n"
    "primed r = r { p = 10 * p r }\n"
    "data Level = Low | High Int\n"
    "data Listed = Listed { ragged :: [[Double]], kinds :: [Level] }\n"
    "listed :: Listed -> [[Double]]\n"
    "listed l = map (map (* fromIntegral (length (kinds l)))) (ragged l)\n"
    "noRows :: [Double]\n"
    "half :: Array (Ratio Int) -> Array Bool\n"
    "half rs = map (== 1 % 2) rs\n"
    "bounded :: Double -> A.Array Int Double -> Double\n"
    "bounded x a = x * a A.! 2\n"
    "noRows = []\n"
    "answer :: Foreign -> (Double, Inner)\n"
    "answer (Foreign { a, data', n }) = (sum a * fromIntegral n, data')\n"
    "main = (3.0, table)\n";

typedef struct Setting {
    cotan_context *context;
    cotan_program *program;
    bool native;
} Setting;

static Setting open_setting(bool native) {
    Setting s = {.context = cotan_open(&(cotan_limits){.memory = 256 << 20}), .native = native};
    assert_non_null(s.context);
    assert_null(cotan_load(s.context, "source.cot", source, strlen(source), &s.program));
    return s;
}

static cotan_function *make(const Setting *s, cotan_mode mode, const char *name, const char *method) {
    cotan_call call = {.mode = mode, .function = name, .method = method, .native = s->native};
    cotan_function *function;
    cotan_error *error = cotan_function_make(s->program, &call, &function);
    if (error != NULL) print_error("%s", cotan_error_text(error, false, false));
    assert_null(error);
    if (s->native) assert_null(cotan_function_signature(function)->not_native);
    return function;
}

static void each_engine(void (*test)(const Setting *s)) {
    for (int native = 0; native < 2; native++) {
        if (native && getenv("COTAN_NATIVE") != NULL) continue;
        Setting s = open_setting(native);
        test(&s);
        cotan_close(s.context);
    }
}

static void expect_numbers(const double *found, const double *expected, int count) {
    for (int i = 0; i < count; i++) expect_near(found[i], expected[i], 0);
}

/* ---- settings ---- */

/* A sum in order is 1, where 1e16 swallows each 1; in lanes it is not. */
static double sum_of(cotan_function *f, double *xs, size_t count) {
    double value = 0;
    cotan_buffer in[] = {{xs, {count}}}, out[] = {{&value, {0}}};
    cotan_error *error = cotan_apply(f, in, out);
    if (error != NULL) print_error("%s", cotan_error_text(error, false, false));
    assert_null(error);
    return value;
}

static void exact_mathematics_holds_from_the_next_call_on(void **state) {
    (void)state;
    if (getenv("COTAN_NATIVE") != NULL) return;
    Setting s = open_setting(true);
    cotan_function *f = make(&s, COTAN_RUN, "spread", NULL);
    double xs[64], in_order = 0;
    for (int i = 0; i < 64; i++) xs[i] = i == 0 ? 1e16 : 1;
    for (int i = 0; i < 64; i++) in_order += xs[i];
    double fast = sum_of(f, xs, 64);
    assert_true(fast != in_order);
    cotan_exact_math(s.context, true);
    assert_true(sum_of(f, xs, 64) == in_order);
    cotan_exact_math(s.context, false);
    assert_true(sum_of(f, xs, 64) == fast);
    cotan_function_free(f);
    cotan_close(s.context);
}

/* Naming the method `native` asks for native code, in place of which the evaluator runs where there is none: here
 * because of a limit of steps, or of a trap. */
static void named_native(void **state) {
    (void)state;
    static const cotan_call calls[] = {{.mode = COTAN_GRAD, .function = "pick", .method = "native"},
                                       {.mode = COTAN_GRAD, .function = "pick", .method = "native", .trap = 1}};
    for (int i = 0; i < 2; i++) {
        Setting s = open_setting(false);
        cotan_function *f;
        cotan_set_limits(s.context, &(cotan_limits){.memory = 256 << 20, .steps = i == 0 ? 100000 : 0});
        assert_null(cotan_function_make(s.program, &calls[i], &f));
        if (i == 0) assert_string_equal(cotan_function_signature(f)->not_native, "steps are counted by the evaluator");
        double xs[] = {2, 3};
        int64_t n = 1;
        cotan_buffer in[] = {{xs, {2}}, {&n, {0}}}, out[3] = {{0}};
        assert_null(cotan_apply(f, in, out));
        expect_near(*(double *)out[0].data, 3, 0);
        expect_near(((double *)out[1].data)[1], 1, 0);
        cotan_close(s.context);
    }
}

/* Results may be written over inputs, also over those that are other results. */
static void in_place_of(const Setting *s) {
    cotan_function *f = make(s, COTAN_RUN, "swap", NULL);
    double x[] = {1, 2}, y[] = {3, 4}, all[] = {1, 2, 3, 4};
    cotan_buffer in[] = {{x, {2}}, {y, {2}}}, out[] = {{x, {2}}, {y, {2}}, {NULL, {0}}};
    assert_null(cotan_apply(f, in, out));
    expect_numbers(x, (double[]){3, 4}, 2);
    expect_numbers(y, (double[]){1, 2}, 2);
    expect_numbers(out[2].data, (double[]){1, 2}, 2);
    cotan_buffer parts[] = {{all, {2}}, {all + 2, {2}}}, shifted[] = {{all + 1, {2}}, {NULL, {0}}, {NULL, {0}}};
    assert_null(cotan_apply(f, parts, shifted));
    expect_numbers(all, (double[]){1, 3, 4, 4}, 4);
    expect_numbers(shifted[1].data, (double[]){1, 2}, 2);
    double m[] = {1, 2, 3, 4, 5, 6};
    cotan_buffer matrix[] = {{m, {2, 3}}}, row[] = {{m + 1, {3}}};
    assert_null(cotan_apply(make(s, COTAN_RUN, "rows", NULL), matrix, row));
    expect_numbers(m, (double[]){1, 4, 5, 6, 5, 6}, 6);
}

static void in_place(void **state) {
    (void)state;
    each_engine(in_place_of);
}

/* A function of the host's keeps what it was made of. */
static void definitions_of(const Setting *s) {
    static const char again[] = "rotate (a, b) xs = map (\\x -> 100 * x) xs :: Array Double";
    cotan_function *f = make(s, COTAN_RUN, "rotate", NULL);
    double ab[2] = {2, 1}, x = 3;
    cotan_buffer in[] = {{&ab[0], {0}}, {&ab[1], {0}}, {&x, {1}}};
    bool is_expression;
    const char *types;
    for (int call = 0; call < 3; call++) {
        cotan_buffer out[] = {{0}};
        assert_null(cotan_apply(f, in, out));
        expect_near(*(double *)out[0].data, 7, 0);
        if (call == 0) assert_null(cotan_define(s->program, again, &is_expression, &types));
    }
}

static void definitions(void **state) {
    (void)state;
    each_engine(definitions_of);
}

/* Also what they are made of again, because of other limits. */
static void definitions_and_limits_of(const Setting *s) {
    double x = 3;
    cotan_buffer in[] = {{&x, {0}}};
    bool is_expression;
    const char *types;
    assert_null(cotan_define(s->program, "thrice x = 3 * x :: Double", &is_expression, &types));
    cotan_function *f = make(s, COTAN_RUN, "thrice", NULL);
    assert_null(cotan_define(s->program, "thrice x = [|x, x :: Double|]", &is_expression, &types));
    cotan_function *later = make(s, COTAN_RUN, "thrice", NULL);
    for (int call = 0; call < 3; call++) {
        cotan_limits limits = {.memory = (size_t)(256 + call) << 20};
        cotan_set_limits(s->context, &limits);
        cotan_buffer out[] = {{0}}, both[] = {{0}};
        assert_null(cotan_apply(f, in, out));
        expect_near(*(double *)out[0].data, 9, 0);
        assert_null(cotan_apply(later, in, both));
        assert_int_equal(both[0].size[0], 2);
    }
}

/* What it is made of for lists of several lengths, when it is first called with them. */
static void definitions_and_rows_of(const Setting *s) {
    bool is_expression;
    const char *types;
    assert_null(
        cotan_define(s->program, "all' :: [[Double]] -> Double; all' xs = sum (map sum xs)", &is_expression, &types));
    cotan_function *f = make(s, COTAN_RUN, "all'", NULL);
    assert_null(cotan_define(s->program, "all' :: [[Double]] -> Double; all' xs = 100", &is_expression, &types));
    const cotan_value *value;
    cotan_value *row[] = {cotan_value_double(1), cotan_value_double(2)}, *other[] = {cotan_value_double(3)};
    cotan_value *rows[] = {cotan_value_of(COTAN_KIND_LIST, row, 2), cotan_value_of(COTAN_KIND_LIST, other, 1)};
    cotan_value *all = cotan_value_of(COTAN_KIND_LIST, rows, 2);
    assert_null(cotan_apply_values(f, all, NULL, &value, NULL));
    expect_near(cotan_value_as_double(value), 6, 0);
    cotan_value_free(all);
}

static void definitions_and_limits(void **state) {
    (void)state;
    each_engine(definitions_and_limits_of);
    each_engine(definitions_and_rows_of);
}

/* Limits hold for functions that have been called before, in both directions; with other threads their code goes on. */
static void limits_of(const Setting *s) {
    cotan_function *f = make(s, COTAN_RUN, "climb", NULL);
    int64_t n = 10000;
    double height;
    cotan_buffer in[] = {{&n, {0}}}, out[] = {{&height, {0}}};
    for (int call = 0; call < 3; call++) {
        cotan_limits limits = {.memory = 256 << 20, .depth = call == 1 ? 100 : 0, .threads = 1 + (unsigned)call};
        cotan_set_limits(s->context, &limits);
        cotan_error *error = cotan_apply(f, in, out);
        if (call == 1)
            assert_string_equal(cotan_error_code(error, 0), "E0803");
        else
            assert_null(error);
    }
}

static void limits(void **state) {
    (void)state;
    each_engine(limits_of);
}

/* ---- derivatives ---- */

static double squares(const double *w, double b, const double *xs, const double *ys) {
    double sum = 0;
    for (int i = 0; i < 2; i++) {
        double y = b - ys[i];
        for (int j = 0; j < 3; j++) y += w[3 * i + j] * xs[j];
        sum += y * y;
    }
    return sum;
}

static void gradient_of(const Setting *s) {
    cotan_function *f = make(s, COTAN_GRAD, "loss", NULL);
    const cotan_signature *signature = cotan_function_signature(f);
    static const char *const in_paths[] = {"at[0].weights", "at[0].bias", "at[1]", "at[2]"};
    static const char *const out_paths[] = {"value", "derivative[0].weights", "derivative[0].bias", "derivative[1]",
                                            "derivative[2]"};
    static const unsigned ranks[] = {2, 0, 1, 1};
    assert_int_equal(signature->in_count, 4);
    assert_int_equal(signature->out_count, 5);
    for (int i = 0; i < 5; i++) assert_string_equal(signature->out[i].path, out_paths[i]);
    for (int i = 0; i < 4; i++) {
        assert_string_equal(signature->in[i].path, in_paths[i]);
        assert_int_equal(signature->in[i].rank, ranks[i]);
        assert_int_equal(signature->in[i].element, COTAN_DOUBLE);
    }
    double w[6] = {1, 2, 3, 4, 5, 6}, b = 0.5, xs[3] = {1, -1, 2}, ys[2] = {3, 4}, value, w_adj[6], b_adj;
    cotan_buffer in[] = {{w, {2, 3}}, {&b, {0}}, {xs, {3}}, {ys, {2}}};
    for (int iteration = 0; iteration < 3; iteration++) { /* the arrays are read where they lie */
        cotan_buffer out[] = {{&value, {0}}, {w_adj, {2, 3}}, {&b_adj, {0}}, {NULL, {0}}, {NULL, {0}}};
        w[4] += iteration;
        assert_null(cotan_apply(f, in, out));
        expect_near(value, squares(w, b, xs, ys), 1e-12);
        for (int i = 0; i < 6; i++) {
            double around[2], h = 1e-4, at = w[i];
            for (int k = 0; k < 2; k++) {
                w[i] = at + (k == 0 ? -h : h);
                around[k] = squares(w, b, xs, ys);
            }
            w[i] = at;
            expect_near(w_adj[i], (around[1] - around[0]) / (2 * h), 1e-6);
        }
        assert_int_equal(out[3].size[0], 3);
        assert_int_equal(out[4].size[0], 2);
        double r0 = w[0] - w[1] + 2 * w[2] + b - 3, r1 = w[3] - w[4] + 2 * w[5] + b - 4;
        expect_near(b_adj, 2 * (r0 + r1), 1e-12);
        expect_near(((double *)out[3].data)[2], 2 * (r0 * w[2] + r1 * w[5]), 1e-12);
        expect_near(((double *)out[4].data)[0], -2 * r0, 1e-12);
    }
    cotan_function_free(f);
}

static void gradients(void **state) {
    (void)state;
    each_engine(gradient_of);
}

/* ⟨J·dx, dy⟩ = ⟨dx, Jᵀ·dy⟩ */
static void transposed_of(const Setting *s) {
    cotan_function *jvp = make(s, COTAN_JVP, "rotate", NULL), *vjp = make(s, COTAN_VJP, "rotate", NULL);
    assert_int_equal(cotan_function_signature(jvp)->in_count, 6);
    assert_string_equal(cotan_function_signature(jvp)->in[5].path, "with[1]");
    assert_string_equal(cotan_function_signature(vjp)->in[3].path, "with");
    double a = 2, b = 3, xs[3] = {1, 2, 3}, da = 0.5, db = -1, dxs[3] = {1, 0, 2}, dy[3] = {1, -2, 0.25}, inner = 0,
           outer = 0;
    cotan_buffer forward[] = {{&a, {0}}, {&b, {0}}, {xs, {3}}, {&da, {0}}, {&db, {0}}, {dxs, {3}}}, moved[2] = {{0}};
    cotan_buffer backward[] = {{&a, {0}}, {&b, {0}}, {xs, {3}}, {dy, {3}}}, back[4] = {{0}};
    assert_null(cotan_apply(jvp, forward, moved));
    assert_null(cotan_apply(vjp, backward, back));
    assert_int_equal(moved[1].size[0], 3);
    for (int i = 0; i < 3; i++) {
        expect_near(((double *)moved[0].data)[i], a * xs[i] + b, 0);
        inner += ((double *)moved[1].data)[i] * dy[i];
        outer += ((double *)back[3].data)[i] * dxs[i];
    }
    outer += *(double *)back[1].data * da + *(double *)back[2].data * db;
    expect_near(inner, outer, 1e-12);
    expect_near(inner, 1.5 - 2 * 0 + 0.25 * 4.5, 1e-12);
}

/* evidence: DELTA Lemma 1: through the library, by each engine */
static void transposed(void **state) {
    (void)state;
    each_engine(transposed_of);
}

/* ---- forms ---- */

static void forms_of(const Setting *s) {
    cotan_function *f = make(s, COTAN_RUN, "pairs", NULL);
    double x[] = {1.5, 2.5};
    int64_t n[] = {3, 4};
    cotan_buffer in[] = {{x, {2}}, {n, {2}}}, out[2] = {{0}};
    assert_int_equal(cotan_function_signature(f)->in[1].element, COTAN_INT);
    assert_null(cotan_apply(f, in, out));
    assert_int_equal(((int64_t *)out[0].data)[1], 5);
    expect_near(((double *)out[1].data)[1], 5, 0);
    in[1].size[0] = 1;
    cotan_error *error = cotan_apply(f, in, out);
    assert_non_null(error);
    assert_string_equal(cotan_error_code(error, 0), "E0601");

    f = make(s, COTAN_RUN, "flags", NULL);
    int64_t bits[] = {1, 0, 1}, order = 2, is_greater, wrong = 5;
    cotan_buffer flags[] = {{bits, {3}}, {&order, {0}}}, transposed[] = {{&is_greater, {0}}, {NULL, {0}}};
    assert_int_equal(cotan_function_signature(f)->in[0].element, COTAN_BOOL);
    assert_int_equal(cotan_function_signature(f)->in[1].element, COTAN_TAG);
    assert_null(cotan_apply(f, flags, transposed));
    assert_int_equal(is_greater, 1);
    assert_int_equal(((int64_t *)transposed[1].data)[0], 0);
    flags[1].data = &wrong;
    assert_string_equal(cotan_error_code(cotan_apply(f, flags, transposed), 0), "E0601");

    f = make(s, COTAN_GRAD, "wide", NULL);
    double numbers[14], results[15];
    cotan_buffer wide_in[14], wide_out[15] = {{0}};
    for (int i = 0; i < 14; i++) {
        numbers[i] = i + 1;
        wide_in[i] = (cotan_buffer){&numbers[i], {0}};
    }
    for (int i = 0; i < 15; i++) wide_out[i].data = &results[i];
    assert_null(cotan_apply(f, wide_in, wide_out));
    expect_near(results[0], 8 + 18 + 30 + 44 + 60 + 78 + 98, 0);
    for (int i = 0; i < 14; i++) expect_near(results[i + 1], numbers[(i + 7) % 14], 0);

    f = make(s, COTAN_RUN, "main", NULL);
    cotan_buffer constants[2] = {{0}};
    assert_int_equal(cotan_function_signature(f)->in_count, 0);
    for (int iteration = 0; iteration < 2; iteration++) {
        constants[0].data = constants[1].data = NULL;
        assert_null(cotan_apply(f, NULL, constants));
        expect_near(((double *)constants[1].data)[99], 99, 0);
    }
}

static void forms(void **state) {
    (void)state;
    each_engine(forms_of);
}

/* A result that is an argument, or a row of one, is no part of the caller's array. */
static void results_of(const Setting *s) {
    cotan_function *f = make(s, COTAN_RUN, "same", NULL);
    double xs[4] = {1, 2, 3, 4}, given[4] = {0};
    cotan_buffer in[] = {{xs, {4}}}, out[1] = {{0}};
    assert_null(cotan_apply(f, in, out));
    assert_ptr_not_equal(out[0].data, xs);
    xs[0] = 7;
    expect_near(((double *)out[0].data)[0], 1, 0);
    out[0] = (cotan_buffer){given, {3}};
    cotan_error *error = cotan_apply(f, in, out);
    assert_string_equal(cotan_error_code(error, 0), "E0601");
    out[0].size[0] = 4;
    assert_null(cotan_apply(f, in, out));
    expect_near(given[0], 7, 0);

    f = make(s, COTAN_RUN, "rows", NULL);
    in[0] = (cotan_buffer){xs, {2, 2}};
    out[0].data = NULL;
    assert_null(cotan_apply(f, in, out));
    xs[2] = 9;
    expect_near(((double *)out[0].data)[0], 3, 0);
    in[0] = (cotan_buffer){NULL, {0, 5}};
    assert_string_equal(cotan_error_code(cotan_apply(f, in, out), 0), "E0501");
}

static void results(void **state) {
    (void)state;
    each_engine(results_of);
}

/* ---- failures ---- */

/* Values that no program can make are refused in buffers, too. */
static void unmade_of(const Setting *s) {
    cotan_function *half = make(s, COTAN_RUN, "half", NULL), *bounded = make(s, COTAN_GRAD, "bounded", NULL);
    int64_t above[] = {1, 2}, below[] = {2, 3}, low = 0, high = 2;
    double x = 10, xs[] = {1, 2, 3};
    cotan_buffer in[] = {{above, {2}}, {below, {2}}}, out[] = {{0}};
    assert_null(cotan_apply(half, in, out));
    assert_int_equal(((int64_t *)out[0].data)[0], 1);
    above[1] = 3;
    cotan_error *error = cotan_apply(half, in, (cotan_buffer[]){{0}});
    assert_string_equal(cotan_error_message(error, 0), "a Ratio is in lowest terms, above a positive number");
    cotan_result texts;
    assert_non_null(cotan_apply_text(half, in, COTAN_NO_FILE, &texts));
    cotan_buffer of[] = {{&x, {0}}, {&low, {0}}, {&high, {0}}, {xs, {3}}}, slopes[5] = {{0}};
    assert_null(cotan_apply(bounded, of, slopes));
    expect_near(*(double *)slopes[0].data, 30, 0);
    expect_near(((double *)slopes[4].data)[2], 10, 0);
    high = 1000000000;
    error = cotan_apply(bounded, of, (cotan_buffer[5]){{0}});
    assert_string_equal(cotan_error_message(error, 0), "an Array has as many elements as its bounds have indices");
}

static void unmade(void **state) {
    (void)state;
    each_engine(unmade_of);
}

static void failures_of(const Setting *s) {
    cotan_function *f = make(s, COTAN_GRAD, "pick", NULL), *none;
    double xs[2] = {1, 2};
    int64_t index = 5;
    cotan_buffer in[] = {{xs, {2}}, {&index, {0}}}, out[3] = {{0}};
    for (int iteration = 0; iteration < 3; iteration++) {
        index = 5;
        cotan_error *error = cotan_apply(f, in, out);
        assert_non_null(error);
        assert_string_equal(cotan_error_code(error, 0), "E0501");
        assert_int_equal(cotan_error_line(error, 0), 13);
        index = 1;
        out[0].data = out[1].data = out[2].data = NULL;
        assert_null(cotan_apply(f, in, out));
        expect_near(((double *)out[1].data)[1], 1, 0);
    }
    in[0].data = NULL;
    assert_string_equal(cotan_error_code(cotan_apply(f, in, out), 0), "E0601");
    cotan_call call = {.mode = COTAN_GRAD, .function = "total", .native = s->native};
    assert_null(cotan_function_make(s->program, &call, &none));
    assert_string_equal(cotan_function_signature(none)->no_buffers, "[Double]");
    assert_string_equal(cotan_error_code(cotan_apply(none, in, out), 0), "E0613");
    cotan_function_free(none);
    call.function = "nothing";
    assert_string_equal(cotan_error_code(cotan_function_make(s->program, &call, &none), 0), "E0702");
    assert_null(none);
}

static void failures(void **state) {
    (void)state;
    each_engine(failures_of);
}

/* A heap that becomes full while a value is copied, and many messages, leave nothing behind. */
static void again_of(const Setting *s) {
    static const char text[] = "sums :: (Array Double, Array Double) -> Double\n"
                               "sums (x, y) = sum x + sum y\n"
                               "rows :: Int -> Array (Array Double, Int)\n"
                               "rows n = build n (\\i -> (build 3 fromIntegral, i))\n"
                               "loud :: Double -> Double\n"
                               "loud x = if x > 2 then error (concat (replicate 390 \"too large \")) else x\n";
    static const size_t sizes[] = {100000, 5000000, 100000, 5000000, 100000};
    Setting small = *s;
    cotan_set_limits(s->context, &(cotan_limits){.memory = 60 << 20});
    assert_null(cotan_load(s->context, "again.cot", text, strlen(text), &small.program));
    cotan_function *sums = make(&(Setting){small.context, small.program, false}, COTAN_RUN, "sums", NULL);
    cotan_function *rows = make(&small, COTAN_RUN, "rows", NULL), *loud = make(&small, COTAN_RUN, "loud", NULL);
    double *zeros = calloc(sizes[1], sizeof *zeros), x = 3;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        bool fits = sizes[i] < 1000000;
        cotan_buffer in[] = {{zeros, {sizes[i]}}, {zeros, {sizes[i]}}}, out[] = {{NULL, {0}}};
        assert_true((cotan_apply(sums, in, out) == NULL) == fits);
        cotan_value *n = cotan_value_int(fits ? 100000 : 700000);
        const cotan_value *value;
        cotan_error *error = cotan_apply_values(rows, n, NULL, &value, NULL);
        assert_true((error == NULL) == fits);
        assert_true(fits || strcmp(cotan_error_code(error, 0), "E0801") == 0);
        cotan_value_free(n);
    }
    for (int i = 0; i < 5000; i++) { /* as much memory as there is */
        cotan_buffer in[] = {{&x, {0}}}, out[] = {{NULL, {0}}};
        assert_string_equal(cotan_error_code(cotan_apply(loud, in, out), 0), "E0503");
    }
    free(zeros);
}

static void again(void **state) {
    (void)state;
    each_engine(again_of);
}

/* Deeper than the caller's stack; memory that runs out, and is there again. */
static void depth_of(const Setting *s) {
    cotan_function *f = make(s, COTAN_RUN, "climb", NULL);
    int64_t n;
    double height;
    cotan_buffer in[] = {{&n, {0}}}, out[] = {{&height, {0}}};
    for (n = 10; n <= 1000000; n *= 100) {
        assert_null(cotan_apply(f, in, out));
        expect_near(height, (double)n, 0);
    }
    cotan_function_free(f);
    cotan_set_limits(s->context, &(cotan_limits){.memory = 64 << 20});
    f = make(s, COTAN_RUN, "climb", NULL);
    for (int iteration = 0; iteration < 2; iteration++) {
        n = 1000000000;
        assert_string_equal(cotan_error_code(cotan_apply(f, in, out), 0), "E0801");
        n = 10;
        assert_null(cotan_apply(f, in, out));
    }
}

static void depth(void **state) {
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* clearing the shadow of such deep stacks takes minutes */
#endif
    each_engine(depth_of);
}

static void count_message(void *data, const char *text, size_t length, double fraction) {
    (void)fraction;
    if (text != NULL && length == strlen("begin") && memcmp(text, "begin", length) == 0) ++*(int *)data;
}

/* What is told before the caller's stack is found to be too small is told once. */
static void messages_of(const Setting *s) {
    int told = 0;
    int64_t n = 100000;
    double height;
    cotan_buffer in[] = {{&n, {0}}}, out[] = {{&height, {0}}};
    cotan_function *f = make(s, COTAN_RUN, "told", NULL);
    cotan_set_trace(s->context, count_message, &told);
    assert_null(cotan_apply(f, in, out));
    expect_near(height, (double)n, 0);
    assert_int_equal(told, 1);
}

static void messages(void **state) {
    (void)state;
#ifdef __SANITIZE_ADDRESS__
    skip(); /* as above */
#endif
    each_engine(messages_of);
}

static void foreign_of(const Setting *s) {
    static const char *const wrong[] = {"",
                                        "{}",
                                        "[1]",
                                        "{\"A\":[1],\"n\":3}",
                                        "{\"A\":[1],\"n\":3,\"data\":{\"n\":1,\"flags\":[1]}}",
                                        "{\"A\":[\"x\"],\"n\":3,\"data\":{\"n\":1,\"flags\":[[1]]}}"};
    const char *given =
                   "{\"other\":[{}],\"n\":2,\"A\":[1,2,4],\"data\":{\"name\":null,\"n\":5,\"flags\":[[1,2],[3,4]]}}",
               *made;
    cotan_function *f = make(s, COTAN_RUN, "answer", NULL);
    cotan_buffer in[4], out[3] = {{0}};
    for (int again = 0; again < 3; again++) {
        assert_null(cotan_function_read_foreign(f, given, strlen(given), in));
        assert_int_equal(in[0].size[0], 3);
        assert_int_equal(in[2].size[1], 2);
        memset(out, 0, sizeof out);
        assert_null(cotan_apply(f, in, out));
        assert_null(cotan_function_write_foreign(f, out, &made));
        assert_string_equal(made, "[14.0,{\"n\":5.0,\"flags\":[[1,2],[3,4]]}]");
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
            cotan_error *error = cotan_function_read_foreign(f, wrong[i], strlen(wrong[i]), in);
            assert_non_null(error);
            assert_int_equal(cotan_error_status(error), 2);
        }
    }
    const char *both =
        "{\"a\":[1],\"A\":[9],\"n\":1,\"data\":{\"n\":0,\"flags\":[]}}"; /* the name itself counts first */
    assert_null(cotan_function_read_foreign(f, both, strlen(both), in));
    assert_int_equal(in[0].size[0], 1);
    expect_near(((double *)in[0].data)[0], 1, 0);
    out[1].data = NULL;
    assert_non_null(cotan_function_write_foreign(f, out, &made));
    assert_null(made);
}

/* A prime tells two fields of a record apart. */
static void primed_of(const Setting *s) {
    const char *given = "{\"p\":1,\"p'\":2,\"q\":3}", *without = "{\"p\":1,\"q\":3}", *made;
    cotan_function *f = make(s, COTAN_RUN, "primed", NULL);
    cotan_buffer in[3], out[3] = {{0}};
    assert_null(cotan_function_read_foreign(f, given, strlen(given), in));
    assert_null(cotan_apply(f, in, out));
    assert_null(cotan_function_write_foreign(f, out, &made));
    assert_string_equal(made, "{\"p'\":2.0,\"p\":10.0,\"q\":3.0}");
    assert_non_null(cotan_function_read_foreign(f, without, strlen(without), in));
}

static void foreign_value_of(const Setting *s) {
    const char *given = "{\"ragged\":[[1,2],[],[3]],\"more\":0,\"kinds\":[\"Low\",{\"High\":[2]}]}", *made;
    const cotan_value *at, *value;
    cotan_function *f = make(s, COTAN_RUN, "listed", NULL);
    assert_true(cotan_function_seconds(f) == 0);
    assert_non_null(cotan_function_signature(f)->no_buffers);
    for (int again = 0; again < 3; again++) {
        assert_null(cotan_function_read_foreign_value(f, given, strlen(given), &at));
        assert_null(cotan_apply_values(f, at, NULL, &value, NULL));
        assert_true(cotan_function_seconds(f) > 0);
        assert_null(cotan_function_write_foreign_value(f, value, &made));
        assert_string_equal(made, "[[2.0,4.0],[],[6.0]]");
        assert_non_null(cotan_function_read_foreign_value(f, "{\"ragged\":[1]}", 14, &at));
        assert_null(at);
        assert_non_null(cotan_function_write_foreign_value(f, NULL, &made));
        assert_null(made);
    }
    cotan_function *constant = make(s, COTAN_RUN, "noRows", NULL);
    assert_null(cotan_function_read_foreign_value(constant, "1", 1, &at));
    assert_null(at);
    assert_null(cotan_apply_values(constant, at, NULL, &value, NULL));
    assert_null(cotan_function_write_foreign_value(constant, value, &made));
    assert_string_equal(made, "[]");
}

/* The same with values. */
static void foreign_value(void **state) {
    (void)state;
    each_engine(foreign_value_of);
}

/* JSON of other programs, and back. */
static void foreign(void **state) {
    (void)state;
    each_engine(foreign_of);
    each_engine(primed_of);
}

static void *interrupt_soon(void *data) {
    struct timespec wait = {0, 50000000};
    nanosleep(&wait, NULL);
    cotan_interrupt(data);
    return NULL;
}

static void interrupted_of(const Setting *s) {
    cotan_function *f = make(s, COTAN_RUN, "forever", NULL);
    int64_t n = 0, never;
    cotan_buffer in[] = {{&n, {0}}}, out[] = {{&never, {0}}};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, s->context), 0);
    cotan_error *error = cotan_apply(f, in, out);
    pthread_join(thread, NULL);
    assert_string_equal(cotan_error_code(error, 0), "E0804");
}

static void interrupted(void **state) {
    (void)state;
    each_engine(interrupted_of);
}

static void interrupt_now(void *data, const char *text, size_t length, double fraction) {
    (void)text, (void)length, (void)fraction;
    cotan_interrupt(data);
}

/* One that comes when a call ends anyway is not the next one's. */
static void interrupted_late(void **state) {
    (void)state;
    static const char text[] =
        "import Debug.Trace\nf :: Double -> Double\nf x = if x > 0 then trace \"now\" x else x\n";
    Setting s = {.context = cotan_open(NULL)};
    assert_null(cotan_load(s.context, "f.cot", text, strlen(text), &s.program));
    cotan_set_trace(s.context, interrupt_now, s.context);
    cotan_function *f = make(&s, COTAN_RUN, "f", NULL);
    double x = 1, value;
    cotan_buffer in[] = {{&x, {0}}}, out[] = {{&value, {0}}};
    assert_null(cotan_apply(f, in, out));
    x = -1;
    assert_null(cotan_apply(f, in, out));
    cotan_close(s.context);
}

/* ---- contexts on several threads ---- */

static void *descend(void *data) {
    double *least = data, xs[2] = {3, -4}, slope[2], value;
    cotan_context *context = cotan_open(NULL);
    static const char text[] = "f :: Array Double -> Double\nf xs = sum (map (\\x -> (x - 1) ^ 2) xs) + 2\n";
    cotan_program *program;
    cotan_function *f;
    cotan_call call = {.mode = COTAN_GRAD, .function = "f", .native = getenv("COTAN_NATIVE") == NULL};
    if (cotan_load(context, "f.cot", text, strlen(text), &program) == NULL &&
        cotan_function_make(program, &call, &f) == NULL)
        for (int step = 0; step < 200; step++) {
            cotan_buffer in[] = {{xs, {2}}}, out[] = {{&value, {0}}, {slope, {2}}};
            if (cotan_apply(f, in, out) != NULL) break;
            for (int i = 0; i < 2; i++) xs[i] -= 0.1 * slope[i];
            *least = value;
        }
    cotan_close(context);
    return NULL;
}

static void threads(void **state) {
    (void)state;
    pthread_t workers[4];
    double least[4] = {0};
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&workers[i], NULL, descend, &least[i]), 0);
    for (int i = 0; i < 4; i++) pthread_join(workers[i], NULL);
    for (int i = 0; i < 4; i++) expect_near(least[i], 2, 1e-9);
}

/* One method and another, a function that is only evaluated, an expression; other calls beside them. */
static void beside(void **state) {
    (void)state;
    Setting s = open_setting(false);
    cotan_function *tape = make(&s, COTAN_GRAD, "loss", "tape"), *chad = make(&s, COTAN_GRAD, "loss", "chad"), *square;
    cotan_call call = {.mode = COTAN_GRAD, .expression = "\\x -> x * x"};
    assert_null(cotan_function_make(s.program, &call, &square));
    cotan_call json = {.mode = COTAN_GRAD, .expression = "\\x -> x * 3", .at = "2"};
    cotan_result result;
    assert_null(cotan_call_json(s.program, &json, &result));
    assert_string_equal(result.derivative, "3");
    double x = 3, w[] = {1, 2, 3, 4}, xs[] = {1, 2}, ys[] = {3, 4};
    cotan_buffer in[] = {{&x, {0}}}, out[2] = {{0}}, one[5] = {{0}}, other[5] = {{0}};
    cotan_buffer at[] = {{w, {2, 2}}, {&x, {0}}, {xs, {2}}, {ys, {2}}};
    assert_null(cotan_apply(square, in, out));
    expect_near(*(double *)out[1].data, 6, 0);
    assert_null(cotan_apply(tape, at, one));
    assert_null(cotan_apply(chad, at, other));
    for (int i = 0; i < 4; i++) expect_near(((double *)one[1].data)[i], ((double *)other[1].data)[i], 1e-12);
    cotan_close(s.context); /* with its functions */
}

/* Inputs from texts, and results as texts: what goes in comes out. */
static void texts(void **state) {
    (void)state;
    for (int native = 0; native < 2; native++) {
        Setting s = open_setting(native);
        cotan_function *loss = make(&s, COTAN_GRAD, "loss", NULL), *product = make(&s, COTAN_JVP, "same", NULL);
        cotan_buffer in[4] = {{0}}, out[5] = {{0}};
        const char *at = "[{\"weights\": [[1, 2], [3, 4]], \"bias\": 0.5}, [1, 2], [3, 4]]";
        assert_null(cotan_function_read(loss, "the point", at, 0, NULL, 0, in));
        assert_int_equal(in[0].size[0], 2);
        assert_int_equal(in[0].size[1], 2);
        expect_near(((double *)in[0].data)[3], 4, 0);
        expect_near(*(double *)in[1].data, 0.5, 0);
        assert_null(cotan_apply(loss, in, out));
        cotan_result direct, result;
        cotan_call call = {.mode = COTAN_GRAD, .function = "loss", .at = at};
        assert_null(cotan_call_json(s.program, &call, &direct));
        char *gradient = strdup(direct.derivative);
        assert_non_null(gradient);
        assert_null(cotan_apply_text(loss, in, COTAN_NPZ, &result));
        assert_string_equal(result.derivative, gradient);
        assert_non_null(result.value_text);
        assert_memory_equal(result.file, "PK", 2);
        free(gradient);
        assert_null(cotan_function_read(product, "it", "[1, 2]", 6, "[3, 4]", 6, in));
        assert_null(cotan_apply_text(product, in, COTAN_NO_FILE, &result));
        assert_string_equal(result.derivative, "[3,4]");
        const cotan_error *error = cotan_function_read(product, "the input", "[1, \"a\"]", 0, "[3]", 0, in);
        assert_non_null(error);
        assert_non_null(strstr(cotan_error_message(error, 0), "the input: at [1]: expected Double"));
        error = cotan_function_read(product, "it", "[1]", 0, NULL, 0, in);
        assert_string_equal(cotan_error_code(error, 0), "E0701");
        assert_null(cotan_function_read(product, "it", "[1, 2]", 6, "[3, 4]", 6, in));
        in[1].size[0] = 3; /* the tangent is longer than the point */
        error = cotan_apply_text(product, in, COTAN_NO_FILE, &result);
        assert_non_null(error);
        cotan_close(s.context);
    }
}

/* The gradient with respect to some parameters has buffers for these alone. */
static void with_respect_to(const Setting *s) {
    cotan_call call = {.mode = COTAN_GRAD, .function = "loss", .native = s->native, .wrt = "ys,m"};
    cotan_function *function;
    assert_null(cotan_function_make(s->program, &call, &function));
    const cotan_signature *signature = cotan_function_signature(function);
    static const char *const paths[] = {"value", "derivative[0]", "derivative[1].weights", "derivative[1].bias"};
    assert_int_equal(signature->in_count, 4);
    assert_int_equal(signature->out_count, 4);
    for (int i = 0; i < 4; i++) assert_string_equal(signature->out[i].path, paths[i]);
    double w[] = {1, 2, 3, 4}, bias = 0.5, xs[] = {1, 2}, ys[] = {3, 4};
    cotan_buffer in[] = {{w, {2, 2}}, {&bias, {0}}, {xs, {2}}, {ys, {2}}}, all[5] = {{0}}, out[4] = {{0}};
    assert_null(cotan_apply(make(s, COTAN_GRAD, "loss", NULL), in, all));
    assert_null(cotan_apply(function, in, out));
    expect_near(*(double *)out[0].data, *(double *)all[0].data, 0);
    for (int i = 0; i < 2; i++) expect_near(((double *)out[1].data)[i], ((double *)all[4].data)[i], 1e-12);
    for (int i = 0; i < 4; i++) expect_near(((double *)out[2].data)[i], ((double *)all[1].data)[i], 1e-12);
    expect_near(*(double *)out[3].data, *(double *)all[2].data, 1e-12);
    call.wrt = "xs,nosuch";
    assert_string_equal(cotan_error_code(cotan_function_make(s->program, &call, &function), 0), "E0701");
    call.expression = "loss";
    call.function = NULL;
    assert_non_null(cotan_function_make(s->program, &call, &function));
}

static void derivatives_with_respect_to_some_parameters(void **state) {
    (void)state;
    each_engine(with_respect_to);
}

static void parameters(void **state) {
    (void)state;
    Setting s = open_setting(false);
    const char *names;
    assert_null(cotan_parameters(s.program, "loss", &names));
    assert_string_equal(names, "m\nxs\nys\n");
    assert_null(cotan_parameters(s.program, "wide", &names));
    assert_string_equal(names, "\n\n");
    assert_null(cotan_parameters(s.program, "main", &names));
    assert_string_equal(names, "");
    assert_string_equal(cotan_error_code(cotan_parameters(s.program, "nosuch", &names), 0), "E0702");
    cotan_close(s.context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(derivatives_with_respect_to_some_parameters),
        cmocka_unit_test(parameters),
        cmocka_unit_test(exact_mathematics_holds_from_the_next_call_on),
        cmocka_unit_test(gradients),
        cmocka_unit_test(transposed),
        cmocka_unit_test(forms),
        cmocka_unit_test(results),
        cmocka_unit_test(failures),
        cmocka_unit_test(depth),
        cmocka_unit_test(foreign),
        cmocka_unit_test(foreign_value),
        cmocka_unit_test(interrupted),
        cmocka_unit_test(threads),
        cmocka_unit_test(beside),
        cmocka_unit_test(definitions),
        cmocka_unit_test(limits),
        cmocka_unit_test(interrupted_late),
        cmocka_unit_test(messages),
        cmocka_unit_test(again),
        cmocka_unit_test(definitions_and_limits),
        cmocka_unit_test(unmade),
        cmocka_unit_test(named_native),
        cmocka_unit_test(in_place),
    };
    return cmocka_run_group_tests_name("function", tests, NULL, NULL);
}
