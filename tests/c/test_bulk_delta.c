/* Stages 2 and 3 of BULK: Delta terms, the symbolic reverse pass, simplification. The examples of the paper as they are
 * printed here, and what must hold for all terms, on random ones, by the reference interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>

#include "bulk_normal.h"
#include "bulk_interpret.h"
#include "core_fixture.h"

static const CtShape scalar = {0, NULL};

/* ---- random programs ---- */

enum { INPUTS = 4, RANDOM_TERMS = 3000 };

/* A term with three inputs of reals and one of integers, at a point. */
typedef struct Sample {
    CtArena *arena;
    CtBulkRoom room;
    BulkNormal g;
    CtBulkVar *inputs[INPUTS], *tangents[INPUTS], *cotangent;
    BulkValue *point[INPUTS], *direction[INPUTS], *weight;
    CtBulk *t;
} Sample;

static double draw(BulkNormal *g) { return ((double)bulk_normal_draw(g, 1 << 20) + 0.5) / (1 << 18) - 2; }

static BulkValue *draw_reals(BulkNormal *g, CtShape shape) {
    BulkValue *value = bulk_value(g->r->arena, ELEMENT_REAL, shape);
    for (int64_t i = 0; i < value->count; i++) value->items[i].real = draw(g);
    return value;
}

static void make_sample(Sample *s, Fixture *f, uint64_t seed, bool may_fail) {
    *s = (Sample){.arena = ct_arena_new(0)};
    s->room = (CtBulkRoom){.p = f->p, .arena = s->arena};
    s->g = (BulkNormal){.r = &s->room, .seed = seed * 0x9e3779b97f4a7c15u, .may_fail = may_fail};
    static const char *const names[] = {"x", "y", "z", "n"};
    for (int i = 0; i < 5; i++) bulk_normal_draw(&s->g, 2);
    for (uint32_t k = 0; k < INPUTS; k++) {
        bool real = k < INPUTS - 1;
        CtShape shape = bulk_normal_shape(&s->g);
        s->inputs[k] = ct_bulk_new_var(&s->room, names[k], real ? ELEMENT_REAL : ELEMENT_INT, shape);
        ct_push(s->arena, &s->g.scope, s->inputs[k]);
        s->point[k] = real ? draw_reals(&s->g, shape) : bulk_value(s->arena, ELEMENT_INT, shape);
        for (int64_t i = 0; !real && i < s->point[k]->count; i++)
            s->point[k]->items[i].integer = (int64_t)bulk_normal_draw(&s->g, 6) - 1;
        if (!real) continue;
        s->tangents[k] = ct_bulk_new_var(&s->room, "d", ELEMENT_REAL, shape);
        s->direction[k] = draw_reals(&s->g, shape);
    }
    CtShape shape = bulk_normal_shape(&s->g);
    s->t = bulk_normal_term(&s->g, ELEMENT_REAL, shape, 2 + bulk_normal_draw(&s->g, 4));
    s->cotangent = ct_bulk_new_var(&s->room, "c", ELEMENT_REAL, shape);
    s->weight = draw_reals(&s->g, shape);
}

static void bind_all(Sample *s, BulkRun *run, double step) {
    run->arena = s->arena;
    for (uint32_t k = 0; k < INPUTS; k++) {
        BulkValue *value = s->point[k];
        if (value->element == ELEMENT_REAL && step != 0) {
            value = bulk_value(s->arena, ELEMENT_REAL, value->shape);
            for (int64_t i = 0; i < value->count; i++)
                value->items[i].real = s->point[k]->items[i].real + step * s->direction[k]->items[i].real;
        }
        bulk_bind(run, s->inputs[k], value);
        if (s->tangents[k]) bulk_bind(run, s->tangents[k], s->direction[k]);
    }
    bulk_bind(run, s->cotangent, s->weight);
}

/* Runs the bindings; value and gradients can be run after it. */
static bool run_bindings(BulkRun *run, const CtBulkGradient *g) {
    for (uint32_t k = 0; k < g->vars.count; k++) {
        BulkValue *value = bulk_run(run, g->terms.items[k]);
        if (!value) return false;
        bulk_bind(run, g->vars.items[k], value);
    }
    return true;
}

static void assert_sound(Sample *s, const CtBulkGradient *g, CtBulk *root) {
    CtBulkVar *free_vars[2 * INPUTS + 1];
    uint32_t count = 0;
    for (uint32_t k = 0; k < INPUTS; k++) {
        free_vars[count++] = s->inputs[k];
        if (s->tangents[k]) free_vars[count++] = s->tangents[k];
    }
    free_vars[count++] = s->cotangent;
    CtBulk *t = root;
    for (uint32_t k = g->vars.count; k-- > 0;) t = ct_bulk_let(&s->room, g->vars.items[k], g->terms.items[k], t);
    const char *wrong = ct_bulk_lint(&s->room, t, free_vars, count);
    if (wrong) fail_msg("%s", wrong);
}

