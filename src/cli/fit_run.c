/* A descent, whatever its method: bounds, limits, progress, the log, the best point. */
#include <float.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/fit.h"

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- Ctrl-C ---- */

static volatile sig_atomic_t interrupted;
static cotan_context *volatile interruptible;

static void on_interrupt(int number) {
    signal(number, SIG_DFL); /* a second one ends the command */
    interrupted = 1;
    cotan_interrupt(interruptible);
}

void cli_fit_run_listen(cotan_context *context) {
    interruptible = context;
    interrupted = 0;
    signal(SIGINT, on_interrupt);
}

/* ---- making ---- */

static bool read_real(const Options *o, const char *name, const char *text, double least, double otherwise, double *out,
                      int *status) {
    *out = otherwise;
    if (text == NULL) return true;
    char *end;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out >= least && isfinite(*out)) return true;
    *status = cli_complain(o, "%s takes a number from %g, not `%s`", name, least, text);
    return false;
}

static bool read_numbers(Run *run, int *status) {
    const Options *o = run->options;
    run->most_steps = o->steps > 0 ? o->steps : 1000;
    run->batch = o->batch;
    run->random = o->seed;
    if (run->batch > 0 && run->model->rows == 0) {
        *status = cli_complain(o, "--batch needs data of several rows");
        return false;
    }
    return read_real(o, "--tolerance", o->tolerance, 0, 1e-8, &run->tolerance, status) &&
           read_real(o, "--rate", o->rate, DBL_MIN, 0.01, &run->rate, status) &&
           read_real(o, "--time", o->time, 0, 0, &run->limit, status);
}

/* The numbers of --lower or --upper, NULL where there is none. *done is false after reporting an error. */
static double *read_bound(Run *run, const char *text, bool *done, int *status) {
    if (text == NULL || !*done) return NULL;
    double *bound = calloc(run->count, sizeof *bound);
    *done = bound != NULL && cli_fit_model_constant(run->model, text, bound, status);
    if (bound == NULL) *status = cli_refuse(run->options, "E0801", "there is not enough memory");
    for (size_t i = 0; i < run->count && *done; i++) {
        *done = !isnan(bound[i]);
        if (!*done) *status = cli_complain(run->options, "number %zu of the bounds `%s` is NaN", i + 1, text);
    }
    return bound;
}

static bool read_bounds(Run *run, int *status) {
    const Options *o = run->options;
    bool done = true;
    run->lower = read_bound(run, o->lower, &done, status);
    run->upper = read_bound(run, o->upper, &done, status);
    if (!done) return false;
    for (size_t i = 0; i < run->count && run->lower != NULL && run->upper != NULL; i++) {
        if (run->lower[i] <= run->upper[i]) continue;
        *status = cli_complain(o, "number %zu of the parameters has a lower bound, %g, above the upper, %g", i + 1,
                               run->lower[i], run->upper[i]);
        return false;
    }
    return true;
}

static bool read_constraints(Run *run, int *status) {
    const char *names[2] = {run->options->constraints, run->options->equalities};
    for (int k = 0; k < 2; k++) {
        for (const char *at = names[k]; at != NULL && *at != '\0'; at += strcspn(at, ","), at += *at == ',') {
            if (run->constraint_count == MOST_CONSTRAINTS) {
                *status = cli_complain(run->options, "more than %d constraints; one function can give an array of them",
                                       MOST_CONSTRAINTS);
                return false;
            }
            Constraint *c = &run->constraints[run->constraint_count];
            char *name = strndup(at, strcspn(at, ","));
            if (!cli_fit_constraint_make(c, run->model, name, k == 1, status)) return false;
            c->run = run;
            run->constraint_count++;
        }
    }
    return true;
}

bool cli_fit_run_make(Run *run, Model *model, int *status) {
    *run = (Run){.model = model, .options = model->options, .count = model->count, .best_value = (double)INFINITY};
    run->x = calloc(run->count, sizeof *run->x);
    run->gradient = calloc(run->count, sizeof *run->gradient);
    run->best = calloc(run->count, sizeof *run->best);
    run->bad = calloc(run->count, sizeof *run->bad);
    if (run->x == NULL || run->gradient == NULL || run->best == NULL || run->bad == NULL) {
        *status = cli_refuse(run->options, "E0801", "there is not enough memory");
        return false;
    }
    cli_fit_model_collect(model, model->kept, run->x);
    memcpy(run->best, run->x, run->count * sizeof *run->best);
    run->norm = (double)NAN;
    run->started = run->told = now();
    run->draws = isatty(STDERR_FILENO) && !run->options->json;
    if (!read_numbers(run, status) || !read_bounds(run, status) || !read_constraints(run, status)) return false;
    run->by_ends = run->batch > 0 || run->constraint_count > 0;
    if (!cli_fit_checkpoint_read(run, status)) return false;
    cli_fit_run_project(run, run->x);
    if (run->options->plot != NULL) run->plot = open_memstream(&run->plotted, &run->plotted_size);
    if (run->options->log == NULL) return true;
    run->log = fopen(run->options->log, "w");
    if (run->log == NULL) *status = cli_refuse(run->options, "E0704", "%s cannot be written", run->options->log);
    if (run->log != NULL) fputs("step,value,gradient,seconds\n", run->log);
    return run->log != NULL;
}

int cli_fit_run_end_log(Run *run) {
    FILE *log = run->log;
    if (log == NULL) return EXIT_DONE;
    run->log = NULL;
    bool written = ferror(log) == 0;
    written &= fclose(log) == 0;
    return written ? EXIT_DONE : cli_refuse(run->options, "E0704", "%s cannot be written", run->options->log);
}

