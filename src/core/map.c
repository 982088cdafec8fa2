/* Traversal of terms: rebuilding, copying, captured variables.
 *
 * Chains of bindings and literal lists are deep in their last child only; traversals that may meet whole programs
 * iterate over that child. */
#include "core/internal.h"

/* ---- rebuilding ---- */

typedef struct Visitor {
    CtCoreVisit *visit;
    void *data;
    bool changed;
} Visitor;

static CtCore *visit(Visitor *v, CtCore *child) {
    if (child == NULL) return NULL;
    CtCore *result = v->visit(v->data, child);
    if (result != child) v->changed = true;
    return result;
}

static CtCore *shallow(CtProgram *p, const CtCore *core) {
    CtCore *copy = CT_NEW(p->context->arena, CtCore);
    *copy = *core;
    return copy;
}

static CtCore **visit_args(CtProgram *p, Visitor *v, const CtCore *core) {
    uint32_t count = core->as.call.count;
    CtCore **args = NULL; /* made at the first change */
    for (uint32_t i = 0; i < count; i++) {
        CtCore *old = core->as.call.args[i], *arg = visit(v, old);
        if (arg == old && args == NULL) continue;
        if (args == NULL) {
            args = CT_NEW_ARRAY(p->context->arena, CtCore *, count);
            memcpy(args, core->as.call.args, i * sizeof *args);
        }
        args[i] = arg;
    }
    return args != NULL ? args : core->as.call.args;
}

static CtCore *map_call(CtProgram *p, Visitor *v, CtCore *core) {
    CtCore *fun = core->kind == CORE_APP ? visit(v, core->as.call.of.fun) : NULL;
    CtCore **args = visit_args(p, v, core);
    if (!v->changed) return core;
    CtCore *copy = shallow(p, core);
    if (core->kind == CORE_APP) copy->as.call.of.fun = fun;
    copy->as.call.args = args;
    return copy;
}

CtCore *ct_core_relam(CtProgram *p, const CtCore *node, CtCore *body) {
    const CtLam *old = node->as.lam;
    CtLam *lam = CT_NEW(p->context->arena, CtLam);
    *lam = (CtLam){.params = old->params,
                   .count = old->count,
                   .body = body,
                   .name = old->name,
                   .origin = old->origin,
                   .method = old->method};
    lam->node = shallow(p, node);
    lam->node->as.lam = lam;
    return lam->node;
}

static CtCore *map_letrec(CtProgram *p, Visitor *v, CtCore *core) {
    uint32_t count = core->as.letrec.count;
    CtBind *binds = CT_NEW_ARRAY(p->context->arena, CtBind, count);
    for (uint32_t i = 0; i < count; i++) {
        binds[i] = core->as.letrec.binds[i];
        binds[i].lam = visit(v, binds[i].lam);
    }
    bool group_changed = v->changed;
    CtCore *body = visit(v, core->as.letrec.body);
    if (!v->changed) return core;
    if (!group_changed) {
        CtCore *copy = shallow(p, core);
        copy->as.letrec.body = body;
        return copy;
    }
    for (uint32_t i = 0; i < count; i++) /* all λs of a group are new, since the group links them */
        if (binds[i].lam == core->as.letrec.binds[i].lam)
            binds[i].lam = ct_core_relam(p, binds[i].lam, binds[i].lam->as.lam->body);
    return ct_core_letrec(p, core->range, binds, count, body);
}

static CtCore *map_case(CtProgram *p, Visitor *v, CtCore *core) {
    uint32_t count = core->as.cases.count;
    CtCore *scrutinee = visit(v, core->as.cases.scrutinee);
    CtCase *cases = CT_NEW_ARRAY(p->context->arena, CtCase, count);
    for (uint32_t i = 0; i < count; i++) {
        cases[i] = core->as.cases.cases[i];
        cases[i].body = visit(v, cases[i].body);
    }
    CtCore *otherwise = visit(v, core->as.cases.otherwise);
    if (!v->changed) return core;
    CtCore *copy = shallow(p, core);
    copy->as.cases.scrutinee = scrutinee;
    copy->as.cases.cases = cases;
    copy->as.cases.otherwise = otherwise;
    return copy;
}

