/* Arrays in the interpreter: every operation makes a new array, element by element. Messages of failures are those of
 * rt/array.h. */
#include "flow/check/interpret.h"

#pragma GCC diagnostic ignored "-Wunused-function"
#include "rt/array.h"

/* ---- lengths ---- */

static int64_t length_of(CtInterpreter *i, const CtFlowArg *arg, uint32_t dimension) {
    if (!ct_flow_is_object(arg->type)) return ct_flow_interpret_arg(i, arg).integer;
    const CtFlowObject *array = ct_flow_interpret_object(i, arg);
    if (dimension >= array->rank) ct_flow_interpret_wrong(i, "an array has no dimension %u", dimension);
    return array->dims[dimension];
}

/* Number of cells of an element of the outermost dimension. */
static int64_t row_cells(const CtFlowObject *array) {
    int64_t cells = 1;
    for (uint32_t k = 1; k < array->rank; k++) cells *= array->dims[k];
    return array->rank == 0 ? 0 : cells;
}

static CtFlowObject *array_of(CtInterpreter *i, const CtFlowArg *arg) {
    CtFlowObject *array = ct_flow_interpret_object(i, arg);
    if (array->fields != NULL) ct_flow_interpret_wrong(i, "a node stands for an array");
    return array;
}

/* A new array of `length` elements in the shape of those of another array. */
static CtFlowObject *array_like(CtInterpreter *i, const CtFlowType *type, const CtFlowObject *like, int64_t length) {
    int64_t *dims = ct_flow_interpret_memory(i, (like->rank + 1) * sizeof *dims);
    for (uint32_t k = 0; k < like->rank; k++) dims[k] = k == 0 ? length : like->dims[k];
    CtFlowObject *array = ct_flow_interpret_array(i, type, dims);
    ct_flow_interpret_give(i, dims, (like->rank + 1) * sizeof *dims);
    return array;
}

static void check_shape(CtInterpreter *i, const int64_t *dims, const CtFlowObject *other, int64_t index) {
    for (uint32_t k = 0; k < other->rank; k++)
        if (dims[k] != other->dims[k]) ct_shape_fails(&i->failing, 0, index, other->dims[k], dims[k], k > 0);
}

/* ---- rows as they come ---- */

void ct_flow_interpret_add_row(CtInterpreter *i, CtInterpretRows *rows, CtFlowCell value) {
    uint32_t rank = rows->type->rank;
    if (rank > 1 && value.object == NULL) ct_flow_interpret_wrong(i, "a row was not made");
    if (rows->array == NULL) {
        int64_t *dims = ct_flow_interpret_memory(i, rank * sizeof *dims);
        for (uint32_t k = 0; k < rank; k++) dims[k] = k == 0 || rank == 1 ? 0 : value.object->dims[k - 1];
        rows->array = ct_flow_interpret_array(i, rows->type, dims);
        for (uint32_t k = 1; k < rank; k++) rows->array->dims[k] = dims[k];
        ct_flow_interpret_give(i, dims, rank * sizeof *dims);
    }
    if (rank == 1) {
        ct_flow_interpret_put(i, rows->array, value);
    } else {
        check_shape(i, rows->array->dims + 1, value.object, rows->made);
        ct_flow_interpret_copy(i, rows->array, value.object, 0, value.object->count);
        ct_flow_interpret_release(i, value.object);
    }
    rows->array->dims[0] = ++rows->made;
}

CtFlowObject *ct_flow_interpret_rows_done(CtInterpreter *i, CtInterpretRows *rows) {
    static const int64_t none[64] = {0};
    if (rows->array == NULL) return ct_flow_interpret_array(i, rows->type, none);
    /* after a 0 all are 0 */
    for (uint32_t k = 1; k < rows->type->rank; k++)
        if (rows->array->dims[k - 1] == 0) rows->array->dims[k] = 0;
    return rows->array;
}

/* ---- elements ---- */

