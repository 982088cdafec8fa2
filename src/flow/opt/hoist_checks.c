/* Check hoisting. Checks that are the same in each iteration of a loop move in front of it, out of inner loops and
 * branches, so that the loop cannot fail, and can be fused or moved. What moves is a copy of the first iteration, which
 * drop_dead reduces to what these checks need; hoist.c moves whole steps.
 *
 *     loop n do i                   some = intLt 0 n
 *       … loop m do j        →      switch some { case 1: loop m do j { check 0 of j, xs }; yield  else: yield }
 *           check 0 of j, xs        loop n do i
 *           …                         … loop m do j …
 *
 * Checks in front of them that depend on the iteration are copied with them, and stay: so the first failure of the
 * program stays the first. They must be cheap, and the checks moved are those before the first one that is not.
 *
 * Where a loop fails by checks of its own index alone, against lengths from outside, it does so at the least of these
 * lengths, or not at all:
 *
 *     loop n do i                   d = dim 0 xs
 *       check 0 of i, xs     →      switch intLt d n { case 1: check 0 of d, xs; yield  else: yield }
 *       …                           loop n do i …
 *
 * Of an index k + i it is the least of max 0 (d - k), or of 0 if k is negative. */
#include "flow/opt/passes.h"

enum { PATIENCE = 100 }; /* bound of the search through the definitions of one argument */

typedef struct Split {
    CtFlow *flow;
    CtArena *arena;
    CtFlowFunction *function;
    CtFlowEffects effects;
    CtFlowFacts facts;
    const CtFlowStep *loop; /* the current loop */
    uint32_t depth;         /* nesting depth of its block */
    int patience;
} Split;

typedef CT_VEC(CtFlowStep *) Steps;

/* ---- which checks ---- */

static bool is_same(Split *s, const CtFlowArg *arg);
static bool has_same_length(Split *s, const CtFlowArg *array);

static bool are_same(Split *s, const CtFlowArgs *args) {
    for (uint32_t i = 0; i < args->count; i++)
        if (!is_same(s, &args->items[i])) return false;
    return true;
}

/* Whether a value is loop-invariant and cheap. In a loop inside it must be the same for equal iterations of that
 * loop. */
static bool is_same(Split *s, const CtFlowArg *arg) {
    const CtFlowFact *fact = ct_flow_fact(&s->facts, arg);
    if (arg->var == NULL || fact->depth <= s->depth) return true;
    if (fact->loop != NULL) return fact->index == 0 && fact->loop != s->loop;
    const CtFlowStep *made = fact->maker;
    if (made == NULL || s->patience-- <= 0 || !ct_flow_is_total(&s->effects, made)) return false;
    if (made->kind == FLOW_DIM && made->as.index == 0 && has_same_length(s, &made->args.items[0])) return true;
    bool cheap = made->kind == FLOW_PRIM || made->kind == FLOW_DIM ||
                 (made->kind == FLOW_READ && !ct_flow_is_object(made->results.items[0]->type));
    return cheap && are_same(s, &made->args);
}

/* Whether the row or vector has as many elements in all iterations. */
static bool has_same_length(Split *s, const CtFlowArg *array) {
    const CtFlowFact *fact = ct_flow_fact(&s->facts, array);
    const CtFlowStep *made = fact->maker;
    if (array->var == NULL || fact->depth <= s->depth) return true;
    if (made == NULL || s->patience-- <= 0) return false;
    if (ct_flow_is_items(made)) return true;
    if (ct_flow_is_bulk(made, ARRAY_APPEND))
        return array->type->rank == 1 && has_same_length(s, &made->args.items[0]) &&
               has_same_length(s, &made->args.items[1]);
    if (made->kind != FLOW_READ) return false;
    const CtFlowArg *whole = &made->args.items[0]; /* all rows of a matrix have one length */
    return whole->type->rank == made->args.count - 1 + array->type->rank &&
           ct_flow_fact(&s->facts, whole)->depth <= s->depth;
}

static bool can_go(Split *s, const CtFlowStep *step);

