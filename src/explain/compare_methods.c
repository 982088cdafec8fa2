/* Comparison of the derivatives of a function by several methods: `cotan compare FILE FUNCTION --at …`.
 *
 * The function runs alone first. Its value is compared with every method's value; its result determines which cotangent
 * is used; its steps determine when a method is stopped. The derivatives are compared with the reference method's,
 * number by number. Methods that agree on one derivative are then compared on the Jacobian or, if the result is a
 * Double, on the Hessian, since a single product does not reveal permuted rows. */
#include <math.h>

#include "explain/explain.h"

/* Methods add the same products in different orders; these are the relative tolerances, for Doubles and Floats. */
static const double tolerance = 1e-9, single_tolerance = 1e-4;
/* A number far smaller than the largest one beside it may be rounding of a sum of larger ones: differences are relative
 * to this fraction of the largest at least. */
static const double least_size = 1e-3;
/* A second derivative that vanishes is computed from first ones that cancel: differences are also relative to this
 * fraction of the largest first derivative over the largest number of the point, at least. */
static const double least_second = 1e-5;

typedef struct Compare {
    cotan_program *program;
    cotan_context *context;
    CtArena *arena;
    const CtMethod *methods;
    cotan_call call; /* for each method, whose name is filled in */
    cotan_compare_result *out;
    cotan_compare_row *rows;
    CtApart point, value;          /* of the function alone */
    CtApart *values, *derivatives; /* of the rows */
    bool scalar;                   /* the result is a Double */
    bool single;                   /* something is computed in Floats */
    uint32_t parts;                /* number of further derivatives compared for each row */
    CtApart *further;
    CtSession *sessions; /* the newest session that existed before */
} Compare;

/* ---- errors, which are part of the answer ---- */

/* Whether an error concerns all methods: wrong inputs, internal errors, an interrupt, lack of memory. */
static bool ends_all(const cotan_context *context) {
    const cotan_error *error = context->error;
    return error->status != 1 || error == &context->out_of_memory ||
           strcmp(error->items[0].code, ct_error_name(CT_E0804)) == 0;
}

static bool is_run_time_error(const cotan_context *context) {
    return strncmp(context->error->items[0].code, "E05", 3) == 0;
}

static const char *copy(Compare *c, const char *text) {
    return text != NULL ? ct_copy_text(c->arena, text, strlen(text)) : NULL;
}

/* Moves the error of the last call into a row. */
static void keep_error(Compare *c, cotan_compare_row *row) {
    const CtErrorItem *item = &c->context->error->items[0];
    row->error_code = item->code;
    row->error_message = copy(c, item->message);
    row->error_file = copy(c, item->file);
    row->error_line = item->line;
    row->error_column = item->column;
    ct_session_report_clear(c->context);
}

/* The limit that a row's error is about; E0000: none. */
static CtErrorCode limit_of(const cotan_compare_row *row) {
    static const CtErrorCode limits[] = {CT_E0801, CT_E0802, CT_E0803};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (row->error_code != NULL && strcmp(row->error_code, ct_error_name(limits[i])) == 0) return limits[i];
    return CT_E0000;
}

/* Why the method `native` was not what ran, in place of which other methods do, and the evaluator; NULL: it was. */
static const char *not_native(const cotan_result *result) {
    return result->not_native != NULL ? result->not_native : result->by_tape;
}

static bool is_stopped(const cotan_compare_row *row) {
    return limit_of(row) != CT_E0000 || not_native(&row->result) != NULL;
}

static bool same_text(const char *a, const char *b) { return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0); }

static bool same_error(const cotan_compare_row *a, const cotan_compare_row *b) {
    return same_text(a->error_code, b->error_code) && same_text(a->error_message, b->error_message) &&
           same_text(a->error_file, b->error_file) && a->error_line == b->error_line &&
           a->error_column == b->error_column;
}

/* Frees the sessions: there are many, and one that has run before has evaluated its constants and counts fewer
 * steps. */
static void forget_sessions(Compare *c) {
    while (c->program->sessions != c->sessions) ct_session_program_forget(c->program, c->program->sessions);
    c->context->active = NULL;
}

/* ---- the function alone ---- */

