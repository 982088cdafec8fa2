/* Making Flow's types. */
#include "flow/build.h"

static const CtFlowType *intern(CtFlow *flow, CtFlowType type) {
    for (uint32_t i = 0; i < flow->types.count; i++) {
        CtFlowType *known = flow->types.items[i];
        if (known->kind == type.kind && known->rank == type.rank && known->element == type.element &&
            known->data == type.data)
            return known;
    }
    CtFlowType *fresh = CT_NEW(flow->arena, CtFlowType);
    *fresh = type;
    ct_push(flow->arena, &flow->types, fresh);
    return fresh;
}

const CtFlowType *ct_flow_scalar(CtFlow *flow, CtFlowKind kind) { return intern(flow, (CtFlowType){.kind = kind}); }

const CtFlowType *ct_flow_array(CtFlow *flow, uint32_t rank, const CtFlowType *element) {
    return intern(flow, (CtFlowType){.kind = FLOW_ARRAY, .rank = rank, .element = element});
}

void ct_flow_types_add(CtFlow *flow, CtFlowTypes *to, const CtFlowTypes *more) {
    const CtFlowType **items = CT_NEW_ARRAY(flow->arena, const CtFlowType *, to->count + more->count + 1);
    for (uint32_t i = 0; i < to->count; i++) items[i] = to->items[i];
    for (uint32_t i = 0; i < more->count; i++) items[to->count + i] = more->items[i];
    to->items = items;
    to->count += more->count;
}

uint32_t ct_flow_con_add(CtFlow *flow, CtFlowData *data, const char *name, const CtFlowTypes *fields) {
    if (data->count == data->capacity) {
        CtFlowCon *more = CT_NEW_ARRAY(flow->arena, CtFlowCon, 2 * data->capacity + 4);
        if (data->count > 0) memcpy(more, data->cons, data->count * sizeof *more);
        data->cons = more;
        data->capacity = 2 * data->capacity + 4;
    }
    CtFlowCon *con = &data->cons[data->count];
    *con = (CtFlowCon){.name = name, .fields = *fields, .slots = CT_NEW_ARRAY(flow->arena, uint32_t, fields->count)};
    uint32_t next = 0;
    for (uint32_t i = 0; i < fields->count; i++)
        if (fields->items[i]->data == data) con->slots[i] = next++;
    for (uint32_t i = 0; i < fields->count; i++)
        if (ct_flow_is_object(fields->items[i]) && fields->items[i]->data != data) con->slots[i] = next++;
    con->pointers = next;
    for (uint32_t i = 0; i < fields->count; i++)
        if (!ct_flow_is_object(fields->items[i])) con->slots[i] = next++;
    return data->count++;
}

const CtFlowType *ct_flow_node_new(CtFlow *flow, const char *name, const CtType *type) {
    CtFlowData *data = CT_NEW(flow->arena, CtFlowData);
    data->name = name;
    data->type = (CtType *)type;
    data->id = flow->data.count;
    ct_push(flow->arena, &flow->data, data);
    return intern(flow, (CtFlowType){.kind = FLOW_NODE, .data = data});
}
