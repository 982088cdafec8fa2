/* Rows that a loop carries. Where a loop begins with a row of an array and goes on with that or with another row of it,
 * as `minimumBy (comparing (distance p)) cs` does, the index of the row is carried instead:
 *
 *     r0 = read cs, 0                                k = fold n, 0 do i, k
 *     r = fold n, r0 do i, r                           r = read cs, k
 *       c = read (slice 1, n, cs), i                   c = read cs, 1 + i
 *       ⟨t⟩                                            ⟨t⟩
 *       yield switch t { 0: r  1: c }          →       yield switch t { 0: k  1: 1 + i }
 *                                                    r = read cs, k
 *
 * So reads of its elements are reads of the array, which need no memory, and their adjoints go to the array at once. */
#include "flow/build.h"
#include "flow/opt/passes.h"

enum { DEEPEST = 8 };

typedef struct CarriedRows {
    CtFlow *flow;
    CtFlowFunction *function;
    CtFlowFacts facts;
    CtFlowBuilder b;
    uint32_t depth;         /* of the block that the loop is in */
    const CtFlowVar *row;   /* what is carried */
    const CtFlowVar *index; /* carried instead */
    CtFlowArg array;        /* of which all are rows; without a type: not known yet */
} CarriedRows;

/* The array behind slices. `starts`: where these begin; or NULL. */
static CtFlowArg whole_of(const CarriedRows *c, CtFlowArg array, CtFlowArgs *starts) {
    for (const CtFlowStep *part = ct_flow_fact(&c->facts, &array)->maker; ct_flow_is_bulk(part, ARRAY_SLICE);
         part = ct_flow_fact(&c->facts, &array)->maker) {
        if (starts != NULL) ct_push(c->flow->arena, starts, part->args.items[0]);
        array = part->args.items[2];
    }
    return array;
}

static bool is_row(const CtFlowStep *step) {
    if (step == NULL || step->kind != FLOW_READ || step->args.count != 2) return false;
    const CtFlowType *type = step->results.items[0]->type;
    return type->kind == FLOW_ARRAY && type->element == step->args.items[0].type->element &&
           type->rank + 1 == step->args.items[0].type->rank;
}

/* Whether a value is the carried row, a row of the array, or one of these by switches. */
static bool is_from_array(CarriedRows *c, const CtFlowArg *value, int depth) {
    if (value->var == c->row) return true;
    const CtFlowFact *fact = ct_flow_fact(&c->facts, value);
    if (depth == 0 || fact->maker == NULL) return false;
    if (is_row(fact->maker)) {
        CtFlowArg array = whole_of(c, fact->maker->args.items[0], NULL);
        if (array.var == NULL || ct_flow_fact(&c->facts, &array)->depth > c->depth) return false;
        if (!ct_flow_is_none(c->array)) return ct_flow_same(&array, &c->array);
        c->array = array;
        return true;
    }
    if (fact->maker->kind != FLOW_SWITCH || fact->depth <= c->depth) return false;
    for (uint32_t i = 0; i < fact->maker->as.cases.count; i++) {
        const CtFlowBlock *block = fact->maker->as.cases.branches[i].block;
        if (block->exit == EXIT_NEVER) continue;
        if (block->exit != EXIT_YIELD || !is_from_array(c, &block->values.items[fact->index], depth - 1)) return false;
    }
    return true;
}

/* Whether a loop carries rows of one array in a place. */
static bool carries_rows(CarriedRows *c, const CtFlowStep *loop, uint32_t place) {
    const CtFlowBlock *body = loop->as.loop.block;
    const CtFlowArg *first = &loop->args.items[1 + place], *next = &body->values.items[place];
    c->row = body->params.items[1 + place];
    c->array = ct_flow_none();
    if (c->row->type->kind != FLOW_ARRAY || next->var == c->row || loop->results.items[place] == NULL) return false;
    if (!is_row(ct_flow_fact(&c->facts, first)->maker) || !is_from_array(c, first, DEEPEST)) return false;
    return is_from_array(c, next, DEEPEST);
}

/* ---- the index instead ---- */

/* The index of a row that is read. */
static CtFlowArg index_of_read(CarriedRows *c, const CtFlowStep *read) {
    CtFlowArgs starts = {0};
    CtFlowArg index = read->args.items[1];
    whole_of(c, read->args.items[0], &starts);
    for (uint32_t i = 0; i < starts.count; i++)
        index = ct_flow_prim_int(&c->b, read->range, PRIM_INT_ADD, index, starts.items[i]);
    return index;
}

