/* Derivatives inside the function that bulk differentiates (BULK 2025 §9 leaves them open): the inner function is
 * traced on variables for its point, differentiated as a whole function is, and what comes out is bound among the terms
 * of the outer one. They are ordinary terms, so the outer derivative goes through them as through any others, to any
 * depth. Each derivative has its own variables: perturbations cannot be confused.
 */
#include "ad/bulk/diff/diff.h"
#include "ad/bulk/rewrite/rewrite.h"
#include "ad/bulk/trace/internal.h"

/* The reverse pass of an inner derivative, waiting for its cotangent. */
typedef struct CtPullback {
    CtBulkGradient g; /* bindings: those that depend on the cotangent */
    CtBulkVar *dy;
    CtAbstract *point, *value; /* their structures */
    CtType *type;              /* of the value */
    CtSourceRange range;
} CtPullback;

/* A function at a point, as a term of variables for the point's reals. */
typedef struct Inner {
    CtBulkVar **inputs;
    uint32_t count;
    CtAbstract *point, *result; /* the point holds the inputs */
    CtBulkTrace bindings;
    CtBulk *whole; /* the reals of the result behind each other, in normal form */
    CtSourceRange range;
    CtType *type; /* of the function */
} Inner;

/* ---- leaves ---- */

typedef struct Walk {
    CtBulk *const *terms; /* for the reals, in order; NULL: not the real itself, but a part of `flat` */
    CtBulk *flat;
    bool only, normal; /* flat holds but one leaf; structural zeros become 0 */
    uint32_t next;
    int64_t start;
    const CtBulkTrace *bindings; /* what leaves that are not real need around them; NULL */
    int64_t rows;                /* they are the same in so many; 0: no rows */
} Walk;

/* `count` elements of a flat array, as an array of this shape. */
static CtBulk *part(Tracer *tr, CtBulk *flat, int64_t start, CtShape shape) {
    CtBulkBuilder *r = tr->builder;
    CtBulkVar **i = CT_NEW(tr->arena, CtBulkVar *);
    CtBulk **at = CT_NEW(tr->arena, CtBulk *);
    int64_t count = ct_bulk_shape_count(shape);
    *at = ct_bulk_int(r, start, ct_bulk_trace_scalar());
    if (shape.rank == 0) return ct_bulk_index(r, flat, at, 1, NULL, CT_NO_RANGE);
    *i = ct_bulk_new_var(r, "i", ELEMENT_INT, ct_bulk_trace_scalar());
    *at = ct_bulk_op2(r, PRIM_INT_ADD, *at, ct_bulk_var(r, *i));
    CtBulk *slice =
        ct_bulk_gather(r, ct_bulk_shape_of(tr->arena, &count, 1), flat, (CtIndexing){i, 1, at, 1, NULL}, CT_NO_RANGE);
    return ct_bulk_reshape(r, shape, slice);
}

static CtBulk *leaf(Tracer *tr, void *data, CtBulk *t) {
    Walk *w = data;
    CtBulkBuilder *r = tr->builder;
    if (t->element != ELEMENT_REAL) {
        if (w->bindings) t = ct_bulk_trace_closed(r, w->bindings, t, false);
        return ct_bulk_trace_name(tr, "t", w->rows ? ct_bulk_replicate(r, w->rows, t) : t);
    }
    CtBulk *now = w->terms ? w->terms[w->next++] : w->only ? w->flat : part(tr, w->flat, w->start, t->shape);
    w->start += ct_bulk_shape_count(t->shape);
    if (w->normal) now = ct_bulk_op2(r, PRIM_ADD, now, ct_bulk_real(r, 0.0, now->shape));
    return ct_bulk_trace_name(tr, "t", now);
}

/* ---- tracing the inner function ---- */

static CtBulk *fresh_leaf(Tracer *tr, void *data, CtBulk *t) {
    CtFresh *f = data;
    if (t->element != ELEMENT_REAL) return t;
    CtBulkVar *var = ct_bulk_new_var(tr->builder, f->name, t->element, t->shape);
    ct_bulk_trace_set_level(tr, var, f->level);
    ct_push(tr->arena, &f->vars, var);
    ct_push(tr->arena, &f->terms, t);
    return ct_bulk_var(tr->builder, var);
}

