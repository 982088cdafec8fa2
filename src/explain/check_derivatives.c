/* Comparison of derivatives with finite differences: `cotan check FILE FUNCTION --at …`.
 *
 * Along some fixed directions dx the tangent J·dx must equal the slope of the function, computed by central differences
 * with one level of Richardson extrapolation. For some cotangents dy, ⟨J·dx, dy⟩ = ⟨dx, Jᵀ·dy⟩ must hold. If the result
 * has several reals, the product of each row of the Jacobian with dx must equal the corresponding real of J·dx. The
 * value that a custom derivative gives must be the function's. */
#include <math.h>
#include <stdlib.h>

#include "explain/explain.h"

enum { DIRECTIONS = 3 };
/* Relative tolerances of slopes and products, and of a rounded value: for Doubles, for Floats. */
typedef struct Tolerance {
    double slope, product, rounding;
} Tolerance;
static const Tolerance of_doubles = {1e-6, 1e-9, 1e-15}, of_floats = {1e-2, 1e-4, 1e-7};

typedef struct Check {
    cotan_program *program;
    const char *function, *at;
    size_t at_length;
    cotan_check_result *out;
    CtArena *arena;
    CtMethod jvp, vjp; /* the methods that are checked */
    Tolerance tolerance;
    uint64_t steps; /* of the last run; 0 for native code */
    bool hidden;    /* products were NaN on both sides, whatever else is in them */
    CT_VEC(cotan_check_row) rows;
} Check;

static CtLeaves leaves_of(CtArena *arena) { return (CtLeaves){.arena = arena}; }

/* Runs one call with the reals of its inputs replaced (NULL: as given). The reals of the result go to `value` and
 * `derivative`, the text of the value to `text`. */
typedef struct Ask {
    cotan_mode mode;
    CtMethod method;
    const char *with; /* an input in the shape of the second one */
    size_t with_length;
    const CtLeaves *at_reals, *with_reals;
    const CtSourceRange *rule; /* the only custom derivative to be used; NULL: all are */
} Ask;

static bool ask(Check *c, const Ask *a, CtLeaves *value, CtLeaves *derivative, CtText *text) {
    cotan_context *context = c->program->context;
    CtEntry entry = {
        .mode = a->mode, .function = c->function, .method = a->method, .reverse = c->vjp, .prefer_double = true};
    entry.one_rule = a->rule != NULL;
    if (a->rule != NULL) entry.rule = *a->rule;
    CtSession *session = ct_session_program_session(c->program, &entry);
    if (session == NULL) return false;
    if (c->vjp == METHOD_NATIVE && session->entry.reverse != METHOD_NATIVE) /* another method stands in for it */
        return ct_session_report_one(context, CT_E0707, "without `native`, the evaluator's derivatives are checked",
                                     "there is no code by the method `native`: %s", session->not_flow);
    if (session->point == NULL)
        return ct_session_report_one(context, CT_E0405, NULL, "`%s` is not a function: it has no derivative",
                                     c->function);
    CtWord input, with, result;
    CtInput *given = ct_session_parse(context, 0, "--at", c->at, c->at_length);
    if (given == NULL || !ct_session_read(session, context, given, session->point, a->at_reals, &input)) return false;
    if (session->with != NULL) {
        given = ct_session_parse(context, 1, "the direction", a->with, a->with_length);
        if (given == NULL || !ct_session_read(session, context, given, session->with, a->with_reals, &with)) {
            ct_session_release(session, session->point, input);
            return false;
        }
        if (!ct_session_pair(session, context, input, with, &input)) return false;
    }
    ct_eval_reset_stats(session->eval);
    if (!ct_session_run(session, context, input, &result)) {
        c->out->derivative_fails = a->mode != COTAN_RUN;
        return false;
    }
    c->steps = ct_eval_stats(session->eval).steps;
    CtWord value_word = result, derivative_word = result;
    if (session->derivative != NULL) {
        value_word = ((const CtFields *)result.object)->words[0];
        derivative_word = ((const CtFields *)result.object)->words[1];
    }
    CtText ignored = ct_text(c->arena);
    bool written = ct_io_json_write(text != NULL ? text : &ignored, session->value, value_word, value);
    if (session->derivative != NULL)
        written = written && ct_io_json_write(&ignored, session->derivative, derivative_word, derivative);
    ct_session_release(session, ct_session_result(session), result);
    return written || ct_session_report_one(context, CT_E0401, NULL, "the result of `%s` holds functions", c->function);
}

