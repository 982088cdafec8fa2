/* Vectorised loops: several iterations of a loop, such as i … i + 7 of an outer map, run at once, one in each lane.
 * Lanes are independent: each computes what its iteration would compute alone, in the same order. Contributions to one
 * sum are added in the order of the iterations. */
#ifndef CT_RT_SIMD_H
#define CT_RT_SIMD_H

#include "rt/array.h"
#include "rt/vector.h"

#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wpsabi"

/* Number of lanes: for gcc as many as one register of the target processor holds, since it spills wider vectors to
 * memory. clang splits a wider vector over several registers. Tests set 1: then vectorised loops take one iteration
 * after the other. */
#if defined(CT_WIDTH)
#define CT_EACH_LANE(of)                                                                                               \
    { of(0) }
#elif defined(__clang__) || defined(__AVX512F__)
#define CT_WIDTH 8
#define CT_EACH_LANE(of)                                                                                               \
    { of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7) }
#elif defined(__AVX2__)
#define CT_WIDTH 4
#define CT_EACH_LANE(of)                                                                                               \
    { of(0), of(1), of(2), of(3) }
#else
#define CT_WIDTH 2
#define CT_EACH_LANE(of)                                                                                               \
    { of(0), of(1) }
#endif
enum { CT_LANES = CT_WIDTH };
typedef double ct_lanes __attribute__((vector_size(CT_WIDTH * 8)));
typedef int64_t ct_lane_ints __attribute__((vector_size(CT_WIDTH * 8)));
typedef uint64_t ct_lane_words __attribute__((vector_size(CT_WIDTH * 8)));

#define CT_SAME(l)      x
#define CT_ITERATION(l) i + l
/* Operations for which some processors have no vector instruction, lane by lane. */
#define CT_BY_LANE(value)                                                                                              \
    for (int l = 0; l < CT_LANES; l++) a[l] = (value);                                                                 \
    return a
static inline ct_lanes ct_all(double x) { return (ct_lanes)CT_EACH_LANE(CT_SAME); }
static inline ct_lane_ints ct_all_ints(int64_t x) { return (ct_lane_ints)CT_EACH_LANE(CT_SAME); }
static inline ct_lane_ints ct_lanes_iterations(int64_t i) { return (ct_lane_ints)CT_EACH_LANE(CT_ITERATION); }

/* ---- choosing: masks are −1 or 0, tests 1 or 0 ---- */

#define CT_TEST(mask) (-(ct_lane_ints)(mask))
static inline ct_lanes ct_choose(ct_lane_ints mask, ct_lanes a, ct_lanes b) {
    return (ct_lanes)((mask & (ct_lane_ints)a) | (~mask & (ct_lane_ints)b));
}
static inline ct_lane_ints ct_choose_ints(ct_lane_ints mask, ct_lane_ints a, ct_lane_ints b) {
#if CT_WIDTH == 1 /* gcc 12 fails at the other form */
    return mask[0] ? a : b;
#else
    return (mask & a) | (~mask & b);
#endif
}
static inline bool ct_any(ct_lane_ints mask) {
    int64_t any = 0;
    for (int l = 0; l < CT_LANES; l++) any |= mask[l];
    return any != 0;
}
/* Whether one of the iterations from i on has an index out of range. */
static inline bool ct_lanes_leave(ct_lane_ints index, int64_t length) {
    return ct_any((ct_lane_ints)((index < 0) | (index >= length)));
}

/* ---- scalar.h, for lanes ---- */

