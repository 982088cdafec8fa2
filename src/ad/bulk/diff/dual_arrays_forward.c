/* Stage 2 of BULK 2025: D on the normal forms of Theorem 5.1 (Figs. 12 to 15), in the form of Eq. (6): a list of primal
 * bindings, a primal, and a Delta term that uses the bindings but contains no computation of its own. No monad is
 * needed: what the figures bind is appended to the list.
 *
 * D' (Fig. 13) is a renaming of variables here, because a dual array is represented by two variables and not by a pair.
 *
 * Beyond the paper: Cond is a constructor of Delta, because the shape of a Delta term must not depend on run time;
 * maximum, minimum and product have the rules given at their functions; check reports its error in the primal, and has
 * the derivative of its term. */
#include "ad/bulk/diff/delta.h"
#include "ad/bulk/rewrite/simplify.h"

#include <assert.h>
#include <math.h>

/* (x, d) */
typedef struct Dual {
    CtBulk *x;
    CtDelta *d;
} Dual;

typedef struct Maker {
    CtBulkBuilder *r;
    CtMap primals; /* for renamed variables: CtBulkVar -> CtBulk */
    CtMap deltas;  /* variable -> CtDelta; none for constants */
    CtMap bound;   /* variables in `out`, each of which is bound once */
    CT_VEC(CtDeltaLoop *) loops;
    CtMap without; /* CtBulkLoop * -> the same loop without its rule */
    CtMap made;    /* those of these loops whose names are not the program's */
    CtBulkDual out;
} Maker;

/* ---- Delta terms; what is made of Zero is Zero ---- */

static CtDelta *delta(Maker *m, CtDeltaKind kind, CtShape shape, CtDelta *first, CtDelta *second) {
    CtDelta *made = CT_NEW(m->r->arena, CtDelta);
    *made = (CtDelta){.kind = kind, .shape = shape, .parts = {first, second}};
    return made;
}

static CtDelta *add(Maker *m, CtDelta *a, CtDelta *b) { return !a ? b : !b ? a : delta(m, DELTA_ADD, a->shape, a, b); }

static CtDelta *scale(Maker *m, CtBulk *by, CtDelta *d) {
    if (!d) return NULL;
    CtDelta *made = delta(m, DELTA_SCALE, d->shape, d, NULL);
    made->as.primal = by;
    return made;
}

static CtDelta *choose(Maker *m, CtBulk *test, CtDelta *yes, CtDelta *no) {
    if (!yes && !no) return NULL;
    CtDelta *made = delta(m, DELTA_SELECT, yes ? yes->shape : no->shape, yes, no);
    made->as.primal = test;
    return made;
}

static CtDelta *move(Maker *m, CtDeltaKind kind, CtShape shape, CtDelta *d, CtIndexing f, CtSourceRange range) {
    if (!d) return NULL;
    CtDelta *made = delta(m, kind, shape, d, NULL);
    made->as.f = f;
    made->range = range;
    return made;
}

static CtDelta *reshaped(Maker *m, CtDeltaKind kind, CtShape shape, CtDelta *d) {
    return d ? delta(m, kind, shape, d, NULL) : NULL;
}

/* id ← genID; Share id d. A Delta term that is shared already, or an input, needs no other name. */
static CtDelta *share(Maker *m, CtDelta *d) {
    if (!d || d->kind == DELTA_SHARE || d->kind == DELTA_INPUT || d->kind == DELTA_RESULT) return d;
    CtDelta *made = delta(m, DELTA_SHARE, d->shape, d, NULL);
    made->as.share.id = ++m->out.shares;
    return made;
}

/* ---- names ---- */

static uint64_t hash_text(const char *text) {
    uint64_t hash = 14695981039346656037u;
    while (*text) hash = (hash ^ (unsigned char)*text++) * 1099511628211u;
    return hash;
}

/* `names` maps a name to one more than the last number it was given. */
const char *ct_bulk_fresh_name(CtArena *arena, CtMap *names, const char *base, bool numbered) {
    uint64_t key = hash_text(base);
    uintptr_t count = (uintptr_t)ct_map_get(names, key);
    const char *made = base;
    if (count || numbered) {
        do {
            made = ct_format(arena, "%s%llu", base, (unsigned long long)(count ? count : 1));
            count += count ? 1 : 2;
        } while (ct_map_has(names, hash_text(made)));
        ct_map_set(arena, names, hash_text(made), (void *)(uintptr_t)1);
    } else {
        count = 1;
    }
    ct_map_set(arena, names, key, (void *)count);
    return made;
}

/* ---- primal bindings ---- */

static bool is_atom(const CtBulk *t) { return t->kind == BULK_VAR || t->kind == BULK_CONST; }

static void bind(Maker *m, CtBulkVar *var, CtBulk *rhs) {
    ct_push(m->r->arena, &m->out.vars, var);
    ct_push(m->r->arena, &m->out.terms, rhs);
    ct_map_set(m->r->arena, &m->bound, ct_key(var), var);
}

