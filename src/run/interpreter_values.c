/* Values for the interpreter of Flow and from it, by way of the words of a native run. */
#include "run/interpreter_values.h"

#include "run/internal.h"

static bool import(ct_run *rt, CtInterpreter *i, CtFlow *flow, const CtType *type, const CtType *as, CtWord value,
                   CtFlowCell *cells) {
    ct_word words[CT_FLOW_WIDE];
    const CtFlowTypes *types = ct_flow_types(flow, as);
    if (setjmp(rt->out) != 0) return false;
    ct_run_to_native(rt, flow, type, as, value, words);
    return ct_flow_interpret_import(i, types->items, types->count, words, cells);
}

bool ct_run_import(CtInterpreter *i, CtFlow *flow, const CtType *type, const CtType *as, CtWord value,
                   CtFlowCell *cells) {
    ct_run *rt = calloc(1, sizeof *rt);
    if (rt == NULL) return false;
    ct_begin(rt);
    bool done = import(rt, i, flow, type, as, value, cells);
    ct_free_all(rt);
    free(rt);
    return done;
}

/* ---- and back ---- */

typedef struct Waiting { /* an object that is still to be copied to a word */
    const CtFlowType *type;
    const CtFlowObject *from;
    ct_word *to;
} Waiting;

typedef struct Export {
    ct_run *rt;
    Waiting *waiting;
    size_t count, capacity;
    bool full;
} Export;

static void put(Export *e, const CtFlowType *type, CtFlowCell cell, ct_word *to) {
    if (type->kind == FLOW_I64) {
        to->i = cell.integer;
    } else if (!ct_flow_is_object(type)) {
        to->f = (double)cell.real;
    } else {
        to->p = NULL;
        if (e->count == e->capacity) {
            size_t capacity = 2 * e->capacity + 64;
            Waiting *more = realloc(e->waiting, capacity * sizeof *more);
            e->full |= more == NULL;
            if (more == NULL) return;
            e->waiting = more;
            e->capacity = capacity;
        }
        e->waiting[e->count++] = (Waiting){type, cell.object, to};
    }
}

static ct_object *copy_array(Export *e, Waiting one) {
    ct_array *array = ct_array_make(e->rt, one.from->rank, one.from->holds_objects, one.from->count);
    for (uint32_t k = 0; k < one.from->rank; k++) array->dims[k] = one.from->dims[k];
    for (int64_t k = 0; k < one.from->count; k++) put(e, one.type->element, one.from->cells[k], &array->data[k]);
    return &array->head;
}

static ct_object *copy_node(Export *e, Waiting one) {
    const CtFlowCon *con = &one.type->data->cons[one.from->tag];
    if (con->fields.count == 0) return &ct_bare(e->rt, one.from->tag)->head;
    ct_node *node = ct_node_new(e->rt, one.from->tag, con->fields.count, con->pointers);
    for (uint32_t k = 0; k < con->fields.count; k++)
        put(e, con->fields.items[k], one.from->cells[k], &node->at[con->slots[k]]);
    return &node->head;
}

bool ct_run_export(ct_run *rt, const CtFlowTypes *types, const CtFlowCell *cells, ct_word *words) {
    Export e = {.rt = rt};
    for (uint32_t k = 0; k < types->count; k++) put(&e, types->items[k], cells[k], &words[k]);
    while (e.count > 0 && !e.full) {
        Waiting one = e.waiting[--e.count];
        if (one.from != NULL) one.to->p = one.type->kind == FLOW_ARRAY ? copy_array(&e, one) : copy_node(&e, one);
    }
    free(e.waiting);
    return !e.full;
}
