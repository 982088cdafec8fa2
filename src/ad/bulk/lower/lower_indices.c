/* Lowering of index functions, gathers and scatters: a view if the position is affine in the variables and in range,
 * otherwise an array of positions. The latter is a constant of the program if it depends on the variables only. */
#include "ad/bulk/lower/internal.h"

static CtCore *whole(CtLower *l, CtSourceRange range, int64_t value) { return ct_bulk_lower_int(l, range, value); }

/* ---- views ---- */

/* Removes dimensions of size 1, and joins dimensions that are contiguous. */
static uint32_t join_dims(CtDim *dims, uint32_t rank) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < rank; i++) {
        if (dims[i].size == 1) continue;
        CtDim *last = count > 0 ? &dims[count - 1] : NULL;
        if (last != NULL && last->stride == dims[i].stride * dims[i].size) {
            last->size *= dims[i].size;
            last->stride = dims[i].stride;
        } else {
            dims[count++] = dims[i];
        }
    }
    return count;
}

static CtCore *slice(CtLower *l, CtSourceRange range, int64_t offset, int64_t count, CtCore *array) {
    CtCore *start = whole(l, range, offset), *number = whole(l, range, count);
    return ct_bulk_lower_array(l, range, ARRAY_SLICE, start, number, array);
}

CtCore *ct_bulk_lower_view(CtLower *l, CtSourceRange range, CtCore *array, int64_t count, int64_t offset, CtDim *dims,
                           uint32_t rank) {
    for (uint32_t i = 0; i < rank; i++)
        if (dims[i].size == 0) return slice(l, range, 0, 0, array);
    rank = join_dims(dims, rank);
    bool in_order = rank == 0 || (rank == 1 && dims[0].stride == 1);
    int64_t size = rank == 0 ? 1 : dims[0].size;
    if (in_order && offset == 0 && size == count) return array;
    if (in_order) return slice(l, range, offset, size, array);
    int64_t *numbers = CT_NEW_ARRAY(l->r->arena, int64_t, 1 + 2 * rank);
    numbers[0] = offset;
    for (uint32_t i = 0; i < rank; i++) {
        numbers[1 + 2 * i] = dims[i].size;
        numbers[2 + 2 * i] = dims[i].stride;
    }
    CtCore *view = ct_bulk_lower_ints(l, range, numbers, 1 + 2 * rank);
    return ct_bulk_lower_array(l, range, ARRAY_STRIDED, view, array, NULL);
}

CtCore *ct_bulk_lower_transpose(CtLower *l, CtBulk *t) {
    CtBulk *part = t->as.transpose.t;
    CtDim *dims = CT_NEW_ARRAY(l->r->arena, CtDim, t->shape.rank);
    for (uint32_t i = 0; i < t->shape.rank; i++) {
        uint32_t from = i < t->as.transpose.count ? t->as.transpose.permutation[i] : i;
        dims[i] = (CtDim){t->shape.sizes[i], ct_bulk_shape_count(ct_bulk_shape_tail(part->shape, from + 1))};
    }
    return ct_bulk_lower_view(l, t->range, ct_bulk_lower_term(l, part), ct_bulk_shape_count(t->shape), 0, dims,
                              t->shape.rank);
}

/* ---- affine positions ---- */

/* offset + Σ step · variable. */
typedef struct Affine {
    int64_t offset;
    int64_t *steps;
} Affine;

static Affine still(CtLower *l, const CtIndexing *f, int64_t offset) {
    return (Affine){offset, CT_NEW_ARRAY(l->r->arena, int64_t, f->var_count)};
}

static bool scale(const CtIndexing *f, Affine *a, int64_t by) {
    bool wraps = __builtin_mul_overflow(a->offset, by, &a->offset);
    for (uint32_t i = 0; i < f->var_count; i++) wraps |= __builtin_mul_overflow(a->steps[i], by, &a->steps[i]);
    return !wraps;
}

static bool add(const CtIndexing *f, Affine *a, const Affine *b) {
    bool wraps = __builtin_add_overflow(a->offset, b->offset, &a->offset);
    for (uint32_t i = 0; i < f->var_count; i++) wraps |= __builtin_add_overflow(a->steps[i], b->steps[i], &a->steps[i]);
    return !wraps;
}

