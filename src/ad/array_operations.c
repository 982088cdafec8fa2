/* Array operations under D. Structural operations are homomorphic. A method with a state threads it through the
 * elements by mapAccumL and foldl. Numeric operations are differentiated by their definitions: sum and product as
 * folds, maximum and minimum as reads of the element found. */
#include "ad/internal.h"

static int function_index(const CtCore *core) { return ct_core_array_info(core->as.call.of.array)->function; }

/* Whether an operation reduces an array of reals: sum, product, maximum, … In the types of core.def, `r` is a number.
 */
static bool is_numeric(const CtCore *core) {
    const CtArrayInfo *info = ct_core_array_info(core->as.call.of.array);
    return info->arity == 1 && strncmp(info->type, "Array r ", 8) == 0 &&
           ct_ad_is_real(core->as.call.args[0]->type->parts[0]);
}

static bool is_fold(const CtCore *core) {
    return is_numeric(core) && (core->as.call.of.array == ARRAY_SUM || core->as.call.of.array == ARRAY_PRODUCT);
}

bool ct_ad_lift_pure_array(CtTransform *t, CtCore *core) {
    if (is_fold(core) || ct_ad_is_flat(core)) return false;
    int function = function_index(core);
    for (uint32_t i = 0; i < core->as.call.count; i++) {
        CtCore *arg = core->as.call.args[i];
        if ((int)i == function) {
            if (arg->kind != CORE_LAM || !ct_ad_lift_pure(t, arg->as.lam->body)) return false;
        } else if (!ct_ad_lift_pure(t, arg))
            return false;
    }
    return true;
}

/* ---- numeric operations ---- */

/* A step of a sum or product: D[op](acc, x). */
static CtCore *fold_step(CtTransform *t, CtSeq *seq, CtCore *core, CtCore *acc, CtCore *x) {
    CtOperation op = {
        .range = core->range, .type = core->type, .count = 2, .args = {acc, x}, .types = {core->type, core->type}};
    op.prim = core->as.call.of.array == ARRAY_SUM ? PRIM_ADD : PRIM_MUL;
    return t->rules->operation(t->ad, seq, &op);
}

static CtCore *fold_start(CtTransform *t, CtCore *core) {
    double start = core->as.call.of.array == ARRAY_SUM ? 0.0 : 1.0;
    CtCore *number = ct_core_real(t->p, core->range, core->type, start);
    return t->rules->constant(t->ad, core->range, number);
}

static CtCore *lambda(CtTransform *t, CtSourceRange range, CtVar *const *params, uint32_t count, CtCore *body) {
    return ct_core_lam(t->p, range, NULL, params, count, body);
}

static CtCore *array3(CtTransform *t, CtSourceRange range, CtArrayOp op, CtCore *a, CtCore *b, CtCore *c) {
    CtCore *args[3] = {a, b, c};
    return ct_core_array(t->p, range, op, args, c ? 3 : b ? 2 : 1);
}

/* map primal xs */
static CtCore *primals(CtTransform *t, CtSourceRange range, CtCore *xs) {
    CtVar *x = ct_core_var_new(t->p, "x", xs->type->parts[0]);
    CtCore *use = ct_core_var(t->p, range, x);
    CtCore *body = t->rules->primal(t->ad, range, use);
    CtCore *f = lambda(t, range, &x, 1, body);
    return array3(t, range, ARRAY_MAP, f, xs, NULL);
}

