/* Switches on the same value, one behind the other, become one. So the forward sweep of a function that begins with a
 * test stands in one block with its reverse sweep, and their loops are fused, or the first stores what both compute:
 *
 *     x = switch t { 0: …; yield a  1: … }
 *     …                                          →     …
 *     y = switch t { 0: …; yield b  1: … }             x, y = switch t { 0: …; …; yield a, b  1: … }
 *
 * Steps between the two that do not need x are put in front, if they cost little; others are put behind, unless y needs
 * them. No step that can fail is moved, nor is a read in front of a check that may be why its element is there.
 * Hoisting comes before: the first switch may be the same in all iterations of a loop, and the second one not. */
#include "flow/opt/passes.h"

typedef struct Merge {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowFacts facts;
    CtFlowEffects effects;
    CtFlowMarks marks;
} Merge;

typedef CT_VEC(CtFlowStep *) Steps;

/* ---- which switches ---- */

static bool is_truth(const Merge *m, const CtFlowArg *arg) {
    const CtFlowStep *made = ct_flow_maker(&m->facts, arg, FLOW_PRIM);
    return made != NULL && ct_prim_info(made->as.prim)->result == 'B';
}

/* Which of two values a truth value has in a branch of a switch of two branches, one of which may be for all other
 * values; negative if the branches do not tell. */
static int truth_of(const CtFlowStep *step, uint32_t index) {
    uint32_t tag = step->as.cases.branches[index].tag, other = step->as.cases.branches[1 - index].tag;
    return tag <= 1 ? (int)tag : other <= 1 ? 1 - (int)other : -1;
}

/* The branch of the second switch for what the first one's branch stands for; NULL: it has none of its own for that.
 * The branch for all other values is the same in both only if they have the same others, which `are_alike` knows. */
static CtFlowBranch *branch_like(const Merge *m, const CtFlowStep *second, const CtFlowStep *first, uint32_t index) {
    if (first->as.cases.count == 2 && second->as.cases.count == 2 && is_truth(m, &first->args.items[0])) {
        int value = truth_of(first, index);
        return value >= 0 ? &second->as.cases.branches[ct_flow_branch_for(second, value)] : NULL;
    }
    for (uint32_t i = 0; i < second->as.cases.count; i++)
        if (second->as.cases.branches[i].tag == first->as.cases.branches[index].tag)
            return &second->as.cases.branches[i];
    return NULL;
}

static bool may_end(const CtFlowBlock *block) { return block->exit == EXIT_YIELD || block->exit == EXIT_NEVER; }

/* A switch in whose branches something is done; one that only chooses between numbers gains nothing, and is known as
 * such by other passes. */
static bool is_choice(const CtFlowStep *step) {
    bool works = false;
    if (step->kind != FLOW_SWITCH || step->args.items[0].var == NULL) return false;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (!may_end(block) || ct_flow_leaves(block)) return false;
        works |= block->steps.count > 0;
    }
    return works;
}

static bool are_alike(const Merge *m, const CtFlowStep *first, const CtFlowStep *second) {
    if (!is_choice(second) || !ct_flow_same(&first->args.items[0], &second->args.items[0])) return false;
    if (first->as.cases.count != second->as.cases.count) return false;
    for (uint32_t i = 0; i < first->as.cases.count; i++)
        if (branch_like(m, second, first, i) == NULL) return false;
    return true;
}

/* ---- what is between them ---- */

/* Whether a step may stand in front of the first switch: it costs little, and what it reads is there without any check
 * in that. */
static bool may_go_front(Merge *m, const CtFlowStep *step) {
    if (step->kind == FLOW_READ)
        return !ct_flow_is_object(step->results.items[0]->type) && ct_flow_stays_inside(&m->facts, step);
    return step->kind == FLOW_PRIM || step->kind == FLOW_DIM || step->kind == FLOW_ITEMS || step->kind == FLOW_LITERALS;
}

/* Parts the steps between two switches into those that go in front and those that go behind; false if the switches
 * cannot meet. */
