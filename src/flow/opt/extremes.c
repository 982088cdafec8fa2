/* Places of extremes. The derivative of a maximum or minimum looks for the first element that it is, in a loop over all
 * elements (ct_flow_place_of). Of a whole array, `argmax` gives both:
 *
 *     m = maximum x                          n = dim 0 of x; fail if n = 0
 *     …                              →       p = argmax x
 *     p = fold n, 0 do … x, m                m = read x, p
 *
 * Inside of other loops both stay: there, they are loops of which each runs in lanes. */
#include "flow/opt/passes.h"

/* The extreme of a whole array outside of loops; its place where something looks for it, else NULL. */
typedef struct Whole {
    const CtFlowStep *step;
    CtFlowVar *place;
} Whole;

typedef struct Extremes {
    CtFlow *flow;
    CtArena *arena;
    CtFlowBuilder b;
    CtFlowFacts facts;
    CtFlowValues now;
    CT_VEC(Whole) wholes;
    uint32_t loops; /* how many loops the walk is inside of */
    bool found;
} Extremes;

/* What a loop looks for, and where. */
typedef struct Search {
    const CtFlowArg *extreme, *array;
} Search;

static const CtFlowStep *made_by(const Extremes *p, const CtFlowArg *arg, CtPrim prim) {
    const CtFlowStep *step = ct_flow_maker(&p->facts, arg, FLOW_PRIM);
    return step != NULL && step->as.prim == prim ? step : NULL;
}

static bool is_var(const CtFlowArg *arg, const CtFlowVar *var) { return arg->var == var && var != NULL; }

/* ---- the search that ct_flow_place_of writes ---- */

/* Whether a switch gives `index` if its condition holds, else the place that the loop carries. */
static bool keeps_index(const CtFlowStep *choice, const CtFlowBlock *body, const CtFlowArg *index) {
    if (choice->as.cases.count != 2) return false;
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowBranch *branch = &choice->as.cases.branches[i];
        const CtFlowVar *gives = branch->tag == 0 ? body->params.items[1] : index->var;
        if (branch->block->exit != EXIT_YIELD || branch->block->steps.count > 0) return false;
        if (!is_var(&branch->block->values.items[0], gives)) return false;
    }
    return choice->as.cases.branches[0].tag == 0 || choice->as.cases.branches[1].tag == 0;
}

/* Whether iteration i looks at element n − 1 − i. */
static bool goes_down(const Extremes *p, const CtFlowStep *loop, const CtFlowArg *index) {
    const CtFlowStep *down = made_by(p, index, PRIM_INT_SUB);
    const CtFlowStep *last = down != NULL ? made_by(p, &down->args.items[0], PRIM_INT_SUB) : NULL;
    return last != NULL && is_var(&down->args.items[1], loop->as.loop.block->params.items[0]) &&
           ct_flow_is_int(&last->args.items[1], 1) && ct_flow_same(&last->args.items[0], &loop->args.items[0]);
}

static bool is_search(const Extremes *p, const CtFlowStep *loop, Search *search) {
    enum { STEPS = 6 }; /* index, element, two tests, either, choice */
    if (loop->kind != FLOW_LOOP || loop->as.loop.carried != 1 || loop->as.loop.initial) return false;
    const CtFlowBlock *body = loop->as.loop.block;
    if (loop->results.count != 1 || !ct_flow_is_int(&loop->args.items[1], 0) || body->exit != EXIT_YIELD) return false;
    if (body->steps.count != STEPS) return false;
    const CtFlowStep *choice = ct_flow_maker(&p->facts, &body->values.items[0], FLOW_SWITCH);
    const CtFlowStep *either = choice != NULL ? made_by(p, &choice->args.items[0], PRIM_INT_OR) : NULL;
    const CtFlowStep *equal = either != NULL ? made_by(p, &either->args.items[0], PRIM_EQ) : NULL;
    const CtFlowStep *nan = either != NULL ? made_by(p, &either->args.items[1], PRIM_IS_NAN) : NULL;
    const CtFlowStep *read = equal != NULL ? ct_flow_maker(&p->facts, &equal->args.items[0], FLOW_READ) : NULL;
    if (read == NULL || read->args.count != 2 || nan == NULL) return false;
    *search = (Search){.extreme = &equal->args.items[1], .array = &read->args.items[0]};
    return is_var(&nan->args.items[0], read->results.items[0]) && goes_down(p, loop, &read->args.items[1]) &&
           keeps_index(choice, body, &read->args.items[1]) &&
           ct_flow_is_long(&p->facts, search->array, 0, &loop->args.items[0]);
}

/* ---- whole arrays ---- */

static bool is_extreme(const CtFlowStep *step) {
    return step->kind == FLOW_BULK && (step->as.bulk == ARRAY_MAXIMUM || step->as.bulk == ARRAY_MINIMUM);
}

