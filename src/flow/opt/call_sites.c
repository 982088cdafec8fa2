/* What is known of functions as a whole: which are told where a failure in the library is to be shown; which may wait
 * for themselves; which end in each other. And the sites: source ranges by number. */
#include "flow/opt/passes.h"

/* ---- sites ---- */

bool ct_flow_is_user(const CtFlow *flow, CtSourceRange range) {
    return range.source != 0 && !flow->core->context->sources.items[range.source].is_library;
}

uint32_t ct_flow_site(CtFlow *flow, CtSourceRange range) {
    if (range.source == 0) return 0;
    uint64_t key = ((uint64_t)range.source * 0x9E3779B97F4A7C15u) ^ ((uint64_t)range.start << 32 | range.end);
    uint32_t known = (uint32_t)(uintptr_t)ct_map_get(&flow->site_numbers, key);
    if (known != 0 && memcmp(&flow->sites.items[known], &range, sizeof range) == 0) return known;
    ct_push(flow->arena, &flow->sites, range);
    uint32_t number = flow->sites.count - 1;
    ct_map_set(flow->arena, &flow->site_numbers, key, (void *)(uintptr_t)number); // NOLINT
    return number;
}

/* ---- failures ---- */

/* Rows that may differ in length. */
static bool makes_odd_rows(const CtFlowStep *loop) {
    for (uint32_t i = loop->as.loop.carried; i < loop->results.count; i++)
        if (!ct_flow_is_regular(loop, i)) return true;
    return false;
}

/* A division by a literal cannot fail but where that is 0. */
static bool prim_fails(const CtFlowStep *step) {
    if (ct_core_prim_is_total(step->as.prim)) return false;
    bool divides = step->args.count == 2 && step->args.items[1].type->kind == FLOW_I64;
    return !divides || step->args.items[1].var != NULL || step->args.items[1].lit.integer == 0;
}

/* What is left to fail behind the checks that stand in front of it. */
static bool bulk_fails(const CtFlowStep *step) {
    switch (step->as.bulk) {
    case ARRAY_GATHER:
    case ARRAY_RESHAPE:
    case ARRAY_MAXIMUM:
    case ARRAY_MINIMUM:
    case ARRAY_ARGMAX:
    case ARRAY_ARGMIN: return true;
    case ARRAY_APPEND: return step->results.items[0]->type->rank > 1;
    default: return false;
    }
}

bool ct_flow_step_fails(const CtFlowStep *step) {
    CtFlowFails fails = ct_flow_step_info(step->kind)->fails;
    if (fails != FAILS_OWN) return fails != FAILS_NEVER;
    if (step->kind == FLOW_PRIM) return prim_fails(step);
    if (step->kind == FLOW_UPDATE) return step->results.items[0]->type->rank > step->args.count - 2;
    if (step->kind == FLOW_SNOC) return step->results.items[0]->type->rank > 1;
    if (step->kind == FLOW_LOOP) return makes_odd_rows(step);
    return step->kind != FLOW_BULK || bulk_fails(step);
}

bool ct_flow_is_check(const CtFlowStep *step) { return ct_flow_step_info(step->kind)->fails == FAILS_CHECK; }

bool ct_flow_allocates(const CtFlowStep *step) {
    switch (ct_flow_step_info(step->kind)->makes) {
    case MAKES_NOTHING: return false;
    case MAKES_MEMORY: return true;
    case MAKES_OBJECT: return ct_flow_is_object(step->results.items[0]->type);
    case MAKES_ARRAYS: return step->results.count > step->as.loop.carried;
    }
    return true;
}

bool ct_flow_is_straight(const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool reads = step->kind == FLOW_READ && !ct_flow_is_object(step->results.items[0]->type);
        if (!reads && (step->kind != FLOW_PRIM || ct_flow_step_fails(step))) return false;
    }
    return block->exit == EXIT_YIELD;
}

/* ---- who takes a place ---- */

typedef struct Placing {
    CtFlow *flow;
    CtFlowFunction *function;
    bool changed;
} Placing;

