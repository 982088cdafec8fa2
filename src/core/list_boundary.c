/* Lists that come from outside of a program, and those that it gives.
 *
 * An entry point takes and gives lists as its type says. What the program does with them is its own matter: in front of
 * the body of the entry point each list that it is given becomes one of the program's own, and behind it each list of
 * the result one of those outside. So list_places.c can make arrays of them:
 *
 *     λxs. body        →        λxs. let own = toList (fromList xs) in let r = body in toList (fromList r)
 *
 * Data with lists in their fields are data of the program's own inside of it, with the same constructors, so that these
 * fields may become arrays, too. `toList (fromList xs)` is xs again where nothing becomes an array.
 *
 * This is done for programs that are run by the method `native`, if they take derivatives, whose reverse sweeps need
 * memory for each cell of a list; or if their entry point is given lists of numbers or of lists, of which no cells need
 * be made then, and gives no lists of lists.
 *
 * Whoever calls the program may give it arrays in place of lists of numbers, and matrices in place of lists of lists of
 * one length each. So the body becomes a function of these, which the entry point calls; it gives arrays in place of
 * lists of numbers, too:
 *
 *     λxs. toList (f (rows xs))        where f = λys. let own = map toList (toList ys) in let r = body in fromList r
 *
 * That is the program for inputs with such lists. For others the entry point is made without that function. */
#include "core/lists.h"

#include "base/rules.h"

typedef struct Saved {
    CtGlobal *global;
    CtCore *body;
    CtType *type;
} Saved;

typedef struct Boundary {
    CtProgram *p;
    CtMap own;              /* CtType * -> CtType * of the program's own */
    CT_VEC(CtType *) datas; /* with lists in their fields */
    CT_VEC(Saved) saved;    /* the functions that are changed, as they were */
    CtType *sought;
    bool refused;
    CtMap given, taken; /* CtType * -> CtType * that the program is given instead, or that is taken from it */
    CtListInput input;
    bool goes_out; /* what is converted now: the result */
} Boundary;

static CtArena *arena_of(Boundary *b) { return b->p->context->arena; }

static bool is_text(const CtType *type) {
    return ct_core_list_is_list(type) && ct_core_list_element(type)->kind == TYPE_CHAR;
}

/* Whether a type leads to one that `wanted` accepts, also by fields. */
static bool leads_to(Boundary *b, CtType *type, CtMap *met, bool (*wanted)(Boundary *, CtType *)) {
    if (wanted(b, type)) return true;
    if (ct_map_get(met, ct_key(type)) != NULL) return false;
    ct_map_set(arena_of(b), met, ct_key(type), type);
    for (uint32_t i = 0; i < type->count; i++)
        if (leads_to(b, type->parts[i], met, wanted)) return true;
    for (uint32_t i = 0; type->kind == TYPE_DATA && i < type->data->con_count; i++)
        for (uint32_t j = 0; j < type->data->cons[i].count; j++)
            if (leads_to(b, type->data->cons[i].fields[j], met, wanted)) return true;
    return false;
}

static bool is_list(Boundary *b, CtType *type) {
    (void)b;
    return ct_core_list_is_list(type) && !is_text(type);
}

static bool is_list_of_lists(Boundary *b, CtType *type) {
    return is_list(b, type) && is_list(b, ct_core_list_element(type));
}

/* A list of numbers, or of lists: native code may be given an array in its place. */
static bool is_list_of_numbers(Boundary *b, CtType *type) {
    return is_list(b, type) && (ct_core_list_is_number(ct_core_list_element(type)) || is_list_of_lists(b, type));
}

static bool has_lists(Boundary *b, CtType *type) {
    CtMap met = {0};
    return leads_to(b, type, &met, is_list);
}

static bool is_changed(Boundary *b, CtType *type) {
    for (uint32_t i = 0; i < b->datas.count; i++)
        if (b->datas.items[i] == type) return true;
    return false;
}

static bool is_sought(Boundary *b, CtType *type) { return type == b->sought; }

