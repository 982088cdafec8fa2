/* The simplifier: what is gone from a term, what must stay, and that random terms keep their meaning. */
#include "core_fixture.h"

#include <math.h>

static const char *simplified(Fixture *f, CtCore *core) {
    CtCore *simple = ct_core_simplify_term(f->p, core);
    assert_ptr_equal(simple->type, core->type);
    return print(f, simple);
}

/* A function of a Double that cannot be seen through. */
static CtCore *opaque(Fixture *f, CtCore *arg) {
    CtType *type = ct_core_type_fun(f->p, &f->real, 1, f->real);
    CtGlobal *g = NULL;
    for (uint32_t i = 0; i < f->p->globals.count && g == NULL; i++)
        if (strcmp(f->p->globals.items[i]->name->text, "opaque") == 0) g = f->p->globals.items[i];
    if (g == NULL) {
        g = ct_core_global_new(f->p, "opaque", type, AT);
        CtVar *x = variable(f, "x", f->real);
        g->body = lam1(f, x, app1(f, ct_core_global(f->p, AT, g), var(f, x)));
    }
    return app1(f, ct_core_global(f->p, AT, g), arg);
}

/* ---- what goes ---- */

static void applied_lambdas_and_used_once_bindings_go(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real), *a = variable(f, "a", f->real);
    CtCore *square = lam1(f, x, op(f, PRIM_MUL, var(f, x), var(f, x)));
    CtCore *term = lam1(f, a, let(f, y, op(f, PRIM_ADD, var(f, a), num(f, 1)), app1(f, square, var(f, y))));
    assert_string_equal(simplified(f, term), "λa. let x = a + 1.0 in x × x");
    CtVar *z = variable(f, "z", f->real), *b = variable(f, "b", f->real);
    assert_string_equal(
        simplified(f,
                   lam1(f, b, let(f, z, op(f, PRIM_ADD, var(f, b), num(f, 1)), op(f, PRIM_SUB, num(f, 2), var(f, z))))),
        "λb. 2.0 - (b + 1.0)");
}

static void small_globals_are_inlined_also_through_each_other(void **state) {
    Fixture *f = *state;
    CtVar *a = variable(f, "a", f->real), *b = variable(f, "b", f->real), *c = variable(f, "c", f->real);
    CtVar *params[] = {a, b};
    CtGlobal *plus = global(f, "plus", ct_core_lam(f->p, AT, "plus", params, 2, op(f, PRIM_ADD, var(f, a), var(f, b))));
    CtCore *args[] = {var(f, c), num(f, 1)};
    CtGlobal *next = global(f, "next", lam1(f, c, ct_core_app(f->p, AT, ct_core_global(f->p, AT, plus), args, 2)));
    CtVar *x = variable(f, "x", f->real);
    CtCore *twice = app1(f, ct_core_global(f->p, AT, next), app1(f, ct_core_global(f->p, AT, next), var(f, x)));
    CtGlobal *g = global(f, "g", lam1(f, x, twice));
    ct_core_simplify(f->p);
    assert_null(ct_core_lint(f->p));
    assert_string_equal(print_global(f, g), "g : Double → Double\ng x = x + 1.0 + 1.0\n");
}

static void functions_that_call_each_other_are_not_unrolled(void **state) {
    Fixture *f = *state;
    CtType *unary = ct_core_type_fun(f->p, &f->real, 1, f->real);
    CtGlobal *even = ct_core_global_new(f->p, "even", unary, AT), *odd = ct_core_global_new(f->p, "odd", unary, AT);
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real), *z = variable(f, "z", f->real);
    even->body = lam1(f, x, app1(f, ct_core_global(f->p, AT, odd), op(f, PRIM_SUB, var(f, x), num(f, 1))));
    odd->body = lam1(f, y, app1(f, ct_core_global(f->p, AT, even), op(f, PRIM_SUB, var(f, y), num(f, 1))));
    CtGlobal *g = global(f, "g", lam1(f, z, app1(f, ct_core_global(f->p, AT, even), var(f, z))));
    ct_core_simplify(f->p);
    assert_null(ct_core_lint(f->p));
    assert_true(strlen(print_global(f, g)) < 100);
}

static void known_constructions_are_taken_apart(void **state) {
    Fixture *f = *state;
    CtVar *a = variable(f, "a", f->real), *x = variable(f, "x", f->real), *xs = variable(f, "xs", f->list);
    CtCore *known = case_list(f, list(f, var(f, a), empty(f)), num(f, 0), x, xs, op(f, PRIM_MUL, var(f, x), num(f, 2)));
    assert_string_equal(simplified(f, lam1(f, a, known)), "λa. a × 2.0");
    CtVar *b = variable(f, "b", f->real);
    CtCore *tuple = pair(f, op(f, PRIM_MUL, var(f, b), var(f, b)), op(f, PRIM_ADD, var(f, b), num(f, 1)));
    CtVar *t = variable(f, "t", tuple->type);
    CtCore *both = op(f, PRIM_SUB, ct_core_proj(f->p, AT, var(f, t), 0), ct_core_proj(f->p, AT, var(f, t), 1));
    assert_string_equal(simplified(f, lam1(f, b, let(f, t, tuple, both))), "λb. b × b - (b + 1.0)");
    CtVar *m = variable(f, "m", f->real), *n = variable(f, "n", f->real), *c = variable(f, "c", f->real);
    CtVar *vars[] = {m, n};
    CtCore *unpacked =
        ct_core_unpack(f->p, AT, vars, 2, pair(f, var(f, c), num(f, 3)), op(f, PRIM_DIV, var(f, m), var(f, n)));
    assert_string_equal(simplified(f, lam1(f, c, unpacked)), "λc. c / 3.0");
}

