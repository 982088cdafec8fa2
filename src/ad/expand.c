/* Expansion of derivative operators into the wrappers of their methods. Transformed globals are made on demand. */
#include "ad/internal.h"

CtAd *ct_ad_new(CtProgram *program, CtMethod reverse) {
    CtAd *ad = CT_NEW(program->context->arena, CtAd);
    ad->p = program;
    ad->arena = program->context->arena;
    ad->on_flow = reverse == METHOD_NATIVE;
    ad->reverse = ad->on_flow ? METHOD_TAPE : reverse;
    ct_ad_methods(ad->rules);
    return ad;
}

/* ---- globals ---- */

CtGlobal *ct_ad_new_global(CtAd *ad, const char *name, CtType *type, CtSourceRange range) {
    CtSymbols *symbols = &ad->p->context->symbols;
    CtSym unique = ct_intern_text(symbols, name);
    for (uint32_t i = 2; ct_map_has(&ad->names, ct_key(unique)); i++)
        unique = ct_intern_text(symbols, ct_format(ad->arena, "%s'%u", name, i));
    ct_map_set(ad->arena, &ad->names, ct_key(unique), ad);
    CtGlobal *global = ct_core_global_new(ad->p, unique->text, type, range);
    global->is_library = true;
    ct_map_set(ad->arena, &ad->expanded, ct_key(global), global);
    return global;
}

/* D[g], whose body is made later; for a constant D[c] = embed c. Methods are numbered from 1 in the map of a global. */
CtGlobal *ct_ad_global_later(CtAd *ad, CtMethod method, CtGlobal *global) {
    if (ct_is_discrete(global->type)) return global;
    CtGlobal *made = ct_map_get(&global->duals, (uint64_t)method + 1);
    if (made) return made;
    const char *name = ct_format(ad->arena, "%s.%s", global->name->text, ct_core_method_name(method));
    made = ct_ad_new_global(ad, name, ct_ad_type(ad, method, global->type), global->range);
    made->is_library = global->is_library;
    made->method = method;
    ct_map_set(ad->arena, &global->duals, (uint64_t)method + 1, made);
    if (ct_ad_is_function(global)) {
        made->origin = global;
        ct_push(ad->arena, &ad->pending, made);
    } else {
        CtCore *constant = ct_core_global(ad->p, global->range, global);
        made->body = ct_ad_poly_embed(ad, method, global->range, global->type, constant);
    }
    return made;
}

void ct_ad_work(CtAd *ad) {
    if (ad->busy) return;
    ad->busy = true;
    for (; ad->done < ad->pending.count; ad->done++) { /* in order, because an origin may be pending too */
        CtGlobal *made = ad->pending.items[ad->done];
        ct_ad_expand_global(ad, made->origin);
        CtTransform t = ct_ad_transform(ad, made->method);
        made->body = ct_ad_lambda(&t, ct_ad_on_core(ad, made->origin, made->origin->body));
    }
    ad->busy = false;
}

CtGlobal *ct_ad_global(CtAd *ad, CtMethod method, CtGlobal *global) {
    CtGlobal *made = ct_ad_global_later(ad, method, global);
    ct_ad_work(ad);
    return made;
}

CtGlobal *ct_ad_library_in(CtAd *ad, const char *module, const char *name) {
    CtGlobal *global = ad->p->library ? ad->p->library(ad->p->library_data, module, name) : NULL;
    if (!global) ct_error(ad->p->context, CT_E0901, CT_NO_RANGE, "the library has no `%s`", name);
    return global;
}

CtGlobal *ct_ad_library_of(CtAd *ad, CtMethod method, const char *name) {
    return ct_ad_library_in(ad, ct_ad_method_info(method)->library, name);
}

CtGlobal *ct_ad_library(CtAd *ad, const char *name) { return ct_ad_library_of(ad, ad->reverse, name); }

CtCore *ct_ad_call(CtAd *ad, CtSourceRange range, CtGlobal *function, CtCore *const *args, uint32_t count) {
    CtCore *name = ct_core_global(ad->p, range, function);
    return ct_core_app(ad->p, range, name, args, count);
}

/* ---- operators ---- */

typedef struct Expand {
    CtAd *ad;
    CtGlobal *inside;
    bool on_core; /* nothing is left to Flow */
} Expand;

static bool first_order(CtAd *ad, CtSourceRange range, CtType *type, const char *what) {
    if (!ct_core_type_has_fun(type)) return true;
    CtDiag *diag = ct_error(ad->p->context, CT_E0401, range, "%s is a function, or holds functions", what);
    ct_help(ad->p->context, diag,
            "apply the function first; numbers, tuples, data, lists and arrays are what derivatives are of");
    return false;
}

