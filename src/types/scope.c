/* Scopes: the meanings of names at the top level of a module. The module's own definitions are the innermost scope,
 * then its imports, then the prelude; each scope shadows those outside it. */
#include <strings.h>

#include "types/internal.h"

void *ct_types_scope_get(const CtScope *scope, CtSpace space, CtSym name) {
    for (; scope; scope = scope->outer) {
        void *meaning = ct_map_get(&scope->names[space], ct_key(name));
        if (meaning) return meaning;
    }
    return NULL;
}

void ct_types_scope_set(CtTypes *types, CtScope *scope, CtSpace space, CtSym name, void *meaning) {
    ct_map_set(types->arena, &scope->names[space], ct_key(name), meaning);
}

void ct_types_define(CtTypes *types, CtSpace space, CtSym name, void *meaning) {
    ct_types_scope_set(types, types->own, space, name, meaning);
}

/* ---- looking names up ---- */

/* The innermost scope that binds the name, or NULL. */
static const CtScope *scope_of(const CtScope *scope, CtSpace space, CtSym name) {
    while (scope && !ct_map_get(&scope->names[space], ct_key(name))) scope = scope->outer;
    return scope;
}

static void check_clash(CtTypes *types, const CtScope *scope, CtSpace space, CtName name) {
    const CtClash *clash = ct_map_get(&scope->clashes[space], ct_key(name.text));
    if (!clash) return;
    const char *text = name.text->text;
    CtDiag *diag = ct_error(types->context, CT_E0318, name.range, "`%s` may be the one of %s or the one of %s", text,
                            clash->first->text, clash->second->text);
    ct_help(types->context, diag, "say which: %s.%s or %s.%s, or import one of the modules `qualified`",
            clash->first->text, text, clash->second->text, text);
}

static void *qualified(CtTypes *types, CtSpace space, CtName name) {
    CtScope *scope = ct_map_get(&types->qualified, ct_key(name.module));
    if (!scope) return NULL;
    const CtScope *owner = scope;
    while (owner && !ct_map_get(&owner->names[space], ct_key(name.text)))
        owner = owner == types->own ? NULL : owner->outer; /* behind the module's own is what it imports */
    if (!owner) return NULL;
    check_clash(types, owner, space, name);
    return ct_map_get(&owner->names[space], ct_key(name.text));
}

void *ct_types_find(CtTypes *types, CtSpace space, CtName name) {
    if (name.module) return qualified(types, space, name);
    const CtScope *owner = scope_of(types->own, space, name.text);
    if (!owner) return NULL;
    check_clash(types, owner, space, name);
    return ct_map_get(&owner->names[space], ct_key(name.text));
}

CtEntity *ct_types_lookup(CtTypes *types, CtSym name) { return ct_types_scope_get(types->own, SPACE_VALUE, name); }
CtTyCon *ct_types_lookup_tycon(CtTypes *types, CtSym name) { return ct_types_scope_get(types->own, SPACE_TYPE, name); }
CtClass *ct_types_lookup_class(CtTypes *types, CtSym name) { return ct_types_scope_get(types->own, SPACE_CLASS, name); }

void *ct_types_library(CtTypes *types, CtSpace space, CtSym name) {
    void *meaning = ct_types_scope_get(&types->library, space, name);
    return meaning ? meaning : ct_types_scope_get(types->own, space, name); /* a library that is still being read */
}

CtEntity *ct_types_lookup_library(CtTypes *types, CtSym name) {
    CtEntity *entity = ct_types_scope_get(types->method_library, SPACE_VALUE, name);
    return entity ? entity : ct_types_scope_get(&types->library, SPACE_VALUE, name);
}
CtTyCon *ct_types_lookup_library_tycon(CtTypes *types, CtSym name) {
    return ct_types_scope_get(&types->library, SPACE_TYPE, name);
}

void ct_types_scope_keep_library(CtTypes *types, const char *module) {
    types->method_library = ct_map_get(&types->interfaces, ct_key(ct_intern_text(&types->context->symbols, module)));
}

