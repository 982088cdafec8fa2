/* Elaboration: what programs become in Core, that it is sound, and what is refused. The library is the real prelude. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "elab/elab.h"
#include "driver/embedded.h"

typedef struct Fixture {
    CtArena *arena;
    CtContext context;
    CtFixities fixities;
    CtTypes *types;
    CtModule *module;
    CtProgram *program;
    jmp_buf handler;
} Fixture;

static bool infer(Fixture *f, const char *name, const char *text, size_t length, bool is_library) {
    uint32_t source = ct_source_add(&f->context, name, text, length, is_library);
    f->module = ct_syntax_parse_module(&f->context, source);
    if (f->module == NULL || f->context.error_count > 0) return false;
    ct_syntax_resolve_fixities(&f->context, &f->fixities, f->module);
    return f->context.error_count == 0 && ct_types_infer_module(f->types, f->module, is_library);
}

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    f->arena = ct_arena_new(0);
    ct_context_init(&f->context, f->arena);
    *state = f;
    if (setjmp(f->handler)) return 1;
    ct_arena_on_failure(f->arena, &f->handler);
    f->types = ct_types_new(&f->context);
    for (unsigned i = 0; i < ct_embedded_count; i++)
        if (ct_embedded[i].module == NULL &&
            !infer(f, ct_embedded[i].name, ct_embedded[i].text, ct_embedded[i].length, true))
            return 1;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    ct_arena_free(f->arena);
    free(f);
    return 0;
}

/* Elaborates every top-level name of the program that has a single type. */
static void elaborate(Fixture *f, const char *text) {
    bool sound = infer(f, "test", text, strlen(text), false);
    for (CtDiag *diag = f->context.diags; diag != NULL; diag = diag->next) print_message("%s\n", diag->message);
    assert_true(sound);
    f->program = ct_core_program_new(&f->context);
    CtElab *elab = ct_elab_new(f->types, f->program);
    CtEntity **entities;
    uint32_t count = ct_types_module_entities(f->types, f->module, &entities);
    for (uint32_t i = 0; i < count; i++)
        if (entities[i]->kind == ENTITY_GLOBAL && entities[i]->scheme.count == 0)
            ct_elab_global(elab, entities[i], NULL);
}

static void sound(Fixture *f, const char *text) {
    elaborate(f, text);
    for (CtDiag *diag = f->context.diags; diag != NULL; diag = diag->next) print_message("%s\n", diag->message);
    assert_int_equal(f->context.error_count, 0);
    const char *wrong = ct_core_lint(f->program);
    if (wrong != NULL) print_message("%s\n", wrong);
    assert_null(wrong);
    assert_true(f->program->globals.count > 0);
}

static CtGlobal *global(Fixture *f, const char *name) {
    for (uint32_t i = 0; i < f->program->globals.count; i++)
        if (strcmp(f->program->globals.items[i]->name->text, name) == 0) return f->program->globals.items[i];
    print_message("there is no global %s\n", name);
    fail();
    return NULL;
}

/* With every run of white space as one space: how lines are broken is the printer's affair. */
static const char *in_one_line(Fixture *f, const char *text) {
    CtText out = ct_text(f->arena);
    bool space = false;
    for (; *text != 0; text++) {
        bool white = *text == ' ' || *text == '\n';
        if (!white && space && out.length > 0) ct_text_putc(&out, ' ');
        if (!white) ct_text_putc(&out, *text);
        space = white;
    }
    return out.data;
}

static void becomes(Fixture *f, const char *name, const char *expected) {
    CtText text = ct_text(f->arena);
    ct_core_print_global(&text, f->program, global(f, name));
    assert_string_equal(in_one_line(f, text.data), in_one_line(f, expected));
}

static void refused(Fixture *f, const char *text, CtErrorCode code, uint32_t line) {
    elaborate(f, text);
    assert_true(f->context.error_count > 0);
    uint32_t found_line, column;
    assert_string_equal(ct_error_name(f->context.diags->code), ct_error_name(code));
    CtSourceRange range = f->context.diags->range;
    ct_source_position(&f->context, range.source, range.start, &found_line, &column);
    assert_string_equal(f->context.sources.items[range.source].name, "test");
    assert_int_equal(found_line, line);
}

/* ---- functions and calls ---- */

static void named_functions_take_all_their_arguments_at_once(void **state) {
    Fixture *f = *state;
    sound(f, "add3 :: Int -> Int -> Int -> Int\nadd3 x y z = x + y + z\nmain = add3 1 2 3\n");
    becomes(f, "add3", "add3 : (Int, Int, Int) → Int\nadd3 x y z = x + y + z");
    becomes(f, "main", "main : Int\nmain = add3 1 2 3");
}

