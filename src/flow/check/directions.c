/* Directions for the dot-product test of derivatives, and inner products. */
#include "flow/check/interpret.h"

/* ---- directions ---- */

/* A pseudo-random number in [-1, 1] with 52 bits; not 0, which derivatives treat specially. */
static long double next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    long double x = (long double)((int64_t)(*state >> 11) - ((int64_t)1 << 52)) / 0x1p52L;
    return x == 0 ? 0.5L : x;
}

typedef struct Copying { /* an object whose direction is being made */
    const CtFlowObject *from;
    const CtFlowType *type;
    CtFlowObject *to;
} Copying;

typedef struct Making {
    CtInterpreter *i;
    uint64_t *state;
    Copying *todo;
    size_t count, capacity;
} Making;

static bool later(Making *m, Copying one) {
    if (m->count == m->capacity) {
        Copying *more = realloc(m->todo, (2 * m->capacity + 64) * sizeof *more);
        if (more == NULL) return false;
        m->todo = more;
        m->capacity = 2 * m->capacity + 64;
    }
    m->todo[m->count++] = one;
    return true;
}

static CtFlowObject *object_like(Making *m, const CtFlowType *type, const CtFlowObject *like) {
    if (type->kind == FLOW_ARRAY) return ct_flow_interpret_array(m->i, type, like->dims);
    return ct_flow_interpret_node(m->i, like->fields, like->tag, like->cells);
}

/* The direction of an object; its cells are filled in later. */
static bool direction_of(Making *m, const CtFlowType *type, CtFlowCell like, CtFlowCell *out) {
    *out = like;
    if (type->kind == FLOW_F64 || type->kind == FLOW_F32) out->real = next(m->state);
    if (!ct_flow_is_object(type) || like.object == NULL) return true;
    out->object = object_like(m, type, like.object);
    return later(m, (Copying){like.object, type, out->object});
}

static const CtFlowType *cell_type(const CtFlowType *type, const CtFlowObject *object, int64_t index) {
    return type->kind == FLOW_ARRAY ? type->element : object->fields->items[index];
}

static bool make_cells(Making *m, Copying one) {
    one.to->count = 0; /* the initial cells of a node are replaced */
    for (int64_t k = 0; k < one.from->count; k++) {
        CtFlowCell cell;
        if (!direction_of(m, cell_type(one.type, one.from, k), one.from->cells[k], &cell)) return false;
        ct_flow_interpret_put(m->i, one.to, cell);
    }
    return true;
}

static bool make_all(Making *m, const CtFlowType *const *types, uint32_t count, const CtFlowCell *like,
                     CtFlowCell *out) {
    for (uint32_t k = 0; k < count; k++) {
        if (!direction_of(m, types[k], like[k], &out[k])) return false;
        if (ct_flow_is_object(types[k])) ct_flow_interpret_hold(out[k].object);
    }
    while (m->count > 0)
        if (!make_cells(m, m->todo[--m->count])) return false;
    return true;
}

bool ct_flow_interpret_direction(CtInterpreter *i, const CtFlowType *const *types, uint32_t count,
                                 const CtFlowCell *like, uint64_t *state, CtFlowCell *out) {
    Making m = {.i = i, .state = state};
    bool done = setjmp(i->failing.out) == 0 && make_all(&m, types, count, like, out);
    free(m.todo);
    return done;
}

/* ---- inner products ---- */

typedef struct Both {
    const CtFlowType *type;
    const CtFlowObject *a, *b;
} Both;

typedef struct Inner {
    long double sum, size;
    Both *todo;
    size_t count, capacity;
} Inner;

static bool add(Inner *n, const CtFlowType *type, CtFlowCell a, CtFlowCell b) {
    if (type->kind == FLOW_I64) return true;
    if (!ct_flow_is_object(type)) {
        n->sum += a.real * b.real;
        n->size += fabsl(a.real * b.real);
        return true;
    }
    if (a.object == NULL || b.object == NULL) return false;
    if (n->count == n->capacity) {
        Both *more = realloc(n->todo, (2 * n->capacity + 64) * sizeof *more);
        if (more == NULL) return false;
        n->todo = more;
        n->capacity = 2 * n->capacity + 64;
    }
    n->todo[n->count++] = (Both){type, a.object, b.object};
    return true;
}

static bool alike(const Both *both) {
    if (both->a->count != both->b->count || both->a->tag != both->b->tag) return false;
    for (uint32_t k = 0; both->type->kind == FLOW_ARRAY && k < both->type->rank; k++)
        if (both->a->dims[k] != both->b->dims[k]) return false;
    return true;
}

static bool add_objects(Inner *n, Both both) {
    if (!alike(&both)) return false;
    for (int64_t k = 0; k < both.a->count; k++)
        if (!add(n, cell_type(both.type, both.a, k), both.a->cells[k], both.b->cells[k])) return false;
    return true;
}

bool ct_flow_interpret_inner(const CtFlowType *const *types, uint32_t count, const CtFlowCell *a, const CtFlowCell *b,
                             long double *sum, long double *size) {
    Inner n = {.sum = 0};
    bool done = true;
    for (uint32_t k = 0; k < count && done; k++) done = add(&n, types[k], a[k], b[k]);
    while (n.count > 0 && done) done = add_objects(&n, n.todo[--n.count]);
    free(n.todo);
    *sum = n.sum;
    *size = n.size;
    return done;
}