/* Whether a program computes in Floats, which may be between Doubles. */
static bool computes_in_floats(CtArena *arena, const CtProgram *p) {
    CtCoreList terms = {0};
    for (uint32_t i = 0; i < p->globals.count; i++)
        if (p->globals.items[i]->body != NULL) ct_push(arena, &terms, p->globals.items[i]->body);
    while (terms.count > 0) {
        CtCore *term = terms.items[--terms.count];
        if (term->type->kind == TYPE_FLOAT) return true;
        ct_core_children(arena, term, &terms);
    }
    return false;
}

/* Runs the function; its result decides what is asked of the methods. False on an error. */
static bool run_function(Compare *c) {
    cotan_call call = c->call;
    call.mode = COTAN_RUN;
    call.with = NULL;
    CtCall one = {.program = c->program, .call = &call, .out = &c->out->function.result, .at_point = true};
    one.point = &c->point;
    one.value = &c->value;
    bool done = ct_session_run_call(c->context, &one);
    if (one.session == NULL) return false;
    c->scalar = one.session->value->kind == TYPE_DOUBLE;
    c->single = computes_in_floats(c->arena, one.session->build->program);
    bool gradient = c->scalar && c->call.with == NULL;
    c->out->mode = c->call.mode = gradient ? COTAN_GRAD : COTAN_VJP;
    c->out->function.result.primal_steps = c->out->function.result.steps;
    forget_sessions(c);
    return done;
}

/* ---- the methods ---- */

/* The limit for a method that may take exponential time, far above the others. 0: the context's. */
static uint64_t step_limit(const Compare *c, CtMethod method) {
    if (c->context->limits.steps != 0 || ct_ad_method_info(method)->cost != COST_EXPONENTIAL) return 0;
    uint64_t size = c->out->function.result.steps + c->point.reals.reals.count + c->value.reals.reals.count;
    return 100000 + 1000 * size;
}

/* Keeps, as a row's error, that what ran is not the method `native`: it says nothing of that one. */
static void keep_not_native(Compare *c, cotan_compare_row *row) {
    const char *why = not_native(&row->result);
    row->result = (cotan_result){.not_native = row->result.not_native, .by_tape = row->result.by_tape};
    row->error_code = ct_error_name(CT_E0707);
    row->error_message = ct_format(c->arena, "there is no code by the method `native`: %s", why);
    if (c->context->error != NULL) ct_session_report_clear(c->context);
}

/* Runs one method's derivative and records its cost. False on an error of the derivative, or one that concerns all. */
static bool run_method(Compare *c, size_t i) {
    cotan_call call = c->call;
    call.method = ct_core_method_name(c->methods[i]);
    call.native = c->methods[i] == METHOD_NATIVE;
    if (call.mode == COTAN_VJP && call.with == NULL) call.with = c->value.shape.data;
    c->rows[i].method = call.method;
    CtCall one = {.program = c->program, .call = &call, .out = &c->rows[i].result};
    one.steps = step_limit(c, c->methods[i]);
    one.value = &c->values[i];
    one.derivative = &c->derivatives[i];
    bool done = ct_session_run_call(c->context, &one), replaced = not_native(one.out) != NULL;
    bool counted = done && !replaced && ct_session_call_counts(c->context, &one);
    forget_sessions(c);
    if (replaced && (done || !ends_all(c->context))) {
        keep_not_native(c, &c->rows[i]);
        return true;
    }
    if (!done || counted) return done;
    if (ends_all(c->context)) return false;
    ct_session_report_clear(c->context); /* counts are missing if determining them was stopped */
    return true;
}

/* ---- holding them against each other ---- */

static bool has_structure(const CtApart *a, const CtApart *b) {
    return a->reals.reals.count == b->reals.reals.count && same_text(a->shape.data, b->shape.data);
}

/* The largest of the numbers that are finite. */
static double size_of(const CtApart *parts) {
    double size = 0;
    for (uint32_t i = 0; i < parts->reals.reals.count; i++)
        if (isfinite(parts->reals.reals.items[i])) size = fmax(size, fabs(parts->reals.reals.items[i]));
    return size;
}

