/* Declarations of types and primitives: data, newtype, type, primitive. */
#include "types/internal.h"

static void defined_twice(CtTypes *types, const char *what, CtName name, CtSourceRange first) {
    CtDiag *diag =
        ct_error(types->context, CT_E0309, name.range, "the %s `%s` is defined twice", what, name.text->text);
    ct_note(types->context, diag, first, "the first definition is here");
}

static void declare_tycon(CtTypes *types, CtDecl *decl) {
    CtTyCon *known = ct_map_get(&types->own->names[SPACE_TYPE], ct_key(decl->name.text));
    if (known && known->range.source && known->range.source == decl->range.source) {
        defined_twice(types, "type", decl->name, known->range);
        return;
    }
    CtTyCon *con = ct_types_con_new(types, decl->name.text->text, decl->param_count);
    for (uint32_t i = 0; i < decl->param_count; i++) {
        con->params[i]->name = decl->params[i].text;
        con->params[i]->made = false;
        for (uint32_t j = 0; j < i; j++)
            if (con->params[j]->name == con->params[i]->name)
                defined_twice(types, "parameter", decl->params[i], decl->params[j].range);
    }
    con->declared = decl->param_count;
    con->is_newtype = decl->is_newtype;
    con->is_synonym = decl->kind == DECL_SYNONYM;
    con->decl = decl;
    con->range = decl->name.range;
    decl->tycon = con;
    ct_types_define(types, SPACE_TYPE, con->name, con);
    ct_push(types->arena, &types->new_tycons, con);
}

/* ---- arities of type parameters, inferred from their applications and from where they are passed on ---- */

static bool scan_arities(CtTypes *types, CtTyCon *con, const CtTypeExpr *expr, uint32_t missing) {
    bool changed = false;
    for (uint32_t i = 0; i < con->arity; i++) {
        int found = ct_types_applied_to(types, expr, con->params[i]->name, missing);
        if (found <= (int)con->params[i]->arity) continue;
        con->params[i]->arity = (uint32_t)found;
        changed = true;
    }
    return changed;
}

static bool scan_declaration(CtTypes *types, CtTyCon *con) {
    bool changed = false;
    CtDecl *decl = con->decl;
    if (con->is_synonym) return scan_arities(types, con, decl->type.type, 0);
    for (uint32_t i = 0; i < decl->con_count; i++)
        for (uint32_t j = 0; j < decl->cons[i].field_count; j++)
            changed |= scan_arities(types, con, decl->cons[i].fields[j], 0);
    for (uint32_t i = 0; i < decl->con_count; i++)
        for (uint32_t j = 0; decl->cons[i].equal && j < decl->param_count; j++)
            if (decl->cons[i].equal[j])
                changed |= scan_arities(types, con, decl->cons[i].equal[j], con->params[j]->arity);
    return changed;
}

static CtTyVars params_of(CtTypes *types, CtTyCon *con) {
    CtTyVars vars = {.open = false};
    for (uint32_t i = 0; i < con->arity; i++)
        ct_map_set(types->arena, &vars.map, ct_key(con->params[i]->name), con->params[i]);
    return vars;
}

/* The number of arguments that a synonym's right-hand side still takes (1 for State Int); as many parameters are added
 * to the synonym. */
static uint32_t take_missing(CtTypes *types, CtTyCon *con) {
    const CtTypeExpr *head = con->decl->type.type;
    uint32_t given = 0;
    for (; head->kind == TYPE_EXPR_APP; head = head->parts[0]) given++;
    CtTyCon *applied = head->kind == TYPE_EXPR_CON ? ct_types_find(types, SPACE_TYPE, head->name) : NULL;
    if (!applied || applied == con) return 0;
    if (applied->is_synonym && applied->state != 1) ct_types_ensure_synonym(types, applied);
    if (applied->arity <= given || applied->type->is_error) return 0;
    uint32_t missing = applied->arity - given;
    CtTy **params = CT_NEW_ARRAY(types->arena, CtTy *, con->declared + missing);
    for (uint32_t i = 0; i < con->declared; i++) params[i] = con->params[i];
    for (uint32_t i = 0; i < missing; i++) params[con->declared + i] = applied->params[given + i];
    con->params = params;
    con->arity += missing;
    return missing;
}

void ct_types_ensure_synonym(CtTypes *types, CtTyCon *con) {
    if (con->state == 2) return;
    if (con->state == 1) {
        CtDiag *diag =
            ct_error(types->context, CT_E0313, con->range, "the type synonym `%s` stands for itself", con->name->text);
        ct_help(types->context, diag, "a type that contains itself is declared with `data`: data %s = …",
                con->name->text);
        con->synonym = types->error;
        con->state = 2;
        return;
    }
    if (!ct_types_convert_down(types, con->range)) {
        con->synonym = types->error;
        con->state = 2;
        return;
    }
    con->state = 1;
    CtTyVars vars = params_of(types, con);
    CtTy *meaning = ct_types_convert_partial(types, &vars, con->decl->type.type, take_missing(types, con));
    types->convert_levels--;
    if (con->state == 1) con->synonym = meaning;
    con->state = 2;
}

/* ---- data ---- */

enum { MOST_FIELDS = 3000 }; /* each field has a selector, whose pattern has all the fields: quadratic size */

