/* Shared by all reverse-mode methods: reals paired with what propagates their cotangents, and the wrapper. The wrapper
 * is that of DUAL 2022 Fig. 13 and DELTA Fig. 16: inputs are numbered as they are interleaved, and at the end their
 * cotangents are put back into the structure of the point. */
#include "ad/internal.h"

static const CtReverse *names(CtAd *ad) { return ad->rules[ad->reverse]->reverse; }

static CtType *library_type(CtAd *ad, const char *name) {
    CtGlobal *global = ct_ad_library(ad, name);
    return global ? global->type : ad->p->unit_type;
}

CtType *ct_ad_reverse_real(CtAd *ad, CtType *type) {
    return ct_core_type_pair(ad->p, type, library_type(ad, names(ad)->none));
}

CtType *ct_ad_reverse_state(CtAd *ad) { return library_type(ad, names(ad)->start); }

/* D[r] = (r, none) */
CtCore *ct_ad_reverse_constant(CtAd *ad, CtSourceRange range, CtCore *x) {
    CtCore *none = ct_core_global(ad->p, range, ct_ad_library(ad, names(ad)->none));
    return ct_core_pair(ad->p, range, x, none);
}

CtCore *ct_ad_reverse_primal(CtAd *ad, CtSourceRange range, CtCore *d) { return ct_core_proj(ad->p, range, d, 0); }

/* ---- operations ---- */

static bool is_none(CtAd *ad, const CtCore *b) {
    return b->kind == CORE_GLOBAL && b->as.global == ct_ad_library(ad, names(ad)->none);
}

CtPartials ct_ad_partials(CtAd *ad, CtSeq *seq, const CtOperation *op) {
    CtPartials out = {.ad = ad, .op = op};
    CtCore *b[2] = {NULL, NULL}, *parts[2];
    for (uint32_t i = 0; i < op->count; i++) {
        out.x[i] = op->args[i];
        if (!ct_ad_is_real(op->types[i])) continue;
        ct_ad_seq_open(seq, "x", "d", op->args[i], parts);
        out.x[i] = parts[0];
        b[i] = parts[1];
    }
    out.y = op->value ? op->value : ct_core_prim(ad->p, op->range, op->prim, out.x, op->count);
    out.y = ct_ad_seq_name(seq, "y", out.y);
    CtCore *none = ct_core_global(ad->p, op->range, ct_ad_library(ad, names(ad)->none));
    for (uint32_t i = 0; i < op->count; i++) {
        if (!b[i] || is_none(ad, b[i])) continue;
        CtCore *p = NULL, *to = b[i];
        if (op->value)
            p = op->partials[i];
        else if (!ct_ad_is_conversion(op->prim) && !(p = ct_ad_led(ad, op, i, out.x, out.y, none, &to)))
            continue;
        out.b[out.count] = to == b[i] ? to : ct_ad_seq_name(seq, "d", to);
        out.p[out.count++] = p;
    }
    return out;
}

CtCore *ct_ad_partial(const CtPartials *partials, uint32_t k, CtCore *z) {
    CtAd *ad = partials->ad;
    CtSourceRange range = partials->op->range;
    CtCore *p = partials->p[k];
    if (!p) return z ? z : ct_core_double(ad->p, range, 1.0);
    p = ct_ad_to_double(ad, range, p);
    return z ? ct_core_prim2(ad->p, range, PRIM_SCALE, p, z) : p;
}

CtCore *ct_ad_partials_run(const CtPartials *partials, CtSeq *seq, const char *name, const char *one, const char *two) {
    CtSourceRange range = partials->op->range;
    CtCore *args[5];
    uint32_t count = 0;
    for (uint32_t k = 0; k < partials->count; k++) {
        args[count++] = partials->b[k];
        args[count++] = ct_ad_partial(partials, k, NULL);
    }
    args[count++] = ct_ad_seq_state(seq, range);
    return ct_ad_seq_run(seq, name,
                         ct_ad_library_call(partials->ad, range, partials->count == 1 ? one : two, args, count));
}

