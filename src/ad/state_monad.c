/* D on terms of methods that carry a state: lifting to the state monad, D[(σ) → τ] = (Dσ, S) → (Dτ, S) (DUAL §5).
 *
 * The lifted term is in A-normal form as far as necessary: calls and operations that use the state are bound one after
 * the other, from left to right; everything else is as in homomorphic.c. Tail calls stay tail calls. */
#include "ad/internal.h"

/* ---- what touches the state ---- */

static bool pure_all(CtTransform *t, CtCore *const *cores, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (!ct_ad_lift_pure(t, cores[i])) return false;
    return true;
}

/* Comparisons and conversions only need the primals of their arguments. */
static bool lift_pure_primal(CtTransform *t, CtCore *core) {
    if (core->kind != CORE_PRIM) return ct_ad_lift_pure(t, core);
    for (uint32_t i = 0; i < core->as.call.count; i++) {
        CtCore *arg = core->as.call.args[i];
        if (!(ct_ad_is_real(arg->type) ? lift_pure_primal(t, arg) : ct_ad_lift_pure(t, arg))) return false;
    }
    return true;
}

static bool pure_case(CtTransform *t, CtCore *core) {
    for (uint32_t i = 0; i < core->as.cases.count; i++)
        if (!ct_ad_lift_pure(t, core->as.cases.cases[i].body)) return false;
    if (core->as.cases.otherwise && !ct_ad_lift_pure(t, core->as.cases.otherwise)) return false;
    return ct_ad_lift_pure(t, core->as.cases.scrutinee);
}

static bool pure_node(CtTransform *t, CtCore *core) {
    switch (core->kind) {
    case CORE_VAR:
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING:
    case CORE_LAM: return true;
    case CORE_APP: return ct_ad_is_discrete_call(core) && pure_all(t, core->as.call.args, core->as.call.count);
    case CORE_PRIM: return !ct_ad_is_operation(core) && lift_pure_primal(t, core);
    case CORE_ARRAY: return ct_ad_lift_pure_array(t, core);
    case CORE_DUAL: return false;
    case CORE_CASE: return pure_case(t, core);
    case CORE_LET:
    case CORE_UNPACK: return ct_ad_lift_pure(t, core->as.let.rhs); /* the body is handled by the caller */
    case CORE_LETREC: return true;
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PROJ:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_FAIL: {
        if (core->kind == CORE_DERIV && ct_core_deriv_applies(core->as.call.of.deriv)) return false;
        CtCore **children;
        uint32_t count = ct_ad_children(core, &children);
        return pure_all(t, children, count);
    }
    }
    return false;
}

/* The body of a binding; NULL for other terms. */
static CtCore *body_of(CtCore *core) {
    if (core->kind == CORE_LET || core->kind == CORE_UNPACK) return core->as.let.body;
    return core->kind == CORE_LETREC ? core->as.letrec.body : NULL;
}

/* Iterates over chains of bindings, and caches the answer for each suffix of a chain. */
bool ct_ad_lift_pure(CtTransform *t, CtCore *core) {
    if (!t->state) return true;
    CtArena *arena = t->ad->arena;
    CT_VEC(CtCore *) chain = {0};
    bool pure = true;
    for (;; core = body_of(core)) {
        uintptr_t known = (uintptr_t)ct_map_get(&t->ad->pure, ct_key(core));
        if (known) {
            pure = known == 1;
            break;
        }
        ct_push(arena, &chain, core);
        if (!body_of(core)) break;
    }
    while (chain.count > 0) {
        CtCore *node = chain.items[--chain.count];
        pure = pure && pure_node(t, node);
        ct_map_set(arena, &t->ad->pure, ct_key(node), (void *)(uintptr_t)(pure ? 1 : 2));
    }
    return pure;
}

/* ---- terms ---- */

/* What precedes a term that uses the state, and may fail, must be evaluated before it. */
CtCore **ct_ad_lift_values(CtTransform *t, CtSeq *seq, CtCore *const *cores, uint32_t count) {
    CtCore **values = CT_NEW_ARRAY(t->ad->arena, CtCore *, count);
    uint32_t last = count; /* the last one that uses the state */
    while (last > 0 && ct_ad_lift_pure(t, cores[last - 1])) last--;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = ct_ad_lift_value(t, seq, cores[i]);
        if (i + 1 < last && !ct_ad_movable(values[i])) values[i] = ct_ad_seq_name(seq, "v", values[i]);
    }
    return values;
}

/* f' (⟨e'⟩, s) : (Dτ, S) */
static CtCore *application(CtTransform *t, CtSeq *seq, CtCore *core) {
    uint32_t count = core->as.call.count;
    CtCore **all = CT_NEW_ARRAY(t->ad->arena, CtCore *, count + 1);
    all[0] = core->as.call.of.fun;
    for (uint32_t i = 0; i < count; i++) all[i + 1] = core->as.call.args[i];
    CtCore **values = ct_ad_lift_values(t, seq, all, count + 1);
    for (uint32_t i = 0; i < count; i++) all[i] = values[i + 1];
    all[count] = ct_ad_seq_state(seq, core->range);
    return ct_core_app(t->p, core->range, values[0], all, count + 1);
}

