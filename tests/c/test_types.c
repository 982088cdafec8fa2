/* The types room: what programs mean by their names and types, and what is said when they mean nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "types/types.h"
#include "small_library.h"

typedef struct Fixture {
    CtArena *arena;
    CtContext context;
    CtFixities fixities;
    CtTypes *types;
    CtModule *module;
    jmp_buf handler;
} Fixture;

static bool infer(Fixture *f, const char *name, const char *text, bool is_library) {
    uint32_t source = ct_source_add(&f->context, name, text, strlen(text), is_library);
    f->module = ct_syntax_parse_module(&f->context, source);
    if (!f->module || f->context.error_count) return false;
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
    return infer(f, "library", small_library, true) ? 0 : 1;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    ct_arena_free(f->arena);
    free(f);
    return 0;
}

/* The messages so far, with their helps, one a line. */
static const char *messages(Fixture *f) {
    CtText text = ct_text(f->arena);
    ct_text_puts(&text, "");
    for (CtDiag *diag = f->context.diags; diag; diag = diag->next) {
        ct_text_printf(&text, "%s: %s", ct_error_name(diag->code), diag->message);
        if (diag->help) ct_text_printf(&text, " | %s", diag->help);
        ct_text_putc(&text, '\n');
    }
    return text.data ? text.data : "";
}

static void types_of(void **state, const char *program, const char *expected) {
    Fixture *f = *state;
    bool sound = infer(f, "program.cot", program, false);
    if (!sound) fail_msg("%s", messages(f));
    CtEntity **entities;
    uint32_t count = ct_types_module_entities(f->types, f->module, &entities);
    CtText text = ct_text(f->arena);
    for (uint32_t i = 0; i < count; i++) {
        ct_text_printf(&text, "%s :: ", entities[i]->name->text);
        ct_types_scheme_print(&text, f->types, &entities[i]->scheme);
        ct_text_putc(&text, '\n');
    }
    assert_string_equal(text.data, expected);
}

static void refused(void **state, const char *program, const char *expected) {
    Fixture *f = *state;
    assert_false(infer(f, "program.cot", program, false));
    assert_string_equal(messages(f), expected);
}

/* ---- sound programs ---- */

static void functions_get_their_most_general_types(void **state) {
    types_of(state,
             "compose f g x = f (g x)\n"
             "twice f = f . f\n"
             "pair x y = (x, y)\n"
             "third (_, _, c) = c\n"
             "apply = \\f -> \\x -> f x\n"
             "swap' (a, b) = (b, a)\n",
             "compose :: (a -> b) -> (c -> a) -> c -> b\n"
             "twice :: (a -> a) -> a -> a\n"
             "pair :: a -> b -> (a, b)\n"
             "third :: (a, b, c) -> c\n"
             "apply :: (a -> b) -> a -> b\n"
             "swap' :: (a, b) -> (b, a)\n");
}

static void constraints_are_inferred_and_superclasses_left_out(void **state) {
    types_of(state,
             "square x = x * x\n"
             "biggest x y = if x == y then x else max x y\n"
             "mean xs = sum xs / fromIntegral (length xs)\n"
             "text x = show x ++ \"!\"\n",
             "square :: Num a => a -> a\n"
             "biggest :: Ord a => a -> a -> a\n"
             "mean :: (Foldable t, Fractional a) => t a -> a\n"
             "text :: Show a => a -> String\n");
}

static void let_bound_functions_are_polymorphic(void **state) {
    types_of(state,
             "f x = let pair' y = (y, x) in (pair' True, pair' 'c')\n"
             "g z = (h z, h \"s\") where h a = [a]\n"
             "nested x = let a y = let b w = (w, y, x) in (b 'c', b True) in (a x, a 'd')\n",
             "f :: a -> ((Bool, a), (Char, a))\n"
             "g :: a -> ([a], [String])\n"
             "nested :: a -> (((Char, a, a), (Bool, a, a)), ((Char, Char, a), (Bool, Char, a)))\n");
}

static void lambda_bound_variables_are_not(void **state) {
    refused(state, "f g = (g True, g 'c')\n", "E0301: expected `Bool` as the first argument of `g`, found `Char`\n");
}

