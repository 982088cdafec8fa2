/* Carried arrays that a loop only updates in place, also in inner loops: acc[i] += d. If such an array is unshared
 * before the loop, it is unshared in every iteration. So the loop tests and copies once, and then writes through a
 * pointer. */
#include "emit/internal.h"

static bool is_of_words(const CtFlowType *type) {
    return type->kind == FLOW_ARRAY && !ct_flow_is_object(type->element);
}

static bool uses_in(const CtFlowBlock *block, const CtFlowVar *var);

static bool uses(const CtFlowStep *step, const CtFlowVar *var) {
    for (uint32_t i = 0; i < step->args.count; i++)
        if (step->args.items[i].var == var) return true;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++)
        if (uses_in(ct_flow_inner(step, i), var)) return true;
    return false;
}

static bool uses_in(const CtFlowBlock *block, const CtFlowVar *var) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (uses(block->steps.items[i], var)) return true;
    for (uint32_t i = 0; i < block->values.count; i++)
        if (block->values.items[i].var == var) return true;
    return false;
}

typedef struct Chain { /* the variables that hold one array in turn */
    Emit *e;
    CtFlowVars vars;
} Chain;

static CtFlowVar *follow(Chain *c, const CtFlowBlock *block, CtFlowVar *var);

/* The result of a switch that is the array, each branch of which updates it or passes it on. */
static CtFlowVar *follow_switch(Chain *c, const CtFlowStep *step, CtFlowVar *var) {
    CtFlowVar *result = NULL;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        const CtFlowBlock *block = step->as.cases.branches[i].block;
        if (block->exit != EXIT_YIELD) return NULL;
        const CtFlowVar *last = follow(c, block, var);
        CtFlowVar *here = NULL;
        for (uint32_t j = 0; last != NULL && j < block->values.count; j++)
            if (block->values.items[j].var == last) {
                if (here != NULL) return NULL;
                here = step->results.items[j];
            }
        if (here == NULL || (i > 0 && here != result)) return NULL;
        result = here;
    }
    return CT_FIRED("owned_arrays.through_switch"), result;
}

static CtFlowVar *follow_loop(Chain *c, const CtFlowStep *step, const CtFlowVar *var) {
    CtFlowVar *result = NULL;
    const CtFlowBlock *block = step->as.loop.block;
    if (uses_in(block, var) || block->exit != EXIT_YIELD || step->as.loop.initial) return NULL;
    for (uint32_t i = 0; i < step->as.loop.carried; i++) {
        if (step->args.items[1 + i].var != var) continue;
        CtFlowVar *param = block->params.items[1 + i];
        const CtFlowVar *last = result == NULL ? follow(c, block, param) : NULL;
        if (block->values.items[i].var != last) return NULL;
        result = step->results.items[i];
        CT_FIRED("owned_arrays.through_loop");
    }
    return result;
}

/* The last variable of an array in a block that only reads and updates its elements; NULL if the block does anything
 * else with it. */
static CtFlowVar *follow(Chain *c, const CtFlowBlock *block, CtFlowVar *var) {
    ct_push(c->e->arena, &c->vars, var);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (!uses(step, var)) continue;
        uint32_t rank = var->type->rank;
        CtFlowVar *next = NULL;
        if (step->kind == FLOW_DIM || step->kind == FLOW_CHECK || step->kind == FLOW_CHECK_ZIP) continue;
        if (step->kind == FLOW_READ && step->args.count == rank + 1) continue;
        if (step->kind == FLOW_UPDATE && step->args.items[0].var == var && step->args.count == rank + 2)
            next = step->results.items[0];
        if (step->kind == FLOW_LOOP) next = follow_loop(c, step, var);
        if (step->kind == FLOW_SWITCH) next = follow_switch(c, step, var);
        if (next == NULL) return NULL;
        var = next;
        ct_push(c->e->arena, &c->vars, var);
    }
    return var;
}

/* Whether the block yields the array exactly once, as the same carried variable. */
static bool is_yielded_once(const CtFlowBlock *block, const CtFlowVar *last, uint32_t index) {
    for (uint32_t i = 0; i < block->values.count; i++)
        if ((block->values.items[i].var == last) != (i == index)) return false;
    return true;
}

bool ct_emit_own_chain(Emit *e, const CtFlowStep *loop, uint32_t index, CtFlowVars *chain) {
    const CtFlowBlock *block = loop->as.loop.block;
    CtFlowVar *param = block->params.items[1 + index];
    if (!is_of_words(param->type) || block->exit != EXIT_YIELD) return false;
    Chain c = {.e = e};
    const CtFlowVar *last = follow(&c, block, param);
    *chain = c.vars;
    return last != NULL && last != param && is_yielded_once(block, last, index);
}

void ct_emit_own_carried(Emit *e, const CtFlowStep *loop, const char *const *names) {
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        const CtFlowVar *param = loop->as.loop.block->params.items[1 + i], *start = loop->args.items[1 + i].var;
        const char *data = start != NULL ? e->uses[start->id].own : NULL;
        const CtFlowVar *owned = data != NULL ? start : param;
        CtFlowVars chain;
        if (!ct_emit_own_chain(e, loop, i, &chain)) continue;
        if (data == NULL) {
            data = ct_format(e->arena, "%s_own", names[i]);
            const char *type = ct_emit_pointer_type(param->type);
            ct_emit_line(e, "%s = ct_own(rt, %s, 0);", names[i], names[i]);
            ct_emit_line(e, "%s *restrict %s = (%s *)%s->data;", type, data, type, names[i]);
            ct_emit_lengths(e, param, names[i], data);
        }
        const char *lengths = e->uses[owned->id].lengths;
        CT_FIRED("owned_arrays.carried");
        for (uint32_t j = 0; j < chain.count; j++) {
            e->uses[chain.items[j]->id].own = data;
            e->uses[chain.items[j]->id].lengths = lengths;
        }
    }
}

bool ct_emit_update_own(Emit *e, const CtFlowStep *step, const char *index) {
    const CtFlowArg *array = &step->args.items[0];
    const Use *use = &e->uses[array->var->id];
    const CtFlowVar *result = step->results.items[0];
    if (use->own == NULL || e->uses[result->id].own == NULL) return false;
    const CtFlowArg *value = &step->args.items[step->args.count - 1];
    CT_FIRED("owned_arrays.update");
    ct_emit_line(e, "%s[%s] = %s;", use->own, ct_emit_index(e, index, ct_emit_arg(e, array)), ct_emit_arg(e, value));
    ct_emit_alias(e, result, ct_emit_arg(e, array));
    return true;
}
