/* bulk: programs over arrays become whole-array operations, and are differentiated as such. BULK 2025, §§5–7.
 *
 * A function is differentiated for the shapes of the arguments that it is called with, when it is first called with
 * such: the evaluator asks for it (ct_ad_bulk) and keeps it. bulk_trace.c finds the term that the function is,
 * bulk_rewrite.c takes the element-wise code out of it, bulk_delta.c differentiates it and runs the reverse pass,
 * symbolically; what they leave becomes Core here. No differentiation is left in it, and no trace is made when it runs:
 * a gradient costs a constant factor over the program, in whole-array operations.
 */
#include "ad/bulk_trace.h"
#include "ad/internal.h"

/* ---- stand-ins for arguments ---- */

typedef struct Inputs {
    CtBulkRoom *room;
    CT_VEC(CtBulkVar *) vars;
    uint32_t first; /* of the point; those before it are captured */
} Inputs;

static CtStand *input(Inputs *in, CtElement element, CtShape shape) {
    CtBulkVar *var = ct_bulk_new_var(in->room, "x", element, shape);
    ct_push(in->room->arena, &in->vars, var);
    return ct_stand_term(in->room, ct_bulk_var(in->room, var));
}

/* A stand-in for a value of a type inside arrays of these sizes. NULL: it is not a regular array of numbers. */
static CtStand *stand_in(Inputs *in, CtType *type, const CtForm *form, CtShape around) {
    CtArena *arena = in->room->arena;
    CtProgram *p = in->room->p;
    if (form->ragged) return NULL;
    if (type->kind == TYPE_DOUBLE) return input(in, ELEMENT_REAL, around);
    if (around.rank > 0 && type->kind == TYPE_INT) return input(in, ELEMENT_INT, around);
    if (around.rank > 0 && type == p->bool_type) return input(in, ELEMENT_BOOL, around);
    if (around.rank == 0 && (type->kind == TYPE_INT || type->kind == TYPE_CHAR))
        return ct_stand_known(in->room, form->known);
    if (type->kind == TYPE_TUPLE || (type->kind == TYPE_DATA && (around.rank == 0 || type->data->con_count == 1))) {
        CtCon *con = type->kind == TYPE_DATA ? &type->data->cons[form->known] : NULL;
        uint32_t count = con ? con->count : type->count;
        CtStand **parts = CT_NEW_ARRAY(arena, CtStand *, count);
        for (uint32_t i = 0; i < count; i++) {
            parts[i] = stand_in(in, con ? con->fields[i] : type->parts[i], form->parts[i], around);
            if (!parts[i]) return NULL;
        }
        return ct_stand_parts(in->room, con ? STAND_DATA : STAND_TUPLE, parts, count, con);
    }
    if (type->kind == TYPE_FUN && around.rank == 0 && form->lam)
        return ct_stand_closure(in->room, form->lam, NULL, NULL, 0);
    if (type->kind != TYPE_ARRAY) return NULL;
    int64_t *sizes = CT_NEW_ARRAY(arena, int64_t, around.rank + 1);
    for (uint32_t i = 0; i < around.rank; i++) sizes[i] = around.sizes[i];
    sizes[around.rank] = form->known;
    if (form->known == 0 && !form->parts) return ct_stand_parts(in->room, STAND_LIST, NULL, 0, NULL);
    CtStand *element = stand_in(in, type->parts[0], form->parts[0], (CtShape){around.rank + 1, sizes});
    if (!element || element->kind == STAND_TERM) return element;
    return ct_stand_rows(in->room, form->known, element);
}

/* ---- results ---- */

typedef struct Leaves {
    CT_VEC(CtBulk *) terms; /* atoms, in order */
} Leaves;

static void collect(CtArena *arena, const CtStand *s, Leaves *out) {
    if (s->kind == STAND_TERM) ct_push(arena, &out->terms, s->as.term);
    if (s->kind == STAND_ROWS) collect(arena, s->as.rows.element, out);
    if (s->kind != STAND_TUPLE && s->kind != STAND_DATA && s->kind != STAND_LIST) return;
    for (uint32_t i = 0; i < s->as.of.count; i++) collect(arena, s->as.of.parts[i], out);
}

