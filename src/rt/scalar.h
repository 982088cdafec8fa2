/* Scalar operations with the meaning of primitives.def. The evaluator, constant folding and emitted programs all
 * include this file, so each primitive has one definition. It needs only libc and libm, and every function is pure. */
#ifndef CT_RT_SCALAR_H
#define CT_RT_SCALAR_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CT_PI        3.14159265358979323846
#define CT_LOG2_E    1.44269504088896340736 /* 1 / log 2 */
#define CT_LOG10_E   0.43429448190325182765 /* 1 / log 10 */
#define CT_2_SQRT_PI 1.12837916709551257390 /* 2 / sqrt pi */

/* ---- reals ---- */

/* The nearest Float, as a double. The sign bit is put in once more: gcc 12 drops a conversion to float and back
 * where it makes a vector of two of them side by side, unless something stands between. */
static inline double ct_to_float(double x) {
    float single = (float)x;
    uint64_t of_x;
    uint32_t bits;
    memcpy(&of_x, &x, sizeof x);
    memcpy(&bits, &single, sizeof single);
    bits |= (uint32_t)(of_x >> 63) << 31;
    memcpy(&single, &bits, sizeof bits);
    return (double)single;
}

/* p · g, where the structural zero −0.0 is absorbing: for g = −0.0 the result is −0.0 even if p is infinite or NaN. A
 * product that would round to −0.0 otherwise becomes 0.0 by adding 0, since −0.0 is to mean a structural zero only. The
 * bits are chosen without a branch, which vectorises to a comparison and a blend; from a branch on g, gcc would make
 * two loops when g is loop-invariant, and slow vectors otherwise. */
static inline double ct_scale(double p, double g) {
    double product = p * g + 0.0;
    int64_t of_g, of_product;
    memcpy(&of_g, &g, sizeof g);
    memcpy(&of_product, &product, sizeof product);
    int64_t is_zero = -(int64_t)(of_g == INT64_MIN);
    of_product = (of_product & ~is_zero) | (INT64_MIN & is_zero);
    memcpy(&product, &of_product, sizeof product);
    return product;
}

/* The sign; zeros and NaN are returned as they are. */
static inline double ct_signum(double x) { return x > 0 ? 1.0 : x < 0 ? -1.0 : x; }

/* Of equal numbers the first; NaN when either is NaN. */
static inline double ct_min(double a, double b) { return b < a || b != b ? (a != a ? a : b) : a; }
static inline double ct_max(double a, double b) { return a < b || b != b ? (a != a ? a : b) : a; }

/* log |Γ(x)|. Unlike lgamma it does not write the global signgam. */
static inline double ct_lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

/* Hurwitz's zeta function, the sum over k ≥ 0 of (x + k)^−s, for x > 0 and s ≥ 2: the first terms directly, the rest by
 * the Euler–Maclaurin formula. */
static inline double ct_hurwitz_zeta(double s, double x) {
    /* Bernoulli numbers B2, B4, … over (2j)! */
    static const double b[] = {1.0 / 12,
                               -1.0 / 720,
                               1.0 / 30240,
                               -1.0 / 1209600,
                               1.0 / 47900160,
                               -691.0 / 1307674368000.0,
                               1.0 / 74724249600.0,
                               -3617.0 / 10670622842880000.0};
    double sum = 0;
    double enough = 12 + s / 2; /* from here on the Euler–Maclaurin series is accurate */
    while (x < enough) {
        double term = pow(x, -s);
        sum += term;
        if (term <= 1e-18 * sum) return sum; /* the remaining terms do not change the sum */
        x += 1;
    }
    double tail = 1 / (s - 1) + 0.5 / x;
    double factor = s / x / x;
    for (int j = 0; j < 8; j++) {
        tail += b[j] * factor;
        factor *= (s + 2 * j + 1) * (s + 2 * j + 2) / x / x;
    }
    return sum + pow(x, 1 - s) * tail; /* x^−s may underflow where this does not */
}

/* The n-th derivative of π cot(πx), which is π^(n+1) P_n(cot πx), with P_0 = c and P_{n+1} = −(1 + c²) P_n'. */
#define CT_COT_ORDERS 32
static inline double ct_cot_derivative(int n, double x) {
    double p[CT_COT_ORDERS + 2] = {0, 1}, q[CT_COT_ORDERS + 2];
    for (int k = 0; k < n; k++) {
        memset(q, 0, sizeof q);
        for (int i = 1; i <= k + 1; i++) {
            q[i - 1] -= i * p[i];
            q[i + 1] -= i * p[i];
        }
        memcpy(p, q, sizeof p);
    }
    double fraction = x - rint(x); /* cot has the period π */
    double c = 1 / tan(CT_PI * fraction);
    double value = 0;
    for (int i = n + 1; i >= 0; i--) value = value * c + p[i];
    return pow(CT_PI, n + 1) * value;
}

