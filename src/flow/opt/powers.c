/* Strength reduction of powers: in a loop over i, x ^ i with an x that does not change is carried.
 *
 *     fold n, … do i, …                        fold n, …, 1 do i, …, p
 *       e = intEq i, 0                    →
 *       t = switch e                             …, p instead of t
 *       0: u = call power x, i; yield u
 *       1: yield 1                               p' = mul p, x
 *
 * Otherwise each power takes a call, and as many products as its exponent has bits. The error bound of i products is
 * that of repeated squaring, (i − 1) units in the last place, but the last bits differ; so exact mode does not do
 * this. Exponents i + 1 and i + 2 are carried from x and x². x ** toDouble i is such a power, too. */
#include "flow/opt/passes.h"

#include <math.h>

enum { MOST_OFFSET = 2, FEW_STEPS = 40, DEEPEST = 4 };

typedef struct Powers {
    CtFlow *flow;
    CtFlowFunction *function;
    CtFlowFacts facts;
    bool some;
} Powers;

typedef struct Power { /* x ^ (i + offset), and the variable that carries it */
    CtFlowArg base;
    int64_t offset;
    CtFlowVar *now;
} Power;

typedef struct Loop {
    Powers *p;
    CtFlowStep *step;
    uint32_t depth; /* of the block that it is in */
    CT_VEC(Power) found;
} Loop;

/* Whether a step computes a power of a Double: by a call of the library's function behind `^`, or by `**`. */
static bool is_power(const Powers *p, const CtFlowStep *step) {
    if (step->kind == FLOW_PRIM) return step->as.prim == PRIM_POW && step->results.items[0]->type->kind == FLOW_F64;
    return step->kind == FLOW_CALL && step->args.count == 2 &&
           strcmp(ct_core_prelude_name(step->as.function->name), "power@Double,Int") == 0 &&
           !ct_flow_is_user(p->flow, step->as.function->range) && step->results.items[0]->type->kind == FLOW_F64;
}

/* Whether a literal is a small integer. */
static bool is_small(const CtFlowArg *arg, int64_t *number) {
    if (arg->var != NULL) return false;
    bool real = arg->type->kind == FLOW_F64;
    if (real && !(fabs(arg->lit.real) <= MOST_OFFSET && arg->lit.real == trunc(arg->lit.real))) return false;
    *number = real ? (int64_t)arg->lit.real : arg->lit.integer;
    return *number >= -MOST_OFFSET && *number <= MOST_OFFSET;
}

/* Whether an exponent is the loop's index plus a small literal, as an Int or as a Double. */
static bool is_exponent(const Loop *l, CtFlowArg arg, int64_t *offset) {
    const CtFlowVar *index = l->step->as.loop.block->params.items[0];
    *offset = 0;
    for (int depth = 0; depth < DEEPEST && arg.var != index; depth++) {
        const CtFlowStep *sum = ct_flow_maker(&l->p->facts, &arg, FLOW_PRIM);
        if (sum == NULL) return false;
        if (sum->as.prim == PRIM_TO_DOUBLE) {
            arg = sum->args.items[0];
            continue;
        }
        bool adds = sum->as.prim == PRIM_INT_ADD || sum->as.prim == PRIM_ADD;
        if (!adds && sum->as.prim != PRIM_INT_SUB && sum->as.prim != PRIM_SUB) return false;
        const CtFlowArg *a = &sum->args.items[0], *b = &sum->args.items[1];
        bool first = adds && a->var == NULL;
        int64_t by;
        if (!is_small(first ? a : b, &by)) return false;
        *offset += adds ? by : -by;
        arg = first ? *b : *a;
    }
    return arg.var == index && *offset >= 0 && *offset <= MOST_OFFSET;
}

/* Whether a base is the same in all iterations: a power that the loop is going to carry is not. */
static bool is_outside(const Loop *l, const CtFlowArg *arg) {
    for (uint32_t i = 0; i < l->found.count; i++)
        if (l->found.items[i].now == arg->var) return false;
    const CtFlowFact *fact = ct_flow_fact(&l->p->facts, arg);
    return arg->var == NULL || fact->depth <= l->depth;
}

/* The variable that carries the power that a step computes; NULL if the step computes none. */
static CtFlowVar *carry(Loop *l, const CtFlowStep *step) {
    int64_t offset;
    if (!is_power(l->p, step) || !is_outside(l, &step->args.items[0]) || !is_exponent(l, step->args.items[1], &offset))
        return NULL;
    CtFlowArg base = step->args.items[0];
    for (uint32_t i = 0; i < l->found.count; i++)
        if (l->found.items[i].offset == offset && ct_flow_same(&l->found.items[i].base, &base))
            return l->found.items[i].now;
    CT_FIRED("powers.carried");
    Power power = {base, offset, ct_flow_fresh(l->p->flow, l->p->function, "power", base.type)};
    ct_push(l->p->flow->arena, &l->found, power);
    return power.now;
}

