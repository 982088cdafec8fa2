/* Entry points: what is asked of a function, made as syntax around lib/entry.cot; and functions taken out for printing.
 */
#include "pipeline.h"

static CtEntity *find(CtBuild *build, const char *name) {
    return ct_lookup(build->types, ct_intern_text(&build->context.symbols, name));
}

static CtExpr *expr_new(CtBuild *build, CtExprKind kind, CtSpan span) {
    CtExpr *expr = CT_NEW(build->arena, CtExpr);
    expr->kind = kind;
    expr->span = span;
    return expr;
}

static CtExpr *variable(CtBuild *build, CtSym name, CtSpan span) {
    CtExpr *expr = expr_new(build, EXPR_VAR, span);
    expr->name = (CtName){NULL, name, span};
    return expr;
}

/* \(x1, …, xn) -> f x1 … xn; f itself when it takes one argument */
static CtExpr *of_one_argument(CtBuild *build, CtExpr *f, uint32_t arity) {
    if (arity == 1) return f;
    CtPat *tuple = CT_NEW(build->arena, CtPat);
    CtExpr *call = expr_new(build, EXPR_APP, f->span);
    tuple->kind = PAT_TUPLE;
    tuple->span = f->span;
    tuple->parts = CT_NEW_ARRAY(build->arena, CtPat *, arity);
    tuple->part_count = arity;
    call->parts = CT_NEW_ARRAY(build->arena, CtExpr *, arity + 1);
    call->part_count = arity + 1;
    call->parts[0] = f;
    for (uint32_t i = 0; i < arity; i++) {
        CtSym name = ct_intern_text(&build->context.symbols, ct_format(build->arena, "argument'%u", i + 1));
        CtPat *part = tuple->parts[i] = CT_NEW(build->arena, CtPat);
        part->kind = PAT_VAR;
        part->span = f->span;
        part->name = (CtName){NULL, name, f->span};
        call->parts[i + 1] = variable(build, name, f->span);
    }
    CtExpr *lam = expr_new(build, EXPR_LAM, f->span);
    lam->pats = CT_NEW_ARRAY(build->arena, CtPat *, 1);
    lam->pats[0] = tuple;
    lam->pat_count = 1;
    lam->parts = CT_NEW_ARRAY(build->arena, CtExpr *, 1);
    lam->parts[0] = call;
    lam->part_count = 1;
    return lam;
}

/* The number of arguments of a function's type, and what is left when they are given. */
static uint32_t count_arguments(CtBuild *build, const CtScheme *scheme, CtTy **result) {
    CtTy **inst = CT_NEW_ARRAY(build->arena, CtTy *, scheme->count + 1);
    CtTy *type = ct_instantiate(build->types, scheme, inst), *argument;
    uint32_t count = 0;
    while (ct_ty_is_fun(build->types, type, &argument, &type)) count++;
    *result = ct_ty_resolve(type);
    return count;
}

int ct_build_arity(CtBuild *build, const char *function) {
    CtEntity *entity = find(build, function);
    CtTy *result;
    return entity == NULL ? -1 : (int)count_arguments(build, &entity->scheme, &result);
}

static void unknown_function(CtBuild *build, const char *name) {
    CtEntity **entities;
    uint32_t count = ct_module_entities(build->types, build->module, &entities);
    CtSym *names = CT_NEW_ARRAY(build->arena, CtSym, count + 1);
    for (uint32_t i = 0; i < count; i++) names[i] = entities[i]->name;
    const char *file = build->context.sources.items[1].name;
    CtDiag *diag = ct_error(&build->context, CT_E0702, CT_NO_SPAN, "%s does not define `%s`", file, name);
    CtSym nearest = ct_nearest(ct_intern_text(&build->context.symbols, name), names, count);
    if (nearest != NULL) ct_help(&build->context, diag, "did you mean `%s`?", nearest->text);
}

static const char *type_text(CtBuild *build, CtTy *type) {
    CtText out = ct_text(build->arena);
    ct_ty_print(&out, build->types, type, false);
    return out.data;
}

