/* Products of matrices. Each element is the sum of its terms from the first to the last, in the order of a fold. What
 * is computed at the same time are different elements: register tiles of four rows, whose sums stay in registers.
 *
 * The terms are divided into strips and the columns into slices, for locality: a tile reads one strip of a slice of the
 * right matrix, and one strip of four rows of the left matrix. Both are packed in the order in which they are read.
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
enum {
    CT_TILE_ROWS = 4,
    CT_TILE = 2 * CT_UNIT,
    CT_STRIP = 128,
    CT_SLICE = 512,
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

/* a · b. With `scales` it is ct_scale with the cotangent as second argument: of_a is −1 (all bits) if that is a, and 0
 * if it is b. */
static inline ct_unit ct_unit_term(ct_unit a, ct_unit b, bool scales, int64_t of_a) {
    ct_unit product = a * b;
    if (!scales) return product;
    ct_unit_ints zero = (((ct_unit_ints)a == INT64_MIN) & of_a) | (((ct_unit_ints)b == INT64_MIN) & ~of_a);
    return (ct_unit)((zero & INT64_MIN) | (~zero & (ct_unit_ints)product));
}

/* Adds `count` more terms to the sums of a tile. `a` holds four rows interleaved, `b` two vectors of columns. */
static CT_INSIDE inline void ct_tile_add(double *sums, const double *a, const double *b, int64_t count, bool scales,
                                         int64_t of_a) {
    ct_unit s00 = ct_unit_load(sums), s01 = ct_unit_load(sums + CT_UNIT), s10 = ct_unit_load(sums + CT_TILE),
            s11 = ct_unit_load(sums + CT_TILE + CT_UNIT), s20 = ct_unit_load(sums + 2 * CT_TILE),
            s21 = ct_unit_load(sums + 2 * CT_TILE + CT_UNIT), s30 = ct_unit_load(sums + 3 * CT_TILE),
            s31 = ct_unit_load(sums + 3 * CT_TILE + CT_UNIT);
    for (int64_t k = 0; k < count; k++, a += CT_TILE_ROWS, b += CT_TILE) {
        ct_unit b0 = ct_unit_load(b), b1 = ct_unit_load(b + CT_UNIT);
        ct_unit a0 = CT_UNIT_OF(a[0]), a1 = CT_UNIT_OF(a[1]), a2 = CT_UNIT_OF(a[2]), a3 = CT_UNIT_OF(a[3]);
        s00 += ct_unit_term(a0, b0, scales, of_a);
        s01 += ct_unit_term(a0, b1, scales, of_a);
        s10 += ct_unit_term(a1, b0, scales, of_a);
        s11 += ct_unit_term(a1, b1, scales, of_a);
        s20 += ct_unit_term(a2, b0, scales, of_a);
        s21 += ct_unit_term(a2, b1, scales, of_a);
        s30 += ct_unit_term(a3, b0, scales, of_a);
        s31 += ct_unit_term(a3, b1, scales, of_a);
    }
    ct_unit_store(sums, s00);
    ct_unit_store(sums + CT_UNIT, s01);
    ct_unit_store(sums + CT_TILE, s10);
    ct_unit_store(sums + CT_TILE + CT_UNIT, s11);
    ct_unit_store(sums + 2 * CT_TILE, s20);
    ct_unit_store(sums + 2 * CT_TILE + CT_UNIT, s21);
    ct_unit_store(sums + 3 * CT_TILE, s30);
    ct_unit_store(sums + 3 * CT_TILE + CT_UNIT, s31);
}

/* Packs a strip of `width` rows or columns, interleaved: to[k * width + l] = from[l, k]; zeros where there are
 * fewer. */
static CT_INSIDE inline void ct_strip_pack(double *restrict to, ct_factor from, int64_t some, int64_t count,
                                           int64_t width) {
    if (some < width) memset(to, 0, (size_t)(count * width) * sizeof *to);
    if (from.down == 1 && some == width)
        for (int64_t k = 0; k < count; k++)
            memcpy(to + k * width, from.at + k * from.along, (size_t)width * sizeof *to);
    else
        for (int64_t l = 0; l < some; l++)
            for (int64_t k = 0; k < count; k++) to[k * width + l] = from.at[l * from.down + k * from.along].f;
}

