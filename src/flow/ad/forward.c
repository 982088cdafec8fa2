/* Forward mode on Flow: a function becomes one that computes the tangents of its results as well, in one sweep.
 *
 * Each variable that can vary gets a tangent variable of its adjoint type: reals for reals, arrays for arrays, nodes
 * for nodes. Each step is followed by the steps for its tangents. Carried variables, yielded values, parameters and
 * results are extended by their tangents, which come last. Variables without tangents were found by tangents.c:
 * constants, captured variables, and everything that depends on these alone. Checks run once, on the primals, so a
 * function and its tangent fail alike.
 *
 * Products are `scale` as in primitives.def, so that the structural zero −0.0 propagates through every partial
 * derivative. */
#include "flow/ad/forward.h"

/* ---- variables ---- */

CtFlowArg ct_flow_forward_primal(const Forward *w, CtFlowArg arg) {
    return arg.var == NULL ? arg : w->primals[arg.var->id];
}

CtTangent ct_flow_forward_known(const Forward *w, CtFlowArg arg) { return ct_flow_tangents_of(w->variant, &arg); }

static const CtFlowType *adjoint(const Forward *w, const CtFlowType *type) {
    return ct_flow_tangent_type(w->build.flow, type);
}

CtFlowArg ct_flow_forward_tangent(Forward *w, CtFlowArg arg) {
    if (ct_flow_tangent_is_kept(ct_flow_forward_known(w, arg))) return w->duals[arg.var->id];
    return ct_flow_zero(&w->build, adjoint(w, arg.type));
}

void ct_flow_forward_dims(Forward *w, CtSourceRange range, CtFlowArg array, CtFlowArg *dims) {
    for (uint32_t i = 0; i < array.type->rank; i++) dims[i] = ct_flow_dim(&w->build, range, array, i);
}

CtFlowArg ct_flow_forward_full(Forward *w, CtSourceRange range, CtFlowArg arg, const CtFlowArg *dims) {
    CtTangent known = ct_flow_forward_known(w, arg);
    if (known == TANGENT_LAZY) return ct_flow_filled(&w->build, range, ct_flow_forward_tangent(w, arg), dims);
    if (ct_flow_tangent_is_kept(known)) return ct_flow_forward_tangent(w, arg);
    return ct_flow_zeros(&w->build, range, adjoint(w, arg.type), dims);
}

void ct_flow_forward_bind(Forward *w, const CtFlowVar *var, CtFlowArg tangent) { w->duals[var->id] = tangent; }

static CtFlowVar *new_primal(Forward *w, const CtFlowVar *var) {
    CtFlowVar *fresh = ct_flow_var(&w->build, var->name, var->type);
    w->primals[var->id] = flow_of(fresh);
    return fresh;
}

static CtFlowVar *new_dual(Forward *w, const CtFlowVar *var) {
    const char *name = ct_format(w->build.arena, "d%s", var->name == NULL ? "t" : var->name);
    CtFlowVar *fresh = ct_flow_var(&w->build, name, adjoint(w, var->type));
    w->duals[var->id] = flow_of(fresh);
    return fresh;
}

static CtTangent known_var(const Forward *w, const CtFlowVar *var) {
    return var == NULL ? TANGENT_ZERO : w->variant->vars[var->id];
}

static bool has_dual(const Forward *w, const CtFlowVar *var) { return ct_flow_tangent_is_kept(known_var(w, var)); }

/* Binds new variables for those of `from`, then tangent variables for those that have tangents. */
static void bind_primals(Forward *w, CtFlowVars *to, const CtFlowVars *from, uint32_t start, uint32_t end) {
    for (uint32_t i = start; i < end; i++)
        ct_push(w->build.arena, to, from->items[i] == NULL ? NULL : new_primal(w, from->items[i]));
}

static void bind_duals(Forward *w, CtFlowVars *to, const CtFlowVars *from, uint32_t start, uint32_t end) {
    for (uint32_t i = start; i < end; i++)
        if (has_dual(w, from->items[i])) ct_push(w->build.arena, to, new_dual(w, from->items[i]));
}

