/* Which array operations are fused: a tree of them becomes a Fused, whose leaves are the arrays and numbers that are
 * evaluated first. A λ is taken apart into steps when its body is straight: primitives, lets, and choices between
 * values that are there already.
 *
 * An operation that demands something of lengths would fail before what comes after it is evaluated. So in a tree no
 * leaf that has to be evaluated comes behind such a one. (Views are only written by transformations, none that fails.)
 * And a λ that may fail is fused with nothing else.
 */
#include "eval/compile.h"
#include "eval/fused.h"

enum { FUSE_NAMES = 16 };

typedef struct Fuse {
    Compile *c;
    Fused *f;
    FuseSpace space;
    uint32_t leaf_views[FUSED_LEAVES];
    uint32_t nodes; /* operations so far */
    uint32_t depth; /* how many more may be taken below this one */
    /* variables of the λ that is taken apart */
    uint32_t name_count;
    const CtVar *names[FUSE_NAMES];
    FusedValue named[FUSE_NAMES];
} Fuse;

/* What an array is at a point, and how many elements it has. */
typedef struct Array {
    FusedValue value;
    FusedLength length;
} Array;

static FusedLength known(int64_t length) { return (FusedLength){LENGTH_KNOWN, length}; }

static bool is_op(const CtCore *e, CtArrayOp op) { return e->kind == CORE_ARRAY && e->as.call.of.array == op; }

static bool is_atom(const CtCore *e) { return is_var(e) || is_literal(e); }

static bool is_int(const CtCore *e) { return is_literal(e) && e->type->kind == TYPE_INT; }

/* ---- what terms say ---- */

typedef struct Numbers {
    int64_t *items;
    uint32_t count;
} Numbers;

/* Of `strided [| … |] xs`, when they are literals and the view has elements. */
static bool view_numbers(Compile *c, const CtCore *e, Numbers *out) {
    if (!is_op(e, ARRAY_STRIDED) || e->as.call.args[0]->kind != CORE_ARRAY_LIT) return false;
    const CtCore *list = e->as.call.args[0];
    int64_t all = 1;
    *out = (Numbers){CT_NEW_ARRAY(c->arena, int64_t, list->as.call.count), list->as.call.count};
    for (uint32_t i = 0; i < out->count; i++) {
        if (!is_int(list->as.call.args[i])) return false;
        int64_t number = out->items[i] = list->as.call.args[i]->as.lit.integer;
        if (number < -INT32_MAX || number > INT32_MAX) return false;
        if (i % 2 == 1 && (number <= 0 || (all *= number) > INT32_MAX)) return false;
    }
    return out->count % 2 == 1 && out->items[0] >= 0;
}

static int64_t view_length(const Numbers *view) {
    int64_t length = 1;
    for (uint32_t i = 1; i < view->count; i += 2) length *= view->items[i];
    return length;
}

/* The length of an array as far as a term says it. */
static bool known_length(Compile *c, const CtCore *e, uint32_t depth, int64_t *length) {
    Numbers view;
    if (e->kind != CORE_ARRAY || depth == 0) return false;
    CtCore *const *args = e->as.call.args;
    switch ((int)e->as.call.of.array) {
    case ARRAY_STRIDED:
        if (!view_numbers(c, e, &view)) return false;
        *length = view_length(&view);
        return true;
    case ARRAY_REPLICATE:
    case ARRAY_SUM_ROWS:
    case ARRAY_SCATTER_ADD:
        if (!is_int(args[0])) return false;
        *length = args[0]->as.lit.integer;
        return *length >= 0 && *length <= INT32_MAX;
    case ARRAY_MAP: return known_length(c, args[1], depth - 1, length);
    case ARRAY_SELECT:
    case ARRAY_ZIP_WITH:
        return known_length(c, args[1], depth - 1, length) || known_length(c, args[2], depth - 1, length);
    default: return false;
    }
}

/* ---- parts ---- */