static inline int64_t ct_least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Copies a tile between two row strides. */
static inline void ct_tile_copy(void *to, int64_t to_stride, const void *from, int64_t from_stride, int64_t rows,
                                int64_t wide) {
    for (int64_t i = 0; i < rows; i++) {
        double *at = (double *)to + i * to_stride;
        const double *of = (const double *)from + i * from_stride;
        if (wide == CT_TILE)
            memcpy(at, of, CT_TILE * sizeof *at);
        else
            for (int64_t j = 0; j < wide; j++) at[j] = of[j];
    }
}

/* Adds a strip of terms to four rows of x, from the one at `at` on, in the columns that `right`, a packed slice,
 * covers. x has `rows` rows from there on. With `first`, the sums begin at `start`. */
static inline void ct_strip_add(ct_word *at, int64_t stride, int64_t rows, int64_t columns, const double *left,
                                const double *right, int64_t count, int cotangent, bool first, double start) {
    double sums[CT_TILE_ROWS * CT_TILE] __attribute__((aligned(64)));
    for (int64_t j = 0; j < columns; j += CT_TILE, right += count * CT_TILE) {
        int64_t wide = ct_least(CT_TILE, columns - j);
        for (int64_t i = 0; first && i < CT_TILE_ROWS * CT_TILE; i++) sums[i] = start;
        if (!first) ct_tile_copy(sums, CT_TILE, at + j, stride, rows, wide);
        if (cotangent == 0)
            ct_tile_add(sums, left, right, count, false, 0);
        else
            ct_tile_add(sums, left, right, count, true, cotangent == 1 ? -1 : 0);
        ct_tile_copy(at + j, stride, sums, CT_TILE, rows, wide);
    }
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
    int64_t slice = ct_least((m->columns + CT_TILE - 1) / CT_TILE * CT_TILE, CT_SLICE);
    size_t count = (size_t)(strip * (slice + CT_TILE_ROWS));
    double *left = ct_take(rt, count), *right = left + strip * CT_TILE_ROWS;
    for (int64_t k = 0; k < m->count; k += strip) {
        int64_t terms = ct_least(strip, m->count - k);
        for (int64_t j = 0; j < m->columns; j += slice) {
            int64_t wide = ct_least(slice, m->columns - j);
            ct_iteration(rt);
            for (int64_t l = 0; l < wide; l += CT_TILE) {
                ct_factor some = {m->b.at + (j + l) * m->b.down + k * m->b.along, m->b.down, m->b.along};
                ct_strip_pack(right + l * terms, some, ct_least(CT_TILE, wide - l), terms, CT_TILE);
            }
            for (int64_t i = 0; i < m->rows; i += CT_TILE_ROWS) {
                int64_t high = ct_least(CT_TILE_ROWS, m->rows - i);
                ct_factor some = {m->a.at + i * m->a.down + k * m->a.along, m->a.down, m->a.along};
                ct_strip_pack(left, some, high, terms, CT_TILE_ROWS);
                ct_strip_add(m->x + i * m->stride + j, m->stride, high, wide, left, right, terms, m->cotangent, k == 0,
                             m->start);
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

/* The product a b of the given numbers of rows and columns. Either matrix may be stored transposed (its element [i, j]
 * is at [j, i]). All zeros if the shapes do not fit. `cotangent`: 1 or 2 says which matrix is a cotangent; 0: neither.
 * Borrows both. */
static CT_NEAR ct_array *ct_matrix_product(ct_run *rt, int site, int64_t rows, int64_t columns, const ct_array *a,
                                           int a_transposed, const ct_array *b, int b_transposed, int cotangent) {
    int64_t words, count = a->dims[1 - a_transposed];
    double start = cotangent == 0 ? 0.0 : -0.0;
    rt->here = site;
    if (__builtin_mul_overflow(rows, columns, &words)) ct_fail_memory(rt);
    ct_array *x = ct_array_make(rt, 2, false, words);
    x->dims[0] = rows;
    x->dims[1] = rows == 0 ? 0 : columns;
    bool fits = a->dims[a_transposed] == rows && b->dims[b_transposed] == count && b->dims[1 - b_transposed] == columns;
    if (!fits || count == 0 || words == 0) {
        for (int64_t i = 0; i < words; i++) x->data[i].f = start;
    } else {
        bool scales = cotangent != 0 && ct_holds_zero(cotangent == 1 ? a : b);
        ct_multiplying m = {.by_columns = columns > rows, .x = x->data, .start = start};
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
    }
    rt->here = 0;
    return x;
}

#endif
#endif
