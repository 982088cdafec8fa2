/* Where integers lie, for rules that ask whether an index can be outside of its array: ranges.c. */
#ifndef CT_AD_BULK_RANGES_H
#define CT_AD_BULK_RANGES_H

#include "ad/bulk/ir/bulk.h"

typedef struct CtRange {
    int64_t low, high; /* low > high: empty, never evaluated */
} CtRange;

typedef struct CtBulkRewriter {
    CtBulkBuilder *r;
    CtMap facts;  /* CtBulkVar * of Int -> CtRange * of its elements */
    CtMap noted;  /* terms whose binders have facts */
    CtMap ranges; /* CtBulk * -> CtRange *, cached */
    CtMap safe;   /* CtBulk * -> whether it is safe, cached */
    bool total;   /* what could fail has been evaluated before: see CtBulkLoop */
} CtBulkRewriter;

/* Records the ranges of the variables that t binds. */
void ct_bulk_note(CtBulkRewriter *w, CtBulk *t);
void ct_bulk_note_loop(CtBulkRewriter *w, CtBulkLoop *loop);
void ct_bulk_note_var(CtBulkRewriter *w, CtBulkVar *var, CtRange range);
/* The range of the elements of a term of Ints. */
CtRange ct_bulk_range(CtBulkRewriter *w, CtBulk *t);
/* Whether an index is always in [0, size). */
bool ct_bulk_is_inside(CtBulkRewriter *w, CtBulk *ix, int64_t size);
/* Whether all indices of f are in range for an array of `shape`. */
bool ct_bulk_never_misses(CtBulkRewriter *w, const CtIndexing *f, CtShape shape);
/* Whether a term certainly cannot fail, by its form and the ranges of its indices. */
bool ct_bulk_is_safe(CtBulkRewriter *w, CtBulk *t);
/* The same for the body of a loop. */
bool ct_bulk_loop_is_safe(CtBulkRewriter *w, CtBulkLoop *loop);

#endif