/* Σ aᵢ bᵢ, and into `size` how large its terms are. */
static double product(const BulkValue *a, const BulkValue *b, double *size) {
    double sum = 0;
    for (int64_t i = 0; i < a->count; i++) {
        double term = a->items[i].real * b->items[i].real;
        sum += term;
        *size += fabs(term);
    }
    return sum;
}

static bool is_tame(const BulkValue *v, double limit) {
    for (int64_t i = 0; i < v->count; i++)
        if (!(fabs(v->items[i].real) < limit)) return false;
    return true;
}

/* How the value along the direction changes between two points as far as `step` from this one; NULL when it is not
 * finite. */
static BulkValue *difference(Sample *s, double step) {
    BulkRun up = {0}, down = {0};
    bind_all(s, &up, step);
    bind_all(s, &down, -step);
    BulkValue *a = bulk_run(&up, s->t), *b = bulk_run(&down, s->t);
    if (!a || !b) return NULL;
    for (int64_t i = 0; i < a->count; i++) a->items[i].real = (a->items[i].real - b->items[i].real) / (2 * step);
    return a;
}

typedef struct Tally {
    uint32_t tangents, transposes, failures;
} Tally;

/* Differences at three steps: where they do not agree with each other the function is not smooth enough there to say.
 */
static void check_tangent(Sample *s, const BulkValue *tangent, uint64_t seed, Tally *tally) {
    BulkValue *a = difference(s, 4e-4), *b = difference(s, 2e-4), *c = difference(s, 1e-4);
    if (!a || !b || !c) return;
    bool counted = false;
    for (int64_t i = 0; i < tangent->count; i++) {
        double coarse = (4 * b->items[i].real - a->items[i].real) / 3,
               fine = (4 * c->items[i].real - b->items[i].real) / 3;
        double got = tangent->items[i].real, size = fmax(1, fabs(fine));
        if (!isfinite(got)) continue; /* as IEEE has it: 0 times an infinite slope */
        if (!(fabs(coarse - fine) < 1e-6 * size) || !(fabs(b->items[i].real - c->items[i].real) < 1e-3 * size))
            continue;
        if (!(fabs(got - fine) < 1e-5 * size))
            fail_msg("seed %llu: tangent %.12g, difference %.12g", (unsigned long long)seed, got, fine);
        counted = true;
    }
    tally->tangents += counted;
}

static void check_gradients(Sample *s, const CtBulkGradient *g, const CtBulkGradient *forward, uint64_t seed,
                            Tally *tally) {
    BulkRun run = {0}, backward = {0}, ahead = {0};
    bind_all(s, &run, 0);
    bind_all(s, &backward, 0);
    bind_all(s, &ahead, 0);
    BulkValue *value = bulk_run(&run, s->t);
    BulkValue *there = run_bindings(&backward, g) ? bulk_run(&backward, g->value) : NULL;
    BulkValue *also = run_bindings(&ahead, forward) ? bulk_run(&ahead, forward->value) : NULL;
    if (!value) {
        tally->failures++;
        if (there || also) fail_msg("seed %llu: the program fails", (unsigned long long)seed);
        return;
    }
    if (!there || !bulk_equal(value, there, 0) || !also || !bulk_equal(value, also, 0))
        fail_msg("seed %llu: another value", (unsigned long long)seed);
    BulkValue *tangent = bulk_run(&ahead, forward->gradient[0]);
    assert_non_null(tangent);
    check_tangent(s, tangent, seed, tally);
    double size = 0, left = product(tangent, s->weight, &size), right = 0;
    bool tame = is_tame(tangent, 1e6);
    for (uint32_t k = 0; k < INPUTS; k++) {
        if (!s->tangents[k]) {
            assert_null(g->gradient[k]);
            continue;
        }
        BulkValue *gradient = bulk_run(&backward, g->gradient[k]);
        assert_non_null(gradient);
        assert_true(ct_shape_equal(gradient->shape, s->inputs[k]->shape));
        tame = tame && is_tame(gradient, 1e6);
        right += product(gradient, s->direction[k], &size);
    }
    if (!tame) return;
    tally->transposes++;
    if (!(fabs(left - right) <= 1e-10 * (1 + size)))
        fail_msg("seed %llu: ⟨J dx, dy⟩ = %.15g, ⟨dx, Jᵀ dy⟩ = %.15g", (unsigned long long)seed, left, right);
}