CtExpr *ct_entry_expression(CtBuild *build, const CtEntry *entry) {
    static const char *const wrappers[] = {"entry'run", "entry'grad", "entry'vjp", "entry'jvp", "entry'jacobian"};
    CtEntity *entity = find(build, entry->function);
    if (entity == NULL) {
        unknown_function(build, entry->function);
        return NULL;
    }
    CtTy *result;
    uint32_t arity = count_arguments(build, &entity->scheme, &result);
    CtExpr *f = variable(build, entity->name, entity->span);
    if (entry->mode == COTAN_RUN && arity == 0) return f;
    if (arity == 0) {
        ct_error(&build->context, CT_E0405, entity->span, "`%s` has the type %s: only functions have derivatives",
                 entry->function, type_text(build, result));
        return NULL;
    }
    bool real = result->kind == TY_META || (result->kind == TY_CON && result->con == ct_tycon_double(build->types));
    if (entry->mode == COTAN_GRAD && !real) {
        CtDiag *diag = ct_error(&build->context, CT_E0405, entity->span,
                                "the gradient is of a function whose result is a Double, but `%s` gives %s",
                                entry->function, type_text(build, result));
        ct_help(&build->context, diag, "`cotan jacobian` and `cotan vjp` take functions with any first-order result");
        return NULL;
    }
    CtExpr *expr = expr_new(build, EXPR_APP, entity->span);
    expr->parts = CT_NEW_ARRAY(build->arena, CtExpr *, 2);
    expr->part_count = 2;
    expr->parts[0] = variable(build, ct_intern_text(&build->context.symbols, wrappers[entry->mode]), entity->span);
    expr->parts[1] = of_one_argument(build, f, arity);
    return expr;
}

/* ---- types and Core for printing ---- */

/* One name, or all that the module defines. */
static bool choose(CtBuild *build, const char *name, CtEntity ***entities, uint32_t *count) {
    *count = ct_module_entities(build->types, build->module, entities);
    if (name == NULL) return true;
    CtEntity *one = find(build, name);
    if (one == NULL) {
        unknown_function(build, name);
        return false;
    }
    *entities = CT_NEW(build->arena, CtEntity *);
    (*entities)[0] = one;
    *count = 1;
    return true;
}

bool ct_build_types(CtBuild *build, const char *name, CtText *out) {
    CtEntity **entities;
    uint32_t count;
    if (!choose(build, name, &entities, &count)) return false;
    for (uint32_t i = 0; i < count; i++) {
        const char *text = entities[i]->name->text;
        bool is_operator = ct_is_operator_name(entities[i]->name);
        ct_text_printf(out, is_operator ? "(%s) :: " : "%s :: ", text);
        ct_scheme_print(out, build->types, &entities[i]->scheme);
        ct_text_puts(out, "\n");
    }
    return true;
}

bool ct_build_core(CtBuild *build, const char *name, CtText *out) {
    CtEntity **entities;
    uint32_t count;
    if (!choose(build, name, &entities, &count)) return false;
    build->program = ct_program_new(&build->context);
    build->elab = ct_elab_new(build->types, build->program);
    CT_VEC(CtGlobal *) globals = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (entities[i]->scheme.count > 0 && name == NULL) continue;          /* polymorphic: shown where it is used */
        CtExpr *expr = variable(build, entities[i]->name, entities[i]->span); /* its types, defaulted */
        if (entities[i]->scheme.count > 0 && !ct_infer_expression(build->types, expr, NULL)) return false;
        CtGlobal *global = ct_elab_global(build->elab, entities[i], expr->inst);
        if (global != NULL) ct_push(build->arena, &globals, global);
    }
    if (build->context.error_count > 0) return false;
    ct_core_simplify(build->program);
    for (uint32_t i = 0; i < globals.count; i++) {
        if (i > 0) ct_text_puts(out, "\n");
        ct_core_print_global(out, build->program, globals.items[i]);
    }
    return true;
}