static bool is_recursive(Boundary *b, CtType *type) {
    b->sought = type;
    for (uint32_t i = 0; i < type->data->con_count; i++)
        for (uint32_t j = 0; j < type->data->cons[i].count; j++) {
            CtMap met = {0};
            if (leads_to(b, type->data->cons[i].fields[j], &met, is_sought)) return true;
        }
    return false;
}

static bool is_free(Boundary *b, CtType *type) {
    (void)b;
    return type->kind == TYPE_FUN || (type->kind == TYPE_DATA && (type->data->is_universal || type->data->method));
}

/* ---- the program's own types ---- */

/* The data types in a type of the entry point that have lists in their fields. Refused are recursive ones, whose values
 * a loop would have to convert, and those in lists of arrays, which stay as they are (convert_list). */
static void find_datas(Boundary *b, CtType *type, uint32_t depth) {
    enum { DEEPEST_TYPE = 50 };
    CtMap met = {0}, changed = {0};
    if (depth > DEEPEST_TYPE || leads_to(b, type, &met, is_free)) b->refused = true;
    if (b->refused || !has_lists(b, type)) return;
    for (uint32_t i = 0; i < type->count; i++) find_datas(b, type->parts[i], depth + 1);
    if (type->kind != TYPE_DATA) return;
    if (ct_core_list_is_list(type)) {
        CtType *element = ct_core_list_element(type);
        find_datas(b, element, depth + 1);
        b->refused |= element->kind == TYPE_ARRAY && leads_to(b, element, &changed, is_changed);
        return;
    }
    if (is_changed(b, type)) return;
    if (is_recursive(b, type)) b->refused = true;
    ct_push(arena_of(b), &b->datas, type);
    for (uint32_t i = 0; i < type->data->con_count; i++)
        for (uint32_t j = 0; j < type->data->cons[i].count; j++)
            find_datas(b, type->data->cons[i].fields[j], depth + 1);
}

static CtType *own_type(Boundary *b, CtType *type);

/* Data with the same constructors, of other types in place of those of the fields, and known as such. */
static CtType *other_data(Boundary *b, CtType *type, CtMap *known, CtType *(*instead)(Boundary *, CtType *)) {
    CtProgram *p = b->p;
    const CtData *old = type->data;
    CtType *own = ct_core_type_data(p, old->name, old->args, old->arg_count, old->is_newtype);
    own->data->is_library = old->is_library;
    ct_map_set(arena_of(b), known, ct_key(type), own);
    for (uint32_t i = 0; i < old->arg_count; i++) own->data->args[i] = instead(b, old->args[i]);
    CtCon *cons = CT_NEW_ARRAY(arena_of(b), CtCon, old->con_count + 1);
    for (uint32_t i = 0; i < old->con_count; i++) {
        cons[i] = old->cons[i];
        if (cons[i].count == 0) continue;
        cons[i].fields = CT_NEW_ARRAY(arena_of(b), CtType *, cons[i].count);
        for (uint32_t j = 0; j < cons[i].count; j++) cons[i].fields[j] = instead(b, old->cons[i].fields[j]);
    }
    own->data->own_order = old->own_order;
    ct_core_data_set_cons(p, own->data, cons, old->con_count);
    return own;
}

static CtType *own_type(Boundary *b, CtType *type) {
    CtType *known = ct_map_get(&b->own, ct_key(type));
    if (known != NULL) return known;
    CtMap met = {0};
    if (!leads_to(b, type, &met, is_changed)) {
        ct_map_set(arena_of(b), &b->own, ct_key(type), type);
        return type;
    }
    if (type->kind == TYPE_DATA) return other_data(b, type, &b->own, own_type);
    CtType **parts = CT_NEW_ARRAY(arena_of(b), CtType *, type->count), *own;
    for (uint32_t i = 0; i < type->count; i++) parts[i] = own_type(b, type->parts[i]);
    if (type->kind == TYPE_TUPLE)
        own = ct_core_type_tuple(b->p, parts, type->count);
    else if (type->kind == TYPE_ARRAY)
        own = ct_core_type_array(b->p, parts[0]);
    else
        own = ct_core_type_fun(b->p, parts, type->count - 1, parts[type->count - 1]);
    ct_map_set(arena_of(b), &b->own, ct_key(type), own);
    return own;
}

