/* Functions that are called again and again: with what they have given, after failures, with other limits, from several
 * threads and processes. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cotan.h"

static const char source[] =
    "step :: Array Double -> Array Double\n"
    "step x = build (length x) (\\i -> x ! ((i + 1) `mod` length x) + 1)\n"
    "move :: Array Double -> Double -> (Array Double, Double)\n"
    "move x s = (map (* s) x, s + sum x)\n"
    "both :: Array Double -> Array Double -> Int -> (Array Double, Array Double)\n"
    "both a b n = if n == 0 then (a, b) else case both a b (n - 1) of (p, q) -> if p ! 0 > 1e300 then (q, q) else (q, "
    "p)\n"
    "table :: Array Double\n"
    "table = fromList [1, 2, 3]\n"
    "scaled :: Double -> (Double, Array Double)\n"
    "scaled x = (x * sum table, table)\n"
    "twice :: Double -> (Array Double, Array Double)\n"
    "twice x = let y = build 3 (\\i -> x + fromIntegral i) in (y, y)\n"
    "nested :: (Array Double, ((Double, Double, Double, Double, Double, Double, Double), Array Double))\n"
    "nested = (table, ((1, 2, 3, 4, 5, 6, 7), map (* 2) table))\n"
    "given :: Int -> (Array Double, ((Double, Double, Double, Double, Double, Double, Double), Array Double))\n"
    "given n = if n > 0 then nested else (table, ((0, 0, 0, 0, 0, 0, 0), table))\n"
    "thrice :: Array Float -> Float -> Array Float\n"
    "thrice xs x = map (* x) xs\n";

typedef struct Setting {
    cotan_context *context;
    cotan_program *program;
    bool native;
} Setting;

static Setting open_setting(bool native, const char *text, const cotan_limits *limits) {
    Setting s = {.context = cotan_open(limits), .native = native};
    assert_non_null(s.context);
    cotan_error *error = cotan_load(s.context, "calls.cot", text, strlen(text), &s.program);
    if (error != NULL) print_error("%s", cotan_error_text(error, false, false));
    assert_null(error);
    return s;
}

static cotan_function *make(const Setting *s, const char *name) {
    cotan_call call = {.function = name, .native = s->native};
    cotan_function *function;
    assert_null(cotan_function_make(s->program, &call, &function));
    return function;
}

static void each_engine(const char *text, void (*test)(const Setting *s)) {
    for (int native = 0; native < 2; native++) {
        if (native && getenv("COTAN_NATIVE") != NULL) continue;
        Setting s = open_setting(native, text, &(cotan_limits){.memory = 256 << 20});
        test(&s);
        cotan_close(s.context);
    }
}

static void expect_numbers(const void *found, const double *expected, int count) {
    for (int i = 0; i < count; i++) assert_true(((const double *)found)[i] == expected[i]);
}

/* ---- results as inputs ---- */

static const double stepped[][4] = {{3, 4, 5, 2}, {5, 6, 3, 4}, {7, 4, 5, 6}, {5, 6, 7, 8}};

/* `keeps`: the buffers of the results stay as the last call has set them. */
static void iterate(const Setting *s, bool keeps) {
    cotan_function *step = make(s, "step"), *move = make(s, "move");
    double xs[] = {1, 2, 3, 4}, factor = 2;
    cotan_buffer in[] = {{xs, {4}}, {&factor, {0}}}, out[] = {{0}, {0}};
    for (int i = 0; i < 4; i++) {
        if (!keeps) out[0].data = NULL;
        cotan_set_limits(s->context, &(cotan_limits){.memory = (size_t)(256 + i / 2) << 20}); /* it is made again */
        assert_null(cotan_apply(step, in, out));
        expect_numbers(out[0].data, stepped[i], 4);
        in[0] = out[0];
    }
    in[0] = (cotan_buffer){xs, {2}};
    if (!keeps) out[0].data = NULL;
    for (int i = 0; i < 3; i++) {
        static const double moved[][3] = {{2, 4, 5}, {10, 20, 11}, {110, 220, 41}};
        if (!keeps) out[0].data = out[1].data = NULL;
        if (i == 0) out[0].data = NULL; /* what is there is the other function's */
        assert_null(cotan_apply(move, in, out));
        expect_numbers(out[0].data, moved[i], 2);
        expect_numbers(out[1].data, &moved[i][2], 1);
        in[0] = out[0];
        in[1] = out[1];
    }
    cotan_result texts;
    assert_null(cotan_apply_text(move, in, COTAN_NO_FILE, &texts));
    assert_string_equal(texts.value, "[[4510,9020],371]");
}

