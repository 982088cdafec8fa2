/* Recursion that adds to what its own call gives passes on the sum so far, so that its call is the last that it does,
 * and recursion_to_loop.c makes a loop of it:
 *
 *     go (i, x):                                go (i, x):  tail go' (i, x, -0)
 *       switch i == n                           go' (i, x, sum):
 *         0: …                                    switch i == n
 *            rest = call go i + 1, x      →         0: …;  next = add sum, e;  tail go' (i + 1, x, next)
 *            return add e, rest                     1: return add sum, z
 *         1: return z
 *
 * So are products. The terms are the same, computed in the same order, but added from the first to the last, which
 * gives other last bits; so exact mode does not do this. Recursion that would be no loop stays: one_sweep.c does
 * without residuals of it. So do sums of Ints: those of a loop without an end might be computed without it, where
 * recursion runs out of memory. */
#include "flow/opt/passes.h"

typedef struct PartialSums {
    CtFlow *flow;
    CtFlowFunction *from, *to; /* go, go' */
    const uint32_t *uses;
    uint32_t calls, ends; /* of go itself: all, and those that end a block as above */
    CtPrim prim;          /* the sum or product */
    bool leaves;          /* by a tail call */
} PartialSums;

/* The last two steps of a block, if they call the function itself and return a sum of what it gives. */
static bool is_end(const PartialSums *p, const CtFlowBlock *block, CtFlowArg *term) {
    if (block->exit != EXIT_RETURN || block->steps.count < 2) return false;
    const CtFlowStep *call = block->steps.items[block->steps.count - 2];
    const CtFlowStep *sum = block->steps.items[block->steps.count - 1];
    if (call->kind != FLOW_CALL || call->as.function != p->from || sum->kind != FLOW_PRIM ||
        (sum->as.prim != PRIM_ADD && sum->as.prim != PRIM_MUL))
        return false;
    const CtFlowVar *rest = call->results.items[0];
    if (rest == NULL || p->uses[rest->id] != 1 || block->values.items[0].var != sum->results.items[0]) return false;
    bool first = sum->args.items[0].var == rest;
    if (!first && sum->args.items[1].var != rest) return false;
    *term = sum->args.items[first ? 1 : 0];
    return true;
}

static void count_call(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    (void)range, (void)tail;
    PartialSums *p = data;
    p->calls += callee == p->from;
}

static void look_at_exits(PartialSums *p, const CtFlowBlock *block) {
    const CtFlowStep *last = ct_flow_last_switch(block);
    CtFlowArg term;
    for (uint32_t i = 0; last != NULL && i < last->as.cases.count; i++)
        look_at_exits(p, last->as.cases.branches[i].block);
    p->leaves |= block->exit == EXIT_TAIL;
    if (!is_end(p, block, &term)) return;
    p->prim = block->steps.items[block->steps.count - 1]->as.prim;
    p->ends++;
}

/* Whether a function calls itself once, and adds up what that gives. */
static bool adds_up(PartialSums *p) {
    const CtFlowFunction *from = p->from;
    if (from->results.count != 1 || ct_flow_is_separate(from) || from->is_cold_path) return false;
    p->calls = p->ends = 0;
    p->leaves = false;
    ct_flow_each_call(from->body, count_call, p);
    if (p->calls != 1) return false;
    p->uses = ct_flow_count_uses(p->flow, from);
    look_at_exits(p, from->body);
    return p->ends == 1 && !p->leaves;
}

/* In place of what is returned: its sum with what the calls before it have added up. */
static void write_exits(const PartialSums *p, CtFlowBlock *block, CtFlowArg sum) {
    const CtFlowStep *last = ct_flow_last_switch(block);
    for (uint32_t i = 0; last != NULL && i < last->as.cases.count; i++)
        write_exits(p, last->as.cases.branches[i].block, sum);
    if (block->exit != EXIT_RETURN) return;
    CtFlowBuilder l = {p->flow, p->flow->arena, p->to, block};
    CtFlowArg term = block->values.items[0];
    const CtFlowStep *call = NULL;
    if (is_end(p, block, &term)) {
        call = block->steps.items[block->steps.count - 2];
        block->steps.count -= 2;
    }
    block->exit = EXIT_OPEN;
    CtFlowArgs values = {0};
    for (uint32_t i = 0; call != NULL && i < call->args.count; i++) ct_push(l.arena, &values, call->args.items[i]);
    CtFlowArg next = ct_flow_prim(&l, block->range, p->prim, sum.type, sum, term);
    ct_push(l.arena, &values, next);
    block->exit = call != NULL ? EXIT_TAIL : EXIT_RETURN;
    block->tail = call != NULL ? p->to : NULL;
    block->values = values;
}

/* What a sum or product begins with. */
static CtFlowArg neutral(const PartialSums *p, const CtFlowType *type) {
    return ct_flow_real(type, p->prim == PRIM_MUL ? 1 : -0.0);
}

static void write(PartialSums *p) {
    CtFlowFunction *from = p->from, *to = p->to = ct_flow_function(p->flow, from->name, from->range);
    CtFlowCopy copy = {.flow = p->flow, .into = to};
    CtFlowBlock *entry = CT_NEW(p->flow->arena, CtFlowBlock);
    const CtFlowType *type = from->results.items[0];
    ct_flow_types_add(p->flow, &to->results, &from->results);
    to->ends = from->ends;
    for (uint32_t i = 0; i < from->params.count; i++) {
        ct_push(p->flow->arena, &to->params, ct_flow_copy_var(&copy, from->params.items[i]));
        ct_push(p->flow->arena, &entry->values, flow_of(from->params.items[i]));
    }
    CtFlowVar *sum = ct_flow_fresh(p->flow, to, "sum", type);
    ct_push(p->flow->arena, &to->params, sum);
    ct_push(p->flow->arena, &entry->values, neutral(p, type));
    to->body = ct_flow_copy_block(&copy, from->body);
    p->uses = ct_flow_count_uses(p->flow, to);
    write_exits(p, to->body, flow_of(sum));
    *entry = (CtFlowBlock){.exit = EXIT_TAIL, .tail = to, .values = entry->values, .range = from->body->range};
    if (ct_flow_counts(p->flow, to) && CT_FIRED("partial_sums.passed_on"))
        from->body = entry;
    else
        p->flow->functions.count--; /* it would be no loop */
}

void ct_flow_partial_sums(CtFlow *flow) {
    PartialSums p = {.flow = flow};
    for (uint32_t i = 0, count = flow->functions.count; i < count && !flow->exact; i++) {
        p.from = flow->functions.items[i];
        if (adds_up(&p)) write(&p);
    }
}
