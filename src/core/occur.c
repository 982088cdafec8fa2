/* For the simplifier: occurrences of variables, and which terms may be moved. */
#include "core/lists.h"
#include "core/simplify.h"

CtVarNotes *ct_core_notes(CtSimplifier *s, CtVar *var) {
    CtVarNotes *notes = var->notes;
    if (notes == NULL) notes = var->notes = CT_NEW(s->p->context->arena, CtVarNotes);
    if (notes->run != s->run) *notes = (CtVarNotes){.run = s->run};
    return notes;
}

/* ---- counting ---- */

static void bind(CtSimplifier *s, CtVar *const *vars, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (vars[i] == NULL) continue;
        CtVarNotes *notes = ct_core_notes(s, vars[i]);
        *notes = (CtVarNotes){.run = s->run, .depth = s->depth};
    }
}

static void use(CtSimplifier *s, CtVar *var) {
    CtVarNotes *notes = ct_core_notes(s, var);
    notes->uses++;
    notes->crosses |= s->depth > notes->depth;
    notes->pinned |= s->pinning > 0;
}

static void open(CtSimplifier *s, const CtCore *core) {
    if (core->kind == CORE_VAR) ct_core_notes(s, core->as.var)->opens++;
}

/* The captured variables of a λ with an origin stay, used or not: its transformed version takes them all. As these are
 * all that it uses of what is around it, and it is not changed, what is inside is only counted when it is opened:
 * nested λs are transformed from the inside, and each would be gone through again for each λ around it. */
static void pin_captures(CtSimplifier *s, const CtLam *lam) {
    for (uint32_t i = 0; i < lam->capture_count; i++) {
        CtVarNotes *notes = ct_core_notes(s, lam->captures[i]);
        notes->uses++;
        notes->crosses = notes->pinned = true;
    }
}

static void count_lam(CtSimplifier *s, CtLam *lam) {
    if (lam->origin != NULL) {
        ct_core_captures(s->p, lam);
        pin_captures(s, lam);
        return;
    }
    s->depth++;
    bind(s, lam->params, lam->count);
    ct_core_count_uses(s, lam->body);
    s->depth--;
}

void ct_core_count_opened(CtSimplifier *s, const CtLam *lam) {
    if (lam->origin == NULL) return; /* it is counted */
    s->pinning++;                    /* what becomes of it is left to the next round */
    bind(s, lam->params, lam->count);
    ct_core_count_uses(s, lam->body);
    s->pinning--;
}

static void count_group(CtSimplifier *s, CtCore *core) {
    CtBind *binds = core->as.letrec.binds;
    uint32_t count = core->as.letrec.count;
    for (uint32_t i = 0; i < count; i++) bind(s, &binds[i].var, 1);
    bool has_origin = false; /* if so, the whole group is not changed */
    for (uint32_t i = 0; i < count; i++) has_origin = has_origin || binds[i].lam->as.lam->origin != NULL;
    s->pinning += has_origin;
    for (uint32_t i = 0; i < count; i++) count_lam(s, binds[i].lam->as.lam);
    s->pinning -= has_origin;
    for (uint32_t i = 0; i < count; i++) {
        CtVarNotes *notes = ct_core_notes(s, binds[i].var);
        notes->inner_uses = notes->uses;
    }
}

/* The function that an array operation or a derivative applies: a λ there counts as called in place. */
static const CtCore *function_argument(const CtCore *core) {
    int index = 0;
    if (core->kind == CORE_ARRAY)
        index = ct_core_array_info(core->as.call.of.array)->function;
    else if (ct_core_deriv_is_of_value(core->as.call.of.deriv))
        index = -1;
    return index >= 0 && (uint32_t)index < core->as.call.count ? core->as.call.args[index] : NULL;
}

/* Counts in all children but the last, which it returns. */
static CtCore *count_but_last(CtSimplifier *s, CtCore *core) {
    switch (core->kind) {
    case CORE_VAR: use(s, core->as.var); return NULL;
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING: return NULL;
    case CORE_LAM: count_lam(s, core->as.lam); return NULL;
    case CORE_LET:
    case CORE_UNPACK:
        if (core->kind == CORE_UNPACK) open(s, core->as.let.rhs);
        ct_core_count_uses(s, core->as.let.rhs);
        bind(s, core->as.let.vars, core->as.let.count);
        return core->as.let.body;
    case CORE_LETREC: count_group(s, core); return core->as.letrec.body;
    case CORE_PROJ: open(s, core->as.proj.tuple); return core->as.proj.tuple;
    case CORE_CASE:
        open(s, core->as.cases.scrutinee);
        ct_core_count_uses(s, core->as.cases.scrutinee);
        for (uint32_t i = 0; i < core->as.cases.count; i++) {
            const CtCase *c = &core->as.cases.cases[i];
            bind(s, c->vars, c->con->count);
            ct_core_count_uses(s, c->body);
        }
        return core->as.cases.otherwise;
    case CORE_FAIL: return core->as.fail.message;
    case CORE_APP:
        if (core->as.call.of.fun->kind == CORE_VAR) ct_core_notes(s, core->as.call.of.fun->as.var)->calls++;
        ct_core_count_uses(s, core->as.call.of.fun);
        break;
    case CORE_ARRAY:
    case CORE_DERIV: {
        const CtCore *fun = function_argument(core);
        if (fun != NULL && fun->kind == CORE_VAR) ct_core_notes(s, fun->as.var)->calls++;
        break;
    }
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PRIM:
    case CORE_ARRAY_LIT:
    case CORE_DUAL: break;
    }
    uint32_t count = core->as.call.count;
    for (uint32_t i = 0; i + 1 < count; i++) ct_core_count_uses(s, core->as.call.args[i]);
    return count > 0 ? core->as.call.args[count - 1] : NULL;
}

