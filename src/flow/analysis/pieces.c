/* Loops whose iterations fall into parts. Those that read two arrays as one: before some iteration the one, from there
 * on the other. And those with a branch for some iterations, such as the first. Each part reads contiguous elements,
 * and takes the same branches, so that such a loop is as simple as one that reads a single array. */
#include "flow/analysis/analysis.h"

/* What the iterations of a loop may do besides reading and computing. */
typedef struct Allowed {
    bool updates; /* change elements in switches */
    bool fixed;   /* branch by tests that are the same in all of them */
    bool sums;    /* carry numbers */
} Allowed;

static bool is_parameter(const CtFlowBlock *body, const CtFlowArg *arg) {
    for (uint32_t i = 0; i < body->params.count; i++)
        if (body->params.items[i] == arg->var) return true;
    return false;
}

/* Whether an argument is a literal, or bound outside of a loop's body: neither in it nor in one of its branches. */
static bool is_outside(const CtFlowBlock *body, const CtFlowArg *arg) {
    return arg->var == NULL || !ct_flow_binds(body, arg->var);
}

bool ct_flow_shifted_index(const CtFlowBlock *body, const CtFlowBlock *block, const CtFlowArg *arg,
                           CtFlowShift *shift) {
    const CtFlowVar *index = body->params.items[0];
    *shift = (CtFlowShift){0};
    if (arg->var == NULL || arg->var == index) return arg->var == index;
    const CtFlowStep *step = ct_flow_binder(block, arg->var);
    if (step == NULL || step->kind != FLOW_PRIM) return false;
    bool back = step->as.prim == PRIM_INT_SUB;
    if (!back && step->as.prim != PRIM_INT_ADD) return false;
    uint32_t which = step->args.items[0].var == index || back ? 0 : 1;
    if (step->args.items[which].var != index || !is_outside(body, &step->args.items[1 - which])) return false;
    *shift = (CtFlowShift){.by = step->args.items[1 - which], .back = back};
    return true;
}

/* A branch that only reads an element of a vector from outside, at the loop's index or beside it. */
static bool is_read(const CtFlowBlock *body, const CtFlowBlock *branch, CtFlowArg *array, CtFlowShift *shift) {
    uint32_t count = branch->steps.count;
    if (branch->exit != EXIT_YIELD || branch->values.count != 1 || count == 0 || count > 2) return false;
    const CtFlowStep *read = branch->steps.items[count - 1];
    if (read->kind != FLOW_READ || read->args.count != 2 || read->results.items[0] != branch->values.items[0].var)
        return false;
    *array = read->args.items[0];
    return array->type->rank == 1 && !ct_flow_is_object(array->type->element) && is_outside(body, array) &&
           ct_flow_shifted_index(body, branch, &read->args.items[1], shift) && (count == 1 || shift->by.type != NULL);
}

bool ct_flow_piece(const CtFlowBlock *body, const CtFlowStep *step, CtFlowPiece *piece) {
    if (step->kind != FLOW_SWITCH || step->as.cases.count != 2 || step->results.count != 1) return false;
    if (step->results.items[0] == NULL || step->args.items[0].var == NULL) return false;
    const CtFlowStep *test = ct_flow_binder(body, step->args.items[0].var);
    if (!ct_flow_is_prim(test, PRIM_INT_LT)) return false;
    if (test->args.items[0].var != body->params.items[0] || !is_outside(body, &test->args.items[1])) return false;
    const CtFlowBranch *branches = step->as.cases.branches;
    uint32_t before = branches[0].tag == 0 ? 1 : 0; /* the branch for any other number comes last */
    *piece = (CtFlowPiece){.cut = test->args.items[1]};
    for (uint32_t i = 0; i < 2; i++)
        if (!is_read(body, branches[i == 0 ? before : 1 - before].block, &piece->arrays[i], &piece->shifts[i]))
            return false;
    return piece->arrays[0].type == piece->arrays[1].type;
}

