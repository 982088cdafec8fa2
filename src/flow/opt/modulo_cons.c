/* Tail recursion modulo cons. A function whose last step is a cell in front of the list of its own recursive call
 * accumulates the cells instead, and turns them round in the end:
 *
 *     f (x):                        f (x):             tail f' x, []
 *       ⟨front⟩                     f' (x, done):
 *       switch …                      ⟨front⟩
 *         r = call f y                switch …
 *         l = make : a, r    →          d = make : a, done;  tail f' y, d
 *         return l
 *         return v                      tail reverse done, v
 *
 * It needs no stack, and destinations.c makes the list from the front. The same for functions that call each other so.
 * What stands behind the call is moved in front of it, so it must be total. That a recursion which ran out of memory
 * for its stack now ends is no difference that a program can rely on (effects.c). */
#include "flow/opt/passes.h"

typedef struct Cons {
    CtFlow *flow;
    CtFlowCycles cycles;
    uint32_t count;             /* of functions, before the pass adds any */
    uint32_t component;         /* the functions that are looked at, or changed */
    CtFlowFunction **by_number; /* f' of each f, by its number; NULL: there is none */
    const CtFlowType *list;     /* what these functions give */
    CtFlowFunction *reversal;   /* for this type, or NULL: not made yet */
    uint32_t calls;             /* number of calls within the component that wait for their result */
} Cons;

static bool is_member(const Cons *c, const CtFlowFunction *function) {
    return function->id < c->count && c->cycles.component[function->id] == c->component;
}

/* ---- what is there ---- */

static void count_call(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    (void)range;
    Cons *c = data;
    c->calls += !tail && is_member(c, callee);
}

/* The field of a cell that is the list behind it; NULL: the step makes no cell. */
static const CtFlowArg *tail_of(const CtFlowStep *step) {
    uint32_t own = step->kind == FLOW_MAKE ? ct_flow_own_field(step->as.con.data, step->as.con.tag) : UINT32_MAX;
    return own != UINT32_MAX ? &step->args.items[own] : NULL;
}

static bool uses(const CtFlowArgs *args, const CtFlowVar *var, const CtFlowArg *but) {
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].var == var && &args->items[i] != but) return true;
    return false;
}

static bool is_used_behind(const CtFlowBlock *block, uint32_t index, const CtFlowVar *var) {
    for (uint32_t i = index + 1; i < block->steps.count; i++)
        if (uses(&block->steps.items[i]->args, var, NULL)) return true;
    return false;
}

/* Whether what a block returns are cells in front of the result of the call at `index`, and nothing else behind the
 * call needs it, or the cells but the first. */
static bool ends_in_cells(const CtFlowBlock *block, uint32_t index) {
    const CtFlowVar *list = block->steps.items[index]->results.items[0];
    for (uint32_t i = index + 1; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        const CtFlowArg *tail = tail_of(step);
        bool goes_on = tail != NULL && tail->var == list;
        bool moves = step->kind == FLOW_MAKE || (step->kind == FLOW_PRIM && !ct_flow_step_fails(step));
        if (!moves || uses(&step->args, list, goes_on ? tail : NULL)) return false;
        if (goes_on && is_used_behind(block, i, list)) return false;
        if (goes_on) list = step->results.items[0];
    }
    return block->values.items[0].var == list && list != block->steps.items[index]->results.items[0];
}

/* The call of a member that a block's result is made of; UINT32_MAX: there is none. */
static uint32_t call_in(const Cons *c, const CtFlowBlock *block) {
    for (uint32_t i = block->steps.count; i-- > 0 && block->exit == EXIT_RETURN;) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_CALL && is_member(c, step->as.function)) return ends_in_cells(block, i) ? i : UINT32_MAX;
    }
    return UINT32_MAX;
}

static uint32_t calls_in_cells(const Cons *c, const CtFlowBlock *block) {
    uint32_t found = call_in(c, block) != UINT32_MAX;
    const CtFlowStep *last = ct_flow_last_switch(block);
    for (uint32_t i = 0; last != NULL && i < last->as.cases.count; i++)
        found += calls_in_cells(c, last->as.cases.branches[i].block);
    return found;
}

