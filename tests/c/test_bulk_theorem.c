/* Theorem 5.1 of BULK, on random terms: rewriting comes to an end in any order of rules, what it ends in is without
 * build1 and has index in four forms only, and each step keeps type and meaning, also which error a term is. Terms of
 * those forms are where it ends. That normal forms are unique, as §5.1 has it, holds of what they mean, not of
 * their texts. */
#include <setjmp.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ad/bulk/rewrite/rules.h"
#include "bulk_generate.h"
#include "bulk_normal.h"
#include "bulk_fixture.h"

static const char *print(Fixture *f, CtBulk *t) {
    CtText text = ct_text(f->arena);
    ct_bulk_print(&text, t);
    return text.data;
}

/* ---- normal forms ---- */

/* The two properties of the theorem. */
typedef struct Look {
    CtBulkBuilder *r;
    bool build1;
    bool odd_index; /* in none of the four forms */
    uint32_t indices;
} Look;

static CtBulk *look_at(void *data, CtBulk *t) {
    Look *look = data;
    look->build1 |= t->kind == BULK_BUILD;
    if (t->kind == BULK_INDEX) {
        look->indices++;
        CtBulkKind of = t->as.move.t->kind;
        bool four =
            of == BULK_VAR || of == BULK_CONST || of == BULK_SCATTER || (of == BULK_LITERAL && t->as.move.f.count == 1);
        look->odd_index |= !four || t->as.move.f.count == 0;
    }
    ct_bulk_map(look->r, t, look_at, look);
    return t;
}

/* One step of rewriting somewhere in the term: at the `skip`-th place where a rule applies, in the order of the walk.
 */
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

/* What is done after each step. */
typedef void After(void *data, CtBulk *t);

/* NULL when it does not come to an end. */
static CtBulk *rewrite_in_order(BulkRandom *g, Order order, CtBulk *t, After *after, void *data) {
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
        if (after != NULL) after(data, t);
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
    g->inputs = g->scope.count;
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

/* evidence: BULK Theorem 5.1: normal forms have both properties, of 4000 random terms */
/* evidence: BULK §5.1, semantics: 4000 random terms, before and after, errors included */
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
    assert_in_range(failing, cases / 20, cases / 2);
}

typedef struct Checked {
    Fixture *f;
    Case *c;
    BulkValue *value; /* of the term before any step; NULL: it fails */
    uint64_t seed;
    uint32_t steps;
} Checked;

static void check_step(void *data, CtBulk *t) {
    Checked *checked = data;
    const char *wrong = ct_bulk_lint(checked->f->r, t, checked->c->inputs, 8);
    BulkValue *now = run_case(checked->f, checked->c, t);
    bool same = !now || !checked->value ? now == checked->value : bulk_equal(now, checked->value, 0);
    if (wrong || !same)
        fail_msg("seed %llu: %s\n%s", (unsigned long long)checked->seed, wrong ? wrong : "another meaning",
                 print(checked->f, t));
    checked->steps++;
}

/* evidence: BULK §5.1, semantics: after each step */
/* What each single step leaves is a term of the same type, and means the same. */
static void each_step_keeps_type_and_meaning(void **state) {
    (void)state;
    uint32_t steps = 0;
    for (uint64_t seed = 10000; seed < 14000; seed++) {
        void *inner;
        set_up(&inner);
        Case c;
        make_case(inner, &c, seed, 2 + (int)(seed % 9));
        Checked checked = {inner, &c, run_case(inner, &c, c.t), seed, 0};
        CtBulk *normal = rewrite_in_order(&c.g, ANYWHERE, c.t, check_step, &checked);
        assert_non_null(normal);
        assert_true(normal->element == c.t->element && ct_bulk_shape_equal(normal->shape, c.t->shape));
        steps += checked.steps;
        tear_down(&inner);
    }
    assert_in_range(steps, 3000, 1000000); /* there are some */
}

/* evidence: BULK §5.1, termination: parts first, wholes first, and at random */
/* evidence: BULK §5.1, uniqueness: the texts of most are the same */
/* The same text: of all terms where parts come before wholes, as ct_bulk_rewrite has it; of most where wholes come
 * first, but not of all, whatever §5.1 says. */
