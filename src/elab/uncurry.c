/* Uncurrying of function parameters. A function value takes its arguments one by one, so that a fold that calls its
 * parameter f as f x y would make a closure for every element. If every use of a parameter in a global function calls
 * it with at least k ≥ 2 arguments, or passes it to another parameter that is uncurried, then the parameter gets the
 * type of a function of k parameters, and callers pass such a function. The decision is made together for all globals
 * that one run of the worklist has made, and is final.
 */
#include "elab/internal.h"

typedef struct Param {
    Spec *spec;
    uint32_t index;
    CtVar *var, *fresh; /* the curried variable; the variable that replaces it, or NULL */
    uint32_t k;         /* least number of arguments of the calls seen so far; below 2: stays curried */
    CT_VEC(struct Param *) handed_to;
} Param;

typedef struct Walk {
    CtElab *el;
    CtMap params; /* CtVar -> Param */
    CtMap specs;  /* CtGlobal -> Spec, for the globals under consideration */
    CtMap firsts; /* Spec -> Param of index 0 in `all` */
    CT_VEC(Param *) all;
} Walk;

enum { NEVER_CALLED = UINT32_MAX };

/* The number of arguments that a value of the curried type can be applied to. */
static uint32_t arrows(const CtType *type) {
    uint32_t count = 0;
    for (; type->kind == TYPE_FUN && type->count == 2; type = type->parts[1]) count++;
    return count;
}

static void add_spec(Walk *walk, Spec *spec) {
    CtCore *body = spec->global->body;
    if (spec->arity == 0 || body == NULL || body->kind != CORE_LAM || body->as.lam->count != spec->arity) return;
    ct_map_set(walk->el->arena, &walk->specs, ct_key(spec->global), spec);
    for (uint32_t i = 0; i < spec->arity; i++) {
        Param *param = CT_NEW(walk->el->arena, Param);
        param->spec = spec;
        param->index = i;
        param->var = body->as.lam->params[i];
        param->k = arrows(param->var->type) < 2 ? 0 : NEVER_CALLED;
        if (i == 0) ct_map_set(walk->el->arena, &walk->firsts, ct_key(spec), (void *)(uintptr_t)walk->all.count);
        ct_push(walk->el->arena, &walk->all, param);
        if (param->k > 0) ct_map_set(walk->el->arena, &walk->params, ct_key(param->var), param);
    }
}

static Param *param_of(const Walk *walk, const Spec *spec, uint32_t index) {
    uintptr_t first = (uintptr_t)ct_map_get(&walk->firsts, ct_key(spec));
    return walk->all.items[first + index];
}

/* Flattens f a b c, nested calls with one argument each: returns the head f, and the arguments from left to right. */
static CtCore *chain(CtElab *el, CtCore *core, CtCore ***args, uint32_t *count) {
    uint32_t n = 0;
    CtCore *head = core;
    for (; head->kind == CORE_APP && head->as.call.count == 1; head = head->as.call.of.fun) n++;
    *count = n;
    *args = CT_NEW_ARRAY(el->arena, CtCore *, n);
    for (; n > 0; core = core->as.call.of.fun) (*args)[--n] = core->as.call.args[0];
    return head;
}

/* ---- looking ---- */

static CtCore *look(void *data, CtCore *core);

static void lower(Param *param, uint32_t k) {
    if (k < param->k) param->k = k;
}

static void look_at_call(Walk *walk, const Spec *spec, const CtCore *call) {
    for (uint32_t i = 0; i < call->as.call.count; i++) {
        CtCore *arg = call->as.call.args[i];
        Param *own = arg->kind == CORE_VAR ? ct_map_get(&walk->params, ct_key(arg->as.var)) : NULL;
        if (own != NULL)
            ct_push(walk->el->arena, &own->handed_to, param_of(walk, spec, i));
        else
            look(walk, arg);
    }
}

