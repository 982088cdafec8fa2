/* Whether two steps are equal up to renaming of the variables bound inside them. */
#include "flow/analysis/analysis.h"

typedef struct Pairs {
    CtArena *arena;
    CtMap other; /* number of a variable bound in the second step -> CtFlowVar *, that of the first */
} Pairs;

static bool same_args(const Pairs *p, const CtFlowArgs *a, const CtFlowArgs *b) {
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++) {
        CtFlowArg other = b->items[i];
        CtFlowVar *pair = other.var != NULL ? ct_map_get(&p->other, other.var->id) : NULL;
        if (pair != NULL) other = flow_of(pair);
        if (!ct_flow_same(&a->items[i], &other)) return false;
    }
    return true;
}

static bool pair_vars(Pairs *p, const CtFlowVars *a, const CtFlowVars *b) {
    if (a->count != b->count) return false;
    for (uint32_t i = 0; i < a->count; i++) {
        CtFlowVar *mine = a->items[i];
        const CtFlowVar *other = b->items[i];
        if ((mine == NULL) != (other == NULL) || (mine != NULL && mine->type != other->type)) return false;
        if (mine != NULL && mine != other) ct_map_set(p->arena, &p->other, other->id, mine);
    }
    return true;
}

uint64_t ct_flow_operation(const CtFlowStep *step) {
    switch (step->kind) {
    case FLOW_PRIM: return (uint64_t)step->as.prim;
    case FLOW_CALL: return ct_key(step->as.function);
    case FLOW_CONSTANT: return ct_key(step->as.constant);
    case FLOW_MAKE:
    case FLOW_OPEN: return (uint64_t)step->as.con.data->id << 32 | step->as.con.tag;
    case FLOW_CHECK:
    case FLOW_DIM: return step->as.index;
    case FLOW_BULK: return (uint64_t)step->as.bulk;
    case FLOW_PRODUCT: {
        const CtFlowFactors *product = &step->as.product;
        return (uint64_t)product->cotangent << 2 | (uint64_t)product->transposed[0] << 1 | product->transposed[1];
    }
    case FLOW_LOOP:
        return (uint64_t)step->as.loop.carried << 2 | (uint64_t)step->as.loop.initial << 1 | step->as.loop.associative;
    case FLOW_SWITCH: return step->as.cases.count;
    case FLOW_FAIL: /* the message does not matter: behind the first failure there is no second */
    case FLOW_CHECK_SHAPE:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SLICE:
    case FLOW_READ:
    case FLOW_UPDATE:
    case FLOW_SNOC:
    case FLOW_ITEMS:
    case FLOW_LITERALS:
    case FLOW_STOP: return 0;
    case FLOW_STRING:
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP:
    case FLOW_RETAIN:
    case FLOW_LINK:
    case FLOW_RELEASE: break;
    }
    return ct_key(step);
}

static bool same_steps(Pairs *p, const CtFlowStep *a, const CtFlowStep *b);

static bool same_blocks(Pairs *p, const CtFlowBlock *a, const CtFlowBlock *b) {
    if (a->steps.count != b->steps.count || a->exit != b->exit || a->tail != b->tail) return false;
    if (!pair_vars(p, &a->params, &b->params)) return false;
    for (uint32_t i = 0; i < a->steps.count; i++)
        if (!same_steps(p, a->steps.items[i], b->steps.items[i])) return false;
    return same_args(p, &a->values, &b->values);
}

static bool same_steps(Pairs *p, const CtFlowStep *a, const CtFlowStep *b) {
    if (a->kind != b->kind || ct_flow_operation(a) != ct_flow_operation(b) || !same_args(p, &a->args, &b->args))
        return false;
    if (a->kind == FLOW_LOOP && !same_blocks(p, a->as.loop.block, b->as.loop.block)) return false;
    for (uint32_t i = 0; a->kind == FLOW_SWITCH && i < a->as.cases.count; i++) {
        const CtFlowBranch *mine = &a->as.cases.branches[i], *other = &b->as.cases.branches[i];
        if (mine->tag != other->tag || !same_blocks(p, mine->block, other->block)) return false;
    }
    return pair_vars(p, &a->results, &b->results);
}

bool ct_flow_same_steps(CtArena *arena, const CtFlowStep *a, const CtFlowStep *b) {
    Pairs p = {.arena = arena};
    return same_steps(&p, a, b);
}
