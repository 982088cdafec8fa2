/* Call-site attribution and facts about functions as a whole. Which functions take the call site that failures inside
 * the library are attributed to; which are recursive; which tail-call each other and form a group. */
#include "flow/opt/passes.h"

/* ---- who takes a place ---- */

typedef struct Placing {
    CtFlow *flow;
    CtFlowFunction *function;
    bool changed;
} Placing;

static void place_step(void *data, CtFlowStep *step) {
    Placing *p = data;
    if (!p->function->takes_call_site && ct_flow_step_fails(step) && !ct_flow_is_user(p->flow, step->range))
        p->function->takes_call_site = p->changed = CT_FIRED("call_sites.step");
}

static void place_call(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    Placing *p = data;
    (void)tail;
    if (!p->function->takes_call_site && callee->takes_call_site && !ct_flow_is_user(p->flow, range))
        p->function->takes_call_site = p->changed = CT_FIRED("call_sites.call");
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

/* Functions of a tail-call group share their parameters, so all of them take a call site if one does. */
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
        CT_FIRED("call_sites.group");
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
