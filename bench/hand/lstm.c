/* A long short-term memory over a sequence: bench/native/lstm.cot. There is no outer map; the scalar code's products of
 * matrices and vectors are vectorised by the compiler, as they are written so that it can. */
#include "hand.h"
#include "product.h"

static void make(Subject *s, int64_t units, int64_t steps) {
    hand_item(s, true, 2, DIMS(4 * units, 2 * units), -0.5, 0.5);
    hand_item(s, true, 1, DIMS(4 * units), -0.5, 0.5);
    hand_item(s, false, 2, DIMS(steps, units), -1, 1);
    hand_item(s, false, 2, DIMS(steps, units), -1, 1);
    s->results = (size_t)(1 + 8 * units * units + 4 * units), s->value_count = 1;
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void scalar(const Subject *s, double *restrict results) {
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

static Lanes lanes_sigmoid(Lanes x) { return 1 / (1 + lanes_exp(-x)); }

/* y[j] += Σ over p of a[p][j] x[p], for a and y of a multiple of LANES columns, `columns`; a's rows are `stride` apart.
 */
static void add_rows(double *restrict y, const double *restrict a, int64_t stride, const double *restrict x,
                     int64_t rows, int64_t columns) {
    int64_t j = 0;
    enum { BLOCK = 8 };
    for (; j + BLOCK * LANES <= columns; j += BLOCK * LANES) {
        Lanes sums[BLOCK];
#pragma GCC unroll 8
        for (int b = 0; b < BLOCK; b++) sums[b] = load(y + j + b * LANES);
        for (int64_t p = 0; p < rows; p++)
#pragma GCC unroll 8
            for (int b = 0; b < BLOCK; b++) sums[b] += x[p] * load(a + p * stride + j + b * LANES);
#pragma GCC unroll 8
        for (int b = 0; b < BLOCK; b++) store(y + j + b * LANES, sums[b]);
    }
    /* too few columns for independent additions: four rows at a time */
    for (; j + 2 * LANES <= columns; j += 2 * LANES) {
        Lanes sums[4][2] = {{load(y + j), load(y + j + LANES)}};
        int64_t p = 0;
        for (; p + 4 <= rows; p += 4)
#pragma GCC unroll 4
            for (int q = 0; q < 4; q++) {
                const double *row = a + (p + q) * stride + j;
                sums[q][0] += x[p + q] * load(row);
                sums[q][1] += x[p + q] * load(row + LANES);
            }
        for (; p < rows; p++) {
            sums[0][0] += x[p] * load(a + p * stride + j);
            sums[0][1] += x[p] * load(a + p * stride + j + LANES);
        }
        store(y + j, (sums[0][0] + sums[1][0]) + (sums[2][0] + sums[3][0]));
        store(y + j + LANES, (sums[0][1] + sums[1][1]) + (sums[2][1] + sums[3][1]));
    }
    for (; j < columns; j += LANES) {
        Lanes sum = load(y + j);
        for (int64_t p = 0; p < rows; p++) sum += x[p] * load(a + p * stride + j);
        store(y + j, sum);
    }
}

/* What the inputs add to the gates of all steps is one product of matrices, as is the gradient by the weights; only
 * the products with the state are left to each step. The units are a multiple of LANES. */
static void lanes(const Subject *s, double *restrict results) {
    int64_t n = s->items[1].dims[0] / 4, steps = s->items[2].dims[0], wide = 2 * n, four = 4 * n;
    const double *weights = s->items[0].data, *bias = s->items[1].data, *inputs = s->items[2].data,
                 *wanted = s->items[3].data;
    double *dweights = results + 1, *dbias = dweights + four * wide;
    /* of each step: gates, later their sums' adjoints; what is seen, that is input and state; cells; their hyperbolic
     * tangents */
    double *gates =
        aligned_alloc(64, (size_t)(steps * (four + wide + 2 * n) + wide + n + four * n + 2 * n) * sizeof *gates);
    double *seen = gates + steps * four, *cells = seen + (steps + 1) * wide, *tanhs = cells + (steps + 1) * n;
    double *turned = tanhs + steps * n, *h_adj = turned + four * n, *c_adj = h_adj + n;
    Lanes loss = {0};
    if (n % LANES != 0) abort();
    memset(results, 0, s->results * sizeof *results);
    for (int64_t j = 0; j < four; j++)
        for (int64_t c = 0; c < n; c++) turned[c * four + j] = weights[j * wide + n + c];
    for (int64_t t = 0; t < steps; t++) {
        memcpy(seen + t * wide, inputs + t * n, (size_t)n * sizeof *seen);
        memcpy(gates + t * four, bias, (size_t)four * sizeof *gates);
    }
    for (int64_t t = 0; t < steps; t += 256)
        add_product(steps - t < 256 ? steps - t : 256, four, n, (Factor){inputs + t * n, n, 1},
                    (Factor){weights, 1, wide}, gates + t * four);
    memset(seen + n, 0, (size_t)n * sizeof *seen);
    memset(cells, 0, (size_t)n * sizeof *cells);
    for (int64_t t = 0; t < steps; t++) {
        double *g = gates + t * four, *state = seen + t * wide + n;
        add_rows(g, turned, four, state, n, four);
        for (int64_t j = 0; j < n; j += LANES) {
            Lanes f = lanes_sigmoid(load(g + j)), i = lanes_sigmoid(load(g + n + j));
            Lanes o = lanes_sigmoid(load(g + 2 * n + j)), c = lanes_tanh(load(g + 3 * n + j));
            Lanes cell = f * load(cells + t * n + j) + i * c, bent = lanes_tanh(cell), next = o * bent;
            Lanes off = next - load(wanted + t * n + j);
            store(g + j, f);
            store(g + n + j, i);
            store(g + 2 * n + j, o);
            store(g + 3 * n + j, c);
            store(cells + (t + 1) * n + j, cell);
            store(tanhs + t * n + j, bent);
            store(state + wide + j, next);
            loss += off * off;
        }
    }
    memset(h_adj, 0, (size_t)(2 * n) * sizeof *h_adj);
    for (int64_t t = steps; t-- > 0;) {
        double *g = gates + t * four;
        const double *behind = seen + (t + 1) * wide + n;
        for (int64_t j = 0; j < n; j += LANES) {
            Lanes f = load(g + j), i = load(g + n + j), o = load(g + 2 * n + j), c = load(g + 3 * n + j);
            Lanes bent = load(tanhs + t * n + j);
            Lanes by_state = load(h_adj + j) + 2 * (load(behind + j) - load(wanted + t * n + j));
            Lanes by_cell = load(c_adj + j) + by_state * o * (1 - bent * bent);
            Lanes sums[4] = {by_cell * load(cells + t * n + j) * f * (1 - f), by_cell * c * i * (1 - i),
                             by_state * bent * o * (1 - o), by_cell * i * (1 - c * c)};
            store(c_adj + j, by_cell * f);
            for (int k = 0; k < 4; k++) {
                store(g + k * n + j, sums[k]);
                store(dbias + k * n + j, load(dbias + k * n + j) + sums[k]);
            }
        }
        memset(h_adj, 0, (size_t)n * sizeof *h_adj);
        add_rows(h_adj, weights + n, wide, g, four, n);
    }
    add_product(four, wide, steps, (Factor){gates, 1, four}, (Factor){seen, wide, 1}, dweights);
    results[0] = total(loss);
    free(gates);
}

/* In each step a product of the weights with a vector, and two in reverse; five functions for each unit. */
static Work work(const Subject *s) {
    double n = (double)s->items[1].dims[0] / 4, steps = (double)s->items[2].dims[0];
    return (Work){.operations = steps * (48 * n * n + 42 * n), .exponentials = steps * 5 * n};
}

const Subject lstm_subject = {
    .name = "lstm", .ranks = "021", .values = 1, .work = work, .make = make, .scalar = scalar, .lanes = lanes};
