/* Products of matrices in lanes: C += A B, in tiles that stay in registers, from parts of A and B that are packed for
 * them. A and B have a stride between rows and one between columns, so that either may be transposed; C is row-major.
 */
#ifndef HAND_PRODUCT_H
#define HAND_PRODUCT_H

#include "hand.h"
#include "lanes.h"

/* A tile is TALL × BROAD; DEEP rows of a packed panel of B fit the first cache. */
enum { TALL = LANES == 8 ? 8 : 4, BROAD_LANES = 3, BROAD = BROAD_LANES * LANES, DEEP = 2304 / BROAD };

typedef struct Factor {
    const double *data;
    int64_t row, column; /* strides */
} Factor;

/* Panels of `width` columns, zeros in the place of what is not there: element (p, j) is at [j / width][p][j % width].
 */
static inline void pack(double *restrict to, Factor x, int64_t rows, int64_t columns, int64_t width) {
    for (int64_t j = 0; j < columns; j += width, to += rows * width) {
        int64_t there = columns - j < width ? columns - j : width;
        const double *from = x.data + j * x.column;
        if (there < width) memset(to, 0, (size_t)(rows * width) * sizeof *to);
        if (x.column == 1) {
            for (int64_t p = 0; p < rows; p++) memcpy(to + p * width, from + p * x.row, (size_t)there * sizeof *to);
        } else {
            for (int64_t i = 0; i < there; i++)
                for (int64_t p = 0; p < rows; p++) to[p * width + i] = from[p * x.row + i * x.column];
        }
    }
}

static inline void add_tile(int64_t depth, const double *restrict a, const double *restrict b, double *c,
                            int64_t stride, int64_t rows, int64_t columns) {
    Lanes sums[TALL][BROAD_LANES] = {{{0}}};
    double edge[TALL][BROAD];
    for (int64_t p = 0; p < depth; p++) {
        Lanes row[BROAD_LANES];
#pragma GCC unroll 3
        for (int j = 0; j < BROAD_LANES; j++) row[j] = load(b + p * BROAD + j * LANES);
#pragma GCC unroll 8
        for (int i = 0; i < TALL; i++) {
#pragma GCC unroll 3
            for (int j = 0; j < BROAD_LANES; j++) sums[i][j] += a[p * TALL + i] * row[j];
        }
    }
    if (rows >= TALL && columns >= BROAD) {
        for (int i = 0; i < TALL; i++)
            for (int j = 0; j < BROAD_LANES; j++)
                store(c + i * stride + j * LANES, load(c + i * stride + j * LANES) + sums[i][j]);
        return;
    }
    memcpy(edge, sums, sizeof edge);
    for (int64_t i = 0; i < rows && i < TALL; i++)
        for (int64_t j = 0; j < columns && j < BROAD; j++) c[i * stride + j] += edge[i][j];
}

/* C is m × n, and k is added over; A, of which DEEP columns are packed whole, is to be a few hundred rows at most. */
static inline void add_product(int64_t m, int64_t n, int64_t k, Factor a, Factor b, double *c) {
    double *left = aligned_alloc(64, (size_t)((m + TALL) * DEEP + BROAD * DEEP) * sizeof *left);
    double *right = left + (m + TALL - 1) / TALL * TALL * DEEP;
    for (int64_t p = 0; p < k; p += DEEP) {
        int64_t depth = k - p < DEEP ? k - p : DEEP;
        pack(left, (Factor){a.data + p * a.column, a.column, a.row}, depth, m, TALL);
        for (int64_t j = 0; j < n; j += BROAD) {
            pack(right, (Factor){b.data + p * b.row + j * b.column, b.row, b.column}, depth,
                 n - j < BROAD ? n - j : BROAD, BROAD);
            for (int64_t i = 0; i < m; i += TALL)
                add_tile(depth, left + i * depth, right, c + i * n + j, n, m - i, n - j);
        }
    }
    free(left);
}

#endif
