/* Functions that are defined without all of their parameters:
 *
 *     f = let a = ⟨value⟩ in λx. ⟨body of a⟩    →    f.a = ⟨value⟩;  f = λx. ⟨body of f.a⟩
 *
 * as `f = foldl step [|0, 0|]` is. f is then a function, whose calls are known, and no constant whose value is a
 * closure. What it captured is still computed once. The first use of f evaluates ⟨value⟩ although f is not called: so
 * it has to be total. */
#include "core/simplify.h"

enum { MOST_ELEMENTS = 1 << 16 }; /* of equal ones, or in order */

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