/* Its parts are known where it is unpacked, though the tuple itself is used besides. */
static void a_tuple_that_is_bound_is_unpacked(void **state) {
    Fixture *f = *state;
    CtVar *b = variable(f, "b", f->real), *m = variable(f, "m", f->real), *n = variable(f, "n", f->real);
    CtCore *tuple = pair(f, op(f, PRIM_MUL, var(f, b), var(f, b)), op(f, PRIM_ADD, var(f, b), num(f, 1)));
    CtVar *t = variable(f, "t", tuple->type), *vars[] = {m, n};
    CtCore *both = pair(f, op(f, PRIM_DIV, var(f, m), var(f, n)), var(f, t));
    CtCore *unpacked = ct_core_unpack(f->p, AT, vars, 2, var(f, t), both);
    assert_string_equal(simplified(f, lam1(f, b, let(f, t, tuple, unpacked))),
                        "λb.\n  let t = b × b in\n  let t1 = b + 1.0 in\n  (t / t1, (t, t1))");
}

static void a_variable_is_not_taken_apart_twice(void **state) {
    Fixture *f = *state;
    CtVar *l = variable(f, "l", f->list), *x = variable(f, "x", f->real), *xs = variable(f, "xs", f->list);
    CtVar *y = variable(f, "y", f->real), *ys = variable(f, "ys", f->list);
    CtCore *again = case_list(f, var(f, l), num(f, 9), y, ys, op(f, PRIM_MUL, var(f, y), num(f, 2)));
    CtCore *term = lam1(f, l, case_list(f, var(f, l), num(f, 0), x, xs, again));
    const char *text = simplified(f, term);
    assert_null(strstr(text, "9.0"));
    assert_non_null(strstr(text, "x : _ → x × 2.0"));
}

static void conditions_made_of_conditions_are_one_decision(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real);
    CtCore *less = op(f, PRIM_LT, var(f, x), num(f, 0));
    CtCore *not_less = ct_core_if(f->p, AT, less, ct_core_bool(f->p, AT, false), ct_core_bool(f->p, AT, true));
    CtCore *term =
        ct_core_if(f->p, AT, not_less, opaque(f, var(f, x)), op(f, PRIM_ADD, opaque(f, num(f, 2)), var(f, x)));
    assert_string_equal(simplified(f, lam1(f, x, term)), "λx. if x < 0.0 then opaque 2.0 + x else opaque x");
}

static void arithmetic_on_literals_is_done_and_identities_hold_in_every_bit(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real);
    assert_string_equal(simplified(f, op(f, PRIM_ADD, op(f, PRIM_MUL, num(f, 2), num(f, 3)), num(f, 1))), "7.0");
    assert_string_equal(simplified(f, op(f, PRIM_INT_ADD, whole(f, INT64_MAX), whole(f, 1))), "-9223372036854775808");
    assert_string_equal(simplified(f, op(f, PRIM_LT, num(f, 1), num(f, 2))), "True");
    CtCore *kept[] = {op(f, PRIM_ADD, var(f, x), num(f, 0.0)), op(f, PRIM_MUL, var(f, x), num(f, 0)),
                      op(f, PRIM_SUB, var(f, x), num(f, -0.0)), op(f, PRIM_SCALE, var(f, x), num(f, 1))};
    CtCore *gone[] = {op(f, PRIM_ADD, var(f, x), num(f, -0.0)), op(f, PRIM_MUL, num(f, 1), var(f, x)),
                      op(f, PRIM_SUB, var(f, x), num(f, 0.0))};
    for (uint32_t i = 0; i < COUNT(kept); i++) assert_int_equal(ct_core_simplify_term(f->p, kept[i])->kind, CORE_PRIM);
    for (uint32_t i = 0; i < COUNT(gone); i++) assert_int_equal(ct_core_simplify_term(f->p, gone[i])->kind, CORE_VAR);
    assert_string_equal(simplified(f, op(f, PRIM_SCALE, var(f, x), num(f, -0.0))), "-0.0");
    assert_string_equal(simplified(f, op(f, PRIM_INT_DIV, whole(f, 1), whole(f, 0))), "intDiv 1 0");
}

static void a_lambda_around_a_function_is_the_function(void **state) {
    Fixture *f = *state;
    CtType *unary = ct_core_type_fun(f->p, &f->real, 1, f->real);
    CtVar *g = variable(f, "g", unary), *x = variable(f, "x", f->real), *y = variable(f, "y", f->real);
    assert_string_equal(simplified(f, lam1(f, g, pair(f, num(f, 1), lam1(f, x, app1(f, var(f, g), var(f, x)))))),
                        "λg. (1.0, g)");
    assert_string_equal(simplified(f, pair(f, num(f, 1), lam1(f, y, opaque(f, var(f, y))))), "(1.0, opaque)");
}

