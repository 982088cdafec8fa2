/* Partial inlining of recursion. The tests at the beginning of a function that calls itself, and the branches behind
 * them that end it in a few steps, its base cases, are written where it calls itself with an array that it has made:
 *
 *     m = map n do …                             m = map n do …
 *     a = call det m                      →      a = switch n == 1 { 1: x = read m, 0, 0, yield x
 *                                                                    0: b = call det m, yield b }
 *
 * Then the array is made only where all of it is needed (sink.c): the smallest matrices of a determinant by minors,
 * which are the most, are not. In the other branches the function tests again. For recursion over nodes this does not
 * pay: nothing is saved but the call, and C compilers do that, too. */
#include "flow/copy.h"
#include "flow/opt/passes.h"

enum {
    MOST_TESTED = 24, /* bound of the steps that are written at a call, */
    MOST_CALLS = 4
}; /* and of such calls in a function */

typedef struct BaseCases {
    CtFlow *flow;
    CtFlowFunction *function;
    const CtFlowBlock *entry; /* tests and base cases; in the other branches, a tail call of the function */
    uint32_t calls;           /* that are wanted */
    CtFlowFacts facts;
    CtFlowValues now;
} BaseCases;

/* ---- tests and base cases ---- */

static bool are_cheap(const CtFlowBlock *block, uint32_t steps);

static bool chooses_cheaply(const CtFlowStep *choice) {
    for (uint32_t i = 0; i < choice->as.cases.count; i++) {
        const CtFlowBlock *block = choice->as.cases.branches[i].block;
        if (block->exit != EXIT_YIELD || !are_cheap(block, block->steps.count)) return false;
    }
    return true;
}

static bool is_cheap(const CtFlowStep *step) {
    switch (step->kind) {
    case FLOW_PRIM:
        return !ct_flow_is_object(step->results.items[0]->type) && ct_prim_info(step->as.prim)->result != 'S';
    case FLOW_DIM:
    case FLOW_READ:
    case FLOW_OPEN:
    case FLOW_CHECK:
    case FLOW_MAKE: return true;
    case FLOW_SWITCH: return chooses_cheaply(step);
    default: return false;
    }
}

static bool are_cheap(const CtFlowBlock *block, uint32_t steps) {
    for (uint32_t i = 0; i < steps; i++)
        if (!is_cheap(block->steps.items[i])) return false;
    return true;
}

/* A block that only tests: its last step is a switch, and control does not come out of that. */
static const CtFlowStep *last_test(const CtFlowBlock *block) {
    uint32_t count = block->steps.count;
    if (block->exit != EXIT_NEVER || count == 0 || !are_cheap(block, count - 1)) return NULL;
    const CtFlowStep *last = block->steps.items[count - 1];
    return last->kind == FLOW_SWITCH ? last : NULL;
}

/* The block as far as it tests and ends in base cases, of which `found` is told. */
static CtFlowBlock *entry_of(BaseCases *b, const CtFlowBlock *block, bool *found) {
    CtFlowBlock *entry = CT_NEW(b->flow->arena, CtFlowBlock);
    *entry = *block;
    if (block->exit == EXIT_RETURN && are_cheap(block, block->steps.count)) {
        *found = true;
        return entry;
    }
    memset(&entry->steps, 0, sizeof entry->steps);
    const CtFlowStep *test = last_test(block);
    bool inside = false;
    if (test != NULL) {
        CtFlowStep *copy = CT_NEW(b->flow->arena, CtFlowStep);
        *copy = *test;
        copy->as.cases.branches = CT_NEW_ARRAY(b->flow->arena, CtFlowBranch, test->as.cases.count);
        for (uint32_t i = 0; i < test->as.cases.count; i++) {
            copy->as.cases.branches[i] = test->as.cases.branches[i];
            copy->as.cases.branches[i].block = entry_of(b, test->as.cases.branches[i].block, &inside);
        }
        for (uint32_t i = 0; inside && i + 1 < block->steps.count; i++)
            ct_push(b->flow->arena, &entry->steps, block->steps.items[i]);
        if (inside) ct_push(b->flow->arena, &entry->steps, copy);
    }
    *found |= inside;
    if (inside) return entry;
    entry->exit = EXIT_TAIL;
    entry->tail = b->function;
    memset(&entry->values, 0, sizeof entry->values);
    for (uint32_t i = 0; i < b->function->params.count; i++)
        ct_push(b->flow->arena, &entry->values, flow_of(b->function->params.items[i]));
    return entry;
}

/* ---- the walk ---- */

static void write_entry(BaseCases *b, CtFlowBlock *to, const CtFlowStep *call) {
    CtFlowCopy copy = {.flow = b->flow, .into = b->function, .place = call->range};
    for (uint32_t i = 0; i < b->function->params.count; i++)
        ct_flow_copy_stands(&copy, b->function->params.items[i], call->args.items[i]);
    CtFlowBlock *fresh = ct_flow_copy_block(&copy, b->entry);
    ct_flow_yield_instead(b->flow, b->function, fresh, &b->function->results, call->range);
    for (uint32_t i = 0; i < fresh->steps.count; i++) ct_push(b->flow->arena, &to->steps, fresh->steps.items[i]);
    for (uint32_t i = 0; i < call->results.count; i++)
        ct_flow_stands(&b->now, call->results.items[i], fresh->values.items[i]);
}

/* Whether the function calls itself with an array that a loop makes. */
static bool is_wanted(const BaseCases *b, const CtFlowStep *step) {
    bool makes = false;
    if (step->kind != FLOW_CALL || step->as.function != b->function) return false;
    for (uint32_t i = 0; i < step->args.count; i++)
        makes |= step->args.items[i].type->kind == FLOW_ARRAY &&
                 ct_flow_maker(&b->facts, &step->args.items[i], FLOW_LOOP) != NULL;
    return makes;
}

static void count_wanted(void *data, CtFlowStep *step) {
    BaseCases *b = data;
    b->calls += is_wanted(b, step);
}

static void visit(BaseCases *b, CtFlowBlock *block) {
    CtFlowBlock old = *block;
    memset(&block->steps, 0, sizeof block->steps);
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        ct_flow_rename(&b->now, &step->args);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(b, ct_flow_inner(step, j));
        if (is_wanted(b, step) && CT_FIRED("base_cases.call"))
            write_entry(b, block, step);
        else
            ct_push(b->flow->arena, &block->steps, step);
    }
    ct_flow_rename(&b->now, &block->values);
}

void ct_flow_base_cases(CtFlow *flow) {
    BaseCases b = {.flow = flow};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        bool found = false;
        b.function = flow->functions.items[i];
        b.calls = 0;
        ct_flow_facts_begin(&b.facts, flow, b.function);
        ct_flow_each_step(b.function->body, count_wanted, &b);
        if (b.calls == 0 || b.calls > MOST_CALLS || b.function->is_cold_path || ct_flow_is_separate(b.function))
            continue;
        const CtFlowBlock *entry = entry_of(&b, b.function->body, &found);
        if (!found || entry->exit == EXIT_RETURN || ct_flow_size(entry) > MOST_TESTED) continue;
        /* The body is changed: what is copied must not be. */
        CtFlowCopy copy = {.flow = flow, .into = b.function, .place = CT_NO_RANGE};
        b.entry = ct_flow_copy_block(&copy, entry);
        ct_flow_values_clear(&b.now, flow->arena);
        visit(&b, b.function->body);
    }
}
