/* The syntax room: tokens, layout, every construct by what the printer says of it, fixities, errors, limits. */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "syntax/syntax.h"

typedef struct Fixture {
    CtArena *arena;
    CtContext context;
    CtFixities fixities;
    jmp_buf handler;
} Fixture;

static const char fixities[] = "infixr 9 .\ninfixr 8 ^\ninfixl 7 *, /, `div`\ninfixl 6 +, -\ninfixr 5 ++, :+\n"
                               "infix 4 ==, <, `elem`\ninfixr 3 &&\ninfixl 1 >>=\ninfixr 0 $\ninfixl 9 !\n";

static void begin(Fixture *f) {
    ct_context_init(&f->context, f->arena);
    f->fixities = (CtFixities){0};
    uint32_t source = ct_source_add(&f->context, "fixities", fixities, strlen(fixities), true);
    CtModule *module = ct_syntax_parse_module(&f->context, source);
    module->continues = true; /* what the fixities are for need not be defined */
    ct_syntax_resolve_fixities(&f->context, &f->fixities, module);
    assert_int_equal(f->context.error_count, 0);
}

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    f->arena = ct_arena_new(0);
    begin(f);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    ct_arena_free(f->arena);
    free(f);
    return 0;
}

/* ---- what the tests say ---- */

static CtModule *read_bytes(Fixture *f, const char *text, size_t length, bool is_library) {
    begin(f);
    uint32_t source = ct_source_add(&f->context, "test.cot", text, length, is_library);
    CtModule *module = ct_syntax_parse_module(&f->context, source);
    ct_syntax_resolve_fixities(&f->context, &f->fixities, module);
    return module;
}

static CtModule *read_text(Fixture *f, const char *text) { return read_bytes(f, text, strlen(text), false); }

/* "E0201 2:5" for each error, in order. */
static const char *errors(Fixture *f) {
    CtText text = ct_text(f->arena);
    ct_text_puts(&text, "");
    for (const CtDiag *diag = f->context.diags; diag != NULL; diag = diag->next) {
        uint32_t line, column;
        ct_source_position(&f->context, diag->range.source, diag->range.start, &line, &column);
        if (text.length > 0) ct_text_puts(&text, ", ");
        ct_text_printf(&text, "%s %u:%u", ct_error_name(diag->code), line, column);
    }
    return text.data;
}

static const char *print_module(Fixture *f, const CtModule *module) {
    CtText text = ct_text(f->arena);
    ct_text_puts(&text, "");
    for (uint32_t i = 0; i < module->decls.count; i++) {
        if (i > 0) ct_text_putc(&text, '\n');
        ct_syntax_print_decl(&text, &module->decls.items[i]);
    }
    return text.data;
}

/* The declarations are read without an error and print as `expected`; and what is printed reads back as itself. */
static void reads_as(Fixture *f, const char *text, const char *expected) {
    const char *printed = print_module(f, read_text(f, text));
    assert_string_equal(errors(f), "");
    assert_string_equal(printed, expected);
    const char *again = print_module(f, read_text(f, printed));
    assert_string_equal(errors(f), "");
    assert_string_equal(again, expected);
}

/* The same of an expression. */
static void expr_reads_as(Fixture *f, const char *text, const char *expected) {
    char *program = ct_format(f->arena, "it = %s", text), *wanted = ct_format(f->arena, "it = %s", expected);
    reads_as(f, program, wanted);
}

static void fails_with(Fixture *f, const char *text, const char *expected) {
    read_text(f, text);
    assert_string_equal(errors(f), expected);
}

static const char *help_for(Fixture *f, const char *text) {
    read_text(f, text);
    assert_non_null(f->context.diags);
    return f->context.diags->help == NULL ? "" : f->context.diags->help;
}

static CtExpr *body_of(Fixture *f, const char *expr) {
    CtModule *module = read_text(f, ct_format(f->arena, "it = %s", expr));
    assert_string_equal(errors(f), "");
    return module->decls.items[0].binding->clauses[0].rhs.guarded[0].body;
}

static char *repeat(Fixture *f, const char *piece, uint32_t count) {
    CtText text = ct_text(f->arena);
    ct_text_puts(&text, "it = ");
    for (uint32_t i = 0; i < count; i++) ct_text_puts(&text, piece);
    return text.data;
}

/* ---- tokens ---- */

static void names_may_have_primes_underscores_and_greek_letters(void **state) {
    expr_reads_as(*state, "f' _x x_1 σ x₁ Δt", "f' _x x_1 σ x₁ Δt");
}

static void names_may_be_qualified(void **state) {
    expr_reads_as(*state, "M.f A.B.g M.Con a M.+ b", "M.f A.B.g M.Con a M.+ b");
}

static void a_constructor_before_two_dots_starts_a_range(void **state) {
    expr_reads_as(*state, "[A..B]", "[A .. B]");
    expr_reads_as(*state, "[A ..]", "[A ..]");
}

