/* Dual arrays at run time: D[e] where a function has no term of fixed shapes. BULK 2025 §6, Figs. 12 to 17.
 *
 * A real is paired with the name of its cotangent, so an array of reals with an array of names; the state carries the
 * Delta term (lib/ad/bulk.cot). Operations on whole arrays make one node: sum, and map, zipWith and build of functions
 * that are single operations, with their partial derivatives as arrays. Other operations on reals make nodes of size 1,
 * and those that only move data none: they move the names, too. */
#include "ad/internal.h"

/* D[op(⟨x, n⟩)] of numbers: let y = op(⟨x⟩); m ← scaled ⟨n, ∂op(⟨x⟩)⟩ in (y, m) */
static CtCore *operation(CtAd *ad, CtSeq *seq, const CtOperation *op) {
    CtPartials partials = ct_ad_partials(ad, seq, op);
    if (partials.count == 0) return ct_ad_reverse_constant(ad, op->range, partials.y);
    return ct_ad_partials_pair(&partials, ct_ad_partials_run(&partials, seq, "n", "scaled", "added"));
}

/* ---- whole arrays ---- */

static CtCore *array(CtProgram *p, CtSourceRange range, CtArrayOp op, CtCore *a, CtCore *b) {
    CtCore *args[2] = {a, b};
    return ct_core_array(p, range, op, args, b ? 2 : 1);
}

/* map (λx. component k of x) xs */
static CtCore *components(CtProgram *p, CtSourceRange range, CtCore *xs, uint32_t k) {
    CtVar *x = ct_core_var_new(p, "x", xs->type->parts[0]);
    CtCore *part = ct_core_proj(p, range, ct_core_var(p, range, x), k);
    return array(p, range, ARRAY_MAP, ct_core_lam(p, range, NULL, &x, 1, part), xs);
}

/* D[sum xs] = let y = sum (map fst xs'); n ← sumOuter (map snd xs') in (y, n) */
static CtCore *sum(CtTransform *t, CtSeq *seq, CtCore *core) {
    CtCore *xs = ct_ad_seq_name(seq, "xs", ct_ad_lift_value(t, seq, core->as.call.args[0])), *args[2];
    CtCore *y = array(t->p, core->range, ARRAY_SUM, components(t->p, core->range, xs, 0), NULL);
    y = ct_ad_seq_name(seq, "y", y);
    args[0] = components(t->p, core->range, xs, 1);
    args[1] = ct_ad_seq_state(seq, core->range);
    CtCore *n = ct_ad_seq_run(seq, "n", ct_ad_library_call(t->ad, core->range, "sumOuter", args, 2));
    return ct_core_pair(t->p, core->range, y, n);
}

/* The body of an elementwise function as one operation: (y, ⟨p, n⟩) with the partial derivatives by the reals in it,
 * and their names; 0 where the partial derivative is a structural zero. NULL where it is none. */
static CtCore *element(CtTransform *t, CtCore *body, uint32_t *inputs) {
    CtProgram *p = t->p;
    CtSeq seq = ct_ad_seq(p, NULL);
    for (; (body->kind == CORE_LET || body->kind == CORE_UNPACK) && ct_ad_lift_pure(t, body->as.let.rhs);
         body = body->as.let.body) {
        CtCore *rhs = ct_ad_direct(t, body->as.let.rhs);
        if (body->kind == CORE_LET) {
            ct_ad_seq_let(&seq, body->range, ct_ad_bind(t, body->as.let.vars[0]), rhs);
            continue;
        }
        CtVar **vars = CT_NEW_ARRAY(t->ad->arena, CtVar *, body->as.let.count);
        for (uint32_t i = 0; i < body->as.let.count; i++) vars[i] = ct_ad_bind(t, body->as.let.vars[i]);
        ct_ad_seq_unpack(&seq, body->range, vars, body->as.let.count, rhs);
    }
    body = ct_ad_fused_term(t, &seq, body);
    if (!body) return NULL;
    CtFusedTerm fused = ct_ad_fuse(t, &seq, body);
    if (fused.count == 0) return NULL;
    CtCore **parts = CT_NEW_ARRAY(t->ad->arena, CtCore *, 2 * fused.count + 1);
    CtCore *none = ct_core_global(p, body->range, ct_ad_library(t->ad, "none"));
    parts[0] = fused.y;
    for (uint32_t i = 0; i < fused.count; i++) {
        CtCore *is_zero = ct_core_prim1(p, body->range, PRIM_IS_NEGATIVE_ZERO, fused.partials[i]);
        parts[2 * i + 1] = fused.partials[i];
        parts[2 * i + 2] = fused.zeros ? ct_core_if(p, body->range, is_zero, none, fused.b[i]) : fused.b[i];
    }
    *inputs = fused.count;
    return ct_ad_seq_close(&seq, ct_core_tuple(p, body->range, parts, 2 * fused.count + 1));
}

