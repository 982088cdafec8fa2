/* Arrays: CHAD 2024 Fig. 9 and §8.1.
 *
 * An array is a product. Its cotangent is a bag (lib/ad/chad.cot), which becomes an array of cotangents where the array
 * was made, so that each indexing costs O(1). An operation with a function argument stores the backpropagators of the
 * elements. The function argument is no function value: its body runs in the environment of the operation, with cells
 * for its parameters. */
#include "ad/chad/chad.h"

static CtCore *array(CtChad *c, CtSourceRange range, CtArrayOp op, CtCore *x, CtCore *y, CtCore *z) {
    CtCore *args[3] = {x, y, z};
    return ct_core_array(c->p, range, op, args, z ? 3 : y ? 2 : 1);
}

static CtCore *number(CtChad *c, CtSourceRange range, int64_t n) { return ct_core_int(c->p, range, n); }

static CtCore *lambda(CtChad *c, CtSourceRange range, CtVar *const *params, uint32_t count, CtCore *body) {
    return ct_core_lam(c->p, range, NULL, params, count, body);
}

static CtCore *length(CtChad *c, CtSourceRange range, CtCore *xs) {
    return array(c, range, ARRAY_LENGTH, xs, NULL, NULL);
}

static CtCore *library(CtChad *c, CtSourceRange range, const char *name, CtCore *x, CtCore *y, CtCore *z) {
    CtCore *args[3] = {x, y, z};
    return ct_ad_library_call(c->ad, range, name, args, z ? 3 : y ? 2 : 1);
}

/* ---- operations whose elements stay what they are ---- */

static CtType *element_of(const CtCore *xs) { return xs->type->parts[0]; }

typedef void Emit(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d);

/* λd. x' (BOne ⟨i, d⟩) */
static void index_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    const CtBack *whole = back->parts[0];
    if (c->straight && whole->core->kind == CORE_VAR) {
        ct_chad_straight_add(c, seq, whole, back->values[0], d);
        return;
    }
    CtCore *cot = ct_chad_box(c, range, back->core->type, d);
    if (c->rung.dense) {
        CtCore *all = library(c, range, "oneHot", back->values[1], back->values[0], cot);
        ct_chad_back_call(c, seq, whole, ct_chad_make(c->ad, range, "Dense", &all, 1));
        return;
    }
    ct_chad_back_call(c, seq, whole, ct_chad_at(c, range, back->values[0], cot));
}

/* Maximum and minimum: the cotangent goes to the element at the index found. values: xs. */
static void extremum_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    CtArrayOp op = back->core->as.call.of.array == ARRAY_MAXIMUM ? ARRAY_ARGMAX : ARRAY_ARGMIN;
    CtCore *index = array(c, range, op, back->values[0], NULL, NULL);
    ct_chad_back_call(c, seq, back->parts[0], ct_chad_at(c, range, index, ct_chad_box(c, range, back->core->type, d)));
}

/* Operations whose elements all come from the argument. values: what determines from which index. */
static void places_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    CtArrayOp op = back->core->as.call.of.array;
    CtCore *const *v = back->values;
    CtCore *cot = op == ARRAY_GATHER  ? library(c, range, "gathered", v[0], d, NULL)
                  : op == ARRAY_SLICE ? library(c, range, "sliced", v[0], v[1], d)
                                      : library(c, range, "reversed", v[0], d, NULL);
    ct_chad_back_call(c, seq, back->parts[op == ARRAY_SLICE ? 2 : 0], cot);
}

/* values: n */
static void replicate_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    bool real = ct_ad_is_real(back->core->as.call.args[1]->type);
    const char *name = real ? "totalReals" : "total";
    ct_chad_back_call(c, seq, back->parts[1], library(c, back->core->range, name, back->values[0], d, NULL));
}

/* values: the lengths of both arrays. */
static void append_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    const char *name = ct_ad_is_real(element_of(back->core)) ? "beforeReals" : "before";
    CtCore *parts[2];
    ct_ad_seq_open(seq, "d", "d", library(c, range, name, back->values[0], back->values[1], d), parts);
    ct_chad_back_call(c, seq, back->parts[0], parts[0]);
    ct_chad_back_call(c, seq, back->parts[1], parts[1]);
}

/* update and snoc. values: the length of the result, and the index. */
static void placed_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    const char *name = ct_ad_is_real(element_of(back->core)) ? "takeReal" : "take'";
    CtCore *parts[2];
    ct_ad_seq_open(seq, "d", "d", library(c, range, name, back->values[0], back->values[1], d), parts);
    ct_chad_back_call(c, seq, back->parts[back->core->as.call.count - 1], parts[0]);
    ct_chad_back_call(c, seq, back->parts[0], parts[1]);
}