CtCore *ct_ad_derivative_of(CtAd *ad, CtDerivOp op, CtMethod method, CtSeq *seq, CtWrap *wrap) {
    const CtRules *rules = ad->rules[method];
    if (wrap->f->kind != CORE_GLOBAL) wrap->f = ct_ad_seq_name(seq, "f'", wrap->f);
    if (op == DERIV_JVP) return rules->jvp(ad, seq, wrap);
    CtCore *vjp = rules->vjp(ad, seq, wrap);
    return op == DERIV_VJP ? vjp : ct_ad_jacobian_from_vjp(ad, seq, wrap, vjp);
}

/* Binds f, x and dx to names in this order, with D[f] in place of f. */
static CtCore *wrapped(Expand *e, CtDerivOp op, CtMethod method, CtSourceRange range, CtCore *f, CtCore *x,
                       CtCore *dx) {
    CtAd *ad = e->ad;
    CtSeq seq = ct_ad_seq(ad->p, NULL);
    if (!ct_ad_movable(f)) f = ct_ad_seq_name(&seq, "f", f);
    CtWrap wrap = {.range = range, .s = f->type->parts[0], .t = f->type->parts[1]};
    wrap.x = ct_ad_seq_name(&seq, "x", x);
    wrap.dx = dx ? ct_ad_seq_name(&seq, "dx", dx) : NULL;
    const CtRules *rules = ad->rules[method];
    if (rules->derivative) return ct_ad_seq_close(&seq, rules->derivative(ad, op, range, f, wrap.x, wrap.dx));
    wrap.f = ct_ad_dual_of(ad, method, e->inside, f);
    return ct_ad_seq_close(&seq, ct_ad_derivative_of(ad, op, method, &seq, &wrap));
}

/* Flow differentiates; the operators stay. */
const CtRules ct_ad_native_rules = {.real = NULL};

bool ct_ad_is_on_flow(const CtAd *ad) { return ad->on_flow; }

static CtCore *for_flow(const Expand *e, CtCore *core) {
    CtCore **args = core->as.call.args;
    bool jacobian = core->as.call.of.deriv == DERIV_JACOBIAN;
    return jacobian ? ct_ad_jacobian_by_shape(e->ad, core->range, args[0], args[1]) : core;
}

/* The replacement after an error was reported. */
static CtCore *refused(CtAd *ad, CtCore *core) {
    return ct_core_fail(ad->p, core->range, core->type, CT_E0401, "there is no such derivative", NULL);
}

void ct_ad_only_rule(CtAd *ad, CtSourceRange place) {
    ad->one_rule = true;
    ad->only_rule = place;
}

static bool is_honoured(const CtAd *ad, const CtCore *core) {
    return !ad->one_rule || (ad->only_rule.source == core->range.source && ad->only_rule.start == core->range.start);
}

/* let f = …; rule = … in withVjp f rule x: these are evaluated once, whether or not a derivative is taken. */
static CtCore *with_names(CtAd *ad, CtCore *core) {
    CtSeq seq = ct_ad_seq(ad->p, NULL);
    CtCore *args[4];
    uint32_t count = core->as.call.count;
    for (uint32_t i = 0; i < count; i++) {
        args[i] = core->as.call.args[i];
        if (i + 1 < count && !ct_ad_movable(args[i])) args[i] = ct_ad_seq_name(&seq, i == 0 ? "f" : "rule", args[i]);
    }
    return ct_ad_seq_close(&seq, ct_core_deriv(ad->p, core->range, core->as.call.of.deriv, args, count));
}

static CtCore *taylor(Expand *e, CtCore *core) {
    CtAd *ad = e->ad;
    CtSeq seq = ct_ad_seq(ad->p, NULL);
    CtCore *f = core->as.call.args[0];
    if (!ct_ad_movable(f)) f = ct_ad_seq_name(&seq, "f", f);
    CtWrap wrap = {.range = core->range, .s = f->type->parts[0], .t = f->type->parts[1]};
    wrap.x = ct_ad_seq_name(&seq, "x", core->as.call.args[1]);
    CtCore *n = ct_ad_seq_name(&seq, "n", core->as.call.args[2]);
    wrap.f = ct_ad_dual_of(ad, METHOD_TAYLOR, e->inside, f);
    if (wrap.f->kind != CORE_GLOBAL) wrap.f = ct_ad_seq_name(&seq, "f'", wrap.f);
    return ct_ad_seq_close(&seq, ad->rules[METHOD_TAYLOR]->taylor(ad, &seq, &wrap, n));
}

