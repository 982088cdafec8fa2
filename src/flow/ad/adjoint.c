/* Cotangents and tangents as values: their types, zeros and sums, and conversion from and to values of the primal's
 * type.
 *
 * Every zero is of constant size: −0.0, the constructor Zero, or the empty array. So the adjoint of a large structure
 * of which little is used is small, as in CHAD §4. */
#include "flow/ad/adjoint.h"

/* Function values may hold residuals, which may hold adjoints of function values, and so on. The bound on orders keeps
 * the number of types finite. It only concerns derivatives that nest through function values. */
enum { MOST_ORDERS = 5 };

CtFlowAdjoints *ct_flow_adjoints(CtFlow *flow) {
    if (flow->adjoints == NULL) flow->adjoints = CT_NEW(flow->arena, CtFlowAdjoints);
    return flow->adjoints;
}

/* ---- types ---- */

bool ct_flow_has_no_adjoint(const CtFlowType *type) {
    return type->kind == FLOW_NODE && type->data->order >= MOST_ORDERS;
}

/* Whether values of a type contain reals. A type whose constructors are not known yet may. */
static bool has_reals(CtFlow *flow, const CtFlowType *type, CtMap *seen) {
    switch (type->kind) {
    case FLOW_F64:
    case FLOW_F32: return true;
    case FLOW_I64: return false;
    case FLOW_ARRAY: return has_reals(flow, type->element, seen);
    case FLOW_NODE: break;
    }
    if (ct_map_has(seen, ct_key(type))) return false;
    ct_map_set(flow->arena, seen, ct_key(type), NULL);
    const CtFlowData *data = type->data;
    if (data->is_open || data->order > 0) return !ct_flow_has_no_adjoint(type);
    for (uint32_t i = 0; i < data->count; i++)
        for (uint32_t j = 0; j < data->cons[i].fields.count; j++)
            if (has_reals(flow, data->cons[i].fields.items[j], seen)) return true;
    return false;
}

static const CtFlowType *dual_type(CtFlow *flow, const CtFlowType *type, CtFlowDual kind);

/* The dual of a field of a node, or of an element of an array. */
static const CtFlowType *dual_of_part(CtFlow *flow, const CtFlowType *type, CtFlowDual kind) {
    const CtFlowType *dual = dual_type(flow, type, kind);
    return dual != NULL && type->kind == FLOW_ARRAY && kind == DUAL_COTANGENT ? ct_flow_bag_type(flow, dual) : dual;
}

/* Adds a constructor to the dual of a type for each constructor of the data that has none yet. */
static void add_duals(CtFlow *flow, const CtFlowData *data, CtFlowData *dual, CtFlowDual kind) {
    for (uint32_t i = dual->count - 1; i < data->count; i++) {
        const CtFlowTypes *fields = &data->cons[i].fields;
        CtFlowTypes duals = {.items = CT_NEW_ARRAY(flow->arena, const CtFlowType *, fields->count + 1)};
        for (uint32_t j = 0; j < fields->count; j++) {
            const CtFlowType *one = dual_of_part(flow, fields->items[j], kind);
            if (one != NULL) duals.items[duals.count++] = one;
        }
        ct_flow_con_add(flow, dual, data->cons[i].name, &duals);
    }
}

static const CtFlowType *dual_of_node(CtFlow *flow, const CtFlowType *type, CtFlowDual kind) {
    CtMap seen = {0};
    if (ct_flow_has_no_adjoint(type) || !has_reals(flow, type, &seen)) return NULL;
    const char *what = kind == DUAL_COTANGENT ? "adjoint" : "tangent";
    const CtFlowType *node = ct_flow_node_new(flow, ct_format(flow->arena, "%s of %s", what, type->data->name), NULL);
    /* Before its constructors, because the type may be recursive. */
    ct_map_set(flow->arena, &ct_flow_adjoints(flow)->types[kind], ct_key(type), (void *)node);
    CtFlowTypes none = {0};
    ct_flow_con_add(flow, node->data, "Zero", &none);
    node->data->is_open = type->data->is_open;
    node->data->order = type->data->order == 0 ? 0 : type->data->order + 1;
    add_duals(flow, type->data, node->data, kind);
    return node;
}

