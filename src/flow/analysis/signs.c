/* Sign analysis: whether a real is certainly not −0.0 (so that adding 0 changes nothing), and whether it is certainly
 * neither negative nor −0.0. NaN is allowed in both. Facts are computed on demand through definitions. For a carried
 * variable induction is used: a fact holds if it holds for the initial value and is preserved by an iteration. */
#include "flow/analysis/analysis.h"

#include <math.h>

enum { MOST = 200 /* bound of the steps visited for one answer */ };

typedef enum Sign { NO_MINUS_ZERO, NO_MINUS } Sign;

typedef struct Carried { /* a carried variable under the induction hypothesis */
    const CtFlowVar *param;
    Sign sign;
} Carried;

typedef struct Signs {
    const CtFlowFacts *facts;
    Sign sign;
    int left;              /* steps that may still be visited */
    CT_VEC(Carried) asked; /* hypotheses, innermost last */
} Signs;

/* Whether the fact holds for a number, or for each number in an array. */
static bool holds(Signs *s, const CtFlowArg *arg);

static bool both_hold(Signs *s, const CtFlowArgs *args) {
    return holds(s, &args->items[0]) && holds(s, &args->items[1]);
}

static bool never_below(Signs *s, const CtFlowArg *arg) {
    Sign sign = s->sign;
    s->sign = NO_MINUS;
    bool never = holds(s, arg);
    s->sign = sign;
    return never;
}

static bool of_prim(Signs *s, const CtFlowStep *step) {
    const CtFlowArgs *args = &step->args;
    switch ((int)step->as.prim) {
    case PRIM_EXP:
    case PRIM_COSH:
    case PRIM_ERFC:
    case PRIM_ABS:
    case PRIM_TO_DOUBLE: return step->as.prim != PRIM_TO_DOUBLE || s->sign == NO_MINUS_ZERO;
    case PRIM_SQRT: return holds(s, &args->items[0]); /* the root of a negative number is NaN */
    case PRIM_ADD:                                    /* x + (−x) is 0 */
        if (s->sign == NO_MINUS) return both_hold(s, args);
        return holds(s, &args->items[0]) || holds(s, &args->items[1]);
    case PRIM_SUB: return s->sign == NO_MINUS_ZERO && holds(s, &args->items[0]);
    case PRIM_MUL:
        if (ct_flow_same(&args->items[0], &args->items[1])) return true;
        return never_below(s, &args->items[0]) && never_below(s, &args->items[1]);
    case PRIM_SCALE:
    case PRIM_DIV: return never_below(s, &args->items[0]) && never_below(s, &args->items[1]);
    case PRIM_RECIP: return never_below(s, &args->items[0]);
    case PRIM_MIN:
    case PRIM_MAX: return both_hold(s, args);
    default: return false; /* only the listed primitives matter here */
    }
}

static bool all_hold(Signs *s, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (!holds(s, &args->items[i])) return false;
    return true;
}

static bool of_bulk(Signs *s, const CtFlowStep *step) {
    const CtFlowArgs *args = &step->args;
    switch ((int)step->as.bulk) {
    case ARRAY_SUM: return s->sign == NO_MINUS_ZERO || holds(s, &args->items[0]); /* the sum starts at 0 */
    case ARRAY_MAXIMUM:
    case ARRAY_MINIMUM:
    case ARRAY_REVERSE:
    case ARRAY_TRANSPOSE:
    case ARRAY_CONCAT: return holds(s, &args->items[0]);
    case ARRAY_APPEND: return both_hold(s, args);
    case ARRAY_REPLICATE:
    case ARRAY_GATHER: return holds(s, &args->items[1]);
    case ARRAY_SLICE:
    case ARRAY_RESHAPE: return holds(s, &args->items[2]);
    default: return false;
    }
}

/* Whether the fact holds for a carried variable, in any iteration and in the end. */
static bool of_carried(Signs *s, const CtFlowStep *loop, uint32_t index) {
    const CtFlowBlock *block = loop->as.loop.block;
    Carried carried = {block->params.items[1 + index], s->sign};
    for (uint32_t i = 0; i < s->asked.count; i++)
        if (s->asked.items[i].param == carried.param && s->asked.items[i].sign == carried.sign) return true;
    if (block->exit != EXIT_YIELD || !holds(s, &loop->args.items[1 + index])) return false;
    ct_push(s->facts->arena, &s->asked, carried);
    bool stays = holds(s, &block->values.items[index]);
    s->asked.count--;
    return stays;
}

static bool of_loop(Signs *s, const CtFlowFact *fact) {
    const CtFlowStep *loop = fact->maker;
    if (fact->index < loop->as.loop.carried) return of_carried(s, loop, fact->index);
    return !loop->as.loop.initial && loop->as.loop.block->exit == EXIT_YIELD &&
           holds(s, &loop->as.loop.block->values.items[fact->index]);
}

static bool of_switch(Signs *s, const CtFlowFact *fact) {
    const CtFlowStep *step = fact->maker;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit == EXIT_YIELD && !holds(s, &block->values.items[fact->index])) return false;
    }
    return true;
}

static bool of_literal(const Signs *s, const CtFlowArg *arg) {
    if (s->sign == NO_MINUS) return !signbit(arg->lit.real);
    return arg->lit.real != 0 || !signbit(arg->lit.real);
}

static bool holds(Signs *s, const CtFlowArg *arg) {
    const CtFlowFact *fact = ct_flow_fact(s->facts, arg);
    const CtFlowStep *step = fact->maker;
    if (s->left-- <= 0) return false;
    if (arg->var == NULL) return of_literal(s, arg);
    if (fact->loop != NULL) return fact->index > 0 && of_carried(s, fact->loop, fact->index - 1);
    if (step == NULL) return false;
    if (step->kind == FLOW_PRIM) return of_prim(s, step);
    if (step->kind == FLOW_READ) return holds(s, &step->args.items[0]);
    if (ct_flow_is_items(step)) return all_hold(s, &step->args);
    if (step->kind == FLOW_UPDATE)
        return holds(s, &step->args.items[0]) && holds(s, &step->args.items[step->args.count - 1]);
    if (step->kind == FLOW_SNOC) return both_hold(s, &step->args);
    if (step->kind == FLOW_BULK) return of_bulk(s, step);
    if (step->kind == FLOW_LOOP) return of_loop(s, fact);
    return step->kind == FLOW_SWITCH && of_switch(s, fact);
}

bool ct_flow_is_no_minus_zero(const CtFlowFacts *facts, const CtFlowArg *arg) {
    Signs s = {.facts = facts, .sign = NO_MINUS_ZERO, .left = MOST};
    return holds(&s, arg);
}
