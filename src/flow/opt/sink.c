/* Code sinking: an array that only some branches of one switch need is made there.
 *
 *     m = map n do …                               x = switch t {
 *     x = switch t {                                 0: m = map n do …, y = call f m, yield y
 *       0: y = call f m, yield y            →        1: yield 0 }
 *       1: yield 0 }
 *
 * A branch may also read elements of it at literal indices: it gets a copy, of which fusion leaves these elements
 * (read_elements.c). The array cannot fail, and no step in front of the switch changes in place what it is made of. A
 * branch that needs all of it calls a function with it, so no other pass would have fused it with what is there; and in
 * a loop the array is not the same in each iteration, or it would move in front of the loop. */
#include "flow/copy.h"
#include "flow/opt/passes.h"

enum { MOST_COPIED = 40 /* bound of the steps of an array that is made in several branches */ };

typedef struct Sink {
    CtFlow *flow;
    CtFlowFunction *function;
    CtFlowEffects effects;
    CtFlowMarks made, objects, ours; /* ours: what an iteration of the innermost loop binds */
} Sink;

/* How often what a map makes is used; in how many steps that read an element at a literal index, and in how many calls.
 */
typedef struct Uses {
    const CtFlowStep *map;
    uint32_t all, reads, calls;
} Uses;

static bool makes(const CtFlowStep *map, const CtFlowVar *var) {
    for (uint32_t i = 0; i < map->results.count; i++)
        if (var != NULL && map->results.items[i] == var) return true;
    return false;
}

static void count_args(Uses *uses, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++) uses->all += makes(uses->map, args->items[i].var);
}

static bool reads_literally(const CtFlowStep *step) {
    for (uint32_t i = 1; i < step->args.count; i++)
        if (step->args.items[i].var != NULL) return false;
    return step->kind == FLOW_READ;
}

/* How a block and those inside use what a map makes. */
static void count_uses(Uses *uses, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        uint32_t before = uses->all;
        count_args(uses, &step->args);
        if (uses->all > before) uses->reads += reads_literally(step), uses->calls += step->kind == FLOW_CALL;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) count_uses(uses, ct_flow_inner(step, j));
    }
    count_args(uses, &block->values);
}

static Uses uses_in(const CtFlowStep *map, const CtFlowBlock *block) {
    Uses uses = {.map = map};
    count_uses(&uses, block);
    return uses;
}

/* The only step behind a map, of its block, that uses what it makes, if that is a switch on something else, and the map
 * may run there. */
static CtFlowStep *only_user(Sink *s, const CtFlowBlock *block, uint32_t at) {
    const CtFlowStep *map = block->steps.items[at];
    CtFlowStep *user = NULL;
    uint32_t last = at;
    bool several = false;
    ct_flow_mark_results(&s->made, map, true);
    for (uint32_t i = at + 1; i < block->steps.count && !several; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (step == NULL || !ct_flow_uses_marked(&s->made, step, NULL)) continue;
        several = user != NULL || step->kind != FLOW_SWITCH;
        user = step;
        last = i;
    }
    ct_flow_mark_results(&s->made, map, false);
    Uses handed_on = {.map = map};
    count_args(&handed_on, &block->values);
    bool may = !several && handed_on.all == 0 && ct_flow_may_run_later(&s->objects, block, at, last);
    return may ? user : NULL;
}

/* Whether a way through a block needs no array, or only elements of it. */
static bool spares(const CtFlowStep *map, const CtFlowBlock *block) {
    Uses uses = uses_in(map, block), outside = uses;
    bool one_way = false;
    for (uint32_t i = 0; i < block->steps.count && uses.all > uses.reads; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++) {
            Uses inside = uses_in(map, step->as.cases.branches[j].block);
            outside.all -= inside.all;
            outside.reads -= inside.reads;
            one_way |= spares(map, step->as.cases.branches[j].block);
        }
    }
    return uses.all == uses.reads || (one_way && outside.all == outside.reads);
}

