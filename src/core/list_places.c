/* Lists in parameters, results and fields become arrays.
 *
 * A list that a loop or a recursive function carries, `go n (y, m) = … go (n − 1) (zipWith …)`, that a function gives,
 * or that is the field of a record, has no single function that consumes it. This pass finds all places that such a
 * list goes through: two places belong to one class if a value goes from one to the other. A class becomes an array if
 * the program gets at its lists by functions on lists alone, such as `zipWith`, and never at their cells. The rest is
 * left to lists_to_arrays.c: where a function takes such a list, it is given `toList array`, and where one gives it,
 * `fromList` stands around the call. So this pass is correct whatever those functions are.
 *
 * Functions of the library are copied for it, since later passes may use the original; once for each use, since they
 * are used for lists of many classes, but recursive ones only where they work on lists of lists. Excluded are classes
 * in the types of entry points, which list_boundary.c has kept apart from those of the program, and those whose
 * operations would take longer on arrays: what puts an element in front of a list, or takes one away, and gives the
 * result to the same place, as a recursion that accumulates does.
 *
 * A list in a list is a row, which may have any length, while those of an array of arrays have one. So it is a pair of
 * an array and the unit: arrays of tuples keep arrays in them by reference. */
#include "core/list_places.h"

#include "base/rules.h"

#include <assert.h>

enum { MOST_COPIES = 2000, MOST_COPIES_FOR_USES = 300, DEEPEST = 2000, MOST_TERMS = 200000 };

/* ---- places ---- */

CtPlace *ct_core_place_find(CtPlace *place) {
    while (place->same != NULL) {
        if (place->same->same != NULL) place->same = place->same->same;
        place = place->same;
    }
    return place;
}

static CtArena *arena_of(CtPlaces *w) { return w->lists.p->context->arena; }

static bool is_text(const CtType *list) { return ct_core_list_element(list)->kind == TYPE_CHAR; }

/* Whether lists, other than text, are in values of this type; those in fields too. */
static bool has_lists(CtPlaces *w, CtType *type) {
    if (type->kind != TYPE_DATA && type->count == 0) return false;
    const void *known = ct_map_get(&w->has_lists, ct_key(type));
    if (known != NULL) return known == w;
    ct_map_set(arena_of(w), &w->has_lists, ct_key(type), type); /* while it is searched: none */
    bool list = ct_core_list_is_list(type), has = list && !is_text(type);
    for (uint32_t i = 0; i < type->count && !has; i++) has = has_lists(w, type->parts[i]);
    for (uint32_t i = 0; type->kind == TYPE_DATA && i < type->data->con_count && !has; i++)
        for (uint32_t j = 0; j < type->data->cons[i].count && !has; j++)
            has = has_lists(w, type->data->cons[i].fields[j]);
    if (has) ct_map_set(arena_of(w), &w->has_lists, ct_key(type), w);
    return has;
}

/* NULL for a type that is the same whatever becomes of lists. The fields of data have places of their own. */
static CtPlace *place_new(CtPlaces *w, CtType *type) {
    bool list = ct_core_list_is_list(type);
    if (type->kind == TYPE_DATA && (type->data->is_universal || type->data->method != NULL)) w->refused = true;
    if (type->kind == TYPE_DATA && (!list || is_text(type))) return NULL;
    CtPlace *place = CT_NEW(arena_of(w), CtPlace);
    *place = (CtPlace){.type = type, .is_list = list, .count = list ? 1 : type->count};
    bool any = list;
    if (place->count > 0) place->parts = CT_NEW_ARRAY(arena_of(w), CtPlace *, place->count);
    for (uint32_t i = 0; i < place->count; i++) {
        CtPlace *part = place->parts[i] = place_new(w, list ? ct_core_list_element(type) : type->parts[i]);
        any = any || part != NULL;
        if (part != NULL && part->is_list && type->kind != TYPE_FUN && type->kind != TYPE_TUPLE) part->is_row = true;
    }
    if (!any) return NULL;
    if (list) {
        CtTypeKind element = ct_core_list_element(type)->kind;
        place->stays = element == TYPE_ARRAY || element == TYPE_FUN;
    }
    return place;
}

static void unify(CtPlace *a, CtPlace *b) {
    if (a == NULL || b == NULL) return;
    a = ct_core_place_find(a);
    b = ct_core_place_find(b);
    if (a == b) return;
    assert(a->type == b->type);
    a->stays |= b->stays;
    a->is_held |= b->is_held;
    a->is_row |= b->is_row;
    a->is_opened |= b->is_opened;
    a->is_indexed |= b->is_indexed;
    a->is_probed |= b->is_probed;
    a->is_left |= b->is_left;
    b->same = a;
    for (uint32_t i = 0; i < a->count; i++) unify(a->parts[i], b->parts[i]);
}

