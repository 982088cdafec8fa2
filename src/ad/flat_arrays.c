/* Definitions of the operations on flat arrays by other operations. Those that add reals are differentiated through
 * these definitions, and all are compiled to native code through them. */
#include "ad/internal.h"

typedef struct Write {
    CtProgram *p;
    CtSourceRange range;
} Write;

static CtCore *var(const Write *w, CtVar *v) { return ct_core_var(w->p, w->range, v); }
static CtCore *whole(const Write *w, int64_t value) { return ct_core_int(w->p, w->range, value); }
static CtCore *op(const Write *w, CtPrim prim, CtCore *a, CtCore *b) {
    return ct_core_prim2(w->p, w->range, prim, a, b);
}

static CtCore *array(const Write *w, CtArrayOp of, CtCore *a, CtCore *b, CtCore *c) {
    CtCore *args[3] = {a, b, c};
    return ct_core_array(w->p, w->range, of, args, c != NULL ? 3 : b != NULL ? 2 : 1);
}

static CtCore *item(const Write *w, CtVar *xs, CtCore *at) { return array(w, ARRAY_INDEX, var(w, xs), at, NULL); }

static CtCore *length(const Write *w, CtVar *xs) { return array(w, ARRAY_LENGTH, var(w, xs), NULL, NULL); }

static CtCore *lambda(const Write *w, CtVar *a, CtVar *b, CtCore *body) {
    CtVar *params[2] = {a, b};
    return ct_core_lam(w->p, w->range, NULL, params, b != NULL ? 2 : 1, body);
}

static CtCore *let(const Write *w, CtVar *v, CtCore *rhs, CtCore *body) {
    return ct_core_let(w->p, w->range, v, rhs, body);
}

static CtCore *plus(const Write *w, CtCore *a, CtCore *b) {
    return op(w, ct_ad_is_real(a->type) ? PRIM_ADD : PRIM_INT_ADD, a, b);
}

/* −0, or 0 of integers */
static CtCore *zero(const Write *w, CtType *type) {
    return ct_ad_is_real(type) ? ct_core_real(w->p, w->range, type, -0.0) : whole(w, 0);
}

/* foldl (λs x. s + x) −0 xs */
static CtCore *sum_all(const Write *w, CtType *real, CtCore *xs) {
    CtVar *s = ct_core_var_new(w->p, "s", real), *x = ct_core_var_new(w->p, "x", real);
    CtCore *add = lambda(w, s, x, plus(w, var(w, s), var(w, x)));
    CtCore *sum = array(w, ARRAY_FOLDL, add, zero(w, real), xs);
    return ct_core_array_lit(w->p, w->range, real, &sum, 1);
}

/* let m = … ; xs = … in build m (λj. foldl (λs i. s + xs ! (i m + j)) −0 (iota (length xs / m))) */
static CtCore *sum_rows(const Write *w, CtCore *core) {
    CtType *real = core->type->parts[0], *integer = w->p->int_type;
    const CtCore *size = core->as.call.args[0];
    if (size->kind == CORE_LIT && size->as.lit.integer == 1) return sum_all(w, real, core->as.call.args[1]);
    CtVar *m = ct_core_var_new(w->p, "m", integer), *xs = ct_core_var_new(w->p, "xs", core->type);
    CtVar *j = ct_core_var_new(w->p, "j", integer), *s = ct_core_var_new(w->p, "s", real),
          *i = ct_core_var_new(w->p, "i", integer);
    CtCore *row = op(w, PRIM_INT_MUL, var(w, i), var(w, m));
    CtCore *x = item(w, xs, op(w, PRIM_INT_ADD, row, var(w, j)));
    CtCore *add = lambda(w, s, i, plus(w, var(w, s), x));
    CtCore *count = op(w, PRIM_INT_QUOT, length(w, xs), var(w, m));
    CtCore *rows = array(w, ARRAY_IOTA, count, NULL, NULL);
    CtCore *sum = array(w, ARRAY_FOLDL, add, zero(w, real), rows);
    CtCore *all = array(w, ARRAY_BUILD, var(w, m), lambda(w, j, NULL, sum), NULL);
    return let(w, m, core->as.call.args[0], let(w, xs, core->as.call.args[1], all));
}

/* let n = … ; rows = … ; xs = …
 * in foldl (λys p. let r = rows ! (p / m) in if r < 0 then ys else let j = r m + p mod m in update ys j (ys ! j + xs !
 * p)) (replicate n −0) (iota (length xs))                                         where m = length xs / length rows */
