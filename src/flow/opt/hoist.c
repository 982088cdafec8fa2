/* Loop-invariant code motion: a step that is the same in each iteration moves in front of the loop.
 *
 * A step that cannot fail and is cheap moves unconditionally. Any other step moves only if the loop certainly executes
 * it: no step before it in the block can fail, except those that moved too, and the loop has an iteration. If the
 * number of iterations is not known, a switch tests for that:
 *
 *     some = intLt 0 n
 *     x = switch some { case 1: …, yield x; else: yield 0 }
 *
 * So an invariant check runs once. If it fails, it would have failed in the first iteration. */
#include "flow/opt/passes.h"

typedef struct Hoist {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowEffects effects;
    const bool *telling;
    CtFlowFacts facts;
    CtFlowValues now;         /* replacements of variables in the current loop */
    CtFlowMarks marks, going; /* going: the results of steps that are taken to be outside */
    uint32_t depth;           /* nesting depth of the current block */
    bool simple;              /* before derivatives are taken: only steps that move without a test */
    bool reads;               /* and reads of numbers */
} Hoist;

typedef CT_VEC(CtFlowStep *) Steps;

/* ---- what may go ---- */

static bool is_going(const Hoist *h, const CtFlowVar *var) {
    return var->id < h->going.count && h->going.items[var->id];
}

/* Whether arguments are bound outside the loop. Variables of the loop's block have its depth; deeper ones are bound
 * inside the step. */
static bool args_are_outside(const Hoist *h, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (ct_flow_fact(&h->facts, &args->items[i])->depth == h->depth + 1 && !is_going(h, args->items[i].var))
            return false;
    return true;
}

static bool is_outside(const Hoist *h, const CtFlowStep *step);

static bool block_is_outside(const Hoist *h, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (!is_outside(h, block->steps.items[i])) return false;
    return args_are_outside(h, &block->values);
}

/* Whether a step, with its blocks, only uses variables that are bound outside the loop or in the step itself. */
static bool is_outside(const Hoist *h, const CtFlowStep *step) {
    if (!args_are_outside(h, &step->args)) return false;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++)
        if (!block_is_outside(h, ct_flow_inner(step, i))) return false;
    return true;
}

/* Whether a step may run although the loop does not need it. A constant is evaluated at most once in a run anyway. */
static bool is_free(const Hoist *h, const CtFlowStep *step) {
    CtFlowMoves moves = ct_flow_step_info(step->kind)->moves;
    if (moves != MOVES_OWN) return moves == MOVES_FREE;
    if (step->kind == FLOW_PRIM) return !ct_flow_step_fails(step) && ct_prim_info(step->as.prim)->result != 'S';
    if (step->kind == FLOW_CONSTANT) return ct_flow_is_total(&h->effects, step);
    return step->kind == FLOW_READ && ct_flow_is_inside(&h->facts, step, step->args.count - 1);
}

/* Whether a step is a slice as long as the loop's iterations, whose check moves too: it costs no more than the loop
 * itself. */
static bool is_fair(const Hoist *h, const CtFlowStep *step, const CtFlowStep *loop) {
    return ct_flow_is_bulk(step, ARRAY_SLICE) &&
           ct_flow_same_length(&h->facts, ct_flow_length_of(&h->facts, step->args.items[1]),
                               ct_flow_length_of(&h->facts, loop->args.items[0]));
}

/* Whether a step that stays changes a result in place; then each iteration needs its own. Numbers are copied. */
static bool is_changed(Hoist *h, const CtFlowStep *step, const CtFlowBlock *block, const bool *goes) {
    bool taken = false;
    for (uint32_t i = 0; i < step->results.count; i++) {
        const CtFlowVar *result = step->results.items[i];
        if (result != NULL && ct_flow_is_object(result->type)) ct_flow_mark(&h->marks, result, true);
    }
    for (uint32_t i = 0; i < block->steps.count && !taken; i++)
        taken = !goes[i] && ct_flow_takes_marked(&h->marks, block->steps.items[i]);
    ct_flow_mark_results(&h->marks, step, false);
    return taken;
}