/* Whether nodes of a type may hold arrays, so that their cotangents and tangents differ in type. */
static bool holds_arrays(CtFlow *flow, const CtFlowType *type, CtMap *seen) {
    if (type->kind == FLOW_ARRAY) return true;
    if (type->kind != FLOW_NODE || ct_map_has(seen, ct_key(type))) return false;
    ct_map_set(flow->arena, seen, ct_key(type), NULL);
    const CtFlowData *data = type->data;
    for (uint32_t i = 0; i < data->count; i++)
        for (uint32_t j = 0; j < data->cons[i].fields.count; j++)
            if (holds_arrays(flow, data->cons[i].fields.items[j], seen)) return true;
    return data->is_open;
}

bool ct_flow_holds_arrays(CtFlow *flow, const CtFlowType *type) {
    CtMap seen = {0};
    return holds_arrays(flow, type, &seen);
}

static const CtFlowType *dual_type(CtFlow *flow, const CtFlowType *type, CtFlowDual kind) {
    switch (type->kind) {
    case FLOW_F64:
    case FLOW_F32: return type;
    case FLOW_I64: return NULL;
    case FLOW_ARRAY: {
        const CtFlowType *element = dual_of_part(flow, type->element, kind);
        return element == NULL ? NULL : ct_flow_array(flow, type->rank, element);
    }
    case FLOW_NODE: break;
    }
    const CtFlowType *known = ct_map_get(&ct_flow_adjoints(flow)->types[kind], ct_key(type));
    if (known != NULL) return known;
    return kind == DUAL_TANGENT && !ct_flow_holds_arrays(flow, type) ? dual_type(flow, type, DUAL_COTANGENT)
                                                                     : dual_of_node(flow, type, kind);
}

const CtFlowType *ct_flow_adjoint_type(CtFlow *flow, const CtFlowType *type) {
    return dual_type(flow, type, DUAL_COTANGENT);
}

const CtFlowType *ct_flow_shared_adjoint_type(CtFlow *flow, const CtFlowType *type) {
    return dual_of_part(flow, type, DUAL_COTANGENT);
}

const CtFlowType *ct_flow_tangent_type(CtFlow *flow, const CtFlowType *type) {
    return dual_type(flow, type, DUAL_TANGENT);
}

bool ct_flow_has_reals(CtFlow *flow, const CtFlowType *type) {
    CtMap seen = {0};
    return has_reals(flow, type, &seen);
}

void ct_flow_refuse_high_ranks(CtFlow *flow) {
    for (uint32_t i = 0; i < flow->types.count; i++)
        if (flow->types.items[i]->kind == FLOW_ARRAY && flow->types.items[i]->rank > MOST_RANK)
            flow->refused = "a derivative of arrays of more than 16 dimensions";
}

bool ct_flow_is_active(CtFlow *flow, const CtFlowType *type) { return ct_flow_adjoint_type(flow, type) != NULL; }

/* ---- functions for what recurs ---- */

CtFlowFunction *ct_flow_helper(CtFlow *flow, CtMap *known, const CtFlowType *key, const char *name,
                               const CtFlowTypes *params, const CtFlowType *result, CtFlowFill *fill) {
    CtFlowFunction *function = ct_map_get(known, ct_key(key));
    if (function != NULL) return function;
    function = ct_flow_function(flow, name, CT_NO_RANGE);
    function->ends = true;
    ct_map_set(flow->arena, known, ct_key(key), function);
    function->results.items = CT_NEW(flow->arena, const CtFlowType *);
    function->results.items[0] = result;
    function->results.count = 1;
    CtFlowBuilder l = {.flow = flow, .arena = flow->arena, .function = function};
    l.block = function->body = ct_flow_block(&l);
    CtFlowArgs args = ct_flow_params(&l, &function->params, "a", params);
    if (key->kind == FLOW_NODE && key->data->is_open)
        ct_push(flow->arena, &ct_flow_adjoints(flow)->waiting, (CtFlowWaiting){function, key, fill});
    else
        fill(&l, &args);
    return function;
}

static void close_duals(CtFlow *flow, const CtFlowType *type) {
    CtFlowAdjoints *made = ct_flow_adjoints(flow);
    type->data->is_open = false;
    for (CtFlowDual kind = DUAL_COTANGENT; kind <= DUAL_TANGENT; kind++) {
        const CtFlowType *dual = ct_map_get(&made->types[kind], ct_key(type));
        if (dual == NULL) continue;
        add_duals(flow, type->data, dual->data, kind);
        close_duals(flow, dual);
    }
}

