/* Calls of functions with custom derivatives: withVjp f rule x and withJvp f rule x (beyond the paper).
 *
 * Function and rule are both traced on variables for the reals of the point, and closed. A call is a loop of one step
 * (CtBulkRule), which computes the function as long as nothing is differentiated by its point. Otherwise it computes
 * the rule: the value, and the pullback or the tangent. The result consists of ordinary terms, so an outer derivative
 * differentiates the rule's code. */
#include "ad/bulk/trace/internal.h"

typedef struct Terms {
    CT_VEC(CtBulk *) items;
} Terms;

typedef struct Call {
    Tracer *tr;
    CtSourceRange range;
    bool by_tangent, is_slope;
    CtFresh point, linear; /* variables for the reals of the point; for the argument in which the rule is linear */
    CtAbstract *x;
    Scope function, rule;
    CtAbstract *value; /* of the function */
    Terms results;     /* of the rule: for each term of the value, then the linear results */
} Call;

/* ---- the rule's results ---- */

static void misfit(Call *c, const char *text) {
    ct_bulk_trace_check(c->tr, ct_bulk_bool(c->tr->builder, true, ct_bulk_trace_scalar()), CT_E0504, text, c->range);
}

static CtBulk *any_value(Call *c, const CtBulk *like) {
    CtBulkBuilder *r = c->tr->builder;
    switch (like->element) {
    case ELEMENT_REAL: return ct_bulk_real(r, -0.0, like->shape);
    case ELEMENT_INT: return ct_bulk_int(r, 0, like->shape);
    case ELEMENT_BOOL: break;
    }
    return ct_bulk_bool(r, false, like->shape);
}

/* The parts of `s` at the places of terms in `like`; false when they differ in structure. */
static bool take_terms(Call *c, const CtAbstract *like, CtAbstract *s, Terms *out) {
    if (like->kind == ABSTRACT_TERM) {
        CtBulk *t = ct_bulk_trace_term(c->tr, s);
        bool empty = t == NULL && ct_bulk_shape_count(like->as.term->shape) == 0 && ct_bulk_trace_length_at(s, 0) == 0;
        if (empty) t = any_value(c, like->as.term);
        if (t == NULL || t->element != like->as.term->element) return false;
        ct_push(c->tr->arena, &out->items, t);
        return ct_bulk_shape_equal(t->shape, like->as.term->shape);
    }
    CtBulk *known = ct_bulk_trace_term(c->tr, like), *given = known != NULL ? ct_bulk_trace_term(c->tr, s) : NULL;
    if (given != NULL && !ct_bulk_same(known, given))
        ct_bulk_trace_refuse(c->tr, c->range, "a rule that gives other Ints than its function");
    if (known != NULL) return given != NULL;
    if (like->kind == ABSTRACT_ROWS)
        return s->kind == ABSTRACT_ROWS && s->as.rows.size == like->as.rows.size &&
               take_terms(c, like->as.rows.element, s->as.rows.element, out);
    if (like->kind == ABSTRACT_LIST && like->as.of.count == 0) return ct_bulk_trace_length_at(s, 0) == 0;
    if (like->kind != s->kind) return false;
    if (like->kind != ABSTRACT_TUPLE && like->kind != ABSTRACT_DATA && like->kind != ABSTRACT_LIST) return true;
    if (like->as.of.con != s->as.of.con || like->as.of.count != s->as.of.count) return false;
    for (uint32_t i = 0; i < like->as.of.count; i++)
        if (!take_terms(c, like->as.of.parts[i], s->as.of.parts[i], out)) return false;
    return true;
}

/* The terms of `s` at the places of terms in `like`: all or, with `reals`, those of reals. A different shape is an
 * error. If the value never exists, any terms will do. */
static bool add_results(Call *c, const CtAbstract *like, CtAbstract *s, bool reals, const char *mismatch) {
    CtLeaves leaves = {0};
    Terms found = {{0}};
    ct_bulk_abstract_leaves(c->tr->arena, like, &leaves);
    bool fits = s->kind != ABSTRACT_FAILURE && take_terms(c, like, s, &found);
    if (!fits && s->kind != ABSTRACT_FAILURE) misfit(c, mismatch);
    for (uint32_t k = 0; k < leaves.terms.count; k++) {
        CtBulk *leaf = leaves.terms.items[k];
        if (reals && leaf->element != ELEMENT_REAL) continue;
        ct_push(c->tr->arena, &c->results.items, fits ? found.items.items[k] : any_value(c, leaf));
    }
    return fits;
}

