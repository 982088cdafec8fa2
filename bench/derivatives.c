#include "derivatives.h"

#include <string.h>

static double number(size_t i) { return (double)(i * 37 % 101 + 1) / 64; }

static void numbers(size_t count, double *out) {
    for (size_t i = 0; i < count; i++) out[i] = number(i);
}

static size_t once(size_t n) { return n; }
static size_t twice(size_t n) { return 2 * n; }

/* ---- a multiplication, n times ---- */

static size_t scalar_results(size_t n) { return 3 * n; }

static void scalar(size_t n, const double *restrict point, double *restrict results) {
    for (size_t i = 0; i < n; i++) {
        double x = point[2 * i], y = point[2 * i + 1];
        results[3 * i] = x * y;
        results[3 * i + 1] = y;
        results[3 * i + 2] = x;
    }
}

static void scalar_point(size_t n, double *point) { numbers(2 * n, point); }

/* ---- the dot product ---- */

static size_t dot_results(size_t n) { return 1 + 2 * n; }

static void dot(size_t n, const double *restrict point, double *restrict results) {
    const double *x = point, *y = point + n;
    double *dx = results + 1, *dy = dx + n, sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
        dx[i] = y[i];
        dy[i] = x[i];
    }
    results[0] = sum;
}

static void dot_point(size_t n, double *point) { numbers(2 * n, point); }

/* ---- the sum of a matrix times a vector ---- */

/* The side of the matrix: the root of n, rounded. */
static size_t side_of(size_t n) {
    size_t side = 1;
    while (side * side + side < n) side++;
    return side;
}

static size_t matvec_elements(size_t n) { return side_of(n) * side_of(n); }
static size_t matvec_size(size_t n) { return matvec_elements(n) + side_of(n); }
static size_t matvec_results(size_t n) { return 1 + matvec_size(n); }

static void matvec(size_t n, const double *restrict point, double *restrict results) {
    size_t side = side_of(n);
    const double *v = point + side * side;
    double *dv = results + 1 + side * side, sum = 0;
    memset(dv, 0, side * sizeof *dv);
    for (size_t i = 0; i < side; i++) {
        const double *row = point + i * side;
        double *drow = results + 1 + i * side, product = 0;
        for (size_t j = 0; j < side; j++) {
            product += row[j] * v[j];
            drow[j] = v[j];
            dv[j] += row[j];
        }
        sum += product;
    }
    results[0] = sum;
}

static void matvec_point(size_t n, double *point) { numbers(matvec_size(n), point); }

/* ---- rotations of a vector by a quaternion ---- */

typedef struct Vec3 {
    double x, y, z;
} Vec3;

static double dot_vec(Vec3 p, Vec3 q) { return p.x * q.x + p.y * q.y + p.z * q.z; }
static Vec3 scale(double k, Vec3 v) { return (Vec3){k * v.x, k * v.y, k * v.z}; }
static Vec3 add(Vec3 p, Vec3 q) { return (Vec3){p.x + q.x, p.y + q.y, p.z + q.z}; }
static Vec3 cross(Vec3 a, Vec3 b) {
    return (Vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* r = 2 (u·v) u + (s² − u·u) v + 2 s (u × v). For the cotangent g of r:
 *   dv = 2 (g·u) u + (s² − u·u) g + 2 s (g × u)
 *   du = 2 (g·u) v + 2 (u·v) g − 2 (g·v) u + 2 s (v × g)
 *   ds = 2 s (g·v) + 2 g·(u × v) */
static double rotate_one(const double *point, double *dv_out, double *dq_out) {
    Vec3 v = {point[0], point[1], point[2]}, u = {point[3], point[4], point[5]}, g = {1, 1, 1};
    double s = point[6], uv = dot_vec(u, v), middle = s * s - dot_vec(u, u), gu = dot_vec(g, u), gv = dot_vec(g, v);
    Vec3 turned = cross(u, v);
    Vec3 r = add(add(scale(2 * uv, u), scale(middle, v)), scale(2 * s, turned));
    Vec3 dv = add(add(scale(2 * gu, u), scale(middle, g)), scale(2 * s, cross(g, u)));
    Vec3 du = add(add(scale(2 * gu, v), scale(2 * uv, g)), add(scale(-2 * gv, u), scale(2 * s, cross(v, g))));
    dv_out[0] = dv.x, dv_out[1] = dv.y, dv_out[2] = dv.z;
    dq_out[0] = du.x, dq_out[1] = du.y, dq_out[2] = du.z;
    dq_out[3] = 2 * s * gv + 2 * dot_vec(g, turned);
    return r.x + r.y + r.z;
}

static size_t rotate_size(size_t n) { return 7 * n; }
static size_t rotate_results(size_t n) { return 8 * n; }
static size_t rotations_results(size_t n) { return 1 + 7 * n; }
static void rotate_point(size_t n, double *point) { numbers(7 * n, point); }

static void rotate(size_t n, const double *restrict point, double *restrict results) {
    for (size_t i = 0; i < n; i++) {
        double *out = results + 8 * i;
        out[0] = rotate_one(point + 7 * i, out + 1, out + 4);
    }
}

static void rotations(size_t n, const double *restrict point, double *restrict results) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double *out = results + 1 + 7 * i;
        sum += rotate_one(point + 7 * i, out, out + 3);
    }
    results[0] = sum;
}

/* ---- by name ---- */

static const Derivative derivatives[] = {
    {"scalar", once, twice, scalar_results, scalar_point, scalar},
    {"dot", once, twice, dot_results, dot_point, dot},
    {"matvec", matvec_elements, matvec_size, matvec_results, matvec_point, matvec},
    {"rotate", once, rotate_size, rotate_results, rotate_point, rotate},
    {"rotations", once, rotate_size, rotations_results, rotate_point, rotations},
};

const Derivative *derivative_find(const char *name) {
    for (size_t i = 0; i < sizeof derivatives / sizeof *derivatives; i++)
        if (strcmp(derivatives[i].name, name) == 0) return &derivatives[i];
    return NULL;
}
