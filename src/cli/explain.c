/* cotan explain: explains an error code, or shows stage by stage how a method differentiates a function. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"

static int explain_code(const Options *options) {
    if (cli_print_explanation(options->words[0])) return EXIT_DONE;
    return cli_complain(
        options,
        "there is no error code `%s`; codes look like E0301. To see how a function is differentiated, write "
        "`cotan explain FILE FUNCTION`",
        options->words[0]);
}

static int write_page(const Options *options, const char *text) {
    FILE *file = fopen(options->html, "wb");
    if (file == NULL) return cli_refuse(options, "E0704", "%s cannot be written: %s", options->html, strerror(errno));
    fputs(text, file);
    bool written = !ferror(file);
    written = fclose(file) == 0 && written;
    if (!written) return cli_refuse(options, "E0704", "%s cannot be written: %s", options->html, strerror(errno));
    return EXIT_DONE;
}

static int explain_function(const Options *options, cotan_program *program, cotan_call *call) {
    const char *text;
    cotan_page form = options->html != NULL ? COTAN_HTML : options->colour_out ? COTAN_COLOURED : COTAN_PLAIN;
    cotan_error *error = cotan_stages(program, call, form, &text);
    if (error != NULL) return cli_report(options, error);
    if (options->html != NULL) return write_page(options, text);
    fputs(text, stdout);
    return EXIT_DONE;
}

int cli_verb_explain(const Options *options) {
    if (options->word_count == 1) return explain_code(options);
    cotan_context *context;
    cotan_program *program;
    bool failed = false;
    cotan_call call = {.function = options->words[1], .method = options->method};
    const char *second = options->tangent != NULL ? options->tangent : options->cotangent;
    if (cli_reads_twice(options, options->at, second)) return EXIT_USAGE;
    if (second != NULL && options->at == NULL)
        return cli_complain(options, "%s needs a point: --at", options->tangent != NULL ? "--tangent" : "--cotangent");
    char *at = cli_read_input(options, options->at, &call.at_length, &failed);
    char *with = failed ? NULL : cli_read_input(options, second, &call.with_length, &failed);
    call.at = at;
    call.with = with;
    int status = failed ? EXIT_USAGE : cli_load(options, &context, &program);
    if (status == EXIT_DONE) {
        status = explain_function(options, program, &call);
        cli_close_context(context);
    }
    free(at);
    free(with);
    return status;
}
