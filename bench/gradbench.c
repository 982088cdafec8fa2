/* The functions of GradBench's evals, by hand in C, as one would write them: bench/gradbench.py sets them beside what
 * Cotan compiles. One thread, no vector types, no derivatives.
 *
 *   gradbench EVAL FILE SECONDS SIZE…
 *
 * FILE holds the numbers of the input, doubles one behind the other, in the order in which the function of the eval
 * reads them. It prints the time of each run in nanoseconds, for as long as SECONDS, and then the numbers of the
 * result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Input {
    long size[6];
    const double *numbers;
} Input;

static double square(double x) { return x * x; }

static double logsumexp(long n, const double *x) {
    double largest = x[0], sum = 0;
    for (long i = 1; i < n; i++) largest = x[i] > largest ? x[i] : largest;
    for (long i = 0; i < n; i++) sum += exp(x[i] - largest);
    return largest + log(sum);
}

static double *numbers(long n) { return malloc((size_t)(n + 1) * sizeof(double)); }

/* ---- small ones. Each writes its result, and returns how many numbers that has. ---- */

/* sizes: coefficients, places */
static long llsq(const Input *in, double *out) {
    long m = in->size[0], n = in->size[1];
    double sum = 0;
    for (long i = 0; i < n; i++) {
        double t = -1 + (double)i * 2 / (double)(n - 1), power = 1, residual = (t > 0) - (t < 0);
        for (long j = 0; j < m; j++) {
            residual -= in->numbers[j] * power;
            power *= t;
        }
        sum += residual * residual;
    }
    *out = sum / 2;
    return 1;
}

/* size: numbers */
static long lse(const Input *in, double *out) {
    *out = logsumexp(in->size[0], in->numbers);
    return 1;
}

/* The columns that are left are a list: after[c] is the column behind c, and after[side] the first. */
static double minors(long side, const double *a, long row, long *after) {
    if (row == side - 1) return a[row * side + after[side]];
    double sum = 0, sign = 1;
    for (long before = side, c = after[side]; c != -1; before = c, c = after[c], sign = -sign) {
        after[before] = after[c];
        sum += sign * a[row * side + c] * minors(side, a, row + 1, after);
        after[before] = c;
    }
    return sum;
}

/* size: side */
static long det(const Input *in, double *out) {
    long side = in->size[0], after[64];
    for (long c = 0; c < side; c++) after[c] = c + 1 < side ? c + 1 : -1;
    after[side] = 0;
    *out = minors(side, in->numbers, 0, after);
    return 1;
}

static void slope(long n, const double *restrict x, const double *restrict y, double *restrict k) {
    k[0] = x[0];
    for (long i = 1; i < n; i++) k[i] = x[i] * y[i - 1];
}

static void move(long n, double h, const double *restrict k, const double *restrict y, double *restrict to) {
    for (long i = 0; i < n; i++) to[i] = y[i] + h * k[i];
}

/* sizes: numbers, steps */
static long ode(const Input *in, double *restrict y) {
    long n = in->size[0], steps = in->size[1];
    const double *x = in->numbers;
    double *k1 = numbers(n), *k2 = numbers(n), *k3 = numbers(n), *k4 = numbers(n), *z = numbers(n);
    double h = 2 / (double)steps;
    memset(y, 0, (size_t)n * sizeof *y);
    for (long step = 0; step < steps; step++) {
        slope(n, x, y, k1);
        move(n, h / 2, k1, y, z);
        slope(n, x, z, k2);
        move(n, h / 2, k2, y, z);
        slope(n, x, z, k3);
        move(n, h, k3, y, z);
        slope(n, x, z, k4);
        for (long i = 0; i < n; i++) y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
    }
    free(k1), free(k2), free(k3), free(k4), free(z);
    return n;
}

/* sizes: points, centroids, dimensions */
static long kmeans(const Input *in, double *out) {
    long n = in->size[0], k = in->size[1], d = in->size[2];
    const double *points = in->numbers, *centroids = points + n * d;
    double sum = 0;
    for (long i = 0; i < n; i++) {
        double least = INFINITY;
        for (long j = 0; j < k; j++) {
            double distance = 0;
            for (long c = 0; c < d; c++) distance += square(points[i * d + c] - centroids[j * d + c]);
            if (distance < least) least = distance;
        }
        sum += least;
    }
    *out = sum;
    return 1;
}