/* A variable (or constant) that stands for t. */
static CtBulk *name(Maker *m, const char *text, CtBulk *t) {
    if (is_atom(t)) return t;
    text = ct_bulk_fresh_name(m->r->arena, &m->out.names, text, true);
    CtBulkVar *var = ct_bulk_new_var(m->r, text, t->element, t->shape);
    ct_map_set(m->r->arena, &m->made, ct_key(var), var);
    bind(m, var, t);
    return ct_bulk_var(m->r, var);
}

/* let x = rhs, bound to x itself unless x or its name is bound already, by a term met before or by another binder. A
 * generated name is replaced by the program's. */
static void bind_source(Maker *m, CtBulkVar *var, Dual rhs) {
    CtBulkVar *made = rhs.x->kind == BULK_VAR ? ct_map_get(&m->made, ct_key(rhs.x->as.var)) : NULL;
    const char *text =
        is_atom(rhs.x) && !made ? NULL : ct_bulk_fresh_name(m->r->arena, &m->out.names, var->name, false);
    if (made) {
        made->name = text;
        ct_map_set(m->r->arena, &m->made, ct_key(made), NULL);
    }
    if (is_atom(rhs.x)) {
        ct_map_set(m->r->arena, &m->primals, ct_key(var), rhs.x);
    } else if (ct_map_has(&m->bound, ct_key(var)) || text != var->name) {
        CtBulkVar *fresh = ct_bulk_new_var(m->r, text, var->element, var->shape);
        bind(m, fresh, rhs.x);
        ct_map_set(m->r->arena, &m->primals, ct_key(var), ct_bulk_var(m->r, fresh));
    } else {
        bind(m, var, rhs.x);
    }
    if (rhs.d && rhs.d->kind == DELTA_SHARE && !rhs.d->as.share.name) rhs.d->as.share.name = text ? text : var->name;
    if (rhs.d && rhs.d->kind == DELTA_RESULT)
        rhs.d->parts[0]->as.loop->names[rhs.d->as.result] = text ? text : var->name;
    ct_map_set(m->r->arena, &m->deltas, ct_key(var), rhs.d);
}

/* ---- D' (Fig. 13) ---- */

static CtBulk *discrete(Maker *m, CtBulk *t) { return m->primals.count ? ct_bulk_substitute(m->r, t, &m->primals) : t; }

/* λis. [D'_is[t₁], …, D'_is[tₙ]] */
static CtIndexing discrete_indexing(Maker *m, CtIndexing f) {
    CtBulk **ix = CT_NEW_ARRAY(m->r->arena, CtBulk *, f.count);
    for (uint32_t k = 0; k < f.count; k++) ix[k] = discrete(m, f.ix[k]);
    f.ix = ix;
    if (f.live) f.live = discrete(m, f.live);
    return f;
}

/* let i₁ = D'[t₁]; …: an index without variables is computed once, for the primal and the Delta term. */
static CtIndexing named_indexing(Maker *m, CtIndexing f) {
    CtBulk **ix = CT_NEW_ARRAY(m->r->arena, CtBulk *, f.count);
    for (uint32_t k = 0; k < f.count; k++) ix[k] = name(m, "i", discrete(m, f.ix[k]));
    f.ix = ix;
    if (f.live) f.live = name(m, "live", discrete(m, f.live));
    return f;
}

/* ---- arithmetic (Fig. 15) ---- */

/* A part of the derivative column of primitives.def: a primal term, an argument or result that is bound to a name when
 * it is used, or a Delta term where the column says G. */
typedef struct Part {
    enum { PART_TERM, PART_ARGUMENT, PART_RESULT, PART_DELTA } kind;
    uint32_t argument;
    CtBulk *term;
    CtDelta *delta;
} Part;

typedef struct OpBuilder {
    CtPrimBuilder base;
    Maker *m;
    CtShape shape;
    bool uses_argument[2], uses_result;
    CtBulk *arguments[2], *result;
} OpBuilder;

static Part *part(OpBuilder *b, Part value) {
    Part *made = CT_NEW(b->m->r->arena, Part);
    *made = value;
    return made;
}

static void use(OpBuilder *b, const Part *p) {
    if (p->kind == PART_ARGUMENT) b->uses_argument[p->argument] = true;
    if (p->kind == PART_RESULT) b->uses_result = true;
}

static CtPrimTerm count_number(CtPrimBuilder *self, double value) {
    (void)value;
    return part((OpBuilder *)self, (Part){.kind = PART_TERM});
}

static CtPrimTerm count_prim(CtPrimBuilder *self, CtPrim prim, CtPrimTerm *args, uint32_t count) {
    (void)prim;
    for (uint32_t i = 0; i < count; i++) use((OpBuilder *)self, args[i]);
    return part((OpBuilder *)self, (Part){.kind = PART_TERM});
}

static CtPrimTerm count_choice(CtPrimBuilder *self, CtPrim comparison, CtPrimTerm a, CtPrimTerm b, CtPrimTerm yes,
                               CtPrimTerm no) {
    CtPrimTerm parts[] = {a, yes, no, b};
    return count_prim(self, comparison, parts, b ? 4 : 3);
}

static CtBulk *term_of(OpBuilder *b, const Part *p) {
    if (p->kind == PART_ARGUMENT) return b->arguments[p->argument];
    if (p->kind == PART_RESULT) return b->result;
    assert(p->kind == PART_TERM);
    return p->term;
}

