/* Lists that are accumulated and then turned round are made from the front.
 *
 *     go (xs, done):                          go (xs, first, last):
 *       ⟨front⟩                                 ⟨front⟩
 *       switch …                                switch …
 *         d = make : x, done                      c = make : x, [];  l = link last, c
 *         tail go rest, d              →          tail go rest, first, l
 *         tail reverse done, end                  link last, end;  r = open first
 *                                                 return r
 *     go xs, []                               o = make open []
 *                                             go xs, o, o
 *
 * An accumulator is held by two variables: a node whose field is the list, and the last cell, or that node as long as
 * there is no cell. `link` puts a cell behind the last one. So a list is written once, in its order.
 *
 * A variable is an accumulator if all that reaches it is one, or the empty list, and all that is done with it is to put
 * a cell in front of it, to pass it on to a variable that is an accumulator, and to turn it round; and if no path
 * through its function does so twice. All variables are taken for accumulators first; those that are not are dropped,
 * until none is left that the others contradict. */
#include "flow/opt/passes.h"

typedef struct Function { /* by variable number: */
    bool *holds;          /* it is an accumulator */
    bool *empty;          /* it is the empty list */
    CtFlowArg *first, *last;
} Function;

typedef struct Destinations {
    CtFlow *flow;
    bool *fixed, *reverses; /* by function number */
    bool **held;            /* by function number, and by the number of a parameter: it is an accumulator */
    Function *functions;
    Function *own; /* the present one */
    CtFlowFunction *function;
    bool changed;
    CtMap opens; /* CtFlowData * of a list -> type of the node that holds a list that is being made */
} Destinations;

/* ---- which variables are accumulators ---- */

static void drop(Destinations *d, Function *of, const CtFlowVar *var) {
    if (var == NULL || !of->holds[var->id]) return;
    of->holds[var->id] = false;
    d->changed = true;
}

static void drop_arg(Destinations *d, const CtFlowArg *arg) { drop(d, d->own, arg->var); }
static bool holds(const Destinations *d, const CtFlowVar *var) { return var != NULL && d->own->holds[var->id]; }

/* A value goes to a variable. */
static void flow_to(Destinations *d, const CtFlowArg *from, Function *of, const CtFlowVar *to) {
    bool takes = to != NULL && of->holds[to->id];
    if (!takes) drop_arg(d, from);
    if (takes && !holds(d, from->var) && (from->var == NULL || !d->own->empty[from->var->id])) drop(d, of, to);
}

static void drop_args(Destinations *d, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++) drop_arg(d, &args->items[i]);
}

static void look_at_call(Destinations *d, const CtFlowFunction *callee, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++) {
        if (i == 0 && d->reverses[callee->id] && holds(d, args->items[0].var)) continue;
        flow_to(d, &args->items[i], &d->functions[callee->id], callee->params.items[i]);
    }
}

static void look_at_cell(Destinations *d, const CtFlowStep *step) {
    uint32_t own = ct_flow_own_field(step->as.con.data, step->as.con.tag);
    for (uint32_t i = 0; i < step->args.count; i++)
        flow_to(d, &step->args.items[i], d->own, i == own ? step->results.items[0] : NULL);
}

static void look_at_block(Destinations *d, const CtFlowBlock *block, const CtFlowStep *owner);

/* A carried value is an accumulator in front of the loop, in it and behind it, or nowhere. */
static void look_at_loop(Destinations *d, const CtFlowStep *loop) {
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        const CtFlowVar *inside = loop->as.loop.block->params.items[1 + i], *behind = loop->results.items[i];
        flow_to(d, &loop->args.items[1 + i], d->own, inside);
        if (!holds(d, inside)) drop(d, d->own, behind);
        if (!holds(d, behind)) drop(d, d->own, inside);
    }
    look_at_block(d, loop->as.loop.block, loop);
}