static void groups_are_ordered_by_dependency(void **state) {
    types_of(state,
             "a = b 1.5\n"
             "b x = c x\n"
             "c x = x\n"
             "isEven n = if n == 0 then True else isOdd (n - 1)\n"
             "isOdd n = if n == 0 then False else isEven (n - 1)\n"
             "use = (c 'x', c True, isEven 3)\n",
             "a :: Double\n"
             "b :: a -> a\n"
             "c :: a -> a\n"
             "isEven :: Num a => a -> Bool\n"
             "isOdd :: Num a => a -> Bool\n"
             "use :: (Char, Bool, Bool)\n");
}

static void the_monomorphism_restriction_holds(void **state) {
    types_of(state,
             "plus = (+)\n"
             "real = plus 1 2.5\n"
             "empty = []\n"
             "both = (1 : empty, 'c' : empty)\n"
             "number = 3\n"
             "(one, same) = (1, \\x -> x)\n"
             "applied = (same 'c', same one)\n"
             "eta x y = x + y\n",
             "plus :: Double -> Double -> Double\n"
             "real :: Double\n"
             "empty :: [a]\n"
             "both :: ([Int], String)\n"
             "number :: Int\n"
             "one :: Int\n"
             "same :: a -> a\n"
             "applied :: (Char, Int)\n"
             "eta :: Num a => a -> a -> a\n");
}

static void numbers_default_to_int_and_then_to_double(void **state) {
    types_of(state, "a = show 3\nb = show 2.5\nc = length []\nd = 2 / 3\ne = [1 .. 3]\nf = show []\n",
             "a :: String\nb :: String\nc :: Int\nd :: Double\ne :: [Int]\nf :: String\n");
}

static void points_of_derivatives_default_to_double(void **state) {
    Fixture *f = *state;
    uint32_t source = ct_source_add(&f->context, "point", "[1, 2]", 6, false);
    CtExpr *expr = ct_syntax_parse_expression(&f->context, source);
    ct_types_prefer_double(f->types, true);
    assert_true(ct_types_infer_expression(f->types, expr, NULL));
    CtText text = ct_text(f->arena);
    ct_types_ty_print(&text, f->types, expr->type, true);
    assert_string_equal(text.data, "[Double]");
}

static void data_types_may_be_recursive_mutual_and_of_constructors(void **state) {
    types_of(state,
             "data Tree a = Leaf | Node (Tree a) a (Tree a) deriving (Eq, Ord, Show)\n"
             "data Rose a = Rose a (Forest a)\n"
             "data Forest a = Forest [Rose a]\n"
             "newtype Fix f = In (f (Fix f))\n"
             "type Pair a = (a, a)\n"
             "type Table k = [Pair k]\n"
             "depth Leaf = 0\n"
             "depth (Node l _ r) = 1 + max (depth l) (depth r)\n"
             "insert x Leaf = Node Leaf x Leaf\n"
             "insert x t@(Node l y r) | x < y = Node (insert x l) y r\n"
             "                        | x > y = Node l y (insert x r)\n"
             "                        | otherwise = t\n"
             "size (Rose _ (Forest rs)) = 1 + sum (map size rs)\n"
             "out (In x) = x\n"
             "table :: Table Int -> Pair Int\n"
             "table (p : _) = p\n"
             "text t = show (insert 'c' t) ++ show (t == Leaf)\n",
             "depth :: (Num b, Ord b) => Tree a -> b\n"
             "insert :: Ord a => a -> Tree a -> Tree a\n"
             "size :: Num b => Rose a -> b\n"
             "out :: Fix t -> t (Fix t)\n"
             "table :: [(Int, Int)] -> (Int, Int)\n"
             "text :: Tree Char -> String\n");
}

static void classes_of_types_and_of_constructors_can_be_declared(void **state) {
    types_of(state,
             "class Shape s where\n"
             "  area :: s -> Double\n"
             "  scaled :: Double -> s -> s\n"
             "  describe :: Show b => b -> s -> String\n"
             "  describe b s = show b ++ show (area s)\n"
             "data Square = Square Double\n"
             "instance Shape Square where\n"
             "  area (Square a) = a * a\n"
             "  scaled k (Square a) = Square (k * a)\n"
             "data Box a = Box a\n"
             "instance Functor Box where map f (Box a) = Box (f a)\n"
             "instance Show a => Show (Box a) where show (Box a) = show a\n"
             "total xs = sum (map area xs)\n"
             "lift f = map (map f)\n"
             "shown = show (map (+ 1) (Box 2))\n",
             "area :: Shape s => s -> Double\n"
             "scaled :: Shape s => Double -> s -> s\n"
             "describe :: (Show b, Shape s) => b -> s -> String\n"
             "total :: (Foldable t, Shape a) => t a -> Double\n"
             "lift :: (Functor t, Functor u) => (a -> b) -> t (u a) -> t (u b)\n"
             "shown :: String\n");
}

