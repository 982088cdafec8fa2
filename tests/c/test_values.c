/* Values of the host: made, read, copied; and functions and derivatives on them, by native code and by the evaluator.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cotan.h"

#define expect_near(found, expected) assert_true(fabs((found) - (expected)) <= 1e-12)

static const char source[] =
    "import qualified Data.Array as A\n"
    "import Data.Map (Map)\n"
    "import qualified Data.Map as Map\n"
    "import Data.Set (Set)\n"
    "import qualified Data.Set as Set\n"
    "import Data.Word\n"
    "data Tree = Leaf | Node Tree Double Tree\n"
    "data Layer = Layer { weights :: Array (Array Double), bias :: Array Double }\n"
    "data Colour = Red | Green | Blue deriving (Eq, Ord)\n"
    "data Backwards = Backwards Int deriving Eq\n"
    "instance Ord Backwards where\n"
    "  Backwards a <= Backwards b = b <= a\n"
    "energy :: Tree -> Double\n"
    "energy Leaf = 0\n"
    "energy (Node l x r) = energy l + x * x * x + energy r\n"
    "forward :: [Layer] -> Array Double -> Double\n"
    "forward layers xs = sum (foldl step xs layers)\n"
    "step :: Array Double -> Layer -> Array Double\n"
    "step xs l = zipWith (\\row b -> sum (zipWith (\\w x -> w * x) row xs) + b) (weights l) (bias l)\n"
    "total :: Map String Double -> Maybe Double -> Double\n"
    "total m bound = maybe s (\\b -> min b s) bound where s = Map.foldr (\\x y -> x ^ 2 + y) 0 m\n"
    "look :: Map (Int, Colour) String -> Int -> Colour -> Maybe String\n"
    "look m n c = Map.lookup (n, c) m\n"
    "evens :: Set Int -> Set Int\n"
    "evens s = Set.filter even s\n"
    "kinds :: (Bool, Char, String, Int, Float, ()) -> ((), Float, Int, String, Char, Bool)\n"
    "kinds (a, b, c, d, e, f) = (f, e, d + 1, reverse c, succ b, not a)\n"
    "ranked :: Map Integer String -> Set Integer -> ([String], [Integer])\n"
    "ranked m s = (Map.elems m, map (* 3) (Set.toList s))\n"
    "odd' :: Map Backwards Double -> Double\n"
    "odd' m = Map.foldr (+) 0 m\n"
    "square :: Array (Array Double) -> Array (Array Double)\n"
    "square xs = map (\\row -> map (\\x -> x * x) row) xs\n"
    "points :: Array (Double, Colour) -> [Colour]\n"
    "points ps = foldr (\\p cs -> snd p : cs) [] ps\n"
    "singles :: (Array Float, Float) -> Float\n"
    "singles (xs, x) = sum xs + x\n"
    "bytes :: (Array Word8, Word8) -> Int\n"
    "bytes (xs, x) = fromIntegral (foldl (+) x xs)\n"
    "bounded :: A.Array Int Double -> Double\n"
    "bounded a = a A.! snd (A.bounds a)\n"
    "quadratic :: (Double, [Double]) -> Double\n"
    "quadratic (a, xs) = a * sum (map (\\x -> x * x) xs)\n"
    "upwards :: (Double, [Double]) -> [Double]\n"
    "upwards (a, xs) = if a == 0 then error \"nothing\" else reverse xs\n"
    "apply :: (Double -> Double) -> Double\n"
    "apply f = f 1\n"
    "answer :: [Int]\n"
    "answer = [4, 2]\n";

typedef struct Setting {
    cotan_context *context;
    cotan_program *program;
    bool native;
} Setting;

static void each_engine(void (*test)(const Setting *s)) {
    for (int native = 0; native < 2; native++) {
        if (native && getenv("COTAN_NATIVE") != NULL) continue;
        Setting s = {.context = cotan_open(&(cotan_limits){.memory = 256 << 20}), .native = native};
        assert_non_null(s.context);
        cotan_error *error = cotan_load(s.context, "source.cot", source, strlen(source), &s.program);
        if (error != NULL) print_error("%s", cotan_error_text(error, false, false));
        assert_null(error);
        test(&s);
        cotan_close(s.context);
    }
}

static cotan_function *make(const Setting *s, cotan_mode mode, const char *name) {
    cotan_call call = {.mode = mode, .function = name, .native = s->native};
    cotan_function *function;
    cotan_error *error = cotan_function_make(s->program, &call, &function);
    if (error != NULL) print_error("%s", cotan_error_text(error, false, false));
    assert_null(error);
    if (s->native) assert_null(cotan_function_signature(function)->not_native);
    return function;
}

/* ---- notation for values ---- */