/* values: the number of rows, and their length or, for concat, the lengths of all. */
static void nested_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    CtArrayOp op = back->core->as.call.of.array;
    CtType *type = op == ARRAY_CONCAT ? element_of(back->core) : element_of(back->core)->parts[0];
    bool real = ct_ad_is_real(type);
    const char *name = op == ARRAY_CONCAT    ? (real ? "concatReals" : "concatCots")
                       : op == ARRAY_RESHAPE ? (real ? "reshapeReals" : "reshapeCots")
                                             : (real ? "transposeReals" : "transposeCots");
    CtCore *cot = op == ARRAY_CONCAT ? library(c, range, name, back->values[0], d, NULL)
                                     : library(c, range, name, back->values[0], back->values[1], d);
    ct_chad_back_call(c, seq, back->parts[op == ARRAY_RESHAPE ? 2 : 0], cot);
}

/* ---- numbers ---- */

/* values: n */
static void sum_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    CtCore *all = array(c, range, ARRAY_REPLICATE, back->values[0], d, NULL);
    ct_chad_back_call(c, seq, back->parts[0], ct_chad_make(c->ad, range, "Reals", &all, 1));
}

/* ---- which needs what ---- */

static CtCore *row_lengths(CtChad *c, CtSourceRange range, CtCore *xss) {
    CtVar *row = ct_core_var_new(c->p, "row", xss->type->parts[0]);
    CtCore *body = length(c, range, ct_core_var(c->p, range, row));
    return array(c, range, ARRAY_MAP, lambda(c, range, &row, 1, body), xss, NULL);
}

/* The length of the first row; 0 if there is none. */
static CtCore *width(CtChad *c, CtSourceRange range, CtCore *n, CtCore *xss) {
    CtCore *none = ct_core_prim2(c->p, range, PRIM_INT_EQ, n, number(c, range, 0));
    CtCore *first = array(c, range, ARRAY_INDEX, xss, number(c, range, 0), NULL);
    return ct_core_if(c->p, range, none, number(c, range, 0), length(c, range, first));
}

/* The backpropagator of an operation, and in `values` what it needs of its operands `xs`, which are atoms; `y` is the
 * result. Values are bound before the result, so that an operand with no other reference can be updated in place. */
static Emit *structural(CtChad *c, CtSeq *seq, CtCore *core, CtCore **xs, CtCore *values[2]) {
    CtSourceRange range = core->range;
    switch (core->as.call.of.array) {
    case ARRAY_INDEX:
        values[0] = xs[1];
        if (c->rung.dense) values[1] = length(c, range, xs[0]);
        return index_back;
    case ARRAY_GATHER: values[0] = xs[1]; return places_back;
    case ARRAY_SLICE:
        values[0] = xs[0];
        values[1] = xs[1];
        return places_back;
    case ARRAY_REVERSE: values[0] = length(c, range, xs[0]); return places_back;
    case ARRAY_MAXIMUM:
    case ARRAY_MINIMUM: values[0] = xs[0]; return extremum_back;
    case ARRAY_REPLICATE: values[0] = xs[0]; return replicate_back;
    case ARRAY_APPEND:
        values[0] = length(c, range, xs[0]);
        values[1] = length(c, range, xs[1]);
        return append_back;
    case ARRAY_UPDATE:
        values[0] = length(c, range, xs[0]);
        values[1] = xs[1];
        return placed_back;
    case ARRAY_SNOC: {
        values[1] = ct_ad_seq_name(seq, "n", length(c, range, xs[0]));
        values[0] = ct_core_prim2(c->p, range, PRIM_INT_ADD, values[1], number(c, range, 1));
        return placed_back;
    }
    case ARRAY_CONCAT: values[0] = row_lengths(c, range, xs[0]); return nested_back;
    case ARRAY_TRANSPOSE:
        values[0] = ct_ad_seq_name(seq, "n", length(c, range, xs[0]));
        values[1] = width(c, range, values[0], xs[0]);
        return nested_back;
    case ARRAY_RESHAPE:
        values[0] = xs[0];
        values[1] = xs[1];
        return nested_back;
    case ARRAY_SUM: values[0] = length(c, range, xs[0]); return sum_back;
    case ARRAY_LENGTH:
    case ARRAY_SHAPE:
    case ARRAY_BUILD:
    case ARRAY_MAP:
    case ARRAY_ZIP_WITH:
    case ARRAY_FOLDL:
    case ARRAY_SCANL:
    case ARRAY_REDUCE:
    case ARRAY_SCAN:
    case ARRAY_MAP_ACCUM:
    case ARRAY_PRODUCT:
    case ARRAY_ARGMAX:
    case ARRAY_ARGMIN:
    case ARRAY_IOTA: return NULL;
    case ARRAY_STRIDED: /* only `bulk` generates these, and a program uses one reverse-mode method */
    case ARRAY_GATHER_OR:
    case ARRAY_SCATTER_ADD:
    case ARRAY_ADD_AT:
    case ARRAY_SUM_ROWS:
    case ARRAY_SELECT:
    case CT_ARRAY_OP_COUNT: break;
    }
    ct_error(c->p->context, CT_E0901, range, "CHAD has no rule for `%s`",
             ct_core_array_info(core->as.call.of.array)->name);
    return NULL;
}