static void look_at_block(Destinations *d, const CtFlowBlock *block, const CtFlowStep *owner) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_CALL) {
            look_at_call(d, step->as.function, &step->args);
        } else if (step->kind == FLOW_MAKE) {
            look_at_cell(d, step);
        } else if (step->kind == FLOW_LOOP) {
            look_at_loop(d, step);
        } else {
            drop_args(d, &step->args);
            for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) look_at_block(d, ct_flow_inner(step, j), step);
        }
    }
    if (block->exit == EXIT_TAIL) {
        look_at_call(d, block->tail, &block->values);
    } else if (block->exit == EXIT_YIELD && owner != NULL) {
        uint32_t variables = owner->kind == FLOW_LOOP ? owner->as.loop.carried : owner->results.count;
        for (uint32_t i = 0; i < block->values.count; i++)
            flow_to(d, &block->values.items[i], d->own, i < variables ? owner->results.items[i] : NULL);
    } else {
        drop_args(d, &block->values);
    }
}

/* ---- what may be one ---- */

static bool is_list(const CtFlowVar *var) { return var != NULL && ct_flow_list_end(var->type) != UINT32_MAX; }

static void suggest(Destinations *d, const CtFlowVars *vars, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (is_list(vars->items[i])) d->own->holds[vars->items[i]->id] = true;
}

static void suggest_step(void *data, CtFlowStep *step) {
    Destinations *d = data;
    if (step->kind == FLOW_MAKE && is_list(step->results.items[0])) {
        bool cell = ct_flow_own_field(step->as.con.data, step->as.con.tag) != UINT32_MAX;
        d->own->holds[step->results.items[0]->id] = cell;
        d->own->empty[step->results.items[0]->id] = step->args.count == 0;
    }
    if (step->kind == FLOW_SWITCH) suggest(d, &step->results, 0, step->results.count);
    if (step->kind == FLOW_LOOP && !step->as.loop.initial) {
        suggest(d, &step->results, 0, step->as.loop.carried);
        suggest(d, &step->as.loop.block->params, 1, 1 + step->as.loop.carried);
    }
}

/* How often a path through the block that binds a variable uses it, at most; a use in a loop inside counts as two. */
static uint32_t uses_in(const CtFlowBlock *block, const CtFlowVar *var);

static uint32_t uses_among(const CtFlowArgs *args, const CtFlowVar *var) {
    uint32_t uses = 0;
    for (uint32_t i = 0; i < args->count; i++) uses += args->items[i].var == var;
    return uses;
}

static uint32_t uses_inside(const CtFlowStep *step, const CtFlowVar *var) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) {
        uint32_t uses = uses_in(ct_flow_inner(step, i), var);
        if (step->kind == FLOW_LOOP) uses *= 2;
        if (uses > most) most = uses;
    }
    return most;
}

static uint32_t uses_in(const CtFlowBlock *block, const CtFlowVar *var) {
    uint32_t uses = uses_among(&block->values, var);
    for (uint32_t i = 0; i < block->steps.count; i++)
        uses += uses_among(&block->steps.items[i]->args, var) + uses_inside(block->steps.items[i], var);
    return uses;
}

static void drop_if_shared(Destinations *d, const CtFlowBlock *block, const CtFlowVars *vars) {
    for (uint32_t i = 0; i < vars->count; i++)
        if (holds(d, vars->items[i]) && uses_in(block, vars->items[i]) > 1) drop(d, d->own, vars->items[i]);
}

static void drop_shared_in(Destinations *d, const CtFlowBlock *block) {
    drop_if_shared(d, block, &block->params);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        drop_if_shared(d, block, &step->results);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) drop_shared_in(d, ct_flow_inner(step, j));
    }
}

static void each_function(Destinations *d, void (*visit)(Destinations *d)) {
    for (uint32_t i = 0; i < d->flow->functions.count; i++) {
        d->function = d->flow->functions.items[i];
        d->own = &d->functions[i];
        visit(d);
    }
}