static void bind_all(Forward *w, CtFlowVars *to, const CtFlowVars *from) {
    bind_primals(w, to, from, 0, from->count);
    bind_duals(w, to, from, 0, from->count);
}

static void add_primals(Forward *w, CtFlowArgs *to, const CtFlowArgs *from, uint32_t start, uint32_t end) {
    for (uint32_t i = start; i < end; i++) ct_push(w->build.arena, to, ct_flow_forward_primal(w, from->items[i]));
}

/* Appends the tangents that `wanted` asks for. */
static void add_duals(Forward *w, CtFlowArgs *to, const CtFlowArgs *from, const CtTangent *wanted) {
    for (uint32_t i = 0; i < from->count; i++)
        if (ct_flow_tangent_is_kept(wanted[i])) ct_push(w->build.arena, to, ct_flow_forward_tangent(w, from->items[i]));
}

CtFlowStep *ct_flow_forward_copy(Forward *w, const CtFlowStep *step) {
    CtFlowStep *made = ct_flow_step(&w->build, step->kind, step->range);
    made->as = step->as;
    add_primals(w, &made->args, &step->args, 0, step->args.count);
    bind_primals(w, &made->results, &step->results, 0, step->results.count);
    return made;
}

/* ---- variants ---- */

static void add_type(Forward *w, CtFlowTypes *to, const CtFlowType *type) {
    CtFlowTypes one = {.items = &type, .count = 1};
    ct_flow_types_add(w->build.flow, to, &one);
}

CtFlowFunction *ct_flow_forward_function(Forward *w, CtVariant *v) {
    if (v->made != NULL) return v->made;
    CtFlow *flow = w->build.flow;
    v->made = ct_flow_function(flow, ct_format(flow->arena, "%s.forward", v->origin->name), v->origin->range);
    const CtFlowTypes *results = &v->origin->results;
    for (uint32_t i = 0; i < results->count; i++) add_type(w, &v->made->results, results->items[i]);
    for (uint32_t i = 0; i < results->count; i++)
        if (ct_flow_tangent_is_kept(v->results[i])) add_type(w, &v->made->results, adjoint(w, results->items[i]));
    ct_push(w->build.arena, &w->pending, v);
    return v->made;
}

/* The variant to be called, and the arguments for it. */
static CtVariant *called(Forward *w, CtFlowFunction *f, const CtFlowArgs *args, CtFlowArgs *all) {
    CtTangent *known = CT_NEW_ARRAY(w->build.arena, CtTangent, args->count + 1);
    for (uint32_t i = 0; i < args->count; i++) known[i] = ct_flow_forward_known(w, args->items[i]);
    CtVariant *v = ct_flow_tangents_variant(w->tangents, f, known);
    add_primals(w, all, args, 0, args->count);
    add_duals(w, all, args, v->params);
    return v;
}

/* ---- calls and nodes ---- */

static void write_call(Forward *w, const CtFlowStep *step) {
    CtFlowArgs args = {0};
    CtVariant *v = called(w, step->as.function, &step->args, &args);
    bool any = false;
    for (uint32_t i = 0; i < step->results.count; i++) any |= ct_flow_tangent_is_kept(v->results[i]);
    if (!any && CT_FIRED("forward.plain_call")) { /* as that of the message of a failure */
        ct_flow_forward_copy(w, step);
        return;
    }
    CtFlowStep *made = ct_flow_step(&w->build, FLOW_CALL, step->range);
    made->as.function = ct_flow_forward_function(w, v);
    made->args = args;
    bind_primals(w, &made->results, &step->results, 0, step->results.count);
    for (uint32_t i = 0; i < step->results.count; i++)
        if (ct_flow_tangent_is_kept(v->results[i]))
            ct_push(w->build.arena, &made->results, new_dual(w, step->results.items[i]));
}

static void write_make(Forward *w, const CtFlowStep *step) {
    ct_flow_forward_copy(w, step);
    const CtFlowVar *var = step->results.items[0];
    if (!has_dual(w, var)) return;
    CtFlowArgs fields = {0};
    for (uint32_t i = 0; i < step->args.count; i++)
        if (ct_flow_tangents_active(w->tangents, step->args.items[i].type))
            ct_push(w->build.arena, &fields, ct_flow_forward_tangent(w, step->args.items[i]));
    ct_flow_forward_bind(
        w, var, ct_flow_node_make(&w->build, step->range, adjoint(w, var->type), step->as.con.tag + 1, &fields));
}

