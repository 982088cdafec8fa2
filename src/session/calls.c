/* Calls: an input is read, the function or its derivative runs, results are written. */
#include "session/session.h"

bool ct_session_check_call(cotan_context *context, const cotan_call *call, CtCallee callee) {
    if (call->function == NULL && (callee == CALLS_FUNCTION || call->expression == NULL))
        return ct_session_report_one(context, CT_E0701, NULL, "no function is given");
    if ((unsigned)call->mode > COTAN_HVP)
        return ct_session_report_one(context, CT_E0701, NULL, "there is no mode %d", (int)call->mode);
    if (call->wrt != NULL && (call->mode != COTAN_GRAD || call->function == NULL))
        return ct_session_report_one(context, CT_E0701, NULL, "only the gradient of a function is by some parameters");
    return true;
}

bool ct_session_names_native(const char *method) {
    return method != NULL && strcmp(method, ct_core_method_name(METHOD_NATIVE)) == 0;
}

bool ct_session_choose_method(cotan_context *context, const char *name, CtEntry *entry) {
    entry->method = entry->mode == COTAN_JVP ? METHOD_FORWARD : METHOD_TAPE;
    entry->reverse = METHOD_TAPE;
    if (!name && entry->trap != CT_TRAP_NONE) { /* its derivatives have the places of the operations that they are of */
        entry->reverse = METHOD_CHAD;
        if (entry->mode != COTAN_JVP) entry->method = METHOD_CHAD;
    }
    if (!name) return true;
    if (!ct_ad_method_find(name, &entry->method))
        return ct_session_report_one(context, CT_E0705, "`cotan methods` lists them", "there is no method `%s`", name);
    entry->reverse = entry->method;
    return true;
}

/* The methods of a call. Native code has its own; only the evaluator counts steps. */
static bool choose_for_call(cotan_context *context, const cotan_call *call, CtEntry *entry) {
    const char *name = call->method;
    if (name == NULL && call->native) name = ct_core_method_name(METHOD_NATIVE);
    if ((call->count || call->trap) && ct_session_names_native(name)) name = NULL;
    return ct_session_choose_method(context, name, entry);
}

/* Splits a value. False if it contains functions, which is reported. */
static bool take_apart(cotan_context *context, const CtCall *c, const CtType *type, CtWord value, CtApart *out) {
    if (!out) return true;
    CtArena *arena = c->program->results;
    out->shape = ct_text(arena);
    out->reals = (CtLeaves){.arena = arena, .apart = true};
    if (ct_io_json_write(&out->shape, type, value, &out->reals)) return true;
    return ct_session_report_one(context, CT_E0401, NULL, "the result of `%s` holds functions", c->call->function);
}

/* Reads the first input: the point of a derivative, or the arguments of a run. */
static bool read_point(cotan_context *context, CtSession *session, const CtCall *c, CtWord *point) {
    const cotan_call *call = c->call;
    const char *function = call->expression ? call->expression : call->function;
    bool run = session->entry.mode == COTAN_RUN && !c->at_point;
    const char *what = run ? "--args" : "--at";
    if (!call->at && session->point && session->arity == 0) { /* an action: entry'perform */
        *point = (CtWord){.integer = 0};
        return true;
    }
    if (!call->at && session->point) {
        const char *help =
            run ? "give its arguments as an array, such as --args '[1, 2]'" : "give the point, such as --at '[1, 2]'";
        return ct_session_report_one(context, CT_E0701, help, "`%s` takes %d argument%s, and none is given", function,
                                     session->arity, session->arity == 1 ? "" : "s");
    }
    if (c->at_point && !session->point)
        return ct_session_report_one(context, CT_E0405, NULL, "`%s` is not a function: it has no derivative", function);
    if (!call->at) return true;
    CtInput *given = ct_session_parse(context, 0, what, call->at, call->at_length);
    if (!given) return false;
    if (run && !ct_session_arguments(session, context, given, function)) return false;
    if (!session->point || session->arity == 0) return true;
    if (!ct_session_read(session, context, given, session->point, NULL, point)) return false;
    if (take_apart(context, c, session->point, *point, c->point)) return true;
    ct_session_release(session, session->point, *point);
    return false;
}

