/* What a program says of itself: types, Core, the form after each pass, times. */
#include <stdlib.h>

#include "session/session.h"

/* Each question leaves something in the memory of the build that is asked. With so many bytes more it is made again. */
enum { MOST_LEFT = 4 << 20 };

bool ct_session_describe(cotan_context *context, cotan_program *program, CtDescribe *describe, const void *of,
                         const char **out) {
    CtArena *results = ct_session_fresh_results(program);
    CtBuild *build = results != NULL ? ct_session_program_build(program, NULL) : NULL;
    if (build == NULL) return false;
    context->making = build;
    CtText text = ct_text(results);
    bool done = describe(context, build, of, &text);
    context->making = NULL;
    if (done) *out = text.data != NULL ? text.data : "";
    if (done && ct_arena_bytes(build->arena) <= program->base_bytes + MOST_LEFT)
        program->base = build;
    else
        ct_driver_build_free(build);
    return done;
}

typedef struct Show {
    cotan_program *program;
    const char *name;
    const char **out;
} Show;

static bool describe_types(cotan_context *context, CtBuild *build, const void *name, CtText *out) {
    return ct_driver_build_types(build, name, out) || ct_session_report(context, &build->context);
}

static bool types(cotan_context *context, void *data) {
    Show *s = data;
    return ct_session_describe(context, s->program, describe_types, s->name, s->out);
}

cotan_error *cotan_types(cotan_program *program, const char *name, const char **out) {
    Show s = {program, name, out};
    *out = NULL;
    return ct_session_guarded(program->context, types, &s);
}

static bool describe_parameters(cotan_context *context, CtBuild *build, const void *name, CtText *out) {
    return ct_driver_build_parameters(build, name, out) || ct_session_report(context, &build->context);
}

static bool parameters(cotan_context *context, void *data) {
    Show *s = data;
    return ct_session_describe(context, s->program, describe_parameters, s->name, s->out);
}

cotan_error *cotan_parameters(cotan_program *program, const char *function, const char **out) {
    Show s = {program, function, out};
    *out = NULL;
    return ct_session_guarded(program->context, parameters, &s);
}

static bool core(cotan_context *context, void *data) {
    Show *s = data;
    CtArena *results = ct_session_fresh_results(s->program);
    if (!results) return false;
    CtBuild *build = ct_session_program_build(s->program, NULL);
    if (!build) return false;
    context->making = build;
    CtText out = ct_text(build->arena);
    bool done = ct_driver_build_core(build, s->name, &out);
    if (done)
        *s->out = ct_copy_text(results, out.data ? out.data : "", out.length);
    else
        ct_session_report(context, &build->context);
    context->making = NULL;
    ct_driver_build_free(build);
    return done;
}

cotan_error *cotan_core(cotan_program *program, const char *name, const char **out) {
    Show s = {program, name, out};
    *out = NULL;
    return ct_session_guarded(program->context, core, &s);
}

typedef struct Dump {
    cotan_program *program;
    const cotan_call *call;
    const char *pass;
    const char **out;
} Dump;

/* A pass as it is named: one of the whole path, or a run of one over Flow. */
typedef struct Asked {
    const CtPass *pass;
    uint32_t flow_passes; /* number of passes over Flow that are run; 0: all or none */
} Asked;

static bool is_number(const char *text) { return *text != '\0' && text[strspn(text, "0123456789")] == '\0'; }

/* Finds a pass by NAME, flow.NAME, or these with .N for the N-th run. Plain names are looked up in the pipeline
 * first. */
static bool find_pass(const char *name, Asked *asked) {
    uint32_t flow = 0;
    for (uint32_t i = 0; i < ct_driver_pass_count; i++) {
        if (strcmp(ct_driver_passes[i].name, name) == 0) {
            *asked = (Asked){.pass = &ct_driver_passes[i]};
            return true;
        }
        if (ct_driver_passes[i].makes == KNOWN_FLOW) flow = i;
    }
    if (strncmp(name, "flow.", 5) == 0) name += 5;
    const char *dot = strchr(name, '.');
    if (dot != NULL && (!is_number(dot + 1) || strlen(dot) > 4)) return false;
    uint32_t run = dot != NULL ? (uint32_t)strtoul(dot + 1, NULL, 10) : 0;
    if (dot != NULL && run == 0) return false;
    uint32_t count = ct_flow_pass_find(name, dot != NULL ? (size_t)(dot - name) : strlen(name), run);
    *asked = (Asked){.pass = &ct_driver_passes[flow], .flow_passes = count};
    return count > 0;
}

