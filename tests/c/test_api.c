/* The public C API: every function, its errors, limits, and that nothing is shared between contexts. */
#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "cotan.h"

static const char *const model = "f :: (Double, Double) -> Double\n"
                                 "f (x, y) = x * x * y\n"
                                 "g :: Double -> [Double]\n"
                                 "g x = [x * x, 3 * x]\n"
                                 "three x y z = x * y + z\n"
                                 "main = \"a string\"\n"
                                 "forever :: Int -> Int\n"
                                 "forever n = forever (n + 1)\n"
                                 "deep :: Int -> Int\n"
                                 "deep n = 1 + deep n\n"
                                 "hold :: Int -> Int\n"
                                 "hold n = length (cells n [])\n"
                                 "cells :: Int -> [Int] -> [Int]\n"
                                 "cells n xs = if n == 0 then xs else cells (n - 1) (n : xs)\n"
                                 "away :: Array Double -> Double\n"
                                 "away xs = xs ! 7\n";

static cotan_program *load(cotan_context *context, const char *text) {
    cotan_program *program = NULL;
    cotan_error *error = cotan_load(context, "model.cot", text, strlen(text), &program);
    if (error != NULL) fail_msg("%s", cotan_error_text(error, false, false));
    return program;
}

static cotan_context *open_with(cotan_limits limits) {
    cotan_context *context = cotan_open(&limits);
    assert_non_null(context);
    cotan_check_passes(context, 1);
    return context;
}

static void assert_fails(cotan_error *error, const char *code, int status) {
    assert_non_null(error);
    assert_string_equal(cotan_error_code(error, 0), code);
    assert_int_equal(cotan_error_status(error), status);
}

/* What a caller forgets is an error, and no crash. */
static void calls_that_make_no_sense_are_refused(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    static const cotan_call senseless[] = {
        {.at = "1"},
        {.mode = COTAN_GRAD, .at = "1"},
        {.mode = (cotan_mode)99, .function = "f", .at = "[1, 2]"},
        {.mode = COTAN_JACOBIAN, .function = "three", .at = "[1, 2, 3]", .wrt = "x"},
        {.expression = "1 + 1", .bind = "not a name"},
        {.expression = "1 + 1", .bind = "Name"},
        {.expression = "1 + 1", .bind = "let"},
    };
    const cotan_call none = {0}, no_point = {.function = "f"};
    cotan_result result;
    cotan_function *function;
    const char *text, *other;
    cotan_check_result checked;
    cotan_compare_result compared;
    cotan_sensitivity_result sensitive;
    for (size_t i = 0; i < sizeof senseless / sizeof *senseless; i++)
        assert_fails(cotan_call_json(p, &senseless[i], &result), "E0701", 2);
    for (size_t i = 0; i < 4; i++) assert_fails(cotan_function_make(p, &senseless[i], &function), "E0701", 2);
    assert_fails(cotan_check(p, &none, &checked), "E0701", 2);
    assert_fails(cotan_check(p, &no_point, &checked), "E0701", 2);
    assert_fails(cotan_compare(p, &none, NULL, 0, &compared), "E0701", 2);
    assert_fails(cotan_sensitivity(p, &none, &sensitive), "E0701", 2);
    assert_fails(cotan_sensitivity(p, &no_point, &sensitive), "E0701", 2);
    assert_fails(cotan_stages(p, &none, COTAN_PLAIN, &text), "E0701", 2);
    assert_fails(cotan_dump(p, &none, "parse", &text), "E0701", 2);
    assert_fails(cotan_compile(p, &none, 0, "f", &text, &other), "E0701", 2);
    cotan_close(context);
}