CtAbstract *ct_bulk_trace_fresh(Tracer *tr, CtAbstract *s, CtFresh *fresh) {
    return ct_bulk_trace_leaves(tr, s, fresh_leaf, fresh);
}

/* let var = t, in the innermost scope that t needs */
static void bind_in_place(Tracer *tr, CtBulkVar *var, CtBulk *t) {
    Scope *scope = ct_bulk_trace_scope(tr, t);
    ct_bulk_trace_set_level(tr, var, scope->level);
    ct_push(tr->arena, &scope->bindings.vars, var);
    ct_push(tr->arena, &scope->bindings.terms, t);
    tr->terms++;
}

void ct_bulk_trace_bind_fresh(Tracer *tr, const CtFresh *f) {
    for (uint32_t i = 0; i < f->vars.count; i++) bind_in_place(tr, f->vars.items[i], f->terms.items[i]);
}

void ct_bulk_trace_lift_checks(Tracer *tr, const CtBulkTrace *bindings) {
    for (uint32_t i = 0; i < bindings->checks.count; i++) {
        const CtBulk *check = bindings->checks.items[i];
        CtBulk *test =
            ct_bulk_trace_name(tr, "b", ct_bulk_trace_closed(tr->builder, bindings, check->as.check.test, false));
        ct_bulk_trace_push_check(tr, test, check);
    }
}

/* False when it fails or is refused: then `result` is what comes of that. */
static bool trace_inner(Tracer *tr, CtAbstract *f, CtAbstract *x, Inner *in) {
    Scope inner = {.outer = tr->scope, .level = tr->scope->level + 1};
    CtFresh fresh = {.name = "x", .level = inner.level};
    in->point = ct_bulk_trace_fresh(tr, x, &fresh);
    in->inputs = fresh.vars.items;
    in->count = fresh.vars.count;
    tr->scope = &inner;
    in->result = ct_bulk_trace_apply(tr, f, &in->point, 1, in->range);
    ct_bulk_trace_keep_failures(tr, &inner, in->result);
    tr->scope = inner.outer;
    if (ct_bulk_trace_refused(tr)) return false;
    ct_bulk_trace_bind_fresh(tr, &fresh);
    in->bindings = inner.bindings;
    ct_bulk_trace_lift_checks(tr, &inner.bindings);
    if (ct_bulk_trace_has_growing(in->result)) ct_bulk_trace_refuse_growing(tr, in->range);
    if (in->result->kind == ABSTRACT_FAILURE || ct_bulk_trace_refused(tr)) return false;
    CtLeaves leaves = {0};
    ct_bulk_abstract_leaves(tr->arena, in->result, &leaves);
    CtBulk *whole = ct_bulk_trace_closed(tr->builder, &inner.bindings,
                                         ct_bulk_trace_leaves_together(tr->builder, &leaves, in->range), false);
    in->whole = ct_bulk_simplify(tr->builder, ct_bulk_rewrite(tr->builder, ct_bulk_simplify(tr->builder, whole)));
    return true;
}

/* The result's structure, its reals from a flat array. */
static CtAbstract *from_flat(Tracer *tr, const Inner *in, CtBulk *flat, bool normal) {
    CtLeaves leaves = {0};
    ct_bulk_abstract_leaves(tr->arena, in->result, &leaves);
    Walk w = {.flat = ct_bulk_trace_name(tr, "y", flat), .normal = normal, .bindings = &in->bindings};
    w.only = ct_bulk_trace_leaves_real_count(&leaves) == 1;
    return ct_bulk_trace_leaves(tr, in->result, leaf, &w);
}

static CtAbstract *pair(Tracer *tr, CtAbstract *a, CtAbstract *b) {
    CtAbstract *parts[2] = {a, b};
    return ct_bulk_abstract_parts(tr->builder, ABSTRACT_TUPLE, parts, 2, NULL);
}

/* ---- the three derivatives ---- */

static CtBulkGradient reverse_pass(Tracer *tr, const Inner *in, CtBulkVar *dy) {
    CtBulkGradient g = ct_bulk_gradient(tr->builder, in->whole, in->inputs, in->count, dy);
    ct_bulk_simplify_gradient(tr->builder, &g, in->count, dy);
    return g;
}

