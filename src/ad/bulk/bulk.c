/* bulk: programs over arrays become whole-array operations, and are differentiated as such. BULK 2025, §§5–7.
 *
 * A function is differentiated for the shapes of its arguments, when the evaluator first calls it with these shapes
 * (ct_bulk_derive); the evaluator caches the result. trace/ finds the term that the function computes, rewrite/ turns
 * elementwise code into bulk operations, diff/ differentiates the term and runs the reverse pass symbolically, and
 * lower/ and this file convert the result to Core. The gradient program contains no differentiation and makes no trace
 * at run time: a gradient costs a constant factor over the program, in whole-array operations.
 *
 * What the tracer refuses is differentiated by dual arrays at run time (run_time.c). known_shapes.c makes derivatives
 * before the program runs, for native code. */
#include "ad/bulk/diff/delta.h"
#include "ad/bulk/lower/lower.h"
#include "ad/bulk/rewrite/rewrite.h"
#include "ad/bulk/stages.h"
#include "ad/bulk/trace/trace.h"
#include "ad/internal.h"

/* ---- abstract values for arguments ---- */

typedef struct Inputs {
    CtBulkBuilder *builder;
    CT_VEC(CtBulkVar *) vars;
    uint32_t first;   /* index of the point; captured values come before it */
    const char *name; /* of the value that is being analysed */
    const char *why;  /* which part is no regular array of numbers, or NULL */
} Inputs;

static CtAbstract *input(Inputs *in, CtElement element, CtShape shape) {
    CtBulkVar *var = ct_bulk_new_var(in->builder, in->name, element, shape);
    ct_push(in->builder->arena, &in->vars, var);
    return ct_bulk_abstract_term(in->builder, ct_bulk_var(in->builder, var));
}

/* Renames inputs that have the same name in the program. */
static void name_apart(Inputs *in) {
    CtMap names = {0};
    for (uint32_t i = 0; i < in->vars.count; i++)
        in->vars.items[i]->name = ct_bulk_fresh_name(in->builder->arena, &names, in->vars.items[i]->name, false);
}

static CtAbstract *odd(Inputs *in, const char *what) {
    in->why = ct_format(in->builder->arena, "%s, in `%s`", what, in->name);
    return NULL;
}

/* Records that a type, or a value, has no abstract value. */
static CtAbstract *no_abstract_value(Inputs *in, const CtType *type, const CtForm *form, CtShape around) {
    if (form->ragged && type->kind != TYPE_ARRAY) return odd(in, "a list or tree that is more than 1000 deep");
    if (form->ragged) return odd(in, "an irregular array, whose elements differ in constructor or length");
    if (type->kind == TYPE_FLOAT) return odd(in, "single precision, a Float");
    if (type->kind == TYPE_CHAR) return odd(in, "an array of characters");
    if (type->kind == TYPE_FUN)
        return odd(in, around.rank > 0 ? "an array of functions" : "a function that is not known");
    return odd(in, "an array of values with several constructors, such as lists");
}

static CtAbstract *abstract_value(Inputs *in, CtType *type, const CtForm *form, CtShape around);

/* A function value, which may only have captured values that are known: closures are not opened at run time. */
static CtAbstract *function(Inputs *in, const CtForm *form) {
    CtArena *arena = in->builder->arena;
    const CtVar **vars = CT_NEW_ARRAY(arena, const CtVar *, form->count);
    CtAbstract **stands = CT_NEW_ARRAY(arena, CtAbstract *, form->count);
    uint32_t inputs = in->vars.count;
    for (uint32_t i = 0; i < form->count; i++) {
        vars[i] = form->lam->captures[i];
        stands[i] = abstract_value(in, form->lam->captures[i]->type, form->parts[i], (CtShape){0, NULL});
        if (!stands[i]) return NULL;
    }
    if (in->vars.count > inputs) return odd(in, "a function that captured real numbers");
    return ct_bulk_abstract_closure(in->builder, form->lam, vars, stands, form->count);
}

