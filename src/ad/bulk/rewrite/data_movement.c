/* Simplification rules for index, gather, scatter and oneHot: movements that move nothing, those that replicate or
 * transpose expresses better, and those that can be combined.
 *
 * The rules analyse how an index function depends on each of its variables. */
#include "ad/bulk/rewrite/simplify.h"

static CtShape target_of(const CtBulk *t) {
    return t->kind == BULK_GATHER || t->kind == BULK_INDEX ? t->as.move.t->shape : t->shape;
}

/* The dimensions that the variables range over. */
static CtShape points_of(const CtBulk *t) { return t->kind == BULK_GATHER ? t->shape : t->as.move.t->shape; }

static bool never_misses(CtSimplifier *s, const CtBulk *t) {
    return ct_bulk_never_misses(&s->ranges, &t->as.move.f, target_of(t));
}

bool ct_bulk_may_fail(CtSimplifier *s, const CtBulk *t) {
    const CtIndexing *f = &t->as.move.f;
    bool live = true;
    if (s->ranges.total) return false;
    if (t->kind == BULK_CHECK) return true;
    if (t->kind == BULK_BUILD) return !ct_bulk_is_safe(&s->ranges, t->as.build.body);
    if (t->kind == BULK_LOOP) return !ct_bulk_loop_is_safe(&s->ranges, t->as.loop.loop);
    if (t->kind != BULK_INDEX && t->kind != BULK_GATHER && t->kind != BULK_SCATTER) return false;
    for (uint32_t k = 0; k < f->count; k++)
        if (!ct_bulk_is_safe(&s->ranges, f->ix[k])) return true;
    if (f->live && !ct_bulk_is_safe(&s->ranges, f->live)) return true;
    if (f->live && ct_bulk_is_known_bool(f->live, &live) && !live) return false;
    return !never_misses(s, t);
}

/* ---- making ---- */

/* Rebuilds a term; if its function has lost its last variable, its indices become atoms. */
static CtBulk *made(CtSimplifier *s, const CtBulk *like, CtBulkKind kind, CtShape shape, CtBulk *source, CtIndexing f) {
    if (f.var_count == 0) f = ct_bulk_simplify_indexing(s, f, NULL);
    CtBulk *t = CT_NEW(s->r->arena, CtBulk);
    *t = (CtBulk){.kind = kind, .element = source->element, .shape = shape, .range = like->range};
    t->as.move.t = source;
    t->as.move.f = f;
    return ct_bulk_simplify_emit(s, t);
}

/* f without its variable v. */
static CtIndexing without_var(CtSimplifier *s, CtIndexing f, uint32_t v) {
    CtBulkVar **vars = CT_NEW_ARRAY(s->r->arena, CtBulkVar *, f.var_count);
    for (uint32_t k = 0, to = 0; k < f.var_count; k++)
        if (k != v) vars[to++] = f.vars[k];
    f.vars = vars;
    f.var_count--;
    return f;
}

/* f without its first index. */
static CtIndexing behind_first(CtIndexing f) {
    f.ix++;
    f.count--;
    return f;
}

static CtShape without_size(CtSimplifier *s, CtShape shape, uint32_t v) {
    int64_t *sizes = CT_NEW_ARRAY(s->r->arena, int64_t, shape.rank);
    for (uint32_t k = 0, to = 0; k < shape.rank; k++)
        if (k != v) sizes[to++] = shape.sizes[k];
    return (CtShape){shape.rank - 1, sizes};
}

/* Moves dimension v outermost, or, with `back`, the outermost dimension to v. */
static CtBulk *outermost(CtSimplifier *s, CtBulk *t, uint32_t v, bool back) {
    uint32_t *permutation = CT_NEW_ARRAY(s->r->arena, uint32_t, v + 1);
    for (uint32_t k = 0; k <= v; k++) permutation[k] = back ? (k < v ? k + 1 : 0) : (k ? k - 1 : v);
    return ct_bulk_simplify_emit(s, ct_bulk_transpose(s->r, permutation, v + 1, t));
}

/* ---- what a function does with its variables ---- */

static bool mentions(const CtIndexing *f, uint32_t v, uint32_t count) {
    for (uint32_t k = 0; k < count; k++)
        if (ct_bulk_mentions(f->ix[k], f->vars[v])) return true;
    return f->live && ct_bulk_mentions(f->live, f->vars[v]);
}