static bool is_wanted(Cons *c) {
    uint32_t found = 0;
    c->list = NULL;
    c->calls = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const CtFlowFunction *function = c->flow->functions.items[i];
        if (!is_member(c, function)) continue;
        const CtFlowType *type = function->results.count == 1 ? function->results.items[0] : NULL;
        if (type == NULL || ct_flow_list_end(type) == UINT32_MAX) return false;
        c->list = type;
        ct_flow_each_call(function->body, count_call, c);
        found += calls_in_cells(c, function->body);
    }
    return found > 0 && found == c->calls;
}

/* ---- turning a list round ---- */

static void write_turn(CtFlowBuilder *l, CtFlowFunction *function, const CtFlowArgs *params, uint32_t tag,
                       uint32_t own) {
    CtFlowArgs fields = ct_flow_node_open(l, CT_NO_RANGE, params->items[0], tag, NULL), next = {0};
    ct_push(l->arena, &next, fields.items[own]);
    fields.items[own] = params->items[1];
    ct_push(l->arena, &next, ct_flow_node_make(l, CT_NO_RANGE, params->items[0].type, tag, &fields));
    ct_flow_leave(l, EXIT_TAIL, CT_NO_RANGE, &next, function);
}

static CtFlowFunction *write_reversal(CtFlow *flow, const CtFlowType *list) {
    CtFlowFunction *function = ct_flow_function(flow, "reversed", CT_NO_RANGE);
    CtFlowBuilder l = {flow, flow->arena, function, NULL};
    const CtFlowType *both[] = {list, list};
    CtFlowTypes types = {both, 2}, one = {both, 1};
    ct_flow_types_add(flow, &function->results, &one);
    CtFlowArgs params = ct_flow_params(&l, &function->params, "list", &types);
    function->body = l.block = ct_flow_block(&l);
    CtFlowChoosing choice = ct_flow_switch_begin(&l, CT_NO_RANGE, params.items[0]);
    CtFlowArgs rest = ct_flow_slice(&params, 1, 1);
    for (uint32_t tag = 0; tag < list->data->count; tag++) {
        uint32_t own = ct_flow_own_field(list->data, tag);
        ct_flow_case_begin(&l, &choice, tag);
        if (own == UINT32_MAX)
            ct_flow_leave(&l, EXIT_RETURN, CT_NO_RANGE, &rest, NULL);
        else
            write_turn(&l, function, &params, tag, own);
        ct_flow_case_end(&l, &choice, &rest);
    }
    ct_flow_switch_end(&l, &choice);
    ct_flow_leave(&l, EXIT_NEVER, CT_NO_RANGE, NULL, NULL);
    return function;
}

/* ---- writing ---- */

static CtFlowArgs behind(const Cons *c, const CtFlowArgs *args, CtFlowArg last) {
    CtFlowArgs all = {0};
    for (uint32_t i = 0; i < args->count; i++) ct_push(c->flow->arena, &all, args->items[i]);
    ct_push(c->flow->arena, &all, last);
    return all;
}

/* The cells that were made in front of the call's result, onto what has been made before, the first one first. */
static void write_cells(const Cons *c, CtFlowBlock *block, uint32_t index, CtFlowArg done) {
    CtFlowBlock old = *block;
    const CtFlowStep *call = old.steps.items[index];
    const CtFlowVar *list = call->results.items[0];
    CT_VEC(CtFlowStep *) cells = {0};
    memset(&block->steps, 0, sizeof block->steps);
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        const CtFlowArg *tail = i > index ? tail_of(step) : NULL;
        if (tail != NULL && tail->var == list) {
            ct_push(c->flow->arena, &cells, step);
            list = step->results.items[0];
        } else if (step != call) {
            ct_push(c->flow->arena, &block->steps, step);
        }
    }
    while (cells.count > 0) {
        CtFlowStep *cell = cells.items[--cells.count];
        CtFlowArgs fields = {0};
        uint32_t own = ct_flow_own_field(cell->as.con.data, cell->as.con.tag);
        for (uint32_t i = 0; i < cell->args.count; i++)
            ct_push(c->flow->arena, &fields, i == own ? done : cell->args.items[i]);
        cell->args = fields;
        done = flow_of(cell->results.items[0]);
        ct_push(c->flow->arena, &block->steps, cell);
    }
    block->exit = EXIT_TAIL;
    block->tail = c->by_number[call->as.function->id];
    block->values = behind(c, &call->args, done);
    block->range = call->range;
}

/* Gives a list behind what has been made. */
static void write_end(const Cons *c, CtFlowBlock *block, CtFlowArg list, CtFlowArg done) {
    CtFlowArgs first = {0};
    ct_push(c->flow->arena, &first, done);
    block->values = behind(c, &first, list);
    block->exit = EXIT_TAIL;
    block->tail = c->reversal;
}