/* An abstract value for a value of a type inside arrays of the shape `around`. NULL if it is not a regular array of
 * numbers; in->why says why. */
static CtAbstract *abstract_value(Inputs *in, CtType *type, const CtForm *form, CtShape around) {
    CtArena *arena = in->builder->arena;
    CtProgram *p = in->builder->p;
    if (form->ragged) return no_abstract_value(in, type, form, around);
    if (type->kind == TYPE_DOUBLE) return input(in, ELEMENT_REAL, around);
    if (around.rank > 0 && type->kind == TYPE_INT) return input(in, ELEMENT_INT, around);
    if (around.rank > 0 && type == p->bool_type) return input(in, ELEMENT_BOOL, around);
    if (around.rank == 0 && (type->kind == TYPE_INT || type->kind == TYPE_CHAR))
        return ct_bulk_abstract_known(in->builder, form->known);
    if (type->kind == TYPE_TUPLE || (type->kind == TYPE_DATA && (around.rank == 0 || type->data->con_count == 1))) {
        CtCon *con = type->kind == TYPE_DATA ? &type->data->cons[form->known] : NULL;
        uint32_t count = con ? con->count : type->count;
        CtAbstract **parts = CT_NEW_ARRAY(arena, CtAbstract *, count);
        for (uint32_t i = 0; i < count; i++) {
            parts[i] = abstract_value(in, con ? con->fields[i] : type->parts[i], form->parts[i], around);
            if (!parts[i]) return NULL;
        }
        return ct_bulk_abstract_parts(in->builder, con ? ABSTRACT_DATA : ABSTRACT_TUPLE, parts, count, con);
    }
    if (type->kind == TYPE_FUN && around.rank == 0 && form->lam) return function(in, form);
    if (type->kind != TYPE_ARRAY) return no_abstract_value(in, type, form, around);
    int64_t *sizes = CT_NEW_ARRAY(arena, int64_t, around.rank + 1);
    for (uint32_t i = 0; i < around.rank; i++) sizes[i] = around.sizes[i];
    sizes[around.rank] = form->known;
    if (form->known == 0 && !form->parts) return ct_bulk_abstract_parts(in->builder, ABSTRACT_LIST, NULL, 0, NULL);
    CtAbstract *element = abstract_value(in, type->parts[0], form->parts[0], (CtShape){around.rank + 1, sizes});
    if (!element || element->kind == ABSTRACT_TERM) return element;
    return ct_bulk_abstract_rows(in->builder, form->known, element);
}

/* ---- the derivative ---- */

typedef struct Derivative {
    CtAd *ad;
    CtBulkBuilder builder;
    CtSourceRange range;
    CtMap vars;       /* CtBulkVar * -> CtVar * */
    CtBulkLook *look; /* NULL: no record is wanted */
} Derivative;

static CtCore *lower(Derivative *d, CtBulk *t) { return ct_bulk_lower(&d->builder, t, &d->vars); }

/* A term of the trace with the bindings it needs, as Core. */
static CtCore *alone(Derivative *d, const CtBulkTrace *trace, CtBulk *t) {
    return lower(d, ct_bulk_simplify(&d->builder,
                                     ct_bulk_rewrite(&d->builder, ct_bulk_trace_closed(&d->builder, trace, t, false))));
}

static CtCore *bind_flat(Derivative *d, CtSeq *seq, CtBulkVar *var, CtCore *value) {
    CtVar *bound = ct_core_var_new(d->builder.p, var->name, value->type);
    ct_ad_seq_let(seq, d->range, bound, value);
    ct_map_set(d->builder.arena, &d->vars, ct_key(var), bound);
    return ct_core_var(d->builder.p, d->range, bound);
}

