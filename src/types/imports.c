/* Imports and exports (Haskell 98 §5.2, 5.3). A module's interface is the scope of what it exports; an import adds to
 * the scope of imported names, and to the scope of its qualifier. Instances have no names: they are visible in every
 * module. */
#include "types/internal.h"

static const char *const standard_modules[] = {"Prelude",          "Data.List",      "Data.Maybe",
                                               "Data.Char",        "Data.Foldable",  "Data.Ord",
                                               "Data.Tuple",       "Data.Either",    "Data.Function",
                                               "Numeric",          "Data.Bool",      "Data.Functor",
                                               "Control.Monad",    "Data.Array",     "Cotan",
                                               "Data.Int",         "System.IO",      "Data.Bits",
                                               "Data.Monoid",      "Data.Semigroup", "Control.Applicative",
                                               "Data.Traversable", "Text.Read"};

const char *ct_types_standard_module_at(uint32_t index) {
    return index < sizeof standard_modules / sizeof *standard_modules ? standard_modules[index] : NULL;
}

bool ct_types_is_standard_module(CtSym name) {
    for (uint32_t i = 0; ct_types_standard_module_at(i); i++)
        if (!strcmp(ct_types_standard_module_at(i), name->text)) return true;
    return false;
}

/* ---- adding names to scopes ---- */

/* The source and target scopes of the names in one import or export list. */
typedef struct Transfer {
    CtTypes *types;
    const CtScope *from;
    CtScope *into[2]; /* the second may be NULL */
    CtSym module;     /* the module of `from` */
    bool unqualified; /* only what has the same meaning without a qualifier, in the module's own scope */
    const char *verb; /* "export" for imports, "define" for exports */
} Transfer;

static void put(CtTypes *types, CtScope *scope, CtSpace space, CtSym name, void *meaning, CtSym module) {
    if (!scope) return;
    void *before = ct_map_get(&scope->names[space], ct_key(name));
    CtSym first = ct_map_get(&scope->origins[space], ct_key(name));
    if (before && before != meaning) {
        CtClash *clash = CT_NEW(types->arena, CtClash);
        *clash = (CtClash){first ? first : module, module};
        ct_map_set(types->arena, &scope->clashes[space], ct_key(name), clash);
        return;
    }
    ct_map_set(types->arena, &scope->names[space], ct_key(name), meaning);
    ct_map_set(types->arena, &scope->origins[space], ct_key(name), (void *)(uintptr_t)module);
}

/* A list without end goes with what it is as far as it is taken. */
static bool transfer(const Transfer *t, CtSpace space, CtSym name, const void *only) {
    void *meaning = ct_types_scope_get(t->from, space, name);
    if (!meaning || (only && meaning != only)) return false;
    bool ambiguous = t->unqualified && ct_map_has(&t->types->imports->clashes[space], ct_key(name));
    if (t->unqualified && !ambiguous && ct_types_scope_get(t->types->own, space, name) != meaning) return false;
    for (uint32_t i = 0; i < 2; i++) put(t->types, t->into[i], space, name, meaning, t->module);
    CtEntity *stream = space == SPACE_VALUE ? ((CtEntity *)meaning)->stream : NULL;
    for (uint32_t i = 0; stream && i < 2; i++) put(t->types, t->into[i], space, stream->name, stream, t->module);
    return true;
}

static bool transfer_value(const Transfer *t, CtSym name) {
    transfer(t, SPACE_FIELD, name, NULL);
    return transfer(t, SPACE_VALUE, name, NULL);
}

/* ---- items ---- */

static CtDiag *missing(const Transfer *t, CtName name, const char *what) {
    return ct_error(t->types->context, CT_E0319, name.range, "`%s` does not %s %s `%s`", t->module->text, t->verb, what,
                    name.text->text);
}

static void parts_of_type(const Transfer *t, const CtTyCon *con) {
    for (uint32_t i = 0; i < con->con_count; i++) {
        const CtDataCon *data = con->cons[i];
        transfer(t, SPACE_CON, data->name, data);
        for (uint32_t j = 0; data->field_names && j < data->arity; j++)
            if (ct_types_scope_get(t->from, SPACE_FIELD, data->field_names[j]) == con)
                transfer_value(t, data->field_names[j]);
    }
}

