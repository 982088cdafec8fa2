/* Differentiation on Core built by hand: that what is made is well-formed, for every form and both methods, nested.
 * What it computes is tested on programs (tests/golden, tests/random). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ad/ad.h"

typedef struct Fixture {
    CtArena *arena;
    CtContext context;
    CtProgram *p;
    CtType *tape, *list, *reals;
    CtCon *nil, *cons;
} Fixture;

static CtType *data(Fixture *f, const char *name, CtCon *cons, uint32_t count, CtType *type) {
    if (!type) type = ct_core_type_data(f->p, ct_intern_text(&f->context.symbols, name), NULL, 0, false);
    ct_core_data_set_cons(f->p, type->data, cons, count);
    return type;
}

static CtSym sym(Fixture *f, const char *name) { return ct_intern_text(&f->context.symbols, name); }

/* The tape's library, by its types alone. */
static CtGlobal *library(void *user, const char *module, const char *name) {
    (void)module;
    Fixture *f = user;
    CtProgram *p = f->p;
    for (uint32_t i = 0; i < p->globals.count; i++)
        if (strcmp(p->globals.items[i]->name->text, name) == 0) return p->globals.items[i];
    CtType *i = p->int_type, *d = p->double_type, *t = f->tape, *entry = ct_core_type_pair(p, i, t);
    CtType *tapes = ct_core_type_array(p, t), *counts = ct_core_type_array(p, i);
    const struct {
        const char *name;
        CtType *types[6];
        uint32_t count;
    } rows[] = {
        {"tapeInput", {t, entry}, 1},
        {"tapeInputs", {t, i}, 1},
        {"tapePush1", {i, d, t, entry}, 3},
        {"tapePush2", {i, d, i, d, t, entry}, 5},
        {"tapeAdjoints", {i, t, f->reals}, 2},
        {"tapeEntries", {t, i}, 1},
        {"tapeSeed", {f->reals, i, d, f->reals}, 3},
        {"tapeResolve", {i, t, f->reals, f->reals}, 3},
        {"tapeBehind", {t, i, t}, 2},
        {"tapeTask", {i, t}, 1},
        {"tapeOffsets", {i, tapes, counts}, 2},
        {"tapeJoin", {tapes, counts, t, t}, 3},
    };
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        if (strcmp(rows[r].name, name) != 0) continue;
        CtVar *params[5];
        for (uint32_t k = 0; k < rows[r].count; k++) params[k] = ct_core_var_new(p, "a", rows[r].types[k]);
        CtCore *body = ct_core_fail(p, CT_NO_RANGE, rows[r].types[rows[r].count], CT_E0503, "stub", NULL);
        CtCore *lam = ct_core_lam(p, CT_NO_RANGE, name, params, rows[r].count, body);
        CtGlobal *global = ct_core_global_new(p, name, lam->type, CT_NO_RANGE);
        global->body = lam;
        return global;
    }
    if (strcmp(name, "tapeNone") == 0) {
        CtGlobal *none = ct_core_global_new(p, name, i, CT_NO_RANGE);
        none->body = ct_core_int(p, CT_NO_RANGE, 0);
        none->is_library = true;
        return none;
    }
    if (strcmp(name, "tapeStart") != 0) return NULL;
    CtCore *ids = ct_core_array_lit(p, CT_NO_RANGE, i, NULL, 0),
           *partials = ct_core_array_lit(p, CT_NO_RANGE, d, NULL, 0);
    CtCore *parts[] = {ids, partials};
    CtGlobal *global = ct_core_global_new(p, name, t, CT_NO_RANGE);
    global->body = ct_core_con(p, CT_NO_RANGE, &t->data->cons[0], parts, 2);
    return global;
}

