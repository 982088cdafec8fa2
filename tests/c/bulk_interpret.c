#include "bulk_interpret.h"

#include "rt/scalar.h"

/* ---- values ---- */

BulkValue *bulk_value(CtArena *arena, CtElement element, CtShape shape) {
    BulkValue *value = CT_NEW(arena, BulkValue);
    int64_t count = ct_bulk_shape_count(shape);
    *value = (BulkValue){element, shape, count, CT_NEW_ARRAY(arena, BulkWord, (size_t)count)};
    for (int64_t i = 0; element == ELEMENT_REAL && i < count; i++) value->items[i].real = -0.0;
    return value;
}

BulkValue *bulk_value_reals(CtArena *arena, const double *items, CtShape shape) {
    BulkValue *value = bulk_value(arena, ELEMENT_REAL, shape);
    for (int64_t i = 0; i < value->count; i++) value->items[i].real = items[i];
    return value;
}

static bool equal_reals(double a, double b, double tolerance) {
    if (a != a || b != b) return a != a && b != b;
    if (tolerance > 0) return a == b || fabs(a - b) <= tolerance * fmax(1, fmax(fabs(a), fabs(b)));
    return a == b && signbit(a) == signbit(b);
}

bool bulk_equal(const BulkValue *a, const BulkValue *b, double tolerance) {
    if (a->element != b->element || !ct_bulk_shape_equal(a->shape, b->shape)) return false;
    for (int64_t i = 0; i < a->count; i++) {
        if (a->element == ELEMENT_REAL ? !equal_reals(a->items[i].real, b->items[i].real, tolerance)
                                       : a->items[i].integer != b->items[i].integer)
            return false;
    }
    return true;
}

void bulk_bind(BulkRun *run, CtBulkVar *var, BulkValue *value) {
    ct_map_set(run->arena, &run->env, ct_key(var), value);
}

static BulkValue *fail(BulkRun *run, CtErrorCode code) {
    if (!run->failed) run->code = code;
    run->failed = true;
    return NULL;
}

/* ---- scalars ---- */

static int64_t of_ints(CtPrim prim, int64_t a, int64_t b) {
    switch (prim) {
    case PRIM_INT_EQ: return a == b;
    case PRIM_INT_LT: return a < b;
    case PRIM_INT_LE: return a <= b;
    case PRIM_INT_ADD: return ct_wrap_add(a, b);
    case PRIM_INT_SUB: return ct_wrap_sub(a, b);
    case PRIM_INT_MUL: return ct_wrap_mul(a, b);
    case PRIM_INT_NEGATE: return ct_wrap_sub(0, a);
    case PRIM_INT_ABS: return ct_int_abs(a);
    case PRIM_INT_SIGNUM: return ct_int_signum(a);
    case PRIM_INT_MIN: return ct_int_min(a, b);
    case PRIM_INT_MAX: return ct_int_max(a, b);
    case PRIM_INT_DIV: return ct_int_div(a, b);
    case PRIM_INT_MOD: return ct_int_mod(a, b);
    case PRIM_INT_QUOT: return ct_int_quot(a, b);
    case PRIM_INT_REM: return ct_int_rem(a, b);
    case PRIM_INT_AND: return ct_int_and(a, b);
    case PRIM_INT_OR: return ct_int_or(a, b);
    case PRIM_INT_XOR: return ct_int_xor(a, b);
    case PRIM_INT_COMPLEMENT: return ct_int_complement(a);
    case PRIM_INT_SHIFT_LEFT: return ct_int_shift(a, b);
    case PRIM_INT_SHIFT_RIGHT: return ct_int_shift(a, ct_wrap_sub(0, b));
    case PRIM_INT_POPCOUNT: return ct_int_popcount(a);
    default: return 0;
    }
}

/* Real arguments; an Int or a Bool. */
static int64_t of_reals(CtPrim prim, double a, double b) {
    switch (prim) {
    case PRIM_FLOOR_INT: return ct_to_int(floor(a));
    case PRIM_CEILING_INT: return ct_to_int(ceil(a));
    case PRIM_ROUND_INT: return ct_to_int(rint(a));
    case PRIM_TRUNCATE_INT: return ct_to_int(trunc(a));
    default: return (int64_t)ct_prim_value(prim, a, b);
    }
}