static void keywords_end_a_qualified_name(void **state) { fails_with(*state, "f = M.where", "E0201 1:7"); }

static void integers_have_four_bases(void **state) {
    expr_reads_as(*state, "[0, 42, 0x1F, 0XfF, 0o17, 0b101]", "[0, 42, 31, 255, 15, 5]");
    expr_reads_as(*state, "0xg", "0 xg"); /* as in Haskell: 0 applied to xg */
}

static void integers_may_exceed_64_bits(void **state) {
    expr_reads_as(*state, "9223372036854775807", "9223372036854775807");
    expr_reads_as(*state, "9223372036854775808", "9223372036854775808");
    expr_reads_as(*state, "0x10000000000000000", "0x10000000000000000");
    expr_reads_as(*state, "-9223372036854775808", "-9223372036854775808");
    reads_as(*state, "f (-9223372036854775808) = 1", "f (-9223372036854775808) = 1");
}

static void fractions_round_to_the_nearest_double(void **state) {
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1.5", 1.5},
        {"0.1", 0.1},
        {"2.5e-3", 2.5e-3},
        {"1e10", 1e10},
        {"1E+2", 100},
        {"123456789012345678901234567890.0", 123456789012345678901234567890.0},
        {"4.9e-324", 5e-324},
        {"1e-400", 0},
        {"1.7976931348623157e308", 1.7976931348623157e308},
        {"3.14159265358979323846", 3.14159265358979323846},
        {"0.000001e6", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CtExpr *expr = body_of(*state, cases[i].text);
        assert_int_equal(expr->lit.kind, LIT_FRACTION);
        assert_true(expr->lit.fraction == cases[i].value);
    }
    fails_with(*state, "f = 1e400", "E0107 1:5");
}

static void fractions_do_not_depend_on_the_locale(void **state) {
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL && setlocale(LC_NUMERIC, "fr_FR.UTF-8") == NULL) skip();
    double value = body_of(*state, "3.14159265358979323846")->lit.fraction;
    setlocale(LC_NUMERIC, "C");
    assert_true(value == 3.14159265358979323846);
}

static void an_integer_is_known_as_a_double_too(void **state) {
    assert_true(body_of(*state, "12345678901234")->lit.fraction == 12345678901234.0);
}

static void strings_have_haskell_escapes_and_gaps(void **state) {
    const CtExpr *expr =
        body_of(*state, "\"a\\n\\t\\\\\\\"\\65\\x42\\o103\\SOH\\SO\\&H\\^A\\DEL\\1234\\&5\\   \n   \\z\"");
    const char expected[] = "a\n\t\\\"ABC\x01\x0EH\x01\x7F\xD3\x92"
                            "5z";
    assert_int_equal(expr->lit.text_length, sizeof expected - 1);
    assert_memory_equal(expr->lit.text, expected, sizeof expected - 1);
}

static void strings_may_hold_nul(void **state) {
    const CtExpr *expr = body_of(*state, "\"a\\0b\"");
    assert_int_equal(expr->lit.text_length, 3);
    assert_memory_equal(expr->lit.text, "a\0b", 3);
}

static void characters_are_code_points(void **state) {
    assert_int_equal(body_of(*state, "'a'")->lit.integer, 'a');
    assert_int_equal(body_of(*state, "'\\''")->lit.integer, '\'');
    assert_int_equal(body_of(*state, "'\"'")->lit.integer, '"');
    assert_int_equal(body_of(*state, "'λ'")->lit.integer, 0x3BB);
    assert_int_equal(body_of(*state, "'\\x1F600'")->lit.integer, 0x1F600);
}

static void comments_nest_and_dashes_before_a_symbol_are_an_operator(void **state) {
    expr_reads_as(*state, "a {- b {- c -} -- d -} e -- f", "a e");
    expr_reads_as(*state, "a --> b", "a --> b");
    expr_reads_as(*state, "a |-- b", "a |-- b");
    expr_reads_as(*state, "a --- b\n --c", "a");
}

static void a_byte_order_mark_and_carriage_returns_are_skipped(void **state) {
    reads_as(*state,
             "\xEF\xBB\xBF"
             "f = 1\r\ng = do\r\n  a\r\n  b\r\n",
             "f = 1\ng = do {a; b}");
}

static void tabs_reach_to_multiples_of_eight(void **state) {
    reads_as(*state, "f = do\n\ta\n        b\n", "f = do {a; b}");
    reads_as(*state, "f = do\n   \ta\n        b\n", "f = do {a; b}");
}

static void columns_count_characters_not_bytes(void **state) {
    reads_as(*state, "f = λσ where λσ = 1\n             g = 2", "f = λσ where {λσ = 1; g = 2}");
}

