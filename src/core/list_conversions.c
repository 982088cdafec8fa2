/* The functions between lists and arrays, `toList` and `fromList`, for places where the program does not have them:
 * made as the library defines them, and with names by which the other files know them. */
#include "core/lists.h"

/* As it is in the program already, with the name by which lists_to_arrays.c knows it. */
static CtGlobal *find_conversion(CtProgram *p, const char *prefix, CtType *type) {
    for (uint32_t i = 0; i < p->globals.count; i++) {
        CtGlobal *global = p->globals.items[i];
        const char *name = ct_core_prelude_name(global->name->text);
        if (global->is_library && global->type == type && strncmp(name, prefix, strlen(prefix)) == 0 &&
            strchr(name, '{') == NULL)
            return global;
    }
    return NULL;
}

static CtGlobal *new_conversion(CtProgram *p, const char *prefix, CtType *type) {
    const char *name = ct_format(p->context->arena, "%s#%u", prefix, p->next_global);
    CtGlobal *global = ct_core_global_new(p, name, type, CT_NO_RANGE);
    global->is_library = true;
    return global;
}

static CtCore *use(CtProgram *p, CtVar *var) { return ct_core_var(p, CT_NO_RANGE, var); }

static const CtCon *con_of(const CtType *list, uint32_t fields) {
    return &list->data->cons[list->data->cons[0].count == fields ? 0 : 1];
}

/* λxs. letrec go list i = if i < 0 then list else go (xs ! i : list) (i − 1) in go [] (length xs − 1); with `fun`, the
 * type of a function, λf xs. … go (f (xs ! i) : list) … */
static CtGlobal *to_list(CtProgram *p, CtType *fun, CtType *array, CtType *list) {
    CtType *types[] = {list, p->int_type}, *given[] = {fun != NULL ? fun : array, array};
    uint32_t count = fun != NULL ? 2 : 1;
    const char *prefix = fun != NULL ? "toListEach@Array," : "toList@Array,";
    CtType *type = ct_core_type_fun(p, given, count, list);
    CtGlobal *global = find_conversion(p, prefix, type);
    if (global != NULL) return global;
    global = new_conversion(p, prefix, type);
    CtSourceRange none = CT_NO_RANGE;
    CtVar *f = fun != NULL ? ct_core_var_new(p, "f", fun) : NULL;
    CtVar *xs = ct_core_var_new(p, "xs", array), *done = ct_core_var_new(p, "list", list);
    CtVar *i = ct_core_var_new(p, "i", p->int_type);
    CtVar *go = ct_core_var_new(p, "go", ct_core_type_fun(p, types, 2, list));
    CtCore *at[] = {use(p, xs), use(p, i)};
    CtCore *item = ct_core_array(p, none, ARRAY_INDEX, at, 2);
    if (fun != NULL) item = ct_core_app(p, none, use(p, f), &item, 1);
    CtCore *cell[] = {item, use(p, done)};
    CtCore *next[] = {ct_core_con(p, none, (CtCon *)con_of(list, 2), cell, 2),
                      ct_core_prim2(p, none, PRIM_INT_SUB, use(p, i), ct_core_int(p, none, 1))};
    CtCore *more = ct_core_app(p, none, use(p, go), next, 2);
    CtCore *ends = ct_core_prim2(p, none, PRIM_INT_LT, use(p, i), ct_core_int(p, none, 0));
    CtVar *params[] = {done, i}, *outer[] = {fun != NULL ? f : xs, xs};
    CtCore *lam = ct_core_lam(p, none, "go", params, 2, ct_core_if(p, none, ends, use(p, done), more));
    CtCore *of = use(p, xs), *length = ct_core_array(p, none, ARRAY_LENGTH, &of, 1);
    CtCore *first[] = {ct_core_con(p, none, (CtCon *)con_of(list, 0), NULL, 0),
                       ct_core_prim2(p, none, PRIM_INT_SUB, length, ct_core_int(p, none, 1))};
    CtCore *body = ct_core_letrec(p, none, &(CtBind){go, lam}, 1, ct_core_app(p, none, use(p, go), first, 2));
    global->body = ct_core_lam(p, none, "toList", outer, count, body);
    return global;
}