/* A part of an array that holds all leaves one after the other; the array itself if there is only one. */
static CtCore *slice(Derivative *d, CtCore *whole, bool is_only, CtShape shape, int64_t start) {
    CtProgram *p = d->builder.p;
    if (is_only) return whole;
    CtCore *args[3] = {ct_core_int(p, d->range, start), ct_core_int(p, d->range, ct_bulk_shape_count(shape)), whole};
    return ct_core_array(p, d->range, shape.rank == 0 ? ARRAY_INDEX : ARRAY_SLICE,
                         shape.rank == 0 ? (CtCore *[]){whole, args[0]} : args, shape.rank == 0 ? 2 : 3);
}

/* The result: its reals from the flat array, its other parts separately. */
static CtCore *result(Derivative *d, const CtBulkTrace *trace, const CtLeaves *leaves, CtType *type, CtCore *flat) {
    CtCore **values = CT_NEW_ARRAY(d->builder.arena, CtCore *, leaves->terms.count);
    bool is_only = ct_bulk_trace_leaves_real_count(leaves) == 1;
    int64_t start = 0;
    for (uint32_t i = 0; i < leaves->terms.count; i++) {
        CtBulk *t = leaves->terms.items[i];
        if (t->element == ELEMENT_REAL) {
            values[i] = slice(d, flat, is_only, t->shape, start);
            start += ct_bulk_shape_count(t->shape);
        } else {
            values[i] = alone(d, trace, t);
        }
    }
    return ct_bulk_trace_put_together(&d->builder, d->range, trace->result, type, NULL, values);
}

/* The same structure with variables as leaves. */
static CtAbstract *variables(Derivative *d, const CtAbstract *s, const char *name, CtLeaves *out) {
    if (s->kind == ABSTRACT_TERM) {
        CtBulkVar *var = ct_bulk_new_var(&d->builder, name, s->as.term->element, s->as.term->shape);
        CtBulk *term = ct_bulk_var(&d->builder, var);
        ct_push(d->builder.arena, &out->terms, term);
        return ct_bulk_abstract_term(&d->builder, term);
    }
    if (s->kind == ABSTRACT_ROWS)
        return ct_bulk_abstract_rows(&d->builder, s->as.rows.size, variables(d, s->as.rows.element, name, out));
    if (s->kind != ABSTRACT_TUPLE && s->kind != ABSTRACT_DATA && s->kind != ABSTRACT_LIST)
        return (CtAbstract *)(uintptr_t)s;
    CtAbstract *made = ct_bulk_abstract_parts(&d->builder, s->kind, s->as.of.parts, s->as.of.count, s->as.of.con);
    for (uint32_t i = 0; i < s->as.of.count; i++) made->as.of.parts[i] = variables(d, s->as.of.parts[i], name, out);
    return made;
}

static CtCore *array2(Derivative *d, CtArrayOp op, CtCore *a, CtCore *b) {
    CtCore *args[2] = {a, b};
    return ct_core_array(d->builder.p, d->range, op, args, b ? 2 : 1);
}

/* The reals of a cotangent as one flat array, or as a number if the result is a number. */
static CtCore *flat_reals(Derivative *d, CtSeq *seq, const CtAbstract *like, CtCore *dy) {
    CtProgram *p = d->builder.p;
    CtLeaves leaves = {0};
    CtAbstract *s = variables(d, like, "dy", &leaves);
    ct_bulk_trace_take_apart(&d->builder, d->range, seq, s, dy, true, &d->vars);
    CtCore *whole = NULL;
    for (uint32_t i = 0; i < leaves.terms.count; i++) {
        CtBulk *t = leaves.terms.items[i];
        if (t->element != ELEMENT_REAL) continue;
        CtCore *x = ct_core_var(p, d->range, ct_map_get(&d->vars, ct_key(t->as.var)));
        if (ct_bulk_trace_leaves_real_count(&leaves) == 1) return x;
        if (t->shape.rank == 0) x = ct_core_array_lit(p, d->range, x->type, &x, 1);
        whole = whole ? array2(d, ARRAY_APPEND, whole, x) : x;
    }
    return whole ? whole : ct_core_array_lit(p, d->range, p->double_type, NULL, 0);
}

