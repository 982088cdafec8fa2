/* Transformed function values.
 *
 * A function value is a λ with captured values c. Under method M, with the captured values as constants, it becomes
 *     T = λ⟨c⟩. let ⟨c' = embed_M c⟩ in D_M[λ]
 * applied to them. Inside outer derivatives a function value has been through a path p of transformations: its λ is
 * D_p[λ], its captured values are D_p[c], and D_p[T] of them is needed. So `origin` links lead from the transformed λ
 * back to the λ of the source; T is made from that, and the path is applied to T, innermost first. */
#include "ad/internal.h"

/* ---- functions in sight ---- */

/* Whether the body of `from` leads to `target` through calls. A transformed function leads where its origin does. */
typedef struct Search {
    CtAd *ad;
    CtGlobal *target;
    CtMap seen;
    CT_VEC(CtGlobal *) work;
    bool found;
} Search;

static CtGlobal *first_origin(CtGlobal *global) {
    while (global->origin) global = global->origin;
    return global;
}

static CtCore *search(void *data, CtCore *core) {
    Search *s = data;
    if (s->found) return core;
    if (core->kind == CORE_GLOBAL) {
        CtGlobal *global = first_origin(core->as.global);
        if (global == s->target) s->found = true;
        if (!ct_map_has(&s->seen, ct_key(global))) {
            ct_map_set(s->ad->arena, &s->seen, ct_key(global), global);
            ct_push(s->ad->arena, &s->work, global);
        }
        return core;
    }
    return ct_core_map(s->ad->p, core, search, s);
}

static bool leads_to(CtAd *ad, CtCore *from, CtGlobal *target) {
    if (!target) return false;
    Search s = {.ad = ad, .target = first_origin(target)};
    search(&s, from);
    while (s.work.count > 0 && !s.found) {
        CtGlobal *next = s.work.items[--s.work.count];
        if (next->body) search(&s, next->body);
    }
    return s.found;
}

/* let ⟨c' = embed_M c⟩ in D_M[λ], with variables c' for the captured variables. */
static CtCore *embedded(CtAd *ad, CtMethod method, CtCore *core, const CtMap *captured) {
    CtTransform t = ct_ad_transform(ad, method);
    CtLam *lam = core->as.lam;
    CtSeq seq = ct_ad_seq(ad->p, NULL);
    for (uint32_t i = 0; i < lam->capture_count; i++) {
        CtVar *var = lam->captures[i];
        CtVar *here = captured ? ct_map_get(captured, ct_key(var)) : var;
        /* A function value that is met at run time may be differentiated again: it keeps its origin. */
        if (captured == NULL && ct_ad_stays_constant(&t, lam, var)) {
            ct_map_set(ad->arena, &t.vars, ct_key(var), here);
            ct_map_set(ad->arena, &t.constants, ct_key(var), here);
            continue;
        }
        CtCore *value = ct_ad_poly_embed(ad, method, core->range, var->type, ct_core_var(ad->p, core->range, here));
        ct_ad_seq_let(&seq, core->range, ct_ad_bind(&t, var), value);
    }
    CtCore *body;
    if (lam->group) {
        CtBind *binds = CT_NEW_ARRAY(ad->arena, CtBind, lam->group_count);
        uint32_t self = 0;
        for (uint32_t i = 0; i < lam->group_count; i++) {
            binds[i] = (CtBind){lam->group_vars[i], ct_ad_on_core(ad, NULL, lam->group[i]->node)};
            if (lam->group[i] == lam) self = i;
        }
        ct_ad_letrec(&t, &seq, core->range, binds, lam->group_count);
        body = ct_core_var(ad->p, core->range, ct_ad_var(&t, lam->group_vars[self]));
    } else {
        body = ct_ad_lambda(&t, ct_ad_on_core(ad, NULL, core));
        if (t.constants.count > 0) body->as.lam->origin = NULL; /* whose captured values it does not have */
    }
    return ct_ad_seq_close(&seq, body);
}

