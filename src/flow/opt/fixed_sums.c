/* Loops that add to elements of an array of which some are the same in all iterations, as the derivative of what
 * happens between one and all others does. What such an element gets is a sum that the loop carries, and is added to
 * the element behind the loop:
 *
 *     dx = fold n, dx0 do j, dx                       dx1, s = fold n, dx0, −0 do j, dx, s
 *       dx' = update dx, j, dx[j] + a           →       dx' = update dx, j, dx[j] + a
 *       yield update dx', i, dx'[i] + b                 yield dx', s + b
 *                                                     dx = update dx1, i, dx1[i] + s
 *
 * The terms are the same, but are added in another order: with fast mathematics only. The loop must certainly have an
 * iteration, so that there is such an element. */
#include "flow/opt/passes.h"

enum { MOST = 16 }; /* sums of a loop */

typedef struct FixedSums {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFacts facts;
    CtFlowBuilder b;
    uint32_t *uses; /* by variable number */
    uint32_t vars;  /* how many it has */
} FixedSums;

/* x[⟨i⟩] + term, written back */
typedef struct Addition {
    CtFlowStep *read, *sum, *update;
    CtFlowArg term;
    bool fixed;
} Addition;
typedef CT_VEC(Addition) Additions;

/* ---- which loops ---- */

static uint32_t uses_of(const FixedSums *p, const CtFlowVar *var) { return var->id < p->vars ? p->uses[var->id] : 0; }

/* Whether an update adds to the element that it writes, and nothing else uses what it reads and computes. */
static bool is_addition(const FixedSums *p, CtFlowStep *update, uint32_t depth, Addition *out) {
    uint32_t last = update->args.count - 1;
    CtFlowStep *sum = ct_flow_fact(&p->facts, &update->args.items[last])->maker;
    if (!ct_flow_is_prim(sum, PRIM_ADD) || uses_of(p, sum->results.items[0]) != 1) return false;
    *out = (Addition){.sum = sum, .update = update, .fixed = true};
    for (uint32_t i = 0; i < 2 && out->read == NULL; i++) {
        CtFlowStep *read = ct_flow_fact(&p->facts, &sum->args.items[i])->maker;
        if (read == NULL || read->kind != FLOW_READ || read->args.count != last) continue;
        bool same = uses_of(p, read->results.items[0]) == 1;
        for (uint32_t j = 0; j < last; j++) same = same && ct_flow_same(&read->args.items[j], &update->args.items[j]);
        if (!same) continue;
        out->read = read;
        out->term = sum->args.items[1 - i];
    }
    for (uint32_t i = 1; i < last; i++)
        out->fixed = out->fixed && ct_flow_fact(&p->facts, &update->args.items[i])->depth <= depth;
    return out->read != NULL && last == update->args.items[0].type->rank + 1;
}

/* Whether a loop does nothing with a carried array but add to its elements; the additions, from the last on. */
static bool find_additions(const FixedSums *p, const CtFlowStep *loop, uint32_t carried, uint32_t depth,
                           Additions *out) {
    const CtFlowBlock *body = loop->as.loop.block;
    const CtFlowVar *array = body->params.items[1 + carried], *at = body->values.items[carried].var;
    if (array->type->kind != FLOW_ARRAY || array->type->element->kind != FLOW_F64) return false;
    while (at != array) {
        CtFlowStep *update = at != NULL ? ct_flow_binder(body, at) : NULL;
        Addition addition;
        uint32_t used = at == body->values.items[carried].var ? 1 : 2; /* or by a read and an update */
        if (update == NULL || update->kind != FLOW_UPDATE || uses_of(p, at) != used) return false;
        if (!is_addition(p, update, depth, &addition)) return false;
        ct_push(p->arena, out, addition);
        at = update->args.items[0].var;
    }
    return out->count > 0 && uses_of(p, array) == 2;
}

static uint32_t count_fixed(const Additions *additions) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < additions->count; i++) count += additions->items[i].fixed;
    return count;
}

