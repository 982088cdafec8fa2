/* Reference counting: inserts retains and releases into functions without any.
 *
 * Parameters, results and carried variables are owned. A step borrows an argument or takes it. The last use of a
 * variable moves it if the use takes it; an earlier use that takes is preceded by a retain. If the last use borrows, a
 * release follows it. A branch releases at its start what only other branches use. A loop borrows variables from
 * outside, which are released after the loop. */
#include "flow/opt/passes.h"
#include "rt/run.h"

typedef struct Set { /* a set of variables, by number */
    uint64_t *words;
} Set;

typedef struct Count {
    CtFlow *flow;
    CtArena *arena;
    uint32_t words;
    Set bare;     /* variables known to be nodes without fields, which are not counted */
    Set borrowed; /* parameters that the function borrows, and parts of these: they are live all the time */
} Count;

static Set set_new(const Count *c) { return (Set){CT_NEW_ARRAY(c->arena, uint64_t, c->words)}; }
static bool has(Set set, const CtFlowVar *var) { return ct_flow_set_has(set.words, var); }
static void add(Set set, const CtFlowVar *var) { ct_flow_set_add(set.words, var); }
static void drop(Set set, const CtFlowVar *var) { ct_flow_set_drop(set.words, var); }
static void join(const Count *c, Set to, Set from) {
    for (uint32_t i = 0; i < c->words; i++) to.words[i] |= from.words[i];
}
static Set copy(const Count *c, Set set) {
    Set fresh = set_new(c);
    join(c, fresh, set);
    return fresh;
}

typedef CT_VEC(CtFlowStep *) Steps;
typedef CT_VEC(CtFlowVar *) Objects;

static CtFlowStep *counting(const Count *c, CtFlowStepKind kind, CtFlowVar *var) {
    CtFlowStep *step = CT_NEW(c->arena, CtFlowStep);
    step->kind = kind;
    ct_push(c->arena, &step->args, flow_of(var));
    return step;
}

static void count_one(Count *c, Steps *out, CtFlowStepKind kind, CtFlowVar *var) {
    if (!has(c->bare, var)) ct_push(c->arena, out, counting(c, kind, var));
}

static bool is_object(const CtFlowArg *arg) { return ct_flow_is_object(arg->type); } /* no literal is one */

static void count_block(Count *c, CtFlowBlock *block, Set live);

/* ---- constructors without fields ---- */

static bool is_bare(const CtFlowData *data, uint32_t tag) {
    return tag < CT_NULLARIES && data->cons[tag].fields.count == 0;
}

static void mark_bare(Count *c, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_MAKE && is_bare(step->as.con.data, step->as.con.tag) &&
            CT_FIRED("reference_counts.bare"))
            add(c->bare, step->results.items[0]);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) mark_bare(c, ct_flow_inner(step, j));
    }
}

/* The variable of a switch, in a branch for a constructor without fields; NULL in other branches. */
static CtFlowVar *bare_in_branch(const Count *c, const CtFlowStep *step, const CtFlowBranch *branch) {
    const CtFlowArg *on = &step->args.items[0];
    if (!is_object(on) || branch->tag == FLOW_OTHERS || has(c->bare, on->var)) return NULL;
    return is_bare(on->type->data, branch->tag) && CT_FIRED("reference_counts.bare_in_branch") ? on->var : NULL;
}

/* ---- what a block uses ---- */

static void collect_args(const CtFlowArgs *args, Set used) {
    for (uint32_t i = 0; i < args->count; i++)
        if (is_object(&args->items[i])) add(used, args->items[i].var);
}

static void collect(const CtFlowBlock *block, Set used, Set bound) {
    for (uint32_t i = 0; i < block->params.count; i++) add(bound, block->params.items[i]);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        collect_args(&step->args, used);
        for (uint32_t j = 0; j < step->results.count; j++)
            if (step->results.items[j] != NULL) add(bound, step->results.items[j]);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) collect(ct_flow_inner(step, j), used, bound);
    }
    collect_args(&block->values, used);
}

/* Lists the variables of a set in the order of their numbers; `all` contains every variable that may be in it. */
static void each_in(Count *c, const Objects *all, Set set, Set but, Objects *out) {
    for (uint32_t i = 0; i < all->count; i++)
        if (has(set, all->items[i]) && !has(but, all->items[i])) ct_push(c->arena, out, all->items[i]);
}

