/* cotan fit: from a loss and data to fitted parameters. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit.h"
#include "cli/verbs.h"

/* ---- what comes of it ---- */

static const char *ending_text(const Run *run) {
    switch (run->ending) {
    case CONVERGED: return "converged";
    case NOT_MET: return "the constraints are not met";
    case NO_PROGRESS: return "no further decrease within rounding errors";
    case OUT_OF_STEPS: return "stopped after --steps";
    case OUT_OF_TIME: return "stopped after --time";
    case INTERRUPTED: return "interrupted";
    case NOT_A_NUMBER: return "the loss or its gradient is not a finite number";
    case FAILED: return "the program failed";
    case GOES_ON: break;
    }
    return "";
}

/* The standard errors from the observed information, the inverse of the Hessian. False after reporting an error. */
static bool standard_errors(const Run *run, double *errors, int *status) {
    size_t n = run->count;
    double *hessian = malloc(n * n * sizeof *hessian), *column = malloc(n * sizeof *column);
    cotan_error *error = NULL;
    bool done = hessian != NULL && column != NULL;
    if (!done) *status = cli_refuse(run->options, "E0801", "there is not enough memory");
    if (done && (error = cli_fit_model_hessian(run->model, run->best, hessian)) != NULL) {
        *status = cli_report(run->options, error);
        done = false;
    }
    /* a pivot that rounding errors in the Hessian can make is none */
    if (done && !cli_fit_cholesky(hessian, n, 64 * (double)n * DBL_EPSILON)) {
        cli_refuse(run->options, "E0711",
                   "there are no standard errors: the Hessian at the fitted parameters is not positive definite");
        *status = EXIT_DISAGREES;
        done = false;
    }
    for (size_t i = 0; i < n && done; i++) {
        memset(column, 0, n * sizeof *column);
        column[i] = 1;
        cli_fit_cholesky_solve(hessian, n, column);
        errors[i] = sqrt(column[i]);
    }
    free(hessian);
    free(column);
    return done;
}

static void put_json_number(const char *name, double number) {
    printf(isfinite(number) ? ",\"%s\":%.17g" : ",\"%s\":\"nan\"", name, number);
}

static int print(const Run *run, const double *errors) {
    cotan_result result;
    bool json = run->options->json;
    char number[CLI_REAL];
    cotan_error *error = cli_fit_model_show(run->model, run->best, COTAN_NO_FILE, &result);
    if (error != NULL) return cli_report(run->options, error);
    if (json)
        printf("{\"parameters\":%s", result.value);
    else
        printf("parameters = %s\n", result.value_text);
    if (errors != NULL) {
        error = cli_fit_model_show(run->model, errors, COTAN_NO_FILE, &result);
        if (error != NULL) return cli_report(run->options, error);
        printf(json ? ",\"errors\":%s" : "standard errors = %s\n", json ? result.value : result.value_text);
    }
    if (json) {
        put_json_number("value", run->best_value);
        put_json_number("gradient", run->norm);
        printf(",\"steps\":%llu,\"evaluations\":%llu,\"ending\":\"%s\"}\n", (unsigned long long)run->steps,
               (unsigned long long)run->evaluations, ending_text(run));
        return EXIT_DONE;
    }
    printf("value = %s\n", cli_real(number, "%.16g", run->best_value));
    printf("gradient = %s\n", cli_real(number, "%.2g", run->norm));
    printf("steps = %llu\n%s\n", (unsigned long long)run->steps, ending_text(run));
    return EXIT_DONE;
}

static int write_out(const Run *run) {
    const char *path = run->options->out;
    cotan_result result;
    if (path == NULL) return EXIT_DONE;
    bool npz = cli_ends_with(path, ".npz");
    cotan_error *error = cli_fit_model_show(run->model, run->best, npz ? COTAN_NPZ : COTAN_NO_FILE, &result);
    if (error != NULL) return cli_report(run->options, error);
    return npz ? cli_write_bytes(run->options, path, result.file, result.file_length)
               : cli_write_file(run->options, path, result.value);
}

/* ---- the verb ---- */

static bool allowed(const Options *o, const FitMethod *method, int *status) {
    const char *option = o->rate != NULL && !method->batches                                         ? "--rate"
                         : o->batch > 0 && !method->batches                                          ? "--batch"
                         : (o->lower != NULL || o->upper != NULL) && !method->bounds                 ? "bounds"
                         : (o->constraints != NULL || o->equalities != NULL) && !method->constraints ? "constraints"
                                                                                                     : NULL;
    if (option == NULL) return true;
    *status = cli_complain(o, "the method %s takes no %s; `cotan fit --help` tells which do", method->name, option);
    return false;
}

/* A point to begin again from: anywhere within the bounds, or near the start. */
static void begin_again(Run *run, const double *start) {
    for (size_t i = 0; i < run->count; i++) {
        double u = cli_random(&run->random);
        bool bounded = run->lower != NULL && run->upper != NULL && isfinite(run->upper[i] - run->lower[i]);
        run->x[i] = bounded ? run->lower[i] + u * (run->upper[i] - run->lower[i])
                            : start[i] + (2 * u - 1) * (1 + fabs(start[i]));
    }
    cli_fit_run_project(run, run->x);
}

static bool may_begin_again(const Run *run) {
    return run->ending == CONVERGED || run->ending == NO_PROGRESS || run->ending == NOT_A_NUMBER ||
           run->ending == OUT_OF_STEPS;
}

