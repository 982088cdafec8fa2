/* Lists that are made and consumed become arrays. In `sum (map f [a .. b])` nothing else sees the list: it may as well
 * be the array `build (b − a + 1) (λi. f (a + i))`, of which passes, methods and engines know more. Two forms:
 *
 *   An array has the same elements as the list, and is made by one operation on arrays for each function on lists
 *   (list_sources.c). So all of one list is evaluated before the next, as the program says.
 *
 *   Lists of unknown length, made by `filter` or by comprehensions, are not made: what the consumer does with an
 * element is carried into the loop over their source (list_loops.c).
 *
 * The functions on lists are those of the library, known by their names, and are not inlined before this pass; a
 * comprehension is the recursive loop that elaboration makes of it. A list in a variable becomes an array if all uses
 * of the variable do; so does one that a function is given, and then the call is one of a copy of the function whose
 * parameter is the array. Lists of lists become arrays of rows only for a function that gives itself such arrays, and
 * where the rows are known to have one length (list_rows.c). */
#include "core/lists.h"

#include "base/rules.h"

#include <string.h>

enum { MOST_TRIALS = 200, MAX_DEPTH = 2500, MOST_COPIES = 100, MAX_COPIED_BODY = 1000, MAX_PARAMETERS = 32 };

typedef CT_VEC(CtGlobal *) Globals;

/* A function with arrays in place of lists that it is given. */
typedef struct Variant {
    CtGlobal *of;
    uint32_t arrays, rows; /* bit i: parameter i is an array; an array of rows */
    CtGlobal *function;
    bool done; /* false: it does something that needs the lists, or this is not yet known */
    struct Variant *next;
} Variant;

/* A local recursive function that takes arrays of rows. */
typedef struct Local {
    CtVar *function; /* with such parameters */
    uint32_t rows;
    bool inside, calls_itself;
} Local;

typedef struct Walk {
    CtLists lists;
    CtMap locals; /* CtVar * -> Local * */
    bool changed;
    Variant *self;          /* the function whose body this is; it may be called already */
    const CtGlobal *within; /* the function whose body this is, if it is no copy */
    bool calls_itself;
    uint32_t in_rows; /* functions around that take rows */
    CtMap *variants;  /* CtGlobal * -> Variant * */
    uint32_t *copies;
} Walk;

static CtCore *visit(void *data, CtCore *core);

/* Whether a list is left that has become an array. */
static bool is_any_left(CtLists *s, CtCore *core) {
    for (uint32_t i = 0; i < s->opened.count; i++)
        if (ct_core_list_occurs(s, core, s->opened.items[i])) return true;
    return false;
}

/* let xs = list in body, where all that is done with xs can be done with an array. NULL: there are other uses. */
static CtCore *visit_bound_list(Walk *w, CtCore *let) {
    CtVar *list = let->as.let.vars[0];
    CtLists *s = &w->lists;
    CtArena *arena = s->p->context->arena;
    if (!ct_core_list_is_list(list->type)) return NULL;
    ct_map_set(arena, &s->sources, ct_key(list), NULL); /* it is a list here, whatever was tried in vain */
    if (++s->trials > MOST_TRIALS) return NULL;
    s->range = let->as.let.rhs->range;
    s->opened.count = 0;
    CtBindings around = {0};
    CtListSource *source = ct_core_list_bound_source(s, list, let->as.let.rhs, &around);
    if (source == NULL) return NULL;
    for (uint32_t i = 0; i < around.count; i++)
        if (is_any_left(s, around.items[i].rhs)) return NULL;
    ct_map_set(arena, &s->sources, ct_key(list), source);
    bool changed = w->changed;
    CtCore *body = visit(w, let->as.let.body);
    ct_map_set(arena, &s->sources, ct_key(list), NULL);
    if (!ct_core_list_occurs(s, body, list)) {
        CT_FIRED("lists.variable");
        w->changed = true;
        for (uint32_t i = 0; i < around.count; i++) around.items[i].rhs = visit(w, around.items[i].rhs);
        s->range = let->range;
        return ct_core_list_wrap(s, &around, body);
    }
    w->changed = changed;
    return NULL;
}

static bool is_var(const CtCore *core, const CtVar *var) { return core->kind == CORE_VAR && core->as.var == var; }

/* What may as well be evaluated behind the list. */
static bool is_value(const CtCore *core) {
    bool is_value = core->kind == CORE_LAM || core->kind == CORE_STRING || ct_core_is_atom(core);
    return is_value || (ct_core_list_call(core) == LIST_OF_ARRAY && ct_core_is_atom(core->as.call.args[0]));
}