/* λ(is ::: j). ix ::: j moves whole rows, like λis. ix, if both sizes of j are the same. */
static bool ends_with_same(const CtBulk *t) {
    const CtIndexing *f = &t->as.move.f;
    if (f->var_count == 0 || f->count == 0) return false;
    const CtBulk *last = f->ix[f->count - 1];
    return last->kind == BULK_VAR && last->as.var == f->vars[f->var_count - 1] &&
           !mentions(f, f->var_count - 1, f->count - 1) &&
           target_of(t).sizes[f->count - 1] == points_of(t).sizes[f->var_count - 1];
}

/* Whether each index is a different variable, with the range of the dimension that it indexes; from[m] is the variable
 * of index m. */
static bool is_permutation(const CtBulk *t, uint32_t *from) {
    const CtIndexing *f = &t->as.move.f;
    bool used[16] = {false};
    if (f->count != f->var_count || f->count > 16) return false;
    for (uint32_t m = 0; m < f->count; m++) {
        uint32_t v = 0;
        while (v < f->var_count && !(f->ix[m]->kind == BULK_VAR && f->ix[m]->as.var == f->vars[v])) v++;
        if (v == f->var_count || used[v] || target_of(t).sizes[m] != points_of(t).sizes[v]) return false;
        used[v] = true;
        from[m] = v;
    }
    return true;
}

static CtBulk *rule_permutation(CtSimplifier *s, CtBulk *t) {
    uint32_t from[16], count = t->as.move.f.count;
    if (!is_permutation(t, from)) return NULL;
    uint32_t *permutation = CT_NEW_ARRAY(s->r->arena, uint32_t, count);
    for (uint32_t m = 0; m < count; m++) {
        if (t->kind == BULK_GATHER)
            permutation[from[m]] = m;
        else
            permutation[m] = from[m];
    }
    return ct_bulk_simplify_emit(s, ct_bulk_transpose(s->r, permutation, count, t->as.move.t));
}

static CtBulk *rule_whole_rows(CtSimplifier *s, CtBulk *t) {
    if (!ends_with_same(t)) return NULL;
    CtIndexing f = t->as.move.f;
    f.var_count--;
    f.count--;
    return made(s, t, t->kind, t->shape, t->as.move.t, f);
}

/* ---- taking from where it came from ---- */

enum { COMPOSED_LIMIT = 40 };

typedef struct Size {
    CtBulkBuilder *r;
    uint32_t nodes;
} Size;

static CtBulk *measure(void *data, CtBulk *t) {
    Size *size = data;
    size->nodes++;
    return t->kind == BULK_VAR || t->kind == BULK_CONST ? t : ct_bulk_map(size->r, t, measure, size);
}

static uint32_t size_of(CtSimplifier *s, CtBulk *t) {
    Size size = {s->r, 0};
    measure(&size, t);
    return size.nodes;
}

/* gather sh (gather sh' t f) g, or index (gather sh' t f) g: the composition of f and g. */
static CtBulk *rule_gathered(CtSimplifier *s, CtBulk *t, CtBulk *inner) {
    CtIndexing g = t->as.move.f, f = inner->as.move.f;
    if (g.count < f.var_count || ct_bulk_may_fail(s, t) || !never_misses(s, t) || ct_bulk_may_fail(s, inner))
        return NULL;
    CtMap replace = {0};
    uint32_t size = 0;
    for (uint32_t k = 0; k < f.var_count; k++) {
        ct_map_set(s->r->arena, &replace, ct_key(f.vars[k]), g.ix[k]);
        size += size_of(s, g.ix[k]);
    }
    for (uint32_t k = 0; k < f.count; k++) size += size_of(s, f.ix[k]);
    if (size > COMPOSED_LIMIT) return NULL;
    uint32_t count = f.count + g.count - f.var_count;
    CtBulk **ix = CT_NEW_ARRAY(s->r->arena, CtBulk *, count);
    for (uint32_t k = 0; k < f.count; k++) ix[k] = ct_bulk_substitute(s->r, f.ix[k], &replace);
    for (uint32_t k = f.count; k < count; k++) ix[k] = g.ix[k - f.count + f.var_count];
    CtBulk *live = f.live ? ct_bulk_substitute(s->r, f.live, &replace) : NULL;
    CtIndexing both = {.vars = g.vars, .var_count = g.var_count, .ix = ix, .count = count, .live = live};
    both = ct_bulk_simplify_indexing(s, both, t->shape.sizes);
    return made(s, t, t->kind, t->shape, inner->as.move.t, both);
}