static void bad_text_is_an_error_with_its_place(void **state) {
    fails_with(*state, "f = \"abc\ng = 2", "E0103 1:5");
    fails_with(*state, "f = 1 {- {- -}", "E0104 1:7");
    fails_with(*state, "f = \"\\q\" ++ \"\\1114112\" ++ \"\\xD800\"", "E0105 1:6, E0105 1:14, E0105 1:28");
    fails_with(*state, "f = '' a\ng = 'ab'\nh = 'a\ni = '\n", "E0106 1:5, E0106 2:5, E0106 3:5, E0106 4:5");
    fails_with(*state, "f = a # b “ c", "E0101 1:11");
    fails_with(*state, "f = \"\xC0\x80\" \xFF\xFE 1\ng = \"\xED\xA0\x80\"", "E0102 1:6, E0102 1:9, E0102 2:6");
}

/* ---- layout ---- */

static void a_block_ends_where_its_columns_end(void **state) {
    reads_as(*state, "f = a\n  where a = 1\n        b = 2\ng = 3", "f = a where {a = 1; b = 2}\ng = 3");
    reads_as(*state, "f = case x of\n  A -> case y of\n    B -> 1\n    C -> 2\n  D -> 3",
             "f = case x of {A -> case y of {B -> 1; C -> 2}; D -> 3}");
}

static void a_block_ends_where_the_next_token_cannot_belong_to_it(void **state) {
    expr_reads_as(*state, "let x = 1; y = 2 in x", "let {x = 1; y = 2} in x");
    expr_reads_as(*state, "(case x of A -> 1, let y = 2 in y)", "(case x of {A -> 1}, let {y = 2} in y)");
    expr_reads_as(*state, "[y | x <- xs, let y = x, odd y]", "[y | x <- xs, let {y = x}, odd y]");
    expr_reads_as(*state, "f (do a; b) [case c of d -> e]", "f (do {a; b}) [case c of {d -> e}]");
    expr_reads_as(*state, "if case a of B -> c then do d else e", "if case a of {B -> c} then do {d} else e");
    expr_reads_as(*state, "let a = let b = 1 in b in a", "let {a = let {b = 1} in b} in a");
    expr_reads_as(*state, "case let a = 1 in a of _ -> 2", "case let {a = 1} in a of {_ -> 2}");
}

static void an_operator_at_line_start_continues_when_indented(void **state) {
    reads_as(*state, "f = a\n  + b\n  + c", "f = (a + b) + c");
}

static void an_empty_block_is_allowed_after_where(void **state) {
    reads_as(*state, "f = 1 where\ng = 2", "f = 1\ng = 2");
    reads_as(*state, "module M where\n", "");
}

static void braces_switch_layout_off(void **state) {
    reads_as(*state, "f = do {\na;\n b\n} where { c = 1\n;;d = 2 }\n", "f = do {a; b} where {c = 1; d = 2}");
    reads_as(*state, "{ f = 1; g = 2 }", "f = 1\ng = 2");
}

static void then_and_else_may_align_with_if_in_a_do_block(void **state) {
    reads_as(*state, "f = do\n  if a\n  then b\n  else c\n  d", "f = do {if a then b else c; d}");
    expr_reads_as(*state, "do { if a; then b; else c; d }", "do {if a then b else c; d}");
}

static void where_under_guards_and_alternatives(void **state) {
    reads_as(*state, "f x\n  | x == a = 1\n  | b, Just y <- c x, let z = y = z\n  where a = 1\n        b = True",
             "f x | x == a = 1 | b, Just y <- c x, let {z = y} = z where {a = 1; b = True}");
    expr_reads_as(*state, "case x of\n   y | y < 1 -> a\n     | otherwise -> b\n     where a = 1\n   _ -> 2",
                  "case x of {y | y < 1 -> a | otherwise -> b where {a = 1}; _ -> 2}");
}

/* ---- expressions ---- */

static void applications_and_forms_that_reach_right(void **state) {
    expr_reads_as(*state, "f a (g b) c", "f a (g b) c");
    expr_reads_as(*state, "\\x (y, _) -> x y", "\\x (y, _) -> x y");
    expr_reads_as(*state, "a $ \\x -> x + let y = 1 in y * 2", "a $ (\\x -> x + (let {y = 1} in y * 2))");
    expr_reads_as(*state, "f (\\x -> x :: Int)", "f (\\x -> x :: Int)");
}

static void brackets_of_every_form(void **state) {
    expr_reads_as(*state, "((), (a), (a, b, c), (,), (,,) a, [], [a], [|a, b|], [||], [|-1|])",
                  "((), a, (a, b, c), (,), (,,) a, [], [a], [|a, b|], [||], [|-1|])");
    expr_reads_as(*state, "[[a ..], [a, b ..], [a .. c], [a, b .. c]]", "[[a ..], [a, b ..], [a .. c], [a, b .. c]]");
    expr_reads_as(*state, "[(x, y) | x <- xs, (y, _) <- f x, x == y]", "[(x, y) | x <- xs, (y, _) <- f x, x == y]");
}

