/* Sessions: entry points built and ready to run. */
#include "session/session.h"

#include <sched.h>
#include <stdlib.h>

/* ---- making ---- */

CtBuild *ct_session_program_build(cotan_program *program, const CtLook *look) {
    cotan_context *context = program->context;
    if (program->base && look == NULL && program->before == NULL) {
        CtBuild *base = program->base;
        program->base = NULL;
        ct_arena_on_failure(base->arena, context->handler);
        return base;
    }
    const CtInput *inputs = program->before != NULL ? *program->before : program->inputs;
    CtBuildOptions options = {.lint = context->checks > 0, .memory = context->limits.memory, .inputs = inputs};
    if (look != NULL) options.dump = look->dump, options.times = look->times, options.lazy = look->lazy;
    options.finder = ct_session_program_finder(program);
    CtBuild *build = ct_driver_build_new(program->name, program->text, program->length, options, context->handler);
    if (!build) {
        ct_session_report_out_of_memory(context);
        return NULL;
    }
    context->making = build;
    if (build->context.error_count > 0) {
        ct_session_report(context, &build->context);
        context->making = NULL;
        ct_driver_build_free(build);
        return NULL;
    }
    context->making = NULL;
    ct_driver_inputs_keep_newest_warnings(build);
    program->base_bytes = ct_arena_bytes(build->arena);
    if (!options.lazy) ct_session_report_warnings(program, &build->context);
    return build;
}

static bool same(const CtEntry *a, const CtEntry *b) {
    return !a->expression && !b->expression && a->one_rule == b->one_rule && a->rule.source == b->rule.source &&
           a->rule.start == b->rule.start && a->mode == b->mode && a->trap == b->trap && a->method == b->method &&
           a->reverse == b->reverse && a->prefer_double == b->prefer_double && a->checkpoints == b->checkpoints &&
           strcmp(a->function, b->function) == 0 &&
           (a->wrt == b->wrt || (a->wrt && b->wrt && strcmp(a->wrt, b->wrt) == 0));
}

/* The evaluator's limits: the memory limit is less what the compilation holds. */
static CtEvalLimits limits_of(const cotan_context *context, const CtBuild *build) {
    const size_t least = 64 * 1024;
    size_t used = ct_arena_bytes(build->arena), memory = context->limits.memory;
    memory = memory > used + least ? memory - used : least;
    return (CtEvalLimits){.steps = context->limits.steps, .memory = memory, .depth = context->limits.depth};
}

CtType *ct_session_result(const CtSession *session) {
    CtType *type = session->build->entry->type;
    return session->point ? ct_core_type_fun_result(type) : type;
}

/* An evaluator that may use the context's threads; NULL when memory runs out. */
static CtEval *eval_new(cotan_context *context, CtBuild *build) {
    unsigned threads = context->limits.threads;
    if (threads > 1 && context->pool == NULL) context->pool = ct_pool_new(threads);
    if (threads > 1 && context->pool == NULL) return NULL;
    CtEval *eval = ct_eval_new(build->program, build->ad, limits_of(context, build));
    if (eval == NULL) return NULL;
    if (context->measures) ct_eval_measure(eval);
    ct_eval_effects(eval, ct_session_world(context));
    ct_eval_clock(eval, &context->clock);
    if (threads == 1 || ct_eval_share(eval, context->pool)) return eval;
    ct_eval_free(eval);
    return NULL;
}

static void find_types(CtSession *session) {
    CtType *type = session->build->entry->type;
    cotan_mode mode = session->entry.mode;
    session->value = type;
    if (mode == COTAN_RUN && session->arity == 0 && !session->build->performs) return;
    if (session->entry.point) {
        session->value = mode == COTAN_RUN ? type : type->parts[0];
        session->derivative = mode == COTAN_RUN ? NULL : type->parts[1];
        return;
    }
    CtType *input = type->parts[0], *result = ct_core_type_fun_result(type);
    bool pair = mode == COTAN_VJP || mode == COTAN_JVP || mode == COTAN_HVP;
    session->point = pair ? input->parts[0] : input;
    session->with = pair ? input->parts[1] : NULL;
    session->value = mode == COTAN_RUN ? result : result->parts[0];
    session->derivative = mode == COTAN_RUN ? NULL : result->parts[1];
}

/* In place of a build of an action that strict evaluation does not suit: one that is evaluated lazily. The same build
 * if that is not possible, because it takes derivatives. */
