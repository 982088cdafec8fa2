/* Conversion between values of a program and the flat arrays that terms compute: a structure is split into a flat array
 * or a number for each of its terms, and rebuilt from them. */
#include "ad/bulk/trace/trace.h"

#include "ad/internal.h"

/* ---- leaves ---- */

void ct_bulk_abstract_leaves(CtArena *arena, const CtAbstract *s, CtLeaves *out) {
    if (s->kind == ABSTRACT_TERM) ct_push(arena, &out->terms, s->as.term);
    if (s->kind == ABSTRACT_ROWS) ct_bulk_abstract_leaves(arena, s->as.rows.element, out);
    if (s->kind != ABSTRACT_TUPLE && s->kind != ABSTRACT_DATA && s->kind != ABSTRACT_LIST) return;
    for (uint32_t i = 0; i < s->as.of.count; i++) ct_bulk_abstract_leaves(arena, s->as.of.parts[i], out);
}

uint32_t ct_bulk_trace_leaves_real_count(const CtLeaves *leaves) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < leaves->terms.count; i++) count += leaves->terms.items[i]->element == ELEMENT_REAL;
    return count;
}

CtBulk *ct_bulk_trace_leaves_together(CtBulkBuilder *r, const CtLeaves *leaves, CtSourceRange range) {
    int64_t total = 0, before = 0;
    CtBulk *only = NULL, *sum = NULL;
    for (uint32_t i = 0; i < leaves->terms.count; i++) {
        if (leaves->terms.items[i]->element != ELEMENT_REAL) continue;
        only = leaves->terms.items[i];
        total += ct_bulk_shape_count(only->shape);
    }
    if (ct_bulk_trace_leaves_real_count(leaves) == 1) return only;
    CtShape whole = ct_bulk_shape_of(r->arena, &total, 1);
    for (uint32_t i = 0; i < leaves->terms.count; i++) {
        CtBulk *t = leaves->terms.items[i];
        if (t->element != ELEMENT_REAL) continue;
        int64_t count = ct_bulk_shape_count(t->shape);
        CtBulk *flat = ct_bulk_reshape(r, ct_bulk_shape_of(r->arena, &count, 1), t);
        CtBulkVar **var = CT_NEW(r->arena, CtBulkVar *);
        CtBulk **at = CT_NEW(r->arena, CtBulk *);
        *var = ct_bulk_new_var(r, "i", ELEMENT_INT, (CtShape){0, NULL});
        *at = ct_bulk_op2(r, PRIM_INT_ADD, ct_bulk_int(r, before, (CtShape){0, NULL}), ct_bulk_var(r, *var));
        CtBulk *placed = ct_bulk_scatter(r, whole, flat, (CtIndexing){var, 1, at, 1, NULL}, range);
        sum = sum ? ct_bulk_op2(r, PRIM_ADD, sum, placed) : placed;
        before += count;
    }
    return sum ? sum : ct_bulk_real(r, -0.0, whole);
}

/* ---- order of the reals ----
 *
 * An array of structures is stored as a structure of arrays, so its reals are ordered by leaf; the program orders them
 * by element. */

typedef struct Order {
    CtArena *arena;
    int64_t *starts;    /* of the real leaves, in the result of ct_bulk_trace_leaves_together */
    int64_t *positions; /* positions found so far … */
    int64_t count;      /* … and their number */
    uint32_t leaf;      /* number of real leaves before the current one */
} Order;