double ct_explain_relative_difference(double a, double b, double floor) {
    if (a == b || (isnan(a) && isnan(b))) return 0;
    double difference = fabs(a - b) / fmax(floor, fmax(fabs(a), fabs(b)));
    return isnan(difference) ? INFINITY : difference;
}

static void add_row(Check *c, const char *what, double derivative, double expected, double difference,
                    double tolerance) {
    cotan_check_row row = {what, derivative, expected, difference, difference <= tolerance};
    ct_push(c->arena, &c->rows, row);
    if (!row.agrees) c->out->agrees = false;
}

CtLeaves ct_explain_weights(CtArena *arena, uint32_t count, int which) {
    CtLeaves d = leaves_of(arena);
    for (uint32_t i = 0; i < count; i++) ct_push(arena, &d.reals, cos(1.0 + 0.7 * which + 1.3 * i * (which + 1)));
    return d;
}

bool ct_explain_is_compared_in_full(size_t rows, size_t columns, uint64_t steps) {
    static const size_t most_numbers = 100000, most_steps = 2000000;
    return rows == 0 || columns == 0 || (rows <= most_numbers / columns && steps <= most_steps / rows);
}

/* A direction proportional to the point, so that points with reals of mixed magnitudes can be checked. */
static CtLeaves direction(Check *c, const CtLeaves *x, int which) {
    CtLeaves d = ct_explain_weights(c->arena, x->reals.count, which);
    for (uint32_t i = 0; i < d.reals.count; i++) {
        double size = fabs(x->reals.items[i]);
        if (size > 0 && isfinite(size)) d.reals.items[i] *= size;
    }
    return d;
}

/* The reals of the function's value at x + h·dx. */
static bool move(Check *c, const CtLeaves *x, const CtLeaves *dx, double h, CtLeaves *value) {
    CtLeaves moved = leaves_of(c->arena);
    for (uint32_t i = 0; i < x->reals.count; i++)
        ct_push(c->arena, &moved.reals, x->reals.items[i] + h * dx->reals.items[i]);
    Ask a = {.mode = COTAN_RUN, .method = c->jvp, .at_reals = &moved};
    *value = leaves_of(c->arena);
    return ask(c, &a, value, NULL, NULL);
}

/* (f(x + h·dx) − f(x − h·dx)) / 2h, for each leaf of the result. */
static bool slope(Check *c, const CtLeaves *x, const CtLeaves *dx, double h, double *out, uint32_t count) {
    CtLeaves above, below;
    if (!move(c, x, dx, h, &above) || !move(c, x, dx, -h, &below)) return false;
    bool same = above.reals.count == count && below.reals.count == count;
    for (uint32_t i = 0; i < count; i++) out[i] = same ? (above.reals.items[i] - below.reals.items[i]) / (2 * h) : NAN;
    return true;
}

/* For each leaf of the result, the finite difference nearest to the tangent, over several step sizes: the best step
 * depends on the function's curvature, and a wrong tangent is not met by chance. */
typedef struct Slopes {
    double *best, *difference; /* for each leaf */
    uint32_t worst;            /* the leaf with the largest difference */
    bool *sure;                /* for each leaf: some step agrees, whatever rounding may do */
    double *refuted, *against; /* the largest difference that a step shows beyond doubt, or 0, and its estimate */
} Slopes;

static Slopes slopes_of(CtArena *arena, uint32_t count) {
    Slopes s = {0};
    s.best = CT_NEW_ARRAY(arena, double, count);
    s.difference = CT_NEW_ARRAY(arena, double, count);
    s.sure = CT_NEW_ARRAY(arena, bool, count);
    s.refuted = CT_NEW_ARRAY(arena, double, count);
    s.against = CT_NEW_ARRAY(arena, double, count);
    for (uint32_t i = 0; i < count; i++) s.difference[i] = INFINITY;
    return s;
}

/* A step for one leaf: the slopes of it and of half of it, and what rounding makes of them; whether it is wide. */
typedef struct Step {
    double coarse, fine, noise;
    bool is_wide, is_last_wide;
} Step;

/* Holds the tangent against a step. Where the slopes of a wide step are near each other, and the tangent is far from
 * them, that is more than curvature and rounding explain: then the floor of smaller steps, below which rounding hides
 * everything where the value is large, does not count. */
