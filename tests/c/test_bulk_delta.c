/* Stages 2 and 3 of BULK: Delta terms, the symbolic reverse pass, simplification. The examples of the paper as they are
 * printed here, and what must hold for all terms, on random ones, by the reference interpreter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include <math.h>

#include "ad/bulk/diff/delta.h"
#include "ad/bulk/rewrite/rewrite.h"
#include "bulk_generate.h"
#include "bulk_interpret.h"
#include "bulk_normal.h"
#include "core_fixture.h"

static const CtShape scalar = {0, NULL};

/* ---- making terms ---- */

static CtBulkBuilder builder_of(Fixture *f) { return (CtBulkBuilder){.p = f->p, .arena = f->arena}; }

/* Sizes end with −1. */
static CtShape shape_of(CtBulkBuilder *r, ...) {
    int64_t sizes[8];
    uint32_t rank = 0;
    va_list list;
    va_start(list, r);
    for (int size = va_arg(list, int); size >= 0; size = va_arg(list, int)) sizes[rank++] = size;
    va_end(list);
    return ct_bulk_shape_of(r->arena, sizes, rank);
}

static CtBulkVar *reals_var(CtBulkBuilder *r, const char *name, CtShape shape) {
    return ct_bulk_new_var(r, name, ELEMENT_REAL, shape);
}

static CtBulkVar *index_var(CtBulkBuilder *r, const char *name) {
    return ct_bulk_new_var(r, name, ELEMENT_INT, scalar);
}
static CtBulk *number(CtBulkBuilder *r, int64_t value) { return ct_bulk_int(r, value, scalar); }
static CtBulk *sum(CtBulkBuilder *r, CtBulk *t) { return ct_bulk_reduce(r, REDUCE_SUM, t, CT_NO_RANGE); }

static CtBulk *at(CtBulkBuilder *r, CtBulkVar *a, CtBulk *i) {
    return ct_bulk_index(r, ct_bulk_var(r, a), &i, 1, NULL, CT_NO_RANGE);
}

static CtBulk *at2(CtBulkBuilder *r, CtBulkVar *a, CtBulkVar *i, CtBulkVar *j) {
    CtBulk *ix[] = {ct_bulk_var(r, i), ct_bulk_var(r, j)};
    return ct_bulk_index(r, ct_bulk_var(r, a), ix, 2, NULL, CT_NO_RANGE);
}

/* gather or scatter with one variable, i, and one index */
static CtBulk *moved(CtBulkBuilder *r, CtBulkKind kind, CtShape shape, CtBulk *t, CtBulkVar *i, CtBulk *at,
                     CtBulk *live) {
    CtIndexing f = {.vars = &i, .var_count = 1, .ix = &at, .count = 1, .live = live};
    return kind == BULK_GATHER ? ct_bulk_gather(r, shape, t, f, CT_NO_RANGE)
                               : ct_bulk_scatter(r, shape, t, f, CT_NO_RANGE);
}

/* ---- texts ---- */

static const char *text_of(CtBulkBuilder *r, CtBulk *t) {
    CtText out = ct_text(r->arena);
    ct_bulk_print(&out, t);
    return out.data;
}

static CtBulk *with_bindings(CtBulkBuilder *r, const CtBulkGradient *g, CtBulk *root) {
    for (uint32_t k = g->vars.count; k-- > 0;) root = ct_bulk_let(r, g->vars.items[k], g->terms.items[k], root);
    return root;
}

static CtBulkGradient gradient_of(CtBulkBuilder *r, CtBulk *t, CtBulkVar **inputs, uint32_t count, bool simplify) {
    CtBulkVar *c = ct_bulk_new_var(r, "c", ELEMENT_REAL, t->shape);
    CtBulkGradient g = ct_bulk_gradient(r, t, inputs, count, c);
    if (simplify) ct_bulk_simplify_gradient(r, &g, count, c);
    return g;
}

static void assert_gradient(CtBulkBuilder *r, const CtBulkGradient *g, uint32_t k, const char *text) {
    assert_string_equal(text_of(r, with_bindings(r, g, g->gradient[k])), text);
}

/* ---- random programs ---- */

enum { INPUTS = 4, RANDOM_TERMS = 3000 };

