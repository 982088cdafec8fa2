/* Operations on arrays in lazy programs: the elements are cells, which the functions of map, zipWith and build make. A
 * fold evaluates its accumulator at each element. */
#include "core/build.h"
#include "core/lazy.h"

/* A function argument of an array operation: its parameters as values, where the bit is set, and its result as a value
 * or as a cell. */
static CtCore *element_function(CtLazy *l, CtCore *f, uint32_t values, bool in_cell) {
    uint32_t count = f->type->count - 1;
    CtVar **params = CT_NEW_ARRAY(l->arena, CtVar *, count);
    if (f->kind == CORE_LAM) {
        for (uint32_t i = 0; i < count; i++) params[i] = ct_core_lazy_bind(l, f->as.lam->params[i], !(values >> i & 1));
        CtCore *body = in_cell ? ct_core_lazy_cell(l, f->as.lam->body) : ct_core_lazy_value(l, f->as.lam->body);
        return ct_core_lam(l->p, f->range, f->as.lam->name, params, count, body);
    }
    CtCore **args = CT_NEW_ARRAY(l->arena, CtCore *, count), *callee = ct_core_lazy_value(l, f);
    CtVar *fun = ct_core_var_new(l->p, "f", callee->type);
    for (uint32_t i = 0; i < count; i++) {
        CtType *type = values >> i & 1 ? ct_core_lazy_value_type(l, f->type->parts[i])
                                       : ct_core_lazy_cell_type(l, f->type->parts[i]);
        params[i] = ct_core_var_new(l->p, "x", type);
        args[i] = ct_core_var(l->p, f->range, params[i]);
        if ((values >> i & 1) && !ct_core_lazy_has_no_cell(f->type->parts[i]))
            args[i] = ct_core_lazy_known(l, f->range, args[i]);
    }
    CtCore *call = ct_core_app(l->p, f->range, ct_core_var(l->p, f->range, fun), args, count);
    bool wraps = in_cell && !ct_core_lazy_has_no_cell(f->type->parts[count]);
    CtCore *lam =
        ct_core_lam(l->p, f->range, NULL, params, count, wraps ? ct_core_lazy_delayed(l, f->range, call) : call);
    return ct_core_let(l->p, f->range, fun, callee, lam);
}

/* Behind a fold, the accumulator is a cell of a value. */
static CtCore *known_results(CtLazy *l, CtCore *f) {
    uint32_t count = f->type->count - 1;
    CtVar **params = CT_NEW_ARRAY(l->arena, CtVar *, count);
    CtCore **args = CT_NEW_ARRAY(l->arena, CtCore *, count), *callee = ct_core_lazy_value(l, f);
    CtVar *fun = ct_core_var_new(l->p, "f", callee->type);
    for (uint32_t i = 0; i < count; i++) {
        params[i] = ct_core_var_new(l->p, "x", callee->type->parts[i]);
        args[i] = ct_core_var(l->p, f->range, params[i]);
    }
    CtCore *call = ct_core_app(l->p, f->range, ct_core_var(l->p, f->range, fun), args, count);
    CtCore *lam = ct_core_lam(l->p, f->range, NULL, params, count, ct_core_lazy_known(l, f->range, call));
    return ct_core_let(l->p, f->range, fun, callee, lam);
}

/* With values in place of the elements' cells, or the converse. */
static CtCore *map_cells(CtLazy *l, CtCore *array, bool forced) {
    CtVar *x = ct_core_var_new(l->p, "x", array->type->parts[0]);
    CtCore *body = ct_core_var(l->p, array->range, x);
    body = forced ? ct_core_lazy_force(l, body) : ct_core_lazy_known(l, array->range, body);
    CtCore *args[2] = {ct_core_lam(l->p, array->range, NULL, &x, 1, body), array};
    return ct_core_array(l->p, array->range, ARRAY_MAP, args, 2);
}

/* Operations on arrays of numbers, which are evaluated as a whole. */
static CtCore *whole_operation(CtLazy *l, CtCore *e) {
    CtCore **args = ct_core_lazy_strict_args(l, e);
    CtCore *made = ct_core_array(l->p, e->range, e->as.call.of.array, args, e->as.call.count);
    return ct_core_lazy_convert(l, e->range, e->type, made, false);
}

