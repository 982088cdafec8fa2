/* The reverse of a loop that selects. In each iteration, what such a loop carries either stays as it is or is replaced
 * by values that do not depend on it:
 *
 *     best = fold n, start do i, b          nearest = fold n, a, 0 do i, b, j
 *       e = …                                 e = …
 *       yield min b, e                        yield if lt e, b then e, i else b, j
 *
 * So the results are what one iteration has computed, or the initial values. The forward sweep also carries the place,
 * the number of that iteration, or −1. The reverse sweep reverses this iteration alone: no other has contributed.
 *
 * Where the loop selects an element of an array, as `foldl1 min` and `foldr min b` do, the cotangent goes to this
 * element: so of a map that has made the array, too, one iteration alone is reversed. */
#include "flow/ad/reverse.h"
#include "flow/analysis/analysis.h"

/* What chooses between a carried variable and a value of the iteration: `min`, `max` or a switch of two branches. */
typedef struct Choice {
    CtFlowStep *step;
    bool keeps_first; /* the variable is the first argument, or that of the first branch */
} Choice;

static bool is_extreme(const CtFlowStep *step) {
    return step->kind == FLOW_PRIM && (step->as.prim == PRIM_MIN || step->as.prim == PRIM_MAX);
}

static bool only_yields(const CtFlowBlock *block) { return block->exit == EXIT_YIELD && block->steps.count == 0; }

static bool chooses_between_yields(const CtFlowStep *step) {
    return step->kind == FLOW_SWITCH && step->as.cases.count == 2 && !ct_flow_is_object(step->args.items[0].type) &&
           only_yields(step->as.cases.branches[0].block) && only_yields(step->as.cases.branches[1].block);
}

/* What a choice has as the first or second of its results number `index`. */
static CtFlowArg alternative(const CtFlowStep *step, uint32_t index, bool first) {
    if (is_extreme(step)) return step->args.items[first ? 0 : 1];
    return step->as.cases.branches[first ? 0 : 1].block->values.items[index];
}

/* Finds the choice that gives the next value of a carried variable; false if there is none, or it is not the one that
 * is known already: one place serves all variables. */
static bool find_choice(Reverse *r, const CtFlowBlock *block, uint32_t carried, Choice *choice, CtFlowArg *fresh) {
    const CtFlowVar *param = block->params.items[1 + carried], *next = block->values.items[carried].var;
    if (ct_flow_is_object(param->type) || next == NULL || ct_map_get(&r->owner, next->id) != block) return false;
    CtFlowStep *step = ct_map_get(&r->defs, next->id);
    if (step == NULL || (!is_extreme(step) && !chooses_between_yields(step))) return false;
    uint32_t index = ct_flow_result_index(step, next);
    CtFlowArg first = alternative(step, index, true), second = alternative(step, index, false);
    Choice found = {step, first.var == param};
    if ((first.var == param) == (second.var == param)) return false;
    if (choice->step != NULL && (choice->step != step || choice->keeps_first != found.keeps_first)) return false;
    *choice = found;
    *fresh = found.keeps_first ? second : first;
    return true;
}

/* Whether none of the values depends on the active variables that a loop carries, other than through the choice. */
static bool are_fresh(Reverse *r, const CtFlowBlock *block, const CtFlowArgs *fresh, const Choice *choice) {
    CtFlowMarks marks = {.arena = r->arena};
    for (uint32_t i = 0; i < fresh->count; i++)
        if (!ct_flow_is_none(fresh->items[i])) ct_flow_mark(&marks, block->params.items[1 + i], true);
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (step == choice->step) break;
        if (ct_flow_uses_marked(&marks, step, NULL)) ct_flow_mark_results(&marks, step, true);
    }
    for (uint32_t i = 0; i < fresh->count; i++) {
        const CtFlowVar *var = fresh->items[i].var;
        if (var != NULL && var->id < marks.count && marks.items[var->id]) return false;
    }
    return true;
}

