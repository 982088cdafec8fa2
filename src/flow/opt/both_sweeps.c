/* One function that runs both sweeps of another: parameters, ⟨dy⟩, accumulators → ⟨y⟩, accumulators.
 *
 * Where the forward sweep makes the residual of an exit, the reverse sweep of this exit follows, and takes the fields
 * of the residual as they are. So the residual is not made.
 *
 * In tail recursion the reverse sweep of an iteration follows its forward sweep, before the next iteration. This is the
 * other order: what is added to the accumulators that all iterations share is added from the first iteration to the
 * last. It is possible if no other cotangent changes on the way back, so that those of the end hold in each iteration.
 */
#include "flow/opt/passes.h"

typedef struct Splice {
    CtFlow *flow;
    CtFlowSweeps *sweeps;
    CtFlowFunction *into, *again; /* again: what the next iteration calls */
    CtFlowCopy copy;              /* of the forward sweep */
    CtFlowArgs given;             /* ⟨dy⟩, accumulators: parameters of `into` */
    CtFlowArg gone;               /* stands for residuals; nothing may use it in the end */
    CtFlowArgs ends;              /* of the accumulators that are not shared: what reverse sweeps of ends begin with */
    bool fails;
} Splice;

static uint32_t accumulators(const Splice *s) { return s->sweeps->backward->results.count; }

static CtFlowArg accumulator(const Splice *s, uint32_t index) { return s->given.items[s->sweeps->cotangents + index]; }

/* The part of a reverse sweep for a residual of this constructor; NULL: it is not as differentiation writes it. */
static const CtFlowBlock *case_of(const CtFlowFunction *backward, uint32_t tag) {
    const CtFlowBlock *body = backward->body;
    const CtFlowStep *choice = ct_flow_last_switch(body);
    if (choice == NULL) return body;
    if (body->steps.count != 1 || choice->args.items[0].var != backward->params.items[0]) return NULL;
    return choice->as.cases.branches[ct_flow_branch_for(choice, tag)].block;
}

/* ---- the reverse sweep of an exit ---- */

static CtFlowCopy copy_of(Splice *s, const CtFlowFunction *function) {
    CtFlowCopy copy = {.flow = s->flow, .into = s->into};
    ct_flow_copy_stands(&copy, function->params.items[0], s->gone);
    return copy;
}

/* The fields of the opened residual are what `made` was to put there; without it, it has none. */
static void open_made(Splice *s, CtFlowCopy *copy, const CtFlowStep *open, const CtFlowStep *made) {
    CtFlowArgs fields = {0};
    if (made != NULL) fields = ct_flow_copy_args(&s->copy, &made->args);
    if (made != NULL && made->as.con.tag != open->as.con.tag) s->fails = true;
    if (open->results.count > fields.count) s->fails = true;
    if (!s->fails) ct_flow_copy_results_stand(copy, open, &fields);
}

static void add_case(Splice *s, CtFlowBlock *to, CtFlowCopy *copy, const CtFlowFunction *backward,
                     const CtFlowBlock *block, const CtFlowStep *made) {
    for (uint32_t i = 0; i < block->steps.count && !s->fails; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool opens = step->kind == FLOW_OPEN && step->args.items[0].var == backward->params.items[0];
        if (opens)
            open_made(s, copy, step, made);
        else
            ct_push(s->flow->arena, &to->steps, ct_flow_copy_step(copy, step));
    }
}

static void leave(Splice *s, CtFlowBlock *to, const CtFlowBlock *end, const CtFlowArgs *values, const CtFlowArgs *more,
                  CtFlowFunction *tail) {
    to->exit = tail == NULL ? EXIT_RETURN : EXIT_TAIL;
    to->tail = tail;
    to->range = end->range;
    for (uint32_t i = 0; i + 1 < values->count; i++) ct_push(s->flow->arena, &to->values, values->items[i]);
    for (uint32_t i = 0; i < more->count; i++) ct_push(s->flow->arena, &to->values, more->items[i]);
}

