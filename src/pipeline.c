/* The passes, and the one function that runs them. */
#include "pipeline.h"

#include <stdlib.h>

#include "embedded.h"

typedef bool Pass(CtBuild *build, const CtEntry *entry);
#define CT_PASS(name, needs, makes, breaks, what) static Pass pass_##name;
CT_PASSES(CT_PASS)
#undef CT_PASS

const CtPass ct_passes[] = {
#define CT_PASS(name, needs, makes, breaks, what) {#name, needs, makes, breaks, what},
    CT_PASSES(CT_PASS)
#undef CT_PASS
};
const uint32_t ct_pass_count = sizeof ct_passes / sizeof *ct_passes;

static Pass *const functions[] = {
#define CT_PASS(name, needs, makes, breaks, what) pass_##name,
    CT_PASSES(CT_PASS)
#undef CT_PASS
};

/* ---- what the table's rows do ---- */

static bool pass_parse(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    CtContext *context = &build->context;
    for (uint32_t i = 0; i < ct_embedded_count; i++) {
        const struct CtEmbedded *library = &ct_embedded[i];
        uint32_t source = ct_source_add(context, library->name, library->text, library->length, true);
        if (strcmp(library->name, "lib/entry.cot") == 0) build->entry_source = source;
        CtModule *module = ct_parse_module(context, source);
        if (module == NULL) return false;
        build->libraries[build->library_count++] = module;
    }
    build->module = ct_parse_module(context, 1); /* the user's source was added first */
    return build->module != NULL;
}

static bool pass_operators(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    for (uint32_t i = 0; i < build->library_count; i++)
        ct_resolve_fixities(&build->context, &build->fixities, build->libraries[i]);
    ct_resolve_fixities(&build->context, &build->fixities, build->module);
    return build->context.error_count == 0;
}

static bool pass_infer(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    build->types = ct_types_new(&build->context);
    for (uint32_t i = 0; i < build->library_count; i++)
        if (!ct_infer_module(build->types, build->libraries[i])) return false;
    return ct_infer_module(build->types, build->module);
}

static CtExpr *entry_expression(CtBuild *build, const CtEntry *entry);

static bool pass_elaborate(CtBuild *build, const CtEntry *entry) {
    CtExpr *expr = entry_expression(build, entry);
    if (expr == NULL) return false;
    ct_types_prefer_double(build->types, entry->prefer_double);
    bool sound = ct_infer_expression(build->types, expr, NULL);
    ct_types_prefer_double(build->types, false);
    if (!sound) return false;
    build->program = ct_program_new(&build->context);
    build->elab = ct_elab_new(build->types, build->program);
    build->ad = ct_ad_new(build->program, entry->reverse);
    build->entry = ct_elab_expression(build->elab, "entry", expr);
    if (ct_method_info(entry->method)->reverse) ct_ad_jvp_in_reverse(build->ad, build->entry_source);
    return build->entry != NULL && build->context.error_count == 0;
}

static bool pass_simplify(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    ct_core_simplify(build->program);
    return true;
}

static bool pass_differentiate(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    ct_ad_expand(build->ad);
    return build->context.error_count == 0;
}

static bool pass_prune(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    ct_core_reachable(build->program, &build->entry, 1);
    return true;
}

/* ---- running them ---- */

static void dump(CtBuild *build) {
    CtText *out = &build->dumped;
    if (build->program != NULL) {
        for (uint32_t i = 0; i < build->program->globals.count; i++) {
            ct_core_print_global(out, build->program, build->program->globals.items[i]);
            ct_text_puts(out, "\n");
        }
    } else if (build->types != NULL) {
        ct_build_types(build, NULL, out);
    } else {
        for (uint32_t i = 0; i < build->module->decls.count; i++) {
            const CtDecl *decl = &build->module->decls.items[i];
            if (decl->kind != DECL_BINDING) continue;
            for (uint32_t j = 0; j < decl->binding->clause_count; j++) {
                const CtRhs *rhs = &decl->binding->clauses[j].rhs;
                ct_text_puts(out, decl->binding->name.text != NULL ? decl->binding->name.text->text : "(pattern)");
                for (uint32_t k = 0; k < rhs->guarded_count; k++) {
                    ct_text_puts(out, " = ");
                    ct_syntax_print_expr(out, rhs->guarded[k].body);
                }
                ct_text_puts(out, "\n");
            }
        }
    }
}