/* λxs. letrec go array list = case list of [] → array; x : rest → go (snoc array x) rest in go [||] xs */
static CtGlobal *to_array(CtProgram *p, CtType *array, CtType *list) {
    CtType *type = ct_core_type_fun(p, &list, 1, array);
    CtGlobal *global = find_conversion(p, "fromList@Array,", type);
    if (global != NULL) return global;
    global = new_conversion(p, "fromList@Array,", type);
    CtSourceRange none = CT_NO_RANGE;
    CtType *types[] = {array, list};
    CtVar *xs = ct_core_var_new(p, "xs", list), *done = ct_core_var_new(p, "array", array);
    CtVar *some = ct_core_var_new(p, "list", list), *x = ct_core_var_new(p, "x", array->parts[0]);
    CtVar *rest = ct_core_var_new(p, "rest", list);
    CtVar *go = ct_core_var_new(p, "go", ct_core_type_fun(p, types, 2, array));
    CtCore *added[] = {use(p, done), use(p, x)};
    CtCore *next[] = {ct_core_array(p, none, ARRAY_SNOC, added, 2), use(p, rest)};
    CtVar *vars[] = {x, rest};
    CtCase cases[] = {{(CtCon *)con_of(list, 0), NULL, use(p, done)},
                      {(CtCon *)con_of(list, 2), vars, ct_core_app(p, none, use(p, go), next, 2)}};
    CtVar *params[] = {done, some};
    CtCore *lam = ct_core_lam(p, none, "go", params, 2, ct_core_case(p, none, array, use(p, some), cases, 2, NULL));
    CtCore *first[] = {ct_core_array_lit(p, none, array->parts[0], NULL, 0), use(p, xs)};
    CtCore *body = ct_core_letrec(p, none, &(CtBind){go, lam}, 1, ct_core_app(p, none, use(p, go), first, 2));
    global->body = ct_core_lam(p, none, "fromList", &xs, 1, body);
    return global;
}

CtCore *ct_core_list_of_array(CtProgram *p, CtCore *array, CtType *list) {
    CtGlobal *global = to_list(p, NULL, array->type, list);
    return ct_core_app(p, array->range, ct_core_global(p, array->range, global), &array, 1);
}

CtCore *ct_core_list_of_each(CtProgram *p, CtCore *fun, CtCore *array, CtType *list) {
    CtGlobal *global = to_list(p, fun->type, array->type, list);
    CtCore *args[] = {fun, array};
    return ct_core_app(p, array->range, ct_core_global(p, array->range, global), args, 2);
}

CtCore *ct_core_list_from_list(CtProgram *p, CtCore *list) {
    CtGlobal *global = to_array(p, ct_core_type_array(p, ct_core_list_element(list->type)), list->type);
    return ct_core_app(p, list->range, ct_core_global(p, list->range, global), &list, 1);
}

/* ---- lists of lists whose lengths are equal ---- */

/* case list of { [] → none; x : rest → some } */
static CtCore *list_case(CtProgram *p, CtVar *list, CtVar *x, CtVar *rest, CtCore *none, CtCore *some) {
    CtVar *vars[] = {x, rest};
    CtCase cases[] = {{(CtCon *)con_of(list->type, 0), NULL, none}, {(CtCon *)con_of(list->type, 2), vars, some}};
    return ct_core_case(p, CT_NO_RANGE, none->type, use(p, list), cases, 2, NULL);
}

