/* Array operations that reduce an array to a scalar, and the table of all operations that are plain functions. */
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

/* The index of the first largest or smallest element; of the first NaN if there is one. */
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