/* Which steps of a loop's block are the same in each iteration: all that uses what is bound outside or by such steps,
 * but what others change in place. */
static bool *invariant(Hoist *h, const CtFlowBlock *block) {
    bool *goes = CT_NEW_ARRAY(h->arena, bool, block->steps.count + 1), changed = true;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        goes[i] = !ct_flow_tells(h->telling, block->steps.items[i]);
        ct_flow_mark_results(&h->going, block->steps.items[i], goes[i]);
    }
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < block->steps.count; i++) {
            CtFlowStep *step = block->steps.items[i];
            if (!goes[i] || (is_outside(h, step) && !is_changed(h, step, block, goes))) continue;
            goes[i] = false;
            changed = true;
            ct_flow_mark_results(&h->going, step, false);
        }
    }
    for (uint32_t i = 0; i < block->steps.count; i++) ct_flow_mark_results(&h->going, block->steps.items[i], false);
    return goes;
}

/* Whether a step may move under a test. For the case without iterations each of its results must have a default: 0, or
 * an empty array. */
static bool may_ask(const CtFlowStep *step, bool certain) {
    if (ct_flow_step_info(step->kind)->moves == MOVES_STAYS) return false;
    for (uint32_t i = 0; i < step->results.count && !certain; i++)
        if (step->results.items[i] != NULL && step->results.items[i]->type->kind == FLOW_NODE) return false;
    return true;
}

/* ---- the question ---- */

static CtFlowStep *new_step(Hoist *h, CtFlowStepKind kind, CtSourceRange range, Steps *to) {
    CtFlowStep *step = CT_NEW(h->arena, CtFlowStep);
    step->kind = kind;
    step->range = range;
    ct_push(h->arena, to, step);
    return step;
}

static CtFlowArg new_result(Hoist *h, CtFlowStep *step, const char *name, const CtFlowType *type) {
    CtFlowVar *var = ct_flow_fresh(h->flow, h->function, name, type);
    ct_push(h->arena, &step->results, var);
    ct_flow_facts_step(&h->facts, step, h->depth);
    return flow_of(var);
}

/* The value of a result when the loop has no iteration. */
static CtFlowArg nothing(Hoist *h, CtFlowBlock *block, const CtFlowVar *result) {
    if (!ct_flow_is_object(result->type)) return (CtFlowArg){.type = result->type};
    Steps steps = {block->steps.items, block->steps.count, block->steps.capacity};
    CtFlowStep *none = new_step(h, FLOW_ITEMS, CT_NO_RANGE, &steps);
    block->steps.items = steps.items;
    block->steps.count = steps.count;
    block->steps.capacity = steps.capacity;
    return new_result(h, none, NULL, result->type);
}

/* Puts steps into a switch that tests whether the loop has an iteration; their results become results of the switch.
 * The replacement holds only in this loop's block, because the switch itself may be in the block of the next loop. */
static void ask(Hoist *h, Steps *out, const CtFlowStep *loop, const Steps *steps) {
    CtFlowStep *test = new_step(h, FLOW_PRIM, loop->range, out);
    test->as.prim = PRIM_INT_LT;
    ct_push(h->arena, &test->args, (CtFlowArg){.type = h->facts.integer});
    ct_push(h->arena, &test->args, loop->args.items[0]);
    CtFlowArg some = new_result(h, test, "some", h->facts.integer);
    CtFlowStep *choice = new_step(h, FLOW_SWITCH, loop->range, out);
    CtFlowBlock *yes = CT_NEW(h->arena, CtFlowBlock), *no = CT_NEW(h->arena, CtFlowBlock);
    ct_push(h->arena, &choice->args, some);
    choice->as.cases.branches = CT_NEW_ARRAY(h->arena, CtFlowBranch, 2);
    choice->as.cases.branches[0] = (CtFlowBranch){1, yes};
    choice->as.cases.branches[1] = (CtFlowBranch){0, no};
    choice->as.cases.count = 2;
    yes->exit = no->exit = EXIT_YIELD;
    yes->range = no->range = loop->range;
    ct_flow_values_clear(&h->now, h->arena);
    for (uint32_t i = 0; i < steps->count; i++) {
        const CtFlowStep *step = steps->items[i];
        ct_push(h->arena, &yes->steps, steps->items[i]);
        for (uint32_t j = 0; j < step->results.count; j++) {
            const CtFlowVar *result = step->results.items[j];
            if (result == NULL) continue;
            ct_push(h->arena, &yes->values, flow_of(step->results.items[j]));
            ct_push(h->arena, &no->values, nothing(h, no, result));
            ct_flow_stands(&h->now, result, new_result(h, choice, result->name, result->type));
        }
    }
    ct_flow_rename_block(&h->now, loop->as.loop.block);
}