/* The largest relative difference, and its position. Of numbers below `least`, it is relative to that. */
static double difference_at(const CtApart *a, const CtApart *b, double least, uint32_t *where) {
    const CtLeaves *x = &a->reals, *y = &b->reals;
    *where = 0;
    if (!has_structure(a, b)) return INFINITY;
    double worst = 0;
    least = fmax(least, least_size * size_of(b));
    for (uint32_t i = 0; i < x->reals.count; i++) {
        double difference = ct_explain_relative_difference(x->reals.items[i], y->reals.items[i], least);
        if (difference > worst) *where = i;
        worst = fmax(worst, difference);
    }
    return worst;
}

static double difference_of(const CtApart *a, const CtApart *b) {
    uint32_t where;
    return difference_at(a, b, 0, &where);
}

static bool is_close(const Compare *c, double difference) {
    return difference <= (c->single ? single_tolerance : tolerance);
}

static size_t choose_reference(const Compare *c) {
    size_t count = c->out->count, first = count;
    for (size_t i = 0; i < count; i++) {
        if (c->rows[i].error_code != NULL) continue;
        if (c->methods[i] == METHOD_TAPE) return i;
        if (first == count) first = i;
    }
    return first;
}

static cotan_outcome outcome_of(Compare *c, size_t i) {
    cotan_compare_row *row = &c->rows[i];
    const cotan_compare_row *function = &c->out->function;
    if (is_stopped(row)) return COTAN_STOPPED;
    if (row->error_code != NULL || function->error_code != NULL) {
        if (row->error_code == NULL) return COTAN_DIFFERS;
        return same_error(row, function) ? COTAN_AGREES : COTAN_FAILS;
    }
    row->value_difference = difference_of(&c->values[i], &c->value);
    row->difference = difference_of(&c->derivatives[i], &c->derivatives[c->out->reference]);
    bool close = is_close(c, row->value_difference) && is_close(c, row->difference);
    return close ? COTAN_AGREES : COTAN_DIFFERS;
}

/* ---- further: all of the Jacobian, or second derivatives ---- */

/* number of products with vectors on each side, for a matrix that is too large to be compared */
enum { VECTORS = 3 };

/* A method is stopped when it takes so many times the reference's steps plus a constant. */
static const uint64_t most_times = 20, most_besides = 1000000;

/* At a point where the gradient has an infinity or a NaN, the function has no derivative, and methods may differ. */
static bool is_differentiable(const Compare *c) {
    const CtLeaves *gradient = &c->derivatives[c->out->reference].reals;
    for (uint32_t i = 0; c->scalar && i < gradient->reals.count; i++)
        if (!isfinite(gradient->reals.items[i])) return false;
    return true;
}

/* Chooses the further comparison. False when there is none, or nothing to compare with. */
static bool choose_further(Compare *c) {
    cotan_compare_result *out = c->out;
    size_t agreeing = 0;
    for (size_t i = 0; i < out->count; i++)
        agreeing += c->rows[i].outcome == COTAN_AGREES && c->rows[i].error_code == NULL;
    if (agreeing < 2 || !is_differentiable(c)) return false;
    size_t columns = c->point.reals.reals.count, rows = c->scalar ? columns : c->value.reals.reals.count;
    if (rows == 0 || columns == 0) return false;
    uint64_t steps = c->rows[out->reference].result.steps;
    if (steps == 0) steps = 50 * out->function.result.steps; /* native code counts no steps */
    bool whole = ct_explain_is_compared_in_full(rows, columns, steps);
    out->further = c->scalar ? (whole ? COTAN_HESSIAN : COTAN_HVP) : whole ? COTAN_JACOBIAN : COTAN_VJP;
    out->further_rows = whole ? rows : VECTORS;
    out->further_columns = columns;
    c->parts = whole ? 1 : c->scalar ? VECTORS : 2 * VECTORS;
    c->further = CT_NEW_ARRAY(c->arena, CtApart, out->count * c->parts);
    return true;
}

/* Runs all further derivatives of a method. `steps` is a limit (0: none) and becomes the number of steps; `replaced`:
 * it was not the method `native` that ran. False on an error. */