/* The position of the cell or row at the given indices; each index is checked. */
static int64_t position(CtInterpreter *i, const CtFlowObject *array, const CtFlowArg *indices, uint32_t count,
                        const char *what) {
    int64_t at = 0;
    if (count > array->rank) ct_flow_interpret_wrong(i, "an array %s at too many indices", what);
    for (uint32_t k = 0; k < count; k++) {
        int64_t index = ct_flow_interpret_arg(i, &indices[k]).integer;
        if (index < 0 || index >= array->dims[k])
            ct_flow_interpret_wrong(i, "an array %s at %lld, which is outside of its %lld elements", what,
                                    (long long)index, (long long)array->dims[k]);
        at = at * array->dims[k] + index;
    }
    for (uint32_t k = count; k < array->rank; k++) at *= array->dims[k];
    return at;
}

static CtFlowCell run_read(CtInterpreter *i, const CtFlowStep *step) {
    CtFlowObject *array = array_of(i, &step->args.items[0]);
    uint32_t indices = step->args.count - 1;
    int64_t at = position(i, array, step->args.items + 1, indices, "is read");
    if (indices == array->rank) {
        CtFlowCell cell = array->cells[at];
        if (array->holds_objects && cell.object != NULL) cell.object->claims++;
        return cell;
    }
    CtFlowObject *row = ct_flow_interpret_array(i, step->results.items[0]->type, array->dims + indices);
    ct_flow_interpret_copy(i, row, array, at, row->capacity);
    return (CtFlowCell){.object = row};
}

/* Replaces a row by one of the same shape; the only row of an array may be replaced by one of any shape. */
static CtFlowObject *with_row(CtInterpreter *i, const CtFlowStep *step, CtFlowObject *array, CtFlowObject *row) {
    int64_t index = ct_flow_interpret_arg(i, &step->args.items[1]).integer;
    CtInterpretRows rows = {.type = step->results.items[0]->type};
    if (step->args.count != 3) ct_flow_interpret_wrong(i, "a row is changed at several indices");
    position(i, array, step->args.items + 1, 1, "is changed");
    ct_flow_interpret_at(i, step->range);
    if (array->dims[0] == 1) {
        row->claims++; /* the caller releases it */
        ct_flow_interpret_add_row(i, &rows, (CtFlowCell){.object = row});
        return ct_flow_interpret_rows_done(i, &rows);
    }
    check_shape(i, array->dims + 1, row, index);
    CtFlowObject *result = array_like(i, rows.type, array, array->dims[0]);
    int64_t cells = row_cells(array);
    ct_flow_interpret_copy(i, result, array, 0, index * cells);
    ct_flow_interpret_copy(i, result, row, 0, row->count);
    ct_flow_interpret_copy(i, result, array, (index + 1) * cells, (array->dims[0] - index - 1) * cells);
    return result;
}

static CtFlowCell run_update(CtInterpreter *i, const CtFlowStep *step) {
    CtFlowObject *array = array_of(i, &step->args.items[0]);
    uint32_t indices = step->args.count - 2;
    const CtFlowArg *last = &step->args.items[1 + indices];
    CtFlowCell value = ct_flow_interpret_arg(i, last);
    CtFlowObject *result;
    uint64_t before = i->steps;
    if (indices < array->rank) {
        result = with_row(i, step, array, array_of(i, last));
        ct_flow_interpret_release(i, value.object);
    } else {
        int64_t at = position(i, array, step->args.items + 1, indices, "is changed");
        result = array_like(i, step->results.items[0]->type, array, array->dims[0]);
        ct_flow_interpret_copy(i, result, array, 0, at);
        ct_flow_interpret_put(i, result, value);
        ct_flow_interpret_copy(i, result, array, at + 1, array->count - at - 1);
        ct_flow_interpret_copied(i, array, i->steps - before);
    }
    ct_flow_interpret_release(i, array);
    return (CtFlowCell){.object = result};
}

static CtFlowCell run_snoc(CtInterpreter *i, const CtFlowStep *step) {
    CtFlowObject *array = array_of(i, &step->args.items[0]);
    CtFlowCell value = ct_flow_interpret_arg(i, &step->args.items[1]);
    CtInterpretRows rows = {.type = step->results.items[0]->type};
    ct_flow_interpret_at(i, step->range);
    if (array->rank > 1 && value.object == NULL) ct_flow_interpret_wrong(i, "a row was not made");
    if (array->dims[0] > 0) {
        if (array->rank > 1) check_shape(i, array->dims + 1, value.object, array->dims[0]);
        rows.array = array_like(i, rows.type, array, array->dims[0]);
        rows.made = array->dims[0];
        uint64_t before = i->steps;
        ct_flow_interpret_copy(i, rows.array, array, 0, array->count);
        ct_flow_interpret_copied(i, array, i->steps - before);
    }
    ct_flow_interpret_add_row(i, &rows, value);
    ct_flow_interpret_release(i, array);
    return (CtFlowCell){.object = ct_flow_interpret_rows_done(i, &rows)};
}

