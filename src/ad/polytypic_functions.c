/* The polytypic functions that every method needs: primals and embeddings, products of a derivative and a tangent,
 * structures filled from arrays of their reals and written to them, zeros and bases. */
#include "ad/internal.h"

CtCore *ct_ad_normal(CtAd *ad, CtSourceRange range, CtCore *x) {
    CtCore *zero = ct_core_real(ad->p, range, x->type, 0.0);
    return ct_core_prim2(ad->p, range, PRIM_ADD, x, zero);
}

CtCore *ct_ad_to_double(CtAd *ad, CtSourceRange range, CtCore *real) {
    return real->type->kind == TYPE_FLOAT ? ct_core_prim1(ad->p, range, PRIM_FLOAT_TO_DOUBLE, real) : real;
}

CtCore *ct_ad_from_double(CtAd *ad, CtSourceRange range, CtType *type, CtCore *real) {
    return type->kind == TYPE_FLOAT ? ct_core_prim1(ad->p, range, PRIM_DOUBLE_TO_FLOAT, real) : real;
}

static CtCore *primal_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                           CtCore *env) {
    (void)seq, (void)type, (void)env;
    return ad->rules[method]->primal(ad, range, ins[0]);
}

/* The primal of a function value: the function before transformation, with the primals of its captured values. */
static CtCore *primal_function(CtAd *ad, CtMethod method, CtSourceRange range, CtType *type, CtCore *in) {
    CtCore *primal = ct_core_dual(ad->p, range, type, method, NULL, 0, &in, 1);
    primal->as.call.of.dual->primal = true;
    return primal;
}

static const CtGeneric primal = {.name = "primal",
                                 .inputs = 1,
                                 .dual = {true},
                                 .makes = true,
                                 .keeps = true,
                                 .leaf = primal_leaf,
                                 .function = primal_function};

CtCore *ct_ad_poly_primal(CtAd *ad, CtMethod method, CtSourceRange range, CtType *type, CtCore *d) {
    return ct_ad_generic(ad, &primal, (CtGenericCall){.method = method, .range = range, .type = type, .ins = {d}});
}

static CtCore *embed_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                          CtCore *env) {
    (void)seq, (void)type, (void)env;
    return ad->rules[method]->constant(ad, range, ins[0]);
}

/* The embedding of a function value: its transformed version, with the captured values as constants. */
static CtCore *embed_function(CtAd *ad, CtMethod method, CtSourceRange range, CtType *type, CtCore *in) {
    (void)type;
    return ct_core_dual(ad->p, range, ct_ad_type(ad, method, in->type), method, NULL, 0, &in, 1);
}

static const CtGeneric embed = {.name = "embed",
                                .inputs = 1,
                                .makes = true,
                                .makes_dual = true,
                                .keeps = true,
                                .leaf = embed_leaf,
                                .function = embed_function};

CtCore *ct_ad_poly_embed(CtAd *ad, CtMethod method, CtSourceRange range, CtType *type, CtCore *x) {
    return ct_ad_generic(ad, &embed, (CtGenericCall){.method = method, .range = range, .type = type, .ins = {x}});
}

static CtType *double_type(CtAd *ad, CtMethod method) {
    (void)method;
    return ad->p->double_type;
}

static CtType *int_type(CtAd *ad, CtMethod method) {
    (void)method;
    return ad->p->int_type;
}

static CtType *reals_type(CtAd *ad, CtMethod method) {
    (void)method;
    return ct_core_type_array(ad->p, ad->p->double_type);
}

static void next_state(CtSeq *seq, CtSourceRange range, const char *name, CtCore *value) {
    CtVar *var = ct_core_var_new(seq->p, name, value->type);
    ct_ad_seq_let(seq, range, var, value);
    seq->state = var;
}

static void add_product(CtAd *ad, CtSeq *seq, CtSourceRange range, CtCore *product) {
    CtCore *sum = ct_ad_seq_state(seq, range);
    next_state(seq, range, "sum", ct_core_prim2(ad->p, range, PRIM_ADD, sum, product));
}

