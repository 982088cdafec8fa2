/* The functions of DUAL's Table 1, Σ sin(x)·x and log Σ exp(x). Where the scalar loop is one that the compiler turns
 * into lanes, it is both. */
#include "hand.h"
#include "lanes.h"

/* ---- a multiplication at each of n points ---- */

static void scalar_make(Subject *s, int64_t n, int64_t other) {
    (void)other;
    hand_item(s, true, 1, DIMS(n), 0, 2);
    hand_item(s, true, 1, DIMS(n), 0, 2);
    s->results = 3 * (size_t)n, s->value_count = (size_t)n;
}

static void scalar(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0];
    const double *x = s->items[0].data, *y = s->items[1].data;
    double *restrict dx = results + n, *restrict dy = results + 2 * n;
    for (int64_t i = 0; i < n; i++) {
        results[i] = x[i] * y[i];
        dx[i] = y[i];
        dy[i] = x[i];
    }
}

static double scalar_along(const Subject *s, const double *results, double *const *direction) {
    int64_t n = s->items[0].dims[0];
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += (double)(i % 7 + 1) * (results[n + i] * direction[0][i] + results[2 * n + i] * direction[1][i]);
    return sum;
}

/* A product each; the derivatives are copies. */
static Work scalar_work(const Subject *s) {
    double n = (double)s->items[0].dims[0];
    return (Work){.operations = n};
}

const Subject scalar_subject = {.name = "scalar",
                                .ranks = "111",
                                .values = 1,
                                .work = scalar_work,
                                .make = scalar_make,
                                .scalar = scalar,
                                .along = scalar_along};

/* ---- the dot product ---- */

static void dot_make(Subject *s, int64_t n, int64_t other) {
    (void)other;
    hand_item(s, true, 1, DIMS(n), -1, 1);
    hand_item(s, true, 1, DIMS(n), -1, 1);
    s->results = 1 + 2 * (size_t)n, s->value_count = 1;
}

static void dot(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0];
    const double *x = s->items[0].data, *y = s->items[1].data;
    double *restrict dx = results + 1, *restrict dy = dx + n, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
        dx[i] = y[i];
        dy[i] = x[i];
    }
    results[0] = sum;
}

static void dot_lanes(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0], i = 0;
    const double *x = s->items[0].data, *y = s->items[1].data;
    double *restrict dx = results + 1, *restrict dy = dx + n;
    Lanes sum = {0};
    for (; i + LANES <= n; i += LANES) {
        Lanes a = load(x + i), b = load(y + i);
        sum += a * b;
        store(dx + i, b);
        store(dy + i, a);
    }
    results[0] = total(sum);
    for (; i < n; i++) {
        results[0] += x[i] * y[i];
        dx[i] = y[i];
        dy[i] = x[i];
    }
}

/* The value; the derivatives are copies. */
static Work dot_work(const Subject *s) {
    double n = (double)s->items[0].dims[0];
    return (Work){.operations = 2 * n};
}

const Subject dot_subject = {
    .name = "dot", .ranks = "011", .values = 1, .work = dot_work, .make = dot_make, .scalar = dot, .lanes = dot_lanes};

/* ---- the sum of a matrix times a vector ---- */

static void matvec_make(Subject *s, int64_t n, int64_t other) {
    (void)other;
    hand_item(s, true, 2, DIMS(n, n), -1, 1);
    hand_item(s, true, 1, DIMS(n), -1, 1);
    s->results = (size_t)(1 + n * n + n), s->value_count = 1;
}

static void matvec(const Subject *s, double *restrict results) {
    int64_t n = s->items[1].dims[0];
    const double *rows = s->items[0].data, *v = s->items[1].data;
    double *restrict drows = results + 1, *restrict dv = drows + n * n, sum = 0;
    memset(dv, 0, (size_t)n * sizeof *dv);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            sum += rows[i * n + j] * v[j];
            drows[i * n + j] = v[j];
            dv[j] += rows[i * n + j];
        }
    results[0] = sum;
}

