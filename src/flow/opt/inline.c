/* Inlining. A call is replaced by the function's body if it is the only call, if the body is small, or, in a loop, if
 * it is not very large, because differentiation and vectorisation need loops without calls. The body of a function that
 * is differentiated, or that such a function calls, counts as that of a loop. A body of medium size stays a call where
 * inlining would bring neither: it calls others itself, takes no reals, and makes nodes without reals, as the
 * arithmetic of large integers does. Recursive functions are not inlined, but into one that ends with the only call of
 * them. Callees come before callers, so that an inlined body has been inlined into already.
 *
 * Failures keep their attribution. A step of the library reports the innermost call in the user's code: inlined at such
 * a call, it takes the call's source range. Inlined in the library, it keeps its own, and the call site that its
 * function received is the one that the caller receives. */
#include "flow/ad/adjoint.h"
#include "flow/opt/passes.h"

enum {                      /* bounds, in steps */
       SMALL = 12,          /* a body of at most this size is inlined everywhere */
       SMALL_IN_LOOP = 80,  /* and of at most this size in a loop */
       OPENS_IN_LOOP = 400, /* of this size in a loop, where it opens a node that is made in sight */
       LARGEST = 3000,      /* a function of this size takes in no others */
       SOME_GROWTH = 3000,  /* growth of the program, besides its own size */
};

typedef struct Inline {
    CtFlow *flow;
    CtFlowFunction *function;
    uint32_t *calls; /* number of calls of each function, by its number */
    uint32_t *sizes;
    uint32_t growth; /* steps by which the program may still grow */
    /* Functions that are not inlined: recursive, or with a custom derivative. Of these, the ones that call themselves
     * only by way of others: a caller that ends with the only call takes them in, and then calls itself. */
    bool *stays, *by_way;
    bool *derived; /* of which a derivative is taken, or that such a function calls: sweeps are made of its body */
    CtFlowFacts facts;
    CtFlowValues now;
} Inline;

/* ---- writing a body in ---- */

/* If a function's body is a switch on a parameter whose constructor is known at the call, as in the `apply` of a
 * function type: the branch for it. Else NULL. */
static const CtFlowBlock *known_part(const Inline *s, const CtFlowFunction *callee, const CtFlowArgs *args) {
    const CtFlowBlock *body = callee->body;
    const CtFlowStep *step = body->steps.count == 1 && body->exit == EXIT_NEVER ? body->steps.items[0] : NULL;
    if (step == NULL || step->kind != FLOW_SWITCH) return NULL;
    for (uint32_t i = 0; i < callee->params.count; i++) {
        const CtFlowStep *make = ct_flow_maker(&s->facts, &args->items[i], FLOW_MAKE);
        if (step->args.items[0].var != callee->params.items[i] || make == NULL) continue;
        for (uint32_t j = 0; j < step->as.cases.count; j++)
            if (step->as.cases.branches[j].tag == make->as.con.tag && CT_FIRED("inline.known_part"))
                return step->as.cases.branches[j].block;
    }
    return NULL;
}

static CtFlowBlock *copy_body(Inline *s, const CtFlowFunction *callee, const CtFlowArgs *args, CtSourceRange place) {
    const CtFlowBlock *body = known_part(s, callee, args);
    CtFlowCopy copy = {.flow = s->flow, .into = s->function, .place = place};
    for (uint32_t i = 0; i < callee->params.count; i++)
        ct_flow_copy_stands(&copy, callee->params.items[i], args->items[i]);
    CtFlowBlock *fresh = ct_flow_copy_block(&copy, body != NULL ? body : callee->body);
    uint32_t size = ct_flow_size(fresh);
    s->sizes[s->function->id] += size;
    if (s->calls[callee->id] > 1) s->growth -= size < s->growth ? size : s->growth;
    ct_flow_facts_add(&s->facts, fresh, 0);
    return fresh;
}

static CtFlowArgs fresh_results(CtFlow *flow, CtFlowFunction *function, CtFlowStep *step, const CtFlowTypes *types) {
    CtFlowArgs values = {0};
    for (uint32_t i = 0; i < types->count; i++) {
        CtFlowVar *var = ct_flow_fresh(flow, function, NULL, types->items[i]);
        ct_push(flow->arena, &step->results, var);
        ct_push(flow->arena, &values, flow_of(var));
    }
    return values;
}