/* All real leaves of a result behind each other, in one array; the one leaf itself when there is one. */
static CtBulk *together(CtBulkRoom *r, const Leaves *leaves, CtSpan span) {
    int64_t total = 0, before = 0;
    uint32_t reals = 0;
    CtBulk *only = NULL, *sum = NULL;
    for (uint32_t i = 0; i < leaves->terms.count; i++) {
        if (leaves->terms.items[i]->element != ELEMENT_REAL) continue;
        only = leaves->terms.items[i];
        total += ct_shape_count(only->shape);
        reals++;
    }
    if (reals == 1) return only;
    CtShape whole = ct_shape_of(r->arena, &total, 1);
    for (uint32_t i = 0; i < leaves->terms.count; i++) {
        CtBulk *t = leaves->terms.items[i];
        if (t->element != ELEMENT_REAL) continue;
        int64_t count = ct_shape_count(t->shape);
        CtBulk *flat = ct_bulk_reshape(r, ct_shape_of(r->arena, &count, 1), t);
        CtBulkVar **var = CT_NEW(r->arena, CtBulkVar *);
        CtBulk **at = CT_NEW(r->arena, CtBulk *);
        *var = ct_bulk_new_var(r, "i", ELEMENT_INT, (CtShape){0, NULL});
        *at = ct_bulk_op2(r, PRIM_INT_ADD, ct_bulk_int(r, before, (CtShape){0, NULL}), ct_bulk_var(r, *var));
        CtBulk *placed = ct_bulk_scatter(r, whole, flat, (CtIndexing){var, 1, at, 1, NULL}, span);
        sum = sum ? ct_bulk_op2(r, PRIM_ADD, sum, placed) : placed;
        before += count;
    }
    return sum ? sum : ct_bulk_real(r, -0.0, whole);
}

/* ---- the derivative ---- */

typedef struct Derivative {
    CtAd *ad;
    CtBulkRoom room;
    CtSpan span;
    CtMap vars; /* CtBulkVar * -> CtVar * */
} Derivative;

static CtCore *lower(Derivative *d, CtBulk *t) { return ct_bulk_lower(&d->room, t, &d->vars); }

/* A term of the trace, by itself, as Core. */
static CtCore *alone(Derivative *d, const CtBulkTrace *trace, CtBulk *t) {
    return lower(d, ct_bulk_simplify(&d->room, ct_bulk_rewrite(&d->room, ct_bulk_closed(&d->room, trace, t, false))));
}

static CtCore *bind_flat(Derivative *d, CtSeq *seq, CtBulkVar *var, CtCore *value) {
    CtVar *bound = ct_var_new(d->room.p, var->name, value->type);
    ct_seq_let(seq, d->span, bound, value);
    ct_map_set(d->room.arena, &d->vars, ct_key(var), bound);
    return ct_core_var(d->room.p, d->span, bound);
}

/* Part of an array that holds all leaves behind each other; the one leaf itself. */
static CtCore *slice(Derivative *d, CtCore *whole, bool is_only, CtShape shape, int64_t start) {
    CtProgram *p = d->room.p;
    if (is_only) return whole;
    CtCore *args[3] = {ct_core_int(p, d->span, start), ct_core_int(p, d->span, ct_shape_count(shape)), whole};
    return ct_core_array(p, d->span, shape.rank == 0 ? ARRAY_INDEX : ARRAY_SLICE,
                         shape.rank == 0 ? (CtCore *[]){whole, args[0]} : args, shape.rank == 0 ? 2 : 3);
}

static uint32_t real_count(const Leaves *leaves) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < leaves->terms.count; i++) count += leaves->terms.items[i]->element == ELEMENT_REAL;
    return count;
}

/* The result: its reals from the flat value, all else by itself. */
static CtCore *result(Derivative *d, const CtBulkTrace *trace, const Leaves *leaves, CtType *type, CtCore *flat) {
    CtCore **values = CT_NEW_ARRAY(d->room.arena, CtCore *, leaves->terms.count);
    bool is_only = real_count(leaves) == 1;
    int64_t start = 0;
    for (uint32_t i = 0; i < leaves->terms.count; i++) {
        CtBulk *t = leaves->terms.items[i];
        if (t->element == ELEMENT_REAL) {
            values[i] = slice(d, flat, is_only, t->shape, start);
            start += ct_shape_count(t->shape);
        } else {
            values[i] = alone(d, trace, t);
        }
    }
    return ct_bulk_put_together(&d->room, d->span, trace->result, type, NULL, values);
}

/* The same structure with variables for its terms. */
static CtStand *variables(Derivative *d, const CtStand *s, Leaves *out) {
    if (s->kind == STAND_TERM) {
        CtBulkVar *var = ct_bulk_new_var(&d->room, "dy", s->as.term->element, s->as.term->shape);
        CtBulk *term = ct_bulk_var(&d->room, var);
        ct_push(d->room.arena, &out->terms, term);
        return ct_stand_term(&d->room, term);
    }
    if (s->kind == STAND_ROWS) return ct_stand_rows(&d->room, s->as.rows.size, variables(d, s->as.rows.element, out));
    if (s->kind != STAND_TUPLE && s->kind != STAND_DATA && s->kind != STAND_LIST) return (CtStand *)(uintptr_t)s;
    CtStand *made = ct_stand_parts(&d->room, s->kind, s->as.of.parts, s->as.of.count, s->as.of.con);
    for (uint32_t i = 0; i < s->as.of.count; i++) made->as.of.parts[i] = variables(d, s->as.of.parts[i], out);
    return made;
}

