/* Rows that are copied. In native code a row that is read is a view of its array, and holds it. If the array is updated
 * in place while the row is still used, the whole array would be copied: so the row is.
 *
 *     r = read a, i;  b = update a, …;  … r …         →      r = a copy of row i of a; …
 *
 * Where somebody else holds the array too, as a retain in front of the update says, it is copied anyway. */
#include "flow/opt/passes.h"

typedef struct Rows {
    CtFlowFacts facts;
    CtFlowTaken taken;
} Rows;

static bool is_row(const CtFlowStep *step) {
    return step != NULL && step->kind == FLOW_READ && step->args.count - 1 < step->args.items[0].type->rank;
}

/* Whether the array of a row, or that of which it is a row in turn, has been taken. */
static bool is_taken(const Rows *r, const CtFlowStep *row) {
    const CtFlowStep *of = row;
    while (is_row(of) && (of == row || !of->as.copied)) {
        if (!ct_flow_is_left(&r->taken, row, &of->args.items[0])) return true;
        of = ct_flow_fact(&r->facts, &of->args.items[0])->maker;
    }
    return false;
}

/* A step takes its array before it uses the row. */
static void look_at_args(void *data, CtFlowStep *step, const CtFlowFunction *callee, const CtFlowArgs *args) {
    Rows *r = data;
    (void)callee;
    if (step != NULL && step->kind == FLOW_READ) step->as.copied = false;
    if (step != NULL && (step->kind == FLOW_RETAIN || step->kind == FLOW_RELEASE)) return;
    for (uint32_t i = 0; i < args->count; i++) {
        CtFlowStep *row = ct_flow_fact(&r->facts, &args->items[i])->maker;
        if (is_row(row) && !row->as.copied && is_taken(r, row)) row->as.copied = CT_FIRED("copied_rows.row");
    }
}

void ct_flow_copied_rows(CtFlow *flow) {
    Rows r = {.facts = {0}};
    const uint64_t *changed = ct_flow_changed_parameters(flow);
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        const CtFlowFunction *function = flow->functions.items[i];
        ct_flow_facts_begin(&r.facts, flow, function);
        ct_flow_taken_begin(&r.taken, &r.facts, changed);
        ct_flow_taken_walk(&r.taken, function->body, look_at_args, &r);
    }
}