/* `rows`: the number of such structures in the enclosing arrays; `row`: the index of this one. */
static void put_in_order(Order *o, const CtAbstract *s, int64_t row, int64_t rows) {
    if (s->kind == ABSTRACT_TERM && s->as.term->element == ELEMENT_REAL) {
        int64_t here = ct_bulk_shape_count(s->as.term->shape) / rows, first = o->starts[o->leaf++] + row * here;
        for (int64_t i = 0; i < here; i++) o->positions[o->count++] = first + i;
    } else if (s->kind == ABSTRACT_ROWS) {
        uint32_t leaf = o->leaf;
        for (int64_t i = 0; i < s->as.rows.size; i++) {
            o->leaf = leaf;
            put_in_order(o, s->as.rows.element, row * s->as.rows.size + i, rows * s->as.rows.size);
        }
        if (s->as.rows.size > 0) return;
        CtLeaves none = {0}; /* leaves without elements count too */
        ct_bulk_abstract_leaves(o->arena, s, &none);
        o->leaf += ct_bulk_trace_leaves_real_count(&none);
    } else if (s->kind == ABSTRACT_TUPLE || s->kind == ABSTRACT_DATA || s->kind == ABSTRACT_LIST) {
        for (uint32_t i = 0; i < s->as.of.count; i++) put_in_order(o, s->as.of.parts[i], row, rows);
    }
}

CtBulk *ct_bulk_leaves_order(CtBulkBuilder *r, const CtAbstract *s) {
    CtLeaves leaves = {0};
    ct_bulk_abstract_leaves(r->arena, s, &leaves);
    Order o = {.arena = r->arena, .starts = CT_NEW_ARRAY(r->arena, int64_t, leaves.terms.count)};
    int64_t total = 0;
    uint32_t reals = 0;
    for (uint32_t i = 0; i < leaves.terms.count; i++) {
        if (leaves.terms.items[i]->element != ELEMENT_REAL) continue;
        o.starts[reals++] = total;
        total += ct_bulk_shape_count(leaves.terms.items[i]->shape);
    }
    o.positions = CT_NEW_ARRAY(r->arena, int64_t, total);
    put_in_order(&o, s, 0, 1);
    for (int64_t i = 0; i < total; i++)
        if (o.positions[i] != i)
            return ct_bulk_integers(r, o.positions, ct_bulk_shape_of(r->arena, &total, 1), ELEMENT_INT);
    return NULL;
}

/* ---- taking apart ---- */

typedef struct Flat {
    CtBulkBuilder *builder;
    CtProgram *p;
    CtSourceRange range;
    CtSeq *seq;
    CtMap *vars;         /* for splitting: CtBulkVar * -> CtVar * */
    CtCore *const *flat; /* for rebuilding: the values of its terms, in order; NULL: the old value */
    bool reals;          /* for splitting: discrete parts are left out */
    const int64_t *rows; /* for rebuilding rows: their number, an additional outermost dimension; NULL: no rows */
    uint32_t next;
} Flat;

static CtCore *array2(const Flat *f, CtArrayOp op, CtCore *a, CtCore *b) {
    CtCore *args[2] = {a, b};
    return ct_core_array(f->p, f->range, op, args, b ? 2 : 1);
}

/* map (λx. body) xs, where body is made of x. */
typedef CtCore *Body(const Flat *f, CtCore *x, void *data);

static CtCore *map(const Flat *f, Body *body, void *data, CtCore *xs) {
    CtVar *x = ct_core_var_new(f->p, "x", xs->type->parts[0]);
    CtCore *made = body(f, ct_core_var(f->p, f->range, x), data);
    return array2(f, ARRAY_MAP, ct_core_lam(f->p, f->range, NULL, &x, 1, made), xs);
}

static bool is_bool(const Flat *f, const CtType *type) { return type == f->p->bool_type; }

static CtCore *bool_to_int(const Flat *f, CtCore *x, void *data) {
    (void)data;
    CtCore *one = ct_core_int(f->p, f->range, 1);
    return ct_core_if(f->p, f->range, x, one, ct_core_int(f->p, f->range, 0));
}

static CtCore *int_to_bool(const Flat *f, CtCore *x, void *data) {
    (void)data;
    return ct_core_prim2(f->p, f->range, PRIM_INT_EQ, x, ct_core_int(f->p, f->range, 1));
}

/* The k-th field of a value of this constructor. */
typedef struct Field {
    CtCon *con; /* NULL: of a tuple */
    uint32_t k;
} Field;

