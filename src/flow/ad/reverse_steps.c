/* The reverse of a block's steps, and of the simple steps: primitives, nodes, single elements of arrays. */
#include "flow/ad/reverse.h"

/* ---- nodes ---- */

/* C ⟨a⟩: the adjoint of each field is added to the field's argument. */
static void reverse_make(Reverse *r, const CtFlowStep *step) {
    CtFlowArg made = flow_of(step->results.items[0]);
    if (!ct_flow_reverse_is_active(r, made)) return;
    Acc *acc = ct_flow_reverse_acc(r, r->scope, made.var, false);
    if (acc->kind == ACC_PIECES && acc->pieces->as.con.tag == step->as.con.tag) {
        const CtFlowStep *open = acc->pieces;
        CT_FIRED("reverse_steps.make_in_pieces");
        for (uint32_t i = 0; i < step->args.count; i++) {
            bool full = false;
            if (open->results.items[i] == NULL) continue;
            CtFlowArg g = ct_flow_reverse_take_any(r, flow_of(open->results.items[i]), &full);
            ct_flow_reverse_give(r, step->range, step->args.items[i], g, full);
        }
        return;
    }
    CtFlowArg g = ct_flow_reverse_take(r, made, NULL);
    if (ct_flow_is_none(g)) return;
    CT_FIRED("reverse_steps.make");
    CtFlowArgs fields = ct_flow_adjoint_fields(&r->b, step->range, g, step->as.con.tag);
    uint32_t next = 0;
    for (uint32_t i = 0; i < step->args.count; i++)
        if (ct_flow_is_active(r->flow, step->args.items[i].type))
            ct_flow_reverse_give(r, step->range, step->args.items[i], fields.items[next++], false);
}

/* ---- elements ---- */

static void reverse_read(Reverse *r, const CtFlowStep *step) {
    CtFlowVar *item = step->results.items[0];
    bool shared = ct_flow_reverse_is_shared(r, item); /* an array that is an element, not a row */
    const CtFlowType *type = shared ? ct_flow_shared_adjoint_type(r->flow, item->type) : item->type;
    CtFlowArg g = ct_flow_reverse_take_as(r, flow_of(item), type, NULL);
    if (ct_flow_is_none(g)) return;
    ct_flow_reverse_give_at(r, step->range, step->args.items[0], step->args.items + 1, step->args.count - 1, g);
}

/* Copies a row, so that the array itself can be updated in place. */
static CtFlowArg copy_of_row(Reverse *r, CtSourceRange range, CtFlowArg row) {
    CtFlowArg length = ct_flow_dim(&r->b, range, row, 0);
    return ct_flow_bulk(&r->b, range, ARRAY_SLICE, row.type, (CtFlowArg[]){ct_flow_int(&r->b, 0), length, row}, 3);
}

/* x with [⟨i⟩] = v: the element's adjoint goes to v, and is removed from x's. The row of zeros that takes its place is
 * as long as the one in x: the only row of a matrix may be replaced by one of another length. */
static void reverse_update(Reverse *r, const CtFlowStep *step) {
    bool full;
    CtFlowVar *made = step->results.items[0];
    CtFlowArg g = ct_flow_reverse_take(r, flow_of(made), &full), value = step->args.items[step->args.count - 1];
    if (ct_flow_is_none(g)) return;
    if (!full && CT_FIRED("reverse_steps.update_of_zero")) g = ct_flow_reverse_filled(r, step->range, made, g);
    uint32_t count = step->args.count - 2;
    CtFlowArg *indices = CT_NEW_ARRAY(r->arena, CtFlowArg, count);
    for (uint32_t i = 0; i < count; i++) indices[i] = ct_flow_reverse_need(r, step->args.items[1 + i]);
    CtFlowArg d = ct_flow_read(&r->b, step->range, g, indices, count), zero;
    if (made->type->rank == count && CT_FIRED("reverse_steps.update")) {
        zero = ct_flow_zero(&r->b, d.type);
    } else {
        CtFlowArg *lengths = CT_NEW_ARRAY(r->arena, CtFlowArg, made->type->rank);
        for (uint32_t i = count; i < made->type->rank; i++)
            lengths[i - count] = ct_flow_reverse_need(r, ct_flow_reverse_length(r, step->args.items[0].var, i));
        CT_FIRED("reverse_steps.update_row");
        d = copy_of_row(r, step->range, d);
        zero = ct_flow_zeros(&r->b, step->range, d.type, lengths);
    }
    g = ct_flow_update(&r->b, step->range, g, indices, count, zero);
    ct_flow_reverse_give(r, step->range, value, d, value.type->kind == FLOW_ARRAY && made->type->rank > count);
    ct_flow_reverse_give(r, step->range, step->args.items[0], g, true);
}

/* The share of one argument in the adjoint g of an array; when g is the empty array for zero, each share is zero. */
typedef CtFlowArg Part(Reverse *r, const CtFlowStep *step, CtFlowArg g, uint32_t index);