bool ct_ad_runs_again(const CtAd *ad) {
    const CtRules *rules = ad->rules[ad->reverse];
    return ct_ad_is_on_flow(ad) || rules->runs_again || (rules->reverse != NULL && rules->reverse->again != NULL);
}

/* An array of Doubles is the array of its reals. */
static bool is_vector(const CtAd *ad, const CtCore *x) {
    return x->type == ct_core_type_array(ad->p, ad->p->double_type);
}

static CtCore *operator(Expand *e, CtCore *core) {
    CtAd *ad = e->ad;
    CtCore **args = core->as.call.args;
    CtDerivOp op = core->as.call.of.deriv;
    switch (op) {
    case DERIV_STOP:
        if (!first_order(ad, core->range, core->type, "the argument of stopGradient")) return refused(ad, core);
        return core;
    case DERIV_DELAY:
    case DERIV_FORCE:
    case DERIV_KNOT:
    case DERIV_ATTEMPT: return core;
    case DERIV_CHECKPOINT:
        if (!first_order(ad, core->range, args[1]->type, "the argument of a checkpointed function") ||
            !first_order(ad, core->range, core->type, "the result of a checkpointed function"))
            return refused(ad, core);
        return ct_ad_runs_again(ad) ? core : ct_ad_unchecked(ad->p, core);
    case DERIV_WITH_VJP:
    case DERIV_WITH_JVP:
    case DERIV_WITH_RULES: {
        CtCore **x = &args[core->as.call.count - 1];
        if (!first_order(ad, core->range, (*x)->type, "the argument of a function with a rule for its derivative") ||
            !first_order(ad, core->range, core->type, "the result of a function with a rule for its derivative"))
            return refused(ad, core);
        return is_honoured(ad, core) ? with_names(ad, core) : ct_core_app(ad->p, core->range, args[0], x, 1);
    }
    case DERIV_BASIS:
        if (!first_order(ad, core->range, args[0]->type, "the result")) return refused(ad, core);
        return ct_ad_poly_basis(ad, core->range, args[0]->type, args[0]);
    case DERIV_REALS:
        if (!first_order(ad, core->range, args[0]->type, "the argument of toVector")) return refused(ad, core);
        return is_vector(ad, args[0]) ? args[0] : ct_ad_poly_vector(ad, core->range, args[0]->type, args[0]);
    case DERIV_FILL:
        if (!first_order(ad, core->range, args[0]->type, "the argument of fromVector")) return refused(ad, core);
        return is_vector(ad, args[0]) ? args[1] : ct_ad_poly_fill(ad, core->range, args[0]->type, args[0], args[1]);
    case DERIV_TAYLOR:
        if (!first_order(ad, core->range, args[0]->type->parts[1], "the result of the differentiated function"))
            return refused(ad, core);
        return taylor(e, core);
    case DERIV_JVP:
    case DERIV_VJP:
    case DERIV_JACOBIAN: {
        CtType *fun = args[0]->type;
        if (!first_order(ad, core->range, fun->parts[0], "the argument of the differentiated function") ||
            !first_order(ad, core->range, fun->parts[1], "the result of the differentiated function"))
            return refused(ad, core);
        if (ad->on_flow && !e->on_core) return for_flow(e, core);
        if (op != DERIV_JVP) return wrapped(e, op, ad->reverse, core->range, args[0], args[1], NULL);
        bool asked = ad->asked && core->range.source == ad->asked;
        CtMethod method = asked || ad->reverse == METHOD_BULK ? ad->reverse : METHOD_FORWARD;
        CtSourceRange range = asked && method != METHOD_BULK ? ad->asked_place : core->range;
        return wrapped(e, op, method, range, args[0], args[1], args[2]);
    }
    }
    return core;
}

/* Inner derivatives come first. Their result is simplified before an outer derivative is taken: the derivative of a
 * constant function must vanish, and the transformations would not discover that it is constant. */
static CtCore *expand(void *data, CtCore *core) {
    Expand *e = data;
    CtCore *inner = ct_core_map(e->ad->p, core, expand, e);
    if (inner->kind != CORE_DERIV) return inner;
    CtCore **args = inner->as.call.args;
    if (inner != core && args[0]->kind == CORE_LAM) args[0] = ct_core_simplify_term(e->ad->p, args[0]);
    return operator(e, inner);
}

CtCore *ct_ad_on_core(CtAd *ad, CtGlobal *inside, CtCore *core) {
    Expand e = {.ad = ad, .inside = inside, .on_core = true};
    return ad->on_flow ? expand(&e, core) : core;
}

