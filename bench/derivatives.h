/* Derivatives written by hand, in plain C over arrays: what the methods are compared with. The functions and their
 * points are those of ladders.cot. */
#ifndef BENCH_DERIVATIVES_H
#define BENCH_DERIVATIVES_H

#include <stddef.h>

typedef struct Derivative {
    const char *name;
    size_t (*elements)(size_t n);     /* what costs are shared out over */
    size_t (*point_size)(size_t n);   /* numbers of the point or points */
    size_t (*results_size)(size_t n); /* numbers of the results */
    /* Writes the numbers of the point. */
    void (*make_point)(size_t n, double *point);
    /* Writes values and derivatives, in the order of NAME_results. */
    void (*derive)(size_t n, const double *restrict point, double *restrict results);
} Derivative;

/* NULL when there is none of that name. */
const Derivative *derivative_find(const char *name);

#endif
