/* cotan jacobian: value and Jacobian. The Jacobian has a row for each real number of the result; each row has the shape
 * of the point. */
#include "cli/verbs.h"

int cli_verb_jacobian(const Options *options) {
    return cli_run_call(options, COTAN_JACOBIAN, options->words[1], "jacobian");
}