static void rules_may_be_applied_in_any_order(void **state) {
    (void)state;
    enum { CASES = 4000 };
    uint32_t same[3] = {0};
    for (uint64_t seed = 0; seed < CASES; seed++) {
        for (Order order = INNERMOST; order <= ANYWHERE; order++) {
            void *inner;
            set_up(&inner);
            Fixture *f = inner;
            Case c;
            make_case(f, &c, seed, 2 + (int)(seed % 9));
            CtBulk *normal = rewrite_in_order(&c.g, order, c.t, NULL, NULL);
            if (normal == NULL) fail_msg("seed %llu does not end", (unsigned long long)seed);
            same[order] += strcmp(print(f, normal), print(f, ct_bulk_rewrite(f->r, c.t))) == 0;
            expect_same_meaning(f, &c, normal, seed);
            tear_down(&inner);
        }
    }
    printf("# of %d terms outermost first %u have the same text, in random order %u\n", CASES, same[OUTERMOST],
           same[ANYWHERE]);
    assert_int_equal(same[INNERMOST], CASES);
    assert_in_range(same[OUTERMOST], CASES * 9 / 10, CASES - 1);
    assert_in_range(same[ANYWHERE], CASES * 9 / 10, CASES - 1);
}

/* evidence: BULK §5.1, uniqueness: a term with two normal forms */
/* Terms have several normal forms, which mean the same: which part is found not to depend on i is a matter of order. */
static void the_order_of_rules_can_be_seen(void **state) {
    Fixture *f = *state;
    CtBulk *x = ct_bulk_var(f->r, ct_bulk_new_var(f->r, "x", ELEMENT_REAL, scalar));
    CtBulkVar *i = ct_bulk_new_var(f->r, "i", ELEMENT_INT, scalar);
    CtBulk *at = ct_bulk_var(f->r, i), *copies = ct_bulk_replicate(f->r, 3, x);
    CtBulk *read = ct_bulk_index(f->r, copies, &at, 1, NULL, CT_NO_RANGE);
    BulkRandom g = {.r = f->r};
    CtBulk *t = ct_bulk_build(f->r, 3, i, ct_bulk_op2(f->r, PRIM_ADD, x, read));
    CtBulk *inner = rewrite_in_order(&g, INNERMOST, t, NULL, NULL);
    CtBulk *outer = rewrite_in_order(&g, OUTERMOST, t, NULL, NULL);
    assert_string_equal(print(f, inner), "replicate 3 (x + x)");
    assert_string_equal(print(f, outer), "replicate 3 x + replicate 3 x");
}

/* ---- what §5.1 says of costs ---- */

static uint64_t work_of(Fixture *f, Case *c, CtBulk *t) {
    BulkRun run = {.arena = f->arena};
    for (int i = 0; i < 8; i++) bulk_bind(&run, c->inputs[i], c->values[i]);
    return bulk_run(&run, t) == NULL ? 0 : run.work;
}

/* evidence: BULK §5.1, time: the work of 4000 random terms before and after, at most 20 times as much */
/* The greatest factors are those of index arithmetic: an element of a reshape takes one step, an element of the gather
 * that it becomes a division and a remainder for each dimension. */
static void normal_forms_take_no_more_time(void **state) {
    (void)state;
    double worst = 0, before = 0, after = 0;
    for (uint64_t seed = 4000; seed < 8000; seed++) {
        void *inner;
        set_up(&inner);
        Case c;
        make_case(inner, &c, seed, 2 + (int)(seed % 9));
        uint64_t source = work_of(inner, &c, c.t), normal = work_of(inner, &c, ct_bulk_rewrite(c.g.r, c.t));
        if (source > 0) worst = fmax(worst, (double)normal / (double)source);
        before += (double)source;
        after += (double)normal;
        tear_down(&inner);
    }
    printf("# work: %g times that of the source, of one term %g times\n", after / before, worst);
    assert_true(worst <= 20);
    assert_true(after <= before);
}

/* build1 n (λi. sumOuter (build1 n (λj. t))), where t is elements of x, by the form of t. */
static CtBulk *nested_sum(Fixture *f, CtBulk *x, int64_t n, int form) {
    CtBulkVar *i = ct_bulk_new_var(f->r, "i", ELEMENT_INT, scalar),
              *j = ct_bulk_new_var(f->r, "j", ELEMENT_INT, scalar);
    CtBulk *at[2] = {ct_bulk_var(f->r, i), ct_bulk_var(f->r, j)}, *back[2] = {at[1], at[0]};
    const uint32_t swap[2] = {1, 0};
    CtBulk *element = ct_bulk_index(f->r, x, at, 2, NULL, CT_NO_RANGE);
    CtBulk *other = form == 0   ? ct_bulk_index(f->r, x, back, 2, NULL, CT_NO_RANGE)
                    : form == 1 ? ct_bulk_index(f->r, ct_bulk_transpose(f->r, swap, 2, x), at, 2, NULL, CT_NO_RANGE)
                                : ct_bulk_index(f->r, ct_bulk_op1(f->r, PRIM_SIN, x), at, 2, NULL, CT_NO_RANGE);
    CtBulk *row = ct_bulk_build(f->r, n, j, ct_bulk_op2(f->r, PRIM_MUL, element, other));
    return ct_bulk_build(f->r, n, i, ct_bulk_reduce(f->r, REDUCE_SUM, row, CT_NO_RANGE));
}

