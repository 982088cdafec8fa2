/* What terms of BULK mean, as directly as it can be said: the reference against which the passes over them are tested.
 *
 * Everything is total but three things. An INDEX, GATHER or SCATTER whose index is outside fails with E0501 where it is
 * live; where it is not, INDEX and GATHER give 0 there and SCATTER drops the element. A CHECK fails with its code where
 * its test holds. Everything is evaluated, in order (the body of a `build1` as often as it has elements), both sides of
 * a conditional too. Otherwise:
 * - Primitives that fail give what their rows of primitives.def compute: a division of Ints by 0 is 0, and so is a
 * rounding that does not fit.
 * - The largest and the smallest of nothing are 0, argmax and argmin of nothing as well.
 * - The 0 of reals that nobody put there is −0.0: what is outside, what scatter and oneHot do not fill, the sum of
 * nothing.
 */
#ifndef CT_TESTS_BULK_INTERPRET_H
#define CT_TESTS_BULK_INTERPRET_H

#include "ad/bulk/ir/bulk.h"

typedef union BulkWord {
    double real;
    int64_t integer; /* of Int and Bool */
} BulkWord;

typedef struct BulkValue {
    CtElement element;
    CtShape shape;
    int64_t count;
    BulkWord *items; /* row-major */
} BulkValue;

typedef struct BulkRun {
    CtArena *arena;
    CtMap env;    /* CtBulkVar * -> BulkValue * */
    CtMap shares; /* 1 + the number of a SHARE -> BulkValue * */
    bool failed;
    CtErrorCode code; /* of the first failure */
    uint64_t work;    /* forms evaluated, and elements of what they give; a variable gives what is there */
} BulkRun;

/* All elements 0 (−0.0). */
BulkValue *bulk_value(CtArena *arena, CtElement element, CtShape shape);
BulkValue *bulk_value_reals(CtArena *arena, const double *items, CtShape shape);
void bulk_bind(BulkRun *run, CtBulkVar *var, BulkValue *value);
/* The meaning of a term whose free variables are bound; NULL when it fails, or had failed before. Values live in the
 * arena. */
BulkValue *bulk_run(BulkRun *run, CtBulk *t);
/* Bit for bit, but all NaN are equal; with a tolerance > 0 reals may differ by that, relative to the greater of them
 * and 1. */
bool bulk_equal(const BulkValue *a, const BulkValue *b, double tolerance);

#endif