static CtPlace *part_of(CtPlace *place, uint32_t index) {
    return place != NULL ? ct_core_place_find(place)->parts[index] : NULL;
}

/* The lists of a place stay lists: those whose values are seen here, not the ones in elements. */
static void stay(CtPlace *place) {
    if (place == NULL) return;
    place = ct_core_place_find(place);
    place->stays = true;
}

static void hold(CtPlace *place) {
    if (place == NULL) return;
    place = ct_core_place_find(place);
    place->is_held = true;
    if (place->type->kind != TYPE_TUPLE) return;
    for (uint32_t i = 0; i < place->count; i++) hold(place->parts[i]);
}

/* Of a function: its parameters and its result. */
static void hold_type(CtPlace *type) {
    bool fun = type != NULL && ct_core_place_find(type)->type->kind == TYPE_FUN;
    if (!fun) hold(type);
    for (uint32_t i = 0; fun && i < ct_core_place_find(type)->count; i++) hold(part_of(type, i));
}

static CtPlace *place_of_var(CtPlaces *w, CtVar *var) {
    if (var == NULL) return NULL;
    void *known = ct_map_get(&w->vars, ct_key(var));
    if (known != NULL) return known == (void *)w ? NULL : known;
    CtPlace *place = place_new(w, var->type);
    ct_map_set(arena_of(w), &w->vars, ct_key(var), place != NULL ? (void *)place : (void *)w);
    return place;
}

CtPlace *ct_core_place_of_field(CtPlaces *w, const CtCon *con, uint32_t index) {
    const void *key = &con->fields[index];
    void *known = ct_map_get(&w->fields, ct_key(key));
    if (known != NULL) return known == (void *)w ? NULL : known;
    CtPlace *place = place_new(w, con->fields[index]);
    hold(place);
    ct_map_set(arena_of(w), &w->fields, ct_key(key), place != NULL ? (void *)place : (void *)w);
    for (uint32_t i = 0; i < w->datas.count; i++)
        if (w->datas.items[i] == con->data) return place;
    ct_push(arena_of(w), &w->datas, con->data);
    return place;
}

static void keep_place(CtPlace *place) {
    if (place == NULL) return;
    place = ct_core_place_find(place);
    place->stays = true;
    for (uint32_t i = 0; i < place->count; i++) keep_place(place->parts[i]);
}

/* All lists in values of a type, which are seen from outside; those in fields too. */
static void keep_fields(CtPlaces *w, CtType *type) {
    if (ct_map_get(&w->kept, ct_key(type)) != NULL) return;
    ct_map_set(arena_of(w), &w->kept, ct_key(type), type);
    for (uint32_t i = 0; i < type->count; i++) keep_fields(w, type->parts[i]);
    if (type->kind != TYPE_DATA) return;
    for (uint32_t i = 0; i < type->data->con_count; i++) {
        CtCon *con = &type->data->cons[i];
        for (uint32_t j = 0; j < con->count; j++) {
            if (!ct_core_list_is_list(type)) keep_place(ct_core_place_of_field(w, con, j));
            keep_fields(w, con->fields[j]);
        }
    }
}

CtListForm ct_core_place_form(const CtPlace *place) {
    if (place->stays || (!place->is_held && !place->is_row)) return FORM_LIST;
    return place->is_row ? FORM_ROW : FORM_ARRAY;
}

/* ---- terms ---- */

static CtPlace *infer(CtPlaces *w, CtCore *core);

static CtPlace *note(CtPlaces *w, CtCore *core, CtPlace *place) {
    if (place != NULL) ct_push(arena_of(w), &w->terms, ((CtPlacedTerm){core, place}));
    if (w->terms.count > MOST_TERMS) w->refused = true;
    return place;
}

/* A list whatever the place becomes, with what stands around it. */
static void stays_list(CtPlaces *w, CtCore *core, CtPlace *place) {
    if (place != NULL) ct_push(arena_of(w), &w->cells, ((CtPlacedTerm){core, place}));
}

/* A function on lists takes the list in this slot. */
static CtPlace *read_list(CtPlaces *w, CtCore **slot) {
    CtPlace *place = infer(w, *slot);
    if (place != NULL) ct_push(arena_of(w), &w->read, ((CtPlacedSlot){slot, place}));
    return place;
}