static CtCore *array2(Derivative *d, CtArrayOp op, CtCore *a, CtCore *b) {
    CtCore *args[2] = {a, b};
    return ct_core_array(d->room.p, d->span, op, args, b ? 2 : 1);
}

/* The cotangent of the result as one flat array, or the number that it is. */
static CtCore *flat_cotangent(Derivative *d, CtSeq *seq, const CtStand *like, CtCore *dy) {
    CtProgram *p = d->room.p;
    Leaves leaves = {0};
    CtStand *s = variables(d, like, &leaves);
    ct_bulk_take_apart(&d->room, d->span, seq, s, dy, &d->vars);
    CtCore *whole = NULL;
    for (uint32_t i = 0; i < leaves.terms.count; i++) {
        CtBulk *t = leaves.terms.items[i];
        if (t->element != ELEMENT_REAL) continue;
        CtCore *x = ct_core_var(p, d->span, ct_map_get(&d->vars, ct_key(t->as.var)));
        if (real_count(&leaves) == 1) return x;
        if (t->shape.rank == 0) x = ct_core_array_lit(p, d->span, x->type, &x, 1);
        whole = whole ? array2(d, ARRAY_APPEND, whole, x) : x;
    }
    return whole ? whole : ct_core_array_lit(p, d->span, p->double_type, NULL, 0);
}

/* x + 0, so that a structural zero shows as 0. */
static CtCore *normal(Derivative *d, CtCore *x) {
    if (x->type->kind != TYPE_ARRAY) return ct_normal(d->ad, d->span, x);
    CtVar *e = ct_var_new(d->room.p, "x", x->type->parts[0]);
    CtCore *body = ct_normal(d->ad, d->span, ct_core_var(d->room.p, d->span, e));
    return array2(d, ARRAY_MAP, ct_core_lam(d->room.p, d->span, NULL, &e, 1, body), x);
}

static CtLam *refused(CtAd *ad, CtSpan function, CtBulkRefusal refusal) {
    CtSpan span = refusal.span.source ? refusal.span : function;
    CtDiag *diag =
        ct_error(ad->p->context, CT_E0407, span, "`bulk` cannot differentiate %s", refusal.what);
    ct_help(ad->p->context, diag, "--method tape takes every program");
    return NULL;
}

typedef struct Search {
    CtBulkRoom *room;
    const CtMap *vars;
    bool found;
} Search;

static CtBulk *search(void *data, CtBulk *t) {
    Search *s = data;
    if (t->kind != BULK_VAR) return s->found ? t : ct_bulk_map(s->room, t, search, s);
    s->found = s->found || ct_map_has(s->vars, ct_key(t->as.var));
    return t;
}

/* Whether a term depends on one of these variables; then its own becomes one. */
static bool depends(Derivative *d, CtMap *vars, CtBulkVar *var, CtBulk *t) {
    Search s = {&d->room, vars, false};
    search(&s, t);
    if (s.found) ct_map_set(d->room.arena, vars, ct_key(var), var);
    return s.found;
}

