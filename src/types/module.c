/* The public functions: inference of a module, and of an expression. */
#include "types/internal.h"

bool ct_types_infer_module(CtTypes *types, CtModule *module, bool is_prelude) {
    uint32_t errors = types->context->error_count;
    CtDecls *decls = &module->decls;
    types->module = module;
    types->module_name = module->name.text ? module->name.text->text : "Main";
    types->is_library = types->context->sources.items[module->source].is_library;
    types->level = 0;
    types->unknown.count = 0;
    types->misnamed = NULL;
    types->told_large = false;
    CtMarks marks = ct_types_marks(types);
    if (is_prelude)
        types->own = &types->library;
    else
        ct_types_open_imports(types, module);
    ct_types_declare_types(types, decls);
    ct_types_declare_selectors(types);
    ct_types_declare_classes(types, decls);
    ct_types_declare_givens(types);
    ct_types_declare_instances(types, decls);
    ct_types_declare_derived(types, decls);
    ct_types_complete_instances(types);
    ct_types_check_superclasses(types);
    ct_types_declare_primitives(types, decls);
    ct_types_resolve_top(types, decls);
    ct_types_declare_defaults(types, decls);
    ct_types_derive_methods(types);
    ct_types_resolve_class_bodies(types);
    if (!is_prelude && !module->continues) ct_types_close_exports(types);
    types->level = 1;
    ct_types_infer_groups(types, decls);
    ct_types_infer_class_bodies(types);
    types->level = 0;
    ct_types_default(types, marks);
    ct_types_check_large(types);
    ct_types_check_inner_uses(types);
    if (types->context->error_count == errors) {
        ct_types_check_matches(types);
        ct_types_check_rules(types);
    }
    types->matches.count = types->rules.count = 0;
    return types->context->error_count == errors;
}

typedef struct Whole {
    CtExpr *expr;
    CtTy *type;
} Whole;

static void infer_whole(CtTypes *types, void *data) {
    const Whole *whole = data;
    CtMarks marks = ct_types_marks(types);
    types->level = 1;
    ct_types_check_expr(types, whole->expr, whole->type ? whole->type : ct_types_ty_meta(types, 0), NULL);
    ct_types_operands_settle(types, marks.operands, true);
    types->level = 0;
    ct_types_default(types, marks);
}

bool ct_types_infer_expression(CtTypes *types, CtExpr *expr, CtTy *expected) {
    types->unknown.count = 0;
    types->told_large = false;
    types->is_library = false;
    types->top_user = NULL;
    uint32_t errors = types->context->error_count;
    types->level = 1;
    ct_types_resolve_expr(types, expr);
    ct_types_attempt(types, infer_whole, &(Whole){expr, expected});
    ct_types_check_large(types);
    ct_types_check_inner_uses(types);
    types->matches.count = 0;
    return types->context->error_count == errors;
}