CtCore *ct_ad_dual_of(CtAd *ad, CtMethod method, CtGlobal *inside, CtCore *f) {
    bool known_global = f->kind == CORE_GLOBAL && ct_ad_is_function(f->as.global);
    if ((known_global || f->kind == CORE_LAM) && !leads_to(ad, f, inside)) {
        if (known_global) return ct_core_global(ad->p, f->range, ct_ad_global_later(ad, method, f->as.global));
        if (!f->as.lam->captures_known) ct_core_captures(ad->p, f->as.lam);
        return embedded(ad, method, f, NULL);
    }
    return ct_core_dual(ad->p, f->range, ct_ad_type(ad, method, f->type), method, NULL, 0, &f, 1);
}

/* ---- functions met at run time ---- */

CtGlobal *ct_ad_global_of(CtAd *ad, const CtLam *lam) {
    for (uint32_t i = 0; i < ad->p->globals.count; i++) {
        CtGlobal *global = ad->p->globals.items[i];
        if (global->body && global->body->kind == CORE_LAM && global->body->as.lam == lam) return global;
    }
    return NULL;
}

/* T */
CtCore *ct_ad_closed(CtAd *ad, CtMethod method, CtLam *lam) {
    CtSourceRange range = lam->node->range;
    if (!lam->captures_known) ct_core_captures(ad->p, lam);
    CtGlobal *global = lam->capture_count == 0 ? ct_ad_global_of(ad, lam) : NULL;
    if (global) {
        CtCore *transformed = ct_core_global(ad->p, range, ct_ad_global_later(ad, method, global));
        return ct_core_lam(ad->p, range, lam->name, NULL, 0, transformed);
    }
    CtMap captured = {0};
    CtVar **params = CT_NEW_ARRAY(ad->arena, CtVar *, lam->capture_count);
    for (uint32_t i = 0; i < lam->capture_count; i++) {
        params[i] = ct_core_var_like(ad->p, lam->captures[i], lam->captures[i]->type);
        ct_map_set(ad->arena, &captured, ct_key(lam->captures[i]), params[i]);
    }
    CtCore *body = embedded(ad, method, lam->node, &captured);
    return ct_core_lam(ad->p, range, lam->name, params, lam->capture_count, body);
}

/* ---- the way back ---- */

/* The copy of a λ, or of its group and a use of it. */
static CtCore *copy_of(CtAd *ad, CtLam *lam, const CtMap *replace) {
    if (!lam->group) return ct_core_copy(ad->p, lam->node, replace);
    CtBind *binds = CT_NEW_ARRAY(ad->arena, CtBind, lam->group_count);
    uint32_t self = 0;
    for (uint32_t i = 0; i < lam->group_count; i++) {
        binds[i] = (CtBind){lam->group_vars[i], lam->group[i]->node};
        if (lam->group[i] == lam) self = i;
    }
    CtSourceRange range = lam->node->range;
    CtCore *use = ct_core_var(ad->p, range, lam->group_vars[self]);
    return ct_core_copy(ad->p, ct_core_letrec(ad->p, range, binds, lam->group_count, use), replace);
}

/* let ⟨c = primal_M c'⟩ in λ, for variables c' in place of the captured values; the λ is copied. */
static CtCore *copied(CtAd *ad, CtMethod method, CtSeq *seq, CtLam *lam, CtCore *const *captured) {
    CtSourceRange range = lam->node->range;
    CtMap replace = {0};
    CT_VEC(const CtVar *) read = {0};
    for (uint32_t i = 0; i < lam->capture_count; i++) {
        CtVar *var = lam->captures[i], *here = ct_core_var_like(ad->p, var, var->type);
        if (captured[i]->kind == CORE_VAR && ct_ad_is_only_read(ad, lam, var)) {
            ct_map_set(ad->arena, &replace, ct_key(var), captured[i]);
            ct_push(ad->arena, &read, captured[i]->as.var);
            continue;
        }
        ct_ad_seq_let(seq, range, here, ct_ad_poly_primal(ad, method, range, var->type, captured[i]));
        ct_map_set(ad->arena, &replace, ct_key(var), ct_core_var(ad->p, range, here));
    }
    CtCore *copy = copy_of(ad, lam, &replace);
    for (uint32_t i = 0; i < read.count; i++) copy = ct_ad_read_primals(ad, method, read.items[i], copy);
    return copy;
}