/* The index of a value that a block yields: computed at its end, or yielded by the switches that choose the value. */
static CtFlowArg index_at_end(CarriedRows *c, CtFlowBlock *block, const CtFlowArg *value) {
    if (value->var == c->row) return flow_of((CtFlowVar *)c->index); // NOLINT
    const CtFlowFact *fact = ct_flow_fact(&c->facts, value);
    CtFlowStep *maker = fact->maker;
    if (maker->kind == FLOW_READ) {
        CtFlowBlock *around = c->b.block;
        CtFlowExit exit = block->exit;
        c->b.block = block;
        block->exit = EXIT_OPEN;
        CtFlowArg index = index_of_read(c, maker);
        block->exit = exit;
        c->b.block = around;
        return index;
    }
    for (uint32_t i = 0; i < maker->as.cases.count; i++) {
        CtFlowBlock *branch = maker->as.cases.branches[i].block;
        if (branch->exit == EXIT_NEVER) continue;
        CtFlowArg index = index_at_end(c, branch, &branch->values.items[fact->index]);
        ct_push(c->flow->arena, &branch->values, index);
    }
    return ct_flow_result(&c->b, maker, "k", c->facts.integer);
}

/* Carries the index in the place of the row; the row is read at the beginning of each iteration. The result is then the
 * last index, of which the caller reads the row. */
static void carry_index(CarriedRows *c, CtFlowStep *loop, uint32_t place) {
    CtFlowBlock *body = loop->as.loop.block;
    CtFlowArg first = index_of_read(c, ct_flow_fact(&c->facts, &loop->args.items[1 + place])->maker);
    CtFlowVar *row = body->params.items[1 + place], *index = ct_flow_var(&c->b, "k", c->facts.integer);
    c->index = index;
    body->values.items[place] = index_at_end(c, body, &body->values.items[place]);
    loop->args.items[1 + place] = first;
    body->params.items[1 + place] = index;
    CtFlowStep *read = CT_NEW(c->flow->arena, CtFlowStep);
    *read = (CtFlowStep){.kind = FLOW_READ, .range = loop->range};
    ct_push(c->flow->arena, &read->args, c->array);
    ct_push(c->flow->arena, &read->args, flow_of(index));
    ct_push(c->flow->arena, &read->results, row);
    CtFlowBlock before = *body;
    memset(&body->steps, 0, sizeof body->steps);
    ct_push(c->flow->arena, &body->steps, read);
    for (uint32_t i = 0; i < before.steps.count; i++) ct_push(c->flow->arena, &body->steps, before.steps.items[i]);
}

/* ---- the walk ---- */

static void visit(CarriedRows *c, CtFlowBlock *block, uint32_t depth) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        for (uint32_t j = 0; j < ct_flow_inner_count(block->steps.items[i]); j++)
            visit(c, ct_flow_inner(block->steps.items[i], j), depth + 1);
    CtFlowBlock before = ct_flow_reopen(block);
    for (uint32_t i = 0; i < before.steps.count; i++) {
        CtFlowStep *step = before.steps.items[i];
        bool loop = step->kind == FLOW_LOOP && !step->as.loop.initial && step->as.loop.block->exit == EXIT_YIELD;
        CtFlowVars rows = {0}, indices = {0};
        CtFlowArgs arrays = {0};
        c->b.block = block;
        c->depth = depth;
        for (uint32_t j = 0; loop && j < step->as.loop.carried; j++) {
            if (!carries_rows(c, step, j)) continue;
            CT_FIRED("carried_rows.index");
            carry_index(c, step, j);
            ct_push(c->b.arena, &rows, step->results.items[j]);
            ct_push(c->b.arena, &arrays, c->array);
            step->results.items[j] = ct_flow_var(&c->b, "k", c->facts.integer);
            ct_push(c->b.arena, &indices, step->results.items[j]);
        }
        ct_push(c->b.arena, &block->steps, step);
        for (uint32_t j = 0; j < rows.count; j++) {
            CtFlowStep *read = ct_flow_step(&c->b, FLOW_READ, step->range);
            ct_flow_arg(&c->b, read, arrays.items[j]);
            ct_flow_arg(&c->b, read, flow_of(indices.items[j]));
            ct_push(c->b.arena, &read->results, rows.items[j]);
        }
    }
    block->exit = before.exit;
}

void ct_flow_carried_rows(CtFlow *flow) {
    CarriedRows c = {.flow = flow};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        c.function = flow->functions.items[i];
        c.b = (CtFlowBuilder){.flow = flow, .arena = flow->arena, .function = c.function};
        ct_flow_facts_begin(&c.facts, flow, c.function);
        visit(&c, c.function->body, 0);
    }
}
