/* Checks that a tangent or cotangent given by the user has the shape of the value that it belongs to: the same
 * constructors and lengths wherever there are reals. All code behind this check relies on it and reads unchecked. */
#include "flow/ad/adjoint.h"

static CtFlowArg same(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b);

static void end_case(CtFlowBuilder *l, CtFlowChoosing *choice, CtFlowArg value) {
    CtFlowArgs values = {0};
    ct_push(l->arena, &values, value);
    ct_flow_case_end(l, choice, &values);
}

static CtFlowArg otherwise_no(CtFlowBuilder *l, CtFlowChoosing *choice) {
    ct_flow_case_begin(l, choice, FLOW_OTHERS);
    end_case(l, choice, ct_flow_int(l, 0));
    return ct_flow_switch_end(l, choice).items[0];
}

static CtFlowArg both(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b) {
    return ct_flow_prim_int(l, range, PRIM_INT_AND, a, b);
}

/* The lengths of rows do not count where there are no rows. */
static CtFlowArg same_lengths(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b) {
    CtFlowArg all = ct_flow_int(l, 1);
    for (uint32_t i = a.type->rank; i-- > 0;) {
        CtFlowArg length = ct_flow_dim(l, range, a, i);
        CtFlowArg one = ct_flow_prim_int(l, range, PRIM_INT_EQ, length, ct_flow_dim(l, range, b, i));
        if (i + 1 == a.type->rank) {
            all = one;
            continue;
        }
        CtFlowArg none = ct_flow_prim_int(l, range, PRIM_INT_EQ, length, ct_flow_int(l, 0));
        all = both(l, range, one, ct_flow_prim_int(l, range, PRIM_INT_OR, none, all));
    }
    return all;
}

/* Of two arrays of objects with equal lengths. */
static CtFlowArg same_elements(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b, CtFlowArg *at,
                               uint32_t count) {
    if (count == a.type->rank)
        return same(l, range, ct_flow_read(l, range, a, at, count), ct_flow_read(l, range, b, at, count));
    CtFlowArgs start = {0}, next = {0};
    ct_push(l->arena, &start, ct_flow_int(l, 1));
    CtFlowLooping loop = ct_flow_loop_begin(l, range, ct_flow_dim(l, range, a, count), &start);
    at[count] = loop.index;
    ct_push(l->arena, &next, both(l, range, loop.carried.items[0], same_elements(l, range, a, b, at, count + 1)));
    return ct_flow_loop_end(l, &loop, &next, NULL, NULL).items[0];
}

static CtFlowArg same_arrays(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b) {
    CtFlowArg at[MOST_RANK], lengths = same_lengths(l, range, a, b);
    if (!ct_flow_is_object(a.type->element)) return lengths;
    CT_FIRED("shape_check.elements");
    CtFlowChoosing choice = ct_flow_switch_begin(l, range, lengths);
    ct_flow_case_begin(l, &choice, 1);
    end_case(l, &choice, same_elements(l, range, a, b, at, 0));
    return otherwise_no(l, &choice);
}

/* case a of C ⟨x⟩ → case b of { C ⟨y⟩ → all fields have the same shape; _ → no } */
static void fill(CtFlowBuilder *l, CtFlowArg a, CtFlowArg b) {
    const CtFlowData *data = a.type->data;
    CtFlowChoosing on_a = ct_flow_switch_begin(l, CT_NO_RANGE, a);
    for (uint32_t tag = 0; tag < data->count; tag++) {
        ct_flow_case_begin(l, &on_a, tag);
        CtFlowChoosing on_b = ct_flow_switch_begin(l, CT_NO_RANGE, b);
        ct_flow_case_begin(l, &on_b, tag);
        CtFlowArgs x = ct_flow_node_open(l, CT_NO_RANGE, a, tag, "x"),
                   y = ct_flow_node_open(l, CT_NO_RANGE, b, tag, "y");
        CtFlowArg all = ct_flow_int(l, 1);
        for (uint32_t i = 0; i < x.count; i++)
            if (ct_flow_is_active(l->flow, x.items[i].type) && ct_flow_is_object(x.items[i].type))
                all = both(l, CT_NO_RANGE, all, same(l, CT_NO_RANGE, x.items[i], y.items[i]));
        end_case(l, &on_b, all);
        end_case(l, &on_a, data->count > 1 ? otherwise_no(l, &on_b) : ct_flow_switch_end(l, &on_b).items[0]);
    }
    CtFlowArgs values = {0};
    ct_push(l->arena, &values, ct_flow_switch_end(l, &on_a).items[0]);
    ct_flow_leave(l, EXIT_RETURN, CT_NO_RANGE, &values, NULL);
}

static CtFlowArg same_nodes(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b) {
    CtMap *known = &ct_flow_adjoints(l->flow)->shape_checks;
    CtFlowFunction *function = ct_map_get(known, ct_key(a.type));
    if (function == NULL && CT_FIRED("shape_check.nodes")) {
        function = ct_flow_function(l->flow, "alike", CT_NO_RANGE);
        ct_map_set(l->arena, known, ct_key(a.type), function);
        function->results.items = CT_NEW(l->arena, const CtFlowType *);
        function->results.items[0] = ct_flow_scalar(l->flow, FLOW_I64);
        function->results.count = 1;
        CtFlowBuilder inner = {.flow = l->flow, .arena = l->arena, .function = function};
        inner.block = function->body = ct_flow_block(&inner);
        CtFlowVar *x = ct_flow_var(&inner, "a", a.type), *y = ct_flow_var(&inner, "b", a.type);
        ct_push(l->arena, &function->params, x);
        ct_push(l->arena, &function->params, y);
        fill(&inner, flow_of(x), flow_of(y));
    }
    CtFlowArgs args = {0};
    ct_push(l->arena, &args, a);
    ct_push(l->arena, &args, b);
    return ct_flow_call(l, range, function, &args).items[0];
}

/* Whether two values of a type that contains reals have the same shape, as Int. */
static CtFlowArg same(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b) {
    switch (a.type->kind) {
    case FLOW_NODE: return same_nodes(l, range, a, b);
    case FLOW_ARRAY: return same_arrays(l, range, a, b);
    case FLOW_F64:
    case FLOW_F32:
    case FLOW_I64: break;
    }
    return ct_flow_int(l, 1);
}

void ct_flow_check_shapes(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b, const char *what) {
    if (!ct_flow_is_object(a.type) || !ct_flow_is_active(l->flow, a.type)) return;
    CT_FIRED("shape_check.asked");
    CtFlowArgs none = {0};
    CtFlowChoosing choice = ct_flow_switch_begin(l, range, same(l, range, a, b));
    ct_flow_case_begin(l, &choice, 1);
    ct_flow_case_end(l, &choice, &none);
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    CtFlowStep *fail = ct_flow_step(l, FLOW_FAIL, range);
    fail->as.fail.code = CT_E0504;
    fail->as.fail.text = what;
    ct_flow_leave(l, EXIT_NEVER, range, NULL, NULL);
    ct_flow_case_end(l, &choice, &none);
}
