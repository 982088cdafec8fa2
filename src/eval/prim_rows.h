/* How the evaluator reads primitives.def. A value is an expression over A and B, which are doubles or 64-bit integers
 * by the letters of the signature. All combinations are written out under conditions on the letters, which the C
 * compiler decides. The rows stand between these two lines, which silence warnings about the other combinations:
 *
 *   #include "eval/prim_rows.h"
 *   …
 *   #pragma GCC diagnostic pop
 *
 * FAIL_IF(condition, code) is defined by the reader. */
#include "rt/scalar.h"

#define IS_REAL(letter) ((letter) == 'R' || (letter) == 'D' || (letter) == 'F')
#define LETTERS(sig)    (sizeof(sig) - 3)
#define RESULT(sig)     ((sig)[sizeof(sig) - 2])
#define A_REAL(sig)     IS_REAL((sig)[0])
#define B_REAL(sig)     (LETTERS(sig) > 1 && IS_REAL((sig)[1]))

#define NONE            0
#define NEVER
/* The same predicates for integers, so that every combination compiles. */
#undef isnan
#undef isinf
#undef signbit
#define isnan(x)   __builtin_isnan((double)(x))
#define isinf(x)   (__builtin_isinf((double)(x)) != 0)
#define signbit(x) (__builtin_signbit((double)(x)) != 0)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wunused-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wabsolute-value"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wimplicit-const-int-float-conversion"
#endif

#define COMPUTE(TA, TB, ga, gb, use, fails)                                                                            \
    do {                                                                                                               \
        TA A = (ga);                                                                                                   \
        TB B = (gb);                                                                                                   \
        fails use                                                                                                      \
    } while (0)
#define BY_LETTERS(sig, a_real, a_int, b_real, b_int, use, fails)                                                      \
    if (A_REAL(sig) && B_REAL(sig))                                                                                    \
        COMPUTE(double, double, a_real, b_real, use, fails);                                                           \
    else if (A_REAL(sig))                                                                                              \
        COMPUTE(double, int64_t, a_real, b_int, use, fails);                                                           \
    else if (B_REAL(sig))                                                                                              \
        COMPUTE(int64_t, double, a_int, b_real, use, fails);                                                           \
    else                                                                                                               \
        COMPUTE(int64_t, int64_t, a_int, b_int, use, fails)
