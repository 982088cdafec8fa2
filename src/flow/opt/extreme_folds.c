/* Folds that are the extreme of a whole vector. In a program's own fold each `max` waits for the one before; `argmax`
 * has as many at once as a vector has lanes. Also the place is found that the reverse of such a fold asks for
 * (ad/reverse_selections.c): what the fold begins with, −1 or 0, if none of the elements is greater than `first`.
 *
 *     best, place = fold n, first, -1 do i, b, p       if 0 < n:
 *       x = read xs, i                                   at = argmax xs
 *       yield max b, x, if b < x then i else p      →     m = read xs, at
 *                                                        best = max first, m
 *                                                        place = if first < m then at else -1
 *
 * If there is a NaN, the place is that of the greatest in front of it: then the fold itself runs. Also where the
 * program has `if b < x then x else b`, which is `max b, x` but for a NaN. */
#include "flow/opt/passes.h"

typedef struct ExtremeFold {
    const CtFlowArg *xs;
    CtPrim prim;  /* max or min */
    bool chooses; /* by a test: a NaN is not greater than anything */
} ExtremeFold;

static bool yields_only(const CtFlowBlock *block, const CtFlowVar *var) {
    return block->exit == EXIT_YIELD && block->steps.count == 0 && block->values.items[0].var == var;
}

/* Whether a value is `chosen` where `b < x`, or `x < b`, and else `otherwise`; by the first `prim` is max, by the
 * second min. */
static bool is_choice(const CtFlowFacts *facts, const CtFlowArg *value, const CtFlowArg *b, const CtFlowArg *x,
                      const CtFlowVar *chosen, const CtFlowVar *otherwise, CtPrim *prim) {
    const CtFlowStep *choice = ct_flow_maker(facts, value, FLOW_SWITCH);
    if (choice == NULL || choice->as.cases.count != 2 || choice->results.count != 1) return false;
    const CtFlowStep *test = ct_flow_maker(facts, &choice->args.items[0], FLOW_PRIM);
    if (!ct_flow_is_prim(test, PRIM_LT)) return false;
    const CtFlowBranch *branches = choice->as.cases.branches;
    uint32_t taken = branches[0].tag == 1 ? 0 : 1;
    bool most = ct_flow_same(&test->args.items[0], b);
    *prim = most ? PRIM_MAX : PRIM_MIN;
    return ct_flow_same(&test->args.items[most ? 0 : 1], b) && ct_flow_same(&test->args.items[most ? 1 : 0], x) &&
           branches[taken].tag == 1 && yields_only(branches[taken].block, chosen) &&
           yields_only(branches[1 - taken].block, otherwise);
}

/* Whether the body has no other steps than the read, what gives the best and what gives the place. */
static bool has_only(const CtFlowBlock *body, const ExtremeFold *fold, bool place) {
    uint32_t read = 1, best = fold->chooses ? 2 : 1, test = place && !fold->chooses ? 1 : 0;
    return body->steps.count == read + best + test + (place ? 1 : 0);
}

static bool is_extreme_fold(const CtFlowFacts *facts, const CtFlowStep *loop, ExtremeFold *fold) {
    if (loop->kind != FLOW_LOOP || loop->as.loop.initial || loop->as.loop.associative) return false;
    const CtFlowBlock *body = loop->as.loop.block;
    uint32_t carried = loop->as.loop.carried;
    if (body->exit != EXIT_YIELD || carried == 0 || carried > 2 || loop->results.count != carried) return false;
    if (body->steps.count == 0 || body->steps.items[0]->kind != FLOW_READ) return false;
    const CtFlowStep *read = body->steps.items[0];
    if (read->args.count != 2 || read->args.items[1].var != body->params.items[0]) return false;
    const CtFlowVar *index = body->params.items[0], *best = body->params.items[1];
    CtFlowArg b = flow_of(body->params.items[1]), x = flow_of(read->results.items[0]);
    const CtFlowStep *taken = ct_flow_maker(facts, &body->values.items[0], FLOW_PRIM);
    *fold = (ExtremeFold){.xs = &read->args.items[0], .chooses = taken == NULL};
    if (fold->chooses) {
        if (!is_choice(facts, &body->values.items[0], &b, &x, x.var, best, &fold->prim)) return false;
    } else {
        fold->prim = taken->as.prim;
        if (fold->prim != PRIM_MAX && fold->prim != PRIM_MIN) return false;
        if (!ct_flow_same(&taken->args.items[0], &b) || !ct_flow_same(&taken->args.items[1], &x)) return false;
    }
    CtPrim same = fold->prim;
    if (carried == 2 && loop->args.items[2].var != NULL) return false;
    if (carried == 2 &&
        (!is_choice(facts, &body->values.items[1], &b, &x, index, body->params.items[2], &same) || same != fold->prim))
        return false;
    const CtFlowType *type = fold->xs->type;
    return has_only(body, fold, carried == 2) && type->rank == 1 && type->element->kind == FLOW_F64 &&
           ct_flow_is_long(facts, fold->xs, 0, &loop->args.items[0]);
}