/* A derivative times a tangent or cotangent: a structural zero is absorbing, whichever of them it is. */
static CtCore *dot_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                        CtCore *env) {
    (void)method, (void)type, (void)env;
    CtCore *a = ct_ad_seq_name(seq, "a", ct_ad_to_double(ad, range, ins[0]));
    CtCore *b = ct_ad_seq_name(seq, "b", ct_ad_to_double(ad, range, ins[1]));
    CtCore *is_zero = ct_core_prim1(ad->p, range, PRIM_IS_NEGATIVE_ZERO, a);
    CtCore *zero = ct_core_prim2(ad->p, range, PRIM_SCALE, b, a);
    add_product(ad, seq, range, ct_core_if(ad->p, range, is_zero, zero, ct_core_prim2(ad->p, range, PRIM_SCALE, a, b)));
    return NULL;
}

/* What a rule gives is a number, whatever its sign. */
static CtCore *dot_rule_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type,
                             CtCore *const *ins, CtCore *env) {
    (void)method, (void)type, (void)env;
    CtCore *a = ct_ad_to_double(ad, range, ins[0]);
    CtCore *b = ct_ad_to_double(ad, range, ins[1]);
    add_product(ad, seq, range, ct_core_prim2(ad->p, range, PRIM_SCALE, a, b));
    return NULL;
}

static const CtGeneric dot = {.name = "dot",
                              .inputs = 2,
                              .mismatch = "the cotangent does not have the shape of the result",
                              .state = double_type,
                              .leaf = dot_leaf};
static const CtGeneric dot_tangent = {.name = "dotTangent",
                                      .inputs = 2,
                                      .mismatch = "the tangent does not have the shape of the point",
                                      .state = double_type,
                                      .leaf = dot_leaf};

static const CtGeneric dot_rule = {.name = "dotRule",
                                   .inputs = 2,
                                   .mismatch = "the tangent that a rule gives does not have the shape of its value",
                                   .state = double_type,
                                   .leaf = dot_rule_leaf};

static const CtGeneric dot_rule_pulled = {.name = "dotRulePulled",
                                          .inputs = 2,
                                          .mismatch =
                                              "the cotangent that a rule gives does not have the shape of the point",
                                          .state = double_type,
                                          .leaf = dot_rule_leaf};

CtCore *ct_ad_poly_dot(CtAd *ad, CtSourceRange range, CtType *type, CtCore *a, CtCore *b, CtDot of) {
    CtCore *zero = ct_core_double(ad->p, range, -0.0);
    static const CtGeneric *const generics[] = {[DOT_COTANGENT] = &dot,
                                                [DOT_TANGENT] = &dot_tangent,
                                                [DOT_RULE] = &dot_rule,
                                                [DOT_RULE_PULLED] = &dot_rule_pulled};
    return ct_ad_generic(ad, generics[of], (CtGenericCall){.range = range, .type = type, .ins = {a, b}, .state = zero});
}

static CtCore *next_number(CtAd *ad, CtSeq *seq, CtSourceRange range) {
    CtCore *number = ct_ad_seq_state(seq, range);
    CtCore *one = ct_core_int(ad->p, range, 1);
    next_state(seq, range, "n", ct_core_prim2(ad->p, range, PRIM_INT_ADD, number, one));
    return number;
}

static CtCore *count_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                          CtCore *env) {
    (void)method, (void)type, (void)ins, (void)env;
    next_number(ad, seq, range);
    return NULL;
}

static const CtGeneric count = {.name = "count", .inputs = 1, .state = int_type, .leaf = count_leaf};

CtCore *ct_ad_poly_count(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x) {
    CtCore *zero = ct_core_int(ad->p, range, 0);
    return ct_ad_generic(ad, &count, (CtGenericCall){.range = range, .type = type, .ins = {x}, .state = zero});
}

static CtCore *fill_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                         CtCore *env) {
    (void)method, (void)ins;
    CtCore *args[2] = {env, next_number(ad, seq, range)};
    CtCore *real = ct_core_array(ad->p, range, ARRAY_INDEX, args, 2);
    return ct_ad_from_double(ad, range, type, real);
}

static CtCore *read_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                         CtCore *env) {
    return ct_ad_normal(ad, range, fill_leaf(ad, method, seq, range, type, ins, env));
}