/* The only number that can occur in place of a Delta term is −0.0. */
static CtDelta *delta_of(const Part *p) {
    assert(p->kind == PART_DELTA || (p->term->kind == BULK_CONST && p->term->as.constant.real == 0));
    return p->delta;
}

static CtPrimTerm build_number(CtPrimBuilder *self, double value) {
    OpBuilder *b = (OpBuilder *)self;
    return part(b, (Part){.kind = PART_TERM, .term = ct_bulk_real(b->m->r, value, b->shape)});
}

static CtPrimTerm build_prim(CtPrimBuilder *self, CtPrim prim, CtPrimTerm *args, uint32_t count) {
    OpBuilder *b = (OpBuilder *)self;
    const Part *first = args[0], *second = count > 1 ? args[1] : NULL;
    if (prim == PRIM_SCALE && second && second->kind == PART_DELTA) {
        CtBulk *by = name(b->m, "p", term_of(b, first));
        return part(b, (Part){.kind = PART_DELTA, .delta = scale(b->m, by, second->delta)});
    }
    if (first->kind == PART_DELTA && prim == PRIM_ADD)
        return part(b, (Part){.kind = PART_DELTA, .delta = add(b->m, first->delta, delta_of(second))});
    if (first->kind == PART_DELTA && prim == PRIM_NEGATE) {
        CtBulk *minus = ct_bulk_real(b->m->r, -1, b->shape);
        return part(b, (Part){.kind = PART_DELTA, .delta = scale(b->m, minus, first->delta)});
    }
    CtBulk *t = term_of(b, first);
    CtBulk *made = second ? ct_bulk_op2(b->m->r, prim, t, term_of(b, second)) : ct_bulk_op1(b->m->r, prim, t);
    return part(b, (Part){.kind = PART_TERM, .term = made});
}

static CtPrimTerm build_choice(CtPrimBuilder *self, CtPrim comparison, CtPrimTerm a, CtPrimTerm b, CtPrimTerm yes,
                               CtPrimTerm no) {
    OpBuilder *o = (OpBuilder *)self;
    const Part *y = yes, *n = no;
    CtBulk *left = term_of(o, a);
    if (b == NULL && ct_bulk_is_splat(left)) /* decided here: no b1 = isNegativeZero 1.0 is printed */
        return ct_prim_value(comparison, left->as.constant.real, 0) != 0 ? yes : no;
    CtBulk *test = b ? ct_bulk_op2(o->m->r, comparison, left, term_of(o, b)) : ct_bulk_op1(o->m->r, comparison, left);
    if (y->kind != PART_DELTA && n->kind != PART_DELTA) {
        CtBulk *u = term_of(o, y), *v = term_of(o, n);
        return part(o, (Part){.kind = PART_TERM, .term = ct_bulk_cond(o->m->r, test, u, v)});
    }
    test = name(o->m, "b", test);
    return part(o, (Part){.kind = PART_DELTA, .delta = choose(o->m, test, delta_of(y), delta_of(n))});
}

/* Σᵢ Scale (∂op/∂xᵢ) dᵢ, as the table defines it. `use` and `name` find out first which parts it uses, so that only
 * these are bound. */
static CtDelta *op_delta(OpBuilder *b, CtPrim prim, uint32_t count, const Dual *args) {
    CtDelta *sum = NULL;
    Part first = {.kind = PART_ARGUMENT, .argument = 0}, second = {.kind = PART_ARGUMENT, .argument = 1};
    Part result = {.kind = PART_RESULT};
    CtPrimTerm parts[] = {&first, &second};
    for (uint32_t i = 0; i < count; i++) {
        if (!args[i].d) continue;
        Part g = {.kind = PART_DELTA, .delta = args[i].d};
        const Part *made = ct_prim_derivative(&b->base, prim, i, parts, &result, &g);
        if (made && made->kind == PART_DELTA) sum = add(b->m, sum, made->delta);
    }
    return sum;
}

static CtBulk *op(Maker *m, CtPrim prim, CtBulk *const *args, uint32_t count) {
    return count == 2 ? ct_bulk_op2(m->r, prim, args[0], args[1]) : ct_bulk_op1(m->r, prim, args[0]);
}

static Dual dual(Maker *m, CtBulk *t);

static Dual dual_op(Maker *m, CtBulk *t) {
    CtPrim prim = t->as.op.prim;
    uint32_t count = t->as.op.count;
    Dual args[2] = {{NULL, NULL}, {NULL, NULL}};
    OpBuilder b = {.base = {count_number, count_prim, count_choice, false}, .m = m, .shape = t->shape};
    for (uint32_t i = 0; i < count; i++) {
        args[i] = dual(m, t->as.op.args[i]);
        b.arguments[i] = args[i].x;
    }
    if (!args[0].d && !args[1].d) return (Dual){op(m, prim, b.arguments, count), NULL};
    op_delta(&b, prim, count, args);
    for (uint32_t i = 0; i < count; i++)
        if (b.uses_argument[i]) b.arguments[i] = name(m, "x", b.arguments[i]);
    b.result = op(m, prim, b.arguments, count);
    if (b.uses_result) b.result = name(m, "y", b.result);
    b.base = (CtPrimBuilder){build_number, build_prim, build_choice, false};
    CtDelta *d = op_delta(&b, prim, count, args);
    return (Dual){b.result, share(m, d)};
}

