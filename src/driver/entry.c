/* Entry points: what is asked of a function, made as syntax around lib/entry.cot; and functions taken out for printing.
 */
#include "driver/pipeline.h"

static CtEntity *find(CtBuild *build, const char *name) {
    return ct_types_lookup(build->types, ct_intern_text(&build->context.symbols, name));
}

static CtExpr *expr_new(CtBuild *build, CtExprKind kind, CtSourceRange range) {
    CtExpr *expr = CT_NEW(build->arena, CtExpr);
    expr->kind = kind;
    expr->range = range;
    return expr;
}

static CtExpr *variable(CtBuild *build, CtSym name, CtSourceRange range) {
    CtExpr *expr = expr_new(build, EXPR_VAR, range);
    expr->name = (CtName){NULL, name, range};
    return expr;
}

/* \(x1, …, xn) -> f x1 … xn; f itself when it takes one argument */
static CtExpr *of_one_argument(CtBuild *build, CtExpr *f, uint32_t arity) {
    if (arity == 1) return f;
    CtPat *tuple = CT_NEW(build->arena, CtPat);
    CtExpr *call = expr_new(build, EXPR_APP, f->range);
    tuple->kind = PAT_TUPLE;
    tuple->range = f->range;
    tuple->parts = CT_NEW_ARRAY(build->arena, CtPat *, arity);
    tuple->part_count = arity;
    call->parts = CT_NEW_ARRAY(build->arena, CtExpr *, arity + 1);
    call->part_count = arity + 1;
    call->parts[0] = f;
    for (uint32_t i = 0; i < arity; i++) {
        CtSym name = ct_intern_text(&build->context.symbols, ct_format(build->arena, "argument'%u", i + 1));
        CtPat *part = tuple->parts[i] = CT_NEW(build->arena, CtPat);
        part->kind = PAT_VAR;
        part->range = f->range;
        part->name = (CtName){NULL, name, f->range};
        call->parts[i + 1] = variable(build, name, f->range);
    }
    CtExpr *lam = expr_new(build, EXPR_LAM, f->range);
    lam->pats = CT_NEW_ARRAY(build->arena, CtPat *, 1);
    lam->pats[0] = tuple;
    lam->pat_count = 1;
    lam->parts = CT_NEW_ARRAY(build->arena, CtExpr *, 1);
    lam->parts[0] = call;
    lam->part_count = 1;
    return lam;
}

/* The number of arguments of a function's type, and what is left when they are given. */
static uint32_t count_arguments(CtBuild *build, CtTy *type, CtTy **result) {
    CtTy *argument;
    uint32_t count = 0;
    while (ct_types_ty_is_fun(build->types, type, &argument, &type)) count++;
    *result = ct_types_ty_resolve(type);
    return count;
}

/* Made by Cotan (inputs.c): no name that can be written. */
static bool is_hidden(CtSym name) { return strchr(name->text, ' ') != NULL; }

static void unknown_function(CtBuild *build, const char *name) {
    CtEntity **entities;
    uint32_t count = ct_types_module_entities(build->types, build->module, &entities);
    CtSym *names = CT_NEW_ARRAY(build->arena, CtSym, count + 1);
    for (uint32_t i = 0; i < count; i++) names[i] = entities[i]->name;
    const char *file = build->context.sources.items[1].name;
    CtDiag *diag = ct_error(&build->context, CT_E0702, CT_NO_RANGE, "%s does not define `%s`", file, name);
    CtSym nearest = ct_nearest(ct_intern_text(&build->context.symbols, name), names, count);
    if (nearest != NULL)
        ct_help(&build->context, diag, "did you mean `%s`?", nearest->text);
    else if (count > 0 && strcmp(name, "main") == 0)
        ct_help(&build->context, diag, "name one of its definitions behind the file, such as `%s`", names[0]->text);
}

static const char *type_text(CtBuild *build, CtTy *type) {
    CtText out = ct_text(build->arena);
    ct_types_ty_print(&out, build->types, type, false);
    return out.data;
}

