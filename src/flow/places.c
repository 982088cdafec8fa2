/* What is known of functions as a whole: which are told where a failure in the library is to be shown; which may wait
 * for themselves; which end in each other. And the sites: spans by number. */
#include "flow/internal.h"

/* ---- sites ---- */

bool ct_flow_is_user(const CtFlow *flow, CtSpan span) {
    return span.source != 0 && !flow->core->context->sources.items[span.source].is_library;
}

uint32_t ct_flow_site(CtFlow *flow, CtSpan span) {
    if (span.source == 0) return 0;
    uint64_t key = ((uint64_t)span.source * 0x9E3779B97F4A7C15u) ^ ((uint64_t)span.start << 32 | span.end);
    uint32_t known = (uint32_t)(uintptr_t)ct_map_get(&flow->site_numbers, key);
    if (known != 0 && memcmp(&flow->sites.items[known], &span, sizeof span) == 0) return known;
    ct_push(flow->arena, &flow->sites, span);
    uint32_t number = flow->sites.count - 1;
    ct_map_set(flow->arena, &flow->site_numbers, key, (void *)(uintptr_t)number); // NOLINT
    return number;
}

/* ---- failures ---- */

static bool makes_rows(const CtFlowStep *step) {
    for (uint32_t i = step->as.loop.carried; i < step->results.count; i++)
        if (step->results.items[i]->type->rank > 1) return true;
    return false;
}

bool ct_flow_step_fails(const CtFlowStep *step) {
    switch (step->kind) {
    case FLOW_PRIM: return !ct_prim_is_total(step->as.prim);
    case FLOW_FAIL:
    case FLOW_CHECK:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SHAPE: return true;
    case FLOW_UPDATE:
    case FLOW_SNOC: return step->results.items[0]->type->rank > 1;
    case FLOW_LOOP: return makes_rows(step);
    case FLOW_BULK:
        switch (step->as.bulk) {
        case ARRAY_GATHER:
        case ARRAY_SLICE:
        case ARRAY_RESHAPE:
        case ARRAY_MAXIMUM:
        case ARRAY_MINIMUM:
        case ARRAY_ARGMAX:
        case ARRAY_ARGMIN: return true;
        case ARRAY_APPEND: return step->results.items[0]->type->rank > 1;
        default: return false;
        }
    case FLOW_CALL:
    case FLOW_CONSTANT:
    case FLOW_STRING:
    case FLOW_MAKE:
    case FLOW_OPEN:
    case FLOW_SWITCH:
    case FLOW_DIM:
    case FLOW_READ:
    case FLOW_ITEMS:
    case FLOW_LITERALS:
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP:
    case FLOW_STOP:
    case FLOW_RETAIN:
    case FLOW_RELEASE: return false;
    }
    return false;
}

/* ---- walking over calls ---- */

typedef void OnCall(void *data, CtFlowFunction *callee, CtSpan span, bool tail);

typedef struct CallWalk {
    OnCall *on_call;
    void (*on_step)(void *data, CtFlowStep *step);
    void *data;
} CallWalk;

static void walk(const CallWalk *w, CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (w->on_step != NULL) w->on_step(w->data, step);
        if (step->kind == FLOW_CALL) w->on_call(w->data, step->as.function, step->span, false);
        if (step->kind == FLOW_CONSTANT) w->on_call(w->data, step->as.constant->function, step->span, false);
        if (step->kind == FLOW_LOOP) walk(w, step->as.loop.block);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            walk(w, step->as.cases.branches[j].block);
    }
    if (block->exit == EXIT_TAIL) w->on_call(w->data, block->tail, block->span, true);
}

/* ---- who takes a place ---- */

typedef struct Placing {
    CtFlow *flow;
    CtFlowFunction *function;
    bool changed;
} Placing;

static void place_step(void *data, CtFlowStep *step) {
    Placing *p = data;
    if (!p->function->takes_place && ct_flow_step_fails(step) && !ct_flow_is_user(p->flow, step->span))
        p->function->takes_place = p->changed = true;
}

static void place_call(void *data, CtFlowFunction *callee, CtSpan span, bool tail) {
    Placing *p = data;
    if (!p->function->takes_place && callee->takes_place && (tail || !ct_flow_is_user(p->flow, span)))
        p->function->takes_place = p->changed = true;
}

/* ---- cycles of calls: Tarjan's components, with a stack of our own ---- */

typedef struct Edge {
    CtFlowFunction *to;
    bool tail;
} Edge;
typedef CT_VEC(Edge) Edges;

typedef struct Graph {
    CtFlow *flow;
    Edges *edges;
    bool tails_only;
    uint32_t *number, *low, *component, *next, *stack, *path;
    uint32_t numbered, stacked, walked, components;
    uint32_t from; /* while edges are collected */
} Graph;

static void add_edge(void *data, CtFlowFunction *callee, CtSpan span, bool tail) {
    (void)span;
    Graph *g = data;
    ct_push(g->flow->arena, &g->edges[g->from], (Edge){callee, tail});
}

static void enter(Graph *g, uint32_t v) {
    g->number[v] = g->low[v] = ++g->numbered;
    g->stack[g->stacked++] = v;
    g->path[g->walked++] = v;
}

