/* DUAL for function values known only at run time: a function with a branch for each closure that may reach the place;
 * the branch gives the closure of the transformed code with transformed captured values. Transformed code contains
 * function values in turn, so branches are added until a fixed point. */
#include "flow/lower/internal.h"

/* Each level of derivatives multiplies the size of the transformed code, and the nesting may depend on data. Beyond
 * these bounds the program is left to the evaluator, which transforms only what it runs. */
enum { MOST_BRANCHES = 100, DEEPEST_PATH = 3, MOST_BYTES = 32 << 20 };

typedef struct Dual {
    CtFlowData *data; /* of the function type */
    const CtDualPath *path;
    CtFlowFunction *function;
    CtFlowStep *step;
    CtFlowVar *closure;
    CtFlowArgs states;
    CtMap made; /* constructors of closures that have a branch */
} Dual;

static bool same_path(const CtDualPath *a, const CtDualPath *b) {
    if (a->method != b->method || a->count != b->count || a->primal != b->primal) return false;
    return a->count == 0 || memcmp(a->path, b->path, a->count * sizeof *a->path) == 0;
}

static Dual *dual_of(Lower *l, const CtCore *e, CtFlowData *data) {
    for (uint32_t i = 0; i < l->duals.count; i++) {
        Dual *known = l->duals.items[i];
        if (known->data == data && same_path(known->path, e->as.call.of.dual)) return known;
    }
    Dual *dual = CT_NEW(l->b.arena, Dual);
    dual->data = data;
    dual->path = e->as.call.of.dual;
    dual->function = ct_flow_function(l->b.flow, "dual", CT_NO_RANGE);
    dual->function->results = *ct_flow_types(l->b.flow, e->type);
    CtFlowFunction *outer = l->b.function;
    CtFlowBlock *block = l->b.block;
    l->b.function = dual->function;
    l->b.block = dual->function->body = ct_flow_block(&l->b);
    dual->closure = ct_flow_var(&l->b, "function", ct_flow_node(l->b.flow, data->type));
    ct_push(l->b.arena, &dual->function->params, dual->closure);
    for (uint32_t i = 1; i < e->as.call.count; i++) {
        CtFlowArgs more =
            ct_flow_params(&l->b, &dual->function->params, "state", ct_flow_types(l->b.flow, e->as.call.args[i]->type));
        ct_flow_args_add(&l->b, &dual->states, &more);
    }
    dual->step = ct_flow_lower_switch(l, CT_NO_RANGE, flow_of(dual->closure));
    ct_flow_leave(&l->b, EXIT_NEVER, CT_NO_RANGE, NULL, NULL);
    l->b.function = outer;
    l->b.block = block;
    ct_push(l->b.arena, &l->duals, dual);
    return dual;
}

CtFlowArgs ct_flow_lower_dual(Lower *l, CtCore *e) {
    if (e->as.call.of.dual->whole) ct_flow_lower_refuse(l, "bulk differentiates for the shapes of the point");
    if (e->as.call.of.dual->count > DEEPEST_PATH)
        ct_flow_lower_refuse(l, "the derivative of a function that is only known when the program runs");
    CtFlowArgs args = {0};
    for (uint32_t i = 0; i < e->as.call.count; i++) {
        CtFlowArgs values = ct_flow_lower(l, e->as.call.args[i]);
        ct_flow_args_add(&l->b, &args, &values);
    }
    Dual *dual = dual_of(l, e, args.items[0].type->data);
    return ct_flow_lower_call(l, e->range, dual->function, &args, false);
}

/* ---- branches ---- */

/* Whether a λ is a result of the path's transformations; no other λ can occur in this derivative. */
static bool has_path(const CtLam *lam, const CtDualPath *path) {
    for (uint32_t i = 0; i < path->count; i++) {
        if (lam->origin == NULL || lam->method != path->path[i]) return false;
        lam = lam->origin;
    }
    if (path->primal) return lam->origin != NULL && lam->method == path->method;
    return true;
}

static CtLam *transformed(Lower *l, CtLam *lam, const CtDualPath *path) {
    CtContext *context = l->p->context;
    uint32_t errors = context->error_count;
    CtDiag *diags = context->diags, **last = context->last_diag;
    CtLam *made = ct_ad_dual(l->ad, lam, path);
    if (made != NULL && context->error_count == errors) return made;
    context->error_count = errors;
    context->diags = diags;
    context->last_diag = last;
    *context->last_diag = NULL;
    ct_flow_lower_refuse(l, "a function value that could be differentiated has no derivative");
}