void ct_flow_close(CtFlow *flow, const CtFlowType *type) {
    CtFlowAdjoints *made = ct_flow_adjoints(flow);
    close_duals(flow, type);
    for (uint32_t i = 0; i < made->waiting.count; i++) {
        CtFlowWaiting *w = &made->waiting.items[i];
        CtFlowArgs args = {0};
        if (w->key->data->is_open || w->fill == NULL) continue;
        CtFlowBuilder l = {.flow = flow, .arena = flow->arena, .function = w->function, .block = w->function->body};
        for (uint32_t j = 0; j < w->function->params.count; j++)
            ct_push(flow->arena, &args, flow_of(w->function->params.items[j]));
        CtFlowFill *fill = w->fill;
        w->fill = NULL; /* the list may move while the body is written */
        fill(&l, &args);
    }
}

static CtFlowArg call_one(CtFlowBuilder *l, CtSourceRange range, CtFlowFunction *function, CtFlowArg a, CtFlowArg b) {
    CtFlowArgs args = {0};
    ct_push(l->arena, &args, a);
    if (!ct_flow_is_none(b)) ct_push(l->arena, &args, b);
    return ct_flow_call(l, range, function, &args).items[0];
}

static void return_one(CtFlowBuilder *l, CtFlowArg value) {
    CtFlowArgs values = {0};
    ct_push(l->arena, &values, value);
    ct_flow_leave(l, EXIT_RETURN, CT_NO_RANGE, &values, NULL);
}

static void yield_one(CtFlowBuilder *l, CtFlowChoosing *choice, CtFlowArg value) {
    CtFlowArgs values = {0};
    ct_push(l->arena, &values, value);
    ct_flow_case_end(l, choice, &values);
}

static CtFlowTypes two_types(CtFlowBuilder *l, const CtFlowType *a, const CtFlowType *b) {
    CtFlowTypes types = {.items = CT_NEW_ARRAY(l->arena, const CtFlowType *, 2), .count = b == NULL ? 1 : 2};
    types.items[0] = a;
    types.items[1] = b;
    return types;
}

/* ---- zeros ---- */

CtFlowArg ct_flow_zero(CtFlowBuilder *l, const CtFlowType *adjoint) {
    if (!ct_flow_is_object(adjoint)) return ct_flow_real(adjoint, -0.0);
    if (adjoint->kind == FLOW_NODE) return ct_flow_node_make(l, CT_NO_RANGE, adjoint, 0, NULL);
    return ct_flow_result(l, ct_flow_step(l, FLOW_ITEMS, CT_NO_RANGE), "none", adjoint);
}

CtFlowArg ct_flow_is_empty(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array) {
    return ct_flow_prim_int(l, range, PRIM_INT_EQ, ct_flow_dim(l, range, array, 0), ct_flow_int(l, 0));
}

CtFlowArg ct_flow_zeros(CtFlowBuilder *l, CtSourceRange range, const CtFlowType *adjoint, const CtFlowArg *dims) {
    CtFlowArg value = ct_flow_zero(l, adjoint->element);
    for (uint32_t i = adjoint->rank; i-- > 0;) {
        const CtFlowType *type = ct_flow_array(l->flow, adjoint->rank - i, adjoint->element);
        value = ct_flow_bulk(l, range, ARRAY_REPLICATE, type, (CtFlowArg[]){dims[i], value}, 2);
    }
    return value;
}

CtFlowArg ct_flow_filled(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, const CtFlowArg *dims) {
    CtFlowChoosing choice = ct_flow_switch_begin(l, range, ct_flow_is_empty(l, range, array));
    ct_flow_case_begin(l, &choice, 1);
    yield_one(l, &choice, ct_flow_zeros(l, range, array.type, dims));
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    yield_one(l, &choice, array);
    return ct_flow_switch_end(l, &choice).items[0];
}

/* ---- sums ---- */

/* to[⟨at⟩] += from[⟨of⟩] for all elements of the remaining `rank` dimensions. */
static CtFlowArg add_all(CtFlowBuilder *l, CtSourceRange range, CtFlowArg to, CtFlowArg from, const CtFlowArg *indices,
                         uint32_t count, uint32_t skipped) {
    if (count == to.type->rank) {
        CtFlowArg old = ct_flow_read(l, range, to, indices, count);
        CtFlowArg more = ct_flow_read(l, range, from, indices + skipped, count - skipped);
        return ct_flow_update(l, range, to, indices, count, ct_flow_add(l, range, old, more));
    }
    CtFlowArgs start = {0}, next = {0};
    CtFlowArg all[MOST_RANK], length = ct_flow_dim(l, range, from, count - skipped);
    ct_push(l->arena, &start, to);
    CtFlowLooping loop = ct_flow_loop_begin(l, range, length, &start);
    for (uint32_t i = 0; i < count; i++) all[i] = indices[i];
    all[count] = loop.index;
    ct_push(l->arena, &next, add_all(l, range, loop.carried.items[0], from, all, count + 1, skipped));
    return ct_flow_loop_end(l, &loop, &next, NULL, NULL).items[0];
}