CtCore *ct_core_map(CtProgram *p, CtCore *core, CtCoreVisit *function, void *data) {
    Visitor v = {function, data, false};
    switch (core->kind) {
    case CORE_VAR:
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING: return core;
    case CORE_LAM: {
        CtCore *body = visit(&v, core->as.lam->body);
        return v.changed ? ct_core_relam(p, core, body) : core;
    }
    case CORE_APP:
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL: return map_call(p, &v, core);
    case CORE_LET:
    case CORE_UNPACK: {
        CtCore *rhs = visit(&v, core->as.let.rhs);
        CtCore *body = visit(&v, core->as.let.body);
        if (!v.changed) return core;
        CtCore *copy = shallow(p, core);
        copy->as.let.rhs = rhs;
        copy->as.let.body = body;
        return copy;
    }
    case CORE_LETREC: return map_letrec(p, &v, core);
    case CORE_PROJ: {
        CtCore *tuple = visit(&v, core->as.proj.tuple);
        return v.changed ? ct_core_proj(p, core->range, tuple, core->as.proj.index) : core;
    }
    case CORE_CASE: return map_case(p, &v, core);
    case CORE_FAIL: {
        CtCore *message = visit(&v, core->as.fail.message);
        return v.changed ? ct_core_fail(p, core->range, core->type, core->as.fail.code, core->as.fail.text, message)
                         : core;
    }
    }
    return core;
}

/* ---- copying ---- */

typedef struct Copier {
    CtProgram *p;
    CtMap vars; /* CtVar * -> CtVar *, of the binders met so far */
    const CtMap *replace;
    CtSourceRange
        call; /* the call at which the copy is inlined, for parts from the library; no range: source ranges stay */
} Copier;

static CtCore *copy_term(Copier *c, CtCore *core);

static CtVar *fresh(Copier *c, CtVar *var) {
    if (var == NULL) return NULL;
    CtVar *copy = ct_core_var_like(c->p, var, var->type);
    ct_map_set(c->p->context->arena, &c->vars, ct_key(var), copy);
    return copy;
}

static CtVar **fresh_all(Copier *c, CtVar **vars, uint32_t count) {
    CtVar **copies = CT_NEW_ARRAY(c->p->context->arena, CtVar *, count);
    for (uint32_t i = 0; i < count; i++) copies[i] = fresh(c, vars[i]);
    return copies;
}

static CtCore *copy_var(Copier *c, CtCore *core) {
    CtVar *var = ct_map_get(&c->vars, ct_key(core->as.var));
    if (var != NULL) return ct_core_var(c->p, core->range, var);
    CtCore *term = c->replace != NULL ? ct_map_get(c->replace, ct_key(core->as.var)) : NULL;
    return term != NULL ? term : core;
}

/* The captured variables of a λ with an origin keep the origin's order. */
static void copy_captures(Copier *c, CtLam *lam, CtLam *old) {
    if (!old->captures_known) return;
    CtVar **captures = CT_NEW_ARRAY(c->p->context->arena, CtVar *, old->capture_count);
    for (uint32_t i = 0; i < old->capture_count; i++) {
        CtCore *use = copy_var(c, ct_core_var(c->p, old->node->range, old->captures[i]));
        if (use->kind != CORE_VAR) return;
        captures[i] = use->as.var;
    }
    lam->captures = captures;
    lam->capture_count = old->capture_count;
    lam->captures_known = true;
}

/* Copies a λ except for its body, which the caller copies next. */
static CtLam *copy_lam_head(Copier *c, CtCore *copy) {
    CtLam *old = copy->as.lam;
    CtCore *node = ct_core_relam(c->p, copy, old->body);
    CtLam *lam = node->as.lam;
    lam->params = fresh_all(c, old->params, old->count);
    if (old->origin != NULL) copy_captures(c, lam, old);
    *copy = *node;
    lam->node = copy;
    return lam;
}

static void copy_binds(Copier *c, CtCore *copy) {
    uint32_t count = copy->as.letrec.count;
    CtBind *old = copy->as.letrec.binds;
    CtBind *binds = CT_NEW_ARRAY(c->p->context->arena, CtBind, count);
    for (uint32_t i = 0; i < count; i++) binds[i].var = fresh(c, old[i].var);
    for (uint32_t i = 0; i < count; i++) binds[i].lam = copy_term(c, old[i].lam);
    CtCore *linked = ct_core_letrec(c->p, copy->range, binds, count, copy->as.letrec.body);
    copy->as.letrec.binds = linked->as.letrec.binds;
}