static inline ct_lanes ct_lanes_scale(ct_lanes p, ct_lanes g) {
#if defined(__AVX512F__) && !defined(__clang__) && CT_WIDTH == 8 /* the mask is an operand of the addition */
    typedef long long quads __attribute__((vector_size(64)));
    uint8_t some = (uint8_t)__builtin_ia32_cmpq512_mask((quads)g, (quads)ct_all(-0.0), 4, 255);
    return __builtin_ia32_addpd512_mask(p * g, ct_all(0), ct_all(-0.0), some, 4);
#else
    ct_lane_ints none = (ct_lane_ints)g == INT64_MIN; /* lanes where g is −0.0 */
    return (ct_lanes)(((ct_lane_ints)(p * g + ct_all(0)) & ~none) | (none & INT64_MIN));
#endif
}
static inline ct_lanes ct_lanes_signum(ct_lanes x) {
    return ct_choose((ct_lane_ints)(x > 0), ct_all(1), ct_choose((ct_lane_ints)(x < 0), ct_all(-1), x));
}
/* b < a ? b : a, and b > a ? b : a: an instruction each, which gcc does not find by itself. */
#if defined(__x86_64__) && !defined(__clang__) && CT_WIDTH == 2
#define CT_LESS(a, b) __builtin_ia32_minpd(b, a)
#define CT_MORE(a, b) __builtin_ia32_maxpd(b, a)
#elif defined(__AVX__) && !defined(__clang__) && CT_WIDTH == 4
#define CT_LESS(a, b) __builtin_ia32_minpd256(b, a)
#define CT_MORE(a, b) __builtin_ia32_maxpd256(b, a)
#elif defined(__AVX512F__) && !defined(__clang__) && CT_WIDTH == 8
#define CT_LESS(a, b) __builtin_ia32_minpd512_mask(b, a, a, -1, 4)
#define CT_MORE(a, b) __builtin_ia32_maxpd512_mask(b, a, a, -1, 4)
#else
#define CT_LESS(a, b) ct_choose((ct_lane_ints)(b < a), b, a)
#define CT_MORE(a, b) ct_choose((ct_lane_ints)(b > a), b, a)
#endif
static inline ct_lanes ct_lanes_min(ct_lanes a, ct_lanes b) {
    return ct_choose((ct_lane_ints)(b != b), b, CT_LESS(a, b));
}
static inline ct_lanes ct_lanes_max(ct_lanes a, ct_lanes b) {
    return ct_choose((ct_lane_ints)(b != b), b, CT_MORE(a, b));
}
static inline ct_lanes ct_lanes_abs(ct_lanes x) { return (ct_lanes)((ct_lane_ints)x & INT64_MAX); }
static inline ct_lanes ct_lanes_of(ct_lane_ints i) { return __builtin_convertvector(i, ct_lanes); }
/* Ints wrap, as unsigned ones do. */
static inline ct_lane_ints ct_lanes_wrap_add(ct_lane_ints a, ct_lane_ints b) {
    return (ct_lane_ints)((ct_lane_words)a + (ct_lane_words)b);
}
static inline ct_lane_ints ct_lanes_wrap_sub(ct_lane_ints a, ct_lane_ints b) {
    return (ct_lane_ints)((ct_lane_words)a - (ct_lane_words)b);
}
static inline ct_lane_ints ct_lanes_wrap_mul(ct_lane_ints a, ct_lane_ints b) {
    return (ct_lane_ints)((ct_lane_words)a * (ct_lane_words)b);
}

static inline ct_lane_ints ct_lanes_int_negate(ct_lane_ints a) { return ct_lanes_wrap_sub(ct_all_ints(0), a); }
static inline ct_lane_ints ct_lanes_int_abs(ct_lane_ints a) {
    return ct_choose_ints((ct_lane_ints)(a < 0), ct_lanes_int_negate(a), a);
}
static inline ct_lane_ints ct_lanes_int_signum(ct_lane_ints a) { return (ct_lane_ints)(a < 0) - (ct_lane_ints)(a > 0); }
static inline ct_lane_ints ct_lanes_int_min(ct_lane_ints a, ct_lane_ints b) {
    return ct_choose_ints((ct_lane_ints)(b < a), b, a);
}
static inline ct_lane_ints ct_lanes_int_max(ct_lane_ints a, ct_lane_ints b) {
    return ct_choose_ints((ct_lane_ints)(a < b), b, a);
}
/* To the left by count, to the right by −count. */
static inline ct_lane_ints ct_lanes_int_shift(ct_lane_ints a, ct_lane_ints count) {
    ct_lane_ints down = ct_choose_ints((ct_lane_ints)(count <= -64), ct_all_ints(63), ct_lanes_int_negate(count)) & 63;
    ct_lane_ints left = (ct_lane_ints)((ct_lane_words)a << (ct_lane_words)(count & 63));
    left = left & (ct_lane_ints)(count < 64);
    return ct_choose_ints((ct_lane_ints)(count < 0), a >> down, left);
}
static inline ct_lane_ints ct_lanes_int_popcount(ct_lane_ints a) { CT_BY_LANE(ct_int_popcount(a[l])); }
/* Division rounds toward 0. Below 2⁵² in size a and b are doubles, and the double next to a / b is on the same side of
 * each integer as a / b, which is at least 1 / b away from it, or is that integer. */
