/* Reads modules by a depth-first traversal of the import graph, so that each module follows its imports. */
#include "driver/modules.h"

#include <strings.h>

#include "driver/embedded.h"

enum { DEEPEST = 500 }; /* largest length of a chain of imports */

/* The last continuation of the program, or the program itself if it has none. */
static CtUnit *last_part(const CtModules *modules) {
    uint32_t i = modules->units.count;
    while (i > 0 && modules->units.items[i - 1] != modules->program && !modules->units.items[i - 1]->module->continues)
        i--;
    return modules->units.items[i - 1];
}

static bool lies_in(const struct CtEmbedded *library, const char *folder) {
    return strncmp(library->name, folder, strlen(folder)) == 0;
}

/* Whether programs are meant to import it by its name: not what derivatives need, nor the Report's names. */
static bool is_offered(const struct CtEmbedded *library) {
    return library->module != NULL && !lies_in(library, "lib/ad/") && !lies_in(library, "lib/report/");
}

/* Where a name stands in a list of names, each between blanks; NULL if it does not. */
static const char *listed(const char *names, const char *name, bool exactly) {
    size_t length = strlen(name);
    for (const char *at = strchr(names, ' '); at != NULL; at = strchr(at + 1, ' '))
        if ((exactly ? strncmp(at + 1, name, length) : strncasecmp(at + 1, name, length)) == 0 && at[length + 1] == ' ')
            return at + 1;
    return NULL;
}

const char *ct_driver_modules_exporter(CtArena *arena, const char *name, bool exactly, const char **found) {
    for (unsigned i = 0; i < ct_embedded_count; i++) {
        const struct CtEmbedded *library = &ct_embedded[i];
        const char *at = is_offered(library) ? listed(library->exports, name, exactly) : NULL;
        if (at == NULL) continue;
        *found = ct_copy_text(arena, at, strlen(name));
        return library->module;
    }
    return NULL;
}

static CtSym last_part_of(CtModules *m, const char *name) {
    const char *dot = strrchr(name, '.');
    return ct_intern_text(&m->context->symbols, dot != NULL ? dot + 1 : name);
}

/* The module of the library, or the standard one, whose last part is nearest to that of the name. */
static const char *nearest_module(CtModules *m, const char *name) {
    CT_VEC(CtSym) names = {0};
    CT_VEC(const char *) modules = {0};
    for (unsigned i = 0; i < ct_embedded_count; i++)
        if (is_offered(&ct_embedded[i])) ct_push(m->context->arena, &modules, ct_embedded[i].module);
    for (uint32_t i = 0; ct_types_standard_module_at(i); i++)
        ct_push(m->context->arena, &modules, ct_types_standard_module_at(i));
    for (uint32_t i = 0; i < modules.count; i++) ct_push(m->context->arena, &names, last_part_of(m, modules.items[i]));
    CtSym near = ct_nearest(last_part_of(m, name), names.items, names.count);
    for (uint32_t i = 0; near != NULL && i < modules.count; i++)
        if (names.items[i] == near) return modules.items[i];
    return NULL;
}

CtFixities *ct_driver_modules_fixities(const CtModules *modules) { return &last_part(modules)->fixities; }

static CtUnit *parse(CtModules *m, uint32_t source) {
    bool is_library = m->context->sources.items[source].is_library;
    bool exempt = ct_arena_exempt(m->context->arena, is_library);
    CtModule *module = ct_syntax_parse_module(m->context, source);
    ct_arena_exempt(m->context->arena, exempt);
    if (module == NULL) return NULL;
    CtUnit *unit = CT_NEW(m->context->arena, CtUnit);
    unit->module = module;
    unit->is_library = is_library;
    return unit;
}

static bool read_prelude(CtModules *m) {
    for (unsigned i = 0; i < ct_embedded_count; i++) {
        const struct CtEmbedded *library = &ct_embedded[i];
        if (library->module != NULL) continue;
        uint32_t source = ct_source_add(m->context, library->name, library->text, library->length, true);
        if (strcmp(library->name, "lib/entry.cot") == 0) m->entry_source = source;
        CtUnit *unit = parse(m, source);
        if (unit == NULL) return false;
        unit->is_prelude = true;
        ct_push(m->context->arena, &m->units, unit);
    }
    return true;
}

/* ---- one import ---- */

static void say_cycle(CtModules *m, CtName name) {
    const CtUnit *last = m->reading.items[m->reading.count - 1];
    bool direct = last->module->name.text == name.text;
    CtDiag *diag = ct_error(m->context, CT_E0321, name.range, "`%s` imports itself%s", name.text->text,
                            direct ? "" : ", through what it imports");
    for (uint32_t i = 0; i < m->reading.count; i++) {
        const CtUnit *unit = m->reading.items[i];
        if (unit->imported.source == 0) continue;
        ct_note(m->context, diag, unit->imported, "`%s` is imported here", unit->module->name.text->text);
    }
}