/* maximum xs = xs ! argmax (map primal xs): ties are broken, and failures reported, as in the original. */
static CtCore *extremum(CtTransform *t, CtCore *core, CtCore *xs) {
    CtProgram *p = t->p;
    CtSourceRange range = core->range;
    CtArrayOp op = core->as.call.of.array;
    CtSeq seq = ct_ad_seq(p, NULL);
    CtCore *named = ct_ad_seq_name(&seq, "xs", xs);
    CtCore *values = primals(t, range, named);
    CtCore *result;
    if (op == ARRAY_ARGMAX || op == ARRAY_ARGMIN) {
        result = array3(t, range, op, values, NULL, NULL);
    } else {
        CtCore *length = array3(t, range, ARRAY_LENGTH, named, NULL, NULL);
        CtCore *none = ct_core_prim2(p, range, PRIM_INT_EQ, length, ct_core_int(p, range, 0));
        const char *text = ct_format(t->ad->arena, "%s of an array without elements", ct_core_array_info(op)->name);
        CtCore *failure = ct_core_fail(p, range, named->type->parts[0], CT_E0505, text, NULL);
        CtCore *at = array3(t, range, op == ARRAY_MAXIMUM ? ARRAY_ARGMAX : ARRAY_ARGMIN, values, NULL, NULL);
        result = ct_core_if(p, range, none, failure, array3(t, range, ARRAY_INDEX, named, at, NULL));
    }
    return ct_ad_seq_close(&seq, result);
}

/* ---- without a state ---- */

/* A function argument that is used on the spot, so that it needs no link to its origin. */
static CtCore *direct_function(CtTransform *t, CtCore *f) {
    if (f->kind != CORE_LAM) return ct_ad_direct(t, f);
    CtVar *params[2] = {NULL, NULL};
    for (uint32_t i = 0; i < f->as.lam->count; i++) params[i] = ct_ad_bind(t, f->as.lam->params[i]);
    CtCore *body = ct_ad_direct(t, f->as.lam->body);
    return ct_core_lam(t->p, f->range, f->as.lam->name, params, f->as.lam->count, body);
}

static CtCore *direct_fold(CtTransform *t, CtCore *core, CtCore *xs) {
    CtVar *params[2];
    params[0] = ct_core_var_new(t->p, "acc", ct_ad_type(t->ad, t->method, core->type));
    params[1] = ct_core_var_new(t->p, "x", params[0]->type);
    CtCore *acc = ct_core_var(t->p, core->range, params[0]);
    CtCore *x = ct_core_var(t->p, core->range, params[1]);
    CtSeq inner = ct_ad_seq(t->p, NULL);
    CtCore *result = fold_step(t, &inner, core, acc, x);
    CtCore *f = lambda(t, core->range, params, 2, ct_ad_seq_close(&inner, result));
    CtCore *start = fold_start(t, core);
    return array3(t, core->range, ARRAY_FOLDL, f, start, xs);
}

CtCore *ct_ad_array(CtTransform *t, CtCore *core) {
    if (ct_ad_is_constant_read(t, core)) return ct_ad_constant_read(t, core);
    if (ct_ad_is_flat(core)) return ct_ad_direct(t, ct_ad_flat(t->p, core));
    int function = function_index(core);
    CtCore *args[3] = {NULL, NULL, NULL};
    for (uint32_t i = 0; i < core->as.call.count; i++) {
        CtCore *arg = core->as.call.args[i];
        args[i] = (int)i == function ? direct_function(t, arg) : ct_ad_direct(t, arg);
    }
    if (is_fold(core)) return direct_fold(t, core, args[0]);
    if (is_numeric(core)) return extremum(t, core, args[0]);
    return ct_core_array(t->p, core->range, core->as.call.of.array, args, core->as.call.count);
}

/* ---- with a state ---- */

/* A function argument that is applied once, in a λ made here: a λ whose body is inlined, or a function value bound to a
 * name. */
typedef struct Step {
    CtCore *f;     /* before transformation */
    CtCore *value; /* D[f], bound to a name; NULL if f is a λ */
    CtVar *params[2];
    CtSourceRange range;
} Step;

static Step step_of(CtTransform *t, CtSeq *seq, CtCore *f) {
    Step step = {.f = f, .range = f->range};
    if (f->kind != CORE_LAM) {
        step.value = ct_ad_lift_value(t, seq, f);
        if (!ct_ad_movable(step.value)) step.value = ct_ad_seq_name(seq, "f", step.value);
    }
    for (uint32_t i = 0; i + 1 < f->type->count; i++)
        step.params[i] = f->kind == CORE_LAM
                             ? ct_ad_bind(t, f->as.lam->params[i])
                             : ct_core_var_new(t->p, "x", ct_ad_type(t->ad, t->method, f->type->parts[i]));
    return step;
}

