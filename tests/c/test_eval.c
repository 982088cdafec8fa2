/* The evaluator on Core built by hand: meaning, ownership, limits, steps. */
#include "eval_fixture.h"

#include <math.h>
#include <stdio.h>

/* ---- helpers ---- */

static CtGlobal *fresh_global(Fixture *f, const char *name, CtType *type) {
    return ct_core_global_new(f->p, name, type, AT);
}

static CtCore *call(Fixture *f, CtGlobal *g, CtCore **args, uint32_t count) {
    return ct_core_app(f->p, AT, ct_core_global(f->p, AT, g), args, count);
}
#define CALL(g, ...) call(f, g, (CtCore *[]){__VA_ARGS__}, COUNT(((CtCore *[]){__VA_ARGS__})))
#define REALS(...)   reals(f, (double[]){__VA_ARGS__}, (uint32_t)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)))

static CtCore *reals(Fixture *f, const double *values, uint32_t count) {
    CtCore **items = calloc(count, sizeof(CtCore *));
    for (uint32_t i = 0; i < count; i++) items[i] = num(f, values[i]);
    CtCore *array = ct_core_array_lit(f->p, AT, f->real, items, count);
    free(items);
    return array;
}

#define INTS(...) ints(f, (int64_t[]){__VA_ARGS__}, (uint32_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)))

static CtCore *ints(Fixture *f, const int64_t *values, uint32_t count) {
    CtCore **items = calloc(count, sizeof(CtCore *));
    for (uint32_t i = 0; i < count; i++) items[i] = whole(f, values[i]);
    CtCore *array = ct_core_array_lit(f->p, AT, f->integer, items, count);
    free(items);
    return array;
}

static CtCore *choose(Fixture *f, CtCore *condition, CtCore *yes, CtCore *no) {
    return ct_core_if(f->p, AT, condition, yes, no);
}

/* sum' acc n = if n == 0 then acc else sum' (acc + n) (n - 1) */
static CtGlobal *summing(Fixture *f) {
    CtGlobal *g = fresh_global(f, "sum'", FUN(f->integer, f->integer, f->integer));
    CtVar *acc = variable(f, "acc", f->integer), *n = variable(f, "n", f->integer);
    CtCore *next = op(f, PRIM_INT_ADD, var(f, acc), var(f, n));
    CtCore *less = op(f, PRIM_INT_SUB, var(f, n), whole(f, 1));
    CtCore *again = CALL(g, next, less);
    g->body = LAM(choose(f, op(f, PRIM_INT_EQ, var(f, n), whole(f, 0)), var(f, acc), again), acc, n);
    return g;
}

/* count n = if n == 0 then 0 else 1 + count (n - 1) */
static CtGlobal *counting(Fixture *f) {
    CtGlobal *g = fresh_global(f, "count", FUN(f->integer, f->integer));
    CtVar *n = variable(f, "n", f->integer);
    CtCore *rest = CALL(g, op(f, PRIM_INT_SUB, var(f, n), whole(f, 1)));
    CtCore *body =
        choose(f, op(f, PRIM_INT_EQ, var(f, n), whole(f, 0)), whole(f, 0), op(f, PRIM_INT_ADD, whole(f, 1), rest));
    g->body = LAM(body, n);
    return g;
}

/* upto n xs = if n == 0 then xs else upto (n - 1) (toDouble n : xs) */
static CtGlobal *listing(Fixture *f) {
    CtGlobal *g = fresh_global(f, "upto", FUN(f->list, f->integer, f->list));
    CtVar *n = variable(f, "n", f->integer), *xs = variable(f, "xs", f->list);
    CtCore *head = ct_core_prim1(f->p, AT, PRIM_TO_DOUBLE, var(f, n));
    CtCore *longer = list(f, head, var(f, xs));
    CtCore *again = CALL(g, op(f, PRIM_INT_SUB, var(f, n), whole(f, 1)), longer);
    g->body = LAM(choose(f, op(f, PRIM_INT_EQ, var(f, n), whole(f, 0)), var(f, xs), again), n, xs);
    return g;
}

/* foldr (+) z xs */
static CtGlobal *folding(Fixture *f) {
    CtGlobal *g = fresh_global(f, "foldr", FUN(f->real, FUN(f->real, f->real, f->real), f->real, f->list));
    CtVar *fun = variable(f, "f", FUN(f->real, f->real, f->real)), *z = variable(f, "z", f->real);
    CtVar *xs = variable(f, "xs", f->list), *y = variable(f, "y", f->real), *ys = variable(f, "ys", f->list);
    CtCore *rest = CALL(g, var(f, fun), var(f, z), var(f, ys));
    CtCore *args[] = {var(f, y), rest};
    CtCore *applied = ct_core_app(f->p, AT, var(f, fun), args, 2);
    g->body = LAM(case_list(f, var(f, xs), var(f, z), y, ys, applied), fun, z, xs);
    return g;
}

static CtCore *plus(Fixture *f) {
    CtVar *a = variable(f, "a", f->real), *b = variable(f, "b", f->real);
    return LAM(op(f, PRIM_ADD, var(f, a), var(f, b)), a, b);
}

/* ---- scalars and structure ---- */

static void primitives_take_constants_in_either_place(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real);
    CtCore *left = op(f, PRIM_SUB, num(f, 10), var(f, x)), *right = op(f, PRIM_SUB, var(f, x), num(f, 10));
    CtCore *both = op(f, PRIM_SUB, num(f, 1), num(f, 3));
    CtCore *parts[] = {left, right, both, op(f, PRIM_DIV, var(f, x), var(f, x))};
    CtCore *tuple = ct_core_tuple(f->p, AT, parts, 4);
    assert_string_equal(run(f, let(f, x, num(f, 3), tuple)), "(7.0,-7.0,-2.0,1.0)");
}

static void comparisons_with_nan_take_the_false_branch(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real);
    CtCore *less = choose(f, op(f, PRIM_LT, var(f, x), num(f, 1)), whole(f, 1), whole(f, 2));
    CtCore *value = op(f, PRIM_LE, var(f, x), var(f, x));
    assert_string_equal(run(f, let(f, x, num(f, NAN), pair(f, less, value))), "(2,False)");
}

