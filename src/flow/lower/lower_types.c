/* Lowering of Core types to sequences of Flow types. */
#include "flow/lower/internal.h"

typedef struct Shape { /* the lowering of a Core type */
    CtFlowTypes types;
    bool has_types, is_array_known;
    CtFlowTypes arrays; /* types of the arrays that hold an array of it */
    const CtFlowType *node;
    enum { PARTS_UNKNOWN, PARTS_NONE, PARTS_SOME } parts;
} Shape;

static Shape *shape_of(CtFlow *flow, const CtType *type) {
    Shape *shape = ct_map_get(&flow->shapes, ct_key(type));
    if (shape != NULL) return shape;
    shape = CT_NEW(flow->arena, Shape);
    ct_map_set(flow->arena, &flow->shapes, ct_key(type), shape);
    return shape;
}

static void add(CtFlow *flow, CtFlowTypes *to, const CtFlowType *type) {
    const CtFlowType **items = CT_NEW_ARRAY(flow->arena, const CtFlowType *, to->count + 1);
    for (uint32_t i = 0; i < to->count; i++) items[i] = to->items[i];
    items[to->count++] = type;
    to->items = items;
}

static void fill(CtFlow *flow);

/* ---- which types are their parts ---- */

/* Whether a record type contains `target` in parts that would be variables: then a record would contain itself. */
static bool holds(const CtType *type, const CtType *target, CtMap *seen, CtArena *arena) {
    if (type->kind == TYPE_ARRAY) return type->parts[0] == target || holds(type->parts[0], target, seen, arena);
    CtType *const *parts = type->parts;
    uint32_t count = type->kind == TYPE_TUPLE ? type->count : 0;
    if (type->kind == TYPE_DATA && type->data->con_count == 1) {
        parts = type->data->cons[0].fields;
        count = type->data->cons[0].count;
    }
    if (count == 0 || ct_map_has(seen, ct_key(type))) return false;
    ct_map_set(arena, seen, ct_key(type), NULL);
    for (uint32_t i = 0; i < count; i++)
        if (parts[i] == target || holds(parts[i], target, seen, arena)) return true;
    return false;
}

static bool raw_parts(const CtType *type, CtType *const **parts, uint32_t *count) {
    bool record = type->kind == TYPE_DATA && type->data->con_count == 1 && !type->data->is_enum;
    if (!record && type->kind != TYPE_TUPLE) return false;
    *parts = record ? type->data->cons[0].fields : type->parts;
    *count = record ? type->data->cons[0].count : type->count;
    return *count > 0;
}

bool ct_flow_parts(CtFlow *flow, const CtType *type, CtType *const **parts, uint32_t *count) {
    if (!raw_parts(type, parts, count)) return false;
    Shape *shape = shape_of(flow, type);
    if (shape->parts == PARTS_UNKNOWN) {
        CtMap seen = {0};
        flow->shaping++;
        shape->parts = PARTS_NONE;
        uint32_t width = 0;
        if (*count <= CT_FLOW_WIDE && !(type->kind == TYPE_DATA && holds(type, type, &seen, flow->arena))) {
            for (uint32_t i = 0; i < *count && width <= CT_FLOW_WIDE; i++)
                width += ct_flow_types(flow, (*parts)[i])->count;
            if (width <= CT_FLOW_WIDE) shape->parts = PARTS_SOME;
        }
        flow->shaping--;
        fill(flow);
    }
    return shape->parts == PARTS_SOME;
}

uint32_t ct_flow_offset(CtFlow *flow, CtType *const *parts, uint32_t index) {
    uint32_t offset = 0;
    for (uint32_t i = 0; i < index; i++) offset += ct_flow_types(flow, parts[i])->count;
    return offset;
}

/* ---- nodes ---- */

static void add_con(CtFlow *flow, CtFlowData *data, const char *name, CtType *const *parts, uint32_t count) {
    CtFlowTypes fields = {0};
    for (uint32_t i = 0; i < count; i++) ct_flow_types_add(flow, &fields, ct_flow_types(flow, parts[i]));
    ct_flow_con_add(flow, data, name, &fields);
}

const CtFlowType *ct_flow_node(CtFlow *flow, const CtType *type) {
    Shape *shape = shape_of(flow, type);
    if (shape->node != NULL) return shape->node;
    CtText name = ct_text(flow->arena);
    ct_core_type_print(&name, type);
    shape->node = ct_flow_node_new(flow, name.data, type);
    fill(flow);
    return shape->node;
}