/* ---- reductions ---- */

static CtIndexing constant_index(Maker *m, const int64_t *items, uint32_t count) {
    CtBulk **ix = CT_NEW_ARRAY(m->r->arena, CtBulk *, count);
    for (uint32_t k = 0; k < count; k++) ix[k] = ct_bulk_int(m->r, items[k], (CtShape){0});
    return (CtIndexing){.ix = ix, .count = count};
}

static CtBulk *at(Maker *m, CtBulk *t, int64_t position, CtSourceRange range) {
    CtIndexing f = constant_index(m, &position, 1);
    return ct_bulk_index(m->r, t, f.ix, 1, NULL, range);
}

/* gather [k] t (λ[i]. [least of i + offset and last]) */
static CtBulk *slice(Maker *m, CtBulk *t, int64_t k, int64_t offset, int64_t last, CtSourceRange range) {
    CtBulkVar **i = CT_NEW_ARRAY(m->r->arena, CtBulkVar *, 1);
    i[0] = ct_bulk_new_var(m->r, "i", ELEMENT_INT, (CtShape){0});
    CtBulk *position = ct_bulk_var(m->r, i[0]);
    if (offset) position = ct_bulk_op2(m->r, PRIM_INT_ADD, position, ct_bulk_int(m->r, offset, (CtShape){0}));
    if (last < k - 1 + offset)
        position = ct_bulk_op2(m->r, PRIM_INT_MIN, position, ct_bulk_int(m->r, last, (CtShape){0}));
    CtBulk **ix = CT_NEW_ARRAY(m->r->arena, CtBulk *, 1);
    ix[0] = position;
    CtShape shape = ct_bulk_shape_cons(m->r->arena, k, ct_bulk_shape_tail(t->shape, 1));
    return ct_bulk_gather(m->r, shape, t, (CtIndexing){.vars = i, .var_count = 1, .ix = ix, .count = 1}, range);
}

/* For each i along the outermost dimension, the product of all other elements; exact if some are 0. The array is folded
 * in two halves, so the work is linear, and the number of terms is the number of binary digits of the size. For halves
 * a and b (b padded with 1 if the size is odd), the product of the others of aᵢ is bᵢ times that of the others of (a ×
 * b)ᵢ. */
static CtBulk *others(Maker *m, CtBulk *x, CtSourceRange range) {
    CtBulkBuilder *r = m->r;
    int64_t n = x->shape.sizes[0];
    if (n < 2) return ct_bulk_real(r, 1, x->shape);
    if (n == 2) {
        CtBulk *items[] = {at(m, x, 1, range), at(m, x, 0, range)};
        return name(m, "p", ct_bulk_literal(r, items, 2));
    }
    int64_t half = (n + 1) / 2;
    CtBulk *a = name(m, "x", slice(m, x, half, 0, half - 1, range));
    CtBulk *b = slice(m, x, half, half, n - 1, range);
    if (n % 2) {
        int64_t *filled = CT_NEW_ARRAY(r->arena, int64_t, half);
        filled[half - 1] = 1;
        CtBulk *mask = ct_bulk_integers(r, filled, ct_bulk_shape_of(r->arena, &half, 1), ELEMENT_BOOL);
        b = ct_bulk_cond(r, mask, ct_bulk_real(r, 1, b->shape), b);
    }
    b = name(m, "x", b);
    CtBulk *both = name(m, "x", ct_bulk_op2(r, PRIM_MUL, a, b));
    CtBulk *rest = others(m, both, range);
    CtBulk *of_a = ct_bulk_op2(r, PRIM_MUL, b, rest), *of_b = ct_bulk_op2(r, PRIM_MUL, a, rest);
    CtBulk *halves[] = {of_a, of_b};
    CtShape whole = ct_bulk_shape_cons(r->arena, 2 * half, ct_bulk_shape_tail(x->shape, 1));
    CtBulk *made = ct_bulk_reshape(r, whole, ct_bulk_literal(r, halves, 2));
    return name(m, "p", n % 2 ? slice(m, name(m, "p", made), n, 0, n - 1, range) : made);
}

/* The cotangent goes to the first of the largest elements: index d [argmax x], at each position of the inner
 * dimensions. */
static CtDelta *extremum_delta(Maker *m, CtReduction which, CtBulk *x, CtDelta *d, CtSourceRange range) {
    CtBulkBuilder *r = m->r;
    if (!d || x->shape.sizes[0] == 0) return NULL;
    CtBulk *place = name(m, "at", ct_bulk_reduce(r, which, x, range));
    uint32_t rank = place->shape.rank;
    CtBulkVar **is = CT_NEW_ARRAY(r->arena, CtBulkVar *, rank);
    CtBulk **ix = CT_NEW_ARRAY(r->arena, CtBulk *, rank + 1);
    for (uint32_t k = 0; k < rank; k++) {
        is[k] = ct_bulk_new_var(r, "i", ELEMENT_INT, (CtShape){0});
        ix[k + 1] = ct_bulk_var(r, is[k]);
    }
    ix[0] = rank ? ct_bulk_index(r, place, ix + 1, rank, NULL, range) : place;
    CtIndexing f = {.vars = is, .var_count = rank, .ix = ix, .count = rank + 1};
    return move(m, rank ? DELTA_GATHER : DELTA_INDEX, place->shape, d, f, range);
}

