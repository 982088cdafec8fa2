/* The reverse of a checkpointed function: its residual holds its arguments, and its reverse sweep runs it again
 * (Griewank, Walther 2008, ch. 12).
 *
 *   forward  (⟨x⟩)             = ⟨y⟩ = f ⟨x⟩ in ⟨y⟩, residual ⟨x⟩
 *   backward (residual ⟨x⟩, …) = ⟨y⟩, inner = forward of f ⟨x⟩ in backward of f (inner, …)
 *
 * backward is not inlined: next to what the forward sweep computes, the same steps would be computed once, and stored.
 */
#include "flow/ad/reverse.h"

static void write_forward(CtFlow *flow, const Variant *v) {
    CtFlowFunction *forward = v->pair.forward, *f = v->function;
    CtFlowBuilder l = {.flow = flow, .arena = flow->arena, .function = forward};
    CtFlowArgs params = {0}, values = {0};
    CtFlowTypes types = {0};
    l.block = forward->body = ct_flow_block(&l);
    for (uint32_t i = 0; i < f->params.count; i++) {
        CtFlowVar *param = ct_flow_var(&l, f->params.items[i]->name, f->params.items[i]->type);
        CtFlowTypes one = {.items = &param->type, .count = 1};
        ct_push(l.arena, &forward->params, param);
        ct_push(l.arena, &params, flow_of(param));
        ct_flow_types_add(flow, &types, &one);
    }
    CtFlowArgs ys = ct_flow_call(&l, f->range, f, &params);
    const CtFlowType *residual = forward->results.items[f->results.count];
    ct_flow_con_add(flow, residual->data, "again", &types);
    ct_flow_args_add(&l, &values, &ys);
    ct_push(l.arena, &values, ct_flow_node_make(&l, f->range, residual, 0, &params));
    ct_flow_leave(&l, EXIT_RETURN, f->range, &values, NULL);
}

static void write_backward(CtFlow *flow, const Variant *v, const Variant *stored) {
    CtFlowFunction *backward = v->pair.backward, *f = v->function;
    CtFlowBuilder l = {.flow = flow, .arena = flow->arena, .function = backward, .block = backward->body};
    CtFlowArgs args = {0}, values = {0};
    CtFlowArgs params = ct_flow_node_open(&l, f->range, flow_of(backward->params.items[0]), 0, "x");
    CtFlowArgs run = ct_flow_call(&l, f->range, stored->pair.forward, &params);
    ct_push(l.arena, &args, run.items[run.count - 1]);
    uint32_t next = 1;
    for (uint32_t i = 0; i < f->results.count; i++)
        if (ct_flow_is_active(flow, f->results.items[i]))
            ct_push(l.arena, &args, flow_of(backward->params.items[next++]));
    for (uint32_t i = 0; i < f->params.count; i++) {
        if (!stored->active[i]) continue;
        if (v->active[i] != stored->active[i])
            flow->refused = "a checkpointed function takes an array that becomes another name inside";
        const CtFlowType *adjoint = ct_flow_reverse_handed_type(flow, f->params.items[i]->type, stored->active[i]);
        ct_push(l.arena, &args, v->active[i] ? flow_of(backward->params.items[next++]) : ct_flow_zero(&l, adjoint));
    }
    CtFlowArgs given = ct_flow_call(&l, f->range, stored->pair.backward, &args);
    for (uint32_t i = 0, at = 0; i < f->params.count; i++) {
        if (!stored->active[i]) continue;
        if (v->active[i]) ct_push(l.arena, &values, given.items[at]);
        at++;
    }
    ct_flow_leave(&l, EXIT_RETURN, f->range, &values, NULL);
    backward->stays = true;
}

void ct_flow_reverse_checkpoint(CtFlow *flow, Variant *v) {
    CT_FIRED("reverse_checkpoint.again");
    write_forward(flow, v);
    write_backward(flow, v, ct_flow_reverse_stored(flow, v->function, v->active));
}