static bool is_still(const CtIndexing *f, const Affine *a) {
    for (uint32_t i = 0; i < f->var_count; i++)
        if (a->steps[i] != 0) return false;
    return true;
}

static bool affine(CtLower *l, const CtIndexing *f, CtBulk *ix, Affine *out);

static bool affine_op(CtLower *l, const CtIndexing *f, CtBulk *ix, Affine *out) {
    Affine b;
    if (!affine(l, f, ix->as.op.args[0], out)) return false;
    switch ((int)ix->as.op.prim) {
    case PRIM_INT_NEGATE: return scale(f, out, -1);
    case PRIM_INT_ADD: return affine(l, f, ix->as.op.args[1], &b) && add(f, out, &b);
    case PRIM_INT_SUB: return affine(l, f, ix->as.op.args[1], &b) && scale(f, &b, -1) && add(f, out, &b);
    case PRIM_INT_MUL:
        if (!affine(l, f, ix->as.op.args[1], &b)) return false;
        if (is_still(f, &b)) return scale(f, out, b.offset);
        if (!is_still(f, out) || !scale(f, &b, out->offset)) return false;
        *out = b;
        return true;
    default: return false;
    }
}

/* Analyses an index as an affine function of f's variables; false if it is not of a simple form. */
static bool affine(CtLower *l, const CtIndexing *f, CtBulk *ix, Affine *out) {
    *out = still(l, f, ix->kind == BULK_CONST ? ct_bulk_lower_number(ix) : 0);
    if (ix->kind == BULK_CONST) return true;
    if (ix->kind == BULK_OP) return affine_op(l, f, ix, out);
    if (ix->kind != BULK_VAR) return false;
    for (uint32_t i = 0; i < f->var_count; i++) {
        if (f->vars[i] != ix->as.var) continue;
        out->steps[i] = 1;
        return true;
    }
    return false;
}

/* The affine position of f in an array with these strides, without dimension `but`, if it is always in range. */
static bool affine_position(CtLower *l, const CtIndexing *f, CtShape shape, const int64_t *strides, uint32_t but,
                            Affine *out) {
    *out = still(l, f, 0);
    if (f->live != NULL && !ct_bulk_is_safe(&l->facts, f->live)) return false;
    for (uint32_t d = 0; d < f->count; d++) {
        Affine part;
        if (d == but) continue;
        if (!ct_bulk_is_inside(&l->facts, f->ix[d], shape.sizes[d]) || !affine(l, f, f->ix[d], &part)) return false;
        if (!scale(f, &part, strides[d]) || !add(f, out, &part)) return false;
    }
    return true;
}

enum { NONE_LEFT_OUT = UINT32_MAX };

static int64_t *strides_of(CtLower *l, CtShape shape, uint32_t count, int64_t unit) {
    int64_t *strides = CT_NEW_ARRAY(l->r->arena, int64_t, shape.rank);
    for (uint32_t d = count; d-- > 0;) {
        strides[d] = unit;
        unit *= shape.sizes[d];
    }
    return strides;
}

static CtDim *dims_of(CtLower *l, const CtIndexing *f, CtShape points, const Affine *a, int64_t row) {
    CtDim *dims = CT_NEW_ARRAY(l->r->arena, CtDim, f->var_count + 1);
    for (uint32_t i = 0; i < f->var_count; i++) dims[i] = (CtDim){points.sizes[i], a->steps[i]};
    dims[f->var_count] = (CtDim){row, 1};
    return dims;
}

static int64_t points_of(const CtIndexing *f, CtShape points) {
    int64_t count = 1;
    for (uint32_t i = 0; i < f->var_count; i++) count *= points.sizes[i];
    return count;
}

/* ---- positions, one by one ---- */

typedef struct Position {
    CtSourceRange range;
    const CtIndexing *f;
    CtShape shape;
    CtCore **at; /* the indices, bound to names */
    CtCore *live;
    bool never; /* `live` is False */
} Position;

