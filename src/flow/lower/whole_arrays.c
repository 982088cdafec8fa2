/* Array operations without a function argument. An array of tuples is several arrays, and the operation is applied to
 * each. */
#include "flow/lower/internal.h"

CtFlowArgs ct_flow_lower_read(Lower *l, CtSourceRange range, const CtFlowArgs *arrays, const CtFlowArg *indices,
                              uint32_t count) {
    CtFlowArgs results = {0};
    for (uint32_t i = 0; i < arrays->count; i++) {
        const CtFlowType *type = arrays->items[i].type;
        CtFlowStep *step = ct_flow_step(&l->b, FLOW_READ, range);
        ct_flow_arg(&l->b, step, arrays->items[i]);
        for (uint32_t j = 0; j < count; j++) ct_flow_arg(&l->b, step, indices[j]);
        type = type->rank == count ? type->element : ct_flow_array(l->b.flow, type->rank - count, type->element);
        ct_push(l->b.arena, &results, ct_flow_result(&l->b, step, NULL, type));
    }
    return results;
}

/* ---- elements ---- */

enum { MOST_INDICES = 16 };

typedef struct Place { /* xs ! i ! j …: the rows on the way are not made */
    CtFlowArgs arrays;
    CtFlowArg indices[MOST_INDICES];
    uint32_t count;
} Place;

static bool is_index(const CtCore *e) { return e->kind == CORE_ARRAY && e->as.call.of.array == ARRAY_INDEX; }

static void check_index(Lower *l, CtSourceRange range, CtFlowArg index, CtFlowArg array, uint32_t dimension) {
    CtFlowStep *check = ct_flow_step(&l->b, FLOW_CHECK, range);
    check->as.index = dimension;
    ct_flow_arg(&l->b, check, index);
    ct_flow_arg(&l->b, check, array);
}

static Place lower_place(Lower *l, CtCore *e) {
    if (!is_index(e) || e->as.call.args[0]->type->kind != TYPE_ARRAY) return (Place){.arrays = ct_flow_lower(l, e)};
    Place place = lower_place(l, e->as.call.args[0]);
    if (place.count == MOST_INDICES) ct_flow_lower_refuse(l, "an array of too many dimensions");
    CtFlowArg index = ct_flow_lower_one(l, e->as.call.args[1]);
    /* The element may be a tuple; only the outermost index can be out of range beyond the rows. */
    check_index(l, e->range, index, place.arrays.items[0], place.count);
    place.indices[place.count++] = index;
    if (e->type->kind == TYPE_ARRAY && place.arrays.items[0].type->rank > place.count) return place;
    return (Place){.arrays = ct_flow_lower_read(l, e->range, &place.arrays, place.indices, place.count)};
}

static CtFlowArgs lower_index(Lower *l, CtCore *e) {
    Place place = lower_place(l, e);
    return place.count == 0 ? place.arrays : ct_flow_lower_read(l, e->range, &place.arrays, place.indices, place.count);
}

static CtFlowArgs one_result(Lower *l, CtFlowStep *step, const CtFlowType *type) {
    CtFlowArgs results = {0};
    ct_push(l->b.arena, &results, ct_flow_result(&l->b, step, NULL, type));
    return results;
}

static CtFlowArgs lower_length(Lower *l, CtCore *e) {
    Place place = lower_place(l, e->as.call.args[0]);
    CtFlowArgs results = {0};
    ct_push(l->b.arena, &results, ct_flow_dim(&l->b, e->range, place.arrays.items[0], place.count));
    return results;
}

/* update and snoc, on each array of an array of tuples. */
static CtFlowArgs lower_change(Lower *l, CtCore *e) {
    bool update = e->as.call.of.array == ARRAY_UPDATE;
    CtFlowArgs arrays = ct_flow_lower(l, e->as.call.args[0]), results = {0};
    CtFlowArg index = {0};
    if (update) index = ct_flow_lower_one(l, e->as.call.args[1]);
    CtFlowArgs items = ct_flow_lower(l, e->as.call.args[update ? 2 : 1]);
    if (update) check_index(l, e->range, index, arrays.items[0], 0);
    for (uint32_t i = 0; i < arrays.count; i++) {
        CtFlowStep *step = ct_flow_step(&l->b, update ? FLOW_UPDATE : FLOW_SNOC, e->range);
        ct_flow_arg(&l->b, step, arrays.items[i]);
        if (update) ct_flow_arg(&l->b, step, index);
        ct_flow_arg(&l->b, step, items.items[i]);
        ct_push(l->b.arena, &results, ct_flow_result(&l->b, step, NULL, arrays.items[i].type));
    }
    return results;
}

