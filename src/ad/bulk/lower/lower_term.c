/* Lowering of BULK's terms to Core over flat arrays: an ordinary program of `map`, `zipWith`, `sumRows` and so on, each
 * of which is a loop in C if its function is one primitive. Shared terms are bound by `let`; errors occur in the order
 * in which the term is evaluated.
 *
 * A primitive that would fail gives 0: the program's own error is a CHECK. */
#include "ad/bulk/lower/internal.h"

static const CtShape scalar = {0, NULL};

CtType *ct_bulk_lower_type(CtProgram *p, CtElement element, CtShape shape) {
    CtType *item = element == ELEMENT_REAL ? p->double_type : p->int_type;
    if (shape.rank > 0) return ct_core_type_array(p, item);
    return element == ELEMENT_BOOL ? p->bool_type : item;
}

/* ---- pieces ---- */

CtCore *ct_bulk_lower_int(CtLower *l, CtSourceRange range, int64_t value) { return ct_core_int(l->p, range, value); }

CtCore *ct_bulk_lower_op(CtLower *l, CtSourceRange range, CtPrim prim, CtCore *a, CtCore *b) {
    CtCore *args[2] = {a, b};
    return ct_core_prim(l->p, range, prim, args, b != NULL ? 2 : 1);
}

CtCore *ct_bulk_lower_array(CtLower *l, CtSourceRange range, CtArrayOp op, CtCore *a, CtCore *b, CtCore *c) {
    CtCore *args[3] = {a, b, c};
    return ct_core_array(l->p, range, op, args, c != NULL ? 3 : b != NULL ? 2 : 1);
}

CtCore *ct_bulk_lower_ints(CtLower *l, CtSourceRange range, const int64_t *items, uint32_t count) {
    CtCore **cores = CT_NEW_ARRAY(l->r->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) cores[i] = ct_bulk_lower_int(l, range, items[i]);
    return ct_core_array_lit(l->p, range, l->p->int_type, cores, count);
}

CtCore *ct_bulk_lower_zero(CtLower *l, CtSourceRange range, CtElement element) {
    return element == ELEMENT_REAL ? ct_core_double(l->p, range, -0.0) : ct_bulk_lower_int(l, range, 0);
}

CtCore *ct_bulk_lower_zeros(CtLower *l, CtSourceRange range, CtElement element, int64_t count) {
    CtCore *number = ct_bulk_lower_int(l, range, count);
    return ct_bulk_lower_array(l, range, ARRAY_REPLICATE, number, ct_bulk_lower_zero(l, range, element), NULL);
}

CtCore *ct_bulk_lower_item(CtLower *l, CtElement element, CtCore *value) {
    if (element != ELEMENT_BOOL) return value;
    CtCore *one = ct_bulk_lower_int(l, value->range, 1);
    return ct_core_if(l->p, value->range, value, one, ct_bulk_lower_int(l, value->range, 0));
}

CtCore *ct_bulk_lower_value(CtLower *l, CtElement element, CtCore *item) {
    if (element != ELEMENT_BOOL) return item;
    return ct_bulk_lower_op(l, item->range, PRIM_INT_EQ, item, ct_bulk_lower_int(l, item->range, 1));
}

CtCore *ct_bulk_lower_constant(CtLower *l, CtCore *core) {
    CtGlobal *global =
        ct_core_global_new(l->p, ct_format(l->r->arena, "bulk.%u", l->p->next_global), core->type, core->range);
    global->body = core;
    global->is_library = true;
    return ct_core_global(l->p, core->range, global);
}

/* ---- variables and loops ---- */

CtVar *ct_bulk_lower_bind(CtLower *l, CtBulkVar *var, CtVar *to) {
    CtVar *before = ct_map_get(l->vars, ct_key(var));
    ct_map_set(l->r->arena, l->vars, ct_key(var), to);
    if (l->outside != NULL) ct_push(l->r->arena, &l->own, var);
    return before;
}

void ct_bulk_lower_unbind(CtLower *l, CtBulkVar *var, CtVar *before) {
    ct_map_set(l->r->arena, l->vars, ct_key(var), before);
}

/* A new fact about a variable invalidates cached ranges. */
static void note_range(CtLower *l, CtBulkVar *var, CtRange range) {
    const CtRange *known = ct_map_get(&l->facts.facts, ct_key(var));
    if (known != NULL && known->low == range.low && known->high == range.high) return;
    ct_bulk_note_var(&l->facts, var, range);
    l->facts.ranges = (CtMap){0};
    l->facts.safe = (CtMap){0};
}

