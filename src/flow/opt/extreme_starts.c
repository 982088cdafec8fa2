/* Folds that are the extreme of an array and begin with its first or last element, as `foldl1 min` and `foldr1 min` do,
 * go through all elements instead, from the first on:
 *
 *     x0 = read xs, 0                                best = fold n, ∞ do i, b
 *     best = fold n − 1, x0 do i, b                    x = read xs, i
 *       x = read xs, i + 1                      →      yield min b, x
 *       yield min b, x
 *
 * So the loop fuses with the one that makes the array. min ∞ x is x, bit for bit, also if x is ∞ or NaN. Backwards,
 * from the last element on, `min x b` of what is before an element has the first of equals, as `min b x` has forwards;
 * where there is a NaN, both are the first one.
 *
 * The place that the reverse of such a fold asks for (ad/reverse_selections.c), −1 for what it begins with, is found
 * alike: forwards the index of the element, less 1. Backwards the place is counted from the end; and with a NaN it is
 * that of the last iteration, the first element, since no `min x b` has chosen b.
 *
 * So does a fold that chooses by a test, `if best < x then x else best`, and begins with the first element: that is not
 * less than itself.
 *
 * A fold over all elements backwards that begins with something else, `foldr min z`, is min m z, where m is the extreme
 * of the elements; of no elements, that is z. */
#include "flow/opt/passes.h"

#include <math.h>

typedef struct Starts {
    CtFlow *flow;
    CtFlowFacts facts;
    CtFlowBuilder b;
} Starts;

/* A fold that begins with an element of the array that it goes through. */
typedef struct Start {
    const CtFlowStep *read, *best, *choice; /* choice: of the place; or NULL */
    bool backwards, keeps_first;            /* `best` has what is carried first */
    bool all;                               /* it begins with something else */
} Start;

/* Of an Int: i · index + n · length + known, where `length` is that of an array. */
typedef struct Affine {
    int64_t index, length, known;
} Affine;

enum { DEEPEST = 8, LARGEST = 1 << 30 };

static bool find_affine(const Starts *p, const CtFlowArg *arg, const CtFlowArg *array, const CtFlowVar *index,
                        Affine *out, int depth) {
    *out = (Affine){0};
    if (arg->var == NULL) {
        out->known = arg->lit.integer;
        return arg->type->kind == FLOW_I64 && out->known > -LARGEST && out->known < LARGEST;
    }
    if (arg->var == index) {
        out->index = 1;
        return true;
    }
    if (ct_flow_is_long(&p->facts, array, 0, arg)) {
        out->length = 1;
        return true;
    }
    const CtFlowStep *step = ct_flow_maker(&p->facts, arg, FLOW_PRIM);
    bool less = ct_flow_is_prim(step, PRIM_INT_SUB);
    if (depth == 0 || (!less && !ct_flow_is_prim(step, PRIM_INT_ADD))) return false;
    Affine a, b;
    if (!find_affine(p, &step->args.items[0], array, index, &a, depth - 1)) return false;
    if (!find_affine(p, &step->args.items[1], array, index, &b, depth - 1)) return false;
    int64_t sign = less ? -1 : 1;
    *out = (Affine){a.index + sign * b.index, a.length + sign * b.length, a.known + sign * b.known};
    return true;
}

static bool is_affine(const Starts *p, const CtFlowArg *arg, const CtFlowArg *array, const CtFlowVar *index,
                      Affine wanted) {
    Affine found;
    return find_affine(p, arg, array, index, &found, DEEPEST) && found.index == wanted.index &&
           found.length == wanted.length && found.known == wanted.known;
}

static bool yields_only(const CtFlowBlock *block, const CtFlowVar *var) {
    return block->exit == EXIT_YIELD && block->steps.count == 0 && block->values.items[0].var == var;
}

/* Whether the second value that is carried is the index where `best` takes the element, else what it was, from −1 on.
 */
static bool carries_place(const Starts *p, const CtFlowStep *loop, Start *start) {
    const CtFlowBlock *body = loop->as.loop.block;
    const CtFlowStep *choice = start->choice = ct_flow_maker(&p->facts, &body->values.items[1], FLOW_SWITCH);
    if (choice == NULL || choice->as.cases.count != 2 || choice->results.count != 1) return false;
    const CtFlowStep *test = ct_flow_maker(&p->facts, &choice->args.items[0], FLOW_PRIM);
    if (!ct_flow_is_prim(test, PRIM_LT)) return false;
    /* The second argument of `best` is taken only if it is less, or greater. */
    uint32_t second = start->best->as.prim == PRIM_MIN ? 0 : 1;
    const CtFlowBranch *branches = choice->as.cases.branches;
    uint32_t taken = branches[0].tag == 1 ? 0 : 1;
    if (branches[taken].tag != 1) return false;
    const CtFlowVar *here = body->params.items[0], *before = body->params.items[2];
    const CtFlowArg *none = &loop->args.items[2];
    return ct_flow_same(&test->args.items[second], &start->best->args.items[1]) &&
           ct_flow_same(&test->args.items[1 - second], &start->best->args.items[0]) &&
           yields_only(branches[taken].block, start->keeps_first ? here : before) &&
           yields_only(branches[1 - taken].block, start->keeps_first ? before : here) && none->var == NULL &&
           none->lit.integer == -1;
}

