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
 * The λ may be behind choices, with others beside it, and in a newtype, which the call takes off:
 *
 *     steps n = if n == 0 then State (λs. (s, ())) else State (λs. … runState (steps (n - 1)) s' …)
 *
 * so that recursion that gives actions of a state becomes recursion on the state, of local functions, too. The second
 * arguments have to be total, so that it does not matter when they are evaluated; else what is in front of the λ has.
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

/* The function that a value of this type is: the type itself, or that in newtypes; NULL: it is none. */
static const CtType *function_in(const CtType *type) {
    while (type->kind == TYPE_DATA && type->data->is_newtype && type->data->con_count == 1)
        type = type->data->cons[0].fields[0];
    return type->kind == TYPE_FUN ? type : NULL;
}

/* The λ that a term is, in newtypes; NULL: it is none. */
static const CtLam *lam_in(const CtCore *core) {
    while (core->kind == CORE_CON && core->type->data->is_newtype) core = core->as.call.args[0];
    return core->kind == CORE_LAM && core->as.lam->origin == NULL ? core->as.lam : NULL;
}

/* Whether a function gives a λ, with `count` parameters, in some case. `total`: what is evaluated before has to be. */
static bool gives_lam(const CtCore *core, uint32_t count, bool total) {
    for (; core->kind == CORE_LET; core = core->as.let.body)
        if (total && !ct_core_is_total(core->as.let.rhs)) return false;
    if (core->kind == CORE_CASE) {
        bool any = core->as.cases.otherwise != NULL && gives_lam(core->as.cases.otherwise, count, total);
        for (uint32_t i = 0; i < core->as.cases.count; i++)
            any |= gives_lam(core->as.cases.cases[i].body, count, total);
        return any && !total;
    }
    const CtLam *lam = lam_in(core);
    return lam != NULL && lam->count == count;
}

/* The arguments of a λ's parameters are given to them. */
static CtCore *bind_params(CtProgram *p, const CtLam *lam, CtVar *const *params) {
    CtCore *body = lam->body;
    for (uint32_t i = lam->count; i-- > 0;)
        body = ct_core_let(p, body->range, lam->params[i], ct_core_var(p, body->range, params[i]), body);
    return body;
}

/* The function in newtypes. */
static CtCore *taken_out(CtProgram *p, CtCore *core) {
    while (core->type->kind == TYPE_DATA) {
        CtCon *con = &core->type->data->cons[0];
        CtVar **field = CT_NEW(p->context->arena, CtVar *);
        *field = ct_core_var_new(p, "field", con->fields[0]);
        CtCase *one = CT_NEW(p->context->arena, CtCase);
        *one = (CtCase){con, field, ct_core_var(p, core->range, *field)};
        core = ct_core_case(p, core->range, con->fields[0], core, one, 1, NULL);
    }
    return core;
}

/* What a function's body gives, applied to more arguments. */
static CtCore *apply_body(CtProgram *p, CtCore *core, CtVar *const *params, uint32_t count) {
    CtArena *arena = p->context->arena;
    if (core->kind == CORE_LET)
        return ct_core_let(p, core->range, core->as.let.vars[0], core->as.let.rhs,
                           apply_body(p, core->as.let.body, params, count));
    if (core->kind == CORE_CASE) {
        CtCase *cases = CT_NEW_ARRAY(arena, CtCase, core->as.cases.count + 1);
        CtCore *otherwise = core->as.cases.otherwise;
        for (uint32_t i = 0; i < core->as.cases.count; i++) {
            cases[i] = core->as.cases.cases[i];
            cases[i].body = apply_body(p, cases[i].body, params, count);
        }
        if (otherwise != NULL) otherwise = apply_body(p, otherwise, params, count);
        CtType *type = ct_core_type_fun_result((CtType *)function_in(core->type)); // NOLINT
        return ct_core_case(p, core->range, type, core->as.cases.scrutinee, cases, core->as.cases.count, otherwise);
    }
    if (core->kind == CORE_FAIL) {
        CtCore *fail = CT_NEW(arena, CtCore);
        *fail = *core;
        fail->type = ct_core_type_fun_result((CtType *)function_in(core->type)); // NOLINT
        return fail;
    }
    const CtLam *lam = lam_in(core);
    if (lam != NULL) return bind_params(p, lam, params);
    CtCore **args = CT_NEW_ARRAY(arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) args[i] = ct_core_var(p, core->range, params[i]);
    return ct_core_app(p, core->range, taken_out(p, core), args, count);
}

/* A λ's parameters, and one for each of the function that it gives. */
static CtVar **all_params(CtProgram *p, const CtLam *lam, const CtType *function) {
    uint32_t count = lam->count + function->count - 1;
    CtVar **params = CT_NEW_ARRAY(p->context->arena, CtVar *, count);
    for (uint32_t i = 0; i < count; i++)
        params[i] = i < lam->count ? lam->params[i] : ct_core_var_new(p, "x", function->parts[i - lam->count]);
    return params;
}

static CtGlobal *with_all_parameters(CtProgram *p, const CtGlobal *global, const CtType *function) {
    CtArena *arena = p->context->arena;
    CtCore *copy = ct_core_copy(p, global->body, NULL);
    const CtLam *lam = copy->as.lam;
    uint32_t more = function->count - 1, count = lam->count + more;
    CtVar **params = all_params(p, lam, function);
    CtCore *body = apply_body(p, lam->body, params + lam->count, more);
    CtCore *whole = ct_core_lam(p, global->body->range, lam->name, params, count, body);
    const char *name = ct_format(arena, "%s{%u}", global->name->text, count);
    CtGlobal *all = ct_core_global_new(p, name, whole->type, global->range);
    all->body = whole;
    all->is_library = global->is_library;
    return all;
}

/* (g a) b, also where g a is in newtypes: the call g a; NULL: it is another term. */
static const CtCore *full_call(const CtCore *core) {
    if (core->kind != CORE_APP) return NULL;
    const CtCore *call = core->as.call.of.fun;
    while (call->kind == CORE_CASE && call->as.cases.count == 1 && call->as.cases.otherwise == NULL) {
        const CtCase *one = &call->as.cases.cases[0];
        bool takes_off = one->con->data->is_newtype && one->vars != NULL && one->body->kind == CORE_VAR &&
                         one->body->as.var == one->vars[0];
        if (!takes_off) return NULL;
        call = call->as.cases.scrutinee;
    }
    return call->kind == CORE_APP ? call : NULL;
}

static bool are_total(const CtCore *app) {
    for (uint32_t i = 0; i < app->as.call.count; i++)
        if (!ct_core_is_total(app->as.call.args[i])) return false;
    return true;
}

/* Whether a call, which `core` applies to more arguments, is of a function that gives a λ of these. */
static bool may_take_all(const CtCore *core, const CtCore *call, const CtLam *lam) {
    uint32_t more = core->as.call.count, first = call->as.call.count;
    const CtType *function = function_in(call->type);
    if (lam->origin != NULL || lam->count != first || first + more > MOST_ARGUMENTS) return false;
    if (function == NULL || function->count != more + 1) return false;
    return gives_lam(lam->body, more, !are_total(core));
}

static CtLam *lam_of(const CtGlobal *global) {
    if (global->is_kept || global->body == NULL || global->body->kind != CORE_LAM) return NULL;
    return global->body->as.lam;
}

/* Writes (g a) b as a call of a function of all arguments. */
static void take_all(CtProgram *p, CtCore *core, const CtCore *call, CtCore *whole) {
    CtCore *args[MOST_ARGUMENTS];
    uint32_t first = call->as.call.count, count = first + core->as.call.count;
    for (uint32_t j = 0; j < count; j++) args[j] = j < first ? call->as.call.args[j] : core->as.call.args[j - first];
    *core = *ct_core_app(p, core->range, whole, args, count);
    CT_FIRED("simplify.full_call");
}

/* ---- local functions ---- */

/* Whether all uses of a local function are calls that may take all arguments; `calls`: these. */
static bool only_full_calls(CtProgram *p, CtCore *letrec, CtCoreList *calls) {
    const CtBind *bind = &letrec->as.letrec.binds[0];
    uint32_t uses = 0, more = 0;
    CtCoreList work = {0};
    ct_push(p->context->arena, &work, letrec->as.letrec.body);
    ct_push(p->context->arena, &work, bind->lam->as.lam->body);
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        ct_core_children(p->context->arena, core, &work);
        uses += core->kind == CORE_VAR && core->as.var == bind->var;
        const CtCore *call = full_call(core);
        if (call == NULL || call->as.call.of.fun->kind != CORE_VAR || call->as.call.of.fun->as.var != bind->var)
            continue;
        if (!may_take_all(core, call, bind->lam->as.lam) || (more != 0 && more != core->as.call.count)) return false;
        more = core->as.call.count;
        ct_push(p->context->arena, calls, core);
    }
    return calls->count > 0 && uses == calls->count;
}

