/* Primitives on literals, and identities that hold in every bit: NaN, infinities and both zeroes included.
 *
 * Of the real functions only those are computed here that IEEE 754 fixes to the last bit, so that a program gives the
 * same bits whether a value was computed now or is computed later, elsewhere.
 */
#include "core/simplify.h"

#include <math.h>

#include "rt/scalar.h"

static bool is_lit(const CtCore *core) { return core->kind == CORE_LIT; }

static bool is_real(const CtCore *core, double value) {
    return is_lit(core) && memcmp(&core->as.lit.real, &value, sizeof value) == 0;
}

/* ---- identities ---- */

static CtCore *real_identity(CtCore *prim) {
    CtCore **args = prim->as.call.args, *a = args[0], *b = prim->as.call.count > 1 ? args[1] : NULL;
    switch ((int)prim->as.call.of.prim) {
    case PRIM_ADD: return is_real(b, -0.0) ? a : is_real(a, -0.0) ? b : NULL;
    case PRIM_SUB: return is_real(b, 0.0) ? a : NULL;
    case PRIM_MUL: return is_real(b, 1.0) ? a : is_real(a, 1.0) ? b : NULL;
    case PRIM_DIV: return is_real(b, 1.0) ? a : NULL;
    case PRIM_SCALE:
        if (is_real(b, -0.0) && ct_core_is_total(a)) return b;
        return is_real(a, 1.0) ? b : NULL; /* scale a 1 is no −0.0, which a may be */
    case PRIM_NEGATE:
        if (a->kind == CORE_PRIM && a->as.call.of.prim == PRIM_NEGATE) return a->as.call.args[0];
        return NULL;
    default: return NULL; /* a choice among primitives, not over all of them */
    }
}

/* ---- values ---- */

/* Whether the result is defined to the last bit. */
static bool is_exact(CtPrim prim) {
    switch ((int)prim) {
    case PRIM_ADD:
    case PRIM_SUB:
    case PRIM_MUL:
    case PRIM_DIV:
    case PRIM_NEGATE:
    case PRIM_SCALE:
    case PRIM_ABS:
    case PRIM_SIGNUM:
    case PRIM_MIN:
    case PRIM_MAX:
    case PRIM_SQRT:
    case PRIM_RECIP:
    case PRIM_FLOAT_TO_DOUBLE:
    case PRIM_DOUBLE_TO_FLOAT: return true;
    default: return false;
    }
}

static CtCore *fold_real(CtProgram *p, CtCore *prim, double a, double b) {
    switch ((int)prim->as.call.of.prim) {
    case PRIM_EQ: return ct_core_bool(p, prim->range, a == b);
    case PRIM_LT: return ct_core_bool(p, prim->range, a < b);
    case PRIM_LE: return ct_core_bool(p, prim->range, a <= b);
    default: break;
    }
    if (!is_exact(prim->as.call.of.prim)) return NULL;
    double value = ct_prim_value(prim->as.call.of.prim, a, b);
    return isnan(value) ? NULL : ct_core_real(p, prim->range, prim->type, value);
}

static CtCore *fold_int(CtProgram *p, CtCore *prim, int64_t a, int64_t b) {
    CtSourceRange range = prim->range;
    switch ((int)prim->as.call.of.prim) {
    case PRIM_INT_ADD: return ct_core_int(p, range, ct_wrap_add(a, b));
    case PRIM_INT_SUB: return ct_core_int(p, range, ct_wrap_sub(a, b));
    case PRIM_INT_MUL: return ct_core_int(p, range, ct_wrap_mul(a, b));
    case PRIM_INT_NEGATE: return ct_core_int(p, range, ct_wrap_sub(0, a));
    case PRIM_INT_DIV: return b != 0 ? ct_core_int(p, range, ct_int_div(a, b)) : NULL;
    case PRIM_INT_MOD: return b != 0 ? ct_core_int(p, range, ct_int_mod(a, b)) : NULL;
    case PRIM_INT_QUOT: return b != 0 ? ct_core_int(p, range, ct_int_quot(a, b)) : NULL;
    case PRIM_INT_REM: return b != 0 ? ct_core_int(p, range, ct_int_rem(a, b)) : NULL;
    case PRIM_INT_ABS: return ct_core_int(p, range, ct_int_abs(a));
    case PRIM_INT_MIN: return ct_core_int(p, range, ct_int_min(a, b));
    case PRIM_INT_MAX: return ct_core_int(p, range, ct_int_max(a, b));
    case PRIM_INT_EQ:
    case PRIM_CHAR_EQ: return ct_core_bool(p, range, a == b);
    case PRIM_INT_LT:
    case PRIM_CHAR_LT: return ct_core_bool(p, range, a < b);
    case PRIM_INT_LE:
    case PRIM_CHAR_LE: return ct_core_bool(p, range, a <= b);
    case PRIM_TO_DOUBLE:
    case PRIM_TO_FLOAT: return ct_core_real(p, range, prim->type, (double)a);
    case PRIM_ORD: return ct_core_int(p, range, a);
    default: return NULL;
    }
}

CtCore *ct_core_fold(CtProgram *p, CtCore *prim) {
    CtCore **args = prim->as.call.args;
    uint32_t count = prim->as.call.count;
    if (count == 0 || count > 2) return NULL;
    CtTypeKind kind = args[0]->type->kind;
    bool real = kind == TYPE_DOUBLE || kind == TYPE_FLOAT;
    bool all = is_lit(args[0]) && (count == 1 || is_lit(args[1]));
    CtCore *folded = NULL;
    if (all && real)
        folded = fold_real(p, prim, args[0]->as.lit.real, count == 2 ? args[1]->as.lit.real : 0);
    else if (all)
        folded = fold_int(p, prim, args[0]->as.lit.integer, count == 2 ? args[1]->as.lit.integer : 0);
    return folded != NULL || !real ? folded : real_identity(prim);
}