static void hold_against(Slopes *s, uint32_t i, double tangent, const Step *step, double tolerance) {
    double estimate = (4 * step->fine - step->coarse) / 3, plain = ct_explain_relative_difference(tangent, estimate, 0);
    double floor = step->is_wide ? step->noise / tolerance : 0;
    double difference = ct_explain_relative_difference(tangent, estimate, floor);
    bool is_noise = s->refuted[i] > tolerance && fabs(estimate) <= step->noise;
    if (difference <= s->difference[i] && (step->is_wide || (difference <= tolerance && !is_noise))) {
        s->difference[i] = difference;
        s->best[i] = estimate;
    }
    if (!step->is_wide) return;
    s->sure[i] = s->sure[i] || plain <= tolerance;
    bool refutes = fabs(tangent - estimate) > 10 * (step->noise + fabs(step->coarse - step->fine));
    if (refutes && plain > s->refuted[i]) {
        s->refuted[i] = plain;
        s->against[i] = estimate;
    }
    if (step->is_last_wide && !s->sure[i] && s->difference[i] <= tolerance && s->refuted[i] > tolerance) {
        s->difference[i] = s->refuted[i];
        s->best[i] = s->against[i];
    }
}

static bool find_slopes(Check *c, const CtLeaves *x, const CtLeaves *dx, const CtLeaves *y, const CtLeaves *tangent,
                        Slopes *out) {
    /* The last ones are for functions that vary on a small scale. There a tangent must be more than what rounding makes
     * of the function: without a floor, rounding never agrees with it. Floats have no digits left at such steps. */
    static const double steps[] = {1e-3, 1e-4, 1e-5, 1e-2, 1e-6, 1e-7, 1e-8};
    enum { WIDE = 4, ALL = sizeof steps / sizeof *steps };
    uint32_t count = y->reals.count;
    double *coarse = CT_NEW_ARRAY(c->arena, double, count), *fine = CT_NEW_ARRAY(c->arena, double, count);
    *out = slopes_of(c->arena, count);
    for (int k = 0; k < (c->tolerance.slope == of_floats.slope ? WIDE : ALL); k++) {
        double h = steps[k];
        if (!slope(c, x, dx, h, coarse, count) || !slope(c, x, dx, h / 2, fine, count)) return false;
        bool sure = true;
        out->worst = 0;
        for (uint32_t i = 0; i < count; i++) {
            Step step = {coarse[i], fine[i], c->tolerance.rounding * fabs(y->reals.items[i]) / h, k < WIDE,
                         k == WIDE - 1};
            hold_against(out, i, tangent->reals.items[i], &step, c->tolerance.slope);
            sure = sure && out->sure[i];
            if (out->difference[i] > out->difference[out->worst]) out->worst = i;
        }
        bool agrees = count == 0 || out->difference[out->worst] <= c->tolerance.slope;
        if (agrees && (sure || k >= WIDE - 1)) break;
    }
    return true;
}

/* What products are measured against at least: where terms of a derivative cancel, a rounding of the value's size is
 * left, and directions are proportional to the point. */
static double rounding_of(const Check *c, double value) {
    return isfinite(value) ? c->tolerance.rounding * fabs(value) / c->tolerance.product : 0;
}

/* Sum of products; `size` receives the sum of their absolute values. */
static double inner(const CtLeaves *a, const CtLeaves *b, double *size) {
    double sum = 0;
    *size = 0;
    for (uint32_t i = 0; i < a->reals.count; i++) {
        double product = a->reals.items[i] * b->reals.items[i];
        sum += product;
        *size += fabs(product);
    }
    return sum;
}

/* The difference of the value that a rule gives, too. */
static double value_difference(const CtLeaves *y, const CtLeaves *value, uint32_t *worst) {
    uint32_t count = y->reals.count < value->reals.count ? y->reals.count : value->reals.count;
    double most = 0;
    *worst = 0;
    for (uint32_t i = 0; i < count; i++) {
        double difference = ct_explain_relative_difference(value->reals.items[i], y->reals.items[i], 1e-300);
        if (difference > most) *worst = i;
        if (difference > most) most = difference;
    }
    return most;
}

static void check_value(Check *c, const CtLeaves *y, const CtLeaves *value, const char *what) {
    uint32_t worst;
    double most = value_difference(y, value, &worst);
    if (most > c->tolerance.product)
        add_row(c, what, value->reals.items[worst], y->reals.items[worst], most, c->tolerance.product);
}

/* Compares the row of each real of the result, times dx, with that real of J·dx; this also detects permuted rows.
 * `steps`: of a pullback. False on an error. */