static void write_case(Reverse *r, CtFlowChoosing *choosing, uint32_t tag, CtFlowArg value) {
    CtFlowArgs values = {0};
    ct_push(r->arena, &values, value);
    ct_flow_case_begin(&r->f, choosing, tag);
    ct_flow_case_end(&r->f, choosing, &values);
}

/* Writes the choice between the place so far and this iteration. */
static CtFlowArg next_place(Reverse *r, const Choice *choice, CtFlowArg place, CtFlowArg index) {
    const CtFlowStep *step = choice->step;
    CtFlowArg first = choice->keeps_first ? place : index, second = choice->keeps_first ? index : place;
    if (step->kind == FLOW_SWITCH) {
        CtFlowChoosing choosing = ct_flow_switch_begin(&r->f, step->range, step->args.items[0]);
        write_case(r, &choosing, step->as.cases.branches[0].tag, first);
        write_case(r, &choosing, step->as.cases.branches[1].tag, second);
        return ct_flow_switch_end(&r->f, &choosing).items[0];
    }
    /* The second argument is taken only if it is less, or greater. */
    CtFlowArg a = step->args.items[0], b = step->args.items[1];
    bool least = step->as.prim == PRIM_MIN;
    CtFlowArg taken = ct_flow_prim_int(&r->f, step->range, PRIM_LT, least ? b : a, least ? a : b);
    return ct_flow_choose(&r->f, step->range, taken, second, first);
}

/* Makes the forward loop carry the place as its last carried variable. */
static CtFlowVar *carry_place(Reverse *r, CtFlowStep *loop, const Choice *choice) {
    const CtFlowType *integer = ct_flow_scalar(r->flow, FLOW_I64);
    CtFlowBlock *block = loop->as.loop.block, *owner = ct_map_get(&r->owner, loop->results.items[0]->id);
    uint32_t last = loop->as.loop.carried++, steps = block->steps.count;
    CtFlowVar *param = ct_flow_reverse_forward_var(r, "place", integer, block, NULL);
    CtFlowVar *place = ct_flow_reverse_forward_var(r, "place", integer, owner, loop);
    ct_flow_insert_var(r->arena, &block->params, 1 + last, param);
    ct_flow_insert_var(r->arena, &loop->results, last, place);
    ct_flow_insert_arg(r->arena, &loop->args, 1 + last, ct_flow_int(&r->f, -1));
    r->f.block = block;
    block->exit = EXIT_OPEN;
    CtFlowArg next = next_place(r, choice, flow_of(param), flow_of(block->params.items[0]));
    block->exit = EXIT_YIELD;
    ct_flow_insert_arg(r->arena, &block->values, last, next);
    for (uint32_t i = steps; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        ct_map_set(r->arena, &r->owner, step->results.items[0]->id, block);
        ct_map_set(r->arena, &r->defs, step->results.items[0]->id, step);
    }
    return place;
}

CtFlowVar *ct_flow_reverse_selection(Reverse *r, CtFlowStep *loop, CtFlowArgs *fresh) {
    const CtFlowBlock *block = loop->as.loop.block;
    Choice choice = {0};
    if (block->exit != EXIT_YIELD) return NULL;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        CtFlowArg value = ct_flow_none();
        bool active = ct_flow_reverse_is_active(r, flow_of(block->params.items[1 + i]));
        if (active && !find_choice(r, block, i, &choice, &value)) return NULL;
        ct_push(r->arena, fresh, value);
    }
    if (choice.step == NULL || !are_fresh(r, block, fresh, &choice)) return NULL;
    CtFlowVar *place = ct_map_get(&r->places, ct_key(block));
    if (place == NULL) place = carry_place(r, loop, &choice);
    ct_map_set(r->arena, &r->places, ct_key(block), place);
    return place;
}

/* ---- elements of one array ---- */

enum { DEEPEST_INDEX = 8 };

