/* Terms of BULK as Core over flat arrays: that they mean what the reference interpreter says, errors included. */
#include "bulk_generate.h"
#include "eval_fixture.h"

#include <stdio.h>

#include "ad/bulk/diff/diff.h"
#include "ad/bulk/lower/lower.h"
#include "ad/bulk/rewrite/rewrite.h"
#include "ad/internal.h"

/* ---- values as text ---- */

static void show_item(CtText *out, CtElement element, BulkWord item) {
    char buffer[32];
    if (element == ELEMENT_REAL) {
        ct_value_show_double(buffer, item.real);
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

static CtCore *lowered(Fixture *f, CtBulkBuilder *r, const Inputs *in, CtBulk *t) {
    CtMap map = {0};
    CtVar *vars[16];
    for (uint32_t i = 0; i < in->count; i++) {
        vars[i] = variable(f, in->vars[i]->name, ct_bulk_lower_type(f->p, in->vars[i]->element, in->vars[i]->shape));
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

static void compare(Fixture *f, CtBulkBuilder *r, const Inputs *in, CtBulk *t, uint32_t seed, bool simplifies) {
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

typedef enum Stage { AS_IT_IS, NORMAL, SIMPLE } Stage;

static void random_terms(uint32_t from, uint32_t count, int fuel, Stage stage, bool simplifies) {
    for (uint32_t seed = from; seed < from + count; seed++) {
        void *state;
        set_up(&state);
        Fixture *f = state;
        CtBulkBuilder r = {.p = f->p, .arena = f->arena};
        BulkRandom g = {.r = &r, .state = seed * 7919u + 17};
        Inputs in = random_inputs(&g);
        CtElement element = (CtElement)bulk_random(&g, 3);
        CtShape shape = bulk_random_shape(&g, 3);
        CtBulk *t = bulk_random_term(&g, element, shape, fuel);
        if (stage != AS_IT_IS) t = ct_bulk_rewrite(&r, t);
        if (stage == SIMPLE) t = ct_bulk_simplify(&r, t);
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

static void simplified_terms_mean_what_the_interpreter_says(void **state) {
    (void)state;
    random_terms(50000, 3000, 6, SIMPLE, false);
}

/* ---- gradients of random terms ---- */

static const char *expected_gradient(Fixture *f, const Inputs *in, const CtBulkGradient *g) {
    BulkRun run = {.arena = f->arena};
    CtText text = ct_text(f->arena);
    for (uint32_t i = 0; i < in->count; i++) bulk_bind(&run, in->vars[i], in->values[i]);
    for (uint32_t i = 0; i < g->vars.count; i++) {
        BulkValue *value = bulk_run(&run, g->terms.items[i]);
        if (value != NULL) bulk_bind(&run, g->vars.items[i], value);
    }
    for (uint32_t i = 0; i < in->count; i++) { /* the cotangent is the last input */
        CtBulk *t = i == 0 ? g->value : g->gradient[i - 1];
        BulkValue *value = t != NULL ? bulk_run(&run, t) : NULL;
        if (run.failed) return ct_error_name(run.code);
        const char *shown = t != NULL ? show(f, value) : "()";
        ct_text_printf(&text, "%s%s", i == 0 ? "(" : ",", shown);
    }
    ct_text_putc(&text, ')');
    return text.data;
}

/* (value, ⟨gradient⟩) under its bindings; () for inputs that have none. */
static CtCore *lowered_gradient(Fixture *f, CtBulkBuilder *r, const Inputs *in, const CtBulkGradient *g) {
    CtMap map = {0};
    CtVar *vars[16];
    for (uint32_t i = 0; i < in->count; i++) {
        vars[i] = variable(f, in->vars[i]->name, ct_bulk_lower_type(f->p, in->vars[i]->element, in->vars[i]->shape));
        ct_map_set(f->arena, &map, ct_key(in->vars[i]), vars[i]);
    }
    CtSeq seq = ct_ad_seq(f->p, NULL);
    struct CtLoweredLoop *outer = r->loops;
    for (uint32_t i = 0; i < g->vars.count; i++)
        ct_bulk_lower_binding(r, &seq, g->vars.items[i], g->terms.items[i], &map);
    CtCore *parts[17];
    for (uint32_t i = 0; i < in->count; i++) { /* the last input is the cotangent */
        CtBulk *t = i == 0 ? g->value : g->gradient[i - 1];
        parts[i] = t != NULL ? ct_bulk_lower(r, t, &map) : ct_core_unit(f->p, AT);
    }
    r->loops = outer;
    CtCore *result = in->count > 1 ? ct_core_tuple(f->p, AT, parts, in->count) : parts[0];
    return bound(f, in, vars, ct_ad_seq_close(&seq, result));
}

static void random_gradients(uint32_t from, uint32_t count, int fuel, bool simplifies) {
    for (uint32_t seed = from; seed < from + count; seed++) {
        void *state;
        set_up(&state);
        Fixture *f = state;
        CtBulkBuilder r = {.p = f->p, .arena = f->arena};
        BulkRandom g = {.r = &r, .state = seed * 7919u + 17};
        Inputs in = random_inputs(&g);
        CtBulk *t = ct_bulk_rewrite(&r, bulk_random_term(&g, ELEMENT_REAL, bulk_random_shape(&g, 2), fuel));
        CtBulkVar *dy = ct_bulk_new_var(&r, "dy", ELEMENT_REAL, t->shape);
        CtBulkGradient gradient = ct_bulk_gradient(&r, t, in.vars, in.count, dy);
        if (simplifies) ct_bulk_simplify_gradient(&r, &gradient, in.count, dy);
        in.vars[in.count] = dy;
        in.values[in.count++] = bulk_random_value(&g, ELEMENT_REAL, t->shape);
        const char *wanted = expected_gradient(f, &in, &gradient);
        const char *found = run(f, lowered_gradient(f, &r, &in, &gradient));
        bool same = wanted[0] == 'E' ? strncmp(wanted, found, 5) == 0 : strcmp(wanted, found) == 0;
        if (!same) fprintf(stderr, "seed %u\nwanted %s\nfound  %s\n", seed, wanted, found);
        assert_true(same);
        tear_down(&state);
    }
}

static void gradients_mean_what_the_interpreter_says(void **state) {
    (void)state;
    random_gradients(60000, 1500, 6, false);
    random_gradients(70000, 1500, 7, true);
}

/* ---- what becomes of the forms ---- */

typedef struct Builder {
    Fixture *f;
    CtBulkBuilder r;
    CtMap map;
} Builder;

static CtShape shape_of(Builder *m, uint32_t rank, const int64_t *sizes) {
    return ct_bulk_shape_of(m->f->arena, sizes, rank);
}
#define SHAPE(...) shape_of(&m, COUNT(((int64_t[]){__VA_ARGS__})), (int64_t[]){__VA_ARGS__})

static Builder builder(Fixture *f) { return (Builder){.f = f, .r = {.p = f->p, .arena = f->arena}}; }

static CtBulk *input(Builder *m, const char *name, CtElement element, CtShape shape) {
    CtBulkVar *v = ct_bulk_new_var(&m->r, name, element, shape);
    ct_map_set(m->f->arena, &m->map, ct_key(v), variable(m->f, name, ct_bulk_lower_type(m->f->p, element, shape)));
    return ct_bulk_var(&m->r, v);
}

static const char *text_of(Builder *m, CtBulk *t) { return print(m->f, ct_bulk_lower(&m->r, t, &m->map)); }

static CtBulkVar *index_var(Builder *m, const char *name) {
    return ct_bulk_new_var(&m->r, name, ELEMENT_INT, (CtShape){0, NULL});
}
static CtBulk *number(Builder *m, int64_t value) { return ct_bulk_int(&m->r, value, (CtShape){0, NULL}); }

static void operations_are_maps_of_one_primitive(void **state) {
    Builder m = builder(*state);
    CtBulk *x = input(&m, "x", ELEMENT_REAL, SHAPE(2, 3)), *s = input(&m, "s", ELEMENT_REAL, (CtShape){0, NULL});
    CtBulk *many = ct_bulk_replicate(&m.r, 2, ct_bulk_replicate(&m.r, 3, s));
    assert_string_equal(text_of(&m, ct_bulk_op2(&m.r, PRIM_MUL, x, x)), "zipWith (λx y. x × y) x x");
    assert_string_equal(text_of(&m, ct_bulk_op2(&m.r, PRIM_MUL, many, x)), "map (λx. s × x) x");
    CtBulk *two = ct_bulk_real(&m.r, 2, SHAPE(2, 3));
    assert_string_equal(text_of(&m, ct_bulk_op2(&m.r, PRIM_SUB, x, two)), "map (λx. x - 2.0) x");
    assert_string_equal(text_of(&m, ct_bulk_op2(&m.r, PRIM_LT, x, two)), "map (λx. if x < 2.0 then 1 else 0) x");
    assert_string_equal(text_of(&m, ct_bulk_op1(&m.r, PRIM_SIN, many)), "replicate 6 (sin s)");
    assert_string_equal(text_of(&m, ct_bulk_op1(&m.r, PRIM_SIN, x)), "map (λx. sin x) x");
}

static void views_are_as_cheap_as_they_can_be(void **state) {
    Builder m = builder(*state);
    CtBulk *x = input(&m, "x", ELEMENT_REAL, SHAPE(2, 3));
    CtBulkVar *i = index_var(&m, "i"), *j = index_var(&m, "j");
    CtBulk *ui = ct_bulk_var(&m.r, i), *uj = ct_bulk_var(&m.r, j);
    assert_string_equal(text_of(&m, ct_bulk_reshape(&m.r, SHAPE(6), x)), "x");
    assert_string_equal(text_of(&m, ct_bulk_transpose(&m.r, (uint32_t[]){1, 0}, 2, x)), "strided [|0, 3, 1, 2, 3|] x");
    assert_string_equal(text_of(&m, ct_bulk_replicate(&m.r, 4, x)), "strided [|0, 4, 0, 6, 1|] x");
    CtIndexing same = {(CtBulkVar *[]){i, j}, 2, (CtBulk *[]){ui, uj}, 2, NULL};
    assert_string_equal(text_of(&m, ct_bulk_gather(&m.r, SHAPE(2, 3), x, same, AT)), "x");
    CtBulk *back = ct_bulk_op2(&m.r, PRIM_INT_SUB, number(&m, 1), ui);
    CtIndexing reversed = {(CtBulkVar *[]){i}, 1, (CtBulk *[]){back}, 1, NULL};
    assert_string_equal(text_of(&m, ct_bulk_gather(&m.r, SHAPE(2, 3), x, reversed, AT)),
                        "strided [|3, 2, -3, 3, 1|] x");
    CtIndexing second = {(CtBulkVar *[]){j}, 1, (CtBulk *[]){number(&m, 1), uj}, 2, NULL};
    assert_string_equal(text_of(&m, ct_bulk_gather(&m.r, SHAPE(3), x, second, AT)), "slice 3 3 x");
    CtIndexing diagonal = {(CtBulkVar *[]){i}, 1, (CtBulk *[]){ui, ui}, 2, NULL};
    assert_string_equal(text_of(&m, ct_bulk_gather(&m.r, SHAPE(2), x, diagonal, AT)), "strided [|0, 2, 4|] x");
    /* and what undoes them */
    CtBulk *y = input(&m, "y", ELEMENT_REAL, SHAPE(3));
    assert_string_equal(text_of(&m, ct_bulk_scatter(&m.r, SHAPE(2, 3), y, second, AT)),
                        "append (replicate 3 (-0.0)) y");
    assert_string_equal(text_of(&m, ct_bulk_scatter(&m.r, SHAPE(2, 3), x, same, AT)), "x");
    CtBulk *d = input(&m, "d", ELEMENT_REAL, SHAPE(2));
    assert_string_equal(text_of(&m, ct_bulk_scatter(&m.r, SHAPE(2, 3), d, diagonal, AT)), "scatterAdd 6 bulk.0 d");
    assert_string_equal(print(m.f, m.f->p->globals.items[0]->body), "strided [|0, 2, 4|] (iota 6)");
}

static void a_gather_and_its_scatter_share_their_positions(void **state) {
    Builder m = builder(*state);
    CtBulk *x = input(&m, "x", ELEMENT_REAL, SHAPE(5)), *y = input(&m, "y", ELEMENT_REAL, SHAPE(9));
    CtBulkVar *i = index_var(&m, "i");
    CtBulk *half = ct_bulk_op2(&m.r, PRIM_INT_DIV, ct_bulk_var(&m.r, i), number(&m, 2));
    CtIndexing f = {&i, 1, &half, 1, NULL};
    assert_string_equal(text_of(&m, ct_bulk_gather(&m.r, SHAPE(9), x, f, AT)),
                        "gatherOr (replicate 1 (-0.0)) bulk.0 x");
    assert_string_equal(text_of(&m, ct_bulk_scatter(&m.r, SHAPE(5), y, f, AT)), "scatterAdd 5 bulk.0 y");
    assert_int_equal(m.f->p->globals.count, 1);
    assert_string_equal(print(m.f, m.f->p->globals.items[0]->body), "build 9 (λp. intDiv p 2)");
    CtBulk *n = input(&m, "n", ELEMENT_INT, SHAPE(9)), *ui = ct_bulk_var(&m.r, i);
    CtBulk *at = ct_bulk_index(&m.r, n, &ui, 1, NULL, AT);
    CtIndexing given = {&i, 1, &at, 1, NULL};
    assert_string_equal(text_of(&m, ct_bulk_gather(&m.r, SHAPE(9), x, given, AT)), "gather x n");
}

/* gather [2] (tr [u, v]) (λ[i]. [i, cond (index b [i]) 0 1]) */
static void a_conditional_under_build_is_a_choice(void **state) {
    Builder m = builder(*state);
    CtBulk *u = input(&m, "u", ELEMENT_REAL, SHAPE(3)), *v = input(&m, "v", ELEMENT_REAL, SHAPE(3));
    CtBulkVar *i = index_var(&m, "i");
    CtBulk *ui = ct_bulk_var(&m.r, i), *items[] = {u, v}, *zeros = ct_bulk_real(&m.r, 0, (CtShape){0, NULL});
    CtBulk *ux = ct_bulk_index(&m.r, u, &ui, 1, NULL, AT);
    CtBulk *test = ct_bulk_op2(&m.r, PRIM_LT, ux, zeros);
    CtBulk *which = ct_bulk_cond(&m.r, test, number(&m, 0), number(&m, 1));
    CtBulk *both = ct_bulk_literal(&m.r, items, 2);
    CtIndexing f = {&i, 1, (CtBulk *[]){ui, which}, 2, NULL};
    CtBulk *t = ct_bulk_gather(&m.r, SHAPE(3), ct_bulk_transpose(&m.r, (uint32_t[]){1, 0}, 2, both), f, AT);
    const char *text = "select (map (λx. if x < 0.0 then 1 else 0) u) u v";
    assert_string_equal(text_of(&m, t), text);
    CtIndexing swapped = {&i, 1, (CtBulk *[]){which, ui}, 2, NULL};
    assert_string_equal(text_of(&m, ct_bulk_gather(&m.r, SHAPE(3), both, swapped, AT)), text);
}

static void sums_go_by_rows(void **state) {
    Builder m = builder(*state);
    CtBulk *x = input(&m, "x", ELEMENT_REAL, SHAPE(4, 3)), *y = input(&m, "y", ELEMENT_REAL, SHAPE(4));
    assert_string_equal(text_of(&m, ct_bulk_reduce(&m.r, REDUCE_SUM, x, AT)), "sumRows 3 x");
    assert_string_equal(text_of(&m, ct_bulk_reduce(&m.r, REDUCE_SUM, y, AT)), "sumRows 1 y ! 0");
    assert_string_equal(text_of(&m, ct_bulk_reduce(&m.r, REDUCE_MAXIMUM, y, AT)), "maximum y");
    assert_string_equal(text_of(&m, ct_bulk_reduce(&m.r, REDUCE_MAXIMUM, x, AT)),
                        "build 3 (λj. maximum (strided [|j, 4, 3|] x))");
}

/* ---- errors ---- */

static const char *evaluate(Fixture *f, CtBulk *t) {
    CtBulkBuilder r = {.p = f->p, .arena = f->arena};
    CtMap map = {0};
    return run(f, ct_bulk_lower(&r, t, &map));
}

static void errors_say_what_the_program_would_have_said(void **state) {
    Builder m = builder(*state);
    Fixture *f = m.f;
    CtSourceRange here = {0, 3, 8};
    CtBulk *x = ct_bulk_real(&m.r, 1, SHAPE(2, 3)), *ix[] = {number(&m, 1), number(&m, 3)};
    assert_string_equal(evaluate(f, ct_bulk_index(&m.r, x, ix, 2, NULL, here)),
                        "E0501 index 3 is outside of an array of 3 elements");
    CtDiag *diag = f->context.diags;
    assert_int_equal(diag->range.start, 3);
    assert_int_equal(diag->range.end, 8);
    CtBulk *no = ct_bulk_bool(&m.r, false, (CtShape){0, NULL});
    assert_string_equal(evaluate(f, ct_bulk_index(&m.r, x, ix, 2, no, here)), "-0.0");
    ix[0] = number(&m, -1);
    assert_string_equal(evaluate(f, ct_bulk_index(&m.r, x, ix, 2, NULL, here)),
                        "E0501 index -1 is outside of an array of 2 elements");
    CtBulkVar *i = index_var(&m, "i");
    CtBulk *square = ct_bulk_op2(&m.r, PRIM_INT_MUL, ct_bulk_var(&m.r, i), ct_bulk_var(&m.r, i));
    CtIndexing squares = {&i, 1, &square, 1, NULL};
    CtBulk *y = ct_bulk_real(&m.r, 1, SHAPE(4)), *z = ct_bulk_real(&m.r, 1, SHAPE(5));
    assert_string_equal(evaluate(f, ct_bulk_gather(&m.r, SHAPE(3), y, squares, here)),
                        "E0501 index 4 is outside of an array of 4 elements");
    assert_string_equal(evaluate(f, ct_bulk_scatter(&m.r, SHAPE(0), z, squares, here)),
                        "E0501 index 0 of an array without elements");
    CtBulk *test = ct_bulk_integers(&m.r, (int64_t[]){0, 1}, SHAPE(2), ELEMENT_BOOL);
    assert_string_equal(evaluate(f, ct_bulk_check(&m.r, test, CT_E0503, "no", here, y)), "E0503 no");
}

/* What is known of a variable where it is bound first does not hold where it is bound again. */
static void a_name_may_be_bound_again(void **state) {
    Builder m = builder(*state);
    CtBulkVar *i = index_var(&m, "i");
    CtBulk *ui = ct_bulk_var(&m.r, i), *x = ct_bulk_real(&m.r, 1, SHAPE(3)), *sums[3];
    CtIndexing f = {&i, 1, &ui, 1, NULL};
    int64_t sizes[] = {2, 3, 4};
    for (int k = 0; k < 3; k++)
        sums[k] = ct_bulk_reduce(&m.r, REDUCE_SUM, ct_bulk_gather(&m.r, SHAPE(sizes[k]), x, f, AT), AT);
    assert_string_equal(evaluate(m.f, ct_bulk_op2(&m.r, PRIM_ADD, sums[0], sums[1])), "5.0");
    assert_string_equal(evaluate(m.f, ct_bulk_op2(&m.r, PRIM_ADD, sums[0], sums[2])),
                        "E0501 index 3 is outside of an array of 3 elements");
    assert_string_equal(evaluate(m.f, ct_bulk_op2(&m.r, PRIM_ADD, sums[2], sums[0])),
                        "E0501 index 3 is outside of an array of 3 elements");
}

/* ---- other methods over what is lowered ---- */

/* λxs. the flat operations that add reals, one after the other; twice written with them, once without. */
static CtCore *flat_sums(Fixture *f, CtVar *xs) {
    CtCore *rows[] = {whole(f, 2), whole(f, -1), whole(f, 0), whole(f, 2)},
           *view[] = {whole(f, 3), whole(f, 4), whole(f, -1)};
    CtCore *transposed = ARRAY(STRIDED, ct_core_array_lit(f->p, AT, f->integer, view, 3), var(f, xs));
    CtCore *scattered = ARRAY(SCATTER_ADD, whole(f, 6), ct_core_array_lit(f->p, AT, f->integer, rows, 2), transposed);
    CtVar *ys = variable(f, "ys", xs->type), *a = variable(f, "a", f->real), *b = variable(f, "b", f->real);
    CtCore *squares = ARRAY(ZIP_WITH, LAM(op(f, PRIM_MUL, var(f, a), var(f, b)), a, b), var(f, ys), var(f, ys));
    return let(f, ys, scattered, ARRAY(SUM_ROWS, whole(f, 2), squares));
}

static void other_methods_differentiate_it(void **state) {
    Fixture *f = *state;
    f->p->string_type = fixture_list(f->p, ct_core_type_char(f->p));
    CtAd *ad = ct_ad_new(f->p, METHOD_TAPE);
    CtVar *xs = variable(f, "xs", ct_core_type_array(f->p, f->real));
    CtCore *items[4], *tangents[4];
    for (int i = 0; i < 4; i++) items[i] = num(f, i + 1), tangents[i] = num(f, i == 1 ? 1 : 0);
    CtCore *x = ct_core_array_lit(f->p, AT, f->real, items, 4), *dx = ct_core_array_lit(f->p, AT, f->real, tangents, 4);
    /* the rows (4, 3) and (2, 1) go to the last row and nowhere: squares (16, 9); d/dx₁ of the second is 0, x₁ is in
     * row 1 */
    CtCore *core = ct_ad_jvp_by(ad, METHOD_FORWARD, AT, lam1(f, xs, flat_sums(f, xs)), x, dx);
    assert_string_equal(run(f, core), "([|16.0,9.0|],[|0.0,0.0|])");
    CtVar *zs = variable(f, "zs", xs->type);
    CtCore *more[4];
    for (int i = 0; i < 4; i++) more[i] = num(f, i == 2 ? 1 : 0);
    core = ct_ad_jvp_by(ad, METHOD_FORWARD, AT, lam1(f, zs, flat_sums(f, zs)), x,
                        ct_core_array_lit(f->p, AT, f->real, more, 4));
    assert_string_equal(run(f, core), "([|16.0,9.0|],[|0.0,6.0|])");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_terms_mean_what_the_interpreter_says),
        cmocka_unit_test(larger_terms_mean_what_the_interpreter_says),
        cmocka_unit_test(normal_forms_mean_what_the_interpreter_says),
        cmocka_unit_test(simplified_terms_mean_what_the_interpreter_says),
        cmocka_unit_test(gradients_mean_what_the_interpreter_says),
        TEST(operations_are_maps_of_one_primitive),
        TEST(views_are_as_cheap_as_they_can_be),
        TEST(a_gather_and_its_scatter_share_their_positions),
        TEST(a_conditional_under_build_is_a_choice),
        TEST(sums_go_by_rows),
        TEST(errors_say_what_the_program_would_have_said),
        TEST(a_name_may_be_bound_again),
        TEST(other_methods_differentiate_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