/* The value for an index out of range: −1, or the error of the read. */
static CtCore *missed(CtLower *l, const Position *p, uint32_t d) {
    CtCore *nowhere = whole(l, p->range, -1);
    if (p->never) return nowhere;
    CtCore *all = ct_bulk_lower_array(l, p->range, ARRAY_IOTA, whole(l, p->range, p->shape.sizes[d]), NULL, NULL);
    CtCore *error =
        ct_bulk_lower_failure(l, p->range, ct_bulk_lower_array(l, p->range, ARRAY_INDEX, all, p->at[d], NULL));
    return p->live == NULL ? error : ct_core_if(l->p, p->range, p->live, error, nowhere);
}

static CtCore *row_number(CtLower *l, const Position *p) {
    CtCore *number = p->f->count == 0 ? whole(l, p->range, 0) : p->at[0];
    for (uint32_t d = 1; d < p->f->count; d++) {
        CtCore *above = ct_bulk_lower_op(l, p->range, PRIM_INT_MUL, number, whole(l, p->range, p->shape.sizes[d]));
        number = ct_bulk_lower_op(l, p->range, PRIM_INT_ADD, above, p->at[d]);
    }
    return number;
}

/* The row number that f gives for the current values of its variables; −1 where it is out of range and not needed. */
CtCore *ct_bulk_lower_position(CtLower *l, const CtIndexing *f, CtShape shape, CtSourceRange range) {
    CtSeq seq = ct_ad_seq(l->p, NULL);
    Position p = {.range = range, .f = f, .shape = shape, .at = CT_NEW_ARRAY(l->r->arena, CtCore *, f->count)};
    for (uint32_t d = 0; d < f->count; d++) p.at[d] = ct_ad_seq_name(&seq, "i", ct_bulk_lower_term(l, f->ix[d]));
    bool misses = !ct_bulk_never_misses(&l->facts, f, shape);
    p.never = l->facts.total || (f->live != NULL && f->live->kind == BULK_CONST && ct_bulk_lower_number(f->live) == 0);
    if (f->live != NULL && !p.never && (misses || !ct_bulk_is_safe(&l->facts, f->live)))
        p.live = ct_ad_seq_name(&seq, "live", ct_bulk_lower_term(l, f->live));
    CtCore *number = row_number(l, &p);
    for (uint32_t d = f->count; d-- > 0;) {
        if (ct_bulk_is_inside(&l->facts, f->ix[d], shape.sizes[d])) continue;
        CtCore *below = ct_bulk_lower_op(l, range, PRIM_INT_LT, p.at[d], whole(l, range, shape.sizes[d]));
        number = ct_core_if(l->p, range, below, number, missed(l, &p, d));
        CtCore *above = ct_bulk_lower_op(l, range, PRIM_INT_LE, whole(l, range, 0), p.at[d]);
        number = ct_core_if(l->p, range, above, number, missed(l, &p, d));
    }
    return ct_ad_seq_close(&seq, number);
}

/* Whether the position may be −1. */
static bool may_be_nowhere(CtLower *l, const CtIndexing *f, CtShape shape) {
    return f->live != NULL && !ct_bulk_never_misses(&l->facts, f, shape);
}

/* ---- loops over points ---- */

/* build n (λp. let i = p / …; j = …; … in body) */
typedef struct Points {
    CtLowerLoop loop;
    CtVar *p, **vars, **before;
} Points;

static void enter_points(CtLower *l, const CtIndexing *f, CtShape points, Points *out) {
    ct_bulk_lower_enter(l, &out->loop);
    out->p = ct_core_var_new(l->p, "p", l->p->int_type);
    out->vars = CT_NEW_ARRAY(l->r->arena, CtVar *, f->var_count);
    out->before = CT_NEW_ARRAY(l->r->arena, CtVar *, f->var_count);
    for (uint32_t i = 0; i < f->var_count; i++) {
        out->vars[i] = f->var_count == 1 ? out->p : ct_core_var_new(l->p, f->vars[i]->name, l->p->int_type);
        out->before[i] = ct_bulk_lower_bind(l, f->vars[i], out->vars[i]);
        ct_bulk_lower_own(l, f->vars[i], points.sizes[i]);
    }
}

/* The i-th variable at point p. */
static CtCore *nth_index(CtLower *l, CtSourceRange range, const CtIndexing *f, CtShape points, CtVar *p, uint32_t i) {
    CtCore *number = ct_core_var(l->p, range, p);
    int64_t inner = 1;
    for (uint32_t j = i + 1; j < f->var_count; j++) inner *= points.sizes[j];
    if (inner != 1) number = ct_bulk_lower_op(l, range, PRIM_INT_QUOT, number, whole(l, range, inner));
    if (i > 0) number = ct_bulk_lower_op(l, range, PRIM_INT_REM, number, whole(l, range, points.sizes[i]));
    return number;
}

