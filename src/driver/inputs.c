/* Inputs: texts that continue a program, like those typed at a prompt. Each is a module that continues the previous
 * one: it sees everything defined before, and shadows the names that it defines again; earlier definitions keep their
 * meaning. */
#include "driver/pipeline.h"

static const char input_name[] = "<input>";

static CtName name_of(CtContext *context, const char *text, CtSourceRange range) {
    return (CtName){NULL, ct_intern_text(&context->symbols, text), range};
}

static CtModule *module_new(CtContext *context, uint32_t source) {
    CtModule *module = CT_NEW(context->arena, CtModule);
    module->name = name_of(context, "Main", CT_NO_RANGE);
    module->source = source;
    module->continues = true;
    return module;
}

/* Builds a module with the single binding name = body or, with of_unit, name () = body. */
static CtModule *module_of(CtContext *context, CtName name, CtExpr *body, bool of_unit) {
    CtArena *arena = context->arena;
    CtModule *module = module_new(context, name.range.source);
    CtDecl *decl = module->decls.items = CT_NEW(arena, CtDecl);
    CtBinding *binding = decl->binding = CT_NEW(arena, CtBinding);
    CtClause *clause = binding->clauses = CT_NEW(arena, CtClause);
    CtGuarded *guarded = clause->rhs.guarded = CT_NEW(arena, CtGuarded);
    module->decls.count = 1;
    decl->kind = DECL_BINDING;
    binding->name = name;
    binding->clause_count = 1;
    clause->rhs.guarded_count = 1;
    guarded->body = body;
    decl->range = binding->range = clause->range = guarded->range = name.range;
    if (!of_unit) return module;
    CtPat *unit = CT_NEW(arena, CtPat);
    unit->kind = PAT_TUPLE;
    unit->range = name.range;
    clause->pats = CT_NEW(arena, CtPat *);
    clause->pats[0] = unit;
    clause->pat_count = 1;
    return module;
}

/* ---- reading ---- */

static const char *blank(const char *text) { return text + strspn(text, " \t\r\n"); }

/* `let f x = …` at a prompt means `f x = …`: the keyword is overwritten by blanks while the text is parsed, so that
 * source ranges stay right. */
static CtModule *read_declarations(CtContext *context, const char *text, size_t length) {
    uint32_t source = ct_source_add(context, input_name, text, length, false);
    const char *start = blank(text);
    if (strncmp(start, "let", 3) == 0 && strchr(" \t\r\n", start[3]) != NULL && start[3] != '\0') {
        char *without = ct_copy_text(context->arena, text, length);
        memset(without + (start - text), ' ', 3);
        context->sources.items[source].text = without;
    }
    CtModule *module = ct_syntax_parse_module(context, source);
    context->sources.items[source].text = text;
    if (module != NULL) module->continues = true;
    return module;
}

static CtExpr *read_expression(CtContext *context, const char *text) {
    size_t length = strlen(text);
    const char *copy = ct_copy_text(context->arena, text, length);
    return ct_syntax_parse_expression(context, ct_source_add(context, input_name, copy, length, false));
}

static bool add(CtBuild *build, CtModule *module) { return ct_driver_modules_continue(&build->modules, module); }

/* Binds a name to the value of an expression. A first module binds the expression to a generated name, and a second
 * module binds the name to that. A use of the name inside the expression, as in `it + 1`, means the older binding. */
static bool add_named(CtBuild *build, const CtInput *input) {
    CtContext *context = &build->context;
    CtExpr *value = read_expression(context, input->text);
    if (value == NULL) return false;
    CtName hidden = name_of(context, ct_format(build->arena, "value of %s", input->name), value->range);
    CtExpr *use = CT_NEW(build->arena, CtExpr);
    use->kind = EXPR_VAR;
    use->range = value->range;
    use->name = hidden;
    return add(build, module_of(context, hidden, value, false)) &&
           add(build, module_of(context, name_of(context, input->name, value->range), use, false));
}

