/* A primitive over whole arrays, as a map or zipWith of a λ with that body runs it, against the same λ with a tuple
 * around the body, which runs element by element. */
#include "eval_fixture.h"

#include <math.h>

enum { LENGTH = 7 };

static const double real_values[LENGTH] = {0.5, -0.0, 3, INFINITY, -2.25, NAN, 1e300};
static const int64_t int_values[LENGTH] = {3, -1, INT64_MIN, 7, INT64_MAX, 2, -5};
static const int64_t char_values[LENGTH] = {'a', 0, 0x10FFFF, 'z', 'a', 7, 200};

static CtType *letter_type(Fixture *f, char letter) {
    switch (letter) {
    case 'I': return f->integer;
    case 'C': return ct_core_type_char(f->p);
    case 'F': return ct_core_type_float(f->p);
    default: return f->real;
    }
}

static CtCore *value(Fixture *f, CtType *type, uint32_t index) {
    index %= LENGTH;
    if (type->kind == TYPE_INT) return whole(f, int_values[index]);
    if (type->kind == TYPE_CHAR) return ct_core_char(f->p, AT, char_values[index]);
    return ct_core_real(f->p, AT, type,
                        type->kind == TYPE_FLOAT ? (double)(float)real_values[index] : real_values[index]);
}

/* Every value meets every other when one of two arrays begins later. */
static CtCore *values(Fixture *f, CtType *type, uint32_t from) {
    CtCore *items[LENGTH];
    for (uint32_t i = 0; i < LENGTH; i++) items[i] = value(f, type, from + i);
    return ct_core_array_lit(f->p, AT, type, items, LENGTH);
}

typedef enum Source { FIRST, SECOND, LITERAL, SCALAR } Source; /* of an operand: elements of arrays, or one for all */

typedef struct Case {
    CtPrim prim;
    Source a, b;
    uint32_t from;
    bool keeps;  /* the arrays are used again, so that the result cannot be made of one of them */
    bool counts; /* if op then 1 else 0 */
} Case;

/* let xs = …; ys = …; s = … in map or zipWith (λx y. op …) xs ys. */
static CtCore *program(Fixture *f, const Case *k, bool by_elements) {
    const CtPrimInfo *info = ct_prim_info(k->prim);
    CtType *types[2] = {letter_type(f, info->args[0]), letter_type(f, info->args[info->arity - 1])};
    CtVar *xs = variable(f, "xs", ct_core_type_array(f->p, types[0])),
          *ys = variable(f, "ys", ct_core_type_array(f->p, types[1]));
    CtVar *params[2] = {variable(f, "x", types[0]), variable(f, "y", types[1])}, *s = NULL;
    Source sources[2] = {k->a, k->b};
    CtCore *args[2], *start = NULL;
    bool zips = false;
    for (uint32_t i = 0; i < info->arity; i++) {
        zips |= sources[i] == SECOND;
        if (sources[i] == LITERAL) args[i] = value(f, types[i], k->from);
        if (sources[i] == FIRST || sources[i] == SECOND) args[i] = var(f, params[sources[i]]);
        if (sources[i] != SCALAR) continue;
        s = variable(f, "s", types[i]);
        start = value(f, types[i], k->from);
        args[i] = var(f, s);
    }
    CtCore *body = ct_core_prim(f->p, AT, k->prim, args, info->arity);
    if (k->counts) body = ct_core_if(f->p, AT, body, whole(f, 1), whole(f, 0));
    if (by_elements) {
        CtCore *tuple = ct_core_pair(f->p, AT, body, whole(f, 0));
        CtVar *named = variable(f, "r", tuple->type);
        body = let(f, named, tuple, ct_core_proj(f->p, AT, var(f, named), 0));
    }
    CtCore *fun = ct_core_lam(f->p, AT, NULL, params, zips ? 2 : 1, body);
    CtCore *result = zips ? ARRAY(ZIP_WITH, fun, var(f, xs), var(f, ys)) : ARRAY(MAP, fun, var(f, xs));
    if (k->keeps) result = ct_core_tuple(f->p, AT, (CtCore *[]){result, var(f, xs), var(f, ys)}, 3);
    if (s != NULL) result = let(f, s, start, result);
    result = let(f, ys, values(f, types[1], k->from), result);
    return let(f, xs, values(f, types[0], 0), result);
}