/* Applies it to its own parameters in tail position: (value, state). */
static CtCore *step_tail(CtTransform *t, CtSeq *inner, const Step *step) {
    if (!step->value) return ct_ad_lift_tail(t, inner, step->f->as.lam->body);
    CtCore *args[3];
    uint32_t count = step->f->type->count - 1;
    for (uint32_t i = 0; i < count; i++) args[i] = ct_core_var(t->p, step->range, step->params[i]);
    args[count] = ct_ad_seq_state(inner, step->range);
    CtCore *call = ct_core_app(t->p, step->range, step->value, args, count + 1);
    return ct_ad_seq_close(inner, call);
}

/* Applies it to its own parameters in sequence. */
static CtCore *step_value(CtTransform *t, CtSeq *inner, const Step *step) {
    if (!step->value) return ct_ad_lift_value(t, inner, step->f->as.lam->body);
    CtSeq empty = ct_ad_seq(t->p, inner->state);
    CtCore *call = step_tail(t, &empty, step);
    return ct_ad_seq_run(inner, "r", call);
}

/* mapAccumL (λ(s, x). (s', y)) s xs, whose final state becomes the current one; returns the array. */
static CtCore *carry(CtTransform *t, CtSeq *seq, CtSourceRange range, CtCore *f, CtCore *xs) {
    CtCore *state = ct_ad_seq_state(seq, range);
    CtCore *both = array3(t, range, ARRAY_MAP_ACCUM, f, state, xs);
    CtVar *vars[2];
    vars[0] = ct_core_var_new(t->p, "s", both->type->parts[0]);
    vars[1] = ct_core_var_new(t->p, "ys", both->type->parts[1]);
    ct_ad_seq_unpack(seq, range, vars, 2, both);
    seq->state = vars[0];
    return ct_core_var(t->p, range, vars[1]);
}

static CtCore *swapped(CtTransform *t, CtSeq *inner, CtSourceRange range, CtCore *value) {
    CtCore *state = ct_ad_seq_state(inner, range);
    CtCore *pair = ct_core_pair(t->p, range, state, value);
    return ct_ad_seq_close(inner, pair);
}

/* build n (λi. i). Unlike iota n, it reports a negative n like build. */
static CtCore *indices(CtTransform *t, CtSourceRange range, CtCore *n) {
    CtVar *i = ct_core_var_new(t->p, "i", t->p->int_type);
    CtCore *f = lambda(t, range, &i, 1, ct_core_var(t->p, range, i));
    return array3(t, range, ARRAY_BUILD, n, f, NULL);
}

/* The same function with parameters of its own. */
static Step renewed(CtTransform *t, const Step *step) {
    Step own = *step;
    for (uint32_t i = 0; i + 1 < step->f->type->count; i++)
        own.params[i] =
            step->value ? ct_core_var_new(t->p, "x", step->params[i]->type) : ct_ad_bind(t, step->f->as.lam->params[i]);
    return own;
}

static CtCore *map_element(CtTransform *t, CtSeq *inner, const CtLoopElement *element, CtVar **x) {
    Step own = renewed(t, element->of);
    *x = own.params[0];
    return step_value(t, inner, &own);
}

/* Of the pair of an element of either array. */
static CtCore *zip_element(CtTransform *t, CtSeq *inner, const CtLoopElement *element, CtVar **x) {
    Step own = renewed(t, element->of);
    *x = ct_core_var_new(t->p, "ab", ct_core_type_pair(t->p, own.params[0]->type, own.params[1]->type));
    ct_ad_seq_unpack(inner, own.range, own.params, 2, ct_core_var(t->p, own.range, *x));
    return step_value(t, inner, &own);
}