/* x + 0, which turns a structural zero into 0. */
static CtCore *normal(Derivative *d, CtCore *x) {
    if (x->type->kind != TYPE_ARRAY) return ct_ad_normal(d->ad, d->range, x);
    CtVar *e = ct_core_var_new(d->builder.p, "x", x->type->parts[0]);
    CtCore *body = ct_ad_normal(d->ad, d->range, ct_core_var(d->builder.p, d->range, e));
    return array2(d, ARRAY_MAP, ct_core_lam(d->builder.p, d->range, NULL, &e, 1, body), x);
}

/* ---- the three derivatives ---- */

/* A function applied to abstract values for its captured values and its point, in normal form; and its parameters in
 * Core. */
typedef struct Differentiated {
    CtLam *lam;
    CtBulkTrace trace;
    CtLeaves leaves; /* of the result */
    CtBulk *whole;   /* its reals in one array, in normal form */
    Inputs in;
    CtAbstract *point;
    CtVar **params; /* captured values, the point, and further parameters of the derivative */
    uint32_t captures, count;
    CtSeq seq; /* bindings before the value */
} Differentiated;

static CtCore *param(Derivative *d, const Differentiated *f, uint32_t k) {
    return ct_core_var(d->builder.p, d->range, f->params[f->captures + k]);
}

/* Stage 1. */
static CtBulk *normal_form(Derivative *d, CtBulk *t, const Inputs *in) {
    t = ct_bulk_simplify(&d->builder, t);
    ct_bulk_show_term(d->look, &d->builder, t, in->vars.items, in->vars.count);
    CtBulk *normal = ct_bulk_show_rewrite(d->look, &d->builder, t);
    CtBulk *simplified = ct_bulk_simplify(&d->builder, normal);
    ct_bulk_show_normal(d->look, &d->builder, normal, simplified);
    return simplified;
}

/* Traces the function. False when it is refused. */
static bool trace(Derivative *d, Differentiated *f, const CtForm *const *forms) {
    CtProgram *p = d->builder.p;
    CtArena *arena = d->builder.arena;
    CtLam *lam = f->lam;
    uint32_t count = f->captures;
    CtAbstract **stands = CT_NEW_ARRAY(arena, CtAbstract *, count + 1);
    const CtVar **captures = CT_NEW_ARRAY(arena, const CtVar *, count);
    CtBulkRefusal refusal = {d->range, NULL};
    f->in.builder = &d->builder;
    for (uint32_t i = 0; i < count + 1; i++) {
        CtVar *var = i < count ? lam->captures[i] : lam->params[0];
        if (i < count) captures[i] = var;
        if (i == count) f->in.first = f->in.vars.count;
        f->in.name = var->name->text;
        stands[i] = abstract_value(&f->in, var->type, forms[i], (CtShape){0, NULL});
        if (!stands[i]) refusal.what = f->in.why;
    }
    CtAbstract *function = refusal.what ? NULL : ct_bulk_abstract_closure(&d->builder, lam, captures, stands, count);
    f->point = stands[count];
    if (refusal.what || !ct_bulk_trace(&d->builder, function, &f->point, 1, &f->trace, &refusal)) {
        ct_bulk_show_refusal(d->look, &d->builder, refusal.range.source ? refusal.range : d->range, refusal.what);
        return false;
    }
    name_apart(&f->in);
    ct_bulk_abstract_leaves(arena, f->trace.result, &f->leaves);
    CtBulk *whole = ct_bulk_trace_leaves_together(&d->builder, &f->leaves, d->range);
    f->whole = normal_form(d, ct_bulk_trace_closed(&d->builder, &f->trace, whole, true), &f->in);
    f->seq = ct_ad_seq(p, NULL);
    for (uint32_t i = 0; i < count + 1; i++)
        ct_bulk_trace_take_apart(&d->builder, d->range, &f->seq, stands[i], ct_core_var(p, d->range, f->params[i]),
                                 false, &d->vars);
    return true;
}

