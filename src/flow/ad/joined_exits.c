/* Reverse mode writes the way from each exit of a function back to its start by itself, which is fastest for the few
 * exits that functions have. Where many exits have many steps in front of them, as in
 *
 *     x1 ← …; …; x100 ← …; switch n { 1 → return e1; …; 40 → return e40 }
 *
 * the code would be as long as both multiplied. There the branches yield what they return, or pass to the next
 * iteration, and one exit stands behind the switch: the steps in front of it are reversed once. */
#include "flow/ad/reverse.h"
#include "flow/analysis/analysis.h"

enum { MOST_STEPS = 1000 }; /* that are reversed again, since several exits have them in front */

typedef struct Ends { /* the exits of a block and of the branches that it ends in */
    CtFlowBlock *first;
    CtFlowArgs values; /* of the first */
    uint32_t count;
    bool mixed;   /* not all return, or go to the same function */
    bool *differ; /* of the values: not the same at all exits */
    uint32_t differing;
    uint64_t steps, in_front; /* number of steps; the same, as often as they are in front of an exit */
} Ends;

/* Number of steps of a block up to the switch that it ends in, without what is in its branches: this walks a nest of
 * switches only once. */
static uint32_t own_size(const CtFlowBlock *block) {
    CtFlowBlock own = *block;
    bool ends_in_switch = ct_flow_last_switch(block) != NULL;
    own.steps.count -= ends_in_switch;
    return ct_flow_size(&own) + ends_in_switch;
}

static void add_end(Reverse *r, Ends *e, CtFlowBlock *block) {
    e->count++;
    if (e->first == NULL) {
        e->first = block;
        e->values = block->values;
        e->differ = CT_NEW_ARRAY(r->arena, bool, block->values.count + 1);
        return;
    }
    e->mixed |= block->exit != e->first->exit || block->tail != e->first->tail;
    for (uint32_t i = 0; i < block->values.count && !e->mixed; i++) {
        if (e->differ[i] || ct_flow_same(&block->values.items[i], &e->values.items[i])) continue;
        e->differ[i] = true;
        e->differing++;
    }
}

/* `path`: number of steps on the way to the block. */
static void find_ends(Reverse *r, Ends *e, CtFlowBlock *block, uint64_t path) {
    const CtFlowStep *last = ct_flow_last_switch(block);
    uint32_t own = own_size(block);
    e->steps += own;
    path += own;
    for (uint32_t i = 0; last != NULL && i < last->as.cases.count; i++)
        find_ends(r, e, last->as.cases.branches[i].block, path);
    if (block->exit != EXIT_RETURN && block->exit != EXIT_TAIL) return;
    add_end(r, e, block);
    e->in_front += path;
}

/* A value that all exits return is one of the results, too, if a branch of the switch binds it, as when the other
 * branches fail: it is not in scope behind the switch. */
static void find_bound(Ends *e, const CtFlowStep *last) {
    for (uint32_t i = 0; i < e->values.count; i++)
        for (uint32_t j = 0; j < last->as.cases.count && e->values.items[i].var != NULL && !e->differ[i]; j++) {
            e->differ[i] = ct_flow_binds(last->as.cases.branches[j].block, e->values.items[i].var);
            e->differing += e->differ[i];
        }
}

/* Makes the branches of a block yield the values that differ; these are the block's values then, as far as control
 * leaves it. */
static void yield_ends(Reverse *r, const Ends *e, CtFlowBlock *block) {
    CtFlowStep *last = (CtFlowStep *)ct_flow_last_switch(block);
    CtFlowArgs all = block->values;
    if (last == NULL && block->exit == EXIT_NEVER) return;
    memset(&block->values, 0, sizeof block->values);
    for (uint32_t i = 0; last != NULL && i < last->as.cases.count; i++) {
        CtFlowBlock *branch = last->as.cases.branches[i].block;
        yield_ends(r, e, branch);
        if (branch->exit == EXIT_YIELD) block->exit = EXIT_YIELD;
    }
    if (last == NULL) block->exit = EXIT_YIELD;
    block->tail = NULL;
    for (uint32_t i = 0; block->exit == EXIT_YIELD && i < e->values.count; i++) {
        if (!e->differ[i]) continue;
        if (last != NULL) ct_push(r->arena, &last->results, ct_flow_var(&r->f, "end", e->values.items[i].type));
        ct_push(r->arena, &block->values,
                last != NULL ? flow_of(last->results.items[last->results.count - 1]) : all.items[i]);
    }
}

/* One exit for all of a block: those values that differ are the results of the switch that it ends in. */
static void join_ends(Reverse *r, Ends *e, CtFlowBlock *block) {
    CT_FIRED("joined_exits.join");
    CtFlowBlock end = *e->first;
    yield_ends(r, e, block);
    CtFlowArgs values = {0};
    for (uint32_t i = 0, next = 0; i < end.values.count; i++)
        ct_push(r->arena, &values, e->differ[i] ? block->values.items[next++] : end.values.items[i]);
    block->exit = end.exit;
    block->tail = end.tail;
    block->range = end.range;
    block->values = values;
}

static void join(Reverse *r, CtFlowBlock *block, uint64_t path) {
    const CtFlowStep *last = ct_flow_last_switch(block);
    Ends e = {0};
    if (last == NULL) return;
    find_ends(r, &e, block, path);
    if (e.in_front <= path + e.steps + MOST_STEPS) return;
    if (!e.mixed) find_bound(&e, last);
    if (!e.mixed && e.differing > 0) {
        join_ends(r, &e, block);
        return;
    }
    path += own_size(block);
    for (uint32_t i = 0; i < last->as.cases.count; i++) join(r, last->as.cases.branches[i].block, path);
}

void ct_flow_reverse_join_exits(Reverse *r, CtFlowFunction *forward) { join(r, forward->body, 0); }
