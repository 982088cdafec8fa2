/* What is known of a term without evaluating it. */
#include "core/internal.h"

#include <string.h>

/* The FAILS column of primitives.def. */
static const bool prim_fails[] = {
#define NEVER                                                           false
#define FAIL_IF(condition, code)                                        true
#define CT_PRIM(id, name, signature, value, vector, d1, d2, fails, ...) fails,
#include "prim/primitives.def"
#undef CT_PRIM
#undef NEVER
#undef FAIL_IF
};

bool ct_core_prim_is_total(CtPrim prim) { return !prim_fails[prim]; }

/* A global that is not a function is a constant, whose first use evaluates it and may fail. */
static bool is_function(const CtGlobal *global) { return global->body != NULL && global->body->kind == CORE_LAM; }

bool ct_core_is_atom(const CtCore *core) {
    if (core->kind == CORE_GLOBAL) return is_function(core->as.global);
    if (core->kind == CORE_CON) return core->as.call.count == 0;
    if (core->kind == CORE_TUPLE) return core->as.call.count == 0;
    return core->kind == CORE_VAR || core->kind == CORE_LIT;
}

/* Whether an array operation succeeds for all arguments. */
static bool array_op_is_total(const CtCore *core) {
    CtArrayFails fails = ct_core_array_info(core->as.call.of.array)->fails;
    return fails == ARRAY_FAILS_NEVER || (fails == ARRAY_FAILS_ROWS && core->type->parts[0]->kind != TYPE_ARRAY);
}

/* Whether an Int is not 0: a literal, or the given variable. */
static bool is_not_zero(const CtCore *core, const CtVar *positive) {
    if (core->kind == CORE_LIT) return core->type->kind == TYPE_INT && core->as.lit.integer != 0;
    return core->kind == CORE_VAR && core->as.var == positive;
}

/* The divisions of Ints fail for a divisor 0 alone. */
static bool prim_is_total(const CtCore *core, const CtVar *positive) {
    switch ((int)core->as.call.of.prim) {
    case PRIM_INT_DIV:
    case PRIM_INT_MOD:
    case PRIM_INT_QUOT:
    case PRIM_INT_REM: return is_not_zero(core->as.call.args[1], positive);
    default: return ct_core_prim_is_total(core->as.call.of.prim);
    }
}

bool ct_core_prim_call_is_total(const CtCore *call) { return prim_is_total(call, NULL); }

/* `++` of lists. */
bool ct_core_is_append(const CtCore *fun) {
    static const char *const name = "++@[],";
    return fun->kind == CORE_GLOBAL && fun->as.global->is_library && fun->as.global->origin == NULL &&
           strncmp(ct_core_prelude_name(fun->as.global->name->text), name, strlen(name)) == 0;
}

/* `fuel` bounds the number of nodes visited, and so the depth of recursion. */
static bool is_total(const CtCore *core, const CtVar *positive, uint32_t *fuel) {
    for (;;) {
        if (*fuel == 0) return false;
        --*fuel;
        switch (core->kind) {
        case CORE_VAR:
        case CORE_LIT:
        case CORE_STRING:
        case CORE_LAM: return true;
        case CORE_GLOBAL: return is_function(core->as.global);
        case CORE_FAIL: return false;
        case CORE_APP: /* a recursive function uses up the fuel */
            if (ct_core_is_append(core->as.call.of.fun)) break;
            if (core->as.call.of.fun->kind != CORE_GLOBAL || !is_function(core->as.call.of.fun->as.global) ||
                core->as.call.of.fun->as.global->body->as.lam->origin != NULL ||
                !is_total(core->as.call.of.fun->as.global->body->as.lam->body, NULL, fuel))
                return false;
            break;
        case CORE_PRIM:
            if (!prim_is_total(core, positive)) return false;
            break;
        case CORE_ARRAY:
            if (!array_op_is_total(core)) return false;
            break;
        case CORE_ARRAY_LIT:
            if (core->type->parts[0]->kind == TYPE_ARRAY) return false;
            break;
        case CORE_DERIV:
            if (!ct_core_deriv_is_of_value(core->as.call.of.deriv) || core->as.call.of.deriv == DERIV_FILL)
                return false;
            break;
        case CORE_DUAL: /* that of a whole function also calls it */
            if (core->as.call.of.dual->whole) return false;
            break;
        case CORE_TUPLE:
        case CORE_CON: break;
        case CORE_LET:
        case CORE_UNPACK:
            if (!is_total(core->as.let.rhs, positive, fuel)) return false;
            core = core->as.let.body;
            continue;
        case CORE_LETREC: core = core->as.letrec.body; continue;
        case CORE_PROJ: core = core->as.proj.tuple; continue;
        case CORE_CASE:
            for (uint32_t i = 0; i < core->as.cases.count; i++)
                if (!is_total(core->as.cases.cases[i].body, positive, fuel)) return false;
            if (core->as.cases.otherwise != NULL && !is_total(core->as.cases.otherwise, positive, fuel)) return false;
            core = core->as.cases.scrutinee;
            continue;
        }
        uint32_t count = core->as.call.count;
        if (count == 0) return true;
        for (uint32_t i = 0; i + 1 < count; i++)
            if (!is_total(core->as.call.args[i], positive, fuel)) return false;
        core = core->as.call.args[count - 1];
    }
}

