/* Random loops, for generators of terms that have their own ways otherwise. */
#ifndef CT_TESTS_BULK_RANDOM_LOOP_H
#define CT_TESTS_BULK_RANDOM_LOOP_H

#include "ad/bulk/ir/bulk.h"

typedef struct BulkLoopMaker {
    CtBulkBuilder *r;
    void *g;
    uint32_t (*draw)(void *g, uint32_t below);
    CtShape (*shape)(void *g);
    CtBulk *(*term)(void *g, CtElement element, CtShape shape); /* over the variables in scope */
    void (*bind)(void *g, CtBulkVar *var);                      /* one more is in scope */
    void (*unbind)(void *g);                                    /* the last no longer */
    void (*enter)(void *g, CtBulkLoop *loop);                   /* only parameters and index are */
    void (*leave)(void *g);
    CtBulk *path; /* the condition of the branch that this is in, of which the body sees its last parameter; or NULL */
} BulkLoopMaker;

CtBulk *bulk_random_loop(const BulkLoopMaker *m, CtElement element, CtShape shape);

#endif
