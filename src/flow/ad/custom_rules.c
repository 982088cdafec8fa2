/* Derivatives of functions with a custom derivative: the rule is called, on primals, in place of the derivative of f.
 * Derivatives around this one differentiate the rule's code like any other.
 *
 *   reverse mode, from a pair:    y, pullback = rule x     and in the reverse sweep   dx += pullback dy
 *   reverse mode, from a slope:   y, p = rule x            and in the reverse sweep   dx += p · dy
 *   forward mode:                 y, dy = rule x dx        from a slope:              dy = p · dx
 *
 * The rule covers the point only. Captured variables of f may be active too; for them, f itself is differentiated at a
 * constant point. */
#include "flow/ad/forward.h"
#include "flow/ad/reverse.h"

static uint32_t point_of(const CtFlowRule *rule) { return rule->own + rule->pair + rule->tangent; }

bool ct_flow_rule_counts(const CtFlowRule *rule, uint32_t param) {
    return param < rule->own || param >= point_of(rule);
}

/* The captured variables from `start` on, then the point. */
static CtFlowArgs with_point(CtFlowBuilder *l, const CtFlowArgs *params, const CtFlowRule *rule, uint32_t start,
                             uint32_t count) {
    CtFlowArgs all = {0}, captured = ct_flow_slice(params, start, count);
    CtFlowArgs point = ct_flow_slice(params, point_of(rule), params->count - point_of(rule));
    ct_flow_args_add(l, &all, &captured);
    ct_flow_args_add(l, &all, &point);
    return all;
}

static CtFlowArgs by_slope_args(CtFlowBuilder *l, const CtFlowArgs *params, const CtFlowRule *rule) {
    return with_point(l, params, rule, rule->own, rule->pair);
}

static CtFlowArg convert(CtFlowBuilder *l, CtSourceRange range, CtFlowArg real, const CtFlowType *type) {
    if (real.type == type) return real;
    CtPrim op = type->kind == FLOW_F64 ? PRIM_FLOAT_TO_DOUBLE : PRIM_DOUBLE_TO_FLOAT;
    return ct_flow_prim(l, range, op, type, real, ct_flow_none());
}

/* slope · d, as a value of `type`; zero when d is a structural zero. */
static CtFlowArg scaled(CtFlowBuilder *l, CtSourceRange range, CtFlowArg slope, CtFlowArg d, const CtFlowType *type) {
    d = convert(l, range, d, slope.type);
    return convert(l, range, ct_flow_prim(l, range, PRIM_SCALE, slope.type, slope, d), type);
}

/* ---- in reverse ---- */

typedef struct Reversed {
    const Variant *variant;
    const CtFlowRule *rule;
    const Variant *own; /* f differentiated by its captured variables; NULL: these are not active */
    /* Fields of the residual: f's own residual; those parts of y and x that have shapes; the slope or pullback. */
    CtFlowTypes kept;
    bool varies; /* the point is active */
} Reversed;

static bool has_shape(const CtFlowType *type) { return type->kind != FLOW_F64 && type->kind != FLOW_F32; }

static void keep(CtFlowBuilder *l, CtFlowArgs *to, const CtFlowArg *from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (has_shape(from[i].type)) ct_push(l->arena, to, from[i]);
}

/* Calls the rule: ⟨y⟩, and in `kept` what the reverse sweep needs. */
static CtFlowArgs run_rule(CtFlowBuilder *l, const Reversed *r, const CtFlowArgs *params, CtFlowArgs *kept) {
    const CtFlowRule *rule = r->rule;
    CtSourceRange range = r->variant->function->range;
    CtFlowArgs args = by_slope_args(l, params, rule);
    CtFlowArgs given = ct_flow_call(l, range, rule->by_slope != NULL ? rule->by_slope : rule->by_pair, &args);
    uint32_t results = r->variant->function->results.count, point = point_of(rule);
    if (rule->by_slope == NULL) {
        keep(l, kept, given.items, results);
        keep(l, kept, params->items + point, params->count - point);
    }
    ct_push(l->arena, kept, given.items[results]);
    return ct_flow_slice(&given, 0, results);
}