static void signatures_may_be_narrower_and_annotations_are_checked(void **state) {
    types_of(state,
             "f :: Int -> Int -> Int\n"
             "f x y = x\n"
             "same :: a -> a\n"
             "same x = x\n"
             "three = (3 :: Double)\n"
             "ident = (id :: a -> a) 'c'\n"
             "g (x :: Int) = x\n",
             "f :: Int -> Int -> Int\n"
             "same :: a -> a\n"
             "three :: Double\n"
             "ident :: Char\n"
             "g :: Int -> Int\n");
}

static void every_form_of_expression_has_its_type(void **state) {
    types_of(state,
             "sections = (map (+ 1) [1, 2], map (2 *) [3], map (subtract' 1) [1])\n"
             "  where subtract' x y = y - x\n"
             "ranges n = ([n ..], [n, n ..], [n .. n], [1, n .. 9])\n"
             "array = [|1.5, 2|]\n"
             "tuples = ((,) 1 'c', (,,) True)\n"
             "negated x = -x\n"
             "guards x | Just y <- x, y > 0 = y\n"
             "         | let z = 2, otherwise = z\n"
             "comprehension xs ys = [(x, y) | x <- xs, x > 0, let z = x, y <- ys z]\n"
             "cases x = case x of { (0, 'c', []) -> \"zero\"; (_, _, p@(y : _)) -> p; _ -> \"other\" }\n",
             "sections :: ([Int], [Int], [Int])\n"
             "ranges :: (Enum a, Num a) => a -> ([a], [a], [a], [a])\n"
             "array :: Array Double\n"
             "tuples :: ((Int, Char), a -> b -> (Bool, a, b))\n"
             "negated :: Num a => a -> a\n"
             "guards :: (Num a, Ord a) => Maybe a -> a\n"
             "comprehension :: (Num a, Ord a) => [a] -> (a -> [b]) -> [(a, b)]\n"
             "cases :: Num a => (a, Char, String) -> String\n");
}

static void fields_have_names(void **state) {
    types_of(state,
             "data P a = P { px :: a, py :: Int } | Q { px :: a } deriving (Eq, Show)\n"
             "shift p = p { py = py p + 1 }\n"
             "retype p = p { px = 'c' }\n"
             "make x = P { py = 2, px = x }\n"
             "isQ Q {} = True\n"
             "isQ P { px = x, py = 3 } = x\n"
             "isQ _ = False\n",
             "px :: P a -> a\n"
             "py :: P a -> Int\n"
             "shift :: P a -> P a\n"
             "retype :: P a -> P Char\n"
             "make :: a -> P a\n"
             "isQ :: P Bool -> Bool\n");
}

static void fields_are_those_of_the_constructor(void **state) {
    refused(state,
            "data V = V { vx, vy :: Double }\n"
            "a = V { vx = 1 }\n"
            "b = V { vx = 1, vy = 2, vz = 3 }\n"
            "c v = v { vx = 'c' }\n"
            "d v = v { wx = 1 }\n",
            "E0304: `V` is made without its field `vy` | all fields are given a value: `vy = …`\n"
            "E0302: `V` has no field `vz` | perhaps `vx` is meant\n"
            "E0301: expected `Double` as the field `vx`, found `Char`\n"
            "E0302: the field `wx` is not defined | perhaps `vx` is meant\n");
}

static void uses_of_hidden_names_find_the_library(void **state) {
    types_of(state,
             "negate x = 'n'\n"
             "fromInt x = 'f'\n"
             "f x = -x + 3\n",
             "negate :: a -> Char\n"
             "fromInt :: a -> Char\n"
             "f :: Num a => a -> a\n");
}

static void a_signature_allows_other_types_inside_the_recursion(void **state) {
    types_of(state,
             "f :: Show a => a -> Int -> String\n"
             "f x n = if n == 0 then show x else g (n - 1)\n"
             "g n = f 'c' n ++ f True n\n"
             "local = h 3 where\n"
             "  h :: Show a => a -> String\n"
             "  h x = k 2 ++ show x\n"
             "  k n = if n == 0 then h 'c' else h True\n",
             "f :: Show a => a -> Int -> String\n"
             "g :: Int -> String\n"
             "local :: String\n");
}

/* ---- what inference leaves in the tree ---- */

