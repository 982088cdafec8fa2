/* BULK 2025: a function is differentiated once for the shapes of its arguments, and the gradient program is run as
 * often as wanted: counted in differentiations and in steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "session/session.h"

static const char *const text =
    "loss :: Array Double -> Double\n"
    "loss xs = sum (zipWith (\\x i -> (x - fromIntegral i) * (x - fromIntegral i)) xs (iota (length xs)))\n"
    "\n"
    "descend :: Int -> Array Double -> Array Double\n"
    "descend n xs = if n == 0 then xs else descend (n - 1) (zipWith (\\x g -> x - 0.5 * g) xs (grad loss xs))\n"
    "\n"
    "-- Recursion on data is outside of the fragment; the loss at its leaves is inside.\n"
    "data Tree = Leaf (Array Double) | Node Tree Tree\n"
    "\n"
    "slope :: Tree -> Double\n"
    "slope (Leaf xs) = sum (grad loss xs)\n"
    "slope (Node l r) = slope l * slope r\n"
    "\n"
    "-- Of every length up to n.\n"
    "lengths :: Int -> Double\n"
    "lengths n = sum (map (\\k -> sum (grad loss (replicate k 1))) (iota n))\n"
    "\n"
    "curved :: Array Double -> Array Double\n"
    "curved xs = hvp loss xs xs\n";

typedef struct Program {
    cotan_context *context;
    cotan_program *program;
} Program;

static Program load(void) {
    Program p = {.context = cotan_open(NULL)};
    assert_non_null(p.context);
    cotan_error *error = cotan_load(p.context, "runs.cot", text, strlen(text), &p.program);
    if (error != NULL) fail_msg("%s", cotan_error_text(error, false, false));
    return p;
}

static cotan_result call(const Program *p, cotan_mode mode, const char *function, const char *at) {
    cotan_call call = {.mode = mode, .function = function, .at = at, .method = "bulk"};
    cotan_result result;
    cotan_error *error = cotan_call_json(p->program, &call, &result);
    if (error != NULL) fail_msg("%s", cotan_error_text(error, false, false));
    return result;
}

/* Of the session that was used last. */
static uint32_t differentiations(const Program *p) { return ct_bulk_count(p->program->sessions->build->ad); }

/* evidence: BULK §7, once: differentiations, counted */
static void bulk_one_differentiation_many_runs(void **state) {
    (void)state;
    Program p = load();
    cotan_result first = call(&p, COTAN_GRAD, "loss", "[1, 1, 1]");
    assert_string_equal(first.derivative, "[2,0,-2]");
    assert_int_equal(differentiations(&p), 1);
    uint64_t steps = first.steps;
    cotan_result second = call(&p, COTAN_GRAD, "loss", "[0, 5, 2]");
    assert_string_equal(second.derivative, "[0,8,0]");
    assert_int_equal(differentiations(&p), 1);
    assert_int_equal(second.steps, steps);
    call(&p, COTAN_GRAD, "loss", "[1, 1, 1, 1]"); /* other shapes */
    assert_int_equal(differentiations(&p), 2);
    call(&p, COTAN_GRAD, "loss", "[3, 2, 1]"); /* those from before */
    assert_int_equal(differentiations(&p), 2);
    cotan_close(p.context);
}

/* evidence: BULK §7, once: in a loop of the program */
static void bulk_a_loop_of_gradients_is_differentiated_once(void **state) {
    (void)state;
    Program p = load();
    cotan_result few = call(&p, COTAN_RUN, "descend", "[10, [9, 9]]");
    uint64_t steps = few.steps;
    assert_int_equal(differentiations(&p), 1);
    cotan_result many = call(&p, COTAN_RUN, "descend", "[1010, [9, 9]]");
    assert_string_equal(many.value, "[0,1]");
    assert_int_equal(differentiations(&p), 1);
    cotan_result more = call(&p, COTAN_RUN, "descend", "[2010, [9, 9]]");
    assert_int_equal(differentiations(&p), 1);
    assert_int_equal(more.steps - many.steps, many.steps - steps); /* every step of the descent costs the same */
    cotan_close(p.context);
}

static void bulk_inside_a_program_outside_its_fragment(void **state) {
    (void)state;
    Program p = load();
    const char *at = "[{\"Node\": [{\"Node\": [{\"Leaf\": [[1, 3]]}, {\"Leaf\": [[2, 5]]}]}, {\"Leaf\": [[4]]}]}]";
    cotan_result result = call(&p, COTAN_RUN, "slope", at);
    assert_string_equal(result.value, "576");  /* (2 + 4) · (4 + 8) · 8 */
    assert_int_equal(differentiations(&p), 2); /* for lengths 2 and 1 */
    cotan_close(p.context);
}

static void bulk_tangents_are_differentiated_once_too(void **state) {
    (void)state;
    Program p = load();
    cotan_result result = call(&p, COTAN_RUN, "curved", "[[1, 2, 3]]");
    assert_string_equal(result.value, "[2,4,6]");
    assert_int_equal(differentiations(&p), 1);
    call(&p, COTAN_RUN, "curved", "[[3, 2, 1]]");
    assert_int_equal(differentiations(&p), 1);
    cotan_close(p.context);
}

/* A session that met very many shapes begins again. */
static void bulk_kept_derivatives_are_bounded(void **state) {
    (void)state;
    Program p = load();
    size_t largest = 0;
    for (int round = 0; round < 4; round++) {
        call(&p, COTAN_RUN, "lengths", "[300]");
        size_t bytes = ct_arena_bytes(p.program->sessions->build->arena);
        if (bytes > largest) largest = bytes;
        assert_int_equal(differentiations(&p), 300);
        call(&p, COTAN_RUN, "lengths", "[600]");
        assert_int_equal(differentiations(&p), 600);
    }
    assert_true(ct_arena_bytes(p.program->sessions->build->arena) < 3 * largest);
    cotan_close(p.context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bulk_one_differentiation_many_runs),
        cmocka_unit_test(bulk_a_loop_of_gradients_is_differentiated_once),
        cmocka_unit_test(bulk_inside_a_program_outside_its_fragment),
        cmocka_unit_test(bulk_tangents_are_differentiated_once_too),
        cmocka_unit_test(bulk_kept_derivatives_are_bounded),
    };
    return cmocka_run_group_tests_name("bulk_runs", tests, NULL, NULL);
}
