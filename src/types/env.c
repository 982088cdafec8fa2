/* The environment: built-in types, and the meanings of names at top level. */
#include "types/internal.h"

static CtTyCon *builtin(CtTypes *types, const char *name, uint32_t arity) {
    CtTyCon *con = ct_types_con_new(types, name, arity);
    ct_types_scope_set(types, &types->library, SPACE_TYPE, con->name, con);
    return con;
}

static CtDataCon *constructor(CtTypes *types, CtTyCon *con, const char *name, uint32_t tag, uint32_t arity) {
    CtDataCon *data = CT_NEW(types->arena, CtDataCon);
    data->name = ct_intern_text(&types->context->symbols, name);
    data->tycon = con;
    data->tag = tag;
    data->arity = arity;
    data->fields = CT_NEW_ARRAY(types->arena, CtTy *, arity);
    con->cons[tag] = data;
    ct_types_scope_set(types, &types->library, SPACE_CON, data->name, data);
    return data;
}

static void make_list(CtTypes *types) {
    CtTyCon *list = types->list;
    list->con_count = 2;
    list->cons = CT_NEW_ARRAY(types->arena, CtDataCon *, 2);
    constructor(types, list, "[]", 0, 0);
    CtDataCon *cons = constructor(types, list, ":", 1, 2);
    cons->fields[0] = list->params[0];
    cons->fields[1] = ct_types_ty_list(types, list->params[0]);
}

CtTypes *ct_types_new(CtContext *context) {
    static const char *const hidden[] = {"fromInt",      "fromDouble", "negate",         "==",  "enumFrom",
                                         "enumFromThen", "enumFromTo", "enumFromThenTo", ">>=", "fail"};
    CtTypes *types = CT_NEW(context->arena, CtTypes);
    types->context = context;
    types->arena = context->arena;
    types->own = &types->library;
    for (uint32_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        types->hidden[i] = ct_intern_text(&context->symbols, hidden[i]);
    types->double_ = builtin(types, "Double", 0);
    types->float_ = builtin(types, "Float", 0);
    types->int_ = builtin(types, "Int", 0);
    types->char_ = builtin(types, "Char", 0);
    types->array = builtin(types, "Array", 1);
    types->list = builtin(types, "[]", 1);
    types->fun = builtin(types, "->", 2);
    ct_types_con_tuple(types, 0);
    ct_types_con_tuple(types, 2);
    types->error = ct_types_con_new(types, "?", 0)->type;
    types->error->is_error = true;
    make_list(types);
    return types;
}

void ct_types_set_exporter(CtTypes *types, CtExporter *exporter) { types->exporter = exporter; }

void ct_types_set_lazy(CtTypes *types) { types->is_lazy = true; }

void ct_types_prefer_double(CtTypes *types, bool prefer) { types->prefer_double = prefer; }

CtTyCon *ct_types_con_double(CtTypes *types) { return types->double_; }
CtTyCon *ct_types_con_float(CtTypes *types) { return types->float_; }
CtTyCon *ct_types_con_int(CtTypes *types) { return types->int_; }
CtTyCon *ct_types_con_char(CtTypes *types) { return types->char_; }
CtTyCon *ct_types_con_list(CtTypes *types) { return types->list; }
CtTyCon *ct_types_con_array(CtTypes *types) { return types->array; }
CtTyCon *ct_types_con_fun(CtTypes *types) { return types->fun; }

static CtTyCon *make_tuple(CtTypes *types, uint32_t size) {
    CtText name = ct_text(types->arena);
    ct_text_putc(&name, '(');
    for (uint32_t i = 1; i < size; i++) ct_text_putc(&name, ',');
    ct_text_putc(&name, ')');
    CtTyCon *con = builtin(types, name.data, size);
    con->con_count = 1;
    con->cons = CT_NEW_ARRAY(types->arena, CtDataCon *, 1);
    CtDataCon *data = constructor(types, con, name.data, 0, size);
    for (uint32_t i = 0; i < size; i++) data->fields[i] = con->params[i];
    return con;
}

CtTyCon *ct_types_con_tuple(CtTypes *types, uint32_t size) {
    while (types->tuples.count <= size) ct_push(types->arena, &types->tuples, NULL);
    if (!types->tuples.items[size]) {
        CtTyCon *con = make_tuple(types, size);
        types->tuples.items[size] = con;
    }
    return types->tuples.items[size];
}

uint32_t ct_types_module_entities(CtTypes *types, const CtModule *module, CtEntity ***out) {
    CT_VEC(CtEntity *) list = {0};
    for (uint32_t i = 0; i < module->decls.count; i++) {
        CtDecl *decl = &module->decls.items[i];
        if (decl->kind == DECL_PRIMITIVE) {
            CtEntity *entity = ct_types_lookup(types, decl->names[0].text);
            if (entity) ct_push(types->arena, &list, entity);
        } else if (decl->kind == DECL_CLASS && decl->instance) {
            CtClass *class_ = decl->instance;
            for (uint32_t j = 0; j < class_->method_count; j++) ct_push(types->arena, &list, class_->methods[j]);
        } else if (decl->kind == DECL_DATA && decl->tycon) {
            for (uint32_t j = 0; j < decl->con_count; j++)
                for (uint32_t k = 0; decl->cons[j].field_names && k < decl->cons[j].field_count; k++) {
                    CtEntity *entity = ct_types_lookup(types, decl->cons[j].field_names[k].text);
                    bool earlier = false;
                    for (uint32_t l = list.count; l > 0 && !earlier; l--) earlier = list.items[l - 1] == entity;
                    if (entity && !earlier) ct_push(types->arena, &list, entity);
                }
        } else if (decl->kind == DECL_BINDING && decl->binding->entity) {
            ct_push(types->arena, &list, decl->binding->entity);
        } else if (decl->kind == DECL_BINDING && decl->binding->pat) {
            CT_VEC(CtPat *) todo = {0}; /* the pattern's variables, left to right */
            ct_push(types->arena, &todo, decl->binding->pat);
            while (todo.count) {
                CtPat *pat = todo.items[--todo.count];
                if ((pat->kind == PAT_VAR || pat->kind == PAT_AS) && pat->entity)
                    ct_push(types->arena, &list, pat->entity);
                for (uint32_t j = pat->part_count; j > 0; j--) ct_push(types->arena, &todo, pat->parts[j - 1]);
            }
        }
    }
    *out = list.items;
    return list.count;
}