/* Binds the terms that do not depend on the variables in `late`, or those that do. */
static void bind_terms(Derivative *d, CtSeq *seq, const CtBulkGradient *g, const CtMap *late, bool want_late) {
    for (uint32_t i = 0; i < g->vars.count; i++)
        if (ct_map_has(late, ct_key(g->vars.items[i])) == want_late)
            ct_bulk_lower_binding(&d->builder, seq, g->vars.items[i], g->terms.items[i], &d->vars);
}

static CtCore *value_of(Derivative *d, Differentiated *f, CtBulk *value) {
    CtCore *flat = ct_ad_seq_name(&f->seq, "y", lower(d, value));
    return ct_ad_seq_name(&f->seq, "y",
                          result(d, &f->trace, &f->leaves, ct_core_type_fun_result(f->lam->node->type), flat));
}

/* Checks that x and dx have the same shape: their product fails otherwise. */
static void check_shape(Derivative *d, CtSeq *seq, CtType *type, CtCore *x, CtCore *dx, bool tangent) {
    if (type->kind == TYPE_DOUBLE) return;
    CtCore *dot = ct_ad_poly_dot(d->ad, d->range, type, x, dx, tangent ? DOT_TANGENT : DOT_COTANGENT);
    ct_ad_seq_let(seq, d->range, ct_core_var_new(d->builder.p, "same", dot->type), dot);
}

/* The gradient in the structure of the point. */
static CtCore **flat_gradient(Derivative *d, const Differentiated *f, const CtBulkGradient *g) {
    CtCore **flats = CT_NEW_ARRAY(d->builder.arena, CtCore *, f->in.vars.count);
    for (uint32_t i = f->in.first; i < f->in.vars.count; i++)
        flats[i - f->in.first] = g->gradient[i] ? normal(d, lower(d, g->gradient[i])) : NULL;
    return flats;
}

static CtBulkGradient reverse_pass(Derivative *d, const Differentiated *f, CtBulkVar *dy) {
    CtBulkGradient g = ct_bulk_gradient(&d->builder, f->whole, f->in.vars.items, f->in.vars.count, dy);
    ct_bulk_show_gradient(d->look, &d->builder, &g, f->in.vars.items, f->in.vars.count);
    return g;
}

/* λ⟨c⟩ x. let ⟨primals⟩ in (value, λdy. gradient) */
static CtCore *vjp(Derivative *d, Differentiated *f) {
    CtProgram *p = d->builder.p;
    CtBulkVar *dy_flat = ct_bulk_new_var(&d->builder, "dy", ELEMENT_REAL, f->whole->shape);
    CtBulkGradient g = reverse_pass(d, f, dy_flat);
    ct_bulk_simplify_gradient(&d->builder, &g, f->in.vars.count, dy_flat);
    ct_bulk_show_simplified(d->look, &d->builder, &g, f->in.vars.count);
    ct_bulk_lower_repeat_views(&d->builder, &g, f->in.vars.count);
    CtMap late = ct_bulk_late(&d->builder, &g, dy_flat);
    bind_terms(d, &f->seq, &g, &late, false);
    CtCore *value = value_of(d, f, g.value);
    CtVar *dy = ct_core_var_new(p, "dy", value->type);
    CtSeq inner = ct_ad_seq(p, NULL);
    check_shape(d, &inner, value->type, value, ct_core_var(p, d->range, dy), false);
    CtCore *flat = flat_reals(d, &inner, f->trace.result, ct_core_var(p, d->range, dy));
    bind_flat(d, &inner, dy_flat, flat);
    bind_terms(d, &inner, &g, &late, true);
    CtCore *x = param(d, f, 0);
    CtCore *gradient = ct_bulk_trace_put_together(&d->builder, d->range, f->point, x->type, x, flat_gradient(d, f, &g));
    CtCore *pullback = ct_core_lam(p, d->range, "pullback", &dy, 1, ct_ad_seq_close(&inner, gradient));
    return ct_core_pair(p, d->range, value, pullback);
}

