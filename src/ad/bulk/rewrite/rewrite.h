/* What rewriting offers: stage 1 of BULK, and the simplifier of array terms. */
#ifndef CT_AD_BULK_REWRITE_H
#define CT_AD_BULK_REWRITE_H

#include "ad/bulk/ir/bulk.h"

/* ---- bulk_operations.c: stage 1 ---- */

/* The normal form of a term by the rules of Figs. 9 to 11: without build1, and with index only in the four forms of
 * Theorem 5.1. */
CtBulk *ct_bulk_rewrite(CtBulkBuilder *r, CtBulk *t);

/* ---- simplify_term.c: local simplifications, such as gather by the identity, adding zero, lets used once ---- */
CtBulk *ct_bulk_simplify(CtBulkBuilder *r, CtBulk *t);
/* A gradient with its bindings and results simplified together (simplify_term.c); `count` is that of g->gradient. What
 * does not depend on the cotangent (NULL: there is none) stays a binding of its own where something that does depend
 * uses it. */
void ct_bulk_simplify_gradient(CtBulkBuilder *r, CtBulkGradient *g, uint32_t count, const CtBulkVar *cotangent);

/* The loop with each of its terms in normal form (rewrite/) or simplified (simplify_term.c); the same loop if nothing
 * changes. */
CtBulkLoop *ct_bulk_loop_normal(CtBulkBuilder *r, CtBulkLoop *loop);
CtBulkLoop *ct_bulk_loop_simple(CtBulkBuilder *r, CtBulkLoop *loop);

#endif