static void parts_of_class(const Transfer *t, const CtClass *class_) {
    for (uint32_t i = 0; i < class_->method_count; i++)
        transfer(t, SPACE_VALUE, class_->methods[i]->name, class_->methods[i]);
}

static bool is_part_of_type(const CtTyCon *con, CtSym name) {
    for (uint32_t i = 0; i < con->con_count; i++) {
        if (con->cons[i]->name == name) return true;
        for (uint32_t j = 0; con->cons[i]->field_names && j < con->cons[i]->arity; j++)
            if (con->cons[i]->field_names[j] == name) return true;
    }
    return false;
}

static bool is_part_of_class(const CtClass *class_, CtSym name) {
    for (uint32_t i = 0; i < class_->method_count; i++)
        if (class_->methods[i]->name == name) return true;
    return false;
}

static void listed_part(const Transfer *t, const CtItem *item, const CtTyCon *con, const CtClass *class_, CtName part) {
    bool belongs = (con && is_part_of_type(con, part.text)) || (class_ && is_part_of_class(class_, part.text));
    bool moved = belongs && ((con && transfer(t, SPACE_CON, part.text, NULL)) || transfer_value(t, part.text));
    if (!moved)
        ct_error(t->types->context, CT_E0319, part.range, "`%s` is no part of `%s` that `%s` %ss", part.text->text,
                 item->name.text->text, t->module->text, t->verb);
}

static bool is_capital(CtSym name) { return (name->text[0] >= 'A' && name->text[0] <= 'Z') || name->text[0] == ':'; }

static void type_item(const Transfer *t, const CtItem *item) {
    CtSym name = item->name.text;
    const CtTyCon *con = ct_types_scope_get(t->from, SPACE_TYPE, name);
    const CtClass *class_ = ct_types_scope_get(t->from, SPACE_CLASS, name);
    if (!con && !class_) {
        const CtDataCon *data = ct_types_scope_get(t->from, SPACE_CON, name);
        CtDiag *diag = missing(t, item->name, data ? "a type" : "the type or class");
        if (data)
            ct_help(t->types->context, diag, "constructors go with their type: %s(%s)", data->tycon->name->text,
                    name->text);
        return;
    }
    if (con) transfer(t, SPACE_TYPE, name, NULL);
    if (class_) transfer(t, SPACE_CLASS, name, NULL);
    if (item->all && con) parts_of_type(t, con);
    if (item->all && class_) parts_of_class(t, class_);
    for (uint32_t i = 0; i < item->part_count; i++) listed_part(t, item, con, class_, item->parts[i]);
}

static void value_item(const Transfer *t, const CtItem *item) {
    if (transfer_value(t, item->name.text)) return;
    CtDiag *diag = missing(t, item->name, "the name");
    CT_VEC(CtSym) names = {0};
    const CtMap *known = &t->from->names[SPACE_VALUE];
    for (uint32_t i = 0; i < known->count; i++)
        ct_push(t->types->arena, &names, (CtSym)(uintptr_t)known->entries[i].key);
    CtSym near = ct_nearest(item->name.text, names.items, names.count);
    if (near) ct_help(t->types->context, diag, "perhaps `%s` is meant", near->text);
}

static void one_item(const Transfer *t, const CtItem *item) {
    if (item->is_pattern) {
        if (!transfer(t, SPACE_CON, item->name.text, NULL)) missing(t, item->name, "the constructor");
    } else if (is_capital(item->name.text))
        type_item(t, item);
    else
        value_item(t, item);
}

/* ---- whole modules ---- */

/* Constructors, fields and methods are in these spaces; a type or a class with the name of one is no part. */
static bool holds_parts(CtSpace space) { return space == SPACE_CON || space == SPACE_VALUE || space == SPACE_FIELD; }

/* Whether a `hiding` list contains the name, as an item or as a part of one. T is a type, a class and a constructor
 * there; T(), T(..) and T(A) name no constructor T (Haskell 98 §5.3.1). */
static bool is_listed(const CtDecl *decl, CtSpace space, CtSym name) {
    for (uint32_t i = 0; decl && i < decl->item_count; i++) {
        const CtItem *item = &decl->items[i];
        if (item->name.text == name && !(item->bracketed && space == SPACE_CON)) return true;
        for (uint32_t j = 0; holds_parts(space) && j < item->part_count; j++)
            if (item->parts[j].text == name) return true;
    }
    return false;
}

