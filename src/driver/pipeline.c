/* Implements the passes, and the function that runs them. */
#include "driver/pipeline.h"

#include <assert.h>
#include <stdlib.h>

typedef bool Pass(CtBuild *build, const CtEntry *entry);
#define CT_PASS(name, needs, makes, breaks, what) static Pass pass_##name;
CT_PASSES(CT_PASS)
#undef CT_PASS

const CtPass ct_driver_passes[] = {
#define CT_PASS(name, needs, makes, breaks, what) {#name, needs, makes, breaks, what},
    CT_PASSES(CT_PASS)
#undef CT_PASS
};
const uint32_t ct_driver_pass_count = sizeof ct_driver_passes / sizeof *ct_driver_passes;

static Pass *const functions[] = {
#define CT_PASS(name, needs, makes, breaks, what) pass_##name,
    CT_PASSES(CT_PASS)
#undef CT_PASS
};

/* ---- implementations of the passes ---- */

static bool pass_parse(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    build->modules.context = &build->context;
    build->modules.finder = build->options.finder;
    if (!ct_driver_modules_read(&build->modules, 1)) return false; /* the user's source was added first */
    build->module = build->modules.program->module;
    return ct_driver_inputs_read(build);
}

static bool pass_operators(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    return ct_driver_modules_operators(&build->modules);
}

static bool infer_units(CtBuild *build, uint32_t from) {
    for (uint32_t i = from; i < build->modules.units.count; i++) {
        const CtUnit *unit = build->modules.units.items[i];
        if (unit->module->continues) ct_types_scope_return(build->types);
        bool exempt = ct_arena_exempt(build->arena, unit->is_library);
        bool sound = ct_types_infer_module(build->types, unit->module, unit->is_prelude);
        ct_arena_exempt(build->arena, exempt);
        if (!sound) return false;
        if (unit == build->modules.program || unit->module->continues) ct_types_scope_keep(build->types);
    }
    return true;
}

static bool pass_infer(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    build->types = ct_types_new(&build->context);
    if (build->options.lazy) ct_types_set_lazy(build->types);
    ct_types_set_exporter(build->types, ct_driver_modules_exporter);
    bool sound = infer_units(build, 0);
    if (sound) ct_types_scope_return(build->types);
    return sound;
}

bool ct_driver_build_module(CtBuild *build, const char *module) {
    uint32_t units = build->modules.units.count;
    if (!ct_driver_modules_read_another(&build->modules, module) || !ct_driver_modules_operators(&build->modules) ||
        !infer_units(build, units))
        return false;
    ct_types_scope_return(build->types);
    return true;
}

/* Looks up a library name for a program transformation. The first lookup in a module reads it. */
static CtGlobal *library(void *data, const char *module, const char *name) {
    CtBuild *build = data;
    CtSym key = module != NULL ? ct_intern_text(&build->context.symbols, module) : NULL;
    if (key != NULL && !ct_map_has(&build->method_libraries, ct_key(key))) {
        ct_map_set(build->arena, &build->method_libraries, ct_key(key), build);
        if (!ct_driver_build_module(build, module)) return NULL;
    }
    if (key != NULL) ct_types_scope_keep_library(build->types, module);
    return ct_elab_library(build->elab, name);
}

static bool is_set_to(const char *variable, const char *value) {
    const char *given = getenv(variable);
    return given != NULL && strcmp(given, value) == 0;
}

/* Whether all parameters with respect to which the gradient is taken contain real numbers; otherwise an error. */
static bool chosen_are_real(CtBuild *build) {
    if (build->chosen_count == 0) return true;
    CtType *gradient = ct_core_type_fun_result(build->entry->type)->parts[1];
    for (uint32_t i = 0; i < build->chosen_count; i++) {
        CtType *type = build->chosen_count == 1 ? gradient : gradient->parts[i];
        if (ct_core_type_has_real(type)) continue;
        CtText text = ct_text(build->arena);
        ct_core_type_print(&text, type);
        ct_error(&build->context, CT_E0405, CT_NO_RANGE,
                 "--wrt: the parameter `%s` has the type %s, without real numbers", build->chosen[i], text.data);
        return false;
    }
    return true;
}

static bool pass_elaborate(CtBuild *build, const CtEntry *entry) {
    CtExpr *expr = ct_driver_entry_expression(build, entry);
    if (expr == NULL) return false;
    ct_types_prefer_double(build->types, entry->prefer_double);
    bool sound = ct_types_infer_expression(build->types, expr, NULL);
    ct_types_prefer_double(build->types, false);
    if (!sound) return false;
    build->program = ct_core_program_new(&build->context);
    build->elab = ct_elab_new(build->types, build->program);
    if (build->options.lazy) ct_elab_set_lazy(build->elab);
    build->ad = ct_ad_new(build->program, entry->reverse);
    if (is_set_to("COTAN_BULK", "run")) ct_bulk_at_run_time(build->ad);
    if (entry->one_rule) ct_ad_only_rule(build->ad, entry->rule);
    build->program->library = library;
    build->program->library_data = build;
    build->program->asked = expr->range;
    build->entry = ct_elab_expression(build->elab, "entry", expr);
    build->wants_lazy = entry->mode == COTAN_RUN && ct_elab_wants_lazy(build->elab, !build->performs);
    if (build->entry != NULL) ct_driver_entry_show(build, entry, expr->type);
    if (build->entry != NULL) ct_elab_note_forms(build->elab, expr->type);
    if (ct_ad_method_info(entry->method)->reverse)
        ct_ad_jvp_in_reverse(build->ad, build->modules.entry_source, expr->range);
    return build->entry != NULL && build->context.error_count == 0 && chosen_are_real(build);
}

