/* The reverse of a loop: a loop from the last iteration to the first, which carries the cotangents of the carried
 * variables and the accumulators of variables from outside.
 *
 * If the cotangent of a carried variable is the same in all iterations (sums), it is not carried. If none is carried,
 * iterations are independent and run in forward order. Then the adjoint of an array that is read at the loop's own
 * index is an array that the reverse loop yields, provided that nothing has been accumulated for it yet: a map, without
 * an accumulator. Otherwise contributions are added in place.
 *
 * If one iteration alone contributes, as where only the maximum of a map is used, this iteration alone is reversed. */
#include "flow/ad/reverse.h"

typedef struct Looping {
    CtFlowStep *step;
    const CtFlowBlock *block;
    Scope *outer, *inner;
    CtFlowArg count;
    CtFlowVar *iteration, *index; /* of the reverse loop: iteration; of the forward loop: index */
    CtFlowArgs cotangents;        /* of the results, in the outer scope; none: zero */
    /* Cotangents of the carried variables, as the inner scope sees them. NULL: the variable is not active. */
    CtFlowVars carried;
    CtFlowArgs start, next; /* their initial and next values */
    /* Of these and of the results: arrays that certainly have all elements, in every iteration. */
    bool *full;
    Imports imports;
    CtFlowArgs items; /* items of the arrays that the reverse loop yields, and which arrays these are */
    CtFlowVars arrays;
    CT_VEC(int64_t) beyond; /* how far beyond the index of the loop the elements of these arrays are */
    CtFlowArgs sums;        /* values that every element of an array receives; and the arrays */
    CtFlowVars summed;
    bool any_order;
    const Acc *single;  /* the only iteration that contributes, or NULL */
    CtFlowArgs fresh;   /* of a loop that selects: what replaces the carried variables, as reverse_selections.c says */
    CtFlowArgs initial; /* and the cotangents of their initial values */
} Looping;

/* Whether the results have received a contribution to one array element only, and iterations are independent. */
static const Acc *take_single(Reverse *r, Looping *lp) {
    const CtFlowVar *single = NULL;
    for (uint32_t i = 0; i < lp->step->results.count; i++) {
        const CtFlowVar *result = lp->step->results.items[i];
        bool is_array = i >= lp->step->as.loop.carried;
        if (!is_array && ct_flow_reverse_is_active(r, flow_of(lp->block->params.items[1 + i]))) return NULL;
        if (ct_flow_reverse_has(r, result, ACC_NOTHING)) continue;
        if (single != NULL || !is_array || !ct_flow_reverse_has(r, result, ACC_SINGLE)) return NULL;
        single = result;
    }
    return single == NULL || !CT_FIRED("reverse_loops.single") ? NULL
                                                               : ct_flow_reverse_take_special(r, single, ACC_SINGLE);
}

/* The type of the cotangent of a carried variable. */
static const CtFlowType *handed_type(const Reverse *r, const Looping *lp, uint32_t carried) {
    const CtFlowVar *param = lp->block->params.items[1 + carried];
    bool shared = ct_flow_reverse_is_shared(r, param);
    return ct_flow_reverse_handed_type(r->flow, param->type, shared ? ACTIVE_SHARED : ACTIVE_OWN);
}

static bool take_cotangents(Reverse *r, Looping *lp) {
    bool any = false;
    const CtFlowVar *of_single = NULL;
    for (uint32_t i = 0; i < lp->step->results.count; i++)
        if (ct_flow_reverse_has(r, lp->step->results.items[i], ACC_SINGLE)) of_single = lp->step->results.items[i];
    lp->full = CT_NEW_ARRAY(r->arena, bool, lp->step->results.count);
    lp->single = take_single(r, lp);
    for (uint32_t i = 0; i < lp->step->results.count; i++) {
        CtFlowVar *result = lp->step->results.items[i];
        bool full = false, is_array = i >= lp->step->as.loop.carried;
        const Acc *same = is_array ? ct_flow_reverse_take_special(r, result, ACC_UNIFORM) : NULL;
        CtFlowArg g = same != NULL ? same->value : ct_flow_none();
        if (same != NULL) CT_FIRED("reverse_loops.uniform");
        if (lp->single != NULL && result == of_single) g = lp->single->value;
        if (ct_flow_is_none(g)) {
            g = ct_flow_reverse_take_as(r, flow_of(result), is_array ? result->type : handed_type(r, lp, i), &full);
            if (!ct_flow_is_none(g) && is_array && !full) g = ct_flow_reverse_filled(r, lp->step->range, result, g);
            lp->full[i] = full;
        }
        any |= !ct_flow_is_none(g);
        ct_push(r->arena, &lp->cotangents, g);
    }
    return any;
}

