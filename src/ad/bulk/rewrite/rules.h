/* The rules of the bulk-operation transform, applied one at a time, and what they must know of indices: shared by
 * bulk_operations.c (Figs. 9 and 11, and the order in which rules are applied), push_index.c (Fig. 10), ranges.c, and
 * tests. */
#ifndef CT_AD_BULK_RULES_H
#define CT_AD_BULK_RULES_H

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

/* The result of the one rule that applies to t as a whole; NULL when none does. The facts of t's binders have been
 * noted, those of the result's are. */
CtBulk *ct_bulk_contract(CtBulkRewriter *w, CtBulk *t);

/* ct_bulk_rewrite, which tells each step of it. */
typedef void CtBulkStep(void *data, CtBulk *before, CtBulk *after);
CtBulk *ct_bulk_rewrite_told(CtBulkBuilder *r, CtBulk *t, CtBulkStep *step, void *data);

/* Sums, differences and products of numbers and indices, not deep: what is as well repeated as kept. */
bool ct_bulk_is_position(const CtBulk *t);

/* ---- push_index.c ---- */
CtBulk *ct_bulk_contract_index(CtBulkRewriter *w, CtBulk *t);

/* ---- ranges.c ---- */

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