/* Reads point and tangent or cotangent as the argument of the entry point. */
static bool read_input(cotan_context *context, CtSession *session, const CtCall *c, CtWord *input) {
    const cotan_call *call = c->call;
    if (!read_point(context, session, c, input)) return false;
    if (!session->with) return true;
    const char *what = session->entry.mode == COTAN_VJP ? "--cotangent" : "--tangent";
    CtWord with;
    CtInput *given = NULL;
    if (call->with)
        given = ct_session_parse(context, 1, what, call->with, call->with_length);
    else
        ct_session_report_one(context, CT_E0701, NULL, "%s is missing", what);
    if (!given || !ct_session_read(session, context, given, session->with, c->with_reals, &with)) {
        ct_session_release(session, session->point, *input);
        return false;
    }
    return ct_session_pair(session, context, *input, with, input);
}

static const char *json_of(CtArena *arena, const CtType *type, CtWord value) {
    CtText out = ct_text(arena);
    return ct_io_json_write(&out, type, value, NULL) ? out.data : NULL;
}

/* The derivative as JSON: with respect to several chosen parameters, an object by their names. */
static const char *derivative_json(const CtSession *session, CtArena *arena, CtWord derivative) {
    const CtBuild *build = session->build;
    const CtType *type = session->derivative;
    if (build->chosen_count < 2) return json_of(arena, type, derivative);
    CtText out = ct_text(arena);
    for (uint32_t i = 0; i < build->chosen_count; i++) {
        ct_text_printf(&out, "%s\"%s\":", i == 0 ? "{" : ",", build->chosen[i]);
        if (!ct_io_json_write(&out, type->parts[i], ((const CtFields *)derivative.object)->words[i], NULL)) return NULL;
    }
    ct_text_puts(&out, "}");
    return out.data;
}

/* Shows a value by the Show instance of its type. */
static bool shown_by(cotan_context *context, CtSession *session, CtGlobal *show, const CtType *type, CtWord value,
                     CtText *out) {
    CtWord text;
    ct_value_retain(type, value);
    if (!ct_session_show(session, context, show, value, &text)) return false;
    ct_value_string_text(out, text, SIZE_MAX);
    ct_session_release(session, session->build->program->string_type, text);
    return true;
}

/* The value (0) or the derivative (1) as text, and its length; NULL when showing it fails. */
static const char *shown(cotan_context *context, CtSession *session, CtArena *arena, int which, CtWord value,
                         const cotan_call *call, size_t *length) {
    const CtType *type = which == 0 ? session->value : session->derivative;
    CtGlobal *show = call->constructed ? NULL : session->build->show[which];
    CtText out = ct_text(arena);
    ct_text_puts(&out, "");
    if (show) {
        if (!shown_by(context, session, show, type, value, &out)) return NULL;
    } else if (type == session->build->program->string_type && !call->quotes) {
        ct_value_string_text(&out, value, SIZE_MAX);
    } else {
        ct_value_show(&out, type, value);
    }
    *length = out.length;
    return out.data;
}

static bool write_results(cotan_context *context, CtSession *session, CtArena *arena, CtWord result, const CtCall *c) {
    const cotan_call *call = c->call;
    cotan_result *out = c->out;
    CtWord value = result, derivative = {.integer = 0};
    if (session->derivative) {
        const CtFields *pair = (const CtFields *)result.object;
        value = pair->words[0];
        derivative = pair->words[1];
    }
    if (!call->no_json) out->value = json_of(arena, session->value, value);
    if (!call->no_text) out->value_text = shown(context, session, arena, 0, value, call, &out->value_text_length);
    if (context->error || !take_apart(context, c, session->value, value, c->value)) return false;
    if (!session->derivative) return true;
    if (!call->no_json) out->derivative = derivative_json(session, arena, derivative);
    if (!call->no_text)
        out->derivative_text = shown(context, session, arena, 1, derivative, call, &out->derivative_text_length);
    return !context->error && take_apart(context, c, session->derivative, derivative, c->derivative);
}

/* Adds the derivative to an archive: with respect to several chosen parameters, by their names. */
static bool add_derivative(CtNpzWriter *writer, const CtSession *session, CtArena *arena, const char *name,
                           CtWord derivative) {
    const CtBuild *build = session->build;
    const CtType *type = session->derivative;
    if (build->chosen_count < 2) return ct_io_npz_add(writer, name, type, derivative);
    for (uint32_t i = 0; i < build->chosen_count; i++) {
        const char *member = ct_format(arena, "%s.%s", name, build->chosen[i]);
        CtWord part = ((const CtFields *)derivative.object)->words[i];
        if (!ct_io_npz_add(writer, member, type->parts[i], part)) return false;
    }
    return true;
}