static void settled(CtTy *type) {
    assert_non_null(type);
    type = ct_types_ty_resolve(type);
    assert_int_not_equal(type->kind, TY_META);
    if (type->kind != TY_APP) return;
    settled(type->fun);
    settled(type->arg);
}

static void check_group(CtDecls *decls, uint32_t *count);

static void check_pattern(CtPat *pat) {
    settled(pat->type);
    for (uint32_t i = 0; i < pat->part_count; i++) check_pattern(pat->parts[i]);
}

static void check_expression(CtExpr *expr, uint32_t *count) {
    ++*count;
    settled(expr->type);
    for (uint32_t i = 0; i < expr->inst_count; i++) settled(expr->inst[i]);
    for (uint32_t i = 0; i < expr->part_count; i++)
        if (expr->parts[i]) check_expression(expr->parts[i], count);
    for (uint32_t i = 0; expr->kind == EXPR_LAM && i < expr->pat_count; i++) check_pattern(expr->pats[i]);
    for (uint32_t i = 0; expr->kind == EXPR_CASE && i < expr->alt_count; i++) {
        check_pattern(expr->alts[i].pat);
        for (uint32_t j = 0; j < expr->alts[i].rhs.guarded_count; j++)
            check_expression(expr->alts[i].rhs.guarded[j].body, count);
        check_group(&expr->alts[i].rhs.where, count);
    }
    if (expr->kind == EXPR_LET) check_group(&expr->decls, count);
}

static void check_binding(CtBinding *binding, uint32_t *count) {
    for (uint32_t i = 0; i < binding->clause_count; i++) {
        CtClause *clause = &binding->clauses[i];
        for (uint32_t j = 0; j < clause->pat_count; j++) check_pattern(clause->pats[j]);
        for (uint32_t j = 0; j < clause->rhs.guarded_count; j++) check_expression(clause->rhs.guarded[j].body, count);
        check_group(&clause->rhs.where, count);
    }
}

static void check_group(CtDecls *decls, uint32_t *count) {
    for (uint32_t i = 0; i < decls->group_count; i++)
        for (uint32_t j = 0; j < decls->groups[i].count; j++) check_binding(decls->groups[i].bindings[j], count);
}

static void no_type_variable_is_left_open(void **state) {
    Fixture *f = *state;
    bool sound = infer(f, "program.cot",
                       "data T a = A a | B (T a) [Int] deriving (Eq, Ord, Show)\n"
                       "f x = let g y = (y, length [], show (fromInt 3)) ; h = 3 in (g x, g h)\n"
                       "k = map (\\x -> show (x + 1)) [1, 2] where (a, b) = ([], 2.5)\n"
                       "m xs | null' <- length xs, null' > 0 = foldr (\\a r -> a : r) [] xs\n"
                       "     | otherwise = []\n",
                       false);
    if (!sound) fail_msg("%s", messages(f));
    uint32_t count = 0;
    check_group(&f->module->decls, &count);
    assert_true(count > 40);
    CtClass *show = ct_types_lookup_class(f->types, ct_intern_text(&f->context.symbols, "Show"));
    CtTyCon *type = ct_types_lookup_tycon(f->types, ct_intern_text(&f->context.symbols, "T"));
    CtInstance *instance = ct_types_instance_find(show, type);
    assert_non_null(instance);
    assert_non_null(instance->methods[0]);
    check_binding(instance->methods[0], &count);
    assert_ptr_equal(instance->generics[0]->preds->class_, show);
}

static void a_group_shares_its_generics(void **state) {
    Fixture *f = *state;
    assert_true(infer(f, "program.cot", "f x n = g x (n - 1)\ng x n = if n == 0 then x else f x n\n", false));
    CtDecls *decls = &f->module->decls;
    assert_int_equal(decls->group_count, 1);
    CtBindingGroup *group = &decls->groups[0];
    assert_int_equal(group->count, 2);
    assert_true(group->recursive);
    assert_int_equal(group->generic_count, 2);
    for (uint32_t i = 0; i < 2; i++) assert_ptr_equal(group->bindings[i]->entity->scheme.generics, group->generics);
    CtExpr *use = group->bindings[0]->clauses[0].rhs.guarded[0].body->parts[0];
    assert_ptr_equal(use->entity, group->bindings[1]->entity);
    assert_null(use->inst);
}

/* ---- refused programs ---- */

static void an_int_is_not_a_double(void **state) {
    refused(
        state, "f :: Int -> Double\nf n = sqrt n + 1\n",
        "E0301: expected `Double` as the first argument of `sqrt`, found `Int` | an Int does not become a Double by "
        "itself: write `fromIntegral` before it\n");
}

