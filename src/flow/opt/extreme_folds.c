/* Folds that are the extreme of a whole vector. In a program's own fold each `max` waits for the one before; `argmax`
 * has as many at once as a vector has lanes. Also the place is found that the reverse of such a fold asks for
 * (ad/reverse_selections.c): −1 if none of the elements is greater than what the fold begins with.
 *
 *     best, place = fold n, first, -1 do i, b, p       if 0 < n:
 *       x = read xs, i                                   at = argmax xs
 *       yield max b, x, if b < x then i else p      →     m = read xs, at
 *                                                        best = max first, m
 *                                                        place = if first < m then at else -1
 *
 * If there is a NaN, the place is that of the greatest in front of it: then the fold itself runs. */
#include "flow/opt/passes.h"

typedef struct ExtremeFold {
    const CtFlowArg *xs;
    CtPrim prim; /* max or min */
} ExtremeFold;

static bool yields_only(const CtFlowBlock *block, const CtFlowVar *var) {
    return block->exit == EXIT_YIELD && block->steps.count == 0 && block->values.items[0].var == var;
}

/* Whether the second value that is carried is the index if the element is the first greater one, else what it was. */
static bool carries_place(const CtFlowFacts *facts, const CtFlowStep *loop, const CtFlowStep *best) {
    const CtFlowBlock *body = loop->as.loop.block;
    const CtFlowStep *choice = ct_flow_maker(facts, &body->values.items[1], FLOW_SWITCH);
    if (choice == NULL || choice->as.cases.count != 2 || choice->results.count != 1) return false;
    const CtFlowStep *test = ct_flow_maker(facts, &choice->args.items[0], FLOW_PRIM);
    if (!ct_flow_is_prim(test, PRIM_LT)) return false;
    uint32_t lesser = best->as.prim == PRIM_MAX ? 0 : 1; /* which of the arguments of `best` the test has first */
    const CtFlowBranch *branches = choice->as.cases.branches;
    uint32_t taken = branches[0].tag == 1 ? 0 : 1;
    const CtFlowArg *none = &loop->args.items[2];
    return ct_flow_same(&test->args.items[0], &best->args.items[lesser]) &&
           ct_flow_same(&test->args.items[1], &best->args.items[1 - lesser]) && branches[taken].tag == 1 &&
           yields_only(branches[taken].block, body->params.items[0]) &&
           yields_only(branches[1 - taken].block, body->params.items[2]) && none->var == NULL &&
           none->lit.integer == -1;
}

static bool is_extreme_fold(const CtFlowFacts *facts, const CtFlowStep *loop, ExtremeFold *fold) {
    if (loop->kind != FLOW_LOOP || loop->as.loop.initial || loop->as.loop.associative) return false;
    const CtFlowBlock *body = loop->as.loop.block;
    uint32_t carried = loop->as.loop.carried;
    if (body->exit != EXIT_YIELD || carried == 0 || carried > 2 || loop->results.count != carried) return false;
    if (body->steps.count != (carried == 1 ? 2 : 4)) return false;
    const CtFlowStep *best = ct_flow_maker(facts, &body->values.items[0], FLOW_PRIM);
    if (best == NULL || (best->as.prim != PRIM_MAX && best->as.prim != PRIM_MIN)) return false;
    if (best->args.items[0].var != body->params.items[1]) return false;
    const CtFlowStep *read = ct_flow_maker(facts, &best->args.items[1], FLOW_READ);
    if (read == NULL || read->args.count != 2 || read->args.items[1].var != body->params.items[0]) return false;
    *fold = (ExtremeFold){&read->args.items[0], best->as.prim};
    const CtFlowType *type = fold->xs->type;
    return type->rank == 1 && type->element->kind == FLOW_F64 && body->steps.items[0] == read &&
           ct_flow_is_long(facts, fold->xs, 0, &loop->args.items[0]) &&
           (carried == 1 || carries_place(facts, loop, best));
}

/* ---- writing ---- */

/* The best and its place, if no element is NaN; else the fold gives them. */
static CtFlowArgs with_place(CtFlowBuilder *b, CtFlowStep *loop, const ExtremeFold *fold, CtFlowArg best, CtFlowArg at,
                             CtFlowArg extreme) {
    CtSourceRange range = loop->range;
    CtFlowArg first = loop->args.items[1];
    bool most = fold->prim == PRIM_MAX;
    CtFlowArgs itself = {0}, known = {0};
    CtFlowArg is_nan = ct_flow_prim_int(b, range, PRIM_IS_NAN, extreme, ct_flow_none());
    CtFlowChoosing choice = ct_flow_switch_begin(b, range, is_nan);
    ct_flow_case_begin(b, &choice, 1);
    CtFlowStep *again = ct_flow_step(b, FLOW_LOOP, range);
    *again = *loop;
    again->results = (CtFlowVars){0};
    ct_push(b->arena, &itself, ct_flow_result(b, again, "best", best.type));
    ct_push(b->arena, &itself, ct_flow_result(b, again, "place", at.type));
    ct_flow_case_end(b, &choice, &itself);
    ct_flow_case_begin(b, &choice, FLOW_OTHERS);
    CtFlowArg taken = ct_flow_prim_int(b, range, PRIM_LT, most ? first : extreme, most ? extreme : first);
    ct_push(b->arena, &known, best);
    ct_push(b->arena, &known, ct_flow_choose(b, range, taken, at, ct_flow_int(b, -1)));
    ct_flow_case_end(b, &choice, &known);
    return ct_flow_switch_end(b, &choice);
}

/* What the fold gives if there are elements. */
static CtFlowArgs of_elements(CtFlowBuilder *b, CtFlowStep *loop, const ExtremeFold *fold) {
    CtSourceRange range = loop->range;
    CtFlowArg first = loop->args.items[1];
    CtFlowArgs found = {0};
    bool most = fold->prim == PRIM_MAX;
    if (loop->as.loop.carried == 1) {
        CtFlowArg extreme = ct_flow_bulk(b, range, most ? ARRAY_MAXIMUM : ARRAY_MINIMUM, first.type, fold->xs, 1);
        ct_push(b->arena, &found, ct_flow_prim(b, range, fold->prim, first.type, first, extreme));
        return found;
    }
    CtFlowArg at = ct_flow_bulk(b, range, most ? ARRAY_ARGMAX : ARRAY_ARGMIN, loop->args.items[0].type, fold->xs, 1);
    CtFlowArg extreme = ct_flow_read(b, range, *fold->xs, &at, 1);
    CtFlowArg best = ct_flow_prim(b, range, fold->prim, first.type, first, extreme);
    return with_place(b, loop, fold, best, at, extreme);
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