static void suggest_all(Destinations *d) {
    CtFlowFunction *function = d->function;
    uint32_t vars = function->vars + 1;
    d->reverses[function->id] = ct_flow_is_reversal(function);
    *d->own = (Function){CT_NEW_ARRAY(d->flow->arena, bool, vars), CT_NEW_ARRAY(d->flow->arena, bool, vars),
                         CT_NEW_ARRAY(d->flow->arena, CtFlowArg, vars), CT_NEW_ARRAY(d->flow->arena, CtFlowArg, vars)};
    if (!d->fixed[function->id]) suggest(d, &function->params, 0, function->params.count);
    ct_flow_each_step(function->body, suggest_step, d);
}

static void drop_shared(Destinations *d) {
    drop_if_shared(d, d->function->body, &d->function->params);
    drop_shared_in(d, d->function->body);
}

static void look_at_function(Destinations *d) { look_at_block(d, d->function->body, NULL); }

/* ---- rewriting ---- */

/* A node with one field, for a list that is being made. */
static const CtFlowType *open_type(Destinations *d, const CtFlowType *list) {
    const CtFlowType *known = ct_map_get(&d->opens, ct_key(list->data));
    if (known != NULL) return known;
    CtFlow *flow = d->flow;
    const CtFlowType *type = ct_flow_node_new(flow, ct_format(flow->arena, "open %s", list->data->name), NULL);
    const CtFlowType **fields = CT_NEW_ARRAY(flow->arena, const CtFlowType *, 1);
    fields[0] = list;
    ct_flow_con_add(flow, type->data, "open", &(CtFlowTypes){fields, 1});
    ct_map_set(flow->arena, &d->opens, ct_key(list->data), (void *)type); // NOLINT
    return type;
}

static CtFlowVar *hold_first(Destinations *d, const CtFlowVar *var) {
    CtFlowVar *first = ct_flow_fresh(d->flow, d->function, "first", open_type(d, var->type));
    d->own->first[var->id] = flow_of(first);
    return first;
}
static CtFlowVar *hold_last(Destinations *d, const CtFlowVar *var) {
    CtFlowVar *last = ct_flow_fresh(d->flow, d->function, "last", open_type(d, var->type));
    d->own->last[var->id] = flow_of(last);
    return last;
}

static bool *held_among(Destinations *d, const CtFlowVars *vars, uint32_t from) {
    bool *held = CT_NEW_ARRAY(d->flow->arena, bool, vars->count + 1);
    for (uint32_t i = from; i < vars->count; i++) held[i - from] = holds(d, vars->items[i]);
    return held;
}

static void replace_vars(Destinations *d, CtFlowVars *vars) {
    CtFlowVars all = {0};
    for (uint32_t i = 0; i < vars->count; i++) {
        CtFlowVar *var = vars->items[i];
        ct_push(d->flow->arena, &all, holds(d, var) ? hold_first(d, var) : var);
        if (holds(d, var)) ct_push(d->flow->arena, &all, hold_last(d, var));
    }
    *vars = all;
}

static CtFlowArg empty_list(CtFlowBuilder *l, const CtFlowType *list) {
    return ct_flow_node_make(l, CT_NO_RANGE, list, ct_flow_list_end(list), NULL);
}

/* The two variables for an accumulator, or for the empty list, of which one is made. */
static void push_pair(Destinations *d, CtFlowBuilder *l, CtFlowArgs *to, CtFlowArg arg) {
    CtFlowArg first = d->own->first[arg.var->id], last = d->own->last[arg.var->id];
    if (d->own->empty[arg.var->id]) {
        CT_FIRED("destinations.begin");
        CtFlowArgs fields = {0};
        ct_push(l->arena, &fields, arg);
        first = last = ct_flow_node_make(l, CT_NO_RANGE, open_type(d, arg.type), 0, &fields);
    }
    ct_push(l->arena, to, first);
    ct_push(l->arena, to, last);
}

static CtFlowArgs with_pairs(Destinations *d, CtFlowBuilder *l, const bool *held, const CtFlowArgs *args) {
    CtFlowArgs all = {0};
    for (uint32_t i = 0; i < args->count; i++) {
        if (held[i])
            push_pair(d, l, &all, args->items[i]);
        else
            ct_push(l->arena, &all, args->items[i]);
    }
    return all;
}

