/* The core room: types, constructors, printer, lint, copies and captures. */
#include "core_fixture.h"

/* ---- types ---- */

static void equal_types_are_the_same_pointer(void **state) {
    Fixture *f = *state;
    CtType *a = ct_core_type_fun(f->p, (CtType *[]){f->real, ct_core_type_pair(f->p, f->real, f->integer)}, 2, f->real);
    CtType *b = ct_core_type_fun(f->p, (CtType *[]){f->real, ct_core_type_pair(f->p, f->real, f->integer)}, 2, f->real);
    assert_ptr_equal(a, b);
    assert_ptr_not_equal(a, ct_core_type_fun(f->p, (CtType *[]){f->real, f->real}, 2, f->real));
    assert_ptr_not_equal(ct_core_type_tuple(f->p, &f->real, 1), ct_core_type_array(f->p, f->real));
    for (uint32_t i = 0; i < 500; i++) a = ct_core_type_pair(f->p, a, f->real);
    for (uint32_t i = 0; i < 500; i++) b = ct_core_type_pair(f->p, b, f->real);
    assert_ptr_equal(a, b);
}

static void types_know_what_they_hold_through_recursive_data(void **state) {
    Fixture *f = *state;
    assert_true(ct_core_type_has_real(f->list));
    assert_false(ct_core_type_has_real(f->p->string_type));
    assert_false(ct_core_type_has_fun(f->list));
    CtType *fun = ct_core_type_fun(f->p, &f->integer, 1, f->integer);
    assert_true(ct_core_type_has_fun(fixture_list(f->p, ct_core_type_pair(f->p, f->integer, fun))));
    assert_false(ct_core_type_has_real(fun));
    assert_true(ct_core_type_has_real(ct_core_type_fun(f->p, &f->integer, 1, f->list)));
}

static void types_print_as_they_are_read(void **state) {
    Fixture *f = *state;
    CtProgram *p = f->p;
    CtType *unary = ct_core_type_fun(p, &f->real, 1, f->real);
    CtType *both[] = {unary, f->list};
    assert_string_equal(print_type(f, unary), "Double → Double");
    assert_string_equal(print_type(f, ct_core_type_fun(p, both, 2, unary)),
                        "(Double → Double, [Double]) → Double → Double");
    assert_string_equal(print_type(f, ct_core_type_fun(p, &p->unit_type, 1, f->real)), "(()) → Double");
    assert_string_equal(print_type(f, ct_core_type_array(p, ct_core_type_array(p, f->integer))), "Array (Array Int)");
    CtType *maybe = fixture_data(p, "Maybe", &f->list, 1);
    assert_string_equal(print_type(f, ct_core_type_array(p, maybe)), "Array (Maybe [Double])");
}

/* ---- constructors ---- */

static void array_operations_take_their_types_from_the_table(void **state) {
    Fixture *f = *state;
    CtProgram *p = f->p;
    CtVar *x = variable(f, "x", f->real), *xs = variable(f, "xs", ct_core_type_array(p, f->real));
    CtCore *half = lam1(f, x, ct_core_int(p, AT, 1));
    CtCore *map[] = {half, var(f, xs)};
    assert_string_equal(print_type(f, ct_core_array(p, AT, ARRAY_MAP, map, 2)->type), "Array Int");
    CtVar *s = variable(f, "s", f->integer), *y = variable(f, "y", f->real);
    CtVar *params[] = {s, y};
    CtCore *step = ct_core_lam(p, AT, NULL, params, 2, pair(f, var(f, s), ct_core_bool(p, AT, true)));
    CtCore *accumulate[] = {step, whole(f, 0), var(f, xs)};
    assert_string_equal(print_type(f, ct_core_array(p, AT, ARRAY_MAP_ACCUM, accumulate, 3)->type), "(Int, Array Bool)");
    CtArrayOp op;
    assert_true(ct_core_array_find("mapAccumL", &op));
    assert_int_equal(op, ARRAY_MAP_ACCUM);
    assert_false(ct_core_array_find("mapAccumR", &op));
}

