/* A long short-term memory over a sequence: bench/native/lstm.cot. There is no outer map; products of matrices and
 * vectors are vectorised by the compiler, as they are written so that it can. */
#include "hand.h"

static void make(Subject *s, int64_t units, int64_t steps) {
    hand_item(s, true, 2, DIMS(4 * units, 2 * units), -0.5, 0.5);
    hand_item(s, true, 1, DIMS(4 * units), -0.5, 0.5);
    hand_item(s, false, 2, DIMS(steps, units), -1, 1);
    hand_item(s, false, 2, DIMS(steps, units), -1, 1);
    s->results = (size_t)(1 + 8 * units * units + 4 * units), s->value_count = 1;
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void gradient(const Subject *s, double *restrict results) {
    int64_t n = s->items[1].dims[0] / 4, steps = s->items[2].dims[0], wide = 2 * n;
    const double *weights = s->items[0].data, *bias = s->items[1].data, *inputs = s->items[2].data,
                 *wanted = s->items[3].data;
    double *dweights = results + 1, *dbias = dweights + 4 * n * wide, loss = 0;
    /* of each step: gates, cell before and after, tanh of it, state behind */
    double *store = calloc((size_t)(steps * 8 * n + 2 * n), sizeof *store);
    double *seen = calloc((size_t)wide, sizeof *seen), *restrict turned =
                                                           calloc((size_t)(4 * n * wide), sizeof *turned);
    double *cell = store + steps * 8 * n, *state = cell + n;
    for (int64_t j = 0; j < 4 * n; j++)
        for (int64_t c = 0; c < wide; c++) turned[c * 4 * n + j] = weights[j * wide + c];
    for (int64_t t = 0; t < steps; t++) {
        double *restrict gates = store + t * 8 * n, *before = gates + 4 * n, *after = gates + 5 * n,
                         *tanhs = gates + 6 * n;
        double *behind = gates + 7 * n;
        memcpy(seen, inputs + t * n, (size_t)n * sizeof *seen);
        memcpy(seen + n, state, (size_t)n * sizeof *seen);
        memcpy(gates, bias, (size_t)(4 * n) * sizeof *gates);
        for (int64_t c = 0; c < wide; c++)
            for (int64_t j = 0; j < 4 * n; j++) gates[j] += turned[c * 4 * n + j] * seen[c];
        for (int64_t j = 0; j < 3 * n; j++) gates[j] = sigmoid(gates[j]);
        for (int64_t j = 3 * n; j < 4 * n; j++) gates[j] = tanh(gates[j]);
        for (int64_t j = 0; j < n; j++) {
            before[j] = cell[j];
            after[j] = gates[j] * cell[j] + gates[n + j] * gates[3 * n + j];
            tanhs[j] = tanh(after[j]);
            behind[j] = gates[2 * n + j] * tanhs[j];
            loss += (behind[j] - wanted[t * n + j]) * (behind[j] - wanted[t * n + j]);
        }
        cell = after, state = behind;
    }
    memset(dweights, 0, (size_t)(4 * n * wide + 4 * n) * sizeof *dweights);
    double *seen_adj = calloc((size_t)(wide + n + 4 * n), sizeof *seen_adj), *cell_adj = seen_adj + wide,
           *sum_adj = cell_adj + n;
    for (int64_t t = steps; t-- > 0;) {
        double *gates = store + t * 8 * n, *before = gates + 4 * n, *tanhs = gates + 6 * n, *behind = gates + 7 * n;
        memcpy(seen, inputs + t * n, (size_t)n * sizeof *seen);
        if (t > 0)
            memcpy(seen + n, gates - n, (size_t)n * sizeof *seen);
        else
            memset(seen + n, 0, (size_t)n * sizeof *seen);
        for (int64_t j = 0; j < n; j++) {
            double f = gates[j], i = gates[n + j], o = gates[2 * n + j], c = gates[3 * n + j];
            double h_adj = seen_adj[n + j] + 2 * (behind[j] - wanted[t * n + j]);
            double c_adj = cell_adj[j] + h_adj * o * (1 - tanhs[j] * tanhs[j]);
            sum_adj[j] = c_adj * before[j] * f * (1 - f);
            sum_adj[n + j] = c_adj * c * i * (1 - i);
            sum_adj[2 * n + j] = h_adj * tanhs[j] * o * (1 - o);
            sum_adj[3 * n + j] = c_adj * i * (1 - c * c);
            cell_adj[j] = c_adj * f;
        }
        memset(seen_adj, 0, (size_t)wide * sizeof *seen_adj);
        for (int64_t j = 0; j < 4 * n; j++) {
            const double *restrict row = weights + j * wide;
            double *restrict drow = dweights + j * wide, g = sum_adj[j];
            dbias[j] += g;
            for (int64_t c = 0; c < wide; c++) {
                drow[c] += g * seen[c];
                seen_adj[c] += g * row[c];
            }
        }
    }
    results[0] = loss;
    free(seen_adj);
    free(turned);
    free(seen);
    free(store);
}

/* In each step a product of the weights with a vector, and two in reverse; five functions for each unit. */
static Work work(const Subject *s) {
    double n = (double)s->items[1].dims[0] / 4, steps = (double)s->items[2].dims[0];
    return (Work){.operations = steps * (48 * n * n + 42 * n), .exponentials = steps * 5 * n};
}

const Subject lstm_subject = {
    .name = "lstm", .ranks = "021", .values = 1, .work = work, .make = make, .scalar = gradient};
