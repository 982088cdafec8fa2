/* Where emitted code looks whether it has been interrupted, or has used up the stack: on entry to functions that call
 * themselves, and in iterations of tail recursion. Each look costs a read and a branch, as much as a small function may
 * cost besides, so it is made once on each way around, not more often:
 *
 * - A function that is called at one place only, by a function that looks, need not look itself. Its frame is small
 *   next to the part of the stack that is held back for such calls.
 * - A function that is a loop besides looks in each iteration, and not on entry.
 * - An iteration does not look if it calls a function that does.
 * - Where a function that calls itself only gives a result, as at a leaf of a tree, it does not look: it does so in the
 *   branches that call. Such tests and results at the start of a function are put where it is called. */
#include "emit/internal.h"
#include "flow/analysis/analysis.h"

typedef struct Calls {
    uint32_t *count;          /* by functions' numbers; one's own tail calls are not counted */
    CtFlowFunction **callers; /* the last one found */
    bool *itself;             /* it calls itself, not as the end of a function */
    CtFlowFunction *function;
} Calls;

static void count_call(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    (void)range;
    Calls *calls = data;
    if (tail && callee == calls->function) return;
    if (callee == calls->function) calls->itself[callee->id] = true;
    calls->count[callee->id]++;
    calls->callers[callee->id] = calls->function;
}

void ct_emit_find_pauses(Emit *e) {
    uint32_t count = e->flow->functions.count;
    Calls calls = {.count = CT_NEW_ARRAY(e->arena, uint32_t, count + 1),
                   .callers = CT_NEW_ARRAY(e->arena, CtFlowFunction *, count + 1),
                   .itself = e->calls_itself = CT_NEW_ARRAY(e->arena, bool, count + 1)};
    e->looks = CT_NEW_ARRAY(e->arena, bool, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        calls.function = e->flow->functions.items[i];
        ct_flow_each_call(calls.function->body, count_call, &calls);
    }
    for (uint32_t i = 0; i < count; i++) {
        const CtFlowFunction *function = e->flow->functions.items[i], *caller = calls.callers[i];
        bool apart = function->group != 0 || function == e->flow->entry || calls.count[i] != 1;
        /* the caller looks: it is called from several places */
        apart = apart || caller == function || !caller->recurses || caller->group != 0 || calls.count[caller->id] < 2;
        e->looks[i] = function->recurses && (apart || !CT_FIRED("pauses.called_once"));
    }
}

/* ---- where a function looks ---- */

static bool may_look_in_branches(const Emit *e) {
    uint32_t id = e->function->id;
    return e->function->group == 0 && e->looks[id] && e->calls_itself[id];
}

static bool calls(const Emit *e, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_CALL || step->kind == FLOW_CONSTANT) return true;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (calls(e, ct_flow_inner(step, j))) return true;
    }
    return block->exit == EXIT_TAIL && block->tail != e->function;
}

/* The innermost branches, of switches at the end of blocks, that contain all calls. */
static void look_in_branches(Emit *e, const CtFlowBlock *block) {
    const CtFlowStep *last = block->steps.count > 0 ? block->steps.items[block->steps.count - 1] : NULL;
    bool before = block->exit != EXIT_NEVER || last == NULL || last->kind != FLOW_SWITCH;
    for (uint32_t i = 0; i + 1 < block->steps.count && !before; i++) {
        const CtFlowStep *step = block->steps.items[i];
        before = step->kind == FLOW_CALL || step->kind == FLOW_CONSTANT;
        for (uint32_t j = 0; j < ct_flow_inner_count(step) && !before; j++) before = calls(e, ct_flow_inner(step, j));
    }
    if (before) {
        ct_push(e->arena, &e->look_in, block);
        return;
    }
    for (uint32_t i = 0; i < last->as.cases.count; i++)
        if (calls(e, last->as.cases.branches[i].block)) look_in_branches(e, last->as.cases.branches[i].block);
}

enum { MOST_PLACES = 3 };