static void gather_args(Count *c, const CtFlowArgs *args, Objects *out, Set seen) {
    for (uint32_t i = 0; i < args->count; i++) {
        if (!is_object(&args->items[i]) || has(seen, args->items[i].var)) continue;
        add(seen, args->items[i].var);
        ct_push(c->arena, out, args->items[i].var);
    }
}

static void gather(Count *c, const CtFlowBlock *block, Objects *out, Set seen) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        gather_args(c, &step->args, out, seen);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) gather(c, ct_flow_inner(step, j), out, seen);
    }
    gather_args(c, &block->values, out, seen);
}

/* ---- steps, from the last to the first; new ones are pushed in that order ---- */

static void release(Count *c, Steps *out, CtFlowVar *var) {
    CT_FIRED("reference_counts.release");
    count_one(c, out, FLOW_RELEASE, var);
}

/* Arguments that are taken: each use but the last retains. Those that are also borrowed by the step (`borrowed`) live
 * until it has run. */
static void take_args(Count *c, const CtFlowStep *step, const CtFlowArgs *args, Set live, Steps *before) {
    for (uint32_t i = args->count; i-- > 0;) {
        const CtFlowArg *arg = &args->items[i];
        if (!is_object(arg) || (step != NULL && !ct_flow_takes(step, i))) continue;
        if (has(live, arg->var) && CT_FIRED("reference_counts.retain"))
            count_one(c, before, FLOW_RETAIN, arg->var);
        else
            add(live, arg->var);
    }
}

/* Arguments that are borrowed: those not used later are released behind the step. */
static void borrow_args(Count *c, const CtFlowStep *step, Set live, Steps *out) {
    for (uint32_t i = 0; i < step->args.count; i++) {
        const CtFlowArg *arg = &step->args.items[i];
        if (!is_object(arg) || ct_flow_takes(step, i) || has(live, arg->var)) continue;
        release(c, out, arg->var);
        add(live, arg->var);
    }
}

static void end_results(Count *c, CtFlowStep *step, Set live, Steps *out) {
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowVar *var = step->results.items[i];
        if (var == NULL || !ct_flow_is_object(var->type)) continue;
        if (has(c->borrowed, var)) continue;
        if (has(live, var))
            drop(live, var);
        else
            release(c, out, var);
    }
}

static void count_loop(Count *c, CtFlowStep *step, Set live, Steps *out) {
    CtFlowBlock *block = step->as.loop.block;
    Set used = set_new(c), bound = set_new(c), seen = set_new(c);
    Objects all = {0}, ended = {0};
    collect(block, used, bound);
    gather(c, block, &all, seen);
    for (uint32_t i = 0; i < c->words; i++) used.words[i] &= ~bound.words[i];
    each_in(c, &all, used, live, &ended);
    for (uint32_t i = 0; i < ended.count; i++) {
        release(c, out, ended.items[i]);
        add(live, ended.items[i]);
    }
    count_block(c, block, copy(c, live));
}

/* Puts releases at the start of a block, unless the block only fails. */
static void prepend(Count *c, CtFlowBlock *block, const Objects *ended) {
    if (ended->count == 0 || (block->exit == EXIT_NEVER && !ct_flow_leaves(block))) return;
    Steps steps = {0};
    for (uint32_t i = 0; i < ended->count; i++) release(c, &steps, ended->items[i]);
    for (uint32_t i = 0; i < block->steps.count; i++) ct_push(c->arena, &steps, block->steps.items[i]);
    block->steps.items = steps.items;
    block->steps.count = steps.count;
    block->steps.capacity = steps.capacity;
}

static void count_switch(Count *c, CtFlowStep *step, Set live) {
    uint32_t count = step->as.cases.count;
    Set *befores = CT_NEW_ARRAY(c->arena, Set, count), some = copy(c, live), seen = set_new(c);
    Objects all = {0};
    gather_args(c, &step->args, &all, seen);
    for (uint32_t i = 0; i < count; i++) gather(c, step->as.cases.branches[i].block, &all, seen);
    for (uint32_t i = 0; i < count; i++) {
        CtFlowBlock *block = step->as.cases.branches[i].block;
        CtFlowVar *bare = bare_in_branch(c, step, &step->as.cases.branches[i]);
        befores[i] = copy(c, block->exit == EXIT_YIELD ? live : c->borrowed);
        if (bare != NULL) add(c->bare, bare);
        count_block(c, block, befores[i]);
        if (bare != NULL) drop(c->bare, bare);
        join(c, some, befores[i]);
    }
    collect_args(&step->args, some);
    for (uint32_t i = 0; i < count; i++) {
        Objects ended = {0};
        CtFlowVar *bare = bare_in_branch(c, step, &step->as.cases.branches[i]);
        if (bare != NULL) add(befores[i], bare);
        /* variables bound in the branch are not live before it */
        each_in(c, &all, some, befores[i], &ended);
        prepend(c, step->as.cases.branches[i].block, &ended);
    }
    join(c, live, some);
}

