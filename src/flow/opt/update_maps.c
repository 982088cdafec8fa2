/* Loops that update each element of an array once become maps:
 *
 *     w = map n …                          w = map n …
 *     y = fold n, w do i, x:               y = map n do i:
 *       t = read x, i              →         t = read w, i
 *       ⟨u of t⟩                             ⟨u of t⟩
 *       yield update x, i, u                 yield u
 *
 * Adjoints are such loops: each use of an array adds to what the uses behind it have made. As maps they are fused, and
 * the array between them is not made. The array is updated in place, as before, where no loop in the same block makes
 * it, or not as long, and where the two would not be fused: where the loop reads, of what this block makes, more than
 * its own elements of what other loops make. */
#include "flow/copy.h"
#include "flow/opt/passes.h"

typedef struct UpdateMaps {
    CtFlow *flow;
    CtFlowFacts facts;
} UpdateMaps;

typedef struct Uses {
    const CtFlowFacts *facts;
    uint32_t depth;                           /* of the block that the loop stands in */
    const CtFlowVar *index, *array, *updated; /* the loop's index, the array in an iteration, and what that ends with */
    const CtFlowStep *update;
    bool other; /* one of them is used otherwise than this file's head says */
} Uses;

static bool is_read_here(const Uses *u, const CtFlowStep *step) {
    return step->kind == FLOW_READ && step->args.count == 2 && step->args.items[1].var == u->index;
}

/* Whether a step reads an array that is made beside the loop, but not its own element of what another loop makes. */
static bool keeps_apart(const Uses *u, const CtFlowStep *step) {
    if (step->kind != FLOW_READ) return false;
    const CtFlowFact *fact = ct_flow_fact(u->facts, &step->args.items[0]);
    if (fact->maker == NULL || fact->depth != u->depth) return false;
    return fact->maker->kind != FLOW_LOOP || step->args.items[1].var != u->index;
}

static void look_at_use(void *data, CtFlowStep *step) {
    Uses *u = data;
    u->other |= keeps_apart(u, step);
    for (uint32_t i = 0; i < step->args.count; i++) {
        const CtFlowVar *var = step->args.items[i].var;
        bool updates = step == u->update && i == 0;
        if (var != NULL && var == u->array && !updates && !is_read_here(u, step)) u->other = true;
        if (var != NULL && var == u->updated) u->other = true;
    }
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) {
        const CtFlowArgs *values = &ct_flow_inner(step, i)->values;
        for (uint32_t j = 0; j < values->count; j++)
            if (values->items[j].var != NULL &&
                (values->items[j].var == u->array || values->items[j].var == u->updated))
                u->other = true;
    }
}

/* Whether a step in the block at this depth makes an array of as many elements as a loop has iterations. */
static bool is_as_long(const UpdateMaps *m, const CtFlowArg *array, const CtFlowArg *count, uint32_t depth) {
    const CtFlowFact *fact = ct_flow_fact(&m->facts, array);
    const CtFlowStep *made = fact->maker;
    if (made == NULL || fact->depth != depth) return false;
    bool maps = made->kind == FLOW_LOOP && !made->as.loop.initial && fact->index >= made->as.loop.carried;
    return (maps || ct_flow_is_bulk(made, ARRAY_REPLICATE)) && ct_flow_same(&made->args.items[0], count);
}

/* The update that a carried array ends each iteration with, if the loop is a map of it; else NULL. */
static const CtFlowStep *only_update(const UpdateMaps *m, const CtFlowStep *loop, uint32_t carried, uint32_t depth) {
    CtFlowBlock *block = loop->as.loop.block;
    const CtFlowVar *array = block->params.items[1 + carried], *index = block->params.items[0];
    if (array->type->kind != FLOW_ARRAY || array->type->rank != 1) return NULL;
    if (ct_flow_is_object(array->type->element)) return NULL;
    if (!is_as_long(m, &loop->args.items[1 + carried], &loop->args.items[0], depth)) return NULL;
    const CtFlowStep *update = ct_flow_binder(block, block->values.items[carried].var);
    bool fits = update != NULL && update->kind == FLOW_UPDATE && update->args.items[0].var == array &&
                update->args.items[1].var == index;
    if (!fits) return NULL;
    Uses u = {.facts = &m->facts,
              .depth = depth,
              .index = index,
              .array = array,
              .updated = update->results.items[0],
              .update = update};
    ct_flow_each_step(block, look_at_use, &u);
    for (uint32_t i = 0; i < block->values.count; i++)
        if (i != carried && (block->values.items[i].var == array || block->values.items[i].var == u.updated))
            u.other = true;
    return u.other ? NULL : update;
}

static void drop_arg(CtFlowArgs *args, uint32_t at) {
    for (uint32_t i = at; i + 1 < args->count; i++) args->items[i] = args->items[i + 1];
    args->count--;
}

static CtFlowVar *take_var(CtFlowVars *vars, uint32_t at) {
    CtFlowVar *var = vars->items[at];
    for (uint32_t i = at; i + 1 < vars->count; i++) vars->items[i] = vars->items[i + 1];
    vars->count--;
    return var;
}

/* The carried array becomes the last one that the loop makes. */
static void become_map(UpdateMaps *m, CtFlowStep *loop, uint32_t carried, const CtFlowStep *update) {
    CtFlowBlock *block = loop->as.loop.block;
    CtFlowArg start = loop->args.items[1 + carried];
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (block->steps.items[i] != update) block->steps.items[kept++] = block->steps.items[i];
    block->steps.count = kept;
    ct_flow_substitute(block, take_var(&block->params, 1 + carried), start);
    drop_arg(&loop->args, 1 + carried);
    drop_arg(&block->values, carried);
    ct_push(m->flow->arena, &block->values, update->args.items[2]);
    CtFlowVar *result = take_var(&loop->results, carried);
    ct_push(m->flow->arena, &loop->results, result);
    loop->as.loop.carried--;
}

static void visit(UpdateMaps *m, CtFlowBlock *block, uint32_t depth) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(m, ct_flow_inner(step, j), depth + 1);
        if (step->kind != FLOW_LOOP || step->as.loop.initial || step->as.loop.block->exit != EXIT_YIELD) continue;
        for (uint32_t j = step->as.loop.carried; j-- > 0;) {
            const CtFlowStep *update = only_update(m, step, j, depth);
            if (update == NULL) continue;
            CT_FIRED("update_maps.map");
            become_map(m, step, j, update);
            ct_flow_facts_step(&m->facts, step, depth);
        }
    }
}

void ct_flow_update_maps(CtFlow *flow) {
    UpdateMaps m = {.flow = flow};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        ct_flow_facts_begin(&m.facts, flow, flow->functions.items[i]);
        visit(&m, flow->functions.items[i]->body, 0);
    }
}