void ct_bulk_lower_own(CtLower *l, CtBulkVar *var, int64_t size) { note_range(l, var, (CtRange){0, size - 1}); }

void ct_bulk_lower_enter(CtLower *l, CtLowerLoop *loop) {
    loop->outer = l->outside;
    loop->seq = ct_ad_seq(l->p, NULL);
    if (loop->outer == NULL) {
        l->own.count = 0;
        l->outside = &loop->seq;
    }
}

CtCore *ct_bulk_lower_leave(CtLower *l, CtLowerLoop *loop, CtCore *made) {
    l->outside = loop->outer;
    return ct_ad_seq_close(&loop->seq, made);
}

/* Whether an array is the same in all iterations of the enclosing loops, and cannot fail. */
static bool can_be_lifted(CtLower *l, CtBulk *t) {
    if (l->outside == NULL || t->shape.rank == 0 || t->kind == BULK_VAR || !ct_bulk_is_safe(&l->facts, t)) return false;
    for (uint32_t i = 0; i < l->own.count; i++)
        if (ct_bulk_mentions(t, l->own.items[i])) return false;
    return true;
}

CtLower ct_bulk_lower_begin_apart(CtLower *l) {
    CtLower before = *l;
    l->outside = NULL;
    l->own.items = NULL;
    l->own.count = l->own.capacity = 0;
    return before;
}

void ct_bulk_lower_end_apart(CtLower *l, const CtLower *before) {
    l->outside = before->outside;
    l->own.items = before->own.items;
    l->own.count = before->own.count;
    l->own.capacity = before->own.capacity;
}

static CtCore *lift(CtLower *l, CtBulk *t) {
    CtLower before = ct_bulk_lower_begin_apart(l);
    CtCore *core = ct_bulk_lower_term(l, t);
    ct_bulk_lower_end_apart(l, &before);
    return ct_ad_seq_name(l->outside, "xs", core);
}

/* ---- constants ---- */

enum { FEW = 8 }; /* arrays of at most this many elements are written out at each use */

static CtCore *constant_item(CtLower *l, CtBulk *t, int64_t i) {
    bool is_real = t->element == ELEMENT_REAL;
    if (is_real)
        return ct_core_double(l->p, t->range,
                              t->as.constant.reals != NULL ? t->as.constant.reals[i] : t->as.constant.real);
    return ct_bulk_lower_int(l, t->range,
                             t->as.constant.integers != NULL ? t->as.constant.integers[i] : t->as.constant.integer);
}

static CtCore *lower_const(CtLower *l, CtBulk *t) {
    int64_t count = ct_bulk_shape_count(t->shape);
    if (t->shape.rank == 0 && t->element == ELEMENT_BOOL)
        return ct_core_bool(l->p, t->range, ct_bulk_lower_number(t) != 0);
    if (t->shape.rank == 0) return constant_item(l, t, 0);
    CtCore *number = ct_bulk_lower_int(l, t->range, count);
    if (ct_bulk_is_iota(t, count)) return ct_bulk_lower_array(l, t->range, ARRAY_IOTA, number, NULL, NULL);
    if (t->as.constant.reals == NULL && t->as.constant.integers == NULL)
        return ct_bulk_lower_array(l, t->range, ARRAY_REPLICATE, number, constant_item(l, t, 0), NULL);
    CtCore **items = CT_NEW_ARRAY(l->r->arena, CtCore *, (size_t)count);
    for (int64_t i = 0; i < count; i++) items[i] = constant_item(l, t, i);
    CtType *type = ct_bulk_lower_type(l->p, t->element, t->shape)->parts[0];
    CtCore *array = ct_core_array_lit(l->p, t->range, type, items, (uint32_t)count);
    return count <= FEW ? array : ct_bulk_lower_constant(l, array);
}

/* ---- element by element ---- */