static CtBuild *lazy_build(cotan_program *program, const CtEntry *entry, CtPrepare *prepare, void *data,
                           CtBuild *strict, bool *ready) {
    cotan_context *context = program->context;
    context->making = NULL;
    CtBuild *build = ct_session_program_build(program, &(CtLook){.lazy = true});
    if (build && prepare(build, entry, data)) {
        ct_driver_build_free(strict);
        *ready = true;
        strict = build;
    } else {
        ct_driver_build_free(build);
    }
    ct_arena_on_failure(strict->arena, context->handler);
    context->making = strict;
    return strict;
}

CtSession *ct_session_make(cotan_program *program, const CtEntry *entry, CtPrepare *prepare, void *data) {
    cotan_context *context = program->context;
    CtBuild *build = ct_session_program_build(program, NULL);
    if (!build) return NULL;
    context->making = build;
    CtSession *session = NULL;
    char *function = NULL;
    bool ready = prepare(build, entry, data);
    if (build->wants_lazy) build = lazy_build(program, entry, prepare, data, build, &ready);
    if (!ready) {
        ct_session_report(context, &build->context);
    } else {
        session = calloc(1, sizeof *session);
        if (entry->function) function = strdup(entry->function);
        if (session && (function || entry->expression)) session->eval = eval_new(context, build);
        if (!session || !session->eval) ct_session_report_out_of_memory(context);
    }
    if (session && session->eval) ct_eval_trap(session->eval, entry->trap, entry->mode != COTAN_RUN);
    if (!session || !session->eval) {
        free(session);
        free(function);
        ct_driver_build_free(build);
        context->making = NULL;
        return NULL;
    }
    session->limits = context->limits;
    session->pools = context->pools;
    session->measures = context->measures;
    session->entry = *entry;
    session->entry.function = function;
    if (entry->wrt) session->entry.wrt = ct_copy_text(build->arena, entry->wrt, strlen(entry->wrt));
    session->build = build;
    session->arity = (int)build->arity;
    session->next = program->sessions;
    program->sessions = session;
    context->making = NULL;
    find_types(session);
    return session;
}

static bool prepare_entry(CtBuild *build, const CtEntry *entry, void *data) {
    (void)data;
    return ct_driver_build_entry(build, entry);
}

CtSession *ct_session_activate(cotan_program *program, CtSession *session) {
    cotan_context *context = program->context;
    if (session) ct_arena_on_failure(session->build->arena, context->handler);
    context->active = session;
    context->active_program = program;
    return session;
}

CtSession *ct_session_program_fresh_session(cotan_program *program, const CtEntry *entry) {
    return ct_session_activate(program, ct_session_make(program, entry, prepare_entry, NULL));
}

/* Derivatives by bulk are cached for every shape of arguments, each some hundred kilobytes. A session with this many
 * frees all its memory and begins again. Within a run the memory limit applies. */
enum { MOST_FORMS = 500 };

bool ct_session_is_outdated(const CtSession *session, const cotan_context *context) {
    const cotan_limits *old = &session->limits, *now = &context->limits;
    if (session->compiler != NULL && (old->steps != 0) != (now->steps != 0)) return true;
    return old->memory != now->memory || old->depth != now->depth || session->pools != context->pools;
}

static CtSession *session_of(cotan_program *program, const CtEntry *entry) {
    cotan_context *context = program->context;
    CtSession *session = program->sessions;
    while (session && (session->apart || session->shape || !same(&session->entry, entry))) session = session->next;
    bool differs = session && (ct_session_is_outdated(session, context) || session->measures < context->measures ||
                               ct_session_native_differs(session, context));
    if (session && (differs || ct_bulk_count(session->build->ad) > MOST_FORMS)) {
        ct_session_program_forget(program, session);
        session = NULL;
    }
    return session ? ct_session_activate(program, session) : ct_session_program_fresh_session(program, entry);
}

CtSession *ct_session_for_any_rows(cotan_program *program, CtSession *session) {
    CtEntry entry = session->entry;
    entry.any_rows = true;
    if (session->for_any_rows == NULL) {
        program->before = session->definitions != program->definitions ? session->inputs : NULL;
        CtSession *made = session->for_any_rows = ct_session_make(program, &entry, prepare_entry, NULL);
        program->before = NULL;
        if (made == NULL) return NULL;
        program->sessions = made->next; /* it belongs to the session */
    }
    ct_arena_on_failure(session->for_any_rows->build->arena, program->context->handler);
    return session->for_any_rows;
}