static void local_functions_called_once_are_put_there(void **state) {
    Fixture *f = *state;
    CtType *none = ct_core_type_fun(f->p, NULL, 0, f->real);
    CtVar *join = variable(f, "join", none), *x = variable(f, "x", f->real);
    CtCore *call = ct_core_app(f->p, AT, var(f, join), NULL, 0);
    CtCore *choice = ct_core_if(f->p, AT, op(f, PRIM_LT, var(f, x), num(f, 0)), num(f, 1), call);
    CtCore *term = let(f, join, ct_core_lam(f->p, AT, NULL, NULL, 0, opaque(f, var(f, x))), choice);
    assert_string_equal(simplified(f, lam1(f, x, term)), "λx. if x < 0.0 then 1.0 else opaque x");
}

static void a_group_that_does_not_recurse_is_a_let(void **state) {
    Fixture *f = *state;
    CtType *unary = ct_core_type_fun(f->p, &f->real, 1, f->real);
    CtVar *g = variable(f, "g", unary), *x = variable(f, "x", f->real), *a = variable(f, "a", f->real);
    CtBind bind = {g, lam1(f, x, op(f, PRIM_ADD, var(f, x), num(f, 1)))};
    CtCore *term = ct_core_letrec(f->p, AT, &bind, 1, app1(f, var(f, g), var(f, a)));
    assert_string_equal(simplified(f, lam1(f, a, term)), "λa. a + 1.0");
}

/* foldr f z xs = case xs of { [] → z; y : ys → f y (foldr f z ys) }, with f : (Double, Double) → Double */
static CtGlobal *make_foldr(Fixture *f) {
    CtType *binary = ct_core_type_fun(f->p, (CtType *[]){f->real, f->real}, 2, f->real);
    CtType *type = ct_core_type_fun(f->p, (CtType *[]){binary, f->real, f->list}, 3, f->real);
    CtGlobal *foldr = ct_core_global_new(f->p, "foldr", type, AT);
    CtVar *fun = variable(f, "f", binary), *z = variable(f, "z", f->real), *xs = variable(f, "xs", f->list);
    CtVar *y = variable(f, "y", f->real), *ys = variable(f, "ys", f->list);
    CtCore *again[] = {var(f, fun), var(f, z), var(f, ys)};
    CtCore *args[] = {var(f, y), ct_core_app(f->p, AT, ct_core_global(f->p, AT, foldr), again, 3)};
    CtCore *step = ct_core_app(f->p, AT, var(f, fun), args, 2);
    CtVar *params[] = {fun, z, xs};
    foldr->body = ct_core_lam(f->p, AT, "foldr", params, 3, case_list(f, var(f, xs), var(f, z), y, ys, step));
    return foldr;
}

/* name l k = foldr (λa b. a × k + b) 0 l */
static CtGlobal *make_folding(Fixture *f, const char *name, CtGlobal *foldr) {
    CtVar *l = variable(f, "l", f->list), *k = variable(f, "k", f->real);
    CtVar *a = variable(f, "a", f->real), *b = variable(f, "b", f->real), *ab[] = {a, b};
    CtCore *first = op(f, PRIM_MUL, var(f, a), var(f, k));
    CtCore *fun = ct_core_lam(f->p, AT, NULL, ab, 2, op(f, PRIM_ADD, first, var(f, b)));
    CtCore *args[] = {fun, num(f, 0), var(f, l)};
    CtVar *params[] = {l, k};
    CtCore *call = ct_core_app(f->p, AT, ct_core_global(f->p, AT, foldr), args, 3);
    return global(f, name, ct_core_lam(f->p, AT, name, params, 2, call));
}

static CtGlobal *find_global(Fixture *f, const char *name) {
    for (uint32_t i = 0; i < f->p->globals.count; i++)
        if (strcmp(f->p->globals.items[i]->name->text, name) == 0) return f->p->globals.items[i];
    fail_msg("there is no %s", name);
    return NULL;
}

static void a_function_that_is_passed_on_is_put_into_a_copy(void **state) {
    Fixture *f = *state;
    CtGlobal *g = make_folding(f, "g", make_foldr(f));
    ct_core_simplify(f->p);
    assert_null(ct_core_lint(f->p));
    assert_string_equal(print_global(f, g), "g : ([Double], Double) → Double\ng l k = foldr{λ1} 0.0 l k\n");
    assert_string_equal(print_global(f, find_global(f, "foldr{λ1}")),
                        "foldr{λ1} : (Double, [Double], Double) → Double\n"
                        "foldr{λ1} z xs k = case xs of\n"
                        "  [] → z\n"
                        "  y : ys →\n"
                        "    let b = foldr{λ1} z ys k in\n"
                        "    y × k + b\n");
}