static CtPlace *made_list(CtPlaces *w, CtCore *core) {
    CtPlace *place = place_new(w, core->type);
    if (place != NULL) ct_push(arena_of(w), &w->made, ((CtPlacedTerm){core, place}));
    return place;
}

static void share(CtPlaces *w, CtPlace *whole, CtPlace *part, bool shorter) {
    if (whole != NULL && part != NULL) ct_push(arena_of(w), &w->shared, ((CtPlacedPart){whole, part, shorter}));
}

/* ---- globals ---- */

/* Whether a function of the program may call itself. */
static bool is_recursive(CtPlaces *w, const CtGlobal *global) {
    return !global->is_library && ct_core_cycle(&w->cycles, global) != CYCLE_NONE;
}

static CtPlacedGlobal *copy_global(CtPlaces *w, CtGlobal *original) {
    CtPlacedGlobal *placed = CT_NEW(arena_of(w), CtPlacedGlobal);
    CtGlobal *copy = original;
    if (original->is_library) {
        copy = CT_NEW(arena_of(w), CtGlobal);
        *copy = *original;
        copy->id = w->lists.p->next_global++;
        const char *name = ct_format(arena_of(w), "%s#%u", original->name->text, w->copies.count);
        copy->name = ct_intern_text(&w->lists.p->context->symbols, name);
        copy->duals = (CtMap){0};
    }
    *placed = (CtPlacedGlobal){original, copy, NULL, place_new(w, original->type), is_recursive(w, original)};
    if (original->body == NULL || w->copies.count > MOST_COPIES || ct_core_is_deeper(original->body, DEEPEST) ||
        original->origin != NULL)
        w->refused = true;
    else
        placed->body = ct_core_copy(w->lists.p, original->body, NULL);
    ct_push(arena_of(w), &w->copies, placed);
    hold_type(placed->type);
    return placed;
}

/* Whether a term of a global has lists in its type. */
static bool works_on_lists(CtPlaces *w, const CtGlobal *global) {
    CtCoreList work = {0};
    if (has_lists(w, global->type)) return true;
    if (global->body != NULL) ct_push(arena_of(w), &work, global->body);
    while (work.count > 0) {
        CtCore *one = work.items[--work.count];
        if (has_lists(w, one->type)) return true;
        ct_core_children(arena_of(w), one, &work);
    }
    return false;
}

/* A global that is not looked at, and what it calls, has its lists as they are. */
static void leave(CtPlaces *w, CtGlobal *global) {
    if (ct_map_get(&w->left, ct_key(global)) != NULL) return;
    ct_map_set(arena_of(w), &w->left, ct_key(global), global);
    CtCoreList work = {0};
    keep_fields(w, global->type);
    if (global->body != NULL) ct_push(arena_of(w), &work, global->body);
    while (work.count > 0) {
        CtCore *one = work.items[--work.count];
        keep_fields(w, one->type);
        if (one->kind == CORE_GLOBAL) leave(w, one->as.global);
        ct_core_children(arena_of(w), one, &work);
    }
}

static CtPlacedGlobal *placed_global(CtPlaces *w, CtGlobal *global) {
    CtPlacedGlobal *placed = ct_map_get(&w->globals, ct_key(global));
    if (placed == NULL) {
        placed = copy_global(w, global);
        ct_map_set(arena_of(w), &w->globals, ct_key(global), placed);
    }
    return placed;
}

/* Functions on streams are like any other here, but for `zip [0 ..] xs`. */
static CtListFunction list_function(const CtCore *core) {
    CtListFunction function = ct_core_list_call(core);
    bool stream = function == LIST_ITERATE || function == LIST_CYCLE;
    bool pairs = function == LIST_ZIP_FIRST || function == LIST_ZIP_SECOND;
    return stream || (pairs && !ct_core_list_pairs_stream(core)) ? LIST_NONE : function;
}

/* A function on lists that is a value: λxs. toList xs. */
static bool expand(CtPlaces *w, CtCore *core) {
    CtProgram *p = w->lists.p;
    CtType *type = core->type;
    CtCore app = {.kind = CORE_APP};
    app.as.call.of.fun = core;
    if (list_function(&app) == LIST_NONE || type->kind != TYPE_FUN) return false;
    CtVar **params = CT_NEW_ARRAY(arena_of(w), CtVar *, type->count);
    CtCore **args = CT_NEW_ARRAY(arena_of(w), CtCore *, type->count);
    for (uint32_t i = 0; i + 1 < type->count; i++) {
        params[i] = ct_core_var_new(p, "x", type->parts[i]);
        args[i] = ct_core_var(p, core->range, params[i]);
    }
    CtCore *fun = ct_core_global(p, core->range, core->as.global);
    CtCore *call = ct_core_app(p, core->range, fun, args, type->count - 1);
    *core = *ct_core_lam(p, core->range, core->as.global->name->text, params, type->count - 1, call);
    return true;
}