void ct_flow_yield_instead(CtFlow *flow, CtFlowFunction *function, CtFlowBlock *block, const CtFlowTypes *types,
                           CtSourceRange range) {
    if (block->exit == EXIT_RETURN) {
        block->exit = EXIT_YIELD;
    } else if (block->exit == EXIT_TAIL) {
        CT_FIRED("inline.tail_becomes_call");
        CtFlowStep *call = CT_NEW(flow->arena, CtFlowStep);
        call->kind = FLOW_CALL;
        call->range = ct_flow_is_user(flow, block->range) ? block->range : range;
        call->as.function = block->tail;
        call->args = block->values;
        block->values = fresh_results(flow, function, call, types);
        block->exit = EXIT_YIELD;
        ct_push(flow->arena, &block->steps, call);
    } else if (block->exit == EXIT_NEVER && block->steps.count > 0) {
        CtFlowStep *last = block->steps.items[block->steps.count - 1];
        bool switches = false;
        for (uint32_t i = 0; last->kind == FLOW_SWITCH && i < last->as.cases.count; i++)
            switches |= ct_flow_leaves(last->as.cases.branches[i].block);
        if (!switches && CT_FIRED("inline.body_fails")) return; /* it fails */
        for (uint32_t i = 0; i < last->as.cases.count; i++)
            ct_flow_yield_instead(flow, function, last->as.cases.branches[i].block, types, range);
        block->values = fresh_results(flow, function, last, types);
        block->exit = EXIT_YIELD;
    }
}

/* ---- what is written in ---- */

/* Whether a body begins by opening a node that its caller makes, as the reverse sweep of straight-line code opens its
 * residual. Inlined, it needs no node, and what it is given is known: a pullback of unit vectors has few steps left. */
static bool opens_made_node(const Inline *s, const CtFlowFunction *callee, const CtFlowArgs *args) {
    const CtFlowStep *open = callee->body->steps.count > 0 ? callee->body->steps.items[0] : NULL;
    if (open == NULL || open->kind != FLOW_OPEN) return false;
    for (uint32_t i = 0; i < callee->params.count; i++)
        if (callee->params.items[i] == open->args.items[0].var)
            return ct_flow_maker(&s->facts, &args->items[i], FLOW_MAKE) != NULL && CT_FIRED("inline.opens");
    return false;
}

static void find_call(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    (void)range, (void)tail;
    if (!callee->is_cold_path) *(bool *)data = true;
}

/* Whether inlining a body into a loop gains nothing: it has calls, there is nothing to differentiate, and its results
 * are objects. Of a result that is an integer, a trip count say, passes may learn something. Such bodies would be
 * inlined into each other, and the code would grow with the product of their sizes. */
static bool gains_nothing(const Inline *s, const CtFlowFunction *callee) {
    for (uint32_t i = 0; i < callee->params.count; i++)
        if (ct_flow_has_reals(s->flow, callee->params.items[i]->type)) return false;
    for (uint32_t i = 0; i < callee->results.count; i++)
        if (callee->results.items[i]->kind != FLOW_NODE || ct_flow_has_reals(s->flow, callee->results.items[i]))
            return false;
    bool calls = false;
    ct_flow_each_call(callee->body, find_call, &calls);
    return calls && CT_FIRED("inline.stays_in_loop");
}

static bool is_wanted(const Inline *s, const CtFlowFunction *callee, const CtFlowArgs *args, bool in_loop) {
    if (callee->is_cold_path || s->function->is_cold_path) return false;
    uint32_t size = s->sizes[callee->id], own = s->sizes[s->function->id];
    const CtFlowBlock *part = known_part(s, callee, args);
    if (part != NULL && callee != s->function) return ct_flow_size(part) <= SMALL;
    if (callee == s->function || own + size > LARGEST) return false;
    if (s->stays[callee->id]) return s->calls[callee->id] == 1 && s->by_way[callee->id] && CT_FIRED("inline.by_way");
    if (s->calls[callee->id] == 1 && CT_FIRED("inline.once")) return true;
    if (size > s->growth) return false;
    if (in_loop && size > SMALL_IN_LOOP) return size <= OPENS_IN_LOOP && opens_made_node(s, callee, args);
    if (in_loop && size > SMALL) return !gains_nothing(s, callee) && CT_FIRED("inline.in_loop");
    return size <= SMALL && CT_FIRED("inline.small");
}

static void visit(Inline *s, CtFlowBlock *block, bool in_loop);

/* Inlines a call; false when control does not come out of the inlined body. */
static bool write_call(Inline *s, CtFlowBlock *block, const CtFlowStep *call) {
    const CtFlowFunction *callee = call->as.function;
    CtFlowBlock *body = copy_body(s, callee, &call->args, call->range);
    ct_flow_yield_instead(s->flow, s->function, body, &callee->results, call->range);
    for (uint32_t i = 0; i < body->steps.count; i++) ct_push(s->flow->arena, &block->steps, body->steps.items[i]);
    if (body->exit != EXIT_YIELD) return false;
    for (uint32_t i = 0; i < call->results.count; i++) {
        const CtFlowArg *value = &body->values.items[i];
        ct_flow_stands(&s->now, call->results.items[i], *value);
        if (value->var != NULL && value->var->name == NULL) value->var->name = call->results.items[i]->name;
    }
    return true;
}

