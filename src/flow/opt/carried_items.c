/* A small array that a loop carries and that each iteration makes of known elements, is carried by its elements:
 *
 *     y = fold n, y0 do i, y:            y0_0 = read y0, 0;  y0_1 = read y0, 1
 *       ⟨a, b of read y, 0, dim y⟩       z0, z1 = fold n, y0_0, y0_1 do i, x0, x1:
 *       y' = items a, b             →      y = items x0, x1
 *       yield y'                           ⟨a, b of read y, 0, dim y⟩
 *                                          yield a, b
 *                                        y = items z0, z1
 *
 * So a fold that adds vectors of three numbers carries three numbers, and makes no arrays. The array has as many
 * elements in front of the loop. Inside, it is only asked for its length, read at literals, or copied into an array
 * that the loop makes; simplification resolves this, and `items` in the block goes. Checks of its length become checks
 * of a number, and if the other length is that of the rows of an array, of what each row is made as long as. `unroll`
 * does this as it goes by, since the loop in the block that made the array has become its elements there. */
#include "flow/opt/passes.h"

const CtFlowArgs *ct_flow_known_items(const CtFlowFacts *facts, const CtFlowArg *array) {
    const CtFlowStep *made = ct_flow_fact(facts, array)->maker;
    return ct_flow_is_items(made) && made->args.count > 0 ? &made->args : NULL;
}

typedef struct Uses {
    const CtFlowVar *array;
    CtFlowArg count; /* its length, a literal */
    bool other;      /* it is used in another way than this file's head says */
} Uses;

static bool is_resolved(const Uses *u, const CtFlowStep *step) {
    switch (step->kind) {
    case FLOW_READ: {
        const CtFlowArg *index = &step->args.items[1];
        return step->args.items[0].var == u->array && index->var == NULL && index->lit.integer >= 0 &&
               index->lit.integer < u->count.lit.integer;
    }
    case FLOW_DIM:
    case FLOW_CHECK:
    case FLOW_CHECK_ZIP: return true;
    default: return false;
    }
}

static void look_at_use(void *data, CtFlowStep *step) {
    Uses *u = data;
    for (uint32_t i = 0; i < step->args.count; i++)
        if (step->args.items[i].var == u->array && !is_resolved(u, step)) u->other = true;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) {
        const CtFlowBlock *inner = ct_flow_inner(step, i);
        uint32_t carried = step->kind == FLOW_LOOP ? step->as.loop.carried : inner->values.count;
        for (uint32_t j = 0; j < carried && j < inner->values.count; j++)
            if (inner->values.items[j].var == u->array) u->other = true;
    }
}

typedef struct Checks {
    CtFlowBuilder *b; /* where steps in front of the loop go */
    const CtFlowFacts *facts;
    const CtFlowVar *array;
    CtFlowArg count;      /* its length, a literal, */
    CtFlowArg iterations; /* and how often the loop is run through */
    uint32_t depth;       /* of the block that the loop stands in */
} Checks;

/* The length of the rows of an array that a loop makes with as many iterations as this one, in which there is a row, is
 * that of each row; so the array need not be there. */
static CtFlowArg row_length(const Checks *c, CtSourceRange range, CtFlowArg length) {
    const CtFlowStep *dim = ct_flow_maker(c->facts, &length, FLOW_DIM);
    const CtFlowArg *rows = dim != NULL && dim->as.index == 1 ? &dim->args.items[0] : NULL;
    const CtFlowFact *fact = rows != NULL ? ct_flow_fact(c->facts, rows) : NULL;
    const CtFlowStep *made = fact != NULL ? fact->maker : NULL;
    bool each = made != NULL && fact->depth <= c->depth && made->kind == FLOW_LOOP && !made->as.loop.initial &&
                fact->index >= made->as.loop.carried && ct_flow_same(&made->args.items[0], &c->iterations);
    if (!each) return length;
    CtFlowLength row = ct_flow_length(c->facts, rows, 1, true);
    if (row.known.type != NULL) return CT_FIRED("unroll.row_length") ? row.known : length;
    if (row.array == rows->var || row.dimension >= row.array->type->rank) return length;
    CT_FIRED("unroll.row_length_of_array");
    return ct_flow_dim(c->b, range, flow_of((CtFlowVar *)row.array), row.dimension); // NOLINT
}

/* Checks look at the length itself. */
static void check_length(void *data, CtFlowStep *step) {
    const Checks *c = data;
    CtFlowArgs args = {0};
    bool asks = false;
    if (step->kind != FLOW_CHECK && step->kind != FLOW_CHECK_ZIP) return;
    for (uint32_t i = 0; i < step->args.count; i++) asks |= step->args.items[i].var == c->array;
    for (uint32_t i = 0; asks && i < step->args.count; i++) {
        CtFlowArg arg = step->args.items[i];
        bool other = step->kind == FLOW_CHECK_ZIP && arg.var != NULL && arg.type->kind == FLOW_I64;
        arg = arg.var == c->array ? c->count : other ? row_length(c, step->range, arg) : arg;
        ct_push(c->b->arena, &args, arg);
    }
    if (asks) step->args = args;
}

