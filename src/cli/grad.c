/* cotan grad: value and gradient of a function whose result is a Double. */
#include "cli/verbs.h"

int cli_verb_grad(const Options *options) { return cli_run_call(options, COTAN_GRAD, options->words[1], "gradient"); }
