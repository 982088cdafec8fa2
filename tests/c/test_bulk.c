/* The array language of BULK: its terms in print, and the bulk-operation transform rule by rule. Theorem 5.1 has a file
 * of its own. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ad/bulk/rewrite/rules.h"
#include "bulk_interpret.h"
#include "bulk_fixture.h"

/* ---- short names ---- */

#define SHAPE(f, ...)                                                                                                  \
    ct_bulk_shape_of((f)->arena, (const int64_t[]){__VA_ARGS__},                                                       \
                     sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
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
    return ct_bulk_index(f->r, t, ix, (uint32_t)count, NULL, CT_NO_RANGE);
}

static CtBulk *build(Fixture *f, int64_t k, CtBulk *i, CtBulk *body) { return ct_bulk_build(f->r, k, i->as.var, body); }
static CtBulk *sum(Fixture *f, CtBulk *t) { return ct_bulk_reduce(f->r, REDUCE_SUM, t, CT_NO_RANGE); }
static CtBulk *op(Fixture *f, CtPrim prim, CtBulk *t, CtBulk *u) { return ct_bulk_op2(f->r, prim, t, u); }

static const char *print(Fixture *f, CtBulk *t) {
    CtText text = ct_text(f->arena);
    ct_bulk_print(&text, t);
    return text.data;
}

#define assert_prints(f, t, text)   assert_string_equal(print(f, t), text)
#define assert_rewrites(f, t, text) assert_string_equal(print(f, ct_bulk_rewrite((f)->r, t)), text)

/* ---- the examples of the paper ---- */