/* An Int of the loop's body where its index is `place`, by steps of the reverse sweep; none if it is not a sum of what
 * is outside of the body, or if that depends on other values of the body. */
static CtFlowArg index_at(Reverse *r, const CtFlowBlock *body, CtFlowArg arg, CtFlowArg place, int depth) {
    if (arg.var == NULL) return arg;
    if (arg.var == body->params.items[0]) return place;
    if (ct_map_get(&r->owner, arg.var->id) != body) return ct_flow_reverse_need(r, arg);
    const CtFlowStep *step = ct_map_get(&r->defs, arg.var->id);
    bool sum = ct_flow_is_prim(step, PRIM_INT_ADD) || ct_flow_is_prim(step, PRIM_INT_SUB);
    if (depth == 0 || !sum) return ct_flow_none();
    CtFlowArg a = index_at(r, body, step->args.items[0], place, depth - 1);
    CtFlowArg b = ct_flow_is_none(a) ? a : index_at(r, body, step->args.items[1], place, depth - 1);
    return ct_flow_is_none(b) ? b : ct_flow_prim_int(&r->b, step->range, step->as.prim, a, b);
}

/* The step that reads an element of a vector, given its value; NULL where there is none. */
static const CtFlowStep *element_read(Reverse *r, CtFlowArg value) {
    const CtFlowStep *step = value.var != NULL ? ct_map_get(&r->defs, value.var->id) : NULL;
    bool element = step != NULL && step->kind == FLOW_READ && step->args.count == 2 && step->args.items[0].var != NULL;
    return element && step->args.items[0].type->rank == 1 ? step : NULL;
}

bool ct_flow_reverse_selected_element(Reverse *r, const CtFlowStep *loop, const CtFlowArgs *fresh, CtFlowArg place,
                                      const CtFlowArgs *cotangents) {
    const CtFlowBlock *body = loop->as.loop.block;
    uint32_t selected = 0, others = 0;
    for (uint32_t i = 0; i < fresh->count; i++) {
        if (ct_flow_is_none(fresh->items[i])) continue;
        selected = i;
        others++;
    }
    if (others != 1) return false;
    const CtFlowStep *read = element_read(r, fresh->items[selected]);
    CtFlowArg initial = loop->args.items[1 + selected], g = cotangents->items[selected];
    if (read == NULL || ct_map_get(&r->owner, fresh->items[selected].var->id) != body || ct_flow_is_none(g))
        return false;
    CtFlowArg xs = read->args.items[0];
    if (ct_map_get(&r->owner, xs.var->id) == body || !ct_flow_reverse_is_active(r, xs)) return false;
    const CtFlowStep *first = element_read(r, initial);
    bool of_same = first != NULL && ct_flow_same(&xs, &first->args.items[0]);
    if (!of_same && !ct_flow_reverse_is_untouched(r, xs.var)) return false;
    CtFlowArg at = index_at(r, body, read->args.items[1], place, DEEPEST_INDEX);
    if (ct_flow_is_none(at)) return false;
    CtSourceRange range = loop->range;
    CtFlowArg none = ct_flow_int(&r->b, 0);
    CtFlowArg is_first = ct_flow_prim_int(&r->b, range, PRIM_INT_LT, place, none);
    at = ct_flow_choose(&r->b, range, is_first, of_same ? ct_flow_reverse_need(r, first->args.items[1]) : none, at);
    if (of_same) {
        CT_FIRED("reverse_selections.element");
        ct_flow_reverse_give_single(r, range, xs, at, g);
        return true;
    }
    CT_FIRED("reverse_selections.element_or_other");
    CtFlowArg zero = ct_flow_zero(&r->b, g.type);
    ct_flow_reverse_give_if_any(r, xs, at, ct_flow_choose(&r->b, range, is_first, zero, g));
    ct_flow_reverse_give(r, range, initial, ct_flow_choose(&r->b, range, is_first, g, zero), false);
    return true;
}
