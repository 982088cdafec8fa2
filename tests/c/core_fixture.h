/* A program to build Core in, with Bool and [Char], and short names for its constructors. For the tests of Core. */
#ifndef CT_TESTS_CORE_FIXTURE_H
#define CT_TESTS_CORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "core/build.h"

typedef struct Fixture {
    CtArena *arena;
    CtContext context;
    CtProgram *p;
    CtType *real, *integer, *boolean, *list; /* Double, Int, Bool, [Double] */
    CtCon *nil, *cons;
} Fixture;

static CtType *fixture_data(CtProgram *p, const char *name, CtType **args, uint32_t arg_count) {
    return ct_core_type_data(p, ct_intern_text(&p->context->symbols, name), args, arg_count, false);
}

static CtType *fixture_list(CtProgram *p, CtType *element) {
    CtType *list = fixture_data(p, "[]", &element, 1);
    CtType *fields[] = {element, list};
    CtCon cons[2] = {{.name = ct_intern_text(&p->context->symbols, "[]")},
                     {.name = ct_intern_text(&p->context->symbols, ":"), .count = 2, .fields = fields}};
    ct_core_data_set_cons(p, list->data, cons, 2);
    return list;
}

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    f->arena = ct_arena_new(0);
    ct_context_init(&f->context, f->arena);
    CtProgram *p = f->p = ct_core_program_new(&f->context);
    f->real = ct_core_type_double(p);
    f->integer = ct_core_type_int(p);
    p->bool_type = f->boolean = fixture_data(p, "Bool", NULL, 0);
    CtCon bools[2] = {{.name = ct_intern_text(&f->context.symbols, "False")},
                      {.name = ct_intern_text(&f->context.symbols, "True")}};
    ct_core_data_set_cons(p, f->boolean->data, bools, 2);
    p->string_type = fixture_list(p, ct_core_type_char(p));
    f->list = fixture_list(p, f->real);
    f->nil = &f->list->data->cons[0];
    f->cons = &f->list->data->cons[1];
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    ct_arena_free(f->arena);
    free(f);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- short names ---- */

#define AT       CT_NO_RANGE
#define COUNT(a) ((uint32_t)(sizeof(a) / sizeof *(a)))

static inline CtVar *variable(Fixture *f, const char *name, CtType *type) { return ct_core_var_new(f->p, name, type); }
static inline CtCore *var(Fixture *f, CtVar *v) { return ct_core_var(f->p, AT, v); }
static inline CtCore *num(Fixture *f, double value) { return ct_core_double(f->p, AT, value); }
static inline CtCore *whole(Fixture *f, int64_t value) { return ct_core_int(f->p, AT, value); }
static inline CtCore *op(Fixture *f, CtPrim prim, CtCore *a, CtCore *b) { return ct_core_prim2(f->p, AT, prim, a, b); }
static inline CtCore *let(Fixture *f, CtVar *v, CtCore *rhs, CtCore *body) {
    return ct_core_let(f->p, AT, v, rhs, body);
}
static inline CtCore *lam1(Fixture *f, CtVar *v, CtCore *body) { return ct_core_lam(f->p, AT, NULL, &v, 1, body); }
static inline CtCore *app1(Fixture *f, CtCore *fun, CtCore *arg) { return ct_core_app(f->p, AT, fun, &arg, 1); }
static inline CtCore *pair(Fixture *f, CtCore *a, CtCore *b) { return ct_core_pair(f->p, AT, a, b); }
static inline CtCore *failure(Fixture *f, CtType *type, const char *text) {
    return ct_core_fail(f->p, AT, type, CT_E0503, text, NULL);
}
static inline CtCore *list(Fixture *f, CtCore *head, CtCore *tail) {
    CtCore *args[] = {head, tail};
    return ct_core_con(f->p, AT, f->cons, args, 2);
}
static inline CtCore *empty(Fixture *f) { return ct_core_con(f->p, AT, f->nil, NULL, 0); }
/* case scrutinee of { [] → none; x : xs → some } */
static inline CtCore *case_list(Fixture *f, CtCore *scrutinee, CtCore *none, CtVar *x, CtVar *xs, CtCore *some) {
    CtVar *vars[] = {x, xs};
    CtCase cases[] = {{f->nil, NULL, none}, {f->cons, vars, some}};
    return ct_core_case(f->p, AT, none->type, scrutinee, cases, 2, NULL);
}

static inline CtGlobal *global(Fixture *f, const char *name, CtCore *body) {
    CtGlobal *g = ct_core_global_new(f->p, name, body->type, AT);
    g->body = body;
    return g;
}

static inline const char *print(Fixture *f, CtCore *core) {
    CtText text = ct_text(f->arena);
    ct_core_print(&text, f->p, core);
    return text.data;
}

static inline const char *print_type(Fixture *f, CtType *type) {
    CtText text = ct_text(f->arena);
    ct_core_type_print(&text, type);
    return text.data;
}

static inline const char *print_global(Fixture *f, CtGlobal *g) {
    CtText text = ct_text(f->arena);
    ct_core_print_global(&text, f->p, g);
    return text.data;
}

#endif
