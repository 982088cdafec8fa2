/* Every allocation made to fail: a program is loaded and used while the n-th call for memory gives none, once for each
 * n. Each call of the API then does what it does otherwise, or fails with E0801; the context loads and runs programs
 * afterwards; and in the end nothing is left allocated.
 *
 * The linker's --wrap hands us the calls of the library under test; Jansson is told to use ours. With COTAN_LONG set,
 * the corpus is run with every n, not with some; and once more with all calls failing from the n-th on.
 */
#include <dirent.h>
#include <jansson.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "cotan.h"

/* ---- memory that fails ---- */

static struct {
    bool on, for_good;     /* for_good: all calls from the n-th on */
    uint64_t calls, fails; /* so many calls since it is on; which of them fails */
    bool failed;
    int64_t live; /* blocks */
} memory;

static bool refuses(void) {
    if (!memory.on) return false;
    memory.calls++;
    bool now = memory.for_good ? memory.calls >= memory.fails : memory.calls == memory.fails;
    memory.failed |= now;
    return now;
}

static void *given(void *block) {
    memory.live += block != NULL;
    return block;
}

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
locale_t __real_newlocale(int mask, const char *name, locale_t base);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *block);
locale_t __wrap_newlocale(int mask, const char *name, locale_t base);

void *__wrap_malloc(size_t size) { return refuses() ? NULL : given(__real_malloc(size)); }

void *__wrap_calloc(size_t count, size_t size) { return refuses() ? NULL : given(__real_calloc(count, size)); }

void *__wrap_realloc(void *block, size_t size) {
    if (refuses()) return NULL;
    void *moved = __real_realloc(block, size);
    if (block == NULL) given(moved);
    return moved;
}

char *__wrap_strdup(const char *text) {
    char *copy = __wrap_malloc(strlen(text) + 1);
    return copy != NULL ? strcpy(copy, text) : NULL;
}

void __wrap_free(void *block) {
    memory.live -= block != NULL;
    __real_free(block);
}

locale_t __wrap_newlocale(int mask, const char *name, locale_t base) {
    return refuses() ? (locale_t)0 : __real_newlocale(mask, name, base);
}

/* ---- what is done with a program ---- */

typedef struct Scenario {
    const char *name, *text, *folder;
    void (*use)(cotan_program *program);
} Scenario;

enum { MOST = 64 };

/* The codes that the calls of a scenario have ended with, in their order; "" is success. */
static struct {
    const char *codes[MOST], *expected[MOST];
    uint32_t count, expected_count;
} outcomes;

/* An error's text is there in every form; all that matters of it is its code. */
static void came_of(const cotan_error *error) {
    if (error != NULL) {
        assert_true(cotan_error_count(error) > 0);
        for (int i = 0; i < 4; i++) assert_true(cotan_error_text(error, i / 2, i % 2)[0] != '\0');
    }
    if (outcomes.count < MOST) outcomes.codes[outcomes.count++] = error != NULL ? cotan_error_code(error, 0) : "";
}

/* Codes stand in the library's table, but that of no memory belongs to the context. */
static bool is_out_of_memory(const char *code) { return strcmp(code, "E0801") == 0; }

static const cotan_limits limits = {.memory = (size_t)256 << 20, .steps = 100000, .depth = 100000};

static cotan_program *perform(cotan_context *context, const Scenario *s) {
    cotan_program *program;
    outcomes.count = 0;
    if (s->folder != NULL) came_of(cotan_add_folder(context, s->folder));
    cotan_error *error = cotan_load(context, s->name, s->text, strlen(s->text), &program);
    assert_true((error == NULL) == (program != NULL));
    came_of(error);
    if (program != NULL) s->use(program);
    return program;
}

static void use_all_of(cotan_program *program) {
    const char *text;
    cotan_result result;
    cotan_warnings(program);
    came_of(cotan_types(program, NULL, &text));
    came_of(cotan_core(program, NULL, &text));
    came_of(cotan_call_json(program, &(cotan_call){.mode = COTAN_RUN, .function = "main"}, &result));
}

