/* Instructions of the primitives: five for each row of primitives.def. Part of machine.c. */
#include "eval/prim_rows.h"

#define FAIL_IF(condition, code)                                                                                       \
    if (UNLIKELY(condition)) {                                                                                         \
        prim_error = CT_##code;                                                                                        \
        goto prim_fails;                                                                                               \
    }
/* For a unary primitive the second operand is no slot. */
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

INSTRUCTION(TRAP) {
    CHECK(ct_eval_trap_prim(m, fp, pc));
    NEXT(9);
}

#define FORM(id, form) prim_##id##_##form:
#define CT_PRIM(id, name, sig, value, vector, d1, d2, fails, ...)                                                      \
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
    ct_eval_raise(m, prim_error, "%s", ct_error_title(prim_error));
    goto fail;
}

#undef CT_PRIM
#pragma GCC diagnostic pop