/* What is called from outside of the program. */
static uint32_t roots_of(const CtBuild *build, CtGlobal *roots[4]) {
    uint32_t count = 0;
    roots[count++] = build->entry;
    if (build->given.function != NULL) roots[count++] = build->given.function;
    for (uint32_t i = 0; i < 2; i++)
        if (build->show[i] != NULL) roots[count++] = build->show[i];
    return count;
}

static bool pass_simplify(CtBuild *build, const CtEntry *entry) {
    CtGlobal *roots[4];
    uint32_t count = roots_of(build, roots);
    if (build->options.lazy) {
        CtSourceRange place;
        const char *why = ct_core_lazify(build->program, roots, count, &place);
        if (why != NULL) ct_error(&build->context, CT_E0403, place, "this is not evaluated lazily: %s", why);
        if (why != NULL) return false;
    } else {
        build->wants_lazy = build->performs && ct_core_has_no_end(build->program);
    }
    if (!build->options.lazy && !is_set_to("COTAN_LISTS", "keep"))
        build->given =
            ct_core_lists_to_arrays(build->program, roots, count, entry->reverse == METHOD_NATIVE, !entry->any_rows);
    if (entry->reverse == METHOD_NATIVE) ct_core_take_all_arguments(build->program);
    ct_core_simplify(build->program);
    build->loops = ct_ad_checkpoint_loops(build->ad, entry->checkpoints);
    if (entry->checkpoints) ct_core_simplify(build->program);
    return build->context.error_count == 0;
}

static bool pass_reduce(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    ct_core_simplify(build->program);
    return true;
}

static bool pass_differentiate(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    ct_ad_expand(build->ad);
    return build->context.error_count == 0;
}

static bool pass_prune(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    CtGlobal *roots[4];
    uint32_t count = roots_of(build, roots);
    ct_core_reachable(build->program, roots, count);
    return true;
}

static const char *no_functions(const CtType *type) { return ct_flow_is_plain(type) ? NULL : "functions go in or out"; }

/* The reason why the entry point is not lowered: its parameter or its result holds functions. NULL if there is none. */
static const char *not_plain(const CtBuild *build) {
    const CtType *type = build->entry->type;
    if (type->kind != TYPE_FUN) return no_functions(type);
    const char *why = type->count > 1 ? no_functions(type->parts[0]) : NULL;
    return why != NULL ? why : no_functions(ct_core_type_fun_result((CtType *)type));
}

static bool pass_lower(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    build->not_native = not_plain(build);
    if (build->not_native != NULL) return false;
    build->flow = ct_driver_flow(build);
    build->flow->exact = build->native_options.exact;
    build->not_native = build->flow->refused;
    return build->not_native == NULL;
}

static bool pass_flow(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    CtFlow *flow = build->flow;
    ct_flow_pass_all(flow, build->native_options.passes, build->options.lint,
                     build->options.times ? &build->times : NULL);
    build->wrong = flow->wrong;
    build->not_native = flow->wrong != NULL ? flow->wrong : flow->refused;
    return build->not_native == NULL;
}

static bool pass_c(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    build->c = ct_text(build->arena);
    ct_emit_program(&build->c, build->flow,
                    (CtEmitOptions){.exact = build->native_options.exact,
                                    .outside = !build->native_options.alone,
                                    .scalar = is_set_to("COTAN_VECTORISE", "off"),
                                    .debug = is_set_to("COTAN_DEBUG_RUNTIME", "1")});
    return true;
}

static bool pass_native(CtBuild *build, const CtEntry *entry) {
    (void)entry;
    char reason[200];
    CtCompileOptions options = {build->native_options.exact, build->native_options.background};
    build->native = ct_run_native_new(build->flow, build->c.data, build->c.length, options, reason);
    if (build->native == NULL) build->not_native = ct_copy_text(build->arena, reason, strlen(reason));
    return build->native != NULL;
}

/* ---- running the passes ---- */

static uint64_t size_of(const CtBuild *build) {
    if (build->known & KNOWN_C) return build->c.length;
    if (build->known & KNOWN_LOWERED) return ct_flow_program_size(build->flow);
    if (build->program != NULL) return build->program->globals.count;
    return build->modules.units.count;
}