static void use_everything(cotan_program *program) {
    const char *text;
    bool is_expression;
    cotan_result result;
    cotan_check_result check;
    use_all_of(program);
    static const cotan_call calls[] = {
        {.mode = COTAN_GRAD, .function = "f", .at = "[[1, 2, 3], {\"scale\": 2, \"name\": \"x\"}]", .count = true},
        {.mode = COTAN_VJP, .function = "g", .at = "3", .with = "[1, 2]"},
        {.mode = COTAN_JVP, .function = "g", .at = "3", .with = "1", .form = COTAN_NPZ},
        {.mode = COTAN_JACOBIAN, .function = "g", .at = "3"},
        {.mode = COTAN_RUN, .function = "g", .at = "[3]", .form = COTAN_NPY},
        {.mode = COTAN_RUN, .function = "g", .at = "[-0]"},
        {.mode = COTAN_RUN, .function = "g", .at = "[\"no number\"]"},
        {.mode = COTAN_RUN, .function = "g", .at = "[3"},
        {.mode = COTAN_RUN, .expression = "map (\\x -> x * 2) [1.5, 2]", .bind = "it", .quotes = true},
        {.mode = COTAN_GRAD, .expression = "\\x -> x * x", .point = "fst (2.0, it)"},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) came_of(cotan_call_json(program, &calls[i], &result));
    came_of(cotan_check(program, &(cotan_call){.function = "h", .at = "[1, 2]"}, &check));
    came_of(cotan_define(program, "k x = g x ++ it", &is_expression, &text));
    came_of(cotan_define(program, "k x = ", &is_expression, &text));
    came_of(cotan_type_of(program, "k 1", &text));
    came_of(cotan_names(program, "ma", &text));
    came_of(cotan_modules(program, "Data.", &text));
    came_of(cotan_dump(program, &(cotan_call){.mode = COTAN_GRAD, .function = "h", .at = "[1, 2]"}, "reduce", &text));
}

/* A derivative that is had, one that is stopped, and an error that both have. */
static void use_comparison(cotan_program *program) {
    static const char *const methods[] = {"forward", "dual-naive"};
    cotan_compare_result result;
    came_of(cotan_compare(program, &(cotan_call){.function = "f", .at = "3"}, methods, 2, &result));
    came_of(cotan_compare(program, &(cotan_call){.function = "outside", .at = "[1]"}, methods, 1, &result));
}

static const char compared[] = "f :: Double -> [Double]\n"
                               "f x = [go 60 x, x]\n"
                               "go :: Int -> Double -> Double\n"
                               "go n x = if n == 0 then x else go (n - 1) (x * x)\n"
                               "outside :: Array Double -> Double\n"
                               "outside xs = xs ! 7\n";

/* Functions of the host's, which are called again when memory is there again. */
static void use_functions(cotan_program *program) {
    cotan_function *lists, *square;
    const cotan_value *value, *derivative;
    const char *json;
    cotan_result result;
    bool on = memory.on;
    memory.on = false; /* what is made of values is none of the context's */
    cotan_value *parts[] = {cotan_value_double(2), cotan_value_double(3)};
    cotan_value *list = cotan_value_of(COTAN_KIND_LIST, parts, 2);
    memory.on = on;
    double x = 3;
    cotan_buffer in[] = {{&x, {0}}};
    came_of(cotan_function_make(program, &(cotan_call){.mode = COTAN_GRAD, .function = "total"}, &lists));
    came_of(cotan_function_make(program, &(cotan_call){.mode = COTAN_RUN, .function = "square"}, &square));
    for (int i = 0; i < 2 && lists != NULL && square != NULL; i++) {
        came_of(cotan_function_json(lists, list, &json));
        came_of(cotan_apply_values(lists, list, NULL, &value, &derivative));
        cotan_buffer out[] = {{NULL, {0}}}; /* what a call has put there stays until the next one only */
        came_of(cotan_apply(square, in, out));
        came_of(cotan_apply_text(square, in, COTAN_NPY, &result));
    }
    cotan_value_free(list);
}

static const char with_functions[] = "total :: [Double] -> Double\n"
                                     "total xs = sum (map (\\x -> x * x) xs)\n"
                                     "square :: Double -> Double\n"
                                     "square x = x * x\n";

