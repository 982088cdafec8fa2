/* Loops that add to the elements of an array at several places beside their index, as the derivative of a stencil does:
 * where y reads x[i - 1] and x[i + 1], the loop over i adds to dx[i - 1] and to dx[i + 1]. An iteration depends on the
 * one before it, so such a loop is neither vectorised nor shared out. It becomes a loop that makes an array of the
 * terms for each place, and for each place a loop that adds these to the elements in the range:
 *
 *     dx = fold n, dx0 do i, dx                     a, b = map n do i { …; yield t, if c then s else −0 }
 *       …                                     →     dx1 = fold … do j, dx { update dx, j - 1, dx[j - 1] + a[j] }
 *       dx' = update dx, i - 1, dx[i - 1] + t       dx = fold … do j, dx { update dx, j + 1, dx[j + 1] + b[j] }
 *       yield if c then update dx', i + 1, dx'[i + 1] + s else dx'
 *
 * The terms are the same, but they are added in another order: with fast mathematics only. The arrays cost more than
 * they gain in a loop of a few iterations, so the number of iterations decides between the two at run time. */
#include "flow/opt/passes.h"

enum {
    LEAST = 24,    /* iterations for which arrays are made */
    MOST = 12,     /* places */
    LARGEST = 200, /* steps of a loop that is written twice */
};

/* A place at which a loop adds to an array. */
typedef struct Place {
    const CtFlowStep *update;
    CtFlowShift shift; /* of the last index */
    CtFlowArg value;   /* what is added; where `update` stands, later behind the switches around it */
    bool in_branch;
} Place;

/* A switch around places, and which of its results is the array. */
typedef struct Choice {
    CtFlowStep *step;
    uint32_t which;
} Choice;

typedef struct ShiftedSums {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFacts facts;
    CtFlowBuilder b;
    uint32_t *uses; /* by variable number */
    const CtFlowStep *loop;
    uint32_t depth; /* of the loop's block */
    CT_VEC(Place) places;
    CT_VEC(const CtFlowStep *) gone; /* reads, additions and updates of the places */
    CT_VEC(Choice) choices;
} ShiftedSums;

/* ---- which loops ---- */

static bool is_outside(const ShiftedSums *p, const CtFlowArg *arg) {
    return arg->var == NULL || ct_flow_fact(&p->facts, arg)->depth <= p->depth;
}

/* Whether a block consists of arithmetic, reads of numbers, updates by numbers, and switches of such blocks. */
static bool is_plain(const CtFlowBlock *block) {
    if (block->exit != EXIT_YIELD) return false;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool plain = step->kind == FLOW_DIM || (step->kind == FLOW_PRIM && !ct_flow_step_fails(step)) ||
                     (step->kind == FLOW_READ && !ct_flow_is_object(step->results.items[0]->type)) ||
                     (step->kind == FLOW_UPDATE && step->args.count == step->args.items[0].type->rank + 2) ||
                     step->kind == FLOW_SWITCH;
        for (uint32_t j = 0; plain && j < ct_flow_inner_count(step); j++) plain = is_plain(ct_flow_inner(step, j));
        if (!plain) return false;
    }
    return true;
}

static uint32_t count_args(const CtFlowArgs *args, const CtFlowVar *var) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < args->count; i++) count += args->items[i].var == var;
    return count;
}

/* How often a step, and what is inside of it, uses a variable. */
/* Whether neither a later step of a block nor its values use a variable. */
static bool is_last_use(const CtFlowBlock *block, uint32_t at, const CtFlowVar *var) {
    for (uint32_t i = at + 1; i < block->steps.count; i++)
        if (ct_flow_uses_of(block->steps.items[i], var) > 0) return false;
    return count_args(&block->values, var) == 0;
}

