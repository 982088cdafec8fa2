/* Which lists become arrays: those of a class of places, in parameters, results and fields, none of whose cells the
 * program needs. Each test gives the types of a program's functions afterwards; what it computes stays. */
#include "eval_fixture.h"

#include "core/lists.h"

#define CALL(global, ...)                                                                                              \
    ct_core_app(f->p, AT, ct_core_global(f->p, AT, global), (CtCore *[]){__VA_ARGS__},                                 \
                COUNT(((CtCore *[]){__VA_ARGS__})))

/* A function of several parameters, whose body comes later, since it may call itself. */
static CtGlobal *declare(Fixture *f, const char *name, CtType *type) {
    return ct_core_global_new(f->p, name, type, AT);
}

static CtGlobal *find(Fixture *f, const char *name) {
    for (uint32_t i = 0; i < f->p->globals.count; i++)
        if (strcmp(f->p->globals.items[i]->name->text, name) == 0) return f->p->globals.items[i];
    return NULL;
}

static const char *type_of(Fixture *f, const char *name) {
    CtGlobal *global = find(f, name);
    return global != NULL ? print_type(f, global->type) : "none";
}

/* mapList f xs = case xs of { [] → []; x : rest → f x : mapList f rest }, as the library has it */
static CtGlobal *map(Fixture *f, const char *name, CtType *from, CtType *to) {
    CtGlobal *known = find(f, name);
    if (known != NULL) return known;
    CtType *fun = FUN(to->data->cons[1].fields[0], from->data->cons[1].fields[0]);
    CtGlobal *map = declare(f, name, FUN(to, fun, from));
    map->is_library = true;
    CtVar *g = variable(f, "f", fun), *xs = variable(f, "xs", from);
    CtVar *x = variable(f, "x", from->data->cons[1].fields[0]), *rest = variable(f, "rest", from);
    CtCore *cell[] = {app1(f, var(f, g), var(f, x)), CALL(map, var(f, g), var(f, rest))};
    CtVar *vars[] = {x, rest};
    CtCase cases[] = {{&from->data->cons[0], NULL, ct_core_con(f->p, AT, &to->data->cons[0], NULL, 0)},
                      {&from->data->cons[1], vars, ct_core_con(f->p, AT, &to->data->cons[1], cell, 2)}};
    map->body = LAM(ct_core_case(f->p, AT, to, var(f, xs), cases, 2, NULL), g, xs);
    return map;
}

/* foldlList f z xs for Doubles */
static CtGlobal *foldl(Fixture *f) {
    CtGlobal *known = find(f, "foldlList@Double,Double");
    if (known != NULL) return known;
    CtType *fun = FUN(f->real, f->real, f->real);
    CtGlobal *fold = declare(f, "foldlList@Double,Double", FUN(f->real, fun, f->real, f->list));
    fold->is_library = true;
    CtVar *g = variable(f, "f", fun), *z = variable(f, "z", f->real), *xs = variable(f, "xs", f->list);
    CtVar *x = variable(f, "x", f->real), *rest = variable(f, "rest", f->list);
    CtCore *args[] = {var(f, z), var(f, x)};
    CtCore *next = CALL(fold, var(f, g), ct_core_app(f->p, AT, var(f, g), args, 2), var(f, rest));
    fold->body = LAM(case_list(f, var(f, xs), var(f, z), x, rest, next), g, z, xs);
    return fold;
}

static CtCore *doubled(Fixture *f, CtCore *list) {
    CtVar *x = variable(f, "x", f->real);
    return CALL(map(f, "mapList@Double,Double", f->list, f->list), lam1(f, x, op(f, PRIM_MUL, var(f, x), num(f, 2))),
                list);
}

static CtCore *sum(Fixture *f, CtCore *list) {
    CtVar *a = variable(f, "a", f->real), *b = variable(f, "b", f->real);
    return CALL(foldl(f), LAM(op(f, PRIM_ADD, var(f, a), var(f, b)), a, b), num(f, 0), list);
}

/* Whether any list of a program becomes an array; at 3 it has this value before and after. */
static bool places(Fixture *f, CtGlobal *root, const char *value) {
    assert_null(ct_core_lint(f->p));
    assert_string_equal(run(f, app1(f, ct_core_global(f->p, AT, root), whole(f, 3))), value);
    bool any = ct_core_list_places(f->p, &root, 1, false);
    assert_null(ct_core_lint(f->p));
    assert_string_equal(run(f, app1(f, ct_core_global(f->p, AT, root), whole(f, 3))), value);
    return any;
}

/* go ⟨n, list⟩ = if n < 1 then list else go ⟨n − 1, next list⟩ */
static CtGlobal *make_go(Fixture *f, const char *name, CtCore *(*next)(Fixture *f, CtCore *list)) {
    CtGlobal *go = declare(f, name, FUN(f->list, f->integer, f->list));
    CtVar *n = variable(f, "n", f->integer), *xs = variable(f, "xs", f->list);
    CtCore *more = CALL(go, op(f, PRIM_INT_SUB, var(f, n), whole(f, 1)), next(f, var(f, xs)));
    CtCore *ends = op(f, PRIM_INT_LT, var(f, n), whole(f, 1));
    go->body = LAM(ct_core_if(f->p, AT, ends, var(f, xs), more), n, xs);
    return go;
}