/* Whether a derivative is in a term. It may be a chain of definitions too long for recursion. */
static bool has_derivative(CtArena *arena, CtCore *core) {
    CtCoreList work = {0};
    ct_push(arena, &work, core);
    while (work.count > 0) {
        CtCore *one = work.items[--work.count];
        if (one->kind == CORE_DERIV) return true;
        ct_core_children(arena, one, &work);
    }
    return false;
}

void ct_ad_expand_global(CtAd *ad, CtGlobal *global) {
    if (ct_map_has(&ad->expanded, ct_key(global)) || !global->body) return;
    ct_map_set(ad->arena, &ad->expanded, ct_key(global), global);
    ct_map_set(ad->arena, &ad->names, ct_key(global->name), ad);
    if (!has_derivative(ad->arena, global->body)) return;
    Expand e = {.ad = ad, .inside = global};
    CtCore *body = expand(&e, global->body);
    if (body != global->body) global->body = ct_core_simplify_term(ad->p, body);
}

void ct_ad_expand(CtAd *ad) {
    for (uint32_t i = 0; i < ad->p->globals.count; i++)
        ct_map_set(ad->arena, &ad->names, ct_key(ad->p->globals.items[i]->name), ad);
    for (uint32_t i = 0; i < ad->p->globals.count; i++) ct_ad_expand_global(ad, ad->p->globals.items[i]);
    ct_ad_work(ad);
}

/* ---- what the command asks for ---- */

void ct_ad_jvp_in_reverse(CtAd *ad, uint32_t source, CtSourceRange place) {
    if (ad->on_flow) return; /* it has both modes */
    ad->asked = source;
    ad->asked_place = place;
}

CtCore *ct_ad_jvp_by(CtAd *ad, CtMethod method, CtSourceRange range, CtCore *f, CtCore *x, CtCore *dx) {
    Expand e = {.ad = ad};
    CtCore *made = wrapped(&e, DERIV_JVP, method, range, f, x, dx);
    ct_ad_work(ad);
    return made;
}

CtCore *ct_ad_vjp_by(CtAd *ad, CtMethod method, CtSourceRange range, CtCore *f, CtCore *x) {
    Expand e = {.ad = ad};
    CtCore *made = wrapped(&e, DERIV_VJP, method, range, f, x, NULL);
    ct_ad_work(ad);
    return made;
}

CtCore *ct_ad_adjoints_by(CtAd *ad, CtSourceRange range, CtCore *f, CtCore *x) {
    ad->in_order = true;
    CtSeq seq = ct_ad_seq(ad->p, NULL);
    CtWrap wrap = {.range = range, .s = f->type->parts[0], .t = f->type->parts[1], .x = x};
    wrap.f = ct_ad_seq_name(&seq, "f'", ct_ad_dual_of(ad, METHOD_DELTA, NULL, f));
    CtCore *made = ct_ad_seq_close(&seq, ct_ad_reverse_adjoints(ad, &seq, &wrap));
    ct_ad_work(ad);
    return made;
}

CtGlobal *ct_ad_trace(CtAd *ad, CtMethod method, CtGlobal *function) {
    if (!ad->rules[method]->trace) return NULL;
    const char *key_text = ct_format(ad->arena, "trace %u %u", (unsigned)method, function->id);
    CtSym key = ct_intern_text(&ad->p->context->symbols, key_text);
    CtGlobal *made = ct_map_get(&ad->generics, ct_key(key));
    if (made) return made;
    CtType *type = function->type;
    ct_ad_expand_global(ad, function);
    CtVar *x = ct_core_var_new(ad->p, "x", type->parts[0]);
    CtSeq seq = ct_ad_seq(ad->p, NULL);
    CtWrap wrap = {.range = function->range, .s = type->parts[0], .t = type->parts[1]};
    wrap.x = ct_core_var(ad->p, function->range, x);
    CtCore *f = ct_core_global(ad->p, function->range, function);
    wrap.f = ct_ad_seq_name(&seq, "f'", ct_ad_dual_of(ad, method, NULL, f));
    CtCore *length = ad->rules[method]->trace(ad, &seq, &wrap);
    CtCore *body = ct_core_lam(ad->p, function->range, "trace", &x, 1, ct_ad_seq_close(&seq, length));
    const char *name = ct_format(ad->arena, "trace.%s", function->name->text);
    made = ct_ad_new_global(ad, name, body->type, function->range);
    made->body = body;
    ct_map_set(ad->arena, &ad->generics, ct_key(key), made);
    ct_ad_work(ad);
    return made;
}