/* The digamma function ψ(x) = Γ'(x) / Γ(x); NaN at 0, −1, −2, … */
static inline double ct_digamma(double x) {
    if (x != x || x == INFINITY) return x;
    if (x <= 0) {
        if (x == floor(x)) return NAN;
        return ct_digamma(1 - x) - ct_cot_derivative(0, x);
    }
    double sum = 0;
    while (x < 10) {
        sum -= 1 / x;
        x += 1;
    }
    double r = 1 / (x * x);
    double series =
        1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 - r * (691.0 / 32760 - r / 12)))));
    return sum + log(x) - 0.5 / x - r * series;
}

/* The n-th derivative of ψ, for an integer n ≥ 0. */
static inline double ct_polygamma(double n, double x) {
    if (n == 0) return ct_digamma(x);
    if (!(n > 0) || n != floor(n) || x != x) return NAN;
    if (x == INFINITY) return 0;
    double sign = fmod(n, 2) == 0 ? -1 : 1;
    if (x > 0) return sign * tgamma(n + 1) * ct_hurwitz_zeta(n + 1, x);
    if (x == floor(x)) return NAN;
    if (n <= CT_COT_ORDERS) /* ψn(1 − x) − (−1)^n ψn(x) = (−1)^n dⁿ/dxⁿ π cot(πx) */
        return -sign * ct_polygamma(n, 1 - x) - ct_cot_derivative((int)n, x);
    double sum = 0, middle = floor(-x); /* only the terms near 0 contribute for such a power */
    for (int k = -64; k <= 64; k++)
        if (middle + k >= 0) sum += pow(x + middle + k, -n - 1);
    return sign * tgamma(n + 1) * sum;
}

/* ---- Int ---- */

/* Whether the integral part fits into an Int. */
static inline bool ct_fits_int(double x) { return x >= -0x1p63 && x < 0x1p63; }
/* Converts an integral number; 0 where it does not fit, so that the function is total. */
static inline int64_t ct_to_int(double x) { return ct_fits_int(x) ? (int64_t)x : 0; }

static inline int64_t ct_wrap_add(int64_t a, int64_t b) { return (int64_t)((uint64_t)a + (uint64_t)b); }
static inline int64_t ct_wrap_sub(int64_t a, int64_t b) { return (int64_t)((uint64_t)a - (uint64_t)b); }
static inline int64_t ct_wrap_mul(int64_t a, int64_t b) { return (int64_t)((uint64_t)a * (uint64_t)b); }

/* Integer divisions treat b = −1 separately, since the processor traps when the least Int is divided by it. For b = 0
 * they give 0; the caller has checked for it. */
static inline int64_t ct_int_quot(int64_t a, int64_t b) {
    if (b == 0) return 0;
    return b == -1 ? ct_wrap_sub(0, a) : a / b;
}
static inline int64_t ct_int_rem(int64_t a, int64_t b) { return b == 0 || b == -1 ? 0 : a % b; }
static inline int64_t ct_int_div(int64_t a, int64_t b) {
    int64_t r = ct_int_rem(a, b);
    return ct_int_quot(a, b) - (r != 0 && (r < 0) != (b < 0) ? 1 : 0);
}
static inline int64_t ct_int_mod(int64_t a, int64_t b) {
    int64_t r = ct_int_rem(a, b);
    return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

static inline int64_t ct_int_abs(int64_t a) { return a < 0 ? ct_wrap_sub(0, a) : a; }
static inline int64_t ct_int_signum(int64_t a) { return (a > 0) - (a < 0); }
static inline int64_t ct_int_min(int64_t a, int64_t b) { return b < a ? b : a; }
static inline int64_t ct_int_max(int64_t a, int64_t b) { return a < b ? b : a; }

static inline int64_t ct_int_and(int64_t a, int64_t b) { return (int64_t)((uint64_t)a & (uint64_t)b); }
static inline int64_t ct_int_or(int64_t a, int64_t b) { return (int64_t)((uint64_t)a | (uint64_t)b); }
static inline int64_t ct_int_xor(int64_t a, int64_t b) { return (int64_t)((uint64_t)a ^ (uint64_t)b); }
static inline int64_t ct_int_complement(int64_t a) { return (int64_t) ~(uint64_t)a; }
static inline int64_t ct_int_popcount(int64_t a) { return __builtin_popcountll((unsigned long long)a); }

/* Shifts left by a positive count; by a negative count it shifts right, keeping the sign. */
static inline int64_t ct_int_shift(int64_t a, int64_t count) {
    if (count >= 64) return 0;
    if (count >= 0) return (int64_t)((uint64_t)a << count);
    int down = count <= -64 ? 63 : (int)-count;
#if defined(__GNUC__)
    return a >> down; /* which keeps the sign, as these compilers document */
#else
    return a < 0 ? (int64_t) ~(~(uint64_t)a >> down) : (int64_t)((uint64_t)a >> down);
#endif
}

/* ---- Char ---- */

static inline bool ct_is_code_point(int64_t code) { return code >= 0 && code <= 0x10FFFF; }

#endif