static void iterate_values(const Setting *s) {
    cotan_function *step = make(s, "step");
    double xs[] = {1, 2, 3, 4};
    size_t four = 4;
    cotan_value *first = cotan_value_numbers(COTAN_DOUBLE, xs, 1, &four);
    const cotan_value *value = first;
    const char *json;
    for (int i = 0; i < 4; i++) {
        cotan_element element;
        unsigned rank;
        const size_t *size;
        cotan_set_limits(s->context, &(cotan_limits){.memory = (size_t)(256 + i / 2) << 20});
        assert_null(cotan_apply_values(step, value, NULL, &value, NULL));
        expect_numbers(cotan_value_as_numbers(value, &element, &rank, &size), stepped[i], 4);
        assert_null(cotan_function_json(step, first, &json)); /* is no call */
        assert_string_equal(json, "[1,2,3,4]");
        expect_numbers(cotan_value_as_numbers(value, &element, &rank, &size), stepped[i], 4);
    }
    cotan_value_free(first);
}

static void iterate_all(const Setting *s) {
    iterate(s, false);
    iterate(s, true);
    iterate_values(s);
}

static void results_are_inputs(void **state) {
    (void)state;
    each_engine(source, iterate_all);
}

/* ---- failures ---- */

/* A call that has failed leaves buffers as they were: one that was NULL does not point to memory that is gone. */
static void fail_with(const Setting *s) {
    cotan_function *move = make(s, "move"), *both = make(s, "both");
    double xs[] = {1, 2, 3}, ys[] = {4, 5}, to[3] = {0}, factor = 2;
    int64_t n = 3;
    cotan_buffer in[] = {{xs, {3}}, {ys, {2}}, {&n, {0}}}, out[] = {{NULL, {7}}, {to, {3}}};
    n = 2;
    for (int i = 0; i < 3; i++) {
        assert_string_equal(cotan_error_code(cotan_apply(both, in, out), 0), "E0601");
        assert_null(out[0].data);
        assert_int_equal(out[0].size[0], 7);
        assert_true(to[0] == 0);
    }
    out[1].size[0] = 2;
    assert_null(cotan_apply(both, in, out));
    expect_numbers(out[0].data, xs, 3);
    expect_numbers(to, ys, 2);
    in[2].data = NULL; /* what the last call has given is gone, too */
    assert_non_null(cotan_apply(both, in, out));
    assert_null(out[0].data);
    in[2].data = &n;
    assert_null(cotan_apply(both, in, out));
    expect_numbers(out[0].data, xs, 3);
    /* An input is not written over when another result does not fit. */
    cotan_buffer moved[] = {{to, {3}}, {NULL, {0}}}, of[] = {{xs, {3}}, {&factor, {0}}};
    assert_null(cotan_apply(move, of, moved));
    expect_numbers(to, (double[]){2, 4, 6}, 3);
    n = 1;
    cotan_buffer wrong[] = {{xs, {2}}, {to, {2}}};
    assert_string_equal(cotan_error_code(cotan_apply(both, in, wrong), 0), "E0601");
    expect_numbers(xs, (double[]){1, 2, 3}, 3);
}

