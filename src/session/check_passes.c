/* Checks the passes over Flow on the input of a call: the program is interpreted after each pass, and results must be
 * equal, including failures and their source ranges; native code must give the interpreter's result (docs/flow.md, "How
 * passes are checked").
 *
 * The program after n passes is made by lowering again and running n passes, so that no pass can affect the program of
 * another comparison. */
#include "session/session.h"

#include "session/check_passes.h"
#include "run/interpreter_values.h"

#include <stdlib.h>

/* The limit of all interpreter runs for one call. */
static const uint64_t steps_of_a_call = 20000000;

/* Relative tolerances: of derivatives taken before and after a pass, where sums may be in another order; of native code
 * in fast mode. */
static const double other_derivative = 1e-8, fast_native = 1e-6;

typedef struct Check {
    CtSession *session;
    cotan_context *context;
    CtWord input;
    CtFlow *const *flows; /* after 0, 1, … passes */
    uint32_t count;       /* number of passes */
    CtInterpreter *last;  /* of the last program whose run ended; NULL: none */
    uint32_t last_at;     /* the number of passes of that program */
    uint64_t steps;       /* of all runs */
    uint32_t stride;      /* number of passes between two runs */
    bool searches;        /* a fault was found, and the pass is being searched */
    uint32_t runs;        /* number of runs that ended */
    uint32_t given_up;    /* number of runs that did not, and the reason of the last one */
    const char *why;
    bool fault;
} Check;

/* ---- telling ---- */

const char *ct_session_check_name(const CtSession *session) {
    return session->entry.function != NULL ? session->entry.function : "the expression";
}

void ct_session_check_tell(const cotan_context *context, const CtSession *session, const char *format, ...) {
    if (context->checks < CHECK_AND_TELL) return;
    char line[1000]; /* the messages of programs may have several lines */
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    for (char *c = line; *c != '\0'; c++)
        if (*c == '\n') *c = ' ';
    fprintf(stderr, "check: %s: %s\n", ct_session_check_name(session), line);
}

static void found(Check *c, const char *who, const char *what) {
    if (!c->fault) ct_session_fault(c->context, "%s what `%s` gives: %s", who, ct_session_check_name(c->session), what);
    c->fault = true;
}

static const char *after(const Check *c, uint32_t passes) {
    if (passes == 0) return "lowering changes";
    CtFlowPass pass = ct_flow_pass(passes - 1);
    return ct_format(c->session->build->arena, "the pass `%s` (%u of %u) changes", pass.name, passes, c->count);
}

/* ---- runs ---- */

/* Runs the program after so many passes; NULL when memory runs out. */
static CtInterpreter *run(Check *c, uint32_t passes) {
    const CtFlow *flow = c->flows[passes];
    CtInterpretOptions options = {.limits = ct_check_limits};
    uint64_t left = c->searches ? UINT64_MAX - c->steps : steps_of_a_call - c->steps;
    if (options.limits.steps > left) options.limits.steps = left;
    options.counts = flow->is_counted;
    CtInterpreter *i = ct_flow_interpreter_new(flow, options);
    if (i == NULL) return NULL;
    CtFlowCell input[CT_FLOW_WIDE] = {{.integer = 0}};
    const CtType *parameter = c->session->point ? c->session->build->entry->type->parts[0] : NULL;
    if (parameter != NULL &&
        !ct_run_import(i, c->flows[passes], parameter, ct_flow_input(flow, parameter), c->input, input)) {
        ct_flow_interpreter_free(i);
        return NULL;
    }
    ct_flow_interpret(i, flow->entry, input);
    c->steps += i->steps < left ? i->steps : left;
    return i;
}

static const char *failure(const Check *c, CtErrorCode code, CtSourceRange range, const char *message) {
    CtContext *diags = &c->session->build->context;
    CtArena *arena = c->session->build->arena;
    uint32_t line, column;
    if (range.source == 0) return ct_format(arena, "%s, %s", ct_error_name(code), message);
    ct_source_position(diags, range.source, range.start, &line, &column);
    return ct_format(arena, "%s at %s:%u:%u, %s", ct_error_name(code), diags->sources.items[range.source].name, line,
                     column, message);
}

static const char *end_of(const Check *c, const CtInterpreter *i) {
    return i->end == FLOW_END_DONE ? "a result" : failure(c, i->code, i->range, i->message);
}

static bool same_failures(const Check *c, const CtInterpreter *a, const CtInterpreter *b) {
    (void)c;
    return a->code == b->code && memcmp(&a->range, &b->range, sizeof a->range) == 0 &&
           strcmp(a->message, b->message) == 0;
}

/* How two runs differ in their messages; NULL: not at all. `rounded`: messages may hold numbers that were rounded
 * otherwise. */
