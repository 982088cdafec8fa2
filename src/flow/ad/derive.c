/* Expands derivatives on Flow, source to source. VJP, PULL and JVP are replaced by calls as soon as their functions
 * contain no derivatives, so inner derivatives come first, and their expansion is differentiated like any other
 * code. */
#include "flow/ad/derive.h"

typedef struct Derive {
    CtFlow *flow;
    CtArena *arena;
    CtFlowBuilder build;
    CtMap seen;    /* visited functions */
    CtMap changed; /* functions with replaced steps whose copies are not resolved yet: they wait for the next round */
    CtMap copies;  /* CtFlowVar * -> CtFlowArg *, its replacement */
} Derive;

/* ---- whether a function is free of derivatives ---- */

static bool is_free(Derive *d, const CtFlowFunction *function);

/* Constants count as free of derivatives: nothing varies in them. */
static bool is_free_block(Derive *d, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (ct_flow_is_derivative(step)) return false;
        if (step->kind == FLOW_CALL && !is_free(d, step->as.function)) return false;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            if (!is_free_block(d, ct_flow_inner(step, j))) return false;
    }
    /* Waits for a type whose constructors are not known yet: ct_flow_close. */
    if (block->exit == EXIT_OPEN) return false;
    return block->exit != EXIT_TAIL || is_free(d, block->tail);
}

static bool is_free(Derive *d, const CtFlowFunction *function) {
    if (ct_map_has(&d->changed, ct_key(function))) return false;
    if (ct_map_has(&d->seen, ct_key(function))) return true;
    ct_map_set(d->arena, &d->seen, ct_key(function), NULL);
    return is_free_block(d, function->body);
}

static bool is_ready(Derive *d, const CtFlowStep *step) {
    d->seen = (CtMap){0};
    return is_free(d, step->as.derived->function);
}

/* ---- what takes the place of a step ---- */

static void add(Derive *d, CtFlowArgs *to, CtFlowArg arg) { ct_push(d->arena, to, arg); }

static void add_vars(Derive *d, CtFlowVars *to, CtFlowVar *const *vars, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) ct_push(d->arena, to, vars[i]);
}

static CtFlowStep *call(Derive *d, CtSourceRange range, CtFlowFunction *function, const CtFlowArgs *args) {
    CtFlowStep *step = ct_flow_step(&d->build, FLOW_CALL, range);
    step->as.function = function;
    step->args = *args;
    return step;
}

static void bind(Derive *d, CtFlowVar *var, CtFlowArg value) {
    CtFlowArg *copy = CT_NEW(d->arena, CtFlowArg);
    *copy = value;
    ct_map_set(d->arena, &d->copies, ct_key(var), copy);
}

/* Whether values of the type have a shape, which a cotangent must match. */
static bool has_structure(const Derive *d, const CtFlowType *type) {
    return ct_flow_is_object(type) && ct_flow_adjoint_type(d->flow, type) != NULL;
}

/* The residual that VJP gives: that of the forward sweep; the point, whose shape the gradient has; results that have a
 * shape. */
static CtFlowData *residual_of(Derive *d, const CtFlowDerived *derived, const CtFlowReverse *reverse) {
    CtFlowData *data = derived->residual->data;
    if (data->count > 0) return data;
    const CtFlowVars *params = &derived->function->params;
    const CtFlowTypes *results = &derived->function->results;
    CtFlowTypes types = {.items = CT_NEW_ARRAY(d->arena, const CtFlowType *, 1 + params->count + results->count)};
    types.items[types.count++] = reverse->forward->results.items[reverse->forward->results.count - 1];
    for (uint32_t i = derived->captured; i < params->count; i++) types.items[types.count++] = params->items[i]->type;
    for (uint32_t i = 0; i < results->count; i++)
        if (has_structure(d, results->items[i])) types.items[types.count++] = results->items[i];
    ct_flow_con_add(d->flow, data, "residual", &types);
    ct_flow_close(d->flow, derived->residual);
    return data;
}

