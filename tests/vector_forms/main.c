/* Every row of primitives.def that has a vector form: each lane of it against the row's VALUE, bit by bit, where one
 * NaN is as good as another. tests/vector_forms.py writes operands.h, which says of each row what its operands and its
 * result are: a macro of three types, for reals and Ints. */
#define CT_MATH_EXACT
#include "rt/simd.h"

#include <stdio.h>

#include "operands.h"

enum { TRIES = 4000 };

/* The questions of <math.h>, for Ints as well: the text of a row is compiled for one kind, that of failures for both.
 */
#undef isnan
#undef isinf
#undef signbit
#define isnan(x)                 __builtin_isnan((double)(x))
#define isinf(x)                 __builtin_isinf((double)(x))
#define signbit(x)               (__builtin_signbit((double)(x)) != 0)
#define NEVER                    false
#define FAIL_IF(condition, code) (condition)

#define NONE                     0
#define CT_PRIM(id, name, signature, value, vector, d1, d2, fails, ...)                                                \
    static bool one_##id(ct_word a, ct_word b, ct_word *out) {                                                         \
        OPERANDS_##id(double, int64_t);                                                                                \
        memcpy(&A, &a, sizeof A);                                                                                      \
        memcpy(&B, &b, sizeof B);                                                                                      \
        if (fails) return false;                                                                                       \
        RESULT_##id(double, int64_t) y = (value);                                                                      \
        memcpy(out, &y, sizeof y);                                                                                     \
        return true;                                                                                                   \
    }
#include "prim/primitives.def"
#undef CT_PRIM
#undef NONE

#define NONE                                                                                                           \
    (ct_lanes) { 0 }
#define CT_PRIM(id, name, signature, value, vector, ...)                                                               \
    static void all_##id(const ct_word *a, const ct_word *b, ct_word *out) {                                           \
        OPERANDS_##id(ct_lanes, ct_lane_ints);                                                                         \
        memcpy(&A, a, sizeof A);                                                                                       \
        memcpy(&B, b, sizeof B);                                                                                       \
        RESULT_##id(ct_lanes, ct_lane_ints) y = (RESULT_##id(ct_lanes, ct_lane_ints))(vector);                         \
        memcpy(out, &y, sizeof y);                                                                                     \
    }
#include "prim/primitives.def"
#undef CT_PRIM
#undef NONE

typedef struct Row {
    const char *id, *signature, *form;
    bool (*one)(ct_word a, ct_word b, ct_word *out);
    void (*all)(const ct_word *a, const ct_word *b, ct_word *out);
} Row;

static const Row rows[] = {
#define CT_PRIM(id, name, signature, value, vector, ...) {#id, signature, #vector, one_##id, all_##id},
#include "prim/primitives.def"
#undef CT_PRIM
};

static uint64_t state = 1;

static uint64_t any(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33 | state << 31;
}

static ct_word any_real(void) {
    static const double edges[] = {0.0,      -0.0,   1.0,      -1.0,      0.5,        -0.5,
                                   1.5,      2.5,    INFINITY, -INFINITY, NAN,        1e-300,
                                   0x1p1023, 0x1p53, -0x1p63,  0x1p-1074, -0x1p-1074, 0x1p-1022};
    switch (any() % 4) {
    case 0: return (ct_word){.f = edges[any() % (sizeof edges / sizeof *edges)]};
    case 1: return (ct_word){.i = (int64_t)any()}; /* of any size */
    default: return (ct_word){.f = (double)(int64_t)any() / 0x1p60};
    }
}

static ct_word any_int(void) {
    static const int64_t edges[] = {0,  1,  -1,  2,   3,   -3,        7,         63,
                                    64, 65, -63, -64, -65, INT64_MAX, INT64_MIN, INT64_MIN + 1};
    switch (any() % 4) {
    case 0: return (ct_word){.i = edges[any() % (sizeof edges / sizeof *edges)]};
    case 1: return (ct_word){.i = (int64_t)any()};
    default: return (ct_word){.i = (int64_t)(any() % 41) - 20};
    }
}

static bool is_real(char letter) { return letter == 'R' || letter == 'D' || letter == 'F'; }

static bool is_same(char result, ct_word wanted, ct_word found) {
    return wanted.i == found.i || (is_real(result) && wanted.f != wanted.f && found.f != found.f);
}

/* How many lanes were compared; -1 where one differs. */
static int compare(const Row *row) {
    const char *letters = row->signature;
    char second = letters[1] == ':' ? letters[0] : letters[1], result = letters[strlen(letters) - 1];
    int compared = 0;
    for (int i = 0; i < TRIES; i++) {
        ct_word a[CT_LANES], b[CT_LANES], found[CT_LANES], wanted;
        for (int l = 0; l < CT_LANES; l++) {
            a[l] = is_real(letters[0]) ? any_real() : any_int();
            b[l] = any() % 16 == 0 && letters[0] == second ? a[l] : is_real(second) ? any_real() : any_int();
        }
        row->all(a, b, found);
        for (int l = 0; l < CT_LANES; l++) {
            if (!row->one(a[l], b[l], &wanted)) continue;
            compared++;
            if (is_same(result, wanted, found[l])) continue;
            printf("%s of %a, %a (%lld, %lld) is %a (%lld), but %a (%lld) in a vector\n", row->id, a[l].f, b[l].f,
                   (long long)a[l].i, (long long)b[l].i, wanted.f, (long long)wanted.i, found[l].f,
                   (long long)found[l].i);
            return -1;
        }
    }
    return compared;
}

int main(void) {
    int forms = 0, wrong = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(rows[i].form, "NONE") == 0) continue;
        forms++;
        wrong += compare(&rows[i]) <= 0;
    }
    printf("%d vector forms of %d lanes, %d wrong\n", forms, CT_LANES, wrong);
    return wrong > 0 || forms == 0;
}