static void write_forward(CtFlow *flow, Reversed *r) {
    CtFlowFunction *forward = r->variant->pair.forward;
    const CtFlowFunction *function = r->variant->function;
    CtFlowBuilder l = {.flow = flow, .arena = flow->arena, .function = forward};
    l.block = forward->body = ct_flow_block(&l);
    CtFlowArgs params = {0}, kept = {0}, values = {0}, ys = {0};
    for (uint32_t i = 0; i < function->params.count; i++) {
        CtFlowVar *var = ct_flow_var(&l, function->params.items[i]->name, function->params.items[i]->type);
        ct_push(l.arena, &forward->params, var);
        ct_push(l.arena, &params, flow_of(var));
    }
    CtFlowArgs own = with_point(&l, &params, r->rule, 0, r->rule->own);
    if (r->own != NULL) {
        ys = ct_flow_call(&l, function->range, r->own->pair.forward, &own);
        ct_push(l.arena, &kept, ys.items[ys.count - 1]);
    }
    if (r->varies) ys = run_rule(&l, r, &params, &kept);
    if (r->own == NULL && !r->varies) ys = ct_flow_call(&l, function->range, r->rule->f, &own);
    for (uint32_t i = 0; i < function->results.count; i++) ct_push(l.arena, &values, ys.items[i]);
    const CtFlowType *residual = forward->results.items[function->results.count];
    for (uint32_t i = 0; i < kept.count; i++) {
        CtFlowTypes one = {.items = &kept.items[i].type, .count = 1};
        ct_flow_types_add(flow, &r->kept, &one);
    }
    ct_flow_con_add(flow, residual->data, "end", &r->kept);
    ct_push(l.arena, &values, ct_flow_node_make(&l, function->range, residual, 0, &kept));
    ct_flow_leave(&l, EXIT_RETURN, function->range, &values, NULL);
}

/* The point's accumulators, with the pullback's result for dy added. */
static CtFlowArgs pulled(CtFlowBuilder *l, const Reversed *r, const CtFlowArgs *kept, const CtFlowArgs *dys,
                         const CtFlowArgs *accs) {
    const CtFlowFunction *function = r->variant->function;
    CtSourceRange range = function->range;
    uint32_t next = r->own != NULL, at = 0, point = point_of(r->rule);
    CtFlowArgs args = {0}, sums = {0};
    ct_push(l->arena, &args, kept->items[kept->count - 1]);
    for (uint32_t i = 0; i < function->results.count; i++) {
        const CtFlowType *type = function->results.items[i];
        CtFlowArg y = has_shape(type) ? kept->items[next++] : (CtFlowArg){.type = type};
        bool active = ct_flow_is_active(l->flow, type);
        ct_push(l->arena, &args, active ? ct_flow_project_raw(l, range, y, dys->items[at++]) : y);
    }
    CtFlowArgs dx = ct_flow_call(l, range, r->rule->pull, &args);
    at = 0;
    for (uint32_t i = 0; i < dx.count; i++) {
        if (has_shape(dx.items[i].type))
            ct_flow_check_shapes(l, range, kept->items[next++], dx.items[i],
                                 "the cotangent that a rule gives does not have the shape of the point");
        if (!r->variant->active[point + i]) continue;
        CtFlowArg acc = accs->items[at++];
        ct_push(l->arena, &sums, ct_flow_add(l, range, acc, ct_flow_embed(l, range, dx.items[i], acc.type)));
    }
    return sums;
}

