/* cotan run: evaluates a function, prints its value. */
#include "cli/verbs.h"

int verb_run(const Options *options) {
    const char *function = options->word_count > 1 ? options->words[1] : "main";
    return run_call(options, COTAN_RUN, function, NULL);
}