/* Memory runs out while results are given, which is tried on a larger stack then, and with checkpoints. */
static void run_out(const Setting *s) {
    cotan_function *both = make(s, "both");
    size_t count = 1000000;
    double *xs = calloc(count, sizeof *xs), *ys = calloc(count, sizeof *ys);
    int64_t n = 4;
    cotan_buffer in[] = {{xs, {count}}, {ys, {count}}, {&n, {0}}}, out[] = {{0}, {0}};
    ys[1] = 5;
    for (size_t memory = 4; memory < 40; memory += 4) {
        cotan_set_limits(s->context, &(cotan_limits){.memory = memory << 20});
        cotan_error *error = cotan_apply(both, in, out);
        if (error == NULL) assert_true(((double *)out[1].data)[1] == 5);
        if (error != NULL) assert_string_equal(cotan_error_code(error, 0), "E0801");
        assert_true((out[0].data == NULL) == (error != NULL));
        assert_true((out[1].data == NULL) == (error != NULL));
    }
    free(xs);
    free(ys);
}

static void failures(void **state) {
    (void)state;
    each_engine(source, fail_with);
    each_engine(source, run_out);
}

/* What is in a buffer of Floats is one. */
static void give_floats(const Setting *s) {
    cotan_function *thrice = make(s, "thrice");
    static const double wrong[] = {0.1, 1e300, -1e-300, 16777217};
    double xs[] = {0.5, NAN}, x = 3;
    cotan_buffer in[] = {{xs, {2}}, {&x, {0}}}, out[] = {{0}};
    assert_null(cotan_apply(thrice, in, out));
    assert_true(((double *)out[0].data)[0] == 1.5 && isnan(((double *)out[0].data)[1]));
    for (int i = 0; i < 8; i++) {
        *(i % 2 == 0 ? &x : &xs[1]) = wrong[i / 2];
        cotan_error *error = cotan_apply(thrice, in, out);
        assert_string_equal(cotan_error_code(error, 0), "E0601");
        if (i == 0)
            assert_string_equal(cotan_error_message(error, 0),
                                "the buffer for `at[1]` holds 0.10000000000000001, which is no Float");
        x = 3;
        xs[1] = (double)INFINITY;
        assert_null(cotan_apply(thrice, in, out));
    }
}

static void floats(void **state) {
    (void)state;
    each_engine(source, give_floats);
}

/* ---- results are the caller's to write to ---- */

static void write_to(const Setting *s) {
    cotan_function *scaled = make(s, "scaled"), *twice = make(s, "twice"), *given = make(s, "given");
    double x = 2;
    int64_t n = 1;
    cotan_buffer in[] = {{&x, {0}}}, of[] = {{&n, {0}}};
    for (int i = 0; i < 3; i++) {
        cotan_buffer out[2] = {{0}}, same[2] = {{0}}, all[9] = {{0}};
        assert_null(cotan_apply(scaled, in, out));
        assert_true(*(double *)out[0].data == 12);
        expect_numbers(out[1].data, (double[]){1, 2, 3}, 3);
        *(double *)out[1].data = 100;
        assert_null(cotan_apply(twice, in, same));
        *(double *)same[0].data = 100;
        expect_numbers(same[1].data, (double[]){2, 3, 4}, 3);
        assert_null(cotan_apply(given, of, all));
        expect_numbers(all[0].data, (double[]){1, 2, 3}, 3);
        expect_numbers(all[8].data, (double[]){2, 4, 6}, 3);
        *(double *)all[0].data = *(double *)all[8].data = 100;
    }
}

static void results_are_the_callers(void **state) {
    (void)state;
    each_engine(source, write_to);
}

/* ---- memory and limits over many calls ---- */