/* Whether lists, or functions or tuples with lists, are in the elements of a list in the type of a function. */
static bool has_lists_in_lists(CtPlaces *w, const CtType *type) {
    for (uint32_t i = 0; i < type->count; i++)
        if (ct_core_list_is_list(type->parts[i]) && has_lists(w, ct_core_list_element(type->parts[i]))) return true;
    return false;
}

/* Whether a function of the library is copied for each of its uses: what one use gives it does not become the list of
 * another. The lists that a recursion goes through stay lists, so that only the lists in these matter. */
static bool is_copied_for_use(CtPlaces *w, const CtGlobal *global) {
    if (!global->is_library || global->type->kind != TYPE_FUN || w->copies.count >= MOST_COPIES_FOR_USES) return false;
    CtCycle cycle = ct_core_cycle(&w->cycles, global);
    return cycle == CYCLE_NONE || (cycle == CYCLE_OWN && has_lists_in_lists(w, global->type));
}

static CtPlace *infer_global(CtPlaces *w, CtCore *core) {
    if (w->within != NULL && w->within->original == core->as.global) {
        core->as.global = w->within->copy;
        return w->within->type;
    }
    if (expand(w, core)) return infer(w, core);
    if (core->as.global->is_library && !works_on_lists(w, core->as.global)) {
        leave(w, core->as.global);
        return NULL;
    }
    bool own = is_copied_for_use(w, core->as.global);
    CtPlacedGlobal *placed = own ? copy_global(w, core->as.global) : placed_global(w, core->as.global);
    core->as.global = placed->copy;
    return placed->type;
}

/* ---- array operations and derivatives, by the types in their tables ---- */

typedef CtPlace *Letters[128];

static void skip_spaces(const char **at) {
    while (**at == ' ') ++*at;
}

static bool accept(const char **at, const char *token) {
    skip_spaces(at);
    if (strncmp(*at, token, strlen(token)) != 0) return false;
    *at += strlen(token);
    return true;
}

static void match_arrows(Letters letters, const char **at, CtPlace *place);

/* Whether an arrow comes before the end of the type. */
static bool is_function(const char *at) {
    int depth = 0;
    for (; *at != '\0' && depth >= 0 && !(depth == 0 && *at == ','); at++) {
        if (depth == 0 && strncmp(at, "->", 2) == 0) return true;
        depth += (*at == '(') - (*at == ')');
    }
    return false;
}

/* a | Int | Double | Array t | (t, t) | (t -> t) */
static void match_atom(Letters letters, const char **at, CtPlace *place) {
    if (accept(at, "Int") || accept(at, "Double")) return;
    if (accept(at, "Array")) {
        match_atom(letters, at, part_of(place, 0));
        return;
    }
    if (!accept(at, "(")) {
        skip_spaces(at);
        CtPlace **letter = &letters[*(*at)++ & 127];
        if (*letter == NULL) *letter = place;
        unify(*letter, place);
        return;
    }
    bool pair = place != NULL && !is_function(*at) && place->type->kind == TYPE_TUPLE;
    match_arrows(letters, at, pair ? part_of(place, 0) : place);
    if (accept(at, ",")) match_arrows(letters, at, part_of(place, 1));
    accept(at, ")");
}

static void match_arrows(Letters letters, const char **at, CtPlace *place) {
    if (!is_function(*at)) {
        match_atom(letters, at, place);
        return;
    }
    uint32_t part = 0;
    do match_atom(letters, at, part_of(place, part++));
    while (accept(at, "->"));
}

static CtPlace *match_call(CtPlaces *w, CtCore *core, const char *type) {
    Letters letters = {0};
    for (uint32_t i = 0; i < core->as.call.count; i++) {
        match_atom(letters, &type, infer(w, core->as.call.args[i]));
        accept(&type, "->");
    }
    CtPlace *result = place_new(w, core->type);
    match_arrows(letters, &type, result);
    for (int i = 0; i < 128; i++) hold(letters[i]);
    return result;
}

static void keep_all(CtPlaces *w, CtCore *core, CtPlace *place) {
    keep_place(place);
    keep_fields(w, core->type);
}

