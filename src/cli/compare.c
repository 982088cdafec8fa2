/* cotan compare: the derivatives of a function by several methods, in a table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"

static const char *derivative_name(const cotan_compare_result *r) {
    return r->mode == COTAN_GRAD ? "gradient" : "cotangent";
}

/* The name of the derivatives in the second comparison, between the methods that agree in the first one; NULL: there is
 * no second comparison. */
static const char *further_name(const cotan_compare_result *r) {
    switch (r->further) {
    case COTAN_JACOBIAN: return "Jacobian";
    case COTAN_HESSIAN: return "Hessian";
    case COTAN_VJP:
    case COTAN_HVP: return "products";
    case COTAN_RUN:
    case COTAN_GRAD:
    case COTAN_JVP: break;
    }
    return NULL;
}

static bool has_further(const cotan_compare_result *r, const cotan_compare_row *row) {
    return r->further != COTAN_RUN && row->error_code == NULL && row->further != COTAN_FAILS &&
           (row->outcome == COTAN_AGREES || row->further == COTAN_DIFFERS);
}

/* ---- the table ---- */

typedef struct Colours {
    const char *good, *doubtful, *bad, *plain;
} Colours;

static Colours colours_of(const Options *options) {
    if (!options->colour_out) return (Colours){"", "", "", ""};
    return (Colours){"\033[32m", "\033[33m", "\033[1;31m", "\033[0m"};
}

static int widest_name(const cotan_compare_result *r) {
    size_t width = strlen("function");
    for (size_t i = 0; i < r->count; i++)
        if (strlen(r->rows[i].method) > width) width = strlen(r->rows[i].method);
    return (int)width;
}

static void print_error(const cotan_compare_row *row) {
    if (row->outcome == COTAN_STOPPED) { /* the source location of a stopped run does not matter */
        printf("%s\n", row->error_message);
        return;
    }
    printf("error[%s]%s", row->error_code, row->error_is_further ? " further on" : "");
    if (row->error_file != NULL) printf(" at %s:%d:%d", row->error_file, row->error_line, row->error_column);
    printf(": %s\n", row->error_message);
}

/* Prints, ten columns wide, the larger of the relative differences of the value from the function's and of the
 * derivative from the reference method's. */
static void print_difference(const cotan_compare_result *r, size_t i) {
    const cotan_compare_row *row = &r->rows[i];
    double difference = fmax(row->value_difference, row->difference);
    char text[CLI_REAL];
    if (r->function.error_code != NULL)
        printf("%10s", "no error");
    else if (difference > 0)
        printf("%10s", cli_real(text, "%.1e", difference));
    else
        printf("%10s", i == r->reference ? "reference" : "exact");
}

static void print_further(const cotan_compare_result *r, size_t i) {
    const cotan_compare_row *row = &r->rows[i];
    const char *text = i == r->further_reference ? "reference" : "exact";
    char number[CLI_REAL];
    if (r->further == COTAN_RUN) return;
    if (!has_further(r, row)) text = "";
    if (has_further(r, row) && row->further == COTAN_STOPPED) text = "stopped";
    if (has_further(r, row) && row->further_difference > 0) text = cli_real(number, "%.1e", row->further_difference);
    printf("  %10s", text);
}

static void print_costs(const cotan_result *result) {
    printf("  %12llu", (unsigned long long)result->steps);
    if (result->primal_steps > 0)
        printf("  %8.1f", (double)result->steps / (double)result->primal_steps);
    else
        printf("  %8s", "");
    if (result->has_trace)
        printf("  %10llu", (unsigned long long)result->trace);
    else
        printf("  %10s", "");
    printf("  %11llu\n", (unsigned long long)result->peak_memory);
}