static void own_var(Boundary *b, CtVar *var) {
    if (var != NULL) var->type = own_type(b, var->type);
}

/* Gives the nodes of a term, a copy, the program's own types. */
static void change_term(Boundary *b, CtCore *body) {
    CtCoreList work = {0};
    ct_push(arena_of(b), &work, body);
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        if (core->kind == CORE_DUAL || (core->kind == CORE_LAM && core->as.lam->origin != NULL)) b->refused = true;
        for (uint32_t i = 0; core->kind == CORE_LAM && i < core->as.lam->count; i++)
            own_var(b, core->as.lam->params[i]);
        bool binds = core->kind == CORE_LET || core->kind == CORE_UNPACK;
        for (uint32_t i = 0; binds && i < core->as.let.count; i++) own_var(b, core->as.let.vars[i]);
        for (uint32_t i = 0; core->kind == CORE_LETREC && i < core->as.letrec.count; i++)
            own_var(b, core->as.letrec.binds[i].var);
        CtType *opened = core->kind == CORE_CASE ? own_type(b, core->as.cases.scrutinee->type) : NULL;
        for (uint32_t i = 0; opened != NULL && i < core->as.cases.count; i++) {
            CtCase *one = &core->as.cases.cases[i];
            for (uint32_t j = 0; one->vars != NULL && j < one->con->count; j++) own_var(b, one->vars[j]);
            one->con = &opened->data->cons[one->con->tag];
        }
        core->type = own_type(b, core->type);
        if (core->kind == CORE_CON) core->as.call.of.con = &core->type->data->cons[core->as.call.of.con->tag];
        ct_core_children(arena_of(b), core, &work);
    }
}

static void change_global(Boundary *b, CtGlobal *global) {
    ct_push(arena_of(b), &b->saved, ((Saved){global, global->body, global->type}));
    if (global->body != NULL) global->body = ct_core_copy(b->p, global->body, NULL);
    if (global->body != NULL) change_term(b, global->body);
    if (own_type(b, global->type) != global->type && (global->body == NULL || global->origin != NULL))
        b->refused = true;
    global->type = own_type(b, global->type);
}

/* ---- conversions ---- */

static CtCore *use(Boundary *b, CtVar *var) { return ct_core_var(b->p, CT_NO_RANGE, var); }

static CtCore *convert(Boundary *b, CtCore *value, CtType *from, CtType *to);

/* toList array; of a matrix, map toList (toList matrix). */
static CtCore *convert_array(Boundary *b, CtCore *array, CtType *to) {
    CtProgram *p = b->p;
    CtType *row = array->type->parts[0];
    if (row->kind != TYPE_ARRAY) return ct_core_list_of_array(p, array, to);
    CtVar *x = ct_core_var_new(p, "x", row);
    CtCore *own = ct_core_list_of_array(p, use(b, x), ct_core_list_element(to));
    CtCore *all = ct_core_list_of_array(p, array, ct_core_list_type_like(p, to, row));
    return ct_core_list_mapped(p, ct_core_lam(p, CT_NO_RANGE, NULL, &x, 1, own), all, to);
}

static CtCore *convert_list(Boundary *b, CtCore *list, CtType *from, CtType *to) {
    CtProgram *p = b->p;
    CtType *element = ct_core_list_element(from);
    if (to->kind == TYPE_ARRAY)
        return ct_core_list_is_list(element) ? ct_core_list_equal_rows(p, list) : ct_core_list_from_list(p, list);
    if (element->kind == TYPE_ARRAY) return list;
    if (!has_lists(b, element)) return ct_core_list_of_array(p, ct_core_list_from_list(p, list), to);
    CtVar *x = ct_core_var_new(p, "x", element);
    CtCore *each = convert(b, use(b, x), element, ct_core_list_element(to));
    CtCore *fun = ct_core_lam(p, CT_NO_RANGE, NULL, &x, 1, each);
    return b->goes_out ? ct_core_list_of_each(p, fun, ct_core_list_from_list(p, list), to)
                       : ct_core_list_mapped(p, fun, list, to);
}