static bool add_leaf(Fuse *z, FusedLeaf leaf, CtCore *operand, FusedValue *value) {
    Fused *f = z->f;
    if (f->leaf_count == FUSED_LEAVES) return false;
    if (operand != NULL) f->operands[f->operand_count++] = operand;
    *value = f->leaf_count;
    f->leaves[f->leaf_count++] = leaf;
    return true;
}

/* One for all points. */
static bool add_number(Fuse *z, CtCore *e, FusedValue *value) {
    FusedLeaf leaf = {.is_literal = is_literal(e)};
    if (leaf.is_literal) leaf.literal = ct_eval_literal_word(e);
    return is_atom(e) && !ct_value_type_is_pointer(e->type) && add_leaf(z, leaf, leaf.is_literal ? NULL : e, value);
}

static bool add_step(Fuse *z, FusedStep step, FusedValue *value) {
    if (z->f->step_count == FUSED_STEPS) return false;
    *value = FUSED_LEAVES + z->f->step_count;
    z->f->steps[z->f->step_count++] = step;
    return true;
}

static bool add_check(Fuse *z, FusedCheck check) {
    if (z->f->check_count == FUSED_CHECKS) return false;
    z->f->checks[z->f->check_count++] = check;
    return true;
}

static void add_cost(Fuse *z, FusedLength length, uint32_t each) {
    if (length.leaf == LENGTH_KNOWN)
        z->f->known_cost += length.known * each;
    else
        z->f->leaf_costs[length.leaf] += each;
}

/* ---- bodies ---- */

static const bool prim_may_fail[] = {
#define CT_PRIM(id, name, signature, value, vector, d1, d2, fails, ...) sizeof(#fails) != sizeof("NEVER"),
#include "prim/primitives.def"
#undef CT_PRIM
};

static bool body_value(Fuse *z, CtCore *e, uint32_t *cost, FusedValue *value);

static bool var_value(Fuse *z, CtCore *e, FusedValue *value) {
    for (uint32_t i = z->name_count; i-- > 0;) {
        if (z->names[i] != e->as.var) continue;
        *value = z->named[i];
        return true;
    }
    return add_number(z, e, value);
}

static bool prim_value(Fuse *z, CtCore *e, uint32_t *cost, FusedValue *value) {
    CtPrim prim = e->as.call.of.prim;
    const CtPrimInfo *info = ct_prim_info(prim);
    bool rounds = info->result == 'R' && e->type->kind == TYPE_FLOAT;
    if (rounds || info->result == 'S' || (prim_may_fail[prim] && z->f->may_fail)) return false;
    FusedStep step = {.prim = prim, .arg_count = e->as.call.count};
    for (uint32_t i = 0; i < step.arg_count; i++)
        if (!body_value(z, e->as.call.args[i], cost, &step.args[i])) return false;
    if (prim_may_fail[prim]) {
        z->f->may_fail = true;
        z->f->range = e->range;
    }
    *cost += info->cost;
    return add_step(z, step, value);
}

static bool name_value(Fuse *z, const CtVar *var, FusedValue value) {
    if (z->name_count == FUSE_NAMES || ct_value_type_is_pointer(var->type)) return false;
    z->names[z->name_count] = var;
    z->named[z->name_count++] = value;
    return true;
}

/* if b then x else y, of atoms. */
static bool choice_value(Fuse *z, CtCore *e, uint32_t *cost, FusedValue *value) {
    CtCore *test = e->as.cases.scrutinee;
    uint32_t count;
    if (test->type != z->c->m->program->bool_type) return false;
    Alternative *all = ct_eval_compile_alternatives(z->c, e, &count);
    if (count != 2 || !is_atom(all[0].body) || !is_atom(all[1].body)) return false;
    FusedStep step = {.selects = true, .arg_count = 3};
    for (uint32_t i = 0; i < 3; i++)
        if (!body_value(z, i == 0 ? test : all[i - 1].body, cost, &step.args[i])) return false;
    *cost += 1;
    return add_step(z, step, value);
}