static int setup(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    f->arena = ct_arena_new(0);
    ct_context_init(&f->context, f->arena);
    CtProgram *p = f->p = ct_core_program_new(&f->context);
    CtCon bools[] = {{.name = sym(f, "False")}, {.name = sym(f, "True")}};
    p->bool_type = data(f, "Bool", bools, 2, NULL);
    CtType *string = ct_core_type_data(p, sym(f, "[]"), &p->char_type, 1, false);
    CtType *fields[] = {p->char_type, string};
    CtCon chars[] = {{.name = sym(f, "[]")}, {.name = sym(f, ":"), .count = 2, .fields = fields}};
    p->string_type = data(f, "[]", chars, 2, string);
    f->list = ct_core_type_data(p, sym(f, "[]"), &p->double_type, 1, false);
    CtType *real_fields[] = {p->double_type, f->list};
    CtCon reals[] = {{.name = sym(f, "[]")}, {.name = sym(f, ":"), .count = 2, .fields = real_fields}};
    data(f, "[]", reals, 2, f->list);
    f->nil = &f->list->data->cons[0];
    f->cons = &f->list->data->cons[1];
    f->reals = ct_core_type_array(p, p->double_type);
    CtType *tape_fields[] = {ct_core_type_array(p, p->int_type), f->reals};
    CtCon tape[] = {{.name = sym(f, "Tape"), .count = 2, .fields = tape_fields}};
    f->tape = data(f, "Tape", tape, 1, NULL);
    p->library = library;
    p->library_data = f;
    *state = f;
    return 0;
}

static int teardown(void **state) {
    Fixture *f = *state;
    ct_arena_free(f->arena);
    free(f);
    return 0;
}

#define S CT_NO_RANGE

static CtCore *var(Fixture *f, CtVar *v) { return ct_core_var(f->p, S, v); }
static CtCore *num(Fixture *f, double v) { return ct_core_double(f->p, S, v); }
static CtCore *mul(Fixture *f, CtCore *a, CtCore *b) { return ct_core_prim2(f->p, S, PRIM_MUL, a, b); }
static CtCore *add(Fixture *f, CtCore *a, CtCore *b) { return ct_core_prim2(f->p, S, PRIM_ADD, a, b); }
static CtCore *lam1(Fixture *f, CtVar *x, CtCore *body) { return ct_core_lam(f->p, S, NULL, &x, 1, body); }
static CtCore *app1(Fixture *f, CtCore *g, CtCore *x) { return ct_core_app(f->p, S, g, &x, 1); }
static CtCore *array(Fixture *f, CtArrayOp op, CtCore *a, CtCore *b, CtCore *c) {
    CtCore *args[] = {a, b, c};
    return ct_core_array(f->p, S, op, args, c ? 3 : b ? 2 : 1);
}
static CtCore *deriv(Fixture *f, CtDerivOp op, CtCore *g, CtCore *x, CtCore *dx) {
    CtCore *args[] = {g, x, dx};
    return ct_core_deriv(f->p, S, op, args, dx ? 3 : x ? 2 : 1);
}
/* snd (jvp g x 1) */
static CtCore *diff(Fixture *f, CtCore *g, CtCore *x) {
    return ct_core_proj(f->p, S, deriv(f, DERIV_JVP, g, x, num(f, 1)), 1);
}
/* The cotangent of g at x for 1. */
static CtCore *grad(Fixture *f, CtCore *g, CtCore *x) {
    CtType *types[] = {ct_core_type_fun_result(g->type),
                       ct_core_type_fun(f->p, (CtType *[]){ct_core_type_fun_result(g->type)}, 1, x->type)};
    CtVar *vars[] = {NULL, ct_core_var_new(f->p, "pullback", types[1])};
    CtCore *call = app1(f, var(f, vars[1]), num(f, 1));
    return ct_core_unpack(f->p, S, vars, 2, deriv(f, DERIV_VJP, g, x, NULL), call);
}

static CtGlobal *define(Fixture *f, const char *name, CtCore *body) {
    CtGlobal *global = ct_core_global_new(f->p, name, body->type, S);
    global->body = body;
    return global;
}

static void print_all(Fixture *f) {
    CtText text = ct_text(f->arena);
    for (uint32_t i = 0; i < f->p->globals.count; i++) {
        ct_core_print_global(&text, f->p, f->p->globals.items[i]);
        ct_text_putc(&text, '\n');
    }
    puts(text.data);
}

/* Lints what was built, expands it, and lints the result. */
static CtAd *expand(Fixture *f, CtMethod reverse) {
    const char *wrong = ct_core_lint(f->p);
    if (wrong) fail_msg("before: %s", wrong);
    CtAd *ad = ct_ad_new(f->p, reverse);
    ct_ad_expand(ad);
    wrong = ct_core_lint(f->p);
    if (wrong || getenv("AD_PRINT")) print_all(f);
    if (wrong) fail_msg("after: %s", wrong);
    assert_int_equal(f->context.error_count, 0);
    return ad;
}