/* Copies every child but the last, and returns the place of the last; NULL when there is no child. */
static CtCore **copy_but_last(Copier *c, CtCore *copy) {
    CtArena *arena = c->p->context->arena;
    switch (copy->kind) {
    case CORE_VAR:
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING: return NULL;
    case CORE_LAM: return &copy_lam_head(c, copy)->body;
    case CORE_APP: copy->as.call.of.fun = copy_term(c, copy->as.call.of.fun); __attribute__((fallthrough));
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL: {
        uint32_t count = copy->as.call.count;
        if (count == 0) return NULL;
        CtCore **old = copy->as.call.args, **args = CT_NEW_ARRAY(arena, CtCore *, count);
        for (uint32_t i = 0; i + 1 < count; i++) args[i] = copy_term(c, old[i]);
        args[count - 1] = old[count - 1];
        copy->as.call.args = args;
        return &args[count - 1];
    }
    case CORE_LET:
    case CORE_UNPACK:
        copy->as.let.rhs = copy_term(c, copy->as.let.rhs);
        copy->as.let.vars = fresh_all(c, copy->as.let.vars, copy->as.let.count);
        return &copy->as.let.body;
    case CORE_LETREC: copy_binds(c, copy); return &copy->as.letrec.body;
    case CORE_PROJ: return &copy->as.proj.tuple;
    case CORE_CASE: {
        uint32_t count = copy->as.cases.count;
        CtCase *old = copy->as.cases.cases, *cases = CT_NEW_ARRAY(arena, CtCase, count);
        bool has_otherwise = copy->as.cases.otherwise != NULL;
        copy->as.cases.scrutinee = copy_term(c, copy->as.cases.scrutinee);
        for (uint32_t i = 0; i < count; i++) {
            cases[i] = old[i];
            cases[i].vars = fresh_all(c, old[i].vars, old[i].con->count);
            if (has_otherwise || i + 1 < count) cases[i].body = copy_term(c, old[i].body);
        }
        copy->as.cases.cases = cases;
        if (has_otherwise) return &copy->as.cases.otherwise;
        return count > 0 ? &cases[count - 1].body : NULL;
    }
    case CORE_FAIL: return copy->as.fail.message != NULL ? &copy->as.fail.message : NULL;
    }
    return NULL;
}

static bool is_library(const CtProgram *p, CtSourceRange range) {
    return range.source == 0 || p->context->sources.items[range.source].is_library;
}

static CtCore *copy_term(Copier *c, CtCore *core) {
    CtCore *result = core;
    for (CtCore **place = &result; place != NULL;) {
        CtCore *old = *place;
        if (old->kind == CORE_VAR) {
            *place = copy_var(c, old);
            break;
        }
        /* A λ's head is made from the old node, which *place still names. */
        *place = shallow(c->p, old);
        if (c->call.source != 0 && is_library(c->p, old->range)) (*place)->range = c->call;
        place = copy_but_last(c, *place);
    }
    return result;
}

CtCore *ct_core_copy(CtProgram *p, CtCore *core, const CtMap *replace) {
    Copier copier = {.p = p, .replace = replace};
    return copy_term(&copier, core);
}

CtCore *ct_core_copy_inlined(CtProgram *p, CtCore *core, CtSourceRange call) {
    Copier copier = {.p = p, .call = is_library(p, call) ? CT_NO_RANGE : call};
    return copy_term(&copier, core);
}

/* ---- children, in evaluation order ---- */

void ct_core_children(CtArena *arena, CtCore *core, CtCoreList *out) {
    switch (core->kind) {
    case CORE_VAR:
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING: break;
    case CORE_LAM: ct_push(arena, out, core->as.lam->body); break;
    case CORE_APP: ct_push(arena, out, core->as.call.of.fun); __attribute__((fallthrough));
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL:
        for (uint32_t i = 0; i < core->as.call.count; i++) ct_push(arena, out, core->as.call.args[i]);
        break;
    case CORE_LET:
    case CORE_UNPACK:
        ct_push(arena, out, core->as.let.rhs);
        ct_push(arena, out, core->as.let.body);
        break;
    case CORE_LETREC:
        for (uint32_t i = 0; i < core->as.letrec.count; i++) ct_push(arena, out, core->as.letrec.binds[i].lam);
        ct_push(arena, out, core->as.letrec.body);
        break;
    case CORE_PROJ: ct_push(arena, out, core->as.proj.tuple); break;
    case CORE_CASE:
        ct_push(arena, out, core->as.cases.scrutinee);
        for (uint32_t i = 0; i < core->as.cases.count; i++) ct_push(arena, out, core->as.cases.cases[i].body);
        if (core->as.cases.otherwise != NULL) ct_push(arena, out, core->as.cases.otherwise);
        break;
    case CORE_FAIL:
        if (core->as.fail.message != NULL) ct_push(arena, out, core->as.fail.message);
        break;
    }
}