static void a_global_that_is_passed_on_is_put_into_one_copy(void **state) {
    Fixture *f = *state;
    CtGlobal *foldr = make_foldr(f);
    CtVar *a = variable(f, "a", f->real), *b = variable(f, "b", f->real), *ab[] = {a, b};
    CtCore *body = op(f, PRIM_ADD, opaque(f, var(f, a)), opaque(f, opaque(f, var(f, b))));
    for (int i = 0; i < 8; i++) body = op(f, PRIM_MUL, body, opaque(f, num(f, i)));
    CtGlobal *plus = global(f, "plus", ct_core_lam(f->p, AT, "plus", ab, 2, body));
    for (int i = 0; i < 2; i++) {
        CtVar *l = variable(f, "l", f->list);
        CtCore *args[] = {ct_core_global(f->p, AT, plus), num(f, i), var(f, l)};
        CtCore *call = ct_core_app(f->p, AT, ct_core_global(f->p, AT, foldr), args, 3);
        global(f, i == 0 ? "first" : "second", lam1(f, l, call));
    }
    ct_core_simplify(f->p);
    assert_null(ct_core_lint(f->p));
    assert_non_null(strstr(print_global(f, find_global(f, "first")), "first l = foldr{plus} 0.0 l"));
    assert_non_null(strstr(print_global(f, find_global(f, "second")), "second l = foldr{plus} 1.0 l"));
    assert_non_null(strstr(print_global(f, find_global(f, "foldr{plus}")), "plus y (foldr{plus} z ys)"));
}

/* ---- what stays ---- */

static void what_may_fail_or_not_end_stays(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *n = variable(f, "n", f->integer), *y = variable(f, "y", f->real);
    CtCore *call = let(f, x, opaque(f, num(f, 1)), num(f, 2));
    assert_string_equal(simplified(f, call), "let x = opaque 1.0 in\n2.0");
    CtCore *division = let(f, n, op(f, PRIM_INT_DIV, whole(f, 1), whole(f, 0)), num(f, 2));
    assert_string_equal(simplified(f, division), "let n = intDiv 1 0 in\n2.0");
    CtCore *failing = let(f, y, failure(f, f->real, "first"), failure(f, f->real, "second"));
    assert_string_equal(simplified(f, failing), "fail E0503 \"first\"");
}

static void the_order_of_failures_stays(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real);
    CtCore *term =
        let(f, x, opaque(f, num(f, 1)), let(f, y, opaque(f, num(f, 2)), op(f, PRIM_SUB, var(f, y), var(f, x))));
    assert_string_equal(simplified(f, term), "let x = opaque 1.0 in\nopaque 2.0 - x");
    CtVar *p = variable(f, "p", f->real);
    CtCore *component = ct_core_proj(f->p, AT, pair(f, var(f, p), num(f, 3)), 1);
    assert_string_equal(simplified(f, let(f, p, opaque(f, num(f, 1)), component)), "let p = opaque 1.0 in\n3.0");
}

static void work_is_not_repeated_under_a_lambda(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real), *a = variable(f, "a", f->real);
    CtCore *inner = lam1(f, y, op(f, PRIM_ADD, var(f, x), var(f, y)));
    CtCore *term = lam1(f, a, let(f, x, op(f, PRIM_MUL, var(f, a), var(f, a)), inner));
    assert_string_equal(simplified(f, term), "λa. let x = a × a in λy. x + y");
}

/* `let b = snd s` moved behind an update of b would keep s, and with it b, alive: b would be copied. */
static void projections_do_not_move_behind_what_follows(void **state) {
    Fixture *f = *state;
    CtType *array = ct_core_type_array(f->p, f->real);
    CtVar *s = variable(f, "s", ct_core_type_pair(f->p, f->real, array)), *a = variable(f, "a", f->real);
    CtVar *b = variable(f, "b", array), *c = variable(f, "c", array);
    CtCore *update[] = {var(f, b), whole(f, 0), num(f, 1)};
    CtCore *end = pair(f, var(f, c), var(f, a));
    CtCore *term = let(f, a, ct_core_proj(f->p, AT, var(f, s), 0),
                       let(f, b, ct_core_proj(f->p, AT, var(f, s), 1),
                           let(f, c, ct_core_array(f->p, AT, ARRAY_UPDATE, update, 3), end)));
    assert_non_null(strstr(simplified(f, lam1(f, s, term)), "let a = fst s in"));
}

static void lambdas_with_an_origin_and_what_they_capture_stay(void **state) {
    Fixture *f = *state;
    CtVar *a = variable(f, "a", f->real), *b = variable(f, "b", f->real), *c = variable(f, "c", f->real);
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real);
    CtCore *origin = lam1(f, y, var(f, y));
    CtCore *body = op(f, PRIM_ADD, op(f, PRIM_ADD, var(f, a), var(f, b)), op(f, PRIM_MUL, var(f, x), num(f, 1)));
    CtCore *lam = lam1(f, x, body);
    lam->as.lam->origin = origin->as.lam;
    CtCore *term = lam1(f, c, let(f, a, var(f, c), let(f, b, var(f, c), pair(f, num(f, 1), lam))));
    CtCore *simple = ct_core_simplify_term(f->p, term);
    assert_string_equal(print(f, simple), "λc.\n  let a = c in\n  let b = c in\n  (1.0, λx. a + b + x × 1.0)");
    ct_core_captures(f->p, lam->as.lam);
    assert_int_equal(lam->as.lam->capture_count, 2);
}