/* A term with three inputs of reals and one of integers, at a point. */
typedef struct Sample {
    CtArena *arena;
    CtBulkBuilder builder;
    BulkNormal g;
    CtBulkVar *inputs[INPUTS], *tangents[INPUTS], *cotangent;
    BulkValue *point[INPUTS], *direction[INPUTS], *weight;
    CtBulkVar *first; /* the cotangent of a gradient that is differentiated again */
    BulkValue *first_weight;
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
    s->builder = (CtBulkBuilder){.p = f->p, .arena = s->arena};
    s->g = (BulkNormal){.r = &s->builder, .seed = seed * 0x9e3779b97f4a7c15u, .may_fail = may_fail};
    static const char *const names[] = {"x", "y", "z", "n"};
    for (int i = 0; i < 5; i++) bulk_normal_draw(&s->g, 2);
    for (uint32_t k = 0; k < INPUTS; k++) {
        bool real = k < INPUTS - 1;
        CtShape shape = bulk_normal_shape(&s->g);
        s->inputs[k] = ct_bulk_new_var(&s->builder, names[k], real ? ELEMENT_REAL : ELEMENT_INT, shape);
        ct_push(s->arena, &s->g.scope, s->inputs[k]);
        s->point[k] = real ? draw_reals(&s->g, shape) : bulk_value(s->arena, ELEMENT_INT, shape);
        for (int64_t i = 0; !real && i < s->point[k]->count; i++)
            s->point[k]->items[i].integer = (int64_t)bulk_normal_draw(&s->g, 6) - 1;
        if (!real) continue;
        s->tangents[k] = ct_bulk_new_var(&s->builder, "d", ELEMENT_REAL, shape);
        s->direction[k] = draw_reals(&s->g, shape);
    }
    CtShape shape = bulk_normal_shape(&s->g);
    s->t = bulk_normal_term(&s->g, ELEMENT_REAL, shape, 2 + bulk_normal_draw(&s->g, 4));
    s->cotangent = ct_bulk_new_var(&s->builder, "c", ELEMENT_REAL, shape);
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
    if (s->first) bulk_bind(run, s->first, s->first_weight);
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
    CtBulk *t = with_bindings(&s->builder, g, root);
    const char *wrong = ct_bulk_lint(&s->builder, t, free_vars, count);
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
        assert_true(ct_bulk_shape_equal(gradient->shape, s->inputs[k]->shape));
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
        CtBulkGradient g = ct_bulk_gradient(&s.builder, s.t, s.inputs, INPUTS, s.cotangent);
        CtBulkGradient forward = ct_bulk_tangent(&s.builder, s.t, s.inputs, s.tangents, INPUTS);
        assert_sound(&s, &g, g.value);
        assert_sound(&s, &forward, forward.gradient[0]);
        for (uint32_t k = 0; k < INPUTS; k++)
            if (g.gradient[k]) assert_sound(&s, &g, g.gradient[k]);
        check_gradients(&s, &g, &forward, seed, tally);
        ct_arena_free(s.arena);
    }
}

/* evidence: BULK Figs. 12, 14, 15: random terms against differences; J and its transpose against each other */
/* evidence: BULK Figs. 16, 17: gradient terms of random terms, run by an interpreter */
/* evidence: BULK Fig. 13: random terms with inputs of integers */
/* evidence: BULK §7.6, Eq. 6: of every random term D makes bindings, a value and a Delta term */
static void gradients_of_random_terms(void **state) {
    Tally tally = {0};
    random_terms(*state, false, 1, &tally);
    assert_int_equal(tally.failures, 0);
    assert_true(tally.tangents > RANDOM_TERMS / 2);
    assert_true(tally.transposes > RANDOM_TERMS / 2);
}

