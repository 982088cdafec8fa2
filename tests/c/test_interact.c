/* Working on a program piece by piece, as at a prompt: definitions, expressions, their types, names; errors, limits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cotan.h"

static const char *const model = "square :: Double -> Double\n"
                                 "square x = x * x\n"
                                 "area x y = x * square y\n"
                                 "data Shape = Circle Double | Dot deriving (Eq, Show)\n"
                                 "forever :: Int -> Int\n"
                                 "forever n = forever (n + 1)\n";

static cotan_context *open_with(cotan_limits limits) {
    cotan_context *context = cotan_open(&limits);
    assert_non_null(context);
    cotan_check_passes(context, 1);
    return context;
}

static cotan_program *load(cotan_context *context, const char *text) {
    cotan_program *program = NULL;
    cotan_error *error = cotan_load(context, "model.cot", text, strlen(text), &program);
    if (error != NULL) fail_msg("%s", cotan_error_text(error, false, false));
    return program;
}

static const char *define(cotan_program *p, const char *text) {
    bool is_expression;
    const char *types;
    cotan_error *error = cotan_define(p, text, &is_expression, &types);
    if (error != NULL) fail_msg("%s", cotan_error_text(error, false, false));
    assert_false(is_expression);
    return types;
}

static cotan_result evaluate(cotan_program *p, const char *expression, const char *bind) {
    cotan_call call = {.mode = COTAN_RUN, .expression = expression, .bind = bind, .quotes = true};
    cotan_result result;
    cotan_error *error = cotan_call_json(p, &call, &result);
    if (error != NULL) fail_msg("%s", cotan_error_text(error, false, false));
    return result;
}

static void assert_value(cotan_program *p, const char *expression, const char *shown) {
    cotan_result result = evaluate(p, expression, NULL);
    assert_string_equal(result.value_text, shown);
}

static void assert_fails(cotan_error *error, const char *code, const char *file, int line, int column) {
    assert_non_null(error);
    assert_string_equal(cotan_error_code(error, 0), code);
    if (file == NULL) {
        assert_null(cotan_error_file(error, 0));
        return;
    }
    assert_string_equal(cotan_error_file(error, 0), file);
    assert_int_equal(cotan_error_line(error, 0), line);
    assert_int_equal(cotan_error_column(error, 0), column);
}

static cotan_error *try_to_define(cotan_program *p, const char *text) {
    bool is_expression;
    const char *types;
    cotan_error *error = cotan_define(p, text, &is_expression, &types);
    assert_null(types);
    return error;
}

static void expressions_see_the_program(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    assert_value(p, "square 3 + 1", "10.0");
    assert_value(p, "[Circle 1, Dot]", "[Circle 1.0,Dot]");
    cotan_result result = evaluate(p, "\"a\\n\"", NULL);
    assert_string_equal(result.value_text, "\"a\\n\"");
    assert_string_equal(result.value, "\"a\\n\"");
    cotan_call plain = {.mode = COTAN_RUN, .expression = "\"a\\n\""};
    assert_null(cotan_call_json(p, &plain, &result));
    assert_string_equal(result.value_text, "a\n");
    cotan_close(context);
}

static void expressions_have_derivatives_in_every_mode(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    static const struct {
        cotan_call call;
        const char *value, *derivative;
    } cases[] = {
        {{.mode = COTAN_RUN, .expression = "area 2", .at = "[3]"}, "18", NULL},
        {{.mode = COTAN_GRAD, .expression = "\\x -> square x * x", .at = "2"}, "8", "12"},
        {{.mode = COTAN_GRAD, .expression = "area", .at = "[2, 3]"}, "18", "[9,12]"},
        {{.mode = COTAN_GRAD, .expression = "area", .at = "[2, 3]", .count = true}, "18", "[9,12]"},
        {{.mode = COTAN_GRAD, .expression = "area", .point = "(2, square 3 - 6)"}, "18", "[9,12]"},
        {{.mode = COTAN_GRAD, .expression = "area", .point = "(2, 3)", .method = "forward"}, "18", "[9,12]"},
        {{.mode = COTAN_GRAD, .expression = "area", .point = "(2, 3)", .count = true}, "18", "[9,12]"},
        {{.mode = COTAN_JACOBIAN, .expression = "\\x -> [x, square x]", .point = "3"}, "[3,9]", "[1,6]"},
        {{.mode = COTAN_JVP, .expression = "square", .at = "3", .with = "10"}, "9", "60"},
        {{.mode = COTAN_VJP, .expression = "square", .at = "3", .with = "10"}, "9", "60"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cotan_result result;
        cotan_error *error = cotan_call_json(p, &cases[i].call, &result);
        if (error != NULL) fail_msg("case %zu: %s", i, cotan_error_text(error, false, false));
        assert_string_equal(result.value, cases[i].value);
        if (cases[i].derivative != NULL) assert_string_equal(result.derivative, cases[i].derivative);
        if (cases[i].call.count && cases[i].call.at != NULL) assert_true(result.primal_steps > 0);
    }
    cotan_close(context);
}

static void errors_point_into_the_input(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    cotan_result result;
    cotan_call call = {.mode = COTAN_RUN, .expression = "square\n  nosuch"};
    assert_fails(cotan_call_json(p, &call, &result), "E0302", "<input>", 2, 3);
    call.expression = "1 +";
    assert_fails(cotan_call_json(p, &call, &result), "E0201", "<input>", 1, 4);
    call.expression = "[|1|] ! 1";
    assert_fails(cotan_call_json(p, &call, &result), "E0501", "<input>", 1, 1);
    call = (cotan_call){.mode = COTAN_GRAD, .expression = "3", .at = "1"};
    assert_fails(cotan_call_json(p, &call, &result), "E0405", "<input>", 1, 1);
    call = (cotan_call){.mode = COTAN_GRAD, .expression = "square"};
    assert_fails(cotan_call_json(p, &call, &result), "E0701", NULL, 0, 0);
    call = (cotan_call){.mode = COTAN_GRAD, .expression = "square", .point = "True"};
    assert_fails(cotan_call_json(p, &call, &result), "E0301", "<input>", 1, 1);
    const char *type;
    assert_fails(cotan_type_of(p, "square True", &type), "E0301", "<input>", 1, 8);
    assert_null(type);
    assert_fails(cotan_type_of(p, "f x = 1", &type), "E0206", "<input>", 1, 5);
    assert_value(p, "square 2", "4.0");
    cotan_close(context);
}

static void definitions_are_added(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    assert_string_equal(define(p, "cube x = x * square x"), "cube :: Double -> Double\n");
    assert_value(p, "cube 2", "8.0");
    assert_string_equal(define(p, "let twice f x = f (f x)\n    four = twice square 2"),
                        "twice :: (a -> a) -> a -> a\nfour :: Double\n");
    assert_value(p, "twice cube 1 + four", "17.0");
    assert_string_equal(define(p, "data Pair a = Pair { left :: a, right :: a } deriving Show"),
                        "left :: Pair a -> a\nright :: Pair a -> a\n");
    assert_value(p, "(Pair 1 2) { left = 3 }", "Pair {left = 3, right = 2}");
    assert_string_equal(define(p, "class Sized a where size :: a -> Int\ninstance Sized Shape where size _ = 1"),
                        "size :: Sized a => a -> Int\n");
    assert_value(p, "size Dot", "1");
    define(p, "instance Sized a => Sized [a] where size xs = sum (map size xs)");
    assert_value(p, "size [Dot, Circle 1]", "2");
    define(p, "infixr 5 <+>\na <+> b = a - b");
    assert_value(p, "1 <+> 2 <+> 3", "2");
    assert_string_equal(define(p, "-- nothing"), "");
    assert_string_equal(define(p, "import Data.List"), "");
    cotan_call call = {.mode = COTAN_GRAD, .function = "cube", .at = "2"};
    cotan_result result;
    assert_null(cotan_call_json(p, &call, &result));
    assert_string_equal(result.derivative, "12");
    cotan_close(context);
}

static void a_later_definition_hides_and_the_earlier_keeps_its_meaning(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    cotan_call call = {.mode = COTAN_RUN, .function = "square", .at = "[3]"};
    cotan_result result;
    assert_null(cotan_call_json(p, &call, &result));
    assert_string_equal(result.value, "9");
    define(p, "square x = x + 1");
    assert_null(cotan_call_json(p, &call, &result)); /* not what was built before */
    assert_string_equal(result.value, "4");
    assert_value(p, "area 1 3", "9.0");
    define(p, "data Shape = Triangle deriving (Eq, Show)");
    assert_value(p, "(Circle 1, Triangle)", "(Circle 1.0,Triangle)");
    define(p, "square = square'\n  where square' = Triangle");
    assert_value(p, "square", "Triangle");
    const char *types;
    assert_null(cotan_types(p, NULL, &types));
    assert_non_null(strstr(types, "square :: Shape\n"));
    assert_null(strstr(types, "square :: Double"));
    cotan_close(context);
}