CtBulk *ct_bulk_lower_uniform(CtLower *l, CtBulk *t) {
    if (t->shape.rank == 0) return t;
    switch ((int)t->kind) {
    case BULK_CONST:
        if (t->as.constant.reals != NULL || t->as.constant.integers != NULL) return NULL;
        if (t->element == ELEMENT_REAL) return ct_bulk_real(l->r, t->as.constant.real, scalar);
        if (t->element == ELEMENT_INT) return ct_bulk_int(l->r, t->as.constant.integer, scalar);
        return ct_bulk_bool(l->r, t->as.constant.integer != 0, scalar);
    case BULK_REPLICATE: return ct_bulk_lower_uniform(l, t->as.t);
    case BULK_RESHAPE: return ct_bulk_lower_uniform(l, t->as.t);
    case BULK_TRANSPOSE: return ct_bulk_lower_uniform(l, t->as.transpose.t);
    default: return NULL;
    }
}

/* Whether a literal divisor rules out that a primitive fails. */
static bool cannot_fail(CtPrim prim, const CtCore *divisor) {
    bool divides = prim == PRIM_INT_DIV || prim == PRIM_INT_MOD || prim == PRIM_INT_QUOT || prim == PRIM_INT_REM;
    bool rounds =
        prim == PRIM_FLOOR_INT || prim == PRIM_CEILING_INT || prim == PRIM_ROUND_INT || prim == PRIM_TRUNCATE_INT;
    return !rounds && (!divides || (divisor->kind == CORE_LIT && divisor->as.lit.integer != 0));
}

/* A primitive on atoms that gives 0 where it would fail. */
static CtCore *total_op(CtLower *l, CtSourceRange range, CtPrim prim, CtCore *a, CtCore *b) {
    CtCore *value = ct_bulk_lower_op(l, range, prim, a, b);
    if (cannot_fail(prim, b)) return value;
    CtCore *zero = ct_bulk_lower_int(l, range, 0);
    if (b != NULL) {
        CtCore *fails = ct_bulk_lower_op(l, range, PRIM_INT_EQ, b, ct_bulk_lower_int(l, range, 0));
        return ct_core_if(l->p, range, fails, zero, value);
    }
    CtCore *low = ct_bulk_lower_op(l, range, PRIM_LE, ct_core_double(l->p, range, -0x1p63), a);
    CtCore *high = ct_bulk_lower_op(l, range, PRIM_LT, a, ct_core_double(l->p, range, 0x1p63));
    CtCore *below = ct_core_if(l->p, range, high, value, zero);
    return ct_core_if(l->p, range, low, below, ct_bulk_lower_int(l, range, 0));
}

/* The operation of an OP or LOGIC. */
typedef struct Elementwise {
    CtBulk *t;
    CtBulk *const *args;
    uint32_t count;
} Elementwise;

static Elementwise elementwise(CtBulk *t) {
    if (t->kind == BULK_OP) return (Elementwise){t, t->as.op.args, t->as.op.count};
    return (Elementwise){t, t->as.logic.args, t->as.logic.logic == LOGIC_NOT ? 1 : 2};
}

/* On values of rank 0, which are atoms. */
static CtCore *on_values(CtLower *l, const Elementwise *e, CtCore *a, CtCore *b) {
    CtBulk *t = e->t;
    if (t->kind == BULK_OP) return total_op(l, t->range, t->as.op.prim, a, b);
    CtCore *no = ct_core_bool(l->p, t->range, false), *yes = ct_core_bool(l->p, t->range, true);
    switch (t->as.logic.logic) {
    case LOGIC_AND: return ct_core_if(l->p, t->range, a, b, no);
    case LOGIC_OR: return ct_core_if(l->p, t->range, a, yes, b);
    case LOGIC_NOT: return ct_core_if(l->p, t->range, a, no, yes);
    }
    return a;
}

/* On elements in their representation in arrays; arguments and result are atoms. */
static CtCore *on_items(CtLower *l, const Elementwise *e, CtCore *a, CtCore *b) {
    CtBulk *t = e->t;
    if (t->kind == BULK_OP) return ct_bulk_lower_item(l, t->element, total_op(l, t->range, t->as.op.prim, a, b));
    switch (t->as.logic.logic) {
    case LOGIC_AND: return ct_bulk_lower_op(l, t->range, PRIM_INT_AND, a, b);
    case LOGIC_OR: return ct_bulk_lower_op(l, t->range, PRIM_INT_OR, a, b);
    case LOGIC_NOT: return ct_bulk_lower_op(l, t->range, PRIM_INT_SUB, ct_bulk_lower_int(l, t->range, 1), a);
    }
    return a;
}