/* Opens the tangent of a node, which is not Zero; fields whose tangents are needed get variables. */
static CtFlowArgs open_dual(Forward *w, const CtFlowStep *step, CtFlowArg node) {
    const CtFlowTypes *types = &step->as.con.data->cons[step->as.con.tag].fields;
    CtFlowArgs opened = {0};
    CtFlowStep *made = ct_flow_step(&w->build, FLOW_OPEN, step->range);
    made->as.con.data = node.type->data;
    made->as.con.tag = step->as.con.tag + 1;
    ct_flow_arg(&w->build, made, node);
    for (uint32_t i = 0; i < types->count; i++) {
        if (!ct_flow_tangents_active(w->tangents, types->items[i])) continue;
        CtFlowVar *fresh = has_dual(w, step->results.items[i]) ? new_dual(w, step->results.items[i]) : NULL;
        ct_push(w->build.arena, &made->results, fresh);
        if (fresh != NULL) ct_push(w->build.arena, &opened, flow_of(fresh));
    }
    return opened;
}

static void write_open(Forward *w, const CtFlowStep *step) {
    CtFlowBuilder *l = &w->build;
    CtFlowArg node = step->args.items[0];
    bool some = false;
    for (uint32_t i = 0; i < step->results.count; i++) some |= has_dual(w, step->results.items[i]);
    if (some && ct_flow_forward_known(w, node) == TANGENT_FULL) {
        open_dual(w, step, ct_flow_forward_tangent(w, node));
    } else if (some) {
        CtFlowArgs zeros = {0};
        CtFlowChoosing choice = ct_flow_switch_begin(l, step->range, ct_flow_forward_tangent(w, node));
        ct_flow_case_begin(l, &choice, 0);
        for (uint32_t i = 0; i < step->results.count; i++)
            if (has_dual(w, step->results.items[i]))
                ct_push(l->arena, &zeros, ct_flow_zero(l, adjoint(w, step->results.items[i]->type)));
        ct_flow_case_end(l, &choice, &zeros);
        ct_flow_case_begin(l, &choice, FLOW_OTHERS);
        CtFlowArgs opened = open_dual(w, step, ct_flow_forward_tangent(w, node));
        ct_flow_case_end(l, &choice, &opened);
        bind_duals(w, &choice.step->results, &step->results, 0, step->results.count);
    }
    ct_flow_forward_copy(w, step);
}

/* ---- blocks ---- */

static void write_block(Forward *w, const CtFlowBlock *from, CtFlowBlock *to, const CtFlowStep *owner);

static void write_switch(Forward *w, const CtFlowStep *step) {
    CtFlowStep *made = ct_flow_step(&w->build, FLOW_SWITCH, step->range);
    uint32_t count = step->as.cases.count;
    ct_flow_arg(&w->build, made, ct_flow_forward_primal(w, step->args.items[0]));
    made->as.cases.branches = CT_NEW_ARRAY(w->build.arena, CtFlowBranch, count + 1);
    made->as.cases.count = count;
    for (uint32_t i = 0; i < count; i++) {
        made->as.cases.branches[i] = (CtFlowBranch){step->as.cases.branches[i].tag, ct_flow_block(&w->build)};
        write_block(w, step->as.cases.branches[i].block, made->as.cases.branches[i].block, step);
    }
    bind_all(w, &made->results, &step->results);
}

static CtFlowArg full_as(Forward *w, CtSourceRange range, CtFlowArg value) {
    CtFlowArg dims[MOST_RANK];
    ct_flow_forward_dims(w, range, ct_flow_forward_primal(w, value), dims);
    return ct_flow_forward_full(w, range, value, dims);
}