static void branches_can_be_asked_in_either_order(void **state) {
    Fixture *f = *state;
    CtCon *no = &f->boolean->data->cons[0], *yes = &f->boolean->data->cons[1];
    CtVar *b = variable(f, "b", f->boolean);
    CtCase first_no[] = {{no, NULL, whole(f, 10)}, {yes, NULL, whole(f, 20)}};
    CtCase only_no[] = {{no, NULL, whole(f, 10)}};
    CtCase only_yes[] = {{yes, NULL, whole(f, 20)}};
    CtCore *parts[3];
    parts[0] = ct_core_case(f->p, AT, f->integer, var(f, b), first_no, 2, NULL);
    parts[1] = ct_core_case(f->p, AT, f->integer, var(f, b), only_no, 1, whole(f, 30));
    parts[2] = ct_core_case(f->p, AT, f->integer, op(f, PRIM_LT, num(f, 1), num(f, 2)), only_yes, 1, whole(f, 40));
    CtCore *tuple = ct_core_tuple(f->p, AT, parts, 3);
    assert_string_equal(run(f, let(f, b, ct_core_bool(f->p, AT, true), tuple)), "(20,30,20)");
}

static void a_switch_finds_each_constructor_and_the_default(void **state) {
    Fixture *f = *state;
    CtType *shape = fixture_data(f->p, "Shape", NULL, 0);
    CtSym names[4] = {ct_intern_text(&f->context.symbols, "A"), ct_intern_text(&f->context.symbols, "B"),
                      ct_intern_text(&f->context.symbols, "C"), ct_intern_text(&f->context.symbols, "D")};
    CtType *fields[] = {f->real, f->list};
    CtCon cons[4] = {{.name = names[0]},
                     {.name = names[1], .count = 1, .fields = fields},
                     {.name = names[2], .count = 2, .fields = fields},
                     {.name = names[3]}};
    ct_core_data_set_cons(f->p, shape->data, cons, 4);
    CtCon *own = shape->data->cons;
    CtGlobal *g = fresh_global(f, "area", FUN(f->real, shape));
    CtVar *s = variable(f, "s", shape), *x = variable(f, "x", f->real), *y = variable(f, "y", f->real);
    CtVar *one[] = {x}, *two[] = {y, NULL};
    CtCase cases[] = {{&own[1], one, var(f, x)}, {&own[2], two, op(f, PRIM_MUL, var(f, y), num(f, 2))}};
    g->body = LAM(ct_core_case(f->p, AT, f->real, var(f, s), cases, 2, num(f, -1)), s);
    CtCore *small[] = {num(f, 5)}, *large[] = {num(f, 7), list(f, num(f, 1), empty(f))};
    CtCore *parts[] = {
        CALL(g, ct_core_con(f->p, AT, &own[0], NULL, 0)), CALL(g, ct_core_con(f->p, AT, &own[1], small, 1)),
        CALL(g, ct_core_con(f->p, AT, &own[2], large, 2)), CALL(g, ct_core_con(f->p, AT, &own[3], NULL, 0))};
    assert_string_equal(run(f, ct_core_tuple(f->p, AT, parts, 4)), "(-1.0,5.0,14.0,-1.0)");
}

static void unpack_and_projection_open_shared_and_own_tuples(void **state) {
    Fixture *f = *state;
    CtType *type = ct_core_type_pair(f->p, f->list, f->list);
    CtVar *t = variable(f, "t", type), *a = variable(f, "a", f->list), *b = variable(f, "b", f->list);
    CtVar *vars[] = {a, b}, *only_b[] = {NULL, variable(f, "b'", f->list)};
    CtCore *made = pair(f, list(f, num(f, 1), empty(f)), list(f, num(f, 2), empty(f)));
    CtCore *inner = ct_core_unpack(f->p, AT, only_b, 2, var(f, t), pair(f, var(f, a), var(f, only_b[1])));
    CtCore *outer = ct_core_unpack(f->p, AT, vars, 2, var(f, t), pair(f, inner, var(f, b)));
    assert_string_equal(run(f, let(f, t, made, outer)), "(([1.0],[2.0]),[2.0])");
    CtVar *u = variable(f, "u", type);
    CtCore *made_again = pair(f, list(f, num(f, 1), empty(f)), list(f, num(f, 2), empty(f)));
    CtCore *both = pair(f, ct_core_proj(f->p, AT, var(f, u), 1), ct_core_proj(f->p, AT, var(f, u), 0));
    assert_string_equal(run(f, let(f, u, made_again, both)), "([2.0],[1.0])");
}

static void what_a_branch_does_not_use_is_dropped(void **state) {
    Fixture *f = *state;
    CtVar *xs = variable(f, "xs", f->list), *ys = variable(f, "ys", f->list);
    CtCore *pick = choose(f, op(f, PRIM_LT, num(f, 2), num(f, 1)), var(f, xs), var(f, ys));
    CtVar *picked = variable(f, "picked", f->list);
    CtCore *body = let(f, picked, pick, pair(f, var(f, picked), var(f, picked)));
    CtCore *all = let(f, xs, list(f, num(f, 1), empty(f)), let(f, ys, list(f, num(f, 2), empty(f)), body));
    assert_string_equal(run(f, all), "([2.0],[2.0])");
}

static void a_long_list_literal_is_built_in_order(void **state) {
    Fixture *f = *state;
    CtCore *all = empty(f);
    CtVar *x = variable(f, "x", f->real);
    for (int i = 2000; i-- > 0;) {
        CtCore *head = i % 3 == 0 ? var(f, x) : i % 3 == 1 ? num(f, i) : op(f, PRIM_ADD, var(f, x), num(f, i));
        all = list(f, head, all);
    }
    const char *text = run(f, let(f, x, num(f, 0.5), all));
    assert_memory_equal(text, "[0.5,1.0,2.5,0.5,4.0,5.5", 24);
    assert_string_equal(text + strlen(text) - 18, "1997.5,0.5,1999.0]");
}

/* ---- functions ---- */

static void closures_keep_what_they_capture(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real), *xs = variable(f, "xs", f->list);
    CtType *inner = FUN(ct_core_type_pair(f->p, f->real, f->list), f->real);
    CtVar *g = variable(f, "g", inner);
    CtCore *body = lam1(f, y, pair(f, op(f, PRIM_ADD, var(f, x), var(f, y)), var(f, xs)));
    CtCore *twice = pair(f, app1(f, var(f, g), num(f, 1)), app1(f, var(f, g), num(f, 2)));
    CtCore *all = let(f, x, num(f, 10), let(f, xs, list(f, num(f, 3), empty(f)), let(f, g, body, twice)));
    assert_string_equal(run(f, all), "((11.0,[3.0]),(12.0,[3.0]))");
}