static void fill_add_array(CtFlowBuilder *l, const CtFlowArgs *params) {
    CT_FIRED("adjoint.add_array");
    CtFlowArg a = params->items[0], b = params->items[1];
    CtFlowChoosing choice = ct_flow_switch_begin(l, CT_NO_RANGE, ct_flow_is_empty(l, CT_NO_RANGE, a));
    ct_flow_case_begin(l, &choice, 1);
    yield_one(l, &choice, b);
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    yield_one(l, &choice, add_all(l, CT_NO_RANGE, a, b, NULL, 0, 0));
    return_one(l, ct_flow_switch_end(l, &choice).items[0]);
}

/* The sum of two adjoints of one node: they have the same constructor, unless one is Zero. */
static void fill_add_node(CtFlowBuilder *l, const CtFlowArgs *params) {
    CT_FIRED("adjoint.add_node");
    CtFlowArg a = params->items[0], b = params->items[1];
    const CtFlowData *data = a.type->data;
    CtFlowChoosing on_b = ct_flow_switch_begin(l, CT_NO_RANGE, b);
    ct_flow_case_begin(l, &on_b, 0);
    yield_one(l, &on_b, a);
    ct_flow_case_begin(l, &on_b, FLOW_OTHERS);
    CtFlowChoosing on_a = ct_flow_switch_begin(l, CT_NO_RANGE, a);
    for (uint32_t tag = 0; tag < data->count; tag++) {
        ct_flow_case_begin(l, &on_a, tag);
        if (tag == 0 || data->cons[tag].fields.count == 0) {
            yield_one(l, &on_a, b);
            continue;
        }
        CtFlowArgs of_a = ct_flow_node_open(l, CT_NO_RANGE, a, tag, "a"),
                   of_b = ct_flow_node_open(l, CT_NO_RANGE, b, tag, "b"), sums = {0};
        for (uint32_t i = 0; i < of_a.count; i++)
            ct_push(l->arena, &sums, ct_flow_add(l, CT_NO_RANGE, of_a.items[i], of_b.items[i]));
        yield_one(l, &on_a, ct_flow_node_make(l, CT_NO_RANGE, a.type, tag, &sums));
    }
    yield_one(l, &on_b, ct_flow_switch_end(l, &on_a).items[0]);
    return_one(l, ct_flow_switch_end(l, &on_b).items[0]);
}

CtFlowArg ct_flow_add(CtFlowBuilder *l, CtSourceRange range, CtFlowArg a, CtFlowArg b) {
    if (!ct_flow_is_object(a.type)) return ct_flow_prim(l, range, PRIM_ADD, a.type, a, b);
    if (ct_flow_is_bag(l->flow, a.type)) return ct_flow_bag_add(l, range, a, b);
    CtFlowTypes params = two_types(l, a.type, a.type);
    CtFlowFunction *add = ct_flow_helper(l->flow, &ct_flow_adjoints(l->flow)->adds, a.type, "add", &params, a.type,
                                         a.type->kind == FLOW_NODE ? fill_add_node : fill_add_array);
    return call_one(l, range, add, a, b);
}

CtFlowArg ct_flow_add_at(CtFlowBuilder *l, CtSourceRange range, CtFlowArg array, const CtFlowArg *indices,
                         uint32_t count, CtFlowArg value) {
    if (array.type->rank > count) return add_all(l, range, array, value, indices, count, count);
    CtFlowArg old = ct_flow_read(l, range, array, indices, count);
    return ct_flow_update(l, range, array, indices, count, ct_flow_add(l, range, old, value));
}

/* ---- parts ---- */

CtFlowArgs ct_flow_adjoint_fields(CtFlowBuilder *l, CtSourceRange range, CtFlowArg adjoint, uint32_t tag) {
    CtFlowArgs zeros = {0}, fields;
    const CtFlowTypes *types = &adjoint.type->data->cons[tag + 1].fields;
    CtFlowChoosing choice = ct_flow_switch_begin(l, range, adjoint);
    ct_flow_case_begin(l, &choice, 0);
    for (uint32_t i = 0; i < types->count; i++) ct_push(l->arena, &zeros, ct_flow_zero(l, types->items[i]));
    ct_flow_case_end(l, &choice, &zeros);
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    fields = ct_flow_node_open(l, range, adjoint, tag + 1, "part");
    ct_flow_case_end(l, &choice, &fields);
    return ct_flow_switch_end(l, &choice);
}

