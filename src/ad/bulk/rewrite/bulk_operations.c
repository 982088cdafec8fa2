/* BULK §5: the bulk-operation transform. The elementwise `build1` is pushed into a term until it meets something
 * elementary (Fig. 9) or an `index`, which becomes a gather (Fig. 11); `index` is pushed likewise (Fig. 10,
 * push_index.c).
 *
 * Beyond the figures: a `build1` without elements becomes the empty array, so that errors inside it do not occur; a
 * part that does not depend on the element is not computed for each element (gather, cond, let); and constructs that
 * the figures lack have rules of the same pattern.
 *
 * A term has several normal forms, whatever §5.1 says: `build1 k (λi. op t u)` without i becomes replicate k
 * (op t u) by one rule, and op (replicate k t) (replicate k u) by others. Here the first is preferred, and subterms are
 * rewritten first. */
#include "ad/bulk/rewrite/rules.h"

static const CtShape scalar = {0, NULL};

/* ---- Fig. 9 ---- */

typedef struct Build {
    int64_t k;
    CtBulkVar *i;
    CtBulk *body;
} Build;

static bool depends(const Build *b, CtBulk *t) { return ct_bulk_mentions(t, b->i); }

/* build1 k (λi. t) */
static CtBulk *build_of(CtBulkRewriter *w, const Build *b, CtBulk *t) { return ct_bulk_build(w->r, b->k, b->i, t); }

/* tr: the two outermost dimensions exchanged */
static CtBulk *tr(CtBulkRewriter *w, CtBulk *t) { return ct_bulk_transpose(w->r, (const uint32_t[]){1, 0}, 2, t); }

/* build1 0 (λi. t) ~> [] */
static CtBulk *build_none(CtBulkRewriter *w, const Build *b) {
    CtShape shape = ct_bulk_shape_cons(w->r->arena, 0, b->body->shape);
    return b->body->element == ELEMENT_REAL ? ct_bulk_reals(w->r, NULL, shape)
                                            : ct_bulk_integers(w->r, NULL, shape, b->body->element);
}

/* build1 k (λi. i) ~> [0, …, k − 1] */
static CtBulk *build_iota(CtBulkRewriter *w, const Build *b) {
    int64_t *items = CT_NEW_ARRAY(w->r->arena, int64_t, b->k);
    for (int64_t i = 0; i < b->k; i++) items[i] = i;
    return ct_bulk_integers(w->r, items, ct_bulk_shape_of(w->r->arena, &b->k, 1), ELEMENT_INT);
}

static bool is_position(const CtBulk *t, uint32_t depth) {
    if (t->element != ELEMENT_INT || t->shape.rank > 0) return false;
    if (t->kind == BULK_CONST || t->kind == BULK_VAR) return true;
    if (t->kind != BULK_OP || depth == 0) return false;
    CtPrim prim = t->as.op.prim;
    if (prim != PRIM_INT_ADD && prim != PRIM_INT_SUB && prim != PRIM_INT_MUL) return false;
    return is_position(t->as.op.args[0], depth - 1) && is_position(t->as.op.args[1], depth - 1);
}

enum { POSITION_DEPTH = 4 };

bool ct_bulk_is_position(const CtBulk *t) { return is_position(t, POSITION_DEPTH); }

/* build1 k (λi. let x = v in u) ~> let x = build1 k (λi. v) in build1 k (λi. u[index x [i]/x]); unchanged if v does not
 * depend on i; build1 k (λi. u[v/x]) if v is a simple position such as i + j, so that a gather contains it instead of
 * an array of positions. Nested bindings are treated together, so that the substitutions take one traversal. */