/* What an entry point is made from: a top-level function, or an expression. */
typedef struct Asked {
    CtExpr *expr;
    const char *name; /* in messages */
    uint32_t arity;
    CtTy *result; /* when all arguments are given */
} Asked;

static bool ask_function(CtBuild *build, const CtEntry *entry, Asked *asked) {
    CtEntity *entity = find(build, entry->function);
    if (entity == NULL) {
        unknown_function(build, entry->function);
        return false;
    }
    CtTy **inst = CT_NEW_ARRAY(build->arena, CtTy *, entity->scheme.count + 1);
    CtTy *type = ct_types_instantiate(build->types, &entity->scheme, inst);
    asked->name = ct_format(build->arena, "`%s`", entry->function);
    asked->arity = count_arguments(build, type, &asked->result);
    asked->expr = variable(build, entity->name, entity->range);
    return true;
}

/* The type comes of a second copy, so that the first one is inferred once, in its place. */
static bool ask_expression(CtBuild *build, const CtEntry *entry, Asked *asked) {
    asked->name = "the expression";
    asked->expr = ct_driver_build_expression(build, entry->expression);
    if (asked->expr == NULL) return false;
    if (entry->mode == COTAN_RUN && !entry->applied) return true;
    CtExpr *copy = ct_driver_build_expression(build, entry->expression);
    ct_types_prefer_double(build->types, entry->prefer_double);
    bool sound = copy != NULL && ct_types_infer_expression(build->types, copy, NULL);
    ct_types_prefer_double(build->types, false);
    if (!sound) return false;
    asked->arity = count_arguments(build, copy->type, &asked->result);
    return true;
}

static bool has_derivative(CtBuild *build, const CtEntry *entry, const Asked *asked) {
    CtSourceRange range = asked->expr->range;
    const char *type = type_text(build, asked->result);
    if (asked->arity == 0) {
        ct_error(&build->context, CT_E0405, range, "%s has the type %s: only functions have derivatives", asked->name,
                 type);
        return false;
    }
    bool real = asked->result->kind == TY_META ||
                (asked->result->kind == TY_CON && asked->result->con == ct_types_con_double(build->types));
    bool wants_double = entry->mode == COTAN_GRAD || entry->mode == COTAN_HESSIAN || entry->mode == COTAN_HVP;
    if (!wants_double || real) return true;
    CtDiag *diag =
        ct_error(&build->context, CT_E0405, range, "the %s is of a function whose result is a Double, but %s gives %s",
                 entry->mode == COTAN_GRAD ? "gradient" : "Hessian", asked->name, type);
    ct_help(&build->context, diag, "`cotan jacobian` and `cotan vjp` take functions with any first-order result");
    return false;
}

CtExpr *ct_driver_entry_expression(CtBuild *build, const CtEntry *entry) {
    static const char *const wrappers[] = {"entry'run",      "entry'grad",    "entry'vjp", "entry'jvp",
                                           "entry'jacobian", "entry'hessian", "entry'hvp"};
    Asked asked = {0};
    bool known = entry->expression != NULL ? ask_expression(build, entry, &asked) : ask_function(build, entry, &asked);
    if (!known) return NULL;
    build->arity = asked.arity;
    if (entry->mode == COTAN_RUN && asked.arity == 0) return asked.expr;
    if (entry->mode != COTAN_RUN && !has_derivative(build, entry, &asked)) return NULL;
    CtExpr *point = entry->point != NULL ? ct_driver_build_expression(build, entry->point) : NULL;
    if (entry->point != NULL && point == NULL) return NULL;
    CtExpr *expr = expr_new(build, EXPR_APP, asked.expr->range);
    expr->parts = CT_NEW_ARRAY(build->arena, CtExpr *, 3);
    expr->part_count = point != NULL ? 3 : 2;
    expr->parts[0] = variable(build, ct_intern_text(&build->context.symbols, wrappers[entry->mode]), expr->range);
    expr->parts[1] = of_one_argument(build, asked.expr, asked.arity);
    expr->parts[2] = point;
    return expr;
}