static void sections_and_operators_as_functions(void **state) {
    expr_reads_as(*state, "[(+), (-), (+ 1), (1 +), (`div` 2), (2 `div`), (subtract 1 .), (: [])]",
                  "[(+), (-), (+ 1), (1 +), (`div` 2), (2 `div`), (subtract 1 .), (: [])]");
    expr_reads_as(*state, "(- 1)", "-1");
    expr_reads_as(*state, "(a * b +)", "((a * b) +)");
    expr_reads_as(*state, "(a + b +)", "((a + b) +)");
    expr_reads_as(*state, "(++ a ++ b)", "(++ (a ++ b))");
}

static void records_bind_tighter_than_application(void **state) {
    expr_reads_as(*state, "f P { x = 1, y = a + b } r { x = 2 }.g", "f P {x = 1, y = a + b} r {x = 2} . g");
    expr_reads_as(*state, "E {}", "E {}");
}

static void do_blocks_bind_let_and_end_in_an_expression(void **state) {
    expr_reads_as(*state, "do\n      (x, y) <- a\n      let z = x\n          w = y\n      let v = 1 in b v\n      c z",
                  "do {(x, y) <- a; let {z = x; w = y}; let {v = 1} in b v; c z}");
    fails_with(*state, "f = do { x <- a }", "E0213 1:10");
}

static void annotations_have_contexts(void **state) {
    expr_reads_as(*state, "(x :: Num a => [a] -> (a, Maybe b))", "x :: Num a => [a] -> (a, Maybe b)");
}

/* ---- patterns ---- */

static void patterns_of_every_form(void **state) {
    reads_as(*state, "f _ x y@(Just z) (a, b) [c, 1] () [] 'c' \"s\" (-1) (-2.5) (Node l _ r) = 1",
             "f _ x y@(Just z) (a, b) [c, 1] () [] 'c' \"s\" (-1) (-2.5) (Node l _ r) = 1");
    reads_as(*state, "f (x : y : zs) P { a = 1, b = Q } E {} (x :: Int) = 1",
             "f (x : (y : zs)) P {a = 1, b = Q} E {} (x :: Int) = 1");
    reads_as(*state, "f ((:) a b) ((,) c d) = 1", "f (a : b) (c, d) = 1");
    reads_as(*state, "f (a `Op` b :+ c) = 1", "f (Op a b :+ c) = 1");
}

static void strict_and_lazy_marks_are_read_over(void **state) {
    reads_as(*state, "f !x ~y !(a, b) = x", "f x y (a, b) = x");
    expr_reads_as(*state, "let !y = 1 in (\\ !x -> x)", "let {y = 1} in \\x -> x");
}

/* ---- declarations ---- */

static void clauses_of_one_name_are_one_binding(void **state) {
    CtModule *module = read_text(*state, "f 0 = 1\nf n = 2\ng = 3\nf' = 4");
    assert_int_equal(module->decls.count, 3);
    assert_int_equal(module->decls.items[0].binding->clause_count, 2);
    fails_with(*state, "f 1 = 2\nf 1 2 = 3", "E0208 2:1");
}

static void operators_are_defined_in_every_way(void **state) {
    reads_as(*state, "x <+> y = x", "(<+>) x y = x");
    reads_as(*state, "(<+>) x y = x", "(<+>) x y = x");
    reads_as(*state, "(f . g) x = f (g x)", "(.) f g x = f (g x)");
    reads_as(*state, "a `plus` b = a", "plus a b = a");
    reads_as(*state, "(a `plus` b) c = a", "plus a b c = a");
    reads_as(*state, "x : xs +++ Just y = x", "(+++) (x : xs) (Just y) = x");
    reads_as(*state, "a ! i = a", "(!) a i = a");
    reads_as(*state, "a!i = a", "(!) a i = a");
    reads_as(*state, "[x] ! 0 = x", "(!) [x] 0 = x");
    reads_as(*state, "a - b = a", "(-) a b = a");
}

static void pattern_bindings(void **state) {
    reads_as(*state, "(a, b) = c\nx : xs = d\nJust y = e\nall@[z] = g",
             "(a, b) = c\nx : xs = d\nJust y = e\nall@[z] = g");
    CtModule *module = read_text(*state, "(x) = 1\ny = 2");
    assert_null(module->decls.items[0].binding->pat); /* a variable alone is a function without patterns */
}

