/* Random well-typed terms of BULK in normal form: without build1, with index in the four forms of Theorem 5.1. */
#ifndef CT_TESTS_BULK_GENERATE_H
#define CT_TESTS_BULK_GENERATE_H

#include "ad/bulk.h"

typedef struct BulkGenerator {
    CtBulkRoom *r;
    uint64_t seed;
    bool may_fail;               /* index outside where it is live, and checks that hold, now and then */
    CT_VEC(CtBulkVar *) scope;   /* inputs and what LETs have bound */
    CT_VEC(CtBulkVar *) indices; /* variables of the gathers and scatters around, and … */
    CT_VEC(int64_t) sizes;       /* … what they stay below */
} BulkGenerator;

/* From 0 to n − 1. */
uint32_t bulk_random(BulkGenerator *g, uint32_t n);
/* Rank up to 5, sizes 0 to 4, at most 48 elements. */
CtShape bulk_random_shape(BulkGenerator *g);
CtBulk *bulk_random_term(BulkGenerator *g, CtElement element, CtShape shape, uint32_t depth);

#endif