static CtCore *leave_points(CtLower *l, CtSourceRange range, const CtIndexing *f, CtShape points, Points *at,
                            CtCore *body) {
    for (uint32_t i = f->var_count; i-- > 0;) {
        ct_bulk_lower_unbind(l, f->vars[i], at->before[i]);
        if (f->var_count == 1) continue;
        body = ct_core_let(l->p, range, at->vars[i], nth_index(l, range, f, points, at->p, i), body);
    }
    CtCore *fun = ct_core_lam(l->p, range, NULL, &at->p, 1, body);
    CtCore *made = ct_bulk_lower_array(l, range, ARRAY_BUILD, whole(l, range, points_of(f, points)), fun, NULL);
    return ct_bulk_lower_leave(l, &at->loop, made);
}

/* ---- constant arrays of positions ---- */

/* Arrays of positions, cached in the builder by the function's first index. */
typedef struct Positions {
    CtIndexing f;
    CtShape shape, points;
    CtCore *constant;
    struct Positions *next;
} Positions;

static bool same_indexing(const Positions *a, const CtIndexing *f, CtShape shape, CtShape points) {
    if (a->f.count != f->count || a->f.var_count != f->var_count || a->f.live != f->live) return false;
    for (uint32_t i = 0; i < f->count; i++)
        if (a->f.ix[i] != f->ix[i] || a->shape.sizes[i] != shape.sizes[i]) return false;
    for (uint32_t i = 0; i < f->var_count; i++)
        if (a->f.vars[i] != f->vars[i] || a->points.sizes[i] != points.sizes[i]) return false;
    return true;
}

/* The variables that a term uses and binds. */
typedef struct Names {
    CtLower *l;
    CtMap seen, bound;
    CT_VEC(CtBulkVar *) used;
} Names;

static CtBulk *collect(void *data, CtBulk *t) {
    Names *n = data;
    CtArena *arena = n->l->r->arena;
    if (ct_map_has(&n->seen, ct_key(t))) return t;
    ct_map_set(arena, &n->seen, ct_key(t), t);
    if (t->kind == BULK_VAR) ct_push(arena, &n->used, t->as.var);
    if (t->kind == BULK_LET) ct_map_set(arena, &n->bound, ct_key(t->as.let.var), t);
    if (t->kind == BULK_BUILD) ct_map_set(arena, &n->bound, ct_key(t->as.build.var), t);
    if (t->kind == BULK_GATHER || t->kind == BULK_SCATTER)
        for (uint32_t i = 0; i < t->as.move.f.var_count; i++)
            ct_map_set(arena, &n->bound, ct_key(t->as.move.f.vars[i]), t);
    ct_bulk_map(n->l->r, t, collect, n);
    return t;
}

static bool is_closed(CtLower *l, const CtIndexing *f) {
    Names n = {.l = l};
    for (uint32_t i = 0; i < f->count; i++) collect(&n, f->ix[i]);
    if (f->live != NULL) collect(&n, f->live);
    for (uint32_t i = 0; i < f->var_count; i++) ct_map_set(l->r->arena, &n.bound, ct_key(f->vars[i]), l);
    for (uint32_t i = 0; i < n.used.count; i++)
        if (!ct_map_has(&n.bound, ct_key(n.used.items[i]))) return false;
    return true;
}

CtCore *ct_bulk_lower_positions(CtLower *l, const CtIndexing *f, CtShape shape, CtShape points, CtSourceRange range) {
    bool closed = is_closed(l, f);
    uint64_t key = f->count > 0 ? ct_key(f->ix[0]) : 1;
    Positions *known = ct_map_get(&l->r->positions, key);
    for (Positions *other = known; closed && other != NULL; other = other->next)
        if (same_indexing(other, f, shape, points)) return other->constant;
    CtLower before = *l;
    CtVar *again = l->r->again;
    bool total = l->facts.total;
    if (closed) before = ct_bulk_lower_begin_apart(l);
    if (closed) l->r->again = NULL;     /* nothing from here is in scope of a constant */
    if (closed) l->facts.total = false; /* it is used elsewhere, too */
    Points at;
    enter_points(l, f, points, &at);
    CtCore *body = ct_bulk_lower_position(l, f, shape, range);
    CtCore *all = leave_points(l, range, f, points, &at, body);
    l->r->again = again;
    l->facts.total = total;
    if (!closed) return all;
    ct_bulk_lower_end_apart(l, &before);
    Positions *made = CT_NEW(l->r->arena, Positions);
    *made = (Positions){*f, shape, points, ct_bulk_lower_constant(l, all), known};
    ct_map_set(l->r->arena, &l->r->positions, key, made);
    return made->constant;
}

