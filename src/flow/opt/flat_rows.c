/* Flat rows. An array inside of a tuple or record inside of an array may have any length, so an array of records is
 * stored as an array of references for each such field. Where a loop makes it and all its rows certainly have one
 * shape, and nothing but elements of the array are used, it is a matrix instead. So differentiation adds to rows of a
 * matrix, not to bags, and lengths of rows are the same in all iterations of loops over it.
 *
 * A row that a loop puts together of two slices, as one without an element, is made by a loop that reads the one array
 * or the other. So neither these slices are made, nor their cotangents. */
#include "flow/opt/passes.h"

typedef struct Flat {
    CtFlow *flow;
    CtFlowMarks rows; /* arrays of rows that become matrices */
    bool changed;
} Flat;

/* The type of a matrix of such rows; NULL for other types of arrays. */
static const CtFlowType *matrix_type(CtFlow *flow, const CtFlowType *type) {
    if (type->rank != 1 || type->element->kind != FLOW_ARRAY) return NULL;
    const CtFlowType *row = type->element;
    return ct_flow_is_object(row->element) ? NULL : ct_flow_array(flow, 1 + row->rank, row->element);
}

static void find(void *data, CtFlowStep *step) {
    Flat *f = data;
    if (step->kind != FLOW_LOOP) return;
    for (uint32_t i = step->as.loop.carried; i < step->results.count; i++) {
        const CtFlowVar *array = step->results.items[i];
        if (array != NULL && matrix_type(f->flow, array->type) != NULL && ct_flow_has_regular_rows(step, i))
            ct_flow_mark(&f->rows, array, true);
    }
}

/* Whether a step reads an element of an argument that is an array of rows. Its length is that of the loop. */
static bool is_allowed(const CtFlowStep *step, uint32_t index) {
    return step->kind == FLOW_READ && index == 0 && step->args.count == 2;
}

static void refuse_all(Flat *f, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].var != NULL) ct_flow_mark(&f->rows, args->items[i].var, false);
}

static void refuse(void *data, CtFlowStep *step) {
    Flat *f = data;
    for (uint32_t i = 0; i < step->args.count; i++)
        if (step->args.items[i].var != NULL && !is_allowed(step, i))
            ct_flow_mark(&f->rows, step->args.items[i].var, false);
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) refuse_all(f, &ct_flow_inner(step, i)->values);
}

static bool is_flat(const Flat *f, const CtFlowVar *var) {
    return var != NULL && var->id < f->rows.count && f->rows.items[var->id];
}

static void change(void *data, CtFlowStep *step) {
    Flat *f = data;
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowVar *var = step->results.items[i];
        if (!is_flat(f, var)) continue;
        f->changed = CT_FIRED("flat_rows.array");
        var->type = matrix_type(f->flow, var->type);
    }
    for (uint32_t i = 0; i < step->args.count; i++)
        if (is_flat(f, step->args.items[i].var)) step->args.items[i].type = step->args.items[i].var->type;
}

/* ---- rows of slices ---- */

typedef struct Joined {
    CtFlowBuilder b;
    uint32_t *uses;
} Joined;

/* The step that makes a part as a slice for the row alone; NULL: it is something else. */
static const CtFlowStep *slice_of(const Joined *j, const CtFlowBlock *block, const CtFlowArg *part) {
    const CtFlowStep *step = part->var != NULL && j->uses[part->var->id] == 1 ? ct_flow_binder(block, part->var) : NULL;
    return ct_flow_is_bulk(step, ARRAY_SLICE) ? step : NULL;
}

/* Whether nothing in front of a step of the block can change an array in place. */
static bool changes_nothing(const CtFlowBlock *block, const CtFlowStep *until) {
    for (uint32_t i = 0; i < block->steps.count && block->steps.items[i] != until; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool plain = step->kind == FLOW_PRIM || step->kind == FLOW_DIM || step->kind == FLOW_READ ||
                     step->kind == FLOW_CHECK_SLICE || step->kind == FLOW_CHECK || step->kind == FLOW_CHECK_SIZE ||
                     ct_flow_is_bulk(step, ARRAY_SLICE) || ct_flow_is_bulk(step, ARRAY_APPEND);
        if (!plain) return false;
    }
    return true;
}