#define PARTS(...)      (cotan_value *[]){__VA_ARGS__}, sizeof(cotan_value *[]){__VA_ARGS__} / sizeof(cotan_value *)
#define TUPLE(...)      cotan_value_of(COTAN_KIND_TUPLE, PARTS(__VA_ARGS__))
#define LIST(...)       cotan_value_of(COTAN_KIND_LIST, PARTS(__VA_ARGS__))
#define MAP(...)        cotan_value_of(COTAN_KIND_MAP, PARTS(__VA_ARGS__))
#define SET(...)        cotan_value_of(COTAN_KIND_SET, PARTS(__VA_ARGS__))
#define DATA(name, ...) cotan_value_data(name, PARTS(__VA_ARGS__))

static cotan_value *real(double x) { return cotan_value_double(x); }
static cotan_value *whole(int64_t n) { return cotan_value_int(n); }
static cotan_value *text(const char *s) { return cotan_value_string(s, strlen(s)); }
static cotan_value *large(const char *digits) { return cotan_value_integer(digits, strlen(digits)); }
static cotan_value *bare(const char *name) { return cotan_value_data(name, NULL, 0); }
static cotan_value *node(cotan_value *l, double x, cotan_value *r) { return DATA("Node", l, real(x), r); }

/* Calls and frees what goes in. */
static const cotan_value *value_of(cotan_function *f, cotan_value *at) {
    const cotan_value *value;
    cotan_error *error = cotan_apply_values(f, at, NULL, &value, NULL);
    if (error != NULL) print_error("%s", cotan_error_text(error, false, false));
    assert_null(error);
    assert_non_null(value);
    cotan_value_free(at);
    return value;
}

static const cotan_value *derivative_of(cotan_function *f, cotan_value *at, cotan_value *with) {
    const cotan_value *derivative;
    cotan_error *error = cotan_apply_values(f, at, with, NULL, &derivative);
    if (error != NULL) print_error("%s", cotan_error_text(error, false, false));
    assert_null(error);
    assert_non_null(derivative);
    cotan_value_free(at);
    cotan_value_free(with);
    return derivative;
}

static const cotan_value *part(const cotan_value *value, size_t index) {
    const cotan_value *found = cotan_value_part(value, index);
    assert_non_null(found);
    return found;
}

static double real_of(const cotan_value *value) {
    assert_int_equal(cotan_value_kind(value), COTAN_KIND_DOUBLE);
    return cotan_value_as_double(value);
}

static void expect_fails(cotan_function *f, cotan_value *at, const char *code, const char *words) {
    const cotan_value *value;
    cotan_error *error = cotan_apply_values(f, at, NULL, &value, NULL);
    assert_non_null(error);
    assert_null(value);
    assert_string_equal(cotan_error_code(error, 0), code);
    if (strstr(cotan_error_message(error, 0), words) == NULL) print_error("%s", cotan_error_message(error, 0));
    assert_non_null(strstr(cotan_error_message(error, 0), words));
    cotan_value_free(at);
}

/* ---- values alone ---- */