/* Whether the steps of the body are those that have been found, and what computes the index. */
static bool has_no_other_steps(const CtFlowBlock *body, const Start *start) {
    for (uint32_t i = 0; i < body->steps.count; i++) {
        const CtFlowStep *step = body->steps.items[i];
        bool known = step == start->read || step == start->best || step == start->choice;
        bool adds = ct_flow_is_prim(step, PRIM_INT_ADD) || ct_flow_is_prim(step, PRIM_INT_SUB);
        if (!known && !adds && !(start->choice != NULL && ct_flow_is_prim(step, PRIM_LT))) return false;
    }
    return true;
}

static bool find_start(const Starts *p, const CtFlowStep *loop, Start *start) {
    *start = (Start){0};
    if (loop->kind != FLOW_LOOP || loop->as.loop.initial || loop->as.loop.associative) return false;
    const CtFlowBlock *body = loop->as.loop.block;
    uint32_t carried = loop->as.loop.carried;
    if (body->exit != EXIT_YIELD || carried == 0 || carried > 2 || loop->results.count != carried) return false;
    if (loop->results.items[0] == NULL) return false;
    const CtFlowStep *best = start->best = ct_flow_maker(&p->facts, &body->values.items[0], FLOW_PRIM);
    if (!ct_flow_is_prim(best, PRIM_MIN) && !ct_flow_is_prim(best, PRIM_MAX)) return false;
    start->keeps_first = best->args.items[0].var == body->params.items[1];
    uint32_t other = start->keeps_first ? 1 : 0;
    const CtFlowStep *read = start->read = ct_flow_maker(&p->facts, &best->args.items[other], FLOW_READ);
    if (best->args.items[1 - other].var != body->params.items[1]) return false;
    if (read == NULL || read->args.count != 2 || read->args.items[0].type->rank != 1) return false;
    if (carried == 2 && !carries_place(p, loop, start)) return false;
    if (!has_no_other_steps(body, start)) return false;
    const CtFlowArg *xs = &read->args.items[0];
    const CtFlowVar *index = body->params.items[0];
    start->all = is_affine(p, &loop->args.items[0], xs, NULL, (Affine){0, 1, 0}) &&
                 is_affine(p, &read->args.items[1], xs, index, (Affine){-1, 1, -1});
    start->backwards = start->all;
    if (start->all) return !start->keeps_first;
    const CtFlowStep *first = ct_flow_maker(&p->facts, &loop->args.items[1], FLOW_READ);
    if (first == NULL || first->args.count != 2 || !ct_flow_same(&first->args.items[0], xs)) return false;
    if (!is_affine(p, &loop->args.items[0], xs, NULL, (Affine){0, 1, -1})) return false;
    bool forwards = is_affine(p, &read->args.items[1], xs, index, (Affine){1, 0, 1}) &&
                    is_affine(p, &first->args.items[1], xs, NULL, (Affine){0, 0, 0});
    if (forwards) return true;
    start->backwards = true;
    if (carried == 2 && start->keeps_first) return false; /* with a NaN, that of the greatest place in front of it */
    return is_affine(p, &read->args.items[1], xs, index, (Affine){-1, 1, -2}) &&
           is_affine(p, &first->args.items[1], xs, NULL, (Affine){0, 1, -1});
}

/* ---- folds that choose ---- */

/* Whether a value is `chosen` where one of `best` and the element is less than the other, and else `otherwise`. */
static bool is_chosen(const Starts *p, const CtFlowArg *value, const CtFlowVar *best, const CtFlowVar *element,
                      const CtFlowVar *chosen, const CtFlowVar *otherwise, const CtFlowStep **test) {
    const CtFlowStep *choice = ct_flow_maker(&p->facts, value, FLOW_SWITCH);
    if (choice == NULL || choice->as.cases.count != 2 || choice->results.count != 1) return false;
    *test = ct_flow_maker(&p->facts, &choice->args.items[0], FLOW_PRIM);
    if (!ct_flow_is_prim(*test, PRIM_LT)) return false;
    const CtFlowVar *a = (*test)->args.items[0].var, *b = (*test)->args.items[1].var;
    const CtFlowBranch *branches = choice->as.cases.branches;
    uint32_t taken = branches[0].tag == 1 ? 0 : 1;
    return ((a == best && b == element) || (a == element && b == best)) && branches[taken].tag == 1 &&
           yields_only(branches[taken].block, chosen) && yields_only(branches[1 - taken].block, otherwise);
}