/* The values captured by the closure, in the order in which the transformed code takes them. */
static CtFlowArgs captured(Lower *l, const Callable *c, const CtFlowArgs *fields) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->capture_count; i++) {
        uint32_t width = ct_flow_types(l->b.flow, c->captures[i]->type)->count;
        ct_flow_lower_bind(l, c->captures[i], ct_flow_slice(fields, at, width));
        at += width;
    }
    for (uint32_t i = 0; i < c->inherits.count; i++) {
        Binding *binding = CT_NEW(l->b.arena, Binding);
        binding->known = c->inherits.entries[i].value;
        ct_map_set(l->b.arena, l->env, c->inherits.entries[i].key, binding);
    }
    CtFlowArgs args = {0};
    for (uint32_t i = 0; i < c->lam->capture_count; i++) {
        CtFlowArgs values = ct_flow_lower(l, ct_core_var(l->p, CT_NO_RANGE, c->lam->captures[i]));
        ct_flow_args_add(&l->b, &args, &values);
    }
    return args;
}

static void lower_branch(Lower *l, Dual *dual, const Callable *c, uint32_t tag) {
    CtFlowStep *open = ct_flow_step(&l->b, FLOW_OPEN, CT_NO_RANGE);
    open->as.con.data = dual->data;
    open->as.con.tag = tag;
    ct_flow_arg(&l->b, open, flow_of(dual->closure));
    CtFlowArgs fields = {0};
    CtFlowTypes types = dual->data->cons[tag].fields;
    for (uint32_t i = 0; i < types.count; i++)
        ct_push(l->b.arena, &fields, ct_flow_result(&l->b, open, "captured", types.items[i]));
    if (!has_path(c->lam, dual->path)) {
        CtFlowStep *fail = ct_flow_step(&l->b, FLOW_FAIL, CT_NO_RANGE);
        fail->as.fail.code = CT_E0901;
        fail->as.fail.text = "a function value has lost where it came from";
        ct_flow_leave(&l->b, EXIT_NEVER, CT_NO_RANGE, NULL, NULL);
        return;
    }
    CtLam *made = transformed(l, c->lam, dual->path);
    CtFlowArgs args = captured(l, c, &fields);
    ct_flow_args_add(&l->b, &args, &dual->states);
    ct_flow_lower_call_known(l, CT_NO_RANGE, ct_flow_lower_callable(l, made->node), &args, true);
}

static void add_branch(Lower *l, Dual *dual, Member member) {
    CtFlowStep *step = dual->step;
    uint32_t count = step->as.cases.count;
    if (++l->dual_branches > MOST_BRANCHES || ct_arena_bytes(l->b.arena) - l->bytes > MOST_BYTES)
        ct_flow_lower_refuse(l, "too many function values could be differentiated");
    CtFlowBranch *branches = CT_NEW_ARRAY(l->b.arena, CtFlowBranch, count + 1);
    if (count > 0) memcpy(branches, step->as.cases.branches, count * sizeof *branches);
    CtMap env = {0};
    l->b.function = dual->function;
    l->env = &env;
    l->depth = 0;
    l->b.block = ct_flow_block(&l->b);
    branches[count] = (CtFlowBranch){member.tag, l->b.block};
    step->as.cases.branches = branches;
    step->as.cases.count++;
    lower_branch(l, dual, member.callable, member.tag);
}

bool ct_flow_lower_duals(Lower *l) {
    uint32_t count = l->duals.count, members = l->members.count;
    if (count == 0) return false;
    const CtFlowVar **vars = CT_NEW_ARRAY(l->b.arena, const CtFlowVar *, count);
    for (uint32_t i = 0; i < count; i++) vars[i] = l->duals.items[i]->closure;
    const bool *reaches = ct_flow_lambda_sets(l, vars, count);
    bool more = false;
    for (uint32_t i = 0; i < count; i++) {
        Dual *dual = l->duals.items[i];
        for (uint32_t m = 0; m < members; m++) {
            Member member = l->members.items[m];
            if (member.data != dual->data || !reaches[(size_t)i * members + m] || ct_map_has(&dual->made, m)) continue;
            ct_map_set(l->b.arena, &dual->made, m, NULL);
            add_branch(l, dual, member);
            more = true;
        }
    }
    return more;
}