/* Writes ⟨y⟩, residual = forward ⟨a⟩. */
static void expand_vjp(Derive *d, const CtFlowStep *step, const CtFlowReverse *reverse) {
    const CtFlowDerived *derived = step->as.derived;
    CtFlowFunction *forward = reverse->forward;
    CtFlowStep *made = call(d, step->range, forward, &step->args);
    uint32_t results = step->results.count - 1;
    add_vars(d, &made->results, step->results.items, results);
    CtFlowArg trail = ct_flow_result(&d->build, made, "trail", forward->results.items[results]);
    CtFlowArgs fields = ct_flow_slice(&step->args, derived->captured, step->args.count - derived->captured), all = {0};
    add(d, &all, trail);
    ct_flow_args_add(&d->build, &all, &fields);
    for (uint32_t i = 0; i < results; i++)
        if (has_structure(d, step->results.items[i]->type)) add(d, &all, flow_of(step->results.items[i]));
    CtFlowStep *keep = ct_flow_step(&d->build, FLOW_MAKE, step->range);
    keep->as.con.data = residual_of(d, derived, reverse);
    keep->args = all;
    ct_push(d->arena, &keep->results, step->results.items[results]);
}

static void expand_pull(Derive *d, const CtFlowStep *step, const CtFlowReverse *reverse) {
    const CtFlowDerived *derived = step->as.derived;
    CtFlowData *data = residual_of(d, derived, reverse);
    CtFlowStep *open = ct_flow_step(&d->build, FLOW_OPEN, step->range);
    open->as.con.data = data;
    ct_flow_arg(&d->build, open, step->args.items[0]);
    const CtFlowTypes *fields = &data->cons[0].fields;
    CtFlowArgs kept = {0}, args = {0};
    const CtFlowFunction *backward = reverse->backward;
    for (uint32_t i = 0; i < fields->count; i++)
        add(d, &kept, ct_flow_result(&d->build, open, i == 0 ? "trail" : "x", fields->items[i]));
    add(d, &args, kept.items[0]);
    uint32_t y = 1 + derived->function->params.count - derived->captured;
    for (uint32_t i = 1; i < step->args.count; i++)
        if (has_structure(d, step->args.items[i].type))
            ct_flow_check_shapes(&d->build, step->range, kept.items[y++], step->args.items[i],
                                 "the cotangent does not have the shape of the result");
    for (uint32_t i = 1; i < step->args.count; i++)
        if (ct_flow_adjoint_type(d->flow, step->args.items[i].type) != NULL)
            add(d, &args,
                ct_flow_embed(&d->build, step->range, step->args.items[i], backward->params.items[args.count]->type));
    const CtFlowVars *params = &derived->function->params;
    for (uint32_t i = 0; i < params->count; i++)
        if (reverse->accumulates[i]) add(d, &args, ct_flow_zero(&d->build, backward->params.items[args.count]->type));
    CtFlowStep *made = call(d, step->range, reverse->backward, &args);
    CtFlowArgs adjoints = {0};
    for (uint32_t i = 0; i < params->count; i++) {
        CtFlowArg value = {0};
        if (reverse->accumulates[i])
            value = ct_flow_result(&d->build, made, "dx", backward->results.items[made->results.count]);
        if (i >= derived->captured) add(d, &adjoints, value);
    }
    for (uint32_t i = 0; i < step->results.count; i++) {
        CtFlowArg x = kept.items[i + 1], dx = adjoints.items[i];
        bind(d, step->results.items[i], dx.type == NULL ? x : ct_flow_project(&d->build, step->range, x, dx));
    }
}

/* Writes ⟨y⟩, ⟨dy⟩; captured variables have no tangents. */
static void expand_jvp(Derive *d, const CtFlowStep *step, const CtFlowForward *forward) {
    const CtFlowDerived *derived = step->as.derived;
    const CtFlowFunction *function = derived->function;
    uint32_t params = function->params.count, results = function->results.count;
    CtFlowArgs args = ct_flow_slice(&step->args, 0, params), all = {0}, dy = {0};
    ct_flow_args_add(&d->build, &all, &args);
    for (uint32_t i = derived->captured; i < params; i++)
        ct_flow_check_shapes(&d->build, step->range, step->args.items[i],
                             step->args.items[params + i - derived->captured],
                             "the tangent does not have the shape of the point");
    for (uint32_t i = derived->captured; i < params; i++) {
        const CtFlowType *tangent = ct_flow_tangent_type(d->flow, function->params.items[i]->type);
        CtFlowArg given = step->args.items[params + i - derived->captured];
        if (tangent != NULL) add(d, &all, ct_flow_embed(&d->build, step->range, given, tangent));
    }
    CtFlowStep *made = call(d, step->range, forward->function, &all);
    add_vars(d, &made->results, step->results.items, results);
    for (uint32_t i = 0; i < results; i++) {
        const CtFlowType *adjoint = ct_flow_tangent_type(d->flow, function->results.items[i]);
        CtFlowArg value = {0};
        if (forward->has_tangent[i]) value = ct_flow_result(&d->build, made, "dy", adjoint);
        add(d, &dy, value);
    }
    for (uint32_t i = 0; i < results; i++) {
        CtFlowArg y = flow_of(step->results.items[i]), tangent = dy.items[i];
        const CtFlowType *adjoint = ct_flow_tangent_type(d->flow, y.type);
        if (tangent.type == NULL && adjoint != NULL) tangent = ct_flow_zero(&d->build, adjoint);
        bind(d, step->results.items[results + i],
             adjoint == NULL ? y : ct_flow_project(&d->build, step->range, y, tangent));
    }
}