static CtFlowCell run_items(CtInterpreter *i, const CtFlowStep *step) {
    CtInterpretRows rows = {.type = step->results.items[0]->type};
    i->range = CT_NO_RANGE;
    for (uint32_t k = 0; k < step->args.count; k++)
        ct_flow_interpret_add_row(i, &rows, ct_flow_interpret_arg(i, &step->args.items[k]));
    return (CtFlowCell){.object = ct_flow_interpret_rows_done(i, &rows)};
}

/* ---- checks ---- */

static void run_check(CtInterpreter *i, const CtFlowStep *step) {
    const CtFlowArg *args = step->args.items;
    ct_run *rt = &i->failing;
    ct_flow_interpret_at(i, step->range);
    if (step->kind == FLOW_CHECK) {
        int64_t length = length_of(i, &args[1], step->as.index);
        ct_check_index(rt, 0, ct_flow_interpret_arg(i, &args[0]).integer, length);
    } else if (step->kind == FLOW_CHECK_SIZE) {
        ct_check_size(rt, 0, ct_core_array_info(step->as.bulk)->name, ct_flow_interpret_arg(i, &args[0]).integer);
    } else if (step->kind == FLOW_CHECK_ZIP) {
        int64_t a = length_of(i, &args[0], 0), b = length_of(i, &args[1], 0);
        ct_check_zip(rt, 0, a, b);
    } else if (step->kind == FLOW_CHECK_SHAPE) {
        const CtFlowObject *first = array_of(i, &args[0]);
        check_shape(i, first->dims, array_of(i, &args[1]), step->as.index);
    } else {
        int64_t start = ct_flow_interpret_arg(i, &args[0]).integer, count = ct_flow_interpret_arg(i, &args[1]).integer;
        int64_t length = length_of(i, &args[2], 0);
        ct_check_size(rt, 0, "slice", count);
        if (start < 0 || start > length || count > length - start) ct_slice_fails(rt, 0, start, count, length);
    }
}

/* ---- reductions, from the left ---- */

static CtFlowCell sum_of(const CtInterpreter *i, const CtFlowObject *array, const CtFlowType *type, bool product) {
    CtFlowCell all = {.integer = product};
    if (type->kind == FLOW_I64) {
        for (int64_t k = 0; k < array->count; k++)
            all.integer = product ? ct_wrap_mul(all.integer, array->cells[k].integer)
                                  : ct_wrap_add(all.integer, array->cells[k].integer);
        return all;
    }
    all.real = product;
    for (int64_t k = 0; k < array->count; k++) {
        long double x = array->cells[k].real;
        if (i->options.wide) {
            all.real = product ? all.real * x : all.real + x;
            continue;
        }
        double next = product ? (double)all.real * (double)x : (double)all.real + (double)x;
        all.real = (long double)(type->kind == FLOW_F32 ? (double)(float)next : next);
    }
    return all;
}

/* The index of the first largest or smallest element; of the first NaN if there is one. */
static int64_t extreme_of(CtInterpreter *i, const CtFlowStep *step, const CtFlowObject *array) {
    bool largest = step->as.bulk == ARRAY_MAXIMUM || step->as.bulk == ARRAY_ARGMAX;
    bool whole = step->args.items[0].type->element->kind == FLOW_I64;
    int64_t best = 0;
    ct_flow_interpret_at(i, step->range);
    if (array->count == 0)
        ct_fail(&i->failing, 0, 505, "%s of an array without elements", ct_core_array_info(step->as.bulk)->name);
    for (int64_t k = 0; k < array->count; k++) {
        CtFlowCell a = array->cells[k], b = array->cells[best];
        if (!whole && isnan(a.real)) return k;
        if (whole ? (largest ? a.integer > b.integer : a.integer < b.integer)
                  : (largest ? a.real > b.real : a.real < b.real))
            best = k;
    }
    return best;
}

/* ---- whole arrays ---- */