/* evidence: BULK §3.1: the term */
/* §3.1; sizes stand for k, m and n */
static void matmat_becomes_whole_array_operations(void **state) {
    Fixture *f = *state;
    CtBulk *a = real_var(f, "a", SHAPE(f, 2, 3)), *b = real_var(f, "b", SHAPE(f, 3, 4));
    CtBulk *i = int_var(f, "i"), *j = int_var(f, "j"), *p = int_var(f, "p");
    CtBulk *left = read_at(f, a, IX(i, p)), *right = read_at(f, b, IX(p, j));
    CtBulk *inner = sum(f, build(f, 3, p, op(f, PRIM_MUL, left, right)));
    CtBulk *t = build(f, 2, i, build(f, 4, j, inner));
    assert_prints(f, t, "build1 2 (λi. build1 4 (λj. sumOuter (build1 3 (λp. index a [i, p] × index b [p, j]))))");
    assert_rewrites(f, t,
                    "sumOuter\n"
                    "  (tr\n"
                    "     (tr_{0,2,1}\n"
                    "        (tr (replicate 4 (gather [2, 3] a (λ[i, p]. [i, p])))\n"
                    "         × replicate 2 (gather [4, 3] b (λ[j, p]. [p, j])))))");
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

/* ---- the rules, one by one ---- */

typedef struct Names {
    CtBulk *a, *b, *v, *x, *n, *i, *j, *m, *bs; /* [3, 2], [2, 3], [3] and scalar; Ints; Ints [3]; Bools [3] */
} Names;

static Names names(Fixture *f) {
    CtBulkVar *m = ct_bulk_new_var(f->r, "m", ELEMENT_INT, SHAPE(f, 3));
    CtBulkVar *bs = ct_bulk_new_var(f->r, "bs", ELEMENT_BOOL, SHAPE(f, 3));
    Names names = {.a = real_var(f, "a", SHAPE(f, 3, 2)), .b = real_var(f, "b", SHAPE(f, 2, 3))};
    names.v = real_var(f, "v", SHAPE(f, 3));
    names.x = real_var(f, "x", scalar);
    names.n = int_var(f, "n");
    names.i = int_var(f, "i");
    names.j = int_var(f, "j");
    names.m = ct_bulk_var(f->r, m);
    names.bs = ct_bulk_var(f->r, bs);
    return names;
}

static CtBulk *gather(Fixture *f, CtShape shape, CtBulk *t, CtBulk *var, CtBulk *const *ix, size_t count) {
    CtIndexing of = {.vars = &var->as.var, .var_count = 1, .ix = ix, .count = (uint32_t)count};
    return ct_bulk_gather(f->r, shape, t, of, CT_NO_RANGE);
}

static CtBulk *scatter(Fixture *f, CtShape shape, CtBulk *t, CtBulk *var, CtBulk *const *ix, size_t count) {
    CtIndexing of = {.vars = &var->as.var, .var_count = 1, .ix = ix, .count = (uint32_t)count};
    return ct_bulk_scatter(f->r, shape, t, of, CT_NO_RANGE);
}

static CtBulk *transpose(Fixture *f, CtBulk *t) { return ct_bulk_transpose(f->r, (const uint32_t[]){1, 0}, 2, t); }

/* evidence: BULK Fig. 9: rule by rule */
/* Fig. 9 */
static void build_is_pushed_into_each_form(void **state) {
    Fixture *f = *state;
    Names n = names(f);
    CtBulk *row = read_at(f, n.a, IX(n.i)), *item = read_at(f, n.v, IX(n.i));
    assert_rewrites(f, build(f, 3, n.i, n.i), "[0, 1, 2]");
    assert_rewrites(f, build(f, 0, n.i, read_at(f, n.v, IX(number(f, 7)))), "[]");
    assert_rewrites(f, build(f, 4, n.i, op(f, PRIM_ADD, n.x, n.x)), "replicate 4 (x + x)");
    CtBulkVar *y = ct_bulk_new_var(f->r, "y", ELEMENT_REAL, scalar);
    CtBulk *square = op(f, PRIM_MUL, ct_bulk_var(f->r, y), ct_bulk_var(f->r, y));
    assert_rewrites(f, build(f, 3, n.i, ct_bulk_let(f->r, y, item, square)),
                    "let y = gather [3] v (λ[i]. [i]) in\n"
                    "gather [3] y (λ[i]. [i]) × gather [3] y (λ[i]. [i])");
    assert_rewrites(
        f, build(f, 3, n.i, ct_bulk_let(f->r, y, ct_bulk_op1(f->r, PRIM_SIN, n.x), op(f, PRIM_MUL, square, item))),
        "let y = sin x in\n"
        "replicate 3 (y × y) × gather [3] v (λ[i]. [i])");
    CtBulk *test = ct_bulk_op2(f->r, PRIM_LT, item, real(f, 0));
    assert_rewrites(
        f, build(f, 3, n.i, ct_bulk_cond(f->r, test, n.x, item)),
        "gather [3] (tr [replicate 3 x, gather [3] v (λ[i]. [i])]) (λ[i]. [i, cond (index v [i] < 0.0) 0 1])");
    CtBulk *same = ct_bulk_op2(f->r, PRIM_LT, n.x, real(f, 0));
    assert_rewrites(f, build(f, 3, n.i, ct_bulk_cond(f->r, same, n.x, item)),
                    "cond (x < 0.0) (replicate 3 x) (gather [3] v (λ[i]. [i]))");
    CtBulk *flag = read_at(f, n.bs, IX(n.i)), *negated = ct_bulk_logic(f->r, LOGIC_NOT, flag, NULL);
    assert_rewrites(f, build(f, 3, n.i, ct_bulk_logic(f->r, LOGIC_AND, flag, negated)),
                    "gather [3] bs (λ[i]. [i]) && not (gather [3] bs (λ[i]. [i]))");
    assert_rewrites(f, build(f, 3, n.i, ct_bulk_op1(f->r, PRIM_SIN, item)), "sin (gather [3] v (λ[i]. [i]))");
    assert_rewrites(f, build(f, 3, n.i, sum(f, row)), "sumOuter (tr (gather [3, 2] a (λ[i]. [i])))");
    assert_rewrites(f, build(f, 3, n.i, ct_bulk_reduce(f->r, REDUCE_ARGMAX, row, CT_NO_RANGE)),
                    "argmaxOuter (tr (gather [3, 2] a (λ[i]. [i])))");
    assert_rewrites(f, build(f, 3, n.i, gather(f, SHAPE(f, 2), row, n.j, IX(op(f, PRIM_INT_SUB, number(f, 1), n.j)))),
                    "gather [3, 2] (gather [3, 2] a (λ[i]. [i])) (λ[i, j]. [i, 1 - j])");
    assert_rewrites(f, build(f, 3, n.i, gather(f, SHAPE(f, 2), n.v, n.j, IX(op(f, PRIM_INT_MIN, n.i, n.j)))),
                    "gather [3, 2] v (λ[i, j]. [intMin i j])");
    assert_rewrites(f, build(f, 3, n.i, scatter(f, SHAPE(f, 4), row, n.j, IX(op(f, PRIM_INT_ADD, n.i, n.j)))),
                    "scatter [3, 4] (gather [3, 2] a (λ[i]. [i])) (λ[i, j]. [i, i + j])");
    assert_rewrites(f, build(f, 3, n.i, ct_bulk_one_hot(f->r, SHAPE(f, 4), IX(n.i), item)),
                    "scatter [3, 4] (gather [3] v (λ[i]. [i])) (λ[i]. [i, i])");
    assert_rewrites(f, build(f, 3, n.i, ct_bulk_literal(f->r, IX(n.x, item))),
                    "tr [replicate 3 x, gather [3] v (λ[i]. [i])]");
    assert_rewrites(f, build(f, 3, n.i, ct_bulk_replicate(f->r, 5, item)),
                    "tr (replicate 5 (gather [3] v (λ[i]. [i])))");
    assert_rewrites(f, build(f, 2, n.i, transpose(f, read_at(f, real_var(f, "c", SHAPE(f, 2, 3, 4)), IX(n.i)))),
                    "tr_{0,2,1} (gather [2, 3, 4] c (λ[i]. [i]))");
    assert_rewrites(f, build(f, 3, n.i, ct_bulk_reshape(f->r, SHAPE(f, 2, 1), row)),
                    "reshape [3, 2, 1] (gather [3, 2] a (λ[i]. [i]))");
    assert_rewrites(f, build(f, 3, n.i, ct_bulk_check(f->r, flag, CT_E0503, "no", CT_NO_RANGE, item)),
                    "check (gather [3] bs (λ[i]. [i])) (gather [3] v (λ[i]. [i]))");
}

/* evidence: BULK Fig. 10: rule by rule */
/* Fig. 10 */
static void index_is_pushed_into_each_form(void **state) {
    Fixture *f = *state;
    Names n = names(f);
    CtBulk *one = number(f, 1), *far = read_at(f, n.m, IX(one));
    assert_rewrites(f, ct_bulk_index(f->r, n.a, NULL, 0, NULL, CT_NO_RANGE), "a");
    assert_rewrites(f, read_at(f, read_at(f, n.a, IX(n.i)), IX(n.j)), "index a [i, j]");
    CtBulk *once = ct_bulk_op2(f->r, PRIM_INT_LT, n.n, number(f, 3)),
           *twice = ct_bulk_op2(f->r, PRIM_INT_LT, n.n, number(f, 3));
    CtBulk *live_row = ct_bulk_index(f->r, n.a, &n.i, 1, once, CT_NO_RANGE);
    assert_rewrites(f, ct_bulk_index(f->r, live_row, &n.j, 1, twice, CT_NO_RANGE), "index a ([i, j] when n < 3)");
    twice = ct_bulk_op2(f->r, PRIM_INT_LT, n.n, number(f, 4));
    assert_rewrites(f, ct_bulk_index(f->r, live_row, &n.j, 1, twice, CT_NO_RANGE),
                    "check\n"
                    "  (n < 3 && (i < 0 || 3 <= i) || n < 4 && (j < 0 || 2 <= j))\n"
                    "  (index a ([i, j] when n < 3 && n < 4))");
    CtBulkVar *y = ct_bulk_new_var(f->r, "y", ELEMENT_REAL, SHAPE(f, 3));
    CtBulk *ys = ct_bulk_var(f->r, y);
    assert_rewrites(f, read_at(f, ct_bulk_let(f->r, y, op(f, PRIM_ADD, n.v, n.v), ys), IX(one)),
                    "let y = v + v in\n"
                    "index y [1]");
    CtBulk *test = ct_bulk_op2(f->r, PRIM_LT, n.x, real(f, 0)), *sum_of = op(f, PRIM_ADD, n.v, n.v);
    assert_rewrites(f, read_at(f, ct_bulk_cond(f->r, test, n.v, sum_of), IX(far)),
                    "let i = index m [1] in\n"
                    "cond (x < 0.0) (index v [i]) (index v [i] + index v [i])");
    assert_rewrites(f, read_at(f, op(f, PRIM_MUL, n.v, n.v), IX(one)), "index v [1] × index v [1]");
    assert_rewrites(f, read_at(f, op(f, PRIM_MUL, n.v, n.v), IX(far)),
                    "let i = index m [1] in\n"
                    "index v [i] × index v [i]");
    assert_rewrites(f, read_at(f, ct_bulk_op1(f->r, PRIM_SIN, n.v), IX(far)), "sin (index v [index m [1]])");
    assert_rewrites(f, read_at(f, ct_bulk_logic(f->r, LOGIC_OR, n.bs, n.bs), IX(one)), "index bs [1] || index bs [1]");
    assert_rewrites(f, read_at(f, sum(f, n.a), IX(one)), "sumOuter (gather [3] a (λ[i]. [i, 1]))");
    assert_rewrites(f, read_at(f, ct_bulk_literal(f->r, IX(n.v, sum_of)), IX(one, far)),
                    "let i = index m [1] in\n"
                    "index [index v [i], index v [i] + index v [i]] [1]");
    assert_rewrites(f, read_at(f, ct_bulk_literal(f->r, IX(n.x, real(f, 2))), IX(n.i)), "index [x, 2.0] [i]");
    assert_rewrites(f, read_at(f, ct_bulk_replicate(f->r, 2, n.v), IX(one, n.i)), "index v [i]");
    assert_rewrites(f, read_at(f, ct_bulk_replicate(f->r, 2, n.v), IX(n.i, one)),
                    "check (i < 0 || 2 <= i) (index v [1])");
    assert_rewrites(f, read_at(f, transpose(f, n.a), IX(n.i, n.j)), "index a [j, i]");
    assert_rewrites(f, read_at(f, transpose(f, n.a), IX(one)), "gather [3] a (λ[i]. [i, 1])");
    assert_rewrites(f, read_at(f, ct_bulk_reshape(f->r, SHAPE(f, 6), n.a), IX(number(f, 5))),
                    "index a [5 `div` 2, 5 `mod` 2]");
    assert_rewrites(f, read_at(f, ct_bulk_reshape(f->r, SHAPE(f, 6), n.a), IX(n.i)),
                    "check (i < 0 || 6 <= i) (index a [i `div` 2, i `mod` 2])");
    assert_rewrites(f, read_at(f, ct_bulk_reshape(f->r, SHAPE(f, 1, 3, 2), n.a), IX(number(f, 0), one)), "index a [1]");
    CtBulk *back = op(f, PRIM_INT_SUB, number(f, 2), n.j), *reversed = gather(f, SHAPE(f, 3), n.v, n.j, IX(back));
    assert_rewrites(f, read_at(f, reversed, IX(one)), "index v [2 - 1]");
    assert_rewrites(f, read_at(f, reversed, IX(n.i)), "check (i < 0 || 3 <= i) (index v [2 - i])");
    CtBulk *permuted = gather(f, SHAPE(f, 3), n.v, n.j, IX(read_at(f, n.m, IX(n.j))));
    assert_rewrites(f, read_at(f, permuted, IX(one)),
                    "check\n"
                    "  (let i = gather [3] m (λ[j]. [j]) in\n"
                    "   gather [3] i (λ[j]. [j]) < replicate 3 0 || replicate 3 3 <= gather [3] i (λ[j]. [j]))\n"
                    "  (index v [index m [1]])");
    CtBulk *spread = scatter(f, SHAPE(f, 5), n.v, n.j, IX(back));
    assert_rewrites(f, read_at(f, spread, IX(one)), "index (scatter [5] v (λ[j]. [2 - j])) [1]");
    assert_rewrites(f, read_at(f, ct_bulk_one_hot(f->r, SHAPE(f, 5), IX(n.i), n.x), IX(one)),
                    "index (scatter [5] x (λ[]. [i] when False)) [1]");
    assert_rewrites(f, read_at(f, ct_bulk_check(f->r, test, CT_E0503, "no", CT_NO_RANGE, sum_of), IX(one)),
                    "check (x < 0.0) (index v [1] + index v [1])");
}

/* evidence: BULK Fig. 11: rule by rule */
/* Fig. 11 */
static void build_of_index_becomes_gather(void **state) {
    Fixture *f = *state;
    Names n = names(f);
    CtBulk *at = op(f, PRIM_INT_SUB, number(f, 2), n.i), *item = read_at(f, n.v, IX(n.i));
    const double items[] = {1, 2, 3};
    CtBulk *c = ct_bulk_reals(f->r, items, SHAPE(f, 3));
    assert_rewrites(f, build(f, 3, n.i, read_at(f, n.v, IX(at))), "gather [3] v (λ[i]. [2 - i])");
    assert_rewrites(f, build(f, 3, n.i, read_at(f, c, IX(at))), "gather [3] [1.0, 2.0, 3.0] (λ[i]. [2 - i])");
    assert_rewrites(f, build(f, 2, n.i, read_at(f, ct_bulk_literal(f->r, IX(item, n.x)), IX(n.i))),
                    "gather [2] (tr [gather [2] v (λ[i]. [i]), replicate 2 x]) (λ[i]. [i, i])");
    assert_rewrites(f, build(f, 2, n.i, read_at(f, ct_bulk_literal(f->r, IX(n.x, real(f, 2))), IX(n.i))),
                    "gather [2] [x, 2.0] (λ[i]. [i])");
    CtBulk *spread = scatter(f, SHAPE(f, 5), n.v, n.j, IX(op(f, PRIM_INT_ADD, n.i, n.j)));
    assert_rewrites(f, build(f, 3, n.i, read_at(f, spread, IX(n.i))),
                    "gather [3] (scatter [3, 5] (replicate 3 v) (λ[i, j]. [i, i + j])) (λ[i]. [i, i])");
    CtBulk *before = op(f, PRIM_INT_SUB, n.i, number(f, 1));
    CtBulk *exists = ct_bulk_op2(f->r, PRIM_INT_LE, number(f, 0), before);
    CtBulk *read = ct_bulk_index(f->r, n.v, &before, 1, exists, CT_NO_RANGE);
    assert_rewrites(f, build(f, 3, n.i, ct_bulk_cond(f->r, exists, read, real(f, 0))),
                    "gather [3]\n"
                    "  (tr [gather [3] v (λ[i]. [i - 1] when 0 <= i - 1), replicate 3 0.0])\n"
                    "  (λ[i]. [i, cond (0 <= i - 1) 0 1])");
}

/* ---- errors and names ---- */

typedef struct Bound {
    CtBulk *var;
    BulkValue *value;
} Bound;

static BulkValue *ints(Fixture *f, const int64_t *items, int64_t count) {
    BulkValue *value = bulk_value(f->arena, ELEMENT_INT, ct_bulk_shape_of(f->arena, &count, 1));
    for (int64_t i = 0; i < count; i++) value->items[i].integer = items[i];
    return value;
}

static BulkValue *one_int(Fixture *f, int64_t item) {
    BulkValue *value = bulk_value(f->arena, ELEMENT_INT, scalar);
    value->items[0].integer = item;
    return value;
}

/* The meaning of a term before and after, which must be the same; NULL when it is an error. */
static BulkValue *meaning(Fixture *f, CtBulk *t, const Bound *bound, size_t count) {
    BulkRun before = {.arena = f->arena}, after = {.arena = f->arena};
    for (size_t i = 0; i < count; i++) {
        bulk_bind(&before, bound[i].var->as.var, bound[i].value);
        bulk_bind(&after, bound[i].var->as.var, bound[i].value);
    }
    BulkValue *value = bulk_run(&before, t), *now = bulk_run(&after, ct_bulk_rewrite(f->r, t));
    assert_int_equal(value == NULL, now == NULL);
    if (value == NULL) assert_int_equal(before.code, after.code);
    if (value != NULL) assert_true(bulk_equal(value, now, 0));
    return value;
}

/* cond (0 ≤ i && i < size) (index t [i]) no */
static CtBulk *guarded(Fixture *f, CtBulk *t, CtBulk *i, CtBulk *no) {
    CtBulk *low = ct_bulk_op2(f->r, PRIM_INT_LE, number(f, 0), i);
    CtBulk *high = ct_bulk_op2(f->r, PRIM_INT_LT, i, number(f, t->shape.sizes[0]));
    CtBulk *inside = ct_bulk_logic(f->r, LOGIC_AND, low, high);
    return ct_bulk_cond(f->r, inside, ct_bulk_index(f->r, t, &i, 1, inside, CT_NO_RANGE), no);
}

static void an_index_is_an_error_where_it_is_meant(void **state) {
    Fixture *f = *state;
    Names n = names(f);
    CtBulk *i = n.i, *past = op(f, PRIM_INT_ADD, n.i, number(f, 1));
    const Bound bound[] = {{n.m, ints(f, (const int64_t[]){4, 5, 6}, 3)}, {n.n, one_int(f, 7)}};
    assert_null(meaning(f, read_at(f, n.m, IX(n.n)), bound, 2));
    assert_null(meaning(f, build(f, 3, i, read_at(f, n.m, IX(past))), bound, 2));
    assert_non_null(meaning(f, build(f, 2, i, read_at(f, n.m, IX(past))), bound, 2));
    assert_non_null(meaning(f, build(f, 3, i, guarded(f, n.m, past, number(f, 0))), bound, 2));
    assert_non_null(meaning(f, guarded(f, n.m, n.n, number(f, 0)), bound, 2));
    /* an element that nobody asks for is computed all the same */
    CtBulk *all = build(f, 3, i, read_at(f, n.m, IX(past)));
    assert_null(meaning(f, read_at(f, all, IX(number(f, 0))), bound, 2));
    assert_null(meaning(f, read_at(f, ct_bulk_replicate(f->r, 2, n.m), IX(n.n, number(f, 0))), bound, 2));
    /* 7 is outside of 2 rows, though not of 2 × 4 elements; and of an array of nothing */
    CtBulk *rows = ct_bulk_reshape(f->r, SHAPE(f, 2, 4), ct_bulk_replicate(f->r, 8, n.n));
    assert_null(meaning(f, read_at(f, rows, IX(number(f, 0), n.n)), bound, 2));
    assert_non_null(meaning(f, read_at(f, rows, IX(number(f, 1), number(f, 3))), bound, 2));
    assert_null(meaning(f, read_at(f, build(f, 0, i, read_at(f, n.m, IX(i))), IX(number(f, 0))), bound, 2));
    assert_non_null(meaning(f, build(f, 0, i, read_at(f, n.m, IX(n.n))), bound, 2));
    CtIndexing first = {.vars = (CtBulkVar *const[]){i->as.var, n.j->as.var}, .var_count = 2, .ix = &i, .count = 1};
    assert_null(
        meaning(f, read_at(f, ct_bulk_gather(f->r, SHAPE(f, 3, 0), n.m, first, CT_NO_RANGE), IX(n.n)), bound, 2));
    /* where the index is not meant, what it would lead to is not looked at either */
    CtBulk *inner = read_at(f, n.m, IX(read_at(f, build(f, 3, n.j, op(f, PRIM_INT_SUB, number(f, 2), n.j)), IX(i))));
    assert_non_null(meaning(f, guarded(f, build(f, 3, i, inner), n.n, number(f, 0)), bound, 2));
    CtBulk *test = read_at(f, n.m, IX(i)),
           *known = ct_bulk_let(f->r, n.j->as.var, test, guarded(f, n.m, n.j, number(f, 0)));
    assert_non_null(meaning(f, guarded(f, build(f, 3, i, known), n.n, number(f, 0)), bound, 2));
}

static void names_may_be_bound_inside_themselves(void **state) {
    Fixture *f = *state;
    Names n = names(f);
    const Bound bound[] = {{n.m, ints(f, (const int64_t[]){2, 0, 1}, 3)}};
    CtBulk *i = n.i, *j = n.j, *at_i = read_at(f, n.m, IX(i));
    CtBulk *pair = ct_bulk_literal(f->r, IX(at_i, i));
    /* build1 (λi. gather … (λi. …)), where the source is of the outer i */
    CtBulk *t = build(f, 3, i, gather(f, SHAPE(f, 3), pair, i, IX(op(f, PRIM_INT_MIN, i, number(f, 1)))));
    assert_int_equal(meaning(f, t, bound, 1)->items[3].integer, 0);
    t = build(f, 2, i, scatter(f, SHAPE(f, 3), pair, i, IX(at_i)));
    assert_int_equal(meaning(f, t, bound, 1)->items[2].integer, 2);
    /* let j = 1 in index (let j = m in j) [j] */
    CtBulkVar *y = ct_bulk_new_var(f->r, "y", ELEMENT_INT, scalar);
    CtBulk *inner = ct_bulk_let(f->r, y, number(f, 2), ct_bulk_replicate(f->r, 2, ct_bulk_var(f->r, y)));
    t = ct_bulk_let(f->r, y, number(f, 1), read_at(f, inner, IX(ct_bulk_var(f->r, y))));
    assert_int_equal(meaning(f, t, bound, 1)->items[0].integer, 2);
    /* build1 (λj. index (gather … (λ[i, j]. [i + j])) [j]) */
    CtBulk *around = op(f, PRIM_INT_MOD, op(f, PRIM_INT_ADD, i, j), number(f, 3));
    CtIndexing both = {.vars = (CtBulkVar *const[]){i->as.var, j->as.var}, .var_count = 2, .ix = &around, .count = 1};
    CtBulk *table = ct_bulk_gather(f->r, SHAPE(f, 3, 3), n.m, both, CT_NO_RANGE);
    t = build(f, 3, j, read_at(f, table, IX(j)));
    assert_int_equal(meaning(f, t, bound, 1)->items[1].integer, 0);
    /* let y = 3 in let y = y + i in y, for each i */
    CtBulk *sum_of = op(f, PRIM_INT_ADD, ct_bulk_var(f->r, y), i);
    t = ct_bulk_let(f->r, y, sum_of, ct_bulk_var(f->r, y));
    t = build(f, 3, i, ct_bulk_let(f->r, y, number(f, 3), t));
    assert_int_equal(meaning(f, t, bound, 1)->items[2].integer, 5);
}

static void ranges_of_indices_are_found(void **state) {
    Fixture *f = *state;
    Names n = names(f);
    CtBulkRewriter w = {.r = f->r};
    CtBulk *i = n.i, *two = number(f, 2);
    ct_bulk_note(&w, build(f, 10, i, i));
    const struct {
        CtBulk *t;
        int64_t low, high;
    } rows[] = {
        {i, 0, 9},
        {op(f, PRIM_INT_SUB, number(f, 9), i), 0, 9},
        {op(f, PRIM_INT_ADD, op(f, PRIM_INT_MUL, i, number(f, -3)), two), -25, 2},
        {op(f, PRIM_INT_DIV, i, two), 0, 4},
        {op(f, PRIM_INT_DIV, op(f, PRIM_INT_SUB, i, number(f, 3)), two), -2, 3},
        {op(f, PRIM_INT_QUOT, op(f, PRIM_INT_SUB, i, number(f, 3)), two), INT64_MIN, INT64_MAX},
        {op(f, PRIM_INT_MOD, n.n, two), 0, 1},
        {op(f, PRIM_INT_MOD, two, number(f, 5)), 2, 2},
        {op(f, PRIM_INT_MOD, i, number(f, 0)), INT64_MIN, INT64_MAX},
        {op(f, PRIM_INT_REM, n.n, two), INT64_MIN, INT64_MAX},
        {op(f, PRIM_INT_REM, i, two), 0, 1},
        {op(f, PRIM_INT_MIN, i, n.n), INT64_MIN, 9},
        {op(f, PRIM_INT_MAX, i, n.n), 0, INT64_MAX},
        {ct_bulk_op1(f->r, PRIM_INT_NEGATE, i), -9, 0},
        {op(f, PRIM_INT_ADD, n.n, two), INT64_MIN, INT64_MAX},
        {ct_bulk_cond(f->r, ct_bulk_op2(f->r, PRIM_INT_LT, i, two), number(f, -7), two), -7, 2},
        {ct_bulk_integers(f->r, (const int64_t[]){3, -1, 8}, SHAPE(f, 3), ELEMENT_INT), -1, 8},
        {ct_bulk_reduce(f->r, REDUCE_ARGMIN, n.a, CT_NO_RANGE), 0, 2},
        {ct_bulk_reduce(f->r, REDUCE_MAXIMUM, ct_bulk_int(f->r, 5, SHAPE(f, 0, 2)), CT_NO_RANGE), 0, 5},
        {ct_bulk_index(f->r, ct_bulk_int(f->r, 5, SHAPE(f, 2)), &i, 1, n.bs, CT_NO_RANGE), 0, 5},
        {ct_bulk_index(f->r, ct_bulk_int(f->r, 5, SHAPE(f, 2)), &i, 1, NULL, CT_NO_RANGE), 5, 5},
    };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        CtRange range = ct_bulk_range(&w, rows[row].t);
        if (range.low != rows[row].low || range.high != rows[row].high)
            fail_msg("%s: %lld to %lld", print(f, rows[row].t), (long long)range.low, (long long)range.high);
    }
}