static void projecting_a_tuple_in_sight_gives_the_component_unless_another_could_fail(void **state) {
    Fixture *f = *state;
    CtCore *one = num(f, 1);
    assert_ptr_equal(ct_core_proj(f->p, AT, pair(f, one, num(f, 2)), 0), one);
    assert_int_equal(ct_core_proj(f->p, AT, pair(f, one, failure(f, f->real, "no")), 0)->kind, CORE_PROJ);
}

/* ---- printing ---- */

static void terms_print_as_the_papers_write_them(void **state) {
    Fixture *f = *state;
    CtProgram *p = f->p;
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real);
    CtCore *sum = op(f, PRIM_ADD, var(f, x), var(f, y));
    CtCore *product = op(f, PRIM_MUL, sum, op(f, PRIM_SCALE, num(f, -2), num(f, 0.1)));
    CtVar *params[] = {x, y};
    assert_string_equal(print(f, ct_core_lam(p, AT, NULL, params, 2, product)), "λx y. (x + y) × ((-2.0) · 0.1)");
    CtVar *t = variable(f, "t", ct_core_type_pair(p, f->real, f->real));
    assert_string_equal(print(f, lam1(f, t, ct_core_proj(p, AT, var(f, t), 1))), "λt. snd t");
    assert_string_equal(print(f, list(f, num(f, 1), list(f, num(f, 2), empty(f)))), "[1.0, 2.0]");
    CtVar *tail = variable(f, "tail", f->list);
    assert_string_equal(print(f, list(f, num(f, 1), list(f, num(f, 2), var(f, tail)))), "1.0 : 2.0 : tail");
    CtCore *choice = ct_core_if(p, AT, op(f, PRIM_LT, num(f, 1), num(f, 2)), num(f, 3), num(f, 4));
    assert_string_equal(print(f, choice), "if 1.0 < 2.0 then 3.0 else 4.0");
    assert_string_equal(print(f, ct_core_string(p, AT, "a\"b\n", 4)), "\"a\\\"b\\n\"");
    assert_string_equal(print(f, failure(f, f->real, "no")), "fail E0503 \"no\"");
}

static void subtraction_and_application_print_their_nesting(void **state) {
    Fixture *f = *state;
    CtCore *left = op(f, PRIM_SUB, op(f, PRIM_SUB, num(f, 1), num(f, 2)), num(f, 3));
    CtCore *right = op(f, PRIM_SUB, num(f, 1), op(f, PRIM_SUB, num(f, 2), num(f, 3)));
    assert_string_equal(print(f, left), "1.0 - 2.0 - 3.0");
    assert_string_equal(print(f, right), "1.0 - (2.0 - 3.0)");
    CtType *unary = ct_core_type_fun(f->p, &f->real, 1, f->real);
    CtVar *g = variable(f, "g", ct_core_type_fun(f->p, &f->real, 1, unary));
    CtCore *curried = app1(f, app1(f, var(f, g), num(f, 1)), op(f, PRIM_ADD, num(f, 2), num(f, 3)));
    assert_string_equal(print(f, curried), "(g 1.0) (2.0 + 3.0)");
}

static void names_get_numbers_only_where_two_visible_ones_clash(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *inner = variable(f, "x", f->real), *other = variable(f, "x", f->real);
    CtCore *nested = lam1(f, x, app1(f, lam1(f, inner, op(f, PRIM_ADD, var(f, x), var(f, inner))), num(f, 1)));
    assert_string_equal(print(f, nested), "λx. (λx1. x + x1) 1.0");
    CtVar *again = variable(f, "x", f->real);
    CtCore *apart = pair(f, lam1(f, other, var(f, other)), lam1(f, again, var(f, again)));
    assert_string_equal(print(f, apart), "(λx. x, λx. x)");
}