static bool has_iteration(const FixedSums *p, const CtFlowStep *loop) {
    CtFlowArg none = {.type = p->facts.integer};
    return ct_flow_compare(&p->facts, PRIM_INT_LT, &none, &loop->args.items[0]) == 1;
}

/* ---- writing ---- */

/* Makes the loop carry the sums of the array's fixed elements, and adds these behind it. */
static void take_out(FixedSums *p, CtFlowStep *loop, uint32_t carried, const Additions *additions) {
    CtFlowBuilder *b = &p->b;
    CtFlowBlock *body = loop->as.loop.block;
    CtFlowVar *result = loop->results.items[carried];
    CtFlowArg array = flow_of(ct_flow_var(b, result->name, result->type));
    loop->results.items[carried] = array.var;
    for (uint32_t i = additions->count; i-- > 0;) { /* in the order of the program */
        const Addition *a = &additions->items[i];
        if (!a->fixed) continue;
        const CtFlowType *number = a->term.type;
        uint32_t at = loop->as.loop.carried++;
        CtFlowVar *sum = ct_flow_var(b, "sum", number), *total = ct_flow_var(b, "sum", number);
        ct_flow_insert_arg(p->arena, &loop->args, 1 + at, ct_flow_real(number, -0.0));
        ct_flow_insert_var(p->arena, &body->params, 1 + at, sum);
        ct_flow_insert_arg(p->arena, &body->values, at, flow_of(a->sum->results.items[0]));
        ct_flow_insert_var(p->arena, &loop->results, at, total);
        a->sum->args.items[0] = flow_of(sum);
        a->sum->args.items[1] = a->term;
        ct_flow_remove_step(body, a->read);
        ct_flow_remove_step(body, a->update);
        ct_flow_substitute(body, a->update->results.items[0], a->update->args.items[0]);
        const CtFlowArg *indices = &a->update->args.items[1];
        CtFlowArg before = ct_flow_read(b, a->read->range, array, indices, array.type->rank);
        CtFlowArg after = ct_flow_prim(b, a->sum->range, PRIM_ADD, number, before, flow_of(total));
        array = ct_flow_update(b, a->update->range, array, indices, array.type->rank, after);
    }
    b->block->steps.items[b->block->steps.count - 1]->results.items[0] = result;
}

/* ---- the walk ---- */

static void split(FixedSums *p, CtFlowStep *loop, uint32_t depth) {
    uint32_t carried = loop->as.loop.carried, sums = 0;
    for (uint32_t i = 0; i < carried; i++) {
        Additions additions = {0};
        if (loop->results.items[i] == NULL || !find_additions(p, loop, i, depth, &additions)) continue;
        uint32_t fixed = count_fixed(&additions);
        if (fixed == 0 || sums + fixed > MOST || !CT_FIRED("fixed_sums.loop")) continue;
        sums += fixed;
        take_out(p, loop, i, &additions);
    }
}

static void visit(FixedSums *p, CtFlowBlock *block, uint32_t depth) {
    CtFlowBlock old = ct_flow_reopen(block);
    uint32_t equals = p->facts.equals.count;
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        uint32_t before = p->facts.equals.count;
        if (step->kind == FLOW_LOOP) ct_flow_assume_iteration(&p->facts, step);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(p, ct_flow_inner(step, j), depth + 1);
        p->facts.equals.count = before;
        ct_push(p->arena, &block->steps, step);
        p->b.block = block;
        bool loop = step->kind == FLOW_LOOP && !step->as.loop.initial && !step->as.loop.associative;
        if (loop && step->as.loop.block->exit == EXIT_YIELD && has_iteration(p, step)) split(p, step, depth);
    }
    p->facts.equals.count = equals;
    block->exit = old.exit;
}

void ct_flow_fixed_sums(CtFlow *flow) {
    if (flow->exact) return;
    FixedSums p = {.flow = flow, .arena = flow->arena};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        ct_flow_facts_begin(&p.facts, flow, function);
        p.uses = ct_flow_count_uses(flow, function);
        p.vars = function->vars;
        p.b = (CtFlowBuilder){flow, flow->arena, function, NULL};
        visit(&p, function->body, 0);
    }
}
