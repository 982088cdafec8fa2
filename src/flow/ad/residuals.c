/* Residuals: how values of the forward sweep reach the reverse sweep.
 *
 * The reverse sweep requests them one by one. When a scope of it is complete, each requested value is either recomputed
 * at the start of the scope, or stored: as a field of the function's residual, an additional result of the branch, or
 * an array of its values over all iterations. Values that recomputed steps use are requested in turn. In loops, steps
 * are recomputed unless they call functions: running the body again costs as much as the first time, and nothing is
 * stored. In branches, only cheap steps are. A read from an array that may be updated in place is not recomputed,
 * because keeping the array would force the update to copy it. */
#include "flow/ad/reverse.h"
#include "flow/analysis/analysis.h"

enum { MOST_NESTED = 2 };

static Scope *scope_of(const Reverse *r, const CtFlowVar *var) {
    return ct_map_get(&r->scopes, ct_key(ct_map_get(&r->owner, var->id)));
}

CtFlowArg ct_flow_reverse_need(Reverse *r, CtFlowArg value) {
    if (value.var != NULL) value = ct_flow_reverse_simplest(r, value);
    if (value.var == NULL) return value;
    Scope *scope = scope_of(r, value.var);
    if (scope == NULL) { /* cannot happen: a bug of this folder */
        r->flow->refused = "a value of the forward sweep is out of sight";
        return flow_of(ct_flow_var(&r->b, value.var->name, value.type));
    }
    CtFlowVar *known = ct_map_get(&scope->known, value.var->id);
    if (known == NULL) {
        known = ct_flow_var(&r->b, value.var->name, value.type);
        ct_map_set(r->arena, &scope->known, value.var->id, known);
        ct_push(r->arena, &scope->wanted, value.var);
    }
    return flow_of(known);
}

/* ---- what may be repeated ---- */

/* Whether the arrays that the step reads still have their contents in the reverse sweep. */
static bool keeps_arrays(const Reverse *r, const CtFlowStep *step) {
    const CtFlowStepInfo *info = ct_flow_step_info(step->kind);
    if (info->looks == LOOKS_NOTHING) return true;
    for (uint32_t i = 0; i < step->args.count; i++)
        if (step->args.items[i].var != NULL && ct_map_has(&r->consumed, step->args.items[i].var->id) &&
            CT_FIRED("residuals.consumed"))
            return false;
    return true;
}

static bool may_repeat(const Reverse *r, const CtFlowStep *step, uint32_t nested);

static bool may_repeat_block(const Reverse *r, const CtFlowBlock *block, uint32_t nested) {
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (!may_repeat(r, block->steps.items[i], nested)) return false;
    return block->exit == EXIT_YIELD || block->exit == EXIT_NEVER;
}

/* Whether a step in a loop may be recomputed. */
static bool may_repeat(const Reverse *r, const CtFlowStep *step, uint32_t nested) {
    CtFlowRepeats repeats = ct_flow_step_info(step->kind)->repeats;
    if (ct_flow_is_message(step)) return false;
    if (repeats != REPEATS_BLOCKS) return repeats != REPEATS_NEVER && keeps_arrays(r, step);
    bool loops = step->kind == FLOW_LOOP;
    if (loops && nested >= MOST_NESTED && CT_FIRED("residuals.nested_too_deep")) return false;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++)
        if (!may_repeat_block(r, ct_flow_inner(step, i), nested + loops)) return false;
    return true;
}

static bool is_in_loop(const Scope *scope) {
    for (; scope != NULL; scope = scope->parent)
        if (scope->kind == SCOPE_LOOP) return true;
    return false;
}

/* Whether a block contains a loop, or steps that are more than arithmetic. */
static bool takes_long(const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step->kind == FLOW_LOOP || (step->kind == FLOW_PRIM && !ct_prim_is_light(step->as.prim))) return true;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (takes_long(ct_flow_inner(step, j))) return true;
    }
    return false;
}

static const Scope *loop_around(const Scope *scope) {
    while (scope != NULL && scope->kind != SCOPE_LOOP) scope = scope->parent;
    return scope;
}

static bool carries_arrays(const Scope *scope) {
    for (uint32_t i = 0; scope != NULL && i < scope->step->as.loop.carried; i++)
        if (scope->step->args.items[1 + i].type->kind == FLOW_ARRAY) return true;
    return false;
}

/* In a loop that carries arrays, iterations are sequential and make arrays anyway. There it pays to store the results
 * of expensive inner loops, and values of expensive primitives in the loop itself. */
static bool is_worth_keeping(const Scope *scope, const CtFlowStep *step) {
    const Scope *loop = loop_around(scope);
    if (step->kind == FLOW_LOOP)
        return carries_arrays(loop) && takes_long(step->as.loop.block) && CT_FIRED("residuals.kept_loop");
    if (step->kind != FLOW_PRIM || ct_prim_is_light(step->as.prim) || scope != loop) return false;
    return (carries_arrays(loop) || carries_arrays(loop_around(loop->parent))) && CT_FIRED("residuals.kept_value");
}

/* For the length of an array of this scope, the number is stored, not the array. */
static bool is_own_length(const Reverse *r, const Scope *scope, const CtFlowStep *step) {
    return step->kind == FLOW_DIM && scope_of(r, step->args.items[0].var) == scope && CT_FIRED("residuals.own_length");
}

CtFlowVar *ct_flow_reverse_yielded(const Reverse *r, const CtFlowStep *loop, const CtFlowVar *var) {
    if (ct_flow_is_object(var->type)) return NULL;
    for (uint32_t i = loop->as.loop.carried; i < loop->results.count; i++) {
        CtFlowVar *result = loop->results.items[i];
        if (loop->as.loop.block->values.items[i].var == var && !ct_map_has(&r->consumed, result->id)) return result;
    }
    return NULL;
}

