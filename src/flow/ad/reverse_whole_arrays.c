/* The reverse of operations on whole arrays. A cotangent may be the empty array for zero; then nothing is
 * contributed. */
#include "flow/ad/reverse.h"

/* ---- reductions ---- */

/* product: the contribution to each element is g times the product of all others, from the left times from the
 * right. */
static void reverse_product(Reverse *r, const CtFlowStep *step, CtFlowArg g) {
    CtFlowArg x = step->args.items[0], values = ct_flow_reverse_need(r, x);
    CtSourceRange range = step->range;
    CtFlowBuilder *l = &r->b;
    CtFlowArg length = ct_flow_dim(l, range, values, 0), acc = ct_flow_reverse_borrow(r, range, x);
    CtFlowArgs one = {0}, start = {0}, next = {0}, last = {0};
    CtFlowTypes types = {.items = CT_NEW(r->arena, const CtFlowType *), .count = 1};
    types.items[0] = x.type;
    ct_push(r->arena, &one, ct_flow_real(g.type, 1));
    CtFlowLooping up = ct_flow_loop_begin(l, range, length, &one);
    CtFlowArg here = ct_flow_read(l, range, values, &up.index, 1);
    ct_push(r->arena, &next, ct_flow_prim(l, range, PRIM_MUL, g.type, up.carried.items[0], here));
    CtFlowArg left = ct_flow_loop_end(l, &up, &next, &up.carried, &types).items[1];
    CtFlowArg end = ct_flow_prim_int(l, range, PRIM_INT_SUB, length, ct_flow_int(l, 1));
    ct_flow_args_add(l, &start, &one);
    ct_push(r->arena, &start, acc);
    CtFlowLooping down = ct_flow_loop_begin(l, range, length, &start);
    CtFlowArg index = ct_flow_prim_int(l, range, PRIM_INT_SUB, end, down.index), right = down.carried.items[0];
    CtFlowArg before = ct_flow_read(l, range, left, &index, 1);
    CtFlowArg others = ct_flow_prim(l, range, PRIM_MUL, g.type, before, right);
    CtFlowArg d = ct_flow_prim(l, range, PRIM_SCALE, g.type, others, g);
    CtFlowArg value = ct_flow_read(l, range, values, &index, 1);
    CtFlowArg further = ct_flow_prim(l, range, PRIM_MUL, g.type, right, value);
    ct_push(r->arena, &last, further);
    ct_push(r->arena, &last, ct_flow_add_at(l, range, down.carried.items[1], &index, 1, d));
    ct_flow_reverse_put(r, x, ct_flow_loop_end(l, &down, &last, NULL, NULL).items[1]);
}

/* maximum, minimum: g goes to the element that was selected; the forward sweep records its index. */
static void reverse_extreme(Reverse *r, CtFlowStep *step, CtFlowArg g) {
    CtFlowArg x = step->args.items[0];
    CtFlowArg index = ct_flow_reverse_need(r, ct_flow_reverse_place_of_extreme(r, step));
    ct_flow_reverse_give_single(r, step->range, x, index, g);
}

/* ---- making and rearranging ---- */

/* replicate: the sum of g. */
static void reverse_replicate(Reverse *r, const CtFlowStep *step, CtFlowArg g) {
    CtFlowArg x = step->args.items[1];
    bool rows = g.type->rank > 1;
    CtFlowArgs start = {0}, next = {0};
    ct_push(r->arena, &start, rows ? ct_flow_reverse_borrow(r, step->range, x) : ct_flow_zero(&r->b, g.type->element));
    CtFlowLooping loop = ct_flow_loop_begin(&r->b, step->range, ct_flow_dim(&r->b, step->range, g, 0), &start);
    CtFlowArg item = ct_flow_read(&r->b, step->range, g, &loop.index, 1), sum = loop.carried.items[0];
    ct_push(r->arena, &next,
            rows ? ct_flow_add_at(&r->b, step->range, sum, NULL, 0, item) : ct_flow_add(&r->b, step->range, sum, item));
    CtFlowArg all = ct_flow_loop_end(&r->b, &loop, &next, NULL, NULL).items[0];
    if (rows && CT_FIRED("reverse_whole_arrays.replicate_rows"))
        ct_flow_reverse_put(r, x, all);
    else
        ct_flow_reverse_give(r, step->range, x, all, false);
}

/* gather, slice: each cotangent is added at the index that its element came from. */
static void scatter_add(Reverse *r, const CtFlowStep *step, CtFlowArg g, CtFlowArg x, CtFlowArg places,
                        CtFlowArg first) {
    CtFlowArgs start = {0}, next = {0};
    CtSourceRange range = step->range;
    CtFlowArg count = ct_flow_dim(&r->b, range, g, 0);
    bool in_bag = ct_flow_reverse_is_shared(r, x.var);
    ct_push(r->arena, &start, in_bag ? ct_flow_reverse_borrow_bag(r, x, count) : ct_flow_reverse_borrow(r, range, x));
    CtFlowLooping loop = ct_flow_loop_begin(&r->b, range, count, &start);
    CtFlowArg at = ct_flow_is_none(places) ? ct_flow_prim_int(&r->b, range, PRIM_INT_ADD, first, loop.index)
                                           : ct_flow_read(&r->b, range, places, &loop.index, 1);
    CtFlowArg item = ct_flow_read(&r->b, range, g, &loop.index, 1);
    CtFlowArg before = loop.carried.items[0];
    if (in_bag && x.type->rank > 1) item = ct_flow_bag_of(&r->b, range, item, false);
    ct_push(r->arena, &next,
            in_bag ? ct_flow_bag_add_at(&r->b, range, before, &at, 1, item)
                   : ct_flow_add_at(&r->b, range, before, &at, 1, item));
    CtFlowArg sum = ct_flow_loop_end(&r->b, &loop, &next, NULL, NULL).items[0];
    in_bag ? ct_flow_reverse_give(r, range, x, sum, false) : ct_flow_reverse_put(r, x, sum);
}