static bool selects(const Looping *lp) { return lp->fresh.count > 0; }

/* Whether the arrays that a loop gives have cotangents. */
static bool gives_arrays(const Looping *lp) {
    for (uint32_t i = lp->step->as.loop.carried; i < lp->cotangents.count; i++)
        if (!ct_flow_is_none(lp->cotangents.items[i])) return true;
    return false;
}

/* The cotangents of the results of a loop that selects go to one iteration, or to the initial values. True: they have
 * gone to an element of an array, and no iteration is reversed. */
static bool take_selected(Reverse *r, Looping *lp) {
    CtSourceRange range = lp->step->range;
    if (gives_arrays(lp)) return false;
    CtFlowArgs fresh = {0};
    CtFlowVar *var = ct_flow_reverse_selection(r, lp->step, &fresh);
    if (var == NULL || !CT_FIRED("reverse_loops.selection")) return false;
    CtFlowArg place = ct_flow_reverse_need(r, flow_of(var)), none = ct_flow_int(&r->b, 0);
    if (ct_flow_reverse_selected_element(r, lp->step, &fresh, place, &lp->cotangents)) return true;
    CtFlowArg is_initial = ct_flow_prim_int(&r->b, range, PRIM_INT_LT, place, none);
    Acc *single = CT_NEW(r->arena, Acc);
    *single = (Acc){.kind = ACC_SINGLE, .index = ct_flow_prim_int(&r->b, range, PRIM_INT_MAX, place, none)};
    lp->single = single;
    lp->fresh = fresh;
    for (uint32_t i = 0; i < fresh.count; i++) {
        CtFlowArg g = lp->cotangents.items[i], zero = ct_flow_none(), initial = ct_flow_none();
        if (!ct_flow_is_none(g)) {
            zero = ct_flow_zero(&r->b, g.type);
            initial = ct_flow_choose(&r->b, range, is_initial, g, zero);
            g = ct_flow_choose(&r->b, range, is_initial, zero, g);
        }
        lp->cotangents.items[i] = g;
        ct_push(r->arena, &lp->initial, initial);
    }
    while (lp->cotangents.count < lp->step->results.count) ct_push(r->arena, &lp->cotangents, ct_flow_none());
    return false;
}

/* The block never yields: the cotangents go to the initial values. */
static void pass_on(Reverse *r, const Looping *lp) {
    CT_FIRED("reverse_loops.never_ends");
    for (uint32_t i = 0; i < lp->step->as.loop.carried; i++)
        ct_flow_reverse_give(r, lp->step->range, lp->step->args.items[1 + i], lp->cotangents.items[i], false);
}

static bool carries_cotangents(const Looping *lp) {
    for (uint32_t i = 0; i < lp->carried.count; i++)
        if (lp->carried.items[i] != NULL) return true;
    return false;
}