static CtGlobal *make_main(Fixture *f, CtVar *n, CtCore *body) { return global(f, "main", lam1(f, n, body)); }

static void a_list_that_a_recursion_maps_becomes_an_array(void **state) {
    Fixture *f = *state;
    CtGlobal *go = make_go(f, "go", doubled);
    CtVar *n = variable(f, "n", f->integer);
    CtCore *start = list(f, num(f, 1), list(f, num(f, 2), empty(f)));
    assert_true(places(f, make_main(f, n, sum(f, CALL(go, var(f, n), start))), "24.0"));
    assert_string_equal(type_of(f, "go"), "(Int, Array Double) → Array Double");
    assert_string_equal(type_of(f, "main"), "Int → Double");
}

static CtCore *longer(Fixture *f, CtCore *xs) { return list(f, num(f, 1), xs); }

static void a_list_to_which_a_recursion_adds_in_front_stays(void **state) {
    Fixture *f = *state;
    CtGlobal *go = make_go(f, "go", longer);
    CtVar *n = variable(f, "n", f->integer);
    assert_false(places(f, make_main(f, n, sum(f, CALL(go, var(f, n), empty(f)))), "3.0"));
    assert_string_equal(type_of(f, "go"), "(Int, [Double]) → [Double]");
}

static void a_list_that_a_recursion_takes_apart_stays(void **state) {
    Fixture *f = *state;
    CtGlobal *total = declare(f, "total", FUN(f->real, f->list));
    CtVar *xs = variable(f, "xs", f->list), *x = variable(f, "x", f->real), *rest = variable(f, "rest", f->list);
    CtCore *more = op(f, PRIM_ADD, var(f, x), CALL(total, var(f, rest)));
    total->body = lam1(f, xs, case_list(f, var(f, xs), num(f, 0), x, rest, more));
    CtVar *n = variable(f, "n", f->integer);
    CtCore *start = doubled(f, list(f, num(f, 1), list(f, num(f, 2), empty(f))));
    assert_false(places(f, make_main(f, n, CALL(total, start)), "6.0"));
    assert_string_equal(type_of(f, "total"), "[Double] → Double");
}

/* One class becomes an array beside another that stays, through the same functions of the library. */
static void classes_are_apart(void **state) {
    Fixture *f = *state;
    CtGlobal *go = make_go(f, "go", doubled), *grow = make_go(f, "grow", longer);
    CtVar *n = variable(f, "n", f->integer);
    CtCore *one = sum(f, CALL(go, var(f, n), list(f, num(f, 1), empty(f))));
    CtCore *other = sum(f, doubled(f, CALL(grow, var(f, n), empty(f))));
    assert_true(places(f, make_main(f, n, op(f, PRIM_ADD, one, other)), "14.0"));
    assert_string_equal(type_of(f, "go"), "(Int, Array Double) → Array Double");
    assert_string_equal(type_of(f, "grow"), "(Int, [Double]) → [Double]");
}

/* Two functions hand the same list on: if one needs its cells, it stays in both. */
static void a_class_goes_through_calls_and_variables(void **state) {
    Fixture *f = *state;
    CtGlobal *grow = make_go(f, "grow", longer);
    CtGlobal *pass = declare(f, "pass", FUN(f->list, f->list));
    CtVar *xs = variable(f, "xs", f->list), *same = variable(f, "same", f->list), *n = variable(f, "n", f->integer);
    pass->body = lam1(f, xs, let(f, same, var(f, xs), var(f, same)));
    CtCore *list = CALL(pass, CALL(grow, var(f, n), empty(f)));
    assert_false(places(f, make_main(f, n, sum(f, list)), "3.0"));
    assert_string_equal(type_of(f, "pass"), "[Double] → [Double]");
}

static void lists_of_entry_points_stay(void **state) {
    Fixture *f = *state;
    CtGlobal *go = make_go(f, "go", doubled);
    CtVar *xs = variable(f, "xs", f->list);
    CtGlobal *root = global(f, "root", lam1(f, xs, CALL(go, whole(f, 2), var(f, xs))));
    assert_null(ct_core_lint(f->p));
    assert_false(ct_core_list_places(f->p, &root, 1, false));
    assert_string_equal(type_of(f, "go"), "(Int, [Double]) → [Double]");
}

static void a_field_becomes_an_array(void **state) {
    Fixture *f = *state;
    CtType *fields[] = {f->real, f->list}, *data = fixture_data(f->p, "Layer", NULL, 0);
    CtCon con = {.name = ct_intern_text(&f->context.symbols, "Layer"), .count = 2, .fields = fields};
    ct_core_data_set_cons(f->p, data->data, &con, 1);
    CtCon *layer = &data->data->cons[0];
    CtGlobal *make = declare(f, "make", FUN(data, f->real));
    CtVar *a = variable(f, "a", f->real), *w = variable(f, "w", f->real), *ws = variable(f, "ws", f->list);
    CtCore *args[] = {var(f, a), doubled(f, list(f, var(f, a), list(f, num(f, 3), empty(f))))};
    make->body = lam1(f, a, ct_core_con(f->p, AT, layer, args, 2));
    CtVar *vars[] = {w, ws}, *n = variable(f, "n", f->integer);
    CtCase only = {layer, vars, op(f, PRIM_ADD, var(f, w), sum(f, var(f, ws)))};
    CtCore *opened = ct_core_case(f->p, AT, f->real, CALL(make, num(f, 0.5)), &only, 1, NULL);
    assert_true(places(f, make_main(f, n, opened), "7.5"));
    assert_string_equal(print_type(f, layer->fields[1]), "Array Double");
}

