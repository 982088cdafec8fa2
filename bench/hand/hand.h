/* Derivatives by hand, at their best, beside which bench/native.py sets those that Cotan compiles.
 *
 * A subject is a function with a point. Its parameters are items: numbers, vectors, matrices (row-major), all of
 * doubles but where integers are said. Its results are written one behind the other, in the order of Cotan's: arrays of
 * tuples as tuples of arrays. */
#ifndef HAND_H
#define HAND_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct Item {
    int rank;
    int64_t dims[3];
    double *data;
    bool active;     /* the derivative is for it */
    bool is_integer; /* in Cotan; whole doubles here */
} Item;

/* What a derivative by the same algorithm has to compute: additions and multiplications (a division or a root counts as
 * one), exponentials (logarithms and hyperbolic tangents count as such), and sines and cosines. */
typedef struct Work {
    double operations, exponentials, sines;
} Work;

typedef struct Subject {
    const char *name;
    const char
        *ranks; /* of the derivative's results: a digit each, the first `values` of which are the function's own */
    int values;
    void (*make)(struct Subject *, int64_t size, int64_t other);
    void (*scalar)(const struct Subject *, double *restrict results);
    void (*lanes)(const struct Subject *, double *restrict results); /* vectorised by hand; NULL: there is none */
    /* The derivative of Σ values[i]·(i % 7 + 1) along a direction, where results are not a number and then its
     * gradient. */
    double (*along)(const struct Subject *, const double *results, double *const *direction);
    Work (*work)(const struct Subject *);
    Item items[8];
    int count;
    size_t results;     /* numbers of them all */
    size_t value_count; /* of the values among them */
} Subject;

extern const Subject scalar_subject, dot_subject, matvec_subject, rotations_subject, sines_subject, logsumexp_subject,
    mixture_subject, bundle_subject, lstm_subject, minors_subject, kmeans_subject, perceptron_subject;

/* An item more, its numbers between lo and hi, without a pattern that matters and the same everywhere. */
double *hand_item(Subject *, bool active, int rank, const int64_t *dims, double lo, double hi);
static inline int64_t item_size(const Item *item) {
    int64_t size = 1;
    for (int i = 0; i < item->rank; i++) size *= item->dims[i];
    return size;
}
#define DIMS(...) ((const int64_t[]){__VA_ARGS__})

#endif
