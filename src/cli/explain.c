/* cotan explain: explains an error code, or shows stage by stage how a method differentiates a function. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"

static void print_member(const char *name, const char *text, const char *behind) {
    printf("\"%s\":", name);
    cli_print_json_string(stdout, text, strlen(text));
    fputs(behind, stdout);
}

static int explain_code(const Options *options) {
    const char *title, *explanation = cotan_explain(options->words[0], &title);
    if (explanation != NULL && options->json) {
        putchar('{');
        print_member("code", options->words[0], ",");
        print_member("title", title, ",");
        print_member("explanation", explanation, "}\n");
        return EXIT_DONE;
    }
    if (cli_print_explanation(options->words[0])) return EXIT_DONE;
    return cli_complain(
        options,
        "there is no error code `%s`; codes look like E0301. To see how a function is differentiated, write "
        "`cotan explain FILE FUNCTION`",
        options->words[0]);
}

static int explain_function(const Options *options, cotan_program *program, cotan_call *call) {
    const char *text;
    cotan_page form = options->html != NULL ? COTAN_HTML : options->colour_out ? COTAN_COLOURED : COTAN_PLAIN;
    cotan_error *error = cotan_stages(program, call, form, &text);
    if (error != NULL) return cli_report(options, error);
    if (options->html != NULL) return cli_write_file(options, options->html, text);
    fputs(text, stdout);
    return EXIT_DONE;
}

/* ---- rounding ---- */

static void print_number(const char *name, double value) {
    if (isfinite(value))
        printf("\"%s\":%.3g", name, value);
    else
        printf("\"%s\":\"%s\"", name, isnan(value) ? "nan" : "inf");
}

static void print_sensitivity_json(const cotan_sensitivity_result *r) {
    printf("{\"value\":%s,", r->json);
    print_number("size", r->size);
    printf(",");
    print_number("error", r->error);
    printf(",");
    print_number("point", r->point);
    printf(",\"operations\":[");
    for (size_t i = 0; i < r->count; i++) {
        const cotan_sensitivity_row *row = &r->rows[i];
        printf("%s{\"file\":", i > 0 ? "," : "");
        cli_print_json_string(stdout, row->file, strlen(row->file));
        printf(",\"line\":%d,\"column\":%d,\"operation\":\"%s\",\"times\":%llu,", row->line, row->column,
               row->operation, (unsigned long long)row->times);
        print_number("error", row->error);
        printf(",");
        print_number("share", row->share);
        printf("}");
    }
    printf("]}\n");
}

static void print_sensitivity(const Options *options, const cotan_sensitivity_result *r) {
    char error[CLI_REAL], relative[CLI_REAL], point[CLI_REAL];
    printf("value = %s\n", r->value);
    printf("rounding error = %s", cli_real(error, "%.1e", r->error));
    if (r->size > 0) printf(", %s of the value", cli_real(relative, "%.1e", r->error / r->size));
    printf("\nof a rounded point = %s\n", cli_real(point, "%.1e", r->point));
    if (r->count > 0) printf("\n share  error     times  operation     place\n");
    for (size_t i = 0; i < r->count; i++) {
        const cotan_sensitivity_row *row = &r->rows[i];
        if (isnan(row->share))
            printf("%6s", "-");
        else
            printf("%5.1f%%", 100 * row->share);
        printf("  %-8s %6llu  %-12s  ", cli_real(error, "%.1e", row->error), (unsigned long long)row->times,
               row->operation);
        bool elsewhere = strcmp(row->file, options->words[0]) != 0;
        if (row->line == 0)
            printf("-\n");
        else
            printf("%s%s%d:%d\n", elsewhere ? row->file : "", elsewhere ? ":" : "", row->line, row->column);
    }
}

static int sensitivity(const Options *options, cotan_program *program, cotan_call *call) {
    cotan_sensitivity_result result;
    cotan_error *error = cotan_sensitivity(program, call, &result);
    if (error != NULL) return cli_report(options, error);
    if (options->json)
        print_sensitivity_json(&result);
    else
        print_sensitivity(options, &result);
    return EXIT_DONE;
}

/* Without a method it is one of reverse mode; one that is unknown is an error later. */
static bool is_of_other_mode(const Options *options) {
    bool reverse = true;
    for (size_t i = 0; options->method != NULL && cotan_method_at(i) != NULL; i++)
        if (strcmp(cotan_method_at(i)->name, options->method) == 0) reverse = cotan_method_at(i)->reverse;
    return reverse ? options->tangent != NULL : options->cotangent != NULL;
}

/* EXIT_DONE, or what was complained about: options that do not go together. */
static int check_options(const Options *options) {
    if (!options->sensitivity)
        return options->json ? cli_complain(options, "--json is for the estimate of --sensitivity") : EXIT_DONE;
    if (options->at == NULL) return cli_complain(options, "--sensitivity needs a point: --at");
    if (options->method != NULL) return cli_complain(options, "--sensitivity reads Delta terms: it takes no --method");
    if (options->html != NULL || options->tangent != NULL)
        return cli_complain(options, "--sensitivity takes no %s", options->html != NULL ? "--html" : "--tangent");
    return EXIT_DONE;
}

int cli_verb_explain(const Options *options) {
    if (options->word_count == 1) return explain_code(options);
    if (check_options(options) != EXIT_DONE) return EXIT_USAGE;
    cotan_context *context;
    cotan_program *program;
    bool failed = false;
    cotan_call call = {.function = options->words[1], .method = options->method};
    const char *second = options->tangent != NULL ? options->tangent : options->cotangent;
    if (cli_reads_twice(options, options->at, second)) return EXIT_USAGE;
    if (options->tangent != NULL && options->cotangent != NULL)
        return cli_complain(options,
                            "a run is in one mode: --tangent is for forward mode, --cotangent for reverse mode");
    if (second != NULL && options->at == NULL)
        return cli_complain(options, "%s needs a point: --at", options->tangent != NULL ? "--tangent" : "--cotangent");
    if (!options->sensitivity && is_of_other_mode(options))
        return cli_complain(
            options, "--%s is for %s mode, and `%s` is a method of %s mode",
            options->tangent != NULL ? "tangent" : "cotangent", options->tangent != NULL ? "forward" : "reverse",
            options->method != NULL ? options->method : "tape", options->tangent != NULL ? "reverse" : "forward");
    char *at = cli_read_input(options, options->at, &call.at_length, &failed);
    char *with = failed ? NULL : cli_read_input(options, second, &call.with_length, &failed);
    call.at = at;
    call.with = with;
    int status = failed ? EXIT_USAGE : cli_load(options, &context, &program);
    if (status == EXIT_DONE) {
        status =
            options->sensitivity ? sensitivity(options, program, &call) : explain_function(options, program, &call);
        cli_close_context(context);
    }
    free(at);
    free(with);
    return status;
}
