/* The likelihood of a mixture of Gaussians: bench/native/mixture.cot. */
#include "hand.h"
#include "lanes.h"

typedef struct Mixture {
    int64_t k, d, low, n;
    const double *alphas, *means, *logs, *lower, *xs;
    double *dalphas, *dmeans, *dlogs, *dlower;
    double *scales, *log_sums;
} Mixture;

static void make(Subject *s, int64_t d, int64_t n) {
    int64_t k = 25;
    hand_item(s, true, 1, DIMS(k), -1, 1);
    hand_item(s, true, 2, DIMS(k, d), -1, 1);
    hand_item(s, true, 2, DIMS(k, d), -0.5, 0.5);
    hand_item(s, true, 2, DIMS(k, d * (d - 1) / 2), -0.3, 0.3);
    hand_item(s, false, 2, DIMS(n, d), -2, 2);
    s->results = (size_t)(1 + k + 2 * k * d + k * (d * (d - 1) / 2)), s->value_count = 1;
}

static Mixture begin(const Subject *s, double *results) {
    Mixture m = {
        .k = s->items[1].dims[0], .d = s->items[1].dims[1], .low = s->items[3].dims[1], .n = s->items[4].dims[0]};
    m.alphas = s->items[0].data, m.means = s->items[1].data, m.logs = s->items[2].data, m.lower = s->items[3].data;
    m.xs = s->items[4].data;
    m.dalphas = results + 1, m.dmeans = m.dalphas + m.k, m.dlogs = m.dmeans + m.k * m.d, m.dlower = m.dlogs + m.k * m.d;
    memset(results, 0, s->results * sizeof *results);
    m.scales = malloc((size_t)(m.k * m.d + m.k) * sizeof(double));
    m.log_sums = m.scales + m.k * m.d;
    for (int64_t i = 0; i < m.k * m.d; i++) m.scales[i] = exp(m.logs[i]);
    for (int64_t k = 0; k < m.k; k++) {
        m.log_sums[k] = 0;
        for (int64_t j = 0; j < m.d; j++) m.log_sums[k] += m.logs[k * m.d + j];
    }
    return m;
}

/* −n log Σ exp α, and what the logarithms of diagonals get as scales. */
static double end(Mixture *m, const double *scale_adj, const double *log_sum_adj) {
    double most = m->alphas[0], sum = 0;
    for (int64_t k = 1; k < m->k; k++) most = m->alphas[k] > most ? m->alphas[k] : most;
    for (int64_t k = 0; k < m->k; k++) sum += exp(m->alphas[k] - most);
    for (int64_t k = 0; k < m->k; k++) {
        m->dalphas[k] = log_sum_adj[k] - (double)m->n * exp(m->alphas[k] - most) / sum;
        for (int64_t j = 0; j < m->d; j++)
            m->dlogs[k * m->d + j] = log_sum_adj[k] + scale_adj[k * m->d + j] * m->scales[k * m->d + j];
    }
    free(m->scales);
    return -(double)m->n * (most + log(sum));
}

static void scalar(const Subject *s, double *restrict results) {
    Mixture m = begin(s, results);
    int64_t K = m.k, d = m.d;
    double *work = calloc((size_t)(2 * K * d + 2 * K + K * d + K + d), sizeof(double));
    double *restrict v = work, *restrict q = v + K * d, *restrict terms = q + K * d, *restrict weights = terms + K;
    double *restrict scale_adj = weights + K, *restrict sum_adj = scale_adj + K * d, *restrict v_adj = sum_adj + K,
                     total = 0;
    for (int64_t i = 0; i < m.n; i++) {
        const double *x = m.xs + i * d;
        for (int64_t k = 0; k < K; k++) {
            const double *low = m.lower + k * m.low;
            double square = 0;
            for (int64_t r = 0; r < d; r++) v[k * d + r] = x[r] - m.means[k * d + r];
            for (int64_t r = 0; r < d; low += r, r++) {
                double product = m.scales[k * d + r] * v[k * d + r];
                for (int64_t c = 0; c < r; c++) product += low[c] * v[k * d + c];
                q[k * d + r] = product;
                square += product * product;
            }
            terms[k] = m.alphas[k] + m.log_sums[k] - 0.5 * square;
        }
        double most = terms[0], sum = 0;
        for (int64_t k = 1; k < K; k++) most = terms[k] > most ? terms[k] : most;
        for (int64_t k = 0; k < K; k++) sum += weights[k] = exp(terms[k] - most);
        total += most + log(sum);
        for (int64_t k = 0; k < K; k++) {
            double w = weights[k] / sum;
            const double *low = m.lower + k * m.low;
            double *restrict dlow = m.dlower + k * m.low;
            sum_adj[k] += w;
            memset(v_adj, 0, (size_t)d * sizeof *v_adj);
            for (int64_t r = 0; r < d; low += r, dlow += r, r++) {
                double g = -w * q[k * d + r];
                scale_adj[k * d + r] += g * v[k * d + r];
                v_adj[r] += g * m.scales[k * d + r];
                for (int64_t c = 0; c < r; c++) {
                    dlow[c] += g * v[k * d + c];
                    v_adj[c] += g * low[c];
                }
            }
            for (int64_t r = 0; r < d; r++) m.dmeans[k * d + r] -= v_adj[r];
        }
    }
    results[0] = total + end(&m, scale_adj, sum_adj);
    free(work);
}