static void signatures_and_fixities(void **state) {
    reads_as(*state, "f, (<+>) :: (Eq a, Show a) => a -> (a -> b) -> [b]",
             "f, (<+>) :: (Eq a, Show a) => a -> (a -> b) -> [b]");
    reads_as(*state, "infixr 5 <+>, `f`\ninfix ==>\n(<+>) = f\nf = 1\n(==>) = f",
             "infixr 5 <+>, `f`\ninfix 9 ==>\n(<+>) = f\nf = 1\n(==>) = f");
    fails_with(*state, "infixr 5 <+>, `f`\nf = 1", "E0310 1:10");
    reads_as(*state, "f :: m a -> (->) a b -> (,) a b -> [] a -> ()", "f :: m a -> (->) a b -> (,) a b -> [] a -> ()");
}

static void data_declarations(void **state) {
    reads_as(*state, "data T a b = A | B a !b [Int] | R { x, y :: a, z :: !(T a b) }\n  deriving (Eq, Show)",
             "data T a b = A | B a b [Int] | R {x :: a, y :: a, z :: T a b} deriving (Eq, Show)");
    reads_as(*state, "data C = Double :+ Maybe Int | Int `At` Int", "data C = (:+) Double (Maybe Int) | At Int Int");
    reads_as(*state, "newtype N a = N { unN :: a } deriving Show", "newtype N a = N {unN :: a} deriving (Show)");
    reads_as(*state, "data E\ntype P a = (a, a)", "data E\ntype P a = (a, a)");
    fails_with(*state, "newtype N = N Int Int", "E0201 1:9");
    fails_with(*state, "data tree = Leaf", "E0214 1:6");
}

static void classes_and_instances(void **state) {
    reads_as(*state, "class (Eq a, Show a) => C a where\n  infixl 6 <+>\n  f, (<+>) :: a -> a\n  f x = x\nclass D a",
             "class (Eq a, Show a) => C a where {infixl 6 <+>; f, (<+>) :: a -> a; f x = x}\nclass D a");
    reads_as(*state,
             "instance C Int where\n  f x = x\n  a <+> b = a\ninstance (C a, C b) => C (a, b)\ninstance C a => C [a]",
             "instance C Int where {f x = x; (<+>) a b = a}\ninstance (C a, C b) => C (a, b)\ninstance C a => C [a]");
    fails_with(*state, "class C a b where", "E0214 1:7");
    fails_with(*state, "instance (Eq a, b) => C a", "E0214 1:17");
}

static void modules_and_imports(void **state) {
    Fixture *f = *state;
    CtModule *module = read_text(f, "module A.B (f, T(..), (+), module C) where\nimport C\nf = 1");
    assert_string_equal(errors(f), "");
    assert_string_equal(module->name.text->text, "A.B");
    assert_int_equal(module->export_count, 4);
    reads_as(f, "import A\nimport qualified B.C as D\nimport E (f, T(A, B), (+))\nimport F hiding (g)",
             "import A\nimport qualified B.C as D\nimport E (f, T(A, B), (+))\nimport F hiding (g)");
    reads_as(f, "as = qualified hiding", "as = qualified hiding"); /* no keywords elsewhere */
    fails_with(f, "f = 1\nimport A", "E0201 2:1");
    assert_string_equal(read_text(f, "f = 1")->name.text->text, "Main");
}

static void primitive_is_a_keyword_in_libraries_only(void **state) {
    Fixture *f = *state;
    const char text[] = "primitive \"add\" plus :: Double -> Double";
    CtModule *module = read_bytes(f, text, sizeof text - 1, true);
    assert_string_equal(errors(f), "");
    assert_string_equal(print_module(f, module), text);
    assert_string_equal(module->decls.items[0].primitive, "add");
    reads_as(f, "primitive x = x", "primitive x = x");
}

/* ---- fixity ---- */

static void precedence_and_associativity(void **state) {
    expr_reads_as(*state, "a + b * c - d", "(a + (b * c)) - d");
    expr_reads_as(*state, "a ++ b ++ c", "a ++ (b ++ c)");
    expr_reads_as(*state, "a : b : c ++ d", "a : (b : (c ++ d))");
    expr_reads_as(*state, "f a + g b ^ 2 ^ n == c && d", "((f a + (g b ^ (2 ^ n))) == c) && d");
    expr_reads_as(*state, "a `div` b * c", "div a b * c");
    expr_reads_as(*state, "a <?> b + c", "(a <?> b) + c"); /* undeclared: infixl 9 */
    expr_reads_as(*state, "(a + b) * c", "(a + b) * c");
}

static void minus_has_the_precedence_of_subtraction(void **state) {
    expr_reads_as(*state, "- a + b", "(-a) + b");
    expr_reads_as(*state, "- a * b", "-(a * b)");
    expr_reads_as(*state, "- a ^ 2", "-(a ^ 2)");
    expr_reads_as(*state, "a == - b", "a == (-b)");
    fails_with(*state, "f = a * - b", "E0209 1:9");
    fails_with(*state, "f = a + - b", "E0209 1:9");
}

