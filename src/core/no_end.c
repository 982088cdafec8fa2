/* Terms that have no end by strict evaluation: they call functions that call themselves whatever happens, as
 *
 *   from n = n : from (n + 1)
 *
 * does, or `iterate f x`, since lists are evaluated whole. At the end of a function that is what the program says. But
 * as an argument, as a field or as the value of a `let`, Haskell may never need it: such a program is to be evaluated
 * lazily. Where a branch fails, the others decide; a term that can only fail has an end.
 *
 * The answers for functions and constants are the greatest ones that agree with each other. */
#include "core/simplify.h"

typedef enum Fate { ENDS, FAILS, ENDLESS } Fate;

typedef struct Search {
    CtArena *arena;
    /* CtGlobal * or CtVar * of a function or join point, or of a constant -> Fate *, of evaluating or calling it */
    CtMap fates;
    bool changed, found, looks;
} Search;

static Fate fate(Search *s, CtCore *e);

static Fate known_fate(const Search *s, const void *key) {
    const Fate *known = ct_map_get(&s->fates, ct_key(key));
    return known == NULL ? ENDS : *known;
}

static void set_fate(Search *s, const void *key, Fate is) {
    Fate *kept = CT_NEW(s->arena, Fate);
    *kept = is;
    ct_map_set(s->arena, &s->fates, ct_key(key), kept);
}

/* Of terms that are all evaluated. */
static Fate worse(Fate a, Fate b) { return a > b ? a : b; }

/* A term that lazy evaluation may not need. `may_wait`: nor may it, if it fails. */
static Fate fate_of_part(Search *s, CtCore *e, bool may_wait) {
    Fate is = fate(s, e);
    s->found |= (is == ENDLESS || (is == FAILS && may_wait)) && s->looks;
    return is;
}

static Fate fate_of_parts(Search *s, CtCore *e) {
    Fate all = ENDS;
    for (uint32_t i = 0; i < e->as.call.count; i++) {
        CtCore *arg = e->as.call.args[i];
        all = worse(all, e->kind == CORE_PRIM || e->kind == CORE_DERIV ? fate(s, arg) : fate_of_part(s, arg, true));
    }
    return all;
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

/* What fails in the library since it would not end. */
static bool is_endless_list(const CtGlobal *function) {
    return function->is_library && strncmp(ct_core_prelude_name(function->name->text), "endless'list@", 13) == 0;
}

static Fate fate_of_callee(Search *s, CtCore *fun) {
    if (fun->kind == CORE_GLOBAL) return is_endless_list(fun->as.global) ? ENDLESS : known_fate(s, fun->as.global);
    return fun->kind == CORE_VAR ? known_fate(s, fun->as.var) : fate(s, fun);
}

static Fate fate_of_let(Search *s, CtCore *e) {
    CtCore *rhs = e->as.let.rhs;
    if (rhs->kind == CORE_LAM && rhs->as.lam->count == 0 && e->kind == CORE_LET) {
        set_fate(s, e->as.let.vars[0], fate(s, rhs->as.lam->body));
        return fate(s, e->as.let.body);
    }
    Fate first = e->kind == CORE_UNPACK ? fate(s, rhs) : fate_of_part(s, rhs, false);
    return worse(first, fate(s, e->as.let.body));
}

static Fate fate_of_case(Search *s, CtCore *e) {
    Fate first = fate(s, e->as.cases.scrutinee), all = FAILS;
    bool ends = false;
    for (uint32_t i = 0; i <= e->as.cases.count; i++) {
        CtCore *body = i < e->as.cases.count ? e->as.cases.cases[i].body : e->as.cases.otherwise;
        Fate is = body == NULL ? FAILS : fate(s, body);
        ends |= is == ENDS;
        all = worse(all, is);
    }
    return worse(first, ends ? ENDS : all);
}

/* The fates of local functions, and what follows them. */
static Fate fate_of_letrec(Search *s, CtCore *e) {
    for (uint32_t i = 0; i < e->as.letrec.count; i++) {
        const CtBind *bind = &e->as.letrec.binds[i];
        Fate is = fate(s, bind->lam->as.lam->body);
        if (s->looks || is >= known_fate(s, bind->var)) continue;
        set_fate(s, bind->var, is);
        s->changed = true;
    }
    return fate(s, e->as.letrec.body);
}

static Fate fate(Search *s, CtCore *e) {
    switch (e->kind) {
    case CORE_FAIL: return FAILS;
    case CORE_VAR:
    case CORE_LIT:
    case CORE_STRING: return ENDS;
    case CORE_GLOBAL: return e->as.global->body->kind == CORE_LAM ? ENDS : known_fate(s, e->as.global);
    case CORE_LAM:
        fate(s, e->as.lam->body); /* for the functions in it */
        return ENDS;
    case CORE_APP: {
        Fate args = fate_of_parts(s, e);
        return worse(args, unfolds(e) ? ENDLESS : fate_of_callee(s, e->as.call.of.fun));
    }
    case CORE_LET:
    case CORE_UNPACK: return fate_of_let(s, e);
    case CORE_LETREC: return fate_of_letrec(s, e);
    case CORE_PROJ: return fate(s, e->as.proj.tuple);
    case CORE_CASE: return fate_of_case(s, e);
    case CORE_DERIV: {
        Fate parts = fate_of_parts(s, e);
        return e->as.call.of.deriv == DERIV_ATTEMPT ? ENDS : parts;
    }
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DUAL: return fate_of_parts(s, e);
    }
    return ENDS;
}

/* All local functions are endless until they are found not to be. */
static void assume(Search *s, CtCore *root) {
    CtCoreList todo = {0};
    ct_push(s->arena, &todo, root);
    while (todo.count > 0) {
        CtCore *e = todo.items[--todo.count];
        for (uint32_t i = 0; e->kind == CORE_LETREC && i < e->as.letrec.count; i++)
            set_fate(s, e->as.letrec.binds[i].var, ENDLESS);
        ct_core_children(s->arena, e, &todo);
    }
}

static CtCore *body_of(const CtGlobal *global) {
    return global->body->kind == CORE_LAM ? global->body->as.lam->body : global->body;
}

bool ct_core_has_no_end(CtProgram *p) {
    Search s = {.arena = p->context->arena};
    for (uint32_t i = 0; i < p->globals.count; i++) {
        const CtGlobal *global = p->globals.items[i];
        if (global->body == NULL) continue;
        set_fate(&s, global, ENDLESS);
        assume(&s, global->body);
    }
    CtGlobal **order = CT_NEW_ARRAY(s.arena, CtGlobal *, p->globals.count + 1);
    ct_core_callees_first(p, order); /* so that a chain of calls takes one round */
    do {
        s.changed = false;
        for (uint32_t i = 0; i < p->globals.count; i++) {
            const CtGlobal *global = order[i];
            Fate is = global->body == NULL ? ENDLESS : fate(&s, body_of(global));
            if (global->body == NULL || is >= known_fate(&s, global)) continue;
            set_fate(&s, global, is);
            s.changed = true;
        }
    } while (s.changed);
    s.looks = true;
    for (uint32_t i = 0; i < p->globals.count && !s.found; i++) {
        const CtGlobal *global = p->globals.items[i];
        if (global->body != NULL && !global->is_library) fate(&s, body_of(global));
    }
    return s.found;
}