/* What makes arrays of all reals of a value, or has a rule for its derivative, gets values as they are. */
static CtPlace *infer_derivative(CtPlaces *w, CtCore *core) {
    static const char *const types[] = {
#define CT_DERIV_OP(op, primitive, name, arity, type, doc) [DERIV_##op] = type,
#include "core/core.def"
#undef CT_DERIV_OP
    };
    CtDerivOp op = core->as.call.of.deriv;
    bool free = op == DERIV_VJP || op == DERIV_JVP || op == DERIV_STOP || op == DERIV_CHECKPOINT || op == DERIV_ATTEMPT;
    if (free) return match_call(w, core, types[op]);
    for (uint32_t i = 0; i < core->as.call.count; i++)
        keep_all(w, core->as.call.args[i], infer(w, core->as.call.args[i]));
    CtPlace *result = place_new(w, core->type);
    keep_all(w, core, result);
    return result;
}

/* ---- functions on lists ---- */

/* Whether this parameter of a function on lists is the list that it goes through, not a state or an element. */
static bool reads_list(CtListFunction function, uint32_t index, uint32_t count) {
    if (function == LIST_APPEND) return true;
    if (function == LIST_ZIP_WITH) return index > 0;
    if (function == LIST_ZIP_SECOND) return index == 0;
    return index == (function == LIST_AT ? 0 : count - 1);
}

/* Whether the result of a function on lists is a list that it makes, not a state or an element. */
static bool makes_list(CtListFunction function) { return function >= LIST_RANGE && function <= LIST_SCANL; }

/* Whether any list of lists, or state that has lists, is in the type of a function on lists. */
static bool has_inner_lists(const CtPlace *fun, CtListFunction function) {
    for (uint32_t i = 0; fun != NULL && i < fun->count; i++) {
        const CtPlace *part = fun->parts[i];
        bool result = i + 1 == fun->count;
        bool list = result ? makes_list(function) : reads_list(function, i, fun->count - 1);
        if (part != NULL && (!part->is_list || !list || part->parts[0] != NULL)) return true;
    }
    return false;
}

/* The list stays that such a function is given: it may be left half-way, so that an array would take longer. */
static bool is_good(CtListFunction function) { return function != LIST_ALL && function != LIST_ANY; }

static void index_list(CtPlace *list, const CtCore *index) {
    list->is_indexed = true;
    list->is_probed |= index->kind != CORE_LIT;
}

/* f ⟨…⟩ for a function on lists. What it does with elements and states is known from a copy of it. */
static CtPlace *infer_list_call(CtPlaces *w, CtCore *core) {
    CtGlobal *global = core->as.call.of.fun->as.global;
    CtListFunction function = list_function(core);
    CtPlace *fun = place_new(w, global->type);
    if (has_inner_lists(fun, function)) {
        CtPlacedGlobal *copy = copy_global(w, global);
        core->as.call.of.fun->as.global = copy->copy;
        fun = note(w, core->as.call.of.fun, copy->type);
    }
    CtPlace *first = NULL, *last = NULL;
    for (uint32_t i = 0; i < core->as.call.count; i++) {
        CtPlace *param = part_of(fun, i);
        if (param == NULL || !param->is_list || !reads_list(function, i, core->as.call.count)) {
            unify(infer(w, core->as.call.args[i]), param);
            continue;
        }
        last = read_list(w, &core->as.call.args[i]);
        if (first == NULL) first = last;
        if (function == LIST_AT && last != NULL) index_list(ct_core_place_find(last), core->as.call.args[1]);
        if (!is_good(function)) stay(last);
        if (!is_good(function) && last != NULL) stay(ct_core_place_find(last)->of);
        stay(param);
        unify(part_of(last, 0), part_of(param, 0));
    }
    CtPlace *result = part_of(fun, core->as.call.count);
    if (result == NULL || !makes_list(function)) return result;
    CtPlace *made = made_list(w, core);
    stay(result);
    unify(part_of(made, 0), part_of(result, 0));
    if (function == LIST_APPEND) ct_push(arena_of(w), &w->appended, ((CtPlacedPart){first, made, false}));
    bool shorter = function == LIST_TAIL || function == LIST_DROP;
    if (shorter || function == LIST_APPEND || function == LIST_REPLICATE) share(w, last, made, shorter);
    return made;
}