static bool is_given(const CtCore *app, const CtVar *list) {
    for (uint32_t i = 0; i < app->as.call.count; i++)
        if (is_var(app->as.call.args[i], list)) return true;
    return false;
}

/* The call among what a term evaluates first that is given this list, of a function on lists or of the given local
 * function; of the local function whatever it is given, if there is no list. NULL: something else comes first. */
static CtCore *first_call(CtCore *core, const CtVar *list, const CtVar *self) {
    for (;;) {
        CtCore *const *args = core->as.call.args;
        uint32_t i = 0;
        switch ((int)core->kind) {
        case CORE_LET:
        case CORE_UNPACK: core = core->as.let.rhs; continue;
        case CORE_LETREC: core = core->as.letrec.body; continue;
        case CORE_CASE: core = core->as.cases.scrutinee; continue;
        case CORE_PROJ: core = core->as.proj.tuple; continue;
        case CORE_APP:
            if (self != NULL ? is_var(core->as.call.of.fun, self) : ct_core_list_call(core) != LIST_NONE)
                if (list == NULL || is_given(core, list)) return core;
            if (!ct_core_is_atom(core->as.call.of.fun)) {
                core = core->as.call.of.fun;
                continue;
            }
            break;
        case CORE_PRIM:
        case CORE_CON:
        case CORE_TUPLE: break;
        default: return NULL;
        }
        while (i < core->as.call.count && is_value(args[i])) i++;
        if (i == core->as.call.count) return NULL;
        core = args[i];
    }
}

static uint32_t count_uses(CtArena *arena, CtCore *core, const CtVar *var) {
    CtCoreList work = {0};
    uint32_t uses = 0;
    ct_push(arena, &work, core);
    while (work.count > 0) {
        CtCore *one = work.items[--work.count];
        if (one->kind == CORE_VAR && one->as.var == var) uses++;
        ct_core_children(arena, one, &work);
    }
    return uses;
}

typedef struct Replace {
    CtProgram *p;
    const CtCore *old;
    CtCore *new;
} Replace;

static CtCore *replace(void *data, CtCore *core) {
    Replace *r = data;
    return core == r->old ? r->new : ct_core_map(r->p, core, replace, r);
}

/* let xs = list in body, where the body begins with this call, which takes xs, otherwise functions and atoms, and xs
 * has no other use: the body with the list in the call. */
static CtCore *put_into(CtLists *s, CtCore *let, CtCore *app) {
    CtProgram *p = s->p;
    CtVar *list = let->as.let.vars[0];
    CtCore *body = let->as.let.body;
    if (app == NULL) return let;
    uint32_t count = app->as.call.count, index = count;
    for (uint32_t i = 0; i < count; i++) {
        CtCore *arg = app->as.call.args[i];
        if (arg->kind == CORE_VAR && arg->as.var == list && index == count)
            index = i;
        else if (!is_value(arg) || ct_core_list_occurs(s, arg, list))
            return let;
    }
    if (index == count || (body != app && count_uses(p->context->arena, body, list) != 1)) return let;
    CtCore **args = CT_NEW_ARRAY(p->context->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) args[i] = i == index ? let->as.let.rhs : app->as.call.args[i];
    Replace r = {p, app, ct_core_app(p, app->range, app->as.call.of.fun, args, count)};
    return replace(&r, body);
}

CtCore *ct_core_list_put_into_call(CtLists *s, CtCore *let) {
    CtVar *list = let->as.let.vars[0];
    return ct_core_list_is_list(list->type) ? put_into(s, let, first_call(let->as.let.body, list, NULL)) : let;
}

CtCore *ct_core_list_put_into_loop(CtLists *s, CtCore *let) {
    CtCore *body = let->as.let.body;
    if (!ct_core_list_is_list(let->as.let.vars[0]->type)) return let;
    if (body->kind != CORE_LETREC || body->as.letrec.count != 1) return let;
    return put_into(s, let, first_call(body, let->as.let.vars[0], body->as.letrec.binds[0].var));
}

CtCore *ct_core_list_put_around_call(CtLists *s, CtCore *letrec) {
    CtCore *body = letrec->as.letrec.body;
    CtVar *self = letrec->as.letrec.binds[0].var;
    if (letrec->as.letrec.count != 1) return letrec;
    CtCore *app = first_call(body, NULL, self);
    if (app == NULL || app == body || count_uses(s->p->context->arena, body, self) != 1) return letrec;
    Replace r = {s->p, app, ct_core_letrec(s->p, letrec->range, letrec->as.letrec.binds, 1, app)};
    return replace(&r, body);
}