static void every_mode_answers_in_json(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    static const struct {
        cotan_call call;
        const char *value, *derivative;
    } cases[] = {
        {{.mode = COTAN_RUN, .function = "main"}, "\"a string\"", NULL},
        {{.mode = COTAN_RUN, .function = "three", .at = "[2, 3, 4]"}, "10", NULL},
        {{.mode = COTAN_RUN, .function = "f", .at = "[[2, 3]]"}, "12", NULL},
        {{.mode = COTAN_GRAD, .function = "f", .at = "[2, 3]"}, "12", "[12,4]"},
        {{.mode = COTAN_GRAD, .function = "f", .at = "[2, 3]", .method = "forward"}, "12", "[12,4]"},
        {{.mode = COTAN_GRAD, .function = "three", .at = "[2, 3, 4]"}, "10", "[3,2,1]"},
        {{.mode = COTAN_JVP, .function = "g", .at = "2", .with = "0.5"}, "[4,6]", "[2,1.5]"},
        {{.mode = COTAN_JVP, .function = "g", .at = "2", .with = "0.5", .method = "tape"}, "[4,6]", "[2,1.5]"},
        {{.mode = COTAN_VJP, .function = "g", .at = "2", .with = "[1, 10]"}, "[4,6]", "34"},
        {{.mode = COTAN_JACOBIAN, .function = "g", .at = "2"}, "[4,6]", "[4,3]"},
        {{.mode = COTAN_HESSIAN, .function = "f", .at = "[2, 3]"}, "12", "[[6,4],[4,0]]"},
        {{.mode = COTAN_HVP, .function = "f", .at = "[2, 3]", .with = "[1, 10]"}, "12", "[46,4]"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cotan_result result;
        cotan_error *error = cotan_call_json(p, &cases[i].call, &result);
        if (error != NULL) fail_msg("case %zu: %s", i, cotan_error_text(error, false, false));
        assert_string_equal(result.value, cases[i].value);
        if (cases[i].derivative != NULL)
            assert_string_equal(result.derivative, cases[i].derivative);
        else
            assert_null(result.derivative);
    }
    cotan_close(context);
}

static void counts_are_the_same_on_every_later_call(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    cotan_call call = {.mode = COTAN_GRAD, .function = "f", .at = "[2, 3]", .count = true};
    cotan_result first, second;
    assert_null(cotan_call_json(p, &call, &first)); /* this one also evaluates the program's constants */
    assert_null(cotan_call_json(p, &call, &first));
    cotan_call again = call;
    again.at = "[5, 7]";
    assert_null(cotan_call_json(p, &again, &second));
    assert_true(first.steps > first.primal_steps);
    assert_int_equal(first.steps, second.steps);
    assert_int_equal(first.primal_steps, second.primal_steps);
    assert_true(first.has_trace);
    assert_int_equal(first.trace, 4); /* two inputs, two products */
    assert_true(first.peak_memory > 0);
    cotan_close(context);
}

static void errors_have_their_parts(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = NULL;
    const char *text = "f x = lenght x\ng = 1 + \"a\"\n";
    cotan_error *error = cotan_load(context, "bad.cot", text, strlen(text), &p);
    assert_fails(error, "E0302", 1);
    assert_null(p);
    assert_int_equal(cotan_error_count(error), 2);
    assert_string_equal(cotan_error_file(error, 0), "bad.cot");
    assert_int_equal(cotan_error_line(error, 0), 1);
    assert_int_equal(cotan_error_column(error, 0), 7);
    assert_int_equal(cotan_error_line(error, 1), 2);
    assert_non_null(strstr(cotan_error_message(error, 0), "lenght"));
    assert_non_null(strstr(cotan_error_text(error, false, false), "^^^^^^"));
    assert_non_null(strstr(cotan_error_text(error, true, false), "\033["));
    const char *json = cotan_error_text(error, false, true);
    assert_true(strncmp(json, "{\"code\":\"E0302\",\"file\":\"bad.cot\",\"line\":1,\"column\":7,", 51) == 0);
    p = load(context, model); /* and the context goes on */
    cotan_result result;
    cotan_call call = {.mode = COTAN_GRAD, .function = "away", .at = "[1]"};
    error = cotan_call_json(p, &call, &result);
    assert_fails(error, "E0501", 1);
    assert_int_equal(cotan_error_line(error, 0), 16);
    call = (cotan_call){.mode = COTAN_GRAD, .function = "f", .at = "[1, \"x\"]"};
    assert_fails(cotan_call_json(p, &call, &result), "E0601", 2);
    call = (cotan_call){.mode = COTAN_GRAD, .function = "f", .at = "[1, 2"};
    assert_int_equal(cotan_error_status(cotan_call_json(p, &call, &result)), 2);
    call = (cotan_call){.mode = COTAN_GRAD, .function = "g", .at = "1"};
    assert_fails(cotan_call_json(p, &call, &result), "E0405", 1);
    call = (cotan_call){.mode = COTAN_GRAD, .function = "nothing", .at = "1"};
    assert_fails(cotan_call_json(p, &call, &result), "E0702", 2);
    call = (cotan_call){.mode = COTAN_GRAD, .function = "f", .at = "[1, 2]", .method = "magic"};
    assert_int_equal(cotan_error_status(cotan_call_json(p, &call, &result)), 2);
    call = (cotan_call){.mode = COTAN_GRAD, .function = "f", .at = "[1, 2]"};
    assert_null(cotan_call_json(p, &call, &result));
    cotan_close(context);
}

static void limits_are_errors_and_the_context_goes_on(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){.memory = 64 * 1024 * 1024, .steps = 20000000, .depth = 100000});
    cotan_program *p = load(context, model);
    static const struct {
        const char *function, *code;
    } cases[] = {{"forever", "E0802"}, {"deep", "E0803"}, {"hold", "E0801"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cotan_result result;
        cotan_call call = {.mode = COTAN_RUN, .function = cases[i].function, .at = "[4000000]"};
        assert_fails(cotan_call_json(p, &call, &result), cases[i].code, 1);
        call = (cotan_call){.mode = COTAN_GRAD, .function = "f", .at = "[2, 3]"};
        assert_null(cotan_call_json(p, &call, &result));
        assert_string_equal(result.derivative, "[12,4]");
    }
    cotan_close(context);
}