static CtCore *field(const Flat *f, CtCore *x, void *data) {
    const Field *field = data;
    if (field->con == NULL) return ct_core_proj(f->p, f->range, x, field->k);
    CtVar **vars = CT_NEW_ARRAY(f->builder->arena, CtVar *, field->con->count);
    CtType *type = field->con->fields[field->k];
    vars[field->k] = ct_core_var_new(f->p, "x", type);
    CtCase only = {field->con, vars, ct_core_var(f->p, f->range, vars[field->k])};
    bool all = field->con->data->con_count == 1;
    CtCore *other = all ? NULL : ct_core_fail(f->p, f->range, type, CT_E0901, "another constructor than before", NULL);
    return ct_core_case(f->p, f->range, type, x, &only, 1, other);
}

static CtCore *item(const Flat *f, CtCore *x, void *data) {
    return array2(f, ARRAY_INDEX, x, ct_core_int(f->p, f->range, *(const uint32_t *)data));
}

/* `x` is an array of `s` when `many` (its terms have one dimension more), else `s`. */
static void take_apart(Flat *f, const CtAbstract *s, CtCore *x, bool many) {
    if (f->reals && !ct_core_type_has_real(x->type)) return;
    switch (s->kind) {
    case ABSTRACT_TERM: {
        CtType *type = x->type;
        while (type->kind == TYPE_ARRAY && type->parts[0]->kind == TYPE_ARRAY) {
            x = array2(f, ARRAY_CONCAT, x, NULL);
            type = x->type;
        }
        if (type->kind == TYPE_ARRAY && is_bool(f, type->parts[0])) x = map(f, bool_to_int, NULL, x);
        CtVar *var = ct_core_var_new(f->p, s->as.term->as.var->name, x->type);
        ct_ad_seq_let(f->seq, f->range, var, x);
        ct_map_set(f->builder->arena, f->vars, ct_key(s->as.term->as.var), var);
        return;
    }
    case ABSTRACT_TUPLE:
    case ABSTRACT_DATA: {
        if (s->as.of.count > 0) x = ct_ad_seq_name(f->seq, "x", x);
        for (uint32_t k = 0; k < s->as.of.count; k++) {
            Field which = {s->kind == ABSTRACT_DATA ? s->as.of.con : NULL, k};
            take_apart(f, s->as.of.parts[k], many ? map(f, field, &which, x) : field(f, x, &which), many);
        }
        return;
    }
    case ABSTRACT_ROWS: take_apart(f, s->as.rows.element, many ? array2(f, ARRAY_CONCAT, x, NULL) : x, true); return;
    case ABSTRACT_LIST:
        x = ct_ad_seq_name(f->seq, "x", x);
        for (uint32_t k = 0; k < s->as.of.count; k++) {
            uint32_t at = k;
            take_apart(f, s->as.of.parts[k], many ? map(f, item, &at, x) : item(f, x, &at), many);
        }
        return;
    case ABSTRACT_KNOWN:
    case ABSTRACT_COUNTER:
    case ABSTRACT_GROWING:
    case ABSTRACT_CLOSURE:
    case ABSTRACT_CHOICE:
    case ABSTRACT_PULLBACK:
    case ABSTRACT_STRING:
    case ABSTRACT_FAILURE: return;
    }
}

void ct_bulk_trace_take_apart(CtBulkBuilder *r, CtSourceRange range, CtSeq *seq, const CtAbstract *s, CtCore *x,
                              bool reals, CtMap *vars) {
    Flat f = {.builder = r, .p = r->p, .range = range, .seq = seq, .vars = vars, .reals = reals};
    take_apart(&f, s, x, false);
}

/* ---- and back ---- */

/* Converts a flat array to nested ones. */
static CtCore *nest(const Flat *f, CtCore *x, CtShape shape);

static CtCore *nest_row(const Flat *f, CtCore *x, void *data) {
    return nest(f, x, ct_bulk_shape_tail(*(CtShape *)data, 1));
}