static size_t memory_for_chain(void **state, int length) {
    set_up(state);
    Fixture *f = *state;
    Names n = names(f);
    CtBulk *i = n.i;
    CtBulkVar **vars = CT_NEW_ARRAY(f->arena, CtBulkVar *, (size_t)length);
    for (int k = 0; k < length; k++) vars[k] = ct_bulk_new_var(f->r, "x", ELEMENT_REAL, scalar);
    CtBulk *t = ct_bulk_var(f->r, vars[length - 1]);
    for (int k = length - 1; k >= 0; k--) {
        CtBulk *before = k > 0 ? ct_bulk_var(f->r, vars[k - 1]) : read_at(f, n.v, IX(i));
        t = ct_bulk_let(f->r, vars[k], op(f, PRIM_MUL, before, before), t);
    }
    size_t before = ct_arena_bytes(f->arena);
    ct_bulk_rewrite(f->r, build(f, 3, i, t));
    /* an index that is worth a name, pushed through as many operations */
    CtBulk *sums = n.v;
    for (int k = 0; k < length; k++) sums = op(f, PRIM_ADD, sums, n.v);
    ct_bulk_rewrite(f->r, read_at(f, sums, IX(read_at(f, n.m, IX(number(f, 1))))));
    size_t used = ct_arena_bytes(f->arena) - before;
    tear_down(state);
    return used;
}

