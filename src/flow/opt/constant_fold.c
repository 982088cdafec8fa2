/* Constant folding of primitives, and identities between literals and variables that hold bit for bit, including NaN,
 * infinities and signed zeros.
 *
 * Of the real functions only those are folded that IEEE 754 determines to the last bit. So results do not depend on
 * whether a value is computed at compile time or at run time. */
#include "flow/opt/passes.h"

#include <math.h>

/* ---- literals ---- */

static bool is_real_letter(char letter) { return letter == 'R' || letter == 'D' || letter == 'F'; }

static bool fold_reals(const CtFlowStep *step, const CtPrimInfo *info, double a, double b, CtFlowArg *value) {
    if (!info->is_exact || (!is_real_letter(info->result) && info->result != 'B')) return false;
    double real = ct_prim_value(step->as.prim, a, b);
    if (info->result == 'B') {
        value->lit.integer = real != 0;
        return CT_FIRED("fold.test_of_reals");
    }
    if (isnan(real)) return false; /* the bits of a NaN may depend on the machine */
    value->lit.real = value->type->kind == FLOW_F32 ? (double)(float)real : real;
    return CT_FIRED("fold.reals");
}

static bool fold_ints(const CtFlowStep *step, const CtPrimInfo *info, int64_t a, int64_t b, CtFlowArg *value) {
    if (!is_real_letter(info->result))
        return ct_prim_int_value(step->as.prim, a, b, &value->lit.integer) && CT_FIRED("fold.ints");
    value->lit.real = info->result == 'F' ? (double)(float)a : (double)a;
    return CT_FIRED("fold.int_to_real");
}

static bool fold_literals(const CtFlowStep *step, CtFlowArg *value) {
    const CtPrimInfo *info = ct_prim_info(step->as.prim);
    const CtFlowArg *a = &step->args.items[0], *b = info->arity == 2 ? &step->args.items[1] : a;
    *value = (CtFlowArg){.type = step->results.items[0]->type};
    if (is_real_letter(info->args[0])) return fold_reals(step, info, a->lit.real, b->lit.real, value);
    return fold_ints(step, info, a->lit.integer, b->lit.integer, value);
}

/* ---- identities ---- */

static bool is_real(const CtFlowArg *arg, double value) {
    return arg->var == NULL && memcmp(&arg->lit.real, &value, sizeof value) == 0;
}

static const CtFlowArg *identity(const CtFlowStep *step, const CtFlowArg *a, const CtFlowArg *b) {
    switch ((int)step->as.prim) {
    case PRIM_ADD: return is_real(b, -0.0) ? a : is_real(a, -0.0) ? b : NULL;
    case PRIM_SUB: return is_real(b, 0.0) ? a : NULL;
    case PRIM_MUL: return is_real(b, 1.0) ? a : is_real(a, 1.0) ? b : NULL;
    case PRIM_DIV: return is_real(b, 1.0) ? a : NULL;
    case PRIM_SCALE: return is_real(b, -0.0) || is_real(a, 1.0) ? b : NULL; /* `scale a 1` is not −0.0, even if a is */
    case PRIM_MIN:
    case PRIM_MAX:
    case PRIM_INT_MIN:
    case PRIM_INT_MAX: return ct_flow_same(a, b) ? a : NULL;
    case PRIM_INT_ADD: return ct_flow_is_int(b, 0) ? a : ct_flow_is_int(a, 0) ? b : NULL;
    case PRIM_INT_SUB: return ct_flow_is_int(b, 0) ? a : NULL;
    case PRIM_INT_MUL:
        return ct_flow_is_int(b, 1) || ct_flow_is_int(a, 0)   ? a
               : ct_flow_is_int(a, 1) || ct_flow_is_int(b, 0) ? b
                                                              : NULL;
    case PRIM_INT_DIV:
    case PRIM_INT_QUOT: return ct_flow_is_int(b, 1) ? a : NULL;
    default: return NULL;
    }
}

/* A primitive of a variable and itself. */
static bool fold_same(const CtFlowStep *step, CtFlowArg *value) {
    *value = (CtFlowArg){.type = step->results.items[0]->type};
    switch ((int)step->as.prim) {
    case PRIM_INT_EQ:
    case PRIM_INT_LE:
    case PRIM_CHAR_EQ:
    case PRIM_CHAR_LE: value->lit.integer = 1; return true;
    case PRIM_LT:
    case PRIM_INT_LT:
    case PRIM_CHAR_LT:
    case PRIM_INT_SUB: return true; /* the result is 0 */
    default: return false;
    }
}