static CtBulk *rule_transposed(CtSimplifier *s, CtBulk *t, const CtBulk *inner) {
    CtIndexing f = t->as.move.f;
    uint32_t count = inner->as.transpose.count;
    if (f.count < count) return NULL;
    CtBulk **ix = CT_NEW_ARRAY(s->r->arena, CtBulk *, f.count);
    for (uint32_t k = 0; k < f.count; k++) ix[k < count ? inner->as.transpose.permutation[k] : k] = f.ix[k];
    f.ix = ix;
    return made(s, t, t->kind, t->shape, inner->as.transpose.t, f);
}

/* build1 k₁ (λi₁. … build1 kₙ (λiₙ. t)) as bulk operations */
static CtBulk *bulk_of(CtSimplifier *s, const CtIndexing *f, CtShape points, CtBulk *t) {
    for (uint32_t k = f->var_count; k-- > 0;) t = ct_bulk_build(s->r, points.sizes[k], f->vars[k], t);
    return ct_bulk_simplify_walk(s, ct_bulk_rewrite(s->r, t));
}

/* gather sh [t₁, …, tₙ] (λis. cond b k l ::: ix) = cond (build1 … b) (gather sh tₖ (λis. ix)) (gather sh tₗ (λis. ix)):
 * the transform's encoding of a conditional becomes a conditional again. */
static CtBulk *rule_of_items(CtSimplifier *s, CtBulk *t, const CtBulk *inner) {
    CtIndexing f = t->as.move.f;
    int64_t k, l, count = inner->as.literal.count;
    if (f.count == 0) return NULL;
    CtBulk *first = f.var_count ? f.ix[0] : ct_bulk_simplify_known(s, f.ix[0]);
    if (ct_bulk_is_known_int(first, &k) && k >= 0 && k < count)
        return made(s, t, t->kind, t->shape, inner->as.literal.items[k], behind_first(f));
    if (first->kind != BULK_COND || !ct_bulk_is_known_int(first->as.cond.yes, &k) ||
        !ct_bulk_is_known_int(first->as.cond.no, &l))
        return NULL;
    if (k < 0 || k >= count || l < 0 || l >= count) return NULL;
    CtBulk *test = f.var_count ? bulk_of(s, &f, t->shape, first->as.cond.test) : first->as.cond.test;
    CtBulk *yes = made(s, t, t->kind, t->shape, inner->as.literal.items[k], behind_first(f));
    CtBulk *no = made(s, t, t->kind, t->shape, inner->as.literal.items[l], behind_first(f));
    return ct_bulk_simplify_emit(s, ct_bulk_cond(s->r, test, yes, no));
}

static CtBulk *rule_source(CtSimplifier *s, CtBulk *t) {
    CtBulk *source = t->as.move.t, *known = ct_bulk_simplify_known(s, source);
    CtIndexing f = t->as.move.f;
    if (ct_bulk_is_splat(source) && never_misses(s, t) && !ct_bulk_may_fail(s, t))
        return ct_bulk_splat_as(s->r, source, t->shape);
    if (known->kind == BULK_REPLICATE && f.count && ct_bulk_is_inside(&s->ranges, f.ix[0], known->shape.sizes[0]) &&
        ct_bulk_is_safe(&s->ranges, f.ix[0]))
        return made(s, t, t->kind, t->shape, known->as.t, behind_first(f));
    if (known->kind == BULK_GATHER) return rule_gathered(s, t, known);
    if (known->kind == BULK_TRANSPOSE) return rule_transposed(s, t, known);
    if (known->kind == BULK_LITERAL) return rule_of_items(s, t, known);
    return NULL;
}

/* ---- each kind ---- */

static CtBulk *constant_at(CtSimplifier *s, const CtBulk *t) {
    const CtBulk *known = ct_bulk_simplify_known(s, t->as.move.t);
    int64_t at = 0, position;
    if (known->kind != BULK_CONST || t->shape.rank) return NULL;
    for (uint32_t k = 0; k < t->as.move.f.count; k++) {
        if (!ct_bulk_is_known_int(t->as.move.f.ix[k], &position) || position < 0 || position >= known->shape.sizes[k])
            return NULL;
        at = at * known->shape.sizes[k] + position;
    }
    if (t->element == ELEMENT_REAL) return ct_bulk_real(s->r, known->as.constant.reals[at], t->shape);
    if (t->element == ELEMENT_INT) return ct_bulk_int(s->r, known->as.constant.integers[at], t->shape);
    return ct_bulk_bool(s->r, known->as.constant.integers[at] != 0, t->shape);
}