static CtFlowObject *gather(CtInterpreter *i, const CtFlowStep *step, const CtFlowObject *indices,
                            const CtFlowObject *from) {
    int64_t row = row_cells(from);
    ct_flow_interpret_at(i, step->range);
    for (int64_t k = 0; k < indices->count; k++)
        ct_check_index(&i->failing, 0, indices->cells[k].integer, from->dims[0]);
    CtFlowObject *result = array_like(i, step->results.items[0]->type, from, indices->count);
    for (int64_t k = 0; k < indices->count; k++)
        ct_flow_interpret_copy(i, result, from, indices->cells[k].integer * row, row);
    return result;
}

static CtFlowObject *replicate(CtInterpreter *i, const CtFlowStep *step, int64_t count, CtFlowCell value) {
    const CtFlowType *type = step->results.items[0]->type;
    CtInterpretRows rows = {.type = type};
    if (count < 0) ct_flow_interpret_wrong(i, "an array of a negative length is made");
    for (int64_t k = 0; k < count; k++) {
        if ((type->rank > 1 || ct_flow_is_object(type->element)) && value.object != NULL) value.object->claims++;
        ct_flow_interpret_spend(i, 1);
        ct_flow_interpret_add_row(i, &rows, value);
    }
    return ct_flow_interpret_rows_done(i, &rows);
}

static CtFlowObject *iota(CtInterpreter *i, const CtFlowType *type, int64_t count) {
    CtFlowObject *result = ct_flow_interpret_array(i, type, &count);
    for (int64_t k = 0; k < count; k++) ct_flow_interpret_put(i, result, (CtFlowCell){.integer = k});
    return result;
}

static CtFlowObject *transpose(CtInterpreter *i, const CtFlowType *type, const CtFlowObject *from) {
    int64_t rows = from->dims[0], columns = from->dims[1], cell = columns > 0 ? row_cells(from) / columns : 0;
    int64_t *dims = ct_flow_interpret_memory(i, from->rank * sizeof *dims);
    for (uint32_t k = 0; k < from->rank; k++) dims[k] = k == 0 ? columns : k == 1 ? rows : from->dims[k];
    CtFlowObject *result = ct_flow_interpret_array(i, type, dims);
    ct_flow_interpret_give(i, dims, from->rank * sizeof *dims);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t k = 0; k < rows; k++) ct_flow_interpret_copy(i, result, from, (k * columns + j) * cell, cell);
    return result;
}

static CtFlowObject *reshape(CtInterpreter *i, const CtFlowStep *step, int64_t rows, int64_t columns,
                             const CtFlowObject *from) {
    int64_t product;
    ct_run *rt = &i->failing;
    ct_flow_interpret_at(i, step->range);
    if (rows < 0 || columns < 0)
        ct_fail(rt, 0, 508, "reshape was asked for %lld rows of %lld", (long long)rows, (long long)columns);
    if (__builtin_mul_overflow(rows, columns, &product) || product != from->dims[0])
        ct_fail(rt, 0, 504, "%lld rows of %lld cannot be made of %lld elements", (long long)rows, (long long)columns,
                (long long)from->dims[0]);
    int64_t *dims = ct_flow_interpret_memory(i, (from->rank + 1) * sizeof *dims);
    for (uint32_t k = 0; k <= from->rank; k++) dims[k] = k == 0 ? rows : k == 1 ? columns : from->dims[k - 1];
    CtFlowObject *result = ct_flow_interpret_array(i, step->results.items[0]->type, dims);
    ct_flow_interpret_give(i, dims, (from->rank + 1) * sizeof *dims);
    ct_flow_interpret_copy(i, result, from, 0, from->count);
    return result;
}

static CtFlowObject *reverse(CtInterpreter *i, const CtFlowType *type, const CtFlowObject *from) {
    CtFlowObject *result = array_like(i, type, from, from->dims[0]);
    int64_t row = row_cells(from);
    for (int64_t k = from->dims[0]; k-- > 0;) ct_flow_interpret_copy(i, result, from, k * row, row);
    return result;
}