static void a_definition_with_an_error_leaves_the_program_as_it_was(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    define(p, "f x = square x");
    assert_fails(try_to_define(p, "f x = True + x"), "E0306", "<input>", 1, 7);
    assert_fails(try_to_define(p, "f x = "), "E0201", "<input>", 1, 6);
    assert_fails(try_to_define(p, "data ="), "E0206", "<input>", 1, 6);
    assert_fails(try_to_define(p, "import Nosuch"), "E0320", "<input>", 1, 8);
    assert_fails(try_to_define(p, "g x = nosuch\nh y = f y"), "E0302", "<input>", 1, 7);
    assert_value(p, "f 3", "9.0");
    const char *types;
    assert_fails(cotan_types(p, "g", &types), "E0702", NULL, 0, 0);
    cotan_close(context);
}

static void text_that_is_an_expression_is_left_alone(void **state) {
    (void)state;
    static const char *const texts[] = {"1 + 2",    "let x = 1 in x", "square",
                                        "\\x -> x", "it :: Int",      "case 1 of { x -> x }",
                                        "nosuch",   "[x | x <- [1]]", "do { x <- [1]; [x] }"};
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        bool is_expression;
        const char *types;
        assert_null(cotan_define(p, texts[i], &is_expression, &types));
        assert_true(is_expression);
        assert_null(types);
    }
    cotan_close(context);
}