static void bindings_and_cases_stand_on_lines_of_their_own(void **state) {
    Fixture *f = *state;
    CtProgram *p = f->p;
    CtVar *xs = variable(f, "xs", f->list), *x = variable(f, "x", f->real), *rest = variable(f, "rest", f->list);
    CtType *type = ct_core_type_fun(p, &f->list, 1, f->real);
    CtGlobal *total = ct_core_global_new(p, "total", type, AT);
    CtVar *y = variable(f, "y", f->real), *z = variable(f, "z", f->real);
    CtCore *recurse = app1(f, ct_core_global(p, AT, total), var(f, rest));
    CtCore *both =
        let(f, y, op(f, PRIM_MUL, var(f, x), var(f, x)), let(f, z, recurse, op(f, PRIM_ADD, var(f, y), var(f, z))));
    total->body = lam1(f, xs, case_list(f, var(f, xs), num(f, 0), x, rest, both));
    assert_null(ct_core_lint(p));
    assert_string_equal(print_global(f, total), "total : [Double] → Double\n"
                                                "total xs = case xs of\n"
                                                "  [] → 0.0\n"
                                                "  x : rest →\n"
                                                "    let y = x × x in\n"
                                                "    let z = total rest in\n"
                                                "    y + z\n");
}

static void long_terms_are_broken_within_the_line(void **state) {
    Fixture *f = *state;
    CtCore *sum = num(f, 1000000);
    for (int i = 0; i < 40; i++)
        sum = op(f, i % 2 == 0 ? PRIM_ADD : PRIM_MUL, sum, op(f, PRIM_SUB, num(f, i), num(f, 0.125)));
    const char *text = print(f, sum);
    size_t longest = 0, length = 0;
    for (const char *c = text; *c != '\0'; c++) {
        length = *c == '\n' ? 0 : length + ((*c & 0xC0) != 0x80);
        if (length > longest) longest = length;
    }
    assert_true(strchr(text, '\n') != NULL);
    assert_true(longest <= 110);
}

/* ---- lint ---- */

static void expect_lint(Fixture *f, CtCore *body, const char *message) {
    CtGlobal *g = global(f, "f", body);
    const char *error = ct_core_lint_global(f->p, g);
    assert_non_null(error);
    if (strstr(error, message) == NULL) fail_msg("lint said «%s», wanted «%s»", error, message);
    assert_non_null(strstr(error, "in f, "));
    f->p->globals.count--;
}

static void lint_finds_faults_of_scope(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real);
    expect_lint(f, var(f, x), "x is not in scope");
    expect_lint(f, pair(f, let(f, x, num(f, 1), var(f, x)), var(f, x)), "x is not in scope");
    expect_lint(f, pair(f, lam1(f, x, var(f, x)), lam1(f, x, var(f, x))), "x is bound twice");
    expect_lint(f, let(f, x, var(f, x), var(f, x)), "x is not in scope");
}

static void lint_finds_a_binder_of_two_globals(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real);
    global(f, "f", lam1(f, x, var(f, x)));
    assert_null(ct_core_lint(f->p));
    global(f, "g", lam1(f, x, var(f, x)));
    assert_non_null(strstr(ct_core_lint(f->p), "in g, lambda: variable x is bound twice"));
}

static void lint_finds_faults_of_functions(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real), *z = variable(f, "z", f->real);
    CtCore *two[] = {num(f, 1), num(f, 2)};
    expect_lint(f, ct_core_app(f->p, AT, lam1(f, x, var(f, x)), two, 2),
                "2 arguments to a function of type Double → Double");
    expect_lint(f, app1(f, lam1(f, y, var(f, y)), whole(f, 1)), "argument 1 has type Int, wanted Double");
    CtCore *no_function = app1(f, lam1(f, z, var(f, z)), num(f, 1));
    no_function->as.call.of.fun = num(f, 1);
    expect_lint(f, no_function, "Double is no function's type");
    CtVar *g = variable(f, "g", f->real), *body = variable(f, "b", f->real);
    CtBind bind = {g, lam1(f, body, var(f, body))};
    CtCore *group = ct_core_letrec(f->p, AT, &bind, 1, num(f, 1));
    expect_lint(f, group, "variable g has type Double, wanted Double → Double");
    group->as.letrec.binds[0].lam = num(f, 1);
    expect_lint(f, group, "g is bound to a literal");
    CtVar *h = variable(f, "h", f->real);
    CtCore *fun = lam1(f, h, var(f, h));
    fun->as.lam->node = NULL;
    expect_lint(f, fun, "does not know its node");
}