/* index (index t ix) ix' = index t (ix ::: ix') */
static CtBulk *rule_indexed(CtSimplifier *s, CtBulk *t, const CtBulk *inner) {
    CtIndexing f = inner->as.move.f, g = t->as.move.f;
    bool same_shape = f.live && g.live ? ct_bulk_same(f.live, g.live) : f.live == g.live;
    if (!same_shape && !never_misses(s, inner)) return NULL;
    CtBulk **ix = CT_NEW_ARRAY(s->r->arena, CtBulk *, f.count + g.count);
    for (uint32_t k = 0; k < f.count; k++) ix[k] = f.ix[k];
    for (uint32_t k = 0; k < g.count; k++) ix[f.count + k] = g.ix[k];
    CtIndexing both = {.ix = ix, .count = f.count + g.count, .live = g.live};
    return made(s, t, BULK_INDEX, t->shape, inner->as.move.t, both);
}

/* index (cond b t 0) ix = cond b (index t ix) 0, where b is of rank 0 */
static CtBulk *rule_of_side(CtSimplifier *s, CtBulk *t, const CtBulk *inner) {
    CtBulk *yes = inner->as.cond.yes, *no = inner->as.cond.no;
    if (!ct_bulk_is_splat(yes) && !ct_bulk_is_splat(no)) return NULL;
    if (!never_misses(s, t) || ct_bulk_may_fail(s, t)) return NULL;
    yes = made(s, t, BULK_INDEX, t->shape, yes, t->as.move.f);
    no = made(s, t, BULK_INDEX, t->shape, no, t->as.move.f);
    return ct_bulk_simplify_emit(s, ct_bulk_cond(s->r, inner->as.cond.test, yes, no));
}

/* x + n as x and n. */
static CtBulk *without_offset(CtSimplifier *s, CtBulk *t, int64_t *offset) {
    const CtBulk *known = ct_bulk_simplify_known(s, t);
    *offset = 0;
    bool moved = known->kind == BULK_OP && (known->as.op.prim == PRIM_INT_ADD || known->as.op.prim == PRIM_INT_SUB);
    if (!moved || !ct_bulk_is_known_int(known->as.op.args[1], offset)) return t;
    if (known->as.op.prim == PRIM_INT_SUB) *offset = -*offset;
    return known->as.op.args[0];
}

/* Whether two indices certainly differ. */
static bool differ(CtSimplifier *s, CtBulk *a, CtBulk *b) {
    CtRange x = ct_bulk_range(&s->ranges, a), y = ct_bulk_range(&s->ranges, b);
    int64_t m, n;
    if (x.low <= x.high && y.low <= y.high && (x.high < y.low || y.high < x.low)) return true;
    return ct_bulk_same(without_offset(s, a, &m), without_offset(s, b, &n)) && m != n;
}

/* index (cond ([0, …, n − 1] == replicate n i) t u) (j ::: ix), what is read of an updated array: of t if j is i, of u
 * if it certainly is not. So a chain of updates that are read between is made once, at its end. */
static CtBulk *rule_updated(CtSimplifier *s, CtBulk *t, const CtBulk *inner) {
    CtBulk *at = ct_bulk_simplify_marked(s, inner->as.cond.test), *j = t->as.move.f.ix[0];
    if (!at) return NULL;
    if (ct_bulk_same(at, j)) return made(s, t, BULK_INDEX, t->shape, inner->as.cond.yes, t->as.move.f);
    return differ(s, at, j) ? made(s, t, BULK_INDEX, t->shape, inner->as.cond.no, t->as.move.f) : NULL;
}

static CtBulk *rule_index(CtSimplifier *s, CtBulk *t) {
    CtBulk *source = t->as.move.t;
    if (t->as.move.f.count == 0) return source;
    CtBulk *value = ct_bulk_is_splat(source) ? NULL : constant_at(s, t);
    if (value) return value;
    const CtBulk *known = ct_bulk_simplify_known(s, source);
    if (known->kind == BULK_INDEX) return rule_indexed(s, t, known);
    if (known->kind == BULK_COND && known->as.cond.test->shape.rank == 0) return rule_of_side(s, t, known);
    if (known->kind == BULK_COND) return rule_updated(s, t, known);
    return rule_source(s, t);
}