/* Branches in tail position, each of which gives (value, state). */
static CtCore *branches(CtTransform *t, CtSeq *seq, CtCore *core) {
    CtCore *scrutinee = ct_ad_lift_value(t, seq, core->as.cases.scrutinee);
    uint32_t count = core->as.cases.count;
    CtCase *cases = CT_NEW_ARRAY(t->ad->arena, CtCase, count);
    CtSeq branch;
    for (uint32_t i = 0; i < count; i++) {
        const CtCase *old = &core->as.cases.cases[i];
        cases[i].con = ct_ad_con(t, old->con);
        cases[i].vars = CT_NEW_ARRAY(t->ad->arena, CtVar *, old->con->count);
        for (uint32_t k = 0; k < old->con->count; k++) cases[i].vars[k] = ct_ad_bind(t, old->vars[k]);
        branch = ct_ad_seq(t->p, seq->state);
        cases[i].body = ct_ad_lift_tail(t, &branch, old->body);
    }
    CtCore *otherwise = NULL;
    if (core->as.cases.otherwise) {
        branch = ct_ad_seq(t->p, seq->state);
        otherwise = ct_ad_lift_tail(t, &branch, core->as.cases.otherwise);
    }
    CtType *type = ct_core_type_pair(t->p, ct_ad_type(t->ad, t->method, core->type), t->state);
    return ct_core_case(t->p, core->range, type, scrutinee, cases, count, otherwise);
}

/* Binds the variables of a LET, UNPACK or LETREC. */
static void binding(CtTransform *t, CtSeq *seq, CtCore *core) {
    if (core->kind == CORE_LETREC) {
        ct_ad_letrec(t, seq, core->range, core->as.letrec.binds, core->as.letrec.count);
        return;
    }
    CtCore *rhs = ct_ad_lift_value(t, seq, core->as.let.rhs);
    if (core->kind == CORE_LET) {
        ct_ad_seq_let(seq, core->range, ct_ad_bind(t, core->as.let.vars[0]), rhs);
        return;
    }
    CtVar **vars = CT_NEW_ARRAY(t->ad->arena, CtVar *, core->as.let.count);
    for (uint32_t i = 0; i < core->as.let.count; i++) vars[i] = ct_ad_bind(t, core->as.let.vars[i]);
    ct_ad_seq_unpack(seq, core->range, vars, core->as.let.count, rhs);
}

static CtCore *dual(CtTransform *t, CtSeq *seq, CtCore *core) {
    CtCore **args = ct_ad_lift_values(t, seq, core->as.call.args, core->as.call.count);
    return ct_ad_dual_node(t, core, args, seq->state);
}

static CtCore *structure(CtTransform *t, CtSeq *seq, CtCore *core) {
    CtCore **children;
    uint32_t count = ct_ad_children(core, &children);
    CtCore **values = ct_ad_lift_values(t, seq, children, count);
    return core->kind == CORE_PRIM ? ct_ad_prim(t, seq, core, values) : ct_ad_rebuild(t, core, values);
}

/* Applies the method's own rule for whole terms, if it has one. */
static CtCore *fused(CtTransform *t, CtSeq *seq, CtCore *core) {
    return t->rules->fuse ? t->rules->fuse(t, seq, core) : NULL;
}

CtCore *ct_ad_lift_value(CtTransform *t, CtSeq *seq, CtCore *core) {
    for (;; core = body_of(core)) {
        if (ct_ad_lift_pure(t, core)) return ct_ad_direct(t, core);
        CtCore *whole = fused(t, seq, core);
        if (whole) return whole;
        if (!body_of(core)) break;
        binding(t, seq, core);
    }
    switch (core->kind) {
    case CORE_APP:
        if (ct_ad_is_discrete_call(core))
            return ct_ad_discrete_call(t, core, ct_ad_lift_values(t, seq, core->as.call.args, core->as.call.count));
        return ct_ad_seq_run(seq, "r", application(t, seq, core));
    case CORE_CASE: return ct_ad_seq_run(seq, "r", branches(t, seq, core));
    case CORE_DUAL: return ct_ad_seq_run(seq, "f", dual(t, seq, core));
    case CORE_ARRAY: return ct_ad_lift_array(t, seq, core);
    case CORE_DERIV:
        if (core->as.call.of.deriv == DERIV_CHECKPOINT) return ct_ad_checkpoint(t, seq, core);
        return ct_core_deriv_has_rule(core->as.call.of.deriv) ? ct_ad_custom(t, seq, core) : structure(t, seq, core);
    case CORE_PRIM:
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PROJ:
    case CORE_ARRAY_LIT:
    case CORE_FAIL: return structure(t, seq, core);
    case CORE_VAR:
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING:
    case CORE_LAM:
    case CORE_LET:
    case CORE_UNPACK:
    case CORE_LETREC: break;
    }
    return ct_ad_direct(t, core);
}

CtCore *ct_ad_lift_tail(CtTransform *t, CtSeq *seq, CtCore *core) {
    for (; !ct_ad_lift_pure(t, core); core = body_of(core)) {
        CtCore *whole = fused(t, seq, core);
        if (whole) return ct_ad_seq_return(seq, whole);
        if (!body_of(core)) break;
        binding(t, seq, core);
    }
    if (!ct_ad_lift_pure(t, core)) {
        if (core->kind == CORE_APP && !ct_ad_is_discrete_call(core)) {
            CtCore *call = application(t, seq, core);
            return ct_ad_seq_close(seq, call);
        }
        if (core->kind == CORE_CASE) {
            CtCore *choice = branches(t, seq, core);
            return ct_ad_seq_close(seq, choice);
        }
        if (core->kind == CORE_DUAL) {
            CtCore *made = dual(t, seq, core);
            return ct_ad_seq_close(seq, made);
        }
    }
    CtCore *value = ct_ad_lift_value(t, seq, core);
    return ct_ad_seq_return(seq, value);
}
