/* Elements that a loop carries from one iteration to the next, as in `go p (x : xs) = p * x : go x xs`: the element in
 * front of the one that an iteration reads.
 *
 *     fold n, a, … do i, p, …                   fold n, … do i, …
 *       …                                         p = if i == 0 then a else read xs, i − 1
 *       x = read xs, i                     →      …
 *       yield x, …                                x = read xs, i
 *                                                 yield …
 *
 * So iterations do not wait for each other. A derivative adds to the adjoint of xs where p was read, and its reverse
 * sweep needs no values of p. Where no derivatives are taken, a scan is as good (shifted_reads.c makes one of such
 * reads). */
#include "flow/opt/passes.h"

typedef struct Previous {
    CtFlow *flow;
    CtFlowFunction *function;
    CtFlowFacts facts;
    const uint32_t *uses;
} Previous;

/* The array, made in front of the loop, of whose numbers a carried value is the last that was read; NULL: it is not. */
static const CtFlowArg *read_from(const Previous *p, const CtFlowStep *loop, uint32_t carried, uint32_t depth) {
    const CtFlowBlock *block = loop->as.loop.block;
    const CtFlowVar *last = loop->results.items[carried];
    const CtFlowStep *read = ct_flow_maker(&p->facts, &block->values.items[carried], FLOW_READ);
    if (read == NULL || read->args.count != 2 || read->args.items[1].var != block->params.items[0]) return NULL;
    const CtFlowArg *array = &read->args.items[0];
    bool number = block->params.items[1 + carried]->type->kind == FLOW_F64 && array->type->rank == 1;
    bool unused = last == NULL || p->uses[last->id] == 0;
    return number && unused && ct_flow_fact(&p->facts, array)->depth <= depth ? array : NULL;
}

/* Reads it where it is asked for. */
static void read_again(const Previous *p, CtFlowStep *loop, uint32_t carried, CtFlowArg array) {
    CtArena *arena = p->flow->arena;
    CtFlowBlock *block = loop->as.loop.block;
    CtFlowBlock old = ct_flow_reopen(block);
    CtFlowBuilder l = {p->flow, arena, p->function, block};
    CtFlowArg index = flow_of(block->params.items[0]);
    CtFlowArgs first = {0}, before = {0};
    ct_push(arena, &first, loop->args.items[1 + carried]);
    CtFlowArg is_first = ct_flow_prim_int(&l, loop->range, PRIM_INT_EQ, index, ct_flow_int(&l, 0));
    CtFlowChoosing choice = ct_flow_switch_begin(&l, loop->range, is_first);
    ct_flow_case_begin(&l, &choice, 1);
    ct_flow_case_end(&l, &choice, &first);
    ct_flow_case_begin(&l, &choice, 0);
    CtFlowArg at = ct_flow_prim_int(&l, loop->range, PRIM_INT_SUB, index, ct_flow_int(&l, 1));
    ct_push(arena, &before, ct_flow_read(&l, loop->range, array, &at, 1));
    ct_flow_case_end(&l, &choice, &before);
    CtFlowArg value = ct_flow_switch_end(&l, &choice).items[0];
    for (uint32_t i = 0; i < old.steps.count; i++) ct_push(arena, &block->steps, old.steps.items[i]);
    block->exit = old.exit;
    ct_flow_substitute(block, block->params.items[1 + carried], value);
    ct_flow_remove_var(arena, &block->params, 1 + carried);
    ct_flow_remove_var(arena, &loop->results, carried);
    ct_flow_remove_arg(arena, &loop->args, 1 + carried);
    ct_flow_remove_arg(arena, &block->values, carried);
    loop->as.loop.carried--;
}

static void visit(const Previous *p, CtFlowBlock *block, uint32_t depth) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(p, ct_flow_inner(step, j), depth + 1);
        if (step->kind != FLOW_LOOP || step->as.loop.initial || step->as.loop.associative) continue;
        for (uint32_t j = 0; step->as.loop.block->exit == EXIT_YIELD && j < step->as.loop.carried;) {
            const CtFlowArg *array = read_from(p, step, j, depth);
            if (array != NULL && CT_FIRED("previous_elements.read"))
                read_again(p, step, j, *array);
            else
                j++;
        }
    }
}

void ct_flow_previous_elements(CtFlow *flow) {
    Previous p = {.flow = flow};
    bool derives = ct_flow_takes_derivatives(flow);
    for (uint32_t i = 0; derives && i < flow->functions.count; i++) {
        p.function = flow->functions.items[i];
        p.uses = ct_flow_count_uses(flow, p.function);
        ct_flow_facts_begin(&p.facts, flow, p.function);
        visit(&p, p.function->body, 0);
    }
}