static CtBulk *build_let(CtBulkRewriter *w, const Build *b) {
    CtArena *arena = w->r->arena;
    CtBulk *i = ct_bulk_var(w->r, b->i), *t = b->body;
    CT_VEC(CtBulkVar *) vars = {0};
    CT_VEC(CtBulk *) terms = {0};
    CtMap replace = {0};
    for (; t->kind == BULK_LET; t = t->as.let.body) {
        CtBulkVar *x = t->as.let.var;
        CtBulk *v = replace.count > 0 ? ct_bulk_substitute(w->r, t->as.let.rhs, &replace) : t->as.let.rhs;
        ct_bulk_note(w, v);
        bool varies = depends(b, v);
        if (varies && ct_bulk_is_position(v)) {
            ct_map_set(arena, &replace, ct_key(x), v);
            continue;
        }
        CtBulkVar *all =
            varies ? ct_bulk_new_var(w->r, x->name, x->element, ct_bulk_shape_cons(arena, b->k, x->shape)) : x;
        if (varies && x->element == ELEMENT_INT) ct_bulk_note_var(w, all, ct_bulk_range(w, v));
        CtBulk *by = ct_bulk_var(w->r, all);
        ct_map_set(arena, &replace, ct_key(x), varies ? ct_bulk_index(w->r, by, &i, 1, NULL, v->range) : by);
        ct_push(arena, &vars, all);
        ct_push(arena, &terms, varies ? build_of(w, b, v) : v);
    }
    CtBulk *u = ct_bulk_substitute(w->r, t, &replace);
    ct_bulk_note(w, u);
    CtBulk *result = build_of(w, b, u);
    for (uint32_t n = vars.count; n-- > 0;) result = ct_bulk_let(w->r, vars.items[n], terms.items[n], result);
    return result;
}

/* build1 k (λi. cond b u v) ~> build1 k (λi. index [u, v] [cond b 0 1]); cond b (build1 k (λi. u)) (build1 k (λi. v))
 * if b does not depend on i. A cond that chooses for each element of some dimensions (the simplifier makes those)
 * chooses for one dimension more. */
static CtBulk *build_cond(CtBulkRewriter *w, const Build *b) {
    CtBulk *test = b->body->as.cond.test, *items[] = {b->body->as.cond.yes, b->body->as.cond.no};
    if (!depends(b, test) || test->shape.rank > 0) {
        CtBulk *yes = build_of(w, b, items[0]), *no = build_of(w, b, items[1]);
        return ct_bulk_cond(w->r, test->shape.rank > 0 ? build_of(w, b, test) : test, yes, no);
    }
    CtBulk *zero = ct_bulk_int(w->r, 0, scalar);
    CtBulk *which = ct_bulk_cond(w->r, test, zero, ct_bulk_int(w->r, 1, scalar));
    CtBulk *both = ct_bulk_literal(w->r, items, 2);
    return build_of(w, b, ct_bulk_index(w->r, both, &which, 1, NULL, b->body->range));
}

/* build1 k (λi. op t u) ~> op (build1 k (λi. t)) (build1 k (λi. u)); build1 k (λi. op t) ~> op (build1 k (λi. t)) */
static CtBulk *build_op(CtBulkRewriter *w, const Build *b) {
    CtBulk *op = b->body, *first = build_of(w, b, op->as.op.args[0]);
    if (op->as.op.count == 1) return ct_bulk_op1(w->r, op->as.op.prim, first);
    return ct_bulk_op2(w->r, op->as.op.prim, first, build_of(w, b, op->as.op.args[1]));
}

/* The same, on Bool. */
static CtBulk *build_logic(CtBulkRewriter *w, const Build *b) {
    CtBulk *op = b->body, *first = build_of(w, b, op->as.logic.args[0]);
    CtBulk *second = op->as.logic.logic == LOGIC_NOT ? NULL : build_of(w, b, op->as.logic.args[1]);
    return ct_bulk_logic(w->r, op->as.logic.logic, first, second);
}

/* build1 k (λi. sumOuter t) ~> sumOuter (tr (build1 k (λi. t))), and its likes */
static CtBulk *build_reduce(CtBulkRewriter *w, const Build *b) {
    CtBulk *moved = tr(w, build_of(w, b, b->body->as.reduce.t));
    return ct_bulk_reduce(w->r, b->body->as.reduce.reduction, moved, b->body->range);
}

/* λ(i ::: is). i ::: ix; without i on the right where `whole` */
static CtIndexing with_index(CtBulkRewriter *w, const Build *b, const CtIndexing *f, bool whole) {
    uint32_t more = whole ? 0 : 1, count = f->count + more;
    CtBulkVar **vars = CT_NEW_ARRAY(w->r->arena, CtBulkVar *, f->var_count + 1);
    CtBulk **ix = CT_NEW_ARRAY(w->r->arena, CtBulk *, count);
    vars[0] = b->i;
    for (uint32_t j = 0; j < f->var_count; j++) vars[j + 1] = f->vars[j];
    if (!whole) ix[0] = ct_bulk_var(w->r, b->i);
    for (uint32_t j = 0; j < f->count; j++) ix[j + more] = f->ix[j];
    return (CtIndexing){vars, f->var_count + 1, ix, count, f->live};
}