typedef struct Cotangent {
    Call *c;
    uint32_t next;
} Cotangent;

/* A variable for a real; other leaves are those of the rule's value. */
static CtBulk *cotangent_leaf(Tracer *tr, void *data, CtBulk *t) {
    Cotangent *of = data;
    CtBulk *value = of->c->results.items.items[of->next++];
    if (t->element != ELEMENT_REAL) return value;
    CtAbstract *dy = ct_bulk_trace_fresh(tr, ct_bulk_abstract_term(tr->builder, t), &of->c->linear);
    return dy->as.term;
}

static CtAbstract *part_of(CtAbstract *pair, uint32_t k) {
    return pair->kind == ABSTRACT_TUPLE ? pair->as.of.parts[k] : pair;
}

static CtAbstract *run_function(Call *c, CtAbstract *f) { return ct_bulk_trace_apply(c->tr, f, &c->x, 1, c->range); }

/* The results as parts of one structure. */
static CtAbstract *together(Call *c) {
    CtAbstract **parts = CT_NEW_ARRAY(c->tr->arena, CtAbstract *, c->results.items.count + 1);
    for (uint32_t k = 0; k < c->results.items.count; k++)
        parts[k] = ct_bulk_abstract_term(c->tr->builder, c->results.items.items[k]);
    return ct_bulk_abstract_parts(c->tr->builder, ABSTRACT_TUPLE, parts, c->results.items.count, NULL);
}

static CtAbstract *run_rule(Call *c, CtAbstract *rule) {
    Tracer *tr = c->tr;
    CtAbstract *args[2] = {c->x, c->by_tangent ? ct_bulk_trace_fresh(tr, c->x, &c->linear) : NULL};
    CtAbstract *made = ct_bulk_trace_apply(tr, rule, args, c->by_tangent ? 2 : 1, c->range), *linear = part_of(made, 1);
    bool fits = add_results(c, c->value, part_of(made, 0), false,
                            "the value that a rule gives does not have the shape of its function's");
    if (c->by_tangent) {
        add_results(c, c->value, linear, true, "the tangent that a rule gives does not have the shape of its value");
        return together(c);
    }
    Cotangent of = {.c = c};
    CtAbstract *dy = ct_bulk_trace_leaves(tr, c->value, cotangent_leaf, &of);
    if (fits && !ct_bulk_trace_refused(tr)) linear = ct_bulk_trace_apply(tr, linear, &dy, 1, c->range);
    if (!fits) linear = ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE);
    add_results(c, c->x, linear, true, "the cotangent that a rule gives does not have the shape of the point");
    return together(c);
}

/* ---- closing ---- */

/* The linear results are only needed where the call is. */
static void guard_results(Call *c, uint32_t values) {
    for (uint32_t k = values; k < c->results.items.count && c->tr->live != NULL; k++) {
        CtBulk **t = &c->results.items.items[k];
        *t = ct_bulk_cond(c->tr->builder, c->tr->live, *t, any_value(c, *t));
    }
}

/* The number of bindings that come before a check. */
static uint32_t place_of(const CtBulkTrace *trace, const CtBulk *check) {
    uint32_t place = trace->vars.count;
    while (place > 0 && trace->vars.items[place - 1]->id >= check->as.check.at) place--;
    return place;
}

/* The bindings of function or rule with the checks among them, so that each fails only where it is run, and the first
 * of two failures is reported. */
static CtBulkTrace with_checks(Call *c, const CtBulkTrace *trace) {
    CtArena *arena = c->tr->arena;
    CtBulkTrace made = {0};
    uint32_t count = trace->checks.count;
    uint32_t *places = CT_NEW_ARRAY(arena, uint32_t, count + 1);
    for (uint32_t k = 0; k < count; k++) places[k] = place_of(trace, trace->checks.items[k]);
    for (uint32_t i = 0; i <= trace->vars.count; i++) {
        for (uint32_t k = 0; k < count; k++) {
            if (places[k] != i) continue;
            CtBulk *check = trace->checks.items[k];
            ct_push(arena, &made.vars, ct_bulk_new_var(c->tr->builder, "t", check->element, check->shape));
            ct_push(arena, &made.terms, check);
        }
        if (i == trace->vars.count) break;
        ct_push(arena, &made.vars, trace->vars.items[i]);
        ct_push(arena, &made.terms, trace->terms.items[i]);
    }
    return made;
}