static void place_step(void *data, CtFlowStep *step) {
    Placing *p = data;
    if (!p->function->takes_call_site && ct_flow_step_fails(step) && !ct_flow_is_user(p->flow, step->range))
        p->function->takes_call_site = p->changed = true;
}

static void place_call(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    Placing *p = data;
    if (!p->function->takes_call_site && callee->takes_call_site && (tail || !ct_flow_is_user(p->flow, range)))
        p->function->takes_call_site = p->changed = true;
}

/* ---- cycles of calls ---- */

static void find_cycles(CtFlow *flow) {
    uint32_t count = flow->functions.count;
    CtFlowCycles all = ct_flow_cycles(flow, false), tails = ct_flow_cycles(flow, true);
    uint32_t *sizes = CT_NEW_ARRAY(flow->arena, uint32_t, tails.count + 1);
    for (uint32_t v = 0; v < count; v++) {
        flow->functions.items[v]->recurses = all.waits[all.component[v]];
        sizes[tails.component[v]]++;
    }
    for (uint32_t v = 0; v < count; v++)
        flow->functions.items[v]->group = sizes[tails.component[v]] > 1 ? tails.component[v] : 0;
}

/* Functions that end in each other share their parameters. */
static bool share_call_sites(CtFlow *flow) {
    bool changed = false;
    CtMap groups = {0};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        const CtFlowFunction *f = flow->functions.items[i];
        if (f->group != 0 && f->takes_call_site) ct_map_set(flow->arena, &groups, f->group, NULL);
    }
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *f = flow->functions.items[i];
        if (f->group == 0 || f->takes_call_site || !ct_map_has(&groups, f->group)) continue;
        f->takes_call_site = changed = true;
    }
    return changed;
}

static void find_call_sites(CtFlow *flow) {
    Placing p = {flow, NULL, true};
    while (p.changed) {
        p.changed = share_call_sites(flow);
        for (uint32_t i = flow->functions.count; i-- > 0;) {
            p.function = flow->functions.items[i];
            if (p.function->takes_call_site) continue;
            ct_flow_each_step(p.function->body, place_step, &p);
            ct_flow_each_call(p.function->body, place_call, &p);
        }
    }
}

/* ---- what the entry reaches ---- */

typedef struct Reach {
    CtArena *arena;
    CT_VEC(CtFlowFunction *) todo;
} Reach;

static void reach(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    (void)range, (void)tail;
    Reach *r = data;
    if (callee->reached) return;
    callee->reached = true;
    ct_push(r->arena, &r->todo, callee);
}

void ct_flow_drop_unreached(CtFlow *flow) {
    Reach r = {.arena = flow->arena};
    for (uint32_t i = 0; i < flow->functions.count; i++) flow->functions.items[i]->reached = false;
    reach(&r, flow->entry, CT_NO_RANGE, false);
    while (r.todo.count > 0) {
        CtFlowFunction *function = r.todo.items[--r.todo.count];
        ct_flow_each_call(function->body, reach, &r);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        if (!function->reached) continue;
        function->id = kept;
        flow->functions.items[kept++] = function;
    }
    flow->functions.count = kept;
    kept = 0;
    for (uint32_t i = 0; i < flow->constants.count; i++) {
        CtFlowConstant *constant = flow->constants.items[i];
        if (!constant->function->reached) continue;
        constant->id = kept;
        flow->constants.items[kept++] = constant;
    }
    flow->constants.count = kept;
}

/* ---- which functions of groups are called from outside ---- */

static void find_door(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    (void)range;
    const CtFlowFunction *caller = data;
    if (!tail || caller->group == 0 || caller->group != callee->group) callee->has_door = true;
}

void ct_flow_call_sites(CtFlow *flow) {
    ct_flow_drop_unreached(flow);
    find_cycles(flow);
    find_call_sites(flow);
    flow->entry->has_door = true;
    for (uint32_t i = 0; i < flow->constants.count; i++) flow->constants.items[i]->function->has_door = true;
    for (uint32_t i = 0; i < flow->functions.count; i++)
        ct_flow_each_call(flow->functions.items[i]->body, find_door, flow->functions.items[i]);
}
