/* cotan vjp: value, and the cotangent of the point for a cotangent of the result. */
#include "cli/verbs.h"

int cli_verb_vjp(const Options *options) { return cli_run_call(options, COTAN_VJP, options->words[1], "cotangent"); }
