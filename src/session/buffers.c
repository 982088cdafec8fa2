/* Functions made once, and called with buffers. */
#include "session/function.h"

#include <stdlib.h>

#include "base/times.h"

/* ---- making ---- */

/* The layout of two values together: a point and its tangent or cotangent, a value and its derivative. */
static const CtFlat *pair(CtArena *arena, const CtType *type, const CtFlat *first, const CtFlat *second) {
    if (first == NULL || second == NULL) return NULL;
    CtFlat *both = CT_NEW(arena, CtFlat);
    *both = (CtFlat){
        .kind = FLAT_TUPLE, .type = type, .slot = first->slot, .slots = first->slots + second->slots, .count = 2};
    both->parts = CT_NEW_ARRAY(arena, CtFlat *, 2);
    both->parts[0] = (CtFlat *)first;
    both->parts[1] = (CtFlat *)second;
    return both;
}

/* What of a function has no buffers. */
static void no_form(cotan_function *function, const CtType *type) {
    CtText text = ct_text(function->arena);
    ct_core_type_print(&text, type);
    function->signature.no_buffers = text.data;
    function->input = function->result = NULL;
}

static void find_forms(cotan_function *function) {
    CtArena *arena = function->arena;
    const CtSession *session = function->session;
    const CtType *entry = session->build->entry->type, *result = ct_session_result(session);
    CtSlots in = {0}, out = {0};
    function->input = function->result = NULL;
    if (session->point != NULL) {
        function->input = ct_value_flat(arena, session->point, "at", &in);
        if (session->with != NULL)
            function->input =
                pair(arena, entry->parts[0], function->input, ct_value_flat(arena, session->with, "with", &in));
        if (function->input == NULL) {
            no_form(function, entry->parts[0]);
            return;
        }
    }
    function->result = ct_value_flat(arena, session->value, "value", &out);
    if (session->derivative != NULL)
        function->result =
            pair(arena, result, function->result, ct_value_flat(arena, session->derivative, "derivative", &out));
    if (function->result == NULL) {
        no_form(function, result);
        return;
    }
    function->signature.in = in.items;
    function->signature.out = out.items;
    function->signature.in_count = in.count;
    function->signature.out_count = out.count;
}

static bool has_function(const CtType *type) { return type != NULL && ct_core_type_has_fun((CtType *)type); }

static bool describe(cotan_context *context, cotan_function *function) {
    CtArena *arena = function->arena;
    const CtSession *session = function->session;
    CtText type = ct_text(arena);
    ct_core_type_print(&type, session->build->entry->type);
    if (has_function(session->point) || has_function(session->value)) {
        const char *name = function->entry.function != NULL ? function->entry.function : "the expression";
        return ct_session_report_one(context, CT_E0613, NULL, "`%s` takes or gives functions: %s", name, type.data);
    }
    CtMap known = {0};
    function->signature = (cotan_signature){
        .type = type.data,
        .not_native = function->signature.not_native,
        .at_type = ct_session_type(arena, &known, session->point),
        .with_type = ct_session_type(arena, &known, session->with),
        .value_type = ct_session_type(arena, &known, session->value),
        .derivative_type = ct_session_type(arena, &known, session->derivative),
        .arity = (size_t)session->arity,
    };
    function->out = NULL;
    find_forms(function);
    return true;
}

/* A session of the program as it was when the function was made. */
static CtSession *session_of(cotan_function *function, const CtEntry *entry) {
    cotan_program *program = function->program;
    program->before = function->definitions != program->definitions ? &function->inputs : NULL;
    CtSession *session = ct_session_program_fresh_session(program, entry);
    program->before = NULL;
    return session;
}

/* Makes the session for a method; it is kept with the program, but no other call uses it. */
static bool make_session(cotan_context *context, cotan_function *function, const char *method) {
    CtEntry entry = function->entry;
    function->session = NULL;
    if (!ct_session_choose_method(context, method, &entry)) return false;
    CtSession *session = session_of(function, &entry);
    if (session == NULL) return false;
    session->apart = true;
    session->inputs = &function->inputs;
    session->definitions = function->definitions;
    session->entry.expression = function->entry.expression;
    session->entry.wrt = function->entry.wrt;
    function->session = session;
    function->entry = entry;
    return true;
}

static void drop_session(cotan_context *context, cotan_function *function) {
    ct_session_program_forget(function->program, function->session);
    function->session = NULL;
    context->active = NULL;
}