static void old_terms_are_not_changed(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real), *y = variable(f, "y", f->real), *a = variable(f, "a", f->real);
    CtCore *term =
        lam1(f, a, app1(f, lam1(f, x, let(f, y, var(f, x), op(f, PRIM_MUL, var(f, y), var(f, x)))), num(f, 3)));
    const char *before = print(f, term);
    assert_string_equal(simplified(f, term), "λa. 9.0");
    assert_string_equal(print(f, term), before);
}

/* ---- size ---- */

static void long_chains_simplify_in_a_loop(void **state) {
    Fixture *f = *state;
    enum { LENGTH = 50000 };
    CtVar *a = variable(f, "a", f->real), *last = a;
    CtVar **vars = CT_NEW_ARRAY(f->arena, CtVar *, LENGTH);
    for (int i = 0; i < LENGTH; i++) vars[i] = variable(f, "v", f->real);
    last = vars[LENGTH - 1];
    CtCore *term = var(f, last);
    for (int i = LENGTH - 1; i >= 0; i--) {
        CtVar *before = i == 0 ? a : vars[i - 1];
        term =
            let(f, vars[i], i % 2 == 0 ? op(f, PRIM_ADD, var(f, before), num(f, 1)) : opaque(f, var(f, before)), term);
    }
    CtGlobal *g = global(f, "g", lam1(f, a, term));
    ct_core_simplify(f->p);
    assert_null(ct_core_lint(f->p));
    assert_true(print_global(f, g) != NULL);
}

static void deep_terms_are_left_as_they_are(void **state) {
    Fixture *f = *state;
    CtVar *x = variable(f, "x", f->real);
    CtCore *deep = var(f, x);
    for (int i = 0; i < 8000; i++) deep = op(f, PRIM_ADD, deep, num(f, -0.0));
    CtCore *lam = lam1(f, x, deep);
    assert_ptr_equal(ct_core_simplify_term(f->p, lam), lam);
}

/* ---- random terms keep their meaning ---- */

enum { FUEL = 20000 };

typedef struct Value {
    double real;
    int64_t integer; /* also the constructor's tag */
    struct Value **parts;
    CtLam *lam;
    struct Env *env;
} Value;

typedef struct Env {
    CtVar *var;
    Value *value;
    struct Env *next;
} Env;

typedef struct Machine {
    Fixture *f;
    const char *failed; /* the first failure */
    uint32_t fuel, calls;
} Machine;

static Value *eval(Machine *m, CtCore *core, Env *env);

static Env *extend(Machine *m, Env *env, CtVar *v, Value *value) {
    if (v == NULL) return env;
    Env *more = CT_NEW(m->f->arena, Env);
    *more = (Env){v, value, env};
    return more;
}

static Value *new_value(Machine *m) { return CT_NEW(m->f->arena, Value); }

static Value **eval_args(Machine *m, CtCore *core, Env *env) {
    Value **values = CT_NEW_ARRAY(m->f->arena, Value *, core->as.call.count);
    for (uint32_t i = 0; i < core->as.call.count && m->failed == NULL; i++)
        values[i] = eval(m, core->as.call.args[i], env);
    return values;
}

static Value *eval_app(Machine *m, CtCore *core, Env *env) {
    Value *fun = eval(m, core->as.call.of.fun, env);
    if (m->failed != NULL) return NULL;
    Value **args = eval_args(m, core, env);
    if (m->failed != NULL) return NULL;
    m->calls++;
    Env *inside = fun->env;
    for (uint32_t i = 0; i < fun->lam->count; i++) inside = extend(m, inside, fun->lam->params[i], args[i]);
    return eval(m, fun->lam->body, inside);
}

static Value *eval_prim(Machine *m, CtCore *core, Env *env) {
    Value **args = eval_args(m, core, env);
    if (m->failed != NULL) return NULL;
    Value *result = new_value(m);
    switch ((int)core->as.call.of.prim) {
    case PRIM_LT: result->integer = args[0]->real < args[1]->real; break;
    case PRIM_INT_ADD: result->integer = args[0]->integer + args[1]->integer; break;
    case PRIM_INT_DIV:
        if (args[1]->integer == 0)
            m->failed = "division";
        else
            result->integer = args[0]->integer / args[1]->integer;
        break;
    default:
        result->real = ct_prim_value(core->as.call.of.prim, args[0]->real, core->as.call.count > 1 ? args[1]->real : 0);
    }
    return result;
}

static Value *eval_case(Machine *m, CtCore *core, Env *env) {
    Value *scrutinee = eval(m, core->as.cases.scrutinee, env);
    if (m->failed != NULL) return NULL;
    for (uint32_t i = 0; i < core->as.cases.count; i++) {
        CtCase *c = &core->as.cases.cases[i];
        if (c->con->tag != scrutinee->integer) continue;
        for (uint32_t j = 0; j < c->con->count; j++) env = extend(m, env, c->vars[j], scrutinee->parts[j]);
        return eval(m, c->body, env);
    }
    return eval(m, core->as.cases.otherwise, env);
}