static inline ct_lane_ints ct_lanes_int_quot(ct_lane_ints a, ct_lane_ints b) {
    const int64_t most = (int64_t)1 << 52;
    if (CT_UNLIKELY(ct_any((ct_lane_ints)((a >= most) | (a <= -most) | (b >= most) | (b <= -most) | (b == 0))))) {
        CT_BY_LANE(ct_int_quot(a[l], b[l]));
    }
    return __builtin_convertvector(ct_lanes_of(a) / ct_lanes_of(b), ct_lane_ints);
}
static inline ct_lane_ints ct_lanes_rest(ct_lane_ints a, ct_lane_ints b, ct_lane_ints q) {
    return ct_lanes_wrap_sub(a, ct_lanes_wrap_mul(q, b)) & (ct_lane_ints)(b != 0);
}
static inline ct_lane_ints ct_lanes_int_rem(ct_lane_ints a, ct_lane_ints b) {
    return ct_lanes_rest(a, b, ct_lanes_int_quot(a, b));
}
/* −1 in lanes where rounding down and toward 0 differ. */
static inline ct_lane_ints ct_lanes_rounds_down(ct_lane_ints r, ct_lane_ints b) {
    return (ct_lane_ints)(r != 0) & (ct_lane_ints)((r ^ b) < 0);
}
static inline ct_lane_ints ct_lanes_int_div(ct_lane_ints a, ct_lane_ints b) {
    ct_lane_ints q = ct_lanes_int_quot(a, b), r = ct_lanes_rest(a, b, q);
    return ct_lanes_wrap_add(q, ct_lanes_rounds_down(r, b));
}
static inline ct_lane_ints ct_lanes_int_mod(ct_lane_ints a, ct_lane_ints b) {
    ct_lane_ints r = ct_lanes_int_rem(a, b);
    return ct_lanes_wrap_add(r, ct_lanes_rounds_down(r, b) & b);
}
static inline ct_lanes ct_lanes_lgamma(ct_lanes a) { CT_BY_LANE(ct_lgamma(a[l])); }
static inline ct_lanes ct_lanes_digamma(ct_lanes a) { CT_BY_LANE(ct_digamma(a[l])); }
static inline ct_lanes ct_lanes_polygamma(ct_lanes a, ct_lanes b) { CT_BY_LANE(ct_polygamma(a[l], b[l])); }

/* ---- functions of libm ---- */

/* Lane by lane. */
#define CT_LANES_1(name)                                                                                               \
    static inline ct_lanes ct_lanes_##name(ct_lanes x) {                                                               \
        double in[CT_LANES], out[CT_LANES];                                                                            \
        memcpy(in, &x, sizeof in);                                                                                     \
        for (int l = 0; l < CT_LANES; l++) out[l] = name(in[l]);                                                       \
        memcpy(&x, out, sizeof out);                                                                                   \
        return x;                                                                                                      \
    }
#define CT_LANES_2(name)                                                                                               \
    static inline ct_lanes ct_lanes_##name(ct_lanes x, ct_lanes y) {                                                   \
        double a[CT_LANES], b[CT_LANES];                                                                               \
        memcpy(a, &x, sizeof a);                                                                                       \
        memcpy(b, &y, sizeof b);                                                                                       \
        for (int l = 0; l < CT_LANES; l++) a[l] = name(a[l], b[l]);                                                    \
        memcpy(&x, a, sizeof a);                                                                                       \
        return x;                                                                                                      \
    }

/* By libmvec, in vectors of the processor's width; the names of its functions contain the processor's vector
 * extension. */
#if CT_LIBMVEC > 0 && CT_WIDTH > 1
#if defined(__AVX512F__)
enum { CT_PART = 8 };
#define CT_VECTOR(parameters, name) _ZGVeN8##parameters##_##name
#elif defined(__AVX2__)
enum { CT_PART = 4 };
#define CT_VECTOR(parameters, name) _ZGVdN4##parameters##_##name
#else
enum { CT_PART = 2 };
#define CT_VECTOR(parameters, name) _ZGVbN2##parameters##_##name
#endif
typedef double ct_part __attribute__((vector_size(CT_PART * sizeof(double))));
typedef union ct_parts {
    ct_lanes all;
    ct_part part[CT_LANES / CT_PART];
} ct_parts;
#define CT_VECTOR_1(name)                                                                                              \
    __attribute__((const)) ct_part CT_VECTOR(v, name)(ct_part);                                                        \
    static inline ct_lanes ct_lanes_##name(ct_lanes x) {                                                               \
        ct_parts y = {x};                                                                                              \
        for (int p = 0; p < CT_LANES / CT_PART; p++) y.part[p] = CT_VECTOR(v, name)(y.part[p]);                        \
        return y.all;                                                                                                  \
    }
#define CT_VECTOR_2(name)                                                                                              \
    __attribute__((const)) ct_part CT_VECTOR(vv, name)(ct_part, ct_part);                                              \
    static inline ct_lanes ct_lanes_##name(ct_lanes x, ct_lanes y) {                                                   \
        ct_parts a = {x}, b = {y};                                                                                     \
        for (int p = 0; p < CT_LANES / CT_PART; p++) a.part[p] = CT_VECTOR(vv, name)(a.part[p], b.part[p]);            \
        return a.all;                                                                                                  \
    }