/* letrec f x = … λy. … in …, all of whose calls are (f a) b */
static bool local_takes_all(CtProgram *p, CtCore *letrec) {
    CtCoreList calls = {0};
    if (letrec->kind != CORE_LETREC || letrec->as.letrec.count != 1 || !only_full_calls(p, letrec, &calls))
        return false;
    const CtBind *bind = &letrec->as.letrec.binds[0];
    const CtLam *lam = bind->lam->as.lam;
    const CtType *function = function_in(lam->body->type);
    uint32_t more = function->count - 1, count = lam->count + more;
    CtVar **params = all_params(p, lam, function);
    CtCore *body = apply_body(p, lam->body, params + lam->count, more);
    CtCore *whole = ct_core_lam(p, bind->lam->range, lam->name, params, count, body);
    CtVar *var = ct_core_var_like(p, bind->var, whole->type);
    for (uint32_t i = 0; i < calls.count; i++)
        take_all(p, calls.items[i], full_call(calls.items[i]), ct_core_var(p, calls.items[i]->range, var));
    *letrec = *ct_core_letrec(p, letrec->range, &(CtBind){var, whole}, 1, letrec->as.letrec.body);
    return true;
}

/* ---- calls that are bound first ---- */

/* Whether a term fails never: also a map of numbers, of a function that does not. */
static bool never_fails(const CtCore *core) {
    if (core->kind != CORE_ARRAY || core->as.call.of.array != ARRAY_MAP) return ct_core_is_total(core);
    const CtCore *fun = core->as.call.args[0];
    return fun->kind == CORE_LAM && core->type->parts[0]->kind != TYPE_ARRAY && ct_core_is_total(fun->as.lam->body) &&
           never_fails(core->as.call.args[1]);
}

