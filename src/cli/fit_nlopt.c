/* The methods of NLopt (Johnson). */
#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit.h"

typedef struct Objective {
    Run *run;
    nlopt_opt opt;
} Objective;

/* A method whose own numbers have overflowed asks for points of NaNs, without end. */
static bool is_lost(unsigned n, const double *x) {
    for (unsigned i = 0; i < n; i++)
        if (isnan(x[i])) return true;
    return false;
}

/* A point at which the method evaluates is a step of ours: NLopt does not say which of them it accepts. */
static double objective(unsigned n, const double *x, double *gradient, void *data) {
    Objective *o = data;
    Run *run = o->run;
    if (run->ending == GOES_ON && is_lost(n, x)) run->ending = NO_PROGRESS;
    double *numbers = run->no_gradients ? NULL : run->gradient;
    if (run->ending != GOES_ON || !cli_fit_run_evaluate(run, x, &run->value, numbers)) {
        nlopt_force_stop(o->opt);
        return (double)INFINITY;
    }
    memcpy(run->x, x, n * sizeof *x);
    if (gradient != NULL) memcpy(gradient, run->gradient, n * sizeof *gradient);
    bool feasible = isfinite(run->value);
    if (!cli_fit_run_step(run)) {
        if (run->ending == NOT_A_NUMBER && !feasible && run->evaluations > 1)
            run->ending = run->steps < run->most_steps ? GOES_ON : OUT_OF_STEPS; /* the line search goes around it */
        if (run->ending != GOES_ON) nlopt_force_stop(o->opt);
    }
    return feasible ? run->value : (double)INFINITY;
}

static void constraint(unsigned m, double *result, unsigned n, const double *x, double *jacobian, void *data) {
    Constraint *c = data;
    (void)m, (void)n;
    if (c->run->ending != GOES_ON) return;
    cotan_error *error = cli_fit_constraint_at(c, x, result, jacobian);
    if (error == NULL) return;
    c->run->error = error;
    c->run->ending = FAILED;
    for (size_t i = 0; i < c->count; i++) result[i] = (double)INFINITY;
}

static bool add_constraints(Run *run, nlopt_opt opt) {
    for (int i = 0; i < run->constraint_count; i++) {
        Constraint *c = &run->constraints[i];
        double *tolerances = malloc((c->count + 1) * sizeof *tolerances);
        for (size_t k = 0; k < c->count && tolerances != NULL; k++) tolerances[k] = run->tolerance;
        bool added =
            tolerances != NULL && (c->equality ? nlopt_add_equality_mconstraint : nlopt_add_inequality_mconstraint)(
                                      opt, (unsigned)c->count, constraint, c, tolerances) > 0;
        free(tolerances);
        if (!added) return false;
    }
    return true;
}

/* Why NLopt has ended by itself. */
static Ending ending_of(nlopt_result result) {
    if (result > 0) return CONVERGED;
    return result == NLOPT_ROUNDOFF_LIMITED || result == NLOPT_FAILURE ? NO_PROGRESS : FAILED;
}

static void minimise(Run *run, nlopt_algorithm algorithm) {
    nlopt_opt opt = nlopt_create(algorithm, (unsigned)run->count);
    Objective o = {run, opt};
    double *x = malloc(run->count * sizeof *x), value; /* NLopt's own: run->x follows its evaluations */
    bool made =
        opt != NULL && x != NULL && nlopt_set_min_objective(opt, objective, &o) > 0 && add_constraints(run, opt);
    if (made && run->lower != NULL) made = nlopt_set_lower_bounds(opt, run->lower) > 0;
    if (made && run->upper != NULL) made = nlopt_set_upper_bounds(opt, run->upper) > 0;
    nlopt_result result = NLOPT_OUT_OF_MEMORY;
    if (made) {
        memcpy(x, run->x, run->count * sizeof *x);
        nlopt_set_ftol_rel(opt, run->tolerance * 1e-4);
        nlopt_set_xtol_rel(opt, run->tolerance * 1e-4);
        result = nlopt_optimize(opt, x, &value);
        memcpy(run->x, x, run->count * sizeof *x);
    }
    if (run->ending == GOES_ON) run->ending = ending_of(result);
    nlopt_destroy(opt);
    free(x);
}

void cli_fit_lbfgs(Run *run) { minimise(run, NLOPT_LD_LBFGS); }
void cli_fit_slsqp(Run *run) { minimise(run, NLOPT_LD_SLSQP); }
void cli_fit_nelder_mead(Run *run) { minimise(run, NLOPT_LN_NELDERMEAD); }
