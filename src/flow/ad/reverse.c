/* Reverse mode on Flow, source to source.
 *
 * The reverse of a function consists of a forward sweep, which is its body, and a reverse sweep, which is its body from
 * the last step to the first. They become two functions:
 *
 *   forward  : the parameters → the results, a residual
 *   backward : the residual, the cotangents of the results, accumulators of the active parameters → the accumulators
 *
 * backward is written first, in terms of the forward sweep's variables. The variables that it uses become the residual:
 * the fields of a node type made for the function, with a constructor for each exit of the function (residuals.c). So
 * straight-line code stores only what the derivative needs, a branch records which way it went, and the residual of a
 * recursive function contains those of its calls (reverse_calls.c).
 *
 * The cotangent of a scalar is a sum of contributions. Cotangents of nodes and arrays are accumulators that are passed
 * from use to use and updated in place, so that reading x[i] becomes acc[i] += d, and what is not used costs nothing
 * (accumulators.c; CHAD §4.2, §5). The output is Flow, which the same passes can differentiate again.
 *
 * Functions that tail-call each other form a loop. Their forward sweep carries a trail: a list of the residuals of all
 * iterations so far. Their reverse sweep unwinds the trail by tail calls, without using stack. */
#include "flow/ad/reverse.h"
#include "flow/analysis/analysis.h"

typedef struct Looper { /* a function of a tail-call group */
    CtFlowFunction *function, *forward;
    /* (trail, accumulators of the active parameters, further accumulators of the entry) → accumulators of the entry. */
    CtFlowFunction *unwind;
    Active *active;
    uint32_t arrivals; /* number of exits that tail-call this function */
} Looper;

typedef struct Group {
    Variant *entry;
    CT_VEC(Looper) members;
    bool iterations;
    const CtFlowType *trail;
    CtFlowFunction *backward;
    uint32_t returns, cotangents; /* number of exits that return; number of results with cotangents */
    bool *same; /* of the parameters of the entry: passed on unchanged in all iterations, so that one accumulator serves
                   all; none if the group has several functions */
} Group;

static Looper *member_of(Group *g, const CtFlowFunction *function) {
    for (uint32_t i = 0; i < g->members.count; i++)
        if (g->members.items[i].function == function) return &g->members.items[i];
    return NULL;
}

static Looper *entry_of(Group *g) { return member_of(g, g->entry->function); }

/* ---- who ends in whom ---- */

typedef void OnEnd(void *data, CtFlowBlock *block);

static void each_end(CtFlowBlock *block, OnEnd *on_end, void *data) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) each_end(ct_flow_inner(step, j), on_end, data);
    }
    if (block->exit == EXIT_TAIL || block->exit == EXIT_RETURN) on_end(data, block);
}

typedef struct Search {
    CtArena *arena;
    CtMap seen;
    CT_VEC(CtFlowFunction *) found;
} Search;

static void find_target(void *data, CtFlowBlock *block) {
    Search *s = data;
    if (block->exit != EXIT_TAIL || ct_map_has(&s->seen, ct_key(block->tail))) return;
    ct_map_set(s->arena, &s->seen, ct_key(block->tail), NULL);
    ct_push(s->arena, &s->found, block->tail);
}

static Search reachable(CtArena *arena, CtFlowFunction *from) {
    Search s = {.arena = arena};
    each_end(from->body, find_target, &s);
    for (uint32_t i = 0; i < s.found.count; i++) each_end(s.found.items[i]->body, find_target, &s);
    return s;
}

static void find_members(CtArena *arena, Group *g) {
    CtFlowFunction *entry = g->entry->function;
    Search s = reachable(arena, entry);
    g->iterations = ct_map_has(&s.seen, ct_key(entry));
    ct_push(arena, &g->members, (Looper){.function = entry, .active = g->entry->active});
    for (uint32_t i = 0; g->iterations && i < s.found.count; i++) {
        CtFlowFunction *other = s.found.items[i];
        Search back = reachable(arena, other);
        if (other == entry || !ct_map_has(&back.seen, ct_key(entry))) continue;
        ct_push(arena, &g->members,
                (Looper){.function = other, .active = CT_NEW_ARRAY(arena, Active, other->params.count + 1)});
    }
}

/* ---- what is active in which function, and what is passed on ---- */

typedef struct Ends {
    Group *g;
    Looper *member;
    Active *on; /* the active variables of the member, by number */
    bool changed;
} Ends;

