/* Every element but the one at an index. Loops that keep these, as `[x | (i, x) <- zip [0 ..] xs, i /= k]` does, become
 * maps:
 *
 *     y = fold n, [] do i, s:              p = if k < 0 then n else k
 *       ⟨x⟩                                c = n - (p < n)
 *       switch i == k                      y = map c do j:
 *         1: yield s                  →      i = if j < p then j else j + 1
 *         0: yield snoc s, x                 ⟨x⟩
 *                                            yield x
 *
 * So the length of the array is known before it is made, its elements are reads beside the loop's index, and what
 * reads it can be fused with it. What is computed in front of the switch is not computed for the element that is left
 * out, so it must not be able to fail. The memory of the array is asked for at once: an iteration that fails, of a loop
 * that may be long, might not have been reached otherwise.
 *
 * So do the parts in front of it and behind it, `take k xs ++ drop (k + 1) xs`, in functions that call themselves: in a
 * determinant by minors, small_sizes.c then knows the elements, and a matrix and its parts are made by one loop. Of
 * long arrays, which other functions may be given, parts are copied faster as a whole. */
#include "flow/copy.h"
#include "flow/opt/passes.h"

enum { MOST_ELEMENTS = 4096 }; /* where a loop that may fail has a literal trip count */

typedef struct Skipping {
    CtFlow *flow;
    CtFlowFunction *function;
    CtFlowFacts facts;
    CtFlowEffects effects;
    const bool *telling;
    bool calls_itself; /* the function */
    CtFlowBlock *out;  /* in front of the loop */
} Skipping;

/* The branch of a test that is taken where it is true, or is not. */
static CtFlowBlock *branch(const CtFlowStep *choice, bool truth) {
    return choice->as.cases.branches[ct_flow_branch_for(choice, truth)].block;
}

/* Whether a value is the loop's index, or is read there from an array of indices, as `zip [0 ..] xs` makes one. */
static bool is_index(const Skipping *s, const CtFlowBlock *body, const CtFlowArg *value) {
    const CtFlowVar *index = body->params.items[0];
    const CtFlowStep *read = ct_flow_binder(body, value->var);
    if (value->var == index) return true;
    if (read == NULL || read->kind != FLOW_READ || read->args.count != 2 || read->args.items[1].var != index)
        return false;
    const CtFlowFact *fact = ct_flow_fact(&s->facts, &read->args.items[0]);
    const CtFlowStep *map = fact->maker;
    if (map == NULL || map->kind != FLOW_LOOP || map->as.loop.initial || fact->index < map->as.loop.carried)
        return false;
    const CtFlowBlock *items = map->as.loop.block;
    return items->exit == EXIT_YIELD && items->values.items[fact->index].var == items->params.items[0];
}

/* The value that the loop's index is compared with in front of the switch at the end of the body; without a type: there
 * is none that stays the same in the loop. */
static CtFlowArg skipped(const Skipping *s, const CtFlowBlock *body, const CtFlowStep *choice) {
    const CtFlowStep *test = ct_flow_binder(body, choice->args.items[0].var);
    if (!ct_flow_is_prim(test, PRIM_INT_EQ)) return ct_flow_none();
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowArg *other = &test->args.items[1 - i];
        bool stays = other->var == NULL || !ct_flow_binds(body, other->var);
        if (stays && is_index(s, body, &test->args.items[i])) return *other;
    }
    return ct_flow_none();
}

/* Whether one branch yields the carried arrays as they are, and the other each with one element more, which is all that
 * is done with them. */
static bool keeps_the_others(const CtFlowStep *loop, const CtFlowStep *choice) {
    const CtFlowBlock *body = loop->as.loop.block, *skip = branch(choice, true), *keep = branch(choice, false);
    if (skip->exit != EXIT_YIELD || keep->exit != EXIT_YIELD || skip->steps.count > 0) return false;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        const CtFlowVar *array = body->params.items[1 + i];
        const CtFlowStep *snoc = ct_flow_binder(keep, keep->values.items[i].var);
        bool is = body->values.items[i].var == choice->results.items[i] && skip->values.items[i].var == array &&
                  snoc != NULL && snoc->kind == FLOW_SNOC && snoc->args.items[0].var == array;
        if (!is || ct_flow_uses_in(body, array) != 2 || ct_flow_uses_in(keep, snoc->results.items[0]) != 1)
            return false;
    }
    return true;
}

