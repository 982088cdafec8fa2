/* Compares derivatives with each other by the dot-product test: where a run takes the derivative of a function, ⟨J v,
 * w⟩ by forward mode must equal ⟨v, Jᵀ w⟩ by reverse mode, for pseudo-random v and w. Both modes are interpreted as
 * derive.c makes them, in extended precision, so that rounding is far below any fault.
 *
 * At a discontinuity both modes choose the same side, by one table. Nothing is compared where a number is infinite or
 * NaN, or where the program has a custom derivative. */
#include "session/check_passes.h"

#include "flow/check/probe.h"
#include "run/interpreter_values.h"

#include <stdlib.h>

/* Relative to the sum of the absolute values of all terms. Where one mode finds exactly 0, the rounding of terms of
 * size 1 that cancel may be left of the other. */
static const long double tolerance = 1e-7L, nothing = 1e-18L;

typedef struct Probing {
    CtSession *session;
    cotan_context *context;
    CtFlow *flow;
    CtInterpreter *i;
    uint64_t state;
} Probing;

static CtFlowTypes types_of(CtArena *arena, const CtFlowVars *vars, uint32_t from, uint32_t to) {
    CtFlowTypes types = {.items = CT_NEW_ARRAY(arena, const CtFlowType *, to - from + 1)};
    for (uint32_t k = from; k < to; k++) types.items[types.count++] = vars->items[k]->type;
    return types;
}

/* NULL, or the reason why nothing was compared. */
static const char *run(Probing *p, const CtFlowFunction *function, const CtFlowCell *args) {
    switch (ct_flow_interpret(p->i, function, args)) {
    case FLOW_END_DONE: return NULL;
    case FLOW_END_FAILED:
    case FLOW_END_STOPPED: return p->i->message;
    case FLOW_END_WRONG:
        ct_session_fault(p->context, "the pass `derive` is at fault: in %s, %s", function->name, p->i->message);
        return p->i->message;
    }
    return NULL;
}

static CtFlowCell *joined(CtArena *arena, const CtFlowCell *a, uint32_t a_count, const CtFlowCell *b,
                          uint32_t b_count) {
    CtFlowCell *both = CT_NEW_ARRAY(arena, CtFlowCell, a_count + b_count + 1);
    for (uint32_t k = 0; k < a_count; k++) both[k] = a[k];
    for (uint32_t k = 0; k < b_count; k++) both[a_count + k] = b[k];
    return both;
}

/* Compares at these arguments of the function. NULL, or the reason why nothing was compared. */
static const char *compare(Probing *p, const CtFlowProbe *probe, const CtFlowCell *args) {
    CtArena *arena = p->session->build->arena;
    const CtFlowFunction *f = probe->function;
    uint32_t point = probe->params - probe->captured, results = f->results.count;
    CtFlowTypes types = types_of(arena, &probe->forward->params, probe->captured, probe->params);
    CtFlowCell *v = CT_NEW_ARRAY(arena, CtFlowCell, point + 1), *w = CT_NEW_ARRAY(arena, CtFlowCell, results + 1);
    if (!ct_flow_interpret_direction(p->i, types.items, point, args + probe->captured, &p->state, v))
        return "there is no memory";
    const char *why = run(p, probe->forward, joined(arena, args, probe->params, v, point));
    if (why != NULL) return why;
    CtFlowCell *dy = joined(arena, p->i->results + results, results, NULL, 0);
    if (!ct_flow_interpret_direction(p->i, f->results.items, results, p->i->results, &p->state, w))
        return "there is no memory";
    why = run(p, probe->reverse, joined(arena, args, probe->params, w, results));
    if (why != NULL) return why;
    long double forward, reverse, sizes[2];
    bool alike = ct_flow_interpret_inner(f->results.items, results, dy, w, &forward, &sizes[0]) &&
                 ct_flow_interpret_inner(types.items, point, v, p->i->results, &reverse, &sizes[1]);
    if (!alike) {
        ct_session_fault(p->context, "the pass `derive` gives a derivative of `%s` that is not like its point",
                         f->name);
        return NULL;
    }
    if (!isfinite(sizes[0]) || !isfinite(sizes[1])) return "a derivative is infinite, or no number";
    if (fabsl(forward - reverse) > tolerance * (sizes[0] + sizes[1]) + nothing)
        ct_session_fault(
            p->context, "the pass `derive` gives derivatives of `%s` that differ: ⟨J v, w⟩ is %.17Lg, ⟨v, Jᵀ w⟩ %.17Lg",
            f->name, forward, reverse);
    return NULL;
}

/* The arguments of a function where the run took its derivative; NULL: it did not. */
static const CtFlowCell *args_of(const Probing *p, uint32_t probe) {
    const CtFlowCell *reverse = p->i->watches[2 * probe].args;
    return reverse != NULL ? reverse : p->i->watches[2 * probe + 1].args;
}

static void compare_all(Probing *p, const CtFlowProbe *probes, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        const CtFlowCell *args = probes[k].skipped == NULL ? args_of(p, k) : NULL;
        const char *why = probes[k].skipped;
        if (why == NULL) why = args != NULL ? compare(p, &probes[k], args) : "the run does not take it";
        if (why == NULL)
            ct_session_check_tell(p->context, p->session, "derivative of %s: forward and reverse mode agree",
                                  probes[k].function->name);
        else
            ct_session_check_tell(p->context, p->session, "derivative of %s: not checked: %s", probes[k].function->name,
                                  why);
    }
}

/* The lowered program with probes added and derivatives taken; NULL if that is not possible. */
static CtFlow *probed(CtBuild *build, CtFlowProbe **probes, uint32_t *count) {
    CtFlow *flow = ct_driver_flow(build);
    *count = 0;
    if (flow->refused != NULL) return NULL;
    *count = ct_flow_probes(flow, probes);
    ct_flow_pass_all(flow, 0, true, NULL);
    if (flow->refused != NULL || flow->wrong != NULL) return NULL;
    ct_flow_probes_made(flow, *probes, *count);
    return flow;
}

void ct_session_check_derivatives(CtSession *session, cotan_context *context, CtWord input) {
    CtFlowProbe *probes = NULL;
    uint32_t count;
    Probing p = {.session = session, .context = context, .state = 0x9E3779B97F4A7C15u};
    p.flow = probed(session->build, &probes, &count);
    if (p.flow == NULL) {
        ct_session_check_tell(context, session,
                              "derivatives: not checked: one of them is not taken on Flow in both modes");
        return;
    }
    p.i = ct_flow_interpreter_new(p.flow, (CtInterpretOptions){.limits = ct_check_limits, .wide = true});
    CtFlowCell cells[CT_FLOW_WIDE] = {{.integer = 0}};
    const CtType *parameter = session->point ? session->build->entry->type->parts[0] : NULL;
    if (p.i != NULL) p.i->watches = calloc(2 * (size_t)count + 1, sizeof *p.i->watches);
    if (p.i != NULL && p.i->watches != NULL &&
        (parameter == NULL || ct_run_import(p.i, p.flow, parameter, ct_flow_input(p.flow, parameter), input, cells))) {
        p.i->watch_count = 2 * count;
        for (uint32_t k = 0; k < 2 * count; k++) p.i->watches[k].function = probes[k / 2].called[k % 2];
        ct_flow_interpret(p.i, p.flow->entry, cells);
        p.i->watch_count = 0;
        compare_all(&p, probes, count);
        p.i->watch_count = 2 * count;
    }
    ct_flow_interpreter_free(p.i);
}