/* ---- mixtures ---- */

/* |Q v|², where Q has exp q on the diagonal and l below it, column by column. */
static double form(long d, const double *restrict scales, const double *restrict l, const double *restrict v,
                   double *restrict to) {
    double sum = 0;
    for (long r = 0; r < d; r++) to[r] = scales[r] * v[r];
    for (long c = 0; c < d; c++)
        for (long r = c + 1; r < d; r++) to[r] += *l++ * v[c];
    for (long r = 0; r < d; r++) sum += to[r] * to[r];
    return sum;
}

/* sizes: d, k, n; numbers: x, alpha, mu, q, l. m = 0, gamma = 1. */
static long gmm(const Input *in, double *out) {
    long d = in->size[0], k = in->size[1], n = in->size[2], below = d * (d - 1) / 2;
    const double *x = in->numbers, *alpha = x + n * d, *mu = alpha + k, *q = mu + k * d, *l = q + k * d;
    double *scales = numbers(k * d), *sums = numbers(k), *terms = numbers(k), *v = numbers(d), *to = numbers(d);
    double total = 0, squares = 0, nu = (double)d + 1, gamma = (double)(d * (d - 1)) / 4 * log(M_PI);
    for (long j = 0; j < k; j++) {
        sums[j] = 0;
        for (long c = 0; c < d; c++) {
            scales[j * d + c] = exp(q[j * d + c]);
            sums[j] += q[j * d + c];
        }
    }
    for (long i = 0; i < n; i++) {
        for (long j = 0; j < k; j++) {
            for (long c = 0; c < d; c++) v[c] = x[i * d + c] - mu[j * d + c];
            terms[j] = alpha[j] + sums[j] - 0.5 * form(d, scales + j * d, l + j * below, v, to);
        }
        total += logsumexp(k, terms);
    }
    for (long i = 0; i < k * d; i++) squares += square(scales[i]);
    for (long i = 0; i < k * below; i++) squares += square(l[i]);
    for (long j = 0; j < d; j++) gamma += lgamma(nu / 2 - (double)j / 2);
    total -= (double)n * ((double)d / 2 * log(2 * M_PI) + logsumexp(k, alpha));
    *out = total + (double)k * (nu * (double)d * log(1 / sqrt(2)) - gamma) - squares / 2;
    free(scales), free(sums), free(terms), free(v), free(to);
    return 1;
}

/* ---- long short-term memories ---- */

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void layer(long b, const double *restrict w, const double *restrict bias, const double *input, double *hidden,
                  double *restrict cell) {
    for (long i = 0; i < b; i++) {
        double forget = sigmoid(input[i] * w[i] + bias[i]), in = sigmoid(hidden[i] * w[b + i] + bias[b + i]);
        double out = sigmoid(input[i] * w[2 * b + i] + bias[2 * b + i]);
        double change = tanh(hidden[i] * w[3 * b + i] + bias[3 * b + i]);
        cell[i] = cell[i] * forget + in * change;
        hidden[i] = out * tanh(cell[i]);
    }
}

/* sizes: layers, characters, bits; numbers: main, extra, state, sequence */
static long lstm(const Input *in, double *out) {
    long layers = in->size[0], characters = in->size[1], b = in->size[2];
    const double *main = in->numbers, *extra = main + layers * 8 * b, *start = extra + 3 * b;
    const double *sequence = start + layers * 2 * b;
    double *state = numbers(layers * 2 * b), *x = numbers(b), total = 0;
    memcpy(state, start, (size_t)(layers * 2 * b) * sizeof(double));
    for (long t = 0; t + 1 < characters; t++) {
        const double *input = x;
        double sum = 2;
        for (long i = 0; i < b; i++) x[i] = sequence[t * b + i] * extra[i];
        for (long j = 0; j < layers; j++) {
            double *hidden = state + 2 * j * b;
            layer(b, main + 8 * j * b, main + (8 * j + 4) * b, input, hidden, hidden + b);
            input = hidden;
        }
        for (long i = 0; i < b; i++) x[i] = input[i] * extra[b + i] + extra[2 * b + i];
        for (long i = 0; i < b; i++) sum += exp(x[i]);
        sum = log(sum);
        for (long i = 0; i < b; i++) total += sequence[(t + 1) * b + i] * (x[i] - sum);
    }
    *out = -total / (double)(b * (characters - 1));
    free(state), free(x);
    return 1;
}