/* ---- lists that functions are given ---- */

/* The array that a parameter becomes. */
static CtListSource *parameter_source(CtLists *s, CtVar *param, bool rows) {
    CtType *element = ct_core_list_element(param->type);
    CtType *item = rows ? ct_core_type_array(s->p, ct_core_list_element(element)) : element;
    CtListSource *source = CT_NEW(s->p->context->arena, CtListSource);
    *source = (CtListSource){.array = ct_core_var_like(s->p, param, ct_core_type_array(s->p, item))};
    source->row = rows ? element : NULL;
    return source;
}

/* Writes the copy of a global whose parameters are arrays; false if it does something else with one of the lists. */
static bool take_arrays(Walk *w, Variant *variant) {
    CtGlobal *old = variant->of, *new = variant->function;
    CtProgram *p = w->lists.p;
    Walk inner = {.lists = {.p = p, .constants = w->lists.constants},
                  .self = variant,
                  .variants = w->variants,
                  .copies = w->copies};
    inner.in_rows = variant->rows != 0;
    CtCore *fresh = ct_core_copy(p, old->body, NULL);
    const CtLam *lam = fresh->as.lam;
    CtVar **params = CT_NEW_ARRAY(p->context->arena, CtVar *, lam->count);
    for (uint32_t i = 0; i < lam->count; i++) {
        params[i] = lam->params[i];
        if ((variant->arrays >> i & 1) == 0) continue;
        CtListSource *source = parameter_source(&inner.lists, params[i], variant->rows >> i & 1);
        ct_map_set(p->context->arena, &inner.lists.sources, ct_key(params[i]), source);
        params[i] = source->array;
    }
    CtCore *body = visit(&inner, lam->body);
    for (uint32_t i = 0; i < lam->count; i++)
        if ((variant->arrays >> i & 1) && ct_core_list_occurs(&inner.lists, body, lam->params[i])) return false;
    if (variant->rows != 0 && !inner.calls_itself) return false;
    if (variant->rows != 0) CT_FIRED("lists.rows");
    new->is_library = old->is_library;
    new->body = ct_core_lam(p, fresh->range, lam->name, params, lam->count, body);
    return true;
}

/* The copy before it has a body. */
static CtGlobal *declare(Walk *w, const Variant *variant) {
    CtProgram *p = w->lists.p;
    const CtGlobal *old = variant->of;
    const CtLam *lam = old->body->as.lam;
    CtType **types = CT_NEW_ARRAY(p->context->arena, CtType *, lam->count);
    CtText name = ct_text(p->context->arena);
    ct_text_printf(&name, "%s", old->name->text);
    for (uint32_t i = 0; i < lam->count; i++) {
        types[i] = lam->params[i]->type;
        if ((variant->arrays >> i & 1) == 0) continue;
        bool rows = variant->rows >> i & 1;
        types[i] = parameter_source(&w->lists, lam->params[i], rows)->array->type;
        ct_text_printf(&name, "{%s %u}", rows ? "rows" : "array", i);
    }
    CtType *type = ct_core_type_fun(p, types, lam->count, old->type->parts[lam->count]);
    CtGlobal *new = CT_NEW(p->context->arena, CtGlobal);
    *new = (CtGlobal){.name = ct_intern_text(&p->context->symbols, name.data), .type = type, .range = old->range};
    new->id = p->next_global++;
    return new; /* among the program's once it has a body */
}

static bool may_be_copied(Walk *w, const CtGlobal *global) {
    if (global->body == NULL || global->body->kind != CORE_LAM || global->body->as.lam->origin != NULL) return false;
    if (global->is_kept || global->origin != NULL || *w->copies >= MOST_COPIES) return false;
    CtSimplifier count = {.p = w->lists.p};
    return global->body->as.lam->count <= MAX_PARAMETERS &&
           ct_core_size(&count, global->body, MAX_COPIED_BODY) < MAX_COPIED_BODY &&
           ct_core_within_depth(w->lists.p->context->arena, global->body, MAX_DEPTH);
}