static long resident(void) {
    long all = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

enum { FIELDS = 70 }; /* more than are converted on the stack */

static void put_wide(char *text, size_t room) {
    size_t at = (size_t)snprintf(text, room, "data R = R");
    for (int i = 0; i < FIELDS; i++) at += (size_t)snprintf(text + at, room - at, " Double");
    at += (size_t)snprintf(text + at, room - at, "\nnext :: [R] -> [R]\nnext rs = map (\\(R");
    for (int i = 0; i < FIELDS; i++) at += (size_t)snprintf(text + at, room - at, " x%d", i);
    at += (size_t)snprintf(text + at, room - at, ") -> R (x0 + 1)");
    for (int i = 1; i < FIELDS; i++) at += (size_t)snprintf(text + at, room - at, " x%d", i);
    snprintf(text + at, room - at, ") rs\n");
}

/* Memory in use since a number of calls; what has been freed is not used again soon under AddressSanitizer. */
static void expect_no_more(long before) {
#ifdef __SANITIZE_ADDRESS__
    before = resident();
#endif
    assert_true(resident() - before < 16 * 1024);
}

/* Calls leave no memory behind. */
static void call_wide(const Setting *s) {
    enum { COUNT = 500 };
    cotan_value *fields[FIELDS], *all[COUNT];
    cotan_function *next = make(s, "next");
    long before = 0;
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < FIELDS; j++) fields[j] = cotan_value_double(j);
        all[i] = cotan_value_data("R", fields, FIELDS);
    }
    cotan_value *list = cotan_value_of(COTAN_KIND_LIST, all, COUNT);
    const cotan_value *value;
    for (int i = 0; i < 100; i++) {
        if (i == 20) before = resident();
        assert_null(cotan_apply_values(next, list, NULL, &value, NULL));
    }
    expect_no_more(before);
    const cotan_value *one = cotan_value_part(value, 7);
    assert_true(cotan_value_as_double(cotan_value_part(one, 0)) == 1);
    assert_true(cotan_value_as_double(cotan_value_part(one, FIELDS - 1)) == FIELDS - 1);
    cotan_value_free(list);
}

static void wide(void **state) {
    (void)state;
    char text[4096];
    put_wide(text, sizeof text);
    each_engine(text, call_wide);
}

/* Nor do questions about a program. */
static void questions(void **state) {
    (void)state;
    Setting s = open_setting(false, source, NULL);
    const char *type, *names;
    long before = 0;
    for (int i = 0; i < 2000; i++) {
        assert_null(cotan_type_of(s.program, "\\x -> map (+ 1) (step x) ++ [|1, 2|]", &type));
        assert_null(cotan_names(s.program, "", &names));
        if (i == 500) before = resident();
    }
    expect_no_more(before);
    cotan_close(s.context);
}

static const char steps[] = "down :: Int -> Int\ndown n = if n == 0 then 0 else down (n - 1)\n";

/* A limit of steps holds for functions that were made without, and they are native code again without it. */
static void limit_steps(const Setting *s) {
    cotan_function *down = make(s, "down");
    int64_t n = 100000;
    cotan_buffer in[] = {{&n, {0}}}, out[] = {{0}};
    cotan_call call = {.function = "down", .at = "[100000]", .native = s->native};
    cotan_result result;
    for (int i = 0; i < 4; i++) {
        bool limited = i % 2 == 1;
        cotan_set_limits(s->context, &(cotan_limits){.steps = limited ? 100 : 0});
        cotan_error *error = cotan_apply(down, in, out);
        assert_true((error != NULL) == limited);
        if (limited) assert_string_equal(cotan_error_code(error, 0), "E0802");
        assert_true((cotan_function_signature(down)->not_native != NULL) == (limited && s->native));
        error = cotan_call_json(s->program, &call, &result);
        assert_true((error != NULL) == limited);
        if (limited) assert_string_equal(cotan_error_code(error, 0), "E0802");
        assert_true((result.not_native != NULL) == (limited && s->native));
    }
}

static void limits_of_steps(void **state) {
    (void)state;
    each_engine(steps, limit_steps);
}

/* An action has no input. */
static void act(const Setting *s) {
    cotan_function *twelve = make(s, "twelve"), *add = make(s, "add");
    const cotan_value *value;
    for (int i = 0; i < 2; i++) {
        assert_null(cotan_apply_values(twelve, NULL, NULL, &value, NULL));
        assert_true(cotan_value_as_double(value) == 12);
        assert_string_equal(cotan_error_code(cotan_apply_values(add, NULL, NULL, &value, NULL), 0), "E0601");
    }
}