static void mutual_recursion_passes_the_environment_on(void **state) {
    Fixture *f = *state;
    /* even n = if n == 0 then a else odd (n - 1), odd n = if n == 0 then b else even (n - 1), capturing a and b */
    CtVar *a = variable(f, "a", f->list), *b = variable(f, "b", f->list);
    CtType *type = FUN(f->list, f->integer);
    CtVar *even = variable(f, "even", type), *odd = variable(f, "odd", type);
    CtVar *n = variable(f, "n", f->integer), *k = variable(f, "k", f->integer);
    CtCore *to_odd = app1(f, var(f, odd), op(f, PRIM_INT_SUB, var(f, n), whole(f, 1)));
    CtCore *to_even = app1(f, var(f, even), op(f, PRIM_INT_SUB, var(f, k), whole(f, 1)));
    CtCore *even_body = choose(f, op(f, PRIM_INT_EQ, var(f, n), whole(f, 0)), var(f, a), to_odd);
    CtCore *odd_body = choose(f, op(f, PRIM_INT_EQ, var(f, k), whole(f, 0)), var(f, b), to_even);
    CtBind binds[] = {{even, lam1(f, n, even_body)}, {odd, lam1(f, k, odd_body)}};
    CtVar *as_value = variable(f, "h", type);
    CtCore *use = let(f, as_value, var(f, odd),
                      pair(f, app1(f, var(f, even), whole(f, 100000)), app1(f, var(f, as_value), whole(f, 6))));
    CtCore *group = ct_core_letrec(f->p, AT, binds, 2, use);
    CtCore *all = let(f, a, list(f, num(f, 1), empty(f)), let(f, b, list(f, num(f, 2), empty(f)), group));
    assert_string_equal(run(f, all), "([1.0],[2.0])");
}

static void siblings_are_values_inside_their_group(void **state) {
    Fixture *f = *state;
    /* letrec f = λx. x + c; g = λh. λ-free: if true then f else f, applied; all through values */
    CtVar *c = variable(f, "c", f->real), *x = variable(f, "x", f->real), *y = variable(f, "y", f->real);
    CtType *type = FUN(f->real, f->real);
    CtVar *add = variable(f, "add", type), *twice = variable(f, "twice", type), *h = variable(f, "h", type);
    CtCore *add_body = op(f, PRIM_ADD, var(f, x), var(f, c));
    CtCore *twice_body = let(f, h, var(f, add), app1(f, var(f, h), app1(f, var(f, h), var(f, y))));
    CtBind binds[] = {{twice, lam1(f, y, twice_body)}, {add, lam1(f, x, add_body)}};
    CtCore *use = app1(f, var(f, twice), num(f, 1));
    CtCore *all = let(f, c, num(f, 10), ct_core_letrec(f->p, AT, binds, 2, use));
    assert_string_equal(run(f, all), "21.0");
}

static void a_million_calls_can_wait(void **state) {
    Fixture *f = *state;
    CtEvalStats stats;
    CtCore *core = CALL(counting(f), whole(f, 1000000));
    assert_string_equal(run_with(f, core, no_limits, &stats), "1000000");
    assert_int_equal(stats.max_depth, 1000001);
}

static void tail_calls_take_no_memory(void **state) {
    Fixture *f = *state;
    CtEvalStats stats;
    CtCore *core = CALL(summing(f), whole(f, 0), whole(f, 3000000));
    assert_string_equal(run_with(f, core, no_limits, &stats), "4500001500000");
    assert_true(stats.max_depth <= 2);
    assert_true(stats.peak_memory < 200000);
}

static void a_tail_call_may_have_many_arguments(void **state) {
    Fixture *f = *state;
    CtType *i = f->integer;
    CtGlobal *g = fresh_global(f, "rotate", FUN(i, i, i, i, i, i, i));
    CtVar *v[6];
    for (int k = 0; k < 6; k++) v[k] = variable(f, "v", i);
    CtCore *less = op(f, PRIM_INT_SUB, var(f, v[0]), whole(f, 1));
    CtCore *again = CALL(g, less, var(f, v[2]), var(f, v[3]), var(f, v[4]), var(f, v[5]), var(f, v[1]));
    g->body = LAM(choose(f, op(f, PRIM_INT_EQ, var(f, v[0]), whole(f, 0)), var(f, v[1]), again), v[0], v[1], v[2], v[3],
                  v[4], v[5]);
    CtCore *core = CALL(g, whole(f, 7), whole(f, 10), whole(f, 20), whole(f, 30), whole(f, 40), whole(f, 50));
    assert_string_equal(run(f, core), "30");
}

static void constants_are_evaluated_once(void **state) {
    Fixture *f = *state;
    CtGlobal *big = global(f, "big", CALL(summing(f), whole(f, 0), whole(f, 1000)));
    CtCore *use = op(f, PRIM_INT_ADD, ct_core_global(f->p, AT, big), ct_core_global(f->p, AT, big));
    CtEvalStats stats;
    assert_string_equal(run_with(f, use, no_limits, &stats), "1001000");
    assert_int_equal(stats.steps, 1); /* the second run: the constant is known, one addition */
}

static void a_constant_that_needs_itself_is_an_error(void **state) {
    Fixture *f = *state;
    CtGlobal *loop = fresh_global(f, "loop", f->integer);
    loop->body = op(f, PRIM_INT_ADD, whole(f, 1), ct_core_global(f->p, AT, loop));
    assert_string_equal(run(f, ct_core_global(f->p, AT, loop)), "E0509 the value of `loop` depends on itself");
}

/* ---- arrays ---- */

static void loops_write_their_bodies_in_line(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *c = variable(f, "c", f->real), *i = variable(f, "i", f->integer);
    CtVar *acc = variable(f, "acc", f->real), *y = variable(f, "y", f->real);
    CtCore *built = ARRAY(BUILD, whole(f, 4), lam1(f, i, ct_core_prim1(f->p, AT, PRIM_TO_DOUBLE, var(f, i))));
    CtCore *mapped = ARRAY(MAP, lam1(f, x, op(f, PRIM_MUL, var(f, x), var(f, c))), built);
    CtCore *folded = ARRAY(FOLDL, LAM(op(f, PRIM_SUB, var(f, acc), var(f, y)), acc, y), var(f, c), mapped);
    assert_string_equal(run(f, let(f, c, num(f, 2), folded)), "-10.0");
}