static void made_and_read(void **state) {
    (void)state;
    double numbers[6] = {1, 2, 3, 4, 5, 6};
    cotan_value *v = TUPLE(real(2.5), whole(-3), text("a\xc3\xa9"), cotan_value_bool(true), cotan_value_char(0x1F600),
                           cotan_value_numbers(COTAN_DOUBLE, numbers, 2, (size_t[]){2, 3}), bare("Leaf"));
    cotan_value *copy = cotan_value_copy(v);
    cotan_value_free(v);
    memset(numbers, 0, sizeof numbers);
    assert_int_equal(cotan_value_count(copy), 7);
    expect_near(real_of(part(copy, 0)), 2.5);
    assert_int_equal(cotan_value_as_int(part(copy, 1)), -3);
    expect_near(cotan_value_as_double(part(copy, 1)), -3);
    assert_string_equal(cotan_value_text(part(copy, 2)), "a\xc3\xa9");
    assert_int_equal(cotan_value_text_length(part(copy, 2)), 3);
    assert_int_equal(cotan_value_as_int(part(copy, 3)), 1);
    assert_int_equal(cotan_value_as_int(part(copy, 4)), 0x1F600);
    cotan_element element;
    unsigned rank;
    const size_t *size;
    const double *copied = cotan_value_as_numbers(part(copy, 5), &element, &rank, &size);
    assert_non_null(copied);
    assert_int_equal(element, COTAN_DOUBLE);
    assert_int_equal(rank, 2);
    assert_int_equal(size[1], 3);
    expect_near(copied[5], 6); /* the numbers are the copy's own */
    assert_null(cotan_value_as_numbers(copy, &element, &rank, &size));
    assert_string_equal(cotan_value_text(part(copy, 6)), "Leaf");
    assert_null(cotan_value_part(copy, 7));
    cotan_value_free(copy);
    assert_null(cotan_value_of(COTAN_KIND_MAP, PARTS(whole(1)))); /* a key without a value */
    assert_null(TUPLE(whole(1), NULL, whole(2)));
}

static void depth_is_bounded(void **state) {
    (void)state;
    cotan_value *v = bare("Leaf");
    for (int i = 1; i < COTAN_DEEPEST; i++) v = node(v, i, bare("Leaf"));
    assert_non_null(v);
    assert_null(node(v, 0, bare("Leaf")));
}

/* ---- functions ---- */

static void trees_of(const Setting *s) {
    cotan_function *f = make(s, COTAN_GRAD, "energy");
    const cotan_signature *signature = cotan_function_signature(f);
    assert_non_null(signature->no_buffers);
    assert_string_equal(signature->at_type->name, "Tree");
    assert_int_equal(signature->at_type->constructor_count, 2);
    assert_string_equal(signature->at_type->constructors[1].name, "Node");
    assert_ptr_equal(signature->at_type->constructors[1].types[0], signature->at_type);
    cotan_buffer none;
    assert_string_equal(cotan_error_code(cotan_apply(f, &none, &none), 0), "E0613");
    for (int i = 0; i < 3; i++) {
        const cotan_value *g = derivative_of(f, node(node(bare("Leaf"), 2, bare("Leaf")), 3, bare("Leaf")), NULL);
        assert_string_equal(cotan_value_text(g), "Node");
        expect_near(real_of(part(g, 1)), 27);
        expect_near(real_of(part(part(g, 0), 1)), 12);
        assert_string_equal(cotan_value_text(part(g, 2)), "Leaf");
    }
    expect_fails(f, node(bare("Leaf"), 2, bare("Leave")), "E0601", "at .Node[2]: `Leave` is no constructor of Tree");
    expect_fails(f, DATA("Node", bare("Leaf"), text("x"), bare("Leaf")), "E0601",
                 "expected Double, found the string \"x\"");
    expect_fails(f, DATA("Node", bare("Leaf")), "E0601", "Node takes 3 arguments, found 1");
    cotan_value *deep = bare("Leaf");
    for (int i = 1; i < COTAN_DEEPEST; i++) deep = node(deep, 1, bare("Leaf"));
    cotan_function *run = make(s, COTAN_RUN, "energy");
    expect_near(real_of(value_of(run, deep)), COTAN_DEEPEST - 1);
    cotan_function_free(run);
    cotan_function_free(f);
}

static void trees(void **state) {
    (void)state;
    each_engine(trees_of);
}

static cotan_value *layer(const double *w, const double *b) {
    return DATA("Layer", cotan_value_numbers(COTAN_DOUBLE, w, 2, (size_t[]){2, 2}),
                cotan_value_numbers(COTAN_DOUBLE, b, 1, (size_t[]){2}));
}