static CtFlowStep *link(CtFlowBuilder *l, CtSourceRange range, CtFlowArg last, CtFlowArg next) {
    CtFlowStep *step = ct_flow_step(l, FLOW_LINK, range);
    ct_flow_arg(l, step, last);
    ct_flow_arg(l, step, next);
    return step;
}

static void write_cell(Destinations *d, CtFlowBuilder *l, CtFlowStep *make) {
    CtFlowVar *made = make->results.items[0];
    uint32_t own = ct_flow_own_field(make->as.con.data, make->as.con.tag);
    CtFlowArgs pair = {0}, fields = {0};
    push_pair(d, l, &pair, make->args.items[own]);
    CtFlowArg end = empty_list(l, made->type);
    for (uint32_t i = 0; i < make->args.count; i++) ct_push(l->arena, &fields, i == own ? end : make->args.items[i]);
    CtFlowArg cell = ct_flow_node_make(l, make->range, made->type, make->as.con.tag, &fields);
    CtFlowStep *step = link(l, make->range, pair.items[1], cell);
    d->own->first[made->id] = pair.items[0];
    d->own->last[made->id] = ct_flow_result(l, step, "last", pair.items[1].type);
}

/* The list that has been made, with `rest` behind it. */
static void write_end(Destinations *d, CtFlowBuilder *l, CtSourceRange range, const CtFlowArgs *args,
                      CtFlowVar *result) {
    CtFlowArgs pair = {0};
    CT_FIRED("destinations.end");
    push_pair(d, l, &pair, args->items[0]);
    link(l, range, pair.items[1], args->items[1]);
    CtFlowStep *open = ct_flow_step(l, FLOW_OPEN, range);
    open->as.con.data = pair.items[0].type->data;
    ct_flow_arg(l, open, pair.items[0]);
    ct_push(l->arena, &open->results, result);
}

static void write_block(Destinations *d, CtFlowBlock *block, const bool *held);

static void write_loop(Destinations *d, CtFlowBuilder *l, CtFlowStep *loop) {
    uint32_t carried = loop->as.loop.carried, arrays = loop->results.count - carried;
    bool *held = held_among(d, &loop->as.loop.block->params, 1), *args = CT_NEW_ARRAY(l->arena, bool, carried + 2);
    for (uint32_t i = 0; i < carried; i++) args[1 + i] = held[i];
    bool *yielded = CT_NEW_ARRAY(l->arena, bool, loop->results.count + 1);
    for (uint32_t i = 0; i < carried; i++) {
        yielded[i] = held[i];
        if (held[i]) CT_FIRED("destinations.loop");
    }
    loop->args = with_pairs(d, l, args, &loop->args);
    replace_vars(d, &loop->as.loop.block->params);
    replace_vars(d, &loop->results);
    loop->as.loop.carried = loop->results.count - arrays;
    write_block(d, loop->as.loop.block, yielded);
    ct_push(l->arena, &l->block->steps, loop);
}

static void remove_value(CtFlowArgs *values, uint32_t index) {
    values->count--;
    for (uint32_t i = index; i < values->count; i++) values->items[i] = values->items[i + 1];
}

/* What two branches or more yield for a result alike, they have from outside; it stands for the result. */
static CtFlowArg yielded_alike(const CtFlowStep *step, uint32_t index) {
    CtFlowArg alike = {.type = NULL};
    uint32_t count = 0;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit != EXIT_YIELD) continue;
        if (count++ > 0 && !ct_flow_same(&alike, &block->values.items[index])) return (CtFlowArg){.type = NULL};
        alike = block->values.items[index];
    }
    return count > 1 ? alike : (CtFlowArg){.type = NULL};
}

