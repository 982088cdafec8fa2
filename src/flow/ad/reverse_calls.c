/* The reverse of a call: the callee's backward function takes its residual, the cotangents of the results and the
 * accumulators of the arguments, and returns the accumulators with its contributions added. */
#include "flow/ad/reverse.h"

/* Collects the cotangents of the results that can have one, for parameters of the reverse sweep; false if all are
 * zero. */
static bool take_results(Reverse *r, const CtFlowStep *step, uint32_t count, const CtFlowVars *params, CtFlowArgs *to) {
    bool any = false;
    for (uint32_t i = 0; i < count; i++) {
        CtFlowVar *result = step->results.items[i];
        const CtFlowType *adjoint = ct_flow_adjoint_type(r->flow, step->as.function->results.items[i]);
        if (adjoint == NULL) continue;
        CtFlowArg g = ct_flow_none();
        if (result != NULL) g = ct_flow_reverse_take_as(r, flow_of(result), params->items[1 + to->count]->type, NULL);
        any |= !ct_flow_is_none(g);
        ct_push(r->arena, to, g);
    }
    return any;
}

void ct_flow_reverse_call(Reverse *r, CtFlowStep *step) {
    if (ct_flow_reverse_slope(r, step) && CT_FIRED("reverse_calls.slope")) return;
    const Variant *callee = ct_map_get(&r->calls, ct_key(step));
    if (callee == NULL) return;
    uint32_t results = step->results.count - 1;
    CtFlowArgs args = {0}, cotangents = {0};
    if (!take_results(r, step, results, &callee->pair.backward->params, &cotangents)) return;
    ct_push(r->arena, &args, ct_flow_reverse_need(r, flow_of(step->results.items[results])));
    for (uint32_t i = 0; i < cotangents.count; i++) {
        const CtFlowType *type = callee->pair.backward->params.items[1 + i]->type;
        CtFlowArg g = cotangents.items[i];
        ct_push(r->arena, &args, ct_flow_is_none(g) ? ct_flow_zero(&r->b, type) : g);
    }
    bool *full = CT_NEW_ARRAY(r->arena, bool, step->args.count + 1);
    for (uint32_t i = 0; i < step->args.count; i++) {
        if (!callee->active[i]) continue;
        const CtFlowType *type = callee->pair.backward->params.items[args.count]->type;
        CtFlowArg acc = ct_flow_reverse_take_as(r, step->args.items[i], type, &full[i]);
        ct_push(r->arena, &args, ct_flow_is_none(acc) ? ct_flow_zero(&r->b, type) : acc);
    }
    CT_FIRED("reverse_calls.call");
    CtFlowArgs given = ct_flow_call(&r->b, step->range, callee->pair.backward, &args);
    uint32_t next = 0;
    for (uint32_t i = 0; i < step->args.count; i++)
        if (callee->active[i]) ct_flow_reverse_give(r, step->range, step->args.items[i], given.items[next++], full[i]);
}