static void missing_arguments_become_lambdas_around_evaluated_ones(void **state) {
    Fixture *f = *state;
    sound(f, "add3 :: Int -> Int -> Int -> Int\nadd3 x y z = x + y + z\ng a = add3 (a + 1)\n");
    becomes(f, "g", "g : Int → Int → Int → Int\ng a =\n  let a1 = a + 1 in\n  λx. λx1. add3 a1 x x1");
}

static void arguments_too_many_are_applied_to_the_result(void **state) {
    Fixture *f = *state;
    sound(f, "pick :: Bool -> Int -> Int\npick True = \\x -> x\npick False = \\x -> x + 1\nmain = pick True 3\n");
    becomes(f, "main", "main : Int\nmain = (pick True) 3");
}

static void functions_in_sight_go_to_array_operations_whole(void **state) {
    Fixture *f = *state;
    sound(f, "step :: Double -> Double -> Double\nstep a x = a * 0.5 + x\n"
             "xs :: Array Double\nxs = [|1.0|]\n"
             "a = foldl step 0.0 xs\nb = foldl (\\s x -> s + x) 0.0 xs\nc = map (subtract 1.0) xs\nd = map (sin . cos) "
             "xs\n");
    becomes(f, "a", "a : Double\na = foldl step 0.0 xs");
    becomes(f, "b", "b : Double\nb = foldl (λs x. s + x) 0.0 xs");
    becomes(f, "c", "c : Array Double\nc = map (λx. subtract@Double 1.0 x) xs");
    becomes(f, "d", "d : Array Double\nd = map (λx. sin (cos x)) xs");
}

static void dollar_sections_and_composition_are_seen_through(void **state) {
    Fixture *f = *state;
    sound(f, "h :: Int -> Int\nh x = x * 2\na = h $ h $ 3\nb = (subtract 1 . h) 4\nc = (`div` 2) 9 :: Int\nd = (9 -) 2 "
             ":: Int\n");
    becomes(f, "a", "a : Int\na = h (h 3)");
    becomes(f, "b", "b : Int\nb = subtract@Int 1 (h 4)");
    becomes(f, "c", "c : Int\nc = intDiv 9 2");
    becomes(f, "d", "d : Int\nd = 9 - 2");
}

static void and_or_evaluate_only_what_they_need(void **state) {
    Fixture *f = *state;
    sound(f, "p :: Bool -> Bool -> Bool\np a b = a && (b || a)\n");
    becomes(f, "p", "p : (Bool, Bool) → Bool\np a b = if a then if b then True else a else False");
}

static void functions_that_are_asked_for_keep_the_types_promised(void **state) {
    Fixture *f = *state;
    sound(f, "fold :: (Int -> Int -> Int) -> Int -> [Int] -> Int\n"
             "fold f z [] = z\nfold f z (x : xs) = fold f (f z x) xs\n"
             "main = fold (\\a b -> a * b) 1 [] + fold max 0 []\n");
    assert_int_equal(global(f, "fold")->type->parts[0]->count, 2); /* one parameter, and the result */
}

static void library_folds_call_their_function_at_once(void **state) {
    Fixture *f = *state;
    sound(f, "main :: Int\nmain = foldl (\\a b -> a * b) 1 [2]\n");
    becomes(f, "main", "main : Int\nmain = foldlList@Int,Int (λa b. a × b) 1 [2]");
    becomes(f, "foldlList@Int,Int",
            "foldlList@Int,Int : ((Int, Int) → Int, Int, [Int]) → Int\n"
            "foldlList@Int,Int f z x = case x of\n    [] → z\n    x1 : xs → foldlList@Int,Int f (f z x1) xs");
}

/* ---- specialisation ---- */

static void polymorphic_functions_are_made_once_for_each_type(void **state) {
    Fixture *f = *state;
    sound(f, "twice x = (x, x)\nmain = (twice 'a', twice 'b', twice True)\n");
    becomes(f, "main",
            "main : ((Char, Char), (Char, Char), (Bool, Bool))\n"
            "main = (twice@Char 'a', twice@Char 'b', twice@Bool True)");
    becomes(f, "twice@Bool", "twice@Bool : Bool → (Bool, Bool)\ntwice@Bool x = (x, x)");
}

static void local_polymorphic_functions_are_copied_for_each_type(void **state) {
    Fixture *f = *state;
    sound(f, "main = (both 'a', both True)\n  where both x = go x\n        go y = (y, y)\n");
    assert_int_equal(f->program->globals.count, 1);
}