static void count_end(void *data, CtFlowBlock *block) {
    Ends *e = data;
    Looper *target = block->exit == EXIT_TAIL ? member_of(e->g, block->tail) : NULL;
    if (target == NULL) {
        e->g->returns++;
        return;
    }
    target->arrivals++;
    for (uint32_t i = 0; i < block->values.count && e->g->members.count == 1; i++)
        if (block->values.items[i].var != target->function->params.items[i]) e->g->same[i] = false;
}

/* Whether an argument is also passed further to the left. */
static bool is_passed_before(const CtFlowArgs *args, uint32_t index) {
    for (uint32_t i = 0; i < index; i++)
        if (args->items[i].var == args->items[index].var) return true;
    return false;
}

static bool is_param(const CtFlowFunction *function, const CtFlowVar *var) {
    for (uint32_t i = 0; i < function->params.count; i++)
        if (function->params.items[i] == var) return true;
    return false;
}

static void spread_end(void *data, CtFlowBlock *block) {
    Ends *e = data;
    Looper *target = block->exit == EXIT_TAIL ? member_of(e->g, block->tail) : NULL;
    for (uint32_t i = 0; target != NULL && i < block->values.count; i++) {
        const CtFlowVar *var = block->values.items[i].var;
        if (var == NULL) continue;
        Active as = e->on[var->id];
        bool another = is_passed_before(&block->values, i) || is_param(e->member->function, var);
        if (another && !(target == entry_of(e->g) && e->g->same[i])) as = ct_flow_reverse_another(var, as);
        if (as <= target->active[i]) continue;
        target->active[i] = as;
        e->changed = true;
    }
}

static void find_activity(CtFlow *flow, Group *g) {
    uint32_t count = g->entry->function->params.count;
    g->same = CT_NEW_ARRAY(flow->arena, bool, count + 1);
    for (uint32_t i = 0; i < count; i++) g->same[i] = g->iterations && g->members.count == 1;
    for (uint32_t i = 0; i < g->members.count; i++)
        each_end(g->members.items[i].function->body, count_end, &(Ends){.g = g});
    bool changed = g->iterations;
    while (changed) {
        changed = false;
        for (uint32_t i = 0; i < g->members.count; i++) {
            Looper *m = &g->members.items[i];
            Ends e = {g, m, CT_NEW_ARRAY(flow->arena, Active, m->function->vars + 1), false};
            ct_flow_reverse_activity(flow, m->function, m->active, e.on);
            each_end(m->function->body, spread_end, &e);
            changed |= e.changed;
        }
    }
}

/* ---- declaring ---- */

static void add_type(CtFlow *flow, CtFlowTypes *types, const CtFlowType *type) {
    CtFlowTypes one = {.items = &type, .count = 1};
    ct_flow_types_add(flow, types, &one);
}

static CtFlowTypes adjoint_params(CtFlow *flow, const Looper *m, const bool *but) {
    CtFlowTypes types = {0};
    for (uint32_t i = 0; i < m->function->params.count; i++)
        if (m->active[i] && (but == NULL || !but[i]))
            add_type(flow, &types, ct_flow_reverse_handed_type(flow, m->function->params.items[i]->type, m->active[i]));
    return types;
}

static CtFlowTypes adjoint_results(CtFlow *flow, const CtFlowFunction *function) {
    CtFlowTypes types = {0};
    for (uint32_t i = 0; i < function->results.count; i++)
        if (ct_flow_is_active(flow, function->results.items[i]))
            add_type(flow, &types, ct_flow_reverse_result_type(flow, function, i));
    return types;
}

static CtFlowFunction *declare(CtFlow *flow, const CtFlowFunction *of, const char *what) {
    return ct_flow_function(flow, ct_format(flow->arena, "%s %s", of->name, what), of->range);
}

/* Begins a function with these parameters, which are returned as one sequence. */
static CtFlowArgs begin_function(CtFlow *flow, CtFlowFunction *function, const char *const *names,
                                 const CtFlowTypes *const *params, uint32_t count) {
    CtFlowBuilder l = {.flow = flow, .arena = flow->arena, .function = function};
    CtFlowArgs all = {0};
    function->body = ct_flow_block(&l);
    for (uint32_t i = 0; i < count; i++) {
        CtFlowArgs args = ct_flow_params(&l, &function->params, names[i], params[i]);
        ct_flow_args_add(&l, &all, &args);
    }
    return all;
}