/* ---- elementwise ---- */

typedef CtFlowArg Element(CtFlowBuilder *l, CtSourceRange range, const CtFlowType *type, const CtFlowArgs *arrays,
                          const CtFlowArg *indices, uint32_t count);

/* An array of `type`, as long as the first of `arrays`, whose items, of its element's type, are computed by `element`.
 */
static CtFlowArg each(CtFlowBuilder *l, CtSourceRange range, const CtFlowType *type, const CtFlowArgs *arrays,
                      const CtFlowArg *indices, uint32_t count, Element *element) {
    CtFlowArgs none = {0}, items = {0};
    CtFlowTypes types = two_types(l, type, NULL);
    CtFlowArg all[MOST_RANK];
    CtFlowLooping loop = ct_flow_loop_begin(l, range, ct_flow_dim(l, range, arrays->items[0], count), &none);
    for (uint32_t i = 0; i < count; i++) all[i] = indices[i];
    all[count] = loop.index;
    CtFlowArg item = type->rank == 1
                         ? element(l, range, type->element, arrays, all, count + 1)
                         : each(l, range, ct_flow_row_type(l->flow, type, 1), arrays, all, count + 1, element);
    ct_push(l->arena, &items, item);
    return ct_flow_loop_end(l, &loop, &none, &items, &types).items[0];
}

/* ---- embedding ---- */

static CtFlowArg embed_element(CtFlowBuilder *l, CtSourceRange range, const CtFlowType *type, const CtFlowArgs *arrays,
                               const CtFlowArg *indices, uint32_t count) {
    return ct_flow_embed(l, range, ct_flow_read(l, range, arrays->items[0], indices, count), type);
}

static void fill_embed(CtFlowBuilder *l, const CtFlowArgs *params) {
    CT_FIRED("adjoint.embed");
    CtFlowArg x = params->items[0];
    const CtFlowData *data = x.type->data;
    const CtFlowType *type = l->function->results.items[0];
    CtFlowChoosing choice = ct_flow_switch_begin(l, CT_NO_RANGE, x);
    for (uint32_t tag = 0; tag < data->count; tag++) {
        ct_flow_case_begin(l, &choice, tag);
        CtFlowArgs fields = ct_flow_node_open(l, CT_NO_RANGE, x, tag, "x"), duals = {0};
        const CtFlowTypes *types = &type->data->cons[tag + 1].fields;
        for (uint32_t i = 0; i < fields.count; i++) {
            if (!ct_flow_is_active(l->flow, fields.items[i].type)) continue;
            CtFlowArg dual = ct_flow_embed(l, CT_NO_RANGE, fields.items[i], types->items[duals.count]);
            ct_push(l->arena, &duals, dual);
        }
        yield_one(l, &choice, ct_flow_node_make(l, CT_NO_RANGE, type, tag + 1, &duals));
    }
    return_one(l, ct_flow_switch_end(l, &choice).items[0]);
}

CtFlowArg ct_flow_embed(CtFlowBuilder *l, CtSourceRange range, CtFlowArg value, const CtFlowType *type) {
    if (type == value.type) return value;
    if (ct_flow_is_bag(l->flow, type)) {
        CtFlowArg array = ct_flow_embed(l, range, value, ct_flow_adjoint_type(l->flow, value.type));
        return ct_flow_bag_of(l, range, array, true);
    }
    if (value.type->kind == FLOW_ARRAY) {
        CtFlowArgs arrays = {0};
        CT_FIRED("adjoint.embed_array");
        ct_push(l->arena, &arrays, value);
        return each(l, range, type, &arrays, NULL, 0, embed_element);
    }
    CtFlowTypes params = two_types(l, value.type, NULL);
    return call_one(
        l, range, ct_flow_helper(l->flow, &ct_flow_adjoints(l->flow)->embeds, type, "embed", &params, type, fill_embed),
        value, ct_flow_none());
}

/* ---- projection ---- */

/* `raw`: structural zeros remain −0.0. */
static CtFlowArg project(CtFlowBuilder *l, CtSourceRange range, CtFlowArg x, CtFlowArg adjoint, bool raw);
static CtFlowArg zero_like(CtFlowBuilder *l, CtSourceRange range, CtFlowArg x, bool raw);