#else
#define CT_VECTOR_1 CT_LANES_1
#define CT_VECTOR_2 CT_LANES_2
#endif
CT_VECTOR_1(exp)
CT_VECTOR_1(log)
CT_VECTOR_1(sin)
CT_VECTOR_1(cos)
CT_VECTOR_2(pow)
#if CT_LIBMVEC == 1 /* this version of libmvec has no others */
#undef CT_VECTOR_1
#undef CT_VECTOR_2
#define CT_VECTOR_1 CT_LANES_1
#define CT_VECTOR_2 CT_LANES_2
#endif
CT_VECTOR_1(expm1)
CT_VECTOR_1(log1p)
CT_VECTOR_1(log2)
CT_VECTOR_1(log10)
CT_VECTOR_1(tan)
CT_VECTOR_1(asin)
CT_VECTOR_1(acos)
CT_VECTOR_1(atan)
CT_VECTOR_1(sinh)
CT_VECTOR_1(cosh)
CT_VECTOR_1(tanh)
CT_VECTOR_1(asinh)
CT_VECTOR_1(acosh)
CT_VECTOR_1(atanh)
CT_VECTOR_1(cbrt)
CT_VECTOR_1(erf)
CT_VECTOR_1(erfc)
CT_VECTOR_2(atan2)
CT_VECTOR_2(hypot)
CT_LANES_1(sqrt)
CT_LANES_1(floor)
CT_LANES_1(ceil)
CT_LANES_1(rint)
CT_LANES_1(trunc)
CT_LANES_2(fmod)

/* ---- arrays, of each lane one ---- */

/* Memory for arrays of `length` elements in all lanes, interleaved; *memory is to be passed to ct_lanes_give. Near,
 * because Cotan itself may be compiled for another vector width than the program. */
static CT_NEAR void *ct_lanes_take(ct_run *rt, int64_t length, ct_word **memory) {
    if (CT_UNLIKELY(length > (int64_t)1 << 54)) ct_fail_memory(rt);
    *memory = ct_take(rt, (size_t)(length + 1) * CT_LANES);
    return (void *)(((uintptr_t)*memory + sizeof(ct_lanes) - 1) / sizeof(ct_lanes) * sizeof(ct_lanes));
}
static CT_NEAR void *ct_lanes_take_rows(ct_run *rt, int64_t count, int64_t length, ct_word **memory) {
    if (CT_UNLIKELY(length > 0 && count > ((int64_t)1 << 54) / length)) ct_fail_memory(rt);
    return ct_lanes_take(rt, count * length, memory);
}
static CT_NEAR void ct_lanes_give(ct_run *rt, ct_word *memory, int64_t length) {
    ct_give(rt, memory, (size_t)(length + 1) * CT_LANES);
}

static inline ct_lanes ct_lanes_load(const void *from) {
    ct_lanes x;
    memcpy(&x, from, sizeof x);
    return x;
}
static inline ct_lane_ints ct_lanes_load_ints(const void *from) {
    ct_lane_ints x;
    memcpy(&x, from, sizeof x);
    return x;
}
/* Elements from the last to the first. */
static inline ct_lanes ct_lanes_load_back(const void *from) {
    ct_lanes x = ct_lanes_load(from), a = x;
    CT_BY_LANE(x[CT_LANES - 1 - l]);
}
static inline ct_lane_ints ct_lanes_load_back_ints(const void *from) {
    ct_lane_ints x = ct_lanes_load_ints(from), a = x;
    CT_BY_LANE(x[CT_LANES - 1 - l]);
}
/* The lanes of `now` one further on, behind the last lane of `before`. */
static inline ct_lanes ct_lanes_behind(ct_lanes before, ct_lanes now) {
#if defined(__clang__)
    ct_lanes a = now;
    CT_BY_LANE(l == 0 ? before[CT_LANES - 1] : now[l - 1]);
#else
#define CT_BEHIND(l) CT_LANES - 1 + l
    return __builtin_shuffle(before, now, (ct_lane_ints)CT_EACH_LANE(CT_BEHIND));
#endif
}
static inline void ct_lanes_store(void *to, ct_lanes x) { memcpy(to, &x, sizeof x); }
static inline void ct_lanes_store_ints(void *to, ct_lane_ints x) { memcpy(to, &x, sizeof x); }
static inline ct_lanes ct_lanes_gather(const void *from, ct_lane_ints at) {
    ct_lanes x = {0}; /* gcc does not see that all elements are written */
    for (int l = 0; l < CT_LANES; l++) x[l] = ((const double *)from)[at[l]];
    return x;
}
static inline ct_lane_ints ct_lanes_gather_ints(const void *from, ct_lane_ints at) {
    ct_lane_ints x = {0};
    for (int l = 0; l < CT_LANES; l++) x[l] = ((const int64_t *)from)[at[l]];
    return x;
}

/* ---- the last iterations, fewer than lanes: lanes without one have the value of the last that has one ---- */

