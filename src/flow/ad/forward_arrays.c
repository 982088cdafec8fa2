/* Tangents of arrays: each array operation is also applied to the tangents. A tangent that is the empty array for zero
 * stays so in operations that only move elements; where an element is put into it, it becomes zeros in the primal's
 * shape. */
#include "flow/ad/forward.h"

#include <assert.h>

/* `otherwise` of the tangent, unless it is the empty array for zero; then the zero of that result. */
typedef CtFlowArg Otherwise(Forward *w, const CtFlowStep *step, CtFlowArg tangent);

static CtFlowArg unless_empty(Forward *w, const CtFlowStep *step, CtFlowArg array, Otherwise *otherwise) {
    CtFlowBuilder *l = &w->build;
    CtFlowArg tangent = ct_flow_forward_tangent(w, array);
    if (ct_flow_forward_known(w, array) != TANGENT_LAZY) return otherwise(w, step, tangent);
    CT_FIRED("forward_arrays.unless_empty");
    CtFlowArgs some = {0}, none = {0};
    CtFlowChoosing choice = ct_flow_switch_begin(l, step->range, ct_flow_is_empty(l, step->range, tangent));
    ct_flow_case_begin(l, &choice, 1);
    ct_push(l->arena, &none, ct_flow_zero(l, ct_flow_tangent_type(l->flow, step->results.items[0]->type)));
    ct_flow_case_end(l, &choice, &none);
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    ct_push(l->arena, &some, otherwise(w, step, tangent));
    ct_flow_case_end(l, &choice, &some);
    return ct_flow_switch_end(l, &choice).items[0];
}

/* ---- elements ---- */

static CtFlowArg read(Forward *w, const CtFlowStep *step, CtFlowArg tangent) {
    CtFlowArg indices[MOST_RANK];
    uint32_t count = step->args.count - 1;
    for (uint32_t i = 0; i < count; i++) indices[i] = ct_flow_forward_primal(w, step->args.items[1 + i]);
    return ct_flow_read(&w->build, step->range, tangent, indices, count);
}

/* The lengths are asked of the new array: the old one is dead, and only therefore updated in place. */
static CtFlowArg update(Forward *w, const CtFlowStep *step) {
    CtFlowArg indices[MOST_RANK], dims[MOST_RANK], array = step->args.items[0];
    uint32_t count = step->args.count - 2;
    CtFlowArg item = step->args.items[step->args.count - 1], tangent;
    for (uint32_t i = 0; i < count; i++) indices[i] = ct_flow_forward_primal(w, step->args.items[1 + i]);
    ct_flow_forward_dims(w, step->range, w->primals[step->results.items[0]->id], dims);
    tangent = ct_flow_forward_full(w, step->range, array, dims);
    item = array.type->rank > count ? ct_flow_forward_full(w, step->range, item, dims + count)
                                    : ct_flow_forward_tangent(w, item);
    return ct_flow_update(&w->build, step->range, tangent, indices, count, item);
}

static CtFlowArg snoc(Forward *w, const CtFlowStep *step) {
    CtFlowArg dims[MOST_RANK], array = step->args.items[0], item = step->args.items[1];
    ct_flow_forward_dims(w, step->range, ct_flow_forward_primal(w, array), dims);
    CtFlowArg tangent = ct_flow_forward_full(w, step->range, array, dims);
    if (array.type->rank > 1) {
        ct_flow_forward_dims(w, step->range, ct_flow_forward_primal(w, item), dims);
        item = ct_flow_forward_full(w, step->range, item, dims);
    } else {
        item = ct_flow_forward_tangent(w, item);
    }
    CtFlowStep *made = ct_flow_step(&w->build, FLOW_SNOC, step->range);
    made->as.follows = true;
    ct_flow_arg(&w->build, made, tangent);
    ct_flow_arg(&w->build, made, item);
    return ct_flow_result(&w->build, made, NULL, tangent.type);
}

/* Tangents of rows are made full, in the shape of their primals. */
static CtFlowArg item_of(Forward *w, CtSourceRange range, CtFlowArg item, bool row) {
    CtFlowArg dims[MOST_RANK];
    if (!row) return ct_flow_forward_tangent(w, item);
    ct_flow_forward_dims(w, range, ct_flow_forward_primal(w, item), dims);
    return ct_flow_forward_full(w, range, item, dims);
}