static void a_limit_too_small_to_compile_is_an_error(void **state) {
    (void)state;
    for (size_t memory = 1; memory < 8 * 1024 * 1024; memory = memory * 2 + 4096) {
        cotan_context *context = open_with((cotan_limits){.memory = memory});
        cotan_program *p = NULL;
        cotan_error *error = cotan_load(context, "model.cot", model, strlen(model), &p);
        cotan_result result;
        cotan_call call = {.mode = COTAN_GRAD, .function = "f", .at = "[2, 3]"};
        if (error == NULL) error = cotan_call_json(p, &call, &result);
        if (error != NULL) assert_fails(error, "E0801", 1);
        cotan_close(context);
    }
}

static void garbage_is_refused(void **state) {
    (void)state;
    uint64_t seed = 12345;
    for (int round = 0; round < 200; round++) {
        char text[300];
        size_t length = 1 + (size_t)round;
        for (size_t i = 0; i < length; i++) {
            seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
            text[i] = round % 2 == 0 ? (char)(seed >> 56) : "(){}[]|=\n \\\"'x1->:,`"[(seed >> 40) % 21];
        }
        cotan_context *context = open_with((cotan_limits){.memory = 256 * 1024 * 1024});
        cotan_program *p = NULL;
        cotan_error *error = cotan_load(context, "garbage", text, length, &p);
        assert_true((error == NULL) == (p != NULL));
        if (error != NULL) assert_true(cotan_error_status(error) == 1);
        cotan_close(context);
    }
}

static void types_core_and_dumps_are_texts(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    const char *text;
    assert_null(cotan_types(p, "f", &text));
    assert_string_equal(text, "f :: (Double, Double) -> Double\n");
    assert_null(cotan_types(p, NULL, &text));
    assert_non_null(strstr(text, "three :: Num a => a -> a -> a -> a\n"));
    assert_fails(cotan_types(p, "nothing", &text), "E0702", 2);
    assert_null(cotan_core(p, "g", &text));
    assert_non_null(strstr(text, "g : Double"));
    cotan_call call = {.mode = COTAN_GRAD, .function = "f", .at = "[2, 3]"};
    assert_null(cotan_dump(p, &call, "simplify", &text));
    assert_non_null(strstr(text, "vjp"));
    assert_null(cotan_dump(p, &call, "differentiate", &text));
    assert_non_null(strstr(text, "tapePush2"));
    assert_int_equal(cotan_error_status(cotan_dump(p, &call, "magic", &text)), 2);
    cotan_close(context);
}