static void every_array_operation_means_what_its_table_says(void **state) {
    Fixture *f = *state;
    CtCore *two = whole(f, 2);
    struct {
        CtCore *core;
        const char *text;
    } cases[] = {
        {ARRAY(INDEX, REALS(1, 2, 3), two), "3.0"},
        {ARRAY(LENGTH, REALS(1, 2, 3)), "3"},
        {ARRAY(SCANL, plus(f), num(f, 10), REALS(1, 2, 3)), "[|10.0,11.0,13.0,16.0|]"},
        {ARRAY(SCAN, plus(f), num(f, 10), REALS(1, 2, 3)), "[|11.0,13.0,16.0|]"},
        {ARRAY(REDUCE, plus(f), num(f, 0), REALS(1, 2, 3)), "6.0"},
        {ARRAY(ZIP_WITH, plus(f), REALS(1, 2), REALS(10, 20)), "[|11.0,22.0|]"},
        {ARRAY(ZIP_WITH, plus(f), REALS(1, 2), REALS(10)),
         "E0504 zipWith takes arrays of one length; these have 2 and 1 elements"},
        {ARRAY(SUM, REALS(1, 2, 3)), "6.0"},
        {ARRAY(PRODUCT, REALS(2, 3, 4)), "24.0"},
        {ARRAY(MAXIMUM, REALS(2, 5, 5, 1)), "5.0"},
        {ARRAY(ARGMAX, REALS(2, 5, 5, 1)), "1"},
        {ARRAY(ARGMIN, REALS(2, 1, NAN, 1)), "2"},
        {ARRAY(MINIMUM, ARRAY(SLICE, whole(f, 1), whole(f, 0), REALS(1, 2))),
         "E0505 minimum of an array without elements"},
        {ARRAY(REPLICATE, two, num(f, 7)), "[|7.0,7.0|]"},
        {ARRAY(REPLICATE, whole(f, -1), num(f, 7)), "E0508 replicate was asked for -1 elements"},
        {ARRAY(REPLICATE, whole(f, INT64_MAX), num(f, 7)), "E0801 the run needs more memory than it may use"},
        {ARRAY(IOTA, whole(f, 3)), "[|0,1,2|]"},
        {ARRAY(GATHER, REALS(5, 6, 7), ARRAY(REVERSE, ARRAY(IOTA, whole(f, 3)))), "[|7.0,6.0,5.0|]"},
        {ARRAY(GATHER, REALS(5, 6), ARRAY(IOTA, whole(f, 3))), "E0501 index 2 is outside of an array of 2 elements"},
        {ARRAY(RESHAPE, two, whole(f, 3), REALS(1, 2, 3, 4, 5, 6)), "[|[|1.0,2.0,3.0|],[|4.0,5.0,6.0|]|]"},
        {ARRAY(RESHAPE, two, two, REALS(1, 2, 3)), "E0504 2 rows of 2 cannot be made of 3 elements"},
        {ARRAY(TRANSPOSE, ARRAY(RESHAPE, two, whole(f, 3), REALS(1, 2, 3, 4, 5, 6))),
         "[|[|1.0,4.0|],[|2.0,5.0|],[|3.0,6.0|]|]"},
        {ARRAY(CONCAT, ARRAY(RESHAPE, two, two, REALS(1, 2, 3, 4))), "[|1.0,2.0,3.0,4.0|]"},
        {ARRAY(SHAPE, ARRAY(RESHAPE, two, whole(f, 3), REALS(1, 2, 3, 4, 5, 6))), "[|2,3|]"},
        {ARRAY(SHAPE, ARRAY(RESHAPE, whole(f, 0), whole(f, 3), ARRAY(SLICE, whole(f, 0), whole(f, 0), REALS(1)))),
         "[|0,0|]"},
        {ARRAY(REVERSE, REALS(1, 2, 3)), "[|3.0,2.0,1.0|]"},
        {ARRAY(APPEND, REALS(1), REALS(2, 3)), "[|1.0,2.0,3.0|]"},
        {ARRAY(SLICE, whole(f, 1), two, REALS(1, 2, 3)), "[|2.0,3.0|]"},
        {ARRAY(SLICE, two, two, REALS(1, 2, 3)), "E0501 a slice of 2 from 2 is outside of an array of 3 elements"},
        {ARRAY(UPDATE, REALS(1, 2, 3), two, num(f, 9)), "[|1.0,2.0,9.0|]"},
        {ARRAY(UPDATE, REALS(1, 2, 3), whole(f, -1), num(f, 9)), "E0501 index -1 is outside of an array of 3 elements"},
        {ARRAY(SNOC, REALS(1, 2), num(f, 9)), "[|1.0,2.0,9.0|]"},
        {ARRAY(STRIDED, INTS(5, 2, -3, 3, 0, 2, -1), REALS(0, 1, 2, 3, 4, 5)),
         "[|5.0,4.0,5.0,4.0,5.0,4.0,2.0,1.0,2.0,1.0,2.0,1.0|]"},
        {ARRAY(STRIDED, INTS(1, 2, 2, 2, 1), REALS(0, 1, 2, 3, 4)), "[|1.0,2.0,3.0,4.0|]"},
        {ARRAY(STRIDED, INTS(4), REALS(0, 1, 2, 3, 4)), "[|4.0|]"},
        {ARRAY(STRIDED, INTS(9, 3, 1, 0, 1), REALS(0)), "[||]"},
        {ARRAY(STRIDED, INTS(1, 3, 2), REALS(0, 1, 2, 3, 4)), "E0501 index 5 is outside of an array of 5 elements"},
        {ARRAY(STRIDED, INTS(1, 3, -1), REALS(0, 1, 2)), "E0501 index -1 is outside of an array of 3 elements"},
        {ARRAY(STRIDED, INTS(0, INT64_MAX, INT64_MAX), REALS(0)), "E0508 strided was asked for what is no view"},
        {ARRAY(STRIDED, INTS(0, 3), REALS(0)), "E0508 strided was asked for what is no view"},
        {ARRAY(STRIDED, INTS(0, -3, 1), REALS(0)), "E0508 strided was asked for what is no view"},
        {ARRAY(GATHER_OR, REALS(8, 9), INTS(1, -1, 0), REALS(1, 2, 3, 4)), "[|3.0,4.0,8.0,9.0,1.0,2.0|]"},
        {ARRAY(GATHER_OR, REALS(9), INTS(1, -1, 0), REALS(1, 2)), "[|2.0,9.0,1.0|]"},
        {ARRAY(GATHER_OR, REALS(9), INTS(1, 2), REALS(1, 2)), "E0501 index 2 is outside of an array of 2 elements"},
        {ARRAY(SCATTER_ADD, whole(f, 5), INTS(1, -1, 1), REALS(1, 2, 3, 4, 5, 6)), "[|-0.0,-0.0,6.0,8.0,-0.0|]"},
        {ARRAY(SCATTER_ADD, whole(f, 2), INTS(1, 1), INTS(4, 5)), "[|0,9|]"},
        {ARRAY(SCATTER_ADD, whole(f, 5), INTS(2), REALS(1, 2)), "E0501 index 2 is outside of an array of 2 elements"},
        {ARRAY(SCATTER_ADD, whole(f, 5), INTS(1, 1), REALS(1, 2, 3)), "E0504 3 elements are not whole rows of 2"},
        {ARRAY(SCATTER_ADD, whole(f, -5), INTS(1), REALS(1)), "E0508 scatterAdd was asked for -5 elements"},
        {ARRAY(SUM_ROWS, two, REALS(1, 2, 3, 4, 5, 6)), "[|9.0,12.0|]"},
        {ARRAY(SUM_ROWS, whole(f, 1), INTS(1, 2, 3)), "[|6|]"},
        {ARRAY(SUM_ROWS, two, ARRAY(SLICE, whole(f, 0), whole(f, 0), REALS(1))), "[|-0.0,-0.0|]"},
        {ARRAY(SUM_ROWS, two, REALS(1, 2, 3)), "E0504 3 elements are not whole rows of 2"},
        {ARRAY(SELECT, INTS(1, 0, 7), REALS(1, 2, 3), REALS(4, 5, 6)), "[|1.0,5.0,3.0|]"},
        {ARRAY(SELECT, INTS(1), REALS(1, 2), REALS(4)),
         "E0504 select takes arrays of one length; these have 1, 2 and 1 elements"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) assert_string_equal(run(f, cases[i].core), cases[i].text);
}

/* Row i and column j of a matrix of n columns is i n + j; in the order of columns, in tiles and what is left of one. */
static void a_large_matrix_is_transposed(void **state) {
    Fixture *f = *state;
    enum { ROWS = 37, COLUMNS = 21 };
    CtCore *transposed = ARRAY(STRIDED, INTS(0, COLUMNS, 1, ROWS, COLUMNS), ARRAY(IOTA, whole(f, ROWS * COLUMNS)));
    CtVar *p = variable(f, "p", f->integer), *x = variable(f, "x", f->integer), *y = variable(f, "y", f->integer);
    CtCore *row = op(f, PRIM_INT_REM, var(f, p), whole(f, ROWS)),
           *column = op(f, PRIM_INT_QUOT, var(f, p), whole(f, ROWS));
    CtCore *at = op(f, PRIM_INT_ADD, op(f, PRIM_INT_MUL, row, whole(f, COLUMNS)), column);
    CtCore *wanted = ARRAY(BUILD, whole(f, ROWS * COLUMNS), lam1(f, p, at));
    CtCore *differs = ct_core_if(f->p, AT, op(f, PRIM_INT_EQ, var(f, x), var(f, y)), whole(f, 0), whole(f, 1));
    assert_string_equal(run(f, ARRAY(SUM, ARRAY(ZIP_WITH, LAM(differs, x, y), transposed, wanted))), "0");
}

static void a_map_that_carries_a_state_gives_both(void **state) {
    Fixture *f = *state;
    CtVar *s = variable(f, "s", f->real), *x = variable(f, "x", f->real);
    CtCore *sum = op(f, PRIM_ADD, var(f, s), var(f, x));
    CtVar *t = variable(f, "t", f->real);
    CtCore *body = let(f, t, sum, pair(f, var(f, t), op(f, PRIM_MUL, var(f, t), num(f, 10))));
    CtCore *core = ARRAY(MAP_ACCUM, LAM(body, s, x), num(f, 1), REALS(1, 2, 3));
    assert_string_equal(run(f, core), "(7.0,[|20.0,40.0,70.0|])");
}

static void an_irregular_array_says_which_element_differs(void **state) {
    Fixture *f = *state;
    CtCore *rows[] = {REALS(1, 2), REALS(3, 4), REALS(5)};
    CtCore *literal = ct_core_array_lit(f->p, AT, ct_core_type_array(f->p, f->real), rows, 3);
    assert_string_equal(run(f, literal), "E0507 element 2 of an array has 1 element, but element 0 has 2");
    CtVar *i = variable(f, "i", f->integer);
    CtCore *built = ARRAY(BUILD, whole(f, 3), lam1(f, i, ARRAY(IOTA, var(f, i))));
    assert_string_equal(run(f, built), "E0507 element 1 of an array has 1 element, but element 0 has 0");
    CtVar *n = variable(f, "n", f->integer);
    CtCore *mapped = ARRAY(MAP, lam1(f, n, ARRAY(IOTA, var(f, n))), ARRAY(IOTA, whole(f, 2)));
    assert_string_equal(run(f, mapped), "E0507 element 1 of an array has 1 element, but element 0 has 0");
}

/* fill i n xs = if i == n then xs else fill (i + 1) n (update xs i (toDouble i)) */
static void updating_an_array_that_nobody_else_holds_takes_one_step(void **state) {
    Fixture *f = *state;
    CtType *array = ct_core_type_array(f->p, f->real);
    CtGlobal *g = fresh_global(f, "fill", FUN(array, f->integer, f->integer, array));
    CtVar *i = variable(f, "i", f->integer), *n = variable(f, "n", f->integer), *xs = variable(f, "xs", array);
    CtCore *changed = ARRAY(UPDATE, var(f, xs), var(f, i), ct_core_prim1(f->p, AT, PRIM_TO_DOUBLE, var(f, i)));
    CtCore *again = CALL(g, op(f, PRIM_INT_ADD, var(f, i), whole(f, 1)), var(f, n), changed);
    g->body = LAM(choose(f, op(f, PRIM_INT_EQ, var(f, i), var(f, n)), var(f, xs), again), i, n, xs);
    CtEvalStats stats;
    CtCore *core = ARRAY(SUM, CALL(g, whole(f, 0), whole(f, 20000), ARRAY(REPLICATE, whole(f, 20000), num(f, 0))));
    assert_string_equal(run_with(f, core, no_limits, &stats), "1.9999e8");
    assert_true(stats.steps < 20000 * 10);
    assert_true(stats.peak_memory < 20000 * 8 + 200000);
}

/* The array is taken out of a pair that nobody else holds, changed, and put into a new pair. */
static void an_array_inside_an_opened_pair_is_updated_in_place(void **state) {
    Fixture *f = *state;
    CtType *array = ct_core_type_array(f->p, f->real), *both = ct_core_type_pair(f->p, f->integer, array);
    CtGlobal *g = fresh_global(f, "fill", FUN(both, both));
    CtVar *s = variable(f, "s", both), *i = variable(f, "i", f->integer), *xs = variable(f, "xs", array);
    CtVar *vars[] = {i, xs};
    CtCore *changed = ARRAY(UPDATE, var(f, xs), var(f, i), num(f, 1));
    CtCore *again = CALL(g, pair(f, op(f, PRIM_INT_ADD, var(f, i), whole(f, 1)), changed));
    CtCore *body = choose(f, op(f, PRIM_INT_EQ, var(f, i), whole(f, 20000)), pair(f, var(f, i), var(f, xs)), again);
    g->body = LAM(ct_core_unpack(f->p, AT, vars, 2, var(f, s), body), s);
    CtCore *start = pair(f, whole(f, 0), ARRAY(REPLICATE, whole(f, 20000), num(f, 0)));
    CtEvalStats stats;
    CtCore *core = ARRAY(SUM, ct_core_proj(f->p, AT, CALL(g, start), 1));
    assert_string_equal(run_with(f, core, no_limits, &stats), "20000.0");
    assert_true(stats.steps < 20000 * 12);
}

static void an_array_that_is_shared_is_copied(void **state) {
    Fixture *f = *state;
    CtVar *xs = variable(f, "xs", ct_core_type_array(f->p, f->real));
    CtCore *changed = ARRAY(UPDATE, var(f, xs), whole(f, 0), num(f, 9));
    CtCore *longer = ARRAY(SNOC, var(f, xs), num(f, 3));
    CtCore *parts[] = {changed, longer, var(f, xs)};
    CtCore *core = let(f, xs, REALS(1, 2), ct_core_tuple(f->p, AT, parts, 3));
    assert_string_equal(run(f, core), "([|9.0,2.0|],[|1.0,2.0,3.0|],[|1.0,2.0|])");
}

static void loops_inside_loops_use_no_c_stack(void **state) {
    Fixture *f = *state;
    /* deep n = if n == 0 then 1 else sum (map (\x -> x * deep (n - 1)) [|1|]) */
    CtGlobal *g = fresh_global(f, "deep", FUN(f->real, f->integer));
    CtVar *n = variable(f, "n", f->integer), *x = variable(f, "x", f->real);
    CtCore *rest = CALL(g, op(f, PRIM_INT_SUB, var(f, n), whole(f, 1)));
    CtCore *mapped = ARRAY(MAP, lam1(f, x, op(f, PRIM_MUL, var(f, x), rest)), REALS(1));
    g->body = LAM(choose(f, op(f, PRIM_INT_EQ, var(f, n), whole(f, 0)), num(f, 1), ARRAY(SUM, mapped)), n);
    assert_string_equal(run(f, CALL(g, whole(f, 300000))), "1.0");
}

static void loops_call_function_values(void **state) {
    Fixture *f = *state;
    CtType *type = FUN(f->list, f->list);
    CtVar *h = variable(f, "h", type), *xs = variable(f, "xs", f->list), *c = variable(f, "c", f->list);
    CtVar *n = variable(f, "n", f->integer);
    CtCore *body = list(f, num(f, 1), var(f, xs));
    CtCore *unused = let(f, c, empty(f), body);
    CtCore *items[] = {empty(f), list(f, num(f, 5), empty(f))};
    CtCore *array = ct_core_array_lit(f->p, AT, f->list, items, 2);
    CtCore *core = let(f, h, lam1(f, xs, unused),
                       let(f, n, whole(f, 3), pair(f, ARRAY(MAP, var(f, h), array), app1(f, var(f, h), empty(f)))));
    assert_string_equal(run(f, core), "([|[1.0],[1.0,5.0]|],[1.0])");
}

static void captures_are_borrowed_in_loops_and_branches(void **state) {
    Fixture *f = *state;
    CtType *array = ct_core_type_array(f->p, f->real);
    CtVar *a = variable(f, "a", array), *b = variable(f, "b", array), *k = variable(f, "k", f->real);
    CtVar *i = variable(f, "i", f->integer), *j = variable(f, "j", f->integer);
    CtCore *from_a = ARRAY(INDEX, var(f, a), var(f, i));
    CtCore *inner = ARRAY(SUM, ARRAY(BUILD, whole(f, 2), lam1(f, j, ARRAY(INDEX, var(f, b), var(f, j)))));
    CtCore *item = choose(f, op(f, PRIM_INT_EQ, var(f, i), whole(f, 0)), from_a, op(f, PRIM_ADD, inner, var(f, k)));
    CtCore *loop = ARRAY(BUILD, whole(f, 3), lam1(f, i, item));
    CtVar *h = variable(f, "h", FUN(ct_core_type_pair(f->p, array, array), f->real));
    CtCore *fun = lam1(f, k, pair(f, loop, var(f, a)));
    CtCore *core = let(f, a, REALS(1, 2, 3), let(f, b, REALS(10, 20), let(f, h, fun, app1(f, var(f, h), num(f, 0.5)))));
    assert_string_equal(run(f, core), "([|1.0,30.5,30.5|],[|1.0,2.0,3.0|])");
}

/* ---- errors and limits ---- */

static void an_error_releases_every_frame(void **state) {
    Fixture *f = *state;
    /* fall xs n = if n == 0 then error "bottom" else (n : fall (n : xs) (n - 1)), each frame holding lists */
    CtGlobal *g = fresh_global(f, "fall", FUN(f->list, f->list, f->integer));
    CtVar *xs = variable(f, "xs", f->list), *n = variable(f, "n", f->integer), *mine = variable(f, "mine", f->list);
    CtCore *message = ct_core_string(f->p, AT, "bottom", 6);
    CtCore *stop = ct_core_fail(f->p, AT, f->list, CT_E0503, NULL, message);
    CtCore *rest = CALL(g, list(f, num(f, 1), var(f, xs)), op(f, PRIM_INT_SUB, var(f, n), whole(f, 1)));
    CtVar *got = variable(f, "got", f->list), *y = variable(f, "y", f->real), *ys = variable(f, "ys", f->list);
    CtCore *use = let(f, got, rest, case_list(f, var(f, mine), var(f, got), y, ys, list(f, var(f, y), var(f, got))));
    CtCore *deeper = let(f, mine, list(f, num(f, 2), var(f, xs)), use);
    g->body = LAM(choose(f, op(f, PRIM_INT_EQ, var(f, n), whole(f, 0)), stop, deeper), xs, n);
    assert_string_equal(run(f, CALL(g, empty(f), whole(f, 1000))), "E0503 bottom");
}

static void an_error_in_a_loop_releases_its_state(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->list), *y = variable(f, "y", f->real), *ys = variable(f, "ys", f->list);
    CtCore *items[] = {list(f, num(f, 1), empty(f)), list(f, num(f, 2), empty(f)), empty(f), empty(f)};
    CtCore *array = ct_core_array_lit(f->p, AT, f->list, items, 4);
    CtCore *body = case_list(f, var(f, x), failure(f, f->list, "empty"), y, ys, list(f, var(f, y), var(f, ys)));
    assert_string_equal(run(f, ARRAY(MAP, lam1(f, x, body), array)), "E0503 empty");
    CtVar *acc = variable(f, "acc", f->list), *z = variable(f, "z", f->real);
    CtCore *check =
        choose(f, op(f, PRIM_EQ, var(f, z), num(f, 3)), failure(f, f->list, "three"), list(f, var(f, z), var(f, acc)));
    CtCore *fold = ARRAY(SCANL, LAM(check, acc, z), list(f, num(f, 0), empty(f)), REALS(1, 2, 3, 4));
    assert_string_equal(run(f, fold), "E0503 three");
}

