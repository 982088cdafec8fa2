/* Conversion between structures and cotangents, by recursion over types, and the wrapper around a transformed function.
 *
 *   cotangent_A : (A, A) → D[A]₂    converts a cotangent in the structure of the result to a Cot
 *   gradient_A  : (A, D[A]₂) → A    converts a Cot to the structure of the point; discrete parts are the point's
 *
 * Each compound type has its own two functions. */
#include "ad/chad/chad.h"

typedef struct Shape {
    CtChad c; /* the state that all files share */
    CtSourceRange range;
    bool inward; /* true: cotangent; false: gradient */
    bool raw;    /* a gradient whose structural zeros remain −0.0 */
    const char *mismatch;
} Shape;

static CtCore *at_type(Shape *s, CtSeq *seq, CtType *type, CtCore *a, CtCore *b);

static CtCore *array(Shape *s, CtArrayOp op, CtCore *x, CtCore *y, CtCore *z) {
    CtCore *args[3] = {x, y, z};
    return ct_core_array(s->c.p, s->range, op, args, z ? 3 : y ? 2 : 1);
}

static CtCore *number(Shape *s, uint32_t n) { return ct_core_int(s->c.p, s->range, n); }

static CtCore *mismatch(Shape *s, CtType *type) {
    return ct_core_fail(s->c.p, s->range, type, CT_E0504, s->mismatch, NULL);
}

static CtType *second_type(Shape *s, CtType *type) { return s->inward ? type : ct_chad_cotangent(s->c.ad, type); }
static CtType *result_type(Shape *s, CtType *type) { return s->inward ? ct_chad_cotangent(s->c.ad, type) : type; }

/* Converts one component of a product, given that component of both. An inward result is boxed as a Cot. */
static CtCore *part(Shape *s, CtSeq *seq, CtType *type, CtCore *a, CtCore *b) {
    if (ct_is_discrete(type)) return s->inward ? ct_chad_zero(s->c.ad, s->range) : a;
    if (s->inward) return ct_chad_box(&s->c, s->range, type, at_type(s, seq, type, a, b));
    return at_type(s, seq, type, a, ct_ad_seq_name(seq, "d", ct_chad_unbox(&s->c, s->range, type, b)));
}

static CtVar **fresh(Shape *s, const char *name, CtType *const *types, uint32_t count, CtCore **uses) {
    CtVar **vars = CT_NEW_ARRAY(s->c.ad->arena, CtVar *, count);
    for (uint32_t i = 0; i < count; i++) {
        vars[i] = ct_core_var_new(s->c.p, name, types[i]);
        uses[i] = ct_core_var(s->c.p, s->range, vars[i]);
    }
    return vars;
}

/* Converts all components of a tuple or constructor; `b`: the components of the second structure, or the Cot of all. */
static CtCore **parts(Shape *s, CtSeq *seq, CtType *const *types, uint32_t count, CtCore *const *a, CtCore *const *b,
                      CtCore *cot) {
    CtCore **made = CT_NEW_ARRAY(s->c.ad->arena, CtCore *, count);
    CtType *cot_type = ct_chad_cot(s->c.ad);
    CtCore *ds =
        cot ? ct_ad_seq_name(seq, "ds", ct_chad_elements(&s->c, s->range, cot_type, number(s, count), cot)) : NULL;
    for (uint32_t i = 0; i < count; i++) {
        CtCore *other = b ? b[i] : ct_is_discrete(types[i]) ? NULL : array(s, ARRAY_INDEX, ds, number(s, i), NULL);
        made[i] = ct_ad_seq_name(seq, "a", part(s, seq, types[i], a[i], other));
    }
    return made;
}

static CtCore *dense(Shape *s, CtCore *const *cots, uint32_t count) {
    CtCore *items = ct_core_array_lit(s->c.p, s->range, ct_chad_cot(s->c.ad), cots, count);
    return ct_chad_make(s->c.ad, s->range, "Dense", &items, 1);
}