/* Whether steps have no effect that is missed where they are left out. */
static bool may_be_left_out(const Skipping *s, const CtFlowBlock *body) {
    for (uint32_t i = 0; i + 1 < body->steps.count; i++)
        if (!ct_flow_is_total(&s->effects, body->steps.items[i]) || ct_flow_tells(s->telling, body->steps.items[i]))
            return false;
    return true;
}

/* Whether an array of so many elements may be asked for before the loop runs. */
static bool is_bounded(const Skipping *s, const CtFlowArg *count, const CtFlowBlock *keep) {
    if (ct_flow_block_is_total(&s->effects, keep)) return true;
    if (count->var == NULL) return count->lit.integer >= 0 && count->lit.integer <= MOST_ELEMENTS;
    return ct_flow_length_of(&s->facts, *count).array != NULL;
}

/* The switch at the end of a loop that keeps every element but one; NULL: it is another loop. */
static CtFlowStep *last_choice(const Skipping *s, const CtFlowStep *loop) {
    const CtFlowBlock *body = loop->as.loop.block;
    if (loop->as.loop.initial || loop->as.loop.counted || body->exit != EXIT_YIELD || body->steps.count == 0)
        return NULL;
    if (loop->as.loop.carried == 0 || loop->results.count != loop->as.loop.carried) return NULL;
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) {
        const CtFlowStep *start = ct_flow_fact(&s->facts, &loop->args.items[1 + i])->maker;
        if (!ct_flow_is_items(start) || start->args.count > 0 || loop->results.items[i]->type->rank != 1) return NULL;
    }
    CtFlowStep *choice = body->steps.items[body->steps.count - 1];
    if (choice->kind != FLOW_SWITCH || choice->results.count != loop->as.loop.carried) return NULL;
    if (ct_flow_is_none(skipped(s, body, choice)) || !keeps_the_others(loop, choice)) return NULL;
    if (!may_be_left_out(s, body) || !is_bounded(s, &loop->args.items[0], branch(choice, false))) return NULL;
    return choice;
}

/* The steps of a block behind those that are there, but for those that put an element behind a carried array. */
static void take_steps(CtArena *arena, CtFlowBlock *to, const CtFlowBlock *from, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const CtFlowStep *step = from->steps.items[i];
        bool is_grown = false;
        for (uint32_t j = 0; step->kind == FLOW_SNOC && j < from->values.count; j++)
            is_grown |= from->values.items[j].var == step->results.items[0];
        if (!is_grown) ct_push(arena, &to->steps, from->steps.items[i]);
    }
}

static void become_map(Skipping *s, CtFlowStep *loop, const CtFlowStep *choice) {
    CtFlowBlock *body = loop->as.loop.block, *keep = branch(choice, false), before = *body;
    CtSourceRange range = loop->range;
    CtFlowBuilder b = {.flow = s->flow, .arena = s->flow->arena, .function = s->function, .block = s->out};
    CtFlowArg count = loop->args.items[0], place = skipped(s, body, choice), zero = ct_flow_int(&b, 0);
    if (!ct_flow_is_natural(&s->facts, &place))
        place = ct_flow_choose(&b, range, ct_flow_prim_int(&b, range, PRIM_INT_LT, place, zero), count, place);
    CtFlowArg left_out = ct_flow_prim_int(&b, range, PRIM_INT_LT, place, count);
    CtFlowArg kept = ct_flow_prim_int(&b, range, PRIM_INT_SUB, count, left_out);

    CtFlowVar *index = ct_flow_var(&b, "i", count.type);
    ct_flow_reopen(body);
    body->params = (CtFlowVars){0};
    ct_push(b.arena, &body->params, index);
    b.block = body;
    CtFlowArg next = ct_flow_prim_int(&b, range, PRIM_INT_ADD, flow_of(index), ct_flow_int(&b, 1));
    CtFlowArg is_before = ct_flow_prim_int(&b, range, PRIM_INT_LT, flow_of(index), place);
    CtFlowArg element = ct_flow_choose(&b, range, is_before, flow_of(index), next);
    take_steps(b.arena, body, &before, before.steps.count - 1);
    take_steps(b.arena, body, keep, keep->steps.count);
    CtFlowArgs values = {0};
    for (uint32_t i = 0; i < loop->as.loop.carried; i++)
        ct_push(b.arena, &values, ct_flow_binder(keep, keep->values.items[i].var)->args.items[1]);
    ct_flow_leave(&b, EXIT_YIELD, before.range, &values, NULL);
    ct_flow_substitute(body, before.params.items[0], element);

    CtFlowArgs args = {0};
    ct_push(b.arena, &args, kept);
    loop->args = args;
    loop->as.loop.carried = 0;
}