bool ct_driver_inputs_read(CtBuild *build) {
    for (const CtInput *input = build->options.inputs; input != NULL; input = input->next) {
        build->last_input = build->context.sources.count;
        if (input->name != NULL) {
            if (!add_named(build, input)) return false;
            continue;
        }
        CtModule *module = read_declarations(&build->context, input->text, input->length);
        if (module == NULL || !add(build, module)) return false;
    }
    return build->context.error_count == 0;
}

void ct_driver_inputs_keep_newest_warnings(CtBuild *build) {
    CtDiag **link = &build->context.diags;
    if (build->last_input == 0) return;
    build->context.warning_count = 0;
    while (*link != NULL) {
        CtDiag *diag = *link;
        if (diag->is_warning && diag->range.source != build->last_input) {
            *link = diag->next;
        } else {
            build->context.warning_count += diag->is_warning;
            link = &diag->next;
        }
    }
    build->context.last_diag = link;
}

/* ---- declarations, or an expression? ---- */

static uint32_t first_error(const CtContext *context) {
    uint32_t first = UINT32_MAX;
    for (const CtDiag *diag = context->diags; diag != NULL; diag = diag->next)
        if (!diag->is_warning && diag->range.source != 0 && diag->range.start < first) first = diag->range.start;
    return first;
}

static bool begins_declaration(const char *text) {
    static const char *const words[] = {"data",   "type",   "newtype", "class", "instance",
                                        "import", "infixl", "infixr",  "infix"};
    const char *start = blank(text);
    size_t length = strspn(start, "abcdefghijklmnopqrstuvwxyz");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncmp(start, words[i], length) == 0) return true;
    return false;
}

/* Chooses the errors to report for a text that is neither an expression nor declarations: those of the parse whose
 * first error comes later. */
static CtContext *meant(const char *text, CtContext *expression, CtContext *declarations) {
    if (begins_declaration(text)) return declarations;
    return first_error(declarations) > first_error(expression) ? declarations : expression;
}

CtInputKind ct_driver_input_kind(CtArena *arena, const char *text, size_t length, CtContext **wrong) {
    CtContext *expression = CT_NEW(arena, CtContext), *declarations = CT_NEW(arena, CtContext);
    ct_context_init(expression, arena);
    ct_context_init(declarations, arena);
    CtExpr *expr = read_expression(expression, text);
    if (expr != NULL && expression->error_count == 0) return INPUT_EXPRESSION;
    CtModule *module = read_declarations(declarations, text, length);
    if (module != NULL && declarations->error_count == 0) return INPUT_DECLARATIONS;
    *wrong = meant(text, expression, declarations);
    return INPUT_WRONG;
}

/* ---- expressions in the scope of a build ---- */

CtExpr *ct_driver_build_expression(CtBuild *build, const char *text) {
    bool had_large = build->context.large_tuples;
    CtExpr *expr = read_expression(&build->context, text);
    if (expr == NULL) return NULL;
    if (!had_large && build->context.large_tuples && !ct_driver_build_module(build, "LargeTuples")) return NULL;
    ct_syntax_resolve_expression_fixities(&build->context, ct_driver_modules_fixities(&build->modules), expr);
    return build->context.error_count == 0 ? expr : NULL;
}

/* The expression becomes the body of a function f () = text: a function binding is generalised, so that its type scheme
 * gives the most general type. */
bool ct_driver_build_type_of(CtBuild *build, const char *text, CtText *out) {
    CtExpr *expr = ct_driver_build_expression(build, text);
    if (expr == NULL) return false;
    CtModule *module = module_of(&build->context, name_of(&build->context, "type of it", expr->range), expr, true);
    if (!ct_types_infer_module(build->types, module, false)) return false; /* the build cannot be used any more */
    CtScheme scheme = module->decls.items[0].binding->entity->scheme;
    CtTy *unit;
    ct_types_scope_return(build->types);
    ct_types_ty_is_fun(build->types, scheme.type, &unit, &scheme.type);
    ct_types_scheme_print(out, build->types, &scheme);
    return true;
}