static void add_carried_duals(Forward *w, CtFlowArgs *to, const CtFlowStep *step, const CtFlowArg *values) {
    for (uint32_t i = 0; i < step->as.loop.carried; i++) {
        if (!has_dual(w, step->results.items[i])) continue;
        ct_push(w->build.arena, to,
                ct_flow_tangents_are_full(step, i) ? full_as(w, step->range, values[i])
                                                   : ct_flow_forward_tangent(w, values[i]));
    }
}

static void write_loop(Forward *w, const CtFlowStep *step) {
    const CtFlowBlock *block = step->as.loop.block;
    uint32_t carried = step->as.loop.carried, count = step->results.count;
    CtFlowArgs args = {0};
    add_primals(w, &args, &step->args, 0, step->args.count);
    add_carried_duals(w, &args, step, step->args.items + 1);
    CtFlowStep *made = ct_flow_step(&w->build, FLOW_LOOP, step->range);
    made->as = step->as;
    made->args = args;
    made->as.loop.carried = args.count - 1;
    made->as.loop.block = ct_flow_block(&w->build);
    bind_all(w, &made->as.loop.block->params, &block->params);
    write_block(w, block, made->as.loop.block, step);
    bind_primals(w, &made->results, &step->results, 0, carried);
    bind_duals(w, &made->results, &step->results, 0, carried);
    bind_primals(w, &made->results, &step->results, carried, count);
    bind_duals(w, &made->results, &step->results, carried, count);
}

/* What the loop's block yields: carried values, their tangents, items, their tangents. */
static CtFlowArgs loop_values(Forward *w, const CtFlowBlock *from, const CtFlowStep *loop) {
    uint32_t carried = loop->as.loop.carried;
    CtFlowArgs values = {0};
    add_primals(w, &values, &from->values, 0, carried);
    add_carried_duals(w, &values, loop, from->values.items);
    add_primals(w, &values, &from->values, carried, from->values.count);
    for (uint32_t i = carried; i < from->values.count; i++) {
        const CtFlowVar *array = loop->results.items[i];
        if (!has_dual(w, array)) continue;
        CtFlowArg value = from->values.items[i];
        ct_push(w->build.arena, &values,
                array->type->rank > 1 ? full_as(w, loop->range, value) : ct_flow_forward_tangent(w, value));
    }
    return values;
}

static CtFlowArgs branch_values(Forward *w, const CtFlowBlock *from, const CtFlowStep *owner) {
    CtFlowArgs values = {0};
    add_primals(w, &values, &from->values, 0, from->values.count);
    for (uint32_t i = 0; i < from->values.count; i++)
        if (has_dual(w, owner->results.items[i]))
            ct_push(w->build.arena, &values, ct_flow_forward_tangent(w, from->values.items[i]));
    return values;
}

static void write_exit(Forward *w, const CtFlowBlock *from, const CtFlowStep *owner) {
    CtFlowArgs values = {0};
    CtFlowFunction *tail = NULL;
    switch (from->exit) {
    case EXIT_YIELD:
        values = owner->kind == FLOW_LOOP ? loop_values(w, from, owner) : branch_values(w, from, owner);
        break;
    case EXIT_RETURN:
        add_primals(w, &values, &from->values, 0, from->values.count);
        add_duals(w, &values, &from->values, w->variant->results);
        break;
    case EXIT_TAIL: tail = ct_flow_forward_function(w, called(w, from->tail, &from->values, &values)); break;
    case EXIT_NEVER:
    case EXIT_OPEN: break;
    }
    ct_flow_leave(&w->build, from->exit, from->range, &values, tail);
}

static CtFlowArg primal(void *data, CtFlowArg of) { return ct_flow_forward_primal(data, of); }

/* dy = ∂₁op·da + ∂₂op·db */
static void write_prim(Forward *w, const CtFlowStep *step) {
    const CtFlowVar *y = step->results.items[0];
    CtFlowArg sum = ct_flow_none();
    ct_flow_forward_copy(w, step);
    if (!has_dual(w, y)) return;
    for (uint32_t i = 0; i < step->args.count; i++) {
        CtFlowArg x = step->args.items[i];
        if (!ct_flow_tangent_counts(ct_flow_forward_known(w, x))) continue;
        CtFlowArg part = ct_flow_partial(&w->build, step, i, ct_flow_forward_tangent(w, x), y->type, primal, w);
        if (ct_flow_is_none(part)) continue;
        sum = ct_flow_is_none(sum) ? part : ct_flow_prim(&w->build, step->range, PRIM_ADD, y->type, sum, part);
    }
    ct_flow_forward_bind(w, y, ct_flow_is_none(sum) ? ct_flow_real(y->type, -0.0) : sum);
}

