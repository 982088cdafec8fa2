/* The fixities of the operators in scope of each module. A fixity belongs to the operator that a name means: it comes
 * with the name through imports and exports, under a qualifier too (Haskell 98 §4.4.2, §5). Whether the names exist,
 * and which of two is meant, is the business of inference. */
#include "driver/modules.h"

typedef struct Scope {
    CtModules *modules;
    CtArena *arena;
    CtUnit *unit;
} Scope;

static void put(const Scope *s, CtMap *into, uint64_t key, const void *value) {
    ct_map_set(s->arena, into, key, (void *)(uintptr_t)value);
}

/* ---- items of import and export lists ---- */

static bool has_name(const CtSym *names, uint32_t count, CtSym name) {
    for (uint32_t i = 0; i < count; i++)
        if (names[i] == name) return true;
    return false;
}

/* Whether a list contains the name, as an item, as a part of one, or by T(..), where `parts` says what T has. */
static bool lists(const CtItem *items, uint32_t count, const CtMap *parts, CtSym name) {
    for (uint32_t i = 0; i < count; i++) {
        if (!items[i].is_module && items[i].name.text == name) return true;
        for (uint32_t j = 0; j < items[i].part_count; j++)
            if (items[i].parts[j].text == name) return true;
        const CtParts *all = items[i].all ? ct_map_get(parts, ct_key(items[i].name.text)) : NULL;
        if (all != NULL && has_name(all->names, all->count, name)) return true;
    }
    return false;
}

/* ---- imports ---- */

static CtMap *qualifier(const Scope *s, CtSym name) {
    CtMap *table = ct_map_get(&s->unit->fixities.qualified, ct_key(name));
    if (table != NULL) return table;
    table = CT_NEW(s->arena, CtMap);
    put(s, &s->unit->fixities.qualified, ct_key(name), table);
    return table;
}

static void import(const Scope *s, const CtDecl *decl) {
    const CtUnit *from = ct_map_get(&s->modules->by_name, ct_key(decl->name.text));
    if (from == NULL) return; /* a standard module: its names are the prelude's */
    CtMap *under = qualifier(s, decl->alias ? decl->alias : decl->name.text);
    for (uint32_t i = 0; i < from->exports.count; i++) {
        uint64_t key = from->exports.entries[i].key;
        if (decl->has_list && lists(decl->items, decl->item_count, &from->parts, (CtSym)(uintptr_t)key) == decl->hiding)
            continue;
        put(s, under, key, from->exports.entries[i].value);
        if (!decl->qualified) put(s, &s->unit->fixities.table, key, from->exports.entries[i].value);
    }
    for (uint32_t i = 0; i < from->parts.count; i++)
        put(s, &s->unit->parts, from->parts.entries[i].key, from->parts.entries[i].value);
}

/* ---- definitions and exports ---- */

static void note_parts(const Scope *s, const CtDecl *decl) {
    CtDecls alone = {.items = (CtDecl *)(uintptr_t)decl, .count = 1};
    CtParts *parts = CT_NEW(s->arena, CtParts);
    parts->count = ct_syntax_defined_names(s->arena, &alone, &parts->names);
    put(s, &s->unit->parts, ct_key(decl->name.text), parts);
}

static void export_own(const Scope *s, const CtMap *own) {
    for (uint32_t i = 0; i < own->count; i++) put(s, &s->unit->exports, own->entries[i].key, own->entries[i].value);
}

static void export_name(const Scope *s, CtName name) {
    put(s, &s->unit->exports, ct_key(name.text), ct_syntax_fixity(&s->unit->fixities, name));
}

static void export_item(const Scope *s, const CtItem *item, const CtMap *own) {
    const CtMap *table = ct_map_get(&s->unit->fixities.qualified, ct_key(item->name.text));
    if (item->is_module && item->name.text == s->unit->module->name.text) {
        export_own(s, own);
    } else if (item->is_module) {
        if (table != NULL) export_own(s, table);
    } else {
        export_name(s, item->name);
        for (uint32_t i = 0; i < item->part_count; i++) export_name(s, item->parts[i]);
        const CtParts *all = item->all ? ct_map_get(&s->unit->parts, ct_key(item->name.text)) : NULL;
        for (uint32_t i = 0; all != NULL && i < all->count; i++)
            export_name(s, (CtName){.module = item->name.module, .text = all->names[i]});
    }
}

static void close(const Scope *s) {
    const CtModule *module = s->unit->module;
    CtMap *own = qualifier(s, module->name.text);
    CtSym *names;
    uint32_t count = ct_syntax_defined_names(s->arena, &module->decls, &names);
    for (uint32_t i = 0; i < count; i++)
        put(s, own, ct_key(names[i]), ct_syntax_fixity(&s->unit->fixities, (CtName){.text = names[i]}));
    for (uint32_t i = 0; module->has_exports && i < module->export_count; i++) export_item(s, &module->exports[i], own);
    if (!module->has_exports) export_own(s, own);
}

/* ---- modules ---- */

static void resolve(CtModules *modules, CtUnit *unit) {
    Scope s = {modules, modules->context->arena, unit};
    const CtDecls *decls = &unit->module->decls;
    unit->fixities.outer = unit->module->continues ? &modules->last->fixities : &modules->prelude;
    for (uint32_t i = 0; i < decls->count; i++) {
        if (decls->items[i].kind == DECL_IMPORT) import(&s, &decls->items[i]);
        if (decls->items[i].kind == DECL_DATA || decls->items[i].kind == DECL_CLASS) note_parts(&s, &decls->items[i]);
    }
    ct_syntax_resolve_fixities(modules->context, &unit->fixities, unit->module);
    close(&s);
}

bool ct_driver_modules_operators(CtModules *modules) {
    for (; modules->resolved < modules->units.count; modules->resolved++) {
        CtUnit *unit = modules->units.items[modules->resolved];
        bool exempt = ct_arena_exempt(modules->context->arena, unit->is_library);
        if (unit->is_prelude)
            ct_syntax_resolve_fixities(modules->context, &modules->prelude, unit->module);
        else
            resolve(modules, unit);
        ct_arena_exempt(modules->context->arena, exempt);
        if (unit == modules->program || unit->module->continues) modules->last = unit;
    }
    return modules->context->error_count == 0;
}
