/* Comparison of values: results of one program after two passes, or of the interpreter and native code. */
#include "flow/check/interpret.h"

typedef struct Pair { /* two objects of one type at corresponding places */
    const CtFlowType *type;
    const CtFlowObject *a, *b;
    uint32_t result; /* index of the program's result that contains them */
} Pair;

typedef struct Compare {
    CtArena *arena;
    CtFlowCloseness closeness;
    CT_VEC(Pair) todo;
    char *place;
    size_t length;
    uint32_t result;
} Compare;

static bool reals_same(CtFlowCloseness c, long double a, long double b) {
    bool nan = isnan(a), other = isnan(b);
    if (nan || other) return c.nan_is_anything || (nan && other);
    if (c.relative == 0) return a == b && signbit(a) == signbit(b);
    if (a == b) return true;
    long double larger = fabsl(a) > fabsl(b) ? fabsl(a) : fabsl(b);
    return fabsl(a - b) <= (long double)c.relative * (larger > 1 ? larger : 1);
}

static bool differ(Compare *c, const CtFlowType *type, CtFlowCell a, CtFlowCell b, int64_t index) {
    char element[40] = "";
    if (index >= 0) snprintf(element, sizeof element, ", element %lld", (long long)index);
    if (type->kind == FLOW_I64)
        snprintf(c->place, c->length, "result %u%s: %lld before, %lld after", c->result, element, (long long)a.integer,
                 (long long)b.integer);
    else
        snprintf(c->place, c->length, "result %u%s: %.17Lg before, %.17Lg after", c->result, element, a.real, b.real);
    return false;
}

/* `index`: within an array; −1: not an element. */
static bool same_cells(Compare *c, const CtFlowType *type, CtFlowCell a, CtFlowCell b, int64_t index) {
    if (ct_flow_is_object(type)) {
        ct_push(c->arena, &c->todo, (Pair){type, a.object, b.object, c->result});
        return true;
    }
    bool same = type->kind == FLOW_I64 ? a.integer == b.integer : reals_same(c->closeness, a.real, b.real);
    return same || differ(c, type, a, b, index);
}

static bool same_arrays(Compare *c, const Pair *pair) {
    for (uint32_t k = 0; k < pair->type->rank; k++) {
        if (pair->a->dims[k] == pair->b->dims[k]) continue;
        snprintf(c->place, c->length, "result %u, the length of dimension %u: %lld before, %lld after", c->result, k,
                 (long long)pair->a->dims[k], (long long)pair->b->dims[k]);
        return false;
    }
    for (int64_t k = 0; k < pair->a->count; k++)
        if (!same_cells(c, pair->type->element, pair->a->cells[k], pair->b->cells[k], k)) return false;
    return true;
}

static bool same_nodes(Compare *c, const Pair *pair) {
    if (pair->a->tag != pair->b->tag) {
        const CtFlowCon *cons = pair->type->data->cons;
        snprintf(c->place, c->length, "result %u: %s before, %s after", c->result, cons[pair->a->tag].name,
                 cons[pair->b->tag].name);
        return false;
    }
    const CtFlowTypes *fields = pair->a->fields;
    for (uint32_t k = 0; k < fields->count; k++)
        if (!same_cells(c, fields->items[k], pair->a->cells[k], pair->b->cells[k], -1)) return false;
    return true;
}

bool ct_flow_interpret_same(CtArena *arena, const CtFlowType *const *types, uint32_t count, const CtFlowCell *a,
                            const CtFlowCell *b, CtFlowCloseness closeness, char *place, size_t length) {
    Compare c = {.arena = arena, .closeness = closeness, .place = place, .length = length};
    for (uint32_t k = 0; k < count; k++) {
        c.result = k;
        if (!same_cells(&c, types[k], a[k], b[k], -1)) return false;
    }
    while (c.todo.count > 0) {
        Pair pair = c.todo.items[--c.todo.count];
        c.result = pair.result;
        if (pair.a == NULL || pair.b == NULL) {
            if (pair.a == pair.b) continue;
            snprintf(place, length, "result %u: nothing was made", c.result);
            return false;
        }
        if (pair.type->kind == FLOW_ARRAY ? !same_arrays(&c, &pair) : !same_nodes(&c, &pair)) return false;
    }
    return true;
}