static CtFlowArgs pull(CtFlowBuilder *l, const Reversed *r, const CtFlowArgs *kept, const CtFlowArgs *dys,
                       const CtFlowArgs *accs) {
    CtSourceRange range = r->variant->function->range;
    CtFlowArgs sums = {0};
    if (r->rule->by_slope != NULL) {
        CtFlowArg slope = kept->items[kept->count - 1];
        CtFlowArg dx = scaled(l, range, slope, dys->items[0], accs->items[0].type);
        ct_push(l->arena, &sums, ct_flow_add(l, range, accs->items[0], dx));
        return sums;
    }
    CtFlowArg nothing = ct_flow_is_nothing(l, range, dys->items[0]);
    for (uint32_t i = 1; i < dys->count; i++)
        nothing = ct_flow_prim_int(l, range, PRIM_INT_AND, nothing, ct_flow_is_nothing(l, range, dys->items[i]));
    CtFlowChoosing choice = ct_flow_switch_begin(l, range, nothing);
    ct_flow_case_begin(l, &choice, 1);
    ct_flow_case_end(l, &choice, accs);
    ct_flow_case_begin(l, &choice, FLOW_OTHERS);
    sums = pulled(l, r, kept, dys, accs);
    ct_flow_case_end(l, &choice, &sums);
    return ct_flow_switch_end(l, &choice);
}

/* Adds the contributions to the captured variables of f to their accumulators. */
static void pull_own(CtFlowBuilder *l, const Reversed *r, CtFlowArg residual, const CtFlowArgs *dys, CtFlowArgs *accs) {
    const CtFlowFunction *f = r->rule->f;
    CtFlowArgs args = {0};
    ct_push(l->arena, &args, residual);
    ct_flow_args_add(l, &args, dys);
    for (uint32_t i = 0, at = 0; i < f->params.count; i++) {
        bool ours = i < r->rule->own && r->variant->active[i];
        if (!r->own->active[i]) continue;
        const CtFlowType *type = r->own->pair.backward->params.items[args.count]->type;
        ct_push(l->arena, &args, ours ? accs->items[at++] : ct_flow_zero(l, type));
    }
    CtFlowArgs given = ct_flow_call(l, r->variant->function->range, r->own->pair.backward, &args);
    for (uint32_t i = 0, from = 0, to = 0; i < f->params.count; i++) {
        if (!r->own->active[i]) continue;
        if (i < r->rule->own && r->variant->active[i]) accs->items[to++] = given.items[from];
        from++;
    }
}

static void write_backward(CtFlow *flow, const Reversed *r) {
    CtFlowFunction *backward = r->variant->pair.backward;
    const CtFlowFunction *function = r->variant->function;
    CtFlowBuilder l = {.flow = flow, .arena = flow->arena, .function = backward, .block = backward->body};
    CtFlowArgs dys = {0}, accs = {0}, point = {0};
    uint32_t next = 1;
    CtFlowArgs kept = ct_flow_node_open(&l, function->range, flow_of(backward->params.items[0]), 0, "kept");
    for (uint32_t i = 0; i < function->results.count; i++)
        if (ct_flow_is_active(flow, function->results.items[i]))
            ct_push(l.arena, &dys, flow_of(backward->params.items[next++]));
    for (uint32_t i = 0; i < function->params.count; i++)
        if (r->variant->active[i])
            ct_push(l.arena, i < point_of(r->rule) ? &accs : &point, flow_of(backward->params.items[next++]));
    if (r->varies) point = pull(&l, r, &kept, &dys, &point);
    if (r->own != NULL) pull_own(&l, r, kept.items[0], &dys, &accs);
    ct_flow_args_add(&l, &accs, &point);
    ct_flow_leave(&l, EXIT_RETURN, function->range, &accs, NULL);
}

void ct_flow_reverse_rule(CtFlow *flow, Variant *v) {
    Reversed r = {.variant = v, .rule = v->function->rule};
    Active *active = CT_NEW_ARRAY(flow->arena, Active, r.rule->f->params.count + 1);
    bool own = false;
    for (uint32_t i = 0; i < r.rule->own; i++) own |= (active[i] = v->active[i]) != ACTIVE_NOT;
    for (uint32_t i = point_of(r.rule); i < v->function->params.count; i++) r.varies |= v->active[i] != ACTIVE_NOT;
    if (own) r.own = ct_flow_reverse_variant(flow, r.rule->f, active);
    write_forward(flow, &r);
    write_backward(flow, &r);
}