static CtCore *look_once(Walk *walk, CtCore *core) {
    if (core->kind == CORE_VAR) {
        Param *param = ct_map_get(&walk->params, ct_key(core->as.var));
        if (param != NULL) lower(param, 0);
    } else if (core->kind == CORE_GLOBAL) {
        const Spec *spec = ct_map_get(&walk->specs, ct_key(core->as.global));
        for (uint32_t i = 0; spec != NULL && i < spec->arity; i++) lower(param_of(walk, spec, i), 0);
    } else if (core->kind == CORE_APP) {
        CtCore **args;
        uint32_t count;
        CtCore *head = chain(walk->el, core, &args, &count);
        Param *param = head->kind == CORE_VAR ? ct_map_get(&walk->params, ct_key(head->as.var)) : NULL;
        CtCore *fun = core->as.call.of.fun;
        const Spec *spec = fun->kind == CORE_GLOBAL ? ct_map_get(&walk->specs, ct_key(fun->as.global)) : NULL;
        if (param != NULL) {
            lower(param, count);
            for (uint32_t i = 0; i < count; i++) look(walk, args[i]);
        } else if (spec != NULL && spec->arity == core->as.call.count) {
            look_at_call(walk, spec, core);
        } else {
            ct_core_map(walk->el->program, core, look, walk);
        }
    } else {
        ct_core_map(walk->el->program, core, look, walk);
    }
    return core;
}

/* Collects the uses of parameters in a term. Chains of bindings are walked in a loop and need no deep stack. */
static CtCore *look(void *data, CtCore *core) {
    Walk *walk = data;
    CtCore *at = core;
    for (;;) {
        if (at->kind == CORE_LET || at->kind == CORE_UNPACK) {
            look(walk, at->as.let.rhs);
            at = at->as.let.body;
        } else if (at->kind == CORE_LETREC) {
            for (uint32_t i = 0; i < at->as.letrec.count; i++) look(walk, at->as.letrec.binds[i].lam);
            at = at->as.letrec.body;
        } else {
            look_once(walk, at);
            return core;
        }
    }
}

/* The fixed point of `k`: a parameter takes no more arguments at once than any parameter that it is passed to. */
static void settle(Walk *walk) {
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < walk->all.count; i++) {
            Param *param = walk->all.items[i];
            for (uint32_t j = 0; j < param->handed_to.count; j++) {
                uint32_t k = param->handed_to.items[j]->k;
                changed |= k < param->k;
                lower(param, k);
            }
        }
    }
    for (uint32_t i = 0; i < walk->all.count; i++)
        if (walk->all.items[i]->k == NEVER_CALLED) walk->all.items[i]->k = 0;
}

/* ---- rewriting ---- */

static CtCore *rewrite(void *data, CtCore *core);

static Param *uncurried(const Walk *walk, const CtCore *core) {
    Param *param = core->kind == CORE_VAR ? ct_map_get(&walk->params, ct_key(core->as.var)) : NULL;
    return param != NULL && param->k >= 2 ? param : NULL;
}

static CtType *nary_type(CtElab *el, const CtType *type, uint32_t k) {
    CtType **params = CT_NEW_ARRAY(el->arena, CtType *, k);
    for (uint32_t i = 0; i < k; i++) {
        params[i] = type->parts[0];
        type = type->parts[1];
    }
    return ct_core_type_fun(el->program, params, k, (CtType *)type);
}

/* Eta-reduction: λx y. f x y becomes f when f is a variable that takes these arguments at once. */
static CtCore *eta_reduced(CtCore *core) {
    if (core->kind != CORE_LAM || core->as.lam->count < 2) return core;
    const CtLam *lam = core->as.lam;
    const CtCore *body = lam->body;
    if (body->kind != CORE_APP || body->as.call.count != lam->count || body->as.call.of.fun->kind != CORE_VAR)
        return core;
    for (uint32_t i = 0; i < lam->count; i++)
        if (body->as.call.args[i]->kind != CORE_VAR || body->as.call.args[i]->as.var != lam->params[i]) return core;
    for (uint32_t i = 0; i < lam->count; i++)
        if (body->as.call.of.fun->as.var == lam->params[i]) return core;
    return body->as.call.of.fun;
}