/* The reverse sweep of what returns. */
static void add_return(Splice *s, CtFlowBlock *to, const CtFlowBlock *end, const CtFlowStep *made) {
    const CtFlowFunction *backward = s->sweeps->backward, *unwind = s->sweeps->unwind;
    const CtFlowBlock *block = case_of(backward, made->as.con.tag), *start = NULL;
    if (unwind != NULL) start = case_of(unwind, 0);
    s->fails |= block == NULL || (unwind != NULL && start == NULL);
    if (s->fails) return;
    CtFlowCopy copy = copy_of(s, backward);
    for (uint32_t i = 0; i < s->given.count; i++)
        ct_flow_copy_stands(&copy, backward->params.items[1 + i], s->given.items[i]);
    add_case(s, to, &copy, backward, block, made);
    if (s->fails) return;
    CtFlowArgs values = ct_flow_copy_args(&s->copy, &end->values), more = ct_flow_copy_args(&copy, &block->values);
    if (unwind != NULL) {
        CtFlowCopy last = copy_of(s, unwind);
        s->fails |= block->exit != EXIT_TAIL || block->tail != unwind || start->exit != EXIT_RETURN;
        for (uint32_t i = 1; i < more.count && !s->fails; i++)
            ct_flow_copy_stands(&last, unwind->params.items[i], more.items[i]);
        if (!s->fails) add_case(s, to, &last, unwind, start, NULL);
        if (!s->fails) more = ct_flow_copy_args(&last, &start->values);
    } else {
        s->fails |= block->exit != EXIT_RETURN;
    }
    if (!s->fails) leave(s, to, end, &values, &more, NULL);
}

/* The reverse sweep of an iteration, then the next one. */
static void add_iteration(Splice *s, CtFlowBlock *to, const CtFlowBlock *end, const CtFlowStep *made) {
    const CtFlowFunction *unwind = s->sweeps->unwind;
    const CtFlowBlock *block = case_of(unwind, made->as.con.tag);
    s->fails |= block == NULL || block->exit != EXIT_TAIL || block->tail != unwind;
    if (s->fails) return;
    CtFlowCopy copy = copy_of(s, unwind);
    uint32_t kept = 1 + accumulators(s), ended = 0;
    for (uint32_t i = 0; i < accumulators(s); i++) {
        bool shared = s->sweeps->shared[i];
        ct_flow_copy_stands(&copy, unwind->params.items[1 + i], shared ? accumulator(s, i) : s->ends.items[ended++]);
        if (!shared) ct_flow_copy_stands(&copy, unwind->params.items[kept++], accumulator(s, i));
    }
    for (uint32_t i = 1; i < block->values.count; i++) {
        bool shared = i <= accumulators(s) && s->sweeps->shared[i - 1];
        if (!shared && block->values.items[i].var != unwind->params.items[i]) s->fails = true;
    }
    if (!s->fails) add_case(s, to, &copy, unwind, block, made);
    if (s->fails) return;
    CtFlowArgs values = ct_flow_copy_args(&s->copy, &end->values), after = ct_flow_copy_args(&copy, &block->values);
    CtFlowArgs more = ct_flow_slice(&s->given, 0, s->sweeps->cotangents);
    for (uint32_t i = 0; i < accumulators(s); i++)
        ct_push(s->flow->arena, &more, s->sweeps->shared[i] ? after.items[1 + i] : accumulator(s, i));
    leave(s, to, end, &values, &more, s->again);
}

/* ---- the forward sweep ---- */

/* The step that makes the residual with which a block leaves the function. */
static const CtFlowStep *made_at(const CtFlowBlock *block) {
    if (block->values.count == 0) return NULL;
    const CtFlowStep *step = ct_flow_binder(block, block->values.items[block->values.count - 1].var);
    return step != NULL && step->kind == FLOW_MAKE ? step : NULL;
}

