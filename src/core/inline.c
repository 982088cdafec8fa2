/* For the simplifier: which globals are inlined, and the order in which globals are simplified. */
#include "core/simplify.h"

/* Bounds of the nodes of an inlined body: in general, and when a known function is passed. */
enum { SMALL = 14, WITH_FUNCTION = 45, MAX_ASKING = 200 };

typedef enum Verdict { UNKNOWN, ASKED, NEVER, SMALL_ONE, FUNCTIONS_ONLY } Verdict;

typedef struct CtGlobalNotes {
    Verdict verdict;
} CtGlobalNotes;

static CtGlobalNotes *global_notes(CtSimplifier *s, CtGlobal *global) {
    CtGlobalNotes *notes = ct_map_get(&s->globals, ct_key(global));
    if (notes != NULL) return notes;
    notes = CT_NEW(s->p->context->arena, CtGlobalNotes);
    ct_map_set(s->p->context->arena, &s->globals, ct_key(global), notes);
    return notes;
}

static Verdict ask(CtSimplifier *s, CtGlobal *global);

/* Whether following calls that would be inlined leads back to a global under consideration. So on every cycle of small
 * functions at least one is not inlined, and inlining ends. */
static bool is_on_cycle(CtSimplifier *s, CtCore *body) {
    CtArena *arena = s->p->context->arena;
    CtCoreList work = {0};
    ct_push(arena, &work, body);
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        if (core->kind == CORE_GLOBAL && ask(s, core->as.global) == ASKED) return true;
        ct_core_children(arena, core, &work);
    }
    return false;
}

static Verdict ask(CtSimplifier *s, CtGlobal *global) {
    CtGlobalNotes *notes = global_notes(s, global);
    if (notes->verdict != UNKNOWN) return notes->verdict;
    const CtCore *body = global->body;
    if (body == NULL || body->kind != CORE_LAM || s->asking >= MAX_ASKING) return NEVER;
    uint32_t size = ct_core_size(s, body->as.lam->body, WITH_FUNCTION + 1);
    notes->verdict = NEVER;
    if (size > WITH_FUNCTION) return NEVER;
    notes->verdict = ASKED;
    s->asking++;
    bool cycle = is_on_cycle(s, body->as.lam->body);
    s->asking--;
    notes->verdict = cycle ? NEVER : size <= SMALL ? SMALL_ONE : FUNCTIONS_ONLY;
    return notes->verdict;
}

static bool is_function_in_sight(CtSimplifier *s, const CtCore *arg) {
    if (arg->kind == CORE_LAM) return true;
    if (arg->type->kind != TYPE_FUN) return false;
    if (arg->kind == CORE_GLOBAL) return ct_core_is_atom(arg);
    if (arg->kind != CORE_VAR) return false;
    const CtVarNotes *notes = ct_core_notes(s, arg->as.var);
    const CtCore *bound = notes->becomes != NULL ? notes->becomes : notes->known;
    return bound != NULL && (bound->kind == CORE_LAM || bound->kind == CORE_GLOBAL);
}

CtCore *ct_core_inlinable(CtSimplifier *s, CtGlobal *global, CtCore *const *args, uint32_t count) {
    Verdict verdict = global->is_kept || s->p->keeps_calls ? NEVER : ask(s, global);
    if (verdict == SMALL_ONE) return global->body;
    if (verdict != FUNCTIONS_ONLY) return NULL;
    for (uint32_t i = 0; i < count; i++)
        if (is_function_in_sight(s, args[i])) return global->body;
    return NULL;
}

CtCore *ct_core_global_atom(CtGlobal *global) {
    CtCore *body = global->body;
    if (body == NULL || body->kind == CORE_VAR || !ct_core_is_atom(body)) return NULL;
    return body->kind == CORE_GLOBAL && body->as.global == global ? NULL : body;
}

/* ---- order ---- */

typedef struct Walk {
    CtProgram *p;
    CtMap met;
    CT_VEC(CtGlobal *) stack; /* each global is pushed twice: to be entered, and to be left */
    CT_VEC(bool) leaving;
    CtCoreList work, found;
} Walk;

static void enter(Walk *w, CtGlobal *global) {
    CtArena *arena = w->p->context->arena;
    if (ct_map_has(&w->met, ct_key(global))) return;
    ct_push(arena, &w->stack, global);
    ct_push(arena, &w->leaving, false);
}

static void look_inside(Walk *w, CtGlobal *global) {
    CtArena *arena = w->p->context->arena;
    w->found.count = 0;
    if (global->body != NULL) ct_push(arena, &w->work, global->body);
    while (w->work.count > 0) {
        CtCore *core = w->work.items[--w->work.count];
        if (core->kind == CORE_GLOBAL) enter(w, core->as.global);
        ct_core_children(arena, core, &w->work);
    }
}

void ct_core_callees_first(CtProgram *p, CtGlobal **order) {
    CtArena *arena = p->context->arena;
    Walk w = {.p = p};
    CtMap own = {0};
    uint32_t done = 0;
    for (uint32_t i = 0; i < p->globals.count; i++) ct_map_set(arena, &own, ct_key(p->globals.items[i]), NULL);
    for (uint32_t i = 0; i < p->globals.count; i++) {
        enter(&w, p->globals.items[i]);
        while (w.stack.count > 0) {
            CtGlobal *global = w.stack.items[--w.stack.count];
            bool leaving = w.leaving.items[--w.leaving.count];
            if (leaving) {
                if (ct_map_has(&own, ct_key(global))) order[done++] = global;
            } else if (!ct_map_has(&w.met, ct_key(global))) {
                ct_map_set(arena, &w.met, ct_key(global), NULL);
                ct_push(arena, &w.stack, global);
                ct_push(arena, &w.leaving, true);
                look_inside(&w, global);
            }
        }
    }
}
