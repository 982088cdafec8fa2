/* Which arrays have been taken. A step that takes an array may change it in place, unless somebody uses it afterwards:
 * then it changes a copy. So a read of a part of an array must not become a read of the array where a step between has
 * taken it:
 *
 *     r = read a, i;  b = update a, …;  x = read r, 0      not: x = read a, i, 0
 *
 * A walk through a function says what has run, and asks. Functions only read many of the arrays that they are given:
 * such calls leave them as they are. */
#include "flow/analysis/analysis.h"

enum { MOST_PARAMS = 64, DEEPEST = 4 /* bound of the search through nodes */ };

/* ---- what calls change ---- */

static bool changes(const uint64_t *changed, const CtFlowFunction *callee, uint32_t index) {
    return index >= MOST_PARAMS || (changed[callee->id] >> index & 1) != 0;
}

/* Whether a loop gives back a carried value as it was. */
static bool keeps(const CtFlowStep *loop, uint32_t index) {
    const CtFlowBlock *block = loop->as.loop.block;
    if (block->exit != EXIT_YIELD || index > loop->as.loop.carried) return false;
    const CtFlowVar *var = block->values.items[index - 1].var;
    return var != NULL && (var == block->params.items[index] || var == loop->args.items[index].var);
}

bool ct_flow_may_change(const uint64_t *changed, const CtFlowStep *step, uint32_t index) {
    if (step->kind == FLOW_CALL && changed != NULL) return changes(changed, step->as.function, index);
    return ct_flow_takes(step, index);
}

typedef struct Changed {
    const CtFlowFunction *function;
    uint64_t *changed;
    bool more;
} Changed;

static void note(Changed *c, const CtFlowArg *arg) {
    uint64_t *changed = &c->changed[c->function->id];
    if (arg->var == NULL || !ct_flow_is_object(arg->type)) return;
    for (uint32_t i = 0; i < c->function->params.count && i < MOST_PARAMS; i++) {
        if (c->function->params.items[i] != arg->var || *changed >> i & 1) continue;
        *changed |= (uint64_t)1 << i;
        c->more = true;
    }
}

/* What blocks hand on counts as changed, except by calls of functions that only read it. */
static void note_block(Changed *c, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < step->args.count; j++)
            if (step->kind == FLOW_OPEN || ct_flow_may_change(c->changed, step, j)) note(c, &step->args.items[j]);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) note_block(c, ct_flow_inner(step, j));
    }
    for (uint32_t i = 0; i < block->values.count; i++)
        if (block->exit != EXIT_TAIL || changes(c->changed, block->tail, i)) note(c, &block->values.items[i]);
}

const uint64_t *ct_flow_changed_parameters(const CtFlow *flow) {
    Changed c = {.changed = CT_NEW_ARRAY(flow->arena, uint64_t, flow->functions.count + 1), .more = true};
    while (c.more) {
        c.more = false;
        for (uint32_t i = flow->functions.count; i-- > 0;) {
            c.function = flow->functions.items[i];
            note_block(&c, c.function->body);
        }
    }
    return c.changed;
}

/* ---- on the way ---- */

void ct_flow_taken_begin(CtFlowTaken *taken, const CtFlowFacts *facts, const uint64_t *changed) {
    taken->arena = facts->arena;
    taken->facts = facts;
    taken->changed = changed;
    taken->now = 1;
    taken->log.count = 0;
    if (taken->count > 0) memset(taken->items, 0, taken->count * sizeof *taken->items);
}

static CtFlowTaking *entry(CtFlowTaken *taken, const CtFlowVar *var) {
    if (var->id >= taken->count) {
        uint32_t count = 2 * var->id + 64;
        CtFlowTaking *items = CT_NEW_ARRAY(taken->arena, CtFlowTaking, count);
        if (taken->count > 0) memcpy(items, taken->items, taken->count * sizeof *items);
        taken->items = items;
        taken->count = count;
    }
    return &taken->items[var->id];
}