/* λ⟨c⟩ x. let ⟨primals⟩ in rows (Appendix A) */
static CtCore *jacobian(Derivative *d, Differentiated *f) {
    CtBulkVar *dy = ct_bulk_new_var(&d->builder, "dy", ELEMENT_REAL, f->whole->shape);
    CtBulkGradient g = reverse_pass(d, f, dy);
    ct_bulk_jacobian(&d->builder, &g, f->in.vars.count, dy, ct_bulk_leaves_order(&d->builder, f->trace.result));
    ct_bulk_simplify_gradient(&d->builder, &g, f->in.vars.count, NULL);
    ct_bulk_lower_repeat_views(&d->builder, &g, f->in.vars.count);
    CtMap none = {0};
    bind_terms(d, &f->seq, &g, &none, false);
    CtCore *checked = lower(d, g.value);
    ct_ad_seq_let(&f->seq, d->range, ct_core_var_new(d->builder.p, "y", checked->type), checked);
    CtCore *x = param(d, f, 0);
    return ct_bulk_trace_put_rows(&d->builder, d->range, f->point, x->type, x, flat_gradient(d, f, &g),
                                  ct_bulk_shape_count(dy->shape));
}

/* λ⟨c⟩ x dx. let ⟨primals⟩ in (value, tangent) */
static CtCore *jvp(Derivative *d, Differentiated *f) {
    CtProgram *p = d->builder.p;
    CtType *type = ct_core_type_fun_result(f->lam->node->type);
    f->params[f->count++] = ct_core_var_like(p, f->lam->params[0], f->lam->params[0]->type);
    CtBulkVar **tangents = CT_NEW_ARRAY(d->builder.arena, CtBulkVar *, f->in.vars.count);
    CtCore *x = param(d, f, 0), *dx = param(d, f, 1);
    check_shape(d, &f->seq, x->type, x, dx, true);
    CtLeaves leaves = {0};
    ct_bulk_trace_take_apart(&d->builder, d->range, &f->seq, variables(d, f->point, "dx", &leaves), dx, true, &d->vars);
    for (uint32_t i = f->in.first; i < f->in.vars.count; i++)
        if (f->in.vars.items[i]->element == ELEMENT_REAL) tangents[i] = leaves.terms.items[i - f->in.first]->as.var;
    CtBulkGradient g = ct_bulk_tangent(&d->builder, f->whole, f->in.vars.items, tangents, f->in.vars.count);
    ct_bulk_simplify_gradient(&d->builder, &g, 1, NULL);
    ct_bulk_lower_repeat_views(&d->builder, &g, 1);
    CtMap none = {0};
    bind_terms(d, &f->seq, &g, &none, false);
    CtCore *value = value_of(d, f, g.value);
    CtCore *flat = ct_ad_seq_name(&f->seq, "dy", normal(d, lower(d, g.gradient[0])));
    return ct_core_pair(p, d->range, value, result(d, &f->trace, &f->leaves, type, flat));
}

/* λ(). f x: the function itself. */
static CtCore *again(Derivative *d, const Differentiated *f) {
    CtProgram *p = d->builder.p;
    CtLam *lam = f->lam;
    CtMap params = {0};
    for (uint32_t i = 0; i < f->captures; i++)
        ct_map_set(d->builder.arena, &params, ct_key(lam->captures[i]), ct_core_var(p, d->range, f->params[i]));
    CtGlobal *global = f->captures == 0 ? ct_ad_global_of(d->ad, lam) : NULL;
    CtCore *function = global ? ct_core_global(p, d->range, global) : lam->node, *x = param(d, f, 0);
    CtBind *binds = CT_NEW_ARRAY(d->builder.arena, CtBind, lam->group_count);
    for (uint32_t i = 0; !global && i < lam->group_count; i++) {
        binds[i] = (CtBind){lam->group_vars[i], lam->group[i]->node};
        if (lam->group[i] == lam) function = ct_core_var(p, d->range, lam->group_vars[i]);
    }
    CtCore *run = ct_core_app(p, d->range, function, &x, 1);
    if (!global && lam->group_count > 0) run = ct_core_letrec(p, d->range, binds, lam->group_count, run);
    return ct_core_lam(p, d->range, NULL, NULL, 0, ct_core_copy(p, run, &params));
}