/* x : y : list, or x : y : [] */
static CtPlace *infer_cons(CtPlaces *w, CtCore *core) {
    CtPlace *made = made_list(w, core);
    CtCore *cell = core;
    for (; cell->kind == CORE_CON && cell->as.call.count == 2; cell = cell->as.call.args[1]) {
        unify(part_of(made, 0), infer(w, cell->as.call.args[0]));
        stays_list(w, cell, made);
        CtCore *rest = cell->as.call.args[1];
        if (rest->kind == CORE_CON) continue;
        CtPlace *tail = read_list(w, &cell->as.call.args[1]);
        unify(part_of(made, 0), part_of(tail, 0));
        share(w, tail, made, false);
        return made;
    }
    stays_list(w, cell, made);
    return made;
}

/* ---- the forms of Core ---- */

/* Whether a loop may end before its list does, as those of takeWhile and dropWhile do; with `rest`, and give that. */
static bool ends_early(CtPlaces *w, CtCore *body, const CtVar *loop, const CtVar *rest) {
    for (; body->kind == CORE_LET || body->kind == CORE_UNPACK; body = body->as.let.body)
        if (ct_core_list_occurs(&w->lists, body->as.let.rhs, loop)) return false;
    if (body->kind == CORE_FAIL) return false;
    if (body->kind != CORE_CASE)
        return !ct_core_list_occurs(&w->lists, body, loop) &&
               (rest == NULL || ct_core_list_occurs(&w->lists, body, rest));
    if (ct_core_list_occurs(&w->lists, body->as.cases.scrutinee, loop)) return false;
    for (uint32_t i = 0; i < body->as.cases.count; i++)
        if (ends_early(w, body->as.cases.cases[i].body, loop, rest)) return true;
    return body->as.cases.otherwise != NULL && ends_early(w, body->as.cases.otherwise, loop, rest);
}

/* A loop that may end early: whether its result shares cells with its list. */
typedef struct EarlyLoop {
    bool shares;
} EarlyLoop;

static void note_early(CtPlaces *w, const CtBind *bind) {
    const CtCase *cases = bind->lam->as.lam->body->as.cases.cases;
    const CtCase *cons = &cases[cases[0].con->count == 2 ? 0 : 1];
    if (!ends_early(w, cons->body, bind->var, NULL)) return;
    EarlyLoop *early = CT_NEW(arena_of(w), EarlyLoop);
    early->shares = cons->vars[1] != NULL && ends_early(w, cons->body, bind->var, cons->vars[1]);
    ct_map_set(arena_of(w), &w->early, ct_key(bind->var), early);
}

static void mark_left(CtPlace *place) {
    if (place != NULL) ct_core_place_find(place)->is_left = true;
}

/* A list that is given to a loop that may end early. */
static void leave_early(CtPlaces *w, const CtVar *loop, CtPlace *over, CtPlace *made) {
    const EarlyLoop *early = ct_map_get(&w->early, ct_key(loop));
    if (early == NULL) return;
    mark_left(over);
    if (over != NULL) mark_left(ct_core_place_find(over)->of);
    if (early->shares) share(w, over, made, true);
    CT_FIRED("lists.early_end");
}

/* The call of a comprehension's loop from outside; `term` has its list. */
static CtPlace *infer_loop_call(CtPlaces *w, CtCore *app, CtCore *term, CtPlace *fun) {
    note(w, app->as.call.of.fun, fun);
    CtPlace *over = read_list(w, &app->as.call.args[0]), *made = made_list(w, term);
    leave_early(w, app->as.call.of.fun->as.var, over, made);
    unify(part_of(over, 0), part_of(part_of(fun, 0), 0));
    unify(part_of(made, 0), part_of(part_of(fun, 1), 0));
    if (made != NULL) made->of = over;
    stays_list(w, app, made);
    return made;
}

static CtPlace *infer_app(CtPlaces *w, CtCore *core) {
    CtCore *fun = core->as.call.of.fun;
    CtPlace *loop = fun->kind == CORE_VAR ? ct_map_get(&w->loops, ct_key(fun->as.var)) : NULL;
    if (loop != NULL) return infer_loop_call(w, core, core, loop);
    bool itself = fun->kind == CORE_GLOBAL && w->within != NULL && w->within->original == fun->as.global;
    if (!itself && list_function(core) != LIST_NONE) return infer_list_call(w, core);
    CtPlace *place = infer(w, fun);
    for (uint32_t i = 0; i < core->as.call.count; i++) unify(infer(w, core->as.call.args[i]), part_of(place, i));
    return part_of(place, core->as.call.count);
}