/* Whether a block does nothing but make the text of a failure, and fail. */
static bool only_fails(const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        bool makes_text = step->kind == FLOW_STRING || step->kind == FLOW_CONSTANT || step->kind == FLOW_DIM ||
                          (step->kind == FLOW_CALL && step->as.function->is_cold_path);
        if (!makes_text && step->kind != FLOW_FAIL) return false;
    }
    return block->steps.count > 0;
}

/* Whether everything in a block that can fail is a check that may move. In a branch that only fails, that is its
 * failure, whose text is that of the first iteration. */
static bool block_can_go(Split *s, const CtFlowBlock *block) {
    if (block->exit == EXIT_NEVER) return only_fails(block);
    for (uint32_t i = 0; i < block->steps.count; i++)
        if (!ct_flow_is_total(&s->effects, block->steps.items[i]) && !can_go(s, block->steps.items[i])) return false;
    return block->exit == EXIT_YIELD;
}

/* A branch that fails moves with its switch; the switch must have no results then. */
static bool may_fail_in_branch(const CtFlowStep *choice) {
    for (uint32_t i = 0; i < choice->as.cases.count; i++)
        if (choice->as.cases.branches[i].block->exit == EXIT_NEVER) return true;
    return false;
}

/* Whether a check looks at the first length of arrays. */
static bool is_of_lengths(const CtFlowStep *step) {
    bool of_first = step->kind == FLOW_CHECK && step->as.index == 0;
    return of_first || step->kind == FLOW_CHECK_ZIP || step->kind == FLOW_CHECK_SLICE;
}

/* Whether a check looks at the same in all iterations. */
static bool looks_at_the_same(Split *s, const CtFlowStep *check) {
    for (uint32_t i = 0; i < check->args.count; i++) {
        const CtFlowArg *arg = &check->args.items[i];
        bool array = is_of_lengths(check) && arg->type->kind == FLOW_ARRAY;
        if (array ? !has_same_length(s, arg) : !is_same(s, arg)) return false;
    }
    return true;
}

static bool can_go(Split *s, const CtFlowStep *step) {
    s->patience = PATIENCE;
    if (ct_flow_is_check(step)) return looks_at_the_same(s, step);
    if (step->kind == FLOW_LOOP) {
        if (step->as.loop.initial || ct_flow_step_fails(step)) return false;
    } else if (step->kind == FLOW_SWITCH) {
        if (step->results.count > 0 && may_fail_in_branch(step)) return false;
    } else {
        return false;
    }
    if (!is_same(s, &step->args.items[0])) return false;
    for (uint32_t i = 0; i < ct_flow_inner_count(step); i++)
        if (!block_can_go(s, ct_flow_inner(step, i))) return false;
    return true;
}

/* Whether a value of the first iteration costs little to be computed twice. */
static bool is_cheap(Split *s, const CtFlowArg *arg) {
    const CtFlowFact *fact = ct_flow_fact(&s->facts, arg);
    const CtFlowStep *made = fact->maker;
    if (arg->var == NULL || fact->depth <= s->depth || fact->loop == s->loop) return true;
    if (made == NULL || s->patience-- <= 0) return false;
    if (made->kind != FLOW_PRIM && made->kind != FLOW_DIM && made->kind != FLOW_READ) return false;
    for (uint32_t i = 0; i < made->args.count; i++)
        if (!is_cheap(s, &made->args.items[i])) return false;
    return true;
}

/* Whether a check that depends on the iteration may be made for the first one in front of the loop, too. */
static bool can_be_repeated(Split *s, const CtFlowStep *step) {
    s->patience = PATIENCE;
    if (!ct_flow_is_check(step)) return false;
    for (uint32_t i = 0; i < step->args.count; i++)
        if (!is_cheap(s, &step->args.items[i])) return false;
    return true;
}

/* The number of steps in the loop's block up to the last check that moves; 0: nothing moves. */
static uint32_t steps_that_go(Split *s, const CtFlowBlock *block) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (ct_flow_is_total(&s->effects, step)) continue;
        if (can_go(s, step))
            count = i + 1;
        else if (!can_be_repeated(s, step))
            break;
    }
    return count;
}

/* ---- taking them out ---- */

static CtFlowStep *new_step(Split *s, CtFlowStepKind kind, CtSourceRange range, Steps *to) {
    CtFlowStep *step = CT_NEW(s->arena, CtFlowStep);
    step->kind = kind;
    step->range = range;
    ct_push(s->arena, to, step);
    return step;
}