static Dual dual_reduce(Maker *m, CtBulk *t) {
    CtReduction reduction = t->as.reduce.reduction;
    Dual u = dual(m, t->as.reduce.t);
    if (!u.d) return (Dual){ct_bulk_reduce(m->r, reduction, u.x, t->range), NULL};
    bool sums = reduction == REDUCE_SUM || reduction == REDUCE_PLAIN_SUM;
    if (!sums) u.x = name(m, "x", u.x);
    CtBulk *x = ct_bulk_reduce(m->r, reduction, u.x, t->range);
    switch (reduction) {
    case REDUCE_SUM:
    case REDUCE_PLAIN_SUM: return (Dual){x, share(m, reshaped(m, DELTA_SUM_OUTER, t->shape, u.d))};
    case REDUCE_PRODUCT: {
        x = name(m, "y", x); /* first, because it is the program's own value */
        CtDelta *d = scale(m, others(m, u.x, t->range), u.d);
        return (Dual){x, share(m, reshaped(m, DELTA_SUM_OUTER, t->shape, d))};
    }
    case REDUCE_MAXIMUM:
        x = name(m, "y", x);
        return (Dual){x, share(m, extremum_delta(m, REDUCE_ARGMAX, u.x, u.d, t->range))};
    case REDUCE_MINIMUM:
        x = name(m, "y", x);
        return (Dual){x, share(m, extremum_delta(m, REDUCE_ARGMIN, u.x, u.d, t->range))};
    case REDUCE_ARGMAX:
    case REDUCE_ARGMIN: break;
    }
    return (Dual){x, NULL};
}

/* ---- everything else (Fig. 14) ---- */

static Dual dual_let(Maker *m, CtBulk *t) {
    while (t->kind == BULK_LET) {
        Dual rhs = dual(m, t->as.let.rhs);
        bind_source(m, t->as.let.var, rhs);
        t = t->as.let.body;
    }
    return dual(m, t);
}

static Dual dual_var(Maker *m, CtBulk *t) {
    CtBulk *renamed = ct_map_get(&m->primals, ct_key(t->as.var));
    return (Dual){renamed ? renamed : t, ct_map_get(&m->deltas, ct_key(t->as.var))};
}

static Dual dual_cond(Maker *m, CtBulk *t) {
    CtBulk *test = discrete(m, t->as.cond.test);
    Dual u = dual(m, t->as.cond.yes);
    Dual v = dual(m, t->as.cond.no);
    if (u.d || v.d) test = name(m, "b", test);
    return (Dual){ct_bulk_cond(m->r, test, u.x, v.x), share(m, choose(m, test, u.d, v.d))};
}

static Dual dual_index(Maker *m, CtBulk *t) {
    Dual u = dual(m, t->as.move.t);
    CtIndexing f = u.d ? named_indexing(m, t->as.move.f) : discrete_indexing(m, t->as.move.f);
    CtBulk *x = ct_bulk_index(m->r, u.x, f.ix, f.count, f.live, t->range);
    return (Dual){x, share(m, move(m, DELTA_INDEX, t->shape, u.d, f, t->range))};
}

static Dual dual_one_hot(Maker *m, CtBulk *t) {
    Dual u = dual(m, t->as.move.t);
    CtIndexing f = u.d ? named_indexing(m, t->as.move.f) : discrete_indexing(m, t->as.move.f);
    CtBulk *x = ct_bulk_one_hot(m->r, t->shape, f.ix, f.count, u.x);
    return (Dual){x, share(m, move(m, DELTA_ONE_HOT, t->shape, u.d, f, t->range))};
}

static Dual dual_gather(Maker *m, CtBulk *t) {
    Dual u = dual(m, t->as.move.t);
    CtIndexing f = discrete_indexing(m, t->as.move.f);
    CtBulk *x = ct_bulk_gather(m->r, t->shape, u.x, f, t->range);
    return (Dual){x, share(m, move(m, DELTA_GATHER, t->shape, u.d, f, t->range))};
}

static Dual dual_scatter(Maker *m, CtBulk *t) {
    Dual u = dual(m, t->as.move.t);
    CtIndexing f = discrete_indexing(m, t->as.move.f);
    CtBulk *x = ct_bulk_scatter(m->r, t->shape, u.x, f, t->range);
    return (Dual){x, share(m, move(m, DELTA_SCATTER, t->shape, u.d, f, t->range))};
}

static Dual dual_literal(Maker *m, CtBulk *t) {
    uint32_t count = t->as.literal.count;
    CtBulk **items = CT_NEW_ARRAY(m->r->arena, CtBulk *, count);
    CtDelta **deltas = CT_NEW_ARRAY(m->r->arena, CtDelta *, count);
    bool varies = false;
    for (uint32_t k = 0; k < count; k++) {
        Dual u = dual(m, t->as.literal.items[k]);
        items[k] = u.x;
        deltas[k] = u.d;
        if (u.d) varies = true;
    }
    CtBulk *x = ct_bulk_literal(m->r, items, count);
    if (!varies) return (Dual){x, NULL};
    CtDelta *d = delta(m, DELTA_LIT_ARRAY, t->shape, NULL, NULL);
    d->as.literal.items = deltas;
    d->as.literal.count = count;
    return (Dual){x, share(m, d)};
}