/* ---- index ---- */

/* The row with that number, or the value for −1. */
static CtCore *read_row(CtLower *l, CtBulk *t, CtCore *xs, CtCore *number) {
    int64_t m = ct_bulk_shape_count(t->shape);
    if (t->shape.rank == 0)
        return ct_bulk_lower_value(l, t->element, ct_bulk_lower_array(l, t->range, ARRAY_INDEX, xs, number, NULL));
    CtCore *start = ct_bulk_lower_op(l, t->range, PRIM_INT_MUL, number, whole(l, t->range, m));
    return ct_bulk_lower_array(l, t->range, ARRAY_SLICE, start, whole(l, t->range, m), xs);
}

static CtCore *no_row(CtLower *l, CtBulk *t) {
    if (t->shape.rank > 0) return ct_bulk_lower_zeros(l, t->range, t->element, ct_bulk_shape_count(t->shape));
    return t->element == ELEMENT_BOOL ? ct_core_bool(l->p, t->range, false)
                                      : ct_bulk_lower_zero(l, t->range, t->element);
}

/* Also for a GATHER without variables. */
CtCore *ct_bulk_lower_index(CtLower *l, CtBulk *t) {
    CtBulk *source = t->as.move.t;
    const CtIndexing *f = &t->as.move.f;
    if (f->count == 0) {
        CtSeq seq = ct_ad_seq(l->p, NULL);
        CtCore *all = ct_ad_seq_name(&seq, "xs", ct_bulk_lower_term(l, source));
        if (f->live != NULL && !ct_bulk_is_safe(&l->facts, f->live))
            ct_ad_seq_name(&seq, "live", ct_bulk_lower_term(l, f->live));
        return ct_ad_seq_close(&seq, all);
    }
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtCore *xs = ct_ad_seq_name(&seq, "xs", ct_bulk_lower_term(l, source));
    bool says_itself = l->r->again == NULL || ct_bulk_never_misses(&l->facts, f, source->shape);
    if (f->count == 1 && f->live == NULL && t->shape.rank == 0 && says_itself) {
        CtCore *number = ct_bulk_lower_term(l, f->ix[0]);
        return ct_ad_seq_close(&seq, read_row(l, t, xs, number));
    }
    CtCore *number = ct_ad_seq_name(&seq, "at", ct_bulk_lower_position(l, f, source->shape, t->range));
    CtCore *row = read_row(l, t, xs, number);
    if (may_be_nowhere(l, f, source->shape)) {
        CtCore *nowhere = ct_bulk_lower_op(l, t->range, PRIM_INT_LT, number, whole(l, t->range, 0));
        row = ct_core_if(l->p, t->range, nowhere, no_row(l, t), row);
    }
    return ct_ad_seq_close(&seq, row);
}

/* ---- gather ---- */

