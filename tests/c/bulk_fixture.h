/* A room for terms of bulk, for each test its own. */
#ifndef CT_TESTS_BULK_FIXTURE_H
#define CT_TESTS_BULK_FIXTURE_H

#include "ad/bulk/ir/bulk.h"

#include <stdlib.h>

typedef struct Fixture {
    CtArena *arena;
    CtBulkBuilder builder, *r;
} Fixture;

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    f->arena = ct_arena_new(0);
    f->builder.arena = f->arena;
    f->r = &f->builder;
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    ct_arena_free(f->arena);
    free(f);
    return 0;
}

static const CtShape scalar = {0, NULL};

#endif