static Value *eval_letrec(Machine *m, CtCore *core, Env *env) {
    uint32_t count = core->as.letrec.count;
    for (uint32_t i = 0; i < count; i++) env = extend(m, env, core->as.letrec.binds[i].var, new_value(m));
    Env *at = env;
    for (uint32_t i = count; i > 0; i--, at = at->next) {
        at->value->lam = core->as.letrec.binds[i - 1].lam->as.lam;
        at->value->env = env;
    }
    return eval(m, core->as.letrec.body, env);
}

static Value *eval(Machine *m, CtCore *core, Env *env) {
    if (m->failed != NULL) return NULL;
    if (m->fuel-- == 0) {
        m->failed = "fuel";
        return NULL;
    }
    Value *value = new_value(m);
    switch (core->kind) {
    case CORE_VAR:
        while (env->var != core->as.var) env = env->next;
        return env->value;
    case CORE_GLOBAL: return eval(m, core->as.global->body, NULL);
    case CORE_LIT:
        value->real = core->as.lit.real;
        value->integer = core->as.lit.integer;
        return value;
    case CORE_LAM:
        value->lam = core->as.lam;
        value->env = env;
        return value;
    case CORE_APP: return eval_app(m, core, env);
    case CORE_LET: {
        Value *rhs = eval(m, core->as.let.rhs, env);
        return eval(m, core->as.let.body, extend(m, env, core->as.let.vars[0], rhs));
    }
    case CORE_UNPACK: {
        Value *rhs = eval(m, core->as.let.rhs, env);
        if (m->failed != NULL) return NULL;
        for (uint32_t i = 0; i < core->as.let.count; i++) env = extend(m, env, core->as.let.vars[i], rhs->parts[i]);
        return eval(m, core->as.let.body, env);
    }
    case CORE_LETREC: return eval_letrec(m, core, env);
    case CORE_TUPLE:
    case CORE_CON:
        value->parts = eval_args(m, core, env);
        value->integer = core->kind == CORE_CON ? core->as.call.of.con->tag : 0;
        return value;
    case CORE_PROJ: {
        Value *tuple = eval(m, core->as.proj.tuple, env);
        return m->failed != NULL ? NULL : tuple->parts[core->as.proj.index];
    }
    case CORE_CASE: return eval_case(m, core, env);
    case CORE_PRIM: return eval_prim(m, core, env);
    case CORE_FAIL: m->failed = core->as.fail.text; return NULL;
    case CORE_STRING:
    case CORE_ARRAY:
    case CORE_ARRAY_LIT:
    case CORE_DERIV:
    case CORE_DUAL: break;
    }
    fail_msg("a form that the random terms do not have");
    return NULL;
}

static bool same(const CtType *type, const Value *a, const Value *b) {
    switch (type->kind) {
    case TYPE_DOUBLE: return memcmp(&a->real, &b->real, sizeof a->real) == 0 || (isnan(a->real) && isnan(b->real));
    case TYPE_FLOAT: return false;
    case TYPE_INT:
    case TYPE_CHAR: return a->integer == b->integer;
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < type->count; i++)
            if (!same(type->parts[i], a->parts[i], b->parts[i])) return false;
        return true;
    case TYPE_DATA: {
        const CtCon *con = &type->data->cons[a->integer];
        if (a->integer != b->integer) return false;
        for (uint32_t i = 0; i < con->count; i++)
            if (!same(con->fields[i], a->parts[i], b->parts[i])) return false;
        return true;
    }
    case TYPE_FUN: return true;
    case TYPE_ARRAY: return false;
    }
    return false;
}

/* ---- making terms ---- */

typedef struct Maker {
    Fixture *f;
    uint64_t seed;
    CT_VEC(CtVar *) scope;
    CtType *types[6];
    CtGlobal *globals[3];
    uint32_t fails;
} Maker;

static uint32_t roll(Maker *k, uint32_t sides) {
    k->seed = k->seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (uint32_t)(k->seed >> 33) % sides;
}

static CtCore *make(Maker *k, CtType *type, uint32_t depth);

static CtVar *open_var(Maker *k, CtType *type) {
    static const char *const names[] = {"x", "y", "z", "u"};
    CtVar *v = variable(k->f, names[roll(k, 4)], type);
    ct_push(k->f->arena, &k->scope, v);
    return v;
}

static CtCore *make_lam(Maker *k, CtType *type, uint32_t depth) {
    uint32_t scope = k->scope.count;
    CtVar *params[4];
    for (uint32_t i = 0; i + 1 < type->count; i++) params[i] = open_var(k, type->parts[i]);
    CtCore *body = make(k, ct_core_type_fun_result(type), depth);
    k->scope.count = scope;
    return ct_core_lam(k->f->p, AT, NULL, params, type->count - 1, body);
}