static void expand(Derive *d, CtFlowStep *step) {
    if (step->kind == FLOW_JVP) {
        const CtFlowForward *forward = ct_flow_forward(d->flow, step->as.derived);
        if (forward != NULL) expand_jvp(d, step, forward);
        return;
    }
    const CtFlowReverse *reverse = ct_flow_reverse(d->flow, step->as.derived->function, step->as.derived->captured);
    if (reverse == NULL) return;
    if (step->kind == FLOW_VJP)
        expand_vjp(d, step, reverse);
    else
        expand_pull(d, step, reverse);
}

/* ---- copies ---- */

static void resolve_args(const Derive *d, CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++) {
        const CtFlowArg *value;
        while (args->items[i].var != NULL && (value = ct_map_get(&d->copies, ct_key(args->items[i].var))) != NULL)
            args->items[i] = *value;
    }
}

/* Replaces copied variables. With `stops`, STOP is a copy too, because no derivative is left to be taken. */
static void resolve(Derive *d, CtFlowBlock *block, bool stops) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        resolve_args(d, &step->args);
        if (stops && step->kind == FLOW_STOP) {
            bind(d, step->results.items[0], step->args.items[0]);
            continue;
        }
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) resolve(d, ct_flow_inner(step, j), stops);
        block->steps.items[kept++] = step;
    }
    block->steps.count = kept;
    resolve_args(d, &block->values);
}

static void resolve_all(Derive *d, bool stops) {
    for (uint32_t i = 0; i < d->flow->functions.count && d->flow->refused == NULL; i++)
        resolve(d, d->flow->functions.items[i]->body, stops);
}

/* ---- all of them ---- */

/* Expands the derivatives whose functions are ready; sets *left if others remain. */
static bool derive_block(Derive *d, CtFlowFunction *function, CtFlowBlock *block, bool *left) {
    CtFlowBlock made = {0}; /* separate from the block, because is_free_block looks at the function's block */
    bool some = false;
    for (uint32_t i = 0; i < block->steps.count && d->flow->refused == NULL; i++) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
            some |= derive_block(d, function, ct_flow_inner(step, j), left);
        bool ready = ct_flow_is_derivative(step) && is_ready(d, step);
        *left |= ct_flow_is_derivative(step) && !ready;
        some |= ready;
        if (ready) ct_map_set(d->arena, &d->changed, ct_key(function), NULL);
        d->build.function = function;
        d->build.block = &made;
        if (ready)
            expand(d, step);
        else
            ct_push(d->arena, &made.steps, step);
    }
    block->steps.items = made.steps.items;
    block->steps.count = made.steps.count;
    block->steps.capacity = made.steps.capacity;
    return some;
}

static bool derive_all(Derive *d, bool *left) {
    bool some = false;
    *left = false;
    for (uint32_t i = 0; i < d->flow->functions.count && d->flow->refused == NULL; i++)
        some |= derive_block(d, d->flow->functions.items[i], d->flow->functions.items[i]->body, left);
    return some;
}

void ct_flow_derive(CtFlow *flow) {
    Derive d = {.flow = flow, .arena = flow->arena, .build = {.flow = flow, .arena = flow->arena}};
    bool left = true;
    while (left && flow->refused == NULL) {
        bool some = derive_all(&d, &left);
        if (!some && left) flow->refused = "a function takes a derivative of itself";
        if (some) resolve_all(&d, false);
        d.changed = (CtMap){0};
    }
    resolve_all(&d, true);
    for (uint32_t i = 0; i < flow->types.count; i++) /* types of derivatives in unreachable code */
        if (flow->types.items[i]->kind == FLOW_NODE && flow->types.items[i]->data->is_open)
            ct_flow_close(flow, flow->types.items[i]);
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        flow->functions.items[i]->rule = NULL;
        flow->functions.items[i]->is_checkpoint = false;
    }
}