static void lint_finds_faults_of_tuples_and_data(void **state) {
    Fixture *f = *state;
    CtProgram *p = f->p;
    CtCore *tuple = pair(f, num(f, 1), num(f, 2));
    CtVar *t = variable(f, "t", tuple->type);
    CtCore *proj = ct_core_proj(p, AT, var(f, t), 0);
    proj->as.proj.index = 2;
    expect_lint(f, lam1(f, t, proj), "no component 3 in (Double, Double)");
    CtVar *a = variable(f, "a", f->real);
    expect_lint(f, ct_core_unpack(p, AT, &a, 1, tuple, num(f, 1)), "1 variables for a (Double, Double)");
    CtCore *bad_cons[] = {num(f, 1), num(f, 2)};
    expect_lint(f, ct_core_con(p, AT, f->cons, bad_cons, 2), "argument 2 has type Double, wanted [Double]");
    expect_lint(f, ct_core_con(p, AT, f->cons, bad_cons, 1), "1 arguments to :, which has 2 fields");
    CtCase nil = {f->nil, NULL, num(f, 1)}, twice[] = {nil, nil};
    expect_lint(f, ct_core_case(p, AT, f->real, empty(f), &nil, 1, NULL),
                "1 of 2 constructors of [Double], and no default");
    expect_lint(f, ct_core_case(p, AT, f->real, empty(f), twice, 2, NULL), "[] is listed twice");
    expect_lint(f, ct_core_case(p, AT, f->real, num(f, 1), &nil, 1, num(f, 2)), "has no constructors");
    expect_lint(f, ct_core_case(p, AT, f->real, ct_core_bool(p, AT, true), &nil, 1, num(f, 2)),
                "[] is no constructor of Bool");
    expect_lint(f, ct_core_case(p, AT, f->real, empty(f), &nil, 1, whole(f, 2)),
                "the default has type Int, wanted Double");
}

static void lint_finds_faults_of_operations(void **state) {
    Fixture *f = *state;
    CtProgram *p = f->p;
    expect_lint(f, op(f, PRIM_ADD, num(f, 1), whole(f, 2)), "argument 2 of add has type Int, wanted Double");
    expect_lint(f, op(f, PRIM_ADD, whole(f, 1), whole(f, 2)), "wanted Double or Float");
    expect_lint(f, op(f, PRIM_INT_ADD, num(f, 1), whole(f, 2)), "argument 1 of intAdd has type Double, wanted Int");
    CtCore *one[] = {num(f, 1)};
    expect_lint(f, ct_core_prim(p, AT, PRIM_ADD, one, 1), "1 arguments to add, which takes 2");
    expect_lint(f, ct_core_array(p, AT, ARRAY_SUM, one, 1),
                "argument 1 has type Double, which does not fit sum : Array r -> r");
    CtCore *items[] = {num(f, 1), whole(f, 2)};
    expect_lint(f, ct_core_array_lit(p, AT, f->real, items, 2), "argument 2 has type Int, wanted Double");
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real);
    CtCore *jvp[] = {lam1(f, x, var(f, x)), num(f, 1), whole(f, 1)};
    expect_lint(f, ct_core_deriv(p, AT, DERIV_JVP, jvp, 3), "argument 3 has type Int, wanted Double");
    expect_lint(f, ct_core_dual(p, AT, f->real, METHOD_TAPE, NULL, 0, one, 1),
                "the operand has type Double, wanted a function");
    expect_lint(f, ct_core_fail(p, AT, f->real, CT_E0503, NULL, NULL), "wanted a fixed text or a message");
    expect_lint(f, ct_core_fail(p, AT, f->real, CT_E0503, NULL, num(f, 1)),
                "the message has type Double, wanted [Char]");
    CtCore *wrong = let(f, y, num(f, 1), var(f, y));
    wrong->type = f->integer;
    expect_lint(f, wrong, "the let has type Int, wanted Double");
}