bool ct_flow_reverse_by_slope(Reverse *r, CtFlowBlock *block, CtFlowStep *step, const Active *active) {
    const CtFlowRule *rule = step->as.function->rule;
    if (rule == NULL || rule->by_slope == NULL) return false;
    for (uint32_t i = 0; i < rule->own; i++)
        if (active[i]) return false;
    step->args = by_slope_args(&r->f, &step->args, rule);
    step->as.function = rule->by_slope;
    CtFlowVar *slope = ct_flow_reverse_forward_var(r, "slope", rule->by_slope->results.items[1], block, step);
    ct_push(r->arena, &step->results, slope);
    ct_map_set(r->arena, &r->slopes, ct_key(step), slope);
    return true;
}

bool ct_flow_reverse_slope(Reverse *r, const CtFlowStep *step) {
    CtFlowVar *slope = ct_map_get(&r->slopes, ct_key(step)), *y = step->results.items[0];
    if (slope == NULL) return false;
    CtFlowArg x = step->args.items[step->args.count - 1];
    CtFlowArg g = y == NULL ? ct_flow_none() : ct_flow_reverse_take(r, flow_of(y), NULL);
    if (ct_flow_is_none(g)) return true;
    CtFlowArg p = ct_flow_reverse_need(r, flow_of(slope));
    ct_flow_reverse_give(r, step->range, x, scaled(&r->b, step->range, p, g, x.type), false);
    return true;
}

/* ---- forward ---- */

CtVariant *ct_flow_rule_own_variant(CtTangents *t, const CtVariant *v) {
    const CtFlowRule *rule = v->origin->rule;
    CtTangent *known = CT_NEW_ARRAY(t->arena, CtTangent, rule->f->params.count + 1);
    bool varies = false;
    for (uint32_t i = 0; i < rule->f->params.count; i++) {
        known[i] = i < rule->own ? v->params[i] : TANGENT_ZERO;
        varies |= ct_flow_tangent_counts(known[i]);
    }
    return varies ? ct_flow_tangents_variant(t, rule->f, known) : NULL;
}

bool ct_flow_rule_point_varies(const CtVariant *v) {
    bool varies = false;
    for (uint32_t i = point_of(v->origin->rule); i < v->origin->params.count; i++)
        varies |= ct_flow_tangent_counts(v->params[i]);
    return varies;
}

typedef struct Forwarded {
    Forward *w;
    const CtFlowRule *rule;
    CtFlowArgs params; /* of the origin, in the new function: primals */
    CtFlowArgs ys;
    CtFlowArg *dys; /* tangent of each result; none: zero */
} Forwarded;

static CtFlowArg tangent_of(const Forwarded *f, uint32_t param) {
    return ct_flow_forward_tangent(f->w, flow_of(f->w->variant->origin->params.items[param]));
}

/* Calls the derivative of f by its captured variables. */
static void go_by_own(Forwarded *f, CtVariant *own) {
    CtFlowBuilder *l = &f->w->build;
    CtFlowArgs args = with_point(l, &f->params, f->rule, 0, f->rule->own);
    for (uint32_t i = 0; i < own->origin->params.count; i++) {
        if (!ct_flow_tangent_is_kept(own->params[i])) continue;
        const CtFlowType *tangent = ct_flow_tangent_type(l->flow, own->origin->params.items[i]->type);
        ct_push(l->arena, &args, i < f->rule->own ? tangent_of(f, i) : ct_flow_zero(l, tangent));
    }
    uint32_t next = own->origin->results.count;
    f->ys = ct_flow_call(l, f->w->variant->origin->range, ct_flow_forward_function(f->w, own), &args);
    for (uint32_t i = 0; i < own->origin->results.count; i++)
        if (ct_flow_tangent_is_kept(own->results[i])) f->dys[i] = f->ys.items[next++];
}

/* The tangent of the point, converted to the primal's type. A real that does not vary stays a structural zero, by which
 * a derivative that is infinite or NaN contributes nothing. */