/* In place of a session that cannot have derivatives by the method `native`. */
static CtSession *by_other_method(cotan_program *program, const CtEntry *entry, const char *why) {
    if (!ct_session_may_fall_back(program->context, "code by the method `native`", why)) return NULL;
    CtEntry instead = *entry;
    instead.method = entry->mode == COTAN_JVP ? METHOD_FORWARD : METHOD_TAPE;
    instead.reverse = METHOD_TAPE;
    CtSession *session = session_of(program, &instead);
    if (session != NULL && session->not_flow == NULL)
        session->not_flow = ct_copy_text(session->build->arena, why, strlen(why));
    return session;
}

CtSession *ct_session_program_session(cotan_program *program, const CtEntry *entry) {
    CtSession *session = session_of(program, entry);
    if (session == NULL || entry->reverse != METHOD_NATIVE || ct_session_native(session, program->context))
        return session;
    return by_other_method(program, entry, session->not_native);
}

CtNativeState ct_session_program_begin(cotan_program *program, const CtEntry *entry, CtSession **made) {
    CtSession *session = *made = session_of(program, entry);
    CtNativeState state = session != NULL ? ct_session_native_begin(session, program->context) : NATIVE_REFUSED;
    if (session == NULL || state != NATIVE_REFUSED || entry->reverse != METHOD_NATIVE) return state;
    *made = by_other_method(program, entry, session->not_native);
    return *made != NULL ? ct_session_native_begin(*made, program->context) : NATIVE_REFUSED;
}

/* ---- native code for a shape of the point ---- */

/* Sessions for shapes that a program keeps: each has a build of its own. */
enum { MOST_SHAPES = 50 };

static bool prepare_shape(CtBuild *build, const CtEntry *entry, void *form) {
    if (!ct_driver_build_entry(build, entry)) return false;
    ct_driver_build_for_shape(build, entry, form);
    return build->context.error_count == 0;
}

CtSession *ct_session_program_shaped(cotan_program *program, CtSession *session, CtWord point) {
    cotan_context *context = program->context;
    CtForm *form;
    const char *key;
    if (!ct_eval_shape(session->eval, session->point, point, &form, &key)) {
        ct_session_report_out_of_memory(context);
        return NULL;
    }
    CtSession *oldest = NULL;
    int count = 0;
    for (CtSession *old = program->sessions; old; old = old->next) {
        if (!old->shape || old->apart) continue;
        oldest = old;
        count++;
        if (same(&old->entry, &session->entry) && strcmp(old->shape, key) == 0 &&
            !ct_session_is_outdated(old, context) && !ct_session_native_differs(old, context))
            return ct_session_activate(program, old);
    }
    if (count >= MOST_SHAPES) ct_session_program_forget(program, oldest);
    CtSession *made = ct_session_make(program, &session->entry, prepare_shape, form);
    if (made) made->shape = ct_copy_text(made->build->arena, key, strlen(key));
    return ct_session_activate(program, made);
}

void ct_session_free(CtSession *session) {
    if (session->for_any_rows != NULL) ct_session_free(session->for_any_rows);
    ct_run_native_free(session->build->native);
    session->build->native = NULL;
    ct_eval_free(session->eval);
    ct_driver_build_free(session->build);
    free((char *)session->entry.function);
    free(session);
}

void ct_session_program_forget(cotan_program *program, CtSession *session) {
    CtSession **link = &program->sessions;
    while (*link && *link != session) link = &(*link)->next;
    if (!*link) return;
    *link = session->next;
    ct_session_free(session);
}

void ct_session_program_forget_expressions(cotan_program *program) {
    CtSession **link = &program->sessions;
    while (*link) {
        CtSession *session = *link;
        if (!session->entry.expression || session->apart) {
            link = &session->next;
            continue;
        }
        *link = session->next;
        ct_session_free(session);
    }
}

/* ---- values in and out ---- */

/* Errors in an input are reported in the memory of the results, because the session's own would grow with every
 * failure. */
static CtContext *input_diags(cotan_context *context) {
    CtArena *arena = context->active_program->results;
    CtContext *diags = CT_NEW(arena, CtContext);
    ct_context_init(diags, arena);
    return diags;
}