/* ---- bundle adjustment ---- */

static void cross(const double *a, const double *b, double *to) {
    to[0] = a[1] * b[2] - a[2] * b[1];
    to[1] = a[2] * b[0] - a[0] * b[2];
    to[2] = a[0] * b[1] - a[1] * b[0];
}

static void rotate(const double *r, const double *v, double *to) {
    double angle = sqrt(square(r[0]) + square(r[1]) + square(r[2])), w[3];
    if (angle == 0) {
        cross(r, v, w);
        for (int i = 0; i < 3; i++) to[i] = v[i] + w[i];
        return;
    }
    double u[3] = {r[0] / angle, r[1] / angle, r[2] / angle}, c = cos(angle), s = sin(angle);
    double along = (u[0] * v[0] + u[1] * v[1] + u[2] * v[2]) * (1 - c);
    cross(u, v, w);
    for (int i = 0; i < 3; i++) to[i] = v[i] * c + w[i] * s + u[i] * along;
}

/* sizes: cameras, points, observations; numbers: camera, point, weight, feature, which are repeated. */
static double *repeated; /* the cameras, points, weights and features of all */

static void ba_repeat(const Input *in) {
    const double *x = in->numbers;
    long counts[] = {in->size[0], in->size[1], in->size[2], in->size[2]}, widths[] = {11, 3, 1, 2};
    double *to = repeated = numbers(11 * counts[0] + 3 * counts[1] + 3 * counts[2]);
    for (int part = 0; part < 4; x += widths[part++])
        for (long i = 0; i < counts[part]; i++, to += widths[part]) memcpy(to, x, (size_t)widths[part] * sizeof *x);
}

static long ba(const Input *in, double *out) {
    long n = in->size[0], m = in->size[1], p = in->size[2];
    const double *cameras = repeated, *points = cameras + 11 * n, *weights = points + 3 * m, *features = weights + p;
    for (long i = 0; i < p; i++) {
        const double *cam = cameras + 11 * (i % n), *x = points + 3 * (i % m);
        double v[3] = {x[0] - cam[3], x[1] - cam[4], x[2] - cam[5]}, to[3];
        rotate(cam, v, to);
        double px = to[0] / to[2], py = to[1] / to[2], r = px * px + py * py, bent = 1 + cam[9] * r + cam[10] * r * r;
        out[2 * i] = weights[i] * (px * bent * cam[6] + cam[7] - features[2 * i]);
        out[2 * i + 1] = weights[i] * (py * bent * cam[6] + cam[8] - features[2 * i + 1]);
    }
    for (long i = 0; i < p; i++) out[2 * p + i] = 1 - weights[i] * weights[i];
    return 3 * p;
}

/* ---- hand tracking ---- */

enum { BONES = 22 };

static void product(const double *a, const double *b, double *to) { /* 4 × 4 */
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) sum += a[4 * i + k] * b[4 * k + j];
            to[4 * i + j] = sum;
        }
}

static void bend(double flexion, double spread, double *to) {
    double sf = sin(flexion), cf = cos(flexion), ss = sin(spread), cs = cos(spread);
    double r[16] = {cs, -ss * cf, ss * sf, 0, ss, cs * cf, -cs * sf, 0, 0, sf, cf, 0, 0, 0, 0, 1};
    memcpy(to, r, sizeof r);
}

static void about(const double *v, double *to) { /* 3 × 3 */
    double angle = sqrt(square(v[0]) + square(v[1]) + square(v[2]));
    double x = v[0] / angle, y = v[1] / angle, z = v[2] / angle, s = sin(angle), c = cos(angle);
    double r[9] = {x * x + (1 - x * x) * c, x * y * (1 - c) - z * s, x * z * (1 - c) + y * s,
                   x * y * (1 - c) + z * s, y * y + (1 - y * y) * c, y * z * (1 - c) - x * s,
                   x * z * (1 - c) - y * s, z * y * (1 - c) + x * s, z * z + (1 - z * z) * c};
    memcpy(to, r, sizeof r);
}

/* sizes: vertices, triangles, points, 1 where these are on triangles; numbers: theta, parents, base relatives, inverse
 * base absolutes, base positions, weights, triangles, correspondences, points, us. */