static CtFlowArg project_element(CtFlowBuilder *l, CtSourceRange range, const CtFlowType *type,
                                 const CtFlowArgs *arrays, const CtFlowArg *indices, uint32_t count) {
    (void)type;
    CtFlowArg a = ct_flow_read(l, range, arrays->items[1], indices, count);
    if (!ct_flow_is_object(a.type)) return project(l, range, a, a, false);
    return project(l, range, ct_flow_read(l, range, arrays->items[0], indices, count), a, false);
}

static CtFlowArg project_raw_element(CtFlowBuilder *l, CtSourceRange range, const CtFlowType *type,
                                     const CtFlowArgs *arrays, const CtFlowArg *indices, uint32_t count) {
    (void)type;
    CtFlowArg x = ct_flow_read(l, range, arrays->items[0], indices, count);
    return project(l, range, x, ct_flow_read(l, range, arrays->items[1], indices, count), true);
}

static CtFlowArg zero_element(CtFlowBuilder *l, CtSourceRange range, const CtFlowType *type, const CtFlowArgs *arrays,
                              const CtFlowArg *indices, uint32_t count) {
    (void)type;
    return zero_like(l, range, ct_flow_read(l, range, arrays->items[0], indices, count), false);
}

static CtFlowArg zero_raw_element(CtFlowBuilder *l, CtSourceRange range, const CtFlowType *type,
                                  const CtFlowArgs *arrays, const CtFlowArg *indices, uint32_t count) {
    (void)type;
    return zero_like(l, range, ct_flow_read(l, range, arrays->items[0], indices, count), true);
}

/* The value in x's shape that a zero adjoint stands for: all reals are zero. */
static CtFlowArg zero_like(CtFlowBuilder *l, CtSourceRange range, CtFlowArg x, bool raw) {
    if (x.type->kind == FLOW_F64 || x.type->kind == FLOW_F32) return ct_flow_real(x.type, raw ? -0.0 : 0.0);
    const CtFlowType *adjoint = ct_flow_adjoint_type(l->flow, x.type);
    if (adjoint == NULL) return x;
    if (x.type->kind == FLOW_NODE) return project(l, range, x, ct_flow_zero(l, adjoint), raw);
    CT_FIRED("adjoint.zero_like");
    CtFlowArgs arrays = {0};
    ct_push(l->arena, &arrays, x);
    return each(l, range, x.type, &arrays, NULL, 0, raw ? zero_raw_element : zero_element);
}

static void project_array(CtFlowBuilder *l, const CtFlowArgs *params, bool raw) {
    CtFlowArg x = params->items[0], adjoint = params->items[1], all = adjoint;
    CtFlowChoosing choice = ct_flow_switch_begin(l, CT_NO_RANGE, ct_flow_is_empty(l, CT_NO_RANGE, adjoint));
    ct_flow_case_begin(l, &choice, 1);
    yield_one(l, &choice, zero_like(l, CT_NO_RANGE, x, raw));
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    if (!raw || ct_flow_is_object(adjoint.type->element))
        all = each(l, CT_NO_RANGE, x.type, params, NULL, 0, raw ? project_raw_element : project_element);
    yield_one(l, &choice, all);
    return_one(l, ct_flow_switch_end(l, &choice).items[0]);
}

/* A bag becomes an array, the empty one if it is Zero. */
static void project_bag(CtFlowBuilder *l, const CtFlowArgs *params, bool raw) {
    CtFlowArg x = params->items[0], dims[MOST_RANK];
    for (uint32_t i = 0; i < x.type->rank; i++) dims[i] = ct_flow_dim(l, CT_NO_RANGE, x, i);
    return_one(l, project(l, CT_NO_RANGE, x, ct_flow_bag_array(l, CT_NO_RANGE, params->items[1], dims), raw));
}

