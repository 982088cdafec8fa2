/* Specialises functions to the functions that they are given: a call `fold (λa x. …) z xs` of a global that passes its
 * first parameter on unchanged becomes a call of a copy of `fold` in which the parameter is the λ, so that calls of
 * unknown functions in loops become inline code. Variables captured by the λ become parameters of the copy.
 *
 * A parameter is fixed if it has a function type and every recursive call passes it on. A λ is specialised to if the
 * simplifier will inline it (it is called once, or small); a larger closed λ becomes a global, and one with captured
 * variables a small λ that calls a global of them. There is one copy for each global passed, and one for each call with
 * a λ, at most GENERATIONS deep and within a budget of nodes, so that the program grows by a constant factor.
 *
 * So is a parameter of a type whose constructors have no fields, as a mode or an option has, that every recursive call
 * passes on: a call that gives a constructor calls the copy for it, of which there is one for each constructor. */
#include "core/simplify.h"

#include "base/rules.h"

enum { MAX_BODY = 400, MAX_LAM = 200, SMALL = 10, MAX_LIFTED = 6, GENERATIONS = 3, MAX_PARAMS = 32, MAX_DEPTH = 2500 };

typedef struct Function {
    uint32_t fixed;      /* bit i: parameter i is fixed */
    uint32_t generation; /* nesting depth of copies of copies */
    CtMap copies;        /* argument -> CtGlobal *, for copies specialised to a global */
    uint32_t numbered;   /* number of copies so far */
} Function;

typedef struct Specialiser {
    CtProgram *p;
    CtSimplifier count; /* for its notes on variables */
    CtMap functions;    /* CtGlobal * -> Function * */
    uint32_t fuel, changes;
    uint32_t generation; /* of the current global */
} Specialiser;

/* ---- fixed parameters ---- */

static bool passes_on(const CtCore *arg, const CtVar *param) { return arg->kind == CORE_VAR && arg->as.var == param; }

static bool is_mode(const CtType *type) {
    return type->kind == TYPE_DATA && type->data->is_enum && type->data->con_count > 1;
}

/* The parameters that may be known: functions, and modes. */
static uint32_t candidates_among(const CtLam *lam) {
    uint32_t bits = 0;
    for (uint32_t i = 0; i < lam->count; i++) {
        const CtType *type = lam->params[i]->type;
        bits |= (uint32_t)(type->kind == TYPE_FUN || is_mode(type)) << i;
    }
    return bits;
}

/* The fixed parameters of a global, as bits. 0 if the global is used otherwise than by calling it. */
static uint32_t find_fixed(CtProgram *p, CtGlobal *global) {
    CtArena *arena = p->context->arena;
    if (global->is_kept) return 0;
    const CtLam *lam = global->body->as.lam;
    uint32_t fixed = lam->count <= MAX_PARAMS ? candidates_among(lam) : 0, mentions = 0, calls = 0, nodes = 0;
    CtCoreList work = {0};
    if (fixed != 0) ct_push(arena, &work, lam->body);
    while (work.count > 0 && fixed != 0) {
        CtCore *core = work.items[--work.count];
        if (++nodes > MAX_BODY) return 0;
        mentions += core->kind == CORE_GLOBAL && core->as.global == global;
        ct_core_children(arena, core, &work);
        if (core->kind != CORE_APP || core->as.call.of.fun->kind != CORE_GLOBAL) continue;
        if (core->as.call.of.fun->as.global != global) continue;
        calls++;
        for (uint32_t i = 0; i < lam->count; i++)
            if (!passes_on(core->as.call.args[i], lam->params[i])) fixed &= ~(1u << i);
    }
    return mentions == calls ? fixed : 0;
}

