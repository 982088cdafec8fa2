/* The cost of k-means, its gradient and the diagonal of its Hessian: bench/native/kmeans.cot. */
#include "hand.h"
#include "lanes.h"

enum { CENTRES = 10 };

static void make(Subject *s, int64_t d, int64_t n) {
    hand_item(s, false, 2, DIMS(n, d), -1, 1);
    hand_item(s, true, 2, DIMS(CENTRES, d), -1, 1);
    s->results = (size_t)(1 + 2 * CENTRES * d), s->value_count = 1;
}

static void begin(const Subject *s, double *results) { memset(results, 0, s->results * sizeof *results); }

/* Point x has centre k. */
static void add_point(const double *x, const double *centre, double *restrict gradient, int64_t d) {
    for (int64_t j = 0; j < d; j++) gradient[j] += 2 * (centre[j] - x[j]);
}

static void put_diagonal(const double *counts, double *diagonal, int64_t d) {
    for (int64_t k = 0; k < CENTRES; k++)
        for (int64_t j = 0; j < d; j++) diagonal[k * d + j] = 2 * counts[k];
}

static void scalar(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0], d = s->items[0].dims[1];
    const double *xs = s->items[0].data, *centres = s->items[1].data;
    double cost = 0, counts[CENTRES] = {0};
    begin(s, results);
    for (int64_t i = 0; i < n; i++) {
        const double *x = xs + i * d;
        double least = INFINITY;
        int64_t nearest = 0;
        for (int64_t k = 0; k < CENTRES; k++) {
            double distance = 0;
            for (int64_t j = 0; j < d; j++) distance += (x[j] - centres[k * d + j]) * (x[j] - centres[k * d + j]);
            if (distance < least) least = distance, nearest = k;
        }
        cost += least;
        counts[nearest]++;
        add_point(x, centres + nearest * d, results + 1 + nearest * d, d);
    }
    put_diagonal(counts, results + 1 + CENTRES * d, d);
    results[0] = cost;
}

static void lanes(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0], d = s->items[0].dims[1];
    const double *xs = s->items[0].data, *centres = s->items[1].data;
    double counts[CENTRES] = {0};
    Lanes costs = {0}, *x = aligned_alloc(64, (size_t)d * sizeof(Lanes));
    if (n % LANES != 0) abort();
    begin(s, results);
    for (int64_t i = 0; i < n; i += LANES) {
        for (int64_t j = 0; j < d; j++) x[j] = column(xs + i * d + j, d);
        Lanes least = all(INFINITY);
        Mask nearest = {0};
        for (int64_t k = 0; k < CENTRES; k++) {
            Lanes distance = {0};
            for (int64_t j = 0; j < d; j++) {
                Lanes difference = x[j] - centres[k * d + j];
                distance += difference * difference;
            }
            Mask closer = distance < least;
            least = choose(closer, distance, least);
            nearest = (closer & k) | (~closer & nearest);
        }
        costs += least;
        for (int lane = 0; lane < LANES; lane++) {
            int64_t k = nearest[lane];
            counts[k]++;
            add_point(xs + (i + lane) * d, centres + k * d, results + 1 + k * d, d);
        }
    }
    put_diagonal(counts, results + 1 + CENTRES * d, d);
    results[0] = total(costs);
    free(x);
}

/* All distances, and what is added to the nearest centre. */
static Work work(const Subject *s) {
    double n = (double)s->items[0].dims[0], d = (double)s->items[0].dims[1];
    return (Work){.operations = n * (CENTRES * (3 * d + 1) + 3 * d + 2)};
}

const Subject kmeans_subject = {
    .name = "kmeans", .ranks = "022", .values = 1, .work = work, .make = make, .scalar = scalar, .lanes = lanes};
