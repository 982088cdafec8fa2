/* As many doubles at a time as a register of the processor holds: LANES. The functions are glibc's libmvec (4 ulp). */
#ifndef HAND_LANES_H
#define HAND_LANES_H

#include <math.h>
#include <string.h>

#if defined(__AVX512F__)
#define LANES         8
#define LIBMVEC(name) _ZGVeN8v_##name
#elif defined(__AVX2__)
#define LANES         4
#define LIBMVEC(name) _ZGVdN4v_##name
#else
#define LANES         2
#define LIBMVEC(name) _ZGVbN2v_##name
#endif
typedef double Lanes __attribute__((vector_size(8 * LANES)));
typedef long long Mask __attribute__((vector_size(8 * LANES)));

static inline Lanes load(const double *x) {
    Lanes v;
    memcpy(&v, x, sizeof v);
    return v;
}
static inline void store(double *x, Lanes v) { memcpy(x, &v, sizeof v); }
static inline Lanes all(double x) {
    Lanes v;
    for (int i = 0; i < LANES; i++) v[i] = x;
    return v;
}
static inline Lanes choose(Mask m, Lanes a, Lanes b) { return (Lanes)((m & (Mask)a) | (~m & (Mask)b)); }
/* Element 0 of as many rows. */
static inline Lanes column(const double *x, long stride) {
    Lanes v;
    for (int i = 0; i < LANES; i++) v[i] = x[i * stride];
    return v;
}
static inline double total(Lanes v) {
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int i = 0; i < half; i++) v[i] += v[i + half];
    return v[0];
}

#if defined(__x86_64__) && defined(__GLIBC__)
#define LANES_FUNCTION(f)                                                                                              \
    Lanes LIBMVEC(f)(Lanes);                                                                                           \
    static inline Lanes lanes_##f(Lanes x) { return LIBMVEC(f)(x); }
#else
#define LANES_FUNCTION(f)                                                                                              \
    static inline Lanes lanes_##f(Lanes x) {                                                                           \
        for (int i = 0; i < LANES; i++) x[i] = f(x[i]);                                                                \
        return x;                                                                                                      \
    }
#endif
LANES_FUNCTION(exp)
LANES_FUNCTION(log)
LANES_FUNCTION(sin)
LANES_FUNCTION(cos)
/* To a rounding error of 1, not of the result. */
static inline Lanes lanes_tanh(Lanes x) { return 1 - 2 / (1 + lanes_exp(2 * x)); }
static inline Lanes lanes_sqrt(Lanes x) {
    Lanes y;
    for (int i = 0; i < LANES; i++) y[i] = sqrt(x[i]);
    return y;
}

#endif