static Dual dual_transpose(Maker *m, CtBulk *t) {
    Dual u = dual(m, t->as.transpose.t);
    CtBulk *x = ct_bulk_transpose(m->r, t->as.transpose.permutation, t->as.transpose.count, u.x);
    CtDelta *d = reshaped(m, DELTA_TRANSPOSE, t->shape, u.d);
    if (d) {
        d->as.transpose.permutation = t->as.transpose.permutation;
        d->as.transpose.count = t->as.transpose.count;
    }
    return (Dual){x, share(m, d)};
}

/* ---- loops ---- */

/* Terms with the same loop and the same arguments are results of one computation. */
static CtDeltaLoop *known_loop(Maker *m, const CtBulkLoop *loop, CtBulk *const *args) {
    for (uint32_t i = 0; i < m->loops.count; i++) {
        CtDeltaLoop *known = m->loops.items[i];
        bool same = known->source == loop;
        for (uint32_t p = 0; same && p < ct_bulk_loop_params(loop); p++) same = ct_bulk_same(known->args[p], args[p]);
        if (same) return known;
    }
    return NULL;
}

/* Extends a loop by outputs for the states before each step. */
static CtBulkLoop *with_states(Maker *m, const CtBulkLoop *loop) {
    uint32_t states = loop->count.states, results = ct_bulk_loop_results(loop);
    CtBulkLoop *made = ct_bulk_new_loop(m->r, loop->steps, loop->count, loop->outputs + states);
    made->index = loop->index;
    made->params = loop->params;
    made->from_back = loop->from_back;
    made->total = loop->total;
    made->rule = loop->rule;
    for (uint32_t k = 0; k < loop->vars.count; k++) {
        ct_push(m->r->arena, &made->vars, loop->vars.items[k]);
        ct_push(m->r->arena, &made->terms, loop->terms.items[k]);
    }
    for (uint32_t k = 0; k < results; k++) made->results[k] = loop->results[k];
    for (uint32_t s = 0; s < states; s++) made->results[results + s] = ct_bulk_var(m->r, loop->params[s]);
    return made;
}

static CtDeltaLoop *new_loop(Maker *m, CtBulkLoop *loop, CtBulk **args, CtDelta **deltas) {
    CtArena *arena = m->r->arena;
    uint32_t params = ct_bulk_loop_params(loop), results = ct_bulk_loop_results(loop);
    CtDeltaLoop *made = CT_NEW(arena, CtDeltaLoop);
    *made = (CtDeltaLoop){.source = loop, .primal = with_states(m, loop), .args = args, .deltas = deltas};
    made->varies = CT_NEW_ARRAY(arena, bool, params + 1);
    made->result_varies = CT_NEW_ARRAY(arena, bool, results + 1);
    made->names = CT_NEW_ARRAY(arena, const char *, results + 1);
    made->before = CT_NEW_ARRAY(arena, CtBulk *, loop->count.states + 1);
    bool some = false;
    for (uint32_t p = 0; p < params; p++) some |= made->varies[p] = deltas[p] != NULL;
    CtMap varying = ct_bulk_loop_varying(m->r, loop, made->varies, true);
    for (uint32_t s = 0; s < loop->count.states; s++) {
        made->varies[s] = ct_map_has(&varying, ct_key(loop->params[s]));
        made->before[s] = name(m, "s", ct_bulk_loop(m->r, made->primal, args, results + s));
    }
    for (uint32_t k = 0; k < results; k++)
        made->result_varies[k] =
            loop->results[k]->element == ELEMENT_REAL && ct_bulk_loop_result_varies(m->r, loop, k, &varying);
    ct_push(arena, &m->loops, made);
    if (!some) return made;
    made->id = ++m->out.shares;
    made->node = delta(m, DELTA_LOOP, (CtShape){0, NULL}, NULL, NULL);
    made->node->as.loop = made;
    return made;
}

/* One result of a loop, by the node of the loop. */
static Dual of_node(Maker *m, CtDeltaLoop *node, CtBulk *x, uint32_t result) {
    if (!node->node || !node->result_varies[result]) return (Dual){x, NULL};
    CtDelta *d = delta(m, DELTA_RESULT, x->shape, node->node, NULL);
    d->as.result = result;
    return (Dual){x, d};
}

/* ---- calls of functions with rules ---- */

static CtBulkLoop *without_rule(Maker *m, CtBulkLoop *loop) {
    CtBulkLoop *made = ct_map_get(&m->without, ct_key(loop));
    if (made) return made;
    made = CT_NEW(m->r->arena, CtBulkLoop);
    *made = *loop;
    made->normal = made;
    made->simple = NULL;
    made->rows = NULL;
    made->rule = NULL;
    ct_map_set(m->r->arena, &m->without, ct_key(loop), made);
    return made;
}