/* The read of a fold that begins with the first element of an array, and chooses one of the others by a test; NULL: it
 * is another loop. */
static CtFlowStep *read_of_chooser(const Starts *p, const CtFlowStep *loop) {
    const CtFlowBlock *body = loop->kind == FLOW_LOOP ? loop->as.loop.block : NULL;
    uint32_t carried = body != NULL ? loop->as.loop.carried : 0;
    if (carried == 0 || carried > 2 || loop->results.count != carried || body->exit != EXIT_YIELD) return NULL;
    if (loop->as.loop.initial || loop->as.loop.associative) return NULL;
    for (uint32_t i = 0, reads = 0; i < body->steps.count; i++) {
        const CtFlowStep *step = body->steps.items[i];
        reads += step->kind == FLOW_READ;
        bool computes = step->kind == FLOW_PRIM || step->kind == FLOW_SWITCH || step->kind == FLOW_READ;
        if (!computes || reads > 1 || ct_flow_step_fails(step)) return NULL;
    }
    const CtFlowStep *choice = ct_flow_maker(&p->facts, &body->values.items[0], FLOW_SWITCH), *test, *other;
    if (choice == NULL || choice->as.cases.count != 2) return NULL;
    const CtFlowBranch *branches = choice->as.cases.branches;
    const CtFlowBlock *taken = branches[branches[0].tag == 1 ? 0 : 1].block;
    const CtFlowVar *best = body->params.items[1], *index = body->params.items[0];
    if (taken->exit != EXIT_YIELD || taken->values.items[0].var == NULL) return NULL;
    CtFlowStep *read = ct_flow_fact(&p->facts, &taken->values.items[0])->maker;
    if (read == NULL || read->kind != FLOW_READ || read->args.count != 2 || read->args.items[0].type->rank != 1)
        return NULL;
    const CtFlowVar *element = read->results.items[0];
    if (!is_chosen(p, &body->values.items[0], best, element, element, best, &test)) return NULL;
    bool place = carried == 2;
    if (place && !is_chosen(p, &body->values.items[1], best, element, index, body->params.items[2], &other))
        return NULL;
    if (place &&
        (!ct_flow_is_int(&loop->args.items[2], -1) || !ct_flow_same(&test->args.items[0], &other->args.items[0])))
        return NULL;
    const CtFlowArg *xs = &read->args.items[0];
    const CtFlowStep *first = ct_flow_maker(&p->facts, &loop->args.items[1], FLOW_READ);
    if (first == NULL || first->args.count != 2 || !ct_flow_same(&first->args.items[0], xs)) return NULL;
    bool forwards = is_affine(p, &loop->args.items[0], xs, NULL, (Affine){0, 1, -1}) &&
                    is_affine(p, &read->args.items[1], xs, index, (Affine){1, 0, 1}) &&
                    is_affine(p, &first->args.items[1], xs, NULL, (Affine){0, 0, 0});
    return forwards ? read : NULL;
}

/* ---- writing ---- */

static void name_result(CtFlowBuilder *b, CtFlowVar *var) {
    b->block->steps.items[b->block->steps.count - 1]->results.items[0] = var;
}

/* The place that the fold gave, of the index of the extreme. */
static void write_place(CtFlowBuilder *b, const CtFlowStep *loop, const Start *start, CtFlowArg best, CtFlowArg at,
                        CtFlowArg count) {
    CtSourceRange range = loop->range;
    if (!start->backwards) {
        ct_flow_prim_int(b, range, PRIM_INT_SUB, at, ct_flow_int(b, 1));
        name_result(b, loop->results.items[1]);
        return;
    }
    CtFlowArg last = ct_flow_prim_int(b, range, PRIM_INT_SUB, count, ct_flow_int(b, start->all ? 1 : 2));
    CtFlowArg from_end = ct_flow_prim_int(b, range, PRIM_INT_SUB, last, at);
    CtFlowArg is_nan = ct_flow_prim_int(b, range, PRIM_IS_NAN, best, ct_flow_none());
    if (start->all) { /* `best` has not been compared with what the fold begins with */
        bool least = start->best->as.prim == PRIM_MIN;
        CtFlowArg first = loop->args.items[1];
        CtFlowArg better = ct_flow_prim_int(b, range, PRIM_LT, least ? first : best, least ? best : first);
        CtFlowArg none = ct_flow_prim_int(b, range, PRIM_INT_EQ, count, ct_flow_int(b, 0));
        CtFlowArg first_is_nan = ct_flow_prim_int(b, range, PRIM_IS_NAN, first, ct_flow_none());
        CtFlowArg is_first = ct_flow_prim_int(b, range, PRIM_INT_OR, better, none);
        from_end = ct_flow_choose(b, range, is_first, ct_flow_int(b, -1), from_end);
        is_nan = ct_flow_prim_int(b, range, PRIM_INT_OR, is_nan, first_is_nan);
    }
    ct_flow_choose(b, range, is_nan, last, from_end);
    name_result(b, loop->results.items[1]);
}

