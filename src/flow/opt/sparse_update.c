/* Sparse updates. A map over an array that is a `replicate` with a few updates becomes a `replicate` with updates: the
 * body runs once for the common element and once for each updated one. So cotangents that only a few elements receive
 * are not propagated through all elements. */
#include "flow/copy.h"
#include "flow/opt/passes.h"

enum { MOST = 32 /* bound of the number of updated elements times the steps of the body */ };

typedef struct SparseUpdate {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowFacts facts;
    CtFlowValues now;
    uint32_t depth;
} SparseUpdate;

typedef CT_VEC(CtFlowStep *) Steps;

static const CtFlowStep *maker(const SparseUpdate *p, const CtFlowArg *arg) {
    return ct_flow_fact(&p->facts, arg)->maker;
}

/* The array that a map reads, if its body reads just one, each iteration at its own index, and yields numbers; else
 * NULL. */
static const CtFlowArg *mapped(const CtFlowStep *map) {
    const CtFlowBlock *block = map->as.loop.block;
    const CtFlowArg *array = NULL;
    const CtFlowVar *index = block->params.items[0];
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_PRIM && !ct_flow_step_fails(step)) {
            for (uint32_t j = 0; j < step->args.count; j++)
                if (step->args.items[j].var == index) return NULL;
            continue;
        }
        if (step->kind != FLOW_READ || step->args.count != 2 || step->args.items[1].var != index) return NULL;
        if (step->args.items[0].type->rank != 1 || (array != NULL && !ct_flow_same(array, &step->args.items[0])))
            return NULL;
        array = &step->args.items[0];
    }
    return array != NULL && block->values.items[0].var != index ? array : NULL;
}

static bool is_map(const CtFlowStep *step) {
    return step->kind == FLOW_LOOP && step->as.loop.carried == 0 && step->results.count == 1 &&
           step->results.items[0]->type->rank == 1 && !ct_flow_is_object(step->results.items[0]->type->element) &&
           step->as.loop.block->exit == EXIT_YIELD;
}

/* Collects the updates at literal indices, the last first, and the `replicate` that they start from; false if the array
 * is not made in this way. */
static bool find_puts(const SparseUpdate *p, const CtFlowArg *array, Steps *puts) {
    for (const CtFlowStep *step = maker(p, array); step != NULL; step = maker(p, &step->args.items[0])) {
        ct_push(p->arena, puts, (CtFlowStep *)step);
        if (step->kind == FLOW_BULK) return step->as.bulk == ARRAY_REPLICATE;
        if (step->kind != FLOW_UPDATE || step->args.count != 3 || step->args.items[1].var != NULL) return false;
    }
    return false;
}

/* Copies the body for one element. */
static CtFlowArg apply(SparseUpdate *p, Steps *out, const CtFlowBlock *body, CtFlowArg element) {
    CtFlowCopy copy = {.flow = p->flow, .into = p->function, .place = CT_NO_RANGE};
    CtFlowBlock prims = {.exit = EXIT_YIELD, .values = body->values};
    for (uint32_t i = 0; i < body->steps.count; i++)
        if (body->steps.items[i]->kind == FLOW_READ)
            ct_flow_copy_stands(&copy, body->steps.items[i]->results.items[0], element);
        else
            ct_push(p->arena, &prims.steps, body->steps.items[i]);
    const CtFlowBlock *fresh = ct_flow_copy_block(&copy, &prims);
    for (uint32_t i = 0; i < fresh->steps.count; i++) {
        ct_push(p->arena, out, fresh->steps.items[i]);
        ct_flow_facts_step(&p->facts, fresh->steps.items[i], p->depth);
    }
    return fresh->values.items[0];
}

/* Repeats a step that makes or updates an array, with another element. */
static CtFlowArg again(SparseUpdate *p, Steps *out, const CtFlowStep *step, const CtFlowArg *array, CtFlowArg element) {
    CtFlowStep *fresh = CT_NEW(p->arena, CtFlowStep);
    *fresh = *step;
    fresh->args = (CtFlowArgs){0};
    fresh->results = (CtFlowVars){0};
    const CtFlowVar *old = step->results.items[0];
    CtFlowVar *result = ct_flow_fresh(p->flow, p->function, old->name, ct_flow_array(p->flow, 1, element.type));
    if (array != NULL) ct_push(p->arena, &fresh->args, *array);
    ct_push(p->arena, &fresh->args, step->args.items[array != NULL ? 1 : 0]);
    ct_push(p->arena, &fresh->args, element);
    ct_push(p->arena, &fresh->results, result);
    ct_push(p->arena, out, fresh);
    ct_flow_facts_step(&p->facts, fresh, p->depth);
    return flow_of(result);
}

/* Replaces a map by a `replicate` with updates; false if it stays. */
static bool put_apart(SparseUpdate *p, Steps *out, const CtFlowStep *map) {
    Steps puts = {0};
    const CtFlowArg *array = is_map(map) ? mapped(map) : NULL;
    if (array == NULL || !find_puts(p, array, &puts)) return false;
    const CtFlowBlock *body = map->as.loop.block;
    const CtFlowStep *replicate = puts.items[puts.count - 1];
    if (puts.count * body->steps.count > MOST) return false;
    if (!ct_flow_same_length(&p->facts, ct_flow_length_of(&p->facts, map->args.items[0]),
                             ct_flow_length_of(&p->facts, replicate->args.items[0])))
        return false;
    CT_FIRED("sparse_updates.map");
    CtFlowArg made = again(p, out, replicate, NULL, apply(p, out, body, replicate->args.items[1]));
    for (uint32_t i = puts.count - 1; i-- > 0;) {
        CtFlowArg element = apply(p, out, body, puts.items[i]->args.items[2]);
        made = again(p, out, puts.items[i], &made, element);
    }
    ct_flow_stands(&p->now, map->results.items[0], made);
    return true;
}

static void visit(SparseUpdate *p, CtFlowBlock *block) {
    Steps out = {0};
    uint32_t equals = p->facts.equals.count;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        ct_flow_rename(&p->now, &step->args);
        ct_flow_learn(&p->facts, step);
        p->depth++;
        if (step->kind == FLOW_LOOP) visit(p, step->as.loop.block);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            visit(p, step->as.cases.branches[j].block);
        p->depth--;
        if (!put_apart(p, &out, step)) ct_push(p->arena, &out, step);
    }
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
    ct_flow_rename(&p->now, &block->values);
    p->facts.equals.count = equals;
}

void ct_flow_sparse_updates(CtFlow *flow) {
    SparseUpdate p = {.flow = flow, .arena = flow->arena};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        p.function = flow->functions.items[i];
        ct_flow_values_clear(&p.now, flow->arena);
        ct_flow_facts_begin(&p.facts, flow, p.function);
        p.depth = 0;
        visit(&p, p.function->body);
    }
}