static void write_exits(const Cons *c, CtFlowFunction *function, CtFlowBlock *block, CtFlowArg done) {
    uint32_t index = call_in(c, block);
    const CtFlowStep *last = ct_flow_last_switch(block);
    for (uint32_t i = 0; last != NULL && i < last->as.cases.count; i++)
        write_exits(c, function, last->as.cases.branches[i].block, done);
    if (index != UINT32_MAX) {
        CT_FIRED("modulo_cons.cells");
        write_cells(c, block, index, done);
    } else if (block->exit == EXIT_RETURN) {
        write_end(c, block, block->values.items[0], done);
    } else if (block->exit == EXIT_TAIL && is_member(c, block->tail)) {
        CT_FIRED("modulo_cons.tail");
        block->values = behind(c, &block->values, done);
        block->tail = c->by_number[block->tail->id];
    } else if (block->exit == EXIT_TAIL) {
        CT_FIRED("modulo_cons.ends_elsewhere");
        CtFlowBuilder l = {c->flow, c->flow->arena, function, block};
        block->exit = EXIT_OPEN;
        CtFlowArgs result = ct_flow_call(&l, block->range, block->tail, &block->values);
        write_end(c, block, result.items[0], done);
    }
}

static CtFlowFunction *begin(Cons *c, const CtFlowFunction *from) {
    CtFlowFunction *function = ct_flow_function(c->flow, from->name, from->range);
    ct_flow_types_add(c->flow, &function->results, &from->results);
    function->ends = from->ends;
    return function;
}

/* f' with the body of f. */
static void write_function(Cons *c, const CtFlowFunction *from, CtFlowFunction *to) {
    CtFlowCopy copy = {.flow = c->flow, .into = to};
    for (uint32_t i = 0; i < from->params.count; i++)
        ct_push(c->flow->arena, &to->params, ct_flow_copy_var(&copy, from->params.items[i]));
    CtFlowVar *done = ct_flow_fresh(c->flow, to, "done", c->list);
    ct_push(c->flow->arena, &to->params, done);
    to->body = ct_flow_copy_block(&copy, from->body);
    write_exits(c, to, to->body, flow_of(done));
}

static void write_entry(Cons *c, CtFlowFunction *from) {
    CtFlowBuilder l = {c->flow, c->flow->arena, from, ct_flow_block(&(CtFlowBuilder){.arena = c->flow->arena})};
    CtFlowArgs args = {0};
    for (uint32_t i = 0; i < from->params.count; i++) ct_push(l.arena, &args, flow_of(from->params.items[i]));
    ct_push(l.arena, &args, ct_flow_node_make(&l, CT_NO_RANGE, c->list, ct_flow_list_end(c->list), NULL));
    ct_flow_leave(&l, EXIT_TAIL, from->body->range, &args, c->by_number[from->id]);
    from->body = l.block;
}

static void write_component(Cons *c) {
    c->reversal = NULL;
    for (uint32_t i = 0; i < c->flow->functions.count; i++) {
        CtFlowFunction *function = c->flow->functions.items[i];
        if (ct_flow_is_reversal(function) && function->results.items[0] == c->list) c->reversal = function;
    }
    if (c->reversal == NULL) c->reversal = write_reversal(c->flow, c->list);
    for (uint32_t i = 0; i < c->count; i++)
        if (is_member(c, c->flow->functions.items[i])) c->by_number[i] = begin(c, c->flow->functions.items[i]);
    for (uint32_t i = 0; i < c->count; i++)
        if (is_member(c, c->flow->functions.items[i])) write_function(c, c->flow->functions.items[i], c->by_number[i]);
    for (uint32_t i = 0; i < c->count; i++)
        if (is_member(c, c->flow->functions.items[i])) write_entry(c, c->flow->functions.items[i]);
}

void ct_flow_modulo_cons(CtFlow *flow) {
    Cons c = {.flow = flow, .cycles = ct_flow_cycles(flow, false), .count = flow->functions.count};
    c.by_number = CT_NEW_ARRAY(flow->arena, CtFlowFunction *, c.count + 1);
    for (c.component = 1; c.component <= c.cycles.count; c.component++)
        if (c.cycles.waits[c.component] && is_wanted(&c)) write_component(&c);
}
