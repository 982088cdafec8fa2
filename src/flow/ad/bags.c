/* Bags: adjoints of arrays as the things that were added to them (CHAD §7, whose Bag has BEmpty, BOne and BPlus).
 *
 * A program may hold one array under many names: as a field of many nodes or closures, as an element of arrays, as the
 * result of a branch or call. Each name has an adjoint of its own, and may be used at a single index. An array of zeros
 * for each name would cost the array's length each time. A bag costs what is added to it:
 *
 *   Zero                     nothing
 *   Dense array              all elements
 *   One index item rest      an element, or a bag for a row, besides what else there is
 *   Plus bag bag             the sum of two
 *
 * Zero, One and Plus take constant time. Where the array was made, all that its names received is added to an array of
 * adjoints, which takes no longer than making the bag did. What is added to a bag with a Dense array goes into this
 * array, in place. A Dense array is never the empty array that stands for zero. */
#include "flow/ad/adjoint.h"

enum { BAG_ZERO, BAG_DENSE, BAG_ONE, BAG_PLUS };

/* An array inside costs about as much as this part of its elements do as Ones: a power of two. */
enum { ONES_AS_POWER = 4 };

/* ---- types ---- */

const CtFlowType *ct_flow_bag_type(CtFlow *flow, const CtFlowType *array) {
    CtFlowAdjoints *made = ct_flow_adjoints(flow);
    const CtFlowType *bag = ct_map_get(&made->bags, ct_key(array));
    if (bag != NULL) return bag;
    bag = ct_flow_node_new(flow, "bag", NULL);
    ct_map_set(flow->arena, &made->bags, ct_key(array), (void *)bag);
    ct_map_set(flow->arena, &made->arrays_of_bags, ct_key(bag), (void *)array);
    const CtFlowType *row = array->rank == 1 ? NULL : ct_flow_array(flow, array->rank - 1, array->element);
    const CtFlowType *item = row == NULL ? array->element : ct_flow_bag_type(flow, row);
    const CtFlowType *one[] = {ct_flow_scalar(flow, FLOW_I64), item, bag}, *plus[] = {bag, bag};
    CtFlowTypes none = {0}, dense = {.items = &array, .count = 1};
    ct_flow_con_add(flow, bag->data, "Zero", &none);
    ct_flow_types_add(flow, &none, &dense);
    ct_flow_con_add(flow, bag->data, "Dense", &none);
    CtFlowTypes ones = {0}, pluses = {0};
    ct_flow_types_add(flow, &ones, &(CtFlowTypes){.items = one, .count = 3});
    ct_flow_con_add(flow, bag->data, "One", &ones);
    ct_flow_types_add(flow, &pluses, &(CtFlowTypes){.items = plus, .count = 2});
    ct_flow_con_add(flow, bag->data, "Plus", &pluses);
    return bag;
}

static const CtFlowType *array_of(CtFlow *flow, const CtFlowType *bag) {
    return ct_map_get(&ct_flow_adjoints(flow)->arrays_of_bags, ct_key(bag));
}

bool ct_flow_is_bag(CtFlow *flow, const CtFlowType *type) { return array_of(flow, type) != NULL; }

/* ---- making ---- */

static CtFlowArg make(CtFlowBuilder *l, CtSourceRange range, const CtFlowType *bag, uint32_t tag, CtFlowArg a,
                      CtFlowArg b, CtFlowArg c) {
    CtFlowArgs fields = {0};
    ct_push(l->arena, &fields, a);
    if (!ct_flow_is_none(b)) ct_push(l->arena, &fields, b);
    if (!ct_flow_is_none(c)) ct_push(l->arena, &fields, c);
    return ct_flow_node_make(l, range, bag, tag, &fields);
}

static CtFlowArg dense(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array) {
    return make(l, range, ct_flow_bag_type(l->flow, array.type), BAG_DENSE, array, ct_flow_none(), ct_flow_none());
}

/* A bag with `value` at the indices, and what is in `rest`. */
static CtFlowArg one(CtFlowBuilder *l, CtSourceRange range, const CtFlowArg *indices, uint32_t count, CtFlowArg value,
                     CtFlowArg rest) {
    if (count > 1) {
        CtFlowArg row = ct_flow_zero(l, rest.type->data->cons[BAG_ONE].fields.items[1]);
        value = one(l, range, indices + 1, count - 1, value, row);
    }
    return make(l, range, rest.type, BAG_ONE, indices[0], value, rest);
}