static bool run_pass(CtBuild *build, uint32_t index, const CtEntry *entry) {
    if (!functions[index](build, entry) || build->context.error_count > 0) return false;
    if (build->options.lint && build->program != NULL) {
        const char *wrong = ct_core_lint(build->program);
        if (wrong != NULL) {
            ct_error(&build->context, CT_E0901, CT_NO_SPAN, "after the pass %s: %s", ct_passes[index].name, wrong);
            return false;
        }
    }
    if (build->options.dump != NULL && strcmp(build->options.dump, ct_passes[index].name) == 0) dump(build);
    return true;
}

enum { FIRST_CORE_PASS = 3 };

CtBuild *ct_build_new(const char *name, const char *text, size_t length, CtBuildOptions options, jmp_buf *handler) {
    CtArena *arena = ct_arena_new(options.memory);
    if (arena == NULL) return NULL;
    jmp_buf failed;
    if (setjmp(failed) != 0) {
        ct_arena_free(arena);
        return NULL;
    }
    ct_arena_on_failure(arena, &failed);
    CtBuild *build = CT_NEW(arena, CtBuild);
    build->arena = arena;
    build->options = options;
    build->dumped = ct_text(arena);
    ct_context_init(&build->context, arena);
    ct_source_add(&build->context, name, text, length, false);
    bool sound = true;
    for (uint32_t i = 0; i < FIRST_CORE_PASS && sound; i++) sound = run_pass(build, i, NULL);
    if (!sound && build->context.error_count == 0)
        ct_error(&build->context, CT_E0901, CT_NO_SPAN, "reading %s failed without a reason", name);
    ct_arena_on_failure(arena, handler);
    return build;
}

void ct_build_free(CtBuild *build) {
    if (build != NULL) ct_arena_free(build->arena);
}

bool ct_build_entry(CtBuild *build, const CtEntry *entry) {
    for (uint32_t i = FIRST_CORE_PASS; i < ct_pass_count; i++)
        if (!run_pass(build, i, entry)) return false;
    return true;
}

/* ---- entry points, made as syntax ---- */

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
    CtDiag *diag = ct_error(&build->context, CT_E0302, CT_NO_SPAN, "%s does not define `%s`", file, name);
    CtSym nearest = ct_nearest(ct_intern_text(&build->context.symbols, name), names, count);
    if (nearest != NULL) ct_help(&build->context, diag, "did you mean `%s`?", nearest->text);
}

static bool is_double(CtBuild *build, CtTy *type) {
    return type->kind != TY_CON || type->con == ct_tycon_double(build->types);
}

static const char *type_text(CtBuild *build, CtTy *type) {
    CtText out = ct_text(build->arena);
    ct_ty_print(&out, build->types, type, false);
    return out.data;
}

static CtExpr *entry_expression(CtBuild *build, const CtEntry *entry) {
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
    bool real = result->kind == TY_META || (result->kind == TY_CON && is_double(build, result));
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

bool ct_build_types(CtBuild *build, const char *name, CtText *out) {
    CtEntity **entities, *one = NULL;
    uint32_t count = ct_module_entities(build->types, build->module, &entities);
    if (name != NULL) {
        one = find(build, name);
        if (one == NULL) {
            unknown_function(build, name);
            return false;
        }
        entities = &one;
        count = 1;
    }
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
    CtEntity **entities, *one = NULL;
    uint32_t count = ct_module_entities(build->types, build->module, &entities);
    if (name != NULL) {
        one = find(build, name);
        if (one == NULL) {
            unknown_function(build, name);
            return false;
        }
        entities = &one;
        count = 1;
    }
    build->program = ct_program_new(&build->context);
    build->elab = ct_elab_new(build->types, build->program);
    CT_VEC(CtGlobal *) globals = {0};
    for (uint32_t i = 0; i < count; i++) {
        if (entities[i]->scheme.count > 0 && name == NULL) continue; /* polymorphic: shown where it is used */
        CtTy *type = NULL;
        CtExpr *expr = variable(build, entities[i]->name, entities[i]->span);
        if (entities[i]->scheme.count > 0) {
            if (!ct_infer_expression(build->types, expr, type)) return false;
            CtGlobal *global = ct_elab_global(build->elab, entities[i], expr->inst);
            if (global != NULL) ct_push(build->arena, &globals, global);
        } else {
            CtGlobal *global = ct_elab_global(build->elab, entities[i], NULL);
            if (global != NULL) ct_push(build->arena, &globals, global);
        }
    }
    if (build->context.error_count > 0) return false;
    ct_core_simplify(build->program);
    for (uint32_t i = 0; i < globals.count; i++) {
        if (i > 0) ct_text_puts(out, "\n");
        ct_core_print_global(out, build->program, globals.items[i]);
    }
    return true;
}