static void methods_are_resolved_by_type(void **state) {
    Fixture *f = *state;
    sound(f, "class Area a where\n  area :: a -> Double\n  twice :: a -> Double\n  twice x = 2 * area x\n"
             "data Square = Square Double\ndata Circle = Circle Double\n"
             "instance Area Square where\n  area (Square s) = s * s\n"
             "instance Area Circle where\n  area (Circle r) = 3 * r * r\n  twice c = area c\n"
             "main = twice (Square 2) + twice (Circle 1)\n");
    becomes(f, "main", "main : Double\nmain = twice@Square (Square 2.0) + twice@Circle (Circle 1.0)");
    becomes(f, "twice@Square", "twice@Square : Square → Double\ntwice@Square x = 2.0 × area@Square x");
}

static void literals_stand_at_their_types(void **state) {
    Fixture *f = *state;
    sound(f, "a :: Float\na = -1\nb :: Int\nb = -9223372036854775808\nc :: Double\nc = 2\n");
    becomes(f, "a", "a : Float\na = -1.0");
    becomes(f, "b", "b : Int\nb = -9223372036854775808");
    becomes(f, "c", "c : Double\nc = 2.0");
}

static void literals_of_the_program_s_own_numbers_go_through_from_int(void **state) {
    Fixture *f = *state;
    sound(f, "data V = V Double Double deriving (Eq, Show)\n"
             "instance Num V where\n  V a b + V c d = V (a + c) (b + d)\n  V a b * V c d = V (a * c) (b * d)\n"
             "  negate (V a b) = V (negate a) (negate b)\n  abs v = v\n  signum v = v\n"
             "  fromInt n = V (fromInt n) 0\n"
             "main = V 1 2 + 3\nis1 :: V -> Bool\nis1 1 = True\nis1 _ = False\n");
    becomes(f, "main", "main : V\nmain = +@V (V 1.0 2.0) (fromInt@V 3)");
}

/* ---- matches ---- */

static void clauses_share_what_is_tried_when_they_fail(void **state) {
    Fixture *f = *state;
    sound(f, "zip' :: [Int] -> [Int] -> Int\nzip' (x : xs) (y : ys) = x * y\nzip' _ _ = 0\n");
    becomes(f, "zip'",
            "zip' : ([Int], [Int]) → Int\nzip' x x1 =\n  let next = λ. 0 in\n  case x of\n"
            "    x2 : xs → case x1 of\n        y : ys → x2 × y\n        _ → next ⟨⟩\n    _ → next ⟨⟩");
}

static void guards_fall_through_to_the_next_clause(void **state) {
    Fixture *f = *state;
    sound(f, "sign :: Int -> Int\nsign n | n < 0 = -1\nsign 0 = 0\nsign _ = 1\n");
    becomes(f, "sign", "sign : Int → Int\nsign n =\n  if n < 0\n    then -1\n    else\n      if n == 0 then 0 else 1");
}

static void a_missing_pattern_fails_at_its_place(void **state) {
    Fixture *f = *state;
    sound(f, "first :: [a] -> a\nfirst (x : _) = x\nmain = first \"a\"\n");
    becomes(f, "first@Char",
            "first@Char : [Char] → Char\nfirst@Char x = case x of\n    x1 : _ → x1\n"
            "    _ → fail E0502 \"no clause of `first` matches its arguments\"");
}

static void tuples_are_opened_once(void **state) {
    Fixture *f = *state;
    sound(f, "f :: (Int, Bool) -> Int\nf (n, True) = n\nf (n, False) = n + 1\n");
    becomes(f, "f", "f : ((Int, Bool)) → Int\nf x =\n  let (n, x1) = x in\n  if x1 then n else n + 1");
}

static void pattern_bindings_are_taken_apart_once(void **state) {
    Fixture *f = *state;
    sound(f, "f :: (Int, Int) -> Int\nf p = let (a, b) = p in a + b\n(c, d) = (1 :: Int, 'x')\n");
    becomes(f, "f", "f : ((Int, Int)) → Int\nf p =\n  let (a, b) = p in\n  a + b");
    becomes(f, "d", "d : Char\nd =\n  let value = (c, d) in\n  let (c1, d1) = value in\n  d1");
}

static void strings_are_matched_character_by_character(void **state) {
    Fixture *f = *state;
    sound(f, "k :: String -> Int\nk \"ab\" = 1\nk \"a\" = 2\nk \"\" = 3\nk _ = 4\n");
}

/* ---- programs ---- */