static void leave(CtFlowBuilder *l, CtFlowChoosing *choice, CtFlowArg value) {
    CtFlowArgs values = {0};
    ct_push(l->arena, &values, value);
    ct_flow_case_end(l, choice, &values);
}

CtFlowArg ct_flow_bag_of(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, bool full) {
    if (full) return dense(l, range, array);
    CtFlowChoosing choice = ct_flow_switch_begin(l, range, ct_flow_is_empty(l, range, array));
    ct_flow_case_begin(l, &choice, 1);
    leave(l, &choice, ct_flow_zero(l, ct_flow_bag_type(l->flow, array.type)));
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    leave(l, &choice, dense(l, range, array));
    return ct_flow_switch_end(l, &choice).items[0];
}

/* ---- helper functions ---- */

static CtFlowTypes types_of(CtFlowBuilder *l, const CtFlowArgs *args) {
    CtFlowTypes types = {.items = CT_NEW_ARRAY(l->arena, const CtFlowType *, args->count), .count = args->count};
    for (uint32_t i = 0; i < args->count; i++) types.items[i] = args->items[i].type;
    return types;
}

static CtFlowArgs with_indices(CtFlowBuilder *l, CtFlowArg first, const CtFlowArg *indices, uint32_t count,
                               CtFlowArg last) {
    CtFlowArgs args = {0};
    ct_push(l->arena, &args, first);
    for (uint32_t i = 0; i < count; i++) ct_push(l->arena, &args, indices[i]);
    ct_push(l->arena, &args, last);
    return args;
}

static CtFlowArg call(CtFlowBuilder *l, CtSourceRange range, CtMap *known, const CtFlowType *key, const char *name,
                      const CtFlowArgs *args, CtFlowFill *fill) {
    CtFlowTypes types = types_of(l, args);
    CtFlowFunction *function = ct_flow_helper(l->flow, known, key, name, &types, args->items[0].type, fill);
    return ct_flow_call(l, range, function, args).items[0];
}

/* ---- into an array ---- */

static void fill_collect(CtFlowBuilder *l, const CtFlowArgs *params);

/* array[⟨indices⟩] += bag */
static CtFlowArg collect_at(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, const CtFlowArg *indices,
                            uint32_t count, CtFlowArg bag) {
    CtFlowArgs args = with_indices(l, array, indices, count, bag);
    CtMap *known = &ct_flow_adjoints(l->flow)->collects[count];
    return call(l, range, known, bag.type, "collect", &args, fill_collect);
}

/* Ends a branch by adding a bag as well, at the indices among the parameters. */
static void collect_rest(CtFlowBuilder *l, const CtFlowArgs *params, CtFlowArg array, CtFlowArg bag) {
    CtFlowArgs args = with_indices(l, array, params->items + 1, params->count - 2, bag);
    ct_flow_leave(l, EXIT_TAIL, CT_NO_RANGE, &args, l->function);
}

/* (array, ⟨indices⟩, bag) → the array */
static void fill_collect(CtFlowBuilder *l, const CtFlowArgs *params) {
    CT_FIRED("bags.collect");
    uint32_t known = params->count - 2;
    CtFlowArg array = params->items[0], bag = params->items[known + 1], all[MOST_RANK];
    CtFlowArgs result = {0};
    CtFlowBlock *body = l->block;
    ct_push(l->arena, &result, array);
    for (uint32_t i = 0; i < known; i++) all[i] = params->items[1 + i];
    CtFlowChoosing choice = ct_flow_switch_begin(l, CT_NO_RANGE, bag);
    ct_flow_case_begin(l, &choice, BAG_ZERO);
    ct_flow_leave(l, EXIT_RETURN, CT_NO_RANGE, &result, NULL);
    ct_flow_case_begin(l, &choice, BAG_DENSE);
    CtFlowArgs parts = ct_flow_node_open(l, CT_NO_RANGE, bag, BAG_DENSE, "all");
    result = (CtFlowArgs){0};
    ct_push(l->arena, &result, ct_flow_add_at(l, CT_NO_RANGE, array, all, known, parts.items[0]));
    ct_flow_leave(l, EXIT_RETURN, CT_NO_RANGE, &result, NULL);
    ct_flow_case_begin(l, &choice, BAG_ONE);
    parts = ct_flow_node_open(l, CT_NO_RANGE, bag, BAG_ONE, "one");
    all[known] = parts.items[0];
    bool row = known + 1 < array.type->rank;
    CtFlowArg sum = row ? collect_at(l, CT_NO_RANGE, array, all, known + 1, parts.items[1])
                        : ct_flow_add_at(l, CT_NO_RANGE, array, all, known + 1, parts.items[1]);
    collect_rest(l, params, sum, parts.items[2]);
    ct_flow_case_begin(l, &choice, BAG_PLUS);
    parts = ct_flow_node_open(l, CT_NO_RANGE, bag, BAG_PLUS, "plus");
    collect_rest(l, params, collect_at(l, CT_NO_RANGE, array, all, known, parts.items[0]), parts.items[1]);
    body->exit = EXIT_NEVER;
}