/* λxs n. letrec go list k = case list of [] → k == n; x : rest → go rest (k + 1) in go xs 0 */
static CtGlobal *has_length(CtProgram *p, CtType *list) {
    CtType *types[] = {list, p->int_type};
    CtType *type = ct_core_type_fun(p, types, 2, p->bool_type);
    CtGlobal *global = find_conversion(p, "hasLength@", type);
    if (global != NULL) return global;
    global = new_conversion(p, "hasLength@", type);
    CtVar *outer[] = {ct_core_var_new(p, "xs", list), ct_core_var_new(p, "n", p->int_type)};
    CtVar *inner[] = {ct_core_var_new(p, "list", list), ct_core_var_new(p, "k", p->int_type)};
    CtVar *go = ct_core_var_new(p, "go", type), *rest = ct_core_var_new(p, "rest", list);
    CtCore *more[] = {use(p, rest),
                      ct_core_prim2(p, CT_NO_RANGE, PRIM_INT_ADD, use(p, inner[1]), ct_core_int(p, CT_NO_RANGE, 1))};
    CtCore *ends = ct_core_prim2(p, CT_NO_RANGE, PRIM_INT_EQ, use(p, inner[1]), use(p, outer[1]));
    CtCore *some = ct_core_app(p, CT_NO_RANGE, use(p, go), more, 2);
    CtCore *lam = ct_core_lam(p, CT_NO_RANGE, "go", inner, 2, list_case(p, inner[0], NULL, rest, ends, some));
    CtCore *first[] = {use(p, outer[0]), ct_core_int(p, CT_NO_RANGE, 0)};
    CtCore *start = ct_core_app(p, CT_NO_RANGE, use(p, go), first, 2);
    CtCore *body = ct_core_letrec(p, CT_NO_RANGE, &(CtBind){go, lam}, 1, start);
    global->body = ct_core_lam(p, CT_NO_RANGE, "hasLength", outer, 2, body);
    return global;
}

/* λxs. letrec go rows n list = case list of
 *     [] → rows
 *     x : rest → if n < 0 || hasLength x n then let row = fromList x in go (snoc rows row) (length row) rest else [||]
 *   in go [||] (−1) xs */
static CtGlobal *to_rows(CtProgram *p, CtType *list) {
    CtType *row = ct_core_list_element(list), *array = ct_core_type_array(p, ct_core_list_element(row));
    CtType *all = ct_core_type_array(p, array), *type = ct_core_type_fun(p, &list, 1, all);
    CtGlobal *global = find_conversion(p, "rowsOrNone@", type);
    if (global != NULL) return global;
    global = new_conversion(p, "rowsOrNone@", type);
    CtSourceRange none = CT_NO_RANGE;
    CtType *types[] = {all, p->int_type, list};
    CtVar *xs = ct_core_var_new(p, "xs", list), *go = ct_core_var_new(p, "go", ct_core_type_fun(p, types, 3, all));
    CtVar *params[] = {ct_core_var_new(p, "rows", all), ct_core_var_new(p, "n", p->int_type),
                       ct_core_var_new(p, "list", list)};
    CtVar *x = ct_core_var_new(p, "x", row), *rest = ct_core_var_new(p, "rest", list);
    CtVar *made = ct_core_var_new(p, "row", array);
    CtCore *of = use(p, made), *added[] = {use(p, params[0]), use(p, made)};
    CtCore *next[] = {ct_core_array(p, none, ARRAY_SNOC, added, 2), ct_core_array(p, none, ARRAY_LENGTH, &of, 1),
                      use(p, rest)};
    CtCore *more = ct_core_app(p, none, use(p, go), next, 3);
    more = ct_core_let(p, none, made, ct_core_list_from_list(p, use(p, x)), more);
    CtCore *given[] = {use(p, x), use(p, params[1])};
    CtCore *equal = ct_core_app(p, none, ct_core_global(p, none, has_length(p, row)), given, 2);
    CtCore *is_first = ct_core_prim2(p, none, PRIM_INT_LT, use(p, params[1]), ct_core_int(p, none, 0));
    CtCore *fits = ct_core_if(p, none, is_first, ct_core_bool(p, none, true), equal);
    CtCore *some = ct_core_if(p, none, fits, more, ct_core_array_lit(p, none, array, NULL, 0));
    CtCore *lam = ct_core_lam(p, none, "go", params, 3, list_case(p, params[2], x, rest, use(p, params[0]), some));
    CtCore *first[] = {ct_core_array_lit(p, none, array, NULL, 0), ct_core_int(p, none, -1), use(p, xs)};
    CtCore *body = ct_core_letrec(p, none, &(CtBind){go, lam}, 1, ct_core_app(p, none, use(p, go), first, 3));
    global->body = ct_core_lam(p, none, "rowsOrNone", &xs, 1, body);
    return global;
}

CtCore *ct_core_list_rows_or_none(CtProgram *p, CtCore *list) {
    return ct_core_app(p, list->range, ct_core_global(p, list->range, to_rows(p, list->type)), &list, 1);
}