/* The term that is evaluated first behind total ones, if it applies a variable, in newtypes, to arguments: that use of
 * the variable; else NULL. */
static CtCore **first_applied(CtCore **place, const CtVar *var) {
    for (;;) {
        CtCore *core = *place;
        switch ((int)core->kind) {
        case CORE_LET: place = never_fails(core->as.let.rhs) ? &core->as.let.body : &core->as.let.rhs; break;
        case CORE_UNPACK: place = &core->as.let.rhs; break;
        case CORE_PROJ: place = &core->as.proj.tuple; break;
        case CORE_CASE: place = &core->as.cases.scrutinee; break;
        case CORE_APP:
            place = &core->as.call.of.fun;
            while ((*place)->kind == CORE_CASE && (*place)->as.cases.count == 1) place = &(*place)->as.cases.scrutinee;
            return (*place)->kind == CORE_VAR && (*place)->as.var == var ? place : NULL;
        default: return NULL;
        }
    }
}

static uint32_t uses_of(CtProgram *p, CtCore *core, const CtVar *var) {
    uint32_t uses = 0;
    CtCoreList work = {0};
    ct_push(p->context->arena, &work, core);
    while (work.count > 0) {
        CtCore *one = work.items[--work.count];
        uses += one->kind == CORE_VAR && one->as.var == var;
        ct_core_children(p->context->arena, one, &work);
    }
    return uses;
}

/* let m = g a in … m b …, where m is applied before anything else that is not total: … (g a) b … */
static void apply_bound(CtProgram *p, CtCore *let) {
    while (let->kind == CORE_LET) {
        CtCore *call = let->as.let.rhs;
        CtVar *var = let->as.let.vars[0];
        if (call->kind != CORE_APP || function_in(call->type) == NULL) return;
        CtCore **place = first_applied(&let->as.let.body, var);
        if (place == NULL || uses_of(p, let->as.let.body, var) != 1) return;
        *place = call;
        *let = *let->as.let.body;
        CT_FIRED("simplify.applied_call");
    }
}

bool ct_core_full_calls(CtProgram *p) {
    CtArena *arena = p->context->arena;
    CtMap wholes = {0}; /* CtGlobal * -> CtGlobal * that takes all arguments */
    bool any = false;
    for (uint32_t i = 0; i < p->globals.count && !p->keeps_calls && !p->is_lazy; i++) {
        CtCoreList work = {0};
        if (p->globals.items[i]->body != NULL) ct_push(arena, &work, p->globals.items[i]->body);
        while (work.count > 0) {
            CtCore *core = work.items[--work.count];
            if (core->kind == CORE_LAM && core->as.lam->origin != NULL) continue;
            apply_bound(p, core);
            any |= local_takes_all(p, core);
            ct_core_children(arena, core, &work);
            const CtCore *call = full_call(core);
            CtGlobal *global =
                call != NULL && call->as.call.of.fun->kind == CORE_GLOBAL ? call->as.call.of.fun->as.global : NULL;
            const CtLam *lam = global != NULL ? lam_of(global) : NULL;
            if (lam == NULL || !may_take_all(core, call, lam)) continue;
            CtGlobal *whole = ct_map_get(&wholes, ct_key(global));
            if (whole == NULL) whole = with_all_parameters(p, global, function_in(call->type));
            ct_map_set(arena, &wholes, ct_key(global), whole);
            take_all(p, core, call, ct_core_global(p, core->range, whole));
            any = true;
        }
    }
    return any;
}
