/* tape: reverse mode that writes its contributions in the forward pass. DUAL 2022 §9.3.
 *
 * Every real becomes a pair of itself and the number of the tape's entry that tells where it came from; the state monad
 * carries the tape (lib/ad/tape.cot), which each operation pushes its arguments' numbers and partial derivatives on.
 * Entry 0 stands for all constants. The pullback sweeps the tape from the back, once for each cotangent. The forward
 * pass costs a constant factor over the program and 32 bytes an operation; a pullback costs a constant for each entry.
 */
#include "ad/internal.h"

/* D[ℝ] = ℝ × Int */
static CtType *real(CtAd *ad, CtType *type) { return ct_type_pair(ad->p, type, ad->p->int_type); }

/* S = Tape */
static CtType *state(CtAd *ad) {
    CtGlobal *empty = ct_ad_library(ad, "tapeEmpty");
    return empty ? empty->type : ad->p->unit_type;
}

/* D[r] = (r, 0) */
static CtCore *constant(CtAd *ad, CtSpan span, CtCore *x) {
    CtCore *none = ct_core_int(ad->p, span, 0);
    return ct_core_pair(ad->p, span, x, none);
}

static CtCore *primal(CtAd *ad, CtSpan span, CtCore *d) { return ct_core_proj(ad->p, span, d, 0); }

static bool is_none(const CtCore *id) { return id->kind == CORE_LIT && id->as.lit.integer == 0; }

/* push ⟨id, partial⟩: the new entry's number, and the tape in place of the old one */
static CtCore *push(CtAd *ad, CtSeq *seq, CtSpan span, CtCore *const *ids, CtCore *const *partials, uint32_t count) {
    static const char *const names[] = {"tapePush0", "tapePush1", "tapePush2"};
    CtCore *args[5] = {ct_seq_state(seq, span)};
    for (uint32_t i = 0; i < count; i++) {
        args[1 + 2 * i] = ids[i];
        args[2 + 2 * i] = ct_to_double(ad, span, partials[i]);
    }
    CtCore *pushed = ct_ad_call(ad, span, ct_ad_library(ad, names[count]), args, 1 + 2 * count);
    return ct_seq_run(seq, "i", pushed);
}

/* D[op(⟨x, i⟩)] = let y = op(⟨x⟩); i ← push ⟨i, ∂op(⟨x⟩)(1)⟩ in (y, i) */
static CtCore *operation(CtAd *ad, CtSeq *seq, const CtOperation *op) {
    CtCore *x[2] = {NULL, NULL}, *id[2] = {NULL, NULL}, *parts[2];
    for (uint32_t i = 0; i < op->count; i++) {
        x[i] = op->args[i];
        if (!ct_is_real(op->types[i])) continue;
        ct_seq_open(seq, "x", "i", op->args[i], parts);
        x[i] = parts[0];
        id[i] = parts[1];
    }
    CtCore *y = ct_seq_name(seq, "y", ct_core_prim(ad->p, op->span, op->prim, x, op->count));
    CtCore *ids[2], *partials[2];
    uint32_t count = 0;
    for (uint32_t i = 0; i < op->count; i++) {
        if (!id[i] || is_none(id[i])) continue;
        CtCore *partial = ct_ad_is_conversion(op->prim) ? ct_core_double(ad->p, op->span, 1.0)
                                                        : ct_ad_derivative(ad, op, i, x, y, NULL);
        if (!partial) continue;
        ids[count] = id[i];
        partials[count++] = partial;
    }
    if (count == 0) return constant(ad, op->span, y);
    CtCore *entry = push(ad, seq, op->span, ids, partials, count);
    return ct_core_pair(ad->p, op->span, y, entry);
}

/* ---- the wrapper ---- */

static CtType *tape_type(CtAd *ad) { return ct_ad_state(ad, METHOD_TAPE); }
static CtType *adjoints_type(CtAd *ad) { return ct_type_array(ad->p, ad->p->double_type); }

static CtCore *input_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSpan span, CtType *type, CtCore *const *ins,
                          CtCore *env) {
    (void)method, (void)type, (void)env;
    CtCore *entry = push(ad, seq, span, NULL, NULL, 0);
    return ct_core_pair(ad->p, span, ins[0], entry);
}

/* Interleave_A : (A, Tape) → (D[A], Tape): an entry for each real leaf, from left to right */
static const CtGeneric interleave = {
    .name = "interleave", .inputs = 1, .makes = true, .makes_dual = true, .state = tape_type, .leaf = input_leaf};