static void division_by_zero_is_an_error(void **state) {
    Fixture *f = *state;
    CtVar *n = variable(f, "n", f->integer);
    CtCore *core = let(f, n, whole(f, 0), op(f, PRIM_INT_DIV, whole(f, 1), var(f, n)));
    assert_string_equal(run(f, core), "E0506 division by zero");
}

static void the_step_limit_stops_a_loop_without_end(void **state) {
    Fixture *f = *state;
    CtGlobal *g = fresh_global(f, "forever", FUN(f->list, f->list));
    CtVar *xs = variable(f, "xs", f->list);
    g->body = lam1(f, xs, CALL(g, var(f, xs)));
    CtEvalLimits limits = {.steps = 100000};
    CtCore *core = CALL(g, list(f, num(f, 1), empty(f)));
    assert_string_equal(run_with(f, core, limits, NULL), "E0802 the run took more than 100000 steps");
}

static void the_depth_limit_stops_a_recursion(void **state) {
    Fixture *f = *state;
    CtCore *core = CALL(counting(f), whole(f, 100000));
    CtEvalLimits limits = {.depth = 5000};
    assert_string_equal(run_with(f, core, limits, NULL), "E0803 more than 5000 calls are waiting for each other");
}

static void the_memory_limit_holds_for_stack_and_heap(void **state) {
    Fixture *f = *state;
    CtEvalLimits limits = {.memory = 4000000};
    CtEvalStats stats;
    CtCore *deep = CALL(counting(f), whole(f, 10000000));
    assert_string_equal(run_with(f, deep, limits, &stats), "E0801 the run needs more memory than it may use");
    assert_true(stats.peak_memory <= limits.memory);
    CtCore *wide = CALL(listing(f), whole(f, 10000000), empty(f));
    assert_string_equal(run_with(f, wide, limits, &stats), "E0801 the run needs more memory than it may use");
    assert_true(stats.peak_memory <= limits.memory);
}