CtCore *ct_ad_carried(CtTransform *t, CtSourceRange range, const CtLoopElement *element) {
    CtVar *params[2] = {ct_core_var_new(t->p, "s", t->state), NULL};
    CtSeq inner = ct_ad_seq(t->p, params[0]);
    CtCore *value = element->make(t, &inner, element, &params[1]);
    CtCore *body = swapped(t, &inner, range, value);
    return lambda(t, range, params, 2, body);
}

/* The results of a loop over xs: as tasks where it may be. */
static CtCore *lift_elements(CtTransform *t, CtSeq *seq, CtCore *core, const CtLoopElement *element, CtCore *xs) {
    CtTasks tasks = ct_ad_tasks(t, core);
    if (tasks == TASKS_ELEMENTS) return ct_ad_fork(t, seq, core, element, xs);
    if (tasks == TASKS_NONE) return carry(t, seq, core->range, ct_ad_carried(t, core->range, element), xs);
    /* The λ is transformed twice, and has binders of its own each time. */
    const Step *step = element->of;
    Step copy = {.f = ct_core_copy(t->p, step->f, NULL), .range = step->range};
    CtLoopElement copied = {element->make, &copy};
    xs = ct_ad_seq_name(seq, "xs", xs);
    CtGroups groups = ct_ad_fork_groups(t, seq, core, &copied, xs);
    CtCore *rest = carry(t, seq, core->range, ct_ad_carried(t, core->range, element), groups.rest);
    CtCore *all = array3(t, core->range, ARRAY_APPEND, groups.ys, rest, NULL);
    return ct_core_if(t->p, core->range, groups.none, rest, all);
}

/* map f xs; also build n f, as map f (indices n). */
static CtCore *lift_map(CtTransform *t, CtSeq *seq, CtCore *core, const Step *step, CtCore *xs) {
    CtLoopElement element = {map_element, step};
    return lift_elements(t, seq, core, &element, xs);
}

/* zipWith f xs ys as a map over zipWith (,) xs ys, which fails where zipWith f fails. */
static CtCore *lift_zip_with(CtTransform *t, CtSeq *seq, CtCore *core, const Step *step, CtCore *xs, CtCore *ys) {
    CtVar *ab[2];
    ab[0] = ct_core_var_new(t->p, "a", xs->type->parts[0]);
    ab[1] = ct_core_var_new(t->p, "b", ys->type->parts[0]);
    CtCore *a = ct_core_var(t->p, core->range, ab[0]);
    CtCore *b = ct_core_var(t->p, core->range, ab[1]);
    CtCore *pairing = lambda(t, core->range, ab, 2, ct_core_pair(t->p, core->range, a, b));
    CtCore *pairs = array3(t, core->range, ARRAY_ZIP_WITH, pairing, xs, ys);
    CtLoopElement element = {zip_element, step};
    return lift_elements(t, seq, core, &element, pairs);
}

/* foldl f z xs with the state in the accumulator: λ((acc, s), x). f (acc, x, s). */
static CtCore *fold_with(CtTransform *t, CtSeq *seq, CtSourceRange range, CtVar *acc, CtVar *x, CtSeq *inner,
                         CtCore *body, CtCore *start, CtCore *xs) {
    CtVar *params[2];
    params[0] = ct_core_var_new(t->p, "accs", ct_core_type_pair(t->p, acc->type, t->state));
    params[1] = x;
    CtVar *opened[2] = {acc, inner->state};
    CtCore *f = ct_core_unpack(t->p, range, opened, 2, ct_core_var(t->p, range, params[0]), body);
    CtCore *state = ct_ad_seq_state(seq, range);
    CtCore *from = ct_core_pair(t->p, range, start, state);
    return ct_ad_seq_run(seq, "r", array3(t, range, ARRAY_FOLDL, lambda(t, range, params, 2, f), from, xs));
}

