/* Terms of BULK as Core over flat arrays: that they mean what the reference interpreter says, errors included. */
#include "bulk_generate.h"
#include "eval_fixture.h"

#include <stdio.h>

#include "ad/ad.h"

/* ---- values as text ---- */

static void show_item(CtText *out, CtElement element, BulkWord item) {
    char buffer[32];
    if (element == ELEMENT_REAL) {
        ct_show_double(buffer, item.real);
        ct_text_puts(out, buffer);
    } else {
        ct_text_printf(out, "%lld", (long long)item.integer);
    }
}

static const char *show(Fixture *f, const BulkValue *value) {
    CtText out = ct_text(f->arena);
    ct_text_puts(&out, "");
    if (value->shape.rank == 0 && value->element == ELEMENT_BOOL)
        return value->items[0].integer != 0 ? "True" : "False";
    if (value->shape.rank == 0) {
        show_item(&out, value->element, value->items[0]);
        return out.data;
    }
    ct_text_puts(&out, "[|");
    for (int64_t i = 0; i < value->count; i++) {
        if (i > 0) ct_text_putc(&out, ',');
        show_item(&out, value->element, value->items[i]);
    }
    ct_text_puts(&out, "|]");
    return out.data;
}

static CtCore *literal(Fixture *f, const BulkValue *value) {
    CtCore **items = CT_NEW_ARRAY(f->arena, CtCore *, (size_t)value->count);
    bool is_real = value->element == ELEMENT_REAL;
    for (int64_t i = 0; i < value->count; i++)
        items[i] = is_real ? num(f, value->items[i].real) : whole(f, value->items[i].integer);
    if (value->shape.rank > 0)
        return ct_core_array_lit(f->p, AT, is_real ? f->real : f->integer, items, (uint32_t)value->count);
    return value->element == ELEMENT_BOOL ? ct_core_bool(f->p, AT, value->items[0].integer != 0) : items[0];
}

/* ---- random terms ---- */

typedef struct Inputs {
    CtBulkVar *vars[16];
    BulkValue *values[16];
    uint32_t count;
} Inputs;

static Inputs random_inputs(BulkRandom *g) {
    Inputs in = {.count = 6};
    for (uint32_t i = 0; i < in.count; i++) {
        CtElement element = (CtElement)(i % 3);
        CtShape shape = bulk_random_shape(g, 4);
        in.vars[i] = ct_bulk_new_var(g->r, "v", element, shape);
        in.values[i] = bulk_random_value(g, element, shape);
        ct_push(g->r->arena, &g->scope, in.vars[i]);
    }
    return in;
}

static CtCore *bound(Fixture *f, const Inputs *in, CtVar *const *vars, CtCore *body) {
    for (uint32_t i = in->count; i-- > 0;) body = let(f, vars[i], literal(f, in->values[i]), body);
    return body;
}

static CtCore *lowered(Fixture *f, CtBulkRoom *r, const Inputs *in, CtBulk *t) {
    CtMap map = {0};
    CtVar *vars[16];
    for (uint32_t i = 0; i < in->count; i++) {
        vars[i] = variable(f, in->vars[i]->name, ct_bulk_type(f->p, in->vars[i]->element, in->vars[i]->shape));
        ct_map_set(f->arena, &map, ct_key(in->vars[i]), vars[i]);
    }
    return bound(f, in, vars, ct_bulk_lower(r, t, &map));
}

static const char *expected(Fixture *f, const Inputs *in, CtBulk *t) {
    BulkRun run = {.arena = f->arena};
    for (uint32_t i = 0; i < in->count; i++) bulk_bind(&run, in->vars[i], in->values[i]);
    BulkValue *value = bulk_run(&run, t);
    return value != NULL ? show(f, value) : ct_error_name(run.code);
}

static void compare(Fixture *f, CtBulkRoom *r, const Inputs *in, CtBulk *t, uint32_t seed, bool simplifies) {
    f->p->globals.count = 0;
    CtCore *core = lowered(f, r, in, t);
    if (simplifies) core = ct_core_simplify_term(f->p, core);
    const char *wanted = expected(f, in, t), *found = run(f, core);
    bool fails = wanted[0] == 'E';
    bool same = fails ? strncmp(wanted, found, 5) == 0 : strcmp(wanted, found) == 0;
    if (same) return;
    CtText text = ct_text(f->arena);
    ct_bulk_print(&text, t);
    fprintf(stderr, "seed %u\n%s\nas\n%s\nwanted %s\nfound  %s\n", seed, text.data, print(f, core), wanted, found);
    fail();
}

typedef enum Stage { AS_IT_IS, NORMAL } Stage;

static void random_terms(uint32_t from, uint32_t count, int fuel, Stage stage, bool simplifies) {
    for (uint32_t seed = from; seed < from + count; seed++) {
        void *state;
        set_up(&state);
        Fixture *f = state;
        CtBulkRoom r = {.p = f->p, .arena = f->arena};
        BulkRandom g = {.r = &r, .state = seed * 7919u + 17};
        Inputs in = random_inputs(&g);
        CtElement element = (CtElement)bulk_random(&g, 3);
        CtShape shape = bulk_random_shape(&g, 3);
        CtBulk *t = bulk_random_term(&g, element, shape, fuel);
        if (stage == NORMAL) t = ct_bulk_rewrite(&r, t);
        assert_null(ct_bulk_lint(&r, t, in.vars, in.count));
        compare(f, &r, &in, t, seed, simplifies);
        tear_down(&state);
    }
}

static void small_terms_mean_what_the_interpreter_says(void **state) {
    (void)state;
    random_terms(0, 4000, 2, AS_IT_IS, false);
}

static void larger_terms_mean_what_the_interpreter_says(void **state) {
    (void)state;
    random_terms(10000, 2000, 7, AS_IT_IS, false);
    random_terms(20000, 500, 12, AS_IT_IS, true);
}

static void normal_forms_mean_what_the_interpreter_says(void **state) {
    (void)state;
    random_terms(30000, 2000, 6, NORMAL, false);
    random_terms(40000, 1000, 6, NORMAL, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_terms_mean_what_the_interpreter_says),
        cmocka_unit_test(larger_terms_mean_what_the_interpreter_says),
        cmocka_unit_test(normal_forms_mean_what_the_interpreter_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