static Function *function_of(Specialiser *s, CtGlobal *global) {
    Function *function = ct_map_get(&s->functions, ct_key(global));
    if (function != NULL) return function;
    function = CT_NEW(s->p->context->arena, Function);
    bool is_lam = global->body != NULL && global->body->kind == CORE_LAM && global->body->as.lam->origin == NULL;
    function->fixed = is_lam ? find_fixed(s->p, global) : 0;
    ct_map_set(s->p->context->arena, &s->functions, ct_key(global), function);
    return function;
}

/* ---- which calls ---- */

/* How many calls there are of this parameter; 0 where it is used otherwise, but for being passed on. */
static uint32_t calls_of(Specialiser *s, CtGlobal *global, uint32_t index) {
    const CtLam *lam = global->body->as.lam;
    ct_core_count_uses(&s->count, global->body);
    const CtVarNotes *notes = ct_core_notes(&s->count, lam->params[index]);
    uint32_t passed_on = 0;
    CtCoreList work = {0};
    ct_push(s->p->context->arena, &work, lam->body);
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        ct_core_children(s->p->context->arena, core, &work);
        if (core->kind == CORE_APP && core->as.call.of.fun->kind == CORE_GLOBAL &&
            core->as.call.of.fun->as.global == global)
            passed_on++;
    }
    return notes->pinned || notes->calls != notes->uses - passed_on ? 0 : notes->calls;
}

/* Whether the simplifier will inline a λ that is bound to this parameter. */
static bool will_be_inlined(Specialiser *s, CtGlobal *global, uint32_t index, const CtLam *given) {
    uint32_t calls = calls_of(s, global, index);
    return calls == 1 || (calls > 1 && ct_core_size(&s->count, given->body, SMALL + 1) <= SMALL);
}

static bool is_constructor(const CtCore *core) { return core->kind == CORE_CON && is_mode(core->type); }

/* The first fixed parameter for which the call passes what can be specialised to; −1 for none. */
static int find_known(Specialiser *s, const CtCore *app, const Function *function) {
    CtGlobal *global = app->as.call.of.fun->as.global;
    for (uint32_t i = 0; i < app->as.call.count; i++) {
        CtCore *arg = app->as.call.args[i];
        if ((function->fixed >> i & 1) == 0) continue;
        if (arg->kind == CORE_GLOBAL && ct_core_is_atom(arg) && arg->type->kind == TYPE_FUN) return (int)i;
        if (is_constructor(arg)) return (int)i;
        if (arg->kind != CORE_LAM || arg->as.lam->origin != NULL) continue;
        if (ct_core_size(&s->count, arg, MAX_LAM) >= MAX_LAM) continue;
        ct_core_captures(s->p, arg->as.lam);
        if (arg->as.lam->capture_count == 0 || will_be_inlined(s, global, i, arg->as.lam)) return (int)i;
        bool is_lifted = arg->as.lam->capture_count + arg->as.lam->count <= MAX_LIFTED;
        if (is_lifted) return (int)i;
    }
    return -1;
}

/* ---- making a copy ---- */

typedef struct Copy {
    Specialiser *s;
    CtGlobal *old, *new;
    uint32_t index; /* of the parameter that is removed */
    CtVar **extra;  /* captured variables of the λ, as parameters of the copy */
    uint32_t extra_count;
} Copy;

/* The arguments of a call of the copy: all but the one removed, then the captured variables. */
static CtCore *call_copy(const Copy *c, const CtCore *app, CtVar *const *captured) {
    CtProgram *p = c->s->p;
    CtCore **args = CT_NEW_ARRAY(p->context->arena, CtCore *, app->as.call.count + c->extra_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < app->as.call.count; i++)
        if (i != c->index) args[count++] = app->as.call.args[i];
    for (uint32_t i = 0; i < c->extra_count; i++) args[count++] = ct_core_var(p, app->range, captured[i]);
    return ct_core_app(p, app->range, ct_core_global(p, app->range, c->new), args, count);
}