static bool find_parting(const CtFlowBlock *body, const CtFlowBlock *block, const CtFlowStep *step,
                         CtFlowParting *parting) {
    if (step->kind != FLOW_SWITCH || step->as.cases.count != 2 || step->args.items[0].var == NULL) return false;
    const CtFlowStep *test = ct_flow_binder(block, step->args.items[0].var);
    if (test == NULL) test = ct_flow_binder(body, step->args.items[0].var);
    if (test == NULL || test->kind != FLOW_PRIM) return false;
    CtPrim prim = test->as.prim;
    if (prim != PRIM_INT_EQ && prim != PRIM_INT_LT && prim != PRIM_INT_LE) return false;
    bool first = test->args.items[0].var == body->params.items[0];
    const CtFlowArg *index = &test->args.items[first ? 0 : 1], *with = &test->args.items[first ? 1 : 0];
    if (index->var != body->params.items[0]) return false;
    if (!is_outside(body, with)) return false;
    *parting = (CtFlowParting){.test = test, .with = *with};
    bool equal = prim == PRIM_INT_EQ;
    parting->before = equal || (prim == PRIM_INT_LT) == first;
    parting->behind = equal || !parting->before;
    return true;
}

bool ct_flow_parting(const CtFlowBlock *body, const CtFlowStep *step, CtFlowParting *parting) {
    return find_parting(body, body, step, parting);
}

/* Whether an access is along the last dimension of an array of numbers, at the loop's index or beside it. */
static bool is_along(const CtFlowBlock *body, const CtFlowStep *step, uint32_t indices, bool beside) {
    const CtFlowType *array = step->args.items[0].type;
    CtFlowShift shift;
    if (array->rank != indices || ct_flow_is_object(array->element)) return false;
    for (uint32_t i = 1; i < indices; i++)
        if (!is_outside(body, &step->args.items[i])) return false;
    return ct_flow_shifted_index(body, body, &step->args.items[indices], &shift) && (beside || shift.by.type == NULL);
}

/* Whether an access in a branch is along the last dimension too, or of an element that does not change. */
static bool is_along_there(const CtFlowBlock *body, const CtFlowBlock *branch, const CtFlowStep *step,
                           uint32_t indices) {
    const CtFlowArg *array = &step->args.items[0], *last = &step->args.items[indices];
    CtFlowShift shift;
    if (array->type->rank != indices || ct_flow_is_object(array->type->element)) return false;
    for (uint32_t i = 1; i < indices; i++)
        if (!is_outside(body, &step->args.items[i])) return false;
    return ct_flow_shifted_index(body, branch, last, &shift) || ct_flow_shifted_index(body, body, last, &shift) ||
           is_outside(body, last);
}

static bool is_parted(const CtFlowBlock *body, const CtFlowBlock *block, const CtFlowStep *step, Allowed allowed);

/* A read of an array from outside, or of one that the loop carries; where updates are allowed, of one that it changes.
 */
static bool is_simple_read(const CtFlowBlock *body, const CtFlowBlock *branch, const CtFlowStep *step,
                           Allowed allowed) {
    const CtFlowArg *array = &step->args.items[0];
    if (step->kind != FLOW_READ || (!allowed.updates && !is_outside(body, array) && !is_parameter(body, array)))
        return false;
    return is_along_there(body, branch, step, step->args.count - 1);
}

static bool is_simple_branch(const CtFlowBlock *body, const CtFlowBlock *branch, Allowed allowed) {
    if (branch->exit != EXIT_YIELD) return false;
    for (uint32_t i = 0; i < branch->steps.count; i++) {
        const CtFlowStep *step = branch->steps.items[i];
        bool simple = (step->kind == FLOW_PRIM && ct_prim_is_light(step->as.prim) && !ct_flow_step_fails(step)) ||
                      is_simple_read(body, branch, step, allowed) || is_parted(body, branch, step, allowed);
        if (allowed.updates && step->kind == FLOW_UPDATE)
            simple = is_along_there(body, branch, step, step->args.count - 2);
        if (!simple) return false;
    }
    return true;
}

static bool is_array_of_numbers(const CtFlowType *type) {
    return type->kind == FLOW_ARRAY && !ct_flow_is_object(type->element);
}

/* Whether a switch takes the same of its two branches in all iterations. */
static bool is_fixed_choice(const CtFlowBlock *body, const CtFlowStep *step) {
    const CtFlowArg *on = &step->args.items[0];
    return step->kind == FLOW_SWITCH && step->as.cases.count == 2 && on->var != NULL && is_outside(body, on);
}

static bool is_parted(const CtFlowBlock *body, const CtFlowBlock *block, const CtFlowStep *step, Allowed allowed) {
    CtFlowParting parting;
    if (!find_parting(body, block, step, &parting) && !(allowed.fixed && is_fixed_choice(body, step))) return false;
    for (uint32_t i = 0; i < step->results.count; i++) {
        const CtFlowVar *result = step->results.items[i];
        if (result != NULL && ct_flow_is_object(result->type) &&
            !(allowed.updates && is_array_of_numbers(result->type)))
            return false;
    }
    const CtFlowBranch *branches = step->as.cases.branches;
    return is_simple_branch(body, branches[0].block, allowed) && is_simple_branch(body, branches[1].block, allowed);
}