static CtCore *convert_tuple(Boundary *b, CtCore *tuple, CtType *from, CtType *to) {
    CtVar **vars = CT_NEW_ARRAY(arena_of(b), CtVar *, from->count);
    CtCore **parts = CT_NEW_ARRAY(arena_of(b), CtCore *, from->count);
    for (uint32_t i = 0; i < from->count; i++) {
        vars[i] = ct_core_var_new(b->p, "part", from->parts[i]);
        parts[i] = convert(b, use(b, vars[i]), from->parts[i], to->parts[i]);
    }
    CtCore *made = ct_core_tuple(b->p, CT_NO_RANGE, parts, from->count);
    return ct_core_unpack(b->p, CT_NO_RANGE, vars, from->count, tuple, made);
}

static CtCore *convert_data(Boundary *b, CtCore *value, CtType *from, CtType *to) {
    uint32_t count = from->data->con_count;
    CtCase *cases = CT_NEW_ARRAY(arena_of(b), CtCase, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        CtCon *con = &from->data->cons[i], *own = &to->data->cons[i];
        CtVar **vars = CT_NEW_ARRAY(arena_of(b), CtVar *, con->count + 1);
        CtCore **fields = CT_NEW_ARRAY(arena_of(b), CtCore *, con->count + 1);
        for (uint32_t j = 0; j < con->count; j++) {
            vars[j] = ct_core_var_new(b->p, "field", con->fields[j]);
            fields[j] = convert(b, use(b, vars[j]), con->fields[j], own->fields[j]);
        }
        cases[i] = (CtCase){con, vars, ct_core_con(b->p, CT_NO_RANGE, own, fields, con->count)};
    }
    return ct_core_case(b->p, CT_NO_RANGE, to, value, cases, count, NULL);
}

/* A value with lists, from outside, as what the program is given, that as one of its own; or one of its own as one for
 * outside. */
static CtCore *convert(Boundary *b, CtCore *value, CtType *from, CtType *to) {
    if (from == to && !has_lists(b, from)) return value;
    if (ct_core_list_is_list(to) && from->kind == TYPE_ARRAY) return convert_array(b, value, to);
    if (ct_core_list_is_list(from)) return convert_list(b, value, from, to);
    if (from->kind == TYPE_DATA) return convert_data(b, value, from, to);
    if (from->kind == TYPE_TUPLE) return convert_tuple(b, value, from, to);
    CtVar *x = ct_core_var_new(b->p, "x", from->parts[0]);
    CtCore *own = convert(b, use(b, x), from->parts[0], to->parts[0]);
    CtCore *args[] = {ct_core_lam(b->p, CT_NO_RANGE, NULL, &x, 1, own), value};
    return ct_core_array(b->p, CT_NO_RANGE, ARRAY_MAP, args, 2);
}

/* ---- the entry point ---- */

static CtCore *convert_result(Boundary *b, CtCore *body, CtType *to) {
    CtVar *result = ct_core_var_new(b->p, "result", body->type);
    b->goes_out = true;
    CtCore *converted = convert(b, use(b, result), body->type, to);
    b->goes_out = false;
    return ct_core_let(b->p, body->range, result, body, converted);
}

static void put_back(Boundary *b) {
    for (uint32_t i = 0; i < b->saved.count; i++) {
        b->saved.items[i].global->body = b->saved.items[i].body;
        b->saved.items[i].global->type = b->saved.items[i].type;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->p->globals.count; i++)
        if (b->p->globals.items[i] != b->input.function) b->p->globals.items[count++] = b->p->globals.items[i];
    b->p->globals.count = count;
    b->input = (CtListInput){0};
}