static void records_of(const Setting *s) {
    static const double w[4] = {1, 2, 3, 4}, b[2] = {0, 1}, xs[2] = {1, -1};
    cotan_function *f = make(s, COTAN_GRAD, "forward");
    const cotan_type *type = cotan_function_signature(f)->at_type->parts[0];
    assert_int_equal(type->kind, COTAN_KIND_LIST);
    assert_string_equal(type->parts[0]->constructors[0].names[1], "bias");
    cotan_value *at = TUPLE(LIST(layer(w, b), layer(w, b)), cotan_value_numbers(COTAN_DOUBLE, xs, 1, (size_t[]){2}));
    const cotan_value *g = derivative_of(f, at, NULL);
    cotan_element element;
    unsigned rank;
    const size_t *size;
    /* y = W x + b = (-1, 0); the sum of W y + b: by the second W is (y, y), by x is Wᵀ Wᵀ 1 */
    const double *dw = cotan_value_as_numbers(part(part(part(g, 0), 1), 0), &element, &rank, &size);
    assert_int_equal(rank, 2);
    for (int i = 0; i < 4; i++) expect_near(dw[i], i % 2 == 0 ? -1 : 0);
    const double *dx = cotan_value_as_numbers(part(g, 1), &element, &rank, &size);
    expect_near(dx[0], 4 * 1 + 6 * 3);
    expect_near(dx[1], 4 * 2 + 6 * 4);
    cotan_function_free(f);
}

static void records(void **state) {
    (void)state;
    each_engine(records_of);
}

static void maps_of(const Setting *s) {
    cotan_function *f = make(s, COTAN_GRAD, "total");
    const cotan_type *type = cotan_function_signature(f)->at_type;
    assert_int_equal(type->parts[0]->kind, COTAN_KIND_MAP);
    assert_int_equal(type->parts[0]->parts[0]->kind, COTAN_KIND_STRING);
    const cotan_value *g = derivative_of(
        f, TUPLE(MAP(text("b"), real(3), text("a"), real(2), text("ab"), real(5)), bare("Nothing")), NULL);
    assert_int_equal(cotan_value_kind(part(g, 0)), COTAN_KIND_MAP);
    static const char *const keys[] = {"a", "ab", "b"};
    static const double slopes[] = {4, 10, 6};
    for (size_t i = 0; i < 3; i++) { /* in the order of the keys */
        assert_string_equal(cotan_value_text(part(part(g, 0), 2 * i)), keys[i]);
        expect_near(real_of(part(part(g, 0), 2 * i + 1)), slopes[i]);
    }
    g = derivative_of(f, TUPLE(MAP(text("b"), real(3)), DATA("Just", real(4))), NULL);
    expect_near(real_of(part(part(g, 0), 1)), 0);
    expect_near(real_of(part(part(g, 1), 0)), 1);
    expect_fails(f, TUPLE(MAP(text("b"), real(3), text("b"), real(2)), bare("Nothing")), "E0601", "is there twice");
    cotan_function *look = make(s, COTAN_RUN, "look");
    cotan_value *entries[200];
    for (int i = 0; i < 100; i++) { /* enough to meet a tree that is out of order */
        int n = (i * 37) % 100;
        entries[2 * i] = TUPLE(whole(n / 3), bare(n % 3 == 0 ? "Red" : n % 3 == 1 ? "Green" : "Blue"));
        char name[8] = {(char)('a' + n / 10), (char)('a' + n % 10)};
        entries[2 * i + 1] = text(name);
    }
    cotan_value *map = cotan_value_of(COTAN_KIND_MAP, entries, 200);
    for (int n = 0; n < 100; n++) {
        const cotan_value *found = value_of(look, TUPLE(cotan_value_copy(map), whole(n / 3),
                                                        bare(n % 3 == 0   ? "Red"
                                                             : n % 3 == 1 ? "Green"
                                                                          : "Blue")));
        assert_string_equal(cotan_value_text(found), "Just");
        char name[8] = {(char)('a' + n / 10), (char)('a' + n % 10)};
        assert_string_equal(cotan_value_text(part(found, 0)), name);
    }
    cotan_value_free(map);
    cotan_function *evens = make(s, COTAN_RUN, "evens");
    const cotan_value *set = value_of(evens, SET(whole(5), whole(-4), whole(2), whole(0)));
    assert_int_equal(cotan_value_kind(set), COTAN_KIND_SET);
    assert_int_equal(cotan_value_count(set), 3);
    static const int left[] = {-4, 0, 2};
    for (size_t i = 0; i < 3; i++) assert_int_equal(cotan_value_as_int(part(set, i)), left[i]);
    cotan_function *ranked = make(s, COTAN_RUN, "ranked");
    assert_int_equal(cotan_function_signature(ranked)->at_type->parts[1]->parts[0]->kind, COTAN_KIND_INTEGER);
    const cotan_value *in_order = value_of(ranked, TUPLE(MAP(large("70000000000000000000"), text("c"), whole(-4),
                                                             text("b"), large("-70000000000000000000"), text("a")),
                                                         SET(large("0030000000000000000000"), whole(7))));
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(cotan_value_text(part(part(in_order, 0), i)), i == 0 ? "a" : i == 1 ? "b" : "c");
    assert_string_equal(cotan_value_text(part(part(in_order, 1), 0)), "21");
    assert_string_equal(cotan_value_text(part(part(in_order, 1), 1)), "90000000000000000000");
    expect_fails(ranked, TUPLE(MAP(large("7x"), text("c")), SET()), "E0601", "are no decimal digits");
    expect_fails(ranked, TUPLE(MAP(large("-"), text("c")), SET()), "E0601", "are no decimal digits");
    expect_fails(ranked, TUPLE(MAP(real(7), text("c")), SET()), "E0601", "expected Integer, found the number 7");
    expect_fails(ranked, TUPLE(MAP(), SET(whole(7), large("7"))), "E0601", "is there twice");
    cotan_function *odd = make(s, COTAN_RUN, "odd'");
    assert_true(cotan_function_signature(odd)->at_type->parts[0]->own_order);
    expect_fails(odd, MAP(DATA("Backwards", whole(1)), real(2)), "E0601", "an order of the program's own");
}

