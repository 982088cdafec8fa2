/* cotan fit: minimises a loss over its first argument, the parameters, at data that are its other arguments. */
#ifndef CT_CLI_FIT_H
#define CT_CLI_FIT_H

#include <stdint.h>

#include "cli/cli.h"

/* ---- fit_model.c: the loss as a function of a vector ---- */

/* The loss and its gradient as compiled functions on buffers. The parameters' real numbers, from left to right, are a
 * vector of `count` numbers; everything else in the parameters stays as it was at the start. */
typedef struct Model {
    const Options *options;
    cotan_program *program;
    const char *loss;                                       /* its name */
    size_t arity;                                           /* parameters of the loss: 1 and the data's */
    char **names;                                           /* their names, "" where there is none */
    cotan_function *parameters, *data, *gradient, *product; /* data NULL: there are none */
    cotan_function *value;                                  /* without the gradient; NULL until it is needed */
    cotan_function *curve;                                  /* of --plot-model; NULL: none */
    size_t parameter_slots, data_slots;
    cotan_buffer *in;   /* of `gradient`: the parameters' buffers, then the data's, of all rows or of a batch */
    cotan_buffer *all;  /* the data's buffers with all rows; the model's own copies */
    cotan_buffer *out;  /* of `gradient`: the value, then the gradient */
    cotan_buffer *kept; /* the parameters' buffers, the model's own */
    size_t count;       /* of real numbers in the parameters */
    size_t rows;        /* the length of the data's arrays; 0: it is not the same for all, or there are none */
} Model;

/* Makes the functions and reads --start. False after reporting an error, with the exit status in *status. Free it in
 * either case. */
bool cli_fit_model_make(Model *model, const Options *options, cotan_program *program, int *status);
void cli_fit_model_free(Model *model);
/* A function made of a form, a text in which %L, %D, %T and %E stand for the loss, its data as arguments, the data as a
 * tuple, and another expression. NULL after reporting an error. */
cotan_function *cli_fit_model_function(Model *model, const char *form, const char *other, bool native, int *status);
/* Makes what a method without gradients needs. False after reporting an error. */
bool cli_fit_model_make_value(Model *model, int *status);
/* Value and gradient at x, of `count` numbers each; gradient may be NULL. Returns NULL, or an error of the API. */
cotan_error *cli_fit_model_gradient(Model *model, const double *x, double *value, double *gradient);
/* Runs the evaluator at x, for value or gradient, up to the operation that makes the first NaN, or with `infinite` the
 * first infinity: the error E0515 with its place. NULL when there is none. */
cotan_error *cli_fit_model_trap(Model *model, const double *x, bool gradient, bool infinite);
/* Makes what Hessians need. False after reporting an error. */
bool cli_fit_model_make_product(Model *model, int *status);
/* The Hessian of the loss at x, row-major, symmetric; NaNs where there is not enough memory. */
cotan_error *cli_fit_model_hessian(Model *model, const double *x, double *hessian);
/* Makes the function of --plot-model, if there is one. False after reporting an error. */
bool cli_fit_model_make_curve(Model *model, int *status);
/* What it gives at x for all rows: arrays of x, observed and predicted, of `count` numbers each. They live until the
 * next call. */
cotan_error *cli_fit_model_curve(Model *model, const double *x, const double *columns[3], size_t *count);
/* The real numbers in buffers of the parameters' type; and from such numbers to the buffers model->kept. */
void cli_fit_model_collect(const Model *model, const cotan_buffer *from, double *x);
void cli_fit_model_write(const Model *model, const double *x);
/* The parameters with these numbers as texts, and as a file. */
cotan_error *cli_fit_model_show(Model *model, const double *x, cotan_form form, cotan_result *out);
/* Rows `chosen[0]`, … of the data in place of all; count 0: all. */
void cli_fit_model_choose(Model *model, const size_t *chosen, size_t count);
/* The numbers of a constant of the program of the parameters' type (bounds). False after reporting an error. */
bool cli_fit_model_constant(Model *model, const char *name, double *x, int *status);

/* ---- fit_data.c: --data ---- */

/* Reads --data into model->all. */
bool cli_fit_data_read(Model *model, int *status);

/* ---- fit_constraints.c: --constraint and --equality ---- */

/* Functions of the parameters whose numbers must not be positive, or must be 0. */
typedef struct Constraint {
    Model *model;
    char *name;
    cotan_function *value, *pullback;
    size_t count; /* of its numbers */
    bool equality;
    struct Run *run;
} Constraint;

/* Makes the functions and counts the numbers; name is the constraint's then. False after reporting an error. */
bool cli_fit_constraint_make(Constraint *constraint, Model *model, char *name, bool equality, int *status);
/* The numbers at x, and, unless NULL, their Jacobian, a row for each number. */
cotan_error *cli_fit_constraint_at(const Constraint *constraint, const double *x, double *values, double *jacobian);
/* The largest number at x that is not as it must be, beyond the tolerance and what 1e-6 of each parameter changes;
 * 0: the constraint is met there, to that. */
cotan_error *cli_fit_constraint_excess(const Constraint *constraint, const double *x, double tolerance, double *excess);