static CtFlowBlock *add_block(Splice *s, const CtFlowBlock *block) {
    CtFlowBlock *to = CT_NEW(s->flow->arena, CtFlowBlock);
    const CtFlowStep *last = ct_flow_last_switch(block), *made = NULL;
    bool leaves = block->exit == EXIT_RETURN || block->exit == EXIT_TAIL;
    if (leaves) made = made_at(block);
    s->fails |= leaves ? made == NULL : block->exit != EXIT_NEVER;
    for (uint32_t i = 0; i < block->steps.count && !s->fails; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step == made) {
            ct_flow_copy_stands(&s->copy, step->results.items[0], s->gone);
        } else if (step == last) {
            CtFlowStep *choice = CT_NEW(s->flow->arena, CtFlowStep);
            *choice = *step;
            choice->args = ct_flow_copy_args(&s->copy, &step->args);
            choice->as.cases.branches = CT_NEW_ARRAY(s->flow->arena, CtFlowBranch, step->as.cases.count + 1);
            for (uint32_t j = 0; j < step->as.cases.count && !s->fails; j++)
                choice->as.cases.branches[j] =
                    (CtFlowBranch){step->as.cases.branches[j].tag, add_block(s, step->as.cases.branches[j].block)};
            ct_push(s->flow->arena, &to->steps, choice);
        } else {
            ct_push(s->flow->arena, &to->steps, ct_flow_copy_step(&s->copy, step));
        }
    }
    to->exit = EXIT_NEVER;
    to->range = block->range;
    if (s->fails || !leaves) return to;
    if (block->exit == EXIT_RETURN)
        add_return(s, to, block, made);
    else if (block->tail == s->sweeps->iterations && s->again != NULL)
        add_iteration(s, to, block, made);
    else
        s->fails = true;
    return to;
}

/* ---- what holds at all ends ---- */

static const CtFlowArg *end_of(Splice *s, const CtFlowBlock *block, uint32_t index) {
    s->fails |= block->exit != EXIT_TAIL || block->tail != s->sweeps->unwind;
    return s->fails ? NULL : &block->values.items[1 + index];
}

/* What an accumulator that is not shared is at the last iteration: a cotangent of a result, or a literal; the same for
 * all ends. */
static void find_end(Splice *s, uint32_t index) {
    const CtFlowFunction *backward = s->sweeps->backward;
    const CtFlowStep *choice = ct_flow_last_switch(backward->body);
    const CtFlowArg *end = NULL;
    if (choice == NULL) end = end_of(s, backward->body, index);
    for (uint32_t i = 0; choice != NULL && i < choice->as.cases.count && !s->fails; i++) {
        const CtFlowArg *other = end_of(s, choice->as.cases.branches[i].block, index);
        if (end != NULL && other != NULL && !ct_flow_same(end, other)) s->fails = true;
        end = other;
    }
    if (s->fails) return;
    CtFlowArg value = *end;
    if (value.var != NULL) {
        s->fails = true;
        for (uint32_t i = 0; i < s->sweeps->cotangents; i++) {
            if (end->var != backward->params.items[1 + i]) continue;
            value = s->given.items[i];
            s->fails = false;
        }
    }
    ct_push(s->flow->arena, &s->ends, value);
}

static void find_ends(Splice *s) {
    for (uint32_t i = 0; i < accumulators(s) && !s->fails; i++)
        if (!s->sweeps->shared[i]) find_end(s, i);
}

/* ---- the functions ---- */

static bool mentions(const CtFlowBlock *block, const CtFlowVar *var) {
    for (uint32_t i = 0; i < block->values.count; i++)
        if (block->values.items[i].var == var) return true;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < step->args.count; j++)
            if (step->args.items[j].var == var) return true;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (mentions(ct_flow_inner(step, j), var)) return true;
    }
    return false;
}