void ct_emit_find_looks(Emit *e) {
    e->look_in.count = 0;
    if (!may_look_in_branches(e)) return;
    look_in_branches(e, e->function->body);
    if (e->look_in.count > MOST_PLACES || (e->look_in.count == 1 && e->look_in.items[0] == e->function->body))
        e->look_in.count = 0;
    if (e->look_in.count > 0) CT_FIRED("pauses.branch");
}

bool ct_emit_looks_in(const Emit *e, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < e->look_in.count; i++)
        if (e->look_in.items[i] == block) return true;
    return false;
}

/* ---- what is done where a function is called ---- */

enum { MOST_NEAR = 8 };

static uint32_t uses_among(const CtFlowStep *const *steps, uint32_t count, const CtFlowVar *var) {
    uint32_t uses = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < steps[i]->args.count; j++) uses += steps[i]->args.items[j].var == var;
    return uses;
}

/* Whether a block is a test of its function's parameters, and nothing else. */
static bool only_tests(const Emit *e, const CtFlowBlock *block, uint32_t *work) {
    uint32_t count = block->steps.count;
    const CtFlowStep *const *steps = (const CtFlowStep *const *)block->steps.items;
    if (count == 0 || block->exit != EXIT_NEVER || steps[count - 1]->kind != FLOW_SWITCH) return false;
    for (uint32_t i = 0; i + 1 < count; i++) {
        const CtFlowVar *made = steps[i]->kind == FLOW_PRIM ? steps[i]->results.items[0] : NULL;
        if (made == NULL || uses_among(steps, count, made) != e->uses[made->id].count) return false;
    }
    *work += count;
    return true;
}

/* Whether a branch only gives a result. */
static bool is_leaf(const CtFlowBlock *block, uint32_t *work) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool bare = step->kind == FLOW_MAKE && step->args.count == 0;
        if (step->kind != FLOW_PRIM && step->kind != FLOW_RELEASE && !bare) return false;
    }
    *work += block->steps.count + 1;
    return block->exit == EXIT_RETURN;
}

/* The branch of a recursive function that is left when the tests at its start, and the results that these decide, are
 * done where it is called: half of all calls of a recursion over trees end there. NULL: it is called as it is. */
const CtFlowBlock *ct_emit_far_branch(const Emit *e) {
    const CtFlowBlock *block = e->function->body, *far = NULL;
    uint32_t work = 0;
    if (!may_look_in_branches(e)) return NULL;
    while (only_tests(e, block, &work)) {
        const CtFlowStep *last = block->steps.items[block->steps.count - 1];
        const CtFlowBlock *next = NULL;
        for (uint32_t i = 0; i < last->as.cases.count; i++) {
            const CtFlowBlock *branch = last->as.cases.branches[i].block;
            if (is_leaf(branch, &work)) continue;
            if (next != NULL) return far;
            next = branch;
        }
        if (next == NULL || work > MOST_NEAR) return far;
        block = far = next;
    }
    return far;
}

static bool contains(const CtFlowBlock *block, const CtFlowBlock *far) {
    if (block == far) return true;
    const CtFlowStep *last = block->steps.count > 0 ? block->steps.items[block->steps.count - 1] : NULL;
    for (uint32_t i = 0; last != NULL && last->kind == FLOW_SWITCH && i < last->as.cases.count; i++)
        if (contains(last->as.cases.branches[i].block, far)) return true;
    return false;
}

/* Writes the one branch of a switch that goes on to e->decided; false for other switches. */
bool ct_emit_is_decided(Emit *e, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *branch = step->as.cases.branches[i].block;
        if (!contains(branch, e->decided)) continue;
        if (branch == e->decided) e->decided = NULL;
        ct_emit_block(e, branch, step);
        return true;
    }
    return false;
}

static bool turns_look(const Emit *e, const CtFlowBlock *block, bool looked) {
    looked |= ct_emit_looks_in(e, block);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_CALL)
            looked |= e->looks[step->as.function->id] && !e->calls_itself[step->as.function->id];
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            if (!turns_look(e, step->as.cases.branches[j].block, looked)) return false;
    }
    return block->exit != EXIT_TAIL || block->tail != e->function || looked;
}

bool ct_emit_turns_look(const Emit *e) {
    return turns_look(e, e->function->body, false) && CT_FIRED("pauses.iteration");
}
