/* The array language of BULK: its terms in print, the bulk-operation transform rule by rule, and Theorem 5.1 on random terms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ad/bulk_rules.h"
#include "bulk_generate.h"

typedef struct Fixture {
    CtArena *arena;
    CtBulkRoom room, *r;
} Fixture;

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    f->arena = ct_arena_new(0);
    f->room.arena = f->arena;
    f->r = &f->room;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    ct_arena_free(f->arena);
    free(f);
    return 0;
}

/* ---- short names ---- */

static const CtShape scalar = {0, NULL};

#define SHAPE(f, ...)                                                                                                  \
    ct_shape_of((f)->arena, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define IX(...) (CtBulk *const[]){__VA_ARGS__}, sizeof((CtBulk *const[]){__VA_ARGS__}) / sizeof(CtBulk *)

static CtBulk *real_var(Fixture *f, const char *name, CtShape shape) {
    return ct_bulk_var(f->r, ct_bulk_new_var(f->r, name, ELEMENT_REAL, shape));
}

static CtBulk *int_var(Fixture *f, const char *name) {
    return ct_bulk_var(f->r, ct_bulk_new_var(f->r, name, ELEMENT_INT, scalar));
}

static CtBulk *number(Fixture *f, int64_t value) { return ct_bulk_int(f->r, value, scalar); }
static CtBulk *real(Fixture *f, double value) { return ct_bulk_real(f->r, value, scalar); }

static CtBulk *read_at(Fixture *f, CtBulk *t, CtBulk *const *ix, size_t count) {
    return ct_bulk_index(f->r, t, ix, (uint32_t)count, NULL, CT_NO_SPAN);
}

static CtBulk *build(Fixture *f, int64_t k, CtBulk *i, CtBulk *body) { return ct_bulk_build(f->r, k, i->as.var, body); }
static CtBulk *sum(Fixture *f, CtBulk *t) { return ct_bulk_reduce(f->r, REDUCE_SUM, t, CT_NO_SPAN); }
static CtBulk *op(Fixture *f, CtPrim prim, CtBulk *t, CtBulk *u) { return ct_bulk_op2(f->r, prim, t, u); }

static const char *print(Fixture *f, CtBulk *t) {
    CtText text = ct_text(f->arena);
    ct_bulk_print(&text, t);
    return text.data;
}

#define assert_prints(f, t, text) assert_string_equal(print(f, t), text)
#define assert_rewrites(f, t, text) assert_string_equal(print(f, ct_bulk_rewrite((f)->r, t)), text)

/* ---- the examples of the paper ---- */

/* §3.1; sizes stand for k, m and n */
static void matmat_becomes_whole_array_operations(void **state) {
    Fixture *f = *state;
    CtBulk *a = real_var(f, "a", SHAPE(f, 2, 3)), *b = real_var(f, "b", SHAPE(f, 3, 4));
    CtBulk *i = int_var(f, "i"), *j = int_var(f, "j"), *p = int_var(f, "p");
    CtBulk *left = read_at(f, a, IX(i, p)), *right = read_at(f, b, IX(p, j));
    CtBulk *inner = sum(f, build(f, 3, p, op(f, PRIM_MUL, left, right)));
    CtBulk *t = build(f, 2, i, build(f, 4, j, inner));
    assert_prints(f, t, "build1 2 (λi. build1 4 (λj. sumOuter (build1 3 (λp. index a [i, p] × index b [p, j]))))");
    assert_rewrites(f, t, "");
}

/* §4.1 */
static void a_dot_product_becomes_whole_array_operations(void **state) {
    Fixture *f = *state;
    CtBulk *a = real_var(f, "a", SHAPE(f, 10)), *b = real_var(f, "b", SHAPE(f, 10)), *i = int_var(f, "i");
    CtBulk *left = read_at(f, a, IX(i)), *right = read_at(f, b, IX(i));
    CtBulk *t = sum(f, build(f, 10, i, op(f, PRIM_MUL, left, right)));
    assert_prints(f, t, "sumOuter (build1 10 (λi. index a [i] × index b [i]))");
    assert_rewrites(f, t, "sumOuter (gather [10] a (λ[i]. [i]) × gather [10] b (λ[i]. [i]))");
}

/* §4.5 */
static void adding_one_to_each_element(void **state) {
    Fixture *f = *state;
    CtBulk *a = real_var(f, "a", SHAPE(f, 10)), *i = int_var(f, "i");
    CtBulk *t = build(f, 10, i, op(f, PRIM_ADD, read_at(f, a, IX(i)), real(f, 1)));
    assert_prints(f, t, "build1 10 (λi. index a [i] + 1.0)");
    assert_rewrites(f, t, "gather [10] a (λ[i]. [i]) + replicate 10 1.0");
}

/* Fig. 18 */
static void self_convolution_becomes_whole_array_operations(void **state) {
    Fixture *f = *state;
    CtBulk *a = real_var(f, "a", SHAPE(f, 10)), *i = int_var(f, "i");
    CtBulk *last = op(f, PRIM_INT_SUB, number(f, 10), number(f, 1));
    CtBulk *left = read_at(f, a, IX(i)), *right = read_at(f, a, IX(op(f, PRIM_INT_SUB, last, i)));
    CtBulk *t = sum(f, build(f, 10, i, op(f, PRIM_MUL, left, right)));
    assert_prints(f, t, "sumOuter (build1 10 (λi. index a [i] × index a [10 - 1 - i]))");
    assert_rewrites(f, t, "sumOuter (gather [10] a (λ[i]. [i]) × gather [10] a (λ[i]. [10 - 1 - i]))");
}

/* ---- Theorem 5.1 ---- */

typedef struct Look {
    CtBulkRoom *r;
    bool build1;
    bool odd_index; /* in none of the four forms */
    uint32_t count; /* of nodes */
} Look;

static CtBulk *look_at(void *data, CtBulk *t) {
    Look *look = data;
    look->count++;
    look->build1 |= t->kind == BULK_BUILD;
    if (t->kind == BULK_INDEX) {
        CtBulkKind of = t->as.move.t->kind;
        bool four = of == BULK_VAR || of == BULK_CONST || of == BULK_SCATTER ||
                    (of == BULK_LITERAL && t->as.move.f.count == 1);
        look->odd_index |= !four || t->as.move.f.count == 0;
    }
    ct_bulk_map(look->r, t, look_at, look);
    return t;
}

/* One step of rewriting somewhere in the term: at the `skip`-th place where a rule applies, in the order of the walk. */
typedef struct Step {
    CtBulkRewriter *w;
    bool outermost;
    uint32_t skip, found;
    bool done;
} Step;

static CtBulk *step_here(Step *step, CtBulk *t) {
    CtBulk *next = step->done ? NULL : ct_bulk_contract(step->w, t);
    if (next == NULL) return t;
    step->done = step->found++ == step->skip;
    return step->done ? next : t;
}

static CtBulk *step_in(void *data, CtBulk *t) {
    Step *step = data;
    if (step->done) return t;
    CtBulk *now = step->outermost ? step_here(step, t) : t;
    if (step->done) return now;
    CtBulk *parts = ct_bulk_map(step->w->r, t, step_in, step);
    return step->outermost || step->done ? parts : step_here(step, parts);
}

typedef enum Order { INNERMOST, OUTERMOST, ANYWHERE } Order;

/* NULL when it does not come to an end. */
static CtBulk *rewrite_in_order(BulkRandom *g, Order order, CtBulk *t) {
    CtBulkRewriter w = {.r = g->r};
    ct_bulk_note(&w, t);
    for (int steps = 0; steps < 20000; steps++) {
        Step step = {.w = &w, .outermost = order == OUTERMOST, .skip = order == ANYWHERE ? bulk_random(g, 8) : 0};
        CtBulk *now = step_in(&step, t);
        if (!step.done && step.found > 0) { /* there are fewer places than that */
            step = (Step){.w = &w, .skip = bulk_random(g, step.found)};
            now = step_in(&step, t);
        }
        if (!step.done) return t;
        t = now;
    }
    return NULL;
}

typedef struct Case {
    BulkRandom g;
    CtBulkVar *inputs[8];
    BulkValue *values[8];
    CtBulk *t;
} Case;

static void make_case(Fixture *f, Case *c, uint64_t seed, int fuel) {
    *c = (Case){.g = {.r = f->r, .state = seed * 7919 + 1}};
    BulkRandom *g = &c->g;
    for (int i = 0; i < 3; i++) bulk_random(g, 2);
    for (uint32_t i = 0; i < 8; i++) {
        CtElement element = i < 5 ? ELEMENT_REAL : i < 7 ? ELEMENT_INT : ELEMENT_BOOL;
        CtShape shape = bulk_random_shape(g, i < 6 ? 3 : 1);
        c->inputs[i] = ct_bulk_new_var(f->r, "a", element, shape);
        c->values[i] = bulk_random_value(g, element, shape);
        ct_push(f->arena, &g->scope, c->inputs[i]);
    }
    CtElement element = (CtElement)bulk_random(g, 3);
    c->t = bulk_random_term(g, element, bulk_random_shape(g, 5), fuel);
}

static BulkValue *run_case(Fixture *f, Case *c, CtBulk *t) {
    BulkRun run = {.arena = f->arena};
    for (int i = 0; i < 8; i++) bulk_bind(&run, c->inputs[i], c->values[i]);
    return bulk_run(&run, t);
}

static void expect_same_meaning(Fixture *f, Case *c, CtBulk *normal, uint64_t seed) {
    const char *wrong = ct_bulk_lint(f->r, normal, c->inputs, 8);
    BulkValue *before = run_case(f, c, c->t), *after = run_case(f, c, normal);
    bool same = before == NULL || after == NULL ? before == after : bulk_equal(before, after, 0);
    Look look = {.r = f->r};
    look_at(&look, normal);
    if (wrong == NULL && same && !look.build1 && !look.odd_index) return;
    fail_msg("seed %llu: %s%s%s%s\n%s\n~>\n%s", (unsigned long long)seed, wrong != NULL ? wrong : "",
             same ? "" : " another meaning", look.build1 ? " build1" : "", look.odd_index ? " index" : "",
             print(f, c->t), print(f, normal));
}

static void the_meaning_of_random_terms_is_kept(void **state) {
    (void)state;
    uint32_t failing = 0, cases = 4000;
    for (uint64_t seed = 0; seed < cases; seed++) {
        void *inner;
        set_up(&inner);
        Fixture *f = inner;
        Case c;
        make_case(f, &c, seed, 2 + (int)(seed % 9));
        const char *wrong = ct_bulk_lint(f->r, c.t, c.inputs, 8);
        if (wrong != NULL) fail_msg("seed %llu: %s\n%s", (unsigned long long)seed, wrong, print(f, c.t));
        failing += run_case(f, &c, c.t) == NULL;
        expect_same_meaning(f, &c, ct_bulk_rewrite(f->r, c.t), seed);
        tear_down(&inner);
    }
    /* Errors are kept, too: enough terms make one, and enough do not. */
    printf("# failing %u\n", failing);
    assert_in_range(failing, cases / 20, cases / 2);
}

static void rules_may_be_applied_in_any_order(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 800; seed++) {
        for (Order order = INNERMOST; order <= ANYWHERE; order++) {
            void *inner;
            set_up(&inner);
            Fixture *f = inner;
            Case c;
            make_case(f, &c, seed, 2 + (int)(seed % 5));
            CtBulk *normal = rewrite_in_order(&c.g, order, c.t);
            if (normal == NULL) fail_msg("seed %llu does not end", (unsigned long long)seed);
            expect_same_meaning(f, &c, normal, seed);
            tear_down(&inner);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(matmat_becomes_whole_array_operations),
        TEST(a_dot_product_becomes_whole_array_operations),
        TEST(adding_one_to_each_element),
        TEST(self_convolution_becomes_whole_array_operations),
        TEST(the_meaning_of_random_terms_is_kept),
        TEST(rules_may_be_applied_in_any_order),
    };
    return cmocka_run_group_tests_name("bulk", tests, NULL, NULL);
}