static long ht(const Input *in, double *out) {
    long vertices = in->size[0], triangles = in->size[1], n = in->size[2];
    const double *theta = in->numbers, *parents = theta + 26, *relatives = parents + BONES;
    const double *inverses = relatives + 16 * BONES, *positions = inverses + 16 * BONES;
    const double *weights = positions + 4 * vertices, *corners = weights + BONES * vertices;
    const double *indices = corners + 3 * triangles, *points = indices + n, *us = points + 3 * n;
    double transforms[BONES][16], absolutes[BONES][16], relative[16], pose[16], whole[9];
    for (int bone = 0; bone < BONES; bone++) {
        const double *angles = theta + 6 + 4 * ((bone - 1) / 4);
        int joint = bone == 0 || bone > 20 ? 0 : (bone - 1) % 4, parent = (int)parents[bone];
        bend(joint == 0 ? 0 : angles[joint == 1 ? 0 : joint], joint == 1 ? angles[1] : 0, pose);
        product(relatives + 16 * bone, pose, relative);
        if (parent < 0)
            memcpy(absolutes[bone], relative, sizeof relative);
        else
            product(absolutes[parent], relative, absolutes[bone]);
        product(absolutes[bone], inverses + 16 * bone, transforms[bone]);
    }
    about(theta, whole);
    double *at = numbers(3 * vertices);
    for (long v = 0; v < vertices; v++) {
        double skinned[3] = {0, 0, 0};
        for (int bone = 0; bone < BONES; bone++)
            for (int i = 0; i < 3; i++) {
                double sum = 0;
                for (int j = 0; j < 4; j++) sum += transforms[bone][4 * i + j] * positions[4 * v + j];
                skinned[i] += weights[BONES * v + bone] * sum;
            }
        for (int i = 0; i < 3; i++)
            at[3 * v + i] = whole[3 * i] * skinned[0] + whole[3 * i + 1] * skinned[1] + whole[3 * i + 2] * skinned[2] +
                            theta[3 + i];
    }
    for (long i = 0; i < n; i++) {
        const double *u = us + 2 * i, *corner = corners + 3 * (long)indices[i];
        for (int j = 0; j < 3; j++) {
            double hand = !in->size[3] ? at[3 * (long)indices[i] + j]
                                       : u[0] * at[3 * (long)corner[0] + j] + u[1] * at[3 * (long)corner[1] + j] +
                                             (1 - u[0] - u[1]) * at[3 * (long)corner[2] + j];
            out[3 * i + j] = points[3 * i + j] - hand;
        }
    }
    free(at);
    return 3 * n;
}

/* ---- measuring ---- */

static const struct Eval {
    const char *name;
    long (*run)(const Input *in, double *out);
    void (*prepare)(const Input *in);
} evals[] = {{"llsq", llsq, NULL}, {"lse", lse, NULL},    {"det", det, NULL},
             {"ode", ode, NULL},   {"gmm", gmm, NULL},    {"kmeans", kmeans, NULL},
             {"lstm", lstm, NULL}, {"ba", ba, ba_repeat}, {"ht", ht, NULL}};

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double *read_numbers(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    double *all = malloc((size_t)size + sizeof(double));
    rewind(file);
    if (all != NULL && fread(all, 1, (size_t)size, file) != (size_t)size) all = NULL;
    fclose(file);
    return all;
}

int main(int argc, char **argv) {
    Input in = {.numbers = argc > 3 ? read_numbers(argv[2]) : NULL};
    if (in.numbers == NULL) return fprintf(stderr, "gradbench EVAL FILE SECONDS SIZE…\n"), 2;
    for (int i = 4; i < argc && i < 10; i++) in.size[i - 4] = atol(argv[i]);
    const struct Eval *eval = evals;
    while (strcmp(eval->name, argv[1]) != 0) eval++;
    if (eval->prepare != NULL) eval->prepare(&in);
    double *out = numbers(10000000), total = 0, limit = atof(argv[3]);
    long count = 0;
    for (int runs = 0; runs < 3 || total < limit; runs++) {
        double begin = seconds();
        count = eval->run(&in, out);
        double time = seconds() - begin;
        total += time;
        printf("%.0f ", time * 1e9);
    }
    printf("\n");
    for (long i = 0; i < count && i < 1000; i++) printf("%.17g ", out[i]);
    printf("\n");
    return 0;
}
