/* Functions that are defined without all of their parameters:
 *
 *     f = let a = ⟨value⟩ in λx. ⟨body of a⟩    →    f.a = ⟨value⟩;  f = λx. ⟨body of f.a⟩
 *
 * as `f = foldl step [|0, 0|]` is. f is then a function, whose calls are known, and no constant whose value is a
 * closure. What it captured is still computed once. The first use of f evaluates ⟨value⟩ although f is not called: so
 * it has to be total.
 *
 *     g x = λy. ⟨body⟩,  (g a) b    →    g{2} x y = ⟨body⟩,  g{2} a b
 *
 * as `g x = map (…)` is: calls with all arguments are of a second function that takes them all; others are as before.
 */
#include "core/simplify.h"

#include "base/rules.h"

enum {
    MOST_ELEMENTS = 1 << 16, /* of equal ones, or in order */
    MOST_ARGUMENTS = 32,
};

/* `replicate n x` and `iota n` of a number that is not large. */
static bool is_counted(const CtCore *core) {
    bool counts =
        core->kind == CORE_ARRAY && (core->as.call.of.array == ARRAY_REPLICATE || core->as.call.of.array == ARRAY_IOTA);
    const CtCore *count = counts ? core->as.call.args[0] : NULL;
    if (!counts || count->kind != CORE_LIT || count->as.lit.integer < 0 || count->as.lit.integer > MOST_ELEMENTS)
        return false;
    return core->as.call.of.array == ARRAY_IOTA || ct_core_is_total(core->as.call.args[1]);
}

/* An array literal whose rows are of one shape, or another term that is total. */
static bool is_value(const CtCore *core) {
    if (is_counted(core)) return true;
    bool rows = core->kind == CORE_ARRAY_LIT && core->type->parts[0]->kind == TYPE_ARRAY;
    if (!rows) return ct_core_is_total(core);
    for (uint32_t i = 0; i < core->as.call.count; i++) {
        const CtCore *row = core->as.call.args[i], *first = core->as.call.args[0];
        bool flat = row->kind == CORE_ARRAY_LIT && row->type->parts[0]->kind != TYPE_ARRAY;
        if (!flat || row->as.call.count != first->as.call.count || !is_value(row)) return false;
    }
    return true;
}

/* The λ behind the lets of a constant; NULL if there is none, or a let is not to be moved. */
static CtCore *lam_behind(const CtGlobal *global) {
    CtCore *core = global->body;
    if (global->is_kept || core == NULL || core->kind != CORE_LET) return NULL;
    for (; core->kind == CORE_LET; core = core->as.let.body)
        if (!is_value(core->as.let.rhs)) return NULL;
    return core->kind == CORE_LAM && core->as.lam->origin == NULL ? core : NULL;
}

/* The constant for a let's variable. `replace` has those of the lets around it. */
static CtCore *constant(CtProgram *p, const CtGlobal *owner, const CtCore *let, const CtMap *replace) {
    const CtVar *var = let->as.let.vars[0];
    const char *name = ct_format(p->context->arena, "%s.%s%u", owner->name->text, var->name->text, p->next_global);
    CtGlobal *global = ct_core_global_new(p, name, let->as.let.rhs->type, let->range);
    global->body = ct_core_copy(p, let->as.let.rhs, replace);
    global->is_library = owner->is_library;
    return ct_core_global(p, let->range, global);
}

bool ct_core_point_free(CtProgram *p) {
    uint32_t before = p->globals.count;
    for (uint32_t i = 0; i < before && !p->keeps_calls && !p->is_lazy; i++) {
        CtGlobal *global = p->globals.items[i];
        CtCore *lam = lam_behind(global);
        if (lam == NULL) continue;
        CtMap replace = {0};
        for (CtCore *let = global->body; let->kind == CORE_LET; let = let->as.let.body)
            ct_map_set(p->context->arena, &replace, ct_key(let->as.let.vars[0]), constant(p, global, let, &replace));
        const CtLam *old = lam->as.lam;
        CtCore *body = ct_core_copy(p, old->body, &replace);
        global->body = ct_core_lam(p, lam->range, old->name, old->params, old->count, body);
    }
    return p->globals.count > before;
}

