/* What lowering offers: terms as Core. */
#ifndef CT_AD_BULK_LOWER_H
#define CT_AD_BULK_LOWER_H

#include "ad/bulk/ir/bulk.h"

/* ---- views.c: before lowering, bindings to views of an array are said again where they are used ---- */
void ct_bulk_lower_repeat_views(CtBulkBuilder *r, CtBulkGradient *g, uint32_t count);

/* ---- lower_term.c: terms as Core over flat arrays ----
 *
 * A term of rank 0 is a Double, Int or Bool; one of a higher rank an array of all its elements, row-major, of Double or
 * Int (a Bool is 1 or 0). `vars` says what free variables are (CtBulkVar * -> CtVar *); it is changed meanwhile, and
 * then as it was. Constants that a term needs become globals of the program.
 *
 * A primitive that would fail gives 0 (an Int divided by 0, a real that is no Int); the largest of nothing is 0; sums
 * start from −0.0.
 */
CtType *ct_bulk_lower_type(CtProgram *p, CtElement element, CtShape shape);
CtCore *ct_bulk_lower(CtBulkBuilder *r, CtBulk *t, CtMap *vars);
/* let var = t, as a binding of `seq`; `vars` has it from then on. What is bound so before it is in scope of t. */
struct CtSeq;
void ct_bulk_lower_binding(CtBulkBuilder *r, struct CtSeq *seq, CtBulkVar *var, CtBulk *t, CtMap *vars);
/* (value, ⟨gradient⟩) under its bindings, for `count` inputs; () for those that have none. Just the value when count is
 * 0. */
CtCore *ct_bulk_lower_gradient(CtBulkBuilder *r, CtSourceRange range, const CtBulkGradient *g, uint32_t count,
                               CtMap *vars);

#endif