static const char *other_messages(const Check *c, const CtInterpreter *a, const CtInterpreter *b, bool rounded) {
    if (a->is_native || b->is_native) return NULL;
    if (a->told == b->told) return rounded || a->messages == b->messages ? NULL : "other messages";
    return ct_format(c->session->build->arena, "%llu messages before, %llu after", (unsigned long long)a->told,
                     (unsigned long long)b->told);
}

/* The difference of two ended runs; NULL: they are equal. */
static const char *difference(const Check *c, const CtInterpreter *a, const CtInterpreter *b,
                              CtFlowCloseness closeness) {
    CtArena *arena = c->session->build->arena;
    const CtFlowTypes *types = &b->flow->entry->results;
    char place[200];
    if (a->end != b->end || (a->end == FLOW_END_FAILED && !same_failures(c, a, b)))
        return ct_format(arena, "%s before, %s after", end_of(c, a), end_of(c, b));
    const char *messages = other_messages(c, a, b, closeness.relative > 0);
    if (messages != NULL) return messages;
    if (a->end == FLOW_END_FAILED || ct_flow_interpret_same(arena, types->items, types->count, a->results, b->results,
                                                            closeness, place, sizeof place))
        return NULL;
    return ct_copy_text(arena, place, strlen(place));
}

/* The tolerance for the results of a pass. */
static CtFlowCloseness closeness_of(const Check *c, uint32_t passes) {
    CtFlowPass pass = ct_flow_pass(passes - 1);
    if (!c->context->exact_math && pass.tolerance > 0) return (CtFlowCloseness){pass.tolerance, true};
    if (pass.prepares && c->flows[passes]->takes_derivatives) return (CtFlowCloseness){other_derivative, false};
    return (CtFlowCloseness){0, false};
}

/* The tolerance for results after so many passes, compared with the last ones seen. */
static CtFlowCloseness closeness_since(const Check *c, uint32_t passes) {
    CtFlowCloseness closeness = {0, false};
    for (uint32_t k = c->last_at + 1; k <= passes; k++) {
        CtFlowCloseness one = closeness_of(c, k);
        if (one.relative > closeness.relative) closeness.relative = one.relative;
        closeness.nan_is_anything |= one.nan_is_anything;
    }
    return closeness;
}

/* What no correct pass could have caused in a run; NULL: nothing. */
static const char *wrong_in(const Check *c, const CtInterpreter *i, uint32_t passes) {
    if (i->end == FLOW_END_WRONG)
        return ct_format(c->session->build->arena, "in %s, %s", i->function != NULL ? i->function->name : "the entry",
                         i->message);
    return c->last != NULL ? difference(c, c->last, i, closeness_since(c, passes)) : NULL;
}

static void give_up(Check *c, const char *why) {
    c->why = ct_copy_text(c->session->build->arena, why, strlen(why));
    c->given_up++;
}

/* Runs one more program and compares it with the last one; it becomes the last. False when the passes between the two
 * must be run one by one first, to name the one at fault. */
static bool follow(Check *c, uint32_t passes) {
    CtInterpreter *i = c->flows[passes]->refused == NULL ? run(c, passes) : NULL;
    if (i == NULL || i->end == FLOW_END_STOPPED) {
        const char *refused = c->flows[passes]->refused;
        give_up(c, i != NULL ? i->message : refused != NULL ? refused : "there is no memory");
        ct_flow_interpreter_free(i);
        return true;
    }
    const char *wrong = wrong_in(c, i, passes);
    if (wrong != NULL && c->stride > 1 && c->last != NULL) {
        ct_flow_interpreter_free(i);
        c->stride = 1;
        c->searches = true;
        return false;
    }
    if (wrong != NULL) found(c, after(c, passes), wrong);
    ct_flow_interpreter_free(c->last);
    c->last = i;
    c->last_at = passes;
    c->runs++;
    return true;
}

/* If a run takes long, several passes are compared at once until a difference is found. */
static void follow_all(Check *c) {
    c->stride = 1;
    for (uint32_t k = 0; k <= c->count && !c->fault;) {
        if (!follow(c, k)) {
            k = c->last_at + 1;
            continue;
        }
        if (c->runs == 1 && c->last_at == k)
            c->stride = (uint32_t)(c->last->steps * (c->count + 1) / steps_of_a_call) + 1;
        uint32_t next = k + c->stride;
        k = k < c->count && next > c->count ? c->count : next;
    }
}

/* ---- native code ---- */