static void matvec_lanes(const Subject *s, double *restrict results) {
    int64_t n = s->items[1].dims[0];
    const double *rows = s->items[0].data, *v = s->items[1].data;
    double *restrict drows = results + 1, *restrict dv = drows + n * n, sum = 0;
    memset(dv, 0, (size_t)n * sizeof *dv);
    for (int64_t i = 0; i < n; i++) {
        Lanes sums = {0};
        const double *row = rows + i * n;
        int64_t j = 0;
        memcpy(drows + i * n, v, (size_t)n * sizeof *v);
        for (; j + LANES <= n; j += LANES) {
            Lanes x = load(row + j);
            sums += x * load(v + j);
            store(dv + j, load(dv + j) + x);
        }
        sum += total(sums);
        for (; j < n; j++) {
            sum += row[j] * v[j];
            dv[j] += row[j];
        }
    }
    results[0] = sum;
}

/* The value, and the sum of the rows. */
static Work matvec_work(const Subject *s) {
    double n = (double)s->items[0].dims[0];
    return (Work){.operations = 3 * n * n};
}

const Subject matvec_subject = {.name = "matvec",
                                .ranks = "021",
                                .values = 1,
                                .work = matvec_work,
                                .make = matvec_make,
                                .scalar = matvec,
                                .lanes = matvec_lanes};

/* ---- the sum of n vectors rotated by quaternions ---- */

static void rotations_make(Subject *s, int64_t n, int64_t other) {
    (void)other;
    for (int i = 0; i < 7; i++) hand_item(s, true, 1, DIMS(n), -1, 1);
    s->results = 1 + 7 * (size_t)n, s->value_count = 1;
}

/* r = 2 (u·v) u + (s² − u·u) v + 2 s (u × v). For the cotangent g = (1, 1, 1) of r:
 *   dv = 2 (g·u) u + (s² − u·u) g + 2 s (g × u)
 *   du = 2 (g·u) v + 2 (u·v) g − 2 (g·v) u + 2 s (v × g)
 *   ds = 2 s (g·v) + 2 g·(u × v) */
#define ROTATE(NUMBER, GET, PUT, SUM)                                                                                  \
    NUMBER vx = GET(0), vy = GET(1), vz = GET(2), ux = GET(3), uy = GET(4), uz = GET(5), q = GET(6);                   \
    NUMBER uv = 2 * (ux * vx + uy * vy + uz * vz), middle = q * q - (ux * ux + uy * uy + uz * uz);                     \
    NUMBER gu = 2 * (ux + uy + uz), gv = vx + vy + vz, twice = 2 * q;                                                  \
    NUMBER cross = (uy * vz - uz * vy) + (uz * vx - ux * vz) + (ux * vy - uy * vx);                                    \
    SUM += uv * (ux + uy + uz) + middle * gv + twice * cross;                                                          \
    PUT(0, gu *ux + middle + twice * (uz - uy));                                                                       \
    PUT(1, gu *uy + middle + twice * (ux - uz));                                                                       \
    PUT(2, gu *uz + middle + twice * (uy - ux));                                                                       \
    PUT(3, gu *vx + uv - 2 * gv * ux + twice * (vy - vz));                                                             \
    PUT(4, gu *vy + uv - 2 * gv * uy + twice * (vz - vx));                                                             \
    PUT(5, gu *vz + uv - 2 * gv * uz + twice * (vx - vy));                                                             \
    PUT(6, twice *gv + 2 * cross);

#define GET_ONE(k)      s->items[k].data[i]
#define PUT_ONE(k, e)   results[1 + (k)*n + i] = (e)
#define GET_LANES(k)    load(s->items[k].data + i)
#define PUT_LANES(k, e) store(results + 1 + (k)*n + i, (e))

static void rotations(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0];
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        ROTATE(double, GET_ONE, PUT_ONE, sum)
    }
    results[0] = sum;
}

static void rotations_lanes(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0], i = 0;
    Lanes sums = {0};
    for (; i + LANES <= n; i += LANES) {
        ROTATE(Lanes, GET_LANES, PUT_LANES, sums)
    }
    double sum = total(sums);
    for (; i < n; i++) {
        ROTATE(double, GET_ONE, PUT_ONE, sum)
    }
    results[0] = sum;
}