static void every_form_of_the_language_gives_sound_core(void **state) {
    Fixture *f = *state;
    sound(f,
          "data Tree a = Leaf | Node (Tree a) a (Tree a) deriving (Eq, Ord, Show)\n"
          "newtype Wrap a = Wrap a deriving Show\n"
          "insert' :: Ord a => a -> Tree a -> Tree a\n"
          "insert' x Leaf = Node Leaf x Leaf\n"
          "insert' x t@(Node l y r)\n  | x < y = Node (insert' x l) y r\n  | x > y = Node l y (insert' x r)\n"
          "  | otherwise = t\n"
          "toL Leaf = []\ntoL (Node l x r) = toL l ++ [x] ++ toL r\n"
          "f :: Int -> String\n"
          "f 0 = \"zero\"\nf n | even n = \"even\" | n > 100, Just k <- lookup n table = k | otherwise = \"odd\"\n"
          "  where table = [(101, \"a\"), (103, \"b\")]\n"
          "mutual :: Int -> Bool\n"
          "mutual n = ev n where\n  ev 0 = True\n  ev k = od (k - 1)\n  od 0 = False\n  od k = ev (k - 1)\n"
          "compr = [(x, y) | x <- [1 .. 5], odd x, y <- \"ab\", let z = x, z > 1]\n"
          "pat = let (a, [b, c]) = (1.5, \"bc\") in (a, b, c)\n"
          "neg :: Double -> Double\nneg x = - x + (-3)\n"
          "hof h = h 1 2 + h 3 4\nuse = hof (\\x y -> x * y) + hof max\n"
          "cs x = case x of { (1, _) -> 'a'; (_, Just y) | y -> 'b'; (n, Nothing) | n > 3, n < 10 -> 'c'; _ -> 'd' }\n"
          "csUse = cs (2 :: Int, Just True)\n"
          "shown = show (foldr insert' Leaf [3, 1, 2 :: Int]) ++ show (Wrap (Just 'c', [|1.5|]))\n"
          "d = diff (\\x -> x ^ 3) 2.0\nh = hessian (\\xs -> sum (map (\\x -> x * x * x) xs)) [|1, 2|]\n"
          "lam = (\\(a, b) c -> a + b * c) (1, 2) 3\n"
          "sorted = sort [3, 1, 2] ++ sortOn negate [1, 2]\n"
          "words' = unwords (words \" a b \") == concatMap show [1, 2]\n");
}

static void recursive_bindings_without_parameters_become_functions(void **state) {
    Fixture *f = *state;
    sound(f, "f :: Int -> Int\nf n = h n\n  where h = id . k\n        k x = if x == 0 then 0 else h (x - 1)\n"
             "g :: Int -> Int\ng = \\n -> k n\nk :: Int -> Int\nk = abs . g\n");
}

static void long_list_literals_do_not_nest(void **state) {
    Fixture *f = *state;
    CtText text = ct_text(f->arena);
    ct_text_puts(&text, "xs :: [Int]\nxs = [0");
    for (int i = 1; i < 20000; i++) ct_text_printf(&text, ", %d", i);
    ct_text_puts(&text, "]\n");
    sound(f, text.data);
    uint32_t depth = 0;
    CtCore *core = global(f, "xs")->body;
    while (core->kind == CORE_APP || (core->kind == CORE_CON && core->as.call.count > 0)) {
        core = core->as.call.args[1];
        depth++;
    }
    assert_in_range(depth, 100, 400);
}

static void names_of_the_prelude_can_be_defined_again(void **state) {
    Fixture *f = *state;
    sound(f, "data Bool = No | Yes\nfromInt :: Double -> Double\nfromInt x = x + 1.0\notherwise = 3 :: Int\n"
             "f :: Double -> Double\nf 0 = 1\nf x | x > 1 = 2\nf x = x\n");
}

/* ---- what is refused ---- */

static void recursive_values_are_refused(void **state) { refused(*state, "\nxs = 1 : ys\nys = 2 : xs\n", CT_E0403, 2); }

static void local_recursive_values_are_refused(void **state) {
    refused(*state, "main =\n  let p = (1 :: Int, fst p)\n  in p\n", CT_E0403, 2);
}

static void derivatives_of_functions_of_functions_are_refused_where_the_user_asks(void **state) {
    refused(*state, "x = 1.0\n\nbad = fst (valueAndGrad (\\(h, y) -> h y + y) (sin, x))\n", CT_E0401, 3);
}

static void derivatives_that_give_functions_are_refused(void **state) {
    refused(*state, "bad = vjp (\\x -> (\\y -> x + y :: Double)) 1.0\n", CT_E0401, 1);
}

static void recursive_patterns_are_refused(void **state) { refused(*state, "(a, b) = (1, a + 1)\n", CT_E0403, 1); }