/* Whether that holds for a branch, and those in which it does not call functions with the array. */
static bool gains(const CtFlowStep *map, const CtFlowStep *choice, uint32_t *branches) {
    bool some_less = false;
    *branches = 0;
    for (uint32_t i = 0; i < choice->as.cases.count; i++) {
        const CtFlowBlock *block = choice->as.cases.branches[i].block;
        Uses uses = uses_in(map, block);
        some_less |= spares(map, block);
        if (uses.all > uses.reads && uses.calls == 0) return false;
        *branches += uses.all > 0;
    }
    return some_less && (*branches == 1 || (*branches > 1 && ct_flow_size(map->as.loop.block) <= MOST_COPIED));
}

static void put_first(Sink *s, CtFlowBlock *block, CtFlowStep *step) {
    CtFlowBlock old = *block;
    memset(&block->steps, 0, sizeof block->steps);
    ct_push(s->flow->arena, &block->steps, step);
    for (uint32_t i = 0; i < old.steps.count; i++) ct_push(s->flow->arena, &block->steps, old.steps.items[i]);
}

static void sink_into(Sink *s, CtFlowStep *choice, CtFlowStep *map, uint32_t branches) {
    CT_FIRED("sink.array");
    for (uint32_t i = 0; i < choice->as.cases.count; i++) {
        CtFlowBlock *block = choice->as.cases.branches[i].block;
        if (uses_in(map, block).all == 0) continue;
        if (branches == 1) {
            put_first(s, block, map);
            return;
        }
        CT_FIRED("sink.copy");
        CtFlowCopy copy = {.flow = s->flow, .into = s->function, .place = CT_NO_RANGE};
        CtFlowStep *own = ct_flow_copy_step(&copy, map);
        for (uint32_t j = 0; j < map->results.count; j++)
            ct_flow_substitute(block, map->results.items[j], flow_of(own->results.items[j]));
        put_first(s, block, own);
    }
}

static bool is_map(const Sink *s, const CtFlowStep *step) {
    return step->kind == FLOW_LOOP && step->as.loop.carried == 0 && !step->as.loop.initial &&
           step->as.loop.block->exit == EXIT_YIELD && ct_flow_is_total(&s->effects, step);
}

static void bind(Sink *s, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->params.count; i++) ct_flow_mark(&s->ours, block->params.items[i], true);
    for (uint32_t i = 0; i < block->steps.count; i++) ct_flow_mark_results(&s->ours, block->steps.items[i], true);
}

static void visit(Sink *s, CtFlowBlock *block, bool in_loop);

/* What an outer loop binds is the same in each iteration of an inner one. */
static void visit_loop(Sink *s, CtFlowBlock *block) {
    CtFlowMarks ours = s->ours;
    s->ours = (CtFlowMarks){.arena = s->flow->arena};
    visit(s, block, true);
    s->ours = ours;
}

/* The last arrays first: what these alone need moves with them. */
static void visit(Sink *s, CtFlowBlock *block, bool in_loop) {
    uint32_t kept = 0, branches;
    if (in_loop) bind(s, block);
    for (uint32_t i = block->steps.count; i > 0; i--) {
        CtFlowStep *step = block->steps.items[i - 1];
        if (!is_map(s, step) || (in_loop && !ct_flow_uses_marked(&s->ours, step, NULL))) continue;
        CtFlowStep *choice = only_user(s, block, i - 1);
        if (choice == NULL || !gains(step, choice, &branches)) continue;
        sink_into(s, choice, step, branches);
        block->steps.items[i - 1] = NULL;
    }
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (step == NULL) continue;
        block->steps.items[kept++] = step;
        if (step->kind == FLOW_LOOP)
            visit_loop(s, step->as.loop.block);
        else
            for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(s, ct_flow_inner(step, j), in_loop);
    }
    block->steps.count = kept;
}

void ct_flow_sink(CtFlow *flow) {
    Sink s = {.flow = flow, .effects = ct_flow_effects(flow)};
    s.made = s.ours = (CtFlowMarks){.arena = flow->arena};
    s.objects = (CtFlowMarks){.arena = flow->arena, .changed = ct_flow_changed_parameters(flow)};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        s.function = flow->functions.items[i];
        visit(&s, s.function->body, false);
    }
}