static void project_node(CtFlowBuilder *l, const CtFlowArgs *params, bool raw) {
    CtFlowArg x = params->items[0], adjoint = params->items[1];
    const CtFlowData *data = x.type->data;
    CtFlowChoosing choice = ct_flow_switch_begin(l, CT_NO_RANGE, x);
    for (uint32_t tag = 0; tag < data->count; tag++) {
        ct_flow_case_begin(l, &choice, tag);
        CtFlowArgs fields = ct_flow_node_open(l, CT_NO_RANGE, x, tag, "x"), adjoints = {0}, values = {0};
        if (adjoint.type->data->cons[tag + 1].fields.count > 0)
            adjoints = ct_flow_adjoint_fields(l, CT_NO_RANGE, adjoint, tag);
        uint32_t next = 0;
        for (uint32_t i = 0; i < fields.count; i++) {
            bool active = ct_flow_is_active(l->flow, fields.items[i].type);
            CtFlowArg value = fields.items[i];
            if (active) value = project(l, CT_NO_RANGE, value, adjoints.items[next++], raw);
            ct_push(l->arena, &values, value);
        }
        yield_one(l, &choice, ct_flow_node_make(l, CT_NO_RANGE, x.type, tag, &values));
    }
    return_one(l, ct_flow_switch_end(l, &choice).items[0]);
}

static void fill_project(CtFlowBuilder *l, const CtFlowArgs *params) {
    CtFlowArg x = params->items[0], adjoint = params->items[1];
    if (ct_flow_is_bag(l->flow, adjoint.type) && CT_FIRED("adjoint.project_bag"))
        project_bag(l, params, false);
    else if (x.type->kind == FLOW_NODE && CT_FIRED("adjoint.project_node"))
        project_node(l, params, false);
    else if (CT_FIRED("adjoint.project_array"))
        project_array(l, params, false);
}

static void fill_project_raw(CtFlowBuilder *l, const CtFlowArgs *params) {
    CT_FIRED("adjoint.project_raw");
    CtFlowArg x = params->items[0], adjoint = params->items[1];
    if (ct_flow_is_bag(l->flow, adjoint.type))
        project_bag(l, params, true);
    else
        (x.type->kind == FLOW_NODE ? project_node : project_array)(l, params, true);
}

static CtFlowArg project(CtFlowBuilder *l, CtSourceRange range, CtFlowArg x, CtFlowArg adjoint, bool raw) {
    if (!ct_flow_is_object(adjoint.type) && raw) return adjoint;
    if (!ct_flow_is_object(adjoint.type))
        return ct_flow_prim(l, range, PRIM_ADD, adjoint.type, adjoint, ct_flow_real(adjoint.type, 0.0));
    CtFlowTypes params = two_types(l, x.type, adjoint.type);
    CtFlowAdjoints *made = ct_flow_adjoints(l->flow);
    CtFlowFunction *function =
        raw ? ct_flow_helper(l->flow, &made->raw_projects, adjoint.type, "raw", &params, x.type, fill_project_raw)
            : ct_flow_helper(l->flow, &made->projects, adjoint.type, "project", &params, x.type, fill_project);
    return call_one(l, range, function, x, adjoint);
}

CtFlowArg ct_flow_project(CtFlowBuilder *l, CtSourceRange range, CtFlowArg x, CtFlowArg adjoint) {
    return project(l, range, x, adjoint, false);
}

CtFlowArg ct_flow_project_raw(CtFlowBuilder *l, CtSourceRange range, CtFlowArg x, CtFlowArg adjoint) {
    return project(l, range, x, adjoint, true);
}

/* ---- tests for zero ---- */

/* Ends the function, whose result is whether all of `parts` are structural zeros; the last part by a tail call where it
 * is of the function's own type, since chains of nodes may be long. */
static void leave_if_nothing(CtFlowBuilder *l, const CtFlowArgs *parts, uint32_t at) {
    if (at == parts->count) {
        return_one(l, ct_flow_int(l, 1));
        return;
    }
    CtFlowArg part = parts->items[at];
    if (at + 1 == parts->count && part.type == l->function->params.items[0]->type) {
        CtFlowArgs args = {0};
        ct_push(l->arena, &args, part);
        ct_flow_leave(l, EXIT_TAIL, CT_NO_RANGE, &args, l->function);
        return;
    }
    CtFlowBlock *block = l->block;
    CtFlowChoosing choice = ct_flow_switch_begin(l, CT_NO_RANGE, ct_flow_is_nothing(l, CT_NO_RANGE, part));
    ct_flow_case_begin(l, &choice, 1);
    leave_if_nothing(l, parts, at + 1);
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    return_one(l, ct_flow_int(l, 0));
    block->exit = EXIT_NEVER;
}