static CtFlowArgs point_tangent(const Forwarded *f) {
    CtFlowBuilder *l = &f->w->build;
    CtFlowArgs dx = {0};
    for (uint32_t i = point_of(f->rule); i < f->params.count; i++) {
        CtFlowArg x = f->params.items[i];
        bool varies = ct_flow_is_active(l->flow, x.type);
        ct_push(l->arena, &dx, varies ? ct_flow_project_raw(l, CT_NO_RANGE, x, tangent_of(f, i)) : x);
    }
    return dx;
}

static void add_tangent(Forwarded *f, uint32_t result, CtFlowArg dy) {
    CtFlowArg *sum = &f->dys[result];
    *sum = ct_flow_is_none(*sum) ? dy : ct_flow_add(&f->w->build, f->w->variant->origin->range, *sum, dy);
}

static void go_by_slope(Forwarded *f) {
    CtFlowBuilder *l = &f->w->build;
    CtSourceRange range = f->w->variant->origin->range;
    CtFlowArgs args = by_slope_args(l, &f->params, f->rule);
    f->ys = ct_flow_call(l, range, f->rule->by_slope, &args);
    CtFlowArg dx = tangent_of(f, point_of(f->rule));
    add_tangent(f, 0, scaled(l, range, f->ys.items[1], dx, f->ys.items[0].type));
}

static void go_by_tangent(Forwarded *f) {
    CtFlowBuilder *l = &f->w->build;
    CtSourceRange range = f->w->variant->origin->range;
    uint32_t results = f->w->variant->origin->results.count;
    CtFlowArgs args = with_point(l, &f->params, f->rule, f->rule->own + f->rule->pair, f->rule->tangent);
    CtFlowArgs dx = point_tangent(f);
    ct_flow_args_add(l, &args, &dx);
    f->ys = ct_flow_call(l, range, f->rule->by_tangent, &args);
    for (uint32_t i = 0; i < results; i++)
        ct_flow_check_shapes(l, range, f->ys.items[i], f->ys.items[results + i],
                             "the tangent that a rule gives does not have the shape of its value");
    for (uint32_t i = 0; i < results; i++)
        if (ct_flow_is_active(l->flow, f->ys.items[i].type)) {
            const CtFlowType *type = ct_flow_tangent_type(l->flow, f->ys.items[i].type);
            add_tangent(f, i, ct_flow_embed(l, range, f->ys.items[results + i], type));
        }
}

void ct_flow_forward_rule(Forward *w) {
    const CtVariant *v = w->variant;
    CtFlowBuilder *l = &w->build;
    Forwarded f = {.w = w, .rule = v->origin->rule};
    CtFlowArgs values = {0};
    uint32_t results = v->origin->results.count;
    f.dys = CT_NEW_ARRAY(l->arena, CtFlowArg, results + 1);
    for (uint32_t i = 0; i < v->origin->params.count; i++)
        ct_push(l->arena, &f.params, ct_flow_forward_primal(w, flow_of(v->origin->params.items[i])));
    CtVariant *own = ct_flow_rule_own_variant(w->tangents, v);
    if (own != NULL) go_by_own(&f, own);
    if (ct_flow_rule_point_varies(v)) {
        f.rule->by_slope != NULL ? go_by_slope(&f) : go_by_tangent(&f);
    } else if (own == NULL) {
        CtFlowArgs args = with_point(l, &f.params, f.rule, 0, f.rule->own);
        f.ys = ct_flow_call(l, v->origin->range, f.rule->f, &args);
    }
    for (uint32_t i = 0; i < results; i++) ct_push(l->arena, &values, f.ys.items[i]);
    for (uint32_t i = 0; i < results; i++)
        if (ct_flow_tangent_is_kept(v->results[i]))
            ct_push(l->arena, &values,
                    ct_flow_is_none(f.dys[i]) ? ct_flow_zero(l, ct_flow_tangent_type(l->flow, values.items[i].type))
                                              : f.dys[i]);
    ct_flow_leave(l, EXIT_RETURN, v->origin->range, &values, NULL);
}