static CtFlowObject *append(CtInterpreter *i, const CtFlowStep *step, const CtFlowObject *a, const CtFlowObject *b) {
    ct_flow_interpret_at(i, step->range);
    for (uint32_t k = 1; a->dims[0] > 0 && b->dims[0] > 0 && k < a->rank; k++)
        if (a->dims[k] != b->dims[k]) ct_shape_fails(&i->failing, 0, a->dims[0], b->dims[k], a->dims[k], k > 1);
    CtFlowObject *result = array_like(i, step->results.items[0]->type, a->dims[0] > 0 ? a : b, a->dims[0] + b->dims[0]);
    ct_flow_interpret_copy(i, result, a, 0, a->count);
    ct_flow_interpret_copy(i, result, b, 0, b->count);
    return result;
}

static CtFlowObject *slice(CtInterpreter *i, const CtFlowType *type, int64_t start, int64_t count,
                           const CtFlowObject *from) {
    if (count < 0) count = 0;
    if (count > 0 && (start < 0 || start > from->dims[0] || count > from->dims[0] - start))
        ct_flow_interpret_wrong(i, "a slice is taken from outside of an array");
    uint64_t before = i->steps;
    CtFlowObject *result = array_like(i, type, from, count);
    if (count > 0) ct_flow_interpret_copy(i, result, from, start * row_cells(from), count * row_cells(from));
    bool shortened = start == 0 && count >= from->dims[0] - from->dims[0] / 2; /* as ct_front in rt/array.h */
    if (shortened) ct_flow_interpret_copied(i, from, i->steps - before);
    return result;
}

static CtFlowObject *concat(CtInterpreter *i, const CtFlowType *type, const CtFlowObject *from) {
    int64_t *dims = ct_flow_interpret_memory(i, from->rank * sizeof *dims);
    for (uint32_t k = 0; k + 1 < from->rank; k++) dims[k] = k == 0 ? from->dims[0] * from->dims[1] : from->dims[k + 1];
    CtFlowObject *result = ct_flow_interpret_array(i, type, dims);
    ct_flow_interpret_give(i, dims, from->rank * sizeof *dims);
    ct_flow_interpret_copy(i, result, from, 0, from->count);
    return result;
}

static CtFlowObject *shape(CtInterpreter *i, const CtFlowType *type, const CtFlowObject *from, int64_t rank) {
    CtFlowObject *result = ct_flow_interpret_array(i, type, &rank);
    for (int64_t k = 0; k < rank; k++)
        ct_flow_interpret_put(i, result, (CtFlowCell){.integer = k < from->rank ? from->dims[k] : 0});
    return result;
}

static CtFlowCell run_bulk(CtInterpreter *i, const CtFlowStep *step) {
    const CtFlowArg *args = step->args.items;
    const CtFlowType *type = step->results.items[0]->type;
    CtFlowCell a[3] = {{.integer = 0}}; /* by position */
    const CtFlowObject *o[3] = {NULL, NULL, NULL};
    for (uint32_t k = 0; k < step->args.count && k < 3; k++) {
        if (ct_flow_is_object(args[k].type)) o[k] = ct_flow_interpret_object(i, &args[k]);
        a[k] = ct_flow_interpret_arg(i, &args[k]);
    }
    switch ((int)step->as.bulk) {
    case ARRAY_SHAPE: return (CtFlowCell){.object = shape(i, type, o[0], a[1].integer)};
    case ARRAY_SUM: return sum_of(i, o[0], type, false);
    case ARRAY_PRODUCT: return sum_of(i, o[0], type, true);
    case ARRAY_MAXIMUM:
    case ARRAY_MINIMUM: return o[0]->cells[extreme_of(i, step, o[0])];
    case ARRAY_ARGMAX:
    case ARRAY_ARGMIN: return (CtFlowCell){.integer = extreme_of(i, step, o[0])};
    case ARRAY_REPLICATE: return (CtFlowCell){.object = replicate(i, step, a[0].integer, a[1])};
    case ARRAY_IOTA: return (CtFlowCell){.object = iota(i, type, a[0].integer)};
    case ARRAY_GATHER: return (CtFlowCell){.object = gather(i, step, o[0], o[1])};
    case ARRAY_TRANSPOSE: return (CtFlowCell){.object = transpose(i, type, o[0])};
    case ARRAY_RESHAPE: return (CtFlowCell){.object = reshape(i, step, a[0].integer, a[1].integer, o[2])};
    case ARRAY_REVERSE: return (CtFlowCell){.object = reverse(i, type, o[0])};
    case ARRAY_APPEND: return (CtFlowCell){.object = append(i, step, o[0], o[1])};
    case ARRAY_SLICE: return (CtFlowCell){.object = slice(i, type, a[0].integer, a[1].integer, o[2])};
    case ARRAY_CONCAT: return (CtFlowCell){.object = concat(i, type, o[0])};
    default:
        ct_flow_interpret_wrong(i, "no operation of Flow on whole arrays: %s", ct_core_array_info(step->as.bulk)->name);
    }
}

