/* Finds elementwise loops over rows: element j of the results depends on elements j of the operands. They are
 * vectorised along the row, where elements are contiguous; lanes over rows would need transposition. The C compiler
 * vectorises them unless they contain sums or non-temporal stores; a loop along a row that does is vectorised by Cotan
 * itself. */
#include "flow/analysis/analysis.h"
#include "emit/vector/internal.h"

typedef struct Nest {
    const Emit *e;
    bool has_loop, has_sums;
    bool only_sums;    /* one of its loops does nothing but add up */
    bool changes_rows; /* another changes the elements of a row of the outer loop's */
} Nest;

/* Whether the loop's index is the last index of an access, or does not occur in it. */
static bool is_beside(const CtFlowStep *step, uint32_t indices, const CtFlowVar *index) {
    for (uint32_t i = 1; i < indices; i++)
        if (step->args.items[i].var == index) return false;
    return step->args.items[0].type->rank == indices;
}

/* Whether a switch chooses between Ints, such as indices of rows, by light primitives. */
static bool chooses_ints(const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] != NULL && step->results.items[i]->type->kind != FLOW_I64) return false;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *branch = step->as.cases.branches[i].block;
        if (branch->exit != EXIT_YIELD) return false;
        for (uint32_t j = 0; j < branch->steps.count; j++) {
            const CtFlowStep *inner = branch->steps.items[j];
            bool light = inner->kind == FLOW_PRIM && ct_prim_is_light(inner->as.prim) && !ct_flow_step_fails(inner);
            if (!light && !(inner->kind == FLOW_SWITCH && chooses_ints(inner))) return false;
        }
    }
    return true;
}

static bool fits(Nest *nest, const CtFlowStep *loop, bool inside);

static bool is_plain(Nest *nest, const CtFlowBlock *block, bool inside) {
    const CtFlowVar *index = block->params.items[0];
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        uint32_t count = step->args.count;
        bool plain = step->kind == FLOW_DIM || step->kind == FLOW_RELEASE;
        if (step->kind == FLOW_PRIM) plain = ct_prim_is_light(step->as.prim);
        if (step->kind == FLOW_READ) plain = is_beside(step, count - 1, index);
        if (step->kind == FLOW_UPDATE) {
            plain = is_beside(step, count - 2, index);
            nest->changes_rows |= count > 3 && step->args.items[count - 2].var == index;
        }
        if (step->kind == FLOW_LOOP) plain = fits(nest, step, true) || ct_flow_is_pieced(step);
        if (step->kind == FLOW_SWITCH) plain = !inside && chooses_ints(step);
        nest->has_loop |= step->kind == FLOW_LOOP;
        if (!plain) return false;
    }
    return true;
}

typedef struct Chain { /* the steps from a carried number to what it is in the next iteration */
    const Emit *e;
    const CtFlowBlock *block;
    const CtFlowVar *param;
    bool sums_only;
    CtMap seen; /* variables that do not depend on `param` in this way */
} Chain;

static bool continues(const Chain *chain, CtPrim prim) {
    return prim == PRIM_ADD || (!chain->sums_only && (prim == PRIM_INT_ADD || prim == PRIM_MAX || prim == PRIM_MIN));
}

/* Whether a value is reached from the carried number by such steps alone. A value is looked at once, however many
 * others use it. */
static bool is_reached(Chain *chain, const CtFlowArg *value) {
    if (value->var == chain->param) return true;
    const CtFlowStep *step = ct_flow_binder(chain->block, value->var);
    if (step == NULL || step->kind != FLOW_PRIM || step->args.count != 2 || !continues(chain, step->as.prim))
        return false;
    if (ct_map_has(&chain->seen, value->var->id)) return false;
    if (is_reached(chain, &step->args.items[0]) || is_reached(chain, &step->args.items[1])) return true;
    ct_map_set(chain->e->arena, &chain->seen, value->var->id, value->var);
    return false;
}

/* Whether a carried number is reduced, by additions, or by the larger or the smaller: not a recurrence, of which each
 * iteration waits for the one before, so that the loop cannot be vectorised along the row. */
static bool is_reduced(const Emit *e, const CtFlowBlock *block, uint32_t carried, bool sums_only) {
    Chain chain = {.e = e, .block = block, .param = block->params.items[1 + carried], .sums_only = sums_only};
    return is_reached(&chain, &block->values.items[carried]);
}

static bool fits(Nest *nest, const CtFlowStep *loop, bool inside) {
    uint32_t sums = 0;
    const CtFlowBlock *block = loop->as.loop.block;
    if (block->exit != EXIT_YIELD) return false;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        if (loop->results.items[i]->type->kind == FLOW_ARRAY) continue;
        if (!is_reduced(nest->e, block, i, false)) return false;
        sums++;
    }
    nest->has_sums |= sums > 0;
    nest->only_sums |= sums == loop->results.count;
    return !loop->as.loop.initial && is_plain(nest, block, inside);
}

/* A loop that only adds up is better vectorised over the rows, because then no sum has to be reduced across lanes; but
 * not where the rows would have to be changed element by element for that. */
bool ct_emit_vector_is_elementwise(const Emit *e, const CtFlowStep *loop) {
    Nest nest = {.e = e};
    if (!fits(&nest, loop, false) || (nest.only_sums && !nest.changes_rows)) return false;
    if (nest.only_sums) CT_FIRED("elementwise.sums_and_rows");
    return nest.has_loop ? !nest.has_sums || !e->exact : !nest.has_sums && !ct_emit_streams(e, loop);
}

/* Whether a loop only sums what it computes of elements that follow one another. */
static bool sums(const Emit *e, const CtFlowStep *loop) {
    const CtFlowBlock *block = loop->as.loop.block;
    if (loop->as.loop.initial || block->exit != EXIT_YIELD || loop->results.count != loop->as.loop.carried)
        return false;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        if (block->params.items[1 + i]->type->kind != FLOW_F64 || !is_reduced(e, block, i, true)) return false;
    }
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool plain =
            step->kind == FLOW_PRIM && ct_emit_vector_value(step->as.prim) != NULL && !ct_flow_step_fails(step);
        if (step->kind == FLOW_READ) plain = is_beside(step, step->args.count - 1, block->params.items[0]);
        if (!plain && step->kind != FLOW_DIM) return false;
    }
    return true;
}

bool ct_emit_vector_sums_rows(const Emit *e, const CtFlowStep *loop) {
    const CtFlowBlock *block = loop->as.loop.block;
    bool any = false;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_READ || step->kind == FLOW_DIM) continue;
        if (step->kind == FLOW_PRIM && ct_prim_is_light(step->as.prim)) continue;
        if (step->kind != FLOW_LOOP || !sums(e, step)) return false;
        any = true;
    }
    return any;
}
