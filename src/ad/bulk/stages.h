/* What `bulk` does to a function, written down stage by stage as BULK Fig. 18 does: for people who look at it. Nothing
 * is done where nobody looks (look is NULL). Of ad/ alone. */
#ifndef CT_AD_BULK_STAGES_H
#define CT_AD_BULK_STAGES_H

#include "ad/ad.h"
#include "ad/bulk/ir/bulk.h"

/* The function for the shapes of its arguments. */
void ct_bulk_show_term(CtBulkLook *look, CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *inputs, uint32_t count);
/* Stage 1: ct_bulk_rewrite, with its steps. */
CtBulk *ct_bulk_show_rewrite(CtBulkLook *look, CtBulkBuilder *r, CtBulk *t);
/* What stages 2 and 3 begin with. */
void ct_bulk_show_normal(CtBulkLook *look, CtBulkBuilder *r, CtBulk *normal, CtBulk *simplified);
/* Stages 2 and 3: ct_bulk_gradient's result, before it is simplified; and after that. */
void ct_bulk_show_gradient(CtBulkLook *look, CtBulkBuilder *r, const CtBulkGradient *g, CtBulkVar *const *inputs,
                           uint32_t count);
void ct_bulk_show_simplified(CtBulkLook *look, CtBulkBuilder *r, const CtBulkGradient *g, uint32_t count);
/* The gradient program. */
void ct_bulk_show_program(CtBulkLook *look, CtBulkBuilder *r, CtCore *program);

#endif
