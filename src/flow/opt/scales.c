/* Strength reduction of `scale`. In `scale p g` a g of −0.0 is absorbing, since it is the structural zero of
 * cotangents. If g is certainly no structural zero, the product is `mul p g`, which costs half as much in vectorised
 * code. But a product may be −0.0, where `scale` gives 0. So where the sign of a zero matters, 0 is added to it:
 * otherwise a later operation would take it for a structural zero.
 *
 * A forward data-flow analysis to a fixed point finds variables that may be structural zeros, or arrays that may
 * contain one: literals −0.0, and what comes from other functions, constants and nodes. Computed numbers are none,
 * except for sums of two such values, and products with 1. The program's inputs contain none.
 *
 * A backward one then finds variables of which the sign of a zero matters: on which a `scale` depends that stays, or
 * anything else but arithmetic that hides the sign. Arguments of calls are told by the parameters of what is called: so
 * sums that a function only adds 0 to, as the end of each gradient does, need none. The sign is not kept in results of
 * the program, so exact mode rewrites only products with literals of at least 1. */
#include "flow/opt/passes.h"

#include <math.h>

typedef struct Scales {
    CtFlowBuilder b;
    bool *zeros;              /* by variable number: it may be a structural zero, or contain one */
    bool *signs;              /* by variable number: the sign of a zero matters, of it or in it */
    const struct Scales *all; /* of each function, by its number */
    CtFlowValues now;
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

/* ---- where the sign of a zero matters ---- */

static void need(Scales *s, const CtFlowArg *arg, bool sign) {
    if (arg->var == NULL || !sign || s->signs[arg->var->id]) return;
    s->signs[arg->var->id] = s->changed = true;
}

static void need_all(Scales *s, const CtFlowArgs *args, bool sign) {
    for (uint32_t i = 0; i < args->count; i++) need(s, &args->items[i], sign);
}

static bool needs(const Scales *s, const CtFlowVar *var) { return s->signs[var->id]; }

/* The sum of −0.0 and a number is that number, of −0.0 and −0.0 is −0.0. */
static void need_of_sum(Scales *s, const CtFlowArgs *args, bool sign) {
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowArg *other = &args->items[1 - i];
        need(s, &args->items[i], sign && (other->var != NULL || may_be(s, other)));
    }
}

/* By such a number, a structural zero and any other zero both give a zero. */
static bool is_finite(const CtFlowArg *p) { return p->var == NULL && isfinite(p->lit.real); }

static void need_of_prim(Scales *s, const CtFlowStep *step) {
    const CtFlowArgs *args = &step->args;
    bool sign = needs(s, step->results.items[0]);
    switch ((int)step->as.prim) {
    case PRIM_ADD: need_of_sum(s, args, sign); return;
    case PRIM_SCALE:
        need(s, &args->items[1], may_be(s, &args->items[1]) && (sign || !is_finite(&args->items[0])));
        return;
    case PRIM_SUB:
    case PRIM_MUL:
    case PRIM_NEGATE:
    case PRIM_FLOAT_TO_DOUBLE:
    case PRIM_DOUBLE_TO_FLOAT: need_all(s, args, sign); return;
    case PRIM_EQ:
    case PRIM_LT:
    case PRIM_LE: return;
    default: need_all(s, args, true); /* few adjoints go through the others */
    }
}

static void need_in(Scales *s, const CtFlowBlock *block);

static void need_of_loop(Scales *s, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    uint32_t carried = step->as.loop.carried;
    if (block->exit != EXIT_YIELD || step->as.loop.initial) {
        need_all(s, &step->args, true);
        need_all(s, &block->values, true);
        need_in(s, block);
        return;
    }
    for (uint32_t i = 0; i < block->values.count; i++)
        need(s, &block->values.items[i],
             needs(s, step->results.items[i]) || (i < carried && needs(s, block->params.items[1 + i])));
    need_in(s, block);
    for (uint32_t i = 0; i < carried; i++)
        need(s, &step->args.items[1 + i], needs(s, step->results.items[i]) || needs(s, block->params.items[1 + i]));
}

static void need_of_switch(Scales *s, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        for (uint32_t j = 0; block->exit == EXIT_YIELD && j < step->results.count; j++)
            need(s, &block->values.items[j], needs(s, step->results.items[j]));
        need_in(s, block);
    }
}

static bool needs_any(const Scales *s, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->results.count; i++)
        if (needs(s, step->results.items[i])) return true;
    return false;
}

/* Operations on whole arrays that only move elements keep the signs; a sum starts at 0. */
static void need_of_bulk(Scales *s, const CtFlowStep *step) {
    switch ((int)step->as.bulk) {
    case ARRAY_SUM: return;
    case ARRAY_REVERSE:
    case ARRAY_TRANSPOSE:
    case ARRAY_CONCAT:
    case ARRAY_APPEND:
    case ARRAY_REPLICATE:
    case ARRAY_GATHER:
    case ARRAY_SLICE:
    case ARRAY_RESHAPE: need_all(s, &step->args, needs_any(s, step)); return;
    default: need_all(s, &step->args, true);
    }
}