static void close_component(Graph *g, uint32_t v) {
    uint32_t w;
    g->components++;
    do {
        w = g->stack[--g->stacked];
        g->component[w] = g->components;
    } while (w != v);
}

static void search(Graph *g, uint32_t root) {
    enter(g, root);
    while (g->walked > 0) {
        uint32_t v = g->path[g->walked - 1];
        if (g->next[v] < g->edges[v].count) {
            Edge edge = g->edges[v].items[g->next[v]++];
            uint32_t w = edge.to->id;
            if (g->tails_only && !edge.tail) continue;
            if (g->number[w] == 0)
                enter(g, w);
            else if (g->component[w] == 0 && g->number[w] < g->low[v])
                g->low[v] = g->number[w];
            continue;
        }
        g->walked--;
        if (g->low[v] == g->number[v]) close_component(g, v);
        if (g->walked > 0 && g->low[v] < g->low[g->path[g->walked - 1]]) g->low[g->path[g->walked - 1]] = g->low[v];
    }
}

static void find_components(Graph *g, bool tails_only) {
    uint32_t count = g->flow->functions.count;
    uint32_t **tables[] = {&g->number, &g->low, &g->component, &g->next, &g->stack, &g->path};
    for (uint32_t i = 0; i < 6; i++) *tables[i] = CT_NEW_ARRAY(g->flow->arena, uint32_t, count + 1);
    g->numbered = g->stacked = g->walked = g->components = 0;
    g->tails_only = tails_only;
    for (uint32_t i = 0; i < count; i++)
        if (g->number[i] == 0) search(g, i);
}

static void find_cycles(CtFlow *flow) {
    uint32_t count = flow->functions.count;
    Graph g = {.flow = flow, .edges = CT_NEW_ARRAY(flow->arena, Edges, count + 1)};
    for (g.from = 0; g.from < count; g.from++)
        walk(&(CallWalk){add_edge, NULL, &g}, flow->functions.items[g.from]->body);
    find_components(&g, false);
    bool *waits = CT_NEW_ARRAY(flow->arena, bool, g.components + 1);
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t i = 0; i < g.edges[v].count; i++)
            if (!g.edges[v].items[i].tail && g.component[v] == g.component[g.edges[v].items[i].to->id])
                waits[g.component[v]] = true;
    for (uint32_t v = 0; v < count; v++) flow->functions.items[v]->recurses = waits[g.component[v]];
    find_components(&g, true);
    uint32_t *sizes = CT_NEW_ARRAY(flow->arena, uint32_t, g.components + 1);
    for (uint32_t v = 0; v < count; v++) sizes[g.component[v]]++;
    for (uint32_t v = 0; v < count; v++)
        flow->functions.items[v]->group = sizes[g.component[v]] > 1 ? g.component[v] : 0;
}

/* Functions that end in each other share their parameters. */
static bool share_places(CtFlow *flow) {
    bool changed = false;
    CtMap groups = {0};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        const CtFlowFunction *f = flow->functions.items[i];
        if (f->group != 0 && f->takes_place) ct_map_set(flow->arena, &groups, f->group, NULL);
    }
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *f = flow->functions.items[i];
        if (f->group == 0 || f->takes_place || !ct_map_has(&groups, f->group)) continue;
        f->takes_place = changed = true;
    }
    return changed;
}

static void find_places(CtFlow *flow) {
    Placing p = {flow, NULL, true};
    while (p.changed) {
        p.changed = share_places(flow);
        for (uint32_t i = flow->functions.count; i-- > 0;) {
            p.function = flow->functions.items[i];
            if (p.function->takes_place) continue;
            walk(&(CallWalk){place_call, place_step, &p}, p.function->body);
        }
    }
}

/* ---- what the entry reaches ---- */

typedef struct Reach {
    CtArena *arena;
    CT_VEC(CtFlowFunction *) todo;
} Reach;

static void reach(void *data, CtFlowFunction *callee, CtSpan span, bool tail) {
    (void)span, (void)tail;
    Reach *r = data;
    if (callee->reached) return;
    callee->reached = true;
    ct_push(r->arena, &r->todo, callee);
}

/* Functions that nothing calls go. */
static void drop_unreached(CtFlow *flow) {
    Reach r = {.arena = flow->arena};
    reach(&r, flow->entry, CT_NO_SPAN, false);
    while (r.todo.count > 0) {
        CtFlowFunction *function = r.todo.items[--r.todo.count];
        walk(&(CallWalk){reach, NULL, &r}, function->body);
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

static void find_door(void *data, CtFlowFunction *callee, CtSpan span, bool tail) {
    (void)span;
    const CtFlowFunction *caller = data;
    if (!tail || caller->group == 0 || caller->group != callee->group) callee->has_door = true;
}

void ct_flow_places(CtFlow *flow) {
    drop_unreached(flow);
    find_cycles(flow);
    find_places(flow);
    flow->entry->has_door = true;
    for (uint32_t i = 0; i < flow->constants.count; i++) flow->constants.items[i]->function->has_door = true;
    for (uint32_t i = 0; i < flow->functions.count; i++)
        walk(&(CallWalk){find_door, NULL, flow->functions.items[i]}, flow->functions.items[i]->body);
}