/* As many as ROTATE has. */
static Work rotations_work(const Subject *s) {
    double n = (double)s->items[0].dims[0];
    return (Work){.operations = 76 * n};
}

const Subject rotations_subject = {.name = "rotations",
                                   .ranks = "01111111",
                                   .values = 1,
                                   .work = rotations_work,
                                   .make = rotations_make,
                                   .scalar = rotations,
                                   .lanes = rotations_lanes};

/* ---- Σ sin(x)·x ---- */

static void vector_make(Subject *s, int64_t n, int64_t other) {
    (void)other;
    hand_item(s, true, 1, DIMS(n), -3, 3);
    s->results = 1 + (size_t)n, s->value_count = 1;
}

static void sines(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0];
    const double *x = s->items[0].data;
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        double sine = sin(x[i]);
        sum += sine * x[i];
        results[1 + i] = cos(x[i]) * x[i] + sine;
    }
    results[0] = sum;
}

static void sines_lanes(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0], i = 0;
    const double *x = s->items[0].data;
    Lanes sums = {0};
    for (; i + LANES <= n; i += LANES) {
        Lanes v = load(x + i), sine = lanes_sin(v);
        sums += sine * v;
        store(results + 1 + i, lanes_cos(v) * v + sine);
    }
    double sum = total(sums);
    for (; i < n; i++) {
        sum += sin(x[i]) * x[i];
        results[1 + i] = cos(x[i]) * x[i] + sin(x[i]);
    }
    results[0] = sum;
}

/* A sine and a cosine each; two products and two sums. */
static Work sines_work(const Subject *s) {
    double n = (double)s->items[0].dims[0];
    return (Work){.operations = 4 * n, .sines = 2 * n};
}

const Subject sines_subject = {.name = "sines",
                               .ranks = "01",
                               .values = 1,
                               .work = sines_work,
                               .make = vector_make,
                               .scalar = sines,
                               .lanes = sines_lanes};

/* ---- log Σ exp(x) ---- */

static double largest(const double *x, int64_t n) {
    double m = x[0];
    for (int64_t i = 1; i < n; i++) m = x[i] > m ? x[i] : m;
    return m;
}

static void logsumexp(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0];
    const double *x = s->items[0].data;
    double m = largest(x, n), sum = 0;
    for (int64_t i = 0; i < n; i++) {
        results[1 + i] = exp(x[i] - m);
        sum += results[1 + i];
    }
    for (int64_t i = 0; i < n; i++) results[1 + i] /= sum;
    results[0] = m + log(sum);
}

static void logsumexp_lanes(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0], i = 0;
    const double *x = s->items[0].data;
    Lanes most = all(x[0]), sums = {0};
    for (; i + LANES <= n; i += LANES) most = choose(load(x + i) > most, load(x + i), most);
    double m = most[0], sum = 0;
    for (int l = 1; l < LANES; l++) m = most[l] > m ? most[l] : m;
    for (; i < n; i++) m = x[i] > m ? x[i] : m;
    for (i = 0; i + LANES <= n; i += LANES) {
        Lanes e = lanes_exp(load(x + i) - m);
        sums += e;
        store(results + 1 + i, e);
    }
    sum = total(sums);
    for (; i < n; i++) {
        results[1 + i] = exp(x[i] - m);
        sum += results[1 + i];
    }
    double part = 1 / sum;
    for (i = 0; i < n; i++) results[1 + i] *= part;
    results[0] = m + log(sum);
}

/* For each the maximum, a difference, the sum and a product. */
static Work logsumexp_work(const Subject *s) {
    double n = (double)s->items[0].dims[0];
    return (Work){.operations = 4 * n, .exponentials = n};
}

const Subject logsumexp_subject = {.name = "logsumexp",
                                   .ranks = "01",
                                   .values = 1,
                                   .work = logsumexp_work,
                                   .make = vector_make,
                                   .scalar = logsumexp,
                                   .lanes = logsumexp_lanes};
