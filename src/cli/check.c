/* cotan check: type-checks a file; with a function and a point, or a region, compares its derivatives with finite
 * differences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/region.h"
#include "cli/verbs.h"

enum { POINTS = 100 };

static void print_json(const cotan_check_result *result) {
    printf("{\"agrees\":%s,\"checks\":[", result->agrees ? "true" : "false");
    for (size_t i = 0; i < result->count; i++) {
        const cotan_check_row *row = &result->rows[i];
        bool infinite = row->difference > 1e308 || row->difference != row->difference;
        printf("%s{\"what\":\"%s\",\"difference\":", i > 0 ? "," : "", row->what);
        if (infinite)
            printf("\"inf\"");
        else
            printf("%.3g", row->difference);
        printf(",\"agrees\":%s}", row->agrees ? "true" : "false");
    }
    for (size_t i = 0; i < result->rule_count; i++) {
        const cotan_check_rule *rule = &result->rules[i];
        printf("%s{\"file\":", i > 0 ? "," : "],\"rules\":[");
        cli_print_json_string(stdout, rule->file, strlen(rule->file));
        printf(",\"line\":%d,\"column\":%d,\"wrong\":%s}", rule->line, rule->column, rule->is_wrong ? "true" : "false");
    }
    printf("]}\n");
}

static void print_table(const char *function, const cotan_check_result *result) {
    for (size_t i = 0; i < result->count; i++) {
        const cotan_check_row *row = &result->rows[i];
        char found[CLI_REAL], expected[CLI_REAL], difference[CLI_REAL];
        printf("%s  %s: %s and %s differ by %s\n", row->agrees ? "ok    " : "FAILED", row->what,
               cli_real(found, "%.15g", row->derivative), cli_real(expected, "%.15g", row->expected),
               cli_real(difference, "%.1e", row->difference));
    }
    if (result->agrees)
        printf("the derivatives of %s agree\n", function);
    else
        printf("the derivatives of %s DISAGREE, or it has a kink or a jump there, or uses stopGradient\n", function);
    for (size_t i = 0; i < result->rule_count; i++)
        if (result->rules[i].is_wrong)
            printf("%s:%d:%d: the rule for a derivative that is given here is wrong\n", result->rules[i].file,
                   result->rules[i].line, result->rules[i].column);
}

/* By the option alone: COTAN_ENGINE is of the verbs that run programs. */
static bool asks_for_native(const Options *options) { return options->engine_asked && options->at_once; }

static int check_function(const Options *options, const cotan_context *context, cotan_program *program, const char *at,
                          size_t length) {
    cotan_check_result result;
    cotan_call call = {.function = options->words[1],
                       .at = at,
                       .at_length = length,
                       .method = options->method,
                       .native = asks_for_native(options)};
    cli_progress_begin(options, context);
    cotan_error *error = cotan_check(program, &call, &result);
    cli_progress_end();
    if (error != NULL) return cli_report(options, error);
    if (options->json)
        print_json(&result);
    else
        print_table(options->words[1], &result);
    return result.agrees ? EXIT_DONE : EXIT_DISAGREES;
}

/* ---- over a region ---- */

typedef struct Tally {
    uint64_t points, disagree, fail;
    char *worst, *failing; /* points; and where a derivative fails, and the function does not: */
    char *broken;
    double difference; /* at the worst */
    bool worst_agrees;
} Tally;

static double largest(const cotan_check_result *result) {
    double most = 0;
    for (size_t i = 0; i < result->count; i++)
        if (!(result->rows[i].difference <= most)) most = result->rows[i].difference;
    return most != most ? HUGE_VAL : most;
}

/* Takes the point. */
static void count_point(Tally *tally, char *point, const cotan_check_result *result) {
    double most = largest(result);
    tally->disagree += !result->agrees;
    bool is_worse = tally->worst == NULL || (tally->worst_agrees && !result->agrees) ||
                    (tally->worst_agrees == result->agrees && most > tally->difference);
    if (is_worse) {
        free(tally->worst);
        tally->worst = point;
        tally->difference = most;
        tally->worst_agrees = result->agrees;
    } else {
        free(point);
    }
}

/* Where the function itself fails there is nothing to compare. Takes the point. */
static bool is_failure(Tally *tally, char **point, const cotan_error *error) {
    if (strncmp(cotan_error_code(error, 0), "E05", 3) != 0) return false;
    if (tally->fail++ == 0)
        tally->failing = *point;
    else
        free(*point);
    *point = NULL;
    return true;
}