/* Whether a `hiding` list contains the name as a constructor, field or method of an item with (..). */
static bool is_part_listed(const CtScope *from, const CtDecl *decl, CtSpace space, CtSym name) {
    if (!holds_parts(space)) return false;
    for (uint32_t i = 0; decl && i < decl->item_count; i++) {
        const CtItem *item = &decl->items[i];
        if (!item->all) continue;
        const CtTyCon *con = ct_types_scope_get(from, SPACE_TYPE, item->name.text);
        const CtClass *class_ = ct_types_scope_get(from, SPACE_CLASS, item->name.text);
        if ((con && is_part_of_type(con, name)) || (class_ && is_part_of_class(class_, name))) return true;
    }
    return false;
}

static void transfer_all(const Transfer *t, const CtScope *layer, const CtDecl *hiding) {
    for (int space = 0; space < SPACE_COUNT; space++) {
        const CtMap *map = &layer->names[space];
        for (uint32_t i = 0; i < map->count; i++) {
            CtSym name = (CtSym)(uintptr_t)map->entries[i].key;
            if (is_listed(hiding, (CtSpace)space, name) || is_part_listed(t->from, hiding, (CtSpace)space, name))
                continue;
            if (map->entries[i].value) transfer(t, (CtSpace)space, name, NULL);
        }
    }
}

/* ---- imports ---- */

/* Where names are put that are imported with a qualifier. The module's own name is one, too, of what it defines; what
 * it imports as that is no definition of its own, and is in a scope in front of those. */
static CtScope *qualifier(CtTypes *types, CtSym name) {
    CtScope *scope = ct_map_get(&types->qualified, ct_key(name));
    if (scope && scope != types->own) return scope;
    CtScope *own = scope;
    scope = CT_NEW(types->arena, CtScope);
    if (own) {
        scope->outer = CT_NEW(types->arena, CtScope);
        scope->outer->outer = own;
    }
    ct_map_set(types->arena, &types->qualified, ct_key(name), scope);
    return scope;
}

/* What is found in a qualifier, or in a module's interface, behind its own names: what it has of the prelude as a
 * whole, so that these names yield to others, as they do without a qualifier. NULL: it has all of the prelude. */
static CtScope *behind(CtTypes *types, CtScope *scope) {
    if (!scope->outer) scope->outer = CT_NEW(types->arena, CtScope);
    return scope->outer == &types->library ? NULL : scope->outer;
}

static void transfer_behind(Transfer t, const CtDecl *hiding, CtScope *prelude) {
    t.into[0] = behind(t.types, t.into[0]);
    t.into[1] = prelude;
    for (t.from = t.from->outer; t.from; t.from = t.from->outer) transfer_all(&t, t.from, hiding);
}

static void import(CtTypes *types, const CtDecl *decl, bool is_prelude, CtScope *prelude) {
    const CtScope *interface = ct_map_get(&types->interfaces, ct_key(decl->name.text));
    const CtScope whole = {.outer = &types->library};
    if (!interface && ct_types_is_standard_module(decl->name.text)) interface = is_prelude ? &types->library : &whole;
    if (!interface) {
        ct_error(types->context, CT_E0320, decl->name.range, "the module `%s` is not known", decl->name.text->text);
        return;
    }
    CtScope *plain = decl->qualified ? NULL : is_prelude ? prelude : types->imports;
    CtSym alias = decl->alias ? decl->alias : decl->name.text;
    Transfer t = {.types = types, .from = interface, .module = decl->name.text, .verb = "export"};
    t.into[0] = qualifier(types, alias);
    t.into[1] = plain;
    if (decl->has_list && !decl->hiding) {
        for (uint32_t i = 0; i < decl->item_count; i++) one_item(&t, &decl->items[i]);
        return;
    }
    const CtDecl *hiding = decl->hiding ? decl : NULL;
    transfer_all(&t, interface, hiding);
    /* What the prelude has is in scope from it, unless the program imports a part of it only. */
    if (!is_prelude) transfer_behind(t, hiding, decl->qualified ? NULL : prelude);
}

/* Names that no program writes, with a prime in the middle as in io'run: what the compiler makes may use them, however
 * few names of the prelude a module imports. */
