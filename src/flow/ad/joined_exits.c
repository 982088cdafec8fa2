/* Reverse mode writes the way from each exit of a function back to its start by itself, which is fastest for the few
 * exits that functions have. Where many exits have many steps in front of them, as in
 *
 *     x1 ← …; …; x100 ← …; switch n { 1 → return e1; …; 40 → return e40 }
 *
 * the code would be as long as both multiplied. There the branches yield what they return, or pass to the next
 * iteration, and one exit stands behind the switch: the steps in front of it are reversed once. Where some return and
 * others pass on, they yield which, and there is one exit of each kind. */
#include "flow/ad/reverse.h"
#include "flow/analysis/analysis.h"

enum { MOST_STEPS = 1000 }; /* that are reversed again, since several exits have them in front */

typedef struct Kind {  /* of exits: those that return, or those that go to the same function */
    CtFlowBlock first; /* as it was found */
    bool *differ;      /* of its values: not the same at all exits */
    uint64_t in_front; /* number of steps, as often as they are in front of an exit */
} Kind;

typedef struct Ends { /* the exits of a block and of the branches that it ends in */
    CT_VEC(Kind) kinds;
    /* Of what the branches yield: the kind, if there are several, and values that differ. */
    CT_VEC(const CtFlowType *) types;
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

/* The number of a block's kind of exit. */
static uint32_t kind_of(const Ends *e, const CtFlowBlock *block) {
    uint32_t i = 0;
    while (i < e->kinds.count &&
           (e->kinds.items[i].first.exit != block->exit || e->kinds.items[i].first.tail != block->tail))
        i++;
    return i;
}

static void add_end(Reverse *r, Ends *e, CtFlowBlock *block, uint64_t path) {
    uint32_t number = kind_of(e, block);
    if (number == e->kinds.count)
        ct_push(r->arena, &e->kinds, ((Kind){*block, CT_NEW_ARRAY(r->arena, bool, block->values.count + 1), 0}));
    Kind *kind = &e->kinds.items[number];
    kind->in_front += path;
    e->in_front += path;
    for (uint32_t i = 0; i < block->values.count; i++)
        kind->differ[i] |= !ct_flow_same(&block->values.items[i], &kind->first.values.items[i]);
}

/* `path`: number of steps on the way to the block. */
static void find_ends(Reverse *r, Ends *e, CtFlowBlock *block, uint64_t path) {
    const CtFlowStep *last = ct_flow_last_switch(block);
    uint32_t own = own_size(block);
    e->steps += own;
    path += own;
    for (uint32_t i = 0; last != NULL && i < last->as.cases.count; i++)
        find_ends(r, e, last->as.cases.branches[i].block, path);
    if (block->exit == EXIT_RETURN || block->exit == EXIT_TAIL) add_end(r, e, block, path);
}

static bool is_long(const Ends *e, uint64_t path) { return e->in_front > path + e->steps + MOST_STEPS; }

/* A value that all exits return is one of the results, too, if a branch of the switch binds it, as when the other
 * branches fail: it is not in scope behind the switch. */
static bool is_inside(const CtFlowStep *last, const CtFlowVar *var) {
    for (uint32_t i = 0; i < last->as.cases.count; i++)
        if (ct_flow_binds(last->as.cases.branches[i].block, var)) return true;
    return false;
}

/* Finds what the branches have to yield; false if there is nothing, or no value that stands for a node at exits of
 * another kind. */
static bool find_types(Reverse *r, Ends *e, const CtFlowStep *last) {
    bool several = e->kinds.count > 1, found = true;
    if (several) ct_push(r->arena, &e->types, ct_flow_scalar(r->flow, FLOW_I64));
    for (uint32_t i = 0; i < e->kinds.count; i++) {
        Kind *kind = &e->kinds.items[i];
        for (uint32_t j = 0; j < kind->first.values.count; j++) {
            const CtFlowArg *value = &kind->first.values.items[j];
            if (!kind->differ[j] && value->var != NULL) kind->differ[j] = is_inside(last, value->var);
            if (!kind->differ[j]) continue;
            ct_push(r->arena, &e->types, value->type);
            found &= !several || value->type->kind != FLOW_NODE;
        }
    }
    return found && e->types.count > 0;
}

/* A number or array that is never looked at. */
static CtFlowArg nothing(Reverse *r, const CtFlowType *type) {
    return type->kind == FLOW_I64 ? ct_flow_int(&r->f, 0) : ct_flow_zero(&r->f, type);
}

/* Makes an exit yield: the values of its kind, and something for those of the others. */
static void yield_end(Reverse *r, const Ends *e, CtFlowBlock *block) {
    uint32_t number = kind_of(e, block);
    CtFlowArgs all = block->values;
    memset(&block->values, 0, sizeof block->values);
    r->f.block = block;
    block->exit = EXIT_OPEN;
    block->tail = NULL;
    if (e->kinds.count > 1) ct_push(r->arena, &block->values, ct_flow_int(&r->f, number));
    for (uint32_t i = 0; i < e->kinds.count; i++) {
        const Kind *kind = &e->kinds.items[i];
        for (uint32_t j = 0; j < kind->first.values.count; j++)
            if (kind->differ[j])
                ct_push(r->arena, &block->values,
                        i == number ? all.items[j] : nothing(r, kind->first.values.items[j].type));
    }
    block->exit = EXIT_YIELD;
}

/* Makes the branches of a block yield what differs; these are the block's values then, as far as control leaves it. */
static void yield_ends(Reverse *r, const Ends *e, CtFlowBlock *block) {
    CtFlowStep *last = (CtFlowStep *)ct_flow_last_switch(block);
    if (block->exit != EXIT_NEVER) yield_end(r, e, block);
    for (uint32_t i = 0; last != NULL && i < last->as.cases.count; i++) {
        CtFlowBlock *branch = last->as.cases.branches[i].block;
        yield_ends(r, e, branch);
        if (branch->exit == EXIT_YIELD) block->exit = EXIT_YIELD;
    }
    CtFlowTypes types = {.items = e->types.items, .count = e->types.count};
    if (last != NULL && block->exit == EXIT_YIELD) block->values = ct_flow_params(&r->f, &last->results, "end", &types);
}

/* The exit of a kind. `next`: the place of its first value among what the branches yield. */
static void end_with(Reverse *r, const Kind *kind, const CtFlowArgs *yielded, uint32_t *next, CtFlowBlock *to) {
    CtFlowArgs values = {0};
    for (uint32_t i = 0; i < kind->first.values.count; i++)
        ct_push(r->arena, &values, kind->differ[i] ? yielded->items[(*next)++] : kind->first.values.items[i]);
    to->exit = kind->first.exit;
    to->tail = kind->first.tail;
    to->range = kind->first.range;
    to->values = values;
}

/* One exit of each kind for all of a block: what differs is what the switch that it ends in gives. */
static void join_ends(Reverse *r, const Ends *e, CtFlowBlock *block) {
    uint32_t count = e->kinds.count, next = count > 1;
    CT_FIRED("joined_exits.join");
    yield_ends(r, e, block);
    CtFlowArgs yielded = block->values;
    if (count == 1) {
        end_with(r, e->kinds.items, &yielded, &next, block);
        return;
    }
    CT_FIRED("joined_exits.kinds");
    r->f.block = block;
    block->exit = EXIT_OPEN;
    CtFlowStep *choice = ct_flow_step(&r->f, FLOW_SWITCH, block->range);
    ct_flow_arg(&r->f, choice, yielded.items[0]);
    choice->as.cases.branches = CT_NEW_ARRAY(r->arena, CtFlowBranch, count);
    choice->as.cases.count = count;
    for (uint32_t i = 0; i < count; i++) {
        CtFlowBranch *branch = &choice->as.cases.branches[i];
        *branch = (CtFlowBranch){i + 1 < count ? i : FLOW_OTHERS, ct_flow_block(&r->f)};
        end_with(r, &e->kinds.items[i], &yielded, &next, branch->block);
    }
    memset(&block->values, 0, sizeof block->values);
    block->exit = EXIT_NEVER;
}

/* Whether exits of several kinds are better joined in a branch of the switch, where they are fewer kinds: not if there
 * are many of several kinds. */
static bool descends(Reverse *r, const Ends *e, const CtFlowStep *last, uint64_t path) {
    uint32_t many = 0;
    for (uint32_t i = 0; i < e->kinds.count; i++) many += e->kinds.items[i].in_front > path + MOST_STEPS;
    for (uint32_t i = 0; many < 2 && i < last->as.cases.count; i++) {
        Ends inside = {0};
        find_ends(r, &inside, last->as.cases.branches[i].block, path);
        if (is_long(&inside, path)) return true;
    }
    return false;
}

static void join(Reverse *r, CtFlowBlock *block, uint64_t path) {
    const CtFlowStep *last = ct_flow_last_switch(block);
    Ends e = {0};
    if (last == NULL) return;
    find_ends(r, &e, block, path);
    if (!is_long(&e, path)) return;
    path += own_size(block);
    if ((e.kinds.count == 1 || !descends(r, &e, last, path)) && find_types(r, &e, last)) {
        join_ends(r, &e, block);
        return;
    }
    for (uint32_t i = 0; i < last->as.cases.count; i++) join(r, last->as.cases.branches[i].block, path);
}

void ct_flow_reverse_join_exits(Reverse *r, CtFlowFunction *forward) { join(r, forward->body, 0); }