/* D[map f xs] = let rows = map (λx'. (y, ⟨p, n⟩)) xs'; m ← mapped [⟨Scale ps ns⟩] in build (λi. (y, m + i)), and so of
 * zipWith and build. */
static CtCore *elementwise(CtTransform *t, CtSeq *seq, CtCore *core) {
    CtProgram *p = t->p;
    CtAd *ad = t->ad;
    CtSourceRange range = core->range;
    CtCore **args = core->as.call.args;
    int at = ct_core_array_info(core->as.call.of.array)->function;
    const CtLam *lam = args[at]->kind == CORE_LAM ? args[at]->as.lam : NULL;
    if (!lam || core->type->parts[0]->kind != TYPE_DOUBLE) return NULL;
    CtVar *params[2] = {NULL, NULL};
    uint32_t inputs;
    for (uint32_t i = 0; i < lam->count; i++) params[i] = ct_ad_bind(t, lam->params[i]);
    CtCore *body = element(t, lam->body, &inputs);
    if (!body) return NULL;
    CtCore *others[2], *all[3], **values;
    for (uint32_t i = 0, k = 0; i < core->as.call.count; i++)
        if ((int)i != at) others[k++] = args[i];
    values = ct_ad_lift_values(t, seq, others, core->as.call.count - 1);
    for (uint32_t i = 0, k = 0; i < core->as.call.count; i++)
        all[i] = (int)i != at ? values[k++] : ct_core_lam(p, range, lam->name, params, lam->count, body);
    CtCore *rows =
        ct_ad_seq_name(seq, "rows", ct_core_array(p, range, core->as.call.of.array, all, core->as.call.count));
    CtCore *deltas = ct_core_global(p, range, ct_ad_library(ad, "noDeltas"));
    for (uint32_t i = inputs; i-- > 0;) {
        CtCore *delta[3] = {components(p, range, rows, 2 * i + 1), components(p, range, rows, 2 * i + 2), deltas};
        deltas = ct_ad_library_call(ad, range, "scale'", delta, 3);
    }
    CtCore *length = ct_ad_seq_name(seq, "length", array(p, range, ARRAY_LENGTH, rows, NULL));
    CtCore *node[3] = {length, deltas, ct_ad_seq_state(seq, range)};
    CtCore *first = ct_ad_seq_run(seq, "n", ct_ad_library_call(ad, range, "mapped", node, 3));
    CtVar *i = ct_core_var_new(p, "i", p->int_type);
    CtCore *use = ct_core_var(p, range, i);
    CtCore *is_none = ct_core_prim2(p, range, PRIM_INT_EQ, first, ct_core_int(p, range, 0));
    CtCore *name = ct_core_if(p, range, is_none, first, ct_core_prim2(p, range, PRIM_INT_ADD, first, use));
    CtCore *y = ct_core_proj(p, range, array(p, range, ARRAY_INDEX, rows, use), 0);
    CtCore *f = ct_core_lam(p, range, NULL, &i, 1, ct_core_pair(p, range, y, name));
    return array(p, range, ARRAY_BUILD, length, f);
}

static CtCore *fuse(CtTransform *t, CtSeq *seq, CtCore *core) {
    if (core->kind != CORE_ARRAY) return NULL;
    switch ((int)core->as.call.of.array) {
    case ARRAY_SUM: return core->type->kind == TYPE_DOUBLE ? sum(t, seq, core) : NULL;
    case ARRAY_MAP:
    case ARRAY_ZIP_WITH:
    case ARRAY_BUILD: return elementwise(t, seq, core);
    }
    return NULL;
}

static const CtReverse names = {.none = "none",
                                .start = "start",
                                .input = "input",
                                .inputs = "inputs",
                                .nothing = "adjoints",
                                .collect = "collect",
                                .resolve = "resolve",
                                .entries = "nodes",
                                .rule = "withRule"};

const CtRules ct_bulk_rules = {
    CT_REVERSE_RULES,
    .state = ct_ad_reverse_state,
    .operation = operation,
    .fuse = fuse,
    .trace = ct_ad_reverse_trace,
    .reverse = &names,
    .derivative = ct_bulk_whole_derivative,
};