static CtCore *make_leaf(Maker *k, CtType *type) {
    Fixture *f = k->f;
    for (uint32_t tries = 0; tries < 12 && k->scope.count > 0; tries++) {
        CtVar *v = k->scope.items[roll(k, k->scope.count)];
        if (v->type == type) return var(f, v);
    }
    static const double reals[] = {0.0, -0.0, 1.0, 2.0, -3.5, INFINITY};
    switch (type->kind) {
    case TYPE_DOUBLE: return num(f, reals[roll(k, 6)]);
    case TYPE_INT: return whole(f, (int64_t)roll(k, 3));
    case TYPE_TUPLE: return pair(f, make_leaf(k, type->parts[0]), make_leaf(k, type->parts[1]));
    case TYPE_DATA: return type == f->boolean ? ct_core_bool(f->p, AT, roll(k, 2)) : empty(f);
    case TYPE_FUN: return make_lam(k, type, 0);
    case TYPE_FLOAT:
    case TYPE_CHAR:
    case TYPE_ARRAY: break;
    }
    return NULL;
}

static CtCore *make_own(Maker *k, CtType *type, uint32_t depth) {
    Fixture *f = k->f;
    static const CtPrim prims[] = {PRIM_ADD, PRIM_SUB, PRIM_MUL, PRIM_DIV, PRIM_SCALE, PRIM_MAX};
    if (type == f->real) {
        CtPrim prim = prims[roll(k, 6)];
        CtCore *a = make(k, type, depth), *b = make(k, type, depth);
        return op(f, prim, a, b);
    }
    if (type == f->integer) {
        CtPrim prim = roll(k, 3) == 0 ? PRIM_INT_DIV : PRIM_INT_ADD;
        CtCore *a = make(k, type, depth), *b = make(k, type, depth);
        return op(f, prim, a, b);
    }
    if (type == f->boolean) {
        CtCore *a = make(k, f->real, depth), *b = make(k, f->real, depth);
        return op(f, PRIM_LT, a, b);
    }
    if (type == f->list) {
        CtCore *a = make(k, f->real, depth), *b = make(k, f->list, depth);
        return list(f, a, b);
    }
    if (type->kind == TYPE_FUN) return make_lam(k, type, depth);
    CtCore *a = make(k, type->parts[0], depth), *b = make(k, type->parts[1], depth);
    return pair(f, a, b);
}

static CtCore *make_case(Maker *k, CtType *type, uint32_t depth) {
    Fixture *f = k->f;
    if (roll(k, 2) == 0) {
        CtCore *condition = make(k, f->boolean, depth);
        CtCore *yes = make(k, type, depth), *no = make(k, type, depth);
        return ct_core_if(f->p, AT, condition, yes, no);
    }
    CtCore *scrutinee = make(k, f->list, depth), *none = make(k, type, depth);
    uint32_t scope = k->scope.count;
    CtVar *x = roll(k, 4) == 0 ? NULL : open_var(k, f->real), *xs = roll(k, 4) == 0 ? NULL : open_var(k, f->list);
    CtCore *some = make(k, type, depth);
    k->scope.count = scope;
    return case_list(f, scrutinee, none, x, xs, some);
}

static CtCore *make_binding(Maker *k, CtType *type, uint32_t depth) {
    Fixture *f = k->f;
    uint32_t scope = k->scope.count;
    CtType *bound = k->types[roll(k, 6)];
    if (roll(k, 4) == 0) {
        CtType *tuple = k->types[4];
        CtCore *rhs = make(k, tuple, depth);
        CtVar *vars[2];
        for (int i = 0; i < 2; i++) vars[i] = roll(k, 5) == 0 ? NULL : open_var(k, tuple->parts[i]);
        CtCore *body = make(k, type, depth);
        k->scope.count = scope;
        return ct_core_unpack(f->p, AT, vars, 2, rhs, body);
    }
    if (bound->kind == TYPE_FUN && roll(k, 2) == 0) { /* may recurse: fuel ends it */
        CtVar *v = open_var(k, bound);
        CtBind bind = {v, make_lam(k, bound, depth)};
        CtCore *body = make(k, type, depth);
        k->scope.count = scope;
        return ct_core_letrec(f->p, AT, &bind, 1, body);
    }
    CtCore *rhs = make(k, bound, depth);
    CtVar *v = open_var(k, bound);
    CtCore *body = make(k, type, depth);
    k->scope.count = scope;
    return let(f, v, rhs, body);
}

static CtCore *make_call(Maker *k, CtType *type, uint32_t depth) {
    Fixture *f = k->f;
    if (type == f->real && roll(k, 2) == 0) {
        CtCore *g = ct_core_global(f->p, AT, k->globals[roll(k, 3)]);
        return app1(f, g, make(k, f->real, depth));
    }
    if (type == f->real && roll(k, 2) == 0) {
        CtCore *tuple = make(k, k->types[4], depth);
        return ct_core_proj(f->p, AT, tuple, 0);
    }
    CtType *fun_type = ct_core_type_fun(f->p, &f->real, 1, type);
    CtCore *fun = make(k, fun_type, depth), *arg = make(k, f->real, depth);
    return app1(f, fun, arg);
}

