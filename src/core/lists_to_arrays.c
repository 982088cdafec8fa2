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
 * parameter is the array. Excluded are lists whose elements would be rows of an array, since rows must have one length.
 */
#include "core/lists.h"

#include "base/rules.h"

enum { MOST_TRIALS = 200, MAX_DEPTH = 2500, MOST_COPIES = 100, MAX_COPIED_BODY = 1000, MAX_PARAMETERS = 32 };

typedef CT_VEC(CtGlobal *) Globals;

/* A function with arrays in place of lists that it is given. */
typedef struct Variant {
    uint32_t arrays;    /* bit i: parameter i is an array */
    CtGlobal *function; /* NULL: it does something that needs the lists, or this is not yet known */
    struct Variant *next;
} Variant;

typedef struct Walk {
    CtLists lists;
    bool changed;
    CtMap *variants; /* CtGlobal * -> Variant * */
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

/* let xs = list in f ⟨…, xs, …⟩, where f is a function on lists and the other arguments are functions and atoms: the
 * call of f ⟨…, list, …⟩. */
static CtCore *put_into_call(Walk *w, CtCore *let) {
    CtVar *list = let->as.let.vars[0];
    CtCore *app = let->as.let.body;
    if (!ct_core_list_is_list(list->type) || ct_core_list_call(app) == LIST_NONE) return let;
    uint32_t count = app->as.call.count, index = count;
    for (uint32_t i = 0; i < count; i++) {
        CtCore *arg = app->as.call.args[i];
        if (arg->kind == CORE_VAR && arg->as.var == list && index == count)
            index = i;
        else if ((arg->kind != CORE_LAM && !ct_core_is_atom(arg)) || ct_core_list_occurs(&w->lists, arg, list))
            return let;
    }
    CtCore **args = CT_NEW_ARRAY(w->lists.p->context->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) args[i] = i == index ? let->as.let.rhs : app->as.call.args[i];
    return index < count ? ct_core_app(w->lists.p, app->range, app->as.call.of.fun, args, count) : let;
}

/* ---- lists that functions are given ---- */

/* A copy of a global whose parameters `arrays` are arrays; NULL if it does something else with one of the lists. */
static CtGlobal *take_arrays(Walk *w, CtGlobal *old, uint32_t arrays) {
    CtProgram *p = w->lists.p;
    CtArena *arena = p->context->arena;
    Walk inner = {.lists = {.p = p}, .variants = w->variants, .copies = w->copies};
    CtCore *fresh = ct_core_copy(p, old->body, NULL);
    const CtLam *lam = fresh->as.lam;
    CtVar **params = CT_NEW_ARRAY(arena, CtVar *, lam->count);
    CtType **types = CT_NEW_ARRAY(arena, CtType *, lam->count);
    for (uint32_t i = 0; i < lam->count; i++) {
        params[i] = lam->params[i];
        if (arrays >> i & 1) {
            CtType *type = ct_core_type_array(p, ct_core_list_element(params[i]->type));
            params[i] = ct_core_var_like(p, params[i], type);
            CtListSource *source = CT_NEW(arena, CtListSource);
            *source = (CtListSource){.array = params[i]};
            ct_map_set(arena, &inner.lists.sources, ct_key(lam->params[i]), source);
        }
        types[i] = params[i]->type;
    }
    CtCore *body = visit(&inner, lam->body);
    CtText name = ct_text(arena);
    ct_text_printf(&name, "%s", old->name->text);
    for (uint32_t i = 0; i < lam->count; i++) {
        if ((arrays >> i & 1) == 0) continue;
        if (ct_core_list_occurs(&inner.lists, body, lam->params[i])) return NULL;
        ct_text_printf(&name, "{array %u}", i);
    }
    CtType *type = ct_core_type_fun(p, types, lam->count, old->type->parts[lam->count]);
    CtGlobal *new = ct_core_global_new(p, name.data, type, old->range);
    new->is_library = old->is_library;
    new->body = ct_core_lam(p, fresh->range, lam->name, params, lam->count, body);
    return new;
}

static bool may_be_copied(Walk *w, const CtGlobal *global) {
    if (global->body == NULL || global->body->kind != CORE_LAM || global->body->as.lam->origin != NULL) return false;
    if (global->is_kept || global->origin != NULL || *w->copies >= MOST_COPIES) return false;
    CtSimplifier count = {.p = w->lists.p};
    return global->body->as.lam->count <= MAX_PARAMETERS &&
           ct_core_size(&count, global->body, MAX_COPIED_BODY) < MAX_COPIED_BODY &&
           ct_core_within_depth(w->lists.p->context->arena, global->body, MAX_DEPTH, false);
}

/* While its body is visited a function has no copy: a recursive call passes a list on. */
static CtGlobal *variant_of(Walk *w, CtGlobal *global, uint32_t arrays) {
    CtArena *arena = w->lists.p->context->arena;
    Variant *known = ct_map_get(w->variants, ct_key(global));
    for (Variant *v = known; v != NULL; v = v->next)
        if (v->arrays == arrays) return v->function;
    if (arrays == 0 || !may_be_copied(w, global)) return NULL;
    Variant *variant = CT_NEW(arena, Variant);
    *variant = (Variant){arrays, NULL, known};
    ct_map_set(arena, w->variants, ct_key(global), variant);
    ++*w->copies;
    return variant->function = take_arrays(w, global, arrays);
}

/* f ⟨…, list, …⟩, where lists are made here: a call of a function that takes their arrays, all of them or one. */
static CtCore *give_arrays(Walk *w, CtCore *app) {
    CtLists *s = &w->lists;
    uint32_t count = app->as.call.count, made = 0;
    if (app->as.call.of.fun->kind != CORE_GLOBAL || count > MAX_PARAMETERS) return app;
    CtCore **arrays = CT_NEW_ARRAY(s->p->context->arena, CtCore *, count);
    for (uint32_t i = 0; i < count; i++) {
        CtCore *arg = arrays[i] = app->as.call.args[i];
        if (!ct_core_list_is_list(arg->type) || ct_core_list_is_shared(arg)) continue;
        s->range = arg->range;
        s->opened.count = 0;
        CtCore *array = ct_core_list_to_array(s, arg);
        if (array == NULL || is_any_left(s, array)) continue;
        arrays[i] = array;
        made |= 1u << i;
    }
    uint32_t given = made;
    CtGlobal *taker = variant_of(w, app->as.call.of.fun->as.global, given);
    for (uint32_t i = 0; i < count && taker == NULL; i++) {
        given = made & 1u << i;
        taker = variant_of(w, app->as.call.of.fun->as.global, given);
    }
    if (taker == NULL) return app;
    w->changed = CT_FIRED("lists.argument");
    for (uint32_t i = 0; i < count; i++)
        if ((given >> i & 1) == 0) arrays[i] = app->as.call.args[i];
    return ct_core_app(s->p, app->range, ct_core_global(s->p, app->as.call.of.fun->range, taker), arrays, count);
}

static CtCore *visit(void *data, CtCore *core) {
    Walk *w = data;
    CtLists *s = &w->lists;
    if (core->kind == CORE_LAM && core->as.lam->origin != NULL) return core;
    if (ct_core_list_is_loop(core))
        ct_map_set(s->p->context->arena, &s->loops, ct_key(core->as.letrec.binds[0].var),
                   core->as.letrec.binds[0].lam->as.lam);
    if (core->kind == CORE_LET) core = put_into_call(w, core);
    if (core->kind == CORE_LET) {
        CtCore *bound = visit_bound_list(w, core);
        if (bound != NULL) return bound;
    }
    s->opened.count = 0;
    CtCore *made = core->kind == CORE_APP ? ct_core_list_consumed(s, core) : NULL;
    if (made != NULL && !is_any_left(s, made)) {
        w->changed = true;
        core = made;
    }
    if (core->kind == CORE_APP && ct_core_list_call(core) == LIST_NONE) core = give_arrays(w, core);
    return ct_core_map(s->p, core, visit, data);
}

static CtListFunction function_of(CtGlobal *global) {
    CtCore head = {.kind = CORE_GLOBAL, .as.global = global}, app = {.kind = CORE_APP};
    app.as.call.of.fun = &head;
    return ct_core_list_call(&app);
}

/* The functions on lists of the program that could be inlined; none if no list of it has an array. */
static Globals list_functions(CtProgram *p) {
    Globals all = {0};
    bool sources = false;
    for (uint32_t i = 0; i < p->globals.count; i++) {
        CtListFunction function = function_of(p->globals.items[i]);
        sources = sources || function == LIST_RANGE || function == LIST_STEPS || function == LIST_OF_ARRAY ||
                  function == LIST_ALL || function == LIST_ANY || function == LIST_REPLICATE;
        if (function != LIST_NONE && !p->globals.items[i]->is_kept)
            ct_push(p->context->arena, &all, p->globals.items[i]);
    }
    return sources ? all : (Globals){0};
}

void ct_core_lists_to_arrays(CtProgram *p) {
    Globals functions = list_functions(p);
    if (functions.count == 0 || p->keeps_calls) return;
    for (uint32_t i = 0; i < functions.count; i++) functions.items[i]->is_kept = true;
    ct_core_simplify_rounds(p);
    for (uint32_t i = 0; i < functions.count; i++) functions.items[i]->is_kept = false;
    CtMap variants = {0};
    uint32_t copies = 0;
    for (uint32_t i = 0; i < p->globals.count; i++) {
        CtGlobal *global = p->globals.items[i];
        if (global->body == NULL || function_of(global) != LIST_NONE) continue;
        if (!ct_core_within_depth(p->context->arena, global->body, MAX_DEPTH, false)) continue;
        Walk w = {.lists = {.p = p}, .variants = &variants, .copies = &copies};
        CtCore *body = visit(&w, global->body);
        if (w.changed) global->body = body;
    }
}
