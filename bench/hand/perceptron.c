/* A perceptron on a batch: bench/native/perceptron.cot. The products of the scalar code are OpenBLAS's where that is
 * installed (HAND_BLAS), or loops that the compiler vectorises. */
#include "hand.h"
#include "product.h"

#ifdef HAND_BLAS
#include <cblas.h>
#endif

static void make(Subject *s, int64_t inputs, int64_t batch) {
    int64_t hidden = 128, classes = 10;
    hand_item(s, true, 2, DIMS(hidden, inputs), -0.05, 0.05);
    hand_item(s, true, 1, DIMS(hidden), -0.1, 0.1);
    hand_item(s, true, 2, DIMS(classes, hidden), -0.1, 0.1);
    hand_item(s, true, 1, DIMS(classes), -0.1, 0.1);
    hand_item(s, false, 2, DIMS(batch, inputs), 0, 1);
    double *labels = hand_item(s, false, 1, DIMS(batch), 0, 1);
    for (int64_t i = 0; i < batch; i++) labels[i] = (double)(i * 7 % classes);
    s->items[5].is_integer = true;
    s->results = (size_t)(1 + hidden * inputs + hidden + classes * hidden + classes), s->value_count = 1;
}

/* C += A B, C += A Bᵀ, C += Aᵀ B; C is m × n, and k is added over. */
#ifdef HAND_BLAS
static void product(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1, a, (int)k, b, (int)n, 1, c,
                (int)n);
}
static void product_turned(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c) {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)m, (int)n, (int)k, 1, a, (int)k, b, (int)k, 1, c, (int)n);
}
static void turned_product(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c) {
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)m, (int)n, (int)k, 1, a, (int)m, b, (int)n, 1, c, (int)n);
}
#else
/* Four rows of B at a time, so that C is not all that is read and written. */
static void add_rows(int64_t n, int64_t k, const double *a, int64_t stride, const double *b, double *restrict c) {
    int64_t p = 0;
    for (; p + 4 <= k; p += 4) {
        double x0 = a[p * stride], x1 = a[(p + 1) * stride], x2 = a[(p + 2) * stride], x3 = a[(p + 3) * stride];
        const double *b0 = b + p * n, *b1 = b0 + n, *b2 = b1 + n, *b3 = b2 + n;
        for (int64_t j = 0; j < n; j++) c[j] += x0 * b0[j] + x1 * b1[j] + x2 * b2[j] + x3 * b3[j];
    }
    for (; p < k; p++)
        for (int64_t j = 0; j < n; j++) c[j] += a[p * stride] * b[p * n + j];
}
static void product(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c) {
    for (int64_t i = 0; i < m; i++) add_rows(n, k, a + i * k, 1, b, c + i * n);
}
static void turned_product(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c) {
    for (int64_t i = 0; i < m; i++) add_rows(n, k, a + i, m, b, c + i * n);
}
static void product_turned(int64_t m, int64_t n, int64_t k, const double *a, const double *b, double *c) {
    double *turned = malloc((size_t)(n * k) * sizeof *turned);
    for (int64_t j = 0; j < n; j++)
        for (int64_t p = 0; p < k; p++) turned[p * n + j] = b[j * k + p];
    product(m, n, k, a, turned, c);
    free(turned);
}
#endif

static void scalar(const Subject *s, double *restrict results) {
    int64_t hidden = s->items[0].dims[0], inputs = s->items[0].dims[1], classes = s->items[2].dims[0];
    int64_t batch = s->items[4].dims[0];
    const double *w1 = s->items[0].data, *b1 = s->items[1].data, *w2 = s->items[2].data, *b2 = s->items[3].data;
    const double *images = s->items[4].data, *labels = s->items[5].data;
    double *dw1 = results + 1, *db1 = dw1 + hidden * inputs, *dw2 = db1 + hidden, *db2 = dw2 + classes * hidden,
           loss = 0;
    double *h = malloc((size_t)(batch * (2 * hidden + classes)) * sizeof *h), *h_adj = h + batch * hidden,
           *y = h_adj + batch * hidden;
    memset(results, 0, s->results * sizeof *results);
    memset(h_adj, 0, (size_t)(batch * hidden) * sizeof *h_adj);
    for (int64_t i = 0; i < batch; i++) {
        memcpy(h + i * hidden, b1, (size_t)hidden * sizeof *h);
        memcpy(y + i * classes, b2, (size_t)classes * sizeof *y);
    }
    product_turned(batch, hidden, inputs, images, w1, h);
    for (int64_t i = 0; i < batch * hidden; i++) h[i] = tanh(h[i]);
    product_turned(batch, classes, hidden, h, w2, y);
    for (int64_t i = 0; i < batch; i++) {
        double *row = y + i * classes, most = row[0], sum = 0;
        int64_t label = (int64_t)labels[i];
        for (int64_t j = 1; j < classes; j++) most = row[j] > most ? row[j] : most;
        loss -= row[label] - most;
        for (int64_t j = 0; j < classes; j++) sum += row[j] = exp(row[j] - most);
        loss += log(sum);
        for (int64_t j = 0; j < classes; j++) {
            row[j] = (row[j] / sum - (j == label ? 1 : 0)) / (double)batch;
            db2[j] += row[j];
        }
    }
    turned_product(classes, hidden, batch, y, h, dw2);
    product(batch, hidden, classes, y, w2, h_adj);
    for (int64_t i = 0; i < batch * hidden; i++) {
        h_adj[i] *= 1 - h[i] * h[i];
        db1[i % hidden] += h_adj[i];
    }
    turned_product(hidden, inputs, batch, h_adj, images, dw1);
    results[0] = loss / (double)batch;
    free(h);
}