static void a_missing_instance_names_who_asks(void **state) {
    refused(state, "f xs = sum xs / length xs\n",
            "E0306: expected a real number on the right of `/`, found `Int` | an Int becomes a Double by "
            "`fromIntegral`; `div` "
            "divides whole numbers\n");
}

static void a_misspelt_name_is_suggested(void **state) {
    refused(state, "f xs = lenght xs\ng = f [1]\n",
            "E0302: the name `lenght` is not defined | perhaps `length` is meant\n");
}

static void unknown_types_constructors_and_classes_are_told(void **state) {
    refused(state, "f :: Doubel -> Int\nf x = 1\ng (Jsut x) = x\nh :: Shwo a => a -> Int\nh x = 2\n",
            "E0302: the type `Doubel` is not defined | perhaps `Double` is meant\n"
            "E0302: the class `Shwo` is not defined | perhaps `Show` is meant\n"
            "E0302: the constructor `Jsut` is not defined | perhaps `Just` is meant\n");
}

static void patterns_have_as_many_fields_as_constructors(void **state) {
    refused(state, "f (Just a b) = a\n", "E0304: `Just` has 1 field, but this pattern gives 2\n");
}

static void infinite_types_are_refused(void **state) {
    refused(
        state, "f x = x x\n",
        "E0305: expected `a` as the first argument of `x`, found `a -> b`: the type would be infinite | `x` is applied "
        "to itself\n");
}

static void too_many_arguments_are_counted(void **state) {
    refused(state, "f :: Int -> Int\nf x = x\ng = f 1 2\nh = 'c' 3\n",
            "E0307: `f` takes 1 argument, but is given 2\n"
            "E0307: `'c'` is not a function, but is given 1 argument | an operator is missing before the second value, "
            "such "
            "as `*`\n");
}

static void signatures_must_not_promise_too_much(void **state) {
    refused(
        state, "f :: a -> Int\nf x = x\ng :: a -> a\ng x = x + x\nh :: a -> b -> a\nh x y = y\n",
        "E0311: expected `Int`, as the signature of `f` says, found `a` | the signature promises this for every type "
        "`a`, but here it must be `Int`\n"
        "E0311: `+` needs `Num a`, which the signature does not promise | add it to the signature's context: Num a => "
        "…\n"
        "E0311: expected `a`, as the signature of `h` says, found `b` | the signature says that `a` and `b` may be "
        "different types\n");
}

static void definitions_and_signatures_belong_together(void **state) {
    refused(state, "f :: Int\ng = 1\ng = 2\nh (x, x) = x\n",
            "E0309: `g` is defined twice | a definition is no assignment: a new value has a new name, such as `g'`\n"
            "E0310: `f` has a signature, but no definition | define `f` beside its signature, or remove the signature\n"
            "E0309: `x` is defined twice | give it another name; to compare the two, write a guard: | x == x'\n");
}

static void branches_and_elements_agree(void **state) {
    refused(state, "f c = if c then 'a' else True\ng = ['a', True]\nh x = case x of { 1 -> 'a'; _ -> True }\n",
            "E0301: expected `Char`, as in the other branch of this `if`, found `Bool`\n"
            "E0301: expected `Char`, as the elements before, found `Bool`\n"
            "E0301: expected `Char`, as in the alternatives before, found `Bool`\n");
}

static void ambiguous_types_are_told(void **state) {
    refused(
        state,
        "class Monoid' a where { empty' :: a; size' :: a -> Int }\n"
        "f = size' empty'\n",
        "E0308: nothing says which type is meant here; it must have the class Monoid' | annotate the expression with "
        "its type: (… :: Type)\n");
}

#define GROWS_BY                                                                                                       \
    " | a type grows by tuples, lists and data types, not inside of arrays or functions: put those into a data type, " \
    "such as `data Row a = Row (Array a)`\n"

static void polymorphic_recursion_by_arrays_is_refused(void **state) {
    refused(state, "f :: a -> Int\nf x = f [|x|]\n", "E0316: `f` calls itself at a larger type, `Array a`" GROWS_BY);
}

static void data_types_nested_by_functions_are_refused(void **state) {
    refused(state, "data N a = Nil | N a (N (a -> a))\n",
            "E0316: the type `N` contains itself at a larger type, `N (a -> a)`" GROWS_BY);
}