static void lint_tells_where(void **state) {
    Fixture *f = *state;
    const char *text = "main =\n  x + 1\n";
    uint32_t source = ct_source_add(&f->context, "a.cot", text, strlen(text), false);
    CtVar *x = variable(f, "x", f->real);
    CtGlobal *g = global(f, "main", ct_core_var(f->p, (CtSourceRange){source, 9, 10}, x));
    assert_string_equal(ct_core_lint_global(f->p, g), "in main, variable at a.cot:2:3: x is not in scope");
}

/* ---- copies, captures, reachability ---- */

static void copies_have_binders_of_their_own_and_replaced_variables(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real), *free = variable(f, "free", f->real);
    CtCore *term = lam1(f, x, let(f, y, op(f, PRIM_ADD, var(f, x), var(f, free)), var(f, y)));
    CtMap replace = {0};
    ct_map_set(f->arena, &replace, ct_key(free), num(f, 7));
    CtCore *copy = ct_core_copy(f->p, term, &replace);
    assert_string_equal(print(f, copy), "λx. let y = x + 7.0 in y");
    assert_string_equal(print(f, term), "λx. let y = x + free in y");
    assert_ptr_not_equal(copy->as.lam->params[0], x);
    assert_ptr_equal(copy->as.lam->node, copy);
    global(f, "a", app1(f, lam1(f, free, app1(f, term, num(f, 1))), num(f, 2)));
    global(f, "b", copy);
    assert_null(ct_core_lint(f->p));
}

static void copied_groups_are_linked_to_themselves(void **state) {
    Fixture *f = *state;
    CtType *unary = ct_core_type_fun(f->p, &f->real, 1, f->real);
    CtVar *loop = variable(f, "loop", unary), *x = variable(f, "x", f->real);
    CtBind bind = {loop, lam1(f, x, app1(f, var(f, loop), var(f, x)))};
    CtCore *term = ct_core_letrec(f->p, AT, &bind, 1, app1(f, var(f, loop), num(f, 1)));
    global(f, "a", term);
    global(f, "b", ct_core_copy(f->p, term, NULL));
    assert_null(ct_core_lint(f->p));
}

static CtCore *increment(void *data, CtCore *child) {
    Fixture *f = data;
    if (child->kind == CORE_LIT) return num(f, child->as.lit.real + 1);
    return ct_core_map(f->p, child, increment, data);
}

static void mapping_rebuilds_only_what_changes(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real);
    CtCore *same = lam1(f, y, var(f, y));
    CtCore *term = pair(f, lam1(f, x, op(f, PRIM_ADD, var(f, x), num(f, 1))), same);
    CtCore *mapped = ct_core_map(f->p, term, increment, f);
    assert_string_equal(print(f, mapped), "(λx. x + 2.0, λy. y)");
    assert_ptr_equal(mapped->as.call.args[1], same);
    assert_ptr_equal(mapped->as.call.args[0]->as.lam->node, mapped->as.call.args[0]);
    assert_ptr_equal(ct_core_map(f->p, same, increment, f), same);
}

static void captures_stand_in_the_order_of_first_use(void **state) {
    Fixture *f = *state;
    CtVar *a = variable(f, "a", f->real), *b = variable(f, "b", f->real), *c = variable(f, "c", f->real);
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real);
    CtCore *inner = lam1(f, y, op(f, PRIM_ADD, op(f, PRIM_MUL, var(f, c), var(f, y)), var(f, a)));
    CtCore *outer = lam1(f, x, app1(f, inner, op(f, PRIM_ADD, var(f, b), op(f, PRIM_ADD, var(f, x), var(f, a)))));
    ct_core_captures(f->p, outer->as.lam);
    assert_int_equal(outer->as.lam->capture_count, 3);
    assert_ptr_equal(outer->as.lam->captures[0], c);
    assert_ptr_equal(outer->as.lam->captures[1], a);
    assert_ptr_equal(outer->as.lam->captures[2], b);
    assert_int_equal(inner->as.lam->capture_count, 2);
}