static void lint_dual(Fixture *f, CtAd *ad, CtLam *lam, CtMethod method, const CtMethod *path, uint32_t count) {
    CtDualPath dual = {.method = method, .path = (CtMethod *)path, .count = count};
    CtLam *made = ct_ad_dual(ad, lam, &dual);
    assert_non_null(made);
    assert_ptr_equal(made, ct_ad_dual(ad, lam, &dual));
    CtGlobal *holder = define(f, "holder", made->node);
    const char *wrong = ct_core_lint(f->p);
    if (wrong || getenv("AD_PRINT")) print_all(f);
    if (wrong) fail_msg("dual: %s", wrong);
    holder->body = num(f, 0);
    holder->type = f->p->double_type;
}

/* x·sin x + 2, with a let, a branch and a call. */
static CtCore *sample(Fixture *f) {
    CtProgram *p = f->p;
    CtVar *x = ct_core_var_new(p, "x", p->double_type), *y = ct_core_var_new(p, "y", p->double_type);
    CtVar *z = ct_core_var_new(p, "z", p->double_type);
    CtCore *square = lam1(f, z, mul(f, var(f, z), var(f, z)));
    CtCore *test = ct_core_prim2(p, S, PRIM_LT, mul(f, var(f, x), num(f, 2)), num(f, 0));
    CtCore *branch = ct_core_if(p, S, test, app1(f, square, var(f, y)), add(f, var(f, y), num(f, 2)));
    CtCore *body =
        ct_core_let(p, S, y, mul(f, var(f, x), ct_core_prim1(p, S, PRIM_SIN, var(f, x))), add(f, branch, num(f, 1)));
    return lam1(f, x, body);
}

static void scalar_functions(void **state) {
    Fixture *f = *state;
    define(f, "d", diff(f, sample(f), num(f, 3)));
    define(f, "g", grad(f, sample(f), num(f, 3)));
    expand(f, METHOD_TAPE);
}

static void reverse_by_forward(void **state) {
    Fixture *f = *state;
    define(f, "g", grad(f, sample(f), num(f, 3)));
    expand(f, METHOD_FORWARD);
}

static void forward_by_reverse(void **state) {
    Fixture *f = *state;
    CtAd *ad = expand(f, METHOD_TAPE);
    define(f, "j", ct_ad_jvp_by(ad, METHOD_TAPE, S, sample(f), num(f, 3), num(f, 1)));
    assert_null(ct_core_lint(f->p));
}

/* A function of a list, recursive, through a case. */
static CtCore *product_of_list(Fixture *f) {
    CtProgram *p = f->p;
    CtType *type = ct_core_type_fun(p, &f->list, 1, p->double_type);
    CtVar *go = ct_core_var_new(p, "go", type), *xs = ct_core_var_new(p, "xs", f->list),
          *all = ct_core_var_new(p, "all", f->list);
    CtVar *head = ct_core_var_new(p, "h", p->double_type), *rest = ct_core_var_new(p, "t", f->list);
    CtVar *fields[] = {head, rest};
    CtCase cases[] = {{f->nil, NULL, num(f, 1)},
                      {f->cons, fields, mul(f, var(f, head), app1(f, var(f, go), var(f, rest)))}};
    CtCore *body = ct_core_case(p, S, p->double_type, var(f, xs), cases, 2, NULL);
    CtBind bind = {go, lam1(f, xs, body)};
    return lam1(f, all, ct_core_letrec(p, S, &bind, 1, app1(f, var(f, go), var(f, all))));
}

static void recursive_data(void **state) {
    Fixture *f = *state;
    CtCore *none = ct_core_con(f->p, S, f->nil, NULL, 0);
    CtCore *cell[] = {num(f, 2), none};
    CtCore *list = ct_core_con(f->p, S, f->cons, cell, 2);
    define(f, "list", list);
    CtCore *at = ct_core_global(f->p, S, f->p->globals.items[0]);
    define(f, "g", grad(f, product_of_list(f), at));
    CtCore *args[] = {product_of_list(f), at, at};
    define(f, "j", ct_core_deriv(f->p, S, DERIV_JVP, args, 3));
    define(f, "b", deriv(f, DERIV_BASIS, at, NULL, NULL));
    expand(f, METHOD_TAPE);
}