/* While its body is visited a function has no copy, but for itself. */
static CtGlobal *variant_of(Walk *w, CtGlobal *global, uint32_t arrays, uint32_t rows) {
    CtArena *arena = w->lists.p->context->arena;
    Variant *known = ct_map_get(w->variants, ct_key(global));
    for (Variant *v = known; v != NULL; v = v->next)
        if (v->arrays == arrays && v->rows == rows) return v->done ? v->function : NULL;
    if (arrays == 0 || !may_be_copied(w, global)) return NULL;
    Variant *variant = CT_NEW(arena, Variant);
    *variant = (Variant){.of = global, .arrays = arrays, .rows = rows, .next = known};
    ct_map_set(arena, w->variants, ct_key(global), variant);
    ++*w->copies;
    variant->function = declare(w, variant);
    variant->done = take_arrays(w, variant);
    if (!variant->done) return NULL;
    ct_push(arena, &w->lists.p->globals, variant->function);
    return variant->function;
}

/* Whether an array of a list takes no longer to make than the list, when a function gives it to itself: what is made
 * for each element, and no part of another list. */
static bool is_made_anew(const CtCore *list) {
    while (list->kind == CORE_LET) list = list->as.let.body;
    CtListFunction function = ct_core_list_call(list);
    return function == LIST_MAP || function == LIST_ZIP_WITH || (function == LIST_NONE && list->kind != CORE_VAR);
}

/* An array in which lists are left that have become arrays: what looks at them looks at these. */
static CtCore *without_lists(Walk *w, CtCore *array) {
    CtLists *s = &w->lists;
    uint32_t count = s->opened.count;
    CtVar **opened = CT_NEW_ARRAY(s->p->context->arena, CtVar *, count);
    memcpy(opened, s->opened.items, count * sizeof *opened);
    bool changed = w->changed;
    array = visit(w, array);
    w->changed = changed;
    s->opened.count = 0;
    for (uint32_t i = 0; i < count; i++) ct_push(s->p->context->arena, &s->opened, opened[i]);
    return array;
}

/* The arrays of the lists that a call makes, and which these are. */
static CtCore **find_arrays(Walk *w, const CtCore *app, bool rows, bool itself, uint32_t *made) {
    CtLists *s = &w->lists;
    uint32_t count = app->as.call.count;
    CtCore **arrays = CT_NEW_ARRAY(s->p->context->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) {
        CtCore *arg = arrays[i] = app->as.call.args[i];
        if (!ct_core_list_is_list(arg->type) || ct_core_list_is_shared(arg)) continue;
        if (itself && !is_made_anew(arg)) continue;
        s->range = arg->range;
        s->opened.count = 0;
        CtCore *array = rows ? ct_core_list_rows(s, arg) : ct_core_list_to_array(s, arg);
        if (array != NULL && rows && is_any_left(s, array)) array = without_lists(w, array);
        if (array == NULL || is_any_left(s, array)) continue;
        arrays[i] = array;
        *made |= 1u << i;
    }
    return arrays;
}

static CtCore *call_taker(Walk *w, CtCore *app, CtGlobal *taker, CtCore **arrays, uint32_t given) {
    CtLists *s = &w->lists;
    w->changed = CT_FIRED("lists.argument");
    for (uint32_t i = 0; i < app->as.call.count; i++)
        if ((given >> i & 1) == 0) arrays[i] = app->as.call.args[i];
    CtCore *fun = ct_core_global(s->p, app->as.call.of.fun->range, taker);
    return ct_core_app(s->p, app->range, fun, arrays, app->as.call.count);
}

/* f ⟨…, list, …⟩, where f goes through lists of lists that it makes itself: a call of a function that takes rows. */
static CtCore *give_rows(Walk *w, CtCore *app) {
    uint32_t given = 0;
    CtGlobal *global = app->as.call.of.fun->as.global, *taker = NULL;
    bool itself = w->self != NULL && global == w->self->of;
    CtCore **arrays = find_arrays(w, app, true, itself, &given);
    if (given == 0) return NULL;
    if (itself && given == w->self->arrays && given == w->self->rows) {
        w->calls_itself = true;
        taker = w->self->function;
    } else {
        taker = variant_of(w, global, given, given);
    }
    return taker != NULL ? call_taker(w, app, taker, arrays, given) : NULL;
}

/* Whether a function makes a list where it is given: then looking at all of it takes no longer than that. Of a loop
 * that is written here it is known already whether its rows have one length. */
static bool is_made_here(const CtCore *list) {
    while (list->kind == CORE_LET) list = list->as.let.body;
    return list->kind == CORE_APP && ct_core_list_call(list) == LIST_NONE &&
           list->as.call.of.fun->kind == CORE_GLOBAL && list->as.call.of.fun->as.global->origin == NULL;
}

/* The argument of a call that is a list of lists of unknown lengths; all others are atoms. The number of arguments, if
 * there is none. */