bool ct_flow_is_parted(const CtFlowBlock *body, const CtFlowStep *step) {
    return is_parted(body, body, step, (Allowed){0});
}

static void find_tests(const CtFlowBlock *body, const CtFlowBlock *block, CtFlowTests *tests) {
    CtFlowPiece piece;
    CtFlowParting parting;
    for (uint32_t i = 0; i < block->steps.count; i++) {
        const CtFlowStep *step = block->steps.items[i];
        if (block == body && ct_flow_piece(body, step, &piece)) continue;
        bool parts = find_parting(body, block, step, &parting);
        if (!parts && !is_fixed_choice(body, step)) continue;
        uint32_t j = 0;
        while (parts && j < tests->count && j < CT_MOST_TESTS && tests->tests[j].test != parting.test) j++;
        if (parts && j == tests->count) {
            if (j < CT_MOST_TESTS) tests->tests[j] = parting;
            tests->count++;
        }
        for (uint32_t k = 0; k < 2; k++) find_tests(body, step->as.cases.branches[k].block, tests);
    }
}

CtFlowTests ct_flow_parting_tests(const CtFlowBlock *body) {
    CtFlowTests tests = {.count = 0};
    find_tests(body, body, &tests);
    return tests;
}

static bool is_simple(const CtFlowBlock *body, const CtFlowStep *step, Allowed allowed) {
    CtFlowPiece piece;
    switch (step->kind) {
    case FLOW_DIM: return true;
    case FLOW_PRIM: return ct_prim_is_light(step->as.prim) && !ct_flow_step_fails(step);
    case FLOW_READ: return is_along(body, step, step->args.count - 1, true);
    case FLOW_UPDATE: return is_along(body, step, step->args.count - 2, false);
    case FLOW_SWITCH: return ct_flow_piece(body, step, &piece) || is_parted(body, body, step, allowed);
    default: return false;
    }
}

static bool is_elementwise(const CtFlowStep *loop, Allowed allowed) {
    const CtFlowBlock *body = loop->as.loop.block;
    if (body->exit != EXIT_YIELD) return false;
    for (uint32_t i = 0; i < loop->results.count; i++) {
        if (loop->results.items[i] == NULL) return false;
        const CtFlowType *type = loop->results.items[i]->type;
        bool sum = allowed.sums && i < loop->as.loop.carried && type->kind == FLOW_F64;
        if (!sum && !is_array_of_numbers(type)) return false;
        if (i >= loop->as.loop.carried && type->rank != 1) return false;
    }
    for (uint32_t i = 0; i < body->steps.count; i++)
        if (!is_simple(body, body->steps.items[i], allowed)) return false;
    return loop->results.count > 0 && ct_flow_parting_tests(body).count <= CT_MOST_TESTS;
}

static bool has_switch(const CtFlowBlock *body) {
    for (uint32_t i = 0; i < body->steps.count; i++)
        if (body->steps.items[i]->kind == FLOW_SWITCH) return true;
    return false;
}

bool ct_flow_is_elementwise(const CtFlowStep *loop) { return is_elementwise(loop, (Allowed){0}); }

bool ct_flow_is_pieced(const CtFlowStep *loop) {
    return has_switch(loop->as.loop.block) && is_elementwise(loop, (Allowed){.updates = true});
}

bool ct_flow_may_be_pieced(const CtFlowStep *loop) {
    return has_switch(loop->as.loop.block) &&
           is_elementwise(loop, (Allowed){.updates = true, .fixed = true, .sums = true});
}

static CtFlowStep *fixed_choice(const CtFlowBlock *body, const CtFlowBlock *block) {
    for (uint32_t i = 0; i < block->steps.count; i++) {
        CtFlowStep *step = block->steps.items[i];
        if (step->kind != FLOW_SWITCH) continue;
        if (is_fixed_choice(body, step)) return step;
        for (uint32_t j = 0; j < step->as.cases.count; j++) {
            CtFlowStep *found = fixed_choice(body, step->as.cases.branches[j].block);
            if (found != NULL) return found;
        }
    }
    return NULL;
}

CtFlowStep *ct_flow_fixed_choice(const CtFlowStep *loop) {
    return fixed_choice(loop->as.loop.block, loop->as.loop.block);
}