/* Writes a step; if no result has a tangent, it is copied. */
static void write_step(Forward *w, const CtFlowStep *step) {
    switch (step->kind) {
    case FLOW_CALL: write_call(w, step); return;
    case FLOW_MAKE: write_make(w, step); return;
    case FLOW_OPEN: write_open(w, step); return;
    case FLOW_SWITCH: write_switch(w, step); return;
    case FLOW_LOOP: write_loop(w, step); return;
    case FLOW_PRIM: write_prim(w, step); return;
    case FLOW_READ:
    case FLOW_UPDATE:
    case FLOW_SNOC:
    case FLOW_ITEMS:
    case FLOW_BULK:
    case FLOW_PRODUCT:
        if (has_dual(w, step->results.items[0]))
            ct_flow_forward_array(w, step);
        else
            ct_flow_forward_copy(w, step);
        return;
    case FLOW_CONSTANT:
    case FLOW_STRING:
    case FLOW_FAIL:
    case FLOW_CHECK:
    case FLOW_CHECK_SIZE:
    case FLOW_CHECK_ZIP:
    case FLOW_CHECK_SHAPE:
    case FLOW_CHECK_SLICE:
    case FLOW_DIM:
    case FLOW_LITERALS:
    case FLOW_STOP: ct_flow_forward_copy(w, step); return;
    case FLOW_VJP:
    case FLOW_PULL:
    case FLOW_JVP:
    case FLOW_RETAIN:
    case FLOW_LINK:
    case FLOW_RELEASE: return; /* inner derivatives have been expanded, and there are no retains and releases yet */
    }
}

static void write_block(Forward *w, const CtFlowBlock *from, CtFlowBlock *to, const CtFlowStep *owner) {
    CtFlowBlock *outer = w->build.block;
    w->build.block = to;
    for (uint32_t i = 0; i < from->steps.count; i++) write_step(w, from->steps.items[i]);
    write_exit(w, from, owner);
    w->build.block = outer;
}

/* ---- functions ---- */

static void write_function(Forward *w, CtVariant *v) {
    const CtFlowFunction *f = v->origin;
    w->variant = v;
    w->build.function = v->made;
    w->primals = CT_NEW_ARRAY(w->build.arena, CtFlowArg, f->vars + 1);
    w->duals = CT_NEW_ARRAY(w->build.arena, CtFlowArg, f->vars + 1);
    v->made->body = ct_flow_block(&w->build);
    bind_all(w, &v->made->params, &f->params);
    w->build.block = v->made->body;
    if (f->rule != NULL)
        ct_flow_forward_rule(w);
    else
        write_block(w, f->body, v->made->body, NULL);
}

const CtFlowForward *ct_flow_forward(CtFlow *flow, CtFlowDerived *derived) {
    if (derived->forward != NULL) return derived->forward;
    ct_flow_refuse_high_ranks(flow);
    if (flow->refused != NULL) return NULL;
    Forward w = {.build = {.flow = flow, .arena = flow->arena}};
    w.tangents = ct_flow_tangents(flow, derived->function, derived->captured);
    if (flow->refused != NULL) return NULL;
    CtVariant *root = w.tangents->root;
    CtFlowForward *made = CT_NEW(flow->arena, CtFlowForward);
    made->function = ct_flow_forward_function(&w, root);
    made->has_tangent = CT_NEW_ARRAY(flow->arena, bool, root->origin->results.count + 1);
    for (uint32_t i = 0; i < root->origin->results.count; i++)
        made->has_tangent[i] = ct_flow_tangent_is_kept(root->results[i]);
    for (uint32_t i = 0; i < w.pending.count; i++) write_function(&w, w.pending.items[i]);
    derived->forward = made;
    return made;
}