static CtCore *nest(const Flat *f, CtCore *x, CtShape shape) {
    if (shape.rank <= 1) return x;
    CtCore *args[3] = {ct_core_int(f->p, f->range, shape.sizes[0]),
                       ct_core_int(f->p, f->range, ct_bulk_shape_count(ct_bulk_shape_tail(shape, 1))), x};
    CtCore *rows = ct_core_array(f->p, f->range, ARRAY_RESHAPE, args, 3);
    return shape.rank == 2 ? rows : map(f, nest_row, &shape, rows);
}

static CtCore *put_together(Flat *f, const CtAbstract *s, CtType *type, CtCore *old, CtCore *i, uint32_t dimensions);

static CtCore *element_at(const Flat *f, CtCore *flat, CtShape shape, CtCore *i, uint32_t dimensions) {
    CtShape rest = ct_bulk_shape_tail(shape, dimensions);
    if (rest.rank == 0) return array2(f, ARRAY_INDEX, flat, i);
    CtCore *size = ct_core_int(f->p, f->range, ct_bulk_shape_count(rest));
    CtCore *start = ct_core_prim2(f->p, f->range, PRIM_INT_MUL, i, size);
    CtCore *args[3] = {start, size, flat};
    return nest(f, ct_core_array(f->p, f->range, ARRAY_SLICE, args, 3), rest);
}

static CtCore *parts_together(Flat *f, const CtAbstract *s, CtType *type, CtCore *old, CtCore *i, uint32_t dimensions) {
    CtCore **parts = CT_NEW_ARRAY(f->builder->arena, CtCore *, s->as.of.count);
    bool is_data = s->kind == ABSTRACT_DATA;
    for (uint32_t k = 0; k < s->as.of.count; k++) {
        CtType *part = s->kind == ABSTRACT_LIST ? type->parts[0] : is_data ? s->as.of.con->fields[k] : type->parts[k];
        CtCore *was = NULL;
        if (old != NULL && s->kind == ABSTRACT_LIST)
            was = array2(f, ARRAY_INDEX, old, ct_core_int(f->p, f->range, k));
        else if (old != NULL)
            was = field(f, old, &(Field){is_data ? s->as.of.con : NULL, k});
        parts[k] = put_together(f, s->as.of.parts[k], part, was, i, dimensions);
    }
    if (s->kind == ABSTRACT_LIST) return ct_core_array_lit(f->p, f->range, type->parts[0], parts, s->as.of.count);
    return is_data ? ct_core_con(f->p, f->range, s->as.of.con, parts, s->as.of.count)
                   : ct_core_tuple(f->p, f->range, parts, s->as.of.count);
}

/* Binds the flat arrays of a structure that are read for each element, in `seq`, so that they are computed once. */
static void name_flat(Flat *f, const CtAbstract *s, CtSeq *seq) {
    CtLeaves leaves = {{0}};
    ct_bulk_abstract_leaves(f->builder->arena, s, &leaves);
    uint32_t count = f->next + leaves.terms.count;
    CtCore **named = CT_NEW_ARRAY(f->builder->arena, CtCore *, count + 1);
    for (uint32_t k = f->next; k < count; k++)
        named[k] = f->flat[k] != NULL ? ct_ad_seq_name(seq, "xs", f->flat[k]) : NULL;
    f->flat = named;
}

static CtCore *rows_together(Flat *f, const CtAbstract *s, CtType *type, CtCore *old) {
    CtCore *const *flat = f->flat;
    CtSeq seq = ct_ad_seq(f->p, NULL);
    name_flat(f, s, &seq);
    CtVar *i = ct_core_var_new(f->p, "i", f->p->int_type);
    CtCore *at = ct_core_var(f->p, f->range, i);
    CtCore *was = old != NULL ? array2(f, ARRAY_INDEX, old, at) : NULL;
    CtCore *made = put_together(f, s->as.rows.element, type->parts[0], was, at, 1);
    CtCore *size = ct_core_int(f->p, f->range, s->as.rows.size);
    made = array2(f, ARRAY_BUILD, size, ct_core_lam(f->p, f->range, NULL, &i, 1, made));
    f->flat = flat;
    return ct_ad_seq_close(&seq, made);
}