#define CT_REST(l) l < rest ? i + l : i + rest - 1
static inline ct_lane_ints ct_lanes_rest_iterations(int64_t i, int64_t rest) {
    return (ct_lane_ints)CT_EACH_LANE(CT_REST);
}
static inline ct_lane_ints ct_rest(int64_t rest) { return (ct_lane_ints)(ct_lanes_iterations(0) < rest); }
/* What does not change a sum in the lanes without an iteration. */
static inline ct_lanes ct_lanes_of_rest(ct_lanes x, int64_t rest) { return ct_choose(ct_rest(rest), x, ct_all(-0.0)); }
static inline ct_lanes ct_lanes_load_rest(const void *from, int64_t rest) {
#if defined(__AVX512F__) && !defined(__clang__) && CT_WIDTH == 8
    return __builtin_ia32_loadupd512_mask(from, ct_all(*(const double *)from), (unsigned char)((1 << rest) - 1));
#else
    return ct_lanes_gather(from, ct_lanes_rest_iterations(0, rest));
#endif
}
static inline ct_lane_ints ct_lanes_load_rest_ints(const void *from, int64_t rest) {
    return (ct_lane_ints)ct_lanes_load_rest(from, rest);
}
static inline void ct_lanes_store_rest(void *to, ct_lanes x, int64_t rest) {
#if defined(__AVX512F__) && !defined(__clang__) && CT_WIDTH == 8
    __builtin_ia32_storeupd512_mask(to, x, (unsigned char)((1 << rest) - 1));
#else
    memcpy(to, &x, (size_t)rest * sizeof(double));
#endif
}
static inline void ct_lanes_store_rest_ints(void *to, ct_lane_ints x, int64_t rest) {
    ct_lanes_store_rest(to, (ct_lanes)x, rest);
}

/* ---- streaming: past the cache ---- */

/* A loop that walks over more memory than the cache holds writes its results with non-temporal stores, so that their
 * memory is not read first. `words`: what the loop walks over in all. */
#if defined(CT_NEAR_CACHE) && !defined(CT_FAR)
#define CT_FAR (1 << 20) /* words: an Intel Xeon whose cores have 2 MB each */
#elif !defined(CT_FAR)
#define CT_FAR (1 << 21) /* an AMD EPYC with 32 MB for some cores; smaller in tests */
#endif
static inline bool ct_is_far(const void *to, int64_t words) { return words >= CT_FAR && (uintptr_t)to % CT_LINE == 0; }

#if defined(__clang__)
#define CT_STREAM(to, x) __builtin_nontemporal_store(x, (ct_lanes *)(to))
#elif CT_WIDTH == 8
#define CT_STREAM __builtin_ia32_movntpd512
#elif CT_WIDTH == 4
#define CT_STREAM __builtin_ia32_movntpd256
#elif CT_WIDTH == 2 && defined(__SSE2__)
#define CT_STREAM __builtin_ia32_movntpd
#else
#define CT_STREAM ct_lanes_store
#endif
static inline void ct_lanes_stream(double *to, ct_lanes x, bool is_far) {
    if (is_far)
        CT_STREAM(to, x);
    else
        ct_lanes_store(to, x);
}
/* Makes non-temporal stores visible to other threads. */
static inline void ct_streams_end(void) {
#if defined(__SSE2__)
    __builtin_ia32_sfence();
#endif
}

/* ---- rows ---- */

typedef double ct_pair __attribute__((vector_size(2 * sizeof(double))));

/* ---- transposition ---- */

#if !defined(__clang__) && (CT_WIDTH == 4 || CT_WIDTH == 8)
/* Of two vectors, whose numbers differ in bit k: lanes with that bit of the one change places with lanes without it of
 * the other. Done for each bit, it transposes as many vectors as there are lanes: element (i, l) goes to (l, i). */
