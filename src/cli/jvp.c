/* cotan jvp: value, and the tangent of the result for a tangent of the point. */
#include "cli/verbs.h"

int cli_verb_jvp(const Options *options) { return cli_run_call(options, COTAN_JVP, options->words[1], "tangent"); }
