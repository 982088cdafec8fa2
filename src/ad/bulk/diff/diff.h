/* What differentiation offers: stages 2 and 3 of BULK. */
#ifndef CT_AD_BULK_DIFF_H
#define CT_AD_BULK_DIFF_H

#include "ad/bulk/ir/bulk.h"

/* ---- delta_reverse.c: stages 2 and 3 ---- */

/* The gradient of a term t in normal form, of any shape. `inputs` are its free variables; `cotangent` is a variable of
 * t's shape, which is free in the gradient. */
CtBulkGradient ct_bulk_gradient(CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *inputs, uint32_t count,
                                CtBulkVar *cotangent);
/* let ⟨primals⟩ in (value, tangent): the same Delta term evaluated forward, on variables for the tangents of the inputs
 * (NULL: zero). */
/* The tangent is gradient[0]. */
CtBulkGradient ct_bulk_tangent(CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *inputs, CtBulkVar *const *tangents,
                               uint32_t count);
/* The set (CtBulkVar * -> itself) of the cotangent and of the bindings that depend on it. */
CtMap ct_bulk_late(CtBulkBuilder *r, const CtBulkGradient *g, CtBulkVar *cotangent);
/* ---- jacobian.c ---- */

/* The Jacobian: the results of `g` for all one-hot cotangents at once. Every gradient gets an additional outermost
 * dimension, with a row for each element of the cotangent (Appendix A). Row k is for the element `order` ! k (NULL:
 * k). */
void ct_bulk_jacobian(CtBulkBuilder *r, CtBulkGradient *g, uint32_t count, CtBulkVar *cotangent, CtBulk *order);

#endif