/* The state is in a cell, and the array of the result is, too. */
static CtCore *map_accumulate(CtLazy *l, CtCore *e) {
    CtCore **old = e->as.call.args;
    CtCore *function = ct_core_lazy_value(l, old[0]), *state = ct_core_lazy_cell(l, old[1]),
           *args[3] = {function, state, ct_core_lazy_value(l, old[2])};
    CtCore *made = ct_core_array(l->p, e->range, ARRAY_MAP_ACCUM, args, 3);
    CtVar *vars[2];
    for (uint32_t i = 0; i < 2; i++) vars[i] = ct_core_var_new(l->p, "x", made->type->parts[i]);
    CtCore *parts[2] = {ct_core_var(l->p, e->range, vars[0]),
                        ct_core_lazy_known(l, e->range, ct_core_var(l->p, e->range, vars[1]))};
    return ct_core_unpack(l->p, e->range, vars, 2, made, ct_core_tuple(l->p, e->range, parts, 2));
}

CtCore *ct_core_lazy_array(CtLazy *l, CtCore *e) {
    CtCore **old = e->as.call.args, *a[3] = {NULL};
    CtArrayOp op = e->as.call.of.array;
    uint32_t count = e->as.call.count;
    bool unpack = false, pack = false;
    switch (op) {
    case ARRAY_INDEX: unpack = !ct_core_lazy_has_no_cell(e->type); break;
    case ARRAY_LENGTH:
    case ARRAY_REVERSE:
    case ARRAY_APPEND:
    case ARRAY_SLICE: break;
    case ARRAY_BUILD: a[1] = element_function(l, old[1], 1, true); break;
    case ARRAY_MAP:
    case ARRAY_ZIP_WITH: a[0] = element_function(l, old[0], 0, true); break;
    case ARRAY_FOLDL: a[0] = element_function(l, old[0], 1, false); break;
    case ARRAY_SCANL:
    case ARRAY_SCAN: a[0] = known_results(l, old[0]), a[1] = ct_core_lazy_cell(l, old[1]); break;
    case ARRAY_REDUCE: a[0] = known_results(l, old[0]), a[1] = ct_core_lazy_cell(l, old[1]), unpack = true; break;
    case ARRAY_SUM:
    case ARRAY_PRODUCT:
    case ARRAY_MAXIMUM:
    case ARRAY_MINIMUM:
    case ARRAY_ARGMAX:
    case ARRAY_ARGMIN: a[0] = map_cells(l, ct_core_lazy_value(l, old[0]), true); break;
    case ARRAY_REPLICATE: a[1] = ct_core_lazy_cell(l, old[1]); break;
    case ARRAY_IOTA: pack = true; break;
    case ARRAY_GATHER: a[1] = map_cells(l, ct_core_lazy_value(l, old[1]), true); break;
    case ARRAY_CONCAT: a[0] = map_cells(l, ct_core_lazy_value(l, old[0]), true); break;
    case ARRAY_TRANSPOSE: a[0] = map_cells(l, ct_core_lazy_value(l, old[0]), true), pack = true; break;
    case ARRAY_RESHAPE: pack = true; break;
    case ARRAY_UPDATE: a[2] = ct_core_lazy_cell(l, old[2]); break;
    case ARRAY_SNOC: a[1] = ct_core_lazy_cell(l, old[1]); break;
    case ARRAY_MAP_ACCUM: return map_accumulate(l, e);
    case ARRAY_SHAPE:
    case ARRAY_STRIDED:
    case ARRAY_GATHER_OR:
    case ARRAY_SCATTER_ADD:
    case ARRAY_ADD_AT:
    case ARRAY_SUM_ROWS:
    case ARRAY_SELECT:
    case CT_ARRAY_OP_COUNT: return whole_operation(l, e);
    }
    for (uint32_t i = 0; i < count; i++)
        if (a[i] == NULL) a[i] = ct_core_lazy_value(l, old[i]);
    CtCore *made = ct_core_array(l->p, e->range, op, a, count);
    if (unpack) return ct_core_lazy_force(l, made);
    return pack ? map_cells(l, made, false) : made;
}