static CtCore *scatter_add(const Write *w, CtCore *core) {
    CtType *real = core->type->parts[0], *integer = w->p->int_type;
    CtCore **args = core->as.call.args;
    CtVar *n = ct_core_var_new(w->p, "n", integer), *rows = ct_core_var_new(w->p, "rows", args[1]->type);
    CtVar *xs = ct_core_var_new(w->p, "xs", core->type), *ys = ct_core_var_new(w->p, "ys", core->type);
    CtVar *p = ct_core_var_new(w->p, "p", integer), *m = ct_core_var_new(w->p, "m", integer);
    CtVar *r = ct_core_var_new(w->p, "r", integer), *j = ct_core_var_new(w->p, "j", integer);
    CtCore *sum = plus(w, item(w, ys, var(w, j)), item(w, xs, var(w, p)));
    CtCore *changed = array(w, ARRAY_UPDATE, var(w, ys), var(w, j), sum);
    CtCore *row = op(w, PRIM_INT_MUL, var(w, r), var(w, m));
    CtCore *column = op(w, PRIM_INT_REM, var(w, p), var(w, m));
    changed = let(w, j, op(w, PRIM_INT_ADD, row, column), changed);
    CtCore *nowhere = op(w, PRIM_INT_LT, var(w, r), whole(w, 0));
    CtCore *turn = ct_core_if(w->p, w->range, nowhere, var(w, ys), changed);
    turn = let(w, r, item(w, rows, op(w, PRIM_INT_QUOT, var(w, p), var(w, m))), turn);
    turn = let(w, m, op(w, PRIM_INT_QUOT, length(w, xs), length(w, rows)), turn);
    CtCore *zeros = array(w, ARRAY_REPLICATE, var(w, n), zero(w, real), NULL);
    CtCore *places = array(w, ARRAY_IOTA, length(w, xs), NULL, NULL);
    CtCore *all = array(w, ARRAY_FOLDL, lambda(w, ys, p, turn), zeros, places);
    return let(w, n, args[0], let(w, rows, args[1], let(w, xs, args[2], all)));
}

/* let ys = … ; is = … ; xs = …
 * in foldl (λzs k. let i = is ! k in if i < 0 then zs else update zs i (zs ! i + xs ! k)) ys (iota (length xs)) */
static CtCore *add_at(const Write *w, CtCore *core) {
    CtType *integer = w->p->int_type;
    CtCore **args = core->as.call.args;
    CtVar *ys = ct_core_var_new(w->p, "ys", core->type), *is = ct_core_var_new(w->p, "is", args[1]->type);
    CtVar *xs = ct_core_var_new(w->p, "xs", core->type), *zs = ct_core_var_new(w->p, "zs", core->type);
    CtVar *k = ct_core_var_new(w->p, "k", integer), *i = ct_core_var_new(w->p, "i", integer);
    CtVar *sum = ct_core_var_new(w->p, "sum", core->type->parts[0]);
    CtCore *changed = array(w, ARRAY_UPDATE, var(w, zs), var(w, i), var(w, sum));
    changed = let(w, sum, plus(w, item(w, zs, var(w, i)), item(w, xs, var(w, k))), changed);
    CtCore *nowhere = op(w, PRIM_INT_LT, var(w, i), whole(w, 0));
    CtCore *turn = let(w, i, item(w, is, var(w, k)), ct_core_if(w->p, w->range, nowhere, var(w, zs), changed));
    CtCore *places = array(w, ARRAY_IOTA, length(w, xs), NULL, NULL);
    CtCore *all = array(w, ARRAY_FOLDL, lambda(w, zs, k, turn), var(w, ys), places);
    return let(w, ys, args[0], let(w, is, args[1], let(w, xs, args[2], all)));
}

/* let xs = … in build n (λp. xs ! (offset + i stride + j stride …)), where p = (i size + j) size + … */
static CtCore *strided(const Write *w, CtCore *core) {
    CtCore *const *view = core->as.call.args[0]->as.call.args;
    uint32_t dimensions = (core->as.call.args[0]->as.call.count - 1) / 2;
    CtVar *xs = ct_core_var_new(w->p, "xs", core->type), *p = ct_core_var_new(w->p, "p", w->p->int_type);
    CtCore *place = view[0], *count = whole(w, 1), *rest = var(w, p);
    for (uint32_t d = dimensions; d-- > 0;) {
        CtCore *size = view[2 * d + 1], *i = d > 0 ? op(w, PRIM_INT_REM, rest, size) : rest;
        place = op(w, PRIM_INT_ADD, place, op(w, PRIM_INT_MUL, i, view[2 * d + 2]));
        if (d > 0) rest = op(w, PRIM_INT_QUOT, rest, size);
        count = op(w, PRIM_INT_MUL, count, size);
    }
    CtCore *all = array(w, ARRAY_BUILD, count, lambda(w, p, NULL, item(w, xs, place)), NULL);
    return let(w, xs, core->as.call.args[1], all);
}

