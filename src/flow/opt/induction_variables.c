/* Induction variables. An Int that a loop carries, and to which each iteration adds a polynomial of degree 0 or 1 in
 * the loop's index, is computed from the index instead:
 *
 *     fold n, a, … do i, at, …                  t = intSub d, 2             in front of the loop
 *       …                                       fold n, … do i, …
 *       t = intAdd at, d               →          at = a + i t − i (i − 1) / 2
 *       u = intSub t, i                           …
 *       v = intSub u, 2
 *       yield v, …
 *
 * So iterations do not wait for each other, a check of `at` may be asked in another order, and a derivative stores no
 * values of `at`. Ints wrap, and what is computed modulo 2⁶⁴ is the same for both. Half of i (i − 1) is the product of
 * half of i, rounded down, and i − 1 with its last bit set. */
#include "flow/opt/passes.h"

enum { MOST_TERMS = 4, DEEPEST = 8 };

typedef struct Term {
    CtFlowArg arg;
    uint64_t times;
} Term;

/* A sum of values that do not change in the loop. */
typedef struct Sum {
    Term terms[MOST_TERMS];
    uint32_t count;
    uint64_t literal;
} Sum;

/* `self` times the carried variable, plus `index` times the loop's index, plus `rest`. */
typedef struct Polynomial {
    uint64_t self;
    Sum index, rest;
} Polynomial;

typedef struct Induction {
    CtFlow *flow;
    CtFlowFunction *function;
    CtFlowFacts facts;
} Induction;

typedef struct Loop {
    Induction *p;
    CtFlowStep *step;
    const CtFlowVar *self; /* the carried variable that is looked at */
    uint32_t depth;        /* of the block that the loop is in */
} Loop;

/* ---- what an iteration adds ---- */

static bool is_outside(const Loop *l, const CtFlowArg *arg) {
    return arg->var == NULL || ct_flow_fact(&l->p->facts, arg)->depth <= l->depth;
}

static bool add_to(Sum *sum, const CtFlowArg *arg, uint64_t times) {
    if (arg->var == NULL) {
        sum->literal += times * (uint64_t)arg->lit.integer;
        return true;
    }
    for (uint32_t i = 0; i < sum->count; i++)
        if (sum->terms[i].arg.var == arg->var) {
            sum->terms[i].times += times;
            return true;
        }
    if (sum->count == MOST_TERMS) return false;
    sum->terms[sum->count++] = (Term){*arg, times};
    return true;
}

/* Adds `times` a value to a polynomial; false if the value is none. */
static bool expand(const Loop *l, const CtFlowArg *arg, uint64_t times, Polynomial *to, uint32_t deep) {
    const CtFlowVar *index = l->step->as.loop.block->params.items[0];
    if (arg->var != NULL && arg->var == l->self) {
        to->self += times;
        return true;
    }
    if (arg->var == index) return add_to(&to->index, &(CtFlowArg){.type = arg->type, .lit.integer = 1}, times);
    if (is_outside(l, arg)) return add_to(&to->rest, arg, times);
    const CtFlowStep *step = ct_flow_maker(&l->p->facts, arg, FLOW_PRIM);
    if (step == NULL || deep == DEEPEST) return false;
    const CtFlowArg *a = &step->args.items[0], *b = &step->args.items[step->args.count - 1];
    switch (step->as.prim) {
    case PRIM_INT_ADD: return expand(l, a, times, to, deep + 1) && expand(l, b, times, to, deep + 1);
    case PRIM_INT_SUB: return expand(l, a, times, to, deep + 1) && expand(l, b, -times, to, deep + 1);
    case PRIM_INT_NEGATE: return expand(l, a, -times, to, deep + 1);
    case PRIM_INT_MUL:
        if (a->var == NULL) return expand(l, b, times * (uint64_t)a->lit.integer, to, deep + 1);
        if (b->var == NULL) return expand(l, a, times * (uint64_t)b->lit.integer, to, deep + 1);
        if (a->var == index && is_outside(l, b)) return add_to(&to->index, b, times);
        return b->var == index && is_outside(l, a) && add_to(&to->index, a, times);
    default: return false;
    }
}

/* ---- the value in an iteration ---- */

static CtFlowArg binary(CtFlowBuilder *b, CtPrim prim, CtFlowArg x, CtFlowArg y) {
    return ct_flow_prim_int(b, CT_NO_RANGE, prim, x, y);
}

static bool is_literal(CtFlowArg arg, int64_t value) { return arg.var == NULL && arg.lit.integer == value; }

static CtFlowArg plus(CtFlowBuilder *b, CtFlowArg x, CtFlowArg y) {
    if (is_literal(x, 0)) return y;
    return is_literal(y, 0) ? x : binary(b, PRIM_INT_ADD, x, y);
}

static CtFlowArg product(CtFlowBuilder *b, CtFlowArg x, CtFlowArg y) {
    if (is_literal(y, 0)) return y;
    return is_literal(y, 1) ? x : binary(b, PRIM_INT_MUL, x, y);
}

static CtFlowArg write_sum(CtFlowBuilder *b, const Sum *sum) {
    CtFlowArg total = ct_flow_int(b, (int64_t)sum->literal);
    for (uint32_t i = 0; i < sum->count; i++)
        total = plus(b, product(b, sum->terms[i].arg, ct_flow_int(b, (int64_t)sum->terms[i].times)), total);
    return total;
}

