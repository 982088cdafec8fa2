/* Finds loops with independent iterations: none writes an element that another one reads or writes. The arrays that a
 * loop makes are written once and are not visible yet; arrays that it updates in place are read and updated at the
 * loop's index only, or all at one distance from it, in whichever rows. The C compiler is told so by a pragma.
 * Otherwise it would test for aliasing at run time, or not vectorise loops over many arrays. */
#include "flow/analysis/analysis.h"
#include "emit/internal.h"

typedef struct Apart {
    const Emit *e;
    const CtFlowBlock *block;
    CT_VEC(const CtFlowStep *) updates;
    CT_VEC(const CtFlowStep *) accesses; /* reads of elements, and the updates */
    CT_VEC(const CtFlowStep *) switches; /* those of which it is not known which branch is taken */
    CtFlowVars names, others;            /* results of the other switches, and what each is another name for */
} Apart;

/* Whether an access moves along the last dimension with the loop: its last index is the loop's, or beside it. */
static bool moves_on(const Apart *a, const CtFlowBlock *block, const CtFlowStep *step, uint32_t indices) {
    const CtFlowVar *index = a->block->params.items[0];
    const CtFlowArg *last = &step->args.items[indices];
    CtFlowShift shift;
    if (indices != step->args.items[0].type->rank) return false;
    if (!ct_flow_shifted_index(a->block, block, last, &shift) &&
        !ct_flow_shifted_index(a->block, a->block, last, &shift))
        return false;
    for (uint32_t i = 1; i < indices; i++)
        if (step->args.items[i].var == index) return false;
    return true;
}

/* The first variable, inside the loop, of an array that is updated in it. */
static const CtFlowVar *root(const Apart *a, const CtFlowVar *var) {
    const CtFlowVar *before = NULL;
    while (var != before) {
        before = var;
        for (uint32_t i = a->updates.count; i-- > 0;)
            if (a->updates.items[i]->results.items[0] == var) var = a->updates.items[i]->args.items[0].var;
        for (uint32_t i = a->names.count; i-- > 0;)
            if (a->names.items[i] == var && a->others.items[i] != NULL) var = a->others.items[i];
    }
    return var;
}

/* Whether two accesses to an array have the same last index. Those of different iterations, of which this index
 * differs, are then of different elements, whichever rows these are in. */
static bool in_one_column(const CtFlowStep *a, const CtFlowStep *b) {
    uint32_t last = a->args.items[0].type->rank;
    return ct_flow_same(&a->args.items[last], &b->args.items[last]);
}

/* Whether each updated array is read and updated at one last index only. */
static bool at_one_place(const Apart *a, const CtFlowStep *step) {
    for (uint32_t i = 0; i < a->updates.count; i++) {
        const CtFlowStep *update = a->updates.items[i];
        if (root(a, step->args.items[0].var) == root(a, update->args.items[0].var) && !in_one_column(step, update))
            return false;
    }
    return true;
}

/* Whether a switch chooses between numbers, by arithmetic and reads that cannot fail, of arrays that are not updated.
 */
static bool is_choice(const Apart *a, const CtFlowStep *step) {
    if (step->kind != FLOW_SWITCH) return false;
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] != NULL && ct_flow_is_object(step->results.items[i]->type)) return false;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *branch = step->as.cases.branches[i].block;
        if (!ct_flow_is_straight(branch)) return false;
        for (uint32_t j = 0; j < branch->steps.count; j++) {
            const CtFlowStep *read = branch->steps.items[j];
            for (uint32_t k = 0; read->kind == FLOW_READ && k < a->updates.count; k++)
                if (root(a, read->args.items[0].var) == root(a, a->updates.items[k]->args.items[0].var)) return false;
        }
    }
    return true;
}

static bool reads_at_one_place(const Apart *a, const CtFlowBlock *branch) {
    for (uint32_t i = 0; i < branch->steps.count; i++) {
        const CtFlowStep *step = branch->steps.items[i];
        if (step->kind == FLOW_READ && !at_one_place(a, step)) return false;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (!reads_at_one_place(a, ct_flow_inner(step, j))) return false;
    }
    return true;
}

/* Whether a switch is by the loop's index, and reads of updated arrays are at the place of the update. */
static bool is_parted(const Apart *a, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->as.cases.count; i++)
        if (!reads_at_one_place(a, step->as.cases.branches[i].block)) return false;
    return ct_flow_is_parted(a->block, step);
}

/* Finds what a block accesses. Of a switch whose branch is known in this copy of the loop (pieces.c), only that branch
 * is looked at. */
static bool find_accesses(Apart *a, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool reads = step->kind == FLOW_READ && !ct_flow_is_object(step->results.items[0]->type);
        bool updates = step->kind == FLOW_UPDATE && moves_on(a, block, step, step->args.count - 2);
        bool fits = step->kind == FLOW_DIM || (step->kind == FLOW_PRIM && !ct_flow_step_fails(step));
        if (updates) ct_push(a->e->arena, &a->updates, step);
        if (reads || updates) ct_push(a->e->arena, &a->accesses, step);
        uint32_t which;
        if (step->kind == FLOW_SWITCH && a->e->tests.count > 0 && ct_emit_part_choice(a->e, step, &which)) {
            const CtFlowBlock *taken = step->as.cases.branches[which].block;
            if (!find_accesses(a, taken)) return false;
            for (uint32_t j = 0; j < step->results.count; j++) {
                ct_push(a->e->arena, &a->names, step->results.items[j]);
                ct_push(a->e->arena, &a->others, taken->values.items[j].var);
            }
            continue;
        }
        if (step->kind == FLOW_SWITCH) ct_push(a->e->arena, &a->switches, step);
        if (!fits && !reads && !updates && step->kind != FLOW_SWITCH) return false;
    }
    return true;
}

bool ct_emit_keeps_apart(const Emit *e, const CtFlowStep *loop) {
    Apart a = {.e = e, .block = loop->as.loop.block};
    if (a.block->exit != EXIT_YIELD || !find_accesses(&a, a.block)) return false;
    for (uint32_t i = 0; i < a.accesses.count; i++)
        if (!at_one_place(&a, a.accesses.items[i])) return false;
    for (uint32_t i = 0; i < a.switches.count; i++)
        if (!is_choice(&a, a.switches.items[i]) && !is_parted(&a, a.switches.items[i])) return false;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) { /* another array in the next iteration */
        const CtFlowVar *param = a.block->params.items[1 + i], *next = a.block->values.items[i].var;
        if (ct_flow_is_object(param->type) && (next == NULL || root(&a, next) != param)) return false;
    }
    if (a.updates.count > 0) CT_FIRED("independent.changes_in_place");
    return CT_FIRED("independent.loop");
}
