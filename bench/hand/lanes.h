/* Eight doubles at a time. The functions are glibc's libmvec (4 ulp). */
#ifndef HAND_LANES_H
#define HAND_LANES_H

#include <math.h>
#include <string.h>

typedef double Lanes __attribute__((vector_size(64)));
typedef long long Mask __attribute__((vector_size(64)));

static inline Lanes load(const double *x) {
    Lanes v;
    memcpy(&v, x, sizeof v);
    return v;
}
static inline void store(double *x, Lanes v) { memcpy(x, &v, sizeof v); }
static inline Lanes all(double x) { return (Lanes){x, x, x, x, x, x, x, x}; }
static inline Lanes choose(Mask m, Lanes a, Lanes b) { return (Lanes)((m & (Mask)a) | (~m & (Mask)b)); }
/* Element 0 of eight rows. */
static inline Lanes column(const double *x, long stride) {
    return (Lanes){x[0],          x[stride],     x[2 * stride], x[3 * stride],
                   x[4 * stride], x[5 * stride], x[6 * stride], x[7 * stride]};
}
static inline double total(Lanes v) { return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7])); }

#if defined(__AVX512F__) && defined(__GLIBC__)
Lanes _ZGVeN8v_exp(Lanes);
Lanes _ZGVeN8v_log(Lanes);
Lanes _ZGVeN8v_sin(Lanes);
Lanes _ZGVeN8v_cos(Lanes);
#define LANES_FUNCTION(f)                                                                                              \
    static inline Lanes lanes_##f(Lanes x) { return _ZGVeN8v_##f(x); }
#else
#define LANES_FUNCTION(f)                                                                                              \
    static inline Lanes lanes_##f(Lanes x) {                                                                           \
        for (int i = 0; i < 8; i++) x[i] = f(x[i]);                                                                    \
        return x;                                                                                                      \
    }
#endif
LANES_FUNCTION(exp)
LANES_FUNCTION(log)
LANES_FUNCTION(sin)
LANES_FUNCTION(cos)
static inline Lanes lanes_sqrt(Lanes x) {
    Lanes y;
    for (int i = 0; i < 8; i++) y[i] = sqrt(x[i]);
    return y;
}

#endif