/* λxs. every array operation that takes a function or is numeric, with steps that touch the tape */
static CtCore *over_arrays(Fixture *f) {
    CtProgram *p = f->p;
    CtType *d = p->double_type;
    CtVar *xs = ct_core_var_new(p, "xs", f->reals);
    CtVar *a[8], *b[8];
    for (int i = 0; i < 8; i++) a[i] = ct_core_var_new(p, "a", d), b[i] = ct_core_var_new(p, "b", d);
    CtVar *n = ct_core_var_new(p, "n", p->int_type);
    CtCore *steps[8];
    for (int i = 0; i < 8; i++)
        steps[i] = ct_core_lam(p, S, NULL, (CtVar *[]){a[i], b[i]}, 2, mul(f, var(f, a[i]), var(f, b[i])));
    CtVar *c = ct_core_var_new(p, "c", d), *acc = ct_core_var_new(p, "acc", d), *e = ct_core_var_new(p, "e", d);
    CtCore *sum = array(f, ARRAY_SUM, array(f, ARRAY_MAP, lam1(f, c, mul(f, var(f, c), var(f, c))), var(f, xs), NULL),
                        NULL, NULL);
    CtCore *fold =
        array(f, ARRAY_FOLDL, steps[0], num(f, 1), array(f, ARRAY_ZIP_WITH, steps[1], var(f, xs), var(f, xs)));
    CtCore *scan = array(f, ARRAY_MAXIMUM, array(f, ARRAY_SCANL, steps[2], sum, var(f, xs)), NULL, NULL);
    CtCore *scan1 = array(f, ARRAY_PRODUCT, array(f, ARRAY_SCAN, steps[3], num(f, 1), var(f, xs)), NULL, NULL);
    CtCore *reduced = array(f, ARRAY_REDUCE, steps[4], num(f, 1), var(f, xs));
    CtCore *element = array(f, ARRAY_INDEX, var(f, xs), var(f, n), NULL);
    CtCore *built = array(f, ARRAY_BUILD, array(f, ARRAY_LENGTH, var(f, xs), NULL, NULL),
                          lam1(f, n, mul(f, element, num(f, 2))), NULL);
    CtCore *pair = ct_core_pair(p, S, mul(f, var(f, acc), var(f, e)), var(f, acc));
    CtCore *carried =
        array(f, ARRAY_MAP_ACCUM, ct_core_lam(p, S, NULL, (CtVar *[]){acc, e}, 2, pair), num(f, 1), built);
    CtVar *s = ct_core_var_new(p, "s", d), *ys = ct_core_var_new(p, "ys", f->reals);
    CtCore *least = array(f, ARRAY_INDEX, var(f, ys), array(f, ARRAY_ARGMIN, var(f, ys), NULL, NULL), NULL);
    CtCore *last = ct_core_unpack(p, S, (CtVar *[]){s, ys}, 2, carried, add(f, var(f, s), least));
    CtCore *numbers[] = {ct_core_int(p, S, 1), ct_core_int(p, S, 0)}, *one[] = {num(f, 1)};
    CtCore *rows[3];
    for (int i = 0; i < 3; i++) rows[i] = ct_core_array_lit(p, S, p->int_type, numbers, 2);
    CtCore *gathered = array(f, ARRAY_GATHER_OR, ct_core_array_lit(p, S, d, one, 1), rows[0], var(f, xs));
    CtCore *selected = array(f, ARRAY_SELECT, rows[1], var(f, xs), gathered);
    CtCore *scattered = array(f, ARRAY_SCATTER_ADD, ct_core_int(p, S, 2), rows[2], selected);
    CtCore *sums = array(f, ARRAY_SUM_ROWS, ct_core_int(p, S, 1), scattered, NULL);
    CtCore *flat = array(f, ARRAY_INDEX, sums, ct_core_int(p, S, 0), NULL);
    return lam1(f, xs, add(f, fold, add(f, scan, add(f, scan1, add(f, reduced, add(f, last, flat))))));
}