/* The result of native code, in the evaluator's heap, or its failure, as a run of the interpreter. */
static CtInterpreter *native_run(const Check *c, const CtWord *result, const CtNativeError *error) {
    CtFlow *flow = c->flows[c->count];
    CtInterpreter *i = ct_flow_interpreter_new(flow, (CtInterpretOptions){.limits = ct_check_limits});
    if (i == NULL) return NULL;
    i->is_native = true;
    i->end = result != NULL ? FLOW_END_DONE : FLOW_END_FAILED;
    if (result == NULL) {
        i->code = error->code;
        i->range = error->range;
        i->message = error->message;
        return i;
    }
    i->results = calloc(flow->entry->results.count + 1, sizeof *i->results);
    const CtType *type = ct_session_result(c->session);
    if (i->results != NULL && ct_run_import(i, flow, type, ct_flow_output(flow, type), *result, i->results)) return i;
    ct_flow_interpreter_free(i);
    return NULL;
}

/* Lack of memory and interrupts are not part of the program's meaning. */
static bool is_about_resources(CtErrorCode code) { return code == CT_E0801 || code == CT_E0804; }

static void against_native(Check *c, const CtWord *result, const CtNativeError *error) {
    if (c->last == NULL || c->last_at != c->count || c->last->end == FLOW_END_WRONG) return;
    if (result == NULL && is_about_resources(error->code)) return;
    CtInterpreter *native = native_run(c, result, error);
    CtFlowCloseness closeness = {0, false};
    if (!c->context->exact_math) closeness = (CtFlowCloseness){fast_native, true};
    const char *differs = native != NULL ? difference(c, c->last, native, closeness) : NULL;
    if (differs != NULL) found(c, "native code changes", differs);
    ct_flow_interpreter_free(native);
}

/* ---- all of them ---- */

CtText ct_session_text(CtArena *arena, const CtFlow *flow) {
    CtText text = ct_text(arena);
    ct_flow_print(&text, flow);
    return text;
}

static bool is_what_runs(CtSession *session, const CtFlow *flow) {
    CtText text = ct_session_text(session->build->arena, flow);
    return text.length == session->lowered.length && memcmp(text.data, session->lowered.data, text.length) == 0;
}

/* Whether the program is only run behind the last pass. */
static bool is_of_emission(const Check *c) { return c->context->checks >= CHECK_EMISSION; }

/* Lowered once a session, unless only the last is asked for; NULL where the program cannot be lowered so. */
static CtFlow *const *flows_of(Check *c) {
    CtBuild *build = c->session->build;
    if (c->session->checked != NULL) return c->session->checked;
    CtFlow **flows = CT_NEW_ARRAY(build->arena, CtFlow *, c->count + 1);
    for (uint32_t k = is_of_emission(c) ? c->count : 0; k <= c->count; k++) {
        flows[k] = ct_driver_lower(build, c->context->exact_math, k);
        if (flows[k]->wrong == NULL) continue;
        found(c, "the program after some passes is not sound, so that nothing can be said of", flows[k]->wrong);
        return NULL;
    }
    if (!is_what_runs(c->session, flows[c->count])) found(c, "lowering again changes", "the program is another one");
    if (!is_of_emission(c)) c->session->checked = flows;
    return flows;
}

static void check(CtSession *session, cotan_context *context, CtWord input, const CtWord *result,
                  const CtNativeError *error) {
    Check c = {.session = session, .context = context, .input = input, .count = ct_flow_pass_count()};
    c.flows = flows_of(&c);
    if (c.flows != NULL && is_of_emission(&c))
        follow(&c, c.count);
    else if (c.flows != NULL)
        follow_all(&c);
    if (c.flows != NULL && !c.fault) against_native(&c, result, error);
    if (c.flows != NULL && !c.fault && !is_of_emission(&c) && c.flows[0]->takes_derivatives)
        ct_session_check_derivatives(session, context, input);
    if (c.last != NULL && !c.fault && is_of_emission(&c))
        ct_session_check_tell(context, session, "checked: %u programs, %llu steps, %llu with updates in place: %s",
                              c.runs, (unsigned long long)c.steps, (unsigned long long)(c.steps - c.last->in_place),
                              end_of(&c, c.last));
    else if (c.last != NULL && !c.fault)
        ct_session_check_tell(context, session, "checked: %u programs, %llu steps: %s", c.runs,
                              (unsigned long long)c.steps, end_of(&c, c.last));
    if (c.given_up > 0) ct_session_check_tell(context, session, "not checked: %u programs: %s", c.given_up, c.why);
    ct_flow_interpreter_free(c.last);
}

/* Memory of the build's arena that checks use does not count for its limit, so that programs run as without checks. */
void ct_session_check(CtSession *session, cotan_context *context, CtWord input, const CtWord *result,
                      const CtNativeError *error) {
    CtArena *arena = session->build->arena;
    size_t bytes = ct_arena_bytes(arena), limit = ct_arena_limit(arena, 0);
    check(session, context, input, result, error);
    bytes = ct_arena_bytes(arena) - bytes;
    session->check_bytes += bytes;
    ct_arena_limit(arena, limit == 0 ? 0 : limit + bytes);
}