/* LANES points at a time: accumulators are lanes too, and are added up at the end. */
static void lanes(const Subject *s, double *restrict results) {
    Mixture m = begin(s, results);
    int64_t K = m.k, d = m.d, i = 0, all_adj = K + 2 * K * d + K * m.low;
    Lanes *work = aligned_alloc(64, (size_t)(d + 2 * K * d + 2 * K + d + all_adj) * sizeof(Lanes));
    Lanes *restrict x = work, *restrict v = x + d, *restrict q = v + K * d, *restrict terms = q + K * d;
    Lanes *restrict weights = terms + K, *restrict v_adj = weights + K;
    Lanes *restrict sum_adj = v_adj + d, *restrict scale_adj = sum_adj + K, *restrict mean_adj = scale_adj + K * d;
    Lanes *restrict low_adj = mean_adj + K * d, totals = {0};
    memset(sum_adj, 0, (size_t)all_adj * sizeof(Lanes));
    for (; i + LANES <= m.n; i += LANES) {
        for (int64_t r = 0; r < d; r++) x[r] = column(m.xs + i * d + r, d);
        for (int64_t k = 0; k < K; k++) {
            const double *low = m.lower + k * m.low;
            Lanes square = {0};
            for (int64_t r = 0; r < d; r++) v[k * d + r] = x[r] - m.means[k * d + r];
            for (int64_t r = 0; r < d; low += r, r++) {
                Lanes product = m.scales[k * d + r] * v[k * d + r];
                for (int64_t c = 0; c < r; c++) product += low[c] * v[k * d + c];
                q[k * d + r] = product;
                square += product * product;
            }
            terms[k] = m.alphas[k] + m.log_sums[k] - 0.5 * square;
        }
        Lanes most = terms[0], sum = {0};
        for (int64_t k = 1; k < K; k++) most = choose(terms[k] > most, terms[k], most);
        for (int64_t k = 0; k < K; k++) sum += weights[k] = lanes_exp(terms[k] - most);
        totals += most + lanes_log(sum);
        Lanes part = 1 / sum;
        for (int64_t k = 0; k < K; k++) {
            Lanes w = weights[k] * part;
            const double *low = m.lower + k * m.low;
            Lanes *restrict dlow = low_adj + k * m.low;
            sum_adj[k] += w;
            for (int64_t r = 0; r < d; low += r, dlow += r, r++) {
                Lanes g = -w * q[k * d + r];
                scale_adj[k * d + r] += g * v[k * d + r];
                v_adj[r] = g * m.scales[k * d + r];
                for (int64_t c = 0; c < r; c++) {
                    dlow[c] += g * v[k * d + c];
                    v_adj[c] += g * low[c];
                }
            }
            for (int64_t r = 0; r < d; r++) mean_adj[k * d + r] -= v_adj[r];
        }
    }
    if (i < m.n) abort(); /* the points are a multiple of LANES */
    double *plain = malloc((size_t)(K + K * d) * sizeof(double));
    for (int64_t k = 0; k < K + K * d; k++) plain[k] = total(sum_adj[k]);
    for (int64_t j = 0; j < K * d; j++) m.dmeans[j] = total(mean_adj[j]);
    for (int64_t j = 0; j < K * m.low; j++) m.dlower[j] = total(low_adj[j]);
    results[0] = total(totals) + end(&m, plain + K, plain);
    free(plain);
    free(work);
}

/* For each point and component three products with a triangle, forward, and in reverse by the vector and by the
 * triangle. */
static Work work(const Subject *s) {
    double K = (double)s->items[1].dims[0], d = (double)s->items[1].dims[1], n = (double)s->items[4].dims[0];
    return (Work){.operations = n * K * (9 * d + 3 * d * (d - 1) + 8), .exponentials = n * (K + 1)};
}

const Subject mixture_subject = {
    .name = "mixture", .ranks = "01222", .values = 1, .work = work, .make = make, .scalar = scalar, .lanes = lanes};