static void derivatives_are_checked_against_differences(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, "f :: (Double, Double) -> [Double]\nf (x, y) = [sin x * y, x / y]\n"
                                     "kink :: Double -> Double\nkink x = if x > 0 then 2 * x else x\n");
    cotan_check_result result;
    assert_null(cotan_check(p, &(cotan_call){.function = "f", .at = "[1, 2]"}, &result));
    assert_true(result.agrees);
    assert_int_equal(result.count, 7); /* two of each direction, and the Jacobian's rows */
    for (size_t i = 0; i < result.count; i++) assert_true(result.rows[i].difference < 1e-6);
    assert_null(cotan_check(p, &(cotan_call){.function = "kink", .at = "0"}, &result));
    assert_false(result.agrees);
    cotan_close(context);
}

static void native_code_takes_over_from_the_evaluator(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(
        context, "count :: Int -> Int\ncount n = go n 0 where go k s = if k == 0 then s else go (k - 1) (s + k)\n");
    cotan_call call = {.mode = COTAN_RUN, .function = "count", .at = "[1000]", .native = true, .native_after = 1000000};
    cotan_result result;
    assert_null(cotan_call_json(p, &call, &result));
    assert_string_equal(result.value, "500500");
    uint64_t short_run = result.steps;
    assert_true(short_run > 1000 && short_run < 1000000);
    call.native_after = 1000;
    assert_null(cotan_call_json(p, &call, &result));
    assert_string_equal(result.value, "500500");
    assert_true(result.not_native != NULL ? result.steps == short_run : result.steps == 0);
    cotan_close(context);
}

/* A compiler that says its process, and takes longer than any test. */
static void write_slow_compiler(const char *folder, char *file, size_t size) {
    snprintf(file, size, "%s/cc", folder);
    FILE *script = fopen(file, "w");
    assert_non_null(script);
    fprintf(script, "#!/bin/sh\necho $$ >%s/process\nexec sleep 1000\n", folder);
    fclose(script);
    assert_int_equal(chmod(file, 0700), 0);
}

static pid_t process_in(const char *folder) {
    char file[200];
    snprintf(file, sizeof file, "%s/process", folder);
    int process = 0;
    for (int i = 0; i < 1000 && process == 0; i++) {
        FILE *said = fopen(file, "r");
        if (said == NULL || fscanf(said, "%d", &process) != 1) usleep(10000);
        if (said != NULL) fclose(said);
    }
    assert_int_equal(unlink(file), 0);
    return process;
}

static int files_in(const char *folder) {
    int count = 0;
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    for (struct dirent *d; (d = readdir(entries)) != NULL;) count += d->d_name[0] != '.';
    closedir(entries);
    return count;
}

static void a_run_that_ends_first_stops_the_compiler(void **state) {
    (void)state;
    if (getenv("COTAN_NATIVE") != NULL) return;
    char folder[] = "/tmp/cotan-test.XXXXXX", compiler[100], cache[100];
    assert_non_null(mkdtemp(folder));
    write_slow_compiler(folder, compiler, sizeof compiler);
    snprintf(cache, sizeof cache, "%s/cotan", folder);
    const char *named = getenv("CC"), *kept = getenv("XDG_CACHE_HOME");
    char *before = named != NULL ? strdup(named) : NULL, *cache_before = kept != NULL ? strdup(kept) : NULL;
    setenv("CC", compiler, 1);
    setenv("XDG_CACHE_HOME", folder, 1);
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(
        context, "count :: Int -> Int\ncount n = go n 0 where go k s = if k == 0 then s else go (k - 1) (s + k)\n");
    cotan_call call = {.mode = COTAN_RUN, .function = "count", .at = "[1000]", .native = true, .native_after = 7000};
    cotan_result result;
    assert_null(cotan_call_json(p, &call, &result));
    assert_string_equal(result.value, "500500");
    assert_true(result.steps > call.native_after / 4 && result.steps < call.native_after);
    pid_t process = process_in(folder);
    assert_int_equal(kill(process, 0), 0);
    assert_int_equal(files_in(cache), 1); /* the C */
    cotan_close(context);
    assert_int_equal(kill(process, 0), -1);
    assert_int_equal(files_in(cache), 0);
    if (before != NULL)
        setenv("CC", before, 1);
    else
        unsetenv("CC");
    if (cache_before != NULL)
        setenv("XDG_CACHE_HOME", cache_before, 1);
    else
        unsetenv("XDG_CACHE_HOME");
    free(before);
    free(cache_before);
    unlink(compiler);
    rmdir(cache);
    assert_int_equal(rmdir(folder), 0);
}

