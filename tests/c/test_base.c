/* The base room: containers, spelling, diagnostics. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "base/diag.h"

typedef struct Fixture {
    CtArena *arena;
    CtContext context;
    jmp_buf handler;
} Fixture;

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    f->arena = ct_arena_new(64 * 1024 * 1024);
    ct_context_init(&f->context, f->arena);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    ct_arena_free(f->arena);
    free(f);
    return 0;
}

static void arena_out_of_memory_jumps_to_the_handler(void **state) {
    Fixture *f = *state;
    volatile bool jumped = false;
    if (setjmp(f->handler) == 0) {
        ct_arena_on_failure(f->arena, &f->handler);
        ct_alloc(f->arena, 128 * 1024 * 1024);
    } else {
        jumped = true;
    }
    assert_true(jumped);
    assert_non_null(ct_alloc(f->arena, 1000)); /* and it is usable afterwards */
}

static void arena_refuses_a_size_that_overflows(void **state) {
    Fixture *f = *state;
    volatile bool jumped = false;
    if (setjmp(f->handler) == 0) {
        ct_arena_on_failure(f->arena, &f->handler);
        ct_alloc_array(f->arena, SIZE_MAX / 4, 8);
    } else {
        jumped = true;
    }
    assert_true(jumped);
}

static void map_keeps_insertion_order_and_replaces(void **state) {
    Fixture *f = *state;
    CtMap map = {0};
    int values[1000];
    for (uint64_t i = 0; i < 1000; i++) ct_map_set(f->arena, &map, i * 4096, &values[i]);
    ct_map_set(f->arena, &map, 4096, NULL);
    assert_int_equal(map.count, 1000);
    assert_true(ct_map_has(&map, 4096));
    assert_null(ct_map_get(&map, 4096));
    assert_false(ct_map_has(&map, 1));
    for (uint64_t i = 0; i < 1000; i++) {
        assert_int_equal(map.entries[i].key, i * 4096);
        if (i != 1) assert_ptr_equal(ct_map_get(&map, i * 4096), &values[i]);
    }
}

static void symbols_of_equal_text_are_one_pointer(void **state) {
    Fixture *f = *state;
    CtSym first = ct_intern_text(&f->context.symbols, "alpha");
    for (int i = 0; i < 2000; i++) {
        char *name = ct_format(f->arena, "name%d", i);
        ct_intern_text(&f->context.symbols, name);
    }
    assert_ptr_equal(first, ct_intern(&f->context.symbols, "alphabet", 5));
    assert_ptr_not_equal(first, ct_intern_text(&f->context.symbols, "alphabet"));
}

static void doubles_print_shortest_and_read_back(void **state) {
    Fixture *f = *state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{1, "1"},           {0.1, "0.1"},          {1.0 / 3, "0.3333333333333333"}, {1e300, "1e+300"},
                 {5e-324, "5e-324"}, {INFINITY, "\"inf\""}, {-INFINITY, "\"-inf\""},         {NAN, "\"nan\""},
                 {-0.0, "-0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CtText text = ct_text(f->arena);
        ct_text_double(&text, cases[i].value);
        assert_string_equal(text.data, cases[i].text);
    }
}

static void nearest_name_allows_a_swap_and_refuses_the_far(void **state) {
    Fixture *f = *state;
    CtSymbols *symbols = &f->context.symbols;
    CtSym names[] = {ct_intern_text(symbols, "length"), ct_intern_text(symbols, "sum"), ct_intern_text(symbols, "x")};
    assert_ptr_equal(ct_nearest(ct_intern_text(symbols, "lenght"), names, 3), names[0]);
    assert_ptr_equal(ct_nearest(ct_intern_text(symbols, "smu"), names, 3), names[1]);
    assert_null(ct_nearest(ct_intern_text(symbols, "gradient"), names, 3));
    assert_null(ct_nearest(ct_intern_text(symbols, "y"), names, 3));
}

static const char *render(Fixture *f, const CtDiag *diag) {
    CtText out = ct_text(f->arena);
    ct_diag_render(&f->context, diag, false, &out);
    return out.data;
}

static void diagnostics_mark_the_range_in_characters(void **state) {
    Fixture *f = *state;
    const char *text = "one\nλ = sume xs\n";
    uint32_t source = ct_source_add(&f->context, "m.cot", text, strlen(text), false);
    CtDiag *diag = ct_error(&f->context, CT_E0302, (CtSourceRange){source, 9, 13}, "unknown name `%s`", "sume");
    ct_help(&f->context, diag, "did you mean `sum`?");
    assert_string_equal(render(f, diag), "error[E0302]: unknown name `sume`\n"
                                         "  --> m.cot:2:5\n"
                                         "   |\n"
                                         " 2 | λ = sume xs\n"
                                         "   |     ^^^^\n"
                                         "  = help: did you mean `sum`?\n");
    CtText json = ct_text(f->arena);
    ct_diag_render_json(&f->context, diag, &json);
    assert_string_equal(json.data, "{\"code\":\"E0302\",\"file\":\"m.cot\",\"line\":2,\"column\":5,"
                                   "\"message\":\"unknown name `sume`\",\"help\":\"did you mean `sum`?\"}");
}

static void diagnostics_shorten_very_long_lines(void **state) {
    Fixture *f = *state;
    size_t length = 1000000;
    char *text = ct_alloc(f->arena, length + 1);
    memset(text, 'x', length);
    uint32_t source = ct_source_add(&f->context, "long.cot", text, length, false);
    CtDiag *diag = ct_error(&f->context, CT_E0101, (CtSourceRange){source, 500000, 900000}, "bad");
    assert_true(strlen(render(f, diag)) < 1000);
}

static void errors_past_the_limit_are_counted_not_kept(void **state) {
    Fixture *f = *state;
    for (int i = 0; i < 100; i++) ct_error(&f->context, CT_E0201, CT_NO_RANGE, "error %d", i);
    uint32_t kept = 0;
    for (const CtDiag *diag = f->context.diags; diag != NULL; diag = diag->next) kept++;
    assert_int_equal(f->context.error_count, 100);
    assert_int_equal(kept, f->context.max_errors);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(arena_out_of_memory_jumps_to_the_handler),   TEST(arena_refuses_a_size_that_overflows),
        TEST(map_keeps_insertion_order_and_replaces),     TEST(symbols_of_equal_text_are_one_pointer),
        TEST(doubles_print_shortest_and_read_back),       TEST(nearest_name_allows_a_swap_and_refuses_the_far),
        TEST(diagnostics_mark_the_range_in_characters),   TEST(diagnostics_shorten_very_long_lines),
        TEST(errors_past_the_limit_are_counted_not_kept),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