static CtPaired plain(CtChad *c, CtSeq *seq, CtCore *core) {
    CtBack **parts;
    uint32_t count = core->as.call.count;
    CtCore **xs = ct_chad_values(c, seq, core->as.call.args, count, &parts);
    CtPaired made = {NULL, NULL};
    if (parts && !ct_is_discrete(core->type)) {
        for (uint32_t i = 0; i < count; i++) xs[i] = ct_ad_seq_name(seq, "x", xs[i]);
        CtCore *values[2] = {NULL, NULL};
        Emit *emit = structural(c, seq, core, xs, values);
        if (emit) {
            made.back = ct_chad_back(c, core, emit);
            made.back->parts = parts;
            made.back->values = CT_NEW_ARRAY(c->ad->arena, CtCore *, 2);
            for (uint32_t i = 0; i < 2 && values[i]; i++) made.back->values[i] = ct_ad_seq_name(seq, "n", values[i]);
        }
    }
    made.x = ct_ad_rebuild(c->t, core, xs);
    return made;
}

/* [|⟨t⟩|] */
static void literal_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    CtSourceRange range = back->core->range;
    CtType *element = element_of(back->core);
    CtCore *ds = ct_ad_seq_name(seq, "ds", ct_chad_elements(c, range, element, number(c, range, back->count), d));
    CtCore **items = CT_NEW_ARRAY(c->ad->arena, CtCore *, back->count);
    for (uint32_t i = 0; i < back->count; i++)
        if (back->parts[i])
            items[i] = ct_ad_seq_name(seq, "d", array(c, range, ARRAY_INDEX, ds, number(c, range, i), NULL));
    for (uint32_t i = 0; i < back->count; i++) ct_chad_back_call(c, seq, back->parts[i], items[i]);
}

static void maybe_literal_back(CtChad *c, CtSeq *seq, const CtBack *back, CtCore *d) {
    ct_chad_unless_zero(c, seq, back, d, literal_back);
}

static CtPaired literal(CtChad *c, CtSeq *seq, CtCore *core) {
    CtPaired made = {NULL, NULL};
    CtBack **parts;
    CtCore **xs = ct_chad_values(c, seq, core->as.call.args, core->as.call.count, &parts);
    made.x = ct_ad_rebuild(c->t, core, xs);
    if (!parts) return made;
    made.back = ct_chad_back(c, core, maybe_literal_back);
    made.back->parts = parts;
    made.back->count = core->as.call.count;
    return made;
}

/* product xs = foldl (λa x. a · x) 1 xs: exact for zeros. */
static CtCore *product(CtChad *c, CtCore *core) {
    CtSourceRange range = core->range;
    CtVar *params[2] = {ct_core_var_new(c->p, "a", core->type), ct_core_var_new(c->p, "x", core->type)};
    CtCore *a = ct_core_var(c->p, range, params[0]), *x = ct_core_var(c->p, range, params[1]);
    CtCore *f = lambda(c, range, params, 2, ct_core_prim2(c->p, range, PRIM_MUL, a, x));
    return array(c, range, ARRAY_FOLDL, f, ct_core_real(c->p, range, core->type, 1.0), core->as.call.args[0]);
}

CtPaired ct_chad_array(CtChad *c, CtSeq *seq, CtCore *core) {
    if (core->kind == CORE_ARRAY_LIT) return literal(c, seq, core);
    if (ct_ad_is_flat(core)) return ct_chad_chad(c, seq, ct_ad_flat(c->p, core));
    CtArrayOp op = core->as.call.of.array;
    if (op == ARRAY_PRODUCT && ct_ad_is_real(core->type)) return ct_chad_chad(c, seq, product(c, core));
    return ct_core_array_info(op)->function >= 0 ? ct_chad_loop(c, seq, core) : plain(c, seq, core);
}