/* Makes native code for a method; not_native says why there is none. */
static bool is_native(cotan_context *context, cotan_function *function) {
    function->signature.not_native = NULL;
    CtNative *native = ct_session_native(function->session, context) ? function->session->native : NULL;
    if (native != NULL) {
        function->direct = function->result != NULL &&
                           (function->input == NULL || (ct_run_native_form(native, function->input) &&
                                                        !ct_value_flat_has_related_parts(function->input))) &&
                           ct_run_native_form(native, function->result);
        return true;
    }
    const char *why = function->session->not_native;
    function->signature.not_native = ct_copy_text(function->arena, why, strlen(why));
    return false;
}

/* Without a named method, or by `native`, the production engine is used. For what it does not support, the best of the
 * other methods is used, as native code if possible. */
static bool make_sessions(cotan_context *context, cotan_function *function) {
    const char *method = function->method;
    if (function->native && method == NULL) {
        if (!make_session(context, function, ct_core_method_name(METHOD_NATIVE)) || !describe(context, function))
            return false;
        if (is_native(context, function)) return true;
        const char *why = function->signature.not_native;
        if (!ct_session_may_fall_back(context, "code by the method `native`", why)) return false;
        drop_session(context, function);
    }
    if (!make_session(context, function, method) || !describe(context, function)) return false;
    if (!function->native || is_native(context, function)) return true;
    return ct_session_may_fall_back(context, "native code", function->signature.not_native);
}

typedef struct Make {
    cotan_program *program;
    const cotan_call *call;
    cotan_function *function;
} Make;

static cotan_function *allocate(cotan_program *program, const cotan_call *call) {
    cotan_function *function = calloc(1, sizeof *function);
    if (function == NULL) return NULL;
    function->program = program;
    function->next = program->functions;
    program->functions = function; /* from here on the program frees it, whatever happens */
    bool native = ct_session_names_native(call->method);
    function->native = call->native || native;
    function->definitions = program->definitions;
    if (!ct_session_program_copy_inputs(program, &function->inputs)) return NULL;
    function->arena = ct_arena_new(0);
    function->results = ct_arena_new(0);
    function->entry = (CtEntry){.mode = call->mode, .applied = true, .prefer_double = true};
    if (call->function != NULL) function->entry.function = strdup(call->function);
    if (call->expression != NULL) function->entry.expression = strdup(call->expression);
    if (call->trap > 0) {
        function->entry.trap = call->trap == 1 ? CT_TRAP_NAN : CT_TRAP_INFINITE;
        function->native = false;
    }
    if (call->wrt != NULL && call->mode == COTAN_GRAD) function->entry.wrt = strdup(call->wrt);
    if (call->method != NULL && !native) function->method = strdup(call->method);
    bool named = function->entry.function != NULL || function->entry.expression != NULL; /* there was memory */
    if (call->method != NULL && !native && function->method == NULL) return NULL;
    return function->arena != NULL && function->results != NULL && named ? function : NULL;
}

static bool make(cotan_context *context, void *data) {
    Make *m = data;
    if (!ct_session_check_call(context, m->call, CALLS_ANY)) return false;
    cotan_function *function = allocate(m->program, m->call);
    if (function == NULL) {
        ct_session_report_out_of_memory(context);
        return false;
    }
    ct_arena_on_failure(function->arena, context->handler);
    ct_arena_on_failure(function->results, context->handler);
    m->function = function;
    return make_sessions(context, function);
}

cotan_error *cotan_function_make(cotan_program *program, const cotan_call *call, cotan_function **out) {
    Make m = {program, call, NULL};
    *out = NULL;
    cotan_error *error = ct_session_guarded(program->context, make, &m);
    if (error == NULL)
        *out = m.function;
    else if (m.function != NULL)
        cotan_function_free(m.function);
    return error;
}

void cotan_function_free(cotan_function *function) {
    if (function == NULL) return;
    cotan_function **link = &function->program->functions;
    while (*link != function) link = &(*link)->next;
    *link = function->next;
    if (function->session != NULL) ct_session_program_forget(function->program, function->session);
    ct_session_function_end(function);
    ct_session_inputs_free(function->inputs);
    free(function->method);
    free((char *)function->entry.function);
    free((char *)function->entry.expression);
    free((char *)function->entry.wrt);
    ct_arena_free(function->arena);
    ct_arena_free(function->results);
    ct_arena_free(function->read);
    ct_arena_free(function->written);
    ct_arena_free(function->described);
    free(function);
}