/* ---- fit_run.c: what all methods share ---- */

typedef enum Ending {
    GOES_ON,
    CONVERGED,   /* the gradient's largest number, or the change of the loss, is below the tolerance */
    NO_PROGRESS, /* rounding errors hide any further decrease */
    OUT_OF_STEPS,
    OUT_OF_TIME,
    INTERRUPTED,
    NOT_MET,      /* it has ended, at a point that does not meet the constraints */
    NOT_A_NUMBER, /* the loss, or its gradient, at a point that the method cannot go around */
    FAILED,       /* the program has failed: run->error */
} Ending;

enum { MOST_CONSTRAINTS = 16 };

/* A descent: its best point so far, and why it ends. */
typedef struct Run {
    Model *model;
    const Options *options;
    size_t count;                   /* of numbers */
    double *x, *gradient;           /* the current point and the gradient there */
    double *bad, bad_value;         /* of NOT_A_NUMBER: the point and its value, NaN or infinite, or the gradient is */
    bool bad_is_nan;                /* the gradient there holds a NaN */
    double *best, *lower, *upper;   /* lower, upper: NULL without bounds */
    double value, best_value, norm; /* norm: the largest |gradient| */
    double best_excess;        /* by which the best point does not meet the constraint `not_met`; 0: it meets all */
    const Constraint *not_met; /* NULL: none */
    /* whether the best point is found among the last of the descents, and not of all steps: the value of a batch says
     * little of the whole, and a step need not meet the constraints; and whether a descent has ended so far */
    bool by_ends, ended;
    bool improved;     /* the best point is of this descent */
    bool no_gradients; /* the method has none: norm is NaN */
    uint64_t steps, most_steps, evaluations;
    double started, limit, told; /* seconds; limit 0: none */
    double tolerance, rate;
    uint64_t random, batch;
    Constraint constraints[MOST_CONSTRAINTS];
    int constraint_count;
    FILE *log, *plot; /* plot: the value of each step, for gnuplot; NULL unless asked for */
    char *plotted;    /* what plot has written, behind a flush */
    size_t plotted_size;
    bool draws; /* progress on a terminal */
    Ending ending;
    cotan_error *error;
} Run;

/* Reads the options, the bounds and the checkpoint. False after reporting an error; free it in either case. */
bool cli_fit_run_make(Run *run, Model *model, int *status);
void cli_fit_run_free(Run *run);
/* Ends the log, which may have failed only now, as on a full device; returns the exit status. */
int cli_fit_run_end_log(Run *run);
/* Value and gradient (may be NULL) at x. False when the descent must end: run->ending says why. A value that is no
 * number does not end it. */
bool cli_fit_run_evaluate(Run *run, const double *x, double *value, double *gradient);
/* Ends a step at run->x with run->value and run->gradient: keeps the best point, logs, shows, stops where it has to.
 * False when the descent ends. */
bool cli_fit_run_step(Run *run);
/* Ends a descent: compares its last point with those of others, where steps do not tell which point is best. */
void cli_fit_run_end(Run *run);
/* The larger of a norm so far and |g|; NaN, which is no number to compare with, once either is. */
double cli_fit_run_larger(double norm, double g);
/* x within the bounds. */
void cli_fit_run_project(const Run *run, double *x);
/* Lets Ctrl-C end a descent in this context instead of the command. */
void cli_fit_run_listen(cotan_context *context);

/* ---- fit_checkpoint.c: --checkpoint; fit_plot.c: --plot ---- */

/* Writes the point and the counts to a file, whole or not at all; reads them, if the file exists. False after reporting
 * an error. */
bool cli_fit_checkpoint_write(const Run *run, int *status);
bool cli_fit_checkpoint_read(Run *run, int *status);
/* Draws run->plotted, and data and model, to --plot; returns the exit status. */
int cli_fit_plot(Run *run);

/* ---- fit_methods.c, fit_stochastic.c, fit_newton.c, fit_nlopt.c ---- */

typedef struct FitMethod {
    const char *name, *what;
    bool batches, bounds, constraints; /* whether it takes --batch, --lower and --upper, --constraint and --equality */
    bool gradients;                    /* whether it looks at gradients */
    void (*descend)(Run *run);         /* from run->x on, until run->ending is set */
} FitMethod;

/* NULL when there is none of this name; the first of all for NULL. */
const FitMethod *cli_fit_method_find(const char *name);

void cli_fit_sgd(Run *run);
void cli_fit_adam(Run *run);
void cli_fit_newton(Run *run);
void cli_fit_lbfgs(Run *run);
void cli_fit_slsqp(Run *run);
void cli_fit_nelder_mead(Run *run);

/* ---- fit_cholesky.c ---- */

/* The factor L of a symmetric matrix L·Lᵀ, row-major, in place of its lower triangle; false when the matrix is not
 * positive definite: a pivot is not above 0, or not above `least` times the number of the diagonal that it is left of.
 */
bool cli_fit_cholesky(double *matrix, size_t n, double least);
/* Solves L·Lᵀ·y = x in place. */
void cli_fit_cholesky_solve(const double *factor, size_t n, double *x);

#endif