static bool body_value(Fuse *z, CtCore *e, uint32_t *cost, FusedValue *value) {
    if (outlined_code(z->c, e) != NULL || ct_value_type_is_pointer(e->type)) return false;
    while (e->kind == CORE_LET) {
        FusedValue bound;
        if (!body_value(z, e->as.let.rhs, cost, &bound) || !name_value(z, e->as.let.vars[0], bound)) return false;
        *cost += 1;
        e = e->as.let.body;
    }
    if (is_var(e)) return var_value(z, e, value);
    if (is_literal(e)) return add_number(z, e, value);
    if (e->kind == CORE_PRIM) return prim_value(z, e, cost, value);
    return e->kind == CORE_CASE && choice_value(z, e, cost, value);
}

/* The λ of an operation on the elements of its arrays. */
static bool apply(Fuse *z, const CtCore *e, const Array *args, Array *out) {
    const CtCore *fun = e->as.call.args[0];
    uint32_t cost = 1; /* the element itself is a step */
    if (!is_inline_function(fun)) return false;
    z->name_count = 0;
    for (uint32_t i = 0; i < fun->as.lam->count; i++)
        if (!name_value(z, fun->as.lam->params[i], args[i].value)) return false;
    if (!body_value(z, fun->as.lam->body, &cost, &out->value)) return false;
    add_cost(z, args[0].length, cost);
    out->length = args[0].length;
    return true;
}

/* ---- arrays ---- */

static bool array_value(Fuse *z, CtCore *e, uint32_t view, Array *out);

/* One that has to be evaluated would be before what the tree demands so far. */
static bool leaf_value(Fuse *z, CtCore *e, uint32_t view, Array *out) {
    for (uint32_t i = 0; i < z->f->check_count && !is_atom(e); i++)
        if (z->f->checks[i].kind != CHECK_VIEW) return false;
    if (!add_leaf(z, (FusedLeaf){.is_array = true}, e, &out->value)) return false;
    z->leaf_views[out->value] = view;
    out->length = (FusedLength){(int32_t)out->value, 0};
    return true;
}

/* The arrays of an operation, in order; then what it demands of them. */
static bool array_values(Fuse *z, CtCore *e, uint32_t first, uint32_t count, uint32_t view, Array *out) {
    CtCore *const *args = &e->as.call.args[first];
    for (uint32_t i = 0; i < count; i++)
        if (!array_value(z, args[i], view, &out[i])) return false;
    if (count == 1) return true;
    FusedCheck check = {.kind = count == 2 ? CHECK_ZIP : CHECK_SELECT, .range = e->range};
    for (uint32_t i = 0; i < count; i++) check.lengths[i] = out[i].length;
    for (uint32_t i = 1; i < count; i++) /* they are the same: best one that is known */
        if (out[i].length.leaf == LENGTH_KNOWN) out[0].length = out[i].length;
    return add_check(z, check);
}

static bool select_value(Fuse *z, CtCore *e, uint32_t view, Array *out) {
    Array args[3];
    if (!array_values(z, e, 0, 3, view, args)) return false;
    FusedStep step = {.selects = true, .arg_count = 3};
    for (uint32_t i = 0; i < 3; i++) step.args[i] = args[i].value;
    add_cost(z, args[0].length, 1);
    out->length = args[0].length;
    return add_step(z, step, &out->value);
}