/* A switch between 1 for the exponent 0 and the power: the power. */
static void drop_choice(const Loop *l, const CtFlowStep *step) {
    const CtFlowStep *test = ct_flow_maker(&l->p->facts, &step->args.items[0], FLOW_PRIM);
    int64_t offset;
    if (step->as.cases.count != 2 || test == NULL || test->as.prim != PRIM_INT_EQ) return;
    const CtFlowArg *zero = &test->args.items[1];
    if (zero->var != NULL || zero->lit.integer != 0 || !is_exponent(l, test->args.items[0], &offset)) return;
    uint32_t some = step->as.cases.branches[0].tag == 0 ? 0 : 1;
    const CtFlowBlock *power = step->as.cases.branches[some].block, *none = step->as.cases.branches[1 - some].block;
    if (step->as.cases.branches[some].tag != 0 || power->exit != EXIT_YIELD || none->exit != EXIT_YIELD) return;
    for (uint32_t i = 0; i < step->results.count; i++) {
        const CtFlowArg *one = &none->values.items[i], *other = &power->values.items[i];
        bool is_one = one->var == NULL && one->lit.real == 1; /* of the type of the power */
        for (uint32_t j = 0; is_one && j < l->found.count; j++)
            if (l->found.items[j].now == other->var && l->found.items[j].offset == offset && CT_FIRED("powers.choice"))
                ct_flow_substitute(l->step->as.loop.block, step->results.items[i], *other);
    }
}

/* The powers in a block of the loop's body, outside of inner loops. */
static void find_powers(Loop *l, CtFlowBlock *block) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        CtFlowVar *power = carry(l, step);
        if (power != NULL) {
            ct_flow_substitute(l->step->as.loop.block, step->results.items[0], flow_of(power));
            continue;
        }
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            find_powers(l, step->as.cases.branches[j].block);
        if (step->kind == FLOW_SWITCH && l->found.count > 0) drop_choice(l, step);
        block->steps.items[kept++] = step;
    }
    block->steps.count = kept;
}

static CtFlowArg times(Loop *l, CtFlowBlock *block, CtFlowArg a, CtFlowArg b) {
    CtFlowBuilder builder = {l->p->flow, l->p->flow->arena, l->p->function, block};
    CtFlowExit exit = block->exit;
    block->exit = EXIT_OPEN;
    CtFlowArg product = ct_flow_prim(&builder, l->step->range, PRIM_MUL, a.type, a, b);
    block->exit = exit;
    return product;
}

/* One value more that the loop carries; what it begins with is computed in `to`, in front of the loop. */
static void write_carried(Loop *l, CtFlowBlock *to, const Power *power) {
    CtArena *arena = l->p->flow->arena;
    CtFlowStep *loop = l->step;
    CtFlowBlock *block = loop->as.loop.block;
    uint32_t carried = loop->as.loop.carried++;
    CtFlowArg first = power->offset == 0   ? ct_flow_real(power->base.type, 1)
                      : power->offset == 1 ? power->base
                                           : times(l, to, power->base, power->base);
    ct_flow_insert_arg(arena, &loop->args, 1 + carried, first);
    ct_flow_insert_var(arena, &block->params, 1 + carried, power->now);
    ct_flow_insert_arg(arena, &block->values, carried, times(l, block, flow_of(power->now), power->base));
    ct_flow_insert_var(arena, &loop->results, carried,
                       ct_flow_fresh(l->p->flow, l->p->function, "power", power->base.type));
}

/* A loop that runs in parallel does not any more: that is no loss if it is inside another loop, or does little. */
static bool may_carry(const CtFlowStep *step, bool inside) {
    if (step->kind != FLOW_LOOP || step->as.loop.initial || step->as.loop.associative) return false;
    const CtFlowBlock *block = step->as.loop.block;
    if (block->exit != EXIT_YIELD) return false;
    bool loops = false;
    for (uint32_t i = 0; i < block->steps.count; i++) loops = loops || block->steps.items[i]->kind == FLOW_LOOP;
    return inside || (!loops && ct_flow_size(block) <= FEW_STEPS);
}

static void visit(Powers *p, CtFlowBlock *block, uint32_t depth, bool inside) {
    CtFlowBlock old = *block;
    memset(&block->steps, 0, sizeof block->steps);
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        Loop l = {.p = p, .step = step, .depth = depth};
        if (may_carry(step, inside)) find_powers(&l, step->as.loop.block);
        for (uint32_t j = 0; j < l.found.count; j++) write_carried(&l, block, &l.found.items[j]);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            visit(p, ct_flow_inner(step, j), depth + 1, inside || step->kind == FLOW_LOOP);
        ct_push(p->flow->arena, &block->steps, step);
    }
}

static void find(void *data, CtFlowStep *step) {
    Powers *p = data;
    p->some = p->some || is_power(p, step);
}

void ct_flow_powers(CtFlow *flow) {
    Powers p = {.flow = flow};
    for (uint32_t i = 0; i < flow->functions.count && !flow->exact; i++) {
        p.function = flow->functions.items[i];
        p.some = false;
        ct_flow_each_step(p.function->body, find, &p);
        if (!p.some) continue;
        ct_flow_facts_begin(&p.facts, flow, p.function);
        visit(&p, p.function->body, 0, false);
    }
}