/* A scalar term in f's variables as an array over all points; NULL if it has no simple form. */
static CtBulk *over_points(CtLower *l, const CtIndexing *f, CtShape points, CtBulk *t) {
    bool depends = false;
    for (uint32_t i = 0; i < f->var_count; i++) depends |= ct_bulk_mentions(t, f->vars[i]);
    if (!depends && !ct_bulk_is_safe(&l->facts, t)) return NULL; /* it must fail only if there are points */
    if (!depends) {
        for (uint32_t i = f->var_count; i-- > 0;) t = ct_bulk_replicate(l->r, points.sizes[i], t);
        return t;
    }
    if (t->kind == BULK_OP || t->kind == BULK_LOGIC) {
        bool is_op = t->kind == BULK_OP;
        uint32_t count = is_op ? t->as.op.count : t->as.logic.logic == LOGIC_NOT ? 1 : 2;
        CtBulk *args[2] = {NULL, NULL};
        for (uint32_t i = 0; i < count; i++) {
            args[i] = over_points(l, f, points, is_op ? t->as.op.args[i] : t->as.logic.args[i]);
            if (args[i] == NULL) return NULL;
        }
        if (!is_op) return ct_bulk_logic(l->r, t->as.logic.logic, args[0], args[1]);
        return count == 1 ? ct_bulk_op1(l->r, t->as.op.prim, args[0])
                          : ct_bulk_op2(l->r, t->as.op.prim, args[0], args[1]);
    }
    if (t->kind != BULK_INDEX || !ct_bulk_is_safe(&l->facts, t->as.move.t)) return NULL;
    for (uint32_t i = 0; i < f->var_count; i++)
        if (ct_bulk_mentions(t->as.move.t, f->vars[i])) return NULL;
    CtIndexing g = t->as.move.f;
    g.vars = f->vars;
    g.var_count = f->var_count;
    CtShape shape = ct_bulk_shape_of(l->r->arena, points.sizes, f->var_count);
    return ct_bulk_gather(l->r, shape, t->as.move.t, g, t->range);
}

/* The same as an array of numbers, for every term. */
static CtCore *array_over_points(CtLower *l, const CtIndexing *f, CtShape points, CtBulk *t) {
    CtBulk *array = over_points(l, f, points, t);
    if (array != NULL) return ct_bulk_lower_term(l, array);
    Points at;
    enter_points(l, f, points, &at);
    CtCore *body = ct_bulk_lower_item(l, t->element, ct_bulk_lower_term(l, t));
    return leave_points(l, t->range, f, points, &at, body);
}

/* gather sh [u, v] (λ… . […, cond b 0 1, …]), with the literal possibly transposed: BULK's encoding of a conditional
 * under build1. */
typedef struct Choice {
    CtBulk *test, *items[2];
    uint32_t at;      /* the dimension of size two */
    int64_t *strides; /* strides of the other dimensions, in an item */
    int64_t row;
} Choice;

static bool is_number(const CtBulk *t, int64_t number) {
    return t->kind == BULK_CONST && ct_bulk_lower_number(t) == number;
}

static bool find_choice(CtLower *l, CtBulk *t, Choice *out) {
    CtBulk *source = t->as.move.t, *literal = source->kind == BULK_TRANSPOSE ? source->as.transpose.t : source;
    const CtIndexing *f = &t->as.move.f;
    if (literal->kind != BULK_LITERAL || literal->as.literal.count != 2) return false;
    out->strides = CT_NEW_ARRAY(l->r->arena, int64_t, source->shape.rank);
    for (uint32_t d = 0; d < source->shape.rank; d++) {
        bool moved = source->kind == BULK_TRANSPOSE && d < source->as.transpose.count;
        uint32_t from = moved ? source->as.transpose.permutation[d] : d;
        if (from == 0) out->at = d;
        if (from > 0) out->strides[d] = ct_bulk_shape_count(ct_bulk_shape_tail(literal->shape, from + 1));
        bool in_row = d >= f->count;
        if (in_row && from != d) return false;
    }
    if (out->at >= f->count || f->ix[out->at]->kind != BULK_COND) return false;
    CtBulk *which = f->ix[out->at];
    bool plain = is_number(which->as.cond.yes, 0) && is_number(which->as.cond.no, 1);
    bool other = is_number(which->as.cond.yes, 1) && is_number(which->as.cond.no, 0);
    out->test = which->as.cond.test;
    out->items[0] = literal->as.literal.items[plain ? 0 : 1];
    out->items[1] = literal->as.literal.items[plain ? 1 : 0];
    out->row = ct_bulk_shape_count(ct_bulk_shape_tail(source->shape, f->count));
    return plain || other;
}

