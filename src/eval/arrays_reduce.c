/* Array operations that make one scalar of an array, and the table of all that are plain functions. */
#include <math.h>

#include "eval/internal.h"
#include "rt/scalar.h"

static const CtArray *the_array(const ArrayCall *call) { return (const CtArray *)call->args[0].object; }
static CtTypeKind element_kind(const ArrayCall *call) { return call->operand->parts[0]->kind; }

static bool ct_eval_finish(ArrayCall *call, CtWord result) {
    call->result = result;
    call->touched = (uint64_t)the_array(call)->length;
    return true;
}

bool ct_eval_array_sum(Machine *m, ArrayCall *call) {
    (void)m;
    const CtArray *xs = the_array(call);
    CtTypeKind kind = element_kind(call);
    if (kind == TYPE_INT) {
        uint64_t sum = 0;
        for (int64_t i = 0; i < xs->length; i++) sum += (uint64_t)xs->items[i].integer;
        return ct_eval_finish(call, (CtWord){.integer = (int64_t)sum});
    }
    double sum = 0;
    for (int64_t i = 0; i < xs->length; i++)
        sum = kind == TYPE_FLOAT ? ct_to_float(sum + xs->items[i].real) : sum + xs->items[i].real;
    return ct_eval_finish(call, (CtWord){.real = sum});
}

bool ct_eval_array_product(Machine *m, ArrayCall *call) {
    (void)m;
    const CtArray *xs = the_array(call);
    CtTypeKind kind = element_kind(call);
    if (kind == TYPE_INT) {
        uint64_t product = 1;
        for (int64_t i = 0; i < xs->length; i++) product *= (uint64_t)xs->items[i].integer;
        return ct_eval_finish(call, (CtWord){.integer = (int64_t)product});
    }
    double product = 1;
    for (int64_t i = 0; i < xs->length; i++)
        product = kind == TYPE_FLOAT ? ct_to_float(product * xs->items[i].real) : product * xs->items[i].real;
    return ct_eval_finish(call, (CtWord){.real = product});
}

/* The first of the largest (or smallest); the first NaN when there is one. */
static int64_t extreme(const ArrayCall *call, bool largest) {
    const CtArray *xs = the_array(call);
    bool is_real = element_kind(call) == TYPE_DOUBLE || element_kind(call) == TYPE_FLOAT;
    int64_t best = 0;
    for (int64_t i = 0; i < xs->length; i++) {
        CtWord x = xs->items[i], y = xs->items[best];
        if (is_real && isnan(x.real)) return i;
        bool better = is_real ? (largest ? x.real > y.real : x.real < y.real)
                              : (largest ? x.integer > y.integer : x.integer < y.integer);
        if (better) best = i;
    }
    return best;
}

static bool find(Machine *m, ArrayCall *call, bool largest, bool index, const char *name) {
    const CtArray *xs = the_array(call);
    if (xs->length == 0) return ct_eval_raise(m, CT_E0505, "%s of an array without elements", name);
    int64_t at = extreme(call, largest);
    return ct_eval_finish(call, index ? (CtWord){.integer = at} : xs->items[at]);
}

bool ct_eval_array_maximum(Machine *m, ArrayCall *call) { return find(m, call, true, false, "maximum"); }
bool ct_eval_array_minimum(Machine *m, ArrayCall *call) { return find(m, call, false, false, "minimum"); }
bool ct_eval_array_argmax(Machine *m, ArrayCall *call) { return find(m, call, true, true, "argmax"); }
bool ct_eval_array_argmin(Machine *m, ArrayCall *call) { return find(m, call, false, true, "argmin"); }

ArrayFunction *ct_eval_array_function(CtArrayOp op) {
    switch (op) {
    case ARRAY_SHAPE: return ct_eval_array_shape;
    case ARRAY_SUM: return ct_eval_array_sum;
    case ARRAY_PRODUCT: return ct_eval_array_product;
    case ARRAY_MAXIMUM: return ct_eval_array_maximum;
    case ARRAY_MINIMUM: return ct_eval_array_minimum;
    case ARRAY_ARGMAX: return ct_eval_array_argmax;
    case ARRAY_ARGMIN: return ct_eval_array_argmin;
    case ARRAY_REPLICATE: return ct_eval_array_replicate;
    case ARRAY_IOTA: return ct_eval_array_iota;
    case ARRAY_GATHER: return ct_eval_array_gather;
    case ARRAY_TRANSPOSE: return ct_eval_array_transpose;
    case ARRAY_RESHAPE: return ct_eval_array_reshape;
    case ARRAY_REVERSE: return ct_eval_array_reverse;
    case ARRAY_APPEND: return ct_eval_array_append;
    case ARRAY_SLICE: return ct_eval_array_slice;
    case ARRAY_CONCAT: return ct_eval_array_concat;
    case ARRAY_STRIDED: return ct_eval_array_strided;
    case ARRAY_GATHER_OR: return ct_eval_array_gather_or;
    case ARRAY_SCATTER_ADD: return ct_eval_array_scatter_add;
    case ARRAY_SUM_ROWS: return ct_eval_array_sum_rows;
    case ARRAY_SELECT: return ct_eval_array_select;
    case ARRAY_INDEX: /* instructions of their own */
    case ARRAY_LENGTH:
    case ARRAY_UPDATE:
    case ARRAY_SNOC:
    case ARRAY_BUILD: /* loops */
    case ARRAY_MAP:
    case ARRAY_ZIP_WITH:
    case ARRAY_FOLDL:
    case ARRAY_SCANL:
    case ARRAY_REDUCE:
    case ARRAY_SCAN:
    case ARRAY_MAP_ACCUM:
    case CT_ARRAY_OP_COUNT: return NULL;
    }
    return NULL;
}