/* The engine depends on the steps, not on what is compiled already. */
static void native_code_that_is_there_waits_for_its_turn(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(
        context, "count :: Int -> Int\ncount n = go n 0 where go k s = if k == 0 then s else go (k - 1) (s + k)\n");
    cotan_call call = {.mode = COTAN_RUN, .function = "count", .at = "[1000]", .native = true, .native_after = 7000};
    cotan_result result;
    uint64_t steps = 0;
    for (int round = 0; round < 2; round++) {
        call.at = "[1000]";
        assert_null(cotan_call_json(p, &call, &result));
        assert_true(result.steps > 1000);
        assert_true(round == 0 || result.steps == steps);
        steps = result.steps;
        call.at = "[10000]";
        assert_null(cotan_call_json(p, &call, &result));
        assert_string_equal(result.value, "50005000");
        assert_true(result.not_native != NULL || result.steps == 0);
    }
    cotan_close(context);
}

static void the_evaluator_goes_on_where_native_code_cannot_be(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p =
        load(context, "count :: Int -> (Int, Int -> Int)\n"
                      "count n = go n 0 where go k s = if k == 0 then (s, (+ k)) else go (k - 1) (s + k)\n");
    cotan_call call = {.mode = COTAN_RUN, .function = "count", .at = "[1000]", .no_json = true};
    cotan_result result;
    assert_null(cotan_call_json(p, &call, &result));
    uint64_t steps = result.steps;
    call.native = true;
    call.native_after = 1000;
    for (int round = 0; round < 2; round++) { /* the second time it is known */
        assert_null(cotan_call_json(p, &call, &result));
        assert_string_equal(result.value_text, "(500500,<function>)");
        assert_string_equal(result.not_native, "functions go in or out");
        assert_int_equal(result.steps, steps);
    }
    cotan_close(context);
}

static void native_code_is_made_by_the_settings_of_the_call(void **state) {
    (void)state;
    if (getenv("COTAN_NATIVE") != NULL) return;
    const char *named = getenv("CC");
    char *before = named != NULL ? strdup(named) : NULL;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, "spread :: Array Double -> Double\n"
                                     "spread xs = sum (map (\\x -> x + 0 * sum (map (\\y -> y) (take 2 xs))) xs)\n");
    cotan_call call = {.mode = COTAN_RUN, .function = "spread", .native = true};
    call.at = "[[1e16,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]]"; /* in order each 1 is lost, in lanes not all */
    cotan_result result;
    for (int round = 0; round < 2; round++) {
        assert_int_equal(setenv("CC", "no-such-compiler", 1), 0);
        assert_null(cotan_call_json(p, &call, &result));
        assert_string_equal(result.not_native, "there is no C compiler `no-such-compiler`");
        assert_string_equal(result.value, "1e+16");
        if (before != NULL)
            setenv("CC", before, 1);
        else
            unsetenv("CC");
        cotan_exact_math(context, false);
        assert_null(cotan_call_json(p, &call, &result));
        assert_null(result.not_native);
        assert_string_not_equal(result.value, "1e+16");
        cotan_exact_math(context, true);
        assert_null(cotan_call_json(p, &call, &result));
        assert_null(result.not_native);
        assert_string_equal(result.value, "1e+16");
    }
    free(before);
    cotan_close(context);
}

/* All but the last, which is native code's own: it counts no steps. */
static size_t methods_of_core(void) {
    size_t count = 0;
    while (cotan_method_at(count + 1) != NULL) count++;
    assert_string_equal(cotan_method_at(count)->name, "native");
    return count;
}

typedef struct Told {
    char text[200];
    double fraction;
} Told;

static void tell(void *data, const char *message, size_t length, double fraction) {
    Told *told = data;
    if (message == NULL)
        told->fraction = fraction;
    else
        snprintf(told->text + strlen(told->text), sizeof told->text - strlen(told->text), "%s/%zu;", message, length);
}