/* Steps and ending are those of the descent that has found the best point, unless a limit has ended them all. */
static void descend(Run *run, const FitMethod *method, const double *start) {
    uint64_t least = run->steps, steps = least;
    Ending ending = GOES_ON;
    for (uint64_t k = 0; k == 0 || (k <= run->options->restarts && may_begin_again(run)); k++) {
        if (k > 0) begin_again(run, start);
        run->steps = least;
        run->improved = false;
        run->ending = run->steps < run->most_steps ? GOES_ON : OUT_OF_STEPS;
        if (run->ending == GOES_ON) method->descend(run);
        cli_fit_run_end(run);
        if (k > 0 && !run->improved) continue;
        ending = run->ending;
        steps = run->steps;
    }
    if (may_begin_again(run)) {
        run->ending = ending;
        run->steps = steps;
    }
    if (run->not_met != NULL && (run->ending == CONVERGED || run->ending == NO_PROGRESS)) run->ending = NOT_MET;
    if (run->draws) fputs("\r\033[K", stderr);
}

/* Tells where in the program a loss or gradient that is not a finite number arises. */
static void tell_place(const Run *run) {
    const Options *o = run->options;
    bool of_value = !isfinite(run->bad_value), infinite = of_value ? isinf(run->bad_value) : !run->bad_is_nan;
    const cotan_error *error = cli_fit_model_trap(run->model, run->bad, !of_value, infinite);
    if (error == NULL) return;
    if (!o->json && cotan_error_count(error) > 0 && strcmp(cotan_error_code(error, 0), "E0515") == 0) {
        char number[CLI_REAL];
        if (of_value)
            fprintf(stderr, "note: the loss is %s; the first such number arises here:\n",
                    cli_real(number, "%g", run->bad_value));
        else
            fprintf(stderr, "note: the gradient holds %s; the first such number arises here, in the derivative:\n",
                    run->bad_is_nan ? "NaN" : "an infinity");
    }
    cli_report(o, error);
}

static void tell_constraint(const Run *run) {
    char number[CLI_REAL];
    if (run->options->json) return;
    fprintf(stderr, "note: the constraint `%s` is not met: it is off by %s\n", run->not_met->name,
            cli_real(number, "%g", run->best_excess));
}

/* Value and gradient of all rows at the best point. */
static int finish(Run *run) {
    if (run->error != NULL) return cli_report(run->options, run->error);
    Ending ending = run->ending;
    bool wrong = ending == NOT_A_NUMBER || ending == INTERRUPTED || ending == FAILED || ending == NOT_MET;
    int status = wrong ? EXIT_PROGRAM : EXIT_DONE;
    if (ending == NOT_A_NUMBER) tell_place(run);
    if (run->not_met != NULL) tell_constraint(run);
    cotan_error *error = cli_fit_model_gradient(run->model, run->best, &run->best_value, run->gradient);
    if (error != NULL) return cli_report(run->options, error);
    run->norm = 0;
    for (size_t i = 0; i < run->count; i++) run->norm = cli_fit_run_larger(run->norm, run->gradient[i]);
    return status;
}

static int report(Run *run) {
    int status = finish(run), written;
    if (run->error != NULL) return status;
    double *errors = run->options->errors ? calloc(run->count, sizeof *errors) : NULL;
    if (errors != NULL && !standard_errors(run, errors, &written)) {
        free(errors);
        errors = NULL;
        if (status == EXIT_DONE) status = written;
    }
    int results[] = {print(run, errors), write_out(run), cli_fit_run_end_log(run), cli_fit_plot(run)};
    for (int i = 0; i < 4 && status == EXIT_DONE; i++) status = results[i];
    free(errors);
    return status;
}

static int fit(const Options *options, cotan_program *program, const FitMethod *method) {
    Model model;
    Run run = {0};
    int status = EXIT_USAGE;
    bool ready =
        cli_fit_model_make(&model, options, program, &status) &&
        (method->gradients || cli_fit_model_make_value(&model, &status)) &&
        (!(options->errors || method->descend == cli_fit_newton) || cli_fit_model_make_product(&model, &status)) &&
        cli_fit_model_make_curve(&model, &status) && cli_fit_run_make(&run, &model, &status);
    double *start = ready ? malloc(run.count * sizeof *start) : NULL;
    if (start != NULL) {
        cli_tell_engine(options, cotan_function_signature(model.gradient)->not_native);
        run.no_gradients = !method->gradients;
        memcpy(start, run.x, run.count * sizeof *start);
        descend(&run, method, start);
        int written = EXIT_DONE;
        if (options->checkpoint != NULL) cli_fit_checkpoint_write(&run, &written);
        status = report(&run);
        if (status == EXIT_DONE) status = written;
    } else if (ready) {
        status = cli_refuse(options, "E0801", "there is not enough memory");
    }
    free(start);
    cli_fit_run_free(&run);
    cli_fit_model_free(&model);
    return status;
}

int cli_verb_fit(const Options *options) {
    cotan_context *context;
    cotan_program *program;
    int status = EXIT_DONE;
    const FitMethod *method = cli_fit_method_find(options->descent);
    if (method == NULL)
        return cli_complain(options, "there is no method `%s`; `cotan fit --help` lists them", options->descent);
    if (options->out != NULL && !cli_ends_with(options->out, ".json") && !cli_ends_with(options->out, ".npz"))
        return cli_complain(options, "--out takes a file whose name ends in .json or .npz, not `%s`", options->out);
    if (!allowed(options, method, &status) || cli_reads_twice(options, options->start, options->data))
        return EXIT_USAGE;
    status = cli_load(options, &context, &program);
    if (status != EXIT_DONE) return status;
    cli_fit_run_listen(context);
    status = fit(options, program, method);
    cli_close_context(context);
    return status;
}