static void reverse(CtCoreList *list, uint32_t from) {
    for (uint32_t i = from, j = list->count; i + 1 < j; i++) {
        CtCore *swap = list->items[i];
        list->items[i] = list->items[--j];
        list->items[j] = swap;
    }
}

/* ---- captured variables ---- */

typedef struct Scan {
    CtProgram *p;
    CtMap known; /* variables bound inside, and captured variables already found */
    CT_VEC(CtVar *) captures;
    CtCoreList work; /* a stack: the next term is the last */
} Scan;

static void bind(Scan *s, CtVar *const *vars, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        if (vars[i] != NULL) ct_map_set(s->p->context->arena, &s->known, ct_key(vars[i]), NULL);
}

static void use(Scan *s, CtVar *var) {
    if (ct_map_has(&s->known, ct_key(var))) return;
    ct_map_set(s->p->context->arena, &s->known, ct_key(var), NULL);
    ct_push(s->p->context->arena, &s->captures, var);
}

/* The captured variables of a λ inside count, so that every λ is visited once. */
static void use_lam(Scan *s, CtLam *lam) {
    ct_core_captures(s->p, lam);
    for (uint32_t i = 0; i < lam->capture_count; i++) use(s, lam->captures[i]);
}

static void scan_node(Scan *s, CtCore *core) {
    CtArena *arena = s->p->context->arena;
    switch (core->kind) {
    case CORE_VAR: use(s, core->as.var); return;
    case CORE_LAM: use_lam(s, core->as.lam); return;
    case CORE_LETREC:
        for (uint32_t i = 0; i < core->as.letrec.count; i++) bind(s, &core->as.letrec.binds[i].var, 1);
        if (core->as.letrec.count > 0) use_lam(s, core->as.letrec.binds[0].lam->as.lam);
        ct_push(arena, &s->work, core->as.letrec.body);
        return;
    case CORE_LET:
    case CORE_UNPACK: bind(s, core->as.let.vars, core->as.let.count); break;
    case CORE_CASE:
        for (uint32_t i = 0; i < core->as.cases.count; i++)
            bind(s, core->as.cases.cases[i].vars, core->as.cases.cases[i].con->count);
        break;
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING:
    case CORE_APP:
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL:
    case CORE_PROJ:
    case CORE_FAIL: break;
    }
    uint32_t from = s->work.count;
    ct_core_children(arena, core, &s->work);
    reverse(&s->work, from);
}

void ct_core_captures(CtProgram *p, CtLam *lam) {
    if (lam->captures_known) return;
    Scan scan = {.p = p};
    CtLam **group = lam->group_count > 0 ? lam->group : &lam;
    uint32_t count = lam->group_count > 0 ? lam->group_count : 1;
    bind(&scan, lam->group_vars, lam->group_count);
    for (uint32_t i = 0; i < count; i++) {
        bind(&scan, group[i]->params, group[i]->count);
        ct_push(p->context->arena, &scan.work, group[i]->body);
        while (scan.work.count > 0) scan_node(&scan, scan.work.items[--scan.work.count]);
    }
    for (uint32_t i = 0; i < count; i++) {
        group[i]->captures = scan.captures.items;
        group[i]->capture_count = scan.captures.count;
        group[i]->captures_known = true;
    }
}

/* ---- reachable globals ---- */

void ct_core_reachable(CtProgram *p, CtGlobal *const *roots, uint32_t count) {
    CtArena *arena = p->context->arena;
    CtMap reached = {0};
    CT_VEC(CtGlobal *) queue = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (ct_map_has(&reached, ct_key(roots[i]))) continue;
        ct_map_set(arena, &reached, ct_key(roots[i]), NULL);
        ct_push(arena, &queue, roots[i]);
    }
    CtCoreList work = {0};
    for (uint32_t next = 0; next < queue.count; next++) {
        if (queue.items[next]->body != NULL) ct_push(arena, &work, queue.items[next]->body);
        while (work.count > 0) {
            CtCore *core = work.items[--work.count];
            ct_core_children(arena, core, &work);
            if (core->kind != CORE_GLOBAL || ct_map_has(&reached, ct_key(core->as.global))) continue;
            ct_map_set(arena, &reached, ct_key(core->as.global), NULL);
            ct_push(arena, &queue, core->as.global);
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->globals.count; i++)
        if (ct_map_has(&reached, ct_key(p->globals.items[i]))) p->globals.items[kept++] = p->globals.items[i];
    p->globals.count = kept;
}