const cotan_signature *cotan_function_signature(const cotan_function *function) { return &function->signature; }

/* ---- calling ---- */

typedef struct Apply {
    cotan_function *function;
    const cotan_buffer *in;
    cotan_buffer *out;
} Apply;

static bool wrong_buffers(cotan_context *context, const char *wrong) {
    return ct_session_report_one(context, CT_E0601, NULL, "%s", wrong);
}

bool ct_session_function_run(cotan_context *context, cotan_function *function, CtWord input, CtWord *result) {
    CtSession *session = function->session;
    ct_eval_limit_steps(session->eval, context->limits.steps);
    ct_eval_reset_stats(session->eval);
    double begun = ct_times_now();
    bool done = function->is_native ? ct_session_run_native(session, context, input, result)
                                    : ct_session_run(session, context, input, result);
    function->seconds = function->is_native ? ct_run_native_seconds(session->ran) : ct_times_now() - begun;
    return done;
}

/* The value of buffers in the session's heap, if a program can make it. */
static bool copy_input(cotan_context *context, const cotan_function *function, const cotan_buffer *in, CtWord *input) {
    CtSession *session = function->session;
    if (function->input == NULL) return true;
    if (!ct_value_flat_read(ct_eval_heap(session->eval), function->input, in, input)) {
        ct_session_report_out_of_memory(context);
        return false;
    }
    const char *unmade = ct_value_flat_unmade(function->input, *input);
    if (unmade == NULL) return true;
    ct_session_release(session, session->build->entry->type->parts[0], *input);
    return wrong_buffers(context, unmade);
}

/* By values in the session's heap. */
static bool apply_copied(cotan_context *context, Apply *a) {
    cotan_function *function = a->function;
    CtSession *session = function->session;
    CtWord input = {.integer = 0}, result;
    if (!copy_input(context, function, a->in, &input)) return false;
    if (!ct_session_function_run(context, function, input, &result)) return false;
    memcpy(function->filled, a->out, function->signature.out_count * sizeof *a->out);
    const char *wrong =
        ct_value_flat_write(function->results, function->result, function->signature.out, result, function->filled);
    ct_session_release(session, ct_session_result(session), result);
    return wrong == NULL || wrong_buffers(context, wrong);
}

/* A fresh arena in place of another. */
static bool renew(cotan_context *context, CtArena **arena) {
    ct_arena_free(*arena);
    *arena = ct_arena_new(0);
    if (*arena != NULL) {
        ct_arena_on_failure(*arena, context->handler);
        return true;
    }
    ct_session_report_out_of_memory(context);
    return false;
}

/* In place of a session another is to be made. Results of the last call stay where they are. */
static void replace_session(cotan_context *context, cotan_function *function) {
    if (!function->gave || function->last != NULL) {
        drop_session(context, function);
        return;
    }
    function->last = function->session;
    function->session = NULL;
    context->active = NULL;
}

/* Makes the session ready to run, as native code or not. */
static bool ready(cotan_context *context, cotan_function *function) {
    ct_arena_on_failure(function->arena, context->handler);
    bool native = function->native && function->signature.not_native == NULL;
    bool exact = function->session != NULL && function->session->exact_math != context->exact_math;
    if (function->session != NULL && ((native && exact) || ct_session_is_outdated(function->session, context)))
        replace_session(context, function);
    if (function->session == NULL && !make_sessions(context, function)) return false;
    native = function->native && function->signature.not_native == NULL;
    function->is_native = native && ct_session_native(function->session, context);
    context->active = function->session;
    context->active_program = function->program;
    ct_arena_on_failure(function->session->build->arena, context->handler);
    return true;
}

static const char *check_buffers(const cotan_function *function, const cotan_buffer *in) {
    return function->input != NULL ? ct_value_flat_check(function->results, function->input, function->signature.in, in)
                                   : NULL;
}

static bool has_buffers(cotan_context *context, const cotan_function *function) {
    const char *type = function->signature.no_buffers, *name = function->entry.function;
    return type == NULL ||
           ct_session_report_one(context, CT_E0613, "cotan_apply_values takes and gives any value",
                                 "`%s` takes or gives %s", name != NULL ? name : "the expression", type);
}

bool ct_session_function_beside(cotan_context *context, cotan_function *function, CtArena **arena) {
    return ready(context, function) && renew(context, arena);
}

enum { MUCH = 1 << 18 };

