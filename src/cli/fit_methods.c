/* The table of methods. */
#include <string.h>

#include "cli/fit.h"

static const FitMethod methods[] = {
    {"lbfgs", "quasi-Newton with limited memory, by NLopt", false, true, false, true, cli_fit_lbfgs},
    {"slsqp", "sequential quadratic programming, for constraints, by NLopt", false, true, true, true, cli_fit_slsqp},
    {"newton", "Newton's method with exact Hessians, for few parameters", false, false, false, true, cli_fit_newton},
    {"adam", "stochastic gradients with adapted step sizes", true, true, false, true, cli_fit_adam},
    {"sgd", "stochastic gradients", true, true, false, true, cli_fit_sgd},
    {"nelder-mead", "a simplex, without gradients, by NLopt", false, true, false, false, cli_fit_nelder_mead},
};
enum { COUNT = sizeof methods / sizeof *methods };

const FitMethod *cli_fit_method_find(const char *name) {
    if (name == NULL) return &methods[0];
    for (size_t i = 0; i < COUNT; i++)
        if (strcmp(methods[i].name, name) == 0) return &methods[i];
    return NULL;
}