/* A node that takes an array changes nothing: whoever is given the node may. */
static void take(CtFlowTaken *taken, const CtFlowArg *arg, uint32_t depth) {
    if (arg->var == NULL || !ct_flow_is_object(arg->type) || depth == DEEPEST) return;
    CtFlowTaking *at = entry(taken, arg->var);
    ct_push(taken->arena, &taken->log, (CtFlowTaking){.bound = arg->var->id, .taken = at->taken});
    at->taken = taken->now;
    const CtFlowStep *make = ct_flow_maker(taken->facts, arg, FLOW_MAKE);
    for (uint32_t i = 0; make != NULL && i < make->args.count; i++) take(taken, &make->args.items[i], depth + 1);
}

/* Whether a step takes an argument for good: it was not retained just in front of the step. */
static bool is_given(CtFlowTaken *taken, const CtFlowStep *step, uint32_t index) {
    const CtFlowVar *var = step->args.items[index].var;
    if (!ct_flow_may_change(taken->changed, step, index) || (step->kind == FLOW_LOOP && keeps(step, index)))
        return false;
    return var != NULL && entry(taken, var)->held + 1 != taken->now;
}

void ct_flow_taken_step(CtFlowTaken *taken, const CtFlowStep *step) {
    if (step->kind == FLOW_RETAIN) {
        entry(taken, step->args.items[0].var)->held = taken->now;
        return;
    }
    taken->now++;
    for (uint32_t i = 0; i < step->args.count && step->kind != FLOW_MAKE; i++)
        if (is_given(taken, step, i)) take(taken, &step->args.items[i], 0);
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] != NULL) entry(taken, step->results.items[i])->bound = taken->now;
}

void ct_flow_taken_value(CtFlowTaken *taken, const CtFlowStep *choice, uint32_t result) {
    taken->now++;
    for (uint32_t i = 0; i < choice->as.cases.count; i++) {
        const CtFlowBlock *block = choice->as.cases.branches[i].block;
        if (block->exit != EXIT_YIELD || choice->results.items[result]->type->kind != FLOW_ARRAY) continue;
        take(taken, &block->values.items[result], 0);
    }
}

static void swap(CtFlowTaken *taken, CtFlowTaking *noted) {
    uint32_t before = noted->taken;
    noted->taken = taken->items[noted->bound].taken;
    taken->items[noted->bound].taken = before;
}

void ct_flow_taken_leave(CtFlowTaken *taken, uint32_t from, const CtFlowBlock *branch) {
    for (uint32_t i = taken->log.count; i-- > from;) swap(taken, &taken->log.items[i]);
    if (branch->exit != EXIT_YIELD) taken->log.count = from;
}

void ct_flow_taken_join(CtFlowTaken *taken, uint32_t from) {
    for (uint32_t i = from; i < taken->log.count; i++) swap(taken, &taken->log.items[i]);
}

void ct_flow_taken_walk(CtFlowTaken *taken, const CtFlowBlock *body,
                        void (*visit)(void *data, CtFlowStep *step, const CtFlowFunction *callee,
                                      const CtFlowArgs *args),
                        void *data) {
    for (uint32_t i = 0; i < body->steps.count; i++) {
        CtFlowStep *step = body->steps.items[i];
        bool chooses = step->kind == FLOW_SWITCH;
        if (!chooses) ct_flow_taken_step(taken, step);
        visit(data, step, step->kind == FLOW_CALL ? step->as.function : NULL, &step->args);
        uint32_t noted = taken->log.count;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) {
            uint32_t from = taken->log.count;
            ct_flow_taken_walk(taken, ct_flow_inner(step, j), visit, data);
            if (chooses) ct_flow_taken_leave(taken, from, ct_flow_inner(step, j));
        }
        if (chooses) ct_flow_taken_join(taken, noted);
        for (uint32_t j = 0; chooses && j < step->results.count; j++) ct_flow_taken_value(taken, step, j);
    }
    const CtFlowFunction *tail = body->exit == EXIT_TAIL ? body->tail : NULL;
    const CtFlowStep call = {.kind = FLOW_CALL, .args = body->values, .as.function = body->tail};
    if (tail != NULL) ct_flow_taken_step(taken, &call);
    visit(data, NULL, tail, &body->values);
}

bool ct_flow_is_left(const CtFlowTaken *taken, const CtFlowStep *part, const CtFlowArg *array) {
    const CtFlowVar *result = part->results.items[0];
    uint32_t bound = result->id < taken->count ? taken->items[result->id].bound : 0;
    return array->var == NULL || array->var->id >= taken->count || taken->items[array->var->id].taken <= bound;
}
