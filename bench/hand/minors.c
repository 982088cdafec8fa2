/* The determinant by minors: bench/native/minors.cot. What flows down to a minor is known before it is expanded, so
 * that one recursion gives its value and adds up the gradient. */
#include "hand.h"
#include "lanes.h"

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

static void scalar(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0];
    memset(results, 0, s->results * sizeof *results);
    results[0] = expand(s->items[0].data, results + 1, n, 0, (1u << n) - 1, 1);
}

/* A matrix in each lane, of which two rows at least are left. */
static Lanes expand_lanes(const Lanes *a, Lanes *restrict da, int n, int i, unsigned columns, Lanes g) {
    if (i == n - 2) {
        int c = __builtin_ctz(columns), d = __builtin_ctz(columns & (columns - 1));
        const Lanes *over = a + i * n, *under = over + n;
        da[i * n + c] += g * under[d];
        da[i * n + d] -= g * under[c];
        da[i * n + n + c] -= g * over[d];
        da[i * n + n + d] += g * over[c];
        return over[c] * under[d] - over[d] * under[c];
    }
    Lanes value = {0};
    for (unsigned left = columns; left != 0; left &= left - 1) {
        int place = i * n + __builtin_ctz(left);
        Lanes minor = expand_lanes(a, da, n, i + 1, columns & ~(left & -left), g * a[place]);
        value += a[place] * minor;
        da[place] += g * minor;
        g = -g, value = -value;
    }
    return __builtin_popcount(columns) % 2 == 0 ? value : -value;
}

/* The minors of as many elements of the first row at a time as there are lanes: each is another matrix, whose expansion
 * takes the same turns. */
static void lanes(const Subject *s, double *restrict results) {
    int n = (int)s->items[0].dims[0], m = n - 1;
    const double *a = s->items[0].data;
    double *da = results + 1;
    if (m < 2) abort();
    memset(results, 0, s->results * sizeof *results);
    Lanes *minor = aligned_alloc(64, (size_t)(2 * m * m) * sizeof(Lanes)), *minor_adj = minor + m * m;
    for (int first = 0; first < n; first += LANES) {
        Lanes g = {0};
        memset(minor, 0, (size_t)(2 * m * m) * sizeof(Lanes));
        for (int lane = 0; lane < LANES && first + lane < n; lane++) {
            int without = first + lane;
            g[lane] = without % 2 == 0 ? a[without] : -a[without];
            for (int i = 0; i < m; i++)
                for (int j = 0; j < m; j++) minor[i * m + j][lane] = a[(i + 1) * n + j + (j >= without)];
        }
        Lanes value = expand_lanes(minor, minor_adj, m, 0, (1u << m) - 1, g);
        results[0] += total(g * value);
        for (int lane = 0; lane < LANES && first + lane < n; lane++) {
            int without = first + lane;
            da[without] = without % 2 == 0 ? value[lane] : -value[lane];
            for (int i = 0; i < m; i++)
                for (int j = 0; j < m; j++) da[(i + 1) * n + j + (j >= without)] += minor_adj[i * m + j][lane];
        }
    }
    free(minor);
}

/* Seven for each term of the expansion. */
static Work work(const Subject *s) {
    double n = (double)s->items[0].dims[0], terms = 0, level = 1;
    for (double rows = n; rows >= 1; rows--) terms += level *= rows;
    return (Work){.operations = 7 * terms};
}

const Subject minors_subject = {
    .name = "minors", .ranks = "02", .values = 1, .work = work, .make = make, .scalar = scalar, .lanes = lanes};