static CtCore *tuple(Shape *s, CtSeq *seq, CtType *type, CtCore *a, CtCore *b) {
    CtCore **as = CT_NEW_ARRAY(s->c.ad->arena, CtCore *, type->count);
    CtCore **bs = CT_NEW_ARRAY(s->c.ad->arena, CtCore *, type->count);
    CtVar **vars = fresh(s, "a", type->parts, type->count, as);
    ct_ad_seq_unpack(seq, s->range, vars, type->count, a);
    if (s->inward) {
        vars = fresh(s, "b", type->parts, type->count, bs);
        ct_ad_seq_unpack(seq, s->range, vars, type->count, b);
        return dense(s, parts(s, seq, type->parts, type->count, as, bs, NULL), type->count);
    }
    CtCore **made = parts(s, seq, type->parts, type->count, as, NULL, b);
    return ct_core_tuple(s->c.p, s->range, made, type->count);
}

/* zipWith (λa b. …) a b */
static CtCore *zipped(Shape *s, CtType *element, CtCore *a, CtCore *b) {
    CtVar *vars[2] = {ct_core_var_new(s->c.p, "a", element), ct_core_var_new(s->c.p, "b", b->type->parts[0])};
    CtCore *x = ct_core_var(s->c.p, s->range, vars[0]), *y = ct_core_var(s->c.p, s->range, vars[1]);
    CtSeq seq = ct_ad_seq(s->c.p, NULL);
    CtCore *made = at_type(s, &seq, element, x, y);
    CtCore *f = ct_core_lam(s->c.p, s->range, NULL, vars, 2, ct_ad_seq_close(&seq, made));
    return array(s, ARRAY_ZIP_WITH, f, a, b);
}

static CtCore *elements(Shape *s, CtSeq *seq, CtType *type, CtCore *a, CtCore *b) {
    CtType *element = type->parts[0];
    CtCore *n = ct_ad_seq_name(seq, "n", array(s, ARRAY_LENGTH, a, NULL, NULL));
    if (!s->inward) {
        CtCore *ds = ct_ad_seq_name(seq, "ds", ct_chad_elements(&s->c, s->range, element, n, b));
        return zipped(s, element, a, array(s, ARRAY_SLICE, number(s, 0), n, ds));
    }
    CtCore *m = array(s, ARRAY_LENGTH, b, NULL, NULL);
    CtCore *same = ct_core_prim2(s->c.p, s->range, PRIM_INT_EQ, n, m);
    CtCore *yes = ct_chad_dense(&s->c, s->range, element, zipped(s, element, a, b));
    return ct_core_if(s->c.p, s->range, same, yes, mismatch(s, yes->type));
}

/* case a of C ⟨a⟩ → case b of C ⟨b⟩ → …; _ → a failure: the shapes differ */
static CtCore *constructor(Shape *s, CtType *type, CtCon *con, CtCore *b, CtVar ***vars) {
    CtCore **as = CT_NEW_ARRAY(s->c.ad->arena, CtCore *, con->count);
    CtCore **bs = CT_NEW_ARRAY(s->c.ad->arena, CtCore *, con->count);
    CtSeq seq = ct_ad_seq(s->c.p, NULL);
    CtCore *tag[2] = {number(s, con->tag), b};
    *vars = fresh(s, "a", con->fields, con->count, as);
    if (!s->inward) {
        CtCore *fields = ct_ad_library_call(s->c.ad, s->range, "cast", tag, 2);
        CtCore **made = parts(s, &seq, con->fields, con->count, as, NULL, con->count > 0 ? fields : NULL);
        return ct_ad_seq_close(&seq, ct_core_con(s->c.p, s->range, con, made, con->count));
    }
    CtCase same = {con, fresh(s, "b", con->fields, con->count, bs), NULL};
    tag[1] = dense(s, parts(s, &seq, con->fields, con->count, as, bs, NULL), con->count);
    same.body = ct_ad_seq_close(&seq, ct_chad_make(s->c.ad, s->range, "Inj", tag, 2));
    CtCore *otherwise = type->data->con_count > 1 ? mismatch(s, same.body->type) : NULL;
    return ct_core_case(s->c.p, s->range, same.body->type, b, &same, 1, otherwise);
}

