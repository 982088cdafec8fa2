/* Sparse updates. A map over an array that is a `replicate` with a few updates becomes a `replicate` with updates: the
 * body runs once for the common element and once for each updated one. So cotangents that only a few elements receive
 * are not propagated through all elements.
 *
 * Nor are they in a loop that adds to what it carries: where all cotangents but one are structural zeros, −0.0, and the
 * body only adds what such a zero makes zero, the one iteration is all that is left of the loop. x + −0.0 is x for all
 * bits of x. So the derivative of `ds ! argmin ds` goes back through the one element of `ds`.
 *
 *     g = update (replicate n −0.0) p y
 *     s = fold n, t do i, a:                         →     s = the body for a = t, i = p and g ! i = y
 *       … scale x (read g, i), added to a … */
#include "flow/copy.h"
#include "flow/opt/passes.h"

enum { MOST = 32 /* bound of the number of updated elements times the steps of the body */ };

typedef struct SparseUpdate {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowFacts facts;
    CtFlowEffects effects;
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

/* ---- one iteration ---- */

/* What is known of the variables of a loop's body where its cotangent is a structural zero. */
typedef struct Quiet {
    const SparseUpdate *p;
    CtMap zeros; /* variable number -> itself: those that are −0.0 */
    CtMap same;  /* variable number -> the variable whose value it has */
} Quiet;

static bool is_zero(const Quiet *q, const CtFlowArg *arg) {
    static const double zero = -0.0;
    if (arg->var != NULL) return ct_map_has(&q->zeros, arg->var->id);
    return arg->type->kind == FLOW_F64 && memcmp(&arg->lit.real, &zero, sizeof zero) == 0;
}

static CtFlowVar *value_of(const Quiet *q, const CtFlowArg *arg) {
    CtFlowVar *other = arg->var != NULL ? ct_map_get(&q->same, arg->var->id) : NULL;
    return other != NULL ? other : arg->var;
}

static void set_zero(Quiet *q, CtFlowVar *var) {
    if (var != NULL) ct_map_set(q->p->arena, &q->zeros, var->id, var);
}

static void set_same(Quiet *q, const CtFlowVar *var, CtFlowVar *other) {
    if (var != NULL && other != NULL) ct_map_set(q->p->arena, &q->same, var->id, other);
}

/* A result that is what a block gives: zero, or the value of another variable. */
static void take(Quiet *q, CtFlowVar *result, const CtFlowArg *value) {
    if (is_zero(q, value))
        set_zero(q, result);
    else
        set_same(q, result, value_of(q, value));
}

static bool look_block(Quiet *q, const CtFlowBlock *block);

static void look_prim(Quiet *q, const CtFlowStep *step) {
    const CtFlowArg *args = step->args.items;
    CtFlowVar *result = step->results.items[0];
    if (step->as.prim == PRIM_SCALE && is_zero(q, &args[1])) set_zero(q, result);
    if (step->as.prim != PRIM_ADD) return;
    for (uint32_t i = 0; i < 2; i++)
        if (is_zero(q, &args[i])) take(q, result, &args[1 - i]);
}

/* An update of an element by itself leaves the array as it is. */
static void look_update(Quiet *q, const CtFlowStep *step) {
    const CtFlowArg *array = &step->args.items[0], *value = &step->args.items[step->args.count - 1];
    const CtFlowVar *element = value_of(q, value);
    const CtFlowStep *read = element != NULL ? maker(q->p, &(CtFlowArg){.var = (CtFlowVar *)element}) : NULL; // NOLINT
    if (read == NULL || read->kind != FLOW_READ || read->args.count + 1 != step->args.count) return;
    if (value_of(q, &read->args.items[0]) != value_of(q, array)) return;
    for (uint32_t i = 1; i < read->args.count; i++)
        if (!ct_flow_same(&read->args.items[i], &step->args.items[i])) return;
    set_same(q, step->results.items[0], value_of(q, array));
}

/* The branch that a test for a structural zero takes, if it is of one; else −1. */
static int branch_for_zero(const Quiet *q, const CtFlowStep *choice) {
    const CtFlowStep *test = maker(q->p, &choice->args.items[0]);
    if (!ct_flow_is_prim(test, PRIM_IS_NEGATIVE_ZERO) || !is_zero(q, &test->args.items[0])) return -1;
    return (int)ct_flow_branch_for(choice, 1);
}

static bool look_switch(Quiet *q, const CtFlowStep *step) {
    int taken = branch_for_zero(q, step);
    if (taken < 0) return false;
    const CtFlowBlock *block = step->as.cases.branches[taken].block;
    if (block->exit != EXIT_YIELD || !look_block(q, block)) return false;
    for (uint32_t i = 0; i < step->results.count; i++) take(q, step->results.items[i], &block->values.items[i]);
    return true;
}

/* Whether what a loop carries has the same value behind an iteration as in front of it. */
static bool carries_the_same(Quiet *q, const CtFlowStep *loop) {
    const CtFlowBlock *block = loop->as.loop.block;
    if (loop->as.loop.initial || loop->results.count != loop->as.loop.carried || block->exit != EXIT_YIELD)
        return false;
    if (!look_block(q, block)) return false;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++)
        if (value_of(q, &block->values.items[i]) != value_of(q, &(CtFlowArg){.var = block->params.items[1 + i]}))
            return false;
    return true;
}