static bool unknown_pass(cotan_context *context, CtArena *arena, const char *name) {
    CtText help = ct_text(arena);
    for (uint32_t i = 0; i < ct_driver_pass_count; i++)
        ct_text_printf(&help, "%s %s", i > 0 ? "," : "the passes are", ct_driver_passes[i].name);
    ct_text_puts(&help, "; those over Flow");
    for (uint32_t i = 0; i < ct_flow_pass_count(); i++) {
        const char *pass = ct_flow_pass(i).name;
        if (ct_flow_pass_find(pass, strlen(pass), 1) == i + 1)
            ct_text_printf(&help, "%s flow.%s", i > 0 ? "," : "", pass);
    }
    return ct_session_report_one(context, CT_E0701, help.data, "there is no pass `%s`", name);
}

static void looked(cotan_context *context, CtBuild *build) {
    context->making = NULL;
    ct_driver_build_free(build);
}

/* Takes a build through all passes up to one, with observation. The context frees it if memory runs out, until it is
 * given to `looked`. */
static CtBuild *look(cotan_context *context, const Dump *d, const Asked *asked, CtLook at) {
    CtEntry entry = {.mode = d->call->mode,
                     .function = d->call->function,
                     .wrt = d->call->wrt,
                     .prefer_double = d->call->at != NULL};
    if (!ct_session_check_call(context, d->call, CALLS_FUNCTION)) return NULL;
    bool beyond = (asked->pass->makes & (KNOWN_LOWERED | KNOWN_FLOW | KNOWN_C | KNOWN_NATIVE)) != 0;
    bool native = d->call->method == NULL && beyond;
    if (!ct_session_choose_method(context, native ? ct_core_method_name(METHOD_NATIVE) : d->call->method, &entry))
        return NULL;
    CtBuild *build = ct_session_program_build(d->program, &at);
    if (build == NULL) return NULL;
    context->making = build;
    CtNativeOptions options = {.exact = context->exact_math,
                               .alone = at.dump != NULL,
                               .passes = asked->flow_passes > 0 ? asked->flow_passes : UINT32_MAX};
    bool done = ct_driver_build_entry(build, &entry) || ct_session_report(context, &build->context);
    if (done && beyond && !ct_session_native_build(context, build, options, (CtKnown)asked->pass->makes))
        done =
            ct_session_report_one(context, CT_E0701, NULL, "the program is not lowered to Flow: %s", build->not_native);
    if (done) return build;
    looked(context, build);
    return NULL;
}

static bool dump(cotan_context *context, void *data) {
    Dump *d = data;
    Asked asked;
    CtArena *results = ct_session_fresh_results(d->program);
    if (results == NULL) return false;
    if (!find_pass(d->pass, &asked)) return unknown_pass(context, results, d->pass);
    CtBuild *build = look(context, d, &asked, (CtLook){.dump = asked.pass->name});
    if (build == NULL) return false;
    *d->out = ct_copy_text(results, build->dumped.data ? build->dumped.data : "", build->dumped.length);
    looked(context, build);
    return true;
}

static bool times(cotan_context *context, void *data) {
    Dump *d = data;
    CtArena *results = ct_session_fresh_results(d->program);
    Asked last = {.pass = &ct_driver_passes[ct_driver_pass_count - 1]};
    CtBuild *build = results != NULL ? look(context, d, &last, (CtLook){.times = true}) : NULL;
    if (build == NULL) return false;
    CtText text = ct_text(results);
    ct_times_print(&text, &build->times);
    *d->out = text.data;
    looked(context, build);
    return true;
}

cotan_error *cotan_times(cotan_program *program, const cotan_call *call, const char **out) {
    Dump d = {program, call, NULL, out};
    *out = NULL;
    return ct_session_guarded(program->context, times, &d);
}

cotan_error *cotan_dump(cotan_program *program, const cotan_call *call, const char *pass, const char **out) {
    Dump d = {program, call, pass, out};
    *out = NULL;
    return ct_session_guarded(program->context, dump, &d);
}