CtCore *ct_ad_partials_pair(const CtPartials *partials, CtCore *b) {
    return ct_core_pair(partials->ad->p, partials->op->range, partials->y, b);
}

CtCore *ct_ad_library_call(CtAd *ad, CtSourceRange range, const char *name, CtCore *const *args, uint32_t count) {
    return ct_ad_call(ad, range, ct_ad_library(ad, name), args, count);
}

CtCore *ct_ad_library_con(CtAd *ad, CtSourceRange range, CtType *type, const char *name, CtCore *const *args,
                          uint32_t count) {
    for (uint32_t i = 0; i < type->data->con_count; i++)
        if (strcmp(type->data->cons[i].name->text, name) == 0)
            return ct_core_con(ad->p, range, &type->data->cons[i], args, count);
    ct_error(ad->p->context, CT_E0901, CT_NO_RANGE, "the library has no constructor `%s`", name);
    return args[0];
}

/* ---- the wrapper ---- */

/* N */
static CtType *numbering(CtAd *ad, CtMethod method) {
    (void)method;
    return library_type(ad, names(ad)->start);
}

static CtCore *input_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                          CtCore *env) {
    (void)method, (void)type, (void)env;
    CtCore *state = ct_ad_seq_state(seq, range);
    CtCore *b = ct_ad_seq_run(seq, "d", ct_ad_library_call(ad, range, names(ad)->input, &state, 1));
    return ct_core_pair(ad->p, range, ins[0], b);
}

/* Interleave_A : (A, N) → (D[A], N) */
static const CtGeneric interleave = {
    .name = "interleave", .inputs = 1, .makes = true, .makes_dual = true, .state = numbering, .leaf = input_leaf};

static CtCore *inputs_behind(CtAd *ad, CtSourceRange range, CtCore *state, CtCore *n) {
    CtCore *args[2] = {state, n};
    return ct_ad_library_call(ad, range, names(ad)->behind, args, 2);
}

/* The same, the elements of arrays side by side. */
static const CtGeneric interleave_apart = {.name = "interleave",
                                           .inputs = 1,
                                           .makes = true,
                                           .makes_dual = true,
                                           .state = numbering,
                                           .behind = inputs_behind,
                                           .leaf = input_leaf};

static bool walks_apart(CtAd *ad) { return names(ad)->behind != NULL && !ad->on_flow; }

/* C */
static CtType *collected(CtAd *ad, CtMethod method) {
    (void)method;
    CtType *type = library_type(ad, names(ad)->nothing);
    return type->kind == TYPE_FUN ? ct_core_type_fun_result(type) : type;
}

static CtCore *collect_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type,
                            CtCore *const *ins, CtCore *env) {
    (void)method, (void)type, (void)env;
    CtCore *d = ct_core_proj(ad->p, range, ins[0], 1);
    CtCore *g = ct_ad_to_double(ad, range, ins[1]);
    CtCore *args[3] = {ct_ad_seq_state(seq, range), d, g};
    CtCore *more = ct_ad_library_call(ad, range, names(ad)->collect, args, 3);
    CtVar *var = ct_core_var_new(ad->p, "c", more->type);
    ct_ad_seq_let(seq, range, var, more);
    seq->state = var;
    return NULL;
}

/* Deinterleave_A, applied to a cotangent : (D[A], A, C) → C */
static const CtGeneric collect = {.name = "collect",
                                  .inputs = 2,
                                  .dual = {true, false},
                                  .mismatch = "the cotangent does not have the shape of the result",
                                  .state = collected,
                                  .leaf = collect_leaf};

/* The results of the forward pass. */
typedef struct Forward {
    CtCore *y;      /* D[T] */
    CtCore *inputs; /* Int */
    CtCore *state;  /* N, NULL in direct style */
} Forward;