/* The elements after an iteration, if this array is carried by them; else NULL. */
static const CtFlowArgs *next_items(const CtFlowFacts *facts, const CtFlowStep *loop, uint32_t most, uint32_t carried) {
    const CtFlowBlock *block = loop->as.loop.block;
    const CtFlowArg *start = &loop->args.items[1 + carried];
    if (start->type->kind != FLOW_ARRAY || start->type->rank != 1) return NULL;
    const CtFlowArgs *next = ct_flow_known_items(facts, &block->values.items[carried]);
    if (next == NULL || next->count > most) return NULL;
    CtFlowLength length = ct_flow_length(facts, start, 0, false);
    if (!ct_flow_is_int(&length.known, next->count)) return NULL;
    Uses u = {.array = block->params.items[1 + carried], .count = length.known};
    ct_flow_each_step((CtFlowBlock *)block, look_at_use, &u);
    for (uint32_t i = 0; i < loop->as.loop.carried; i++)
        if (block->values.items[i].var == u.array) u.other = true;
    return u.other ? NULL : next;
}

/* The elements in front of the loop. */
static CtFlowArgs first_items(CtFlowBuilder *b, const CtFlowFacts *facts, const CtFlowArg *start, uint32_t count,
                              CtSourceRange range) {
    const CtFlowArgs *known = ct_flow_known_items(facts, start);
    if (known != NULL) return *known;
    CtFlowArgs read = {0};
    for (uint32_t i = 0; i < count; i++) {
        CtFlowArg index = ct_flow_int(b, i);
        ct_push(b->arena, &read, ct_flow_read(b, range, *start, &index, 1));
    }
    return read;
}

static void add_items(CtFlowBuilder *b, CtSourceRange range, CtFlowVar *array, const CtFlowArgs *elements) {
    CtFlowStep *items = ct_flow_step(b, FLOW_ITEMS, range);
    ct_flow_args_add(b, &items->args, elements);
    ct_push(b->arena, &items->results, array);
}

static CtFlowArgs fresh(CtFlowBuilder *b, CtFlowVars *to, const CtFlowVar *array, uint32_t count) {
    CtFlowArgs all = {0};
    for (uint32_t i = 0; i < count; i++) {
        CtFlowVar *var = ct_flow_var(b, array->name, array->type->element);
        ct_push(b->arena, to, var);
        ct_push(b->arena, &all, flow_of(var));
    }
    return all;
}

/* For each carried value the elements after an iteration, where it becomes its elements; NULL if none does. */
static const CtFlowArgs **all_next_items(CtFlowBuilder *b, const CtFlowFacts *facts, const CtFlowStep *loop,
                                         uint32_t most) {
    if (loop->as.loop.initial || loop->as.loop.associative || loop->as.loop.block->exit != EXIT_YIELD) return NULL;
    const CtFlowArgs **all = CT_NEW_ARRAY(b->arena, const CtFlowArgs *, loop->as.loop.carried + 1);
    bool some = false;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        all[i] = next_items(facts, loop, most, i);
        some |= all[i] != NULL;
    }
    return some ? all : NULL;
}

void ct_flow_carry_items(CtFlowBuilder *b, CtFlowFacts *facts, CtFlowStep *loop, uint32_t most, uint32_t depth) {
    const CtFlowArgs **next = all_next_items(b, facts, loop, most);
    if (next == NULL) {
        ct_push(b->arena, &b->block->steps, loop);
        return;
    }
    CT_FIRED("unroll.carried_items");
    CtFlowStep old = *loop;
    CtFlowBlock *block = loop->as.loop.block, was = ct_flow_reopen(block), behind = {.exit = EXIT_OPEN};
    CtFlowBuilder inside = {b->flow, b->arena, b->function, block}, after = {b->flow, b->arena, b->function, &behind};
    CtFlowArgs values = {0};
    memset(&loop->args, 0, sizeof loop->args);
    memset(&loop->results, 0, sizeof loop->results);
    memset(&block->params, 0, sizeof block->params);
    ct_push(b->arena, &loop->args, old.args.items[0]);
    ct_push(b->arena, &block->params, was.params.items[0]);
    for (uint32_t i = 0; i < old.results.count; i++) {
        CtFlowVar *result = old.results.items[i];
        bool carried = i < old.as.loop.carried;
        if (!carried || next[i] == NULL) {
            if (carried) ct_push(b->arena, &loop->args, old.args.items[1 + i]);
            if (carried) ct_push(b->arena, &block->params, was.params.items[1 + i]);
            ct_push(b->arena, &loop->results, result);
            ct_push(b->arena, &values, was.values.items[i]);
            continue;
        }
        CtFlowVar *param = was.params.items[1 + i];
        CtFlowArgs first = first_items(b, facts, &old.args.items[1 + i], next[i]->count, old.range);
        ct_flow_args_add(b, &loop->args, &first);
        Checks checks = {b, facts, param, ct_flow_int(b, next[i]->count), old.args.items[0], depth};
        ct_flow_each_step(&was, check_length, &checks);
        CtFlowArgs each = fresh(&inside, &block->params, param, next[i]->count);
        add_items(&inside, old.range, param, &each);
        ct_flow_args_add(b, &values, next[i]);
        CtFlowArgs last = fresh(&after, &loop->results, result, next[i]->count);
        add_items(&after, old.range, result, &last);
        loop->as.loop.carried += next[i]->count - 1;
    }
    for (uint32_t i = 0; i < was.steps.count; i++) ct_push(b->arena, &block->steps, was.steps.items[i]);
    ct_flow_leave(&inside, EXIT_YIELD, was.range, &values, NULL);
    ct_push(b->arena, &b->block->steps, loop);
    for (uint32_t i = 0; i < behind.steps.count; i++) ct_push(b->arena, &b->block->steps, behind.steps.items[i]);
    ct_flow_facts_add(facts, b->block, depth);
}
