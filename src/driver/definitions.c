/* What a program defines, for those who call it: names, comments, parameters and types. */
#include "driver/pipeline.h"

/* ---- comments ---- */

/* A line of a source: its text without blanks at both ends. */
typedef struct Line {
    const char *text;
    size_t length;
} Line;

static Line line_at(const char *text, const char *end, const char **next) {
    const char *stop = memchr(text, '\n', (size_t)(end - text));
    *next = stop != NULL ? stop + 1 : end;
    if (stop == NULL) stop = end;
    while (text < stop && (*text == ' ' || *text == '\t')) text++;
    while (stop > text && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == '\r')) stop--;
    return (Line){text, (size_t)(stop - text)};
}

static bool is_comment(Line line) { return line.length >= 2 && memcmp(line.text, "--", 2) == 0; }

const char *ct_driver_comment_above(CtBuild *build, const CtSource *source, uint32_t line) {
    const char *end = source->text + source->length, *next = source->text, *first = NULL;
    uint32_t count = 0;
    for (uint32_t i = 1; i < line && next < end; i++) {
        const char *here = next;
        bool is = is_comment(line_at(here, end, &next));
        if (is && count == 0) first = here;
        count = is ? count + 1 : 0;
    }
    if (count == 0) return NULL;
    CtText out = ct_text(build->arena);
    next = first;
    for (uint32_t i = 0; i < count; i++) {
        Line one = line_at(next, end, &next);
        size_t skip = 2;
        if (skip + 1 < one.length && one.text[skip] == ' ' && one.text[skip + 1] == '|') skip += 2;
        if (skip < one.length && one.text[skip] == ' ') skip++;
        if (i > 0) ct_text_putc(&out, '\n');
        ct_text_printf(&out, "%.*s", (int)(one.length - skip), one.text + skip);
    }
    return out.data;
}

/* ---- types ---- */

/* What errors there were before something that may fail without harm. */
typedef struct Before {
    uint32_t errors;
    CtDiag **last;
} Before;

static Before before(const CtContext *context) { return (Before){context->error_count, context->last_diag}; }

/* Whether it has failed; then its errors are forgotten. */
static bool has_failed(CtContext *context, Before before) {
    if (context->error_count == before.errors) return false;
    context->error_count = before.errors;
    context->last_diag = before.last;
    *context->last_diag = NULL;
    return true;
}

/* The type of a use of the entity, in which numeric type variables are Double; NULL where it is ambiguous. */
static CtTy *type_of(CtBuild *build, const CtEntity *entity) {
    CtContext *context = &build->context;
    Before begin = before(context);
    CtExpr *expr = CT_NEW(build->arena, CtExpr);
    expr->kind = EXPR_VAR;
    expr->range = entity->range;
    expr->name = (CtName){NULL, entity->name, entity->range};
    ct_types_prefer_double(build->types, true);
    bool sound = ct_types_infer_expression(build->types, expr, NULL);
    ct_types_prefer_double(build->types, false);
    return has_failed(context, begin) || !sound ? NULL : expr->type;
}

static void describe_types(CtBuild *build, CtDefinition *out, CtTy *type) {
    CtTy *argument, *rest = type;
    CtContext *context = &build->context;
    Before begin = before(context);
    while (ct_types_ty_is_fun(build->types, rest, &argument, &rest)) out->count++;
    out->types = CT_NEW_ARRAY(build->arena, CtType *, out->count + 1);
    for (uint32_t i = 0; ct_types_ty_is_fun(build->types, type, &argument, &type); i++)
        out->types[i] = ct_elab_core_of(build->elab, argument);
    out->result = ct_elab_core_of(build->elab, type);
    if (!has_failed(context, begin)) return;
    out->types = NULL;
    out->result = NULL;
}

/* ---- definitions ---- */

static void describe(CtBuild *build, const CtEntity *entity, CtDefinitions *out) {
    const CtBinding *binding = entity->binding;
    CtSourceRange range = entity->range;
    if (binding != NULL && binding->signature_range.source == range.source &&
        binding->signature_range.start < range.start)
        range = binding->signature_range;
    CtText type_text = ct_text(build->arena);
    ct_types_scheme_print(&type_text, build->types, &entity->scheme);
    CtDefinition one = {.name = entity->name->text, .type = type_text.data};
    one.line = ct_source_line(&build->context, range.source, range.start);
    one.comment = ct_driver_comment_above(build, &build->context.sources.items[range.source], one.line);
    CtTy *type = type_of(build, entity);
    if (type != NULL) describe_types(build, &one, type);
    one.names = CT_NEW_ARRAY(build->arena, const char *, one.count + 1);
    const CtClause *clause = binding != NULL && binding->clause_count > 0 ? &binding->clauses[0] : NULL;
    for (uint32_t i = 0; clause != NULL && i < one.count && i < clause->pat_count; i++)
        if (clause->pats[i]->kind == PAT_VAR || clause->pats[i]->kind == PAT_AS)
            one.names[i] = clause->pats[i]->name.text->text;
    ct_push(build->arena, out, one);
}

/* Names that the compiler generated hold a blank or are fields. */
static bool is_own(const CtEntity *entity) {
    return !ct_syntax_is_operator_name(entity->name) && strchr(entity->name->text, ' ') == NULL &&
           (entity->binding == NULL || !entity->binding->made);
}

void ct_driver_build_definitions(CtBuild *build, CtDefinitions *out) {
    CtEntity **entities;
    uint32_t count = ct_types_module_entities(build->types, build->module, &entities);
    build->program = ct_core_program_new(&build->context);
    build->elab = ct_elab_new(build->types, build->program);
    for (uint32_t i = 0; i < count; i++)
        if (is_own(entities[i])) describe(build, entities[i], out);
}