static uint32_t unknown_rows(const CtCore *app) {
    uint32_t count = app->as.call.count, found = count;
    for (uint32_t i = 0; i < count; i++) {
        CtCore *arg = app->as.call.args[i];
        bool rows = ct_core_list_may_have_rows(arg->type) && is_made_here(arg);
        if (!rows && !ct_core_is_atom(arg)) return count;
        if (rows && found < count) return count;
        if (rows) found = i;
    }
    return found;
}

/* f ⟨…, list, …⟩, where f goes through lists of lists that it makes itself, and would take rows, but the lengths in
 * this list are not known:
 *
 *     let list = … in let rows = rowsOrNone list in if length rows == 0 then f list else f{rows} rows */
static CtCore *give_tested_rows(Walk *w, CtCore *app) {
    CtLists *s = &w->lists;
    CtProgram *p = s->p;
    uint32_t count = app->as.call.count, index = unknown_rows(app);
    CtGlobal *global = app->as.call.of.fun->as.global;
    if (index == count || global == w->within || (w->self != NULL && global == w->self->of)) return NULL;
    CtGlobal *taker = variant_of(w, global, 1u << index, 1u << index);
    if (taker == NULL) return NULL;
    w->changed = CT_FIRED("lists.tested_rows");
    s->range = app->range;
    CtCore *list = app->as.call.args[index], **lists = CT_NEW_ARRAY(p->context->arena, CtCore *, count);
    CtCore **arrays = CT_NEW_ARRAY(p->context->arena, CtCore *, count);
    CtVar *var = ct_core_list_var(s, "list", list->type);
    CtCore *made = ct_core_list_rows_or_none(p, ct_core_list_use(s, var));
    CtVar *rows = ct_core_list_var(s, "rows", made->type);
    for (uint32_t i = 0; i < count; i++) {
        lists[i] = i == index ? ct_core_list_use(s, var) : app->as.call.args[i];
        arrays[i] = i == index ? ct_core_list_use(s, rows) : ct_core_copy(p, app->as.call.args[i], NULL);
    }
    CtCore *slow = ct_core_app(p, app->range, app->as.call.of.fun, lists, count);
    CtCore *fast = ct_core_app(p, app->range, ct_core_global(p, app->range, taker), arrays, count);
    CtCore *length = ct_core_list_array(s, ARRAY_LENGTH, ct_core_list_use(s, rows), NULL, NULL);
    CtCore *none = ct_core_prim2(p, s->range, PRIM_INT_EQ, length, ct_core_int(p, s->range, 0));
    CtCore *choice = ct_core_if(p, app->range, none, slow, fast);
    return ct_core_let(p, app->range, var, list, ct_core_let(p, app->range, rows, made, choice));
}

/* f ⟨…, list, …⟩, where lists are made here: a call of a function that takes their arrays, all of them or one. */
static CtCore *give_arrays(Walk *w, CtCore *app) {
    uint32_t count = app->as.call.count, made = 0;
    if (app->as.call.of.fun->kind != CORE_GLOBAL || count > MAX_PARAMETERS) return app;
    CtCore *taken = give_rows(w, app);
    if (taken == NULL) taken = give_tested_rows(w, app);
    if (taken != NULL) return taken;
    bool itself = w->self != NULL && app->as.call.of.fun->as.global == w->self->of;
    CtCore **arrays = find_arrays(w, app, false, itself, &made);
    uint32_t given = made;
    CtGlobal *taker = variant_of(w, app->as.call.of.fun->as.global, given, 0);
    for (uint32_t i = 0; i < count && taker == NULL; i++) {
        given = made & 1u << i;
        taker = variant_of(w, app->as.call.of.fun->as.global, given, 0);
    }
    return taker != NULL ? call_taker(w, app, taker, arrays, given) : app;
}

/* A call of a local function that takes rows; the call itself, if it does not give them. */
static CtCore *call_local(Walk *w, CtCore *app) {
    CtLists *s = &w->lists;
    Local *local =
        app->as.call.of.fun->kind == CORE_VAR ? ct_map_get(&w->locals, ct_key(app->as.call.of.fun->as.var)) : NULL;
    uint32_t given = 0;
    if (local == NULL) return app;
    CtCore **arrays = find_arrays(w, app, true, local->inside, &given);
    if (given != local->rows) return app;
    local->calls_itself |= local->inside;
    for (uint32_t i = 0; i < app->as.call.count; i++)
        if ((given >> i & 1) == 0) arrays[i] = app->as.call.args[i];
    CtCore *fun = ct_core_var(s->p, app->as.call.of.fun->range, local->function);
    return ct_core_app(s->p, app->range, fun, arrays, app->as.call.count);
}