static CtCore *redirect(void *data, CtCore *core) {
    const Copy *c = data;
    CtCore *mapped = ct_core_map(c->s->p, core, redirect, data);
    bool own = mapped->kind == CORE_APP && mapped->as.call.of.fun->kind == CORE_GLOBAL &&
               mapped->as.call.of.fun->as.global == c->old;
    return own ? call_copy(c, mapped, c->extra) : mapped;
}

/* λrest, captured. let f = the function in body, with recursive calls redirected to the copy. */
static CtCore *copy_body(Copy *c, CtCore *given) {
    CtProgram *p = c->s->p;
    CtArena *arena = p->context->arena;
    CtCore *fresh = ct_core_copy(p, c->old->body, NULL);
    const CtLam *lam = fresh->as.lam;
    CtMap replace = {0};
    CtVar **params = CT_NEW_ARRAY(arena, CtVar *, lam->count + c->extra_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < lam->count; i++)
        if (i != c->index) params[count++] = lam->params[i];
    for (uint32_t i = 0; i < c->extra_count; i++) {
        CtVar *captured = given->as.lam->captures[i];
        c->extra[i] = params[count++] = ct_core_var_like(p, captured, captured->type);
        ct_map_set(arena, &replace, ct_key(captured), ct_core_var(p, given->range, c->extra[i]));
    }
    CtCore *body = redirect(c, lam->body);
    CtCore *function = ct_core_copy(p, given, &replace);
    body = ct_core_let(p, given->range, lam->params[c->index], function, body);
    return ct_core_lam(p, fresh->range, lam->name, params, count, body);
}

static CtType *copy_type(CtProgram *p, const Copy *c, const CtType *type, const CtLam *given) {
    CtType **params = CT_NEW_ARRAY(p->context->arena, CtType *, type->count + c->extra_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i + 1 < type->count; i++)
        if (i != c->index) params[count++] = type->parts[i];
    for (uint32_t i = 0; i < c->extra_count; i++) params[count++] = given->captures[i]->type;
    return ct_core_type_fun(p, params, count, type->parts[type->count - 1]);
}

/* Makes a λ that will not be inlined a global: λ⟨captured, params⟩. body. What it was calls that, if it captures. */
static CtCore *as_global(Specialiser *s, CtGlobal *owner, Function *function, CtCore *given) {
    CtProgram *p = s->p;
    CtArena *arena = p->context->arena;
    const CtLam *lam = given->as.lam;
    uint32_t captured = lam->capture_count, count = captured + lam->count;
    CtVar **params = CT_NEW_ARRAY(arena, CtVar *, count), **own = CT_NEW_ARRAY(arena, CtVar *, lam->count);
    CtCore **args = CT_NEW_ARRAY(arena, CtCore *, count);
    CtType **types = CT_NEW_ARRAY(arena, CtType *, count);
    CtMap replace = {0};
    for (uint32_t i = 0; i < count; i++) {
        CtVar *var = i < captured ? lam->captures[i] : lam->params[i - captured];
        types[i] = var->type;
        params[i] = ct_core_var_like(p, var, var->type);
        ct_map_set(arena, &replace, ct_key(var), ct_core_var(p, given->range, params[i]));
        if (i >= captured) own[i - captured] = ct_core_var_like(p, var, var->type);
        args[i] = ct_core_var(p, given->range, i < captured ? var : own[i - captured]);
    }
    const char *name = ct_format(arena, "%s.λ%u", owner->name->text, ++function->numbered);
    CtType *type = ct_core_type_fun(p, types, count, ct_core_type_fun_result(given->type));
    CtGlobal *global = ct_core_global_new(p, name, type, given->range);
    CtCore *body = ct_core_copy(p, lam->body, &replace);
    global->body = ct_core_lam(p, given->range, lam->name, params, count, body);
    global->is_library = owner->is_library;
    function_of(s, global)->generation = s->generation + 1;
    CtCore *function_of_all = ct_core_global(p, given->range, global);
    if (captured == 0) return function_of_all;
    CT_FIRED("specialise.lifted");
    CtCore *call = ct_core_app(p, given->range, function_of_all, args, count);
    CtCore *small = ct_core_lam(p, given->range, lam->name, own, lam->count, call);
    ct_core_captures(p, small->as.lam);
    return small;
}

