/* Range analysis of integer terms by intervals, so that an index that is certainly in range needs no check and no
 * condition.
 *
 * A fact about a variable holds wherever its binder moves, since the rewrite rules move a binder together with its
 * range. */
#include "ad/bulk/ir/ranges.h"
#include "rt/scalar.h"

static const CtRange everything = {INT64_MIN, INT64_MAX}, nothing = {1, 0};

static bool is_nothing(CtRange a) { return a.low > a.high; }

static CtRange join(CtRange a, CtRange b) {
    if (is_nothing(a)) return b;
    if (is_nothing(b)) return a;
    return (CtRange){ct_int_min(a.low, b.low), ct_int_max(a.high, b.high)};
}

/* ---- facts ---- */

void ct_bulk_note_var(CtBulkRewriter *w, CtBulkVar *var, CtRange range) {
    CtRange *fact = CT_NEW(w->r->arena, CtRange);
    *fact = range;
    ct_map_set(w->r->arena, &w->facts, ct_key(var), fact);
}

static CtBulk *note_part(void *data, CtBulk *part) {
    ct_bulk_note(data, part);
    return part;
}

void ct_bulk_note_loop(CtBulkRewriter *w, CtBulkLoop *loop) {
    if (ct_map_has(&w->noted, ct_key(loop))) return;
    ct_map_set(w->r->arena, &w->noted, ct_key(loop), loop);
    ct_bulk_note_var(w, loop->index, (CtRange){0, loop->steps - 1});
    for (uint32_t i = 0; i < loop->vars.count; i++) {
        ct_bulk_note(w, loop->terms.items[i]);
        if (loop->vars.items[i]->element == ELEMENT_INT)
            ct_bulk_note_var(w, loop->vars.items[i], ct_bulk_range(w, loop->terms.items[i]));
    }
    for (uint32_t i = 0; i < ct_bulk_loop_results(loop); i++) ct_bulk_note(w, loop->results[i]);
}

void ct_bulk_note(CtBulkRewriter *w, CtBulk *t) {
    if (ct_map_has(&w->noted, ct_key(t))) return;
    ct_map_set(w->r->arena, &w->noted, ct_key(t), t);
    switch (t->kind) {
    case BULK_LET:
        ct_bulk_note(w, t->as.let.rhs);
        if (t->as.let.rhs->element == ELEMENT_INT) ct_bulk_note_var(w, t->as.let.var, ct_bulk_range(w, t->as.let.rhs));
        ct_bulk_note(w, t->as.let.body);
        return;
    case BULK_BUILD: ct_bulk_note_var(w, t->as.build.var, (CtRange){0, t->shape.sizes[0] - 1}); break;
    case BULK_GATHER:
    case BULK_SCATTER: {
        CtShape points = t->kind == BULK_GATHER ? t->shape : t->as.move.t->shape;
        for (uint32_t i = 0; i < t->as.move.f.var_count; i++)
            ct_bulk_note_var(w, t->as.move.f.vars[i], (CtRange){0, points.sizes[i] - 1});
        break;
    }
    case BULK_LOOP: ct_bulk_note_loop(w, t->as.loop.loop); break;
    default: break;
    }
    ct_bulk_map(w->r, t, note_part, w);
}

/* ---- ranges ---- */

/* The interval spanned by the four corners, for an operation that is monotone in each argument; all integers if it may
 * wrap. */
static CtRange corners(CtRange a, CtRange b, bool (*wraps)(int64_t, int64_t, int64_t *)) {
    int64_t ends[4];
    for (int i = 0; i < 4; i++)
        if (wraps(i & 1 ? a.high : a.low, i & 2 ? b.high : b.low, &ends[i])) return everything;
    CtRange range = {ends[0], ends[0]};
    for (int i = 1; i < 4; i++) range = join(range, (CtRange){ends[i], ends[i]});
    return range;
}

