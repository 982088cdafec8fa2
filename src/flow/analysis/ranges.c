/* Range analysis of Ints, from their definitions and from the conditions of enclosing branches.
 *
 * Ints wrap at 64 bits. So i + 1 is known to be greater than i only if i is known not to be the largest Int, as an
 * index, or a number below a length, is not. */
#include "flow/analysis/analysis.h"

/* Bounds of the search through definitions: its depth, and the total number of steps for one question. Bounds that are
 * added are small, so that their sums cannot wrap. An array of numbers has fewer elements than memory has bytes. */
enum { DEEPEST = 8, PATIENCE = 200, MANY_TOLD = 32 /* looking through so many is a step */ };
#define SMALL   (INT64_C(1) << 32)
#define LONGEST (INT64_C(1) << 60)

typedef struct Question {
    const CtFlowFacts *facts;
    int patience;
} Question;

static bool least(Question *q, const CtFlowArg *x, int depth, int64_t *bound);
static int64_t most(Question *q, const CtFlowArg *x, int depth);
static bool over(Question *q, const CtFlowArg *x, CtFlowLength y, int depth, int64_t *by);

/* ---- what makes a number ---- */

static const CtFlowStep *prim_of(const Question *q, const CtFlowArg *x) {
    const CtFlowStep *step = ct_flow_maker(q->facts, x, FLOW_PRIM);
    return step != NULL && step->args.count == 2 ? step : NULL;
}

static bool is_small(const CtFlowArg *arg) {
    return arg->var == NULL && arg->lit.integer > -SMALL && arg->lit.integer < SMALL;
}

/* x = y + k without wrapping. */
static bool is_sum(Question *q, const CtFlowArg *x, int depth, const CtFlowArg **y, int64_t *k) {
    const CtFlowStep *step = prim_of(q, x);
    if (step == NULL || (step->as.prim != PRIM_INT_ADD && step->as.prim != PRIM_INT_SUB)) return false;
    const CtFlowArg *a = &step->args.items[0], *b = &step->args.items[1];
    bool adds = step->as.prim == PRIM_INT_ADD, first = adds && is_small(a);
    if (!first && !is_small(b)) return false;
    *y = first ? b : a;
    *k = first ? a->lit.integer : adds ? b->lit.integer : -b->lit.integer;
    int64_t low;
    if (*k > 0) return most(q, *y, depth) <= INT64_MAX - *k;
    return *k == 0 || (least(q, *y, depth, &low) && low >= INT64_MIN - *k);
}

/* x = a − b without wrapping, since 0 ≤ b and b ≤ a + by. */
static bool is_difference(Question *q, const CtFlowArg *x, int depth, const CtFlowStep **step, int64_t *by) {
    int64_t low;
    *step = prim_of(q, x);
    if (*step == NULL || (*step)->as.prim != PRIM_INT_SUB) return false;
    const CtFlowArg *a = &(*step)->args.items[0], *b = &(*step)->args.items[1];
    return least(q, b, depth, &low) && low >= 0 && over(q, b, ct_flow_length_of(q->facts, *a), depth, by);
}

/* x = a mod n, where n is not negative, and then not 0 either. */
static const CtFlowArg *modulus(Question *q, const CtFlowArg *x, int depth) {
    const CtFlowStep *step = prim_of(q, x);
    int64_t low;
    if (step == NULL || step->as.prim != PRIM_INT_MOD) return NULL;
    return least(q, &step->args.items[1], depth, &low) && low >= 0 ? &step->args.items[1] : NULL;
}