/* ---- functions of functions ---- */

/* The inner λ of λx. let … in λy. body, where what is bound between the two is total; else NULL. */
static const CtLam *inner_lam(const CtGlobal *global) {
    const CtCore *core = global->body;
    if (global->is_kept || core == NULL || core->kind != CORE_LAM || core->as.lam->origin != NULL) return NULL;
    for (core = core->as.lam->body; core->kind == CORE_LET; core = core->as.let.body)
        if (!ct_core_is_total(core->as.let.rhs)) return NULL;
    return core->kind == CORE_LAM && core->as.lam->origin == NULL ? core->as.lam : NULL;
}

/* The body of the inner λ, with what is bound in front of it. */
static CtCore *inner_body(CtProgram *p, const CtCore *core) {
    if (core->kind == CORE_LAM) return core->as.lam->body;
    return ct_core_let(p, core->range, core->as.let.vars[0], core->as.let.rhs, inner_body(p, core->as.let.body));
}

static CtGlobal *with_all_parameters(CtProgram *p, const CtGlobal *global, const CtLam *inner) {
    CtArena *arena = p->context->arena;
    CtCore *copy = ct_core_copy(p, global->body, NULL);
    const CtLam *lam = copy->as.lam;
    uint32_t count = lam->count + inner->count;
    CtVar **params = CT_NEW_ARRAY(arena, CtVar *, count);
    CtCore *core = lam->body, *body = inner_body(p, core);
    while (core->kind == CORE_LET) core = core->as.let.body;
    for (uint32_t i = 0; i < count; i++)
        params[i] = i < lam->count ? lam->params[i] : core->as.lam->params[i - lam->count];
    CtCore *whole = ct_core_lam(p, global->body->range, lam->name, params, count, body);
    const char *name = ct_format(arena, "%s{%u}", global->name->text, count);
    CtGlobal *all = ct_core_global_new(p, name, whole->type, global->range);
    all->body = whole;
    all->is_library = global->is_library;
    return all;
}

/* (g a) b */
static bool is_full_call(const CtCore *core) {
    if (core->kind != CORE_APP || core->as.call.of.fun->kind != CORE_APP) return false;
    return core->as.call.of.fun->as.call.of.fun->kind == CORE_GLOBAL;
}

bool ct_core_full_calls(CtProgram *p) {
    CtArena *arena = p->context->arena;
    CtMap wholes = {0}; /* CtGlobal * -> CtGlobal * that takes all arguments */
    bool any = false;
    for (uint32_t i = 0; i < p->globals.count && !p->keeps_calls && !p->is_lazy; i++) {
        CtCoreList work = {0};
        if (p->globals.items[i]->body != NULL) ct_push(arena, &work, p->globals.items[i]->body);
        while (work.count > 0) {
            CtCore *core = work.items[--work.count], *args[MOST_ARGUMENTS];
            ct_core_children(arena, core, &work);
            if (!is_full_call(core)) continue;
            const CtCore *call = core->as.call.of.fun;
            CtGlobal *global = call->as.call.of.fun->as.global;
            const CtLam *inner = inner_lam(global);
            uint32_t first = call->as.call.count, count = first + core->as.call.count;
            if (inner == NULL || inner->count != core->as.call.count || count > MOST_ARGUMENTS) continue;
            CtGlobal *whole = ct_map_get(&wholes, ct_key(global));
            if (whole == NULL) whole = with_all_parameters(p, global, inner);
            ct_map_set(arena, &wholes, ct_key(global), whole);
            for (uint32_t j = 0; j < count; j++)
                args[j] = j < first ? call->as.call.args[j] : core->as.call.args[j - first];
            *core = *ct_core_app(p, core->range, ct_core_global(p, core->range, whole), args, count);
            any = CT_FIRED("simplify.full_call");
        }
    }
    return any;
}