static void array_operations(void **state) {
    Fixture *f = *state;
    CtCore *items[] = {num(f, 1), num(f, 2)};
    define(f, "at", ct_core_array_lit(f->p, S, f->p->double_type, items, 2));
    CtCore *at = ct_core_global(f->p, S, f->p->globals.items[0]);
    define(f, "g", grad(f, over_arrays(f), at));
    CtCore *args[] = {over_arrays(f), at, at};
    define(f, "j", ct_core_deriv(f->p, S, DERIV_JVP, args, 3));
    expand(f, METHOD_TAPE);
}

/* d/dx (x · d/dy (x·y)): the inner function captures the outer variable. */
static CtCore *nested(Fixture *f, CtCore *derive(Fixture *, CtCore *, CtCore *)) {
    CtProgram *p = f->p;
    CtVar *x = ct_core_var_new(p, "x", p->double_type), *y = ct_core_var_new(p, "y", p->double_type);
    CtCore *inner = derive(f, lam1(f, y, mul(f, var(f, x), var(f, y))), num(f, 1));
    return lam1(f, x, mul(f, var(f, x), inner));
}

static void nested_derivatives(void **state) {
    Fixture *f = *state;
    define(f, "ff", diff(f, nested(f, diff), num(f, 1)));
    define(f, "fr", diff(f, nested(f, grad), num(f, 1)));
    define(f, "rf", grad(f, nested(f, diff), num(f, 1)));
    define(f, "rr", grad(f, nested(f, grad), num(f, 1)));
    expand(f, METHOD_TAPE);
}

static void triply_nested_arrays(void **state) {
    Fixture *f = *state;
    CtProgram *p = f->p;
    CtVar *xs = ct_core_var_new(p, "xs", f->reals), *ys = ct_core_var_new(p, "ys", f->reals);
    CtCore *inner = lam1(f, ys, array(f, ARRAY_SUM, grad(f, over_arrays(f), var(f, ys)), NULL, NULL));
    CtCore *outer = lam1(f, xs, array(f, ARRAY_SUM, grad(f, inner, var(f, xs)), NULL, NULL));
    CtCore *items[] = {num(f, 1), num(f, 2)};
    define(f, "at", ct_core_array_lit(p, S, p->double_type, items, 2));
    define(f, "g", grad(f, outer, ct_core_global(p, S, p->globals.items[0])));
    expand(f, METHOD_TAPE);
}

/* newton g = λx. x − diff g x, for a g that is not known: it stays a DUAL. */
static void unknown_functions(void **state) {
    Fixture *f = *state;
    CtProgram *p = f->p;
    CtType *fun = ct_core_type_fun(p, &p->double_type, 1, p->double_type);
    CtVar *g = ct_core_var_new(p, "g", fun), *x = ct_core_var_new(p, "x", p->double_type),
          *k = ct_core_var_new(p, "k", p->double_type);
    CtCore *step = lam1(f, x, add(f, var(f, x), diff(f, var(f, g), grad(f, var(f, g), var(f, x)))));
    CtGlobal *newton = define(f, "newton", ct_core_lam(p, S, "newton", &g, 1, step));
    CtVar *y = ct_core_var_new(p, "y", p->double_type);
    CtCore *h = lam1(f, y, mul(f, var(f, y), var(f, k)));
    CtCore *made = app1(f, ct_core_global(p, S, newton), h);
    define(f, "main", grad(f, lam1(f, k, app1(f, made, var(f, k))), num(f, 2)));
    CtAd *ad = expand(f, METHOD_TAPE);
    CtLam *lam = h->as.lam;
    lint_dual(f, ad, lam, METHOD_FORWARD, NULL, 0);
    lint_dual(f, ad, lam, METHOD_TAPE, NULL, 0);
    CtDualPath tape = {.method = METHOD_TAPE};
    /* The λ that the transformed code holds, as the evaluator meets it. */
    CtLam *closed = ct_ad_dual(ad, lam, &tape);
    CtCore *body = closed->body;
    while (body->kind == CORE_LET) body = body->as.let.body;
    assert_int_equal(body->kind, CORE_LAM);
    assert_ptr_equal(body->as.lam->origin, lam);
    assert_int_equal(body->as.lam->capture_count, lam->capture_count);
    lint_dual(f, ad, body->as.lam, METHOD_FORWARD, (CtMethod[]){METHOD_TAPE}, 1);
    lint_dual(f, ad, body->as.lam, METHOD_TAPE, (CtMethod[]){METHOD_TAPE}, 1);
    CtLam *again = newton->body->as.lam->body->as.lam; /* captures a function */
    lint_dual(f, ad, again, METHOD_TAPE, NULL, 0);
    lint_dual(f, ad, again, METHOD_FORWARD, NULL, 0);
}