static bool add_wraps(int64_t a, int64_t b, int64_t *y) { return __builtin_add_overflow(a, b, y); }
static bool sub_wraps(int64_t a, int64_t b, int64_t *y) { return __builtin_sub_overflow(a, b, y); }
static bool mul_wraps(int64_t a, int64_t b, int64_t *y) { return __builtin_mul_overflow(a, b, y); }
static bool min_wraps(int64_t a, int64_t b, int64_t *y) { return *y = ct_int_min(a, b), false; }
static bool max_wraps(int64_t a, int64_t b, int64_t *y) { return *y = ct_int_max(a, b), false; }
static bool div_wraps(int64_t a, int64_t b, int64_t *y) { return *y = ct_int_div(a, b), false; }

static CtRange range_of_op(CtBulkRewriter *w, CtBulk *t) {
    if (ct_prim_info(t->as.op.prim)->args[0] != 'I') return everything;
    CtRange a = ct_bulk_range(w, t->as.op.args[0]);
    CtRange b = t->as.op.count == 2 ? ct_bulk_range(w, t->as.op.args[1]) : (CtRange){0, 0};
    if (is_nothing(a) || is_nothing(b)) return nothing;
    bool both_from_zero = a.low >= 0 && b.low > 0;
    switch (t->as.op.prim) {
    case PRIM_INT_ADD: return corners(a, b, add_wraps);
    case PRIM_INT_SUB: return corners(a, b, sub_wraps);
    case PRIM_INT_MUL: return corners(a, b, mul_wraps);
    case PRIM_INT_NEGATE: return corners((CtRange){0, 0}, a, sub_wraps);
    case PRIM_INT_MIN: return corners(a, b, min_wraps);
    case PRIM_INT_MAX: return corners(a, b, max_wraps);
    case PRIM_INT_SIGNUM: return (CtRange){ct_int_signum(a.low), ct_int_signum(a.high)};
    case PRIM_INT_DIV: return b.low > 0 ? corners(a, b, div_wraps) : everything;
    case PRIM_INT_QUOT: return both_from_zero ? corners(a, b, div_wraps) : everything;
    case PRIM_INT_MOD:
        if (b.low <= 0) return everything;
        return a.low >= 0 ? (CtRange){a.high < b.low ? a.low : 0, ct_int_min(a.high, b.high - 1)}
                          : (CtRange){0, b.high - 1};
    case PRIM_INT_REM:
        if (!both_from_zero) return everything;
        return (CtRange){a.high < b.low ? a.low : 0, ct_int_min(a.high, b.high - 1)};
    default: return everything;
    }
}

static CtRange range_of_const(const CtBulk *t) {
    if (t->as.constant.integers == NULL) return (CtRange){t->as.constant.integer, t->as.constant.integer};
    CtRange range = nothing;
    for (int64_t i = 0; i < ct_bulk_shape_count(t->shape); i++)
        range = join(range, (CtRange){t->as.constant.integers[i], t->as.constant.integers[i]});
    return range;
}

static CtRange range_of_reduce(CtBulkRewriter *w, CtBulk *t) {
    const CtRange zero = {0, 0};
    switch (t->as.reduce.reduction) {
    case REDUCE_SUM:
    case REDUCE_PLAIN_SUM:
    case REDUCE_PRODUCT: return everything;
    case REDUCE_MAXIMUM:
    case REDUCE_MINIMUM: return join(ct_bulk_range(w, t->as.reduce.t), zero); /* 0 for an empty array */
    case REDUCE_ARGMAX:
    case REDUCE_ARGMIN: return join((CtRange){0, t->as.reduce.t->shape.sizes[0] - 1}, zero);
    }
    return everything;
}

