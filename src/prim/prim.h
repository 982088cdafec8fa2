/* Primitive operations: lookup, types and derivatives, all read from primitives.def. */
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
    char args[2]; /* letters of the signature */
    char result;
    uint32_t cost, work; /* in steps; of native code, in additions or so */
    bool has_derivative; /* real result, a derivative for each real argument (zero counts) */
    bool is_zero;        /* real or discrete result that does not vary with its real arguments: floor, signum */
    bool chooses;        /* a derivative that is zero, or another expression, on a condition */
    bool is_exact; /* its value is fixed to the last bit, so that it may be computed when the program is compiled */
    double low[2], high[2];
    const char *doc;
} CtPrimInfo;

const CtPrimInfo *ct_prim_info(CtPrim prim);
/* Whether it is arithmetic of the processor: no call, and so cheap that it is rather done again than kept. */
bool ct_prim_is_light(CtPrim prim);
/* By the name in the table; false when there is none. */
bool ct_prim_find(const char *name, CtPrim *prim);

/* How a reader of the table makes terms. A term is whatever the reader likes. */
typedef struct CtPrimBuilder CtPrimBuilder;
typedef void *CtPrimTerm;
struct CtPrimBuilder {
    CtPrimTerm (*number)(CtPrimBuilder *self, double value);
    CtPrimTerm (*prim)(CtPrimBuilder *self, CtPrim prim, CtPrimTerm *args, uint32_t count);
    /* yes where the comparison (PRIM_EQ, PRIM_LT, PRIM_LE; PRIM_IS_NEGATIVE_ZERO, of a alone) holds, else no */
    CtPrimTerm (*choose)(CtPrimBuilder *self, CtPrim comparison, CtPrimTerm a, CtPrimTerm b, CtPrimTerm yes,
                         CtPrimTerm no);
    bool is_eager; /* g is a value like others, not a place for one: it may stand on either side of a product */
};

/* The cotangent that argument `index` receives when the result has the cotangent `g`; equally, the tangent that the
 * result gets from a tangent `g` of that argument. NULL where the table says ZERO or NONE. Terms in args, y
 * and g may be used any number of times: pass variables. A builder for which `g` is the number 1 (g NULL) receives plain partial
 * derivatives: SCALE(p, 1) is built as p. */
CtPrimTerm ct_prim_derivative(CtPrimBuilder *builder, CtPrim prim, uint32_t index, const CtPrimTerm *args, CtPrimTerm y,
                              CtPrimTerm g);

/* The value on doubles (R and D arguments and result only). */
double ct_prim_value(CtPrim prim, double a, double b);
/* The value on Ints and Chars; false where it fails, or is none (of I, C and B). */
bool ct_prim_int_value(CtPrim prim, int64_t a, int64_t b, int64_t *result);

#endif