/* A function that differentiates itself: unfolding it ends. */
static void recursion_through_derivatives(void **state) {
    Fixture *f = *state;
    CtProgram *p = f->p;
    CtType *types[] = {p->int_type, p->double_type};
    CtGlobal *nth = ct_core_global_new(p, "nth", ct_core_type_fun(p, types, 2, p->double_type), S);
    CtVar *n = ct_core_var_new(p, "n", p->int_type), *x = ct_core_var_new(p, "x", p->double_type),
          *y = ct_core_var_new(p, "y", p->double_type);
    CtCore *less[] = {ct_core_prim2(p, S, PRIM_INT_ADD, var(f, n), ct_core_int(p, S, -1)), var(f, y)};
    CtCore *call = ct_core_app(p, S, ct_core_global(p, S, nth), less, 2);
    CtCore *zero = ct_core_prim2(p, S, PRIM_INT_EQ, var(f, n), ct_core_int(p, S, 0));
    CtCore *body = ct_core_if(p, S, zero, mul(f, var(f, x), var(f, x)), diff(f, lam1(f, y, call), var(f, x)));
    nth->body = ct_core_lam(p, S, "nth", (CtVar *[]){n, x}, 2, body);
    CtAd *ad = expand(f, METHOD_TAPE);
    CtGlobal *once = ct_ad_global(ad, METHOD_FORWARD, nth);
    CtGlobal *twice = ct_ad_global(ad, METHOD_TAPE, once);
    assert_ptr_equal(twice->origin, once);
    assert_null(ct_core_lint(p));
    assert_true(p->globals.count < 40);
}

static void functions_cannot_be_arguments(void **state) {
    Fixture *f = *state;
    CtProgram *p = f->p;
    CtType *fun = ct_core_type_fun(p, &p->double_type, 1, p->double_type);
    CtVar *x = ct_core_var_new(p, "x", p->double_type), *y = ct_core_var_new(p, "y", p->double_type);
    CtCore *curried = lam1(f, x, lam1(f, y, mul(f, var(f, x), var(f, y))));
    define(f, "main", ct_core_proj(p, S, deriv(f, DERIV_VJP, curried, num(f, 1), NULL), 0));
    assert_ptr_equal(f->p->globals.items[0]->type, fun);
    ct_ad_expand(ct_ad_new(p, METHOD_TAPE));
    assert_int_equal(f->context.error_count, 1);
    assert_int_equal(f->context.diags->code, CT_E0401);
}

static void length_of_the_trace(void **state) {
    Fixture *f = *state;
    CtGlobal *function = define(f, "f", sample(f));
    CtAd *ad = expand(f, METHOD_TAPE);
    CtGlobal *trace = ct_ad_trace(ad, METHOD_TAPE, function);
    assert_non_null(trace);
    assert_ptr_equal(ct_core_type_fun_result(trace->type), f->p->int_type);
    assert_null(ct_core_lint(f->p));
    assert_null(ct_ad_trace(ad, METHOD_FORWARD, function));
}

static void methods_by_name(void **state) {
    (void)state;
    CtMethod method;
    assert_true(ct_ad_method_find("tape", &method));
    assert_int_equal(method, METHOD_TAPE);
    assert_string_equal(ct_core_method_name(METHOD_FORWARD), "forward");
    assert_false(ct_ad_method_find("taper", &method));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(scalar_functions),
        TEST(reverse_by_forward),
        TEST(forward_by_reverse),
        TEST(recursive_data),
        TEST(array_operations),
        TEST(nested_derivatives),
        TEST(triply_nested_arrays),
        TEST(unknown_functions),
        TEST(recursion_through_derivatives),
        TEST(functions_cannot_be_arguments),
        TEST(length_of_the_trace),
        TEST(methods_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