/* The dependency on captured values, by the derivative of the function itself. */
static CtDelta *by_captures(Maker *m, CtBulkLoop *loop, CtBulk **args, CtDelta *const *deltas, uint32_t result) {
    CtBulk *x = ct_bulk_loop(m->r, loop, args, result);
    uint32_t params = ct_bulk_loop_params(loop), point = loop->count.states + loop->rule->reals;
    CtDelta **captured = CT_NEW_ARRAY(m->r->arena, CtDelta *, params + 1);
    bool some = false;
    for (uint32_t p = point; p < params; p++) some |= (captured[p] = deltas[p]) != NULL;
    if (!some) return NULL;
    CtBulkLoop *plain = without_rule(m, loop);
    CtDeltaLoop *node = known_loop(m, plain, args);
    if (!node) node = new_loop(m, plain, args, captured);
    return of_node(m, node, x, result).d;
}

/* A node whose reverse is the pullback of the rule, so that the function is not differentiated. */
static CtDeltaLoop *rule_node(Maker *m, CtBulkLoop *loop, CtBulk **args, CtDelta *const *deltas) {
    CtArena *arena = m->r->arena;
    uint32_t params = ct_bulk_loop_params(loop), states = loop->count.states, results = ct_bulk_loop_results(loop);
    CtDeltaLoop *made = CT_NEW(arena, CtDeltaLoop);
    *made = (CtDeltaLoop){.source = loop, .args = args, .by_rule = true, .id = ++m->out.shares};
    made->deltas = CT_NEW_ARRAY(arena, CtDelta *, params + 1);
    made->result_varies = CT_NEW_ARRAY(arena, bool, results + 1);
    made->names = CT_NEW_ARRAY(arena, const char *, results + 1);
    for (uint32_t p = states; p < states + loop->rule->reals; p++) made->deltas[p] = deltas[p];
    for (uint32_t k = 0; k < states; k++) made->result_varies[k] = loop->results[k]->element == ELEMENT_REAL;
    ct_push(arena, &m->loops, made);
    made->node = delta(m, DELTA_LOOP, (CtShape){0, NULL}, NULL, NULL);
    made->node->as.loop = made;
    return made;
}

/* The tangents are additional results of the rule's loop. A result varies where they depend on the point's tangents. */
static Dual by_tangent(Maker *m, const CtBulkLoop *loop, CtBulk **args, CtDelta *const *deltas, uint32_t result) {
    CtBulkLoop *rule = ct_bulk_rule_loop(m->r, loop);
    CtBulk **own = ct_bulk_rule_args(m->r, loop, args);
    CtDeltaLoop *node = known_loop(m, rule, own);
    uint32_t states = loop->count.states, count = ct_bulk_loop_params(rule), reals = loop->rule->reals,
             tangent = states;
    if (!node) {
        CtDelta **of_point = CT_NEW_ARRAY(m->r->arena, CtDelta *, count + 1);
        for (uint32_t p = 0; p < reals; p++) of_point[count - reals + p] = deltas[states + p];
        node = new_loop(m, rule, own, of_point);
        node->is_rule = true;
    }
    CtBulk *x = ct_bulk_loop(m->r, rule, own, result);
    if (x->element != ELEMENT_REAL) return (Dual){x, NULL};
    for (uint32_t k = 0; k < result; k++) tangent += loop->results[k]->element == ELEMENT_REAL;
    return of_node(m, node, x, tangent);
}

static Dual by_cotangent(Maker *m, CtBulkLoop *loop, CtBulk **args, CtDelta *const *deltas, uint32_t result) {
    CtBulkLoop *rule = ct_bulk_rule_loop(m->r, loop);
    CtDeltaLoop *node = known_loop(m, loop, args);
    if (!node) node = rule_node(m, loop, args, deltas);
    return of_node(m, node, ct_bulk_loop(m->r, rule, ct_bulk_rule_args(m->r, loop, args), result), result);
}

/* By the rule's result for a cotangent or tangent of 1. */
static Dual by_slope(Maker *m, const CtBulkLoop *loop, CtBulk **args, CtDelta *const *deltas) {
    CtBulkLoop *rule = ct_bulk_rule_loop(m->r, loop);
    CtBulk **own = ct_bulk_rule_args(m->r, loop, args);
    uint32_t states = loop->count.states;
    CtBulk *p = name(m, "p", ct_bulk_loop(m->r, rule, own, states));
    return (Dual){ct_bulk_loop(m->r, rule, own, 0), scale(m, p, deltas[states])};
}

static bool point_varies(const CtBulkLoop *loop, CtDelta *const *deltas) {
    for (uint32_t p = 0; loop->rule && p < loop->rule->reals; p++)
        if (deltas[loop->count.states + p]) return true;
    return false;
}