static void a_value_is_bound_to_a_name(void **state) {
    (void)state;
    static const struct {
        const char *expression, *shown, *again, *then;
    } cases[] = {
        {"3", "3", "it + it", "6"},
        {"it * 2 + 1", "7", "(it, it)", "(7,7)"},
        {"1.5 :: Float", "1.5", "it + it", "3.0"},
        {"1 / 3", "0.3333333333333333", "it == 1 / 3", "True"},
        {"1 / 0", "Infinity", "it", "Infinity"},
        {"minBound :: Int", "-9223372036854775808", "it", "-9223372036854775808"},
        {"'\\n'", "'\\n'", "it == '\\n'", "True"},
        {"\"it \\\"is\\\" \\1234\\&5\"", "\"it \\\"is\\\" \\1234\\&5\"", "it", "\"it \\\"is\\\" \\1234\\&5\""},
        {"[(1, 'a'), (-2, 'b')]", "[(1,'a'),(-2,'b')]", "length it", "2"},
        {"[|[|1.0, -2.0|]|]", "[|[|1.0,-2.0|]|]", "it ! 0 ! 1", "-2.0"},
        {"[] :: [Double]", "[]", "sum it", "0.0"},
        {"()", "()", "it", "()"},
        {"True", "True", "not it", "False"},
        {"Circle 2", "Circle 2.0", "it == Circle 2", "True"},
        {"\\x -> x + 1", "<function>", "(it 1, it 2)", "(2,3)"},
        {"it 5", "6", "it", "6"},
    };
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cotan_result result = evaluate(p, cases[i].expression, "it");
        assert_string_equal(result.value_text, cases[i].shown);
        assert_value(p, cases[i].again, cases[i].then);
    }
    define(p, "kept = it + 1");
    evaluate(p, "\"other\"", "it");
    assert_value(p, "kept", "7");
    cotan_close(context);
}