static CtCore *data(Shape *s, CtType *type, CtCore *a, CtCore *b) {
    uint32_t count = type->data->con_count;
    CtCase *cases = CT_NEW_ARRAY(s->c.ad->arena, CtCase, count);
    for (uint32_t i = 0; i < count; i++) {
        cases[i].con = &type->data->cons[i];
        cases[i].body = constructor(s, type, cases[i].con, b, &cases[i].vars);
    }
    return ct_core_case(s->c.p, s->range, result_type(s, type), a, cases, count, NULL);
}

/* The function at a compound type. One that can fail reports the source range it was called from, so there is one for
 * each. */
static CtGlobal *function(Shape *s, CtType *type) {
    CtAd *ad = s->c.ad;
    const char *name = s->inward ? "cotangent" : s->raw ? "row" : "gradient";
    CtText text = ct_text(ad->arena);
    ct_text_printf(&text, "chad %s %u ", name, (unsigned)type->id);
    if (s->inward) ct_text_printf(&text, "%u %u", (unsigned)s->range.source, (unsigned)s->range.start);
    CtSym key = ct_intern_text(&s->c.p->context->symbols, text.data);
    CtGlobal *global = ct_map_get(&ad->generics, ct_key(key));
    if (global) return global;
    CtVar *params[2] = {ct_core_var_new(s->c.p, "a", type), ct_core_var_new(s->c.p, "b", second_type(s, type))};
    CtCore *a = ct_core_var(s->c.p, s->range, params[0]), *b = ct_core_var(s->c.p, s->range, params[1]);
    CtText shown = ct_text(ad->arena);
    ct_text_printf(&shown, "%s@", name);
    ct_core_type_print(&shown, type);
    CtType *types[2] = {params[0]->type, params[1]->type};
    global = ct_ad_new_global(ad, shown.data, ct_core_type_fun(s->c.p, types, 2, result_type(s, type)), s->range);
    ct_map_set(ad->arena, &ad->generics, ct_key(key), global);
    CtSeq seq = ct_ad_seq(s->c.p, NULL);
    CtCore *body = type->kind == TYPE_TUPLE   ? tuple(s, &seq, type, a, b)
                   : type->kind == TYPE_ARRAY ? elements(s, &seq, type, a, b)
                                              : data(s, type, a, b);
    global->body = ct_core_lam(s->c.p, s->range, name, params, 2, ct_ad_seq_close(&seq, body));
    return global;
}

static CtCore *at_type(Shape *s, CtSeq *seq, CtType *type, CtCore *a, CtCore *b) {
    (void)seq;
    if (ct_is_discrete(type)) return s->inward ? ct_chad_zero(s->c.ad, s->range) : a;
    if (ct_ad_is_real(type)) {
        if (s->inward) return ct_ad_to_double(s->c.ad, s->range, b);
        CtCore *real = ct_ad_from_double(s->c.ad, s->range, type, b);
        return s->raw ? real : ct_ad_normal(s->c.ad, s->range, real);
    }
    CtCore *args[2] = {a, b};
    return ct_ad_call(s->c.ad, s->range, function(s, type), args, 2);
}

static CtCore *shaped(Shape *s, CtType *type, CtCore *a, CtCore *b) {
    CtSeq seq = ct_ad_seq(s->c.p, NULL);
    CtCore *made = at_type(s, &seq, type, a, b);
    return ct_ad_seq_close(&seq, made);
}

CtCore *ct_chad_shape(CtAd *ad, CtSourceRange range, const char *mismatch, CtType *type, CtCore *a, CtCore *b) {
    Shape s = {.c = {.ad = ad, .p = ad->p}, .range = range, .mismatch = mismatch};
    s.inward = mismatch != NULL;
    s.raw = mismatch == NULL; /* a rule multiplies structural zeros, too, and nothing comes of that */
    return shaped(&s, type, a, b);
}