bool ct_session_function_begin(cotan_context *context, cotan_function *function) {
    if (!ready(context, function)) return false;
    /* What the last call has left is small where native code keeps its results itself. */
    bool full = function->results == NULL || ct_arena_bytes(function->results) > MUCH;
    bool direct = function->is_native && function->direct;
    if (!direct || full) {
        function->before = function->results;
        function->results = NULL;
        return renew(context, &function->results);
    }
    ct_arena_on_failure(function->results, context->handler);
    return true;
}

bool ct_session_function_again(cotan_context *context, cotan_function *function) {
    if (!ct_session_wants_checkpoints(context, function->session)) return false;
    ct_session_report_clear(context);
    drop_session(context, function);
    function->entry.checkpoints = true;
    ct_session_world_again(context);
    return ready(context, function);
}

void ct_session_function_end(cotan_function *function) {
    cotan_buffer *given = function->given;
    function->given = function->filled;
    function->filled = given;
    function->gave = function->gives;
    function->gives = false;
    ct_arena_free(function->before);
    function->before = NULL;
    if (function->last != NULL) ct_session_program_forget(function->program, function->last);
    function->last = NULL;
}

/* ---- what the last call has given ---- */

static size_t words_of(const cotan_slot *slot, const cotan_buffer *buffer) {
    size_t words = 1;
    for (unsigned i = 0; i < slot->rank; i++) words *= buffer->size[i];
    return words;
}

/* Extends begin … end by the addresses of a buffer. */
static void add_range(const cotan_slot *slot, const cotan_buffer *buffer, uintptr_t *begin, uintptr_t *end) {
    uintptr_t from = (uintptr_t)buffer->data, to = from + words_of(slot, buffer) * sizeof(CtWord);
    if (buffer->data == NULL) return;
    if (from < *begin) *begin = from;
    if (to > *end) *end = to;
}

static bool is_given(const cotan_function *function, const void *data) {
    for (size_t i = 0; i < function->signature.out_count; i++) {
        uintptr_t begin = UINTPTR_MAX, end = 0;
        add_range(&function->signature.out[i], &function->given[i], &begin, &end);
        if ((uintptr_t)data >= begin && (uintptr_t)data < end) return true;
    }
    return false;
}

bool ct_session_function_take(cotan_context *context, cotan_function *function, const cotan_buffer **in) {
    const cotan_signature *signature = &function->signature;
    const char *wrong = check_buffers(function, *in);
    if (wrong != NULL) return wrong_buffers(context, wrong);
    if (!function->gave || !function->is_native) return true;
    uintptr_t begin = UINTPTR_MAX, end = 0;
    for (size_t i = 0; i < signature->out_count; i++) add_range(&signature->out[i], &function->given[i], &begin, &end);
    cotan_buffer *taken = NULL;
    for (size_t i = 0; i < signature->in_count; i++) {
        uintptr_t at = (uintptr_t)(*in)[i].data;
        if (at < begin || at >= end || !is_given(function, (*in)[i].data)) continue;
        size_t words = words_of(&signature->in[i], &(*in)[i]);
        if (taken == NULL) {
            taken = CT_NEW_ARRAY(function->results, cotan_buffer, signature->in_count);
            memcpy(taken, *in, signature->in_count * sizeof *taken);
        }
        taken[i].data = CT_NEW_ARRAY(function->results, CtWord, words + 1);
        memcpy(taken[i].data, (*in)[i].data, words * sizeof(CtWord));
    }
    if (taken != NULL) *in = taken;
    return true;
}

/* What the last call has given is gone after this one, also if that fails: NULL stands in its place. */
static void forget_given(const cotan_function *function, cotan_buffer *out) {
    for (size_t i = 0; function->gave && i < function->signature.out_count; i++)
        if (out[i].data != NULL && (out[i].data == function->given[i].data || is_given(function, out[i].data)))
            out[i].data = NULL;
}

bool ct_session_function_buffers(cotan_context *context, cotan_function *function, const cotan_buffer *in,
                                 cotan_buffer *out) {
    Apply a = {function, in, out};
    bool done, direct = function->is_native && function->direct;
    size_t count = function->signature.out_count;
    if (function->given == NULL) function->given = CT_NEW_ARRAY(function->arena, cotan_buffer, count + 1);
    if (function->filled == NULL) function->filled = CT_NEW_ARRAY(function->arena, cotan_buffer, count + 1);
    if (direct) {
        done = ct_session_apply_native(function->session, context, function->input, in, function->result,
                                       function->signature.out, out, function->filled);
        function->seconds = ct_run_native_seconds(function->session->native);
    } else {
        done = apply_copied(context, &a);
    }
    for (size_t i = 0; done && i < count; i++) {
        bool callers = out[i].data != NULL;
        out[i] = function->filled[i];
        if (callers)
            function->filled[i].data = NULL;
        else
            function->gives = true;
    }
    return done;
}