/* evidence: BULK §5.1, time: the factor does not grow with the arrays */
static void the_factor_of_time_does_not_grow(void **state) {
    (void)state;
    for (int form = 0; form < 3; form++) {
        double factor[2];
        for (int large = 0; large < 2; large++) {
            int64_t n = large ? 32 : 8, sizes[2] = {n, n};
            void *inner;
            set_up(&inner);
            Fixture *f = inner;
            CtShape shape = ct_bulk_shape_of(f->arena, sizes, 2);
            CtBulkVar *x = ct_bulk_new_var(f->r, "x", ELEMENT_REAL, shape);
            CtBulk *t = nested_sum(f, ct_bulk_var(f->r, x), n, form);
            BulkRun source = {.arena = f->arena}, normal = {.arena = f->arena};
            bulk_bind(&source, x, bulk_value(f->arena, ELEMENT_REAL, shape));
            bulk_bind(&normal, x, bulk_value(f->arena, ELEMENT_REAL, shape));
            assert_non_null(bulk_run(&source, t));
            assert_non_null(bulk_run(&normal, ct_bulk_rewrite(f->r, t)));
            factor[large] = (double)normal.work / (double)source.work;
            tear_down(&inner);
        }
        if (factor[1] > 1.1 * factor[0]) fail_msg("form %d: %g, then %g", form, factor[0], factor[1]);
    }
}

/* The ends of a term that an index can be pushed to. */
static CtBulk *count_ends(void *data, CtBulk *t) {
    Look *look = data;
    look->indices += t->kind == BULK_VAR || t->kind == BULK_CONST || t->kind == BULK_SCATTER || t->kind == BULK_LITERAL;
    ct_bulk_map(look->r, t, count_ends, look);
    return t;
}

static CtBulk *count_ends_of_indexed(void *data, CtBulk *t) {
    Look *look = data;
    if (t->kind == BULK_INDEX) count_ends(look, t->as.move.t);
    ct_bulk_map(look->r, t, count_ends_of_indexed, look);
    return t;
}

/* evidence: BULK §5.1, one-hots: counted in 4000 random terms, and the least term that gains one */
/* An index makes a one-hot where it is left in a normal form. The rules for operations and conditionals copy it into
 * both arrays, so there can be more than in the source: at most one for each end of what is indexed. */
static void an_index_is_left_for_each_end_at_most(void **state) {
    uint32_t more = 0;
    for (uint64_t seed = 0; seed < 4000; seed++) {
        void *inner;
        set_up(&inner);
        Case c;
        make_case(inner, &c, seed, 2 + (int)(seed % 9));
        CtBulk *normal = ct_bulk_rewrite(c.g.r, c.t);
        Look source = {.r = c.g.r}, ends = {.r = c.g.r}, left = {.r = c.g.r};
        look_at(&source, c.t);
        count_ends_of_indexed(&ends, c.t);
        look_at(&left, normal);
        if (left.indices > ends.indices)
            fail_msg("seed %llu: %u, %u\n%s\n~>\n%s", (unsigned long long)seed, ends.indices, left.indices,
                     print(inner, c.t), print(inner, normal));
        more += left.indices > source.indices;
        tear_down(&inner);
    }
    printf("# of 4000 terms %u have more than the source\n", more);
    assert_in_range(more, 1, 400);

    Fixture *f = *state;
    int64_t size = 3;
    CtShape shape = ct_bulk_shape_of(f->arena, &size, 1);
    CtBulk *x = ct_bulk_var(f->r, ct_bulk_new_var(f->r, "x", ELEMENT_REAL, shape));
    CtBulk *y = ct_bulk_var(f->r, ct_bulk_new_var(f->r, "y", ELEMENT_REAL, shape));
    CtBulk *at = ct_bulk_int(f->r, 1, scalar);
    CtBulk *t = ct_bulk_index(f->r, ct_bulk_op2(f->r, PRIM_ADD, x, y), &at, 1, NULL, CT_NO_RANGE);
    assert_string_equal(print(f, ct_bulk_rewrite(f->r, t)), "index x [1] + index y [1]");
}