static CtAbstract *vjp(Tracer *tr, const Inner *in) {
    CtPullback *p = CT_NEW(tr->arena, CtPullback);
    p->dy = ct_bulk_new_var(tr->builder, "dy", ELEMENT_REAL, in->whole->shape);
    CtBulkGradient g = reverse_pass(tr, in, p->dy);
    CtMap late = ct_bulk_late(tr->builder, &g, p->dy);
    p->g = (CtBulkGradient){.gradient = g.gradient};
    for (uint32_t i = 0; i < g.vars.count; i++) {
        if (!ct_map_has(&late, ct_key(g.vars.items[i]))) {
            bind_in_place(tr, g.vars.items[i], g.terms.items[i]);
        } else {
            ct_push(tr->arena, &p->g.vars, g.vars.items[i]);
            ct_push(tr->arena, &p->g.terms, g.terms.items[i]);
        }
    }
    p->point = in->point;
    p->range = in->range;
    p->type = in->type->parts[1];
    p->value = from_flat(tr, in, g.value, false);
    CtAbstract *pullback = ct_bulk_abstract_new(tr->builder, ABSTRACT_PULLBACK);
    pullback->as.pullback = p;
    return pair(tr, p->value, pullback);
}

static CtAbstract *jacobian(Tracer *tr, const Inner *in) {
    CtBulkVar *dy = ct_bulk_new_var(tr->builder, "dy", ELEMENT_REAL, in->whole->shape);
    CtBulkGradient g = reverse_pass(tr, in, dy);
    ct_bulk_jacobian(tr->builder, &g, in->count, dy, ct_bulk_leaves_order(tr->builder, in->result));
    ct_bulk_simplify_gradient(tr->builder, &g, in->count, NULL);
    for (uint32_t i = 0; i < g.vars.count; i++) bind_in_place(tr, g.vars.items[i], g.terms.items[i]);
    Walk w = {.terms = g.gradient, .normal = true, .rows = ct_bulk_shape_count(dy->shape)};
    return ct_bulk_trace_array_of(tr, w.rows, ct_bulk_trace_leaves(tr, in->point, leaf, &w));
}

static bool is_array(const CtAbstract *s) {
    return s->kind == ABSTRACT_TERM || s->kind == ABSTRACT_ROWS || s->kind == ABSTRACT_LIST;
}

/* Whether arrays at the same place of two structures of a type with reals have the same lengths, down to arrays without
 * elements, which have no reals to compare. */
static bool has_lengths(CtType *type, const CtAbstract *a, const CtAbstract *b) {
    if (!ct_core_type_has_real(type)) return true;
    bool tuples = a->kind == ABSTRACT_TUPLE && b->kind == ABSTRACT_TUPLE;
    bool data = a->kind == ABSTRACT_DATA && b->kind == ABSTRACT_DATA && a->as.of.con == b->as.of.con;
    if (type->kind == TYPE_ARRAY) return !is_array(a) || !is_array(b) || ct_bulk_trace_regular(a, 0, b, 0);
    if (!tuples && !data) return true;
    CtType *const *types = tuples ? type->parts : a->as.of.con->fields;
    for (uint32_t i = 0; i < a->as.of.count; i++)
        if (!has_lengths(types[i], a->as.of.parts[i], b->as.of.parts[i])) return false;
    return true;
}

static CtAbstract *aligned(Tracer *tr, CtType *type, const CtAbstract *like, CtAbstract *s);

/* An array in the form of another one: its elements one by one where these are, together where these are. */
static CtAbstract *aligned_array(Tracer *tr, CtType *element, const CtAbstract *like, CtAbstract *s) {
    uint32_t count = like->kind == ABSTRACT_LIST ? like->as.of.count : (uint32_t)ct_bulk_trace_size(like);
    if (like->kind == ABSTRACT_TERM || !is_array(s) || ct_bulk_trace_size(s) != count || count == 0) return s;
    if (like->kind == ABSTRACT_ROWS && s->kind == ABSTRACT_ROWS)
        return ct_bulk_trace_array_of(tr, count, aligned(tr, element, like->as.rows.element, s->as.rows.element));
    if (s->kind == ABSTRACT_TERM) return s;
    CtAbstract **items = CT_NEW_ARRAY(tr->arena, CtAbstract *, count);
    for (uint32_t i = 0; i < count; i++) {
        CtAbstract *at = ct_bulk_abstract_known(tr->builder, i);
        items[i] = aligned(tr, element, like->kind == ABSTRACT_LIST ? like->as.of.parts[i] : like->as.rows.element,
                           ct_bulk_trace_element(tr, s, at, CT_NO_RANGE));
    }
    return like->kind == ABSTRACT_ROWS ? ct_bulk_trace_array_from(tr, items, count)
                                       : ct_bulk_abstract_parts(tr->builder, ABSTRACT_LIST, items, count, NULL);
}