/* λ⟨c⟩ x dx. the derivative by a method that goes by parts: dual arrays at run time where the trace refuses, and
 * `forward` for tangents. */
static CtCore *by_parts(Derivative *d, CtLam *lam, const CtDualPath *dual) {
    CtProgram *p = d->builder.p;
    CtMethod method = dual->op == DERIV_JVP ? METHOD_FORWARD : METHOD_BULK;
    CtLam *closed = ct_ad_closed(d->ad, method, lam)->as.lam;
    CtVar **params = CT_NEW_ARRAY(d->builder.arena, CtVar *, closed->count + 2);
    uint32_t count = closed->count;
    if (count > 0) memcpy(params, closed->params, count * sizeof *params);
    CtWrap wrap = {
        .range = d->range, .s = lam->params[0]->type, .t = ct_core_type_fun_result(lam->node->type), .f = closed->body};
    for (uint32_t i = 0; i < (dual->op == DERIV_JVP ? 2u : 1u); i++)
        params[count++] = ct_core_var_like(p, lam->params[0], wrap.s);
    wrap.x = ct_core_var(p, d->range, params[closed->count]);
    if (dual->op == DERIV_JVP) wrap.dx = ct_core_var(p, d->range, params[closed->count + 1]);
    CtSeq seq = ct_ad_seq(p, NULL);
    CtCore *made = ct_ad_derivative_of(d->ad, dual->op, method, &seq, &wrap);
    return ct_core_lam(p, d->range, lam->name, params, count, ct_ad_seq_close(&seq, made));
}

/* λ⟨c⟩ x dx. the derivative as a term over arrays. NULL where the trace refuses. */
static CtCore *by_terms(Derivative *d, CtLam *lam, const CtDualPath *dual, const CtForm *const *forms) {
    Differentiated f = {.lam = lam, .captures = lam->capture_count};
    CtType *t = ct_core_type_fun_result(lam->node->type);
    f.params = CT_NEW_ARRAY(d->builder.arena, CtVar *, f.captures + 2);
    for (; f.count < f.captures + 1; f.count++) {
        CtVar *var = f.count < f.captures ? lam->captures[f.count] : lam->params[0];
        f.params[f.count] = ct_core_var_like(d->builder.p, var, var->type);
    }
    d->builder.again = ct_core_var_new(d->builder.p, "again", ct_core_type_fun(d->builder.p, NULL, 0, t));
    if (!trace(d, &f, forms)) return NULL;
    CtCore *made = dual->op == DERIV_VJP ? vjp(d, &f) : dual->op == DERIV_JVP ? jvp(d, &f) : jacobian(d, &f);
    made = ct_ad_seq_close(&f.seq, made);
    if (d->builder.is_again_used) made = ct_core_let(d->builder.p, d->range, d->builder.again, again(d, &f), made);
    return ct_core_lam(d->builder.p, d->range, lam->name, f.params, f.count, made);
}

void ct_bulk_at_run_time(CtAd *ad) { ad->bulk_at_run_time = true; }

void ct_bulk_look(CtAd *ad, CtBulkLook *look) { ad->look = look; }

/* Whether the function is the one to be recorded. If it is not a λ of the source, that is the first one
 * differentiated. */
