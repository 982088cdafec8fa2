/* Primitive operations: lookup, types, values and derivatives, all from primitives.def. */
#ifndef CT_PRIM_PRIM_H
#define CT_PRIM_PRIM_H

#include "base/diag.h"

typedef enum CtPrim {
#define CT_PRIM(id, ...) PRIM_##id,
#include "prim/primitives.def"
#undef CT_PRIM
    CT_PRIM_COUNT
} CtPrim;

typedef struct CtPrimInfo {
    const char *id;   /* "ADD" */
    const char *name; /* "add" */
    const char *signature;
    uint32_t arity;
    char args[2]; /* letters of the signature: R D I C B */
    char result;
    uint32_t cost, work; /* `cost` in steps of the cost model; `work` of native code, in additions */
    bool has_derivative; /* the result is real, and there is a derivative by each real argument (possibly ZERO) */
    bool is_zero;        /* the result does not vary with the real arguments, as of floor and signum */
    bool chooses;        /* some derivative depends on a condition (WHEN) */
    bool is_exact; /* the value is determined to the last bit on all platforms, so that it can be folded at compile time
                    */
    double low[2], high[2];
    const char *doc;
} CtPrimInfo;

const CtPrimInfo *ct_prim_info(CtPrim prim);
/* Whether the primitive is one instruction or a few, without a call, so that recomputing it is cheaper than storing its
 * result. */
bool ct_prim_is_light(CtPrim prim);
/* Looks up a primitive by its name in the table; false when there is none. */
bool ct_prim_find(const char *name, CtPrim *prim);

/* Makes terms for a reader of the table. The builder decides what a term is. */
typedef struct CtPrimBuilder CtPrimBuilder;
typedef void *CtPrimTerm;
struct CtPrimBuilder {
    CtPrimTerm (*number)(CtPrimBuilder *self, double value);
    CtPrimTerm (*prim)(CtPrimBuilder *self, CtPrim prim, CtPrimTerm *args, uint32_t count);
    /* `yes` where the comparison holds, else `no`. The comparison is PRIM_EQ, PRIM_LT or PRIM_LE of a and b, or
     * PRIM_IS_NEGATIVE_ZERO of a alone. */
    CtPrimTerm (*choose)(CtPrimBuilder *self, CtPrim comparison, CtPrimTerm a, CtPrimTerm b, CtPrimTerm yes,
                         CtPrimTerm no);
    bool is_eager; /* g is an ordinary value, so that it may be either factor of a product; otherwise it only stands for
                      a cotangent */
};

/* The cotangent of argument `index` when the result has the cotangent `g`; equally, the tangent of the result when that
 * argument has the tangent `g`. NULL where the table says ZERO or NONE. The terms in args, y and g may be used several
 * times, so they should be variables. With g NULL (for the number 1) the result is the partial derivative itself:
 * SCALE(p, 1) is built as p. */
CtPrimTerm ct_prim_derivative(CtPrimBuilder *builder, CtPrim prim, uint32_t index, const CtPrimTerm *args, CtPrimTerm y,
                              CtPrimTerm g);

/* The value on doubles; the primitive's arguments and result must all be reals. */
double ct_prim_value(CtPrim prim, double a, double b);
/* The value on Ints, Chars and Bools. False where the primitive fails or has another type. */
bool ct_prim_int_value(CtPrim prim, int64_t a, int64_t b, int64_t *result);

#endif
