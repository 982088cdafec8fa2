/* Which variables the value of a term surely needs, and which arguments functions do: what is surely needed may be
 * evaluated at once. The answers for functions are the greatest ones that agree with each other. */
#include "core/lazy.h"
#include "core/simplify.h"

enum { MOST_NODES = 4000 /* that are looked at for one answer; in a larger term nothing is surely needed */ };

typedef struct Search {
    CtLazy *l;
    const CtVar *var;
    uint32_t nodes;
    CtMap joins; /* CtVar * of a join point that has been looked at -> its body if that needs the variable, or NULL */
} Search;

static bool needs(Search *s, const CtCore *e);

static bool any_needs(Search *s, const CtCore *e, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (needs(s, e->as.call.args[i])) return true;
    return false;
}

/* Branches that fail need nothing, but do not count if another one does not fail. */
static bool branches_need(Search *s, const CtCore *e) {
    bool any = false;
    for (uint32_t i = 0; i <= e->as.cases.count; i++) {
        const CtCore *body = i < e->as.cases.count ? e->as.cases.cases[i].body : e->as.cases.otherwise;
        if (body == NULL || body->kind == CORE_FAIL) continue;
        if (!needs(s, body)) return false;
        any = true;
    }
    return any;
}

static const CtLazyFun *callee(const Search *s, const CtCore *fun) {
    if (fun->kind == CORE_GLOBAL) return ct_map_get(&s->l->funs, ct_key(fun->as.global));
    return fun->kind == CORE_VAR ? ct_map_get(&s->l->funs, ct_key(fun->as.var)) : NULL;
}

static bool call_needs(Search *s, const CtCore *e) {
    const CtCore *fun = e->as.call.of.fun;
    const CtLazyFun *known = callee(s, fun);
    for (uint32_t i = 0; known != NULL && i < e->as.call.count; i++)
        if (known->strict[i] && needs(s, e->as.call.args[i])) return true;
    if (known != NULL) return false;
    CtCore *join = fun->kind == CORE_VAR ? ct_map_get(&s->l->joins, ct_key(fun->as.var)) : NULL;
    if (join == NULL) return needs(s, fun);
    uint64_t key = ct_key(fun->as.var);
    if (!ct_map_has(&s->joins, key)) ct_map_set(s->l->arena, &s->joins, key, needs(s, join) ? join : NULL);
    return ct_map_get(&s->joins, key) != NULL;
}

static bool array_needs(Search *s, const CtCore *e) {
    uint32_t count = e->as.call.count;
    switch ((int)e->as.call.of.array) {
    case ARRAY_UPDATE: return any_needs(s, e, 0, 2);
    case ARRAY_SNOC:
    case ARRAY_REPLICATE:
    case ARRAY_BUILD: return any_needs(s, e, 0, 1);
    default: {
        bool folds = ct_core_array_info(e->as.call.of.array)->function == 0;
        return any_needs(s, e, folds ? count - 1 : 0, count);
    }
    }
}

static bool let_needs(Search *s, const CtCore *e) {
    const CtCore *rhs = e->as.let.rhs;
    if (rhs->kind == CORE_LAM && rhs->as.lam->count == 0)
        ct_map_set(s->l->arena, &s->l->joins, ct_key(e->as.let.vars[0]), rhs->as.lam->body);
    if (needs(s, e->as.let.body)) return true;
    if (rhs->kind == CORE_LAM) return false;
    if (e->as.let.vars[0]->is_strict) return needs(s, rhs);
    Search other = {.l = s->l, .var = e->as.let.vars[0], .nodes = s->nodes};
    bool needed = needs(&other, e->as.let.body);
    s->nodes = other.nodes;
    return needed && needs(s, rhs);
}

static bool needs(Search *s, const CtCore *e) {
    if (++s->nodes > MOST_NODES) return false;
    switch (e->kind) {
    case CORE_VAR: return e->as.var == s->var;
    case CORE_LET: return let_needs(s, e);
    case CORE_LETREC: return needs(s, e->as.letrec.body);
    case CORE_UNPACK: return needs(s, e->as.let.rhs) || needs(s, e->as.let.body);
    case CORE_CASE: return needs(s, e->as.cases.scrutinee) || branches_need(s, e);
    case CORE_PRIM: return any_needs(s, e, 0, e->as.call.count);
    case CORE_APP: return call_needs(s, e);
    case CORE_ARRAY: return array_needs(s, e);
    case CORE_PROJ: return needs(s, e->as.proj.tuple);
    case CORE_CON:
        for (uint32_t i = 0; i < e->as.call.count; i++)
            if (ct_core_lazy_field_is_strict(e->as.call.of.con, i) && needs(s, e->as.call.args[i])) return true;
        return false;
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING:
    case CORE_LAM:
    case CORE_TUPLE:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL:
    case CORE_FAIL: return false;
    }
    return false;
}

bool ct_core_lazy_demands(CtLazy *l, const CtCore *e, const CtVar *var) {
    Search s = {.l = l, .var = var};
    return needs(&s, e);
}

static void add(CtLazy *l, const void *key, CtLam *lam) {
    if (lam->count == 0) return;
    CtLazyFun *fun = CT_NEW(l->arena, CtLazyFun);
    *fun = (CtLazyFun){.count = lam->count, .lam = lam, .strict = CT_NEW_ARRAY(l->arena, bool, lam->count)};
    for (uint32_t i = 0; i < lam->count; i++) fun->strict[i] = true;
    ct_map_set(l->arena, &l->funs, ct_key(key), fun);
    ct_push(l->arena, &l->all, fun);
}

static void find_functions(CtLazy *l, CtCore *root) {
    CtCoreList todo = {0};
    ct_push(l->arena, &todo, root);
    while (todo.count > 0) {
        CtCore *e = todo.items[--todo.count];
        for (uint32_t i = 0; e->kind == CORE_LETREC && i < e->as.letrec.count; i++)
            add(l, e->as.letrec.binds[i].var, e->as.letrec.binds[i].lam->as.lam);
        if (e->kind == CORE_LET && e->as.let.rhs->kind == CORE_LAM && e->as.let.rhs->as.lam->count == 0)
            ct_map_set(l->arena, &l->joins, ct_key(e->as.let.vars[0]), e->as.let.rhs->as.lam->body);
        ct_core_children(l->arena, e, &todo);
    }
}

/* Functions are asked after those that they call, so that a chain of calls takes one round. */
void ct_core_lazy_find_demands(CtLazy *l) {
    CtGlobal **order = CT_NEW_ARRAY(l->arena, CtGlobal *, l->p->globals.count + 1);
    ct_core_callees_first(l->p, order);
    for (uint32_t i = l->p->globals.count; i-- > 0;) {
        CtGlobal *global = order[i];
        if (global->body == NULL) continue;
        if (global->body->kind == CORE_LAM) add(l, global, global->body->as.lam);
        find_functions(l, global->body);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = l->all.count; i-- > 0;) {
            CtLazyFun *fun = l->all.items[i];
            for (uint32_t k = 0; k < fun->count; k++) {
                if (!fun->strict[k] || ct_core_lazy_demands(l, fun->lam->body, fun->lam->params[k])) continue;
                fun->strict[k] = false;
                changed = true;
            }
        }
    }
}