static CtPlace *infer_lam(CtPlaces *w, CtCore *core) {
    CtLam *lam = core->as.lam;
    if (lam->origin != NULL) w->refused = true;
    CtPlace *place = place_new(w, core->type), *body = infer(w, lam->body);
    for (uint32_t i = 0; i < lam->count; i++) unify(place_of_var(w, lam->params[i]), part_of(place, i));
    unify(body, part_of(place, lam->count));
    return place;
}

static CtPlace *infer_letrec(CtPlaces *w, CtCore *core) {
    for (uint32_t i = 0; i < core->as.letrec.count; i++) {
        CtPlace *place = place_of_var(w, core->as.letrec.binds[i].var);
        hold_type(place);
        w->recursions++;
        unify(place, infer(w, core->as.letrec.binds[i].lam));
        w->recursions--;
    }
    return infer(w, core->as.letrec.body);
}

/* The loop of a comprehension sees the cells of the list that it goes through, and makes those of its own, as functions
 * on lists do; so it is as good as one. It is called where it is bound, or in what consumes its list. */
static CtPlace *infer_comprehension(CtPlaces *w, CtCore *core) {
    CtVar *loop = core->as.letrec.binds[0].var;
    CtPlace *fun = place_of_var(w, loop);
    stay(part_of(fun, 0));
    stay(part_of(fun, 1));
    CtPlace *lam = infer(w, core->as.letrec.binds[0].lam);
    unify(fun, lam);
    if (part_of(fun, 0) != NULL) ct_core_place_find(part_of(fun, 0))->is_opened = false;
    ct_map_set(arena_of(w), &w->loops, ct_key(loop), fun);
    note_early(w, &core->as.letrec.binds[0]);
    CtCore *body = core->as.letrec.body;
    for (; body->kind == CORE_LET; body = body->as.let.body) continue;
    bool own = body->kind == CORE_APP && body->as.call.of.fun->kind == CORE_VAR && body->as.call.of.fun->as.var == loop;
    if (!own) return infer(w, core->as.letrec.body);
    for (CtCore *let = core->as.letrec.body; let != body; let = let->as.let.body) {
        unify(place_of_var(w, let->as.let.vars[0]), infer(w, let->as.let.rhs));
        stays_list(w, let, part_of(fun, 1));
    }
    CtPlace *made = infer_loop_call(w, body, core, fun);
    stays_list(w, core, made);
    return made;
}

/* Whether the program takes a list apart, in which lists_to_arrays.c sees a test of the length and a part. Of a
 * recursion over lists of lists list_rows.c knows more. */
static bool opens_values(CtPlaces *w, const CtCore *core) {
    CtType *type = core->as.cases.scrutinee->type;
    if (!ct_core_list_is_list(type) || is_text(type) || w->within->original->is_library) return false;
    return !has_lists(w, ct_core_list_element(type)) ||
           (w->opens_rows && w->recursions == 0 && !w->within->is_recursive);
}

/* What is left of a list behind its first element. */
static void infer_tail(CtPlaces *w, CtPlace *list, CtVar *tail) {
    CtPlace *place = place_of_var(w, tail);
    if (place == NULL) return;
    stay(place);
    unify(part_of(place, 0), part_of(list, 0));
    share(w, list, place, true);
}

static CtPlace *infer_case(CtPlaces *w, CtCore *core) {
    bool values = opens_values(w, core);
    CtPlace *scrutinee = values ? read_list(w, &core->as.cases.scrutinee) : infer(w, core->as.cases.scrutinee);
    CtPlace *result = place_new(w, core->type);
    if (!values) stay(scrutinee);
    if (!values && scrutinee != NULL && !w->within->original->is_library)
        ct_core_place_find(scrutinee)->is_opened = true;
    if (scrutinee != NULL) ct_push(arena_of(w), &w->cases, ((CtPlacedTerm){core, scrutinee}));
    for (uint32_t i = 0; i < core->as.cases.count; i++) {
        const CtCase *one = &core->as.cases.cases[i];
        bool cell = ct_core_list_is_list(core->as.cases.scrutinee->type);
        for (uint32_t j = 0; j < one->con->count; j++) {
            CtPlace *field = !cell    ? ct_core_place_of_field(w, one->con, j)
                             : j == 0 ? part_of(scrutinee, 0)
                                      : scrutinee;
            if (one->vars[j] != NULL && values && j == 1)
                infer_tail(w, scrutinee, one->vars[j]);
            else if (one->vars[j] != NULL)
                unify(place_of_var(w, one->vars[j]), field);
        }
        unify(infer(w, one->body), result);
    }
    if (core->as.cases.otherwise != NULL) unify(infer(w, core->as.cases.otherwise), result);
    return result;
}