/* x = a div k, a mod n, … for Ints that are not negative: 0 ≤ x ≤ a. */
static const CtFlowArg *dividend(Question *q, const CtFlowArg *x, int depth) {
    const CtFlowStep *step = prim_of(q, x);
    int64_t low;
    if (step == NULL || step->args.count != 2) return NULL;
    const CtFlowArg *a = &step->args.items[0], *b = &step->args.items[1];
    CtPrim prim = step->as.prim;
    bool divides = prim == PRIM_INT_DIV || prim == PRIM_INT_MOD || prim == PRIM_INT_QUOT || prim == PRIM_INT_REM;
    bool shifts = prim == PRIM_INT_SHIFT_RIGHT && b->var == NULL && b->lit.integer < 64;
    if (!divides && !shifts) return NULL;
    return least(q, b, depth, &low) && low >= 0 && least(q, a, depth, &low) && low >= 0 ? a : NULL;
}

/* x = a & m for a literal m that is not negative: 0 ≤ x ≤ m; and x ≤ a, if a is not negative. */
static const CtFlowStep *masked(const Question *q, const CtFlowArg *x) {
    const CtFlowStep *step = prim_of(q, x);
    if (step == NULL || step->as.prim != PRIM_INT_AND) return NULL;
    return step->args.items[1].var == NULL && step->args.items[1].lit.integer >= 0 ? step : NULL;
}

/* Whether x is the index of the largest or smallest element of an array, which has one, else this fails; its length. */
static bool is_place(const Question *q, const CtFlowArg *x, CtFlowLength *length) {
    const CtFlowStep *step = ct_flow_maker(q->facts, x, FLOW_BULK);
    if (!ct_flow_is_bulk(step, ARRAY_ARGMAX) && !ct_flow_is_bulk(step, ARRAY_ARGMIN)) return false;
    *length = ct_flow_length(q->facts, &step->args.items[0], 0, true);
    return CT_FIRED("ranges.place");
}

/* The number of iterations of the loop whose index x is. */
static const CtFlowArg *iterations_of(const Question *q, const CtFlowArg *x) {
    const CtFlowFact *fact = ct_flow_fact(q->facts, x);
    return fact->loop != NULL && fact->index == 0 ? &fact->loop->args.items[0] : NULL;
}

static bool is_extreme(const Question *q, const CtFlowArg *x, CtPrim prim, const CtFlowStep **step) {
    *step = prim_of(q, x);
    return *step != NULL && (*step)->as.prim == prim;
}

/* The values one of which x is, by a switch of two branches, as the m of `if n == 0 then 0 else length (u ! 0)`. */
static bool is_chosen(const Question *q, const CtFlowArg *x, const CtFlowArg *values[2]) {
    const CtFlowStep *step = ct_flow_maker(q->facts, x, FLOW_SWITCH);
    if (step == NULL || step->as.cases.count != 2) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit != EXIT_YIELD) return false;
        values[i] = &block->values.items[ct_flow_fact(q->facts, x)->index];
    }
    return true;
}

/* ---- bounds ---- */

/* Saturating addition. */
static int64_t plus(int64_t a, int64_t b) {
    int64_t sum;
    return !__builtin_add_overflow(a, b, &sum) ? sum : b > 0 ? INT64_MAX : INT64_MIN;
}

static bool is_over(const Question *q, int depth) { return depth <= 0 || q->patience <= 0; }

static void raise(int64_t bound, bool *known, int64_t *best) {
    if (!*known || bound > *best) *best = bound;
    *known = true;
}

static void lower(int64_t bound, bool *known, int64_t *best) {
    if (!*known || bound < *best) *best = bound;
    *known = true;
}

/* The lower bound of a length, or of a number, by checks and conditions. */
static void told_least(Question *q, CtFlowLength x, int depth, bool *known, int64_t *best) {
    int64_t a, some = ct_flow_least(q->facts, x);
    if (x.known.type == NULL || some > 0) raise(some, known, best);
    q->patience -= (int)(q->facts->equals.count / MANY_TOLD);
    for (uint32_t i = 0; depth > 0 && q->patience > 0 && i < q->facts->equals.count; i++) {
        const CtFlowEqual *told = &q->facts->equals.items[i];
        if (told->low.type != NULL && ct_flow_same_length(q->facts, told->high, x) && least(q, &told->low, depth, &a))
            raise(plus(a, -told->by), known, best);
    }
}

