/* Values to JSON and back, through the public API: bits kept, sizes without limit, and text that is none refused. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cotan.h"

static const char source[] =
    "data Tree = Leaf | Node Tree Double Tree\n"
    "data Model = Model { alpha :: Double, mu :: Array (Array Double), tag :: (Char, String) }\n"
    "reals :: Array Double -> Array Double\n"
    "reals x = x\n"
    "floats :: [Float] -> [Float]\n"
    "floats x = x\n"
    "ints :: [Int] -> Int\n"
    "ints x = length x\n"
    "numbers :: Int -> [Int]\n"
    "numbers n = [1 .. n]\n"
    "tree :: Tree -> Tree\n"
    "tree x = x\n"
    "deep :: Int -> Tree\n"
    "deep n = go n Leaf where go i t = if i == 0 then t else go (i - 1) (Node t 1 Leaf)\n"
    "model :: Model -> [Maybe (Model, Bool)] -> Model\n"
    "model x _ = x\n";

typedef struct Fixture {
    cotan_context *context;
    cotan_program *program;
} Fixture;

static int set_up(void **state) {
    static Fixture fixture;
    Fixture *f = &fixture;
    f->context = cotan_open(NULL);
    assert_null(cotan_load(f->context, "io.cot", source, sizeof source - 1, &f->program));
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    cotan_close(f->context);
    return 0;
}

static cotan_error *run(Fixture *f, const char *function, const char *args, cotan_result *result) {
    cotan_call call = {.mode = COTAN_RUN, .function = function, .at = args, .no_text = true};
    return cotan_call_json(f->program, &call, result);
}

static uint64_t random_bits(uint64_t *seed) { /* xorshift64* */
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 0x2545f4914f6cdd1dULL;
}

static void every_finite_double_reads_back_to_the_same_bits(void **state) {
    Fixture *f = *state;
    enum { COUNT = 5000 };
    static double written[COUNT];
    static char text[COUNT * 32];
    static const double special[] = {0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308,
                                     0.1, 1e23};
    uint64_t seed = 7;
    size_t length = (size_t)sprintf(text, "[[");
    for (int i = 0; i < COUNT; i++) {
        uint64_t bits = random_bits(&seed);
        memcpy(&written[i], &bits, sizeof bits);
        if (i < (int)(sizeof special / sizeof *special)) written[i] = special[i];
        if (!isfinite(written[i])) written[i] = (double)(int64_t)bits;
        length +=
            (size_t)sprintf(text + length, "%s%.17g%s", i > 0 ? "," : "", written[i], written[i] == 0 ? ".0" : "");
    }
    sprintf(text + length, "]]");
    cotan_result first, second;
    assert_null(run(f, "reals", text, &first));
    snprintf(text, sizeof text, "[%s]", first.value);
    assert_null(run(f, "reals", text, &second));
    const char *at = second.value;
    for (int i = 0; i < COUNT; i++) {
        char *end;
        double read = strtod(at + 1, &end);
        assert_memory_equal(&read, &written[i], sizeof read);
        at = end;
    }
    assert_string_equal(at, "]");
}

static void every_finite_float_reads_back_to_the_same_bits(void **state) {
    Fixture *f = *state;
    uint64_t seed = 11;
    for (int i = 0; i < 300; i++) {
        uint32_t bits = (uint32_t)(random_bits(&seed) >> 32);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        char text[64], *end;
        snprintf(text, sizeof text, "[[%.9g]]", (double)value);
        cotan_result result;
        assert_null(run(f, "floats", text, &result));
        float read = (float)strtod(result.value + 1, &end);
        if (value != 0) assert_memory_equal(&read, &value, sizeof read);
        assert_string_equal(end, "]");
    }
}

static void long_lists_are_read_and_written(void **state) {
    Fixture *f = *state;
    cotan_result result;
    assert_null(run(f, "numbers", "[1000000]", &result));
    static char text[8000000];
    snprintf(text, sizeof text, "[%s]", result.value);
    assert_null(run(f, "ints", text, &result));
    assert_string_equal(result.value, "1000000");
}

static void a_value_of_any_depth_is_written(void **state) {
    Fixture *f = *state;
    cotan_result result;
    assert_null(run(f, "deep", "[300000]", &result));
    size_t nodes = 0;
    for (const char *at = result.value; *at != '\0'; at++) nodes += *at == 'N';
    assert_int_equal(nodes, 300000);
}

static void a_text_nested_too_deeply_is_refused(void **state) {
    Fixture *f = *state;
    enum { DEPTH = 2000 };
    static char text[DEPTH * 32];
    for (int depth = 1000; depth <= DEPTH; depth += 1000) {
        size_t length = (size_t)sprintf(text, "[");
        for (int i = 0; i < depth; i++) length += (size_t)sprintf(text + length, "{\"Node\":[");
        length += (size_t)sprintf(text + length, "\"Leaf\"");
        for (int i = 0; i < depth; i++) length += (size_t)sprintf(text + length, ",1,\"Leaf\"]}");
        sprintf(text + length, "]");
        cotan_result result;
        cotan_error *error = run(f, "tree", text, &result);
        if (depth == 1000) {
            assert_null(error);
        } else {
            assert_string_equal(cotan_error_code(error, 0), "E0602");
            assert_non_null(strstr(cotan_error_message(error, 0), "nested too deeply"));
        }
    }
}

/* Well-formed arguments, spoilt at a few places in every way: each is read or refused, and what was built is released
 * (the sanitizers see to that). */
static void spoilt_text_is_read_or_refused(void **state) {
    Fixture *f = *state;
    static const char *const pieces[] = {
        "{",     "}",   "[",  "]",       ",",        "null",          "true",
        "\"x\"", "1e9", "-0", "\"nan\"", "\"Just\"", "{\"Just\":[]}", "99999999999999999999"};
    static const char sound[] = "[{\"alpha\": 1, \"mu\": [[1, 2], [3, 4]], \"tag\": [\"c\", \"text\"]}, [\"Nothing\", "
                                "{\"Just\": [[{\"alpha\": 2, \"mu\": [], \"tag\": [\"d\", \"\"]}, true]]}]]";
    uint64_t seed = 3;
    int read = 0, refused = 0;
    for (int round = 0; round < 3000; round++) {
        char text[1000];
        size_t length = sizeof sound - 1, at = random_bits(&seed) % length, gone = random_bits(&seed) % 5;
        if (at + gone > length) gone = length - at;
        const char *piece = pieces[random_bits(&seed) % (sizeof pieces / sizeof *pieces)];
        snprintf(text, sizeof text, "%.*s%s%s", (int)at, sound, round == 0 ? "" : piece,
                 sound + at + (round == 0 ? 0 : gone));
        cotan_result result;
        cotan_error *error = run(f, "model", text, &result);
        if (error == NULL) {
            read++;
            continue;
        }
        refused++;
        assert_int_equal(cotan_error_status(error), 2);
        assert_int_equal(strncmp(cotan_error_code(error, 0), "E060", 4), 0);
        assert_int_equal(strncmp(cotan_error_message(error, 0), "--args: ", 8), 0);
    }
    assert_true(read > 0 && refused > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_finite_double_reads_back_to_the_same_bits),
        cmocka_unit_test(every_finite_float_reads_back_to_the_same_bits),
        cmocka_unit_test(long_lists_are_read_and_written),
        cmocka_unit_test(a_value_of_any_depth_is_written),
        cmocka_unit_test(a_text_nested_too_deeply_is_refused),
        cmocka_unit_test(spoilt_text_is_read_or_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