/* Old values of `it` that nothing mentions are dropped: a long session does not grow. */
static void a_long_session_stays_small(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){.memory = 40 << 20});
    cotan_program *p = load(context, model);
    define(p, "f x = it where it = x");
    for (int i = 0; i < 300; i++) evaluate(p, "Circle 1", "it"); /* made again from its expression, */
    assert_value(p, "it", "Circle 1.0");
    evaluate(p, "1", "it");
    for (int i = 0; i < 300; i++) evaluate(p, "it + 1", "it"); /* or kept as it was written */
    assert_value(p, "(it, f 2)", "(301,2)");
    cotan_close(context);
}

static void warnings_are_of_what_was_defined_last(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, "f (Just x) = x\n");
    assert_int_equal(cotan_error_count(cotan_warnings(p)), 1);
    assert_string_equal(cotan_error_file(cotan_warnings(p), 0), "model.cot");
    define(p, "g True = 1");
    assert_int_equal(cotan_error_count(cotan_warnings(p)), 1);
    assert_string_equal(cotan_error_file(cotan_warnings(p), 0), "<input>");
    define(p, "h x = x");
    assert_null(cotan_warnings(p));
    assert_value(p, "f (Just (g True))", "1");
    cotan_close(context);
}

static void types_are_the_most_general(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"square", "Double -> Double"},
        {"\\x -> x", "a -> a"},
        {"\\x -> x + 1", "Num a => a -> a"},
        {"1", "Num a => a"},
        {"map", "Functor t => (a -> b) -> t a -> t b"},
        {"(square, [Dot])", "(Double -> Double, [Shape])"},
        {"[]", "[a]"},
        {"\\(x, y) -> x == y", "Eq a => (a, a) -> Bool"},
        {"grad square", "Double -> Double"},
    };
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *type;
        cotan_error *error = cotan_type_of(p, cases[i][0], &type);
        if (error != NULL) fail_msg("%s", cotan_error_text(error, false, false));
        assert_string_equal(type, cases[i][1]);
    }
    assert_value(p, "square 2", "4.0"); /* and nothing of them stays */
    cotan_close(context);
}

static void names_in_scope_begin_with_the_prefix(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    const char *names;
    assert_null(cotan_names(p, "squ", &names));
    assert_string_equal(names, "square\n");
    assert_null(cotan_names(p, "Cir", &names));
    assert_string_equal(names, "Circle\n");
    assert_null(cotan_names(p, "ShapeX", &names));
    assert_string_equal(names, "");
    assert_null(cotan_names(p, "wher", &names));
    assert_string_equal(names, "where\n");
    define(p, "squeeze = 1");
    evaluate(p, "1", "squid");
    assert_null(cotan_names(p, "squ", &names));
    assert_string_equal(names, "square\nsqueeze\nsquid\n");
    assert_null(cotan_names(p, "Prelude.fol", &names));
    assert_non_null(strstr(names, "Prelude.foldr\n"));
    assert_null(cotan_names(p, "Nosuch.f", &names));
    assert_string_equal(names, "");
    assert_null(cotan_names(p, "", &names));
    assert_non_null(strstr(names, "\nsquare\n"));
    assert_null(strstr(names, "entry'"));
    assert_null(strchr(names, ' '));
    assert_null(cotan_modules(p, "Data.L", &names));
    assert_string_equal(names, "Data.List\nData.List.NonEmpty\n");
    cotan_close(context);
}