static CtFlowArg items(Forward *w, const CtFlowStep *step) {
    const CtFlowType *type = step->results.items[0]->type;
    CtFlowArgs tangents = {0};
    for (uint32_t i = 0; i < step->args.count; i++)
        ct_push(w->build.arena, &tangents, item_of(w, step->range, step->args.items[i], type->rank > 1));
    CtFlowStep *made = ct_flow_step(&w->build, FLOW_ITEMS, step->range);
    made->args = tangents;
    return ct_flow_result(&w->build, made, NULL, ct_flow_tangent_type(w->build.flow, type));
}

/* ---- whole arrays ---- */

/* The same operation on the tangent of its last argument. */
static CtFlowArg moved(Forward *w, const CtFlowStep *step, CtFlowArg tangent) {
    CtFlowArg args[3];
    uint32_t count = step->args.count;
    for (uint32_t i = 0; i + 1 < count; i++) args[i] = ct_flow_forward_primal(w, step->args.items[i]);
    args[count - 1] = tangent;
    const CtFlowType *type = ct_flow_tangent_type(w->build.flow, step->results.items[0]->type);
    return ct_flow_bulk(&w->build, step->range, step->as.bulk, type, args, count);
}

static CtFlowArg append(Forward *w, const CtFlowStep *step) {
    CtFlowArg dims[MOST_RANK], parts[2];
    for (uint32_t i = 0; i < 2; i++) {
        ct_flow_forward_dims(w, step->range, ct_flow_forward_primal(w, step->args.items[i]), dims);
        parts[i] = ct_flow_forward_full(w, step->range, step->args.items[i], dims);
    }
    return ct_flow_bulk(&w->build, step->range, ARRAY_APPEND, parts[0].type, parts, 2);
}

static CtFlowArg replicate(Forward *w, const CtFlowStep *step) {
    CtFlowArg item = step->args.items[1], args[2];
    args[0] = ct_flow_forward_primal(w, step->args.items[0]);
    args[1] = item_of(w, step->range, item, step->results.items[0]->type->rank > 1);
    const CtFlowType *type = ct_flow_tangent_type(w->build.flow, step->results.items[0]->type);
    return ct_flow_bulk(&w->build, step->range, ARRAY_REPLICATE, type, args, 2);
}

/* A fold that starts at the structural zero. If the tangent is the empty array, it has no iteration. */
static CtFlowArg sum(Forward *w, const CtFlowStep *step) {
    CtFlowBuilder *l = &w->build;
    CtSourceRange range = step->range;
    CtFlowArg tangent = ct_flow_forward_tangent(w, step->args.items[0]);
    const CtFlowType *real = tangent.type->element;
    CtFlowArgs start = {0}, next = {0};
    ct_push(l->arena, &start, ct_flow_real(real, -0.0));
    CtFlowLooping loop = ct_flow_loop_begin(l, range, ct_flow_dim(l, range, tangent, 0), &start);
    CtFlowArg item = ct_flow_read(l, range, tangent, &loop.index, 1);
    ct_push(l->arena, &next, ct_flow_prim(l, range, PRIM_ADD, real, loop.carried.items[0], item));
    return ct_flow_loop_end(l, &loop, &next, NULL, NULL).items[0];
}

/* (p, dp) → (p·x, x·dp + p·dx). There is no division, so it is exact for zero elements. */
static CtFlowArg product(Forward *w, const CtFlowStep *step) {
    CtFlowBuilder *l = &w->build;
    CtSourceRange range = step->range;
    CtFlowArg array = ct_flow_forward_primal(w, step->args.items[0]),
              tangent = ct_flow_forward_tangent(w, step->args.items[0]);
    const CtFlowType *real = tangent.type->element;
    CtFlowArgs start = {0}, next = {0};
    ct_push(l->arena, &start, ct_flow_real(real, 1));
    ct_push(l->arena, &start, ct_flow_real(real, -0.0));
    CtFlowLooping loop = ct_flow_loop_begin(l, range, ct_flow_dim(l, range, tangent, 0), &start);
    CtFlowArg p = loop.carried.items[0], dp = loop.carried.items[1];
    CtFlowArg x = ct_flow_read(l, range, array, &loop.index, 1), dx = ct_flow_read(l, range, tangent, &loop.index, 1);
    CtFlowArg left = ct_flow_prim(l, range, PRIM_SCALE, real, x, dp);
    CtFlowArg right = ct_flow_prim(l, range, PRIM_SCALE, real, p, dx);
    ct_push(l->arena, &next, ct_flow_prim(l, range, PRIM_MUL, real, p, x));
    ct_push(l->arena, &next, ct_flow_prim(l, range, PRIM_ADD, real, left, right));
    return ct_flow_loop_end(l, &loop, &next, NULL, NULL).items[1];
}