static void count_open(const Count *c, CtFlowStep *step, Set live) {
    CtFlowVar *node = step->args.items[0].var;
    step->as.con.takes = !has(live, node) && CT_FIRED("reference_counts.taken_apart");
    step->as.con.borrows = has(c->borrowed, node);
    add(live, node);
}

/* What a block ends with is taken, but for what a tail call borrows, which this function has borrowed itself. */
static void take_values(Count *c, const CtFlowBlock *block, Set live, Steps *before) {
    uint64_t borrows = block->exit == EXIT_TAIL ? block->tail->borrows : 0;
    for (uint32_t i = block->values.count; i-- > 0;) {
        CtFlowArgs one = {.items = &block->values.items[i], .count = 1};
        if (i >= 64 || (borrows >> i & 1) == 0) take_args(c, NULL, &one, live, before);
    }
}

/* Inserts the counts of a block. `live` holds the variables that are live behind the block, and becomes those live at
 * its start. */
static void count_block(Count *c, CtFlowBlock *block, Set live) {
    Steps out = {0}; /* in reverse order */
    if (block->exit == EXIT_NEVER) memcpy(live.words, c->borrowed.words, c->words * sizeof *live.words);
    take_values(c, block, live, &out);
    for (uint32_t i = block->steps.count; i-- > 0;) {
        CtFlowStep *step = block->steps.items[i];
        Steps before = {0}, after = {0};
        end_results(c, step, live, &after);
        if (step->kind == FLOW_LOOP) count_loop(c, step, live, &after);
        if (step->kind == FLOW_SWITCH)
            count_switch(c, step, live);
        else if (step->kind == FLOW_OPEN)
            count_open(c, step, live);
        else
            borrow_args(c, step, live, &after);
        take_args(c, step, &step->args, live, &before);
        for (uint32_t j = 0; j < after.count; j++) ct_push(c->arena, &out, after.items[j]);
        ct_push(c->arena, &out, step);
        for (uint32_t j = 0; j < before.count; j++) ct_push(c->arena, &out, before.items[j]);
    }
    for (uint32_t i = 0; i < block->params.count; i++) {
        CtFlowVar *param = block->params.items[i];
        if (!ct_flow_is_object(param->type)) continue;
        if (!has(live, param)) release(c, &out, param);
        drop(live, param);
    }
    block->steps.items = CT_NEW_ARRAY(c->arena, CtFlowStep *, out.count + 1);
    block->steps.count = block->steps.capacity = out.count;
    for (uint32_t i = 0; i < out.count; i++) block->steps.items[i] = out.items[out.count - 1 - i];
}

static void mark_borrowed(Count *c, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool part = step->kind == FLOW_OPEN && has(c->borrowed, step->args.items[0].var);
        for (uint32_t j = 0; part && j < step->results.count; j++)
            if (step->results.items[j] != NULL) add(c->borrowed, step->results.items[j]);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) mark_borrowed(c, ct_flow_inner(step, j));
    }
}

void ct_flow_reference_counts(CtFlow *flow) {
    ct_flow_copied_rows_in_branches(flow);
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        Count c = {flow, flow->arena, function->vars / 64 + 1, {NULL}, {NULL}};
        c.bare = set_new(&c);
        c.borrowed = set_new(&c);
        for (uint32_t j = 0; j < function->params.count && j < 64; j++)
            if (function->borrows >> j & 1) add(c.borrowed, function->params.items[j]);
        mark_bare(&c, function->body);
        mark_borrowed(&c, function->body);
        Set live = copy(&c, c.borrowed);
        Objects ended = {0};
        count_block(&c, function->body, live);
        for (uint32_t j = 0; j < function->params.count; j++) {
            CtFlowVar *param = function->params.items[j];
            if (ct_flow_is_object(param->type) && !has(live, param)) ct_push(flow->arena, &ended, param);
        }
        prepend(&c, function->body, &ended);
    }
    ct_flow_copied_rows(flow);
}
