/* The Jacobians of bundle adjustment: bench/native/bundle.cot. Both errors of an observation at once: forward through
 * the few operations that many parameters share, by the chain rule written out. */
#include "hand.h"
#include "lanes.h"

static void make(Subject *s, int64_t n, int64_t other) {
    (void)other;
    double *p = hand_item(s, true, 2, DIMS(n, 15), 0.2, 0.8);
    hand_item(s, false, 1, DIMS(n), -1, 1);
    hand_item(s, false, 1, DIMS(n), -1, 1);
    for (int64_t i = 0; i < n; i++) p[15 * i + 13] += 4; /* in front of the camera */
    s->results = (size_t)(30 * n), s->value_count = 0;
}

/* With q = X − c, u = r/θ, k = (u·q)(1 − cos θ):  R q = q cos θ + (u × q) sin θ + u k, and for z = A q, dz/dq = A. For
 * the rotation vector d(Rq)/dθ = −q sin θ + (u × q) cos θ + u (u·q) sin θ,  d(Rq)/du·e = (e × q) sin θ + e k + u
 * (e·q)(1 − cos θ), dθ/dr = u,  du/dr = (1 − u uᵀ)/θ. */
#define OBSERVATION(NUMBER, GET, PUT, SQRT, SIN, COS)                                                                  \
    NUMBER rx = GET(0), ry = GET(1), rz = GET(2), qx = GET(11) - GET(3), qy = GET(12) - GET(4), qz = GET(13) - GET(5); \
    NUMBER f = GET(6), k1 = GET(9), k2 = GET(10), w = GET(14);                                                         \
    NUMBER theta = SQRT(rx * rx + ry * ry + rz * rz), inverse = 1 / theta, s_ = SIN(theta), c_ = COS(theta),           \
           l = 1 - c_;                                                                                                 \
    NUMBER u[3] = {rx * inverse, ry * inverse, rz * inverse}, q[3] = {qx, qy, qz};                                     \
    NUMBER x[3] = {u[1] * qz - u[2] * qy, u[2] * qx - u[0] * qz, u[0] * qy - u[1] * qx};                               \
    NUMBER uq = u[0] * qx + u[1] * qy + u[2] * qz, k = uq * l, z[3], turn[3];                                          \
    for (int a = 0; a < 3; a++) {                                                                                      \
        z[a] = q[a] * c_ + x[a] * s_ + u[a] * k;                                                                       \
        turn[a] = x[a] * c_ - q[a] * s_ + u[a] * uq * s_;                                                              \
    }                                                                                                                  \
    NUMBER deep = 1 / z[2], px = z[0] * deep, py = z[1] * deep, r2 = px * px + py * py;                                \
    NUMBER bend = 1 + k1 * r2 + k2 * r2 * r2, slope = k1 + 2 * k2 * r2, wf = w * f;                                    \
    /* by the place in the image */                                                                                    \
    NUMBER xx = wf * (bend + 2 * px * px * slope), xy = wf * 2 * px * py * slope;                                      \
    NUMBER yy = wf * (bend + 2 * py * py * slope);                                                                     \
    for (int e = 0; e < 2; e++) {                                                                                      \
        NUMBER ax = e == 0 ? xx : xy, ay = e == 0 ? xy : yy, at = e == 0 ? px : py;                                    \
        /* by z, then by q and r */                                                                                    \
        NUMBER g[3] = {ax * deep, ay * deep, -(ax * px + ay * py) * deep};                                             \
        NUMBER gu = g[0] * u[0] + g[1] * u[1] + g[2] * u[2];                                                           \
        NUMBER gx[3] = {g[1] * u[2] - g[2] * u[1], g[2] * u[0] - g[0] * u[2], g[0] * u[1] - g[1] * u[0]};              \
        NUMBER xg[3] = {qy * g[2] - qz * g[1], qz * g[0] - qx * g[2], qx * g[1] - qy * g[0]};                          \
        NUMBER by_theta = g[0] * turn[0] + g[1] * turn[1] + g[2] * turn[2], ue = 0 * gu, by_u[3];                      \
        for (int a = 0; a < 3; a++) {                                                                                  \
            by_u[a] = xg[a] * s_ + g[a] * k + gu * l * q[a];                                                           \
            ue += by_u[a] * u[a];                                                                                      \
        }                                                                                                              \
        for (int a = 0; a < 3; a++) {                                                                                  \
            NUMBER by_q = g[a] * c_ + gx[a] * s_ + gu * l * u[a];                                                      \
            PUT(e, a, by_theta *u[a] + (by_u[a] - ue * u[a]) * inverse);                                               \
            PUT(e, 3 + a, -by_q);                                                                                      \
            PUT(e, 11 + a, by_q);                                                                                      \
        }                                                                                                              \
        PUT(e, 6, w *at *bend);                                                                                        \
        PUT(e, 7, (e == 0 ? w : 0 * w));                                                                               \
        PUT(e, 8, (e == 0 ? 0 * w : w));                                                                               \
        PUT(e, 9, wf *at *r2);                                                                                         \
        PUT(e, 10, wf *at *r2 *r2);                                                                                    \
        PUT(e, 14, f *at *bend + GET(7 + e) - SEEN(e));                                                                \
    }

static void scalar(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0];
    for (int64_t i = 0; i < n; i++) {
        const double *p = s->items[0].data + 15 * i;
        double *out = results + 30 * i;
#define GET(k)       p[k]
#define PUT(e, k, v) out[15 * (e) + (k)] = (v)
#define SEEN(e)      s->items[1 + (e)].data[i]
        OBSERVATION(double, GET, PUT, sqrt, sin, cos)
#undef GET
#undef PUT
#undef SEEN
    }
}

static void lanes(const Subject *s, double *restrict results) {
    int64_t n = s->items[0].dims[0];
    if (n % LANES != 0) abort();
    for (int64_t i = 0; i < n; i += LANES) {
        const double *p = s->items[0].data + 15 * i;
        Lanes in[15], out[30];
        for (int j = 0; j < 15; j++) in[j] = column(p + j, 15);
#define GET(k)       in[k]
#define PUT(e, k, v) out[15 * (e) + (k)] = (v)
#define SEEN(e)      load(s->items[1 + (e)].data + i)
        OBSERVATION(Lanes, GET, PUT, lanes_sqrt, lanes_sin, lanes_cos)
#undef GET
#undef PUT
#undef SEEN
        for (int lane = 0; lane < LANES; lane++)
            for (int j = 0; j < 30; j++) results[30 * (i + lane) + j] = out[j][lane];
    }
}

static double along(const Subject *s, const double *results, double *const *direction) {
    double sum = 0;
    for (int64_t e = 0; e < 2 * s->items[0].dims[0]; e++)
        for (int j = 0; j < 15; j++) sum += (double)(e % 7 + 1) * results[15 * e + j] * direction[0][15 * (e / 2) + j];
    return sum;
}

/* As many as OBSERVATION has. */
static Work work(const Subject *s) {
    double n = (double)s->items[0].dims[0];
    return (Work){.operations = 282 * n, .sines = 2 * n};
}

const Subject bundle_subject = {.name = "bundle",
                                .ranks = "3",
                                .values = 0,
                                .work = work,
                                .make = make,
                                .scalar = scalar,
                                .lanes = lanes,
                                .along = along};