static void begin(Reverse *r, Looping *lp) {
    const CtFlowType *integer = ct_flow_scalar(r->flow, FLOW_I64);
    CtFlowBlock *backward = ct_flow_block(&r->b);
    lp->count = ct_flow_reverse_need(r, lp->step->args.items[0]);
    if (selects(lp) || (lp->single != NULL && lp->single->if_any))
        lp->count = ct_flow_prim_int(&r->b, lp->step->range, PRIM_INT_MIN, lp->count, ct_flow_int(&r->b, 1));
    else if (lp->single != NULL)
        lp->count = ct_flow_int(&r->b, 1);
    for (uint32_t i = 0; i < lp->step->as.loop.carried; i++) {
        CtFlowVar *param = lp->block->params.items[1 + i], *var = NULL;
        CtFlowArg start = lp->cotangents.items[i];
        if (ct_flow_reverse_is_active(r, flow_of(param)) && !selects(lp)) {
            if (ct_flow_is_none(start)) start = ct_flow_zero(&r->b, handed_type(r, lp, i));
            var = ct_flow_var(&r->b, "d", start.type);
        }
        ct_push(r->arena, &lp->carried, var);
        ct_push(r->arena, &lp->start, start);
    }
    lp->iteration = ct_flow_var(&r->b, "t", integer);
    lp->index = ct_flow_var(&r->b, lp->block->params.items[0]->name, integer);
    lp->inner = ct_flow_reverse_scope(r, SCOPE_LOOP, (CtFlowBlock *)lp->block, backward);
    lp->inner->step = lp->step;
    lp->inner->imports = &lp->imports;
    lp->inner->is_map = lp->single == NULL && !carries_cotangents(lp);
    ct_map_set(r->arena, &lp->inner->known, lp->block->params.items[0]->id, lp->index);
    ct_flow_reverse_enter(r, lp->inner);
}

static void give_fresh(Reverse *r, const Looping *lp) {
    for (uint32_t i = 0; i < lp->fresh.count; i++)
        ct_flow_reverse_give(r, lp->step->range, lp->fresh.items[i], lp->cotangents.items[i], false);
}

static void give_cotangents(Reverse *r, const Looping *lp) {
    CtFlowArg index = flow_of(lp->index);
    for (uint32_t i = 0; i < lp->block->values.count && i < lp->cotangents.count; i++) {
        CtFlowArg value = lp->block->values.items[i], g = lp->cotangents.items[i];
        bool is_array = i >= lp->step->as.loop.carried;
        if (!ct_flow_reverse_is_active(r, value)) continue;
        if (is_array && !ct_flow_is_none(g) && g.type->kind != FLOW_ARRAY)
            ct_flow_reverse_give(r, lp->step->range, value, g, false);
        else if (is_array && !ct_flow_is_none(g))
            ct_flow_reverse_give(r, lp->step->range, value, ct_flow_read(&r->b, lp->step->range, g, &index, 1),
                                 value.type->kind == FLOW_ARRAY);
        else if (!is_array && lp->carried.items[i] != NULL)
            ct_flow_reverse_give(r, lp->step->range, value, flow_of(lp->carried.items[i]), lp->full[i]);
    }
}

static void take_next(Reverse *r, Looping *lp) {
    lp->any_order = true;
    for (uint32_t i = 0; i < lp->carried.count; i++) {
        CtFlowArg next = {0}, param = flow_of(lp->block->params.items[1 + i]);
        if (lp->carried.items[i] != NULL) {
            bool full;
            next = ct_flow_reverse_take_as(r, param, handed_type(r, lp, i), &full);
            if (ct_flow_is_none(next)) next = ct_flow_zero(&r->b, handed_type(r, lp, i));
            if (lp->full[i] && !full) next = ct_flow_reverse_filled(r, lp->step->range, param.var, next);
            lp->any_order &= next.var == lp->carried.items[i];
        }
        ct_push(r->arena, &lp->next, next);
    }
}

/* The value of an inner-scope variable if it is the cotangent of a sum, and so the same in all iterations. */
static CtFlowArg constant_of(const Looping *lp, CtFlowArg value) {
    for (uint32_t i = 0; i < lp->carried.count; i++)
        if (lp->carried.items[i] != NULL && lp->carried.items[i] == value.var) return lp->start.items[i];
    return ct_flow_none();
}

static const CtFlowType *type_of_element(const Reverse *r, const Element *element) {
    bool shared = ct_flow_reverse_is_shared(r, element->item);
    return ct_flow_reverse_handed_type(r->flow, element->item->type, shared ? ACTIVE_SHARED : ACTIVE_OWN);
}

static void yield_element(Reverse *r, Looping *lp, const Element *element, CtFlowArg g) {
    ct_push(r->arena, &lp->items, g);
    ct_push(r->arena, &lp->arrays, element->array);
    ct_push(r->arena, &lp->beyond, element->by);
}

