/* What rewriting offers: stage 1 of BULK, and the simplifier of array terms. */
#ifndef CT_AD_BULK_REWRITE_H
#define CT_AD_BULK_REWRITE_H

#include "ad/bulk/ir/bulk.h"

/* ---- bulk_operations.c: stage 1 ---- */

/* The normal form of a term by the rules of Figs. 9, 10 and 11: without build1, with index in the four forms of
 * Theorem 5.1. */
CtBulk *ct_bulk_rewrite(CtBulkBuilder *r, CtBulk *t);

/* ---- simplify_term.c: what a person would not have written: gather by the identity, adding zero, lets used once ----
 */
CtBulk *ct_bulk_simplify(CtBulkBuilder *r, CtBulk *t);
/* A gradient with its bindings and results simplified together (simplify_term.c); `count` is that of g->gradient. What
 * does not depend on the cotangent (NULL: there is none) stays a binding of its own where something that does depend
 * uses it. */
void ct_bulk_simplify_gradient(CtBulkBuilder *r, CtBulkGradient *g, uint32_t count, const CtBulkVar *cotangent);

/* The loop with each of its terms in normal form (bulk_operations.c) or simplified (simplify_term.c); itself when it
 * is.
 */
CtBulkLoop *ct_bulk_loop_normal(CtBulkBuilder *r, CtBulkLoop *loop);
CtBulkLoop *ct_bulk_loop_simple(CtBulkBuilder *r, CtBulkLoop *loop);

#endif
