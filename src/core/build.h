/* Constructors of Core: each computes its node's type. Small reductions that every builder wants are done here, so that
 * transformations can be written as their figures: projecting a TUPLE gives the component, applying a λ is left alone.
 *
 * Children are evaluated by the C compiler in any order: bind them to names before building.
 */
#ifndef CT_CORE_BUILD_H
#define CT_CORE_BUILD_H

#include "core/core.h"

CtCore *ct_core_var(CtProgram *p, CtSpan span, CtVar *var);
CtCore *ct_core_global(CtProgram *p, CtSpan span, CtGlobal *global);
CtCore *ct_core_double(CtProgram *p, CtSpan span, double value);
CtCore *ct_core_real(CtProgram *p, CtSpan span, CtType *type, double value); /* Double or Float */
CtCore *ct_core_int(CtProgram *p, CtSpan span, int64_t value);
CtCore *ct_core_char(CtProgram *p, CtSpan span, int64_t value);
CtCore *ct_core_bool(CtProgram *p, CtSpan span, bool value);
CtCore *ct_core_string(CtProgram *p, CtSpan span, const char *data, size_t length);
/* lam->node is set; name may be NULL. */
CtCore *ct_core_lam(CtProgram *p, CtSpan span, const char *name, CtVar *const *params, uint32_t count, CtCore *body);
CtCore *ct_core_app(CtProgram *p, CtSpan span, CtCore *fun, CtCore *const *args, uint32_t count);
CtCore *ct_core_let(CtProgram *p, CtSpan span, CtVar *var, CtCore *rhs, CtCore *body);
/* Links the lams of the group to each other. */
CtCore *ct_core_letrec(CtProgram *p, CtSpan span, const CtBind *binds, uint32_t count, CtCore *body);
CtCore *ct_core_tuple(CtProgram *p, CtSpan span, CtCore *const *parts, uint32_t count);
CtCore *ct_core_pair(CtProgram *p, CtSpan span, CtCore *first, CtCore *second);
CtCore *ct_core_unit(CtProgram *p, CtSpan span);
CtCore *ct_core_proj(CtProgram *p, CtSpan span, CtCore *tuple, uint32_t index);
CtCore *ct_core_unpack(CtProgram *p, CtSpan span, CtVar *const *vars, uint32_t count, CtCore *rhs, CtCore *body);
CtCore *ct_core_con(CtProgram *p, CtSpan span, CtCon *con, CtCore *const *args, uint32_t count);
/* cases are copied; type is the type of every body. */
CtCore *ct_core_case(CtProgram *p, CtSpan span, CtType *type, CtCore *scrutinee, const CtCase *cases, uint32_t count,
                     CtCore *otherwise);
CtCore *ct_core_if(CtProgram *p, CtSpan span, CtCore *condition, CtCore *yes, CtCore *no);
/* The result type follows from primitives.def and the arguments' types. */
CtCore *ct_core_prim(CtProgram *p, CtSpan span, CtPrim prim, CtCore *const *args, uint32_t count);
CtCore *ct_core_prim1(CtProgram *p, CtSpan span, CtPrim prim, CtCore *a);
CtCore *ct_core_prim2(CtProgram *p, CtSpan span, CtPrim prim, CtCore *a, CtCore *b);
CtCore *ct_core_array(CtProgram *p, CtSpan span, CtArrayOp op, CtCore *const *args, uint32_t count);
CtCore *ct_core_array_lit(CtProgram *p, CtSpan span, CtType *element, CtCore *const *items, uint32_t count);
CtCore *ct_core_deriv(CtProgram *p, CtSpan span, CtDerivOp op, CtCore *const *args, uint32_t count);
CtCore *ct_core_dual(CtProgram *p, CtSpan span, CtType *type, CtMethod method, const CtMethod *path,
                     uint32_t path_count, CtCore *const *args, uint32_t count);
CtCore *ct_core_fail(CtProgram *p, CtSpan span, CtType *type, CtErrorCode code, const char *text, CtCore *message);

#endif
