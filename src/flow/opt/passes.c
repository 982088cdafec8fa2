/* Runs the passes of passes.def, in their order. */
#include "flow/opt/passes.h"

#include <assert.h>
#include <string.h>

enum { PURE = 1, CLOSED = 2, SITES = 4, COUNTED = 8 };

typedef enum Pass {
#define FLOW_PASS(name, needs, makes, breaks, tolerance, what) PASS_##name,
#include "flow/opt/passes.def"
#undef FLOW_PASS
    PASS_COUNT,
} Pass;

typedef struct Row {
    void (*run)(CtFlow *flow);
    const char *dumped, *name; /* `flow.NAME`, the name in --time-passes; and NAME */
    unsigned needs, makes, breaks;
    double tolerance;
    const char *what;
} Row;

static const Row rows[] = {
#define FLOW_PASS(name, needs, makes, breaks, tolerance, what)                                                         \
    {ct_flow_##name, "flow." #name, #name, needs, makes, breaks, tolerance, what},
#include "flow/opt/passes.def"
#undef FLOW_PASS
};

static const uint8_t order[] = {
#define FLOW_RUN(name, why) PASS_##name,
#include "flow/opt/passes.def"
#undef FLOW_RUN
};

static const char *const reasons[] = {
#define FLOW_RUN(name, why) why,
#include "flow/opt/passes.def"
#undef FLOW_RUN
};

enum { COUNT = sizeof order / sizeof *order };

uint32_t ct_flow_pass_count(void) { return COUNT; }

static uint32_t first_run(Pass pass) {
    uint32_t index = 0;
    while (order[index] != pass) index++;
    return index;
}

CtFlowPass ct_flow_pass(uint32_t index) {
    const Row *row = &rows[order[index]];
    return (CtFlowPass){.name = row->name,
                        .what = row->what,
                        .why = reasons[index],
                        .tolerance = row->tolerance,
                        .prepares = index < first_run(PASS_derive)};
}

uint32_t ct_flow_pass_find(const char *name, size_t length, uint32_t run) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const char *it = rows[order[i]].name;
        if (strlen(it) != length || memcmp(it, name, length) != 0) continue;
        found = i + 1;
        if (run > 0 && --run == 0) return found;
    }
    return run > 0 ? 0 : found;
}

static void takes_one(void *data, CtFlowStep *step) {
    if (ct_flow_is_derivative(step)) *(bool *)data = true;
}

bool ct_flow_takes_derivatives(const CtFlow *flow) {
    bool some = false;
    for (uint32_t i = 0; i < flow->functions.count; i++)
        ct_flow_each_step(flow->functions.items[i]->body, takes_one, &some);
    return some;
}

/* A C compiler takes half a millisecond or so for each step. Derivatives of derivatives of derivatives by a method on
 * Core may have any number of steps: then the evaluator has its result before a compiler would have begun. The time of
 * some passes grows with the square of the depth, as that of a chain of choices. */
enum { MOST_STEPS = 40000, DEEPEST = 800 };

/* From differentiation to the inlining behind `one_sweep` there are functions that nothing will call, as many as
 * others. */
static void refuse_large(CtFlow *flow, uint32_t steps, bool derived) {
    if (steps <= (derived ? 2 * MOST_STEPS : MOST_STEPS) || flow->refused != NULL) return;
    flow->refused = ct_format(flow->arena, "it would have more than %d steps", MOST_STEPS);
}

static void refuse_deep(CtFlow *flow) {
    for (uint32_t i = 0; i < flow->functions.count && flow->refused == NULL; i++)
        if (ct_flow_depth(flow->functions.items[i]->body) > DEEPEST)
            flow->refused = ct_format(flow->arena, "its choices and loops nest more than %d deep", DEEPEST);
}

void ct_flow_pass_all(CtFlow *flow, uint32_t count, bool lint, CtTimes *times) {
    const char *wrong = lint && flow->refused == NULL ? ct_flow_lint(flow) : NULL;
    unsigned known = PURE;
    bool derived = false;
    if (flow->refused == NULL) refuse_deep(flow);
    if (wrong != NULL) flow->wrong = ct_format(flow->arena, "lowering leaves no sound program: %s", wrong);
    for (uint32_t i = 0; i < COUNT && flow->refused == NULL && flow->wrong == NULL; i++) {
        const Row *row = &rows[order[i]];
        bool derives = order[i] == PASS_derive;
        if (i >= count && !derives) continue;
        assert((known & row->needs) == row->needs);
        if (derives) flow->takes_derivatives = ct_flow_takes_derivatives(flow);
        double begun = ct_times_now();
        derived |= derives;
        row->run(flow);
        known = (known & ~row->breaks) | row->makes;
        flow->is_closed = (known & CLOSED) != 0;
        flow->is_counted = (known & COUNTED) != 0;
        uint32_t steps = ct_flow_program_size(flow);
        if (times != NULL) ct_times_add(times, flow->arena, row->dumped, begun, steps);
        refuse_large(flow, steps, derived);
        derived = derived && order[i] != PASS_literal_parameters;
        if (!lint || flow->refused != NULL) continue;
        ct_flow_trial_fault(flow, row->name);
        wrong = ct_flow_lint(flow);
        if (wrong != NULL)
            flow->wrong = ct_format(flow->arena, "the pass `%s` leaves no sound program: %s", row->name, wrong);
    }
    if (count >= COUNT && flow->refused == NULL) ct_flow_count_steps(flow);
}
