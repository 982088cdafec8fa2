/* The stages of `bulk` for one function, recorded like BULK Fig. 18. Nothing is done when look is NULL. */
#ifndef CT_AD_BULK_STAGES_H
#define CT_AD_BULK_STAGES_H

#include "ad/ad.h"
#include "ad/bulk/ir/bulk.h"

/* The function for the shapes of its arguments. */
void ct_bulk_show_term(CtBulkLook *look, CtBulkBuilder *r, CtBulk *t, CtBulkVar *const *inputs, uint32_t count);
/* What the trace refuses, and where. */
void ct_bulk_show_refusal(CtBulkLook *look, CtBulkBuilder *r, CtSourceRange place, const char *what);
/* Stage 1: ct_bulk_rewrite, recording its steps. */
CtBulk *ct_bulk_show_rewrite(CtBulkLook *look, CtBulkBuilder *r, CtBulk *t);
/* The input of stages 2 and 3. */
void ct_bulk_show_normal(CtBulkLook *look, CtBulkBuilder *r, CtBulk *normal, CtBulk *simplified);
/* Stages 2 and 3: the result of ct_bulk_gradient, before and after simplification. */
void ct_bulk_show_gradient(CtBulkLook *look, CtBulkBuilder *r, const CtBulkGradient *g, CtBulkVar *const *inputs,
                           uint32_t count);
void ct_bulk_show_simplified(CtBulkLook *look, CtBulkBuilder *r, const CtBulkGradient *g, uint32_t count);
/* The gradient program. */
void ct_bulk_show_program(CtBulkLook *look, CtBulkBuilder *r, CtCore *program);

#endif
