/* The scalar operations that random programs use, on second-order jets in long double. */
#include <math.h>

#include "random.h"

static Jet lift(Jet a, long double f, long double f1, long double f2) {
    return (Jet){f, f1 * a.d1, f1 * a.d2, f1 * a.d12 + f2 * a.d1 * a.d2};
}

static Jet number(long double value) { return (Jet){value, 0, 0, 0}; }
static Jet add(Jet a, Jet b) { return (Jet){a.value + b.value, a.d1 + b.d1, a.d2 + b.d2, a.d12 + b.d12}; }
static Jet scale(long double s, Jet a) { return (Jet){s * a.value, s * a.d1, s * a.d2, s * a.d12}; }
static Jet mul(Jet a, Jet b) {
    return (Jet){a.value * b.value, a.d1 * b.value + a.value * b.d1, a.d2 * b.value + a.value * b.d2,
                 a.d12 * b.value + a.d1 * b.d2 + a.d2 * b.d1 + a.value * b.d12};
}

static Jet jet_sin(Jet a) { return lift(a, sinl(a.value), cosl(a.value), -sinl(a.value)); }
static Jet jet_cos(Jet a) { return lift(a, cosl(a.value), -sinl(a.value), -cosl(a.value)); }
static Jet jet_exp(Jet a) { return lift(a, expl(a.value), expl(a.value), expl(a.value)); }
static Jet jet_log(Jet a) { return lift(a, logl(a.value), 1 / a.value, -1 / (a.value * a.value)); }
static Jet jet_recip(Jet a) {
    long double r = 1 / a.value;
    return lift(a, r, -r * r, 2 * r * r * r);
}
static Jet jet_sqrt(Jet a) {
    long double r = sqrtl(a.value);
    return lift(a, r, 0.5L / r, -0.25L / (r * a.value));
}
static Jet jet_tanh(Jet a) {
    long double t = tanhl(a.value);
    return lift(a, t, 1 - t * t, -2 * t * (1 - t * t));
}
static Jet jet_atan(Jet a) {
    long double d = 1 / (1 + a.value * a.value);
    return lift(a, atanl(a.value), d, -2 * a.value * d * d);
}
static Jet jet_erf(Jet a) {
    long double d = 1.12837916709551257389615890312154517L * expl(-a.value * a.value); /* 2/√π */
    return lift(a, erfl(a.value), d, -2 * a.value * d);
}
static Jet jet_expm1(Jet a) { return lift(a, expm1l(a.value), expl(a.value), expl(a.value)); }
static Jet jet_sinh(Jet a) { return lift(a, sinhl(a.value), coshl(a.value), sinhl(a.value)); }
static Jet jet_asinh(Jet a) {
    long double s = 1 + a.value * a.value;
    return lift(a, asinhl(a.value), 1 / sqrtl(s), -a.value / (s * sqrtl(s)));
}

static void decide(uint64_t *branches, bool way) { *branches = *branches * 1099511628211ULL + (way ? 3 : 5); }

/* Square plus one: makes any argument fit for log, sqrt and division. */
static Jet positive(Jet a) { return add(mul(a, a), number(1)); }

static const char *const op1_texts[] = {
    "negate (%s)",
    "sin (%s)",
    "cos (%s)",
    "tanh (%s)",
    "exp (tanh (%s))",
    "square (%s)",
    "log (positive (%s))",
    "sqrt (positive (%s))",
    "recip (positive (%s))",
    "atan (%s)",
    "erf (%s)",
    "abs (%s)",
    "expm1 (tanh (%s))",
    "sinh (tanh (%s))",
    "asinh (%s)",
    "((%s) ^ 3)",
};

static const char *const op2_texts[] = {
    "((%s) + (%s))",
    "((%s) - (%s))",
    "((%s) * (%s))",
    "((%s) / positive (%s))",
    "max (%s) (%s)",
    "min (%s) (%s)",
    "hypot (%s) (positive (%s))",
    "atan2 (%s) (positive (%s))",
    "(positive (%s) ** tanh (%s))",
};

int op1_count(void) { return (int)(sizeof op1_texts / sizeof *op1_texts); }
int op2_count(void) { return (int)(sizeof op2_texts / sizeof *op2_texts); }
const char *op1_text(int which) { return op1_texts[which]; }
const char *op2_text(int which) { return op2_texts[which]; }

Jet op1_apply(int which, Jet a, uint64_t *branches) {
    switch (which) {
    case 0: return scale(-1, a);
    case 1: return jet_sin(a);
    case 2: return jet_cos(a);
    case 3: return jet_tanh(a);
    case 4: return jet_exp(jet_tanh(a));
    case 5: return mul(a, a);
    case 6: return jet_log(positive(a));
    case 7: return jet_sqrt(positive(a));
    case 8: return jet_recip(positive(a));
    case 9: return jet_atan(a);
    case 10: return jet_erf(a);
    case 11: /* at 0 the derivative is 0 */
        decide(branches, a.value < 0);
        decide(branches, a.value > 0);
        return scale((a.value > 0) - (a.value < 0), a);
    case 12: return jet_expm1(jet_tanh(a));
    case 13: return jet_sinh(jet_tanh(a));
    case 14: return jet_asinh(a);
    default: return mul(a, mul(a, a));
    }
}

Jet op2_apply(int which, Jet a, Jet b, uint64_t *branches) {
    switch (which) {
    case 0: return add(a, b);
    case 1: return add(a, scale(-1, b));
    case 2: return mul(a, b);
    case 3: return mul(a, jet_recip(positive(b)));
    case 4: decide(branches, a.value < b.value); return a.value < b.value ? b : a;
    case 5: decide(branches, b.value < a.value); return b.value < a.value ? b : a;
    case 6: b = positive(b); return jet_sqrt(add(mul(a, a), mul(b, b)));
    case 7: return jet_atan(mul(a, jet_recip(positive(b)))); /* the second argument is positive */
    default: return jet_exp(mul(jet_tanh(b), jet_log(positive(a))));
    }
}