static CtCore *lift_foldl(CtTransform *t, CtSeq *seq, CtCore *core, const Step *step, CtCore *start, CtCore *xs) {
    CtSeq inner = ct_ad_seq(t->p, ct_core_var_new(t->p, "s", t->state));
    CtSeq from = inner;
    CtCore *body = step_tail(t, &inner, step);
    return fold_with(t, seq, core->range, step->params[0], step->params[1], &from, body, start, xs);
}

static CtCore *lift_sum(CtTransform *t, CtSeq *seq, CtCore *core, CtCore *xs) {
    CtVar *acc = ct_core_var_new(t->p, "acc", ct_ad_type(t->ad, t->method, core->type));
    CtVar *x = ct_core_var_new(t->p, "x", acc->type);
    CtSeq inner = ct_ad_seq(t->p, ct_core_var_new(t->p, "s", t->state));
    CtSeq from = inner;
    CtCore *acc_use = ct_core_var(t->p, core->range, acc);
    CtCore *x_use = ct_core_var(t->p, core->range, x);
    CtCore *result = fold_step(t, &inner, core, acc_use, x_use);
    CtCore *body = ct_ad_seq_return(&inner, result);
    return fold_with(t, seq, core->range, acc, x, &from, body, fold_start(t, core), xs);
}

/* A mapAccumL with state (own, s): λ((own, s), x). ((own', s'), y). `scans`: f returns own' only, which is also y. */
static CtCore *lift_accum(CtTransform *t, CtSeq *seq, CtCore *core, const Step *step, CtCore *start, CtCore *xs,
                          bool scans) {
    CtSourceRange range = core->range;
    CtVar *params[2], *opened[2];
    opened[0] = step->params[0];
    opened[1] = ct_core_var_new(t->p, "s", t->state);
    params[0] = ct_core_var_new(t->p, "accs", ct_core_type_pair(t->p, opened[0]->type, t->state));
    params[1] = step->params[1];
    CtSeq inner = ct_ad_seq(t->p, opened[1]);
    ct_ad_seq_unpack(&inner, range, opened, 2, ct_core_var(t->p, range, params[0]));
    CtCore *value = step_value(t, &inner, step);
    CtCore *parts[2];
    if (scans)
        parts[0] = parts[1] = ct_ad_seq_name(&inner, "acc", value);
    else
        ct_ad_seq_open(&inner, "acc", "y", value, parts);
    CtCore *accs = ct_core_pair(t->p, range, parts[0], ct_ad_seq_state(&inner, range));
    CtCore *result = ct_core_pair(t->p, range, accs, parts[1]);
    CtCore *f = lambda(t, range, params, 2, ct_ad_seq_close(&inner, result));

    CtCore *state = ct_ad_seq_state(seq, range);
    CtCore *from = ct_core_pair(t->p, range, start, state);
    CtCore *all = array3(t, range, ARRAY_MAP_ACCUM, f, from, xs);
    CtVar *outer[2], *final[2];
    outer[0] = ct_core_var_new(t->p, "accs", all->type->parts[0]);
    outer[1] = ct_core_var_new(t->p, "ys", all->type->parts[1]);
    final[0] = ct_core_var_new(t->p, "acc", outer[0]->type->parts[0]);
    final[1] = ct_core_var_new(t->p, "s", t->state);
    ct_ad_seq_unpack(seq, range, outer, 2, all);
    ct_ad_seq_unpack(seq, range, final, 2, ct_core_var(t->p, range, outer[0]));
    seq->state = final[1];
    CtCore *ys = ct_core_var(t->p, range, outer[1]);
    if (scans) return ys;
    CtCore *acc = ct_core_var(t->p, range, final[0]);
    return ct_core_pair(t->p, range, acc, ys);
}

/* scanl f z xs = [|z|] ++ the scan of the rest. */
static CtCore *lift_scanl(CtTransform *t, CtSeq *seq, CtCore *core, const Step *step, CtCore *start, CtCore *xs) {
    CtCore *first = ct_ad_seq_name(seq, "z", start);
    CtCore *rest = lift_accum(t, seq, core, step, first, xs, true);
    CtCore *one = ct_core_array_lit(t->p, core->range, first->type, &first, 1);
    return array3(t, core->range, ARRAY_APPEND, one, rest, NULL);
}