static bool least_length(Question *q, CtFlowLength x, int depth, int64_t *bound) {
    bool known = false;
    if (x.known.type != NULL) return least(q, &x.known, depth, bound);
    told_least(q, x, is_over(q, depth) ? 0 : depth - 1, &known, bound);
    return known;
}

static int64_t most_length(Question *q, CtFlowLength x, int depth) {
    if (x.known.type != NULL) return most(q, &x.known, depth);
    return x.array->type->rank == 1 ? LONGEST : INT64_MAX;
}

static bool least(Question *q, const CtFlowArg *x, int depth, int64_t *bound) {
    bool known = false;
    int64_t a, b, k;
    const CtFlowArg *y, *values[2];
    const CtFlowStep *step;
    *bound = x->lit.integer;
    if (x->var == NULL) return true;
    q->patience--;
    CtFlowLength places;
    if (iterations_of(q, x) != NULL || is_place(q, x, &places)) raise(0, &known, bound);
    told_least(q, ct_flow_length_of(q->facts, *x), is_over(q, depth) ? 0 : depth - 1, &known, bound);
    if (is_over(q, depth--)) return known;
    if (is_sum(q, x, depth, &y, &k) && least(q, y, depth, &a)) raise(plus(a, k), &known, bound);
    if (is_difference(q, x, depth, &step, &k)) raise(-k, &known, bound);
    if (modulus(q, x, depth) != NULL || dividend(q, x, depth) != NULL || masked(q, x) != NULL) raise(0, &known, bound);
    for (uint32_t i = 0; is_extreme(q, x, PRIM_INT_MAX, &step) && i < 2; i++)
        if (least(q, &step->args.items[i], depth, &a)) raise(a, &known, bound);
    if (is_extreme(q, x, PRIM_INT_MIN, &step) && least(q, &step->args.items[0], depth, &a) &&
        least(q, &step->args.items[1], depth, &b))
        raise(a < b ? a : b, &known, bound);
    if (is_chosen(q, x, values) && least(q, values[0], depth, &a) && least(q, values[1], depth, &b))
        raise(a < b ? a : b, &known, bound);
    return known;
}

static int64_t most(Question *q, const CtFlowArg *x, int depth) {
    int64_t bound = INT64_MAX, k;
    const CtFlowArg *y, *iterations = iterations_of(q, x);
    if (x->var == NULL) return x->lit.integer;
    q->patience--;
    CtFlowLength length = ct_flow_length_of(q->facts, *x);
    if (length.known.type == NULL) return most_length(q, length, depth);
    if (is_over(q, depth--)) return iterations != NULL ? INT64_MAX - 1 : INT64_MAX;
    if (iterations != NULL) bound = plus(most(q, iterations, depth), -1);
    if (is_sum(q, x, depth, &y, &k)) bound = plus(most(q, y, depth), k);
    for (uint32_t i = 0; i < q->facts->equals.count; i++) {
        const CtFlowEqual *told = &q->facts->equals.items[i];
        if (told->low.type == NULL || told->low.var != x->var) continue;
        int64_t other = plus(most_length(q, told->high, depth), told->by);
        if (other < bound) bound = other;
    }
    return bound;
}

/* The n of max 0 n: if the loop has an iteration, n is the number of iterations. */
static const CtFlowArg *some_iterations(const Question *q, const CtFlowArg *iterations) {
    const CtFlowStep *step;
    if (!is_extreme(q, iterations, PRIM_INT_MAX, &step)) return iterations;
    const CtFlowArg *a = &step->args.items[0], *b = &step->args.items[1];
    return a->var == NULL && a->lit.integer == 0 ? b : b->var == NULL && b->lit.integer == 0 ? a : iterations;
}

