/* Random well-typed terms of BULK in normal form: without build1, with index in the four forms of Theorem 5.1. */
#ifndef CT_TESTS_BULK_NORMAL_H
#define CT_TESTS_BULK_NORMAL_H

#include "ad/bulk/ir/bulk.h"

typedef struct BulkNormal {
    CtBulkBuilder *r;
    uint64_t seed;
    bool may_fail;               /* index outside where it is live, and checks that hold, now and then */
    CT_VEC(CtBulkVar *) scope;   /* inputs and what LETs have bound */
    CT_VEC(CtBulkVar *) indices; /* variables of the gathers and scatters around, and … */
    CT_VEC(int64_t) sizes;       /* … what they stay below */
} BulkNormal;

/* From 0 to n − 1. */
uint32_t bulk_normal_draw(BulkNormal *g, uint32_t n);
/* Rank up to 5, sizes 0 to 4, at most 48 elements. */
CtShape bulk_normal_shape(BulkNormal *g);
CtBulk *bulk_normal_term(BulkNormal *g, CtElement element, CtShape shape, uint32_t depth);

#endif