static bool check_rows(Check *c, const CtLeaves *dx, const CtLeaves *y, const CtLeaves *tangent, uint64_t steps) {
    const char *what = "rows of the Jacobian times dx, against J·dx along direction 1";
    CtLeaves value = leaves_of(c->arena), rows = leaves_of(c->arena);
    uint32_t count = tangent->reals.count, columns = dx->reals.count, worst = 0;
    double most = -1, found = NAN;
    if (count < 2 || columns == 0 || !ct_explain_is_compared_in_full(count, columns, steps)) return true;
    if (!ask(c, &(Ask){.mode = COTAN_JACOBIAN, .method = c->vjp}, &value, &rows, NULL)) return false;
    if (rows.reals.count != count * columns) {
        add_row(c, what, rows.reals.count, (double)count * columns, INFINITY, c->tolerance.product);
        return true;
    }
    for (uint32_t i = 0; i < count; i++) {
        CtLeaves row = {.reals = {.items = rows.reals.items + i * columns, .count = columns}};
        double size, product = inner(&row, dx, &size);
        double floor = fmax(size, rounding_of(c, y->reals.items[i]));
        double difference = ct_explain_relative_difference(product, tangent->reals.items[i], floor);
        if (difference <= most) continue;
        most = difference;
        worst = i;
        found = product;
    }
    add_row(c, what, found, tangent->reals.items[worst], most, c->tolerance.product);
    return true;
}

static bool check_direction(Check *c, const CtLeaves *x, const CtLeaves *y, const char *y_text, int which) {
    CtLeaves dx = direction(c, x, which), dy = ct_explain_weights(c->arena, y->reals.count, which + 5);
    CtLeaves tangent = leaves_of(c->arena), cotangent = leaves_of(c->arena);
    CtLeaves beside = leaves_of(c->arena), under = leaves_of(c->arena);
    dy.trees = true; /* y_text is of collected reals */
    Ask jvp = {.mode = COTAN_JVP, .method = c->jvp, .with = c->at, .with_length = c->at_length, .with_reals = &dx};
    Ask vjp = {.mode = COTAN_VJP, .method = c->vjp, .with = y_text, .with_reals = &dy};
    if (!ask(c, &jvp, &beside, &tangent, NULL) || !ask(c, &vjp, &under, &cotangent, NULL)) return false;
    uint64_t steps = c->steps;
    if (which == 0) {
        check_value(c, y, &beside, "the value beside J·dx, against the function's");
        check_value(c, y, &under, "the value beside Jᵀ·dy, against the function's");
    }
    Slopes slopes;
    if (!find_slopes(c, x, &dx, y, &tangent, &slopes)) return false;
    const char *what = ct_format(c->arena, "J·dx along direction %d, against finite differences", which + 1);
    uint32_t worst = slopes.worst;
    if (y->reals.count > 0)
        add_row(c, what, tangent.reals.items[worst], slopes.best[worst], slopes.difference[worst], c->tolerance.slope);
    double left_size, right_size;
    double left = inner(&tangent, &dy, &left_size), right = inner(&dx, &cotangent, &right_size);
    c->hidden |= isnan(left) && isnan(right);
    what = ct_format(c->arena, "⟨dx, Jᵀ·dy⟩ = ⟨J·dx, dy⟩ along direction %d", which + 1);
    double value_size;
    inner(y, &dy, &value_size);
    double floor = fmax(fmax(left_size, right_size), rounding_of(c, value_size));
    double difference = ct_explain_relative_difference(right, left, floor);
    add_row(c, what, right, left, difference, c->tolerance.product);
    return which > 0 || check_rows(c, &dx, y, &tangent, steps);
}

static CtSession *session_of_run(Check *c) {
    CtEntry entry = {
        .mode = COTAN_RUN, .function = c->function, .method = c->jvp, .reverse = c->vjp, .prefer_double = true};
    return ct_session_program_session(c->program, &entry);
}

/* The reals of the point, read in the session of a plain run, which has the same type. */
static bool point_leaves(Check *c, CtLeaves *x) {
    cotan_context *context = c->program->context;
    CtSession *session = session_of_run(c);
    if (session == NULL) return false;
    if (session->point == NULL)
        return ct_session_report_one(context, CT_E0405, NULL, "`%s` is not a function: it has no derivative",
                                     c->function);
    CtInput *given = ct_session_parse(context, 0, "--at", c->at, c->at_length);
    CtWord point;
    if (given == NULL || !ct_session_read(session, context, given, session->point, NULL, &point)) return false;
    CtText ignored = ct_text(c->arena);
    bool written = ct_io_json_write(&ignored, session->point, point, x);
    ct_session_release(session, session->point, point);
    return written || ct_session_report_one(context, CT_E0401, NULL, "the point of `%s` holds functions", c->function);
}

/* ---- the rules for derivatives that a function uses ---- */

static int by_place(const void *a, const void *b) {
    CtSourceRange x = *(const CtSourceRange *)a, y = *(const CtSourceRange *)b;
    return x.source != y.source ? (x.source < y.source ? -1 : 1) : (x.start > y.start) - (x.start < y.start);
}