/* A variable that no index depends on makes a replicate. */
static CtBulk *rule_gather(CtSimplifier *s, CtBulk *t) {
    CtIndexing f = t->as.move.f;
    if (f.var_count == 0) return made(s, t, BULK_INDEX, t->shape, t->as.move.t, f);
    CtBulk *simpler = rule_whole_rows(s, t);
    if (!simpler) simpler = rule_permutation(s, t);
    for (uint32_t v = 0; !simpler && v < f.var_count; v++) {
        if (mentions(&f, v, f.count)) continue;
        CtBulk *once = made(s, t, BULK_GATHER, without_size(s, t->shape, v), t->as.move.t, without_var(s, f, v));
        simpler = outermost(s, ct_bulk_simplify_emit(s, ct_bulk_replicate(s->r, t->shape.sizes[v], once)), v, true);
    }
    return simpler ? simpler : rule_source(s, t);
}

/* A variable that no index depends on makes a sum before the scatter. */
static CtBulk *rule_scatter(CtSimplifier *s, CtBulk *t) {
    CtIndexing f = t->as.move.f;
    CtBulk *source = t->as.move.t;
    int64_t position;
    if (ct_bulk_is_splat(source) && ct_bulk_same(source, ct_bulk_zero(s->r, t->element, source->shape)) &&
        !ct_bulk_may_fail(s, t))
        return ct_bulk_zero(s->r, t->element, t->shape);
    if (f.var_count == 0 && !ct_bulk_may_fail(s, t)) return made(s, t, BULK_ONE_HOT, t->shape, source, f);
    CtBulk *simpler = rule_whole_rows(s, t);
    if (!simpler) simpler = rule_permutation(s, t);
    if (simpler) return simpler;
    for (uint32_t v = 0; v < f.var_count; v++) {
        if (mentions(&f, v, f.count)) continue;
        CtBulk *sum =
            ct_bulk_simplify_emit(s, ct_bulk_reduce(s->r, REDUCE_SUM, outermost(s, source, v, false), t->range));
        return made(s, t, BULK_SCATTER, t->shape, sum, without_var(s, f, v));
    }
    if (f.count && ct_bulk_is_known_int(f.ix[0], &position) && position >= 0 && position < t->shape.sizes[0]) {
        CtBulk *inner = made(s, t, BULK_SCATTER, ct_bulk_shape_tail(t->shape, 1), source, behind_first(f));
        CtIndexing first = {.ix = f.ix, .count = 1};
        return made(s, t, BULK_ONE_HOT, t->shape, inner, first);
    }
    return NULL;
}

/* oneHot sh ix (oneHot sh' ix' t) = oneHot sh (ix ::: ix') t */
static CtBulk *rule_one_hot(CtSimplifier *s, CtBulk *t) {
    CtIndexing f = t->as.move.f;
    CtBulk *source = t->as.move.t;
    const CtBulk *known = ct_bulk_simplify_known(s, source);
    if (f.count == 0) return source;
    if (ct_bulk_is_splat(source) && ct_bulk_same(source, ct_bulk_zero(s->r, t->element, source->shape)))
        return ct_bulk_zero(s->r, t->element, t->shape);
    if (known->kind != BULK_ONE_HOT) return NULL;
    CtIndexing g = known->as.move.f;
    CtBulk **ix = CT_NEW_ARRAY(s->r->arena, CtBulk *, f.count + g.count);
    for (uint32_t k = 0; k < f.count; k++) ix[k] = f.ix[k];
    for (uint32_t k = 0; k < g.count; k++) ix[f.count + k] = g.ix[k];
    return made(s, t, BULK_ONE_HOT, t->shape, known->as.move.t, (CtIndexing){.ix = ix, .count = f.count + g.count});
}

CtBulk *ct_bulk_simplify_move(CtSimplifier *s, CtBulk *t) {
    CtIndexing f = t->as.move.f;
    CtShape points = points_of(t);
    bool live;
    for (uint32_t k = 0; k < f.var_count; k++)
        if (points.sizes[k] == 0) return ct_bulk_zero(s->r, t->element, t->shape); /* f is never evaluated */
    if (f.live && (never_misses(s, t) || t->kind == BULK_ONE_HOT || (ct_bulk_is_known_bool(f.live, &live) && live))) {
        if (f.var_count == 0 || ct_bulk_is_safe(&s->ranges, f.live)) {
            f.live = NULL;
            return made(s, t, t->kind, t->shape, t->as.move.t, f);
        }
    }
    if (t->kind == BULK_INDEX) return rule_index(s, t);
    if (t->kind == BULK_GATHER) return rule_gather(s, t);
    return t->kind == BULK_SCATTER ? rule_scatter(s, t) : rule_one_hot(s, t);
}