/* Rows may have any length: a pair of an array and the unit, which is no row of a matrix. */
static void lists_in_lists_are_rows(void **state) {
    Fixture *f = *state;
    CtType *lists = fixture_list(f->p, f->list);
    CtGlobal *sums = map(f, "mapList@[Double],Double", lists, f->list);
    CtGlobal *total = declare(f, "total", FUN(f->real, lists));
    CtVar *xs = variable(f, "xss", lists), *row = variable(f, "row", f->list), *n = variable(f, "n", f->integer);
    total->body = lam1(f, xs, sum(f, CALL(sums, lam1(f, row, sum(f, var(f, row))), var(f, xs))));
    CtCore *none = ct_core_con(f->p, AT, &lists->data->cons[0], NULL, 0);
    CtCore *second[] = {list(f, num(f, 4), empty(f)), none};
    CtCore *first[] = {list(f, num(f, 1), list(f, num(f, 2), empty(f))),
                       ct_core_con(f->p, AT, &lists->data->cons[1], second, 2)};
    CtCore *given = ct_core_con(f->p, AT, &lists->data->cons[1], first, 2);
    assert_true(places(f, make_main(f, n, CALL(total, given)), "7.0"));
    assert_string_equal(type_of(f, "total"), "Array (Array Double, ()) → Double");
}

/* An array may be any, also of rows that are not alike, where a list of arrays is: it stays. */
static void lists_of_arrays_stay(void **state) {
    Fixture *f = *state;
    CtType *array = ct_core_type_array(f->p, f->real), *arrays = fixture_list(f->p, array);
    CtGlobal *sums = map(f, "mapList@Array Double,Double", arrays, f->list);
    CtGlobal *total = declare(f, "total", FUN(f->real, arrays));
    CtVar *xs = variable(f, "xss", arrays), *row = variable(f, "row", array), *n = variable(f, "n", f->integer);
    CtCore *length = ct_core_prim(f->p, AT, PRIM_TO_DOUBLE, (CtCore *[]){ARRAY(LENGTH, var(f, row))}, 1);
    total->body = lam1(f, xs, sum(f, CALL(sums, lam1(f, row, length), var(f, xs))));
    CtCore *none = ct_core_con(f->p, AT, &arrays->data->cons[0], NULL, 0);
    CtCore *reals[] = {num(f, 1), num(f, 2)};
    CtCore *cell[] = {ct_core_array_lit(f->p, AT, f->real, reals, 2), none};
    CtCore *given = ct_core_con(f->p, AT, &arrays->data->cons[1], cell, 2);
    places(f, make_main(f, n, CALL(total, given)), "2.0");
    assert_string_equal(type_of(f, "total"), "[Array Double] → Double");
}

/* A function of the library on lists is copied, since others may still use the original. */
static void functions_of_the_library_are_copied(void **state) {
    Fixture *f = *state;
    CtGlobal *twice = make_go(f, "twice", doubled);
    twice->is_library = true;
    CtVar *n = variable(f, "n", f->integer);
    CtCore *start = list(f, num(f, 1), empty(f));
    assert_true(places(f, make_main(f, n, sum(f, CALL(twice, var(f, n), start))), "8.0"));
    assert_string_equal(type_of(f, "twice"), "(Int, [Double]) → [Double]");
    assert_string_equal(type_of(f, "twice#1"), "(Int, Array Double) → Array Double");
    assert_int_not_equal(find(f, "twice")->id, find(f, "twice#1")->id);
}

static void a_program_without_such_lists_is_left_alone(void **state) {
    Fixture *f = *state;
    CtVar *n = variable(f, "n", f->integer);
    CtGlobal *root = make_main(f, n, op(f, PRIM_INT_ADD, var(f, n), whole(f, 1)));
    assert_false(places(f, root, "4"));
    assert_string_equal(print_global(f, root), "main : Int → Int\nmain n = n + 1\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(a_list_that_a_recursion_maps_becomes_an_array),
        TEST(a_list_to_which_a_recursion_adds_in_front_stays),
        TEST(a_list_that_a_recursion_takes_apart_stays),
        TEST(classes_are_apart),
        TEST(a_class_goes_through_calls_and_variables),
        TEST(lists_of_entry_points_stay),
        TEST(a_field_becomes_an_array),
        TEST(lists_in_lists_are_rows),
        TEST(lists_of_arrays_stay),
        TEST(functions_of_the_library_are_copied),
        TEST(a_program_without_such_lists_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