static CtCore *lower_scalars(CtLower *l, const Elementwise *e, CtBulk *const *scalars) {
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtCore *args[2] = {NULL, NULL};
    for (uint32_t i = 0; i < e->count; i++) args[i] = ct_bulk_lower_term(l, scalars[i]);
    bool once = e->t->kind == BULK_OP && cannot_fail(e->t->as.op.prim, args[1]);
    for (uint32_t i = 0; !once && i < e->count; i++) args[i] = ct_ad_seq_name(&seq, "x", args[i]);
    CtCore *value = on_values(l, e, args[0], args[1]);
    return ct_ad_seq_close(&seq, value);
}

/* Whether a scalar term is lowered to a literal or a variable. */
static bool is_atom(const CtBulk *t) {
    return t->shape.rank == 0 && t->element != ELEMENT_BOOL && (t->kind == BULK_CONST || t->kind == BULK_VAR);
}

static CtCore *lower_elementwise(CtLower *l, CtBulk *t) {
    CtCore *updated = t->kind == BULK_OP && t->as.op.count == 2 ? ct_bulk_lower_add_sparse(l, t) : NULL;
    if (updated != NULL) return updated;
    Elementwise e = elementwise(t);
    CtBulk *scalars[2] = {NULL, NULL};
    uint32_t arrays = 0;
    for (uint32_t i = 0; i < e.count; i++) {
        scalars[i] = ct_bulk_lower_uniform(l, e.args[i]);
        arrays += scalars[i] == NULL;
    }
    if (arrays == 0) {
        CtCore *value = lower_scalars(l, &e, scalars);
        if (t->shape.rank == 0) return value;
        CtCore *item = ct_bulk_lower_item(l, t->element, value),
               *number = ct_bulk_lower_int(l, t->range, ct_bulk_shape_count(t->shape));
        return ct_bulk_lower_array(l, t->range, ARRAY_REPLICATE, number, item, NULL);
    }
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtVar *params[2];
    CtCore *args[2] = {NULL, NULL}, *operands[2];
    uint32_t count = 0;
    for (uint32_t i = 0; i < e.count; i++) {
        if (scalars[i] != NULL) {
            args[i] = ct_ad_seq_name(&seq, "s",
                                     ct_bulk_lower_item(l, scalars[i]->element, ct_bulk_lower_term(l, scalars[i])));
            continue;
        }
        operands[count] = ct_bulk_lower_term(l, e.args[i]);
        CtBulk *other = scalars[1 - i];
        if (other != NULL && !is_atom(other)) operands[count] = ct_ad_seq_name(&seq, "xs", operands[count]);
        params[count] = ct_core_var_new(l->p, count == 0 ? "x" : "y", operands[count]->type->parts[0]);
        args[i] = ct_core_var(l->p, t->range, params[count++]);
    }
    CtCore *body = on_items(l, &e, args[0], args[1]);
    CtCore *fun = ct_core_lam(l->p, t->range, NULL, params, count, body);
    CtCore *made = count == 1 ? ct_bulk_lower_array(l, t->range, ARRAY_MAP, fun, operands[0], NULL)
                              : ct_bulk_lower_array(l, t->range, ARRAY_ZIP_WITH, fun, operands[0], operands[1]);
    return ct_ad_seq_close(&seq, made);
}

/* ---- reductions ---- */

static CtArrayOp reduction_op(CtReduction reduction) {
    switch (reduction) {
    case REDUCE_SUM:
    case REDUCE_PLAIN_SUM: return ARRAY_SUM_ROWS;
    case REDUCE_PRODUCT: return ARRAY_PRODUCT;
    case REDUCE_MAXIMUM: return ARRAY_MAXIMUM;
    case REDUCE_MINIMUM: return ARRAY_MINIMUM;
    case REDUCE_ARGMAX: return ARRAY_ARGMAX;
    case REDUCE_ARGMIN: return ARRAY_ARGMIN;
    }
    return ARRAY_SUM_ROWS;
}