/* ---- products of matrices ---- */

static long double factor(const CtFlowObject *x, bool transposed, int64_t row, int64_t column) {
    return x->cells[transposed ? column * x->dims[1] + row : row * x->dims[1] + column].real;
}

/* One element of a matrix product; its terms are added in order. */
static long double sum_of_terms(const CtInterpreter *i, const CtFlowFactors *factors, const CtFlowObject *a,
                                const CtFlowObject *b, int64_t row, int64_t column, int64_t count) {
    long double sum = factors->cotangent == 0 ? 0.0L : -0.0L;
    for (int64_t k = 0; k < count; k++) {
        long double x = factor(a, factors->transposed[0], row, k), y = factor(b, factors->transposed[1], k, column);
        long double cotangent = factors->cotangent == 1 ? x : y, other = factors->cotangent == 1 ? y : x;
        bool zero = factors->cotangent != 0 && cotangent == 0 && signbit(cotangent);
        if (i->options.wide)
            sum += zero ? -0.0L : x * y;
        else if (factors->cotangent == 0)
            sum = (long double)((double)sum + (double)x * (double)y);
        else
            sum = (long double)((double)sum + ct_scale((double)other, (double)cotangent));
    }
    return sum;
}

static CtFlowCell run_product(CtInterpreter *i, const CtFlowStep *step) {
    const CtFlowFactors *factors = &step->as.product;
    int64_t rows = ct_flow_interpret_arg(i, &step->args.items[0]).integer;
    int64_t columns = ct_flow_interpret_arg(i, &step->args.items[1]).integer;
    const CtFlowObject *a = array_of(i, &step->args.items[2]), *b = array_of(i, &step->args.items[3]);
    int64_t count = a->dims[1 - factors->transposed[0]];
    bool fits = a->dims[factors->transposed[0]] == rows && b->dims[factors->transposed[1]] == count &&
                b->dims[1 - factors->transposed[1]] == columns;
    CtFlowObject *x = ct_flow_interpret_array(i, step->results.items[0]->type, (const int64_t[]){rows, columns});
    if (!fits) count = 0;
    for (int64_t j = 0; j < x->capacity; j++) {
        ct_flow_interpret_spend(i, 1 + (uint64_t)count / 8);
        long double sum = sum_of_terms(i, factors, a, b, j / columns, j % columns, count);
        ct_flow_interpret_put(i, x, (CtFlowCell){.real = sum});
    }
    return (CtFlowCell){.object = x};
}

/* ---- steps ---- */

static CtFlowCell value_of(CtInterpreter *i, const CtFlowStep *step) {
    if (step->kind == FLOW_DIM) return (CtFlowCell){.integer = length_of(i, &step->args.items[0], step->as.index)};
    if (step->kind == FLOW_READ) return run_read(i, step);
    if (step->kind == FLOW_UPDATE) return run_update(i, step);
    if (step->kind == FLOW_SNOC) return run_snoc(i, step);
    if (ct_flow_is_items(step)) return run_items(i, step);
    if (step->kind == FLOW_PRODUCT) return run_product(i, step);
    if (step->kind == FLOW_BULK) return run_bulk(i, step);
    ct_flow_interpret_wrong(i, "no step on arrays: %s", ct_flow_step_info(step->kind)->name);
}

void ct_flow_interpret_array_step(CtInterpreter *i, const CtFlowStep *step) {
    if (ct_flow_is_check(step)) {
        run_check(i, step);
        return;
    }
    CtFlowCell value = value_of(i, step);
    CtFlowVar *result = step->results.items[0];
    bool front = ct_flow_is_front(step);
    CtFlowObject *taken = front ? ct_flow_interpret_object(i, &step->args.items[2]) : NULL;
    if (result != NULL) ct_flow_interpret_bind(i, result, value);
    ct_flow_interpret_release(i, taken);
}