/* The body, a gather or scatter, with its variables renamed if one of them is i. */
static CtBulk *apart_from_index(CtBulkRewriter *w, const Build *b) {
    for (uint32_t j = 0; j < b->body->as.move.f.var_count; j++) {
        if (b->body->as.move.f.vars[j] != b->i) continue;
        CtMap none = {0};
        CtBulk *body = ct_bulk_substitute(w->r, b->body, &none);
        ct_bulk_note(w, body);
        return body;
    }
    return b->body;
}

/* build1 k (λi. gather sh t (λis. ix)) ~> gather (k ::: sh) (build1 k (λi. t)) (λ(i ::: is). i ::: ix);
 * gather (k ::: sh) t (λ(i ::: is). ix) where t is the same for all i */
static CtBulk *build_gather(CtBulkRewriter *w, const Build *b) {
    CtBulk *gather = apart_from_index(w, b), *t = gather->as.move.t;
    bool whole = !depends(b, t);
    CtIndexing f = with_index(w, b, &gather->as.move.f, whole);
    CtShape shape = ct_bulk_shape_cons(w->r->arena, b->k, gather->shape);
    return ct_bulk_gather(w->r, shape, whole ? t : build_of(w, b, t), f, gather->range);
}

/* build1 k (λi. scatter sh t (λis. ix)) ~> scatter (k ::: sh) (build1 k (λi. t)) (λ(i ::: is). i ::: ix) */
static CtBulk *build_scatter(CtBulkRewriter *w, const Build *b) {
    CtBulk *scatter = apart_from_index(w, b);
    CtIndexing f = with_index(w, b, &scatter->as.move.f, false);
    CtShape shape = ct_bulk_shape_cons(w->r->arena, b->k, scatter->shape);
    return ct_bulk_scatter(w->r, shape, build_of(w, b, scatter->as.move.t), f, scatter->range);
}

/* build1 k (λi. oneHot sh ix t) ~> scatter (k ::: sh) (build1 k (λi. t)) (λ[i]. i ::: ix), never live: outside, nothing
 * is hot */
static CtBulk *build_one_hot(CtBulkRewriter *w, const Build *b) {
    CtIndexing f = with_index(w, b, &b->body->as.move.f, false);
    f.live = ct_bulk_bool(w->r, false, scalar);
    CtShape shape = ct_bulk_shape_cons(w->r->arena, b->k, b->body->shape);
    return ct_bulk_scatter(w->r, shape, build_of(w, b, b->body->as.move.t), f, b->body->range);
}

/* build1 k (λi. [t₁, …, tₙ]) ~> tr [build1 k (λi. t₁), …, build1 k (λi. tₙ)] */
static CtBulk *build_literal(CtBulkRewriter *w, const Build *b) {
    uint32_t count = b->body->as.literal.count;
    CtBulk **items = CT_NEW_ARRAY(w->r->arena, CtBulk *, count);
    for (uint32_t j = 0; j < count; j++) items[j] = build_of(w, b, b->body->as.literal.items[j]);
    return tr(w, ct_bulk_literal(w->r, items, count));
}

/* build1 k (λi. replicate n t) ~> tr (replicate n (build1 k (λi. t))) */
static CtBulk *build_replicate(CtBulkRewriter *w, const Build *b) {
    return tr(w, ct_bulk_replicate(w->r, b->body->shape.sizes[0], build_of(w, b, b->body->as.t)));
}

/* build1 k (λi. tr_{b₀,…,bₙ} t) ~> tr_{0,b₀+1,…,bₙ+1} (build1 k (λi. t)) */
static CtBulk *build_transpose(CtBulkRewriter *w, const Build *b) {
    uint32_t count = b->body->as.transpose.count;
    uint32_t *permutation = CT_NEW_ARRAY(w->r->arena, uint32_t, count + 1);
    for (uint32_t j = 0; j < count; j++) permutation[j + 1] = b->body->as.transpose.permutation[j] + 1;
    return ct_bulk_transpose(w->r, permutation, count + 1, build_of(w, b, b->body->as.transpose.t));
}