static void modules_of_the_folders_are_known(void **state) {
    (void)state;
    char folder[] = "/tmp/cotan-interact-XXXXXX", path[100];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/Quux.cot", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("module Quux where\nquux = 7\n", file);
    fclose(file);
    cotan_context *context = open_with((cotan_limits){0});
    assert_null(cotan_add_folder(context, folder));
    cotan_program *p = load(context, model);
    const char *names;
    assert_null(cotan_modules(p, "Quu", &names));
    assert_string_equal(names, "Quux\n");
    define(p, "import qualified Quux as Q");
    assert_null(cotan_names(p, "Q.", &names));
    assert_string_equal(names, "Q.quux\n");
    assert_value(p, "Q.quux", "7");
    cotan_close(context);
    remove(path);
    remove(folder);
}

static void limits_hold_and_can_be_changed(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){.steps = 10000});
    cotan_program *p = load(context, model);
    cotan_call call = {.mode = COTAN_RUN, .expression = "forever 0", .bind = "it"};
    cotan_result result;
    assert_fails(cotan_call_json(p, &call, &result), "E0802", "model.cot", 6, 13);
    cotan_set_limits(context, &(cotan_limits){.steps = 1000000});
    assert_value(p, "sum [1 .. 5000]", "12502500");
    cotan_set_limits(context, NULL);
    assert_value(p, "sum [1 .. 50000]", "1250025000");
    cotan_close(context);
}

/* What was typed before a change of their number stays, values among it. */
static void the_number_of_threads_can_be_changed(void **state) {
    (void)state;
    const char *loop = "sum (build 20000 (\\i -> scaled ! rem i 3 + sum (build 5 (\\j -> rem i (j + 1)))))";
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    define(p, "scaled = map (* 2) (build 3 id)");
    for (unsigned threads = 1; threads < 5; threads++) {
        cotan_set_limits(context, &(cotan_limits){.threads = threads});
        assert_value(p, loop, "139997");
    }
    cotan_set_limits(context, NULL);
    assert_value(p, loop, "139997");
    cotan_close(context);
}

/* At every size of memory, what fails says so, and the session goes on when there is enough again. */
static void running_out_of_memory_leaves_the_program_as_it_was(void **state) {
    (void)state;
    cotan_context *context = open_with((cotan_limits){0});
    cotan_program *p = load(context, model);
    define(p, "first = 1");
    int failures = 0, successes = 0;
    for (size_t memory = 20000; memory < 20 << 20; memory += memory / 3) {
        cotan_set_limits(context, &(cotan_limits){.memory = memory});
        bool is_expression;
        const char *types;
        cotan_error *error = cotan_define(p, "second = first + 1", &is_expression, &types);
        if (error == NULL) {
            successes++;
            cotan_call call = {.mode = COTAN_RUN, .expression = "map (+ second) [1 .. 1000]", .bind = "it"};
            cotan_result result;
            error = cotan_call_json(p, &call, &result);
        }
        if (error != NULL) {
            failures++;
            assert_string_equal(cotan_error_code(error, 0), "E0801");
        }
    }
    assert_true(failures > 5 && successes > 0);
    cotan_set_limits(context, NULL);
    assert_value(p, "first + second", "3");
    cotan_close(context);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_see_the_program),
        cmocka_unit_test(expressions_have_derivatives_in_every_mode),
        cmocka_unit_test(errors_point_into_the_input),
        cmocka_unit_test(definitions_are_added),
        cmocka_unit_test(a_later_definition_hides_and_the_earlier_keeps_its_meaning),
        cmocka_unit_test(a_definition_with_an_error_leaves_the_program_as_it_was),
        cmocka_unit_test(text_that_is_an_expression_is_left_alone),
        cmocka_unit_test(a_value_is_bound_to_a_name),
        cmocka_unit_test(a_long_session_stays_small),
        cmocka_unit_test(warnings_are_of_what_was_defined_last),
        cmocka_unit_test(types_are_the_most_general),
        cmocka_unit_test(names_in_scope_begin_with_the_prefix),
        cmocka_unit_test(modules_of_the_folders_are_known),
        cmocka_unit_test(limits_hold_and_can_be_changed),
        cmocka_unit_test(the_number_of_threads_can_be_changed),
        cmocka_unit_test(running_out_of_memory_leaves_the_program_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