static void operators_that_do_not_associate_do_not_mix(void **state) {
    fails_with(*state, "f = a == b == c", "E0209 1:12");
    fails_with(*state, "infixl 5 <+\nf = a <+ b ++ c\na <+ b = a", "E0209 2:12");
    fails_with(*state, "f (a :+ b `Op` c) = 1\ninfixl 5 `Op`\ndata D = Op D D", "E0209 1:12");
}

static void sections_hold_only_what_binds_tighter(void **state) {
    fails_with(*state, "f = (a + b *)", "E0211 1:5");
    fails_with(*state, "f = (* a + b)", "E0211 1:5");
    fails_with(*state, "f = (- a ^)", "E0211 1:5");
}

static void local_fixities_hold_in_their_block_only(void **state) {
    reads_as(*state, "f = let infixr 2 <+>; a <+> b = a in x <+> y + z <+> w\ng = x <+> y + z",
             "f = let {infixr 2 <+>; (<+>) a b = a} in x <+> ((y + z) <+> w)\ng = (x <+> y) + z");
}

static void a_local_definition_hides_a_fixity(void **state) {
    reads_as(*state, "f = a * b + c where a * b = b\ng (+) = a + b * c\nh = a + b * c",
             "f = (a * b) + c where {(*) a b = b}\ng (+) = (a + b) * c\nh = a + (b * c)");
}

static void constructor_operators_in_patterns_follow_their_fixity(void **state) {
    reads_as(*state, "infixl 6 :*\nf (a :* b :* c : d) = 1\ndata D = D :* D",
             "infixl 6 :*\nf (((a :* b) :* c) : d) = 1\ndata D = (:*) D D");
}

static void fixities_are_declared_once(void **state) {
    fails_with(*state, "infixl 6 <+>\ninfixl 6 <+>\n(<+>) = 1", "E0204 2:10");
    fails_with(*state, "infixl 10 <+>\n(<+>) = 1", "E0210 1:8");
}

/* ---- errors ---- */

static void several_errors_in_one_run_and_the_sound_rest_is_kept(void **state) {
    Fixture *f = *state;
    CtModule *module =
        read_text(f, "a = (1 +\nb = 2\nc = if x then y\nd = 3\nclass C a where\n  e = )\n  g = 1\nh = ]\n");
    assert_string_equal(errors(f), "E0202 2:1, E0205 4:1, E0203 6:7, E0203 8:5");
    assert_string_equal(print_module(f, module), "b = 2\nd = 3\nclass C a where {g = 1}");
}

static void unclosed_brackets_point_at_the_opening_one(void **state) {
    Fixture *f = *state;
    fails_with(f, "f = [1, (2]", "E0202 1:11");
    assert_int_equal(f->context.diags->notes->range.start, 8);
    fails_with(f, "f = [1,\n     2\ng = 3", "E0202 3:1");
    assert_int_equal(f->context.diags->notes->range.start, 4);
    fails_with(f, "f (x = 1", "E0202 1:6");
    fails_with(f, "f = [|1, 2]", "E0202 1:11");
    fails_with(f, "f = case x of { A -> 1", "E0202 1:23");
}

static void typical_mistakes_get_help(void **state) {
    Fixture *f = *state;
    assert_string_equal(help_for(f, "f x = if x = 1 then 2 else 3"), "`=` defines a name; to compare, write `==`");
    assert_string_equal(help_for(f, "f x = if x then 2"), "every `if` has an `else`: `if c then x else y`");
    assert_string_equal(help_for(f, "f = map \\x -> x"), "as an argument this stands in parentheses, or behind `$`");
    assert_string_equal(help_for(f, "f = let a = 1\n      b = 2\n in a"),
                        "the block above begins at column 9; what belongs to it begins there too");
    assert_string_equal(help_for(f, "f =\ng = 1"),
                        "a line that continues what stands above begins right of column 1, where its block begins");
    assert_string_equal(help_for(f, "f = x\nwhere x = 1"),
                        "`where` begins right of the column of the declaration it belongs to");
    assert_string_equal(help_for(f, "f = case x of\n  1 -> 2\n  2 = 3"), "alternatives of `case` use `->`");
    assert_string_equal(help_for(f, "f = _"), "`_` is a pattern: it matches anything and has no value");
    assert_string_equal(help_for(f, "f = {- {- a -}"), "close it with `-}`");
}

static void messages_say_what_was_expected_and_found(void **state) {
    Fixture *f = *state;
    read_text(f, "f = let a = 1 )");
    assert_string_equal(f->context.diags->message,
                        "expected `in` and the expression that the declarations of `let` are for, found `)`");
    read_text(f, "f = case x y");
    assert_string_equal(f->context.diags->message,
                        "expected `of` after the expression of `case`, found the end of the file");
    read_text(f, "data T = leaf");
    assert_string_equal(f->context.diags->message, "expected a constructor, found the end of the file");
}