/* ---- whole arrays ---- */

static const CtFlowType *bulk_type(Lower *l, CtArrayOp op, const CtFlowType *array) {
    if (op == ARRAY_CONCAT) return ct_flow_array(l->b.flow, array->rank - 1, array->element);
    if (op == ARRAY_RESHAPE) return ct_flow_array(l->b.flow, array->rank + 1, array->element);
    return array;
}

/* Applies an operation to each array of an array of tuples. `front`: arguments that are the same for all; `second`: the
 * arrays of a second argument (append), or none. */
static CtFlowArgs each_array(Lower *l, CtCore *e, const CtFlowArgs *front, const CtFlowArgs *arrays,
                             const CtFlowArgs *second) {
    CtFlowArgs results = {0};
    for (uint32_t i = 0; i < arrays->count; i++) {
        CtFlowStep *step = ct_flow_step(&l->b, FLOW_BULK, e->range);
        step->as.bulk = e->as.call.of.array;
        ct_flow_args_add(&l->b, &step->args, front);
        ct_flow_arg(&l->b, step, arrays->items[i]);
        if (second->count > 0) ct_flow_arg(&l->b, step, second->items[i]);
        ct_push(l->b.arena, &results,
                ct_flow_result(&l->b, step, NULL, bulk_type(l, e->as.call.of.array, arrays->items[i].type)));
    }
    return results;
}

static CtFlowArgs lower_replicate(Lower *l, CtCore *e) {
    CtFlowArg count = ct_flow_lower_one(l, e->as.call.args[0]);
    CtFlowArgs items = ct_flow_lower(l, e->as.call.args[1]), results = {0};
    CtFlowStep *check = ct_flow_step(&l->b, FLOW_CHECK_SIZE, e->range);
    check->as.bulk = ARRAY_REPLICATE;
    ct_flow_arg(&l->b, check, count);
    const CtFlowTypes *types = ct_flow_types(l->b.flow, e->type);
    for (uint32_t i = 0; i < items.count; i++) {
        CtFlowStep *step = ct_flow_step(&l->b, FLOW_BULK, e->range);
        step->as.bulk = ARRAY_REPLICATE;
        ct_flow_arg(&l->b, step, count);
        ct_flow_arg(&l->b, step, items.items[i]);
        ct_push(l->b.arena, &results, ct_flow_result(&l->b, step, NULL, types->items[i]));
    }
    return results;
}

static CtFlowArgs lower_iota(Lower *l, CtCore *e) {
    CtFlowArg count = ct_flow_lower_one(l, e->as.call.args[0]);
    CtFlowStep *check = ct_flow_step(&l->b, FLOW_CHECK_SIZE, e->range);
    check->as.bulk = ARRAY_IOTA;
    ct_flow_arg(&l->b, check, count);
    CtFlowStep *step = ct_flow_step(&l->b, FLOW_BULK, e->range);
    step->as.bulk = ARRAY_IOTA;
    ct_flow_arg(&l->b, step, count);
    return one_result(l, step, ct_flow_types(l->b.flow, e->type)->items[0]);
}

/* An operation that gives a scalar, or a shape, of an array. */
static CtFlowArgs lower_whole(Lower *l, CtCore *e) {
    CtFlowArgs array = ct_flow_lower(l, e->as.call.args[0]);
    CtFlowStep *step = ct_flow_step(&l->b, FLOW_BULK, e->range);
    step->as.bulk = e->as.call.of.array;
    ct_flow_arg(&l->b, step, array.items[0]);
    if (e->as.call.of.array == ARRAY_SHAPE) {
        uint32_t rank = 0;
        for (const CtType *t = e->as.call.args[0]->type; t->kind == TYPE_ARRAY; t = t->parts[0]) rank++;
        ct_flow_arg(&l->b, step, ct_flow_int(&l->b, rank));
    }
    return one_result(l, step, ct_flow_types(l->b.flow, e->type)->items[0]);
}

static void check_slice(Lower *l, CtSourceRange range, const CtFlowArgs *args) {
    CtFlowStep *check = ct_flow_step(&l->b, FLOW_CHECK_SLICE, range);
    for (uint32_t i = 0; i < 3; i++) ct_flow_arg(&l->b, check, args[i].items[0]);
}

