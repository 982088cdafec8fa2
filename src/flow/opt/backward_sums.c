/* Sums from the last element on. What `foldr` adds up of a list that is an array, as in
 *
 *     distance (x : xs) (y : ys) = (x - y) ^ 2 + distance xs ys
 *
 * is a fold over reversed arrays. It adds up the same from the first element on:
 *
 *     ys = reverse xs
 *     fold n, z do i, s                             fold n, z do i, s
 *       x = read ys, i                       →        x = read xs, i
 *       yield add … x …, s                            yield add … x …, s
 *
 * What `foldr` adds up of an array reads xs itself, at n − 1 − i; then that is all that the body knows of i, and i
 * stands for it. So no array is reversed, and the fold fuses with the loop that makes the array. The terms are added in
 * another order, which exact mode does not do. They must not fail: another one would be the first that does. */
#include "flow/opt/passes.h"

typedef struct Sums {
    CtFlowFacts facts;
    CtFlowEffects effects;
    const uint32_t *uses;
    const CtFlowStep *loop; /* that is looked at */
    uint32_t found;         /* reads of reversed arrays at its index */
    bool changes;           /* reads are changed, not counted */
} Sums;

/* Whether a carried value is only added to: the value itself, used once, plus something else. */
static bool only_grows(const Sums *p, const CtFlowBlock *body, uint32_t carried) {
    const CtFlowVar *now = body->params.items[1 + carried], *next = body->values.items[carried].var;
    const CtFlowStep *sum = ct_flow_maker(&p->facts, &body->values.items[carried], FLOW_PRIM);
    if (!ct_flow_is_prim(sum, PRIM_ADD) && !ct_flow_is_prim(sum, PRIM_INT_ADD)) return false;
    if (sum->args.items[0].var != now && sum->args.items[1].var != now) return false;
    return p->uses[now->id] == 1 && p->uses[next->id] == 1;
}

static bool is_sum(const Sums *p, const CtFlowStep *step) {
    if (step->kind != FLOW_LOOP || step->as.loop.initial || step->as.loop.carried == 0) return false;
    const CtFlowBlock *body = step->as.loop.block;
    if (body->exit != EXIT_YIELD || step->results.count != step->as.loop.carried) return false;
    for (uint32_t i = 0; i < step->as.loop.carried; i++)
        if (!only_grows(p, body, i)) return false;
    return ct_flow_block_is_total(&p->effects, body);
}

/* A read of a reversed array, as long as the loop, at the loop's index alone. */
static void look_at_read(void *data, CtFlowStep *step) {
    Sums *p = data;
    const CtFlowVar *index = p->loop->as.loop.block->params.items[0];
    if (step->kind != FLOW_READ || step->args.items[1].var != index) return;
    const CtFlowStep *reversed = ct_flow_fact(&p->facts, &step->args.items[0])->maker;
    if (!ct_flow_is_bulk(reversed, ARRAY_REVERSE)) return;
    if (!ct_flow_is_long(&p->facts, &reversed->args.items[0], 0, &p->loop->args.items[0])) return;
    p->found++;
    if (p->changes) step->args.items[0] = reversed->args.items[0];
}

/* The index from the end, if the body uses nothing else of the index. */
static const CtFlowVar *index_from_end(const Sums *p, const CtFlowStep *loop) {
    const CtFlowBlock *body = loop->as.loop.block;
    const CtFlowVar *index = body->params.items[0];
    for (uint32_t i = 0; p->uses[index->id] == 1 && i < body->steps.count; i++) {
        const CtFlowStep *step = body->steps.items[i];
        if (!ct_flow_is_prim(step, PRIM_INT_SUB) || step->args.items[1].var != index) continue;
        const CtFlowStep *last = ct_flow_maker(&p->facts, &step->args.items[0], FLOW_PRIM);
        if (!ct_flow_is_prim(last, PRIM_INT_SUB) || !ct_flow_is_int(&last->args.items[1], 1)) return NULL;
        CtFlowLength all = ct_flow_length_of(&p->facts, last->args.items[0]),
                     count = ct_flow_length_of(&p->facts, loop->args.items[0]);
        return ct_flow_same_length(&p->facts, all, count) ? step->results.items[0] : NULL;
    }
    return NULL;
}

static void stand_in_args(CtFlowArgs *args, const CtFlowVar *old, CtFlowVar *var) {
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].var == old) args->items[i].var = var;
}

static void stand_in(CtFlowBlock *block, const CtFlowVar *old, CtFlowVar *var) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        stand_in_args(&step->args, old, var);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) stand_in(ct_flow_inner(step, j), old, var);
    }
    stand_in_args(&block->values, old, var);
}

static void visit(void *data, CtFlowStep *step) {
    Sums *p = data;
    if (!is_sum(p, step)) return;
    CtFlowBlock *body = step->as.loop.block;
    const CtFlowVar *from_end = index_from_end(p, step);
    if (from_end != NULL && CT_FIRED("backward_sums.from_end")) stand_in(body, from_end, body->params.items[0]);
    if (from_end != NULL) return;
    p->loop = step;
    p->found = 0;
    p->changes = false;
    ct_flow_each_step(body, look_at_read, p);
    if (p->found == 0 || p->found != p->uses[body->params.items[0]->id]) return;
    CT_FIRED("backward_sums.forwards");
    p->changes = true;
    ct_flow_each_step(body, look_at_read, p);
}

void ct_flow_backward_sums(CtFlow *flow) {
    if (flow->exact) return;
    Sums p = {.effects = ct_flow_effects(flow)};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        p.uses = ct_flow_count_uses(flow, function);
        ct_flow_facts_begin(&p.facts, flow, function);
        ct_flow_each_step(function->body, visit, &p);
    }
}