#define CT_KEPT_1(l)  ((l)&1) != 0 ? CT_LANES + ((l) ^ 1) : (l)
#define CT_TAKEN_1(l) ((l)&1) != 0 ? CT_LANES + (l) : ((l) ^ 1)
#define CT_KEPT_2(l)  ((l)&2) != 0 ? CT_LANES + ((l) ^ 2) : (l)
#define CT_TAKEN_2(l) ((l)&2) != 0 ? CT_LANES + (l) : ((l) ^ 2)
#define CT_KEPT_4(l)  ((l)&4) != 0 ? CT_LANES + ((l) ^ 4) : (l)
#define CT_TAKEN_4(l) ((l)&4) != 0 ? CT_LANES + (l) : ((l) ^ 4)
#define CT_EXCHANGE(k, i)                                                                                              \
    do {                                                                                                               \
        ct_lanes a = x[i], b = x[(i) + (k)];                                                                           \
        x[i] = __builtin_shuffle(a, b, (ct_lane_ints)CT_EACH_LANE(CT_KEPT_##k));                                       \
        x[(i) + (k)] = __builtin_shuffle(a, b, (ct_lane_ints)CT_EACH_LANE(CT_TAKEN_##k));                              \
    } while (0)
static CT_INSIDE inline void ct_lanes_transpose(ct_lanes x[CT_LANES]) {
    CT_EXCHANGE(1, 0);
    CT_EXCHANGE(1, 2);
    CT_EXCHANGE(2, 0);
    CT_EXCHANGE(2, 1);
#if CT_WIDTH == 8
    CT_EXCHANGE(1, 4);
    CT_EXCHANGE(1, 6);
    CT_EXCHANGE(2, 4);
    CT_EXCHANGE(2, 5);
    CT_EXCHANGE(4, 0);
    CT_EXCHANGE(4, 1);
    CT_EXCHANGE(4, 2);
    CT_EXCHANGE(4, 3);
#endif
}
#define CT_TRANSPOSES 1
#else
#define CT_TRANSPOSES 0
#endif

/* Rows of so many elements are summed along themselves, in a loop that otherwise has a row in each lane: sums over
 * lanes take less time than packing the rows does. Measured with AVX-512. */
#ifndef CT_LONG_ROW
#define CT_LONG_ROW 16
#endif

/* Whether to put a row of so many elements into a lane takes no longer than to compute with those that are read. */
static inline bool ct_row_pays(int64_t length, double reads) { return (double)length <= CT_LONG_ROW * (1 + reads); }

/* The end of the iterations whose rows are put into lanes: `to`, or `index` where that does not pay. Not inline: gcc
 * makes slower code of a loop whose bound it sees to be a choice. */
static CT_NEAR int64_t ct_rows_end(int64_t length, double reads, int64_t to, int64_t index) {
    return ct_row_pays(length, reads) ? to : index;
}

/* Gathers the first elements of rows of `row` elements into lanes, and scatters lanes into rows. */
#define CT_IN_ROW(l) from[l * row + j].f
#define CT_ROW_AT(l) ct_lanes_load(from + l * row + j)
static CT_NEAR void ct_lanes_rows(ct_lanes *restrict to, const ct_word *restrict from, int64_t row, int64_t length) {
    int64_t j = 0;
#if CT_TRANSPOSES
    for (; j + CT_LANES <= length; j += CT_LANES) {
        ct_lanes x[] = CT_EACH_LANE(CT_ROW_AT);
        ct_lanes_transpose(x);
        CT_UNROLLED
        for (int l = 0; l < CT_LANES; l++) to[j + l] = x[l];
    }
#endif
    for (; j < length; j++) {
        ct_lanes x = CT_EACH_LANE(CT_IN_ROW);
        to[j] = x;
    }
}
static CT_NEAR void ct_lanes_put_rows(ct_word *restrict to, int64_t stride, const ct_lanes *restrict from,
                                      int64_t length) {
    int64_t j = 0;
#if CT_TRANSPOSES
    for (; j + CT_LANES <= length; j += CT_LANES) {
        ct_lanes x[CT_LANES];
        CT_UNROLLED
        for (int l = 0; l < CT_LANES; l++) x[l] = from[j + l];
        ct_lanes_transpose(x);
        CT_UNROLLED
        for (int l = 0; l < CT_LANES; l++) ct_lanes_store(to + l * stride + j, x[l]);
    }
#endif
    for (; j + 2 <= length; j += 2) { /* two elements of a row are one store */
        CT_UNROLLED
        for (int l = 0; l < CT_LANES; l++) {
            ct_pair two = {from[j][l], from[j + 1][l]};
            memcpy(&to[l * stride + j], &two, sizeof two);
        }
    }
    for (int l = 0; l < CT_LANES && j < length; l++) to[l * stride + j].f = from[j][l];
}
static inline void ct_lanes_fill(ct_lanes *to, int64_t length, ct_lanes x) {
    for (int64_t j = 0; j < length; j++) to[j] = x;
}

/* The elements of one array, the same in every lane. */
static inline void ct_lanes_repeat(ct_lanes *to, const double *from, int64_t length) {
    for (int64_t j = 0; j < length; j++) to[j] = ct_all(from[j]);
}
static inline void ct_lanes_copy(ct_lanes *to, const ct_lanes *from, int64_t length) {
    for (int64_t j = 0; j < length; j++) to[j] = from[j];
}

/* Gathers an element for each lane, at an index of its own. */
static inline ct_lanes ct_lanes_pick(const ct_lanes *from, ct_lane_ints at) {
    ct_lanes x = {0}; /* gcc does not see that all elements are written */
    for (int l = 0; l < CT_LANES; l++) x[l] = from[at[l]][l];
    return x;
}
static inline void ct_lanes_put(ct_lanes *to, ct_lane_ints at, ct_lanes x) {
    for (int l = 0; l < CT_LANES; l++) to[at[l]][l] = x[l];
}
/* Copies one array into every lane. */
static CT_NEAR void ct_lanes_spread(ct_lanes *restrict to, const ct_array *from) {
    for (int64_t j = 0; j < from->dims[0]; j++) to[j] = ct_all(from->data[j].f);
}

/* The common length of the arrays of all lanes, or a mark that lengths differ; then gathers and scatters such
 * arrays. */
static inline int64_t ct_lanes_length(const ct_word *from) {
    int64_t length = ((const ct_array *)from[0].p)->dims[0];
    for (int l = 1; l < CT_LANES; l++)
        if (((const ct_array *)from[l].p)->dims[0] != length) return -1;
    return length;
}
#define CT_IN_ARRAY(l) data[l][j].f
static CT_NEAR void ct_lanes_arrays(ct_lanes *restrict to, const ct_word *from, int64_t length) {
    const ct_word *data[CT_LANES];
    for (int l = 0; l < CT_LANES; l++) data[l] = ((const ct_array *)from[l].p)->data;
    for (int64_t j = 0; j < length; j++) {
        ct_lanes x = CT_EACH_LANE(CT_IN_ARRAY);
        to[j] = x;
    }
}
/* A row of a matrix in each lane. */
#define CT_IN_GATHERED(l) rows[l][j]
static CT_NEAR void ct_lanes_gather_rows(ct_lanes *restrict to, const void *from, ct_lane_ints at, int64_t length) {
    const double *rows[CT_LANES];
    for (int l = 0; l < CT_LANES; l++) rows[l] = (const double *)from + at[l] * length;
    for (int64_t j = 0; j < length; j++) {
        ct_lanes x = CT_EACH_LANE(CT_IN_GATHERED);
        to[j] = x;
    }
}
static CT_NEAR void ct_lanes_put_arrays(ct_run *rt, ct_word *to, const ct_lanes *from, int64_t length) {
    for (int l = 0; l < CT_LANES; l++) {
        ct_array *x = ct_vector(rt, false, length);
        for (int64_t j = 0; j < length; j++) x->data[j].f = ((const double *)from)[j * CT_LANES + l];
        to[l].p = &x->head;
    }
}

/* ---- adding to what all lanes share ---- */

static inline double ct_lanes_total(ct_lanes x) {
#if CT_WIDTH == 8
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
#elif CT_WIDTH == 4
    return (x[0] + x[2]) + (x[1] + x[3]);
#elif CT_WIDTH == 2
    return x[0] + x[1];
#else
    return x[0];
#endif
}
/* Adds up what the lanes have accumulated separately. */
static CT_NEAR void ct_lanes_collect(void *to, const ct_lanes *from, int64_t length) {
    for (int64_t j = 0; j < length; j++) ((double *)to)[j] += ct_lanes_total(from[j]);
}
/* Adds lanes to consecutive elements; to elements `stride` apart; to elements at any indices. */
static inline void ct_lanes_add_row(void *to, ct_lanes x) { ct_lanes_store(to, ct_lanes_load(to) + x); }
static inline void ct_lanes_add_rest(void *to, ct_lanes x, int64_t rest) {
    ct_lanes_store_rest(to, ct_lanes_load_rest(to, rest) + x, rest);
}
static inline void ct_lanes_add_column(void *to, int64_t stride, ct_lanes x) {
    for (int l = 0; l < CT_LANES; l++) ((double *)to)[l * stride] += x[l];
}
static inline void ct_lanes_add_at(void *to, ct_lane_ints at, ct_lanes x) {
    for (int l = 0; l < CT_LANES; l++) ((double *)to)[at[l]] += x[l];
}

/* ---- accumulators whose lanes are more than the cache holds ---- */

/* Up to this number of elements, each element of an accumulator has a copy in every lane. More copies (2 MB) would be
 * evicted from the cache between iterations; then the lanes of each term are summed at once. */
#ifndef CT_WIDE
#define CT_WIDE ((1 << 18) / CT_WIDTH) /* smaller in tests */
#endif

/* Whether to make copies of so many elements, and to collect them, takes no longer than so many iterations. */
static inline bool ct_wide_pays(int64_t length, int64_t iterations) { return length / 64 <= iterations; }
/* The same for copies that have to fit into the cache, and of which each iteration adds to `added`. */
static inline bool ct_wide_fits(int64_t length, int64_t iterations, int64_t added) {
    return length <= CT_WIDE && length / added <= iterations;
}
/* Copies in every lane of all elements of an accumulator; NULL when there are too many elements, for the cache or for
 * so many iterations. */
static CT_NEAR ct_lanes *ct_lanes_wide(ct_run *rt, int64_t length, int64_t iterations, ct_word **memory) {
    *memory = NULL;
    if (length > CT_WIDE || !ct_wide_pays(length, iterations)) return NULL;
    ct_lanes *wide = ct_lanes_take(rt, length, memory);
    ct_lanes_fill(wide, length, ct_all(-0.0));
    return wide;
}
static CT_NEAR void ct_lanes_narrow(ct_run *rt, void *to, const ct_lanes *wide, ct_word *memory, int64_t length) {
    if (wide == NULL) return;
    ct_lanes_collect(to, wide, length);
    ct_lanes_give(rt, memory, length);
}
/* Adds to one element. */
static CT_INSIDE inline void ct_lanes_add(ct_lanes *wide, void *to, int64_t at, ct_lanes x) {
    if (CT_UNLIKELY(wide == NULL))
        ((double *)to)[at] += ct_lanes_total(x);
    else
        wide[at] += x;
}
/* Of a term with eight lanes, the sums of lanes l and l + 4. */
#if CT_WIDTH == 8
typedef double ct_half __attribute__((vector_size(32)));
static CT_INSIDE inline void ct_lanes_fold(ct_half *to, ct_lanes x) {
    ct_half halves[2];
    memcpy(halves, &x, sizeof x);
    *to = halves[0] + halves[1];
}
#else
typedef ct_lanes ct_half;
static CT_INSIDE inline void ct_lanes_fold(ct_half *to, ct_lanes x) { *to = x; }
#endif

/* Adds to CT_LANES consecutive elements, each with its own term. */
#if CT_WIDTH < 4
static CT_INSIDE inline void ct_lanes_add_totals(void *to, int64_t at, const ct_half *terms) {
    for (int j = 0; j < CT_LANES; j++) ((double *)to)[at + j] += ct_lanes_total(terms[j]);
}
#else
#if defined(__clang__)
#define CT_SHUFFLE __builtin_shufflevector
#else
typedef int64_t ct_half_ints __attribute__((vector_size(32)));
#define CT_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, (ct_half_ints){__VA_ARGS__})
#endif
/* Reduces two half vectors at once: the totals, each split in two, as a, b, a, b. */
static CT_INSIDE inline void ct_halves_pair(ct_half *to, const ct_half *a, const ct_half *b) {
    *to = CT_SHUFFLE(*a, *b, 0, 1, 4, 5) + CT_SHUFFLE(*a, *b, 2, 3, 6, 7);
}
/* Adds the totals of four half vectors, in order, to four elements. */
static CT_INSIDE inline void ct_halves_add(double *to, const ct_half *x) {
    ct_half even, odd, sums;
    ct_halves_pair(&even, &x[0], &x[2]);
    ct_halves_pair(&odd, &x[1], &x[3]);
    memcpy(&sums, to, sizeof sums);
    sums += CT_SHUFFLE(even, odd, 0, 4, 2, 6) + CT_SHUFFLE(even, odd, 1, 5, 3, 7);
    memcpy(to, &sums, sizeof sums);
}
static CT_INSIDE inline void ct_lanes_add_totals(void *to, int64_t at, const ct_half *terms) {
    ct_halves_add((double *)to + at, terms);
#if CT_WIDTH == 8
    ct_halves_add((double *)to + at + 4, terms + 4);
#endif
}
#endif
/* The same for accumulators that may have copies in every lane after all. */
static CT_INSIDE inline void ct_lanes_add_either(ct_lanes *wide, void *to, int64_t at, const ct_half *terms) {
    if (wide == NULL) {
        ct_lanes_add_totals(to, at, terms);
        return;
    }
    for (int j = 0; j < CT_LANES; j++)
#if CT_WIDTH == 8
        wide[at + j] += (ct_lanes){terms[j][0], terms[j][1], terms[j][2], terms[j][3], -0.0, -0.0, -0.0, -0.0};
#else
        wide[at + j] += terms[j];
#endif
}

/* ---- reductions ---- */

/* Adds the lanes to a sum, one after the other, as the iterations would. */
static inline double ct_lanes_add_to(double sum, ct_lanes x) {
    for (int l = 0; l < CT_LANES; l++) sum += x[l];
    return sum;
}
static CT_NEAR ct_lanes ct_lanes_sum(const ct_lanes *x, int64_t length) {
    ct_lanes sum = {0};
    for (int64_t i = 0; i < length; i++) sum += x[i];
    return sum;
}
static CT_NEAR ct_lanes ct_lanes_product(const ct_lanes *x, int64_t length) {
    ct_lanes product = ct_all(1);
    for (int64_t i = 0; i < length; i++) product *= x[i];
    return product;
}
static CT_NEAR ct_lanes ct_lanes_extreme(ct_run *rt, int site, const char *what, const ct_lanes *x, int64_t length,
                                         bool largest) {
    if (length == 0) ct_fail(rt, site, 505, "%s of an array without elements", what);
    ct_lanes best = x[0];
    for (int64_t i = 1; i < length; i++) {
        ct_lane_ints better = (ct_lane_ints)(largest ? x[i] > best : x[i] < best) | (ct_lane_ints)(x[i] != x[i]);
        best = ct_choose(better & (ct_lane_ints)(best == best), x[i], best);
    }
    return best;
}

/* In each lane, the index of the first largest or smallest element. */
static CT_NEAR ct_lane_ints ct_lanes_extreme_at(ct_run *rt, int site, const char *what, const ct_lanes *x,
                                                int64_t length, bool largest) {
    if (length == 0) ct_fail(rt, site, 505, "%s of an array without elements", what);
    ct_lanes best = x[0];
    ct_lane_ints at = {0};
    for (int64_t i = 1; i < length; i++) {
        ct_lane_ints better = (ct_lane_ints)(largest ? x[i] > best : x[i] < best) | (ct_lane_ints)(x[i] != x[i]);
        better &= (ct_lane_ints)(best == best);
        best = ct_choose(better, x[i], best);
        at = ct_choose_ints(better, ct_all_ints(i), at);
    }
    return at;
}

#endif
#endif