static void maps(void **state) {
    (void)state;
    each_engine(maps_of);
}

static void kinds_of(const Setting *s) {
    cotan_function *f = make(s, COTAN_RUN, "kinds");
    cotan_value *at = TUPLE(cotan_value_bool(false), cotan_value_char('y'), text("abc"), whole(6), real(0.1), TUPLE());
    const cotan_value *v = value_of(f, at);
    assert_int_equal(cotan_value_count(part(v, 0)), 0);
    assert_true(real_of(part(v, 1)) == (double)0.1f); /* rounded to a Float */
    assert_int_equal(cotan_value_as_int(part(v, 2)), 7);
    assert_string_equal(cotan_value_text(part(v, 3)), "cba");
    assert_int_equal(cotan_value_as_int(part(v, 4)), 'z');
    assert_int_equal(cotan_value_as_int(part(v, 5)), 1);
    cotan_function *points = make(s, COTAN_RUN, "points");
    cotan_value *pair[] = {TUPLE(real(1), bare("Blue")), TUPLE(whole(2), bare("Red"))};
    v = value_of(points, cotan_value_of(COTAN_KIND_ARRAY, pair, 2));
    assert_string_equal(cotan_value_text(part(v, 0)), "Blue");
    assert_string_equal(cotan_value_text(part(v, 1)), "Red");
    cotan_function *answer = make(s, COTAN_RUN, "answer");
    v = value_of(answer, NULL);
    assert_int_equal(cotan_value_as_int(part(v, 1)), 2);
    cotan_call call = {.mode = COTAN_RUN, .function = "apply", .native = s->native};
    cotan_function *none;
    assert_string_equal(cotan_error_code(cotan_function_make(s->program, &call, &none), 0), "E0613");
}

static void kinds(void **state) {
    (void)state;
    each_engine(kinds_of);
}

