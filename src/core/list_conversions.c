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

/* λxs. letrec go list i = if i < 0 then list else go (xs ! i : list) (i − 1) in go [] (length xs − 1) */
static CtGlobal *to_list(CtProgram *p, CtType *array, CtType *list) {
    CtType *type = ct_core_type_fun(p, &array, 1, list);
    CtGlobal *global = find_conversion(p, "toList@Array,", type);
    if (global != NULL) return global;
    global = new_conversion(p, "toList@Array,", type);
    CtSourceRange none = CT_NO_RANGE;
    CtType *types[] = {list, p->int_type};
    CtVar *xs = ct_core_var_new(p, "xs", array), *done = ct_core_var_new(p, "list", list);
    CtVar *i = ct_core_var_new(p, "i", p->int_type);
    CtVar *go = ct_core_var_new(p, "go", ct_core_type_fun(p, types, 2, list));
    CtCore *at[] = {use(p, xs), use(p, i)};
    CtCore *cell[] = {ct_core_array(p, none, ARRAY_INDEX, at, 2), use(p, done)};
    CtCore *next[] = {ct_core_con(p, none, (CtCon *)con_of(list, 2), cell, 2),
                      ct_core_prim2(p, none, PRIM_INT_SUB, use(p, i), ct_core_int(p, none, 1))};
    CtCore *more = ct_core_app(p, none, use(p, go), next, 2);
    CtCore *ends = ct_core_prim2(p, none, PRIM_INT_LT, use(p, i), ct_core_int(p, none, 0));
    CtVar *params[] = {done, i};
    CtCore *lam = ct_core_lam(p, none, "go", params, 2, ct_core_if(p, none, ends, use(p, done), more));
    CtCore *of = use(p, xs), *length = ct_core_array(p, none, ARRAY_LENGTH, &of, 1);
    CtCore *first[] = {ct_core_con(p, none, (CtCon *)con_of(list, 0), NULL, 0),
                       ct_core_prim2(p, none, PRIM_INT_SUB, length, ct_core_int(p, none, 1))};
    CtCore *body = ct_core_letrec(p, none, &(CtBind){go, lam}, 1, ct_core_app(p, none, use(p, go), first, 2));
    global->body = ct_core_lam(p, none, "toList", &xs, 1, body);
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
    CtGlobal *global = to_list(p, array->type, list);
    return ct_core_app(p, array->range, ct_core_global(p, array->range, global), &array, 1);
}

CtCore *ct_core_list_from_list(CtProgram *p, CtCore *list) {
    CtGlobal *global = to_array(p, ct_core_type_array(p, ct_core_list_element(list->type)), list->type);
    return ct_core_app(p, list->range, ct_core_global(p, list->range, global), &list, 1);
}
