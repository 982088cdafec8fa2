/* Run-time values: heap, releasing, show. */
#include "core_fixture.h"

#include <math.h>
#include <stdio.h>

#include "value/heap.h"

static CtFields *cell(CtHeap *heap, Fixture *f, double head, CtObject *tail) {
    CtFields *fields = ct_value_fields_new(heap, ct_value_layout_con(heap, f->cons), f->cons->tag);
    fields->words[0].real = head;
    fields->words[1].object = tail;
    return fields;
}

static const char *shown(Fixture *f, CtType *type, CtWord value) {
    CtText text = ct_text(f->arena);
    ct_value_show(&text, type, value);
    return text.data;
}

static void releasing_a_long_list_does_not_recurse(void **state) {
    Fixture *f = *state;
    CtHeap *heap = ct_value_heap_new(0);
    CtObject *list = ct_value_nullary(heap, f->nil);
    size_t before = ct_value_heap_bytes(heap);
    for (int i = 0; i < 2000000; i++) list = &cell(heap, f, i, list)->head;
    assert_int_equal(ct_value_heap_bytes(heap) - before, 2000000 * 32);
    ct_value_release_object(heap, list);
    assert_int_equal(ct_value_heap_bytes(heap), before);
    ct_value_heap_free(heap);
}

static void a_full_heap_gives_null_and_stays_sound(void **state) {
    Fixture *f = *state;
    CtHeap *heap = ct_value_heap_new(100000);
    const CtLayout *layout = ct_value_layout_con(heap, f->cons);
    CtObject *list = ct_value_nullary(heap, f->nil);
    uint32_t made = 0;
    for (CtFields *fields; (fields = ct_value_fields_new(heap, layout, 1)) != NULL; made++) {
        fields->words[0].real = 1;
        fields->words[1].object = list;
        list = &fields->head;
    }
    assert_in_range(made, 3000, 100000 / 32);
    assert_true(ct_value_heap_peak(heap) <= 100000);
    assert_null(ct_value_array_new(heap, ct_value_layout_array(heap, ct_core_type_array(f->p, f->real)), 1000000, 0));
    ct_value_release_object(heap, list);
    assert_true(ct_value_heap_bytes(heap) < 1000);
    ct_value_heap_free(heap);
}

static void an_array_of_arrays_is_released_with_its_elements(void **state) {
    Fixture *f = *state;
    CtHeap *heap = ct_value_heap_new(0);
    CtType *row_type = ct_core_type_array(f->p, f->real), *type = ct_core_type_array(f->p, row_type);
    CtArray *rows = ct_value_array_new(heap, ct_value_layout_array(heap, type), 50, 0);
    for (int i = 0; i < 50; i++) {
        CtArray *row = ct_value_array_new(heap, ct_value_layout_array(heap, row_type), 100, 0);
        for (int j = 0; j < 100; j++) row->items[j].real = j;
        rows->items[i].object = &row->head;
    }
    assert_true(ct_value_heap_bytes(heap) >= 50 * 100 * 8);
    ct_value_release_object(heap, &rows->head);
    assert_int_equal(ct_value_heap_bytes(heap), 0);
    ct_value_heap_free(heap);
}

static void equal_layouts_are_one_pointer(void **state) {
    Fixture *f = *state;
    CtHeap *heap = ct_value_heap_new(0);
    CtType *pair = ct_core_type_pair(f->p, f->real, f->list);
    bool pointers[] = {false, true};
    assert_ptr_equal(ct_value_layout_tuple(heap, pair), ct_value_layout_con(heap, f->cons));
    assert_ptr_equal(ct_value_layout_tuple(heap, pair), ct_value_layout_fields(heap, OBJECT_FIELDS, pointers, 2));
    assert_ptr_not_equal(ct_value_layout_tuple(heap, pair), ct_value_layout_fields(heap, OBJECT_CLOSURE, pointers, 2));
    ct_value_heap_free(heap);
}

static void doubles_are_shown_as_haskell_shows_them(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0, "0.0"},
        {-0.0, "-0.0"},
        {1, "1.0"},
        {0.1, "0.1"},
        {0.01, "1.0e-2"},
        {1234567, "1234567.0"},
        {1e7, "1.0e7"},
        {12345678.9, "1.23456789e7"},
        {9999999, "9999999.0"},
        {0.1 + 0.2, "0.30000000000000004"},
        {1e22, "1.0e22"},
        {5e-324, "5.0e-324"},
        {1.7976931348623157e308, "1.7976931348623157e308"},
        {-2.5, "-2.5"},
        {INFINITY, "Infinity"},
        {-INFINITY, "-Infinity"},
        {NAN, "NaN"},
        {123.456, "123.456"},
        {100, "100.0"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char buffer[40];
        size_t length = ct_value_show_double(buffer, cases[i].value);
        assert_string_equal(buffer, cases[i].text);
        assert_int_equal(length, strlen(buffer));
    }
}

static void shown_doubles_read_back_to_the_same_bits(void **state) {
    (void)state;
    uint64_t bits = 88172645463325252u;
    for (int i = 0; i < 20000; i++) {
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        CtWord word = {.integer = (int64_t)bits};
        if (!isfinite(word.real)) continue;
        char buffer[40];
        ct_value_show_double(buffer, word.real);
        assert_true(strtod(buffer, NULL) == word.real);
    }
}

static void floats_are_shown_with_their_own_digits(void **state) {
    (void)state;
    char buffer[40];
    ct_value_show_float(buffer, (double)0.1f);
    assert_string_equal(buffer, "0.1");
    ct_value_show_float(buffer, (double)16777216.0f);
    assert_string_equal(buffer, "1.6777216e7");
    ct_value_show_float(buffer, (double)1e-45f);
    assert_string_equal(buffer, "1.0e-45");
}