void ct_core_count_uses(CtSimplifier *s, CtCore *core) {
    while (core != NULL) core = count_but_last(s, core);
}

/* ---- measuring ---- */

uint32_t ct_core_size(CtSimplifier *s, CtCore *core, uint32_t limit) {
    CtArena *arena = s->p->context->arena;
    CtCoreList work = {0};
    uint32_t size = 0;
    ct_push(arena, &work, core);
    while (work.count > 0 && size < limit) {
        size++;
        ct_core_children(arena, work.items[--work.count], &work);
    }
    return size;
}

/* ---- moving ---- */

/* cycle of a list that is written out, and has an element. */
static bool is_cycle(const CtCore *core) {
    if (ct_core_list_call(core) != LIST_CYCLE || core->as.call.count != 1) return false;
    const CtCore *list = core->as.call.args[0];
    return list->kind == CORE_CON && list->as.call.count == 2;
}

/* Only terms made of atoms, λs, constructions and scalars: a read of an array or tuple that is moved back keeps the
 * whole alive until then, and an update in place would become a copy. */
static bool movable(CtSimplifier *s, const CtCore *core, uint32_t *weight, uint32_t *fuel) {
    if (*fuel == 0) return false;
    --*fuel;
    ++*weight;
    switch (core->kind) {
    case CORE_VAR: {
        const CtVarNotes *notes = ct_core_notes(s, core->as.var);
        if (notes->pending) *weight += notes->weight;
        return true;
    }
    case CORE_LIT:
    case CORE_STRING:
    case CORE_LAM: return true;
    case CORE_GLOBAL: return ct_core_is_atom(core);
    case CORE_PRIM:
        if (!ct_core_prim_is_total(core->as.call.of.prim)) return false;
        break;
    case CORE_TUPLE:
    case CORE_CON: break;
    case CORE_APP: /* iterate f x and cycle [x, y] make a first cell and no more: what goes through them is then at hand
                    * (list_streams.c) */
        if (ct_core_list_call(core) != LIST_ITERATE && !is_cycle(core)) return false;
        break;
    case CORE_LET:
    case CORE_LETREC:
    case CORE_PROJ:
    case CORE_UNPACK:
    case CORE_CASE:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL:
    case CORE_FAIL: return false;
    }
    for (uint32_t i = 0; i < core->as.call.count; i++)
        if (!movable(s, core->as.call.args[i], weight, fuel)) return false;
    return true;
}

bool ct_core_is_movable(CtSimplifier *s, const CtCore *core, uint32_t *weight) {
    uint32_t fuel = 20;
    *weight = 0;
    return movable(s, core, weight, &fuel);
}

/* ---- the next thing to be evaluated ---- */

/* The place of the child that is evaluated first (other atoms than `var` do not count), in a copy of the node; NULL
 * when there is none. */
static CtCore **first_child(CtSimplifier *s, CtCore *copy, const CtVar *var) {
    enum { MOST = 16 }; /* bound of the arguments of a node that is copied for this */
    switch (copy->kind) {
    case CORE_LET:
    case CORE_UNPACK: return &copy->as.let.rhs;
    case CORE_PROJ: return &copy->as.proj.tuple;
    case CORE_CASE: return &copy->as.cases.scrutinee;
    case CORE_APP: {
        const CtCore *fun = copy->as.call.of.fun;
        bool is_var = fun->kind == CORE_VAR && fun->as.var == var;
        if (is_var || !ct_core_is_atom(fun)) return &copy->as.call.of.fun;
        break;
    }
    case CORE_TUPLE:
    case CORE_CON:
    case CORE_PRIM:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT: break;
    case CORE_VAR:
    case CORE_GLOBAL:
    case CORE_LIT:
    case CORE_STRING:
    case CORE_LAM:
    case CORE_LETREC:
    case CORE_DERIV:
    case CORE_DUAL:
    case CORE_FAIL: return NULL;
    }
    uint32_t count = copy->as.call.count, i = 0;
    CtCore **old = copy->as.call.args;
    while (i < count && ct_core_is_atom(old[i]) && !(old[i]->kind == CORE_VAR && old[i]->as.var == var)) i++;
    if (i == count || count > MOST) return NULL;
    copy->as.call.args = CT_NEW_ARRAY(s->p->context->arena, CtCore *, count);
    memcpy(copy->as.call.args, old, count * sizeof *old);
    return &copy->as.call.args[i];
}

CtCore *ct_core_put_first(CtSimplifier *s, CtCore *body, const CtVar *var, CtCore *term) {
    enum { STEPS = 6 };
    CtCore *result = body, **place = &result;
    for (uint32_t i = 0; i < STEPS && place != NULL; i++) {
        if ((*place)->kind == CORE_VAR && (*place)->as.var == var) {
            *place = term;
            return result;
        }
        CtCore *copy = CT_NEW(s->p->context->arena, CtCore);
        *copy = **place;
        *place = copy;
        place = first_child(s, copy, var);
    }
    return NULL;
}
