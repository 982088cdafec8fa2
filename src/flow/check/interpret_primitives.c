/* Primitives in the interpreter: the expressions of primitives.def over doubles and Ints, as in the evaluator and
 * emitted programs; and in extended precision, for the comparison of derivatives. */
#include "flow/check/interpret.h"

#include "rt/text.h"

/* Rows of the other kind never get to a switch, but their expressions must compile in it. */
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wfloat-conversion"
#pragma GCC diagnostic ignored "-Wfloat-equal"

#define NONE 0

/* ---- failures ---- */

#define NEVER                    break
#define FAIL_IF(condition, code) return (condition) ? CT_##code : CT_NO_ERROR

enum { CT_NO_ERROR = -1 };

static int real_fails(CtPrim prim, double A) {
    const double B = 0;
    (void)B;
    switch (prim) {
#define CT_PRIM(id, name, signature, value, vector, d1, d2, fails, ...)                                                \
    case PRIM_##id:                                                                                                    \
        fails;
#include "prim/primitives.def"
#undef CT_PRIM
    case CT_PRIM_COUNT: break;
    }
    return CT_NO_ERROR;
}

static int int_fails(CtPrim prim, int64_t A, int64_t B) {
    switch (prim) {
#define CT_PRIM(id, name, signature, value, vector, d1, d2, fails, ...)                                                \
    case PRIM_##id:                                                                                                    \
        fails;
#include "prim/primitives.def"
#undef CT_PRIM
    case CT_PRIM_COUNT: break;
    }
    return CT_NO_ERROR;
}

/* ---- extended precision: the functions of libm by tgmath.h, those of rt/scalar.h that only choose or multiply ---- */

static long double wide_scale(long double p, long double g) {
    return g == 0 && signbit(g) ? -0.0L : p * g + 0.0L; /* a zero that was computed is not a structural zero */
}
static long double wide_signum(long double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static long double wide_min(long double a, long double b) { return b < a || isnan(b) ? (isnan(a) ? a : b) : a; }
static long double wide_max(long double a, long double b) { return a < b || isnan(b) ? (isnan(a) ? a : b) : a; }

#include <tgmath.h>
#define ct_scale  wide_scale
#define ct_signum wide_signum
#define ct_min    wide_min
#define ct_max    wide_max

static long double wide_value(CtPrim prim, long double A, long double B) {
    if (prim == PRIM_DOUBLE_TO_FLOAT) return A; /* rounding is not part of the function that is differentiated */
    switch (prim) {
#define CT_PRIM(id, name, signature, value, ...)                                                                       \
    case PRIM_##id:                                                                                                    \
        return value;
#include "prim/primitives.def"
#undef CT_PRIM
    case CT_PRIM_COUNT: break;
    }
    return 0;
}

#undef ct_scale
#undef ct_signum
#undef ct_min
#undef ct_max

/* ---- steps ---- */

static CtFlowCell text_of(CtInterpreter *i, const CtFlowStep *step, char letter, CtFlowCell a) {
    char buffer[64];
    uint32_t points[sizeof buffer];
    size_t length = letter == 'I' ? (size_t)snprintf(buffer, sizeof buffer, "%lld", (long long)a.integer)
                                  : ct_write_real(buffer, (double)a.real, letter == 'F');
    for (size_t k = 0; k < length; k++) points[k] = (unsigned char)buffer[k];
    return ct_flow_interpret_string(i, step->results.items[0]->type, points, length);
}

static bool is_real(char letter) { return letter == 'R' || letter == 'D' || letter == 'F'; }

static CtFlowCell of_reals(const CtInterpreter *i, const CtFlowStep *step, char result, CtFlowCell a, CtFlowCell b) {
    CtPrim prim = step->as.prim;
    if (is_real(result) && i->options.wide) return (CtFlowCell){.real = wide_value(prim, a.real, b.real)};
    if (result == 'B') {
        bool holds = i->options.wide ? wide_value(prim, a.real, b.real) != 0
                                     : ct_prim_value(prim, (double)a.real, (double)b.real) != 0;
        return (CtFlowCell){.integer = holds};
    }
    double value = ct_prim_value(prim, (double)a.real, (double)b.real);
    if (!is_real(result)) return (CtFlowCell){.integer = (int64_t)value}; /* integral, and in range */
    bool single = result == 'R' && step->results.items[0]->type->kind == FLOW_F32;
    return (CtFlowCell){.real = (long double)(single ? (double)(float)value : value)};
}

static CtFlowCell of_ints(const CtInterpreter *i, CtPrim prim, char result, CtFlowCell a, CtFlowCell b) {
    int64_t value = 0;
    if (!is_real(result)) {
        ct_prim_int_value(prim, a.integer, b.integer, &value);
        return (CtFlowCell){.integer = value};
    }
    if (i->options.wide) return (CtFlowCell){.real = (long double)a.integer};
    return (CtFlowCell){.real = (long double)(result == 'F' ? (double)(float)a.integer : (double)a.integer)};
}

CtFlowCell ct_flow_interpret_prim(CtInterpreter *i, const CtFlowStep *step) {
    const CtPrimInfo *info = ct_prim_info(step->as.prim);
    CtFlowCell a = ct_flow_interpret_arg(i, &step->args.items[0]);
    CtFlowCell b = info->arity == 2 ? ct_flow_interpret_arg(i, &step->args.items[1]) : a;
    if (step->as.prim == PRIM_EFFECT) ct_flow_interpret_stop(i, "it asks for input or output");
    if (step->as.prim == PRIM_TRACE) {
        i->told += a.integer < 0;
        i->messages = (i->messages ^ (uint64_t)a.integer) * 0x9E3779B97F4A7C15u;
        return ct_flow_interpret_string(i, step->results.items[0]->type, NULL, 0);
    }
    if (info->result == 'S') return text_of(i, step, info->args[0], a);
    bool real = is_real(info->args[0]);
    int code = real ? real_fails(step->as.prim, (double)a.real) : int_fails(step->as.prim, a.integer, b.integer);
    if (code != CT_NO_ERROR) {
        ct_flow_interpret_at(i, step->range);
        ct_flow_interpret_fail(i, (CtErrorCode)code, ct_error_title((CtErrorCode)code));
    }
    return real ? of_reals(i, step, info->result, a, b) : of_ints(i, step->as.prim, info->result, a, b);
}