static CtCore *make(Maker *k, CtType *type, uint32_t depth) {
    if (depth == 0) return make_leaf(k, type);
    depth--;
    switch (roll(k, 12)) {
    case 0: return make_leaf(k, type);
    case 1:
    case 2: return make_case(k, type, depth);
    case 3:
    case 4:
    case 5:
    case 6: return make_binding(k, type, depth);
    case 7:
    case 8: return make_call(k, type, depth);
    case 9:
        if (roll(k, 6) == 0) return failure(k->f, type, ct_format(k->f->arena, "failure %u", k->fails++));
        return make_own(k, type, depth);
    default: return make_own(k, type, depth);
    }
}

static Value *run(Fixture *f, CtCore *core, Machine *m) {
    *m = (Machine){.f = f, .fuel = FUEL};
    Value *value = eval(m, core, NULL);
    return m->failed != NULL ? NULL : value;
}

typedef struct Tally {
    uint32_t values, failures, fewer_calls;
} Tally;

static void check_one(uint64_t seed, Tally *tally) {
    void *state = NULL;
    set_up(&state);
    Fixture *f = state;
    Maker k = {.f = f, .seed = seed * 77777 + 1};
    CtType *types[] = {f->real,
                       f->integer,
                       f->boolean,
                       f->list,
                       ct_core_type_pair(f->p, f->real, f->list),
                       ct_core_type_fun(f->p, &f->real, 1, f->real)};
    memcpy(k.types, types, sizeof types);
    for (int i = 0; i < 3; i++) k.globals[i] = ct_core_global_new(f->p, ct_format(f->arena, "g%d", i), types[5], AT);
    for (int i = 0; i < 3; i++) k.globals[i]->body = make_lam(&k, types[5], 1 + (uint32_t)i);
    CtGlobal *whole_term = global(f, "main", make(&k, types[roll(&k, 5)], 7));
    const char *fault = ct_core_lint(f->p);
    if (fault != NULL) fail_msg("seed %llu: the maker is wrong: %s", (unsigned long long)seed, fault);
    Machine before, after;
    Value *wanted = run(f, whole_term->body, &before);
    const char *text = print_global(f, whole_term);
    ct_core_simplify(f->p);
    fault = ct_core_lint(f->p);
    if (fault != NULL)
        fail_msg("seed %llu: %s\n%s\n⟶\n%s", (unsigned long long)seed, fault, text, print_global(f, whole_term));
    if (before.failed == NULL || strcmp(before.failed, "fuel") != 0) {
        Value *found = run(f, whole_term->body, &after);
        bool failed_alike = before.failed == NULL ? after.failed == NULL
                                                  : after.failed != NULL && strcmp(before.failed, after.failed) == 0;
        if (!failed_alike || (wanted != NULL && !same(whole_term->type, wanted, found)))
            fail_msg("seed %llu: %s, then %s\n%s\n⟶\n%s", (unsigned long long)seed, before.failed, after.failed, text,
                     print_global(f, whole_term));
        if (after.calls > before.calls)
            fail_msg("seed %llu: %u calls, then %u", (unsigned long long)seed, before.calls, after.calls);
        tally->values += wanted != NULL;
        tally->failures += wanted == NULL;
        tally->fewer_calls += after.calls < before.calls;
    }
    tear_down(&state);
}

static void random_terms_keep_value_failure_and_number_of_calls(void **state) {
    (void)state;
    Tally tally = {0};
    const char *count = getenv("COTAN_RANDOM_TERMS");
    uint64_t seeds = count != NULL ? strtoull(count, NULL, 10) : 3000;
    for (uint64_t seed = 0; seed < seeds; seed++) check_one(seed, &tally);
    assert_true(tally.values > seeds / 3 && tally.failures > seeds / 20 && tally.fewer_calls > seeds / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(applied_lambdas_and_used_once_bindings_go),
        TEST(small_globals_are_inlined_also_through_each_other),
        TEST(functions_that_call_each_other_are_not_unrolled),
        TEST(known_constructions_are_taken_apart),
        TEST(a_tuple_that_is_bound_is_unpacked),
        TEST(a_variable_is_not_taken_apart_twice),
        TEST(conditions_made_of_conditions_are_one_decision),
        TEST(arithmetic_on_literals_is_done_and_identities_hold_in_every_bit),
        TEST(a_lambda_around_a_function_is_the_function),
        TEST(local_functions_called_once_are_put_there),
        TEST(a_group_that_does_not_recurse_is_a_let),
        TEST(a_function_that_is_passed_on_is_put_into_a_copy),
        TEST(a_global_that_is_passed_on_is_put_into_one_copy),
        TEST(what_may_fail_or_not_end_stays),
        TEST(the_order_of_failures_stays),
        TEST(work_is_not_repeated_under_a_lambda),
        TEST(projections_do_not_move_behind_what_follows),
        TEST(lambdas_with_an_origin_and_what_they_capture_stay),
        TEST(old_terms_are_not_changed),
        TEST(long_chains_simplify_in_a_loop),
        TEST(deep_terms_are_left_as_they_are),
        cmocka_unit_test(random_terms_keep_value_failure_and_number_of_calls),
    };
    return cmocka_run_group_tests_name("simplify", tests, NULL, NULL);
}