/* The source of a module of the library; 0: there is none of that name. What only the Report calls so comes behind the
 * program's own modules. */
static uint32_t library_source(CtModules *m, CtSym name, bool of_report) {
    for (unsigned i = 0; i < ct_embedded_count; i++) {
        const struct CtEmbedded *library = &ct_embedded[i];
        if (library->module == NULL || strcmp(library->module, name->text) != 0) continue;
        if (lies_in(library, "lib/report/") == of_report)
            return ct_source_add(m->context, library->name, library->text, library->length, true);
    }
    return 0;
}

/* Finds the source of a module, in the library or by the finder. Returns 0 for a standard module, which needs no
 * source, and, after reporting an error, for a module that is not found. */
static uint32_t find_source(CtModules *m, CtName name) {
    CtContext *context = m->context;
    uint32_t source = library_source(m, name.text, false);
    if (source != 0) return source;
    if (ct_types_is_standard_module(name.text)) return 0;
    CtFound found = {.tried = "there is no folder to look in"};
    CtFinding finding = FINDING_NONE;
    if (m->finder.find != NULL) finding = m->finder.find(m->finder.data, context->arena, name.text->text, &found);
    if (finding == FINDING_NO_MEMORY) ct_alloc_array(context->arena, SIZE_MAX, SIZE_MAX); /* jumps to the handler */
    if (finding == FINDING_DONE) return ct_source_add(context, found.path, found.text, found.length, false);
    if ((source = library_source(m, name.text, true)) != 0) return source;
    CtDiag *diag = ct_error(context, CT_E0320, name.range, "there is no module `%s`", name.text->text);
    const char *near = nearest_module(m, name.text->text);
    if (near != NULL)
        ct_help(context, diag, "perhaps the library's `%s` is meant; otherwise %s", near, found.tried);
    else
        ct_help(context, diag, "%s", found.tried);
    return 0;
}

static bool check_header(CtModules *m, CtName name, const CtModule *module) {
    if (module->name.text == name.text) return true;
    const char *file = m->context->sources.items[module->source].name;
    CtDiag *diag = ct_error(m->context, CT_E0320, name.range, "%s says that it is the module `%s`, not `%s`", file,
                            module->name.text->text, name.text->text);
    ct_help(m->context, diag, "it should begin with `module %s where`", name.text->text);
    return false;
}

static void read_imports(CtModules *m, CtUnit *unit);

static void read_import(CtModules *m, CtName name) {
    if (ct_map_has(&m->by_name, ct_key(name.text))) {
        const CtUnit *unit = ct_map_get(&m->by_name, ct_key(name.text));
        if (unit != NULL && unit->reading) say_cycle(m, name);
        return;
    }
    if (m->reading.count >= DEEPEST) {
        ct_error(m->context, CT_E0207, name.range, "imports lead through more than %d modules", DEEPEST);
        return;
    }
    ct_map_set(m->context->arena, &m->by_name, ct_key(name.text), NULL);
    uint32_t source = find_source(m, name);
    CtUnit *unit = source != 0 ? parse(m, source) : NULL;
    if (unit == NULL || !check_header(m, name, unit->module)) return;
    unit->imported = name.range;
    ct_map_set(m->context->arena, &m->by_name, ct_key(name.text), unit);
    read_imports(m, unit);
}

static CtSym large_tuples(CtModules *m) { return ct_intern_text(&m->context->symbols, "LargeTuples"); }

static void read_imports(CtModules *m, CtUnit *unit) {
    const CtDecls *decls = &unit->module->decls;
    unit->reading = true;
    ct_push(m->context->arena, &m->reading, unit);
    for (uint32_t i = 0; i < decls->count; i++)
        if (decls->items[i].kind == DECL_IMPORT) read_import(m, decls->items[i].name);
    if (m->context->large_tuples && !ct_map_has(&m->by_name, ct_key(large_tuples(m)))) /* as if it were imported */
        read_import(m, (CtName){.text = large_tuples(m)});
    m->reading.count--;
    unit->reading = false;
    ct_push(m->context->arena, &m->units, unit);
}

bool ct_driver_modules_read(CtModules *modules, uint32_t source) {
    if (!read_prelude(modules)) return false;
    CtUnit *program = modules->program = parse(modules, source);
    if (program == NULL) return false;
    ct_map_set(modules->context->arena, &modules->by_name, ct_key(program->module->name.text), program);
    read_imports(modules, program);
    return modules->context->error_count == 0;
}

bool ct_driver_modules_read_another(CtModules *modules, const char *name) {
    read_import(modules, (CtName){.text = ct_intern_text(&modules->context->symbols, name)});
    return modules->context->error_count == 0;
}

bool ct_driver_modules_continue(CtModules *modules, CtModule *module) {
    CtUnit *unit = CT_NEW(modules->context->arena, CtUnit);
    unit->module = module;
    read_imports(modules, unit);
    return modules->context->error_count == 0;
}
