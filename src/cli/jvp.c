/* cotan jvp: value, and the tangent of the result for one of the point. */
#include "cli/verbs.h"

int verb_jvp(const Options *options) { return run_call(options, COTAN_JVP, options->words[1], "tangent"); }