/* A function with the parameters of a forward sweep, but for its trail, and with what a reverse sweep is given. */
static CtFlowFunction *begin(Splice *s, const CtFlowFunction *forward, uint32_t params) {
    const CtFlowFunction *backward = s->sweeps->backward;
    CtFlowFunction *into = CT_NEW(s->flow->arena, CtFlowFunction);
    into->name = ct_format(s->flow->arena, "%s backward", forward->name);
    into->range = forward->range;
    into->accumulators = accumulators(s);
    s->into = into;
    s->copy = (CtFlowCopy){.flow = s->flow, .into = into};
    s->given = (CtFlowArgs){0};
    for (uint32_t i = 0; i < params; i++)
        ct_push(s->flow->arena, &into->params, ct_flow_copy_var(&s->copy, forward->params.items[i]));
    for (uint32_t i = 1; i < backward->params.count; i++) {
        const CtFlowVar *like = backward->params.items[i];
        CtFlowVar *var = ct_flow_fresh(s->flow, into, like->name, like->type);
        ct_push(s->flow->arena, &into->params, var);
        ct_push(s->flow->arena, &s->given, flow_of(var));
    }
    CtFlowTypes results = forward->results;
    results.count--;
    ct_flow_types_add(s->flow, &into->results, &results);
    ct_flow_types_add(s->flow, &into->results, &backward->results);
    s->gone = flow_of(ct_flow_fresh(s->flow, into, "gone", forward->results.items[forward->results.count - 1]));
    return into;
}

static void declare(CtFlow *flow, CtFlowFunction *function) {
    function->id = flow->functions.count;
    ct_push(flow->arena, &flow->functions, function);
}

/* The first call of what iterates. */
static CtFlowFunction *write_entry(Splice *s) {
    CtFlowFunction *forward = s->sweeps->forward, *entry = begin(s, forward, forward->params.count);
    const CtFlowBlock *body = forward->body;
    const CtFlowStep *made = made_at(body);
    s->fails |= body->exit != EXIT_TAIL || body->tail != s->sweeps->iterations || made == NULL;
    if (s->fails) return entry;
    entry->body = CT_NEW(s->flow->arena, CtFlowBlock);
    ct_flow_copy_stands(&s->copy, made->results.items[0], s->gone);
    for (uint32_t i = 0; i < body->steps.count; i++)
        if (body->steps.items[i] != made)
            ct_push(s->flow->arena, &entry->body->steps, ct_flow_copy_step(&s->copy, body->steps.items[i]));
    CtFlowArgs values = ct_flow_copy_args(&s->copy, &body->values);
    leave(s, entry->body, body, &values, &s->given, s->again);
    s->fails |= mentions(entry->body, s->gone.var);
    return entry;
}

/* Whether the sweeps still have the parameters and results that differentiation gave them. */
static bool is_whole(const CtFlowSweeps *sweeps) {
    const CtFlowFunction *backward = sweeps->backward, *unwind = sweeps->unwind;
    if (backward->params.count != 1 + sweeps->cotangents + backward->results.count) return false;
    if (unwind == NULL) return true;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < backward->results.count; i++) kept += !sweeps->shared[i];
    return unwind->params.count == 1 + backward->results.count + kept;
}

CtFlowFunction *ct_flow_both_sweeps(CtFlow *flow, CtFlowSweeps *sweeps) {
    if (sweeps->tried) return sweeps->both;
    sweeps->tried = true;
    if (!is_whole(sweeps)) return NULL;
    Splice s = {.flow = flow, .sweeps = sweeps};
    CtFlowFunction *forward = sweeps->iterations != NULL ? sweeps->iterations : sweeps->forward;
    CtFlowFunction *both = begin(&s, forward, forward->params.count - (sweeps->iterations != NULL));
    if (sweeps->iterations != NULL) {
        ct_flow_copy_stands(&s.copy, forward->params.items[forward->params.count - 1], s.gone);
        s.again = both;
        find_ends(&s);
    }
    if (!s.fails) both->body = add_block(&s, forward->body);
    if (!s.fails) s.fails = mentions(both->body, s.gone.var);
    CtFlowFunction *entry = both;
    if (!s.fails && sweeps->iterations != NULL) entry = write_entry(&s);
    if (s.fails) return NULL;
    declare(flow, both);
    if (entry != both) declare(flow, entry);
    return sweeps->both = entry;
}