static bool part(Merge *m, const CtFlowBlock *block, uint32_t first, uint32_t second, Steps *front, Steps *behind) {
    CtFlowStep *const *steps = block->steps.items;
    bool may = true;
    ct_flow_mark_results(&m->marks, steps[first], true);
    for (uint32_t i = first + 1; i < second && may; i++) {
        bool needs = ct_flow_uses_marked(&m->marks, steps[i], NULL);
        may = ct_flow_is_total(&m->effects, steps[i]) && (needs || may_go_front(m, steps[i]));
        if (needs) ct_flow_mark_results(&m->marks, steps[i], true);
        ct_push(m->arena, needs ? behind : front, steps[i]);
    }
    ct_flow_mark_results(&m->marks, steps[first], false);
    may = may && !ct_flow_uses_marked(&m->marks, steps[second], NULL);
    for (uint32_t i = first + 1; i < second; i++) ct_flow_mark_results(&m->marks, steps[i], false);
    return may;
}

/* ---- one switch ---- */

static void append_branch(Merge *m, const CtFlowStep *first, CtFlowBlock *to, CtFlowBlock *from) {
    if (to->exit == EXIT_NEVER) return;
    for (uint32_t i = 0; i < first->results.count; i++)
        if (first->results.items[i] != NULL) ct_flow_substitute(from, first->results.items[i], to->values.items[i]);
    for (uint32_t i = 0; i < from->steps.count; i++) ct_push(m->arena, &to->steps, from->steps.items[i]);
    to->exit = from->exit;
    if (from->exit == EXIT_NEVER) to->values = (CtFlowArgs){0};
    for (uint32_t i = 0; i < from->values.count; i++) ct_push(m->arena, &to->values, from->values.items[i]);
}

static void merge(Merge *m, CtFlowStep *first, CtFlowStep *second) {
    for (uint32_t i = 0; i < first->as.cases.count; i++)
        append_branch(m, first, first->as.cases.branches[i].block, branch_like(m, second, first, i)->block);
    for (uint32_t i = 0; i < second->results.count; i++) ct_push(m->arena, &first->results, second->results.items[i]);
}

/* Merges the switch at `at` with the next one on the same value. */
static bool merge_next(Merge *m, CtFlowBlock *block, uint32_t at) {
    CtFlowStep *first = block->steps.items[at];
    uint32_t second = at + 1;
    Steps front = {0}, behind = {0}, all = {0};
    while (second < block->steps.count && !are_alike(m, first, block->steps.items[second])) second++;
    if (second == block->steps.count || !part(m, block, at, second, &front, &behind)) return false;
    merge(m, first, block->steps.items[second]);
    for (uint32_t i = 0; i < at; i++) ct_push(m->arena, &all, block->steps.items[i]);
    for (uint32_t i = 0; i < front.count; i++) ct_push(m->arena, &all, front.items[i]);
    ct_push(m->arena, &all, first);
    for (uint32_t i = 0; i < behind.count; i++) ct_push(m->arena, &all, behind.items[i]);
    for (uint32_t i = second + 1; i < block->steps.count; i++) ct_push(m->arena, &all, block->steps.items[i]);
    block->steps.items = all.items;
    block->steps.count = all.count;
    block->steps.capacity = all.capacity;
    return CT_FIRED("merged_switches.merge");
}

static void visit(Merge *m, CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        /* What stood between them is in front now: the merged switch comes later. */
        while (is_choice(block->steps.items[i]) && merge_next(m, block, i)) continue;
    }
    for (uint32_t i = 0; i < block->steps.count; i++)
        for (uint32_t j = 0; j < ct_flow_inner_count(block->steps.items[i]); j++)
            visit(m, ct_flow_inner(block->steps.items[i], j));
}

void ct_flow_merged_switches(CtFlow *flow) {
    Merge m = {.flow = flow, .arena = flow->arena, .marks.arena = flow->arena, .effects = ct_flow_effects(flow)};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        m.function = flow->functions.items[i];
        ct_flow_facts_begin(&m.facts, flow, m.function);
        visit(&m, m.function->body);
    }
}