static const CtGeneric fill = {
    .name = "fill", .inputs = 1, .makes = true, .env = reals_type, .state = int_type, .leaf = fill_leaf};
static const CtGeneric read_ = {
    .name = "read", .inputs = 1, .makes = true, .env = reals_type, .state = int_type, .leaf = read_leaf};

static CtCore *number_behind(CtAd *ad, CtSourceRange range, CtCore *state, CtCore *n) {
    return ct_core_prim2(ad->p, range, PRIM_INT_ADD, state, n);
}

static const CtGeneric fill_apart = {.name = "fillApart",
                                     .inputs = 1,
                                     .makes = true,
                                     .env = reals_type,
                                     .state = int_type,
                                     .behind = number_behind,
                                     .leaf = fill_leaf};
static const CtGeneric read_apart = {.name = "read",
                                     .inputs = 1,
                                     .makes = true,
                                     .env = reals_type,
                                     .state = int_type,
                                     .behind = number_behind,
                                     .leaf = read_leaf};

static CtCore *from_array(CtAd *ad, const CtGeneric *generic, CtSourceRange range, CtType *type, CtCore *x,
                          CtCore *reals, int64_t first) {
    CtCore *start = ct_core_int(ad->p, range, first);
    CtCore *both = ct_ad_generic(
        ad, generic, (CtGenericCall){.range = range, .type = type, .ins = {x}, .env = reals, .state = start});
    return ct_core_proj(ad->p, range, both, 0);
}

CtCore *ct_ad_poly_fill(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x, CtCore *reals) {
    return from_array(ad, &fill, range, type, x, reals, 0);
}

CtCore *ct_ad_poly_read(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x, CtCore *reals, bool normal) {
    return from_array(ad, normal ? &read_ : &fill, range, type, x, reals, 1);
}

CtCore *ct_ad_poly_read_apart(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x, CtCore *reals, bool normal) {
    return from_array(ad, normal ? &read_apart : &fill_apart, range, type, x, reals, 1);
}

/* ---- structures ▶ arrays of their reals, and back ---- */

static void add_to_state(CtAd *ad, CtSeq *seq, CtSourceRange range, CtCore *x) {
    CtCore *args[2] = {ct_ad_seq_state(seq, range), x};
    next_state(seq, range, "xs", ct_core_array(ad->p, range, ARRAY_SNOC, args, 2));
}

static CtCore *reals_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                          CtCore *env) {
    (void)method, (void)type, (void)env;
    add_to_state(ad, seq, range, ct_ad_to_double(ad, range, ins[1]));
    return NULL;
}

static const CtGeneric reals_of_cotangent = {.name = "reals",
                                             .inputs = 2,
                                             .mismatch =
                                                 "the cotangent that a rule gives does not have the shape of the point",
                                             .state = reals_type,
                                             .leaf = reals_leaf};
static const CtGeneric reals_of_tangent = {.name = "realsOfTangent",
                                           .inputs = 2,
                                           .mismatch =
                                               "the tangent that a rule gives does not have the shape of its value",
                                           .state = reals_type,
                                           .leaf = reals_leaf};

CtCore *ct_ad_poly_reals(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x, CtCore *dx, bool tangent) {
    CtCore *none = ct_core_array_lit(ad->p, range, ad->p->double_type, NULL, 0);
    return ct_ad_generic(ad, tangent ? &reals_of_tangent : &reals_of_cotangent,
                         (CtGenericCall){.range = range, .type = type, .ins = {x, dx}, .state = none});
}

static CtCore *vector_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                           CtCore *env) {
    (void)method, (void)type, (void)env;
    add_to_state(ad, seq, range, ct_ad_to_double(ad, range, ins[0]));
    return NULL;
}

static const CtGeneric reals_of_value = {.name = "toVector", .inputs = 1, .state = reals_type, .leaf = vector_leaf};

CtCore *ct_ad_poly_vector(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x) {
    CtCore *none = ct_core_array_lit(ad->p, range, ad->p->double_type, NULL, 0);
    return ct_ad_generic(ad, &reals_of_value, (CtGenericCall){.range = range, .type = type, .ins = {x}, .state = none});
}