static CtRange find_range(CtBulkRewriter *w, CtBulk *t) {
    switch (t->kind) {
    case BULK_CONST: return range_of_const(t);
    case BULK_VAR: {
        CtRange *fact = ct_map_get(&w->facts, ct_key(t->as.var));
        return fact != NULL ? *fact : everything;
    }
    case BULK_LET: return ct_bulk_range(w, t->as.let.body);
    case BULK_COND: {
        CtRange yes = ct_bulk_range(w, t->as.cond.yes);
        return join(yes, ct_bulk_range(w, t->as.cond.no));
    }
    case BULK_OP: return range_of_op(w, t);
    case BULK_REDUCE: return range_of_reduce(w, t);
    case BULK_INDEX:
    case BULK_GATHER: {
        CtRange range = ct_bulk_range(w, t->as.move.t);
        return t->as.move.f.live == NULL ? range : join(range, (CtRange){0, 0}); /* an index outside gives 0 */
    }
    case BULK_LITERAL: {
        CtRange range = nothing;
        for (uint32_t i = 0; i < t->as.literal.count; i++)
            range = join(range, ct_bulk_range(w, t->as.literal.items[i]));
        return range;
    }
    case BULK_REPLICATE:
    case BULK_STOP:
    case BULK_RESHAPE: return ct_bulk_range(w, t->as.t);
    case BULK_TRANSPOSE: return ct_bulk_range(w, t->as.transpose.t);
    case BULK_BUILD: return ct_bulk_range(w, t->as.build.body);
    case BULK_SHARE: return ct_bulk_range(w, t->as.share.t);
    case BULK_CHECK: return ct_bulk_range(w, t->as.check.t);
    case BULK_LOGIC:
    case BULK_SCATTER:
    case BULK_ONE_HOT:
    case BULK_LOOP: return everything;
    }
    return everything;
}

CtRange ct_bulk_range(CtBulkRewriter *w, CtBulk *t) {
    CtRange *known = ct_map_get(&w->ranges, ct_key(t));
    if (known == NULL) {
        known = CT_NEW(w->r->arena, CtRange);
        *known = find_range(w, t);
        ct_map_set(w->r->arena, &w->ranges, ct_key(t), known);
    }
    return *known;
}

bool ct_bulk_is_inside(CtBulkRewriter *w, CtBulk *ix, int64_t size) {
    CtRange range = ct_bulk_range(w, ix);
    return is_nothing(range) || (range.low >= 0 && range.high < size);
}

bool ct_bulk_never_misses(CtBulkRewriter *w, const CtIndexing *f, CtShape shape) {
    for (uint32_t i = 0; i < f->count; i++)
        if (!ct_bulk_is_inside(w, f->ix[i], shape.sizes[i])) return false;
    return true;
}

/* ---- what cannot fail ---- */

typedef struct Safety {
    CtBulkRewriter *w;
    bool safe;
} Safety;

static CtBulk *look_at_part(void *data, CtBulk *part) {
    Safety *s = data;
    s->safe = s->safe && ct_bulk_is_safe(s->w, part);
    return part;
}

bool ct_bulk_loop_is_safe(CtBulkRewriter *w, CtBulkLoop *loop) {
    bool safe = true;
    if (loop->total) return true;
    ct_bulk_note_loop(w, loop);
    for (uint32_t i = 0; i < loop->terms.count; i++) safe = safe && ct_bulk_is_safe(w, loop->terms.items[i]);
    for (uint32_t i = 0; i < ct_bulk_loop_results(loop); i++) safe = safe && ct_bulk_is_safe(w, loop->results[i]);
    return safe;
}

bool ct_bulk_is_safe(CtBulkRewriter *w, CtBulk *t) {
    Safety s = {w, t->kind != BULK_CHECK};
    if (t->kind == BULK_CONST || t->kind == BULK_VAR || w->total) return true;
    if (ct_map_has(&w->safe, ct_key(t))) return ct_map_get(&w->safe, ct_key(t)) != NULL;
    if (t->kind == BULK_INDEX || t->kind == BULK_GATHER || t->kind == BULK_SCATTER)
        s.safe = ct_bulk_never_misses(w, &t->as.move.f, t->kind == BULK_SCATTER ? t->shape : t->as.move.t->shape);
    if (t->kind == BULK_LOOP) s.safe = ct_bulk_loop_is_safe(w, t->as.loop.loop);
    ct_bulk_map(w->r, t, look_at_part, &s);
    ct_map_set(w->r->arena, &w->safe, ct_key(t), s.safe ? t : NULL);
    return s.safe;
}