/* The stages of methods, with a run and without; a point that is outside, and a page, which does not draw. */
static void use_stages(cotan_program *program) {
    const char *text;
    cotan_call call = {.function = "f", .at = "3", .method = "delta-fused"};
    came_of(cotan_stages(program, &call, COTAN_PLAIN, &text));
    call = (cotan_call){.function = "outside", .at = "[1]", .method = "dual-defunc"};
    came_of(cotan_stages(program, &call, COTAN_COLOURED, &text));
    call = (cotan_call){.function = "f", .method = "forward"};
    came_of(cotan_stages(program, &call, COTAN_HTML, &text));
}

static const char everything[] = "import Data.Map (Map, fromList, size)\n"
                                 "data Options = Options { scale :: Double, name :: String } deriving (Eq, Show)\n"
                                 "class Shape a where\n"
                                 "  area :: a -> Double\n"
                                 "instance Shape Options where\n"
                                 "  area o = scale o * 2\n"
                                 "f :: Array Double -> Options -> Double\n"
                                 "f xs o = sum (map (\\x -> x * scale o) xs) + area o\n"
                                 "g :: Double -> [Double]\n"
                                 "g x = [x, x * x]\n"
                                 "h :: (Double, Double) -> Double\n"
                                 "h (x, y) = sin (x * y)\n"
                                 "partial (Just x) = x\n"
                                 "main = (size (fromList [(1, 2)]), Options 1 \"a\")\n";

/* ---- once, and again ---- */

static const char sound[] = "f :: Double -> Double\nf x = x * x\nmain = f 3\n";

static void is_usable(cotan_context *context) {
    cotan_program *program;
    cotan_result result;
    assert_null(cotan_load(context, "sound.cot", sound, sizeof sound - 1, &program));
    assert_null(cotan_call_json(program, &(cotan_call){.mode = COTAN_GRAD, .function = "f", .at = "3"}, &result));
    assert_string_equal(result.derivative, "6");
}

static void expect(const Scenario *s) {
    cotan_context *context = cotan_open(&limits);
    assert_non_null(context);
    perform(context, s);
    outcomes.expected_count = outcomes.count;
    for (uint32_t i = 0; i < outcomes.count; i++) outcomes.expected[i] = outcomes.codes[i];
    cotan_close(context);
}

/* False when all went well because there are fewer than n calls for memory. */
static bool fail_at(const Scenario *s, uint64_t n, bool for_good) {
    const int64_t before = memory.live;
    memory.fails = n;
    memory.for_good = for_good;
    memory.calls = 0;
    memory.failed = false;
    memory.on = true;
    cotan_context *context = cotan_open(&limits);
    if (context != NULL) perform(context, s);
    memory.on = false;
    bool failed = memory.failed;
    if (context == NULL) {
        assert_true(failed);
    } else {
        bool told = false;
        for (uint32_t i = 0; i < outcomes.count && !told; i++) {
            told = is_out_of_memory(outcomes.codes[i]);
            if (told || strcmp(outcomes.codes[i], outcomes.expected[i]) == 0) continue;
            if (for_good) break; /* what follows from less memory, such as a definition that is not there */
            fail_msg("%s, allocation %llu: step %u ended with `%s` instead of `%s`", s->name, (unsigned long long)n, i,
                     outcomes.codes[i], outcomes.expected[i]);
        }
        is_usable(context);
        cotan_close(context);
    }
    if (memory.live != before)
        fail_msg("%s, allocation %llu: %lld blocks are left", s->name, (unsigned long long)n,
                 (long long)(memory.live - before));
    return failed;
}

static uint64_t runs;

/* Under the sanitizers, where a run takes ten times as long, only some n of those that the plain build tries. */
#if defined(__SANITIZE_ADDRESS__)
enum { THINNED = 14 };
#else
enum { THINNED = 2 };
#endif

static void fail_everywhere(const Scenario *s, uint64_t first, uint64_t stride, bool for_good) {
    expect(s);
    for (uint64_t n = first; fail_at(s, n, for_good); n += stride * THINNED) runs++;
}

/* ---- tests ---- */

static bool is_long(void) { return getenv("COTAN_LONG") != NULL; }