static CtFlowArgs one(Joined *j, CtFlowArg arg) {
    CtFlowArgs args = {0};
    ct_push(j->b.arena, &args, arg);
    return args;
}

/* Writes the loop in place of the step that appends. */
static void join_slices(Joined *j, const CtFlowStep *append, const CtFlowStep *const *slices) {
    CtFlowBuilder *b = &j->b;
    CtSourceRange range = append->range;
    CtFlowArg cut = slices[0]->args.items[1], begin = slices[0]->args.items[0];
    CtFlowArg length = ct_flow_prim_int(b, range, PRIM_INT_ADD, cut, slices[1]->args.items[1]);
    CtFlowArg shift = ct_flow_prim_int(b, range, PRIM_INT_SUB, slices[1]->args.items[0], cut);
    CtFlowArgs none = {0};
    CtFlowLooping loop = ct_flow_loop_begin(b, range, length, &none);
    CtFlowArg below = ct_flow_prim_int(b, range, PRIM_INT_LT, loop.index, cut);
    CtFlowChoosing choice = ct_flow_switch_begin(b, range, below);
    for (uint32_t i = 0; i < 2; i++) {
        ct_flow_case_begin(b, &choice, i == 0 ? 1 : FLOW_OTHERS);
        CtFlowArg at = ct_flow_prim_int(b, range, PRIM_INT_ADD, loop.index, i == 0 ? begin : shift);
        CtFlowArgs value = one(j, ct_flow_read(b, range, slices[i]->args.items[2], &at, 1));
        ct_flow_case_end(b, &choice, &value);
    }
    CtFlowArgs items = ct_flow_switch_end(b, &choice);
    const CtFlowType *row = append->results.items[0]->type;
    CtFlowTypes types = {.items = &row, .count = 1};
    ct_flow_loop_end(b, &loop, &none, &items, &types);
    b->block->steps.items[b->block->steps.count - 1]->results = append->results;
    CT_FIRED("flat_rows.slices");
}

static void join_in(Joined *j, CtFlowBlock *block) {
    CtFlowBlock *fresh = ct_flow_block(&j->b);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        const CtFlowStep *slices[2] = {0};
        bool yields = false;
        for (uint32_t k = 0; ct_flow_is_bulk(step, ARRAY_APPEND) && k < block->values.count; k++)
            yields |= block->values.items[k].var == step->results.items[0];
        bool row = yields && step->results.items[0]->type->rank == 1 &&
                   !ct_flow_is_object(step->results.items[0]->type->element) && changes_nothing(block, step);
        for (uint32_t k = 0; row && k < 2; k++) row = (slices[k] = slice_of(j, block, &step->args.items[k])) != NULL;
        j->b.block = fresh;
        if (row)
            join_slices(j, step, slices);
        else
            ct_push(j->b.arena, &fresh->steps, step);
    }
    block->steps.items = fresh->steps.items;
    block->steps.count = fresh->steps.count;
    block->steps.capacity = fresh->steps.capacity;
}

static void join_rows(void *data, CtFlowStep *step) {
    if (step->kind == FLOW_LOOP && step->as.loop.block->exit == EXIT_YIELD) join_in(data, step->as.loop.block);
}

/* The rows of an array may be those of another one: once this is a matrix they have one shape. */
static bool flatten(CtFlow *flow, CtFlowBlock *body) {
    Flat f = {.flow = flow, .rows = {.arena = flow->arena}};
    ct_flow_each_step(body, find, &f);
    if (f.rows.count == 0) return false;
    ct_flow_each_step(body, refuse, &f);
    refuse_all(&f, &body->values);
    ct_flow_each_step(body, change, &f);
    return f.changed;
}

void ct_flow_flat_rows(CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        Joined j = {.b = {.flow = flow, .arena = flow->arena, .function = function},
                    .uses = ct_flow_count_uses(flow, function)};
        ct_flow_each_step(function->body, join_rows, &j);
    }
    for (uint32_t i = 0; i < flow->functions.count; i++)
        while (flatten(flow, flow->functions.items[i]->body)) continue;
    while (ct_flow_flatten_classes(flow)) continue;
}