static Forward run_forward(CtAd *ad, CtSeq *seq, const CtWrap *wrap) {
    CtSourceRange range = wrap->range;
    const CtReverse *r = names(ad);
    CtCore *parts[2], *args[2];
    CtCore *start = ct_core_global(ad->p, range, ct_ad_library(ad, r->start));
    CtCore *started = ct_ad_generic(
        ad, walks_apart(ad) ? &interleave_apart : &interleave,
        (CtGenericCall){.method = ad->reverse, .range = range, .type = wrap->s, .ins = {wrap->x}, .state = start});
    ct_ad_seq_open(seq, "x", "n", started, args);
    Forward out = {.inputs = args[1]};
    if (r->inputs) out.inputs = ct_ad_seq_name(seq, "inputs", ct_ad_library_call(ad, range, r->inputs, &args[1], 1));
    bool direct = !ct_ad_state(ad, ad->reverse);
    CtCore *run = ct_core_app(ad->p, range, wrap->f, args, direct ? 1 : 2);
    if (direct) {
        out.y = ct_ad_seq_name(seq, "y", run);
    } else {
        ct_ad_seq_open(seq, "y", "n", run, parts);
        out.y = parts[0];
        out.state = parts[1];
    }
    return out;
}

/* A call of a library function of (inputs, state, c), some of which may be absent. */
static CtCore *of_run(CtAd *ad, CtSourceRange range, const char *name, const Forward *run, CtCore *c) {
    CtCore *args[3];
    uint32_t count = 0;
    args[count++] = run->inputs;
    if (run->state) args[count++] = run->state;
    if (c) args[count++] = c;
    CtGlobal *function = ct_ad_library(ad, name);
    return ct_ad_is_function(function) ? ct_ad_call(ad, range, function, args, count)
                                       : ct_core_global(ad->p, range, function);
}

/* (y, λdy. …), whose function gives the cotangent of the point, or the adjoints of all entries. */
static CtCore *pair_with_pullback(CtAd *ad, CtSeq *seq, const CtWrap *wrap, bool adjoints) {
    CtProgram *p = ad->p;
    CtSourceRange range = wrap->range;
    Forward run = run_forward(ad, seq, wrap);
    CtVar *dy = ct_core_var_new(p, "dy", wrap->t);
    CtCore *dy_use = ct_core_var(p, range, dy);
    CtSeq inner = ct_ad_seq(p, NULL);
    CtCore *nothing = of_run(ad, range, names(ad)->nothing, &run, NULL);
    CtCore *c = ct_ad_generic(
        ad, &collect,
        (CtGenericCall){
            .method = ad->reverse, .range = range, .type = wrap->t, .ins = {run.y, dy_use}, .state = nothing});
    c = ct_ad_seq_name(&inner, "c", c);
    CtCore *reals = ct_ad_seq_name(&inner, "dx", of_run(ad, range, names(ad)->resolve, &run, c));
    CtCore *made = reals;
    if (!adjoints && walks_apart(ad))
        made = ct_ad_poly_read_apart(ad, range, wrap->s, wrap->x, reals, !wrap->is_factor);
    else if (!adjoints)
        made = ct_ad_poly_read(ad, range, wrap->s, wrap->x, reals, !wrap->is_factor);
    CtCore *pullback = ct_core_lam(p, range, "pullback", &dy, 1, ct_ad_seq_close(&inner, made));
    CtCore *value = ct_ad_poly_primal(ad, ad->reverse, range, wrap->t, run.y);
    return ct_core_pair(p, range, value, pullback);
}

CtCore *ct_ad_reverse_vjp(CtAd *ad, CtSeq *seq, const CtWrap *wrap) { return pair_with_pullback(ad, seq, wrap, false); }

CtCore *ct_ad_reverse_adjoints(CtAd *ad, CtSeq *seq, const CtWrap *wrap) {
    return pair_with_pullback(ad, seq, wrap, true);
}

CtCore *ct_ad_reverse_trace(CtAd *ad, CtSeq *seq, const CtWrap *wrap) {
    Forward run = run_forward(ad, seq, wrap);
    return ct_ad_library_call(ad, wrap->range, names(ad)->entries, &run.state, 1);
}

CtCore *ct_ad_reverse_jvp(CtAd *ad, CtSeq *seq, const CtWrap *wrap) {
    return ct_ad_jvp_from_vjp(ad, seq, wrap, ad->reverse);
}