static void messages_are_told_to_the_host(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *program = load(context, "import Debug.Trace\n"
                                           "f :: Double -> Double\n"
                                           "f x = progress (x / 4) $ trace (\"é \" ++ show x) (x * x)\n");
    cotan_call call = {.mode = COTAN_GRAD, .function = "f", .method = "tape", .at = "3", .at_length = 1};
    cotan_result result;
    assert_null(cotan_call_json(program, &call, &result));
    assert_string_equal(result.value, "9");
    Told told = {.fraction = -1};
    cotan_set_trace(context, tell, &told);
    for (int i = 0; i < 2; i++) assert_null(cotan_call_json(program, &call, &result));
    assert_string_equal(result.derivative, "6");
    assert_string_equal(told.text, "é 3.0/6;é 3.0/6;");
    assert_true(told.fraction == 0.75);
    cotan_set_trace(context, NULL, NULL);
    assert_null(cotan_call_json(program, &call, &result));
    assert_string_equal(told.text, "é 3.0/6;é 3.0/6;");
    cotan_close(context);
}

static void methods_are_compared(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    cotan_compare_result result;
    static const char *const two[] = {"forward", "tape"};
    for (int round = 0; round < 2; round++) { /* counts are those of a first run, also the second time */
        assert_null(cotan_compare(p, &(cotan_call){.function = "f", .at = "[2, 3]"}, two, 2, &result));
        assert_true(result.agrees);
        assert_int_equal(result.mode, COTAN_GRAD);
        assert_int_equal(result.count, 2);
        assert_int_equal(result.reference, 1);
        assert_int_equal(result.function.result.steps, 3);
        for (size_t i = 0; i < 2; i++) {
            assert_string_equal(result.rows[i].method, two[i]);
            assert_int_equal(result.rows[i].outcome, COTAN_AGREES);
            assert_null(result.rows[i].error_code);
            assert_string_equal(result.rows[i].result.value, "12");
            assert_string_equal(result.rows[i].result.derivative, "[12,4]");
            assert_string_equal(result.rows[i].result.derivative_text, "(12.0,4.0)");
            assert_true(result.rows[i].difference == 0);
            assert_int_equal(result.rows[i].result.primal_steps, 3);
            assert_true(result.rows[i].result.steps > 3);
        }
        assert_false(result.rows[0].result.has_trace);
        assert_int_equal(result.rows[1].result.trace, 4);
    }
    size_t methods = methods_of_core();
    assert_null(cotan_compare(p, &(cotan_call){.function = "f", .at = "[2, 3]", .no_text = true}, NULL, 0, &result));
    assert_true(result.agrees);
    assert_int_equal(result.count, methods);
    for (size_t i = 0; i < methods; i++) {
        assert_string_equal(result.rows[i].method, cotan_method_at(i)->name);
        assert_int_equal(result.rows[i].outcome, COTAN_AGREES);
        assert_null(result.rows[i].result.derivative_text);
    }
    assert_null(cotan_compare(p, &(cotan_call){.function = "g", .at = "2", .no_json = true}, two, 2, &result));
    assert_int_equal(result.mode, COTAN_VJP);
    assert_string_equal(result.rows[0].result.derivative_text, "7.0");
    assert_null(result.rows[0].result.derivative);
    assert_null(cotan_compare(p, &(cotan_call){.function = "g", .at = "2", .with = "[0, 1]"}, two, 1, &result));
    assert_string_equal(result.rows[0].result.derivative, "3");
    cotan_close(context);
}