/* Of an operator of this module. */
static uint8_t precedence_of(const CtTypes *types, CtSym name) {
    const CtDecls *decls = &types->module->decls;
    for (uint32_t i = 0; i < decls->count; i++)
        for (uint32_t j = 0; decls->items[i].kind == DECL_FIXITY && j < decls->items[i].name_count; j++)
            if (decls->items[i].names[j].text == name) return (uint8_t)decls->items[i].precedence;
    return 9;
}

static CtDataCon *data_con(CtTypes *types, CtTyCon *con, CtConDecl *decl, CtTyVars *vars, uint32_t tag) {
    if (decl->field_count > MOST_FIELDS)
        ct_error(types->context, CT_E0323, decl->name.range, "`%s` has %u fields; at most %d are possible",
                 decl->name.text->text, decl->field_count, MOST_FIELDS);
    CtDataCon *data = CT_NEW(types->arena, CtDataCon);
    *data = (CtDataCon){
        .name = decl->name.text, .tycon = con, .tag = tag, .arity = decl->field_count, .range = decl->name.range};
    data->infix = decl->infix;
    data->strict = decl->strict;
    data->precedence = decl->infix ? precedence_of(types, data->name) : 9;
    data->fields = CT_NEW_ARRAY(types->arena, CtTy *, data->arity);
    for (uint32_t i = 0; i < data->arity; i++) data->fields[i] = ct_types_convert_type(types, vars, decl->fields[i]);
    if (decl->equal) data->equal = CT_NEW_ARRAY(types->arena, CtTy *, con->arity);
    for (uint32_t i = 0; decl->equal && i < con->arity; i++)
        if (decl->equal[i])
            data->equal[i] = ct_types_convert_partial(types, vars, decl->equal[i], con->params[i]->arity);
    if (vars->open) ct_types_own_variables(types, data, decl, vars);
    if (decl->field_names && decl->field_count <= MOST_FIELDS) {
        data->field_names = CT_NEW_ARRAY(types->arena, CtSym, data->arity);
        for (uint32_t i = 0; i < data->arity; i++) data->field_names[i] = decl->field_names[i].text;
        for (uint32_t i = 0; i < data->arity; i++)
            for (uint32_t j = 0; j < i; j++)
                if (data->field_names[i] == data->field_names[j])
                    defined_twice(types, "field", decl->field_names[i], decl->field_names[j].range);
    }
    CtDataCon *known = ct_map_get(&types->own->names[SPACE_CON], ct_key(data->name));
    if (known && known->range.source && known->range.source == data->range.source) {
        defined_twice(types, "constructor", decl->name, known->range);
        return data;
    }
    ct_types_define(types, SPACE_CON, data->name, data);
    return data;
}

static void declare_cons(CtTypes *types, CtTyCon *con) {
    CtDecl *decl = con->decl;
    con->cons = CT_NEW_ARRAY(types->arena, CtDataCon *, decl->con_count);
    for (uint32_t i = 0; i < decl->con_count; i++) {
        CtTyVars vars = params_of(types, con);
        vars.open = decl->cons[i].exist_count > 0 || decl->cons[i].by_type;
        CtDataCon *data = data_con(types, con, &decl->cons[i], &vars, i);
        con->cons[i] = data;
        con->con_count = i + 1;
    }
    if (con->is_newtype && (con->con_count != 1 || con->cons[0]->arity != 1))
        ct_error(types->context, CT_E0201, decl->range, "a newtype has one constructor with one field; use data");
}

void ct_types_declare_types(CtTypes *types, CtDecls *decls) {
    types->new_tycons.count = 0;
    for (uint32_t i = 0; i < decls->count; i++) {
        CtDecl *decl = &decls->items[i];
        if (decl->kind == DECL_DATA || decl->kind == DECL_SYNONYM) declare_tycon(types, decl);
    }
    bool changed = true; /* a chain of types passes an arity on from one to the next; without a bound it may grow */
    for (uint32_t round = 0; changed && round < types->new_tycons.count + 8; round++) {
        changed = false;
        for (uint32_t i = 0; i < types->new_tycons.count; i++)
            changed |= scan_declaration(types, types->new_tycons.items[i]);
    }
    for (uint32_t i = 0; i < types->new_tycons.count; i++)
        if (types->new_tycons.items[i]->is_synonym) ct_types_ensure_synonym(types, types->new_tycons.items[i]);
    for (uint32_t i = 0; i < types->new_tycons.count; i++)
        if (!types->new_tycons.items[i]->is_synonym) declare_cons(types, types->new_tycons.items[i]);
    for (uint32_t i = 0; i < types->new_tycons.count; i++)
        if (!types->new_tycons.items[i]->is_synonym) ct_types_find_nested(types, types->new_tycons.items[i]);
}

void ct_types_declare_primitives(CtTypes *types, CtDecls *decls) {
    for (uint32_t i = 0; i < decls->count; i++) {
        CtDecl *decl = &decls->items[i];
        if (decl->kind != DECL_PRIMITIVE) continue;
        CtEntity *entity = ct_types_entity_new(types, ENTITY_PRIMITIVE, decl->names[0]);
        entity->primitive = decl->primitive;
        entity->scheme = ct_types_convert_scheme(types, &decl->type);
        ct_types_define_value(types, entity);
    }
}