void cli_fit_run_free(Run *run) {
    if (run->log != NULL) fclose(run->log);
    if (run->plot != NULL) fclose(run->plot);
    free(run->plotted);
    for (int i = 0; i < MOST_CONSTRAINTS; i++) free(run->constraints[i].name);
    free(run->x);
    free(run->gradient);
    free(run->best);
    free(run->bad);
    free(run->lower);
    free(run->upper);
}

/* ---- running ---- */

void cli_fit_run_project(const Run *run, double *x) {
    for (size_t i = 0; i < run->count; i++) {
        if (run->lower != NULL && x[i] < run->lower[i]) x[i] = run->lower[i];
        if (run->upper != NULL && x[i] > run->upper[i]) x[i] = run->upper[i];
    }
}

bool cli_fit_run_evaluate(Run *run, const double *x, double *value, double *gradient) {
    if (interrupted) return run->ending = INTERRUPTED, false;
    if (run->limit > 0 && now() - run->started > run->limit) return run->ending = OUT_OF_TIME, false;
    run->evaluations++;
    run->error = cli_fit_model_gradient(run->model, x, value, gradient);
    if (run->error == NULL) return true;
    run->ending = interrupted ? INTERRUPTED : FAILED;
    if (interrupted) run->error = NULL;
    return false;
}

double cli_fit_run_larger(double norm, double g) { return isnan(norm) || fabs(g) <= norm ? norm : fabs(g); }

/* The largest of the gradient's numbers that the bounds let x follow. */
static double norm_of(const Run *run) {
    double norm = 0;
    for (size_t i = 0; i < run->count; i++) {
        double g = run->gradient[i];
        if (run->lower != NULL && run->x[i] <= run->lower[i] && g > 0) continue;
        if (run->upper != NULL && run->x[i] >= run->upper[i] && g < 0) continue;
        norm = cli_fit_run_larger(norm, g);
    }
    return norm;
}

/* A line on the terminal, ten times a second. */
static void draw(Run *run) {
    double time = now();
    if (!run->draws || time - run->told < 0.1) return;
    run->told = time;
    double left = (time - run->started) / (double)run->steps * (double)(run->most_steps - run->steps);
    if (run->limit > 0 && run->limit - (time - run->started) < left) left = run->limit - (time - run->started);
    fprintf(stderr, "\r\033[Kstep %llu  value %.10g", (unsigned long long)run->steps, run->value);
    if (!run->no_gradients) fprintf(stderr, "  gradient %.2g", run->norm);
    fprintf(stderr, "  at most %.0f s more", left);
    fflush(stderr);
}

static void keep_bad(Run *run) {
    memcpy(run->bad, run->x, run->count * sizeof *run->bad);
    run->bad_value = run->value;
    run->bad_is_nan = isnan(run->norm);
}

/* The current point is the best so far. */
static void keep(Run *run, double value) {
    run->best_value = value;
    run->improved = true;
    memcpy(run->best, run->x, run->count * sizeof *run->best);
}

/* The last point of a descent is the best so far if it meets the constraints better, or as well with a lower value. */
static cotan_error *compare_end(Run *run) {
    double value, excess = 0, one;
    const Constraint *worst = NULL;
    cotan_error *error = cli_fit_model_gradient(run->model, run->x, &value, NULL);
    for (int i = 0; i < run->constraint_count && error == NULL; i++) {
        error = cli_fit_constraint_excess(&run->constraints[i], run->x, run->tolerance, &one);
        if (error != NULL || one <= excess) continue;
        excess = one;
        worst = &run->constraints[i];
    }
    if (error != NULL) return error;
    if (!isfinite(value)) value = (double)INFINITY;
    if (!run->ended || excess < run->best_excess || (excess == run->best_excess && value <= run->best_value)) {
        keep(run, value);
        run->best_excess = excess;
        run->not_met = worst;
    }
    run->ended = true;
    return NULL;
}

void cli_fit_run_end(Run *run) {
    if (!run->by_ends || run->error != NULL) return;
    run->error = compare_end(run);
    if (run->error != NULL) run->ending = FAILED;
}

/* Whether the gradient is small at a point that is, to rounding, as low as the best of this descent, whose place it
 * then takes. A descent that diverges comes to values so large that any gradient is small against them. */
static bool has_converged(Run *run) {
    double rounding = 1e-4 * run->tolerance * fmax(1, fabs(run->best_value));
    if (run->by_ends || !(run->norm <= run->tolerance * fmax(1, fabs(run->value)))) return false;
    if (!run->improved) return true; /* it ends above the best of another descent */
    if (!(run->value <= run->best_value + rounding)) return false;
    keep(run, run->value);
    return true;
}

bool cli_fit_run_step(Run *run) {
    run->steps++;
    run->norm = run->no_gradients ? (double)NAN : norm_of(run);
    if (!run->by_ends && isfinite(run->value) && run->value <= run->best_value) keep(run, run->value);
    if (run->log != NULL) {
        fprintf(run->log, "%llu,%.17g,", (unsigned long long)run->steps, run->value);
        if (!run->no_gradients) fprintf(run->log, "%.17g", run->norm);
        fprintf(run->log, ",%.3f\n", now() - run->started);
    }
    if (run->plot != NULL && isfinite(run->value))
        fprintf(run->plot, "%llu %.17g\n", (unsigned long long)run->steps, run->value);
    draw(run);
    if (!isfinite(run->value) || !(isfinite(run->norm) || run->no_gradients)) {
        run->ending = NOT_A_NUMBER;
        keep_bad(run);
    } else if (has_converged(run))
        run->ending = CONVERGED;
    else if (run->steps >= run->most_steps)
        run->ending = OUT_OF_STEPS;
    int status;
    if (run->options->checkpoint != NULL && run->steps % 100 == 0) cli_fit_checkpoint_write(run, &status);
    return run->ending == GOES_ON;
}