/* What the wrapper gives of a Cot of the argument. */
static CtCore *cotangent_of(CtAd *ad, const CtWrap *wrap, CtCore *d) {
    Shape s = {.c = {.ad = ad, .p = ad->p}, .range = wrap->range, .raw = wrap->is_factor};
    return shaped(&s, wrap->s, wrap->x, d);
}

/* ---- the wrapper ---- */

/* y' d in an environment without other cells: returns the cotangent of the argument. */
static CtCore *argument_cotangent(CtAd *ad, CtSeq *seq, CtSourceRange range, CtCore *backpropagator, CtCore *d) {
    CtChad c = {.ad = ad, .p = ad->p, .rung = ct_chad_rung(ad->reverse)};
    if (c.rung.local && !ct_chad_calls_apart(&c)) {
        c.base = ct_core_var_new(ad->p, "base", ad->p->int_type);
        ct_ad_seq_let(seq, range, c.base, ct_core_int(ad->p, range, 0));
        CtCore *cells[2] = {ct_chad_zero(ad, range), ct_chad_zero(ad, range)};
        seq->state = ct_core_var_new(ad->p, "env", ct_chad_environment_type(ad));
        ct_ad_seq_let(seq, range, seq->state, ct_core_array_lit(ad->p, range, ct_chad_cot(ad), cells, 2));
    }
    CtCalled called = ct_chad_call(&c, seq, range, backpropagator, d, 0, 1);
    return ct_chad_left(&c, seq, range, &called, 1);
}

/* let (y, y') = D[f] x in (y, λdy. let env = y' (cotangent_T y dy), run in an environment with only its own cells, in
 * gradient_S x (env ! 1)) */
CtCore *ct_chad_vjp(CtAd *ad, CtSeq *seq, const CtWrap *wrap) {
    CtProgram *p = ad->p;
    CtSourceRange range = wrap->range;
    CtCore *call = ct_core_app(p, range, wrap->f, &wrap->x, 1);
    CtVar *dy = ct_core_var_new(p, "dy", wrap->t);
    CtSeq inner = ct_ad_seq(p, NULL);
    if (ct_is_discrete(wrap->t) || ct_is_discrete(wrap->s)) {
        CtCore *y = ct_is_discrete(wrap->t) ? call : ct_core_proj(p, range, call, 0);
        CtCore *d = ct_is_discrete(wrap->s)  ? NULL
                    : ct_ad_is_real(wrap->s) ? ct_core_double(p, range, -0.0)
                                             : ct_chad_zero(ad, range);
        CtCore *dx = d ? cotangent_of(ad, wrap, d) : wrap->x;
        y = ct_ad_seq_name(seq, "y", y);
        return ct_core_pair(p, range, y, ct_core_lam(p, range, "pullback", &dy, 1, dx));
    }
    CtCore *parts[2];
    ct_ad_seq_open(seq, "y", "y'", call, parts);
    CtCore *d = ct_ad_seq_name(&inner, "d",
                               ct_chad_shape(ad, range, "the cotangent does not have the shape of the result", wrap->t,
                                             parts[0], ct_core_var(p, range, dy)));
    CtCore *cot = argument_cotangent(ad, &inner, range, parts[1], d);
    CtChad c = {.ad = ad, .p = p};
    CtCore *dx = cotangent_of(ad, wrap, ct_chad_unbox(&c, range, wrap->s, cot));
    CtCore *pullback = ct_core_lam(p, range, "pullback", &dy, 1, ct_ad_seq_close(&inner, dx));
    return ct_core_pair(p, range, parts[0], pullback);
}

CtType *ct_chad_ad_cotangent_type(CtAd *ad, CtMethod method, CtType *type) {
    if (ad->rules[method]->vjp != ct_chad_vjp) return NULL;
    return ct_is_discrete(type) ? ad->p->unit_type : ct_chad_cotangent(ad, type);
}

CtCore *ct_chad_jvp(CtAd *ad, CtSeq *seq, const CtWrap *wrap) { return ct_ad_jvp_from_vjp(ad, seq, wrap, ad->reverse); }
