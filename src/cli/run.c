/* cotan run: evaluates a function, prints its value. */
#include "cli/verbs.h"

int cli_verb_run(const Options *options) {
    const char *function = options->word_count > 1 ? options->words[1] : "main";
    return cli_run_call(options, COTAN_RUN, function, NULL);
}