static void declare_group(CtFlow *flow, Group *g) {
    CtFlowFunction *function = g->entry->function;
    CtFlowTypes trail = {0}, results = adjoint_results(flow, function), none = {0};
    g->cotangents = results.count;
    g->trail = ct_flow_node_new(flow, ct_format(flow->arena, "residual of %s", function->name), NULL);
    add_type(flow, &trail, g->trail);
    CtFlowTypes params = adjoint_params(flow, entry_of(g), NULL), kept = adjoint_params(flow, entry_of(g), g->same);
    if (g->iterations) ct_flow_con_add(flow, g->trail->data, "start", &none);
    g->backward = g->entry->pair.backward = declare(flow, function, "backward");
    g->backward->results = params;
    g->backward->ends = true; /* its recursion ends, because a residual is finite */
    begin_function(flow, g->backward, (const char *[]){"residual", "dy", "dx"},
                   (const CtFlowTypes *[]){&trail, &results, &params}, 3);
    g->entry->pair.accumulates = CT_NEW_ARRAY(flow->arena, bool, function->params.count + 1);
    for (uint32_t i = 0; i < function->params.count; i++)
        g->entry->pair.accumulates[i] = g->entry->active[i] != ACTIVE_NOT;
    g->entry->pair.forward = declare(flow, function, "forward");
    g->entry->pair.forward->results = function->results;
    ct_flow_types_add(flow, &g->entry->pair.forward->results, &trail);
    for (uint32_t i = 0; i < g->members.count; i++) {
        Looper *m = &g->members.items[i];
        m->forward = g->entry->pair.forward;
        if (!g->iterations) continue;
        m->forward = declare(flow, m->function, "iterations");
        m->forward->results = g->entry->pair.forward->results;
        m->unwind = declare(flow, m->function, "unwind");
        m->unwind->results = params;
        m->unwind->ends = true;
        CtFlowTypes own = adjoint_params(flow, m, NULL);
        begin_function(flow, m->unwind, (const char *[]){"trail", "dx", "before"},
                       (const CtFlowTypes *[]){&trail, &own, &kept}, 3);
    }
}

/* A function that has so many variants gets one more, for all its parameters: there are 2^k of k of them. */
enum { MOST_VARIANTS = 16 };

/* Adds all parameters where the variant is another one than those that there are, and these are many. */
static void bound_variants(CtFlow *flow, const CtFlowFunction *function, Active *active) {
    const CtFlowAdjoints *made = ct_flow_adjoints(flow);
    uint32_t variants = 0, count = function->params.count;
    for (uint32_t i = 0; i < made->variants.count; i++) {
        const Variant *known = made->variants.items[i];
        if (known->function != function) continue;
        if (memcmp(known->asked, active, count * sizeof *active) == 0) return;
        variants++;
    }
    if (variants < MOST_VARIANTS) return;
    CT_FIRED("reverse.many_variants");
    for (uint32_t i = 0; i < count; i++) {
        const CtFlowVar *param = function->params.items[i];
        bool counts = function->rule == NULL || ct_flow_rule_counts(function->rule, i);
        if (counts && ct_flow_is_active(flow, param->type)) active[i] = ct_flow_reverse_another(param, ACTIVE_OWN);
    }
}

static Variant *variant_of(CtFlow *flow, CtFlowFunction *function, const Active *active, bool again) {
    CtFlowAdjoints *made = ct_flow_adjoints(flow);
    uint32_t count = function->params.count;
    for (uint32_t i = 0; i < made->variants.count; i++) {
        Variant *known = made->variants.items[i];
        if (known->function == function && known->again == again &&
            memcmp(known->asked, active, count * sizeof *active) == 0)
            return known;
    }
    Variant *v = CT_NEW(flow->arena, Variant);
    v->function = function;
    v->again = again;
    v->asked = CT_NEW_ARRAY(flow->arena, Active, count + 1);
    v->active = CT_NEW_ARRAY(flow->arena, Active, count + 1);
    memcpy(v->asked, active, count * sizeof *active);
    memcpy(v->active, active, count * sizeof *active);
    /* The accumulators of captured variables go to the derivative of f, which takes those of arrays as bags, or would.
     */
    for (uint32_t i = 0; function->rule != NULL && i < function->rule->own; i++)
        v->active[i] = ct_flow_reverse_another(function->params.items[i], v->active[i]);
    v->group = CT_NEW(flow->arena, Group);
    v->group->entry = v;
    ct_push(flow->arena, &made->variants, v);
    find_members(flow->arena, v->group);
    for (uint32_t i = 0; i < v->group->members.count; i++)
        ct_flow_reverse_late_updates(flow, v->group->members.items[i].function);
    find_activity(flow, v->group);
    declare_group(flow, v->group);
    return v;
}