static void arrays_of(const Setting *s) {
    cotan_function *f = make(s, COTAN_RUN, "square");
    double xs[6] = {1, 2, 3, 4, 5, 6};
    int64_t ns[2] = {3, 4};
    cotan_value *rows[2] = {cotan_value_numbers(COTAN_DOUBLE, xs, 1, (size_t[]){2}),
                            cotan_value_numbers(COTAN_INT, ns, 1, (size_t[]){2})};
    cotan_element element;
    unsigned rank;
    const size_t *size;
    const cotan_value *v = value_of(f, cotan_value_numbers(COTAN_DOUBLE, xs, 2, (size_t[]){3, 2}));
    const double *out = cotan_value_as_numbers(v, &element, &rank, &size);
    assert_int_equal(size[0], 3);
    for (int i = 0; i < 6; i++) expect_near(out[i], xs[i] * xs[i]);
    out = cotan_value_as_numbers(value_of(f, cotan_value_of(COTAN_KIND_ARRAY, rows, 2)), &element, &rank, &size);
    expect_near(out[3], 16); /* rows apart, and integers for Doubles */
    cotan_value *ragged[2] = {cotan_value_numbers(COTAN_DOUBLE, xs, 1, (size_t[]){2}),
                              cotan_value_numbers(COTAN_DOUBLE, xs, 1, (size_t[]){3})};
    expect_fails(f, cotan_value_of(COTAN_KIND_ARRAY, ragged, 2), "E0601",
                 "at [1]: an array of arrays has elements of one shape");
    expect_fails(f, cotan_value_numbers(COTAN_DOUBLE, xs, 1, (size_t[]){6}), "E0601",
                 "expected Array (Array Double), found an array of 6 elements");
    v = value_of(f, cotan_value_numbers(COTAN_DOUBLE, xs, 2, (size_t[]){0, 2}));
    cotan_value_as_numbers(v, &element, &rank, &size);
    assert_int_equal(size[0], 0);
}

static void arrays(void **state) {
    (void)state;
    each_engine(arrays_of);
}

/* Numbers outside of their types, and parts that do not fit together, in values and in buffers. */
static void refused_of(const Setting *s) {
    double xs[2] = {1, 0x1.000001p60}, large = 1e39;
    cotan_function *f = make(s, COTAN_RUN, "singles");
    cotan_value *numbers = cotan_value_numbers(COTAN_DOUBLE, xs, 1, (size_t[]){1});
    expect_near(real_of(value_of(f, TUPLE(numbers, whole((1L << 60) + (1L << 36) + 1)))), 0x1.000002p60);
    numbers = cotan_value_numbers(COTAN_DOUBLE, xs, 1, (size_t[]){1});
    expect_fails(f, TUPLE(numbers, real(1e39)), "E0601", "is too large for a Float");
    numbers = cotan_value_numbers(COTAN_DOUBLE, &large, 1, (size_t[]){1});
    expect_fails(f, TUPLE(numbers, real(1)), "E0601", "is too large for a Float");

    f = make(s, COTAN_RUN, "bytes");
    cotan_value *byte = DATA("Word8'of", whole(255)), *other = DATA("Word8'of", whole(256));
    assert_int_equal(
        cotan_value_as_int(value_of(f, TUPLE(cotan_value_of(COTAN_KIND_ARRAY, &byte, 1), DATA("Word8'of", whole(1))))),
        0);
    expect_fails(f, TUPLE(cotan_value_of(COTAN_KIND_ARRAY, &other, 1), DATA("Word8'of", whole(1))), "E0601",
                 "at [0][0]: a Word8 is a number from 0 to 255");
    int64_t many[2] = {1, -1}, one = 300, sum;
    cotan_buffer in[2] = {{.data = many, .size = {2}}, {.data = &many[0]}}, out = {.data = &sum};
    const char *wrong = cotan_error_message(cotan_apply(f, in, &out), 0);
    assert_non_null(strstr(wrong, "holds -1, which is none of its type"));
    in[0].size[0] = 1;
    assert_null(cotan_apply(f, in, &out));
    assert_int_equal(sum, 2);
    in[1].data = &one;
    assert_non_null(strstr(cotan_error_message(cotan_apply(f, in, &out), 0), "holds 300, which is none of its type"));

    f = make(s, COTAN_RUN, "bounded");
    numbers = cotan_value_numbers(COTAN_DOUBLE, xs, 1, (size_t[]){2});
    expect_near(real_of(value_of(f, DATA("Array'with", TUPLE(whole(6), whole(7)), numbers))), xs[1]);
    numbers = cotan_value_numbers(COTAN_DOUBLE, xs, 1, (size_t[]){2});
    expect_fails(f, DATA("Array'with", TUPLE(whole(6), whole(8)), numbers), "E0601", "as its bounds have indices");
}

static void refused(void **state) {
    (void)state;
    each_engine(refused_of);
}