/* The number of elements of an array that has as many in all iterations, by what is outside of the loop. */
static CtFlowArg same_length(Split *s, CtFlowBuilder *b, CtSourceRange range, const CtFlowArg *array) {
    const CtFlowFact *fact = ct_flow_fact(&s->facts, array);
    const CtFlowStep *made = fact->maker;
    if (array->var == NULL || fact->depth <= s->depth) return ct_flow_dim(b, range, *array, 0);
    if (made->kind == FLOW_READ) return ct_flow_dim(b, range, made->args.items[0], made->args.count - 1);
    if (!ct_flow_is_bulk(made, ARRAY_APPEND)) return ct_flow_int(b, made->args.count);
    CtFlowArg first = same_length(s, b, range, &made->args.items[0]);
    return ct_flow_prim_int(b, range, PRIM_INT_ADD, first, same_length(s, b, range, &made->args.items[1]));
}

/* Copies the first `count` steps of the loop's first iteration. Lengths of rows are those of the rows' array, so that
 * the rows need not be made. */
static void copy_first_iteration(Split *s, const CtFlowStep *loop, uint32_t count, Steps *to) {
    const CtFlowBlock *block = loop->as.loop.block;
    CtFlowBlock front = {0};
    CtFlowCopy copy = {.flow = s->flow, .into = s->function};
    CtFlowBuilder b = {s->flow, s->arena, s->function, &front};
    ct_flow_copy_stands(&copy, block->params.items[0], (CtFlowArg){.type = s->facts.integer});
    for (uint32_t i = 1; i < block->params.count; i++)
        ct_flow_copy_stands(&copy, block->params.items[i], loop->args.items[i]);
    for (uint32_t i = 0; i < count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        s->patience = PATIENCE;
        if (step->kind == FLOW_DIM && step->as.index == 0 && has_same_length(s, &step->args.items[0])) {
            CtFlowArg length = same_length(s, &b, step->range, &step->args.items[0]);
            ct_flow_copy_stands(&copy, step->results.items[0], length);
            continue;
        }
        CtFlowStep *again = ct_flow_copy_step(&copy, step);
        for (uint32_t j = 0; is_of_lengths(step) && j < step->args.count; j++) {
            const CtFlowArg *array = &step->args.items[j];
            if (array->type->kind == FLOW_ARRAY && has_same_length(s, array))
                again->args.items[j] = same_length(s, &b, step->range, array);
        }
        ct_push(s->arena, &front.steps, again);
    }
    for (uint32_t i = 0; i < front.steps.count; i++) ct_push(s->arena, to, front.steps.items[i]);
}

/* Removes the checks among the first `count` steps, but for those that stay; `stays` may be NULL. */
static void remove_checks(CtFlowBlock *block, uint32_t count, const bool *stays) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (i < count && (stays == NULL || !stays[i])) {
            if (ct_flow_is_check(step) && CT_FIRED("hoist_checks.check")) continue;
            if (step->kind == FLOW_SWITCH && may_fail_in_branch(step) && CT_FIRED("hoist_checks.failing_branch"))
                continue;
            for (uint32_t j = 0; j < ct_flow_inner_count(step); j++)
                remove_checks(ct_flow_inner(step, j), ct_flow_inner(step, j)->steps.count, NULL);
        }
        block->steps.items[kept++] = step;
    }
    block->steps.count = kept;
}

static CtFlowBlock *branch(Split *s, CtFlowStep *choice, uint32_t index, uint32_t tag) {
    CtFlowBlock *block = CT_NEW(s->arena, CtFlowBlock);
    block->exit = EXIT_YIELD;
    block->range = choice->range;
    choice->as.cases.branches[index] = (CtFlowBranch){tag, block};
    return block;
}