Variant *ct_flow_reverse_variant(CtFlow *flow, CtFlowFunction *function, const Active *active) {
    return variant_of(flow, function, active, function->is_checkpoint);
}

Variant *ct_flow_reverse_stored(CtFlow *flow, CtFlowFunction *function, const Active *active) {
    return variant_of(flow, function, active, false);
}

/* ---- calls of the forward sweep ---- */

static void call_variant(Reverse *r, CtFlowBlock *block, CtFlowStep *step) {
    CtFlowFunction *callee = step->as.function;
    Active *active = CT_NEW_ARRAY(r->arena, Active, step->args.count + 1);
    bool any = false, any_result = false;
    for (uint32_t i = 0; i < step->args.count; i++) {
        bool counts = callee->rule == NULL || ct_flow_rule_counts(callee->rule, i);
        if (!counts || !ct_flow_reverse_is_active(r, step->args.items[i])) continue;
        const CtFlowVar *var = step->args.items[i].var;
        active[i] = r->active.items[var->id];
        if (is_passed_before(&step->args, i)) active[i] = ct_flow_reverse_another(var, active[i]);
        any = true;
    }
    for (uint32_t i = 0; i < callee->results.count; i++)
        any_result |= ct_flow_is_active(r->flow, callee->results.items[i]);
    if (!any || !any_result || ct_flow_reverse_by_slope(r, block, step, active)) return;
    bound_variants(r->flow, callee, active);
    Variant *variant = ct_flow_reverse_variant(r->flow, callee, active);
    const CtFlowTypes *results = &variant->pair.forward->results;
    step->as.function = variant->pair.forward;
    CtFlowVar *residual = ct_flow_reverse_forward_var(r, "residual", results->items[results->count - 1], block, step);
    ct_push(r->arena, &step->results, residual);
    ct_map_set(r->arena, &r->calls, ct_key(step), variant);
}

static void call_variants(Reverse *r, CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_CALL) call_variant(r, block, step);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) call_variants(r, ct_flow_inner(step, j));
    }
}

/* ---- the way from an end back to the start of a function ---- */

typedef struct Writing { /* state while the sweeps of a member are written */
    Reverse *r;
    Group *g;
    Looper *member;
    CtFlowVar *trail; /* a parameter of the forward sweep, in groups that loop */
} Writing;

typedef struct Path {
    const struct Path *outer;
    CtFlowBlock *block;
} Path;

/* The block that reverses one of the exits that lead to a function: a branch for a residual constructor, or the whole
 * body. */
static CtFlowBlock *block_for_end(const Writing *w, CtFlowFunction *function, uint32_t arrivals, uint32_t tag) {
    CtFlowBuilder *b = &w->r->b;
    b->function = function;
    if (arrivals == 1) return function->body;
    if (function->body->steps.count == 0) {
        b->block = function->body;
        CtFlowChoosing choice = ct_flow_switch_begin(b, function->range, flow_of(function->params.items[0]));
        choice.step->as.cases.count = 0;
        function->body->exit = EXIT_NEVER;
    }
    CtFlowChoosing choice = {.step = function->body->steps.items[0], .outer = function->body};
    ct_flow_case_begin(b, &choice, tag);
    return b->block;
}

static CtFlowArg param(const CtFlowFunction *function, uint32_t index) {
    return flow_of(function->params.items[index]);
}

/* Collects the accumulated adjoints of the parameters, at an exit of the backward function. */
static CtFlowArgs take_params(Writing *w) {
    CtFlowArgs args = {0};
    const CtFlowVars *params = &w->member->forward->params;
    for (uint32_t i = 0; i < w->member->function->params.count; i++) {
        if (!w->member->active[i]) continue;
        CtFlowArg of = flow_of(params->items[i]);
        const CtFlowType *type = ct_flow_reverse_handed_type(w->r->flow, of.type, w->member->active[i]);
        CtFlowArg d = ct_flow_reverse_take_as(w->r, of, type, NULL);
        ct_push(w->r->arena, &args, ct_flow_is_none(d) ? ct_flow_zero(&w->r->b, type) : d);
    }
    return args;
}