static void write_tail(Inline *s, CtFlowBlock *block) {
    const CtFlowFunction *callee = block->tail;
    CT_FIRED("inline.tail");
    CtFlowBlock *body = copy_body(s, callee, &block->values, block->range);
    for (uint32_t i = 0; i < body->steps.count; i++) ct_push(s->flow->arena, &block->steps, body->steps.items[i]);
    block->exit = body->exit;
    block->values = body->values;
    block->tail = body->tail;
    block->range = body->range;
}

static void visit_inside(Inline *s, CtFlowStep *step, bool in_loop) {
    if (step->kind == FLOW_LOOP) visit(s, step->as.loop.block, true);
    for (uint32_t i = 0; step->kind == FLOW_SWITCH && i < step->as.cases.count; i++)
        visit(s, step->as.cases.branches[i].block, in_loop);
}

static void visit(Inline *s, CtFlowBlock *block, bool in_loop) {
    CtFlowBlock old = *block;
    memset(&block->steps, 0, sizeof block->steps);
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        ct_flow_rename(&s->now, &step->args);
        if (step->kind == FLOW_CALL && is_wanted(s, step->as.function, &step->args, in_loop)) {
            if (write_call(s, block, step)) continue;
            block->exit = EXIT_NEVER;
            block->values.count = 0;
            return;
        }
        visit_inside(s, step, in_loop);
        ct_push(s->flow->arena, &block->steps, step);
    }
    ct_flow_rename(&s->now, &block->values);
    if (block->exit == EXIT_TAIL && is_wanted(s, block->tail, &block->values, in_loop)) write_tail(s, block);
}

/* ---- the pass ---- */

typedef CT_VEC(CtFlowFunction *) Functions;

static void count_call(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    (void)range, (void)tail;
    ((Inline *)data)->calls[callee->id]++;
}

static void find_no_way(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    Inline *s = data;
    (void)range;
    if (callee == s->function || !tail) s->by_way[callee->id] = false;
}

static void find_derived(void *data, CtFlowStep *step) {
    if (ct_flow_is_derivative(step)) ((Inline *)data)->derived[step->as.derived->function->id] = true;
}

static void find_called(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    (void)range, (void)tail;
    ((Inline *)data)->derived[callee->id] = true;
}

void ct_flow_inline(CtFlow *flow) {
    ct_flow_drop_unreached(flow);
    uint32_t count = flow->functions.count;
    CtFlowCycles cycles = ct_flow_cycles(flow, false);
    Inline s = {.flow = flow,
                .calls = CT_NEW_ARRAY(flow->arena, uint32_t, count + 1),
                .growth = SOME_GROWTH,
                .sizes = CT_NEW_ARRAY(flow->arena, uint32_t, count + 1),
                .stays = CT_NEW_ARRAY(flow->arena, bool, count + 1),
                .by_way = CT_NEW_ARRAY(flow->arena, bool, count + 1),
                .derived = CT_NEW_ARRAY(flow->arena, bool, count + 1)};
    Functions *members = CT_NEW_ARRAY(flow->arena, Functions, cycles.count + 1);
    for (uint32_t i = 0; i < count; i++) s.by_way[i] = !ct_flow_is_separate(flow->functions.items[i]);
    for (uint32_t i = 0; i < count; i++) {
        CtFlowFunction *function = s.function = flow->functions.items[i];
        s.sizes[i] = ct_flow_size(function->body);
        s.growth += s.sizes[i];
        s.stays[i] = cycles.iterations[cycles.component[i]] || ct_flow_is_separate(function);
        ct_flow_each_call(function->body, count_call, &s);
        ct_flow_each_call(function->body, find_no_way, &s);
        ct_flow_each_step(function->body, find_derived, &s);
        ct_push(flow->arena, &members[cycles.component[i]], function);
    }
    for (uint32_t c = cycles.count; c > 0; c--)
        for (uint32_t i = 0; i < members[c].count; i++)
            if (s.derived[members[c].items[i]->id]) ct_flow_each_call(members[c].items[i]->body, find_called, &s);
    for (uint32_t c = 1; c <= cycles.count; c++)
        for (uint32_t i = 0; i < members[c].count; i++) {
            s.function = members[c].items[i];
            ct_flow_facts_begin(&s.facts, flow, s.function);
            ct_flow_values_clear(&s.now, flow->arena);
            visit(&s, s.function->body, s.derived[s.function->id]);
        }
    ct_flow_drop_unreached(flow);
}