/* The tangent of the element at the first maximum or minimum. The step itself has checked that there is one. */
static CtFlowArg extreme(Forward *w, const CtFlowStep *step, CtFlowArg tangent) {
    CtFlowArg array = ct_flow_forward_primal(w, step->args.items[0]), value = flow_of(step->results.items[0]);
    CtFlowArg at = ct_flow_place_of(&w->build, step->range, array, ct_flow_forward_primal(w, value));
    return ct_flow_read(&w->build, step->range, tangent, &at, 1);
}

static CtFlowArg bulk(Forward *w, const CtFlowStep *step) {
    CtFlowArg last = step->args.items[step->args.count - 1];
    switch (step->as.bulk) {
    case ARRAY_APPEND: return CT_FIRED("forward_arrays.append"), append(w, step);
    case ARRAY_REPLICATE: return CT_FIRED("forward_arrays.replicate"), replicate(w, step);
    case ARRAY_SUM: return CT_FIRED("forward_arrays.sum"), sum(w, step);
    case ARRAY_PRODUCT: return CT_FIRED("forward_arrays.product"), product(w, step);
    case ARRAY_MAXIMUM:
    case ARRAY_MINIMUM: return CT_FIRED("forward_arrays.extreme"), unless_empty(w, step, last, extreme);
    default: return CT_FIRED("forward_arrays.moved"), unless_empty(w, step, last, moved);
    }
}

/* da·b + a·db, for the factors that have tangents. */
static CtFlowArg matrix_product(Forward *w, const CtFlowStep *step) {
    CtFlowArg lengths[2], factors[2], sum = ct_flow_none();
    for (uint32_t i = 0; i < 2; i++) {
        lengths[i] = ct_flow_forward_primal(w, step->args.items[i]);
        factors[i] = ct_flow_forward_primal(w, step->args.items[2 + i]);
    }
    for (uint32_t i = 0; i < 2; i++) {
        CtFlowFactors how = step->as.product;
        CtFlowArg terms[2] = {factors[0], factors[1]};
        if (!ct_flow_tangent_counts(ct_flow_forward_known(w, step->args.items[2 + i]))) continue;
        how.cotangent = (uint8_t)(1 + i);
        terms[i] = ct_flow_forward_tangent(w, step->args.items[2 + i]);
        CtFlowArg term = ct_flow_product(&w->build, step->range, lengths, how, terms[0], terms[1]);
        sum = ct_flow_is_none(sum) ? term : ct_flow_add(&w->build, step->range, sum, term);
    }
    return sum;
}

static CtFlowArg tangent_of(Forward *w, const CtFlowStep *step) {
    if (step->kind == FLOW_READ)
        return CT_FIRED("forward_arrays.read"), unless_empty(w, step, step->args.items[0], read);
    if (step->kind == FLOW_UPDATE) return CT_FIRED("forward_arrays.update"), update(w, step);
    if (step->kind == FLOW_SNOC) return CT_FIRED("forward_arrays.snoc"), snoc(w, step);
    if (step->kind == FLOW_ITEMS) return CT_FIRED("forward_arrays.items"), items(w, step);
    if (step->kind == FLOW_PRODUCT) return CT_FIRED("forward_arrays.matrix_product"), matrix_product(w, step);
    assert(step->kind == FLOW_BULK);
    return bulk(w, step);
}

/* Lengths of an array are read before a step that takes the array, except by update, which asks the array that it
 * makes. A step that checks its arguments runs before the tangent is computed. */
void ct_flow_forward_array(Forward *w, const CtFlowStep *step) {
    bool moves = step->kind == FLOW_BULK && step->as.bulk != ARRAY_APPEND && step->as.bulk != ARRAY_REPLICATE;
    bool first = step->kind == FLOW_UPDATE || moves;
    if (first) ct_flow_forward_copy(w, step);
    CtFlowArg tangent = tangent_of(w, step);
    if (!first) ct_flow_forward_copy(w, step);
    ct_flow_forward_bind(w, step->results.items[0], tangent);
}