static bool apply(cotan_context *context, void *data) {
    Apply *a = data;
    cotan_function *function = a->function;
    if (!has_buffers(context, function)) return false;
    if (!ct_session_function_begin(context, function)) return false;
    if (!ct_session_function_take(context, function, &a->in)) return false;
    bool done = ct_session_function_buffers(context, function, a->in, a->out);
    if (!done && ct_session_function_again(context, function))
        done = ct_session_function_buffers(context, function, a->in, a->out);
    return done;
}

cotan_error *cotan_apply(cotan_function *function, const cotan_buffer *in, cotan_buffer *out) {
    Apply a = {function, in, out};
    forget_given(function, out);
    cotan_error *error = ct_session_guarded(function->program->context, apply, &a);
    ct_session_function_end(function);
    return error;
}

/* ---- buffers and texts ---- */

typedef struct Texts {
    cotan_function *function;
    const char *what, *at, *with;
    size_t at_length, with_length;
    bool foreign;             /* JSON of another program */
    cotan_buffer *read;       /* the inputs that are read; or */
    const cotan_buffer *in;   /* those whose result is written */
    const cotan_value *value; /* the same as a value */
    cotan_form form;
    cotan_result *out;
    const char *written;
} Texts;

/* The inputs as the entry point's argument. */
static bool read_value(cotan_context *context, const Texts *t, CtWord *value) {
    CtSession *session = t->function->session;
    const char *name = t->function->entry.function != NULL ? t->function->entry.function : "the expression";
    CtInput *at = ct_session_parse(context, 0, t->what, t->at, t->at_length), *with = NULL;
    CtWord other = {.integer = 0};
    if (at == NULL) return false;
    if (t->foreign) ct_io_input_foreign(at);
    if (session->arity > 1 && session->entry.mode == COTAN_RUN && !ct_session_arguments(session, context, at, name))
        return false;
    if (!ct_session_read(session, context, at, session->point, NULL, value)) return false;
    if (session->with == NULL) return true;
    if (t->with != NULL) with = ct_session_parse(context, 1, t->what, t->with, t->with_length);
    if (with != NULL && ct_session_read(session, context, with, session->with, NULL, &other))
        return ct_session_pair(session, context, *value, other, value);
    ct_session_release(session, session->point, *value);
    return t->with != NULL || ct_session_report_one(context, CT_E0701, NULL, "the second input is missing");
}

static bool read_buffers(cotan_context *context, void *data) {
    Texts *t = data;
    cotan_function *function = t->function;
    CtWord value;
    if (!has_buffers(context, function)) return false;
    if (!ct_session_function_beside(context, function, &function->read)) return false;
    if (!ct_session_fresh_results(function->program)) return false;
    if (function->input == NULL) return true;
    if (!read_value(context, t, &value)) return false;
    for (size_t i = 0; i < function->signature.in_count; i++) t->read[i].data = NULL;
    const char *wrong = ct_value_flat_write(function->read, function->input, function->signature.in, value, t->read);
    ct_session_release(function->session, function->session->build->entry->type->parts[0], value);
    return wrong == NULL || wrong_buffers(context, wrong);
}

static cotan_error *with_texts(CtWork *work, Texts *t) {
    return ct_session_guarded(t->function->program->context, work, t);
}

cotan_error *cotan_function_read(cotan_function *function, const char *what, const char *at, size_t at_length,
                                 const char *with, size_t with_length, cotan_buffer *in) {
    Texts t = {.function = function, .what = what, .at = at, .with = with, .read = in};
    t.at_length = at_length;
    t.with_length = with_length;
    return with_texts(read_buffers, &t);
}

cotan_error *cotan_function_read_foreign(cotan_function *function, const char *json, size_t length, cotan_buffer *in) {
    Texts t = {.function = function, .what = "the input", .at = json, .at_length = length, .foreign = true, .read = in};
    return with_texts(read_buffers, &t);
}