/* λ⟨params⟩. let own = params in body, or of other arguments */
static CtCore *with_converted(Boundary *b, const CtLam *lam, CtType *const *from, CtVar *const *own, CtCore *body) {
    CtVar **params = CT_NEW_ARRAY(arena_of(b), CtVar *, lam->count + 1);
    for (uint32_t i = lam->count; i-- > 0;) {
        params[i] = ct_core_var_like(b->p, lam->params[i], from[i]);
        CtCore *given = convert(b, use(b, params[i]), from[i], own[i]->type);
        body = ct_core_let(b->p, lam->node->range, own[i], given, body);
    }
    return ct_core_lam(b->p, lam->node->range, lam->name, params, lam->count, body);
}

/* What the program is given in place of lists of numbers, and of lists of these: arrays and matrices. What it gives, in
 * place of lists of numbers alone: of lists of lists that it makes nothing is known. */
static CtType *outer_type(Boundary *b, CtType *type) {
    CtMap *outer = b->goes_out ? &b->taken : &b->given;
    CtType *known = ct_map_get(outer, ct_key(type)), *instead = type;
    if (known != NULL || !has_lists(b, type)) return known != NULL ? known : type;
    if (!b->goes_out && ct_core_list_may_have_rows(type)) {
        b->input.equal_rows = CT_FIRED("lists.equal_rows");
        instead = ct_core_type_array(b->p, outer_type(b, ct_core_list_element(type)));
    } else if (ct_core_list_is_list(type)) {
        CtType *element = ct_core_list_element(type);
        if (ct_core_list_is_number(element)) instead = ct_core_type_array(b->p, element);
    } else if (type->kind == TYPE_DATA) {
        return other_data(b, type, outer, outer_type);
    } else if (type->kind == TYPE_TUPLE) {
        CtType **parts = CT_NEW_ARRAY(arena_of(b), CtType *, type->count);
        for (uint32_t i = 0; i < type->count; i++) parts[i] = outer_type(b, type->parts[i]);
        instead = ct_core_type_tuple(b->p, parts, type->count);
    }
    ct_map_set(arena_of(b), outer, ct_key(type), instead);
    return instead;
}

/* The function of arrays that the entry point calls: its own body, between conversions. */
static CtGlobal *function_of_arrays(Boundary *b, const CtType *outside, const CtGlobal *root, const CtLam *lam) {
    b->goes_out = true;
    CtType *result = outer_type(b, outside->parts[lam->count]);
    b->goes_out = false;
    CtCore *body = convert_result(b, lam->body, result);
    CtType **given = CT_NEW_ARRAY(arena_of(b), CtType *, lam->count);
    for (uint32_t i = 0; i < lam->count; i++) given[i] = outer_type(b, root->type->parts[i]);
    const char *name = ct_format(arena_of(b), "%s{arrays}", root->name->text);
    CtType *type = ct_core_type_fun(b->p, given, lam->count, result);
    CtGlobal *global = ct_core_global_new(b->p, name, type, root->range);
    global->is_kept = true;
    global->body = with_converted(b, lam, given, lam->params, body);
    return global;
}

/* The body of the entry point, with conversions around it; `arrays`: with those of its arguments to arrays, and around
 * a call of a function of these. */
static CtCore *with_conversions(Boundary *b, const CtGlobal *root, CtType *type, bool arrays) {
    CtCore *body = root->body;
    if (body->kind != CORE_LAM) return NULL;
    const CtLam *lam = body->as.lam;
    CtType *result = type->parts[lam->count];
    if (!arrays) return with_converted(b, lam, type->parts, lam->params, convert_result(b, lam->body, result));
    CtGlobal *global = b->input.function = function_of_arrays(b, type, root, lam);
    CtVar **vars = CT_NEW_ARRAY(arena_of(b), CtVar *, lam->count + 1);
    CtCore **args = CT_NEW_ARRAY(arena_of(b), CtCore *, lam->count + 1);
    for (uint32_t i = 0; i < lam->count; i++) {
        vars[i] = ct_core_var_like(b->p, lam->params[i], global->type->parts[i]);
        args[i] = use(b, vars[i]);
    }
    CtCore *call = ct_core_app(b->p, body->range, ct_core_global(b->p, body->range, global), args, lam->count);
    return with_converted(b, lam, type->parts, vars, convert_result(b, call, result));
}