/* let f ⟨…, list, …⟩ = … in …, where f makes lists of lists for itself. NULL: not all its calls give rows. */
static CtCore *visit_local(Walk *w, CtCore *letrec) {
    CtLists *s = &w->lists;
    CtProgram *p = s->p;
    CtArena *arena = p->context->arena;
    const CtBind *bind = &letrec->as.letrec.binds[0];
    const CtLam *lam = bind->lam->as.lam;
    Local local = {.inside = true};
    if (letrec->as.letrec.count != 1 || lam->origin != NULL || lam->count > MAX_PARAMETERS) return NULL;
    if (ct_core_list_is_loop(letrec) || s->trials >= MOST_TRIALS) return NULL;
    CtVar **params = CT_NEW_ARRAY(arena, CtVar *, lam->count + 1);
    CtType **types = CT_NEW_ARRAY(arena, CtType *, lam->count + 1);
    for (uint32_t i = 0; i < lam->count; i++) {
        params[i] = lam->params[i];
        types[i] = params[i]->type;
        if (!ct_core_list_may_have_rows(types[i])) continue;
        CtListSource *source = parameter_source(s, params[i], true);
        ct_map_set(arena, &s->sources, ct_key(params[i]), source);
        params[i] = source->array;
        types[i] = params[i]->type;
        local.rows |= 1u << i;
    }
    if (local.rows == 0) return NULL;
    s->trials++;
    bool changed = w->changed;
    CtType *type = ct_core_type_fun(p, types, lam->count, bind->var->type->parts[lam->count]);
    local.function = ct_core_var_like(p, bind->var, type);
    ct_map_set(arena, &w->locals, ct_key(bind->var), &local);
    w->in_rows++;
    CtCore *body = visit(w, lam->body);
    w->in_rows--;
    bool taken = local.calls_itself && !ct_core_list_occurs(s, body, bind->var);
    for (uint32_t i = 0; i < lam->count; i++)
        if (params[i] != lam->params[i] && ct_core_list_occurs(s, body, lam->params[i])) taken = false;
    local.inside = false;
    CtCore *rest = taken ? visit(w, letrec->as.letrec.body) : NULL;
    ct_map_set(arena, &w->locals, ct_key(bind->var), NULL);
    for (uint32_t i = 0; i < lam->count; i++)
        if (params[i] != lam->params[i]) ct_map_set(arena, &s->sources, ct_key(lam->params[i]), NULL);
    w->changed = changed;
    if (rest == NULL || ct_core_list_occurs(s, rest, bind->var)) return NULL;
    w->changed = CT_FIRED("lists.local_rows");
    CtBind fresh = {local.function, ct_core_lam(p, bind->lam->range, lam->name, params, lam->count, body)};
    return ct_core_letrec(p, letrec->range, &fresh, 1, rest);
}

/* The variables of a case are lists here, whatever was tried in vain. */
static void forget_fields(Walk *w, const CtCore *core) {
    for (uint32_t i = 0; i < core->as.cases.count; i++) {
        const CtCase *one = &core->as.cases.cases[i];
        for (uint32_t j = 0; one->vars != NULL && j < one->con->count; j++)
            if (one->vars[j] != NULL && ct_core_list_is_list(one->vars[j]->type))
                ct_map_set(w->lists.p->context->arena, &w->lists.sources, ct_key(one->vars[j]), NULL);
    }
}

/* case list of { … }, where the list has an array. If the rest of the list is still needed, the term stays, and so does
 * the list. */
static CtCore *visit_case(Walk *w, CtCore *core) {
    CtVar *tail = NULL;
    bool changed = w->changed;
    forget_fields(w, core);
    CtCore *made = ct_core_list_case(&w->lists, core, &tail);
    if (made == NULL) return NULL;
    w->changed = true;
    made = visit(w, made);
    if (tail == NULL || !ct_core_list_occurs(&w->lists, made, tail)) return made;
    w->changed = changed;
    forget_fields(w, core); /* the term may be visited again, for itself */
    return core;
}

/* case list of { … }, where a function on lists or a comprehension makes the list, as in foldr1: that of a variable.
 * NULL: the list stays. */