static void an_interrupted_run_ends_and_the_next_one_works(void **state) {
    Fixture *f = *state;
    CtGlobal *g = summing(f);
    CtEval *eval = ct_eval_new(f->p, NULL, no_limits);
    CtWord args[] = {{.integer = 0}, {.integer = 10}}, result;
    ct_eval_interrupt(eval);
    assert_false(ct_eval_call(eval, g, args, 2, &result));
    assert_int_equal(f->context.diags->code, CT_E0804);
    assert_true(ct_eval_call(eval, g, args, 2, &result));
    assert_int_equal(result.integer, 55);
    ct_eval_free(eval);
}

typedef struct Asked {
    int times;
    bool ends;
    int again; /* so often it is asked again, a hundred steps later */
} Asked;

static bool ends(void *data, uint64_t *pause) {
    Asked *asked = data;
    asked->times++;
    if (asked->again-- > 0) *pause = 100;
    return asked->ends;
}

static void a_run_is_asked_and_ends_or_goes_on(void **state) {
    Fixture *f = *state;
    CtGlobal *g = summing(f);
    CtEval *eval = ct_eval_new(f->p, NULL, no_limits);
    CtWord args[] = {{.integer = 0}, {.integer = 1000}}, result;
    assert_true(ct_eval_call(eval, g, args, 2, &result));
    uint64_t steps = ct_eval_stats(eval).steps;
    Asked asked = {0};
    CtQuestion question = {steps / 3, ends, &asked};
    ct_eval_reset_stats(eval);
    ct_eval_ask(eval, question);
    assert_true(ct_eval_call(eval, g, args, 2, &result));
    assert_int_equal(result.integer, 500500);
    assert_int_equal(asked.times, 1);
    assert_int_equal(ct_eval_stats(eval).steps, steps);
    asked = (Asked){.again = 3};
    ct_eval_reset_stats(eval);
    ct_eval_ask(eval, question);
    assert_true(ct_eval_call(eval, g, args, 2, &result));
    assert_int_equal(asked.times, 4);
    assert_int_equal(ct_eval_stats(eval).steps, steps);
    asked = (Asked){.ends = true};
    ct_eval_reset_stats(eval);
    ct_eval_ask(eval, question);
    assert_false(ct_eval_call(eval, g, args, 2, &result));
    assert_int_equal(f->context.diags->code, CT_E0802);
    assert_int_equal(asked.times, 1);
    assert_in_range(ct_eval_stats(eval).steps, steps / 3 + 1, steps / 3 + 10);
    ct_eval_free(eval);
}