/* The cross-entropy of a row of answers; in their place remains its derivative, times `part`. */
static double entropy(double *row, int64_t classes, int64_t label, double part) {
    double most = row[0], sum = 0, wanted = row[label];
    for (int64_t j = 1; j < classes; j++) most = row[j] > most ? row[j] : most;
    int64_t j = 0;
    Lanes sums = {0};
    for (; j + LANES <= classes; j += LANES) {
        Lanes x = lanes_exp(load(row + j) - most);
        store(row + j, x);
        sums += x;
    }
    if (j < classes) {
        Lanes x = all(-INFINITY);
        for (int64_t i = j; i < classes; i++) x[i - j] = row[i] - most;
        x = lanes_exp(x);
        sums += x;
        for (int64_t i = j; i < classes; i++) row[i] = x[i - j];
    }
    sum = total(sums);
    for (int64_t i = 0; i < classes; i++) row[i] *= part / sum;
    row[label] -= part;
    return most + log(sum) - wanted;
}

/* The units of the hidden layer are a multiple of LANES. */
static void lanes(const Subject *s, double *restrict results) {
    int64_t hidden = s->items[0].dims[0], inputs = s->items[0].dims[1], classes = s->items[2].dims[0];
    int64_t batch = s->items[4].dims[0];
    const double *w1 = s->items[0].data, *b1 = s->items[1].data, *w2 = s->items[2].data, *b2 = s->items[3].data;
    const double *images = s->items[4].data, *labels = s->items[5].data;
    double *dw1 = results + 1, *db1 = dw1 + hidden * inputs, *dw2 = db1 + hidden, *db2 = dw2 + classes * hidden,
           loss = 0;
    double *h = malloc((size_t)(batch * (2 * hidden + classes)) * sizeof *h), *h_adj = h + batch * hidden,
           *y = h_adj + batch * hidden;
    if (hidden % LANES != 0) abort();
    memset(results, 0, s->results * sizeof *results);
    memset(h_adj, 0, (size_t)(batch * hidden) * sizeof *h_adj);
    for (int64_t i = 0; i < batch; i++) {
        memcpy(h + i * hidden, b1, (size_t)hidden * sizeof *h);
        memcpy(y + i * classes, b2, (size_t)classes * sizeof *y);
    }
    add_product(batch, hidden, inputs, (Factor){images, inputs, 1}, (Factor){w1, 1, inputs}, h);
    for (int64_t i = 0; i < batch * hidden; i += LANES) store(h + i, lanes_tanh(load(h + i)));
    add_product(batch, classes, hidden, (Factor){h, hidden, 1}, (Factor){w2, 1, hidden}, y);
    for (int64_t i = 0; i < batch; i++) {
        loss += entropy(y + i * classes, classes, (int64_t)labels[i], 1 / (double)batch);
        for (int64_t j = 0; j < classes; j++) db2[j] += y[i * classes + j];
    }
    add_product(classes, hidden, batch, (Factor){y, 1, classes}, (Factor){h, hidden, 1}, dw2);
    add_product(batch, hidden, classes, (Factor){y, classes, 1}, (Factor){w2, hidden, 1}, h_adj);
    for (int64_t i = 0; i < batch; i++)
        for (int64_t j = 0; j < hidden; j += LANES) {
            Lanes x = load(h + i * hidden + j), g = load(h_adj + i * hidden + j) * (1 - x * x);
            store(h_adj + i * hidden + j, g);
            store(db1 + j, load(db1 + j) + g);
        }
    add_product(hidden, inputs, batch, (Factor){h_adj, 1, hidden}, (Factor){images, inputs, 1}, dw1);
    results[0] = loss / (double)batch;
    free(h);
}

/* Two large products of matrices, three small ones, and what is done for each element. */
static Work work(const Subject *s) {
    double hidden = (double)s->items[0].dims[0], inputs = (double)s->items[0].dims[1];
    double classes = (double)s->items[2].dims[0], batch = (double)s->items[4].dims[0];
    return (Work){.operations = batch * (4 * hidden * inputs + 6 * hidden * classes + 4 * hidden + 7 * classes),
                  .exponentials = batch * (hidden + classes + 1)};
}

const Subject perceptron_subject = {
    .name = "perceptron", .ranks = "02121", .values = 1, .work = work, .make = make, .scalar = scalar, .lanes = lanes};