static CtScope *hidden_names(CtTypes *types) {
    CtScope *hidden = CT_NEW(types->arena, CtScope);
    const CtMap *all = &types->library.names[SPACE_VALUE];
    for (uint32_t i = 0; i < all->count; i++) {
        CtSym name = (CtSym)(uintptr_t)all->entries[i].key;
        const char *prime = strchr(name->text, '\'');
        if (prime && prime[1] != '\0' && prime[1] != '\'')
            ct_types_scope_set(types, hidden, SPACE_VALUE, name, all->entries[i].value);
    }
    return hidden;
}

static bool limits_prelude(const CtDecl *decl) {
    return decl->kind == DECL_IMPORT && !decl->qualified && !strcmp(decl->name.text->text, "Prelude");
}

void ct_types_open_imports(CtTypes *types, const CtModule *module) {
    const CtDecls *decls = &module->decls;
    CtScope *outer = module->continues ? types->own : &types->library;
    types->imports = CT_NEW(types->arena, CtScope);
    types->imports->outer = outer;
    types->own = CT_NEW(types->arena, CtScope);
    types->own->outer = types->imports;
    if (!module->continues) types->qualified = (CtMap){0};
    ct_map_set(types->arena, &types->qualified, ct_key(module->name.text), types->own);
    CtScope *prelude = NULL;
    for (uint32_t i = 0; i < decls->count && !prelude; i++)
        if (limits_prelude(&decls->items[i])) prelude = CT_NEW(types->arena, CtScope);
    if (prelude) {
        types->imports->outer = prelude;
        prelude->outer = hidden_names(types);
    }
    CtSym name = ct_intern_text(&types->context->symbols, "Prelude");
    if (!prelude && !module->continues) qualifier(types, name)->outer = &types->library;
    for (uint32_t i = 0; i < decls->count; i++) {
        const CtDecl *decl = &decls->items[i];
        if (decl->kind == DECL_IMPORT) import(types, decl, limits_prelude(decl), prelude);
    }
}

/* ---- exports ---- */

static void export_module(CtTypes *types, const CtItem *item, CtScope *exports) {
    CtSym name = item->name.text;
    Transfer t = {.types = types, .from = types->own, .into = {exports}, .module = name, .verb = "define"};
    if (name == types->module->name.text) {
        transfer_all(&t, types->own, NULL);
        if (ct_map_get(&types->qualified, ct_key(name)) == types->own) return;
    }
    const CtScope *scope = ct_map_get(&types->qualified, ct_key(name));
    if (!scope) {
        ct_error(types->context, CT_E0319, item->range, "no module is imported as `%s`", name->text);
        return;
    }
    t.from = scope;
    t.unqualified = true; /* Haskell 98 §5.2: names in scope both as e and as M.e */
    transfer_all(&t, scope, NULL);
    if (name != types->module->name.text) transfer_behind(t, NULL, NULL);
}

static void export_item(CtTypes *types, const CtItem *item, CtScope *exports) {
    Transfer t = {.types = types, .from = types->own, .into = {exports}, .verb = "define"};
    t.module = types->module->name.text;
    if (item->name.module) {
        t.from = ct_map_get(&types->qualified, ct_key(item->name.module));
        t.module = item->name.module;
        if (!t.from) {
            ct_error(types->context, CT_E0319, item->range, "no module is imported as `%s`", t.module->text);
            return;
        }
    }
    one_item(&t, item);
}

static void check_exports(CtTypes *types, const CtScope *exports) {
    for (int space = 0; space < SPACE_COUNT; space++) {
        const CtMap *map = &exports->clashes[space];
        for (uint32_t i = 0; i < map->count; i++)
            ct_error(types->context, CT_E0309, types->module->name.range, "the module exports two different `%s`",
                     ((CtSym)(uintptr_t)map->entries[i].key)->text);
    }
}

void ct_types_close_exports(CtTypes *types) {
    CtModule *module = types->module;
    CtScope *exports = CT_NEW(types->arena, CtScope);
    if (!module->has_exports) {
        for (int i = 0; i < SPACE_COUNT; i++) exports->names[i] = types->own->names[i];
    } else {
        for (uint32_t i = 0; i < module->export_count; i++) {
            const CtItem *item = &module->exports[i];
            if (item->is_module)
                export_module(types, item, exports);
            else
                export_item(types, item, exports);
        }
    }
    check_exports(types, exports);
    if (ct_types_is_standard_module(module->name.text)) exports->outer = &types->library;
    ct_map_set(types->arena, &types->interfaces, ct_key(module->name.text), exports);
}