/* ---- writing ---- */

/* What the fold gives if there are elements: the best, and its place. */
static CtFlowArgs of_elements(CtFlowBuilder *b, CtFlowStep *loop, const ExtremeFold *fold) {
    CtSourceRange range = loop->range;
    CtFlowArg first = loop->args.items[1], at = ct_flow_none(), extreme;
    bool most = fold->prim == PRIM_MAX, place = loop->as.loop.carried == 2, guarded = place || fold->chooses;
    CtFlowArgs found = {0}, itself = {0};
    CtFlowChoosing choice = {0};
    if (place) {
        at = ct_flow_bulk(b, range, most ? ARRAY_ARGMAX : ARRAY_ARGMIN, loop->args.items[0].type, fold->xs, 1);
        extreme = ct_flow_read(b, range, *fold->xs, &at, 1);
    } else {
        extreme = ct_flow_bulk(b, range, most ? ARRAY_MAXIMUM : ARRAY_MINIMUM, first.type, fold->xs, 1);
    }
    if (guarded) {
        choice = ct_flow_switch_begin(b, range, ct_flow_prim_int(b, range, PRIM_IS_NAN, extreme, ct_flow_none()));
        ct_flow_case_begin(b, &choice, 1);
        CtFlowStep *again = ct_flow_step(b, FLOW_LOOP, range);
        *again = *loop;
        again->results = (CtFlowVars){0};
        for (uint32_t i = 0; i < loop->as.loop.carried; i++)
            ct_push(b->arena, &itself,
                    ct_flow_result(b, again, i == 0 ? "best" : "place", loop->args.items[1 + i].type));
        ct_flow_case_end(b, &choice, &itself);
        ct_flow_case_begin(b, &choice, FLOW_OTHERS);
    }
    ct_push(b->arena, &found, ct_flow_prim(b, range, fold->prim, first.type, first, extreme));
    if (place) {
        CtFlowArg better = ct_flow_prim_int(b, range, PRIM_LT, most ? first : extreme, most ? extreme : first);
        ct_push(b->arena, &found, ct_flow_choose(b, range, better, at, loop->args.items[2]));
    }
    if (!guarded) return found;
    ct_flow_case_end(b, &choice, &found);
    return ct_flow_switch_end(b, &choice);
}

static void write_extreme(CtFlowBuilder *b, CtFlowStep *loop, const ExtremeFold *fold) {
    CtFlowArgs none = {0};
    CtFlowArg some = ct_flow_prim_int(b, loop->range, PRIM_INT_LT, ct_flow_int(b, 0), loop->args.items[0]);
    CtFlowChoosing choice = ct_flow_switch_begin(b, loop->range, some);
    ct_flow_case_begin(b, &choice, 1);
    CtFlowArgs found = of_elements(b, loop, fold);
    ct_flow_case_end(b, &choice, &found);
    ct_flow_case_begin(b, &choice, FLOW_OTHERS);
    for (uint32_t i = 0; i < loop->as.loop.carried; i++) ct_push(b->arena, &none, loop->args.items[1 + i]);
    ct_flow_case_end(b, &choice, &none);
    ct_flow_switch_end(b, &choice);
    choice.step->results = loop->results;
}

/* ---- the walk ---- */

static void visit(CtFlowBuilder *b, CtFlowFacts *facts, CtFlowBlock *block) {
    CtFlowBlock old = ct_flow_reopen(block);
    uint32_t equals = facts->equals.count;
    for (uint32_t i = 0; i < old.steps.count; i++) {
        CtFlowStep *step = old.steps.items[i];
        ExtremeFold fold;
        ct_flow_learn(facts, step);
        for (uint32_t j = 0; step->kind == FLOW_SWITCH && j < step->as.cases.count; j++)
            visit(b, facts, step->as.cases.branches[j].block);
        b->block = block;
        if (is_extreme_fold(facts, step, &fold) && CT_FIRED("extremes.fold"))
            write_extreme(b, step, &fold);
        else
            ct_push(b->arena, &block->steps, step);
    }
    block->exit = old.exit;
    facts->equals.count = equals;
}

void ct_flow_extreme_folds(CtFlow *flow, CtFlowFunction *function, CtFlowFacts *facts) {
    CtFlowBuilder b = {.flow = flow, .arena = flow->arena, .function = function};
    visit(&b, facts, function->body);
}