/* λxs. letrec go rows list = case list of [] → rows; x : rest → go (snoc rows (fromList x)) rest in go [||] xs */
static CtGlobal *to_equal_rows(CtProgram *p, CtType *list) {
    CtType *row = ct_core_list_element(list), *array = ct_core_type_array(p, ct_core_list_element(row));
    CtType *all = ct_core_type_array(p, array), *type = ct_core_type_fun(p, &list, 1, all);
    CtGlobal *global = find_conversion(p, "rows@", type);
    if (global != NULL) return global;
    global = new_conversion(p, "rows@", type);
    CtSourceRange none = CT_NO_RANGE;
    CtType *types[] = {all, list};
    CtVar *xs = ct_core_var_new(p, "xs", list), *go = ct_core_var_new(p, "go", ct_core_type_fun(p, types, 2, all));
    CtVar *params[] = {ct_core_var_new(p, "rows", all), ct_core_var_new(p, "list", list)};
    CtVar *x = ct_core_var_new(p, "x", row), *rest = ct_core_var_new(p, "rest", list);
    CtCore *added[] = {use(p, params[0]), ct_core_list_from_list(p, use(p, x))};
    CtCore *next[] = {ct_core_array(p, none, ARRAY_SNOC, added, 2), use(p, rest)};
    CtCore *more = ct_core_app(p, none, use(p, go), next, 2);
    CtCore *lam = ct_core_lam(p, none, "go", params, 2, list_case(p, params[1], x, rest, use(p, params[0]), more));
    CtCore *first[] = {ct_core_array_lit(p, none, array, NULL, 0), use(p, xs)};
    CtCore *body = ct_core_letrec(p, none, &(CtBind){go, lam}, 1, ct_core_app(p, none, use(p, go), first, 2));
    global->body = ct_core_lam(p, none, "rows", &xs, 1, body);
    return global;
}

CtCore *ct_core_list_equal_rows(CtProgram *p, CtCore *list) {
    return ct_core_app(p, list->range, ct_core_global(p, list->range, to_equal_rows(p, list->type)), &list, 1);
}

/* ---- functions on lists ---- */

CtType *ct_core_list_type_like(CtProgram *p, const CtType *list, CtType *element) {
    const CtData *old = list->data;
    CtType *new = ct_core_type_data(p, old->name, &element, 1, false);
    CtCon *cons = CT_NEW_ARRAY(p->context->arena, CtCon, old->con_count);
    for (uint32_t i = 0; i < old->con_count; i++) {
        CtType *fields[] = {element, new};
        cons[i] = old->cons[i];
        if (cons[i].count == 0) continue;
        cons[i].fields = CT_NEW_ARRAY(p->context->arena, CtType *, 2);
        memcpy(cons[i].fields, fields, sizeof fields);
    }
    new->data->own_order = old->own_order;
    ct_core_data_set_cons(p, new->data, cons, old->con_count);
    return new;
}

static CtCore *cell(CtProgram *p, const CtType *list, CtCore *first, CtCore *rest) {
    CtCore *fields[] = {first, rest};
    return ct_core_con(p, CT_NO_RANGE, (CtCon *)con_of(list, 2), fields, 2);
}

static CtCore *empty(CtProgram *p, const CtType *list) {
    return ct_core_con(p, CT_NO_RANGE, (CtCon *)con_of(list, 0), NULL, 0);
}

/* λf xs ys. letrec go xs ys = case xs of x : xs → case ys of y : ys → f x y : go xs ys; … → [] in go xs ys; of one list
 * or of two */
