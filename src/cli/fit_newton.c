/* Newton's method with exact Hessians, made positive definite by a multiple of the identity where they are not, and a
 * line search by halves (Nocedal and Wright, 2006, Algorithms 3.1 to 3.3). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit.h"

typedef struct Newton {
    double *hessian, *factor, *direction, *next, *gradient;
} Newton;

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* direction ← −(H + λ I)⁻¹ g with the smallest λ of 0, λ₀, 2 λ₀, 4 λ₀ … that makes it positive definite. */
static bool solve(const Run *run, Newton *w) {
    size_t n = run->count;
    double size = 0, shift = 0;
    for (size_t i = 0; i < n; i++) size = fmax(size, fabs(w->hessian[i * n + i]));
    for (int tries = 0; tries < 60; tries++) {
        memcpy(w->factor, w->hessian, n * n * sizeof *w->factor);
        for (size_t i = 0; i < n; i++) w->factor[i * n + i] += shift;
        if (cli_fit_cholesky(w->factor, n, 0)) {
            for (size_t i = 0; i < n; i++) w->direction[i] = -run->gradient[i];
            cli_fit_cholesky_solve(w->factor, n, w->direction);
            return true;
        }
        shift = shift > 0 ? 2 * shift : fmax(1e-3 * size, 1e-8);
    }
    return false;
}

/* The first of x + t d, t = 1, ½, ¼, …, at which the value has decreased enough. */
static bool search(Run *run, Newton *w) {
    double slope = dot(run->gradient, w->direction, run->count);
    for (double t = 1; t > 1e-16; t /= 2) {
        double value;
        for (size_t i = 0; i < run->count; i++) w->next[i] = run->x[i] + t * w->direction[i];
        if (!cli_fit_run_evaluate(run, w->next, &value, w->gradient)) return false;
        if (!(value <= run->value + 1e-4 * t * slope)) continue;
        if (value == run->value) break;
        memcpy(run->x, w->next, run->count * sizeof *run->x);
        memcpy(run->gradient, w->gradient, run->count * sizeof *run->gradient);
        run->value = value;
        return true;
    }
    run->ending = NO_PROGRESS;
    return false;
}

static void descend(Run *run, Newton *w) {
    if (!cli_fit_run_evaluate(run, run->x, &run->value, run->gradient)) return;
    while (cli_fit_run_step(run)) {
        run->error = cli_fit_model_hessian(run->model, run->x, w->hessian);
        if (run->error != NULL) {
            run->ending = FAILED;
            return;
        }
        if (!solve(run, w)) {
            run->ending = NOT_A_NUMBER;
            return;
        }
        if (!search(run, w)) return;
    }
}

void cli_fit_newton(Run *run) {
    size_t n = run->count;
    Newton w = {malloc(n * n * sizeof(double)), malloc(n * n * sizeof(double)), malloc(n * sizeof(double)),
                malloc(n * sizeof(double)), malloc(n * sizeof(double))};
    if (w.hessian != NULL && w.factor != NULL && w.direction != NULL && w.next != NULL && w.gradient != NULL)
        descend(run, &w);
    else
        run->ending = NO_PROGRESS;
    free(w.hessian);
    free(w.factor);
    free(w.direction);
    free(w.next);
    free(w.gradient);
}
