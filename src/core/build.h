/* Constructors of Core nodes; each computes its node's type. Reductions that every builder wants are done here, so that
 * transformations can be written like their figures: projecting from a TUPLE gives the component. Applying a λ is not
 * reduced.
 *
 * The C compiler may evaluate arguments of a call in any order, so children with effects on the program must be bound
 * to names first. */
#ifndef CT_CORE_BUILD_H
#define CT_CORE_BUILD_H

#include "core/core.h"

CtCore *ct_core_var(CtProgram *p, CtSourceRange range, CtVar *var);
CtCore *ct_core_global(CtProgram *p, CtSourceRange range, CtGlobal *global);
CtCore *ct_core_double(CtProgram *p, CtSourceRange range, double value);
CtCore *ct_core_real(CtProgram *p, CtSourceRange range, CtType *type, double value); /* Double or Float */
CtCore *ct_core_int(CtProgram *p, CtSourceRange range, int64_t value);
CtCore *ct_core_char(CtProgram *p, CtSourceRange range, int64_t value);
CtCore *ct_core_bool(CtProgram *p, CtSourceRange range, bool value);
CtCore *ct_core_string(CtProgram *p, CtSourceRange range, const char *data, size_t length);
/* lam->node is set; name may be NULL. */
CtCore *ct_core_lam(CtProgram *p, CtSourceRange range, const char *name, CtVar *const *params, uint32_t count,
                    CtCore *body);
CtCore *ct_core_app(CtProgram *p, CtSourceRange range, CtCore *fun, CtCore *const *args, uint32_t count);
CtCore *ct_core_let(CtProgram *p, CtSourceRange range, CtVar *var, CtCore *rhs, CtCore *body);
/* Links the λs of the group to each other. */
CtCore *ct_core_letrec(CtProgram *p, CtSourceRange range, const CtBind *binds, uint32_t count, CtCore *body);
CtCore *ct_core_tuple(CtProgram *p, CtSourceRange range, CtCore *const *parts, uint32_t count);
CtCore *ct_core_pair(CtProgram *p, CtSourceRange range, CtCore *first, CtCore *second);
CtCore *ct_core_unit(CtProgram *p, CtSourceRange range);
CtCore *ct_core_proj(CtProgram *p, CtSourceRange range, CtCore *tuple, uint32_t index);
CtCore *ct_core_unpack(CtProgram *p, CtSourceRange range, CtVar *const *vars, uint32_t count, CtCore *rhs,
                       CtCore *body);
CtCore *ct_core_con(CtProgram *p, CtSourceRange range, CtCon *con, CtCore *const *args, uint32_t count);
/* cases are copied; `type` is the type of every body. */
CtCore *ct_core_case(CtProgram *p, CtSourceRange range, CtType *type, CtCore *scrutinee, const CtCase *cases,
                     uint32_t count, CtCore *otherwise);
CtCore *ct_core_if(CtProgram *p, CtSourceRange range, CtCore *condition, CtCore *yes, CtCore *no);
/* The result type follows from primitives.def and the arguments' types. */
CtCore *ct_core_prim(CtProgram *p, CtSourceRange range, CtPrim prim, CtCore *const *args, uint32_t count);
CtCore *ct_core_prim1(CtProgram *p, CtSourceRange range, CtPrim prim, CtCore *a);
CtCore *ct_core_prim2(CtProgram *p, CtSourceRange range, CtPrim prim, CtCore *a, CtCore *b);
CtCore *ct_core_array(CtProgram *p, CtSourceRange range, CtArrayOp op, CtCore *const *args, uint32_t count);
CtCore *ct_core_array_lit(CtProgram *p, CtSourceRange range, CtType *element, CtCore *const *items, uint32_t count);
CtCore *ct_core_deriv(CtProgram *p, CtSourceRange range, CtDerivOp op, CtCore *const *args, uint32_t count);
/* DELAY, FORCE or KNOT. */
CtCore *ct_core_lazy(CtProgram *p, CtSourceRange range, CtDerivOp op, CtType *type, CtCore *arg);
/* withVjp f rule x or withJvp f rule x for withRules f rule rule' x; other applications stay. */
CtCore *ct_core_deriv_one_rule(CtProgram *p, CtCore *core, bool by_tangent);
CtCore *ct_core_dual(CtProgram *p, CtSourceRange range, CtType *type, CtMethod method, const CtMethod *path,
                     uint32_t path_count, CtCore *const *args, uint32_t count);
CtCore *ct_core_fail(CtProgram *p, CtSourceRange range, CtType *type, CtErrorCode code, const char *text,
                     CtCore *message);

#endif
