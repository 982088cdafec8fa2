/* Products of matrices. Each element is the sum of its terms from the first to the last, in the order of a fold. What
 * is computed at the same time are different elements: register tiles of four rows, whose sums stay in registers. A
 * term is added by a fused multiplication where results need not be exact.
 *
 * The terms are divided into strips and the rows into blocks, for locality: a strip of a tile's columns of the right
 * matrix stays in the first cache for all rows of a block of the left matrix, a strip of which stays in the second.
 * Both are packed in the order in which they are read.
 *
 * Threads share the rows of the result, or the columns if these are more. Every sum belongs to one thread, so the bits
 * of the result do not depend on the number of threads. */
#ifndef CT_RT_PRODUCT_H
#define CT_RT_PRODUCT_H

#include "rt/threads.h"

#if defined(__GNUC__)

/* A vector register of the processor, so that the sums of a tile fit into registers. */
#if defined(__AVX512F__)
enum { CT_UNIT = 8 };
#define CT_UNIT_OF(x)                                                                                                  \
    { x, x, x, x, x, x, x, x }
#elif defined(__AVX__)
enum { CT_UNIT = 4 };
#define CT_UNIT_OF(x)                                                                                                  \
    { x, x, x, x }
#else
enum { CT_UNIT = 2 };
#define CT_UNIT_OF(x)                                                                                                  \
    { x, x }
#endif
/* CT_FUSED: a multiplication and an addition are one instruction, rounded once. Not where results are to be exact. */
#if defined(CT_MATH_EXACT) || !defined(__FMA__)
#define CT_FUSED                  0
#define CT_ADD_PRODUCT(sum, a, b) ((sum) + (a) * (b))
#else
#define CT_FUSED 1
#if defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_fma)
#define CT_ADD_PRODUCT(sum, a, b) __builtin_elementwise_fma(a, b, sum)
#endif
#endif
#if defined(CT_ADD_PRODUCT)
#elif defined(__AVX512F__)
#define CT_ADD_PRODUCT(sum, a, b) __builtin_ia32_vfmaddpd512_mask(a, b, sum, -1, 4)
#else
#define CT_ADD_PRODUCT(sum, a, b) __builtin_ia32_vfmaddpd256(a, b, sum)
#endif
#endif

/* Vectors in a row of a tile: as many as leave registers for what is added. A product that is not fused needs one. */
#if CT_FUSED || defined(__AVX512F__) || defined(__aarch64__)
#define CT_TILE_UNITS 3
#else
#define CT_TILE_UNITS 2
#endif
enum {
    CT_TILE_ROWS = 4,
    CT_TILE = CT_TILE_UNITS * CT_UNIT,
    CT_STRIP = 192,
    CT_BLOCK_ROWS = 128, /* a multiple of CT_TILE_ROWS */
    CT_PART_ROWS = 64,
    CT_TERMS_A_STEP = 8,
    CT_LEAST_BLAS = 32 * 32 * 32 /* terms */
};

typedef double ct_unit __attribute__((vector_size(CT_UNIT * 8)));
typedef int64_t ct_unit_ints __attribute__((vector_size(CT_UNIT * 8)));

typedef struct ct_factor { /* a matrix whose element [i, j] is at[i * down + j * along] */
    const ct_word *at;
    int64_t down, along;
} ct_factor;

static inline ct_unit ct_unit_load(const double *at) {
    ct_unit x;
    memcpy(&x, at, sizeof x);
    return x;
}
static inline void ct_unit_store(double *at, ct_unit x) { memcpy(at, &x, sizeof x); }

/* sum + a · b. With `scales` the product is ct_scale with the cotangent as second argument: of_a is −1 (all bits) if
 * that is a, and 0 if it is b. */
static CT_INSIDE inline ct_unit ct_unit_add_term(ct_unit sum, ct_unit a, ct_unit b, bool scales, int64_t of_a) {
    if (scales) {
        ct_unit_ints zero = (((ct_unit_ints)a == INT64_MIN) & of_a) | (((ct_unit_ints)b == INT64_MIN) & ~of_a);
        return sum + (ct_unit)((zero & INT64_MIN) | (~zero & (ct_unit_ints)(a * b + 0.0)));
    }
    return CT_ADD_PRODUCT(sum, a, b);
}

/* gcc would load vectors of b again for each row. */
#if CT_FUSED && !defined(__clang__)
#define CT_IN_REGISTERS(x, y, z) __asm__("" : "+v"(x), "+v"(y), "+v"(z))
#else
#define CT_IN_REGISTERS(x, y, z) (void)0
#endif