/* build m (λj. op (strided [|j, rows, m|] xs)) */
static CtCore *by_columns(CtLower *l, CtSourceRange range, CtArrayOp op, CtCore *xs, int64_t rows, int64_t m) {
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtCore *named = ct_ad_seq_name(&seq, "xs", xs);
    CtVar *j = ct_core_var_new(l->p, "j", l->p->int_type);
    CtCore *view[3];
    view[0] = ct_core_var(l->p, range, j);
    view[1] = ct_bulk_lower_int(l, range, rows);
    view[2] = ct_bulk_lower_int(l, range, m);
    CtCore *numbers = ct_core_array_lit(l->p, range, l->p->int_type, view, 3);
    CtCore *column = ct_bulk_lower_array(l, range, ARRAY_STRIDED, numbers, named, NULL);
    CtCore *body = ct_bulk_lower_array(l, range, op, column, NULL, NULL);
    CtCore *fun = ct_core_lam(l->p, range, NULL, &j, 1, body);
    return ct_ad_seq_close(&seq, ct_bulk_lower_array(l, range, ARRAY_BUILD, ct_bulk_lower_int(l, range, m), fun, NULL));
}

static CtCore *lower_reduce(CtLower *l, CtBulk *t) {
    if (t->as.reduce.reduction == REDUCE_PLAIN_SUM) {
        CtBulk *sum = ct_bulk_reduce(l->r, REDUCE_SUM, t->as.reduce.t, t->range);
        return lower_elementwise(l, ct_bulk_op2(l->r, PRIM_ADD, sum, ct_bulk_real(l->r, 0, t->shape)));
    }
    CtBulk *part = t->as.reduce.t;
    CtArrayOp op = reduction_op(t->as.reduce.reduction);
    int64_t rows = part->shape.sizes[0], m = ct_bulk_shape_count(t->shape);
    CtCore *xs = ct_bulk_lower_term(l, part);
    if (op == ARRAY_SUM_ROWS) {
        return ct_bulk_lower_unflat(l, t,
                                    ct_bulk_lower_array(l, t->range, op, ct_bulk_lower_int(l, t->range, m), xs, NULL));
    }
    if (rows == 0 && op != ARRAY_PRODUCT) { /* the result for an empty array is 0 */
        CtSeq seq = ct_ad_seq(l->p, NULL);
        ct_ad_seq_name(&seq, "none", xs);
        bool is_scalar = t->shape.rank == 0;
        return ct_ad_seq_close(&seq, is_scalar ? ct_bulk_lower_zero(l, t->range, t->element)
                                               : ct_bulk_lower_zeros(l, t->range, t->element, m));
    }
    if (t->shape.rank == 0) return ct_bulk_lower_array(l, t->range, op, xs, NULL, NULL);
    return by_columns(l, t->range, op, xs, rows, m);
}

/* ---- the other forms ---- */

static CtCore *lower_let(CtLower *l, CtBulk *t) {
    CtBulkVar *var = t->as.let.var;
    CtSeq seq = ct_ad_seq(l->p, NULL);
    struct CtLoweredLoop *outer = l->r->loops;
    CtVar *bound = ct_bulk_lower_bound(l, &seq, var, t->as.let.rhs);
    if (var->element == ELEMENT_INT) note_range(l, var, ct_bulk_range(&l->facts, t->as.let.rhs));
    CtVar *before = ct_bulk_lower_bind(l, var, bound);
    CtCore *body = ct_bulk_lower_term(l, t->as.let.body);
    ct_bulk_lower_unbind(l, var, before);
    l->r->loops = outer;
    return ct_ad_seq_close(&seq, body);
}

/* The test has some outermost dimensions of the branches, and is the same for all elements of a row. */
static CtCore *select_elements(CtLower *l, CtBulk *t) {
    int64_t tests = ct_bulk_shape_count(t->as.cond.test->shape);
    CtDim dims[] = {{tests, 1}, {ct_bulk_shape_count(ct_bulk_shape_tail(t->shape, t->as.cond.test->shape.rank)), 0}};
    CtCore *test = ct_bulk_lower_term(l, t->as.cond.test);
    CtCore *each = ct_bulk_lower_view(l, t->range, test, tests, 0, dims, 2);
    CtCore *yes = ct_bulk_lower_term(l, t->as.cond.yes);
    return ct_bulk_lower_array(l, t->range, ARRAY_SELECT, each, yes, ct_bulk_lower_term(l, t->as.cond.no));
}

/* A branch that cannot fail is evaluated only if it is taken. One that may fail is always evaluated, because its
 * failure may be meant independently of the test. */
