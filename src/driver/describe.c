/* What a name in scope means, for a person who asks at a prompt: type, place, the comment above it, the declaration. */
#include "driver/pipeline.h"

typedef struct Describe {
    CtBuild *build;
    CtText *out;
    bool all; /* places and declarations, too */
    bool any; /* something was described */
} Describe;

static void begin(Describe *d) {
    if (d->any) ct_text_putc(d->out, '\n');
    d->any = true;
}

/* The place and the comment of what begins at `range`; both may be missing. */
static void put_about(Describe *d, CtSourceRange range) {
    if (range.source == 0) return;
    const CtSource *source = &d->build->context.sources.items[range.source];
    uint32_t line = ct_source_line(&d->build->context, range.source, range.start);
    if (d->all && source->name[0] != '<') ct_text_printf(d->out, "  -- %s:%u", source->name, line);
    ct_text_putc(d->out, '\n');
    const char *comment = ct_driver_comment_above(d->build, source, line);
    if (comment != NULL) ct_text_printf(d->out, "%s\n", comment);
}

static void put_value(Describe *d, const char *name, const CtEntity *entity) {
    const CtBinding *binding = entity->binding;
    CtSourceRange range = entity->range;
    if (binding != NULL && binding->signature_range.source == range.source &&
        binding->signature_range.start < range.start)
        range = binding->signature_range;
    begin(d);
    ct_text_printf(d->out, ct_syntax_is_operator_name(entity->name) ? "(%s) :: " : "%s :: ", name);
    ct_types_scheme_print(d->out, d->build->types, &entity->scheme);
    put_about(d, range);
}

/* A declaration as its source has it, with the comment above. */
static void put_declaration(Describe *d, const CtDecl *decl) {
    begin(d);
    const CtSource *source = &d->build->context.sources.items[decl->range.source];
    ct_text_printf(d->out, "%.*s", (int)(decl->range.end - decl->range.start), source->text + decl->range.start);
    put_about(d, decl->range);
}

static void put_type(Describe *d, const char *name, const CtTyCon *tycon) {
    if (tycon->decl != NULL) {
        put_declaration(d, tycon->decl);
        return;
    }
    begin(d);
    ct_text_printf(d->out, "%s: a type of the language\n", name);
}

bool ct_driver_build_describe(CtBuild *build, const char *name, bool all, CtText *out) {
    Describe d = {build, out, all, false};
    CtEntity *entity = ct_types_meaning(build->types, SPACE_VALUE, name);
    CtDataCon *con = ct_types_meaning(build->types, SPACE_CON, name);
    CtTyCon *tycon = ct_types_meaning(build->types, SPACE_TYPE, name);
    CtClass *class_ = ct_types_meaning(build->types, SPACE_CLASS, name);
    if (entity != NULL) put_value(&d, name, entity);
    if (con != NULL && (tycon == NULL || con->tycon != tycon)) put_type(&d, name, con->tycon);
    if (tycon != NULL) put_type(&d, name, tycon);
    if (class_ != NULL && class_->decl != NULL) put_declaration(&d, class_->decl);
    return d.any;
}