static void cyclic_synonyms_and_superclasses_are_refused(void **state) {
    refused(
        state, "type A = [B]\ntype B = (A, Int)\nclass D a => C a where c :: a\nclass C a => D a where d :: a\n",
        "E0313: the type synonym `A` stands for itself | a type that contains itself is declared with `data`: data A = "
        "…\n"
        "E0313: the class `D` is its own superclass\n");
}

static void instances_are_of_constructors_once_with_superclasses(void **state) {
    refused(state,
            "data T = T\n"
            "instance Eq [Char] where a == b = True\n"
            "instance Ord T where a <= b = True\n"
            "instance Eq Int where a == b = True\n"
            "instance Show T where { show _ = \"T\"; shout _ = \"T\" }\n",
            "E0309: there is an instance Eq [] already | a type is in a class in one way: keep one of the two\n"
            "E0309: there is an instance Eq Int already | a type is in a class in one way: keep one of the two\n"
            "E0314: `shout` is not a method of the class Show | perhaps `show` is meant\n"
            "E0314: an instance of Ord needs an instance of its superclass Eq for `T` | write one, with no more in its "
            "context, or add `deriving (Eq)`\n");
}

static void only_what_can_be_derived_is(void **state) {
    refused(
        state, "data F = F (Int -> Int) deriving (Eq)\ndata G = G deriving (Num)\n",
        "E0315: the class Num cannot be derived | Eq, Ord, Show, Read, Enum, Bounded, Ix, Functor, Foldable and "
        "Traversable can, and any class for a newtype; write an instance of the "
        "others\n"
        "E0315: Eq cannot be derived for `F`: it has a field of type `Int -> Int` | functions can neither be compared "
        "nor shown\n");
}

static void a_failed_binding_makes_no_further_errors(void **state) {
    refused(state, "f x = not 'c'\ng = f 1 + 2\nh = f 'c' True\nk = show (f, g)\n",
            "E0301: expected `Bool` as the first argument of `not`, found `Char`\n");
}

static void types_take_their_number_of_arguments(void **state) {
    refused(state, "f :: Maybe -> Int\nf x = 1\ng :: Int Int\ng = 2\ninstance Functor Int where map = map\n",
            "E0303: a constructor that takes 1 type argument is meant here, not `Int`\n"
            "E0303: `Maybe` takes 1 type argument here, but is given 0 | say of what: `Maybe Double`, for example\n"
            "E0303: `Int` takes no type arguments here, but is given 1 | between the types of two arguments stands an "
            "arrow: `Int -> …`\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(functions_get_their_most_general_types),
        TEST(constraints_are_inferred_and_superclasses_left_out),
        TEST(let_bound_functions_are_polymorphic),
        TEST(lambda_bound_variables_are_not),
        TEST(groups_are_ordered_by_dependency),
        TEST(the_monomorphism_restriction_holds),
        TEST(numbers_default_to_int_and_then_to_double),
        TEST(points_of_derivatives_default_to_double),
        TEST(data_types_may_be_recursive_mutual_and_of_constructors),
        TEST(classes_of_types_and_of_constructors_can_be_declared),
        TEST(signatures_may_be_narrower_and_annotations_are_checked),
        TEST(every_form_of_expression_has_its_type),
        TEST(fields_have_names),
        TEST(fields_are_those_of_the_constructor),
        TEST(uses_of_hidden_names_find_the_library),
        TEST(a_signature_allows_other_types_inside_the_recursion),
        TEST(no_type_variable_is_left_open),
        TEST(a_group_shares_its_generics),
        TEST(an_int_is_not_a_double),
        TEST(a_missing_instance_names_who_asks),
        TEST(a_misspelt_name_is_suggested),
        TEST(unknown_types_constructors_and_classes_are_told),
        TEST(patterns_have_as_many_fields_as_constructors),
        TEST(infinite_types_are_refused),
        TEST(too_many_arguments_are_counted),
        TEST(signatures_must_not_promise_too_much),
        TEST(definitions_and_signatures_belong_together),
        TEST(branches_and_elements_agree),
        TEST(ambiguous_types_are_told),
        TEST(polymorphic_recursion_by_arrays_is_refused),
        TEST(data_types_nested_by_functions_are_refused),
        TEST(cyclic_synonyms_and_superclasses_are_refused),
        TEST(instances_are_of_constructors_once_with_superclasses),
        TEST(only_what_can_be_derived_is),
        TEST(a_failed_binding_makes_no_further_errors),
        TEST(types_take_their_number_of_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