/* Upper bounds by the definition of x. */
static void over_parts(Question *q, const CtFlowArg *x, CtFlowLength y, int depth, bool *known, int64_t *best) {
    int64_t a, b, k;
    const CtFlowArg *z, *iterations = iterations_of(q, x), *modulo = modulus(q, x, depth);
    const CtFlowArg *divided = dividend(q, x, depth), *values[2];
    const CtFlowStep *step, *mask = masked(q, x);
    CtFlowLength places;
    bool is_some = is_place(q, x, &places);
    if (is_some && ct_flow_same_length(q->facts, places, y)) lower(-1, known, best);
    if (is_some && places.known.type != NULL && over(q, &places.known, y, depth, &a)) lower(a - 1, known, best);
    if (iterations != NULL && over(q, some_iterations(q, iterations), y, depth, &a)) lower(a - 1, known, best);
    if (modulo != NULL && over(q, modulo, y, depth, &a)) lower(a - 1, known, best);
    if (divided != NULL && over(q, divided, y, depth, &a)) lower(a, known, best);
    if (mask != NULL && over(q, &mask->args.items[1], y, depth, &a)) lower(a, known, best);
    if (mask != NULL && least(q, &mask->args.items[0], depth, &b) && b >= 0 &&
        over(q, &mask->args.items[0], y, depth, &a))
        lower(a, known, best);
    if (is_sum(q, x, depth, &z, &k) && over(q, z, y, depth, &a)) lower(a + k, known, best);
    if (is_difference(q, x, depth, &step, &k) && over(q, &step->args.items[0], y, depth, &a) &&
        least(q, &step->args.items[1], depth, &b))
        lower(a - (b < SMALL ? b : SMALL), known, best);
    for (uint32_t i = 0; is_extreme(q, x, PRIM_INT_MIN, &step) && i < 2; i++)
        if (over(q, &step->args.items[i], y, depth, &a)) lower(a, known, best);
    if (is_extreme(q, x, PRIM_INT_MAX, &step) && over(q, &step->args.items[0], y, depth, &a) &&
        over(q, &step->args.items[1], y, depth, &b))
        lower(a > b ? a : b, known, best);
    if (is_chosen(q, x, values) && over(q, values[0], y, depth, &a) && over(q, values[1], y, depth, &b))
        lower(a > b ? a : b, known, best);
}

/* Upper bounds by the definition of y. */
static void under_parts(Question *q, const CtFlowArg *x, const CtFlowArg *y, int depth, bool *known, int64_t *best) {
    int64_t a, k;
    const CtFlowArg *z;
    const CtFlowStep *step;
    if (is_sum(q, y, depth, &z, &k) && over(q, x, ct_flow_length_of(q->facts, *z), depth, &a))
        lower(a - k, known, best);
    for (uint32_t i = 0; is_extreme(q, y, PRIM_INT_MAX, &step) && i < 2; i++)
        if (over(q, x, ct_flow_length_of(q->facts, step->args.items[i]), depth, &a)) lower(a, known, best);
}

/* The least known `by` with x ≤ y + by. */
static bool over(Question *q, const CtFlowArg *x, CtFlowLength y, int depth, int64_t *by) {
    bool known = false;
    int64_t a;
    *by = 0;
    if (ct_flow_same_length(q->facts, ct_flow_length_of(q->facts, *x), y)) return true;
    q->patience--;
    if (is_small(x) && least_length(q, y, depth, &a) && a > -SMALL)
        lower(x->lit.integer - (a < SMALL ? a : SMALL), &known, by);
    if (is_over(q, depth--)) return known;
    over_parts(q, x, y, depth, &known, by);
    if (y.known.type != NULL) under_parts(q, x, &y.known, depth, &known, by);
    for (uint32_t i = 0; x->var != NULL && i < q->facts->equals.count; i++) {
        const CtFlowEqual *told = &q->facts->equals.items[i];
        if (told->low.type == NULL || told->low.var != x->var) continue;
        if (ct_flow_same_length(q->facts, told->high, y))
            lower(told->by, &known, by);
        else if (told->high.known.type != NULL && over(q, &told->high.known, y, depth, &a))
            lower(a + told->by, &known, by);
    }
    return known;
}