static void a_group_captures_together_and_not_itself(void **state) {
    Fixture *f = *state;
    CtType *unary = ct_core_type_fun(f->p, &f->real, 1, f->real);
    CtVar *even = variable(f, "even", unary), *odd = variable(f, "odd", unary);
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real), *free = variable(f, "free", f->real);
    CtBind binds[] = {{even, lam1(f, x, app1(f, var(f, odd), var(f, x)))},
                      {odd, lam1(f, y, app1(f, var(f, even), var(f, free)))}};
    ct_core_letrec(f->p, AT, binds, 2, num(f, 1));
    ct_core_captures(f->p, binds[0].lam->as.lam);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(binds[i].lam->as.lam->capture_count, 1);
        assert_ptr_equal(binds[i].lam->as.lam->captures[0], free);
    }
}

static void globals_that_the_roots_do_not_reach_go(void **state) {
    Fixture *f = *state;
    CtGlobal *leaf = global(f, "leaf", num(f, 1));
    CtGlobal *unused = global(f, "unused", ct_core_global(f->p, AT, leaf));
    CtGlobal *root = global(f, "root", pair(f, num(f, 1), ct_core_global(f->p, AT, leaf)));
    ct_core_reachable(f->p, &root, 1);
    assert_int_equal(f->p->globals.count, 2);
    assert_ptr_equal(f->p->globals.items[0], leaf);
    assert_ptr_not_equal(f->p->globals.items[1], unused);
}

/* ---- size ---- */

static void long_lists_and_chains_of_bindings_take_no_stack(void **state) {
    Fixture *f = *state;
    CtCore *items = empty(f);
    for (int i = 0; i < 200000; i++) items = list(f, num(f, i), items);
    CtVar *xs = variable(f, "xs", f->list);
    CtCore *chain = items;
    for (int i = 0; i < 200000; i++) chain = let(f, variable(f, "v", f->real), num(f, i), chain);
    CtCore *whole_term = ct_core_copy(f->p, lam1(f, xs, chain), NULL);
    CtGlobal *g = global(f, "f", whole_term);
    assert_null(ct_core_lint(f->p));
    ct_core_captures(f->p, whole_term->as.lam);
    assert_int_equal(whole_term->as.lam->capture_count, 0);
    assert_true(strlen(print_global(f, g)) > 1000000);
    CtCore *simple = ct_core_simplify_term(f->p, whole_term);
    assert_int_equal(simple->as.lam->body->kind, CORE_CON);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(equal_types_are_the_same_pointer),
        TEST(types_know_what_they_hold_through_recursive_data),
        TEST(types_print_as_they_are_read),
        TEST(array_operations_take_their_types_from_the_table),
        TEST(projecting_a_tuple_in_sight_gives_the_component_unless_another_could_fail),
        TEST(terms_print_as_the_papers_write_them),
        TEST(subtraction_and_application_print_their_nesting),
        TEST(names_get_numbers_only_where_two_visible_ones_clash),
        TEST(bindings_and_cases_stand_on_lines_of_their_own),
        TEST(long_terms_are_broken_within_the_line),
        TEST(lint_finds_faults_of_scope),
        TEST(lint_finds_a_binder_of_two_globals),
        TEST(lint_finds_faults_of_functions),
        TEST(lint_finds_faults_of_tuples_and_data),
        TEST(lint_finds_faults_of_operations),
        TEST(lint_tells_where),
        TEST(copies_have_binders_of_their_own_and_replaced_variables),
        TEST(copied_groups_are_linked_to_themselves),
        TEST(mapping_rebuilds_only_what_changes),
        TEST(captures_stand_in_the_order_of_first_use),
        TEST(a_group_captures_together_and_not_itself),
        TEST(globals_that_the_roots_do_not_reach_go),
        TEST(long_lists_and_chains_of_bindings_take_no_stack),
    };
    return cmocka_run_group_tests_name("core", tests, NULL, NULL);
}