static void compare(Fixture *f, const Case *k) {
    CtEvalStats kernel, elements;
    const char *expected = run_with(f, program(f, k, true), no_limits, &elements);
    const char *found = run_with(f, program(f, k, false), no_limits, &kernel);
    f->p->globals.count = 0; /* each run checks all that there are */
    if (strcmp(expected, found) != 0) print_error("%s %d %d\n", ct_prim_info(k->prim)->name, (int)k->a, (int)k->b);
    assert_string_equal(found, expected);
    if (found[0] == 'E') return;
    assert_int_equal(kernel.steps, elements.steps - 3 * LENGTH);
}

static void compare_all(Fixture *f, CtPrim prim, Source a, Source b, bool counts) {
    for (uint32_t from = 0; from < LENGTH; from++)
        for (int keeps = 0; keeps < 2; keeps++)
            compare(f, &(Case){.prim = prim, .a = a, .b = b, .from = from, .keeps = keeps, .counts = counts});
}

static void every_primitive_over_arrays_means_what_it_means_for_one_element(void **state) {
    Fixture *f = *state;
    static const Source sources[][2] = {{FIRST, SECOND}, {SECOND, FIRST}, {FIRST, LITERAL}, {LITERAL, FIRST},
                                        {FIRST, SCALAR}, {SCALAR, FIRST}, {SCALAR, LITERAL}};
    for (uint32_t i = 0; i < CT_PRIM_COUNT; i++) {
        const CtPrimInfo *info = ct_prim_info((CtPrim)i);
        if (info->result == 'S') continue;
        if (info->arity == 1) compare_all(f, (CtPrim)i, FIRST, FIRST, false);
        for (uint32_t j = 0; info->arity == 2 && j < COUNT(sources); j++)
            compare_all(f, (CtPrim)i, sources[j][0], sources[j][1], false);
    }
}

static void a_comparison_may_give_one_and_zero(void **state) {
    Fixture *f = *state;
    compare_all(f, PRIM_LT, FIRST, SECOND, true);
    compare_all(f, PRIM_INT_EQ, FIRST, LITERAL, true);
    compare_all(f, PRIM_LE, SCALAR, FIRST, true);
    compare_all(f, PRIM_IS_NAN, FIRST, FIRST, true);
}

static void both_operands_may_be_the_same_array(void **state) {
    Fixture *f = *state;
    CtVar *xs = variable(f, "xs", ct_core_type_array(f->p, f->real));
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real);
    CtCore *twice = ARRAY(ZIP_WITH, LAM(op(f, PRIM_MUL, var(f, y), var(f, x)), x, y), var(f, xs), var(f, xs));
    assert_string_equal(run(f, let(f, xs, values(f, f->real, 0), twice)),
                        "[|0.25,0.0,9.0,Infinity,5.0625,NaN,Infinity|]");
}

static void the_result_is_made_of_an_array_that_nobody_else_holds(void **state) {
    Fixture *f = *state;
    CtVar *i = variable(f, "i", f->integer), *x = variable(f, "x", f->real), *y = variable(f, "y", f->real);
    CtVar *z = variable(f, "z", f->real), *w = variable(f, "w", f->real);
    CtCore *xs = ARRAY(BUILD, whole(f, 100000), lam1(f, i, ct_core_prim1(f->p, AT, PRIM_TO_DOUBLE, var(f, i))));
    CtCore *more = ARRAY(MAP, lam1(f, x, op(f, PRIM_ADD, var(f, x), num(f, 1))), xs);
    CtCore *few = ARRAY(MAP, lam1(f, w, ct_core_prim1(f->p, AT, PRIM_NEGATE, var(f, w))), more);
    CtVar *all = variable(f, "all", few->type);
    CtCore *sum = ARRAY(ZIP_WITH, LAM(op(f, PRIM_ADD, var(f, y), var(f, z)), y, z), var(f, all), var(f, all));
    CtEvalStats stats;
    assert_string_equal(run_with(f, ARRAY(SUM, let(f, all, few, sum)), no_limits, &stats), "-1.00001e10");
    assert_true(stats.peak_memory < 100000 * 8 * 3 / 2);
}

