/* The number of parameters that the code of a binding takes: those of its clauses or its λ, and one more where the
 * binding is recursive and would otherwise be evaluated for ever. There f = e becomes f = λx. e x, and
 *
 *   cata alg = alg . fmap (cata alg) . unFix          cata alg x = (alg . fmap (cata alg) . unFix) x
 *
 * for there is no end to evaluating the operands of a composition that uses the function itself. */
#include "elab/internal.h"

CtExpr *ct_elab_plain_body(const CtBinding *binding) {
    if (binding->clause_count != 1) return NULL;
    const CtClause *clause = &binding->clauses[0];
    if (clause->pat_count > 0 || clause->rhs.where.count > 0 || clause->rhs.guarded_count != 1) return NULL;
    const CtGuarded *guarded = &clause->rhs.guarded[0];
    return guarded->guard_count > 0 ? NULL : guarded->body;
}

uint32_t ct_elab_binding_arity(const CtBinding *binding) {
    if (binding->clause_count == 0) return 0;
    if (binding->clauses[0].pat_count > 0) return binding->clauses[0].pat_count;
    CtExpr *body = ct_elab_plain_body(binding);
    return body != NULL && body->kind == EXPR_LAM ? body->pat_count : 0;
}

/* ---- compositions ---- */

/* f . g */
static bool is_composition(CtElab *el, const CtExpr *expr) {
    return expr->kind == EXPR_APP && expr->part_count == 3 && ct_elab_is_named(el, expr->parts[0], ".");
}

/* Whether evaluating an expression again for each application of its value costs little more than the application. */
static bool is_cheap(CtElab *el, const CtExpr *expr) {
    switch (expr->kind) {
    case EXPR_VAR:
    case EXPR_CON:
    case EXPR_LIT:
    case EXPR_LAM: return true;
    case EXPR_APP:
        if (is_composition(el, expr)) return true;
        for (uint32_t i = 0; i < expr->part_count; i++)
            if (expr->parts[i]->kind == EXPR_APP || !is_cheap(el, expr->parts[i])) return false;
        return true;
    default: return false;
    }
}

/* Whether all clauses give cheap functions, and one a composition. Local definitions would be evaluated again. */
static bool gives_compositions(CtElab *el, const CtBinding *binding) {
    bool composes = false;
    for (uint32_t i = 0; i < binding->clause_count; i++) {
        const CtRhs *rhs = &binding->clauses[i].rhs;
        if (rhs->where.count > 0) return false;
        for (uint32_t j = 0; j < rhs->guarded_count; j++) {
            const CtExpr *body = rhs->guarded[j].body;
            if (!is_cheap(el, body)) return false;
            composes |= is_composition(el, body);
        }
    }
    return composes;
}

bool ct_elab_takes_one_more(CtElab *el, const CtBinding *binding, Ground *type) {
    uint32_t arity = ct_elab_binding_arity(binding);
    if (arity > 0 && (binding->clauses[0].pat_count == 0 || !gives_compositions(el, binding))) return false;
    for (uint32_t i = 0; i < arity; i++)
        if (!ct_elab_ground_fun(el, type, NULL, &type)) return false;
    return ct_elab_ground_fun(el, type, NULL, NULL);
}

void ct_elab_spec_arity(CtElab *el, Spec *spec) {
    bool is_binding = spec->kind == SPEC_BINDING;
    spec->arity = is_binding ? ct_elab_binding_arity(spec->binding) : 0;
    const CtBindingGroup *group = spec->entity == NULL ? NULL : spec->entity->group;
    if (group == NULL || !group->circular) return;
    if (is_binding && ct_elab_takes_one_more(el, spec->binding, spec->type)) {
        spec->arity++;
        spec->eta = true;
        return;
    }
    if (spec->arity > 0) return;
    spec->wrap = is_binding ? ct_elab_function_newtype(el, spec->type) : NULL;
    bool is_stream = is_binding && spec->binding->is_stream; /* whose elements are made by functions of () */
    if (spec->wrap == NULL && group->recursive && !is_stream && !el->is_lazy)
        ct_elab_recursive_value(el, spec->binding, spec->entity->name->text, spec->type);
}
