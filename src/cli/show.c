/* cotan type and cotan core: a program's types, and what it means. */
#include <stdio.h>

#include "cli/verbs.h"

typedef cotan_error *Show(cotan_program *program, const char *name, const char **out);

static int show(const Options *options, Show *text_of) {
    cotan_context *context;
    cotan_program *program;
    int status = load(options, &context, &program);
    if (status != EXIT_DONE) return status;
    const char *text;
    cotan_error *error = text_of(program, options->word_count > 1 ? options->words[1] : NULL, &text);
    if (error != NULL)
        status = report(options, error);
    else
        fputs(text, stdout);
    close_context(context);
    return status;
}

int verb_type(const Options *options) { return show(options, cotan_types); }
int verb_core(const Options *options) { return show(options, cotan_core); }