/* The place of the extreme of a whole array; NULL if the search is for another one. */
static CtFlowVar *place_in_whole(Extremes *p, const Search *search) {
    const CtFlowStep *step = ct_flow_maker(&p->facts, search->extreme, FLOW_BULK);
    for (uint32_t i = 0; i < p->wholes.count; i++) {
        Whole *whole = &p->wholes.items[i];
        if (whole->step != step || !is_var(&step->args.items[0], search->array->var)) continue;
        if (whole->place == NULL) whole->place = ct_flow_var(&p->b, "place", p->facts.integer);
        CT_FIRED("extremes.whole");
        p->found = true;
        return whole->place;
    }
    return NULL;
}

/* Fails as the step does if the array has no elements. */
static void write_guard(Extremes *p, const CtFlowStep *step) {
    CtFlowBuilder *l = &p->b;
    CtFlowArg length = ct_flow_dim(l, step->range, step->args.items[0], 0);
    CtFlowArg none = ct_flow_prim_int(l, step->range, PRIM_INT_EQ, length, ct_flow_int(l, 0));
    CtFlowChoosing choice = ct_flow_switch_begin(l, step->range, none);
    CtFlowArgs nothing = {0};
    ct_flow_case_begin(l, &choice, 1);
    CtFlowStep *fail = ct_flow_step(l, FLOW_FAIL, step->range);
    fail->as.fail.code = CT_E0505;
    fail->as.fail.text =
        ct_format(p->arena, "%s of an array without elements", ct_core_array_info(step->as.bulk)->name);
    ct_flow_leave(l, EXIT_NEVER, step->range, NULL, NULL);
    ct_flow_case_begin(l, &choice, 0);
    ct_flow_case_end(l, &choice, &nothing);
}

static void write_whole(Extremes *p, CtFlowStep *step, CtFlowVar *place) {
    write_guard(p, step);
    CtFlowStep *find = ct_flow_step(&p->b, FLOW_BULK, step->range);
    find->as.bulk = step->as.bulk == ARRAY_MAXIMUM ? ARRAY_ARGMAX : ARRAY_ARGMIN;
    ct_flow_arg(&p->b, find, step->args.items[0]);
    ct_push(p->arena, &find->results, place);
    CtFlowStep *read = ct_flow_step(&p->b, FLOW_READ, step->range);
    ct_flow_arg(&p->b, read, step->args.items[0]);
    ct_flow_arg(&p->b, read, flow_of(place));
    read->results = step->results;
}

static CtFlowVar *place_of(const Extremes *p, const CtFlowStep *step) {
    for (uint32_t i = 0; i < p->wholes.count; i++)
        if (p->wholes.items[i].step == step) return p->wholes.items[i].place;
    return NULL;
}

/* Writes the places that something looks for, in a block and all inside. */
static void write_wholes(Extremes *p, CtFlowBlock *block) {
    CtFlowBlock before = ct_flow_reopen(block);
    for (uint32_t i = 0; i < before.steps.count; i++) {
        CtFlowStep *step = before.steps.items[i];
        CtFlowVar *place = place_of(p, step);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) write_wholes(p, ct_flow_inner(step, j));
        p->b.block = block;
        if (place != NULL)
            write_whole(p, step, place);
        else
            ct_push(p->arena, &block->steps, step);
    }
    block->exit = before.exit;
}

/* ---- the walk ---- */

static void visit(Extremes *p, CtFlowBlock *block) {
    uint32_t equals = p->facts.equals.count, kept = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        Search search;
        ct_flow_rename(&p->now, &step->args);
        ct_flow_learn(&p->facts, step);
        if (is_extreme(step) && p->loops == 0) ct_push(p->arena, &p->wholes, ((Whole){.step = step}));
        if (is_search(p, step, &search)) {
            CtFlowVar *place = place_in_whole(p, &search);
            if (place != NULL) {
                ct_flow_stands(&p->now, step->results.items[0], flow_of(place));
                continue;
            }
        }
        p->loops += step->kind == FLOW_LOOP;
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(p, ct_flow_inner(step, j));
        p->loops -= step->kind == FLOW_LOOP;
        block->steps.items[kept++] = step;
    }
    block->steps.count = kept;
    ct_flow_rename(&p->now, &block->values);
    p->facts.equals.count = equals;
}

void ct_flow_extremes(CtFlow *flow) {
    Extremes p = {.flow = flow, .arena = flow->arena};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        p.b = (CtFlowBuilder){.flow = flow, .arena = p.arena, .function = function};
        p.wholes.count = 0;
        p.found = false;
        ct_flow_values_clear(&p.now, flow->arena);
        ct_flow_facts_begin(&p.facts, flow, function);
        visit(&p, function->body);
        if (p.found) write_wholes(&p, function->body);
        ct_flow_facts_begin(&p.facts, flow, function);
        ct_flow_extreme_folds(flow, function, &p.facts);
    }
}