static CtCore *visit_made_case(Walk *w, CtCore *core) {
    CtCore *list = core->as.cases.scrutinee;
    bool made = ct_core_list_call(list) != LIST_NONE || list->kind == CORE_LETREC;
    if (!made || !ct_core_list_is_list(list->type)) return NULL;
    CtCase *cases = CT_NEW_ARRAY(w->lists.p->context->arena, CtCase, core->as.cases.count);
    memcpy(cases, core->as.cases.cases, core->as.cases.count * sizeof *cases);
    CtVar *var = ct_core_list_var(&w->lists, "list", list->type);
    CtCore *opened = ct_core_case(w->lists.p, core->range, core->type, ct_core_list_use(&w->lists, var), cases,
                                  core->as.cases.count, core->as.cases.otherwise);
    return visit_bound_list(w, ct_core_let(w->lists.p, core->range, var, list, opened));
}

static CtCore *visit(void *data, CtCore *core) {
    Walk *w = data;
    CtLists *s = &w->lists;
    if (core->kind == CORE_LAM && core->as.lam->origin != NULL) return core;
    if (ct_core_list_is_loop(core))
        ct_map_set(s->p->context->arena, &s->loops, ct_key(core->as.letrec.binds[0].var),
                   core->as.letrec.binds[0].lam->as.lam);
    for (CtCore *let = NULL; core != let && core->kind == CORE_LET;) {
        let = core;
        core = ct_core_list_put_into_call(s, let);
    }
    if (core->kind == CORE_LET) {
        CtCore *bound = visit_bound_list(w, core);
        if (bound != NULL) return bound;
    }
    if (core->kind == CORE_LETREC) {
        CtCore *taken = visit_local(w, core);
        if (taken != NULL) return taken;
    }
    if (core->kind == CORE_CASE) {
        CtCore *taken = visit_case(w, core);
        if (taken == NULL) taken = visit_made_case(w, core);
        if (taken != NULL) return taken;
    }
    s->opened.count = 0;
    CtCore *made = core->kind == CORE_APP ? ct_core_list_consumed(s, core) : NULL;
    if (made != NULL && !is_any_left(s, made)) {
        w->changed = true;
        core = made;
    }
    if (core->kind == CORE_APP && ct_core_list_call(core) == LIST_NONE) core = give_arrays(w, call_local(w, core));
    core = ct_core_map(s->p, core, visit, data);
    CtCore *choice = core->kind == CORE_LET && w->in_rows > 0 ? ct_core_list_next(s, core) : NULL;
    return choice != NULL ? choice : core;
}

static CtListFunction function_of(CtGlobal *global) {
    CtCore head = {.kind = CORE_GLOBAL, .as.global = global}, app = {.kind = CORE_APP};
    app.as.call.of.fun = &head;
    return ct_core_list_call(&app);
}

static bool takes_derivatives(CtProgram *p) {
    CtCoreList work = {0};
    for (uint32_t i = 0; i < p->globals.count; i++)
        if (p->globals.items[i]->body != NULL) ct_push(p->context->arena, &work, p->globals.items[i]->body);
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        if (core->kind == CORE_DERIV) return true;
        ct_core_children(p->context->arena, core, &work);
    }
    return false;
}

/* `++` of lists that are no text: literal lists that it joins may have an array. */
static bool joins_lists(const CtGlobal *global, CtListFunction function) {
    return function == LIST_APPEND && ct_core_list_element(global->type->parts[0])->kind != TYPE_CHAR;
}

static bool is_no_text(const CtType *list) {
    return ct_core_list_is_list(list) && ct_core_list_element(list)->kind != TYPE_CHAR;
}

/* Whether a function of the library is called with a list, and no text, that is made for it. */
static bool gives_new_list(const CtCore *app) {
    if (app->kind != CORE_APP || app->as.call.of.fun->kind != CORE_GLOBAL ||
        !app->as.call.of.fun->as.global->is_library)
        return false;
    for (uint32_t i = 0; i < app->as.call.count; i++) {
        const CtCore *arg = app->as.call.args[i];
        bool is_new = arg->kind == CORE_APP || (arg->kind == CORE_CON && arg->as.call.count == 2);
        if (is_new && is_no_text(arg->type)) return true;
    }
    return false;
}

/* Whether a global of the program is a list, or gives such a list to a function. */
static bool makes_lists(CtProgram *p, const CtGlobal *global) {
    if (global->is_library || global->body == NULL) return false;
    if (is_no_text(global->type)) return true;
    CtCoreList work = {0};
    ct_push(p->context->arena, &work, global->body);
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        if (gives_new_list(core)) return true;
        ct_core_children(p->context->arena, core, &work);
    }
    return false;
}