static void write_switch(Destinations *d, CtFlowBuilder *l, CtFlowStep *step) {
    const bool *held = held_among(d, &step->results, 0);
    CtFlowVars results = {0};
    for (uint32_t i = 0; i < step->as.cases.count; i++) write_block(d, step->as.cases.branches[i].block, held);
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowVar *var = step->results.items[i];
        if (!held[i]) {
            ct_push(l->arena, &results, var);
            continue;
        }
        CtFlowArg first = yielded_alike(step, results.count);
        if (first.type != NULL) {
            CT_FIRED("destinations.same_list");
            d->own->first[var->id] = first;
            for (uint32_t j = 0; j < step->as.cases.count; j++)
                if (step->as.cases.branches[j].block->exit == EXIT_YIELD)
                    remove_value(&step->as.cases.branches[j].block->values, results.count);
        } else {
            ct_push(l->arena, &results, hold_first(d, var));
        }
        ct_push(l->arena, &results, hold_last(d, var));
    }
    step->results = results;
    ct_push(l->arena, &l->block->steps, step);
}

static bool ends_list(const Destinations *d, const CtFlowFunction *callee, const CtFlowArgs *args) {
    return d->reverses[callee->id] && holds(d, args->items[0].var);
}

static void write_step(Destinations *d, CtFlowBuilder *l, CtFlowStep *step) {
    if (step->kind == FLOW_MAKE && holds(d, step->results.items[0])) {
        write_cell(d, l, step);
    } else if (step->kind == FLOW_LOOP) {
        write_loop(d, l, step);
    } else if (step->kind == FLOW_SWITCH) {
        write_switch(d, l, step);
    } else if (step->kind == FLOW_CALL && ends_list(d, step->as.function, &step->args)) {
        write_end(d, l, step->range, &step->args, step->results.items[0]);
    } else {
        if (step->kind == FLOW_CALL) step->args = with_pairs(d, l, d->held[step->as.function->id], &step->args);
        ct_push(l->arena, &l->block->steps, step);
    }
}

/* `held`: which of the values that it yields are accumulators. */
static void write_block(Destinations *d, CtFlowBlock *block, const bool *held) {
    CtFlowBlock old = ct_flow_reopen(block);
    CtFlowBuilder l = {d->flow, d->flow->arena, d->function, block};
    for (uint32_t i = 0; i < old.steps.count; i++) write_step(d, &l, old.steps.items[i]);
    if (old.exit == EXIT_TAIL && ends_list(d, old.tail, &old.values)) {
        CtFlowVar *result = ct_flow_fresh(d->flow, d->function, "list", old.values.items[0].type);
        write_end(d, &l, old.range, &old.values, result);
        old.exit = EXIT_RETURN;
        old.tail = NULL;
        old.values = (CtFlowArgs){0};
        ct_push(l.arena, &old.values, flow_of(result));
    } else if (old.exit == EXIT_TAIL) {
        old.values = with_pairs(d, &l, d->held[old.tail->id], &old.values);
    } else if (old.exit == EXIT_YIELD) {
        old.values = with_pairs(d, &l, held, &old.values);
    }
    block->exit = old.exit;
    block->tail = old.tail;
    block->values = old.values;
}

static void find_held(Destinations *d) { d->held[d->function->id] = held_among(d, &d->function->params, 0); }

static void write_function(Destinations *d) {
    replace_vars(d, &d->function->params);
    write_block(d, d->function->body, NULL);
}

void ct_flow_destinations(CtFlow *flow) {
    uint32_t count = flow->functions.count;
    Destinations d = {.flow = flow,
                      .fixed = ct_flow_fixed_functions(flow),
                      .reverses = CT_NEW_ARRAY(flow->arena, bool, count + 1),
                      .held = CT_NEW_ARRAY(flow->arena, bool *, count + 1),
                      .functions = CT_NEW_ARRAY(flow->arena, Function, count + 1),
                      .changed = true};
    each_function(&d, suggest_all);
    each_function(&d, drop_shared);
    while (d.changed) {
        d.changed = false;
        each_function(&d, look_at_function);
    }
    each_function(&d, find_held);
    each_function(&d, write_function);
}