/* Constructors of data are lowered when no other type is being lowered, since they may be recursive. */
static void fill(CtFlow *flow) {
    while (flow->shaping == 0 && flow->filled < flow->data.count) {
        CtFlowData *data = flow->data.items[flow->filled++];
        const CtType *type = data->type;
        if (type == NULL) continue;
        flow->shaping++;
        if (type->kind == TYPE_TUPLE) add_con(flow, data, "tuple", type->parts, type->count);
        for (uint32_t i = 0; type->kind == TYPE_DATA && i < type->data->con_count; i++)
            add_con(flow, data, type->data->cons[i].name->text, type->data->cons[i].fields, type->data->cons[i].count);
        flow->shaping--;
    }
}

/* ---- sequences ---- */

static CtFlowTypes types_of(CtFlow *flow, const CtType *type) {
    CtFlowTypes types = {0};
    CtType *const *parts;
    uint32_t count;
    if (ct_flow_parts(flow, type, &parts, &count)) {
        for (uint32_t i = 0; i < count; i++) ct_flow_types_add(flow, &types, ct_flow_types(flow, parts[i]));
        return types;
    }
    switch (type->kind) {
    case TYPE_DOUBLE: add(flow, &types, ct_flow_scalar(flow, FLOW_F64)); break;
    case TYPE_FLOAT: add(flow, &types, ct_flow_scalar(flow, FLOW_F32)); break;
    case TYPE_INT:
    case TYPE_CHAR: add(flow, &types, ct_flow_scalar(flow, FLOW_I64)); break;
    case TYPE_ARRAY: return *ct_flow_array_types(flow, type->parts[0]);
    case TYPE_TUPLE:
        if (type->count == 0) {
            add(flow, &types, ct_flow_scalar(flow, FLOW_I64));
            break;
        }
        add(flow, &types, ct_flow_node(flow, type));
        break;
    case TYPE_DATA:
        add(flow, &types, type->data->is_enum ? ct_flow_scalar(flow, FLOW_I64) : ct_flow_node(flow, type));
        break;
    case TYPE_FUN: add(flow, &types, ct_flow_node(flow, type)); break;
    }
    return types;
}

const CtFlowTypes *ct_flow_types(CtFlow *flow, const CtType *type) {
    Shape *shape = shape_of(flow, type);
    if (!shape->has_types) {
        flow->shaping++;
        shape->types = types_of(flow, type);
        shape->has_types = true;
        flow->shaping--;
        fill(flow);
    }
    return &shape->types;
}

/* The arrays that hold one part of the elements. If the part is an array itself, elements may differ in length, and are
 * held by reference. */
static void add_arrays_of_part(CtFlow *flow, CtFlowTypes *to, const CtType *part) {
    if (part->kind != TYPE_ARRAY) {
        ct_flow_types_add(flow, to, ct_flow_array_types(flow, part));
        return;
    }
    const CtFlowTypes *inner = ct_flow_types(flow, part);
    for (uint32_t i = 0; i < inner->count; i++) add(flow, to, ct_flow_array(flow, 1, inner->items[i]));
}

static CtFlowTypes arrays_of(CtFlow *flow, const CtType *element) {
    CtFlowTypes types = {0};
    CtType *const *parts;
    uint32_t count;
    if (ct_flow_parts(flow, element, &parts, &count)) {
        for (uint32_t i = 0; i < count; i++) add_arrays_of_part(flow, &types, parts[i]);
        return types;
    }
    const CtFlowTypes *inner = ct_flow_types(flow, element);
    for (uint32_t i = 0; i < inner->count; i++) {
        const CtFlowType *part = inner->items[i];
        bool is_row = element->kind == TYPE_ARRAY;
        add(flow, &types, is_row ? ct_flow_array(flow, part->rank + 1, part->element) : ct_flow_array(flow, 1, part));
    }
    return types;
}

const CtFlowTypes *ct_flow_array_types(CtFlow *flow, const CtType *element) {
    Shape *shape = shape_of(flow, element);
    if (!shape->is_array_known) {
        flow->shaping++;
        shape->arrays = arrays_of(flow, element);
        shape->is_array_known = true;
        flow->shaping--;
        fill(flow);
    }
    return &shape->arrays;
}

bool ct_flow_is_plain(const CtType *type) { return !ct_core_type_has_fun((CtType *)type); }