/* build1 k (λi. reshape sh t) ~> reshape (k ::: sh) (build1 k (λi. t)) */
static CtBulk *build_reshape(CtBulkRewriter *w, const Build *b) {
    CtShape shape = ct_bulk_shape_cons(w->r->arena, b->k, b->body->shape);
    return ct_bulk_reshape(w->r, shape, build_of(w, b, b->body->as.t));
}

/* build1 k (λi. stop t) ~> stop (build1 k (λi. t)) */
static CtBulk *build_stop(CtBulkRewriter *w, const Build *b) {
    return ct_bulk_stop(w->r, build_of(w, b, b->body->as.t));
}

/* build1 k (λi. check b t) ~> check (build1 k (λi. b)) (build1 k (λi. t)) */
static CtBulk *build_check(CtBulkRewriter *w, const Build *b) {
    CtBulk *check = b->body, *test = check->as.check.test;
    if (depends(b, test)) test = build_of(w, b, test);
    return ct_bulk_check(w->r, test, check->as.check.code, check->as.check.text, check->range,
                         build_of(w, b, check->as.check.t));
}

/* ---- Fig. 11 ---- */

/* build1 k (λi. index x ix) ~> gather (k ::: sh) x (λ[i]. ix)
 * build1 k (λi. index c ix) ~> gather (k ::: sh) c (λ[i]. ix)
 * build1 k (λi. index [t₁, …, tₖ] [t]) ~> gather (k ::: sh) (build1 k (λi. [t₁, …, tₖ])) (λ[i]. [i, t])
 * build1 k (λi. index (scatter sh t (λis₂. ix₂)) ix) ~> gather (k ::: sh') (build1 k (λi. scatter sh t (λis₂. ix₂)))
 * (λ[i]. i ::: ix)
 * and the last two without i ::: if the indexed array does not depend on i */
static CtBulk *build_index(CtBulkRewriter *w, const Build *b) {
    CtBulk *index = b->body, *t = index->as.move.t;
    bool is_normal =
        index->as.move.f.count > 0 && (t->kind == BULK_VAR || t->kind == BULK_CONST || t->kind == BULK_SCATTER ||
                                       (t->kind == BULK_LITERAL && index->as.move.f.count == 1));
    if (!is_normal) return NULL; /* the rules of Fig. 10 come first */
    bool whole = !depends(b, t);
    CtIndexing f = with_index(w, b, &index->as.move.f, whole);
    CtShape shape = ct_bulk_shape_cons(w->r->arena, b->k, index->shape);
    return ct_bulk_gather(w->r, shape, whole ? t : build_of(w, b, t), f, index->range);
}

static CtBulk *contract_build(CtBulkRewriter *w, CtBulk *t) {
    Build b = {t->shape.sizes[0], t->as.build.var, t->as.build.body};
    if (b.k == 0) return build_none(w, &b);
    if (b.body->kind == BULK_VAR && b.body->as.var == b.i) return build_iota(w, &b);
    if (!depends(&b, b.body)) return ct_bulk_replicate(w->r, b.k, b.body); /* build1 k (λi. t) ~> replicate k t */
    switch (b.body->kind) {
    case BULK_LET: return build_let(w, &b);
    case BULK_COND: return build_cond(w, &b);
    case BULK_OP: return build_op(w, &b);
    case BULK_LOGIC: return build_logic(w, &b);
    case BULK_INDEX: return build_index(w, &b);
    case BULK_REDUCE: return build_reduce(w, &b);
    case BULK_GATHER: return build_gather(w, &b);
    case BULK_SCATTER: return build_scatter(w, &b);
    case BULK_ONE_HOT: return build_one_hot(w, &b);
    case BULK_LITERAL: return build_literal(w, &b);
    case BULK_REPLICATE: return build_replicate(w, &b);
    case BULK_TRANSPOSE: return build_transpose(w, &b);
    case BULK_RESHAPE: return build_reshape(w, &b);
    case BULK_STOP: return build_stop(w, &b);
    case BULK_CHECK: return build_check(w, &b);
    case BULK_LOOP: return ct_bulk_build_loop(w->r, b.k, b.i, b.body);
    case BULK_CONST:
    case BULK_VAR:
    case BULK_BUILD: /* inner ones come first */
    case BULK_SHARE: return NULL;
    }
    return NULL;
}

/* ---- the order of rules ---- */