static CtCore *lower_cond(CtLower *l, CtBulk *t) {
    CtBulk *branches[2] = {t->as.cond.yes, t->as.cond.no}, *same = ct_bulk_lower_uniform(l, t->as.cond.test);
    if (same == NULL) {
        CtCore *updated = ct_bulk_lower_update(l, t);
        return updated != NULL ? updated : select_elements(l, t);
    }
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtCore *test = ct_bulk_lower_term(l, same), *values[2];
    bool fails = !ct_bulk_is_safe(&l->facts, branches[0]) || !ct_bulk_is_safe(&l->facts, branches[1]);
    if (fails) test = ct_ad_seq_name(&seq, "b", test);
    for (int i = 0; i < 2; i++) {
        values[i] = ct_bulk_lower_term(l, branches[i]);
        if (!ct_bulk_is_safe(&l->facts, branches[i])) values[i] = ct_ad_seq_name(&seq, "x", values[i]);
    }
    return ct_ad_seq_close(&seq, ct_core_if(l->p, t->range, test, values[0], values[1]));
}

/* Joins the rows of several arrays. */
static CtCore *rows(CtLower *l, CtSourceRange range, CtElement element, CtShape shape, CtCore *const *items,
                    uint32_t count) {
    CtType *type = ct_bulk_lower_type(l->p, element, shape);
    if (shape.rank == 0 && element == ELEMENT_BOOL) type = l->p->int_type;
    CtCore *array = ct_core_array_lit(l->p, range, type, items, count);
    return shape.rank == 0 ? array : ct_bulk_lower_array(l, range, ARRAY_CONCAT, array, NULL, NULL);
}

static CtCore *lower_part(CtLower *l, CtBulk *t) {
    CtCore *value = ct_bulk_lower_term(l, t);
    return t->shape.rank == 0 ? ct_bulk_lower_item(l, t->element, value) : value;
}

static CtCore *lower_literal(CtLower *l, CtBulk *t) {
    CtCore **items = CT_NEW_ARRAY(l->r->arena, CtCore *, t->as.literal.count);
    for (uint32_t i = 0; i < t->as.literal.count; i++) items[i] = lower_part(l, t->as.literal.items[i]);
    return rows(l, t->range, t->element, t->as.literal.items[0]->shape, items, t->as.literal.count);
}

static CtCore *lower_replicate(CtLower *l, CtBulk *t) {
    CtBulk *same = ct_bulk_lower_uniform(l, t);
    int64_t count = ct_bulk_shape_count(t->shape), k = t->shape.sizes[0];
    if (same != NULL) {
        CtCore *number = ct_bulk_lower_int(l, t->range, count);
        return ct_bulk_lower_array(l, t->range, ARRAY_REPLICATE, number, lower_part(l, same), NULL);
    }
    int64_t m = ct_bulk_shape_count(t->as.t->shape);
    CtDim dims[] = {{k, 0}, {m, 1}};
    return ct_bulk_lower_view(l, t->range, ct_bulk_lower_term(l, t->as.t), m, 0, dims, 2);
}

static CtCore *lower_build(CtLower *l, CtBulk *t) {
    CtBulkVar *var = t->as.build.var;
    CtLowerLoop loop;
    ct_bulk_lower_enter(l, &loop);
    CtVar *i = ct_core_var_new(l->p, var->name, l->p->int_type);
    CtVar *before = ct_bulk_lower_bind(l, var, i);
    ct_bulk_lower_own(l, var, t->shape.sizes[0]);
    CtCore *body = lower_part(l, t->as.build.body);
    ct_bulk_lower_unbind(l, var, before);
    CtCore *fun = ct_core_lam(l->p, t->range, NULL, &i, 1, body);
    CtCore *made =
        ct_bulk_lower_array(l, t->range, ARRAY_BUILD, ct_bulk_lower_int(l, t->range, t->shape.sizes[0]), fun, NULL);
    if (t->shape.rank > 1) made = ct_bulk_lower_array(l, t->range, ARRAY_CONCAT, made, NULL, NULL);
    return ct_bulk_lower_leave(l, &loop, made);
}

CtCore *ct_bulk_lower_failure(CtLower *l, CtSourceRange range, CtCore *failure) {
    if (l->r->again == NULL) return failure;
    l->r->is_again_used = true;
    CtSeq seq = ct_ad_seq(l->p, NULL);
    CtCore *run = ct_core_app(l->p, range, ct_core_var(l->p, range, l->r->again), NULL, 0);
    ct_ad_seq_let(&seq, range, ct_core_var_new(l->p, "y", run->type), run);
    return ct_ad_seq_close(&seq, failure);
}

