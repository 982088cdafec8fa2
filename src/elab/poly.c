/* Values of types of higher rank. As programs are specialised, such a value is a constructor with a field for each
 * tuple of types at which the program uses a value of its type; where it is made, the expression is elaborated once for
 * each. The fields come to be known while code is made, and code that makes or uses such values is made again when
 * there is one more (special.c). */
#include "elab/internal.h"

enum { MOST_FIELDS = 100, DEEPEST_FIELD = 40 };

CtType *ct_elab_poly_type(CtElab *el, Ground *type) {
    CtTyCon *head = ct_elab_ground_head(type, NULL);
    CtType *core = ct_core_type_data(el->program, head->name, NULL, 0, false);
    CtCon con = {.name = ct_intern_text(&el->context->symbols, "Forall")};
    type->core = core;
    ct_core_data_set_cons(el->program, core->data, &con, 1);
    core->data->is_enum = false;
    type->variants = CT_NEW(el->arena, Variants);
    return core;
}

static Ground *field_type(CtElab *el, Ground *type, Ground **types) {
    uint32_t count;
    CtTyCon *head = ct_elab_ground_head(type, &count);
    const CtScheme *poly = head->poly;
    uint32_t all = count + poly->count;
    CtTy **generics = CT_NEW_ARRAY(el->arena, CtTy *, all);
    Ground **args = CT_NEW_ARRAY(el->arena, Ground *, all);
    for (uint32_t i = 0; i < count; i++) {
        generics[i] = head->params[i];
        args[i] = ct_elab_ground_arg(type, i);
    }
    for (uint32_t i = 0; i < poly->count; i++) {
        generics[count + i] = poly->generics[i];
        args[count + i] = types[i];
    }
    TyEnv env = {.generics = generics, .types = args, .count = all};
    return ct_elab_ground_in(el, &env, poly->type);
}

/* The field for these types; made at its first use. */
static uint32_t field_at(CtElab *el, Ground *type, Ground **types, uint32_t count, CtSourceRange range) {
    Variants *known = type->variants;
    CtCon *con = &type->core->data->cons[0];
    bool deep = known->items.count == MOST_FIELDS;
    for (uint32_t i = 0; i < known->items.count; i++)
        if (memcmp(known->items.items[i].types, types, count * sizeof *types) == 0) return i;
    for (uint32_t i = 0; i < count; i++) deep = deep || types[i]->depth > DEEPEST_FIELD;
    if (deep && !el->gave_up) {
        CtTyCon *head = ct_elab_ground_head(type, NULL);
        CtDiag *diag = ct_error(el->context, CT_E0402, ct_elab_blame(el, range),
                                "a value of the type `%s` is used at ever more types", head->name->text);
        ct_help(el->context, diag,
                "there is a copy of it for each type: one that is made of another may not use that at a larger type");
        el->gave_up = true;
    }
    Variant variant = {.types = CT_NEW_ARRAY(el->arena, Ground *, count + 1)};
    for (uint32_t i = 0; i < count; i++) variant.types[i] = types[i];
    CtType *field = ct_elab_core(el, field_type(el, type, types));
    CtType **fields = CT_NEW_ARRAY(el->arena, CtType *, known->items.count + 1);
    for (uint32_t i = 0; i < known->items.count; i++) fields[i] = con->fields[i];
    fields[known->items.count] = field;
    ct_push(el->arena, &known->items, variant);
    con->fields = fields;
    con->count = known->items.count;
    el->layer_count++;
    return con->count - 1;
}

CtCore *ct_elab_poly_use(CtElab *el, CtSourceRange range, CtCore *value, Ground *type, Ground **types, uint32_t count,
                         Ground **result) {
    CtType *core = ct_elab_core(el, type);
    if (el->spec != NULL) el->spec->by_variants = true;
    uint32_t index = field_at(el, type, types, count, range);
    *result = field_type(el, type, types);
    CtCase one = {.con = &core->data->cons[0]};
    one.vars = CT_NEW_ARRAY(el->arena, CtVar *, one.con->count);
    one.vars[index] = ct_core_var_new(el->program, "f", one.con->fields[index]);
    one.body = ct_core_var(el->program, range, one.vars[index]);
    return ct_core_case(el->program, range, one.con->fields[index], value, &one, 1, NULL);
}

CtCore *ct_elab_poly(CtElab *el, CtExpr *expr) {
    Ground *type = ct_elab_ground(el, expr->type);
    CtType *core = ct_elab_core(el, type);
    CtCon *con = &core->data->cons[0];
    if (el->spec != NULL) el->spec->by_variants = true;
    CT_VEC(CtCore *) fields = {0};
    const TyEnv *before = el->env;
    for (uint32_t i = 0; i < type->variants->items.count && !el->gave_up; i++) {
        TyEnv *env = CT_NEW(el->arena, TyEnv);
        *env =
            (TyEnv){.generics = expr->inst, .types = type->variants->items.items[i].types, .count = expr->inst_count};
        env->outer = before;
        el->env = env;
        CtCore *value = ct_elab_expr(el, expr->parts[0]);
        el->env = before;
        ct_push(el->arena, &fields, value);
    }
    if (fields.count < con->count) return ct_elab_error_term(el, expr->range, core); /* given up, or made again */
    return ct_core_con(el->program, expr->range, con, fields.items, con->count);
}
