/* Rows that are copied. In native code a row that is read is a view of its array, and holds it. If the array is updated
 * in place while the row is still used, the whole array would be copied: so the row is.
 *
 *     r = read a, i;  b = update a, …;  … r …         →      r = a copy of row i of a; …
 *
 * Where somebody else holds the array too, as a retain in front of the update says, it is copied anyway. If only some
 * branches of a switch update the array, only they copy the row; its other uses are of what the switch gives:
 *
 *     r = read a, i                                            r = read a, i
 *     b = switch … { yield update a, …; yield a }      →       b, q = switch … { c = a copy of row i; yield …, c; yield
 * a, r } … r …                                                    … q … */
#include "flow/build.h"
#include "flow/copy.h"
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

/* ---- arrays that only some branches update ---- */

/* Whether a block gives an array to a step that may change it. */
static bool block_takes(const uint64_t *changed, const CtFlowBlock *block, const CtFlowVar *array);

static bool takes(const uint64_t *changed, const CtFlowStep *step, const CtFlowVar *array) {
    for (uint32_t i = 0; i < step->args.count; i++)
        if (step->args.items[i].var == array && ct_flow_may_change(changed, step, i)) return true;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++)
        if (block_takes(changed, ct_flow_inner(step, i), array)) return true;
    return false;
}

static bool block_takes(const uint64_t *changed, const CtFlowBlock *block, const CtFlowVar *array) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (takes(changed, block->steps.items[i], array)) return true;
    return false;
}

/* Whether a step may change an array of a type, which may be the one that the row is of, by another name. */
static bool changes_one(const uint64_t *changed, const CtFlowStep *step, const CtFlowType *type) {
    for (uint32_t i = 0; i < step->args.count; i++)
        if (step->args.items[i].type == type && ct_flow_may_change(changed, step, i)) return true;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) {
        const CtFlowBlock *block = ct_flow_inner(step, i);
        for (uint32_t j = 0; j < block->steps.count; j++)
            if (changes_one(changed, block->steps.items[j], type)) return true;
    }
    return false;
}

/* Whether a row is used behind a step of its block, and the array is not, nor changed before the row's last use. */
static bool outlives(const uint64_t *changed, const CtFlowBlock *block, uint32_t from, const CtFlowStep *row) {
    const CtFlowVar *array = row->args.items[0].var, *result = row->results.items[0];
    bool used = false, changes = false;
    for (uint32_t i = from + 1; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (ct_flow_uses_of(step, array) > 0) return false;
        changes = changes || changes_one(changed, step, array->type);
        if (ct_flow_uses_of(step, result) == 0) continue;
        if (changes) return false;
        used = true;
    }
    for (uint32_t i = 0; i < block->values.count; i++)
        if (block->values.items[i].var == array || block->values.items[i].var == result) return false;
    return used;
}

static bool some_take(const uint64_t *changed, const CtFlowStep *choice, const CtFlowVar *array) {
    uint32_t taking = 0, others = 0;
    for (uint32_t i = 0; i < choice->as.cases.count; i++) {
        const CtFlowBlock *branch = choice->as.cases.branches[i].block;
        if (branch->exit != EXIT_YIELD) continue;
        *(block_takes(changed, branch, array) ? &taking : &others) += 1;
    }
    return taking > 0 && others > 0;
}

/* Reads the row once more, at the beginning of a branch; gives its variable. */
static CtFlowVar *read_again(CtFlowBuilder *l, CtFlowBlock *branch, const CtFlowStep *row) {
    CtFlowBlock before = ct_flow_reopen(branch);
    l->block = branch;
    CtFlowStep *again = ct_flow_step(l, FLOW_READ, row->range);
    for (uint32_t i = 0; i < row->args.count; i++) ct_push(l->arena, &again->args, row->args.items[i]);
    CtFlowVar *result = ct_flow_var(l, row->results.items[0]->name, row->results.items[0]->type);
    ct_push(l->arena, &again->results, result);
    ct_flow_substitute(&before, row->results.items[0], flow_of(result));
    for (uint32_t i = 0; i < before.steps.count; i++) ct_push(l->arena, &branch->steps, before.steps.items[i]);
    before.steps = branch->steps;
    *branch = before;
    return result;
}

static void copy_in_branches(CtFlowBuilder *l, const uint64_t *changed, CtFlowBlock *block, uint32_t at,
                             const CtFlowStep *row) {
    CtFlowStep *choice = block->steps.items[at];
    CtFlowVar *result = row->results.items[0], *given = ct_flow_var(l, result->name, result->type);
    for (uint32_t i = 0; i < choice->as.cases.count; i++) {
        CtFlowBlock *branch = choice->as.cases.branches[i].block;
        if (branch->exit != EXIT_YIELD) continue;
        bool copies = block_takes(changed, branch, row->args.items[0].var);
        CtFlowVar *yields = copies ? read_again(l, branch, row) : result;
        ct_push(l->arena, &branch->values, flow_of(yields));
    }
    ct_push(l->arena, &choice->results, given);
    CtFlowBlock rest = {.steps = {.items = block->steps.items + at + 1, .count = block->steps.count - at - 1}};
    ct_flow_substitute(&rest, result, flow_of(given));
    CT_FIRED("copied_rows.branch");
}

static bool is_bound_in(const CtFlowBlock *block, uint32_t before, const CtFlowVar *var) {
    for (uint32_t i = 0; i < block->params.count; i++)
        if (block->params.items[i] == var) return true;
    for (uint32_t i = 0; i < before; i++)
        for (uint32_t j = 0; j < block->steps.items[i]->results.count; j++)
            if (block->steps.items[i]->results.items[j] == var) return true;
    return false;
}

static void look_at_block(CtFlowBuilder *l, const uint64_t *changed, CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *row = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(row); j++) look_at_block(l, changed, ct_flow_inner(row, j));
        if (!is_row(row) || row->args.items[0].var == NULL) continue;
        const CtFlowVar *array = row->args.items[0].var;
        if (block != l->function->body && !is_bound_in(block, i, array)) continue;
        uint32_t at = i + 1; /* the step that takes the array */
        while (at < block->steps.count && !takes(changed, block->steps.items[at], array)) at++;
        if (at == block->steps.count || block->steps.items[at]->kind != FLOW_SWITCH) continue;
        if (some_take(changed, block->steps.items[at], array) && outlives(changed, block, at, row))
            copy_in_branches(l, changed, block, at, row);
    }
}

void ct_flow_copied_rows_in_branches(CtFlow *flow) {
    const uint64_t *changed = ct_flow_changed_parameters(flow);
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowBuilder l = {.flow = flow, .arena = flow->arena, .function = flow->functions.items[i]};
        look_at_block(&l, changed, l.function->body);
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