static bool look_loop(Quiet *q, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    for (uint32_t i = 0; i < step->as.loop.carried; i++)
        set_same(q, block->params.items[1 + i], value_of(q, &step->args.items[1 + i]));
    if (!carries_the_same(q, step)) return false;
    for (uint32_t i = 0; i < step->as.loop.carried; i++)
        set_same(q, step->results.items[i], value_of(q, &step->args.items[1 + i]));
    return true;
}

/* Whether it is known what all steps of a block do. */
static bool look_block(Quiet *q, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        switch ((int)step->kind) {
        case FLOW_PRIM: look_prim(q, step); break;
        case FLOW_UPDATE: look_update(q, step); break;
        case FLOW_READ:
        case FLOW_DIM: break;
        case FLOW_SWITCH:
            if (!look_switch(q, step)) return false;
            break;
        case FLOW_LOOP:
            if (!look_loop(q, step)) return false;
            break;
        default: return false;
        }
    }
    return true;
}

/* The update of one element of an array of structural zeros, as long as a loop, that the loop reads at its index. */
static const CtFlowStep *one_put(const SparseUpdate *p, const CtFlowStep *loop, const CtFlowStep *read) {
    const CtFlowVar *index = loop->as.loop.block->params.items[0];
    if (read->kind != FLOW_READ || read->args.count != 2 || read->args.items[1].var != index) return NULL;
    const CtFlowStep *put = maker(p, &read->args.items[0]);
    if (put == NULL || put->kind != FLOW_UPDATE || put->args.count != 3) return NULL;
    const CtFlowStep *zeros = maker(p, &put->args.items[0]);
    Quiet none = {.p = p};
    if (!ct_flow_is_bulk(zeros, ARRAY_REPLICATE) || !is_zero(&none, &zeros->args.items[1])) return NULL;
    return ct_flow_same_length(&p->facts, ct_flow_length_of(&p->facts, loop->args.items[0]),
                               ct_flow_length_of(&p->facts, zeros->args.items[0]))
               ? put
               : NULL;
}

/* The update whose element is the only one for which a loop does anything; NULL: it is another loop. */
static const CtFlowStep *only_put(const SparseUpdate *p, const CtFlowStep *loop) {
    if (loop->kind != FLOW_LOOP || loop->as.loop.carried == 0 || !ct_flow_is_total(&p->effects, loop)) return NULL;
    const CtFlowBlock *block = loop->as.loop.block;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *put = one_put(p, loop, block->steps.items[i]);
        if (put == NULL) continue;
        Quiet q = {.p = p};
        set_zero(&q, block->steps.items[i]->results.items[0]);
        if (carries_the_same(&q, loop)) return put;
    }
    return NULL;
}

/* Replaces a loop by its iteration for one element; false if it stays. */
static bool run_once(SparseUpdate *p, Steps *out, const CtFlowStep *loop) {
    const CtFlowStep *put = only_put(p, loop);
    if (put == NULL) return false;
    CT_FIRED("sparse_updates.once");
    CtFlowBlock *block = loop->as.loop.block;
    CtFlowCopy copy = {.flow = p->flow, .into = p->function, .place = CT_NO_RANGE};
    CtFlowBlock body = {.exit = EXIT_YIELD, .range = block->range, .steps = block->steps, .values = block->values};
    ct_flow_copy_stands(&copy, block->params.items[0], put->args.items[1]);
    for (uint32_t i = 0; i < loop->as.loop.carried; i++)
        ct_flow_copy_stands(&copy, block->params.items[1 + i], loop->args.items[1 + i]);
    const CtFlowBlock *fresh = ct_flow_copy_block(&copy, &body);
    for (uint32_t i = 0; i < fresh->steps.count; i++) {
        ct_push(p->arena, out, fresh->steps.items[i]);
        ct_flow_facts_step(&p->facts, fresh->steps.items[i], p->depth);
    }
    for (uint32_t i = 0; i < loop->results.count; i++)
        if (loop->results.items[i] != NULL) ct_flow_stands(&p->now, loop->results.items[i], fresh->values.items[i]);
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
        if (!put_apart(p, &out, step) && !run_once(p, &out, step)) ct_push(p->arena, &out, step);
    }
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
    ct_flow_rename(&p->now, &block->values);
    p->facts.equals.count = equals;
}

void ct_flow_sparse_updates(CtFlow *flow) {
    SparseUpdate p = {.flow = flow, .arena = flow->arena, .effects = ct_flow_effects(flow)};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        p.function = flow->functions.items[i];
        ct_flow_values_clear(&p.now, flow->arena);
        ct_flow_facts_begin(&p.facts, flow, p.function);
        p.depth = 0;
        visit(&p, p.function->body);
    }
}