/* Traces one of the two in a scope of its own, and passes its checks on. */
static CtAbstract *run_in(Call *c, Scope *scope, CtAbstract *f, CtAbstract *run(Call *c, CtAbstract *f)) {
    Tracer *tr = c->tr;
    CtTraceMark before = ct_bulk_trace_mark(tr);
    tr->scope = scope;
    CtAbstract *made = run(c, f);
    ct_bulk_trace_keep_failures(tr, scope, made);
    tr->scope = scope->outer;
    uint32_t level = 0;
    for (Scope *s = tr->scope; s != NULL; s = s->outer, level++) {
        for (uint32_t i = before.checks.items[level]; i < s->bindings.checks.count; i++)
            ct_push(tr->arena, &scope->bindings.checks, s->bindings.checks.items[i]);
        s->bindings.checks.count = before.checks.items[level];
    }
    return made;
}

typedef struct Free {
    Tracer *tr;
    CtMap bound; /* and those found already */
    CT_VEC(CtBulkVar *) vars;
} Free;

static void bind(Free *f, CtBulkVar *var) { ct_map_set(f->tr->arena, &f->bound, ct_key(var), var); }

static CtBulk *find_free(void *data, CtBulk *t) {
    Free *f = data;
    if (t->kind == BULK_LET) bind(f, t->as.let.var);
    if (t->kind == BULK_BUILD) bind(f, t->as.build.var);
    if (t->kind == BULK_GATHER || t->kind == BULK_SCATTER)
        for (uint32_t i = 0; i < t->as.move.f.var_count; i++) bind(f, t->as.move.f.vars[i]);
    if (t->kind != BULK_VAR) return ct_bulk_map(f->tr->builder, t, find_free, f);
    if (ct_map_has(&f->bound, ct_key(t->as.var))) return t;
    bind(f, t->as.var);
    ct_push(f->tr->arena, &f->vars, t->as.var);
    return t;
}

static void find_free_of(Free *f, const CtBulkLoop *loop) {
    for (uint32_t i = 0; i < loop->vars.count; i++) bind(f, loop->vars.items[i]);
    for (uint32_t i = 0; i < loop->terms.count; i++) find_free(f, loop->terms.items[i]);
    for (uint32_t i = 0; i < ct_bulk_loop_results(loop); i++) find_free(f, loop->results[i]);
}

/* A body of one step; values from outside become parameters when they are known. */
static CtBulkLoop *body(Call *c, const Scope *scope, CtBulk *const *results, uint32_t count) {
    CtBulkLoop *made = ct_bulk_new_loop(c->tr->builder, 1, (CtBulkLoopParams){count, 0, 0}, 0);
    for (uint32_t k = 0; k < count; k++) made->results[k] = results[k];
    CtBulkTrace bindings = with_checks(c, &scope->bindings);
    ct_bulk_trace_add_bindings(c->tr, &bindings, made);
    return made;
}

static void add_params(Call *c, CtBulkLoop *loop, CtBulkVar *const *fixed, uint32_t count) {
    CtBulkBuilder *r = c->tr->builder;
    loop->count.fixed = count;
    loop->params = CT_NEW_ARRAY(c->tr->arena, CtBulkVar *, ct_bulk_loop_params(loop) + 1);
    for (uint32_t k = 0; k < loop->count.states; k++)
        loop->params[k] = ct_bulk_new_var(r, "y", loop->results[k]->element, loop->results[k]->shape);
    for (uint32_t k = 0; k < count; k++) loop->params[loop->count.states + k] = fixed[k];
}

typedef struct Results {
    CtBulkLoop *loop;
    CtBulk **args;
    uint32_t next;
} Results;

static CtBulk *result_leaf(Tracer *tr, void *data, CtBulk *t) {
    Results *of = data;
    (void)t;
    return ct_bulk_trace_name(tr, "y", ct_bulk_loop(tr->builder, of->loop, of->args, of->next++));
}

