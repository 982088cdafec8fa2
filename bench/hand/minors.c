/* The determinant by minors: bench/native/minors.cot. What flows down to a minor is known before it is expanded, so
 * that one recursion gives its value and adds up the gradient. */
#include "hand.h"

static void make(Subject *s, int64_t n, int64_t other) {
    (void)other;
    hand_item(s, true, 2, DIMS(n, n), -1, 1);
    s->results = (size_t)(1 + n * n), s->value_count = 1;
}

static double expand(const double *a, double *restrict da, int64_t n, int64_t i, unsigned columns, double g) {
    if (i == n) return 1;
    double value = 0, sign = 1;
    for (int64_t c = 0; c < n; c++) {
        if (!(columns >> c & 1)) continue;
        double minor = expand(a, da, n, i + 1, columns & ~(1u << c), g * sign * a[i * n + c]);
        value += sign * a[i * n + c] * minor;
        da[i * n + c] += g * sign * minor;
        sign = -sign;
    }
    return value;
}

static void gradient(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0];
    memset(results, 0, s->results * sizeof *results);
    results[0] = expand(s->items[0].data, results + 1, n, 0, (1u << n) - 1, 1);
}

/* Seven for each term of the expansion. */
static Work work(const Subject *s) {
    double n = (double)s->items[0].dims[0], terms = 0, level = 1;
    for (double rows = n; rows >= 1; rows--) terms += level *= rows;
    return (Work){.operations = 7 * terms};
}

const Subject minors_subject = {
    .name = "minors", .ranks = "02", .values = 1, .work = work, .make = make, .scalar = gradient};