static bool is_looked_at(const CtAd *ad, const CtLam *lam) {
    const CtCore *body = ad->look && !ad->look->done ? ad->look->function->body : NULL;
    return body && (body->kind != CORE_LAM || body->as.lam == lam);
}

/* D_path[made], simplified together with the globals behind the first `globals`. */
static CtLam *transformed(CtAd *ad, CtCore *made, const CtDualPath *dual, uint32_t globals) {
    for (uint32_t i = dual->count; i-- > 0;) {
        CtTransform t = ct_ad_transform(ad, dual->path[i]);
        made = ct_ad_lambda(&t, made);
    }
    ct_ad_work(ad);
    for (; globals < ad->p->globals.count; globals++) {
        CtGlobal *global = ad->p->globals.items[globals];
        global->body = ct_core_simplify_term(ad->p, global->body);
    }
    return ct_core_simplify_term(ad->p, made)->as.lam;
}

/* The derivative by parts, which is the same for all shapes. */
static CtLam *derive_by_parts(Derivative *d, CtLam *lam, CtLam *written, const CtDualPath *dual) {
    CtText text = ct_text(d->builder.arena);
    ct_text_printf(&text, "bulk %u %u %u", (unsigned)dual->op, dual->range.source, dual->range.start);
    for (uint32_t i = 0; i < dual->count; i++) ct_text_printf(&text, " %u", (unsigned)dual->path[i]);
    CtSym key = ct_intern_text(&d->builder.p->context->symbols, text.data);
    CtLam *made = ct_map_get(&lam->duals, ct_key(key));
    if (made && !d->look) return made;
    uint32_t globals = d->builder.p->globals.count;
    CtCore *core = ct_core_simplify_term(d->builder.p, by_parts(d, written, dual));
    ct_bulk_show_program(d->look, &d->builder, core);
    if (d->look) d->look->at_run_time = true;
    made = transformed(d->ad, core, dual, globals);
    ct_map_set(d->builder.arena, &lam->duals, ct_key(key), made);
    return made;
}

CtLam *ct_bulk_derive(CtAd *ad, CtLam *lam, const CtDualPath *dual, const CtForm *const *forms, bool *any_shape) {
    CtLam *written = lam;
    for (uint32_t i = 0; i < dual->count; i++) written = written->origin;
    if (!written->captures_known) ct_core_captures(ad->p, written);
    ad->bulk_count++;
    uint32_t globals = ad->p->globals.count;
    Derivative d = {.ad = ad, .builder = {.p = ad->p, .arena = ad->arena}, .range = dual->range};
    if (dual->op == DERIV_VJP && is_looked_at(ad, written)) d.look = ad->look;
    CtCore *core = dual->by_forward || ad->bulk_at_run_time ? NULL : by_terms(&d, written, dual, forms);
    *any_shape = core == NULL;
    if (core) core = ct_core_simplify_term(ad->p, core);
    if (core) ct_bulk_show_program(d.look, &d.builder, core);
    CtLam *made = core ? transformed(ad, core, dual, globals) : derive_by_parts(&d, lam, written, dual);
    if (d.look) d.look->done = true;
    return made;
}

uint32_t ct_bulk_count(const CtAd *ad) { return ad->bulk_count; }

/* A derivative by `bulk` is a DUAL. */
CtCore *ct_bulk_whole_derivative(CtAd *ad, CtDerivOp op, CtSourceRange range, CtCore *f, CtCore *x, CtCore *dx) {
    CtCore *args[3] = {f, x, dx};
    uint32_t count = op == DERIV_JVP ? 3 : 2;
    CtType *type = ct_core_deriv(ad->p, range, op, args, count)->type;
    CtCore *core = ct_core_dual(ad->p, range, type, METHOD_BULK, NULL, 0, args, count);
    CtDualPath *dual = core->as.call.of.dual;
    dual->whole = true;
    dual->op = op;
    dual->by_forward = op == DERIV_JVP && range.source != ad->asked && !ct_core_type_has_array(x->type);
    return core;
}