static void gradients_fail_where_the_program_fails(void **state) {
    Tally tally = {0};
    random_terms(*state, true, 100000, &tally);
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
        CtBulk *t = ct_bulk_simplify(&s.builder, s.t);
        const CtBulkGradient none = {.value = NULL};
        assert_sound(&s, &none, t);
        assert_close(run_sample(&s, s.t), run_sample(&s, t), seed, "value");
        nodes = 0;
        count_nodes(&s.builder, s.t);
        before += nodes;
        nodes = 0;
        count_nodes(&s.builder, t);
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
        CtBulkGradient g = ct_bulk_gradient(&s.builder, s.t, s.inputs, INPUTS, s.cotangent);
        BulkRun run = {0}, again = {0};
        BulkValue *before[INPUTS + 1] = {NULL};
        bind_all(&s, &run, 0);
        bind_all(&s, &again, 0);
        run_bindings(&run, &g);
        before[INPUTS] = bulk_run(&run, g.value);
        for (uint32_t k = 0; k < INPUTS; k++)
            if (g.gradient[k]) before[k] = bulk_run(&run, g.gradient[k]);
        ct_bulk_simplify_gradient(&s.builder, &g, INPUTS, s.cotangent);
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

/* A gradient is a term again, which has gradients. */
static void gradients_of_gradients(void **state) {
    Tally tally = {0};
    for (uint64_t seed = 1; seed <= RANDOM_TERMS; seed++) {
        Sample s;
        make_sample(&s, *state, seed, false);
        CtBulkGradient inner = ct_bulk_gradient(&s.builder, s.t, s.inputs, INPUTS, s.cotangent);
        if (seed % 2) ct_bulk_simplify_gradient(&s.builder, &inner, INPUTS, NULL);
        CtBulk *t = with_bindings(&s.builder, &inner, inner.gradient[seed % 3]);
        s.first = s.cotangent;
        s.first_weight = s.weight;
        s.t = t;
        s.cotangent = ct_bulk_new_var(&s.builder, "c", ELEMENT_REAL, t->shape);
        s.weight = draw_reals(&s.g, t->shape);
        CtBulkGradient g = ct_bulk_gradient(&s.builder, s.t, s.inputs, INPUTS, s.cotangent);
        CtBulkGradient forward = ct_bulk_tangent(&s.builder, s.t, s.inputs, s.tangents, INPUTS);
        check_gradients(&s, &g, &forward, seed, &tally);
        ct_arena_free(s.arena);
    }
    assert_true(tally.transposes > RANDOM_TERMS / 2);
}

/* With build1 inside, shared parts, and conditions: as the tracer makes them, before and after the transform. */
static void traced_terms_mean_the_same_simplified(void **state) {
    Fixture *f = *state;
    for (uint64_t seed = 1; seed <= RANDOM_TERMS; seed++) {
        CtArena *arena = ct_arena_new(0);
        CtBulkBuilder builder = {.p = f->p, .arena = arena};
        BulkRandom g = {.r = &builder, .state = seed * 77777};
        BulkRun runs[4] = {{.arena = arena}, {.arena = arena}, {.arena = arena}, {.arena = arena}};
        for (int k = 0; k < 4; k++) {
            CtElement element = k == 3 ? ELEMENT_INT : ELEMENT_REAL;
            CtBulkVar *var = ct_bulk_new_var(&builder, "x", element, bulk_random_shape(&g, 3));
            BulkValue *value = bulk_random_value(&g, element, var->shape);
            for (int j = 0; j < 4; j++) bulk_bind(&runs[j], var, value);
            ct_push(arena, &g.scope, var);
        }
        g.inputs = g.scope.count;
        CtBulk *t = bulk_random_term(&g, ELEMENT_REAL, bulk_random_shape(&g, 3), 8);
        BulkValue *value = bulk_run(&runs[0], t);
        assert_close(value, bulk_run(&runs[1], ct_bulk_simplify(&builder, t)), seed, "value");
        assert_close(value, bulk_run(&runs[2], ct_bulk_simplify(&builder, ct_bulk_rewrite(&builder, t))), seed,
                     "value of the transform");
        CtBulk *again = ct_bulk_rewrite(&builder, ct_bulk_simplify(&builder, t));
        assert_close(value, bulk_run(&runs[3], ct_bulk_simplify(&builder, again)), seed,
                     "value of the transform in between");
        ct_arena_free(arena);
    }
}

/* ---- the examples of the paper ---- */

/* t_sc of Fig. 18, of n elements. */
static CtBulk *self_convolution(CtBulkBuilder *r, CtBulkVar *a) {
    CtBulkVar *i = index_var(r, "i");
    CtBulk *back = ct_bulk_op2(r, PRIM_INT_SUB, number(r, a->shape.sizes[0] - 1), ct_bulk_var(r, i));
    CtBulk *left = at(r, a, ct_bulk_var(r, i)), *right = at(r, a, back);
    return sum(r, ct_bulk_build(r, a->shape.sizes[0], i, ct_bulk_op2(r, PRIM_MUL, left, right)));
}

static void bulk_fig_18(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    CtBulkVar *a = reals_var(r, "a", shape_of(r, 10, -1));
    CtBulk *t = self_convolution(r, a);
    assert_string_equal(text_of(r, t), "sumOuter (build1 10 (λi. index a [i] × index a [9 - i]))");
    t = ct_bulk_rewrite(r, t);
    assert_string_equal(text_of(r, t), "sumOuter (gather [10] a (λ[i]. [i]) × gather [10] a (λ[i]. [9 - i]))");
    CtBulkDual dual = ct_bulk_dual(r, t, &a, 1);
    assert_int_equal(dual.vars.count, 2);
    assert_string_equal(dual.vars.items[0]->name, "x1");
    assert_string_equal(text_of(r, dual.terms.items[0]), "gather [10] a (λ[i]. [i])");
    assert_string_equal(dual.vars.items[1]->name, "x2");
    assert_string_equal(text_of(r, dual.terms.items[1]), "gather [10] a (λ[i]. [9 - i])");
    assert_string_equal(text_of(r, dual.primal), "sumOuter (x1 × x2)");
    CtBulkGradient g = gradient_of(r, t, &a, 1, false);
    assert_int_equal(g.nodes, 12);
    assert_string_equal(g.delta.data, "Share 4 (SumOuter (Share 3 (Add "
                                      "(Scale x2 (Share 1 (Gather (Input a) (λ[i]. [i])))) "
                                      "(Scale x1 (Share 2 (Gather (Input a) (λ[i]. [9 - i])))))))");
}

static void bulk_section_7_3(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    CtBulkVar *a = reals_var(r, "a", shape_of(r, 10, -1));
    CtBulkDual dual = ct_bulk_dual(r, ct_bulk_rewrite(r, self_convolution(r, a)), &a, 1);
    CtBulk *one = ct_bulk_real(r, 1, scalar);
    CtBulkReverse reverse = ct_bulk_reverse_pass(r, &dual, 1, &one, 1);
    assert_string_equal(text_of(r, reverse.grad[0]),
                        "scatter [10] (x2 · share 1 (replicate 10 1.0)) (λ[i]. [i])\n"
                        "+ scatter [10] (x1 · share 1 (replicate 10 1.0)) (λ[i]. [9 - i])");
    assert_int_equal(reverse.shared.count, 1);
}

static void bulk_section_7_4(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    CtBulkVar *a = reals_var(r, "a", shape_of(r, 10, -1));
    CtBulkGradient g = gradient_of(r, ct_bulk_rewrite(r, self_convolution(r, a)), &a, 1, false);
    assert_gradient(r, &g, 0,
                    "let x1 = gather [10] a (λ[i]. [i]) in\n"
                    "let x2 = gather [10] a (λ[i]. [9 - i]) in\n"
                    "let shared1 = replicate 10 c in\n"
                    "scatter [10] (x2 · shared1) (λ[i]. [i]) + scatter [10] (x1 · shared1) (λ[i]. [9 - i])");
    CtBulk *simple = ct_bulk_simplify(r, ct_bulk_rewrite(r, self_convolution(r, a)));
    assert_string_equal(text_of(r, simple), "sumOuter (a × gather [10] a (λ[i]. [9 - i]))");
    g = gradient_of(r, simple, &a, 1, true);
    assert_gradient(r, &g, 0,
                    "let x1 = gather [10] a (λ[i]. [9 - i]) in\n"
                    "let shared1 = replicate 10 c in\n"
                    "scatter [10] (a · shared1) (λ[i]. [9 - i]) + x1 · shared1");
}

/* evidence: BULK §7.2: the size of the gradient of a chain of additions */
/* §7.2: without sharing the cotangent would double with each addition. */
static void sharing_keeps_gradients_small(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    enum { DOUBLINGS = 60 };
    CtBulkVar *inputs[] = {reals_var(r, "inp", scalar)}, *last = inputs[0], *vars[DOUBLINGS];
    for (int k = 0; k < DOUBLINGS; k++) vars[k] = reals_var(r, k == 0 ? "x" : k == 1 ? "y" : "z", scalar);
    CtBulk *t = ct_bulk_var(r, vars[DOUBLINGS - 1]), *three = ct_bulk_var(r, vars[2]);
    for (int k = DOUBLINGS; k-- > 0;) {
        CtBulk *x = ct_bulk_var(r, k ? vars[k - 1] : last), *twice = ct_bulk_op2(r, PRIM_ADD, x, x);
        t = ct_bulk_let(r, vars[k], twice, t);
        if (k < 3) three = ct_bulk_let(r, vars[k], twice, three);
    }
    CtBulkGradient g = gradient_of(r, three, inputs, 1, true);
    assert_gradient(r, &g, 0,
                    "let x = inp + inp in\nlet y = x + x in\n"
                    "let y_adj = c + c in\nlet x_adj = y_adj + y_adj in\nx_adj + x_adj");
    g = gradient_of(r, t, inputs, 1, false);
    assert_int_equal(g.vars.count, 2 * DOUBLINGS - 1);
}

/* evidence: BULK Fig. 18: the example unsimplified */
static void gradients_read_like_a_persons(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    CtBulkVar *a = reals_var(r, "a", shape_of(r, 7, -1)), *b = reals_var(r, "b", shape_of(r, 7, -1)),
              *i = index_var(r, "i");
    CtBulkVar *both[] = {a, b}, *v = reals_var(r, "v", scalar);
    CtBulk *left = at(r, a, ct_bulk_var(r, i)), *right = at(r, b, ct_bulk_var(r, i));
    CtBulk *dot = sum(r, ct_bulk_build(r, 7, i, ct_bulk_op2(r, PRIM_MUL, left, right)));
    CtBulkGradient g = gradient_of(r, ct_bulk_simplify(r, ct_bulk_rewrite(r, dot)), both, 2, true);
    assert_string_equal(g.delta.data, "Share 2 (SumOuter (Share 1 (Add (Scale b (Input a)) (Scale a (Input b)))))");
    assert_string_equal(text_of(r, g.value), "sumOuter (a × b)");
    assert_gradient(r, &g, 0, "let shared1 = replicate 7 c in\nb · shared1");
    assert_gradient(r, &g, 1, "let shared1 = replicate 7 c in\na · shared1");

    CtBulk *x = ct_bulk_var(r, v), *negative = ct_bulk_op2(r, PRIM_LT, x, ct_bulk_real(r, 0, scalar));
    CtBulk *leaky = ct_bulk_cond(r, negative, ct_bulk_op2(r, PRIM_MUL, ct_bulk_real(r, 0.1, scalar), x), x);
    leaky = sum(r, ct_bulk_build(r, 7, i, ct_bulk_let(r, v, left, leaky)));
    g = gradient_of(r, ct_bulk_simplify(r, ct_bulk_rewrite(r, leaky)), both, 1, true);
    CtBulk *zeros = ct_bulk_op2(r, PRIM_LT, ct_bulk_var(r, a), ct_bulk_real(r, 0, a->shape));
    assert_int_equal(g.vars.count, 1);
    assert_string_equal(text_of(r, g.terms.items[0]), text_of(r, zeros));
    assert_string_equal(text_of(r, g.gradient[0]), "cond b1 (replicate 7 (0.1 · c)) (replicate 7 c)");
}

static void gradient_of_matmat(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    CtBulkVar *a = reals_var(r, "a", shape_of(r, 3, 4, -1)), *b = reals_var(r, "b", shape_of(r, 4, 5, -1));
    CtBulkVar *i = index_var(r, "i"), *j = index_var(r, "j"), *p = index_var(r, "p"), *both[] = {a, b};
    CtBulk *left = at2(r, a, i, p), *right = at2(r, b, p, j);
    CtBulk *t = sum(r, ct_bulk_build(r, 4, p, ct_bulk_op2(r, PRIM_MUL, left, right)));
    t = ct_bulk_build(r, 3, i, ct_bulk_build(r, 5, j, t));
    t = ct_bulk_simplify(r, ct_bulk_rewrite(r, t));
    assert_string_equal(text_of(r, t), "sumOuter (tr_{2,0,1} (tr (replicate 5 a) × replicate 3 (tr b)))");
    CtBulkGradient g = gradient_of(r, t, both, 2, true);
    assert_gradient(r, &g, 0,
                    "let x1 = tr (replicate 5 a) in\nlet x2 = replicate 3 (tr b) in\n"
                    "let shared1 = tr_{1,2,0} (replicate 4 c) in\nsumOuter (tr (x2 · shared1))");
    assert_string_equal(text_of(r, g.gradient[1]), "tr (sumOuter (x1 · shared1))");
}

/* evidence: BULK §4.4: one-hots of elements become one array */
/* A program that reads each element by itself has a oneHot for each; together they are one array. */
static void elements_make_rows(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    enum { COUNT = 40 };
    CtBulkVar *a = reals_var(r, "a", shape_of(r, 3, -1)), *b = reals_var(r, "b", shape_of(r, COUNT, -1));
    CtBulk *t = ct_bulk_op2(r, PRIM_MUL, at(r, a, number(r, 0)), ct_bulk_op1(r, PRIM_SIN, at(r, a, number(r, 2))));
    CtBulkGradient g = gradient_of(r, t, &a, 1, true);
    assert_string_equal(text_of(r, g.gradient[0]), "[x3 · c, -0.0, p1 · (x2 · c)]");
    t = at(r, b, number(r, 0));
    for (int k = 1; k < COUNT; k++) {
        CtBulk *x = at(r, b, number(r, k));
        t = ct_bulk_op2(r, PRIM_ADD, t, ct_bulk_op2(r, PRIM_MUL, x, x));
    }
    g = gradient_of(r, t, &b, 1, true);
    assert_ptr_equal(g.gradient[0]->as.var, g.vars.items[g.vars.count - 1]);
    assert_int_equal(g.terms.items[g.vars.count - 1]->kind, BULK_LITERAL);
    assert_null(strstr(text_of(r, with_bindings(r, &g, g.gradient[0])), "oneHot"));
}

/* ---- what simplification does, one case a line ---- */

static void assert_simplifies(CtBulkBuilder *r, CtBulk *t, const char *text) {
    assert_string_equal(text_of(r, ct_bulk_simplify(r, t)), text);
}

static void simplified_as_a_person_would_write(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    CtShape five = shape_of(r, 5, -1), matrix = shape_of(r, 2, 3, -1), three = shape_of(r, 3, -1);
    CtBulkVar *i = index_var(r, "i"), *n = index_var(r, "n");
    CtBulk *a = ct_bulk_var(r, reals_var(r, "a", five)), *m = ct_bulk_var(r, reals_var(r, "m", matrix));
    CtBulk *x = ct_bulk_var(r, reals_var(r, "x", scalar)), *at_i = ct_bulk_var(r, i), *at_n = ct_bulk_var(r, n);
    CtBulk *back = ct_bulk_op2(r, PRIM_INT_SUB, number(r, 4), at_i);
    CtBulk *test = ct_bulk_var(r, ct_bulk_new_var(r, "b", ELEMENT_BOOL, scalar));
    uint32_t swap[] = {1, 0};

    assert_simplifies(r, moved(r, BULK_GATHER, five, a, i, at_i, NULL), "a");
    assert_simplifies(r, moved(r, BULK_SCATTER, five, a, i, at_i, NULL), "a");
    assert_simplifies(r, moved(r, BULK_GATHER, three, a, i, at_i, NULL), "gather [3] a (λ[i]. [i])");
    assert_simplifies(r, moved(r, BULK_GATHER, five, a, i, number(r, 2), NULL), "replicate 5 (index a [2])");
    assert_simplifies(r, moved(r, BULK_SCATTER, five, a, i, number(r, 2), NULL), "oneHot [5] [2] (sumOuter a)");
    CtBulk *reversed = moved(r, BULK_GATHER, five, a, i, back, NULL);
    assert_simplifies(r, moved(r, BULK_GATHER, five, reversed, i, back, NULL), "gather [5] a (λ[i]. [4 - (4 - i)])");
    assert_simplifies(r, ct_bulk_transpose(r, swap, 2, ct_bulk_transpose(r, swap, 2, m)), "m");
    assert_simplifies(r, ct_bulk_reshape(r, matrix, ct_bulk_reshape(r, shape_of(r, 6, -1), m)), "m");
    assert_simplifies(r, sum(r, ct_bulk_replicate(r, 5, x)), "5.0 × x");
    assert_simplifies(r, sum(r, ct_bulk_replicate(r, 1, x)), "x");
    CtBulk *items[] = {x, ct_bulk_real(r, 2, scalar)}, *pair = ct_bulk_literal(r, items, 2), *one = number(r, 1);
    assert_simplifies(r, ct_bulk_index(r, pair, &one, 1, NULL, CT_NO_RANGE), "2.0");
    CtBulk *choice = ct_bulk_cond(r, test, number(r, 0), one);
    assert_simplifies(r, ct_bulk_index(r, pair, &choice, 1, NULL, CT_NO_RANGE), "cond b x 2.0");
    assert_simplifies(r, ct_bulk_op2(r, PRIM_ADD, x, ct_bulk_real(r, -0.0, scalar)), "x");
    assert_simplifies(r, ct_bulk_op2(r, PRIM_ADD, x, ct_bulk_real(r, 0.0, scalar)), "x + 0.0");
    assert_simplifies(r, ct_bulk_op2(r, PRIM_MUL, x, ct_bulk_real(r, 0.0, scalar)), "x × 0.0");
    assert_simplifies(r, ct_bulk_op2(r, PRIM_SCALE, x, ct_bulk_real(r, -0.0, scalar)), "-0.0");
    assert_simplifies(r, ct_bulk_op2(r, PRIM_SCALE, x, ct_bulk_real(r, 1, scalar)), "x · 1.0"); /* 0 for −0.0 */
    CtBulk *rows = ct_bulk_op2(r, PRIM_MUL, ct_bulk_replicate(r, 5, x), ct_bulk_real(r, 3, five));
    assert_simplifies(r, rows, "replicate 5 (x × 3.0)");
    CtBulk *sine = ct_bulk_op1(r, PRIM_SIN, x);
    assert_simplifies(r, ct_bulk_op2(r, PRIM_MUL, sine, ct_bulk_op1(r, PRIM_SIN, x)), "let t = sin x in\nt × t");
    CtBulk *down = ct_bulk_op2(r, PRIM_INT_SUB, at_n, number(r, 1)),
           *up = ct_bulk_op2(r, PRIM_INT_ADD, at_n, number(r, 3));
    assert_simplifies(r, ct_bulk_op2(r, PRIM_INT_ADD, down, number(r, 3)), "n + 2");
    assert_simplifies(r, ct_bulk_op2(r, PRIM_INT_SUB, up, number(r, 5)), "n - 2");
    assert_simplifies(r, ct_bulk_op2(r, PRIM_INT_SUB, back, number(r, 3)), "1 - i");
    CtBulkVar *j = index_var(r, "j"), *k = index_var(r, "k"), *cycle[] = {i, j, k};
    CtBulk *cube = ct_bulk_var(r, reals_var(r, "t", shape_of(r, 2, 3, 4, -1)));
    CtBulk *transposed[] = {ct_bulk_var(r, k), at_i, ct_bulk_var(r, j)};
    CtIndexing iteration = {.vars = cycle, .var_count = 3, .ix = transposed, .count = 3};
    CtBulk *gathered = ct_bulk_gather(r, shape_of(r, 3, 4, 2, -1), cube, iteration, CT_NO_RANGE);
    assert_simplifies(r, gathered, "tr_{1,2,0} t");
    assert_simplifies(r, ct_bulk_scatter(r, shape_of(r, 4, 2, 3, -1), cube, iteration, CT_NO_RANGE), "tr_{2,0,1} t");
    /* What may be outside is an error that is kept, used or not; where it is not live there is none. */
    CtBulkVar *dead = reals_var(r, "dead", scalar);
    CtBulk *wild = ct_bulk_index(r, a, &at_n, 1, NULL, CT_NO_RANGE);
    assert_simplifies(r, ct_bulk_let(r, dead, wild, x), "let dead = index a [n] in\nx");
    CtBulkVar *table = ct_bulk_new_var(r, "table", ELEMENT_INT, three);
    CtBulk *entry = ct_bulk_op2(r, PRIM_INT_MOD, at(r, table, at_i), number(r, 5));
    assert_simplifies(r, moved(r, BULK_GATHER, five, ct_bulk_replicate(r, 5, x), i, entry, NULL),
                      "gather [5] (replicate 5 x) (λ[i]. [index table [i] `mod` 5])");
    assert_simplifies(r, moved(r, BULK_GATHER, three, ct_bulk_replicate(r, 5, x), i, entry, NULL), "replicate 3 x");
    wild = ct_bulk_index(r, a, &at_n, 1, ct_bulk_bool(r, false, scalar), CT_NO_RANGE);
    assert_simplifies(r, ct_bulk_let(r, dead, wild, x), "x");
}

/* ---- values at edges ---- */

/* The gradient of the sum of t for its only input, there. */
static BulkValue *run_gradient(CtBulkBuilder *r, CtBulk *t, CtBulkVar *x, const double *items, bool simplify) {
    CtBulkVar *c = ct_bulk_new_var(r, "c", ELEMENT_REAL, t->shape);
    CtBulkGradient g = ct_bulk_gradient(r, t, &x, 1, c);
    if (simplify) ct_bulk_simplify_gradient(r, &g, 1, c);
    BulkRun run = {.arena = r->arena};
    bulk_bind(&run, x, bulk_value_reals(r->arena, items, x->shape));
    BulkValue *ones = bulk_value(r->arena, ELEMENT_REAL, t->shape);
    for (int64_t i = 0; i < ones->count; i++) ones->items[i].real = 1;
    bulk_bind(&run, c, ones);
    return bulk_run(&run, with_bindings(r, &g, g.gradient[0]));
}

static void products_are_exact_with_zeros(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    for (int n = 0; n <= 17; n++) {
        CtBulkVar *x = reals_var(r, "x", shape_of(r, n, 2, -1));
        CtBulk *t = ct_bulk_reduce(r, REDUCE_PRODUCT, ct_bulk_var(r, x), CT_NO_RANGE);
        for (int zeros = 0; zeros < 4; zeros++) {
            double items[34];
            for (int i = 0; i < 2 * n; i++) items[i] = zeros & (1 << i % 2) && i / 2 == n / 3 ? 0.0 : 1 + (i * 7 % 5);
            BulkValue *gradient = run_gradient(r, t, x, items, zeros % 2);
            assert_non_null(gradient);
            for (int i = 0; i < 2 * n; i++) {
                double others = 1;
                for (int j = i % 2; j < 2 * n; j += 2)
                    if (j != i) others *= items[j];
                assert_true(gradient->items[i].real == others); /* small whole numbers: exact in any order */
            }
        }
    }
}

static void extrema_send_cotangents_to_the_first(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    CtBulkVar *x = reals_var(r, "x", shape_of(r, 3, 2, -1));
    static const double items[] = {1, 5, 3, 5, 3, NAN}, largest[] = {0, 0, 1, 0, 0, 1}, smallest[] = {1, 0, 0, 0, 0, 1};
    for (int simplify = 0; simplify < 2; simplify++) {
        CtBulk *t = ct_bulk_reduce(r, REDUCE_MAXIMUM, ct_bulk_var(r, x), CT_NO_RANGE);
        BulkValue *gradient = run_gradient(r, t, x, items, simplify);
        for (int i = 0; i < 6; i++) assert_true(gradient->items[i].real == largest[i]);
        t = ct_bulk_reduce(r, REDUCE_MINIMUM, ct_bulk_var(r, x), CT_NO_RANGE);
        gradient = run_gradient(r, t, x, items, simplify);
        for (int i = 0; i < 6; i++) assert_true(gradient->items[i].real == smallest[i]);
    }
}

/* The slope of sqrt at 0 is infinite, and that of log x there too: it must not touch what does not go through it. */
static void untaken_sides_bring_no_nan(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    CtBulkVar *a = reals_var(r, "a", shape_of(r, 4, -1)), *i = index_var(r, "i"), *v = reals_var(r, "v", scalar);
    static const double items[] = {0.0, 4.0, -1.0, 0.0}, expected[] = {2, 0.25, 2, 2};
    CtBulk *x = ct_bulk_var(r, v), *positive = ct_bulk_op2(r, PRIM_LT, ct_bulk_real(r, 0, scalar), x);
    CtBulk *t = ct_bulk_cond(r, positive, ct_bulk_op1(r, PRIM_SQRT, x), ct_bulk_op2(r, PRIM_ADD, x, x));
    t = ct_bulk_rewrite(r, ct_bulk_build(r, 4, i, ct_bulk_let(r, v, at(r, a, ct_bulk_var(r, i)), t)));
    for (int k = 0; k < 4; k++) {
        BulkValue *gradient = run_gradient(r, k % 2 ? ct_bulk_simplify(r, t) : t, a, items, k / 2);
        for (int j = 0; j < 4; j++) assert_true(gradient->items[j].real == expected[j]);
    }
}

static void repeated_and_missing_indices(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    CtBulkVar *a = reals_var(r, "a", shape_of(r, 3, -1)), *i = index_var(r, "i");
    static const double items[] = {1, 2, 3}, halves[] = {2, 2, 1}, ahead[] = {0, 0, 1};
    CtBulk *half = ct_bulk_op2(r, PRIM_INT_DIV, ct_bulk_var(r, i), number(r, 2));
    CtBulk *t = moved(r, BULK_GATHER, shape_of(r, 5, -1), ct_bulk_var(r, a), i, half, NULL);
    CtBulk *next = ct_bulk_op2(r, PRIM_INT_ADD, ct_bulk_var(r, i), number(r, 2));
    CtBulk *live = ct_bulk_op2(r, PRIM_INT_LT, next, number(r, 3));
    CtBulk *u = moved(r, BULK_GATHER, shape_of(r, 5, -1), ct_bulk_var(r, a), i, next, live);
    for (int simplify = 0; simplify < 2; simplify++) {
        BulkValue *gradient = run_gradient(r, t, a, items, simplify), *other = run_gradient(r, u, a, items, simplify);
        for (int k = 0; k < 3; k++) {
            assert_true(gradient->items[k].real == halves[k]);
            assert_true(other->items[k].real == ahead[k] && (ahead[k] != 0 || signbit(other->items[k].real)));
        }
    }
}

/* The cotangent of what is not used is the structural zero. */
static void unused_inputs_get_minus_zero(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    CtBulkVar *a = reals_var(r, "a", shape_of(r, 2, -1));
    static const double items[] = {1, 2};
    BulkValue *gradient = run_gradient(r, ct_bulk_real(r, 3, scalar), a, items, false);
    assert_true(signbit(gradient->items[0].real) && signbit(gradient->items[1].real));
}

/* evidence: BULK §4.1, size: of the terms themselves */
static void delta_nodes_do_not_depend_on_sizes(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    static const int sizes[] = {0, 1, 2, 10, 1000};
    uint32_t first[3] = {0}, bindings = 0;
    for (int k = 0; k < 5; k++) {
        CtBulkVar *a = reals_var(r, "a", shape_of(r, sizes[k], -1));
        CtBulk *terms[] = {ct_bulk_rewrite(r, self_convolution(r, a)),
                           ct_bulk_reduce(r, REDUCE_PRODUCT, ct_bulk_var(r, a), CT_NO_RANGE),
                           ct_bulk_reduce(r, REDUCE_MAXIMUM, ct_bulk_var(r, a), CT_NO_RANGE)};
        for (int which = 0; which < 3; which++) {
            CtBulkGradient g = gradient_of(r, terms[which], &a, 1, false);
            if (which == 0 && k == 1) bindings = g.vars.count;
            if (which == 0 && k > 1) assert_int_equal(g.vars.count, bindings);
            if (k == 1) first[which] = g.nodes;
            if (k > 1) assert_int_equal(g.nodes, first[which]);
            assert_int_equal(first[which] == 0, k == 0);
        }
    }
}

/* Passes must not recurse along a program: this one is as long as a loop that was unrolled. */
static void long_programs(void **state) {
    CtBulkBuilder builder = builder_of(*state), *r = &builder;
    enum { LENGTH = 30000 };
    CtBulkVar *x = reals_var(r, "x", shape_of(r, 2, -1)), **vars = CT_NEW_ARRAY(r->arena, CtBulkVar *, LENGTH);
    for (int k = 0; k < LENGTH; k++) vars[k] = reals_var(r, "t", x->shape);
    CtBulk *t = ct_bulk_var(r, vars[LENGTH - 1]);
    for (int k = LENGTH; k-- > 0;) {
        CtBulk *before = ct_bulk_var(r, k ? vars[k - 1] : x);
        CtBulk *rhs = k % 2 ? ct_bulk_op1(r, PRIM_SIN, before) : ct_bulk_op2(r, PRIM_ADD, before, ct_bulk_var(r, x));
        t = ct_bulk_let(r, vars[k], rhs, t);
    }
    CtBulkGradient g = gradient_of(r, ct_bulk_simplify(r, t), &x, 1, true);
    assert_true(g.vars.count > LENGTH / 24 && g.vars.count < 3 * LENGTH);
    CtBulkVar *dx = reals_var(r, "dx", x->shape);
    CtBulkGradient ahead = ct_bulk_tangent(r, t, &x, &dx, 1);
    assert_true(ahead.vars.count < 3 * LENGTH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(gradients_of_random_terms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gradients_fail_where_the_program_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(simplified_terms_mean_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(simplified_gradients_mean_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gradients_of_gradients, set_up, tear_down),
        cmocka_unit_test_setup_teardown(traced_terms_mean_the_same_simplified, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bulk_fig_18, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bulk_section_7_3, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bulk_section_7_4, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sharing_keeps_gradients_small, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gradients_read_like_a_persons, set_up, tear_down),
        cmocka_unit_test_setup_teardown(gradient_of_matmat, set_up, tear_down),
        cmocka_unit_test_setup_teardown(elements_make_rows, set_up, tear_down),
        cmocka_unit_test_setup_teardown(simplified_as_a_person_would_write, set_up, tear_down),
        cmocka_unit_test_setup_teardown(products_are_exact_with_zeros, set_up, tear_down),
        cmocka_unit_test_setup_teardown(extrema_send_cotangents_to_the_first, set_up, tear_down),
        cmocka_unit_test_setup_teardown(untaken_sides_bring_no_nan, set_up, tear_down),
        cmocka_unit_test_setup_teardown(repeated_and_missing_indices, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unused_inputs_get_minus_zero, set_up, tear_down),
        cmocka_unit_test_setup_teardown(delta_nodes_do_not_depend_on_sizes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_programs, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