/* The result as the bytes of a .npy or .npz file. */
static bool write_file(cotan_context *context, CtSession *session, CtArena *arena, CtWord result,
                       const cotan_call *call, cotan_result *out) {
    static const char *const names[] = {NULL, "gradient", "cotangent", "tangent", "jacobian", "hessian", "product"};
    CtContext *diags = &session->build->context;
    CtText bytes = ct_text(arena);
    if (call->form == COTAN_NPY) {
        if (session->derivative)
            return ct_session_report_one(context, CT_E0612, "write a .npz file",
                                         "a .npy file holds one array, not two");
        if (!ct_io_npy_has(session->value) || !ct_io_npy_write(&bytes, session->value, result))
            return ct_session_report_one(context, CT_E0612, "write JSON",
                                         "the value is not one array of numbers or truth values");
    } else {
        const CtFields *pair = (const CtFields *)result.object;
        CtNpzWriter *writer = context->archive = ct_io_npz_writer_new(diags, arena, "the result");
        bool two = session->derivative != NULL;
        bool done = writer &&
                    ct_io_npz_add(writer, two ? "value" : NULL, session->value, two ? pair->words[0] : result) &&
                    (!two || add_derivative(writer, session, arena, names[call->mode], pair->words[1])) &&
                    ct_io_npz_finish(writer, &bytes);
        if (!done) return ct_session_report(context, diags);
    }
    out->file = bytes.data;
    out->file_length = bytes.length;
    return true;
}

bool ct_session_write(cotan_context *context, CtSession *session, CtWord result, const CtCall *c) {
    CtArena *results = c->program->results;
    return write_results(context, session, results, result, c) &&
           (c->call->form == COTAN_NO_FILE || write_file(context, session, results, result, c->call, c->out));
}

static bool read_again(cotan_context *context, CtCall *c, CtSession *session, CtWord *point) {
    if (!session->point) return true;
    CtInput *given = ct_session_parse(context, 0, "--at", c->call->at, c->call->at_length);
    return given && ct_session_read(session, context, given, session->point, NULL, point);
}

/* The length of the method's trace, if it has one. */
static bool count_trace(cotan_context *context, CtCall *c, CtSession *session, CtMethod method) {
    CtGlobal *trace = ct_ad_trace(session->build->ad, method, session->build->entry);
    if (!trace) return true;
    CtWord point, entries;
    if (!read_again(context, c, session, &point)) return false;
    if (!ct_session_call(session, context, trace, point, &entries)) return false;
    c->out->trace = (uint64_t)entries.integer;
    c->out->has_trace = true;
    return true;
}

/* `bulk` makes its Delta term when a derivative is first taken; so one is taken if the call has taken none. */
static bool count_nodes(cotan_context *context, CtCall *c, const CtEntry *entry) {
    CtSession *session = ct_session_program_fresh_session(c->program, entry);
    CtWord point, both;
    if (!session || !read_again(context, c, session, &point)) return false;
    CtProgram *p = session->build->program;
    CtGlobal *function = session->build->entry,
             *derivative = ct_core_global_new(p, "derivative", NULL, function->range);
    CtBulkLook look = {.function = function};
    CtVar *x = ct_core_var_new(p, "x", function->type->parts[0]);
    CtCore *f = ct_core_global(p, function->range, function), *at = ct_core_var(p, function->range, x);
    CtCore *pair = ct_ad_vjp_by(session->build->ad, METHOD_BULK, function->range, f, at);
    derivative->body = ct_core_lam(p, function->range, NULL, &x, 1, pair);
    derivative->type = derivative->body->type;
    ct_bulk_look(session->build->ad, &look);
    bool done = ct_session_call(session, context, derivative, point, &both);
    ct_bulk_look(session->build->ad, NULL);
    if (done) ct_session_release(session, pair->type, both);
    if (done && look.at_run_time)
        done = count_trace(context, c, session, METHOD_BULK);
    else if (look.done) {
        c->out->trace = look.nodes;
        c->out->has_trace = true;
    }
    ct_session_program_forget(c->program, session);
    context->active = NULL;
    return done;
}

static CtTrap trap_of(const cotan_call *call) {
    return call->trap <= 0 ? CT_TRAP_NONE : call->trap == 1 ? CT_TRAP_NAN : CT_TRAP_INFINITE;
}

static CtEntry entry_of(const cotan_call *call) {
    bool given = call->at || call->point;
    return (CtEntry){.mode = call->mode,
                     .function = call->function,
                     .expression = call->expression,
                     .point = call->expression ? call->point : NULL,
                     .trap = trap_of(call),
                     .wrt = call->mode == COTAN_GRAD ? call->wrt : NULL,
                     .applied = given,
                     .prefer_double = given};
}