/* The last index of an access as the loop's index and a shift; the other indices must come from outside. */
static bool is_beside(const ShiftedSums *p, const CtFlowStep *update, CtFlowShift *shift) {
    const CtFlowVar *index = p->loop->as.loop.block->params.items[0];
    uint32_t last = update->args.count - 2;
    for (uint32_t i = 1; i < last; i++)
        if (!is_outside(p, &update->args.items[i])) return false;
    const CtFlowArg *at = &update->args.items[last];
    *shift = (CtFlowShift){0};
    if (at->var == NULL || at->var == index) return at->var == index;
    const CtFlowStep *made = ct_flow_maker(&p->facts, at, FLOW_PRIM);
    if (made == NULL || (made->as.prim != PRIM_INT_ADD && made->as.prim != PRIM_INT_SUB)) return false;
    bool back = made->as.prim == PRIM_INT_SUB;
    uint32_t which = back || made->args.items[0].var == index ? 0 : 1;
    const CtFlowArg *by = &made->args.items[1 - which];
    if (made->args.items[which].var != index || !is_outside(p, by)) return false;
    *shift = (CtFlowShift){.by = *by, .back = back};
    return true;
}

/* Whether an update adds a value to the element that `read` reads, and notes the place. */
static bool match_place(ShiftedSums *p, const CtFlowStep *read, const CtFlowStep *update, bool in_branch) {
    Place place = {.update = update, .in_branch = in_branch};
    if (read == NULL || p->places.count == MOST || !is_beside(p, update, &place.shift)) return false;
    for (uint32_t i = 0; i < read->args.count; i++)
        if (!ct_flow_same(&read->args.items[i], &update->args.items[i])) return false;
    const CtFlowStep *sum = ct_flow_maker(&p->facts, &update->args.items[update->args.count - 1], FLOW_PRIM);
    if (!ct_flow_is_prim(sum, PRIM_ADD) || sum->results.items[0]->type->kind != FLOW_F64) return false;
    uint32_t which = sum->args.items[0].var == read->results.items[0] ? 0 : 1;
    if (sum->args.items[which].var != read->results.items[0] || p->uses[read->results.items[0]->id] != 1) return false;
    if (p->uses[sum->results.items[0]->id] != 1) return false;
    place.value = sum->args.items[1 - which];
    ct_push(p->arena, &p->places, place);
    ct_push(p->arena, &p->gone, read);
    ct_push(p->arena, &p->gone, sum);
    ct_push(p->arena, &p->gone, update);
    return true;
}

static bool match_block(ShiftedSums *p, const CtFlowBlock *block, const CtFlowVar *array, const CtFlowArg *end,
                        bool in_branch);

/* The result of a switch that is the array behind it, if its branches only add to the array; NULL otherwise. */
static const CtFlowVar *match_switch(ShiftedSums *p, CtFlowStep *step, const CtFlowVar *array) {
    uint32_t places = p->places.count, gone = p->gone.count, choices = p->choices.count;
    if (count_args(&step->args, array) > 0) return NULL;
    for (uint32_t which = 0; which < step->results.count; which++) {
        const CtFlowVar *result = step->results.items[which];
        bool matches = result != NULL && result->type == array->type;
        for (uint32_t i = 0; matches && i < step->as.cases.count; i++) {
            const CtFlowBlock *branch = step->as.cases.branches[i].block;
            matches = match_block(p, branch, array, &branch->values.items[which], true);
        }
        if (matches) {
            ct_push(p->arena, &p->choices, ((Choice){step, which}));
            return result;
        }
        p->places.count = places;
        p->gone.count = gone;
        p->choices.count = choices;
    }
    return NULL;
}

/* Whether a block does nothing with an array but add to its elements, and `end` is the array then. */
static bool match_block(ShiftedSums *p, const CtFlowBlock *block, const CtFlowVar *array, const CtFlowArg *end,
                        bool in_branch) {
    const CtFlowStep *read = NULL;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        uint32_t used = ct_flow_uses_of(step, array);
        if (used == 0) continue;
        if (step->kind == FLOW_READ && read == NULL) {
            read = step;
        } else if (step->kind == FLOW_UPDATE && used == 1 && step->args.items[0].var == array) {
            if (!is_last_use(block, i, array) || !match_place(p, read, step, in_branch)) return false;
            array = step->results.items[0];
            read = NULL;
        } else if (step->kind == FLOW_SWITCH && read == NULL) {
            const CtFlowVar *behind = is_last_use(block, i, array) ? match_switch(p, step, array) : NULL;
            if (behind == NULL) return false;
            array = behind;
        } else {
            return false;
        }
    }
    return read == NULL && end->var == array && count_args(&block->values, array) == 1;
}