static CtType *duals_type(CtAd *ad, CtMethod method) {
    return ct_core_type_array(ad->p, ct_ad_type(ad, method, ad->p->double_type));
}

static CtCore *duals_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                          CtCore *env) {
    (void)type, (void)env;
    add_to_state(ad, seq, range, ct_ad_widen(ad, method, range, ins[0]));
    return NULL;
}

static const CtGeneric duals = {.name = "duals", .inputs = 1, .dual = {true}, .state = duals_type, .leaf = duals_leaf};

CtCore *ct_ad_poly_duals(CtAd *ad, CtMethod method, CtSourceRange range, CtType *type, CtCore *d) {
    CtCore *none = ct_core_array_lit(ad->p, range, ct_ad_type(ad, method, ad->p->double_type), NULL, 0);
    return ct_ad_generic(ad, &duals,
                         (CtGenericCall){.method = method, .range = range, .type = type, .ins = {d}, .state = none});
}

static CtCore *fill_duals_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type,
                               CtCore *const *ins, CtCore *env) {
    (void)ins;
    CtCore *args[2] = {env, next_number(ad, seq, range)};
    return ct_ad_narrow(ad, method, range, type, ct_core_array(ad->p, range, ARRAY_INDEX, args, 2));
}

static const CtGeneric fill_duals = {.name = "fillDuals",
                                     .inputs = 1,
                                     .makes = true,
                                     .makes_dual = true,
                                     .env = duals_type,
                                     .state = int_type,
                                     .leaf = fill_duals_leaf};

CtCore *ct_ad_poly_fill_duals(CtAd *ad, CtMethod method, CtSourceRange range, CtType *type, CtCore *x, CtCore *all) {
    CtCore *start = ct_core_int(ad->p, range, 0);
    CtCore *both = ct_ad_generic(
        ad, &fill_duals,
        (CtGenericCall){.method = method, .range = range, .type = type, .ins = {x}, .env = all, .state = start});
    return ct_core_proj(ad->p, range, both, 0);
}

static CtCore *zero_leaf(CtAd *ad, CtMethod method, CtSeq *seq, CtSourceRange range, CtType *type, CtCore *const *ins,
                         CtCore *env) {
    (void)method, (void)seq, (void)ins, (void)env;
    return ct_core_real(ad->p, range, type, -0.0);
}

static const CtGeneric zeros = {.name = "zero", .inputs = 1, .makes = true, .leaf = zero_leaf};

CtCore *ct_ad_poly_zero(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x) {
    return ct_ad_generic(ad, &zeros, (CtGenericCall){.range = range, .type = type, .ins = {x}});
}

/* ---- bases ---- */

static CtCore *build(CtAd *ad, CtSourceRange range, CtCore *n, CtVar *i, CtCore *body) {
    CtCore *args[2] = {n, ct_core_lam(ad->p, range, NULL, &i, 1, body)};
    return ct_core_array(ad->p, range, ARRAY_BUILD, args, 2);
}

/* let n = count x 0 in build n (λi. fill x (build n (λj. if i == j then 1 else −0))) */
CtCore *ct_ad_poly_basis(CtAd *ad, CtSourceRange range, CtType *type, CtCore *x) {
    CtProgram *p = ad->p;
    CtSeq seq = ct_ad_seq(p, NULL);
    x = ct_ad_seq_name(&seq, "x", x);
    CtCore *n = ct_ad_seq_name(&seq, "n", ct_ad_poly_count(ad, range, type, x));
    CtVar *i = ct_core_var_new(p, "i", p->int_type), *j = ct_core_var_new(p, "j", p->int_type);
    CtCore *i_use = ct_core_var(p, range, i), *j_use = ct_core_var(p, range, j);
    CtCore *here = ct_core_prim2(p, range, PRIM_INT_EQ, i_use, j_use);
    CtCore *one = ct_core_double(p, range, 1.0), *none = ct_core_double(p, range, -0.0);
    CtCore *reals = build(ad, range, n, j, ct_core_if(p, range, here, one, none));
    CtCore *all = build(ad, range, n, i, ct_ad_poly_fill(ad, range, type, x, reals));
    return ct_ad_seq_close(&seq, all);
}