CtFlowArg ct_flow_bag_collect(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, CtFlowArg bag) {
    return collect_at(l, range, array, NULL, 0, bag);
}

CtFlowArg ct_flow_bag_array(CtFlowBuilder *l, CtSourceRange range, CtFlowArg bag, const CtFlowArg *dims) {
    const CtFlowType *array = array_of(l->flow, bag.type);
    CtFlowChoosing choice = ct_flow_switch_begin(l, range, bag);
    ct_flow_case_begin(l, &choice, BAG_ZERO);
    leave(l, &choice, ct_flow_zero(l, array));
    ct_flow_case_begin(l, &choice, BAG_DENSE);
    leave(l, &choice, ct_flow_node_open(l, range, bag, BAG_DENSE, "all").items[0]);
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    leave(l, &choice, ct_flow_bag_collect(l, range, ct_flow_zeros(l, range, array, dims), bag));
    return ct_flow_switch_end(l, &choice).items[0];
}

CtFlowArg ct_flow_bag_take(CtFlowBuilder *l, CtSourceRange range, CtFlowArg *bag, const CtFlowArg *indices,
                           uint32_t count) {
    CtFlowArgs values = {0};
    const CtFlowType *element = array_of(l->flow, bag->type)->element;
    CtFlowArg zero = ct_flow_zero(l, element);
    CtFlowChoosing choice = ct_flow_switch_begin(l, range, *bag);
    ct_flow_case_begin(l, &choice, BAG_DENSE);
    CtFlowArg all = ct_flow_node_open(l, range, *bag, BAG_DENSE, "all").items[0];
    ct_push(l->arena, &values, ct_flow_read(l, range, all, indices, count));
    ct_push(l->arena, &values, dense(l, range, ct_flow_update(l, range, all, indices, count, zero)));
    ct_flow_case_end(l, &choice, &values);
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    values = (CtFlowArgs){0};
    ct_push(l->arena, &values, zero);
    ct_push(l->arena, &values, *bag);
    ct_flow_case_end(l, &choice, &values);
    values = ct_flow_switch_end(l, &choice);
    *bag = values.items[1];
    return values.items[0];
}

/* ---- sums ---- */

/* (bag, ⟨indices⟩, value) → the bag */
static void fill_add_at(CtFlowBuilder *l, const CtFlowArgs *params) {
    CT_FIRED("bags.add_at");
    uint32_t count = params->count - 2;
    CtFlowArg bag = params->items[0], value = params->items[count + 1];
    const CtFlowArg *indices = params->items + 1;
    CtFlowArgs result = {0};
    CtFlowChoosing choice = ct_flow_switch_begin(l, CT_NO_RANGE, bag);
    ct_flow_case_begin(l, &choice, BAG_DENSE);
    CtFlowArg all = ct_flow_node_open(l, CT_NO_RANGE, bag, BAG_DENSE, "all").items[0];
    all = count < all.type->rank ? collect_at(l, CT_NO_RANGE, all, indices, count, value)
                                 : ct_flow_add_at(l, CT_NO_RANGE, all, indices, count, value);
    leave(l, &choice, dense(l, CT_NO_RANGE, all));
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    leave(l, &choice, one(l, CT_NO_RANGE, indices, count, value, bag));
    ct_push(l->arena, &result, ct_flow_switch_end(l, &choice).items[0]);
    ct_flow_leave(l, EXIT_RETURN, CT_NO_RANGE, &result, NULL);
}