/* Drops the condition of an index that is always in range. */
static CtBulk *contract_live(CtBulkRewriter *w, CtBulk *t) {
    const CtIndexing *f = &t->as.move.f;
    CtShape shape = t->kind == BULK_SCATTER ? t->shape : t->as.move.t->shape;
    if (f->live == NULL || !ct_bulk_never_misses(w, f, shape)) return NULL;
    CtBulk *free = CT_NEW(w->r->arena, CtBulk);
    *free = *t;
    free->as.move.f.live = NULL;
    return free;
}

/* The body is closed; its normal form is computed separately. */
static CtBulk *contract_loop(CtBulkRewriter *w, CtBulk *t) {
    CtBulkLoop *normal = ct_bulk_loop_normal(w->r, t->as.loop.loop);
    return normal != t->as.loop.loop ? ct_bulk_loop(w->r, normal, t->as.loop.args, t->as.loop.result) : NULL;
}

CtBulk *ct_bulk_contract(CtBulkRewriter *w, CtBulk *t) {
    CtBulk *now = NULL;
    if (t->kind == BULK_INDEX || t->kind == BULK_GATHER || t->kind == BULK_SCATTER) now = contract_live(w, t);
    if (now != NULL) return now;
    if (t->kind == BULK_LOOP) return contract_loop(w, t);
    return t->kind == BULK_INDEX ? ct_bulk_contract_index(w, t) : t->kind == BULK_BUILD ? contract_build(w, t) : NULL;
}

typedef struct Driver {
    CtBulkRewriter w;
    CtMap normal; /* CtBulk * -> its normal form; also for normal forms, so that finished parts are not visited again */
    CtBulkStep *step; /* NULL: steps are not reported */
    void *data;
} Driver;

static CtBulk *normalise(void *data, CtBulk *t) {
    Driver *d = data;
    CtBulk *known = ct_map_get(&d->normal, ct_key(t));
    if (known != NULL) return known;
    CtBulk *parts = ct_bulk_map(d->w.r, t, normalise, d);
    CtBulk *next = ct_bulk_contract(&d->w, parts);
    if (next != NULL && d->step != NULL) d->step(d->data, parts, next);
    CtBulk *result = next != NULL ? normalise(d, next) : parts;
    ct_map_set(d->w.r->arena, &d->normal, ct_key(t), result);
    ct_map_set(d->w.r->arena, &d->normal, ct_key(parts), result);
    return result;
}

CtBulkLoop *ct_bulk_loop_normal(CtBulkBuilder *r, CtBulkLoop *loop) {
    if (loop->normal != NULL) return loop->normal;
    Driver d = {.w.r = r};
    CtBulkLoop *made = ct_bulk_new_loop(r, loop->steps, loop->count, loop->outputs);
    CtBulk **results = made->results;
    bool changed = false;
    *made = *loop;
    made->results = results;
    made->rows = NULL;
    made->normal = made->simple = NULL;
    made->vars.items = NULL;
    made->terms.items = NULL;
    made->vars.count = made->vars.capacity = made->terms.count = made->terms.capacity = 0;
    ct_bulk_note_loop(&d.w, loop);
    for (uint32_t i = 0; i < loop->terms.count; i++) {
        CtBulkVar *var = loop->vars.items[i];
        CtBulk *term = normalise(&d, loop->terms.items[i]);
        if (var->element == ELEMENT_INT) ct_bulk_note_var(&d.w, var, ct_bulk_range(&d.w, term));
        changed |= term != loop->terms.items[i];
        ct_push(r->arena, &made->vars, var);
        ct_push(r->arena, &made->terms, term);
    }
    for (uint32_t i = 0; i < ct_bulk_loop_results(loop); i++) {
        made->results[i] = normalise(&d, loop->results[i]);
        changed |= made->results[i] != loop->results[i];
    }
    if (!changed) made = loop;
    loop->normal = made->normal = made;
    return made;
}

CtBulk *ct_bulk_rewrite_told(CtBulkBuilder *r, CtBulk *t, CtBulkStep *step, void *data) {
    Driver d = {.w.r = r, .step = step, .data = data};
    ct_bulk_note(&d.w, t);
    return normalise(&d, t);
}

CtBulk *ct_bulk_rewrite(CtBulkBuilder *r, CtBulk *t) { return ct_bulk_rewrite_told(r, t, NULL, NULL); }