static BulkWord apply(CtPrim prim, BulkWord a, BulkWord b) {
    const CtPrimInfo *info = ct_prim_info(prim);
    BulkWord y = {.integer = 0};
    bool gives_real = info->result == 'R' || info->result == 'D' || info->result == 'F';
    if (prim == PRIM_TO_DOUBLE)
        y.real = (double)a.integer;
    else if (prim == PRIM_TO_FLOAT)
        y.real = (double)(float)a.integer;
    else if (info->args[0] == 'I')
        y.integer = of_ints(prim, a.integer, b.integer);
    else if (gives_real)
        y.real = ct_prim_value(prim, a.real, b.real);
    else
        y.integer = of_reals(prim, a.real, b.real);
    return y;
}

static BulkValue *run_op(BulkRun *run, CtBulk *t) {
    BulkValue *args[2] = {NULL, NULL};
    for (uint32_t i = 0; i < t->as.op.count; i++) {
        args[i] = bulk_run(run, t->as.op.args[i]);
        if (args[i] == NULL) return NULL;
    }
    BulkValue *value = bulk_value(run->arena, t->element, t->shape);
    for (int64_t i = 0; i < value->count; i++) {
        BulkWord none = {.integer = 0};
        value->items[i] = apply(t->as.op.prim, args[0]->items[i], args[1] != NULL ? args[1]->items[i] : none);
    }
    return value;
}

static BulkValue *run_logic(BulkRun *run, CtBulk *t) {
    BulkValue *a = bulk_run(run, t->as.logic.args[0]);
    BulkValue *b = t->as.logic.logic == LOGIC_NOT ? a : bulk_run(run, t->as.logic.args[1]);
    if (a == NULL || b == NULL) return NULL;
    BulkValue *value = bulk_value(run->arena, ELEMENT_BOOL, t->shape);
    for (int64_t i = 0; i < value->count; i++) {
        bool x = a->items[i].integer != 0, y = b->items[i].integer != 0;
        value->items[i].integer = t->as.logic.logic == LOGIC_AND ? x && y : t->as.logic.logic == LOGIC_OR ? x || y : !x;
    }
    return value;
}

/* ---- reductions ---- */

static bool is_nan(CtElement element, BulkWord x) { return element == ELEMENT_REAL && x.real != x.real; }

static bool less(CtElement element, BulkWord a, BulkWord b) {
    return element == ELEMENT_REAL ? a.real < b.real : a.integer < b.integer;
}

/* The index of the first largest (smallest) of `count` items `stride` apart; of the first NaN, if there is one. */
static int64_t find_extreme(const BulkValue *xs, int64_t start, int64_t count, int64_t stride, bool largest) {
    int64_t best = 0;
    for (int64_t i = 0; i < count; i++) {
        BulkWord x = xs->items[start + i * stride], y = xs->items[start + best * stride];
        if (is_nan(xs->element, y)) break;
        if (is_nan(xs->element, x) || (largest ? less(xs->element, y, x) : less(xs->element, x, y))) best = i;
    }
    return best;
}

static BulkWord sum_or_product(const BulkValue *xs, int64_t start, int64_t count, int64_t stride, bool product) {
    BulkWord total = {.integer = product};
    if (xs->element == ELEMENT_REAL) total.real = product ? 1 : -0.0;
    for (int64_t i = 0; i < count; i++) {
        BulkWord x = xs->items[start + i * stride];
        if (xs->element == ELEMENT_REAL)
            total.real = product ? total.real * x.real : total.real + x.real;
        else
            total.integer = product ? ct_wrap_mul(total.integer, x.integer) : ct_wrap_add(total.integer, x.integer);
    }
    return total;
}

static BulkValue *run_reduce(BulkRun *run, CtBulk *t) {
    CtReduction reduction = t->as.reduce.reduction;
    BulkValue *xs = bulk_run(run, t->as.reduce.t);
    if (xs == NULL) return NULL;
    BulkValue *value = bulk_value(run->arena, t->element, t->shape);
    int64_t count = xs->shape.sizes[0];
    for (int64_t i = 0; i < value->count; i++) {
        if (reduction <= REDUCE_PRODUCT) {
            value->items[i] = sum_or_product(xs, i, count, value->count, reduction == REDUCE_PRODUCT);
            if (reduction == REDUCE_PLAIN_SUM) value->items[i].real += 0.0;
        } else if (count > 0) {
            bool largest = reduction == REDUCE_MAXIMUM || reduction == REDUCE_ARGMAX;
            int64_t best = find_extreme(xs, i, count, value->count, largest);
            if (reduction == REDUCE_MAXIMUM || reduction == REDUCE_MINIMUM)
                value->items[i] = xs->items[i + best * value->count];
            else
                value->items[i].integer = best;
        }
    }
    return value;
}

