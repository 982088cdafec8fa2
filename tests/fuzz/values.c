/* One context for all inputs: a failure must leave it usable. */
#include "values.h"

#include <stdlib.h>
#include <string.h>

static const char source[] =
    "data Tree a = Leaf | Node (Tree a) a (Tree a)\n"
    "data Colour = Red | Green | Blue\n"
    "data Model = Model { alpha :: Double, mu :: Array (Array Double), steps :: Array Int, on :: Array Bool, part :: "
    "Part }\n"
    "data Part = Part { pair :: (Double, [Float]), colour :: Colour } | None\n"
    "data Flat = Flat { a :: Double, b :: Array Double, c :: ([Int], Bool) }\n"
    "f0 :: Double -> Double\nf0 x = x\n"
    "f1 :: Array (Array (Array Double)) -> Array (Array (Array Double))\nf1 x = x\n"
    "f2 :: [[Double]] -> [[Double]]\nf2 x = x\n"
    "f3 :: Array Int -> Array Int\nf3 x = x\n"
    "f4 :: [Bool] -> [Bool]\nf4 x = x\n"
    "f5 :: Array Float -> Array Float\nf5 x = x\n"
    "f6 :: Flat -> Flat\nf6 x = x\n"
    "f7 :: (Double, Array Double) -> (Double, Array Double)\nf7 x = x\n"
    "f8 :: Model -> Model\nf8 x = x\n"
    "f9 :: Tree (Maybe Int, Char) -> Tree (Maybe Int, Char)\nf9 x = x\n"
    "f10 :: [(String, (), Either Int Colour)] -> [(String, (), Either Int Colour)]\nf10 x = x\n"
    "f11 :: Double -> Array Double -> (Double, Array Double)\nf11 x y = (x, y)\n";
enum { FUNCTIONS = 12 };

static cotan_program *open_program(void) {
    static cotan_program *program;
    if (program != NULL) return program;
    cotan_limits limits = {.memory = (size_t)64 << 20};
    cotan_context *context = cotan_open(&limits);
    if (context == NULL || cotan_load(context, "values.cot", source, sizeof source - 1, &program) != NULL) abort();
    return program;
}

bool fuzz_value(unsigned which, const char *bytes, size_t length, cotan_form form, cotan_result *out) {
    static const char *const names[FUNCTIONS] = {"f0", "f1", "f2", "f3", "f4",  "f5",
                                                 "f6", "f7", "f8", "f9", "f10", "f11"};
    cotan_call call = {
        .mode = COTAN_RUN, .function = names[which % FUNCTIONS], .at = bytes, .at_length = length, .form = form};
    const cotan_error *error = cotan_call_json(open_program(), &call, out);
    if (error != NULL && (cotan_error_count(error) == 0 || cotan_error_text(error, true, false)[0] == '\0')) abort();
    return error == NULL;
}