static void values_are_shown_as_haskell_shows_them(void **state) {
    Fixture *f = *state;
    CtHeap *heap = ct_value_heap_new(0);
    CtSymbols *symbols = &f->context.symbols;
    CtType *tree = ct_core_type_data(f->p, ct_intern_text(symbols, "Tree"), NULL, 0, false);
    CtType *fields[] = {tree, f->real, tree};
    CtSym names[] = {ct_intern_text(symbols, "size"), ct_intern_text(symbols, "name")};
    CtType *record[] = {f->real, f->p->string_type};
    CtType *both[] = {f->integer, f->integer};
    CtCon cons[] = {
        {.name = ct_intern_text(symbols, "Leaf")},
        {.name = ct_intern_text(symbols, "Node"), .count = 3, .fields = fields},
        {.name = ct_intern_text(symbols, "Box"), .count = 2, .fields = record, .field_names = names},
        {.name = ct_intern_text(symbols, ":+:"), .count = 2, .fields = both, .infix = true, .precedence = 9}};
    ct_core_data_set_cons(f->p, tree->data, cons, 4);
    const CtCon *own = tree->data->cons;
    CtFields *box = ct_value_fields_new(heap, ct_value_layout_con(heap, &own[2]), 2);
    box->words[0].real = -1;
    box->words[1].object = ct_value_string_new(heap, f->p->string_type, "\"h\xC3\xA9\n1", 6);
    CtFields *sum = ct_value_fields_new(heap, ct_value_layout_con(heap, &own[3]), 3);
    sum->words[0].integer = 1;
    sum->words[1].integer = -2;
    CtFields *node = ct_value_fields_new(heap, ct_value_layout_con(heap, &own[1]), 1);
    node->words[0].object = &box->head;
    node->words[1].real = -0.5;
    node->words[2].object = &sum->head;
    assert_string_equal(shown(f, tree, (CtWord){.object = &node->head}),
                        "Node (Box {size = -1.0, name = \"\\\"h\\233\\n1\"}) (-0.5) (1 :+: (-2))");
    CtFields *leaf_pair =
        ct_value_fields_new(heap, ct_value_layout_tuple(heap, ct_core_type_pair(f->p, tree, f->list)), 0);
    leaf_pair->words[0].object = ct_value_nullary(heap, &own[0]);
    leaf_pair->words[1].object = &cell(heap, f, 1, &cell(heap, f, -2, ct_value_nullary(heap, f->nil))->head)->head;
    assert_string_equal(shown(f, ct_core_type_pair(f->p, tree, f->list), (CtWord){.object = &leaf_pair->head}),
                        "(Leaf,[1.0,-2.0])");
    assert_string_equal(shown(f, f->boolean, (CtWord){.integer = 1}), "True");
    assert_string_equal(shown(f, ct_core_type_tuple(f->p, NULL, 0), (CtWord){.integer = 0}), "()");
    assert_string_equal(shown(f, ct_core_type_char(f->p), (CtWord){.integer = '\''}), "'\\''");
    CtObject *empty = ct_value_nullary(heap, &f->p->string_type->data->cons[0]);
    assert_string_equal(shown(f, f->p->string_type, (CtWord){.object = empty}), "\"\"");
    ct_value_heap_free(heap);
}

static void showing_a_deep_value_takes_no_stack(void **state) {
    Fixture *f = *state;
    CtHeap *heap = ct_value_heap_new(0);
    CtType *peano = ct_core_type_data(f->p, ct_intern_text(&f->context.symbols, "N"), NULL, 0, false);
    CtCon cons[] = {{.name = ct_intern_text(&f->context.symbols, "Z")},
                    {.name = ct_intern_text(&f->context.symbols, "S"), .count = 1, .fields = &peano}};
    ct_core_data_set_cons(f->p, peano->data, cons, 2);
    CtObject *value = ct_value_nullary(heap, &peano->data->cons[0]);
    enum { DEPTH = 300000 };
    for (int i = 0; i < DEPTH; i++) {
        CtFields *next = ct_value_fields_new(heap, ct_value_layout_con(heap, &peano->data->cons[1]), 1);
        next->words[0].object = value;
        value = &next->head;
    }
    const char *text = shown(f, peano, (CtWord){.object = value});
    assert_int_equal(strlen(text), 2 * DEPTH + 1 + 2 * (DEPTH - 1));
    assert_memory_equal(text, "S (S (S (", 9);
    ct_value_heap_free(heap);
}

static void strings_survive_the_way_to_lists_and_back(void **state) {
    Fixture *f = *state;
    CtHeap *heap = ct_value_heap_new(0);
    const char *texts[] = {"", "plain", "gr\xC3\xBC\xC3\x9F dich", "\xE2\x88\x82x \xF0\x9F\x98\x80"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        CtObject *string = ct_value_string_new(heap, f->p->string_type, texts[i], strlen(texts[i]));
        CtText text = ct_text(f->arena);
        ct_text_puts(&text, "");
        ct_value_string_text(&text, (CtWord){.object = string}, 1000);
        assert_string_equal(text.data, texts[i]);
        ct_value_release_object(heap, string);
    }
    ct_value_heap_free(heap);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(releasing_a_long_list_does_not_recurse),
        TEST(a_full_heap_gives_null_and_stays_sound),
        TEST(an_array_of_arrays_is_released_with_its_elements),
        TEST(equal_layouts_are_one_pointer),
        TEST(doubles_are_shown_as_haskell_shows_them),
        TEST(shown_doubles_read_back_to_the_same_bits),
        TEST(floats_are_shown_with_their_own_digits),
        TEST(values_are_shown_as_haskell_shows_them),
        TEST(showing_a_deep_value_takes_no_stack),
        TEST(strings_survive_the_way_to_lists_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