/* λ⟨c⟩ x. let ⟨primals⟩ in (value, λdy. gradient) */
static CtCore *derivative(Derivative *d, CtLam *lam, const CtForm *const *forms) {
    CtProgram *p = d->room.p;
    CtArena *arena = d->room.arena;
    uint32_t count = lam->capture_count;
    Inputs in = {.room = &d->room};
    CtStand **stands = CT_NEW_ARRAY(arena, CtStand *, count + 1);
    CtVar **params = CT_NEW_ARRAY(arena, CtVar *, count + 1);
    const CtVar **captures = CT_NEW_ARRAY(arena, const CtVar *, count);
    CtBulkRefusal refusal = {d->span, NULL};
    for (uint32_t i = 0; i < count + 1; i++) {
        CtVar *var = i < count ? lam->captures[i] : lam->params[0];
        if (i < count) captures[i] = var;
        params[i] = ct_var_like(p, var, var->type);
        if (i == count) in.first = in.vars.count;
        stands[i] = stand_in(&in, var->type, forms[i], (CtShape){0, NULL});
        if (!stands[i]) refusal.what = "an argument that is no regular array of numbers";
    }
    CtBulkTrace trace = {0};
    CtStand *f = refusal.what ? NULL : ct_stand_closure(&d->room, lam, captures, stands, count);
    if (refusal.what || !ct_bulk_trace(&d->room, f, &stands[count], 1, &trace, &refusal)) {
        refused(d->ad, d->span, refusal);
        return NULL;
    }
    Leaves leaves = {0};
    collect(arena, trace.result, &leaves);
    CtBulk *whole = ct_bulk_closed(&d->room, &trace, together(&d->room, &leaves, d->span), true);
    whole = ct_bulk_simplify(&d->room, ct_bulk_rewrite(&d->room, ct_bulk_simplify(&d->room, whole)));
    CtBulkVar *dy_flat = ct_bulk_new_var(&d->room, "dy", ELEMENT_REAL, whole->shape);
    CtBulkGradient g = ct_bulk_gradient(&d->room, whole, in.vars.items, in.vars.count, dy_flat);
    ct_bulk_simplify_gradient(&d->room, &g, in.vars.count, dy_flat);
    ct_bulk_repeat_views(&d->room, &g, in.vars.count);

    CtSeq seq = ct_seq(p, NULL);
    for (uint32_t i = 0; i < count + 1; i++)
        ct_bulk_take_apart(&d->room, d->span, &seq, stands[i], ct_core_var(p, d->span, params[i]), &d->vars);
    CtMap reverse = {0}; /* what depends on the cotangent */
    ct_map_set(arena, &reverse, ct_key(dy_flat), dy_flat);
    for (uint32_t i = 0; i < g.vars.count; i++)
        if (!depends(d, &reverse, g.vars.items[i], g.terms.items[i]))
            bind_flat(d, &seq, g.vars.items[i], lower(d, g.terms.items[i]));
    CtCore *flat = ct_seq_name(&seq, "y", lower(d, g.value));
    CtType *type = ct_type_fun_result(lam->node->type);
    CtCore *value = ct_seq_name(&seq, "y", result(d, &trace, &leaves, type, flat));

    CtVar *dy = ct_var_new(p, "dy", type);
    CtSeq inner = ct_seq(p, NULL);
    if (type->kind != TYPE_DOUBLE) { /* they must have one shape */
        CtCore *dot = ct_generic_dot(d->ad, d->span, type, value, ct_core_var(p, d->span, dy), false);
        ct_seq_let(&inner, d->span, ct_var_new(p, "same", dot->type), dot);
    }
    bind_flat(d, &inner, dy_flat, flat_cotangent(d, &inner, trace.result, ct_core_var(p, d->span, dy)));
    for (uint32_t i = 0; i < g.vars.count; i++)
        if (ct_map_has(&reverse, ct_key(g.vars.items[i])))
            bind_flat(d, &inner, g.vars.items[i], lower(d, g.terms.items[i]));
    CtCore **flats = CT_NEW_ARRAY(arena, CtCore *, in.vars.count);
    for (uint32_t i = in.first; i < in.vars.count; i++)
        flats[i - in.first] = g.gradient[i] ? normal(d, lower(d, g.gradient[i])) : NULL;
    CtCore *x = ct_core_var(p, d->span, params[count]);
    CtCore *gradient = ct_bulk_put_together(&d->room, d->span, stands[count], lam->params[0]->type, x, flats);
    CtCore *pullback = ct_core_lam(p, d->span, "pullback", &dy, 1, ct_seq_close(&inner, gradient));
    CtCore *pair = ct_core_pair(p, d->span, value, pullback);
    return ct_core_lam(p, d->span, lam->name, params, count + 1, ct_seq_close(&seq, pair));
}

CtLam *ct_ad_bulk(CtAd *ad, CtLam *lam, const CtDualPath *dual, const CtForm *const *forms) {
    CtLam *written = lam;
    for (uint32_t i = 0; i < dual->count; i++) written = written->origin;
    if (!written->captures_known) ct_core_captures(ad->p, written);
    Derivative d = {.ad = ad, .room = {.p = ad->p, .arena = ad->arena}, .span = dual->span};
    CtCore *made = derivative(&d, written, forms);
    if (!made) return NULL;
    made = ct_core_simplify_term(ad->p, made);
    for (uint32_t i = dual->count; i-- > 0;) {
        CtTransform t = ct_transform(ad, dual->path[i]);
        made = ct_ad_lambda(&t, made);
    }
    ct_ad_work(ad);
    return ct_core_simplify_term(ad->p, made)->as.lam;
}

CtCore *ct_bulk_vjp(CtAd *ad, CtSpan span, CtCore *f, CtCore *x) {
    CtType *s = f->type->parts[0], *t = ct_type_fun_result(f->type);
    CtType *type = ct_type_pair(ad->p, t, ct_type_fun(ad->p, &t, 1, s));
    CtCore *args[2] = {f, x};
    return ct_core_dual(ad->p, span, type, METHOD_BULK, NULL, 0, args, 2);
}

/* Nothing of it is done a primitive at a time. */
const CtRules ct_bulk_rules = {.real = NULL};