static CtCore *lower_check(CtLower *l, CtBulk *t) {
    CtBulk *test = t->as.check.test, *same = ct_bulk_lower_uniform(l, test);
    CtCore *fails;
    if (same != NULL && ct_bulk_shape_count(test->shape) > 0) {
        fails = ct_bulk_lower_term(l, same);
    } else {
        CtCore *count = ct_bulk_lower_array(l, t->range, ARRAY_SUM, ct_bulk_lower_term(l, test), NULL, NULL);
        fails = ct_bulk_lower_op(l, t->range, PRIM_INT_LT, ct_bulk_lower_int(l, t->range, 0), count);
    }
    CtCore *body = ct_bulk_lower_term(l, t->as.check.t);
    CtCore *failure = ct_core_fail(l->p, t->range, body->type, t->as.check.code, t->as.check.text, NULL);
    return ct_core_if(l->p, t->range, fails, ct_bulk_lower_failure(l, t->range, failure), body);
}

CtCore *ct_bulk_lower_flat(CtLower *l, CtBulk *t) {
    CtCore *item = lower_part(l, t);
    return t->shape.rank > 0 ? item : ct_core_array_lit(l->p, t->range, item->type, &item, 1);
}

CtCore *ct_bulk_lower_unflat(CtLower *l, const CtBulk *t, CtCore *array) {
    if (t->shape.rank > 0) return array;
    CtCore *item = ct_bulk_lower_array(l, t->range, ARRAY_INDEX, array, ct_bulk_lower_int(l, t->range, 0), NULL);
    return ct_bulk_lower_value(l, t->element, item);
}

CtCore *ct_bulk_lower_term(CtLower *l, CtBulk *t) {
    if (can_be_lifted(l, t)) return lift(l, t);
    switch (t->kind) {
    case BULK_CONST: return lower_const(l, t);
    case BULK_VAR: return ct_core_var(l->p, t->range, ct_map_get(l->vars, ct_key(t->as.var)));
    case BULK_LET: return lower_let(l, t);
    case BULK_COND: return lower_cond(l, t);
    case BULK_OP:
    case BULK_LOGIC: return lower_elementwise(l, t);
    case BULK_INDEX: return ct_bulk_lower_index(l, t);
    case BULK_REDUCE: return lower_reduce(l, t);
    case BULK_GATHER: return ct_bulk_lower_gather(l, t);
    case BULK_SCATTER: return ct_bulk_lower_scatter(l, t);
    case BULK_LITERAL: return lower_literal(l, t);
    case BULK_REPLICATE: return lower_replicate(l, t);
    case BULK_TRANSPOSE: return ct_bulk_lower_transpose(l, t);
    case BULK_RESHAPE: {
        CtCore *array = ct_bulk_lower_flat(l, t->as.t);
        return ct_bulk_lower_unflat(l, t, array);
    }
    case BULK_BUILD: return lower_build(l, t);
    case BULK_ONE_HOT: return ct_bulk_lower_one_hot(l, t);
    case BULK_STOP: {
        CtCore *inner = ct_bulk_lower_term(l, t->as.t);
        return ct_core_deriv(l->p, t->range, DERIV_STOP, &inner, 1);
    }
    case BULK_SHARE: return ct_bulk_lower_term(l, t->as.share.t);
    case BULK_CHECK: return lower_check(l, t);
    case BULK_LOOP: return ct_bulk_lower_loop(l, t);
    }
    return NULL;
}

/* ---- whole programs ---- */

static CtLower lowering(CtBulkBuilder *r, CtMap *vars) {
    return (CtLower){.r = r, .p = r->p, .vars = vars, .facts = {.r = r}};
}

CtCore *ct_bulk_lower(CtBulkBuilder *r, CtBulk *t, CtMap *vars) {
    CtLower l = lowering(r, vars);
    ct_bulk_note(&l.facts, t);
    return ct_bulk_lower_term(&l, t);
}

void ct_bulk_lower_binding(CtBulkBuilder *r, CtSeq *seq, CtBulkVar *var, CtBulk *t, CtMap *vars) {
    CtLower l = lowering(r, vars);
    ct_bulk_note(&l.facts, t);
    ct_map_set(r->arena, vars, ct_key(var), ct_bulk_lower_bound(&l, seq, var, t));
}