/* q(a, xs) = a Σ x²: at (2, [3, 1]) the gradient is (10, [12, 4]), the Hessian ((0, 6, 2), (6, 4, 0), (2, 0, 4)). */
static cotan_value *point(double a, double x, double y) { return TUPLE(real(a), LIST(real(x), real(y))); }

static void expect_point(const cotan_value *v, double a, double x, double y) {
    expect_near(real_of(part(v, 0)), a);
    expect_near(real_of(part(part(v, 1), 0)), x);
    expect_near(real_of(part(part(v, 1), 1)), y);
}

static void derivatives_of(const Setting *s) {
    expect_point(derivative_of(make(s, COTAN_GRAD, "quadratic"), point(2, 3, 1), NULL), 10, 12, 4);
    expect_point(derivative_of(make(s, COTAN_VJP, "quadratic"), point(2, 3, 1), real(2)), 20, 24, 8);
    expect_near(real_of(derivative_of(make(s, COTAN_JVP, "quadratic"), point(2, 3, 1), point(1, 1, -1))), 18);
    expect_point(part(derivative_of(make(s, COTAN_JACOBIAN, "quadratic"), point(2, 3, 1), NULL), 0), 10, 12, 4);
    const cotan_value *h = derivative_of(make(s, COTAN_HESSIAN, "quadratic"), point(2, 3, 1), NULL);
    expect_point(part(h, 0), 0, 6, 2);
    expect_point(part(h, 1), 6, 4, 0);
    expect_point(part(h, 2), 2, 0, 4);
    cotan_function *hvp = make(s, COTAN_HVP, "quadratic");
    expect_point(derivative_of(hvp, point(2, 3, 1), point(0, 1, 0)), 6, 4, 0);
    cotan_value *at = point(2, 3, 1);
    assert_string_equal(cotan_error_code(cotan_apply_values(hvp, at, NULL, NULL, NULL), 0), "E0601");
    const char *json;
    assert_null(cotan_function_json(hvp, at, &json));
    assert_string_equal(json, "[2,[3,1]]");
    cotan_value_free(at);
}

static void derivatives(void **state) {
    (void)state;
    each_engine(derivatives_of);
}

/* ---- many calls ---- */

static cotan_value *long_point(size_t length) {
    cotan_value **numbers = calloc(length + 1, sizeof *numbers);
    assert_non_null(numbers);
    for (size_t i = 0; i < length; i++) numbers[i] = real((double)(i % 7));
    cotan_value *v = TUPLE(real(2), cotan_value_of(COTAN_KIND_LIST, numbers, length));
    free(numbers);
    return v;
}

/* Memory of a call is used again by the next one, whatever the calls need, and whether or not they fail. */
static void calls_of(const Setting *s) {
    static const size_t lengths[] = {20000, 3, 50000, 0, 20000, 7, 50000};
    cotan_function *f = make(s, COTAN_RUN, "quadratic"), *gradient = make(s, COTAN_GRAD, "quadratic");
    cotan_function *reversed = make(s, COTAN_RUN, "upwards");
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        size_t n = lengths[i];
        double sum = 0;
        for (size_t j = 0; j < n; j++) sum += (double)((j % 7) * (j % 7));
        expect_near(real_of(value_of(f, long_point(n))), 2 * sum);
        const cotan_value *to = derivative_of(gradient, long_point(n), NULL);
        expect_near(real_of(part(to, 0)), sum);
        for (size_t j = 0; j < n; j++) expect_near(real_of(part(part(to, 1), j)), 4 * (double)(j % 7));
        const cotan_value *back = value_of(reversed, long_point(n));
        for (size_t j = 0; j < n; j++) expect_near(real_of(part(back, j)), (double)((n - 1 - j) % 7));
        if (i % 2 == 0) expect_fails(reversed, TUPLE(real(0), LIST(real(1), real(2))), "E0503", "nothing");
    }
}

static void calls(void **state) {
    (void)state;
    each_engine(calls_of);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_and_read), cmocka_unit_test(depth_is_bounded),
        cmocka_unit_test(trees),         cmocka_unit_test(records),
        cmocka_unit_test(maps),          cmocka_unit_test(kinds),
        cmocka_unit_test(arrays),        cmocka_unit_test(derivatives),
        cmocka_unit_test(calls),         cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