static void give_parts(Reverse *r, const CtFlowStep *step, Part *part) {
    CtFlowArg g = ct_flow_reverse_take(r, flow_of(step->results.items[0]), NULL);
    if (ct_flow_is_none(g)) return;
    CtFlowArgs zeros = {0}, parts = {0}, to = {0};
    for (uint32_t i = step->args.count; i-- > 0;)
        if (ct_flow_reverse_is_active(r, step->args.items[i])) ct_push(r->arena, &to, step->args.items[i]);
    CtFlowChoosing choice = ct_flow_switch_begin(&r->b, step->range, ct_flow_is_empty(&r->b, step->range, g));
    ct_flow_case_begin(&r->b, &choice, 1);
    CtFlowBlock *empty = r->b.block;
    ct_flow_case_begin(&r->b, &choice, FLOW_OTHERS);
    for (uint32_t i = step->args.count; i-- > 0;) /* the front of the array comes last, when it can be had in place */
        if (ct_flow_reverse_is_active(r, step->args.items[i])) ct_push(r->arena, &parts, part(r, step, g, i));
    ct_flow_case_end(&r->b, &choice, &parts);
    r->b.block = empty;
    for (uint32_t i = 0; i < parts.count; i++) ct_push(r->arena, &zeros, ct_flow_zero(&r->b, parts.items[i].type));
    ct_flow_case_end(&r->b, &choice, &zeros);
    CtFlowArgs given = ct_flow_switch_end(&r->b, &choice);
    for (uint32_t i = 0; i < to.count; i++) ct_flow_reverse_give(r, step->range, to.items[i], given.items[i], false);
}

static CtFlowArg item(Reverse *r, const CtFlowStep *step, CtFlowArg g, uint32_t index) {
    CtFlowArg at = ct_flow_int(&r->b, index);
    CT_FIRED("reverse_steps.items");
    return ct_flow_read(&r->b, step->range, g, &at, 1);
}

/* The last element, and the elements before it. */
static CtFlowArg last_or_front(Reverse *r, const CtFlowStep *step, CtFlowArg g, uint32_t index) {
    CT_FIRED("reverse_steps.snoc");
    CtFlowArg length = ct_flow_dim(&r->b, step->range, g, 0);
    CtFlowArg last = ct_flow_prim_int(&r->b, step->range, PRIM_INT_SUB, length, ct_flow_int(&r->b, 1));
    if (index == 1 && g.type->rank > 1 && CT_FIRED("reverse_steps.snoc_row"))
        return copy_of_row(r, step->range, ct_flow_read(&r->b, step->range, g, &last, 1));
    if (index == 1) return ct_flow_read(&r->b, step->range, g, &last, 1);
    return ct_flow_bulk(&r->b, step->range, ARRAY_SLICE, g.type, (CtFlowArg[]){ct_flow_int(&r->b, 0), last, g}, 3);
}

/* ---- steps ---- */

static CtFlowArg primal(void *data, CtFlowArg of) { return ct_flow_reverse_need(data, of); }

static void reverse_prim(Reverse *r, const CtFlowStep *step) {
    CtFlowArg g = ct_flow_reverse_take(r, flow_of(step->results.items[0]), NULL);
    if (ct_flow_is_none(g)) return;
    for (uint32_t i = 0; i < step->args.count; i++) {
        CtFlowArg to = step->args.items[i];
        if (!ct_flow_reverse_is_active(r, to)) continue;
        CtFlowArg part = ct_flow_partial(&r->b, step, i, g, to.type, primal, r);
        if (!ct_flow_is_none(part)) ct_flow_reverse_give(r, step->range, to, part, false);
    }
}

void ct_flow_reverse_steps(Reverse *r, const CtFlowBlock *block, uint32_t count) {
    /* A copy, because steps may be added to the block meanwhile. */
    CtFlowStep **steps = CT_NEW_ARRAY(r->arena, CtFlowStep *, count);
    for (uint32_t i = 0; i < count; i++) steps[i] = block->steps.items[i];
    for (uint32_t i = count; i-- > 0;) {
        CtFlowStep *step = steps[i];
        switch (step->kind) {
        case FLOW_PRIM: reverse_prim(r, step); break;
        case FLOW_CALL: ct_flow_reverse_call(r, step); break;
        case FLOW_SWITCH: ct_flow_reverse_switch(r, step); break;
        case FLOW_LOOP: ct_flow_reverse_loop(r, step); break;
        case FLOW_MAKE: reverse_make(r, step); break;
        case FLOW_READ: reverse_read(r, step); break;
        case FLOW_UPDATE: reverse_update(r, step); break;
        case FLOW_SNOC: give_parts(r, step, last_or_front); break;
        case FLOW_ITEMS: give_parts(r, step, item); break;
        case FLOW_BULK: ct_flow_reverse_bulk(r, step); break;
        case FLOW_PRODUCT: ct_flow_reverse_product(r, step); break;
        case FLOW_OPEN: /* the fields' accumulators are pieces of the node's: accumulators.c */
        case FLOW_CONSTANT:
        case FLOW_STRING:
        case FLOW_FAIL:
        case FLOW_CHECK:
        case FLOW_CHECK_SIZE:
        case FLOW_CHECK_ZIP:
        case FLOW_CHECK_SHAPE:
        case FLOW_CHECK_SLICE:
        case FLOW_DIM:
        case FLOW_LITERALS:
        case FLOW_STOP: break;
        case FLOW_VJP:
        case FLOW_PULL:
        case FLOW_JVP:
        case FLOW_RETAIN:
        case FLOW_LINK:
        case FLOW_RELEASE: r->flow->refused = "a derivative of a derivative that is still to be made"; break;
        }
    }
}