static CtCore *lower_choice(CtLower *l, CtBulk *t, const Choice *choice, const Affine *a) {
    const CtIndexing *f = &t->as.move.f;
    int64_t points = points_of(f, t->shape), size = ct_bulk_shape_count(choice->items[0]->shape);
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtCore *views[2];
    for (int i = 0; i < 2; i++) {
        CtCore *item = ct_bulk_lower_flat(l, choice->items[i]);
        CtDim *dims = dims_of(l, f, t->shape, a, choice->row);
        views[i] = ct_bulk_lower_view(l, t->range, item, size, a->offset, dims, f->var_count + 1);
        views[i] = ct_ad_seq_name(&seq, "xs", views[i]);
    }
    CtCore *test = array_over_points(l, f, t->shape, choice->test);
    CtDim each[] = {{points, 1}, {choice->row, 0}};
    test = ct_bulk_lower_view(l, t->range, test, points, 0, each, 2);
    return ct_ad_seq_close(&seq, ct_bulk_lower_array(l, t->range, ARRAY_SELECT, test, views[0], views[1]));
}

CtCore *ct_bulk_lower_gather(CtLower *l, CtBulk *t) {
    CtBulk *source = t->as.move.t;
    const CtIndexing *f = &t->as.move.f;
    if (f->var_count == 0) return ct_bulk_lower_index(l, t);
    for (uint32_t i = 0; i < f->var_count; i++) ct_bulk_lower_own(l, f->vars[i], t->shape.sizes[i]);
    Affine a;
    Choice choice = {0};
    if (find_choice(l, t, &choice) && affine_position(l, f, source->shape, choice.strides, choice.at, &a))
        return lower_choice(l, t, &choice, &a);
    int64_t m = ct_bulk_shape_count(ct_bulk_shape_tail(t->shape, f->var_count)),
            count = ct_bulk_shape_count(source->shape);
    CtCore *xs = ct_bulk_lower_flat(l, source);
    if (affine_position(l, f, source->shape, strides_of(l, source->shape, f->count, m), NONE_LEFT_OUT, &a)) {
        CtDim *dims = dims_of(l, f, t->shape, &a, m);
        return ct_bulk_lower_view(l, t->range, xs, count, a.offset, dims, f->var_count + 1);
    }
    CtSeq seq = ct_ad_seq(l->p, NULL);
    xs = ct_ad_seq_name(&seq, "xs", xs);
    CtBulk *plain = f->count == 1 && f->live == NULL && m == 1 ? over_points(l, f, t->shape, f->ix[0]) : NULL;
    if (plain != NULL)
        return ct_ad_seq_close(&seq,
                               ct_bulk_lower_array(l, t->range, ARRAY_GATHER, xs, ct_bulk_lower_term(l, plain), NULL));
    CtCore *rows = ct_ad_seq_name(&seq, "rows", ct_bulk_lower_positions(l, f, source->shape, t->shape, t->range));
    CtCore *none = ct_bulk_lower_zeros(l, t->range, t->element, m);
    return ct_ad_seq_close(&seq, ct_bulk_lower_array(l, t->range, ARRAY_GATHER_OR, none, rows, xs));
}

/* ---- scatter ---- */

/* [0 …, xs, 0 …]; adding it to an array leaves other elements unchanged, since the zeros are −0.0. */
static CtCore *between_zeros(CtLower *l, CtBulk *t, CtCore *xs, int64_t before, int64_t after) {
    CtSeq seq = ct_ad_seq(l->p, NULL);
    if (before > 0) {
        CtCore *named = ct_ad_seq_name(&seq, "xs", xs);
        xs = ct_bulk_lower_array(l, t->range, ARRAY_APPEND, ct_bulk_lower_zeros(l, t->range, t->element, before), named,
                                 NULL);
    }
    if (after > 0)
        xs = ct_bulk_lower_array(l, t->range, ARRAY_APPEND, xs, ct_bulk_lower_zeros(l, t->range, t->element, after),
                                 NULL);
    return ct_ad_seq_close(&seq, xs);
}

/* A scatter of consecutive rows to consecutive indices; NULL for others. */
static CtCore *scatter_in_order(CtLower *l, CtBulk *t, CtCore *xs, const Affine *a, int64_t m) {
    const CtIndexing *f = &t->as.move.f;
    int64_t count = points_of(f, t->as.move.t->shape) * m, all = ct_bulk_shape_count(t->shape);
    CtDim *dims = dims_of(l, f, t->as.move.t->shape, a, m);
    uint32_t rank = count == 0 ? UINT32_MAX : join_dims(dims, f->var_count + 1);
    if (rank > 1 || (rank == 1 && dims[0].stride != 1)) return NULL;
    return between_zeros(l, t, xs, a->offset, all - a->offset - count);
}