static CtCore *put_together(Flat *f, const CtAbstract *s, CtType *type, CtCore *old, CtCore *i, uint32_t dimensions) {
    if (s->kind == ABSTRACT_ROWS && i == NULL) return rows_together(f, s, type, old);
    switch (s->kind) {
    case ABSTRACT_TERM: {
        CtShape shape =
            f->rows ? ct_bulk_shape_cons(f->builder->arena, *f->rows, s->as.term->shape) : s->as.term->shape;
        CtCore *flat = f->flat[f->next++];
        if (flat == NULL) return old; /* discrete: as it was */
        CtCore *made = i == NULL ? nest(f, flat, shape) : element_at(f, flat, shape, i, dimensions);
        return is_bool(f, type) && made->type->kind == TYPE_INT ? int_to_bool(f, made, NULL) : made;
    }
    case ABSTRACT_TUPLE:
    case ABSTRACT_DATA:
    case ABSTRACT_LIST: return parts_together(f, s, type, old, i, dimensions);
    case ABSTRACT_ROWS: {
        CtVar *j = ct_core_var_new(f->p, "i", f->p->int_type);
        CtCore *at = ct_core_var(f->p, f->range, j);
        CtCore *was = old != NULL ? array2(f, ARRAY_INDEX, old, at) : NULL;
        CtCore *size = ct_core_int(f->p, f->range, s->as.rows.size);
        CtCore *before = ct_core_prim2(f->p, f->range, PRIM_INT_MUL, i, size);
        CtCore *row = ct_core_prim2(f->p, f->range, PRIM_INT_ADD, before, at);
        CtCore *made = put_together(f, s->as.rows.element, type->parts[0], was, row, dimensions + 1);
        return array2(f, ARRAY_BUILD, ct_core_int(f->p, f->range, s->as.rows.size),
                      ct_core_lam(f->p, f->range, NULL, &j, 1, made));
    }
    case ABSTRACT_KNOWN: return old != NULL ? old : ct_core_int(f->p, f->range, s->as.known);
    case ABSTRACT_STRING: return s->as.string;
    case ABSTRACT_COUNTER:
    case ABSTRACT_GROWING:
    case ABSTRACT_CLOSURE:
    case ABSTRACT_CHOICE:
    case ABSTRACT_PULLBACK:
    case ABSTRACT_FAILURE: break;
    }
    return old != NULL ? old : ct_core_fail(f->p, f->range, type, CT_E0901, "a value that is not first-order", NULL);
}

CtCore *ct_bulk_trace_put_rows(CtBulkBuilder *r, CtSourceRange range, const CtAbstract *s, CtType *type, CtCore *old,
                               CtCore *const *flat, int64_t count) {
    Flat f = {.builder = r, .p = r->p, .range = range, .flat = flat};
    if (s->kind == ABSTRACT_TERM && flat[0] != NULL)
        return nest(&f, flat[0], ct_bulk_shape_cons(r->arena, count, s->as.term->shape));
    CtSeq seq = ct_ad_seq(r->p, NULL);
    name_flat(&f, s, &seq);
    CtVar *i = ct_core_var_new(r->p, "i", r->p->int_type);
    f.rows = &count;
    CtCore *row = put_together(&f, s, type, old, ct_core_var(r->p, range, i), 1);
    CtCore *fun = ct_core_lam(r->p, range, NULL, &i, 1, row);
    return ct_ad_seq_close(&seq, array2(&f, ARRAY_BUILD, ct_core_int(r->p, range, count), fun));
}

CtCore *ct_bulk_trace_put_together(CtBulkBuilder *r, CtSourceRange range, const CtAbstract *s, CtType *type,
                                   CtCore *old, CtCore *const *flat) {
    Flat f = {.builder = r, .p = r->p, .range = range, .flat = flat};
    return put_together(&f, s, type, old, NULL, 0);
}