static void stages_are_shown(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    const char *text;
    for (size_t i = 0; i < methods_of_core(); i++) {
        const cotan_method *method = cotan_method_at(i);
        cotan_call call = {.function = "f", .at = "[2, 3]", .method = method->name};
        assert_null(cotan_stages(p, &call, COTAN_PLAIN, &text));
        assert_non_null(strstr(text, "value = 12.0\n"));
        /* in reverse the gradient, forward the sum of its parts: ones are the cotangent or the tangent */
        assert_non_null(strstr(text, method->reverse ? "pulled back = (12.0,4.0)\n" : "tangent of the value = 16.0\n"));
        assert_non_null(strstr(text, method->figure));
        assert_null(strstr(text, "\033["));
    }
    cotan_call call = {.function = "f", .at = "[2, 3]", .method = "native"};
    assert_null(cotan_stages(p, &call, COTAN_PLAIN, &text));
    assert_non_null(strstr(text, "lowered to Flow"));
    assert_non_null(strstr(text, "static void entry(ct_run *rt"));
    call = (cotan_call){.function = "f", .at = "[2, 3]", .with = "10"};
    assert_null(cotan_stages(p, &call, COTAN_COLOURED, &text));
    assert_non_null(strstr(text, "pulled back = (120.0,40.0)\n"));
    assert_non_null(strstr(text, "\033["));
    call = (cotan_call){.function = "f"};
    assert_null(cotan_stages(p, &call, COTAN_HTML, &text));
    assert_ptr_equal(strstr(text, "<!DOCTYPE html>"), text);
    call = (cotan_call){.function = "nosuch"};
    assert_fails(cotan_stages(p, &call, COTAN_PLAIN, &text), "E0702", 2);
    call = (cotan_call){.function = "f", .method = "bulk"};
    assert_fails(cotan_stages(p, &call, COTAN_PLAIN, &text), "E0701", 2); /* shapes are those of a point */
    call.at = "[2, 3]";
    assert_null(cotan_stages(p, &call, COTAN_PLAIN, &text));
    assert_non_null(strstr(text, "pulled back = (12.0,4.0)\n"));
    call = (cotan_call){.function = "f", .at = "[2, 3]", .method = "magic"};
    assert_fails(cotan_stages(p, &call, COTAN_PLAIN, &text), "E0705", 2);
    /* what is looked on at is no session: the function runs afterwards as it did before */
    cotan_result result;
    call = (cotan_call){.mode = COTAN_GRAD, .function = "f", .at = "[2, 3]", .count = true};
    assert_null(cotan_call_json(p, &call, &result));
    assert_int_equal(result.primal_steps, 3);
    assert_string_equal(result.derivative, "[12,4]");
    cotan_close(context);
}

static void methods_that_disagree_or_stop_are_told(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, "f :: Double -> Double\nf x = x * 3 + x * 1e16 - x * 1e16\n"
                                     "g :: (Double, Int) -> Double\n"
                                     "g (x, n) = if n == 0 then x else g (x * x, n - 1)\n"
                                     "partial :: Double -> Double\npartial x = if x > 0 then x else error \"no\"\n");
    cotan_compare_result result;
    static const char *const two[] = {"forward", "tape"}, *const naive[] = {"dual-naive", "tape"};
    assert_null(cotan_compare(p, &(cotan_call){.function = "f", .at = "1"}, two, 2, &result));
    assert_false(result.agrees);
    assert_int_equal(result.rows[0].outcome, COTAN_DIFFERS);
    assert_int_equal(result.rows[1].outcome, COTAN_AGREES);
    assert_true(result.rows[0].difference == 0.25);
    assert_true(result.rows[0].value_difference == 0);
    assert_null(cotan_compare(p, &(cotan_call){.function = "g", .at = "[1, 40]"}, naive, 2, &result));
    assert_true(result.agrees);
    assert_int_equal(result.reference, 1);
    assert_int_equal(result.rows[0].outcome, COTAN_STOPPED);
    assert_string_equal(result.rows[0].error_code, "E0802");
    assert_null(result.rows[0].result.derivative);
    assert_fails(cotan_compare(p, &(cotan_call){.function = "g", .at = "[1, 40]"}, naive, 1, &result), "E0802", 1);
    assert_fails(cotan_compare(p, &(cotan_call){.function = "partial", .at = "-1"}, NULL, 0, &result), "E0503", 1);
    assert_fails(cotan_compare(p, &(cotan_call){.function = "f", .at = "1"}, two, 0, &result), "E0701", 2);
    assert_fails(cotan_compare(p, &(cotan_call){.function = "f"}, two, 2, &result), "E0701", 2);
    static const char *const unknown[] = {"tape", "magic"};
    assert_fails(cotan_compare(p, &(cotan_call){.function = "f", .at = "1"}, unknown, 2, &result), "E0705", 2);
    cotan_limits limits = {.steps = 200};
    cotan_set_limits(context, &limits);
    assert_null(cotan_compare(p, &(cotan_call){.function = "f", .at = "1"}, two, 2, &result));
    assert_int_equal(result.rows[0].outcome, COTAN_AGREES);
    assert_int_equal(result.rows[1].outcome, COTAN_STOPPED);
    assert_int_equal(result.reference, 0);
    cotan_close(context);
}