static CtPlace *infer_parts(CtPlaces *w, CtCore *core) {
    CtPlace *place = place_new(w, core->type);
    for (uint32_t i = 0; i < core->as.call.count; i++) {
        CtPlace *arg = infer(w, core->as.call.args[i]);
        if (core->kind == CORE_TUPLE) unify(arg, part_of(place, i));
        if (core->kind == CORE_ARRAY_LIT) unify(arg, part_of(place, 0));
        if (core->kind == CORE_CON) unify(arg, ct_core_place_of_field(w, core->as.call.of.con, i));
    }
    return place;
}

static CtPlace *infer_unpack(CtPlaces *w, CtCore *core) {
    CtPlace *tuple = infer(w, core->as.let.rhs);
    for (uint32_t i = 0; i < core->as.let.count; i++)
        if (core->as.let.vars[i] != NULL) unify(place_of_var(w, core->as.let.vars[i]), part_of(tuple, i));
    return infer(w, core->as.let.body);
}

static CtPlace *infer_form(CtPlaces *w, CtCore *core) {
    switch (core->kind) {
    case CORE_VAR: return place_of_var(w, core->as.var);
    case CORE_GLOBAL: return infer_global(w, core);
    case CORE_LIT:
    case CORE_STRING: return NULL;
    case CORE_LAM: return infer_lam(w, core);
    case CORE_APP: return infer_app(w, core);
    case CORE_LET:
        unify(place_of_var(w, core->as.let.vars[0]), infer(w, core->as.let.rhs));
        if (w->opens_rows && core->as.let.rhs->kind == CORE_LAM) hold_type(place_of_var(w, core->as.let.vars[0]));
        /* What an entry point is given, as an array: wherever it goes, no cell of it is needed. */
        if (w->within->is_root && ct_core_list_call(core->as.let.rhs) == LIST_OF_ARRAY)
            hold(place_of_var(w, core->as.let.vars[0]));
        return infer(w, core->as.let.body);
    case CORE_UNPACK: return infer_unpack(w, core);
    case CORE_LETREC: return ct_core_list_is_loop(core) ? infer_comprehension(w, core) : infer_letrec(w, core);
    case CORE_PROJ: return part_of(infer(w, core->as.proj.tuple), core->as.proj.index);
    case CORE_CON:
        if (ct_core_list_is_list(core->type) && !is_text(core->type)) return infer_cons(w, core);
        return infer_parts(w, core);
    case CORE_TUPLE:
    case CORE_PRIM:
    case CORE_ARRAY_LIT: return infer_parts(w, core);
    case CORE_CASE: return infer_case(w, core);
    case CORE_ARRAY: return match_call(w, core, ct_core_array_info(core->as.call.of.array)->type);
    case CORE_DERIV: return infer_derivative(w, core);
    case CORE_DUAL: w->refused = true; return NULL;
    case CORE_FAIL:
        if (core->as.fail.message != NULL) infer(w, core->as.fail.message);
        return place_new(w, core->type);
    }
    return NULL;
}

static CtPlace *infer(CtPlaces *w, CtCore *core) {
    if (w->refused) return NULL;
    CtPlace *place = infer_form(w, core);
    return note(w, core, place);
}

/* ---- all of a program ---- */

bool ct_core_list_places(CtProgram *p, CtGlobal *const *roots, uint32_t count, bool recursion) {
    CtPlaces w = {
        .lists = {.p = p}, .cycles = {.arena = p->context->arena}, .root_count = count, .opens_rows = recursion};
    for (uint32_t i = 0; i < count; i++) {
        if (roots[i]->body == NULL) return false;
        CtPlacedGlobal *root = placed_global(&w, roots[i]);
        root->is_root = true;
        keep_place(root->type);
        keep_fields(&w, roots[i]->type);
    }
    for (uint32_t i = 0; i < w.copies.count && !w.refused; i++) {
        CtPlacedGlobal *global = w.copies.items[i];
        w.within = global;
        unify(infer(&w, global->body), global->type);
    }
    if (w.refused) return false;
    ct_core_places_keep_cells(&w);
    bool any = false;
    for (uint32_t i = 0; i < w.terms.count && !any; i++) {
        const CtPlace *place = ct_core_place_find(w.terms.items[i].place);
        any = place->is_list && ct_core_place_form(place) != FORM_LIST;
    }
    if (!any) return false;
    CT_FIRED("lists.place");
    ct_core_places_rewrite(&w);
    return true;
}