void ct_types_scope_keep(CtTypes *types) {
    types->kept_own = types->own;
    types->kept_qualified = types->qualified;
}

void ct_types_scope_return(CtTypes *types) {
    types->own = types->kept_own;
    types->qualified = types->kept_qualified;
}

/* ---- unknown names ---- */

typedef CT_VEC(CtSym) Names;

static void collect(CtTypes *types, const CtMap *map, Names *names) {
    for (uint32_t i = 0; i < map->count; i++)
        if (map->entries[i].value) ct_push(types->arena, names, (CtSym)(uintptr_t)map->entries[i].key);
}

static void collect_scope(CtTypes *types, const CtScope *scope, CtSpace space, Names *names) {
    for (; scope; scope = scope->outer) collect(types, &scope->names[space], names);
}

static void unknown_qualifier(CtTypes *types, CtName name) {
    Names names = {0};
    collect(types, &types->qualified, &names);
    CtDiag *diag = ct_error(types->context, CT_E0302, name.range, "no module is imported as `%s`", name.module->text);
    CtSym near = ct_nearest(name.module, names.items, names.count);
    if (near)
        ct_help(types->context, diag, "perhaps `%s.%s` is meant", near->text, name.text->text);
    else
        ct_help(types->context, diag, "at the head of the file: import qualified … as %s", name.module->text);
}

/* The qualifier of an import that provides a name which is not in scope unqualified, or NULL. */
static CtSym exporter(CtTypes *types, CtSpace space, CtSym name) {
    for (uint32_t i = 0; i < types->qualified.count; i++) {
        const CtScope *scope = types->qualified.entries[i].value;
        if (scope && ct_map_get(&scope->names[space], ct_key(name)))
            return (CtSym)(uintptr_t)types->qualified.entries[i].key;
    }
    return NULL;
}

/* Help for a name that a module of the library exports, exactly or in other case. */
static bool help_exporter(CtTypes *types, CtDiag *diag, const char *name, bool exactly) {
    static const char *const qualified[] = {"Map", "Set", "IntMap", "IntSet", "Sequence"};
    const char *found, *module = types->exporter ? types->exporter(types->arena, name, exactly, &found) : NULL;
    if (!module) return false;
    const char *last = strrchr(module, '.') ? strrchr(module, '.') + 1 : module;
    for (uint32_t i = 0; i < sizeof qualified / sizeof *qualified; i++)
        if (strcmp(last, qualified[i]) == 0) {
            ct_help(types->context, diag, "the library has `%s`: import qualified %s as %s", found, module, last);
            return true;
        }
    ct_help(types->context, diag, "the library has `%s`: import %s", found, module);
    return true;
}

void ct_types_report_unknown(CtTypes *types, const char *what, CtSpace space, CtName name) {
    const CtScope *scope = types->own;
    if (name.module) {
        scope = ct_map_get(&types->qualified, ct_key(name.module));
        if (!scope) {
            unknown_qualifier(types, name);
            return;
        }
    }
    if (types->context->error_count >=
        types->context->max_errors) { /* it is counted, and not shown: no help is looked for */
        ct_error(types->context, CT_E0302, name.range, "the %s `%s` is not defined", what, name.text->text);
        return;
    }
    if (ct_types_unknown_again(types, space, name)) return;
    Names names = {0};
    if (!name.module && space == SPACE_VALUE) collect(types, &types->locals, &names);
    collect_scope(types, scope, space, &names);
    CtDiag *diag = name.module ? ct_error(types->context, CT_E0319, name.range, "`%s` exports no %s `%s`",
                                          name.module->text, what, name.text->text)
                               : ct_error(types->context, CT_E0302, name.range, "the %s `%s` is not defined", what,
                                          name.text->text);
    CtSym module = name.module ? NULL : exporter(types, space, name.text);
    const char *absent = name.module ? NULL : ct_types_absent(space, name.text);
    CtSym near = ct_nearest(name.text, names.items, names.count);
    if (module)
        ct_help(types->context, diag, "`%s.%s` is imported, under that name", module->text, name.text->text);
    else if (absent)
        ct_help(types->context, diag, "%s", absent);
    else if (!name.module && help_exporter(types, diag, name.text->text, true))
        return ct_types_unknown_new(types, space, name, diag);
    else if (!name.module && !(near && strcasecmp(near->text, name.text->text) == 0) &&
             help_exporter(types, diag, name.text->text, false))
        return ct_types_unknown_new(types, space, name, diag);
    else if (near)
        ct_help(types->context, diag, "perhaps `%s%s%s` is meant", name.module ? name.module->text : "",
                name.module ? "." : "", near->text);
    ct_types_unknown_new(types, space, name, diag);
}