/* x[i + by] += g[i], for all i for which there is such an element: the iterations that have read one are among them. In
 * the others, such as the first where `by` is −1, g is zero. */
static void give_beyond(Reverse *r, CtSourceRange range, CtFlowVar *x, int64_t by, CtFlowArg g) {
    CtFlowArgs start = {0}, next = {0};
    CtFlowBuilder *b = &r->b;
    CtFlowArg length = ct_flow_reverse_need(r, ct_flow_reverse_length(r, x, 0)), count = ct_flow_dim(b, range, g, 0);
    CtFlowArg distance = ct_flow_int(b, by > 0 ? by : -by), none = ct_flow_int(b, 0);
    if (by > 0)
        length = ct_flow_prim_int(b, range, PRIM_INT_SUB, length, distance);
    else if (CT_FIRED("reverse_loops.before"))
        count = ct_flow_prim_int(b, range, PRIM_INT_SUB, count, distance);
    count = ct_flow_prim_int(b, range, PRIM_INT_MIN, count, length);
    count = ct_flow_prim_int(b, range, PRIM_INT_MAX, count, none);
    ct_push(r->arena, &start, ct_flow_reverse_borrow(r, range, flow_of(x)));
    CtFlowLooping loop = ct_flow_loop_begin(b, range, count, &start);
    CtFlowArg there = ct_flow_prim_int(b, range, PRIM_INT_ADD, loop.index, distance);
    CtFlowArg to = by > 0 ? there : loop.index, from = by > 0 ? loop.index : there;
    CtFlowArg item = ct_flow_read(b, range, g, &from, 1);
    ct_push(r->arena, &next, ct_flow_add_at(b, range, loop.carried.items[0], &to, 1, item));
    ct_flow_reverse_put(r, flow_of(x), ct_flow_loop_end(b, &loop, &next, NULL, NULL).items[0]);
}

/* Adds what has been accumulated for the elements x[i] to x. */
static void give_elements(Reverse *r, Looping *lp) {
    for (uint32_t i = 0; i < lp->inner->elements.count; i++) {
        Element *element = &lp->inner->elements.items[i];
        bool full;
        CtFlowArg array = flow_of(element->array), of = flow_of(element->item);
        CtFlowArg g = ct_flow_reverse_take_as(r, of, type_of_element(r, element), &full);
        if (ct_flow_is_none(g)) continue;
        if (element->by != 0) {
            yield_element(r, lp, element, g);
            continue;
        }
        bool maps = lp->any_order && lp->single == NULL && ct_map_get(&lp->inner->accs, element->array->id) == NULL &&
                    ct_flow_reverse_same_length(r, lp->step, element->array);
        if (maps) maps = !ct_flow_reverse_is_outside_loop(r, lp->outer, element->array);
        if (maps) { /* a filled accumulator is updated in place; an empty one is replaced by the new array */
            const Acc *acc = ct_flow_reverse_acc(r, lp->outer, element->array, false);
            maps = !acc->full;
        }
        CtFlowArg same = maps ? constant_of(lp, g) : ct_flow_none();
        if (!ct_flow_is_none(same) && CT_FIRED("reverse_loops.constant_elements")) {
            ct_push(r->arena, &lp->sums, same);
            ct_push(r->arena, &lp->summed, element->array);
            continue;
        }
        if (maps && CT_FIRED("reverse_loops.map_of_elements")) {
            if (array.type->rank > 1 && !full) g = ct_flow_reverse_filled(r, lp->step->range, element->item, g);
            yield_element(r, lp, element, g);
            continue;
        }
        CT_FIRED("reverse_loops.added_elements");
        CtFlowArg index = flow_of(lp->index);
        ct_flow_reverse_add_at(r, lp->step->range, array, &index, 1, g);
    }
}

/* ---- what the forward loop hands over: arrays of the values of all iterations ---- */

/* Stored rows that only the reverse loop reads form one matrix, which the inner loop writes directly; other rows are
 * held by reference. */