/* Runs with the steps counted from 0, within the call's limit. */
static bool run_limited(cotan_context *context, CtCall *c, CtSession *session, CtWord input, CtWord *result) {
    ct_eval_limit_steps(session->eval, c->steps ? c->steps : context->limits.steps);
    ct_eval_reset_stats(session->eval);
    if (c->question) ct_eval_ask(session->eval, *c->question);
    if (c->profile) ct_eval_profile(session->eval, c->profile);
    bool done = ct_session_run(session, context, input, result);
    if (c->profile) ct_eval_profile(session->eval, NULL);
    ct_eval_ask(session->eval, (CtQuestion){0});
    ct_eval_limit_steps(session->eval, context->limits.steps);
    return done;
}

/* The entry point of the function alone, of which a call takes a derivative. */
static CtEntry function_of(cotan_context *context, const CtCall *c) {
    CtEntry entry = entry_of(c->call);
    entry.mode = COTAN_RUN;
    entry.wrt = NULL;
    entry.applied = entry.prefer_double = true;
    entry.method = entry.reverse = METHOD_TAPE;
    CtEntry asked = {.mode = c->call->mode, .trap = entry.trap};
    choose_for_call(context, c->call, &asked);
    if (asked.reverse != METHOD_NATIVE) entry.reverse = asked.reverse;
    return entry;
}

/* Runs the function alone, so that a trap is reported where it is the function's own. */
static bool run_function(cotan_context *context, CtCall *c) {
    CtEntry entry = function_of(context, c);
    CtSession *session = ct_session_program_session(c->program, &entry);
    CtWord point = {.integer = 0}, result;
    if (!session || !read_again(context, c, session, &point) || !run_limited(context, c, session, point, &result))
        return false;
    ct_session_release(session, session->value, result);
    return true;
}

/* The steps of the function alone at the same point. */
bool ct_session_call_counts(cotan_context *context, CtCall *c) {
    CtEntry entry = function_of(context, c), asked = {.mode = c->call->mode, .trap = entry.trap};
    choose_for_call(context, c->call, &asked);
    CtSession *session = ct_session_program_session(c->program, &entry);
    CtWord point = {.integer = 0}, result;
    if (!session || !read_again(context, c, session, &point)) return false;
    if (!run_limited(context, c, session, point, &result)) return false;
    ct_session_release(session, session->value, result);
    c->out->primal_steps = ct_eval_stats(session->eval).steps;
    c->out->primal_span = ct_eval_stats(session->eval).span;
    if (c->call->point || c->call->wrt || asked.method == METHOD_NATIVE) return true;
    if (c->checkpoints) {
        entry.checkpoints = true;
        session = ct_session_program_session(c->program, &entry);
        if (session == NULL) return false;
    }
    return asked.method == METHOD_BULK ? count_nodes(context, c, &entry)
                                       : count_trace(context, c, session, asked.method);
}

static bool call_in(cotan_context *context, CtCall *c, CtSession *session);

/* Who names the method `native` gets native code at once. */
static bool begins_on_evaluator(const cotan_context *context, const CtCall *c) {
    const cotan_call *call = c->call;
    return call->native && !ct_session_names_native(call->method) && call->native_after > 0 && !call->count &&
           !call->trap && context->limits.steps == 0;
}

/* Runs on the evaluator, with tier-up to native code. */
static bool call_evaluator(cotan_context *context, CtCall *c, CtTierUp *tier_up) {
    cotan_call eval = *c->call;
    CtQuestion question = ct_session_tier_up(tier_up);
    eval.native = false;
    CtCall first = *c;
    first.call = &eval;
    first.question = &question;
    bool done = call_in(context, &first, NULL);
    c->session = first.session;
    return done;
}

static bool has_error(const cotan_context *context, CtErrorCode code) {
    return context->error != NULL && strcmp(context->error->items[0].code, ct_error_name(code)) == 0;
}

static bool run_call(cotan_context *context, CtCall *c) {
    CtTierUp tier_up = {.context = context, .call = c, .entry = entry_of(c->call), .after = c->call->native_after};
    if (begins_on_evaluator(context, c)) {
        if (!choose_for_call(context, c->call, &tier_up.entry)) return false;
        if (call_evaluator(context, c, &tier_up)) return true;
        if (!tier_up.native || !has_error(context, CT_E0802)) return false;
        ct_session_report_clear(context);
    }
    return call_in(context, c, tier_up.native);
}

