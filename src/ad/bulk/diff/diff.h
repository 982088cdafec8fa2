/* What differentiation offers: stages 2 and 3 of BULK. */
#ifndef CT_AD_BULK_DIFF_H
#define CT_AD_BULK_DIFF_H

#include "ad/bulk/ir/bulk.h"

/* ---- delta_reverse.c: stages 2 and 3 ---- */

/* t, in normal form, of any shape; `inputs` are its free variables, `cotangent` a variable of the shape of t (free in
 * the gradient). */
CtBulkGradient ct_bulk_gradient(CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *inputs, uint32_t count,
                                CtBulkVar *cotangent);
/* let ⟨primals⟩ in (value, tangent): the same Delta term, evaluated forward on tangents of the inputs (variables; NULL
 * where there are none). */
/* The tangent is gradient[0]. */
CtBulkGradient ct_bulk_tangent(CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *inputs, CtBulkVar *const *tangents,
                               uint32_t count);
/* Those of its bindings that depend on the cotangent, and itself (CtBulkVar * -> itself). */
CtMap ct_bulk_late(CtBulkBuilder *r, const CtBulkGradient *g, CtBulkVar *cotangent);
/* ---- jacobian.c ---- */

/* What `g` gives for each one-hot cotangent, all at once: every gradient gets an outermost dimension more, of one row
 * for each element of the cotangent (Appendix A). The k-th row is that of the element `order` ! k (NULL: k). */
void ct_bulk_jacobian(CtBulkBuilder *r, CtBulkGradient *g, uint32_t count, CtBulkVar *cotangent, CtBulk *order);

#endif