static void steps_follow_the_cost_model(void **state) {
    Fixture *f = *state;
    CtEvalStats stats;
    /* each iteration: comparison, case, addition, subtraction, application; the last: comparison and case */
    run_with(f, CALL(summing(f), whole(f, 0), whole(f, 1000)), no_limits, &stats);
    assert_int_equal(stats.steps, 1000 * 5 + 2 + 1);
    /* build: 1, and for each element 1 and the body's conversion; the map: 1, and for each 1 and a product; sum: 1 + n
     */
    CtVar *i = variable(f, "i", f->integer), *x = variable(f, "x", f->real);
    CtCore *built = ARRAY(BUILD, whole(f, 100), lam1(f, i, ct_core_prim1(f->p, AT, PRIM_TO_DOUBLE, var(f, i))));
    CtCore *mapped = ARRAY(MAP, lam1(f, x, op(f, PRIM_MUL, var(f, x), var(f, x))), built);
    run_with(f, ARRAY(SUM, mapped), no_limits, &stats);
    assert_int_equal(stats.steps, (1 + 200) + (1 + 200) + (1 + 100));
    CtCore *scattered = ARRAY(SCATTER_ADD, whole(f, 4), INTS(1, 1), REALS(1, 2, 3, 4));
    run_with(f, ARRAY(SUM_ROWS, whole(f, 2), scattered), no_limits, &stats);
    assert_int_equal(stats.steps, (1 + 2) + (1 + 4) + (1 + 4 + 4) + (1 + 4 + 2));
    CtCore *viewed = ARRAY(STRIDED, INTS(0, 3, 1), REALS(1, 2, 3));
    CtCore *gathered = ARRAY(GATHER_OR, REALS(1, 2), INTS(0, 0), REALS(1, 2));
    run_with(f, pair(f, viewed, ARRAY(SELECT, INTS(1, 0, 1, 0), gathered, REALS(1, 2, 3, 4))), no_limits, &stats);
    assert_int_equal(stats.steps, 1 + (1 + 3) + (1 + 3) + (1 + 3) + (1 + 2) * 3 + (1 + 4) + (1 + 4) * 2 + (1 + 4));
}