/* ---- two parts ---- */

/* The slice that an array is, of the elements from an index on; NULL: it is none. */
static const CtFlowStep *part_of(const Skipping *s, const CtFlowArg *array) {
    const CtFlowStep *made = ct_flow_fact(&s->facts, array)->maker;
    return ct_flow_is_bulk(made, ARRAY_SLICE) ? made : NULL;
}

static bool is_behind(const Skipping *s, const CtFlowArg *next, const CtFlowArg *index) {
    const CtFlowStep *sum = ct_flow_fact(&s->facts, next)->maker;
    return ct_flow_is_prim(sum, PRIM_INT_ADD) && ct_flow_same(&sum->args.items[0], index) &&
           ct_flow_is_int(&sum->args.items[1], 1);
}

/* Whether a step appends what is behind an element of an array to what is in front of it. */
static bool joins_the_others(const Skipping *s, const CtFlowStep *step) {
    if (!s->calls_itself || !ct_flow_is_bulk(step, ARRAY_APPEND)) return false;
    const CtFlowStep *front = part_of(s, &step->args.items[0]), *behind = part_of(s, &step->args.items[1]);
    if (front == NULL || behind == NULL || !ct_flow_is_int(&front->args.items[0], 0)) return false;
    return ct_flow_same(&front->args.items[2], &behind->args.items[2]) &&
           is_behind(s, &behind->args.items[0], &front->args.items[1]);
}

/* map (k + m) do j: read xs, if j < k then j else j + 1 */
static CtFlowStep *map_of_parts(Skipping *s, const CtFlowStep *step) {
    const CtFlowStep *front = part_of(s, &step->args.items[0]), *behind = part_of(s, &step->args.items[1]);
    CtFlowBuilder b = {.flow = s->flow, .arena = s->flow->arena, .function = s->function, .block = s->out};
    CtFlowArg place = front->args.items[1], all = front->args.items[2];
    CtFlowArg kept = ct_flow_prim_int(&b, step->range, PRIM_INT_ADD, place, behind->args.items[1]);
    CtFlowLooping loop = ct_flow_loop_begin(&b, step->range, kept, &(CtFlowArgs){0});
    CtFlowArg next = ct_flow_prim_int(&b, step->range, PRIM_INT_ADD, loop.index, ct_flow_int(&b, 1));
    CtFlowArg is_before = ct_flow_prim_int(&b, step->range, PRIM_INT_LT, loop.index, place);
    CtFlowArg index = ct_flow_choose(&b, step->range, is_before, loop.index, next);
    CtFlowArgs values = {0};
    ct_push(b.arena, &values, ct_flow_read(&b, step->range, all, &index, 1));
    ct_flow_leave(&b, EXIT_YIELD, step->range, &values, NULL);
    s->out->steps.count--;
    loop.step->results = step->results;
    return loop.step;
}

/* ---- the walk ---- */

static void see_call(void *data, CtFlowFunction *callee, CtSourceRange range, bool tail) {
    Skipping *s = data;
    (void)range, (void)tail;
    s->calls_itself |= callee == s->function;
}

static void visit(Skipping *s, CtFlowBlock *block) {
    CtFlowBlock fresh = {0};
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(s, ct_flow_inner(step, j));
        CtFlowStep *choice = step->kind == FLOW_LOOP ? last_choice(s, step) : NULL;
        s->out = &fresh;
        if (choice != NULL && CT_FIRED("skipped_index.map")) become_map(s, step, choice);
        if (joins_the_others(s, step) && CT_FIRED("skipped_index.parts")) step = map_of_parts(s, step);
        ct_push(s->flow->arena, &fresh.steps, step);
    }
    block->steps.items = fresh.steps.items;
    block->steps.count = fresh.steps.count;
    block->steps.capacity = fresh.steps.capacity;
}

void ct_flow_skipped_index(CtFlow *flow) {
    Skipping s = {.flow = flow, .effects = ct_flow_effects(flow), .telling = ct_flow_telling(flow)};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        s.function = flow->functions.items[i];
        s.calls_itself = false;
        ct_flow_each_call(s.function->body, see_call, &s);
        ct_flow_facts_begin(&s.facts, flow, s.function);
        visit(&s, s.function->body);
    }
}