static CtCore *specialise_call(Specialiser *s, CtCore *app, Function *function, uint32_t index) {
    CtProgram *p = s->p;
    CtArena *arena = p->context->arena;
    CtGlobal *old = app->as.call.of.fun->as.global;
    CtCore *given = app->as.call.args[index];
    if (given->kind == CORE_LAM && !will_be_inlined(s, old, index, given->as.lam))
        given = as_global(s, old, function, given);
    bool is_lam = given->kind == CORE_LAM, is_con = given->kind == CORE_CON;
    uint32_t extra = is_lam ? given->as.lam->capture_count : 0;
    const void *key = is_con ? (const void *)given->as.call.of.con : is_lam ? NULL : (const void *)given->as.global;
    Copy c = {s, old, NULL, index, CT_NEW_ARRAY(arena, CtVar *, extra), extra};
    if (!is_lam) c.new = ct_map_get(&function->copies, ct_key(key) + index);
    if (c.new == NULL) {
        const char *known = is_con ? given->as.call.of.con->name->text : is_lam ? NULL : given->as.global->name->text;
        const char *name = is_lam ? ct_format(arena, "%s{λ%u}", old->name->text, ++function->numbered)
                                  : ct_format(arena, "%s{%s}", old->name->text, known);
        c.new = ct_core_global_new(p, name, copy_type(p, &c, old->type, is_lam ? given->as.lam : NULL), old->range);
        c.new->is_library = old->is_library;
        c.new->body = copy_body(&c, given);
        if (!is_lam) ct_map_set(arena, &function->copies, ct_key(key) + index, c.new);
        if (is_con) CT_FIRED("specialise.constructor");
        uint32_t generation = function->generation > s->generation ? function->generation : s->generation;
        function_of(s, c.new)->generation = generation + !is_con;
        uint32_t size = ct_core_size(&s->count, c.new->body, MAX_BODY + MAX_LAM);
        s->fuel -= size < s->fuel ? size : s->fuel;
    }
    s->changes++;
    return call_copy(&c, app, is_lam ? given->as.lam->captures : NULL);
}

/* ---- every call of the program ---- */

static CtCore *visit(void *data, CtCore *core) {
    Specialiser *s = data;
    if (core->kind == CORE_LAM && core->as.lam->origin != NULL) return core; /* not changed, nor anything inside */
    core = ct_core_map(s->p, core, visit, data);
    while (core->kind == CORE_APP && core->as.call.of.fun->kind == CORE_GLOBAL) {
        Function *function = function_of(s, core->as.call.of.fun->as.global);
        if (function->fixed == 0 || function->generation >= GENERATIONS || s->generation >= GENERATIONS || s->fuel == 0)
            break;
        int index = find_known(s, core, function);
        if (index < 0) break;
        core = specialise_call(s, core, function, (uint32_t)index);
    }
    return core;
}

bool ct_core_specialise(CtProgram *p) {
    Specialiser s = {.p = p, .count = {.p = p, .run = ++p->simplifier_runs}, .fuel = 5000};
    for (uint32_t i = 0; i < p->globals.count; i++)
        if (p->globals.items[i]->body != NULL) s.fuel += ct_core_size(&s.count, p->globals.items[i]->body, 100000);
    for (uint32_t i = 0; i < p->globals.count; i++) { /* copies are appended */
        CtGlobal *global = p->globals.items[i];
        if (global->body == NULL || !ct_core_within_depth(p->context->arena, global->body, MAX_DEPTH)) continue;
        s.generation = function_of(&s, global)->generation;
        CtCore *body = visit(&s, global->body);
        if (body != global->body) global->body = body;
    }
    return s.changes > 0;
}
