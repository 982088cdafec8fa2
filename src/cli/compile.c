/* cotan compile: writes STEM.c and STEM.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/verbs.h"

static int write_both(const Options *options, const char *source, const char *header) {
    char *paths[2], *names[2] = {NULL, NULL};
    const char *texts[2] = {source, header}, *endings[2] = {".c", ".h"};
    int status = EXIT_DONE;
    for (int i = 0; i < 2; i++) {
        size_t size = strlen(options->stem) + 3;
        paths[i] = malloc(size);
        if (paths[i] == NULL) status = cli_refuse(options, "E0801", "there is no memory");
        if (paths[i] != NULL) snprintf(paths[i], size, "%s%s", options->stem, endings[i]);
        if (status == EXIT_DONE) names[i] = cli_write_beside(options, paths[i], texts[i]);
        if (names[i] == NULL) status = EXIT_USAGE;
    }
    for (int i = 0; i < 2 && status == EXIT_DONE; i++)
        if (!cli_put_in_place(names[i], paths[i]))
            status = cli_refuse(options, "E0704", "%s cannot be written: %s", paths[i], strerror(errno));
    for (int i = 0; i < 2; i++) {
        if (names[i] != NULL && status != EXIT_DONE) unlink(names[i]);
        free(names[i]);
        free(paths[i]);
    }
    return status;
}

int cli_verb_compile(const Options *options) {
    cotan_context *context;
    cotan_program *program;
    if (options->stem == NULL)
        return cli_complain(options, "-o is missing: the files' name without .c and .h, such as -o %s",
                            options->words[1]);
    const char *slash = strrchr(options->stem, '/'), *stem = slash != NULL ? slash + 1 : options->stem;
    if (*stem == '\0') return cli_complain(options, "-o takes the files' name without .c and .h, not a folder");
    if (options->at != NULL && (options->method == NULL || strcmp(options->method, "bulk") != 0))
        return cli_complain(options, "--at is for --method bulk, which compiles derivatives for the shape of a point");
    cotan_call call = {.function = options->words[1], .method = options->method, .prefix = options->prefix};
    bool failed = false;
    char *at = cli_read_input(options, options->at, &call.at_length, &failed);
    call.at = at;
    int status = failed ? EXIT_USAGE : cli_load(options, &context, &program);
    if (status != EXIT_DONE) {
        free(at);
        return status;
    }
    unsigned derivatives = (options->grad ? COTAN_WITH_GRAD : 0u) | (options->vjp ? COTAN_WITH_VJP : 0u) |
                           (options->jvp ? COTAN_WITH_JVP : 0u);
    const char *source, *header;
    cotan_error *error = cotan_compile(program, &call, derivatives, stem, &source, &header);
    status = error != NULL ? cli_report(options, error) : write_both(options, source, header);
    cli_close_context(context);
    free(at);
    return status;
}