/* Binds the accumulators that the caller passed for parameters of the entry; those that all iterations share are used
 * directly. */
static void start_accumulators(Writing *w) {
    uint32_t next = 1 + w->g->cotangents;
    bool is_entry = w->member == entry_of(w->g);
    for (uint32_t i = 0; i < w->member->function->params.count; i++) {
        if (!w->member->active[i]) continue;
        CtFlowArg of = flow_of(w->member->forward->params.items[i]);
        if (!w->g->iterations || (is_entry && w->g->same[i]))
            ct_flow_reverse_give(w->r, CT_NO_RANGE, of, param(w->g->backward, next), false);
        next++;
    }
}

static void give_results(Writing *w, const CtFlowBlock *end) {
    uint32_t next = 1;
    for (uint32_t i = 0; i < end->values.count; i++)
        if (ct_flow_is_active(w->r->flow, w->g->entry->function->results.items[i]))
            ct_flow_reverse_give(w->r, end->range, end->values.items[i], param(w->g->backward, next++), false);
}

static void give_arguments(Writing *w, const CtFlowBlock *end, const Looper *target) {
    uint32_t next = 1;
    for (uint32_t i = 0; i < end->values.count; i++)
        if (target->active[i])
            ct_flow_reverse_give(w->r, end->range, end->values.items[i], param(target->unwind, next++), false);
}

/* Opens the residual at the start: its fields become the values of forward-sweep variables. */
static void open_residual(Writing *w, Scope *scope, uint32_t tag, CtFlowVar *trail) {
    CtFlowBuilder *b = &w->r->b;
    CtFlowStep *open = ct_flow_step(b, FLOW_OPEN, b->function->range);
    open->as.con.data = w->g->trail->data;
    open->as.con.tag = tag;
    ct_flow_arg(b, open, param(b->function, 0));
    for (uint32_t i = 0; i < scope->stored.count; i++)
        ct_push(w->r->arena, &open->results, ct_map_get(&scope->known, scope->stored.items[i]->id));
    if (trail != NULL) ct_push(w->r->arena, &open->results, trail);
}

/* At each exit the forward sweep makes its residual; it is returned, or passed on with the trail to the next
 * iteration. */
static void make_residual(Writing *w, CtFlowBlock *end, const Scope *scope, uint32_t tag) {
    CtFlowBuilder *f = &w->r->f;
    CtFlowArgs fields = {0};
    CtFlowTypes types = {0};
    CtFlowExit exit = end->exit;
    for (uint32_t i = 0; i < scope->stored.count; i++) ct_push(w->r->arena, &fields, flow_of(scope->stored.items[i]));
    if (w->trail != NULL) ct_push(w->r->arena, &fields, flow_of(w->trail));
    for (uint32_t i = 0; i < fields.count; i++) add_type(w->r->flow, &types, fields.items[i].type);
    ct_flow_con_add(w->r->flow, w->g->trail->data, exit == EXIT_TAIL ? "iteration" : "end", &types);
    f->block = end;
    end->exit = EXIT_OPEN;
    CtFlowArg residual = ct_flow_node_make(f, end->range, w->g->trail, tag, &fields);
    end->exit = exit;
    ct_push(w->r->arena, &end->values, residual);
}

/* Ends a reverse sweep: functions outside a loop return, the others continue to unwind the trail. */
static void leave(Writing *w, const CtFlowArgs *accumulated, CtFlowVar *trail, bool returned) {
    CtFlowBuilder *b = &w->r->b;
    if (!w->g->iterations) {
        ct_flow_leave(b, EXIT_RETURN, b->function->range, accumulated, NULL);
        return;
    }
    CtFlowArgs args = {0};
    ct_push(w->r->arena, &args, flow_of(trail));
    ct_flow_args_add(b, &args, accumulated);
    const Looper *entry = entry_of(w->g);
    uint32_t kept = 0, next = 1 + w->g->cotangents;
    for (uint32_t i = 0; i < entry->function->params.count; i++) kept += entry->active[i] && !w->g->same[i];
    if (!returned) next = b->function->params.count - kept; /* they are the last parameters */
    for (uint32_t i = 0; i < entry->function->params.count; i++) {
        if (!entry->active[i]) continue;
        if (!w->g->same[i]) ct_push(w->r->arena, &args, param(b->function, next));
        next += returned || !w->g->same[i];
    }
    ct_flow_leave(b, EXIT_TAIL, b->function->range, &args, w->member->unwind);
}