enum { SHORT = 4 }; /* a dimension shorter than another one by this factor should not be innermost */
/* If the last dimension is short, orders the dimensions of the points by size, so that additions run along contiguous
 * elements. Returns the source in that order. */
static CtCore *long_runs(CtLower *l, CtSourceRange range, CtCore *xs, CtDim *dims, uint32_t rank) {
    int64_t longest = 0, weight = 1;
    CtDim *source = CT_NEW_ARRAY(l->r->arena, CtDim, rank);
    for (uint32_t i = rank; i-- > 0; weight *= dims[i].size) {
        source[i] = (CtDim){dims[i].size, weight};
        if (dims[i].size > longest) longest = dims[i].size;
    }
    if (dims[rank - 1].size > longest / SHORT) return xs;
    for (uint32_t i = 1; i < rank; i++) {
        CtDim to = dims[i], from = source[i];
        uint32_t k = i;
        for (; k > 0 && dims[k - 1].size > to.size; k--) {
            dims[k] = dims[k - 1];
            source[k] = source[k - 1];
        }
        dims[k] = to;
        source[k] = from;
    }
    return ct_bulk_lower_view(l, range, xs, weight, 0, source, rank);
}

CtCore *ct_bulk_lower_scatter(CtLower *l, CtBulk *t) {
    CtBulk *source = t->as.move.t;
    const CtIndexing *f = &t->as.move.f;
    CtShape points = source->shape;
    for (uint32_t i = 0; i < f->var_count; i++) ct_bulk_lower_own(l, f->vars[i], points.sizes[i]);
    int64_t m = ct_bulk_shape_count(ct_bulk_shape_tail(source->shape, f->var_count)),
            count = ct_bulk_shape_count(t->shape);
    CtCore *xs = ct_bulk_lower_flat(l, source);
    Affine a;
    bool is_affine = affine_position(l, f, t->shape, strides_of(l, t->shape, f->count, m), NONE_LEFT_OUT, &a);
    CtCore *in_order = is_affine ? scatter_in_order(l, t, xs, &a, m) : NULL;
    if (in_order != NULL) return ct_bulk_lower_unflat(l, t, in_order);
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtCore *rows;
    if (is_affine && m > 0 && points_of(f, points) > 0) {
        CtDim *dims = dims_of(l, f, points, &a, 1);
        for (uint32_t i = 0; i < f->var_count; i++) dims[i].stride /= m;
        if (m == 1 && f->var_count > 0) xs = long_runs(l, t->range, xs, dims, f->var_count);
        CtCore *all = ct_bulk_lower_array(l, t->range, ARRAY_IOTA, whole(l, t->range, count / m), NULL, NULL);
        rows = ct_bulk_lower_constant(
            l, ct_bulk_lower_view(l, t->range, all, count / m, a.offset / m, dims, f->var_count));
    } else {
        xs = ct_ad_seq_name(&seq, "xs", xs);
        rows = ct_bulk_lower_positions(l, f, t->shape, points, t->range);
    }
    CtCore *sums = ct_bulk_lower_array(l, t->range, ARRAY_SCATTER_ADD, whole(l, t->range, count), rows, xs);
    return ct_ad_seq_close(&seq, ct_bulk_lower_unflat(l, t, sums));
}

CtCore *ct_bulk_lower_one_hot(CtLower *l, CtBulk *t) {
    CtIndexing f = t->as.move.f;
    f.live = ct_bulk_bool(l->r, false, (CtShape){0, NULL});
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtCore *xs = ct_ad_seq_name(&seq, "xs", ct_bulk_lower_flat(l, t->as.move.t));
    CtCore *row = ct_bulk_lower_position(l, &f, t->shape, t->range);
    CtCore *rows = ct_core_array_lit(l->p, t->range, l->p->int_type, &row, 1);
    CtCore *count = whole(l, t->range, ct_bulk_shape_count(t->shape));
    CtCore *sums = ct_bulk_lower_array(l, t->range, ARRAY_SCATTER_ADD, count, rows, xs);
    return ct_ad_seq_close(&seq, ct_bulk_lower_unflat(l, t, sums));
}