static const CtFlowType *type_of_iterations(Reverse *r, const Looping *lp, const CtFlowVar *var) {
    bool rows = ct_map_has(&r->rows_only, var->id) && ct_flow_reverse_has_regular_rows(r, lp->step, var);
    return rows && CT_FIRED("reverse_loops.matrix_of_rows") ? ct_flow_array(r->flow, 2, var->type->element)
                                                            : ct_flow_array(r->flow, 1, var->type);
}

static CtFlowVar *array_of_iterations(Reverse *r, const Looping *lp, CtFlowVar *var) {
    CtFlowVar *known = ct_map_get(&r->stored, var->id);
    if (known != NULL && CT_FIRED("reverse_loops.stored_already")) return known;
    known = ct_flow_reverse_yielded(r, lp->step, var);
    if (known != NULL && CT_FIRED("reverse_loops.yielded_already")) return known;
    CtFlowBlock *owner = ct_map_get(&r->owner, lp->step->results.items[0]->id);
    known = ct_flow_reverse_forward_var(r, var->name, type_of_iterations(r, lp, var), owner, lp->step);
    ct_push(r->arena, &lp->step->results, known);
    ct_push(r->arena, &((CtFlowBlock *)lp->block)->values, flow_of(var));
    ct_map_set(r->arena, &r->stored, var->id, known);
    ct_map_set(r->arena, &r->rows_only, known->id, known);
    return known;
}

static void hand_over(Reverse *r, const Looping *lp) {
    CtFlowArg index = flow_of(lp->index);
    for (uint32_t i = 0; i < lp->inner->stored.count; i++) {
        CtFlowVar *var = lp->inner->stored.items[i];
        CtFlowArg array = ct_flow_reverse_need(r, flow_of(array_of_iterations(r, lp, var)));
        CtFlowStep *read = ct_flow_step(&r->b, FLOW_READ, lp->step->range);
        ct_flow_arg(&r->b, read, array);
        ct_flow_arg(&r->b, read, index);
        ct_push(r->arena, &read->results, ct_map_get(&lp->inner->known, var->id));
    }
}

/* ---- the loop ---- */

static bool is_carried(const Looping *lp, uint32_t i) {
    return lp->carried.items[i] != NULL && lp->next.items[i].var != lp->carried.items[i];
}

static void leave_inner(Reverse *r, Looping *lp) {
    CtFlowBlock *block = lp->inner->backward;
    CtFlowArgs values = {0};
    ct_push(r->arena, &block->params, lp->iteration);
    for (uint32_t i = 0; i < lp->carried.count; i++) {
        if (!is_carried(lp, i)) continue;
        ct_push(r->arena, &block->params, lp->carried.items[i]);
        ct_push(r->arena, &values, lp->next.items[i]);
    }
    for (uint32_t i = 0; i < lp->imports.count; i++) {
        ct_push(r->arena, &block->params, lp->imports.items[i].param);
        ct_push(r->arena, &values, ct_flow_reverse_export(r, lp->inner, &lp->imports.items[i]));
    }
    ct_flow_args_add(&r->b, &values, &lp->items);
    ct_flow_leave(&r->b, EXIT_YIELD, lp->step->range, &values, NULL);
}

/* Writes the steps at the start of each iteration. */
static void write_front(Reverse *r, Looping *lp, CtFlowArg last) {
    ct_flow_reverse_settle(r, lp->inner);
    r->b.block = ct_flow_block(&r->b);
    if (!lp->any_order && CT_FIRED("reverse_loops.backwards")) {
        CtFlowStep *sub = ct_flow_step(&r->b, FLOW_PRIM, lp->step->range);
        sub->as.prim = PRIM_INT_SUB;
        ct_flow_arg(&r->b, sub, last);
        ct_flow_arg(&r->b, sub, flow_of(lp->iteration));
        ct_push(r->arena, &sub->results, lp->index);
    }
    hand_over(r, lp);
    ct_flow_reverse_repeat(r, lp->inner);
    if (lp->any_order)
        ct_flow_substitute(lp->inner->backward, lp->index,
                           lp->single != NULL ? lp->single->index : flow_of(lp->iteration));
    for (uint32_t i = 0; i < lp->carried.count; i++)
        if (lp->carried.items[i] != NULL && !is_carried(lp, i))
            ct_flow_substitute(lp->inner->backward, lp->carried.items[i], lp->start.items[i]);
}