/* As far as it is known: what a call of another function needs may grow, and the fixed point is over all functions. */
static void need_of_call(Scales *s, const CtFlowStep *step) {
    const CtFlowFunction *callee = step->as.function;
    bool *signs = s->all[callee->id].signs;
    for (uint32_t i = 0; i < step->args.count; i++) need(s, &step->args.items[i], signs[callee->params.items[i]->id]);
}

static void need_of_step(Scales *s, const CtFlowStep *step) {
    switch ((int)step->kind) {
    case FLOW_PRIM: need_of_prim(s, step); return;
    case FLOW_LOOP: need_of_loop(s, step); return;
    case FLOW_SWITCH: need_of_switch(s, step); return;
    case FLOW_BULK: need_of_bulk(s, step); return;
    case FLOW_CALL: need_of_call(s, step); return;
    case FLOW_READ:
    case FLOW_UPDATE:
    case FLOW_SNOC:
    case FLOW_ITEMS:
    case FLOW_LITERALS: need_all(s, &step->args, needs_any(s, step)); return;
    case FLOW_CHECK:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SHAPE:
    case FLOW_CHECK_SLICE:
    case FLOW_DIM: return; /* they look at lengths and indices alone */
    default: need_all(s, &step->args, true);
    }
}

static void need_in(Scales *s, const CtFlowBlock *block) {
    bool results = s->b.function == s->b.flow->entry && block->exit == EXIT_RETURN;
    if (block->exit != EXIT_YIELD && !results) need_all(s, &block->values, true);
    for (uint32_t i = block->steps.count; i-- > 0;) need_of_step(s, block->steps.items[i]);
}

/* ---- the pass ---- */

/* `r = p · g`, as a product or a number that stands for r; 0 is added if the sign of a zero matters. */
static void write_product(Scales *s, CtFlowStep *step) {
    static const double one = 1;
    const CtFlowVar *result = step->results.items[0];
    CtFlowArg p = step->args.items[0], g = step->args.items[1];
    bool by_one = g.var == NULL && memcmp(&g.lit.real, &one, sizeof one) == 0;
    if (!needs(s, result) && by_one && CT_FIRED("scales.by_one")) {
        ct_flow_stands(&s->now, result, p);
        return;
    }
    step->as.prim = PRIM_MUL;
    if (needs(s, result) && CT_FIRED("scales.plus_zero")) {
        if (!by_one) p = ct_flow_prim(&s->b, step->range, PRIM_MUL, result->type, p, g);
        step->as.prim = PRIM_ADD;
        step->args = (CtFlowArgs){0};
        ct_flow_arg(&s->b, step, p);
        ct_flow_arg(&s->b, step, ct_flow_real(result->type, 0.0));
    }
    ct_push(s->b.arena, &s->b.block->steps, step);
}

static void write(Scales *s, CtFlowBlock *block) {
    CtFlowBlock before = ct_flow_reopen(block);
    for (uint32_t i = 0; i < before.steps.count; i++) {
        CtFlowStep *step = before.steps.items[i];
        bool is_product = ct_flow_is_prim(step, PRIM_SCALE) && !may_be(s, &step->args.items[1]);
        ct_flow_rename(&s->now, &step->args);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) write(s, ct_flow_inner(step, j));
        s->b.block = block;
        if (is_product && CT_FIRED("scales.no_zero"))
            write_product(s, step);
        else
            ct_push(s->b.arena, &block->steps, step);
    }
    ct_flow_rename(&s->now, &block->values);
    block->exit = before.exit;
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

static void find_zeros(Scales *s) {
    const CtFlowFunction *function = s->b.function;
    uint32_t vars = function->vars + 1;
    s->zeros = CT_NEW_ARRAY(s->b.arena, bool, vars);
    s->signs = CT_NEW_ARRAY(s->b.arena, bool, vars);
    for (uint32_t j = 0; j < function->params.count; j++)
        s->zeros[function->params.items[j]->id] = function != s->b.flow->entry;
    for (s->changed = true; s->changed;) {
        s->changed = false;
        visit(s, function->body);
    }
}

/* Whether more is needed than before. */
static bool find_needs(Scales *s) {
    bool grown = false;
    for (s->changed = true; s->changed; grown |= s->changed) {
        s->changed = false;
        need_in(s, s->b.function->body);
    }
    return grown;
}

static void multiply(CtFlow *flow) {
    uint32_t count = flow->functions.count;
    Scales *all = CT_NEW_ARRAY(flow->arena, Scales, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        all[i].b = (CtFlowBuilder){.flow = flow, .arena = flow->arena, .function = flow->functions.items[i]};
        all[i].all = all;
        find_zeros(&all[i]);
    }
    for (bool grown = true; grown;) { /* functions mostly stand behind their callers, so the last is first */
        grown = false;
        for (uint32_t i = count; i-- > 0;) grown |= find_needs(&all[i]);
    }
    for (uint32_t i = 0; i < count; i++) {
        ct_flow_values_clear(&all[i].now, flow->arena);
        write(&all[i], all[i].b.function->body);
    }
}

void ct_flow_scales(CtFlow *flow) {
    if (!flow->exact) multiply(flow);
    /* Last, since the resulting product may be −0.0. */
    for (uint32_t i = 0; i < flow->functions.count; i++)
        ct_flow_each_step(flow->functions.items[i]->body, multiply_by_literal, NULL);
}