static bool run_text(cotan_context *context, const Texts *t) {
    cotan_function *function = t->function;
    CtSession *session = function->session;
    CtWord input = {.integer = 0}, result;
    if (!copy_input(context, function, t->in, &input)) return false;
    if (!ct_session_function_run(context, function, input, &result)) return false;
    const cotan_call call = {.mode = session->entry.mode, .function = function->entry.function, .form = t->form};
    CtCall c = {.program = function->program, .call = &call, .out = t->out};
    bool done = ct_session_write(context, session, result, &c);
    ct_session_release(session, ct_session_result(session), result);
    return done;
}

static bool apply_text(cotan_context *context, void *data) {
    Texts *t = data;
    cotan_function *function = t->function;
    if (!has_buffers(context, function)) return false;
    if (!ct_session_function_begin(context, function)) return false;
    if (!ct_session_fresh_results(function->program)) return false;
    if (!ct_session_function_take(context, function, &t->in)) return false;
    bool done = run_text(context, t);
    if (!done && ct_session_function_again(context, function)) done = run_text(context, t);
    return done;
}

cotan_error *cotan_apply_text(cotan_function *function, const cotan_buffer *in, cotan_form form, cotan_result *out) {
    *out = (cotan_result){0};
    Texts t = {.function = function, .in = in, .form = form, .out = out};
    cotan_error *error = with_texts(apply_text, &t);
    ct_session_function_end(function);
    return error;
}

static bool write_foreign(cotan_context *context, void *data) {
    Texts *t = data;
    cotan_function *function = t->function;
    CtWord value;
    if (!has_buffers(context, function)) return false;
    if (!ct_session_function_beside(context, function, &function->written)) return false;
    CtSession *session = function->session;
    const char *wrong = ct_value_flat_check(function->written, function->result, function->signature.out, t->in);
    if (wrong != NULL) return wrong_buffers(context, wrong);
    bool done = ct_value_flat_read(ct_eval_heap(session->eval), function->result, t->in, &value);
    if (done) {
        CtText text = ct_text(function->written);
        const CtType *type = ct_session_result(session);
        ct_io_json_write_foreign(&text, type, value); /* what has buffers holds no functions */
        ct_session_release(session, type, value);
        t->written = text.data;
    } else {
        ct_session_report_out_of_memory(context);
    }
    return done;
}

cotan_error *cotan_function_write_foreign(cotan_function *function, const cotan_buffer *out, const char **json) {
    Texts t = {.function = function, .in = out};
    cotan_error *error = with_texts(write_foreign, &t);
    *json = t.written;
    return error;
}

/* ---- values as texts of other programs ---- */

static bool read_foreign_value(cotan_context *context, void *data) {
    Texts *t = data;
    cotan_function *function = t->function;
    CtWord value;
    if (!ct_session_function_beside(context, function, &function->read)) return false;
    if (!ct_session_fresh_results(function->program)) return false;
    const CtType *type = function->session->point;
    bool done = type == NULL || read_value(context, t, &value);
    if (done && type != NULL) {
        t->value = ct_io_host_write(function->read, type, value);
        ct_session_release(function->session, type, value);
    }
    return done;
}

cotan_error *cotan_function_read_foreign_value(cotan_function *function, const char *json, size_t length,
                                               const cotan_value **at) {
    Texts t = {.function = function, .what = "the input", .at = json, .at_length = length, .foreign = true};
    cotan_error *error = with_texts(read_foreign_value, &t);
    *at = t.value;
    return error;
}

static bool write_foreign_value(cotan_context *context, void *data) {
    Texts *t = data;
    cotan_function *function = t->function;
    CtWord value;
    if (t->value == NULL) return ct_session_report_one(context, CT_E0601, NULL, "the result is missing");
    if (!ct_session_function_beside(context, function, &function->written)) return false;
    CtSession *session = function->session;
    CtContext *diags = CT_NEW(function->written, CtContext);
    ct_context_init(diags, function->written);
    bool done = ct_io_host_read(diags, ct_eval_heap(session->eval), "the result", t->value, session->value, &value);
    if (done) {
        CtText text = ct_text(function->written);
        ct_io_json_write_foreign(&text, session->value, value);
        ct_session_release(session, session->value, value);
        t->written = text.data;
    } else {
        ct_session_report(context, diags);
    }
    return done;
}

cotan_error *cotan_function_write_foreign_value(cotan_function *function, const cotan_value *value, const char **json) {
    Texts t = {.function = function, .value = value};
    cotan_error *error = with_texts(write_foreign_value, &t);
    *json = t.written;
    return error;
}

double cotan_function_seconds(const cotan_function *function) { return function->seconds; }