/* Adds the blocks on the path from the body to the exit. */
static void add_blocks(Reverse *r, Scope *scope, const Path *path) {
    if (path->outer != NULL) add_blocks(r, scope, path->outer);
    ct_push(r->arena, &scope->forward, path->block);
    ct_map_set(r->arena, &r->scopes, ct_key(path->block), scope);
}

/* Writes the reverse sweep for one exit of the function, back to its start. */
static void write_end(Writing *w, const Path *path) {
    Reverse *r = w->r;
    CtFlowBlock *end = path->block;
    Looper *target = end->exit == EXIT_TAIL ? member_of(w->g, end->tail) : NULL;
    uint32_t tag = w->g->trail->data->count;
    CtFlowBlock *place = target == NULL
                             ? block_for_end(w, w->g->backward, w->g->returns, tag)
                             : block_for_end(w, target->unwind, target->arrivals + (target == entry_of(w->g)), tag);
    r->scopes = (CtMap){0};
    Scope *scope = ct_flow_reverse_scope(r, SCOPE_PATH, NULL, ct_flow_block(&r->b));
    add_blocks(r, scope, path);
    ct_flow_reverse_enter(r, scope);
    if (target == NULL) {
        start_accumulators(w);
        give_results(w, end);
    } else {
        give_arguments(w, end, target);
    }
    ct_flow_reverse_steps(r, end, end->steps.count);
    for (const Path *p = path->outer; p != NULL; p = p->outer)
        ct_flow_reverse_steps(r, p->block, p->block->steps.count - 1);
    CtFlowVar *trail = w->g->iterations ? ct_flow_var(&r->b, "trail", w->g->trail) : NULL;
    CtFlowArgs accumulated = take_params(w);
    leave(w, &accumulated, trail, target == NULL);
    ct_flow_reverse_settle(r, scope);
    r->b.block = place;
    open_residual(w, scope, tag, trail);
    ct_flow_reverse_repeat(r, scope);
    *place = *scope->backward;
    make_residual(w, end, scope, tag);
    if (target != NULL) end->tail = target->forward;
}

static void write_ends(Writing *w, const Path *path) {
    CtFlowBlock *block = path->block;
    const CtFlowStep *last = ct_flow_last_switch(block);
    for (uint32_t i = 0; last != NULL && i < last->as.cases.count; i++)
        write_ends(w, &(Path){path, last->as.cases.branches[i].block});
    if (block->exit == EXIT_RETURN || block->exit == EXIT_TAIL) write_end(w, path);
}

/* ---- functions ---- */

static void write_member(CtFlow *flow, Group *g, Looper *m) {
    Reverse *r = CT_NEW(flow->arena, Reverse);
    *r = (Reverse){.flow = flow, .arena = flow->arena, .b = {.flow = flow, .arena = flow->arena}};
    Writing w = {.r = r, .g = g, .member = m};
    CtReverseTails tails = {CT_NEW_ARRAY(flow->arena, CtFlowFunction *, g->members.count),
                            g->iterations ? g->members.count : 0};
    for (uint32_t i = 0; i < g->members.count; i++) tails.items[i] = g->members.items[i].function;
    ct_flow_reverse_copy(r, m->function, m->forward, m->active, &tails);
    if (g->iterations) {
        w.trail = ct_flow_var(&r->f, "trail", g->trail);
        ct_push(flow->arena, &m->forward->params, w.trail);
    }
    call_variants(r, m->forward->body);
    write_ends(&w, &(Path){NULL, m->forward->body});
}

/* At the start of the trail: combines what the iterations accumulated with the caller's accumulators. */
static void write_start(CtFlow *flow, Group *g) {
    Looper *entry = entry_of(g);
    CtFlowFunction *unwind = entry->unwind;
    CtFlowBuilder l = {.flow = flow, .arena = flow->arena, .function = unwind, .block = unwind->body};
    CtFlowArgs all = {0};
    uint32_t own = 1, kept = 1;
    for (uint32_t i = 0; i < entry->function->params.count; i++) kept += entry->active[i] != ACTIVE_NOT;
    if (unwind->body->steps.count == 0) ct_flow_switch_begin(&l, CT_NO_RANGE, param(unwind, 0));
    CtFlowChoosing choice = {.step = unwind->body->steps.items[0], .outer = unwind->body};
    ct_flow_case_begin(&l, &choice, 0);
    for (uint32_t i = 0; i < entry->function->params.count; i++) {
        if (!entry->active[i]) continue;
        CtFlowArg d = param(unwind, own++);
        ct_push(flow->arena, &all,
                g->same[i] && CT_FIRED("reverse.same_in_all_iterations")
                    ? d
                    : ct_flow_add(&l, CT_NO_RANGE, param(unwind, kept++), d));
    }
    ct_flow_leave(&l, EXIT_RETURN, CT_NO_RANGE, &all, NULL);
    unwind->body->exit = EXIT_NEVER;
}

