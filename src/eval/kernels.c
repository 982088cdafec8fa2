/* A primitive over whole arrays: what `map` and `zipWith` of a λ run whose body is that and no more. One C loop for
 * each row of primitives.def and for each of its operands that steps along an array; the others stay the same for all
 * elements. */
#include "eval/internal.h"
#include "eval/prim_rows.h"

/* Gives E0000, or the error of the first element that fails. `out` may be one of the operands. */
typedef CtErrorCode KernelFunction(CtWord *out, const CtWord *a, bool a_steps, const CtWord *b, bool b_steps,
                                   int64_t count);

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

#define CT_PRIM(id, name, sig, value, d1, d2, fails, cost, lo1, hi1, lo2, hi2, doc)                                    \
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

static KernelFunction *const kernels[] = {
#define CT_PRIM(id, name, sig, value, d1, d2, fails, cost, lo1, hi1, lo2, hi2, doc) kernel_##id,
#include "prim/primitives.def"
#undef CT_PRIM
};

/* How many elements the steps that are left allow; one more, if none are (or less: what has no loop charges
 * afterwards). The machine refuels then, or stops. */
static bool charge(Machine *m, uint32_t cost, int64_t *count) {
    int64_t covered = m->fuel / cost;
    if (covered < 1) covered = 1;
    if (*count > covered) *count = covered;
    m->fuel -= *count * cost;
    return m->fuel >= 0 || ct_refuel(m);
}

static bool run(Machine *m, const Kernel *k, CtWord *out, int64_t count) {
    for (int64_t at = 0; at < count;) {
        int64_t some = count - at;
        if (!charge(m, k->cost, &some)) return false;
        const CtWord *a = k->a + (k->a_steps ? at : 0), *b = k->b + (k->b_steps ? at : 0);
        CtErrorCode code = kernels[k->prim](out + at, a, k->a_steps, b, k->b_steps, some);
        if (code != CT_E0000) {
            m->pc++; /* in this instruction, but at the primitive's own place */
            return ct_raise(m, code, "%s", ct_error_title(code));
        }
        at += some;
    }
    return true;
}

CtArray *ct_kernel_run(Machine *m, const Kernel *k, CtArray *reuse, int64_t count) {
    CtArray *out = reuse != NULL ? reuse : ct_array_new(m->heap, k->layout, 0, count);
    if (out == NULL) {
        ct_raise_memory(m);
        return NULL;
    }
    if (!run(m, k, out->items, count)) {
        if (reuse == NULL) ct_release(m->heap, &out->head);
        return NULL;
    }
    out->length = count;
    return out;
}