static void dump(CtBuild *build) {
    CtText *out = &build->dumped;
    if (build->known & KNOWN_C) {
        *out = build->c;
    } else if (build->known & KNOWN_LOWERED) {
        ct_flow_print(out, build->flow);
    } else if (build->program != NULL) {
        for (uint32_t i = 0; i < build->program->globals.count; i++) {
            ct_core_print_global(out, build->program, build->program->globals.items[i]);
            ct_text_puts(out, "\n");
        }
    } else if (build->types != NULL) {
        ct_driver_build_types(build, NULL, out);
    } else {
        for (uint32_t i = 0; i < build->module->decls.count; i++) {
            ct_syntax_print_decl(out, &build->module->decls.items[i]);
            ct_text_puts(out, "\n");
        }
    }
}

static bool run_pass(CtBuild *build, uint32_t index, const CtEntry *entry) {
    const CtPass *pass = &ct_driver_passes[index];
    assert((build->known & pass->needs) == pass->needs);
    double begun = ct_times_now();
    if (!functions[index](build, entry) || build->context.error_count > 0) return false;
    build->known = (build->known & ~pass->breaks) | pass->makes;
    if (build->options.times && pass->makes != KNOWN_FLOW) /* the passes on Flow have recorded their times one by one */
        ct_times_add(&build->times, build->arena, pass->name, begun, size_of(build));
    if (build->options.lint && build->program != NULL && !(build->known & KNOWN_LOWERED)) {
        const char *wrong = ct_core_lint(build->program);
        if (wrong != NULL) {
            ct_error(&build->context, CT_E0901, CT_NO_RANGE, "after the pass %s: %s", pass->name, wrong);
            return false;
        }
    }
    if (build->options.dump != NULL && strcmp(build->options.dump, pass->name) == 0) dump(build);
    return true;
}

/* The numbers of the first pass on Core and of the first pass behind Core. */
enum { FIRST_CORE_PASS = 3, FIRST_NATIVE_PASS = 8 };

CtBuild *ct_driver_build_new(const char *name, const char *text, size_t length, CtBuildOptions options,
                             jmp_buf *handler) {
    CtArena *arena = ct_arena_new(options.memory);
    if (arena == NULL) return NULL;
    jmp_buf failed;
    if (setjmp(failed) != 0) {
        ct_arena_free(arena);
        return NULL;
    }
    ct_arena_on_failure(arena, &failed);
    CtBuild *build = CT_NEW(arena, CtBuild);
    build->arena = arena;
    build->options = options;
    build->dumped = ct_text(arena);
    ct_context_init(&build->context, arena);
    ct_source_add(&build->context, name, text, length, false);
    bool sound = true;
    for (uint32_t i = 0; i < FIRST_CORE_PASS && sound; i++) sound = run_pass(build, i, NULL);
    if (!sound && build->context.error_count == 0)
        ct_error(&build->context, CT_E0901, CT_NO_RANGE, "reading %s failed without a reason", name);
    ct_arena_on_failure(arena, handler);
    return build;
}

void ct_driver_build_free(CtBuild *build) {
    if (build == NULL) return;
    ct_run_native_free(build->native);
    ct_arena_free(build->context.passing);
    ct_arena_free(build->arena);
}

bool ct_driver_build_entry(CtBuild *build, const CtEntry *entry) {
    for (uint32_t i = FIRST_CORE_PASS; i < FIRST_NATIVE_PASS; i++)
        if (!run_pass(build, i, entry)) return false;
    return true;
}

void ct_driver_build_for_shape(CtBuild *build, const CtEntry *entry, const CtForm *point) {
    bool has_with = entry->mode == COTAN_VJP || entry->mode == COTAN_JVP || entry->mode == COTAN_HVP;
    ct_bulk_derive_at(build->ad, build->entry, has_with, point);
    run_pass(build, FIRST_NATIVE_PASS - 2, entry); /* prune, reduce */
    run_pass(build, FIRST_NATIVE_PASS - 1, entry);
}

bool ct_driver_build_native(CtBuild *build, CtNativeOptions options, CtKnown known) {
    build->native_options = options;
    for (uint32_t i = FIRST_NATIVE_PASS; i < ct_driver_pass_count && !(build->known & known); i++)
        if (!run_pass(build, i, NULL)) return false;
    return true;
}

CtFlow *ct_driver_flow(CtBuild *build) {
    CtGlobal *function = build->given.function;
    CtFlow *flow = ct_flow_make(build->program, build->ad, function != NULL ? function : build->entry);
    if (function != NULL) {
        flow->input = function->type->parts[0];
        flow->output = ct_core_type_fun_result(function->type);
    }
    return flow;
}

CtFlow *ct_driver_lower(CtBuild *build, bool exact, uint32_t passes) {
    CtFlow *flow = ct_driver_flow(build);
    flow->exact = exact;
    ct_flow_pass_all(flow, passes, build->options.lint, NULL);
    return flow;
}

bool ct_driver_build_as_written(CtBuild *build, const CtEntry *entry) {
    if (!run_pass(build, FIRST_CORE_PASS, entry)) return false;
    for (uint32_t i = 0; i < build->program->globals.count; i++) {
        CtGlobal *global = build->program->globals.items[i];
        global->is_kept = !global->is_library && global != build->entry;
    }
    return run_pass(build, FIRST_CORE_PASS + 1, entry);
}