/* ⟨a⟩ → the first iteration, with an empty trail. */
static void write_entry(CtFlow *flow, Group *g) {
    CtFlowFunction *forward = g->entry->pair.forward;
    CtFlowBuilder l = {.flow = flow, .arena = flow->arena, .function = forward};
    l.block = forward->body = ct_flow_block(&l);
    CtFlowArgs args = {0};
    for (uint32_t i = 0; i < g->entry->function->params.count; i++) {
        const CtFlowVar *like = g->entry->function->params.items[i];
        CtFlowVar *var = ct_flow_var(&l, like->name, like->type);
        ct_push(flow->arena, &forward->params, var);
        ct_push(flow->arena, &args, flow_of(var));
    }
    ct_push(flow->arena, &args, ct_flow_node_make(&l, CT_NO_RANGE, g->trail, 0, NULL));
    ct_flow_leave(&l, EXIT_TAIL, CT_NO_RANGE, &args, entry_of(g)->forward);
}

/* The sweeps of a function that never returns. */
static void write_never(CtFlowFunction *function) {
    if (function->body->exit == EXIT_OPEN && CT_FIRED("reverse.never_comes_back")) function->body->exit = EXIT_NEVER;
}

/* Tells later passes which functions are the sweeps of one. */
static void tell_sweeps(CtFlow *flow, const Group *g) {
    const Looper *entry = &g->members.items[0];
    CtFlowSweeps *sweeps = CT_NEW(flow->arena, CtFlowSweeps);
    *sweeps = (CtFlowSweeps){.forward = g->entry->pair.forward, .backward = g->backward, .cotangents = g->cotangents};
    sweeps->shared = CT_NEW_ARRAY(flow->arena, bool, entry->function->params.count + 1);
    for (uint32_t i = 0, next = 0; i < entry->function->params.count; i++)
        if (entry->active[i]) sweeps->shared[next++] = g->same[i];
    if (g->iterations) {
        sweeps->iterations = entry->forward;
        sweeps->unwind = entry->unwind;
    }
    sweeps->forward->sweeps = sweeps;
}

static void write_variant(CtFlow *flow, Variant *v) {
    Group *g = v->group;
    if (v->function->rule != NULL) {
        ct_flow_reverse_rule(flow, v);
        return;
    }
    if (v->again) {
        ct_flow_reverse_checkpoint(flow, v);
        return;
    }
    if (g->iterations && g->members.count > 1) CT_FIRED("reverse.group");
    if (g->iterations && CT_FIRED("reverse.iterations")) write_entry(flow, g);
    for (uint32_t i = 0; i < g->members.count && flow->refused == NULL; i++)
        write_member(flow, g, &g->members.items[i]);
    if (g->iterations && flow->refused == NULL) write_start(flow, g);
    write_never(g->backward);
    if (g->members.count == 1) tell_sweeps(flow, g);
}

const CtFlowReverse *ct_flow_reverse(CtFlow *flow, CtFlowFunction *f, uint32_t captured) {
    ct_flow_refuse_high_ranks(flow);
    if (flow->refused != NULL) return NULL;
    CtFlowAdjoints *made = ct_flow_adjoints(flow);
    Active *active = CT_NEW_ARRAY(flow->arena, Active, f->params.count + 1);
    for (uint32_t i = captured; i < f->params.count; i++)
        if (ct_flow_is_active(flow, f->params.items[i]->type)) active[i] = ACTIVE_OWN;
    Variant *variant = ct_flow_reverse_variant(flow, f, active);
    while (made->written < made->variants.count && flow->refused == NULL)
        write_variant(flow, made->variants.items[made->written++]);
    return flow->refused == NULL ? &variant->pair : NULL;
}