/* The call, as a loop whose parameters are the variables that it uses. */
static CtAbstract *closed(Call *c) {
    Tracer *tr = c->tr;
    CtArena *arena = tr->arena;
    CtLeaves leaves = {0};
    ct_bulk_abstract_leaves(arena, c->value, &leaves);
    guard_results(c, leaves.terms.count);
    CtBulkLoop *call = body(c, &c->function, leaves.terms.items, leaves.terms.count);
    CtBulkLoop *of_rule = body(c, &c->rule, c->results.items.items, c->results.items.count);
    Free f = {.tr = tr};
    CT_VEC(CtBulkVar *) fixed = {0};
    for (uint32_t k = 0; k < c->linear.vars.count; k++) bind(&f, c->linear.vars.items[k]);
    for (uint32_t k = 0; k < c->point.vars.count; k++) {
        bind(&f, c->point.vars.items[k]);
        ct_push(arena, &fixed, c->point.vars.items[k]);
    }
    find_free_of(&f, call);
    find_free_of(&f, of_rule);
    for (uint32_t k = 0; k < f.vars.count; k++) ct_push(arena, &fixed, f.vars.items[k]);
    add_params(c, call, fixed.items, fixed.count);
    CtBulk **args = CT_NEW_ARRAY(arena, CtBulk *, ct_bulk_loop_params(call) + 1);
    for (uint32_t k = 0; k < leaves.terms.count; k++) args[k] = any_value(c, leaves.terms.items[k]);
    for (uint32_t k = 0; k < fixed.count; k++) args[leaves.terms.count + k] = ct_bulk_var(tr->builder, fixed.items[k]);
    for (uint32_t k = 0; k < c->linear.vars.count; k++) ct_push(arena, &fixed, c->linear.vars.items[k]);
    add_params(c, of_rule, fixed.items, fixed.count);
    CtBulkRule *rule = CT_NEW(arena, CtBulkRule);
    *rule = (CtBulkRule){
        .loop = of_rule, .by_tangent = c->by_tangent, .reals = c->point.vars.count, .is_slope = c->is_slope};
    if (c->results.items.count > 0) call->rule = rule; /* otherwise no part of the value is real */
    Results results = {call, args, 0};
    return ct_bulk_trace_leaves(tr, c->value, result_leaf, &results);
}

static bool has_reals(Tracer *tr, const CtAbstract *s) {
    CtLeaves leaves = {0};
    ct_bulk_abstract_leaves(tr->arena, s, &leaves);
    return ct_bulk_trace_leaves_real_count(&leaves) > 0;
}

CtAbstract *ct_bulk_trace_rule(Tracer *tr, CtCore *core, CtAbstract *const *args) {
    for (uint32_t i = 0; i < 3; i++)
        if (args[i]->kind == ABSTRACT_FAILURE) return args[i];
    if (ct_bulk_trace_has_growing(args[2])) return ct_bulk_trace_refuse_growing(tr, core->range);
    if (!has_reals(tr, args[2])) return ct_bulk_trace_apply(tr, args[0], &args[2], 1, core->range);
    uint32_t level = tr->scope->level + 1;
    Call c = {.tr = tr, .range = core->range, .by_tangent = core->as.call.of.deriv == DERIV_WITH_JVP};
    c.is_slope = core->type->kind == TYPE_DOUBLE && core->as.call.args[2]->type->kind == TYPE_DOUBLE;
    c.function = c.rule = (Scope){.outer = tr->scope, .level = level};
    c.point = (CtFresh){.name = "x", .level = level};
    c.linear = (CtFresh){.name = c.by_tangent ? "dx" : "dy", .level = level};
    c.x = ct_bulk_trace_fresh(tr, args[2], &c.point);
    c.value = run_in(&c, &c.function, args[0], run_function);
    if (ct_bulk_trace_has_growing(c.value)) ct_bulk_trace_refuse_growing(tr, core->range);
    bool has_value = c.value->kind != ABSTRACT_FAILURE && !ct_bulk_trace_refused(tr),
         varies = has_value && has_reals(tr, c.value);
    if (varies) run_in(&c, &c.rule, args[1], run_rule);
    if (ct_bulk_trace_refused(tr)) return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE);
    ct_bulk_trace_bind_fresh(tr, &c.point);
    if (has_value) return closed(&c);
    ct_bulk_trace_lift_checks(tr, &c.function.bindings);
    return c.value;
}