static CtFlowArgs lower_rearranged(Lower *l, CtCore *e) {
    CtFlowArgs args[3] = {{0}, {0}, {0}}, none = {0}, front = {0};
    for (uint32_t i = 0; i < e->as.call.count; i++) args[i] = ct_flow_lower(l, e->as.call.args[i]);
    switch (e->as.call.of.array) {
    case ARRAY_APPEND: return each_array(l, e, &none, &args[0], &args[1]);
    case ARRAY_GATHER: return each_array(l, e, &args[1], &args[0], &none);
    case ARRAY_SLICE: check_slice(l, e->range, args); __attribute__((fallthrough));
    case ARRAY_RESHAPE:
        ct_flow_args_add(&l->b, &front, &args[0]);
        ct_flow_args_add(&l->b, &front, &args[1]);
        return each_array(l, e, &front, &args[2], &none);
    default: return each_array(l, e, &none, &args[0], &none);
    }
}

CtFlowArgs ct_flow_lower_array(Lower *l, CtCore *e) {
    switch (e->as.call.of.array) {
    case ARRAY_INDEX: return lower_index(l, e);
    case ARRAY_LENGTH: return lower_length(l, e);
    case ARRAY_UPDATE:
    case ARRAY_SNOC: return lower_change(l, e);
    case ARRAY_BUILD:
    case ARRAY_MAP:
    case ARRAY_ZIP_WITH:
    case ARRAY_FOLDL:
    case ARRAY_SCANL:
    case ARRAY_REDUCE:
    case ARRAY_SCAN:
    case ARRAY_MAP_ACCUM: return ct_flow_lower_loop(l, e);
    case ARRAY_SHAPE:
    case ARRAY_SUM:
    case ARRAY_PRODUCT:
    case ARRAY_MAXIMUM:
    case ARRAY_MINIMUM:
    case ARRAY_ARGMAX:
    case ARRAY_ARGMIN: return lower_whole(l, e);
    case ARRAY_REPLICATE: return lower_replicate(l, e);
    case ARRAY_IOTA: return lower_iota(l, e);
    case ARRAY_GATHER:
    case ARRAY_TRANSPOSE:
    case ARRAY_RESHAPE:
    case ARRAY_REVERSE:
    case ARRAY_APPEND:
    case ARRAY_SLICE:
    case ARRAY_CONCAT: return lower_rearranged(l, e);
    case ARRAY_SCATTER_ADD:
    case ARRAY_ADD_AT:
    case ARRAY_SUM_ROWS:
        if (ct_ad_is_flat(e)) return ct_flow_lower(l, ct_ad_flat(l->p, e));
        break;
    case ARRAY_STRIDED:
    case ARRAY_GATHER_OR:
    case ARRAY_SELECT:
    case CT_ARRAY_OP_COUNT: break;
    }
    ct_flow_lower_refuse(l, "an operation on flat arrays that only transformations write");
}

/* ---- literals ---- */

CtFlowArgs ct_flow_lower_array_literal(Lower *l, CtCore *e) {
    CtType *element = e->type->parts[0];
    const CtFlowTypes *types = ct_flow_types(l->b.flow, e->type);
    uint32_t count = e->as.call.count;
    CtFlowArgs *items = CT_NEW_ARRAY(l->b.arena, CtFlowArgs, count + 1), results = {0};
    bool literals = count > 0;
    for (uint32_t i = 0; i < count; i++) {
        items[i] = ct_flow_lower(l, e->as.call.args[i]);
        for (uint32_t j = 0; j < items[i].count; j++) literals &= items[i].items[j].var == NULL;
        for (uint32_t j = 0; i > 0 && element->kind == TYPE_ARRAY && j < types->count; j++) {
            CtFlowStep *check = ct_flow_step(&l->b, FLOW_CHECK_SHAPE, e->as.call.args[i]->range);
            check->as.index = i;
            ct_flow_arg(&l->b, check, items[0].items[j]);
            ct_flow_arg(&l->b, check, items[i].items[j]);
        }
    }
    for (uint32_t j = 0; j < types->count; j++) {
        CtFlowStep *step = ct_flow_step(&l->b, literals ? FLOW_LITERALS : FLOW_ITEMS, e->range);
        for (uint32_t i = 0; i < count; i++) ct_flow_arg(&l->b, step, items[i].items[j]);
        ct_push(l->b.arena, &results, ct_flow_result(&l->b, step, NULL, types->items[j]));
    }
    return results;
}