/* λ⟨c'⟩. let ⟨c = primal_M c'⟩ in λ, for the λ that D_M[λ] originates from. */
static CtCore *closed_primal(CtAd *ad, CtMethod method, CtLam *lam) {
    CtSourceRange range = lam->node->range;
    if (!lam->captures_known) ct_core_captures(ad->p, lam);
    CtGlobal *global = lam->capture_count == 0 ? ct_ad_global_of(ad, lam) : NULL;
    if (global) return ct_core_lam(ad->p, range, lam->name, NULL, 0, ct_core_global(ad->p, range, global));
    CtVar **params = CT_NEW_ARRAY(ad->arena, CtVar *, lam->capture_count);
    CtCore **uses = CT_NEW_ARRAY(ad->arena, CtCore *, lam->capture_count);
    for (uint32_t i = 0; i < lam->capture_count; i++) {
        params[i] = ct_core_var_like(ad->p, lam->captures[i], ct_ad_type(ad, method, lam->captures[i]->type));
        uses[i] = ct_core_var(ad->p, range, params[i]);
    }
    CtSeq seq = ct_ad_seq(ad->p, NULL);
    CtCore *body = copied(ad, method, &seq, lam, uses);
    return ct_core_lam(ad->p, range, lam->name, params, lam->capture_count, ct_ad_seq_close(&seq, body));
}

CtCore *ct_ad_primal_function(CtTransform *t, CtSeq *seq, CtCore *f, CtCore *transformed) {
    if (f->kind == CORE_GLOBAL) return f;
    if (f->kind != CORE_LAM) return ct_ad_poly_primal(t->ad, t->method, f->range, f->type, transformed);
    CtLam *lam = f->as.lam;
    if (!lam->captures_known) ct_core_captures(t->p, lam);
    CtCore **uses = CT_NEW_ARRAY(t->ad->arena, CtCore *, lam->capture_count);
    for (uint32_t i = 0; i < lam->capture_count; i++)
        uses[i] = ct_core_var(t->p, f->range, ct_ad_var(t, lam->captures[i]));
    return copied(t->ad, t->method, seq, lam, uses);
}

static CtSym key_of(CtAd *ad, const CtDualPath *dual) {
    CtText text = ct_text(ad->arena);
    ct_text_printf(&text, "%s %u", dual->primal ? "primal" : "dual", (unsigned)dual->method);
    for (uint32_t i = 0; i < dual->count; i++) ct_text_printf(&text, " %u", (unsigned)dual->path[i]);
    return ct_intern_text(&ad->p->context->symbols, text.data);
}

CtLam *ct_ad_dual(CtAd *ad, CtLam *lam, const CtDualPath *dual) {
    CtSym key = key_of(ad, dual);
    CtLam *known = ct_map_get(&lam->duals, ct_key(key));
    if (known) return known;
    CtLam *written = lam;
    for (uint32_t i = 0; i < dual->count + dual->primal; i++) {
        CtMethod method = i < dual->count ? dual->path[i] : dual->method;
        if (!written->origin || written->method != method) {
            ct_error(ad->p->context, CT_E0901, lam->node->range, "a function value has lost where it came from");
            return NULL;
        }
        written = written->origin;
    }
    uint32_t globals = ad->p->globals.count;
    CtCore *made = dual->primal ? closed_primal(ad, dual->method, written) : ct_ad_closed(ad, dual->method, written);
    for (uint32_t i = dual->count; i-- > 0;) {
        CtTransform t = ct_ad_transform(ad, dual->path[i]);
        made = t.rules->closed ? t.rules->closed(&t, made, written->capture_count) : ct_ad_lambda(&t, made);
    }
    ct_ad_work(ad);
    for (; globals < ad->p->globals.count; globals++) {
        CtGlobal *global = ad->p->globals.items[globals];
        global->body = ct_core_simplify_term(ad->p, global->body);
    }
    made = ct_core_simplify_term(ad->p, made);
    ct_map_set(ad->arena, &lam->duals, ct_key(key), made->as.lam);
    return made->as.lam;
}
