/* Primitives over blocks of numbers: a C loop for each row of primitives.def and for each combination of operands that
 * are arrays or single numbers. */
#include "eval/internal.h"
#include "eval/prim_rows.h"

#define FAIL_IF(condition, code)                                                                                       \
    if (__builtin_expect(condition, 0)) return CT_##code;
#define B_WORD(sig, word, member) (LETTERS(sig) > 1 ? (word).member : 0)
#define STORE(sig, value)                                                                                              \
    if (IS_REAL(RESULT(sig)))                                                                                          \
        out[i].real = (double)(value);                                                                                 \
    else                                                                                                               \
        out[i].integer = (int64_t)(value);
#define LOOP(sig, value, fails, ga, gb)                                                                                \
    for (int64_t i = 0; i < count; i++)                                                                                \
    BY_LETTERS(sig, (ga).real, (ga).integer, B_WORD(sig, gb, real), B_WORD(sig, gb, integer), STORE(sig, value), fails)

#define CT_PRIM(id, name, sig, value, vector, d1, d2, fails, ...)                                                      \
    static CtErrorCode kernel_##id(CtWord *out, const CtWord *a, bool a_steps, const CtWord *b, bool b_steps,          \
                                   int64_t count) {                                                                    \
        const CtWord a0 = *a, b0 = *b;                                                                                 \
        if (LETTERS(sig) > 1 && a_steps && b_steps) {                                                                  \
            LOOP(sig, value, fails, a[i], b[i]);                                                                       \
        } else if (a_steps) {                                                                                          \
            LOOP(sig, value, fails, a[i], b0);                                                                         \
        } else if (LETTERS(sig) > 1 && b_steps) {                                                                      \
            LOOP(sig, value, fails, a0, b[i]);                                                                         \
        } else {                                                                                                       \
            LOOP(sig, value, fails, a0, b0);                                                                           \
        }                                                                                                              \
        return CT_E0000;                                                                                               \
    }
#include "prim/primitives.def"
#undef CT_PRIM
#pragma GCC diagnostic pop

Kernel *const ct_eval_kernels[CT_PRIM_COUNT] = {
#define CT_PRIM(id, ...) kernel_##id,
#include "prim/primitives.def"
#undef CT_PRIM
};