static bool repeats(const Reverse *r, const Scope *scope, const CtFlowStep *step);

/* Whether what an inner loop, or a sum, gives is an element of an array that the loop around makes, and that is stored:
 * so it is read there. */
static bool is_read(const Reverse *r, const Scope *scope, const CtFlowStep *step) {
    if ((step->kind != FLOW_LOOP && step->kind != FLOW_BULK) || scope->kind != SCOPE_LOOP) return false;
    if (repeats(r, scope->parent, scope->step)) return false;
    for (uint32_t i = 0; i < step->results.count; i++)
        if (step->results.items[i] != NULL && ct_flow_reverse_yielded(r, scope->step, step->results.items[i]) == NULL)
            return false;
    return CT_FIRED("residuals.read_result");
}

static bool repeats(const Reverse *r, const Scope *scope, const CtFlowStep *step) {
    if (step == NULL || ct_flow_is_message(step) || is_own_length(r, scope, step) || is_read(r, scope, step))
        return false;
    CtFlowRepeats how = ct_flow_step_info(step->kind)->repeats;
    if (scope->kind == SCOPE_PATH) return how == REPEATS_CONSTANT;
    if (is_in_loop(scope)) return may_repeat(r, step, 0) && !is_worth_keeping(scope, step);
    bool light = step->kind != FLOW_PRIM || ct_prim_is_light(step->as.prim);
    return how == REPEATS_CONSTANT || (how == REPEATS_CHEAP && light && keeps_arrays(r, step));
}

bool ct_flow_reverse_would_store(const Reverse *r, const CtFlowVar *var) {
    const Scope *scope = scope_of(r, var);
    if (scope == NULL || ct_map_has(&scope->known, var->id)) return false;
    const CtFlowStep *step = ct_map_get(&r->defs, var->id);
    if (!repeats(r, scope, step)) return true;
    return step->kind == FLOW_OPEN && ct_flow_reverse_would_store(r, step->args.items[0].var);
}

/* ---- deciding ---- */

static void need_args(Reverse *r, const CtFlowArgs *args, const CtMap *inside) {
    for (uint32_t i = 0; i < args->count; i++)
        if (args->items[i].var != NULL && !ct_map_has(inside, args->items[i].var->id))
            ct_flow_reverse_need(r, args->items[i]);
}

static void need_step(Reverse *r, const CtFlowStep *step, CtMap *inside);

static void need_block(Reverse *r, const CtFlowBlock *block, CtMap *inside) {
    for (uint32_t i = 0; i < block->params.count; i++) ct_map_set(r->arena, inside, block->params.items[i]->id, NULL);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (ct_flow_is_check(step)) continue;
        need_step(r, step, inside);
        for (uint32_t j = 0; j < step->results.count; j++)
            if (step->results.items[j] != NULL) ct_map_set(r->arena, inside, step->results.items[j]->id, NULL);
    }
    need_args(r, &block->values, inside);
}

static void need_step(Reverse *r, const CtFlowStep *step, CtMap *inside) {
    need_args(r, &step->args, inside);
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++) need_block(r, ct_flow_inner(step, i), inside);
}

void ct_flow_reverse_settle(Reverse *r, Scope *scope) {
    for (uint32_t i = 0; i < scope->wanted.count; i++) {
        CtFlowVar *var = scope->wanted.items[i];
        CtFlowStep *step = ct_map_get(&r->defs, var->id);
        if (!repeats(r, scope, step)) {
            CT_FIRED("residuals.stored");
            ct_push(r->arena, &scope->stored, var);
        } else if (!ct_map_has(&scope->repeated, ct_key(step))) {
            CtMap inside = {0};
            CT_FIRED("residuals.repeated");
            ct_map_set(r->arena, &scope->repeated, ct_key(step), step);
            need_step(r, step, &inside);
        }
    }
}

/* ---- repeating ---- */

static CtFlowArg need_outer(void *data, CtFlowVar *var) { return ct_flow_reverse_need(data, flow_of(var)); }

/* A result that is stored, as the number of a branch is, is bound where it is read. */
static void repeat_step(Reverse *r, Scope *scope, const CtFlowStep *step) {
    CtFlowCopy copy = {.flow = r->flow, .into = r->b.function, .outer = need_outer, .data = r, .drops_checks = true};
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowVar *result = step->results.items[i], *known = NULL;
        if (result != NULL && ct_map_get(&r->defs, result->id) == step) known = ct_map_get(&scope->known, result->id);
        if (known != NULL) ct_flow_copy_stands(&copy, result, flow_of(known));
    }
    ct_push(r->arena, &r->b.block->steps, ct_flow_copy_step(&copy, step));
}

/* Recomputed steps go behind what is in r->b.block so far, and before the scope's own steps. */
void ct_flow_reverse_repeat(Reverse *r, Scope *scope) {
    for (uint32_t i = 0; i < scope->forward.count; i++) {
        const CtFlowBlock *block = scope->forward.items[i];
        for (uint32_t j = 0; j < block->steps.count; j++)
            if (ct_map_has(&scope->repeated, ct_key(block->steps.items[j])))
                repeat_step(r, scope, block->steps.items[j]);
    }
    for (uint32_t i = 0; i < scope->backward->steps.count; i++)
        ct_push(r->arena, &r->b.block->steps, scope->backward->steps.items[i]);
    scope->backward->steps = r->b.block->steps;
}