static void actions(void **state) {
    (void)state;
    each_engine("twelve :: IO Double\ntwelve = return 12\nadd :: Double -> IO Double\nadd x = return (x + 1)\n", act);
}

/* ---- threads and processes ---- */

typedef struct Poke {
    cotan_context *context;
    atomic_bool ends;
} Poke;

static void *poke(void *data) {
    Poke *p = data;
    while (!atomic_load(&p->ends)) cotan_interrupt(p->context);
    return NULL;
}

static void expect_interrupt(const cotan_error *error) {
    if (error != NULL) assert_string_equal(cotan_error_code(error, 0), "E0804");
}

/* Interrupts that come when a call has just ended do no harm, neither to it nor to the next one. */
static void interrupt_often(const Setting *s) {
    Poke p = {s->context, false};
    pthread_t thread;
    cotan_result result;
    cotan_function *down = make(s, "down");
    int64_t n = 10000;
    cotan_buffer in[] = {{&n, {0}}}, out[] = {{0}};
    assert_int_equal(pthread_create(&thread, NULL, poke, &p), 0);
    for (int i = 0; i < (s->native ? 10 : 100); i++) {
        cotan_call call = {.expression = "down 1000", .native = s->native};
        expect_interrupt(cotan_call_json(s->program, &call, &result));
        for (int j = 0; j < 10; j++) expect_interrupt(cotan_apply(down, in, out));
    }
    atomic_store(&p.ends, true);
    pthread_join(thread, NULL);
    assert_null(cotan_apply(down, in, out));
}

static void interrupts(void **state) {
    (void)state;
    each_engine(steps, interrupt_often);
}

static const char long_loop[] = "waves :: Array Double -> Double\n"
                                "waves xs = sum (map (\\x -> sin x * exp (cos x)) xs)\n";

static double waves_of(cotan_function *waves) {
    enum { COUNT = 200000 };
    static double xs[COUNT];
    for (int i = 0; i < COUNT; i++) xs[i] = i * 1e-3;
    cotan_buffer in[] = {{xs, {COUNT}}}, out[] = {{0}};
    assert_null(cotan_apply(waves, in, out));
    return *(double *)out[0].data;
}

/* Threads that were ended are not used again when there are as many as before. */
static void change_threads(const Setting *s) {
    static const unsigned counts[] = {4, 1, 4, 2, 1, 2, 4};
    cotan_set_limits(s->context, &(cotan_limits){.threads = 4});
    cotan_function *waves = make(s, "waves");
    double value = waves_of(waves);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        cotan_set_limits(s->context, &(cotan_limits){.threads = counts[i]});
        if (i % 3 != 1) assert_true(waves_of(waves) == value);
    }
}

static void threads(void **state) {
    (void)state;
    each_engine(long_loop, change_threads);
}

/* A child has none of its parent's threads, but may make some, and free everything. */
static void fork_with(const Setting *s) {
    Setting own = open_setting(s->native, long_loop, &(cotan_limits){.threads = 3});
    cotan_function *waves = make(&own, "waves");
    double value = waves_of(waves);
    for (int i = 0; i < 2; i++) {
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(60);
            if (i > 0 && waves_of(waves) != value) _exit(1);
            cotan_close(own.context);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    assert_true(waves_of(waves) == value);
    cotan_close(own.context);
}

static void children(void **state) {
    (void)state;
    each_engine(long_loop, fork_with);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_inputs),
        cmocka_unit_test(failures),
        cmocka_unit_test(floats),
        cmocka_unit_test(results_are_the_callers),
        cmocka_unit_test(wide),
        cmocka_unit_test(questions),
        cmocka_unit_test(limits_of_steps),
        cmocka_unit_test(actions),
        cmocka_unit_test(interrupts),
        cmocka_unit_test(threads),
        cmocka_unit_test(children),
    };
    return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
