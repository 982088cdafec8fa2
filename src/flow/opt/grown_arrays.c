/* Arrays that grow. A loop that begins with an empty array and puts one element behind it in each iteration writes into
 * an array that has its last length from the beginning:
 *
 *     y = fold n, [] do i, s':               z = replicate n, 0
 *       check 0 of j, s'; t = read s', j     y = fold n, z do i, s':
 *       …                                →     check j, i; t = read s', j
 *       u = snoc s', x                         …
 *       yield u                                u = update s', i, x
 *                                              yield u
 *
 * In an iteration s' has i elements, so what asks for its length is given i. Derivatives of the loop on the right have
 * accumulators of fixed lengths, which need no residuals and no tests of whether they are there yet; and lanes may
 * carry such arrays. The last length must be that of an array of the program or a literal: a loop that fails early
 * must not ask for memory that it has not asked for before.
 *
 * An array to which the loop appends an array of one element, `ys ++ [|y|]`, gets the element, too: it is copied by an
 * append, but not by `snoc`. */
#include "flow/opt/passes.h"

enum { MOST_ELEMENTS = 4096 }; /* where the length is a literal */

typedef struct Grown {
    CtFlow *flow;
    CtFlowFunction *function;
    CtFlowFacts facts;
    uint32_t *uses, vars; /* by variable number; of the variables that there were before the pass */
} Grown;

/* ---- which arrays ---- */

static bool is_empty(const Grown *g, const CtFlowArg *array) {
    const CtFlowStep *maker = ct_flow_fact(&g->facts, array)->maker;
    return ct_flow_is_items(maker) && maker->args.count == 0;
}

static bool is_bounded(const Grown *g, const CtFlowArg *count) {
    if (count->var == NULL) return count->lit.integer >= 0 && count->lit.integer <= MOST_ELEMENTS;
    return ct_flow_length_of(&g->facts, *count).array != NULL;
}

/* How often `array` has been given an element on the way to a value, each time as all that is done with it; 0: the
 * value may be something else. */
static uint32_t growths(const Grown *g, const CtFlowArg *value, const CtFlowVar *array) {
    const CtFlowFact *fact = ct_flow_fact(&g->facts, value);
    const CtFlowStep *step = fact->maker;
    if (step == NULL || value->var->id >= g->vars || g->uses[value->var->id] != 1) return 0;
    if (step->kind == FLOW_SNOC) return step->args.items[0].var == array;
    uint32_t all = 0;
    for (uint32_t i = 0; step->kind == FLOW_SWITCH && i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit == EXIT_NEVER) continue;
        uint32_t some = block->exit == EXIT_YIELD ? growths(g, &block->values.items[fact->index], array) : 0;
        if (some == 0) return 0;
        all += some;
    }
    return all;
}

static bool is_length_asked(const CtFlowStep *step, uint32_t arg) {
    if (step->kind == FLOW_CHECK) return arg == 1 && step->as.index == 0;
    return step->kind == FLOW_CHECK_ZIP || (step->kind == FLOW_DIM && step->as.index == 0);
}

/* How many uses of the array in a block are of other kinds than those that can be rewritten, or, of `kind`, are
 * that. */
static uint32_t count_in(const CtFlowBlock *block, const CtFlowVar *array, CtFlowStepKind kind, bool other) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < step->args.count; j++) {
            if (step->args.items[j].var != array) continue;
            bool grows = step->kind == FLOW_SNOC && j == 0;
            bool reads = step->kind == FLOW_READ && j == 0 && step->args.count == 2;
            found += other ? !grows && !reads && !is_length_asked(step, j) : step->kind == kind;
        }
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            found += count_in(ct_flow_inner(step, j), array, kind, other);
    }
    for (uint32_t i = 0; i < block->values.count; i++) found += other && block->values.items[i].var == array;
    return found;
}

static bool grows(const Grown *g, const CtFlowStep *loop, uint32_t carried) {
    const CtFlowBlock *body = loop->as.loop.block;
    const CtFlowArg *start = &loop->args.items[1 + carried];
    const CtFlowVar *array = body->params.items[1 + carried];
    if (array->type->kind != FLOW_ARRAY || array->type->rank != 1 || ct_flow_is_object(array->type->element))
        return false;
    if (!is_empty(g, start) || !is_bounded(g, &loop->args.items[0])) return false;
    uint32_t times = growths(g, &body->values.items[carried], array);
    return times > 0 && count_in(body, array, FLOW_READ, true) == 0 && count_in(body, array, FLOW_SNOC, false) == times;
}

/* ---- an array of one element behind another ---- */