/* Whether a list of the program may have an array. */
static bool has_sources(CtProgram *p, bool given) {
    bool sources = given;
    for (uint32_t i = 0; i < p->globals.count && !sources; i++) {
        CtListFunction function = function_of(p->globals.items[i]);
        sources = function == LIST_RANGE || function == LIST_STEPS || function == LIST_OF_ARRAY ||
                  function == LIST_ALL || function == LIST_ANY || function == LIST_REPLICATE ||
                  function == LIST_STREAM_TAKE || function == LIST_TO_ARRAY ||
                  joins_lists(p->globals.items[i], function) || makes_lists(p, p->globals.items[i]);
    }
    return sources;
}

/* Whether the program has a function on lists as a value. Where it is called, it is not known, and fails at the place
 * of the whole call; what takes arrays in its place would fail at its own. */
static bool has_values(CtProgram *p) {
    CtCoreList work = {0};
    for (uint32_t i = 0; i < p->globals.count; i++) {
        const CtGlobal *global = p->globals.items[i];
        if (!global->is_library && global->body != NULL) ct_push(p->context->arena, &work, global->body);
    }
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        if (core->kind == CORE_GLOBAL && function_of(core->as.global) != LIST_NONE) return true;
        bool known = core->kind == CORE_APP && core->as.call.of.fun->kind == CORE_GLOBAL;
        for (uint32_t i = 0; known && i < core->as.call.count; i++)
            ct_push(p->context->arena, &work, core->as.call.args[i]);
        if (!known) ct_core_children(p->context->arena, core, &work);
    }
    return false;
}

/* Functions on lists are not inlined. */
static void simplify_callers(CtProgram *p) {
    Globals all = {0};
    for (uint32_t i = 0; i < p->globals.count; i++) {
        CtGlobal *global = p->globals.items[i];
        if (function_of(global) == LIST_NONE || global->is_kept) continue;
        ct_push(p->context->arena, &all, global);
        global->is_kept = true;
    }
    ct_core_simplify_rounds(p);
    if (ct_core_specialise(p)) ct_core_simplify_rounds(p);
    for (uint32_t i = 0; i < all.count; i++) all.items[i]->is_kept = false;
}

CtListInput ct_core_lists_to_arrays(CtProgram *p, CtGlobal *const *roots, uint32_t count, bool on_flow, bool arrays) {
    const CtListInput none = {0};
    bool derivatives = on_flow && count == 1 && takes_derivatives(p);
    bool all = derivatives || (on_flow && count == 1 && ct_core_list_is_reduced(p, roots[0], !has_values(p)));
    if (p->keeps_calls || !has_sources(p, all && ct_core_list_is_given(p, roots[0]))) return none;
    simplify_callers(p);
    if (ct_core_full_calls(p)) simplify_callers(p);
    if (all && ct_core_list_recursion(p)) simplify_callers(p);
    CtListBoundary *boundary = all ? ct_core_list_boundary(p, roots[0], arrays) : NULL;
    CtGlobal *entries[] = {roots[0], boundary != NULL ? ct_core_list_boundary_input(boundary).function : NULL};
    if (entries[1] != NULL) roots = entries, count = 2;
    if (boundary != NULL) simplify_callers(p);
    bool places = ct_core_list_places(p, roots, count, all);
    /* A function of arrays needs no places: what it is given and gives may meet in one expression. */
    if (boundary != NULL && !places && !arrays) ct_core_list_boundary_useless(boundary, derivatives);
    CtMap variants = {0}, constants = {0};
    uint32_t copies = 0;
    for (uint32_t i = 0; i < p->globals.count; i++) {
        CtGlobal *global = p->globals.items[i];
        if (global->body == NULL || function_of(global) != LIST_NONE) continue;
        if (!ct_core_within_depth(p->context->arena, global->body, MAX_DEPTH)) continue;
        Walk w = {
            .lists = {.p = p, .constants = &constants}, .within = global, .variants = &variants, .copies = &copies};
        CtCore *body = visit(&w, global->body);
        if (w.changed) global->body = body;
    }
    for (uint32_t i = 0; boundary != NULL && i < count; i++) ct_core_list_boundary_clean(p, roots[i]);
    for (uint32_t i = 0; i < p->globals.count; i++) {
        CtGlobal *global = p->globals.items[i];
        if (global->body != NULL && function_of(global) == LIST_NONE) ct_core_list_cells(p, global);
    }
    return boundary != NULL ? ct_core_list_boundary_input(boundary) : none;
}