static bool same_place(const Place *a, const Place *b) {
    for (uint32_t i = 1; i + 1 < a->update->args.count; i++)
        if (!ct_flow_same(&a->update->args.items[i], &b->update->args.items[i])) return false;
    return true;
}

/* Whether a loop adds to one of its carried arrays at several places, or in a branch. */
static bool is_wanted(ShiftedSums *p, const CtFlowStep *loop, uint32_t carried) {
    const CtFlowBlock *body = loop->as.loop.block;
    const CtFlowVar *array = body->params.items[1 + carried];
    if (array->type->kind != FLOW_ARRAY || array->type->element->kind != FLOW_F64) return false;
    p->places.count = p->gone.count = p->choices.count = 0;
    if (!match_block(p, body, array, &body->values.items[carried], false) || p->places.count == 0) return false;
    bool several = p->places.items[0].in_branch;
    for (uint32_t i = 1; i < p->places.count; i++)
        several |= p->places.items[i].in_branch || !same_place(&p->places.items[0], &p->places.items[i]);
    return several;
}

/* ---- the loop without the array ---- */

static bool is_gone(const ShiftedSums *p, const CtFlowStep *step) {
    for (uint32_t i = 0; i < p->gone.count; i++)
        if (p->gone.items[i] == step) return true;
    return false;
}

static const Choice *choice_of(const ShiftedSums *p, const CtFlowStep *step) {
    for (uint32_t i = 0; i < p->choices.count; i++)
        if (p->choices.items[i].step == step) return &p->choices.items[i];
    return NULL;
}

static void leave_out(ShiftedSums *p, CtFlowBlock *block, uint32_t *next);

/* A switch gives the terms of the places in its branches, −0 where another branch is taken, instead of the array. */
static void give_terms(ShiftedSums *p, const Choice *choice, uint32_t *next) {
    CtFlowStep *step = choice->step;
    const CtFlowType *number = step->results.items[choice->which]->type->element;
    uint32_t first = *next, from = first;
    for (uint32_t i = 0; i < step->as.cases.count; i++) {
        leave_out(p, step->as.cases.branches[i].block, next);
        for (uint32_t j = 0; j < step->as.cases.count; j++) {
            CtFlowArgs *values = &step->as.cases.branches[j].block->values;
            for (uint32_t k = from; k < *next; k++)
                ct_push(p->arena, values, i == j ? p->places.items[k].value : ct_flow_real(number, -0.0));
        }
        from = *next;
    }
    for (uint32_t k = first; k < *next; k++) p->places.items[k].value = ct_flow_result(&p->b, step, "term", number);
    ct_flow_remove_var(p->arena, &step->results, choice->which);
    for (uint32_t j = 0; j < step->as.cases.count; j++)
        ct_flow_remove_arg(p->arena, &step->as.cases.branches[j].block->values, choice->which);
}

/* Drops from a block what adds to the array; `next` counts the places. */
static void leave_out(ShiftedSums *p, CtFlowBlock *block, uint32_t *next) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        const Choice *choice = choice_of(p, step);
        if (choice != NULL) give_terms(p, choice, next);
        if (step == (*next < p->places.count ? p->places.items[*next].update : NULL)) ++*next;
        if (!is_gone(p, step)) block->steps.items[kept++] = step;
    }
    block->steps.count = kept;
}

/* ---- the loops over the places ---- */

/* Whether the indices in front of the last one are in the array, as a number of iterations: all of these or none. */
static CtFlowArg in_range(ShiftedSums *p, const CtFlowStep *update, CtFlowArg array, CtFlowArg count) {
    CtFlowBuilder *b = &p->b;
    CtFlowArg none = ct_flow_int(b, 0);
    for (uint32_t i = 1; i + 2 < update->args.count; i++) {
        CtFlowArg index = update->args.items[i], length = ct_flow_dim(b, update->range, array, i - 1);
        CtFlowArg below = ct_flow_prim_int(b, update->range, PRIM_INT_LT, index, none);
        count = ct_flow_choose(b, update->range, below, none, count);
        CtFlowArg inside = ct_flow_prim_int(b, update->range, PRIM_INT_LT, index, length);
        count = ct_flow_choose(b, update->range, inside, count, none);
    }
    return count;
}