/* (node) → whether it is nothing; of a bag as well, whose indices are no reals. */
static void fill_nothing_node(CtFlowBuilder *l, const CtFlowArgs *params) {
    CT_FIRED("adjoint.nothing_node");
    const CtFlowData *data = params->items[0].type->data;
    CtFlowBlock *body = l->block;
    CtFlowChoosing choice = ct_flow_switch_begin(l, CT_NO_RANGE, params->items[0]);
    for (uint32_t tag = 0; tag < data->count; tag++) {
        ct_flow_case_begin(l, &choice, tag);
        CtFlowArgs fields = {0}, parts = {0};
        if (data->cons[tag].fields.count > 0) fields = ct_flow_node_open(l, CT_NO_RANGE, params->items[0], tag, "part");
        for (uint32_t i = 0; i < fields.count; i++)
            if (fields.items[i].type->kind != FLOW_I64) ct_push(l->arena, &parts, fields.items[i]);
        leave_if_nothing(l, &parts, 0);
    }
    body->exit = EXIT_NEVER;
}

static CtFlowArg nothing_from(CtFlowBuilder *l, CtSourceRange range, const CtFlowArgs *args);

/* (array, ⟨indices⟩) → whether it is nothing from the last of the indices on, within those before. It ends at the first
 * element that is something: most often this is the very first. */
static void fill_nothing_array(CtFlowBuilder *l, const CtFlowArgs *params) {
    CT_FIRED("adjoint.nothing_array");
    CtFlowArg array = params->items[0], at = params->items[params->count - 1];
    uint32_t count = params->count - 1;
    CtFlowBlock *body = l->block;
    CtFlowArg length = ct_flow_dim(l, CT_NO_RANGE, array, count - 1);
    CtFlowChoosing choice =
        ct_flow_switch_begin(l, CT_NO_RANGE, ct_flow_prim_int(l, CT_NO_RANGE, PRIM_INT_LT, at, length));
    ct_flow_case_begin(l, &choice, 0);
    return_one(l, ct_flow_int(l, 1));
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    CtFlowArgs args = *params;
    CtFlowArg one;
    if (count < array.type->rank) {
        args = (CtFlowArgs){0};
        ct_flow_args_add(l, &args, params);
        ct_push(l->arena, &args, ct_flow_int(l, 0));
        one = nothing_from(l, CT_NO_RANGE, &args);
    } else {
        one = ct_flow_is_nothing(l, CT_NO_RANGE, ct_flow_read(l, CT_NO_RANGE, array, params->items + 1, count));
    }
    CtFlowBlock *inner = l->block;
    CtFlowChoosing on_one = ct_flow_switch_begin(l, CT_NO_RANGE, one);
    ct_flow_case_begin(l, &on_one, 1);
    args = (CtFlowArgs){0};
    for (uint32_t i = 0; i < count; i++) ct_push(l->arena, &args, params->items[i]);
    ct_push(l->arena, &args, ct_flow_prim_int(l, CT_NO_RANGE, PRIM_INT_ADD, at, ct_flow_int(l, 1)));
    ct_flow_leave(l, EXIT_TAIL, CT_NO_RANGE, &args, l->function);
    ct_flow_case_begin(l, &on_one, FLOW_OTHERS);
    return_one(l, ct_flow_int(l, 0));
    inner->exit = EXIT_NEVER;
    body->exit = EXIT_NEVER;
}

static CtFlowArg nothing_from(CtFlowBuilder *l, CtSourceRange range, const CtFlowArgs *args) {
    CtFlowTypes types = {.items = CT_NEW_ARRAY(l->arena, const CtFlowType *, args->count), .count = args->count};
    for (uint32_t i = 0; i < args->count; i++) types.items[i] = args->items[i].type;
    const CtFlowType *key = types.items[0];
    CtMap *known = &ct_flow_adjoints(l->flow)->nothings[args->count - 1];
    CtFlowFunction *function = ct_flow_helper(l->flow, known, key, "nothing", &types, ct_flow_scalar(l->flow, FLOW_I64),
                                              key->kind == FLOW_NODE ? fill_nothing_node : fill_nothing_array);
    return ct_flow_call(l, range, function, args).items[0];
}

CtFlowArg ct_flow_is_nothing(CtFlowBuilder *l, CtSourceRange range, CtFlowArg adjoint) {
    if (!ct_flow_is_object(adjoint.type))
        return ct_flow_prim_int(l, range, PRIM_IS_NEGATIVE_ZERO, adjoint, ct_flow_none());
    CtFlowArgs args = {0};
    ct_push(l->arena, &args, adjoint);
    if (adjoint.type->kind == FLOW_ARRAY) ct_push(l->arena, &args, ct_flow_int(l, 0));
    return nothing_from(l, range, &args);
}