/* ---- names for completion ---- */

typedef struct Wanted {
    CtTypes *types;
    const char *prefix, *qualifier; /* qualifier: "M." or "", in front of what is found */
    CT_VEC(const char *) found;
} Wanted;

/* Names that programs do not write: made by Cotan (a blank inside), or the library's own helpers (a prime inside). */
static bool is_internal(const char *name) {
    const char *prime = strchr(name, '\'');
    return strchr(name, ' ') != NULL || (prime != NULL && prime[1] != '\0' && prime[1] != '\'');
}

static void want(Wanted *wanted, const char *name) {
    if (strncmp(name, wanted->prefix, strlen(wanted->prefix)) != 0 || is_internal(name)) return;
    ct_push(wanted->types->arena, &wanted->found, ct_format(wanted->types->arena, "%s%s", wanted->qualifier, name));
}

static void want_scope(Wanted *wanted, const CtScope *scope) {
    for (; scope; scope = scope->outer)
        for (int space = 0; space < SPACE_FIELD; space++)
            for (uint32_t i = 0; i < scope->names[space].count; i++)
                want(wanted, ((CtSym)(uintptr_t)scope->names[space].entries[i].key)->text);
}

static void want_words(Wanted *wanted) {
    static const char *const words[] = {"case",     "class",  "data",      "deriving", "do",     "else",
                                        "if",       "import", "in",        "infix",    "infixl", "infixr",
                                        "instance", "let",    "module",    "newtype",  "of",     "then",
                                        "type",     "where",  "qualified", "hiding",   "as"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) want(wanted, words[i]);
}

static void want_qualifiers(Wanted *wanted) {
    for (uint32_t i = 0; i < wanted->types->qualified.count; i++)
        want(wanted, ((CtSym)(uintptr_t)wanted->types->qualified.entries[i].key)->text);
}

void *ct_types_meaning(CtTypes *types, CtSpace space, const char *name) {
    const char *dot = name[0] >= 'A' && name[0] <= 'Z' ? strrchr(name, '.') : NULL;
    CtSymbols *symbols = &types->context->symbols;
    const CtScope *scope = types->own;
    if (dot != NULL && dot[1] != '\0')
        scope = ct_map_get(&types->qualified, ct_key(ct_intern(symbols, name, (size_t)(dot - name))));
    const char *word = scope != types->own ? dot + 1 : name;
    return scope != NULL ? ct_types_scope_get(scope, space, ct_intern_text(symbols, word)) : NULL;
}

uint32_t ct_types_names_in_scope(CtTypes *types, const char *prefix, const char ***out) {
    Wanted wanted = {.types = types, .prefix = prefix, .qualifier = ""};
    want_qualifiers(&wanted);
    const char *dot = strrchr(prefix, '.');
    if (dot != NULL && dot > prefix && prefix[0] >= 'A' && prefix[0] <= 'Z') {
        CtSym module = ct_intern(&types->context->symbols, prefix, (size_t)(dot - prefix));
        wanted.qualifier = ct_copy_text(types->arena, prefix, (size_t)(dot + 1 - prefix));
        wanted.prefix = dot + 1;
        want_scope(&wanted, ct_map_get(&types->qualified, ct_key(module)));
    } else {
        want_scope(&wanted, types->own);
        want_words(&wanted);
    }
    *out = wanted.found.items;
    return wanted.found.count;
}