static void instances_at_ever_larger_types_are_refused(void **state) {
    Fixture *f = *state;
    refused(f,
            "class C a where\n  f :: Int -> a -> Int\ninstance C Int where\n  f _ x = x\n"
            "instance (C a, C b) => C (a, b) where\n  f 0 _ = 0\n  f n x = f (n - 1) (x, x)\n"
            "main = f 3 (1 :: Int, 2 :: Int)\n",
            CT_E0402, 7);
    assert_int_equal(f->context.error_count, 1);
}

static void methods_that_are_left_out_are_named_where_they_are_used(void **state) {
    refused(*state,
            "class C a where { f :: a -> a; g :: a -> a }\ninstance C Int where { f x = x }\n"
            "main = g (f (3 :: Int))\n",
            CT_E0406, 3);
}

static const char *chain_of(Fixture *f, const char *start, const char *link, int count) {
    CtText text = ct_text(f->arena);
    ct_text_puts(&text, start);
    for (int i = 0; i < count; i++) ct_text_puts(&text, link);
    ct_text_putc(&text, '\n');
    return text.data;
}

static void too_deep_expressions_are_refused_once(void **state) {
    Fixture *f = *state;
    elaborate(f, chain_of(f, "x = True", " && True", 20000));
    assert_int_equal(f->context.error_count, 1);
    assert_string_equal(ct_error_name(f->context.diags->code), "E0404");
}

/* The deepest that calls, constructions and primitives are nested in each other. */
static uint32_t nesting(const CtCore *core) {
    uint32_t depth = 0;
    while (core->kind == CORE_LET) {
        uint32_t inner = nesting(core->as.let.rhs);
        depth = inner > depth ? inner : depth;
        core = core->as.let.body;
    }
    bool call = core->kind == CORE_APP || core->kind == CORE_PRIM || core->kind == CORE_CON;
    for (uint32_t i = 0; call && i < core->as.call.count; i++) {
        uint32_t inner = 1 + nesting(core->as.call.args[i]);
        depth = inner > depth ? inner : depth;
    }
    return depth;
}

static void long_chains_of_operators_do_not_nest(void **state) {
    Fixture *f = *state;
    sound(f, chain_of(f, "x :: Double\nx = 0", " + 1", 20000));
    assert_in_range(nesting(global(f, "x")->body), 100, 400);
}

static void long_chains_to_the_right_do_not_nest(void **state) {
    Fixture *f = *state;
    sound(f, chain_of(f, "x = \"\"", " ++ \"a\"", 20000));
    assert_in_range(nesting(global(f, "x")->body), 100, 400);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(named_functions_take_all_their_arguments_at_once),
        TEST(missing_arguments_become_lambdas_around_evaluated_ones),
        TEST(arguments_too_many_are_applied_to_the_result),
        TEST(functions_in_sight_go_to_array_operations_whole),
        TEST(dollar_sections_and_composition_are_seen_through),
        TEST(and_or_evaluate_only_what_they_need),
        TEST(functions_that_are_asked_for_keep_the_types_promised),
        TEST(library_folds_call_their_function_at_once),
        TEST(polymorphic_functions_are_made_once_for_each_type),
        TEST(local_polymorphic_functions_are_copied_for_each_type),
        TEST(methods_are_resolved_by_type),
        TEST(literals_stand_at_their_types),
        TEST(literals_of_the_program_s_own_numbers_go_through_from_int),
        TEST(clauses_share_what_is_tried_when_they_fail),
        TEST(guards_fall_through_to_the_next_clause),
        TEST(a_missing_pattern_fails_at_its_place),
        TEST(tuples_are_opened_once),
        TEST(pattern_bindings_are_taken_apart_once),
        TEST(strings_are_matched_character_by_character),
        TEST(every_form_of_the_language_gives_sound_core),
        TEST(recursive_bindings_without_parameters_become_functions),
        TEST(long_list_literals_do_not_nest),
        TEST(names_of_the_prelude_can_be_defined_again),
        TEST(recursive_values_are_refused),
        TEST(local_recursive_values_are_refused),
        TEST(derivatives_of_functions_of_functions_are_refused_where_the_user_asks),
        TEST(derivatives_that_give_functions_are_refused),
        TEST(recursive_patterns_are_refused),
        TEST(instances_at_ever_larger_types_are_refused),
        TEST(methods_that_are_left_out_are_named_where_they_are_used),
        TEST(long_chains_of_operators_do_not_nest),
        TEST(long_chains_to_the_right_do_not_nest),
        TEST(too_deep_expressions_are_refused_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