/* A tangent or cotangent in the form of the value that it belongs to. Discrete parts, which may differ, are left out.
 */
static CtAbstract *aligned(Tracer *tr, CtType *type, const CtAbstract *like, CtAbstract *s) {
    if (!ct_core_type_has_real(type)) return ct_bulk_abstract_known(tr->builder, 0);
    if (type->kind == TYPE_ARRAY && is_array(like)) return aligned_array(tr, type->parts[0], like, s);
    bool tuples = like->kind == ABSTRACT_TUPLE && s->kind == ABSTRACT_TUPLE;
    bool data = like->kind == ABSTRACT_DATA && s->kind == ABSTRACT_DATA && like->as.of.con == s->as.of.con;
    if (!tuples && !data) return s;
    CtAbstract *made = ct_bulk_abstract_parts(tr->builder, s->kind, s->as.of.parts, s->as.of.count, s->as.of.con);
    CtType *const *types = tuples ? type->parts : s->as.of.con->fields;
    for (uint32_t i = 0; i < s->as.of.count; i++)
        made->as.of.parts[i] = aligned(tr, types[i], like->as.of.parts[i], s->as.of.parts[i]);
    return made;
}

/* Whether the reals of two structures have the same shapes. */
static bool fits(Tracer *tr, CtType *type, const CtAbstract *a, const CtAbstract *b) {
    if (!has_lengths(type, a, b)) return false;
    CtLeaves *leaves = CT_NEW_ARRAY(tr->arena, CtLeaves, 2);
    uint32_t at[2] = {0, 0};
    ct_bulk_abstract_leaves(tr->arena, a, &leaves[0]);
    ct_bulk_abstract_leaves(tr->arena, b, &leaves[1]);
    for (;;) {
        CtBulk *t[2] = {NULL, NULL};
        for (int k = 0; k < 2; k++)
            while (at[k] < leaves[k].terms.count && t[k] == NULL) {
                CtBulk *next = leaves[k].terms.items[at[k]++];
                if (next->element == ELEMENT_REAL && ct_bulk_shape_count(next->shape) > 0) t[k] = next;
            }
        if (t[0] == NULL || t[1] == NULL) return t[0] == t[1];
        if (!ct_bulk_shape_equal(t[0]->shape, t[1]->shape)) return false;
    }
}

static CtAbstract *mismatch(Tracer *tr, const char *text, CtSourceRange range) {
    ct_bulk_trace_check(tr, ct_bulk_bool(tr->builder, true, ct_bulk_trace_scalar()), CT_E0504, text, range);
    return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE);
}

/* Its reals behind each other, in this shape. */
static CtBulk *flattened(Tracer *tr, const CtAbstract *s, CtShape shape, CtSourceRange range) {
    CtLeaves leaves = {0};
    ct_bulk_abstract_leaves(tr->arena, s, &leaves);
    CtBulk *flat = ct_bulk_trace_leaves_together(tr->builder, &leaves, range);
    return ct_bulk_shape_equal(flat->shape, shape) ? flat : ct_bulk_reshape(tr->builder, shape, flat);
}