/* Makes what a loop carries on of an array, by appending arrays of one element, of these elements. */
static void append_one(Grown *g, const CtFlowArg *value, const CtFlowVar *array) {
    const CtFlowFact *fact = ct_flow_fact(&g->facts, value);
    CtFlowStep *step = fact->maker;
    if (step == NULL) return;
    for (uint32_t i = 0; step->kind == FLOW_SWITCH && i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit == EXIT_YIELD) append_one(g, &block->values.items[fact->index], array);
    }
    if (!ct_flow_is_bulk(step, ARRAY_APPEND)) return;
    append_one(g, &step->args.items[0], array);
    const CtFlowStep *front = ct_flow_fact(&g->facts, &step->args.items[0])->maker;
    const CtFlowStep *behind = ct_flow_fact(&g->facts, &step->args.items[1])->maker;
    bool goes_on = step->args.items[0].var == array || (front != NULL && front->kind == FLOW_SNOC);
    if (!goes_on || !ct_flow_is_items(behind) || behind->args.count != 1) return;
    CT_FIRED("grown_arrays.append_one");
    CtFlowArgs args = {0};
    ct_push(g->flow->arena, &args, step->args.items[0]);
    ct_push(g->flow->arena, &args, behind->args.items[0]);
    *step = (CtFlowStep){.kind = FLOW_SNOC, .range = step->range, .args = args, .results = step->results};
}

/* ---- the rewriting ---- */

static void give_length(Grown *g, CtFlowStep *step, const CtFlowVar *array, CtFlowArg length) {
    CtFlowArgs args = {0};
    for (uint32_t i = 0; i < step->args.count; i++)
        ct_push(g->flow->arena, &args, step->args.items[i].var == array ? length : step->args.items[i]);
    if (step->kind == FLOW_DIM) { /* a copy of the length: length + 0 */
        step->kind = FLOW_PRIM;
        step->as.prim = PRIM_INT_ADD;
        ct_push(g->flow->arena, &args, (CtFlowArg){.type = length.type});
    }
    step->args = args;
}

static void rewrite_in(Grown *g, CtFlowBlock *block, const CtFlowVar *array, CtFlowArg index) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) rewrite_in(g, ct_flow_inner(step, j), array, index);
        bool asks = false;
        for (uint32_t j = 0; j < step->args.count; j++)
            asks |= step->args.items[j].var == array && is_length_asked(step, j);
        if (asks) give_length(g, step, array, index);
        if (step->kind != FLOW_SNOC || step->args.items[0].var != array) continue;
        CtFlowArgs args = {0};
        ct_push(g->flow->arena, &args, step->args.items[0]);
        ct_push(g->flow->arena, &args, index);
        ct_push(g->flow->arena, &args, step->args.items[1]);
        step->kind = FLOW_UPDATE;
        step->args = args;
    }
}

static CtFlowArg zero_of(CtFlowBuilder *l, const CtFlowType *type) {
    return type->kind == FLOW_I64 ? ct_flow_int(l, 0) : ct_flow_real(type, 0);
}

static void rewrite_loop(Grown *g, CtFlowBuilder *l, CtFlowStep *loop) {
    CtFlowArgs args = {0};
    CtFlowBlock *body = loop->as.loop.block;
    bool usual = !loop->as.loop.initial && !loop->as.loop.counted && body->exit == EXIT_YIELD;
    for (uint32_t i = 0; body->exit == EXIT_YIELD && i < loop->as.loop.carried; i++)
        append_one(g, &body->values.items[i], body->params.items[1 + i]);
    ct_push(l->arena, &args, loop->args.items[0]);
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        CtFlowArg start = loop->args.items[1 + i];
        if (usual && grows(g, loop, i) && CT_FIRED("grown_arrays.loop")) {
            CtFlowArg fill[] = {loop->args.items[0], zero_of(l, start.type->element)};
            start = ct_flow_bulk(l, loop->range, ARRAY_REPLICATE, start.type, fill, 2);
            rewrite_in(g, body, body->params.items[1 + i], flow_of(body->params.items[0]));
        }
        ct_push(l->arena, &args, start);
    }
    loop->args = args;
}

static void visit(Grown *g, CtFlowBlock *block) {
    CtFlowBuilder l = {.flow = g->flow, .arena = g->flow->arena, .function = g->function};
    CtFlowBlock *fresh = l.block = ct_flow_block(&l);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(g, ct_flow_inner(step, j));
        if (step->kind == FLOW_LOOP) rewrite_loop(g, &l, step);
        ct_push(l.arena, &fresh->steps, step);
    }
    block->steps.items = fresh->steps.items;
    block->steps.count = fresh->steps.count;
    block->steps.capacity = fresh->steps.capacity;
}

void ct_flow_grown_arrays(CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        Grown g = {.flow = flow, .function = flow->functions.items[i], .vars = flow->functions.items[i]->vars};
        g.uses = ct_flow_count_uses(flow, g.function);
        ct_flow_facts_begin(&g.facts, flow, g.function);
        visit(&g, g.function->body);
    }
}