static void a_small_program(void **state) {
    (void)state;
    Scenario s = {"small.cot", "f x = x + 1\nmain = f 2\n", NULL, use_all_of};
    fail_everywhere(&s, 1, 1, false);
    fail_everywhere(&s, 1, 1, true);
}

static void a_program_with_an_error(void **state) {
    (void)state;
    Scenario s = {"wrong.cot", "f x = x + True\nmain = f g\nf 3 = )\n", NULL, use_all_of};
    fail_everywhere(&s, 1, 1, false);
    fail_everywhere(&s, 1, 1, true);
}

static void all_that_can_be_done(void **state) {
    (void)state;
    Scenario s = {"everything.cot", everything, "", use_everything};
    fail_everywhere(&s, 1, is_long() ? 1 : 7, false);
    fail_everywhere(&s, 1, is_long() ? 1 : 31, true);
}

static void functions_called(void **state) {
    (void)state;
    Scenario s = {"functions.cot", with_functions, NULL, use_functions};
    fail_everywhere(&s, 1, is_long() ? 1 : 5, false);
    fail_everywhere(&s, 1, is_long() ? 1 : 101, true);
}

static void methods_compared(void **state) {
    (void)state;
    Scenario s = {"compared.cot", compared, NULL, use_comparison};
    fail_everywhere(&s, 1, is_long() ? 1 : 13, false);
    fail_everywhere(&s, 1, is_long() ? 1 : 101, true);
}

static void stages_shown(void **state) {
    (void)state;
    Scenario s = {"compared.cot", compared, NULL, use_stages};
    fail_everywhere(&s, 1, is_long() ? 1 : 17, false);
    fail_everywhere(&s, 1, is_long() ? 1 : 101, true);
}

/* ---- the golden programs ---- */

static char *text_of(const char *path) {
    FILE *file = fopen(path, "rb");
    if (file == NULL) return NULL;
    struct stat status;
    char *text = fstat(fileno(file), &status) == 0 ? malloc((size_t)status.st_size + 1) : NULL;
    if (text != NULL) text[fread(text, 1, (size_t)status.st_size, file)] = '\0';
    fclose(file);
    return text;
}

static void golden(const char *folder, const char *name, uint32_t number) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *text = text_of(path);
    assert_non_null(text);
    Scenario s = {name, text, folder, use_all_of};
    if (is_long()) {
        fail_everywhere(&s, 1, 1, false);
        fail_everywhere(&s, 1, 1, true);
    } else {
        fail_everywhere(&s, 1 + number * 7 % 61, 61, false);
    }
    free(text);
}

static int is_program(const struct dirent *entry) {
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".cot") == 0;
}

static int is_folder(const struct dirent *entry) { return entry->d_name[0] != '.'; }

static const char *root;

static void the_golden_programs(void **state) {
    (void)state;
    struct dirent **groups, **programs;
    int group_count = scandir(root, &groups, is_folder, alphasort);
    assert_true(group_count > 0);
    uint32_t number = 0;
    for (int i = 0; i < group_count; i++) {
        char folder[600];
        snprintf(folder, sizeof folder, "%s/%s", root, groups[i]->d_name);
        int count = scandir(folder, &programs, is_program, alphasort);
        for (int j = 0; j < count; j++) {
            number++;
            /* one of twelve, in the short run */
            if (is_long() || number % 12 == 0) golden(folder, programs[j]->d_name, number);
            free(programs[j]);
        }
        if (count >= 0) free(programs);
        free(groups[i]);
        if (is_long()) fprintf(stderr, "# %s: %llu runs\n", folder, (unsigned long long)runs);
    }
    free(groups);
    assert_true(number > 100);
}

int main(int argc, char **argv) {
    root = argc > 1 ? argv[1] : "tests/golden";
    json_set_alloc_funcs(__wrap_malloc, __wrap_free);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_small_program),      cmocka_unit_test(a_program_with_an_error),
        cmocka_unit_test(all_that_can_be_done), cmocka_unit_test(functions_called),
        cmocka_unit_test(methods_compared),     cmocka_unit_test(stages_shown),
        cmocka_unit_test(the_golden_programs),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fprintf(stderr, "# %llu runs, each with an allocation that failed\n", (unsigned long long)runs);
    return failed;
}