/* ---- moving elements ---- */

static bool next_index(int64_t *index, CtShape shape, uint32_t rank) {
    for (uint32_t i = rank; i-- > 0;) {
        if (++index[i] < shape.sizes[i]) return true;
        index[i] = 0;
    }
    return false;
}

/* The number of the block that f leads to at the point where its variables stand, in an array of `shape`; -1 when it is
 * outside and need not be inside. Also when it failed. */
static int64_t run_indexing(BulkRun *run, const CtIndexing *f, CtShape shape) {
    int64_t linear = 0;
    bool inside = true;
    for (uint32_t i = 0; i < f->count; i++) {
        BulkValue *ix = bulk_run(run, f->ix[i]);
        if (ix == NULL) return -1;
        int64_t at = ix->items[0].integer;
        inside &= at >= 0 && at < shape.sizes[i];
        linear = ct_wrap_add(ct_wrap_mul(linear, shape.sizes[i]), at);
    }
    BulkValue *live = f->live == NULL ? NULL : bulk_run(run, f->live);
    if (run->failed) return -1;
    if (!inside && (live == NULL || live->items[0].integer != 0)) fail(run, CT_E0501);
    return inside ? linear : -1;
}

static void move_block(BulkValue *to, int64_t to_block, const BulkValue *from, int64_t from_block, int64_t size,
                       bool add) {
    for (int64_t i = 0; i < size; i++) {
        BulkWord *y = &to->items[to_block * size + i], x = from->items[from_block * size + i];
        if (!add)
            *y = x;
        else if (to->element == ELEMENT_REAL)
            y->real += x.real;
        else
            y->integer = ct_wrap_add(y->integer, x.integer);
    }
}

/* The points of f in order; a gather takes from where f leads to, a scatter adds there. */
static BulkValue *run_move(BulkRun *run, CtBulk *t) {
    CtIndexing f = t->as.move.f;
    BulkValue *source = bulk_run(run, t->as.move.t);
    if (source == NULL) return NULL;
    bool scatters = t->kind == BULK_SCATTER || t->kind == BULK_ONE_HOT;
    CtBulk never = {.kind = BULK_CONST, .element = ELEMENT_BOOL};
    if (t->kind == BULK_ONE_HOT) f.live = &never;
    BulkValue *value = bulk_value(run->arena, t->element, t->shape);
    CtShape points = scatters ? source->shape : t->shape;
    int64_t size = ct_bulk_shape_count(ct_bulk_shape_tail(points, f.var_count)), count = 1;
    for (uint32_t i = 0; i < f.var_count; i++) count *= points.sizes[i];
    int64_t index[16] = {0};
    BulkValue *at[16], *before[16];
    for (uint32_t i = 0; i < f.var_count; i++) {
        at[i] = bulk_value(run->arena, ELEMENT_INT, (CtShape){0, NULL});
        before[i] = ct_map_get(&run->env, ct_key(f.vars[i]));
        bulk_bind(run, f.vars[i], at[i]);
    }
    for (int64_t point = 0; point < count; point++) {
        for (uint32_t i = 0; i < f.var_count; i++) at[i]->items[0].integer = index[i];
        int64_t block = run_indexing(run, &f, scatters ? t->shape : source->shape);
        if (run->failed) return NULL;
        if (block >= 0 && scatters)
            move_block(value, block, source, point, size, true);
        else if (block >= 0)
            move_block(value, point, source, block, size, false);
        next_index(index, points, f.var_count);
    }
    for (uint32_t i = f.var_count; i-- > 0;) bulk_bind(run, f.vars[i], before[i]);
    return value;
}

static BulkValue *run_transpose(BulkRun *run, CtBulk *t) {
    BulkValue *source = bulk_run(run, t->as.transpose.t);
    if (source == NULL) return NULL;
    BulkValue *value = bulk_value(run->arena, t->element, t->shape);
    int64_t index[16] = {0};
    for (int64_t i = 0; i < value->count; i++) {
        int64_t from[16], linear = 0;
        for (uint32_t d = 0; d < t->shape.rank; d++)
            from[d < t->as.transpose.count ? t->as.transpose.permutation[d] : d] = index[d];
        for (uint32_t d = 0; d < t->shape.rank; d++) linear = linear * source->shape.sizes[d] + from[d];
        value->items[i] = source->items[linear];
        next_index(index, t->shape, t->shape.rank);
    }
    return value;
}