static void print_row(const cotan_compare_result *r, size_t i, Colours colour, int width) {
    const cotan_compare_row *row = &r->rows[i];
    printf("%-*s  ", width, row->method);
    switch (row->outcome) {
    case COTAN_AGREES: printf("%sok%s       ", colour.good, colour.plain); break;
    case COTAN_DIFFERS: printf("%sDIFFERS%s  ", colour.bad, colour.plain); break;
    case COTAN_FAILS: printf("%sFAILS%s    ", colour.bad, colour.plain); break;
    case COTAN_STOPPED: printf("%sstopped%s  ", colour.doubtful, colour.plain); break;
    }
    if (row->error_code != NULL) {
        print_error(row);
    } else {
        print_difference(r, i);
        print_further(r, i);
        print_costs(&row->result);
    }
}

static void print_results(const cotan_compare_result *r, const cotan_result *result) {
    printf("value = %s\n%s = %s\n", result->value_text, derivative_name(r), result->derivative_text);
}

/* Prints the pair of numbers that differ most in the second comparison. */
static void print_worst(const cotan_compare_result *r, const cotan_compare_row *row) {
    bool matrix = r->further == COTAN_JACOBIAN || r->further == COTAN_HESSIAN;
    if (isnan(row->further_found) && isnan(row->further_expected)) {
        printf("the %s %s another structure\n", further_name(r), matrix ? "has" : "have");
        return;
    }
    const char *reference = r->rows[r->further_reference].method;
    char found[CLI_REAL], expected[CLI_REAL];
    printf("%s %zu, number %zu, counted from 0, of the %s: %s; by %s %s\n", matrix ? "row" : "vector", row->further_row,
           row->further_column, further_name(r), cli_real(found, "%.15g", row->further_found), reference,
           cli_real(expected, "%.15g", row->further_expected));
}

/* Prints the methods whose outcome satisfies `wanted`, separated by commas, unless `out` is NULL. Returns their number.
 */
static size_t list(const cotan_compare_result *r, bool (*wanted)(cotan_outcome), FILE *out) {
    size_t found = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (!wanted(r->rows[i].outcome)) continue;
        if (out != NULL) fprintf(out, "%s%s", found > 0 ? ", " : "", r->rows[i].method);
        found++;
    }
    return found;
}

static bool agrees(cotan_outcome outcome) { return outcome == COTAN_AGREES; }
static bool stopped(cotan_outcome outcome) { return outcome == COTAN_STOPPED; }
static bool disagrees(cotan_outcome outcome) { return outcome == COTAN_DIFFERS || outcome == COTAN_FAILS; }

/* Prints the methods that, for the reason `why`, neither agree nor disagree. */
static void print_doubtful(const cotan_compare_result *r, const char *why, bool (*wanted)(cotan_outcome),
                           Colours colour) {
    if (list(r, wanted, NULL) == 0) return;
    printf("%s%s%s: ", colour.doubtful, why, colour.plain);
    list(r, wanted, stdout);
    printf("; ");
}

/* Prints the methods that agree in the first comparison and have the given outcome, without numbers, in the second. */
static void print_doubtful_further(const cotan_compare_result *r, cotan_outcome outcome, const char *why,
                                   Colours colour) {
    size_t found = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (!has_further(r, &r->rows[i]) || r->rows[i].further != outcome) continue;
        if (found++ == 0)
            printf("%s%s %s%s: ", colour.doubtful, further_name(r), why, colour.plain);
        else
            printf(", ");
        printf("%s", r->rows[i].method);
    }
    if (found > 0) printf("; ");
}

static void print_summary(const cotan_compare_result *r, Colours colour) {
    if (!r->agrees) {
        printf("%sthe methods DISAGREE%s: ", colour.bad, colour.plain);
        list(r, disagrees, stdout);
    } else {
        size_t agreeing = list(r, agrees, NULL);
        print_doubtful(r, "stopped", stopped, colour);
        print_doubtful_further(r, COTAN_STOPPED, "stopped", colour);
        if (agreeing == 1)
            printf("%s stands alone: only its value was held against the function's", r->rows[r->reference].method);
        else
            printf("%s%zu methods agree%s", colour.good, agreeing, colour.plain);
    }
    printf("\n");
}

