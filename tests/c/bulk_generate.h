/* Random well-typed terms of BULK, as the tracer might make them: what stands in a branch has the condition of the
 * branch in `live` and in the tests of its checks. */
#ifndef CT_TESTS_BULK_GENERATE_H
#define CT_TESTS_BULK_GENERATE_H

#include "bulk_interpret.h"

typedef struct BulkRandom {
    CtBulkBuilder *r;
    uint64_t state;
    CT_VEC(CtBulkVar *) scope;
    CtBulk *path;            /* the conditions of the branches around; NULL: none */
    uint32_t inputs;         /* of the variables in scope, those that are free in the whole term */
    CT_VEC(CtBulk *) closed; /* terms over the inputs alone, to be met again */
} BulkRandom;

uint32_t bulk_random(BulkRandom *g, uint32_t below);
/* Of a rank up to `rank`, with sizes from 0 to 4, and not many elements. */
CtShape bulk_random_shape(BulkRandom *g, uint32_t rank);
/* A term over the variables in scope; larger with more fuel. */
CtBulk *bulk_random_term(BulkRandom *g, CtElement element, CtShape shape, int fuel);
BulkValue *bulk_random_value(BulkRandom *g, CtElement element, CtShape shape);

#endif