/* Adds term i to element i + shift of the array's last dimension, for all i for which there is such an element. */
static CtFlowArg add_terms(ShiftedSums *p, const Place *place, CtFlowArg n, CtFlowArg terms, CtFlowArg array) {
    CtFlowBuilder *b = &p->b;
    CtSourceRange range = place->update->range;
    uint32_t rank = array.type->rank;
    CtFlowArg zero = ct_flow_int(b, 0), shift = place->shift.by;
    if (ct_flow_is_none(shift)) shift = zero;
    CtFlowArg back = place->shift.back ? shift : ct_flow_prim_int(b, range, PRIM_INT_SUB, zero, shift);
    /* What is shifted by more than there are elements is all outside; the numbers below must not wrap. */
    CtFlowArg length = ct_flow_dim(b, range, array, rank - 1);
    CtFlowArg least = ct_flow_prim_int(b, range, PRIM_INT_SUB, zero, length);
    back = ct_flow_prim_int(b, range, PRIM_INT_MAX, least, ct_flow_prim_int(b, range, PRIM_INT_MIN, back, n));
    CtFlowArg first = ct_flow_prim_int(b, range, PRIM_INT_MAX, zero, back);
    CtFlowArg end = ct_flow_prim_int(b, range, PRIM_INT_MIN, n, ct_flow_prim_int(b, range, PRIM_INT_ADD, length, back));
    CtFlowArg count =
        ct_flow_prim_int(b, range, PRIM_INT_MAX, zero, ct_flow_prim_int(b, range, PRIM_INT_SUB, end, first));
    CtFlowArg to = ct_flow_prim_int(b, range, PRIM_INT_SUB, first, back);
    CtFlowArgs start = {0}, after = {0}, indices = {0};
    ct_push(p->arena, &start, array);
    CtFlowLooping loop = ct_flow_loop_begin(b, range, in_range(p, place->update, array, count), &start);
    CtFlowArg from = ct_flow_prim_int(b, range, PRIM_INT_ADD, loop.index, first);
    for (uint32_t i = 1; i < rank; i++) ct_push(p->arena, &indices, place->update->args.items[i]);
    ct_push(p->arena, &indices, ct_flow_prim_int(b, range, PRIM_INT_ADD, loop.index, to));
    CtFlowArg element = ct_flow_read(b, range, loop.carried.items[0], indices.items, rank);
    CtFlowArg term = ct_flow_read(b, range, terms, &from, 1);
    CtFlowArg sum = ct_flow_prim(b, range, PRIM_ADD, element.type, element, term);
    ct_push(p->arena, &after, ct_flow_update(b, range, loop.carried.items[0], indices.items, rank, sum));
    return ct_flow_loop_end(b, &loop, &after, NULL, NULL).items[0];
}

/* Writes a loop without one of its carried arrays, and behind it the loops that add to that: the array then. */
static CtFlowArg split(ShiftedSums *p, CtFlowStep *loop, uint32_t carried) {
    CtFlowBlock *body = loop->as.loop.block;
    CtFlowArg array = loop->args.items[1 + carried], n = loop->args.items[0];
    uint32_t next = 0;
    ct_flow_remove_arg(p->arena, &loop->args, 1 + carried);
    ct_flow_remove_var(p->arena, &loop->results, carried);
    ct_flow_remove_var(p->arena, &body->params, 1 + carried);
    ct_flow_remove_arg(p->arena, &body->values, carried);
    loop->as.loop.carried--;
    leave_out(p, body, &next);
    const CtFlowType *vector = ct_flow_array(p->flow, 1, array.type->element);
    uint32_t before = loop->results.count;
    for (uint32_t i = 0; i < p->places.count; i++) {
        ct_push(p->arena, &body->values, p->places.items[i].value);
        ct_flow_result(&p->b, loop, "terms", vector);
    }
    for (uint32_t i = 0; i < p->places.count; i++)
        array = add_terms(p, &p->places.items[i], n, flow_of(loop->results.items[before + i]), array);
    return array;
}

