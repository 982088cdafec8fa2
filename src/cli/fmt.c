/* cotan fmt: formats programs in place. Each file is replaced by renaming a temporary file, so that it is never
 * incomplete. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/verbs.h"

static int format_file(const Options *options, cotan_context *context, const char *path) {
    size_t length, new_length;
    const char *formatted;
    char *text = cli_read_file(options, path, &length);
    if (text == NULL) return EXIT_USAGE;
    bool standard = strcmp(path, "-") == 0;
    int status = EXIT_DONE;
    cotan_error *error = cotan_format(context, standard ? "<stdin>" : path, text, length, &formatted, &new_length);
    bool same = error == NULL && length == new_length && memcmp(text, formatted, length) == 0;
    free(text);
    if (error != NULL) {
        status = cli_report(options, error);
    } else if (options->only_check) {
        if (!same) printf("%s would change\n", standard ? "<stdin>" : path);
        status = same ? EXIT_DONE : EXIT_DISAGREES;
    } else if (standard) {
        fwrite(formatted, 1, new_length, stdout);
    } else if (!same) {
        status = cli_write_bytes(options, path, formatted, new_length);
    }
    return status;
}

int cli_verb_fmt(const Options *options) {
    cotan_context *context = cotan_open(&options->limits);
    if (context == NULL) return cli_refuse(options, "E0801", "there is not enough memory to begin");
    int status = EXIT_DONE;
    for (int i = 0; i < options->word_count; i++) { /* an error in one file does not stop the others */
        int one = format_file(options, context, options->words[i]);
        if (one != EXIT_DONE && (status == EXIT_DONE || status == EXIT_DISAGREES)) status = one;
    }
    cotan_close(context);
    return status;
}