CtListBoundary *ct_core_list_boundary(CtProgram *p, CtGlobal *root, bool arrays) {
    Boundary *b = CT_NEW(p->context->arena, Boundary);
    *b = (Boundary){.p = p};
    CtType *type = root->type;
    if (root->body == NULL || type->kind != TYPE_FUN || !has_lists(b, type)) return NULL;
    for (uint32_t i = 0; i < type->count; i++) find_datas(b, type->parts[i], 0);
    if (b->refused) return NULL;
    if (b->datas.count > 0)
        for (uint32_t i = 0; i < p->globals.count; i++) change_global(b, p->globals.items[i]);
    else
        change_global(b, root);
    CtCore *body = b->refused ? NULL : with_conversions(b, root, type, arrays);
    if (body == NULL) {
        put_back(b);
        return NULL;
    }
    root->body = body;
    root->type = type;
    CT_FIRED("lists.boundary");
    return b;
}

CtListInput ct_core_list_boundary_input(const CtListBoundary *boundary) { return boundary->input; }

/* Where derivatives are taken and no data of the program's own are changed, lists_to_arrays.c may still find a use. */
void ct_core_list_boundary_useless(CtListBoundary *boundary, bool derivatives) {
    if (!derivatives || boundary->datas.count > 0) put_back(boundary);
}

bool ct_core_list_is_given(CtProgram *p, CtGlobal *root) {
    Boundary b = {.p = p};
    if (root->type->kind != TYPE_FUN) return false;
    for (uint32_t i = 0; i + 1 < root->type->count; i++)
        if (has_lists(&b, root->type->parts[i])) return true;
    return false;
}

static bool is_array(Boundary *b, CtType *type) {
    (void)b;
    return type->kind == TYPE_ARRAY;
}

bool ct_core_list_is_reduced(CtProgram *p, CtGlobal *root, bool numbers) {
    Boundary b = {.p = p};
    const CtType *type = root->type;
    if (type->kind != TYPE_FUN) return false;
    CtMap known = {0};
    CtType *result = type->parts[type->count - 1];
    bool gives_rows = leads_to(&b, result, &known, is_list_of_lists), lists = has_lists(&b, result), rows = false,
         some = false, arrays = false;
    bool gives = lists;
    for (uint32_t i = 0; i + 1 < type->count; i++) {
        CtMap met[3] = {0};
        lists = lists || has_lists(&b, type->parts[i]);
        rows = rows || leads_to(&b, type->parts[i], &met[0], is_list_of_lists);
        some = some || leads_to(&b, type->parts[i], &met[1], is_list_of_numbers);
        arrays = arrays || leads_to(&b, type->parts[i], &met[2], is_array);
    }
    if (numbers && some && !gives_rows) return true;
    return !gives && (rows || (arrays && !lists));
}

/* ---- conversions that are not needed ---- */

/* toList (fromList xs), and map (λx. x) xs: the list xs. */
static CtCore *clean(void *data, CtCore *core) {
    CtProgram *p = data;
    core = ct_core_map(p, core, clean, data);
    CtListFunction function = ct_core_list_call(core);
    CtCore *of = core;
    if (function == LIST_OF_ARRAY && ct_core_list_call(core->as.call.args[0]) == LIST_TO_ARRAY) {
        of = core->as.call.args[0]->as.call.args[0];
    } else if (function == LIST_MAP && core->as.call.args[0]->kind == CORE_LAM) {
        const CtLam *lam = core->as.call.args[0]->as.lam;
        if (lam->count == 1 && lam->body->kind == CORE_VAR && lam->body->as.var == lam->params[0])
            of = core->as.call.args[1];
    }
    return of->type == core->type ? of : core;
}

void ct_core_list_boundary_clean(CtProgram *p, CtGlobal *root) { root->body = clean(p, root->body); }