static void print_table(const Options *options, const cotan_compare_result *r) {
    Colours colour = colours_of(options);
    int width = widest_name(r);
    if (r->function.error_code != NULL)
        print_error(&r->function);
    else if (r->reference < r->count)
        print_results(r, &r->rows[r->reference].result);
    else
        printf("value = %s\n", r->function.result.value_text);
    const char *further = further_name(r);
    int wide = further != NULL ? 12 : 0;
    printf("\n%-*s  %-7s  %10s%*s  %12s  × primal  %10s  %11s\n", width, "method", "", "difference", wide,
           further != NULL ? further : "", "steps", "trace", "peak memory");
    printf("%-*s  %-7s  %10s%*s", width, "function", "", "", wide, "");
    print_costs(&r->function.result);
    for (size_t i = 0; i < r->count; i++) print_row(r, i, colour, width);
    for (size_t i = 0; i < r->count; i++) {
        if (r->rows[i].outcome != COTAN_DIFFERS) continue;
        printf("\nby %s:\n", r->rows[i].method);
        if (r->rows[i].further == COTAN_DIFFERS)
            print_worst(r, &r->rows[i]);
        else
            print_results(r, &r->rows[i].result);
    }
    printf("\n");
    print_summary(r, colour);
}

/* ---- JSON ---- */

static void put_number(const char *name, double value) {
    if (isinf(value))
        printf(",\"%s\":\"inf\"", name);
    else
        printf(",\"%s\":%.3g", name, value);
}