static Dual dual_loop(Maker *m, CtBulk *t) {
    CtBulkLoop *loop = t->as.loop.loop;
    uint32_t params = ct_bulk_loop_params(loop), result = t->as.loop.result;
    CtBulk **args = CT_NEW_ARRAY(m->r->arena, CtBulk *, params + 1);
    CtDelta **deltas = CT_NEW_ARRAY(m->r->arena, CtDelta *, params + 1);
    for (uint32_t p = 0; p < params; p++) {
        Dual arg = dual(m, t->as.loop.args[p]);
        args[p] = name(m, "x", arg.x);
        deltas[p] = arg.d;
    }
    if (result < loop->count.states && point_varies(loop, deltas)) {
        Dual made = loop->rule->is_slope     ? by_slope(m, loop, args, deltas)
                    : loop->rule->by_tangent ? by_tangent(m, loop, args, deltas, result)
                                             : by_cotangent(m, loop, args, deltas, result);
        CtDelta *captured = made.x->element == ELEMENT_REAL ? by_captures(m, loop, args, deltas, result) : NULL;
        return captured ? (Dual){made.x, share(m, add(m, made.d, captured))} : made;
    }
    CtDeltaLoop *made = known_loop(m, loop, args);
    if (!made) made = new_loop(m, loop, args, deltas);
    return of_node(m, made, ct_bulk_loop(m->r, made->primal, made->args, result), result);
}

static Dual dual(Maker *m, CtBulk *t) {
    if (t->kind == BULK_LOOP) return dual_loop(m, t);
    if (t->element != ELEMENT_REAL) return (Dual){discrete(m, t), NULL};
    switch (t->kind) {
    case BULK_CONST: return (Dual){t, NULL};
    case BULK_VAR: return dual_var(m, t);
    case BULK_LET: return dual_let(m, t);
    case BULK_COND: return dual_cond(m, t);
    case BULK_OP: return dual_op(m, t);
    case BULK_INDEX: return dual_index(m, t);
    case BULK_REDUCE: return dual_reduce(m, t);
    case BULK_GATHER: return dual_gather(m, t);
    case BULK_SCATTER: return dual_scatter(m, t);
    case BULK_LITERAL: return dual_literal(m, t);
    case BULK_REPLICATE: {
        Dual u = dual(m, t->as.t);
        CtBulk *x = ct_bulk_replicate(m->r, t->shape.sizes[0], u.x);
        return (Dual){x, share(m, reshaped(m, DELTA_REPLICATE, t->shape, u.d))};
    }
    case BULK_TRANSPOSE: return dual_transpose(m, t);
    case BULK_RESHAPE: {
        Dual u = dual(m, t->as.t);
        return (Dual){ct_bulk_reshape(m->r, t->shape, u.x), share(m, reshaped(m, DELTA_RESHAPE, t->shape, u.d))};
    }
    case BULK_ONE_HOT: return dual_one_hot(m, t);
    case BULK_STOP: return (Dual){ct_bulk_stop(m->r, dual(m, t->as.t).x), NULL};
    case BULK_SHARE: return dual(m, t->as.share.t);
    case BULK_CHECK: {
        CtBulk *test = discrete(m, t->as.check.test);
        Dual u = dual(m, t->as.check.t);
        return (Dual){ct_bulk_check(m->r, test, t->as.check.code, t->as.check.text, t->range, u.x), u.d};
    }
    case BULK_LOOP:  /* handled before */
    case BULK_LOGIC: /* gives Bool */
    case BULK_BUILD: /* these do not occur in normal forms */ assert(false); break;
    }
    return (Dual){t, NULL};
}

static void add_input(Maker *m, CtBulkVar *var, uint32_t number, bool varies) {
    ct_bulk_fresh_name(m->r->arena, &m->out.names, var->name, false);
    if (var->element != ELEMENT_REAL || !varies) return;
    CtDelta *d = delta(m, DELTA_INPUT, var->shape, NULL, NULL);
    d->as.input = number;
    ct_map_set(m->r->arena, &m->deltas, ct_key(var), d);
}

static CtBulkDual finish(Maker *m, const Dual *results, uint32_t count) {
    m->out.primals = CT_NEW_ARRAY(m->r->arena, CtBulk *, count + 1);
    m->out.deltas = CT_NEW_ARRAY(m->r->arena, CtDelta *, count + 1);
    for (uint32_t k = 0; k < count; k++) {
        m->out.primals[k] = results[k].x;
        m->out.deltas[k] = results[k].d;
    }
    m->out.primal = m->out.primals[0];
    m->out.delta = m->out.deltas[0];
    return m->out;
}

CtBulkDual ct_bulk_dual(CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *inputs, uint32_t count) {
    Maker m = {.r = r};
    for (uint32_t k = 0; k < count; k++) add_input(&m, inputs[k], k, true);
    Dual result = dual(&m, t);
    return finish(&m, &result, 1);
}

CtBulkDual ct_bulk_dual_body(CtBulkBuilder *r, const CtBulkLoop *loop, const bool *varies) {
    Maker m = {.r = r};
    uint32_t count = ct_bulk_loop_results(loop);
    Dual *results = CT_NEW_ARRAY(r->arena, Dual, count + 1);
    ct_bulk_fresh_name(r->arena, &m.out.names, loop->index->name, false);
    for (uint32_t p = 0; p < ct_bulk_loop_params(loop); p++) add_input(&m, loop->params[p], p, varies[p]);
    for (uint32_t k = 0; k < loop->vars.count; k++) {
        Dual rhs = dual(&m, loop->terms.items[k]);
        bind_source(&m, loop->vars.items[k], rhs);
    }
    for (uint32_t k = 0; k < count; k++) results[k] = dual(&m, loop->results[k]);
    return finish(&m, results, count);
}