/* ---- results as text ---- */

static CtGlobal *show_function(CtBuild *build, CtTy *type) {
    if (!ct_types_is_shown_by_instance(build->types, type)) return NULL;
    return ct_elab_global(build->elab, find(build, "entry'show"), &type);
}

void ct_driver_entry_show(CtBuild *build, const CtEntry *entry, CtTy *type) {
    CtTy *argument, *parts[2] = {ct_types_ty_resolve(type)};
    bool is_function = entry->point == NULL && (entry->mode != COTAN_RUN || build->arity > 0);
    if (is_function && !ct_types_ty_is_fun(build->types, parts[0], &argument, &parts[0])) return;
    CtTyCon *pair;
    uint32_t count = 1;
    if (entry->mode != COTAN_RUN && !ct_types_ty_head(parts[0], &pair, parts, 2, &count)) return;
    for (uint32_t i = 0; i < count && i < 2; i++) build->show[i] = show_function(build, parts[i]);
}

/* ---- types and Core for printing ---- */

/* What the program and its inputs define, without what a later one hides. */
static void choose_all(CtBuild *build, CtEntity ***entities, uint32_t *count) {
    CT_VEC(CtEntity *) all = {0};
    for (uint32_t i = 0; i < build->modules.units.count; i++) {
        const CtModule *module = build->modules.units.items[i]->module;
        if (module != build->module && !module->continues) continue;
        CtEntity **own;
        uint32_t own_count = ct_types_module_entities(build->types, module, &own);
        for (uint32_t j = 0; j < own_count; j++)
            if (ct_types_lookup(build->types, own[j]->name) == own[j] && !is_hidden(own[j]->name))
                ct_push(build->arena, &all, own[j]);
    }
    *entities = all.items;
    *count = all.count;
}

/* One name, or all that the program defines. */
static bool choose(CtBuild *build, const char *name, CtEntity ***entities, uint32_t *count) {
    if (name == NULL) {
        choose_all(build, entities, count);
        return true;
    }
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

static void put_types(CtBuild *build, CtEntity **entities, uint32_t count, CtText *out) {
    for (uint32_t i = 0; i < count; i++) {
        const char *text = entities[i]->name->text;
        bool is_operator = ct_syntax_is_operator_name(entities[i]->name);
        ct_text_printf(out, is_operator ? "(%s) :: " : "%s :: ", text);
        ct_types_scheme_print(out, build->types, &entities[i]->scheme);
        ct_text_puts(out, "\n");
    }
}

bool ct_driver_build_types(CtBuild *build, const char *name, CtText *out) {
    CtEntity **entities;
    uint32_t count;
    if (!choose(build, name, &entities, &count)) return false;
    put_types(build, entities, count, out);
    return true;
}

void ct_driver_build_types_of_last(CtBuild *build, CtText *out) {
    CtEntity **entities;
    uint32_t last = build->modules.units.count;
    while (!build->modules.units.items[last - 1]->module->continues) last--;
    uint32_t count = ct_types_module_entities(build->types, build->modules.units.items[last - 1]->module, &entities);
    put_types(build, entities, count, out);
}

bool ct_driver_build_core(CtBuild *build, const char *name, CtText *out) {
    CtEntity **entities;
    uint32_t count;
    if (!choose(build, name, &entities, &count)) return false;
    build->program = ct_core_program_new(&build->context);
    build->elab = ct_elab_new(build->types, build->program);
    CT_VEC(CtGlobal *) globals = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (entities[i]->scheme.count > 0 && name == NULL) continue;           /* polymorphic: shown where it is used */
        CtExpr *expr = variable(build, entities[i]->name, entities[i]->range); /* its types, defaulted */
        if (entities[i]->scheme.count > 0 && !ct_types_infer_expression(build->types, expr, NULL)) return false;
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