CtFlowArg ct_flow_bag_add_at(CtFlowBuilder *l, CtSourceRange range, CtFlowArg bag, const CtFlowArg *indices,
                             uint32_t count, CtFlowArg value) {
    CtFlowArgs args = with_indices(l, bag, indices, count, value);
    return call(l, range, &ct_flow_adjoints(l->flow)->bag_sums[count], bag.type, "contribute", &args, fill_add_at);
}

/* Ends the branch for a bag b on which a is decided: what is dense receives what is not. */
static CtFlowArg add_to(CtFlowBuilder *l, CtFlowArg a, CtFlowArg b, bool b_is_dense) {
    CtFlowArg of_a, of_b = ct_flow_none();
    if (b_is_dense) of_b = ct_flow_node_open(l, CT_NO_RANGE, b, BAG_DENSE, "b").items[0];
    CtFlowChoosing choice = ct_flow_switch_begin(l, CT_NO_RANGE, a);
    ct_flow_case_begin(l, &choice, BAG_ZERO);
    leave(l, &choice, b);
    ct_flow_case_begin(l, &choice, BAG_DENSE);
    of_a = ct_flow_node_open(l, CT_NO_RANGE, a, BAG_DENSE, "a").items[0];
    leave(l, &choice,
          dense(l, CT_NO_RANGE,
                b_is_dense ? ct_flow_add_at(l, CT_NO_RANGE, of_a, NULL, 0, of_b)
                           : ct_flow_bag_collect(l, CT_NO_RANGE, of_a, b)));
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    leave(l, &choice,
          b_is_dense ? dense(l, CT_NO_RANGE, ct_flow_bag_collect(l, CT_NO_RANGE, of_b, a))
                     : make(l, CT_NO_RANGE, a.type, BAG_PLUS, a, b, ct_flow_none()));
    return ct_flow_switch_end(l, &choice).items[0];
}

static void fill_add(CtFlowBuilder *l, const CtFlowArgs *params) {
    CT_FIRED("bags.add");
    CtFlowArg a = params->items[0], b = params->items[1];
    CtFlowArgs result = {0};
    CtFlowChoosing choice = ct_flow_switch_begin(l, CT_NO_RANGE, b);
    ct_flow_case_begin(l, &choice, BAG_ZERO);
    leave(l, &choice, a);
    ct_flow_case_begin(l, &choice, BAG_DENSE);
    leave(l, &choice, add_to(l, a, b, true));
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    leave(l, &choice, add_to(l, a, b, false));
    ct_push(l->arena, &result, ct_flow_switch_end(l, &choice).items[0]);
    ct_flow_leave(l, EXIT_RETURN, CT_NO_RANGE, &result, NULL);
}

CtFlowArg ct_flow_bag_add(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b) {
    CtFlowArgs args = with_indices(l, a, NULL, 0, b);
    return call(l, range, &ct_flow_adjoints(l->flow)->adds, a.type, "add", &args, fill_add);
}

/* ---- for loops ---- */

CtFlowArg ct_flow_bag_for(CtFlowBuilder *l, CtSourceRange range, CtFlowArg bag, CtFlowArg times,
                          const CtFlowArg *dims) {
    const CtFlowType *array = array_of(l->flow, bag.type);
    CtFlowArg size = dims[0];
    for (uint32_t i = 1; i < array->rank; i++) size = ct_flow_prim_int(l, range, PRIM_INT_MUL, size, dims[i]);
    size = ct_flow_prim_int(l, range, PRIM_INT_SHIFT_RIGHT, size, ct_flow_int(l, ONES_AS_POWER));
    CtFlowChoosing choice = ct_flow_switch_begin(l, range, ct_flow_prim_int(l, range, PRIM_INT_LE, size, times));
    ct_flow_case_begin(l, &choice, 1);
    leave(l, &choice, dense(l, range, ct_flow_filled(l, range, ct_flow_bag_array(l, range, bag, dims), dims)));
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    leave(l, &choice, bag);
    return ct_flow_switch_end(l, &choice).items[0];
}
