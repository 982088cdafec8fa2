/* What lowering offers: terms as Core. */
#ifndef CT_AD_BULK_LOWER_H
#define CT_AD_BULK_LOWER_H

#include "ad/bulk/ir/bulk.h"

/* ---- views.c: before lowering, bindings to views of an array are said again where they are used ---- */
void ct_bulk_lower_repeat_views(CtBulkBuilder *r, CtBulkGradient *g, uint32_t count);

/* ---- lower_term.c: lowering of terms to Core over flat arrays ----
 *
 * A term of rank 0 becomes a Double, Int or Bool; one of higher rank becomes an array of all its elements, row-major,
 * of Double or Int (a Bool is 1 or 0). `vars` maps free variables (CtBulkVar * -> CtVar *); it is changed temporarily.
 * Constants become globals of the program.
 *
 * A primitive that would fail gives 0 (division of an Int by 0, conversion of a real that is no Int); the maximum of an
 * empty array is 0; sums start at −0.0. */
CtType *ct_bulk_lower_type(CtProgram *p, CtElement element, CtShape shape);
CtCore *ct_bulk_lower(CtBulkBuilder *r, CtBulk *t, CtMap *vars);
/* Binds let var = t in `seq`, and adds it to `vars`. Earlier such bindings are in scope of t. */
struct CtSeq;
void ct_bulk_lower_binding(CtBulkBuilder *r, struct CtSeq *seq, CtBulkVar *var, CtBulk *t, CtMap *vars);

#endif
