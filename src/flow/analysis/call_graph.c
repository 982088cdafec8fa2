/* The call graph: traversal and strongly connected components. */
#include "flow/analysis/analysis.h"

/* ---- walking ---- */

void ct_flow_each_step(CtFlowBlock *block, void (*on_step)(void *data, CtFlowStep *step), void *data) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        on_step(data, step);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            ct_flow_each_step(ct_flow_inner(step, j), on_step, data);
    }
}

uint32_t ct_flow_rule_functions(const CtFlowFunction *function, CtFlowFunction **functions) {
    const CtFlowRule *rule = function->rule;
    uint32_t count = 0;
    if (rule == NULL) return count;
    CtFlowFunction *const all[CT_FLOW_RULE_FUNCTIONS] = {rule->f, rule->by_slope, rule->by_pair, rule->pull,
                                                         rule->by_tangent};
    for (uint32_t i = 0; i < CT_FLOW_RULE_FUNCTIONS; i++)
        if (all[i] != NULL) functions[count++] = all[i];
    return count;
}

static void fix(void *fixed, CtFlowStep *step) {
    bool *by_id = fixed;
    if (step->kind == FLOW_CONSTANT) by_id[step->as.constant->function->id] = true;
    if (ct_flow_is_derivative(step)) by_id[step->as.derived->function->id] = true;
}

/* Differentiation calls the functions of a rule, and relies on their parameters. */
static void fix_rule(bool *fixed, const CtFlowFunction *function) {
    CtFlowFunction *functions[CT_FLOW_RULE_FUNCTIONS];
    for (uint32_t i = ct_flow_rule_functions(function, functions); i-- > 0;) fixed[functions[i]->id] = true;
    if (function->rule != NULL) fixed[function->id] = true;
}

bool *ct_flow_fixed_functions(CtFlow *flow) {
    bool *fixed = CT_NEW_ARRAY(flow->arena, bool, flow->functions.count + 1);
    fixed[flow->entry->id] = true;
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        ct_flow_each_step(flow->functions.items[i]->body, fix, fixed);
        fix_rule(fixed, flow->functions.items[i]);
    }
    return fixed;
}

/* A function with a custom derivative also calls what its derivatives will call. */
static void on_callee(CtFlowOnCall *on_call, void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    CtFlowFunction *more[CT_FLOW_RULE_FUNCTIONS];
    on_call(data, callee, range, tail);
    for (uint32_t i = ct_flow_rule_functions(callee, more); i-- > 0;) on_call(data, more[i], range, false);
}

void ct_flow_each_call(CtFlowBlock *block, CtFlowOnCall *on_call, void *data) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_CALL) on_callee(on_call, data, step->as.function, step->range, false);
        if (step->kind == FLOW_CONSTANT) on_call(data, step->as.constant->function, step->range, false);
        if (ct_flow_is_derivative(step)) on_call(data, step->as.derived->function, step->range, false);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            ct_flow_each_call(ct_flow_inner(step, j), on_call, data);
    }
    if (block->exit == EXIT_TAIL) on_callee(on_call, data, block->tail, block->range, true);
}

/* ---- cycles: Tarjan's components, with a stack of our own ---- */

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
    uint32_t from; /* number of edges seen while they are collected */
} Graph;

static void add_edge(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    (void)range;
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

CtFlowCycles ct_flow_cycles(CtFlow *flow, bool tails_only) {
    uint32_t count = flow->functions.count;
    Graph g = {.flow = flow, .edges = CT_NEW_ARRAY(flow->arena, Edges, count + 1)};
    for (g.from = 0; g.from < count; g.from++) ct_flow_each_call(flow->functions.items[g.from]->body, add_edge, &g);
    find_components(&g, tails_only);
    CtFlowCycles cycles = {g.component, g.components, CT_NEW_ARRAY(flow->arena, bool, g.components + 1),
                           CT_NEW_ARRAY(flow->arena, bool, g.components + 1)};
    for (uint32_t v = 0; v < count; v++)
        for (uint32_t i = 0; i < g.edges[v].count; i++) {
            const Edge *edge = &g.edges[v].items[i];
            uint32_t within = g.component[v];
            if (within != g.component[edge->to->id] || (tails_only && !edge->tail)) continue;
            cycles.iterations[within] = true;
            cycles.waits[within] |= !edge->tail;
        }
    return cycles;
}