static void arrays_of_two_lengths_do_not_fit(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real);
    CtCore *one[] = {num(f, 1)};
    CtCore *short_one = ct_core_array_lit(f->p, AT, f->real, one, 1);
    CtCore *none = ct_core_array_lit(f->p, AT, f->real, NULL, 0);
    CtCore *fun = LAM(op(f, PRIM_ADD, var(f, x), var(f, y)), x, y);
    assert_string_equal(run(f, ARRAY(ZIP_WITH, fun, short_one, none)),
                        "E0504 zipWith takes arrays of one length; these have 1 and 0 elements");
}

static void limits_and_interrupts_stop_it(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real);
    CtCore *many = ARRAY(REPLICATE, whole(f, 1000000), num(f, 1));
    CtCore *core = ARRAY(MAP, lam1(f, x, op(f, PRIM_ADD, var(f, x), var(f, x))), many);
    CtEvalStats stats;
    CtEvalLimits limits = {.steps = 2000000};
    assert_string_equal(run_with(f, core, limits, &stats), "E0802 the run took more than 2000000 steps");
    assert_in_range(stats.steps, 2000001, 2000003); /* the replicate runs with it */
    CtVar *y = variable(f, "y", f->real);
    many = ARRAY(REPLICATE, whole(f, 1000000), num(f, 1));
    core = ARRAY(MAP, lam1(f, y, op(f, PRIM_ADD, var(f, y), var(f, y))), many);
    CtGlobal *g = global(f, "g", ct_core_lam(f->p, AT, NULL, NULL, 0, ARRAY(SUM, core)));
    CtEval *eval = ct_eval_new(f->p, NULL, no_limits);
    CtWord result;
    ct_eval_interrupt(eval);
    assert_false(ct_eval_call(eval, g, NULL, 0, &result));
    assert_true(ct_eval_call(eval, g, NULL, 0, &result));
    assert_true(result.real == 2000000);
    ct_eval_free(eval);
}

static void steps_may_have_run_out_before(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real);
    CtCore *many = ARRAY(REPLICATE, whole(f, 3000000), num(f, 1));
    CtCore *core = ARRAY(MAP, lam1(f, x, op(f, PRIM_ADD, var(f, x), num(f, 1))), many);
    CtEvalStats stats;
    assert_string_equal(run_with(f, ARRAY(SUM, core), no_limits, &stats), "6000000.0");
    assert_int_equal(stats.steps, (1 + 3000000) + (1 + 2 * 3000000) + (1 + 3000000));
}

static void an_error_is_where_the_primitive_stands(void **state) {
    Fixture *f = *state;
    CtSourceRange outer = {0, 0, 20}, inner = {0, 5, 9};
    CtVar *n = variable(f, "n", f->integer);
    CtCore *items[] = {whole(f, 1), whole(f, 0), whole(f, 2)};
    CtCore *xs = ct_core_array_lit(f->p, AT, f->integer, items, 3);
    CtCore *body = ct_core_prim2(f->p, inner, PRIM_INT_DIV, whole(f, 6), var(f, n));
    CtCore *args[] = {lam1(f, n, body), xs};
    CtCore *core = ct_core_array(f->p, outer, ARRAY_MAP, args, 2);
    assert_string_equal(run(f, core), "E0506 division by zero");
    assert_int_equal(f->context.diags->range.start, 5);
    assert_int_equal(f->context.diags->range.end, 9);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(every_primitive_over_arrays_means_what_it_means_for_one_element),
        TEST(a_comparison_may_give_one_and_zero),
        TEST(both_operands_may_be_the_same_array),
        TEST(the_result_is_made_of_an_array_that_nobody_else_holds),
        TEST(arrays_of_two_lengths_do_not_fit),
        TEST(limits_and_interrupts_stop_it),
        TEST(steps_may_have_run_out_before),
        TEST(an_error_is_where_the_primitive_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