static void write_loop(Reverse *r, Looping *lp) {
    CtFlowArgs given = {0};
    CtSourceRange range = lp->step->range;
    for (uint32_t i = 0; i < lp->imports.count; i++)
        ct_push(r->arena, &given, ct_flow_reverse_given(r, lp->outer, &lp->imports.items[i]));
    CtFlowStep *loop = ct_flow_step(&r->b, FLOW_LOOP, range);
    loop->as.loop.block = lp->inner->backward;
    loop->as.loop.carried = lp->inner->backward->params.count - 1;
    ct_flow_arg(&r->b, loop, lp->count);
    CtFlowArgs results = {0};
    for (uint32_t i = 0; i < lp->carried.count; i++) {
        if (is_carried(lp, i)) ct_flow_arg(&r->b, loop, lp->start.items[i]);
        ct_push(r->arena, &results,
                is_carried(lp, i) ? ct_flow_result(&r->b, loop, "d", lp->start.items[i].type) : lp->start.items[i]);
    }
    ct_flow_args_add(&r->b, &loop->args, &given);
    for (uint32_t i = 0; i < lp->imports.count; i++) {
        const Import *item = &lp->imports.items[i];
        CtFlowArg result = ct_flow_result(&r->b, loop, item->var->name, item->param->type);
        ct_flow_reverse_imported(r, lp->outer, item, result);
    }
    CtFlowArgs arrays = {0};
    for (uint32_t i = 0; i < lp->items.count; i++) {
        const CtFlowVar *array = lp->arrays.items[i];
        const CtFlowType *type = ct_flow_adjoint_type(r->flow, array->type);
        ct_push(r->arena, &arrays, ct_flow_result(&r->b, loop, array->name, type));
    }
    for (uint32_t i = 0; i < lp->carried.count; i++)
        if (lp->carried.items[i] != NULL)
            ct_flow_reverse_give(r, range, lp->step->args.items[1 + i], results.items[i], lp->full[i]);
    for (uint32_t i = 0; i < lp->initial.count; i++)
        ct_flow_reverse_give(r, range, lp->step->args.items[1 + i], lp->initial.items[i], false);
    for (uint32_t i = 0; i < lp->sums.count; i++)
        ct_flow_reverse_give_uniform(r, range, flow_of(lp->summed.items[i]), lp->sums.items[i]);
    for (uint32_t i = 0; i < arrays.count; i++)
        if (lp->beyond.items[i] == 0)
            ct_flow_reverse_give(r, range, flow_of(lp->arrays.items[i]), arrays.items[i], true);
    for (uint32_t i = 0; i < arrays.count; i++)
        if (lp->beyond.items[i] != 0) give_beyond(r, range, lp->arrays.items[i], lp->beyond.items[i], arrays.items[i]);
}

void ct_flow_reverse_loop(Reverse *r, CtFlowStep *step) {
    Looping lp = {.step = step, .block = step->as.loop.block, .outer = r->scope};
    if (!take_cotangents(r, &lp)) return;
    if (lp.block->exit != EXIT_YIELD) {
        pass_on(r, &lp);
        return;
    }
    if (take_selected(r, &lp)) return;
    begin(r, &lp);
    selects(&lp) ? give_fresh(r, &lp) : give_cotangents(r, &lp);
    ct_flow_reverse_steps(r, lp.block, lp.block->steps.count);
    take_next(r, &lp);
    give_elements(r, &lp);
    leave_inner(r, &lp);
    ct_flow_reverse_enter(r, lp.outer);
    CtFlowArg last = ct_flow_none();
    if (!lp.any_order) last = ct_flow_prim_int(&r->b, step->range, PRIM_INT_SUB, lp.count, ct_flow_int(&r->b, 1));
    write_front(r, &lp, last);
    ct_flow_reverse_enter(r, lp.outer);
    write_loop(r, &lp);
}