static bool run_further(Compare *c, size_t i, uint64_t *steps, bool *replaced) {
    cotan_call call = c->call;
    cotan_result result = {0};
    CtCall one = {.program = c->program, .call = &call, .out = &result, .steps = *steps};
    call.method = ct_core_method_name(c->methods[i]);
    call.native = c->methods[i] == METHOD_NATIVE;
    call.no_json = call.no_text = true;
    bool done = true;
    *steps = 0;
    for (uint32_t k = 0; done && k < c->parts; k++) {
        call.mode = k < VECTORS ? c->out->further : COTAN_JVP;
        bool of_result = call.mode == COTAN_VJP;
        call.with = of_result ? c->value.shape.data : c->call.at;
        call.with_length = of_result ? 0 : c->call.at_length;
        CtLeaves vector =
            ct_explain_weights(c->arena, of_result ? c->value.reals.reals.count : c->point.reals.reals.count, (int)k);
        one.with_reals = &vector;
        one.derivative = &c->further[i * c->parts + k];
        done = ct_session_run_call(c->context, &one);
        *steps += result.steps;
    }
    *replaced = not_native(&result) != NULL;
    forget_sessions(c);
    return done;
}

/* The limit relative to the reference's steps if these are known; otherwise as for the first derivative. */
static uint64_t further_limit(const Compare *c, size_t i, uint64_t reference) {
    if (c->context->limits.steps != 0 || c->methods[i] == METHOD_NATIVE) return 0;
    if (reference != 0) return most_besides + most_times * reference;
    return step_limit(c, c->methods[i]) * c->out->further_rows;
}

/* Runs a row's further derivatives and records errors only. False on an error that concerns all. */
static bool ask_further(Compare *c, size_t i, uint64_t *steps, cotan_compare_row *error) {
    cotan_compare_row *row = &c->rows[i];
    bool replaced, done = run_further(c, i, steps, &replaced);
    row->further = replaced ? COTAN_STOPPED : COTAN_AGREES;
    if (done) return true;
    if (ends_all(c->context)) return false;
    keep_error(c, error);
    row->further = replaced || limit_of(error) != CT_E0000 ? COTAN_STOPPED : COTAN_FAILS;
    return true;
}

static void hold_further(Compare *c, size_t i) {
    cotan_compare_row *row = &c->rows[i];
    bool matrix = c->out->further == COTAN_JACOBIAN || c->out->further == COTAN_HESSIAN;
    double point = size_of(&c->point), first = size_of(&c->derivatives[c->out->reference]);
    double least = c->scalar && point > 0 ? least_second * first / point : 0;
    for (uint32_t k = 0; k < c->parts; k++) {
        const CtApart *found = &c->further[i * c->parts + k];
        const CtApart *wanted = &c->further[c->out->further_reference * c->parts + k];
        uint32_t where;
        double difference = difference_at(found, wanted, least, &where);
        if (!is_close(c, difference)) row->outcome = row->further = COTAN_DIFFERS;
        if (difference <= row->further_difference) continue;
        row->further_difference = difference;
        row->further_row = matrix ? where / c->out->further_columns : k;
        row->further_column = matrix ? where % c->out->further_columns : where;
        bool alike = isfinite(difference) || has_structure(found, wanted);
        row->further_found = alike ? found->reals.reals.items[where] : NAN;
        row->further_expected = alike ? wanted->reals.reals.items[where] : NAN;
    }
}

/* A method that fails here disagrees, unless no method has a result and all fail for the same reason. */
static void fail_further(Compare *c, size_t i, const cotan_compare_row *error, const cotan_compare_row *first) {
    cotan_compare_row *row = &c->rows[i];
    if (c->out->further_reference == c->out->count && same_error(error, first)) return;
    row->outcome = COTAN_FAILS;
    row->error_code = error->error_code;
    row->error_message = error->error_message;
    row->error_file = error->error_file;
    row->error_line = error->error_line;
    row->error_column = error->error_column;
    row->error_is_further = true;
}