bool ct_flow_fold(const CtFlowStep *step, CtFlowArg *value) {
    const CtFlowArg *args = step->args.items;
    bool literals = true;
    for (uint32_t i = 0; i < step->args.count; i++) literals &= args[i].var == NULL;
    if (literals) return fold_literals(step, value);
    if (step->args.count != 2) return false;
    const CtFlowArg *same = identity(step, &args[0], &args[1]);
    if (same != NULL) {
        *value = *same;
        return CT_FIRED("fold.identity");
    }
    return ct_flow_same(&args[0], &args[1]) && fold_same(step, value) && CT_FIRED("fold.same");
}

/* ---- sums of Ints ---- */

/* A sum of Ints: variables, each so many times, and a literal. All is modulo 2^64, as Ints are; so terms may be put
 * together in any order. */
enum { MOST_TERMS = 4, DEEPEST = 6 };

typedef struct Sum {
    CtFlowArg terms[MOST_TERMS];
    uint64_t times[MOST_TERMS], literal;
    uint32_t count;
} Sum;

static bool add_terms(const CtFlowFacts *facts, Sum *sum, const CtFlowArg *arg, uint64_t times, int depth) {
    if (arg->var == NULL) {
        sum->literal += times * (uint64_t)arg->lit.integer;
        return true;
    }
    const CtFlowStep *made = ct_flow_maker(facts, arg, FLOW_PRIM);
    bool adds = ct_flow_is_prim(made, PRIM_INT_ADD);
    if (depth > 0 && (adds || ct_flow_is_prim(made, PRIM_INT_SUB)))
        return add_terms(facts, sum, &made->args.items[0], times, depth - 1) &&
               add_terms(facts, sum, &made->args.items[1], adds ? times : -times, depth - 1);
    uint32_t i = 0;
    while (i < sum->count && !ct_flow_same(&sum->terms[i], arg)) i++;
    if (i == MOST_TERMS) return false;
    if (i == sum->count) {
        sum->terms[sum->count] = *arg;
        sum->times[sum->count++] = 0;
    }
    sum->times[i] += times;
    return true;
}

/* Whether a sum whose other terms cancel is a literal or a variable, which becomes the value. If it is a variable and a
 * literal, the step adds these: (n − (i + 1)) + i is n − 1. */
bool ct_flow_sum_of_ints(const CtFlowFacts *facts, CtFlowStep *step, CtFlowArg *value) {
    Sum sum = {0};
    bool adds = step->as.prim == PRIM_INT_ADD;
    if (!adds && step->as.prim != PRIM_INT_SUB) return false;
    const CtFlowArg *args = step->args.items;
    bool short_already = (args[0].var == NULL || args[1].var == NULL) &&
                         ct_flow_maker(facts, &args[args[0].var == NULL ? 1 : 0], FLOW_PRIM) == NULL;
    if (short_already || !add_terms(facts, &sum, &args[0], 1, DEEPEST) ||
        !add_terms(facts, &sum, &args[1], adds ? 1 : UINT64_MAX, DEEPEST))
        return false;
    const CtFlowArg *only = NULL;
    for (uint32_t i = 0; i < sum.count; i++) {
        if (sum.times[i] == 0) continue;
        if (sum.times[i] != 1 || only != NULL) return false;
        only = &sum.terms[i];
    }
    int64_t literal = (int64_t)sum.literal;
    *value = only != NULL ? *only : (CtFlowArg){.type = args[0].type, .lit.integer = literal};
    if (only == NULL || literal == 0) return CT_FIRED("fold.terms_cancel");
    if (ct_flow_same(&args[0], only) && args[1].var == NULL) return false;
    bool less = literal < 0 && literal > INT64_MIN;
    CtFlowArg by = {.type = only->type, .lit.integer = less ? -literal : literal};
    step->args = (CtFlowArgs){0};
    ct_push(facts->arena, &step->args, *value);
    ct_push(facts->arena, &step->args, by);
    step->as.prim = less ? PRIM_INT_SUB : PRIM_INT_ADD;
    CT_FIRED("fold.terms_put_together");
    return false;
}