bool ct_session_wants_checkpoints(const cotan_context *context, const CtSession *session) {
    return has_error(context, CT_E0801) && session != NULL && !session->entry.checkpoints && session->build->loops > 0;
}

bool ct_session_run_call(cotan_context *context, CtCall *c) {
    if (run_call(context, c)) return true;
    if (!ct_session_wants_checkpoints(context, c->session)) return false;
    ct_session_report_clear(context);
    c->checkpoints = c->out->checkpoints = true;
    return call_in(context, c, NULL);
}

static CtSession *session_of(cotan_context *context, const CtCall *c) {
    CtEntry entry = entry_of(c->call);
    entry.checkpoints = c->checkpoints;
    return choose_for_call(context, c->call, &entry) ? ct_session_program_session(c->program, &entry) : NULL;
}

/* The session for points of the shape of the input (taken), which is read again there. NULL after an error. */
static CtSession *for_shape(cotan_context *context, CtCall *c, CtSession *session, CtWord *input) {
    CtWord point = session->with ? ((const CtFields *)input->object)->words[0] : *input;
    CtSession *shaped = ct_session_program_shaped(c->program, session, point);
    ct_session_release(session, session->build->entry->type->parts[0], *input);
    return shaped && read_input(context, shaped, c, input) ? shaped : NULL;
}

/* Runs in this session; NULL: in that of the call. */
static bool call_in(cotan_context *context, CtCall *c, CtSession *session) {
    const cotan_call *call = c->call;
    CtArena *results = c->program->results;
    session = session ? ct_session_activate(c->program, session) : session_of(context, c);
    ct_session_world_again(context);
    CtWord input = {.integer = 0}, result;
    if (!session || !read_input(context, session, c, &input)) return false;
    c->session = session;
    bool wanted = (call->native || session->entry.reverse == METHOD_NATIVE) && !call->count && !call->trap &&
                  !c->steps && !c->question;
    if (wanted && ct_session_needs_shape(session)) {
        session = for_shape(context, c, session, &input);
        if (!session) return false;
    }
    bool native = wanted && ct_session_native(session, context);
    bool may_fall_back = native || !wanted || call->native_after > 0 ||
                         ct_session_may_fall_back(context, "native code", session->not_native);
    if (!may_fall_back) {
        if (session->point) ct_session_release(session, session->build->entry->type->parts[0], input);
        return false;
    }
    if (wanted && !native) c->out->not_native = ct_copy_text(results, session->not_native, strlen(session->not_native));
    if (native && session->not_flow)
        c->out->by_tape = ct_copy_text(results, session->not_flow, strlen(session->not_flow));
    if (native) ct_eval_reset_stats(session->eval);
    bool done = native ? ct_session_run_native(session, context, input, &result)
                       : run_limited(context, c, session, input, &result);
    CtEvalStats stats = ct_eval_stats(session->eval);
    c->out->steps = stats.steps;
    c->out->span = stats.span;
    c->out->peak_memory = stats.peak_memory;
    c->out->performed = session->build->performs;
    if (native && context->checks >= CHECK_RUNS && context->checks < CHECK_EMISSION)
        ct_session_check_evaluator(context, c, session, done ? &result : NULL);
    ct_session_activate(c->program, session);
    if (!done) return false;
    bool written = ct_session_write(context, session, result, c);
    bool bound = written && (!call->bind || ct_session_program_bind(c, session, result));
    ct_session_release(session, ct_session_result(session), result);
    return bound;
}

static bool call_json(cotan_context *context, void *data) {
    CtCall *c = data;
    context->measures = c->call->count;
    if (!ct_session_check_call(context, c->call, CALLS_ANY)) return false;
    CtArena *results = ct_session_fresh_results(c->program);
    if (!results || (c->call->bind && !ct_session_may_bind(context, results, c->call->bind))) return false;
    bool traps = c->call->trap && c->call->mode != COTAN_RUN && c->call->at && !c->call->point;
    if (traps && !run_function(context, c)) return false;
    if (!ct_session_run_call(context, c)) return false;
    if (!c->call->count) return true;
    if (c->call->mode != COTAN_RUN) return ct_session_call_counts(context, c);
    c->out->primal_steps = c->out->steps;
    c->out->primal_span = c->out->span;
    return true;
}

cotan_error *cotan_call_json(cotan_program *program, const cotan_call *call, cotan_result *out) {
    *out = (cotan_result){0};
    CtCall c = {.program = program, .call = call, .out = out};
    ct_session_guarded(program->context, call_json, &c);
    if (call->expression) ct_session_program_forget_expressions(program);
    return program->context->error;
}