static void write_start(CtFlowBuilder *b, const CtFlowStep *loop, const Start *start) {
    CtSourceRange range = loop->range;
    CtFlowArg xs = start->read->args.items[0];
    const CtFlowType *type = loop->args.items[1].type;
    bool least = start->best->as.prim == PRIM_MIN, first = start->keeps_first != start->backwards;
    CtFlowArgs begin = {0}, next = {0};
    CtFlowArg count = ct_flow_dim(b, range, xs, 0);
    ct_push(b->arena, &begin, ct_flow_real(type, least ? HUGE_VAL : -HUGE_VAL));
    if (start->choice != NULL) ct_push(b->arena, &begin, ct_flow_int(b, 0));
    CtFlowLooping fold = ct_flow_loop_begin(b, range, count, &begin);
    CtFlowArg x = ct_flow_read(b, start->read->range, xs, &fold.index, 1), best = fold.carried.items[0];
    CtFlowArg one = first ? best : x, other = first ? x : best;
    ct_push(b->arena, &next, ct_flow_prim(b, start->best->range, start->best->as.prim, type, one, other));
    if (start->choice != NULL) {
        CtFlowArg taken = ct_flow_prim_int(b, range, PRIM_LT, least ? other : one, least ? one : other);
        CtFlowArg before = fold.carried.items[1], here = fold.index;
        ct_push(b->arena, &next, ct_flow_choose(b, range, taken, first ? here : before, first ? before : here));
    }
    CtFlowArgs results = ct_flow_loop_end(b, &fold, &next, NULL, NULL);
    CtFlowArg extreme = results.items[0];
    if (start->all) {
        ct_flow_prim(b, range, start->best->as.prim, type, extreme, loop->args.items[1]);
        name_result(b, loop->results.items[0]);
    } else {
        fold.step->results.items[0] = loop->results.items[0];
        extreme = flow_of(loop->results.items[0]);
    }
    if (start->choice != NULL && loop->results.items[1] != NULL)
        write_place(b, loop, start, extreme, results.items[1], count);
}

/* Lets a fold that chooses go through all elements; its place is then the index, and 0 where it keeps the first. */
static void write_chooser(CtFlowBuilder *b, CtFlowStep *loop, CtFlowStep *read) {
    const CtFlowBlock *body = loop->as.loop.block;
    loop->args.items[0] = ct_flow_dim(b, loop->range, read->args.items[0], 0);
    read->args.items[1] = flow_of(body->params.items[0]);
    ct_push(b->arena, &b->block->steps, loop);
    if (loop->as.loop.carried < 2) return;
    loop->args.items[2] = ct_flow_int(b, 0);
    CtFlowVar *place = loop->results.items[1];
    if (place == NULL) return;
    loop->results.items[1] = ct_flow_var(b, "at", place->type);
    ct_flow_prim_int(b, loop->range, PRIM_INT_SUB, flow_of(loop->results.items[1]), ct_flow_int(b, 1));
    name_result(b, place);
}

/* ---- the walk ---- */

static void visit(Starts *p, CtFlowBlock *block) {
    CtFlowBlock old = ct_flow_reopen(block);
    uint32_t equals = p->facts.equals.count;
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        Start start;
        ct_flow_learn(&p->facts, step);
        for (uint32_t j = 0; j < ct_flow_inner_count(step); j++) visit(p, ct_flow_inner(step, j));
        p->b.block = block;
        CtFlowStep *read = read_of_chooser(p, step);
        bool found = read == NULL && find_start(p, step, &start);
        if (read != NULL && CT_FIRED("extreme_starts.chosen"))
            write_chooser(&p->b, step, read);
        else if (found && (start.backwards ? CT_FIRED("extreme_starts.last") : CT_FIRED("extreme_starts.first")))
            write_start(&p->b, step, &start);
        else
            ct_push(p->b.arena, &block->steps, step);
    }
    block->exit = old.exit;
    p->facts.equals.count = equals;
}

void ct_flow_extreme_starts(CtFlow *flow) {
    Starts p = {.flow = flow};
    for (uint32_t i = 0; i < flow->functions.count; i++) {
        CtFlowFunction *function = flow->functions.items[i];
        p.b = (CtFlowBuilder){.flow = flow, .arena = flow->arena, .function = function};
        ct_flow_facts_begin(&p.facts, flow, function);
        visit(&p, function->body);
    }
}