typedef struct Seen {
    const CtGlobal *wanted;
    double sum;
    int calls;
} Seen;

static bool wants_one(void *data, const CtGlobal *global, const CtLam *lam) {
    (void)lam;
    return global != NULL && global == ((Seen *)data)->wanted;
}

static void add_up(void *data, const CtGlobal *global, const CtLam *lam, CtObject *env, const CtWord *args) {
    Seen *seen = data;
    assert_ptr_equal(global, seen->wanted);
    assert_int_equal(lam->count, 2);
    assert_null(env);
    seen->calls++;
    seen->sum += (double)args[1].integer;
}

/* Every call is told, tail calls too, and costs what it costs otherwise. */
static void calls_can_be_watched(void **state) {
    Fixture *f = *state;
    CtGlobal *sums = summing(f);
    CtGlobal *start = global(f, "start", ct_core_lam(f->p, AT, NULL, NULL, 0, CALL(sums, whole(f, 0), whole(f, 10))));
    uint64_t steps[2];
    for (int watched = 0; watched < 2; watched++) {
        Seen seen = {.wanted = sums};
        CtEval *eval = ct_eval_new(f->p, NULL, no_limits);
        CtWord value;
        if (watched) ct_eval_watch(eval, (CtWatch){wants_one, add_up, &seen});
        assert_true(ct_eval_call(eval, start, NULL, 0, &value));
        assert_int_equal(seen.calls, watched ? 11 : 0);
        assert_true(seen.sum == (watched ? 55 : 0));
        steps[watched] = ct_eval_stats(eval).steps;
        ct_eval_free(eval);
    }
    assert_int_equal(steps[0], steps[1]);
}

static void function_values_can_be_called_from_outside(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *xs = variable(f, "xs", f->list);
    CtType *type = FUN(f->list, f->real);
    CtCore *fun = lam1(f, x, list(f, var(f, x), var(f, xs)));
    CtGlobal *g = global(f, "g", let(f, xs, list(f, num(f, 1), empty(f)), fun));
    CtEval *eval = ct_eval_new(f->p, NULL, no_limits);
    CtWord function, result, args[] = {{.real = 5}};
    assert_true(ct_eval_call(eval, g, NULL, 0, &function));
    assert_true(ct_eval_apply(eval, type, function, args, 1, &result));
    CtText text = ct_text(f->arena);
    ct_value_show(&text, f->list, result);
    assert_string_equal(text.data, "[5.0,1.0]");
    ct_value_release(ct_eval_heap(eval), f->list, result);
    ct_value_release(ct_eval_heap(eval), type, function);
    ct_eval_free(eval);
}

static void nesting_of_any_depth_takes_no_c_stack(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *xs = variable(f, "xs", f->list);
    CtCore *sum = var(f, x);
    for (int i = 0; i < 100000; i++) sum = op(f, PRIM_ADD, num(f, 1), op(f, PRIM_MUL, sum, num(f, 1)));
    CtVar *y = variable(f, "y", f->real), *ys = variable(f, "ys", f->list);
    CtCore *deep_case = var(f, xs);
    for (int i = 0; i < 3000; i++) {
        CtVar *z = variable(f, "z", f->real), *zs = variable(f, "zs", f->list);
        deep_case = case_list(f, deep_case, empty(f), z, zs, list(f, var(f, z), var(f, zs)));
    }
    CtCore *body = case_list(f, deep_case, num(f, 0), y, ys, op(f, PRIM_ADD, var(f, y), sum));
    CtGlobal *g = global(f, "g", LAM(body, x, xs));
    CtEval *eval = ct_eval_new(f->p, NULL, no_limits);
    CtObject *two = ct_value_nullary(ct_eval_heap(eval), f->nil);
    CtFields *cell = ct_value_fields_new(ct_eval_heap(eval), ct_value_layout_con(ct_eval_heap(eval), f->cons), 1);
    cell->words[0].real = 2;
    cell->words[1].object = two;
    CtWord args[] = {{.real = 5}, {.object = &cell->head}}, result;
    assert_true(ct_eval_call(eval, g, args, 2, &result));
    assert_true(result.real == 100007);
    assert_int_equal(ct_eval_stats(eval).steps, 200000 + 3000 * 2 + 2);
    ct_eval_free(eval);
}

static void long_lists_are_made_and_folded(void **state) {
    Fixture *f = *state;
    CtCore *xs = CALL(listing(f), whole(f, 300000), empty(f));
    assert_string_equal(run(f, CALL(folding(f), plus(f), num(f, 0), xs)), "4.500015e10");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(primitives_take_constants_in_either_place),
        TEST(comparisons_with_nan_take_the_false_branch),
        TEST(branches_can_be_asked_in_either_order),
        TEST(a_switch_finds_each_constructor_and_the_default),
        TEST(unpack_and_projection_open_shared_and_own_tuples),
        TEST(what_a_branch_does_not_use_is_dropped),
        TEST(a_long_list_literal_is_built_in_order),
        TEST(closures_keep_what_they_capture),
        TEST(mutual_recursion_passes_the_environment_on),
        TEST(siblings_are_values_inside_their_group),
        TEST(a_million_calls_can_wait),
        TEST(tail_calls_take_no_memory),
        TEST(a_tail_call_may_have_many_arguments),
        TEST(constants_are_evaluated_once),
        TEST(a_constant_that_needs_itself_is_an_error),
        TEST(loops_write_their_bodies_in_line),
        TEST(every_array_operation_means_what_its_table_says),
        TEST(a_large_matrix_is_transposed),
        TEST(a_map_that_carries_a_state_gives_both),
        TEST(an_irregular_array_says_which_element_differs),
        TEST(updating_an_array_that_nobody_else_holds_takes_one_step),
        TEST(an_array_inside_an_opened_pair_is_updated_in_place),
        TEST(an_array_that_is_shared_is_copied),
        TEST(loops_inside_loops_use_no_c_stack),
        TEST(loops_call_function_values),
        TEST(captures_are_borrowed_in_loops_and_branches),
        TEST(an_error_releases_every_frame),
        TEST(an_error_in_a_loop_releases_its_state),
        TEST(division_by_zero_is_an_error),
        TEST(the_step_limit_stops_a_loop_without_end),
        TEST(the_depth_limit_stops_a_recursion),
        TEST(the_memory_limit_holds_for_stack_and_heap),
        TEST(an_interrupted_run_ends_and_the_next_one_works),
        TEST(a_run_is_asked_and_ends_or_goes_on),
        TEST(steps_follow_the_cost_model),
        TEST(calls_can_be_watched),
        TEST(function_values_can_be_called_from_outside),
        TEST(nesting_of_any_depth_takes_no_c_stack),
        TEST(long_lists_are_made_and_folded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