#define CT_ROW_LOAD(i)                                                                                                 \
    s##i##0 = ct_unit_load(at + i * stride);                                                                           \
    s##i##1 = ct_unit_load(at + i * stride + CT_UNIT);                                                                 \
    if (CT_TILE_UNITS == 3) s##i##2 = ct_unit_load(at + i * stride + 2 * CT_UNIT)
#define CT_ROW_ADD(i)                                                                                                  \
    x = (ct_unit)CT_UNIT_OF(a[i]);                                                                                     \
    s##i##0 = ct_unit_add_term(s##i##0, x, b0, scales, of_a);                                                          \
    s##i##1 = ct_unit_add_term(s##i##1, x, b1, scales, of_a);                                                          \
    if (CT_TILE_UNITS == 3) s##i##2 = ct_unit_add_term(s##i##2, x, b2, scales, of_a)
#define CT_ROW_STORE(i)                                                                                                \
    ct_unit_store(at + i * stride, s##i##0);                                                                           \
    ct_unit_store(at + i * stride + CT_UNIT, s##i##1);                                                                 \
    if (CT_TILE_UNITS == 3) ct_unit_store(at + i * stride + 2 * CT_UNIT, s##i##2)

/* Adds `count` more terms to the tile of x at `at`, or to `start` if they are the first. `a` holds four rows
 * interleaved, `b` the vectors of columns. */
static CT_INSIDE inline void ct_tile_add(double *at, int64_t stride, const double *a, const double *b, int64_t count,
                                         bool first, double start, bool scales, int64_t of_a) {
    ct_unit s00 = CT_UNIT_OF(start), s01 = s00, s02 = s00, s10 = s00, s11 = s00, s12 = s00, s20 = s00, s21 = s00,
            s22 = s00, s30 = s00, s31 = s00, s32 = s00, x;
    if (!first) {
        CT_ROW_LOAD(0);
        CT_ROW_LOAD(1);
        CT_ROW_LOAD(2);
        CT_ROW_LOAD(3);
    }
    for (int64_t k = 0; k < count; k++, a += CT_TILE_ROWS, b += CT_TILE) {
        ct_unit b0 = ct_unit_load(b), b1 = ct_unit_load(b + CT_UNIT), b2 = b1;
        if (CT_TILE_UNITS == 3) b2 = ct_unit_load(b + 2 * CT_UNIT);
        CT_IN_REGISTERS(b0, b1, b2);
        CT_ROW_ADD(0);
        CT_ROW_ADD(1);
        CT_ROW_ADD(2);
        CT_ROW_ADD(3);
    }
    CT_ROW_STORE(0);
    CT_ROW_STORE(1);
    CT_ROW_STORE(2);
    CT_ROW_STORE(3);
}
#undef CT_ROW_LOAD
#undef CT_ROW_ADD
#undef CT_ROW_STORE

/* Packs a strip of `width` rows or columns, interleaved: to[k * width + l] = from[l, k]; zeros where there are
 * fewer. */
static CT_INSIDE inline void ct_strip_pack(double *restrict to, ct_factor from, int64_t some, int64_t count,
                                           int64_t width) {
    int64_t l = 0;
    if (some < width) memset(to, 0, (size_t)(count * width) * sizeof *to);
    if (from.down == 1 && some == width) {
        for (int64_t k = 0; k < count; k++)
            memcpy(to + k * width, from.at + k * from.along, (size_t)width * sizeof *to);
        return;
    }
    for (; l + 4 <= some; l += 4) { /* four at a time, so that stores are of vectors */
        const ct_word *at0 = from.at + l * from.down, *at1 = at0 + from.down, *at2 = at1 + from.down,
                      *at3 = at2 + from.down;
        for (int64_t k = 0; k < count; k++) {
            double *four = to + k * width + l;
            four[0] = at0[k * from.along].f;
            four[1] = at1[k * from.along].f;
            four[2] = at2[k * from.along].f;
            four[3] = at3[k * from.along].f;
        }
    }
    for (; l < some; l++)
        for (int64_t k = 0; k < count; k++) to[k * width + l] = from.at[l * from.down + k * from.along].f;
}

static inline int64_t ct_least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Copies a tile between two row strides. */
static inline void ct_tile_copy(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t rows,
                                int64_t wide) {
    for (int64_t i = 0; i < rows; i++) {
        double *at = (double *)to + i * to_stride;
        const double *of = (const double *)from + i * from_stride;
        for (int64_t j = 0; j < wide; j++) at[j] = of[j];
    }
}

/* Adds a strip of terms to a tile of x, of which only some rows and columns may be there. */
static inline void ct_strip_add(ct_word *at, int64_t stride, int64_t rows, int64_t wide, const double *left,
                                const double *right, int64_t count, int cotangent, bool first, double start) {
    double sums[CT_TILE_ROWS * CT_TILE] __attribute__((aligned(64)));
    bool whole = rows == CT_TILE_ROWS && wide == CT_TILE;
    double *to = whole ? (double *)at : sums;
    int64_t to_stride = whole ? stride : CT_TILE;
    if (!whole && !first) ct_tile_copy(sums, CT_TILE, at, stride, rows, wide);
    if (cotangent == 0)
        ct_tile_add(to, to_stride, left, right, count, first, start, false, 0);
    else
        ct_tile_add(to, to_stride, left, right, count, first, start, true, cotangent == 1 ? -1 : 0);
    if (!whole) ct_tile_copy(at, stride, sums, CT_TILE, rows, wide);
}

typedef struct ct_multiplying { /* the product x = a b, or some rows or columns of it */
    ct_loop loop;
    bool by_columns;
    ct_word *x;
    int64_t rows, columns, stride, count; /* count: number of terms, at least one */
    ct_factor a, b;                       /* b is indexed [column, term] */
    int cotangent;
    double start;
} ct_multiplying;

static CT_NEAR void ct_multiply(ct_run *rt, const ct_multiplying *m) {
    int64_t strip = ct_least(m->count, CT_STRIP);
    int64_t block = ct_least((m->rows + CT_TILE_ROWS - 1) / CT_TILE_ROWS * CT_TILE_ROWS, CT_BLOCK_ROWS);
    size_t count = (size_t)(strip * (block + CT_TILE));
    double *left = ct_take(rt, count), *right = left + strip * block;
    for (int64_t k = 0; k < m->count; k += strip) {
        int64_t terms = ct_least(strip, m->count - k);
        for (int64_t i = 0; i < m->rows; i += block) {
            int64_t high = ct_least(block, m->rows - i);
            ct_iteration(rt);
            for (int64_t l = 0; l < high; l += CT_TILE_ROWS) {
                ct_factor some = {m->a.at + (i + l) * m->a.down + k * m->a.along, m->a.down, m->a.along};
                ct_strip_pack(left + l * terms, some, ct_least(CT_TILE_ROWS, high - l), terms, CT_TILE_ROWS);
            }
            for (int64_t j = 0; j < m->columns; j += CT_TILE) {
                int64_t wide = ct_least(CT_TILE, m->columns - j);
                ct_factor some = {m->b.at + j * m->b.down + k * m->b.along, m->b.down, m->b.along};
                ct_strip_pack(right, some, wide, terms, CT_TILE);
                for (int64_t l = 0; l < high; l += CT_TILE_ROWS)
                    ct_strip_add(m->x + (i + l) * m->stride + j, m->stride, ct_least(CT_TILE_ROWS, high - l), wide,
                                 left + l * terms, right, terms, m->cotangent, k == 0, m->start);
            }
        }
    }
    ct_give(rt, left, count);
}

static void ct_multiply_part(ct_run *rt, void *frame, int64_t from, int64_t to, int part) {
    ct_multiplying some = *(const ct_multiplying *)frame;
    (void)part;
    if (some.by_columns) {
        some.x += from;
        some.b.at += from * some.b.down;
        some.columns = to - from;
    } else {
        some.x += from * some.stride;
        some.a.at += from * some.a.down;
        some.rows = to - from;
    }
    ct_multiply(rt, &some);
}

/* Each part packs all of the other matrix. So there are at most two parts for each thread, and each has enough rows or
 * columns to be worth the packing. */
static ct_loop ct_multiply_parts(ct_run *rt, const ct_multiplying *m) {
    int64_t iterations = m->by_columns ? m->columns : m->rows, grain = m->by_columns ? CT_TILE : CT_TILE_ROWS;
    ct_loop loop = {iterations, iterations, 1, false, 0};
    double work = (double)m->rows * (double)m->columns * (double)m->count / CT_TERMS_A_STEP;
    if (work < 2.0 * CT_PART_WORK || !ct_has_crew(rt)) return loop;
    int64_t members = rt->crew->count, whole = (iterations - 1) / members + 1,
            half = (iterations - 1) / (2 * members) + 1;
    int64_t each = half < CT_PART_ROWS ? ct_least(whole, CT_PART_ROWS) : half;
    loop.each = (each + grain - 1) / grain * grain;
    loop.parts = (int)((iterations - 1) / loop.each + 1);
    return loop;
}

/* Whether CBLAS multiplies: the code was compiled with CT_CBLAS, its arithmetic need not be exact, and the product is
 * large enough to be worth the call. A sum of CBLAS has its terms in another order. */
static bool ct_multiply_by_blas(const ct_multiplying *m) {
#if defined(CT_CBLAS) && !defined(CT_MATH_EXACT)
    enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };
    extern void cblas_dgemm(int, int, int, int, int, int, double, const double *, int, const double *, int, double,
                            double *, int);
    int64_t a_stride = m->a.along == 1 ? m->a.down : m->a.along, b_stride = m->b.along == 1 ? m->b.down : m->b.along;
    bool fits = m->rows <= INT32_MAX && m->columns <= INT32_MAX && m->count <= INT32_MAX;
    if (!fits || m->cotangent != 0 || (double)m->rows * (double)m->columns * (double)m->count < CT_LEAST_BLAS)
        return false;
    cblas_dgemm(ROW_MAJOR, m->a.along == 1 ? PLAIN : TRANSPOSED, m->b.along == 1 ? TRANSPOSED : PLAIN, (int)m->rows,
                (int)m->columns, (int)m->count, 1, &m->a.at->f, (int)a_stride, &m->b.at->f, (int)b_stride, 0, &m->x->f,
                (int)m->stride);
    return true;
#else
    (void)m;
    return false;
#endif
}

/* Whether an element is a structural zero, −0.0. */
static inline bool ct_holds_zero(const ct_array *x) {
    int64_t words = ct_words(x), found = 0;
    for (int64_t i = 0; i < words; i++) found |= x->data[i].i == INT64_MIN;
    return found != 0;
}

static inline bool ct_is_finite(const ct_array *x) {
    const int64_t infinity = INT64_C(0x7FF) << 52;
    int64_t words = ct_words(x), found = 0;
    for (int64_t i = 0; i < words; i++) found |= (x->data[i].i & infinity) == infinity;
    return found == 0;
}

/* Sums all of whose terms are structural zeros are one: rows of x, or columns if the cotangent is b. */
static void ct_multiply_nothing(const ct_multiplying *m, bool of_a) {
    ct_factor of = of_a ? m->a : m->b;
    int64_t sums = of_a ? m->rows : m->columns, each = of_a ? m->columns : m->rows;
    int64_t down = of_a ? m->stride : 1, along = of_a ? 1 : m->stride;
    for (int64_t i = 0; i < sums; i++) {
        int64_t k = 0;
        while (k < m->count && of.at[i * of.down + k * of.along].i == INT64_MIN) k++;
        for (int64_t j = 0; j < each && k == m->count; j++) m->x[i * down + j * along].f = -0.0;
    }
}

/* The product a b of the given numbers of rows and columns. Either matrix may be stored transposed (its element [i, j]
 * is at [j, i]). All zeros if the shapes do not fit. `cotangent`: 1 or 2 says which matrix is a cotangent; 0: neither.
 * Borrows both. */
static CT_NEAR ct_array *ct_matrix_product(ct_run *rt, int site, int64_t rows, int64_t columns, const ct_array *a,
                                           int a_transposed, const ct_array *b, int b_transposed, int cotangent) {
    int64_t words, count = a->dims[1 - a_transposed];
    rt->here = site;
    if (__builtin_mul_overflow(rows, columns, &words)) ct_fail_memory(rt);
    ct_array *x = ct_array_make(rt, 2, false, words);
    x->dims[0] = rows;
    x->dims[1] = rows == 0 ? 0 : columns;
    bool fits = a->dims[a_transposed] == rows && b->dims[b_transposed] == count && b->dims[1 - b_transposed] == columns;
    if (!fits || count == 0 || words == 0) {
        for (int64_t i = 0; i < words; i++) x->data[i].f = cotangent == 0 ? 0.0 : -0.0;
    } else {
        /* of a finite number a structural zero makes a zero, which changes no sum that begins with 0.0 */
        bool zeros = cotangent != 0 && ct_holds_zero(cotangent == 1 ? a : b);
        bool scales = zeros && !ct_is_finite(cotangent == 1 ? b : a);
        ct_multiplying m = {.by_columns = columns > rows, .x = x->data, .start = scales ? -0.0 : 0.0};
        m.rows = rows;
        m.columns = m.stride = columns;
        m.count = count;
        m.a = (ct_factor){a->data, a_transposed ? 1 : a->dims[1], a_transposed ? a->dims[1] : 1};
        m.b = (ct_factor){b->data, b_transposed ? b->dims[1] : 1, b_transposed ? 1 : b->dims[1]};
        m.cotangent = scales ? cotangent : 0;
        if (!ct_multiply_by_blas(&m)) {
            m.loop = ct_multiply_parts(rt, &m);
            ct_share(rt, ct_multiply_part, NULL, &m);
        }
        if (zeros && !scales) ct_multiply_nothing(&m, cotangent == 1);
    }
    rt->here = 0;
    return x;
}

#endif
#endif