CtInput *ct_session_parse(cotan_context *context, int index, const char *what, const char *bytes, size_t length) {
    CtContext *diags = input_diags(context);
    CtInput **place = &context->inputs[index];
    if (!bytes) {
        ct_session_report_one(context, CT_E0701, NULL, "%s is missing", what);
        return NULL;
    }
    ct_io_input_free(*place);
    *place = NULL;
    if (length == 0) length = strlen(bytes);
    if (ct_io_input_parse(diags, what, bytes, length, context->limits.memory, place)) return *place;
    ct_session_report(context, diags);
    return NULL;
}

bool ct_session_arguments(CtSession *session, cotan_context *context, CtInput *given, const char *function) {
    CtContext *diags = input_diags(context);
    return ct_io_input_arguments(diags, given, function, (uint32_t)session->arity) || ct_session_report(context, diags);
}

bool ct_session_read(CtSession *session, cotan_context *context, CtInput *given, const CtType *type,
                     const CtLeaves *replace, CtWord *value) {
    CtContext *diags = input_diags(context);
    CtHeap *heap = ct_eval_heap(session->eval);
    if (session->arity > 1 && type == session->point) ct_io_input_name(given, session->build->parameters);
    return ct_io_input_value(diags, heap, given, type, replace, value) || ct_session_report(context, diags);
}

void ct_session_release(CtSession *session, const CtType *type, CtWord value) {
    ct_value_release(ct_eval_heap(session->eval), type, value);
}

bool ct_session_pair(CtSession *session, cotan_context *context, CtWord point, CtWord with, CtWord *pair) {
    CtHeap *heap = ct_eval_heap(session->eval);
    const CtType *type = session->build->entry->type->parts[0];
    const CtLayout *layout = ct_value_layout_tuple(heap, type);
    CtFields *fields = layout ? ct_value_fields_new(heap, layout, 0) : NULL;
    if (!fields) {
        ct_session_release(session, session->point, point);
        ct_session_release(session, session->with, with);
        ct_session_report_out_of_memory(context);
        return false;
    }
    fields->words[0] = point;
    fields->words[1] = with;
    pair->object = &fields->head;
    return true;
}

bool ct_session_run(CtSession *session, cotan_context *context, CtWord input, CtWord *result) {
    if (session->entry.reverse == METHOD_NATIVE) return ct_session_run_native(session, context, input, result);
    return ct_session_call(session, context, session->build->entry, input, result);
}

void ct_session_begin_run(cotan_context *context, CtSession *session) {
    ct_session_begin_messages(context, &session->build->context);
    ct_eval_clear_interrupt(session->eval);
    atomic_store(&context->running, session->eval);
}

void ct_session_begin_native(cotan_context *context, CtNative *native) {
    ct_run_native_clear_interrupt(native);
    atomic_store(&context->running_native, native);
}

void ct_session_end_run(cotan_context *context) {
    if (atomic_load(&context->running) != NULL) atomic_store(&context->running, NULL); /* a load takes less */
    if (atomic_load(&context->running_native) != NULL) atomic_store(&context->running_native, NULL);
    while (atomic_load(&context->interrupters) > 0) sched_yield(); /* a handler on this thread has ended */
}

bool ct_session_show(CtSession *session, cotan_context *context, CtGlobal *show, CtWord value, CtWord *text) {
    ct_session_begin_run(context, session);
    bool done = ct_eval_call(session->eval, show, &value, 1, text);
    ct_session_end_run(context);
    return done || ct_session_report(context, &session->build->context);
}

bool ct_session_call(CtSession *session, cotan_context *context, CtGlobal *entry, CtWord input, CtWord *result) {
    CtEval *eval = session->eval;
    ct_session_begin_run(context, session);
    bool done = false;
    if (!session->point) {
        done = ct_eval_call(eval, entry, NULL, 0, result);
    } else if (entry->body->kind == CORE_LAM) {
        done = ct_eval_call(eval, entry, &input, 1, result);
    } else { /* an expression whose value is a function */
        CtWord function;
        if (ct_eval_call(eval, entry, NULL, 0, &function)) {
            done = ct_eval_apply(eval, entry->type, function, &input, 1, result);
            ct_session_release(session, entry->type, function);
        } else {
            ct_session_release(session, entry->type->parts[0], input);
        }
    }
    ct_session_end_run(context);
    return done || ct_session_report(context, &session->build->context);
}