/* ---- division by powers of two ---- */

/* `div` rounds down, as the shift does; `mod` has the sign of the divisor, as the bits have. `quot` and `rem` agree
 * with these for a dividend that is not negative. */
void ct_flow_divide_by_bits(const CtFlowFacts *facts, CtFlowStep *step) {
    CtPrim prim = step->as.prim;
    bool quotient = prim == PRIM_INT_DIV || prim == PRIM_INT_QUOT;
    if (!quotient && prim != PRIM_INT_MOD && prim != PRIM_INT_REM) return;
    CtFlowArg a = step->args.items[0], by = step->args.items[1];
    if (by.var != NULL || by.lit.integer <= 1 || (by.lit.integer & (by.lit.integer - 1)) != 0) return;
    bool rounds_down = prim == PRIM_INT_DIV || prim == PRIM_INT_MOD;
    if (!rounds_down && !ct_flow_is_natural(facts, &a)) return;
    by.lit.integer = quotient ? __builtin_ctzll((uint64_t)by.lit.integer) : by.lit.integer - 1;
    step->args = (CtFlowArgs){0};
    ct_push(facts->arena, &step->args, a);
    ct_push(facts->arena, &step->args, by);
    step->as.prim = quotient ? PRIM_INT_SHIFT_RIGHT : PRIM_INT_AND;
    if (rounds_down)
        CT_FIRED("fold.division_by_bits");
    else
        CT_FIRED("fold.quotient_by_bits");
}

/* ---- the larger of 0 and a number ---- */

/* if n < 1 then 0 else n, which is how many numbers [0 .. n − 1] has. */
bool ct_flow_choose_natural(const CtFlowFacts *facts, CtFlowStep *step) {
    const CtFlowStep *test = ct_flow_maker(facts, &step->args.items[0], FLOW_PRIM);
    if (step->results.count != 1 || step->as.cases.count != 2 || test == NULL || test->as.prim != PRIM_INT_LT)
        return false;
    CtFlowArg n = test->args.items[0];
    const CtFlowBranch *branches = step->as.cases.branches;
    uint32_t less = branches[0].tag == 1 ? 0 : 1;
    if (!ct_flow_is_int(&test->args.items[1], 1) || branches[less].tag != 1) return false;
    for (uint32_t i = 0; i < 2; i++)
        if (branches[i].block->exit != EXIT_YIELD || branches[i].block->steps.count > 0) return false;
    if (!ct_flow_is_int(&branches[less].block->values.items[0], 0) ||
        !ct_flow_same(&branches[1 - less].block->values.items[0], &n))
        return false;
    step->kind = FLOW_PRIM;
    step->as.prim = PRIM_INT_MAX;
    step->args = (CtFlowArgs){0};
    ct_push(facts->arena, &step->args, ((CtFlowArg){.type = n.type}));
    ct_push(facts->arena, &step->args, n);
    return CT_FIRED("fold.choice_of_natural");
}

/* ---- reductions ---- */

bool ct_flow_reduction(const CtFlowStep *step, CtPrim *prim, CtFlowArg *first) {
    const CtFlowType *type = step->results.items[0]->type;
    bool whole = type->kind == FLOW_I64;
    *first = (CtFlowArg){.type = type};
    switch ((int)step->as.bulk) {
    case ARRAY_SUM: *prim = whole ? PRIM_INT_ADD : PRIM_ADD; return true; /* the fold starts at 0 */
    case ARRAY_PRODUCT:
        *prim = whole ? PRIM_INT_MUL : PRIM_MUL;
        if (whole)
            first->lit.integer = 1;
        else
            first->lit.real = 1;
        return true;
    case ARRAY_MAXIMUM:
    case ARRAY_MINIMUM: {
        bool largest = step->as.bulk == ARRAY_MAXIMUM;
        *prim = whole ? (largest ? PRIM_INT_MAX : PRIM_INT_MIN) : largest ? PRIM_MAX : PRIM_MIN;
        if (whole)
            first->lit.integer = largest ? INT64_MIN : INT64_MAX;
        else
            first->lit.real = largest ? -INFINITY : INFINITY;
        return true;
    }
    default: return false;
    }
}