static void spans_cover_what_they_name(void **state) {
    const CtExpr *expr = body_of(*state, "f (a + b) * c");
    assert_int_equal(expr->range.start, 5);
    assert_int_equal(expr->range.end, 18);
    const CtExpr *left = expr->parts[1];
    assert_int_equal(left->range.start, 5);
    assert_int_equal(left->range.end, 14);
    assert_int_equal(left->parts[1]->range.start, 7); /* with its parentheses */
    assert_true(left->parts[1]->parenthesised);
}

static void an_expression_alone_is_read(void **state) {
    Fixture *f = *state;
    const char good[] = "let x = 1\n    y = 2\nin x + y", bad[] = "1 +";
    CtExpr *expr =
        ct_syntax_parse_expression(&f->context, ct_source_add(&f->context, "it", good, sizeof good - 1, false));
    assert_non_null(expr);
    ct_syntax_resolve_expression_fixities(&f->context, &f->fixities, expr);
    CtText text = ct_text(f->arena);
    ct_syntax_print_expr(&text, expr);
    assert_string_equal(text.data, "let {x = 1; y = 2} in x + y");
    assert_null(ct_syntax_parse_expression(&f->context, ct_source_add(&f->context, "it", bad, sizeof bad - 1, false)));
    assert_string_equal(errors(f), "E0201 1:4");
}

/* ---- limits ---- */

static void deep_nesting_is_an_error_never_a_crash(void **state) {
    static const char *const pieces[] = {"(",
                                         "[",
                                         "[|",
                                         "do {",
                                         "do ",
                                         "let y = ",
                                         "let y = 1 in ",
                                         "\\x -> ",
                                         "if a then b else ",
                                         "if ",
                                         "case x of y -> ",
                                         "(+ ",
                                         "x {a = ",
                                         "[a | b <- ",
                                         "(\\(",
                                         "(1 :: (",
                                         "(1, (",
                                         "x where { f = "};
    Fixture *f = *state;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        char *text = repeat(f, pieces[i], 50000);
        read_text(f, text);
        assert_true(f->context.error_count > 0);
    }
    fails_with(f, ct_format(f->arena, "f %s", repeat(f, "(", 50000) + 5), "E0207 1:2004");
}

static void a_long_pattern_counts_as_nested(void **state) {
    Fixture *f = *state;
    fails_with(f, ct_format(f->arena, "f (%sx) = 1", repeat(f, "x:", 100000) + 5), "E0207 1:4003");
}

static void a_thousand_levels_are_read(void **state) {
    Fixture *f = *state;
    char *open = repeat(f, "(", 1000), *close = repeat(f, ")", 1000) + 5;
    read_text(f, ct_format(f->arena, "%sx%s", open, close));
    assert_string_equal(errors(f), "");
}

static void long_chains_lists_and_blocks_are_read(void **state) {
    static const char *const forms[] = {"a ++ ", "a + ", "a : ", "f $ ", "a == b && "};
    Fixture *f = *state;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        read_text(f, ct_format(f->arena, "%sa", repeat(f, forms[i], 100000)));
        assert_string_equal(errors(f), "");
    }
    CtModule *module = read_text(f, ct_format(f->arena, "it = [%s1]", repeat(f, "1, ", 100000) + 5));
    assert_int_equal(module->decls.items[0].binding->clauses[0].rhs.guarded[0].body->part_count, 100001);
}

static void printing_a_long_chain_is_cut(void **state) {
    Fixture *f = *state;
    const char *text = print_module(f, read_text(f, ct_format(f->arena, "%sa", repeat(f, "a + ", 100000))));
    assert_non_null(strstr(text, "…"));
    assert_true(strlen(text) < 10000);
}

static void errors_without_end_stop_the_reading(void **state) {
    Fixture *f = *state;
    CtText text = ct_text(f->arena);
    for (uint32_t i = 0; i < 100000; i++) ct_text_puts(&text, "f = (\n\xFF ");
    read_bytes(f, text.data, text.length, false);
    assert_true(f->context.error_count < 100);
    assert_true(f->context.error_count > f->context.max_errors);
}