/* λx. λy. e becomes λx y. e, with k parameters; NULL when the term is not k nested λs of one parameter. */
static CtCore *merged(Walk *walk, CtCore *core, uint32_t k) {
    CtProgram *p = walk->el->program;
    CtVar **params = CT_NEW_ARRAY(walk->el->arena, CtVar *, k);
    CtCore *body = core;
    for (uint32_t i = 0; i < k; i++) {
        if (body->kind != CORE_LAM || body->as.lam->count != 1) return NULL;
        params[i] = body->as.lam->params[0];
        body = body->as.lam->body;
    }
    return ct_core_lam(p, core->range, core->as.lam->name, params, k, rewrite(walk, body));
}

/* Calls an uncurried parameter: it takes the first k arguments at once, its result takes the rest one by one. */
static CtCore *call_param(Walk *walk, CtSourceRange range, const Param *param, CtCore **args, uint32_t count) {
    CtCore *core =
        ct_core_app(walk->el->program, range, ct_core_var(walk->el->program, range, param->fresh), args, param->k);
    for (uint32_t i = param->k; i < count; i++) core = ct_elab_apply_one(walk->el, range, core, args[i]);
    return core;
}

/* Converts a function value, which is curried or an uncurried parameter, to a function of k parameters. */
static CtCore *convert(Walk *walk, CtCore *value, uint32_t k) {
    CtProgram *p = walk->el->program;
    CtSourceRange range = value->range;
    Param *own = uncurried(walk, value);
    if (own != NULL && own->k == k) return ct_core_var(p, range, own->fresh);
    CtCore *lam = merged(walk, value, k);
    if (lam != NULL) return eta_reduced(lam);
    CtType *type = value->type;
    CtVar **params = CT_NEW_ARRAY(walk->el->arena, CtVar *, k);
    CtCore **args = CT_NEW_ARRAY(walk->el->arena, CtCore *, k);
    for (uint32_t i = 0; i < k; i++) {
        params[i] = ct_core_var_new(p, "x", type->parts[0]);
        args[i] = ct_core_var(p, range, params[i]);
        type = type->parts[1];
    }
    if (own != NULL) return ct_core_lam(p, range, NULL, params, k, call_param(walk, range, own, args, k));
    Lets lets = {0};
    CtCore *core = ct_elab_atom(walk->el, range, "f", rewrite(walk, value), &lets);
    for (uint32_t i = 0; i < k; i++) core = ct_elab_apply_one(walk->el, range, core, args[i]);
    core = ct_core_lam(p, range, NULL, params, k, core);
    return ct_elab_wrap(walk->el, &lets, core);
}

static CtCore *rewrite_call(Walk *walk, const Spec *spec, CtCore *core) {
    uint32_t count = core->as.call.count;
    CtCore **args = CT_NEW_ARRAY(walk->el->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = spec->uncurried[i];
        args[i] = k >= 2 ? convert(walk, core->as.call.args[i], k) : rewrite(walk, core->as.call.args[i]);
    }
    CtCore *fun = ct_core_global(walk->el->program, core->range, spec->global);
    return ct_core_app(walk->el->program, core->range, fun, args, count);
}

static CtCore *rewrite_app(Walk *walk, CtCore *core) {
    CtCore **args;
    uint32_t count;
    CtCore *head = chain(walk->el, core, &args, &count);
    Param *param = uncurried(walk, head);
    if (param != NULL) {
        for (uint32_t i = 0; i < count; i++) args[i] = rewrite(walk, args[i]);
        return call_param(walk, core->range, param, args, count);
    }
    CtCore *fun = core->as.call.of.fun;
    const Spec *spec = fun->kind == CORE_GLOBAL ? ct_map_get(&walk->specs, ct_key(fun->as.global)) : NULL;
    bool direct = spec != NULL && spec->uncurried != NULL && spec->arity == core->as.call.count;
    return direct ? rewrite_call(walk, spec, core) : ct_core_map(walk->el->program, core, rewrite, walk);
}