static CtAbstract *jvp(Tracer *tr, const Inner *in, CtAbstract *dx) {
    dx = aligned(tr, in->type->parts[0], in->point, dx);
    if (!fits(tr, in->type->parts[0], in->point, dx))
        return mismatch(tr, "the tangent does not have the shape of the point", in->range);
    CtBulkVar **tangents = CT_NEW_ARRAY(tr->arena, CtBulkVar *, in->count);
    CtFresh fresh = {.name = "dx"};
    ct_bulk_trace_fresh(tr, dx, &fresh);
    ct_bulk_trace_bind_fresh(tr, &fresh);
    for (uint32_t k = 0, next = 0; k < in->count; k++) { /* what has no elements has no tangent */
        if (ct_bulk_shape_count(in->inputs[k]->shape) == 0) continue;
        while (ct_bulk_shape_count(fresh.vars.items[next]->shape) == 0) next++;
        tangents[k] = fresh.vars.items[next++];
    }
    CtBulkGradient g = ct_bulk_tangent(tr->builder, in->whole, in->inputs, tangents, in->count);
    ct_bulk_simplify_gradient(tr->builder, &g, 1, NULL);
    for (uint32_t i = 0; i < g.vars.count; i++) bind_in_place(tr, g.vars.items[i], g.terms.items[i]);
    return pair(tr, from_flat(tr, in, g.value, false), from_flat(tr, in, g.gradient[0], true));
}

CtAbstract *ct_bulk_trace_derivative(Tracer *tr, CtCore *dual, CtAbstract *const *args) {
    const CtDualPath *path = dual->as.call.of.dual;
    Inner in = {.range = path->range, .type = dual->as.call.args[0]->type};
    if (!path->whole || path->count > 0)
        return ct_bulk_trace_refuse(tr, dual->range, "a derivative of a function that is not known before it runs");
    if (ct_bulk_trace_refused(tr)) return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE);
    for (uint32_t i = 0; i < (path->op == DERIV_JVP ? 3u : 2u); i++)
        if (args[i]->kind == ABSTRACT_FAILURE) return args[i];
    for (uint32_t i = 1; i < (path->op == DERIV_JVP ? 3u : 2u); i++)
        if (ct_bulk_trace_has_growing(args[i])) return ct_bulk_trace_refuse_growing(tr, dual->range);
    if (!trace_inner(tr, args[0], args[1], &in)) return ct_bulk_abstract_new(tr->builder, ABSTRACT_FAILURE);
    switch (path->op) {
    case DERIV_JVP: return jvp(tr, &in, args[2]);
    case DERIV_VJP: return vjp(tr, &in);
    case DERIV_JACOBIAN: return jacobian(tr, &in);
    case DERIV_TAYLOR:
    case DERIV_BASIS:
    case DERIV_REALS:
    case DERIV_FILL:
    case DERIV_STOP:
    case DERIV_CHECKPOINT:
    case DERIV_ATTEMPT:
    case DERIV_DELAY:
    case DERIV_FORCE:
    case DERIV_KNOT:
    case DERIV_WITH_VJP:
    case DERIV_WITH_JVP:
    case DERIV_WITH_RULES: break;
    }
    return ct_bulk_trace_refuse(tr, dual->range, "this derivative");
}

CtAbstract *ct_bulk_trace_pull_back(Tracer *tr, const CtPullback *p, CtAbstract *dy) {
    if (dy->kind == ABSTRACT_FAILURE) return dy;
    if (ct_bulk_trace_has_growing(dy)) return ct_bulk_trace_refuse_growing(tr, p->range);
    dy = aligned(tr, p->type, p->value, dy);
    if (!fits(tr, p->type, p->value, dy))
        return mismatch(tr, "the cotangent does not have the shape of the result", p->range);
    CtMap now = {0};
    CtBulk *flat = flattened(tr, dy, p->dy->shape, p->range);
    ct_map_set(tr->arena, &now, ct_key(p->dy), ct_bulk_trace_name(tr, "dy", flat));
    for (uint32_t i = 0; i < p->g.vars.count; i++) {
        CtBulkVar *var = p->g.vars.items[i];
        CtBulk *t = ct_bulk_substitute(tr->builder, p->g.terms.items[i], &now);
        ct_map_set(tr->arena, &now, ct_key(var), ct_bulk_trace_name(tr, var->name, t));
    }
    CtLeaves leaves = {0};
    ct_bulk_abstract_leaves(tr->arena, p->point, &leaves);
    uint32_t count = ct_bulk_trace_leaves_real_count(&leaves);
    CtBulk **gradient = CT_NEW_ARRAY(tr->arena, CtBulk *, count);
    for (uint32_t k = 0; k < count; k++) gradient[k] = ct_bulk_substitute(tr->builder, p->g.gradient[k], &now);
    Walk w = {.terms = gradient, .normal = true};
    return ct_bulk_trace_leaves(tr, p->point, leaf, &w);
}