static bool strided_value(Fuse *z, CtCore *e, uint32_t view, Array *out) {
    Numbers numbers;
    uint32_t below;
    Array from;
    if (z->f->open >= 0 || !view_numbers(z->c, e, &numbers)) return false;
    if (!ct_eval_fuse_view(&z->space, &z->space.views[view], &below)) return false;
    if (!ct_eval_fuse_compose(&z->space, below, numbers.items, numbers.count)) return false;
    if (!array_value(z, e->as.call.args[1], below, &from)) return false;
    FusedCheck check = {.kind = CHECK_VIEW, .lengths = {from.length}, .range = e->range};
    check.low = check.high = numbers.items[0];
    for (uint32_t i = 1; i < numbers.count; i += 2) {
        int64_t reach = (numbers.items[i] - 1) * numbers.items[i + 1];
        *(reach < 0 ? &check.low : &check.high) += reach;
    }
    int64_t length = view_length(&numbers);
    z->f->known_cost += length;
    z->f->cost += 1 + numbers.count; /* the literal */
    *out = (Array){from.value, known(length)};
    return add_check(z, check);
}

static bool replicate_value(Fuse *z, CtCore *e, Array *out) {
    int64_t length;
    if (!known_length(z->c, e, 1, &length)) return false;
    out->length = known(length);
    z->f->known_cost += length;
    return add_number(z, e->as.call.args[1], &out->value);
}

static bool operation_value(Fuse *z, CtCore *e, uint32_t view, Array *out) {
    Array args[2];
    z->nodes++;
    z->f->cost++;
    switch ((int)e->as.call.of.array) {
    case ARRAY_MAP: return array_values(z, e, 1, 1, view, args) && apply(z, e, args, out);
    case ARRAY_ZIP_WITH: return array_values(z, e, 1, 2, view, args) && apply(z, e, args, out);
    case ARRAY_SELECT: return select_value(z, e, view, out);
    case ARRAY_STRIDED: return strided_value(z, e, view, out);
    case ARRAY_REPLICATE: return replicate_value(z, e, out);
    default: return false;
    }
}

/* As a part of the tree, or else a leaf. */
static bool array_value(Fuse *z, CtCore *e, uint32_t view, Array *out) {
    if (ct_value_type_is_pointer(e->type->parts[0])) return false;
    if (z->depth > 0 && e->kind == CORE_ARRAY && outlined_code(z->c, e) == NULL) {
        const Fused before = *z->f;
        const Fuse state = *z;
        z->depth--;
        bool ok = operation_value(z, e, view, out) && !z->f->may_fail;
        z->depth++;
        if (ok) return true;
        *z = state;
        *z->f = before;
    }
    return leaf_value(z, e, view, out);
}

/* ---- roots ---- */

static bool root_of(const CtCore *e, FusedRoot *root) {
    switch ((int)e->as.call.of.array) {
    case ARRAY_MAP:
    case ARRAY_ZIP_WITH:
    case ARRAY_STRIDED:
    case ARRAY_SELECT: *root = FUSED_ARRAY; return true;
    case ARRAY_SCATTER_ADD: *root = FUSED_PLACES; return true;
    case ARRAY_SUM_ROWS: *root = FUSED_ROWS; return true;
    case ARRAY_SUM: *root = FUSED_TOTAL; return true;
    default: return false;
    }
}

/* The points: of the array that is made or summed; of sumRows m, rows of m. */
static bool start(Fuse *z, CtCore *e, CtCore *array) {
    Fused *f = z->f;
    FuseSpace *space = &z->space;
    int64_t length, row = 1;
    bool open = !known_length(z->c, array, FUSED_STEPS, &length);
    uint32_t view;
    if (f->root == FUSED_ROWS || f->root == FUSED_PLACES) {
        if (!known_length(z->c, e, 1, &f->sums) || f->sums == 0) return false;
        if (f->root == FUSED_ROWS) row = f->sums;
    }
    if (!open && (length == 0 || length % row != 0)) return false;
    f->open = open ? 0 : -1;
    space->rank = f->root == FUSED_ROWS ? 2 : 1;
    space->sizes[0] = open ? 1 : length / row;
    space->sizes[1] = row;
    FusedView out = {0, {f->root == FUSED_ARRAY, 1}}, in = {0, {row, 1}}; /* added up along what does not step */
    return ct_eval_fuse_view(space, &out, &view) && ct_eval_fuse_view(space, &in, &view);
}