/* The value before iteration `index`, which is not below 0. */
static CtFlowArg value_at(CtFlowBuilder *b, CtFlowArg start, CtFlowArg slope, CtFlowArg curvature, CtFlowArg index) {
    CtFlowArg value = plus(b, start, product(b, index, slope));
    if (is_literal(curvature, 0)) return value;
    CT_FIRED("induction_variables.quadratic");
    CtFlowArg one = ct_flow_int(b, 1);
    CtFlowArg half = binary(b, PRIM_INT_SHIFT_RIGHT, index, one);
    CtFlowArg odd = binary(b, PRIM_INT_OR, binary(b, PRIM_INT_SUB, index, one), one);
    return plus(b, value, product(b, binary(b, PRIM_INT_MUL, half, odd), curvature));
}

/* ---- loops ---- */

/* Makes the steps of `front`, and then those of the block, those of the block. */
static void put_in_front(CtArena *arena, CtFlowBlock *block, CtFlowBlock *front) {
    for (uint32_t i = 0; i < block->steps.count; i++) ct_push(arena, &front->steps, block->steps.items[i]);
    block->steps.items = front->steps.items;
    block->steps.count = front->steps.count;
    block->steps.capacity = front->steps.capacity;
}

/* Computes a carried variable from the index: its value in each iteration, and the last. Steps go in front of the loop,
 * to `before`, and behind it. */
static void replace(Loop *l, uint32_t carried, const Polynomial *adds, CtFlowBlock *before, CtFlowBlock *behind) {
    Induction *p = l->p;
    CtArena *arena = p->flow->arena;
    CtFlowStep *loop = l->step;
    CtFlowBlock *block = loop->as.loop.block;
    CtFlowBuilder b = {p->flow, arena, p->function, before};
    CtFlowArg start = loop->args.items[1 + carried];
    uint32_t known = before->steps.count;
    CtFlowArg slope = write_sum(&b, &adds->rest), curvature = write_sum(&b, &adds->index);
    for (uint32_t i = known; i < before->steps.count; i++)
        ct_flow_facts_step(&p->facts, before->steps.items[i], l->depth);
    b.block = ct_flow_block(&b);
    CtFlowArg value = value_at(&b, start, slope, curvature, flow_of(block->params.items[0]));
    ct_flow_substitute(block, block->params.items[1 + carried], value);
    put_in_front(arena, block, b.block);
    b.block = behind;
    CtFlowArg iterations = binary(&b, PRIM_INT_MAX, loop->args.items[0], ct_flow_int(&b, 0));
    CtFlowArg last = value_at(&b, start, slope, curvature, iterations);
    CtFlowStep *result = ct_flow_step(&b, FLOW_PRIM, CT_NO_RANGE);
    result->as.prim = PRIM_INT_ADD;
    ct_flow_arg(&b, result, last);
    ct_flow_arg(&b, result, ct_flow_int(&b, 0));
    ct_push(arena, &result->results, loop->results.items[carried]);
    ct_flow_remove_var(arena, &block->params, 1 + carried);
    ct_flow_remove_var(arena, &loop->results, carried);
    ct_flow_remove_arg(arena, &loop->args, 1 + carried);
    ct_flow_remove_arg(arena, &block->values, carried);
    loop->as.loop.carried--;
    ct_flow_facts_step(&p->facts, loop, l->depth);
}

/* Whether a carried variable is an induction variable, and what each iteration adds to it. */
static bool is_induction(Loop *l, uint32_t carried, Polynomial *adds) {
    const CtFlowBlock *block = l->step->as.loop.block;
    l->self = block->params.items[1 + carried];
    *adds = (Polynomial){0};
    if (l->self->type->kind != FLOW_I64 || block->values.items[carried].var == l->self) return false;
    return expand(l, &block->values.items[carried], 1, adds, 0) && adds->self == 1;
}

static void replace_all(Loop *l, CtFlowBlock *before, CtFlowBlock *behind) {
    for (uint32_t i = 0; i < l->step->as.loop.carried;) {
        Polynomial adds;
        if (is_induction(l, i, &adds) && CT_FIRED("induction_variables.carried")) {
            replace(l, i, &adds, before, behind);
            i = 0; /* another may add this one */
        } else {
            i++;
        }
    }
}

static void visit(Induction *p, CtFlowBlock *block, uint32_t depth) {
    CtFlowBlock old = ct_flow_reopen(block);
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        CtFlowBlock behind = {.exit = EXIT_OPEN};
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(p, ct_flow_inner(step, j), depth + 1);
        Loop l = {.p = p, .step = step, .depth = depth};
        bool regular = step->kind == FLOW_LOOP && !step->as.loop.initial && !step->as.loop.associative;
        if (regular && step->as.loop.block->exit == EXIT_YIELD) replace_all(&l, block, &behind);
        ct_push(p->flow->arena, &block->steps, step);
        for (uint32_t j = 0; j < behind.steps.count; j++) {
            ct_push(p->flow->arena, &block->steps, behind.steps.items[j]);
            ct_flow_facts_step(&p->facts, behind.steps.items[j], depth);
        }
    }
    block->exit = old.exit;
}

/* Whether a function has a loop that carries an Int. */
static void find(void *data, CtFlowStep *step) {
    bool *some = data;
    for (uint32_t i = 0; step->kind == FLOW_LOOP && i < step->as.loop.carried; i++)
        *some = *some || step->args.items[1 + i].type->kind == FLOW_I64;
}

void ct_flow_induction_variables(CtFlow *flow) {
    Induction p = {.flow = flow};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        bool some = false;
        p.function = flow->functions.items[i];
        ct_flow_each_step(p.function->body, find, &some);
        if (!some) continue;
        ct_flow_facts_begin(&p.facts, flow, p.function);
        visit(&p, p.function->body, 0);
    }
}
