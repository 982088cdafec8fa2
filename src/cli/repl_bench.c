/* :bench: how long an expression takes, on each engine. */
#include <stdlib.h>
#include <string.h>

#include "cli/repl.h"

enum { BENCH_RUNS = 1000, BENCH_LEAST_RUNS = 3 };
static const double bench_seconds = 0.5;

static int compare_seconds(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_seconds(double seconds) {
    bool micro = seconds < 1e-3, milli = seconds < 1;
    printf("%.3g %s", micro ? 1e6 * seconds : milli ? 1e3 * seconds : seconds, micro ? "µs" : milli ? "ms" : "s");
}

/* Runs a function of () again and again. False after reporting an error. */
static bool bench_one(Repl *repl, cotan_function *function, const char *engine) {
    static double times[BENCH_RUNS];
    cotan_value *unit = cotan_value_of(COTAN_KIND_TUPLE, NULL, 0);
    size_t count = 0;
    double all = 0;
    while (count < BENCH_RUNS && (count < BENCH_LEAST_RUNS || all < bench_seconds)) {
        if (!cli_repl_apply(repl, function, unit, NULL)) break;
        times[count++] = repl->seconds;
        all += repl->seconds;
    }
    cotan_value_free(unit);
    if (count < BENCH_LEAST_RUNS) return false;
    qsort(times, count, sizeof *times, compare_seconds);
    printf("%-10s median ", engine);
    print_seconds(times[count / 2]);
    fputs(", least ", stdout);
    print_seconds(times[0]);
    printf(", %zu runs\n", count);
    return true;
}

/* One engine, for an expression that has a value. */
static bool bench_engine(Repl *repl, const char *function, bool native) {
    cotan_call call = {
        .mode = COTAN_RUN, .expression = function, .at = "[[]]", .method = repl->method, .native = native};
    cotan_function *made;
    cotan_error *error = cotan_function_make(repl->program, &call, &made);
    if (error != NULL) {
        cli_repl_error(repl, error);
        return false;
    }
    const char *why = cotan_function_signature(made)->not_native;
    bool runs = !native || why == NULL, sound = !runs || bench_one(repl, made, native ? "native" : "evaluator");
    if (!runs) printf("%-10s %s\n", "native", why);
    cotan_function_free(made);
    return sound;
}

/* The expression on the evaluator and as native code. It is run once first, so that errors name its own columns. */
void cli_repl_bench(Repl *repl, char *text) {
    cotan_call once = {.mode = COTAN_RUN, .expression = text, .method = repl->method, .no_json = true, .no_text = true};
    cotan_result result;
    size_t size = strlen(text) + 16;
    char *function = malloc(size);
    const char *type;
    if (cotan_type_of(repl->program, text, &type) == NULL && strstr(type, "->") != NULL) {
        cli_repl_complain(repl, "a function takes no time: :bench is of its value at a point");
        free(function);
        return;
    }
    if (function == NULL || !cli_repl_call(repl, &once, &result)) {
        free(function);
        return;
    }
    snprintf(function, size, "\\() -> (%s\n )", text);
    if (bench_engine(repl, function, false)) bench_engine(repl, function, true);
    free(function);
}