/* Cuts and changes of a program that uses everything: whatever happens, reading ends, and says so when it fails. */
static void no_damage_to_a_program_crashes_the_parser(void **state) {
    static const char program[] =
        "module M (f) where\nimport A (b)\ninfixl 6 <+>\ndata T a = A { x :: a } | a :+ a deriving Eq\n"
        "class Eq a => C a where { g :: a -> a; g y = y }\ninstance C [a] where\n  g (y : ys) = [|1.5e3, 'c'|]\n"
        "f x | x > 1, Just y <- h x = let z = 1 in z\n    | otherwise = case x of { 1 -> \"s\\n\"; _ -> do\n  a <- b\n "
        " c }\n"
        "  where (p, q) = [1, 2 ..]\nx <+> y = (\\z -> if z then -x else (+ y)) r { x = 1 } {- c {- d -} -}\n";
    static const char replacements[] = "(){}[]|,;=-\\\"'`\n\t @:.x1\xFF";
    Fixture *f = *state;
    uint32_t failures = 0;
    for (size_t cut = 0; cut < sizeof program; cut++) {
        read_bytes(f, ct_copy_text(f->arena, program, cut), cut, false);
        failures += f->context.error_count > 0;
    }
    for (size_t at = 0; at + 1 < sizeof program; at++)
        for (size_t i = 0; i + 1 < sizeof replacements; i++) {
            char *damaged = ct_copy_text(f->arena, program, sizeof program - 1);
            damaged[at] = replacements[i];
            print_module(f, read_bytes(f, damaged, sizeof program - 1, false));
            failures += f->context.error_count > 0;
        }
    assert_true(failures > 1000);
}

/* The length is looked at before the text. */
static void test_source_too_large(void **state) {
    Fixture *f = *state;
    uint32_t source = ct_source_add(&f->context, "large.cot", "", (size_t)INT32_MAX + 1, false);
    assert_null(ct_syntax_parse_module(&f->context, source));
    assert_int_equal(f->context.error_count, 1);
    assert_string_equal(ct_error_name(f->context.diags->code), "E0108");
    assert_string_equal(f->context.diags->message, "large.cot is larger than 2 GB");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(test_source_too_large),
        TEST(names_may_have_primes_underscores_and_greek_letters),
        TEST(names_may_be_qualified),
        TEST(a_constructor_before_two_dots_starts_a_range),
        TEST(keywords_end_a_qualified_name),
        TEST(integers_have_four_bases),
        TEST(integers_may_exceed_64_bits),
        TEST(fractions_round_to_the_nearest_double),
        TEST(fractions_do_not_depend_on_the_locale),
        TEST(an_integer_is_known_as_a_double_too),
        TEST(strings_have_haskell_escapes_and_gaps),
        TEST(strings_may_hold_nul),
        TEST(characters_are_code_points),
        TEST(comments_nest_and_dashes_before_a_symbol_are_an_operator),
        TEST(a_byte_order_mark_and_carriage_returns_are_skipped),
        TEST(tabs_reach_to_multiples_of_eight),
        TEST(columns_count_characters_not_bytes),
        TEST(bad_text_is_an_error_with_its_place),
        TEST(a_block_ends_where_its_columns_end),
        TEST(a_block_ends_where_the_next_token_cannot_belong_to_it),
        TEST(an_operator_at_line_start_continues_when_indented),
        TEST(an_empty_block_is_allowed_after_where),
        TEST(braces_switch_layout_off),
        TEST(then_and_else_may_align_with_if_in_a_do_block),
        TEST(where_under_guards_and_alternatives),
        TEST(applications_and_forms_that_reach_right),
        TEST(brackets_of_every_form),
        TEST(sections_and_operators_as_functions),
        TEST(records_bind_tighter_than_application),
        TEST(do_blocks_bind_let_and_end_in_an_expression),
        TEST(annotations_have_contexts),
        TEST(patterns_of_every_form),
        TEST(strict_and_lazy_marks_are_read_over),
        TEST(clauses_of_one_name_are_one_binding),
        TEST(operators_are_defined_in_every_way),
        TEST(pattern_bindings),
        TEST(signatures_and_fixities),
        TEST(data_declarations),
        TEST(classes_and_instances),
        TEST(modules_and_imports),
        TEST(primitive_is_a_keyword_in_libraries_only),
        TEST(precedence_and_associativity),
        TEST(minus_has_the_precedence_of_subtraction),
        TEST(operators_that_do_not_associate_do_not_mix),
        TEST(sections_hold_only_what_binds_tighter),
        TEST(local_fixities_hold_in_their_block_only),
        TEST(a_local_definition_hides_a_fixity),
        TEST(constructor_operators_in_patterns_follow_their_fixity),
        TEST(fixities_are_declared_once),
        TEST(several_errors_in_one_run_and_the_sound_rest_is_kept),
        TEST(unclosed_brackets_point_at_the_opening_one),
        TEST(typical_mistakes_get_help),
        TEST(messages_say_what_was_expected_and_found),
        TEST(spans_cover_what_they_name),
        TEST(an_expression_alone_is_read),
        TEST(deep_nesting_is_an_error_never_a_crash),
        TEST(a_long_pattern_counts_as_nested),
        TEST(a_thousand_levels_are_read),
        TEST(long_chains_lists_and_blocks_are_read),
        TEST(printing_a_long_chain_is_cut),
        TEST(errors_without_end_stop_the_reading),
        TEST(no_damage_to_a_program_crashes_the_parser),
    };
    return cmocka_run_group_tests_name("syntax", tests, NULL, NULL);
}