static void limits_that_change_hold_for_what_has_run_before(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){.steps = 1000});
    cotan_program *p = load(context, model);
    cotan_call call = {.mode = COTAN_RUN, .function = "hold", .at = "[1000]"};
    cotan_result result;
    assert_fails(cotan_call_json(p, &call, &result), "E0802", 1);
    cotan_set_limits(context, &(cotan_limits){.steps = 100000});
    assert_null(cotan_call_json(p, &call, &result));
    cotan_close(context);
}

static void tables_can_be_walked(void **state) {
    (void)state;
    size_t count = 0;
    bool forward = false, tape = false;
    for (; cotan_method_at(count) != NULL; count++) {
        forward = forward || strcmp(cotan_method_at(count)->name, "forward") == 0;
        tape = tape || strcmp(cotan_method_at(count)->name, "tape") == 0;
    }
    assert_true(forward && tape);
    const char *title;
    assert_non_null(cotan_explain("E0301", &title));
    assert_string_equal(title, "type mismatch");
    assert_null(cotan_explain("E9999", &title));
    assert_true(strlen(cotan_version()) > 0);
}

/* ---- threads ---- */

static void *differentiate_often(void *data) {
    bool *sound = data;
    cotan_context *context = cotan_open(NULL);
    cotan_program *p = NULL;
    *sound = context != NULL && cotan_load(context, "model.cot", model, strlen(model), &p) == NULL;
    for (int i = 0; i < 20 && *sound; i++) {
        cotan_result result;
        cotan_call call = {.mode = COTAN_GRAD, .function = "f", .at = "[2, 3]"};
        *sound = cotan_call_json(p, &call, &result) == NULL && strcmp(result.derivative, "[12,4]") == 0;
    }
    cotan_close(context);
    return NULL;
}

static void contexts_do_not_disturb_each_other(void **state) {
    (void)state;
    pthread_t threads[4];
    bool sound[4];
    for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, differentiate_often, &sound[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_true(sound[i]);
    }
}

static void *interrupt_soon(void *data) {
    struct timespec pause = {.tv_nsec = 20000000};
    for (int i = 0; i < 50; i++) { /* until it has surely begun */
        nanosleep(&pause, NULL);
        cotan_interrupt(data);
    }
    return NULL;
}

static void another_thread_can_interrupt(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, interrupt_soon, context), 0);
    cotan_result result;
    cotan_call call = {.mode = COTAN_RUN, .function = "forever", .at = "[0]"};
    assert_fails(cotan_call_json(p, &call, &result), "E0804", 1);
    pthread_join(thread, NULL);
    cotan_close(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode_answers_in_json),
        cmocka_unit_test(counts_are_the_same_on_every_later_call),
        cmocka_unit_test(errors_have_their_parts),
        cmocka_unit_test(limits_are_errors_and_the_context_goes_on),
        cmocka_unit_test(a_limit_too_small_to_compile_is_an_error),
        cmocka_unit_test(garbage_is_refused),
        cmocka_unit_test(types_core_and_dumps_are_texts),
        cmocka_unit_test(derivatives_are_checked_against_differences),
        cmocka_unit_test(native_code_takes_over_from_the_evaluator),
        cmocka_unit_test(a_run_that_ends_first_stops_the_compiler),
        cmocka_unit_test(native_code_that_is_there_waits_for_its_turn),
        cmocka_unit_test(the_evaluator_goes_on_where_native_code_cannot_be),
        cmocka_unit_test(native_code_is_made_by_the_settings_of_the_call),
        cmocka_unit_test(messages_are_told_to_the_host),
        cmocka_unit_test(methods_are_compared),
        cmocka_unit_test(calls_that_make_no_sense_are_refused),
        cmocka_unit_test(stages_are_shown),
        cmocka_unit_test(methods_that_disagree_or_stop_are_told),
        cmocka_unit_test(limits_that_change_hold_for_what_has_run_before),
        cmocka_unit_test(tables_can_be_walked),
        cmocka_unit_test(contexts_do_not_disturb_each_other),
        cmocka_unit_test(another_thread_can_interrupt),
    };
    return cmocka_run_group_tests_name("api", tests, NULL, NULL);
}