/* The result of `make` on g, unless g is the empty array for zero. */
static CtFlowArg unless_empty(Reverse *r, const CtFlowStep *step, CtFlowArg g, CtFlowArg like, CtArrayOp op,
                              const CtFlowArg *args) {
    CtFlowArgs zero = {0}, value = {0};
    CtFlowChoosing choice = ct_flow_switch_begin(&r->b, step->range, ct_flow_is_empty(&r->b, step->range, g));
    ct_flow_case_begin(&r->b, &choice, 1);
    ct_push(r->arena, &zero, ct_flow_reverse_zero(r, like));
    ct_flow_case_end(&r->b, &choice, &zero);
    ct_flow_case_begin(&r->b, &choice, FLOW_OTHERS);
    const CtFlowType *type = ct_flow_adjoint_type(r->flow, like.type);
    ct_push(r->arena, &value, ct_flow_bulk(&r->b, step->range, op, type, args, 3));
    ct_flow_case_end(&r->b, &choice, &value);
    return ct_flow_switch_end(&r->b, &choice).items[0];
}

static void reverse_concat(Reverse *r, const CtFlowStep *step, CtFlowArg g) {
    CtFlowArg x = step->args.items[0];
    CtFlowArg rows = ct_flow_reverse_need(r, ct_flow_reverse_length(r, x.var, 0));
    CtFlowArg columns = ct_flow_reverse_need(r, ct_flow_reverse_length(r, x.var, 1));
    CtFlowArg d = unless_empty(r, step, g, x, ARRAY_RESHAPE, (CtFlowArg[]){rows, columns, g});
    ct_flow_reverse_give(r, step->range, x, d, false);
}

static void reverse_append(Reverse *r, const CtFlowStep *step, CtFlowArg g) {
    CtFlowArg a = step->args.items[0], b = step->args.items[1], none = ct_flow_int(&r->b, 0);
    CtFlowArg first = ct_flow_reverse_need(r, ct_flow_reverse_length(r, a.var, 0));
    if (ct_flow_reverse_is_active(r, a)) {
        CtFlowArg d = unless_empty(r, step, g, a, ARRAY_SLICE, (CtFlowArg[]){none, first, g});
        ct_flow_reverse_give(r, step->range, a, d, false);
    }
    if (ct_flow_reverse_is_active(r, b)) {
        CtFlowArg second = ct_flow_reverse_need(r, ct_flow_reverse_length(r, b.var, 0));
        CtFlowArg d = unless_empty(r, step, g, b, ARRAY_SLICE, (CtFlowArg[]){first, second, g});
        ct_flow_reverse_give(r, step->range, b, d, false);
    }
}

static void give_rearranged(Reverse *r, const CtFlowStep *step, CtArrayOp op, CtFlowArg x, CtFlowArg g) {
    CtFlowArg d = ct_flow_bulk(&r->b, step->range, op, ct_flow_adjoint_type(r->flow, x.type), &g, 1);
    ct_flow_reverse_give(r, step->range, x, d, false);
}

void ct_flow_reverse_bulk(Reverse *r, CtFlowStep *step) {
    const CtFlowArg *args = step->args.items, none = ct_flow_none();
    CtFlowArg g = ct_flow_reverse_take(r, flow_of(step->results.items[0]), NULL);
    if (ct_flow_is_none(g)) return;
    switch (step->as.bulk) {
    case ARRAY_SUM:
        CT_FIRED("reverse_whole_arrays.sum"), ct_flow_reverse_give_uniform(r, step->range, args[0], g);
        return;
    case ARRAY_PRODUCT: CT_FIRED("reverse_whole_arrays.product"), reverse_product(r, step, g); return;
    case ARRAY_MAXIMUM:
    case ARRAY_MINIMUM: CT_FIRED("reverse_whole_arrays.extreme"), reverse_extreme(r, step, g); return;
    case ARRAY_REPLICATE: CT_FIRED("reverse_whole_arrays.replicate"), reverse_replicate(r, step, g); return;
    case ARRAY_GATHER:
        CT_FIRED("reverse_whole_arrays.gather"),
            scatter_add(r, step, g, args[1], ct_flow_reverse_need(r, args[0]), none);
        return;
    case ARRAY_SLICE:
        CT_FIRED("reverse_whole_arrays.slice"),
            scatter_add(r, step, g, args[2], none, ct_flow_reverse_need(r, args[0]));
        return;
    case ARRAY_CONCAT: CT_FIRED("reverse_whole_arrays.concat"), reverse_concat(r, step, g); return;
    case ARRAY_APPEND: CT_FIRED("reverse_whole_arrays.append"), reverse_append(r, step, g); return;
    case ARRAY_TRANSPOSE:
    case ARRAY_REVERSE:
        CT_FIRED("reverse_whole_arrays.rearranged"), give_rearranged(r, step, step->as.bulk, args[0], g);
        return;
    case ARRAY_RESHAPE:
        CT_FIRED("reverse_whole_arrays.reshape"), give_rearranged(r, step, ARRAY_CONCAT, args[2], g);
        return;
    default: r->flow->refused = "an operation on arrays without a reverse"; return;
    }
}