/* ---- the walk ---- */

static bool uses_any(Hoist *h, const CtFlowStep *step, const Steps *of) {
    for (uint32_t i = 0; i < of->count; i++) ct_flow_mark_results(&h->marks, of->items[i], true);
    bool uses = ct_flow_uses_marked(&h->marks, step, NULL);
    for (uint32_t i = 0; i < of->count; i++) ct_flow_mark_results(&h->marks, of->items[i], false);
    return uses;
}

static void hoist_from(Hoist *h, Steps *out, CtFlowStep *loop) {
    CtFlowBlock *block = loop->as.loop.block;
    const CtFlowArg *iterations = &loop->args.items[0];
    bool certain = iterations->var == NULL && iterations->lit.integer > 0, comes = true;
    Steps asked = {0}, behind = {0}; /* slices stand behind the switch that checks them */
    uint32_t kept = 0;
    const bool *goes = invariant(h, block);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        bool moves = goes[i] && is_outside(h, step);
        bool fair = comes && is_fair(h, step, loop), uses_fair = uses_any(h, step, &behind);
        bool is_asked = moves && ((!is_free(h, step) && !fair) || uses_any(h, step, &asked));
        bool number = step->kind == FLOW_READ && !ct_flow_is_object(step->results.items[0]->type);
        bool may = (!h->simple || step->kind == FLOW_CHECK_SLICE || (h->reads && number)) && comes && !uses_fair &&
                   may_ask(step, certain);
        if (!moves || (is_asked && !may)) {
            comes = comes && ct_flow_is_total(&h->effects, step);
            block->steps.items[kept++] = step;
            continue;
        }
        if (is_asked && !certain && CT_FIRED("hoist.asked"))
            ct_push(h->arena, &asked, step);
        else if ((fair || uses_fair) && !certain && CT_FIRED("hoist.fair_slice"))
            ct_push(h->arena, &behind, step);
        else if (CT_FIRED("hoist.step"))
            ct_push(h->arena, out, step);
        ct_flow_facts_step(&h->facts, step, h->depth);
    }
    block->steps.count = kept;
    if (asked.count > 0) ask(h, out, loop, &asked);
    for (uint32_t i = 0; i < behind.count; i++) ct_push(h->arena, out, behind.items[i]);
}

static void visit(Hoist *h, CtFlowBlock *block) {
    Steps out = {0};
    uint32_t equals = h->facts.equals.count;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        ct_flow_learn(&h->facts, step);
        h->depth++;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(h, ct_flow_inner(step, j));
        h->depth--;
        if (step->kind == FLOW_LOOP && step->as.loop.block->exit == EXIT_YIELD) hoist_from(h, &out, step);
        ct_push(h->arena, &out, step);
    }
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
    h->facts.equals.count = equals;
}

static void hoist(CtFlow *flow, bool simple, bool reads) {
    Hoist h = {.flow = flow, .arena = flow->arena, .effects = ct_flow_effects(flow), .simple = simple, .reads = reads};
    h.telling = ct_flow_telling(flow);
    h.marks = h.going = (CtFlowMarks){.arena = flow->arena};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        h.function = flow->functions.items[i];
        ct_flow_facts_begin(&h.facts, flow, h.function);
        h.depth = 0;
        visit(&h, h.function->body);
    }
}

void ct_flow_hoist_simple(CtFlow *flow) { hoist(flow, true, false); }

void ct_flow_hoist_reads(CtFlow *flow) { hoist(flow, true, true); }

void ct_flow_hoist(CtFlow *flow) { hoist(flow, false, false); }