static CtCore *seed_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSpan span, CtType *type, CtCore *const *ins,
                         CtCore *env) {
    (void)method, (void)type, (void)env;
    CtCore *id = ct_core_proj(ad->p, span, ins[0], 1);
    CtCore *g = ct_to_double(ad, span, ins[1]);
    CtCore *args[3] = {ct_seq_state(seq, span), id, g};
    CtCore *seeded = ct_ad_call(ad, span, ct_ad_library(ad, "tapeSeed"), args, 3);
    CtVar *var = ct_var_new(ad->p, "adjoints", seeded->type);
    ct_seq_let(seq, span, var, seeded);
    seq->state = var;
    return NULL;
}

/* Deinterleave_A : (D[A], A, adjoints) → adjoints: a cotangent added at the result's entries */
static const CtGeneric seed = {.name = "seed",
                               .inputs = 2,
                               .dual = {true, false},
                               .mismatch = "the cotangent does not have the shape of the result",
                               .state = adjoints_type,
                               .leaf = seed_leaf};

static CtCore *lookup_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSpan span, CtType *type, CtCore *const *ins,
                           CtCore *env) {
    (void)method, (void)seq;
    CtCore *args[2] = {env, ct_core_proj(ad->p, span, ins[0], 1)};
    CtCore *adjoint = ct_core_array(ad->p, span, ARRAY_INDEX, args, 2);
    return ct_from_double(ad, span, type, ct_normal(ad, span, adjoint));
}

/* lookup_A : (D[A], adjoints) → A: the point with the adjoints of its entries for its reals (DELTA Fig. 16) */
static const CtGeneric lookup = {
    .name = "lookup", .inputs = 1, .dual = {true}, .makes = true, .env = adjoints_type, .leaf = lookup_leaf};

/* let (x', t) = Interleave_S x empty; (y, t) = D[f] (x', t): what is written down on the way. */
static void run_forward(CtAd *ad, CtSeq *seq, const CtWrap *wrap, CtCore **x, CtCore **y, CtCore **tape) {
    CtSpan span = wrap->span;
    CtCore *empty = ct_core_global(ad->p, span, ct_ad_library(ad, "tapeEmpty"));
    CtCore *parts[2], *args[2];
    CtCore *started = ct_generic(
        ad, &interleave,
        (CtGenericCall){.method = METHOD_TAPE, .span = span, .type = wrap->s, .ins = {wrap->x}, .state = empty});
    ct_seq_open(seq, "x", "t", started, args);
    ct_seq_open(seq, "y", "t", ct_core_app(ad->p, span, wrap->f, args, 2), parts);
    *x = args[0];
    *y = parts[0];
    *tape = parts[1];
}

/* R[f] x = … in (primal_T y, λdy. lookup_S x' (sweep t (seed_T y dy (zeros t)))) */
static CtCore *vjp(CtAd *ad, CtSeq *seq, const CtWrap *wrap) {
    CtProgram *p = ad->p;
    CtSpan span = wrap->span;
    CtCore *x, *y, *tape, *args[2];
    run_forward(ad, seq, wrap, &x, &y, &tape);
    CtVar *dy = ct_var_new(p, "dy", wrap->t);
    CtCore *dy_use = ct_core_var(p, span, dy);
    CtCore *zeros = ct_ad_call(ad, span, ct_ad_library(ad, "tapeAdjoints"), &tape, 1);
    CtSeq inner = ct_seq(p, NULL);
    args[0] = tape;
    args[1] = ct_generic(
        ad, &seed,
        (CtGenericCall){.method = METHOD_TAPE, .span = span, .type = wrap->t, .ins = {y, dy_use}, .state = zeros});
    CtCore *swept = ct_seq_name(&inner, "adjoints", ct_ad_call(ad, span, ct_ad_library(ad, "tapeSweep"), args, 2));
    CtCore *cotangent = ct_generic(
        ad, &lookup, (CtGenericCall){.method = METHOD_TAPE, .span = span, .type = wrap->s, .ins = {x}, .env = swept});
    CtCore *pullback = ct_core_lam(p, span, "pullback", &dy, 1, ct_seq_close(&inner, cotangent));
    CtCore *value = ct_generic_primal(ad, METHOD_TAPE, span, wrap->t, y);
    return ct_core_pair(p, span, value, pullback);
}

/* How many entries the tape gets. */
static CtCore *trace(CtAd *ad, CtSeq *seq, const CtWrap *wrap) {
    CtCore *x, *y, *tape;
    run_forward(ad, seq, wrap, &x, &y, &tape);
    return ct_ad_call(ad, wrap->span, ct_ad_library(ad, "tapeEntries"), &tape, 1);
}

static CtCore *jvp(CtAd *ad, CtSeq *seq, const CtWrap *wrap) { return ct_jvp_from_vjp(ad, seq, wrap, METHOD_TAPE); }

const CtRules ct_tape_rules = {.real = real,
                               .state = state,
                               .constant = constant,
                               .primal = primal,
                               .operation = operation,
                               .jvp = jvp,
                               .vjp = vjp,
                               .trace = trace};