static CtGlobal *map_of(CtProgram *p, CtType *fun, CtType *const *lists, uint32_t count, CtType *to) {
    const char *prefix = count == 1 ? "mapList@" : "zipWithList@", *name = count == 1 ? "mapList" : "zipWithList";
    CtType *types[] = {fun, lists[0], lists[count - 1]};
    CtType *type = ct_core_type_fun(p, types, count + 1, to);
    CtGlobal *global = find_conversion(p, prefix, type);
    if (global != NULL) return global;
    global = new_conversion(p, prefix, type);
    CtVar *go = ct_core_var_new(p, "go", ct_core_type_fun(p, lists, count, to)), *params[3], *now[2], *heads[2];
    CtVar *tails[2];
    CtCore *items[2], *rest[2], *all[2];
    params[0] = ct_core_var_new(p, "f", fun);
    for (uint32_t i = 0; i < count; i++) {
        params[i + 1] = ct_core_var_new(p, "list", lists[i]);
        now[i] = ct_core_var_new(p, "xs", lists[i]);
        heads[i] = ct_core_var_new(p, "x", ct_core_list_element(lists[i]));
        tails[i] = ct_core_var_new(p, "rest", lists[i]);
        items[i] = use(p, heads[i]);
        rest[i] = use(p, tails[i]);
        all[i] = use(p, params[i + 1]);
    }
    CtCore *first = ct_core_app(p, CT_NO_RANGE, use(p, params[0]), items, count);
    CtCore *body = cell(p, to, first, ct_core_app(p, CT_NO_RANGE, use(p, go), rest, count));
    for (uint32_t i = count; i-- > 0;) body = list_case(p, now[i], heads[i], tails[i], empty(p, to), body);
    CtBind bind = {go, ct_core_lam(p, CT_NO_RANGE, "go", now, count, body)};
    CtCore *start = ct_core_app(p, CT_NO_RANGE, use(p, go), all, count);
    global->body =
        ct_core_lam(p, CT_NO_RANGE, name, params, count + 1, ct_core_letrec(p, CT_NO_RANGE, &bind, 1, start));
    return global;
}

CtCore *ct_core_list_mapped(CtProgram *p, CtCore *fun, CtCore *list, CtType *type) {
    CtGlobal *global = map_of(p, fun->type, &list->type, 1, type);
    CtCore *args[] = {fun, list};
    return ct_core_app(p, list->range, ct_core_global(p, list->range, global), args, 2);
}

CtCore *ct_core_list_zipped(CtProgram *p, CtCore *fun, CtCore *xs, CtCore *ys, CtType *type) {
    CtType *lists[] = {xs->type, ys->type};
    CtGlobal *global = map_of(p, fun->type, lists, 2, type);
    CtCore *args[] = {fun, xs, ys};
    return ct_core_app(p, xs->range, ct_core_global(p, xs->range, global), args, 3);
}

/* λf z xs. case xs of [] → z; x : rest → foldl f (f z x) rest, or f x (foldr f z rest) */
static CtGlobal *fold_of(CtProgram *p, CtType *fun, CtType *state, CtType *list, bool left) {
    const char *prefix = left ? "foldlList@" : "foldrList@";
    CtType *types[] = {fun, state, list};
    CtType *type = ct_core_type_fun(p, types, 3, state);
    CtGlobal *global = find_conversion(p, prefix, type);
    if (global != NULL) return global;
    global = new_conversion(p, prefix, type);
    CtVar *params[] = {ct_core_var_new(p, "f", fun), ct_core_var_new(p, "z", state), ct_core_var_new(p, "xs", list)};
    CtVar *x = ct_core_var_new(p, "x", ct_core_list_element(list)), *rest = ct_core_var_new(p, "rest", list);
    CtCore *given[] = {use(p, left ? params[1] : x), left ? use(p, x) : NULL};
    CtCore *next[] = {use(p, params[0]), use(p, params[1]), use(p, rest)};
    CtCore *some;
    if (left) {
        next[1] = ct_core_app(p, CT_NO_RANGE, use(p, params[0]), given, 2);
        some = ct_core_app(p, CT_NO_RANGE, ct_core_global(p, CT_NO_RANGE, global), next, 3);
    } else {
        given[1] = ct_core_app(p, CT_NO_RANGE, ct_core_global(p, CT_NO_RANGE, global), next, 3);
        some = ct_core_app(p, CT_NO_RANGE, use(p, params[0]), given, 2);
    }
    CtCore *body = list_case(p, params[2], x, rest, use(p, params[1]), some);
    global->body = ct_core_lam(p, CT_NO_RANGE, left ? "foldlList" : "foldrList", params, 3, body);
    return global;
}

CtCore *ct_core_list_folded(CtProgram *p, CtCore *fun, CtCore *start, CtCore *list, bool left) {
    CtGlobal *global = fold_of(p, fun->type, start->type, list->type, left);
    CtCore *args[] = {fun, start, list};
    return ct_core_app(p, list->range, ct_core_global(p, list->range, global), args, 3);
}