/* False on an error that concerns all. The reference comes first, because its steps limit the others. */
static bool compare_further(Compare *c) {
    cotan_compare_result *out = c->out;
    if (!choose_further(c)) return true;
    size_t count = out->count, first_error = count;
    cotan_compare_row *errors = CT_NEW_ARRAY(c->arena, cotan_compare_row, count);
    uint64_t reference = 0;
    out->further_reference = count;
    for (size_t k = 0; k <= count; k++) {
        size_t i = k == 0 ? out->reference : k - 1;
        if ((k > 0 && i == out->reference) || c->rows[i].outcome != COTAN_AGREES) continue;
        uint64_t steps = further_limit(c, i, reference);
        if (!ask_further(c, i, &steps, &errors[i])) return false;
        if (c->rows[i].further == COTAN_FAILS && first_error == count) first_error = i;
        if (c->rows[i].further != COTAN_AGREES || out->further_reference < count) continue;
        out->further_reference = i;
        reference = steps;
    }
    for (size_t i = 0; i < count; i++) {
        cotan_compare_row *row = &c->rows[i];
        if (row->outcome != COTAN_AGREES) continue;
        if (row->further == COTAN_AGREES) hold_further(c, i);
        if (row->further == COTAN_FAILS) fail_further(c, i, &errors[i], &errors[first_error]);
    }
    if (out->further_reference == count) out->further = COTAN_RUN;
    return true;
}

/* Whether all methods fail for the same reason. */
static bool all_fail_alike(const Compare *c) {
    for (size_t i = 0; i < c->out->count; i++)
        if (c->rows[i].outcome != COTAN_FAILS || !same_error(&c->rows[i], &c->rows[0])) return false;
    return c->out->function.error_code == NULL;
}

/* The error where nothing has a result: of the first that was stopped at a limit, or else that the only method, which
 * is `native`, is not there. */
static bool report_stopped(Compare *c) {
    const cotan_compare_row *row = c->rows;
    size_t count = c->out->count;
    while (row < c->rows + count - 1 && limit_of(row) == CT_E0000) row++;
    if (limit_of(row) == CT_E0000) return ct_session_report_one(c->context, CT_E0707, NULL, "%s", row->error_message);
    return ct_session_report_one(c->context, limit_of(row), "--max-steps, --max-memory and --max-depth set the limits",
                                 "%s was stopped: %s", count == 1 ? row->method : "every method", row->error_message);
}

/* An error that all methods have in common is reported like the error of a single run, by repeating it. */
static bool conclude(Compare *c) {
    cotan_compare_result *out = c->out;
    size_t results = 0;
    out->agrees = true;
    out->reference = choose_reference(c);
    for (size_t i = 0; i < out->count; i++) {
        c->rows[i].outcome = outcome_of(c, i);
        results += c->rows[i].error_code == NULL;
    }
    if (!compare_further(c)) return false;
    for (size_t i = 0; i < out->count; i++)
        if (c->rows[i].outcome == COTAN_DIFFERS || c->rows[i].outcome == COTAN_FAILS) out->agrees = false;
    if (out->function.error_code != NULL && out->agrees) return run_function(c);
    if (all_fail_alike(c)) return run_method(c, 0);
    if (results > 0 || !out->agrees) return true;
    return report_stopped(c);
}

static bool compare_all(Compare *c) {
    cotan_compare_row *function = &c->out->function;
    if (!run_function(c)) {
        bool nothing_to_ask = c->call.mode == COTAN_VJP && c->call.with == NULL;
        if (nothing_to_ask || !is_run_time_error(c->context)) return false;
        keep_error(c, function);
        function->outcome = COTAN_FAILS;
    }
    for (size_t i = 0; i < c->out->count; i++) {
        if (run_method(c, i)) continue;
        if (ends_all(c->context)) return false;
        keep_error(c, &c->rows[i]);
    }
    return conclude(c);
}

bool ct_explain_compare(cotan_program *program, CtArena *arena, const cotan_call *call, const CtMethod *methods,
                        size_t count, cotan_compare_result *out) {
    Compare c = {.program = program, .context = program->context, .arena = arena, .methods = methods, .out = out};
    c.call = (cotan_call){.function = call->function, .at = call->at, .at_length = call->at_length};
    c.call.with = call->with;
    c.call.with_length = call->with_length;
    c.call.no_json = call->no_json;
    c.call.no_text = call->no_text;
    c.values = CT_NEW_ARRAY(arena, CtApart, count);
    c.derivatives = CT_NEW_ARRAY(arena, CtApart, count);
    out->rows = c.rows = CT_NEW_ARRAY(arena, cotan_compare_row, count);
    out->count = count;
    c.sessions = program->sessions;
    return compare_all(&c);
}
