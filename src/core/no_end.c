/* Terms that strict evaluation cannot get past: they call functions that call themselves whatever happens, as
 *
 *   from n = n : from (n + 1)
 *
 * does, or they can only fail, as `error "none"` does, or `iterate f x`, since lists are evaluated whole. At the end of
 * a function that is what the program says. But as an argument, as a field or as the value of a `let`, Haskell may
 * never need it: such a program is to be evaluated lazily.
 *
 * The answers for functions and constants are the greatest ones that agree with each other. */
#include "core/internal.h"

typedef struct Search {
    CtArena *arena;
    CtMap lost;  /* CtGlobal * or CtVar * of a function, or of a constant: to evaluate or to call it has no end */
    CtMap joins; /* CtVar * of a join point -> its body */
    bool changed, found, looks;
} Search;

static bool lost(Search *s, CtCore *e);

static bool is_lost(const Search *s, const void *key) {
    return ct_map_has(&s->lost, ct_key(key)) && ct_map_get(&s->lost, ct_key(key)) != NULL;
}

/* A term that lazy evaluation may not need. */
static bool lost_part(Search *s, CtCore *e) {
    bool is = lost(s, e);
    s->found |= is && s->looks;
    return is;
}

static bool lost_parts(Search *s, CtCore *e) {
    bool any = false;
    for (uint32_t i = 0; i < e->as.call.count; i++) {
        CtCore *arg = e->as.call.args[i];
        any |= e->kind == CORE_PRIM || e->kind == CORE_DERIV ? lost(s, arg) : lost_part(s, arg);
    }
    return any;
}

/* Whether a function gives Just whatever happens; what it gives otherwise does not matter if it fails. */
static bool goes_on(const CtCore *e) {
    while (e->kind == CORE_LAM || e->kind == CORE_LET || e->kind == CORE_UNPACK)
        e = e->kind == CORE_LAM ? e->as.lam->body : e->as.let.body;
    if (e->kind == CORE_CON) return strcmp(e->as.call.of.con->name->text, "Just") == 0;
    if (e->kind != CORE_CASE) return false;
    bool any = false;
    for (uint32_t i = 0; i <= e->as.cases.count; i++) {
        const CtCore *body = i < e->as.cases.count ? e->as.cases.cases[i].body : e->as.cases.otherwise;
        if (body == NULL || body->kind == CORE_FAIL) continue;
        if (!goes_on(body)) return false;
        any = true;
    }
    return any;
}

/* unfoldr f x, where f never gives Nothing. */
static bool unfolds(const CtCore *e) {
    const CtCore *fun = e->as.call.of.fun;
    return fun->kind == CORE_GLOBAL && fun->as.global->is_library && e->as.call.count == 2 &&
           strncmp(ct_core_prelude_name(fun->as.global->name->text), "unfoldr@", 8) == 0 && goes_on(e->as.call.args[0]);
}

static bool lost_callee(Search *s, CtCore *fun) {
    if (fun->kind == CORE_GLOBAL) return is_lost(s, fun->as.global);
    if (fun->kind != CORE_VAR) return lost(s, fun);
    CtCore *join = ct_map_get(&s->joins, ct_key(fun->as.var));
    if (join == NULL) return is_lost(s, fun->as.var);
    bool looks = s->looks; /* it has been looked at where it stands */
    s->looks = false;
    bool is = lost(s, join);
    s->looks = looks;
    return is;
}

static bool lost_let(Search *s, CtCore *e) {
    CtCore *rhs = e->as.let.rhs;
    if (rhs->kind == CORE_LAM && rhs->as.lam->count == 0 && e->kind == CORE_LET) {
        ct_map_set(s->arena, &s->joins, ct_key(e->as.let.vars[0]), rhs->as.lam->body);
        if (s->looks) lost(s, rhs->as.lam->body);
        return lost(s, e->as.let.body);
    }
    bool first = e->kind == CORE_UNPACK ? lost(s, rhs) : lost_part(s, rhs);
    return lost(s, e->as.let.body) || first;
}

static bool lost_case(Search *s, CtCore *e) {
    bool all = true, first = lost(s, e->as.cases.scrutinee);
    for (uint32_t i = 0; i < e->as.cases.count; i++) all = lost(s, e->as.cases.cases[i].body) && all;
    if (e->as.cases.otherwise != NULL) all = lost(s, e->as.cases.otherwise) && all;
    return first || all;
}

static bool lost(Search *s, CtCore *e) {
    switch (e->kind) {
    case CORE_FAIL: return true;
    case CORE_VAR:
    case CORE_LIT:
    case CORE_STRING: return false;
    case CORE_GLOBAL: return e->as.global->body->kind != CORE_LAM && is_lost(s, e->as.global);
    case CORE_LAM:
        if (s->looks) lost(s, e->as.lam->body);
        return false;
    case CORE_APP: {
        bool args = lost_parts(s, e);
        return lost_callee(s, e->as.call.of.fun) || args || unfolds(e);
    }
    case CORE_LET:
    case CORE_UNPACK: return lost_let(s, e);
    case CORE_LETREC:
        for (uint32_t i = 0; i < e->as.letrec.count; i++) {
            const CtBind *bind = &e->as.letrec.binds[i];
            bool looks = s->looks;
            if (!looks && is_lost(s, bind->var) && !lost(s, bind->lam->as.lam->body)) {
                ct_map_set(s->arena, &s->lost, ct_key(bind->var), NULL);
                s->changed = true;
            } else if (looks || !is_lost(s, bind->var)) {
                lost(s, bind->lam->as.lam->body);
            }
        }
        return lost(s, e->as.letrec.body);
    case CORE_PROJ: return lost(s, e->as.proj.tuple);
    case CORE_CASE: return lost_case(s, e);
    case CORE_DERIV:
        if (e->as.call.of.deriv == DERIV_ATTEMPT) return false;
        return lost_parts(s, e);
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DUAL: return lost_parts(s, e);
    }
    return false;
}

/* All local functions are lost until they are found not to be. */
static void assume(Search *s, CtCore *root) {
    CtCoreList todo = {0};
    ct_push(s->arena, &todo, root);
    while (todo.count > 0) {
        CtCore *e = todo.items[--todo.count];
        for (uint32_t i = 0; e->kind == CORE_LETREC && i < e->as.letrec.count; i++)
            ct_map_set(s->arena, &s->lost, ct_key(e->as.letrec.binds[i].var), s);
        ct_core_children(s->arena, e, &todo);
    }
}

bool ct_core_has_no_end(CtProgram *p) {
    Search s = {.arena = p->context->arena};
    for (uint32_t i = 0; i < p->globals.count; i++) {
        CtGlobal *global = p->globals.items[i];
        if (global->body == NULL) continue;
        ct_map_set(s.arena, &s.lost, ct_key(global), &s);
        assume(&s, global->body);
    }
    do {
        s.changed = false;
        for (uint32_t i = 0; i < p->globals.count; i++) {
            CtGlobal *global = p->globals.items[i];
            if (global->body == NULL) continue;
            bool is = lost(&s, global->body->kind == CORE_LAM ? global->body->as.lam->body : global->body);
            if (is || !is_lost(&s, global)) continue;
            ct_map_set(s.arena, &s.lost, ct_key(global), NULL);
            s.changed = true;
        }
    } while (s.changed);
    s.looks = true;
    for (uint32_t i = 0; i < p->globals.count && !s.found; i++) {
        const CtGlobal *global = p->globals.items[i];
        if (global->body == NULL || global->is_library) continue;
        lost(&s, global->body->kind == CORE_LAM ? global->body->as.lam->body : global->body);
    }
    return s.found;
}
