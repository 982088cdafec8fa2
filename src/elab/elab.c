/* The public functions of elaboration. */
#include "elab/internal.h"

bool ct_elab_too_deep(CtElab *el, CtSourceRange range) {
    if (el->gave_up) return true;
    if (el->depth < ELAB_MAX_DEPTH) {
        el->depth++;
        return false;
    }
    ct_elab_report_depth(el, range);
    return true;
}

void ct_elab_report_depth(CtElab *el, CtSourceRange range) {
    if (el->gave_up) return;
    CtDiag *diag = ct_error(el->context, CT_E0404, ct_elab_blame(el, range), "this is nested too deeply");
    ct_help(el->context, diag, "give inner parts names of their own");
    el->gave_up = true;
}

CtCore *ct_elab_error_term(CtElab *el, CtSourceRange range, CtType *type) {
    return ct_core_fail(el->program, range, type, CT_E0901, "elaboration failed", NULL);
}

CtEntity *ct_elab_library_entity(CtElab *el, const char *name) {
    CtEntity *entity = ct_types_lookup_library(el->types, ct_intern_text(&el->context->symbols, name));
    if (entity != NULL) return entity;
    ct_error(el->context, CT_E0901, CT_NO_RANGE, "the library does not define %s", name);
    return NULL;
}

/* Core refers to the types Bool and String, which the prelude defines. */
static void find_types(CtElab *el) {
    if (el->program->string_type != NULL) return;
    CtTyCon *bool_ = ct_types_lookup_library_tycon(el->types, ct_intern_text(&el->context->symbols, "Bool"));
    if (bool_ != NULL)
        el->program->bool_type = ct_elab_core(el, ct_elab_ground_con(el, bool_));
    else
        ct_error(el->context, CT_E0901, CT_NO_RANGE, "the library does not define Bool");
    Ground *list = ct_elab_ground_con(el, ct_types_con_list(el->types));
    Ground *string = ct_elab_ground_app(el, list, ct_elab_ground_con(el, ct_types_con_char(el->types)));
    el->program->string_type = ct_elab_core(el, string);
}

static CtGlobal *finish(CtElab *el, const Spec *spec, uint32_t errors_before) {
    uint32_t from = el->work_done;
    ct_elab_work(el);
    el->gave_up = false;
    if (spec == NULL || el->context->error_count > errors_before) return NULL;
    ct_elab_uncurry_globals(el, from, spec);
    return spec->global;
}

CtGlobal *ct_elab_library(CtElab *el, const char *name) {
    CtEntity *entity = ct_elab_library_entity(el, name);
    return entity == NULL ? NULL : ct_elab_global(el, entity, NULL);
}

void ct_elab_set_lazy(CtElab *el) { el->is_lazy = true; }

bool ct_elab_wants_lazy(const CtElab *el, bool value) { return el->wants_lazy && !(value && el->for_actions); }

CtElab *ct_elab_new(CtTypes *types, CtProgram *program) {
    CtContext *context = program->context;
    CtElab *el = CT_NEW(context->arena, CtElab);
    el->types = types;
    el->program = program;
    el->context = context;
    el->arena = context->arena;
    find_types(el);
    return el;
}

CtGlobal *ct_elab_global(CtElab *el, CtEntity *entity, CtTy **inst) {
    uint32_t errors_before = el->context->error_count;
    find_types(el);
    if (el->program->bool_type == NULL) return NULL;
    Ground **types = CT_NEW_ARRAY(el->arena, Ground *, entity->scheme.count);
    for (uint32_t i = 0; i < entity->scheme.count; i++)
        types[i] = ct_elab_ground_in(el, NULL, inst != NULL ? inst[i] : entity->scheme.generics[i]);
    Spec *spec = NULL;
    if (entity->kind == ENTITY_GLOBAL)
        spec = ct_elab_spec_entity(el, entity, types, entity->range);
    else
        spec = ct_elab_spec_name(el, entity, types);
    return finish(el, spec, errors_before);
}

CtGlobal *ct_elab_expression(CtElab *el, const char *name, CtExpr *expr) {
    uint32_t errors_before = el->context->error_count;
    find_types(el);
    if (el->program->bool_type == NULL) return NULL;
    return finish(el, ct_elab_spec_expr(el, name, expr), errors_before);
}