/* Prints enough digits to determine every bit of the number. */
static void put_real(const char *name, double value) {
    if (isfinite(value))
        printf(",\"%s\":%.17g", name, value);
    else
        printf(",\"%s\":\"%s\"", name, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

static void put_count(const char *name, uint64_t value) { printf(",\"%s\":%llu", name, (unsigned long long)value); }

static void put_error(const cotan_compare_row *row) {
    printf(",\"error\":{\"code\":\"%s\",\"file\":", row->error_code);
    if (row->error_file != NULL) {
        cli_print_json_string(stdout, row->error_file, strlen(row->error_file));
        printf(",\"line\":%d,\"column\":%d", row->error_line, row->error_column);
    } else {
        printf("null,\"line\":null,\"column\":null");
    }
    printf(",\"message\":");
    cli_print_json_string(stdout, row->error_message, strlen(row->error_message));
    printf("}");
}

static void put_results(const cotan_compare_result *r, const cotan_result *result) {
    printf("\"value\":%s,\"%s\":%s", result->value, derivative_name(r), result->derivative);
}

static const char *const outcomes[] = {"agrees", "differs", "fails", "stopped"};

static void put_further(const cotan_compare_row *row) {
    printf(",\"further\":\"%s\"", outcomes[row->further]);
    if (row->further == COTAN_STOPPED) return;
    put_number("further_difference", row->further_difference);
    if (row->further != COTAN_DIFFERS) return;
    put_count("further_row", row->further_row);
    put_count("further_column", row->further_column);
    put_real("further_found", row->further_found);
    put_real("further_expected", row->further_expected);
}

static void put_row(const cotan_compare_result *r, const cotan_compare_row *row) {
    printf("{\"method\":\"%s\",\"outcome\":\"%s\"", row->method, outcomes[row->outcome]);
    put_count("steps", row->result.steps);
    if (row->error_code == NULL && row->result.primal_steps > 0) put_count("primal_steps", row->result.primal_steps);
    if (row->result.has_trace) put_count("trace", row->result.trace);
    put_count("peak_memory", row->result.peak_memory);
    if (row->error_code != NULL) {
        put_error(row);
    } else if (r->function.error_code == NULL) {
        put_number("value_difference", row->value_difference);
        put_number("difference", row->difference);
    }
    if (has_further(r, row)) put_further(row);
    if (row->outcome == COTAN_DIFFERS) {
        printf(",");
        put_results(r, &row->result);
    }
    printf("}");
}

static const char *further_key(const cotan_compare_result *r) {
    if (r->further == COTAN_JACOBIAN) return "jacobian";
    return r->further == COTAN_HESSIAN ? "hessian" : "products";
}

static void print_json(const cotan_compare_result *r) {
    printf("{\"agrees\":%s,", r->agrees ? "true" : "false");
    if (r->function.error_code == NULL && r->reference == r->count) {
        printf("\"value\":%s,\"reference\":null,", r->function.result.value);
    } else if (r->function.error_code == NULL) {
        const cotan_compare_row *reference = &r->rows[r->reference];
        put_results(r, &reference->result);
        printf(",\"reference\":\"%s\",", reference->method);
    }
    if (r->further != COTAN_RUN)
        printf("\"further\":{\"what\":\"%s\",\"rows\":%zu,\"columns\":%zu,\"reference\":\"%s\"},", further_key(r),
               r->further_rows, r->further_columns, r->rows[r->further_reference].method);
    printf("\"function\":{\"steps\":%llu", (unsigned long long)r->function.result.steps);
    put_count("peak_memory", r->function.result.peak_memory);
    if (r->function.error_code != NULL) put_error(&r->function);
    printf("},\"methods\":[");
    for (size_t i = 0; i < r->count; i++) {
        if (i > 0) printf(",");
        put_row(r, &r->rows[i]);
    }
    printf("]}\n");
}

/* ---- the verb ---- */

/* Splits a text at its commas, which are overwritten, into an array of names. Returns NULL when memory runs out. The
 * caller frees the array; the names point into the text. */
static const char **split(char *text, size_t *count) {
    *count = 1;
    for (const char *c = text; *c != '\0'; c++) *count += *c == ',';
    const char **names = malloc(*count * sizeof *names);
    if (names == NULL) return NULL;
    for (size_t i = 0; i < *count; i++) {
        names[i] = text;
        text += strcspn(text, ",");
        *text++ = '\0';
    }
    return names;
}

static int compare(const Options *options, const cotan_context *context, cotan_program *program,
                   const cotan_call *call) {
    char *text = options->methods != NULL ? strdup(options->methods) : NULL;
    size_t count = 0;
    const char **names = text != NULL ? split(text, &count) : NULL;
    int status;
    if (options->methods != NULL && names == NULL) {
        status = cli_refuse(options, "E0801", "out of memory");
    } else {
        cotan_compare_result result;
        cli_progress_begin(options, context);
        cotan_error *error = cotan_compare(program, call, names, count, &result);
        cli_progress_end();
        if (error != NULL) {
            status = cli_report(options, error);
        } else {
            status = result.agrees ? EXIT_DONE : EXIT_DISAGREES;
            if (options->json)
                print_json(&result);
            else
                print_table(options, &result);
        }
    }
    free(names);
    free(text);
    return status;
}

int cli_verb_compare(const Options *options) {
    cotan_context *context;
    cotan_program *program;
    cotan_call call = {.function = options->words[1], .no_json = !options->json, .no_text = options->json};
    bool failed = false;
    if (cli_reads_twice(options, options->at, options->cotangent)) return EXIT_USAGE;
    char *at = cli_read_input(options, options->at, &call.at_length, &failed);
    char *with = failed ? NULL : cli_read_input(options, options->cotangent, &call.with_length, &failed);
    call.at = at;
    call.with = with;
    int status = failed ? EXIT_USAGE : cli_load(options, &context, &program);
    if (status == EXIT_DONE) {
        status = compare(options, context, program, &call);
        cli_close_context(context);
    }
    free(at);
    free(with);
    return status;
}