static void random_terms(Fixture *f, bool may_fail, uint64_t first, Tally *tally) {
    for (uint64_t seed = first; seed < first + RANDOM_TERMS; seed++) {
        Sample s;
        make_sample(&s, f, seed, may_fail);
        CtBulkGradient g = ct_bulk_gradient(&s.room, s.t, s.inputs, INPUTS, s.cotangent);
        CtBulkGradient forward = ct_bulk_tangent(&s.room, s.t, s.inputs, s.tangents, INPUTS);
        assert_sound(&s, &g, g.value);
        assert_sound(&s, &forward, forward.gradient[0]);
        for (uint32_t k = 0; k < INPUTS; k++)
            if (g.gradient[k]) assert_sound(&s, &g, g.gradient[k]);
        check_gradients(&s, &g, &forward, seed, tally);
        ct_arena_free(s.arena);
    }
}

static void gradients_of_random_terms(void **state) {
    Tally tally = {0};
    random_terms(*state, false, 1, &tally);
    if (getenv("TALLY")) fprintf(stderr, "%u %u %u\n", tally.tangents, tally.transposes, tally.failures);
    assert_int_equal(tally.failures, 0);
    assert_true(tally.tangents > RANDOM_TERMS / 2);
    assert_true(tally.transposes > RANDOM_TERMS / 2);
}

static void gradients_fail_where_the_program_fails(void **state) {
    Tally tally = {0};
    random_terms(*state, true, 100000, &tally);
    if (getenv("TALLY")) fprintf(stderr, "%u %u %u\n", tally.tangents, tally.transposes, tally.failures);
    assert_true(tally.failures > RANDOM_TERMS / 20);
}

/* ---- simplification ---- */

static BulkValue *run_sample(Sample *s, CtBulk *t) {
    BulkRun run = {0};
    bind_all(s, &run, 0);
    return bulk_run(&run, t);
}

/* Rounding may differ where equal terms are summed; what cancels or is close to a pole would show that, so values are
 * tame. */
static void assert_close(const BulkValue *a, const BulkValue *b, uint64_t seed, const char *what) {
    if (!a != !b) fail_msg("seed %llu: %s fails on one side", (unsigned long long)seed, what);
    if (a && !bulk_equal(a, b, 1e-9) && is_tame(a, 1e6))
        fail_msg("seed %llu: another %s", (unsigned long long)seed, what);
}

static uint32_t nodes;

static CtBulk *count_nodes(void *data, CtBulk *t) {
    nodes++;
    return t->kind == BULK_VAR || t->kind == BULK_CONST ? t : ct_bulk_map(data, t, count_nodes, data);
}

static void simplified_terms(Fixture *f, bool may_fail, uint64_t first) {
    uint64_t before = 0, after = 0;
    for (uint64_t seed = first; seed < first + RANDOM_TERMS; seed++) {
        Sample s;
        make_sample(&s, f, seed, may_fail);
        CtBulk *t = ct_bulk_simplify(&s.room, s.t);
        const CtBulkGradient none = {.value = NULL};
        assert_sound(&s, &none, t);
        assert_close(run_sample(&s, s.t), run_sample(&s, t), seed, "value");
        nodes = 0;
        count_nodes(&s.room, s.t);
        before += nodes;
        nodes = 0;
        count_nodes(&s.room, t);
        after += nodes;
        ct_arena_free(s.arena);
    }
    assert_true(after < before);
}

static void simplified_terms_mean_the_same(void **state) {
    simplified_terms(*state, false, 1);
    simplified_terms(*state, true, 100000);
}

static void simplified_gradients_mean_the_same(void **state) {
    for (uint64_t seed = 1; seed <= RANDOM_TERMS; seed++) {
        Sample s;
        make_sample(&s, *state, seed, seed % 4 == 0);
        CtBulkGradient g = ct_bulk_gradient(&s.room, s.t, s.inputs, INPUTS, s.cotangent);
        BulkRun run = {0}, again = {0};
        BulkValue *before[INPUTS + 1] = {NULL};
        bind_all(&s, &run, 0);
        bind_all(&s, &again, 0);
        run_bindings(&run, &g);
        before[INPUTS] = bulk_run(&run, g.value);
        for (uint32_t k = 0; k < INPUTS; k++)
            if (g.gradient[k]) before[k] = bulk_run(&run, g.gradient[k]);
        ct_bulk_simplify_gradient(&s.room, &g, INPUTS);
        run_bindings(&again, &g);
        assert_sound(&s, &g, g.value);
        assert_close(before[INPUTS], bulk_run(&again, g.value), seed, "value");
        for (uint32_t k = 0; k < INPUTS; k++) {
            if (!g.gradient[k]) continue;
            assert_sound(&s, &g, g.gradient[k]);
            assert_close(before[k], bulk_run(&again, g.gradient[k]), seed, "gradient");
        }
        ct_arena_free(s.arena);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gradients_of_random_terms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gradients_fail_where_the_program_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(simplified_terms_mean_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(simplified_gradients_mean_the_same, set_up, tear_down),
    };
    (void)scalar;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