static bool is_product(const Fused *f) {
    if ((f->root != FUSED_ROWS && f->root != FUSED_TOTAL) || f->step_count == 0) return false;
    const FusedStep *last = &f->steps[f->step_count - 1];
    bool multiplies = !last->selects && (last->prim == PRIM_MUL || last->prim == PRIM_SCALE);
    return multiplies && f->value == FUSED_LEAVES + f->step_count - 1;
}

static void complete(Fuse *z, const Array *array) {
    Fused *f = z->f;
    f->value = array->value;
    f->adds_products = is_product(f);
    f->length = array->length;
    f->rank = z->space.rank;
    f->out = z->space.views[0];
    memcpy(f->sizes, z->space.sizes, sizeof f->sizes);
    for (uint32_t i = 0; i < f->leaf_count; i++)
        if (f->leaves[i].is_array) f->leaves[i].view = z->space.views[z->leaf_views[i]];
    ct_eval_fuse_arrange(f);
}

/* What is added up, and how. */
static bool sum(Fuse *z, CtCore *e, Array *array) {
    Fused *f = z->f;
    CtCore *const *args = e->as.call.args;
    CtCore *summed = args[e->as.call.count - 1];
    static const FusedView still;
    Array places;
    uint32_t view;
    if (summed->type->parts[0]->kind != TYPE_DOUBLE || !start(z, e, summed)) return false;
    if (f->root == FUSED_PLACES) {
        if (!ct_eval_fuse_view(&z->space, &still, &view) || !leaf_value(z, args[1], view, &places)) return false;
        f->places = places.value;
    }
    if (!array_value(z, summed, 1, array) || z->nodes == 0) return false;
    f->cost++;
    add_cost(z, array->length, 1);
    f->known_cost += f->sums;
    FusedCheck rows = {.kind = CHECK_ROWS, .lengths = {array->length}, .low = f->sums, .range = e->range};
    if (f->root == FUSED_PLACES) {
        rows.kind = CHECK_PLACES;
        rows.lengths[1] = places.length;
    }
    return f->root == FUSED_TOTAL || add_check(z, rows);
}

/* With operations up to `depth` below the root. */
static bool fuse(Compile *c, CtCore *e, uint32_t depth, Fused *f) {
    Fuse z = {.c = c, .f = f, .depth = depth};
    Array array;
    *f = (Fused){.open = -1};
    if (!root_of(e, &f->root)) return false;
    if (f->root == FUSED_ARRAY) {
        if (ct_value_type_is_pointer(e->type->parts[0]) || !start(&z, e, e)) return false;
        if (!operation_value(&z, e, 1, &array) || array.value < FUSED_LEAVES) return false; /* a view alone */
        if (f->may_fail && z.nodes > 1) return false;
    } else if (!sum(&z, e, &array)) {
        return false;
    }
    complete(&z, &array);
    return true;
}

const Fused *ct_eval_compile_fused(Compile *c, CtCore *e) {
    static const Fused none;
    const Fused *found = ct_map_get(&c->fused, ct_key(e));
    if (found != NULL) return found != &none ? found : NULL;
    FusedRoot root;
    Fused made, *kept = NULL;
    bool ok = root_of(e, &root) && outlined_code(c, e) == NULL &&
              (fuse(c, e, FUSED_STEPS, &made) || fuse(c, e, root == FUSED_ARRAY ? 0 : 1, &made));
    if (ok) {
        if (root != FUSED_TOTAL) made.layout = ct_value_layout_array(c->m->heap, e->type);
        if (root != FUSED_TOTAL && made.layout == NULL) c->heap_full = true;
        kept = CT_NEW(c->arena, Fused);
        *kept = made;
    }
    ct_map_set(c->arena, &c->fused, ct_key(e), ok ? kept : (void *)(uintptr_t)&none);
    return kept;
}