/* ---- and the other way round ---- */

static void no_step_but_conditions(void *data, CtBulk *before, CtBulk *after) {
    Fixture *f = data;
    if (before->kind == BULK_LOOP) return; /* of its body, which makes its own steps */
    bool only_condition = before->kind == after->kind && before->kind != BULK_BUILD && before->as.move.f.live &&
                          !after->as.move.f.live && before->as.move.t == after->as.move.t;
    if (!only_condition) fail_msg("%s\n~> %s", print(f, before), print(f, after));
}

/* evidence: BULK Theorem 5.1: terms with both properties are normal */
/* A term that has both properties is a normal form: no rule of the figures applies, in no part of it. What an index
 * that is never outside loses is its condition, which the figures do not have. */
static void what_has_the_properties_is_normal(void **state) {
    (void)state;
    uint32_t indices = 0;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        void *inner;
        set_up(&inner);
        Fixture *f = inner;
        BulkNormal g = {.r = f->r, .seed = seed * 0x9e3779b97f4a7c15u, .may_fail = seed % 2 == 0};
        for (int i = 0; i < 5; i++) bulk_normal_draw(&g, 2);
        for (int i = 0; i < 4; i++) {
            CtElement element = i < 3 ? ELEMENT_REAL : ELEMENT_INT;
            ct_push(f->arena, &g.scope, ct_bulk_new_var(f->r, "a", element, bulk_normal_shape(&g)));
        }
        CtBulk *t = bulk_normal_term(&g, ELEMENT_REAL, bulk_normal_shape(&g), 2 + (uint32_t)(seed % 4));
        Look look = {.r = f->r};
        look_at(&look, t);
        assert_false(look.build1 || look.odd_index);
        indices += look.indices;
        ct_bulk_rewrite_told(f->r, t, no_step_but_conditions, f);
        tear_down(&inner);
    }
    assert_in_range(indices, 1000, 1000000);
}

/* ---- the rules ---- */

/* By what is pushed, build1 or index, and what into. */
typedef struct Used {
    uint32_t build[BULK_LOOP + 1], index[BULK_LOOP + 1];
} Used;

static void note_rule(void *data, CtBulk *before, CtBulk *after) {
    Used *used = data;
    (void)after;
    if (before->kind == BULK_BUILD) used->build[before->as.build.body->kind]++;
    if (before->kind == BULK_INDEX) used->index[before->as.move.t->kind]++;
}

/* The random terms above have met every rule. */
static void every_rule_is_met(void **state) {
    (void)state;
    static const CtBulkKind into[] = {BULK_LET,     BULK_COND,    BULK_OP,      BULK_LOGIC,     BULK_REDUCE,
                                      BULK_GATHER,  BULK_SCATTER, BULK_LITERAL, BULK_REPLICATE, BULK_TRANSPOSE,
                                      BULK_RESHAPE, BULK_ONE_HOT, BULK_CHECK,   BULK_INDEX,     BULK_LOOP};
    Used used = {{0}, {0}};
    for (uint64_t seed = 0; seed < 4000; seed++) {
        void *inner;
        set_up(&inner);
        Case c;
        make_case(inner, &c, seed, 2 + (int)(seed % 9));
        ct_bulk_rewrite_told(c.g.r, c.t, note_rule, &used);
        tear_down(&inner);
    }
    for (size_t i = 0; i < sizeof into / sizeof *into; i++) {
        if (used.build[into[i]] < 10) fail_msg("build1 of form %d: %u times", (int)into[i], used.build[into[i]]);
        if (used.index[into[i]] < 10) fail_msg("index of form %d: %u times", (int)into[i], used.index[into[i]]);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_meaning_of_random_terms_is_kept),
        cmocka_unit_test(each_step_keeps_type_and_meaning),
        cmocka_unit_test(rules_may_be_applied_in_any_order),
        TEST(the_order_of_rules_can_be_seen),
        cmocka_unit_test(normal_forms_take_no_more_time),
        cmocka_unit_test(the_factor_of_time_does_not_grow),
        TEST(an_index_is_left_for_each_end_at_most),
        cmocka_unit_test(what_has_the_properties_is_normal),
        cmocka_unit_test(every_rule_is_met),
    };
    return cmocka_run_group_tests_name("bulk, Theorem 5.1", tests, NULL, NULL);
}
