/* Cholesky's factorisation of small symmetric matrices. */
#include <math.h>

#include "cli/fit.h"

bool cli_fit_cholesky(double *a, size_t n, double least) {
    for (size_t j = 0; j < n; j++) {
        double diagonal = a[j * n + j];
        for (size_t i = j; i < n; i++) {
            double sum = a[i * n + j];
            for (size_t k = 0; k < j; k++) sum -= a[i * n + k] * a[j * n + k];
            if (i == j && !(sum > least * diagonal && sum > 0)) return false;
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    }
    return true;
}

void cli_fit_cholesky_solve(const double *l, size_t n, double *x) {
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++) x[i] -= l[i * n + k] * x[k];
        x[i] /= l[i * n + i];
    }
    for (size_t i = n; i-- > 0;) {
        for (size_t k = i + 1; k < n; k++) x[i] -= l[k * n + i] * x[k];
        x[i] /= l[i * n + i];
    }
}
