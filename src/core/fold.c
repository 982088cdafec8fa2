/* Constant folding of primitives, and identities that hold bit for bit, including NaN, infinities and signed zeros;
 * literal lists that are joined.
 *
 * Of the real functions only those are folded that IEEE 754 determines to the last bit. So results do not depend on
 * whether a value is computed at compile time or at run time. */
#include "core/simplify.h"

#include "base/rules.h"

#include <math.h>

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
        return is_real(a, 1.0) ? b : NULL; /* scale a 1 is never −0.0, but a may be */
    case PRIM_NEGATE:
        if (a->kind == CORE_PRIM && a->as.call.of.prim == PRIM_NEGATE) return a->as.call.args[0];
        return NULL;
    default: return NULL; /* only the listed primitives matter here */
    }
}

/* ---- values ---- */

static CtCore *fold_real(CtProgram *p, CtCore *prim, double a, double b) {
    const CtPrimInfo *info = ct_prim_info(prim->as.call.of.prim);
    if (!info->is_exact || info->result == 'I') return NULL;
    double value = ct_prim_value(prim->as.call.of.prim, a, b);
    if (info->result == 'B') return ct_core_bool(p, prim->range, value != 0);
    return isnan(value) ? NULL : ct_core_real(p, prim->range, prim->type, value);
}

static CtCore *fold_int(CtProgram *p, CtCore *prim, int64_t a, int64_t b) {
    char result = ct_prim_info(prim->as.call.of.prim)->result;
    int64_t value;
    if (result == 'F') return ct_core_real(p, prim->range, prim->type, (double)(float)a); /* rounded once */
    if (result == 'D') return ct_core_real(p, prim->range, prim->type, (double)a);
    if (result == 'C' || !ct_prim_int_value(prim->as.call.of.prim, a, b, &value)) return NULL;
    return result == 'B' ? ct_core_bool(p, prim->range, value != 0) : ct_core_int(p, prim->range, value);
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

/* ---- literal lists ---- */

static bool is_literal_list(const CtCore *list) {
    while (list->kind == CORE_CON && list->as.call.count == 2) list = list->as.call.args[1];
    return list->kind == CORE_CON && list->as.call.count == 0;
}

CtCore *ct_core_join(CtProgram *p, const CtCore *app) {
    CtCore *const *args = app->as.call.args;
    if (app->as.call.count != 2 || p->keeps_calls || !is_literal_list(args[0]) || !is_literal_list(args[1]))
        return NULL;
    if (args[0]->type != args[1]->type || !ct_core_is_append(app->as.call.of.fun)) return NULL;
    CT_FIRED("simplify.join");
    CtCore *joined = NULL, **place = &joined;
    for (const CtCore *cell = args[0]; cell->as.call.count == 2; cell = cell->as.call.args[1]) {
        *place = ct_core_con(p, cell->range, cell->as.call.of.con, cell->as.call.args, 2);
        place = &(*place)->as.call.args[1];
    }
    *place = args[1];
    return joined;
}
