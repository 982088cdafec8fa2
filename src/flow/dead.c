/* Steps that only make what nothing uses are dropped. */
#include "flow/internal.h"

typedef struct Dead {
    CtFlow *flow;
    uint32_t *uses; /* by the variables' numbers */
} Dead;

static void use_args(Dead *d, const CtFlowArgs *args, uint32_t by) {
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].var != NULL) d->uses[args->items[i].var->id] += by;
}

static void count(Dead *d, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        use_args(d, &step->args, 1);
        if (step->kind == FLOW_LOOP) count(d, step->as.loop.block);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            count(d, step->as.cases.branches[j].block);
    }
    use_args(d, &block->values, 1);
}

/* Whether a step only makes its results. */
static bool is_pure(const CtFlowStep *step) {
    switch (step->kind) {
    case FLOW_PRIM:
    case FLOW_BULK: return !ct_flow_step_fails(step);
    case FLOW_STOP:
    case FLOW_STRING:
    case FLOW_MAKE:
    case FLOW_OPEN:
    case FLOW_DIM:
    case FLOW_READ:
    case FLOW_ITEMS:
    case FLOW_LITERALS: return true;
    case FLOW_CALL:
    case FLOW_CONSTANT:
    case FLOW_SWITCH:
    case FLOW_LOOP:
    case FLOW_FAIL:
    case FLOW_CHECK:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SHAPE:
    case FLOW_UPDATE:
    case FLOW_SNOC:
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP:
    case FLOW_RETAIN:
    case FLOW_RELEASE: return false;
    }
    return false;
}

static bool is_used(const Dead *d, const CtFlowStep *step) {
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] != NULL && d->uses[step->results.items[i]->id] > 0) return true;
    return false;
}

/* What branches yield and nothing takes. */
static void drop_yields(Dead *d, CtFlowStep *step) {
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit != EXIT_YIELD) continue;
        CtFlowArgs kept = {0};
        for (uint32_t j = 0; j < block->values.count; j++) {
            CtFlowArg *value = &block->values.items[j];
            if (d->uses[step->results.items[j]->id] > 0)
                ct_push(d->flow->arena, &kept, *value);
            else if (value->var != NULL)
                d->uses[value->var->id]--;
        }
        block->values = kept;
    }
    uint32_t kept = 0;
    for (uint32_t j = 0; j < step->results.count; j++)
        if (d->uses[step->results.items[j]->id] > 0) step->results.items[kept++] = step->results.items[j];
    step->results.count = kept;
}

/* From the last step to the first, so that what only dead steps used is dead too. */
static void sweep(Dead *d, CtFlowBlock *block) {
    uint32_t kept = block->steps.count;
    for (uint32_t i = block->steps.count; i-- > 0;) {
        CtFlowStep *step = block->steps.items[i];
        if (is_pure(step) && !is_used(d, step)) {
            use_args(d, &step->args, UINT32_MAX); /* one less */
            continue;
        }
        for (uint32_t j = 0; step->kind == FLOW_OPEN && j < step->results.count; j++)
            if (step->results.items[j] != NULL && d->uses[step->results.items[j]->id] == 0)
                step->results.items[j] = NULL;
        if (step->kind == FLOW_SWITCH) drop_yields(d, step);
        if (step->kind == FLOW_LOOP) sweep(d, step->as.loop.block);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            sweep(d, step->as.cases.branches[j].block);
        block->steps.items[--kept] = step;
    }
    uint32_t dropped = kept;
    for (uint32_t i = dropped; i < block->steps.count; i++) block->steps.items[i - dropped] = block->steps.items[i];
    block->steps.count -= dropped;
}

void ct_flow_drop_dead(CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        Dead d = {flow, CT_NEW_ARRAY(flow->arena, uint32_t, function->vars + 1)};
        count(&d, function->body);
        sweep(&d, function->body);
    }
}