/* Puts steps into a branch for the case that the loop has an iteration. */
static void ask(Split *s, const CtFlowStep *loop, const Steps *steps, Steps *out) {
    CtFlowStep *test = new_step(s, FLOW_PRIM, loop->range, out), *choice = new_step(s, FLOW_SWITCH, loop->range, out);
    CtFlowVar *some = ct_flow_fresh(s->flow, s->function, "some", s->facts.integer);
    test->as.prim = PRIM_INT_LT;
    ct_push(s->arena, &test->args, (CtFlowArg){.type = s->facts.integer});
    ct_push(s->arena, &test->args, loop->args.items[0]);
    ct_push(s->arena, &test->results, some);
    ct_push(s->arena, &choice->args, flow_of(some));
    choice->as.cases.count = 2;
    choice->as.cases.branches = CT_NEW_ARRAY(s->arena, CtFlowBranch, 2);
    CtFlowBlock *yes = branch(s, choice, 0, 1);
    branch(s, choice, 1, 0);
    for (uint32_t i = 0; i < steps->count; i++) ct_push(s->arena, &yes->steps, steps->items[i]);
}

static void split(Split *s, CtFlowStep *loop, Steps *out) {
    const CtFlowArg *iterations = &loop->args.items[0];
    s->loop = loop;
    uint32_t count = loop->as.loop.initial ? 0 : steps_that_go(s, loop->as.loop.block);
    if (count == 0 || (iterations->var == NULL && iterations->lit.integer <= 0)) return;
    Steps iteration = {0};
    bool *stays = CT_NEW_ARRAY(s->arena, bool, count);
    for (uint32_t i = 0; i < count; i++) {
        const CtFlowStep *step = loop->as.loop.block->steps.items[i];
        stays[i] = ct_flow_is_check(step) && !can_go(s, step) && CT_FIRED("hoist_checks.repeated");
    }
    CT_FIRED("hoist_checks.loop");
    copy_first_iteration(s, loop, count, iterations->var == NULL ? out : &iteration);
    if (iterations->var != NULL && CT_FIRED("hoist_checks.asked")) ask(s, loop, &iteration, out);
    remove_checks(loop->as.loop.block, count, stays);
}

/* ---- checks of the index ---- */

/* What a check's index is beside the loop's own, i or k + i: a number from outside; without a type: it is another one.
 */
static CtFlowArg offset_of(const Split *s, const CtFlowStep *loop, const CtFlowStep *check) {
    const CtFlowVar *index = loop->as.loop.block->params.items[0];
    const CtFlowArg *of = &check->args.items[0];
    if (of->var == index) return (CtFlowArg){.type = s->facts.integer};
    const CtFlowStep *sum = ct_flow_maker(&s->facts, of, FLOW_PRIM);
    if (!ct_flow_is_prim(sum, PRIM_INT_ADD)) return ct_flow_none();
    for (uint32_t i = 0; i < 2; i++) {
        const CtFlowArg *other = &sum->args.items[1 - i];
        if (sum->args.items[i].var == index && ct_flow_fact(&s->facts, other)->depth <= s->depth) return *other;
    }
    return ct_flow_none();
}

static bool checks_index(const Split *s, const CtFlowStep *loop, const CtFlowStep *step) {
    return step->kind == FLOW_CHECK && !ct_flow_is_none(offset_of(s, loop, step)) &&
           ct_flow_fact(&s->facts, &step->args.items[1])->depth <= s->depth;
}

/* Whether a loop has such checks, and nothing else that can fail. */
static bool only_checks_index(Split *s, const CtFlowStep *loop) {
    const CtFlowBlock *block = loop->as.loop.block;
    bool any = false;
    if (loop->as.loop.initial || ct_flow_step_fails(loop)) return false;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (ct_flow_is_total(&s->effects, step)) continue;
        if (!checks_index(s, loop, step)) return false;
        any = true;
    }
    return any;
}

/* The first iteration in which a check of k + i fails. */
static CtFlowArg first_failure(Split *s, CtFlowBuilder *b, const CtFlowStep *check, CtFlowArg offset) {
    const CtFlowArg *of = &check->args.items[1];
    CtFlowArg length = of->type->kind == FLOW_I64 ? *of : ct_flow_dim(b, check->range, *of, check->as.index);
    if (ct_flow_is_int(&offset, 0)) return length;
    CT_FIRED("hoist_checks.offset");
    CtFlowArg zero = ct_flow_int(b, 0), rest = ct_flow_prim_int(b, check->range, PRIM_INT_SUB, length, offset);
    rest = ct_flow_prim_int(b, check->range, PRIM_INT_MAX, rest, zero);
    if (ct_flow_is_natural(&s->facts, &offset)) return rest;
    return ct_flow_choose(b, check->range, ct_flow_prim_int(b, check->range, PRIM_INT_LT, offset, zero), zero, rest);
}

