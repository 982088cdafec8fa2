/* Instructions of the primitives: five for each row of primitives.def. Part of machine.c.
 *
 * The table writes a value as an expression over A and B, doubles or 64-bit integers by the letters of the signature.
 * Each combination is written out under a condition on the letters, of which the compiler keeps one. */

#define IS_REAL(letter) ((letter) == 'R' || (letter) == 'D' || (letter) == 'F')
#define LETTERS(sig)    (sizeof(sig) - 3)
#define RESULT(sig)     ((sig)[sizeof(sig) - 2])
#define A_REAL(sig)     IS_REAL((sig)[0])
#define B_REAL(sig)     (LETTERS(sig) > 1 && IS_REAL((sig)[1]))

#define NONE            0
#define NEVER
#define FAIL_IF(condition, code)                                                                                       \
    if (UNLIKELY(condition)) {                                                                                         \
        prim_error = CT_##code;                                                                                        \
        goto prim_fails;                                                                                               \
    }
/* The same questions of integers, so that every combination compiles. */
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
/* The second operand of a unary one is no slot. */
#define B_SLOT(sig, i, member) (LETTERS(sig) > 1 ? SLOT(LETTERS(sig) > 1 ? i : 1).member : 0)
#define STORE(sig, value)                                                                                              \
    if (IS_REAL(RESULT(sig)))                                                                                          \
        SLOT(1).real = (double)(value);                                                                                \
    else                                                                                                               \
        SLOT(1).integer = (int64_t)(value);
#define BRANCH(sig, value, after)                                                                                      \
    if (RESULT(sig) == 'B' && ((value) != 0)) {                                                                        \
        fuel -= pc[(after) + 1];                                                                                       \
        pc += (after) + 3;                                                                                             \
    } else {                                                                                                           \
        fuel -= pc[(after) + 2];                                                                                       \
        pc += (int32_t)pc[after];                                                                                      \
    }

#define FORM(id, form) prim_##id##_##form:
#define CT_PRIM(id, name, sig, value, d1, d2, fails, cost, lo1, hi1, lo2, hi2, doc)                                    \
    FORM(id, slots) {                                                                                                  \
        BY_LETTERS(sig, SLOT(2).real, SLOT(2).integer, B_SLOT(sig, 3, real), B_SLOT(sig, 3, integer),                  \
                   STORE(sig, value), fails);                                                                          \
        NEXT(4);                                                                                                       \
    }                                                                                                                  \
    FORM(id, slot_const) {                                                                                             \
        BY_LETTERS(sig, SLOT(2).real, SLOT(2).integer, real64(pc + 3), (int64_t)word64(pc + 3), STORE(sig, value),     \
                   fails);                                                                                             \
        NEXT(5);                                                                                                       \
    }                                                                                                                  \
    FORM(id, const_slot) {                                                                                             \
        BY_LETTERS(sig, real64(pc + 3), (int64_t)word64(pc + 3), SLOT(2).real, SLOT(2).integer, STORE(sig, value),     \
                   fails);                                                                                             \
        NEXT(5);                                                                                                       \
    }                                                                                                                  \
    FORM(id, jump_slots) {                                                                                             \
        BY_LETTERS(sig, SLOT(1).real, SLOT(1).integer, B_SLOT(sig, 2, real), B_SLOT(sig, 2, integer),                  \
                   BRANCH(sig, value, 3), fails);                                                                      \
        NEXT(0);                                                                                                       \
    }                                                                                                                  \
    FORM(id, jump_const) {                                                                                             \
        BY_LETTERS(sig, SLOT(1).real, SLOT(1).integer, real64(pc + 2), (int64_t)word64(pc + 2), BRANCH(sig, value, 4), \
                   fails);                                                                                             \
        NEXT(0);                                                                                                       \
    }

{
    CtErrorCode prim_error;
#include "prim/primitives.def"

prim_fails:
    ct_raise(m, prim_error, "%s", ct_error_title(prim_error));
    goto fail;
}

#undef CT_PRIM
#pragma GCC diagnostic pop
