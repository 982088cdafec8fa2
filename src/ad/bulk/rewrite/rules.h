/* The rules of the bulk-operation transform, applied one at a time: shared by
 * bulk_operations.c (Figs. 9 and 11, and the order in which rules are applied), push_index.c (Fig. 10) and tests. */
#ifndef CT_AD_BULK_RULES_H
#define CT_AD_BULK_RULES_H

#include "ad/bulk/ir/ranges.h"
#include "ad/bulk/rewrite/rewrite.h"

/* The result of the one rule that applies to t at the top; NULL when none does. The facts of t's binders have been
 * recorded; those of the result's binders will be. */
CtBulk *ct_bulk_contract(CtBulkRewriter *w, CtBulk *t);

/* Receives each step of ct_bulk_rewrite. */
typedef void CtBulkStep(void *data, CtBulk *before, CtBulk *after);
CtBulk *ct_bulk_rewrite_told(CtBulkBuilder *r, CtBulk *t, CtBulkStep *step, void *data);

/* Whether a term is a shallow expression of sums, differences and products of numbers and indices, which may be
 * repeated rather than bound. */
bool ct_bulk_is_position(const CtBulk *t);

/* ---- push_index.c ---- */
CtBulk *ct_bulk_contract_index(CtBulkRewriter *w, CtBulk *t);

#endif