/* ---- what the passes ask ---- */

static bool is_at_most(const CtFlowFacts *facts, const CtFlowArg *x, CtFlowLength y, int64_t by) {
    Question q = {facts, PATIENCE};
    int64_t found;
    return over(&q, x, y, DEEPEST, &found) && found <= by;
}

bool ct_flow_is_natural(const CtFlowFacts *facts, const CtFlowArg *arg) {
    Question q = {facts, PATIENCE};
    int64_t found;
    return least(&q, arg, DEEPEST, &found) && found >= 0;
}

bool ct_flow_is_index(const CtFlowFacts *facts, const CtFlowArg *index, CtFlowLength length) {
    return ct_flow_is_natural(facts, index) && is_at_most(facts, index, length, -1);
}

bool ct_flow_is_slice(const CtFlowFacts *facts, const CtFlowArg *start, const CtFlowArg *count, CtFlowLength length) {
    if (!ct_flow_is_natural(facts, start) || !is_at_most(facts, start, length, 0)) return false;
    if (is_small(start) && is_at_most(facts, count, length, -start->lit.integer))
        return ct_flow_is_natural(facts, count);
    const CtFlowStep *rest = ct_flow_maker(facts, count, FLOW_PRIM); /* all that is left */
    return ct_flow_is_prim(rest, PRIM_INT_SUB) && ct_flow_same(&rest->args.items[1], start) &&
           ct_flow_same_length(facts, ct_flow_length_of(facts, rest->args.items[0]), length);
}

int ct_flow_compare(const CtFlowFacts *facts, CtPrim prim, const CtFlowArg *a, const CtFlowArg *b) {
    CtFlowLength left = ct_flow_length_of(facts, *a), right = ct_flow_length_of(facts, *b);
    if (prim == PRIM_INT_LT) return is_at_most(facts, a, right, -1) ? 1 : is_at_most(facts, b, left, 0) ? 0 : -1;
    if (prim == PRIM_INT_LE) return is_at_most(facts, a, right, 0) ? 1 : is_at_most(facts, b, left, -1) ? 0 : -1;
    bool differ = prim == PRIM_INT_EQ && (is_at_most(facts, a, right, -1) || is_at_most(facts, b, left, -1));
    return differ ? 0 : -1;
}

static void tell(CtFlowFacts *facts, const CtFlowArg *low, const CtFlowArg *high, int64_t by) {
    CtFlowEqual told = {.low = *low, .high = ct_flow_length_of(facts, *high), .by = by};
    ct_flow_tell(facts, told);
}

void ct_flow_assume(CtFlowFacts *facts, const CtFlowArg *test, bool holds) {
    const CtFlowStep *step = ct_flow_maker(facts, test, FLOW_PRIM);
    if (step == NULL) return;
    const CtFlowArg *a = &step->args.items[0], *b = &step->args.items[1];
    CtPrim prim = step->as.prim;
    if (prim == PRIM_INT_AND && holds) { /* not 0, so none of the two is */
        ct_flow_assume(facts, a, true);
        ct_flow_assume(facts, b, true);
    }
    if (prim == PRIM_INT_LT) tell(facts, holds ? a : b, holds ? b : a, holds ? -1 : 0);
    if (prim == PRIM_INT_LE) tell(facts, holds ? a : b, holds ? b : a, holds ? 0 : -1);
    if (prim != PRIM_INT_EQ) return;
    bool no_more = holds || is_at_most(facts, a, ct_flow_length_of(facts, *b), 0);
    bool no_less = holds || is_at_most(facts, b, ct_flow_length_of(facts, *a), 0);
    if (no_more) tell(facts, a, b, holds ? 0 : -1);
    if (no_less) tell(facts, b, a, holds ? 0 : -1);
    if (holds) ct_flow_are_equal(facts, ct_flow_length_of(facts, *a), ct_flow_length_of(facts, *b));
    if (!no_more && !no_less && is_small(b)) { /* a bound that is found later may be this number */
        CtFlowLength other = ct_flow_length_of(facts, *a);
        ct_flow_tell(facts, (CtFlowEqual){.is = other, .also = other, .differs = true, .by = b->lit.integer});
    }
}