/* Puts one comparison with the least of the lengths in front of a loop, and the checks behind it. */
static void compare_lengths(Split *s, CtFlowStep *loop, Steps *out) {
    if (!only_checks_index(s, loop)) return;
    CtFlowBlock *body = loop->as.loop.block, front = {0};
    CtFlowBuilder b = {s->flow, s->arena, s->function, &front};
    CtFlowArg least = ct_flow_none();
    CtFlowArgs offsets = {0};
    Steps checks = {0};
    for (uint32_t i = 0; i < body->steps.count; i++) {
        CtFlowStep *step = body->steps.items[i];
        if (!checks_index(s, loop, step)) continue;
        ct_push(s->arena, &offsets, offset_of(s, loop, step));
        CtFlowArg place = first_failure(s, &b, step, offsets.items[checks.count]);
        least = checks.count > 0 ? ct_flow_prim_int(&b, step->range, PRIM_INT_MIN, least, place) : place;
        ct_push(s->arena, &checks, step);
    }
    remove_checks(body, body->steps.count, NULL);
    CtFlowArg fails = ct_flow_prim_int(&b, loop->range, PRIM_INT_LT, least, loop->args.items[0]);
    CtFlowChoosing choice = ct_flow_switch_begin(&b, loop->range, fails);
    ct_flow_case_begin(&b, &choice, 1);
    for (uint32_t i = 0; i < checks.count; i++) {
        CtFlowArg offset = offsets.items[i], place = least;
        if (!ct_flow_is_int(&offset, 0))
            place = ct_flow_prim_int(&b, checks.items[i]->range, PRIM_INT_ADD, offset, least);
        checks.items[i]->args.items[0] = place;
        ct_push(s->arena, &b.block->steps, checks.items[i]);
    }
    ct_flow_case_end(&b, &choice, &(CtFlowArgs){0});
    ct_flow_case_begin(&b, &choice, 0);
    ct_flow_case_end(&b, &choice, &(CtFlowArgs){0});
    ct_flow_switch_end(&b, &choice);
    CT_FIRED("hoist_checks.length");
    for (uint32_t i = 0; i < front.steps.count; i++) ct_push(s->arena, out, front.steps.items[i]);
}

/* Inner loops first: what stands in front of one may move on. */
static void visit_lengths(Split *s, CtFlowBlock *block, uint32_t depth) {
    Steps out = {0};
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit_lengths(s, ct_flow_inner(step, j), depth + 1);
        s->depth = depth;
        if (step->kind == FLOW_LOOP && step->as.loop.block->exit == EXIT_YIELD) compare_lengths(s, step, &out);
        ct_push(s->arena, &out, step);
    }
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
}

/* ---- the walk ---- */

/* Outer loops first, so that checks move as far out as possible. */
static void visit(Split *s, CtFlowBlock *block, uint32_t depth) {
    Steps out = {0};
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        s->depth = depth;
        if (step->kind == FLOW_LOOP && step->as.loop.block->exit == EXIT_YIELD) split(s, step, &out);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(s, ct_flow_inner(step, j), depth + 1);
        ct_push(s->arena, &out, step);
    }
    block->steps.items = out.items;
    block->steps.count = out.count;
    block->steps.capacity = out.capacity;
}

void ct_flow_hoist_checks(CtFlow *flow) {
    Split s = {.flow = flow, .arena = flow->arena, .effects = ct_flow_effects(flow)};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        s.function = flow->functions.items[i];
        ct_flow_facts_begin(&s.facts, flow, s.function);
        visit_lengths(&s, s.function->body, 0);
        ct_flow_facts_begin(&s.facts, flow, s.function);
        visit(&s, s.function->body, 0);
        ct_flow_facts_begin(&s.facts, flow, s.function);
        visit_lengths(&s, s.function->body, 0);
    }
}
