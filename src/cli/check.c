/* cotan check: type-checks a file; with a function and a point, compares its derivatives with finite differences. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"

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

static int check_function(const Options *options, const cotan_context *context, cotan_program *program, const char *at,
                          size_t length) {
    cotan_check_result result;
    cotan_call call = {.function = options->words[1], .at = at, .at_length = length, .method = options->method};
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

int cli_verb_check(const Options *options) {
    cotan_context *context;
    cotan_program *program;
    bool with_function = options->word_count > 1, failed = false;
    if (cli_reads_twice(options, options->at, NULL)) return EXIT_USAGE;
    if (with_function != (options->at != NULL))
        return cli_complain(options, "a function is checked at a point: cotan check FILE FUNCTION --at JSON");
    size_t length = 0;
    char *at = cli_read_input(options, options->at, &length, &failed);
    int status = failed ? EXIT_USAGE : cli_load(options, &context, &program);
    if (status == EXIT_DONE) {
        if (with_function)
            status = check_function(options, context, program, at, length);
        else if (options->json)
            printf("{\"sound\":true}\n");
        else
            printf("%s is sound\n", options->words[0]);
        cli_close_context(context);
    }
    free(at);
    return status;
}