static CtCore *rewrite_once(Walk *walk, CtCore *core) {
    if (core->kind == CORE_APP) return rewrite_app(walk, core);
    CtCore *out = ct_core_map(walk->el->program, core, rewrite, walk);
    if (out->kind != CORE_ARRAY || out == core) return out;
    for (uint32_t i = 0; i < out->as.call.count; i++) out->as.call.args[i] = eta_reduced(out->as.call.args[i]);
    return out;
}

/* Rewrites a term. Chains of bindings are copied in a loop and need no deep stack. */
static CtCore *rewrite(void *data, CtCore *core) {
    Walk *walk = data;
    CtCore *first = NULL, **at = &first;
    for (; core->kind == CORE_LET || core->kind == CORE_UNPACK; core = core->as.let.body) {
        CtCore *copy = *at = CT_NEW(walk->el->arena, CtCore);
        *copy = *core;
        copy->as.let.rhs = rewrite(walk, core->as.let.rhs);
        at = &copy->as.let.body;
    }
    *at = rewrite_once(walk, core);
    return first;
}

/* ---- the whole ---- */

/* Gives the uncurried parameters and their globals the new types, before any call is rewritten; false when no parameter
 * is uncurried. */
static bool decide(Walk *walk) {
    bool any = false;
    for (uint32_t i = 0; i < walk->all.count; i++) {
        Param *param = walk->all.items[i];
        if (param->k < 2) continue;
        any = true;
        Spec *spec = param->spec;
        if (spec->uncurried == NULL) spec->uncurried = CT_NEW_ARRAY(walk->el->arena, uint32_t, spec->arity);
        spec->uncurried[param->index] = param->k;
        param->fresh = ct_core_var_like(walk->el->program, param->var, nary_type(walk->el, param->var->type, param->k));
    }
    for (uint32_t i = 0; any && i < walk->all.count; i++) {
        Param *param = walk->all.items[i];
        if (param->index > 0 || param->spec->uncurried == NULL) continue;
        CtType *type = param->spec->global->type;
        CtType **parts = CT_NEW_ARRAY(walk->el->arena, CtType *, param->spec->arity);
        for (uint32_t j = 0; j < param->spec->arity; j++) {
            Param *other = walk->all.items[i + j];
            parts[j] = other->fresh != NULL ? other->fresh->type : type->parts[j];
        }
        param->spec->global->type =
            ct_core_type_fun(walk->el->program, parts, param->spec->arity, ct_core_type_fun_result(type));
    }
    return any;
}

static void rewrite_global(Walk *walk, const Spec *spec) {
    CtCore *body = spec->global->body;
    if (spec->uncurried == NULL) {
        spec->global->body = rewrite(walk, body);
        return;
    }
    CtVar **params = CT_NEW_ARRAY(walk->el->arena, CtVar *, spec->arity);
    for (uint32_t i = 0; i < spec->arity; i++) {
        Param *param = param_of(walk, spec, i);
        params[i] = param->fresh != NULL ? param->fresh : param->var;
    }
    const CtLam *lam = body->as.lam;
    CtCore *inner = rewrite(walk, lam->body);
    spec->global->body = ct_core_lam(walk->el->program, body->range, lam->name, params, spec->arity, inner);
}

void ct_elab_uncurry_globals(CtElab *el, uint32_t from, const Spec *root) {
    Walk walk = {.el = el};
    for (uint32_t i = from; i < el->work.count; i++)
        if (el->work.items[i] != root) add_spec(&walk, el->work.items[i]);
    for (uint32_t i = from; i < el->work.count; i++) look(&walk, el->work.items[i]->global->body);
    settle(&walk);
    if (!decide(&walk)) return;
    for (uint32_t i = from; i < el->work.count; i++) rewrite_global(&walk, el->work.items[i]);
}