bool ct_core_is_total(const CtCore *core) { return ct_core_is_total_for(core, NULL); }

bool ct_core_is_total_for(const CtCore *core, const CtVar *positive) {
    uint32_t fuel = 200;
    return is_total(core, positive, &fuel);
}

/* ---- depth ---- */

/* Traversals iterate over chains of bindings and list cells, which count as one level. */
bool ct_core_is_deeper(const CtCore *core, uint32_t levels) {
    for (; core != NULL; levels--) {
        if (levels == 0) return true;
        while (core->kind == CORE_LET || core->kind == CORE_UNPACK || core->kind == CORE_LETREC ||
               (core->kind == CORE_CON && core->as.call.count > 0)) {
            bool con = core->kind == CORE_CON, group = core->kind == CORE_LETREC;
            if (!con && !group && ct_core_is_deeper(core->as.let.rhs, levels - 1)) return true;
            for (uint32_t i = 0; group && i < core->as.letrec.count; i++)
                if (ct_core_is_deeper(core->as.letrec.binds[i].lam, levels - 1)) return true;
            for (uint32_t i = 0; con && i + 1 < core->as.call.count; i++)
                if (ct_core_is_deeper(core->as.call.args[i], levels - 1)) return true;
            core = con ? core->as.call.args[core->as.call.count - 1] : group ? core->as.letrec.body : core->as.let.body;
        }
        switch (core->kind) {
        case CORE_VAR:
        case CORE_GLOBAL:
        case CORE_LIT:
        case CORE_STRING: return false;
        case CORE_LAM: core = core->as.lam->body; continue;
        case CORE_PROJ: core = core->as.proj.tuple; continue;
        case CORE_FAIL: core = core->as.fail.message; continue;
        case CORE_CASE:
            for (uint32_t i = 0; i < core->as.cases.count; i++)
                if (ct_core_is_deeper(core->as.cases.cases[i].body, levels - 1)) return true;
            if (ct_core_is_deeper(core->as.cases.scrutinee, levels - 1)) return true;
            core = core->as.cases.otherwise;
            continue;
        case CORE_APP:
            if (ct_core_is_deeper(core->as.call.of.fun, levels - 1)) return true;
            break;
        case CORE_TUPLE:
        case CORE_CON:
        case CORE_PRIM:
        case CORE_ARRAY:
        case CORE_ARRAY_LIT:
        case CORE_DERIV:
        case CORE_DUAL:
        case CORE_LET:
        case CORE_UNPACK:
        case CORE_LETREC: break;
        }
        uint32_t count = core->as.call.count;
        for (uint32_t i = 0; i + 1 < count; i++)
            if (ct_core_is_deeper(core->as.call.args[i], levels - 1)) return true;
        core = count > 0 ? core->as.call.args[count - 1] : NULL;
    }
    return false;
}

bool ct_core_within_depth(CtArena *arena, CtCore *core, uint32_t limit) {
    CtCoreList work = {0};
    CT_VEC(uint32_t) levels = {0}; /* nesting levels of the terms in `work` */
    ct_push(arena, &work, core);
    ct_push(arena, &levels, 0);
    while (work.count > 0) {
        CtCore *next = work.items[--work.count];
        uint32_t level = levels.items[--levels.count];
        if (level > limit) return false;
        ct_core_children(arena, next, &work);
        for (uint32_t i = levels.count; i < work.count; i++) ct_push(arena, &levels, level + 1);
    }
    return true;
}