void ct_flow_assume_iteration(CtFlowFacts *facts, const CtFlowStep *loop) {
    Question q = {facts, PATIENCE};
    CtFlowArg one = {.type = facts->integer, .lit.integer = 1};
    if (loop->args.items[0].var != NULL) tell(facts, &one, some_iterations(&q, &loop->args.items[0]), 0);
}

/* ---- elements that are certainly there ---- */

bool ct_flow_is_inside(const CtFlowFacts *facts, const CtFlowStep *access, uint32_t indices) {
    for (uint32_t i = 1; i <= indices; i++)
        if (!ct_flow_is_index(facts, &access->args.items[i],
                              ct_flow_length(facts, &access->args.items[0], i - 1, i > 1)))
            return false;
    return true;
}

/* In the branch for a node's constructor the node may be opened. */
static bool block_stays_inside(CtFlowFacts *facts, const CtFlowBlock *block, const CtFlowVar *node) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool chosen = step->kind == FLOW_OPEN && step->args.items[0].var == node;
        if (!chosen && !ct_flow_stays_inside(facts, step)) return false;
    }
    return true;
}

static bool branches_stay_inside(CtFlowFacts *facts, const CtFlowStep *choice) {
    uint32_t equals = facts->equals.count;
    const CtFlowArg *on = &choice->args.items[0];
    bool inside = true;
    for (uint32_t i = 0; inside && i < choice->as.cases.count; i++) {
        if (on->var != NULL && on->type->kind == FLOW_I64 && choice->as.cases.branches[i].tag <= 1)
            ct_flow_assume(facts, on, choice->as.cases.branches[i].tag == 1);
        inside = block_stays_inside(facts, choice->as.cases.branches[i].block, on->var);
        facts->equals.count = equals;
    }
    return inside;
}

bool ct_flow_stays_inside(CtFlowFacts *facts, const CtFlowStep *step) {
    uint32_t equals = facts->equals.count;
    switch (step->kind) {
    case FLOW_READ: return ct_flow_is_inside(facts, step, step->args.count - 1);
    case FLOW_UPDATE: return ct_flow_is_inside(facts, step, step->args.count - 2);
    case FLOW_BULK: return step->as.bulk != ARRAY_SLICE;
    case FLOW_CALL: return false;
    case FLOW_OPEN: return step->as.con.data->count == 1;
    case FLOW_SWITCH: return branches_stay_inside(facts, step);
    case FLOW_LOOP: {
        ct_flow_assume_iteration(facts, step);
        bool inside = block_stays_inside(facts, step->as.loop.block, NULL);
        facts->equals.count = equals;
        return inside;
    }
    case FLOW_PRIM:
    case FLOW_CONSTANT:
    case FLOW_STRING:
    case FLOW_MAKE:
    case FLOW_FAIL:
    case FLOW_CHECK:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SHAPE:
    case FLOW_CHECK_SLICE:
    case FLOW_DIM:
    case FLOW_SNOC:
    case FLOW_ITEMS:
    case FLOW_LITERALS:
    case FLOW_PRODUCT:
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP:
    case FLOW_STOP:
    case FLOW_RETAIN:
    case FLOW_LINK:
    case FLOW_RELEASE: return true;
    }
    return false;
}
