/* Strength reduction of `scale`. In `scale p g` a g of −0.0 is absorbing, since it is the structural zero of
 * cotangents. If g is certainly no structural zero, the product is `mul p g`, which costs half as much in vectorised
 * code. A `mul` may give −0.0 where `scale` gives 0, and later that may be mistaken for a structural zero. So exact
 * mode does not use it, except with literals of at least 1.
 *
 * A forward data-flow analysis to a fixed point finds variables that may be structural zeros, or arrays that may
 * contain one: literals −0.0, and what comes from other functions, constants and nodes. Computed numbers are none,
 * except for sums of two such values, and products with 1. The program's inputs contain none. */
#include "flow/opt/passes.h"

#include <math.h>

typedef struct Scales {
    bool *zeros; /* by variable number: it may be a structural zero, or contain one */
    bool changed;
} Scales;

/* ---- what may be one ---- */

static bool may_be(const Scales *s, const CtFlowArg *arg) {
    if (arg->var != NULL) return s->zeros[arg->var->id];
    bool real = arg->type->kind == FLOW_F64 || arg->type->kind == FLOW_F32;
    return real && arg->lit.real == 0 && signbit(arg->lit.real);
}

static bool any_may_be(const Scales *s, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (may_be(s, &args->items[i])) return true;
    return false;
}

static void raise(Scales *s, const CtFlowVar *var, bool zero) {
    if (var == NULL || !zero || s->zeros[var->id]) return;
    s->zeros[var->id] = s->changed = true;
}

static void raise_all(Scales *s, const CtFlowStep *step, bool zero) {
    for (uint32_t i = 0; i < step->results.count; i++) raise(s, step->results.items[i], zero);
}

static bool prim_may_be(const Scales *s, const CtFlowStep *step) {
    const CtFlowArg *args = step->args.items;
    switch ((int)step->as.prim) {
    case PRIM_ADD: return may_be(s, &args[0]) && may_be(s, &args[1]);
    case PRIM_SCALE: return may_be(s, &args[1]);
    case PRIM_FLOAT_TO_DOUBLE:
    case PRIM_DOUBLE_TO_FLOAT: return may_be(s, &args[0]);
    default: return false; /* only the listed primitives matter here */
    }
}

/* ---- the walk ---- */

static void visit(Scales *s, const CtFlowBlock *block);

static void visit_loop(Scales *s, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    bool known = block->exit == EXIT_YIELD && !step->as.loop.initial;
    for (uint32_t i = 0; i < step->as.loop.carried; i++)
        raise(s, block->params.items[1 + i], !known || may_be(s, &step->args.items[1 + i]));
    visit(s, block);
    if (!known) raise_all(s, step, true);
    for (uint32_t i = 0; known && i < step->results.count; i++) {
        bool zero = may_be(s, &block->values.items[i]), carried = i < step->as.loop.carried;
        if (carried) raise(s, block->params.items[1 + i], zero);
        raise(s, step->results.items[i], zero || (carried && may_be(s, &step->args.items[1 + i])));
    }
}

static void visit_switch(Scales *s, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        visit(s, block);
        for (uint32_t j = 0; block->exit == EXIT_YIELD && j < step->results.count; j++)
            raise(s, step->results.items[j], may_be(s, &block->values.items[j]));
    }
}

static void visit_step(Scales *s, const CtFlowStep *step) {
    switch (step->kind) {
    case FLOW_PRIM: raise_all(s, step, prim_may_be(s, step)); return;
    case FLOW_LOOP: visit_loop(s, step); return;
    case FLOW_SWITCH: visit_switch(s, step); return;
    case FLOW_READ:
    case FLOW_UPDATE:
    case FLOW_SNOC:
    case FLOW_ITEMS:
    case FLOW_LITERALS:
    case FLOW_STOP: raise_all(s, step, any_may_be(s, &step->args)); return;
    case FLOW_BULK: /* sums start at 0 */
        raise_all(s, step, step->as.bulk != ARRAY_SUM && any_may_be(s, &step->args));
        return;
    case FLOW_CALL:
    case FLOW_CONSTANT:
    case FLOW_MAKE:
    case FLOW_OPEN:
    case FLOW_PRODUCT:
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP: raise_all(s, step, true); return;
    case FLOW_STRING:
    case FLOW_FAIL:
    case FLOW_CHECK:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SHAPE:
    case FLOW_CHECK_SLICE:
    case FLOW_DIM:
    case FLOW_RETAIN:
    case FLOW_LINK:
    case FLOW_RELEASE: return;
    }
}

static void visit(Scales *s, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) visit_step(s, block->steps.items[i]);
}

/* ---- the pass ---- */

static void multiply(void *data, CtFlowStep *step) {
    if (ct_flow_is_prim(step, PRIM_SCALE) && !may_be(data, &step->args.items[1]) && CT_FIRED("scales.no_zero"))
        step->as.prim = PRIM_MUL;
}

/* p · (−0.0) is −0.0 for finite p > 0, and no other number gives −0.0 if p is at least 1, since the product cannot
 * underflow then. So this rewrite is exact. */
static void multiply_by_literal(void *data, CtFlowStep *step) {
    (void)data;
    const CtFlowArg *p = step->args.items;
    if (ct_flow_is_prim(step, PRIM_SCALE) && p->var == NULL && p->lit.real >= 1 && isfinite(p->lit.real) &&
        CT_FIRED("scales.literal"))
        step->as.prim = PRIM_MUL;
}

static void multiply_in(CtFlow *flow, const CtFlowFunction *function) {
    Scales s = {.zeros = CT_NEW_ARRAY(flow->arena, bool, function->vars + 1), .changed = true};
    for (uint32_t j = 0; j < function->params.count; j++)
        s.zeros[function->params.items[j]->id] = function != flow->entry;
    while (s.changed) {
        s.changed = false;
        visit(&s, function->body);
    }
    ct_flow_each_step(function->body, multiply, &s);
}

void ct_flow_scales(CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        if (!flow->exact) multiply_in(flow, function);
        /* Last, since the resulting product may be −0.0. */
        ct_flow_each_step(function->body, multiply_by_literal, NULL);
    }
}