static void cost_is_linear_in_the_length_of_the_program(void **state) {
    (void)state;
    void *inner;
    size_t small = memory_for_chain(&inner, 200), large = memory_for_chain(&inner, 1600);
    assert_in_range(large / small, 6, 12); /* 8 times as long; maps grow by doubling */
}

/* ---- terms ---- */

static void terms_print_with_names_that_tell_apart(void **state) {
    Fixture *f = *state;
    CtBulk *x = real_var(f, "x", scalar), *other = real_var(f, "x", scalar);
    CtBulk *t = ct_bulk_let(f->r, other->as.var, op(f, PRIM_ADD, x, real(f, -1)), op(f, PRIM_SUB, other, x));
    assert_prints(f, t, "let x1 = x + (-1.0) in\nx1 - x");
    assert_prints(f, op(f, PRIM_SUB, x, op(f, PRIM_SUB, other, x)), "x - (x1 - x)");
    assert_prints(f, op(f, PRIM_MUL, op(f, PRIM_ADD, x, x), op(f, PRIM_MAX, x, x)), "(x + x) × max x x");
    int64_t many[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    assert_prints(f, ct_bulk_integers(f->r, many, SHAPE(f, 10), ELEMENT_INT), "[0, 1, 2, …, 9]");
    double zeros[2] = {-0.0, -0.0};
    assert_prints(f, ct_bulk_reals(f->r, zeros, SHAPE(f, 2, 1)), "[[-0.0], [-0.0]]");
    assert_prints(f, ct_bulk_real(f->r, -0.0, SHAPE(f, 2, 1)), "replicate 2 (replicate 1 (-0.0))");
    assert_prints(f, op(f, PRIM_ADD, ct_bulk_real(f->r, 1, SHAPE(f, 3)), ct_bulk_real(f->r, 2, SHAPE(f, 3))),
                  "replicate 3 1.0 + replicate 3 2.0");
    assert_prints(f, ct_bulk_real(f->r, 7, SHAPE(f, 0)), "[]");
    assert_prints(f, ct_bulk_real(f->r, INFINITY, scalar), "inf");
    assert_prints(f, ct_bulk_real(f->r, NAN, scalar), "NaN");
    assert_prints(f, ct_bulk_bool(f->r, true, scalar), "True");
    CtBulk *ix[] = {number(f, 4)};
    assert_prints(f, ct_bulk_one_hot(f->r, SHAPE(f, 9), ix, 1, x), "oneHot [9] [4] x");
    assert_prints(f, ct_bulk_share(f->r, 3, ct_bulk_op1(f->r, PRIM_EXP, x)), "share 3 (exp x)");
}

/* evidence: BULK Figs. 7, 8: what the types exclude */
static void lint_finds_what_is_wrong(void **state) {
    Fixture *f = *state;
    Names n = names(f);
    CtBulkVar *const vars[] = {n.a->as.var, n.v->as.var, n.x->as.var, n.n->as.var, n.m->as.var, n.bs->as.var};
    CtBulk *good = op(f, PRIM_ADD, n.v, n.v);
    assert_null(ct_bulk_lint(f->r, good, vars, 6));
    assert_string_equal(ct_bulk_lint(f->r, n.i, vars, 6), "variable: not in scope");
    assert_string_equal(ct_bulk_lint(f->r, build(f, 3, n.i, n.j), vars, 6), "variable: not in scope");
    assert_string_equal(ct_bulk_lint(f->r, op(f, PRIM_ADD, n.v, n.x), vars, 6), "op: shapes differ");
    assert_string_equal(ct_bulk_lint(f->r, op(f, PRIM_ADD, n.v, n.m), vars, 6),
                        "op: an argument of another element type");
    assert_string_equal(ct_bulk_lint(f->r, ct_bulk_op1(f->r, PRIM_ADD, n.x), vars, 6), "op: arity");
    assert_string_equal(ct_bulk_lint(f->r, read_at(f, n.v, IX(n.x)), vars, 6), "index: an index");
    assert_string_equal(ct_bulk_lint(f->r, ct_bulk_index(f->r, n.v, &n.n, 1, n.bs, CT_NO_RANGE), vars, 6),
                        "index: where it is live");
    assert_string_equal(ct_bulk_lint(f->r, ct_bulk_cond(f->r, n.bs, n.x, n.x), vars, 6), "cond: the test");
    assert_string_equal(ct_bulk_lint(f->r, ct_bulk_cond(f->r, ct_bulk_bool(f->r, true, scalar), n.x, n.v), vars, 6),
                        "cond: types differ");
    assert_string_equal(ct_bulk_lint(f->r, ct_bulk_reshape(f->r, SHAPE(f, 4), n.v), vars, 6), "reshape: shape");
    assert_string_equal(ct_bulk_lint(f->r, ct_bulk_transpose(f->r, (const uint32_t[]){1, 1}, 2, n.a), vars, 6),
                        "tr: not a permutation");
    assert_string_equal(ct_bulk_lint(f->r, gather(f, SHAPE(f, 4, 2), n.v, n.j, IX(n.j)), vars, 6), "gather: shape");
    assert_string_equal(ct_bulk_lint(f->r, ct_bulk_literal(f->r, IX(n.x, n.n)), vars, 6), "literal: types differ");
    assert_string_equal(ct_bulk_lint(f->r, sum(f, n.bs), vars, 6), "reduce: not numeric");
    assert_string_equal(ct_bulk_lint(f->r, ct_bulk_let(f->r, n.i->as.var, n.x, n.x), vars, 6), "let: element type");
    assert_string_equal(ct_bulk_lint(f->r, ct_bulk_check(f->r, n.x, CT_E0503, "", CT_NO_RANGE, n.x), vars, 6),
                        "check: the test");
}

static void substitution_does_not_capture(void **state) {
    Fixture *f = *state;
    Names n = names(f);
    CtBulk *row = read_at(f, n.v, IX(n.i));
    CtMap replace = {0};
    ct_map_set(f->arena, &replace, ct_key(n.x->as.var), row);
    CtBulk *t = build(f, 3, n.i, op(f, PRIM_ADD, n.x, row));
    assert_prints(f, ct_bulk_substitute(f->r, t, &replace), "build1 3 (λi1. index v [i] + index v [i1])");
    t = gather(f, SHAPE(f, 3), ct_bulk_replicate(f->r, 3, n.x), n.i, IX(n.i));
    assert_prints(f, ct_bulk_substitute(f->r, t, &replace), "gather [3] (replicate 3 (index v [i])) (λ[i1]. [i1])");
    assert_true(ct_bulk_mentions(row, n.i->as.var));
    assert_false(ct_bulk_mentions(build(f, 3, n.i, row), n.i->as.var));
    assert_true(ct_bulk_mentions(build(f, 3, n.i, row), n.v->as.var));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(matmat_becomes_whole_array_operations),
        TEST(a_dot_product_becomes_whole_array_operations),
        TEST(adding_one_to_each_element),
        TEST(self_convolution_becomes_whole_array_operations),
        TEST(build_is_pushed_into_each_form),
        TEST(index_is_pushed_into_each_form),
        TEST(build_of_index_becomes_gather),
        TEST(an_index_is_an_error_where_it_is_meant),
        TEST(names_may_be_bound_inside_themselves),
        TEST(ranges_of_indices_are_found),
        cmocka_unit_test(cost_is_linear_in_the_length_of_the_program),
        TEST(terms_print_with_names_that_tell_apart),
        TEST(lint_finds_what_is_wrong),
        TEST(substitution_does_not_capture),
    };
    return cmocka_run_group_tests_name("bulk", tests, NULL, NULL);
}
