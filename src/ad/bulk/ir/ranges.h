/* Where integers lie, for rules that ask whether an index can be outside of its array: ranges.c. */
#ifndef CT_AD_BULK_RANGES_H
#define CT_AD_BULK_RANGES_H

#include "ad/bulk/ir/bulk.h"

typedef struct CtRange {
    int64_t low, high; /* none when low > high: what is never evaluated */
} CtRange;

typedef struct CtBulkRewriter {
    CtBulkBuilder *r;
    CtMap facts;  /* CtBulkVar * of Int -> CtRange *, of its elements */
    CtMap noted;  /* terms whose binders have their facts */
    CtMap ranges; /* CtBulk * -> CtRange *: found before */
    CtMap safe;   /* CtBulk * -> whether it is: found before */
} CtBulkRewriter;

/* Works out what the variables that t binds can be. */
void ct_bulk_note(CtBulkRewriter *w, CtBulk *t);
void ct_bulk_note_loop(CtBulkRewriter *w, CtBulkLoop *loop);
void ct_bulk_note_var(CtBulkRewriter *w, CtBulkVar *var, CtRange range);
/* Where the elements of a term of Ints lie. */
CtRange ct_bulk_range(CtBulkRewriter *w, CtBulk *t);
/* Whether the index is in [0, size) however often it is evaluated. */
bool ct_bulk_is_inside(CtBulkRewriter *w, CtBulk *ix, int64_t size);
/* Whether all of f are inside an array of `shape`. */
bool ct_bulk_never_misses(CtBulkRewriter *w, const CtIndexing *f, CtShape shape);
/* Whether evaluating the term cannot fail, by its form and the ranges of its indices. */
bool ct_bulk_is_safe(CtBulkRewriter *w, CtBulk *t);
/* The same of its body. */
bool ct_bulk_loop_is_safe(CtBulkRewriter *w, CtBulkLoop *loop);

#endif