static cotan_error *check_points(cotan_program *program, cotan_call *call, Region *region, Tally *tally,
                                 uint64_t count) {
    cotan_check_result result;
    for (uint64_t i = 0; i < count; i++) {
        Region before = *region;
        char *point = cli_region_point(region);
        call->at = point;
        cotan_error *error = cotan_check(program, call, &result);
        if (error != NULL && i == 0 && strncmp(cotan_error_code(error, 0), "E06", 3) == 0) {
            free(point); /* there may be an Int */
            *region = before;
            region->is_whole = true;
            call->at = point = cli_region_point(region);
            error = cotan_check(program, call, &result);
        }
        tally->points++;
        if (error != NULL && result.derivative_fails) {
            tally->broken = point;
            return error;
        }
        if (error != NULL && is_failure(tally, &point, error) && (i + 1 < count || tally->worst != NULL)) continue;
        if (error != NULL) {
            free(point);
            return error;
        }
        count_point(tally, point, &result);
    }
    return NULL;
}

static void print_tally(const Options *options, const Tally *tally, const cotan_check_result *result) {
    if (options->json) {
        printf("{\"points\":%llu,\"disagree\":%llu,\"fail\":%llu,\"worst\":%s,\"at_worst\":",
               (unsigned long long)tally->points, (unsigned long long)tally->disagree, (unsigned long long)tally->fail,
               tally->worst);
        print_json(result);
        return;
    }
    printf("%llu point%s, the worst at %s:\n", (unsigned long long)tally->points, tally->points == 1 ? "" : "s",
           tally->worst);
    print_table(options->words[1], result);
    if (tally->disagree > 0)
        printf("at %llu of %llu points they disagree\n", (unsigned long long)tally->disagree,
               (unsigned long long)tally->points);
    if (tally->fail > 0)
        printf("at %llu of %llu points %s fails, the first is %s\n", (unsigned long long)tally->fail,
               (unsigned long long)tally->points, options->words[1], tally->failing);
}

static int check_region(const Options *options, const cotan_context *context, cotan_program *program, Region *region) {
    cotan_check_result result;
    cotan_call call = {.function = options->words[1], .method = options->method, .native = asks_for_native(options)};
    Tally tally = {0};
    cli_progress_begin(options, context);
    cotan_error *error = check_points(program, &call, region, &tally, options->points > 0 ? options->points : POINTS);
    call.at = tally.worst;
    if (error == NULL) error = cotan_check(program, &call, &result);
    cli_progress_end();
    int status = EXIT_DONE;
    if (tally.broken != NULL && !options->json) fprintf(stderr, "a derivative fails at %s:\n", tally.broken);
    if (error != NULL)
        status = cli_report(options, error);
    else
        print_tally(options, &tally, &result);
    if (error == NULL && tally.disagree > 0) status = EXIT_DISAGREES;
    free(tally.worst);
    free(tally.failing);
    free(tally.broken);
    return status;
}

/* ---- the verb ---- */

static int check_given(const Options *options, cotan_context **context, cotan_program **program) {
    size_t length = 0, to_length = 0;
    bool failed = false;
    char *at = cli_read_input(options, options->at, &length, &failed);
    char *to = failed ? NULL : cli_read_input(options, options->to, &to_length, &failed);
    int status = failed ? EXIT_USAGE : EXIT_DONE;
    Region region = {0};
    bool is_region = status == EXIT_DONE && to != NULL;
    if (is_region && !cli_region_begin(&region, options, at, length > 0 ? length : strlen(at), to,
                                       to_length > 0 ? to_length : strlen(to)))
        status = EXIT_USAGE;
    if (status == EXIT_DONE) status = cli_load(options, context, program);
    if (status == EXIT_DONE) {
        status = is_region ? check_region(options, *context, *program, &region)
                           : check_function(options, *context, *program, at, length);
        cli_close_context(*context);
    }
    if (is_region) cli_region_end(&region);
    free(at);
    free(to);
    return status;
}

int cli_verb_check(const Options *options) {
    cotan_context *context;
    cotan_program *program;
    bool with_function = options->word_count > 1;
    if (cli_reads_twice(options, options->at, options->to)) return EXIT_USAGE;
    if (with_function != (options->at != NULL))
        return cli_complain(options, "a function is checked at a point: cotan check FILE FUNCTION --at JSON");
    if (options->to != NULL && options->at == NULL)
        return cli_complain(options, "--to is the other corner of a region: --at JSON is missing");
    if (options->points > 0 && options->to == NULL)
        return cli_complain(options, "--points are drawn from a region: --to JSON, its other corner, is missing");
    if (options->seed > 0 && options->to == NULL)
        return cli_complain(options, "--seed is of the points of a region: --to JSON, its other corner, is missing");
    if (asks_for_native(options) && options->method != NULL && strcmp(options->method, "native") != 0)
        return cli_complain(options,
                            "--engine native checks the derivatives by `native`; `%s` is checked on the evaluator",
                            options->method);
    if (with_function) return check_given(options, &context, &program);
    int status = cli_load(options, &context, &program);
    if (status != EXIT_DONE) return status;
    if (options->json)
        printf("{\"sound\":true}\n");
    else
        printf("%s is sound\n", options->words[0]);
    cli_close_context(context);
    return status;
}
