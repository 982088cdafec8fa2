/* Flat rows. An array inside of a tuple or record inside of an array may have any length, so an array of records is
 * stored as an array of references for each such field. Where a loop makes it and all its rows certainly have one
 * shape, and nothing but elements and the length of the array are used, it is a matrix instead. So differentiation adds
 * to rows of a matrix, not to bags, and lengths of rows are the same in all iterations of loops over it. */
#include "flow/opt/passes.h"

typedef struct Flat {
    CtFlow *flow;
    CtFlowMarks rows; /* arrays of rows that become matrices */
} Flat;

/* The type of a matrix of such rows; NULL for other types. */
static const CtFlowType *matrix_type(CtFlow *flow, const CtFlowType *type) {
    if (type->kind != FLOW_ARRAY || type->rank != 1 || type->element->kind != FLOW_ARRAY) return NULL;
    const CtFlowType *row = type->element;
    return ct_flow_is_object(row->element) ? NULL : ct_flow_array(flow, 1 + row->rank, row->element);
}

static void find(void *data, CtFlowStep *step) {
    Flat *f = data;
    if (step->kind != FLOW_LOOP) return;
    for (uint32_t i = step->as.loop.carried; i < step->results.count; i++) {
        const CtFlowVar *array = step->results.items[i];
        if (array != NULL && matrix_type(f->flow, array->type) != NULL && ct_flow_has_regular_rows(step, i))
            ct_flow_mark(&f->rows, array, true);
    }
}

/* Whether a step looks at nothing but an element, or the length, of an argument that is an array of rows. */
static bool is_allowed(const CtFlowStep *step, uint32_t index) {
    if (step->kind == FLOW_READ) return index == 0 && step->args.count == 2;
    if (step->kind == FLOW_DIM || step->kind == FLOW_CHECK) return step->as.index == 0;
    return step->kind == FLOW_CHECK_ZIP;
}

static void refuse_all(Flat *f, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].var != NULL) ct_flow_mark(&f->rows, args->items[i].var, false);
}

static void refuse(void *data, CtFlowStep *step) {
    Flat *f = data;
    for (uint32_t i = 0; i < step->args.count; i++)
        if (step->args.items[i].var != NULL && !is_allowed(step, i))
            ct_flow_mark(&f->rows, step->args.items[i].var, false);
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) refuse_all(f, &ct_flow_inner(step, i)->values);
}

static bool is_flat(const Flat *f, const CtFlowVar *var) {
    return var != NULL && var->id < f->rows.count && f->rows.items[var->id];
}

static void change(void *data, CtFlowStep *step) {
    const Flat *f = data;
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowVar *var = step->results.items[i];
        if (is_flat(f, var) && CT_FIRED("flat_rows.array")) var->type = matrix_type(f->flow, var->type);
    }
    for (uint32_t i = 0; i < step->args.count; i++)
        if (is_flat(f, step->args.items[i].var)) step->args.items[i].type = step->args.items[i].var->type;
}

void ct_flow_flat_rows(CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowBlock *body = flow->functions.items[i]->body;
        Flat f = {.flow = flow, .rows = {.arena = flow->arena}};
        ct_flow_each_step(body, find, &f);
        if (f.rows.count == 0) continue;
        ct_flow_each_step(body, refuse, &f);
        refuse_all(&f, &body->values);
        ct_flow_each_step(body, change, &f);
    }
}