static CtCore *lift_function(CtTransform *t, CtSeq *seq, CtCore *core) {
    CtArrayOp op = core->as.call.of.array;
    int function = function_index(core);
    CtCore *others[2] = {NULL, NULL};
    uint32_t count = 0;
    for (uint32_t i = 0; i < core->as.call.count; i++)
        if ((int)i != function) others[count++] = core->as.call.args[i];
    /* A λ has no effect, so the order of its transformation relative to the others does not matter. */
    CtCore *f = core->as.call.args[function];
    Step step = step_of(t, seq, f);
    CtCore **args = ct_ad_lift_values(t, seq, others, count);
    switch (op) {
    case ARRAY_MAP: return lift_map(t, seq, core, &step, args[0]);
    case ARRAY_BUILD: return lift_map(t, seq, core, &step, indices(t, core->range, args[0]));
    case ARRAY_ZIP_WITH: return lift_zip_with(t, seq, core, &step, args[0], args[1]);
    case ARRAY_FOLDL:
    case ARRAY_REDUCE: return lift_foldl(t, seq, core, &step, args[0], args[1]);
    case ARRAY_SCANL: return lift_scanl(t, seq, core, &step, args[0], args[1]);
    case ARRAY_SCAN: return lift_accum(t, seq, core, &step, args[0], args[1], true);
    case ARRAY_MAP_ACCUM: return lift_accum(t, seq, core, &step, args[0], args[1], false);
    case ARRAY_INDEX:
    case ARRAY_LENGTH:
    case ARRAY_SHAPE:
    case ARRAY_SUM:
    case ARRAY_PRODUCT:
    case ARRAY_MAXIMUM:
    case ARRAY_MINIMUM:
    case ARRAY_ARGMAX:
    case ARRAY_ARGMIN:
    case ARRAY_REPLICATE:
    case ARRAY_IOTA:
    case ARRAY_GATHER:
    case ARRAY_TRANSPOSE:
    case ARRAY_RESHAPE:
    case ARRAY_REVERSE:
    case ARRAY_APPEND:
    case ARRAY_SLICE:
    case ARRAY_CONCAT:
    case ARRAY_STRIDED:
    case ARRAY_GATHER_OR:
    case ARRAY_SCATTER_ADD:
    case ARRAY_ADD_AT:
    case ARRAY_SUM_ROWS:
    case ARRAY_SELECT:
    case ARRAY_UPDATE:
    case ARRAY_SNOC:
    case CT_ARRAY_OP_COUNT: break;
    }
    return core;
}

CtCore *ct_ad_lift_array(CtTransform *t, CtSeq *seq, CtCore *core) {
    if (ct_ad_is_flat(core)) return ct_ad_lift_value(t, seq, ct_ad_flat(t->p, core));
    int function = function_index(core);
    if (function >= 0) {
        CtCore *f = core->as.call.args[function];
        bool pure = f->kind == CORE_LAM && ct_ad_lift_pure(t, f->as.lam->body);
        if (!pure) return lift_function(t, seq, core);
    }
    /* Only the other arguments use the state. */
    uint32_t count = core->as.call.count;
    CtCore *others[3] = {NULL, NULL, NULL}, *args[3] = {NULL, NULL, NULL};
    uint32_t filled = 0;
    for (uint32_t i = 0; i < count; i++)
        if ((int)i != function) others[filled++] = core->as.call.args[i];
    CtCore **values = ct_ad_lift_values(t, seq, others, filled);
    filled = 0;
    for (uint32_t i = 0; i < count; i++)
        args[i] = (int)i == function ? direct_function(t, core->as.call.args[i]) : values[filled++];
    if (is_fold(core)) return lift_sum(t, seq, core, args[0]);
    if (is_numeric(core)) return extremum(t, core, args[0]);
    return ct_core_array(t->p, core->range, core->as.call.of.array, args, count);
}