/* ---- the rest ---- */

static BulkValue *run_const(BulkRun *run, CtBulk *t) {
    BulkValue *value = bulk_value(run->arena, t->element, t->shape);
    for (int64_t i = 0; i < value->count; i++) {
        if (t->element == ELEMENT_REAL)
            value->items[i].real = t->as.constant.reals != NULL ? t->as.constant.reals[i] : t->as.constant.real;
        else
            value->items[i].integer =
                t->as.constant.integers != NULL ? t->as.constant.integers[i] : t->as.constant.integer;
    }
    return value;
}

static BulkValue *run_build(BulkRun *run, CtBulk *t) {
    BulkValue *value = bulk_value(run->arena, t->element, t->shape);
    BulkValue *before = ct_map_get(&run->env, ct_key(t->as.build.var));
    for (int64_t i = 0; i < t->shape.sizes[0]; i++) {
        BulkValue *index = bulk_value(run->arena, ELEMENT_INT, (CtShape){0, NULL});
        index->items[0].integer = i;
        bulk_bind(run, t->as.build.var, index);
        BulkValue *item = bulk_run(run, t->as.build.body);
        if (item == NULL) return NULL;
        move_block(value, i, item, 0, item->count, false);
    }
    bulk_bind(run, t->as.build.var, before);
    return value;
}

static BulkValue *run_literal(BulkRun *run, CtBulk *t) {
    BulkValue *value = bulk_value(run->arena, t->element, t->shape);
    for (uint32_t i = 0; i < t->as.literal.count; i++) {
        BulkValue *item = bulk_run(run, t->as.literal.items[i]);
        if (item == NULL) return NULL;
        move_block(value, i, item, 0, item->count, false);
    }
    return value;
}

static BulkValue *run_replicate(BulkRun *run, CtBulk *t) {
    BulkValue *item = bulk_run(run, t->as.t);
    if (item == NULL) return NULL;
    BulkValue *value = bulk_value(run->arena, t->element, t->shape);
    for (int64_t i = 0; i < t->shape.sizes[0]; i++) move_block(value, i, item, 0, item->count, false);
    return value;
}

static BulkValue *run_reshape(BulkRun *run, CtBulk *t) {
    BulkValue *source = bulk_run(run, t->as.t);
    if (source == NULL) return NULL;
    BulkValue *value = bulk_value(run->arena, t->element, t->shape);
    move_block(value, 0, source, 0, value->count, false);
    return value;
}

static BulkValue *run_cond(BulkRun *run, CtBulk *t) {
    BulkValue *test = bulk_run(run, t->as.cond.test);
    BulkValue *yes = bulk_run(run, t->as.cond.yes);
    BulkValue *no = bulk_run(run, t->as.cond.no);
    if (run->failed) return NULL;
    BulkValue *value = bulk_value(run->arena, t->element, t->shape);
    int64_t size = test->count > 0 ? value->count / test->count : 0;
    for (int64_t i = 0; i < test->count; i++) move_block(value, i, test->items[i].integer ? yes : no, i, size, false);
    return value;
}

static BulkValue *run_check(BulkRun *run, CtBulk *t) {
    BulkValue *test = bulk_run(run, t->as.check.test);
    if (test == NULL) return NULL;
    for (int64_t i = 0; i < test->count; i++)
        if (test->items[i].integer != 0) return fail(run, t->as.check.code);
    return bulk_run(run, t->as.check.t);
}

static BulkValue *run_share(BulkRun *run, CtBulk *t) {
    uint64_t key = (uint64_t)t->as.share.id + 1;
    BulkValue *value = ct_map_get(&run->shares, key);
    if (value == NULL) {
        value = bulk_run(run, t->as.share.t);
        ct_map_set(run->arena, &run->shares, key, value);
    }
    return value;
}