/* All carried arrays of a loop to which it adds so: the loop's results then. */
static CtFlowArgs split_all(ShiftedSums *p, CtFlowStep *loop) {
    CtFlowArgs results = {0};
    uint32_t kept = 0, all = loop->results.count, carried = loop->as.loop.carried;
    for (uint32_t i = 0; i < all; i++) {
        bool wanted = i < carried && is_wanted(p, loop, kept);
        ct_push(p->arena, &results, wanted ? split(p, loop, kept) : flow_of(loop->results.items[kept]));
        kept += !wanted;
    }
    return results;
}

/* Writes a loop as the choice between itself and one that is split. */
static void choose(ShiftedSums *p, CtFlowStep *loop) {
    CtFlowBuilder *b = &p->b;
    CtSourceRange range = loop->range;
    CtFlowVars results = loop->results;
    CtFlowBlock few = {.exit = EXIT_YIELD, .range = range};
    ct_push(p->arena, &few.steps, loop);
    for (uint32_t i = 0; i < results.count; i++) ct_push(p->arena, &few.values, flow_of(results.items[i]));
    CtFlowCopy copy = {.flow = p->flow, .into = b->function, .place = CT_NO_RANGE};
    CtFlowBlock *small = ct_flow_copy_block(&copy, &few);
    CtFlowArg is_small = ct_flow_prim_int(b, range, PRIM_INT_LT, loop->args.items[0], ct_flow_int(b, LEAST));
    loop->results = (CtFlowVars){0};
    for (uint32_t i = 0; i < results.count; i++)
        ct_push(p->arena, &loop->results, ct_flow_var(b, results.items[i]->name, results.items[i]->type));
    CtFlowChoosing choice = ct_flow_switch_begin(b, range, is_small);
    ct_flow_case_begin(b, &choice, 1);
    b->block->steps.items = small->steps.items;
    b->block->steps.count = small->steps.count;
    b->block->steps.capacity = small->steps.capacity;
    ct_flow_case_end(b, &choice, &small->values);
    ct_flow_case_begin(b, &choice, 0);
    ct_push(p->arena, &b->block->steps, loop);
    CtFlowArgs split = split_all(p, loop);
    ct_flow_case_end(b, &choice, &split);
    ct_flow_switch_end(b, &choice);
    choice.step->results = results;
}

/* ---- the walk ---- */

static bool is_candidate(ShiftedSums *p, const CtFlowStep *loop, uint32_t depth) {
    const CtFlowBlock *body = loop->as.loop.block;
    const CtFlowArg *count = &loop->args.items[0];
    if (loop->as.loop.initial || !is_plain(body) || ct_flow_size(body) > LARGEST) return false;
    if (count->var == NULL && count->lit.integer < LEAST) return false;
    p->loop = loop;
    p->depth = depth;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++)
        if (is_wanted(p, loop, i)) return true;
    return false;
}

static void visit(ShiftedSums *p, CtFlowBlock *block, uint32_t depth) {
    bool found = false;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(p, ct_flow_inner(step, j), depth + 1);
        found = found || (step->kind == FLOW_LOOP && is_candidate(p, step, depth));
    }
    if (!found) return;
    CtFlowBlock old = ct_flow_reopen(block);
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        p->b.block = block;
        if (step->kind == FLOW_LOOP && is_candidate(p, step, depth) && CT_FIRED("shifted_sums.loop"))
            choose(p, step);
        else
            ct_push(p->arena, &block->steps, step);
    }
    block->exit = old.exit;
    block->values = old.values;
    block->tail = old.tail;
    block->range = old.range;
}

void ct_flow_shifted_sums(CtFlow *flow) {
    if (flow->exact) return;
    ShiftedSums p = {.flow = flow, .arena = flow->arena};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        ct_flow_facts_begin(&p.facts, flow, function);
        p.uses = ct_flow_count_uses(flow, function);
        p.b = (CtFlowBuilder){flow, flow->arena, function, NULL};
        visit(&p, function->body, 0);
    }
}