/* let none = … ; rows = … ; xs = … in build (length rows · m) (λp. let r = rows ! (p / m); j = p mod m in if r < 0
 * then none ! j else xs ! (r m + j))                                                          where m = length none */
static CtCore *gather_or(const Write *w, CtCore *core) {
    CtType *integer = w->p->int_type;
    CtCore **args = core->as.call.args;
    CtVar *none = ct_core_var_new(w->p, "none", core->type), *rows = ct_core_var_new(w->p, "rows", args[1]->type);
    CtVar *xs = ct_core_var_new(w->p, "xs", core->type), *p = ct_core_var_new(w->p, "p", integer);
    CtVar *r = ct_core_var_new(w->p, "r", integer), *j = ct_core_var_new(w->p, "j", integer),
          *m = ct_core_var_new(w->p, "m", integer);
    CtCore *nowhere = op(w, PRIM_INT_LT, var(w, r), whole(w, 0));
    CtCore *x = item(w, xs, op(w, PRIM_INT_ADD, op(w, PRIM_INT_MUL, var(w, r), var(w, m)), var(w, j)));
    CtCore *element = ct_core_if(w->p, w->range, nowhere, item(w, none, var(w, j)), x);
    element = let(w, j, op(w, PRIM_INT_REM, var(w, p), var(w, m)), element);
    element = let(w, r, item(w, rows, op(w, PRIM_INT_QUOT, var(w, p), var(w, m))), element);
    CtCore *count = op(w, PRIM_INT_MUL, length(w, rows), var(w, m));
    CtCore *all = array(w, ARRAY_BUILD, count, lambda(w, p, NULL, element), NULL);
    bool is_literal = args[0]->kind == CORE_ARRAY_LIT;
    all = let(w, m, is_literal ? whole(w, args[0]->as.call.count) : length(w, none), all);
    return let(w, none, args[0], let(w, rows, args[1], let(w, xs, args[2], all)));
}

/* zipWith (λ(t, a) b. if t == 0 then b else a) (zipWith (λt a. (t, a)) ts as) bs */
static CtCore *chosen(const Write *w, CtCore *core) {
    CtCore **args = core->as.call.args;
    CtType *element = core->type->parts[0];
    CtVar *t = ct_core_var_new(w->p, "t", w->p->int_type), *a = ct_core_var_new(w->p, "a", element);
    CtVar *b = ct_core_var_new(w->p, "b", element);
    CtCore *pair = ct_core_pair(w->p, w->range, var(w, t), var(w, a));
    CtCore *pairs = array(w, ARRAY_ZIP_WITH, lambda(w, t, a, pair), args[0], args[1]);
    CtVar *ta = ct_core_var_new(w->p, "ta", pair->type);
    CtVar *parts[2] = {ct_core_var_new(w->p, "t", w->p->int_type), ct_core_var_new(w->p, "a", element)};
    CtCore *is_zero = op(w, PRIM_INT_EQ, var(w, parts[0]), whole(w, 0));
    CtCore *choice = ct_core_if(w->p, w->range, is_zero, var(w, b), var(w, parts[1]));
    CtCore *body = ct_core_unpack(w->p, w->range, parts, 2, var(w, ta), choice);
    return array(w, ARRAY_ZIP_WITH, lambda(w, ta, b, body), pairs, args[2]);
}

CtCore *ct_ad_flat_definitions(void *data, CtCore *core) {
    CtProgram *p = data;
    core = ct_core_map(p, core, ct_ad_flat_definitions, p);
    if (core->kind != CORE_ARRAY) return core;
    Write w = {p, core->range};
    CtArrayOp of = core->as.call.of.array;
    if (of == ARRAY_SUM_ROWS) return sum_rows(&w, core);
    if (of == ARRAY_SCATTER_ADD) return scatter_add(&w, core);
    if (of == ARRAY_ADD_AT) return add_at(&w, core);
    if (of == ARRAY_STRIDED && core->as.call.args[0]->kind == CORE_ARRAY_LIT) return strided(&w, core);
    if (of == ARRAY_GATHER_OR) return gather_or(&w, core);
    return of == ARRAY_SELECT ? chosen(&w, core) : core;
}

bool ct_ad_is_flat(const CtCore *core) {
    CtArrayOp of = core->as.call.of.array;
    bool adds = of == ARRAY_SUM_ROWS || of == ARRAY_SCATTER_ADD || of == ARRAY_ADD_AT;
    return adds && ct_ad_is_real(core->type->parts[0]);
}

CtCore *ct_ad_flat(CtProgram *p, CtCore *core) {
    Write w = {p, core->range};
    if (core->as.call.of.array == ARRAY_ADD_AT) return add_at(&w, core);
    return core->as.call.of.array == ARRAY_SUM_ROWS ? sum_rows(&w, core) : scatter_add(&w, core);
}