/* The source ranges of all custom derivatives, in order, without duplicates. */
static CtSourceRange *places_of_rules(Check *c, const CtProgram *p, uint32_t *count) {
    CT_VEC(CtSourceRange) spans = {0};
    CtCoreList work = {0};
    for (uint32_t i = 0; i < p->globals.count; i++)
        if (p->globals.items[i]->body != NULL) ct_push(c->arena, &work, p->globals.items[i]->body);
    while (work.count > 0) {
        CtCore *core = work.items[--work.count];
        ct_core_children(c->arena, core, &work);
        if (core->kind == CORE_DERIV && ct_core_deriv_has_rule(core->as.call.of.deriv))
            ct_push(c->arena, &spans, core->range);
    }
    if (spans.count > 0) qsort(spans.items, spans.count, sizeof *spans.items, by_place);
    *count = 0;
    for (uint32_t i = 0; i < spans.count; i++)
        if (i == 0 || by_place(&spans.items[i - 1], &spans.items[i]) != 0) spans.items[(*count)++] = spans.items[i];
    return spans.items;
}

/* Compares value and tangents with the function's when only one custom derivative is used. */
static bool agrees_with(Check *c, const CtLeaves *x, const CtLeaves *y, const CtSourceRange *rule, bool *agrees) {
    *agrees = true;
    for (int i = 0; i < DIRECTIONS && *agrees; i++) {
        CtLeaves dx = direction(c, x, i), value = leaves_of(c->arena), tangent = leaves_of(c->arena);
        Ask jvp = {.mode = COTAN_JVP, .method = c->jvp, .with = c->at, .with_length = c->at_length, .with_reals = &dx};
        jvp.rule = rule;
        Slopes slopes;
        uint32_t worst;
        if (!ask(c, &jvp, &value, &tangent, NULL) || !find_slopes(c, x, &dx, y, &tangent, &slopes)) return false;
        if (y->reals.count == 0) break;
        *agrees = slopes.difference[slopes.worst] <= c->tolerance.slope &&
                  value_difference(y, &value, &worst) <= c->tolerance.product;
    }
    return true;
}

/* Finds the wrong custom derivatives by using one at a time, provided that the derivative without any is right. */
static bool find_rules(Check *c, const CtProgram *p, const CtLeaves *x, const CtLeaves *y) {
    uint32_t count;
    const CtSourceRange *places = places_of_rules(c, p, &count), none = CT_NO_RANGE;
    cotan_check_rule *rules = CT_NEW_ARRAY(c->arena, cotan_check_rule, count);
    bool agrees = false, tells = count > 0 && !c->out->agrees;
    if (tells && !agrees_with(c, x, y, &none, &tells)) return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t line, column;
        ct_source_position(p->context, places[i].source, places[i].start, &line, &column);
        const char *file = p->context->sources.items[places[i].source].name;
        rules[i] = (cotan_check_rule){ct_copy_text(c->arena, file, strlen(file)), (int)line, (int)column, false};
        if (tells && !agrees_with(c, x, y, &places[i], &agrees)) return false;
        rules[i].is_wrong = tells && !agrees;
    }
    c->out->rules = rules;
    c->out->rule_count = count;
    return true;
}

bool ct_explain_check(cotan_program *program, CtArena *arena, const cotan_call *call, CtMethod jvp, CtMethod vjp,
                      cotan_check_result *out) {
    Check check = {.program = program, .out = out, .arena = arena, .jvp = jvp, .vjp = vjp};
    check.function = call->function;
    check.at = call->at;
    check.at_length = call->at_length;
    CtLeaves x = leaves_of(arena), y = leaves_of(arena);
    CtText y_text = ct_text(arena);
    Ask run = {.mode = COTAN_RUN, .method = jvp};
    out->agrees = true;
    if (!point_leaves(&check, &x) || !ask(&check, &run, &y, NULL, &y_text)) return false;
    check.tolerance = x.single || y.single ? of_floats : of_doubles;
    for (int i = 0; i < DIRECTIONS; i++)
        if (!check_direction(&check, &x, &y, y_text.data, i)) return false;
    if (check.hidden && out->agrees)
        return ct_session_report_one(program->context, CT_E0515, NULL,
                                     "the derivatives of `%s` are NaN here, so that they cannot be checked",
                                     check.function);
    out->rows = check.rows.items;
    out->count = check.rows.count;
    CtSession *session = session_of_run(&check);
    return session != NULL && find_rules(&check, session->build->program, &x, &y);
}