/* One step: the states in `states` become those after it, the outputs go to the row of its index. */
static void run_step(BulkRun *run, const CtBulkLoop *loop, BulkValue **states, BulkValue **outputs, int64_t i) {
    BulkValue *index = bulk_value(run->arena, ELEMENT_INT, (CtShape){0, NULL});
    index->items[0].integer = i;
    bulk_bind(run, loop->index, index);
    for (uint32_t s = 0; s < loop->count.states; s++) bulk_bind(run, loop->params[s], states[s]);
    for (uint32_t b = 0; b < loop->vars.count && !run->failed; b++)
        bulk_bind(run, loop->vars.items[b], bulk_run(run, loop->terms.items[b]));
    for (uint32_t k = 0; k < ct_bulk_loop_results(loop) && !run->failed; k++) {
        BulkValue *value = bulk_run(run, loop->results[k]);
        if (value == NULL) return;
        if (k < loop->count.states)
            states[k] = value;
        else
            move_block(outputs[k - loop->count.states], i, value, 0, value->count, false);
    }
}

static BulkValue *run_loop(BulkRun *run, CtBulk *t) {
    const CtBulkLoop *loop = t->as.loop.loop;
    uint32_t states = loop->count.states, elements = loop->count.elements, params = ct_bulk_loop_params(loop);
    CtMap before = {0};
    BulkValue **args = CT_NEW_ARRAY(run->arena, BulkValue *, params + 1);
    BulkValue **outputs = CT_NEW_ARRAY(run->arena, BulkValue *, loop->outputs + 1);
    for (uint32_t p = 0; p < params; p++) args[p] = bulk_run(run, t->as.loop.args[p]);
    if (run->failed) return NULL;
    for (uint32_t i = 0; i < run->env.count; i++)
        ct_map_set(run->arena, &before, run->env.entries[i].key, run->env.entries[i].value);
    for (uint32_t k = 0; k < loop->outputs; k++) {
        const CtBulk *output = loop->results[states + k];
        outputs[k] =
            bulk_value(run->arena, output->element, ct_bulk_shape_cons(run->arena, loop->steps, output->shape));
    }
    for (uint32_t p = states + elements; p < params; p++) bulk_bind(run, loop->params[p], args[p]);
    for (int64_t n = 0; n < loop->steps && !run->failed; n++) {
        int64_t i = loop->from_back ? loop->steps - 1 - n : n;
        for (uint32_t p = states; p < states + elements; p++) {
            BulkValue *row = bulk_value(run->arena, loop->params[p]->element, loop->params[p]->shape);
            move_block(row, 0, args[p], i, row->count, false);
            bulk_bind(run, loop->params[p], row);
        }
        run_step(run, loop, args, outputs, i);
    }
    run->env = before;
    if (run->failed) return NULL;
    return t->as.loop.result < states ? args[t->as.loop.result] : outputs[t->as.loop.result - states];
}

static BulkValue *run_form(BulkRun *run, CtBulk *t) {
    switch (t->kind) {
    case BULK_CONST: return run_const(run, t);
    case BULK_VAR: return ct_map_get(&run->env, ct_key(t->as.var));
    case BULK_LET: {
        BulkValue *rhs = bulk_run(run, t->as.let.rhs), *before = ct_map_get(&run->env, ct_key(t->as.let.var));
        if (rhs == NULL) return NULL;
        bulk_bind(run, t->as.let.var, rhs);
        BulkValue *body = bulk_run(run, t->as.let.body);
        bulk_bind(run, t->as.let.var, before);
        return body;
    }
    case BULK_COND: return run_cond(run, t);
    case BULK_OP: return run_op(run, t);
    case BULK_LOGIC: return run_logic(run, t);
    case BULK_REDUCE: return run_reduce(run, t);
    case BULK_INDEX:
    case BULK_GATHER:
    case BULK_SCATTER:
    case BULK_ONE_HOT: return run_move(run, t);
    case BULK_LITERAL: return run_literal(run, t);
    case BULK_REPLICATE: return run_replicate(run, t);
    case BULK_TRANSPOSE: return run_transpose(run, t);
    case BULK_RESHAPE: return run_reshape(run, t);
    case BULK_BUILD: return run_build(run, t);
    case BULK_STOP: return bulk_run(run, t->as.t);
    case BULK_SHARE: return run_share(run, t);
    case BULK_CHECK: return run_check(run, t);
    case BULK_LOOP: return run_loop(run, t);
    }
    return NULL;
}

BulkValue *bulk_run(BulkRun *run, CtBulk *t) {
    if (run->failed) return NULL;
    BulkValue *value = run_form(run, t);
    run->work += 1 + (value != NULL && t->kind != BULK_VAR ? (uint64_t)value->count : 0);
    return value;
}
